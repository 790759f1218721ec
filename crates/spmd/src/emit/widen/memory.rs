//! Loads and stores, by the shape of their addresses.
//!
//! | address | load | store |
//! |---|---|---|
//! | uniform | one, for all lanes | the last lane that is on |
//! | neighbours (also of short vectors) | one vector; short vectors are taken apart by shuffles | likewise |
//! | neighbours backwards | one vector, reversed | likewise |
//! | every second to fourth | the vector that covers them, if no lane is off | scatter |
//! | other fixed distances, or with a part in common; short vectors | lane by lane if none is off, else gather | likewise, else scatter |
//! | anything else | gather | scatter |
//!
//! Where a stride is checked at run time, both forms are there.

use super::address::Address;
use super::{Lanes, VecValue, Widener};
use crate::analysis::private_layout;
use crate::analysis::shape::Shape;
use crate::error::{NotVectorised, Stop, bug};
use cloom_ir::{Args, BinOp, CastOp, Entity, Flags, Inst, IntCc, Op, Scalar, Space, Type, Value};
use smallvec::smallvec;

/// The longest stride, in elements, at which all that lies between is loaded too.
const MAX_COVERED: i64 = 4;

/// Components of all lanes that are loaded lane by lane.
const MAX_WHOLE: u16 = 256;

/// How far back the sums of an address are followed.
const ADDRESS_DEPTH: u32 = 8;

/// Bytes of a cache line,
const LINE: u64 = 64;
/// and how many of them a hint is for at most.
const MOST_LINES: u64 = 8;

/// Bytes of a private array for all lanes; with larger ones, work-items run one at a time.
const MAX_ARRAY: u64 = 2 << 20;

/// Narrower numbers have no instruction to gather them.
const GATHERED_BITS: u32 = 32;

