//! Shared virtual memory: elements that the host and kernels use under one address, so that they may hold pointers to
//! each other.
//!
//! The host reaches the elements through a map, which is a slice. A map that writes borrows the allocation mutably:
//! while it exists, the compiler refuses a launch with the allocation.

#![allow(unsafe_code, reason = "it lends memory that a device has allocated, as slices")]

use crate::{Error, Event, Pod, Queue};
use cloom_runtime as rt;
use cloom_runtime::host_mem::HostPtr;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

/// How an allocation of shared virtual memory may be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SvmOptions {
    /// Host and kernels may use it at the same time, through [`SvmBuffer::as_ptr`]. Without it they take turns, by
    /// maps.
    pub fine_grain: bool,
}

/// Memory of `len` elements that the host and kernels use under one address. A launch takes `&SvmBuffer` for a pointer
/// to global memory. Its memory is freed when it is dropped and all launches that had it as an argument have ended.
///
/// ```
/// use cloom::{Context, Range};
///
/// # fn main() -> Result<(), cloom::Error> {
/// let context = Context::new()?;
/// let program = context.build("kernel void square(global int *p) { int i = get_global_id(0); p[i] *= p[i]; }")?;
/// let mut numbers = context.svm::<i32>(4)?;
/// numbers.map_mut()?.copy_from_slice(&[1, 2, 3, 4]);
/// // SAFETY: one element for each work-item, and nothing is mapped.
/// unsafe { program.kernel("square")?.launch(Range::new([4]), (&numbers,))? };
/// assert_eq!(numbers.map()?[..], [1, 4, 9, 16]);
/// # Ok(())
/// # }
/// ```
pub struct SvmBuffer<T> {
    pub(crate) allocation: Arc<Allocation>,
    /// A queue on a device with shared virtual memory, for maps.
    queue: Arc<rt::Queue>,
    len: usize,
    elements: PhantomData<fn() -> T>,
}

/// The memory, shared by its owner and by launches that use it.
pub(crate) struct Allocation {
    context: Arc<rt::Context>,
    start: HostPtr,
    /// Launches with this memory as an argument that may not have ended.
    launches: Mutex<Vec<Arc<rt::Event>>>,
}

impl Allocation {
    pub(crate) fn address(&self) -> usize {
        self.start.address()
    }

    /// A launch has this memory as an argument: maps wait for it, and the memory stays until it has ended.
    pub(crate) fn used_by(self: &Arc<Self>, launch: &Arc<rt::Event>) {
        // The callback runs when the launch ends, and frees the memory if nobody else has it.
        let held = self.clone();
        let is_kept = launch.on_status(0, Box::new(move |_| drop(held)));
        debug_assert!(is_kept.is_ok(), "every event takes a callback for its end");
        let mut launches = self.launches.lock().unwrap_or_else(PoisonError::into_inner);
        // Without this, an allocation that is never mapped would collect the events of all its launches.
        launches.retain(|event| event.status() > 0);
        launches.push(launch.clone());
    }

    /// Checks that a kernel is of the same context.
    pub(crate) fn check_context(&self, kernel: &rt::Kernel) -> Result<(), Error> {
        if Arc::ptr_eq(kernel.program().context(), &self.context) {
            return Ok(());
        }
        let why = format!("kernel `{}` is of another context than the shared memory", kernel.name());
        Err(rt::Error::new(rt::Status::InvalidContext, why).into())
    }

    /// Waits until these launches have ended, well or not.
    fn wait(&self) {
        let launches = std::mem::take(&mut *self.launches.lock().unwrap_or_else(PoisonError::into_inner));
        for event in launches {
            event.wait();
        }
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.context.svm_free(self.address());
    }
}

