//! Strip-mined strided loads with a register transpose: loops in which each lane reads along a row of its own.
//!
//! In comes the analysed function of one work-item; out goes, if it has such loops, one where these are unrolled.
//!
//! ```c
//! for (uint c = 0; c < columns; c++)
//!     sum += a[r * columns + c] * x[c];   // r: the work-item's
//! ```
//!
//! Neighbouring lanes read at a distance here, so that a vector would be gathered element by element and use four
//! bytes of each of as many cache lines, again and again. But the next iterations of each lane read the adjacent
//! elements. So each lane loads one vector for several iterations; the widener transposes them in registers
//! ([`crate::emit::widen`]), and every iteration finds a vector of lanes. The order of a work-item's operations stays
//! as it is, so that sums of floats have the same bits. The remaining iterations run the original loop.
//!
//! The more a lane reads at once, the better for the caches: rows that are a power of two long map to one set of the
//! first cache, which has fewer ways than there are lanes, so that a line is evicted before its lane comes back. Small
//! loops therefore take a whole register's length at once, which is a line on AVX-512, then four iterations, then one.
//! (A matrix of 4096 by 4096 floats by a vector on two cores, in GB/s: 35 with 16 bytes at a time, 40 with 64.)
//!
//! A load may be done before its iteration because all the iterations that it is for are known to come, and nothing in
//! the loop writes where it reads: nothing at all, or only private memory while it reads other.
//!
//! A divergent loop of this kind is unrolled as long as each lane that is left has so many iterations to come, which
//! is a reduction over the live lanes; one iteration at a time otherwise. So what is uniform in an iteration, a
//! counter perhaps, stays so.

use crate::analysis::counted_loop::{Counted, copy_inst};
use crate::analysis::latency;
use crate::analysis::shape::{Shape, signed_const};
use crate::emit::widen::{Surroundings, VectorInput};
use crate::transform::Rewrite;
use cloom_ir::loops::Loop;
use cloom_ir::{
    BinOp, Block, Builder, CastOp, Edge, Flags, Function, Inst, IntCc, Op, Scalar, Space, Term, Type, Value, ValueDef,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Rounds at once: four elements of 32 bits are the shortest vector that is loaded in one piece, and four bytes are a number.
const UNROLLED: u16 = 4;

/// Loops with more instructions are left as they are.
const MAX_INSTS: usize = 80;

/// More than [`UNROLLED`] rounds at once have so many instructions at most.
const MAX_COPIES: usize = 320;

/// Steps of the loop's counter that are taken for a walk.
const MAX_STEP: u64 = 1 << 8;

/// The function with such loops unrolled, if it has any, and where in the source they are. A lane loads so many bytes at once, 16 to 64.
pub fn run(item: &VectorInput, around: &Surroundings<'_>) -> Option<Rewrite> {
    let find = |l| RowLoop::find(item, l, around.register);
    let walks: Vec<RowLoop<'_>> = item.loops.loops.iter().filter_map(find).collect();
    if walks.is_empty() {
        return None;
    }
    let mut func = item.func.clone();
    let mut places = Vec::new();
    for w in &walks {
        w.write(&mut func);
        places.push(func.blocks[w.counted.header].term_span);
    }
    Some(Rewrite::of(item, func, places))
}

/// Whether such loops are among the deepest, where the time goes.
pub fn are_deepest(item: &VectorInput, register: u32) -> bool {
    latency::deepest(item).into_iter().any(|l| RowLoop::find(item, l, register).is_some())
}

/// A loop of a header that decides and one block that does the work.
struct RowLoop<'a> {
    item: &'a VectorInput,
    counted: Counted,
    /// By how much it counts.
    step: u64,
    /// Whether lanes leave it in different rounds.
    diverges: bool,
    /// Whether it stores to private memory.
    stores: bool,
    /// How many rounds at once, the most first.
    levels: Vec<Level>,
}

/// Several rounds at once.
struct Level {
    rounds: u16,
    /// Loads of neighbours, round after round, which become one for all of them.
    loads: FxHashSet<Inst>,
    /// Whether that has more than four components.
    is_long: bool,
}

