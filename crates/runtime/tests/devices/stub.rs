//! A second kind of device for tests: memory of its own that the host cannot address, and launches that go on after
//! they are submitted, on threads of its own.
//!
//! Programs are OpenCL C, compiled by Cloom's own compiler for both devices. The CPU runs its code; the stub, whose
//! code is made by [`StubBackend`], runs a Rust function of the same name ([`KERNELS`]). Fresh memory is full of
//! [`POISON`], so that bytes that nobody copied are seen.

use cloom_artifact::{KernelArg, KernelArtifact};
use cloom_caps::{DeviceCaps, Named};
use cloom_compiler::testing::StubBackend;
use cloom_compiler::{Backend, Compiler, Config, Extensions};
use cloom_hal::{self as hal, HalError, NdRange, PrintSink};
use cloom_hal_cpu::CpuDevice;
use cloom_ir::abi::image as abi;
use cloom_runtime::{Context, Device, Engine, Hooks, Platform};
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, Weak};
use std::time::Duration;

/// What is in memory that nobody has written.
const POISON: u8 = 0xEE;
/// What code for the stub is made for.
const TARGET: &str = "stub:stub";
/// An extension that only the stub has.
pub const STUB_EXTENSION: &str = "cl_cloom_stub";
/// How far the stub's clock is from the host's.
pub const CLOCK_SHIFT: u64 = 1 << 50;

