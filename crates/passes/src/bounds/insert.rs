//! Puts a branch round each access that may leave its object.

use super::access::{Access, accesses};
use super::reports::Reports;
use super::roots::{Fact, Object, Root, Roots, pointer_in};
use cloom_ir::cfg::Cfg;
use cloom_ir::{
    BinOp, Block, Builder, CastOp, CheckedAccess, Edge, Flags, Function, Inst, IntCc, Op, Span, Term, Type, Value,
    ValueData, ValueDef,
};
use rustc_hash::FxHashMap;

/// How far back operands are looked at for the largest value of an offset.
const DEPTH: u32 = 6;

/// Drops the promises of a function: a kernel that breaks one must not confuse an analysis.
pub(super) fn drop_promises(func: &mut Function) {
    for data in func.insts.values_mut() {
        data.flags.remove(Flags::NSW | Flags::NUW | Flags::NNAN | Flags::NINF | Flags::SPECULATED);
    }
}

/// A function whose accesses get checks.
pub(super) struct Insertion<'a> {
    func: &'a mut Function,
    roots: &'a Roots,
    /// The offset of each address in its object,
    offsets: FxHashMap<Value, Value>,
    /// and the size of the object, where that is one of several.
    sizes: FxHashMap<Value, Value>,
    /// By the size of an object and the bytes of an access: the offset that the access must be below.
    limits: FxHashMap<(Value, u64), Value>,
    constants: FxHashMap<u64, Value>,
    reports: Option<Reports>,
    checks: usize,
}

