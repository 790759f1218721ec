//! Idioms that move memory: saxpy, strided copies, gathers, scatters, transposes, vectors of three floats, records.

use super::Argument::{Count, F32, In, Out, Update};
use super::{Ask, Data, Form, Idiom, PLAIN, Problem, Want};
use crate::program::Work;
use crate::random::Random;

pub(super) const ALL: &[Idiom] = &[
    Idiom {
        name: "saxpy",
        about: "y = a x + y",
        source: include_str!("../../kernels/idioms/saxpy.cl"),
        kernel: "saxpy",
        forms: &[
            Form { name: "plain", options: "" },
            Form { name: "compound", options: "-DCOMPOUND" },
            Form { name: "restrict", options: "-DRESTRICT=restrict" },
        ],
        size: (4096, 2048),
        group: (256, 1),
        tiled: false,
        problem: saxpy,
    },
    Idiom {
        name: "strided",
        about: "a copy with a stride that is an argument",
        source: include_str!("../../kernels/idioms/strided.cl"),
        kernel: "strided",
        forms: &[Form { name: "reads", options: "" }, Form { name: "writes", options: "-DWRITES" }],
        size: (2048, 2048),
        group: (64, 1),
        tiled: false,
        problem: strided,
    },
    Idiom {
        name: "gather",
        about: "reads through an array of indices",
        source: include_str!("../../kernels/idioms/gather.cl"),
        kernel: "gather",
        forms: PLAIN,
        size: (2048, 1024),
        group: (256, 1),
        tiled: false,
        problem: gather,
    },
    Idiom {
        name: "scatter",
        about: "writes through an array of indices",
        source: include_str!("../../kernels/idioms/scatter.cl"),
        kernel: "scatter",
        forms: PLAIN,
        size: (1024, 1024),
        group: (256, 1),
        tiled: false,
        problem: scatter,
    },
    Idiom {
        name: "transpose",
        about: "a matrix turned over its diagonal",
        source: include_str!("../../kernels/idioms/transpose.cl"),
        kernel: "transpose",
        forms: &[Form { name: "plain", options: "" }, Form { name: "local", options: "-DLOCAL_TILE" }],
        size: (2048, 2048),
        group: (16, 16),
        tiled: true,
        problem: transpose,
    },
    Idiom {
        name: "float3",
        about: "vectors of three floats are made one long",
        source: include_str!("../../kernels/idioms/float3.cl"),
        kernel: "float3_unit",
        forms: &[Form { name: "plain", options: "" }, Form { name: "vload", options: "-DVLOAD" }],
        size: (2048, 1024),
        group: (64, 1),
        tiled: false,
        problem: float3,
    },
    Idiom {
        name: "records",
        about: "records with arrays in them",
        source: include_str!("../../kernels/idioms/records.cl"),
        kernel: "records",
        forms: &[Form { name: "plain", options: "" }, Form { name: "copied", options: "-DCOPIED" }],
        size: (1024, 512),
        group: (64, 1),
        tiled: false,
        problem: records,
    },
];

/// The stride of `strided`.
const STRIDE: usize = 3;
/// The step of `records`: a power of two, so that a step is rounded once, whether fused or not.
const STEP: f32 = 0.125;
/// Words of a record.
const RECORD: usize = 8;

/// `n` numbers of [-1, 1).
pub(super) fn floats(seed: u64, n: usize) -> Vec<f32> {
    let mut random = Random::new(seed);
    (0..n).map(|_| random.signed()).collect()
}

fn saxpy(ask: &Ask) -> Problem {
    let (n, a) = (ask.n(), 0.75f32);
    let (x, y) = (floats(1, n), floats(2, n));
    let (mut want, mut tolerance) = (Vec::new(), Vec::new());
    for (&x, &y) in x.iter().zip(&y) {
        let product = f64::from(a) * f64::from(x);
        want.push(product + f64::from(y));
        // Room for two roundings, each of half an epsilon of what it rounds; a compiler that fuses both operations
        // rounds once.
        tolerance.push(2.0 * f64::from(f32::EPSILON) * (product.abs() + f64::from(y).abs()));
    }
    let args = vec![Update(Data::Floats(y), Want::Floats(want, tolerance)), In(Data::Floats(x)), F32(a), Count(n)];
    Problem::line(n, ask.group(), Work::of_bytes(n * 12), args)
}

