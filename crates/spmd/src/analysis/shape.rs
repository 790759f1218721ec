//! Shapes: how the values of consecutive work-items are related, and which branches diverge.
//!
//! In comes the function of one work-item (see [`crate::split::continuation_fn`]) with the shapes of its parameters;
//! out goes, for each value, whether it is uniform (the same in all lanes), strided (a base plus a constant times the
//! lane) or varying (anything), with the first cause; and which branches are divergent.
//!
//! *Optimistic dataflow.* Every value begins unknown and only falls, in sweeps over the blocks in reverse postorder
//! until nothing changes.
//!
//! *Strides* are modulo the width of their type. Extending a strided value needs a proof that no lane wraps, from a
//! no-wrap flag or from a bound. Without one, the stride is *checked*: it holds only where a run-time check says so
//! ([`Shape::Strided`] with `checked`). `clamp` and `%`, which stencils apply to indices, also give checked strides:
//! lanes lose theirs only at the border.
//!
//! *Joins.* Where paths from a divergent branch meet, lanes bring different values. Labels propagate from the
//! successors of the branch, and a block that two labels reach is a join (Rosemann, Moll and Hack, "An Abstract
//! Interpretation for SPMD Divergence on Reducible Control Flow Graphs", POPL 2021). Divergent loops are in canonical
//! form here ([`crate::transform::canonicalize`]), so that a value used outside of its loop passes a parameter of the
//! loop's one exit block; if the loop diverges, these parameters vary (temporal divergence).

use crate::analysis::bounds::{Bounds, Stride};
use crate::analysis::divergence;
use crate::analysis::loop_form::Unspecified;
use crate::analysis::private_layout::{self, Arrays};
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{BinOp, Block, CastOp, Entity, Flags, Function, Inst, Op, Scalar, Term, Value};

/// The shape of a value: how its lanes are related.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Not reached yet: the top of the lattice.
    Unknown,
    /// The same in all lanes.
    Uniform,
    /// Lane `l` holds the value of lane 0 plus `l · by`, modulo the width.
    Strided {
        /// The stride from lane to lane; of addresses, in bytes.
        by: i64,
        /// Whether the stride holds only where a run-time check finds that no lane wraps or is clamped.
        checked: bool,
    },
    /// Anything.
    Varying,
}

impl Shape {
    /// A stride that always holds; a stride of 0 is uniform.
    pub fn strided(by: i64) -> Shape {
        if by == 0 { Shape::Uniform } else { Shape::Strided { by, checked: false } }
    }

    fn join(self, other: Shape) -> Shape {
        match (self, other) {
            (Shape::Unknown, x) | (x, Shape::Unknown) => x,
            // A uniform value joined with a strided one is varying: no one stride describes both.
            (a, b) if a == b => a,
            (Shape::Strided { by, checked }, Shape::Strided { by: other, checked: other_checked }) if by == other => {
                Shape::Strided { by, checked: checked | other_checked }
            }
            _ => Shape::Varying,
        }
    }
}

/// Why a value varies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// The instruction is a source of divergence: a load, an atomic operation, a call.
    Source(Inst),
    /// Parameter `n` of the function varies.
    Param(u32),
    /// The instruction extends a strided value that may wrap.
    Wrap(Inst),
    /// An operand is strided, and the instruction does not preserve strides.
    Stride(Inst),
    /// The branch at the end of this block is divergent, and the value depends on which edge was taken.
    Branch(Block),
}

/// The result.
pub struct Shapes {
    shape: Vec<Shape>,
    cause: Vec<Option<Cause>>,
    divergent: Vec<bool>,
    /// The blocks in which paths from a divergent branch join.
    pub joins: Vec<bool>,
    /// The layout of private arrays.
    pub arrays: Arrays,
}

impl Shapes {
    /// The shape of a value.
    pub fn of(&self, v: Value) -> Shape {
        match self.shape[v.index()] {
            // Never reached.
            Shape::Unknown => Shape::Uniform,
            s => s,
        }
    }

