//! The backend for CPUs: scalar passes, the work-item vectoriser, LLVM.

use super::{Backend, Capabilities, Explanation, Generated, KernelInput};
use crate::error::CompileError;
use crate::key::{CodeOptions, MAX_ROW, SpecializationKey, SubgroupSize, Tier, Variant};
use crate::stage::StageLog;
use cloom_artifact::{KernelArtifact, KernelCode, LaunchForm};
use cloom_ir::{Function, ParamKind};
use cloom_llvm::OptLevel;
use cloom_spmd::VectorOptions;
use cloom_target::{Features, Target};
use std::sync::Arc;

/// Larger kernels have no baseline code: it keeps every value on the stack.
const MAX_BASELINE: usize = 10_000;

/// Code generation for a CPU.
#[derive(Debug)]
pub struct CpuBackend {
    target: Target,
}

impl CpuBackend {
    /// A backend for a target, if that is a CPU of the table of levels. If LLVM has no code generation for it,
    /// compiling a kernel returns the error.
    pub fn of(target: &Target) -> Option<Arc<dyn Backend>> {
        target.level().map(|_| Arc::new(CpuBackend { target: target.clone() }) as Arc<dyn Backend>)
    }
}

/// The number of lanes that a kernel's sub-groups fix, if they do: the size that the kernel requires; or the size that
/// it expects if its results can depend on it, except in code for ids of any size. A kernel with images or samplers has
/// one size for all formats, a register of 32-bit numbers, because programs ask for the size before a launch gives the
/// formats.
fn fixed_by_subgroups(
    func: &Function,
    key: &SpecializationKey,
    options: &CodeOptions,
    features: &Features,
) -> Option<u16> {
    let can_tell = || key.variant != Variant::Scalar && cloom_ir::subgroup::uses(func);
    match options.subgroup_size {
        // Baseline code has no sub-groups: `compile` refuses kernels that use them.
        _ if key.tier != Tier::Optimised => None,
        Some(SubgroupSize::Required(size)) => Some(size),
        Some(SubgroupSize::Expected(size)) => can_tell().then_some(size),
        None if !options.optimise || options.lanes.is_some() => None,
        None => {
            let params = func.kernel.iter().flat_map(|meta| &meta.params);
            let mut kinds = params.map(|param| param.kind);
            let is_specialised = kinds.any(|kind| matches!(kind, ParamKind::Image | ParamKind::Sampler));
            (is_specialised && can_tell()).then_some((features.vector_bits / 32) as u16)
        }
    }
}

/// The options of the vectoriser: `fixed` is the number of lanes if sub-groups fix it. Without optimisation, work-items
/// run one after the other.
fn vector_options(fixed: Option<u16>, key: &SpecializationKey, options: &CodeOptions) -> VectorOptions {
    if let Some(size) = fixed {
        return VectorOptions::with_lanes(size);
    }
    if !options.optimise || key.tier == Tier::Baseline || key.variant == Variant::Scalar {
        return VectorOptions::with_lanes(1);
    }
    match (options.lanes, key.variant) {
        (Some(lanes), _) => VectorOptions::with_lanes(lanes),
        (None, Variant::ShortRow(power)) => {
            VectorOptions { short_row: Some(1 << power.min(MAX_ROW)), ..VectorOptions::default() }
        }
        (None, Variant::Dim0) => VectorOptions { keep_dim0: true, ..VectorOptions::default() },
        (None, Variant::Vector | Variant::Scalar) => VectorOptions::default(),
    }
}

impl Backend for CpuBackend {
    fn target(&self) -> &Target {
        &self.target
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { baseline_tier: true, tier_up: true, variants: true }
    }

    fn compile(&self, mut input: KernelInput<'_>, log: &mut StageLog) -> Result<Generated, CompileError> {
        let mut statistics = input.run_passes(log);
        let KernelInput { mut module, kernel, key, options, passes, .. } = input;
        let is_baseline = key.tier == Tier::Baseline;
        if is_baseline {
            let func = &module.funcs[kernel];
            if func.size() > MAX_BASELINE || cloom_ir::subgroup::uses(func) {
                return Err(CompileError::NoBaseline);
            }
        }
        // After the scalar passes: whether the kernel uses sub-groups is known once calls are inlined.
        let fixed = fixed_by_subgroups(&module.funcs[kernel], key, &options, self.target.features());
        let vectors = vector_options(fixed, key, &options);
        let required = options.subgroup_size.and_then(SubgroupSize::required);
        let required = required.filter(|_| cloom_ir::subgroup::uses(&module.funcs[kernel]));
        // Code for ids of any size runs one work-item at a time, and so has sub-groups of one.
        if required.is_some() && key.variant == Variant::Scalar {
            return Err(CompileError::SubgroupsOfManyItems);
        }
        let group = cloom_spmd::work_group_function(&mut module, kernel, vectors, &self.target, passes)?;
        // A kernel beyond a limit of the vectoriser runs one work-item at a time, and its sub-groups then lack the size
        // that the source requires.
        if let Some(size) = required.filter(|&size| size != group.launch.lanes) {
            return Err(CompileError::SubgroupSize(size));
        }
        statistics.merge(&group.statistics);
        let lanes = group.launch.lanes;
        debug_assert_eq!(cloom_ir::verify_work_group(&module, group.func, lanes), [], "after spmd\n{module}");
        log.stage("spmd", || module.function_text(&module.funcs[group.func]));
        let llvm = cloom_llvm::Options {
            target: self.target.clone(),
            level: if options.optimise && !is_baseline { OptLevel::Default } else { OptLevel::None },
            denorms_are_zero: options.denorms_are_zero,
            texts: log.wants_texts(),
            lines: false,
            count: options.count,
        };
        let compiled = cloom_llvm::compile(&module, group.func, &llvm, passes)?;
        statistics.merge(&compiled.statistics);
        log.extend(&compiled.times, compiled.stages);
        let code = KernelCode {
            target: llvm.target,
            code: compiled.object,
            entry: compiled.symbols.into_iter().next().unwrap_or_default(),
            local_size: group.local_size,
            private_size: compiled.private_size,
            subgroup_size: fixed.filter(|&size| size == group.launch.lanes),
            denorms_are_zero: options.denorms_are_zero,
            launch: LaunchForm::WorkGroup(group.launch),
        };
        let artifact = KernelArtifact::new(&module, kernel, code)?;
        let (decisions, internal_error) = (group.decisions, group.internal_error);
        Ok(Generated { artifact, decisions, statistics, internal_error })
    }

    fn explain(&self, mut input: KernelInput<'_>) -> Result<Explanation, CompileError> {
        input.run_passes(&mut StageLog::new(false));
        let KernelInput { mut module, kernel, key, options, passes, .. } = input;
        let fixed = fixed_by_subgroups(&module.funcs[kernel], key, &options, self.target.features());
        let vectors = vector_options(fixed, key, &options);
        let group = cloom_spmd::work_group_function(&mut module, kernel, vectors, &self.target, passes)?;
        let summary = match group.launch.lanes {
            0 | 1 => "one work-item at a time".to_owned(),
            lanes => format!("{lanes} work-items at a time along dimension {}", group.launch.dim_order[0]),
        };
        Ok(Explanation { summary, decisions: group.decisions, files: module.files })
    }

    fn prepare_meanwhile(&self, work: &mut dyn FnMut()) {
        cloom_llvm::prepare_meanwhile(&self.target, work);
    }

    fn prepare(&self) {
        cloom_llvm::prepare(&self.target);
    }

    fn is_prepared(&self) -> bool {
        cloom_llvm::is_prepared()
    }
}
