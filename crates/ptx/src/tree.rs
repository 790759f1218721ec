//! The syntax of a module, with names still as text.
//!
//! In: nothing; these are the types between the parser, the printer and the analyses. Out: items and statements in the
//! order of the text. Names stay text because a label or a function may be used before it is declared.
//!
//! A tree keeps all of a module but comments and the layout of the text. Equality of trees leaves [`Line`] out.

use crate::{Literal, Type};
use std::borrow::Cow;

/// A line of the text, from 1. All lines are equal, so that trees are equal if they mean the same module.
#[derive(Clone, Copy, Debug, Default, Eq)]
pub struct Line(pub u32);

impl PartialEq for Line {
    fn eq(&self, _: &Line) -> bool {
        true
    }
}

/// The bytes of the text that an instruction stands in; empty if a pass made it. All spans are equal, like lines.
#[derive(Clone, Copy, Debug, Default, Eq)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The position after the last byte.
    pub end: usize,
}

impl PartialEq for Span {
    fn eq(&self, _: &Span) -> bool {
        true
    }
}

/// A module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module<'t> {
    /// Variables, functions and directives.
    pub items: Vec<Item<'t>>,
}

/// An item of a module.
#[derive(Clone, Debug, PartialEq)]
pub enum Item<'t> {
    /// A directive such as `.version`.
    Directive(Directive<'t>),
    /// A variable.
    Variable(Variable<'t>),
    /// A function or an entry.
    Function(Function<'t>),
}

/// A directive whose arguments have no structure here: `.version`, `.target`, `.address_size`, `.file`, `.loc`,
/// `.pragma` and `.section`.
#[derive(Clone, Debug, PartialEq)]
pub struct Directive<'t> {
    /// Where it begins.
    pub line: Line,
    /// Its name with the dot.
    pub name: &'t str,
    /// What follows, without the semicolon of `.pragma`.
    pub text: &'t str,
}

/// The linkage: which modules see a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// This module only.
    Internal,
    /// Other modules too.
    Visible,
    /// It is defined in another module, or at the launch.
    Extern,
    /// Another module may define it instead.
    Weak,
    /// The largest of all definitions counts.
    Common,
}

impl Linkage {
    const ALL: [Linkage; 5] = [Linkage::Internal, Linkage::Visible, Linkage::Extern, Linkage::Weak, Linkage::Common];

    /// The linkage that a directive gives.
    pub fn parse(word: &str) -> Option<Linkage> {
        // Without a directive, a name is internal: the empty name of that linkage stands for nothing in the text.
        Linkage::ALL.into_iter().find(|linkage| linkage.name() == word && !word.is_empty())
    }

    /// The directive, which is empty for a name of this module only.
    pub fn name(self) -> &'static str {
        match self {
            Linkage::Internal => "",
            Linkage::Visible => ".visible",
            Linkage::Extern => ".extern",
            Linkage::Weak => ".weak",
            Linkage::Common => ".common",
        }
    }
}

/// The memory of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateSpace {
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

impl StateSpace {
    const ALL: [StateSpace; 5] =
        [StateSpace::Global, StateSpace::Const, StateSpace::Shared, StateSpace::Local, StateSpace::Param];

    /// The space of a directive such as `.global`.
    pub fn parse(word: &str) -> Option<StateSpace> {
        StateSpace::ALL.into_iter().find(|space| space.name() == word)
    }

    /// The directive.
    pub fn name(self) -> &'static str {
        match self {
            StateSpace::Global => ".global",
            StateSpace::Const => ".const",
            StateSpace::Shared => ".shared",
            StateSpace::Local => ".local",
            StateSpace::Param => ".param",
        }
    }
}

/// An initialiser.
#[derive(Clone, Debug, PartialEq)]
pub enum Init<'t> {
    /// A number.
    Number(Literal),
    /// An address plus an offset. The bits of the mask are taken from the sum and moved to the lowest position.
    Address {
        /// The variable or function.
        name: &'t str,
        /// Whether it is the generic address.
        generic: bool,
        /// What is added to the address.
        offset: i64,
        /// The bits that are taken.
        mask: u64,
    },
    /// The elements of an array or of a row.
    List(Vec<Init<'t>>),
}

impl<'t> Init<'t> {
    /// The numbers and addresses in it, in the order of memory.
    pub fn elements(&self) -> Vec<&Init<'t>> {
        let (mut out, mut open) = (Vec::new(), vec![self]);
        while let Some(init) = open.pop() {
            match init {
                // The last one on the stack is taken first.
                Init::List(list) => open.extend(list.iter().rev()),
                element => out.push(element),
            }
        }
        out
    }
}

/// What a parameter points to (`.ptr`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointee {
    /// Its space; generic if none is named.
    pub space: Option<StateSpace>,
    /// Its alignment in bytes.
    pub align: Option<u32>,
}

