//! Scalar mask tests: what a comparison of scalars tells of all lanes.
//!
//! Conditions such as `get_global_id(0) < n` compare a strided value with a uniform one: masks of the form "lane l is
//! on iff l < k". Where the comparison holds for the first lane and for the last one, and nothing wraps between them,
//! it holds for all: one or two scalar comparisons, and no mask is made. They choose between all-on and mixed versions
//! ([`super::mask_versions`]); and loops whose exit condition is such a comparison have iterations without masks for
//! as long as all lanes stay:
//!
//! ```c
//! for (uint i = get_global_id(0); i < n; i += get_global_size(0))
//!     sum += in[i];
//! ```

use super::{OpenLoop, VecValue, Widener};
use crate::analysis::shape::Shape;
use crate::error::{Stop, bug};
use crate::passes;
use crate::transform::canonicalize::Form;
use cloom_ir::{BinOp, Block, Flags, Inst, IntCc, Op, Scalar, Value};

/// A comparison of a strided number with one for all lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StridedCompare {
    /// How.
    pub cc: IntCc,
    /// Lane 0's number, and the distance from lane to lane.
    pub base: Value,
    /// By lane.
    pub by: i64,
    /// What all lanes are compared with.
    pub bound: Value,
}

impl StridedCompare {
    /// The comparison that holds for a lane exactly if this one does not.
    pub fn negated(self) -> StridedCompare {
        StridedCompare { cc: self.cc.negated(), ..self }
    }
}

impl Widener<'_> {
    /// An instruction as such a comparison, if it is one.
    pub(super) fn strided_compare(&self, inst: Inst) -> Result<Option<StridedCompare>, Stop> {
        let data = &self.item.func.insts[inst];
        let Op::Icmp(cc) = data.op else { return Ok(None) };
        let ty = self.item.func.ty(data.args[0]);
        if ty.is_vector() || !ty.is_int() || ty.scalar == Scalar::I1 || matches!(cc, IntCc::Eq | IntCc::Ne) {
            return Ok(None);
        }
        Ok(match (self.get(data.args[0])?, self.get(data.args[1])?) {
            (VecValue::Strided { base, by, cond: None }, VecValue::Uniform(bound)) => {
                Some(StridedCompare { cc, base, by, bound })
            }
            (VecValue::Uniform(bound), VecValue::Strided { base, by, cond: None }) => {
                Some(StridedCompare { cc: cc.swapped(), base, by, bound })
            }
            _ => None,
        })
    }

    /// Whether all lanes are on in a mask. It may say no where they are, if numbers wrap.
    pub(super) fn all_on(&mut self, mask: Value) -> Value {
        match self.strided_compares.get(&mask).copied() {
            Some(order) => {
                self.manager.count(passes::SCALAR_MASK);
                self.holds_for_all(order, true)
            }
            None => self.b().all(mask),
        }
    }

    /// Whether a comparison holds for all lanes, as a scalar. If the lanes surely do not wrap towards the bound, `wraps` is false.
    pub(super) fn holds_for_all(&mut self, order: StridedCompare, wraps: bool) -> Value {
        let StridedCompare { cc, base, by, bound } = order;
        let signed = matches!(cc, IntCc::Slt | IntCc::Sle | IntCc::Sgt | IntCc::Sge);
        let lower = matches!(cc, IntCc::Sgt | IntCc::Sge | IntCc::Ugt | IntCc::Uge);
        if lower == (by > 0) {
            // Lane 0 comes nearest to the bound.
            let fits = wraps.then(|| self.no_wrap_from(base, by, signed));
            let test = self.b().icmp(cc, base, bound);
            return self.and(fits, test);
        }
        // The last lane does: lane 0 stays so far away from the bound that all others have room. Nothing wraps then, if the place that
        // far from the bound is a number.
        let ty = self.func.ty(base);
        let mask = ty.scalar.mask();
        let span = by.unsigned_abs().saturating_mul(u64::from(self.lanes - 1));
        let (lowest, highest) = if signed { ((mask >> 1) + 1, mask >> 1) } else { (0, mask) };
        if span > mask >> 1 {
            return self.b().iconst(ty.with_scalar(Scalar::I1), 0);
        }
        let mut b = self.b();
        let distance = b.iconst(ty, span);
        let (room, place) = if lower {
            let most = b.iconst(ty, highest - span);
            let (within, op) = (if signed { IntCc::Sle } else { IntCc::Ule }, BinOp::Add);
            (b.icmp(within, bound, most), b.binary(op, bound, distance))
        } else {
            let least = b.iconst(ty, (lowest + span) & mask);
            let (within, op) = (if signed { IntCc::Sge } else { IntCc::Uge }, BinOp::Sub);
            (b.icmp(within, bound, least), b.binary(op, bound, distance))
        };
        let test = b.icmp(cc, base, place);
        b.binary(BinOp::And, room, test)
    }

    /// Writes the rounds of a loop that all lanes stay in before the loop itself, if a comparison of scalars tells them. Says whether there
    /// are any.
    pub(super) fn all_on_iterations(
        &mut self,
        l: usize,
        header: Block,
        latch: Block,
        exit: Block,
    ) -> Result<bool, Stop> {
        let item = self.item;
        let func = &item.func;
        let (cond, stays, stay_edge, _) = self.stay_or_leave(header, exit)?;
        let compare = func.def_inst(cond).filter(|&i| {
            let data = &func.insts[i];
            let is_strided = |&a: &Value| matches!(item.shapes.of(a), Shape::Strided { checked: false, .. });
            let ordered = matches!(data.op, Op::Icmp(cc) if !matches!(cc, IntCc::Eq | IntCc::Ne));
            ordered
                && data.args.iter().any(is_strided)
                && data.args.iter().any(|&a| item.shapes.is_uniform(a))
                && func.ty(data.args[0]).is_int()
        });
        // The loop itself does the last round's header again.
        let again = func.blocks[header].insts.iter().all(|&i| {
            let data = &func.insts[i];
            data.op.is_pure() || matches!(data.op, Op::Load { .. }) && !data.flags.contains(Flags::VOLATILE)
        });
        let Some(compare) = compare.filter(|_| {
            self.manager.is_on(passes::SCALAR_MASK)
                && again
                && item.forms[l] == Some(Form::TopTested)
                && self.mask.is_none()
        }) else {
            return Ok(false);
        };
        if !self.takes_mask_versions(header) {
            return Ok(false);
        }
        self.manager.count(passes::SCALAR_MASK);
        let (before, head) = (self.cur, self.new_block());
        self.b().jump(head, &[]);
        self.cur = head;
        let written = self.written.clone();
        self.loops.push(OpenLoop {
            header,
            latch,
            exit,
            form: Form::TopTested,
            diverges: false,
            live: None,
            after: head,
            left: Vec::new(),
            continues: None,
        });
        self.block(header)?;
        let order = self.strided_compare(compare)?.ok_or(bug("a comparison has changed"))?;
        let all = self.holds_for_all(if stays { order } else { order.negated() }, true);
        let (from, body, rest) = (self.cur, self.new_block(), self.new_block());
        self.b().branch(all, body, rest);
        self.seal_one(body, from);
        self.cur = body;
        self.masked_edge(&stay_edge, None, None)?;
        self.edge_masks.insert(stay_edge.block, (None, None));
        self.children(header)?;
        let end = self.cur;
        self.b().jump(head, &[]);
        self.loops.pop();
        self.ssa.seal(self.func, head, vec![before, end]);
        self.seal_one(rest, from);
        self.cur = rest;
        self.mask = None;
        self.written = written;
        Ok(true)
    }
}
