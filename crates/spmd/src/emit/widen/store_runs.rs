//! Runs of stores to private objects that are laid out by lane: one loop over the lanes for all of them.
//!
//! An initialiser of an object that is laid out by lane ([`crate::analysis::private_layout`]), or kept in the frame,
//! is a run of stores. Each of them would become one scalar store for each lane, all in one block, and LLVM's
//! scheduler takes quadratic time for a block. So the code has the stores once, in a loop over the active lanes:
//!
//! ```text
//! p[0] = x;  p[1] = 3;  p[2] = y;   ─▶   buffer[0] = x;  buffer[1] = y;             vector stores
//!                                        for each lane l: p_l[0] = buffer[0][l];  p_l[1] = 3;  p_l[2] = buffer[1][l];
//! ```
//!
//! Values that vary go through memory: an element of a vector at a varying index would go there anyway.

use super::{AccessForm, VecValue, Widener};
use crate::analysis::shape::Shape;
use crate::error::Stop;
use cloom_ir::{BinOp, Flags, Inst, Op, Space, Type, Value};

/// The fewest stores, of all lanes together, for which there is a loop.
const MIN_STORES: usize = 128;
/// The most stores of one loop.
const MAX_STORES: usize = 64;
/// The most bytes of a value.
const MAX_BYTES: u32 = 8;

impl Widener<'_> {
    /// How many of these instructions of a block, from the first on, are a run of stores to go through a loop; 0 if
    /// they are too few. What is between the stores has no effect and depends on no memory.
    pub(super) fn store_run(&self, insts: &[Inst]) -> usize {
        let (mut stores, mut end) = (0, 0);
        for (k, &i) in insts.iter().enumerate() {
            // A run begins with a store. What is pure may be computed before all of its stores.
            if self.is_store_by_lane(i) {
                (stores, end) = (stores + 1, k + 1);
                if stores == MAX_STORES {
                    break;
                }
            } else if stores == 0 || !self.item.func.insts[i].op.is_pure() {
                break;
            }
        }
        // `end` is behind the last store: operations after it are not part of the run.
        if stores * usize::from(self.lanes) >= MIN_STORES { end } else { 0 }
    }

    /// Whether an instruction stores one number, for each lane, to an object that is laid out by lane, at a uniform
    /// offset.
    fn is_store_by_lane(&self, i: Inst) -> bool {
        let item = self.item;
        let data = &item.func.insts[i];
        let &[p, x] = &data.args[..] else { return false };
        let ty = item.func.ty(x);
        matches!(data.op, Op::Store { .. })
            && !data.flags.contains(Flags::VOLATILE)
            && !ty.is_vector()
            && ty.bytes() <= MAX_BYTES
            && item.func.ty(p).space() == Some(Space::Private)
            && item.shapes.arrays.unit(p).is_none()
            // At the stride of one element, a vector store does it.
            && matches!(item.shapes.of(p), Shape::Strided { by, checked: false } if by != i64::from(ty.bytes()))
    }

    /// Emits a run of stores.
    pub(super) fn stores_in_loop(&mut self, insts: &[Inst]) -> Result<(), Stop> {
        let item = self.item;
        let (stores, others): (Vec<Inst>, Vec<Inst>) =
            insts.iter().partition(|&&i| matches!(item.func.insts[i].op, Op::Store { .. }));
        // In the order of the program, so operands come before their uses.
        for i in others {
            self.span = item.func.insts[i].span;
            self.inst(i)?;
        }
        let mut emitted: Vec<(VecValue, VecValue, Inst)> = Vec::new();
        let mut buffered = 0;
        for &i in &stores {
            let data = &item.func.insts[i];
            let (to, value) = (self.get(data.args[0])?, self.exact(data.args[1])?);
            let value = match value {
                VecValue::Varying(lanes) => {
                    let row = self.buffer_row(buffered);
                    buffered += 1;
                    let ty = self.func.ty(lanes[0]);
                    self.b().store(row, lanes[0], ty.scalar.bytes(), Flags::empty());
                    // From here on, `Varying` holds the address of the row instead of lanes.
                    VecValue::Varying(smallvec::smallvec![row])
                }
                other => other,
            };
            self.decide(i, AccessForm::LaneByLane, false);
            emitted.push((to, value, i));
        }
        // The order of each lane's stores is kept; lanes have objects of their own, so their order does not matter.
        self.each_lane(None, false, |w, lane| {
            for (to, value, i) in &emitted {
                let data = &item.func.insts[*i];
                let Op::Store { align } = data.op else { continue };
                w.span = data.span;
                let ty = item.func.ty(data.args[1]);
                let x = match value {
                    VecValue::Varying(row) => w.buffered(row[0], ty, lane),
                    other => w.lane_at(other, lane),
                };
                // `is_store_by_lane` admits no checked stride, so that base and stride give each lane's address.
                let p = w.lane_at(to, lane);
                w.b().store(p, x, align, data.flags);
            }
            Ok(None)
        })?;
        // Vector loads over what was just stored number by number wait for the cache.
        for (to, ..) in &emitted {
            if let VecValue::Strided { by, .. } = *to
                && !self.memory.scalar_store_strides.contains(&by)
            {
                self.memory.scalar_store_strides.push(by);
            }
        }
        Ok(())
    }

    /// The address of a row of the buffer: room for one vector.
    fn buffer_row(&mut self, row: usize) -> Value {
        let bytes = u64::from(self.lanes) * u64::from(MAX_BYTES);
        let buffer = match self.memory.store_buffer {
            Some(buffer) => buffer,
            None => {
                let entry = self.func.entry();
                // One buffer for all runs of the function: each fills its rows before its loop reads them.
                let buffer = cloom_ir::Builder::new(self.func, entry).alloca(bytes * MAX_STORES as u64, MAX_BYTES * 8);
                // It must precede its uses, and the entry may be the current block.
                self.func.move_last_to_front(entry);
                self.memory.store_buffer = Some(buffer);
                buffer
            }
        };
        self.b().ptr_offset(buffer, row as u64 * bytes)
    }

    /// A lane of a vector in the buffer.
    fn buffered(&mut self, row: Value, ty: Type, lane: Value) -> Value {
        let bytes = ty.scalar.bytes();
        let mut b = self.b();
        let size = b.iconst(Type::I64, u64::from(bytes));
        let offset = b.binary(BinOp::Mul, lane, size);
        let p = b.ptr_add(row, offset);
        b.load(ty, p, bytes, Flags::empty())
    }
}
