//! Decodes loads, stores, atomic operations and conversions of addresses.
//!
//! In: the decoder with an opcode of these families. Out: operations. Orders, scopes and cache hints are dropped:
//! threads run one at a time, so every access is already ordered and visible to all.

use super::{Decoder, Result};
use crate::ptx::op::{Atomic, AtomicOp, Class, Op, Sample, Space, Src, Type};
use cloom_ptx::tree::Arg;

/// Modifiers that only say when an access becomes visible, or where it is cached.
const ORDERS: &[&str] = &[
    "weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "sc", "mmio", "cta", "cluster", "gpu", "sys", "nc",
    "ca", "cg", "cs", "lu", "cv", "wb", "wt",
];

const SPACES: &[(&str, Space)] = &[
    ("global", Space::Global),
    ("shared", Space::Shared),
    ("shared::cta", Space::Shared),
    ("local", Space::Local),
    ("const", Space::Const),
    ("param", Space::Param),
    ("param::entry", Space::Param),
    ("param::func", Space::Param),
];

/// The operations that both threads of a warp and accesses to memory combine values with.
pub(super) const REDUCTIONS: &[(&str, AtomicOp)] = &[
    ("add", AtomicOp::Add),
    ("min", AtomicOp::Min),
    ("max", AtomicOp::Max),
    ("and", AtomicOp::And),
    ("or", AtomicOp::Or),
    ("xor", AtomicOp::Xor),
];

/// The operations that only accesses to memory have.
const EXCHANGES: &[(&str, AtomicOp)] = &[
    ("exch", AtomicOp::Exchange),
    ("cas", AtomicOp::CompareSwap),
    ("inc", AtomicOp::Increment),
    ("dec", AtomicOp::Decrement),
];

impl<'t> Decoder<'_, '_, 't> {
    pub(super) fn memory(&mut self, name: &str) -> Result<Op> {
        match name {
            "ld" | "ldu" => self.load(),
            "st" => self.store(),
            "atom" => self.atomic(true),
            "red" => self.atomic(false),
            "tex" => self.sample(),
            "cvta" => {
                let to_generic = !self.flag("to");
                let space = self.one_of(SPACES);
                let ty = self.ty()?;
                let Some(space) = space else { return self.unknown() };
                self.expect_args(2, 2)?;
                Ok(Op::ConvertAddress { to_generic, space, dst: self.dst(0, ty)?, src: self.src(1, ty)? })
            }
            "isspacep" => {
                let Some(space) = self.one_of(SPACES) else { return self.unknown() };
                self.expect_args(2, 2)?;
                Ok(Op::IsSpace { space, dst: self.dst(0, Type::PRED)?, src: self.wide_src(1, Type::B32)? })
            }
            "prefetch" | "prefetchu" => {
                self.parts.clear();
                self.expect_args(1, 1)?;
                self.address(0)?;
                Ok(Op::Nop)
            }
            _ => {
                self.ignore(&["sc", "acq_rel", "acquire", "release", "cta", "cluster", "gpu", "sys", "gl"]);
                self.expect_args(0, 0)?;
                Ok(Op::Fence)
            }
        }
    }

    /// Drops modifiers such as `L1::evict_last`.
    fn access_modifiers(&mut self) {
        self.ignore(ORDERS);
        self.parts.retain(|part| !part.starts_with("L1::") && !part.starts_with("L2::"));
    }

    /// The space, the number of elements and their type, of a load or a store with its two operands.
    fn access(&mut self) -> Result<(Space, usize, Type)> {
        self.access_modifiers();
        let space = self.one_of(SPACES).unwrap_or(Space::Generic);
        let count = self.one_of(&[("v2", 2), ("v4", 4), ("v8", 8)]).unwrap_or(1);
        let ty = self.ty()?;
        self.expect_args(2, 2)?;
        Ok((space, count, ty))
    }

