//! Stores with gaps: lanes at a stride of up to four elements, stored by masked stores that cover the range.
//!
//! ```text
//! p[3*i] = x;      lanes: x0 -- -- x1 -- -- x2 …      one masked store for each register that the range takes
//! ```
//!
//! In comes the function of one work-item; out goes which of its stores to write so. In the first-level cache that
//! takes a fifth of the time of scalar stores or a scatter. There are two limits:
//!
//! * *What is written so cannot be read soon.* A load that overlaps a pending masked store waits until it is in the
//!   cache: the store buffer forwards none. The fields of a record, each
//!   updated in turn, are such stores and loads. (Three floats a record, each one incremented, on Zen 5: 0.37 ns a
//!   float, and 0.19 lane by lane.) Elements that a masked store leaves out overlap, so none is beyond the last lane's
//!   if the next vector reads there. (Only the third float stored so: 0.26 ns a float with the store's end there,
//!   0.14 without.)
//! * *Lines must be near.* Masked stores that miss the cache wait for each other on Zen 5, where scalar stores do not.
//!   So the lines are prefetched, unless the kernel has just read them. (Every third float of 37 MB: 0.60 ns a float,
//!   0.37 lane by lane, 0.30 with the prefetch, which takes no time if the line is there.)

use super::Widener;
use crate::analysis::input::VectorInput;
use crate::analysis::shape::Shape;
use crate::error::Stop;
use cloom_ir::affine::{Affine, Ext, Facts, Form, Symbol};
use cloom_ir::{Block, Flags, Inst, Op, Type, Value};
use rustc_hash::FxHashMap;

/// The longest stride, in elements, at which there are masked stores.
const MAX_STRIDE: i64 = 4;

/// The most components that masked stores cover.
const MAX_COMPONENTS: i64 = 256;

/// What the work-item does with the memory around a store with gaps.
#[derive(Clone, Copy, Default)]
pub(super) struct Neighbours {
    /// It reads it afterwards.
    read_soon: bool,
    /// It has read it before.
    is_cached: bool,
    /// It reads what is before each lane's elements, so that the next vector reads right behind the last lane's.
    reads_below: bool,
}

/// The stores of a function that may have gaps.
#[derive(Default)]
pub(super) struct StoreGaps {
    stores: FxHashMap<Inst, Neighbours>,
}

/// A strided access.
struct Access {
    inst: Inst,
    block: Block,
    /// Its place in reverse postorder.
    at: (usize, usize),
    p: Value,
    by: i64,
}

impl StoreGaps {
    /// Finds the stores of a function, for so many lanes.
    pub(super) fn find(item: &VectorInput, lanes: u16) -> StoreGaps {
        let mut found = StoreGaps::default();
        if !item.masked_store {
            return found;
        }
        let (stores, loads): (Vec<Access>, Vec<Access>) =
            accesses(item).partition(|a| matches!(item.func.insts[a.inst].op, Op::Store { .. }));
        if stores.is_empty() {
            return found;
        }
        // A number of 32 bits that wraps makes a wrong guess and no wrong code.
        let affine = item.affine(Facts { no_wrap: &|_, _| true, ..Facts::default() });
        for store in &stores {
            let span = store.by * i64::from(lanes);
            let mut around = Neighbours::default();
            // At another stride the distance of two lanes is not that of two vectors, and is not compared.
            for load in loads.iter().filter(|load| load.by == store.by) {
                let distance = affine.form(load.p, Ext::Own).minus(&affine.form(store.p, Ext::Own));
                let near = near(&distance, span);
                // Reverse postorder is the order of the emitted code, up to back edges, for which `is_read_in_next` is.
                around.is_cached |= near.is_some() && load.at < store.at;
                around.read_soon |= near.is_some() && load.at > store.at;
                around.read_soon |= is_read_in_next(item, &affine, store, load, span);
                around.reads_below |= near.is_some_and(|d| d < 0);
            }
            found.stores.insert(store.inst, around);
        }
        found
    }
}

/// The loads and stores whose lanes have gaps of a few elements.
fn accesses(item: &VectorInput) -> impl Iterator<Item = Access> {
    // Each access with its place in the order of emission.
    let blocks = item.cfg.rpo().iter().enumerate();
    let insts =
        blocks.flat_map(|(n, &b)| item.func.blocks[b].insts.iter().enumerate().map(move |(k, &i)| (b, (n, k), i)));
    insts.filter_map(|(block, at, inst)| {
        let data = &item.func.insts[inst];
        let value = match data.op {
            Op::Load { .. } => data.result?,
            Op::Store { .. } => data.args[1],
            _ => return None,
        };
        let Shape::Strided { by, .. } = item.shapes.of(data.args[0]) else { return None };
        has_gaps(item.func.ty(value), by).then_some(Access { inst, block, at, p: data.args[0], by })
    })
}

