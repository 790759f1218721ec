//! Full unrolling of loops with a constant trip count: those that index a small private array, products of tiles in
//! local memory, and short ones on short vectors or on consecutive memory.
//!
//! Array indices become constants, so that [`crate::mem2reg`] can keep the elements in registers; in memory, a
//! vectorised array access is a strided one. For a few iterations on short vectors (the rows of a neighbourhood, say)
//! the loop control costs as much as the body. A few iterations over consecutive memory access the components of a
//! record, which the vectoriser accesses together once their offsets are constants. Other loops stay: copies take time
//! to compile and gain little; `cloom_spmd` strip-mines scalar loops along rows itself.
//!
//! Innermost loops first; a loop around them may follow once they are gone. If the inner trip count depends on the
//! outer counter, as when an array is sorted, the outer loop goes first. The header's test must be the only exit, so
//! that values used after the loop are those of the last test. The trip count is found by constant evaluation,
//! iteration by iteration.

use super::full_unroll::{Known, count, join_latches, unroll};
use crate::pass::{Pass, RunOthers};
use crate::{fold, redundant_params, simplify_cfg};
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::{Loop, Loops};
use cloom_ir::{Entity, Function, Op, Space, Value};

/// The pass.
pub const PASS: Pass = Pass::with("unroll", "short counted loops over small private arrays", run);

/// The largest trip count.
const MAX_TRIPS: usize = 16;
/// The most instructions that a loop becomes.
const SIZE: usize = 400;
/// The most instructions that a loop becomes with one inside it.
const NEST_SIZE: usize = 1600;
/// The largest trip count of a loop on short vectors or consecutive memory, and the most instructions that it becomes.
/// (The eight neighbours of a byte, each checked to be inside of the picture, are over 240 with `int` indices, which
/// are compared with zero too. On AVX-512: 0.35 ms instead of 0.64 in a loop.)
const MAX_SHORT_TRIPS: usize = 4;
const SMALL_SIZE: usize = 360;
/// Bits of a short vector that fills a register.
const VECTOR: u32 = 128;
/// The most instructions added to a function.
const GROWTH: usize = 2_000;
/// Bytes of an array whose elements, vectorised, about fit in the registers. (A window of fifteen floats that rolls
/// down an image, in registers against memory: 2.8 times as fast on AVX-512, 2.7 on AVX2, which has sixteen.)
const ARRAY: u64 = 64;

/// Runs the pass. Returns how often it changed something.
pub fn run(func: &mut Function, others: &RunOthers<'_>) -> usize {
    // Only loops with one latch can be counted and copied.
    let mut changed = join_latches(func, |func, l| leaves_at_header(l) && indexed(func, l) == Indexed::Array);
    let mut growth = 0;
    loop {
        let cfg = Cfg::new(func);
        let dom = DomTree::new(func, &cfg);
        let loops = Loops::new(func, &cfg, &dom);
        let before = changed;
        for l in loops.without_inner() {
            // Innermost loops share no block, so that unrolling one leaves the others as the analysis found them.
            let memory = indexed(func, l);
            let around = l.parent.map(|p| &loops.loops[p]).filter(|_| memory == Indexed::Array);
            if let Some(around) = around
                && let Some((trips, size)) = nest(func, &cfg, &loops, around, l)
            {
                if growth + size <= GROWTH {
                    growth += size;
                    unroll(func, around, around.header, trips);
                    // The inner loops' bounds are constants after this. The loop analysis is stale.
                    others(func, &[redundant_params::PASS, fold::PASS]);
                    changed += 1;
                    break;
                }
                continue;
            }
            // The first reason that holds decides how long the copies may get; a loop without a reason stays.
            let (most, size_of_all) = match () {
                () if memory == Indexed::Array => (MAX_TRIPS, SIZE),
                () if reads_tiles(func, l) => (MAX_TRIPS, SIZE),
                () if works_on_vectors(func, l) || memory == Indexed::Memory => (MAX_SHORT_TRIPS, SMALL_SIZE),
                () => continue,
            };
            let size = size(func, l);
            let trips = trip_count(func, &cfg, l).filter(|&r| r <= most && size * r <= size_of_all);
            let Some(trips) = trips else { continue };
            if growth + size * trips <= GROWTH {
                growth += size * trips;
                unroll(func, l, l.header, trips);
                changed += 1;
            }
        }
        // Another round, as a loop whose inner loops are gone is an innermost one now.
        if changed == before {
            break;
        }
    }
    if changed > 0 {
        // Indices that depended on the counter are constants after this.
        others(func, &[redundant_params::PASS, simplify_cfg::PASS, fold::PASS]);
    }
    changed
}

/// Whether the header is the loop's only exiting block.
fn leaves_at_header(l: &Loop) -> bool {
    l.exits.len() == 1 && l.exits[0].0 == l.header
}

