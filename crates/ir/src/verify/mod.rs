//! The verifier: the contract between the stages. Later stages rely on what it accepts.
//!
//! In comes any module that the text parser or a decoder yields, also one with indices out of range; out come all
//! violations, each with the number of its rule and the entity that breaks it, at most one for a rule and an entity. It
//! never panics, and its time is linear in the module but for dominators. [`verify_work_group`] checks what the
//! vectoriser made, by the rules of [`crate::abi`] on top.
//!
//! The rules are the table below; the numbers are for messages, tests and documents, and do not change meaning. Rules
//! of a group depend on those before: a function with an index out of range (V1) is not checked further, and dominance
//! (V24) is checked only if the structure is valid. The layout of this list and of the errors follows Cranelift's
//! verifier.
//!
//! Not restricted: unreachable blocks (which may use any value), `Switch` without cases, and endless loops.

mod flags;
mod function;
mod group;
mod inst;
mod module;
#[cfg(test)]
mod tests;

use crate::entity::{Block, Entity, GlobalRef, Inst, Value};
use crate::function::Function;
use crate::module::Module;
use crate::print::{PartTexts, name_text};
use std::cell::OnceCell;
use std::fmt;

pub use function::verify_function;
pub use group::verify_work_group;
pub use module::verify;

macro_rules! rules {
    ($($number:literal $name:ident $message:literal,)*) => {
        /// One rule, `V1` and so on.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Rule { $(#[doc = $message] $name = $number,)* }

        impl Rule {
            /// Every rule, in the order of the numbers.
            pub const ALL: &'static [Rule] = &[$(Rule::$name,)*];

            /// What it requires, in words.
            pub fn message(self) -> &'static str {
                match self { $(Rule::$name => $message,)* }
            }
        }
    };
}

rules! {
    // Indices.
    1 Range "an index points into its arena",
    // Modules.
    2 FunctionName "functions of a module differ in name",
    3 GlobalName "globals of a module differ in name",
    4 GlobalAlign "the alignment of a global is a power of two up to 4096",
    5 GlobalSpace "a global is in constant, global or local memory, and one in local memory has no initial bytes",
    6 GlobalSize "a global has at most 4 GiB, and no more initial bytes than that",
    7 Reloc "an address inside a global takes eight of its initial bytes",
    8 Recursion "a function does not call itself, directly or through others",
    // Signatures.
    9 Lanes "a type has 1 to 1024 lanes",
    10 Kernel "a kernel has a description of each parameter, and returns nothing",
    11 KernelParam "the kind and size of a kernel's parameter fit its type",
    12 ArgBlock "alignments in the argument block are powers of two up to 4096, and the block has at most 1 MiB",
    13 EntryParams "the parameters of the entry block have the types of the function's",
    // Structure.
    14 Placed "a block or an instruction stands in one place of the order",
    15 Definition "a value names the place that defines it",
    16 AllocaPlace "private memory is allocated in the entry block",
    17 Cond "a branch is decided by one i1, not by a vector",
    18 SwitchValue "a switch is decided by an integer, not by a vector",
    19 SwitchCases "the cases of a switch differ and fit the width of its value",
    20 Return "what is returned has the function's type",
    21 EdgeTarget "an edge leads to a block of the order that is not the entry",
    22 EdgeArgs "the arguments of an edge have the types of the block's parameters",
    23 Arity "an operation has its number of operands, and a result if it gives one",
    24 Dominance "a use is dominated by its definition",
    // Operations.
    25 ConstBits "a constant fits its type",
    26 IntArith "integer arithmetic takes and gives integers of one type",
    27 FloatArith "float arithmetic takes and gives floats of one type",
    28 Near "an approximation takes and gives f32",
    29 Icmp "an integer comparison takes two integers or pointers of one type and gives as many i1",
    30 Fcmp "a float comparison takes two floats of one type and gives as many i1",
    31 Cast "a conversion takes and gives types that it knows, of as many lanes",
    32 Select "a select takes an i1, or one for each lane, and two values of the result's type",
    33 Lane "a lane has the type of its vector's lanes, and a scalar integer counts it",
    34 Shuffle "a shuffle picks at most 1024 lanes of two values of one type",
    35 Vector "a splat, build or iota gives a vector of its operands' type; an iota, integers",
    36 PtrAdd "an address is moved by an i64 for each pointer",
    37 AddressOf "the address of memory is a pointer into its address space",
    38 Address "an access takes one address; a gather or scatter takes one for each lane",
    39 InMemory "an i1 has no form in memory",
    40 Align "the alignment of an access is a power of two up to 4096",
    41 Size "memory is allocated, copied and set in sizes of at most 4 GiB",
    42 Mask "the mask of a vector's access has an i1 for each lane of the vector",
    43 MaskTest "any, all and ballot take a mask; a ballot, of at most 64 lanes",
    44 Atomic "an atomic access is to one i32, i64, f32 or f64, by an operation that it has",
    45 Query "a query has one of three dimensions and gives an i64; of sub-groups, dimension 0; work_dim gives an i32, a clock an i64",
    46 Subgroup "a sub-group operation exchanges or combines scalars that it knows",
    47 Call "a call has the signature of a function of the module, that of a pure call is pure",
    48 Printf "a printf has an i64 for the work-item first, and then values that have a form in memory",
    49 Flags "a flag stands at an operation that it means something for",
    // Work-group functions.
    50 GroupSignature "a work-group function has the parameters of the interface with its launcher, and no result",
    51 GroupItem "a work-group function and its callees have no query, barrier, sub-group operation or local variable",
    52 GroupRoot "an address in context memory comes from one parameter of a work-group function, by additions",
    53 GroupBounds "an access to a descriptor is inside of it",
    54 GroupReadOnly "descriptors and the argument block are only read",
    55 GroupMask "a mask of a work-group function has lanes for whole vectors of work-items",
    // Linking.
    56 GlobalLinkage "a global that another module defines has no initial bytes, and local memory is of one module",
    // Device-side enqueue.
    57 DeviceCall "a call of the launcher takes i64s and pointers and gives an i64",
    // Textures.
    58 Sample "a sample takes an i64 and two f32s and gives four f32s",
    // Positions in the source.
    59 Inlined "a position names an inlined call of its function, that of such a call one before it",
    60 Mark "a mark takes an index and an address, or an address of private memory, or an event, which a copy gives, or a count and an address, or an argument of a copy",
}

