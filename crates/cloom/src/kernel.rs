//! Kernels and their launches. [`Kernel::launch`] is declared `unsafe`.

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
    /// (`cloom run --verify` finds invalid ones.)
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
        if self.context.has_svm() {
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

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("name", &self.name()).finish_non_exhaustive()
    }
}
