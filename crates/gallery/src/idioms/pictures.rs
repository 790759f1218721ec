//! Idioms on pictures and signals: stencil, convolution, life, scaling, brightness, the Mandelbrot set.

use super::Argument::{Count, F32, In, Out, U32};
use super::memory::floats;
use super::{Ask, Data, Form, Idiom, PLAIN, Problem, Want};
use crate::program::Work;
use crate::random::Random;

pub(super) const ALL: &[Idiom] = &[
    Idiom {
        name: "stencil",
        about: "a weighted mean of 3x3 neighbours",
        source: include_str!("../../kernels/idioms/stencil.cl"),
        kernel: "stencil",
        forms: &[
            Form { name: "plain", options: "" },
            Form { name: "flat", options: "-DFLAT" },
            Form { name: "clamped", options: "-DCLAMPED" },
        ],
        size: (4096, 1024),
        group: (16, 16),
        tiled: false,
        problem: stencil,
    },
    Idiom {
        name: "convolution",
        about: "nine weights in a private array",
        source: include_str!("../../kernels/idioms/convolution.cl"),
        kernel: "convolution",
        forms: &[Form { name: "plain", options: "" }, Form { name: "constant", options: "-DCONSTANT" }],
        size: (2048, 2048),
        group: (64, 1),
        tiled: false,
        problem: convolution,
    },
    Idiom {
        name: "life",
        about: "the Game of Life, a cell a work-item",
        source: include_str!("../../kernels/idioms/life.cl"),
        kernel: "life",
        forms: PLAIN,
        size: (4096, 1024),
        group: (32, 8),
        tiled: false,
        problem: life,
    },
    Idiom {
        name: "life16",
        about: "the Game of Life, sixteen cells a work-item",
        source: include_str!("../../kernels/idioms/life16.cl"),
        kernel: "life16",
        forms: PLAIN,
        size: (4096, 2048),
        group: (16, 16),
        tiled: false,
        problem: life16,
    },
    Idiom {
        name: "bilinear",
        about: "a picture at another size",
        source: include_str!("../../kernels/idioms/bilinear.cl"),
        kernel: "bilinear",
        forms: PLAIN,
        size: (1024, 768),
        group: (16, 16),
        tiled: false,
        problem: bilinear,
    },
    Idiom {
        name: "grey",
        about: "brightness of pixels of four bytes",
        source: include_str!("../../kernels/idioms/grey.cl"),
        kernel: "grey",
        forms: &[Form { name: "plain", options: "" }, Form { name: "floats", options: "-DFLOATS" }],
        size: (2048, 1024),
        group: (64, 1),
        tiled: false,
        problem: grey,
    },
    Idiom {
        name: "mandelbrot",
        about: "the Mandelbrot set",
        source: include_str!("../../kernels/idioms/mandelbrot.cl"),
        kernel: "mandelbrot",
        forms: &[Form { name: "plain", options: "" }, Form { name: "break", options: "-DBREAK" }],
        size: (256, 256),
        group: (16, 16),
        tiled: false,
        problem: mandelbrot,
    },
];

/// Repetitions of `mandelbrot`.
const LIMIT: u32 = 256;
/// The weights of `convolution`.
const WEIGHTS: [f64; 9] = [0.02, 0.06, 0.12, 0.18, 0.24, 0.18, 0.12, 0.06, 0.02];
/// Rounding of a handful of additions of numbers around one.
const ROUNDING: f64 = 16.0 * f32::EPSILON as f64;

fn stencil(ask: &Ask) -> Problem {
    let (w, h) = (ask.w, ask.h);
    let input = floats(1, w * h);
    let at = |x: usize, y: usize, dx: usize, dy: usize| {
        let inside = |v: usize, d: usize, n: usize| (v + d).saturating_sub(1).min(n - 1);
        f64::from(input[inside(y, dy, h) * w + inside(x, dx, w)])
    };
    let mut want = Vec::with_capacity(w * h);
    for (y, x) in (0..h).flat_map(|y| (0..w).map(move |x| (y, x))) {
        let edge = x == 0 || y == 0 || x == w - 1 || y == h - 1;
        if edge && !ask.is("clamped") {
            want.push(at(x, y, 1, 1));
            continue;
        }
        let weight = |d: usize| if d == 1 { 0.5 } else { 0.25 };
        let parts = (0..9).map(|k| weight(k % 3) * weight(k / 3) * at(x, y, k % 3, k / 3));
        want.push(parts.sum());
    }
    let tolerance = vec![ROUNDING; want.len()];
    let args = vec![In(Data::Floats(input)), Out(Want::Floats(want, tolerance)), Count(w), Count(h)];
    let work = Work::of_bytes(w * h * 8).computing((w * h * 12) as f64);
    if ask.is("flat") { Problem::line(w * h, ask.group(), work, args) } else { Problem::plane((w, h), ask, work, args) }
}

fn convolution(ask: &Ask) -> Problem {
    let n = ask.n();
    let input = floats(2, n);
    let at = |i: usize| {
        let inside = |k: &usize| (i + k).checked_sub(4).is_some_and(|j| j < n);
        (0..9).filter(inside).map(|k| WEIGHTS[k] * f64::from(input[i + k - 4])).sum::<f64>()
    };
    let want: Vec<f64> = (0..n).map(at).collect();
    let args = vec![In(Data::Floats(input)), Out(Want::Floats(want, vec![ROUNDING; n])), Count(n)];
    Problem::line(n, ask.group(), Work::of_bytes(n * 8).computing(n as f64 * 18.0), args)
}

