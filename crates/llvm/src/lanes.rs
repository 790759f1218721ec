//! Operations over the lanes of a vector: masks, masked accesses, gathers and scatters.
//!
//! LLVM's own masked accesses are used where the target has instructions for them. Elsewhere LLVM would branch on each
//! lane; here inactive lanes get the address of a dummy location instead: loads that of a zero, stores that of a stack
//! slot that is never read. What remains are scalar accesses without branches. Stores of many lanes are a small loop
//! instead, because straight-line code for each lane takes long to compile. The choice depends on the target's features
//! alone, so that a machine always runs the same code.

use crate::emit::FunctionCx;
use cloom_ir::{BinOp, Flags, InstData, Op, Scalar, Space, Type, Value};
use cloom_target::MaskedAccess;
use llvm_sys::LLVMIntPredicate;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

/// How many nested additions of an address are analysed.
const MAX_SUMS: u32 = 4;

/// An index for each lane, and the size in bytes that scales it.
#[derive(Clone, Copy)]
struct Index {
    number: LLVMValueRef,
    size: u32,
}

/// The addresses of an access's lanes.
#[derive(Clone, Copy)]
enum Address {
    /// Consecutive, from this address on.
    Consecutive(LLVMValueRef),
    /// An address for each lane: a gather or scatter.
    PerLane(LLVMValueRef),
}

/// An access to lanes of memory.
#[derive(Clone, Copy)]
struct Access {
    address: Address,
    ty: Type,
    /// `None`: all lanes are on.
    mask: Option<LLVMValueRef>,
    align: u32,
    volatile: bool,
    space: Option<Space>,
    /// So many adjacent lanes are on or off together: those of one short vector.
    group: u16,
}

/// Whether an access reads or writes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AccessKind {
    Load,
    Store,
}

/// A cold consecutive store under a mask with as many lanes or more is a loop over the active lanes, unless there is an
/// instruction for it. Unrolled, these stores were a fourth of the code generation time of the Mandelbrot kernel. (Hot
/// ones are unrolled, like scatters: many kernels do little else under masks that differ from vector to vector, and the
/// exit of such a loop is predicted badly.)
const LOOP_LANES: u16 = 8;

/// The smallest page size: if one byte of a page can be read, all can.
const PAGE: u32 = 4096;

impl FunctionCx<'_, '_> {
    /// 0, 1, 2 … in the lanes.
    pub fn iota(&self, ty: Type) -> LLVMValueRef {
        self.lane_numbers(ty, 1)
    }

    /// 0, `step`, 2·`step` … in the lanes.
    fn lane_numbers(&self, ty: Type, step: u64) -> LLVMValueRef {
        let mut lanes: Vec<_> =
            (0..u64::from(ty.lanes)).map(|i| self.cx.constant(ty.lane(), (i * step) & ty.scalar.mask())).collect();
        // SAFETY: all elements are constants of one type, and the list lives through the call.
        unsafe { LLVMConstVector(lanes.as_mut_ptr(), lanes.len() as u32) }
    }

    /// A splat of `x`, in LLVM's canonical form.
    pub fn splat(&self, ty: Type, x: LLVMValueRef) -> LLVMValueRef {
        if !ty.is_vector() {
            return x;
        }
        let b = self.builder.0;
        // SAFETY: `x` has the type of a lane of `ty`, and the shuffle's numbers are constants.
        unsafe {
            let poison = LLVMGetPoison(self.cx.ty(ty));
            let first = LLVMBuildInsertElement(b, poison, x, self.cx.constant(Type::I32, 0), NO_NAME);
            let zeros = LLVMConstNull(self.cx.ty(ty.with_scalar(Scalar::I32)));
            LLVMBuildShuffleVector(b, first, poison, zeros, NO_NAME)
        }
    }

    /// The lanes of a mask as the bits of one integer.
    fn bits(&self, mask: Type, v: LLVMValueRef) -> (LLVMTypeRef, LLVMValueRef) {
        // SAFETY: `v` is a mask of one-bit lanes, so that an integer with a bit for each lane has the same size.
        unsafe {
            let ty = LLVMIntTypeInContext(self.cx.context, u32::from(mask.lanes));
            (ty, LLVMBuildBitCast(self.builder.0, v, ty, NO_NAME))
        }
    }

