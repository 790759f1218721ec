//! Idioms of work-groups: reduction, histograms, scan, bitonic sort and matrix product. They use local memory, barriers
//! and atomic operations.

use super::Argument::{Count, In, Local, Out, Update};
use super::memory::floats;
use super::{Argument, Ask, Data, Form, Idiom, PLAIN, Problem, Want};
use crate::program::Work;
use crate::random::Random;

pub(super) const ALL: &[Idiom] = &[
    Idiom {
        name: "reduction",
        about: "the sum of a group by a tree",
        source: include_str!("../../kernels/idioms/reduction.cl"),
        kernel: "reduction",
        forms: &[
            Form { name: "plain", options: "" },
            Form { name: "pairs", options: "-DPAIRS" },
            Form { name: "grid_stride", options: "-DGRID_STRIDE" },
        ],
        size: (4096, 2048),
        group: (256, 1),
        tiled: false,
        problem: reduction,
    },
    Idiom {
        name: "histogram_local",
        about: "256 bins in local memory, along a grid-stride loop",
        source: include_str!("../../kernels/idioms/histogram_local.cl"),
        kernel: "histogram_local",
        forms: &[
            Form { name: "plain", options: "" },
            Form { name: "banks4", options: "-DBANKS=4" },
            Form { name: "banks16", options: "-DBANKS=16" },
            Form { name: "uint4", options: "-DREAD4" },
            Form { name: "uint4_banks2", options: "-DREAD4 -DBANKS=2" },
            Form { name: "uint4_banks8", options: "-DREAD4 -DBANKS=8" },
        ],
        size: (2048, 1024),
        group: (64, 1),
        tiled: false,
        problem: histogram_local,
    },
    Idiom {
        name: "histogram_global",
        about: "256 bins in global memory",
        source: include_str!("../../kernels/idioms/histogram_global.cl"),
        kernel: "histogram_global",
        forms: PLAIN,
        size: (1024, 256),
        group: (256, 1),
        tiled: false,
        problem: histogram_global,
    },
    Idiom {
        name: "scan",
        about: "the prefix sum of a group",
        source: include_str!("../../kernels/idioms/scan.cl"),
        kernel: "scan",
        forms: &[Form { name: "plain", options: "" }, Form { name: "blelloch", options: "-DBLELLOCH" }],
        size: (1024, 512),
        group: (128, 1),
        tiled: false,
        problem: scan,
    },
    Idiom {
        name: "bitonic",
        about: "bitonic sorting, a step or a group",
        source: include_str!("../../kernels/idioms/bitonic.cl"),
        kernel: "bitonic",
        forms: &[
            Form { name: "near", options: "" },
            Form { name: "far", options: "" },
            Form { name: "group", options: "-DWHOLE_GROUP" },
        ],
        size: (1024, 512),
        group: (128, 1),
        tiled: false,
        problem: bitonic,
    },
    Idiom {
        name: "matmul",
        about: "the product of square matrices by tiles",
        source: include_str!("../../kernels/idioms/matmul.cl"),
        kernel: "matmul",
        forms: &[Form { name: "plain", options: "" }, Form { name: "flat", options: "-DFLAT" }],
        size: (384, 384),
        group: (16, 16),
        tiled: true,
        problem: matmul,
    },
    Idiom {
        name: "blocking",
        about: "the product of square matrices, a block of it for each work-item",
        source: include_str!("../../kernels/idioms/blocking.cl"),
        kernel: "blocking",
        forms: &[
            Form { name: "plain", options: "-DROWS=4 -DCOLUMNS=4" },
            Form { name: "column", options: "-DROWS=8 -DCOLUMNS=1" },
            Form { name: "wide", options: "-DROWS=2 -DCOLUMNS=8" },
            Form { name: "large", options: "-DROWS=8 -DCOLUMNS=8" },
        ],
        size: (384, 384),
        group: (16, 16),
        tiled: true,
        problem: blocking,
    },
];

/// Groups of the kernels with a grid-stride loop.
const GROUPS: usize = 32;

fn words(seed: u64, n: usize) -> Vec<u32> {
    let mut random = Random::new(seed);
    (0..n).map(|_| random.next() as u32).collect()
}

fn sum(values: impl Iterator<Item = u32>) -> u32 {
    values.fold(0, u32::wrapping_add)
}

fn reduction(ask: &Ask) -> Problem {
    let (n, group) = (ask.n(), ask.group_of_two_to_the());
    let input = words(1, n);
    let args = |want, input| vec![In(Data::Words(input)), Out(Want::Words(want)), Count(n), Local(group * 4)];
    if ask.is("grid_stride") {
        let all = GROUPS * group;
        let mut want = vec![0u32; GROUPS];
        input.iter().enumerate().for_each(|(i, &v)| want[i % all / group] = want[i % all / group].wrapping_add(v));
        return Problem::line(all, group, Work::of_bytes(n * 4), args(want, input));
    }
    let want = input.chunks(group).map(|part| sum(part.iter().copied())).collect();
    Problem::line(n, group, Work::of_bytes(n * 4), args(want, input))
}

