//! Pass-through of short vectors in array-of-structures order.
//!
//! A short vector is split: a vector of lanes for each component. What was loaded as `float4` comes as `xyzwxyzw…`, is
//! deinterleaved to `xxxx…`, `yyyy…`; to be stored, it is interleaved again. Where all operations in between treat
//! each component alike, the same operations on what was loaded give what is to be stored, and nothing is shuffled:
//!
//! ```c
//! tile[l] += tile[l + half];   // uint4
//! ```
//!
//! So before components are interleaved, they are followed back to where they were deinterleaved, through operations
//! that are the same for all of them. Those on the components are left to dead code elimination, unless something else
//! needs them.
//!
//! A block parameter ends the search. So parameters that are short vectors stay interleaved if everything that is
//! written to them can be: `sum += in[i]`, of `float4`, is one interleaved vector that grows by what is loaded.

use super::{Lanes, VectorInput, Widener, dense};
use crate::analysis::shape::Shape;
use crate::passes;
use cloom_ir::{CastOp, Entity, Flags, Inst, Op, Space, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// So many operations are done again on what is not taken apart.
const MOST: usize = 16;

/// So far back values are followed, and so many parameters are looked at: more would take long to find out.
const DEPTH: u32 = 8;
const MOST_PARAMS: usize = 64;

/// What components were found to be parts of.
type Known = SmallVec<[(Lanes, Value); 8]>;

/// Whether an operation does the same to each lane.
fn is_lanewise(op: &Op) -> bool {
    match op {
        Op::Unary(_) | Op::Binary(_) | Op::Fma | Op::Icmp(_) | Op::Fcmp(_) | Op::Select => true,
        Op::Cast(op) => !matches!(op, CastOp::PtrToInt | CastOp::IntToPtr | CastOp::Space),
        _ => false,
    }
}

/// What a whole vector is made of.
#[derive(Default)]
struct Sources {
    /// Something that is loaded as it lies in memory.
    memory: bool,
    /// Parameters of blocks.
    params: SmallVec<[Value; 4]>,
}

/// The parameters of blocks, short vectors all, that are variables of whole vectors: those to which only what can be made whole is
/// written, some of it from memory, and which are taken apart in no loop.
pub(super) fn params(item: &VectorInput) -> FxHashSet<Value> {
    let func = &item.func;
    let is_short = |v: Value| func.ty(v).is_vector() && item.shapes.of(v) == Shape::Varying;
    let blocks = func.layout.iter().filter(|&&b| b != func.entry());
    let params = blocks.flat_map(|&b| &func.blocks[b].params).copied();
    let mut written: FxHashMap<Value, Vec<Value>> = params.filter(|&p| is_short(p)).map(|p| (p, Vec::new())).collect();
    if written.is_empty() || written.len() > MOST_PARAMS {
        return FxHashSet::default();
    }
    for e in func.layout.iter().flat_map(|&b| func.blocks[b].term.edges()) {
        for (p, &a) in func.blocks[e.block].params.iter().zip(&e.args) {
            if let Some(args) = written.get_mut(p).filter(|_| !item.unspecified.contains(&a)) {
                args.push(a);
            }
        }
    }
    let mut whole: FxHashSet<Value> = written.keys().copied().collect();
    // The sources of all that is written to them; fewer and fewer parameters are among them.
    let sources = |p: &Value, whole: &FxHashSet<Value>| -> Option<Sources> {
        let mut all = Sources::default();
        written[p].iter().try_for_each(|&a| add_sources(item, a, whole, DEPTH, &mut all))?;
        Some(all)
    };
    loop {
        let stays = |p: &Value| sources(p, &whole).is_some() && !is_taken_apart(item, *p, &whole);
        let fewer: FxHashSet<Value> = whole.iter().copied().filter(stays).collect();
        if fewer.len() == whole.len() {
            break;
        }
        whole = fewer;
    }
    let mut loaded: FxHashSet<Value> = FxHashSet::default();
    loop {
        let is_loaded =
            |p: &Value| sources(p, &whole).is_some_and(|s| s.memory || s.params.iter().any(|q| loaded.contains(q)));
        let more: FxHashSet<Value> = whole.iter().copied().filter(is_loaded).collect();
        if more.len() == loaded.len() {
            return loaded;
        }
        loaded = more;
    }
}

/// Adds what a value is made of; nothing if it cannot be whole.
fn add_sources(item: &VectorInput, v: Value, whole: &FxHashSet<Value>, depth: u32, all: &mut Sources) -> Option<()> {
    let func = &item.func;
    if item.shapes.of(v) == Shape::Uniform {
        return func.ty(v).is_vector().then_some(());
    }
    if whole.contains(&v) {
        all.params.push(v);
        return Some(());
    }
    let data = &func.insts[func.def_inst(v)?];
    match data.op {
        Op::Load { .. } if is_dense(item, data.args[0], func.ty(v)) && !data.flags.contains(Flags::VOLATILE) => {
            all.memory = true;
            Some(())
        }
        ref op if is_lanewise(op) && data.args.iter().all(|&a| func.ty(a).lanes == func.ty(v).lanes) => {
            data.args.iter().try_for_each(|&a| add_sources(item, a, whole, depth.checked_sub(1)?, all))
        }
        _ => None,
    }
}

/// Whether short vectors lie side by side. (Those in private arrays do not.)
fn is_dense(item: &VectorInput, p: Value, ty: Type) -> bool {
    let shared = item.func.ty(p).space() != Some(Space::Private);
    shared && ty.is_vector() && matches!(item.shapes.of(p), Shape::Strided { by, .. } if by == dense(ty))
}

/// Whether a parameter's components are needed in a loop.
fn is_taken_apart(item: &VectorInput, p: Value, whole: &FxHashSet<Value>) -> bool {
    let func = &item.func;
    let stays_whole = |i: Inst| {
        let data = &func.insts[i];
        match data.op {
            Op::Store { .. } => data.args[0] != p && is_dense(item, data.args[0], func.ty(p)),
            ref op => {
                is_lanewise(op)
                    && data.args.iter().all(|&a| add_sources(item, a, whole, DEPTH, &mut Sources::default()).is_some())
            }
        }
    };
    func.layout.iter().any(|&b| {
        let block = &func.blocks[b];
        let mut passed = block.term.edges().into_iter().flat_map(|e| {
            let params = &func.blocks[e.block].params;
            e.args.iter().zip(params).filter(|&(&a, _)| a == p).map(|(_, q)| whole.contains(q)).collect::<Vec<_>>()
        });
        let uses = block.insts.iter().filter(|&&i| func.insts[i].args.contains(&p));
        item.loops.innermost(b).is_some()
            && (uses.copied().any(|i| !stays_whole(i)) || passed.any(|is_whole| !is_whole))
    })
}

impl Widener<'_> {
    /// All components of all lanes in one vector, lane-major, without shuffles, if they come from such vectors.
    pub(super) fn interleaved_of(&mut self, parts: &[Value]) -> Option<Value> {
        if !self.manager.is_on(passes::AOS_PASSTHROUGH) {
            return None;
        }
        let mut order = Vec::new();
        let from_memory = self.plan_interleaved(parts, MOST, &mut order)?;
        if !from_memory {
            return None;
        }
        self.manager.count(passes::AOS_PASSTHROUGH);
        let mut known = Known::new();
        for parts in order {
            let whole = self.make_interleaved(&parts, &known);
            known.push((parts, whole));
        }
        known.pop().map(|(_, whole)| whole)
    }

    /// Lists what has to be made, operands first. Says whether something of it was in one vector before; nothing if it cannot be made.
    fn plan_interleaved(&self, parts: &[Value], depth: usize, order: &mut Vec<Lanes>) -> Option<bool> {
        if order.iter().any(|known| known[..] == *parts) {
            return Some(false);
        }
        let is_whole = self.taken_apart(parts).is_some();
        if !is_whole && !self.is_one_for_all(parts) && self.of_one(parts).is_none() {
            let operands = self.operands(parts)?;
            let mut from_memory = false;
            for operand in &operands {
                from_memory |= self.plan_interleaved(operand, depth.checked_sub(1)?, order)?;
            }
            if order.len() == MOST {
                return None;
            }
            order.push(parts.into());
            return Some(from_memory);
        }
        order.push(parts.into());
        Some(is_whole)
    }

    fn make_interleaved(&mut self, parts: &[Value], known: &Known) -> Value {
        if let Some(whole) = self.taken_apart(parts) {
            return whole;
        }
        let (n, ty) = (parts.len() as u16, self.func.ty(parts[0]));
        if let Some(one) = self.of_one(parts) {
            let order: Vec<u16> = (0..self.lanes).flat_map(|_| 0..n).collect();
            return self.b().shuffle(one, one, &order);
        }
        let ty = Type::vector(ty.scalar, ty.lanes * n);
        let inst = self.func.def_inst(parts[0]);
        let data = inst.map(|i| &self.func.insts[i]);
        match data.map(|data| (data.op.clone(), data.args.clone(), data.flags)) {
            Some((op @ Op::Const(_), args, flags)) => self.push_interleaved(op, args, ty, flags),
            Some((Op::Splat, args, _)) => self.b().splat(args[0], ty.lanes),
            Some((op, _, flags)) => {
                let operands = self.operands(parts).unwrap_or_default();
                let whole = |operand: &Lanes| known.iter().find(|k| k.0 == *operand).map(|k| k.1);
                let args = operands.iter().filter_map(whole).collect();
                self.push_interleaved(op, args, ty, flags)
            }
            None => parts[0],
        }
    }

    fn push_interleaved(&mut self, op: Op, args: cloom_ir::Args, ty: Type, flags: Flags) -> Value {
        // An instruction that is made with a result type has a result.
        self.b().push(op, args, Some(ty), flags).unwrap_or_else(|| Value::new(0))
    }

    /// The vector that components were taken out of, if they are all of it.
    fn taken_apart(&self, parts: &[Value]) -> Option<Value> {
        let n = parts.len() as u16;
        let mut whole = None;
        for (c, &part) in (0..n).zip(parts) {
            let data = &self.func.insts[self.func.def_inst(part)?];
            let Op::Shuffle(lanes) = &data.op else { return None };
            let in_order = lanes.iter().zip(0..).all(|(&lane, l)| lane == l * n + c);
            let all = self.func.ty(data.args[0]).lanes == n * self.lanes && lanes.len() == usize::from(self.lanes);
            if !in_order || !all || *whole.get_or_insert(data.args[0]) != data.args[0] {
                return None;
            }
        }
        whole
    }

    /// Whether all components of all lanes are one number.
    fn is_one_for_all(&self, parts: &[Value]) -> bool {
        let source = |v: Value| {
            let data = &self.func.insts[self.func.def_inst(v)?];
            match data.op {
                Op::Const(bits) => Some((Some(bits), None)),
                Op::Splat => Some((None, Some(data.args[0]))),
                _ => None,
            }
        };
        let first = source(parts[0]);
        first.is_some() && parts.iter().all(|&part| source(part) == first)
    }

    /// The short vector, the same for all lanes, whose components these are.
    fn of_one(&self, parts: &[Value]) -> Option<Value> {
        let mut one = None;
        for (c, &part) in (0..).zip(parts) {
            let splat = &self.func.insts[self.func.def_inst(part)?];
            let component = &self.func.insts[self.func.def_inst(*splat.args.first()?)?];
            let index = component.args.get(1).and_then(|&k| self.func.const_bits(k));
            let from = *component.args.first()?;
            let right = splat.op == Op::Splat && component.op == Op::Extract && index == Some(c);
            if !right || *one.get_or_insert(from) != from {
                return None;
            }
        }
        one.filter(|&v| usize::from(self.func.ty(v).lanes) == parts.len())
    }

    /// The operands, each of all components, of an operation that is the same for all components.
    fn operands(&self, parts: &[Value]) -> Option<SmallVec<[Lanes; 3]>> {
        let insts: SmallVec<[Inst; 4]> = parts.iter().map(|&part| self.func.def_inst(part)).collect::<Option<_>>()?;
        let first = &self.func.insts[insts[0]];
        let to = self.func.ty(parts[0]);
        let alike = |a: Value| self.func.ty(a).lanes == to.lanes;
        let same = insts.iter().zip(parts).all(|(&i, &part)| {
            let data = &self.func.insts[i];
            data.op == first.op && data.flags == first.flags && self.func.ty(part) == to
        });
        if !is_lanewise(&first.op) || !same || !first.args.iter().all(|&a| alike(a) && !self.func.ty(a).is_ptr()) {
            return None;
        }
        let operand = |k: usize| -> Lanes { insts.iter().map(|&i| self.func.insts[i].args[k]).collect() };
        let operands: SmallVec<[Lanes; 3]> = (0..first.args.len()).map(operand).collect();
        let typed = operands.iter().all(|o| o.iter().all(|&v| self.func.ty(v) == self.func.ty(o[0])));
        typed.then_some(operands)
    }
}
