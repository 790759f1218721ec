//! Latency of loops: how long an iteration waits for the previous one, and how much independent work it has
//! meanwhile.
//!
//! In comes an analysed function; out goes, for the innermost loops, how many registers per vector gain throughput.
//! The plain case is a sum: each addition waits four cycles for the previous one, while the core could do seven
//! others. With more registers per vector there are as many independent sums (interleaving, in terms of LLVM's loop
//! vectoriser). Out-of-order execution overlaps the iterations of short loops by itself, a few hundred instructions
//! deep, but not of long ones.
//!
//! Latencies and costs are those of recent x86 cores; a factor of two would not matter here.

use crate::analysis::input::VectorInput;
use crate::analysis::op_class::{OpClass, class};
use crate::analysis::pressure::words;
use crate::analysis::shape::Shape;
use cloom_ir::loops::Loop;
use cloom_ir::{IntCc, Op, Scalar, Value};
use rustc_hash::FxHashMap;

/// Doubling the registers per vector is worthwhile if an iteration then takes at most so many quarters of the time:
/// with 16 vector registers, and with 32.
const WORTHWHILE: u32 = 6;
const WORTHWHILE_WITH_32: u32 = 7;

/// The time of one iteration of a loop, in half cycles: the core issues two instructions per cycle.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Iteration {
    /// The longest path from a loop-carried value to its next value.
    pub latency: u32,
    /// The issue time of all instructions, for each register per vector.
    work: u32,
}

impl Iteration {
    fn time(self, registers: u32) -> u32 {
        self.latency.max(self.work * registers)
    }

    /// Whether doubling `registers`, for twice the work-items, takes at most `quarters` quarters of the time.
    fn gains_by_doubling(self, registers: u32, quarters: u32) -> bool {
        4 * self.time(2 * registers) <= quarters * self.time(registers)
    }
}

/// Whether scalar code would be bound by latency in the deepest loops, although its short vectors fill registers:
/// vectors of `lanes` work-items then have more independent work. Not in loops that load or store or that shuffle
/// components, which is slower in vector code.
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
        let iteration = iteration(item, l);
        iteration.latency * lanes >= 2 * iteration.work
    };
    // All of them: one loop that scalar code does as well would lose.
    !loops.is_empty() && loops.iter().all(|l| computes_only(l) && waits(l))
}

/// The most deeply nested loops, where most time is spent.
pub fn deepest(item: &VectorInput) -> Vec<&Loop> {
    let depth = item.loops.without_inner().map(|l| l.depth).max();
    item.loops.without_inner().filter(|l| Some(l.depth) == depth).collect()
}

/// Whether the deepest loops are bound by throughput with one register per vector. More registers then gain little,
/// and lose much if they cause spills: a reload in a recurrence adds to its latency.
pub fn is_busy(item: &VectorInput) -> bool {
    let loops = deepest(item);
    !loops.is_empty()
        && loops.iter().all(|l| !exits_spread(item, l) && !iteration(item, l).gains_by_doubling(1, WORTHWHILE))
}

/// Whether lanes may leave a loop in iterations far apart. Where the exit is an ordered comparison of a strided with
/// a uniform value (`i < n` in a grid-stride loop), they leave within one iteration of each other.
fn exits_spread(item: &VectorInput, l: &Loop) -> bool {
    let func = &item.func;
    let is_strided_compare = |cond: Value| {
        let Some(data) = func.def_inst(cond).map(|i| &func.insts[i]) else { return false };
        let shape = |k: usize| item.shapes.of(data.args[k]);
        let strided = |k: usize| matches!(shape(k), Shape::Strided { .. });
        let uniform = |k: usize| shape(k) == Shape::Uniform;
        matches!(data.op, Op::Icmp(cc) if !matches!(cc, IntCc::Eq | IntCc::Ne))
            && (strided(0) && uniform(1) || uniform(0) && strided(1))
    };
    let diverging = l.exits.iter().filter(|&&(from, _)| item.shapes.diverges(from));
    diverging.map(|&(from, _)| func.blocks[from].term.operand()).any(|cond| !cond.is_some_and(is_strided_compare))
}

