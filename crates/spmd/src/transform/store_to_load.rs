//! Loop-carried store-to-load forwarding: elements of private arrays that an iteration stores and the next one loads.
//!
//! In comes the analysed function of one work-item; out goes, if it has such loops, one in which these elements are
//! block parameters of the loop.
//!
//! ```c
//! for (int j = 1; j <= n; j++)
//!     row[j] = max(row[j], row[j - 1]);   // row: a private array
//! ```
//!
//! Else each iteration waits for store-to-load forwarding in the processor, several times as long as it takes to
//! compute. (LLVM's scalar replacement sees such pairs in a scalar loop, but not where stores are masked.)
//!
//! A loop of a header and one block qualifies if it stores to the array in one place and touches private memory in no
//! other way than by loads and stores into arrays that can be told apart. What the first iteration loads is loaded
//! before the loop, also if no iteration comes: it must be seen to lie in the array.

use crate::analysis::shape::sign_extend;
use crate::emit::widen::{Surroundings, VectorInput};
use crate::transform::Rewrite;
use cloom_ir as ir;
use cloom_ir::loops::Loop;
use cloom_ir::{BinOp, Block, Builder, CastOp, Flags, Function, Inst, Op, Scalar, Space, Type, Value, ValueDef};
use rustc_hash::FxHashMap;

/// How far back the sums of an address are followed.
const DEPTH: u32 = 12;

/// The function with such loops changed, if it has any, and where in the source they are.
pub fn run(item: &VectorInput, _: &Surroundings<'_>) -> Option<Rewrite> {
    let pairs: Vec<Pair> = item.loops.loops.iter().flat_map(|l| Round::find(item, l)).collect();
    if pairs.is_empty() {
        return None;
    }
    let mut func = item.func.clone();
    let places = pairs.iter().map(|p| func.insts[p.load].span).collect();
    // What is stored may have been loaded by a pair that is written already.
    let mut renamed = FxHashMap::default();
    for p in &pairs {
        p.write(&mut func, &mut renamed);
    }
    Some(Rewrite::of(item, func, places))
}

/// A load that gives what a store wrote a round ago.
struct Pair {
    header: Block,
    body: Block,
    before: Block,
    load: Inst,
    stored: Value,
    /// Where in which array the first round's is.
    array: Value,
    offset: u64,
}

impl Pair {
    fn write(&self, func: &mut Function, renamed: &mut FxHashMap<Value, Value>) {
        let data = func.insts[self.load].clone();
        let (Op::Load { align }, Some(result)) = (data.op, data.result) else { return };
        let ty = func.ty(result);
        let mut b = Builder::new(func, self.before);
        b.span = data.span;
        let p = b.ptr_offset(self.array, self.offset);
        let first = b.load(ty, p, align, data.flags);
        let carried = func.add_block_param(self.header, ty);
        let stored = renamed.get(&self.stored).copied().unwrap_or(self.stored);
        renamed.insert(result, carried);
        for (from, value) in [(self.before, first), (self.body, stored)] {
            for e in func.blocks[from].term.edges_mut() {
                if e.block == self.header {
                    e.args.push(value);
                }
            }
        }
        func.blocks[self.body].insts.retain(|&i| i != self.load);
        func.map_uses(|v| if v == result { carried } else { v });
    }
}

/// A loop of a header that decides and one block that does the work.
struct Round<'a> {
    func: &'a Function,
    header: Block,
    body: Block,
    before: Block,
}

