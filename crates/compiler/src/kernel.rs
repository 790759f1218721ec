//! One kernel of a program to machine code: library, passes, spmd, llvm.

use crate::cache::{Cache, Key};
use crate::program::Program;
use crate::{CompileError, Compiler, Timing, library};
use cloom_artifact::{KernelArg, KernelArgKind, KernelArtifact};
use cloom_caps::cpu;
use cloom_ir::{KernelMeta, Module, ParamKind};
use cloom_passes::{CALLEES, PassManager, Statistics};
use cloom_spmd::{Remark, Wish, WorkGroup};
use std::sync::Arc;
use std::time::Instant;

/// A stage of the compilation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stage {
    /// Its name: `ir`, `library`, a pass, `spmd`, `llvm`, `llvm-optimised`, `asm`.
    pub name: String,
    /// What it gave, as text.
    pub text: String,
}

/// A compiled kernel and how it came about.
#[derive(Clone, PartialEq, Debug)]
pub struct Built {
    /// What a device loads.
    pub artifact: Arc<KernelArtifact>,
    /// What the vectoriser decided; empty if the code came from the cache.
    pub remarks: Vec<Remark>,
    /// What each pass did; nothing if the code came from the cache.
    pub statistics: Statistics,
    /// The stages, if asked for.
    pub stages: Vec<Stage>,
    /// What each stage took; nothing if the code came from the cache.
    pub times: Vec<Timing>,
    /// Whether the code came from the cache.
    pub cached: bool,
}

/// Which code of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Variant {
    /// For ordinary launches.
    Vector,
    /// For launches with ids of any size.
    Scalar,
    /// For groups whose rows have at most two to this power work-items, and more than half as many; 6 at most. Only where it matters:
    /// [`KernelArtifact::long_row_width`].
    ShortRow(u8),
    /// For launches that are short in the dimension along which lanes lie otherwise: along dimension 0.
    Dim0,
}

/// Rows longer than two to this power need no code of their own.
const MOST_ROW: u8 = 6;

impl Variant {
    /// How many there are.
    pub const COUNT: usize = 4 + MOST_ROW as usize;

    /// For groups whose rows have so many work-items.
    pub fn of_row(length: u64) -> Variant {
        let power = length.clamp(1, 1 << MOST_ROW).next_power_of_two().ilog2();
        Variant::ShortRow(power as u8)
    }

    /// A number for each, from 0 on.
    pub fn index(self) -> usize {
        match self {
            Variant::Vector => 0,
            Variant::Scalar => 1,
            Variant::Dim0 => 2,
            Variant::ShortRow(power) => (3 + usize::from(power)).min(Self::COUNT - 1),
        }
    }
}

/// What code is made for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// To begin with: made in a tenth of the time, one work-item at a time and hardly optimised. Not for kernels that see who their
    /// neighbours are, and not kept on disk.
    Begin,
    /// To stay.
    Stay(Variant),
    /// To look at: made from scratch, with the texts of all stages.
    Show(Variant),
}

/// Larger kernels have no quick code: it keeps every value on the stack.
const MAX_QUICK: usize = 10_000;

/// How wide vectors are on a target.
fn wish(compiler: &Compiler, program: &Program, target: &str, purpose: Purpose) -> Wish {
    let (row, straight) = match purpose {
        // Without optimisation, work-items run one after the other, as they are written.
        _ if program.options().opt_disable => return Wish::Lanes(1),
        Purpose::Begin => return Wish::Lanes(1),
        Purpose::Stay(variant) | Purpose::Show(variant) => match variant {
            Variant::Scalar => return Wish::Lanes(1),
            Variant::ShortRow(power) => (Some(1 << power.min(MOST_ROW)), false),
            Variant::Vector => (None, false),
            Variant::Dim0 => (None, true),
        },
    };
    let (bits, intel) = (cpu::vector_bits(target), cpu::is_like_intel(target));
    compiler.lanes.map_or(Wish::Registers { bits, row, intel, straight }, Wish::Lanes)
}

