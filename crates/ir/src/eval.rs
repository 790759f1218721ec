//! The semantics of operations on bits: the one definition of arithmetic.
//!
//! The interpreter and constant folding use it, and tests of compiled code compare with it. A lane is a `u64` whose
//! bits above the type's width are zero. Everything is total, as [`crate::inst`] promises.

use crate::inst::{BinOp, CastOp, FloatCc, IntCc, UnOp};
use crate::types::{Scalar, Space};

/// The value of a lane as a signed integer.
pub fn signed(ty: Scalar, bits: u64) -> i64 {
    let shift = 64 - ty.bits();
    ((bits << shift) as i64) >> shift
}

/// The value of a lane as the exactly equal `f64`.
pub fn to_f64(ty: Scalar, bits: u64) -> f64 {
    match ty {
        Scalar::F16 => half_to_f64(bits as u16),
        Scalar::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

/// The lane nearest to an `f64`, ties to even. NaN keeps its sign and the top of its payload, and is quiet.
pub fn from_f64(ty: Scalar, x: f64) -> u64 {
    match ty {
        Scalar::F16 => u64::from(f64_to_half(x)),
        Scalar::F32 => u64::from((x as f32).to_bits()),
        _ => x.to_bits(),
    }
}

/// Exact.
fn half_to_f64(h: u16) -> f64 {
    let (sign, exponent, fraction) = (u64::from(h >> 15) << 63, i64::from(h >> 10 & 31), u64::from(h & 0x3ff));
    let magnitude = match exponent {
        0 => fraction as f64 * 2f64.powi(-24),
        // Infinity, or a NaN, which becomes quiet by the highest bit of its fraction.
        31 => f64::from_bits(0x7ff0_0000_0000_0000 | fraction << 42 | u64::from(fraction != 0) << 51),
        // Exponents are biased by 15 and by 1023; fractions have 10 and 52 bits.
        e => f64::from_bits(((e - 15 + 1023) as u64) << 52 | fraction << 42),
    };
    f64::from_bits(magnitude.to_bits() | sign)
}

/// Rounds once, to nearest, ties to even.
fn f64_to_half(x: f64) -> u16 {
    let bits = x.to_bits();
    let sign = (bits >> 48 & 0x8000) as u16;
    if x.is_nan() {
        return sign | 0x7e00 | (bits >> 42 & 0x1ff) as u16;
    }
    let magnitude = x.abs();
    // Half a unit above the largest half, 65504. The tie goes to the even neighbour, 65536, which no half holds.
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    // The division by a power of two is exact, so that the number is rounded once, to units in the last place of the
    // half. Below 2⁻¹⁴ the unit stays that of denormals.
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(-14);
    let unit = 2f64.powi(exponent - 10);
    let steps = (magnitude / unit).round_ties_even() as u32;
    // Steps of a normal number include the hidden bit, which carries into the exponent as it should.
    sign | (((exponent + 14) as u32) * 1024 + steps) as u16
}

/// A unary operation on a lane.
pub fn unary(op: UnOp, ty: Scalar, a: u64) -> u64 {
    let width = ty.bits();
    match op {
        UnOp::Not => !a & ty.mask(),
        UnOp::Clz => u64::from(a.leading_zeros() - (64 - width)),
        UnOp::Ctz => u64::from(a.trailing_zeros().min(width)),
        UnOp::Popcount => u64::from(a.count_ones()),
        UnOp::BitReverse => a.reverse_bits() >> (64 - width),
        // On the bits, as arithmetic may change a NaN.
        UnOp::Fneg => a ^ 1 << (width - 1),
        UnOp::Fabs => a & ty.mask() >> 1,
        UnOp::Sqrt => match ty {
            Scalar::F32 => u64::from(f32::from_bits(a as u32).sqrt().to_bits()),
            _ => from_f64(ty, to_f64(ty, a).sqrt()),
        },
        // In doubles the second rounding is far below the promised error.
        UnOp::RsqrtNear => from_f64(ty, 1.0 / to_f64(ty, a).sqrt()),
        UnOp::RecipNear => from_f64(ty, 1.0 / to_f64(ty, a)),
        UnOp::Exp2Near => from_f64(ty, to_f64(ty, a).exp2()),
        UnOp::Log2Near => from_f64(ty, to_f64(ty, a).log2()),
        UnOp::SinNear => from_f64(ty, to_f64(ty, a).sin()),
        UnOp::CosNear => from_f64(ty, to_f64(ty, a).cos()),
        UnOp::Floor => from_f64(ty, to_f64(ty, a).floor()),
        UnOp::Ceil => from_f64(ty, to_f64(ty, a).ceil()),
        UnOp::Trunc => from_f64(ty, to_f64(ty, a).trunc()),
        UnOp::Rint => from_f64(ty, to_f64(ty, a).round_ties_even()),
    }
}

/// A binary operation on lanes.
pub fn binary(op: BinOp, ty: Scalar, a: u64, b: u64) -> u64 {
    if ty.is_float() {
        return float_binary(op, ty, a, b);
    }
    let (width, mask) = (ty.bits(), ty.mask());
    let (sa, sb) = (signed(ty, a), signed(ty, b));
    let amount = (b % u64::from(width)) as u32;
    let (smin, smax) = (-1i64 << (width - 1), (mask >> 1) as i64);
    let r = match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::Udiv => a / b.max(1),
        BinOp::Urem => a % b.max(1),
        // `INT_MIN / -1` of a narrower type does not overflow 64 bits: the mask at the end wraps it.
        BinOp::Sdiv => sa.wrapping_div(if sb == 0 { 1 } else { sb }) as u64,
        BinOp::Srem => sa.wrapping_rem(if sb == 0 { 1 } else { sb }) as u64,
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Shl => a << amount,
        BinOp::Lshr => a >> amount,
        BinOp::Ashr => (sa >> amount) as u64,
        BinOp::Rotl => {
            if amount == 0 {
                a
            } else {
                a << amount | a >> (width - amount)
            }
        }
        BinOp::Umin => a.min(b),
        BinOp::Umax => a.max(b),
        BinOp::Smin => sa.min(sb) as u64,
        BinOp::Smax => sa.max(sb) as u64,
        BinOp::UmulHi => ((u128::from(a) * u128::from(b)) >> width) as u64,
        BinOp::SmulHi => ((i128::from(sa) * i128::from(sb)) >> width) as u64,
        BinOp::UaddSat => a.checked_add(b).map_or(mask, |s| s.min(mask)),
        BinOp::UsubSat => a.saturating_sub(b),
        BinOp::SaddSat => sa.saturating_add(sb).clamp(smin, smax) as u64,
        BinOp::SsubSat => sa.saturating_sub(sb).clamp(smin, smax) as u64,
        // Float operations on integers do not pass the verifier.
        _ => 0,
    };
    r & mask
}

fn float_binary(op: BinOp, ty: Scalar, a: u64, b: u64) -> u64 {
    let sign = 1u64 << (ty.bits() - 1);
    match op {
        BinOp::Copysign => return a & !sign & ty.mask() | b & sign,
        BinOp::Fmin | BinOp::Fmax => {
            let (x, y) = (to_f64(ty, a), to_f64(ty, b));
            // The smaller; of equal ones (zeros) the negative is the smaller.
            let a_first = if x == y { a & sign != 0 } else { x < y };
            return match (x.is_nan(), y.is_nan()) {
                (_, true) => a,
                (true, false) => b,
                _ if a_first == (op == BinOp::Fmin) => a,
                _ => b,
            };
        }
        _ => {}
    }
    if ty == Scalar::F32 {
        let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
        let r = match op {
            BinOp::Fadd => x + y,
            BinOp::Fsub => x - y,
            BinOp::Fmul => x * y,
            BinOp::Fdiv => x / y,
            _ => 0.0,
        };
        return u64::from(r.to_bits());
    }
    // A half's sum, difference and product are exact in f64; its quotient, rounded twice, is right because 53 ≥ 2·11 +
    // 2.
    let (x, y) = (to_f64(ty, a), to_f64(ty, b));
    let r = match op {
        BinOp::Fadd => x + y,
        BinOp::Fsub => x - y,
        BinOp::Fmul => x * y,
        BinOp::Fdiv => x / y,
        _ => 0.0,
    };
    from_f64(ty, r)
}

/// `a * b + c`, rounded once.
pub fn fma(ty: Scalar, a: u64, b: u64, c: u64) -> u64 {
    match ty {
        Scalar::F32 => {
            let f = |x: u64| f32::from_bits(x as u32);
            u64::from(f(a).mul_add(f(b), f(c)).to_bits())
        }
        Scalar::F64 => f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)).to_bits(),
        // The product of halves is exact in f64; the sum may be rounded, and then to odd keeps the last rounding right.
        _ => {
            let (p, z) = (to_f64(ty, a) * to_f64(ty, b), to_f64(ty, c));
            let s = p + z;
            let t = s - p;
            // Knuth's two-sum: `s + error` is exactly `p + z`.
            let error = (p - (s - t)) + (z - t);
            // An inexact sum with an even last bit is replaced by its odd neighbour on the other side of the exact sum.
            // So no sum that was inexact seems to be a tie of halves.
            let odd = s.is_finite() && error != 0.0 && s.to_bits() & 1 == 0;
            let s = match (odd, (error > 0.0) == (s > 0.0)) {
                (false, _) => s,
                (true, true) => f64::from_bits(s.to_bits() + 1),
                (true, false) => f64::from_bits(s.to_bits() - 1),
            };
            from_f64(ty, s)
        }
    }
}

