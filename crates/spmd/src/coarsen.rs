//! Coarsening: neighbouring work-items joined into one, for targets whose work-items are threads.
//!
//! In comes a kernel whose work-items read and write consecutive numbers; out comes a second kernel, one work-item of
//! which does the work of [`Coarse::factor`] neighbours along dimension 0, with one wide access in place of theirs. A
//! thread of a GPU that moves 16 bytes at a time keeps four times as much of the memory's bandwidth busy as one that
//! moves 4 (Volkov, "Better Performance at Lower Occupancy", GTC 2010), so that a plain kernel gets what people write
//! `float4` for.
//!
//! ```text
//! item(id)          b[id] = a[id] + 1
//! coarse(q)         v = load f32x4 &a[4·q];  store &b[4·q], (v.0 + 1, v.1 + 1, v.2 + 1, v.3 + 1)
//! ```
//!
//! The work-items are joined in lockstep: each instruction that varies becomes one for each of them before the next one
//! (unroll and jam). They have no order and share nothing but memory without races, so that no result depends on it.
//! A branch that varies is taken if all agree. If they do not, as at the edge of a guard `if (id < n)`, each runs by
//! itself, in a call of the function for one work-item; that is right only as long as none has stored anything, so
//! branches that vary come before all stores, and not in loops.

use crate::analysis::divergence::{self, Divergence};
use crate::analysis::grouping::depends_on_groups;
use cloom_ir::affine::{Affine, Ext, Facts, Symbol};
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{
    BinOp, Block, Builder, Edge, Flags, FuncRef, Function, Inst, InstData, Linkage, Module, Op, Query, Space, Term,
    Type, Value,
};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// Bytes of the widest access of a thread.
const WIDEST: u32 = 16;
/// Work-items that are joined at most.
const MAX_FACTOR: u32 = 4;
/// Instructions of a kernel that is coarsened at most: beyond it arithmetic counts, and registers become scarce.
const MAX_SIZE: usize = 150;
/// Bytes from work-item to work-item of an access that is not consecutive: the work-items' numbers lie together still.
const MAX_STRIDE: i64 = 16;
/// Bytes that the address of a buffer is a multiple of at least.
const BUFFER_ALIGN: i64 = 256;

/// A coarse kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Coarse {
    /// The kernel. Its global id of dimension 0 is that of its first work-item, divided by the factor.
    pub func: FuncRef,
    /// The work-items of the original that one of it is.
    pub factor: u32,
}

/// The values of one value of the original: one if it is uniform, else one for each work-item.
type Lanes = SmallVec<[Value; MAX_FACTOR as usize]>;

/// Coarsens a kernel after the scalar passes, if that pays. Global ids have at most 31 bits.
pub fn coarsen(module: &mut Module, kernel: FuncRef) -> Option<Coarse> {
    let func = &module.funcs[kernel];
    if func.size() > MAX_SIZE || depends_on_groups(module, func) || !func.insts_in_layout().all(|(_, d)| may_join(d)) {
        return None;
    }
    let (item, queries) = item_function(func);
    let id = queries.iter().position(|&query| query == (Query::GlobalId, 0))?;
    let id = item.param_values()[func.params.len() + id];
    let divergence = divergence::between_lanes(&item, &[id]);
    let accesses = accesses(&item, func.params.len(), id, &divergence)?;
    if !branches_come_first(&item, &divergence) {
        return None;
    }
    let bytes = accesses.values().filter(|a| a.is_consecutive).map(|a| a.bytes).max()?;
    let factor = (WIDEST / bytes).min(MAX_FACTOR);
    if factor < 2 {
        return None;
    }
    let mut coarse = Function::new(format!("{}.x{factor}", func.name), func.params.clone(), None);
    coarse.linkage = func.linkage;
    coarse.kernel.clone_from(&func.kernel);
    let item_ref = module.funcs.push(item);
    let jam = Jam {
        item: &module.funcs[item_ref],
        item_ref,
        divergence: &divergence,
        accesses: &accesses,
        factor,
        out: coarse,
        values: FxHashMap::default(),
        blocks: FxHashMap::default(),
    };
    let coarse = jam.run(&queries);
    Some(Coarse { func: module.funcs.push(coarse), factor })
}

