//! Scalar tests of masks: whether a comparison holds for all lanes, found by comparing scalars.
//!
//! Conditions such as `get_global_id(0) < n` compare a strided value with a uniform one: their masks have the form
//! "lane l is on iff l < k". If such a comparison holds for the first and the last lane, and no lane between them
//! wraps, it holds for all: one or two scalar comparisons, and no mask is computed. They choose between all-on and
//! mixed versions ([`super::mask_versions`]). A loop whose exit condition is such a comparison runs without masks as
//! long as all lanes stay:
//!
//! ```c
//! for (uint i = get_global_id(0); i < n; i += get_global_size(0))
//!     sum += in[i];
//! ```

use super::{OpenLoop, VecValue, Widener};
use crate::analysis::input::VectorInput;
use crate::analysis::loop_form::Form;
use crate::analysis::shape::Shape;
use crate::error::{Stop, bug};
use crate::passes;
use cloom_ir::{BinOp, Block, Flags, Inst, IntCc, Op, Scalar, Value};

/// A comparison of a strided value with a uniform one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StridedCompare {
    /// The predicate.
    pub cc: IntCc,
    /// Lane 0 of the strided value.
    pub base: Value,
    /// The stride from lane to lane.
    pub by: i64,
    /// The uniform value.
    pub bound: Value,
}

impl StridedCompare {
    /// The comparison that holds for exactly the other lanes.
    pub fn negated(self) -> StridedCompare {
        StridedCompare { cc: self.cc.negated(), ..self }
    }
}

