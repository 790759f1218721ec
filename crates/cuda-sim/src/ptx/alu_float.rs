//! Floating-point operations and all comparisons.
//!
//! In: an operation, its modifiers and bit patterns. Out: the bit pattern of the result, or a truth value. Single and
//! double precision with rounding to nearest use the processor, which rounds correctly; everything else uses the exact
//! arithmetic of [`soft`]. The approximate operations give the exact value rounded once: hardware is allowed to be
//! less exact, so a test of approximate results needs a tolerance.
//!
//! NaN results are the hardware's: 0x7fffffff in single and 0x7fff in half precision. In double precision the first
//! NaN operand is passed on.

use super::op::{Compare, Comparison, FloatForm, FloatOp};
use super::soft::{self, F32, F64, Format, Number, Round};
use std::cmp::Ordering;

/// Computes an operation; packed types work lane by lane.
pub(super) fn apply(op: FloatOp, form: &FloatForm, args: [u64; 3]) -> u64 {
    if form.lanes == 1 {
        return scalar(op, form, args);
    }
    let lane = |shift: u32| scalar(op, form, args.map(|value| value >> shift & 0xFFFF)) & 0xFFFF;
    lane(0) | lane(16) << 16
}

/// A value as double precision, which holds every value of the other formats.
fn widen(bits: u64, format: Format) -> f64 {
    match format {
        F64 => f64::from_bits(bits),
        F32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(soft::pack_number(soft::unpack(bits, format), F64, Round::Nearest)),
    }
}

/// Rounds a double to another format.
fn narrow(value: f64, format: Format) -> u64 {
    soft::pack_number(soft::unpack(value.to_bits(), F64), format, Round::Nearest)
}

fn scalar(op: FloatOp, form: &FloatForm, args: [u64; 3]) -> u64 {
    let format = form.format;
    let args = args.map(|value| {
        let value = value & format.mask();
        if form.flush { format.flush(value) } else { value }
    });
    let [a, b, _] = args;
    let magnitude = a & !format.sign();
    match op {
        // These change bits and keep a NaN as it is.
        FloatOp::Abs => return magnitude,
        FloatOp::Neg => return a ^ format.sign(),
        FloatOp::CopySign => return b & !format.sign() | a & format.sign(),
        FloatOp::TestFinite => return u64::from(magnitude < format.infinity()),
        FloatOp::TestInfinite => return u64::from(magnitude == format.infinity()),
        FloatOp::TestNumber => return u64::from(magnitude <= format.infinity()),
        FloatOp::TestNan => return u64::from(magnitude > format.infinity()),
        FloatOp::TestNormal => {
            let subnormal = magnitude != 0 && magnitude & format.infinity() == 0;
            return u64::from(magnitude < format.infinity() && !subnormal);
        }
        FloatOp::TestSubnormal => return u64::from(magnitude != 0 && magnitude & format.infinity() == 0),
        _ => {}
    }
    // Rust's operators round to nearest only. 16-bit formats have no operators.
    let raw = match (format, form.round) {
        (F32, Round::Nearest) => native_single(op, args),
        (F64, Round::Nearest) => native_double(op, args),
        _ => None,
    };
    let bits = raw.unwrap_or_else(|| exact(op, form, args));
    finish(bits, form, &args[..operands(op)])
}

fn operands(op: FloatOp) -> usize {
    match op {
        FloatOp::Fma => 3,
        FloatOp::Add
        | FloatOp::Sub
        | FloatOp::Mul
        | FloatOp::Div
        | FloatOp::Min
        | FloatOp::Max
        | FloatOp::MinNan
        | FloatOp::MaxNan => 2,
        _ => 1,
    }
}

fn native_single(op: FloatOp, args: [u64; 3]) -> Option<u64> {
    let [a, b, c] = args.map(|bits| f32::from_bits(bits as u32));
    let result = match op {
        FloatOp::Add => a + b,
        FloatOp::Sub => a - b,
        FloatOp::Mul => a * b,
        FloatOp::Fma => a.mul_add(b, c),
        FloatOp::Div => a / b,
        FloatOp::Sqrt => a.sqrt(),
        FloatOp::Rcp => 1.0 / a,
        _ => return None,
    };
    Some(u64::from(result.to_bits()))
}

