//! Kernels and their launches. [`Kernel::launch`] is declared `unsafe`, [`CheckedKernel::launch`] is not.

#![allow(unsafe_code, reason = "a launch runs code that no compiler has checked; the caller promises what it does")]

use crate::shared::Shared;
use crate::{Args, Error, Event, Queue};
use cloom_runtime as rt;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// How many work-items run, in one to three dimensions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    dims: u32,
    global: [u64; 3],
    local: Option<[u64; 3]>,
    offset: Option<[u64; 3]>,
}

/// Sizes of `N` dimensions, the unused ones filled up.
fn sizes<const N: usize>(of: [usize; N], rest: u64) -> [u64; 3] {
    const { assert!(N >= 1 && N <= 3, "a range has one to three dimensions") };
    std::array::from_fn(|d| of.get(d).map_or(rest, |&n| n as u64))
}

impl Range {
    /// So many work-items: `Range::new([width, height])`.
    pub fn new<const N: usize>(global: [usize; N]) -> Range {
        Range { dims: N as u32, global: sizes(global, 1), local: None, offset: None }
    }

    /// In work-groups of this size. Without it, Cloom chooses. Groups at the upper edges may be smaller.
    #[must_use]
    pub fn local<const N: usize>(mut self, local: [usize; N]) -> Range {
        self.local = Some(sizes(local, 1));
        self
    }

    /// With global ids that begin here.
    #[must_use]
    pub fn offset<const N: usize>(mut self, offset: [usize; N]) -> Range {
        self.offset = Some(sizes(offset, 0));
        self
    }
}

/// A kernel of a program. Usable from any thread.
pub struct Kernel {
    runtime: Arc<rt::Kernel>,
    context: Arc<Shared>,
    /// Held from the first argument that is set to the launch.
    launching: Mutex<()>,
}

impl Kernel {
    pub(crate) fn new(runtime: Arc<rt::Kernel>, context: &Arc<Shared>) -> Kernel {
        Kernel { runtime, context: context.clone(), launching: Mutex::default() }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.runtime.name()
    }

    /// Runs the kernel over a range, after the commands before it on the context's own queue. Returns at once; the
    /// event is complete when it has ended. The command keeps the buffers until then, and the shared memory that is an
    /// argument.
    ///
    /// # Safety
    ///
    /// With these arguments and this range, the kernel must read and write only inside its buffers and local
    /// memory, and its work-items must not race with each other: it is machine code, and nothing checks its accesses.
    /// (`cloom check` finds invalid ones; launches of a [`checked`](Self::checked) kernel are safe whatever it does.)
    ///
    /// [`SvmBuffer`](crate::SvmBuffer)s that the kernel reaches through pointers must not be dropped before the launch
    /// has ended. What the kernel writes must not be mapped while it runs, and what it reads must not be mapped
    /// mutably; with fine-grain sharing, this holds for each element.
    ///
    /// # Errors
    /// Arguments that do not fit the parameters, a range or group that the device cannot run, code that cannot be made.
    pub unsafe fn launch<A: Args>(&self, range: Range, args: A) -> Result<Event, Error> {
        // SAFETY: the caller promises what this call asks for.
        unsafe { self.launch_on(&self.context.queue, range, args, &[]) }
    }

    /// [`launch`](Self::launch) on a queue of the kernel's context, after these events.
    ///
    /// # Safety
    ///
    /// As for [`launch`](Self::launch); and launches on other queues, and on queues without an order, must not race
    /// with this one.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch); a queue or events of another context.
    pub unsafe fn launch_on<A: Args>(
        &self,
        queue: &Queue,
        range: Range,
        args: A,
        after: &[Event],
    ) -> Result<Event, Error> {
        self.enqueue(queue, range, args, after, false)
    }

