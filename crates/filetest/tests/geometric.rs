//! The geometric functions on scalars and vectors of two to four: within the specification's limits, without overflow
//! or loss where the result is a number, and with its edge cases.

use cloom_filetest::accuracy::Precision;
use cloom_filetest::accuracy::sample::Random;
use cloom_filetest::device::{Bench, Data};
use rug::Float;

const WIDTHS: [usize; 4] = [1, 2, 3, 4];
const BITS: u32 = 160;

/// Two vectors.
type Pair = (Vec<f64>, Vec<f64>);

/// Pairs of vectors whose components are of one size, large, small or everyday, or of very different ones.
fn pairs(p: Precision, width: usize, count: usize) -> Vec<Pair> {
    let mut random = Random::new(width as u64);
    let most = f64::from(p.overflow_exponent()) - 3.0;
    let mut list = Vec::new();
    for i in 0..count {
        let scale = match i % 4 {
            0 => 0.0,
            1 => most,
            2 => random.within(f64::from(p.least_exponent()) - 20.0, most),
            _ => f64::from(p.least_exponent()) + random.within(-20.0, 30.0),
        };
        // Some components differ by half of all exponents that there are.
        let far = (f64::from(p.overflow_exponent()) - f64::from(p.least_exponent())) * 0.55;
        let spread = [30.0, 2.0, far][i % 3];
        let mut vector = || -> Vec<f64> {
            let one = |_| {
                let size = (scale - random.within(0.0, spread)).exp2() * random.within(1.0, 2.0);
                p.round(if random.below(2) == 0 { size } else { -size })
            };
            (0..width).map(one).collect()
        };
        let (a, mut b) = (vector(), vector());
        if i % 5 == 0 {
            // Close together, where a difference cancels.
            b = a.iter().map(|&x| p.step(x, random.below(9) as i64 - 4)).collect();
        }
        list.push((a, b));
    }
    list
}

/// Calls a function of one vector or two; gives a value or a vector for each.
fn call(bench: &Bench, name: &str, p: Precision, width: usize, pairs: &[Pair]) -> Vec<Vec<f64>> {
    let t = p.name();
    let load = |a: &str| if width == 1 { format!("{a}[i]") } else { format!("vload{width}(i, {a})") };
    let args = match name {
        "length" | "normalize" | "fast_length" | "fast_normalize" => load("a"),
        _ => format!("{}, {}", load("a"), load("b")),
    };
    let wide = width > 1 && ["normalize", "fast_normalize", "cross"].contains(&name);
    let lanes = if wide { width } else { 1 };
    let store = match wide {
        true => format!("vstore{width}({name}({args}), i, r);"),
        false => format!("r[i] = {name}({args});"),
    };
    let source = format!(
        "kernel void k(global const {t} *a, global const {t} *b, global {t} *r)\n\
         {{ size_t i = get_global_id(0); {store} }}\n"
    );
    let bytes = |side: fn(&Pair) -> &Vec<f64>| {
        let mut bytes = Vec::new();
        pairs.iter().flat_map(side).for_each(|&x| p.put(&mut bytes, x));
        bytes
    };
    let args =
        [Data::Bytes(&bytes(|p| &p.0)), Data::Bytes(&bytes(|p| &p.1)), Data::Fresh(pairs.len() * lanes * p.size())];
    let built = bench.build(&source, "").unwrap_or_else(|e| panic!("{name}: {e}"));
    let out = built.run("k", pairs.len(), 16, &args).unwrap_or_else(|e| panic!("{name}: {e}"));
    p.values(&out[2]).chunks(lanes).map(<[f64]>::to_vec).collect()
}

fn real(x: f64) -> Float {
    Float::with_val(BITS, x)
}

fn dot(a: &[f64], b: &[f64]) -> Float {
    a.iter().zip(b).fold(real(0.0), |sum, (&x, &y)| sum + real(x) * real(y))
}

fn length(a: &[f64]) -> Float {
    dot(a, a).sqrt()
}

fn distance(a: &[f64], b: &[f64]) -> Float {
    let squares = |sum: Float, (&x, &y): (&f64, &f64)| {
        let d = real(x) - real(y);
        sum + d.square()
    };
    a.iter().zip(b).fold(real(0.0), squares).sqrt()
}

const PRECISIONS: [Precision; 3] = [Precision::Single, Precision::Double, Precision::Half];

#[test]
fn lengths_and_distances_are_within_the_limits() {
    let bench = Bench::new(1);
    for p in PRECISIONS {
        for width in WIDTHS {
            let n = width as f64;
            let pairs = pairs(p, width, 2000);
            let limits = match p {
                Precision::Single => (2.75 + 0.5 * n, 2.5 + 2.0 * n),
                Precision::Double => (5.5 + n, 5.5 + 2.0 * n),
                Precision::Half => (0.25 + 0.5 * n, 2.0 * n),
            };
            for ((a, _), got) in pairs.iter().zip(call(&bench, "length", p, width, &pairs)) {
                let error = p.ulps(&length(a), got[0]);
                assert!(error <= limits.0, "length({a:?}) as {p:?} is {got:?}, {error} ULP off");
            }
            for ((a, b), got) in pairs.iter().zip(call(&bench, "distance", p, width, &pairs)) {
                let error = p.ulps(&distance(a, b), got[0]);
                assert!(error <= limits.1, "distance({a:?}, {b:?}) as {p:?} is {got:?}, {error} ULP off");
            }
        }
    }
}

