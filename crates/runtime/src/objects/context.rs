//! Contexts: the devices that share objects, and the callback for errors.

use crate::objects::allocations::Allocations;
use crate::objects::space::Space;
use crate::status::{bail, ensure};
use crate::{Device, Engine, Error, ExternalSlot, Result};
use cloom_hal::lock::{Mutex, MutexGuard};
use std::any::Any;
use std::sync::{Arc, Weak};

/// Called with a message when something went wrong, perhaps later and from another thread.
pub type ErrorCallback = Box<dyn Fn(&str) + Send + Sync>;

/// A property as the application gave it: key and value.
pub type ContextProperty = (isize, isize);

/// A command queue. Its type is known to `graph`, which a context does not depend on.
pub(crate) type AnyQueue = dyn Any + Send + Sync;

/// `CL_CONTEXT_MEMORY_INITIALIZE_KHR`
const MEMORY_INITIALIZE: isize = 0x2030;

bitflags::bitflags! {
    /// Memory that begins as zeros (`cl_context_memory_initialize_khr`).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct ZeroedMemory: u64 {
        /// That of work-groups.
        const LOCAL = 1 << 0;
        /// That of work-items.
        const PRIVATE = 1 << 1;
    }
}

/// A context.
pub struct Context {
    /// What the interface keeps.
    pub external: ExternalSlot,
    engine: Arc<Engine>,
    devices: Vec<Arc<Device>>,
    properties: Option<Vec<ContextProperty>>,
    zeroed: ZeroedMemory,
    notify: Option<ErrorCallback>,
    destructors: Mutex<Vec<Box<dyn FnOnce() + Send>>>,
    svm: Allocations,
    queues: Mutex<Vec<Weak<AnyQueue>>>,
    /// The default queue on each device that has one.
    default_queues: Mutex<Vec<Weak<AnyQueue>>>,
    /// The memory space of each device.
    device_spaces: Vec<Space>,
    /// For each space a device that allocates there; `None` for the host's memory if no device works in it.
    allocators: Vec<Option<Arc<Device>>>,
}

impl Context {
    /// A context of these devices; duplicates count once. The caller has checked the properties.
    pub fn new(
        devices: &[Arc<Device>],
        properties: Option<Vec<ContextProperty>>,
        notify: Option<ErrorCallback>,
    ) -> Result<Arc<Context>> {
        let mut unique: Vec<Arc<Device>> = Vec::new();
        // Duplicate devices are ignored (OpenCL 3.0, section 4.4).
        for device in devices {
            if !unique.iter().any(|d| Arc::ptr_eq(d, device)) {
                unique.push(device.clone());
            }
        }
        ensure!(!unique.is_empty(), InvalidValue, "a context needs a device");
        let wanted = properties.iter().flatten().find(|(key, _)| *key == MEMORY_INITIALIZE);
        let zeroed = ZeroedMemory::from_bits(wanted.map_or(0, |(_, bits)| *bits as u64));
        let Some(zeroed) = zeroed else { bail!(InvalidProperty, "no such memory is initialised: {wanted:x?}") };
        // Space 0 is the host's memory. Without a device that works there, the host allocates it (`None`).
        let mut allocators = vec![unique.iter().find(|d| d.shares_host()).cloned()];
        let mut space_of = |device: &Arc<Device>| {
            if device.shares_host() {
                return Space::HOST;
            }
            allocators.push(Some(device.clone()));
            // A number beyond the limit is refused below; this only keeps it within eight bits.
            Space((allocators.len() - 1).min(Space::LIMIT) as u8)
        };
        let device_spaces = unique.iter().map(&mut space_of).collect();
        let most = Space::LIMIT - 1;
        ensure!(allocators.len() <= Space::LIMIT, OutOfResources, "more than {most} devices with memory of their own");
        Ok(Arc::new(Context {
            external: ExternalSlot::default(),
            // All devices of a platform have one engine.
            engine: unique[0].engine().clone(),
            devices: unique,
            properties,
            zeroed,
            notify,
            destructors: Mutex::default(),
            svm: Allocations::default(),
            queues: Mutex::default(),
            default_queues: Mutex::default(),
            device_spaces,
            allocators,
        }))
    }

    /// The devices.
    pub fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// The properties, in the order given; `None` if none were given at all.
    pub fn properties(&self) -> Option<&[ContextProperty]> {
        self.properties.as_deref()
    }

    /// Whether kernels find zeros in memory of a kind (`cl_khr_initialize_memory`).
    pub fn zeroes(&self, memory: ZeroedMemory) -> bool {
        self.zeroed.contains(memory)
    }

    /// How many memory spaces there are: the host's, and one for each device with memory of its own.
    pub(crate) fn spaces(&self) -> usize {
        self.allocators.len()
    }

    /// Whether a device has memory of its own, so that memory objects may have to be copied.
    pub(crate) fn has_device_memory(&self) -> bool {
        self.allocators.len() > 1
    }

    /// The memory space of a device; the host's for a device of another context.
    pub(crate) fn space_of(&self, device: &Arc<Device>) -> Space {
        self.index_of(device).and_then(|i| self.device_spaces.get(i).copied()).unwrap_or_default()
    }

    /// The device that allocates in a space.
    pub(crate) fn allocator(&self, space: Space) -> Option<&Arc<Device>> {
        self.allocators.get(usize::from(space.0))?.as_ref()
    }

    /// The queues that exist. `Context::queues` gives them with their type.
    pub(crate) fn any_queues(&self) -> Vec<Arc<AnyQueue>> {
        self.queues.lock().iter().filter_map(Weak::upgrade).collect()
    }

    /// Registers a new queue.
    pub(crate) fn add_queue(&self, queue: Weak<AnyQueue>) {
        let mut queues = self.queues.lock();
        // Here, where the list grows anyway, since a queue that ends does not tell the context.
        queues.retain(|queue| queue.strong_count() > 0);
        queues.push(queue);
    }

    /// The default queues on devices.
    pub(crate) fn default_queues(&self) -> MutexGuard<'_, Vec<Weak<AnyQueue>>> {
        self.default_queues.lock()
    }

    pub(crate) fn svm(&self) -> &Allocations {
        &self.svm
    }

    /// Whether a device has images.
    pub fn has_images(&self) -> bool {
        self.devices().iter().any(|d| d.caps().images.is_some())
    }

    /// The shared state of all objects.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Reports an error to the application's callback.
    pub fn report(&self, error: &Error) {
        if let Some(notify) = &self.notify {
            notify(&error.to_string());
        }
    }

    /// Calls this when the context is gone; the last one registered is the first one called.
    pub fn on_destruction(&self, call: Box<dyn FnOnce() + Send>) {
        self.destructors.lock().push(call);
    }

    /// The number of a device in this context.
    pub fn index_of(&self, device: &Arc<Device>) -> Option<usize> {
        self.devices.iter().position(|d| Arc::ptr_eq(d, device))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let calls = std::mem::take(self.destructors.get_mut());
        // In the reverse order of registration (clSetContextDestructorCallback).
        calls.into_iter().rev().for_each(|call| call());
    }
}
