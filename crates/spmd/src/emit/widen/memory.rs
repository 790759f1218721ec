//! Loads and stores, by the shape of their addresses.
//!
//! | address | load | store |
//! |---|---|---|
//! | uniform | one scalar load | a scalar store of the last active lane |
//! | contiguous (also short vectors) | one vector load; short vectors are deinterleaved by shuffles | likewise |
//! | contiguous, descending | one vector load, reversed | likewise |
//! | stride of 2 to 4 elements | vector loads that cover the range, if no lane is inactive | masked stores of it |
//! | other strides, sums with a scalar part, short ones | lane by lane if all are active, else gather | likewise |
//! | anything else | gather | scatter |
//!
//! An access with a checked stride has both forms, and a branch on the check. Masked stores need an instruction, and
//! are not for memory that is read soon ([`super::store_gaps`]); other stores at such a stride are lane by lane.

use super::address::Address;
use super::{AccessForm, Lanes, VecValue, Widener};
use crate::analysis::private_layout::{self, Place};
use crate::analysis::shape::Shape;
use crate::error::{NotVectorised, Stop, bug};
use cloom_ir::{Args, BinOp, CastOp, Entity, Flags, Inst, IntCc, Op, Scalar, Space, Type, Value};
use smallvec::smallvec;

/// The longest stride, in elements, at which the elements between lanes are loaded too.
const MAX_COVERED: i64 = 4;

/// The most components, of all lanes together, that are loaded lane by lane.
const MAX_COMPONENTS: u16 = 256;

/// The depth to which the additions of an address are followed.
const ADDRESS_DEPTH: u32 = 8;

/// Bytes of a cache line.
const LINE: u64 = 64;
/// The most cache lines that one prefetch covers.
const MAX_PREFETCHED_LINES: u64 = 8;

/// The most bytes of a private array for all lanes; kernels with larger ones are scalar.
const MAX_ARRAY: u64 = 2 << 20;

/// Narrower elements have no gather instruction.
const MIN_GATHER_BITS: u32 = 32;

