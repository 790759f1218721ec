//! The results of integer, common and relational functions, by the text of the specification: integers in 128 bits,
//! floating-point numbers in `f64`.

use super::Call;
use super::values::{mask, signed, to_f64, to_int};
use cloom_builtins::{Elem, Ty};

/// The expected result of a lane.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Want {
    /// These bits (any NaN for a NaN).
    Bits(u64),
    /// A number as near to this one as that.
    Near(f64, f64),
    /// This number; a zero may have any sign.
    Number(f64),
}

/// The lanes of the result of a call. `args` are the lanes of each argument. `None`: another oracle knows.
pub fn want(call: &Call, args: &[&[u64]]) -> Option<Vec<Want>> {
    let Ty::Value(_, lanes) = call.sig.ret else { return None };
    let (elem, width) = call.inputs().next()?;
    if call.name == "any" || call.name == "all" {
        let mut set = args[0].iter().map(|&x| to_int(elem, x) < 0);
        let yes = if call.name == "any" { set.any(|s| s) } else { set.all(|s| s) };
        return Some(vec![Want::Bits(u64::from(yes))]);
    }
    let component = |i: usize| {
        let mut x = [0; 4];
        for (to, from) in x.iter_mut().zip(args) {
            // A scalar stands for all lanes.
            *to = from[if from.len() == 1 { 0 } else { i }];
        }
        // Of `step(scalar, vector)` the first argument has fewer lanes than the call.
        lane(call, elem, width.max(lanes), x)
    };
    (0..usize::from(lanes)).map(component).collect()
}

fn lane(call: &Call, t: Elem, lanes: u8, x: [u64; 4]) -> Option<Want> {
    if call.name == "bitselect" {
        return Some(Want::Bits((x[0] & !x[2] | x[1] & x[2]) & mask(t)));
    }
    if call.name == "select" {
        let c = call.inputs().nth(2)?.0;
        // A scalar condition counts if it is not zero, and a component of a vector by its highest bit.
        let chosen = if lanes == 1 { x[2] != 0 } else { x[2] >> (c.bits() - 1) != 0 };
        return Some(Want::Bits(if chosen { x[1] } else { x[0] }));
    }
    if t.is_float() {
        let f = [x[0], x[1], x[2]].map(|b| to_f64(t, b));
        return relation(call.name, t, f, x[0])
            .map(|yes| {
                Want::Bits(if !yes {
                    0
                } else if lanes == 1 {
                    1
                } else {
                    mask(t)
                })
            })
            .or_else(|| common(call.name, t, f));
    }
    bitfield(call.name, t, x).or_else(|| integer(call.name, t, [x[0], x[1], x[2]])).map(Want::Bits)
}

fn relation(name: &str, t: Elem, [x, y, _]: [f64; 3], bits: u64) -> Option<bool> {
    let least = match t {
        Elem::F16 => 2f64.powi(-14),
        Elem::F32 => f64::from(f32::MIN_POSITIVE),
        _ => f64::MIN_POSITIVE,
    };
    Some(match name {
        "isequal" => x == y,
        "isnotequal" => x != y,
        "isgreater" => x > y,
        "isgreaterequal" => x >= y,
        "isless" => x < y,
        "islessequal" => x <= y,
        "islessgreater" => x.partial_cmp(&y).is_some_and(std::cmp::Ordering::is_ne),
        "isordered" => !x.is_nan() && !y.is_nan(),
        "isunordered" => x.is_nan() || y.is_nan(),
        "isfinite" => x.is_finite(),
        "isinf" => x.is_infinite(),
        "isnan" => x.is_nan(),
        "isnormal" => x.is_finite() && x.abs() >= least,
        "signbit" => bits >> (t.bits() - 1) != 0,
        _ => return None,
    })
}

