//! Serialisation: calls, printf, copies, and atomic operations without a better lowering run lane by lane, in
//! ascending order.
//!
//! Where all lanes are on, the code of each lane is written out. Under a mask it is a loop over the lanes that are on.
//! A lane whose number is known at run time only is read from memory, not extracted from a register: processors have
//! no instruction for that, and LLVM stores the whole vector again in each iteration. So vectors are stored once, in
//! front of the loop, to *lane slots* in private memory, and results are collected in such slots:
//!
//! ```text
//! from:  store v, slot                          for each vector v that lanes are read of
//!        br any(mask), head, after
//! head:  lane = ctz(remaining)
//!        x = load slot + lane * size
//!        … one lane's code …
//!        store result, result slot + lane * size
//!        br remaining & (remaining - 1), head, after
//! after: load result slot
//! ```

use super::{Lanes, VecValue, Widener};
use crate::error::Stop;
use cloom_ir::{Args, BinOp, Block, Builder, Edge, Entity, Flags, Inst, IntCc, Op, Scalar, Term, Type, UnOp, Value};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// The most lanes for which code is unrolled, if none is inactive.
const MAX_UNROLLED: u16 = 32;

/// The highest alignment of a lane slot: a cache line, so that no access crosses one more often than it must.
const MAX_ALIGN: u32 = 64;

/// Private memory for the vectors that loops over lanes read and write one lane at a time.
#[derive(Default)]
pub(super) struct LaneSlots {
    /// By size in bytes and number.
    all: FxHashMap<(u32, u32), Value>,
    /// How many of each size the current loop uses.
    taken: FxHashMap<u32, u32>,
    /// The loop that is being emitted.
    open: Option<LaneLoop>,
}

/// A loop over lanes that is being emitted.
struct LaneLoop {
    /// The number of the lane.
    lane: Value,
    /// The vectors that are stored in front of it, with their slots.
    stored: Vec<(Value, Value)>,
}

/// Whether lanes of a vector are addressable in memory: bits of masks are not.
fn is_storable(ty: Type) -> bool {
    ty.scalar != Scalar::I1
}

