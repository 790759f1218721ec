//! The rungs: the ways to run a case. Each takes the original program and does all that its stage needs.

use crate::case::{Case, CaseArg, NdRange, Outcome, Print, format_ref};
use crate::device::{cpu, pack_args, variables};
use cloom_artifact::{Coarsening, KernelArtifact, KernelCode, LaunchForm};
use cloom_caps::cpu::names;
use cloom_hal::{Device, Kernel, Launch, Memory, PrintSink, initialise};
use cloom_hal_cpu::CpuDevice;
use cloom_interp::observe::Log;
use cloom_interp::{Arg, Machine, Options, Program, WorkGroupLayout};
use cloom_ir::{FuncRef, Function, Module, Op, Query, Space, abi};
use cloom_llvm::OptLevel;
use cloom_passes::{FINISH_GPU, PassManager, PassOptions};
use cloom_spmd::{Coarse, NotVectorised, VectorOptions, WorkGroup};
use cloom_target::{Architecture, Target};
use std::sync::{Arc, Mutex};

/// A way to run a case.
pub trait Rung: Sync {
    /// Its name in failures.
    fn name(&self) -> String;
    /// Compiles a kernel as far as this rung needs it.
    fn prepare(&self, module: &Module, kernel: &str) -> Result<Box<dyn Ready + '_>, String> {
        self.prepare_with(module, kernel, &PassOptions::default())
    }
    /// The same, by these passes.
    fn prepare_with(&self, module: &Module, kernel: &str, passes: &PassOptions) -> Result<Box<dyn Ready + '_>, String>;
    /// Whether it takes a module that went through the scalar passes already.
    fn after_passes(&self) -> bool {
        false
    }
    /// Compiles and runs a case on fresh memory.
    fn run(&self, case: &Case) -> Result<Outcome, String> {
        self.prepare(&case.module, &case.kernel)?.run(&case.range, &case.args, case.initialised)
    }
}

/// A kernel that is ready to run.
pub trait Ready {
    /// Runs it on fresh memory. With `initialised`, a read of unwritten bytes is a failure.
    fn run(&self, range: &NdRange, args: &[CaseArg], initialised: bool) -> Result<Outcome, String>;
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

/// The stage of the kernel that the interpreter runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// The original kernel.
    Written,
    /// After inlining and the scalar passes.
    Passes,
    /// The work-group function after inlining alone.
    PlainGroup,
    /// The work-group function after the scalar passes.
    Group,
    /// The same of a module that went through them already.
    Passed,
    /// As GPUs get it: the kernel for several neighbours, and the kernel itself for those left over, after the scalar
    /// passes and those for GPUs.
    Coarse,
}

/// The interpreter.
#[derive(Clone, Copy, Debug)]
pub struct Interpreter {
    /// On which form of the kernel.
    pub stage: Stage,
    /// The content of unwritten memory.
    pub canary: u8,
    /// Shuffles the order of work-items, unless 0.
    pub order_seed: u64,
    /// Instructions, at most.
    pub fuel: u64,
    /// Work-items in a vector, for the stages that have vectors; for the others, in a sub-group.
    pub lanes: u16,
    /// For vectors of so many bits instead, with as many work-items as the vectoriser chooses.
    pub bits: Option<u32>,
}

impl Interpreter {
    /// The reference: the original kernel, work-items in order.
    pub const REFERENCE: Interpreter = Interpreter::on(Stage::Written);

    /// At a stage, with work-items in order.
    pub const fn on(stage: Stage) -> Self {
        Self { stage, canary: 0xa5, order_seed: 0, fuel: 2_000_000_000, lanes: 1, bits: None }
    }

    /// The work-group function for vectors of so many work-items.
    pub const fn with_lanes(stage: Stage, lanes: u16) -> Self {
        // Another content of unwritten memory than the reference has, so that a result that depends on it differs.
        Self { canary: 0xc3, lanes, ..Self::on(stage) }
    }

    /// The work-group function that is chosen for vectors of so many bits, of a module that went through the scalar
    /// passes already.
    pub const fn chosen(bits: u32) -> Self {
        Self { bits: Some(bits), ..Self::on(Stage::Passed) }
    }
}

