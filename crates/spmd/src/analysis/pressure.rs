//! Pressure: how many values of a work-item live at once where it matters, in loops.
//!
//! In comes an analysed function; out goes the largest number of half words, 16 bits each, that values which differ
//! between lanes take at one place of a loop. Uniform values and those at even distances are scalars in the widened
//! code and do not count, nor do truth values, nor what an innermost loop does not touch: that waits in memory.
//! Outside of loops, code generation may order instructions as it likes, and a spill costs little; where there are no
//! loops at all, the same is told of the whole function.

use crate::analysis::shape::Shape;
use crate::emit::widen::VectorInput;
use cloom_ir::{Entity, Function, Scalar, Type, Value, ValueDef};

/// What lives at once.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Pressure {
    /// Halves of words of 32 bits.
    pub halves: u32,
    /// Those of them that are components of vectors of four or more.
    pub in_vectors: u32,
}

impl Ord for Pressure {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.halves.cmp(&other.halves)
    }
}

impl PartialOrd for Pressure {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Words of 32 bits that a value of this type takes in each lane: narrower components take a whole one.
pub fn words(ty: Type) -> u32 {
    u32::from(ty.lanes) * ty.scalar.bits().div_ceil(32)
}

/// The largest pressure in the loops of a function.
pub fn in_loops(item: &VectorInput) -> Pressure {
    if item.loops.loops.is_empty() { Pressure::default() } else { largest(item) }
}

/// The largest pressure in a function that has no loops.
pub fn without_loops(item: &VectorInput) -> Pressure {
    if item.loops.loops.is_empty() { largest(item) } else { Pressure::default() }
}

/// The largest pressure in loops, or anywhere if there are none.
fn largest(item: &VectorInput) -> Pressure {
    let func = &item.func;
    let mut most = Pressure::default();
    let sets = Live::new(item);
    let touched: Vec<Set> = item.loops.loops.iter().map(|l| touched(func, &l.blocks)).collect();
    for &b in item.cfg.rpo() {
        let mut live = sets.out(func, b);
        match item.loops.innermost(b) {
            Some(l) => live.0.iter_mut().zip(&touched[l].0).for_each(|(word, touched)| *word &= touched),
            None if touched.is_empty() => {}
            None => continue,
        }
        let mut now = Pressure::default();
        for v in (0..func.values.len()).map(Value::new).filter(|v| live.has(*v)) {
            now.add(sets.weigh(func, v), func.ty(v).lanes);
        }
        most = most.max(now);
        for &i in func.blocks[b].insts.iter().rev() {
            let data = &func.insts[i];
            if let Some(r) = data.result
                && live.remove(r)
            {
                now.sub(sets.weigh(func, r), func.ty(r).lanes);
            }
            for &a in &data.args {
                if live.insert(a) {
                    now.add(sets.weigh(func, a), func.ty(a).lanes);
                }
            }
            most = most.max(now);
        }
    }
    most
}

/// What is used in some blocks. (What is only defined there lives on after them, and is not in the way.)
fn touched(func: &Function, blocks: &[cloom_ir::Block]) -> Set {
    let mut set = Set(vec![0; func.values.len().div_ceil(64)]);
    for &b in blocks {
        let args = func.blocks[b].insts.iter().flat_map(|&i| &func.insts[i].args);
        args.for_each(|&a| {
            set.insert(a);
        });
        func.blocks[b].term.for_each_use(|v| {
            set.insert(v);
        });
    }
    set
}

impl Pressure {
    fn add(&mut self, halves: u32, lanes: u16) {
        self.halves += halves;
        self.in_vectors += if lanes >= 4 { halves } else { 0 };
    }

    fn sub(&mut self, halves: u32, lanes: u16) {
        self.halves -= halves;
        self.in_vectors -= if lanes >= 4 { halves } else { 0 };
    }
}

/// A set of values.
#[derive(Clone, PartialEq)]
struct Set(Vec<u64>);

impl Set {
    fn has(&self, v: Value) -> bool {
        self.0[v.index() / 64] >> (v.index() % 64) & 1 != 0
    }

    fn insert(&mut self, v: Value) -> bool {
        let new = !self.has(v);
        self.0[v.index() / 64] |= 1 << (v.index() % 64);
        new
    }

    fn remove(&mut self, v: Value) -> bool {
        let old = self.has(v);
        self.0[v.index() / 64] &= !(1 << (v.index() % 64));
        old
    }
}

/// Which values live at the beginning of each block.
struct Live<'a> {
    item: &'a VectorInput,
    entry: Vec<Set>,
}

impl<'a> Live<'a> {
    /// Backwards until nothing changes.
    fn new(item: &'a VectorInput) -> Live<'a> {
        let func = &item.func;
        let none = Set(vec![0; func.values.len().div_ceil(64)]);
        let mut live = Live { item, entry: vec![none; func.blocks.len()] };
        loop {
            let mut changed = false;
            for &b in item.cfg.rpo().iter().rev() {
                let mut set = live.out(func, b);
                for &i in func.blocks[b].insts.iter().rev() {
                    let data = &func.insts[i];
                    data.result.map(|r| set.remove(r));
                    for &a in &data.args {
                        set.insert(a);
                    }
                }
                for &p in &func.blocks[b].params {
                    set.remove(p);
                }
                if live.entry[b.index()] != set {
                    live.entry[b.index()] = set;
                    changed = true;
                }
            }
            if !changed {
                return live;
            }
        }
    }

    /// What lives at the end of a block, and what its terminator uses.
    fn out(&self, func: &Function, b: cloom_ir::Block) -> Set {
        let mut set = Set(vec![0; func.values.len().div_ceil(64)]);
        for e in func.blocks[b].term.edges() {
            for (word, more) in set.0.iter_mut().zip(&self.entry[e.block.index()].0) {
                *word |= more;
            }
        }
        func.blocks[b].term.for_each_use(|v| {
            set.insert(v);
        });
        set
    }

    /// Half words of a value in each lane. (Integers of 16 bits are computed as such; narrower things take a whole word.)
    fn weigh(&self, func: &Function, v: Value) -> u32 {
        let ty = func.ty(v);
        let constant = matches!(func.values[v].def, ValueDef::Inst(_)) && func.const_bits(v).is_some();
        if self.item.shapes.of(v) != Shape::Varying || ty.scalar == Scalar::I1 || constant {
            return 0;
        }
        if ty.scalar == Scalar::I16 { u32::from(ty.lanes) } else { 2 * words(ty) }
    }
}
