//! The ways to run a case. Each takes the program as it was written and does all that its stage needs.

use crate::case::{Case, CaseArg, Outcome, Print, format_ref};
use cloom_artifact::{KernelArg, KernelArgKind, KernelArtifact};
use cloom_hal::{Device, Launch, Memory, PrintSink};
use cloom_hal_cpu::CpuDevice;
use cloom_interp::observe::Log;
use cloom_interp::{Arg, Machine, Options, Program, WorkGroupLayout};
use cloom_ir::{FuncRef, Module, ParamKind, abi};
use cloom_spmd::WorkGroup;
use std::sync::{Arc, Mutex};

/// A way to run a case.
pub trait Rung: Sync {
    /// How failures call it.
    fn name(&self) -> String;
    /// Runs the case on fresh memory.
    fn run(&self, case: &Case) -> Result<Outcome, String>;
}

/// Runs a case on each rung and compares with the first. Gives the first's outcome.
pub fn climb(case: &Case, rungs: &[&dyn Rung]) -> Result<Outcome, String> {
    let mut first: Option<Outcome> = None;
    for rung in rungs {
        let outcome = rung.run(case).map_err(|e| format!("{}: {e}", rung.name()))?;
        match &first {
            None => first = Some(outcome),
            Some(reference) => {
                if let Some(difference) = reference.difference(&outcome) {
                    return Err(format!("{} and {} differ: {difference}", rungs[0].name(), rung.name()));
                }
            }
        }
    }
    first.ok_or_else(|| "no rung".into())
}

/// How far the interpreter lets a kernel be compiled first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// As it was written.
    Written,
    /// After inlining and the scalar passes.
    Passes,
    /// The work-group function of the kernel with nothing done but inlining.
    PlainGroup,
    /// The work-group function after the scalar passes.
    Group,
}

/// The interpreter.
#[derive(Clone, Copy, Debug)]
pub struct Interpreter {
    /// On which form of the kernel.
    pub stage: Stage,
    /// What fresh memory holds.
    pub canary: u8,
    /// Shuffles the order of work-items, unless 0.
    pub order_seed: u64,
}

impl Interpreter {
    /// The reference: the kernel as it was written, work-items in order.
    pub const REFERENCE: Interpreter = Interpreter::on(Stage::Written);

    /// At a stage, with no liberties taken.
    pub const fn on(stage: Stage) -> Self {
        Self { stage, canary: 0xa5, order_seed: 0 }
    }
}

/// Every rung that needs no code generation.
pub const INTERPRETED: [&dyn Rung; 5] = [
    &Interpreter::REFERENCE,
    &Interpreter { stage: Stage::Written, canary: 0x3c, order_seed: 11 },
    &Interpreter::on(Stage::Passes),
    &Interpreter { stage: Stage::PlainGroup, canary: 0x5a, order_seed: 0 },
    &Interpreter::on(Stage::Group),
];

impl Rung for Interpreter {
    fn name(&self) -> String {
        format!("interpreter ({:?}, canary {:#x}, order {})", self.stage, self.canary, self.order_seed)
    }

    fn run(&self, case: &Case) -> Result<Outcome, String> {
        let mut module = case.module.clone();
        let kernel = find(&module, &case.kernel)?;
        let group = prepare(&mut module, kernel, self.stage)?;
        let program = Program::new(module).map_err(|e| format!("does not verify: {}", e[0]))?;
        let options = Options { canary: self.canary, order_seed: self.order_seed, ..Options::default() };
        let mut machine = Machine::new(&program, options).map_err(|e| e.to_string())?;
        let mut buffers = Vec::new();
        let mut args = Vec::new();
        for arg in &case.args {
            args.push(match arg {
                CaseArg::Buffer(bytes) => {
                    let address = machine.buffer(bytes).map_err(|e| e.to_string())?;
                    buffers.push((address, bytes.len() as u64));
                    Arg::Buffer(address)
                }
                CaseArg::Bytes(bytes) => Arg::Bytes(bytes.clone()),
                CaseArg::Local(size) => Arg::Local(*size),
            });
        }
        let mut log = Log::default();
        match group {
            Some(g) => {
                let layout = WorkGroupLayout {
                    kernel,
                    func: g.func,
                    scratch_fixed: g.scratch_fixed,
                    scratch_per_item: g.scratch_per_item,
                    local_size: g.local_size,
                };
                machine.run_work_groups(&layout, &case.range, &args, &mut log)
            }
            None => machine.run_kernel(kernel, &case.range, &args, &mut log),
        }
        .map_err(|e| e.to_string())?;
        if case.initialised && self.stage == Stage::Written && log.uninitialised > 0 {
            return Err(format!("reads what nobody wrote: {:?}", log.first_uninitialised));
        }
        let read = |(address, size): (u64, u64)| machine.memory.read(address, size).map(|r| r.0.to_vec());
        let buffers = buffers.into_iter().map(read).collect::<Result<_, _>>().map_err(|e| e.to_string())?;
        let printed = log.printed.into_iter().map(|p| (p.item, p.format, p.args));
        Ok(Outcome::new(&case.module, buffers, printed))
    }
}

fn find(module: &Module, kernel: &str) -> Result<FuncRef, String> {
    module.find(kernel).ok_or_else(|| format!("no kernel is named {kernel}"))
}

