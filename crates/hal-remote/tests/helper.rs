//! A device that is no GPU, served by a process of its own: memory, kernels, output and ends arrive, and a fault ends
//! that process and nothing else.
//!
//! The program is started a second time as the helper; with arguments of the test harness it is the test.

use cloom_artifact::{CpuLaunch, KernelArg, KernelArgKind, KernelArtifact, LaunchForm, NdRange};
use cloom_caps::DeviceCaps;
use cloom_hal::lock::Mutex;
use cloom_hal::{Completion, Device, DeviceInfo, Finish, HalError, Kernel, Launch, Memory, PrintSink, Rect};
use cloom_hal_remote::{Program, Served, remote, serve};
use libtest_mimic::{Arguments, Trial};
use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Why this process can do nothing on the device any more.
static LOST: OnceLock<String> = OnceLock::new();

/// The memory of the device, by its addresses.
static MEMORIES: Mutex<BTreeMap<u64, Arc<Mutex<Vec<u8>>>>> = Mutex::new(BTreeMap::new());

/// A device whose kernels are functions of these names: `add_one`, `greet`, `fail` and `fault`.
struct Stub(DeviceInfo);

impl Stub {
    fn new() -> Stub {
        let (name, vendor, target) = ("stub".into(), "none".into(), "stub:stub".parse().expect("a name of a target"));
        let (compute_units, clock_mhz, memory_size, cache_size) = (1, 1, 1 << 30, 1 << 10);
        let (cache_line, vector_bits, caps) = (64, 128, DeviceCaps::full().clone());
        Stub(DeviceInfo {
            name,
            vendor,
            vendor_id: 0,
            uuid: cloom_hal::uuid(&["a stub of a test"]),
            target,
            compute_units,
            clock_mhz,
            memory_size,
            cache_size,
            cache_line,
            vector_bits,
            caps,
            gpu: None,
        })
    }
}

impl Device for Stub {
    fn info(&self) -> &DeviceInfo {
        &self.0
    }

    fn allocate(&self, size: u64) -> Result<Arc<dyn Memory>, HalError> {
        static NEXT: AtomicU64 = AtomicU64::new(1 << 40);
        let (address, bytes) =
            (NEXT.fetch_add(1 << 32, Ordering::Relaxed), Arc::new(Mutex::new(vec![0; size as usize])));
        MEMORIES.lock().insert(address, bytes.clone());
        Ok(Arc::new(StubMemory { address, bytes }))
    }

    fn load(
        &self,
        artifact: Arc<KernelArtifact>,
        _variables: Option<Arc<dyn Memory>>,
    ) -> Result<Arc<dyn Kernel>, HalError> {
        match artifact.entry.as_str() {
            "add_one" | "greet" | "fail" | "fault" => Ok(Arc::new(StubKernel(artifact))),
            other => Err(HalError::BadCode(format!("no function {other}"))),
        }
    }

    fn submit(&self, launch: &Launch<'_>) -> Result<Completion, HalError> {
        if let Some(why) = LOST.get() {
            return Err(HalError::Device(why.clone()));
        }
        match launch.kernel.artifact().entry.as_str() {
            "add_one" => {
                let address = launch.args.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
                let bytes = MEMORIES.lock().get(&address).cloned();
                let bytes = bytes.ok_or_else(|| HalError::Device("no such memory".into()))?;
                bytes.lock().iter_mut().for_each(|byte| *byte += 1);
            }
            "greet" => launch.print.print(3, 7, &[1, 2], &|_| None),
            "fault" => {
                let why = LOST.get_or_init(|| "the device is lost".into());
                return Err(HalError::Device(why.clone()));
            }
            _ => return Err(HalError::Device("as the test wants".into())),
        }
        Ok(Completion::Done)
    }
}

impl Served for Stub {
    fn remote_info(&self) -> DeviceInfo {
        DeviceInfo { name: "remote stub".into(), ..self.0.clone() }
    }

