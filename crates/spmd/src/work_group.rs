//! From a kernel to its work-group function: which attempts are made, and what follows a limit or a bug.
//!
//! ```text
//! kernel ─▶ split at barriers ─▶ pipeline with vectors ─ limit or bug ─▶ pipeline for scalar code
//!                                        │
//!                                        ▼ has grid-stride loops
//!                                split again, with synthetic barriers ─▶ pipeline with vectors, for batches of groups
//! ```
//!
//! A limit is a decision. A bug panics in debug builds; in release builds it becomes a decision, too, and the caller
//! counts it.

use crate::emit::variants::Variants;
use crate::error::{BugPolicy, Error, InternalError, NotVectorised, Stop, internal};
use crate::options::Vectors;
use crate::params::MAX_ID;
use crate::pipeline::{Output, Pipeline};
use crate::split::continuations::{self, Barrier};
use crate::split::grouping::is_regroupable;
use crate::split::split_kernel::SplitKernel;
use crate::transform::grid_stride::{self, GridStride};
use crate::{Decision, Form, Operation, Reason, decisions, passes};
use cloom_ir::abi::CpuLaunch;
use cloom_ir::{Entity, FuncRef, Function, Module, Op, Space};
use cloom_passes::{PassManager, PassOptions, SELECT, SIMPLIFY_CFG, Statistics};

/// A kernel with more barriers than this has been unrolled beyond reason.
const MAX_BARRIERS: usize = 2000;

/// Larger kernels run one work-item at a time: LLVM takes minutes for as much code in vectors.
const MAX_INSTS: usize = 8000;

/// What the launcher must know about a work-group function.
#[derive(Clone, PartialEq, Debug)]
pub struct WorkGroup {
    /// The function, `<kernel>.wg`.
    pub func: FuncRef,
    /// How to launch it. `long_row_width` says when to recompile with [`VectorOptions::short_row`].
    pub launch: CpuLaunch,
    /// Bytes of static local memory.
    pub local_size: u64,
    /// The limit because of which a kernel was not vectorised.
    pub not_vectorised: Option<NotVectorised>,
    /// The internal error because of which it was not. Never in debug builds, which panic.
    pub internal_error: Option<InternalError>,
    /// The decisions and their reasons, in the order of the source.
    pub decisions: Vec<Decision>,
    /// How often each pass changed something, and how long it ran.
    pub statistics: Statistics,
}

/// Compiles a kernel to its work-group function and adds that to the module.
pub fn run(
    module: &mut Module,
    kernel: FuncRef,
    vectors: Vectors<'_>,
    options: &PassOptions,
    bugs: BugPolicy,
) -> Result<WorkGroup, Error> {
    let func = &module.funcs[kernel];
    if func.is_declaration() || func.kernel.is_none() {
        return Err(Error::NotAKernel(func.name.clone()));
    }
    check_callees(module, kernel)?;
    let manager = PassManager::new(options);
    // A copy, as the kernel may be split again, with synthetic barriers.
    let mut split = func.clone();
    let barriers = split_at_barriers(module, &mut split, &manager);
    if barriers.len() > MAX_BARRIERS {
        return Err(Error::Barriers(barriers.len(), MAX_BARRIERS));
    }
    // Known before any time is spent on vectors.
    let too_large = vectors.options.may_have_lanes() && split.size() > MAX_INSTS;
    let cut = SplitKernel::new(module, split, barriers, &manager);
    let mut context = Context { module, kernel, variants: Variants::default(), manager: &manager, bugs };
    let Attempt { output, vectors, not_vectorised, internal_error } = context.attempt(&cut, vectors, too_large)?;
    // Not for scalar code: synthetic barriers would hide why it has no vectors.
    let batched = (output.width.lanes > 1).then(|| context.try_batched(vectors)).flatten();
    let (cut, output, grid_stride_bytes) = batched.unwrap_or((cut, output, 0));
    let of_barriers = cut.decisions();
    let SplitKernel { split, graph, frame, .. } = cut;
    let stopped = not_vectorised.map(Reason::Limit).into_iter().chain(internal_error.map(Reason::Bug));
    let stopped = stopped.map(|reason| Decision::new(Operation::Width, Form::Scalar, reason));
    let decisions = decisions::sorted(of_barriers.into_iter().chain(output.decisions).chain(stopped));
    Ok(WorkGroup {
        func: module.funcs.push(output.func),
        launch: CpuLaunch {
            lanes: output.width.lanes,
            dim_order: output.dim_order,
            // Analyses of the vectoriser assume it, and scalar code may have been simplified by them before vectors
            // were given up.
            max_id: if vectors.options.may_have_lanes() { MAX_ID } else { u64::MAX },
            regroupable: is_regroupable(module, &split, &graph),
            column_access: output.width.order[0] == 1,
            write_only_bytes: output.write_only_bytes,
            min_row: output.width.min_row,
            long_row_width: output.long_row_width,
            scratch_fixed: frame.fixed,
            scratch_per_item: frame.per_item,
            grid_stride_bytes,
        },
        local_size: output.local_size,
        not_vectorised,
        internal_error,
        decisions,
        statistics: manager.statistics(),
    })
}