impl<'a> RowLoop<'a> {
    fn find(item: &'a VectorInput, l: &Loop, register: u32) -> Option<RowLoop<'a>> {
        let func = &item.func;
        let counted = Counted::find(func, l).filter(|l| l.is_straight(func))?;
        let stores_own = |i: Inst| {
            let data = &func.insts[i];
            matches!(data.op, Op::Store { .. })
                && !data.flags.contains(Flags::VOLATILE)
                && func.ty(data.args[0]).space() == Some(Space::Private)
        };
        let reads_only = |i: Inst| {
            let data = &func.insts[i];
            data.op.is_pure()
                || matches!(data.op, Op::Load { .. }) && !data.flags.contains(Flags::VOLATILE)
                || stores_own(i)
        };
        if counted.insts(func).count() > MAX_INSTS || !counted.insts(func).all(reads_only) {
            return None;
        }
        // Narrower counters than `int` may not hold the steps of several rounds.
        if func.ty(counted.bound).scalar.bits() < 32 {
            return None;
        }
        let (diverges, stores) = (item.shapes.diverges(counted.header), counted.insts(func).any(stores_own));
        let mut walk = RowLoop { item, counted, step: 0, diverges, stores, levels: Vec::new() };
        walk.step = walk.added(walk.counted.counter).filter(|&s| s > 0).map(|s| s as u64).filter(|&s| s <= MAX_STEP)?;
        walk.levels = walk.levels(register);
        (!walk.levels.is_empty()).then_some(walk)
    }

    /// In how many rounds at once something is loaded in one piece.
    fn levels(&self, register: u32) -> Vec<Level> {
        let func = &self.item.func;
        let body = &func.blocks[self.counted.body].insts;
        let bytes = |i: Inst| func.insts[i].result.map_or(0, |r| func.ty(r).bytes());
        let along: Vec<Inst> = body.iter().copied().filter(|&i| self.is_along_row(i)).collect();
        // Lanes that leave in different rounds seldom all have many to come.
        let most = if self.diverges { UNROLLED } else { u16::MAX };
        let copied = self.counted.insts(func).filter(|&i| !matches!(func.insts[i].op, Op::Const(_))).count();
        let mut levels: Vec<Level> = Vec::new();
        for rounds in [16, 8, UNROLLED, 2].into_iter().filter(|&n| n <= most) {
            let fits = |i: &Inst| bytes(*i) * u32::from(rounds) <= register && self.is_one_piece(*i, rounds);
            let loads: FxHashSet<Inst> = along.iter().copied().filter(fits).collect();
            // The first level has what it has room for; that of four rounds, what is shorter.
            let fills = loads.iter().any(|&i| bytes(i) * u32::from(rounds) == register);
            let few = rounds <= UNROLLED || copied * usize::from(rounds) <= MAX_COPIES && self.may_have(rounds);
            if !loads.is_empty() && few && (levels.is_empty() && fills || rounds == UNROLLED) {
                let is_long =
                    loads.iter().any(|&i| bytes(i) * u32::from(rounds) > u32::from(UNROLLED) * Type::I32.bytes());
                levels.push(Level { rounds, loads, is_long });
            }
        }
        levels
    }

    /// Whether nothing says that there are fewer rounds.
    fn may_have(&self, rounds: u16) -> bool {
        self.item.func.const_bits(self.counted.bound).is_none_or(|bound| bound >= u64::from(rounds) * self.step)
    }

    /// The constant that is added to parameter `k` of the header each round.
    fn added(&self, k: usize) -> Option<i64> {
        let func = &self.item.func;
        let param = func.blocks[self.counted.header].params[k];
        let data = &func.insts[func.def_inst(self.counted.next(func, k)?)?];
        match data.op {
            Op::Binary(BinOp::Add) | Op::PtrAdd if data.args[0] == param => signed_const(func, data.args[1]),
            _ => None,
        }
    }

    /// By how much a value grows each round.
    fn slope(&self, v: Value, depth: u32) -> Option<i64> {
        let func = &self.item.func;
        if !self.counted.is_inside(func, v) {
            return Some(0);
        }
        if depth == 0 {
            return None;
        }
        let inst = match func.values[v].def {
            ValueDef::Param(_, k) => return self.added(k as usize),
            ValueDef::Inst(i) => i,
        };
        let data = &func.insts[inst];
        let of = |k: usize| self.slope(data.args[k], depth - 1);
        let constant = |k: usize| signed_const(func, data.args[k]);
        match data.op {
            Op::Const(_) => Some(0),
            Op::Binary(BinOp::Add) | Op::PtrAdd => of(0)?.checked_add(of(1)?),
            Op::Binary(BinOp::Sub) => of(0)?.checked_sub(of(1)?),
            Op::Binary(BinOp::Mul) => match (constant(0), constant(1)) {
                (_, Some(c)) => of(0)?.checked_mul(c),
                (Some(c), _) => of(1)?.checked_mul(c),
                _ => (of(0)? == 0 && of(1)? == 0).then_some(0),
            },
            Op::Binary(BinOp::Shl) => of(0)?.checked_mul(1i64.checked_shl(constant(1)?.try_into().ok()?)?),
            Op::Cast(CastOp::Sext) if self.extends(data.args[0], Flags::NSW, depth) => of(0),
            Op::Cast(CastOp::Zext) if self.extends(data.args[0], Flags::NUW, depth) => of(0),
            _ => None,
        }
    }

    /// Whether a value keeps its slope when it is read as a number of more bits: the counter does, which does not pass its bound, and what
    /// is made of it and promised not to wrap.
    fn extends(&self, v: Value, promise: Flags, depth: u32) -> bool {
        let func = &self.item.func;
        if depth == 0 {
            return false;
        }
        let signed = matches!(self.counted.less, IntCc::Slt | IntCc::Sle);
        let bounded = signed == (promise == Flags::NSW);
        if !self.counted.is_inside(func, v)
            || v == func.blocks[self.counted.header].params[self.counted.counter] && bounded
        {
            return true;
        }
        func.def_inst(v).is_some_and(|i| {
            let data = &func.insts[i];
            match data.op {
                Op::Const(_) => true,
                Op::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul) => {
                    data.flags.contains(promise) && data.args.iter().all(|&a| self.extends(a, promise, depth - 1))
                }
                _ => false,
            }
        })
    }