    /// Whether all lanes hold the same.
    pub fn is_uniform(&self, v: Value) -> bool {
        self.of(v) == Shape::Uniform
    }

    /// The first cause of the value's divergence.
    pub fn cause(&self, v: Value) -> Option<Cause> {
        self.cause[v.index()]
    }

    /// Whether the block ends in a divergent branch.
    pub fn diverges(&self, b: Block) -> bool {
        self.divergent[b.index()]
    }
}

/// Analyses a function whose parameters have these shapes.
pub fn analyse(func: &Function, params: &[Shape], bounds: &Bounds, unspecified: &Unspecified) -> Shapes {
    let cfg = Cfg::new(func);
    let dom = DomTree::new(func, &cfg);
    let post = DomTree::post(func, &cfg);
    let loops = Loops::new(func, &cfg, &dom);
    let mut a = Analysis {
        func,
        cfg: &cfg,
        dom: &dom,
        post: &post,
        loops: &loops,
        bounds,
        unspecified,
        result: Shapes {
            shape: vec![Shape::Unknown; func.values.len()],
            cause: vec![None; func.values.len()],
            divergent: vec![false; func.blocks.len()],
            joins: vec![false; func.blocks.len()],
            // Before shapes, as the stride of an array depends on its layout, and the layout on uses alone.
            arrays: Arrays::find(func, unspecified),
        },
        changed: false,
    };
    for (i, (&p, &s)) in func.param_values().iter().zip(params).enumerate() {
        a.set(p, s, Some(Cause::Param(i as u32)));
    }
    loop {
        // Each sweep only lowers shapes, in a lattice of a few steps, so that this ends.
        a.changed = false;
        a.sweep();
        if !a.changed {
            return a.result;
        }
    }
}

struct Analysis<'a> {
    func: &'a Function,
    cfg: &'a Cfg,
    dom: &'a DomTree,
    post: &'a DomTree,
    loops: &'a Loops,
    bounds: &'a Bounds,
    unspecified: &'a Unspecified,
    result: Shapes,
    changed: bool,
}

