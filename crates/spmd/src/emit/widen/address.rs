//! Addresses of lanes that are accessed one after the other, split into a scalar base and a varying index.
//!
//! In comes an address that varies; out goes, where it is a sum with one varying part, a scalar for the rest of the
//! sum. A lane's address is then that base plus a constant times the lane's index, which is what a processor's
//! addressing modes compute; and the lane's index, extracted from its vector once, serves all accesses that differ in
//! the base alone: the rows of a picture, the fields of a record.
//!
//! ```text
//! &p[8*x + row]  =  p + 4*row  +  32*x        x varies, p and row are uniform
//! ```
//!
//! An index that is a byte or word of a wider load ([`cloom_passes::narrow_loads`]) need not be extracted from a
//! vector: each lane's is read from where it is.
//!
//! The sum is the affine form of the address ([`cloom_ir::affine`]). It goes through extensions where the source
//! promises that a sum does not wrap (`nsw`, `nuw`). A promise speaks for lanes that are on; that is sound here because
//! this code is only for accesses without a mask: all lanes are on there, and so they are in the blocks that dominate
//! the access, where what the address is made of is computed.

use super::{VecValue, Widener};
use crate::analysis::input::VectorInput;
use crate::analysis::shape::Shape;
use crate::error::{Stop, bug};
use cloom_ir::affine::{Affine, Ext, Form, Symbol};
use cloom_ir::{BinOp, CastOp, Entity, Function, Inst, IntCc, Op, Scalar, Type, Value};
use cloom_passes::narrow_loads::NarrowLoad;
use rustc_hash::FxHashMap;

/// The height of expressions of narrow loads that are computed for each lane on its own.
const MAX_HEIGHT: u32 = 3;

/// What the addresses of lanes differ by.
#[derive(Clone, Copy)]
enum Index {
    /// A vector of indices.
    Lanes(Value),
    /// A value of the work-item that is computed for each lane from narrow loads, at an instruction.
    Narrow(Value, Inst),
}

/// An operand of an index that is computed for each lane.
enum Source {
    Narrow(NarrowLoad),
    Other(Value),
}

/// The addresses of lanes: `base + factor * index`.
#[derive(Clone, Copy)]
pub(super) struct Address {
    /// The same for all lanes.
    base: Value,
    index: Index,
    /// How an index of fewer than 64 bits is extended.
    extend: Option<CastOp>,
    /// In bytes.
    factor: u64,
    /// Whether the narrow loads that indices come from are at the strides that are checked at run time.
    strided: bool,
}

