//! Conversions of numbers: implicit ones, and `convert_…` with saturation and rounding modes.
//!
//! Conversion from float saturates in the IR, so `_sat` costs nothing there. Rounding modes other than the IR's own are
//! done by converting and correcting the result by one unit if it is on the wrong side.

use super::func::Fn;
use crate::sema::constant::cast_op;
use crate::sema::tree::Rounding;
use crate::sema::types::{Ty, elem_signed, ir_scalar};
use cloom_builtins::Elem;
use cloom_ir::{BinOp, CastOp, FloatCc, IntCc, Scalar, Type, UnOp, Value};

impl Fn<'_, '_> {
    /// Whether each lane is not zero.
    pub fn non_zero(&mut self, v: Value) -> Value {
        let ty = self.ty(v);
        let zero = self.zero(ty);
        match ty.is_float() {
            true => self.b().fcmp(FloatCc::Une, v, zero),
            false => self.b().icmp(IntCc::Ne, v, zero),
        }
    }

    /// A number as another type of number.
    pub fn convert(&mut self, v: Value, from: Ty, to: Ty) -> Value {
        if from == to {
            return v;
        }
        if to == Ty::BOOL {
            let t = self.non_zero(v);
            return self.b().cast(CastOp::Zext, t, Type::I8);
        }
        let (Some((a, _)), Some((b, _))) = (self.lw.types.numeric(from), self.lw.types.numeric(to)) else { return v };
        self.convert_elem(v, a, b)
    }

    pub fn convert_elem(&mut self, v: Value, from: Elem, to: Elem) -> Value {
        let ty = self.ty(v).with_scalar(ir_scalar(to));
        match cast_op(from, to) {
            Some(op) => self.b().cast(op, v, ty),
            None => v,
        }
    }

    /// `convert_to_sat_rounding`.
    pub fn convert_exact(&mut self, v: Value, from: Elem, to: Elem, sat: bool, rounding: Option<Rounding>) -> Value {
        match (from.is_float(), to.is_float()) {
            (true, false) => {
                let op = match rounding {
                    None | Some(Rounding::Rtz) => None,
                    Some(Rounding::Rte) => Some(UnOp::Rint),
                    Some(Rounding::Rtp) => Some(UnOp::Ceil),
                    Some(Rounding::Rtn) => Some(UnOp::Floor),
                };
                // Rounded as a float first; the conversion then truncates a whole number, which is exact.
                let v = op.map_or(v, |op| self.b().unary(op, v));
                self.convert_elem(v, from, to)
            }
            (false, false) if sat => self.saturate(v, from, to),
            (false, false) => self.convert_elem(v, from, to),
            (_, true) => match rounding {
                None | Some(Rounding::Rte) => self.convert_elem(v, from, to),
                Some(mode) if from.is_float() => self.narrow_directed(v, from, to, mode),
                Some(mode) => self.int_to_float_directed(v, from, to, mode),
            },
        }
    }

    /// Between integers, to the nearest value of the target.
    fn saturate(&mut self, v: Value, from: Elem, to: Elem) -> Value {
        let ty = self.ty(v);
        let (fs, ts) = (elem_signed(from), elem_signed(to));
        let (fb, tb) = (from.bits(), to.bits());
        // A limit is applied only where the source has values beyond it: `convert_int_sat` of a `short` is a plain
        // conversion.
        let max = if ts { u64::MAX >> (65 - tb) } else { u64::MAX >> (64 - tb) };
        let from_max = if fs { u64::MAX >> (65 - fb) } else { u64::MAX >> (64 - fb) };
        let mut v = v;
        if max < from_max {
            let limit = self.b().iconst(ty, max);
            v = self.b().binary(if fs { BinOp::Smin } else { BinOp::Umin }, v, limit);
        }
        if fs {
            let low = if ts { (-1i64) << (tb - 1) } else { 0 };
            if !ts || tb < fb {
                let limit = self.int(ty, low);
                v = self.b().binary(BinOp::Smax, v, limit);
            }
        }
        self.convert_elem(v, from, to)
    }

    /// The next float away from zero, as far as the condition's lanes hold; `v` is of `Type` `ty`.
    fn step_magnitude(&mut self, v: Value, up: Value, down: Value) -> Value {
        let ty = self.ty(v);
        let int = ty.with_scalar(Scalar::int(ty.scalar.bits()).unwrap_or(Scalar::I32));
        let bits = self.b().cast(CastOp::Bitcast, v, int);
        // Floats of one sign are ordered like their bits as integers: the next one away from zero is one more. The step
        // from infinity toward zero gives the largest finite number.
        let one = self.int(int, 1);
        let more = self.b().binary(BinOp::Add, bits, one);
        let less = self.b().binary(BinOp::Sub, bits, one);
        let r = self.b().select(up, more, bits);
        let r = self.b().select(down, less, r);
        self.b().cast(CastOp::Bitcast, r, ty)
    }

