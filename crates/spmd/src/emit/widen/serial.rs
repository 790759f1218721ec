//! What is done lane by lane, in ascending order: calls, printing, copies, atomic operations that nothing better is
//! known for.

use super::{Lanes, VecValue, Widener};
use crate::error::Stop;
use cloom_ir::{Args, BinOp, Inst, IntCc, Op, Type, UnOp, Value};
use smallvec::SmallVec;

/// Up to so many lanes, and if none is off, each has code of its own.
const UNROLLED: u16 = 32;

impl Widener<'_> {
    /// An instruction executed by each lane that is on.
    pub(super) fn serial(&mut self, inst: Inst) -> Result<(), Stop> {
        let item = self.item;
        let data = &item.func.insts[inst];
        let operands: Vec<VecValue> = data.args.iter().map(|&a| self.exact(a)).collect::<Result<_, _>>()?;
        let ty = data.result.map(|r| item.func.ty(r));
        let lanes = self.each_lane(ty, self.mask.is_none() && cheap(&data.op), |w, lane| {
            let args: Args = operands.iter().map(|o| w.one(o, lane)).collect();
            Ok(w.b().push(data.op.clone(), args, ty, data.flags))
        })?;
        if let Some(r) = data.result {
            self.set(r, VecValue::Varying(lanes));
        }
        Ok(())
    }

    /// One lane of a value.
    pub(super) fn one(&mut self, wide: &VecValue, lane: Value) -> Value {
        match wide {
            VecValue::Uniform(v) => *v,
            VecValue::Strided { base, by, .. } => {
                let ty = self.func.ty(*base);
                let number = if ty.is_ptr() { Type::I64 } else { ty };
                let lane = self.resize(lane, number);
                let by = self.b().iconst(number, *by as u64);
                let step = self.b().binary(BinOp::Mul, lane, by);
                if ty.is_ptr() { self.b().ptr_add(*base, step) } else { self.b().binary(BinOp::Add, *base, step) }
            }
            VecValue::Varying(parts) => {
                let parts: Lanes = parts.iter().map(|&p| self.b().extract(p, lane)).collect();
                if parts.len() == 1 { parts[0] } else { self.b().build(&parts) }
            }
        }
    }

    fn resize(&mut self, lane: Value, to: Type) -> Value {
        if self.func.ty(lane) == to { lane } else { self.b().cast(cloom_ir::CastOp::Trunc, lane, to) }
    }

    /// Runs code for each lane that is on; gives the results of all.
    pub(super) fn each_lane(
        &mut self,
        result: Option<Type>,
        unrolled: bool,
        mut code: impl FnMut(&mut Self, Value) -> Result<Option<Value>, Stop>,
    ) -> Result<Lanes, Stop> {
        let parts: Vec<Type> = match result {
            Some(ty) => (0..ty.lanes).map(|_| self.wide_type(ty)).collect(),
            None => Vec::new(),
        };
        let mut lanes: Lanes = parts.iter().map(|&ty| self.b().iconst(ty, 0)).collect();
        if unrolled && self.lanes <= UNROLLED {
            for l in 0..self.lanes {
                let lane = self.b().iconst(Type::I64, u64::from(l));
                let value = code(self, lane)?;
                self.put(&mut lanes, lane, value);
            }
            return Ok(lanes);
        }
        // A loop over the bits of the mask.
        let mask = self.mask_value(self.mask);
        let bits = self.b().ballot(mask);
        let zero = self.b().iconst(Type::I64, 0);
        let any = self.b().icmp(IntCc::Ne, bits, zero);
        let (from, head, after) = (self.cur, self.new_block(), self.new_block());
        let left = self.func.add_block_param(head, Type::I64);
        let old: Lanes = parts.iter().map(|&ty| self.func.add_block_param(head, ty)).collect();
        let done: Lanes = parts.iter().map(|&ty| self.func.add_block_param(after, ty)).collect();
        let start: SmallVec<[Value; 4]> = std::iter::once(bits).chain(lanes.iter().copied()).collect();
        let term = cloom_ir::Term::Branch {
            cond: any,
            then: cloom_ir::Edge::new(head, start),
            els: cloom_ir::Edge::new(after, lanes.iter().copied()),
        };
        self.b().term(term);
        // The variables do not change in the loop: reads pass through it.
        self.cur = head;
        let lane = self.b().unary(UnOp::Ctz, left);
        let value = code(self, lane)?;
        let mut new = old;
        self.put(&mut new, lane, value);
        let one = self.b().iconst(Type::I64, 1);
        let less = self.b().binary(BinOp::Sub, left, one);
        let rest = self.b().binary(BinOp::And, left, less);
        let more = self.b().icmp(IntCc::Ne, rest, zero);
        let again: SmallVec<[Value; 4]> = std::iter::once(rest).chain(new.iter().copied()).collect();
        let term = cloom_ir::Term::Branch {
            cond: more,
            then: cloom_ir::Edge::new(head, again),
            els: cloom_ir::Edge::new(after, new.iter().copied()),
        };
        self.b().term(term);
        self.ssa.seal(self.func, head, vec![from]);
        self.ssa.seal(self.func, after, vec![from]);
        self.cur = after;
        Ok(done)
    }

    fn put(&mut self, lanes: &mut Lanes, lane: Value, value: Option<Value>) {
        let Some(value) = value else { return };
        for c in 0..lanes.len() {
            let part = if lanes.len() == 1 { value } else { self.b().extract_lane(value, c as u16) };
            let old = lanes[c];
            lanes[c] = self.b().insert(old, lane, part);
        }
    }
}

/// Whether code for each lane apart is worth its size.
fn cheap(op: &Op) -> bool {
    !matches!(op, Op::Call(_) | Op::Printf(_))
}