/// Checks that no callee depends on which work-item calls it: only the work-group function knows.
fn check_callees(module: &Module, kernel: FuncRef) -> Result<(), Error> {
    let mut seen = vec![false; module.funcs.len()];
    let mut list = module.funcs[kernel].callees();
    while let Some(f) = list.pop() {
        if std::mem::replace(&mut seen[f.index()], true) {
            continue;
        }
        let func = &module.funcs[f];
        let mut ops = func.insts_in_layout().map(|(_, data)| &data.op);
        // Local variables are laid out by the work-group function: a callee has no address of them.
        let is_local = |op: &Op| matches!(op, Op::GlobalAddr(g) if module.globals[*g].space == Space::Local);
        let is_per_item = |op: &Op| {
            matches!(op, Op::Query { .. } | Op::Barrier(_) | Op::Printf(_) | Op::DeviceCall(_)) || op.is_subgroup()
        };
        if ops.any(|op| is_per_item(op) || is_local(op)) {
            return Err(Error::NotInlined(func.name.clone()));
        }
        list.extend(func.callees());
    }
    Ok(())
}

/// Ends a block at each barrier.
fn split_at_barriers(module: &Module, func: &mut Function, manager: &PassManager<'_>) -> Vec<Barrier> {
    let mut barriers = Vec::new();
    manager.function(module, func, passes::SPLIT, |func| {
        barriers = continuations::split_at_barriers(func);
        barriers.len()
    });
    barriers
}

/// A work-group function, and why it has no vectors if it has none.
struct Attempt<'a> {
    output: Output,
    /// The options and target it was compiled for.
    vectors: Vectors<'a>,
    not_vectorised: Option<NotVectorised>,
    internal_error: Option<InternalError>,
}

/// What every attempt needs.
struct Context<'a> {
    /// The module of the kernel. Each attempt may add vector variants to it.
    module: &'a mut Module,
    kernel: FuncRef,
    /// The vector variants so far.
    variants: Variants,
    /// Runs the passes.
    manager: &'a PassManager<'a>,
    /// What becomes of a bug.
    bugs: BugPolicy,
}

