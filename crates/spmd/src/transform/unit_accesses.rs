//! Accesses to private arrays become accesses to units.
//!
//! In comes the function of one work-item; out goes the same where no access is larger than a unit of its array, as
//! the layout by unit needs ([`crate::analysis::private_layout`]). Two kinds of instructions are rewritten:
//!
//! * Loads and stores that are larger, where an array is accessed in several sizes. They become one for each unit.
//! * `memcopy` and `memset`. A short one becomes a few loads and stores, a long one a loop, which is uniform:
//!   vectorised, each iteration loads a scalar or a vector, and stores a vector.
//!
//! ```text
//! v: f64 = load p              ─▶     a: i32 = load p;  b: i32 = load p + 4;  v = bitcast (build a, b)
//! memcopy 512 b, table         ─▶     for (k = 0; k < 512; k += 16) { b[k] = table[k]; … b[k + 12] = table[k + 12]; }
//! ```

use crate::analysis::private_layout::Arrays;
use cloom_ir::{
    Args, BinOp, Block, Builder, CastOp, Edge, Flags, Function, Inst, InstData, IntCc, Op, Scalar, Span, Term, Type,
    Value,
};

/// The most pieces of a copy that are written one after the other.
const STRAIGHT: u64 = 16;
/// The pieces of one iteration of a loop.
const IN_LOOP: u64 = 4;
/// The largest piece in bytes: a vector of 16 words has no more lanes than a type may have, for as many work-items as
/// a vector may have.
const MAX_PIECE: u32 = 128;

/// Runs the transformation. Returns how many instructions were rewritten.
pub fn run(func: &mut Function) -> usize {
    if !func.insts_in_layout().any(|(_, data)| matches!(data.op, Op::Alloca { .. })) {
        return 0;
    }
    let arrays = Arrays::wanted(func);
    let mut rewritten = 0;
    for k in 0..func.layout.len() {
        // A transfer that becomes a loop splits the block: the instructions after it go to the block behind the loop.
        let mut block = func.layout[k];
        for i in std::mem::take(&mut func.blocks[block].insts) {
            match rewrite(func, &arrays, i) {
                None => func.blocks[block].insts.push(i),
                Some(Rewritten::Parts(unit)) => {
                    rewritten += 1;
                    in_parts(func, block, i, unit);
                }
                Some(Rewritten::Transfer(piece)) => {
                    rewritten += 1;
                    block = Transfer::of(func, i).expand(func, block, piece);
                }
            }
        }
    }
    rewritten
}

/// How an instruction is rewritten.
enum Rewritten {
    /// A load or store, by units of so many bytes.
    Parts(u32),
    /// A copy or fill, by pieces of so many bytes.
    Transfer(u32),
}

fn rewrite(func: &Function, arrays: &Arrays, i: Inst) -> Option<Rewritten> {
    let data = &func.insts[i];
    match data.op {
        Op::Load { .. } | Op::Store { .. } => {
            let unit = arrays.unit(data.args[0])?;
            let ty = func.ty(data.result.or(data.args.get(1).copied())?);
            (ty.bytes() > unit).then_some(Rewritten::Parts(unit))
        }
        Op::MemCopy { align, .. } | Op::MemSet { align, .. } => {
            // A copy between two arrays has pieces of the smaller unit, and never larger ones than its alignment
            // allows.
            let smallest = data.args.iter().filter_map(|&a| arrays.unit(a)).min()?;
            Some(Rewritten::Transfer(smallest.min(align).clamp(1, MAX_PIECE)))
        }
        _ => None,
    }
}

/// Appends a load or a store to a block, unit by unit.
fn in_parts(func: &mut Function, block: Block, i: Inst, unit: u32) {
    let InstData { op, args, result, span, .. } = func.insts[i].clone();
    let mut b = Builder { func, block, span };
    match (op, result) {
        (Op::Load { align }, Some(r)) => {
            let made = load(&mut b, args[0], r, align, unit);
            // The last instruction becomes the load's, so that its result stays.
            let last = &mut func.insts[i];
            (last.op, last.args, last.flags) = (made.0, made.1, Flags::empty());
            func.blocks[block].insts.push(i);
        }
        (Op::Store { align }, _) => store(&mut b, args[0], args[1], align, unit),
        _ => {}
    }
}