    /// Whether a lane is on.
    pub fn any(&self, mask: Type, v: LLVMValueRef) -> LLVMValueRef {
        let (ty, bits) = self.bits(mask, v);
        // SAFETY: `bits` has the integer type `ty`.
        unsafe { LLVMBuildICmp(self.builder.0, LLVMIntPredicate::LLVMIntNE, bits, LLVMConstNull(ty), NO_NAME) }
    }

    /// Whether all lanes are on.
    pub fn all(&self, mask: Type, v: LLVMValueRef) -> LLVMValueRef {
        let (ty, bits) = self.bits(mask, v);
        // SAFETY: `bits` has the integer type `ty`.
        unsafe { LLVMBuildICmp(self.builder.0, LLVMIntPredicate::LLVMIntEQ, bits, LLVMConstAllOnes(ty), NO_NAME) }
    }

    /// The lanes as bits of an `i64`.
    pub fn ballot(&self, mask: Type, v: LLVMValueRef) -> LLVMValueRef {
        let bits = self.bits(mask, v).1;
        if mask.lanes == 64 {
            return bits;
        }
        // SAFETY: `bits` is an integer of fewer than 64 bits.
        unsafe { LLVMBuildZExt(self.builder.0, bits, self.cx.ty(Type::I64), NO_NAME) }
    }

    /// The scalar of which a vector is a splat, if it is one.
    fn uniform(&self, v: Value) -> Option<LLVMValueRef> {
        let data = &self.func.insts[self.func.def_inst(v)?];
        match data.op {
            Op::Splat => Some(self.value(data.args[0])),
            Op::Const(bits) => Some(self.cx.constant(self.func.ty(v).lane(), bits)),
            _ => None,
        }
    }

    /// An address and an offset, or lanes of them. Uniform parts are added as scalars: with a uniform base and a scaled
    /// index, the address of a gather is one scalar register and one vector register, with 32 bits a lane if the index
    /// was extended from 32 bits.
    pub fn ptr_add(&self, ty: Type, data: &InstData) -> LLVMValueRef {
        let p = self.value(data.args[0]);
        if !ty.is_vector() {
            return self.offset(p, self.offset_for(ty, data.args[1]));
        }
        let by = self.value(data.args[1]);
        // Splats are made as late as possible: LLVM adds the scalars in scalar registers, and finds the base and the
        // index of a gather.
        match (self.uniform_base(data, MAX_SUMS), self.uniform(data.args[1])) {
            (Some((base, None)), _) => self.splat(ty, base),
            (Some((base, Some(index))), _) => self.offset_index(base, index),
            (None, uniform) => self.offset(p, uniform.unwrap_or(by)),
        }
    }

    /// Splits an address into a uniform base and, unless it is uniform, an index for each lane.
    fn uniform_base(&self, sum: &InstData, depth: u32) -> Option<(LLVMValueRef, Option<Index>)> {
        let (p, by) = (sum.args[0], sum.args[1]);
        let (base, index) = match self.uniform(p) {
            Some(base) => (base, None),
            None => {
                let inner = &self.func.insts[self.func.def_inst(p)?];
                if inner.op != Op::PtrAdd || depth == 0 {
                    return None;
                }
                self.uniform_base(inner, depth - 1)?
            }
        };
        match (self.uniform(by), index) {
            (Some(by), index) => Some((self.offset(base, by), index)),
            (None, None) => Some((base, Some(self.index(by)))),
            // Two parts that vary from lane to lane do not fit into one index.
            (None, Some(_)) => None,
        }
    }

    /// An offset as an index and a scale that addressing modes have.
    fn index(&self, by: Value) -> Index {
        let scaled = || {
            let data = &self.func.insts[self.func.def_inst(by)?];
            let factor = match data.op {
                Op::Binary(BinOp::Mul) => self.func.const_bits(data.args[1])?,
                Op::Binary(BinOp::Shl) => 1 << (self.func.const_bits(data.args[1])? % 64),
                _ => return None,
            };
            matches!(factor, 2 | 4 | 8).then(|| Index { number: self.value(data.args[0]), size: factor as u32 })
        };
        scaled().unwrap_or_else(|| Index { number: self.value(by), size: 1 })
    }