/// Whether lanes at a stride are a few elements apart.
fn has_gaps(ty: Type, by: i64) -> bool {
    let (size, n) = (i64::from(ty.scalar.bytes()), i64::from(ty.lanes));
    by % size == 0 && (n + 1..=MAX_STRIDE).contains(&(by / size))
}

/// The distance of two vectors, in the first iterations of loops, if they overlap.
fn near(distance: &Form, span: i64) -> Option<i64> {
    let is_iteration = |s: Symbol| matches!(s, Symbol::Iteration(_));
    // In which iteration a load and a store are is left out: where one follows the other, they are in the same one.
    let (_, distance) = distance.coefficients(is_iteration)?;
    distance.as_const().filter(|d| d.abs() < span)
}

/// Whether a load reads in the next iteration of a loop what a store writes in this one.
fn is_read_in_next(item: &VectorInput, affine: &Affine<'_>, store: &Access, load: &Access, span: i64) -> bool {
    (0..item.loops.loops.len()).any(|l| {
        let blocks = &item.loops.loops[l].blocks;
        blocks.contains(&store.block)
            && blocks.contains(&load.block)
            && affine
                .next(l, load.p)
                .is_some_and(|next| near(&next.minus(&affine.form(store.p, Ext::Own)), span).is_some())
    })
}

impl Widener<'_> {
    /// Whether a store's lanes are at a stride that masked stores cover. Not where lanes are off: to repeat a mask for
    /// each element takes more code than a scatter.
    pub(super) fn is_gapped(&self, inst: Inst, ty: Type, by: i64) -> bool {
        self.masks.current.is_none()
            && (by / i64::from(ty.scalar.bytes())).saturating_mul(i64::from(self.lanes)) <= MAX_COMPONENTS
            && self.store_gaps.stores.get(&inst).is_some_and(|around| !around.read_soon)
    }

    /// Stores scalars or short vectors with gaps between lanes, of which nothing is written.
    pub(super) fn store_gapped(
        &mut self,
        inst: Inst,
        base: Value,
        by: i64,
        align: u32,
        flags: Flags,
    ) -> Result<(), Stop> {
        let data = &self.item.func.insts[inst];
        let (p, x) = (data.args[0], data.args[1]);
        let ty = self.item.func.ty(x);
        // Components, lanes, and the elements from one lane to the next.
        let (n, w, step) = (ty.lanes, self.lanes, (by / i64::from(ty.scalar.bytes())) as u16);
        let around = self.store_gaps.stores.get(&inst).copied().unwrap_or_default();
        // Local and private memory of a group is in the first-level cache anyway.
        if !around.is_cached && !self.is_group_private(p) {
            self.prefetch_lines(base, by);
        }
        let components = self.lanes(x)?;
        let interleaved = self.interleave(&components);
        let (written, gap) = (self.b().iconst(Type::I1, 1), self.b().iconst(Type::I1, 0));
        // A constant mask, as a shuffle of two constants, which LLVM folds.
        let either = self.b().build(&[written, gap]);
        // Where the next vector reads right behind the last lane's elements, no masked store reaches there, even with
        // lanes that are off: the load would wait for it.
        let end = if around.reads_below { (w - 1) * step + n } else { w * step };
        for k in 0..step {
            // The last store begins earlier if it would pass `end`. What it has in common with the one before is off
            // (`e >= k * w`).
            let start = (k * w).min(end - w);
            let elements = || start..start + w;
            // Element `e` belongs to lane `e / step`. In a gap, any component will do, as it is not written.
            let order: Vec<u16> = elements().map(|e| e / step * n + (e % step).min(n - 1)).collect();
            let row = self.b().shuffle(interleaved, interleaved, &order);
            let is_written = |e: u16| e >= k * w && e % step < n;
            let order: Vec<u16> = elements().map(|e| u16::from(!is_written(e))).collect();
            let mask = self.b().shuffle(either, either, &order);
            let offset = u64::from(start) * u64::from(ty.scalar.bytes());
            let to = self.b().ptr_offset(base, offset);
            self.b().masked_store(to, row, mask, align.min(1 << offset.trailing_zeros().min(12)), flags);
        }
        Ok(())
    }
}
