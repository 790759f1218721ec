//! Runs kernels on arrays: OpenCL C and input bytes in, output bytes out, through the compiler and the CPU device.

use crate::case::CaseArg;
use cloom_artifact::KernelArtifact;
use cloom_compiler::{Compilation, Compiler, Config, Executable, Header, Source, Variant};
use cloom_hal::{Device, Launch, Memory, NdRange, PrintSink};
use cloom_hal_cpu::CpuDevice;
use cloom_ir::{Module, abi};
use std::path::Path;
use std::sync::{Arc, LazyLock};

/// This machine with the instructions that `CLOOM_CPU` names, or with all that it has.
pub fn cpu(threads: usize) -> CpuDevice {
    CpuDevice::new(threads, cloom_caps::env::CPU.get().as_deref())
}

/// Whether [`cpu`] multiplies and adds in one instruction.
pub fn multiplies_and_adds() -> bool {
    static FMA: LazyLock<bool> = LazyLock::new(|| cpu(1).info().target.features().fma);
    *FMA
}

/// Writes arguments into a block. `allocate` makes a buffer with these bytes; it returns its address, and what is kept
/// of it. Returns the bytes of local memory of a group, and the buffers in the order of the arguments.
pub fn pack_args<B>(
    artifact: &KernelArtifact,
    args: &[CaseArg],
    block: &mut [u8],
    mut allocate: impl FnMut(&[u8]) -> Result<(u64, B), String>,
) -> Result<(u64, Vec<B>), String> {
    let mut local_size = artifact.local_size;
    let (mut buffers, mut addresses) = (Vec::new(), Vec::new());
    for (arg, at) in args.iter().zip(artifact.args.iter().map(|arg| arg.offset as usize)) {
        let mut put = |bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
        match arg {
            CaseArg::Bytes(bytes) => put(bytes),
            CaseArg::Buffer(bytes) => {
                let (address, buffer) = allocate(bytes)?;
                put(&address.to_le_bytes());
                addresses.push(address);
                buffers.push(buffer);
            }
            CaseArg::Again(earlier) => {
                let before = args[..*earlier].iter().filter(|arg| matches!(arg, CaseArg::Buffer(_))).count();
                put(&u64::to_le_bytes(addresses[before]));
            }
            CaseArg::Local(size) => {
                // Behind the kernel's own variables and the arguments before, each at the alignment that the code may
                // rely on.
                let offset = local_size.next_multiple_of(u64::from(abi::BLOCK_ALIGN));
                put(&offset.to_le_bytes());
                local_size = offset + size;
            }
        }
    }
    Ok((local_size, buffers))
}

/// A compiler and a CPU device.
pub struct Bench {
    compiler: Arc<Compiler>,
    device: CpuDevice,
}

/// A built program; its kernels are compiled when they are first run.
pub struct Built<'a> {
    bench: &'a Bench,
    executable: Arc<Executable>,
    is_kept: bool,
}

/// An argument of a kernel.
#[derive(Debug)]
pub enum Data<'a> {
    /// A buffer that is read, and read back.
    Bytes(&'a [u8]),
    /// A buffer of that many bytes, all `0xa5`, to be written.
    Fresh(usize),
    /// A value.
    Value(&'a [u8]),
    /// Local memory.
    Local(u64),
}

struct NoPrints;

impl PrintSink for NoPrints {
    fn print(&self, _: u32, _: u64, _: &[u8], _: &dyn Fn(u64) -> Option<Vec<u8>>) {}
}

impl Bench {
    /// A device with this many threads.
    pub fn new(threads: usize) -> Self {
        Self { compiler: Compiler::new(Config::default()), device: cpu(threads) }
    }

    /// A device with one thread, whose compiler keeps what it makes in a folder.
    pub fn with_cache(folder: &Path) -> Self {
        let config = Config { cache_dir: Some(folder.to_owned()), ..Config::default() };
        Self { compiler: Compiler::new(config), device: cpu(1) }
    }

    /// Builds a program.
    pub fn build(&self, source: &str, options: &str) -> Result<Built<'_>, String> {
        let source = Source { name: "test.cl", text: source.as_bytes() };
        self.built(self.compiler.build(&source, options, &self.device.info().target))
    }

    /// Builds a program with headers of the application.
    pub fn build_with(&self, source: &str, options: &str, headers: &[Header]) -> Result<Built<'_>, String> {
        let source = Source { name: "test.cl", text: source.as_bytes() };
        let compiled = self.compiler.compile(&source, options, headers, &self.device.info().target);
        let linked = self.compiler.link(&[compiled.result.map_err(|_| compiled.log)?], "");
        self.built(Compilation { times: compiled.times, ..linked })
    }

    fn built(&self, compilation: Compilation) -> Result<Built<'_>, String> {
        let is_kept = compilation.times.iter().any(|time| time.stage == "cache");
        let program = compilation.result.map_err(|_| compilation.log)?;
        let executable = self.compiler.executable(&program, &self.device.info().target);
        Ok(Built { bench: self, executable, is_kept })
    }
}

