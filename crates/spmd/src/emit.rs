//! Writes the work-group function: a prologue, a loop nest over the work-items for each continuation, and the dispatch.
//!
//! ```text
//! prologue ─▶ pre 0 ─▶ z ─▶ y ─▶ x ─▶ item ─▶ cloned region ─▶ latch ─┐
//!                      ▲    ▲    ▲                                    │
//!                      └────┴────┴────────────────────────────────────┘
//!                      └▶ done 0 ─▶ pre 1 … (by the exit that the work-items took)
//! ```
//!
//! In a region, a value comes from one of four places: its clone; a load from the context at the item's start (uniform ones before the
//! loops); recomputation at the item's start; or, if the region both needs the old one and makes a new one (a barrier in a loop), a private
//! variable that the scalar passes turn back into SSA.

use crate::context::{Context, Slot, memory_type, slot_align};
use crate::regions::{Continuation, Exit, Plan};
use cloom_ir::{
    BinOp, Block, Builder, CastOp, Edge, Entity, Flags, Function, GlobalRef, Inst, IntCc, KernelMeta, Linkage, Module,
    Op, ParamKind, Query, Space, Term, Type, Value, abi,
};
use rustc_hash::FxHashMap;

/// The exit number of a work-item that has returned.
const DONE: u64 = u32::MAX as u64;

/// The work-group function of a split kernel, and the size of its static local memory.
pub fn work_group(module: &Module, kernel: &Function, plan: &Plan, context: &Context) -> (Function, u64) {
    let types = vec![
        Type::ptr(Space::Context),
        Type::ptr(Space::Constant),
        Type::ptr(Space::Context),
        Type::ptr(Space::Local),
        Type::ptr(Space::Context),
    ];
    let mut func = Function::new(format!("{}.wg", kernel.name), types.clone(), None);
    func.linkage = Linkage::External;
    let prologue = func.add_block();
    let abi: Vec<Value> = types.into_iter().map(|ty| func.add_block_param(prologue, ty)).collect();
    let (locals, local_size) = place_locals(module, kernel, plan);
    let mut emitter = Emitter {
        kernel,
        plan,
        context,
        locals,
        launch: abi[0],
        args: abi[1],
        group: abi[2],
        local: abi[3],
        scratch: abi[4],
        prologue,
        params: FxHashMap::default(),
        queries: FxHashMap::default(),
        arrays: FxHashMap::default(),
        sizes: [abi[0]; 3],
        func,
    };
    emitter.prologue();
    emitter.continuations();
    (emitter.func, local_size)
}

/// Offsets of the static local variables that the kernel uses.
fn place_locals(module: &Module, kernel: &Function, plan: &Plan) -> (FxHashMap<GlobalRef, u64>, u64) {
    let mut offsets = FxHashMap::default();
    let mut end = 0u64;
    for &b in plan.continuations.iter().flat_map(|c| &c.blocks) {
        for &i in &kernel.blocks[b].insts {
            if let Op::GlobalAddr(g) = kernel.insts[i].op
                && module.globals[g].space == Space::Local
            {
                offsets.entry(g).or_insert_with(|| {
                    let at = end.next_multiple_of(u64::from(module.globals[g].align));
                    end = at + module.globals[g].size;
                    at
                });
            }
        }
    }
    (offsets, end)
}

struct Emitter<'a> {
    kernel: &'a Function,
    plan: &'a Plan,
    context: &'a Context,
    locals: FxHashMap<GlobalRef, u64>,
    launch: Value,
    args: Value,
    group: Value,
    local: Value,
    scratch: Value,
    prologue: Block,
    /// The kernel's parameters.
    params: FxHashMap<Value, Value>,
    /// Queries that are the same for the group; of global ids, the group's base.
    queries: FxHashMap<(Query, u8), Value>,
    /// Private arrays that live within one continuation.
    arrays: FxHashMap<Value, Value>,
    /// The group's local size.
    sizes: [Value; 3],
    func: Function,
}

