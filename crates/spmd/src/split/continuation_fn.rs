//! A continuation as a function of one work-item.
//!
//! In comes the split kernel with its continuation graph and frame; out goes, for a continuation, an ordinary
//! function. Its parameters are everything that it takes from outside ([`Param`]), and it returns the number of the
//! exit that the work-item took ([`exit_number`]). Values that live across barriers are loaded and stored through
//! parameters that point to their slots. So later passes need not know barriers: they see memory.
//!
//! A use of a kernel's value becomes one of four things: its clone; a load from its slot at the start; a value
//! rematerialised at the start ([`crate::split::remat`]); or a load of a private variable, if the continuation both
//! needs the value from before and defines it anew (a barrier in a loop). `mem2reg` turns the variable back into SSA
//! values.
//!
//! Obligation F1 (frame): at each barrier, every value that lives into the next continuation and was defined in this
//! one is stored (`clone_term`), so that its slot has this work-item's value on every path.

use crate::params::Param;
use crate::split::continuations::{Continuation, ContinuationGraph, Exit};
use crate::split::frame::{Frame, Slot, memory_type, slot_align};
use cloom_ir::{Block, Builder, CastOp, Entity, Flags, Function, Inst, IntCc, Module, Op, Space, Term, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// The exit number of a work-item that has returned.
pub const DONE: u64 = u32::MAX as u64;

/// The number that the function returns for an exit.
pub fn exit_number(exit: Exit) -> u64 {
    match exit {
        Exit::Barrier(n) => n as u64,
        Exit::Return => DONE,
    }
}

/// The function of one continuation.
pub struct ContinuationFunction {
    /// The function.
    pub func: Function,
    /// What each parameter is.
    pub params: Vec<Param>,
}

/// Builds the function of continuation `index`.
pub fn function(
    module: &Module,
    kernel: &Function,
    graph: &ContinuationGraph,
    frame: &Frame,
    index: usize,
) -> ContinuationFunction {
    let mut func = kernel.new_for_code_of(format!("{}.item{index}", kernel.name), Vec::new(), Some(Type::I32));
    let entry = func.add_block();
    let mut e = Cloner {
        module,
        kernel,
        graph,
        frame,
        index,
        func,
        entry,
        params: FxHashMap::default(),
        param_list: Vec::new(),
        blocks: FxHashMap::default(),
        values: FxHashMap::default(),
        variables: FxHashMap::default(),
        arrays: FxHashMap::default(),
    };
    e.region(&graph.continuations[index]);
    let mut func = e.func;
    func.params = e.param_list.iter().map(|&p| func.ty(e.params[&p])).collect();
    ContinuationFunction { func, params: e.param_list }
}

struct Cloner<'a> {
    module: &'a Module,
    kernel: &'a Function,
    graph: &'a ContinuationGraph,
    frame: &'a Frame,
    index: usize,
    func: Function,
    entry: Block,
    params: FxHashMap<Param, Value>,
    param_list: Vec<Param>,
    blocks: FxHashMap<Block, Block>,
    values: FxHashMap<Value, Value>,
    /// The private variables of values that are both live into the continuation and defined in it.
    variables: FxHashMap<Value, Value>,
    /// Private arrays that do not live across barriers.
    arrays: FxHashMap<Value, Value>,
}

