//! The backend for GPUs: scalar passes, coarsening, LLVM. Work-items are the GPU's threads.

use super::descriptors;
use super::{Backend, Capabilities, Explanation, Generated, KernelInput};
use crate::error::CompileError;
use crate::key::{SubgroupSize, Tier};
use crate::passes::DESCRIPTORS_BY_VALUE;
use crate::stage::StageLog;
use cloom_artifact::{CoarseEntry, Coarsening, GpuLaunch, KernelArtifact, KernelCode, LaunchForm, WarpShape};
use cloom_ir::abi::gpu::Effort;
use cloom_ir::{FuncRef, Module};
use cloom_llvm::OptLevel;
use cloom_passes::infer_alignment;
use cloom_passes::{ALIGNED_COPY, FINISH_GPU, PassManager};
use cloom_spmd::{Coarse, Decision, Form, Operation, Reason};
use cloom_target::Target;
use std::sync::Arc;

/// Code generation for a GPU.
#[derive(Debug)]
pub struct GpuBackend {
    target: Target,
}

impl GpuBackend {
    /// A backend for a target, if that is a GPU that LLVM makes code for.
    pub fn of(target: &Target) -> Option<Arc<dyn Backend>> {
        cloom_llvm::has_gpu(target).then(|| Arc::new(GpuBackend { target: target.clone() }) as Arc<dyn Backend>)
    }
}

/// If a work-item executes at most this many instructions, the device translates its baseline code without
/// optimisations: that saves more time than the kernel loses. (Mandelbrot's kernel of 64 iterations: 10 to 11 ms
/// without optimisations and 14 ms with few. On an H200, build and first launch took 20.3 ms instead of 22.5.)
const MAX_UNOPTIMISED_INSTRUCTIONS: u64 = 8192;

/// A copy of the kernel that relies on aligned buffers. All buffers are aligned, except for pointers into shared
/// virtual memory.
fn aligned(module: &mut Module, kernel: FuncRef, manager: &PassManager<'_>) -> Option<Coarse> {
    let func = manager.step(ALIGNED_COPY, || match infer_alignment::aligned_copy(module, kernel) {
        0 => (0, None),
        count => (count, module.funcs.keys().last()),
    });
    let func = func.flatten()?;
    manager.made(module, func, ALIGNED_COPY);
    Some(Coarse { func, factor: 1, coarsening: Coarsening::WorkItems })
}

/// A second kernel, which is launched in place of the ordinary one where its conditions hold, and the decision. Wide
/// accesses are always profitable, so that groups are coarsened only in kernels that gain no wide accesses.
fn second(module: &mut Module, kernel: FuncRef, manager: &PassManager<'_>) -> (Option<Coarse>, Decision) {
    let (coarse, mut decision) = cloom_spmd::coarsen(module, kernel, manager);
    if coarse.is_some_and(|coarse| coarse.coarsening == Coarsening::WorkItems) {
        return (coarse, decision);
    }
    match aligned(module, kernel, manager) {
        None => (coarse, decision),
        aligned => {
            if coarse.is_some() {
                decision = Decision::new(Operation::Coarsening, Form::Threads(1), Reason::AlignedBuffers);
            }
            (aligned, decision)
        }
    }
}

impl Backend for GpuBackend {
    fn target(&self) -> &Target {
        &self.target
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { baseline_tier: true, tier_up: false, variants: false }
    }

