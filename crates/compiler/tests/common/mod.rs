//! Compiles and runs kernels from source.

#![allow(dead_code, reason = "each test file uses a part")]

use cloom_artifact::KernelArtifact;
use cloom_compiler::{Compilation, Compiler, Config, Executable, Program, Source, Variant};
use cloom_hal::{Device, Launch, Memory, NdRange, PrintSink};
use cloom_hal_cpu::CpuDevice;
use std::sync::{Arc, Mutex};

/// What was printed: format, work-item, argument block.
#[derive(Default)]
pub struct Prints(pub Mutex<Vec<(u32, u64, Vec<u8>)>>);

impl PrintSink for Prints {
    fn print(&self, format: u32, item: u64, args: &[u8], _: &dyn Fn(u64) -> Option<Vec<u8>>) {
        self.0.lock().unwrap().push((format, item, args.to_vec()));
    }
}

/// A compiler without disk cache and background threads.
pub fn compiler() -> Arc<Compiler> {
    Compiler::new(Config::default())
}

/// Compiles for this machine.
pub fn build(compiler: &Compiler, source: &str, options: &str) -> Compilation {
    let target = CpuDevice::new(1, None).info().target.clone();
    compiler.build(&Source { name: "test.cl", text: source.as_bytes() }, options, &target)
}

pub fn program(compiler: &Compiler, source: &str, options: &str) -> Arc<Program> {
    let built = build(compiler, source, options);
    built.result.unwrap_or_else(|_| panic!("{}", built.log))
}

pub enum Arg<'a> {
    Buffer(&'a dyn Memory),
    Bytes(&'a [u8]),
    Local(u64),
}

/// Launches a kernel of an executable.
pub fn launch(
    device: &CpuDevice,
    executable: &Executable,
    kernel: &str,
    global: [u64; 3],
    local: [u64; 3],
    args: &[Arg<'_>],
) {
    let built = executable.kernel(kernel, Variant::Vector).unwrap_or_else(|e| panic!("{kernel}: {e}"));
    let all = executable.program().module().variables();
    let variables =
        (all.size > 0).then(|| cloom_hal::initialised(device, all.size, &all.init, &all.relocs).expect("memory"));
    run_with(device, built.artifact.clone(), variables, global, local, args);
}

/// Launches a kernel's code.
pub fn run(device: &CpuDevice, code: Arc<KernelArtifact>, global: [u64; 3], local: [u64; 3], args: &[Arg<'_>]) {
    run_with(device, code, None, global, local, args);
}

/// Launches a kernel's code with the memory of its program's variables.
fn run_with(
    device: &CpuDevice,
    code: Arc<KernelArtifact>,
    variables: Option<Arc<dyn Memory>>,
    global: [u64; 3],
    local: [u64; 3],
    args: &[Arg<'_>],
) {
    let loaded = device.load(code, variables).unwrap();
    let artifact = loaded.artifact();
    assert_eq!(artifact.args.len(), args.len());
    let mut block = vec![0; artifact.arg_block as usize];
    let mut local_size = artifact.local_size;
    for (place, arg) in artifact.args.iter().zip(args) {
        let bytes = match arg {
            Arg::Buffer(memory) => memory.device_address().to_le_bytes().to_vec(),
            Arg::Bytes(bytes) => bytes.to_vec(),
            Arg::Local(size) => {
                let at = local_size.next_multiple_of(128);
                local_size = at + size;
                at.to_le_bytes().to_vec()
            }
        };
        assert_eq!(bytes.len(), place.size as usize);
        block[place.offset as usize..][..bytes.len()].copy_from_slice(&bytes);
    }
    let prints = Prints::default();
    let work_dim = 1 + u32::from(global[1] > 1 || global[2] > 1) + u32::from(global[2] > 1);
    let range = NdRange { work_dim, offset: [0; 3], global, local };
    device.launch(&Launch { local_size, ..Launch::new(&*loaded, range, &block, &prints) }).unwrap();
}

pub fn buffer(device: &CpuDevice, bytes: &[u8]) -> Arc<dyn Memory> {
    let memory = device.allocate(bytes.len() as u64).unwrap();
    memory.write(0, bytes).unwrap();
    memory
}

pub fn floats(memory: &dyn Memory) -> Vec<f32> {
    bytes(memory).chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

pub fn ints(memory: &dyn Memory) -> Vec<i32> {
    bytes(memory).chunks(4).map(|b| i32::from_le_bytes(b.try_into().unwrap())).collect()
}

pub fn bytes(memory: &dyn Memory) -> Vec<u8> {
    let mut bytes = vec![0; memory.size() as usize];
    memory.read(0, &mut bytes).unwrap();
    bytes
}
