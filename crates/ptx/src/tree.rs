//! The syntax of a module, with names still as text.
//!
//! In: nothing; these are the types between the parser and the lowering. Out: items and statements in the order of the
//! text. Names stay text because a label or a function may be used before it is declared.

use crate::{Literal, Type};

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Memory that all threads share.
    Global,
    /// Constant memory.
    Const,
    /// Memory of a block.
    Shared,
    /// Memory of a thread.
    Local,
    /// Parameters and results.
    Param,
}

/// One element of an initialiser.
#[derive(Clone, Debug, PartialEq)]
pub enum Init<'t> {
    /// A number.
    Number(Literal),
    /// An address plus an offset. Of the sum, the bits of the mask are taken and moved to the lowest position.
    Address {
        /// Of a variable or a function.
        name: &'t str,
        /// Whether it is the generic address.
        generic: bool,
        /// What is added to the address.
        offset: i64,
        /// The bits that are taken.
        mask: u64,
    },
}

/// A variable or a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable<'t> {
    /// Line of the text, from 1.
    pub line: u32,
    /// Where it lives.
    pub place: Place,
    /// Its name.
    pub name: &'t str,
    /// The type of an element.
    pub ty: Type,
    /// Alignment in bytes.
    pub align: u32,
    /// Number of elements; `None` for an array without a size.
    pub count: Option<u64>,
    /// The values of the first elements.
    pub init: Vec<Init<'t>>,
}

impl Variable<'_> {
    /// Size in bytes; an array without a size has none.
    pub fn size(&self) -> u64 {
        u64::from(self.ty.size()).saturating_mul(self.count.unwrap_or(0))
    }
}

/// A function or an entry. Without a body it is only declared.
#[derive(Clone, Debug, PartialEq)]
pub struct Function<'t> {
    /// Line of the text, from 1.
    pub line: u32,
    /// Its name.
    pub name: &'t str,
    /// Whether a launch can begin here.
    pub entry: bool,
    /// The results.
    pub returns: Vec<Variable<'t>>,
    /// The parameters.
    pub params: Vec<Variable<'t>>,
    /// Directives such as `.reqntid` with their numbers.
    pub bounds: Vec<(&'t str, Vec<u64>)>,
    /// The statements.
    pub body: Option<Vec<Statement<'t>>>,
}

/// What stands in the brackets of an address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Base<'t> {
    /// A register, a variable or a label.
    Name(&'t str),
    /// A number.
    Number(u64),
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg<'t> {
    /// A register, a variable or a label.
    Name(&'t str),
    /// A variable plus a constant.
    Offset(&'t str, i64),
    /// A negated predicate.
    Not(&'t str),
    /// A constant.
    Literal(Literal),
    /// `[base+offset]`
    Address(Base<'t>, i64),
    /// The handle of a texture, and coordinates.
    Texture(&'t str, Vec<Arg<'t>>),
    /// `{a, b}`
    Vector(Vec<Arg<'t>>),
    /// `(a, b)`
    List(Vec<Arg<'t>>),
    /// `a|b`
    Pair(&'t str, &'t str),
}

/// A statement of a body.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement<'t> {
    /// `{`
    Open,
    /// `}`
    Close,
    /// A label with its line.
    Label(u32, &'t str),
    /// Registers; a number declares that many with the number appended to the name.
    Registers(u32, Type, Vec<(&'t str, Option<u64>)>),
    /// A variable.
    Variable(Variable<'t>),
    /// The label of a table of branch targets, and the targets.
    Targets(&'t str, Vec<&'t str>),
    /// The label of a prototype for indirect calls. Its contents are checked when a call runs.
    Prototype(&'t str),
    /// An instruction.
    Inst(Inst<'t>),
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst<'t> {
    /// Line of the text, from 1.
    pub line: u32,
    /// The predicate, and whether it is negated.
    pub guard: Option<(&'t str, bool)>,
    /// All of it, such as `ld.param.u64`.
    pub opcode: &'t str,
    /// The operands.
    pub args: Vec<Arg<'t>>,
}

/// An item of a module.
#[derive(Clone, Debug, PartialEq)]
pub enum Item<'t> {
    /// A variable.
    Variable(Variable<'t>),
    /// A function or an entry.
    Function(Function<'t>),
}
