//! Deinterleaving and interleaving of vectors of several registers: short vectors to their components, and back.
//!
//! A shuffle that picks every fourth lane of four registers has four registers as its source. LLVM makes such a shuffle
//! a lane or two at a time. Here it becomes a tree of shuffles of two registers each: deinterleaving splits into even
//! and odd lanes, log2 n times; interleaving zips the halves. LLVM's CSE finds the shuffles that several components
//! share. Short vectors of bytes and shorts are treated as integers, whose components are extracted by shifts.

use crate::emit::FunctionCx;
use cloom_ir::{Op, Type, Value};
use llvm_sys::core::*;
use llvm_sys::prelude::*;

const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

/// A vector, its number of lanes, and the bits of a lane.
#[derive(Clone, Copy)]
struct Source {
    v: Value,
    lanes: u32,
    bits: u32,
}

/// The components that a short vector has at most.
const MAX_COMPONENTS: u32 = 16;

impl FunctionCx<'_, '_> {
    /// Translates a shuffle of one vector's lanes if it deinterleaves or interleaves short vectors; `None` otherwise.
    pub fn interleaving(&self, from: Type, v: Value, mask: &[u16]) -> Option<LLVMValueRef> {
        let register = self.cx.target.features().vector_bits;
        let (lanes, bits) = (u32::from(from.lanes), from.scalar.bits());
        let per = register / bits.max(8);
        if let Some(v) = self.component_of_three(from, v, mask, per) {
            return Some(v);
        }
        // The tree halves vectors down to registers, and integers stand for the lanes: masks, pointers and lengths that
        // are no powers of two stay with LLVM.
        if bits == 1 || from.is_ptr() || !lanes.is_power_of_two() || !mask.len().is_power_of_two() {
            return None;
        }
        // For 64-bit lanes, LLVM finds these shuffles itself.
        let many = lanes >= 2 * per && (bits < 64 || register == 512);
        let short = |n: u32| bits <= 16 && bits * n <= 64;
        let source = Source { v, lanes, bits };
        let n = lanes / (mask.len() as u32).min(lanes);
        let picks = |c: u32, n: u32| mask.iter().zip(0..).all(|(&m, i)| u32::from(m) == c + i * n);
        if n > 1 {
            let c = u32::from(mask[0]);
            // The result has a lane of each `n`: those at `c`, `c + n`, `c + 2 n` …, or it is no component.
            if n > MAX_COMPONENTS || c >= n || !picks(c, n) {
                return None;
            }
            return match () {
                () if short(n) && n < lanes => Some(self.take_bits(source, n, c)),
                () if many => Some(self.take_component(source, per, n, c)),
                () => None,
            };
        }
        // Component c of item l comes from lane l of block c.
        let joins = |n: u32| {
            let items = lanes / n;
            mask.iter().zip(0..).all(|(&m, i)| u32::from(m) == (i % n) * items + i / n)
        };
        let n = [2, 4, 8, 16].into_iter().find(|&n| n < lanes && mask.len() as u32 == lanes && joins(n))?;
        match () {
            () if short(n) => Some(self.join_bits(source, n)),
            () if many => Some(self.join_components(source, per, n)),
            () => None,
        }
    }

    /// A component of short vectors of three 32-bit numbers (`float3`, packed). Four of them fill three blocks of 128
    /// bits: a component takes two or three shuffles of two registers, two of which components share. With 256-bit
    /// registers both halves are done at once.
    fn component_of_three(&self, from: Type, v: Value, mask: &[u16], per: u32) -> Option<LLVMValueRef> {
        let (lanes, items) = (u32::from(from.lanes), mask.len() as u32);
        let (blocks, parts) = (per / 4, items / per);
        let c = mask.first().map_or(0, |&m| u32::from(m));
        let picks = c < 3 && mask.iter().zip(0..).all(|(&m, i)| u32::from(m) == c + 3 * i);
        let whole = from.scalar.bits() == 32 && !from.is_ptr() && lanes == 3 * items && parts.is_power_of_two();
        if !picks || !whole || parts * per != items || !matches!(blocks, 1 | 2) {
            return None;
        }
        let component = |part: u32| {
            // Block k of the three 128-bit blocks that one half of the result is made of.
            let block = |k: u32, half: u32| self.block(v, 4 * (3 * (part * blocks + half) + k), 4);
            let [m0, m1, m2] = [0, 1, 2].map(|k| match blocks {
                1 => block(k, 0),
                _ => self.pick(block(k, 0), block(k, 1), 0..8),
            });
            // With the blocks x0 y0 z0 x1, y1 z1 x2 y2 and z2 x3 y3 z3, `xy` is x2 y2 x3 y3, and `yz` is y0 z0 y1 z1.
            let xy = self.within(per, m1, m2, [2, 3, 5, 6]);
            let yz = self.within(per, m0, m1, [1, 2, 4, 5]);
            match c {
                0 => self.within(per, m0, xy, [0, 3, 4, 6]),
                1 => self.within(per, yz, xy, [0, 2, 5, 7]),
                _ => self.within(per, yz, m2, [1, 3, 4, 7]),
            }
        };
        Some(self.whole((0..parts).map(component).collect(), per))
    }

