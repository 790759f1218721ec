//! Unroll and jam of the function of one work-item.

use super::MAX_FACTOR;
use super::check::{Access, Unwrapped};
use super::regions::Region;
use crate::analysis::divergence::Divergence;
use cloom_ir::affine::Ext;
use cloom_ir::cfg::Cfg;
use cloom_ir::{
    BinOp, Block, Builder, CloneMap, Edge, FuncRef, Function, Inst, InstData, IntCc, Op, Term, Type, Value,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The values that stand for one value of the original: one if it is uniform, else one for each work-item.
pub(super) type Lanes = SmallVec<[Value; MAX_FACTOR as usize]>;

/// How work-items that disagree at a branch go on.
pub(super) enum Uncoarsened<'a> {
    /// Each runs to its end, in a call of this function.
    Calls(FuncRef),
    /// Each runs to the join of the paths, in its own copy of the region of the branch, which is listed by its block.
    Copies(&'a FxHashMap<Block, Region>),
}

/// The state of the transformation.
pub(super) struct Jam<'a> {
    item: &'a Function,
    uncoarsened: Uncoarsened<'a>,
    divergence: &'a Divergence,
    accesses: &'a FxHashMap<Inst, Access>,
    unwrapped: &'a Unwrapped,
    factor: u32,
    out: Function,
    values: FxHashMap<Value, Lanes>,
    blocks: FxHashMap<Block, Block>,
}

impl<'a> Jam<'a> {
    /// Prepares to repeat `item` for `factor` work-items in `out`, which has the kernel's parameters and no block yet.
    pub(super) fn new(
        (item, uncoarsened): (&'a Function, Uncoarsened<'a>),
        divergence: &'a Divergence,
        (accesses, unwrapped): (&'a FxHashMap<Inst, Access>, &'a Unwrapped),
        factor: u32,
        out: Function,
    ) -> Self {
        let (values, blocks) = (FxHashMap::default(), FxHashMap::default());
        Jam { item, uncoarsened, divergence, accesses, unwrapped, factor, out, values, blocks }
    }

