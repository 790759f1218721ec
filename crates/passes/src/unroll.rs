//! Unrolling: a loop whose rounds can be counted, and which walks along a small private array, or does a few rounds on
//! short vectors or along memory, becomes its rounds one after the other.
//!
//! The places in the array are then known, and [`crate::mem2reg`] makes values of them: in lanes an array is memory,
//! in which the lanes of an element lie apart, while values are registers. A few rounds on short vectors, the rows of
//! a neighbourhood say, take about as long as counting them and telling the first and the last one. A few rounds along
//! memory read or write the components of a record, which lanes do together once their places are known. Other loops
//! stay, for copies cost time to compile and are worth little otherwise; those on numbers may walk along rows, several
//! rounds of which `cloom_spmd` does at once.
//!
//! Innermost loops first; a loop around them may follow once they are gone. If the inner one has as many rounds as the
//! outer one's counter says, as where an array is sorted, the outer one goes first. The only way out is the header's
//! test, so that what is used after the loop is what the last test had. The number of rounds is found by computing
//! what follows from constants, round by round.

use crate::fold;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::{Loop, Loops};
use cloom_ir::{Block, CloneMap, Edge, Entity, Function, Op, Space, Term, Value};
use rustc_hash::FxHashMap;

/// The most rounds.
const ROUNDS: usize = 16;
/// The most instructions that a loop becomes.
const SIZE: usize = 400;
/// The most instructions that a loop becomes with one inside it.
const NEST_SIZE: usize = 1600;
/// The most rounds of a loop on short vectors, and the most instructions that it becomes.
const FEW_ROUNDS: usize = 4;
const SMALL_SIZE: usize = 240;
/// Bits of a short vector that fills a register.
const VECTOR: u32 = 128;
/// The most that is added to a function.
const GROWTH: usize = 2_000;
/// Bytes of an array whose elements still find room in the registers of the lanes, or nearly. (A window of fifteen
/// floats that rolls down an image, in registers against memory: 2.8 times as fast on AVX-512, 2.7 on AVX2, which has
/// sixteen.)
const ARRAY: u64 = 64;

/// Runs the pass. Returns how often it changed something.
pub fn run(func: &mut Function) -> usize {
    let mut changed = join_latches(func);
    let mut growth = 0;
    loop {
        let cfg = Cfg::new(func);
        let dom = DomTree::new(func, &cfg);
        let loops = Loops::new(func, &cfg, &dom);
        let before = changed;
        for l in loops.without_inner() {
            let walk = walk(func, l);
            let around = l.parent.map(|p| &loops.loops[p]).filter(|_| walk == Walk::Array);
            if let Some(around) = around
                && let Some((rounds, size)) = nest(func, &cfg, &loops, around, l)
            {
                if growth + size <= GROWTH {
                    growth += size;
                    unroll(func, around, rounds);
                    // The inner loops' limits are numbers after this. What is known of the loops is not true any more.
                    crate::redundant_params::run(func);
                    fold::run(func);
                    changed += 1;
                    break;
                }
                continue;
            }
            let (most, size_of_all) = match () {
                () if walk == Walk::Array => (ROUNDS, SIZE),
                () if works_on_vectors(func, l) || walk == Walk::Memory => (FEW_ROUNDS, SMALL_SIZE),
                () => continue,
            };
            let size = size(func, l);
            let rounds = rounds(func, &cfg, l).filter(|&r| r <= most && size * r <= size_of_all);
            let Some(rounds) = rounds else { continue };
            if growth + size * rounds <= GROWTH {
                growth += size * rounds;
                unroll(func, l, rounds);
                changed += 1;
            }
        }
        if changed == before {
            break;
        }
    }
    if changed > 0 {
        // The places that were indices of rounds are numbers after this.
        crate::redundant_params::run(func);
        crate::simplify_cfg::run(func);
        fold::run(func);
    }
    changed
}