/// Whether an instruction may be joined with those of the neighbours.
fn may_join(data: &InstData) -> bool {
    let is_plain = !data.flags.contains(Flags::VOLATILE);
    match data.op {
        Op::Load { .. } | Op::Store { .. } => is_plain,
        Op::Query { what, .. } => {
            matches!(what, Query::GlobalId | Query::GlobalSize | Query::GlobalOffset | Query::WorkDim)
        }
        Op::PureCall(_) | Op::GlobalAddr(_) => true,
        // Addresses of private memory differ between work-items in a way that nobody sees.
        Op::Alloca { .. } => false,
        ref op => op.is_pure(),
    }
}

/// The function of one work-item: what it queries are parameters, after those of the kernel, in the order returned.
fn item_function(kernel: &Function) -> (Function, Vec<(Query, u8)>) {
    let mut item = kernel.clone();
    item.name = format!("{}.item", kernel.name);
    (item.kernel, item.linkage, item.noinline) = (None, Linkage::Internal, true);
    let mut queries: Vec<(Query, u8)> = Vec::new();
    let mut params: Vec<Value> = Vec::new();
    let mut renamed: FxHashMap<Value, Value> = FxHashMap::default();
    let (entry, found) = (item.entry(), queries_of(kernel));
    for (inst, query) in found {
        let Some(result) = item.insts[inst].result else { continue };
        let at = queries.iter().position(|&known| known == query).unwrap_or_else(|| {
            let ty = item.ty(result);
            queries.push(query);
            item.params.push(ty);
            params.push(item.add_block_param(entry, ty));
            params.len() - 1
        });
        renamed.insert(result, params[at]);
    }
    for block in item.layout.clone() {
        let insts = std::mem::take(&mut item.blocks[block].insts);
        item.blocks[block].insts =
            insts.into_iter().filter(|&i| !matches!(item.insts[i].op, Op::Query { .. })).collect();
    }
    item.map_uses(|v| renamed.get(&v).copied().unwrap_or(v));
    (item, queries)
}

fn queries_of(func: &Function) -> Vec<(Inst, (Query, u8))> {
    let query = |(inst, data): (Inst, &InstData)| match data.op {
        Op::Query { what, dim } => Some((inst, (what, dim))),
        _ => None,
    };
    func.insts_in_layout().filter_map(query).collect()
}

/// An access whose address varies.
#[derive(Clone, Copy)]
struct Access {
    /// Bytes of a work-item's.
    bytes: u32,
    /// The neighbours' follow each other.
    is_consecutive: bool,
    /// What the address is a multiple of, if the first work-item's id is a multiple of this many more.
    align: u32,
}