/// Keeps the times of stages, and their texts if anybody wants them.
struct Recorder {
    texts: bool,
    since: Instant,
    stages: Vec<Stage>,
    times: Vec<Timing>,
}

impl Recorder {
    /// A stage that changed the IR.
    fn stage(&mut self, name: &str, text: impl FnOnce() -> String) {
        self.time(name);
        self.text(name, text);
    }

    /// The time since the last stage is this one's.
    fn time(&mut self, name: &str) {
        self.times.push(Timing::new(name, self.since.elapsed()));
        self.since = Instant::now();
    }

    /// Making a text is nobody's time.
    fn text(&mut self, name: &str, text: impl FnOnce() -> String) {
        if self.texts {
            self.stages.push(Stage { name: name.to_owned(), text: text() });
            self.since = Instant::now();
        }
    }
}

/// Where the disk cache has a kernel's code, or will have it.
fn place<'a>(
    compiler: &'a Compiler,
    program: &Program,
    extracted: &Module,
    name: &str,
    target: &str,
    wish: Wish,
) -> Option<(&'a Cache, Key)> {
    let cache = compiler.cache.as_ref()?;
    let ir = postcard::to_stdvec(extracted).ok()?;
    let wish = format!("{wish:?}");
    let disabled = compiler.passes.disabled.to_string();
    let texts = [target.as_bytes(), name.as_bytes(), wish.as_bytes(), disabled.as_bytes(), &ir];
    let options = program.options();
    Some((cache, Key::new(&texts, &[!options.opt_disable, options.denorms_are_zero])))
}

/// What the disk cache has there.
fn stored((cache, key): &(&Cache, Key), name: &str, target: &str) -> Option<Built> {
    let artifact = cache.get(key).filter(|a| a.target == target && a.name == name)?;
    let (remarks, statistics, stages, times) = Default::default();
    Some(Built { artifact: Arc::new(artifact), remarks, statistics, stages, times, cached: true })
}

/// A kernel of a program and what that defines of what it calls.
fn extract(program: &Program, name: &str) -> Result<Module, CompileError> {
    let source = program.module();
    let kernel = source.kernels().find(|&k| source.funcs[k].name == name);
    let mut module = Module::new();
    module.import(source, [kernel.ok_or_else(|| CompileError::NoKernel(name.to_owned()))?])?;
    Ok(module)
}

/// A kernel's code for ordinary launches, if the disk cache has it.
pub fn cached(compiler: &Compiler, program: &Program, name: &str, target: &str) -> Option<Built> {
    compiler.cache.as_ref()?;
    let wish = wish(compiler, program, target, Purpose::Stay(Variant::Vector));
    stored(&place(compiler, program, &extract(program, name).ok()?, name, target, wish)?, name, target)
}