    fn offset_index(&self, base: LLVMValueRef, index: Index) -> LLVMValueRef {
        let mut number = [index.number];
        // SAFETY: `base` is a pointer, and the index is an integer. An index out of bounds is allowed, since the GEP is
        // not `inbounds`: the product wraps, as the multiplication that it stands for.
        unsafe {
            // Elements of `size` bytes make the multiplication a part of the address, as the addressing mode has it.
            let unit = LLVMIntTypeInContext(self.cx.context, 8 * index.size);
            LLVMBuildGEP2(self.builder.0, unit, base, number.as_mut_ptr(), 1, NO_NAME)
        }
    }

    /// A masked load or a gather.
    pub fn load_lanes(&mut self, data: &InstData, ty: Type, align: u32) -> LLVMValueRef {
        let Some(access) = self.access(data, ty, data.args[1], align) else {
            // SAFETY: every type has a null constant.
            return unsafe { LLVMConstNull(self.cx.ty(ty)) };
        };
        let value = match (access.address, access.mask) {
            (Address::Consecutive(_), None) => return self.load(data, ty, align),
            (Address::Consecutive(p), Some(mask)) if self.has_masked_row(access, AccessKind::Load) => {
                self.intrinsic_load("llvm.masked.load", p, access, mask)
            }
            // `load_row` reads lanes that are off, which a volatile load must not. A vector larger than a page is never
            // within one.
            (Address::Consecutive(p), Some(mask)) if !access.volatile && ty.bytes() <= PAGE => {
                self.load_row(access, p, mask)
            }
            (Address::PerLane(p), mask) if self.has_gather(access) => {
                let mask = mask.unwrap_or_else(|| self.cx.constant(ty.with_scalar(Scalar::I1), 1));
                self.intrinsic_load("llvm.masked.gather", p, access, mask)
            }
            _ => self.load_one_by_one(access),
        };
        // See `load`.
        match access.space {
            // SAFETY: `value` is the loaded value, and every first-class value can be frozen.
            Some(Space::Private | Space::Generic) => unsafe { LLVMBuildFreeze(self.builder.0, value, NO_NAME) },
            _ => value,
        }
    }

    /// A masked store or a scatter.
    pub fn store_lanes(&mut self, data: &InstData, align: u32) -> LLVMValueRef {
        let (ty, x) = (self.func.ty(data.args[1]), self.value(data.args[1]));
        let Some(access) = self.access(data, ty, data.args[2], align) else { return std::ptr::null_mut() };
        match (access.address, access.mask) {
            (Address::Consecutive(_), None) => self.store(data, align),
            (Address::Consecutive(p), Some(mask)) if self.has_masked_row(access, AccessKind::Store) => {
                self.intrinsic_store("llvm.masked.store", p, x, access, mask)
            }
            (Address::PerLane(p), mask) if self.has_gather(access) => {
                let mask = mask.unwrap_or_else(|| self.cx.constant(ty.with_scalar(Scalar::I1), 1));
                self.intrinsic_store("llvm.masked.scatter", p, x, access, mask)
            }
            (Address::Consecutive(p), Some(mask))
                if !access.volatile && matches!(access.space, Some(Space::Private | Space::Local)) =>
            {
                self.store_own_row(access, p, x, mask)
            }
            (Address::Consecutive(p), Some(mask))
                if !access.volatile && access.group == 1 && access.ty.lanes >= LOOP_LANES =>
            {
                let seldom = data.flags.contains(Flags::COLD);
                self.store_some(access, p, x, mask, seldom)
            }
            _ => self.store_one_by_one(access, x),
        }
    }

    /// The access of an instruction; `None` if all its lanes are off.
    fn access(&self, data: &InstData, ty: Type, mask: Value, align: u32) -> Option<Access> {
        let p = self.value(data.args[0]);
        let apart = matches!(data.op, Op::Gather { .. } | Op::Scatter { .. });
        let address = if apart { Address::PerLane(p) } else { Address::Consecutive(p) };
        let volatile = data.flags.contains(Flags::VOLATILE);
        let mask = match self.func.const_bits(mask) {
            Some(0) => return None,
            Some(_) => None,
            None => Some(self.value(mask)),
        };
        let space = self.func.ty(data.args[0]).space();
        let store = matches!(data.op, Op::MaskedStore { .. });
        // `load_one_by_one` has no groups: it builds the vector from single lanes. Volatile lanes are accesses of their
        // own.
        let group = if store && !volatile { self.group(data.args[2]) } else { 1 };
        Some(Access { address, ty, mask, align, volatile, space, group })
    }