impl<T: Pod> SvmBuffer<T> {
    /// Memory whose bytes are zero.
    pub(crate) fn zeroed(
        context: &Arc<rt::Context>,
        queue: &Queue,
        len: usize,
        options: SvmOptions,
    ) -> Result<Self, Error> {
        let mut flags = rt::MemFlags::READ_WRITE;
        flags.set(rt::MemFlags::SVM_FINE_GRAIN_BUFFER, options.fine_grain);
        // A size that overflows is more than any device has, and gets that error.
        let size = len.checked_mul(size_of::<T>()).map_or(u64::MAX, |n| n as u64);
        let address = context.svm_allocate(flags.bits(), size, align_of::<T>() as u32)?;
        // SAFETY: the allocation is used until it is freed, and only within its size.
        let Some(start) = (unsafe { HostPtr::new(address) }) else {
            return Err(rt::Error::new(rt::Status::OutOfResources, "the device gave memory without an address").into());
        };
        let allocation = Arc::new(Allocation { context: context.clone(), start, launches: Mutex::default() });
        // SAFETY: the allocation has `size` bytes, and nobody else knows its address.
        unsafe { std::ptr::write_bytes(std::ptr::with_exposed_provenance_mut::<u8>(address), 0, size as usize) };
        let own = &queue.runtime;
        // A map is a command: it needs a queue on a device that has such memory, which the context's own need not be.
        let queue = match context.devices().iter().find(|device| device.svm().is_some()) {
            Some(able) if own.device().svm().is_none() => rt::Queue::new(context, able, rt::QueueFlags::empty(), None)?,
            _ => own.clone(),
        };
        Ok(SvmBuffer { allocation, queue, len, elements: PhantomData })
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements; no allocation does.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address of the first element, for the host and for kernels: what a pointer in memory holds. A kernel may
    /// follow it, if the allocation lives until the launch has ended.
    pub fn address(&self) -> u64 {
        self.allocation.address() as u64
    }

    /// A pointer to the first element. It may be used while the elements are mapped, and with
    /// [`SvmOptions::fine_grain`] at any time, also while kernels run that use other elements or atomic operations.
    pub fn as_ptr(&self) -> *mut T {
        std::ptr::with_exposed_provenance_mut(self.allocation.address())
    }

    /// The elements, when all launches that have this memory as an argument have ended, and all commands before on the
    /// context's own queue.
    ///
    /// # Errors
    /// When the device fails.
    pub fn map(&self) -> Result<SvmMap<'_, T>, Error> {
        self.map_after(&[])
    }

    /// [`map`](Self::map), after these events: launches that reach this memory through pointers, on queues other than
    /// the context's own.
    ///
    /// # Errors
    /// When the device or one of these launches fails.
    pub fn map_after(&self, after: &[Event]) -> Result<SvmMap<'_, T>, Error> {
        self.begin(rt::MapFlags::READ, after)?;
        Ok(SvmMap { buffer: self })
    }

    /// The elements, to write; otherwise as [`map`](Self::map). A launch with memory that is mapped so does not
    /// compile:
    ///
    /// ```compile_fail,E0502
    /// # use cloom::{Context, Error, Kernel, Range};
    /// # fn f(context: &Context, kernel: &Kernel) -> Result<(), Error> {
    /// let mut numbers = context.svm::<i32>(4)?;
    /// let mut mapped = numbers.map_mut()?;
    /// unsafe { kernel.launch(Range::new([4]), (&numbers,))? };
    /// mapped[0] = 1;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the device fails.
    pub fn map_mut(&mut self) -> Result<SvmMapMut<'_, T>, Error> {
        self.map_mut_after(&[])
    }

    /// The elements, to write; otherwise as [`map_after`](Self::map_after).
    ///
    /// # Errors
    /// When the device or one of these launches fails.
    pub fn map_mut_after(&mut self, after: &[Event]) -> Result<SvmMapMut<'_, T>, Error> {
        self.begin(rt::MapFlags::READ | rt::MapFlags::WRITE, after)?;
        Ok(SvmMapMut { buffer: self })
    }

    /// A copy of the elements, as [`map`](Self::map) has them.
    ///
    /// # Errors
    /// When the device fails.
    pub fn to_vec(&self) -> Result<Vec<T>, Error> {
        Ok(self.map()?.to_vec())
    }

    fn begin(&self, flags: rt::MapFlags, after: &[Event]) -> Result<(), Error> {
        // Launches may be on other queues, which the map's queue does not wait for.
        self.allocation.wait();
        let after: Vec<_> = after.iter().map(|event| event.runtime.clone()).collect();
        let size = (self.len * size_of::<T>()) as u64;
        self.queue.svm_map(true, flags.bits(), Some(self.allocation.start), size, &after)?;
        Ok(())
    }

    /// Ends a map. Where that fails, the queue is of no more use, and the next command on it says so.
    fn end(&self) {
        let _ = self.queue.svm_unmap(Some(self.allocation.start), &[]);
    }
}

impl<T> fmt::Debug for SvmBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SvmBuffer").field("len", &self.len).finish_non_exhaustive()
    }
}

/// The elements of an [`SvmBuffer`], mapped to be read. Kernels may read them, too.
pub struct SvmMap<'a, T: Pod> {
    buffer: &'a SvmBuffer<T>,
}

/// The elements of an [`SvmBuffer`], mapped to be read and written.
pub struct SvmMapMut<'a, T: Pod> {
    buffer: &'a mut SvmBuffer<T>,
}

