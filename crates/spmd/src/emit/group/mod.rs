//! Writes the work-group function: a prologue, a loop nest over vectors of work-items for each continuation, and the
//! dispatch.
//!
//! In come the continuations, each analysed as [`VectorInput`] or as it is for one work-item, the frame, and the width;
//! out goes a function with the signature that [`abi`] lays down, which runs a group, or several.
//!
//! ```text
//! prologue ─▶ pre 0 ─▶ outer ─▶ middle ─▶ inner ─▶ all lanes ──┬─▶ latch ─┐
//!                      ▲        ▲         ▲   └──▶ some lanes ─┘         │
//!                      └────────┴─────────┴──────────────────────────────┘
//!                      └▶ done 0 ─▶ pre 1 … (dispatch: by the exit that the work-items took)
//! ```
//!
//! If several groups run together ([`crate::transform::grid_stride`]), there is a loop over them ([`batch`]) around
//! the nest of each continuation up to the first barrier, and one around all that follows:
//!
//! ```text
//! prologue ─▶ group k: nest 0 ─▶ group k: nest 1 ⟲ ─▶ group k: nest 2 ─▶ nest 3 … ─▶ end of group k
//! ```
//!
//! The loops end at the last vector with an active work-item ([`trip_count`]). The loop over dimension 0 advances by
//! whole vectors; a vector that is not full is masked. With one lane, the work-item's function is copied in.

mod batch;
mod trip_count;
mod values;

pub use values::{bound_of, shape_of};

use crate::analysis::input::VectorInput;
use crate::cost::Width;
use crate::emit::splice;
use crate::emit::variants::Variants;
use crate::emit::widen::{self, Names, VecValue, VectorCode};
use crate::error::Stop;
use crate::params::Param;
use crate::split::continuation_fn::{DONE, exit_number};
use crate::split::continuations::{Continuation, ContinuationGraph, Exit};
use crate::split::frame::Frame;
use crate::split::split_kernel::SplitKernel;
use crate::transform::dim_order::DimOrder;
use crate::transform::hoist_invariant::Invariants;
use crate::transform::versioning::Versioned;
use crate::{Decision, passes};
use cloom_ir::{
    BinOp, Block, Builder, Edge, Flags, Function, GlobalRef, IntCc, Linkage, Module, Scalar, Space, Term, Type, Value,
    abi,
};
use cloom_passes::PassManager;
use rustc_hash::FxHashMap;
use trip_count::GroupExpressions;

/// A continuation, ready to be written.
pub enum Body {
    /// For one work-item.
    Scalar(Function),
    /// For a vector of them.
    Vector(Box<VectorInput>),
}

impl Body {
    /// The analysed function, if it is for a vector.
    pub fn vector(&self) -> Option<&VectorInput> {
        match self {
            Body::Vector(item) => Some(item),
            Body::Scalar(_) => None,
        }
    }

    /// Makes it one for a single work-item.
    pub fn make_scalar(&mut self) -> &mut Function {
        if let Body::Vector(item) = self {
            *self = Body::Scalar(std::mem::replace(&mut item.func, Function::new("", Vec::new(), None)));
        }
        match self {
            Body::Scalar(func) => func,
            Body::Vector(item) => &mut item.func,
        }
    }
}

/// One version of a continuation: its code and what its parameters are.
pub struct Part {
    /// The code.
    pub body: Body,
    /// The parameters.
    pub params: Vec<Param>,
    /// What the group computes before the loops over its vectors ([`Param::GroupInvariant`]).
    pub invariants: Option<Invariants>,
    /// Whether it is right in all cases, and the version before it only where a check holds
    /// ([`crate::transform::no_wrap`]). It runs one work-item at a time.
    pub is_spare: bool,
}

/// Functions with more instructions than this have no copy without masks for full vectors: compiling it would cost more
/// than the masks do.
const MAX_COPIED: usize = 1200;

