//! Addresses of lanes that are accessed one after the other, as what they have in common and what differs.
//!
//! In comes an address that varies; out goes, where it is a sum with one varying part, a scalar for the rest of the
//! sum. A lane's address is then that scalar plus a multiple of the lane's number, which is what a processor's
//! addressing computes by itself; and the number of a lane, taken out of its vector once, serves all accesses that
//! differ in the rest: the rows of a picture, the fields of a record.
//!
//! A number that is part of what was loaded ([`cloom_passes::narrow_loads`]) need not be taken out of a vector:
//! each lane's is read from where it is.
//!
//! Sums are looked for through widening too, where the source promises that they do not wrap. It speaks for lanes that
//! are on, so this is for code in which all are.

use super::{VecValue, Widener};
use crate::error::{Stop, bug};
use cloom_ir::{BinOp, CastOp, Entity, Flags, Inst, IntCc, Op, Scalar, Type, Value};
use cloom_passes::narrow_loads::NarrowLoad;

/// How far back sums are followed.
const DEPTH: u32 = 12;

/// A part of a sum: a value of the work-item, how it is widened, and how often it counts.
struct Term {
    value: Value,
    wide: Option<CastOp>,
    factor: u64,
}

/// So many operations, one on the other, are done for each lane on its own with a number that it has read.
const OWN: u32 = 3;

/// The number by which addresses of lanes differ.
#[derive(Clone, Copy)]
enum Index {
    /// The lanes of it.
    Lanes(Value),
    /// A value of the work-item that is computed for each lane from narrow loads, up to an instruction.
    Narrow(Value, Inst),
}

/// What a number of lanes comes from.
enum Source {
    Narrow(NarrowLoad),
    Other(Value),
}

/// An address whose lanes differ by multiples of one number.
#[derive(Clone, Copy)]
pub(super) struct Address {
    /// What all lanes have in common.
    base: Value,
    index: Index,
    wide: Option<CastOp>,
    factor: u64,
    /// Whether what lanes read their numbers from lies at its stride, where that is only known while running.
    strided: bool,
}