fn strided(ask: &Ask) -> Problem {
    let n = ask.n();
    let of_words = |v: &[f32]| v.iter().map(|&v| f64::from(v)).collect::<Vec<f64>>();
    let (input, want) = if ask.is("writes") {
        let input = floats(3, n);
        let mut want = vec![0.0; n * STRIDE];
        input.iter().enumerate().for_each(|(i, &v)| want[i * STRIDE] = v);
        (input, want)
    } else {
        let input = floats(3, n * STRIDE);
        let want = input.iter().step_by(STRIDE).copied().collect();
        (input, want)
    };
    let exact = vec![0.0; want.len()];
    let args = vec![In(Data::Floats(input)), Out(Want::Floats(of_words(&want), exact)), Count(n), Count(STRIDE)];
    Problem::line(n, ask.group(), Work::of_bytes(n * 8), args)
}

/// A permutation of the numbers below `n`.
fn permutation(n: usize) -> Vec<usize> {
    let mut random = Random::new(4);
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, random.below(i + 1));
    }
    order
}

fn indexed(ask: &Ask, want: Vec<f32>, input: Vec<f32>, index: Vec<usize>) -> Problem {
    let n = ask.n();
    let want = Want::Floats(want.into_iter().map(f64::from).collect(), vec![0.0; n]);
    let args = vec![In(Data::Floats(input)), In(Data::Indices(index)), Out(want), Count(n)];
    Problem::line(n, ask.group(), Work::of_bytes(n * 12), args)
}

fn gather(ask: &Ask) -> Problem {
    let (input, index) = (floats(5, ask.n()), permutation(ask.n()));
    indexed(ask, index.iter().map(|&i| input[i]).collect(), input, index)
}

fn scatter(ask: &Ask) -> Problem {
    let (input, index) = (floats(5, ask.n()), permutation(ask.n()));
    let mut want = vec![0.0; ask.n()];
    // As it is a permutation, no two work-items write the same element, and the result does not depend on their order.
    index.iter().zip(&input).for_each(|(&i, &v)| want[i] = v);
    indexed(ask, want, input, index)
}

fn transpose(ask: &Ask) -> Problem {
    let (w, h) = (ask.w, ask.h);
    let input = floats(6, w * h);
    let want: Vec<f64> = (0..w * h).map(|i| f64::from(input[i % h * w + i / h])).collect();
    let exact = vec![0.0; want.len()];
    let args = vec![In(Data::Floats(input)), Out(Want::Floats(want, exact)), Count(w), Count(h)];
    Problem::plane((w, h), ask, Work::of_bytes(w * h * 8), args)
}

fn float3(ask: &Ask) -> Problem {
    let n = ask.n();
    // Two thirds of the components are far from zero: no vector is short.
    let input: Vec<f32> =
        floats(7, 3 * n).iter().enumerate().map(|(i, &v)| if i % 3 == 0 { v } else { v + 3.0 }).collect();
    let (mut want, mut tolerance) = (Vec::new(), Vec::new());
    for v in input.chunks_exact(3) {
        let length = v.iter().map(|&c| f64::from(c) * f64::from(c)).sum::<f64>().sqrt();
        want.extend(v.iter().map(|&c| f64::from(c) / length));
        tolerance.extend([8.0 * f64::from(f32::EPSILON); 3]);
    }
    let args = vec![In(Data::Floats(input)), Out(Want::Floats(want, tolerance)), Count(n)];
    Problem::line(n, ask.group(), Work::of_bytes(n * 24).computing(n as f64 * 9.0), args)
}

fn records(ask: &Ask) -> Problem {
    let n = ask.n();
    let mut random = Random::new(8);
    let (mut input, mut want) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let position = [0; 3].map(|_| random.signed());
        let velocity = [0; 3].map(|_| 2.0 * random.signed());
        let (bounces, mass) = (random.below(100) as u32, random.signed());
        let record = |position: [f32; 3], velocity: [f32; 3], bounces: u32| {
            let floats = position.into_iter().chain(velocity).map(f32::to_bits);
            floats.chain([bounces, mass.to_bits()]).collect::<Vec<u32>>()
        };
        input.extend(record(position, velocity, bounces));
        let (mut next, mut turned, mut count) = (position, velocity, bounces);
        for k in 0..3 {
            next[k] += STEP * velocity[k];
            if next[k].abs() > 1.0 {
                turned[k] = -velocity[k];
                count += 1;
            }
        }
        want.extend(record(next, turned, count));
    }
    let args = vec![In(Data::Words(input)), Out(Want::Words(want)), Count(n)];
    Problem::line(n, ask.group(), Work::of_bytes(n * RECORD * 8), args)
}
