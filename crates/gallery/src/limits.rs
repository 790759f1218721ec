//! The measured limits of the machine: copying, reading, and fused multiplications with additions, on all threads.
//!
//! In comes a footprint, as data in a cache moves faster; out comes a rate. It is the best of several attempts with
//! several forms of the loop: a limit is the highest rate that was reached, not a typical one.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// How long each way is tried.
const LONG_ENOUGH: Duration = Duration::from_millis(60);
/// Attempts of each way at least.
const ATTEMPTS: u32 = 5;

/// The shortest time of several runs.
fn best(mut run: impl FnMut()) -> f64 {
    run();
    // The run before is not measured: it brings pages and caches into the state that the later ones find.
    let (start, mut attempts, mut shortest) = (Instant::now(), 0, f64::INFINITY);
    while attempts < ATTEMPTS || start.elapsed() < LONG_ENOUGH {
        let one = Instant::now();
        run();
        shortest = shortest.min(one.elapsed().as_secs_f64().max(1e-9));
        attempts += 1;
    }
    shortest
}

/// Elements for each of the threads, when there are at least as many as threads.
fn share(n: usize) -> usize {
    n.div_ceil(rayon::current_num_threads()).max(1)
}

/// Bytes a second, read and written, of a copy that touches so many bytes in all.
pub fn copy_rate(footprint: usize) -> f64 {
    let n = (footprint / 16).max(1);
    let input: Vec<u64> = (0..n as u64).collect();
    let mut output = vec![0u64; n];
    let arch = Arch::new();
    let mut shortest = f64::INFINITY;
    for piece in [share(n), 1 << 13] {
        // The library's copy, which may write past the caches, and a loop, which does not.
        for library in [true, false] {
            shortest = shortest.min(best(|| {
                output.par_chunks_mut(piece).zip(input.par_chunks(piece)).for_each(|(out, x)| {
                    if library {
                        out.copy_from_slice(x);
                    } else {
                        // Not a plain copy, which the compiler would turn into a call of the library's again.
                        arch.dispatch(|| out.iter_mut().zip(x).for_each(|(out, x)| *out = x ^ 1));
                    }
                });
                black_box(&mut output);
            }));
        }
    }
    (n * 16) as f64 / shortest
}

/// Bytes a second of a sum over so many bytes.
pub fn read_rate(footprint: usize) -> f64 {
    let n = (footprint / 8).max(1);
    let input: Vec<u64> = (0..n as u64).collect();
    let arch = Arch::new();
    let add = |x: &[u64]| x.iter().fold(0u64, |a, &b| a.wrapping_add(b));
    let mut shortest = f64::INFINITY;
    for piece in [share(n), 1 << 13] {
        shortest = shortest.min(best(|| {
            let input = black_box(&input);
            let sum = input.par_chunks(piece).map(|x| arch.dispatch(|| add(x))).reduce(|| 0, u64::wrapping_add);
            black_box(sum);
        }));
    }
    (n * 8) as f64 / shortest
}

/// Chains that do not wait for each other: enough for two units of latency four, and no more than there are registers
/// for.
const CHAINS: usize = 12;
const STEPS: usize = 1 << 18;

struct Fma;

impl WithSimd for Fma {
    type Output = f64;

    /// The operations done.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let (factor, more) = (simd.splat_f32s(black_box(0.999)), simd.splat_f32s(black_box(0.125)));
        let mut chains: [S::f32s; CHAINS] = std::array::from_fn(|i| simd.splat_f32s(i as f32));
        for _ in 0..STEPS {
            for chain in &mut chains {
                *chain = simd.mul_add_f32s(*chain, factor, more);
            }
        }
        let sum = chains.iter().fold(simd.splat_f32s(0.0), |a, &b| simd.add_f32s(a, b));
        black_box(simd.reduce_sum_f32s(sum));
        (STEPS * CHAINS * S::F32_LANES * 2) as f64
    }
}

/// Operations on floats a second.
pub fn fma_rate() -> f64 {
    let arch = Arch::new();
    let mut done = 0.0;
    let shortest = best(|| done = rayon::broadcast(|_| arch.dispatch(Fma)).iter().sum());
    done / shortest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_moves_and_computes_something() {
        for rate in [copy_rate(1 << 16), copy_rate(1), read_rate(1 << 16), read_rate(1), fma_rate()] {
            assert!(rate.is_finite() && rate > 1e3, "{rate}");
        }
    }
}
