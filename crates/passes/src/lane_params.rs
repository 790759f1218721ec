//! Block parameters of which one lane is used: the parameter becomes that lane.
//!
//! ```text
//! bb1(v1: u8x4):                     bb1(v1: u8):
//!     v2: u8x4 = sub v0, v1              v2: u8 = sub v0, v1
//!     br …, bb1(v2), bb2        →        br …, bb1(v2), bb2
//! bb2:                               bb2:
//!     v3: u8 = extract v1, 0             use v1
//! ```
//!
//! A loop then computes one lane instead of all. It is needed for correct code, too: LLVM 19 makes the same change
//! (`scalarizePHI` of InstCombine) and gives the operands of the scalar operation in the wrong order, so that `c - x`
//! becomes `x - c`. After this pass no vector that only one lane of is used goes round a loop.
//!
//! The lanes that are used are found backwards, as LLVM's demanded elements: an `extract` uses one lane, a lane-wise
//! operation of each operand the lanes that are used of its result, anything else all. Where one lane is left, the
//! operations of the lane are emitted beside those of the vector, which are left to `dce`.

use crate::pass::Pass;
use crate::util::Renames;
use cloom_ir::cfg::Cfg;
use cloom_ir::{Block, Builder, Entity, Flags, Function, Inst, InstData, Op, Value};
use rustc_hash::FxHashMap;
use smallvec::smallvec;

/// The pass.
pub const PASS: Pass = Pass::new("lane-params", "block parameters of which one lane is used become that lane", run);

/// The lanes of a vector that are used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Used {
    None,
    One(u16),
    Several,
}

impl Used {
    fn join(self, other: Used) -> Used {
        match (self, other) {
            (Used::None, x) | (x, Used::None) => x,
            (a, b) if a == b => a,
            _ => Used::Several,
        }
    }
}

/// Runs the pass. Returns how many parameters it changed.
pub fn run(func: &mut Function) -> usize {
    let is_vector = |func: &Function, v: Value| func.ty(v).is_vector() && !func.ty(v).is_ptr();
    // Most functions have no such parameter, and need no analysis.
    if !func.layout.iter().skip(1).any(|&b| func.blocks[b].params.iter().any(|&p| is_vector(func, p))) {
        return 0;
    }
    let cfg = Cfg::new(func);
    let used = used_lanes(func, &cfg);
    let mut params = Vec::new();
    // Not the entry, whose parameters are the function's.
    for &b in &cfg.rpo()[1..] {
        for (k, &p) in func.blocks[b].params.iter().enumerate() {
            if let (true, Used::One(lane)) = (is_vector(func, p), used[p.index()]) {
                params.push((b, k, lane));
            }
        }
    }
    if !params.is_empty() {
        Scalars::default().replace(func, &cfg, &used, &params);
    }
    params.len()
}

/// The lanes that are used of each value, by its index.
fn used_lanes(func: &Function, cfg: &Cfg) -> Vec<Used> {
    let mut used = vec![Used::None; func.values.len()];
    // Each value changes twice at most. Against the order of the blocks, a loop needs two rounds in general.
    let mut changed = true;
    while changed {
        changed = false;
        let mut note = |used: &mut Vec<Used>, v: Value, lanes: Used| {
            let new = used[v.index()].join(lanes);
            changed |= std::mem::replace(&mut used[v.index()], new) != new;
        };
        for &b in cfg.rpo().iter().rev() {
            let block = &func.blocks[b];
            // A value that is returned is used as a whole.
            if let Some(v) = block.term.operand() {
                note(&mut used, v, Used::Several);
            }
            for e in block.term.edges() {
                for (&arg, &p) in e.args.iter().zip(&func.blocks[e.block].params) {
                    let lanes = used[p.index()];
                    note(&mut used, arg, lanes);
                }
            }
            for data in block.insts.iter().rev().map(|&i| &func.insts[i]) {
                for (k, &arg) in data.args.iter().enumerate() {
                    if func.ty(arg).is_vector() {
                        let lanes = used_of_operand(func, data, k, &used);
                        note(&mut used, arg, lanes);
                    }
                }
            }
        }
    }
    used
}

/// The lanes of operand `k`, a vector, that an instruction uses.
fn used_of_operand(func: &Function, data: &InstData, k: usize, used: &[Used]) -> Used {
    let Some(result) = data.result else { return Used::Several };
    let (of_result, lanes) = (used[result.index()], func.ty(data.args[k]).lanes);
    match &data.op {
        Op::Extract => lane_number(func, data.args[1], lanes).map_or(Used::Several, Used::One),
        Op::Insert => match of_result {
            // Of a lane that is overwritten nothing is used.
            Used::One(lane) if lane_number(func, data.args[1], lanes) == Some(lane) => Used::None,
            other => other,
        },
        Op::Shuffle(mask) => {
            let of_operand = |&lane: &u16| (usize::from(lane >= lanes) == k).then_some(Used::One(lane % lanes));
            match of_result {
                Used::None => Used::None,
                Used::One(lane) => mask.get(usize::from(lane)).and_then(of_operand).unwrap_or(Used::None),
                Used::Several => mask.iter().filter_map(of_operand).fold(Used::None, Used::join),
            }
        }
        op if op.is_lane_wise() && func.ty(result).lanes == lanes => of_result,
        _ => Used::Several,
    }
}

