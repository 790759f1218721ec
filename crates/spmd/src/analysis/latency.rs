//! Latency: how long an iteration waits for the one before it, and how much independent work it has meanwhile.
//!
//! In comes an analysed function; out goes, for the innermost loops, how many registers a vector can take at nearly no
//! cost in time. A sum is the plain case: each addition waits four cycles for the last one, while the machine could do
//! seven others. With more registers to a vector there are as many independent sums (interleaving, as LLVM's loop
//! vectoriser calls it). The processor overlaps iterations of short loops by itself, a few hundred instructions deep,
//! but not of long ones.
//!
//! The figures are those of today's x86 cores, within a factor that does not matter here.

use crate::analysis::pressure::words;
use crate::analysis::shape::Shape;
use crate::emit::widen::VectorInput;
use cloom_ir::loops::Loop;
use cloom_ir::{BinOp, IntCc, Op, Scalar, UnOp, Value};
use rustc_hash::FxHashMap;

/// What twice the registers may take at most to be worth their number, in quarters of the time; and where there are twice as many.
const WORTHWHILE: u32 = 6;
const WORTHWHILE_OF_PLENTY: u32 = 7;

/// What one round of a loop takes, in half cycles: two instructions begin in a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Round {
    /// From the results of the last round to those of this one.
    pub latency: u32,
    /// For each register that a value takes.
    work: u32,
}

impl Round {
    fn time(self, registers: u32) -> u32 {
        self.latency.max(self.work * registers)
    }

    /// Whether twice the registers, for twice the work-items, take at most so many quarters of the time.
    fn gains_beyond(self, registers: u32, quarters: u32) -> bool {
        4 * self.time(2 * registers) <= quarters * self.time(registers)
    }
}

/// Whether a work-item on its own would wait in the deepest loops for at least as long as it works, though its short vectors take whole
/// registers: components in registers of so many work-items have more to do meanwhile. Not where vectors come from memory or their
/// components meet, which takes longer in lanes.
pub fn waits_alone(item: &VectorInput, lanes: u32) -> bool {
    let func = &item.func;
    let loops = deepest(item);
    let computes_only = |l: &&Loop| {
        l.blocks.iter().flat_map(|&b| &func.blocks[b].insts).all(|&i| {
            let data = &func.insts[i];
            let moves = matches!(data.op, Op::Shuffle(_) | Op::Insert | Op::Extract | Op::Build);
            !moves && !matches!(data.op, Op::Load { .. } | Op::Store { .. })
        })
    };
    let waits = |l: &&Loop| {
        let round = round(item, l);
        round.latency * lanes >= 2 * round.work
    };
    !loops.is_empty() && loops.iter().all(|l| computes_only(l) && waits(l))
}

/// The deepest loops, where the time goes.
pub fn deepest(item: &VectorInput) -> Vec<&Loop> {
    let depth = item.loops.without_inner().map(|l| l.depth).max();
    item.loops.without_inner().filter(|l| Some(l.depth) == depth).collect()
}

/// Whether the deepest loops have as much to do in one register to a vector as they wait for. Then more of them gain little, and lose much
/// if they do not find room: what goes through memory in each round is waited for.
pub fn is_busy(item: &VectorInput) -> bool {
    let loops = deepest(item);
    !loops.is_empty() && loops.iter().all(|l| !leaves_apart(item, l) && !round(item, l).gains_beyond(1, WORTHWHILE))
}

/// Whether work-items leave a loop in rounds that may be far apart. Where they leave by the order of neighbours' numbers and one for all
/// (`i < n`, in the steps of a grid), that is at most one round.
fn leaves_apart(item: &VectorInput, l: &Loop) -> bool {
    let func = &item.func;
    let in_order = |cond: Value| {
        let Some(data) = func.def_inst(cond).map(|i| &func.insts[i]) else { return false };
        let shape = |k: usize| item.shapes.of(data.args[k]);
        let strided = |k: usize| matches!(shape(k), Shape::Strided { .. });
        let uniform = |k: usize| shape(k) == Shape::Uniform;
        matches!(data.op, Op::Icmp(cc) if !matches!(cc, IntCc::Eq | IntCc::Ne))
            && (strided(0) && uniform(1) || uniform(0) && strided(1))
    };
    let diverging = l.exits.iter().filter(|&&(from, _)| item.shapes.diverges(from));
    diverging.map(|&(from, _)| func.blocks[from].term.operand()).any(|cond| !cond.is_some_and(in_order))
}