/// An integer or pointer comparison.
pub fn icmp(cc: IntCc, ty: Scalar, a: u64, b: u64) -> bool {
    let (a, b) = (address(ty, a), address(ty, b));
    let (sa, sb) = (signed(ty, a), signed(ty, b));
    match cc {
        IntCc::Eq => a == b,
        IntCc::Ne => a != b,
        IntCc::Slt => sa < sb,
        IntCc::Sle => sa <= sb,
        IntCc::Sgt => sa > sb,
        IntCc::Sge => sa >= sb,
        IntCc::Ult => a < b,
        IntCc::Ule => a <= b,
        IntCc::Ugt => a > b,
        IntCc::Uge => a >= b,
    }
}

/// A float comparison.
pub fn fcmp(cc: FloatCc, ty: Scalar, a: u64, b: u64) -> bool {
    let (x, y) = (to_f64(ty, a), to_f64(ty, b));
    match cc {
        FloatCc::Oeq => x == y,
        FloatCc::Une => x != y,
        FloatCc::One => x != y && !x.is_nan() && !y.is_nan(),
        FloatCc::Olt => x < y,
        FloatCc::Ole => x <= y,
        FloatCc::Ogt => x > y,
        FloatCc::Oge => x >= y,
        FloatCc::Ord => !x.is_nan() && !y.is_nan(),
        FloatCc::Uno => x.is_nan() || y.is_nan(),
    }
}