/// The limits that may keep a kernel from being vectorised.
const EXCUSES: [NotVectorised; 4] =
    [NotVectorised::EndlessLoop, NotVectorised::TooManyLoops, NotVectorised::TooLarge, NotVectorised::PrivateArrays];

/// Every rung that needs no code generation.
pub const INTERPRETED: [&dyn Rung; 10] = [
    &Interpreter::REFERENCE,
    &Interpreter { canary: 0x3c, order_seed: 11, ..Interpreter::REFERENCE },
    &Interpreter::on(Stage::Passes),
    &Interpreter { canary: 0x69, ..Interpreter::on(Stage::Coarse) },
    &Interpreter { canary: 0x5a, ..Interpreter::on(Stage::PlainGroup) },
    &Interpreter::on(Stage::Group),
    &Interpreter::with_lanes(Stage::Group, 2),
    &Interpreter::with_lanes(Stage::PlainGroup, 4),
    &Interpreter::with_lanes(Stage::Group, 8),
    &Interpreter::with_lanes(Stage::Group, 64),
];

/// Those for what depends on sub-groups, which have as many work-items as vectors have lanes.
pub const IN_SUBGROUPS: [&dyn Rung; 9] = [
    &Interpreter::REFERENCE,
    &Interpreter::on(Stage::Group),
    &Interpreter::with_lanes(Stage::Written, 4),
    &Interpreter { order_seed: 7, ..Interpreter::with_lanes(Stage::Written, 32) },
    &Interpreter::with_lanes(Stage::Passes, 8),
    &Interpreter::with_lanes(Stage::PlainGroup, 2),
    &Interpreter::with_lanes(Stage::Group, 4),
    &Interpreter::with_lanes(Stage::Group, 16),
    &Interpreter::with_lanes(Stage::Group, 64),
];

impl Rung for Interpreter {
    fn name(&self) -> String {
        let Self { stage, canary, order_seed, lanes, bits, .. } = self;
        if let Some(bits) = bits {
            return format!("interpreter ({stage:?}, lanes chosen for {bits} bits)");
        }
        format!("interpreter ({stage:?}, lanes {lanes}, canary {canary:#x}, order {order_seed})")
    }

    fn after_passes(&self) -> bool {
        self.stage == Stage::Passed
    }

    fn prepare_with(&self, module: &Module, kernel: &str, passes: &PassOptions) -> Result<Box<dyn Ready + '_>, String> {
        let mut module = module.clone();
        let kernel = find(&module, kernel)?;
        let (options, target) = match self.bits {
            None => (VectorOptions::with_lanes(self.lanes), Target::generic()),
            Some(bits) => (VectorOptions::default(), target_of(bits)?),
        };
        let group = prepare(&mut module, kernel, self.stage, options, &target, passes)?;
        let manager = PassManager::new(passes);
        let coarse = match self.stage {
            // The range that is run is not the launch's, as these would tell.
            Stage::Coarse if !asks_for_range(&module.funcs[kernel]) => {
                cloom_spmd::coarsen(&mut module, kernel, &manager).0
            }
            _ => None,
        };
        if self.stage == Stage::Coarse {
            // Both run: the coarse kernel, and the kernel itself for what is left over.
            for func in std::iter::once(kernel).chain(coarse.map(|coarse| coarse.func)) {
                FINISH_GPU.iter().for_each(|&pass| manager.in_module(&mut module, func, pass));
            }
        }
        // If a kernel is not vectorised for another reason, the vectoriser has a bug.
        if let Some(group) = group.as_ref().filter(|g| self.bits.is_none() && g.launch.lanes != self.lanes)
            && !group.not_vectorised.is_some_and(|limit| EXCUSES.contains(&limit))
        {
            return Err(format!("not vectorised: {:?}", group.decisions.last()));
        }
        // This verifies the IR, so that a stage that leaves it invalid fails here and not by a strange result.
        let program = Program::new(module).map_err(|e| format!("does not verify: {}", e[0]))?;
        Ok(Box::new(Interpreted { interpreter: *self, program, kernel, group, coarse }))
    }
}

struct Interpreted {
    interpreter: Interpreter,
    program: Program,
    kernel: FuncRef,
    group: Option<WorkGroup>,
    coarse: Option<Coarse>,
}

