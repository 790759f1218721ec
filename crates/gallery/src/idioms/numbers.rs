//! Idioms of arithmetic: a table that is looked up, Black and Scholes' formula, the pull of bodies on each other.

use super::Argument::{Count, F32, In, Out};
use super::memory::floats;
use super::{Ask, Data, Form, Idiom, PLAIN, Problem, Want};
use crate::program::Work;
use crate::random::Random;

pub(super) const ALL: &[Idiom] = &[
    Idiom {
        name: "table",
        about: "a private table, looked up by the data",
        source: include_str!("../../kernels/idioms/table.cl"),
        kernel: "table",
        forms: &[Form { name: "plain", options: "" }, Form { name: "constant", options: "-DCONSTANT" }],
        size: (1024, 512),
        group: (64, 1),
        tiled: false,
        problem: table,
    },
    Idiom {
        name: "black_scholes",
        about: "prices of options: exp, log, sqrt",
        source: include_str!("../../kernels/idioms/black_scholes.cl"),
        kernel: "black_scholes",
        forms: PLAIN,
        size: (512, 512),
        group: (64, 1),
        tiled: false,
        problem: black_scholes,
    },
    Idiom {
        name: "nbody",
        about: "the pull of all bodies on each one",
        source: include_str!("../../kernels/idioms/nbody.cl"),
        kernel: "nbody",
        forms: &[Form { name: "plain", options: "" }, Form { name: "components", options: "-DCOMPONENTS" }],
        size: (2048, 1),
        group: (64, 1),
        tiled: false,
        problem: nbody,
    },
];

const RATE: f32 = 0.02;
const VOLATILITY: f32 = 0.3;

fn table(ask: &Ask) -> Problem {
    let n = ask.n();
    let mut random = Random::new(1);
    // Words of all lengths, so that neighbours look up different numbers of times.
    let input: Vec<u32> = (0..n).map(|_| (random.next() as u32) >> random.below(32)).collect();
    let want = input.iter().map(|w| w.count_ones()).collect();
    let args = vec![In(Data::Words(input)), Out(Want::Words(want)), Count(n)];
    Problem::line(n, ask.group(), Work::of_bytes(n * 8), args)
}

/// The distribution function of the normal distribution, by the same polynomial (Abramowitz and Stegun 26.2.17) in
/// double precision.
fn normal_distribution(d: f64) -> f64 {
    let k = 1.0 / (1.0 + 0.231_641_9 * d.abs());
    let weights = [1.330_274_429, -1.821_255_978, 1.781_477_937, -0.356_563_782, 0.319_381_530];
    let polynomial = weights.iter().fold(0.0, |sum, weight| (sum + weight) * k);
    let tail = (-0.5 * d * d).exp() / std::f64::consts::TAU.sqrt() * polynomial;
    if d > 0.0 { 1.0 - tail } else { tail }
}

fn black_scholes(ask: &Ask) -> Problem {
    let n = ask.n();
    let between = |seed: u64, low: f32, high: f32| -> Vec<f32> {
        floats(seed, n).iter().map(|v| low + (high - low) * (0.5 + 0.5 * v)).collect()
    };
    let (stock, strike, years) = (between(2, 5.0, 30.0), between(3, 1.0, 100.0), between(4, 0.25, 10.0));
    let (rate, volatility) = (f64::from(RATE), f64::from(VOLATILITY));
    let (mut call, mut put, mut tolerance) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..n {
        let (s, x, t) = (f64::from(stock[i]), f64::from(strike[i]), f64::from(years[i]));
        let d1 = ((s / x).ln() + (rate + 0.5 * volatility * volatility) * t) / (volatility * t.sqrt());
        let d2 = d1 - volatility * t.sqrt();
        let (c1, c2, discounted) = (normal_distribution(d1), normal_distribution(d2), x * (-rate * t).exp());
        call.push(s * c1 - discounted * c2);
        put.push(discounted * (1.0 - c2) - s * (1.0 - c1));
        // A difference of two numbers of this size, each off by some roundings.
        tolerance.push(64.0 * f64::from(f32::EPSILON) * (s + x));
    }
    let args = vec![
        In(Data::Floats(stock)),
        In(Data::Floats(strike)),
        In(Data::Floats(years)),
        Out(Want::Floats(call, tolerance.clone())),
        Out(Want::Floats(put, tolerance)),
        F32(RATE),
        F32(VOLATILITY),
        Count(n),
    ];
    Problem::line(n, ask.group(), Work::new(n as f64, "option").moving(n * 20), args)
}

fn nbody(ask: &Ask) -> Problem {
    let n = ask.w;
    // A mass is positive, so that a sum's error is small beside the sum of the sizes.
    let bodies: Vec<f32> =
        floats(5, 4 * n).iter().enumerate().map(|(i, &v)| if i % 4 == 3 { v.abs() } else { v }).collect();
    let (mut want, mut tolerance) = (Vec::new(), Vec::new());
    for own in bodies.chunks_exact(4) {
        let (mut pull, mut size) = ([0.0; 3], 0.0);
        for other in bodies.chunks_exact(4) {
            let d = [0, 1, 2].map(|k| f64::from(other[k]) - f64::from(own[k]));
            let square = d.iter().map(|d| d * d).sum::<f64>() + 0.01f64;
            let strength = f64::from(other[3]) / (square * square.sqrt());
            (0..3).for_each(|k| pull[k] += strength * d[k]);
            size += strength * square.sqrt();
        }
        want.extend(pull.into_iter().chain([0.0]));
        tolerance.extend([size * (n as f64 + 32.0) * f64::from(f32::EPSILON); 4]);
    }
    let args = vec![In(Data::Floats(bodies)), Out(Want::Floats(want, tolerance)), Count(n)];
    let pairs = (n * n) as f64;
    Problem::line(n, ask.group(), Work::new(pairs, "pair").computing(pairs * 18.0), args)
}