#[test]
fn normalized_vectors_keep_their_direction() {
    let bench = Bench::new(1);
    for p in PRECISIONS {
        for width in WIDTHS {
            let mut pairs = pairs(p, width, 2000);
            pairs.retain(|(a, _)| a.iter().any(|&x| x != 0.0) && a.iter().all(|x| x.is_finite()));
            let limit = width as f64
                + match p {
                    Precision::Single => 2.0,
                    Precision::Double => 4.5,
                    Precision::Half => 1.0,
                };
            for ((a, _), got) in pairs.iter().zip(call(&bench, "normalize", p, width, &pairs)) {
                let length = length(a);
                for (&x, &y) in a.iter().zip(&got) {
                    let error = p.ulps(&(real(x) / &length), y);
                    assert!(error <= limit, "normalize({a:?}) as {p:?} is {got:?}, {error} ULP off");
                }
            }
        }
    }
}

#[test]
fn normalizing_keeps_zero_and_looks_along_infinities() {
    let bench = Bench::new(1);
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    for p in PRECISIONS {
        let cases: [[f64; 4]; 6] = [
            [0.0, -0.0, 0.0, 0.0],
            [1.0, nan, 2.0, 3.0],
            [inf, 5.0, -7.0, 0.0],
            [inf, 1.0, -inf, 3.0],
            [inf, nan, 0.0, 0.0],
            [-inf, inf, inf, -inf],
        ];
        let half = 0.5f64.sqrt();
        let want: [[f64; 4]; 6] = [
            [0.0, -0.0, 0.0, 0.0],
            [nan; 4],
            [1.0, 0.0, -0.0, 0.0],
            [half, 0.0, -half, 0.0],
            [nan; 4],
            [-0.5, 0.5, 0.5, -0.5],
        ];
        let pairs: Vec<Pair> = cases.iter().map(|c| (c.to_vec(), c.to_vec())).collect();
        for ((got, want), case) in call(&bench, "normalize", p, 4, &pairs).iter().zip(want).zip(cases) {
            for (&g, w) in got.iter().zip(want) {
                let close = (g - w).abs() < 2f64.powi(-11) && g.is_sign_negative() == w.is_sign_negative();
                assert!(close || (g.is_nan() && w.is_nan()), "normalize({case:?}) is {got:?}");
            }
        }
    }
}

#[test]
fn products_are_within_their_absolute_tolerance() {
    let bench = Bench::new(1);
    for p in PRECISIONS {
        // The specification says FLT_EPSILON for double too; its own is what a user expects.
        let epsilon = 2f64.powi(1 - p.digits());
        for width in WIDTHS {
            let mut pairs = pairs(p, width, 2000);
            // Overflow of a product is allowed.
            let most = 2f64.powi(p.overflow_exponent() / 2 - 4);
            pairs.retain(|(a, b)| a.iter().chain(b).all(|x| x.abs() < most));
            let tolerance = |a: &[f64], b: &[f64], terms: f64| {
                let largest = a.iter().chain(b).fold(0.0, |m: f64, x| m.max(x.abs()));
                // One unit of the denormal numbers for each term, where the product lies among them.
                real(largest).square() * (terms * epsilon) + real(p.from_bits(1)) * terms
            };
            for ((a, b), got) in pairs.iter().zip(call(&bench, "dot", p, width, &pairs)) {
                let error = (dot(a, b) - got[0]).abs();
                let terms = 2.0 * width as f64 - 1.0;
                assert!(error <= tolerance(a, b, terms), "dot({a:?}, {b:?}) as {p:?} is {got:?}, {error} off");
            }
            if width < 3 {
                continue;
            }
            for ((a, b), got) in pairs.iter().zip(call(&bench, "cross", p, width, &pairs)) {
                for i in 0..3 {
                    let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                    let want = real(a[j]) * b[k] - real(a[k]) * real(b[j]);
                    let error = (want - got[i]).abs();
                    assert!(error <= tolerance(a, b, 3.0), "cross({a:?}, {b:?}) as {p:?} is {got:?}, {error} off");
                }
                assert!(width == 3 || got[3] == 0.0);
            }
        }
    }
}

#[test]
fn the_fast_forms_are_close_within_the_range_of_squares() {
    let bench = Bench::new(1);
    let p = Precision::Single;
    for width in WIDTHS {
        let mut pairs = pairs(p, width, 2000);
        pairs.retain(|(a, b)| a.iter().chain(b).all(|x| (1e-15..1e15).contains(&x.abs())));
        assert!(pairs.len() > 400);
        for ((a, _), got) in pairs.iter().zip(call(&bench, "fast_length", p, width, &pairs)) {
            assert!(p.ulps(&length(a), got[0]) <= 8191.5 + width as f64, "fast_length({a:?}) is {got:?}");
        }
        let apart: Vec<Pair> = pairs.iter().filter(|(a, b)| distance(a, b) > 1e-15).cloned().collect();
        for ((a, b), got) in apart.iter().zip(call(&bench, "fast_distance", p, width, &apart)) {
            let error = p.ulps(&distance(a, b), got[0]);
            assert!(error <= 8191.5 + 2.0 * width as f64, "fast_distance({a:?}, {b:?}) is {got:?}");
        }
        for ((a, _), got) in pairs.iter().zip(call(&bench, "fast_normalize", p, width, &pairs)) {
            let length = length(a);
            for (&x, &y) in a.iter().zip(&got) {
                let error = p.ulps(&(real(x) / &length), y);
                assert!(error <= 8192.0 + width as f64, "fast_normalize({a:?}) is {got:?}");
            }
        }
    }
}