/// One continuation being written.
struct Item {
    index: usize,
    /// Where loads from the context and recomputed values go: runs once per work-item, before its region.
    start: Block,
    ids: [Value; 3],
    /// The work-item's record.
    record: Option<Value>,
    blocks: FxHashMap<Block, Block>,
    /// Uniform values from before, loaded ahead of the loops.
    uniform: FxHashMap<Value, Value>,
    values: FxHashMap<Value, Value>,
    /// Values with an old and a new definition, in private variables.
    variables: FxHashMap<Value, Value>,
    latch: Block,
    /// The exit number so far, if exits are counted.
    exit: Option<Value>,
}

impl Emitter<'_> {
    fn at(&mut self, block: Block) -> Builder<'_> {
        Builder::new(&mut self.func, block)
    }

    fn load_at(&mut self, block: Block, base: Value, offset: u64, ty: Type) -> Value {
        let mut b = self.at(block);
        let p = b.ptr_offset(base, offset);
        b.load(ty, p, ty.scalar.bytes(), Flags::empty())
    }

    /// What is the same for all work-items: arguments, sizes, ids of the group, private arrays.
    fn prologue(&mut self) {
        let (entry, kernel) = (self.prologue, self.kernel);
        let default = KernelMeta::default();
        let meta = kernel.kernel.as_deref().unwrap_or(&default);
        let (offsets, _) = meta.layout();
        for ((param, &offset), &v) in meta.params.iter().zip(&offsets).zip(kernel.param_values()) {
            let (args, local, ty) = (self.args, self.local, kernel.ty(v));
            let mut b = self.at(entry);
            let p = b.ptr_offset(args, u64::from(offset));
            let value = match param.kind {
                ParamKind::Struct => p,
                ParamKind::Local => {
                    let bytes = b.load(Type::I64, p, 8, Flags::empty());
                    b.ptr_add(local, bytes)
                }
                _ => b.load(ty, p, param.align, Flags::empty()),
            };
            self.params.insert(v, value);
        }
        for d in 0..3u64 {
            self.sizes[d as usize] = self.load_at(entry, self.group, abi::GROUP_LOCAL_SIZE + 8 * d, Type::I64);
        }
        let mut wanted = Vec::new();
        for &b in self.plan.continuations.iter().flat_map(|c| &c.blocks) {
            for &i in &kernel.blocks[b].insts {
                match kernel.insts[i].op {
                    Op::Query { what, dim } if !wanted.contains(&(what, dim)) => wanted.push((what, dim)),
                    Op::Alloca { size, align } => {
                        if let Some(v) = kernel.insts[i].result
                            && self.context.slots[v.index()].is_none()
                            && !self.arrays.contains_key(&v)
                        {
                            let p = self.at(entry).alloca(size, align);
                            self.arrays.insert(v, p);
                        }
                    }
                    _ => {}
                }
            }
        }
        for (what, dim) in wanted {
            let value = self.group_query(what, dim);
            self.queries.insert((what, dim), value);
        }
    }

    fn group_query(&mut self, what: Query, dim: u8) -> Value {
        let (entry, d) = (self.prologue, 8 * u64::from(dim));
        let (launch, group) = (self.launch, self.group);
        match what {
            Query::WorkDim => self.load_at(entry, launch, abi::LAUNCH_WORK_DIM, Type::I32),
            Query::GlobalSize => self.load_at(entry, launch, abi::LAUNCH_GLOBAL_SIZE + d, Type::I64),
            Query::GlobalOffset => self.load_at(entry, launch, abi::LAUNCH_GLOBAL_OFFSET + d, Type::I64),
            Query::EnqueuedLocalSize => self.load_at(entry, launch, abi::LAUNCH_LOCAL_SIZE + d, Type::I64),
            Query::NumGroups => self.load_at(entry, launch, abi::LAUNCH_NUM_GROUPS + d, Type::I64),
            Query::GroupId => self.load_at(entry, group, abi::GROUP_ID + d, Type::I64),
            Query::LocalSize | Query::LocalId => self.sizes[usize::from(dim)],
            Query::GlobalId => {
                let id = self.load_at(entry, group, abi::GROUP_ID + d, Type::I64);
                let size = self.load_at(entry, launch, abi::LAUNCH_LOCAL_SIZE + d, Type::I64);
                let offset = self.load_at(entry, launch, abi::LAUNCH_GLOBAL_OFFSET + d, Type::I64);
                let mut b = self.at(entry);
                let first = b.binary_flags(BinOp::Mul, id, size, Flags::NUW | Flags::NSW);
                b.binary(BinOp::Add, first, offset)
            }
        }
    }

    fn continuations(&mut self) {
        let plan = self.plan;
        let pre: Vec<Block> = plan.continuations.iter().map(|_| self.func.add_block()).collect();
        let end = self.func.add_block();
        self.at(end).ret(None);
        let entry = self.prologue;
        self.at(entry).jump(pre[0], &[]);
        for (index, c) in plan.continuations.iter().enumerate() {
            let counted = c.exits.len() > 1 || plan.own_next;
            let done = self.item_loops(index, c, pre[index], counted);
            let target = |exit: Exit| match exit {
                Exit::Barrier(n) => (n as u64, pre[n]),
                Exit::Return => (DONE, end),
            };
            if !counted {
                let to = c.exits.first().map_or(end, |&e| target(e).1);
                self.at(done).jump(to, &[]);
                continue;
            }
            // With their own next, work-items may wait at any barrier, not only at those that this region reaches.
            let cases = if plan.own_next {
                (1..pre.len()).map(|n| (n as u64, Edge::new(pre[n], []))).collect()
            } else {
                c.exits.iter().map(|&e| target(e)).filter(|t| t.0 != DONE).map(|(n, b)| (n, Edge::new(b, []))).collect()
            };
            let value = self.func.blocks[done].params[0];
            self.at(done).term(Term::Switch { value, cases, default: Edge::new(end, []) });
        }
    }

    /// The loop nest of a continuation. Gives the block after it, with the exit number as parameter if exits are counted.
    fn item_loops(&mut self, index: usize, c: &Continuation, pre: Block, counted: bool) -> Block {
        let f = &mut self.func;
        let [z_head, y_head, x_head, y_step, z_step, start, latch, done] = std::array::from_fn(|_| f.add_block());
        // Each header has the id of its dimension, the work-item's number and the exit number.
        let carried = |f: &mut Function, block: Block, id: bool| {
            let id = id.then(|| f.add_block_param(block, Type::I64));
            let item = f.add_block_param(block, Type::I64);
            let exit = counted.then(|| f.add_block_param(block, Type::I32));
            (id.unwrap_or(item), item, exit)
        };
        let (z, z_item, z_exit) = carried(f, z_head, true);
        let (y, y_item, y_exit) = carried(f, y_head, true);
        let (x, x_item, x_exit) = carried(f, x_head, true);
        let (_, ys_item, ys_exit) = carried(f, y_step, false);
        let (_, zs_item, zs_exit) = carried(f, z_step, false);
        let latch_exit = counted.then(|| f.add_block_param(latch, Type::I32));
        let done_exit = counted.then(|| f.add_block_param(done, Type::I32));
        let sizes = self.sizes;
        let edge = |to: Block, values: &[Option<Value>]| Edge::new(to, values.iter().flatten().copied());

        let uniform = self.load_uniform(c, pre);
        let mut b = self.at(pre);
        let zero = b.iconst(Type::I64, 0);
        let none = counted.then(|| b.iconst(Type::I32, DONE));
        b.term(Term::Jump(edge(z_head, &[Some(zero), Some(zero), none])));

        b.switch_to(z_head);
        let more = b.icmp(IntCc::Ult, z, sizes[2]);
        let (then, els) = (edge(y_head, &[Some(zero), Some(z_item), z_exit]), edge(done, &[z_exit]));
        b.term(Term::Branch { cond: more, then, els });

        b.switch_to(y_head);
        let more = b.icmp(IntCc::Ult, y, sizes[1]);
        let (then, els) = (edge(x_head, &[Some(zero), Some(y_item), y_exit]), edge(z_step, &[Some(y_item), y_exit]));
        b.term(Term::Branch { cond: more, then, els });

        b.switch_to(x_head);
        let more = b.icmp(IntCc::Ult, x, sizes[0]);
        let (then, els) = (edge(start, &[]), edge(y_step, &[Some(x_item), x_exit]));
        b.term(Term::Branch { cond: more, then, els });

        b.switch_to(y_step);
        let one = b.iconst(Type::I64, 1);
        let next = b.binary_flags(BinOp::Add, y, one, Flags::NUW | Flags::NSW);
        b.term(Term::Jump(edge(y_head, &[Some(next), Some(ys_item), ys_exit])));

        b.switch_to(z_step);
        let one = b.iconst(Type::I64, 1);
        let next = b.binary_flags(BinOp::Add, z, one, Flags::NUW | Flags::NSW);
        b.term(Term::Jump(edge(z_head, &[Some(next), Some(zs_item), zs_exit])));

        b.switch_to(latch);
        let one = b.iconst(Type::I64, 1);
        let next = b.binary_flags(BinOp::Add, x, one, Flags::NUW | Flags::NSW);
        let item = b.binary_flags(BinOp::Add, x_item, one, Flags::NUW | Flags::NSW);
        b.term(Term::Jump(edge(x_head, &[Some(next), Some(item), latch_exit])));
        let _ = done_exit;

        let mut item = Item {
            index,
            start,
            ids: [x, y, z],
            record: None,
            blocks: FxHashMap::default(),
            uniform,
            values: FxHashMap::default(),
            variables: FxHashMap::default(),
            latch,
            exit: x_exit,
        };
        if self.context.per_item > 0 {
            let (scratch, fixed, per_item) = (self.scratch, self.context.fixed, self.context.per_item);
            let mut b = self.at(start);
            let size = b.iconst(Type::I64, per_item);
            let offset = b.binary_flags(BinOp::Mul, x_item, size, Flags::NUW | Flags::NSW);
            let base = b.ptr_offset(scratch, fixed);
            item.record = Some(b.ptr_add(base, offset));
        }
        self.region(c, item);
        done
    }

    /// Uniform values that the continuation needs, loaded once before its loops: the first work-item may already store new ones.
    fn load_uniform(&mut self, c: &Continuation, pre: Block) -> FxHashMap<Value, Value> {
        let mut loaded = FxHashMap::default();
        for &v in &c.live_in {
            if let Some(Slot::Group(offset)) = self.context.slots[v.index()] {
                let (scratch, ty) = (self.scratch, self.kernel.ty(v));
                let mut b = self.at(pre);
                let p = b.ptr_offset(scratch, offset);
                let value = from_memory(&mut b, p, ty);
                loaded.insert(v, value);
            }
        }
        loaded
    }

    /// Clones the blocks of a continuation for one work-item.
    fn region(&mut self, c: &Continuation, mut item: Item) {
        let kernel = self.kernel;
        // A work-item that waits elsewhere, or has returned, is passed over.
        let mut start = item.start;
        if let (Some(at), Some(record), Some(so_far), true) =
            (self.context.next, item.record, item.exit, item.index > 0)
        {
            let body = self.func.add_block();
            let (latch, number) = (item.latch, item.index as u64);
            let mut b = self.at(start);
            let p = b.ptr_offset(record, at);
            let next = b.load(Type::I32, p, 4, Flags::empty());
            let mine = b.iconst(Type::I32, number);
            let here = b.icmp(IntCc::Eq, next, mine);
            let least = b.binary(BinOp::Umin, so_far, next);
            let (then, els) = (Edge::new(body, []), Edge::new(latch, [least]));
            b.term(Term::Branch { cond: here, then, els });
            start = body;
            item.start = body;
        }
        let mut defined = rustc_hash::FxHashSet::default();
        for &block in &c.blocks {
            let new = self.func.add_block();
            item.blocks.insert(block, new);
            if block != kernel.entry() {
                for &p in &kernel.blocks[block].params {
                    let v = self.func.add_block_param(new, kernel.ty(p));
                    item.values.insert(p, v);
                    defined.insert(p);
                }
            }
            defined.extend(kernel.blocks[block].insts.iter().filter_map(|&i| kernel.insts[i].result));
        }
        self.bring_in(c, &mut item, &defined);
        for &block in &c.blocks {
            let new = item.blocks[&block];
            if block != kernel.entry() {
                for &p in &kernel.blocks[block].params {
                    self.define(&mut item, new, p, None);
                }
            }
            for &inst in &kernel.blocks[block].insts {
                self.clone_inst(&mut item, new, inst);
            }
            self.clone_term(&mut item, block, new, &defined);
        }
        let first = item.blocks[&c.start];
        self.at(start).jump(first, &[]);
    }

    /// Loads what the continuation needs from the work-item's record.
    fn bring_in(&mut self, c: &Continuation, item: &mut Item, defined: &rustc_hash::FxHashSet<Value>) {
        for &v in &c.live_in {
            let ty = self.kernel.ty(v);
            let old = match (self.context.slots[v.index()], item.record) {
                (Some(Slot::Group(_)), _) => item.uniform.get(&v).copied(),
                (Some(Slot::Item(offset)), Some(record)) if !self.plan.kept_arrays.contains(&v) => {
                    let start = item.start;
                    let mut b = self.at(start);
                    let p = b.ptr_offset(record, offset);
                    Some(from_memory(&mut b, p, ty))
                }
                _ => None,
            };
            let Some(old) = old else { continue };
            if !defined.contains(&v) {
                item.values.insert(v, old);
                continue;
            }
            let memory = memory_type(ty);
            let (prologue, start) = (self.prologue, item.start);
            let variable = self.at(prologue).alloca(u64::from(memory.bytes()), slot_align(ty));
            item.variables.insert(v, variable);
            let mut b = self.at(start);
            to_memory(&mut b, variable, old, ty);
        }
    }

    /// A value of the kernel got its clone (`new`; of a block parameter, the clone's parameter is known already).
    fn define(&mut self, item: &mut Item, block: Block, v: Value, new: Option<Value>) {
        if let Some(new) = new {
            item.values.insert(v, new);
        }
        if let (Some(&variable), Some(&new)) = (item.variables.get(&v), item.values.get(&v)) {
            let ty = self.kernel.ty(v);
            let mut b = self.at(block);
            to_memory(&mut b, variable, new, ty);
        }
    }

    /// The clone of a value for a use at the end of `block`.
    fn resolve(&mut self, item: &mut Item, block: Block, v: Value) -> Value {
        if let Some(&variable) = item.variables.get(&v) {
            let ty = self.kernel.ty(v);
            let mut b = self.at(block);
            return from_memory(&mut b, variable, ty);
        }
        if let Some(&known) = self.params.get(&v).or_else(|| item.values.get(&v)).or_else(|| self.arrays.get(&v)) {
            return known;
        }
        let start = item.start;
        if let (Some(Slot::Item(offset)), Some(record)) = (self.context.slots[v.index()], item.record) {
            // A private array in the record: its address.
            let mut b = self.at(start);
            let p = b.ptr_offset(record, offset);
            let p = b.cast(CastOp::Space, p, Type::ptr(Space::Private));
            item.values.insert(v, p);
            return p;
        }
        // Recomputed at the item's start. The depth is bounded by the plan.
        match self.kernel.def_inst(v) {
            Some(inst) => self.materialise(item, start, inst),
            None => v,
        }
    }

    fn clone_inst(&mut self, item: &mut Item, block: Block, inst: Inst) {
        let data = &self.kernel.insts[inst];
        if let Some(r) = data.result {
            if matches!(data.op, Op::Alloca { .. }) {
                return;
            }
            // After a barrier, a use may not lie behind the definition: recomputed values stand at the item's start.
            if item.index > 0 && self.plan.recomputed[r.index()] {
                return;
            }
        }
        self.materialise(item, block, inst);
    }

    /// Clones an instruction at the end of `block`. Gives its result (of an instruction without, nothing of meaning).
    fn materialise(&mut self, item: &mut Item, block: Block, inst: Inst) -> Value {
        let data = &self.kernel.insts[inst];
        let replaced = match data.op {
            Op::Query { what: Query::LocalId, dim } => Some(item.ids[usize::from(dim)]),
            Op::Query { what: Query::GlobalId, dim } => {
                let (base, id) = (self.queries[&(Query::GlobalId, dim)], item.ids[usize::from(dim)]);
                Some(self.at(block).binary(BinOp::Add, base, id))
            }
            Op::Query { what, dim } => Some(self.queries[&(what, dim)]),
            Op::GlobalAddr(g) => self.locals.get(&g).copied().map(|offset| {
                let local = self.local;
                self.at(block).ptr_offset(local, offset)
            }),
            _ => None,
        };
        if let (Some(new), Some(r)) = (replaced, data.result) {
            self.define(item, block, r, Some(new));
            return new;
        }
        let args = data.args.iter().map(|&a| self.resolve(item, block, a)).collect();
        let ty = data.result.map(|r| self.kernel.ty(r));
        let new = self.func.make_inst(data.op.clone(), args, ty, data.flags, data.span);
        self.func.blocks[block].insts.push(new);
        match (data.result, self.func.insts[new].result) {
            (Some(r), Some(v)) => {
                self.define(item, block, r, Some(v));
                v
            }
            _ => self.launch,
        }
    }

    fn clone_term(&mut self, item: &mut Item, block: Block, new: Block, defined: &rustc_hash::FxHashSet<Value>) {
        let kernel = self.kernel;
        let span = kernel.blocks[block].term_span;
        if let Some(next) = self.plan.barrier_after[block.index()] {
            let plan = self.plan;
            for &v in &plan.continuations[next].live_in {
                let keep = defined.contains(&v) && !plan.kept_arrays.contains(&v);
                let Some(slot) = self.context.slots[v.index()].filter(|_| keep) else { continue };
                let value = self.resolve(item, new, v);
                let (scratch, ty) = (self.scratch, kernel.ty(v));
                let (base, offset) = match (slot, item.record) {
                    (Slot::Item(offset), Some(record)) => (record, offset),
                    (Slot::Group(offset), _) | (Slot::Item(offset), None) => (scratch, offset),
                };
                let mut b = self.at(new);
                let p = b.ptr_offset(base, offset);
                to_memory(&mut b, p, value, ty);
            }
            return self.leave(item, new, next as u64);
        }
        let mut term = kernel.blocks[block].term.clone();
        if matches!(term, Term::Return(_) | Term::Unreachable) {
            return self.leave(item, new, DONE);
        }
        term.map_uses(|v| self.resolve(item, new, v));
        for e in term.edges_mut() {
            e.block = item.blocks[&e.block];
        }
        self.func.set_term(new, term, span);
    }

    /// Ends the work-item's part of the continuation.
    fn leave(&mut self, item: &Item, block: Block, exit: u64) {
        let (latch, own) = (item.latch, self.context.next.zip(item.record));
        let mut b = self.at(block);
        let Some(so_far) = item.exit else { return b.jump(latch, &[]) };
        let mut exit = b.iconst(Type::I32, exit);
        if let Some((at, record)) = own {
            let p = b.ptr_offset(record, at);
            b.store(p, exit, 4, Flags::empty());
            exit = b.binary(BinOp::Umin, so_far, exit);
        }
        b.jump(latch, &[exit]);
    }
}

fn from_memory(b: &mut Builder<'_>, p: Value, ty: Type) -> Value {
    let memory = memory_type(ty);
    let value = b.load(memory, p, slot_align(ty), Flags::empty());
    if memory == ty {
        return value;
    }
    let zero = b.iconst(memory, 0);
    b.icmp(IntCc::Ne, value, zero)
}

fn to_memory(b: &mut Builder<'_>, p: Value, value: Value, ty: Type) {
    let memory = memory_type(ty);
    let value = if memory == ty { value } else { b.cast(CastOp::Zext, value, memory) };
    b.store(p, value, slot_align(ty), Flags::empty());
}