impl Round<'_> {
    fn find(item: &VectorInput, l: &Loop) -> Vec<Pair> {
        let func = &item.func;
        let ([header, body], [latch]) = (&l.blocks[..], &l.latches[..]) else { return Vec::new() };
        let mut entries = item.cfg.preds(*header).iter().copied().filter(|&p| p != *latch);
        let (Some(before), None) = (entries.next(), entries.next()) else { return Vec::new() };
        let jumps = matches!(func.blocks[before].term, ir::Term::Jump(_))
            && matches!(func.blocks[*body].term, ir::Term::Jump(_));
        if latch != body || !jumps || !func.blocks[*body].params.is_empty() {
            return Vec::new();
        }
        Round { func, header: *header, body: *body, before }.pairs()
    }

    fn pairs(&self) -> Vec<Pair> {
        let func = self.func;
        let insts = || func.blocks[self.header].insts.iter().chain(&func.blocks[self.body].insts).copied();
        let mut stores = Vec::new();
        for i in insts() {
            let data = &func.insts[i];
            match data.op {
                Op::Store { .. } => match func.ty(data.args[0]).space() {
                    Some(Space::Private) => match self.place(data.args[0]) {
                        Some(place) => stores.push((i, place)),
                        None => return Vec::new(),
                    },
                    Some(Space::Global | Space::Local) => {}
                    _ => return Vec::new(),
                },
                Op::Load { .. } => {}
                _ if data.op.is_pure() => {}
                _ => return Vec::new(),
            }
        }
        let body = func.blocks[self.body].insts.iter().copied();
        body.filter_map(|i| self.pair(i, &stores)).collect()
    }

    fn pair(&self, load: Inst, stores: &[(Inst, Place)]) -> Option<Pair> {
        let func = self.func;
        let data = &func.insts[load];
        let (Op::Load { .. }, Some(result)) = (&data.op, data.result) else { return None };
        if data.flags.contains(Flags::VOLATILE) || func.ty(data.args[0]).space() != Some(Space::Private) {
            return None;
        }
        let place = self.place(data.args[0])?;
        let mut own = stores.iter().filter(|(_, s)| s.array == place.array);
        let ((store, to), None) = (own.next()?, own.next()) else { return None };
        let written = &func.insts[*store];
        let stored = written.args[1];
        // What a round of the loop adds to the address that is read leads to what the round before wrote.
        let step = place.terms.iter().try_fold(0i64, |sum, t| Some(sum.wrapping_add(self.step(t)?)))?;
        // Elements that overlap are changed twice.
        let apart = step.unsigned_abs() >= u64::from(func.ty(result).bytes());
        let same = place.terms == to.terms && place.offset.wrapping_add(step) == to.offset;
        if !same || !apart || func.ty(stored) != func.ty(result) || written.flags.contains(Flags::VOLATILE) {
            return None;
        }
        let mut offset = place.offset;
        for t in &place.terms {
            offset = offset.wrapping_add(t.factor.wrapping_mul(self.first(t)?));
        }
        let Op::Alloca { size, .. } = func.insts[func.def_inst(place.array)?].op else { return None };
        let offset = u64::try_from(offset).ok()?;
        let inside = offset.checked_add(u64::from(func.ty(result).bytes())).is_some_and(|end| end <= size);
        inside.then_some(Pair {
            header: self.header,
            body: self.body,
            before: self.before,
            load,
            stored,
            array: place.array,
            offset,
        })
    }

    /// What a round adds to the part of an address: nothing if it is the same in all rounds, the step of a counter.
    fn step(&self, t: &Term) -> Option<i64> {
        let func = self.func;
        if !func.is_defined_in(t.value, &[self.header, self.body]) {
            return Some(0);
        }
        let next = self.argument(t.value, self.body)?;
        let data = &func.insts[func.def_inst(next)?];
        let exact = t.wide.is_none_or(|wide| data.flags.contains(promise(wide)));
        let counts = data.op == Op::Binary(BinOp::Add) && data.args[0] == t.value && exact;
        let by = func.const_bits(data.args[1]).filter(|_| counts)?;
        Some(t.factor.wrapping_mul(extended(by, t.wide, func.ty(next).scalar)))
    }

    /// What a part of an address is in the first round, if it is a constant.
    fn first(&self, t: &Term) -> Option<i64> {
        let first = self.argument(t.value, self.before).unwrap_or(t.value);
        Some(extended(self.func.const_bits(first)?, t.wide, self.func.ty(first).scalar))
    }

    /// What a parameter of the header gets from a block.
    fn argument(&self, v: Value, from: Block) -> Option<Value> {
        let ValueDef::Param(b, k) = self.func.values[v].def else { return None };
        let edge = self.func.blocks[from].term.edge(0).filter(|e| b == self.header && e.block == b)?;
        edge.args.get(k as usize).copied()
    }

    /// The array that an address is in, and where.
    fn place(&self, p: Value) -> Option<Place> {
        let func = self.func;
        let mut place = Place { array: p, terms: Vec::new(), offset: 0 };
        for _ in 0..DEPTH {
            let data = &func.insts[func.def_inst(place.array)?];
            match data.op {
                Op::Alloca { .. } => {
                    place.terms.sort_by_key(|t| (t.value, t.factor));
                    return Some(place);
                }
                Op::PtrAdd => {
                    place.array = data.args[0];
                    self.add(Term { value: data.args[1], wide: None, factor: 1 }, DEPTH, &mut place);
                }
                _ => return None,
            }
        }
        None
    }

    /// Takes a sum apart, through widening where the source promises that it does not wrap.
    fn add(&self, t: Term, depth: u32, place: &mut Place) {
        let func = self.func;
        let scalar = func.ty(t.value).scalar;
        if let Some(bits) = func.const_bits(t.value) {
            place.offset = place.offset.wrapping_add(t.factor.wrapping_mul(extended(bits, t.wide, scalar)));
            return;
        }
        let Some(data) = func.def_inst(t.value).filter(|_| depth > 0).map(|i| &func.insts[i]) else {
            return place.terms.push(t);
        };
        let exact = t.wide.is_none_or(|wide| data.flags.contains(promise(wide)));
        let part = |value: Value, factor: i64| Term { value, wide: t.wide, factor };
        match data.op {
            Op::Binary(op @ (BinOp::Add | BinOp::Sub)) if exact => {
                let second = if op == BinOp::Sub { t.factor.wrapping_neg() } else { t.factor };
                self.add(part(data.args[0], t.factor), depth - 1, place);
                self.add(part(data.args[1], second), depth - 1, place);
            }
            Op::Binary(op @ (BinOp::Mul | BinOp::Shl)) if exact => match func.const_bits(data.args[1]) {
                Some(c) => {
                    let c = match op {
                        BinOp::Shl => 1i64 << (c % u64::from(scalar.bits())),
                        _ => extended(c, t.wide, scalar),
                    };
                    self.add(part(data.args[0], t.factor.wrapping_mul(c)), depth - 1, place);
                }
                None => place.terms.push(t),
            },
            Op::Cast(op @ (CastOp::Sext | CastOp::Zext))
                if t.wide.is_none() && func.ty(t.value) == Type::I64 && func.ty(data.args[0]).scalar != Scalar::I1 =>
            {
                self.add(Term { value: data.args[0], wide: Some(op), factor: t.factor }, depth - 1, place);
            }
            _ => place.terms.push(t),
        }
    }
}

/// A part of a sum: a value, how it is widened, and how often it counts.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Term {
    value: Value,
    wide: Option<CastOp>,
    factor: i64,
}

/// A place in an array: bytes from its beginning, which vary with values.
struct Place {
    array: Value,
    terms: Vec<Term>,
    offset: i64,
}

/// The promise with which a sum may be widened part by part.
fn promise(wide: CastOp) -> Flags {
    if wide == CastOp::Sext { Flags::NSW } else { Flags::NUW }
}

fn extended(bits: u64, wide: Option<CastOp>, scalar: Scalar) -> i64 {
    if wide == Some(CastOp::Zext) { bits as i64 } else { sign_extend(bits, scalar) }
}