/// The most registers, up to `most`, that each doubling of `least` still gains by. Loops that work-items leave in different rounds gain
/// little, because a wider vector waits for the last of more: one doubling, where there is `plenty` of registers. (Mandelbrot on AVX-512:
/// 11.4 ms with two, 9.3 with four.)
pub fn registers(item: &VectorInput, least: u32, most: u32, plenty: bool) -> u32 {
    let apart = item.loops.loops.iter().any(|l| leaves_apart(item, l));
    let most = match (apart, plenty) {
        (true, true) => most.min(2 * least),
        (true, false) => least,
        (false, _) => most,
    };
    let quarters = if plenty { WORTHWHILE_OF_PLENTY } else { WORTHWHILE };
    let all = deepest(item).into_iter().map(|l| {
        let round = round(item, l);
        let mut registers = least;
        while 2 * registers <= most && (apart || round.gains_beyond(registers, quarters)) {
            registers *= 2;
        }
        registers
    });
    all.min().unwrap_or(least)
}

/// What a round of a loop takes.
pub fn round(item: &VectorInput, l: &Loop) -> Round {
    let func = &item.func;
    let varying = |v: Value| item.shapes.of(v) == Shape::Varying;
    // When a value is there, after the round's beginning; what does not wait for the last round is not in it.
    let mut since: FxHashMap<Value, u32> = FxHashMap::default();
    since.extend(func.blocks[l.header].params.iter().filter(|&&p| varying(p)).map(|&p| (p, 0)));
    let mut round = Round::default();
    for &b in &l.blocks {
        for &i in &func.blocks[b].insts {
            let data = &func.insts[i];
            let Some(r) = data.result.filter(|&r| varying(r)) else {
                round.work += 2 * u32::from(matches!(data.op, Op::Store { .. }));
                continue;
            };
            let (latency, work) = cost(item, &data.op, data.args.first().copied(), r);
            round.work += work;
            if let Some(begin) = data.args.iter().filter_map(|a| since.get(a)).max() {
                since.insert(r, begin + latency);
            }
        }
        for e in func.blocks[b].term.edges() {
            let into_loop = l.blocks.contains(&e.block);
            for (&p, a) in func.blocks[e.block].params.iter().zip(&e.args).filter(|_| into_loop) {
                let Some(&end) = since.get(a) else { continue };
                if e.block == l.header {
                    round.latency = round.latency.max(end);
                } else {
                    let known = since.entry(p).or_default();
                    *known = end.max(*known);
                }
            }
        }
    }
    round
}

/// Half cycles until the result is there, and until as many units are free again.
fn cost(item: &VectorInput, op: &Op, first: Option<Value>, result: Value) -> (u32, u32) {
    let ty = item.func.ty(result);
    let is_float = matches!(ty.scalar, Scalar::F16 | Scalar::F32 | Scalar::F64);
    let (latency, work) = match op {
        Op::Const(_) | Op::Splat | Op::Build | Op::Extract | Op::Insert | Op::Shuffle(_) => (0, 0),
        Op::Binary(BinOp::Fdiv) | Op::Unary(UnOp::Sqrt) => (26, 10),
        Op::Binary(op) if is_integer_division(*op) => (60, 60),
        Op::Binary(BinOp::Mul) | Op::Fma => (8, 1),
        Op::Binary(_) | Op::Unary(_) if is_float => (8, 1),
        Op::Cast(_) => (8, 1),
        // A vector, or each lane for itself.
        Op::Load { .. } => match first.map(|address| item.shapes.of(address)) {
            Some(Shape::Varying) => (40, 16),
            _ => (12, 2),
        },
        _ => (2, 1),
    };
    (latency, work * words(ty))
}

fn is_integer_division(op: BinOp) -> bool {
    matches!(op, BinOp::Udiv | BinOp::Sdiv | BinOp::Urem | BinOp::Srem)
}