/// Leads all ways back to the headers of loops that walk through a block of their own, if there are several, as behind
/// an `if` at the end: a round is copied with one end. Returns how many there were.
fn join_latches(func: &mut Function) -> usize {
    let cfg = Cfg::new(func);
    let loops = Loops::new(func, &cfg, &DomTree::new(func, &cfg));
    let several: Vec<&Loop> = loops.loops.iter().filter(|l| l.latches.len() > 1 && leaves_at_header(l)).collect();
    let walking: Vec<&Loop> = several.into_iter().filter(|l| walk(func, l) == Walk::Array).collect();
    for l in &walking {
        let back = |func: &Function| -> Vec<Edge> {
            let edges = l.latches.iter().flat_map(|&b| func.blocks[b].term.edges());
            edges.filter(|e| e.block == l.header).cloned().collect()
        };
        let edges = back(func);
        let Some((first, rest)) = edges.split_first() else { continue };
        let differs: Vec<bool> =
            (0..first.args.len()).map(|k| rest.iter().any(|e| e.args[k] != first.args[k])).collect();
        let end = func.add_loose_block();
        let mut args = first.args.clone();
        for (k, arg) in args.iter_mut().enumerate().filter(|(k, _)| differs[*k]) {
            let ty = func.ty(first.args[k]);
            *arg = func.add_block_param(end, ty);
        }
        for &b in &l.latches {
            for e in func.blocks[b].term.edges_mut().into_iter().filter(|e| e.block == l.header) {
                let passed = e.args.iter().zip(&differs).filter(|&(_, &differs)| differs).map(|(&a, _)| a);
                *e = Edge::new(end, passed.collect::<Vec<_>>());
            }
        }
        func.set_term(end, Term::Jump(Edge::new(l.header, args)), cloom_ir::Span::NONE);
        let last = l.blocks.iter().filter_map(|b| func.layout.iter().position(|x| x == b)).max();
        func.layout.insert(last.map_or(func.layout.len(), |at| at + 1), end);
    }
    walking.len()
}

/// Whether the header is a loop's only way out.
fn leaves_at_header(l: &Loop) -> bool {
    l.exits.len() == 1 && l.exits[0].0 == l.header
}

/// Instructions and blocks of a loop.
fn size(func: &Function, l: &Loop) -> usize {
    l.blocks.iter().map(|&b| func.blocks[b].insts.len() + 1).sum()
}

/// The rounds of a loop around another one, whose rounds in turn are only known in each of them, as in sorting; and
/// what it becomes.
fn nest(func: &Function, cfg: &Cfg, loops: &Loops, around: &Loop, l: &Loop) -> Option<(usize, usize)> {
    let only = loops.loops.iter().filter(|other| around.blocks.contains(&other.header)).count() == 2;
    if !only || rounds(func, cfg, l).is_some() {
        return None;
    }
    let (mut inner, mut counted) = (0, true);
    let rounds = count(func, cfg, around, FxHashMap::default(), &mut |known| match count(
        func,
        cfg,
        l,
        known.clone(),
        &mut |_| {},
    ) {
        Some(rounds) => inner += rounds,
        None => counted = false,
    })?;
    let (inside, all) = (size(func, l), size(func, around));
    let becomes = inner * inside + rounds * (all - inside);
    (counted && becomes <= NEST_SIZE).then_some((rounds, rounds * all))
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

/// What a loop accesses at places that differ from round to round.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Walk {
    /// Nothing, or private arrays that are not small.
    Nothing,
    /// Memory outside of the work-item.
    Memory,
    /// A small private array, perhaps beside other memory.
    Array,
}

/// What a loop accesses so.
fn walk(func: &Function, l: &Loop) -> Walk {
    let mut own = vec![false; func.values.len()];
    func.blocks[l.header].params.iter().for_each(|p| own[p.index()] = true);
    let mut walk = Walk::Nothing;
    for (_, data) in func.insts_in(&l.blocks) {
        if let Some(r) = data.result {
            own[r.index()] = data.args.iter().any(|a| own[a.index()]);
        }
        if !matches!(data.op, Op::Load { .. } | Op::Store { .. }) || !own[data.args[0].index()] {
            continue;
        }
        let mut p = data.args[0];
        if func.ty(p).space() != Some(Space::Private) {
            walk = Walk::Memory;
            continue;
        }
        while let Some(at) = func.def_inst(p) {
            match func.insts[at].op {
                Op::PtrAdd => p = func.insts[at].args[0],
                Op::Alloca { size, .. } => {
                    if size <= ARRAY {
                        return Walk::Array;
                    }
                    break;
                }
                _ => break,
            }
        }
    }
    walk
}

/// How many rounds a loop has, if its header is the only way out and constants alone decide.
fn rounds(func: &Function, cfg: &Cfg, l: &Loop) -> Option<usize> {
    count(func, cfg, l, FxHashMap::default(), &mut |_| {})
}

