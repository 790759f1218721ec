//! The results of conversions: exact arithmetic on integers of 128 bits and on `f64`, which holds every number of every
//! type but the largest integers.

use super::values::{mask, signed, to_f64, to_int};
use cloom_builtins::Elem;
use std::cmp::Ordering;

/// How a conversion rounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    /// To the nearest, to the even one of two.
    Rte,
    /// Towards zero.
    Rtz,
    /// Up.
    Rtp,
    /// Down.
    Rtn,
}

use Rounding::{Rte, Rtn, Rtp, Rtz};

/// All, with their suffixes.
pub const ROUNDINGS: [(&str, Rounding); 4] = [("_rte", Rte), ("_rtz", Rtz), ("_rtp", Rtp), ("_rtn", Rtn)];

fn to_integer(x: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rte => x.round_ties_even(),
        Rtz => x.trunc(),
        Rtp => x.ceil(),
        Rtn => x.floor(),
    }
}

/// The bounds of an integer type.
fn bounds(t: Elem) -> (i128, i128) {
    let bits = t.bits();
    if signed(t) { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1i128 << bits) - 1) }
}

/// `convert_to_sat_rounding(x)`. `None`: out of range without saturation, where any result will do (for integers that
/// is the lower bits, which are checked).
pub fn convert(from: Elem, to: Elem, saturate: bool, rounding: Rounding, bits: u64) -> Option<u64> {
    match (from.is_float(), to.is_float()) {
        (false, false) => {
            let (low, high) = bounds(to);
            let v = to_int(from, bits);
            Some(if saturate { v.clamp(low, high) as u64 & mask(to) } else { v as u64 & mask(to) })
        }
        (true, false) => {
            let x = to_f64(from, bits);
            let (low, high) = bounds(to);
            if x.is_nan() {
                return saturate.then_some(0);
            }
            // Saturates at the ends of i128, which are beyond those of the type.
            let v = to_integer(x, rounding) as i128;
            if !saturate && !(low..=high).contains(&v) {
                return None;
            }
            Some(v.clamp(low, high) as u64 & mask(to))
        }
        (false, true) => {
            let v = to_int(from, bits);
            Some(match to {
                // Integers that are no doubles are beyond the halves.
                Elem::F16 => u64::from(to_half(v as f64, rounding)),
                Elem::F32 => {
                    let near = v as f32;
                    let fixed = direct(rounding, (near as i128).cmp(&v), v < 0, near, f32::next_up, f32::next_down);
                    u64::from(fixed.to_bits())
                }
                _ => {
                    let near = v as f64;
                    direct(rounding, (near as i128).cmp(&v), v < 0, near, f64::next_up, f64::next_down).to_bits()
                }
            })
        }
        (true, true) => {
            let x = to_f64(from, bits);
            Some(match to {
                Elem::F16 => u64::from(to_half(x, rounding)),
                Elem::F32 => u64::from(narrow(x, rounding).to_bits()),
                _ => x.to_bits(),
            })
        }
    }
}

/// A double as a float.
pub fn narrow(x: f64, rounding: Rounding) -> f32 {
    let near = x as f32;
    match f64::from(near).partial_cmp(&x) {
        Some(order) => direct(rounding, order, x < 0.0, near, f32::next_up, f32::next_down),
        None => near,
    }
}

/// Corrects the nearest number, `order` compared with the exact one, for a direction.
fn direct<F>(rounding: Rounding, order: Ordering, negative: bool, near: F, up: fn(F) -> F, down: fn(F) -> F) -> F {
    match (rounding, order) {
        (Rtz, Ordering::Greater) if !negative => down(near),
        (Rtz, Ordering::Less) if negative => up(near),
        (Rtp, Ordering::Less) => up(near),
        (Rtn, Ordering::Greater) => down(near),
        _ => near,
    }
}

/// The bits of a number as a `half`.
pub fn to_half(x: f64, rounding: Rounding) -> u16 {
    if x.is_nan() || x.is_infinite() || x == 0.0 {
        return half::f16::from_f64(x).to_bits();
    }
    // Denormal numbers share the unit of the smallest normal ones.
    let exponent = x.abs().log2().floor().clamp(-14.0, 20.0) as i32;
    // The logarithm may be off by one next to a power of two.
    let exponent = if x.abs() < 2f64.powi(exponent) && exponent > -14 { exponent - 1 } else { exponent };
    let exponent = if x.abs() >= 2f64.powi(exponent + 1) { (exponent + 1).min(20) } else { exponent };
    let unit = 2f64.powi(exponent - 10);
    let rounded = to_integer(x / unit, rounding) * unit;
    let most = 65504.0;
    let fixed = if rounded.abs() <= most {
        rounded
    } else {
        let outward = match rounding {
            Rte => true,
            Rtz => false,
            Rtp => x > 0.0,
            Rtn => x < 0.0,
        };
        (if outward { f64::INFINITY } else { most }).copysign(x)
    };
    half::f16::from_f64(if fixed == 0.0 { 0f64.copysign(x) } else { fixed }).to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_are_kept() {
        let int = |x: f64, r| convert(Elem::F64, Elem::I32, true, r, x.to_bits()).map(|b| b as u32 as i32);
        assert_eq!([Rte, Rtz, Rtp, Rtn].map(|r| int(-2.5, r)), [Some(-2), Some(-2), Some(-2), Some(-3)]);
        assert_eq!(int(1e300, Rte), Some(i32::MAX));
        let float =
            |v: i32, r| convert(Elem::I32, Elem::F32, false, r, v as u32 as u64).map(|b| f32::from_bits(b as u32));
        assert_eq!([Rtz, Rtp].map(|r| float(16_777_217, r)), [Some(16_777_216.0), Some(16_777_218.0)]);
        assert_eq!(narrow(1e300, Rtz), f32::MAX);
        assert_eq!(narrow(-1e300, Rtp), f32::MIN);
        assert_eq!(narrow(1e-300, Rtp), f32::from_bits(1));
    }

    #[test]
    fn halves_round_like_the_crate_does_and_in_directions() {
        for bits in (0..u32::MAX).step_by(99_991) {
            let x = f32::from_bits(bits);
            let near = half::f16::from_f32(x);
            if !x.is_nan() {
                assert_eq!(to_half(f64::from(x), Rte), near.to_bits(), "{x:e}");
            }
        }
        assert_eq!(to_half(1e6, Rtz), 0x7bff);
        assert_eq!(to_half(-1e6, Rtp), 0xfbff);
        assert_eq!(to_half(1e-9, Rtp), 1);
        assert_eq!(to_half(-1e-9, Rtp), 0x8000);
    }
}