impl Context<'_> {
    /// Runs the pipeline. A bug panics, or is returned to the caller.
    fn write(&mut self, cut: &SplitKernel, vectors: Vectors<'_>) -> Result<Output, Stop> {
        // Tests plant a bug to see what follows one.
        let planted = self.bugs.planted.filter(|_| vectors.options.may_have_lanes());
        match planted.map_or_else(|| self.run(cut, vectors), |bug| Err(Stop::Bug(bug))) {
            Err(Stop::Bug(bug)) if self.bugs.panics => panic!("{bug}"),
            written => written,
        }
    }

    /// Plans, makes the vector variants for the width that was chosen, and emits.
    fn run(&mut self, cut: &SplitKernel, vectors: Vectors<'_>) -> Result<Output, Stop> {
        let manager = self.manager;
        let plan = Pipeline { module: self.module, cut, vectors, manager }.plan()?;
        if plan.width.lanes > 1 {
            // Between plan and emission: the width is known, and the module may be changed while no pipeline borrows
            // it.
            self.variants.make(self.module, self.kernel, vectors, plan.width.lanes, manager)?;
        }
        Pipeline { module: self.module, cut, vectors, manager }.emit(plan, &self.variants)
    }

    /// Tries vector code, and scalar code if that meets a limit or a bug.
    fn attempt<'v>(&mut self, cut: &SplitKernel, vectors: Vectors<'v>, too_large: bool) -> Result<Attempt<'v>, Error> {
        // Passes that ran for vectors count for nothing if scalar code is the result.
        let before = self.manager.statistics();
        let first = match too_large {
            true => Err(Stop::Limit(NotVectorised::TooLarge)),
            false => self.write(cut, vectors),
        };
        let (mut not_vectorised, mut internal_error) = (None, None);
        match first {
            Ok(output) => return Ok(Attempt { output, vectors, not_vectorised, internal_error }),
            Err(Stop::Limit(limit)) => not_vectorised = Some(limit),
            // Scalar code may still be right: the bug is in what only vectors need.
            Err(Stop::Bug(bug)) if vectors.options.may_have_lanes() => internal_error = Some(bug),
            Err(Stop::Bug(bug)) => return Err(Error::Internal(bug)),
        }
        self.manager.roll_back(before);
        let vectors = vectors.scalar();
        match self.write(cut, vectors) {
            Ok(output) => Ok(Attempt { output, vectors, not_vectorised, internal_error }),
            Err(Stop::Bug(bug)) => Err(Error::Internal(bug)),
            Err(Stop::Limit(_)) => Err(Error::Internal(internal("scalar code met a limit of vectors"))),
        }
    }

    /// Compiles the kernel with synthetic barriers in its grid-stride loops. Returns it with the bytes that a work-item
    /// accesses in one grid stride; `None` if the kernel has no such loop, groups cannot run as a batch up to the first
    /// barrier, it gets no vectors, or the target prefers prefetching.
    fn try_batched(&mut self, vectors: Vectors<'_>) -> Option<(SplitKernel, Output, u32)> {
        let manager = self.manager;
        let is_on = manager.is_on(passes::GRID_STRIDE) && manager.is_on(passes::GROUP_BATCH);
        let asks_for_grid = grid_stride::asks_for_grid(&self.module.funcs[self.kernel]);
        if !is_on || !asks_for_grid || vectors.tuning().prefers_prefetch {
            return None;
        }
        let unbatched = manager.statistics();
        // This attempt counts on its own; which of the two statistics stays is decided after it.
        manager.roll_back(Statistics::default());
        let output = self.batched(vectors);
        if output.is_none() {
            manager.roll_back(unbatched);
        }
        output
    }

    fn batched(&mut self, vectors: Vectors<'_>) -> Option<(SplitKernel, Output, u32)> {
        let manager = self.manager;
        let mut split = self.module.funcs[self.kernel].clone();
        // Loops with small branches become simple enough for `grid_stride`.
        manager.run(self.module, &mut split, &[SELECT, SIMPLIFY_CFG]);
        let barriers = split_at_barriers(self.module, &mut split, manager);
        // Tests that ask for a number of lanes have few elements.
        let least = if vectors.options.lanes.is_some() { 0 } else { grid_stride::MIN_ELEMENTS };
        let found = manager.step(passes::GRID_STRIDE, || {
            let found = grid_stride::insert(&mut split, &barriers, least);
            (found.as_ref().map_or(0, |found| found.barriers.len()), found)
        });
        let GridStride { barriers: synthetic, bytes } = found.flatten()?;
        cloom_passes::manager::verify(self.module, &split, passes::GRID_STRIDE);
        let cut = SplitKernel::new(self.module, split, [barriers, synthetic].concat(), manager);
        // Saving a private array across the barrier costs more than reading memory in order gains.
        if !cut.graph.begins_batched() || cut.saves_arrays {
            return None;
        }
        let output = self.write(&cut, vectors).ok()?;
        (output.width.lanes > 1).then_some((cut, output, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::VectorOptions;
    use cloom_target::Target;

    const KERNEL: &str = "func external @k(ptr<global>) kernel {
  param \"p\" \"int*\" global size 8 align 4
} {
bb0(v0: ptr<global>):
    v1: i64 = query global_id 0
    v2: i64 = const 4
    v3: i64 = mul nsw v1, v2
    v4: ptr<global> = ptradd v0, v3
    v5: i32 = load v4 align 4
    v6: i32 = add v5, v5
    store v4, v6 align 4
    ret
}";

    fn with(lanes: Option<u16>, bugs: BugPolicy) -> (Module, Result<WorkGroup, Error>) {
        of(KERNEL, lanes, bugs)
    }

    fn of(text: &str, lanes: Option<u16>, bugs: BugPolicy) -> (Module, Result<WorkGroup, Error>) {
        let mut module = cloom_ir::parse(text).unwrap();
        let kernel = module.kernels().next().unwrap();
        let options = VectorOptions { lanes, ..VectorOptions::default() };
        let target = Target::generic();
        let group = run(&mut module, kernel, Vectors { options, target: &target }, &PassOptions::default(), bugs);
        (module, group)
    }

    fn planted(panics: bool) -> BugPolicy {
        BugPolicy { panics, planted: Some(internal("planted")) }
    }

    #[test]
    fn decisions_on_inlined_code_have_their_callers() {
        // A helper that was inlined for two calls, the first of them through another one.
        let text = KERNEL
            .replace("{\nbb0(", "{\n  inlined @both !0:12:5\n  inlined @tap !0:4:9@1\n  inlined @tap !0:13:5\nbb0(")
            .replace("= load v4 align 4", "= load v4 align 4 !0:2:10@2")
            .replace("store v4, v6 align 4", "store v4, v6 align 4 !0:2:10@3");
        let (module, group) = of(&text, Some(8), BugPolicy::BUILD);
        let group = group.unwrap();
        let found: Vec<(Operation, u32, String)> = group
            .decisions
            .iter()
            .filter(|d| d.span != cloom_ir::Span::NONE)
            .map(|d| (d.operation, d.span.line, d.inlined_into(&[])))
            .collect();
        let (nested, direct) = (", inlined into `both` at 4:9, inlined into `k` at 12:5", ", inlined into `k` at 13:5");
        assert_eq!(found, [(Operation::Load, 2, nested.to_owned()), (Operation::Store, 2, direct.to_owned())]);
        // The work-group function has the calls too.
        let text = module.function_text(&module.funcs[group.func]);
        assert!(text.contains("  inlined @tap !0:4:9@1\n") && text.contains(" !0:2:10@3"), "{text}");
        assert_eq!(cloom_ir::verify(&module), []);
    }

    #[test]
    fn a_bug_in_vector_code_costs_vectors_and_is_told() {
        let (module, group) = with(None, planted(false));
        let group = group.unwrap();
        let bug = group.internal_error.unwrap();
        assert_eq!((bug.what, group.not_vectorised, group.launch.lanes), ("planted", None, 1));
        assert!(group.decisions.iter().any(|d| d.why().contains("a bug in the vectoriser")), "{:?}", group.decisions);
        assert_eq!(cloom_ir::verify_work_group(&module, group.func, 1), []);
        // It is the code of a kernel for which nobody wanted vectors.
        let (plain_module, plain) = with(Some(1), BugPolicy::BUILD);
        let plain = plain.unwrap();
        assert_eq!(
            module.function_text(&module.funcs[group.func]),
            plain_module.function_text(&plain_module.funcs[plain.func])
        );
        assert_eq!(plain.internal_error, None);
        assert!(with(None, BugPolicy::BUILD).1.unwrap().launch.lanes > 1, "without a bug there are vectors");
    }

    #[test]
    #[should_panic(expected = "a bug in the vectoriser of Cloom, please report it: planted")]
    fn a_bug_panics_where_tests_are_to_find_it() {
        drop(with(None, planted(true)));
    }
}