/// How often each byte occurs.
fn counts(bytes: impl Iterator<Item = u8>) -> Vec<u32> {
    let mut bins = vec![0u32; 256];
    bytes.for_each(|b| bins[usize::from(b)] += 1);
    bins
}

fn histogram_local(ask: &Ask) -> Problem {
    let n = ask.n().next_multiple_of(4);
    let input = words(2, n);
    let want = counts(input.iter().flat_map(|w| w.to_le_bytes()));
    // The kernel counts in what it reads at once.
    let count = if ask.form.starts_with("uint4") { n / 4 } else { n };
    let zeros = Data::Words(vec![0; 256]);
    let args = vec![In(Data::Words(input)), Count(count), Update(zeros, Want::Words(want))];
    Problem::line(GROUPS * ask.group(), ask.group(), Work::of_bytes(n * 4), args)
}

fn histogram_global(ask: &Ask) -> Problem {
    let n = ask.n();
    let input: Vec<u8> = words(3, n).into_iter().map(|w| (w >> 24) as u8).collect();
    let want = counts(input.iter().copied());
    let zeros = Data::Words(vec![0; 256]);
    let args = vec![In(Data::Bytes(input)), Update(zeros, Want::Words(want)), Count(n)];
    Problem::line(n, ask.group(), Work::of_bytes(n), args)
}

fn scan(ask: &Ask) -> Problem {
    let (n, group) = (ask.n(), ask.group_of_two_to_the());
    let input = words(4, n);
    let running = |part: &[u32]| {
        let mut sum = 0u32;
        let next = |&v: &u32| {
            sum = sum.wrapping_add(v);
            sum
        };
        part.iter().map(next).collect::<Vec<u32>>()
    };
    let want = input.chunks(group).flat_map(running).collect();
    let args = vec![In(Data::Words(input)), Out(Want::Words(want)), Count(n), Local(group * 4)];
    Problem::line(n, group, Work::of_bytes(n * 8), args)
}

fn bitonic(ask: &Ask) -> Problem {
    // Partners lie within the range, which is a power of two, as is the group.
    let n = ask.n().next_power_of_two().max(64);
    let group = ask.group_of_two_to_the().min(n);
    let input = words(5, n);
    let mut want = input.clone();
    // One step of the sort alone: the partner is a few or very many elements away.
    let (distance, length) = if ask.is("near") { (4, 16) } else { (n / 4, n / 2) };
    if ask.is("group") {
        want.chunks_mut(group).for_each(<[u32]>::sort_unstable);
    } else {
        for i in (0..n).filter(|i| i & distance == 0) {
            if (want[i] > want[i + distance]) == (i & length == 0) {
                want.swap(i, i + distance);
            }
        }
    }
    let mut args = vec![Update(Data::Words(input), Want::Words(want)), Count(distance), Count(length)];
    if ask.is("group") {
        args.push(Local(group * 4));
    }
    Problem::line(n, group, Work::of_bytes(n * 8), args)
}

fn matmul(ask: &Ask) -> Problem {
    let n = ask.w;
    let (args, work) = product(n);
    Problem::plane((n, n), ask, work, args)
}

fn blocking(ask: &Ask) -> Problem {
    let n = ask.w;
    let (rows, columns) = match ask.form {
        "column" => (8, 1),
        "wide" => (2, 8),
        "large" => (8, 8),
        _ => (4, 4),
    };
    let (args, work) = product(n);
    let groups = |block: usize| n.div_ceil(ask.tw * block) * ask.tw;
    Problem { args, global: vec![groups(columns), groups(rows)], local: vec![ask.tw, ask.th], work }
}

/// The arguments of a product of two matrices with `n` rows, and how much work it is.
fn product(n: usize) -> (Vec<Argument>, Work) {
    let (a, b) = (floats(6, n * n), floats(7, n * n));
    let (mut want, mut sizes) = (vec![0.0; n * n], vec![0.0; n * n]);
    for y in 0..n {
        // The loops in this order walk through both matrices along rows.
        for k in 0..n {
            let left = f64::from(a[y * n + k]);
            for x in 0..n {
                let product = left * f64::from(b[k * n + x]);
                want[y * n + x] += product;
                sizes[y * n + x] += product.abs();
            }
        }
    }
    // The bound of any order of summation.
    sizes.iter_mut().for_each(|s| *s *= (n + 2) as f64 * f64::from(f32::EPSILON));
    let args = vec![In(Data::Floats(a)), In(Data::Floats(b)), Out(Want::Floats(want, sizes)), Count(n)];
    (args, Work::of_flops(2.0 * (n as f64).powi(3)).moving(n * n * 12))
}
