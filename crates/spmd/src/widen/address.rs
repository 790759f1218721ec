//! Addresses of lanes that are accessed one after the other, as what they have in common and what differs.
//!
//! In comes an address that varies; out goes, where it is a sum with one varying part, a scalar for the rest of the sum. A lane's
//! address is then that scalar plus a multiple of the lane's number, which is what a processor's addressing computes by itself; and the
//! number of a lane, taken out of its vector once, serves all accesses that differ in the rest: the rows of a picture, the fields of a
//! record.
//!
//! Sums are looked for through widening too, where the source promises that they do not wrap. It speaks for lanes that are on, so this is
//! for code in which all are.

use super::{Wide, Widener};
use crate::Limit;
use cloom_ir::{BinOp, CastOp, Entity, Flags, Op, Scalar, Type, Value};

/// How far back sums are followed.
const DEPTH: u32 = 12;

/// A part of a sum: a value of the work-item, how it is widened, and how often it counts.
struct Term {
    value: Value,
    wide: Option<CastOp>,
    factor: u64,
}

/// An address whose lanes differ by multiples of one number.
pub(super) struct Address {
    /// What all lanes have in common.
    base: Value,
    /// The number that differs.
    index: Value,
    wide: Option<CastOp>,
    factor: u64,
}

impl Widener<'_> {
    /// The parts of an address, if one of them varies and others do not.
    pub(super) fn address(&mut self, p: Value) -> Result<Option<Address>, Limit> {
        let mut terms = Vec::new();
        self.terms(Term { value: p, wide: None, factor: 1 }, DEPTH, &mut terms);
        let varies = |w: &Self, t: &Term| {
            !matches!(w.values[t.value.index()], Some(Wide::Uniform(_) | Wide::Strided { cond: None, .. }))
        };
        let (mut parts, rest): (Vec<Term>, Vec<Term>) = terms.into_iter().partition(|t| varies(self, t));
        let uniform = |t: &Term| matches!(self.values[t.value.index()], Some(Wide::Uniform(_)));
        let pointer = |t: &&Term| self.item.func.ty(t.value).is_ptr();
        if parts.len() != 1 || rest.iter().filter(pointer).count() != 1 || !rest.iter().all(uniform) {
            return Ok(None);
        }
        let (Some(part), Some(at)) = (parts.pop(), rest.iter().position(|t| pointer(&t))) else { return Ok(None) };
        let mut base = self.base(rest[at].value)?;
        for (_, t) in rest.iter().enumerate().filter(|(k, _)| *k != at) {
            let by = self.base(t.value)?;
            let by = self.scaled(by, t.wide, t.factor);
            base = self.b().ptr_add(base, by);
        }
        let index = self.lane(part.value)?;
        Ok(Some(Address { base, index, wide: part.wide, factor: part.factor }))
    }

    /// The address of a lane.
    pub(super) fn address_of(&mut self, a: &Address, lane: u16) -> Value {
        let index = self.b().extract_lane(a.index, lane);
        let by = self.scaled(index, a.wide, a.factor);
        self.b().ptr_add(a.base, by)
    }

    fn scaled(&mut self, x: Value, wide: Option<CastOp>, factor: u64) -> Value {
        let x = match wide {
            Some(op) => self.b().cast(op, x, Type::I64),
            None => x,
        };
        if factor == 1 {
            return x;
        }
        let factor = self.b().iconst(Type::I64, factor);
        self.b().binary(BinOp::Mul, x, factor)
    }

    /// Takes a sum of 64 bits, or one that is widened to as many, apart.
    fn terms(&self, t: Term, depth: u32, list: &mut Vec<Term>) {
        let func = &self.item.func;
        let known = matches!(self.values[t.value.index()], Some(Wide::Uniform(_) | Wide::Strided { cond: None, .. }));
        let inst = func.def_inst(t.value).filter(|_| depth > 0 && !known && !self.is_element(t.value));
        let Some(data) = inst.map(|i| &func.insts[i]) else { return list.push(t) };
        let exact = match t.wide {
            None => true,
            Some(CastOp::Sext) => data.flags.contains(Flags::NSW),
            Some(_) => data.flags.contains(Flags::NUW),
        };
        let part = |value: Value, factor: u64| Term { value, wide: t.wide, factor };
        match data.op {
            Op::PtrAdd => {
                self.terms(part(data.args[0], t.factor), depth - 1, list);
                self.terms(part(data.args[1], t.factor), depth - 1, list);
            }
            Op::Binary(op @ (BinOp::Add | BinOp::Sub)) if exact => {
                let second = if op == BinOp::Sub { t.factor.wrapping_neg() } else { t.factor };
                self.terms(part(data.args[0], t.factor), depth - 1, list);
                self.terms(part(data.args[1], second), depth - 1, list);
            }
            Op::Binary(op @ (BinOp::Mul | BinOp::Shl)) if exact => match func.const_bits(data.args[1]) {
                Some(c) => {
                    let scalar = func.ty(t.value).scalar;
                    let c = match (op, t.wide) {
                        (BinOp::Shl, _) => 1 << (c % u64::from(scalar.bits())),
                        (_, Some(CastOp::Sext)) => crate::shape::sign_extend(c, scalar) as u64,
                        _ => c,
                    };
                    self.terms(part(data.args[0], t.factor.wrapping_mul(c)), depth - 1, list);
                }
                None => list.push(t),
            },
            Op::Cast(op @ (CastOp::Sext | CastOp::Zext))
                if t.wide.is_none() && func.ty(data.args[0]).scalar != Scalar::I1 =>
            {
                self.terms(Term { value: data.args[0], wide: Some(op), factor: t.factor }, depth - 1, list);
            }
            _ => list.push(t),
        }
    }
}