    /// How many adjacent lanes of a mask are known to be equal.
    fn group(&self, mask: Value) -> u16 {
        let shuffle = self.func.def_inst(mask).map(|i| &self.func.insts[i].op);
        // The mask of a `float4` store repeats each work-item's lane four times: `shuffle m, [0, 0, 0, 0, 1, 1, 1, 1,
        // …]`.
        let Some(Op::Shuffle(lanes)) = shuffle else { return 1 };
        let alike = |n: usize| lanes.len().is_multiple_of(n) && lanes.chunks(n).all(|c| c.iter().all(|&l| l == c[0]));
        [16u16, 8, 4, 2].into_iter().find(|&n| usize::from(n) < lanes.len() && alike(n.into())).unwrap_or(1)
    }

    /// Whether the target has fast masked loads or stores of consecutive lanes.
    fn has_masked_row(&self, access: Access, kind: AccessKind) -> bool {
        // LLVM's masked operations cannot be volatile.
        !access.volatile
            && match self.cx.target.features().masked_access {
                MaskedAccess::None => false,
                MaskedAccess::WordLoads => access.ty.scalar.bits() >= 32 && kind == AccessKind::Load,
                MaskedAccess::All => true,
            }
    }

    /// Whether the target has gather or scatter instructions for it. (AVX2 has gathers, which are slower than loads on
    /// many processors, and no scatters.)
    fn has_gather(&self, access: Access) -> bool {
        let bits = access.ty.scalar.bits();
        !access.volatile && self.cx.target.features().gather_scatter && bits >= 32 && access.ty.lanes >= 4
    }

    fn intrinsic_load(&self, name: &str, p: LLVMValueRef, access: Access, mask: LLVMValueRef) -> LLVMValueRef {
        let ty = self.cx.ty(access.ty);
        // SAFETY: `p` is a value of the live module, and every type has a null constant.
        let (types, none) = unsafe { ([ty, LLVMTypeOf(p)], LLVMConstNull(ty)) };
        self.intrinsic(name, &types, &[p, self.intrinsic_align(access), mask, none])
    }

    fn intrinsic_store(
        &self,
        name: &str,
        p: LLVMValueRef,
        x: LLVMValueRef,
        access: Access,
        mask: LLVMValueRef,
    ) -> LLVMValueRef {
        // SAFETY: `p` is a value of the live module.
        let types = unsafe { [self.cx.ty(access.ty), LLVMTypeOf(p)] };
        self.intrinsic(name, &types, &[x, p, self.intrinsic_align(access), mask])
    }

    /// The alignment of one lane only: a masked access may run with no lane on, and an instruction that requires an
    /// aligned address requires it even then.
    fn intrinsic_align(&self, access: Access) -> LLVMValueRef {
        self.cx.constant(Type::I32, u64::from(access.align.min(access.ty.scalar.bytes())))
    }

    /// The address of each lane, or of the first lane of each short vector; `safe` for lanes that are off.
    fn lane_addresses(&self, access: Access, safe: LLVMValueRef) -> Vec<LLVMValueRef> {
        let b = self.builder.0;
        let lanes = u64::from(access.ty.lanes);
        let number = |i: u64| self.cx.constant(Type::I32, i);
        // SAFETY: a vector of addresses has as many lanes as the access, and all numbers are below that.
        unsafe {
            match (access.address, access.mask) {
                (Address::PerLane(p), mask) => {
                    let ty = access.ty.with_scalar(Scalar::Ptr(Space::Global));
                    let p = mask.map_or(p, |m| LLVMBuildSelect(b, m, p, self.splat(ty, safe), NO_NAME));
                    (0..lanes).map(|i| LLVMBuildExtractElement(b, p, number(i), NO_NAME)).collect()
                }
                (Address::Consecutive(p), mask) => {
                    let size = u64::from(access.ty.scalar.bytes());
                    let at = |i: u64| self.offset(p, self.cx.constant(Type::I64, i * size));
                    let firsts = (0..lanes).step_by(access.group.into());
                    let Some(mask) = mask else { return firsts.map(at).collect() };
                    firsts
                        .map(|i| {
                            // The first lane of a group stands for all of them.
                            let on = LLVMBuildExtractElement(b, mask, number(i), NO_NAME);
                            LLVMBuildSelect(b, on, at(i), safe, NO_NAME)
                        })
                        .collect()
                }
            }
        }
    }

    /// The alignment of lane `i`.
    fn lane_align(&self, access: Access) -> u32 {
        access.align.min(access.ty.scalar.bytes())
    }

