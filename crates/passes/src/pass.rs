//! What a pass is: its name, and the function that runs it. Each pass declares itself; lists of passes are lists of
//! these constants.

use cloom_ir::{FuncRef, Function, Module};

/// A pass, as switches and statistics name it.
#[derive(Clone, Copy, Debug)]
pub struct PassId {
    /// Its name, unique among all passes: lower-case words with hyphens.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// Whether later stages rely on it: it cannot be switched off.
    pub required: bool,
}

impl PassId {
    /// A pass that can be switched off: without it the code is slower, never wrong.
    pub const fn optional(name: &'static str, about: &'static str) -> PassId {
        PassId { name, about, required: false }
    }

    /// A pass that later stages rely on.
    pub const fn required(name: &'static str, about: &'static str) -> PassId {
        PassId { name, about, required: true }
    }
}

impl PartialEq for PassId {
    fn eq(&self, other: &PassId) -> bool {
        self.name == other.name
    }
}

impl Eq for PassId {}

/// A pass over one function.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Which one.
    pub id: PassId,
    /// How it is run.
    pub run: RunPass,
}

/// How a pass is run: it returns how often it changed something. The function has a body.
#[derive(Clone, Copy, Debug)]
pub enum RunPass {
    /// It needs no other.
    Alone(fn(&mut Function) -> usize),
    /// It runs other passes in between, so that it sees more to change.
    With(fn(&mut Function, &RunOthers<'_>) -> usize),
}

/// A pass over a function that also changes other parts of its module. Returns how often it changed something.
pub type ModulePass = fn(&mut Module, FuncRef) -> usize;

/// Runs other passes for a pass, as the manager does.
pub type RunOthers<'a> = dyn Fn(&mut Function, &[Pass]) + 'a;

impl Pass {
    pub(crate) const fn new(name: &'static str, about: &'static str, run: fn(&mut Function) -> usize) -> Pass {
        Pass { id: PassId::optional(name, about), run: RunPass::Alone(run) }
    }

    /// A pass that cannot be switched off, because later stages rely on it.
    pub(crate) const fn required(name: &'static str, about: &'static str, run: fn(&mut Function) -> usize) -> Pass {
        Pass { id: PassId::required(name, about), run: RunPass::Alone(run) }
    }

    pub(crate) const fn with(
        name: &'static str,
        about: &'static str,
        run: fn(&mut Function, &RunOthers<'_>) -> usize,
    ) -> Pass {
        Pass { id: PassId::optional(name, about), run: RunPass::With(run) }
    }
}