impl VectorInput {
    /// Whether an instruction is an ordered comparison of an integer at an unchecked stride with a uniform one.
    pub(super) fn is_strided_compare(&self, inst: Inst) -> bool {
        let data = &self.func.insts[inst];
        let is_strided = |&a: &Value| matches!(self.shapes.of(a), Shape::Strided { checked: false, .. });
        let ordered = matches!(data.op, Op::Icmp(cc) if !matches!(cc, IntCc::Eq | IntCc::Ne));
        // Of an equality, the first and the last lane tell nothing of those between them.
        ordered
            && data.args.iter().any(is_strided)
            && data.args.iter().any(|&a| self.shapes.is_uniform(a))
            && self.func.ty(data.args[0]).is_int()
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
        // With a checked stride (`cond`), lanes may have other values than base and stride say.
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

    /// Whether all lanes of a mask are on. May be false although they are, if a lane wraps.
    pub(super) fn all_on(&mut self, mask: Value) -> Value {
        let part = self.masks.parts_of_entry.get(&mask).copied();
        // Both parts of the conjunction must be on: those of the vector's end and those of the comparison.
        let full = self.masks.entry_full.filter(|_| part.is_some());
        match self.masks.strided_compares.get(&part.unwrap_or(mask)).copied() {
            Some(compare) => {
                self.manager.count(passes::SCALAR_MASK);
                let holds = self.holds_for_all(compare, true);
                self.and(full, holds)
            }
            None => self.b().all(mask),
        }
    }

    /// Whether a comparison holds for all lanes, as a scalar. `wraps` is false if no lane can wrap towards the bound.
    pub(super) fn holds_for_all(&mut self, compare: StridedCompare, wraps: bool) -> Value {
        let StridedCompare { cc, base, by, bound } = compare;
        let signed = matches!(cc, IntCc::Slt | IntCc::Sle | IntCc::Sgt | IntCc::Sge);
        let lower = matches!(cc, IntCc::Sgt | IntCc::Sge | IntCc::Ugt | IntCc::Uge);
        // `base + l * by > bound` for a growing sum, say: if lane 0 is above the bound, so are all, unless a lane
        // wraps.
        if lower == (by > 0) {
            // Lane 0 is nearest to the bound.
            let fits = wraps.then(|| self.no_wrap_from(base, by, signed));
            let test = self.b().icmp(cc, base, bound);
            return self.and(fits, test);
        }
        // The last lane is nearest to the bound: lane 0 must keep a distance of `span` from it. No lane wraps then,
        // if the bound moved by `span` does not wrap.
        let ty = self.func.ty(base);
        let mask = ty.scalar.mask();
        let span = by.unsigned_abs().saturating_mul(u64::from(self.lanes - 1));
        let (lowest, highest) = if signed { ((mask >> 1) + 1, mask >> 1) } else { (0, mask) };
        // The lanes of a narrow type, such as `char`, may span more than its range.
        if span > mask >> 1 {
            return self.b().iconst(ty.with_scalar(Scalar::I1), 0);
        }
        let mut b = self.b();
        let distance = b.iconst(ty, span);
        // `base > bound + span` instead of `base - span > bound`: the bound is known not to wrap by one comparison,
        // which does not depend on the lanes and is the same in each iteration of a loop.
        let (fits, moved_bound) = if lower {
            let most = b.iconst(ty, highest - span);
            let (within, op) = (if signed { IntCc::Sle } else { IntCc::Ule }, BinOp::Add);
            (b.icmp(within, bound, most), b.binary(op, bound, distance))
        } else {
            // `i < n` in 8 lanes of stride 1: lane 0 must be below `n - 7`, where `n` is at least 7.
            let least = b.iconst(ty, (lowest + span) & mask);
            let (within, op) = (if signed { IntCc::Sge } else { IntCc::Uge }, BinOp::Sub);
            (b.icmp(within, bound, least), b.binary(op, bound, distance))
        };
        let test = b.icmp(cc, base, moved_bound);
        b.binary(BinOp::And, fits, test)
    }

    /// Emits, in front of a loop, the iterations in which all lanes stay, if a scalar comparison tells which these
    /// are. Returns whether there are any.
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
        let compare = func.def_inst(cond).filter(|&i| item.is_strided_compare(i));
        // The loop itself executes the header of the last such iteration again.
        let is_repeatable = func.blocks[header].insts.iter().all(|&i| {
            let data = &func.insts[i];
            data.op.is_pure() || matches!(data.op, Op::Load { .. }) && !data.flags.contains(Flags::VOLATILE)
        });
        let Some(compare) = compare.filter(|_| {
            self.manager.is_on(passes::SCALAR_MASK)
                && is_repeatable
                && item.forms[l] == Some(Form::TopTested)
                // Under a mask, some lane may be off from the start, so that in no iteration all are on.
                && self.masks.current.is_none()
        }) else {
            return Ok(false);
        };
        // Last, as it takes weight from the budget.
        if !self.takes_mask_versions(header) {
            return Ok(false);
        }
        self.manager.count(passes::SCALAR_MASK);
        let (before, head) = (self.cur, self.new_block());
        self.b().jump(head, &[]);
        self.cur = head;
        // This code and the loop after it write the same parameters, and both find them cleared.
        let assigned_params = self.joins.assigned.clone();
        // As a loop that lanes do not leave at different times, so that edges to the header are back edges without a
        // mask.
        self.loops.push(OpenLoop {
            header,
            latch,
            exit,
            form: Form::TopTested,
            diverges: false,
            live: None,
            after: head,
            after_preds: Vec::new(),
            continues: None,
        });
        self.block(header)?;
        let compare = self.strided_compare(compare)?.ok_or(bug("a comparison is no longer strided"))?;
        // False in the iteration in which a lane leaves, and perhaps earlier if a lane is near a wrap. The loop behind
        // this one is right for all iterations, whenever it takes over.
        let all = self.holds_for_all(if stays { compare } else { compare.negated() }, true);
        let (from, body, rest) = (self.cur, self.new_block(), self.new_block());
        self.b().branch(all, body, rest);
        self.seal_with_pred(body, from);
        self.cur = body;
        // The edge that leaves is not emitted: no lane takes it here.
        self.masked_edge(&stay_edge, None, None)?;
        self.masks.of_edges.insert(stay_edge.block, (None, None));
        self.children(header)?;
        let end = self.cur;
        self.b().jump(head, &[]);
        self.loops.pop();
        // `rest` sees the variables as they are at the header. The loop begins with that iteration once more.
        self.ssa.seal(self.func, head, vec![before, end]);
        self.seal_with_pred(rest, from);
        self.cur = rest;
        self.masks.current = None;
        self.joins.assigned = assigned_params;
        Ok(true)
    }
}