impl Widener<'_> {
    /// Emits an instruction for each active lane.
    pub(super) fn serial(&mut self, inst: Inst) -> Result<(), Stop> {
        self.decide_serial(inst);
        let lanes = self.serial_lanes(inst)?;
        if let Some(r) = self.item.func.insts[inst].result.filter(|r| self.item.used[r.index()]) {
            self.set(r, VecValue::Varying(lanes));
        }
        Ok(())
    }

    /// The same; returns the vectors of results, if these are used.
    pub(super) fn serial_lanes(&mut self, inst: Inst) -> Result<Lanes, Stop> {
        let item = self.item;
        let data = &item.func.insts[inst];
        // In the loop a lane is `base + lane * by`, without its check: so a checked stride becomes lanes here.
        let operands: Vec<VecValue> = data.args.iter().map(|&a| self.exact(a)).collect::<Result<_, _>>()?;
        let ty = data.result.map(|r| item.func.ty(r));
        let used = data.result.filter(|&r| item.used[r.index()]);
        // Without results, a locked instruction in a loop takes no longer than unrolled, and the code is short.
        let is_unrolled =
            self.masks.current.is_none() && (used.is_some() || !self.is_locked(inst)) && is_small(&data.op);
        self.each_lane(used.and(ty), is_unrolled, |w, lane| {
            let args: Args = operands.iter().map(|o| w.lane_at(o, lane)).collect();
            Ok(w.b().push(data.op.clone(), args, ty, data.flags))
        })
    }

    /// Whether an operation takes a locked instruction, next to which the iteration of a loop costs nothing.
    fn is_locked(&self, inst: Inst) -> bool {
        let data = &self.item.func.insts[inst];
        matches!(data.op, Op::AtomicRmw { .. } | Op::AtomicCmpXchg { .. }) && !self.is_group_private(data.args[0])
    }

    /// One lane of a value, at a run-time index.
    pub(super) fn lane_at(&mut self, wide: &VecValue, lane: Value) -> Value {
        match wide {
            VecValue::Uniform(v) => *v,
            VecValue::Strided { base, by, .. } => {
                let ty = self.func.ty(*base);
                let int_type = if ty.is_ptr() { Type::I64 } else { ty };
                let lane = self.resize(lane, int_type);
                let by = self.b().iconst(int_type, *by as u64);
                let offset = self.b().binary(BinOp::Mul, lane, by);
                if ty.is_ptr() { self.b().ptr_add(*base, offset) } else { self.b().binary(BinOp::Add, *base, offset) }
            }
            VecValue::Varying(components) => {
                let components: Lanes = components.iter().map(|&p| self.extract_at(p, lane)).collect();
                if components.len() == 1 { components[0] } else { self.b().build(&components) }
            }
        }
    }

    fn resize(&mut self, lane: Value, to: Type) -> Value {
        if self.func.ty(lane) == to { lane } else { self.b().cast(cloom_ir::CastOp::Trunc, lane, to) }
    }

    /// A lane of a vector, by its number. In a loop over lanes, it is read from the vector's slot.
    pub(super) fn extract_at(&mut self, v: Value, lane: Value) -> Value {
        let Some(lane_loop) = &self.lane_slots.open else { return self.b().extract(v, lane) };
        // A slot is filled in front of the loop. A vector that the loop itself computes does not exist there.
        if lane != lane_loop.lane || !is_storable(self.func.ty(v)) || self.func.is_defined_in(v, &[self.cur]) {
            return self.b().extract(v, lane);
        }
        let slot = match lane_loop.stored.iter().find(|&&(stored, _)| stored == v) {
            Some(&(_, slot)) => slot,
            None => {
                let slot = self.lane_slot(self.func.ty(v));
                if let Some(lane_loop) = &mut self.lane_slots.open {
                    lane_loop.stored.push((v, slot));
                }
                slot
            }
        };
        let ty = self.func.ty(v).lane();
        let p = self.in_slot(slot, ty, lane);
        self.b().load(ty, p, ty.bytes(), Flags::empty())
    }

    /// The address of a lane in a slot.
    fn in_slot(&mut self, slot: Value, ty: Type, lane: Value) -> Value {
        let mut b = self.b();
        let size = b.iconst(Type::I64, u64::from(ty.bytes()));
        let offset = b.binary(BinOp::Mul, lane, size);
        b.ptr_add(slot, offset)
    }

    /// Private memory for a vector that the open loop over lanes has not used yet. Other loops use it again.
    fn lane_slot(&mut self, ty: Type) -> Value {
        let bytes = ty.bytes();
        let nth = self.lane_slots.taken.entry(bytes).or_default();
        *nth += 1;
        if let Some(&slot) = self.lane_slots.all.get(&(bytes, *nth)) {
            return slot;
        }
        let key = (bytes, *nth);
        let entry = self.func.entry();
        // In the entry block: in a loop, each iteration would take more of the stack.
        let slot = Builder::new(self.func, entry).alloca(u64::from(bytes), bytes.next_power_of_two().min(MAX_ALIGN));
        // It must precede its uses, and the entry may be the current block.
        self.func.move_last_to_front(entry);
        self.lane_slots.all.insert(key, slot);
        slot
    }

    /// Emits code that runs for each active lane. Returns the vectors of results.
    pub(super) fn each_lane(
        &mut self,
        result: Option<Type>,
        unrolled: bool,
        mut code: impl FnMut(&mut Self, Value) -> Result<Option<Value>, Stop>,
    ) -> Result<Lanes, Stop> {
        // Callers ask for unrolled code only without a mask: it has no test for each lane.
        if !unrolled || self.lanes > MAX_UNROLLED {
            return self.lane_loop(result, code);
        }
        let mut lanes: Lanes = match result {
            Some(ty) => (0..ty.lanes).map(|_| self.zeros(ty)).collect(),
            None => Lanes::new(),
        };
        for l in 0..self.lanes {
            let lane = self.b().iconst(Type::I64, u64::from(l));
            let value = code(self, lane)?;
            self.insert_lane(&mut lanes, lane, value);
        }
        Ok(lanes)
    }

    fn zeros(&mut self, ty: Type) -> Value {
        let wide = self.wide_type(ty);
        self.b().iconst(wide, 0)
    }

    /// Emits a loop over the active lanes.
    fn lane_loop(
        &mut self,
        result: Option<Type>,
        mut code: impl FnMut(&mut Self, Value) -> Result<Option<Value>, Stop>,
    ) -> Result<Lanes, Stop> {
        let mask = self.mask_value(self.masks.current);
        let bits = self.b().ballot(mask);
        let zero = self.b().iconst(Type::I64, 0);
        let any = self.b().icmp(IntCc::Ne, bits, zero);
        // Slots of an earlier loop are free: its vectors were all read in it.
        self.lane_slots.taken.clear();
        // Lanes that are off get zeros.
        let component = result.map(|ty| self.wide_type(ty));
        let zeros: Lanes =
            result.into_iter().flat_map(|ty| (0..ty.lanes).map(move |_| ty)).map(|ty| self.zeros(ty)).collect();
        // Results that have no slot (bits of masks) are carried around the loop as vectors.
        let in_memory = component.is_some_and(is_storable);
        let slots: Lanes =
            if in_memory { zeros.iter().map(|&z| self.lane_slot(self.func.ty(z))).collect() } else { smallvec![] };
        for (&slot, &z) in slots.iter().zip(&zeros) {
            let align = self.func.ty(z).scalar.bytes();
            self.b().store(slot, z, align, Flags::empty());
        }
        let start: Lanes = if in_memory { smallvec![] } else { zeros };
        let (from, head, after) = (self.cur, self.new_block(), self.new_block());
        // The lanes still to run, as bits. Clearing the lowest one after each is all that the loop's control costs.
        let remaining = self.func.add_block_param(head, Type::I64);
        let param = |w: &mut Self, block: Block, v: Value| w.func.add_block_param(block, w.func.ty(v));
        let mut carried: Lanes = start.iter().map(|&v| param(self, head, v)).collect();
        let mut results: Lanes = start.iter().map(|&v| param(self, after, v)).collect();
        let enter: SmallVec<[Value; 4]> = std::iter::once(bits).chain(start.iter().copied()).collect();
        let term = Term::Branch { cond: any, then: Edge::new(head, enter), els: Edge::new(after, start) };
        self.b().term(term);
        // No variable changes in the loop: reads look through it.
        self.cur = head;
        let lane = self.b().unary(UnOp::Ctz, remaining);
        // From here to `take` below, `extract_at` reads this lane from slots.
        self.lane_slots.open = Some(LaneLoop { lane, stored: Vec::new() });
        let value = code(self, lane)?;
        if let (true, Some(value)) = (in_memory, value) {
            for (c, &slot) in slots.iter().enumerate() {
                let x = if slots.len() == 1 { value } else { self.b().extract_lane(value, c as u16) };
                let ty = self.func.ty(x);
                let p = self.in_slot(slot, ty, lane);
                self.b().store(p, x, ty.bytes(), Flags::empty());
            }
        }
        self.insert_lane(&mut carried, lane, value);
        let one = self.b().iconst(Type::I64, 1);
        let minus_one = self.b().binary(BinOp::Sub, remaining, one);
        let other_lanes = self.b().binary(BinOp::And, remaining, minus_one);
        let more = self.b().icmp(IntCc::Ne, other_lanes, zero);
        let next: SmallVec<[Value; 4]> = std::iter::once(other_lanes).chain(carried.iter().copied()).collect();
        // `remaining & (remaining - 1)` is zero after the last lane.
        let term = Term::Branch { cond: more, then: Edge::new(head, next), els: Edge::new(after, carried) };
        self.b().term(term);
        self.cur = from;
        // Which vectors need a slot is known only now. Instructions that are appended to `from` still precede its
        // branch.
        for (v, slot) in self.lane_slots.open.take().map(|l| l.stored).unwrap_or_default() {
            let align = self.func.ty(v).scalar.bytes();
            self.b().store(slot, v, align, Flags::empty());
        }
        // The back edge and the edge out of the loop are left out, as they bring no other values of variables.
        self.ssa.seal(self.func, head, vec![from]);
        self.ssa.seal(self.func, after, vec![from]);
        self.cur = after;
        if let (true, Some(ty)) = (in_memory, component) {
            results = slots.iter().map(|&slot| self.b().load(ty, slot, ty.scalar.bytes(), Flags::empty())).collect();
        }
        Ok(results)
    }

    fn insert_lane(&mut self, lanes: &mut Lanes, lane: Value, value: Option<Value>) {
        let Some(value) = value else { return };
        for c in 0..lanes.len() {
            let component = if lanes.len() == 1 { value } else { self.b().extract_lane(value, c as u16) };
            let old = lanes[c];
            lanes[c] = self.b().insert(old, lane, component);
        }
    }
}

/// Whether the code of an operation is small enough to be unrolled.
fn is_small(op: &Op) -> bool {
    !matches!(op, Op::Call(_) | Op::PureCall(_) | Op::Printf(_) | Op::DeviceCall(_))
}