/// The same for a loop around which some values are known. Calls `each` with what is known in each round.
fn count(
    func: &Function,
    cfg: &Cfg,
    l: &Loop,
    outside: FxHashMap<Value, u64>,
    each: &mut dyn FnMut(&FxHashMap<Value, u64>),
) -> Option<usize> {
    let &[latch] = l.latches.as_slice() else { return None };
    if !leaves_at_header(l) {
        return None;
    }
    if func.insts_in(&l.blocks).any(|(_, data)| matches!(data.op, Op::Alloca { .. })) {
        return None;
    }
    let Term::Branch { cond, then, els } = &func.blocks[l.header].term else { return None };
    let inside = |b: Block| l.blocks.contains(&b);
    let stays = match (inside(then.block), inside(els.block)) {
        (true, false) => 1,
        (false, true) => 0,
        _ => return None,
    };
    let edges_to_header = |from: Block| {
        let edges = func.blocks[from].term.edges();
        edges.into_iter().filter(|e| e.block == l.header).cloned().collect::<Vec<_>>()
    };
    let before: Vec<_> =
        cfg.preds(l.header).iter().filter(|&&p| !inside(p)).flat_map(|&p| edges_to_header(p)).collect();
    let after = edges_to_header(latch);
    let ([first], [next]) = (before.as_slice(), after.as_slice()) else { return None };
    let params = &func.blocks[l.header].params;
    let constant = |known: &FxHashMap<Value, u64>, v: Value| known.get(&v).copied().or_else(|| func.const_bits(v));
    let mut known = outside.clone();
    known.extend(params.iter().zip(&first.args).filter_map(|(&p, &a)| Some((p, constant(&outside, a)?))));
    for round in 0..=ROUNDS {
        // What a block computes from constants is the same on every way to it.
        for (_, data) in func.insts_in(&l.blocks) {
            let Some(r) = data.result.filter(|&r| !func.ty(r).is_vector() && !data.args.is_empty()) else { continue };
            let args: Option<Vec<u64>> = data.args.iter().map(|&a| constant(&known, a)).collect();
            let bits = args.and_then(|args| fold::lane(&data.op, func.ty(data.args[0]), func.ty(r), &args));
            known.extend(bits.map(|b| (r, b & func.ty(r).scalar.mask())));
        }
        if constant(&known, *cond)? != stays {
            return Some(round);
        }
        each(&known);
        let values: Vec<_> = params.iter().zip(&next.args).map(|(&p, &a)| (p, constant(&known, a))).collect();
        known = outside.clone();
        known.extend(values.into_iter().filter_map(|(p, bits)| Some((p, bits?))));
    }
    None
}

/// Writes the rounds one after the other. The blocks of the loop are the first round.
fn unroll(func: &mut Function, l: &Loop, rounds: usize) {
    if rounds == 0 {
        let exit = func.blocks[l.header].term.edges().into_iter().find(|e| !l.blocks.contains(&e.block)).cloned();
        exit.into_iter().for_each(|exit| func.set_term(l.header, Term::Jump(exit), cloom_ir::Span::NONE));
        return;
    }
    let blocks = l.blocks.clone();
    // Behind the loop, so that the text defines before it uses.
    let in_order = blocks.iter().filter_map(|b| func.layout.iter().position(|x| x == b)).max().unwrap_or(0);
    let params = func.blocks[l.header].params.clone();
    let Some(&latch) = l.latches.first() else { return };
    let exit = func.blocks[l.header].term.edges().into_iter().find(|e| !blocks.contains(&e.block)).cloned();
    let next = func.blocks[latch].term.edges().into_iter().find(|e| e.block == l.header).cloned();
    let (Some(exit), Some(next)) = (exit, next) else { return };
    // What the values and blocks of the loop are in each round: in the first one, they themselves; of the last one
    // there is the header alone.
    let mut maps = vec![CloneMap::default()];
    let mut new = Vec::new();
    for round in 1..=rounds {
        let before = &maps[round - 1];
        let begin = next.args.iter().map(|&a| before.value(a)).collect::<Vec<_>>();
        let mut map = CloneMap::new(params.iter().copied().zip(begin));
        new.extend(map.clone_blocks(func, if round == rounds { &blocks[..1] } else { &blocks }));
        maps.push(map);
    }
    for (round, after) in maps.iter().zip(&maps[1..]) {
        let header = round.block(l.header);
        for e in func.blocks[round.block(latch)].term.edges_mut().into_iter().filter(|e| e.block == header) {
            *e = Edge::new(after.block(l.header), []);
        }
        // No round but the last one leaves.
        let stay = func.blocks[header].term.edges().into_iter().find(|e| e.block != exit.block).cloned();
        stay.into_iter().for_each(|stay| func.set_term(header, Term::Jump(stay), cloom_ir::Span::NONE));
    }
    let last = &maps[rounds];
    func.set_term(last.block(l.header), last.term(&Term::Jump(exit)), cloom_ir::Span::NONE);
    // What is used after the loop is what the last header had.
    let old: Vec<Block> = func.layout.iter().copied().filter(|b| !blocks.contains(b)).collect();
    for b in old {
        for k in 0..func.blocks[b].insts.len() {
            let i = func.blocks[b].insts[k];
            func.insts[i].args.iter_mut().for_each(|a| *a = last.value(*a));
        }
        func.blocks[b].term.map_uses(|v| last.value(v));
    }
    func.layout.splice(in_order + 1..in_order + 1, new);
}