fn common(name: &str, t: Elem, [x, y, z]: [f64; 3]) -> Option<Want> {
    let small = match t {
        // Computed as floats, and rounded once; results are at most one.
        Elem::F16 => 2.5e-4,
        Elem::F32 => 1e-6,
        _ => 1e-14,
    };
    Some(match name {
        "max" => Want::Number(if x < y { y } else { x }),
        "min" => Want::Number(if y < x { y } else { x }),
        "clamp" => Want::Number(x.max(y).min(z)),
        "mix" => Want::Near(x + (y - x) * z, small),
        "smoothstep" => {
            let s = ((z - x) / (y - x)).clamp(0.0, 1.0);
            Want::Near(s * s * (3.0 - 2.0 * s), if t == Elem::F16 { small } else { small * 10.0 })
        }
        _ => return None,
    })
}

/// The bits of a field, from those of the number that has it.
fn field(bits: u64, offset: u64, count: u64) -> Vec<bool> {
    (offset..offset + count).map(|i| bits >> i & 1 != 0).collect()
}

/// Functions of fields, bit by bit.
fn bitfield(name: &str, t: Elem, x: [u64; 4]) -> Option<u64> {
    let number = |bits: &[bool]| bits.iter().rev().fold(0, |n, &b| n << 1 | u64::from(b));
    let width = t.bits() as usize;
    let all = field(x[0], 0, width as u64);
    let bits = match name {
        "bitfield_insert" => {
            let (offset, count) = (x[2] as usize, x[3] as usize);
            let mut bits = all;
            bits.splice(offset..offset + count, field(x[1], 0, count as u64));
            bits
        }
        "bitfield_extract_signed" | "bitfield_extract_unsigned" => {
            let mut bits = field(x[0], x[1], x[2]);
            let sign = name == "bitfield_extract_signed" && bits.last() == Some(&true);
            bits.resize(width, sign);
            bits
        }
        "bit_reverse" => all.into_iter().rev().collect(),
        _ => return None,
    };
    Some(number(&bits))
}

fn integer(name: &str, t: Elem, x: [u64; 3]) -> Option<u64> {
    let bits = t.bits();
    let [a, b, c] = x.map(|v| to_int(t, v));
    // Products of two numbers of 64 bits without a sign need all of 128.
    let product = |a: i128, b: i128| a.wrapping_mul(b);
    let high = |p: i128| if signed(t) { p >> bits } else { ((p as u128) >> bits) as i128 };
    let saturated = |v: i128| {
        let (low, high) =
            if signed(t) { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
        v.clamp(low, high)
    };
    let result = match name {
        "abs" => a.abs(),
        "abs_diff" => (a - b).abs(),
        "add_sat" => saturated(a + b),
        "sub_sat" => saturated(a - b),
        "hadd" => (a + b) >> 1,
        "rhadd" => (a + b + 1) >> 1,
        "mul_hi" => high(product(a, b)),
        "mad_hi" => high(product(a, b)) + c,
        "mad_sat" if signed(t) => saturated(a * b + c),
        "mad_sat" => ((a as u128 * b as u128 + c as u128).min(u128::from(mask(t)))) as i128,
        "mul24" => a * b,
        "mad24" => a * b + c,
        "rotate" => {
            let by = (x[1] % u64::from(bits)) as u32;
            let wide = u128::from(x[0]) << by;
            (wide | wide >> bits) as i128
        }
        "clz" => i128::from(x[0].leading_zeros() - (64 - bits)),
        "ctz" => i128::from(x[0].trailing_zeros().min(bits)),
        "popcount" => i128::from(x[0].count_ones()),
        // The result is twice as wide as the arguments, so that the mask below does not fit it.
        "upsample" => return Some(((x[0] << bits) | x[1]) & mask(Elem::int(2 * bits, false))),
        "max" => a.max(b),
        "min" => a.min(b),
        "clamp" => a.max(b).min(c),
        _ => return None,
    };
    Some(result as u64 & mask(t))
}

/// Whether a lane is as it should be.
pub fn fits(elem: Elem, want: Want, got: u64) -> bool {
    match want {
        Want::Bits(bits) => super::same(elem, bits, got),
        Want::Near(value, distance) => (to_f64(elem, got) - value).abs() <= distance,
        Want::Number(value) => to_f64(elem, got) == value,
    }
}