    /// Returns the function of the coarsened work-items. The first parameters of `item` are those of the kernel: `own`
    /// gets the number and the new value of each, and defines its values for the work-items. The last parameters of
    /// `item` stand for the queries `asked`, in this order: `define` defines the values of each.
    pub(super) fn run(
        mut self,
        own: impl Fn(&mut Builder<'_>, usize, Value) -> Lanes,
        asked: &[Op],
        define: impl Fn(&mut Builder<'_>, &Op) -> Lanes,
    ) -> Function {
        let (item, cfg) = (self.item, Cfg::new(self.item));
        for &b in cfg.rpo() {
            let block = self.out.add_block();
            self.blocks.insert(b, block);
        }
        let (entry, params) = (self.out.entry(), item.param_values());
        let (kernels, others) = params.split_at(params.len() - asked.len());
        // All parameters before any code of the entry, which uses them.
        let added: Lanes = kernels.iter().map(|&p| self.out.add_block_param(entry, item.ty(p))).collect();
        for (i, (&p, param)) in kernels.iter().zip(added).enumerate() {
            let lanes = own(&mut Builder::new(&mut self.out, entry), i, param);
            self.values.insert(p, lanes);
        }
        for (&p, op) in others.iter().zip(asked) {
            let lanes = define(&mut Builder::new(&mut self.out, entry), op);
            self.values.insert(p, lanes);
        }
        // Parameters of all blocks first, as edges back to a block pass them before its code is written.
        for &b in &cfg.rpo()[1..] {
            for &p in &item.blocks[b].params {
                let count = if self.divergence.is_uniform(p) { 1 } else { self.factor };
                let lanes = (0..count).map(|_| self.out.add_block_param(self.blocks[&b], item.ty(p))).collect();
                self.values.insert(p, lanes);
            }
        }
        for &b in cfg.rpo() {
            let mut block = self.blocks[&b];
            for &inst in &item.blocks[b].insts {
                self.inst(inst, block);
                block = self.check(inst, block);
            }
            self.term(b, block);
        }
        self.out
    }

    /// The value for one work-item.
    fn lane(&self, v: Value, k: u32) -> Value {
        let lanes = &self.values[&v];
        lanes.get(k as usize).copied().unwrap_or(lanes[0])
    }

    fn inst(&mut self, inst: Inst, block: Block) {
        let data = &self.item.insts[inst];
        let ty = data.result.map(|r| self.item.ty(r));
        // What has the same operands for all is done once. (`may_join` has excluded all that could differ
        // nevertheless.)
        let varies = data.args.iter().any(|v| self.values[v].len() > 1);
        let access = self.accesses.get(&inst).filter(|access| access.is_consecutive);
        let lanes = self.factor as u16;
        let lane_args = |jam: &Self, k: u32| data.args.iter().map(|&v| jam.lane(v, k)).collect();
        match (&data.op, access, ty) {
            // The first work-item has the lowest address: `check` admits rising ones only.
            (Op::Load { .. }, Some(access), Some(ty)) => {
                let address = self.lane(data.args[0], 0);
                let mut b = self.builder(block, data);
                // `Access::align` may be larger than what the term in the id leaves.
                let align = access.align.min(access.bytes * u32::from(lanes));
                let wide = b.load(Type::vector(ty.scalar, lanes), address, align, data.flags);
                let parts = (0..lanes).map(|k| b.extract_lane(wide, k)).collect();
                self.define(data, parts);
            }
            (Op::Store { .. }, Some(access), _) => {
                let parts: Lanes = (0..self.factor).map(|k| self.lane(data.args[1], k)).collect();
                let address = self.lane(data.args[0], 0);
                let mut b = self.builder(block, data);
                let wide = b.build(&parts);
                b.store(address, wide, access.align.min(access.bytes * u32::from(lanes)), data.flags);
            }
            _ => {
                // Also accesses near each other that are not adjacent: one for each work-item.
                let count = if varies { self.factor } else { 1 };
                let mut parts = Lanes::new();
                for k in 0..count {
                    let args = lane_args(self, k);
                    parts.extend(self.builder(block, data).push(data.op.clone(), args, ty, data.flags));
                }
                self.define(data, parts);
            }
        }
    }

    fn builder(&mut self, block: Block, data: &InstData) -> Builder<'_> {
        let mut b = Builder::new(&mut self.out, block);
        b.span = data.span;
        b
    }

    fn define(&mut self, data: &InstData, lanes: Lanes) {
        if let Some(result) = data.result {
            self.values.insert(result, lanes);
        }
    }

    fn edge(&self, edge: &Edge) -> Edge {
        let params = &self.item.blocks[edge.block].params;
        let args = edge.args.iter().zip(params).flat_map(|(&arg, p)| {
            let count = self.values[p].len() as u32;
            // As many as the parameter has values: an argument that is the same for all is passed several times.
            (0..count).map(move |k| self.lane(arg, k))
        });
        Edge::new(self.blocks[&edge.block], args)
    }

    /// If the accesses rely on it that the result of an instruction grows, adds a check of that: where it fails, each
    /// work-item runs by itself. Returns the block that goes on if the check holds.
    fn check(&mut self, inst: Inst, block: Block) -> Block {
        let checked = self.item.insts[inst].result.and_then(|v| Some((v, *self.unwrapped.get(&v)?)));
        let Some((v, ext)) = checked else { return block };
        let (first, last) = (self.lane(v, 0), self.lane(v, self.factor - 1));
        let Uncoarsened::Calls(function) = self.uncoarsened else { return block };
        // `may_check` has seen that nothing is stored before: the work-items may begin anew.
        let (next, uncoarsened) = (self.out.add_block(), self.calls(function));
        let mut b = self.builder(block, &self.item.insts[inst]);
        let rises = b.icmp(if ext == Ext::Signed { IntCc::Sle } else { IntCc::Ule }, first, last);
        b.term(Term::Branch { cond: rises, then: Function::edge(next), els: Function::edge(uncoarsened) });
        next
    }

    /// A block that calls the function of one work-item for each of them.
    fn calls(&mut self, function: FuncRef) -> Block {
        let uncoarsened = self.out.add_block();
        for k in 0..self.factor {
            let args: Vec<Value> = self.item.param_values().iter().map(|&p| self.lane(p, k)).collect();
            Builder::new(&mut self.out, uncoarsened).call(function, &args, None);
        }
        Builder::new(&mut self.out, uncoarsened).ret(None);
        uncoarsened
    }

    fn term(&mut self, from: Block, block: Block) {
        let (term, span) = (&self.item.blocks[from].term, self.item.blocks[from].term_span);
        if let Term::Branch { cond, then, els } = term
            && self.values[cond].len() > 1
        {
            // A condition with a value for each: they may disagree.
            let (then, els) = (self.edge(then), self.edge(els));
            let uncoarsened = match self.uncoarsened {
                Uncoarsened::Calls(function) => self.calls(function),
                Uncoarsened::Copies(regions) => self.copies(from, &regions[&from]),
            };
            return self.agree(block, *cond, (then, els), uncoarsened);
        }
        let new = match term {
            Term::Jump(e) => Term::Jump(self.edge(e)),
            Term::Branch { cond, then, els } => {
                Term::Branch { cond: self.lane(*cond, 0), then: self.edge(then), els: self.edge(els) }
            }
            Term::Switch { value, cases, default } => Term::Switch {
                value: self.lane(*value, 0),
                cases: cases.iter().map(|(bits, e)| (*bits, self.edge(e))).collect(),
                default: self.edge(default),
            },
            Term::Return(_) => Term::Return(None),
            Term::Unreachable => Term::Unreachable,
        };
        self.out.set_term(block, new, span);
    }

    /// A varying branch: if all work-items agree, they take `then` or `els` together, else they go to `uncoarsened`.
    fn agree(&mut self, block: Block, cond: Value, (then, els): (Edge, Edge), uncoarsened: Block) {
        let conds = self.values[&cond].clone();
        let other = self.out.add_block();
        let mut b = Builder::new(&mut self.out, block);
        let join =
            |b: &mut Builder<'_>, op| conds.iter().copied().reduce(|x, y| b.binary(op, x, y)).unwrap_or(conds[0]);
        let (all, any) = (join(&mut b, BinOp::And), join(&mut b, BinOp::Or));
        // Two tests: the frequent case, that all take `then`, needs one.
        b.term(Term::Branch { cond: all, then, els: Function::edge(other) });
        b.switch_to(other);
        b.term(Term::Branch { cond: any, then: Function::edge(uncoarsened), els });
    }

    /// A block from which the work-items run one after the other, from the branch of `from` to the join.
    fn copies(&mut self, from: Block, region: &Region) -> Block {
        let first = self.out.add_block();
        let params = region.join.map_or(&[][..], |join| &self.item.blocks[join].params[..]);
        let (mut at, mut ends) = (first, Vec::new());
        for k in 0..self.factor {
            let end = self.out.add_block();
            for &p in params {
                self.out.add_block_param(end, self.item.ty(p));
            }
            // Each copy begins where the one before ends.
            self.copy((from, at), region, k, end);
            ends.push(end);
            at = end;
        }
        // A parameter that is the same for all has one value at the join: the first copy's.
        let lanes = |p: &Value| &ends[..self.values[p].len()];
        let args = params.iter().enumerate().flat_map(|(i, p)| lanes(p).iter().map(move |&end| (end, i)));
        let args: Vec<Value> = args.map(|(end, i)| self.out.blocks[end].params[i]).collect();
        let mut b = Builder::new(&mut self.out, at);
        match region.join {
            Some(join) => b.jump(self.blocks[&join], &args),
            None => b.ret(None),
        }
        first
    }

    /// Copies a region for work-item `k`. `at` gets its branch; `end` is the block in place of the join and of returns.
    fn copy(&mut self, (from, at): (Block, Block), region: &Region, k: u32, end: Block) {
        let item = self.item;
        let mut map = CloneMap::new(self.values.keys().map(|&v| (v, self.lane(v, k))));
        // Parameters of the copied blocks get new values.
        for p in region.blocks.iter().flat_map(|&b| &item.blocks[b].params) {
            map.values.remove(p);
        }
        // An edge to the join ends the copy instead.
        map.blocks.extend(region.join.map(|join| (join, end)));
        let copies = map.clone_blocks_from(item, &mut self.out, &region.blocks);
        for &copy in &copies {
            if let Term::Return(_) = self.out.blocks[copy].term {
                self.out.blocks[copy].term = Term::Jump(Function::edge(end));
            }
        }
        self.out.layout.extend(copies);
        self.out.set_term(at, map.term(&item.blocks[from].term), item.blocks[from].term_span);
    }
}