impl Widener<'_> {
    /// The parts of an address, if one of them varies and others do not. If it says for what instruction, lanes may read their numbers
    /// there.
    pub(super) fn address(&mut self, p: Value, reader: Option<Inst>) -> Result<Option<Address>, Stop> {
        let mut terms = Vec::new();
        self.terms(Term { value: p, wide: None, factor: 1 }, DEPTH, &mut terms);
        let varies = |w: &Self, t: &Term| {
            !matches!(w.values[t.value.index()], Some(VecValue::Uniform(_) | VecValue::Strided { cond: None, .. }))
        };
        let (mut parts, rest): (Vec<Term>, Vec<Term>) = terms.into_iter().partition(|t| varies(self, t));
        let uniform = |t: &Term| matches!(self.values[t.value.index()], Some(VecValue::Uniform(_)));
        let pointer = |t: &&Term| self.item.func.ty(t.value).is_ptr();
        if parts.len() != 1 || rest.iter().filter(pointer).count() != 1 || !rest.iter().all(uniform) {
            return Ok(None);
        }
        let (Some(part), Some(at)) = (parts.pop(), rest.iter().position(|t| pointer(&t))) else { return Ok(None) };
        let mut base = self.base(rest[at].value)?;
        for (_, t) in rest.iter().enumerate().filter(|(k, _)| *k != at) {
            let by = self.base(t.value)?;
            let by = self.scaled(by, t.wide, t.factor);
            base = self.b().ptr_add(base, by);
        }
        let index = match reader {
            Some(inst) if self.is_of_narrow_loads(part.value, inst, OWN) => Index::Narrow(part.value, inst),
            _ => Index::Lanes(self.lane(part.value)?),
        };
        Ok(Some(Address { base, index, wide: part.wide, factor: part.factor, strided: false }))
    }

    /// The number of a lane.
    fn index_of(&mut self, a: &Address, lane: Value) -> Result<Value, Stop> {
        match a.index {
            Index::Lanes(index) => Ok(self.b().extract(index, lane)),
            Index::Narrow(v, at) => self.read_narrow(v, at, lane, OWN, a.strided),
        }
    }

    /// The address of a lane.
    pub(super) fn address_of(&mut self, a: &Address, lane: Value) -> Result<Value, Stop> {
        let index = self.index_of(a, lane)?;
        let by = self.scaled(index, a.wide, a.factor);
        Ok(self.b().ptr_add(a.base, by))
    }

    /// The address where what lanes read their numbers from lies at its stride, and the condition for that; nothing if it does anyhow.
    pub(super) fn where_strided(&mut self, a: &Address) -> Result<Option<(Value, Address)>, Stop> {
        let mut all = None;
        for source in self.sources(a) {
            if let Source::Narrow(narrow) = source
                && let VecValue::Strided { cond: Some(cond), .. } =
                    self.get(self.item.func.insts[narrow.load].args[0])?
                && all != Some(cond)
            {
                all = Some(all.map_or(cond, |x| self.b().binary(BinOp::And, x, cond)));
            }
        }
        Ok(all.map(|cond| (cond, Address { strided: true, ..*a })))
    }

    /// Whether the addresses of lanes surely repeat after so many, as a scalar. Pieces are not looked at one by one: if all that was
    /// loaded with them repeats, they do, and one comparison serves all parts of a word.
    pub(super) fn repeats(&mut self, a: &Address, every: u16) -> Result<Value, Stop> {
        let mut vectors = Vec::new();
        for source in self.sources(a) {
            match source {
                Source::Narrow(NarrowLoad { load, offset, size }) => {
                    let Some(r) = self.item.func.insts[load].result else { continue };
                    let bytes = self.item.func.ty(r).scalar.bytes();
                    let (parts, those) = (self.lanes(r)?, offset / bytes..(offset + size).div_ceil(bytes));
                    vectors.extend(those.filter_map(|k| parts.get(k as usize).copied()));
                }
                Source::Other(v) if matches!(self.get(v)?, VecValue::Uniform(_)) => {}
                Source::Other(v) => vectors.push(self.lane(v)?),
            }
        }
        if let Index::Lanes(index) = a.index {
            vectors.push(index);
        }
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

    /// What the numbers of lanes come from, if they are read.
    fn sources(&self, a: &Address) -> Vec<Source> {
        let Index::Narrow(v, at) = a.index else { return Vec::new() };
        let mut sources = Vec::new();
        let mut stack = vec![(v, OWN)];
        while let Some((v, depth)) = stack.pop() {
            match (self.narrow_load(v, at), self.operation(v, at, depth)) {
                (Some(narrow), _) => sources.push(Source::Narrow(narrow)),
                (None, Some(i)) => stack.extend(self.item.func.insts[i].args.iter().map(|&a| (a, depth - 1))),
                (None, None) => sources.push(Source::Other(v)),
            }
        }
        sources
    }

    /// The operation that is done for each lane on its own, if a number is made of a narrow load with one.
    fn operation(&self, v: Value, at: Inst, depth: u32) -> Option<Inst> {
        let inst = self.item.func.def_inst(v)?;
        let data = &self.item.func.insts[inst];
        let simple = depth > 0 && is_simple(&data.op);
        (simple && data.args.iter().any(|&a| self.is_of_narrow_loads(a, at, depth - 1))).then_some(inst)
    }

    /// Whether a number is made of a narrow load with few operations.
    fn is_of_narrow_loads(&self, v: Value, at: Inst, depth: u32) -> bool {
        self.narrow_load(v, at).is_some() || self.operation(v, at, depth).is_some()
    }

    /// A narrow load that differs from lane to lane.
    fn narrow_load(&self, v: Value, at: Inst) -> Option<NarrowLoad> {
        let varies = !matches!(self.values[v.index()], Some(VecValue::Uniform(_) | VecValue::Strided { .. }));
        let own = !self.item.func.ty(v).is_vector() && varies;
        self.item.narrow_loads().of(v, at).filter(|p| own && Scalar::int(p.size * 8).is_some())
    }

    /// A lane's number, computed as the work-item computes it.
    fn read_narrow(&mut self, v: Value, at: Inst, lane: Value, depth: u32, strided: bool) -> Result<Value, Stop> {
        let item = self.item;
        if let Some(narrow) = self.narrow_load(v, at) {
            let p = item.func.insts[narrow.load].args[0];
            let p = if strided { self.get(p)? } else { self.exact(p)? };
            let p = self.lane_at(&p, lane);
            let (align, flags) = narrow.access(&item.func);
            let ty = item.func.ty(v);
            return Ok(narrow.read(&mut self.b(), p, ty, align, flags));
        }
        let Some(data) = self.operation(v, at, depth).map(|i| &item.func.insts[i]) else {
            let wide = self.exact(v)?;
            return Ok(self.lane_at(&wide, lane));
        };
        let part = |&a: &Value| self.read_narrow(a, at, lane, depth - 1, strided);
        let args = data.args.iter().map(part).collect::<Result<_, _>>()?;
        let made = self.b().push(data.op.clone(), args, Some(item.func.ty(v)), data.flags);
        made.ok_or(bug("an instruction has no result"))
    }

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

    /// Takes a sum of 64 bits, or one that is widened to as many, apart.
    fn terms(&self, t: Term, depth: u32, list: &mut Vec<Term>) {
        let func = &self.item.func;
        let known =
            matches!(self.values[t.value.index()], Some(VecValue::Uniform(_) | VecValue::Strided { cond: None, .. }));
        let inst = func.def_inst(t.value).filter(|_| depth > 0 && !known && !self.is_element(t.value));
        let Some(data) = inst.map(|i| &func.insts[i]) else { return list.push(t) };
        let exact = match t.wide {
            None => true,
            Some(CastOp::Sext) => data.flags.contains(Flags::NSW),
            Some(_) => data.flags.contains(Flags::NUW),
        };
        let part = |value: Value, factor: u64| Term { value, wide: t.wide, factor };
        match data.op {
            Op::PtrAdd => {
                self.terms(part(data.args[0], t.factor), depth - 1, list);
                self.terms(part(data.args[1], t.factor), depth - 1, list);
            }
            Op::Binary(op @ (BinOp::Add | BinOp::Sub)) if exact => {
                let second = if op == BinOp::Sub { t.factor.wrapping_neg() } else { t.factor };
                self.terms(part(data.args[0], t.factor), depth - 1, list);
                self.terms(part(data.args[1], second), depth - 1, list);
            }
            Op::Binary(op @ (BinOp::Mul | BinOp::Shl)) if exact => match func.const_bits(data.args[1]) {
                Some(c) => {
                    let scalar = func.ty(t.value).scalar;
                    let c = match (op, t.wide) {
                        (BinOp::Shl, _) => 1 << (c % u64::from(scalar.bits())),
                        (_, Some(CastOp::Sext)) => crate::analysis::shape::sign_extend(c, scalar) as u64,
                        _ => c,
                    };
                    self.terms(part(data.args[0], t.factor.wrapping_mul(c)), depth - 1, list);
                }
                None => list.push(t),
            },
            Op::Cast(op @ (CastOp::Sext | CastOp::Zext))
                if t.wide.is_none() && func.ty(data.args[0]).scalar != Scalar::I1 =>
            {
                self.terms(Term { value: data.args[0], wide: Some(op), factor: t.factor }, depth - 1, list);
            }
            _ => list.push(t),
        }
    }
}

/// Whether an operation is as cheap for each lane on its own.
fn is_simple(op: &Op) -> bool {
    use BinOp::{Add, And, Lshr, Mul, Or, Shl, Sub};
    matches!(
        op,
        Op::Binary(Add | And | Lshr | Mul | Or | Shl | Sub) | Op::Cast(CastOp::Zext | CastOp::Sext | CastOp::Trunc)
    )
}
