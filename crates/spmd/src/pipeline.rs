//! The pipeline: all passes from a kernel that was split at its barriers to its work-group function, in order.
//!
//! ```text
//! kernel ─▶ split at barriers ─▶ continuation functions ─▶ clean-up ─▶ unsigned ─▶ dimension order
//!
//!   for each continuation:  versioning ─▶ no-wrap checks
//!     for each version:     group-invariant hoisting ─▶ unit accesses ─▶ canonicalize ─▶ analyse
//!                           ─▶ store-to-load ─▶ row transpose ─▶ component split ─▶ loop prefetch ─▶ narrow
//!
//! all versions ─▶ width ─▶ (scalar code: sub-groups of one, narrow loads, scatter prefetch)
//!              ─▶ vector variants of what is called ─▶ emit ─▶ clean-up
//! ```
//!
//! [`crate::work_group`] calls it, and decides what follows when a kernel meets a limit.
//!
//! | pass | needs | leaves |
//! |---|---|---|
//! | continuation functions | split kernel, frame | functions in which parameters replace queries ([`Param`]) |
//! | versioning, no-wrap, hoisting | any function | the same; conditions and invariants are group-uniform expressions |
//! | unit accesses | any function | the same; no access to a private array laid out by unit is larger than a unit |
//! | canonicalize | any function | canonical form: one return; masked loops have one latch and one exit |
//! | [`TRANSFORMS`] | canonical form | canonical form, the same parameters |
//! | width | all analysed versions | the number of lanes; changes nothing |
//! | emit | canonical form, width | the work-group function |
//!
//! Each pass has a name, a switch unless it is required, a counter and a time ([`passes`], [`PassManager`]). In debug
//! builds the verifier runs after each. [`VectorInput`] checks canonical form wherever a function is analysed anew; a
//! violation is an internal error.

use crate::analysis::divergence;
use crate::analysis::group_code::Condition;
use crate::analysis::input::{FunctionContext, Rewrite, VectorInput};
use crate::analysis::shape::Shape;
use crate::analysis::write_only::WriteOnly;
use crate::cost::{self, Width};
use crate::emit::group::{self, Body, Part, Written};
use crate::emit::subgroup;
use crate::emit::variants::Variants;
use crate::error::Stop;
use crate::options::{VectorOptions, Vectors};
use crate::params::Param;
use crate::passes::{CLEAN_UP, CLEAN_UP_SCALAR, CLEAN_UP_VECTORS};
use crate::split::continuation_fn::{self, ContinuationFunction};
use crate::split::grouping::is_regroupable;
use crate::split::split_kernel::SplitKernel;
use crate::transform::dim_order::{self, DimOrder};
use crate::transform::no_wrap::{self, Checked};
use crate::transform::versioning::{self, Versioned};
use crate::transform::{
    canonicalize, component_split, hoist_invariant, narrow, prefetch_loop, prefetch_scatter, row_transpose,
    store_to_load, unit_accesses, unsigned,
};
use crate::{Decision, Form, Operation, Reason, passes};
use cloom_ir::{Function, Module, Op, Query, Value};
use cloom_passes::{CSE, DCE, PassId, PassManager, REDUCIBLE};

