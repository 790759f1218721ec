//! A stub GPU: SIMD groups of 64 work-items, no generic pointers, memory of its own, local memory for each group.
//!
//! Its target describes the machine ([`TARGET`]), so that the sources of Cloom know nothing of it. The machine code of
//! a kernel is the IR of one work-item ([`StubBackend`]), which the reference interpreter runs: it forms the groups,
//! has the barriers, and makes sub-groups of neighbours along dimension 0. A launch copies the blocks that its
//! arguments point to into the interpreter's memory, and back.

use cloom_artifact::{KernelArg, KernelArgKind, KernelArtifact};
use cloom_caps::{DeviceCaps, Limits, Without, feature};
use cloom_compiler::testing::StubBackend;
use cloom_compiler::{Backend, Compiler, Config, Extensions};
use cloom_hal::{self as hal, HalError};
use cloom_hal_cpu::CpuDevice;
use cloom_interp::observe::Log;
use cloom_interp::{Arg, Machine, Options, Program};
use cloom_ir::Entity;
use cloom_runtime::{Context, Device, Engine, Hooks, Platform};
use cloom_target::Target;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The target of its code.
pub const TARGET: &str = "stub:gpu+work-item,simd64,sector64";

/// Bytes of local memory of a group.
pub const LOCAL_MEMORY: u64 = 16 << 10;
/// Work-items of the largest group.
const MAX_GROUP: u64 = 256;

/// What it lacks beside what any GPU with this machine lacks.
const WITHOUT: &[Without<'_>] = &[
    ("it has no images", &[feature::IMAGES, "__opencl_c_read_write_images", "__opencl_c_3d_image_writes"]),
    ("each launch has a new interpreter", &[feature::PROGRAM_SCOPE_VARIABLES]),
];

/// The blocks of its memory by their device address.
type Blocks = Arc<Mutex<BTreeMap<u64, Weak<Block>>>>;

/// A block of its memory.
struct Block {
    address: u64,
    bytes: Mutex<Vec<u8>>,
}

