//! The constant evaluator: evaluates typed expressions at compile time.
//!
//! In comes a typed expression or an [`Init`]; out goes its value, the address of a global plus an offset, or the span
//! of the part that is not constant. Each operation is evaluated by [`cloom_ir::eval`], which also defines what the
//! device computes, so that a constant has the same bits as the computed value. Work is bounded by fuel for the whole
//! program.

use super::tree::{Cc, Data, Expr, ExprKind, GlobalId, Init, InitPart, Lanes, Repeat};
use super::types::{Ty, TyKind, Types, elem_signed, ir_scalar};
use super::{Sema, limits};
use crate::source::Span;
use cloom_builtins::{Elem, Lower, Sig};
use cloom_ir::{BinOp, CastOp, Scalar, Space, eval};
use smallvec::smallvec;

/// A known value.
#[derive(Clone, PartialEq, Debug)]
pub enum CVal {
    /// Lanes of a number or vector, or the bits of a pointer that is a number.
    Lanes(Lanes),
    /// An address: of data, plus bytes.
    Addr(GlobalId, i64),
}

/// All bits of a scalar type (of a lane).
pub fn mask(types: &Types, ty: Ty) -> u64 {
    types.numeric(ty).map_or(u64::MAX, |(e, _)| ir_scalar(e).mask())
}

/// How the IR converts a number to another type of number; `None` if the bits stay.
pub fn cast_op(from: Elem, to: Elem) -> Option<CastOp> {
    let (a, b) = (from.bits(), to.bits());
    Some(match (from.is_float(), to.is_float()) {
        (false, false) if a > b => CastOp::Trunc,
        (false, false) if a < b && elem_signed(from) => CastOp::Sext,
        (false, false) if a < b => CastOp::Zext,
        (false, false) => return None,
        (true, true) if a > b => CastOp::Ftrunc,
        (true, true) if a < b => CastOp::Fext,
        (true, true) => return None,
        (true, false) if elem_signed(to) => CastOp::FtoS,
        (true, false) => CastOp::FtoU,
        (false, true) if elem_signed(from) => CastOp::StoF,
        (false, true) => CastOp::UtoF,
    })
}

/// A lane converted, as [`cast_op`] says.
fn cast_lane(from: Elem, to: Elem, bits: u64) -> u64 {
    match cast_op(from, to) {
        Some(op) => eval::cast(op, ir_scalar(from), ir_scalar(to), bits),
        None => bits,
    }
}

type Known = Result<CVal, Span>;