    fn text(&self, address: u64) -> Option<Vec<u8>> {
        (address == 5).then(|| b"five".to_vec())
    }

    fn why_lost() -> Option<String> {
        LOST.get().cloned()
    }
}

struct StubKernel(Arc<KernelArtifact>);

impl Kernel for StubKernel {
    fn artifact(&self) -> &KernelArtifact {
        &self.0
    }

    fn best_group_size(&self) -> u64 {
        96
    }
}

struct StubMemory {
    address: u64,
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl Memory for StubMemory {
    fn size(&self) -> u64 {
        self.bytes.lock().len() as u64
    }

    fn device_address(&self) -> u64 {
        self.address
    }

    fn host_address(&self) -> Option<usize> {
        None
    }

    fn read(&self, offset: u64, to: &mut [u8]) -> Result<(), HalError> {
        to.copy_from_slice(&self.bytes.lock()[offset as usize..][..to.len()]);
        Ok(())
    }

    fn write(&self, offset: u64, from: &[u8]) -> Result<(), HalError> {
        self.bytes.lock()[offset as usize..][..from.len()].copy_from_slice(from);
        Ok(())
    }

    fn copy_from(&self, offset: u64, source: &dyn Memory, source_offset: u64, size: u64) -> Result<(), HalError> {
        let mut bytes = vec![0; size as usize];
        source.read(source_offset, &mut bytes)?;
        self.write(offset, &bytes)
    }

    fn fill(&self, offset: u64, size: u64, pattern: &[u8]) -> Result<(), HalError> {
        self.write(offset, &pattern.repeat(size as usize / pattern.len()))
    }
}

impl Drop for StubMemory {
    fn drop(&mut self) {
        MEMORIES.lock().remove(&self.address);
    }
}

/// What a launch has printed, and how it ended.
struct End(Mutex<Vec<String>>, Sender<Ended>);

type Ended = (Vec<String>, Result<(), HalError>);

impl PrintSink for End {
    fn print(&self, format: u32, item: u64, args: &[u8], text: &dyn Fn(u64) -> Option<Vec<u8>>) {
        let (five, six) = (text(5), text(6));
        self.0.lock().push(format!("{format} {item} {args:?} {five:?} {six:?}"));
    }
}

impl Finish for End {
    fn finish(self: Box<Self>, result: Result<Option<Duration>, HalError>) {
        let End(printed, sender) = *self;
        let _ = sender.send((printed.into_inner(), result.map(drop)));
    }
}

fn load(device: &dyn Device, entry: &str) -> Result<Arc<dyn Kernel>, HalError> {
    let artifact = KernelArtifact {
        name: entry.into(),
        target: device.info().target.clone(),
        code: vec![0],
        entry: entry.into(),
        args: vec![KernelArg { kind: KernelArgKind::Buffer, offset: 0, size: 8 }],
        hidden: Vec::new(),
        checked: Vec::new(),
        arg_block: 8,
        local_size: 0,
        launch: LaunchForm::WorkGroup(CpuLaunch::SCALAR),
        private_size: 0,
        reqd_group_size: None,
        subgroup_size: None,
        denorms_are_zero: false,
        printf_formats: vec![],
        enqueues: false,
    };
    device.load(Arc::new(artifact), None)
}

/// Submits a launch, whose end comes from the receiver.
fn submit(device: &dyn Device, kernel: &dyn Kernel, address: u64) -> Result<Receiver<Ended>, HalError> {
    let (sender, receiver) = channel();
    let end = Box::new(End(Mutex::default(), sender));
    let completion = device
        .submit(&Launch { queue: 1, ..Launch::new(kernel, NdRange::linear(1, 1), &address.to_le_bytes(), &*end) })?;
    match completion {
        Completion::Done => end.finish(Ok(None)),
        Completion::Pending(pending) => pending.on_end(end),
    }
    Ok(receiver)
}

fn memory_and_kernels_are_in_the_other_process(device: &dyn Device) -> Result<(), HalError> {
    assert_eq!(device.info().name, "remote stub");
    let (memory, other) = (device.allocate(64)?, device.allocate(64)?);
    memory.write(0, &[5; 64])?;
    memory.fill_rect(&Rect { start: 8, row_pitch: 16, slice_pitch: 64, region: [4, 2, 1] }, &[7, 8])?;
    other.copy_from(1, &*memory, 0, 63)?;
    let mut bytes = [0; 64];
    other.read(0, &mut bytes)?;
    assert_eq!((bytes[0], bytes[1], &bytes[9..13], bytes[13]), (0, 5, &[7, 8, 7, 8][..], 5));
    assert!(MEMORIES.lock().is_empty(), "nothing of it is here");
    let kernel = load(device, "add_one")?;
    assert_eq!(kernel.best_group_size(), 96);
    let ends: Vec<_> = (0..3).map(|_| submit(device, &*kernel, other.device_address())).collect::<Result<_, _>>()?;
    ends.iter().for_each(|end| assert_eq!(end.recv(), Ok((vec![], Ok(())))));
    other.read(0, &mut bytes)?;
    assert_eq!((bytes[0], bytes[1]), (3, 8));
    assert_eq!(load(device, "other").err(), Some(HalError::BadCode("no function other".into())));
    let fails = load(device, "fail")?;
    assert_eq!(
        submit(device, &*fails, other.device_address()).err(),
        Some(HalError::Device("as the test wants".into()))
    );
    Ok(())
}

fn output_arrives_with_its_texts(device: &dyn Device) -> Result<(), HalError> {
    let (kernel, memory) = (load(device, "greet")?, device.allocate(8)?);
    let end = submit(device, &*kernel, memory.device_address())?.recv();
    assert_eq!(end, Ok((vec!["3 7 [1, 2] Some([102, 105, 118, 101]) None".to_owned()], Ok(()))));
    Ok(())
}

fn a_fault_ends_the_other_process_only(device: &dyn Device) -> Result<(), HalError> {
    let (memory, add) = (device.allocate(8)?, load(device, "add_one")?);
    let fault = load(device, "fault")?;
    let why = submit(device, &*fault, memory.device_address()).err().map(|error| error.to_string());
    assert!(why.as_ref().is_some_and(|why| why.contains("the device is lost")), "{why:?}");
    assert!(memory.write(0, &[1]).is_err(), "its memory is gone");
    assert!(submit(device, &*add, memory.device_address()).is_err());
    // The next one loads the kernel anew.
    let fresh = device.allocate(8)?;
    assert_eq!(submit(device, &*add, fresh.device_address())?.recv(), Ok((vec![], Ok(()))));
    let mut bytes = [0; 8];
    fresh.read(0, &mut bytes)?;
    assert_eq!(bytes, [1; 8]);
    Ok(())
}

fn main() {
    if std::env::args().nth(1).as_deref() == Some("gpu-helper") {
        let socket = std::io::stdin().as_fd().try_clone_to_owned().expect("the standard input is the socket");
        panic!("{}", serve(&UnixListener::from(socket), vec![Stub::new()]));
    }
    let path = std::env::current_exe().expect("the path of the test");
    let devices = remote(&[Stub::new()], Program { path, cache: None });
    let devices = Arc::new(devices);
    let trial = |name: &str, check: fn(&dyn Device) -> Result<(), HalError>| {
        let devices = devices.clone();
        Trial::test(name, move || Ok(check(&devices[0])?))
    };
    // One after the other: a fault ends what the others use.
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    let tests = vec![
        trial("memory_and_kernels_are_in_the_other_process", memory_and_kernels_are_in_the_other_process),
        trial("output_arrives_with_its_texts", output_arrives_with_its_texts),
        trial("a_fault_ends_the_other_process_only", a_fault_ends_the_other_process_only),
    ];
    let conclusion = libtest_mimic::run(&arguments, tests);
    // The helper ends with the last connection to it.
    drop(devices);
    conclusion.exit();
}
