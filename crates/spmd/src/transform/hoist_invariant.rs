//! Hoisting of group-invariant code: what is the same for a whole group is computed once, before the loops over its
//! vectors.
//!
//! In comes the function of a continuation; out goes one that takes the results of group-uniform divisions and roots
//! as parameters. LLVM cannot move them out of the loops over vectors when local memory is read: it must assume that
//! one vector stores what the next one reads. Here it is known that a continuation that stores to global buffers alone
//! leaves local memory as it was.
//!
//! ```c
//! barrier(CLK_LOCAL_MEM_FENCE);
//! out[i] = sums[0] / sums[1];
//! ```

use crate::split::continuation_fn::{ContinuationFunction, Param};
use cloom_ir::{BinOp, Flags, Function, InstData, Module, Op, Scalar, Space, Type, UnOp, Value, ValueDef};
use rustc_hash::FxHashMap;

/// How deep an expression may be.
const DEPTH: u32 = 12;

/// What a group computes once, as values of a function.
pub struct Invariants {
    /// The function before they became parameters.
    pub func: Function,
    /// The values, in the order of their parameters ([`Param::GroupInvariant`]).
    pub values: Vec<Value>,
}

/// Makes parameters of what is computed once.
pub fn run(module: &Module, item: &mut ContinuationFunction) -> Option<Invariants> {
    let func = &item.func;
    let insts = || func.layout.iter().flat_map(|&b| &func.blocks[b].insts).map(|&i| &func.insts[i]);
    let stores_outside = |data: &InstData| match data.op {
        Op::Store { .. } => matches!(func.ty(data.args[0]).space(), Some(Space::Global)),
        ref op => !op.has_effect(),
    };
    if !insts().all(stores_outside) {
        return None;
    }
    let mut search = Search { module, func, params: &item.params, known: FxHashMap::default() };
    let mut values: Vec<Value> = Vec::new();
    let mut note = |v: Value, search: &mut Search<'_>| {
        if !values.contains(&v) && search.cost(v, DEPTH).is_some_and(|cost| cost.long) {
            values.push(v);
        }
    };
    for &b in &func.layout {
        for data in func.blocks[b].insts.iter().map(|&i| &func.insts[i]) {
            // Only what something else needs, so that no part of it is computed twice.
            if data.result.is_none_or(|r| search.cost(r, DEPTH).is_none()) {
                data.args.iter().for_each(|&a| note(a, &mut search));
            }
        }
        func.blocks[b].term.for_each_use(|v| note(v, &mut search));
    }
    if values.is_empty() {
        return None;
    }
    let before = func.clone();
    let entry = func.entry();
    let mut to = FxHashMap::default();
    for (k, &v) in values.iter().enumerate() {
        let ty = item.func.ty(v);
        to.insert(v, item.func.add_block_param(entry, ty));
        item.func.params.push(ty);
        item.params.push(Param::GroupInvariant(k as u32));
    }
    item.func.map_uses(|v| to.get(&v).copied().unwrap_or(v));
    cloom_passes::dce::run(&mut item.func);
    Some(Invariants { func: before, values })
}

/// What an expression costs.
#[derive(Clone, Copy, Default)]
struct Cost {
    /// Whether there is an operation in it that takes long.
    long: bool,
    /// How deep it is.
    height: u32,
}

struct Search<'a> {
    module: &'a Module,
    func: &'a Function,
    params: &'a [Param],
    known: FxHashMap<Value, Option<Cost>>,
}

impl Search<'_> {
    /// What an expression costs that the group can compute; none: it cannot.
    fn cost(&mut self, v: Value, depth: u32) -> Option<Cost> {
        if let Some(&known) = self.known.get(&v) {
            return known;
        }
        let cost = self.find_cost(v, depth).filter(|cost| cost.height <= DEPTH);
        self.known.insert(v, cost);
        cost
    }

    fn find_cost(&mut self, v: Value, depth: u32) -> Option<Cost> {
        let func = self.func;
        let i = match func.values[v].def {
            ValueDef::Param(b, k) => {
                let shared = b == func.entry() && self.params[k as usize].is_shared();
                return shared.then_some(Cost::default());
            }
            ValueDef::Inst(i) => i,
        };
        let data = &func.insts[i];
        let may = match data.op {
            // What nobody promised to be in memory must not be read before it is needed.
            Op::Load { .. } => !data.flags.contains(Flags::VOLATILE) && self.is_variable(data.args[0], func.ty(v)),
            ref op => op.is_pure(),
        };
        if !may || depth == 0 {
            return None;
        }
        let long = matches!(
            data.op,
            Op::Binary(BinOp::Udiv | BinOp::Sdiv | BinOp::Urem | BinOp::Srem | BinOp::Fdiv) | Op::Unary(UnOp::Sqrt)
        );
        data.args.iter().try_fold(Cost { long, height: 0 }, |all, &a| {
            let arg = self.cost(a, depth - 1)?;
            Some(Cost { long: all.long | arg.long, height: all.height.max(arg.height + 1) })
        })
    }

    /// Whether an address is a fixed place in a variable in local memory, with room for a value.
    fn is_variable(&self, p: Value, ty: Type) -> bool {
        let func = self.func;
        let (base, offset) = match func.def_inst(p).map(|i| &func.insts[i]) {
            Some(data) if data.op == Op::PtrAdd => (data.args[0], func.const_bits(data.args[1])),
            _ => (p, Some(0)),
        };
        let ValueDef::Param(b, k) = func.values[base].def else { return false };
        match (self.params.get(k as usize), offset) {
            (Some(&Param::Local(g)), Some(offset)) if b == func.entry() && ty.scalar != Scalar::I1 => {
                let end = offset.checked_add(u64::from(ty.bytes()));
                end.is_some_and(|end| end <= self.module.globals[g].size)
            }
            _ => false,
        }
    }
}