/// A rewrite of loops of an analysed function in canonical form.
struct Transform {
    id: PassId,
    /// Returns the rewritten function, if there is anything to rewrite.
    run: fn(&VectorInput, &FunctionContext<'_>) -> Option<Rewrite>,
    /// The decision on each change.
    decision: (Operation, Form, Reason),
    /// Whether it leaves code that is not used any more.
    leaves_dead_code: bool,
}

impl Transform {
    const fn new(
        id: PassId,
        run: fn(&VectorInput, &FunctionContext<'_>) -> Option<Rewrite>,
        decision: (Operation, Form, Reason),
    ) -> Transform {
        Transform { id, run, decision, leaves_dead_code: false }
    }

    const fn with_dead_code(self) -> Transform {
        Transform { leaves_dead_code: true, ..self }
    }
}

/// All of these, in order. Passes that remove loads come first, so that later ones see what is left. Narrowing comes
/// last, as the others do not look through conversions.
const TRANSFORMS: &[Transform] = &[
    Transform::new(passes::STORE_TO_LOAD, store_to_load::run, (Operation::Load, Form::Forwarded, Reason::StoredBefore)),
    Transform::new(passes::ROW_TRANSPOSE, row_transpose::run, (Operation::Loop, Form::RowTranspose, Reason::OwnRows)),
    Transform::new(
        passes::COMPONENT_SPLIT,
        component_split::run,
        (Operation::Loop, Form::ComponentSplit, Reason::ComponentsExceedRegisters),
    )
    .with_dead_code(),
    Transform::new(
        passes::PREFETCH_LOOP,
        prefetch_loop::run,
        (Operation::Loop, Form::Prefetched, Reason::RunTimeStride),
    ),
    Transform::new(passes::NARROW, narrow::run, (Operation::Integers, Form::Bits(16), Reason::SameInFewerBits))
        .with_dead_code(),
];

/// A kernel's work-group function, and what was chosen for it.
pub struct Output {
    pub func: Function,
    pub local_size: u64,
    pub dim_order: DimOrder,
    pub width: Width,
    pub long_row_width: Option<u16>,
    pub write_only_bytes: u32,
    pub decisions: Vec<Decision>,
}

/// What is emitted: all versions of all continuations, and what was chosen for them.
pub struct Plan {
    parts: Vec<Versioned<Part>>,
    dim_order: DimOrder,
    pub width: Width,
    long_row_width: Option<u16>,
    write_only_bytes: u32,
    decisions: Vec<Decision>,
}

/// One run of the pipeline.
pub struct Pipeline<'a> {
    /// The module of the kernel, for its callees and globals.
    pub module: &'a Module,
    /// The kernel, split at its barriers.
    pub cut: &'a SplitKernel,
    /// Options and target.
    pub vectors: Vectors<'a>,
    /// Runs the passes.
    pub manager: &'a PassManager<'a>,
}

impl Pipeline<'_> {
    /// All that is decided and rewritten before code is emitted.
    pub fn plan(&self) -> Result<Plan, Stop> {
        let mut decisions = Vec::new();
        let write_only = self.write_only();
        let (mut parts, dim_order) = self.parts(TRANSFORMS, &write_only, &mut decisions)?;
        // After the transformations: what is chosen depends on the code that is left.
        let (width, long_row_width) = self.manager.required(passes::WIDTH, || (1, self.width(&parts, dim_order)));
        if width.is_plain {
            // From the start, as the functions at hand are in canonical form, which scalar code is better without.
            let plan = Pipeline { vectors: self.vectors.scalar(), ..*self }.plan()?;
            return Ok(Plan { width, long_row_width, decisions: vec![width_decision(width)], ..plan });
        }
        if width.lanes == 1 {
            if vectors(&parts).iter().any(|item| item.pattern.transposed) {
                // Strips are for vectors. Of short rows, they are slower than one element at a time. (A sparse matrix
                // with rows of up to 15 floats: 0.168 ms in strips of four, 0.130 without.)
                decisions.clear();
                let transforms = TRANSFORMS.iter().filter(|t| t.id != passes::ROW_TRANSPOSE);
                // The order of dimensions stays: it was chosen before all transformations.
                parts = self.parts(transforms, &write_only, &mut decisions)?.0;
            }
            // Scalar code needs no strides.
            parts = parts.into_iter().map(|part| part.drop_first(&|p| p.is_spare)).collect();
            self.make_scalar(&mut parts, &mut decisions);
        }
        if self.is_vector() {
            if dim_order != dim_order::AS_WRITTEN {
                let form = Form::Along(dim_order[0]);
                decisions.push(Decision::new(Operation::Dimension, form, Reason::UnitStrideAlong));
            }
            decisions.push(width_decision(width));
        }
        Ok(Plan { parts, dim_order, width, long_row_width, write_only_bytes: write_only.bytes, decisions })
    }

