//! Register pressure: how many values of a work-item are live at once where it matters, in loops.
//!
//! In comes an analysed function; out goes the largest size, in half words of 16 bits per lane, of the varying values
//! that are live at one program point of a loop. Uniform and strided values are scalars in vector code and do not
//! count; nor do masks, nor values that are live through an innermost loop without a use in it: those are spilled
//! around it. Outside of loops the order of instructions is free and a spill costs little. For a function without
//! loops, the same number is given for the whole function.

use crate::analysis::input::VectorInput;
use crate::analysis::shape::Shape;
use cloom_ir::{Entity, Function, Scalar, Type, Value, ValueDef};

/// The size of the values live at a program point.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Pressure {
    /// Half words of 16 bits per lane.
    pub halves: u32,
    /// The part of them in short vectors of four or more components.
    pub in_vectors: u32,
}

impl Ord for Pressure {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        // The size alone: what part of it is in short vectors is asked for separately.
        self.halves.cmp(&other.halves)
    }
}

impl PartialOrd for Pressure {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The 32-bit words that a value of this type takes in each lane; narrower components take a whole word.
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
    let mut max = Pressure::default();
    let liveness = Live::new(item);
    let used_in: Vec<Set> = item.loops.loops.iter().map(|l| used_in(func, &l.blocks)).collect();
    for &b in item.cfg.rpo() {
        let mut live = liveness.out(func, b);
        match item.loops.innermost(b) {
            // Values that an innermost loop does not use are spilled around it, and take no register in it.
            Some(l) => live.0.iter_mut().zip(&used_in[l].0).for_each(|(word, used_in)| *word &= used_in),
            None if used_in.is_empty() => {}
            // With loops in the function, only those count.
            None => continue,
        }
        // Summed up once at the end of the block, then kept up to date from instruction to instruction.
        let mut live_size = Pressure::default();
        for v in (0..func.values.len()).map(Value::new).filter(|v| live.has(*v)) {
            live_size.add(liveness.weigh(func, v), func.ty(v).lanes);
        }
        max = max.max(live_size);
        for &i in func.blocks[b].insts.iter().rev() {
            let data = &func.insts[i];
            // Before its definition, a value takes no register.
            if let Some(r) = data.result
                && live.remove(r)
            {
                live_size.sub(liveness.weigh(func, r), func.ty(r).lanes);
            }
            for &a in &data.args {
                if live.insert(a) {
                    live_size.add(liveness.weigh(func, a), func.ty(a).lanes);
                }
            }
            max = max.max(live_size);
        }
    }
    max
}

/// The values used in some blocks. (A value that is only defined there is live after them, and can be spilled at its
/// definition.)
fn used_in(func: &Function, blocks: &[cloom_ir::Block]) -> Set {
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

/// The values live at the start of each block.
struct Live<'a> {
    item: &'a VectorInput,
    entry: Vec<Set>,
}

impl<'a> Live<'a> {
    /// Backward dataflow to a fixed point.
    fn new(item: &'a VectorInput) -> Live<'a> {
        let func = &item.func;
        let none = Set(vec![0; func.values.len().div_ceil(64)]);
        let mut live = Live { item, entry: vec![none; func.blocks.len()] };
        loop {
            // Around loops, what is live at a header becomes known only after its latch: until nothing changes.
            let mut changed = false;
            for &b in item.cfg.rpo().iter().rev() {
                // Backward through the block: a result is not live before its definition, an operand is before its use.
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

    /// The values live at the end of a block, and those that its terminator uses.
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

    /// The half words of a value in each lane. (16-bit integers are computed in 16 bits; all other narrow types take
    /// a whole word.)
    fn weigh(&self, func: &Function, v: Value) -> u32 {
        let ty = func.ty(v);
        // Constants are folded into instructions or loaded from memory.
        let constant = matches!(func.values[v].def, ValueDef::Inst(_)) && func.const_bits(v).is_some();
        if self.item.shapes.of(v) != Shape::Varying || ty.scalar == Scalar::I1 || constant {
            return 0;
        }
        if ty.scalar == Scalar::I16 { u32::from(ty.lanes) } else { 2 * words(ty) }
    }
}