/// Whether a kernel asks for the size or the offset of the launch.
fn asks_for_range(func: &Function) -> bool {
    let asks =
        |op: &Op| matches!(op, Op::Query { what: Query::GlobalSize | Query::NumGroups | Query::GlobalOffset, .. });
    func.insts_in_layout().any(|(_, data)| asks(&data.op))
}

/// Bytes of local memory of coarsened groups, if arguments say how many: more than the variables and the arguments
/// need.
fn coarsened_local_size(module: &Module, coarse: &Coarse, args: &[CaseArg]) -> u64 {
    if !matches!(coarse.coarsening, Coarsening::Groups { local_size: None, .. }) {
        return 0;
    }
    let variables = module.globals.values().filter(|global| global.space == Space::Local).map(|global| global.size);
    let arguments = args.iter().map(|arg| if let CaseArg::Local(size) = arg { *size } else { 0 });
    let of_each: u64 = variables.chain(arguments).map(|size| size.next_multiple_of(abi::BLOCK_ALIGN.into())).sum();
    of_each * u64::from(coarse.factor)
}

/// The kernels that run a range, each with its part: the coarse one for what it can take, and the kernel for the rest.
fn parts(kernel: FuncRef, coarse: Option<Coarse>, range: &NdRange) -> Vec<(FuncRef, NdRange)> {
    let whole = vec![(kernel, *range)];
    let Some(Coarse { func, factor, coarsening }) = coarse else { return whole };
    let factor = u64::from(factor);
    if let Coarsening::Groups { dim, .. } = coarsening {
        let mut coarsened = *range;
        coarsened.global[usize::from(dim)] /= factor;
        // Of groups that are left over, or partial, the ids would be others.
        let fits = range.global[usize::from(dim)].is_multiple_of(factor * range.local[usize::from(dim)]);
        return if fits { vec![(func, coarsened)] } else { whole };
    }
    let ([x, ..], [first, ..]) = (range.global, range.offset);
    // The first work-item of the coarse kernel stands for that of its own offset times the factor, so that only a
    // multiple of the factor can be a beginning.
    if !first.is_multiple_of(factor) || x < factor {
        return whole;
    }
    let part = |offset: u64, size: u64| {
        let mut part = *range;
        // A kernel that depends on its groups is not coarsened by work-items, so that any groups will do: small ones
        // give several, of which the last may be partial.
        (part.offset[0], part.global[0], part.local) = (offset, size, [size.min(3), 1, 1]);
        part
    };
    let coarsened = x / factor;
    let mut parts = vec![(func, part(first / factor, coarsened))];
    if x % factor > 0 {
        parts.push((kernel, part(first + coarsened * factor, x % factor)));
    }
    parts
}

