//! Serialisation: calls, printf, copies, and atomic operations without a better lowering run lane by lane, in
//! ascending order.

use super::{Lanes, VecValue, Widener};
use crate::error::Stop;
use cloom_ir::{Args, BinOp, Inst, IntCc, Op, Type, UnOp, Value};
use smallvec::SmallVec;

/// The most lanes for which code is unrolled, if none is inactive.
const MAX_UNROLLED: u16 = 32;

impl Widener<'_> {
    /// Emits an instruction for each active lane.
    pub(super) fn serial(&mut self, inst: Inst) -> Result<(), Stop> {
        let item = self.item;
        let data = &item.func.insts[inst];
        let operands: Vec<VecValue> = data.args.iter().map(|&a| self.exact(a)).collect::<Result<_, _>>()?;
        let ty = data.result.map(|r| item.func.ty(r));
        let lanes = self.each_lane(ty, self.masks.current.is_none() && is_small(&data.op), |w, lane| {
            let args: Args = operands.iter().map(|o| w.lane_at(o, lane)).collect();
            Ok(w.b().push(data.op.clone(), args, ty, data.flags))
        })?;
        if let Some(r) = data.result {
            self.set(r, VecValue::Varying(lanes));
        }
        Ok(())
    }

    /// One lane of a value, at a run-time index.
    pub(super) fn lane_at(&mut self, wide: &VecValue, lane: Value) -> Value {
        match wide {
            VecValue::Uniform(v) => *v,
            VecValue::Strided { base, by, .. } => {
                let ty = self.func.ty(*base);
                let int_type = if ty.is_ptr() { Type::I64 } else { ty };
                let lane = self.resize(lane, int_type);
                let by = self.b().iconst(int_type, *by as u64);
                let offset = self.b().binary(BinOp::Mul, lane, by);
                if ty.is_ptr() { self.b().ptr_add(*base, offset) } else { self.b().binary(BinOp::Add, *base, offset) }
            }
            VecValue::Varying(components) => {
                let components: Lanes = components.iter().map(|&p| self.b().extract(p, lane)).collect();
                if components.len() == 1 { components[0] } else { self.b().build(&components) }
            }
        }
    }

    fn resize(&mut self, lane: Value, to: Type) -> Value {
        if self.func.ty(lane) == to { lane } else { self.b().cast(cloom_ir::CastOp::Trunc, lane, to) }
    }

    /// Emits code that runs for each active lane. Returns the vectors of results.
    pub(super) fn each_lane(
        &mut self,
        result: Option<Type>,
        unrolled: bool,
        mut code: impl FnMut(&mut Self, Value) -> Result<Option<Value>, Stop>,
    ) -> Result<Lanes, Stop> {
        let component_types: Vec<Type> = match result {
            Some(ty) => (0..ty.lanes).map(|_| self.wide_type(ty)).collect(),
            None => Vec::new(),
        };
        let mut lanes: Lanes = component_types.iter().map(|&ty| self.b().iconst(ty, 0)).collect();
        if unrolled && self.lanes <= MAX_UNROLLED {
            for l in 0..self.lanes {
                let lane = self.b().iconst(Type::I64, u64::from(l));
                let value = code(self, lane)?;
                self.insert_lane(&mut lanes, lane, value);
            }
            return Ok(lanes);
        }
        // A loop over the set bits of the mask.
        let mask = self.mask_value(self.masks.current);
        let bits = self.b().ballot(mask);
        let zero = self.b().iconst(Type::I64, 0);
        let any = self.b().icmp(IntCc::Ne, bits, zero);
        let (from, head, after) = (self.cur, self.new_block(), self.new_block());
        let remaining = self.func.add_block_param(head, Type::I64);
        let carried: Lanes = component_types.iter().map(|&ty| self.func.add_block_param(head, ty)).collect();
        let results: Lanes = component_types.iter().map(|&ty| self.func.add_block_param(after, ty)).collect();
        let start: SmallVec<[Value; 4]> = std::iter::once(bits).chain(lanes.iter().copied()).collect();
        let term = cloom_ir::Term::Branch {
            cond: any,
            then: cloom_ir::Edge::new(head, start),
            els: cloom_ir::Edge::new(after, lanes.iter().copied()),
        };
        self.b().term(term);
        // No variable changes in the loop: reads look through it.
        self.cur = head;
        let lane = self.b().unary(UnOp::Ctz, remaining);
        let value = code(self, lane)?;
        let mut new = carried;
        self.insert_lane(&mut new, lane, value);
        let one = self.b().iconst(Type::I64, 1);
        let minus_one = self.b().binary(BinOp::Sub, remaining, one);
        let other_lanes = self.b().binary(BinOp::And, remaining, minus_one);
        let more = self.b().icmp(IntCc::Ne, other_lanes, zero);
        let next_args: SmallVec<[Value; 4]> = std::iter::once(other_lanes).chain(new.iter().copied()).collect();
        let term = cloom_ir::Term::Branch {
            cond: more,
            then: cloom_ir::Edge::new(head, next_args),
            els: cloom_ir::Edge::new(after, new.iter().copied()),
        };
        self.b().term(term);
        self.ssa.seal(self.func, head, vec![from]);
        self.ssa.seal(self.func, after, vec![from]);
        self.cur = after;
        Ok(results)
    }

    fn insert_lane(&mut self, lanes: &mut Lanes, lane: Value, value: Option<Value>) {
        let Some(value) = value else { return };
        for c in 0..lanes.len() {
            let component = if lanes.len() == 1 { value } else { self.b().extract_lane(value, c as u16) };
            let old = lanes[c];
            lanes[c] = self.b().insert(old, lane, component);
        }
    }
}

/// Whether the code of an operation is small enough to be unrolled.
fn is_small(op: &Op) -> bool {
    !matches!(op, Op::Call(_) | Op::Printf(_))
}
