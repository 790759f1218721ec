//! Rules of work-group functions (V50 to V55), which the vectoriser makes: they go by the contract of [`crate::abi`].
//!
//! The launcher's memory is in the address space `context`, which no program can name. Each address in it must be one
//! parameter plus offsets, so that it is known whose memory an access touches: descriptors are read, within their size;
//! frames of values that live across barriers are in scratch. The parameter of an address is found by a forward search
//! over additions and block parameters, with two that meet as an error.

use super::module::{callees, ops, space_of};
use super::{AnyEntity, Report, Rule, VerifyError, verify_function};
use crate::abi;
use crate::entity::{Entity, FuncRef, Inst, Value};
use crate::function::Function;
use crate::inst::{InstData, Op};
use crate::module::Module;
use crate::types::{Space, Type};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// Number of the parameter that is the launch descriptor, and so on.
const LAUNCH: usize = 0;
const ARGS: usize = 1;
const GROUP: usize = 2;

/// The types of the parameters of a work-group function.
pub const PARAMS: [Type; 5] = [
    Type::ptr(Space::Context),
    Type::ptr(Space::Constant),
    Type::ptr(Space::Context),
    Type::ptr(Space::Local),
    Type::ptr(Space::Context),
];

/// Checks a work-group function whose vectors have so many work-items: all rules of functions, and those of work-group
/// functions.
pub fn verify_work_group(module: &Module, func: FuncRef, lanes: u16) -> Vec<VerifyError> {
    let mut errors = Vec::new();
    let Some(func) = module.funcs.get(func) else { return errors };
    verify_function(module, func, &mut errors);
    // The search for origins indexes arenas, so that it needs a valid function.
    if !errors.is_empty() {
        return errors;
    }
    let mut report = Report::new(module, func, &mut errors);
    let r = &mut report;
    if func.params != PARAMS || func.ret.is_some() || func.is_declaration() {
        r.require(false, Rule::GroupSignature, AnyEntity::Function);
        return errors;
    }
    let origins = Origins::of(func);
    let functions = functions_of_items(module, func);
    for &b in &func.layout {
        for &i in &func.blocks[b].insts {
            let data = &func.insts[i];
            r.require(!is_of_items(module, &data.op, &functions), Rule::GroupItem, AnyEntity::Inst(i));
            mask(r, i, data, lanes);
            accesses(r, i, data, &origins);
        }
    }
    errors
}

/// Whether an operation is one of a single work-item, such as a query of ids or a barrier, or calls one of these
/// functions.
fn is_of_items(module: &Module, op: &Op, functions: &FxHashSet<FuncRef>) -> bool {
    match op {
        Op::Query { .. } | Op::Barrier(_) => true,
        // One address for all groups would be wrong: groups run at once, each with its own local memory (parameter 3).
        Op::GlobalAddr(g) => space_of(module, *g) == Some(Space::Local),
        Op::Call(f) | Op::PureCall(f) => functions.contains(f),
        op => op.is_subgroup(),
    }
}