/// The accesses that vary; none if one of them would not gain by being joined.
fn accesses(
    item: &Function,
    kernel_params: usize,
    id: Value,
    divergence: &Divergence,
) -> Option<FxHashMap<Inst, Access>> {
    let cfg = Cfg::new(item);
    let loops = Loops::new(item, &cfg, &DomTree::new(item, &cfg));
    let range = |v: Value| (v == id).then_some((0, i64::from(i32::MAX)));
    let affine = Affine::new(item, &cfg, &loops, Facts { range: &range, ..Facts::default() });
    let is_id = |symbol| matches!(symbol, Symbol::Value(v, _) if v == id);
    let buffers = &item.param_values()[..kernel_params];
    let is_buffer =
        |symbol: Symbol| matches!(symbol, Symbol::Value(v, _) if buffers.contains(&v) && item.ty(v).is_ptr());
    let mut accesses = FxHashMap::default();
    for (inst, data) in item.insts_in_layout() {
        let (ty, align) = match data.op {
            Op::Load { align } => (item.ty(data.result?), align),
            Op::Store { align } => (item.ty(data.args[1]), align),
            _ => continue,
        };
        let address = data.args[0];
        if divergence.is_uniform(address) {
            continue;
        }
        if !matches!(item.ty(address).space(), Some(Space::Global | Space::Constant)) {
            return None;
        }
        let form = affine.form(address, Ext::Own);
        let (ids, rest) = form.coefficients(is_id)?;
        let [(_, slope)] = &ids[..] else { return None };
        let slope = slope.as_const()?;
        if rest.symbols().any(|s| matches!(s, Symbol::Value(v, _) | Symbol::Start(v, _) if !divergence.is_uniform(v))) {
            return None;
        }
        let bytes = ty.bytes();
        let is_consecutive = slope == i64::from(bytes) && !ty.is_vector() && !ty.is_ptr();
        if !(is_consecutive || slope >= i64::from(bytes) && slope <= MAX_STRIDE) {
            return None;
        }
        // The address but for the id: buffers lie at large powers of two, and every other term counts by its factor.
        let mut known = BUFFER_ALIGN;
        for (monomial, factor) in rest.terms() {
            let unit = match monomial[..] {
                [symbol] if is_buffer(symbol) => BUFFER_ALIGN,
                _ => factor,
            };
            known = known.min(1 << unit.trailing_zeros().min(8));
        }
        accesses.insert(inst, Access { bytes, is_consecutive, align: align.max(known as u32) });
    }
    Some(accesses)
}

/// Whether all branches that vary are in no loop, and before all stores.
fn branches_come_first(item: &Function, divergence: &Divergence) -> bool {
    let cfg = Cfg::new(item);
    let loops = Loops::new(item, &cfg, &DomTree::new(item, &cfg));
    let stores = |b: Block| item.blocks[b].insts.iter().any(|&i| matches!(item.insts[i].op, Op::Store { .. }));
    cfg.rpo().iter().filter(|&&b| divergence.is_divergent_branch(b)).all(|&branch| {
        let mut before = vec![branch];
        let mut seen = vec![branch];
        let mut is_first = matches!(item.blocks[branch].term, Term::Branch { .. }) && loops.innermost(branch).is_none();
        while let Some(b) = before.pop() {
            is_first &= !stores(b);
            for &pred in cfg.preds(b) {
                if !seen.contains(&pred) {
                    seen.push(pred);
                    before.push(pred);
                }
            }
        }
        is_first
    })
}

/// The joining.
struct Jam<'a> {
    item: &'a Function,
    item_ref: FuncRef,
    divergence: &'a Divergence,
    accesses: &'a FxHashMap<Inst, Access>,
    factor: u32,
    out: Function,
    values: FxHashMap<Value, Lanes>,
    blocks: FxHashMap<Block, Block>,
}

impl Jam<'_> {
    fn run(mut self, queries: &[(Query, u8)]) -> Function {
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
            for &inst in &item.blocks[b].insts {
                self.inst(inst, self.blocks[&b]);
            }
            self.term(b);
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

    fn term(&mut self, from: Block) {
        let (term, span) = (&self.item.blocks[from].term, self.item.blocks[from].term_span);
        let block = self.blocks[&from];
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
        let (other, apart) = (self.out.add_block(), self.out.add_block());
        let mut b = Builder::new(&mut self.out, block);
        let join =
            |b: &mut Builder<'_>, op| conds.iter().copied().reduce(|x, y| b.binary(op, x, y)).unwrap_or(conds[0]);
        let (all, any) = (join(&mut b, BinOp::And), join(&mut b, BinOp::Or));
        b.term(Term::Branch { cond: all, then, els: Function::edge(other) });
        b.switch_to(other);
        b.term(Term::Branch { cond: any, then: Function::edge(apart), els });
        for k in 0..self.factor {
            let args: Vec<Value> = self.item.param_values().iter().map(|&p| self.lane(p, k)).collect();
            Builder::new(&mut self.out, apart).call(self.item_ref, &args, None);
        }
        Builder::new(&mut self.out, apart).ret(None);
    }
}
