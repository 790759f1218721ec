//! Registers as bytes.

use crate::code::{Lanes, Reg};
use cloom_ir::{CastOp, eval};

/// Copies the bytes of some registers to others of another size.
pub(crate) fn bitcast(r: &mut [u64], from: Lanes, to: Lanes, d: Reg, a: Reg) {
    if from.n == to.n {
        for i in 0..to.n {
            r[(d + i) as usize] = eval::cast(CastOp::Bitcast, from.ty, to.ty, r[(a + i) as usize]);
        }
        return;
    }
    let size = from.ty.bytes() as usize;
    // As in memory: lane 0 has the lowest bytes.
    let mut bytes = Vec::with_capacity(size * from.n as usize);
    for lane in &r[a as usize..(a + from.n) as usize] {
        bytes.extend_from_slice(&lane.to_le_bytes()[..size]);
    }
    let size = to.ty.bytes() as usize;
    for (lane, bytes) in r[d as usize..].iter_mut().zip(bytes.chunks(size)).take(to.n as usize) {
        *lane = bits(bytes);
    }
}

/// A lane from its bytes.
#[inline]
pub(crate) fn bits(bytes: &[u8]) -> u64 {
    match *bytes {
        [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        [a] => u64::from(a),
        _ => bytes.iter().rev().fold(0, |x, &b| x << 8 | u64::from(b)),
    }
}
