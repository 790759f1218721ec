//! From IR to object code, through LLVM: the only crate that names it.
//!
//! In comes a verified module and one of its functions (a work-group function, after `spmd`); out goes a relocatable
//! object with that function as its only visible symbol, as bytes in memory. Every operation keeps the meaning that
//! `cloom_ir::inst` gives it: arithmetic never reaches undefined behaviour of LLVM, so divisions, shifts and
//! conversions are guarded here, and no-wrap flags of the IR (`nsw`) are not passed to LLVM. The object calls nothing
//! but `memcpy`, `memmove` and `memset`, and `fma` where the CPU lacks it.
//!
//! LLVM is used through its C interface, one context per compilation, so that any number of threads may compile at
//! once. C++ (`cpp/`) is what the C interface cannot do: the list of LLVM's passes that run (`pipeline.cpp`; the C
//! interface would link all passes that LLVM has), Cloom's own passes on LLVM IR, and the call that makes code
//! (`codegen.cpp`). [`own_passes`] names, switches and counts the own passes.

#![allow(unsafe_code, reason = "it calls LLVM's C interface")]

mod atomic;
mod convert;
mod count;
mod division;
mod emit;
mod estimate;
mod fma;
mod gpu;
mod gpu_target;
mod guard;
mod half;
mod handles;
mod interleave;
mod lanes;
mod lines;
mod masks;
mod memory;
mod ops;
mod optimise;
pub mod own_passes;
mod report;
mod target;
pub mod testing;
mod warm_up;

use cloom_ir::cfg::Cfg;
use cloom_ir::{Block, Edge, FuncRef, Function, Module, Op};
use cloom_passes::{PassOptions, Statistics};
use cloom_target::{Architecture, CodeUnit, Target};
use handles::{Context, LlvmModule};
use optimise::Effort;
use own_passes::{LEGALISE_GPU, LEGALISE_MASKS, OwnPasses};
use std::time::{Duration, Instant};

/// What to do.
#[derive(Clone, Debug)]
pub struct Options {
    /// The target of the code.
    pub target: Target,
    /// How much is optimised.
    pub level: OptLevel,
    /// Whether the code runs where denormal operands and results count as zeros: a comparison must then not become a
    /// test of bits.
    pub denorms_are_zero: bool,
    /// Whether to keep the texts of [`Compiled::stages`].
    pub texts: bool,
    /// Whether the code says which source lines it comes from.
    pub lines: bool,
    /// Whether the code counts how often each of its basic blocks runs. Only on x86; no effect elsewhere.
    pub count: bool,
}

/// How much is optimised, for the time that it takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OptLevel {
    /// Nothing (`-cl-opt-disable`).
    None,
    /// What takes little time.
    Less,
    /// Everything that pays.
    Default,
}