    /// A consecutive masked load without an instruction for it. If all lanes are in the page of an active lane, loading
    /// them all cannot fault: they are loaded and the inactive ones cleared. Otherwise, which is rare, a loop loads
    /// lane by lane.
    fn load_row(&mut self, access: Access, p: LLVMValueRef, mask: LLVMValueRef) -> LLVMValueRef {
        let zeros = self.cx.zeros();
        let b = self.builder.0;
        let (ty, lanes) = (access.ty, u64::from(access.ty.lanes));
        let llvm = self.cx.ty(ty);
        let bytes = u64::from(ty.bytes());
        let mask_ty = ty.with_scalar(Scalar::I1);
        let size = u64::from(ty.scalar.bytes());
        // Of different sizes: `slot` has one slot for each size, and both are in use at once.
        let (row, flags) = (self.slot(bytes.max(lanes + 1)), self.slot(lanes));
        let n = |x: u64| self.cx.constant(Type::I64, x);
        let (i8, i64) = (self.cx.ty(Type::I8), self.cx.ty(Type::I64));
        // SAFETY: `p` is a pointer, `mask` has as many lanes as the access, and both phis have one incoming value for
        // each predecessor. Each new block ends with a branch, or the builder stays in it.
        unsafe {
            let block = |name| self.new_block(name);
            let [whole, slow, next, join] = [c"row", c"rim", c"rim.lane", c"row.end"].map(block);
            let address = LLVMBuildPtrToInt(b, p, i64, NO_NAME);
            let within = LLVMBuildAnd(b, address, n(u64::from(PAGE) - 1), NO_NAME);
            let fits = LLVMBuildICmp(b, LLVMIntPredicate::LLVMIntULE, within, n(u64::from(PAGE) - bytes), NO_NAME);
            // If no lane is on, nothing says that the address is one of this process at all.
            let can = LLVMBuildAnd(b, fits, self.any(mask_ty, mask), NO_NAME);
            LLVMBuildCondBr(b, can, whole, slow);

            LLVMPositionBuilderAtEnd(b, whole);
            let all = LLVMBuildLoad2(b, llvm, p, NO_NAME);
            LLVMSetAlignment(all, self.lane_align(access));
            // Inactive lanes may be outside of any object of the program: their bits are unspecified.
            let fast = LLVMBuildSelect(b, mask, LLVMBuildFreeze(b, all, NO_NAME), LLVMConstNull(llvm), NO_NAME);
            LLVMBuildBr(b, join);

            LLVMPositionBuilderAtEnd(b, slow);
            // The loop takes lane after lane by its number. In memory each lane has an address; LLVM would have to
            // spill the mask in each iteration.
            let wide = LLVMBuildZExt(b, mask, self.cx.ty(ty.with_scalar(Scalar::I8)), NO_NAME);
            LLVMSetAlignment(LLVMBuildStore(b, wide, flags), 1);
            LLVMBuildBr(b, next);

            LLVMPositionBuilderAtEnd(b, next);
            let mut lane = LLVMBuildPhi(b, i64, NO_NAME);
            let on = LLVMBuildLoad2(b, i8, self.offset(flags, lane), NO_NAME);
            let on = LLVMBuildTrunc(b, on, self.cx.ty(Type::I1), NO_NAME);
            let by = LLVMBuildMul(b, lane, n(size), NO_NAME);
            let from = LLVMBuildSelect(b, on, self.offset(p, by), zeros, NO_NAME);
            let x = LLVMBuildLoad2(b, self.cx.scalar(ty.scalar), from, NO_NAME);
            LLVMSetAlignment(x, self.lane_align(access));
            LLVMSetAlignment(LLVMBuildStore(b, x, self.offset(row, by)), self.lane_align(access));
            let mut following = LLVMBuildAdd(b, lane, n(1), NO_NAME);
            let more = LLVMBuildICmp(b, LLVMIntPredicate::LLVMIntULT, following, n(lanes), NO_NAME);
            let done = block(c"rim.end");
            LLVMBuildCondBr(b, more, next, done);
            let (mut first, mut from_slow, mut from_next) = (n(0), slow, next);
            LLVMAddIncoming(lane, &mut first, &mut from_slow, 1);
            LLVMAddIncoming(lane, &mut following, &mut from_next, 1);

            LLVMPositionBuilderAtEnd(b, done);
            let mut gathered = LLVMBuildLoad2(b, llvm, row, NO_NAME);
            LLVMSetAlignment(gathered, 1);
            LLVMBuildBr(b, join);

            LLVMPositionBuilderAtEnd(b, join);
            lane = LLVMBuildPhi(b, llvm, NO_NAME);
            let (mut fast, mut from_whole, mut from_done) = (fast, whole, done);
            LLVMAddIncoming(lane, &mut fast, &mut from_whole, 1);
            LLVMAddIncoming(lane, &mut gathered, &mut from_done, 1);
            lane
        }
    }

