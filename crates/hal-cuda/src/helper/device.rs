//! The device in the application.

use super::launch::{Ends, HelpedKernel, HelpedLaunch};
use super::memory::HelpedMemory;
use super::process::{Helper, Program, Sizes};
use super::wire::{self, Reply, Request, Submit};
use crate::device::{CudaDevice, MAX_STREAMS};
use cloom_artifact::KernelArtifact;
use cloom_caps::DeviceCaps;
use cloom_hal::lock::Mutex;
use cloom_hal::{Completion, Device, DeviceInfo, HalError, Kernel, Launch, Memory, Streams};
use cloom_hal_gpu::tuning::SPIN_TIME;
use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

/// A GPU that another process owns.
pub struct HelpedDevice {
    info: DeviceInfo,
    /// Its place in the list of all.
    device: u32,
    helpers: Arc<Helpers>,
    ends: Mutex<[Option<Ends>; MAX_STREAMS]>,
}

/// The helper of all GPUs, and what starts the next.
struct Helpers {
    program: Program,
    current: Mutex<Option<Arc<Helper>>>,
    /// Memory of earlier ones that the application has not freed.
    buried: Arc<Mutex<Sizes>>,
}

impl Helpers {
    /// A helper that is not lost.
    fn get(&self) -> Result<Arc<Helper>, HalError> {
        let mut current = self.current.lock();
        match &*current {
            Some(helper) if !helper.is_lost() => Ok(helper.clone()),
            _ => Ok(current.insert(Helper::start(&self.program, &self.buried)?).clone()),
        }
    }

    /// Makes what needs nothing that is there already. If the helper turns out to be lost, the next one does it.
    fn make<T>(&self, make: impl Fn(Arc<Helper>) -> Result<T, HalError>) -> Result<T, HalError> {
        let helper = self.get()?;
        match make(helper.clone()) {
            Err(_) if helper.is_lost() => make(self.get()?),
            made => made,
        }
    }
}

/// The same GPUs, owned by a helper that this program becomes. It is started when a GPU is first used.
pub fn helped(devices: &[CudaDevice], program: Program) -> Vec<HelpedDevice> {
    let helpers = Arc::new(Helpers { program, current: Mutex::default(), buried: Arc::default() });
    let helped = |(device, gpu): (usize, &CudaDevice)| {
        let mut info = gpu.info().clone();
        // The application and the GPU share no memory.
        info.caps = DeviceCaps::cuda(info.caps.limits.local_memory, false);
        HelpedDevice { info, device: device as u32, helpers: helpers.clone(), ends: Mutex::default() }
    };
    devices.iter().enumerate().map(helped).collect()
}

impl HelpedDevice {
    fn ends(&self, queue: u64) -> Result<Ends, HalError> {
        let mut ends = self.ends.lock();
        let slot = &mut ends[(queue % MAX_STREAMS as u64) as usize];
        match slot {
            Some(ends) => Ok(ends.clone()),
            None => Ok(slot.insert(Ends::new()?).clone()),
        }
    }
}

impl Device for HelpedDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn allocate(&self, size: u64) -> Result<Arc<dyn Memory>, HalError> {
        let memory = self.helpers.make(|helper| HelpedMemory::allocate(helper, self.device, size))?;
        Ok(Arc::new(memory))
    }

    fn load(
        &self,
        artifact: Arc<KernelArtifact>,
        variables: Option<Arc<dyn Memory>>,
    ) -> Result<Arc<dyn Kernel>, HalError> {
        let load = |helper| HelpedKernel::load(helper, self.device, artifact.clone(), variables.clone());
        Ok(Arc::new(self.helpers.make(load)?))
    }

    fn submit(&self, launch: &Launch<'_>) -> Result<Completion, HalError> {
        let kernel: &dyn Any = launch.kernel;
        let Some(kernel) = kernel.downcast_ref::<HelpedKernel>() else {
            return Err(HalError::BadCode("another device's kernel".into()));
        };
        let helper = self.helpers.get()?;
        let number = kernel.number_in(&helper)?;
        kernel.check(&helper, launch)?;
        let request = Request::Submit(Submit {
            device: self.device,
            kernel: number,
            range: wire::range(&launch.range),
            args: launch.args.to_vec(),
            local_size: launch.local_size,
            zero_local: launch.zero_local,
            queue: launch.queue,
            timed: launch.timed,
        });
        let ends = self.ends(launch.queue)?;
        match helper.call(&request, &[], &mut [])? {
            Reply::Launch(number) => {
                Ok(Completion::Pending(Box::new(HelpedLaunch { helper, device: self.device, number, ends })))
            }
            other => Err(other.unexpected()),
        }
    }

    fn as_streams(&self) -> Option<&dyn Streams> {
        Some(self)
    }
}

impl Streams for HelpedDevice {
    fn wait(&self, _: u64, done: &dyn Fn() -> bool) -> bool {
        let begin = Instant::now();
        while !done() {
            if begin.elapsed() >= SPIN_TIME {
                return false;
            }
            std::hint::spin_loop();
        }
        true
    }
}
