//! Vetoes: what keeps vectors from being as wide as the cost function would like.
//!
//! Each is a property of a kernel that the cost function does not see, found by measurement: the caches, the units for
//! loads and stores, or inactive lanes decide then. A veto says how many lanes it leaves at most, and why.

use super::code_size;
use super::query::WidthQuery;
use super::reason::WidthReason;
use super::scattered::{backtracks, gathers, is_histogram, scatters, stays_near, stores_scattered, updates_scattered};
use super::short_vectors::{fill_registers, reads_registers};
use crate::analysis::input::{Column, VectorInput};
use crate::analysis::{latency, record_stores, store_streams, tree_updates};

/// What a veto leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bound {
    /// The most lanes.
    pub lanes: u32,
    /// Why.
    pub reason: WidthReason,
}

impl Bound {
    /// At most so many lanes.
    fn at_most(lanes: u32, reason: WidthReason) -> Bound {
        Bound { lanes, reason }
    }

    /// Scalar code only.
    fn scalar(reason: WidthReason) -> Bound {
        Bound { lanes: 1, reason }
    }
}

/// A reason against wide vectors, if the kernel has it.
pub type Veto = fn(&WidthQuery<'_>) -> Option<Bound>;

/// A reason against the width that is the cheapest one so far.
pub type Limit = fn(&WidthQuery<'_>, u32) -> Option<Bound>;

/// All vetoes, the strongest first. Only the first that a kernel meets counts: it says where the time goes, so that
/// weaker ones, of which some would leave fewer lanes, do not matter.
pub const VETOES: &[Veto] = &[
    short_vectors_exceed_registers,
    short_vectors_fill_registers,
    reads_whole_registers,
    does_little_but_scatter,
    updates_scattered_memory,
    gathers_from_buffers,
    backtracks_in_private_arrays,
    counts_by_atomics,
    writes_columns,
    reads_columns,
    writes_rows,
    writes_records,
    steps_of_trees,
    does_little_but_store_scattered,
    reads_own_rows,
    live_values_exceed_registers,
];

/// What limits the width that is otherwise chosen. All count, in this order.
pub const LIMITS: &[Limit] = &[large_code, short_rows];

/// The live values of loops exceed even one register each, and are mostly short vectors. Scalar code holds each in few
/// registers: they are vectors already.
fn short_vectors_exceed_registers(q: &WidthQuery<'_>) -> Option<Bound> {
    // More than twice what the registers hold, though each value has one: most would be spilled.
    let exceeds = q.pressure.halves * q.native > 2 * q.register_halves();
    let is_vectors = 2 * q.pressure.in_vectors > q.pressure.halves;
    (exceeds && is_vectors).then(|| Bound::scalar(WidthReason::ShortVectorsExceedRegisters))
}

/// Nearly all work is on short vectors that fill registers, and does not wait for latency, which more independent
/// work-items would hide.
fn short_vectors_fill_registers(q: &WidthQuery<'_>) -> Option<Bound> {
    let fits = q.pressure.halves * q.native <= q.register_halves();
    let waits = || fits && q.any(|item| latency::waits_alone(item, q.native));
    let fills = fill_registers(q.items, q.features.vector_bits) && !waits();
    fills.then(|| Bound::scalar(WidthReason::ShortVectorsFillRegisters))
}

/// Loops read whole registers at a distance from each other: see [`reads_registers`] for the measurement.
fn reads_whole_registers(q: &WidthQuery<'_>) -> Option<Bound> {
    let reads = q.any(|item| reads_registers(item, q.features.vector_bits));
    reads.then(|| Bound::scalar(WidthReason::ReadsWholeRegisters))
}

/// A kernel without loops does little but access scattered memory: see [`scatters`] for the measurement. Where lanes
/// stay near each other, and there are scatters, one register of addresses is as fast as scalar code, and the rest of
/// the kernel is faster.
fn does_little_but_scatter(q: &WidthQuery<'_>) -> Option<Bound> {
    let is_near = || q.features.gather_scatter && stays_near(q.items, q.addresses(), q.tuning.cache_line);
    scatters(q.items).then(|| match is_near() {
        true => Bound::at_most(q.addresses(), WidthReason::ScattersNear),
        false => Bound::scalar(WidthReason::Scatters),
    })
}

/// See [`updates_scattered`] for the measurement.
fn updates_scattered_memory(q: &WidthQuery<'_>) -> Option<Bound> {
    q.any(updates_scattered).then(|| Bound::scalar(WidthReason::UpdatesScattered))
}

/// See [`gathers`] for the measurement.
fn gathers_from_buffers(q: &WidthQuery<'_>) -> Option<Bound> {
    q.any(gathers).then(|| Bound::scalar(WidthReason::Gathers))
}

/// See [`backtracks`] for the measurement.
fn backtracks_in_private_arrays(q: &WidthQuery<'_>) -> Option<Bound> {
    q.any(backtracks).then(|| Bound::scalar(WidthReason::Backtracks))
}

/// A kernel mostly counts by atomic operations, which run one after the other. If it reads with unit stride, lanes
/// share cache lines meanwhile.
fn counts_by_atomics(q: &WidthQuery<'_>) -> Option<Bound> {
    is_histogram(q.items).then(|| match q.any(VectorInput::counts_with_unit_stride) {
        true => Bound::at_most(q.native, WidthReason::CountsInOrder),
        false => Bound::scalar(WidthReason::Counts),
    })
}

/// Lanes write a column of a matrix. Each lane keeps a cache line open, and the lines share few sets of the cache:
/// [`cloom_target::Tuning::open_lines_written`] has the measurement.
fn writes_columns(q: &WidthQuery<'_>) -> Option<Bound> {
    // One line for each lane: more lanes than that evict each other's lines.
    let lanes = q.native.min(q.tuning.open_lines_written);
    (q.column() == Some(Column::Written)).then(|| Bound::at_most(lanes, WidthReason::WritesColumns))
}

/// Lanes read a column of a matrix: [`cloom_target::Tuning::open_lines_read`].
fn reads_columns(q: &WidthQuery<'_>) -> Option<Bound> {
    let lanes = q.native.min(q.tuning.open_lines_read);
    (q.column() == Some(Column::Read)).then(|| Bound::at_most(lanes, WidthReason::ReadsColumns))
}

/// Each lane writes its own row in a loop: [`store_streams`] has the measurement.
fn writes_rows(q: &WidthQuery<'_>) -> Option<Bound> {
    let lines = q.items.iter().filter_map(|item| store_streams::written(item)).max().filter(|&lines| lines > 0)?;
    // Each lane has several lines open. A row's line is complete within some iterations, so that as many may be open as
    // for reading; but no fewer lanes than for columns, whose lines are open for longer.
    let (written, read) = (q.tuning.open_lines_written, q.tuning.open_lines_read);
    Some(Bound::at_most(q.native.min((read / lines).clamp(written, read)), WidthReason::WritesRows))
}

/// Each lane writes fields of its own record: [`record_stores`] has the measurement.
fn writes_records(q: &WidthQuery<'_>) -> Option<Bound> {
    let bytes = q.items.iter().filter_map(|item| record_stores::stride(item)).max().filter(|&bytes| bytes > 0)?;
    let lines = q.tuning.open_lines_written;
    // Records shorter than a line share lines, which allows more lanes for as many lines.
    let lanes = (u64::from(lines * q.tuning.cache_line) / bytes).max(u64::from(lines));
    Some(Bound::at_most(q.native.min(1 << lanes.ilog2()), WidthReason::WritesRecords))
}

/// Steps of a tree in local memory have ever fewer work-items: [`tree_updates`] has the measurement.
fn steps_of_trees(q: &WidthQuery<'_>) -> Option<Bound> {
    q.any(tree_updates::is_step).then(|| Bound::at_most(q.addresses(), WidthReason::TreeSteps))
}

/// See [`stores_scattered`] for the measurement.
fn does_little_but_store_scattered(q: &WidthQuery<'_>) -> Option<Bound> {
    stores_scattered(q.items).then(|| Bound::at_most(q.native, WidthReason::StoresScattered))
}

/// Each lane reads its own row ([`crate::transform::row_transpose`]): every lane is a stream of its own for the caches.
fn reads_own_rows(q: &WidthQuery<'_>) -> Option<Bound> {
    q.any(VectorInput::reads_rows).then(|| Bound::at_most(q.native, WidthReason::ReadsRows))
}

/// The live values do not fit in the registers with as many registers per value as the machine interleaves.
fn live_values_exceed_registers(q: &WidthQuery<'_>) -> Option<Bound> {
    let exceeds = !q.fits(q.tuning.interleave * q.native);
    exceeds.then(|| Bound::at_most(q.native, WidthReason::LiveValuesExceedRegisters))
}

/// Vector code would be large and save little: [`code_size`] has the measurement. Narrower vectors save even less.
fn large_code(q: &WidthQuery<'_>, lanes: u32) -> Option<Bound> {
    let is_large = lanes > 1 && !code_size::pays_off(q.items, lanes, q.features);
    is_large.then(|| Bound::scalar(WidthReason::LargeCode))
}

/// Lanes beyond the end of a row would be inactive in every vector.
fn short_rows(q: &WidthQuery<'_>, lanes: u32) -> Option<Bound> {
    // The candidates are powers of two: a row of 12 is one vector of 16 lanes with 4 off.
    let row = q.row.next_power_of_two();
    (row < lanes).then(|| Bound::at_most(row, WidthReason::ShortRows))
}