/// An object, or the text of a GPU's code.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The relocatable ELF object; for a GPU, the text that its driver compiles.
    pub object: Vec<u8>,
    /// The symbols of the functions in it, in the order in which they were given.
    pub symbols: Vec<String>,
    /// Bytes of static local memory of a group; 0 for a CPU, whose work-group functions have none of their own.
    pub local_size: u64,
    /// Bytes that one thread needs on its stack for private memory and for what does not fit into registers.
    pub private_size: u64,
    /// If asked for: name and text of each stage.
    pub stages: Vec<(&'static str, String)>,
    /// What each stage took.
    pub times: Vec<(&'static str, Duration)>,
    /// What each of this crate's [`own_passes`] did.
    pub statistics: Statistics,
}

/// Why there is no object.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// The target is unknown or not linked in.
    #[error("cannot compile for {0}: {1}")]
    Target(String, String),
    /// The function has an instruction that only `spmd` removes.
    #[error("{0} still has {1}: it is not a work-group function")]
    NotLowered(String, &'static str),
    /// The function is valid and too large.
    #[error("{0}")]
    Limit(String),
    /// LLVM refuses its input. This is a bug of ours, reported instead of a crash.
    #[error("code generation failed: {0}")]
    Internal(String),
}

/// Private memory that a kernel may have: what the launcher's threads have as stack, less what everything else needs
/// there.
pub const MAX_PRIVATE: u64 = 32 << 20;

/// Instructions of a kernel with all that it calls: about a minute of code generation, and some gigabytes.
pub const MAX_INSTS: usize = 2_000_000;

/// How LLVM begins to say that it has no instruction for an operation.
const CANNOT_SELECT: &str = "Cannot select";

/// Whether code can be made for a target that runs single work-items, a GPU.
pub fn has_gpu(target: &Target) -> bool {
    gpu_target::has(target)
}

/// Whether a target's code runs single work-items.
fn runs_work_items(target: &Target) -> bool {
    target.machine().code_unit() == CodeUnit::WorkItem
}

/// Compiles one function and all that it calls. `passes` says which of the [`own_passes`] run.
pub fn compile(module: &Module, func: FuncRef, options: &Options, passes: &PassOptions) -> Result<Compiled, Error> {
    compile_kernels(module, &[func], options, passes)
}

/// Compiles functions, at least one, and all that they call. `passes` says which of the [`own_passes`] run.
pub fn compile_kernels(
    module: &Module,
    funcs: &[FuncRef],
    options: &Options,
    passes: &PassOptions,
) -> Result<Compiled, Error> {
    let reachable = reachable(module, funcs);
    for &f in &reachable {
        check(module, f, runs_work_items(&options.target))?;
    }
    let private_size = reachable.iter().fold(0u64, |sum, &f| sum.saturating_add(private_size(module, f)));
    check_private(private_size)?;
    let since = Instant::now();
    // Each attempt has a thread and a context of its own: what LLVM gave up on is left as it is.
    let attempt = |options: &Options| {
        guard::run(|| {
            let start = since.elapsed();
            let mut compiled = generate(module, funcs, private_size, options, passes)?;
            compiled.times.insert(0, ("llvm start", start));
            Ok(compiled)
        })
    };
    match attempt(options) {
        // Its passes may turn valid code into what it has no instructions for. Without them the code stays as it was.
        Err(Error::Internal(why)) if options.level != OptLevel::None && why.starts_with(CANNOT_SELECT) => {
            attempt(&Options { level: OptLevel::None, ..options.clone() }).map_err(|_| Error::Internal(why))
        }
        result => result,
    }
}

/// Does `work` on this thread and meanwhile initialises LLVM on another, for a target.
pub fn prepare_meanwhile<T>(target: &Target, work: impl FnOnce() -> T) -> T {
    guard::prepare_meanwhile(target, work)
}

/// Initialises LLVM for a target, so that the first kernel does not wait for it.
pub fn prepare(target: &Target) {
    guard::prepare(target);
}

/// Whether LLVM has been used in this process, so that code can be made without delay.
pub fn is_prepared() -> bool {
    guard::is_prepared()
}

/// Gives up the code generation that this thread is at, and does not return; returns on any other thread.
pub fn give_up(reason: &std::ffi::CStr) {
    guard::give_up_for(reason);
}

/// Before a `fork`: lets no code generation begin, and waits for the running ones, at most so long. Followed by
/// [`after_fork`] and, in the child, [`after_fork_in_child`].
pub fn before_fork(limit: std::time::Duration) {
    guard::before_fork(limit);
}

/// After a `fork`, in the parent.
pub fn after_fork() {
    guard::after_fork();
}

/// After a `fork`, in the child.
pub fn after_fork_in_child() {
    guard::after_fork_in_child();
}

fn generate(
    module: &Module,
    funcs: &[FuncRef],
    private_size: u64,
    options: &Options,
    passes: &PassOptions,
) -> Result<Compiled, Error> {
    let reachable = reachable(module, funcs);
    let functions = || reachable.iter().map(|&f| &module.funcs[f]);
    let insts = functions().map(Function::size).sum();
    if insts > MAX_INSTS {
        return Err(Error::Limit(format!("{insts} instructions, {MAX_INSTS} are the limit")));
    }
    let most = |count: fn(&Function) -> usize| functions().map(count).max().unwrap_or(0);
    let most_effort = || Effort::of(most(|f| f.layout.len()), most(loops), insts);
    let mut effort = match options.level {
        OptLevel::Default => most_effort(),
        OptLevel::Less => most_effort().min(Effort::Quick),
        OptLevel::None => Effort::None,
    };
    // See `Effort::Plain`: LLVM's unoptimised instruction selection does not end on some vectors.
    if effort == Effort::None && functions().any(|f| f.values.values().any(|v| v.ty.is_vector())) {
        effort = Effort::of_vectors(most(loops));
    }
    let mut times = Vec::with_capacity(5);
    let mut since = Instant::now();
    let mut stage = |name| {
        times.push((name, since.elapsed()));
        since = Instant::now();
    };
    let machine = target::Machine::take(&options.target, effort)?;
    stage("llvm target");
    let context = Context::new();
    let llvm = LlvmModule::new(&context, &module.funcs[funcs[0]].name);
    machine.prepare(&llvm);
    let local_size = emit::module(module, funcs, &reachable, &context, &llvm, options)?;
    let mut stages = Vec::new();
    if options.texts {
        stages.push(("llvm", llvm.text()));
    }
    // LLVM's passes end the process, or worse, on a module that is not valid.
    llvm.verify()?;
    stage("llvm ir");
    let mut own = OwnPasses::new(passes);
    own.in_cpp(|records| optimise::run(&llvm, &machine, effort, records));
    let is_gpu = runs_work_items(&options.target);
    let changes = match is_gpu {
        true => own.step(LEGALISE_GPU, || gpu::legalise::run(&llvm)),
        false if effort >= Effort::Quick => own.step(LEGALISE_MASKS, || masks::widen(&llvm, options.target.features())),
        false => 0,
    };
    if changes > 0 && own.is_spoiled(if is_gpu { LEGALISE_GPU } else { LEGALISE_MASKS }) {
        optimise::spoil(&llvm);
    }
    // LLVM's own passes are trusted; those of Cloom are checked when they changed something.
    if changes > 0 {
        llvm.verify()?;
    }
    stage("llvm passes");
    if options.texts {
        stages.push(("llvm-optimised", llvm.text()));
        // Code generation changes the module: the text is made from a copy.
        let text = machine.emit(&llvm.copy(), target::Output::Assembly)?;
        let text = String::from_utf8_lossy(&text);
        // The passes on the text count once, on the code itself.
        let text = if is_gpu { gpu::finish(&text, &mut OwnPasses::new(passes))? } else { text.into_owned() };
        stages.push(("asm", text));
        stage("llvm texts");
    }
    // The frames of the copy above do not count.
    context.take_frames();
    let counts = options.count && options.target.architecture() == Architecture::X86_64;
    // Code for GPUs is a text, and counters are added to assembly.
    let is_text = counts || is_gpu;
    let output = if is_text { target::Output::Assembly } else { target::Output::Object };
    let mut object = machine.emit(&llvm, output)?;
    context.check()?;
    if is_gpu {
        object = gpu::finish(&String::from_utf8_lossy(&object), &mut own)?.into_bytes();
    }
    let mut frames = context.take_frames();
    if counts {
        let text = count::instrument(&String::from_utf8_lossy(&object));
        object = count::assemble(&text, &machine, &context)?;
        frames += count::STACK * reachable.len() as u64;
    }
    // Only a machine whose code generation succeeded is used again.
    machine.keep();
    drop(llvm);
    drop(context);
    stage("llvm codegen");
    // Spilled vectors, or code that is not optimised, need frames of up to megabytes beyond the variables. There is no
    // recursion, so the sum of all frames bounds what a thread needs.
    let private_size = private_size.max(frames);
    check_private(private_size)?;
    let symbols = funcs.iter().map(|&f| emit::symbol(module, f, true, &options.target)).collect();
    Ok(Compiled { object, symbols, local_size, private_size, stages, times, statistics: own.into_statistics() })
}

/// The number of back edges: about that of loops.
fn loops(func: &Function) -> usize {
    let cfg = Cfg::new(func);
    let back = |b: Block, e: &Edge| cfg.rpo_index(e.block) <= cfg.rpo_index(b);
    cfg.rpo().iter().map(|&b| func.blocks[b].term.edges().iter().filter(|e| back(b, e)).count()).sum()
}

/// Functions and all that they call.
pub(crate) fn reachable(module: &Module, roots: &[FuncRef]) -> Vec<FuncRef> {
    let mut list = roots.to_vec();
    let mut i = 0;
    while i < list.len() {
        for callee in module.funcs[list[i]].callees() {
            // A list, not a set: it is short, and functions are emitted in its order, which must be the same each time.
            if !list.contains(&callee) {
                list.push(callee);
            }
        }
        i += 1;
    }
    list
}

fn check(module: &Module, f: FuncRef, of_work_item: bool) -> Result<(), Error> {
    let func = &module.funcs[f];
    if func.is_declaration() {
        return Err(Error::NotLowered(func.name.clone(), "no body"));
    }
    for &b in &func.layout {
        for &i in &func.blocks[b].insts {
            let what = match func.insts[i].op {
                _ if of_work_item => continue,
                Op::Query { .. } => "a query",
                Op::Barrier(_) => "a barrier",
                ref op if op.is_subgroup() => "an operation of sub-groups",
                _ => continue,
            };
            return Err(Error::NotLowered(func.name.clone(), what));
        }
    }
    Ok(())
}

fn check_private(size: u64) -> Result<(), Error> {
    match size {
        0..=MAX_PRIVATE => Ok(()),
        _ => Err(Error::Limit(format!("{size} bytes of private memory, {MAX_PRIVATE} are the limit"))),
    }
}

/// Bytes of a function's private variables.
fn private_size(module: &Module, f: FuncRef) -> u64 {
    let bytes = |op: &Op| match *op {
        Op::Alloca { size, align, .. } => size.next_multiple_of(u64::from(align)),
        _ => 0,
    };
    module.funcs[f].insts_in_layout().map(|(_, data)| bytes(&data.op)).sum()
}