    /// The kernel with checked accesses: an access outside of its buffers, arrays and local memory does not happen, so
    /// that launches are safe whatever the kernel does. A load that is refused gives 0.
    ///
    /// Where bounds of the indices of a whole group are known, one test does for the group; other accesses are tested
    /// each. On the kernels of Cloom's gallery, launches take 1.1 to 1.3 times as long as unchecked ones on average.
    ///
    /// # Errors
    /// The kernel has pipes or device queues.
    ///
    /// ```
    /// # fn main() -> Result<(), cloom::Error> {
    /// # let context = cloom::Context::new()?;
    /// let program = context.build("kernel void shift(global int *a) { a[get_global_id(0) + 1] = 7; }")?;
    /// let shift = program.kernel("shift")?;
    /// let a = context.buffer_from(&[0, 0, 0])?;
    /// shift.checked()?.launch(cloom::Range::new([1000]), (&a,))?;
    /// assert_eq!(a.to_vec()?, [0, 7, 7]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn checked(&self) -> Result<CheckedKernel, Error> {
        let runtime = self.runtime.bounds_checked()?;
        Ok(CheckedKernel { kernel: Kernel::new(runtime, &self.context) })
    }

    /// Sets the arguments and enqueues a launch. `checked`: it gets no memory that the host may use at the same time.
    fn enqueue<A: Args>(
        &self,
        queue: &Queue,
        range: Range,
        args: A,
        after: &[Event],
        checked: bool,
    ) -> Result<Event, Error> {
        let expected = self.runtime.meta().params.len();
        if A::COUNT != expected {
            return Err(Error::ArgumentCount { kernel: self.name().to_owned(), expected, given: A::COUNT });
        }
        let input = rt::RangeInput {
            work_dim: range.dims,
            offset: range.offset,
            global: Some(range.global),
            local: range.local,
        };
        let after: Vec<_> = after.iter().map(|event| event.runtime.clone()).collect();
        let queue = &queue.runtime;
        // Arguments live in the kernel: two threads that launch it must not mix theirs. A panic leaves nothing half
        // done.
        let held = self.launching.lock().unwrap_or_else(PoisonError::into_inner);
        args.set(&self.runtime)?;
        if checked {
            self.runtime.check_no_addresses()?;
        } else if self.context.has_svm() {
            // Any argument may hold pointers to shared memory.
            self.runtime.set_indirect(rt::Indirect::Svm, true)?;
        }
        let event = queue.launch(rt::CommandType::NdRangeKernel, &self.runtime, &input, &after, true)?;
        drop(held);
        let event = match event {
            Some(event) => event,
            None => queue.marker(&[])?,
        };
        // The arguments are borrowed until here: shared memory is neither dropped nor mapped to be written before it
        // knows of the launch.
        args.note_launch(&event);
        Ok(Event::new(event))
    }
}

/// A kernel whose accesses are checked ([`Kernel::checked`]). Usable from any thread.
///
/// * Races between its work-items, or with other launches, give any values, as everywhere in OpenCL; they reach nothing
///   but the buffers of these launches.
/// * On CPUs, a launch that takes longer than ten seconds is ended, and its event fails. The limit is
///   `CLOOM_SAFE_SECONDS`.
/// * Accesses through pointers that the kernel loads from memory are refused, and so is shared memory as an argument:
///   the host may use it at the same time.
pub struct CheckedKernel {
    kernel: Kernel,
}

impl CheckedKernel {
    /// Its name.
    pub fn name(&self) -> &str {
        self.kernel.name()
    }

    /// Runs the kernel over a range, as [`Kernel::launch`] does.
    ///
    /// # Errors
    /// As for [`Kernel::launch`]; an [`SvmBuffer`](crate::SvmBuffer) among the arguments.
    pub fn launch<A: Args>(&self, range: Range, args: A) -> Result<Event, Error> {
        self.launch_on(&self.kernel.context.queue, range, args, &[])
    }

    /// [`launch`](Self::launch) on a queue of the kernel's context, after these events.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch); a queue or events of another context.
    pub fn launch_on<A: Args>(&self, queue: &Queue, range: Range, args: A, after: &[Event]) -> Result<Event, Error> {
        self.kernel.enqueue(queue, range, args, after, true)
    }
}

impl fmt::Debug for CheckedKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckedKernel").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("name", &self.name()).finish_non_exhaustive()
    }
}
