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
use crate::remarks::{Remark, RemarkCode};
use cloom_ir::affine::{Affine, Ext, Facts, Form, Symbol};
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{
    BinOp, Block, Builder, Edge, Flags, FuncRef, Function, Inst, InstData, IntCc, Linkage, Module, Op, Query, Space,
    Span, Term, Type, Value,
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

/// Why the work-items stay apart, and where that shows.
struct Apart {
    span: Span,
    why: &'static str,
}

impl Apart {
    fn new(why: &'static str) -> Apart {
        Apart { span: Span::NONE, why }
    }
}

/// Coarsens a kernel after the scalar passes, if that pays, and says why or why not. Global ids have at most 31 bits.
pub fn coarsen(module: &mut Module, kernel: FuncRef) -> (Option<Coarse>, Remark) {
    let made = attempt(module, kernel);
    let code = RemarkCode::Coarse;
    match made {
        Ok(coarse) => {
            let what = format!("{} work-items are one thread", coarse.factor);
            let why = format!("their numbers follow each other: an access moves up to {WIDEST} bytes");
            (Some(coarse), Remark { code, span: Span::NONE, what, why })
        }
        Err(Apart { span, why }) => {
            (None, Remark { code, span, what: "a work-item is a thread".into(), why: why.into() })
        }
    }
}

fn attempt(module: &mut Module, kernel: FuncRef) -> Result<Coarse, Apart> {
    let func = &module.funcs[kernel];
    if func.size() > MAX_SIZE {
        return Err(Apart::new("the kernel is large: what it computes takes longer than its accesses"));
    }
    if depends_on_groups(module, func) {
        return Err(Apart::new("it asks for its group, or shares something with it"));
    }
    if let Some((_, data)) = func.insts_in_layout().find(|(_, data)| !may_join(data)) {
        return Err(Apart { span: data.span, why: "this operation is each work-item's own" });
    }
    let (item, queries) = item_function(func);
    let id = queries.iter().position(|&query| query == (Query::GlobalId, 0));
    let id = id.ok_or_else(|| Apart::new("it does not ask for the global id of dimension 0"))?;
    let id = item.param_values()[func.params.len() + id];
    // What varies by data alone tells which branches may be guards; then nothing may depend on any other branch.
    let by_data = divergence::between_agreeing_lanes(&item, &[id], &|_| true);
    let facts = |divergence| Ids { item: &item, id, kernel_params: func.params.len(), divergence };
    let guards = facts(&by_data).guards();
    let divergence = divergence::between_agreeing_lanes(&item, &[id], &|b| guards.contains(&b));
    let accesses = facts(&divergence).check(&guards)?;
    let bytes = accesses.values().filter(|a| a.is_consecutive).map(|a| a.bytes).max();
    let factor = bytes.map_or(0, |bytes| (WIDEST / bytes).min(MAX_FACTOR));
    if factor < 2 {
        return Err(Apart::new("no access is of consecutive numbers of up to 8 bytes"));
    }
    let mut coarse = Function::new(format!("{}.x{factor}", func.name), func.params.clone(), None);
    coarse.linkage = func.linkage;
    coarse.kernel.clone_from(&func.kernel);
    if let Some(meta) = &mut coarse.kernel {
        // Its groups are the launcher's to choose.
        meta.reqd_group_size = None;
    }
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
    Ok(Coarse { func: module.funcs.push(coarse), factor })
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

/// The function of one work-item, and how its values depend on the id of dimension 0.
struct Ids<'a> {
    item: &'a Function,
    id: Value,
    kernel_params: usize,
    divergence: &'a Divergence,
}

impl Ids<'_> {
    /// Calls `ask` with what is known of the function's numbers.
    fn with_affine<T>(&self, ask: impl FnOnce(&Cfg, &Loops, &Affine<'_>) -> T) -> T {
        let (item, id) = (self.item, self.id);
        let cfg = Cfg::new(item);
        let loops = Loops::new(item, &cfg, &DomTree::new(item, &cfg));
        let range = |v: Value| (v == id).then_some((0, i64::from(i32::MAX)));
        let affine = Affine::new(item, &cfg, &loops, Facts { range: &range, ..Facts::default() });
        ask(&cfg, &loops, &affine)
    }

    /// The branches that vary at which work-items may go on apart.
    fn guards(&self) -> Vec<Block> {
        self.with_affine(|cfg, loops, affine| {
            let varies = |b: &Block| self.divergence.is_divergent_branch(*b);
            let is_guard = |b: &Block| self.guard(cfg, loops, affine, *b).is_ok();
            cfg.rpo().iter().copied().filter(varies).filter(is_guard).collect()
        })
    }

    /// Whether work-items may go on apart at a branch that varies, or why not.
    fn guard(&self, cfg: &Cfg, loops: &Loops, affine: &Affine<'_>, b: Block) -> Result<(), &'static str> {
        let Term::Branch { cond, .. } = self.item.blocks[b].term else {
            return Err("neighbours may take this switch differently");
        };
        if loops.innermost(b).is_some() {
            return Err("neighbours may take this branch of a loop differently");
        }
        if !self.is_bound(affine, cond) {
            return Err("neighbours may take this branch differently: it does not compare the id with a bound");
        }
        if self.stores_before(cfg, b) {
            return Err("neighbours may take this branch differently, after a store");
        }
        Ok(())
    }

    /// The accesses that vary, if all of them and all branches can be joined.
    fn check(&self, guards: &[Block]) -> Result<FxHashMap<Inst, Access>, Apart> {
        self.with_affine(|cfg, loops, affine| {
            for &b in cfg.rpo().iter().filter(|&&b| self.divergence.is_divergent_branch(b)) {
                let apart = |why| Apart { span: self.item.blocks[b].term_span, why };
                self.guard(cfg, loops, affine, b).map_err(apart)?;
                if !guards.contains(&b) {
                    return Err(apart("neighbours may take this branch differently"));
                }
            }
            self.accesses(affine)
        })
    }

    /// The accesses that vary.
    fn accesses(&self, affine: &Affine<'_>) -> Result<FxHashMap<Inst, Access>, Apart> {
        let item = self.item;
        let mut accesses = FxHashMap::default();
        for (inst, data) in item.insts_in_layout() {
            let (ty, align) = match data.op {
                Op::Load { align } => (data.result.map(|r| item.ty(r)), align),
                Op::Store { align } => (Some(item.ty(data.args[1])), align),
                _ => continue,
            };
            let Some(ty) = ty.filter(|_| !self.divergence.is_uniform(data.args[0])) else { continue };
            let access = self.access(affine, data.args[0], ty, align);
            accesses.insert(inst, access.map_err(|why| Apart { span: data.span, why })?);
        }
        Ok(accesses)
    }

    /// Whether a condition compares something that grows with the id with a bound: neighbours agree but at one place.
    fn is_bound(&self, affine: &Affine<'_>, cond: Value) -> bool {
        let Some(inst) = self.item.def_inst(cond) else { return false };
        let InstData { op, args, .. } = &self.item.insts[inst];
        let grows = |v: Value| {
            let form = affine.form(v, Ext::Own);
            let parts = form.coefficients(|s| self.is_id(s));
            parts.is_some_and(|(ids, rest)| {
                matches!(&ids[..], [(_, slope)] if slope.as_const().is_some()) && self.is_shared(&rest)
            })
        };
        let is_uniform = |v: Value| self.divergence.is_uniform(v);
        match (op, &args[..]) {
            (Op::Icmp(IntCc::Eq | IntCc::Ne), _) => false,
            (Op::Icmp(_), &[a, b]) => is_uniform(a) && grows(b) || is_uniform(b) && grows(a),
            (Op::Binary(BinOp::And | BinOp::Or), &[a, b]) => {
                [a, b].into_iter().all(|v| is_uniform(v) || self.is_bound(affine, v))
            }
            _ => false,
        }
    }

    fn is_id(&self, symbol: Symbol) -> bool {
        matches!(symbol, Symbol::Value(v, _) if v == self.id)
    }

    /// Whether a form is the same for neighbours.
    fn is_shared(&self, form: &Form) -> bool {
        !form
            .symbols()
            .any(|s| matches!(s, Symbol::Value(v, _) | Symbol::Start(v, _) if !self.divergence.is_uniform(v)))
    }

    /// Whether anything is stored before a branch.
    fn stores_before(&self, cfg: &Cfg, branch: Block) -> bool {
        let item = self.item;
        let stores = |b: Block| item.blocks[b].insts.iter().any(|&i| matches!(item.insts[i].op, Op::Store { .. }));
        let (mut before, mut seen) = (vec![branch], vec![branch]);
        while let Some(b) = before.pop() {
            if stores(b) {
                return true;
            }
            for &pred in cfg.preds(b) {
                if !seen.contains(&pred) {
                    seen.push(pred);
                    before.push(pred);
                }
            }
        }
        false
    }

    /// An access of numbers of this type at an address that varies, or why it would not gain by being joined.
    fn access(&self, affine: &Affine<'_>, address: Value, ty: Type, align: u32) -> Result<Access, &'static str> {
        let item = self.item;
        if !matches!(item.ty(address).space(), Some(Space::Global | Space::Constant)) {
            return Err("this access is not one of global memory");
        }
        const SCATTERED: &str = "the neighbours' numbers of this access do not lie together";
        let form = affine.form(address, Ext::Own);
        let (ids, rest) = form.coefficients(|s| self.is_id(s)).ok_or(SCATTERED)?;
        let slope = match &ids[..] {
            [(_, slope)] if self.is_shared(&rest) => slope.as_const().ok_or(SCATTERED)?,
            _ => return Err(SCATTERED),
        };
        let bytes = ty.bytes();
        let is_consecutive = slope == i64::from(bytes) && !ty.is_vector() && !ty.is_ptr();
        if !(is_consecutive || slope >= i64::from(bytes) && slope <= MAX_STRIDE) {
            return Err(SCATTERED);
        }
        // The address but for the id: buffers lie at large powers of two, and every other term counts by its factor.
        let buffers = &item.param_values()[..self.kernel_params];
        let is_buffer = |s: Symbol| matches!(s, Symbol::Value(v, _) if buffers.contains(&v) && item.ty(v).is_ptr());
        let mut known = BUFFER_ALIGN;
        for (monomial, factor) in rest.terms() {
            let unit = match monomial[..] {
                [symbol] if is_buffer(symbol) => BUFFER_ALIGN,
                _ => factor,
            };
            known = known.min(1 << unit.trailing_zeros().min(8));
        }
        Ok(Access { bytes, is_consecutive, align: align.max(known as u32) })
    }
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