/// A random board, and the next one; beyond the edge all cells are dead.
fn boards(w: usize, h: usize) -> (Vec<u8>, Vec<u8>) {
    let mut random = Random::new(3);
    let board: Vec<u8> = (0..w * h).map(|_| u8::from(random.below(3) == 0)).collect();
    let alive = |x: usize, y: usize| {
        // Coordinates are off by one, so that those beyond the edge are numbers too.
        let inside = (1..=w).contains(&x) && (1..=h).contains(&y);
        if inside { board[(y - 1) * w + x - 1] } else { 0 }
    };
    let mut next = Vec::with_capacity(w * h);
    for (y, x) in (0..h).flat_map(|y| (0..w).map(move |x| (y, x))) {
        let around: u8 = (0..9).filter(|&k| k != 4).map(|k| alive(x + k % 3, y + k / 3)).sum();
        next.push(u8::from(around == 3 || (around == 2 && alive(x + 1, y + 1) == 1)));
    }
    (board, next)
}

fn life(ask: &Ask) -> Problem {
    let (w, h) = (ask.w, ask.h);
    let (board, next) = boards(w, h);
    let args = vec![In(Data::Bytes(board)), Out(Want::Bytes(next, 0)), Count(w), Count(h)];
    Problem::plane((w, h), ask, Work::new((w * h) as f64, "cell").moving(w * h * 2), args)
}

fn life16(ask: &Ask) -> Problem {
    let (w, h) = (ask.w.next_multiple_of(16), ask.h);
    let (board, next) = boards(w, h);
    // Sixteen dead cells on either side and a dead row above and below: vectors are loaded without a test for the edge.
    let pitch = w + 32;
    let bordered = |cells: &[u8]| {
        let mut all = vec![0u8; pitch * (h + 2)];
        for (y, row) in cells.chunks_exact(w).enumerate() {
            all[(y + 1) * pitch + 16..][..w].copy_from_slice(row);
        }
        all
    };
    let args = vec![In(Data::Bytes(bordered(&board))), Out(Want::Bytes(bordered(&next), 0)), Count(pitch), Count(h)];
    Problem::plane((w / 16, h), ask, Work::new((w * h) as f64, "cell").moving(w * h * 2), args)
}

fn bilinear(ask: &Ask) -> Problem {
    let (w, h) = (ask.w, ask.h);
    let (from_w, from_h) = (w.div_ceil(2), h.div_ceil(2));
    let input = floats(4, from_w * from_h);
    let mut want = Vec::with_capacity(w * h);
    let between = |a: f64, b: f64, part: f64| a + (b - a) * part;
    for (y, x) in (0..h).flat_map(|y| (0..w).map(move |x| (y, x))) {
        let (sx, sy) = (((from_w - 1) * x) as f64 / w as f64, ((from_h - 1) * y) as f64 / h as f64);
        let (x0, y0) = (sx as usize, sy as usize);
        let (x1, y1) = ((x0 + 1).min(from_w - 1), (y0 + 1).min(from_h - 1));
        let at = |x: usize, y: usize| f64::from(input[y * from_w + x]);
        let (fx, fy) = (sx.fract(), sy.fract());
        want.push(between(between(at(x0, y0), at(x1, y0), fx), between(at(x0, y1), at(x1, y1), fx), fy));
    }
    // The place is rounded; so near a pixel, the two sides of it meet, and no more than this is lost anywhere.
    let lost = 8.0 * f64::from(f32::EPSILON) * w.max(h) as f64;
    let tolerance = vec![lost + ROUNDING; want.len()];
    let args = vec![
        In(Data::Floats(input)),
        Out(Want::Floats(want, tolerance)),
        Count(from_w),
        Count(from_h),
        Count(w),
        Count(h),
    ];
    Problem::plane((w, h), ask, Work::new((w * h) as f64, "pixel").moving((w * h + from_w * from_h) * 4), args)
}

fn grey(ask: &Ask) -> Problem {
    let n = ask.n();
    let mut random = Random::new(5);
    let pixels: Vec<u8> = (0..n).flat_map(|_| (random.next() as u32).to_le_bytes()).collect();
    let bright = |p: &[u8]| {
        let [r, g, b] = [0, 1, 2].map(|c| f64::from(p[c]));
        if ask.is("floats") {
            (0.299 * r + 0.587 * g + 0.114 * b).round_ties_even() as u8
        } else {
            ((77 * u32::from(p[0]) + 150 * u32::from(p[1]) + 29 * u32::from(p[2]) + 128) / 256) as u8
        }
    };
    let want: Vec<u8> = pixels.chunks_exact(4).map(bright).collect();
    // A sum of floats that is nearly halfway may be rounded to either side.
    let within = u8::from(ask.is("floats"));
    let args = vec![In(Data::Bytes(pixels)), Out(Want::Bytes(want, within)), Count(n)];
    Problem::line(n, ask.group(), Work::new(n as f64, "pixel").moving(n * 5), args)
}

fn mandelbrot(ask: &Ask) -> Problem {
    let (w, h) = (ask.w, ask.h);
    let (dx, dy) = (3.0 / w as f32, 3.0 / h as f32);
    let mut want = Vec::with_capacity(w * h);
    for (py, px) in (0..h).flat_map(|y| (0..w).map(move |x| (y, x))) {
        let (cx, cy) = (-2.25 + dx * px as f32, -1.5 + dy * py as f32);
        let (mut x, mut y, mut n) = (0.0f32, 0.0f32, 0);
        while n < LIMIT && x * x + y * y <= 4.0 {
            (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
            n += 1;
        }
        want.push(n);
    }
    let steps = want.iter().map(|&n| f64::from(n)).sum::<f64>();
    let args = vec![Out(Want::Words(want)), Count(w), Count(h), U32(LIMIT), F32(dx), F32(dy)];
    Problem::plane((w, h), ask, Work::new(steps, "step").moving(w * h * 4), args)
}