    /// The elements of an operand: itself, or the parts of a vector.
    fn elements(&self, index: usize, count: usize) -> Result<&[Arg<'t>]> {
        match self.arg(index)? {
            Arg::Vector(parts) if count > 1 && parts.len() == count => Ok(parts),
            Arg::Vector(_) if count > 1 => self.error("the vector has the wrong number of elements"),
            one if count == 1 => Ok(std::slice::from_ref(one)),
            _ => self.error("a vector is needed"),
        }
    }

    fn load(&mut self) -> Result<Op> {
        let (space, count, ty) = self.access()?;
        let elements = self.elements(0, count)?;
        let dst: Result<Vec<_>> = elements.iter().map(|element| self.dst_of(element, ty, true)).collect();
        Ok(Op::Load { space, ty, dst: dst?.into(), address: self.address(1)? })
    }

    fn store(&mut self) -> Result<Op> {
        let (space, count, ty) = self.access()?;
        let elements = self.elements(1, count)?;
        let src: Result<Vec<_>> = elements.iter().map(|element| self.src_of(element, ty, true)).collect();
        let src = src?;
        if space == Space::Const {
            return self.error("a store to constant memory");
        }
        Ok(Op::Store { space, ty, src: src.into(), address: self.address(0)? })
    }

    /// A sample of a texture of two dimensions, which is given by its handle.
    fn sample(&mut self) -> Result<Op> {
        let is_known = self.flag("2d") && self.flag("v4");
        let (of, at) = (self.ty()?, self.ty()?);
        self.expect_args(2, 2)?;
        let f32 = Type { class: Class::Float, bits: 32, lanes: 1 };
        let Arg::Texture(texture, coordinates) = self.arg(1)? else { return self.error("a texture is needed") };
        let ([x, y], true) = (&coordinates[..], is_known && (of, at) == (f32, f32)) else { return self.unknown() };
        let dst: Result<Vec<_>> = self.elements(0, 4)?.iter().map(|element| self.dst_of(element, f32, false)).collect();
        let texture = self.src_of(&Arg::Name(texture), Type { class: Class::Bits, bits: 64, lanes: 1 }, false)?;
        let at = [self.src_of(x, f32, false)?, self.src_of(y, f32, false)?];
        Ok(Op::Sample(Box::new(Sample { dst: dst?.into(), texture, at })))
    }

    fn atomic(&mut self, result: bool) -> Result<Op> {
        self.access_modifiers();
        // Sums of halves never flush here. `apply_global` flushes those of floats, as the hardware does.
        self.flag("noftz");
        let space = self.one_of(SPACES).unwrap_or(Space::Generic);
        let op = self.one_of(REDUCTIONS).or_else(|| self.one_of(EXCHANGES));
        let ty = self.ty()?;
        let Some(op) = op else { return self.unknown() };
        // The types that PTX has for each operation: an instruction that ptxas would refuse must not pass here.
        let possible = match op {
            AtomicOp::Add => ty.is_float() || ty.bits >= 32,
            AtomicOp::CompareSwap => ty.bits >= 16 && !ty.is_float(),
            AtomicOp::Increment | AtomicOp::Decrement => ty == Type::U32,
            AtomicOp::Min | AtomicOp::Max => ty.bits >= 32 || ty.is_float(),
            _ => ty.bits >= 32,
        };
        if !possible || matches!(space, Space::Const | Space::Param | Space::Local) {
            return self.unknown();
        }
        let first = usize::from(result);
        let count = first + if op == AtomicOp::CompareSwap { 3 } else { 2 };
        self.expect_args(count, count)?;
        let dst = if result { Some(self.dst(0, ty)?) } else { None };
        let c = if op == AtomicOp::CompareSwap { self.src(first + 2, ty)? } else { Src::Imm(0) };
        let (address, b) = (self.address(first)?, self.src(first + 1, ty)?);
        Ok(Op::Atomic(Box::new(Atomic { op, ty, space, address, dst, b, c })))
    }
}
