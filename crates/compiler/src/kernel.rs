//! One kernel of a program to machine code: library, passes, spmd, llvm.

use crate::cache::{Cache, Key};
use crate::program::Program;
use crate::{CompileError, Compiler, Timing, library};
use cloom_artifact::{KernelArtifact, KernelCode, LaunchForm};
use cloom_ir::Module;
use cloom_passes::CALLEES;
use cloom_spmd::{Remark, VectorOptions, WorkGroup};
use cloom_target::Target;
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
    /// [`CpuLaunch::long_row_width`](cloom_artifact::CpuLaunch::long_row_width).
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

/// How a kernel is vectorised for a purpose. Without optimisation, work-items run one after the other, as they are written.
fn vector_options(compiler: &Compiler, program: &Program, purpose: Purpose) -> VectorOptions {
    let scalar = VectorOptions::with_lanes(1);
    let variant = match purpose {
        // Without optimisation, work-items run one after the other, as they are written.
        _ if program.options().opt_disable => return scalar,
        Purpose::Begin | Purpose::Stay(Variant::Scalar) | Purpose::Show(Variant::Scalar) => return scalar,
        Purpose::Stay(variant) | Purpose::Show(variant) => variant,
    };
    match (compiler.lanes, variant) {
        (Some(lanes), _) => VectorOptions::with_lanes(lanes),
        (None, Variant::ShortRow(power)) => {
            VectorOptions { short_row: Some(1 << power.min(MOST_ROW)), ..VectorOptions::default() }
        }
        (None, Variant::Dim0) => VectorOptions { keep_dim0: true, ..VectorOptions::default() },
        (None, Variant::Vector | Variant::Scalar) => VectorOptions::default(),
    }
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
    target: &Target,
    vectors: VectorOptions,
) -> Option<(&'a Cache, Key)> {
    let cache = compiler.cache.as_ref()?;
    let ir = postcard::to_stdvec(extracted).ok()?;
    let vectors = format!("{vectors:?}");
    let texts = [target.name().as_bytes(), name.as_bytes(), vectors.as_bytes(), &ir];
    let options = program.options();
    Some((cache, Key::new(&texts, &[!options.opt_disable, options.denorms_are_zero])))
}

/// What the disk cache has there.
fn stored((cache, key): &(&Cache, Key), name: &str, target: &Target) -> Option<Built> {
    let artifact = cache.get(key).filter(|a| a.target == *target && a.name == name)?;
    let (remarks, stages, times) = Default::default();
    Some(Built { artifact: Arc::new(artifact), remarks, stages, times, cached: true })
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
pub fn cached(compiler: &Compiler, program: &Program, name: &str, target: &Target) -> Option<Built> {
    compiler.cache.as_ref()?;
    let vectors = vector_options(compiler, program, Purpose::Stay(Variant::Vector));
    stored(&place(compiler, program, &extract(program, name).ok()?, name, target, vectors)?, name, target)
}

/// Compiles a kernel.
pub fn compile(
    compiler: &Compiler,
    program: &Program,
    name: &str,
    target: &Target,
    purpose: Purpose,
) -> Result<Built, CompileError> {
    let texts = matches!(purpose, Purpose::Show(_));
    let mut recorder = Recorder { texts, since: Instant::now(), stages: Vec::new(), times: Vec::new() };
    let mut module = extract(program, name)?;
    recorder.time("extract");
    recorder.text("ir", || module.to_string());
    let vectors = vector_options(compiler, program, purpose);
    let place = match purpose {
        Purpose::Stay(_) => place(compiler, program, &module, name, target, vectors),
        Purpose::Begin | Purpose::Show(_) => None,
    };
    if let Some(built) = place.as_ref().and_then(|p| stored(p, name, target)) {
        return Ok(built);
    }
    recorder.time("cache");
    library::link(&mut module)?;
    recorder.stage("library", || module.to_string());
    let missing = CompileError::NoKernel(name.to_owned());
    let kernel = module.find(name).ok_or(missing)?;
    cloom_passes::run(&mut module, kernel, |pass, module| {
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
    let group = cloom_spmd::work_group_function(&mut module, kernel, vectors, target)?;
    debug_assert_eq!(cloom_ir::verify_work_group(&module, group.func, group.launch.lanes), [], "after spmd\n{module}");
    recorder.stage("spmd", || module.function_text(&module.funcs[group.func]));
    let denorms_are_zero = program.options().denorms_are_zero;
    let optimise = !program.options().opt_disable && purpose != Purpose::Begin;
    let options = cloom_llvm::Options { target: target.clone(), optimise, denorms_are_zero, texts };
    let compiled = cloom_llvm::compile(&module, group.func, &options)?;
    recorder.times.extend(compiled.times.iter().map(|&(name, time)| Timing::new(name, time)));
    recorder.stages.extend(compiled.stages.into_iter().map(|(name, text)| Stage { name: name.to_owned(), text }));
    let code = KernelCode {
        target: target.clone(),
        code: compiled.object,
        entry: compiled.symbol,
        local_size: group.local_size,
        private_size: compiled.private_size,
        denorms_are_zero,
        launch: LaunchForm::WorkGroup(group.launch),
    };
    let artifact = KernelArtifact::new(&module, kernel, code)?;
    if let Some((cache, key)) = place {
        cache.put(&key, &artifact);
    }
    let Recorder { stages, times, .. } = recorder;
    Ok(Built { artifact: Arc::new(artifact), remarks: group.remarks, stages, times, cached: false })
}

/// A kernel's way through the vectoriser alone, and the files that its remarks are about.
pub fn vectorised(
    compiler: &Compiler,
    program: &Program,
    name: &str,
    target: &Target,
) -> Result<(WorkGroup, Vec<String>), CompileError> {
    let mut module = linked(program, name)?;
    let kernel = module.find(name).ok_or_else(|| CompileError::NoKernel(name.to_owned()))?;
    cloom_passes::run(&mut module, kernel, |_, _| {});
    let vectors = vector_options(compiler, program, Purpose::Stay(Variant::Vector));
    let group = cloom_spmd::work_group_function(&mut module, kernel, vectors, target)?;
    Ok((group, module.files))
}

/// A kernel with all that it calls, also the built-in functions, before any pass: what the reference interpreter runs.
pub fn linked(program: &Program, name: &str) -> Result<Module, CompileError> {
    let mut module = extract(program, name)?;
    library::link(&mut module)?;
    Ok(module)
}