impl Widener<'_> {
    /// Room for each lane's copy of a private array.
    pub(super) fn private_array(&mut self, inst: Inst, size: u64, align: u32) -> Result<(), Stop> {
        let Some(r) = self.item.func.insts[inst].result else { return Ok(()) };
        let unit = self.item.shapes.arrays.unit(r);
        let align = align.max(unit.unwrap_or(1));
        let object = private_layout::object_stride(size, align);
        let by = unit.map_or(object, i64::from);
        let bytes = (object as u64).checked_mul(u64::from(self.lanes)).filter(|&b| b <= MAX_ARRAY);
        let bytes = bytes.ok_or(Stop::Limit(NotVectorised::PrivateArrays))?;
        let entry = self.func.entry();
        let mut b = cloom_ir::Builder::new(self.func, entry);
        let p = b.alloca(bytes, align);
        // It must stand before its uses, and the entry may be where code goes.
        self.func.move_last_to_front(entry);
        self.set(r, VecValue::Strided { base: p, by, cond: None });
        Ok(())
    }

    /// Whether this is an address into a private array that lies by element.
    pub(super) fn is_element(&self, v: Value) -> bool {
        self.item.shapes.arrays.unit(v).is_some()
    }

    /// Another address in a private array that lies by element: what a work-item adds is multiplied by the lanes.
    pub(super) fn element(&mut self, inst: Inst) -> Result<(), Stop> {
        let data = &self.item.func.insts[inst];
        let Some(r) = data.result else { return Ok(()) };
        let lanes = u64::from(self.lanes);
        let (p, by) = (data.args[0], data.args[1]);
        let wide = match (self.get(p)?, self.get(by)?) {
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

    pub(super) fn load(&mut self, inst: Inst) -> Result<(), Stop> {
        let data = &self.item.func.insts[inst];
        let (Op::Load { align }, Some(r)) = (&data.op, data.result) else { return Ok(()) };
        let ty = self.item.func.ty(r);
        if self.item.shapes.of(r) == Shape::Uniform {
            if let Some(v) = self.clone_scalar(inst)? {
                self.set(r, VecValue::Uniform(v));
            }
            return Ok(());
        }
        if data.flags.contains(Flags::VOLATILE) {
            return self.serial(inst);
        }
        let lanes = match self.get(data.args[0])? {
            // One address, if a test says so.
            VecValue::Strided { base, by: 0, cond: Some(cond) } if self.mask.is_none() => {
                let (p, flags) = (data.args[0], data.flags);
                let fast = move |w: &mut Self| {
                    let v = w.b().load(ty, base, *align, flags);
                    Ok(w.spread(&VecValue::Uniform(v)))
                };
                let slow = move |w: &mut Self| w.load_apart(ty, p, *align, flags);
                self.either(cond, ty, fast, slow)?
            }
            VecValue::Strided { base, by, cond } => match (self.covered(ty, by), cond) {
                (true, None) => self.load_strided(ty, base, by, *align, data.flags),
                (true, Some(cond)) if ty.is_vector() => {
                    let p = data.args[0];
                    let fast = move |w: &mut Self| Ok(smallvec![w.load_interleaved(ty, base, *align, data.flags)]);
                    let slow = move |w: &mut Self| {
                        let lanes = w.load_apart(ty, p, *align, data.flags)?;
                        Ok(smallvec![w.interleave(&lanes)])
                    };
                    let whole = Type::vector(ty.scalar, ty.lanes * self.lanes);
                    let whole = self.one_of(cond, &[whole], fast, slow)?[0];
                    self.deinterleave(whole, ty.lanes)
                }
                (true, Some(cond)) => {
                    let p = data.args[0];
                    let fast = move |w: &mut Self| Ok(w.load_strided(ty, base, by, *align, data.flags));
                    let slow = move |w: &mut Self| w.load_apart(ty, p, *align, data.flags);
                    self.either(cond, ty, fast, slow)?
                }
                (false, Some(cond)) if self.may_step(unit(ty)) => {
                    let p = data.args[0];
                    let fast = move |w: &mut Self| w.load_steps(ty, *align, data.flags, |w, l| Ok(w.step(base, by, l)));
                    let slow = move |w: &mut Self| w.load_apart(ty, p, *align, data.flags);
                    self.either(cond, ty, fast, slow)?
                }
                (false, _) => self.load_each(ty, data.args[0], *align, data.flags)?,
            },
            _ => self.load_each(ty, data.args[0], *align, data.flags)?,
        };
        self.set(r, VecValue::Varying(lanes));
        Ok(())
    }

    /// Whether lanes at this stride are loaded as vectors.
    fn covered(&self, ty: Type, by: i64) -> bool {
        let (size, n) = (i64::from(ty.scalar.bytes()), i64::from(ty.lanes));
        let dense = by == size * n || (n == 1 && by == -size);
        // A vector that covers what was just stored number by number waits until all of that is in the cache.
        let sparse = n == 1
            && self.mask.is_none()
            && by > 0
            && by % size == 0
            && by / size <= MAX_COVERED
            && !self.stepped.contains(&by);
        dense || sparse
    }

    /// Two ways to get the same lanes.
    pub(super) fn either(
        &mut self,
        cond: Value,
        ty: Type,
        fast: impl FnOnce(&mut Self) -> Result<Lanes, Stop>,
        slow: impl FnOnce(&mut Self) -> Result<Lanes, Stop>,
    ) -> Result<Lanes, Stop> {
        let wide = self.wide_type(ty);
        self.one_of(cond, &vec![wide; usize::from(ty.lanes)], fast, slow)
    }

    /// Two ways to do the same.
    pub(super) fn both(
        &mut self,
        cond: Value,
        fast: impl FnOnce(&mut Self) -> Result<Lanes, Stop>,
        slow: impl FnOnce(&mut Self) -> Result<Lanes, Stop>,
    ) -> Result<(), Stop> {
        self.one_of(cond, &[], fast, slow).map(drop)
    }

    /// Code under a condition, and other code in its place if it does not hold. Both give values of these types.
    pub(super) fn one_of(
        &mut self,
        cond: Value,
        types: &[Type],
        then: impl FnOnce(&mut Self) -> Result<Lanes, Stop>,
        els: impl FnOnce(&mut Self) -> Result<Lanes, Stop>,
    ) -> Result<Lanes, Stop> {
        let (from, yes, no, after) = (self.cur, self.new_block(), self.new_block(), self.new_block());
        self.b().branch(cond, yes, no);
        self.seal_one(yes, from);
        self.seal_one(no, from);
        let result: Lanes = types.iter().map(|&ty| self.func.add_block_param(after, ty)).collect();
        self.cur = yes;
        let lanes = then(self)?;
        self.b().jump(after, &lanes);
        let a = self.cur;
        self.cur = no;
        let lanes = els(self)?;
        self.b().jump(after, &lanes);
        let b = self.cur;
        self.ssa.seal(self.func, after, vec![a, b]);
        self.cur = after;
        Ok(result)
    }

    fn load_strided(&mut self, ty: Type, base: Value, by: i64, align: u32, flags: Flags) -> Lanes {
        let (size, n, w) = (i64::from(ty.scalar.bytes()), ty.lanes, self.lanes);
        if n == 1 && by == -size {
            let back = self.b().iconst(Type::I64, (by * i64::from(w - 1)) as u64);
            let first = self.b().ptr_add(base, back);
            let mask = self.mask.map(|m| self.reverse(m));
            let v = self.load_vector(Type::vector(ty.scalar, w), first, mask, align, flags);
            return smallvec![self.reverse(v)];
        }
        if n == 1 && by != size {
            return smallvec![self.load_covering(ty.scalar, base, (by / size) as u16, align, flags)];
        }
        let whole = self.load_interleaved(ty, base, align, flags);
        self.deinterleave(whole, n)
    }

    /// Short vectors that lie side by side, or numbers, in one vector.
    fn load_interleaved(&mut self, ty: Type, base: Value, align: u32, flags: Flags) -> Value {
        let mask = self.mask.map(|m| self.repeat_mask(m, ty.lanes));
        self.load_vector(Type::vector(ty.scalar, self.lanes * ty.lanes), base, mask, align, flags)
    }

    /// Every so many elements, from vectors that cover them: all of one length, of which the last one ends with the last lane's element.
    fn load_covering(&mut self, scalar: Scalar, base: Value, step: u16, align: u32, flags: Flags) -> Value {
        let w = self.lanes;
        let last = (w - 1) * step + 1 - w;
        let mut starts: Vec<u16> = (0..step).map(|k| (k * w).min(last)).collect();
        starts.dedup();
        let pieces: Lanes = starts
            .iter()
            .map(|&start| {
                let offset = u32::from(start) * scalar.bytes();
                let p = self.b().ptr_offset(base, u64::from(offset));
                self.b().load(Type::vector(scalar, w), p, align.min(1 << offset.trailing_zeros().min(12)), flags)
            })
            .collect();
        let lane = |element: u16| {
            let piece = starts.iter().rposition(|&start| start <= element).unwrap_or(0);
            piece as u16 * w + element - starts[piece]
        };
        let order: Vec<u16> = (0..w).map(|l| lane(l * step)).collect();
        if let [low, high] = pieces[..] {
            return self.b().shuffle(low, high, &order);
        }
        let whole = self.concat(&pieces);
        self.b().shuffle(whole, whole, &order)
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

    /// A hint, for full vectors of neighbours: the cache lines that they will read.
    pub(super) fn prefetch(&mut self, p: Value) -> Result<(), Stop> {
        let VecValue::Strided { base, by, .. } = self.get(p)? else { return Ok(()) };
        let size = by.unsigned_abs().saturating_mul(u64::from(self.lanes));
        if self.mask.is_some() || by < 0 || size > MOST_LINES * LINE {
            return Ok(());
        }
        for at in (0..size).step_by(LINE as usize) {
            let mut b = self.b();
            let p = b.ptr_offset(base, at);
            b.prefetch(p);
        }
        Ok(())
    }

    /// Whether lanes are accessed one after the other by scalar addresses: whole short vectors, and what is at fixed distances or else has
    /// addresses with a part in common, unless the machine gathers such faster. Memory of a lane that is off must not be touched.
    fn lane_by_lane(&self, unit: Type, p: Value) -> bool {
        let strided = matches!(self.values[p.index()], Some(VecValue::Strided { cond: None, .. }));
        if self.item.fast_gather && !unit.is_vector() && unit.scalar.bits() >= GATHERED_BITS {
            return false;
        }
        self.may_step(unit) && (unit.is_vector() || strided || self.has_common_part(p, ADDRESS_DEPTH))
    }

    /// Whether lanes can be accessed one after the other.
    fn may_step(&self, unit: Type) -> bool {
        self.mask.is_none() && (!unit.is_vector() || !unit.is_ptr() && unit.lanes * self.lanes <= MAX_WHOLE)
    }

    /// The address of a lane, by its parts if it has some.
    fn place_of(&mut self, p: Value, parts: Option<&Address>, lane: u16) -> Result<Value, Stop> {
        match parts {
            Some(parts) => {
                let lane = self.b().iconst(Type::I64, u64::from(lane));
                self.address_of(parts, lane)
            }
            None => self.lane_of(p, lane, ADDRESS_DEPTH),
        }
    }

    /// The address of a lane at a fixed distance.
    fn step(&mut self, base: Value, by: i64, lane: u16) -> Value {
        self.b().ptr_offset(base, i64::from(lane).wrapping_mul(by) as u64)
    }

    /// One lane of a number or an address: by lane from its operands, where a part of the sum is the same for all lanes or in step. What
    /// differs then comes from where it was computed, before a loop perhaps, and not from a vector that is made in every round.
    fn lane_of(&mut self, v: Value, lane: u16, depth: u32) -> Result<Value, Stop> {
        let item = self.item;
        let parts = match self.exact(v)? {
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
            VecValue::Varying(parts) => parts,
        };
        if !self.has_common_part(v, depth) {
            return Ok(self.b().extract_lane(parts[0], lane));
        }
        let Some(i) = item.func.def_inst(v) else { return Err(bug("a sum is no instruction")) };
        let data = &item.func.insts[i];
        let args: Args = data.args.iter().map(|&a| self.lane_of(a, lane, depth - 1)).collect::<Result<_, _>>()?;
        let (op, flags) = (data.op.clone(), data.flags - (Flags::NSW | Flags::NUW));
        self.b().push(op, args, Some(item.func.ty(v)), flags).ok_or(bug("an instruction has no result"))
    }

    /// Whether a value that varies is a sum with a part that does not, perhaps made wider or shifted since.
    fn has_common_part(&self, v: Value, depth: u32) -> bool {
        let item = self.item;
        let varies = |v: Value| {
            !matches!(self.values[v.index()], Some(VecValue::Uniform(_) | VecValue::Strided { cond: None, .. }))
        };
        let Some(i) = item.func.def_inst(v).filter(|_| depth > 0 && varies(v) && !self.is_element(v)) else {
            return false;
        };
        let args = &item.func.insts[i].args;
        match item.func.insts[i].op {
            Op::PtrAdd | Op::Binary(BinOp::Add | BinOp::Sub) => {
                args.iter().any(|&a| !varies(a) || self.has_common_part(a, depth - 1))
            }
            Op::Binary(BinOp::Shl | BinOp::Mul) => !varies(args[1]) && self.has_common_part(args[0], depth - 1),
            Op::Cast(CastOp::Sext | CastOp::Zext) => self.has_common_part(args[0], depth - 1),
            _ => false,
        }
    }

    /// Each lane from its own address.
    fn load_each(&mut self, ty: Type, p: Value, align: u32, flags: Flags) -> Result<Lanes, Stop> {
        if self.lane_by_lane(unit(ty), p) {
            let parts = self.address(p, None)?;
            return self.load_steps(ty, align, flags, |w, l| w.place_of(p, parts.as_ref(), l));
        }
        self.load_apart(ty, p, align, flags)
    }

    /// One lane after the other, whose addresses are given.
    fn load_steps(
        &mut self,
        ty: Type,
        align: u32,
        flags: Flags,
        at: impl Fn(&mut Self, u16) -> Result<Value, Stop>,
    ) -> Result<Lanes, Stop> {
        let unit = unit(ty);
        let items = (0..self.lanes)
            .map(|l| {
                let p = at(self, l)?;
                Ok(self.b().load(unit, p, align, flags))
            })
            .collect::<Result<Lanes, Stop>>()?;
        let whole = if unit.is_vector() { self.concat(&items) } else { self.b().build(&items) };
        Ok(self.parts(whole, ty))
    }

    /// All lanes, each with an address of its own.
    fn load_apart(&mut self, ty: Type, p: Value, align: u32, flags: Flags) -> Result<Lanes, Stop> {
        let unit = unit(ty);
        let ptrs = self.lane(p)?;
        let (wide, mask) = (self.wide_type(unit), self.mask_value(self.mask));
        if unit.is_vector() {
            return Ok((0..ty.lanes)
                .map(|c| {
                    let (p, align) = self.component(ptrs, ty, c, align);
                    self.b().gather(wide, p, mask, align, flags)
                })
                .collect());
        }
        let whole = self.b().gather(wide, ptrs, mask, align, flags);
        Ok(self.parts(whole, ty))
    }

    /// The components of what was loaded lane after lane.
    fn parts(&mut self, whole: Value, ty: Type) -> Lanes {
        let parts = Type::vector(ty.scalar, ty.lanes * self.lanes);
        let whole = if unit(ty) == ty { whole } else { self.b().cast(CastOp::Bitcast, whole, parts) };
        self.deinterleave(whole, ty.lanes)
    }

    /// The addresses of a component, and their alignment.
    fn component(&mut self, ptrs: Value, ty: Type, c: u16, align: u32) -> (Value, u32) {
        if c == 0 {
            return (ptrs, align);
        }
        let offset = u64::from(ty.scalar.bytes()) * u64::from(c);
        let lanes = Type::vector(Scalar::I64, self.lanes);
        let by = self.b().iconst(lanes, offset);
        let low = 1u32 << offset.trailing_zeros().min(12);
        (self.b().ptr_add(ptrs, by), align.min(low))
    }

    pub(super) fn store(&mut self, inst: Inst) -> Result<(), Stop> {
        let data = &self.item.func.insts[inst];
        let Op::Store { align } = data.op else { return Ok(()) };
        let (p, x, flags) = (data.args[0], data.args[1], data.flags);
        let ty = self.item.func.ty(x);
        if flags.contains(Flags::VOLATILE) {
            return self.serial(inst);
        }
        match self.get(p)? {
            VecValue::Uniform(p) => self.store_last(p, x, ty, align, flags),
            VecValue::Strided { base, by, cond } => {
                let (size, n) = (i64::from(ty.scalar.bytes()), i64::from(ty.lanes));
                let dense = by == size * n || (n == 1 && by == -size);
                let past = if self.item.write_only.contains(&inst) { Flags::NONTEMPORAL } else { Flags::empty() };
                if !dense && !self.stepped.contains(&by) {
                    self.stepped.push(by);
                }
                match (dense, cond) {
                    (true, None) => self.store_strided(x, ty, base, by, align, flags | past),
                    (true, Some(cond)) => {
                        let fast =
                            |w: &mut Self| w.store_strided(x, ty, base, by, align, flags | past).map(|()| Lanes::new());
                        let slow = |w: &mut Self| w.store_apart(p, x, ty, align, flags).map(|()| Lanes::new());
                        self.both(cond, fast, slow)
                    }
                    (false, Some(cond)) if self.may_step(unit(ty)) => {
                        let at = move |w: &mut Self, l: u16| Ok(w.step(base, by, l));
                        let fast = |w: &mut Self| w.store_steps(x, ty, align, flags, at).map(|()| Lanes::new());
                        let slow = |w: &mut Self| w.store_apart(p, x, ty, align, flags).map(|()| Lanes::new());
                        self.both(cond, fast, slow)
                    }
                    (false, _) => self.store_each(p, x, ty, align, flags),
                }
            }
            VecValue::Varying(_) => self.store_each(p, x, ty, align, flags),
        }
    }

    /// Of lanes that store at one address, the last one that is on counts.
    fn store_last(&mut self, p: Value, x: Value, ty: Type, align: u32, flags: Flags) -> Result<(), Stop> {
        let value = match self.exact(x)? {
            VecValue::Uniform(v) => v,
            wide => {
                let lanes = self.spread(&wide);
                let lane = match self.mask {
                    Some(m) => self.last_lane(m),
                    None => {
                        let last = u64::from(self.lanes - 1);
                        self.b().iconst(Type::I64, last)
                    }
                };
                let parts: Lanes = lanes.iter().map(|&l| self.b().extract(l, lane)).collect();
                if ty.is_vector() { self.b().build(&parts) } else { parts[0] }
            }
        };
        self.b().store(p, value, align, flags);
        Ok(())
    }

    fn store_strided(
        &mut self,
        x: Value,
        ty: Type,
        base: Value,
        by: i64,
        align: u32,
        flags: Flags,
    ) -> Result<(), Stop> {
        let parts = self.lanes(x)?;
        let mut first = base;
        let mut whole = self.interleave(&parts);
        let mut mask = self.mask.map(|m| self.repeat_mask(m, ty.lanes));
        if by < 0 {
            let distance = by * i64::from(self.lanes - 1);
            let back = self.b().iconst(Type::I64, distance as u64);
            first = self.b().ptr_add(base, back);
            whole = self.reverse(whole);
            mask = mask.map(|m| self.reverse(m));
        }
        let plain = flags - Flags::NONTEMPORAL;
        match mask {
            Some(m) => {
                // The copy for the vector at the end of a row.
                let seldom = if self.entry_mask.is_some() { Flags::COLD } else { Flags::empty() };
                self.b().masked_store(first, whole, m, align, plain | seldom);
            }
            None if plain != flags => return self.store_output(first, whole, align, plain),
            None => self.b().store(first, whole, align, plain),
        }
        Ok(())
    }

    /// Stores a vector, past the caches if it may go there and fills lines.
    fn store_output(&mut self, p: Value, x: Value, align: u32, flags: Flags) -> Result<(), Stop> {
        let bytes = self.func.ty(x).bytes();
        let fits = bytes.is_power_of_two() && u64::from(bytes) >= LINE;
        let Some(past) = self.nontemporal.filter(|_| fits) else {
            self.b().store(p, x, align, flags);
            return Ok(());
        };
        let aligned = LINE as u32;
        let mut b = self.b();
        let at = b.cast(CastOp::PtrToInt, p, Type::I64);
        let (rest, zero) = (b.iconst(Type::I64, u64::from(aligned - 1)), b.iconst(Type::I64, 0));
        let rest = b.binary(BinOp::And, at, rest);
        let fits = b.icmp(IntCc::Eq, rest, zero);
        let past = b.binary(BinOp::And, past, fits);
        let there = |w: &mut Self| {
            w.b().store(p, x, aligned, flags | Flags::NONTEMPORAL);
            Ok(Lanes::new())
        };
        let here = |w: &mut Self| {
            w.b().store(p, x, align, flags);
            Ok(Lanes::new())
        };
        self.both(past, there, here)
    }

    fn store_each(&mut self, p: Value, x: Value, ty: Type, align: u32, flags: Flags) -> Result<(), Stop> {
        if self.lane_by_lane(unit(ty), p) {
            let parts = self.address(p, None)?;
            return self.store_steps(x, ty, align, flags, |w, l| w.place_of(p, parts.as_ref(), l));
        }
        self.store_apart(p, x, ty, align, flags)
    }

    /// All lanes, each at an address of its own.
    fn store_apart(&mut self, p: Value, x: Value, ty: Type, align: u32, flags: Flags) -> Result<(), Stop> {
        let mask = self.mask_value(self.mask);
        let ptrs = self.lane(p)?;
        if unit(ty).is_vector() {
            for (c, part) in self.lanes(x)?.into_iter().enumerate() {
                let (p, align) = self.component(ptrs, ty, c as u16, align);
                self.b().scatter(p, part, mask, align, flags);
            }
            return Ok(());
        }
        let whole = self.interleaved(x, ty)?;
        self.b().scatter(ptrs, whole, mask, align, flags);
        Ok(())
    }

    /// What is stored, lane after lane.
    fn interleaved(&mut self, x: Value, ty: Type) -> Result<Value, Stop> {
        let parts = self.lanes(x)?;
        let whole = self.interleave(&parts);
        if unit(ty) == ty {
            return Ok(whole);
        }
        let numbers = self.wide_type(unit(ty));
        Ok(self.b().cast(CastOp::Bitcast, whole, numbers))
    }

    /// One lane after the other, whose addresses are given.
    fn store_steps(
        &mut self,
        x: Value,
        ty: Type,
        align: u32,
        flags: Flags,
        at: impl Fn(&mut Self, u16) -> Result<Value, Stop>,
    ) -> Result<(), Stop> {
        let unit = unit(ty);
        let whole = self.interleaved(x, ty)?;
        for l in 0..self.lanes {
            let p = at(self, l)?;
            let item = if unit.is_vector() {
                let order: Vec<u16> = (l * unit.lanes..(l + 1) * unit.lanes).collect();
                self.b().shuffle(whole, whole, &order)
            } else {
                self.b().extract_lane(whole, l)
            };
            self.b().store(p, item, align, flags);
        }
        Ok(())
    }

    /// Whether only this group's thread can see what an address points to.
    pub(super) fn is_own(&self, p: Value) -> bool {
        matches!(self.item.func.ty(p).space(), Some(Space::Local | Space::Private))
    }
}

/// What is accessed for one work-item: a short vector that is as wide as a number is one.
fn unit(ty: Type) -> Type {
    let bits = ty.scalar.bits() * u32::from(ty.lanes);
    Scalar::int(bits).filter(|_| ty.is_vector() && !ty.is_ptr()).map_or(ty, Type::scalar)
}