/// The lane that an index names, if it is a constant: it counts modulo the number of lanes.
fn lane_number(func: &Function, index: Value, lanes: u16) -> Option<u16> {
    Some((func.const_bits(index)? % u64::from(lanes)) as u16)
}

/// The one lane that is used of vectors, as values of its own.
#[derive(Default)]
struct Scalars {
    of: FxHashMap<Value, Value>,
}

impl Scalars {
    fn replace(mut self, func: &mut Function, cfg: &Cfg, used: &[Used], params: &[(Block, usize, u16)]) {
        // The parameter keeps its value, which becomes a scalar; where the vector is still wanted, a splat stands for
        // it, as all lanes but one are irrelevant.
        let mut renames = Renames::default();
        let mut splats = Vec::new();
        for &(b, k, _) in params {
            let p = func.blocks[b].params[k];
            let (vector, span) = (func.ty(p), func.blocks[b].term_span);
            let splat = func.make_inst(Op::Splat, smallvec![p], Some(vector), Flags::empty(), span);
            if let Some(v) = func.insts[splat].result {
                renames.set(p, v);
                self.of.insert(v, p);
                splats.push((b, splat));
            }
        }
        renames.apply(func);
        for &(b, k, _) in params {
            let p = func.blocks[b].params[k];
            func.values[p].ty = func.ty(p).lane();
        }
        // In the blocks only now, so that the operands of the splats are not renamed.
        for (b, splat) in splats {
            func.blocks[b].insts.insert(0, splat);
        }
        let mut renames = Renames::default();
        for &b in cfg.rpo() {
            for i in std::mem::take(&mut func.blocks[b].insts) {
                func.blocks[b].insts.push(i);
                self.instruction(func, b, i, used, &mut renames);
            }
        }
        renames.apply(func);
        let mut of_block: FxHashMap<Block, Vec<(usize, u16)>> = FxHashMap::default();
        for &(b, k, lane) in params {
            of_block.entry(b).or_default().push((k, lane));
        }
        // Last: the arguments of back edges have their scalars now.
        for n in 0..func.layout.len() {
            let b = func.layout[n];
            let edges = func.blocks[b].term.edges().len();
            for e in 0..edges {
                let to = func.blocks[b].term.edges()[e].block;
                for &(k, lane) in of_block.get(&to).into_iter().flatten() {
                    let arg = func.blocks[b].term.edges()[e].args[k];
                    let scalar = self.lane(func, b, arg, lane);
                    func.blocks[b].term.edges_mut()[e].args[k] = scalar;
                }
            }
        }
    }

    /// Emits the one lane of an instruction's result, behind it, if an operand has its lane already.
    fn instruction(&mut self, func: &mut Function, b: Block, i: Inst, used: &[Used], renames: &mut Renames) {
        let data = func.insts[i].clone();
        let Some(r) = data.result else { return };
        let known = |s: &Self, k: usize| s.of.get(&data.args[k]).copied();
        if data.op == Op::Extract {
            // All that is used of the vector is this lane.
            if let Some(scalar) = known(self, 0) {
                renames.set(r, scalar);
            }
            return;
        }
        let Some(&Used::One(lane)) = used.get(r.index()) else { return };
        let scalar = match &data.op {
            Op::Insert => match lane_number(func, data.args[1], func.ty(r).lanes) {
                Some(at) if at == lane => known(self, 0).map(|_| data.args[2]),
                Some(_) => known(self, 0),
                None => None,
            },
            Op::Shuffle(mask) => {
                let from = mask[usize::from(lane)] >= func.ty(data.args[0]).lanes;
                known(self, usize::from(from))
            }
            op if op.is_lane_wise() && (0..data.args.len()).any(|k| known(self, k).is_some()) => {
                let args = data.args.iter().map(|&a| self.lane(func, b, a, lane)).collect();
                let ty = func.ty(r).lane();
                let scalar = func.make_inst(data.op.clone(), args, Some(ty), data.flags, data.span);
                func.blocks[b].insts.push(scalar);
                func.insts[scalar].result
            }
            _ => None,
        };
        if let Some(scalar) = scalar {
            self.of.insert(r, scalar);
        }
    }

    /// A lane of a vector at the end of a block, or the value itself if it is a scalar.
    fn lane(&self, func: &mut Function, b: Block, v: Value, lane: u16) -> Value {
        let ty = func.ty(v);
        if let Some(&scalar) = self.of.get(&v) {
            return scalar;
        }
        if !ty.is_vector() {
            return v;
        }
        let mut builder = Builder::new(func, b);
        match builder.func.const_bits(v) {
            Some(bits) => builder.iconst(ty.lane(), bits),
            None => builder.extract_lane(v, lane),
        }
    }
}