/// The number of registers per vector: `least`, doubled up to `most` as long as that gains throughput. If lanes leave
/// loops in iterations far apart, more gains little, because a wider vector waits for the last of more lanes: one
/// doubling, if `plenty` (there are 32 registers). (Mandelbrot on AVX-512: 11.4 ms with two registers, 9.3 with
/// four.)
pub fn registers(item: &VectorInput, least: u32, most: u32, plenty: bool) -> u32 {
    // Any loop, not only the deepest ones: an outer loop whose lanes leave at different times keeps all of them busy,
    // too.
    let spread = item.loops.loops.iter().any(|l| exits_spread(item, l));
    let most = match (spread, plenty) {
        (true, true) => most.min(2 * least),
        (true, false) => least,
        (false, _) => most,
    };
    let quarters = if plenty { WORTHWHILE_WITH_32 } else { WORTHWHILE };
    let useful = deepest(item).into_iter().map(|l| {
        let iteration = iteration(item, l);
        let mut registers = least;
        while 2 * registers <= most && (spread || iteration.gains_by_doubling(registers, quarters)) {
            registers *= 2;
        }
        registers
    });
    // The loop that gains least decides.
    useful.min().unwrap_or(least)
}

/// The time of one iteration of a loop.
pub fn iteration(item: &VectorInput, l: &Loop) -> Iteration {
    let func = &item.func;
    let varying = |v: Value| item.shapes.of(v) == Shape::Varying;
    // The time at which a value is ready after the start of the iteration, for values that depend on loop-carried
    // ones.
    let mut ready: FxHashMap<Value, u32> = FxHashMap::default();
    // A path begins at what the previous iteration carried over.
    ready.extend(func.blocks[l.header].params.iter().filter(|&&p| varying(p)).map(|&p| (p, 0)));
    let mut iteration = Iteration::default();
    for &b in &l.blocks {
        for &i in &func.blocks[b].insts {
            let data = &func.insts[i];
            let Some(r) = data.result.filter(|&r| varying(r)) else {
                // Uniform and strided values are scalars in vector code, and are left out. A store has no result, but
                // is work.
                iteration.work += 2 * u32::from(matches!(data.op, Op::Store { .. }));
                continue;
            };
            let (latency, work) = cost(item, &data.op, data.args.first().copied(), r);
            iteration.work += work;
            // What depends on no carried value may be computed ahead.
            if let Some(start) = data.args.iter().filter_map(|a| ready.get(a)).max() {
                ready.insert(r, start + latency);
            }
        }
        for e in func.blocks[b].term.edges() {
            let into_loop = l.blocks.contains(&e.block);
            for (&p, a) in func.blocks[e.block].params.iter().zip(&e.args).filter(|_| into_loop) {
                let Some(&end) = ready.get(a) else { continue };
                if e.block == l.header {
                    iteration.latency = iteration.latency.max(end);
                } else {
                    let latest = ready.entry(p).or_default();
                    *latest = end.max(*latest);
                }
            }
        }
    }
    iteration
}

/// Latency and issue time of an operation, in half cycles.
fn cost(item: &VectorInput, op: &Op, first: Option<Value>, result: Value) -> (u32, u32) {
    let ty = item.func.ty(result);
    let is_float = matches!(ty.scalar, Scalar::F16 | Scalar::F32 | Scalar::F64);
    let (latency, work) = match class(op) {
        OpClass::Constant | OpClass::Shuffle => (0, 0),
        OpClass::FloatDivision => (26, 10),
        OpClass::IntegerDivision => (60, 60),
        OpClass::Multiply | OpClass::Conversion => (8, 1),
        OpClass::Simple | OpClass::Unary if is_float && matches!(op, Op::Binary(_) | Op::Unary(_)) => (8, 1),
        // A gather or lane-by-lane load, or a vector load.
        OpClass::Access => match first.map(|address| item.shapes.of(address)) {
            Some(Shape::Varying) => (40, 16),
            _ => (12, 2),
        },
        // What calls and the like take is not known; they are rare in such loops.
        OpClass::Simple
        | OpClass::Unary
        | OpClass::VectorAccess
        | OpClass::Copy
        | OpClass::AtomicAccess
        | OpClass::AtomicUpdate
        | OpClass::Call
        | OpClass::PureCall
        | OpClass::Print
        | OpClass::Sample
        | OpClass::Subgroup
        | OpClass::Order => (2, 1),
    };
    // Halves are computed as floats: operands and results are converted.
    let converted = ty.scalar == Scalar::F16 && matches!(op, Op::Binary(_) | Op::Unary(_) | Op::Fma);
    let (latency, work) = if converted { (latency + 24, work + 4) } else { (latency, work) };
    (latency, work * words(ty))
}
