//! Kernels whose short vectors (`float8`, `float16`) are better left as they are.
//!
//! In come analysed functions and the bits of a register; out go answers that the vetoes ask for ([`super::veto`]). A
//! short vector as long as a register is a vector already: vectors of work-items would need a register for each of its
//! components, and shuffles to make them.

use super::query::for_each_varying;
use crate::analysis::input::VectorInput;
use crate::analysis::latency;
use crate::analysis::shape::Shape;
use cloom_ir::{Op, Scalar, Type};

/// Whether nearly all work is on short vectors as long as a register (of AVX2: with AVX-512, half a register is still
/// better than shuffles). Vectorised, such vectors would be deinterleaved and interleaved for nothing, and need as
/// many registers as they have components. For vectors of bytes 128 bits are enough: lanes of bytes fill no more.
pub fn fill_registers(items: &[&VectorInput], bits: u32) -> bool {
    let (mut full, mut rest) = (0u64, 0u64);
    let is_full = |ty: Type| {
        let enough = if ty.scalar == Scalar::I8 { 128 } else { bits.min(256) };
        ty.lanes > 1 && ty.scalar.bits() * u32::from(ty.lanes) >= enough
    };
    for_each_varying(items, |item, data, ty, frequency| {
        let words = u64::from((ty.scalar.bits() * u32::from(ty.lanes)).div_ceil(32)) * frequency;
        match is_full(ty) {
            true => full += words,
            // A shuffle is expressed by extracts.
            false if data.op == Op::Extract && is_full(item.func.ty(data.args[0])) => {}
            false => rest += words,
        }
    });
    full > 2 * rest
}

/// Whether work-items read whole registers at a distance from each other in one of the deepest loops, and do little
/// else there. Vectorised, each such load needs a transpose of as many vectors as a register has elements. (A
/// matrix-vector product, 16 floats at once, on AVX-512: twice as fast in scalar code.)
pub fn reads_registers(item: &VectorInput, bits: u32) -> bool {
    let func = &item.func;
    let is_full = |ty: Type| ty.lanes > 1 && ty.scalar.bits() * u32::from(ty.lanes) >= bits.max(256);
    latency::deepest(item).into_iter().any(|l| {
        let (mut full, mut rest, mut reads) = (0, 0, false);
        for data in l.blocks.iter().flat_map(|&b| &func.blocks[b].insts).map(|&i| &func.insts[i]) {
            let Some(r) = data.result.filter(|&r| item.shapes.of(r) == Shape::Varying) else { continue };
            let ty = func.ty(r);
            *(if is_full(ty) { &mut full } else { &mut rest }) += 1;
            reads |= matches!(data.op, Op::Load { .. }) && is_full(ty) && item.is_far(data.args[0]);
        }
        reads && full > rest
    })
}