    /// Component `c` of short vectors that are one integer each, by shift and truncation. Mostly an extension follows,
    /// which then folds away.
    fn take_bits(&self, source: Source, n: u32, c: u32) -> LLVMValueRef {
        let Source { v, lanes, bits } = source;
        let b = self.builder.0;
        let items = self.int_vector(n * bits, lanes / n);
        // SAFETY: the vector has as many bits as `lanes / n` integers of `n * bits` bits, so that the bit cast is
        // valid.
        unsafe {
            let amount = self.int_splat(n * bits, lanes / n, c * bits);
            let items = LLVMBuildBitCast(b, self.value(v), items, NO_NAME);
            LLVMBuildTrunc(b, LLVMBuildLShr(b, items, amount, NO_NAME), self.int_vector(bits, lanes / n), NO_NAME)
        }
    }

    /// Short vectors of `n` components, joined as one integer each by shift and or.
    fn join_bits(&self, source: Source, n: u32) -> LLVMValueRef {
        let Source { v, lanes, bits } = source;
        let b = self.builder.0;
        let items = lanes / n;
        // SAFETY: all parts are vectors of one type, and the last bit cast keeps the number of bits.
        unsafe {
            let whole = (0..n).map(|c| {
                let part = LLVMBuildZExt(b, self.block(v, c * items, items), self.int_vector(n * bits, items), NO_NAME);
                LLVMBuildShl(b, part, self.int_splat(n * bits, items, c * bits), NO_NAME)
            });
            let whole = whole.reduce(|x, y| LLVMBuildOr(b, x, y, NO_NAME));
            LLVMBuildBitCast(b, whole.unwrap_or_else(|| self.value(v)), self.int_vector(bits, lanes), NO_NAME)
        }
    }

    fn int_vector(&self, bits: u32, lanes: u32) -> LLVMTypeRef {
        // SAFETY: the context is live, and a vector may hold integers of any width.
        unsafe { LLVMVectorType(LLVMIntTypeInContext(self.cx.context, bits), lanes) }
    }

    fn int_splat(&self, bits: u32, lanes: u32, x: u32) -> LLVMValueRef {
        // SAFETY: the context is live, and the list of constants lives through the call that reads it.
        unsafe {
            let x = LLVMConstInt(LLVMIntTypeInContext(self.cx.context, bits), x.into(), 0);
            LLVMConstVector(vec![x; lanes as usize].as_mut_ptr(), lanes)
        }
    }

    /// `count` lanes of a vector from `first` on; taken from the vector that they were copied from, if shuffles only
    /// copied them.
    fn block(&self, v: Value, first: u32, count: u32) -> LLVMValueRef {
        let (v, first) = self.origin(v, first, count);
        let (x, ty) = (self.value(v), self.func.ty(v));
        if u32::from(ty.lanes) == count {
            return x;
        }
        self.pick(x, x, first..first + count)
    }

