//! Carried arrays: private arrays whose elements are values while a barrier is waited for.
//!
//! In comes a kernel that was split at its barriers; out goes the same kernel, in which small private arrays that live
//! across barriers are loaded element by element in front of each barrier and stored again behind it:
//!
//! ```text
//! acc[j] += a * b[j];              acc[j] += a * b[j];
//! barrier();                ─▶     x0 = acc[0];  x1 = acc[1];  …
//! acc[j] += …                      barrier();
//!                                  acc[0] = x0;  acc[1] = x1;  …
//!                                  acc[j] += …
//! ```
//!
//! The array itself then lives in one continuation at a time, so that each of them has one of its own. There it is laid
//! out by unit, or becomes SSA values where its indices are constants, as any other array; and its elements are
//! ordinary values of the frame, of which consecutive work-items are contiguous. Kept in the frame as it is, an array
//! would be whole objects one after the other, and an element of all lanes would be in as many cache lines as there
//! are lanes. (A product of matrices of 384 by 384 floats, blocks of 4 by 4, on AVX-512: 0.4 ms instead of 19.)
//!
//! An array of which nothing is read behind a barrier needs no copies, but is one of a continuation too.
//!
//! What the compiler does not see through stays in the frame: addresses that are passed on or live across a barrier
//! themselves, accesses of several sizes, and large arrays that are read behind a barrier.

use crate::split::continuations::{Barrier, rematerialisable};
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{Block, Builder, Entity, Flags, Function, Op, Type, Value};

/// The most elements of one that is copied: each is loaded and stored at each barrier.
const MAX_ELEMENTS: u64 = 64;

/// How often an access inside of a loop without barriers is taken to run.
const TRIPS: u64 = 16;

/// An array that is carried.
struct Candidate {
    array: Value,
    /// The addresses into it, the array's own first.
    addresses: Vec<Value>,
    /// What is accessed.
    element: Type,
    elements: u64,
}

/// What was found.
#[derive(Default)]
pub struct Carried {
    /// The arrays that do not live across a barrier, or do so no longer.
    pub arrays: Vec<Value>,
    /// Whether elements are copied.
    pub copies: bool,
}

/// Runs the pass.
pub fn run(func: &mut Function, barriers: &[Barrier]) -> Carried {
    let mut carried = Carried::default();
    let cfg = Cfg::new(func);
    let barriers: Vec<Barrier> = barriers.iter().copied().filter(|b| cfg.is_reachable(b.before)).collect();
    if barriers.is_empty() {
        return carried;
    }
    // Those of the entry block, which dominates all barriers.
    let arrays: Vec<Value> = func
        .insts_in(&[func.entry()])
        .filter_map(|(_, data)| data.result.filter(|_| matches!(data.op, Op::Alloca { .. })))
        .collect();
    let candidates: Vec<Candidate> = arrays.into_iter().filter_map(|array| Candidate::of(func, array)).collect();
    if candidates.is_empty() {
        return carried;
    }
    let roots: Vec<Value> = candidates.iter().map(|c| c.array).collect();
    // An address that is computed again behind the barrier does not live across it.
    let cheap = rematerialisable(func, &cfg, &roots);
    let starts: Vec<Block> = barriers.iter().map(|b| b.after).collect();
    let (block_of, is_hot) = (cfg.blocks_of_insts(func), in_loops_without_barriers(func, &cfg, &barriers));
    for c in candidates {
        let uses = c.uses(func, &cfg);
        // `p = &a[i]; barrier(); *p = 0;`: behind the barrier, the address would point into the copy of the
        // continuation before.
        let crosses = |&p: &Value| {
            !cheap[p.index()] && {
                let def = func.def_inst(p).and_then(|i| block_of[i.index()]);
                def.is_none_or(|def| uses.address_crosses(func, &cfg, (p, def), &starts))
            }
        };
        if c.addresses[1..].iter().any(crosses) {
            continue;
        }
        let live = uses.live(func, &cfg, &barriers);
        // Without a barrier to be live at, nothing is copied: the array becomes a continuation's own at no cost.
        if live.is_empty() || c.is_worth(&is_hot, &uses) {
            live.iter().for_each(|b| c.carry(func, b));
            carried.arrays.push(c.array);
            carried.copies |= !live.is_empty();
        }
    }
    carried
}

impl Candidate {
    /// The array, if all its uses are accesses of one size to elements, copies and fills.
    fn of(func: &Function, array: Value) -> Option<Candidate> {
        let Some(&Op::Alloca { size, align, .. }) = func.def_op(array) else { return None };
        let mut is_address = vec![false; func.values.len()];
        is_address[array.index()] = true;
        let mut addresses = vec![array];
        // Blocks are in no order of dominance: until nothing changes.
        loop {
            let before = addresses.len();
            for (_, data) in func.insts_in_layout().filter(|(_, data)| data.op == Op::PtrAdd) {
                if let Some(r) = data.result.filter(|r| is_address[data.args[0].index()] && !is_address[r.index()]) {
                    is_address[r.index()] = true;
                    addresses.push(r);
                }
            }
            if addresses.len() == before {
                break;
            }
        }
        let mut element: Option<Type> = None;
        for (_, data) in func.insts_in_layout() {
            let uses = |k: usize| data.args.get(k).is_some_and(|a| is_address[a.index()]);
            if !(0..data.args.len()).any(uses) {
                continue;
            }
            let (ty, alignment) = match data.op {
                _ if data.flags.contains(Flags::VOLATILE) => return None,
                Op::PtrAdd | Op::MemCopy { .. } | Op::MemSet { .. } => continue,
                Op::Load { align } => (func.ty(data.result?), align),
                // A stored address could be used behind the barrier, where the array is another one.
                Op::Store { align } if !uses(1) => (func.ty(data.args[1]), align),
                _ => return None,
            };
            let first = *element.get_or_insert(ty);
            // The elements are copied as whole values of one size: an access across two of them would need both.
            let is_whole = ty.bytes().is_power_of_two() && alignment >= ty.bytes() && !ty.is_ptr();
            if !is_whole || first.bytes() != ty.bytes() {
                return None;
            }
        }
        // As an argument of an edge, an address would become another value, whose uses are not known here.
        let mut is_passed_on = false;
        for &b in &func.layout {
            func.blocks[b].term.for_each_use(|v| is_passed_on |= is_address[v.index()]);
        }
        let element = element?;
        let bytes = u64::from(element.bytes());
        let elements = size / bytes;
        let fits = size % bytes == 0 && align >= element.bytes();
        (fits && !is_passed_on).then_some(Candidate { array, addresses, element, elements })
    }

