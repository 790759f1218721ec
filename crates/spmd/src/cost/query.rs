//! What the cost model knows about a kernel on a machine before it chooses the width of its vectors.
//!
//! In come the analysed continuations of a kernel and the machine's model ([`Features`], [`Tuning`]); out come the
//! figures that the vetoes ([`super::veto`]) and the cost function ([`WidthQuery::cost`]) ask for.

use super::MAX_LANES;
use super::reason::WidthReason;
use crate::analysis::input::{Column, VectorInput};
use crate::analysis::latency;
use crate::analysis::pressure::{self, Pressure};
use crate::analysis::shape::Shape;
use crate::options::Vectors;
use cloom_ir::{InstData, Op, Scalar, Type};
use cloom_target::{Features, Tuning};

/// The most registers per vector, for loops bound by the latency of a recurrence in long rows. On AVX2, eight are the
/// 64 lanes of a mask.
const MAX_REGISTERS_PER_VECTOR: u32 = 8;

/// How many times the register file the live values of a kernel without loops may take, with 16 registers. (Matrices
/// of 36 variables on AVX2: at nine times the registers instead of four and a half, the kernel takes 1.3 times as
/// long.)
const MAX_OVERCOMMIT: u32 = 4;

/// The same with 32 registers. (The same matrices on AVX-512: at 2.2 times the registers instead of 1.1, the kernel
/// takes 1.25 times as long, and its code twice as long to make.)
const MAX_OVERCOMMIT_OF_MANY: u32 = 2;

/// The most loads and stores at varying addresses of a kernel whose vectors are long for the sake of the order in which
/// it reads. (A table in local memory, filled by a loop along the grid and looked up four times, on AVX2: 4200
/// instructions and 0.47 ms with 64 lanes, 1100 and 0.28 ms with 16.)
const MAX_VARYING: usize = 2;

/// The cost of a width whose live values do not fit in the registers: more than any width saves.
const SPILLS: u32 = MAX_REGISTERS_PER_VECTOR * MAX_LANES;

/// A kernel and a machine: what is asked when the width of vectors is chosen.
pub struct WidthQuery<'a> {
    /// All versions of all continuations.
    pub items: &'a [&'a VectorInput],
    /// What the machine has.
    pub features: &'a Features,
    /// How fast that is.
    pub tuning: &'a Tuning,
    /// The work-items of a row of a group.
    pub row: u32,
    /// The lanes of one register: as many as it has elements of the width that most arithmetic is done on.
    pub native: u32,
    /// The largest pressure in loops.
    pub pressure: Pressure,
    /// Half words of 16 bits per lane that are live in kernels without loops, even in the best order of instructions.
    live_without_loops: u32,
    /// Whether the deepest loops are bound by throughput with one register per vector.
    is_busy: bool,
    /// The registers per vector that gain throughput: as many independent operations hide the latency of one.
    useful_registers: u32,
    /// Why so many.
    reason: WidthReason,
}

impl<'a> WidthQuery<'a> {
    /// Asks about a kernel whose groups have rows of `row` work-items.
    pub fn new(items: &'a [&'a VectorInput], vectors: &'a Vectors<'a>, row: u32) -> WidthQuery<'a> {
        let (features, tuning) = (vectors.target.features(), vectors.tuning());
        // Of the elements that most arithmetic is on: others take more registers, or part of one.
        let native = (features.vector_bits / element_bits(items)).clamp(2, MAX_LANES);
        let (useful_registers, reason) = useful_registers(items, features, tuning.interleave, row / native);
        WidthQuery {
            items,
            features,
            tuning,
            row,
            native,
            pressure: items.iter().map(|item| pressure::in_loops(item)).max().unwrap_or_default(),
            live_without_loops: items.iter().map(|item| pressure::without_loops(item).halves).max().unwrap_or_default(),
            is_busy: items.iter().any(|item| latency::is_busy(item)),
            useful_registers,
            reason,
        }
    }

    /// Whether some continuation has a property.
    pub fn any(&self, has: impl Fn(&VectorInput) -> bool) -> bool {
        self.items.iter().any(|item| has(item))
    }

    /// How lanes access columns of matrices, if they do.
    pub fn column(&self) -> Option<Column> {
        self.items.iter().filter_map(|item| item.pattern.column).max()
    }

    /// The size of the register file, in half words of 16 bits.
    pub fn register_halves(&self) -> u32 {
        self.features.vector_registers * self.features.vector_bits / 16
    }

    /// The lanes whose addresses take one register.
    pub fn addresses(&self) -> u32 {
        self.features.vector_bits / 64
    }

    /// Whether the live values of so many lanes fit in the registers; for a kernel without loops: nearly fit.
    pub fn fits(&self, lanes: u32) -> bool {
        // In eighths of the register file: slightly more than all of it where a loop would else wait for latency; two
        // registers of sixteen left for temporaries where it would not.
        let usable_eighths = if self.is_busy { 7 } else { 10 };
        // Without loops, each value is spilled at most once, which costs little: more than the registers hold is
        // allowed.
        let overcommit = if self.features.vector_registers > 16 { MAX_OVERCOMMIT_OF_MANY } else { MAX_OVERCOMMIT };
        self.pressure.halves * lanes * 8 <= self.register_halves() * usable_eighths
            && self.live_without_loops * lanes <= self.register_halves() * overcommit
    }

    /// The estimated time per work-item with vectors of so many lanes. The unit is 1/64 of the time that one operation
    /// on a register takes if none waits for another.
    ///
    /// An operation on a vector takes the time of its registers, but no less than the latency, which
    /// [`Self::useful_registers`] independent operations hide. Lanes share that time. A width whose live values exceed
    /// the registers costs [`SPILLS`] more, unless it is one register per value: narrower ones save no more registers.
    pub fn cost(&self, lanes: u32) -> u32 {
        // A vector shorter than a register takes the time of one.
        let registers = lanes.div_ceil(self.native);
        // Registers of 8 lanes, of which 2 hide the latency: 8 lanes cost 2 * 64 / 8 = 16, 16 lanes 2 * 64 / 16 = 8,
        // and 32 lanes 4 * 64 / 32 = 8 as well. Then 16 lanes are chosen, whose code is shorter.
        let time = registers.max(self.useful_registers);
        // Added, not multiplied: among widths that spill, the order stays.
        let spills = if registers > 1 && !self.fits(lanes) { SPILLS } else { 0 };
        time * MAX_LANES / lanes + spills
    }

    /// Why the cost function prefers the width that it does.
    pub fn reason(&self) -> WidthReason {
        self.reason
    }
}

