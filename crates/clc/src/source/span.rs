//! Spans: ranges of a source file as small copyable values; a [`SourceMap`](super::SourceMap) gives them file, line
//! and column.

/// Which file of the source map.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct FileId(pub(crate) u16);

impl FileId {
    /// The position of this file in the source map, from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Which macro expansion of the source map; 0 is text outside of any macro.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ExpansionId(pub(crate) u32);

impl ExpansionId {
    /// Not in a macro.
    pub const NONE: Self = Self(0);
}

/// A range of bytes of one file.
///
/// For what comes out of a macro this is the range of the whole use of the macro in the file, because that is the text
/// that the reader of a message wrote; [`expansion`](Self::expansion) leads to the macro.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Span {
    /// First byte.
    pub lo: u32,
    /// One after the last byte.
    pub hi: u32,
    /// The macro that this came out of.
    pub expansion: ExpansionId,
    /// The file.
    pub file: FileId,
}

impl Span {
    /// The bytes `lo..hi` of a file.
    pub fn new(file: FileId, lo: u32, hi: u32) -> Self {
        Self { lo, hi, expansion: ExpansionId::NONE, file }
    }

    /// From the start of this to the end of the other. If they are in different files, or the other one comes first
    /// (both happen with macros and includes), the result is this one.
    #[must_use]
    pub fn to(self, end: Span) -> Span {
        if self.file != end.file || end.hi < self.lo {
            return self;
        }
        // A range that is not wholly from one expansion is ordinary text: blaming the macro would mislead.
        let expansion = if self.expansion == end.expansion { self.expansion } else { ExpansionId::NONE };
        Span { lo: self.lo, hi: self.hi.max(end.hi), expansion, file: self.file }
    }

    /// The empty range right after this one: where something is missing.
    #[must_use]
    pub fn after(self) -> Span {
        Span { lo: self.hi, ..self }
    }
}