    /// A consecutive store to private or local memory, which no other thread accesses: load, blend and store the whole
    /// vector, so that the store can be forwarded to a later load. (What surrounds local memory may be read and written
    /// back too: see [`cloom_ir::abi::LOCAL_MARGIN`].)
    fn store_own_row(&mut self, access: Access, p: LLVMValueRef, x: LLVMValueRef, mask: LLVMValueRef) -> LLVMValueRef {
        let aside = self.slot(u64::from(access.ty.bytes()));
        let b = self.builder.0;
        let ty = self.cx.ty(access.ty);
        let align = self.lane_align(access);
        // SAFETY: `p` is a pointer to the row, `aside` one to a stack slot of its size, and `mask` has as many lanes as
        // `x`.
        unsafe {
            // The address is valid if a lane is on.
            let any = self.any(access.ty.with_scalar(Scalar::I1), mask);
            let p = LLVMBuildSelect(b, any, p, aside, NO_NAME);
            let old = LLVMBuildLoad2(b, ty, p, NO_NAME);
            LLVMSetAlignment(old, align);
            // Lanes that were never written are poison. They are stored again, so that a later load must not spread it.
            let row = LLVMBuildSelect(b, mask, x, LLVMBuildFreeze(b, old, NO_NAME), NO_NAME);
            let store = LLVMBuildStore(b, row, p);
            LLVMSetAlignment(store, align);
            store
        }
    }

    /// A temporary stack slot, whose content is dead after the operation.
    fn slot(&mut self, bytes: u64) -> LLVMValueRef {
        if let Some(&slot) = self.slots.get(&bytes) {
            return slot;
        }
        let slot = self.alloca(bytes, 64);
        self.slots.insert(bytes, slot);
        slot
    }

    fn load_one_by_one(&mut self, access: Access) -> LLVMValueRef {
        let zeros = self.cx.zeros();
        let b = self.builder.0;
        let ty = self.cx.scalar(access.ty.scalar);
        let load = |p| {
            // SAFETY: `p` is a pointer, and `x` is the load that was just made.
            unsafe {
                let x = LLVMBuildLoad2(b, ty, p, NO_NAME);
                LLVMSetAlignment(x, self.lane_align(access));
                LLVMSetVolatile(x, i32::from(access.volatile));
                x
            }
        };
        let lanes: Vec<_> = self.lane_addresses(access, zeros).into_iter().map(load).collect();
        self.build(access.ty, &lanes)
    }

