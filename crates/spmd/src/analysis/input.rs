//! The vectoriser's input: the function of one work-item in canonical form, with its analyses.
//!
//! [`FunctionContext`] is what no transformation changes: what the parameters are, and their shapes. A [`VectorInput`]
//! is a function with all its analyses. A transformation that rewrites the function creates a new one
//! ([`VectorInput::rewritten`]), so that no analysis is ever out of date.

use crate::analysis::bounds::Bounds;
use crate::analysis::latency;
use crate::analysis::loop_form::{self, Form, Unspecified};
use crate::analysis::masked::{self, Masked};
use crate::analysis::row_loops;
use crate::analysis::shape::{self, Shape, Shapes};
use crate::analysis::weights::{self, Weight};
use crate::analysis::write_only::WriteOnly;
use crate::error::{Stop, bug};
use crate::params::Param;
use cloom_ir::affine::{Affine, Facts};
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{Block, Entity, Function, Inst, Op, Space, Span, Term, Type, Value};
use cloom_passes::narrow_loads::NarrowLoads;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;

/// What is known of a function of one work-item, whatever transformations do to it.
pub struct FunctionContext<'a> {
    /// What its parameters are.
    pub params: &'a [Param],
    /// The shapes of the parameters for vectors along dimension 0.
    pub shapes: Vec<Shape>,
    /// The shapes of the parameters along dimension 1, for comparison.
    pub shapes_dim1: Vec<Shape>,
    /// The largest value of each integer parameter.
    pub bounds: Vec<u64>,
    /// The buffers that the kernel only writes.
    pub write_only: &'a WriteOnly,
    /// Whether the target's gathers are faster than lane-by-lane loads.
    pub fast_gather: bool,
    /// Whether the target has masked stores of all elements.
    pub masked_store: bool,
    /// Bytes of a vector register.
    pub register: u32,
    /// Whether loops may have software prefetch: not if a batch of groups reads in order already.
    pub prefetch: bool,
}

/// How lanes access a matrix whose rows they cross: each lane is in another row. Stores need more of the caches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Column {
    /// Lanes read a column.
    Read,
    /// Lanes write a column.
    Written,
}

/// The access pattern of the lanes, as it was before any loop was rewritten.
#[derive(Clone, Copy, Debug, Default)]
pub struct AccessPattern {
    /// Whether lanes read or write columns: accesses at a distance between lanes, which have unit stride along
    /// dimension 1 ([`VectorInput::column_access`]).
    pub column: Option<Column>,
    /// Whether each lane reads its own row in one of the deepest loops ([`crate::transform::row_transpose`]).
    pub rows: bool,
    /// Whether a loop was rewritten for that.
    pub transposed: bool,
}

/// The function of one work-item, analysed.
pub struct VectorInput {
    /// The function, in canonical form.
    pub func: Function,
    pub(crate) cfg: Cfg,
    pub(crate) dom: DomTree,
    pub(crate) post: DomTree,
    pub(crate) loops: Loops,
    /// The shapes of its values.
    pub shapes: Shapes,
    /// Which blocks run under masks.
    pub masked: Masked,
    pub(crate) forms: Vec<Option<Form>>,
    /// The loop that a block is the header of.
    pub(crate) loop_of: FxHashMap<Block, usize>,
    /// The cost of each block with all that it dominates.
    pub(crate) weight: Vec<Weight>,
    pub(crate) unspecified: Unspecified,
    /// Which values are used at all.
    pub(crate) used: Vec<bool>,
    /// Values that are bytes of loaded ones; computed on demand, which is rare.
    narrow_loads: OnceCell<NarrowLoads>,
    /// The access pattern of the lanes.
    pub(crate) pattern: AccessPattern,
    /// Stores to buffers that are only written ([`crate::analysis::write_only`]).
    pub(crate) write_only: FxHashSet<Inst>,
    /// Whether the target's gathers are faster than lane-by-lane loads.
    pub(crate) fast_gather: bool,
    /// Whether the target has masked stores of all elements.
    pub(crate) masked_store: bool,
}

/// A function that a transformation rewrote.
pub struct Rewrite {
    /// The function, still in canonical form.
    pub func: Function,
    /// Its values that may be anything ([`Unspecified`]).
    pub unspecified: Unspecified,
    /// The source positions of the changes, one for each change.
    pub changes: Vec<Span>,
}

impl Rewrite {
    /// A rewrite with the same unspecified values as before.
    pub(crate) fn of(item: &VectorInput, func: Function, changes: Vec<Span>) -> Rewrite {
        Rewrite { func, unspecified: item.unspecified.clone(), changes }
    }
}

