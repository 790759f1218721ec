//! The plan: how many lanes, along which dimension.

use cloom_ir::{Function, Op, Scalar};

/// How vectors lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Width {
    /// Work-items in a vector; 1: no vectors.
    pub lanes: u16,
    /// The dimension along which they are neighbours.
    pub dim: usize,
}

/// What the caller wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wish {
    /// So many work-items to a vector, 1 to 64.
    Lanes(u16),
    /// What suits the kernel on a machine whose vector registers have so many bits.
    Registers(u32),
}

/// Registers to a vector: two at once hide much of the latency of arithmetic and leave enough registers. (Mandelbrot on AVX2, against
/// one: 1.45 times as fast; with four, values are spilled, and it is no faster than with one.)
const INTERLEAVED: u32 = 2;

/// Chooses the width for a kernel.
pub fn choose(kernel: &Function, wish: Wish) -> Width {
    let lanes = match wish {
        Wish::Lanes(n) => n.clamp(1, 64),
        Wish::Registers(bits) => (INTERLEAVED * bits / element_bits(kernel)).clamp(2, 64) as u16,
    };
    Width { lanes, dim: 0 }
}

/// The width of the elements that most of the arithmetic is done on.
fn element_bits(kernel: &Function) -> u32 {
    let (mut single, mut double) = (0u32, 0u32);
    for &b in &kernel.layout {
        for &i in &kernel.blocks[b].insts {
            let data = &kernel.insts[i];
            let Some(r) = data.result else { continue };
            let arithmetic = matches!(data.op, Op::Unary(_) | Op::Binary(_) | Op::Fma);
            match kernel.ty(r).scalar {
                Scalar::F64 if arithmetic => double += 1,
                Scalar::F32 | Scalar::I32 | Scalar::F16 if arithmetic => single += 1,
                _ => {}
            }
        }
    }
    if double > single { 64 } else { 32 }
}