impl Ready for Interpreted {
    fn run(&self, range: &NdRange, args: &[CaseArg], initialised: bool) -> Result<Outcome, String> {
        let Interpreter { stage, canary, order_seed, fuel, lanes, .. } = self.interpreter;
        // Joined groups need the local memory of all of them, which the interpreter cannot see from the arguments of
        // one.
        let local_memory_size =
            self.coarse.map_or(0, |coarse| coarsened_local_size(&self.program.module, &coarse, args));
        let options = Options { canary, order_seed, fuel, subgroup: lanes, local_memory_size, ..Options::default() };
        let mut machine = Machine::new(&self.program, options).map_err(|e| e.to_string())?;
        let mut buffers = Vec::new();
        let mut values: Vec<Arg> = Vec::new();
        for arg in args {
            values.push(match arg {
                // The same address twice: the two parameters alias.
                CaseArg::Again(earlier) => values.get(*earlier).ok_or("an argument again, before it")?.clone(),
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
        match &self.group {
            Some(g) => {
                let &WorkGroup { func, launch, local_size, .. } = g;
                let layout = WorkGroupLayout { kernel: self.kernel, func, local_size, launch };
                machine.run_work_groups(&layout, range, &values, &mut log)
            }
            None => parts(self.kernel, self.coarse, range)
                .into_iter()
                .try_for_each(|(func, range)| machine.run_kernel(func, &range, &values, &mut log)),
        }
        .map_err(|e| e.to_string())?;
        if initialised && stage == Stage::Written && log.uninitialised > 0 {
            return Err(format!("reads what nobody wrote: {:?}", log.first_uninitialised));
        }
        let read = |(address, size): (u64, u64)| machine.memory.read(address, size).map(|r| r.0.to_vec());
        let buffers = buffers.into_iter().map(read).collect::<Result<_, _>>().map_err(|e| e.to_string())?;
        let printed = log.printed.into_iter().map(|p| (p.item, p.format, p.args));
        Ok(Outcome::new(&self.program.module, buffers, printed))
    }
}

/// A machine with vector registers of so many bits.
pub fn target_of(bits: u32) -> Result<Target, String> {
    let level = cloom_target::cpu::of(Architecture::X86_64).find(|l| l.features.vector_bits == bits);
    Ok(level.ok_or_else(|| format!("no machine has vector registers of {bits} bits"))?.target())
}

pub(crate) fn find(module: &Module, kernel: &str) -> Result<FuncRef, String> {
    module.find(kernel).ok_or_else(|| format!("no kernel is named {kernel}"))
}

/// Brings a kernel to a stage. Gives the work-group function if the stage has one.
pub fn prepare(
    module: &mut Module,
    kernel: FuncRef,
    stage: Stage,
    options: VectorOptions,
    target: &Target,
    passes: &PassOptions,
) -> Result<Option<WorkGroup>, String> {
    match stage {
        Stage::Written => return Ok(None),
        Stage::PlainGroup => {
            cloom_passes::inline::run(module, kernel);
        }
        Stage::Passes | Stage::Group | Stage::Coarse => {
            cloom_passes::run_with(module, kernel, &PassManager::new(passes), |_, _| {});
        }
        Stage::Passed => {}
    }
    if matches!(stage, Stage::Passes | Stage::Coarse) {
        return Ok(None);
    }
    cloom_spmd::work_group_function(module, kernel, options, target, passes).map(Some).map_err(|e| e.to_string())
}

/// The CPU device, through code generation.
pub struct Cpu {
    device: CpuDevice,
    level: OptLevel,
    lanes: Option<u16>,
    stage: Stage,
}

impl Cpu {
    /// A device with this many threads; optimised so much.
    pub fn new(threads: usize, level: OptLevel) -> Self {
        Self { device: cpu(threads), level, lanes: None, stage: Stage::Group }
    }

    /// The optimising device, for vectors of so many work-items, with non-temporal stores.
    pub fn with_lanes(threads: usize, lanes: u16) -> Self {
        let device = cpu(threads).with_cache(0);
        Self { device, level: OptLevel::Default, lanes: Some(lanes), stage: Stage::Group }
    }

    /// The target of its code.
    pub fn target(&self) -> &Target {
        &self.device.info().target
    }

    /// The same device for a module that went through the scalar passes already.
    pub fn passed(self) -> Self {
        Self { stage: Stage::Passed, ..self }
    }

    /// The same device with code that is not optimised.
    pub fn plain(self) -> Self {
        Self { level: OptLevel::None, ..self }
    }

    /// A device that keeps to an instruction set, such as `sse4.2`, or to the best below it that there is.
    pub fn with_isa(isa: &str) -> Self {
        Self { device: CpuDevice::new(1, Some(isa)), level: OptLevel::Default, lanes: None, stage: Stage::Group }
    }

    /// The optimising devices for every set of instructions that the machine has, best last.
    pub fn levels(threads: usize) -> Vec<Self> {
        let mut list: Vec<Self> = Vec::new();
        for wish in names() {
            let device = CpuDevice::new(threads, Some(&wish));
            // A machine without a set of instructions takes the next lower one, so that several names may give one
            // target.
            if list.iter().all(|cpu| cpu.device.info().target != device.info().target) {
                list.push(Self { device, level: OptLevel::Default, lanes: None, stage: Stage::Group });
            }
        }
        list
    }
}

/// Bytes before and after each buffer.
const MARGIN: u64 = 1024;

/// What they are.
const AROUND: [u8; MARGIN as usize] = [0xa7; MARGIN as usize];

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
        let level = self.device.info().target.cpu_and_tuning();
        let lanes = self.lanes.map_or("chosen lanes".into(), |l| format!("{l} lanes"));
        format!("CPU ({level}, {}, {lanes})", if self.level == OptLevel::None { "not optimised" } else { "optimised" })
    }

    fn after_passes(&self) -> bool {
        self.stage == Stage::Passed
    }

    fn prepare_with(&self, module: &Module, kernel: &str, passes: &PassOptions) -> Result<Box<dyn Ready + '_>, String> {
        let mut module = module.clone();
        let kernel = find(&module, kernel)?;
        let target = &self.device.info().target;
        let vectors = VectorOptions { lanes: self.lanes, ..VectorOptions::default() };
        let group =
            prepare(&mut module, kernel, self.stage, vectors, target, passes)?.ok_or("no work-group function")?;
        if let Some(e) = cloom_ir::verify_work_group(&module, group.func, group.launch.lanes).first() {
            return Err(format!("does not verify: {e}"));
        }
        let options = cloom_llvm::Options {
            target: self.device.info().target.clone(),
            level: self.level,
            denorms_are_zero: false,
            texts: false,
            lines: false,
            count: false,
        };
        let code = cloom_llvm::compile(&module, group.func, &options, passes).map_err(|e| e.to_string())?;
        let code = KernelCode {
            target: options.target,
            code: code.object,
            entry: code.symbols[0].clone(),
            local_size: group.local_size,
            private_size: code.private_size,
            subgroup_size: None,
            denorms_are_zero: false,
            launch: LaunchForm::WorkGroup(group.launch),
        };
        let artifact = KernelArtifact::new(&module, kernel, code).map_err(|e| e.to_string())?;
        let variables = variables(&self.device, &module)?;
        let kernel = self.device.load(Arc::new(artifact), variables.clone()).map_err(|e| e.to_string())?;
        Ok(Box::new(Loaded { cpu: self, module, kernel, variables }))
    }
}