    /// The work-group function of the kernel. `variants` are of the width that was planned.
    pub fn emit(&self, plan: Plan, variants: &Variants) -> Result<Output, Stop> {
        let Plan { parts, dim_order, width, long_row_width, write_only_bytes, mut decisions } = plan;
        let written = self.work_group(&parts, (width, dim_order), variants)?;
        decisions.extend(written.decisions);
        let (func, local_size) = (written.func, written.local_size);
        let has_nontemporal_stores = |p: &Part| p.body.vector().is_some_and(|item| !item.write_only.is_empty());
        let stores_nontemporal = parts.iter().flat_map(Versioned::leaves).any(has_nontemporal_stores);
        // With 0, the launcher never asks for non-temporal stores.
        let write_only_bytes = if stores_nontemporal { write_only_bytes } else { 0 };
        Ok(Output { func, local_size, dim_order, width, long_row_width, write_only_bytes, decisions })
    }

    /// The versions of all continuations after these transformations, ready to be emitted, and the order of dimensions.
    fn parts<'t>(
        &self,
        transforms: impl IntoIterator<Item = &'t Transform> + Clone,
        write_only: &WriteOnly,
        decisions: &mut Vec<Decision>,
    ) -> Result<(Vec<Versioned<Part>>, DimOrder), Stop> {
        let mut continuations = self.continuations();
        // One order for all continuations, before any is analysed: from here on, dimension 0 is the one that vectors
        // lie along.
        let dim_order = self.dim_order(&continuations);
        continuations.iter_mut().for_each(|c| dim_order::rename(&mut c.params, dim_order));
        let mut parts = Vec::new();
        for (index, continuation) in continuations.into_iter().enumerate() {
            let transforms = transforms.clone();
            parts.push(self.versions(index, continuation, transforms, write_only, decisions)?);
        }
        Ok((parts, dim_order))
    }

    /// Whether vector code may be emitted.
    fn is_vector(&self) -> bool {
        self.vectors.options.may_have_lanes()
    }

    /// The functions of all continuations, cleaned up, with unsigned divisions where operands are never negative.
    fn continuations(&self) -> Vec<ContinuationFunction> {
        let Self { module, cut, manager, .. } = *self;
        let SplitKernel { split, graph, frame, .. } = cut;
        let continuation = |index: usize| {
            let ContinuationFunction { mut func, params } = manager
                .required(passes::CONTINUATIONS, || (1, continuation_fn::function(module, split, graph, frame, index)));
            cloom_passes::manager::verify(module, &func, passes::CONTINUATIONS);
            if self.is_vector() {
                // Only vectors need natural loops.
                manager.run(module, &mut func, &[REDUCIBLE]);
            }
            manager.run(module, &mut func, CLEAN_UP);
            let bounds = bounds(&params);
            // An unsigned division by a power of two is a shift, and a remainder a mask: `CLEAN_UP` makes them so.
            if self.is_vector()
                && manager.function(module, &mut func, passes::UNSIGNED, |func| unsigned::run(func, &bounds)) > 0
            {
                manager.run(module, &mut func, CLEAN_UP);
            }
            ContinuationFunction { func, params }
        };
        (0..graph.continuations.len()).map(continuation).collect()
    }

    /// The order of dimensions that suits the continuations' accesses to memory.
    fn dim_order(&self, continuations: &[ContinuationFunction]) -> DimOrder {
        let SplitKernel { split, graph, frame, .. } = self.cut;
        // Programs expect consecutive work-items of a sub-group to be consecutive in dimension 0.
        if self.vectors.options.keep_dim0 || cloom_ir::subgroup::uses(split) {
            return dim_order::AS_WRITTEN;
        }
        // A launcher that may regroup is not bound to the required size.
        let group = required_size(split).filter(|_| !is_regroupable(self.module, split, graph));
        let chosen = self.manager.step(passes::DIM_ORDER, || {
            let parts = continuations.iter().map(|c| (&c.func, &c.params[..]));
            let order =
                dim_order::choose(parts, &group::bound_of, &|p, dim| group::shape_of(p, split, frame, dim), group);
            (usize::from(order != dim_order::AS_WRITTEN), order)
        });
        chosen.unwrap_or(dim_order::AS_WRITTEN)
    }

    fn write_only(&self) -> WriteOnly {
        let found = self.manager.step(passes::WRITE_ONLY, || {
            let found = WriteOnly::of(&self.cut.split);
            (found.buffers(), found)
        });
        found.unwrap_or_default()
    }

    /// The versions of a continuation, ready to be emitted.
    fn versions<'t>(
        &self,
        index: usize,
        continuation: ContinuationFunction,
        transforms: impl IntoIterator<Item = &'t Transform> + Clone,
        write_only: &WriteOnly,
        decisions: &mut Vec<Decision>,
    ) -> Result<Versioned<Part>, Stop> {
        let Self { module, cut, manager, .. } = *self;
        let ContinuationFunction { func, params } = continuation;
        // A continuation that follows a synthetic barrier. The entry of a batch is batched too, but follows none.
        let synthetic = index > 0 && cut.graph.batched[index];
        let count = cut.graph.continuations.len();
        // A kernel of one continuation has no steps of a tree between barriers, which versions are for.
        let versioned = if (2..=versioning::MAX_CONTINUATIONS).contains(&count)
            && !cut.graph.divergent_dispatch
            && manager.is_on(passes::VERSIONING)
        {
            let clean_up = |func: &mut Function| manager.run(module, func, CLEAN_UP);
            manager.required(passes::VERSIONING, || {
                let versioned = versioning::run(func, &params, synthetic, &clean_up);
                (versioned.leaves().len() - 1, versioned)
            })
        } else {
            Versioned::One(func)
        };
        versioned.try_expand(&mut |number, mut func| {
            // Version 0 after a synthetic barrier is the iterations up to the next one. They read memory in order,
            // which needs no prefetch.
            let prefetch = !(synthetic && number == 0);
            let part = |func: Function, decisions: &mut Vec<Decision>| -> Result<Part, Stop> {
                let mut version = ContinuationFunction { func, params: params.clone() };
                // For each version, as a version may store less than the whole.
                let invariants = manager.step(passes::HOIST_INVARIANT, || {
                    let found = hoist_invariant::run(module, &mut version);
                    (found.as_ref().map_or(0, |found| found.values.len()), found)
                });
                let ContinuationFunction { mut func, params } = version;
                let invariants = invariants.flatten();
                cloom_passes::manager::verify(module, &func, passes::HOIST_INVARIANT);
                if invariants.is_some() {
                    manager.run(module, &mut func, &[DCE]);
                }
                let body = match self.is_vector() {
                    true => {
                        let transforms = transforms.clone();
                        Body::Vector(Box::new(self.vector(func, &params, transforms, write_only, prefetch, decisions)?))
                    }
                    false => Body::Scalar(func),
                };
                Ok(Part { body, params, invariants, is_spare: false })
            };
            // Promises that need no check are in `func` now, in both cases.
            let Some(Checked { condition, func: checked, spans, proved }) = self.no_wrap(&mut func, &params) else {
                return Ok(Versioned::One(part(func, decisions)?));
            };
            let decision = Decision::new(Operation::Index, Form::CheckedPerGroup, Reason::MayWrap);
            decisions.extend(spans.into_iter().map(|span| decision.clone().at(span, &cut.split)));
            let checked = part(checked, decisions)?;
            let spare = match proved {
                // Scalar, so that the rare case costs little code.
                0 => Part { body: Body::Scalar(func), params: params.clone(), invariants: None, is_spare: true },
                _ => part(func, decisions)?,
            };
            let Condition { func, params, cond } = condition;
            let versions = Box::new([Versioned::One(checked), Versioned::One(spare)]);
            Ok(Versioned::Two { func: Box::new(func), params, cond, versions })
        })
    }

    /// Promises that indices of a version do not wrap; and a copy with those that are checked.
    fn no_wrap(&self, func: &mut Function, params: &[Param]) -> Option<Checked> {
        let Self { module, cut, manager, .. } = *self;
        if !self.is_vector() {
            return None;
        }
        let is_varying = |p: Param| group::shape_of(p, &cut.split, &cut.frame, 0) != Shape::Uniform;
        let numbered = func.param_values().iter().zip(params);
        let varying: Vec<Value> = numbered.filter(|(_, p)| is_varying(**p)).map(|(&v, _)| v).collect();
        let found = manager.step(passes::NO_WRAP, || {
            let found = no_wrap::run(func, params, &varying, &bounds(params), cut.has_bounds_checks());
            (found.known + found.dropped + usize::from(found.checked.is_some()), found)
        })?;
        cloom_passes::manager::verify(module, func, passes::NO_WRAP);
        if found.dropped > 0 {
            manager.run(module, func, CLEAN_UP);
        }
        let mut checked = found.checked?;
        cloom_passes::manager::verify(module, &checked.func, passes::NO_WRAP);
        if checked.proved > 0 {
            manager.run(module, &mut checked.func, CLEAN_UP);
        }
        Some(checked)
    }

    /// Brings a function into canonical form, analyses it, and rewrites its loops.
    #[allow(clippy::too_many_arguments, reason = "what a continuation is made with")]
    fn vector<'t>(
        &self,
        mut func: Function,
        params: &[Param],
        transforms: impl IntoIterator<Item = &'t Transform>,
        write_only: &WriteOnly,
        prefetch: bool,
        decisions: &mut Vec<Decision>,
    ) -> Result<VectorInput, Stop> {
        let Self { module, cut, manager, .. } = *self;
        let shapes = |dim: usize| -> Vec<Shape> {
            params.iter().map(|&p| group::shape_of(p, &cut.split, &cut.frame, dim)).collect()
        };
        let around = FunctionContext {
            params,
            shapes: shapes(0),
            shapes_dim1: shapes(1),
            bounds: bounds(params),
            write_only,
            fast_gather: self.vectors.tuning().fast_gather,
            masked_store: self.vectors.has_masked_stores(),
            register: self.vectors.register(),
            prefetch,
        };
        // Before canonical form: a long copy becomes a loop.
        manager.function(module, &mut func, passes::UNIT_ACCESSES, unit_accesses::run);
        let canonical = manager.required(passes::CANONICALIZE, || {
            let result = canonicalize::run(&mut func, &|f| {
                // Of lanes: a value that differs between vectors only is uniform here.
                let varying = f.param_values().iter().zip(&around.shapes).filter(|(_, s)| **s != Shape::Uniform);
                divergence::between_lanes(f, &varying.map(|(&p, _)| p).collect::<Vec<_>>())
            });
            (result.as_ref().map_or(0, |canonical| canonical.changes), result)
        });
        // Arguments that canonical form has made up: analyses leave them out, as they would make parameters vary.
        let unspecified = canonical?.unspecified;
        cloom_passes::manager::verify(module, &func, passes::CANONICALIZE);
        let mut item = VectorInput::new(func, unspecified, &around)?;
        for transform in transforms {
            let rewrite = manager.step(transform.id, || {
                let rewrite = (transform.run)(&item, &around);
                (rewrite.as_ref().map_or(0, |r| r.changes.len()), rewrite)
            });
            if let Some(mut rewrite) = rewrite.flatten() {
                cloom_passes::manager::verify(module, &rewrite.func, transform.id);
                if transform.leaves_dead_code {
                    manager.run(module, &mut rewrite.func, &[DCE]);
                }
                let (operation, form, reason) = transform.decision;
                let decision = Decision::new(operation, form, reason);
                decisions.extend(rewrite.changes.iter().map(|&span| decision.clone().at(span, &cut.split)));
                // Remembered: if scalar code is the result, it is made anew without strips (`plan`).
                item.pattern.transposed |= transform.id == passes::ROW_TRANSPOSE;
                // All analyses anew, for the next transformation.
                item = item.rewritten(rewrite, &around)?;
            }
        }
        Ok(item)
    }

    /// The number of lanes; and the number for groups with long rows, if it depends on the length of rows.
    fn width(&self, parts: &[Versioned<Part>], dim_order: DimOrder) -> (Width, Option<u16>) {
        let SplitKernel { split, graph, .. } = self.cut;
        let items = vectors(parts);
        let width = cost::choose(&items, self.vectors, cost::MAX_LANES);
        if cloom_ir::subgroup::uses(split) {
            // Programs expect consecutive work-items of a sub-group to be consecutive in dimension 0, and sub-groups
            // to be numbered along rows. Reductions are trees that halve the lanes, so their number must be a power
            // of two.
            return (Width { order: [0, 1, 2], lanes: 1 << width.lanes.ilog2(), ..width }, None);
        }
        // A launcher that chooses the groups chooses rows that fill vectors.
        if is_regroupable(self.module, split, graph) || self.vectors.options.lanes.is_some() {
            return (width, None);
        }
        // With a required size all launches have the same rows, and no other width is ever wanted.
        let long_row_width = required_size(split).is_none().then_some(width.lanes);
        let row = row_length(split, self.vectors.options, dim_order);
        let width = if row < cost::MAX_LANES { cost::choose(&items, self.vectors, row) } else { width };
        (width, long_row_width)
    }

    /// Turns all versions back into functions of one work-item.
    fn make_scalar(&self, parts: &mut [Versioned<Part>], decisions: &mut Vec<Decision>) {
        let Self { module, cut, manager, .. } = *self;
        // Asked while the analyses are there: scalar functions have none.
        let scatters = cost::scattered::scatters(&vectors(parts));
        if self.is_vector() {
            // The decisions on vector code do not apply.
            decisions.clear();
        }
        for part in parts.iter_mut().flat_map(Versioned::leaves_mut) {
            let func = part.body.make_scalar();
            manager.function(module, func, passes::SCALAR_SUBGROUPS, subgroup::lower_to_single);
            manager.run(module, func, CLEAN_UP_SCALAR);
            if scatters {
                let mut spans = Vec::new();
                manager.function(module, func, passes::PREFETCH_SCATTER, |func| {
                    spans = prefetch_scatter::run(func, &part.params);
                    spans.len()
                });
                let decision = Decision::new(Operation::Access, Form::Prefetched, Reason::ScatteredByIds);
                decisions.extend(spans.into_iter().map(|span| decision.clone().at(span, &cut.split)));
                manager.run(module, func, &[CSE]);
            }
        }
    }

    /// Emits the work-group function.
    fn work_group(
        &self,
        parts: &[Versioned<Part>],
        (width, dim_order): (Width, DimOrder),
        variants: &Variants,
    ) -> Result<Written, Stop> {
        let Self { module, cut, manager, .. } = *self;
        let emitted = manager.required(passes::EMIT, || {
            let emitted = group::work_group(module, cut, parts, (width, dim_order), variants, manager);
            (1, emitted)
        });
        let mut written = emitted?;
        cloom_passes::manager::verify(module, &written.func, passes::EMIT);
        if width.lanes > 1 {
            manager.run(module, &mut written.func, CLEAN_UP_VECTORS);
        }
        Ok(written)
    }
}

