//! Samples: special values, uniformly random bit patterns, and the intervals in which a function is not trivial.

use super::{Precision, Sample};

/// A generator of random numbers: Steele, Lea and Flood's SplitMix.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// With a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In an interval.
    pub fn within(&mut self, low: f64, high: f64) -> f64 {
        let part = (self.bits() >> 11) as f64 * 2f64.powi(-53);
        low + (high - low) * part
    }

    /// Below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }
}

/// Zeros, infinities, NaN, the ends of the ranges, denormals, small integers and halves, multiples of pi, and
/// neighbours.
pub fn special(p: Precision) -> Vec<f64> {
    use std::f64::consts::{E, PI};
    let least = p.from_bits(1);
    let normal = p.least_normal();
    // The bits before those of infinity are those of the largest number.
    let most = p.step(p.from_bits(p.to_bits(f64::INFINITY)), -1);
    let digits = 2f64.powi(p.digits());
    let mut list = vec![0.0, f64::INFINITY, least, least * 2.0, least * 3.0, normal / 2.0, normal, most, most / 2.0];
    list.extend([p.step(normal, -1), p.step(normal, 1), p.step(most, -1), digits, digits / 2.0, digits / 4.0]);
    list.extend([
        digits * 2.0,
        digits - 1.0,
        p.step(digits / 2.0, 1),
        p.step(digits / 4.0, 1),
        p.step(digits / 2.0, -1),
    ]);
    list.extend([
        1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0, 16.0, 35.0, 36.0, 88.0, 104.0, 127.0, 128.0, 149.0, 150.0,
    ]);
    list.extend([
        0.5, 0.25, 0.75, 0.1, 3.5, 4.5, 100.5, 170.5, 709.0, 710.0, 745.5, 1000.0, 1023.0, 1024.0, 1074.0, 1e10,
    ]);
    list.extend([E, PI, PI / 2.0, PI / 4.0, 2.0 * PI, 22.0, 355.0, 1e5, 2f64.sqrt(), 0.5f64.sqrt(), 2f64.ln()]);
    // The float and the double that come closest to a multiple of pi/2: all the bits of a reduction are needed.
    list.extend([16_367_173.0 * 2f64.powi(72), 6_381_956_970_095_103.0 * 2f64.powi(797)]);
    let around: Vec<f64> = list.iter().map(|&x| p.round(x)).filter(|x| *x > least && *x < most).collect();
    list = list.into_iter().map(|x| p.round(x)).collect();
    for x in around {
        list.extend([p.step(x, -1), p.step(x, 1)]);
    }
    let negative: Vec<f64> = list.iter().map(|x| -x).collect();
    list.extend(negative);
    list.push(f64::NAN);
    list.sort_by(f64::total_cmp);
    // By bits: 0 and -0 are equal, and both are wanted.
    list.dedup_by(|a, b| a.to_bits() == b.to_bits());
    list
}

/// The intervals in which a function of one argument is not trivial.
fn intervals(name: &str, p: Precision) -> &'static [(f64, f64)] {
    let single = p != Precision::Double;
    match name {
        "acos" | "acospi" | "asin" | "asinpi" | "atanh" => &[(-1.0, 1.0), (0.999, 1.0), (-0.01, 0.01)],
        "acosh" => &[(1.0, 2.0), (1.0, 1.001), (1.0, 1e4)],
        "cosh" | "sinh" if single => &[(-90.0, 90.0), (-1.0, 1.0), (88.0, 90.0)],
        "cosh" | "sinh" => &[(-711.0, 711.0), (-1.0, 1.0), (709.0, 711.0)],
        "exp" | "expm1" if single => &[(-105.0, 89.0), (-1.0, 1.0), (-104.0, -86.0)],
        "exp" | "expm1" => &[(-746.0, 710.0), (-1.0, 1.0), (-746.0, -707.0)],
        "exp2" if single => &[(-151.0, 129.0), (-1.0, 1.0), (-150.0, -125.0)],
        "exp2" => &[(-1076.0, 1025.0), (-1.0, 1.0), (-1076.0, -1021.0)],
        "exp10" if single => &[(-46.0, 39.0), (-1.0, 1.0), (-46.0, -37.0)],
        "exp10" => &[(-324.5, 309.0), (-1.0, 1.0), (-324.5, -307.0)],
        "erf" | "erfc" if single => &[(-1.0, 1.0), (-4.0, 11.0), (0.4, 0.6)],
        "erf" | "erfc" => &[(-1.0, 1.0), (-6.0, 28.0), (0.4, 0.6)],
        "log" | "log2" | "log10" => &[(0.5, 2.0), (0.99, 1.01), (0.0, 1e3)],
        "log1p" => &[(-1.0, 1.0), (-0.3, 0.5), (0.0, 1e3)],
        "lgamma" | "lgamma_r" => &[(0.0, 10.0), (-10.0, 0.0), (0.9, 2.1)],
        "tgamma" if single => &[(-5.0, 5.0), (-43.0, 36.0), (30.0, 36.0)],
        "tgamma" => &[(-5.0, 5.0), (-185.0, 172.0), (160.0, 172.0)],
        "sin" | "cos" | "tan" | "sincos" => &[(-10.0, 10.0), (-1e3, 1e3), (-1e6, 1e6)],
        "sinpi" | "cospi" | "tanpi" => &[(-2.0, 2.0), (-100.0, 100.0), (-1e6, 1e6)],
        _ => &[(-10.0, 10.0), (-1.0, 1.0), (-1e4, 1e4)],
    }
}

