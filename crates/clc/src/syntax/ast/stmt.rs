//! The syntax tree of statements.

use super::{Declaration, Expr, Ident, Pragma, StaticAssert, Unroll};
use crate::source::Span;

/// Statements in braces.
#[derive(Debug)]
pub struct Block {
    /// In source order.
    pub stmts: Vec<Stmt>,
    /// With the braces.
    pub span: Span,
}

/// A statement.
#[derive(Debug)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// All of it.
    pub span: Span,
    /// Height of the tree.
    pub(crate) height: u16,
}

/// Attributes and pragmas of a loop.
#[derive(Clone, Debug, Default)]
pub struct LoopHints {
    /// From `#pragma unroll` or the attribute `opencl_unroll_hint`.
    pub unroll: Unroll,
}

/// The kinds of [`Stmt`].
#[derive(Debug)]
pub enum StmtKind {
    /// `{ … }`
    Block(Block),
    /// A declaration.
    Declaration(Box<Declaration>),
    /// `_Static_assert(…);`
    StaticAssert(Box<StaticAssert>),
    /// `expression;`
    Expr(Expr),
    /// `;`
    Empty,
    /// `if`
    If {
        /// Condition.
        cond: Expr,
        /// When it holds.
        then: Box<Stmt>,
        /// When not; an `else if` chain nests here.
        els: Option<Box<Stmt>>,
    },
    /// `switch`
    Switch {
        /// The controlling expression.
        value: Expr,
        /// The body, with the labels somewhere in it.
        body: Box<Stmt>,
    },
    /// `while`
    While {
        /// Condition.
        cond: Expr,
        /// Body.
        body: Box<Stmt>,
        /// Unrolling.
        hints: LoopHints,
    },
    /// `do … while`
    DoWhile {
        /// Body.
        body: Box<Stmt>,
        /// Condition.
        cond: Expr,
        /// Unrolling.
        hints: LoopHints,
    },
    /// `for`
    For {
        /// First part: `Declaration`, `Expr` or `Empty`.
        init: Box<Stmt>,
        /// Condition.
        cond: Option<Expr>,
        /// Third part.
        step: Option<Expr>,
        /// Body.
        body: Box<Stmt>,
        /// Unrolling.
        hints: LoopHints,
    },
    /// `goto`
    Goto(Ident),
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `return`
    Return(Option<Expr>),
    /// A statement with labels: `case 1: case 2: x;` is one of these with two.
    Labelled {
        /// In source order; never empty.
        labels: Vec<StmtLabel>,
        /// The labelled statement.
        body: Box<Stmt>,
    },
    /// A pragma that holds from here to the end of the block.
    Pragma(Pragma),
    /// Could not be parsed; reported.
    Error,
}

/// A label of a statement.
#[derive(Debug)]
pub enum StmtLabel {
    /// `name:`
    Name(Ident),
    /// `case value:` or, as GNU C has it, `case low ... high:`
    Case {
        /// The value, or the first of the range.
        value: Expr,
        /// The last of the range.
        end: Option<Expr>,
        /// With the keyword.
        span: Span,
    },
    /// `default:`
    Default(Span),
}