/// A work-group function that was written.
pub struct Written {
    pub func: Function,
    /// The size of its static local memory, in bytes.
    pub local_size: u64,
    /// What was decided while vector code was written.
    pub decisions: Vec<Decision>,
}

/// The work-group function of a split kernel.
pub fn work_group(
    module: &Module,
    cut: &SplitKernel,
    parts: &[Versioned<Part>],
    (width, dim_order): (Width, DimOrder),
    variants: &Variants,
    manager: &PassManager<'_>,
) -> Result<Written, Stop> {
    let SplitKernel { split: kernel, graph, frame, .. } = cut;
    let types = vec![
        Type::ptr(Space::Context),
        Type::ptr(Space::Constant),
        Type::ptr(Space::Context),
        Type::ptr(Space::Local),
        Type::ptr(Space::Context),
    ];
    let mut func = kernel.new_for_code_of(format!("{}.wg", kernel.name), types.clone(), None);
    func.linkage = Linkage::External;
    let prologue = func.add_block();
    let abi: Vec<Value> = types.into_iter().map(|ty| func.add_block_param(prologue, ty)).collect();
    let (locals, local_size) = local_offsets(module, parts);
    let mut emitter = Emitter {
        module,
        kernel,
        graph,
        frame,
        width,
        dim_order,
        variants,
        manager,
        locals,
        launch: abi[0],
        args: abi[1],
        group: abi[2],
        local: abi[3],
        scratch: abi[4],
        prologue,
        group_entry: prologue,
        group_number: None,
        group_values: FxHashMap::default(),
        sizes: [abi[0]; 3],
        func,
        decisions: Vec::new(),
    };
    emitter.continuations(parts)?;
    Ok(Written { func: emitter.func, local_size, decisions: emitter.decisions })
}

/// Offsets of the static local variables that the kernel uses, and their total size, in bytes.
fn local_offsets(module: &Module, parts: &[Versioned<Part>]) -> (FxHashMap<GlobalRef, u64>, u64) {
    let mut offsets = FxHashMap::default();
    let (mut end, mut most) = (0u64, 1u64);
    for p in parts.iter().flat_map(Versioned::leaves).flat_map(|p| &p.params) {
        if let Param::Local(g) = *p {
            offsets.entry(g).or_insert_with(|| {
                let align = u64::from(module.globals[g].align);
                let at = end.next_multiple_of(align);
                most = most.max(align);
                end = at + module.globals[g].size;
                at
            });
        }
    }
    // Groups of a batch have their memory one after the other: each begins at a multiple of the largest alignment.
    if most > u64::from(abi::BLOCK_ALIGN) {
        end = end.next_multiple_of(most);
    }
    (offsets, end)
}

/// The state of the writing.
struct Emitter<'a> {
    module: &'a Module,
    kernel: &'a Function,
    graph: &'a ContinuationGraph,
    frame: &'a Frame,
    width: Width,
    dim_order: DimOrder,
    variants: &'a Variants,
    manager: &'a PassManager<'a>,
    locals: FxHashMap<GlobalRef, u64>,
    launch: Value,
    args: Value,
    group: Value,
    local: Value,
    scratch: Value,
    prologue: Block,
    /// Where group-uniform values are computed: the prologue, or where an iteration of a loop over groups begins.
    group_entry: Block,
    /// The group's number in such a loop.
    group_number: Option<Value>,
    /// The group-uniform values computed there.
    group_values: FxHashMap<Param, Value>,
    /// The group's local size.
    sizes: [Value; 3],
    func: Function,
    /// Those on vector code.
    decisions: Vec<Decision>,
}

/// Where dispatch goes.
struct Targets {
    /// The block before the loop nest of each continuation.
    pre: Vec<Block>,
    /// The block that returns.
    end: Block,
}

impl Targets {
    fn of(&self, exit: Exit) -> Block {
        match exit {
            Exit::Barrier(n) => self.pre[n],
            Exit::Return => self.end,
        }
    }
}