/// Brings a kernel to a stage. Gives the work-group function if the stage has one.
pub fn prepare(module: &mut Module, kernel: FuncRef, stage: Stage) -> Result<Option<WorkGroup>, String> {
    match stage {
        Stage::Written => return Ok(None),
        Stage::PlainGroup => cloom_passes::inline::run(module, kernel),
        Stage::Passes | Stage::Group => cloom_passes::run(module, kernel, |_, _| {}),
    }
    if stage == Stage::Passes {
        return Ok(None);
    }
    cloom_spmd::work_group_function(module, kernel).map(Some).map_err(|e| e.to_string())
}

/// The CPU device, through code generation.
pub struct Cpu {
    device: CpuDevice,
    optimise: bool,
}

impl Cpu {
    /// A device with this many threads; `optimise` as of the code generator.
    pub fn new(threads: usize, optimise: bool) -> Self {
        Self { device: CpuDevice::new(threads, None), optimise }
    }

    /// A device that keeps to an instruction set, such as `sse4.2`, or to the best below it that there is.
    pub fn with_isa(isa: &str) -> Self {
        Self { device: CpuDevice::new(1, Some(isa)), optimise: true }
    }
}

struct Prints(Mutex<Vec<Print>>);

impl PrintSink for Prints {
    fn print(&self, format: u32, item: u64, args: &[u8], _: &dyn Fn(u64) -> Option<Vec<u8>>) {
        if let Ok(mut list) = self.0.lock() {
            list.push((item, format_ref(format), args.to_vec()));
        }
    }
}

impl Rung for Cpu {
    fn name(&self) -> String {
        let how = if self.optimise { "optimised" } else { "not optimised" };
        format!("CPU ({}, {how})", self.device.info().target)
    }

    fn run(&self, case: &Case) -> Result<Outcome, String> {
        let mut module = case.module.clone();
        let kernel = find(&module, &case.kernel)?;
        let group = prepare(&mut module, kernel, Stage::Group)?.ok_or("no work-group function")?;
        let errors = cloom_ir::verify(&module);
        if let Some(e) = errors.first() {
            return Err(format!("does not verify: {e}"));
        }
        let meta = module.funcs[kernel].kernel.as_deref().ok_or("not a kernel")?;
        let (offsets, arg_block) = meta.layout();
        let mut bytes = vec![0u8; arg_block as usize];
        let mut put = |at: u32, b: &[u8]| bytes[at as usize..at as usize + b.len()].copy_from_slice(b);
        let mut local_size = group.local_size;
        let mut buffers: Vec<(Arc<dyn Memory>, usize)> = Vec::new();
        for (arg, &at) in case.args.iter().zip(&offsets) {
            match arg {
                CaseArg::Bytes(b) => put(at, b),
                CaseArg::Buffer(b) => {
                    let memory = self.device.allocate((b.len() as u64).max(1)).map_err(|e| e.to_string())?;
                    memory.write(0, b);
                    put(at, &memory.device_address().to_le_bytes());
                    buffers.push((memory, b.len()));
                }
                CaseArg::Local(size) => {
                    let place = local_size.next_multiple_of(u64::from(abi::BLOCK_ALIGN));
                    put(at, &place.to_le_bytes());
                    local_size = place + size;
                }
            }
        }
        let options = cloom_llvm::Options {
            target: self.device.info().target.clone(),
            optimise: self.optimise,
            denorms_are_zero: false,
            texts: false,
        };
        let code = cloom_llvm::compile(&module, group.func, &options).map_err(|e| e.to_string())?;
        let kind = |kind: ParamKind| match kind {
            ParamKind::Value | ParamKind::Struct | ParamKind::Sampler => KernelArgKind::Bytes,
            ParamKind::Global | ParamKind::Constant | ParamKind::Image => KernelArgKind::Buffer,
            ParamKind::Local => KernelArgKind::Local,
        };
        let params = meta.params.iter().zip(&offsets);
        let artifact = KernelArtifact {
            name: case.kernel.clone(),
            target: options.target,
            code: code.object,
            entry: code.symbol,
            args: params.map(|(p, &offset)| KernelArg { kind: kind(p.kind), offset, size: p.size }).collect(),
            arg_block,
            local_size: group.local_size,
            scratch_fixed: group.scratch_fixed,
            scratch_per_item: group.scratch_per_item,
            private_size: code.private_size,
            reqd_group_size: None,
            denorms_are_zero: false,
            printf_formats: module.strings.values().cloned().collect(),
        };
        let kernel = self.device.load(Arc::new(artifact)).map_err(|e| e.to_string())?;
        let r = case.range;
        let range = cloom_hal::NdRange { work_dim: r.work_dim, offset: r.offset, global: r.global, local: r.local };
        let prints = Prints(Mutex::default());
        let launch = Launch { kernel: &*kernel, range, args: &bytes, local_size, print: &prints };
        self.device.launch(&launch).map_err(|e| e.to_string())?;
        let read = |(memory, size): &(Arc<dyn Memory>, usize)| {
            let mut bytes = vec![0; *size];
            memory.read(0, &mut bytes);
            bytes
        };
        let printed = prints.0.into_inner().unwrap_or_default();
        Ok(Outcome::new(&module, buffers.iter().map(read).collect(), printed.into_iter()))
    }
}