impl Widener<'_> {
    /// Allocates all lanes' copies of a private array.
    pub(super) fn private_array(&mut self, inst: Inst, size: u64, align: u32) -> Result<(), Stop> {
        let Some(r) = self.item.func.insts[inst].result else { return Ok(()) };
        let unit = self.item.shapes.arrays.unit(r);
        let align = align.max(unit.unwrap_or(1));
        let object = private_layout::object_stride(size, align);
        let by = unit.map_or(object, i64::from);
        let bytes = (object as u64).checked_mul(u64::from(self.lanes)).filter(|&b| b <= MAX_ARRAY);
        let bytes = bytes.ok_or(Stop::Limit(NotVectorised::PrivateArrays))?;
        // A unit of all lanes is a vector, which is not to straddle lines of the cache.
        let vector = unit.map_or(1, |unit| (u64::from(unit) * u64::from(self.lanes)).next_power_of_two().min(LINE));
        // In the entry block: in a loop, each iteration would take more of the stack.
        let entry = self.func.entry();
        let mut b = cloom_ir::Builder::new(self.func, entry);
        let p = b.alloca(bytes, align.max(vector as u32));
        // It must precede its uses, and the entry may be the current block.
        self.func.move_last_to_front(entry);
        self.set(r, VecValue::Strided { base: p, by, cond: None });
        Ok(())
    }

    /// Whether this is an address into a private array that is laid out by unit.
    pub(super) fn is_by_unit(&self, v: Value) -> bool {
        self.item.shapes.arrays.unit(v).is_some()
    }

    /// The alignment of each lane's access: lanes are a unit apart in an array that is laid out by unit.
    /// No more than the size of the access, which is how far lanes are apart: a number that says more is aligned where
    /// its lane is on, and the access of all lanes begins at the first one, which may be off.
    fn lane_align(&self, p: Value, ty: Type, align: u32) -> u32 {
        let align = align.min(ty.bytes().next_power_of_two());
        self.item.shapes.arrays.unit(p).map_or(align, |unit| align.min(unit))
    }

    /// Emits an address computation in a private array that is laid out by unit: offsets are multiplied by the number
    /// of lanes.
    pub(super) fn unit_address(&mut self, inst: Inst) -> Result<(), Stop> {
        let data = &self.item.func.insts[inst];
        let Some(r) = data.result else { return Ok(()) };
        if let Some(place) = self.item.shapes.arrays.place(r).filter(|place| place.mixed) {
            let wide = self.mixed_address(place, r)?;
            self.set(r, wide);
            return Ok(());
        }
        let lanes = u64::from(self.lanes);
        let (p, by) = (data.args[0], data.args[1]);
        let wide = match (self.get(p)?, self.get(by)?) {
            // The next unit of a lane is a unit of all lanes further on.
            (VecValue::Strided { base, by: unit, cond }, VecValue::Uniform(by)) => {
                let mut b = self.b();
                let lanes = b.iconst(Type::I64, lanes);
                let by = b.binary(BinOp::Mul, by, lanes);
                VecValue::Strided { base: b.ptr_add(base, by), by: unit, cond }
            }
            _ => {
                let (p, by) = (self.lane(p)?, self.lane(by)?);
                let ty = self.func.ty(by);
                let mut b = self.b();
                let lanes = b.iconst(ty, lanes);
                let by = b.binary(BinOp::Mul, by, lanes);
                VecValue::Varying(smallvec![b.ptr_add(p, by)])
            }
        };
        self.set(r, wide);
        Ok(())
    }

    /// An address in an array with accesses that are smaller than a unit. It is computed from the whole offset: the
    /// part below a unit is not multiplied.
    fn mixed_address(&mut self, place: Place, r: Value) -> Result<VecValue, Stop> {
        let item = self.item;
        let mut offsets = Vec::new();
        let mut at = r;
        while at != place.array {
            let inst = item.func.def_inst(at).ok_or(bug("an address in an array is no instruction"))?;
            let data = &item.func.insts[inst];
            // `mixed` excludes block parameters and selects, so that the chain down to the array is made of `ptradd`
            // alone.
            offsets.push(data.args[1]);
            at = data.args[0];
        }
        let VecValue::Strided { base, by, cond } = self.get(place.array)? else {
            return Err(bug("an array is not strided"));
        };
        let is_uniform = offsets.iter().all(|&o| matches!(self.values[o.index()], Some(VecValue::Uniform(_))));
        let mut sum = None;
        for &offset in offsets.iter().rev() {
            let offset = if is_uniform { self.base(offset)? } else { self.lane(offset)? };
            sum = Some(sum.map_or(offset, |sum| self.b().binary(BinOp::Add, sum, offset)));
        }
        let Some(offset) = sum else { return Err(bug("an address in an array has no offset")) };
        // A unit is a power of two: offset `x` becomes `(x & !low) * lanes + (x & low)`.
        let low = u64::from(place.unit - 1);
        let lanes = u64::from(self.lanes);
        let ty = self.func.ty(offset);
        let mut b = self.b();
        let (low, high, lanes) = (b.iconst(ty, low), b.iconst(ty, !low), b.iconst(ty, lanes));
        let units = b.binary(BinOp::And, offset, high);
        let units = b.binary(BinOp::Mul, units, lanes);
        let inside = b.binary(BinOp::And, offset, low);
        let offset = b.binary(BinOp::Add, units, inside);
        if is_uniform {
            return Ok(VecValue::Strided { base: b.ptr_add(base, offset), by, cond });
        }
        let p = self.lane(place.array)?;
        Ok(VecValue::Varying(smallvec![self.b().ptr_add(p, offset)]))
    }

    pub(super) fn load(&mut self, inst: Inst) -> Result<(), Stop> {
        let data = &self.item.func.insts[inst];
        let (Op::Load { align }, Some(r)) = (&data.op, data.result) else { return Ok(()) };
        let ty = self.item.func.ty(r);
        let align = self.lane_align(data.args[0], ty, *align);
        // Not the shape of the address: a uniform address may be volatile, and each lane then loads for itself.
        if self.item.shapes.of(r) == Shape::Uniform {
            self.decide(inst, AccessForm::Scalar, false);
            if let Some(v) = self.clone_scalar(inst)? {
                self.set(r, VecValue::Uniform(v));
            }
            return Ok(());
        }
        if data.flags.contains(Flags::VOLATILE) {
            self.decide(inst, AccessForm::LaneByLane, false);
            return self.serial(inst);
        }
        let lanes = match self.get(data.args[0])? {
            // A uniform address, if the check holds.
            VecValue::Strided { base, by: 0, cond: Some(cond) } if self.masks.current.is_none() => {
                self.decide(inst, AccessForm::Scalar, true);
                let (p, flags) = (data.args[0], data.flags);
                let fast = move |w: &mut Self| {
                    let v = w.b().load(ty, base, align, flags);
                    Ok(w.materialise(&VecValue::Uniform(v)))
                };
                let slow = move |w: &mut Self| w.gather_lanes(ty, p, align, flags);
                self.if_else_lanes(cond, ty, fast, slow)?
            }
            VecValue::Strided { base, by, cond } => match (self.is_vector_load(ty, by), cond) {
                (true, None) => {
                    self.decide(inst, load_form(ty, by), false);
                    self.load_strided(ty, base, by, align, data.flags)
                }
                // The join passes the interleaved vector on. So the shuffles come after it, where `interleaved_of`
                // finds that the components come from one vector.
                (true, Some(cond)) if ty.is_vector() => {
                    self.decide(inst, AccessForm::Vector, true);
                    let p = data.args[0];
                    let fast = move |w: &mut Self| Ok(smallvec![w.load_interleaved(ty, base, align, data.flags)]);
                    let slow = move |w: &mut Self| {
                        let lanes = w.gather_lanes(ty, p, align, data.flags)?;
                        Ok(smallvec![w.interleave(&lanes)])
                    };
                    let interleaved = Type::vector(ty.scalar, ty.lanes * self.lanes);
                    let interleaved = self.if_else(cond, &[interleaved], fast, slow)?[0];
                    self.deinterleave(interleaved, ty.lanes)
                }
                (true, Some(cond)) => {
                    self.decide(inst, load_form(ty, by), true);
                    let p = data.args[0];
                    let fast = move |w: &mut Self| Ok(w.load_strided(ty, base, by, align, data.flags));
                    let slow = move |w: &mut Self| w.gather_lanes(ty, p, align, data.flags);
                    self.if_else_lanes(cond, ty, fast, slow)?
                }
                (false, Some(cond)) if self.can_be_lane_by_lane(unit(ty)) => {
                    self.decide(inst, AccessForm::LaneByLane, true);
                    let p = data.args[0];
                    let fast = move |w: &mut Self| {
                        w.load_lane_by_lane(ty, align, data.flags, |w, l| Ok(w.strided_lane_address(base, by, l)))
                    };
                    let slow = move |w: &mut Self| w.gather_lanes(ty, p, align, data.flags);
                    self.if_else_lanes(cond, ty, fast, slow)?
                }
                // Each lane gets its own address here, so that a check has no use.
                (false, _) => self.load_varying(inst, ty, align)?,
            },
            _ => self.load_varying(inst, ty, align)?,
        };
        self.set(r, VecValue::Varying(lanes));
        Ok(())
    }

    /// Whether lanes at this stride are loaded by vector loads.
    fn is_vector_load(&self, ty: Type, by: i64) -> bool {
        let (size, n) = (i64::from(ty.scalar.bytes()), i64::from(ty.lanes));
        let dense = by == size * n || (n == 1 && by == -size);
        // Not right after stores at the same stride lane by lane: a vector load that spans several pending stores
        // cannot be forwarded from the store buffer, and waits until they are in the cache.
        let sparse = n == 1
            && self.masks.current.is_none()
            && by > 0
            && by % size == 0
            && by / size <= MAX_COVERED
            && !self.memory.scalar_store_strides.contains(&by);
        dense || sparse
    }

    /// Emits a branch on `cond` and two ways to compute the lanes of a value of type `ty`.
    pub(super) fn if_else_lanes(
        &mut self,
        cond: Value,
        ty: Type,
        fast: impl FnOnce(&mut Self) -> Result<Lanes, Stop>,
        slow: impl FnOnce(&mut Self) -> Result<Lanes, Stop>,
    ) -> Result<Lanes, Stop> {
        let wide = self.wide_type(ty);
        self.if_else(cond, &vec![wide; usize::from(ty.lanes)], fast, slow)
    }

    /// Emits a branch on `cond` and two ways to the same effect.
    pub(super) fn if_else_effect(
        &mut self,
        cond: Value,
        fast: impl FnOnce(&mut Self) -> Result<Lanes, Stop>,
        slow: impl FnOnce(&mut Self) -> Result<Lanes, Stop>,
    ) -> Result<(), Stop> {
        self.if_else(cond, &[], fast, slow).map(drop)
    }

    /// Emits a branch on `cond` whose two sides compute values of these types.
    pub(super) fn if_else(
        &mut self,
        cond: Value,
        types: &[Type],
        then: impl FnOnce(&mut Self) -> Result<Lanes, Stop>,
        els: impl FnOnce(&mut Self) -> Result<Lanes, Stop>,
    ) -> Result<Lanes, Stop> {
        let (from, then_block, else_block, after) = (self.cur, self.new_block(), self.new_block(), self.new_block());
        self.b().branch(cond, then_block, else_block);
        self.seal_with_pred(then_block, from);
        self.seal_with_pred(else_block, from);
        let result: Lanes = types.iter().map(|&ty| self.func.add_block_param(after, ty)).collect();
        // Each side may end in another block than it begins in, as it may have branches of its own.
        self.cur = then_block;
        let lanes = then(self)?;
        self.b().jump(after, &lanes);
        let a = self.cur;
        self.cur = else_block;
        let lanes = els(self)?;
        self.b().jump(after, &lanes);
        let b = self.cur;
        self.ssa.seal(self.func, after, vec![a, b]);
        self.cur = after;
        Ok(result)
    }

    fn load_strided(&mut self, ty: Type, base: Value, by: i64, align: u32, flags: Flags) -> Lanes {
        let (size, n, w) = (i64::from(ty.scalar.bytes()), ty.lanes, self.lanes);
        // Lane 0 is at the highest address: the vector begins at the last lane's, and its mask is reversed as well.
        if n == 1 && by == -size {
            let back = self.b().iconst(Type::I64, (by * i64::from(w - 1)) as u64);
            let first = self.b().ptr_add(base, back);
            let mask = self.masks.current.map(|m| self.reverse(m));
            let v = self.load_vector(Type::vector(ty.scalar, w), first, mask, align, flags);
            return smallvec![self.reverse(v)];
        }
        if n == 1 && by != size {
            return smallvec![self.load_covering(ty.scalar, base, (by / size) as u16, align, flags)];
        }
        let interleaved = self.load_interleaved(ty, base, align, flags);
        self.deinterleave(interleaved, n)
    }

    /// Loads contiguous scalars or short vectors as one vector.
    fn load_interleaved(&mut self, ty: Type, base: Value, align: u32, flags: Flags) -> Value {
        let mask = self.masks.current.map(|m| self.repeat_mask(m, ty.lanes));
        self.load_vector(Type::vector(ty.scalar, self.lanes * ty.lanes), base, mask, align, flags)
    }

    /// Loads every `step`-th element by vector loads that cover all of them. The last vector ends with the last
    /// lane's element.
    fn load_covering(&mut self, scalar: Scalar, base: Value, step: u16, align: u32, flags: Flags) -> Value {
        let w = self.lanes;
        // A vector that began later would read beyond the last lane's element, where the page may end.
        let last = (w - 1) * step + 1 - w;
        // Every third element in 4 lanes (0, 3, 6 and 9): vectors at 0, 4 and 6, as one at 8 would end behind element
        // 9.
        let mut starts: Vec<u16> = (0..step).map(|k| (k * w).min(last)).collect();
        starts.dedup();
        let loaded: Lanes = starts
            .iter()
            .map(|&start| {
                let offset = u32::from(start) * scalar.bytes();
                let p = self.b().ptr_offset(base, u64::from(offset));
                // At this offset, no more alignment is known than the largest power of two that divides it. (The
                // `min(12)` is for offset 0, which every power divides.)
                self.b().load(Type::vector(scalar, w), p, align.min(1 << offset.trailing_zeros().min(12)), flags)
            })
            .collect();
        let lane = |element: u16| {
            // The last vector may overlap the one before; an element that is in both is taken from the last.
            let vector = starts.iter().rposition(|&start| start <= element).unwrap_or(0);
            vector as u16 * w + element - starts[vector]
        };
        let order: Vec<u16> = (0..w).map(|l| lane(l * step)).collect();
        if let [low, high] = loaded[..] {
            return self.b().shuffle(low, high, &order);
        }
        let all = self.concat(&loaded);
        self.b().shuffle(all, all, &order)
    }

    fn reverse(&mut self, v: Value) -> Value {
        let order: Vec<u16> = (0..self.lanes).rev().collect();
        self.b().shuffle(v, v, &order)
    }

    fn load_vector(&mut self, ty: Type, p: Value, mask: Option<Value>, align: u32, flags: Flags) -> Value {
        match mask {
            Some(m) => self.b().masked_load(ty, p, m, align, flags),
            None => self.b().load(ty, p, align, flags),
        }
    }

    /// Prefetches the cache lines of a contiguous or strided vector access, also those of lanes that are off. Others
    /// are not prefetched.
    pub(super) fn prefetch(&mut self, p: Value) -> Result<(), Stop> {
        let VecValue::Strided { base, by, .. } = self.get(p)? else { return Ok(()) };
        let size = by.unsigned_abs().saturating_mul(u64::from(self.lanes));
        if by < 0 || size > MAX_PREFETCHED_LINES * LINE {
            return Ok(());
        }
        self.prefetch_lines(base, by);
        Ok(())
    }

    /// Prefetches the cache lines of all lanes at a positive stride.
    pub(super) fn prefetch_lines(&mut self, base: Value, by: i64) {
        let size = by.unsigned_abs().saturating_mul(u64::from(self.lanes));
        for at in (0..size).step_by(LINE as usize) {
            let mut b = self.b();
            let p = b.ptr_offset(base, at);
            b.prefetch(p);
        }
    }

    /// Whether lanes are accessed one by one at scalar addresses: short vectors, strided addresses, and sums with a
    /// uniform or strided part unless the target gathers fast. Strided ones are also there where it does: on a Xeon,
    /// transposing by padded tiles took 87 us with gathers and 75 lane by lane, a resampling filter 1.37 and 1.25 ms.
    /// Not under a mask: memory of an inactive lane must not be accessed.
    fn prefers_lane_by_lane(&self, unit: Type, p: Value) -> bool {
        let strided = matches!(self.values[p.index()], Some(VecValue::Strided { cond: None, .. }));
        let gathers = self.item.fast_gather && unit.scalar.bits() >= MIN_GATHER_BITS;
        self.can_be_lane_by_lane(unit)
            && (unit.is_vector() || strided || !gathers && self.has_scalar_part(p, ADDRESS_DEPTH))
    }

    /// Whether lanes can be accessed one by one without tests.
    fn can_be_lane_by_lane(&self, unit: Type) -> bool {
        self.masks.current.is_none()
            && (!unit.is_vector() || !unit.is_ptr() && unit.lanes * self.lanes <= MAX_COMPONENTS)
    }

    /// The address of a lane, from the parts of the address if it has some.
    fn lane_address(&mut self, p: Value, address: Option<&Address>, lane: u16) -> Result<Value, Stop> {
        match address {
            Some(address) => {
                let lane = self.b().iconst(Type::I64, u64::from(lane));
                self.address_of(address, lane)
            }
            None => self.lane_value(p, lane, ADDRESS_DEPTH),
        }
    }

    /// The address of a lane at a stride.
    fn strided_lane_address(&mut self, base: Value, by: i64, lane: u16) -> Value {
        self.b().ptr_offset(base, i64::from(lane).wrapping_mul(by) as u64)
    }

    /// One lane of an integer or an address, computed from one lane of its operands where it is a sum with a uniform
    /// or strided part. The varying part is then extracted from a vector computed earlier, before a loop perhaps, and
    /// not from a sum that is computed in every iteration.
    fn lane_value(&mut self, v: Value, lane: u16, depth: u32) -> Result<Value, Stop> {
        let item = self.item;
        let components = match self.exact(v)? {
            VecValue::Uniform(x) => return Ok(x),
            VecValue::Strided { base, by, .. } => {
                let ty = self.func.ty(base);
                let by = i64::from(lane).wrapping_mul(by) as u64;
                if ty.is_ptr() {
                    return Ok(self.b().ptr_offset(base, by));
                }
                let by = self.b().iconst(ty, by & ty.scalar.mask());
                return Ok(self.b().binary(BinOp::Add, base, by));
            }
            VecValue::Varying(components) => components,
        };
        if !self.has_scalar_part(v, depth) {
            return Ok(self.b().extract_lane(components[0], lane));
        }
        let Some(i) = item.func.def_inst(v) else { return Err(bug("a sum is no instruction")) };
        let data = &item.func.insts[i];
        let args: Args = data.args.iter().map(|&a| self.lane_value(a, lane, depth - 1)).collect::<Result<_, _>>()?;
        let (op, flags) = (data.op.clone(), data.flags - (Flags::NSW | Flags::NUW));
        self.b().push(op, args, Some(item.func.ty(v)), flags).ok_or(bug("an instruction has no result"))
    }

    /// Whether a varying value is a sum with a uniform or strided part, perhaps extended or shifted.
    fn has_scalar_part(&self, v: Value, depth: u32) -> bool {
        let item = self.item;
        let varies = |v: Value| {
            !matches!(self.values[v.index()], Some(VecValue::Uniform(_) | VecValue::Strided { cond: None, .. }))
        };
        let Some(i) = item.func.def_inst(v).filter(|_| depth > 0 && varies(v) && !self.is_by_unit(v)) else {
            return false;
        };
        let args = &item.func.insts[i].args;
        match item.func.insts[i].op {
            Op::PtrAdd | Op::Binary(BinOp::Add | BinOp::Sub) => {
                args.iter().any(|&a| !varies(a) || self.has_scalar_part(a, depth - 1))
            }
            Op::Binary(BinOp::Shl | BinOp::Mul) => !varies(args[1]) && self.has_scalar_part(args[0], depth - 1),
            Op::Cast(CastOp::Sext | CastOp::Zext) => self.has_scalar_part(args[0], depth - 1),
            _ => false,
        }
    }

    /// Loads each lane from its own address.
    fn load_varying(&mut self, inst: Inst, ty: Type, align: u32) -> Result<Lanes, Stop> {
        let data = &self.item.func.insts[inst];
        let (p, flags) = (data.args[0], data.flags);
        if self.prefers_lane_by_lane(unit(ty), p) {
            self.decide(inst, AccessForm::LaneByLane, false);
            let address = self.address(p, None)?;
            return self.load_lane_by_lane(ty, align, flags, |w, l| w.lane_address(p, address.as_ref(), l));
        }
        self.decide(inst, AccessForm::Indexed, false);
        self.gather_lanes(ty, p, align, flags)
    }

    /// One access for each lane, at the address that `at` returns.
    fn load_lane_by_lane(
        &mut self,
        ty: Type,
        align: u32,
        flags: Flags,
        at: impl Fn(&mut Self, u16) -> Result<Value, Stop>,
    ) -> Result<Lanes, Stop> {
        let unit = unit(ty);
        let lane_values = (0..self.lanes)
            .map(|l| {
                let p = at(self, l)?;
                Ok(self.b().load(unit, p, align, flags))
            })
            .collect::<Result<Lanes, Stop>>()?;
        let interleaved = if unit.is_vector() { self.concat(&lane_values) } else { self.b().build(&lane_values) };
        Ok(self.components(interleaved, ty))
    }

    /// Gathers all lanes.
    fn gather_lanes(&mut self, ty: Type, p: Value, align: u32, flags: Flags) -> Result<Lanes, Stop> {
        let unit = unit(ty);
        let ptrs = self.lane(p)?;
        let (wide, mask) = (self.wide_type(unit), self.mask_value(self.masks.current));
        // One gather for each component: a gather has one number for each lane.
        if unit.is_vector() {
            return Ok((0..ty.lanes)
                .map(|c| {
                    let (p, align) = self.component(ptrs, ty, c, align);
                    self.b().gather(wide, p, mask, align, flags)
                })
                .collect());
        }
        let interleaved = self.b().gather(wide, ptrs, mask, align, flags);
        Ok(self.components(interleaved, ty))
    }

    /// The components of values loaded lane by lane.
    fn components(&mut self, interleaved: Value, ty: Type) -> Lanes {
        let components = Type::vector(ty.scalar, ty.lanes * self.lanes);
        let interleaved =
            if unit(ty) == ty { interleaved } else { self.b().cast(CastOp::Bitcast, interleaved, components) };
        self.deinterleave(interleaved, ty.lanes)
    }

    /// The addresses of a component of all lanes, and their alignment.
    fn component(&mut self, ptrs: Value, ty: Type, c: u16, align: u32) -> (Value, u32) {
        if c == 0 {
            return (ptrs, align);
        }
        let offset = u64::from(ty.scalar.bytes()) * u64::from(c);
        let lanes = Type::vector(Scalar::I64, self.lanes);
        let by = self.b().iconst(lanes, offset);
        // A component has no more alignment than its offset, which is not 0 here.
        let low = 1u32 << offset.trailing_zeros().min(12);
        (self.b().ptr_add(ptrs, by), align.min(low))
    }

    pub(super) fn store(&mut self, inst: Inst) -> Result<(), Stop> {
        if self.store_of_row(inst)? { Ok(()) } else { self.store_alone(inst) }
    }

    /// Emits a store that is not combined with others.
    pub(super) fn store_alone(&mut self, inst: Inst) -> Result<(), Stop> {
        let data = &self.item.func.insts[inst];
        let Op::Store { align } = data.op else { return Ok(()) };
        let (p, x, flags) = (data.args[0], data.args[1], data.flags);
        let ty = self.item.func.ty(x);
        let align = self.lane_align(p, ty, align);
        if flags.contains(Flags::VOLATILE) {
            self.decide(inst, AccessForm::LaneByLane, false);
            return self.serial(inst);
        }
        match self.get(p)? {
            VecValue::Uniform(p) => {
                self.decide(inst, AccessForm::Scalar, false);
                self.store_last(p, x, ty, align, flags)
            }
            VecValue::Strided { base, by, cond } => {
                let (size, n) = (i64::from(ty.scalar.bytes()), i64::from(ty.lanes));
                let dense = by == size * n || (n == 1 && by == -size);
                let nontemporal =
                    if self.item.write_only.contains(&inst) { Flags::NONTEMPORAL } else { Flags::empty() };
                // Loads at this stride are then not covered by vectors (`is_vector_load`), which would wait for these
                // stores.
                if !dense && !self.memory.scalar_store_strides.contains(&by) {
                    self.memory.scalar_store_strides.push(by);
                }
                let gapped = self.is_gapped(inst, ty, by);
                // The forms without an entry here are decided where they are written, in `store_varying`.
                let form = match (dense, cond) {
                    (true, _) if by < 0 => Some(AccessForm::Reversed),
                    (true, _) => Some(AccessForm::Vector),
                    (false, _) if gapped => Some(AccessForm::Gapped),
                    (false, Some(_)) if self.can_be_lane_by_lane(unit(ty)) => Some(AccessForm::LaneByLane),
                    (false, _) => None,
                };
                if let Some(form) = form {
                    self.decide(inst, form, cond.is_some());
                }
                match (dense, cond) {
                    (true, None) => self.store_strided(x, base, by, align, flags | nontemporal),
                    (false, None) if gapped => self.store_gapped(inst, base, by, align, flags),
                    (false, Some(cond)) if gapped => {
                        let fast = |w: &mut Self| w.store_gapped(inst, base, by, align, flags).map(|()| Lanes::new());
                        let slow = |w: &mut Self| w.scatter_lanes(p, x, ty, align, flags).map(|()| Lanes::new());
                        self.if_else_effect(cond, fast, slow)
                    }
                    (true, Some(cond)) => {
                        let fast = |w: &mut Self| {
                            w.store_strided(x, base, by, align, flags | nontemporal).map(|()| Lanes::new())
                        };
                        let slow = |w: &mut Self| w.scatter_lanes(p, x, ty, align, flags).map(|()| Lanes::new());
                        self.if_else_effect(cond, fast, slow)
                    }
                    (false, Some(cond)) if self.can_be_lane_by_lane(unit(ty)) => {
                        let at = move |w: &mut Self, l: u16| Ok(w.strided_lane_address(base, by, l));
                        let fast = |w: &mut Self| w.store_lane_by_lane(x, ty, align, flags, at).map(|()| Lanes::new());
                        let slow = |w: &mut Self| w.scatter_lanes(p, x, ty, align, flags).map(|()| Lanes::new());
                        self.if_else_effect(cond, fast, slow)
                    }
                    (false, _) => self.store_varying(inst, ty, align),
                }
            }
            VecValue::Varying(_) => self.store_varying(inst, ty, align),
        }
    }

    /// Lanes that store to one address: the last active lane wins.
    fn store_last(&mut self, p: Value, x: Value, ty: Type, align: u32, flags: Flags) -> Result<(), Stop> {
        // As if work-items ran in ascending order, as they do in scalar code.
        let value = match self.exact(x)? {
            // All lanes bring the same value: it does not matter which of them is the last.
            VecValue::Uniform(v) => v,
            wide => {
                let lanes = self.materialise(&wide);
                let lane = match self.masks.current {
                    Some(m) => self.last_lane(m),
                    None => {
                        let last = u64::from(self.lanes - 1);
                        self.b().iconst(Type::I64, last)
                    }
                };
                let components: Lanes = lanes.iter().map(|&l| self.b().extract(l, lane)).collect();
                if ty.is_vector() { self.b().build(&components) } else { components[0] }
            }
        };
        self.b().store(p, value, align, flags);
        Ok(())
    }

    fn store_strided(&mut self, x: Value, base: Value, by: i64, align: u32, flags: Flags) -> Result<(), Stop> {
        let components = self.lanes(x)?;
        // Only scalars are stored in descending order, so that there is one component below.
        if by >= 0 {
            return self.store_row(&components, base, align, flags);
        }
        let distance = by * i64::from(self.lanes - 1);
        let back = self.b().iconst(Type::I64, distance as u64);
        let first = self.b().ptr_add(base, back);
        let reversed = self.reverse(components[0]);
        let mask = self.masks.current.map(|m| self.reverse(m));
        self.store_contiguous(first, reversed, mask, align, flags)
    }

    /// Stores the components of short vectors, or the fields of records, that are contiguous from lane to lane.
    pub(super) fn store_row(
        &mut self,
        components: &[Value],
        base: Value,
        align: u32,
        flags: Flags,
    ) -> Result<(), Stop> {
        let interleaved = self.interleave(components);
        let mask = self.masks.current.map(|m| self.repeat_mask(m, components.len() as u16));
        self.store_contiguous(base, interleaved, mask, align, flags)
    }

    fn store_contiguous(
        &mut self,
        first: Value,
        x: Value,
        mask: Option<Value>,
        align: u32,
        flags: Flags,
    ) -> Result<(), Stop> {
        let plain = flags - Flags::NONTEMPORAL;
        match mask {
            Some(m) => {
                // The code for the last vector of a row is cold.
                let cold = if self.masks.entry.is_some() && self.masks.entry_full.is_none() {
                    Flags::COLD
                } else {
                    Flags::empty()
                };
                self.b().masked_store(first, x, m, align, plain | cold);
            }
            None if plain != flags => return self.store_nontemporal(first, x, align, plain),
            None => self.b().store(first, x, align, plain),
        }
        Ok(())
    }

    /// Stores a vector, non-temporally if that is allowed at run time and it fills whole cache lines.
    fn store_nontemporal(&mut self, p: Value, x: Value, align: u32, flags: Flags) -> Result<(), Stop> {
        let bytes = self.func.ty(x).bytes();
        // A part of a line that bypasses the caches would have to be merged with the rest of the line in memory.
        let fits = bytes.is_power_of_two() && u64::from(bytes) >= LINE;
        let Some(nontemporal) = self.memory.nontemporal.filter(|_| fits) else {
            self.b().store(p, x, align, flags);
            return Ok(());
        };
        let aligned = LINE as u32;
        let mut b = self.b();
        // The source promises the alignment of an element, not that of a line, which `NONTEMPORAL` needs.
        let at = b.cast(CastOp::PtrToInt, p, Type::I64);
        let (rest, zero) = (b.iconst(Type::I64, u64::from(aligned - 1)), b.iconst(Type::I64, 0));
        let rest = b.binary(BinOp::And, at, rest);
        let fits = b.icmp(IntCc::Eq, rest, zero);
        let nontemporal = b.binary(BinOp::And, nontemporal, fits);
        let nontemporal_store = |w: &mut Self| {
            w.b().store(p, x, aligned, flags | Flags::NONTEMPORAL);
            Ok(Lanes::new())
        };
        let cached_store = |w: &mut Self| {
            w.b().store(p, x, align, flags);
            Ok(Lanes::new())
        };
        self.if_else_effect(nontemporal, nontemporal_store, cached_store)
    }

    fn store_varying(&mut self, inst: Inst, ty: Type, align: u32) -> Result<(), Stop> {
        let data = &self.item.func.insts[inst];
        let (p, x, flags) = (data.args[0], data.args[1], data.flags);
        if self.prefers_lane_by_lane(unit(ty), p) {
            self.decide(inst, AccessForm::LaneByLane, false);
            let address = self.address(p, None)?;
            return self.store_lane_by_lane(x, ty, align, flags, |w, l| w.lane_address(p, address.as_ref(), l));
        }
        self.decide(inst, AccessForm::Indexed, false);
        self.scatter_lanes(p, x, ty, align, flags)
    }

    /// Scatters all lanes.
    pub(super) fn scatter_lanes(&mut self, p: Value, x: Value, ty: Type, align: u32, flags: Flags) -> Result<(), Stop> {
        let mask = self.mask_value(self.masks.current);
        // A scatter also under a mask: a loop over the lanes that are on would end in a branch that is predicted badly.
        let ptrs = self.lane(p)?;
        if unit(ty).is_vector() {
            for (c, part) in self.lanes(x)?.into_iter().enumerate() {
                let (p, align) = self.component(ptrs, ty, c as u16, align);
                self.b().scatter(p, part, mask, align, flags);
            }
            return Ok(());
        }
        let interleaved = self.interleaved(x, ty)?;
        self.b().scatter(ptrs, interleaved, mask, align, flags);
        Ok(())
    }

    /// The value to store, lane-major.
    fn interleaved(&mut self, x: Value, ty: Type) -> Result<Value, Stop> {
        let components = self.lanes(x)?;
        let interleaved = self.interleave(&components);
        if unit(ty) == ty {
            return Ok(interleaved);
        }
        // One integer for each lane, so that one scatter stores a whole short vector (`uchar4` as `uint`).
        let numbers = self.wide_type(unit(ty));
        Ok(self.b().cast(CastOp::Bitcast, interleaved, numbers))
    }

    /// One access for each lane, at the address that `at` returns.
    fn store_lane_by_lane(
        &mut self,
        x: Value,
        ty: Type,
        align: u32,
        flags: Flags,
        at: impl Fn(&mut Self, u16) -> Result<Value, Stop>,
    ) -> Result<(), Stop> {
        let unit = unit(ty);
        let interleaved = self.interleaved(x, ty)?;
        for l in 0..self.lanes {
            let p = at(self, l)?;
            let item = if unit.is_vector() {
                let order: Vec<u16> = (l * unit.lanes..(l + 1) * unit.lanes).collect();
                self.b().shuffle(interleaved, interleaved, &order)
            } else {
                self.b().extract_lane(interleaved, l)
            };
            self.b().store(p, item, align, flags);
        }
        Ok(())
    }

    /// Whether an address points to memory that only this group's thread accesses.
    pub(super) fn is_group_private(&self, p: Value) -> bool {
        matches!(self.item.func.ty(p).space(), Some(Space::Local | Space::Private))
    }
}

/// The form of vector loads at this stride.
fn load_form(ty: Type, by: i64) -> AccessForm {
    match by {
        by if by < 0 => AccessForm::Reversed,
        by if by == i64::from(ty.scalar.bytes()) * i64::from(ty.lanes) => AccessForm::Vector,
        _ => AccessForm::Covering,
    }
}

/// The type of one lane's access: a short vector of 32 bits, say, is accessed as one integer.
fn unit(ty: Type) -> Type {
    let bits = ty.scalar.bits() * u32::from(ty.lanes);
    Scalar::int(bits).filter(|_| ty.is_vector() && !ty.is_ptr()).map_or(ty, Type::scalar)
}
