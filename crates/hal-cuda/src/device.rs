//! The device: ties memory, modules and launches to the traits of `cloom_hal`.

use crate::cache::CubinCache;
use crate::caps::caps;
use crate::context::Gpu;
use crate::error;
use crate::exit::Call;
use crate::info::{self, Described};
use crate::launch;
use crate::library::{Absent, driver};
use crate::managed;
use crate::memory::{CudaMemory, HostBlock};
use crate::module::{self, CudaKernel, LoadFor};
use crate::print::Printing;
use crate::stream::Stream;
use crate::texture::CudaTexture;
use crate::transfer::{self, Staging};
use cloom_artifact::KernelArtifact;
use cloom_hal::lock::Mutex;
use cloom_hal::{
    Completion, Device, DeviceInfo, Expected, HalError, Kernel, Launch, Memory, Pinned, PinnedBlock, Streams, Svm,
    SvmKind, Texture, TextureRows, Textures,
};
use cloom_hal_gpu::grids::GpuSize;
use cloom_hal_remote::Served;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Once};

/// Streams of a device: queues share them if there are more.
const MAX_STREAMS: usize = 32;

/// Bytes that a work-item keeps across barriers, up to which a group of any size has enough registers: 64 for each
/// thread of the largest group. (Half of the gallery's kernels keep less, and need at most 48. From 5,700 bytes on,
/// some need more than 64.) A kernel whose code needs more registers than that is compiled once more for such groups.
const MAX_BYTES_FOR_LARGEST_GROUP: u64 = 5 << 10;

/// What was found of NVIDIA's driver and GPUs on this machine.
pub struct Found {
    /// The GPUs, in the order of the driver.
    pub devices: Vec<CudaDevice>,
    /// Why there are none, or why one is not among them.
    pub absent: Vec<Absent>,
    /// The version of the driver's interface: 12040 is 12.4.
    pub driver: Option<u32>,
}

/// Finds the GPUs. Without the driver's library, this takes as long as looking for a file. `cache` keeps machine code
/// across processes.
pub fn devices(cache: Option<Arc<dyn CubinCache>>) -> Found {
    let mut found = Found { devices: Vec::new(), absent: Vec::new(), driver: None };
    let started = driver().and_then(|driver| {
        found.driver = Some(driver.version);
        Ok((driver, info::count(driver)?))
    });
    let (driver, count) = match started {
        Ok(started) => started,
        Err(absent) => {
            found.absent.push(absent);
            return found;
        }
    };
    for ordinal in 0..count {
        let described =
            info::device(driver, ordinal).and_then(|device| Ok((device, info::describe(driver, ordinal, device)?)));
        match described {
            Ok((device, described)) => {
                found.devices.push(CudaDevice::new(
                    Gpu::new(driver, device, GpuSize::of(&described.info)),
                    described,
                    cache.clone(),
                ));
            }
            // One GPU that cannot be used does not hide the others.
            Err(absent) => found.absent.push(absent),
        }
    }
    found
}

/// A GPU.
pub struct CudaDevice {
    info: DeviceInfo,
    capability: u32,
    has_managed: bool,
    gpu: Arc<Gpu>,
    streams: Mutex<[Option<Arc<Stream>>; MAX_STREAMS]>,
    /// A stream that the first queue takes: making one takes the driver 1.5 ms.
    spare: Arc<Mutex<Option<Stream>>>,
    /// Whether a queue for it has been made.
    used: Once,
    staging: Arc<Staging>,
    printing: Arc<Printing>,
    cache: Option<Arc<dyn CubinCache>>,
}

impl CudaDevice {
    fn new(gpu: Gpu, described: Described, cache: Option<Arc<dyn CubinCache>>) -> CudaDevice {
        let Described { info, capability, has_managed } = described;
        let gpu = Arc::new(gpu);
        let staging = Arc::new(Staging::new(&gpu));
        let printing = Arc::new(Printing::new(&gpu, &staging));
        let (streams, spare) = Default::default();
        CudaDevice { info, capability, has_managed, gpu, streams, spare, used: Once::new(), staging, printing, cache }
    }

    fn load_for(&self) -> LoadFor<'_> {
        LoadFor {
            gpu: &self.gpu,
            capability: self.capability,
            local_memory: self.info.caps.limits.local_memory,
            cache: self.cache.as_deref(),
        }
    }

    /// Makes the spare stream, and the context before it, in the background.
    fn make_spare(&self) {
        let (gpu, spare) = (self.gpu.clone(), self.spare.clone());
        let make = move || {
            let Ok(_end_waits) = Call::begin() else { return };
            // A thread that needs the stream meanwhile waits here.
            let mut spare = spare.lock();
            *spare = Stream::new(&gpu).ok();
        };
        // If no thread can be started, the first launch makes its stream itself.
        let _ = std::thread::Builder::new().name("cloom-gpu-stream".into()).spawn(make);
    }

    /// Pinned memory of the host, zeroed. Transfers from and to it run at the full speed of the bus.
    pub fn host_block(&self, size: usize) -> Result<HostBlock, HalError> {
        HostBlock::allocate(&self.gpu, size)
    }

    /// The stream of a queue; of the calling thread if it is 0.
    fn stream(&self, queue: u64) -> Result<Arc<Stream>, HalError> {
        // Queues with numbers that are equal modulo `MAX_STREAMS` share a stream, which orders their launches and loses
        // only concurrency.
        let number = if queue == 0 { thread_number() } else { queue };
        let mut streams = self.streams.lock();
        let slot = &mut streams[(number % MAX_STREAMS as u64) as usize];
        match slot {
            Some(stream) => Ok(stream.clone()),
            None => {
                // Under the lock of all streams, so that two threads of one queue get the same one.
                let stream = self.spare.lock().take().map_or_else(|| Stream::new(&self.gpu), Ok)?;
                Ok(slot.insert(Arc::new(stream)).clone())
            }
        }
    }
}