impl VectorInput {
    /// Analyses a function in canonical form, before any of its loops is rewritten.
    pub fn new(func: Function, unspecified: Unspecified, around: &FunctionContext<'_>) -> Result<VectorInput, Stop> {
        let mut input = VectorInput::analyse(func, unspecified, around, AccessPattern::default())?;
        // Only a kernel with ids of dimension 1 could have its vectors along that dimension.
        if around.params.iter().any(|p| matches!(p, Param::LocalId(1) | Param::GlobalId(1))) {
            let bounds = Bounds::new(&input.func, &around.bounds);
            // Only to be compared with the shapes along dimension 0.
            let dim1 = shape::analyse(&input.func, &around.shapes_dim1, &bounds, &input.unspecified);
            input.pattern.column = input.column_access(&dim1);
        }
        // Before a transformation turns such loops into strips.
        input.pattern.rows = row_loops::are_deepest(&input, around.register);
        Ok(input)
    }

    /// Analyses what a transformation returned.
    pub fn rewritten(&self, rewrite: Rewrite, around: &FunctionContext<'_>) -> Result<VectorInput, Stop> {
        // The pattern is that of the original loops: a rewrite changes the accesses, not how lanes cross the matrix.
        VectorInput::analyse(rewrite.func, rewrite.unspecified, around, self.pattern)
    }

    fn analyse(
        func: Function,
        unspecified: Unspecified,
        around: &FunctionContext<'_>,
        pattern: AccessPattern,
    ) -> Result<VectorInput, Stop> {
        let cfg = Cfg::new(&func);
        let dom = DomTree::new(&func, &cfg);
        let post = DomTree::post(&func, &cfg);
        let loops = Loops::new(&func, &cfg, &dom);
        let bounds = Bounds::new(&func, &around.bounds);
        let shapes = shape::analyse(&func, &around.shapes, &bounds, &unspecified);
        // The order of the analyses is that of their needs: bounds, shapes, masked blocks, forms, weights.
        let masked = masked::find(&func, &cfg, &dom, &post, &|b| shapes.diverges(b));
        let forms: Vec<_> = loops.loops.iter().map(|l| loop_form::form(&func, &cfg, l)).collect();
        let loop_of = loops.loops.iter().enumerate().map(|(i, l)| (l.header, i)).collect();
        // Checked wherever a function is analysed anew: emission relies on it in many places, and a rewrite may have
        // broken it.
        for (l, f) in loops.loops.iter().zip(&forms) {
            if masked.is_masked(l.header) && f.is_none() {
                return Err(bug("a loop is not in canonical form"));
            }
        }
        // Masks are keyed by block: canonical form has one edge from a masked block to another.
        for &b in cfg.rpo().iter().filter(|&&b| masked.is_masked(b) || masked.is_linear(b)) {
            if let Term::Branch { then, els, .. } = &func.blocks[b].term
                && then.block == els.block
            {
                return Err(bug("two edges of a masked branch lead to one block"));
            }
        }
        // Results that nobody uses need no vectors: an atomic operation, say, whose old value is dropped.
        let mut used = vec![false; func.values.len()];
        for &b in &func.layout {
            // By instructions and by terminators, whose arguments are passed to block parameters.
            let args = func.blocks[b].insts.iter().flat_map(|&i| &func.insts[i].args);
            args.for_each(|a| used[a.index()] = true);
            func.blocks[b].term.for_each_use(|v| used[v.index()] = true);
        }
        let weight = weights::weights(&func, &cfg, &dom, &shapes, &loop_of);
        let write_only = around.write_only.stores(&func, &loops, around.params);
        Ok(VectorInput {
            func,
            cfg,
            dom,
            post,
            loops,
            shapes,
            masked,
            forms,
            loop_of,
            weight,
            unspecified,
            used,
            narrow_loads: OnceCell::new(),
            pattern,
            write_only,
            fast_gather: around.fast_gather,
            masked_store: around.masked_store,
        })
    }
}

/// The assumed trip count of a loop. Nested loops count once, as inner loops are often short.
pub(crate) const IN_LOOP: u64 = 8;

impl VectorInput {
    /// The affine forms of the function's values.
    pub(crate) fn affine<'a>(&'a self, facts: Facts<'a>) -> Affine<'a> {
        Affine::new(&self.func, &self.cfg, &self.loops, facts)
    }

    /// The estimated frequency of a block.
    pub(crate) fn times(&self, b: Block) -> u64 {
        if self.loops.innermost(b).is_some() { IN_LOOP } else { 1 }
    }