/// The decision on the width of vectors.
fn width_decision(width: Width) -> Decision {
    let form = |lanes: u16| if lanes == 1 { Form::Scalar } else { Form::Vectors(lanes) };
    let decision = Decision::new(Operation::Width, form(width.lanes), Reason::Width(width.reason));
    Decision { cost: width.cost, alternative: width.alternative.map(|(lanes, cost)| (form(lanes), cost)), ..decision }
}

/// All analysed versions.
fn vectors(parts: &[Versioned<Part>]) -> Vec<&VectorInput> {
    parts.iter().flat_map(Versioned::leaves).filter_map(|p| p.body.vector()).collect()
}

/// The largest value of each parameter.
fn bounds(params: &[Param]) -> Vec<u64> {
    params.iter().map(|&p| group::bound_of(p)).collect()
}

/// How many work-items a row of a group has, where that matters: as the kernel requires, else as `options` say, else
/// a guess.
fn row_length(kernel: &Function, options: VectorOptions, dim_order: DimOrder) -> u32 {
    let required = required_size(kernel).map(|size| size[usize::from(dim_order[0])]);
    let short_row = options.short_row.map(u32::from);
    let queries_other_dims = || {
        kernel.insts_in_layout().any(
            |(_, data)| matches!(data.op, Op::Query { what, dim } if dim != dim_order[0] && what != Query::WorkDim),
        )
    };
    let row = required
        .or(short_row)
        .unwrap_or_else(|| if queries_other_dims() { cost::GUESSED_TILE } else { cost::MAX_LANES });
    row.clamp(1, cost::MAX_LANES)
}

/// The group size that a kernel requires (`reqd_work_group_size`).
fn required_size(kernel: &Function) -> Option<[u32; 3]> {
    kernel.kernel.as_ref()?.reqd_group_size
}
