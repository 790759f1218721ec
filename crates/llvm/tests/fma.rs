//! Fused operations on millions of numbers, of which many are hard: sums that are almost ties, denormal, too large, or
//! the rest of a cancellation.

mod common;

use cloom_ir::{Flags, Module, Scalar, Type};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 20) % n
    }

    /// A number of either sign with so many significant bits, between 2^`low` and 2^`high`.
    fn number(&mut self, bits: u64, low: i64, high: i64) -> f64 {
        let mantissa = 1 << (bits - 1) | self.next() & ((1 << (bits - 1)) - 1);
        let exponent = low + self.below((high - low) as u64) as i64 - (bits as i64 - 1);
        let size = mantissa as f64 * 2f64.powi((exponent / 2) as i32) * 2f64.powi((exponent - exponent / 2) as i32);
        if self.next() >> 63 == 0 { size } else { -size }
    }
}

/// The three operands; `p` is the precision of the type, and its normal numbers are those from 2^`least` to below
/// 2^`most`.
fn triple(random: &mut Random, p: u64, least: i64, most: i64) -> [f64; 3] {
    let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1.0, 2f64.powi(least as i32 + 1 - p as i32)];
    let bits = 2 + random.below(p - 1);
    match random.below(9) {
        // A product one bit too long, plus something tiny.
        0 => {
            let (a, b) = (random.number(p + 1 - p / 2, -3, 3), random.number(p / 2, -3, 3));
            [a, b, random.number(bits, -4 * p as i64, 8)]
        }
        // A sum a few bits too long: the bits of its parts adjoin.
        1 | 2 => [random.number(bits, -3, 3), random.number(p / 2, -3, 3), random.number(bits, -8, 8)],
        // A sum in which the high part of the product cancels.
        3 => {
            let (a, b) = (random.number(bits, -3, 3), random.number(p, -3, 3));
            [a, b, if p == 24 { f64::from(-(a * b) as f32) } else { -(a * b) }]
        }
        // Around the least numbers, and the largest.
        4 => {
            let shift = random.below(40) as i64 - 20;
            let half = least / 2;
            [random.number(bits, half - 20, half + 3), random.number(p, half + shift - 5, half + shift), {
                random.number(p, least - 12, least + 2) * f64::from(random.below(3) as u32 / 2)
            }]
        }
        5 => [random.number(p, most / 2 - 1, most / 2 + 1), random.number(bits, most / 2 - 1, most / 2 + 1), {
            random.number(p, most - p as i64 - 2, most)
        }],
        6 => [0; 3].map(|_| match random.below(3) {
            0 => special[random.below(special.len() as u64) as usize],
            _ => random.number(p, -3, 3),
        }),
        // About half of the least number, added to one whose last bit may be set.
        7 => {
            let off = random.below(9) as f64 * 2f64.powi(1 - p as i32);
            let scale = [least as i32 / 2, least as i32 - p as i32 - least as i32 / 2].map(|e| 2f64.powi(e));
            [(1.0 + off) * scale[0], (1.0 - off) * scale[1], random.number(p, least - 10, least + 2)]
        }
        _ => [0; 3].map(|_| random.number(p, least, most)),
    }
}

/// Runs the operation in vectors, and gives the triples with the results.
fn run(
    s: Scalar,
    lanes: u16,
    count: usize,
    mut triples: impl FnMut() -> [u64; 3],
    mut check: impl FnMut([u64; 3], u64),
) {
    let (n, bytes) = (usize::from(lanes), s.bytes() as usize);
    let row = n * bytes;
    let mut module = Module::new();
    let func = common::group_function(&mut module, |b, abi| {
        let (first, p) = (common::part(b, abi, 0, 3 * row), common::part(b, abi, 1, row));
        let args = [0, 1, 2].map(|k| {
            let p = b.ptr_offset(first, (k * row) as u64);
            b.load(Type::vector(s, lanes), p, 1, Flags::empty())
        });
        let result = b.fma(args[0], args[1], args[2]);
        b.store(p, result, 1, Flags::empty());
        b.ret(None);
    });
    let groups = count / n;
    let all: Vec<[u64; 3]> = (0..groups * n).map(|_| triples()).collect();
    let mut input = Vec::with_capacity(all.len() * 3 * bytes);
    for group in all.chunks(n) {
        for k in 0..3 {
            input.extend(group.iter().flat_map(|t| t[k].to_le_bytes()[..bytes].to_vec()));
        }
    }
    for (device, options) in common::variants() {
        let output = common::execute(&device, &options, &module, func, groups as u64, &input, groups * row);
        for (t, got) in all.iter().zip(output.chunks(bytes)) {
            let mut wide = [0; 8];
            wide[..bytes].copy_from_slice(got);
            check(*t, u64::from_le_bytes(wide));
        }
    }
}

#[test]
fn floats_are_rounded_once() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for (lanes, count) in [(1, 300_000), (4, 300_000), (8, 500_000)] {
        let triples = || match random.below(4) {
            0 => [0; 3].map(|_| random.next() & 0xffff_ffff),
            _ => triple(&mut random, 24, -126, 128).map(|x| u64::from((x as f32).to_bits())),
        };
        run(Scalar::F32, lanes, count, triples, |t, got| {
            let [a, b, c] = t.map(|x| f32::from_bits(x as u32));
            let (got, want) = (f32::from_bits(got as u32), a.mul_add(b, c));
            let same = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
            assert!(same, "fma({a:e}, {b:e}, {c:e}) is {want:e}, not {got:e}");
        });
    }
}

#[test]
fn doubles_are_rounded_once() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for (lanes, count) in [(1, 100_000), (2, 300_000), (8, 300_000)] {
        let triples = || match random.below(4) {
            0 => [0; 3].map(|_| random.next()),
            _ => triple(&mut random, 53, -1022, 1024).map(f64::to_bits),
        };
        run(Scalar::F64, lanes, count, triples, |t, got| {
            let [a, b, c] = t.map(f64::from_bits);
            let (got, want) = (f64::from_bits(got), a.mul_add(b, c));
            let same = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
            assert!(same, "fma({a:e}, {b:e}, {c:e}) is {want:e}, not {got:e}");
        });
    }
}