/// The address that a pointer holds: a generic one without its tag. Other numbers stay as they are.
pub fn address(ty: Scalar, a: u64) -> u64 {
    if ty == Scalar::Ptr(Space::Generic) { a & Space::ADDRESS_MASK } else { a }
}

/// A conversion of a lane; not `Bitcast` between different numbers of lanes, which is a matter of bytes.
pub fn cast(op: CastOp, from: Scalar, to: Scalar, a: u64) -> u64 {
    let r = match op {
        CastOp::Trunc | CastOp::Zext | CastOp::Bitcast | CastOp::IntToPtr => a,
        CastOp::PtrToInt => address(from, a),
        CastOp::Space => match (from, to) {
            (Scalar::Ptr(Space::Generic), Scalar::Ptr(Space::Generic)) => a,
            (Scalar::Ptr(space), Scalar::Ptr(Space::Generic)) if a != 0 => {
                a & Space::ADDRESS_MASK | space.tag() << Space::TAG_SHIFT
            }
            _ => address(from, a),
        },
        CastOp::SpaceOf => a >> Space::TAG_SHIFT,
        CastOp::Sext => signed(from, a) as u64,
        CastOp::FtoS => {
            let (min, max) = to.signed_range();
            // `as` saturates to i64 and takes NaN to 0; narrower types clamp that.
            (to_f64(from, a) as i64).clamp(min, max) as u64
        }
        // `as` takes negative numbers to 0.
        CastOp::FtoU => (to_f64(from, a) as u64).min(to.mask()),
        CastOp::StoF => match to {
            Scalar::F32 => u64::from((signed(from, a) as f32).to_bits()),
            Scalar::F64 => (signed(from, a) as f64).to_bits(),
            _ => u64::from(f64_to_half(int_to_odd_f64(signed(from, a) < 0, signed(from, a).unsigned_abs()))),
        },
        CastOp::UtoF => match to {
            Scalar::F32 => u64::from((a as f32).to_bits()),
            Scalar::F64 => (a as f64).to_bits(),
            _ => u64::from(f64_to_half(int_to_odd_f64(false, a))),
        },
        CastOp::Fext => from_f64(to, to_f64(from, a)),
        CastOp::Ftrunc => from_f64(to, to_f64(from, a)),
    };
    r & to.mask()
}

