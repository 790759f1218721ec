//! SHA-256 (FIPS 180-4) as crackers of passwords write it: every round unrolled, straight integer code of thousands of
//! operations. The wanted hashes come from a loop.

use crate::args;
use crate::cl::Session;
use crate::error::Result;
use crate::program::{Verdict, same};
use crate::random::Random;
use std::fmt::Write;

/// Messages: one a work-item.
const N: usize = 64;
/// Words of a block, and of a hash.
const BLOCK: usize = 16;
const HASH: usize = 8;

/// The first 32 bits of the fractional part of a root of each of the first primes, in whole numbers.
fn fractions(count: usize, root: fn(u128) -> u128) -> Vec<u32> {
    let prime = |n: &u128| (2..*n).all(|d| !n.is_multiple_of(d));
    (2..).filter(prime).take(count).map(|p| root(p) as u32).collect()
}

/// The largest number whose power is at most `of`.
fn whole_root(of: u128, power: u32) -> u128 {
    let (mut low, mut high) = (0u128, 1u128 << 37);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if middle.pow(power) <= of { low = middle } else { high = middle }
    }
    low
}

/// The first state, and the constants of the rounds.
fn constants() -> (Vec<u32>, Vec<u32>) {
    (fractions(HASH, |p| whole_root(p << 64, 2)), fractions(64, |p| whole_root(p << 96, 3)))
}

fn compress(state: &mut [u32], block: &[u32], rounds: &[u32]) {
    let mut w = block.to_vec();
    for t in BLOCK..64 {
        let (a, b) = (w[t - 15], w[t - 2]);
        let s0 = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
        let s1 = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
        w.push(w[t - 16].wrapping_add(s0).wrapping_add(w[t - 7]).wrapping_add(s1));
    }
    let mut v = state.to_vec();
    for t in 0..64 {
        let (a, e) = (v[0], v[4]);
        let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = (e & v[5]) ^ (!e & v[6]);
        let first = [s1, choice, rounds[t], w[t]].iter().fold(v[7], |sum, x| sum.wrapping_add(*x));
        let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let majority = (a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]);
        // The eight variables move on by one; `v[4]` is then the old `d`, to which the sum is added.
        v.rotate_right(1);
        v[4] = v[4].wrapping_add(first);
        v[0] = first.wrapping_add(s0).wrapping_add(majority);
    }
    state.iter_mut().zip(v).for_each(|(s, v)| *s = s.wrapping_add(v));
}

const MACROS: &str = "#define S0(x) (rotate((x), 25u) ^ rotate((x), 14u) ^ ((x) >> 3))
#define S1(x) (rotate((x), 15u) ^ rotate((x), 13u) ^ ((x) >> 10))
#define S2(x) (rotate((x), 30u) ^ rotate((x), 19u) ^ rotate((x), 10u))
#define S3(x) (rotate((x), 26u) ^ rotate((x), 21u) ^ rotate((x), 7u))
#define F0(x, y, z) (((x) & (y)) | ((z) & ((x) ^ (y))))
#define F1(x, y, z) ((z) ^ ((x) & ((y) ^ (z))))
#define STEP(a, b, c, d, e, f, g, h, x, k) \\
    do { \\
        h += k + x + S3(e) + F1(e, f, g); \\
        d += h; \\
        h += S2(a) + F0(a, b, c); \\
    } while (0)
#define EXPAND(w, x, y, z) (S1(w) + x + S0(y) + z)

";

fn source(blocks: usize) -> String {
    let (first, rounds) = constants();
    let mut text = MACROS.to_owned();
    text += "kernel void sha256(global const uint *messages, global uint *hashes)\n{\n";
    let mut line = |line: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "    {line}");
    };
    line(format!("global const uint *m = messages + get_global_id(0) * {};", blocks * BLOCK));
    for (k, value) in first.iter().enumerate() {
        line(format!("uint s{k} = 0x{value:08x}u;"));
    }
    for t in 0..BLOCK {
        line(format!("uint w{t};"));
    }
    line("uint a, b, c, d, e, f, g, h;".into());
    for block in 0..blocks {
        for t in 0..BLOCK {
            line(format!("w{t} = m[{}];", block * BLOCK + t));
        }
        for (name, k) in "abcdefgh".chars().zip(0..) {
            line(format!("{name} = s{k};"));
        }
        for (t, round) in rounds.iter().enumerate() {
            let w = |back: usize| format!("w{}", (t + BLOCK - back) % BLOCK);
            if t >= BLOCK {
                line(format!("{} = EXPAND({}, {}, {}, {});", w(0), w(2), w(7), w(15), w(0)));
            }
            // The names move on by one a round instead of the values.
            let name = |k: usize| char::from(b"abcdefgh"[(k + 64 - t) % HASH]);
            let names: Vec<String> = (0..HASH).map(|k| name(k).to_string()).collect();
            line(format!("STEP({}, {}, 0x{round:08x}u);", names.join(", "), w(0)));
        }
        for (name, k) in "abcdefgh".chars().zip(0..) {
            line(format!("s{k} += {name};"));
        }
    }
    for k in 0..HASH {
        line(format!("hashes[get_global_id(0) * {HASH} + {k}] = s{k};"));
    }
    text + "}\n"
}

/// Builds a kernel for messages of so many blocks, and compares the hashes.
pub(super) fn run(session: &Session, blocks: usize) -> Result<Verdict> {
    let mut random = Random::new(256);
    let data: Vec<u32> = (0..N * blocks * BLOCK).map(|_| random.next() as u32).collect();
    let (input, output) = (session.upload(&data)?, session.zeroed::<u32>(N * HASH)?);
    let kernel = session.build("sha256", &source(blocks), "")?.kernel("sha256")?;
    session.launch(&kernel, args![&input, &output], &[N], &[N])?;
    session.finish()?;
    let (first, rounds) = constants();
    let mut want = Vec::new();
    for message in data.chunks_exact(blocks * BLOCK) {
        let mut state = first.clone();
        message.chunks_exact(BLOCK).for_each(|block| compress(&mut state, block, &rounds));
        want.extend(state);
    }
    Ok(same(&session.read(&output)?, &want, "words"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_hashes_the_example_of_the_standard() {
        let (mut state, rounds) = constants();
        assert_eq!((state[0], rounds[63]), (0x6a09_e667, 0xc671_78f2));
        // "abc", padded.
        let mut block = [0; BLOCK];
        (block[0], block[15]) = (0x6162_6380, 24);
        compress(&mut state, &block, &rounds);
        assert_eq!(state[..3], [0xba78_16bf, 0x8f01_cfea, 0x4141_40de]);
        assert_eq!(source(2).matches("STEP(").count(), 1 + 2 * 64);
    }
}