impl Built<'_> {
    /// Whether the cache had the program's IR.
    pub fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Whether the cache had a kernel's code.
    pub fn is_kernel_kept(&self, kernel: &str) -> bool {
        self.executable.kernel(kernel, Variant::Vector).is_ok_and(|built| built.cached)
    }

    /// Runs a kernel on `global` work-items in groups of `local`. Returns the contents of the buffers afterwards, in
    /// order.
    pub fn run(&self, kernel: &str, global: usize, local: usize, args: &[Data<'_>]) -> Result<Vec<Vec<u8>>, String> {
        let sizes = |n: usize| [n as u64, 1, 1];
        let range = NdRange { work_dim: 1, offset: [0; 3], global: sizes(global), local: sizes(local.min(global)) };
        self.run_range(kernel, range, args)
    }

    /// Runs a kernel on a range.
    pub fn run_range(&self, kernel: &str, range: NdRange, args: &[Data<'_>]) -> Result<Vec<Vec<u8>>, String> {
        let device = &self.bench.device;
        let built = self.executable.kernel(kernel, Variant::Vector).map_err(|e| format!("{kernel}: {e}"))?;
        let variables = variables(device, self.executable.program().module())?;
        let loaded = device.load(built.artifact.clone(), variables).map_err(|e| e.to_string())?;
        let artifact = loaded.artifact();
        if artifact.args.len() != args.len() {
            return Err(format!("{kernel} has {} arguments, {} are given", artifact.args.len(), args.len()));
        }
        let mut block = vec![0; artifact.arg_block as usize];
        let mut local_size = artifact.local_size;
        let mut buffers: Vec<Arc<dyn Memory>> = Vec::new();
        let mut buffer = |bytes: &[u8]| -> Result<Vec<u8>, String> {
            let memory = device.allocate(bytes.len().max(1) as u64).map_err(|e| e.to_string())?;
            memory.write(0, bytes).map_err(|e| e.to_string())?;
            let address = memory.device_address().to_le_bytes().to_vec();
            buffers.push(memory);
            Ok(address)
        };
        for (place, arg) in artifact.args.iter().zip(args) {
            let bytes = match arg {
                Data::Bytes(bytes) => buffer(bytes)?,
                Data::Fresh(size) => buffer(&vec![0xa5; *size])?,
                Data::Value(bytes) => bytes.to_vec(),
                Data::Local(size) => {
                    let at = local_size.next_multiple_of(128);
                    local_size = at + size;
                    at.to_le_bytes().to_vec()
                }
            };
            // A test that passes an `int` for a `long` would read beyond the argument otherwise, or be right by chance.
            if bytes.len() != place.size as usize {
                return Err(format!("{kernel}: an argument has {} bytes, {} are given", place.size, bytes.len()));
            }
            block[place.offset as usize..][..bytes.len()].copy_from_slice(&bytes);
        }
        let launch = Launch { local_size, ..Launch::new(&*loaded, range, &block, &NoPrints) };
        device.launch(&launch).map_err(|e| e.to_string())?;
        let read = |memory: &Arc<dyn Memory>| -> Result<Vec<u8>, String> {
            let mut bytes = vec![0; memory.size() as usize];
            memory.read(0, &mut bytes).map_err(|e| e.to_string())?;
            Ok(bytes)
        };
        buffers.iter().map(read).collect()
    }
}

/// The memory of a program's variables with their initial values, if there are any.
pub fn variables(device: &dyn Device, module: &Module) -> Result<Option<Arc<dyn Memory>>, String> {
    let all = module.variables();
    if all.size == 0 {
        return Ok(None);
    }
    cloom_hal::initialised(device, all.size, &all.init, &all.relocs).map(Some).map_err(|e| e.to_string())
}