impl<T: Pod> Deref for SvmMap<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the allocation has `len` initialised elements with their alignment. All launches that write them have
        // ended: those with it as an argument were waited for, and whoever launched others promised it.
        unsafe { std::slice::from_raw_parts(self.buffer.as_ptr(), self.buffer.len) }
    }
}

impl<T: Pod> Deref for SvmMapMut<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the allocation has `len` initialised elements with their alignment. No launch uses them: those with
        // it as an argument were waited for, and whoever launched others promised it.
        unsafe { std::slice::from_raw_parts(self.buffer.as_ptr(), self.buffer.len) }
    }
}

impl<T: Pod> DerefMut for SvmMapMut<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: the allocation has `len` initialised elements with their alignment, borrowed mutably. No launch uses
        // them: those with it as an argument were waited for, and whoever launched others promised it.
        unsafe { std::slice::from_raw_parts_mut(self.buffer.as_ptr(), self.buffer.len) }
    }
}

impl<T: Pod> Drop for SvmMap<'_, T> {
    fn drop(&mut self) {
        self.buffer.end();
    }
}

impl<T: Pod> Drop for SvmMapMut<'_, T> {
    fn drop(&mut self) {
        self.buffer.end();
    }
}

impl<T: Pod + fmt::Debug> fmt::Debug for SvmMap<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Pod + fmt::Debug> fmt::Debug for SvmMapMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Context, Error, Status};
    use cloom_artifact::KernelArtifact;
    use cloom_hal::{Assist, Completion, Device, DeviceInfo, HalError, HostShared, Kernel, Launch, Memory};
    use cloom_runtime as rt;
    use std::sync::Arc;

    /// A device without shared virtual memory, which is otherwise as another one.
    struct WithoutSvm(Arc<dyn Device>);

    impl Device for WithoutSvm {
        fn info(&self) -> &DeviceInfo {
            self.0.info()
        }

        fn allocate(&self, size: u64) -> Result<Arc<dyn Memory>, HalError> {
            self.0.allocate(size)
        }

        fn load(
            &self,
            artifact: Arc<KernelArtifact>,
            variables: Option<Arc<dyn Memory>>,
        ) -> Result<Arc<dyn Kernel>, HalError> {
            self.0.load(artifact, variables)
        }

        fn submit(&self, launch: &Launch<'_>) -> Result<Completion, HalError> {
            self.0.submit(launch)
        }

        fn as_host_shared(&self) -> Option<&dyn HostShared> {
            self.0.as_host_shared()
        }

        fn as_assist(&self) -> Option<&dyn Assist> {
            self.0.as_assist()
        }
    }

    /// Contexts of the CPU without such memory, of the CPU with it, and of both in this order.
    fn contexts() -> [Context; 3] {
        let options = cloom_platform::Options { kinds: Some(vec![rt::DeviceKind::Cpu]), ..Default::default() };
        let cpu = cloom_platform::devices(&options).devices.remove(0);
        let hooks = rt::Hooks {
            print: Box::new(|_| {}),
            enter_float_env: || Box::new(()),
            checker: None,
            bounds_checks: false,
            time_limit: std::time::Duration::MAX,
        };
        let engine = rt::Engine::new(rt::Compiler::from_env(), hooks);
        let platform = rt::Platform::new(engine, vec![Arc::new(WithoutSvm(cpu.clone())), cpu]);
        let devices = platform.devices();
        [&devices[..1], &devices[1..], devices].map(|devices| Context::of(devices, false).unwrap())
    }

    #[test]
    fn a_device_without_such_memory_says_so() {
        let [without, with, both] = contexts();
        assert_eq!(without.device().svm, None);
        match without.svm::<i32>(4) {
            Err(Error::OpenCl { status: Status::InvalidOperation, why }) => {
                assert_eq!(why, "no device of the context has shared virtual memory");
            }
            other => panic!("{other:?}"),
        }
        assert!(with.device().svm.is_some_and(|svm| svm.fine_grain && svm.system && svm.atomics));
        // The context's own queue is on the device that has none.
        let memory = both.svm_from(&[1, 2, 3]).unwrap();
        assert_eq!(memory.to_vec().unwrap(), [1, 2, 3]);
        let kernel = both.build("kernel void k(global int *p) { *p = 1; }").unwrap().kernel("k").unwrap();
        // SAFETY: one element.
        let refused = unsafe { kernel.launch(crate::Range::new([1]), (&memory,)) };
        let why = refused.and_then(|event| event.wait()).unwrap_err().to_string();
        assert!(why.contains("the device has no shared virtual memory"), "{why}");
    }
}