fn native_double(op: FloatOp, args: [u64; 3]) -> Option<u64> {
    let [a, b, c] = args.map(f64::from_bits);
    let result = match op {
        FloatOp::Add => a + b,
        FloatOp::Sub => a - b,
        FloatOp::Mul => a * b,
        FloatOp::Fma => a.mul_add(b, c),
        FloatOp::Div => a / b,
        FloatOp::Sqrt => a.sqrt(),
        FloatOp::Rcp => 1.0 / a,
        _ => return None,
    };
    Some(result.to_bits())
}

fn exact(op: FloatOp, form: &FloatForm, args: [u64; 3]) -> u64 {
    let (format, round) = (form.format, form.round);
    let [a, b, c] = args.map(|bits| soft::unpack(bits, format));
    let pack = |value: Number| soft::pack_number(value, format, round);
    let by_double = |function: fn(f64) -> f64| narrow(function(widen(args[0], format)), format);
    match op {
        FloatOp::Add => pack(soft::add(a, b, round)),
        FloatOp::Sub => pack(soft::add(a, soft::negate(b), round)),
        FloatOp::Mul => pack(soft::multiply(a, b)),
        FloatOp::Fma => pack(soft::add(soft::multiply(a, b), c, round)),
        FloatOp::Div => pack(soft::divide(a, b)),
        FloatOp::Rcp => pack(soft::divide(soft::from_integer(1), a)),
        FloatOp::Sqrt => pack(soft::square_root(a)),
        FloatOp::Min | FloatOp::Max | FloatOp::MinNan | FloatOp::MaxNan => extreme(op, format, args[0], args[1]),
        FloatOp::Rsqrt => by_double(|x| 1.0 / x.sqrt()),
        FloatOp::Sin => by_double(f64::sin),
        FloatOp::Cos => by_double(f64::cos),
        FloatOp::Lg2 => by_double(f64::log2),
        FloatOp::Ex2 => by_double(f64::exp2),
        FloatOp::Tanh => by_double(f64::tanh),
        // The caller has done the operations that only look at bits.
        _ => args[0],
    }
}

/// The smaller or the larger value; -0 is less than +0. Without `.NaN` a NaN loses against a number.
fn extreme(op: FloatOp, format: Format, a: u64, b: u64) -> u64 {
    let keep_nan = matches!(op, FloatOp::MinNan | FloatOp::MaxNan);
    match (format.is_nan(a), format.is_nan(b)) {
        (true, true) => return format.nan(),
        (true, false) => return if keep_nan { format.nan() } else { b },
        (false, true) => return if keep_nan { format.nan() } else { a },
        (false, false) => {}
    }
    let key = |bits: u64| {
        // Negative numbers are ordered by descending bits. The 1 puts -0 below +0.
        let magnitude = i128::from(bits & !format.sign());
        if bits & format.sign() != 0 { -magnitude - 1 } else { magnitude }
    };
    let smaller = matches!(op, FloatOp::Min | FloatOp::MinNan);
    if (key(a) < key(b)) == smaller { a } else { b }
}

/// Applies the modifiers that change a result.
fn finish(bits: u64, form: &FloatForm, args: &[u64]) -> u64 {
    let format = form.format;
    if format.is_nan(bits) {
        if form.saturate {
            return 0;
        }
        // The bits of NaN differ between processors and GPUs: here the GPU's are put in.
        let passed = args.iter().copied().find(|bits| format.is_nan(*bits));
        return match passed {
            Some(nan) if format == F64 => nan | 1 << 51,
            _ => format.nan(),
        };
    }
    limit(if form.flush { format.flush(bits) } else { bits }, format, form.saturate, form.relu)
}

/// `.sat` clamps to 0..1, `.relu` to at least 0.
pub(super) fn limit(bits: u64, format: Format, saturate: bool, relu: bool) -> u64 {
    let negative = bits & format.sign() != 0;
    // Positive floats are ordered like their bits, so that the smaller bits are the smaller number below.
    let one = soft::pack_number(soft::from_integer(1), format, Round::Nearest);
    if format.is_nan(bits) {
        return if saturate { 0 } else { bits };
    }
    // -0 becomes +0, too.
    if (saturate || relu) && negative {
        return 0;
    }
    if saturate { bits.min(one) } else { bits }
}

