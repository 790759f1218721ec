//! How many instructions a kernel has as scalar code and as vector code.
//!
//! In come analysed functions and a number of lanes; out comes whether vector code pays off where it is large. Most of
//! large vector code of little use is accesses, calls and divisions lane by lane. LLVM takes 0.1 to 0.2 ms for each
//! of its instructions, and it does not stay in the instruction cache.

use crate::analysis::input::VectorInput;
use crate::analysis::op_class::{OpClass, class};
use crate::analysis::shape::Shape;
use cloom_ir::{Block, InstData, Op, Scalar, Type};
use cloom_target::Features;

/// The most instructions of vector code that is always worth its while. (The largest kernel of the gallery has 4500,
/// and saves two thirds of the work.)
const MAX_SMALL: u64 = 3000;

/// How many times less work, in instructions, larger vector code must be. Measured gains are about 0.6 of it. (On
/// AVX2, random programs whose vector code is larger than `MAX_SMALL`: ten that save less run at 0.4 to 1.2 times the
/// speed of scalar code, 0.7 in the mean, and take 4 to 30 times as long to compile.)
const MIN_GAIN: u64 = 2;

/// So many instructions must save as much work again: more of the caches goes to code. (On AVX-512, a random program
/// of 4,400 instructions has 40,000 for 32 lanes, a third of the work by this count, and takes 3.9 s to compile.)
const INSTS_PER_GAIN: u64 = 20_000;

/// Whether vector code for so many lanes is small, or large and saves much of the work.
pub fn pays_off(items: &[&VectorInput], lanes: u32, features: &Features) -> bool {
    let (scalar, vector) = counts(items, lanes, features);
    let (scalar_work, vector_work) = (u64::from(lanes) * scalar.executed, vector.executed);
    // `MIN_GAIN`, and one more for each `INSTS_PER_GAIN` instructions.
    let least = vector_work * (MIN_GAIN * INSTS_PER_GAIN + vector.code) / INSTS_PER_GAIN;
    vector.code <= MAX_SMALL || scalar_work >= least
}

/// Instructions in the code, and executed for one work-item or one vector, by estimated frequency.
#[derive(Clone, Copy, Default)]
struct Count {
    code: u64,
    executed: u64,
}

impl Count {
    fn same(insts: u64) -> Count {
        Count { code: insts, executed: insts }
    }

    fn add(&mut self, insts: Count, frequency: u64) {
        self.code += insts.code;
        self.executed += insts.executed * frequency;
    }
}

/// The counts of a kernel's scalar code, and of its code for vectors.
fn counts(items: &[&VectorInput], lanes: u32, features: &Features) -> (Count, Count) {
    let (mut scalar, mut vector) = (Count::default(), Count::default());
    for item in items {
        for &b in item.cfg.rpo() {
            let frequency = item.times(b);
            for data in item.func.blocks[b].insts.iter().map(|&i| &item.func.insts[i]) {
                scalar.add(Count::same(in_scalar_code(item, data, features)), frequency);
                vector.add(in_vector_code(item, b, data, lanes, features), frequency);
            }
        }
    }
    (scalar, vector)
}

/// The instructions of one work-item.
fn in_scalar_code(item: &VectorInput, data: &InstData, features: &Features) -> u64 {
    // Without a value: a fence or a prefetch, one instruction.
    let Some(ty) = value_type(item, data) else { return 1 };
    match class(&data.op) {
        OpClass::Constant => 0,
        OpClass::IntegerDivision => u64::from(ty.lanes),
        OpClass::Shuffle if data.op == Op::Build => u64::from(ty.lanes),
        // At a computed index, through memory.
        OpClass::Shuffle if data.op == Op::Extract && item.func.const_bits(data.args[1]).is_none() => 2,
        OpClass::Simple
        | OpClass::Unary
        | OpClass::Multiply
        | OpClass::FloatDivision
        | OpClass::Conversion
        | OpClass::Shuffle
        | OpClass::Access
        | OpClass::VectorAccess
        | OpClass::Copy
        | OpClass::AtomicAccess
        | OpClass::AtomicUpdate
        | OpClass::Call
        | OpClass::PureCall
        | OpClass::Print
        | OpClass::Sample
        | OpClass::Subgroup
        | OpClass::Order => registers(ty.scalar, u32::from(ty.lanes), features),
    }
}