    /// A consecutive store: as a whole if all lanes are on, else a loop over the active lanes.
    fn store_some(
        &mut self,
        access: Access,
        p: LLVMValueRef,
        x: LLVMValueRef,
        mask: LLVMValueRef,
        seldom: bool,
    ) -> LLVMValueRef {
        let (ty, lanes) = (access.ty, u64::from(access.ty.lanes));
        let size = u64::from(ty.scalar.bytes());
        // Only the loop reads the values from memory.
        let values = if seldom { self.slot(u64::from(ty.bytes())) } else { std::ptr::null_mut() };
        let b = self.builder.0;
        let n = |x: u64| self.cx.constant(Type::I64, x);
        // SAFETY: `mask` and `x` have as many lanes as the access, and `word` has a bit for each. Each new block ends
        // with a branch, or the builder stays in it.
        unsafe {
            let block = |name| self.new_block(name);
            let [some, join, whole] = [c"some", c"stored", c"whole"].map(block);
            let word = LLVMIntTypeInContext(self.cx.context, lanes as u32);
            let bits = LLVMBuildBitCast(b, mask, word, NO_NAME);
            let all = LLVMBuildICmp(b, LLVMIntPredicate::LLVMIntEQ, bits, LLVMConstAllOnes(word), NO_NAME);
            LLVMBuildCondBr(b, all, whole, some);
            LLVMPositionBuilderAtEnd(b, whole);
            LLVMSetAlignment(LLVMBuildStore(b, x, p), self.lane_align(access));
            LLVMBuildBr(b, join);

            LLVMPositionBuilderAtEnd(b, some);
            if !seldom {
                // The addresses are selected as vectors: of a scalar select between an address and a known sink, LLVM
                // makes a branch.
                let mut steps: Vec<_> = (0..lanes).map(|i| n(i * size)).collect();
                let mut steps = LLVMConstVector(steps.as_mut_ptr(), steps.len() as u32);
                let addresses = LLVMBuildGEP2(b, self.cx.ty(Type::I8), p, &mut steps, 1, NO_NAME);
                let store = self.store_one_by_one(Access { address: Address::PerLane(addresses), ..access }, x);
                LLVMBuildBr(b, join);
                LLVMPositionBuilderAtEnd(b, join);
                return store;
            }
            // As in `load_row`, the loop finds a lane by its address.
            LLVMSetAlignment(LLVMBuildStore(b, x, values), 1);
            let next = block(c"some.lane");
            let any = LLVMBuildICmp(b, LLVMIntPredicate::LLVMIntNE, bits, LLVMConstNull(word), NO_NAME);
            LLVMBuildCondBr(b, any, next, join);

            LLVMPositionBuilderAtEnd(b, next);
            let left = LLVMBuildPhi(b, word, NO_NAME);
            // The loop runs while a bit is set: LLVM need not define the count for zero.
            let never_none = LLVMConstInt(LLVMInt1TypeInContext(self.cx.context), 1, 0);
            let first = self.intrinsic("llvm.cttz", &[word], &[left, never_none]);
            let i64 = self.cx.ty(Type::I64);
            let lane = match lanes {
                0..64 => LLVMBuildZExt(b, first, i64, NO_NAME),
                64 => first,
                _ => LLVMBuildTrunc(b, first, i64, NO_NAME),
            };
            let by = LLVMBuildMul(b, lane, n(size), NO_NAME);
            let value = LLVMBuildLoad2(b, self.cx.scalar(ty.scalar), self.offset(values, by), NO_NAME);
            LLVMSetAlignment(value, size as u32);
            let store = LLVMBuildStore(b, value, self.offset(p, by));
            LLVMSetAlignment(store, self.lane_align(access));
            // `left & (left - 1)` clears the lowest bit that is set.
            let less = LLVMBuildAdd(b, left, LLVMConstAllOnes(word), NO_NAME);
            let mut rest = LLVMBuildAnd(b, left, less, NO_NAME);
            let more = LLVMBuildICmp(b, LLVMIntPredicate::LLVMIntNE, rest, LLVMConstNull(word), NO_NAME);
            LLVMBuildCondBr(b, more, next, join);
            let (mut bits, mut from_some, mut from_next) = (bits, some, next);
            LLVMAddIncoming(left, &mut bits, &mut from_some, 1);
            LLVMAddIncoming(left, &mut rest, &mut from_next, 1);

            LLVMPositionBuilderAtEnd(b, join);
            store
        }
    }

    fn store_one_by_one(&mut self, access: Access, x: LLVMValueRef) -> LLVMValueRef {
        let (lanes, group) = (usize::from(access.ty.lanes), usize::from(access.group));
        let size = access.ty.scalar.bytes();
        let sink = self.slot(u64::from(size) * group as u64);
        let b = self.builder.0;
        let number = |i: usize| self.cx.constant(Type::I32, i as u64);
        let mut last = std::ptr::null_mut();
        let addresses = self.lane_addresses(access, sink);
        for (i, p) in (0..lanes).step_by(group).zip(addresses) {
            // SAFETY: `x` has as many lanes as the access, and `i + group` is at most their number.
            unsafe {
                let part = if group == 1 {
                    LLVMBuildExtractElement(b, x, number(i), NO_NAME)
                } else {
                    let mut numbers: Vec<_> = (i..i + group).map(number).collect();
                    let numbers = LLVMConstVector(numbers.as_mut_ptr(), numbers.len() as u32);
                    LLVMBuildShuffleVector(b, x, LLVMGetPoison(LLVMTypeOf(x)), numbers, NO_NAME)
                };
                last = LLVMBuildStore(b, part, p);
                LLVMSetAlignment(last, self.lane_align(access));
                LLVMSetVolatile(last, i32::from(access.volatile));
            }
        }
        last
    }
}