    /// The values that are bytes of loaded ones.
    pub(crate) fn narrow_loads(&self) -> &NarrowLoads {
        self.narrow_loads.get_or_init(|| NarrowLoads::new(&self.func))
    }

    /// Whether, as far as is known, the lanes of an address are on different cache lines.
    pub(crate) fn is_far(&self, address: Value) -> bool {
        match self.shapes.of(address) {
            Shape::Strided { by, .. } => by.unsigned_abs() > FAR.unsigned_abs(),
            shape => shape == Shape::Varying,
        }
    }

    /// Whether there are accesses to global memory that are at a distance between lanes, but have unit stride along
    /// dimension 1, in either direction, whose shapes are `dim1`; and whether they write.
    pub(crate) fn column_access(&self, dim1: &Shapes) -> Option<Column> {
        let accesses = self.cfg.rpo().iter().flat_map(|&b| &self.func.blocks[b].insts).filter_map(|&i| {
            let data = &self.func.insts[i];
            let (value, column) = match data.op {
                Op::Load { .. } => (data.result?, Column::Read),
                Op::Store { .. } => (*data.args.get(1)?, Column::Written),
                _ => return None,
            };
            let size = i64::from(self.func.ty(value).bytes());
            // Accesses to private and local memory stay in the first-level cache at any distance.
            let far = self.is_far(data.args[0]);
            let outside = !matches!(self.func.ty(data.args[0]).space(), Some(Space::Local | Space::Private));
            let dim1 = matches!(dim1.of(data.args[0]), Shape::Strided { by, .. } if by.abs() == size);
            (far && outside && dim1).then_some(column)
        });
        // `Written` is greater than `Read`: a column that is written limits vectors more.
        accesses.max()
    }

    /// Whether lanes read rows or short vectors at a distance from each other in the deepest loops.
    pub(crate) fn reads_rows(&self) -> bool {
        self.pattern.rows
            || self.loads_in_deepest_loops().any(|(p, ty)| {
                ty.is_vector()
                    // A shorter one is accessed as one number.
                    && ty.bytes() > 8
                    && match self.shapes.of(p) {
                        Shape::Strided { by, .. } => by != dense(ty),
                        shape => shape == Shape::Varying,
                    }
            })
    }

    /// Whether the loop with the most atomic operations reads global memory with unit stride.
    pub(crate) fn counts_with_unit_stride(&self) -> bool {
        let blocks = || self.cfg.rpo().iter().filter_map(|&b| Some((b, self.loops.innermost(b)?)));
        let insts = |l: usize| {
            let blocks = blocks().filter(move |&(_, own)| own == l);
            blocks.flat_map(|(b, _)| &self.func.blocks[b].insts).map(|&i| &self.func.insts[i])
        };
        // The loop with the most atomic operations is taken for the one in which the counting is done.
        let atomics = |&l: &usize| insts(l).filter(|data| matches!(data.op, Op::AtomicRmw { .. })).count();
        let most = blocks().map(|(_, l)| l).max_by_key(atomics);
        most.into_iter().flat_map(insts).any(|data| {
            let (Op::Load { .. }, Some(r)) = (&data.op, data.result) else { return false };
            let outside = !matches!(self.func.ty(data.args[0]).space(), Some(Space::Local | Space::Private));
            outside && matches!(self.shapes.of(data.args[0]), Shape::Strided { by, .. } if by == dense(self.func.ty(r)))
        })
    }

    /// Whether there are prefetches in the loops where the time goes. Long vectors are best there: the more lanes read
    /// adjacent elements, the longer are the pieces of memory that are read in order.
    pub(crate) fn is_prefetched(&self) -> bool {
        let blocks = latency::deepest(self).into_iter().flat_map(|l| &l.blocks);
        blocks.flat_map(|&b| &self.func.blocks[b].insts).any(|&i| self.func.insts[i].op == Op::Prefetch)
    }

    /// The address and the type of each load in the deepest loops.
    fn loads_in_deepest_loops(&self) -> impl Iterator<Item = (Value, Type)> {
        let blocks = latency::deepest(self).into_iter().flat_map(|l| &l.blocks);
        let insts = blocks.flat_map(|&b| &self.func.blocks[b].insts).map(|&i| &self.func.insts[i]);
        insts
            .filter(|data| matches!(data.op, Op::Load { .. }))
            .filter_map(|data| Some((data.args[0], self.func.ty(data.result?))))
    }
}

/// The stride in bytes of contiguous elements.
pub(crate) fn dense(ty: Type) -> i64 {
    i64::from(ty.scalar.bytes()) * i64::from(ty.lanes)
}

/// A stride in bytes at which lanes are certainly on different cache lines.
pub(crate) const FAR: i64 = 64;
