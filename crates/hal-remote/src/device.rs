//! The device in the application.

use crate::launch::{Ends, RemoteKernel, RemoteLaunch};
use crate::memory::RemoteMemory;
use crate::process::{Helper, Program, Sizes};
use crate::served::Served;
use crate::wire::{self, Reply, Request, Submit};
use cloom_artifact::KernelArtifact;
use cloom_hal::lock::Mutex;
use cloom_hal::{Completion, Device, DeviceInfo, HalError, Kernel, Launch, Memory, Streams};
use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Threads of a device that notify the ends of launches: queues share them if there are more.
const MAX_NOTIFIERS: usize = 32;
/// A thread that waits looks for so long before it sleeps: about what falling asleep and waking take.
const SPIN_TIME: Duration = Duration::from_micros(50);

/// A device that another process owns.
pub struct RemoteDevice {
    info: DeviceInfo,
    /// Its index in the list of all.
    device: u32,
    helpers: Arc<Helpers>,
    ends: Mutex<[Option<Ends>; MAX_NOTIFIERS]>,
}

/// The helper of all devices, and what starts the next.
struct Helpers {
    program: Program,
    current: Mutex<Option<Arc<Helper>>>,
    /// Memory of earlier ones that the application has not freed.
    buried: Arc<Mutex<Sizes>>,
}

impl Helpers {
    /// A helper that is not lost.
    fn get(&self) -> Result<Arc<Helper>, HalError> {
        // Held while a helper starts, so that several threads that find the old one lost start one new helper.
        let mut current = self.current.lock();
        match &*current {
            Some(helper) if !helper.is_lost() => Ok(helper.clone()),
            _ => Ok(current.insert(Helper::start(&self.program, &self.buried)?).clone()),
        }
    }

    /// Makes what needs nothing that is there already. If the helper turns out to be lost, the next one does it.
    fn make<T>(&self, make: impl Fn(Arc<Helper>) -> Result<T, HalError>) -> Result<T, HalError> {
        let helper = self.get()?;
        // Repeated only because it needs nothing of the lost helper. A launch does, so that it fails instead.
        match make(helper.clone()) {
            Err(_) if helper.is_lost() => make(self.get()?),
            made => made,
        }
    }
}

/// The same devices, owned by a helper that this program becomes. It is started when a device is first used.
pub fn remote<D: Served>(devices: &[D], program: Program) -> Vec<RemoteDevice> {
    let helpers = Arc::new(Helpers { program, current: Mutex::default(), buried: Arc::default() });
    let remote = |(device, local): (usize, &D)| {
        let (info, helpers) = (local.remote_info(), helpers.clone());
        RemoteDevice { info, device: device as u32, helpers, ends: Mutex::default() }
    };
    devices.iter().enumerate().map(remote).collect()
}

impl RemoteDevice {
    fn ends(&self, queue: u64) -> Result<Ends, HalError> {
        let mut ends = self.ends.lock();
        let slot = &mut ends[(queue % MAX_NOTIFIERS as u64) as usize];
        match slot {
            Some(ends) => Ok(ends.clone()),
            None => Ok(slot.insert(Ends::new()?).clone()),
        }
    }
}

impl Device for RemoteDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn allocate(&self, size: u64) -> Result<Arc<dyn Memory>, HalError> {
        let memory = self.helpers.make(|helper| RemoteMemory::allocate(helper, self.device, size))?;
        Ok(Arc::new(memory))
    }

    fn load(
        &self,
        artifact: Arc<KernelArtifact>,
        variables: Option<Arc<dyn Memory>>,
    ) -> Result<Arc<dyn Kernel>, HalError> {
        let load = |helper| RemoteKernel::load(helper, self.device, artifact.clone(), variables.clone());
        Ok(Arc::new(self.helpers.make(load)?))
    }

    fn submit(&self, launch: &Launch<'_>) -> Result<Completion, HalError> {
        let kernel: &dyn Any = launch.kernel;
        let Some(kernel) = kernel.downcast_ref::<RemoteKernel>() else {
            return Err(HalError::BadCode("another device's kernel".into()));
        };
        let helper = self.helpers.get()?;
        // Kernels are loaded anew in a new helper. Memory is not: its content is lost, and its address may be another
        // memory's.
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
        // Before the launch is submitted: if no thread can be started, no launch is left without one that waits for its
        // end.
        let ends = self.ends(launch.queue)?;
        match helper.call(&request, &[], &mut [])? {
            Reply::Launch(number) => {
                Ok(Completion::Pending(Box::new(RemoteLaunch { helper, device: self.device, number, ends })))
            }
            other => Err(other.unexpected()),
        }
    }

    fn as_streams(&self) -> Option<&dyn Streams> {
        Some(self)
    }
}

impl Streams for RemoteDevice {
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
