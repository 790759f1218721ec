//! Bounds of floats, for `rsqrt(x*x + y*y + 0.01f)` and its like: whoever knows that a number is neither very small nor
//! very large need not treat denormals, of the number or of its reciprocal.

use crate::{BinOp, CastOp, Function, Op, Scalar, UnOp, Value};

/// How many operands deep it looks.
const DEPTH: u32 = 8;

/// Bounds of a float, in each lane. They say nothing of NaN, and the upper one nothing of infinity.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bounds {
    /// It is not less.
    pub least: f64,
    /// It is not greater.
    pub most: f64,
}

impl Bounds {
    /// Of any float.
    const NONE: Bounds = Bounds { least: f64::NEG_INFINITY, most: f64::INFINITY };
}

/// The bounds of a float. Rounding is monotonic, so that a sum of numbers that are not negative is not less than the
/// bound of each, which is a float; upper bounds of sums and roots are rounded up.
pub fn bounds(func: &Function, v: Value) -> Bounds {
    within(func, v, DEPTH).unwrap_or(Bounds::NONE)
}

fn within(func: &Function, v: Value, depth: u32) -> Option<Bounds> {
    let scalar = func.ty(v).scalar;
    let number = |bits: u64| match scalar {
        Scalar::F32 => Some(f64::from(f32::from_bits(bits as u32))),
        Scalar::F64 => Some(f64::from_bits(bits)),
        _ => None,
    };
    if let Some(bits) = func.const_bits(v) {
        return number(bits).filter(|x| !x.is_nan()).map(|x| Bounds { least: x, most: x });
    }
    let data = &func.insts[func.def_inst(v)?];
    let largest = match scalar {
        Scalar::F32 => f64::from(f32::MAX),
        Scalar::F64 => f64::MAX,
        _ => return None,
    };
    if depth == 0 {
        return None;
    }
    let of = |i: usize| within(func, data.args[i], depth - 1).unwrap_or(Bounds::NONE);
    let is_square = || data.args[0] == data.args[1];
    Some(match data.op {
        Op::Unary(UnOp::Fabs) => {
            // Numbers from -3 to -1 have magnitudes from 1 to 3.
            let Bounds { least, most } = of(0);
            Bounds { least: least.max(-most).max(0.0), most: most.max(-least) }
        }
        // An infinite operand is left out: its root is infinity, and the upper bound says nothing of infinity. The root
        // of a negative number is NaN.
        Op::Unary(UnOp::Sqrt) => Bounds { least: 0.0, most: up(of(0).most.min(largest).max(0.0).sqrt()) },
        // `u64::MAX` rounds up to this.
        Op::Cast(CastOp::UtoF) => Bounds { least: 0.0, most: 2f64.powi(64) },
        Op::Binary(BinOp::Fmul) if is_square() => Bounds { least: 0.0, ..Bounds::NONE },
        // `x * x` is not negative, so that the sum is not less than what is added, and rounding keeps that.
        Op::Fma if is_square() => Bounds { least: of(2).least, ..Bounds::NONE },
        Op::Binary(BinOp::Fadd) => {
            let (a, b) = (of(0), of(1));
            let least = if a.least.min(b.least) >= 0.0 { a.least.max(b.least) } else { f64::NEG_INFINITY };
            Bounds { least, most: up(a.most + b.most) }
        }
        _ => return None,
    })
}

/// A bound that stays one however it was rounded, also as a `float`. Of what is less than zero none is kept.
fn up(most: f64) -> f64 {
    // The factor is eight units in the last place of a `float`. It would lower a negative bound.
    if most >= 0.0 { most * (1.0 + 1.0 / f64::from(1 << 20)) } else { f64::INFINITY }
}

/// Whether nobody sees the difference between a number below `2^-62` and 0: all that uses it adds it to something that
/// is so much larger that it is rounded away.
pub fn is_lost_if_small(func: &Function, v: Value) -> bool {
    let is_lost = |data: &crate::InstData| {
        data.op == Op::Binary(BinOp::Fadd) && {
            let other = if data.args[0] == v { data.args[1] } else { data.args[0] };
            // The neighbours of a `float` of at least 2^-36 are at least 2^-60 away, and less than half of that is
            // rounded away.
            other != v && bounds(func, other).least >= 2f64.powi(-36)
        }
    };
    let in_terms = || {
        func.layout.iter().any(|&b| {
            let mut found = false;
            func.blocks[b].term.for_each_use(|used| found |= used == v);
            found
        })
    };
    func.insts_in_layout().filter(|(_, data)| data.args.contains(&v)).all(|(_, data)| is_lost(data)) && !in_terms()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_squares_keep_what_is_added_and_roots_are_not_large() {
        let text = "func internal @f(f32, f32) {
            bb0(v0: f32, v1: f32):
                v2: f32 = const 0x3c23d70a
                v3: f32 = const 0xbf800000
                v4: f32 = fmul v0, v0
                v5: f32 = fmul v0, v1
                v6: f32 = fadd v4, v2
                v7: f32 = fma v1, v1, v6
                v8: f32 = fadd v5, v2
                v9: f32 = fadd v4, v3
                v10: f32 = fabs v5
                v11: f32 = fadd v10, v7
                v12: f32 = fma v1, v0, v6
                v13: f32 = sqrt v5
                v14: f32 = fadd v13, v2
                v15: f32 = fadd v13, v3
                ret
            }";
        let module = crate::parse(text).unwrap();
        let func = module.funcs.values().next().unwrap();
        let value = |n: usize| func.values.iter().nth(n).unwrap().0;
        let small = f64::from(0.01f32);
        let none = f64::NEG_INFINITY;
        let least = [none, none, small, -1.0, 0.0, none, small, small, none, none, 0.0, small, none, 0.0, small, none];
        for (n, expected) in least.into_iter().enumerate() {
            assert_eq!(bounds(func, value(n)).least, expected, "v{n}");
        }
        for n in 13..16 {
            let Bounds { most, .. } = bounds(func, value(n));
            assert!(most >= 2f64.powi(64) && most < 2f64.powi(65), "v{n}: {most}");
        }
        assert_eq!(bounds(func, value(8)).most, f64::INFINITY);
    }

    #[test]
    fn a_small_number_is_lost_in_a_large_one_only() {
        let with = |use_of_v1: &str| {
            let text = format!(
                "func internal @f(f32, ptr<global>) {{
                bb0(v0: f32, v1: ptr<global>):
                    v2: f32 = const 0x3c23d70a
                    v3: f32 = sqrt v0
                    v4: f32 = fadd v2, v3
                    {use_of_v1}
                    ret
                }}"
            );
            let module = crate::parse(&text).unwrap();
            let func = module.funcs.values().next().unwrap();
            is_lost_if_small(func, func.values.iter().nth(3).unwrap().0)
        };
        assert!(with("v5: f32 = fadd v3, v2"));
        assert!(!with("v5: f32 = fadd v3, v3"));
        assert!(!with("v5: f32 = fadd v3, v0"));
        assert!(!with("v5: f32 = fmul v3, v2"));
        assert!(!with("store v1, v3 align 4"));
    }
}