impl Cloner<'_> {
    fn at(&mut self, block: Block) -> Builder<'_> {
        Builder::new(&mut self.func, block)
    }

    /// The parameter for something from outside, created on first use.
    fn param(&mut self, p: Param, ty: Type) -> Value {
        if let Some(&v) = self.params.get(&p) {
            return v;
        }
        let v = self.func.add_block_param(self.entry, ty);
        self.params.insert(p, v);
        self.param_list.push(p);
        v
    }

    fn region(&mut self, c: &Continuation) {
        let kernel = self.kernel;
        // Blocks are made in this order: the test for divergent dispatch, then loads of live values, then the code.
        let mut start = self.entry;
        // With divergent dispatch, a work-item that waits at another barrier, or has returned, skips this
        // continuation.
        if self.graph.divergent_dispatch && self.index > 0 {
            let (body, skip) = (self.func.add_block(), self.func.add_block());
            let p = self.param(Param::NextContinuation, Type::ptr(Space::Context));
            let own_id = self.index as u64;
            let mut b = self.at(start);
            let next = b.load(Type::I32, p, 4, Flags::empty());
            let own_id_value = b.iconst(Type::I32, own_id);
            let is_own = b.icmp(IntCc::Eq, next, own_id_value);
            b.branch(is_own, body, skip);
            b.switch_to(skip);
            // The number that it waits for counts in the group's minimum, as if this work-item had just run.
            b.ret(Some(next));
            start = body;
        }
        // All blocks and parameters first: an edge or a use may come before its target is cloned.
        let mut defined = FxHashSet::default();
        for &block in &c.blocks {
            let new = self.func.add_block();
            self.blocks.insert(block, new);
            if block != kernel.entry() {
                for &p in &kernel.blocks[block].params {
                    let v = self.func.add_block_param(new, kernel.ty(p));
                    self.values.insert(p, v);
                    defined.insert(p);
                }
            }
            defined.extend(kernel.blocks[block].insts.iter().filter_map(|&i| kernel.insts[i].result));
        }
        // Before the code, which may store to the same slots at its end.
        self.load_live_ins(c, start, &defined);
        for &block in &c.blocks {
            let new = self.blocks[&block];
            if block != kernel.entry() {
                for &p in &kernel.blocks[block].params {
                    self.define(new, p, None);
                }
            }
            for &inst in &kernel.blocks[block].insts {
                self.clone_inst(new, inst);
            }
            self.clone_term(block, new, &defined);
        }
        let first = self.blocks[&c.start];
        self.at(start).jump(first, &[]);
    }

    /// Loads or rematerialises the values that live into the continuation.
    fn load_live_ins(&mut self, c: &Continuation, start: Block, defined: &FxHashSet<Value>) {
        for &v in &c.live_in {
            let ty = self.kernel.ty(v);
            let old = match self.frame.slots[v.index()] {
                // The group has loaded it before the loops over vectors: the first work-item may store the next value.
                Some(Slot::Group(_)) => self.param(Param::Uniform(v), ty),
                // An array's slot is its contents: `resolve` uses the address.
                Some(Slot::Item(_)) if !self.graph.kept_arrays.contains(&v) => {
                    let p = self.param(Param::ItemSlot(v), Type::ptr(Space::Context));
                    load_value(&mut self.at(start), p, ty)
                }
                None if self.graph.remat_from_group[v.index()] => self.rematerialise(start, v),
                _ => continue,
            };
            // Only the value from before is used here: it needs no variable.
            if !defined.contains(&v) {
                self.values.insert(v, old);
                continue;
            }
            let memory = memory_type(ty);
            let entry = self.entry;
            // With a barrier in a loop, the value may be that from before the barrier, or one that this continuation
            // computes anew. The variable has the one that came last on the path taken.
            let variable = self.at(entry).alloca(u64::from(memory.bytes()), slot_align(ty));
            self.variables.insert(v, variable);
            store_value(&mut self.at(start), variable, old, ty);
        }
    }

    /// Rematerialises a value from group slots, parameters and ids. The depth is bounded by `remat`.
    fn rematerialise(&mut self, start: Block, v: Value) -> Value {
        if self.graph.remat_anywhere[v.index()] {
            return self.resolve(start, v);
        }
        if let Some(Slot::Group(_)) = self.frame.slots[v.index()] {
            return self.param(Param::Uniform(v), self.kernel.ty(v));
        }
        let Some(inst) = self.kernel.def_inst(v) else { return v };
        let data = &self.kernel.insts[inst];
        // Its leaves are parameters: what the group has loaded, ids, and what can be computed anywhere.
        let args = data.args.iter().map(|&a| self.rematerialise(start, a)).collect();
        let new = self.func.make_inst(data.op.clone(), args, Some(self.kernel.ty(v)), data.flags, data.span);
        self.func.blocks[start].insts.push(new);
        self.func.insts[new].result.unwrap_or(v)
    }

    /// Records the clone of a kernel's value, and stores it to its variable if it has one. `new` is `None` for a
    /// block parameter, whose clone is recorded already.
    fn define(&mut self, block: Block, v: Value, new: Option<Value>) {
        if let Some(new) = new {
            self.values.insert(v, new);
        }
        if let (Some(&variable), Some(&new)) = (self.variables.get(&v), self.values.get(&v)) {
            let ty = self.kernel.ty(v);
            store_value(&mut self.at(block), variable, new, ty);
        }
    }

    /// The clone of a value for a use at the end of `block`.
    fn resolve(&mut self, block: Block, v: Value) -> Value {
        let ty = self.kernel.ty(v);
        // Before `values`: where there is a variable, the clone alone may be of another path.
        if let Some(&variable) = self.variables.get(&v) {
            return load_value(&mut self.at(block), variable, ty);
        }
        if let Some(&known) = self.values.get(&v).or_else(|| self.arrays.get(&v)) {
            return known;
        }
        if let Some(n) = self.kernel.param_values().iter().position(|&p| p == v) {
            return self.param(Param::Kernel(n as u32), ty);
        }
        if let Some(Op::Alloca { size, align, name }) = self.kernel.def_op(v) {
            let (size, align, name) = (*size, *align, name.clone());
            let entry = self.entry;
            if self.frame.slots[v.index()].is_some() {
                let p = self.param(Param::Array(v), Type::ptr(Space::Context));
                let p = self.at(entry).cast(CastOp::Space, p, Type::ptr(Space::Private));
                self.values.insert(v, p);
                return p;
            }
            let p = self.at(entry).named_alloca(size, align, name);
            self.arrays.insert(v, p);
            return p;
        }
        // Rematerialised at the start. The depth is bounded by `REMAT_DEPTH`.
        match self.kernel.def_inst(v) {
            Some(inst) => self.materialise(self.entry, inst),
            None => v,
        }
    }

    fn clone_inst(&mut self, block: Block, inst: Inst) {
        let data = &self.kernel.insts[inst];
        if let Some(r) = data.result {
            // An array is made on first use, in the entry or in the frame (`resolve`).
            if matches!(data.op, Op::Alloca { .. }) {
                return;
            }
            // After a barrier, a definition need not dominate its uses: `remat_anywhere` values are cloned at the
            // start, on demand.
            if self.index > 0 && self.graph.remat_anywhere[r.index()] {
                return;
            }
        }
        self.materialise(block, inst);
    }

    /// Clones an instruction at the end of `block` and returns its result (for an instruction without one, a dummy
    /// value).
    fn materialise(&mut self, block: Block, inst: Inst) -> Value {
        let data = &self.kernel.insts[inst];
        let ty = data.result.map(|r| self.kernel.ty(r));
        let replaced = match (&data.op, ty) {
            // What the answer is, the group or the vector knows; so continuations have no queries.
            (&Op::Query { what, dim }, Some(ty)) => Some(self.param(Param::of_query(what, dim), ty)),
            (&Op::GlobalAddr(g), Some(ty)) if self.module.globals[g].space == Space::Local => {
                Some(self.param(Param::Local(g), ty))
            }
            _ => None,
        };
        if let (Some(new), Some(r)) = (replaced, data.result) {
            self.define(block, r, Some(new));
            return new;
        }
        let args = data.args.iter().map(|&a| self.resolve(block, a)).collect();
        let new = self.func.make_inst(data.op.clone(), args, ty, data.flags, data.span);
        self.func.blocks[block].insts.push(new);
        match (data.result, self.func.insts[new].result) {
            (Some(r), Some(v)) => {
                self.define(block, r, Some(v));
                v
            }
            _ => Value::new(0),
        }
    }

    fn clone_term(&mut self, block: Block, new: Block, defined: &FxHashSet<Value>) {
        let (kernel, graph) = (self.kernel, self.graph);
        let span = kernel.blocks[block].term_span;
        if let Some(next) = graph.barrier_after[block.index()] {
            for &v in &graph.continuations[next].live_in {
                // A value that was only passed through is in its slot still, and an array is there in any case.
                let keep = defined.contains(&v) && !graph.kept_arrays.contains(&v);
                let Some(slot) = self.frame.slots[v.index()].filter(|_| keep) else { continue };
                let value = self.resolve(new, v);
                let to = match slot {
                    Slot::Item(_) => Param::ItemSlot(v),
                    Slot::Group(_) => Param::GroupSlot(v),
                };
                let p = self.param(to, Type::ptr(Space::Context));
                store_value(&mut self.at(new), p, value, kernel.ty(v));
            }
            return self.leave(new, exit_number(Exit::Barrier(next)));
        }
        let mut term = kernel.blocks[block].term.clone();
        // An unreachable end is never come to; as a return it needs no case of its own.
        if matches!(term, Term::Return(_) | Term::Unreachable) {
            return self.leave(new, DONE);
        }
        term.map_uses(|v| self.resolve(new, v));
        for e in term.edges_mut() {
            e.block = self.blocks[&e.block];
        }
        self.func.set_term(new, term, span);
    }

    /// Returns from the continuation with an exit number.
    fn leave(&mut self, block: Block, exit: u64) {
        let next =
            self.graph.divergent_dispatch.then(|| self.param(Param::NextContinuation, Type::ptr(Space::Context)));
        let mut b = self.at(block);
        let exit = b.iconst(Type::I32, exit);
        if let Some(p) = next {
            // Also of a return: `DONE` is above all numbers, so that a work-item that is done never holds the others
            // up.
            b.store(p, exit, 4, Flags::empty());
        }
        b.ret(Some(exit));
    }
}

/// Loads a value from its slot or variable.
pub fn load_value(b: &mut Builder<'_>, p: Value, ty: Type) -> Value {
    let memory = memory_type(ty);
    let value = b.load(memory, p, slot_align(ty), Flags::empty());
    if memory == ty {
        return value;
    }
    let zero = b.iconst(memory, 0);
    b.icmp(IntCc::Ne, value, zero)
}

fn store_value(b: &mut Builder<'_>, p: Value, value: Value, ty: Type) {
    let memory = memory_type(ty);
    let value = if memory == ty { value } else { b.cast(CastOp::Zext, value, memory) };
    b.store(p, value, slot_align(ty), Flags::empty());
}
