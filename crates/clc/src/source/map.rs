//! The files of one compilation and the macro expansions in them.
//!
//! Bytes that are not UTF-8 become U+FFFD when a file is added, so that everything later works on `str` and no source
//! is refused because of a comment in Latin-1. Offsets count bytes of that text.

use std::sync::Arc;

use super::span::{ExpansionId, FileId, Span};

/// One file.
#[derive(Debug)]
pub struct SourceFile {
    /// The name shown in messages and by `__FILE__`.
    pub name: String,
    /// The text.
    pub text: Arc<str>,
    /// The `#include` that first brought it in.
    pub included_from: Option<Span>,
    /// Offsets of the starts of lines.
    lines: Vec<u32>,
    /// Each character is a byte: columns need no counting, which would be slow in a program on one line.
    ascii: bool,
    /// `#line` directives: (offset from which it holds, presumed number of that line, presumed name).
    presumed: Vec<(u32, u32, Option<String>)>,
}

/// A location as shown to people: file name, line and column (in characters), from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location<'a> {
    /// Name of the file, `#line` respected.
    pub file: &'a str,
    /// Line, `#line` respected.
    pub line: u32,
    /// Column.
    pub column: u32,
}

/// One use of a macro.
#[derive(Clone, Copy, Debug)]
pub struct Expansion {
    /// The macro's name.
    pub name: super::Symbol,
    /// The span of the name in its `#define`; `None` for macros from options and predefined ones.
    pub definition: Option<Span>,
    /// The expansion of which this one is a part.
    pub parent: ExpansionId,
}

/// The files and expansions.
#[derive(Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
    expansions: Vec<Expansion>,
}

impl SourceMap {
    /// How large a file may be, in bytes. Offsets are 32 bits; the limit keeps the memory of later stages sane too.
    pub const MAX_FILE: usize = 256 << 20;
    /// How many files there may be.
    pub const MAX_FILES: usize = u16::MAX as usize;

    /// Adds a file; `None` when it is too large or there are too many.
    pub fn add(&mut self, name: &str, bytes: &[u8], included_from: Option<Span>) -> Option<FileId> {
        if bytes.len() > Self::MAX_FILE || self.files.len() >= Self::MAX_FILES {
            return None;
        }
        let text: Arc<str> = match std::str::from_utf8(bytes) {
            Ok(s) => s.into(),
            Err(_) => String::from_utf8_lossy(bytes).into(),
        };
        // Again, because a byte that is not UTF-8 becomes three.
        if text.len() > Self::MAX_FILE {
            return None;
        }
        let mut lines = vec![0];
        lines.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|i| i as u32 + 1));
        let (name, ascii) = (name.to_owned(), text.is_ascii());
        self.files.push(SourceFile { name, text, included_from, lines, ascii, presumed: Vec::new() });
        Some(FileId(self.files.len() as u16 - 1))
    }

    /// A file.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.index()]
    }

    /// All files, in the order of their ids.
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// Notes a use of a macro.
    pub(crate) fn add_expansion(&mut self, expansion: Expansion) -> ExpansionId {
        self.expansions.push(expansion);
        ExpansionId(self.expansions.len() as u32)
    }

    /// The expansion that a span came out of.
    pub fn expansion(&self, id: ExpansionId) -> Option<&Expansion> {
        self.expansions.get((id.0 as usize).checked_sub(1)?)
    }

    /// Notes that from an offset on lines count from `line`, in a file called `name` if that is given.
    pub(crate) fn add_presumed(&mut self, file: FileId, offset: u32, line: u32, name: Option<String>) {
        let file = &mut self.files[file.index()];
        // A `#line` without a name keeps that of the `#line` before it.
        let name = name.or_else(|| file.presumed.last().and_then(|p| p.2.clone()));
        file.presumed.push((offset, line, name));
    }

    /// The text of a span.
    pub fn text(&self, span: Span) -> &str {
        self.file(span.file).text.get(span.lo as usize..span.hi as usize).unwrap_or("")
    }

    /// Physical line (from 1) and the offset at which it starts.
    pub fn line_start(&self, file: FileId, offset: u32) -> (u32, u32) {
        let lines = &self.file(file).lines;
        let line = lines.partition_point(|&start| start <= offset).max(1);
        (line as u32, lines[line - 1])
    }

    /// Physical line and column (in characters) of the start of a span, from 1; what the IR keeps.
    pub fn line_col(&self, span: Span) -> (u32, u32) {
        let (line, start) = self.line_start(span.file, span.lo);
        let SourceFile { text, ascii, .. } = self.file(span.file);
        let mut end = (span.lo as usize).min(text.len());
        if *ascii {
            return (line, end as u32 - start + 1);
        }
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let column = text[start as usize..end].chars().count() as u32 + 1;
        (line, column)
    }

    /// Where a span starts, for people.
    pub fn location(&self, span: Span) -> Location<'_> {
        let file = self.file(span.file);
        let (line, column) = self.line_col(span);
        let i = file.presumed.partition_point(|p| p.0 <= span.lo);
        let Some((offset, first, name)) = i.checked_sub(1).map(|i| &file.presumed[i]) else {
            return Location { file: &file.name, line, column };
        };
        let (from, _) = self.line_start(span.file, *offset);
        Location { file: name.as_deref().unwrap_or(&file.name), line: first.saturating_add(line - from), column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_characters() {
        let mut map = SourceMap::default();
        let f = map.add("a.cl", "ä b\n\nc".as_bytes(), None).unwrap();
        assert_eq!(map.line_col(Span::new(f, 3, 4)), (1, 3));
        assert_eq!(map.line_col(Span::new(f, 5, 5)), (2, 1));
        assert_eq!(map.line_col(Span::new(f, 6, 7)), (3, 1));
        map.add_presumed(f, 6, 100, Some("x.h".into()));
        assert_eq!(map.location(Span::new(f, 6, 7)), Location { file: "x.h", line: 100, column: 1 });
        assert_eq!(map.location(Span::new(f, 0, 1)), Location { file: "a.cl", line: 1, column: 1 });
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced() {
        let mut map = SourceMap::default();
        let f = map.add("a.cl", b"a\xffb", None).unwrap();
        assert_eq!(&*map.file(f).text, "a\u{fffd}b");
    }
}
