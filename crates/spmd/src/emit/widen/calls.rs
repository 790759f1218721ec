//! Calls of pure functions: each call becomes calls of the callee's vector variant ([`crate::emit::variants`]).
//!
//! In comes a pure call with varying operands; out come as many calls as the variant needs for all lanes, without a
//! mask. With 32 lanes and a variant of 16:
//!
//! ```text
//! %y = purecall @pow %a, %b      ─▶      %y0 = purecall @pow.x16 %a[0..16], %b[0..16]
//!                                        %y1 = purecall @pow.x16 %a[16..32], %b[16..32]
//!                                        %y  = shuffle %y0, %y1
//! ```
//!
//! If the vector is shorter than the variant's, or the last piece is, the lanes beyond its end repeat the last one.
//! A callee without a variant is called lane by lane.

use super::{Lanes, Widener};
use crate::decisions::{Form, Reason};
use crate::emit::variants::Variant;
use crate::error::{Stop, bug};
use cloom_ir::{Args, FuncRef, Inst, Op, Type, Value};

impl Widener<'_> {
    /// Emits a pure call for all lanes.
    pub(super) fn pure_call(&mut self, inst: Inst, callee: FuncRef) -> Result<Lanes, Stop> {
        let Some(variant) = self.variants.get(callee) else {
            self.decide_serial(inst);
            return self.serial_lanes(inst);
        };
        self.decide_operation(inst, Form::VectorVariant, Reason::HasVectorVariant);
        let data = &self.item.func.insts[inst];
        let result = data.result.map(|r| self.item.func.ty(r)).ok_or(bug("a pure call has no result"))?;
        let mut operands: Vec<Value> = Vec::new();
        for &a in &data.args {
            let lanes = self.lane(a)?;
            // A loop runs until its last lane is done: garbage in a lane that is off must not make it the last.
            operands.push(if variant.loops { self.zero_where_off(lanes) } else { lanes });
        }
        let ty = Type::vector(result.scalar, result.lanes * variant.lanes);
        let mut calls: Lanes = Lanes::new();
        // As many calls as the lanes need; the last piece may be shorter (`piece`).
        for first in (0..self.lanes).step_by(usize::from(variant.lanes)) {
            let args: Args = operands.iter().map(|&v| self.piece(v, first, variant)).collect();
            let called = self.b().push(Op::PureCall(variant.func), args, Some(ty), data.flags);
            calls.push(called.ok_or(bug("an instruction has no result"))?);
        }
        Ok((0..result.lanes).map(|component| self.joined(&calls, component, result.lanes, variant)).collect())
    }

    /// One component of the results of the calls for all lanes.
    fn joined(&mut self, calls: &[Value], component: u16, components: u16, variant: Variant) -> Value {
        // A variant returns the components of a pair one after the other, in one vector.
        let first = component * variant.lanes;
        let mut pieces = Lanes::from_slice(calls);
        if components > 1 {
            let lanes: Vec<u16> = (first..first + variant.lanes).collect();
            pieces.iter_mut().for_each(|v| *v = self.b().shuffle(*v, *v, &lanes));
        }
        let all = self.concat(&pieces);
        if self.func.ty(all).lanes == self.lanes {
            return all;
        }
        let used: Vec<u16> = (0..self.lanes).collect();
        self.b().shuffle(all, all, &used)
    }

    /// The lanes of a vector from `first` on that one call of a variant takes.
    fn piece(&mut self, v: Value, first: u16, variant: Variant) -> Value {
        let have = self.func.ty(v).lanes;
        if have == variant.lanes {
            return v;
        }
        // A copy of a lane that is needed takes no path of its own through the callee.
        let lanes: Vec<u16> = (first..first + variant.lanes).map(|l| l.min(have - 1)).collect();
        self.b().shuffle(v, v, &lanes)
    }

    /// A vector with zeros in lanes that are off.
    fn zero_where_off(&mut self, v: Value) -> Value {
        let Some(mask) = self.masks.current else { return v };
        let ty = self.func.ty(v);
        let zero = self.b().iconst(ty, 0);
        self.b().select(mask, v, zero)
    }
}