/// An integer as an `f64` that rounds to a half like the integer itself: numbers beyond a half's range need not be
/// exact.
fn int_to_odd_f64(negative: bool, magnitude: u64) -> f64 {
    let x = magnitude.min(1 << 20) as f64;
    if negative { -x } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_is_total() {
        let min = 0x8000_0000u64;
        assert_eq!(binary(BinOp::Sdiv, Scalar::I32, min, 0xffff_ffff), min);
        assert_eq!(binary(BinOp::Srem, Scalar::I32, min, 0xffff_ffff), 0);
        assert_eq!(binary(BinOp::Sdiv, Scalar::I64, i64::MIN as u64, u64::MAX), i64::MIN as u64);
        for (op, want) in [(BinOp::Udiv, 7), (BinOp::Sdiv, 7), (BinOp::Urem, 0), (BinOp::Srem, 0)] {
            assert_eq!(binary(op, Scalar::I8, 7, 0), want);
        }
        assert_eq!(binary(BinOp::Shl, Scalar::I32, 1, 33), 2);
        assert_eq!(binary(BinOp::Ashr, Scalar::I8, 0x80, 15), 0xff);
        assert_eq!(binary(BinOp::Rotl, Scalar::I8, 0x81, 12), 0x18);
    }

    #[test]
    fn saturation_knows_the_width() {
        assert_eq!(binary(BinOp::UaddSat, Scalar::I8, 200, 100), 255);
        assert_eq!(binary(BinOp::SaddSat, Scalar::I8, 0x80, 0xff), 0x80);
        assert_eq!(binary(BinOp::SsubSat, Scalar::I16, 0x7fff, 0xffff), 0x7fff);
        assert_eq!(binary(BinOp::UaddSat, Scalar::I64, u64::MAX, 1), u64::MAX);
        assert_eq!(binary(BinOp::SmulHi, Scalar::I8, 0x80, 0x80), 0x40);
        assert_eq!(binary(BinOp::UmulHi, Scalar::I64, u64::MAX, u64::MAX), u64::MAX - 1);
    }

    #[test]
    fn conversions_saturate_and_take_nan_to_zero() {
        let f = |x: f32| u64::from(x.to_bits());
        assert_eq!(cast(CastOp::FtoS, Scalar::F32, Scalar::I8, f(1000.0)), 127);
        assert_eq!(cast(CastOp::FtoS, Scalar::F32, Scalar::I8, f(-1000.0)), 0x80);
        assert_eq!(cast(CastOp::FtoU, Scalar::F32, Scalar::I32, f(-1.0)), 0);
        assert_eq!(cast(CastOp::FtoU, Scalar::F32, Scalar::I64, f(1e30)), u64::MAX);
        assert_eq!(cast(CastOp::FtoS, Scalar::F32, Scalar::I32, f(f32::NAN)), 0);
        assert_eq!(cast(CastOp::Sext, Scalar::I1, Scalar::I32, 1), 0xffff_ffff);
    }

    #[test]
    fn the_smaller_zero_is_the_negative_one_and_numbers_beat_nan() {
        let f = |x: f32| u64::from(x.to_bits());
        assert_eq!(binary(BinOp::Fmin, Scalar::F32, f(0.0), f(-0.0)), f(-0.0));
        assert_eq!(binary(BinOp::Fmax, Scalar::F32, f(-0.0), f(0.0)), f(0.0));
        assert_eq!(binary(BinOp::Fmax, Scalar::F32, f(f32::NAN), f(-3.0)), f(-3.0));
        assert_eq!(binary(BinOp::Fmin, Scalar::F32, f(-3.0), f(f32::NAN)), f(-3.0));
    }

    #[test]
    fn every_half_survives_and_agrees_with_another_implementation() {
        for h in 0..=u16::MAX {
            let x = half_to_f64(h);
            let other = half::f16::from_bits(h).to_f64();
            assert!(x.to_bits() == other.to_bits() || x.is_nan() && other.is_nan(), "{h:#x}");
            if !x.is_nan() {
                assert_eq!(f64_to_half(x), h);
            }
        }
        let mut x = 1u64;
        for _ in 0..200_000 {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1);
            // The other implementation looks at the upper half of the fraction only.
            let value = f64::from_bits((x >> 12) & !0xffff_ffff | (1003 + (x >> 5) % 40) << 52);
            assert_eq!(f64_to_half(value), half::f16::from_f64_const(value).to_bits(), "{value:e}");
        }
        // Just above the midpoint of two halves, by less than a float's precision.
        assert_eq!(f64_to_half(22504.000001), half::f16::from_f32_const(22512.0).to_bits());
    }
}