/// A type as it is in units: as so many parts of a type.
fn parts(ty: Type, unit: u32) -> (Type, u16) {
    let number = ty.scalar.bytes();
    match number > unit {
        // A number is larger than a unit, and is made of several.
        true => (Type::scalar(Scalar::int(unit * 8).unwrap_or(Scalar::I8)), (number / unit) as u16 * ty.lanes),
        // A unit has several numbers of a short vector.
        false => (Type::vector(ty.scalar, (unit / number) as u16), ty.lanes.div_ceil((unit / number) as u16)),
    }
}

/// Emits the loads of a value's units. Returns the operation, with its operands, that makes the value of them.
fn load(b: &mut Builder<'_>, p: Value, r: Value, align: u32, unit: u32) -> (Op, Args) {
    let ty = b.ty(r);
    let (part, count) = parts(ty, unit);
    let mut lanes = Args::new();
    for k in 0..count {
        // A vector of three may end inside of a unit.
        let part = Type::vector(part.scalar, part.lanes.min(ty.lanes.max(count) - k * part.lanes));
        // Each part begins a unit: its offset is a multiple of it.
        let p = b.ptr_offset(p, u64::from(k) * u64::from(unit));
        let v = b.load(part, p, align.min(unit), Flags::empty());
        match part.lanes {
            1 => lanes.push(v),
            n => lanes.extend((0..n).map(|lane| b.extract_lane(v, lane))),
        }
    }
    // Units hold whole numbers: their lanes are the components.
    if part.scalar.bytes() == ty.scalar.bytes() {
        return (Op::Build, lanes);
    }
    let number = Type::scalar(Scalar::int(ty.scalar.bytes() * 8).unwrap_or(Scalar::I64));
    // Units are parts of numbers: as many as a number has are put together, in the order of memory.
    let per_number = usize::from(count / ty.lanes);
    let mut numbers = Args::new();
    for parts in lanes.chunks(per_number) {
        let parts = b.build(parts);
        // One number: the cast that makes it takes the place of the load.
        if ty.lanes == 1 && !ty.is_ptr() {
            return (Op::Cast(CastOp::Bitcast), Args::from_slice(&[parts]));
        }
        let to = if ty.is_ptr() { number } else { Type::scalar(ty.scalar) };
        let bits = b.cast(CastOp::Bitcast, parts, to);
        if ty.lanes == 1 {
            return (Op::Cast(CastOp::IntToPtr), Args::from_slice(&[bits]));
        }
        numbers.push(if ty.is_ptr() { b.cast(CastOp::IntToPtr, bits, Type::scalar(ty.scalar)) } else { bits });
    }
    (Op::Build, numbers)
}

/// Emits the stores of a value's units.
fn store(b: &mut Builder<'_>, p: Value, x: Value, align: u32, unit: u32) {
    let ty = b.ty(x);
    let (part, count) = parts(ty, unit);
    let lane = |b: &mut Builder<'_>, n: u16| if ty.is_vector() { b.extract_lane(x, n) } else { x };
    let lanes: Vec<Value> = if part.scalar.bytes() == ty.scalar.bytes() {
        (0..ty.lanes).map(|n| lane(b, n)).collect()
    } else {
        let per_number = count / ty.lanes;
        let number = Type::scalar(Scalar::int(ty.scalar.bytes() * 8).unwrap_or(Scalar::I64));
        let mut lanes = Vec::new();
        for n in 0..ty.lanes {
            let bits = lane(b, n);
            let bits = if ty.is_ptr() { b.cast(CastOp::PtrToInt, bits, number) } else { bits };
            let parts = b.cast(CastOp::Bitcast, bits, Type::vector(part.scalar, per_number));
            lanes.extend((0..per_number).map(|k| b.extract_lane(parts, k)));
        }
        lanes
    };
    for (k, lanes) in lanes.chunks(usize::from(part.lanes)).enumerate() {
        let x = if let [only] = *lanes { only } else { b.build(lanes) };
        let p = b.ptr_offset(p, k as u64 * u64::from(unit));
        b.store(p, x, align.min(unit), Flags::empty());
    }
}