/// The registers per vector that gain throughput, a power of two, and why so many. A row of work-items has
/// `registers_in_row`.
///
/// * The machine's interleave is the default.
/// * *More*, if the deepest loops are else bound by the latency of a recurrence ([`latency::registers`]).
/// * *As many as a row fills*, if they have software prefetch ([`crate::transform::prefetch_loop`]): wide vectors read
///   memory in order. Not with many other accesses: written out lane by lane, these would make much code.
fn useful_registers(
    items: &[&VectorInput],
    features: &Features,
    interleave: u32,
    registers_in_row: u32,
) -> (u32, WidthReason) {
    // Lanes beyond the end of a row would hide no latency.
    let most = registers_in_row.clamp(interleave, MAX_REGISTERS_PER_VECTOR);
    if varying_accesses(items) <= MAX_VARYING && items.iter().any(|item| item.is_prefetched()) {
        return (1 << most.ilog2(), WidthReason::ReadsGridStride);
    }
    let is_plenty = features.vector_registers > 16;
    // The continuation that gains least decides, as all have one width.
    let useful = items.iter().map(|item| latency::registers(item, interleave, most, is_plenty)).min();
    match useful.unwrap_or(interleave) {
        least if least == interleave => (least, WidthReason::FitsInterleaved),
        more => (more, WidthReason::LatencyBound),
    }
}

/// How many loads and stores have varying addresses.
fn varying_accesses(items: &[&VectorInput]) -> usize {
    let of = |item: &VectorInput| {
        let insts = item.cfg.rpo().iter().flat_map(|&b| &item.func.blocks[b].insts).map(|&i| &item.func.insts[i]);
        let accesses = insts.filter(|data| matches!(data.op, Op::Load { .. } | Op::Store { .. }));
        accesses.filter(|data| item.shapes.of(data.args[0]) == Shape::Varying).count()
    };
    items.iter().map(|item| of(item)).sum()
}

/// Calls `f` for each instruction that computes or stores a varying value, with the value's type and the
/// instruction's estimated frequency.
pub fn for_each_varying(items: &[&VectorInput], mut f: impl FnMut(&VectorInput, &InstData, Type, u64)) {
    for item in items {
        let func = &item.func;
        for &b in item.cfg.rpo() {
            let frequency = item.times(b);
            for data in func.blocks[b].insts.iter().map(|&i| &func.insts[i]) {
                let value = match data.op {
                    // A store has no result: the value that it stores counts.
                    Op::Store { .. } => data.args.get(1).copied(),
                    _ => data.result,
                };
                if let Some(v) = value.filter(|&v| item.shapes.of(v) == Shape::Varying) {
                    f(item, data, func.ty(v), frequency);
                }
            }
        }
    }
}

/// The width in bits of the elements that most arithmetic is done on.
fn element_bits(items: &[&VectorInput]) -> u32 {
    let (mut single, mut double) = (0u32, 0u32);
    for item in items {
        let func = &item.func;
        for data in func.layout.iter().flat_map(|&b| &func.blocks[b].insts).map(|&i| &func.insts[i]) {
            let Some(r) = data.result else { continue };
            // Casts and comparisons are at the borders between widths, and say nothing.
            let arithmetic = matches!(data.op, Op::Unary(_) | Op::Binary(_) | Op::Fma);
            match func.ty(r).scalar {
                Scalar::F64 if arithmetic => double += 1,
                Scalar::F32 | Scalar::I32 | Scalar::F16 if arithmetic => single += 1,
                _ => {}
            }
        }
    }
    match double > single {
        true => 64,
        false if mostly_narrow(items) => 16,
        false => 32,
    }
}

/// Whether nearly all arithmetic is in 16 bits.
fn mostly_narrow(items: &[&VectorInput]) -> bool {
    let (mut narrow, mut rest) = (0, 0);
    for_each_varying(items, |_, data, ty, frequency| {
        let work = u64::from(ty.lanes) * frequency;
        match (&data.op, ty.scalar) {
            (Op::Unary(_) | Op::Binary(_) | Op::Fma, Scalar::I16) => narrow += work,
            (Op::Unary(_) | Op::Binary(_) | Op::Fma, _) => rest += work,
            _ => {}
        }
    });
    narrow > 3 * rest
}