struct Loaded<'a> {
    cpu: &'a Cpu,
    module: Module,
    kernel: Arc<dyn Kernel>,
    /// The memory of the program's variables.
    variables: Option<Arc<dyn Memory>>,
}

impl Ready for Loaded<'_> {
    fn run(&self, &range: &NdRange, args: &[CaseArg], _: bool) -> Result<Outcome, String> {
        let device = &self.cpu.device;
        let artifact = self.kernel.artifact();
        if let Some(memory) = &self.variables {
            // Each case begins with the initial values.
            let all = self.module.variables();
            initialise(&**memory, &all.init, &all.relocs).map_err(|e| e.to_string())?;
        }
        // A caller's block may have any address; here it is never aligned to more than 8.
        let mut room = vec![0u8; artifact.arg_block as usize + 256];
        let start = room.as_ptr().align_offset(128) + 8;
        let bytes = &mut room[start..start + artifact.arg_block as usize];
        let (local_size, buffers) = pack_args(artifact, args, bytes, |b| {
            let memory = device.allocate(b.len() as u64 + 2 * MARGIN).map_err(|e| e.to_string())?;
            for (at, bytes) in [(0, &AROUND[..]), (MARGIN, b), (MARGIN + b.len() as u64, &AROUND[..])] {
                memory.write(at, bytes).map_err(|e| e.to_string())?;
            }
            Ok((memory.device_address() + MARGIN, (memory, b.len())))
        })?;
        let prints = Prints(Mutex::default());
        let launch = Launch { local_size, ..Launch::new(&*self.kernel, range, bytes, &prints) };
        device.launch(&launch).map_err(|e| e.to_string())?;
        let read = |(memory, size): &(Arc<dyn Memory>, usize)| -> Result<Vec<u8>, String> {
            let mut bytes = vec![0; *size + 2 * AROUND.len()];
            memory.read(0, &mut bytes).map_err(|e| e.to_string())?;
            let after = bytes.split_off(AROUND.len() + size);
            let inside = bytes.split_off(AROUND.len());
            let is_whole = bytes == AROUND && after == AROUND;
            if is_whole { Ok(inside) } else { Err("it wrote outside of a buffer".into()) }
        };
        let printed = prints.0.into_inner().unwrap_or_default();
        Ok(Outcome::new(&self.module, buffers.iter().map(read).collect::<Result<_, _>>()?, printed.into_iter()))
    }
}
