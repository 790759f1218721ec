//! Rules of modules (V2 to V8): names, globals, recursion. Functions are checked one by one.

use super::{AnyEntity, Rule, VerifyError, verify_function};
use crate::entity::{Entity, FuncRef, GlobalRef};
use crate::function::Function;
use crate::inst::Op;
use crate::module::{Global, GlobalLinkage, Module};
use crate::print::{PartTexts, global_text};
use crate::types::Space;
use rustc_hash::FxHashSet;

/// The largest memory object, in bytes.
pub(super) const MAX_SIZE: u64 = 1 << 32;

/// The largest alignment, in bytes.
const MAX_ALIGN: u32 = 4096;

pub(super) fn is_align(align: u32) -> bool {
    align.is_power_of_two() && align <= MAX_ALIGN
}

/// Checks a module: all its violations, in the order of the module. An empty list means that it is good.
pub fn verify(module: &Module) -> Vec<VerifyError> {
    let mut errors = Vec::new();
    check_globals(module, &mut errors);
    let mut names = FxHashSet::default();
    for f in module.funcs.values() {
        if !names.insert(&f.name) {
            errors.push(of_function(Rule::FunctionName, module, f));
        }
        verify_function(module, f, &mut errors);
    }
    if let Some(f) = recursion(module) {
        errors.push(of_function(Rule::Recursion, module, &module.funcs[f]));
    }
    errors
}

fn of_function(rule: Rule, module: &Module, f: &Function) -> VerifyError {
    VerifyError {
        rule,
        function: Some(f.name.clone()),
        entity: AnyEntity::Function,
        context: PartTexts::new(module, f).signature(),
        message: rule.message().into(),
    }
}

fn check_globals(module: &Module, errors: &mut Vec<VerifyError>) {
    let mut names = FxHashSet::default();
    for (g, data) in module.globals.iter() {
        let mut require = |good: bool, rule: Rule| {
            if !good {
                let (entity, context) = (AnyEntity::Global(g), global_text(module, data));
                errors.push(VerifyError { rule, function: None, entity, context, message: rule.message().into() });
            }
        };
        require(data.relocs.iter().all(|r| r.target.index() < module.globals.len()), Rule::Range);
        require(names.insert(&data.name), Rule::GlobalName);
        require(is_align(data.align), Rule::GlobalAlign);
        require(has_place(data), Rule::GlobalSpace);
        require(data.size <= MAX_SIZE && data.init.len() as u64 <= data.size, Rule::GlobalSize);
        require(relocs_fit(data), Rule::Reloc);
        require(is_linkable(data), Rule::GlobalLinkage);
    }
}

fn has_place(g: &Global) -> bool {
    match g.space {
        Space::Constant | Space::Global => true,
        Space::Local => g.init.is_empty() && g.relocs.is_empty(),
        Space::Private | Space::Context | Space::Generic => false,
    }
}

fn is_linkable(g: &Global) -> bool {
    match g.linkage {
        GlobalLinkage::Internal => true,
        GlobalLinkage::External | GlobalLinkage::LinkOnce => g.space != Space::Local,
        GlobalLinkage::Import => g.space != Space::Local && g.init.is_empty() && g.relocs.is_empty(),
    }
}

fn relocs_fit(g: &Global) -> bool {
    g.relocs.iter().all(|r| r.offset.checked_add(8).is_some_and(|end| end <= g.init.len() as u64))
}

/// The address space of a global that exists.
pub(super) fn space_of(module: &Module, g: GlobalRef) -> Option<Space> {
    module.globals.get(g).map(|g| g.space)
}

/// A function that can reach itself by calls: a depth-first search over the call graph, without recursion of its own.
fn recursion(module: &Module) -> Option<FuncRef> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        OnPath,
        Done,
    }
    let callees: Vec<Vec<FuncRef>> = module.funcs.values().map(callees).collect();
    let mut state = vec![State::New; callees.len()];
    // From each function, because a cycle may be reached from no other.
    for root in module.funcs.keys() {
        if state[root.index()] != State::New {
            continue;
        }
        let mut stack = vec![(root, 0usize)];
        state[root.index()] = State::OnPath;
        while let Some((f, next)) = stack.last_mut() {
            let f = *f;
            if let Some(&callee) = callees[f.index()].get(*next) {
                *next += 1;
                match state.get(callee.index()) {
                    Some(State::New) => {
                        state[callee.index()] = State::OnPath;
                        stack.push((callee, 0));
                    }
                    Some(State::OnPath) => return Some(callee),
                    // A callee that is done without a cycle is not searched again, so that the time is linear in the
                    // calls.
                    _ => {}
                }
            } else {
                state[f.index()] = State::Done;
                stack.pop();
            }
        }
    }
    None
}

/// The operations of a function, whatever is wrong with it.
pub(super) fn ops(func: &Function) -> impl Iterator<Item = &Op> {
    let insts = func.layout.iter().filter_map(|&b| func.blocks.get(b)).flat_map(|b| &b.insts);
    insts.filter_map(|&i| func.insts.get(i)).map(|data| &data.op)
}

/// The functions that a function calls, whatever is wrong with it. Indices may be out of range.
pub(super) fn callees(func: &Function) -> Vec<FuncRef> {
    let mut seen = FxHashSet::default();
    ops(func).filter_map(Op::callee).filter(|&f| seen.insert(f)).collect()
}