    /// Where the array is read and written, and its addresses are used.
    fn uses(&self, func: &Function, cfg: &Cfg) -> Uses {
        let mut uses = Uses { reads: Vec::new(), writes: Vec::new(), all: Vec::new() };
        for &b in cfg.rpo() {
            for data in func.blocks[b].insts.iter().map(|&i| &func.insts[i]) {
                for (k, &p) in data.args.iter().enumerate().filter(|(_, p)| self.addresses.contains(p)) {
                    uses.all.push((p, b));
                    match data.op {
                        Op::Load { .. } => uses.reads.push(b),
                        // The second operand is where a copy reads.
                        Op::MemCopy { .. } if k == 1 => uses.reads.push(b),
                        Op::PtrAdd => {}
                        _ => uses.writes.push(b),
                    }
                }
            }
        }
        uses
    }

    /// Whether it is small, and accessed more often than it is copied: in a loop without barriers, or by half as many
    /// accesses as it has elements.
    fn is_worth(&self, is_hot: &[bool], uses: &Uses) -> bool {
        let times = |b: &Block| if is_hot[b.index()] { TRIPS } else { 1 };
        let accesses: u64 = uses.reads.iter().chain(&uses.writes).map(times).sum();
        self.elements <= MAX_ELEMENTS && 2 * accesses >= self.elements
    }

    /// Loads the elements in front of a barrier, and stores them behind it.
    fn carry(&self, func: &mut Function, barrier: &Barrier) {
        let bytes = self.element.bytes();
        // The stores go before all else behind the barrier, the loads to the end of the block before it.
        let behind = std::mem::take(&mut func.blocks[barrier.after].insts);
        for k in 0..self.elements {
            let mut b = Builder { span: barrier.span, ..Builder::new(func, barrier.before) };
            let p = b.ptr_offset(self.array, k * u64::from(bytes));
            let x = b.load(self.element, p, bytes, Flags::empty());
            b.switch_to(barrier.after);
            let p = b.ptr_offset(self.array, k * u64::from(bytes));
            b.store(p, x, bytes, Flags::empty());
        }
        func.blocks[barrier.after].insts.extend(behind);
    }
}

/// The uses of an array, by block.
struct Uses {
    reads: Vec<Block>,
    writes: Vec<Block>,
    /// Those of each address.
    all: Vec<(Value, Block)>,
}

impl Uses {
    /// Whether an address, defined in block `def`, is used behind a barrier that follows its definition.
    fn address_crosses(&self, func: &Function, cfg: &Cfg, (p, def): (Value, Block), starts: &[Block]) -> bool {
        let used = self.all.iter().filter(|(v, b)| *v == p && *b != def).map(|&(_, b)| b).collect();
        // Backward from the uses, not beyond the definition: what is before it belongs to an earlier address.
        let reached = flood(func, used, |b| if b == def { Vec::new() } else { cfg.preds(b).to_vec() });
        starts.iter().any(|b| reached[b.index()])
    }

    /// The barriers in front of which it may have been written, and behind which it may be read.
    fn live(&self, func: &Function, cfg: &Cfg, barriers: &[Barrier]) -> Vec<Barrier> {
        // Backward from reads, forward from writes: where both meet, there is something to carry.
        let read = flood(func, self.reads.clone(), |b| cfg.preds(b).to_vec());
        let written =
            flood(func, self.writes.clone(), |b| func.blocks[b].term.edges().iter().map(|e| e.block).collect());
        barriers.iter().copied().filter(|b| read[b.after.index()] && written[b.before.index()]).collect()
    }
}

/// Which blocks are in a loop without barriers.
fn in_loops_without_barriers(func: &Function, cfg: &Cfg, barriers: &[Barrier]) -> Vec<bool> {
    let loops = Loops::new(func, cfg, &DomTree::new(func, cfg));
    let mut inside = vec![false; func.blocks.len()];
    for l in loops.loops.iter().filter(|l| !barriers.iter().any(|b| l.blocks.contains(&b.before))) {
        l.blocks.iter().for_each(|b| inside[b.index()] = true);
    }
    inside
}

/// The blocks that can be reached from some.
fn flood(func: &Function, mut stack: Vec<Block>, next: impl Fn(Block) -> Vec<Block>) -> Vec<bool> {
    let mut seen = vec![false; func.blocks.len()];
    while let Some(b) = stack.pop() {
        if !std::mem::replace(&mut seen[b.index()], true) {
            stack.extend(next(b));
        }
    }
    seen
}
