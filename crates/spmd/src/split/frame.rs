//! The frame: memory for values that live across barriers while other work-items run.
//!
//! In come the continuation graph and which values are uniform for the group; out goes the layout of scratch memory.
//! It has a fixed part for each group, with a slot for each group-uniform value, and a record for each work-item of
//! the enqueued local size. Rematerialised values have no slot. Who may write and read a slot, and why the value read
//! is the right one, is section 3 of `docs/internals/spmd.md`:
//!
//! * slots and arrays of a work-item: that work-item alone;
//! * slots of the group: every work-item writes the same value; they are read before the first work-item of the next
//!   continuation runs.

use crate::analysis::divergence::Divergence;
use crate::split::continuations::ContinuationGraph;
use cloom_ir::{Entity, Function, Op, Type, Value};

/// A slot of the frame, as an offset in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slot {
    /// In the fixed part of the group.
    Group(u64),
    /// In the record of the work-item.
    Item(u64),
}

/// The layout of the frame.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Bytes of the fixed part, which the records follow.
    pub fixed: u64,
    /// Bytes of a record.
    pub per_item: u64,
    /// The slot of each value that has one; for a private array, of its contents.
    pub slots: Vec<Option<Slot>>,
    /// The offset of the next-continuation id in the record.
    pub next: Option<u64>,
}

/// The least alignment of the records, which follow the fixed part.
const MIN_ALIGN: u64 = 128;

struct Area {
    end: u64,
    align: u64,
}

impl Area {
    fn allocate(&mut self, size: u64, align: u64) -> u64 {
        let at = self.end.next_multiple_of(align);
        self.end = at + size;
        self.align = self.align.max(align);
        at
    }
}

/// The type of a value in memory: `i1` is stored as `i8`.
pub fn memory_type(ty: Type) -> Type {
    if ty.scalar == cloom_ir::Scalar::I1 { ty.with_scalar(cloom_ir::Scalar::I8) } else { ty }
}

/// The alignment of a slot of this type.
pub fn slot_align(ty: Type) -> u32 {
    memory_type(ty).bytes().next_power_of_two().min(64)
}

/// Assigns a slot to each value and array that is saved.
pub fn lay_out(func: &Function, graph: &ContinuationGraph, divergence: &Divergence) -> Frame {
    let mut group = Area { end: 0, align: 1 };
    let mut item = Area { end: 0, align: 1 };
    let mut slots = vec![None; func.values.len()];
    // A value has one slot for all continuations: a work-item is in one of them at a time.
    let mut live: Vec<Value> = graph.continuations.iter().flat_map(|c| c.live_in.iter().copied()).collect();
    // Sorted, so that the layout does not depend on the order of continuations.
    live.sort();
    live.dedup();
    for v in live {
        if matches!(func.def_op(v), Some(Op::Alloca { .. })) || graph.remat_from_group[v.index()] {
            continue;
        }
        let ty = func.ty(v);
        let align = u64::from(slot_align(ty));
        // The emitter stores the slots of consecutive lanes contiguously, each at its alignment.
        let size = u64::from(memory_type(ty).bytes()).next_multiple_of(align);
        slots[v.index()] = Some(if divergence.is_uniform(v) {
            Slot::Group(group.allocate(size, align))
        } else {
            Slot::Item(item.allocate(size, align))
        });
    }
    // Always of the work-item, even if its address looks uniform: each has contents of its own.
    for &v in &graph.kept_arrays {
        if let Some(&Op::Alloca { size, align, .. }) = func.def_op(v) {
            let bytes = crate::analysis::private_layout::object_stride(size, align) as u64;
            slots[v.index()] = Some(Slot::Item(item.allocate(bytes, u64::from(align))));
        }
    }
    // Without divergent dispatch, the exits of a group's vectors are the same, and nobody needs to remember them.
    let next = graph.divergent_dispatch.then(|| item.allocate(4, 4));
    // Records follow at multiples of their alignment, and not in the cache lines of the group's slots.
    let fixed = group.end.next_multiple_of(item.align.max(MIN_ALIGN));
    Frame { fixed, per_item: item.end.next_multiple_of(item.align), slots, next }
}