/// A value of any size, the everyday ones more often.
fn any(p: Precision, random: &mut Random) -> f64 {
    match random.below(4) {
        0 => p.from_bits(random.bits()),
        1 => p.round(random.within(-10.0, 10.0)),
        2 => {
            let size = random.within(-40.0, 40.0).exp2();
            p.round(if random.below(2) == 0 { size } else { -size })
        }
        // Near the ends of the range.
        _ => {
            let ends = [p.to_bits(p.least_normal()), p.to_bits(1.0), p.to_bits(f64::INFINITY)];
            let near = ends[random.below(3)].wrapping_add(random.bits() % 2048).wrapping_sub(1024);
            let x = p.from_bits(near);
            if random.below(2) == 0 { x } else { -x }
        }
    }
}

/// The second argument: unrelated, close to the first, or what brings a power near the ends of the range.
fn second(name: &str, p: Precision, x: f64, random: &mut Random) -> f64 {
    match (name.trim_start_matches("half_").trim_start_matches("native_"), random.below(4)) {
        ("pow" | "powr", 0..3) => {
            let most = f64::from(p.overflow_exponent()) * 1.02;
            // The base-2 logarithm of the wanted power, from far below the normal numbers to above the largest one; `y`
            // is what takes `x` there.
            let result = random.within(-most * 1.15, most);
            let y = result / x.abs().log2();
            p.round(if random.below(3) == 0 { y.round() } else { y })
        }
        (_, 0) => p.round(x * random.within(0.1, 10.0)),
        (_, 1) if x.is_finite() && x != 0.0 => p.step(x.abs(), random.below(65) as i64 - 32),
        _ => any(p, random),
    }
}

fn integer(name: &str, p: Precision, x: f64, random: &mut Random) -> i32 {
    let span = p.overflow_exponent() * 3;
    match (name, random.below(4)) {
        (_, 0) => random.below(41) as i32 - 20,
        ("pown", 1 | 2) => {
            let most = f64::from(p.overflow_exponent()) * 1.15;
            (random.within(-most, most) / x.abs().log2()) as i32
        }
        (_, 1 | 2) => random.below(2 * span as usize + 1) as i32 - span,
        _ => random.bits() as i32 >> random.below(32),
    }
}

/// The first argument of a random sample.
fn first(name: &str, p: Precision, random: &mut Random) -> f64 {
    let base = name.trim_start_matches("half_").trim_start_matches("native_");
    if ["pow", "powr", "pown"].contains(&base) && random.below(3) == 0 {
        return p.round(random.within(0.5, 2.0));
    }
    let list = intervals(base, p);
    match random.below(3) {
        0 => p.from_bits(random.bits()),
        1 => any(p, random),
        _ => {
            let (low, high) = list[random.below(list.len())];
            p.round(random.within(low, high))
        }
    }
}

const INTEGERS: [i32; 27] = [
    0,
    1,
    -1,
    2,
    -2,
    3,
    -3,
    4,
    5,
    7,
    -7,
    23,
    -24,
    126,
    127,
    -127,
    -149,
    -150,
    1023,
    -1074,
    2098,
    -2098,
    65535,
    65536,
    i32::MAX - 1,
    i32::MAX,
    i32::MIN,
];

/// Samples: all combinations of special values, then random ones up to `count`. `sig` is the function's signature.
pub fn samples(name: &str, sig: &str, p: Precision, count: usize, seed: u64) -> Vec<Sample> {
    let special = special(p);
    let mut list = Vec::new();
    let one = |x: f64| Sample { x: [x, 0.0, 0.0], n: 0 };
    match sig {
        "T(T,T)" | "T(T,T,pN)" => {
            // Every third value of the larger list beside every one: the pairs would be too many.
            for &x in &special {
                list.extend(special.iter().skip(list.len() % 3).step_by(3).map(|&y| Sample { x: [x, y, 0.0], n: 0 }));
            }
        }
        "T(T,T,T)" => {
            let few: Vec<f64> = special.iter().copied().step_by(11).chain([0.0, -0.0, 1.0, -1.0, f64::NAN]).collect();
            for &x in &few {
                for &y in &few {
                    list.extend(few.iter().map(|&z| Sample { x: [x, y, z], n: 0 }));
                }
            }
        }
        "T(T,N)" => {
            for &x in &special {
                list.extend(INTEGERS.iter().map(|&n| Sample { n, ..one(x) }));
            }
        }
        _ => list.extend(special.iter().map(|&x| one(x))),
    }
    let mut random = Random::new(seed);
    while list.len() < count {
        let x = first(name, p, &mut random);
        list.push(match sig {
            "T(T,T)" | "T(T,T,pN)" => Sample { x: [x, second(name, p, x, &mut random), 0.0], n: 0 },
            "T(T,T,T)" => {
                let y = second(name, p, x, &mut random);
                // A sum that cancels shows whether the product was rounded.
                let z = if random.below(2) == 0 { -p.round(x * y) } else { any(p, &mut random) };
                Sample { x: [x, y, z], n: 0 }
            }
            "T(T,N)" => Sample { n: integer(name, p, x, &mut random), ..one(x) },
            _ => one(x),
        });
    }
    if ["rsqrt", "recip"].iter().any(|f| name == format!("half_{f}") || name == format!("native_{f}")) {
        // Estimates take what lies below the normal numbers for zero, before and after, or not: that depends on the
        // processor.
        let normal = |x: f64| (f64::from(f32::MIN_POSITIVE)..=1.0 / f64::from(f32::MIN_POSITIVE)).contains(&x.abs());
        list.retain(|s| s.x[0] == 0.0 || !s.x[0].is_finite() || normal(s.x[0]));
    }
    list
}