/// The program of all tests. What the kernels do here, [`KERNELS`] does on the stub.
pub const PROGRAM: &str = "
    kernel void mix(global uint *p, const global uint *q, uint v)
    { size_t i = get_global_id(0); p[i] = p[i] * 31 + q[i] + v; }
    kernel void bump(global uint *p, uint v) { p[get_global_id(0)] += v; }
    kernel void fails(global uint *p) { }
    kernel void breaks(global uint *p) { }
    kernel void hello(uint n) { printf(\"hello\\n\"); }
    kernel void triple(read_only image3d_t from, write_only image3d_t to)
    {
        int4 p = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
        write_imageui(to, p, read_imageui(from, p) * 3);
    }
";

/// A kernel on the stub: its arguments, and its work-items.
type Body = fn(&Machine, &[u64], &NdRange) -> Result<(), HalError>;

const KERNELS: &[(&str, Body)] = &[
    ("mix", |machine, args, range| {
        for i in range.offset[0]..range.offset[0] + range.global[0] {
            let (p, q) = (machine.load(args[0] + 4 * i), machine.load(args[1] + 4 * i));
            machine.store(args[0] + 4 * i, p.wrapping_mul(31).wrapping_add(q).wrapping_add(args[2] as u32));
        }
        Ok(())
    }),
    ("bump", |machine, args, range| {
        for i in range.offset[0]..range.offset[0] + range.global[0] {
            machine.store(args[0] + 4 * i, machine.load(args[0] + 4 * i).wrapping_add(args[1] as u32));
        }
        Ok(())
    }),
    ("fails", |_, _, _| Err(HalError::Device("as the test wants".into()))),
    ("breaks", |_, _, _| panic!("as the test wants")),
    ("hello", |_, _, _| Ok(())),
    ("triple", |machine, args, range| {
        // Images of words: where an element is, its descriptor says.
        let field = |image: u64, at: usize| machine.load(image + at as u64);
        let long = |image, at| u64::from(field(image, at)) | u64::from(field(image, at + 4)) << 32;
        let address = |image, [x, y, z]: [u64; 3]| {
            assert!(x < field(image, abi::WIDTH).into() && y < field(image, abi::HEIGHT).into());
            assert!(z < field(image, abi::DEPTH).into() && field(image, abi::ELEMENT_SIZE) == 4);
            let slice = long(image, abi::DATA) + z * long(image, abi::SLICE_PITCH);
            slice + y * long(image, abi::ROW_PITCH) + 4 * x
        };
        for i in 0..range.global.iter().product() {
            let [width, height, _] = range.global;
            let at = [i % width, i / width % height, i / width / height];
            machine.store(address(args[1], at), machine.load(address(args[0], at)).wrapping_mul(3));
        }
        Ok(())
    }),
];

/// Memory of the stub.
struct StubMemory {
    bytes: Mutex<Vec<u8>>,
    address: u64,
    transferred: Arc<AtomicU64>,
    writes: Arc<AtomicU64>,
}

impl StubMemory {
    fn with<R>(&self, offset: u64, size: u64, call: impl FnOnce(&mut [u8]) -> R) -> Result<R, HalError> {
        let mut bytes = self.bytes.lock().unwrap();
        Ok(call(&mut bytes[offset as usize..][..size as usize]))
    }
}

impl hal::Memory for StubMemory {
    fn size(&self) -> u64 {
        self.bytes.lock().unwrap().len() as u64
    }

    fn device_address(&self) -> u64 {
        self.address
    }

    fn host_address(&self) -> Option<usize> {
        None
    }

    fn read(&self, offset: u64, to: &mut [u8]) -> Result<(), HalError> {
        self.transferred.fetch_add(to.len() as u64, Ordering::Relaxed);
        self.with(offset, to.len() as u64, |bytes| to.copy_from_slice(bytes))
    }

    fn write(&self, offset: u64, from: &[u8]) -> Result<(), HalError> {
        self.transferred.fetch_add(from.len() as u64, Ordering::Relaxed);
        self.writes.fetch_add(1, Ordering::Relaxed);
        self.with(offset, from.len() as u64, |bytes| bytes.copy_from_slice(from))
    }

    fn copy_from(&self, offset: u64, source: &dyn hal::Memory, at: u64, size: u64) -> Result<(), HalError> {
        if source.host_address().is_none() && source.device_address() == self.address {
            let range = at as usize..(at + size) as usize;
            self.bytes.lock().unwrap().copy_within(range, offset as usize);
            return Ok(());
        }
        let mut bytes = vec![0; size as usize];
        source.read(at, &mut bytes)?;
        match source.host_address() {
            Some(_) => self.transferred.fetch_add(size, Ordering::Relaxed),
            // Within the device; `read` has counted it.
            None => self.transferred.fetch_sub(size, Ordering::Relaxed),
        };
        self.with(offset, size, |room| room.copy_from_slice(&bytes))
    }

    fn fill(&self, offset: u64, size: u64, pattern: &[u8]) -> Result<(), HalError> {
        self.with(offset, size, |room| room.chunks_mut(pattern.len()).for_each(|c| c.copy_from_slice(pattern)))
    }
}

/// What the stub's kernels see: memory by address.
#[derive(Default)]
struct Machine {
    blocks: Mutex<BTreeMap<u64, Weak<StubMemory>>>,
}

impl Machine {
    fn word<R>(&self, address: u64, call: impl FnOnce(&mut [u8]) -> R) -> R {
        let block = self.blocks.lock().unwrap().range(..=address).next_back().and_then(|(_, b)| b.upgrade());
        let block = block.unwrap_or_else(|| panic!("{address:#x} is no memory of the stub"));
        block.with(address - block.address, 4, call).unwrap()
    }

    fn load(&self, address: u64) -> u32 {
        self.word(address, |bytes| u32::from_le_bytes(bytes.try_into().unwrap()))
    }

    fn store(&self, address: u64, value: u32) {
        self.word(address, |bytes| bytes.copy_from_slice(&value.to_le_bytes()));
    }
}

#[derive(Default)]
struct EndState {
    result: Option<Result<(), HalError>>,
    finish: Option<Box<dyn hal::Finish>>,
}

/// The end of a launch, for whoever waits.
#[derive(Default)]
struct End {
    state: Mutex<EndState>,
    ended: Condvar,
}

struct StubPending {
    end: Arc<End>,
    prints: bool,
}

/// What a kernel that prints has printed.
fn print(sink: &dyn PrintSink) {
    sink.print(0, 0, &[], &|_| None);
}

impl hal::Pending for StubPending {
    fn wait(self: Box<Self>, sink: &dyn PrintSink) -> Result<(), HalError> {
        let mut state = self.end.state.lock().unwrap();
        while state.result.is_none() {
            state = self.end.ended.wait(state).unwrap();
        }
        if self.prints {
            print(sink);
        }
        state.result.take().unwrap()
    }

    fn on_end(self: Box<Self>, finish: Box<dyn hal::Finish>) {
        let mut state = self.end.state.lock().unwrap();
        if self.prints {
            print(&*finish);
        }
        match state.result.take() {
            Some(result) => {
                drop(state);
                finish.finish(result.map(|()| None));
            }
            None => state.finish = Some(finish),
        }
    }
}

struct StubKernel {
    artifact: Arc<KernelArtifact>,
    body: Body,
}

impl hal::Kernel for StubKernel {
    fn artifact(&self) -> &KernelArtifact {
        &self.artifact
    }

    fn max_group_size(&self) -> u64 {
        64
    }
}

type Job = Box<dyn FnOnce() + Send>;

/// What was appended to a launch; none when that has ended.
type Appended = Arc<Mutex<Option<Vec<Appendix>>>>;
type Appendix = Box<dyn FnOnce() -> Result<(), HalError> + Send>;

/// The device.
pub struct StubDevice {
    info: hal::DeviceInfo,
    machine: Arc<Machine>,
    next_address: AtomicU64,
    jobs: Mutex<Sender<Job>>,
    /// Whether launches of a queue run in order, so that they are submitted ahead.
    pub has_streams: AtomicBool,
    /// The thread of each queue, then.
    streams: Mutex<BTreeMap<u64, Sender<Job>>>,
    /// What is appended to the last launch of each queue.
    last: Mutex<BTreeMap<u64, Appended>>,
    /// Launches that were appended.
    pub appended: AtomicU64,
    /// The most launches of one queue that were on their way at once.
    pub most_ahead: Arc<AtomicU64>,
    ahead: Arc<AtomicU64>,
    /// Bytes that have come from the host or gone there.
    pub transferred: Arc<AtomicU64>,
    /// Transfers from the host.
    pub writes: Arc<AtomicU64>,
    /// Allocations so far.
    pub allocations: AtomicU64,
    /// Whether there is no memory left.
    pub is_full: AtomicBool,
    /// Whether it takes no launch.
    pub refuses: AtomicBool,
    /// Bytes of pinned memory that are in use.
    pub pinned: Arc<AtomicU64>,
}

impl StubDevice {
    fn new() -> Arc<StubDevice> {
        let (send, receive) = channel::<Job>();
        let receive = Arc::new(Mutex::new(receive));
        for _ in 0..2 {
            let receive: Arc<Mutex<Receiver<Job>>> = receive.clone();
            std::thread::spawn(move || {
                loop {
                    let job = receive.lock().unwrap().recv();
                    let Ok(job) = job else { break };
                    job();
                }
            });
        }
        let mut caps = DeviceCaps { native_kernels: false, ..DeviceCaps::full().clone() };
        caps.extensions.to_mut().push(Named { name: STUB_EXTENSION, version: 1 });
        (caps.limits.max_group_size, caps.limits.max_group_sizes) = (128, [128; 3]);
        let info = hal::DeviceInfo {
            name: "stub".into(),
            vendor: "none".into(),
            vendor_id: 0,
            uuid: [0; 16],
            target: TARGET.parse().unwrap(),
            compute_units: 2,
            clock_mhz: 1,
            memory_size: 1 << 30,
            cache_size: 0,
            cache_line: 64,
            vector_bits: 32,
            caps,
            gpu: None,
        };
        Arc::new(StubDevice {
            info,
            machine: Arc::default(),
            next_address: AtomicU64::new(1 << 40),
            jobs: Mutex::new(send),
            has_streams: AtomicBool::new(false),
            streams: Mutex::default(),
            last: Mutex::default(),
            appended: AtomicU64::new(0),
            most_ahead: Arc::default(),
            ahead: Arc::default(),
            transferred: Arc::default(),
            writes: Arc::default(),
            allocations: AtomicU64::new(0),
            is_full: AtomicBool::new(false),
            refuses: AtomicBool::new(false),
            pinned: Arc::default(),
        })
    }
}

impl hal::Device for StubDevice {
    fn info(&self) -> &hal::DeviceInfo {
        &self.info
    }

    fn allocate(&self, size: u64) -> Result<Arc<dyn hal::Memory>, HalError> {
        if self.is_full.load(Ordering::Relaxed) {
            return Err(HalError::OutOfMemory(size));
        }
        self.allocations.fetch_add(1, Ordering::Relaxed);
        // Blocks are apart, so that an access past the end is seen.
        let address = self.next_address.fetch_add(size.next_multiple_of(4096) + 4096, Ordering::Relaxed);
        let bytes = Mutex::new(vec![POISON; size as usize]);
        let (transferred, writes) = (self.transferred.clone(), self.writes.clone());
        let memory = Arc::new(StubMemory { bytes, address, transferred, writes });
        self.machine.blocks.lock().unwrap().insert(address, Arc::downgrade(&memory));
        Ok(memory)
    }

    fn load(
        &self,
        artifact: Arc<KernelArtifact>,
        _: Option<Arc<dyn hal::Memory>>,
    ) -> Result<Arc<dyn hal::Kernel>, HalError> {
        let body = KERNELS.iter().find(|(name, _)| *name == artifact.entry);
        let body = body.ok_or_else(|| HalError::BadCode(format!("no function {}", artifact.entry)))?.1;
        Ok(Arc::new(StubKernel { artifact, body }))
    }

    fn submit(&self, launch: &hal::Launch<'_>) -> Result<hal::Completion, HalError> {
        if self.refuses.load(Ordering::Relaxed) {
            return Err(HalError::Device("as the test wants".into()));
        }
        let (kernel, words) = words(launch)?;
        let (body, range, machine, end) = (kernel.body, launch.range, self.machine.clone(), Arc::new(End::default()));
        let pending = StubPending { end: end.clone(), prints: kernel.artifact.entry == "hello" };
        let breaks = kernel.artifact.entry == "breaks";
        let now = self.ahead.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_ahead.fetch_max(now, Ordering::Relaxed);
        let ahead = self.ahead.clone();
        let appended: Appended = Arc::new(Mutex::new(Some(Vec::new())));
        self.last.lock().unwrap().insert(launch.queue, appended.clone());
        let job = move || {
            std::thread::sleep(Duration::from_micros(words.iter().sum::<u64>() % 50));
            if breaks {
                // The device loses the launch: nobody is told its end.
                while end.state.lock().unwrap().finish.take().is_none() {
                    std::thread::yield_now();
                }
                return;
            }
            let mut result = body(&machine, &words, &range);
            loop {
                let mut more = appended.lock().unwrap();
                match more.as_mut().map(std::mem::take) {
                    Some(jobs) if !jobs.is_empty() => {
                        drop(more);
                        jobs.into_iter().for_each(|job| result = result.clone().and(job()));
                    }
                    _ => {
                        *more = None;
                        break;
                    }
                }
            }
            ahead.fetch_sub(1, Ordering::Relaxed);
            let mut state = end.state.lock().unwrap();
            match state.finish.take() {
                Some(finish) => {
                    drop(state);
                    finish.finish(result.map(|()| None));
                }
                None => {
                    state.result = Some(result);
                    end.ended.notify_all();
                }
            }
        };
        let sender = match self.has_streams.load(Ordering::Relaxed) {
            true => self.streams.lock().unwrap().entry(launch.queue).or_insert_with(stream).clone(),
            false => self.jobs.lock().unwrap().clone(),
        };
        sender.send(Box::new(job)).map_err(|e| HalError::Device(e.to_string()))?;
        Ok(hal::Completion::Pending(Box::new(pending)))
    }

    fn as_timestamps(&self) -> Option<&dyn hal::Timestamps> {
        Some(self)
    }

    fn as_streams(&self) -> Option<&dyn hal::Streams> {
        self.has_streams.load(Ordering::Relaxed).then_some(self)
    }

    fn as_pinned(&self) -> Option<&dyn hal::Pinned> {
        Some(self)
    }
}

struct StubPinned {
    bytes: Vec<u128>,
    size: u64,
    pinned: Arc<AtomicU64>,
}

impl hal::Pinned for StubDevice {
    fn allocate(&self, size: u64) -> Result<Box<dyn hal::PinnedBlock>, HalError> {
        if self.is_full.load(Ordering::Relaxed) {
            return Err(HalError::OutOfMemory(size));
        }
        self.pinned.fetch_add(size, Ordering::Relaxed);
        let bytes = vec![0; size.div_ceil(16) as usize];
        Ok(Box::new(StubPinned { bytes, size, pinned: self.pinned.clone() }))
    }
}

impl hal::PinnedBlock for StubPinned {
    fn address(&self) -> usize {
        self.bytes.as_ptr() as usize
    }
}

impl Drop for StubPinned {
    fn drop(&mut self) {
        self.pinned.fetch_sub(self.size, Ordering::Relaxed);
    }
}

/// The kernel of a launch, and its arguments.
fn words<'a>(launch: &hal::Launch<'a>) -> Result<(&'a StubKernel, Vec<u64>), HalError> {
    let kernel: &dyn Any = launch.kernel;
    let kernel = kernel.downcast_ref::<StubKernel>().ok_or_else(|| HalError::BadCode("not the stub's".into()))?;
    let word = |arg: &KernelArg| {
        let mut word = [0; 8];
        word[..arg.size as usize].copy_from_slice(&launch.args[arg.offset as usize..][..arg.size as usize]);
        u64::from_le_bytes(word)
    };
    Ok((kernel, kernel.artifact.args.iter().map(word).collect()))
}

/// A thread that runs jobs in order.
fn stream() -> Sender<Job> {
    let (send, receive) = channel::<Job>();
    std::thread::spawn(move || receive.into_iter().for_each(|job| job()));
    send
}

impl hal::Streams for StubDevice {
    fn wait(&self, _: u64, done: &dyn Fn() -> bool) -> bool {
        done()
    }

    fn append(&self, launch: &hal::Launch<'_>) -> bool {
        let Ok((kernel, words)) = words(launch) else { return false };
        let (body, range, machine) = (kernel.body, launch.range, self.machine.clone());
        let last = self.last.lock().unwrap();
        let Some(appended) = last.get(&launch.queue) else { return false };
        let mut appended = appended.lock().unwrap();
        let Some(more) = appended.as_mut() else { return false };
        more.push(Box::new(move || body(&machine, &words, &range)));
        self.appended.fetch_add(1, Ordering::Relaxed);
        true
    }
}

impl hal::Timestamps for StubDevice {
    fn now(&self) -> u64 {
        CLOCK_SHIFT
    }
}

/// A platform with the CPU and two stubs.
pub struct Bench {
    pub cpu: Arc<Device>,
    pub stub: Arc<Device>,
    /// A second stub, of the same kind.
    pub twin: Arc<Device>,
    pub stub_hal: Arc<StubDevice>,
    /// What kernels have printed.
    pub printed: Arc<Mutex<Vec<u8>>>,
}

impl Bench {
    pub fn new() -> Bench {
        let printed = Arc::new(Mutex::new(Vec::new()));
        let text = printed.clone();
        let print = Box::new(move |bytes: &[u8]| text.lock().unwrap().extend(bytes));
        let backends: Vec<Arc<dyn Backend>> = vec![Arc::new(StubBackend::new(TARGET).unwrap())];
        let extensions = Extensions { backends, ..Extensions::default() };
        let compiler = Compiler::with_extensions(Config::default(), extensions);
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
        let stub_hal = StubDevice::new();
        let devices: Vec<Arc<dyn hal::Device>> =
            vec![Arc::new(CpuDevice::new(2, None)), stub_hal.clone(), StubDevice::new()];
        let platform = Platform::new(engine, devices);
        let [cpu, stub, twin] = [0, 1, 2].map(|i| platform.devices()[i].clone());
        Bench { cpu, stub, twin, stub_hal, printed }
    }

    /// A context of both devices.
    pub fn context(&self) -> Arc<Context> {
        Context::new(&[self.cpu.clone(), self.stub.clone()], None, None).unwrap()
    }

    /// Bytes that have come to the stub or left it since the last time that this was asked.
    pub fn transferred(&self) -> u64 {
        self.stub_hal.transferred.swap(0, Ordering::Relaxed)
    }
}