/// A copy or a fill.
struct Transfer {
    to: Value,
    /// Where from; none for a fill.
    from: Option<Value>,
    byte: u8,
    size: u64,
    span: Span,
}

impl Transfer {
    fn of(func: &Function, i: Inst) -> Transfer {
        let data = &func.insts[i];
        let (size, byte) = match data.op {
            Op::MemCopy { size, .. } => (size, 0),
            Op::MemSet { size, byte, .. } => (size, byte),
            _ => (0, 0),
        };
        Transfer { to: data.args[0], from: data.args.get(1).copied(), byte, size, span: data.span }
    }

    /// Appends the loads and stores to a block. Returns the block in which they end, which has the terminator.
    fn expand(&self, func: &mut Function, block: Block, piece: u32) -> Block {
        let pieces = self.size / u64::from(piece);
        let mut end = block;
        let mut done = 0;
        // A whole number of turns; what is left over follows, piece by piece.
        if pieces > STRAIGHT {
            done = (pieces - pieces % IN_LOOP) * u64::from(piece);
            end = self.expand_loop(func, block, piece, done);
        }
        let mut b = Builder { func, block: end, span: self.span };
        let zero = b.iconst(Type::I64, 0);
        let mut piece = u64::from(piece);
        while done < self.size {
            if piece > self.size - done {
                // The rest has fewer bytes than a piece: halves of it, down to one byte.
                piece /= 2;
                continue;
            }
            self.one(&mut b, zero, done, piece as u32);
            done += piece;
        }
        end
    }

    /// A loop over the first `size` bytes. Returns the block after it, which has the terminator of `block`.
    fn expand_loop(&self, func: &mut Function, block: Block, piece: u32, size: u64) -> Block {
        let (body, after) = (func.add_block(), func.add_block());
        let (term, span) = (func.blocks[block].term.clone(), func.blocks[block].term_span);
        func.set_term(after, term, span);
        let k = func.add_block_param(body, Type::I64);
        let mut b = Builder { func, block, span: self.span };
        let zero = b.iconst(Type::I64, 0);
        b.jump(body, &[zero]);
        b.switch_to(body);
        for n in 0..IN_LOOP {
            self.one(&mut b, k, n * u64::from(piece), piece);
        }
        let (by, size) = (b.iconst(Type::I64, IN_LOOP * u64::from(piece)), b.iconst(Type::I64, size));
        let next = b.binary_flags(BinOp::Add, k, by, Flags::NSW | Flags::NUW);
        let more = b.icmp(IntCc::Ult, next, size);
        b.term(Term::Branch { cond: more, then: Edge::new(body, [next]), els: Edge::new(after, []) });
        after
    }

    /// One piece, at a value plus a constant in bytes.
    fn one(&self, b: &mut Builder<'_>, at: Value, offset: u64, bytes: u32) {
        let ty = match bytes {
            ..=8 => Type::scalar(Scalar::int(bytes * 8).unwrap_or(Scalar::I8)),
            _ => Type::vector(Scalar::I64, (bytes / 8) as u16),
        };
        // No addition of 0, so that the address is seen to be at a constant offset.
        let is_zero = b.func.const_bits(at) == Some(0);
        let address = |b: &mut Builder<'_>, p: Value| {
            let p = if is_zero { p } else { b.ptr_add(p, at) };
            b.ptr_offset(p, offset)
        };
        let value = match self.from {
            Some(from) => {
                let p = address(b, from);
                b.load(ty, p, bytes, Flags::empty())
            }
            None => b.iconst(ty, u64::from_le_bytes([self.byte; 8]) & ty.scalar.mask()),
        };
        let p = address(b, self.to);
        b.store(p, value, bytes, Flags::empty());
    }
}