impl<'a> Widener<'a> {
    fn affine(&self) -> &Affine<'a> {
        self.affine.get_or_init(|| self.item.affine(self.facts))
    }

    /// The base and index of an address, if one part of its sum varies and the others are uniform. With a `reader`,
    /// lanes may load their indices at that instruction.
    pub(super) fn address(&mut self, p: Value, reader: Option<Inst>) -> Result<Option<Address>, Stop> {
        let item = self.item;
        let affine = self.affine();
        let varies = |s: Symbol| match s {
            Symbol::Value(v, _) => {
                !matches!(self.values[v.index()], Some(VecValue::Uniform(_) | VecValue::Strided { cond: None, .. }))
            }
            _ => false,
        };
        let is_pointer = |s: Symbol| matches!(s, Symbol::Value(v, _) if item.func.ty(v).is_ptr());
        // First what varies, then the pointer among what does not: one of each, with a constant factor.
        let Some((parts, rest)) = affine.form(p, Ext::Own).coefficients(varies) else { return Ok(None) };
        // The pointer apart from the offset: it is added last, by `ptradd`.
        let Some((pointers, offset)) = rest.coefficients(is_pointer) else { return Ok(None) };
        let (&[(Symbol::Value(v, ext), ref factor)], &[(Symbol::Value(pointer, _), ref once)]) =
            (&parts[..], &pointers[..])
        else {
            return Ok(None);
        };
        // A varying pointer would be extracted whole from its vector: there is no base to split off.
        let (Some(factor), Some(1), false) = (factor.as_const(), once.as_const(), item.func.ty(v).is_ptr()) else {
            return Ok(None);
        };
        let uniform = |s: Symbol| match s {
            Symbol::Value(v, _) => match self.values[v.index()] {
                Some(VecValue::Uniform(x)) => Some((s, x)),
                _ => None,
            },
            _ => None,
        };
        // A pointer at a fixed stride has no one value for all lanes.
        let Some((_, base)) = uniform(Symbol::Value(pointer, Ext::Own)) else { return Ok(None) };
        // A strided symbol has no scalar that serves all lanes, so only uniform ones are allowed in the base.
        let Some(known) = offset.symbols().map(uniform).collect::<Option<FxHashMap<_, _>>>() else { return Ok(None) };
        // The constant is added last: accesses that differ in it alone have the rest in common.
        let last = offset.constant_part();
        let offset = offset.minus(&Form::constant(64, last));
        let mut b = self.b();
        let offset =
            if offset.as_const().is_some() { None } else { offset.emit(&mut b, |_, s| known.get(&s).copied()) };
        let base = offset.map_or(base, |by| b.ptr_add(base, by));
        let base = if last == 0 { base } else { b.ptr_offset(base, last as u64) };
        let index = match reader {
            // A lane's byte is read again by one scalar load, instead of extracted from a vector.
            Some(inst) if self.is_of_narrow_loads(v, inst, MAX_HEIGHT) => Index::Narrow(v, inst),
            _ => Index::Lanes(self.lane(v)?),
        };
        let extend = match ext {
            Ext::Own => None,
            Ext::Signed => Some(CastOp::Sext),
            Ext::Unsigned => Some(CastOp::Zext),
        };
        Ok(Some(self.prescaled(Address { base, index, extend, factor: factor as u64, strided: false }, v)))
    }

    /// An address with its index, the work-item's `v`, multiplied as a vector and not lane by lane, if several accesses
    /// share the index and no product wraps: what is kept for the later ones, or spilled, is final then. It pays for
    /// factors that addressing modes lack or that come with an extension (bilinear reads of `float4`: 29 -> 17 ms, of
    /// `half4`: 36 -> 26; `float` takes as long). An index that is read as an unsigned number must not be negative in
    /// its range, which is of signed ones.
    fn prescaled(&mut self, address: Address, v: Value) -> Address {
        let (Index::Lanes(index), Some(extend), false) =
            (address.index, address.extend, matches!(address.factor, 1 | 2 | 4))
        else {
            return address;
        };
        let is_shared = self.uses.get_or_init(|| uses(&self.item.func))[v.index()] > 1;
        let Some((low, high)) = self.affine().range(v).filter(|_| is_shared) else { return address };
        let ty = self.func.ty(index);
        let (least, most) = ty.scalar.signed_range();
        let fits = |x: i64| x.checked_mul(address.factor as i64).is_some_and(|x| (least..=most).contains(&x));
        if !fits(low) || !fits(high) || extend == CastOp::Zext && low < 0 {
            return address;
        }
        let mut b = self.b();
        // In the type of the index: `fits` has shown that no product wraps there.
        let factor = b.iconst(ty, address.factor);
        let index = b.binary(BinOp::Mul, index, factor);
        Address { index: Index::Lanes(index), factor: 1, ..address }
    }

    /// The index of a lane.
    fn index_of(&mut self, a: &Address, lane: Value) -> Result<Value, Stop> {
        match a.index {
            Index::Lanes(index) => Ok(self.extract_at(index, lane)),
            Index::Narrow(v, at) => self.read_narrow(v, at, lane, MAX_HEIGHT, a.strided),
        }
    }

    /// The address of a lane.
    pub(super) fn address_of(&mut self, a: &Address, lane: Value) -> Result<Value, Stop> {
        let index = self.index_of(a, lane)?;
        let by = self.scaled(index, a.extend, a.factor);
        Ok(self.b().ptr_add(a.base, by))
    }

    /// The address for the case that narrow loads are at their checked strides, and the condition for that; none if no
    /// stride is checked.
    pub(super) fn where_strided(&mut self, a: &Address) -> Result<Option<(Value, Address)>, Stop> {
        let mut all = None;
        for source in self.sources(a) {
            if let Source::Narrow(narrow) = source
                && let VecValue::Strided { cond: Some(cond), .. } =
                    self.get(self.item.func.insts[narrow.load].args[0])?
                // Bytes of one word have one check.
                && all != Some(cond)
            {
                all = Some(all.map_or(cond, |x| self.b().binary(BinOp::And, x, cond)));
            }
        }
        Ok(all.map(|cond| (cond, Address { strided: true, ..*a })))
    }

    /// A scalar that is true only if the addresses of lanes repeat with this period. Narrow loads are not compared one
    /// by one: if the words repeat that they are bytes of, they do, and one comparison serves all bytes of a word.
    pub(super) fn repeats(&mut self, a: &Address, every: u16) -> Result<Value, Stop> {
        let mut vectors = Vec::new();
        for source in self.sources(a) {
            match source {
                Source::Narrow(NarrowLoad { load, offset, size }) => {
                    let Some(r) = self.item.func.insts[load].result else { continue };
                    let bytes = self.item.func.ty(r).scalar.bytes();
                    let (parts, those) = (self.lanes(r)?, offset / bytes..(offset + size).div_ceil(bytes));
                    // The components of the load that the bytes lie in.
                    vectors.extend(those.filter_map(|k| parts.get(k as usize).copied()));
                }
                Source::Other(v) if matches!(self.get(v)?, VecValue::Uniform(_)) => {}
                Source::Other(v) => vectors.push(self.lane(v)?),
            }
        }
        if let Index::Lanes(index) = a.index {
            vectors.push(index);
        }
        // The first `every` lanes, repeated: equal to the vector only if that repeats.
        let lanes: Vec<u16> = (0..self.lanes).map(|l| l % every).collect();
        let mut all = None;
        for v in vectors {
            let mut b = self.b();
            let first = b.shuffle(v, v, &lanes);
            let same = b.icmp(IntCc::Eq, v, first);
            let same = b.all(same);
            all = Some(all.map_or(same, |x| b.binary(BinOp::And, x, same)));
        }
        Ok(all.unwrap_or_else(|| self.b().iconst(Type::I1, 1)))
    }

    /// The operands of an index that is computed for each lane.
    fn sources(&self, a: &Address) -> Vec<Source> {
        let Index::Narrow(v, at) = a.index else { return Vec::new() };
        let mut sources = Vec::new();
        let mut stack = vec![(v, MAX_HEIGHT)];
        while let Some((v, depth)) = stack.pop() {
            match (self.narrow_load(v, at), self.operation(v, at, depth)) {
                (Some(narrow), _) => sources.push(Source::Narrow(narrow)),
                (None, Some(i)) => stack.extend(self.item.func.insts[i].args.iter().map(|&a| (a, depth - 1))),
                (None, None) => sources.push(Source::Other(v)),
            }
        }
        sources
    }

    /// The operation that gives a value and is done for each lane on its own, as one of its operands is made of narrow
    /// loads.
    fn operation(&self, v: Value, at: Inst, depth: u32) -> Option<Inst> {
        let inst = self.item.func.def_inst(v)?;
        let data = &self.item.func.insts[inst];
        // Few and cheap operations, as they are repeated for each lane.
        let simple = depth > 0 && is_simple(&data.op);
        (simple && data.args.iter().any(|&a| self.is_of_narrow_loads(a, at, depth - 1))).then_some(inst)
    }

    /// Whether a value is a narrow load, or made of narrow loads by few operations.
    fn is_of_narrow_loads(&self, v: Value, at: Inst, depth: u32) -> bool {
        self.narrow_load(v, at).is_some() || self.operation(v, at, depth).is_some()
    }

    /// The narrow load that gives a value, if it varies.
    fn narrow_load(&self, v: Value, at: Inst) -> Option<NarrowLoad> {
        let varies = !matches!(self.values[v.index()], Some(VecValue::Uniform(_) | VecValue::Strided { .. }));
        let own = !self.item.func.ty(v).is_vector() && varies;
        self.item.narrow_loads().of(v, at).filter(|p| own && Scalar::int(p.size * 8).is_some())
    }

    /// A lane's value, computed from narrow loads as the work-item computes it.
    fn read_narrow(&mut self, v: Value, at: Inst, lane: Value, depth: u32, strided: bool) -> Result<Value, Stop> {
        let item = self.item;
        if let Some(narrow) = self.narrow_load(v, at) {
            let p = item.func.insts[narrow.load].args[0];
            // `strided` is set only on the side of a branch where the check holds.
            let p = if strided { self.get(p)? } else { self.exact(p)? };
            let p = self.lane_at(&p, lane);
            let (align, flags) = narrow.access(&item.func);
            let ty = item.func.ty(v);
            return Ok(narrow.read(&mut self.b(), p, ty, align, flags));
        }
        // An operand that no narrow load is in.
        let Some(data) = self.operation(v, at, depth).map(|i| &item.func.insts[i]) else {
            let wide = self.exact(v)?;
            return Ok(self.lane_at(&wide, lane));
        };
        let part = |&a: &Value| self.read_narrow(a, at, lane, depth - 1, strided);
        let args = data.args.iter().map(part).collect::<Result<_, _>>()?;
        let made = self.b().push(data.op.clone(), args, Some(item.func.ty(v)), data.flags);
        made.ok_or(bug("an instruction has no result"))
    }

    /// An index, extended and multiplied.
    fn scaled(&mut self, x: Value, wide: Option<CastOp>, factor: u64) -> Value {
        let x = match wide {
            Some(op) => self.b().cast(op, x, Type::I64),
            None => x,
        };
        if factor == 1 {
            return x;
        }
        let factor = self.b().iconst(Type::I64, factor);
        self.b().binary(BinOp::Mul, x, factor)
    }
}

