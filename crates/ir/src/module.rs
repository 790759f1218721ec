//! A module: functions, globals, strings, files. One module is one program (or one library file of built-ins).

use crate::entity::{Arena, FuncRef, GlobalRef, StrRef};
use crate::function::Function;
use crate::types::Space;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A source location: file number in [`Module::files`], line and column from 1; all zero when unknown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(from = "EncodedSpan", into = "EncodedSpan")]
pub struct Span {
    /// Which file.
    pub file: u16,
    /// Which line, from 1.
    pub line: u32,
    /// Which column, from 1.
    pub col: u16,
    /// The call that was inlined, if the code comes from a callee: its number in [`Function::inlined`], from 1. 0 if it
    /// does not, and where the table is full.
    pub inlined: u16,
}

/// The encoded form of a [`Span`]. The file has the inlined call above it: without one, as in all modules of a front
/// end, it takes no byte.
#[derive(Serialize, Deserialize)]
struct EncodedSpan(u32, u32, u16);

impl From<Span> for EncodedSpan {
    fn from(span: Span) -> EncodedSpan {
        // Numbers are encoded with as many bytes as they need: above the file, an absent call costs nothing.
        EncodedSpan(u32::from(span.file) | u32::from(span.inlined) << 16, span.line, span.col)
    }
}

impl From<EncodedSpan> for Span {
    fn from(EncodedSpan(file, line, col): EncodedSpan) -> Span {
        Span { file: file as u16, line, col, inlined: (file >> 16) as u16 }
    }
}

impl Span {
    /// Unknown.
    pub const NONE: Span = Span { file: 0, line: 0, col: 0, inlined: 0 };

    /// The place alone, without the call that was inlined.
    pub fn place(self) -> Span {
        Span { inlined: 0, ..self }
    }
}

/// A call that was inlined.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CallSite {
    /// The name of the callee in its module; all calls of it share the text.
    pub function: Arc<str>,
    /// The position of the call in the caller. A call that it names comes before this one in the table.
    pub span: Span,
}

/// Which modules a global is visible to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum GlobalLinkage {
    /// This module only.
    #[default]
    Internal,
    /// Defined here; other modules may refer to it by its name when programs are linked.
    External,
    /// The same, but other modules may define it too, all alike; one of the definitions is kept.
    LinkOnce,
    /// Declared here, defined by another module (`extern constant int n[];`). The size is 0 where the declaration
    /// leaves it open.
    Import,
}

/// Data of program scope, or memory of a work-group.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Global {
    /// Name, unique among the globals of the module.
    pub name: String,
    /// Which modules see it; local memory is always internal.
    pub linkage: GlobalLinkage,
    /// `Constant`, `Global` (program-scope variables) or `Local` (no initial bytes).
    pub space: Space,
    /// Bytes.
    pub size: u64,
    /// Alignment in bytes, a power of two.
    pub align: u32,
    /// The first bytes; the rest is zero. Empty for `Local`.
    pub init: Vec<u8>,
    /// Addresses inside the initial bytes.
    pub relocs: Vec<Reloc>,
    /// Where it lies in the memory of the program's [variables](crate::variables), in bytes. `None`: it is data of the
    /// code, or the program is not linked yet.
    pub place: Option<u64>,
}

/// A relocation: eight bytes of a global that hold the address of a global.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reloc {
    /// Offset in the initial bytes.
    pub offset: u64,
    /// The global whose address it is.
    pub target: GlobalRef,
    /// The addend.
    pub addend: i64,
}

/// A program, whole or in part.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Module {
    /// The functions.
    pub funcs: Arena<FuncRef, Function>,
    /// The globals.
    pub globals: Arena<GlobalRef, Global>,
    /// Formats of printf: bytes without the terminating zero.
    pub strings: Arena<StrRef, Vec<u8>>,
    /// Names of the source files; a span's file number indexes it.
    pub files: Vec<String>,
}

impl Module {
    /// An empty module.
    pub fn new() -> Self {
        Self::default()
    }

    /// The function of this name.
    pub fn find(&self, name: &str) -> Option<FuncRef> {
        self.funcs.iter().find(|(_, f)| f.name == name).map(|(r, _)| r)
    }

    /// The sizes of its functions together.
    pub fn size(&self) -> usize {
        self.funcs.values().map(Function::size).sum()
    }

    /// The kernels, in order of definition.
    pub fn kernels(&self) -> impl Iterator<Item = FuncRef> + '_ {
        self.funcs.iter().filter(|(_, f)| f.kernel.is_some() && !f.is_declaration()).map(|(r, _)| r)
    }
}