impl<'a> Insertion<'a> {
    pub fn new(func: &'a mut Function, roots: &'a Roots, reports: Option<Reports>) -> Insertion<'a> {
        let (offsets, sizes, limits, constants) = Default::default();
        Insertion { func, roots, offsets, sizes, limits, constants, reports, checks: 0 }
    }

    /// Adds the checks. Returns how many, and the accesses that are reported.
    pub fn run(mut self) -> (usize, Vec<CheckedAccess>) {
        let cfg = Cfg::new(self.func);
        self.add_params(&cfg);
        // Each block before those that it dominates: an offset is made before its uses.
        let mut ends = Vec::new();
        for &b in cfg.rpo() {
            ends.push(self.block(b));
        }
        for end in ends {
            self.edges(end);
        }
        (self.checks, self.reports.map(|reports| reports.checked).unwrap_or_default())
    }

    /// Blocks get a parameter for the offset of each address among theirs, and one for its size if that differs.
    fn add_params(&mut self, cfg: &Cfg) {
        let entry = self.func.entry();
        for &b in cfg.rpo() {
            for p in self.func.blocks[b].params.clone() {
                if !self.func.ty(p).is_ptr() {
                    continue;
                }
                if b == entry {
                    let zero = self.constant(0);
                    self.offsets.insert(p, zero);
                    continue;
                }
                match self.roots.get(p).root {
                    Root::One(Object::Unlimited) => {}
                    Root::Several { .. } => {
                        let offset = self.func.add_block_param(b, Type::I64);
                        let size = self.func.add_block_param(b, Type::I64);
                        self.offsets.insert(p, offset);
                        self.sizes.insert(p, size);
                    }
                    Root::One(_) | Root::Unknown => {
                        let offset = self.func.add_block_param(b, Type::I64);
                        self.offsets.insert(p, offset);
                    }
                }
            }
        }
    }

    /// Goes through a block. Returns the block that has its end now.
    fn block(&mut self, b: Block) -> Block {
        let (term, span) = {
            let data = &mut self.func.blocks[b];
            (std::mem::replace(&mut data.term, Term::Unreachable), data.term_span)
        };
        let is_entry = b == self.func.entry();
        // The constants that were made so far stay in front.
        let made = if is_entry { self.constants.len() } else { 0 };
        let insts = self.func.blocks[b].insts.split_off(made);
        // They stay in the entry, which may be split.
        let is_alloca = |func: &Function, i: Inst| matches!(func.insts[i].op, Op::Alloca { .. });
        let (first, rest): (Vec<Inst>, Vec<Inst>) =
            insts.into_iter().partition(|&i| is_entry && is_alloca(self.func, i));
        let mut at = b;
        for i in first.into_iter().chain(rest) {
            at = self.inst(at, i);
        }
        self.func.set_term(at, term, span);
        at
    }

    /// Adds an instruction at the end of a block, with the checks of its accesses. Returns the block that goes on.
    fn inst(&mut self, at: Block, i: Inst) -> Block {
        let accesses = accesses(self.func, i);
        let mut ok = None;
        for &access in accesses.iter().flatten() {
            ok = self.check(at, i, access, ok);
        }
        let Some(ok) = ok else {
            self.func.blocks[at].insts.push(i);
            if let Some(result) = self.func.insts[i].result.filter(|&r| self.func.ty(r).is_ptr()) {
                self.offset(at, i, result);
            }
            return at;
        };
        self.checks += 1;
        let join = self.guard(at, i, ok);
        self.report(at, i, &accesses);
        join
    }

    /// The condition under which an access happens, and that of those before it; as it was, if it always does.
    fn check(&mut self, at: Block, i: Inst, access: Access, before: Option<Value>) -> Option<Value> {
        let fact = self.roots.get(access.address);
        if fact.root == Root::One(Object::Unlimited) {
            return before;
        }
        let span = self.func.insts[i].span;
        let is_refused = access.is_store && fact.root.is_read_only();
        let offset = self.offset_of(access.address);
        let mut tests: Vec<Value> = before.into_iter().collect();
        if is_refused || !self.is_inside(offset, &fact, access.bytes) {
            let limit = if is_refused { self.constant(0) } else { self.limit(at, &fact, access) };
            let mut b = Builder::new(self.func, at);
            b.span = span;
            tests.push(b.icmp(IntCc::Ult, offset, limit));
        }
        if fact.zeros.min(fact.align) < access.align {
            // Where the object's own address is not aligned, the whole address tells.
            let is_object_aligned = fact.align >= access.align;
            let mask = self.constant((1 << access.align) - 1);
            let zero = self.constant(0);
            let mut b = Builder::new(self.func, at);
            b.span = span;
            let number = match is_object_aligned {
                true => offset,
                false => b.cast(CastOp::PtrToInt, access.address, Type::I64),
            };
            let low = b.binary(BinOp::And, number, mask);
            tests.push(b.icmp(IntCc::Eq, low, zero));
        }
        let mut b = Builder::new(self.func, at);
        b.span = span;
        tests.into_iter().reduce(|all, test| b.binary(BinOp::And, all, test))
    }

    /// Whether an access is inside of its object in any case.
    fn is_inside(&self, offset: Value, fact: &Fact, bytes: u64) -> bool {
        let Root::One(Object::Fixed { size, .. }) = fact.root else { return false };
        let last = largest(self.func, offset, DEPTH);
        last.and_then(|last| last.checked_add(bytes)).is_some_and(|end| end <= size)
    }

    /// The offset that an access must be below.
    fn limit(&mut self, at: Block, fact: &Fact, access: Access) -> Value {
        if let Root::One(Object::Fixed { size, .. }) = fact.root {
            return self.constant((size + 1).saturating_sub(access.bytes));
        }
        let size = self.size_of(access.address);
        let is_param = matches!(fact.root, Root::One(Object::Sized { .. }));
        if is_param && let Some(&limit) = self.limits.get(&(size, access.bytes)) {
            return limit;
        }
        let more = self.constant(access.bytes - 1);
        // Of a parameter, once, in the entry.
        let place = if is_param { self.func.entry() } else { at };
        let mut b = Builder::new(self.func, place);
        let limit = b.binary(BinOp::UsubSat, size, more);
        if is_param {
            // Behind the constants, which it uses.
            self.move_last(self.constants.len());
            self.limits.insert((size, access.bytes), limit);
        }
        limit
    }

    /// Moves the last instruction of the entry to this place in it.
    fn move_last(&mut self, to: usize) {
        let entry = self.func.entry();
        let insts = &mut self.func.blocks[entry].insts;
        if let Some(last) = insts.pop() {
            insts.insert(to.min(insts.len()), last);
        }
    }

    /// A number, made once in the entry.
    fn constant(&mut self, bits: u64) -> Value {
        if let Some(&v) = self.constants.get(&bits) {
            return v;
        }
        let entry = self.func.entry();
        let v = Builder::new(self.func, entry).iconst(Type::I64, bits);
        self.move_last(0);
        self.constants.insert(bits, v);
        v
    }

    /// The offset of an address in its object; that of one which is never reached is never used.
    fn offset_of(&mut self, address: Value) -> Value {
        match self.offsets.get(&address) {
            Some(&offset) => offset,
            None => self.constant(0),
        }
    }

    /// Computes the offset of an address behind the instruction that makes the address.
    fn offset(&mut self, at: Block, i: Inst, result: Value) {
        let fact = self.roots.get(result);
        if fact.root == Root::One(Object::Unlimited) || self.func.ty(result).is_vector() {
            return;
        }
        let data = &self.func.insts[i];
        let (op, args, span) = (data.op.clone(), data.args.clone(), data.span);
        let several = matches!(fact.root, Root::Several { .. });
        let (offset, size) = match op {
            Op::PtrAdd => {
                let base = self.offset_of(args[0]);
                let is_zero = self.func.const_bits(base) == Some(0);
                let offset = match is_zero {
                    true => args[1],
                    false => self.at(at, span, |b| b.binary(BinOp::Add, base, args[1])),
                };
                (offset, several.then(|| self.size_of(args[0])))
            }
            Op::Cast(CastOp::Space | CastOp::Bitcast) => {
                (self.offset_of(args[0]), several.then(|| self.size_of(args[0])))
            }
            Op::Cast(CastOp::IntToPtr) => match pointer_in(self.func, args[0]) {
                Some(p) => {
                    let base = self.offset_of(p);
                    let offset = self.at(at, span, |b| {
                        let from = b.cast(CastOp::PtrToInt, p, Type::I64);
                        let moved = b.binary(BinOp::Sub, args[0], from);
                        b.binary(BinOp::Add, base, moved)
                    });
                    (offset, several.then(|| self.size_of(p)))
                }
                None => (self.constant(0), None),
            },
            Op::Select => {
                let (x, y) = (self.offset_of(args[1]), self.offset_of(args[2]));
                let offset = self.at(at, span, |b| b.select(args[0], x, y));
                let size = several.then(|| {
                    let (x, y) = (self.size_of(args[1]), self.size_of(args[2]));
                    self.at(at, span, |b| b.select(args[0], x, y))
                });
                (offset, size)
            }
            _ => (self.constant(0), None),
        };
        self.offsets.insert(result, offset);
        if let Some(size) = size {
            self.sizes.insert(result, size);
        }
    }

    fn at<T>(&mut self, at: Block, span: Span, make: impl FnOnce(&mut Builder<'_>) -> T) -> T {
        let mut b = Builder::new(self.func, at);
        b.span = span;
        make(&mut b)
    }

    /// The size of the object of an address.
    fn size_of(&mut self, address: Value) -> Value {
        match self.roots.get(address).root {
            Root::One(Object::Sized { size, .. }) => size,
            Root::One(Object::Fixed { size, .. }) => self.constant(size),
            Root::One(Object::Unlimited) => self.constant(u64::MAX),
            Root::Several { .. } => match self.sizes.get(&address) {
                Some(&size) => size,
                None => self.constant(0),
            },
            Root::Unknown => self.constant(0),
        }
    }

    /// Ends a block with a branch round an instruction. Returns the block behind it.
    fn guard(&mut self, at: Block, i: Inst, ok: Value) -> Block {
        let (yes, join) = (self.func.add_loose_block(), self.func.add_loose_block());
        let place = self.func.layout.iter().position(|&b| b == at).map_or(self.func.layout.len(), |n| n + 1);
        self.func.layout.splice(place..place, [yes, join]);
        let span = self.func.insts[i].span;
        let (mut taken, mut refused) = (Edge::new(join, []), Edge::new(join, []));
        if let Some(result) = self.func.insts[i].result {
            let ty = self.func.ty(result);
            // The result keeps its name behind the branch; the access gets a new one.
            let made = self.func.values.push(ValueData { ty, def: ValueDef::Inst(i) });
            self.func.insts[i].result = Some(made);
            self.func.values[result].def = ValueDef::Param(join, 0);
            self.func.blocks[join].params.push(result);
            let zero = self.at(at, span, |b| b.iconst(ty, 0));
            (taken, refused) = (Edge::new(join, [made]), Edge::new(join, [zero]));
            if ty.is_ptr() {
                let none = self.constant(0);
                self.offsets.insert(result, none);
            }
        }
        self.func.set_term(at, Term::Branch { cond: ok, then: Edge::new(yes, []), els: refused }, span);
        self.func.blocks[yes].insts.push(i);
        self.func.set_term(yes, Term::Jump(taken), span);
        join
    }

    /// Reports the accesses of an instruction, where the branch at the end of a block goes round it.
    fn report(&mut self, at: Block, i: Inst, accesses: &[Option<Access>; 2]) {
        let Some(mut reports) = self.reports.take() else { return };
        let refused = self.func.add_loose_block();
        let place = self.func.layout.iter().position(|&b| b == at).map_or(self.func.layout.len(), |n| n + 2);
        self.func.layout.insert(place, refused);
        let span = self.func.insts[i].span;
        if let Term::Branch { els, .. } = &mut self.func.blocks[at].term {
            let edge = std::mem::replace(els, Edge::new(refused, []));
            self.func.set_term(refused, Term::Jump(edge), span);
        }
        for access in accesses.iter().flatten() {
            let (offset, size) = (self.offset_of(access.address), self.size_of(access.address));
            reports.add(self.func, refused, i, access, (offset, size));
        }
        self.reports = Some(reports);
    }

    /// The edges at the end of a block get the arguments for new parameters.
    fn edges(&mut self, end: Block) {
        let mut term = std::mem::replace(&mut self.func.blocks[end].term, Term::Unreachable);
        for edge in term.edges_mut() {
            let params = self.func.blocks[edge.block].params.clone();
            for (n, arg) in edge.args.clone().into_iter().enumerate() {
                let p = params[n];
                if !self.func.ty(p).is_ptr() || self.roots.get(p).root == Root::One(Object::Unlimited) {
                    continue;
                }
                edge.args.push(self.offset_of(arg));
                if self.sizes.contains_key(&p) {
                    edge.args.push(self.size_of(arg));
                }
            }
        }
        let span = self.func.blocks[end].term_span;
        self.func.set_term(end, term, span);
    }
}