/// Instructions and blocks of a loop.
fn size(func: &Function, l: &Loop) -> usize {
    l.blocks.iter().map(|&b| func.blocks[b].insts.len() + 1).sum()
}

/// The trip count of a loop around another one whose trip count is known only in each iteration, as in sorting; and the
/// unrolled size.
fn nest(func: &Function, cfg: &Cfg, loops: &Loops, around: &Loop, l: &Loop) -> Option<(usize, usize)> {
    // Two headers are that of the outer loop and that of `l`: there is no third loop.
    let only = loops.loops.iter().filter(|other| around.blocks.contains(&other.header)).count() == 2;
    if !only || trip_count(func, cfg, l).is_some() {
        return None;
    }
    if !leaves_at_header(l) || !leaves_at_header(around) {
        return None;
    }
    // Each iteration of the outer loop is evaluated, and in each the inner one with what is known there: the number of
    // inner iterations is a sum, `n·(n - 1)/2` in a sort, not a product.
    let (mut inner, mut counted) = (0, true);
    let trips = count(func, cfg, (around, around.header), MAX_TRIPS, Known::default(), &mut |known| match count(
        func,
        cfg,
        (l, l.header),
        MAX_TRIPS,
        known.clone(),
        &mut |_| {},
    ) {
        Some(trips) => inner += trips,
        None => counted = false,
    })?;
    let (inside, all) = (size(func, l), size(func, around));
    let becomes = inner * inside + trips * (all - inside);
    // The growth is that of the outer loop's copies. The inner loops in them count when their own turn comes.
    (counted && becomes <= NEST_SIZE).then_some((trips, trips * all))
}

/// Whether at least a third of a loop is done on short vectors as long as a register.
fn works_on_vectors(func: &Function, l: &Loop) -> bool {
    let is_long = |v: Value| {
        let ty = func.ty(v);
        ty.is_vector() && 8 * ty.bytes() >= VECTOR
    };
    let insts = || func.insts_in(&l.blocks);
    let on_vectors = insts().filter(|(_, data)| data.result.iter().chain(&data.args).any(|&v| is_long(v))).count();
    on_vectors > 0 && 3 * on_vectors >= insts().count()
}

/// Whether a loop does little but load floats from local memory, as in the product of two tiles: two loads and one
/// operation in an iteration, whose address computations and test take as long. (Matrices in tiles of 16 by 16, on
/// AVX-512: 0.80 ms instead of 0.95.)
fn reads_tiles(func: &Function, l: &Loop) -> bool {
    let (mut loads, mut rest) = (0, 0);
    for (_, data) in func.insts_in(&l.blocks) {
        match data.op {
            Op::Load { .. } if func.ty(data.args[0]).space() == Some(Space::Local) => loads += 1,
            Op::Unary(_) | Op::Binary(_) | Op::Fma if data.result.is_some_and(|r| func.ty(r).is_float()) => rest += 1,
            // Of addresses.
            _ if data.op.is_pure() => {}
            _ => return false,
        }
    }
    // A header and a body without branches.
    l.blocks.len() == 2 && rest > 0 && rest <= loads
}

/// The memory that a loop accesses at addresses that change from iteration to iteration.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Indexed {
    /// Nothing, or private arrays that are not small.
    Nothing,
    /// Memory outside of the work-item.
    Memory,
    /// A small private array, perhaps with other memory.
    Array,
}

/// What a loop indexes; a small array counts most.
fn indexed(func: &Function, l: &Loop) -> Indexed {
    let mut own = vec![false; func.values.len()];
    func.blocks[l.header].params.iter().for_each(|p| own[p.index()] = true);
    let mut indexed = Indexed::Nothing;
    for (_, data) in func.insts_in(&l.blocks) {
        if let Some(r) = data.result {
            // Blocks are in reverse postorder, so operands are known. Parameters of other blocks than the header count
            // as invariant.
            own[r.index()] = data.args.iter().any(|a| own[a.index()]);
        }
        if !matches!(data.op, Op::Load { .. } | Op::Store { .. }) || !own[data.args[0].index()] {
            continue;
        }
        let mut p = data.args[0];
        if func.ty(p).space() != Some(Space::Private) {
            indexed = Indexed::Memory;
            continue;
        }
        while let Some(at) = func.def_inst(p) {
            match func.insts[at].op {
                Op::PtrAdd => p = func.insts[at].args[0],
                Op::Alloca { size, .. } => {
                    if size <= ARRAY {
                        return Indexed::Array;
                    }
                    break;
                }
                _ => break,
            }
        }
    }
    indexed
}

/// The trip count of a loop, if its header is the only exiting block and constants decide it.
fn trip_count(func: &Function, cfg: &Cfg, l: &Loop) -> Option<usize> {
    leaves_at_header(l).then(|| count(func, cfg, (l, l.header), MAX_TRIPS, Known::default(), &mut |_| {})).flatten()
}