impl Analysis<'_> {
    fn shape(&self, v: Value) -> Shape {
        self.result.shape[v.index()]
    }

    fn set(&mut self, v: Value, shape: Shape, cause: Option<Cause>) {
        let old = self.shape(v);
        // Never back up, even if an operand's shape now says so: else the sweeps might not end.
        let new = old.join(shape);
        if new != old {
            self.result.shape[v.index()] = new;
            self.changed = true;
            // The first cause is kept: those that come later are its consequences.
            if new == Shape::Varying && self.result.cause[v.index()].is_none() {
                self.result.cause[v.index()] = cause;
            }
        }
    }

    fn sweep(&mut self) {
        let (func, cfg) = (self.func, self.cfg);
        for &b in cfg.rpo() {
            for &i in &func.blocks[b].insts {
                if let Some(r) = func.insts[i].result {
                    let (shape, cause) = self.transfer(i);
                    self.set(r, shape, cause);
                }
            }
            let term = &func.blocks[b].term;
            // Also a strided condition: lane 0's value does not decide for the others.
            let varies = |v: &Value| matches!(self.shape(*v), Shape::Strided { .. } | Shape::Varying);
            let is_branch = matches!(term, Term::Branch { .. } | Term::Switch { .. });
            if is_branch && term.operand().as_ref().is_some_and(varies) && !self.result.divergent[b.index()] {
                self.result.divergent[b.index()] = true;
                self.changed = true;
                self.diverge(b);
            }
            for e in term.edges() {
                for (k, &p) in func.blocks[e.block].params.iter().enumerate() {
                    let from = e.args[k];
                    if self.unspecified.contains(&from) {
                        continue;
                    }
                    self.set(p, self.shape(from), self.result.cause[from.index()]);
                }
            }
        }
    }

    /// The branch at the end of `b` is divergent: marks the joins of its paths.
    fn diverge(&mut self, b: Block) {
        let (func, cfg) = (self.func, self.cfg);
        let cause = Some(Cause::Branch(b));
        let meet = self.post.idom(b);
        let index = |x: Block| cfg.rpo_index(x).unwrap_or(0);
        // The label of a block: the last join on the paths from the branch to it, or the first block of the only path.
        let mut label: rustc_hash::FxHashMap<Block, Block> = Default::default();
        let mut heap = std::collections::BinaryHeap::new();
        let mut joins = Vec::new();
        // The branch itself has no label, also if its own loop leads back to it; each edge of it starts one.
        let mut first = true;
        let mut at = b;
        loop {
            let own_label = if first { None } else { label.get(&at).copied() };
            first = false;
            // Past the post-dominator, all lanes are together again: labels end there.
            if own_label.is_none() || (Some(at) != meet && at != b) {
                for e in func.blocks[at].term.edges() {
                    let t = e.block;
                    // Labels do not follow back edges, since lanes that stay in a loop run it in lockstep. But the
                    // header may itself be the join: each of two latches brings arguments of its own. (Canonical form
                    // leaves no such loop today: the analysis that it uses is coarser.)
                    let back = self.dom.dominates(t, at);
                    if back && Some(t) != meet {
                        continue;
                    }
                    // Each edge of the branch starts a path, also two edges to one block.
                    let l = own_label.unwrap_or(t);
                    match label.get(&t) {
                        None => {
                            label.insert(t, l);
                            heap.push(std::cmp::Reverse((index(t), t)));
                        }
                        // Two paths meet here. From here on they are one path, with the join's label.
                        Some(&old) if old != l || (own_label.is_none()) => {
                            label.insert(t, t);
                            joins.push(t);
                        }
                        Some(_) => {}
                    }
                }
            }
            match heap.pop() {
                // In reverse postorder a block is visited after all its forward predecessors, so that its label is
                // final.
                Some(std::cmp::Reverse((_, next))) => at = next,
                None => break,
            }
        }
        // A join may have other predecessors too: if it is a loop header, those from before the loop.
        let on_path = |p: Block| p == b || Some(p) != meet && label.contains_key(&p);
        for j in joins {
            self.result.joins[j.index()] = true;
            for (k, &p) in func.blocks[j].params.iter().enumerate() {
                if !self.same_on_all_paths(j, k, &on_path) {
                    self.set(p, Shape::Varying, cause);
                }
            }
        }
        // Lanes leave a loop in different iterations.
        let mut inside = self.loops.innermost(b);
        while let Some(l) = inside {
            let data = &self.loops.loops[l];
            for &(_, out) in data.exits.iter().filter(|x| x.0 == b) {
                for &p in &func.blocks[out].params {
                    self.set(p, Shape::Varying, cause);
                }
            }
            inside = data.parent;
        }
    }

    /// Whether parameter `k` of a block gets the same argument on all edges from blocks on a path.
    fn same_on_all_paths(&self, b: Block, k: usize, on_path: &dyn Fn(Block) -> bool) -> bool {
        let mut only = None;
        let edges = self.cfg.incoming(self.func, b).filter(|(p, _)| on_path(*p));
        let mut args = edges.map(|(_, e)| e.args[k]).filter(|a| !self.unspecified.contains(a));
        // The same value on all paths: which of them a lane took does not matter.
        args.all(|a| *only.get_or_insert(a) == a)
    }

    fn transfer(&self, inst: Inst) -> (Shape, Option<Cause>) {
        let func = self.func;
        let data = &func.insts[inst];
        let source = (Shape::Varying, Some(Cause::Source(inst)));
        let shape = |k: usize| self.shape(data.args[k]);
        match &data.op {
            Op::Const(_) | Op::Query { .. } | Op::GlobalAddr(_) => return (Shape::Uniform, None),
            // Each lane has its own copy, at the stride of the layout.
            Op::Alloca { .. } => {
                return (Shape::strided(private_layout::stride(func, &self.result.arrays, inst)), None);
            }
            // One lane's value for all, if all ask for the same lane. The operand that is exchanged may vary.
            Op::SubgroupShuffle => {
                return match shape(1) {
                    same @ (Shape::Unknown | Shape::Uniform) => (same, None),
                    _ => source,
                };
            }
            op if op.is_subgroup() => {
                return if divergence::is_per_item_result(op) { source } else { (Shape::Uniform, None) };
            }
            Op::AtomicRmw { .. }
            | Op::AtomicCmpXchg { .. }
            | Op::AtomicLoad { .. }
            | Op::Call(_)
            | Op::DeviceCall(_)
            | Op::Clock => {
                return source;
            }
            Op::Load { .. } => {
                return match shape(0) {
                    Shape::Unknown => (Shape::Unknown, None),
                    // A volatile load is executed once for each work-item.
                    Shape::Uniform if !data.flags.contains(Flags::VOLATILE) => (Shape::Uniform, None),
                    _ => source,
                };
            }
            _ => {}
        }
        // Optimistic: an operand from a back edge is taken to fit, and the next sweep corrects it.
        if data.args.iter().any(|&a| self.shape(a) == Shape::Unknown) {
            return (Shape::Unknown, None);
        }
        // A pure operation on the same operands; loads, calls and atomic operations are handled above.
        if data.args.iter().all(|&a| self.shape(a) == Shape::Uniform) {
            return (Shape::Uniform, None);
        }
        // Two addresses in each lane's copy of one array, at the same offsets in all lanes.
        if matches!(data.op, Op::Icmp(_)) && data.args.iter().all(|&a| self.is_at_uniform_offset(a)) {
            return (Shape::Uniform, None);
        }
        if let Some(shape) = self.strided_result(inst) {
            return (shape, None);
        }
        let varying = data.args.iter().find(|&&a| self.shape(a) == Shape::Varying);
        match varying {
            Some(&v) => (Shape::Varying, self.result.cause[v.index()]),
            None if matches!(data.op, Op::Cast(CastOp::Sext | CastOp::Zext)) => {
                (Shape::Varying, Some(Cause::Wrap(inst)))
            }
            None => (Shape::Varying, Some(Cause::Stride(inst))),
        }
    }

    /// Whether an address points into a private array laid out by unit at the same offset in all lanes. (Addresses in
    /// such arrays are compared with others in the same array only.)
    fn is_at_uniform_offset(&self, v: Value) -> bool {
        let unit = self.result.arrays.unit(v).map(i64::from);
        matches!(self.shape(v), Shape::Strided { by, checked: false } if Some(by) == unit)
    }

    /// The stride of a result whose operands are uniform or strided, if it has one.
    fn strided_result(&self, inst: Inst) -> Option<Shape> {
        let func = self.func;
        let data = &func.insts[inst];
        let result = func.ty(data.result?);
        // Floats have no strides: `x + l * by` is rounded in each lane. Short vectors would need a stride for each
        // component.
        if result.is_vector() || !(result.is_int() || result.is_ptr()) {
            return None;
        }
        // The stride of an operand, and whether it is checked.
        let of = |k: usize| match self.shape(data.args[k]) {
            Shape::Uniform => Some((0, false)),
            Shape::Strided { by, checked } => Some((by, checked)),
            _ => None,
        };
        let constant = |k: usize| signed_const(func, data.args[k]);
        // A checked stride of 0 stays strided: the value is uniform only where the check holds.
        let strided_by = |by: i64, checked: bool| match (sign_extend(by as u64, result.scalar), checked) {
            (0, false) => Some(Shape::Uniform),
            (by, checked) => Some(Shape::Strided { by, checked }),
        };
        // In an array laid out by unit, consecutive units are a whole vector apart, whose length is not known yet.
        if data.op == Op::PtrAdd
            && data.result.is_some_and(|r| self.result.arrays.unit(r).is_some())
            && self.shape(data.args[1]) != Shape::Uniform
        {
            return None;
        }
        match &data.op {
            Op::Binary(BinOp::Add) | Op::PtrAdd => {
                let ((a, x), (b, y)) = (of(0)?, of(1)?);
                strided_by(a.wrapping_add(b), x | y)
            }
            Op::Binary(BinOp::Sub) => {
                let ((a, x), (b, y)) = (of(0)?, of(1)?);
                strided_by(a.wrapping_sub(b), x | y)
            }
            // Operands that are uniform where checks hold give such a result.
            Op::Binary(_) if of(0)?.0 == 0 && of(1)?.0 == 0 && result.scalar != Scalar::I1 => strided_by(0, true),
            Op::Binary(BinOp::Mul) => {
                // A uniform factor that is not constant gives a stride that is known at run time only, which no shape
                // expresses.
                let (k, (by, checked)) = match (constant(0), constant(1)) {
                    (_, Some(c)) => (c, of(0)?),
                    (Some(c), _) => (c, of(1)?),
                    _ => return None,
                };
                strided_by(by.wrapping_mul(k), checked)
            }
            // A shift takes its amount modulo the width.
            Op::Binary(BinOp::Shl) => {
                let (by, checked) = of(0)?;
                let amount = constant(1)? as u64 % u64::from(result.scalar.bits());
                strided_by(by.wrapping_shl(amount as u32), checked)
            }
            Op::Binary(BinOp::Or) => {
                // An `or` with bits that are zero in the other operand is an addition.
                let (c, (by, checked)) = (constant(1)?, of(0)?);
                // Low bits that are zero in lane 0 and in the stride are zero in all lanes: `(4 * i) | 3`.
                let low = self.bounds.low_zeros(data.args[0]).min(by.trailing_zeros());
                if (c as u64) < 1u64 << low.min(63) { strided_by(by, checked) } else { None }
            }
            // Strides are modulo the width, so that a truncation keeps them.
            Op::Cast(CastOp::Trunc) if result.scalar != Scalar::I1 => {
                let (by, checked) = of(0)?;
                strided_by(by, checked)
            }
            Op::Cast(CastOp::Space | CastOp::PtrToInt | CastOp::IntToPtr) => {
                let (by, checked) = of(0)?;
                strided_by(by, checked)
            }
            Op::Cast(op @ (CastOp::Sext | CastOp::Zext)) if func.ty(data.args[0]).scalar != Scalar::I1 => {
                let (by, checked) = of(0)?;
                let signed = *op == CastOp::Sext;
                let stride = |v: Value| match self.shape(v) {
                    Shape::Unknown => Stride::Unknown,
                    Shape::Uniform => Stride::By(0),
                    Shape::Strided { by, .. } => Stride::By(by),
                    Shape::Varying => Stride::None,
                };
                // An unknown operand counts as safe: the next sweep asks again.
                let safe = self.bounds.lanes_do_not_wrap(func, data.args[0], signed, &stride);
                if safe {
                    strided_by(by, checked)
                } else if is_small_stride(by) {
                    strided_by(by, true)
                } else {
                    None
                }
            }
            // A quotient is the same for all lanes if none crosses a multiple of the divisor, a row's length for
            // instance: a run-time check.
            Op::Binary(BinOp::Udiv | BinOp::Sdiv) => match (of(0)?.0, of(1)?.0) {
                (by, 0) if is_small_stride(by) && constant(1).is_none_or(|d| d >= MIN_DIVISOR) => strided_by(0, true),
                _ => None,
            },
            Op::Binary(BinOp::Lshr | BinOp::Ashr) => {
                let (by, bits) = (of(0)?.0, constant(1)? as u64);
                // As for a quotient: a shift by few bits is a division by a small number.
                let is_wide_enough =
                    is_small_stride(by) && bits < u64::from(result.scalar.bits()) && 1 << bits.min(62) >= MIN_DIVISOR;
                if is_wide_enough { strided_by(0, true) } else { None }
            }
            // The stride is preserved where no lane is clamped, and for a remainder where all lanes have the same
            // quotient.
            Op::Binary(BinOp::Smin | BinOp::Smax | BinOp::Umin | BinOp::Umax) => match (of(0)?.0, of(1)?.0) {
                (by, 0) | (0, by) if is_small_stride(by) => strided_by(by, true),
                _ => None,
            },
            Op::Binary(BinOp::Urem | BinOp::Srem) => match (of(0)?.0, of(1)?.0) {
                (by, 0) if is_small_stride(by) => strided_by(by, true),
                _ => None,
            },
            // A mask of low bits is a remainder by a power of two. Other masks, `x & ~15`, have no stride.
            Op::Binary(BinOp::And) => {
                let (by, low) = (of(0)?.0, constant(1)? as u64);
                if is_small_stride(by) && (low & result.scalar.mask()).wrapping_add(1).is_power_of_two() {
                    strided_by(by, true)
                } else {
                    None
                }
            }
            Op::Select if self.shape(data.args[0]) == Shape::Uniform => {
                let ((a, x), (b, y)) = (of(1)?, of(2)?);
                // All lanes take the same side, and both have the same stride.
                if a == b { strided_by(a, x | y) } else { None }
            }
            _ => None,
        }
    }
}

