//! Dead code elimination: instructions without used results, block parameters without uses, stores to private arrays
//! that are never loaded.
//!
//! Marks backwards from roots (effects, branch conditions), then sweeps. A parameter is needed only if a needed
//! instruction reads it, so counters that feed only themselves go too.

use crate::pass::Pass;
use cloom_ir::cfg::Cfg;
use cloom_ir::{Block, Entity, Flags, Function, Inst, Op, Value, ValueDef};

/// The pass.
pub const PASS: Pass = Pass::new("dce", "dead instructions, parameters and stores", run);

/// Runs the pass. Returns how often it changed something.
pub fn run(func: &mut Function) -> usize {
    let mut changed = crate::util::remove_unreachable(func);
    let cfg = Cfg::new(func);
    let dead = dead_stores(func, &cfg);
    let mut marker = Marker { func, cfg: &cfg, live: vec![false; func.values.len()], work: Vec::new() };
    for &b in cfg.rpo() {
        for &i in &func.blocks[b].insts {
            if is_root(func, i) && !dead[i.index()] {
                func.insts[i].args.iter().for_each(|&a| marker.mark(a));
            }
        }
        // Arguments of edges are no roots: they are needed only if the parameter that takes them is.
        if let Some(v) = func.blocks[b].term.operand() {
            marker.mark(v);
        }
    }
    marker.drain();
    let live = marker.live;
    for &b in cfg.rpo() {
        let mut insts = std::mem::take(&mut func.blocks[b].insts);
        let before = insts.len();
        insts.retain(|&i| match func.insts[i].result {
            Some(r) if live[r.index()] => true,
            _ => is_root(func, i) && !dead[i.index()],
        });
        changed += before - insts.len();
        func.blocks[b].insts = insts;
    }
    let entry = func.entry();
    // Which parameters of each block stay; `None` where all do. Noted before any block changes, since an argument is
    // known by the position of its parameter.
    let doomed: Vec<Option<Vec<bool>>> = func
        .blocks
        .iter()
        .map(|(b, data)| {
            // The entry's parameters are the function's signature.
            let keep: Vec<bool> = data.params.iter().map(|p| b == entry || live[p.index()]).collect();
            keep.contains(&false).then_some(keep)
        })
        .collect();
    for &b in cfg.rpo() {
        for e in func.blocks[b].term.edges_mut() {
            if let Some(keep) = &doomed[e.block.index()] {
                let mut k = keep.iter();
                e.args.retain(|_| k.next().copied().unwrap_or(true));
            }
        }
    }
    for &b in cfg.rpo() {
        if let Some(keep) = &doomed[b.index()] {
            let mut k = keep.iter();
            func.blocks[b].params.retain(|_| k.next().copied().unwrap_or(true));
            // The parameters that stay have other indices now.
            for (i, &p) in func.blocks[b].params.iter().enumerate() {
                func.values[p].def = ValueDef::Param(b, i as u32);
            }
            changed += keep.iter().filter(|&&k| !k).count();
        }
    }
    changed
}

/// Whether an instruction must stay although nobody uses its result.
fn is_root(func: &Function, i: Inst) -> bool {
    let data = &func.insts[i];
    // An ordinary load without a use has no effect, and goes.
    let load = matches!(data.op, Op::Load { .. } | Op::MaskedLoad { .. } | Op::Gather { .. });
    data.op.has_effect() || load && data.flags.contains(Flags::VOLATILE)
}

struct Marker<'a> {
    func: &'a Function,
    cfg: &'a Cfg,
    live: Vec<bool>,
    work: Vec<Value>,
}

impl Marker<'_> {
    fn mark(&mut self, v: Value) {
        if !std::mem::replace(&mut self.live[v.index()], true) {
            self.work.push(v);
        }
    }

    fn drain(&mut self) {
        let func = self.func;
        while let Some(v) = self.work.pop() {
            match func.values[v].def {
                ValueDef::Inst(i) => func.insts[i].args.iter().for_each(|&a| self.mark(a)),
                ValueDef::Param(b, k) => self.mark_arguments(b, k as usize),
            }
        }
    }

    fn mark_arguments(&mut self, b: Block, k: usize) {
        // All edges: whichever is taken, its argument may be the value.
        self.cfg.incoming(self.func, b).for_each(|(_, e)| self.mark(e.args[k]));
    }
}

/// Removes stores, copies and fills of private arrays that are never read and whose address does not escape.
fn dead_stores(func: &Function, cfg: &Cfg) -> Vec<bool> {
    // The array that an address points into, and the instructions that write to it.
    let mut base: Vec<Option<Value>> = vec![None; func.values.len()];
    let mut read = vec![false; func.values.len()];
    let mut writes: Vec<(Value, Inst)> = Vec::new();
    for &b in cfg.rpo() {
        for &i in &func.blocks[b].insts {
            let data = &func.insts[i];
            if let (Op::Alloca { .. }, Some(r)) = (&data.op, data.result) {
                base[r.index()] = Some(r);
            }
            for (k, &a) in data.args.iter().enumerate() {
                let Some(array) = base[a.index()] else { continue };
                match (&data.op, data.result) {
                    (Op::PtrAdd, Some(r)) => base[r.index()] = Some(array),
                    (Op::Store { .. } | Op::MemCopy { .. } | Op::MemSet { .. }, _)
                        if k == 0 && !data.flags.contains(Flags::VOLATILE) =>
                    {
                        writes.push((array, i));
                    }
                    // Any other use reads the array, or lets its address escape.
                    _ => read[array.index()] = true,
                }
            }
        }
        func.blocks[b].term.for_each_use(|v| {
            if let Some(array) = base[v.index()] {
                read[array.index()] = true;
            }
        });
    }
    let mut dead = vec![false; func.insts.len()];
    for (array, i) in writes {
        dead[i.index()] |= !read[array.index()];
    }
    dead
}