/// A variable or a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable<'t> {
    /// Where it is declared.
    pub line: Line,
    /// Who sees it.
    pub linkage: Linkage,
    /// Where it lives.
    pub space: StateSpace,
    /// What stands in the parentheses of each `.attribute`.
    pub attributes: Vec<&'t str>,
    /// The alignment in bytes that `.align` demands.
    pub explicit_align: Option<u32>,
    /// 2 or 4 for `.v2` and `.v4`, else 1.
    pub lanes: u32,
    /// The type of a lane.
    pub ty: Type,
    /// What it points to, if that is said.
    pub pointee: Option<Pointee>,
    /// Its name.
    pub name: &'t str,
    /// The length of each dimension of an array; `None` for `[]`.
    pub dimensions: Vec<Option<u64>>,
    /// The values of the first elements.
    pub init: Option<Init<'t>>,
}

impl Variable<'_> {
    /// Number of lanes of all elements; `None` for an array without a size.
    pub fn count(&self) -> Option<u64> {
        // Lengths come from the text, and their product may be any size: the parser refuses what saturates.
        let product = |all: u64, length: &Option<u64>| length.map(|length| all.saturating_mul(length));
        self.dimensions.iter().try_fold(u64::from(self.lanes), product).or_else(|| {
            // `.b8 a[] = {1, 2}` has as many elements as values.
            let given = self.init.as_ref().map_or(0, |init| init.elements().len());
            (given > 0).then_some(given as u64)
        })
    }

    /// Size in bytes; an array without a size has none.
    pub fn size(&self) -> u64 {
        u64::from(self.ty.size()).saturating_mul(self.count().unwrap_or(0))
    }

    /// Alignment in bytes: that of an element if none is demanded.
    pub fn align(&self) -> u32 {
        self.explicit_align.unwrap_or_else(|| self.ty.size().saturating_mul(self.lanes))
    }
}

/// A function or an entry. Without a body it is only declared.
#[derive(Clone, Debug, PartialEq)]
pub struct Function<'t> {
    /// Where it is declared.
    pub line: Line,
    /// Who sees it.
    pub linkage: Linkage,
    /// Whether a launch can begin here.
    pub entry: bool,
    /// What stands in the parentheses of each `.attribute`.
    pub attributes: Vec<&'t str>,
    /// The results.
    pub returns: Vec<Variable<'t>>,
    /// Its name.
    pub name: &'t str,
    /// The parameters.
    pub params: Vec<Variable<'t>>,
    /// Directives such as `.reqntid` with their numbers.
    pub bounds: Vec<(&'t str, Vec<u64>)>,
    /// Each `.pragma` before the body.
    pub pragmas: Vec<Directive<'t>>,
    /// The statements.
    pub body: Option<Vec<Statement<'t>>>,
}

/// A statement of a body.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement<'t> {
    /// `{`
    Open,
    /// `}`
    Close,
    /// A directive such as `.loc`.
    Directive(Directive<'t>),
    /// A label with its line.
    Label(Line, &'t str),
    /// Registers; a number declares that many with the number appended to the name.
    Registers(Line, Type, Vec<(&'t str, Option<u64>)>),
    /// A variable. It is in a box, for most statements are instructions, which are smaller.
    Variable(Box<Variable<'t>>),
    /// The label of a table of branch targets, and the targets.
    Targets(&'t str, Vec<&'t str>),
    /// The label of a prototype for indirect calls, and what follows `.callprototype`, without the semicolon.
    Prototype(&'t str, &'t str),
    /// An instruction.
    Inst(Inst<'t>),
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst<'t> {
    /// Where it stands.
    pub line: Line,
    /// Its position with its predicate and its semicolon.
    pub span: Span,
    /// The predicate, and whether it is negated.
    pub guard: Option<(&'t str, bool)>,
    /// The whole opcode, such as `ld.param.u64`. A pass may make one that the text does not have.
    pub opcode: Cow<'t, str>,
    /// The operands.
    pub args: Vec<Arg<'t>>,
}

impl Inst<'_> {
    /// The first part of the opcode.
    pub fn name(&self) -> &str {
        self.opcode.split('.').next().unwrap_or_default()
    }

    /// The other parts of the opcode.
    pub fn modifiers(&self) -> impl Iterator<Item = &str> {
        self.opcode.split('.').skip(1)
    }

    /// Whether the opcode has this part after its first one.
    pub fn has(&self, modifier: &str) -> bool {
        self.modifiers().any(|part| part == modifier)
    }

    /// The types in the opcode. If there are several, the first one is that of the result.
    pub fn types(&self) -> impl Iterator<Item = Type> {
        self.modifiers().filter_map(Type::parse)
    }
}

/// What stands in the brackets of an address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Base<'t> {
    /// A register or a variable.
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