impl Block {
    fn with<R>(&self, call: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        call(&mut self.bytes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl hal::Memory for Block {
    fn size(&self) -> u64 {
        self.with(|bytes| bytes.len() as u64)
    }

    fn device_address(&self) -> u64 {
        self.address
    }

    fn host_address(&self) -> Option<usize> {
        None
    }

    fn read(&self, offset: u64, to: &mut [u8]) -> Result<(), HalError> {
        self.with(|bytes| to.copy_from_slice(&bytes[offset as usize..][..to.len()]));
        Ok(())
    }

    fn write(&self, offset: u64, from: &[u8]) -> Result<(), HalError> {
        self.with(|bytes| bytes[offset as usize..][..from.len()].copy_from_slice(from));
        Ok(())
    }

    fn copy_from(&self, offset: u64, source: &dyn hal::Memory, at: u64, size: u64) -> Result<(), HalError> {
        let mut bytes = vec![0; size as usize];
        source.read(at, &mut bytes)?;
        self.write(offset, &bytes)
    }

    fn fill(&self, offset: u64, size: u64, pattern: &[u8]) -> Result<(), HalError> {
        self.write(offset, &pattern.repeat(size as usize / pattern.len()))
    }
}

/// A kernel, decoded.
struct StubKernel {
    artifact: Arc<KernelArtifact>,
    program: Program,
}

impl hal::Kernel for StubKernel {
    fn artifact(&self) -> &KernelArtifact {
        &self.artifact
    }
}

/// The device.
struct StubGpu {
    info: hal::DeviceInfo,
    blocks: Blocks,
    next_address: AtomicU64,
}

impl StubGpu {
    fn new() -> StubGpu {
        let target: Target = TARGET.parse().unwrap();
        let limits = Limits {
            max_group_size: MAX_GROUP,
            max_group_sizes: [MAX_GROUP; 3],
            local_memory: LOCAL_MEMORY,
            ..DeviceCaps::full().limits
        };
        let caps = DeviceCaps::gpu(target.machine(), limits, false).without(WITHOUT);
        let info = hal::DeviceInfo {
            name: "stub GPU".into(),
            vendor: "none".into(),
            vendor_id: 0,
            uuid: [0; 16],
            target,
            compute_units: 4,
            clock_mhz: 1,
            memory_size: 1 << 30,
            cache_size: 0,
            cache_line: 64,
            vector_bits: 32,
            caps: DeviceCaps { images: None, ..caps },
            gpu: None,
        };
        StubGpu { info, blocks: Blocks::default(), next_address: AtomicU64::new(1 << 40) }
    }
}

impl hal::Device for StubGpu {
    fn info(&self) -> &hal::DeviceInfo {
        &self.info
    }

    fn allocate(&self, size: u64) -> Result<Arc<dyn hal::Memory>, HalError> {
        let address = self.next_address.fetch_add(size.next_multiple_of(4096) + 4096, Ordering::Relaxed);
        let block = Arc::new(Block { address, bytes: Mutex::new(vec![0xEE; size as usize]) });
        self.blocks.lock().unwrap().insert(address, Arc::downgrade(&block));
        Ok(block)
    }

    fn load(
        &self,
        artifact: Arc<KernelArtifact>,
        _: Option<Arc<dyn hal::Memory>>,
    ) -> Result<Arc<dyn hal::Kernel>, HalError> {
        if artifact.target != self.info.target || artifact.gpu().is_none() {
            return Err(HalError::BadCode(format!("it is made for {}", artifact.target)));
        }
        let text = String::from_utf8_lossy(&artifact.code);
        let module = cloom_ir::parse(&text).map_err(|e| HalError::BadCode(e.to_string()))?;
        let program = Program::new(module).map_err(|e| HalError::BadCode(format!("{e:?}")))?;
        Ok(Arc::new(StubKernel { artifact, program }))
    }

    fn submit(&self, launch: &hal::Launch<'_>) -> Result<hal::Completion, HalError> {
        let kernel: &dyn Any = launch.kernel;
        let kernel =
            kernel.downcast_ref::<StubKernel>().ok_or_else(|| HalError::BadCode("of another device".into()))?;
        let failed = |why: String| HalError::Device(why);
        let subgroup = self.info.target.machine().simd_group().map_or(1, |size| size as u16);
        let options = Options { subgroup, ..Options::default() };
        let mut machine = Machine::new(&kernel.program, options).map_err(|e| failed(format!("{e:?}")))?;
        let mut copied = Copied { blocks: &self.blocks, copies: BTreeMap::new() };
        let args = arguments(launch, &kernel.artifact.args, |address| copied.enter(address, &mut machine))?;
        let entry = kernel.program.module.find(&kernel.artifact.entry).ok_or_else(|| failed("no entry".into()))?;
        let mut log = Log::default();
        machine.run_kernel(entry, &launch.range, &args, &mut log).map_err(|fault| failed(fault.to_string()))?;
        copied.leave(&machine)?;
        for printed in &log.printed {
            let text = |address| machine.memory.text(address).map(<[u8]>::to_vec);
            launch.print.print(printed.format.index() as u32, printed.item, &printed.args, &text);
        }
        Ok(hal::Completion::Done)
    }
}

/// The blocks that a launch uses, each with the address of its copy in the interpreter.
struct Copied<'a> {
    blocks: &'a Blocks,
    copies: BTreeMap<u64, (Arc<Block>, u64)>,
}

impl Copied<'_> {
    /// The interpreter's address of a device address.
    fn enter(&mut self, address: u64, machine: &mut Machine<'_>) -> Result<u64, HalError> {
        let block = self.blocks.lock().unwrap().range(..=address).next_back().and_then(|(_, block)| block.upgrade());
        let block = block.ok_or_else(|| HalError::Device(format!("{address:#x} is no memory of the stub")))?;
        let base = match self.copies.get(&block.address) {
            Some((_, base)) => *base,
            None => block
                .with(|bytes| machine.buffer(bytes))
                .map_err(|_| HalError::OutOfMemory(hal::Memory::size(&*block)))?,
        };
        let offset = address - block.address;
        self.copies.insert(block.address, (block, base));
        Ok(base + offset)
    }

    /// Copies all back.
    fn leave(&self, machine: &Machine<'_>) -> Result<(), HalError> {
        self.copies.values().try_for_each(|(block, base)| {
            block.with(|bytes| {
                let (from, _) = machine
                    .memory
                    .read(*base, bytes.len() as u64)
                    .map_err(|e| HalError::Device(format!("a copy is gone: {e:?}")))?;
                bytes.copy_from_slice(from);
                Ok(())
            })
        })
    }
}

/// The arguments of a launch; `enter` translates addresses. An argument in local memory ends where the next one begins.
fn arguments(
    launch: &hal::Launch<'_>,
    args: &[KernelArg],
    mut enter: impl FnMut(u64) -> Result<u64, HalError>,
) -> Result<Vec<Arg>, HalError> {
    let bytes = |arg: &KernelArg| &launch.args[arg.offset as usize..][..arg.size as usize];
    let word = |arg: &KernelArg| bytes(arg).iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    let locals = || args.iter().filter(|arg| arg.kind == KernelArgKind::Local).map(word);
    args.iter()
        .map(|arg| match arg.kind {
            KernelArgKind::Bytes => Ok(Arg::Bytes(bytes(arg).to_vec())),
            KernelArgKind::Buffer => match word(arg) {
                0 => Ok(Arg::Buffer(0)),
                address => enter(address).map(Arg::Buffer),
            },
            KernelArgKind::Local => {
                let begin = word(arg);
                let end = locals().filter(|&other| other > begin).min().unwrap_or(launch.local_size);
                Ok(Arg::Local(end - begin))
            }
            KernelArgKind::Image | KernelArgKind::Sampler => Err(HalError::BadCode("it has no images".into())),
        })
        .collect()
}

/// A platform with the CPU and the stub GPU.
pub struct Bench {
    pub cpu: Arc<Device>,
    pub gpu: Arc<Device>,
    /// What kernels have printed.
    pub printed: Arc<Mutex<Vec<u8>>>,
}

impl Bench {
    pub fn new() -> Bench {
        let printed = Arc::new(Mutex::new(Vec::new()));
        let text = printed.clone();
        let print = Box::new(move |bytes: &[u8]| text.lock().unwrap().extend(bytes));
        let backends: Vec<Arc<dyn Backend>> = vec![Arc::new(StubBackend::new(TARGET).unwrap())];
        let compiler = Compiler::with_extensions(Config::default(), Extensions { backends, ..Extensions::default() });
        let engine = Engine::new(
            compiler,
            Hooks {
                print,
                enter_float_env: || Box::new(()),
                checker: None,
                bounds_checks: false,
                time_limit: std::time::Duration::MAX,
            },
        );
        let platform = Platform::new(engine, vec![Arc::new(CpuDevice::new(2, None)), Arc::new(StubGpu::new())]);
        let [cpu, gpu] = [0, 1].map(|i| platform.devices()[i].clone());
        Bench { cpu, gpu, printed }
    }

    /// A context of both devices.
    pub fn context(&self) -> Arc<Context> {
        Context::new(&[self.cpu.clone(), self.gpu.clone()], None, None).unwrap()
    }
}
