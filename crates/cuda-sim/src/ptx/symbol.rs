//! The meaning of names in a function, for the machine.
//!
//! In: nothing; these are the symbols of [`cloom_ptx::Scopes`]. Out: slots of registers and addresses of variables.

use super::op::Slot;
use cloom_ptx::Register;

/// The meaning of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    Register(Register),
    Param(Slot),
    Local(u32),
    /// A global variable, by number.
    Variable(u32),
    Shared(u32),
    DynamicShared,
    Const(u32),
    Function(u32),
    /// A table of branch targets: numbers of labels.
    Targets(Vec<u32>),
    Prototype,
}

impl From<Register> for Symbol {
    fn from(register: Register) -> Symbol {
        Symbol::Register(register)
    }
}

/// The scopes of a function.
pub(super) type Scopes<'m, 't> = cloom_ptx::Scopes<'m, 't, Symbol>;
