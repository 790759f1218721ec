//! Queues on the device, into which only kernels put commands; and the default one of each device.
//!
//! Such a queue is a bound: the commands that wait in it take no more bytes than it has. They are kept, and run, with
//! the command of the host whose kernel enqueued them (`launch::children`).

use crate::graph::queue::Queue;
use crate::objects::context::AnyQueue;
use crate::status::{bail, ensure};
use crate::{Context, Device, QueueFlags, Result};
use cloom_caps::{feature, limits};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};

/// What a queue on the device has.
pub struct DeviceQueue {
    size: u32,
    used: AtomicU32,
}

impl DeviceQueue {
    /// `CL_QUEUE_SIZE`
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Takes room for a command. False if there is not enough.
    pub(crate) fn take(&self, bytes: u32) -> bool {
        let fits = |used: u32| used.checked_add(bytes).filter(|used| *used <= self.size);
        // Relaxed: the counter guards no other data.
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok()
    }

    /// Gives it back.
    pub(crate) fn give(&self, bytes: u32) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Device {
    /// Whether kernels can enqueue kernels.
    pub fn has_device_queues(&self) -> bool {
        self.caps().has_feature(feature::DEVICE_ENQUEUE)
    }
}

impl Queue {
    // OpenCL 3.0 API, 5.1: Command-Queues.
    /// A queue on the device, of so many bytes. The default one is made once: later calls give the same.
    pub fn new_on_device(
        context: &Arc<Context>,
        device: &Arc<Device>,
        flags: QueueFlags,
        size: Option<u32>,
        properties: Option<Vec<u64>>,
    ) -> Result<Arc<Queue>> {
        ensure!(context.index_of(device).is_some(), InvalidDevice, "the device is not of this context");
        ensure!(device.has_device_queues(), InvalidQueueProperties, "the device has no queues of its own");
        let needed = QueueFlags::OUT_OF_ORDER;
        ensure!(flags.contains(needed), InvalidValue, "a queue on the device is out of order, which must be asked for");
        let (size, most) = (size.unwrap_or(limits::DEVICE_QUEUE_SIZE), limits::MAX_DEVICE_QUEUE_SIZE);
        ensure!(size <= most, InvalidQueueProperties, "a queue of {size} bytes: at most {most} are possible");
        let make = || {
            let on_device = DeviceQueue { size, used: AtomicU32::new(0) };
            Queue::with(context, device, flags, properties.clone(), Some(on_device))
        };
        if flags.contains(QueueFlags::ON_DEVICE_DEFAULT) {
            // The lock is held while the queue is made: two threads that ask at once get the same queue.
            let mut defaults = context.default_queues();
            if let Some(queue) = default_of(&defaults, device) {
                return Ok(queue);
            }
            let queue = make()?;
            set_default(&mut defaults, &queue);
            return Ok(queue);
        }
        let others = |q: &&Arc<Queue>| {
            q.on_device().is_some()
                && Arc::ptr_eq(q.device(), device)
                && !q.flags().contains(QueueFlags::ON_DEVICE_DEFAULT)
        };
        // The default queue does not count, so that it can always be made.
        let count = context.queues().iter().filter(others).count();
        let most = limits::MAX_DEVICE_QUEUES as usize;
        ensure!(count < most, OutOfResources, "the device has {most} queues of its own in this context already");
        make()
    }

    // OpenCL 3.0 API, 5.1: Command-Queues.
    /// `clSetDefaultDeviceCommandQueue`: this queue becomes the default one on a device.
    pub fn make_default(self: &Arc<Queue>, context: &Arc<Context>, device: &Arc<Device>) -> Result<()> {
        context.may_have_default_queue(device)?;
        if self.on_device().is_none() {
            bail!(InvalidCommandQueue, "the queue is one of the host");
        }
        let fits = Arc::ptr_eq(self.context(), context) && Arc::ptr_eq(self.device(), device);
        ensure!(fits, InvalidCommandQueue, "the queue is of another context or device");
        set_default(&mut context.default_queues(), self);
        Ok(())
    }

    /// The default queue on the device of this one.
    pub fn default_on_device(&self) -> Option<Arc<Queue>> {
        self.context().default_queue(self.device())
    }
}

impl Context {
    /// Whether the device may have a default queue of its own in this context.
    pub fn may_have_default_queue(&self, device: &Arc<Device>) -> Result<()> {
        ensure!(self.index_of(device).is_some(), InvalidDevice, "the device is not of this context");
        ensure!(device.has_device_queues(), InvalidOperation, "the device has no queues of its own");
        Ok(())
    }

    /// The default queue on a device.
    pub(crate) fn default_queue(&self, device: &Arc<Device>) -> Option<Arc<Queue>> {
        default_of(&self.default_queues(), device)
    }
}

/// A queue that a context knows, if it still exists.
fn existing(queue: &Weak<AnyQueue>) -> Option<Arc<Queue>> {
    queue.upgrade()?.downcast().ok()
}

fn default_of(defaults: &[Weak<AnyQueue>], device: &Arc<Device>) -> Option<Arc<Queue>> {
    defaults.iter().filter_map(existing).find(|queue| Arc::ptr_eq(queue.device(), device))
}

fn set_default(defaults: &mut Vec<Weak<AnyQueue>>, queue: &Arc<Queue>) {
    // This also removes queues that no longer exist.
    defaults.retain(|old| existing(old).is_some_and(|old| !Arc::ptr_eq(old.device(), queue.device())));
    defaults.push(Arc::<Queue>::downgrade(queue));
}