/// With smaller divisors, most vectors would have several quotients.
const MIN_DIVISOR: i64 = 16;

/// A run-time check is profitable only for strides of adjacent elements, in bytes or elements.
fn is_small_stride(by: i64) -> bool {
    by.unsigned_abs() <= 64
}

/// The value of a constant, sign-extended.
pub fn signed_const(func: &Function, v: Value) -> Option<i64> {
    func.const_bits(v).map(|bits| sign_extend(bits, func.ty(v).scalar))
}

/// Sign-extends the bits of a value of this type.
pub fn sign_extend(bits: u64, scalar: Scalar) -> i64 {
    let shift = 64 - scalar.bits();
    ((bits << shift) as i64) >> shift
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shapes of the values of the first function, whose first parameter has stride 1.
    fn shapes_of(text: &str) -> Shapes {
        let module = cloom_ir::parse(text).unwrap();
        let func = module.funcs.values().next().unwrap();
        let params = vec![Shape::strided(1), Shape::Uniform, Shape::Uniform];
        let bounds = Bounds::new(func, &[u64::MAX; 3]);
        analyse(func, &params, &bounds, &Unspecified::default())
    }

    #[test]
    fn two_latches_of_one_branch_meet_at_the_header() {
        let shapes = shapes_of(
            "func internal @f(i32, i32, i32) -> i32 {
bb0(v0: i32, v1: i32, v2: i32):
    v3: i1 = trunc v0
    v4: i32 = const 0x0
    v5: i32 = const 0x1
    jump bb1(v4, v4)
bb1(v6: i32, v7: i32):
    v8: i1 = icmp slt v6, v1
    br v8, bb2, bb4
bb2:
    v9: i32 = add v6, v5
    br v3, bb1(v9, v7), bb3
bb3:
    v10: i32 = add v7, v2
    jump bb1(v9, v10)
bb4:
    ret v7
}",
        );
        // Both latches bring the same counter, but not the same sum.
        assert_eq!(shapes.of(Value::new(7)), Shape::Varying);
        assert!(shapes.diverges(Block::new(2)) && !shapes.diverges(Block::new(1)));
        assert!(shapes.joins[1]);
    }
}