/// The instructions for all lanes of a vector.
fn in_vector_code(item: &VectorInput, b: Block, data: &InstData, lanes: u32, features: &Features) -> Count {
    let Some(ty) = value_type(item, data) else { return Count::same(1) };
    let varies = |n: usize| data.args.get(n).is_some_and(|&a| item.shapes.of(a) == Shape::Varying);
    let by_lane = |insts: u64| Count::same(u64::from(lanes) * insts);
    let components = u64::from(ty.lanes);
    let of_components = components * registers(ty.scalar, lanes, features);
    let is_varying = data.result.is_some_and(|r| item.shapes.of(r) == Shape::Varying);
    match class(&data.op) {
        OpClass::Constant => Count::same(0),
        OpClass::Access => match item.shapes.of(data.args[0]) {
            Shape::Uniform | Shape::Unknown => Count::same(components),
            Shape::Strided { by, .. } if by.unsigned_abs() == u64::from(ty.bytes()) => {
                // Short vectors are deinterleaved.
                Count::same(if components == 1 { of_components } else { 2 * of_components })
            }
            _ if item.masked.is_masked(b) && features.gather_scatter && ty.scalar.bits() >= 32 => {
                Count { code: 2 * of_components, executed: u64::from(lanes) * components }
            }
            // A load and an insertion, or an extraction and a store; its address; and the test of a mask.
            shape => {
                // A fixed stride is a part of the addressing mode.
                let address = u64::from(shape == Shape::Varying);
                let test = u64::from(item.masked.is_masked(b));
                let access = registers(ty.scalar, u32::from(ty.lanes), features);
                Count::same(u64::from(lanes) * (access + 1 + address + test) + of_components)
            }
        },
        OpClass::Call | OpClass::Print | OpClass::AtomicUpdate => by_lane(4),
        OpClass::AtomicAccess => by_lane(2),
        // An extraction, a division and an insertion.
        OpClass::IntegerDivision if is_varying => by_lane(3 * components),
        // Components are vectors of their own: only at an index that varies there is something to do.
        OpClass::Shuffle if matches!(data.op, Op::Extract | Op::Insert) && varies(1) => {
            let of = item.func.ty(data.args[0]);
            Count::same(2 * u64::from(of.lanes) * registers(of.scalar, lanes, features))
        }
        OpClass::Shuffle => Count::same(0),
        OpClass::Simple
        | OpClass::Unary
        | OpClass::Multiply
        | OpClass::FloatDivision
        | OpClass::IntegerDivision
        | OpClass::Conversion
        | OpClass::VectorAccess
        | OpClass::Copy
        | OpClass::PureCall
        | OpClass::Sample
        | OpClass::Subgroup
        | OpClass::Order => match is_varying {
            true => Count::same(of_components),
            // Uniform and strided values are scalars.
            false => Count::same(1),
        },
    }
}

/// The type of what an instruction computes or stores.
fn value_type(item: &VectorInput, data: &InstData) -> Option<Type> {
    let v = if matches!(data.op, Op::Store { .. }) { data.args.get(1).copied() } else { data.result };
    v.map(|v| item.func.ty(v))
}

/// The registers that so many elements take.
fn registers(scalar: Scalar, elements: u32, features: &Features) -> u64 {
    // Masks are as wide as what is computed under them, mostly 32 bits.
    let bits = if scalar == Scalar::I1 { 32 } else { scalar.bits() };
    u64::from((bits * elements).div_ceil(features.vector_bits))
}