/// How many operands of instructions each value is.
fn uses(func: &Function) -> Vec<u32> {
    let mut uses = vec![0; func.values.len()];
    for (_, data) in func.insts.iter() {
        data.args.iter().for_each(|a| uses[a.index()] += 1);
    }
    uses
}

/// Values that addresses are not taken apart beyond: those that are uniform or at a fixed stride; and all but sums,
/// products with a constant, and extensions to the width of addresses. What is extended to fewer bits is cheaper
/// computed for all lanes at a time.
pub(super) fn is_symbol(item: &VectorInput, v: Value) -> bool {
    let func = &item.func;
    let Some(data) = func.def_inst(v).map(|i| &func.insts[i]) else { return true };
    let is_const = |k: usize| func.const_bits(data.args[k]).is_some();
    let is_sum = match data.op {
        // A constant is a part of the form itself.
        Op::Const(_) => return false,
        Op::PtrAdd | Op::Binary(BinOp::Add | BinOp::Sub) => true,
        Op::Binary(BinOp::Mul) => is_const(0) || is_const(1),
        Op::Binary(BinOp::Shl) => is_const(1),
        Op::Cast(CastOp::Sext | CastOp::Zext) => {
            func.ty(v).scalar == Scalar::I64 && func.ty(data.args[0]).scalar != Scalar::I1
        }
        _ => false,
    };
    let is_known = matches!(item.shapes.of(v), Shape::Uniform | Shape::Strided { checked: false, .. });
    !is_sum || is_known || item.shapes.arrays.unit(v).is_some()
}

/// Whether an operation is cheap when it is done for each lane on its own.
fn is_simple(op: &Op) -> bool {
    use BinOp::{Add, And, Lshr, Mul, Or, Shl, Sub};
    matches!(
        op,
        Op::Binary(Add | And | Lshr | Mul | Or | Shl | Sub) | Op::Cast(CastOp::Zext | CastOp::Sext | CastOp::Trunc)
    )
}
