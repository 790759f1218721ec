//! The joining: unroll and jam of the function of one work-item.

use super::MAX_FACTOR;
use super::check::{Access, Unwrapped};
use crate::analysis::divergence::Divergence;
use cloom_ir::affine::Ext;
use cloom_ir::cfg::Cfg;
use cloom_ir::{
    BinOp, Block, Builder, Edge, Flags, FuncRef, Function, Inst, InstData, IntCc, Op, Query, Term, Type, Value,
};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// The values of one value of the original: one if it is uniform, else one for each work-item.
type Lanes = SmallVec<[Value; MAX_FACTOR as usize]>;

/// The joining.
pub(super) struct Jam<'a> {
    item: &'a Function,
    item_ref: FuncRef,
    divergence: &'a Divergence,
    accesses: &'a FxHashMap<Inst, Access>,
    unwrapped: &'a Unwrapped,
    factor: u32,
    out: Function,
    values: FxHashMap<Value, Lanes>,
    blocks: FxHashMap<Block, Block>,
}

impl<'a> Jam<'a> {
    /// Joins `factor` work-items of `item` in `out`, which has the kernel's parameters and no block yet.
    pub(super) fn new(
        (item_ref, item): (FuncRef, &'a Function),
        divergence: &'a Divergence,
        (accesses, unwrapped): (&'a FxHashMap<Inst, Access>, &'a Unwrapped),
        factor: u32,
        out: Function,
    ) -> Self {
        let (values, blocks) = (FxHashMap::default(), FxHashMap::default());
        Jam { item, item_ref, divergence, accesses, unwrapped, factor, out, values, blocks }
    }

    /// The function of the joined work-items; `queries` are what the last parameters of `item` stand for.
    pub(super) fn run(mut self, queries: &[(Query, u8)]) -> Function {
        let (item, cfg) = (self.item, Cfg::new(self.item));
        for &b in cfg.rpo() {
            let block = self.out.add_block();
            self.blocks.insert(b, block);
        }
        self.begin(queries);
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

    /// The parameters: the kernel's, and what it queries.
    fn begin(&mut self, queries: &[(Query, u8)]) {
        let (item, entry) = (self.item, self.out.entry());
        let (own, asked) = item.param_values().split_at(item.params.len() - queries.len());
        for &p in own {
            let param = self.out.add_block_param(entry, item.ty(p));
            self.values.insert(p, smallvec![param]);
        }
        let mut b = Builder::new(&mut self.out, entry);
        for (&p, &(what, dim)) in asked.iter().zip(queries) {
            let value = b.query(what, dim);
            let lanes = if (what, dim) == (Query::GlobalId, 0) {
                let factor = b.iconst(Type::I64, self.factor.into());
                let first = b.binary_flags(BinOp::Mul, value, factor, Flags::NSW | Flags::NUW);
                let lane = |k: u32| {
                    let k = b.iconst(Type::I64, k.into());
                    b.binary_flags(BinOp::Add, first, k, Flags::NSW | Flags::NUW)
                };
                (0..self.factor).map(lane).collect()
            } else {
                smallvec![value]
            };
            self.values.insert(p, lanes);
        }
    }

    /// The value for one work-item.
    fn lane(&self, v: Value, k: u32) -> Value {
        let lanes = &self.values[&v];
        lanes.get(k as usize).copied().unwrap_or(lanes[0])
    }

    fn inst(&mut self, inst: Inst, block: Block) {
        let data = &self.item.insts[inst];
        let ty = data.result.map(|r| self.item.ty(r));
        let varies = data.args.iter().any(|v| self.values[v].len() > 1);
        let access = self.accesses.get(&inst).filter(|access| access.is_consecutive);
        let lanes = self.factor as u16;
        let lane_args = |jam: &Self, k: u32| data.args.iter().map(|&v| jam.lane(v, k)).collect();
        match (&data.op, access, ty) {
            (Op::Load { .. }, Some(access), Some(ty)) => {
                let address = self.lane(data.args[0], 0);
                let mut b = self.builder(block, data);
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
            (0..count).map(move |k| self.lane(arg, k))
        });
        Edge::new(self.blocks[&edge.block], args)
    }

    /// Sees to it that the result of an instruction rises, if that is taken for granted: else each work-item runs by
    /// itself. Returns the block in which it does.
    fn check(&mut self, inst: Inst, block: Block) -> Block {
        let checked = self.item.insts[inst].result.and_then(|v| Some((v, *self.unwrapped.get(&v)?)));
        let Some((v, ext)) = checked else { return block };
        let (first, last) = (self.lane(v, 0), self.lane(v, self.factor - 1));
        let (next, apart) = (self.out.add_block(), self.apart());
        let mut b = self.builder(block, &self.item.insts[inst]);
        let rises = b.icmp(if ext == Ext::Signed { IntCc::Sle } else { IntCc::Ule }, first, last);
        b.term(Term::Branch { cond: rises, then: Function::edge(next), els: Function::edge(apart) });
        next
    }

    /// A block in which each work-item runs by itself.
    fn apart(&mut self) -> Block {
        let apart = self.out.add_block();
        for k in 0..self.factor {
            let args: Vec<Value> = self.item.param_values().iter().map(|&p| self.lane(p, k)).collect();
            Builder::new(&mut self.out, apart).call(self.item_ref, &args, None);
        }
        Builder::new(&mut self.out, apart).ret(None);
        apart
    }

    fn term(&mut self, from: Block, block: Block) {
        let (term, span) = (&self.item.blocks[from].term, self.item.blocks[from].term_span);
        let new = match term {
            Term::Jump(e) => Term::Jump(self.edge(e)),
            Term::Branch { cond, then, els } => {
                let (then, els) = (self.edge(then), self.edge(els));
                if self.values[cond].len() > 1 {
                    return self.guard(block, *cond, then, els);
                }
                Term::Branch { cond: self.lane(*cond, 0), then, els }
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

    /// A branch that varies: both ways for all of them, and each by itself.
    fn guard(&mut self, block: Block, cond: Value, then: Edge, els: Edge) {
        let conds = self.values[&cond].clone();
        let (other, apart) = (self.out.add_block(), self.apart());
        let mut b = Builder::new(&mut self.out, block);
        let join =
            |b: &mut Builder<'_>, op| conds.iter().copied().reduce(|x, y| b.binary(op, x, y)).unwrap_or(conds[0]);
        let (all, any) = (join(&mut b, BinOp::And), join(&mut b, BinOp::Or));
        b.term(Term::Branch { cond: all, then, els: Function::edge(other) });
        b.switch_to(other);
        b.term(Term::Branch { cond: any, then: Function::edge(apart), els });
    }
}