    /// Float to a narrower float, with a direction: nearest first, then one step if that went the wrong way.
    pub fn narrow_directed(&mut self, v: Value, from: Elem, to: Elem, mode: Rounding) -> Value {
        // A wider float has every value of a narrower one: nothing is rounded.
        if from.bits() <= to.bits() {
            return self.convert_elem(v, from, to);
        }
        let r = self.convert_elem(v, from, to);
        // Exact, so that it tells on which side of the original the rounded value lies.
        let back = self.convert_elem(r, to, from);
        let from_ty = self.ty(v);
        let to_ty = self.ty(r);
        let int = to_ty.with_scalar(Scalar::int(to.bits()).unwrap_or(Scalar::I32));
        let bits = self.b().cast(CastOp::Bitcast, r, int);
        let zero = self.zero(int);
        // By the sign bit, not by a comparison of floats: a tiny negative number was rounded to -0, and the step down
        // from there must give a negative number. A NaN compares false below and is not stepped.
        let negative = self.b().icmp(IntCc::Slt, bits, zero);
        let positive = self.b().icmp(IntCc::Sge, bits, zero);
        let (up, down) = match mode {
            Rounding::Rtp => {
                let low = self.b().fcmp(FloatCc::Olt, back, v);
                let up = self.b().binary(BinOp::And, low, positive);
                let down = self.b().binary(BinOp::And, low, negative);
                (up, down)
            }
            Rounding::Rtn => {
                let high = self.b().fcmp(FloatCc::Ogt, back, v);
                let up = self.b().binary(BinOp::And, high, negative);
                let down = self.b().binary(BinOp::And, high, positive);
                (up, down)
            }
            Rounding::Rtz | Rounding::Rte => {
                // Toward zero: magnitudes are compared, and the step is never away from zero.
                let (a, b) = (self.b().unary(UnOp::Fabs, back), self.b().unary(UnOp::Fabs, v));
                let down = self.b().fcmp(FloatCc::Ogt, a, b);
                let never = self.zero(from_ty.with_scalar(Scalar::I1));
                (never, down)
            }
        };
        self.step_magnitude(r, up, down)
    }

    /// Integer to float, with a direction: the magnitude is truncated to the digits of the float, which is exact, then
    /// moved one step away from zero if the direction requires it.
    fn int_to_float_directed(&mut self, v: Value, from: Elem, to: Elem, mode: Rounding) -> Value {
        let digits = match to {
            Elem::F16 => 11,
            Elem::F32 => 24,
            _ => 53,
        };
        let signed = elem_signed(from);
        // All values fit into the digits of the float: nothing is rounded.
        if from.bits() - u32::from(signed) <= digits && to != Elem::F16 {
            return self.convert_elem(v, from, to);
        }
        let wide = Elem::int(64, signed);
        let v = self.convert_elem(v, from, wide);
        let ty = self.ty(v);
        let zero = self.zero(ty);
        let negative = match signed {
            true => self.b().icmp(IntCc::Slt, v, zero),
            false => self.zero(ty.with_scalar(Scalar::I1)),
        };
        // The least `long` is its own negation, which as an unsigned number is its magnitude.
        let minus = self.b().binary(BinOp::Sub, zero, v);
        let magnitude = self.b().select(negative, minus, v);
        // How many low bits do not fit; 0 of small numbers.
        let zeros = self.b().unary(UnOp::Clz, magnitude);
        // The leading zeros of the magnitude say how many of its low bits are beyond the digits of the float.
        let room = self.int(ty, i64::from(64 - digits));
        let shift = self.b().binary(BinOp::SsubSat, room, zeros);
        let shift = self.b().binary(BinOp::Smax, shift, zero);
        let cut = self.b().binary(BinOp::Lshr, magnitude, shift);
        let cut = self.b().binary(BinOp::Shl, cut, shift);
        let lost = self.b().icmp(IntCc::Ne, cut, magnitude);
        let mut f = self.convert_elem(cut, Elem::U64, to);
        if to == Elem::F16 {
            // Beyond the largest half toward zero is the largest half.
            let fty = self.ty(f);
            let largest = self.float(fty, 65504.0);
            let limit = self.int(ty, 65504);
            let beyond = self.b().icmp(IntCc::Ugt, magnitude, limit);
            f = self.b().select(beyond, largest, f);
        }
        let lost = match to {
            Elem::F16 => {
                let limit = self.int(ty, 65504);
                let beyond = self.b().icmp(IntCc::Ugt, magnitude, limit);
                self.b().binary(BinOp::Or, lost, beyond)
            }
            _ => lost,
        };
        let never = self.zero(ty.with_scalar(Scalar::I1));
        let up = match mode {
            Rounding::Rtp => {
                let positive = self.b().unary(UnOp::Not, negative);
                self.b().binary(BinOp::And, lost, positive)
            }
            Rounding::Rtn => self.b().binary(BinOp::And, lost, negative),
            Rounding::Rtz | Rounding::Rte => never,
        };
        // The cut magnitude is the result toward zero; the other directions are one step further if bits were lost.
        let f = self.step_magnitude(f, up, never);
        let opposite = self.b().unary(UnOp::Fneg, f);
        self.b().select(negative, opposite, f)
    }
}
