//! Kernels with a `switch` of thousands of cases, which are compiled with values in memory instead of registers: cases
//! that end, that fall through, that the value never names; scalars and vectors; inside of a loop.

#![allow(unsafe_code, reason = "it calls the C interface")]

#[path = "../common/mod.rs"]
mod common;
use common::*;
use std::fmt::Write;

const ROUNDS: u32 = 3;
const ITEMS: u32 = 2000;

/// What case `c` multiplies by, adds, and whether it ends.
fn case(c: u32) -> (u32, u32, bool) {
    (c % 7 + 3, c.wrapping_mul(2_654_435_761) >> 9, c % 3 != 1)
}

/// The cases are 0, 2, 4 …: every other value goes to the default.
fn source(cases: u32) -> String {
    let mut text = format!(
        "kernel void k(global const uint *in, global uint *out) {{
            uint i = get_global_id(0), x = in[i], y = i;
            uint4 v = (uint4)(i, x, 3, 4);
            for (uint round = 0; round < {ROUNDS}; round++) {{
                switch (x) {{\n"
    );
    for c in 0..cases {
        let (factor, term, ends) = case(c);
        let lane = ["x", "y", "z", "w"][c as usize % 4];
        let end = if ends { "break;" } else { "" };
        writeln!(text, "case {}: y = (y * {factor} + x) ^ {term}; v.{lane} += y; {end}", 2 * c).unwrap();
    }
    let modulus = 2 * cases + 5;
    write!(
        text,
        "default: y += 5; v = v.wxyz; }}
                x = (x * 5 + (y & 1023)) % {modulus}u;
            }}
            out[i] = y ^ v.x ^ v.y * 3 ^ v.z * 5 ^ v.w * 7;
        }}"
    )
    .unwrap();
    text
}

/// The result of work-item `i`, by the rules of the language.
fn reference(cases: u32, i: u32, x: u32) -> u32 {
    let (mut x, mut y, mut v) = (x, i, [i, x, 3, 4]);
    for _ in 0..ROUNDS {
        let mut c = if x % 2 == 0 { x / 2 } else { cases };
        loop {
            if c >= cases {
                y = y.wrapping_add(5);
                v.rotate_right(1);
                break;
            }
            let (factor, term, ends) = case(c);
            y = y.wrapping_mul(factor).wrapping_add(x) ^ term;
            v[c as usize % 4] = v[c as usize % 4].wrapping_add(y);
            if ends {
                break;
            }
            c += 1;
        }
        x = x.wrapping_mul(5).wrapping_add(y & 1023) % (2 * cases + 5);
    }
    y ^ v[0] ^ v[1].wrapping_mul(3) ^ v[2].wrapping_mul(5) ^ v[3].wrapping_mul(7)
}

#[test]
fn thousands_of_cases_compute_what_the_language_says() {
    let t = Session::new();
    // One on each side of the number of blocks from which less is tried, and two beyond it.
    for cases in [400, 1200, 2500, 9000] {
        let kernel = t.kernel(&source(cases));
        let values: Vec<u32> = (0..ITEMS).map(|i| i.wrapping_mul(2_654_435_761) % (2 * cases + 9)).collect();
        let (input, output) = (t.buffer_of(&values), t.buffer_of(&vec![0u32; ITEMS as usize]));
        t.arg_mem(&kernel, 0, &input);
        t.arg_mem(&kernel, 1, &output);
        drop(t.launch(&kernel, &[ITEMS as usize], &[]));
        let expected: Vec<u32> = (0..ITEMS).zip(&values).map(|(i, &x)| reference(cases, i, x)).collect();
        let got = t.read::<u32>(&output, ITEMS as usize);
        let wrong = (0..ITEMS as usize).find(|&i| got[i] != expected[i]);
        assert!(wrong.is_none(), "{cases} cases, work-item {}", wrong.unwrap_or_default());
    }
}