    /// Whether an instruction loads, round after round, the elements of a row that only its lane reads.
    fn is_along_row(&self, i: Inst) -> bool {
        let func = &self.item.func;
        let data = &func.insts[i];
        let (Op::Load { .. }, Some(result)) = (&data.op, data.result) else { return false };
        let ty = func.ty(result);
        let apart = matches!(self.item.shapes.of(data.args[0]), Shape::Varying | Shape::Strided { checked: false, .. });
        // What the stores write, it does not read.
        let outside = matches!(func.ty(data.args[0]).space(), Some(Space::Global | Space::Constant | Space::Local));
        let words = matches!(ty.scalar, Scalar::F32 | Scalar::I32);
        let known = words && ty.lanes.is_power_of_two() || matches!(ty, Type::I16 | Type::I8);
        apart
            && known
            && self.item.shapes.arrays.unit(data.args[0]).is_none()
            && (outside || !self.stores)
            && self.slope(data.args[0], 12) == Some(i64::from(ty.bytes()))
    }

    /// Whether what such an instruction loads in so many rounds is a piece for each lane: those of neighbours have nothing in common.
    fn is_one_piece(&self, i: Inst, rounds: u16) -> bool {
        let func = &self.item.func;
        let data = &func.insts[i];
        let Some(ty) = data.result.map(|r| func.ty(r)) else { return false };
        let is_apart = match self.item.shapes.of(data.args[0]) {
            Shape::Strided { by, .. } => by.unsigned_abs() > u64::from(rounds) * u64::from(ty.bytes()),
            _ => true,
        };
        // Four shorter numbers are a number.
        is_apart && (ty.scalar.bits() >= 32 || rounds == UNROLLED)
    }

    /// Puts loops of several rounds before this one, or the several rounds beside the one.
    fn write(&self, func: &mut Function) {
        for level in &self.levels {
            // Each is put between the ones before and the loop as it was.
            if self.diverges { self.write_beside(func, level) } else { self.write_before(func, level) }
        }
    }

    fn write_before(&self, func: &mut Function, level: &Level) {
        let Counted { header, body, .. } = self.counted;
        let span = func.blocks[header].term_span;
        let types: Vec<Type> = func.blocks[header].params.iter().map(|&p| func.ty(p)).collect();
        let [head, rounds, rest] = std::array::from_fn(|_| func.add_block());
        for k in 0..func.layout.len() {
            let b = func.layout[k];
            if b != body {
                for e in func.blocks[b].term.edges_mut() {
                    if e.block == header {
                        e.block = head;
                    }
                }
            }
        }
        let params: Vec<Value> = types.iter().map(|&ty| func.add_block_param(head, ty)).collect();
        let mut map: FxHashMap<Value, Value> = FxHashMap::default();
        map.extend(func.blocks[header].params.iter().copied().zip(params.iter().copied()));
        Counted::copy(func, header, head, &mut map);
        let counter = params[self.counted.counter];
        let mut b = Builder::new(func, head);
        b.span = span;
        let some = b.icmp(self.counted.less, counter, self.counted.bound);
        let enough = self.enough(&mut b, counter, level.rounds);
        // The copies for vectors that are not full are short.
        let flags = if level.is_long { Flags::ASSUME_FALSE_OK } else { Flags::empty() };
        let all = b.binary_flags(BinOp::And, some, enough, flags);
        b.branch(all, rounds, rest);
        b.switch_to(rest);
        b.jump(header, &params);
        let again = self.write_rounds(func, level, rounds, &mut map);
        func.set_term(rounds, Term::Jump(Edge::new(head, again)), span);
    }