    /// Follows shuffles that copy a run of lanes unchanged: the vector that the run comes from, and its first lane
    /// there.
    fn origin(&self, v: Value, first: u32, count: u32) -> (Value, u32) {
        let (mut v, mut first) = (v, first as u16);
        // A bound for long chains of shuffles: this is asked for each block of each shuffle.
        for _ in 0..MAX_COMPONENTS {
            let Some(data) = self.func.def_inst(v).map(|i| &self.func.insts[i]) else { break };
            let Op::Shuffle(mask) = &data.op else { break };
            let start = mask[usize::from(first)];
            let run = &mask[usize::from(first)..][..count as usize];
            let lanes = self.func.ty(data.args[0]).lanes;
            let in_order = run.iter().zip(start..).all(|(&m, i)| m == i);
            // The run must lie within one of the two operands.
            if !in_order || start < lanes && u32::from(start) + count > lanes.into() {
                break;
            }
            (v, first) = if start < lanes { (data.args[0], start) } else { (data.args[1], start - lanes) };
        }
        (v, first.into())
    }

    /// A shuffle: lanes of `x` followed by `y`.
    pub fn pick(&self, x: LLVMValueRef, y: LLVMValueRef, lanes: impl Iterator<Item = u32>) -> LLVMValueRef {
        let mut lanes: Vec<_> = lanes.map(|l| self.cx.constant(Type::I32, l.into())).collect();
        // SAFETY: both operands have one type, and each number in `lanes` is one of a lane of the two.
        unsafe {
            LLVMBuildShuffleVector(
                self.builder.0,
                x,
                y,
                LLVMConstVector(lanes.as_mut_ptr(), lanes.len() as u32),
                NO_NAME,
            )
        }
    }

    /// The vector split into registers.
    fn registers(&self, source: Source, per: u32) -> Vec<LLVMValueRef> {
        (0..source.lanes / per).map(|k| self.block(source.v, k * per, per)).collect()
    }

    /// The registers as one vector; their number is a power of two.
    fn whole(&self, mut pieces: Vec<LLVMValueRef>, mut per: u32) -> LLVMValueRef {
        while pieces.len() > 1 {
            pieces = pieces.chunks(2).map(|p| self.pick(p[0], p[1], 0..2 * per)).collect();
            per *= 2;
        }
        pieces[0]
    }

    /// Component `c` of `n`.
    fn take_component(&self, source: Source, per: u32, mut n: u32, mut c: u32) -> LLVMValueRef {
        if source.bits == 32
            && n == 4
            && per == 16
            && source.lanes.is_multiple_of(4 * per)
            && let Some(items) = self.items_of_four(source)
        {
            let squares = items.chunks(16).map(|items| {
                // The short vectors are not in one register yet, so that they are put where the transposes want them:
                // every fourth one in a register. Then the lanes come out in order.
                let q = std::array::from_fn(|j| self.whole((0..4).map(|i| items[4 * i + j]).collect(), 4));
                self.transposed(per, q)[c as usize]
            });
            return self.whole(squares.collect(), per);
        }
        let mut pieces = self.registers(source, per);
        if source.bits == 32 && n == 4 && is_square(per, &pieces) {
            let rows =
                pieces.chunks(4).map(|p| self.transposed(per, self.halves(per, [p[0], p[1], p[2], p[3]]))[c as usize]);
            return self.whole(rows.collect(), per);
        }
        if source.bits == 32 && n == 16 && per == 16 && pieces.len().is_multiple_of(16) {
            return self.whole(pieces.chunks(16).map(|rows| self.column(rows, c)).collect(), per);
        }
        while n > 1 && pieces.len() > 1 {
            pieces = pieces.chunks(2).map(|p| self.pick(p[0], p[1], (0..per).map(|i| 2 * i + c % 2))).collect();
            (n, c) = (n / 2, c / 2);
        }
        if n > 1 {
            return self.pick(pieces[0], pieces[0], (0..per / n).map(|i| n * i + c));
        }
        self.whole(pieces, per)
    }

    /// The short vectors of four components, if each is a value of its own, such as a load.
    fn items_of_four(&self, source: Source) -> Option<Vec<LLVMValueRef>> {
        let item = |k: u32| {
            let (v, _) = self.origin(source.v, 4 * k, 4);
            (self.func.ty(v).lanes == 4).then(|| self.value(v))
        };
        (0..source.lanes / 4).map(item).collect()
    }