/// The functions that a function reaches by calls in which there is such an operation, or that call such functions.
fn functions_of_items(module: &Module, func: &Function) -> FxHashSet<FuncRef> {
    let (mut reached, mut work) = (BTreeSet::new(), callees(func));
    while let Some(f) = work.pop() {
        if reached.insert(f) {
            work.extend(module.funcs.get(f).map(callees).unwrap_or_default());
        }
    }
    let mut found = FxHashSet::default();
    loop {
        // A caller may come before its callee in the set, so the calls are followed until nothing is new.
        let before = found.len();
        for &f in &reached {
            let Some(func) = module.funcs.get(f) else { continue };
            if ops(func).any(|op| is_of_items(module, op, &found)) {
                found.insert(f);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

fn mask(r: &mut Report<'_>, i: Inst, data: &InstData, lanes: u16) {
    let mask = match data.op {
        Op::MaskedLoad { .. } | Op::Gather { .. } => data.args[1],
        Op::MaskedStore { .. } | Op::Scatter { .. } => data.args[2],
        _ => return,
    };
    let found = r.func.ty(mask).lanes;
    if !found.is_multiple_of(lanes.max(1)) {
        r.fail(Rule::GroupMask, AnyEntity::Inst(i), format!("a mask of {found} for vectors of {lanes}"));
    }
}

/// Checks the addresses that an instruction accesses.
fn accesses(r: &mut Report<'_>, i: Inst, data: &InstData, origins: &Origins) {
    let at = AnyEntity::Inst(i);
    let bytes = |v: Value| u64::from(r.func.ty(v).bytes());
    let (mut reads, mut writes) = (None, None);
    match data.op {
        Op::Load { .. } | Op::MaskedLoad { .. } | Op::Gather { .. } | Op::AtomicLoad { .. } => {
            reads = data.result.map(|v| (data.args[0], bytes(v)));
        }
        Op::Store { .. } | Op::MaskedStore { .. } | Op::Scatter { .. } | Op::AtomicStore { .. } => {
            writes = Some((data.args[0], bytes(data.args[1])));
        }
        Op::AtomicRmw { .. } | Op::AtomicCmpXchg { .. } => writes = Some((data.args[0], bytes(data.args[1]))),
        Op::MemCopy { size, .. } => (writes, reads) = (Some((data.args[0], size)), Some((data.args[1], size))),
        Op::MemSet { size, .. } => writes = Some((data.args[0], size)),
        _ => {}
    }
    for (p, size, is_write) in reads.map(|(p, n)| (p, n, false)).into_iter().chain(writes.map(|(p, n)| (p, n, true))) {
        let origin = origins.of[p.index()];
        let is_context = r.func.ty(p).space() == Some(Space::Context);
        let Origin::Param { number, offset } = origin else {
            r.require(!is_context, Rule::GroupRoot, at);
            continue;
        };
        let read_only = matches!(number, LAUNCH | ARGS | GROUP);
        r.require(!is_write || !read_only, Rule::GroupReadOnly, at);
        let end = match number {
            LAUNCH => abi::LAUNCH_SIZE,
            GROUP => abi::GROUP_SIZE,
            // The argument block, local memory and scratch have sizes that only the kernel knows.
            _ => continue,
        };
        // An offset that is not constant indexes by dimension, which is not bounded here.
        let inside = offset.is_none_or(|offset| offset.checked_add(size).is_some_and(|e| e <= end));
        r.require(inside, Rule::GroupBounds, at);
    }
}

/// The origin of an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Origin {
    /// Nothing is known yet: no definition has been looked at.
    Unknown,
    /// A parameter of the function, and the offset from it if that is a constant.
    Param { number: usize, offset: Option<u64> },
    /// Something else.
    Other,
}

impl Origin {
    fn meet(self, other: Origin) -> Origin {
        match (self, other) {
            (Origin::Unknown, o) | (o, Origin::Unknown) => o,
            (Origin::Param { number: a, offset: x }, Origin::Param { number: b, offset: y }) if a == b => {
                // A loop that moves through scratch has one parameter and several offsets.
                Origin::Param { number: a, offset: x.filter(|_| x == y) }
            }
            _ => Origin::Other,
        }
    }
}

/// The origin of each address of a function, by value.
struct Origins {
    of: Vec<Origin>,
}

impl Origins {
    fn of(func: &Function) -> Origins {
        let mut origins = Origins { of: vec![Origin::Unknown; func.values.len()] };
        for (number, &p) in func.param_values().iter().enumerate() {
            origins.of[p.index()] = Origin::Param { number, offset: Some(0) };
        }
        // A value changes three times at most, so this ends.
        let mut changed = true;
        while changed {
            changed = false;
            for &b in &func.layout {
                for data in func.blocks[b].insts.iter().map(|&i| &func.insts[i]) {
                    if let Some(v) = data.result.filter(|&v| func.ty(v).is_ptr()) {
                        changed |= origins.set(v, origins.transfer(func, data));
                    }
                }
                for e in func.blocks[b].term.edges() {
                    for (&p, &a) in func.blocks[e.block].params.iter().zip(&e.args) {
                        changed |= func.ty(p).is_ptr() && origins.set(p, origins.of[a.index()]);
                    }
                }
            }
        }
        origins
    }

    fn set(&mut self, v: Value, new: Origin) -> bool {
        let new = self.of[v.index()].meet(new);
        std::mem::replace(&mut self.of[v.index()], new) != new
    }

    fn transfer(&self, func: &Function, data: &InstData) -> Origin {
        let of = |k: usize| self.of[data.args[k].index()];
        match data.op {
            Op::PtrAdd => match of(0) {
                Origin::Param { number, offset } => {
                    let by = func.const_bits(data.args[1]);
                    Origin::Param { number, offset: offset.zip(by).map(|(x, y)| x.wrapping_add(y)) }
                }
                other => other,
            },
            Op::Select => of(1).meet(of(2)),
            Op::Splat => of(0),
            // The addresses of the operands from which lanes are picked.
            Op::Shuffle(ref mask) => {
                let lanes = func.ty(data.args[0]).lanes;
                let picked = mask.iter().map(|&lane| of(usize::from(lane >= lanes)));
                picked.fold(Origin::Unknown, Origin::meet)
            }
            // The same address, in another lane.
            Op::Extract => of(0),
            Op::Build => data.args.iter().fold(Origin::Unknown, |o, a| o.meet(self.of[a.index()])),
            Op::Insert => of(0).meet(of(2)),
            _ => Origin::Other,
        }
    }
}