    /// Where lanes leave the loop in different rounds, all that are left decide together, and go round from one latch.
    fn write_beside(&self, func: &mut Function, level: &Level) {
        let Counted { header, body, .. } = self.counted;
        let span = func.blocks[header].term_span;
        let types: Vec<Type> = func.blocks[header].params.iter().map(|&p| func.ty(p)).collect();
        let [choice, rounds, latch] = std::array::from_fn(|_| func.add_block());
        for e in func.blocks[header].term.edges_mut() {
            if e.block == body {
                e.block = choice;
            }
        }
        for e in func.blocks[body].term.edges_mut() {
            e.block = latch;
        }
        let params: Vec<Value> = types.iter().map(|&ty| func.add_block_param(latch, ty)).collect();
        func.set_term(latch, Term::Jump(Edge::new(header, params)), span);
        let counter = func.blocks[header].params[self.counted.counter];
        let mut b = Builder::new(func, choice);
        b.span = span;
        let enough = self.enough(&mut b, counter, level.rounds);
        let (yes, none) = (b.iconst(Type::I1, 1), b.iconst(Type::I64, 0));
        let few = b.binary(BinOp::Xor, enough, yes);
        let who = b.subgroup_ballot(few);
        let all = b.icmp(IntCc::Eq, who, none);
        b.branch(all, rounds, body);
        let again = self.write_rounds(func, level, rounds, &mut FxHashMap::default());
        func.set_term(rounds, Term::Jump(Edge::new(latch, again)), span);
    }

    /// Whether so many rounds are to come, if one is.
    fn enough(&self, b: &mut Builder<'_>, counter: Value, rounds: u16) -> Value {
        let last = b.iconst(b.ty(counter), u64::from(rounds - 1) * self.step);
        let left = b.binary(BinOp::Sub, self.counted.bound, counter);
        let more = if matches!(self.counted.less, IntCc::Sle | IntCc::Ule) { IntCc::Uge } else { IntCc::Ugt };
        b.icmp(more, left, last)
    }

    /// Several rounds, with the values that `map` has for those of the first one. Gives the parameters of the next round.
    fn write_rounds(
        &self,
        func: &mut Function,
        level: &Level,
        rounds: Block,
        map: &mut FxHashMap<Value, Value>,
    ) -> Vec<Value> {
        let Counted { header, body, .. } = self.counted;
        let mut wholes = FxHashMap::default();
        for round in 0..level.rounds {
            if round > 0 {
                Counted::copy(func, header, rounds, map);
            }
            for k in 0..func.blocks[body].insts.len() {
                let i = func.blocks[body].insts[k];
                if level.loads.contains(&i) {
                    copy_load(func, i, rounds, (round, level.rounds), &mut wholes, map);
                } else {
                    copy_inst(func, i, rounds, map);
                }
            }
            let next: Vec<Value> = func.blocks[body].term.edge(0).map(|e| e.args.to_vec()).unwrap_or_default();
            let next: Vec<Value> = next.iter().map(|v| map.get(v).copied().unwrap_or(*v)).collect();
            map.extend(func.blocks[header].params.iter().copied().zip(next));
        }
        func.blocks[header].params.iter().map(|p| map[p]).collect()
    }
}

/// What one round of several has of the vector that the first of them loads.
fn copy_load(
    func: &mut Function,
    i: Inst,
    to: Block,
    (round, rounds): (u16, u16),
    wholes: &mut FxHashMap<Inst, Value>,
    map: &mut FxHashMap<Value, Value>,
) {
    let data = func.insts[i].clone();
    let (Op::Load { align }, Some(result)) = (data.op, data.result) else { return };
    let ty = func.ty(result);
    let p = map.get(&data.args[0]).copied().unwrap_or(data.args[0]);
    let mut b = Builder::new(func, to);
    b.span = data.span;
    let whole = Type::vector(ty.scalar, ty.lanes * rounds);
    let whole = *wholes.entry(i).or_insert_with(|| b.load(whole, p, align, data.flags));
    let lanes: Vec<u16> = (round * ty.lanes..(round + 1) * ty.lanes).collect();
    let part = if ty.is_vector() { b.shuffle(whole, whole, &lanes) } else { b.extract_lane(whole, round) };
    map.insert(result, part);
}