impl Rule {
    /// Rules that no text breaks, as the parser numbers and names things itself: only a decoder, or a pass, can.
    pub const ONLY_DATA: &'static [Rule] =
        &[Rule::Range, Rule::FunctionName, Rule::GlobalName, Rule::Placed, Rule::Definition, Rule::Inlined];
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "V{}", *self as u8)
    }
}

/// What breaks a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AnyEntity {
    /// A global of the module.
    Global(GlobalRef),
    /// A function: its signature, or all of it.
    Function,
    /// A block's position or parameters.
    Block(Block),
    /// A block's terminator.
    Term(Block),
    /// An instruction.
    Inst(Inst),
    /// A value, wherever it is defined.
    Value(Value),
}

/// One violation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    /// Which rule.
    pub rule: Rule,
    /// The function, if it is in one.
    pub function: Option<String>,
    /// What breaks the rule.
    pub entity: AnyEntity,
    /// The entity as the text form writes it: a global, a function's signature, a block's head, a terminator, an
    /// instruction.
    pub context: String,
    /// What is wrong: the words of the rule, and what was found if that helps.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, `{}`", self.rule, self.context)?;
        if let (Some(name), false) = (&self.function, self.entity == AnyEntity::Function) {
            write!(f, " in {}", name_text(name))?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for VerifyError {}

/// Collects the violations of one function.
struct Report<'a> {
    module: &'a Module,
    func: &'a Function,
    errors: &'a mut Vec<VerifyError>,
    /// How many there were before this function.
    before: usize,
    texts: OnceCell<PartTexts<'a>>,
}

impl<'a> Report<'a> {
    fn new(module: &'a Module, func: &'a Function, errors: &'a mut Vec<VerifyError>) -> Self {
        let before = errors.len();
        Self { module, func, errors, before, texts: OnceCell::new() }
    }

    /// Whether this function has broken no rule so far.
    fn is_clean(&self) -> bool {
        self.errors.len() == self.before
    }

    fn require(&mut self, good: bool, rule: Rule, entity: AnyEntity) {
        if !good {
            self.fail(rule, entity, String::new());
        }
    }

    /// Reports that an entity breaks a rule, once; `found` is added to the words of the rule.
    fn fail(&mut self, rule: Rule, entity: AnyEntity, found: String) {
        // Rules of one entity are checked one after the other, so that the search ends at the first error of another
        // entity: the time stays linear.
        let known = self.errors[self.before..].iter().rev().take_while(|e| e.entity == entity).any(|e| e.rule == rule);
        if known {
            return;
        }
        // The numbers of values take time in the size of the function, which a function without errors is spared.
        let texts = self.texts.get_or_init(|| PartTexts::new(self.module, self.func));
        let context = match entity {
            AnyEntity::Function | AnyEntity::Global(_) => texts.signature(),
            AnyEntity::Block(b) => texts.head(b),
            AnyEntity::Term(b) => texts.term(b),
            AnyEntity::Inst(i) => texts.inst(i),
            AnyEntity::Value(v) => match self.func.values.get(v).map(|d| d.def) {
                Some(crate::ValueDef::Inst(i)) => texts.inst(i),
                Some(crate::ValueDef::Param(b, _)) => texts.head(b),
                None => format!("v?{}", v.index()),
            },
        };
        let message = if found.is_empty() { rule.message().into() } else { format!("{}; {found}", rule.message()) };
        self.errors.push(VerifyError { rule, function: Some(self.func.name.clone()), entity, context, message });
    }
}