/// The position of a vector in its group.
struct VectorPosition {
    /// Local ids of its first work-item.
    ids: [Value; 3],
    /// Its number in the group: the sub-group's id.
    number: Value,
    /// The lane of the one work-item that runs, where vectors run one work-item after the other.
    lane: Option<Value>,
}

impl Emitter<'_> {
    fn at(&mut self, block: Block) -> Builder<'_> {
        Builder::new(&mut self.func, block)
    }

    /// Writes the loop nests of all continuations, and the dispatch between them.
    fn continuations(&mut self, parts: &[Versioned<Part>]) -> Result<(), Stop> {
        let graph = self.graph;
        for d in 0..3u64 {
            let group = self.group;
            self.sizes[d as usize] = self.load_at(group, abi::GROUP_LOCAL_SIZE + 8 * d, Type::I64);
        }
        let pre: Vec<Block> = graph.continuations.iter().map(|_| self.func.add_block()).collect();
        let end = self.func.add_block();
        self.at(end).ret(None);
        let targets = Targets { pre, end };
        let first = if graph.begins_batched() {
            self.batch(parts, &targets)?
        } else {
            for (index, part) in parts.iter().enumerate() {
                let (done, counted) = self.continuation(index, part, targets.pre[index])?;
                done.into_iter().for_each(|done| self.dispatch(index, done, counted, &targets));
            }
            targets.pre[0]
        };
        let entry = self.prologue;
        self.at(entry).jump(first, &[]);
        Ok(())
    }

    /// Writes the loop nests of a continuation from `pre` on. Gives the blocks after them, and whether these have the
    /// exit number as parameter.
    fn continuation(&mut self, index: usize, part: &Versioned<Part>, pre: Block) -> Result<(Vec<Block>, bool), Stop> {
        let c = &self.graph.continuations[index];
        // With one exit, nothing has to be carried around the loops.
        let counted = c.exits.len() > 1 || self.graph.divergent_dispatch;
        let mut done = Vec::new();
        self.versions(c, part, pre, counted, &mut done)?;
        Ok((done, counted))
    }

    /// Dispatch: from the end of a continuation's loops to the continuation that its work-items run next.
    fn dispatch(&mut self, index: usize, done: Block, counted: bool, targets: &Targets) {
        let (graph, pre) = (self.graph, &targets.pre);
        let exits = &graph.continuations[index].exits;
        if !counted {
            let to = exits.first().map_or(targets.end, |&e| targets.of(e));
            return self.at(done).jump(to, &[]);
        }
        // With divergent dispatch, work-items may also wait at barriers that this continuation does not reach.
        let cases: Vec<(u64, Edge)> = if graph.divergent_dispatch {
            (1..pre.len()).map(|n| (n as u64, Edge::new(pre[n], []))).collect()
        } else {
            let barriers = exits.iter().filter(|&&e| e != Exit::Return);
            barriers.map(|&e| (exit_number(e), Edge::new(targets.of(e), []))).collect()
        };
        let value = self.func.blocks[done].params[0];
        self.at(done).term(Term::Switch { value, cases, default: Edge::new(targets.end, []) });
    }

    /// Writes a loop nest for each version, and the branches between them. Adds the blocks after them to `done`.
    fn versions(
        &mut self,
        c: &Continuation,
        part: &Versioned<Part>,
        pre: Block,
        counted: bool,
        done: &mut Vec<Block>,
    ) -> Result<(), Stop> {
        match part {
            Versioned::One(part) => done.push(self.vector_loops(c, part, pre, counted)?),
            Versioned::Two { func, params, cond, versions } => {
                let uniform = self.load_uniform(c, pre);
                let cond = self.rematerialise(&mut GroupExpressions::new(func, params, &uniform, pre), *cond)?;
                let [then, els] = std::array::from_fn(|_| self.func.add_block());
                self.at(pre).branch(cond, then, els);
                self.versions(c, &versions[0], then, counted, done)?;
                self.versions(c, &versions[1], els, counted, done)?;
            }
        }
        Ok(())
    }

    /// Writes the loop nest of one version. Gives the block after it, with the exit number if exits are counted.
    fn vector_loops(&mut self, c: &Continuation, part: &Part, pre: Block, counted: bool) -> Result<Block, Stop> {
        let [inner, middle, outer] = self.width.order;
        let lanes = u64::from(self.width.lanes);
        // Vectors lie along dimension 0, whichever of the loops is the innermost.
        let step = |d: usize| if d == 0 { lanes } else { 1 };
        // A spare version runs one work-item of each vector after the other.
        let is_serial = self.width.lanes > 1 && matches!(part.body, Body::Scalar(_));
        let step_of_loop = |d: usize| if is_serial { 1 } else { step(d) };
        let f = &mut self.func;
        let [o_head, m_head, i_head, m_step, o_step, start, latch, done] = std::array::from_fn(|_| f.add_block());
        // Each header has the id of its dimension, the vector's number and the exit number.
        let carried = |f: &mut Function, block: Block, id: bool| {
            let id = id.then(|| f.add_block_param(block, Type::I64));
            let number = f.add_block_param(block, Type::I64);
            let exit = counted.then(|| f.add_block_param(block, Type::I32));
            (id.unwrap_or(number), number, exit)
        };
        let (o, o_number, o_exit) = carried(f, o_head, true);
        let (m, m_number, m_exit) = carried(f, m_head, true);
        let (i, i_number, i_exit) = carried(f, i_head, true);
        let (_, ms_number, ms_exit) = carried(f, m_step, false);
        let (_, os_number, os_exit) = carried(f, o_step, false);
        let latch_exit = counted.then(|| f.add_block_param(latch, Type::I32));
        if counted {
            f.add_block_param(done, Type::I32);
        }
        let edge = |to: Block, values: &[Option<Value>]| Edge::new(to, values.iter().flatten().copied());

        let uniform = self.load_uniform(c, pre);
        let bounds = self.loop_bounds(part, &uniform, pre, step)?;
        let mut invariants = Vec::new();
        if let Some(Invariants { func, values }) = &part.invariants {
            let mut expressions = GroupExpressions::new(func, &part.params, &uniform, pre);
            for &v in values {
                invariants.push(self.rematerialise(&mut expressions, v)?);
            }
        }
        let mut b = self.at(pre);
        let zero = b.iconst(Type::I64, 0);
        // The highest number: a minimum with it changes nothing.
        let none = counted.then(|| b.iconst(Type::I32, DONE));
        b.term(Term::Jump(edge(o_head, &[Some(zero), Some(zero), none])));

        b.switch_to(o_head);
        let more = b.icmp(IntCc::Ult, o, bounds.ends[outer]);
        let (then, els) = (edge(m_head, &[Some(zero), Some(o_number), o_exit]), edge(done, &[o_exit]));
        b.term(Term::Branch { cond: more, then, els });

        b.switch_to(m_head);
        let more = b.icmp(IntCc::Ult, m, bounds.ends[middle]);
        let (then, els) =
            (edge(i_head, &[Some(zero), Some(m_number), m_exit]), edge(o_step, &[Some(m_number), m_exit]));
        b.term(Term::Branch { cond: more, then, els });

        b.switch_to(i_head);
        let more = b.icmp(IntCc::Ult, i, bounds.ends[inner]);
        let (then, els) = (edge(start, &[]), edge(m_step, &[Some(i_number), i_exit]));
        b.term(Term::Branch { cond: more, then, els });

        b.switch_to(m_step);
        let by = b.iconst(Type::I64, step_of_loop(middle));
        let next = b.binary_flags(BinOp::Add, m, by, Flags::NUW | Flags::NSW);
        // Vectors that do not run keep their numbers.
        let number = bounds.row.map_or(ms_number, |n| b.binary_flags(BinOp::Add, m_number, n, Flags::NUW | Flags::NSW));
        b.term(Term::Jump(edge(m_head, &[Some(next), Some(number), ms_exit])));

        b.switch_to(o_step);
        let by = b.iconst(Type::I64, step_of_loop(outer));
        let next = b.binary_flags(BinOp::Add, o, by, Flags::NUW | Flags::NSW);
        let number =
            bounds.plane.map_or(os_number, |n| b.binary_flags(BinOp::Add, o_number, n, Flags::NUW | Flags::NSW));
        b.term(Term::Jump(edge(o_head, &[Some(next), Some(number), os_exit])));

        b.switch_to(latch);
        let (one, by) = (b.iconst(Type::I64, 1), b.iconst(Type::I64, step_of_loop(inner)));
        let next = b.binary_flags(BinOp::Add, i, by, Flags::NUW | Flags::NSW);
        let number = b.binary_flags(BinOp::Add, i_number, one, Flags::NUW | Flags::NSW);
        b.term(Term::Jump(edge(i_head, &[Some(next), Some(number), latch_exit])));

        let mut ids = [i; 3];
        ids[middle] = m;
        ids[outer] = o;
        let mut position = VectorPosition { ids, number: i_number, lane: None };
        if is_serial {
            position = self.position_of(ids, pre, start, step);
        }
        let values = self.vector_params(part, &position, (&uniform, &invariants), start)?;
        match &part.body {
            Body::Scalar(item) => {
                let values: Vec<Value> = values.into_iter().map(base_of).collect();
                let ends = splice::splice(item, &mut self.func, start, &values);
                for (end, number) in ends {
                    let exit = i_exit.map(|so_far| self.lowest_exit(end, so_far, number));
                    self.at(end).jump(latch, exit.as_slice());
                }
            }
            Body::Vector(item) => self.vectors((item, &part.params), values, start, latch, ids[0], i_exit)?,
        }
        Ok(done)
    }

    /// The vector that a work-item belongs to, and its lane, for the order of the loops over vectors.
    fn position_of(
        &mut self,
        ids: [Value; 3],
        pre: Block,
        start: Block,
        step: impl Fn(usize) -> u64,
    ) -> VectorPosition {
        let lanes = u64::from(self.width.lanes);
        let [inner, middle, outer] = self.width.order;
        let sizes = self.sizes;
        // The number that its vector has where vectors run: its slots of the frame are found by it.
        let [row, rows] = [inner, middle].map(|d| self.iterations(pre, sizes[d], step(d)));
        let mut b = self.at(start);
        let by = b.iconst(Type::I64, lanes);
        let lane = b.binary(BinOp::Urem, ids[0], by);
        let number_in = |b: &mut Builder<'_>, d: usize| if d == 0 { b.binary(BinOp::Udiv, ids[0], by) } else { ids[d] };
        let mut number = number_in(&mut b, outer);
        for (size, d) in [(rows, middle), (row, inner)] {
            let before = b.binary_flags(BinOp::Mul, number, size, Flags::NUW | Flags::NSW);
            let own = number_in(&mut b, d);
            number = b.binary_flags(BinOp::Add, before, own, Flags::NUW | Flags::NSW);
        }
        VectorPosition { ids, number, lane: Some(lane) }
    }

    /// The exit number of the vectors so far and one more: the lowest, if dispatch diverges; else all have the same.
    fn lowest_exit(&mut self, block: Block, so_far: Value, number: Value) -> Value {
        let diverges = self.graph.divergent_dispatch;
        if diverges { self.at(block).binary(BinOp::Umin, so_far, number) } else { number }
    }

    /// Writes the code of one vector: twice, for one that is full and under a mask; or once, if the code under a mask
    /// is as fast for full vectors ([`VectorInput::folds_tail`]).
    fn vectors(
        &mut self,
        (item, params): (&VectorInput, &[Param]),
        values: Vec<VecValue>,
        start: Block,
        latch: Block,
        first: Value,
        so_far: Option<Value>,
    ) -> Result<(), Stop> {
        let (lanes, manager, variants) = (self.width.lanes, self.manager, self.variants);
        let size = self.sizes[0];
        let nontemporal = if item.write_only.is_empty() { None } else { Some(self.nontemporal()) };
        let (full, some) = (self.func.add_block(), self.func.add_block());
        let mut b = Builder::new(&mut self.func, start);
        let left = b.binary(BinOp::Sub, size, first);
        let all = b.iconst(Type::I64, u64::from(lanes));
        let fits = b.icmp(IntCc::Uge, left, all);
        let folds = item.folds_tail(manager);
        if folds {
            manager.count(passes::FOLD_TAIL);
        }
        let names = Some(Names { module: self.module, kernel: self.kernel, params, dim_order: self.dim_order });
        let mut decisions = None;
        if item.func.size() <= MAX_COPIED && !folds {
            b.branch(fits, full, some);
            let code = VectorCode {
                item,
                manager,
                variants,
                lanes,
                params: values.clone(),
                mask: None,
                full: None,
                nontemporal,
                names,
            };
            let written = widen::widen(code, &mut self.func, full)?;
            decisions = Some(written.decisions);
            self.close(written.end, written.result, None, so_far, latch);
        } else {
            b.jump(some, &[]);
            self.func.layout.retain(|&x| x != full);
        }
        let mut b = Builder::new(&mut self.func, some);
        let most = b.iconst(Type::I64, u64::from(lanes));
        let left = b.binary(BinOp::Umin, left, most);
        let left = b.cast(cloom_ir::CastOp::Trunc, left, Type::I32);
        let left = b.splat(left, lanes);
        let numbers = b.iota(Scalar::I32, lanes);
        let mask = b.icmp(IntCc::Ult, numbers, left);
        // A partial vector alone is cold, and masked stores are never non-temporal.
        let (full, nontemporal) = if folds { (Some(fits), nontemporal) } else { (None, None) };
        let params = values;
        let code = VectorCode { item, manager, variants, lanes, params, mask: Some(mask), full, nontemporal, names };
        let written = widen::widen(code, &mut self.func, some)?;
        // The decisions are on the code for full vectors, if it is not the same.
        self.decisions.extend(decisions.unwrap_or(written.decisions));
        self.close(written.end, written.result, Some(mask), so_far, latch);
        Ok(())
    }

    /// Ends the code of a vector: merges its exit number with that of the vectors before.
    fn close(&mut self, end: Block, number: VecValue, mask: Option<Value>, so_far: Option<Value>, latch: Block) {
        let Some(so_far) = so_far else { return self.at(end).jump(latch, &[]) };
        let diverges = self.graph.divergent_dispatch;
        let number = match number {
            VecValue::Uniform(v) | VecValue::Strided { base: v, .. } => v,
            // Lane 0 is always on, and all lanes take the same exit.
            VecValue::Varying(l) if !diverges => self.at(end).extract_lane(l[0], 0),
            VecValue::Varying(l) => {
                let mut b = self.at(end);
                let mut all = l[0];
                if let Some(mask) = mask {
                    let ty = b.ty(all);
                    let none = b.iconst(ty, DONE);
                    all = b.select(mask, all, none);
                }
                let mut n = b.ty(all).lanes;
                while n > 1 {
                    // Halves of an odd number overlap in one lane, which a minimum does not mind.
                    let (low, high): (Vec<u16>, Vec<u16>) = ((0..n.div_ceil(2)).collect(), (n / 2..n).collect());
                    let (x, y) = (b.shuffle(all, all, &low), b.shuffle(all, all, &high));
                    all = b.binary(BinOp::Umin, x, y);
                    n = n.div_ceil(2);
                }
                all
            }
        };
        let exit = self.lowest_exit(end, so_far, number);
        self.at(end).jump(latch, &[exit]);
    }
}

/// Lane 0 of a value.
fn base_of(wide: VecValue) -> Value {
    match wide {
        VecValue::Uniform(v) | VecValue::Strided { base: v, .. } => v,
        VecValue::Varying(l) => l[0],
    }
}
