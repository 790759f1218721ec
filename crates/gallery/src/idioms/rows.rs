//! Idioms in which a work-item has a row of its own: matrix times vector, rows of a sparse matrix, stretches of a text.

use super::Argument::{Count, In, Out};
use super::memory::floats;
use super::{Ask, Data, Form, Idiom, PLAIN, Problem, Want};
use crate::inputs;
use crate::program::Work;
use crate::random::Random;

pub(super) const ALL: &[Idiom] = &[
    Idiom {
        name: "matvec",
        about: "a matrix times a vector",
        source: include_str!("../../kernels/idioms/matvec.cl"),
        kernel: "matvec",
        forms: &[
            Form { name: "plain", options: "" },
            Form { name: "pointer", options: "-DPOINTER" },
            Form { name: "temporaries", options: "-DTEMPORARIES" },
            Form { name: "restrict", options: "-DRESTRICT=restrict" },
        ],
        size: (2048, 4096),
        group: (64, 1),
        tiled: false,
        problem: matvec,
    },
    Idiom {
        name: "rows",
        about: "the distance of each element from its row's largest",
        source: include_str!("../../kernels/idioms/rows.cl"),
        kernel: "rows",
        forms: PLAIN,
        size: (256, 4096),
        group: (64, 1),
        tiled: false,
        problem: rows,
    },
    Idiom {
        name: "csr",
        about: "a sparse matrix times a vector",
        source: include_str!("../../kernels/idioms/csr.cl"),
        kernel: "csr",
        forms: PLAIN,
        size: (256, 256),
        group: (64, 1),
        tiled: false,
        problem: csr,
    },
    Idiom {
        name: "find",
        about: "where a pattern occurs in a text",
        source: include_str!("../../kernels/idioms/find.cl"),
        kernel: "find",
        forms: PLAIN,
        size: (1024, 1024),
        group: (64, 1),
        tiled: false,
        problem: find,
    },
    Idiom {
        name: "lines",
        about: "lines and words of stretches of a text",
        source: include_str!("../../kernels/idioms/lines.cl"),
        kernel: "lines",
        forms: PLAIN,
        size: (4096, 2048),
        group: (64, 1),
        tiled: false,
        problem: lines,
    },
];

/// The most elements of a sparse row.
const LONGEST: usize = 48;
/// Bytes of a text that a work-item of `lines` reads.
const STRETCH: usize = 256;

/// The sum of products, and the bound of its error in any order of summation.
fn dot(products: impl Iterator<Item = (f32, f32)>) -> (f64, f64) {
    let (mut sum, mut size, mut count) = (0.0, 0.0, 2.0);
    for (a, b) in products {
        let product = f64::from(a) * f64::from(b);
        sum += product;
        size += product.abs();
        count += 1.0;
    }
    (sum, size * count * f64::from(f32::EPSILON))
}

fn matvec(ask: &Ask) -> Problem {
    let (columns, rows) = (ask.w, ask.h);
    let (a, x) = (floats(1, rows * columns), floats(2, columns));
    let of_row = |row: &[f32]| dot(row.iter().copied().zip(x.iter().copied()));
    let (want, tolerance) = a.chunks_exact(columns).map(of_row).unzip();
    let work = Work::of_flops((rows * columns * 2) as f64).moving((rows * columns + rows + columns) * 4);
    let out = Out(Want::Floats(want, tolerance));
    let args = vec![In(Data::Floats(a)), In(Data::Floats(x)), out, Count(rows), Count(columns)];
    Problem::line(rows, ask.group(), work, args)
}

fn rows(ask: &Ask) -> Problem {
    let (width, height) = (ask.w, ask.h);
    let input = floats(3, width * height);
    let of_row = |row: &[f32]| {
        let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        // Rounded as the device rounds it.
        row.iter().map(|&v| f64::from(largest - v)).collect::<Vec<f64>>()
    };
    let want: Vec<f64> = input.chunks_exact(width).flat_map(of_row).collect();
    let exact = vec![0.0; want.len()];
    let args = vec![In(Data::Floats(input)), Out(Want::Floats(want, exact)), Count(height), Count(width)];
    Problem::line(height, ask.group(), Work::of_bytes(width * height * 8), args)
}

fn csr(ask: &Ask) -> Problem {
    let rows = ask.n();
    let mut random = Random::new(4);
    let mut starts = vec![0];
    for _ in 0..rows {
        starts.push(starts[starts.len() - 1] + random.below(LONGEST + 1));
    }
    // Where all rows are empty, the arrays have an element that is not read.
    let count = starts[rows].max(1);
    let columns: Vec<usize> = (0..count).map(|_| random.below(rows)).collect();
    let (values, x) = (floats(5, count), floats(6, rows));
    let of_row = |row: &[usize]| dot((row[0]..row[1]).map(|j| (values[j], x[columns[j]])));
    let (want, tolerance) = starts.windows(2).map(of_row).unzip();
    let work = Work::of_flops(count as f64 * 2.0).moving(count * 8 + rows * 12);
    let args = vec![
        In(Data::Indices(starts)),
        In(Data::Indices(columns)),
        In(Data::Floats(values)),
        In(Data::Floats(x)),
        Out(Want::Floats(want, tolerance)),
        Count(rows),
    ];
    Problem::line(rows, ask.group(), work, args)
}

fn find(ask: &Ask) -> Problem {
    let n = ask.n();
    let text = inputs::text(n);
    let pattern = b"the ".to_vec();
    let mut want = vec![0u8; n];
    for (i, window) in text.windows(pattern.len()).enumerate() {
        want[i] = u8::from(window == pattern);
    }
    let length = pattern.len();
    let (text, pattern) = (In(Data::Bytes(text)), In(Data::Bytes(pattern)));
    let args = vec![text, Count(n), pattern, Count(length), Out(Want::Bytes(want, 0))];
    Problem::line(n, ask.group(), Work::of_bytes(n * 2), args)
}

fn lines(ask: &Ask) -> Problem {
    let n = ask.n();
    let text = inputs::text(n);
    let mut want = vec![0; n.div_ceil(STRETCH) * 2];
    for (i, &c) in text.iter().enumerate() {
        // Also across the start of a stretch: a word that goes on from the stretch before is not counted again.
        let before = if i > 0 { text[i - 1] } else { b' ' };
        want[i / STRETCH * 2] += u32::from(c == b'\n');
        want[i / STRETCH * 2 + 1] += u32::from(c > b' ' && before <= b' ');
    }
    let args = vec![In(Data::Bytes(text)), Count(n), Count(STRETCH), Out(Want::Words(want))];
    Problem::line(n.div_ceil(STRETCH), ask.group(), Work::of_bytes(n), args)
}