/// Compiles a kernel.
pub fn compile(
    compiler: &Compiler,
    program: &Program,
    name: &str,
    target: &str,
    purpose: Purpose,
) -> Result<Built, CompileError> {
    let texts = matches!(purpose, Purpose::Show(_));
    let mut recorder = Recorder { texts, since: Instant::now(), stages: Vec::new(), times: Vec::new() };
    let mut module = extract(program, name)?;
    recorder.time("extract");
    recorder.text("ir", || module.to_string());
    let wish = wish(compiler, program, target, purpose);
    let place = match purpose {
        Purpose::Stay(_) => place(compiler, program, &module, name, target, wish),
        Purpose::Begin | Purpose::Show(_) => None,
    };
    if let Some(built) = place.as_ref().and_then(|p| stored(p, name, target)) {
        return Ok(built);
    }
    recorder.time("cache");
    library::link(&mut module)?;
    recorder.stage("library", || module.to_string());
    let missing = CompileError::NoKernel(name.to_owned());
    let kernel = module.find(name).ok_or(missing.clone())?;
    let manager = PassManager::new(&compiler.passes);
    cloom_passes::run_with(&mut module, kernel, &manager, |pass, module| {
        recorder.time(pass);
        if pass != CALLEES {
            recorder.text(pass, || module.function_text(&module.funcs[kernel]));
        }
    });
    if purpose == Purpose::Begin {
        let func = &module.funcs[kernel];
        if func.size() > MAX_QUICK || cloom_ir::subgroup::uses(func) {
            return Err(CompileError::NoQuick);
        }
    }
    let group = cloom_spmd::work_group_function(&mut module, kernel, wish, &compiler.passes)?;
    group.internal_error.iter().for_each(|bug| compiler.note_internal_error(name, bug));
    let mut statistics = manager.statistics();
    statistics.merge(&group.statistics);
    debug_assert_eq!(cloom_ir::verify_work_group(&module, group.func, group.lanes), [], "after spmd\n{module}");
    recorder.stage("spmd", || module.function_text(&module.funcs[group.func]));
    let denorms_are_zero = program.options().denorms_are_zero;
    let optimise = !program.options().opt_disable && purpose != Purpose::Begin;
    let options = cloom_llvm::Options { target: target.to_owned(), optimise, denorms_are_zero, texts };
    let compiled = cloom_llvm::compile(&module, group.func, &options)?;
    recorder.times.extend(compiled.times.iter().map(|&(name, time)| Timing::new(name, time)));
    recorder.stages.extend(compiled.stages.into_iter().map(|(name, text)| Stage { name: name.to_owned(), text }));
    let meta = module.funcs[kernel].kernel.as_deref().ok_or(missing)?;
    let (args, arg_block) = arguments(meta);
    let artifact = KernelArtifact {
        name: name.to_owned(),
        target: target.to_owned(),
        code: compiled.object,
        entry: compiled.symbol,
        args,
        arg_block,
        local_size: group.local_size,
        lanes: group.lanes,
        dim_order: group.dim_order,
        max_id: group.max_id,
        regroupable: group.regroupable,
        column_access: group.column_access,
        write_only_bytes: group.write_only_bytes,
        long_row_width: group.long_row_width,
        scratch_fixed: group.scratch_fixed,
        scratch_per_item: group.scratch_per_item,
        grid_stride_bytes: group.grid_stride_bytes,
        private_size: compiled.private_size,
        reqd_group_size: meta.reqd_group_size,
        denorms_are_zero,
        printf_formats: module.strings.values().cloned().collect(),
    };
    if let Some((cache, key)) = place {
        cache.put(&key, &artifact);
    }
    let Recorder { stages, times, .. } = recorder;
    Ok(Built { artifact: Arc::new(artifact), remarks: group.remarks, statistics, stages, times, cached: false })
}

/// A kernel's way through the vectoriser alone, and the files that its remarks are about.
pub fn vectorised(
    compiler: &Compiler,
    program: &Program,
    name: &str,
    target: &str,
) -> Result<(WorkGroup, Vec<String>), CompileError> {
    let mut module = linked(program, name)?;
    let kernel = module.find(name).ok_or_else(|| CompileError::NoKernel(name.to_owned()))?;
    cloom_passes::run_with(&mut module, kernel, &PassManager::new(&compiler.passes), |_, _| {});
    let wish = wish(compiler, program, target, Purpose::Stay(Variant::Vector));
    let group = cloom_spmd::work_group_function(&mut module, kernel, wish, &compiler.passes)?;
    Ok((group, module.files))
}

/// A kernel with all that it calls, also the built-in functions, before any pass: what the reference interpreter runs.
pub fn linked(program: &Program, name: &str) -> Result<Module, CompileError> {
    let mut module = extract(program, name)?;
    library::link(&mut module)?;
    Ok(module)
}

fn arguments(meta: &KernelMeta) -> (Vec<KernelArg>, u32) {
    let (offsets, size) = meta.layout();
    let args = meta.params.iter().zip(offsets).map(|(p, offset)| {
        let kind = match p.kind {
            ParamKind::Global | ParamKind::Constant | ParamKind::Image => KernelArgKind::Buffer,
            ParamKind::Local => KernelArgKind::Local,
            ParamKind::Value | ParamKind::Struct | ParamKind::Sampler => KernelArgKind::Bytes,
        };
        KernelArg { kind, offset, size: p.size }
    });
    (args.collect(), size)
}
