//! A source of 480 lines and 20 kernels, of which some are launched: what a program of some size pays.

use crate::args;
use crate::cl::{Built, Session};
use crate::error::Result;
use crate::program::{Verdict, close};
use std::fmt::Write;

/// Elements that the kernels work on.
const N: usize = 256;
/// Kernels of the source.
pub(super) const KERNELS: usize = 20;

/// Builds the source and launches so many of its kernels.
pub(super) fn run(session: &Session, launches: usize) -> Result<Verdict> {
    let source = long_source();
    let data: Vec<f32> = (0..N).map(|i| (i * 37 % 101) as f32 / 16.0).collect();
    let input = session.upload(&data)?;
    let outputs = (0..launches).map(|_| session.zeroed::<f32>(N)).collect::<Result<Vec<_>>>()?;
    let built: Built = session.build("long", &source, "")?;
    for (k, output) in outputs.iter().enumerate() {
        let kernel = built.kernel(&format!("step{k}"))?;
        session.launch(&kernel, args![&input, output, N as u32], &[N], &[64])?;
    }
    session.finish()?;
    let mut verdict = Verdict::Failed("nothing was launched".into());
    for (k, output) in outputs.iter().enumerate() {
        let want: Vec<f64> = (0..N).map(|i| long_reference(k, &data, i)).collect();
        verdict = close(&session.read(output)?, &want, |i| 1e-4 * (1.0 + want[i].abs()), "numbers");
        if matches!(verdict, Verdict::Failed(_)) {
            break;
        }
    }
    Ok(verdict)
}

/// The kinds of kernels of the long source, 24 lines each; `K` is the kernel's number.
const KINDS: [&str; 4] = [
    "// Smooths, with the edge repeated.
kernel void stepK(global const float *in, global float *out, uint n)
{
    const int i = get_global_id(0);
    const int last = (int)n - 1;
    if (i > last)
        return;

    float sum = 0.0f;
    float weights = 0.0f;
    for (int d = -3; d <= 3; d++) {
        const int at = clamp(i + d, 0, last);
        const float weight = 1.0f / (1.0f + d * d + K);
        sum += weight * in[at];
        weights += weight;
    }
    float value = sum / weights;
    if (value > 3.0f)
        value = 3.0f + (value - 3.0f) * 0.5f;
    else
        value = value * value / 3.0f;
    out[i] = value;
}

",
    "// The sum of the group, in local memory.
kernel void stepK(global const float *in, global float *out, uint n)
{
    local float part[64];
    const uint g = get_global_id(0);
    const uint l = get_local_id(0);
    const uint size = get_local_size(0);

    part[l] = g < n ? in[g] + K : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_size = size / 2; half_size > 0; half_size /= 2) {
        if (l < half_size)
            part[l] += part[l + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    if (g >= n)
        return;
    if (l % 2 == 0)
        out[g] = part[0];
    else
        out[g] = -part[0];
}

",
    "// Mixes bits.
uint mixK(uint v, uint rounds)
{
    for (uint r = 0; r < rounds; r++) {
        v ^= v << 13;
        v ^= v >> 17;
        v ^= v << 5;
        v += K;
    }
    return v;
}

kernel void stepK(global const float *in, global float *out, uint n)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    const uint rounds = 1 + i % 7;
    const uint seed = (uint)(in[i] * 16.0f) + 1;
    const uint mixed = mixK(seed, rounds);
    // So many bits that a float holds them.
    out[i] = (float)(mixed >> 12);
}

",
    "// Mathematical functions.
float4 curveK(float4 v)
{
    const float4 wave = sin(v * 0.5f) + cos(v * 0.25f);
    const float4 root = sqrt(fabs(v) + K);
    return wave * root;
}

kernel void stepK(global const float *in, global float *out, uint n)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;

    const float x = in[i];
    const float4 v = (float4)(x, x + 1.0f, x + 2.0f, x + 3.0f);
    const float4 c = curveK(v);

    float value = c.x + c.y + c.z + c.w;
    value += exp(-x) + log(x + 1.0f);
    value = mix(value, x, 0.25f);
    out[i] = fmin(value, 1000.0f);
}

",
];

/// The long source.
fn long_source() -> String {
    let mut source = String::new();
    for k in 0..KERNELS {
        // Writing to a string cannot fail. Only the number is a single K: other words have it in lower case.
        let _ = write!(
            source,
            "{}",
            KINDS[k % KINDS.len()].replace("CLK_", "\0").replace('K', &k.to_string()).replace('\0', "CLK_")
        );
    }
    source
}

fn long_reference(k: usize, data: &[f32], i: usize) -> f64 {
    let x = f64::from(data[i]);
    let number = k as f64;
    match k % KINDS.len() {
        0 => {
            let (mut sum, mut weights) = (0.0, 0.0);
            for d in -3i32..=3 {
                let at = (i as i32 + d).clamp(0, data.len() as i32 - 1) as usize;
                let weight = 1.0 / (1.0 + f64::from(d * d) + number);
                sum += weight * f64::from(data[at]);
                weights += weight;
            }
            let value = sum / weights;
            if value > 3.0 { 3.0 + (value - 3.0) * 0.5 } else { value * value / 3.0 }
        }
        1 => {
            let group = &data[i / 64 * 64..][..64];
            let sum: f64 = group.iter().map(|&v| f64::from(v) + number).sum();
            if (i % 64).is_multiple_of(2) { sum } else { -sum }
        }
        2 => {
            let mut v = (data[i] * 16.0) as u32 + 1;
            for _ in 0..1 + i % 7 {
                v ^= v << 13;
                v ^= v >> 17;
                v ^= v << 5;
                v = v.wrapping_add(k as u32);
            }
            f64::from(v >> 12)
        }
        _ => {
            let curve = |v: f64| ((v * 0.5).sin() + (v * 0.25).cos()) * (v.abs() + number).sqrt();
            let value: f64 = (0..4).map(|d| curve(x + f64::from(d))).sum();
            let value = value + (-x).exp() + (x + 1.0).ln();
            (value + (x - value) * 0.25).min(1000.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_long_source_is_as_long_as_it_says() {
        let source = long_source();
        assert_eq!(source.lines().count(), 480);
        assert_eq!(source.matches("kernel void step").count(), KERNELS);
        for k in 0..KERNELS {
            assert!(source.contains(&format!("kernel void step{k}(")), "{k}");
        }
        assert_eq!(source.matches("CLK_LOCAL_MEM_FENCE").count(), 10);
    }
}
