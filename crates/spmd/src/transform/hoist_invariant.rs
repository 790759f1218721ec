//! Hoisting of group-invariant code out of the implicit loops over the vectors of a group.
//!
//! In comes the function of a continuation; out goes one that takes the results of group-uniform divisions and square
//! roots as parameters, computed once before those loops. LLVM cannot hoist them if they depend on local memory: it
//! must assume that one vector stores what the next one loads. Here it is known that a continuation which stores only
//! to global buffers leaves local memory unchanged.
//!
//! ```c
//! barrier(CLK_LOCAL_MEM_FENCE);
//! out[i] = sums[0] / sums[1];
//! ```

use crate::analysis::op_class::{OpClass, class};
use crate::params::Param;
use crate::split::continuation_fn::ContinuationFunction;
use cloom_ir::{Flags, Function, InstData, Module, Op, Scalar, Space, Type, Value, ValueDef};
use rustc_hash::FxHashMap;

/// The depth of an expression tree that may be hoisted.
const DEPTH: u32 = 12;

/// The values that a group computes once.
pub struct Invariants {
    /// The function in which they are still computed.
    pub func: Function,
    /// The values, in the order of their parameters ([`Param::GroupInvariant`]).
    pub values: Vec<Value>,
}

/// Replaces group-invariant values by parameters.
pub fn run(module: &Module, item: &mut ContinuationFunction) -> Option<Invariants> {
    let func = &item.func;
    let insts = || func.insts_in_layout().map(|(_, data)| data);
    let stores_only_global = |data: &InstData| match data.op {
        Op::Store { .. } => matches!(func.ty(data.args[0]).space(), Some(Space::Global)),
        ref op => !op.has_effect(),
    };
    // One vector could change what the next one would compute.
    if !insts().all(stores_only_global) {
        return None;
    }
    let mut search = Search { module, func, params: &item.params, memo: FxHashMap::default() };
    let mut values: Vec<Value> = Vec::new();
    let mut consider = |v: Value, search: &mut Search<'_>| {
        // What is cheap is not worth a parameter.
        if !values.contains(&v) && search.cost(v, DEPTH).is_some_and(|cost| cost.long_latency) {
            values.push(v);
        }
    };
    for &b in &func.layout {
        for data in func.blocks[b].insts.iter().map(|&i| &func.insts[i]) {
            // Only the roots of invariant expressions: operands of instructions that are not invariant.
            if data.result.is_none_or(|r| search.cost(r, DEPTH).is_none()) {
                data.args.iter().for_each(|&a| consider(a, &mut search));
            }
        }
        func.blocks[b].term.for_each_use(|v| consider(v, &mut search));
    }
    if values.is_empty() {
        return None;
    }
    // Before uses are replaced: the group computes the values by this function's instructions.
    let original = func.clone();
    let entry = func.entry();
    let mut replacements = FxHashMap::default();
    for (k, &v) in values.iter().enumerate() {
        let ty = item.func.ty(v);
        replacements.insert(v, item.func.add_block_param(entry, ty));
        item.func.params.push(ty);
        item.params.push(Param::GroupInvariant(k as u32));
    }
    item.func.map_uses(|v| replacements.get(&v).copied().unwrap_or(v));
    Some(Invariants { func: original, values })
}

/// The cost of an expression tree.
#[derive(Clone, Copy, Default)]
struct Cost {
    /// Whether it has a long-latency operation.
    long_latency: bool,
    /// Its height.
    height: u32,
}

struct Search<'a> {
    module: &'a Module,
    func: &'a Function,
    params: &'a [Param],
    memo: FxHashMap<Value, Option<Cost>>,
}

impl Search<'_> {
    /// The cost of a group-invariant expression; `None` if it is not invariant.
    fn cost(&mut self, v: Value, depth: u32) -> Option<Cost> {
        if let Some(&cost) = self.memo.get(&v) {
            return cost;
        }
        let cost = self.find_cost(v, depth).filter(|cost| cost.height <= DEPTH);
        self.memo.insert(v, cost);
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
        let is_hoistable = match data.op {
            // A load is hoisted above control flow only if its address is valid in any case.
            Op::Load { .. } => {
                !data.flags.contains(Flags::VOLATILE) && self.is_in_local_variable(data.args[0], func.ty(v))
            }
            // Too expensive to be speculated.
            Op::PureCall(_) => false,
            ref op => op.is_pure(),
        };
        // Memoised with the depth at which a value was first asked for: at worst, a deep expression is not hoisted.
        if !is_hoistable || depth == 0 {
            return None;
        }
        let long_latency = matches!(class(&data.op), OpClass::IntegerDivision | OpClass::FloatDivision);
        data.args.iter().try_fold(Cost { long_latency, height: 0 }, |all, &a| {
            let arg = self.cost(a, depth - 1)?;
            Some(Cost { long_latency: all.long_latency | arg.long_latency, height: all.height.max(arg.height + 1) })
        })
    }

    /// Whether an address is a constant offset into a variable in local memory, with room for a value of this type.
    fn is_in_local_variable(&self, p: Value, ty: Type) -> bool {
        let func = self.func;
        // Only constant offsets: an index could be anything where the source does not load.
        let (base, offset) = match func.def_inst(p).map(|i| &func.insts[i]) {
            Some(data) if data.op == Op::PtrAdd => (data.args[0], func.const_bits(data.args[1])),
            _ => (p, Some(0)),
        };
        let ValueDef::Param(b, k) = func.values[base].def else { return false };
        match (self.params.get(k as usize), offset) {
            (Some(&Param::Local(g)), Some(offset)) if b == func.entry() && ty.scalar != Scalar::I1 => {
                let end = offset.checked_add(u64::from(ty.bytes()));
                // Hoisted in front of a condition, the load must not read beyond the variable.
                end.is_some_and(|end| end <= self.module.globals[g].size)
            }
            _ => false,
        }
    }
}