/// Compares two values. Comparisons never signal.
pub(super) fn compare(how: &Compare, a: u64, b: u64) -> bool {
    let ty = how.ty;
    let order = match Format::of(ty) {
        // Widening is exact: the order of the doubles is that of the values.
        Some(format) => {
            let value = |bits: u64| {
                let bits = bits & format.mask();
                widen(if how.flush { format.flush(bits) } else { bits }, format)
            };
            value(a).partial_cmp(&value(b))
        }
        None if ty.is_signed() => Some((ty.extend(a) as i64).cmp(&(ty.extend(b) as i64))),
        None => Some(ty.extend(a).cmp(&ty.extend(b))),
    };
    let is = |accept: &[Ordering]| order.is_some_and(|order| accept.contains(&order));
    let or_nan = |accept: &[Ordering]| order.is_none_or(|order| accept.contains(&order));
    use Ordering::{Equal, Greater, Less};
    match how.how {
        Comparison::Eq => is(&[Equal]),
        Comparison::Ne => is(&[Less, Greater]),
        Comparison::Lt | Comparison::Lo => is(&[Less]),
        Comparison::Le | Comparison::Ls => is(&[Less, Equal]),
        Comparison::Gt | Comparison::Hi => is(&[Greater]),
        Comparison::Ge | Comparison::Hs => is(&[Greater, Equal]),
        Comparison::Equ => or_nan(&[Equal]),
        Comparison::Neu => or_nan(&[Less, Greater]),
        Comparison::Ltu => or_nan(&[Less]),
        Comparison::Leu => or_nan(&[Less, Equal]),
        Comparison::Gtu => or_nan(&[Greater]),
        Comparison::Geu => or_nan(&[Greater, Equal]),
        Comparison::Num => order.is_some(),
        Comparison::Nan => order.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::op::Type;
    use crate::ptx::soft::{BF16, F16};

    fn form(format: Format) -> FloatForm {
        FloatForm { format, lanes: 1, round: Round::Nearest, flush: false, saturate: false, relu: false }
    }

    fn single(value: f32) -> u64 {
        u64::from(value.to_bits())
    }

    fn check(op: FloatOp, form: FloatForm, args: [u64; 3], expected: u64) {
        let got = apply(op, &form, args);
        assert_eq!(got, expected, "{op:?} {form:?} {args:x?}: {got:#x}");
    }

    #[test]
    fn single_precision() {
        let plain = form(F32);
        let up = FloatForm { round: Round::Up, ..plain };
        let flush = FloatForm { flush: true, ..plain };
        let saturate = FloatForm { saturate: true, ..plain };
        let nan = 0x7FC0_1234;
        for (op, form, a, b, c, expected) in [
            (FloatOp::Add, plain, single(1.5), single(2.25), 0, single(3.75)),
            (FloatOp::Add, up, single(1.0), single(1e-30), 0, 0x3F80_0001),
            (FloatOp::Add, plain, nan, single(1.0), 0, 0x7FFF_FFFF),
            (FloatOp::Sub, plain, single(f32::INFINITY), single(f32::INFINITY), 0, 0x7FFF_FFFF),
            (FloatOp::Mul, plain, 1, single(1.0), 0, 1),
            (FloatOp::Mul, flush, 1, single(1.0), 0, 0),
            (FloatOp::Mul, flush, 0x8000_0001, single(1.0), 0, 0x8000_0000),
            (FloatOp::Mul, flush, 0x0080_0000, single(0.5), 0, 0),
            (FloatOp::Add, saturate, single(1.5), single(2.0), 0, single(1.0)),
            (FloatOp::Add, saturate, single(-1.5), single(1.0), 0, 0),
            (FloatOp::Add, saturate, nan, 0, 0, 0),
            // (1 + 2^-12)^2 - 1: only a fused operation keeps the last term.
            (FloatOp::Fma, plain, 0x3F80_0800, 0x3F80_0800, single(-1.0), 0x3A00_0400),
            (FloatOp::Div, plain, single(1.0), 0, 0, 0x7F80_0000),
            (FloatOp::Div, plain, single(1.0), single(3.0), 0, 0x3EAA_AAAB),
            (FloatOp::Sqrt, plain, single(2.0), 0, 0, 0x3FB5_04F3),
            (FloatOp::Sqrt, plain, single(-1.0), 0, 0, 0x7FFF_FFFF),
            (FloatOp::Rcp, plain, single(4.0), 0, 0, single(0.25)),
            (FloatOp::Rsqrt, plain, single(0.25), 0, 0, single(2.0)),
            (FloatOp::Rsqrt, plain, 0x8000_0000, 0, 0, 0xFF80_0000),
            (FloatOp::Ex2, plain, single(-3.0), 0, 0, single(0.125)),
            (FloatOp::Lg2, plain, single(8.0), 0, 0, single(3.0)),
            (FloatOp::Lg2, plain, 0, 0, 0, 0xFF80_0000),
            (FloatOp::Cos, plain, 0, 0, 0, single(1.0)),
            (FloatOp::Sin, plain, single(f32::INFINITY), 0, 0, 0x7FFF_FFFF),
            (FloatOp::Tanh, plain, single(100.0), 0, 0, single(1.0)),
            (FloatOp::Min, plain, nan, single(2.0), 0, single(2.0)),
            (FloatOp::Min, plain, nan, nan, 0, 0x7FFF_FFFF),
            (FloatOp::MinNan, plain, nan, single(2.0), 0, 0x7FFF_FFFF),
            (FloatOp::Min, plain, 0, 0x8000_0000, 0, 0x8000_0000),
            (FloatOp::Max, plain, 0x8000_0000, 0, 0, 0),
            (FloatOp::Max, plain, single(-3.0), single(-2.0), 0, single(-2.0)),
            (FloatOp::Min, plain, single(-3.0), single(-2.0), 0, single(-3.0)),
            (FloatOp::Abs, plain, single(-3.0), 0, 0, single(3.0)),
            (FloatOp::Neg, plain, 0, 0, 0, 0x8000_0000),
            (FloatOp::CopySign, plain, single(-1.0), single(2.0), 0, single(-2.0)),
            (FloatOp::TestNormal, plain, 0, 0, 0, 1),
            (FloatOp::TestNormal, plain, 1, 0, 0, 0),
            (FloatOp::TestSubnormal, plain, 1, 0, 0, 1),
            (FloatOp::TestFinite, plain, 0x7F80_0000, 0, 0, 0),
            (FloatOp::TestInfinite, plain, 0xFF80_0000, 0, 0, 1),
            (FloatOp::TestNumber, plain, 0x7F80_0000, 0, 0, 1),
            (FloatOp::TestNan, plain, nan, 0, 0, 1),
        ] {
            check(op, form, [a, b, c], expected);
        }
    }

    #[test]
    fn double_precision_passes_nans_on() {
        let nan = 0x7FF0_0000_0000_1234;
        check(FloatOp::Add, form(F64), [nan, 0, 0], nan | 1 << 51);
        check(FloatOp::Sub, form(F64), [f64::INFINITY.to_bits(), f64::INFINITY.to_bits(), 0], F64.nan());
        let down = FloatForm { round: Round::Down, ..form(F64) };
        check(FloatOp::Sub, down, [1.0_f64.to_bits(), 1.0_f64.to_bits(), 0], 1 << 63);
        check(FloatOp::Div, down, [1.0_f64.to_bits(), 3.0_f64.to_bits(), 0], 0x3FD5_5555_5555_5555);
        let up = FloatForm { round: Round::Up, ..form(F64) };
        check(FloatOp::Div, up, [1.0_f64.to_bits(), 3.0_f64.to_bits(), 0], 0x3FD5_5555_5555_5556);
    }

    #[test]
    fn half_precision() {
        let plain = form(F16);
        // 2049 is a tie between 2048 and 2050.
        check(FloatOp::Add, plain, [0x6800, 0x3C00, 0], 0x6800);
        check(FloatOp::Add, plain, [0x7BFF, 0x7BFF, 0], 0x7C00);
        check(FloatOp::Mul, plain, [1, 0x3800, 0], 0);
        check(FloatOp::Mul, plain, [3, 0x3800, 0], 2);
        check(FloatOp::Add, plain, [0x7E00, 0, 0], 0x7FFF);
        // 2048 * 1 + 1 is a tie, and the smallest subnormal breaks it: 1025 * 2 - ... rounds once.
        check(FloatOp::Fma, plain, [0x6401, 0x3C01, 0x0001], 0x6402);
        let both = FloatForm { lanes: 2, ..plain };
        check(FloatOp::Mul, both, [0x4000_3C00, 0x4200_4400, 0], 0x4600_4400);
        let relu = FloatForm { relu: true, ..plain };
        check(FloatOp::Fma, relu, [0xBC00, 0x3C00, 0], 0);
        check(FloatOp::Add, form(BF16), [0x3F80, 0x3B80, 0], 0x3F80);
        check(FloatOp::Add, form(BF16), [0x3F81, 0x3B80, 0], 0x3F82);
    }

    #[test]
    fn every_half_sum_is_rounded_once() {
        // The sum of two halves is exact in double precision, and the reference picks the nearest half by distance.
        for (a, b) in (0..4000_u64).map(|i| (i * 7919 % 0x7C00, (i * 104_729 % 0x7C00) | (i & 1) << 15)) {
            let sum = widen(a, F16) + widen(b, F16);
            let got = widen(apply(FloatOp::Add, &form(F16), [a, b, 0]), F16);
            if got.is_infinite() {
                assert!(sum.abs() >= 65520.0);
                continue;
            }
            let bits = apply(FloatOp::Add, &form(F16), [a, b, 0]);
            for near in [bits.wrapping_sub(1), bits + 1] {
                let near = widen(near & 0xFFFF, F16);
                assert!(near.is_nan() || (near - sum).abs() >= (got - sum).abs(), "{a:#x} + {b:#x}");
            }
        }
    }

    #[test]
    fn comparisons() {
        let compare_as =
            |how, ty: &str, a, b| compare(&Compare { how, ty: Type::parse(ty).unwrap(), flush: false }, a, b);
        let (one, two, nan) = (single(1.0), single(2.0), 0x7FC0_0000);
        use Comparison::*;
        // For each: (1 ? 2), (2 ? 1), (1 ? 1), (1 ? NaN).
        for (how, expected) in [
            (Eq, [false, false, true, false]),
            (Ne, [true, true, false, false]),
            (Lt, [true, false, false, false]),
            (Le, [true, false, true, false]),
            (Gt, [false, true, false, false]),
            (Ge, [false, true, true, false]),
            (Equ, [false, false, true, true]),
            (Neu, [true, true, false, true]),
            (Ltu, [true, false, false, true]),
            (Leu, [true, false, true, true]),
            (Gtu, [false, true, false, true]),
            (Geu, [false, true, true, true]),
            (Num, [true, true, true, false]),
            (Nan, [false, false, false, true]),
        ] {
            let got = [(one, two), (two, one), (one, one), (one, nan)].map(|(a, b)| compare_as(how, "f32", a, b));
            assert_eq!(got, expected, "{how:?}");
        }
        assert!(compare_as(Lt, "s32", 0xFFFF_FFFF, 0));
        assert!(!compare_as(Lt, "u32", 0xFFFF_FFFF, 0));
        assert!(compare_as(Lt, "s16", 0x8000, 0));
        assert!(compare_as(Hi, "u64", u64::MAX, 0));
        assert!(compare_as(Eq, "f16", 0x8000, 0));
        assert!(compare_as(Lt, "f16", 0x3C00, 0x4000));
        assert!(compare_as(Gt, "f64", 1.0_f64.to_bits(), (-1.0_f64).to_bits()));
        assert!(compare(&Compare { how: Eq, ty: Type::parse("f32").unwrap(), flush: true }, 1, 0));
    }
}