/// The largest value of an offset, if operations show it.
fn largest(func: &Function, v: Value, depth: u32) -> Option<u64> {
    let inst = func.def_inst(v).filter(|_| depth > 0 && !func.ty(v).is_vector());
    let bits = func.ty(v).scalar.bits();
    let any = if bits < 64 { Some((1 << bits) - 1) } else { None };
    let Some(data) = inst.map(|i| &func.insts[i]) else { return any };
    let of = |k: usize| largest(func, data.args[k], depth - 1);
    let both = |f: fn(u64, u64) -> Option<u64>| f(of(0)?, of(1)?);
    let found = match data.op {
        Op::Const(bits) => Some(bits),
        Op::Binary(BinOp::And | BinOp::Umin) => match (of(0), of(1)) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        },
        Op::Binary(BinOp::Urem) => func.const_bits(data.args[1]).filter(|&n| n > 0).map(|n| n - 1),
        Op::Binary(BinOp::Add) => both(u64::checked_add),
        Op::Binary(BinOp::Mul) => both(u64::checked_mul),
        Op::Binary(BinOp::Shl) => {
            let by = func.const_bits(data.args[1]).filter(|&by| by < u64::from(bits));
            by.and_then(|by| of(0)?.checked_mul(1 << by))
        }
        Op::Binary(BinOp::Lshr) => {
            let by = func.const_bits(data.args[1]).filter(|&by| by < u64::from(bits));
            by.and_then(|by| Some(of(0)? >> by))
        }
        Op::Cast(CastOp::Zext) => of(0),
        // What has no sign bit stays the same number.
        Op::Cast(CastOp::Sext) => {
            let sign = 1u64 << (func.ty(data.args[0]).scalar.bits() - 1);
            of(0).filter(|&most| most < sign)
        }
        Op::Select => match (of(1), of(2)) {
            (Some(a), Some(b)) => Some(a.max(b)),
            _ => None,
        },
        _ => None,
    };
    // What does not fit wraps, and then may be anything.
    match (found, any) {
        (Some(found), Some(any)) if found > any => Some(any),
        (found, any) => found.or(any),
    }
}