impl Sema<'_> {
    /// The value of an integer expression, if it is constant.
    pub(super) fn eval_int(&mut self, e: &Expr) -> Option<i64> {
        if !self.types.is_integer(e.ty.ty) {
            return None;
        }
        let (elem, _) = self.types.numeric(e.ty.ty)?;
        match self.eval(e).ok()? {
            CVal::Lanes(l) => {
                let bits = *l.first()?;
                Some(if elem_signed(elem) { eval::signed(ir_scalar(elem), bits) } else { bits as i64 })
            }
            CVal::Addr(..) => None,
        }
    }

    /// Whether a value is constant and zero (a null pointer constant, a false condition).
    pub(super) fn is_zero(&mut self, e: &Expr) -> bool {
        matches!(self.eval(e), Ok(CVal::Lanes(l)) if l.iter().all(|&b| b == 0))
    }

    /// The value, or the subexpression that is not constant.
    pub(super) fn eval(&mut self, e: &Expr) -> Known {
        let stuck = Err(e.span);
        if self.fuel == 0 {
            return stuck;
        }
        // One unit a node, for the whole program: a check at each level of a deep expression evaluates the same nodes
        // again and again. Without fuel nothing is constant, which is an error where a constant is required.
        self.fuel -= 1;
        let scalar = |types: &Types, ty: Ty| match types.numeric(ty) {
            Some((elem, _)) => ir_scalar(elem),
            None => Scalar::I64,
        };
        Ok(CVal::Lanes(match &e.kind {
            ExprKind::Const(lanes) => lanes.clone(),
            ExprKind::Addr(object) => {
                let (global, offset) = self.eval_address(object)?;
                return Ok(CVal::Addr(global, offset));
            }
            ExprKind::Load(lvalue) => return self.eval_load(lvalue, e.ty.ty),
            ExprKind::Unary(op, a) => {
                let s = scalar(&self.types, e.ty.ty);
                self.lanes(a)?.iter().map(|&a| eval::unary(*op, s, a)).collect()
            }
            ExprKind::Binary(op, a, b) => {
                let s = scalar(&self.types, e.ty.ty);
                let (a, b) = (self.lanes(a)?, self.lanes(b)?);
                // Division by zero has no value in C: an error is better than the IR's result.
                if matches!(op, BinOp::Sdiv | BinOp::Udiv | BinOp::Srem | BinOp::Urem) && b.contains(&0) {
                    return stuck;
                }
                a.iter().zip(&b).map(|(&a, &b)| eval::binary(*op, s, a, b)).collect()
            }
            ExprKind::Fma(args) => {
                let s = scalar(&self.types, e.ty.ty);
                let [a, b, c] = &**args;
                let (a, b, c) = (self.lanes(a)?, self.lanes(b)?, self.lanes(c)?);
                (0..a.len()).map(|i| eval::fma(s, a[i], b[i], c[i])).collect()
            }
            ExprKind::Compare(cc, a, b) => return self.eval_compare(*cc, a, b, e.ty.ty),
            ExprKind::Logic { and, lhs, rhs } => {
                let left = self.truth(lhs)?;
                let value = if left == *and { self.truth(rhs)? } else { left };
                smallvec![u64::from(value)]
            }
            ExprKind::Not(a) => smallvec![u64::from(!self.truth(a)?)],
            ExprKind::PtrAdd(p, index, size) => {
                let by = (self.lanes(index)?[0] as i64).wrapping_mul(*size as i64);
                match self.eval(p)? {
                    // The address of data, moved: `&table[3]`. Whether it is still inside is not asked here.
                    CVal::Addr(g, at) => return Ok(CVal::Addr(g, at.wrapping_add(by))),
                    CVal::Lanes(l) => smallvec![l[0].wrapping_add(by as u64)],
                }
            }
            ExprKind::PtrDiff(a, b, size) => match (self.eval(a)?, self.eval(b)?) {
                // Addresses of different objects have no known distance; elements may have no bytes, as those of empty
                // structures.
                (CVal::Addr(g, x), CVal::Addr(h, y)) if g == h => {
                    smallvec![(x.wrapping_sub(y) / (*size).max(1) as i64) as u64]
                }
                (CVal::Lanes(x), CVal::Lanes(y)) => {
                    smallvec![((x[0].wrapping_sub(y[0]) as i64) / (*size).max(1) as i64) as u64]
                }
                _ => return stuck,
            },
            ExprKind::Convert(a) => {
                if e.ty.ty == Ty::BOOL {
                    smallvec![u64::from(self.truth(a)?)]
                } else {
                    let (Some((from, _)), Some((to, _))) = (self.types.numeric(a.ty.ty), self.types.numeric(e.ty.ty))
                    else {
                        return stuck;
                    };
                    self.lanes(a)?.iter().map(|&b| cast_lane(from, to, b)).collect()
                }
            }
            ExprKind::PtrCast(a) => {
                let value = self.eval(a)?;
                // `(T *)-1`: an integer is widened with its sign. An address stays an address even as a `ulong`, for a
                // relocation to fill in; arithmetic on it is then not constant.
                if let (CVal::Lanes(l), Some((from, _))) = (&value, self.types.numeric(a.ty.ty)) {
                    smallvec![cast_lane(from, Elem::I64, l[0])]
                } else if let (CVal::Lanes(l), Some((to, _))) = (&value, self.types.numeric(e.ty.ty)) {
                    smallvec![l[0] & ir_scalar(to).mask()]
                } else {
                    return Ok(value);
                }
            }
            ExprKind::Bits(a) => self.eval_bits(a, e.ty.ty)?,
            ExprKind::Splat(a) => {
                let n = self.types.numeric(e.ty.ty).map_or(1, |(_, n)| n);
                let lane = self.lanes(a)?[0];
                smallvec![lane; usize::from(n)]
            }
            ExprKind::Vector(parts) => {
                let mut lanes = Lanes::new();
                for p in parts {
                    lanes.extend(self.lanes(p)?);
                }
                lanes
            }
            ExprKind::Swizzle(base, picks) => {
                // A component that does not exist is any value: zero.
                let lanes = self.lanes(base)?;
                picks.iter().map(|&i| lanes.get(usize::from(i)).copied().unwrap_or(0)).collect()
            }
            ExprKind::Cond(args) => {
                let [c, a, b] = &**args;
                return if self.truth(c)? { self.eval(a) } else { self.eval(b) };
            }
            ExprKind::Select(args) => {
                let [c, a, b] = &**args;
                let s = scalar(&self.types, c.ty.ty);
                let (c, a, b) = (self.lanes(c)?, self.lanes(a)?, self.lanes(b)?);
                (0..a.len()).map(|i| if eval::signed(s, c[i]) < 0 { a[i] } else { b[i] }).collect()
            }
            ExprKind::Builtin(_, sig, args) => self.eval_builtin(sig, args, e)?,
            _ => return stuck,
        }))
    }

    /// A built-in function that is one operation of the IR (or the two of `mad`), lane by lane.
    fn eval_builtin(&mut self, sig: &Sig, args: &[Expr], e: &Expr) -> Result<Lanes, Span> {
        // The cases do what `lower/builtin.rs` does, so that a constant has the bits that the device computes.
        let numeric = self.types.numeric(e.ty.ty);
        let (s, signed) = numeric.map_or((Scalar::I64, true), |(e, _)| (ir_scalar(e), elem_signed(e)));
        let mut known = Vec::new();
        for a in args {
            known.push(self.lanes(a)?);
        }
        // A scalar operand of a vector function, as in `fmax(v, 0.0f)`, is for all lanes.
        let lane = |k: usize, i: usize| known[k].get(i).copied().unwrap_or(known[k][0]);
        let one = |i| {
            Ok(match sig.lower {
                Lower::Unary(op) => eval::unary(op, s, lane(0, i)),
                Lower::Binary(op) => eval::binary(op, s, lane(0, i), lane(1, i)),
                Lower::BinarySign(so, uo) => eval::binary(if signed { so } else { uo }, s, lane(0, i), lane(1, i)),
                Lower::Mad if s == Scalar::F16 => {
                    // As it is lowered: the product of halves is exact in floats.
                    let wide = |k| eval::cast(CastOp::Fext, s, Scalar::F32, lane(k, i));
                    let product = eval::binary(BinOp::Fmul, Scalar::F32, wide(0), wide(1));
                    let sum = eval::binary(BinOp::Fadd, Scalar::F32, product, wide(2));
                    eval::cast(CastOp::Ftrunc, Scalar::F32, s, sum)
                }
                Lower::Mad if !self.opts.contract => {
                    let product = eval::binary(BinOp::Fmul, s, lane(0, i), lane(1, i));
                    eval::binary(BinOp::Fadd, s, product, lane(2, i))
                }
                Lower::Fma | Lower::Mad => eval::fma(s, lane(0, i), lane(1, i), lane(2, i)),
                _ => return Err(e.span),
            })
        };
        (0..usize::from(sig.lanes)).map(one).collect()
    }

    fn lanes(&mut self, e: &Expr) -> Result<Lanes, Span> {
        match self.eval(e)? {
            CVal::Lanes(l) if !l.is_empty() => Ok(l),
            _ => Err(e.span),
        }
    }

    /// Whether a scalar is not zero.
    pub(super) fn truth(&mut self, e: &Expr) -> Result<bool, Span> {
        match self.eval(e)? {
            // No object is at the address zero.
            CVal::Addr(..) => Ok(true),
            CVal::Lanes(l) => {
                let bits = l.first().copied().unwrap_or(0);
                // A negative zero is zero.
                Ok(match self.types.numeric(e.ty.ty) {
                    Some((elem, _)) if elem.is_float() => eval::to_f64(ir_scalar(elem), bits) != 0.0,
                    _ => bits != 0,
                })
            }
        }
    }

    fn eval_compare(&mut self, cc: Cc, a: &Expr, b: &Expr, ty: Ty) -> Known {
        let span = a.span;
        let s = self.types.numeric(a.ty.ty).map_or(Scalar::I64, |(e, _)| ir_scalar(e));
        let (x, y) = match (self.eval(a)?, self.eval(b)?) {
            (CVal::Lanes(x), CVal::Lanes(y)) => (x, y),
            (CVal::Addr(g, x), CVal::Addr(h, y)) if g == h => (smallvec![x as u64], smallvec![y as u64]),
            // The address of an object is not null, and two objects have different addresses.
            (CVal::Addr(..), CVal::Lanes(l)) | (CVal::Lanes(l), CVal::Addr(..)) if l[0] == 0 => {
                (smallvec![1], smallvec![0])
            }
            _ => return Err(span),
        };
        let yes = match self.types.is_vector(ty) {
            true => mask(&self.types, ty),
            false => 1,
        };
        let lane = |(&x, &y): (&u64, &u64)| {
            let holds = match cc {
                Cc::Int(cc) => eval::icmp(cc, s, x, y),
                Cc::Float(cc) => eval::fcmp(cc, s, x, y),
            };
            if holds { yes } else { 0 }
        };
        Ok(CVal::Lanes(x.iter().zip(&y).map(lane).collect()))
    }

    fn eval_bits(&mut self, a: &Expr, to: Ty) -> Result<Lanes, Span> {
        let span = a.span;
        let lanes = self.lanes(a)?;
        let mut bytes = Vec::new();
        self.put_lanes(&mut bytes, a.ty.ty, &lanes);
        let (elem, n) = self.types.numeric(to).ok_or(span)?;
        let width = (elem.bits() / 8) as usize;
        // The numbers of bytes differ only between three and four components; the fourth has no defined value.
        bytes.resize(usize::from(n) * width, 0);
        Ok(bytes.chunks(width).map(read_le).collect())
    }

    pub(super) fn put_lanes(&self, out: &mut Vec<u8>, ty: Ty, lanes: &[u64]) {
        let width = match self.types.numeric(ty) {
            Some((e, _)) => (e.bits() / 8) as usize,
            None => (self.types.size(ty) as usize).min(8),
        };
        for lane in lanes {
            out.extend_from_slice(&lane.to_le_bytes()[..width]);
        }
    }

    /// Where an lvalue is, if it is data.
    fn eval_address(&mut self, e: &Expr) -> Result<(GlobalId, i64), Span> {
        match &e.kind {
            ExprKind::Global(id) => Ok((*id, 0)),
            ExprKind::Field(base, offset) => {
                let (g, at) = self.eval_address(base)?;
                Ok((g, at.wrapping_add(*offset as i64)))
            }
            ExprKind::Deref(p) => match self.eval(p)? {
                CVal::Addr(g, at) => Ok((g, at)),
                CVal::Lanes(_) => Err(e.span),
            },
            ExprKind::Swizzle(base, lanes) if lanes.len() == 1 => {
                let (g, at) = self.eval_address(base)?;
                Ok((g, at.wrapping_add(i64::from(lanes[0]) * self.types.size(e.ty.ty) as i64)))
            }
            _ => Err(e.span),
        }
    }

    fn eval_load(&mut self, lvalue: &Expr, ty: Ty) -> Known {
        if let ExprKind::Swizzle(base, picks) = &lvalue.kind {
            let base_ty = base.ty.ty;
            let CVal::Lanes(lanes) = self.eval_load(base, base_ty)? else { return Err(lvalue.span) };
            let picked = picks.iter().map(|&i| lanes.get(usize::from(i)).copied().unwrap_or(0));
            return Ok(CVal::Lanes(picked.collect()));
        }
        // `const int n = 4;` in a function is a constant expression, as in Clang.
        if let ExprKind::Local(id) = lvalue.kind {
            let known = self.cx.as_ref().and_then(|cx| cx.locals.get(id.0 as usize)?.constant);
            return known.map(|bits| CVal::Lanes(smallvec![bits])).ok_or(lvalue.span);
        }
        // What is left is data: a constant, an element of a constant table, or a string.
        let (g, at) = self.eval_address(lvalue)?;
        let global = &self.unit.globals[g.0 as usize];
        let Some(data) = &global.data else { return Err(lvalue.span) };
        let is_constant = global.ty.space == Space::Constant || global.ty.is_const;
        // The bytes are missing while the object's own initialiser is evaluated: `constant int x = x + 1;`.
        if global.ty.is_volatile || !is_constant || data.bytes.is_empty() {
            return Err(lvalue.span);
        }
        // An address outside of the object is not constant: neither this nor the range below is a panic.
        let at = usize::try_from(at).map_err(|_| lvalue.span)?;
        if let Some(r) = data.relocs.iter().find(|r| r.0 == at as u64) {
            return Ok(CVal::Addr(r.1, r.2));
        }
        let (width, n) = match self.types.numeric(ty) {
            Some((e, n)) => ((e.bits() / 8) as usize, usize::from(n)),
            None if self.types.is_pointer(ty) => (8, 1),
            None => return Err(lvalue.span),
        };
        let bytes = data.bytes.get(at..at + width * n).ok_or(lvalue.span)?;
        Ok(CVal::Lanes(bytes.chunks(width).map(read_le).collect()))
    }

    /// The bytes of an object of `size` bytes with this initial value; reports what is not constant.
    pub(super) fn eval_init(&mut self, init: &Init, size: u64) -> Option<Data> {
        let mut data = Data { bytes: vec![0; usize::try_from(size).ok()?], relocs: Vec::new() };
        let mut written = 0;
        for part in &init.parts {
            let (offset, e) = match part {
                InitPart::Value(offset, e) => (offset, e),
                InitPart::Zero(offset, size) => {
                    self.spend(size / 16 + data.relocs.len() as u64, init)?;
                    let range = *offset as usize..(offset + size) as usize;
                    data.bytes.get_mut(range)?.fill(0);
                    // Zeros over an address make it a null pointer.
                    data.relocs.retain(|r| r.0 < *offset || r.0 - offset >= *size);
                    continue;
                }
                InitPart::Repeat(repeat) => {
                    // Adjacent elements are copied in few steps, others one by one.
                    let one_by_one = if repeat.stride == repeat.size { 0 } else { repeat.count };
                    let bytes = repeat.size.saturating_mul(repeat.count);
                    self.spend(bytes / 16 + one_by_one + data.relocs.len() as u64, init)?;
                    self.eval_repeat(repeat, &mut data)?;
                    written = written.max(init.end);
                    continue;
                }
            };
            if e.is_error() {
                return None;
            }
            // An earlier part at the same offset (a designator used twice) gives way.
            let end = offset.saturating_add(self.types.size(e.ty.ty));
            // Parts mostly come in ascending order; only one that goes back can lie over an address, so that most parts
            // need no search.
            if *offset < written {
                self.fuel = self.fuel.saturating_sub(data.relocs.len() as u64);
                data.relocs.retain(|r| r.0 + 8 <= *offset || r.0 >= end);
            }
            written = written.max(end);
            if let Err(span) = self.eval_part(*offset, e, &mut data) {
                self.not_constant(span, "the initial value of constant data");
                return None;
            }
        }
        Some(data)
    }

    /// Counts the work of an initialisation; reports that there is too much of it.
    fn spend(&mut self, work: u64, init: &Init) -> Option<()> {
        let left = self.fuel.checked_sub(work);
        self.fuel = left.unwrap_or(0);
        if left.is_none() {
            let span = init.parts.iter().find_map(|p| if let InitPart::Repeat(r) = p { Some(r.span) } else { None });
            self.error("E0325", span.unwrap_or_default(), "the initial values take too long to compute");
        }
        left.map(|_| ())
    }

    /// Copies bytes, and the addresses in them.
    fn eval_repeat(&mut self, r: &Repeat, data: &mut Data) -> Option<()> {
        // The addresses in the bytes that are repeated; each copy has them again.
        let addresses: Vec<_> =
            data.relocs.iter().filter(|a| (r.offset..r.offset + r.size).contains(&a.0)).copied().collect();
        let more = (addresses.len() as u64).saturating_mul(r.count);
        if more > limits::INIT_PARTS as u64 {
            self.error("E0325", r.span, format!("more than {} addresses in initial values", limits::INIT_PARTS));
            return None;
        }
        // Addresses in the targets are overwritten by the copies; those between the targets stay.
        let copies = r.offset + r.stride..r.offset + r.stride * r.count + r.size;
        data.relocs.retain(|a| !copies.contains(&a.0) || (a.0 - r.offset) % r.stride >= r.size);
        let (begin, size) = (r.offset as usize, r.size as usize);
        let bytes = data.bytes.get_mut(begin..(r.offset + r.stride * r.count + r.size) as usize)?;
        let (mut k, mut block) = (1, 1);
        while k <= r.count {
            bytes.copy_within(..size * block as usize, (r.stride * k) as usize);
            k += block;
            // The initialised part is the next block to copy.
            block = if r.stride == r.size { k.min((r.count + 1).saturating_sub(k)) } else { 1 };
        }
        for k in 1..=r.count * u64::from(!addresses.is_empty()) {
            let shift = r.stride * k;
            data.relocs.extend(addresses.iter().map(|&(at, target, addend)| (at + shift, target, addend)));
        }
        Some(())
    }

    fn eval_part(&mut self, offset: u64, e: &Expr, data: &mut Data) -> Result<(), Span> {
        let at = offset as usize;
        if self.types.is_aggregate(e.ty.ty) {
            let size = (self.types.size(e.ty.ty) as usize).min(data.bytes.len().saturating_sub(at));
            // Copying is work like computing.
            if self.fuel < size as u64 / 16 {
                return Err(e.span);
            }
            self.fuel -= size as u64 / 16;
            let (bytes, relocs) = match &e.kind {
                ExprKind::Compound(_, init) => {
                    let whole = self.eval_init(init, size as u64).ok_or(e.span)?;
                    (whole.bytes, whole.relocs)
                }
                _ => {
                    let (g, from) = self.eval_address(e)?;
                    let from = usize::try_from(from).map_err(|_| e.span)?;
                    let source = self.unit.globals[g.0 as usize].data.as_ref().ok_or(e.span)?;
                    let bytes = source.bytes.get(from..from + size).ok_or(e.span)?.to_vec();
                    // Data may hold addresses, which move with the bytes.
                    let inside = source.relocs.iter().filter(|r| (from..from + size).contains(&(r.0 as usize)));
                    (bytes, inside.map(|r| (r.0 - from as u64, r.1, r.2)).collect())
                }
            };
            data.bytes[at..at + size].copy_from_slice(&bytes);
            data.relocs.extend(relocs.into_iter().map(|r| (r.0 + offset, r.1, r.2)));
            return Ok(());
        }
        let size = self.types.size(e.ty.ty);
        match self.eval(e)? {
            CVal::Lanes(lanes) => {
                let mut bytes = Vec::new();
                self.put_lanes(&mut bytes, e.ty.ty, &lanes);
                data.bytes.get_mut(at..at + bytes.len()).ok_or(e.span)?.copy_from_slice(&bytes);
            }
            CVal::Addr(g, addend) => {
                // Each work-group has local memory of its own.
                if self.unit.globals[g.0 as usize].ty.space == Space::Local || size != 8 || at + 8 > data.bytes.len() {
                    return Err(e.span);
                }
                data.relocs.push((offset, g, addend));
            }
        }
        Ok(())
    }

    /// Whether two types have the same kind of members; arrays of `char` may be initialised by strings.
    pub(super) fn is_char_array(&self, ty: Ty) -> bool {
        match self.types.kind(ty) {
            TyKind::Array(of, _) => matches!(of.ty, Ty::CHAR | Ty::UCHAR),
            _ => false,
        }
    }
}

fn read_le(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b))
}