/// A number that each thread has for itself.
fn thread_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    thread_local! {
        static NUMBER: u64 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    // A thread that is exiting has lost its thread-local storage, and shares stream 0.
    NUMBER.try_with(|&number| number).unwrap_or(0)
}

impl Device for CudaDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn allocate(&self, size: u64) -> Result<Arc<dyn Memory>, HalError> {
        Ok(Arc::new(CudaMemory::allocate(&self.gpu, &self.staging, size)?))
    }

    fn load(
        &self,
        artifact: Arc<KernelArtifact>,
        variables: Option<Arc<dyn Memory>>,
    ) -> Result<Arc<dyn Kernel>, HalError> {
        if !info::runs(&artifact.target, self.capability) {
            let (made, here) = (&artifact.target, &self.info.target);
            return Err(HalError::BadCode(format!("it was compiled for {made}, this is {here}")));
        }
        Ok(Arc::new(CudaKernel::load(&self.load_for(), artifact, variables)?))
    }

    fn expect_use(&self) -> Option<Expected> {
        let mut expected = None;
        self.used.call_once(|| {
            // The first launch needs a stream, whether or not its code is in the cache.
            self.make_spare();
            expected = Some(match &self.cache {
                Some(cache) if !cache.is_empty() => Expected::KeptCode,
                _ => Expected::NewCode,
            });
        });
        // With code in the cache the JIT compiler may not be needed at all, and starting it takes a core for some
        // milliseconds.
        if expected == Some(Expected::NewCode) {
            self.expect_code();
        }
        expected
    }

    fn expect_code(&self) {
        // All GPUs share one JIT compiler.
        static STARTED: Once = Once::new();
        STARTED.call_once(|| module::prepare(self.gpu.clone()));
    }

    fn loads_soon(&self, artifact: &KernelArtifact) -> bool {
        module::is_kept(&self.load_for(), artifact)
    }

    fn group_limit(&self, bytes_per_item: u64) -> Option<u64> {
        (bytes_per_item <= MAX_BYTES_FOR_LARGEST_GROUP).then_some(module::LARGEST_GROUP_THREADS)
    }

    fn submit(&self, launch: &Launch<'_>) -> Result<Completion, HalError> {
        let stream = self.stream(launch.queue)?;
        launch::submit(&self.gpu, &stream, &self.printing, launch)
    }

    fn as_streams(&self) -> Option<&dyn Streams> {
        Some(self)
    }

    fn as_textures(&self) -> Option<&dyn Textures> {
        Some(self)
    }

    fn as_pinned(&self) -> Option<&dyn Pinned> {
        Some(self)
    }

    fn as_svm(&self) -> Option<&dyn Svm> {
        self.has_managed.then_some(self)
    }
}

impl Svm for CudaDevice {
    fn kind(&self) -> SvmKind {
        SvmKind::FineGrainBuffer
    }

    /// Whether atomic operations of the host and the GPU are atomic to each other, which depends on the bus.
    fn atomics(&self) -> bool {
        false
    }

    fn allocate(&self, size: u64) -> Result<Arc<dyn Memory>, HalError> {
        Ok(Arc::new(managed::allocate(&self.gpu, size)?))
    }
}

impl Pinned for CudaDevice {
    fn allocate(&self, size: u64) -> Result<Box<dyn PinnedBlock>, HalError> {
        let size = usize::try_from(size).map_err(|_| HalError::OutOfMemory(size))?;
        Ok(Box::new(self.host_block(size)?))
    }
}

impl Textures for CudaDevice {
    fn texture(&self, memory: &dyn Memory, rows: &TextureRows) -> Option<Box<dyn Texture>> {
        Some(Box::new(CudaTexture::new(&self.gpu, memory, rows)?))
    }
}

impl Streams for CudaDevice {
    fn wait(&self, queue: u64, done: &dyn Fn() -> bool) -> bool {
        let stream = self.streams.lock()[(queue % MAX_STREAMS as u64) as usize].clone();
        stream.map_or_else(done, |stream| stream.wait(done))
    }

    fn append(&self, launch: &Launch<'_>) -> bool {
        self.stream(launch.queue).is_ok_and(|stream| launch::append(&self.gpu, &stream, launch))
    }
}

impl Served for CudaDevice {
    fn remote_info(&self) -> DeviceInfo {
        let mut info = self.info.clone();
        // The application and the GPU share no memory.
        info.caps = caps(info.target.machine(), info.caps.limits.local_memory, false);
        info
    }

    fn text(&self, address: u64) -> Option<Vec<u8>> {
        transfer::text(&self.gpu, address)
    }

    fn why_lost() -> Option<String> {
        error::why_lost().map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_a_gpu_has_a_reason() {
        let found = devices(None);
        assert!(!found.devices.is_empty() || !found.absent.is_empty());
        for why in found.absent {
            assert!(why.to_string().len() > 20, "{why}");
        }
        let ids: Vec<_> = found.devices.iter().map(|device| device.info().uuid).collect();
        assert!(ids.iter().enumerate().all(|(i, id)| !ids[..i].contains(id)), "{ids:?}");
    }
}
