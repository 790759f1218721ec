//! The syntax tree: OpenCL C 1.2 and 3.0 as written, before any name but those of types is known.
//!
//! The tree is made of boxes. Its depth is bounded by the parser ([`Depth`](crate::syntax::Depth)), so that dropping
//! and walking it by recursion is safe on the stack that the bound is for. Whatever could not be parsed became an
//! `Error` node and was reported: later stages skip such nodes silently.

mod decl;
mod expr;
mod stmt;

pub use decl::*;
pub use expr::*;
pub use stmt::*;

use crate::source::{Span, Symbol};

/// A name and its span.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ident {
    /// The name.
    pub name: Symbol,
    /// Where it stands.
    pub span: Span,
}

/// A whole source with what it includes.
#[derive(Debug, Default)]
pub struct TranslationUnit {
    /// In source order.
    pub items: Vec<Item>,
}

/// An item at file level.
#[derive(Debug)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// All of it.
    pub span: Span,
}

/// The kinds of [`Item`].
#[derive(Debug)]
pub enum ItemKind {
    /// A function with a body.
    Function(Box<FunctionDef>),
    /// Variables, types, prototypes.
    Declaration(Box<Declaration>),
    /// A pragma that later stages obey.
    Pragma(Pragma),
    /// `_Static_assert(…);`
    StaticAssert(Box<StaticAssert>),
}

/// A pragma.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pragma {
    /// What it says.
    pub kind: PragmaKind,
    /// From `#` (or `_Pragma`) to the end.
    pub span: Span,
}

/// The pragmas that mean something; others were warned about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PragmaKind {
    /// `OPENCL EXTENSION name : behaviour`
    Extension {
        /// The extension, or `all`.
        name: Ident,
        /// `enable` rather than `disable`.
        enable: bool,
    },
    /// `OPENCL FP_CONTRACT ON|OFF|DEFAULT`; `None` is the default.
    FpContract(Option<bool>),
    /// `pack(…)`: the largest alignment of members from here on.
    Pack(Pack),
    /// `unroll`; the parser hangs it on the loop, so that later stages never see it as an item or statement.
    Unroll(Unroll),
}

/// The words of `#pragma pack`, which are obeyed in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pack {
    /// `push`: the alignment of now is kept, under a name perhaps.
    pub push: Option<Option<Symbol>>,
    /// `pop`: the alignment that was kept last, or under that name.
    pub pop: Option<Option<Symbol>>,
    /// The new alignment in bytes; 0 is that of the types.
    pub align: Option<u16>,
}

/// How a loop is to be unrolled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Unroll {
    /// Not specified.
    #[default]
    Unspecified,
    /// As the compiler likes, but do.
    Enable,
    /// By this factor; 1 means not at all.
    Factor(u32),
}

/// `_Static_assert(condition, "text")`
#[derive(Debug)]
pub struct StaticAssert {
    /// Must be a constant other than 0.
    pub condition: Expr,
    /// The message when it is 0.
    pub message: Option<StringLit>,
}

/// A function with a body.
#[derive(Debug)]
pub struct FunctionDef {
    /// Result type, storage, qualifiers (`kernel`, `inline`), attributes.
    pub specs: DeclSpecs,
    /// The name and, as the first of the derivations, the parameters.
    pub declarator: Declarator,
    /// Attributes after the declarator.
    pub attrs: Vec<Attribute>,
    /// The body.
    pub body: Block,
}

impl FunctionDef {
    /// The parameters; the parser guarantees that the first derivation is a function.
    pub fn params(&self) -> &[Param] {
        match self.declarator.derivations.first().map(|d| &d.kind) {
            Some(DerivationKind::Function { params, .. }) => params,
            _ => &[],
        }
    }
}