    fn compile(&self, input: KernelInput<'_>, log: &mut StageLog) -> Result<Generated, CompileError> {
        let machine = self.target.machine();
        let warp_size = machine.simd_group();
        let required = input.options.subgroup_size.and_then(SubgroupSize::required);
        // A sub-group is a warp, whose size the machine fixes.
        if let Some(size) = required.filter(|&size| Some(size.into()) != warp_size) {
            return Err(CompileError::SubgroupSize(size));
        }
        let passes = input.passes.for_gpu(machine.has_generic_pointers());
        let mut input = KernelInput { passes: &passes, ..input };
        let mut statistics = input.run_passes(log);
        let KernelInput { mut module, kernel, key, options, .. } = input;
        let manager = PassManager::new(&passes);
        manager.with_module(&mut module, kernel, DESCRIPTORS_BY_VALUE, descriptors::pass_by_value);
        // The level is LLVM's. The effort is that of the driver, which translates LLVM's output once more before the
        // first launch.
        let level = match key.tier {
            _ if !options.optimise => OptLevel::None,
            Tier::Baseline => OptLevel::Less,
            Tier::Optimised => OptLevel::Default,
        };
        let effort = match level {
            OptLevel::Less if cloom_spmd::most_executed(&module, kernel) <= MAX_UNOPTIMISED_INSTRUCTIONS => {
                Effort::Least
            }
            OptLevel::Less => Effort::Less,
            OptLevel::Default | OptLevel::None => Effort::Full,
        };
        // Only optimised code gets a shape of warps and a second kernel: to look for them takes longer than the
        // baseline tier may.
        let (warp, of_warp) = match level {
            OptLevel::Default => cloom_spmd::warp_shape(&module, kernel, machine, &manager),
            OptLevel::Less | OptLevel::None => (WarpShape::AsGrouped, None),
        };
        let (coarse, decision) = match level {
            OptLevel::Default => second(&mut module, kernel, &manager),
            OptLevel::Less | OptLevel::None => {
                (None, Decision::new(Operation::Coarsening, Form::Threads(1), Reason::NotOptimised))
            }
        };
        if let Some(coarse) = coarse {
            debug_assert_eq!(cloom_ir::verify(&module).first(), None, "after coarsening\n{module}");
            log.stage("coarse", || module.function_text(&module.funcs[coarse.func]));
        }
        let llvm = cloom_llvm::Options {
            target: self.target.clone(),
            level,
            denorms_are_zero: options.denorms_are_zero,
            texts: log.wants_texts(),
            lines: options.lines,
            count: false,
        };
        // Both kernels are compiled as one object, the ordinary one first.
        let kernels: Vec<_> = std::iter::once(kernel).chain(coarse.map(|coarse| coarse.func)).collect();
        if level == OptLevel::Default {
            for &kernel in &kernels {
                FINISH_GPU.iter().for_each(|&pass| manager.in_module(&mut module, kernel, pass));
            }
            log.stage("gpu", || module.function_text(&module.funcs[kernel]));
        }
        statistics.merge(&manager.statistics());
        let compiled = cloom_llvm::compile_kernels(&module, &kernels, &llvm, &passes)?;
        statistics.merge(&compiled.statistics);
        let launch = GpuLaunch {
            coarse: coarse.and_then(|coarse| {
                // The symbols are in the order of `kernels`.
                let entry = compiled.symbols.get(1)?.clone();
                Some(CoarseEntry { entry, factor: coarse.factor, coarsening: coarse.coarsening })
            }),
            effort,
            warp,
        };
        log.extend(&compiled.times, compiled.stages);
        let code = KernelCode {
            target: llvm.target,
            code: compiled.object,
            entry: compiled.symbols.into_iter().next().unwrap_or_default(),
            local_size: compiled.local_size,
            private_size: compiled.private_size,
            subgroup_size: warp_size.and_then(|size| size.try_into().ok()),
            denorms_are_zero: options.denorms_are_zero,
            launch: LaunchForm::WorkItem(launch),
        };
        let artifact = KernelArtifact::new(&module, kernel, code)?;
        Ok(Generated {
            artifact,
            decisions: std::iter::once(decision).chain(of_warp).collect(),
            statistics,
            internal_error: None,
        })
    }

    fn explain(&self, input: KernelInput<'_>) -> Result<Explanation, CompileError> {
        let machine = self.target.machine();
        let passes = input.passes.for_gpu(machine.has_generic_pointers());
        let mut input = KernelInput { passes: &passes, ..input };
        input.run_passes(&mut StageLog::new(false));
        let KernelInput { mut module, kernel, .. } = input;
        let manager = PassManager::new(&passes);
        let (_, of_warp) = cloom_spmd::warp_shape(&module, kernel, machine, &manager);
        let (_, decision) = second(&mut module, kernel, &manager);
        let summary = decision.what();
        let decisions = std::iter::once(decision).chain(of_warp).collect();
        Ok(Explanation { summary, decisions, files: module.files })
    }

    fn prepare(&self) {
        cloom_llvm::prepare(&self.target);
    }

    fn is_prepared(&self) -> bool {
        cloom_llvm::is_prepared()
    }
}
