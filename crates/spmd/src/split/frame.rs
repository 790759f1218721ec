//! The frame: where values that live across barriers are kept while other work-items run.
//!
//! In come the continuation graph and which values are uniform for the group; out goes the layout of scratch memory: a
//! fixed part for each group, with a slot for each uniform value, and a record for each work-item of the enqueued
//! local size. Values that are rematerialised have no slot. Who may write and read a slot, and why no other value is
//! there, is section 3 of `docs/internals/spmd.md`:
//!
//! * a work-item's slots and arrays: that work-item alone;
//! * a group's slots: every work-item, with one value; read before the first work-item of the next continuation runs.

use crate::analysis::divergence::Divergence;
use crate::split::continuations::ContinuationGraph;
use cloom_ir::{Entity, Function, Op, Type, Value};

/// Where something is kept, as an offset in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slot {
    /// In the fixed part.
    Group(u64),
    /// In the work-item's record.
    Item(u64),
}

/// The layout of scratch.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Bytes of the fixed part; the records begin here.
    pub fixed: u64,
    /// Bytes of a record.
    pub per_item: u64,
    /// Place of each value that is kept; for a private array, of its contents.
    pub slots: Vec<Option<Slot>>,
    /// Where a work-item's own next continuation stands in its record.
    pub next: Option<u64>,
}

/// Alignment of the fixed part and of records, at most.
const MAX_ALIGN: u64 = 128;

struct Area {
    end: u64,
    align: u64,
}

impl Area {
    fn place(&mut self, size: u64, align: u64) -> u64 {
        let at = self.end.next_multiple_of(align);
        self.end = at + size;
        self.align = self.align.max(align);
        at
    }
}

/// The form of a value in memory: truth values become bytes.
pub fn memory_type(ty: Type) -> Type {
    if ty.scalar == cloom_ir::Scalar::I1 { ty.with_scalar(cloom_ir::Scalar::I8) } else { ty }
}

/// The alignment that a slot of this type has.
pub fn slot_align(ty: Type) -> u32 {
    memory_type(ty).bytes().next_power_of_two().min(64)
}

/// Places everything that the plan keeps.
pub fn lay_out(func: &Function, graph: &ContinuationGraph, divergence: &Divergence) -> Frame {
    let mut group = Area { end: 0, align: 1 };
    let mut item = Area { end: 0, align: 1 };
    let mut slots = vec![None; func.values.len()];
    let mut live: Vec<Value> = graph.continuations.iter().flat_map(|c| c.live_in.iter().copied()).collect();
    live.sort();
    live.dedup();
    for v in live {
        if matches!(func.def_op(v), Some(Op::Alloca { .. })) || graph.remat_from_group[v.index()] {
            continue;
        }
        let ty = func.ty(v);
        let align = u64::from(slot_align(ty));
        // Slots of neighbouring lanes lie next to each other, each at its alignment.
        let size = u64::from(memory_type(ty).bytes()).next_multiple_of(align);
        slots[v.index()] = Some(if divergence.is_uniform(v) {
            Slot::Group(group.place(size, align))
        } else {
            Slot::Item(item.place(size, align))
        });
    }
    for &v in &graph.kept_arrays {
        if let Some(&Op::Alloca { size, align }) = func.def_op(v) {
            let bytes = crate::analysis::private_layout::object_stride(size, align) as u64;
            slots[v.index()] = Some(Slot::Item(item.place(bytes, u64::from(align).min(MAX_ALIGN))));
        }
    }
    let next = graph.divergent_dispatch.then(|| item.place(4, 4));
    Frame { fixed: group.end.next_multiple_of(MAX_ALIGN), per_item: item.end.next_multiple_of(item.align), slots, next }
}