    /// Column `c` of a 16 × 16 transpose: 4 × 4 transposes within blocks of four rows, then a selection of blocks.
    fn column(&self, rows: &[LLVMValueRef], c: u32) -> LLVMValueRef {
        let (block, c) = (c / 4, c % 4);
        let square = |r: &[LLVMValueRef]| self.transposed(16, [r[0], r[1], r[2], r[3]])[c as usize];
        let two = |x, y, from: u32| {
            let blocks = [from, from + 2, 4 + from, 6 + from];
            self.pick(x, y, blocks.into_iter().flat_map(|b| 4 * b..4 * b + 4))
        };
        let s: Vec<_> = rows.chunks(4).map(square).collect();
        two(two(s[0], s[1], block % 2), two(s[2], s[3], block % 2), block / 2)
    }

    /// Interleaves `n` components, which follow each other in the source, to short vectors.
    fn join_components(&self, source: Source, per: u32, mut n: u32) -> LLVMValueRef {
        let mut pieces = self.registers(source, per);
        if source.bits == 32 && n == 4 && is_square(per, &pieces) {
            let step = pieces.len() / 4;
            let items = (0..step).flat_map(|k| {
                let rows = [0, 1, 2, 3].map(|c| pieces[k + c * step]);
                self.halves_back(per, self.transposed(per, rows))
            });
            return self.whole(items.collect(), per);
        }
        while n > 1 {
            let (a, b) = pieces.split_at(pieces.len() / 2);
            let zip = |from: u32| (from..from + per / 2).flat_map(move |i| [i, per + i]);
            pieces =
                a.iter().zip(b).flat_map(|(&a, &b)| [self.pick(a, b, zip(0)), self.pick(a, b, zip(per / 2))]).collect();
            n /= 2;
        }
        self.whole(pieces, per)
    }

    /// A shuffle within each 128-bit block of two registers: lanes 0 to 3 are those of `x`, 4 to 7 those of `y`.
    fn within(&self, per: u32, x: LLVMValueRef, y: LLVMValueRef, four: [u32; 4]) -> LLVMValueRef {
        let lane = move |block: u32, l: u32| if l < 4 { block + l } else { per + block + l - 4 };
        self.pick(x, y, (0..per).step_by(4).flat_map(move |block| four.map(|l| lane(block, l))))
    }

    /// A 4 × 4 transpose within each 128-bit block.
    fn transposed(&self, per: u32, q: [LLVMValueRef; 4]) -> [LLVMValueRef; 4] {
        let within = |x, y, four| self.within(per, x, y, four);
        let [a, b, c, d] = q;
        let (low, high) = ([0, 4, 1, 5], [2, 6, 3, 7]);
        let [t0, t1] = [within(a, b, low), within(a, b, high)];
        let [t2, t3] = [within(c, d, low), within(c, d, high)];
        let (first, second) = ([0, 1, 4, 5], [2, 3, 6, 7]);
        [within(t0, t2, first), within(t0, t2, second), within(t1, t3, first), within(t1, t3, second)]
    }

    /// Reorders the 128-bit halves of registers with short vectors in order, so that [`Self::transposed`] yields lanes
    /// in order.
    fn halves(&self, per: u32, p: [LLVMValueRef; 4]) -> [LLVMValueRef; 4] {
        if per == 4 {
            return p;
        }
        [self.lower(p[0], p[2]), self.upper(p[0], p[2]), self.lower(p[1], p[3]), self.upper(p[1], p[3])]
    }

    /// The inverse of [`Self::halves`].
    fn halves_back(&self, per: u32, q: [LLVMValueRef; 4]) -> [LLVMValueRef; 4] {
        if per == 4 {
            return q;
        }
        [self.lower(q[0], q[1]), self.lower(q[2], q[3]), self.upper(q[0], q[1]), self.upper(q[2], q[3])]
    }

    fn lower(&self, x: LLVMValueRef, y: LLVMValueRef) -> LLVMValueRef {
        self.pick(x, y, (0..4).chain(8..12))
    }

    fn upper(&self, x: LLVMValueRef, y: LLVMValueRef) -> LLVMValueRef {
        self.pick(x, y, (4..8).chain(12..16))
    }
}

/// Whether a register has one or two blocks of 128 bits and the registers make whole 4 × 4 squares.
fn is_square(per: u32, pieces: &[LLVMValueRef]) -> bool {
    matches!(per, 4 | 8) && pieces.len().is_multiple_of(4)
}
