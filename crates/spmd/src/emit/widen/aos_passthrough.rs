//! Pass-through of short vectors in array-of-structures order.
//!
//! A short vector is normally split into a vector of lanes for each component. A `float4` is loaded as `xyzwxyzw…`
//! and deinterleaved to `xxxx…`, `yyyy…`; to be stored, it is interleaved again. Where all operations in between
//! treat every component alike, the same operations on the loaded vector give the vector to be stored, without
//! shuffles:
//!
//! ```c
//! tile[l] += tile[l + half];   // uint4
//! ```
//!
//! So before components are interleaved, they are traced back to where they were deinterleaved, through operations
//! that are the same for all of them. The operations on components are left to dead code elimination, unless they
//! have other users.
//!
//! A block parameter ends that search. So parameters of short-vector type stay interleaved if everything that is
//! assigned to them can be: `sum += in[i]`, of `float4`, is one interleaved accumulator.

use super::{Lanes, Widener};
use crate::analysis::input::{VectorInput, dense};
use crate::analysis::shape::Shape;
use crate::passes;
use cloom_ir::{CastOp, Entity, Flags, Inst, Op, Space, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// The most operations that are duplicated in interleaved form.
const MAX_DUPLICATED_OPS: usize = 16;

/// The depth of the search, and the most parameters considered: both bound its time.
const MAX_DEPTH: u32 = 8;
const MAX_PARAMS: usize = 64;

/// Lists of components, with the interleaved vector of each.
type Interleaved = SmallVec<[(Lanes, Value); 8]>;

/// Whether an operation is lane-wise, and of numbers.
fn is_lanewise(op: &Op) -> bool {
    // Casts to or from an address: vectors of addresses are not interleaved.
    let of_pointers = matches!(op, Op::Cast(CastOp::PtrToInt | CastOp::IntToPtr | CastOp::Space));
    op.is_lane_wise() && !of_pointers
}

/// The leaves of an interleaved expression.
#[derive(Default)]
struct Sources {
    /// Whether there is a contiguous load.
    memory: bool,
    /// Its block parameters.
    params: SmallVec<[Value; 4]>,
}

/// The block parameters of short-vector type that stay interleaved: those that are assigned only what can be
/// interleaved without shuffles, some of it loaded, and whose components are not used in a loop.
pub(super) fn params(item: &VectorInput) -> FxHashSet<Value> {
    let func = &item.func;
    let is_short = |v: Value| func.ty(v).is_vector() && item.shapes.of(v) == Shape::Varying;
    let blocks = func.layout.iter().filter(|&&b| b != func.entry());
    let params = blocks.flat_map(|&b| &func.blocks[b].params).copied();
    let mut assigned: FxHashMap<Value, Vec<Value>> = params.filter(|&p| is_short(p)).map(|p| (p, Vec::new())).collect();
    if assigned.is_empty() || assigned.len() > MAX_PARAMS {
        return FxHashSet::default();
    }
    for e in func.layout.iter().flat_map(|&b| func.blocks[b].term.edges()) {
        for (p, &a) in func.blocks[e.block].params.iter().zip(&e.args) {
            // An unspecified argument is never written, and so puts no condition on the parameter.
            if let Some(args) = assigned.get_mut(p).filter(|_| !item.unspecified.contains(&a)) {
                args.push(a);
            }
        }
    }
    let mut candidates: FxHashSet<Value> = assigned.keys().copied().collect();
    // The leaves of everything assigned to a parameter. Candidates only become fewer.
    let sources = |p: &Value, candidates: &FxHashSet<Value>| -> Option<Sources> {
        let mut all = Sources::default();
        assigned[p].iter().try_for_each(|&a| add_sources(item, a, candidates, MAX_DEPTH, &mut all))?;
        Some(all)
    };
    loop {
        // Parameters of two loops may feed each other. Optimistic: all are candidates, until one depends on what is
        // none.
        let remains_candidate =
            |p: &Value| sources(p, &candidates).is_some() && !has_component_uses(item, *p, &candidates);
        let remaining: FxHashSet<Value> = candidates.iter().copied().filter(remains_candidate).collect();
        if remaining.len() == candidates.len() {
            break;
        }
        candidates = remaining;
    }
    let mut loaded: FxHashSet<Value> = FxHashSet::default();
    loop {
        // The other way round, from nothing: a parameter that begins with a constant and is fed by itself alone saves
        // no shuffle, and must not be kept by a circle of such parameters.
        let is_loaded = |p: &Value| {
            sources(p, &candidates).is_some_and(|s| s.memory || s.params.iter().any(|q| loaded.contains(q)))
        };
        let loaded_now: FxHashSet<Value> = candidates.iter().copied().filter(is_loaded).collect();
        if loaded_now.len() == loaded.len() {
            return loaded;
        }
        loaded = loaded_now;
    }
}

/// Collects the leaves of a value; `None` if it cannot be interleaved without shuffles.
fn add_sources(
    item: &VectorInput,
    v: Value,
    candidates: &FxHashSet<Value>,
    depth: u32,
    all: &mut Sources,
) -> Option<()> {
    let func = &item.func;
    if item.shapes.of(v) == Shape::Uniform {
        // A uniform vector is repeated by one shuffle.
        return func.ty(v).is_vector().then_some(());
    }
    if candidates.contains(&v) {
        all.params.push(v);
        return Some(());
    }
    let data = &func.insts[func.def_inst(v)?];
    match data.op {
        Op::Load { .. } if is_dense(item, data.args[0], func.ty(v)) && !data.flags.contains(Flags::VOLATILE) => {
            // Its components come from a vector that is in the order of memory already.
            all.memory = true;
            Some(())
        }
        // A scalar operand, such as the condition of a `select`, would have to be repeated for each component.
        ref op if is_lanewise(op) && data.args.iter().all(|&a| func.ty(a).lanes == func.ty(v).lanes) => {
            data.args.iter().try_for_each(|&a| add_sources(item, a, candidates, depth.checked_sub(1)?, all))
        }
        _ => None,
    }
}

/// Whether an access to short vectors is contiguous. (Private arrays are excluded.)
fn is_dense(item: &VectorInput, p: Value, ty: Type) -> bool {
    let not_private = item.func.ty(p).space() != Some(Space::Private);
    not_private && ty.is_vector() && matches!(item.shapes.of(p), Shape::Strided { by, .. } if by == dense(ty))
}

/// Whether a parameter's components are used in a loop.
fn has_component_uses(item: &VectorInput, p: Value, candidates: &FxHashSet<Value>) -> bool {
    let func = &item.func;
    let stays_interleaved = |i: Inst| {
        let data = &func.insts[i];
        match data.op {
            // Any other store takes the lanes apart again.
            Op::Store { .. } => data.args[0] != p && is_dense(item, data.args[0], func.ty(p)),
            ref op => {
                is_lanewise(op)
                    && data
                        .args
                        .iter()
                        .all(|&a| add_sources(item, a, candidates, MAX_DEPTH, &mut Sources::default()).is_some())
            }
        }
    };
    func.layout.iter().any(|&b| {
        let block = &func.blocks[b];
        let mut passed_on = block.term.edges().into_iter().flat_map(|e| {
            let params = &func.blocks[e.block].params;
            e.args.iter().zip(params).filter(|&(&a, _)| a == p).map(|(_, q)| candidates.contains(q)).collect::<Vec<_>>()
        });
        let uses = block.insts.iter().filter(|&&i| func.insts[i].args.contains(&p));
        // After a loop, components are deinterleaved once; in it, they would be in each iteration.
        item.loops.innermost(b).is_some()
            && (uses.copied().any(|i| !stays_interleaved(i)) || passed_on.any(|is_candidate| !is_candidate))
    })
}

impl Widener<'_> {
    /// Interleaves components without shuffles, if they come from interleaved vectors.
    pub(super) fn interleaved_of(&mut self, components: &[Value]) -> Option<Value> {
        if !self.manager.is_on(passes::AOS_PASSTHROUGH) {
            return None;
        }
        let mut plan = Vec::new();
        // First the plan, without emitting anything: the search may fail at its last leaf.
        let from_memory = self.plan_interleaved(components, MAX_DUPLICATED_OPS, &mut plan)?;
        // Splats and uniform vectors alone: interleaving the result takes one shuffle, and repeats no operation.
        if !from_memory {
            return None;
        }
        self.manager.count(passes::AOS_PASSTHROUGH);
        let mut done = Interleaved::new();
        for components in plan {
            let interleaved = self.make_interleaved(&components, &done);
            done.push((components, interleaved));
        }
        done.pop().map(|(_, interleaved)| interleaved)
    }

    /// Lists the expressions to emit, operands first. Returns whether some leaf is a deinterleaved vector; `None` if
    /// it cannot be done.
    fn plan_interleaved(&self, components: &[Value], depth: usize, plan: &mut Vec<Lanes>) -> Option<bool> {
        // A common operand is computed once.
        if plan.iter().any(|done| done[..] == *components) {
            return Some(false);
        }
        let is_deinterleaved = self.deinterleaved_from(components).is_some();
        if !is_deinterleaved && !self.is_splat(components) && self.components_of_uniform(components).is_none() {
            let operands = self.operands(components)?;
            let mut from_memory = false;
            for operand in &operands {
                from_memory |= self.plan_interleaved(operand, depth.checked_sub(1)?, plan)?;
            }
            // Counts expressions, so that trees with many common parts end soon, too.
            if plan.len() == MAX_DUPLICATED_OPS {
                return None;
            }
            plan.push(components.into());
            return Some(from_memory);
        }
        plan.push(components.into());
        Some(is_deinterleaved)
    }

    fn make_interleaved(&mut self, components: &[Value], done: &Interleaved) -> Value {
        if let Some(interleaved) = self.deinterleaved_from(components) {
            return interleaved;
        }
        let (n, ty) = (components.len() as u16, self.func.ty(components[0]));
        if let Some(uniform) = self.components_of_uniform(components) {
            // `xyzw` for each lane.
            let order: Vec<u16> = (0..self.lanes).flat_map(|_| 0..n).collect();
            return self.b().shuffle(uniform, uniform, &order);
        }
        let ty = Type::vector(ty.scalar, ty.lanes * n);
        let inst = self.func.def_inst(components[0]);
        let data = inst.map(|i| &self.func.insts[i]);
        match data.map(|data| (data.op.clone(), data.args.clone(), data.flags)) {
            Some((op @ Op::Const(_), args, flags)) => self.push_interleaved(op, args, ty, flags),
            Some((Op::Splat, args, _)) => self.b().splat(args[0], ty.lanes),
            Some((op, _, flags)) => {
                let operands = self.operands(components).unwrap_or_default();
                let operand_of = |operand: &Lanes| done.iter().find(|k| k.0 == *operand).map(|k| k.1);
                let args = operands.iter().filter_map(operand_of).collect();
                self.push_interleaved(op, args, ty, flags)
            }
            // `plan_interleaved` lists no such expression.
            None => components[0],
        }
    }

    fn push_interleaved(&mut self, op: Op, args: cloom_ir::Args, ty: Type, flags: Flags) -> Value {
        // An instruction with a result type has a result.
        self.b().push(op, args, Some(ty), flags).unwrap_or_else(|| Value::new(0))
    }

    /// The vector that components were deinterleaved from, if they are all of it.
    fn deinterleaved_from(&self, components: &[Value]) -> Option<Value> {
        let n = components.len() as u16;
        let mut interleaved = None;
        for (c, &component) in (0..n).zip(components) {
            let data = &self.func.insts[self.func.def_inst(component)?];
            let Op::Shuffle(lanes) = &data.op else { return None };
            // The shuffle that `deinterleave` emits for component `c`: lanes `c`, `c + n`, `c + 2n` and so on.
            let in_order = lanes.iter().zip(0..).all(|(&lane, l)| lane == l * n + c);
            let all = self.func.ty(data.args[0]).lanes == n * self.lanes && lanes.len() == usize::from(self.lanes);
            if !in_order || !all || *interleaved.get_or_insert(data.args[0]) != data.args[0] {
                return None;
            }
        }
        interleaved
    }

    /// Whether all components are splats of one scalar.
    fn is_splat(&self, components: &[Value]) -> bool {
        let source = |v: Value| {
            let data = &self.func.insts[self.func.def_inst(v)?];
            match data.op {
                Op::Const(bits) => Some((Some(bits), None)),
                Op::Splat => Some((None, Some(data.args[0]))),
                _ => None,
            }
        };
        let first = source(components[0]);
        first.is_some() && components.iter().all(|&component| source(component) == first)
    }

    /// The uniform short vector whose splatted components these are.
    fn components_of_uniform(&self, components: &[Value]) -> Option<Value> {
        let mut uniform = None;
        for (c, &component) in (0..).zip(components) {
            let splat = &self.func.insts[self.func.def_inst(component)?];
            let component = &self.func.insts[self.func.def_inst(*splat.args.first()?)?];
            let index = component.args.get(1).and_then(|&k| self.func.const_bits(k));
            let from = *component.args.first()?;
            let is_component = splat.op == Op::Splat && component.op == Op::Extract && index == Some(c);
            if !is_component || *uniform.get_or_insert(from) != from {
                return None;
            }
        }
        uniform.filter(|&v| usize::from(self.func.ty(v).lanes) == components.len())
    }

    /// The operands of an operation that is the same for all components: for each operand, its components.
    fn operands(&self, components: &[Value]) -> Option<SmallVec<[Lanes; 3]>> {
        let insts: SmallVec<[Inst; 4]> =
            components.iter().map(|&component| self.func.def_inst(component)).collect::<Option<_>>()?;
        let first = &self.func.insts[insts[0]];
        let to = self.func.ty(components[0]);
        let same_lanes = |a: Value| self.func.ty(a).lanes == to.lanes;
        let same = insts.iter().zip(components).all(|(&i, &component)| {
            let data = &self.func.insts[i];
            // With other flags (`nnan` of one component, say) the one operation would promise what is not promised for
            // all.
            data.op == first.op && data.flags == first.flags && self.func.ty(component) == to
        });
        if !is_lanewise(&first.op) || !same || !first.args.iter().all(|&a| same_lanes(a) && !self.func.ty(a).is_ptr()) {
            return None;
        }
        let operand = |k: usize| -> Lanes { insts.iter().map(|&i| self.func.insts[i].args[k]).collect() };
        let operands: SmallVec<[Lanes; 3]> = (0..first.args.len()).map(operand).collect();
        let typed = operands.iter().all(|o| o.iter().all(|&v| self.func.ty(v) == self.func.ty(o[0])));
        typed.then_some(operands)
    }
}
