//! The syntax of a module, with names still as text.
//!
//! In: nothing; these are the types between the parser and the lowering. Out: items and statements in the order of the
//! text. Names stay text because a label or a function may be used before it is declared.

use super::lex::Literal;
use super::op::Type;

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Global,
    Const,
    Shared,
    Local,
    Param,
}

/// One element of an initialiser.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Init<'t> {
    Number(Literal),
    /// An address plus an offset. Of the sum, the bits of the mask are taken and moved to the lowest position.
    Address {
        name: &'t str,
        generic: bool,
        offset: i64,
        mask: u64,
    },
}

/// A variable or a parameter.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Variable<'t> {
    pub(super) line: u32,
    pub(super) place: Place,
    pub(super) name: &'t str,
    pub(super) ty: Type,
    pub(super) align: u32,
    /// Number of elements; `None` for an array without a size.
    pub(super) count: Option<u64>,
    pub(super) init: Vec<Init<'t>>,
}

impl Variable<'_> {
    /// Size in bytes; an array without a size has none.
    pub(super) fn size(&self) -> u64 {
        u64::from(self.ty.size()).saturating_mul(self.count.unwrap_or(0))
    }
}

/// A function or an entry. Without a body it is only declared.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Function<'t> {
    pub(super) line: u32,
    pub(super) name: &'t str,
    pub(super) entry: bool,
    pub(super) returns: Vec<Variable<'t>>,
    pub(super) params: Vec<Variable<'t>>,
    /// Directives such as `.reqntid` with their numbers.
    pub(super) bounds: Vec<(&'t str, Vec<u64>)>,
    pub(super) body: Option<Vec<Statement<'t>>>,
}

/// What stands in the brackets of an address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Base<'t> {
    Name(&'t str),
    Number(u64),
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Arg<'t> {
    Name(&'t str),
    /// A variable plus a constant.
    Offset(&'t str, i64),
    Not(&'t str),
    Literal(Literal),
    Address(Base<'t>, i64),
    /// The handle of a texture, and coordinates.
    Texture(&'t str, Vec<Arg<'t>>),
    Vector(Vec<Arg<'t>>),
    List(Vec<Arg<'t>>),
    Pair(&'t str, &'t str),
}

/// A statement of a body.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Statement<'t> {
    Open,
    Close,
    Label(u32, &'t str),
    /// Registers; a number declares that many with the number appended to the name.
    Registers(u32, Type, Vec<(&'t str, Option<u64>)>),
    Variable(Variable<'t>),
    /// The label of a table of branch targets, and the targets.
    Targets(&'t str, Vec<&'t str>),
    /// The label of a prototype for indirect calls. Its contents are checked when a call runs.
    Prototype(&'t str),
    Inst(Inst<'t>),
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Inst<'t> {
    pub(super) line: u32,
    /// The predicate, and whether it is negated.
    pub(super) guard: Option<(&'t str, bool)>,
    pub(super) opcode: &'t str,
    pub(super) args: Vec<Arg<'t>>,
}

/// An item of a module.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item<'t> {
    Variable(Variable<'t>),
    Function(Function<'t>),
}
