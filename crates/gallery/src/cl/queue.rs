//! Further queues of a session, whose commands do not block the host: transfers that overlap with kernels, and commands
//! that wait for those of other queues by their events.
//!
//! A transfer owns the host's memory until it is done, so that no command ever sees memory that is gone: what is
//! uploaded goes in by value and comes back from [`Transfer::wait`].

use super::{Arg, Buffer, Kernel, Plain, Session, create_queue};
use crate::error::{Error, Result};
use opencl3::command_queue::{CL_QUEUE_PROFILING_ENABLE, CommandQueue};
use opencl3::event::Event;
use opencl3::memory::{self, ClMem};
use opencl3::types::{CL_NON_BLOCKING, cl_event};
use std::sync::Arc;
use std::time::Duration;

/// An in-order queue on the session's device.
pub struct Queue<'s> {
    pub(super) session: &'s Session,
    pub(super) queue: CommandQueue,
}

/// A command that has been enqueued.
#[derive(Clone)]
pub struct Done(pub(super) Arc<Event>);

impl Done {
    /// Whether both are the same command.
    pub fn is(&self, other: &Done) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Waits for the command.
    pub fn wait(&self) -> Result<()> {
        self.0.wait().map_err(Error::call("clWaitForEvents"))
    }

    /// When it started and ended, on the device's clock, once it is complete. The error of the command if it failed.
    pub fn span(&self) -> Result<(Duration, Duration)> {
        let status = self.0.command_execution_status().map_err(Error::call("clGetEventInfo"))?;
        if status.0 < 0 {
            return Err(Error::call("clEnqueueNDRangeKernel")(opencl3::error_codes::ClError(status.0)));
        }
        let at = |time: std::result::Result<u64, _>| time.map_err(Error::call("clGetEventProfilingInfo"));
        let (start, end) = (at(self.0.profiling_command_start())?, at(self.0.profiling_command_end())?);
        Ok((Duration::from_nanos(start), Duration::from_nanos(end)))
    }
}

/// A transfer between a buffer and the host's memory, which it owns.
pub struct Transfer<T> {
    data: Vec<T>,
    done: Done,
}

impl<T> Transfer<T> {
    /// The event that others wait for.
    pub fn done(&self) -> &Done {
        &self.done
    }

    /// Waits for it, and gives the memory back.
    pub fn wait(mut self) -> Result<Vec<T>> {
        self.done.wait()?;
        Ok(std::mem::take(&mut self.data))
    }
}

impl<T> Drop for Transfer<T> {
    fn drop(&mut self) {
        // The memory must outlive the command; one that failed does not touch it any more.
        let _ = self.done.0.wait();
    }
}

pub(super) fn handles(after: &[&Done]) -> Vec<cl_event> {
    after.iter().map(|d| d.0.get()).collect()
}

impl Session {
    /// One more in-order queue on the device.
    pub fn queue(&self) -> Result<Queue<'_>> {
        Ok(Queue { session: self, queue: create_queue(&self.context, &self.found, CL_QUEUE_PROFILING_ENABLE)? })
    }
}

impl Queue<'_> {
    /// Writes all of `data` to the buffer from element `first` on, after the commands `after`.
    pub fn write<T: Plain>(
        &self,
        buffer: &Buffer<T>,
        first: usize,
        data: Vec<T>,
        after: &[&Done],
    ) -> Result<Transfer<T>> {
        check(buffer, first, data.len())?;
        // opencl3 asks for an exclusive buffer because the device writes to it; the handle itself does not change.
        let mut alias = std::mem::ManuallyDrop::new(memory::Buffer::<T>::new(buffer.memory.get()));
        let offset = first * size_of::<T>();
        // SAFETY: the transfer owns the data and waits for the command before it lets go of them; a vector that is
        // moved keeps its elements in place.
        let event =
            unsafe { self.queue.enqueue_write_buffer(&mut alias, CL_NON_BLOCKING, offset, &data, &handles(after)) };
        let event = event.map_err(Error::call("clEnqueueWriteBuffer"))?;
        Ok(Transfer { data, done: Done(Arc::new(event)) })
    }

    /// Reads elements of the buffer, from `first` on, over all of `into`, after the commands `after`.
    pub fn read<T: Plain>(
        &self,
        buffer: &Buffer<T>,
        first: usize,
        mut into: Vec<T>,
        after: &[&Done],
    ) -> Result<Transfer<T>> {
        check(buffer, first, into.len())?;
        let offset = first * size_of::<T>();
        // SAFETY: the transfer owns the vector and waits for the command before it lets go of it; any bits are a value
        // of a plain type.
        let event = unsafe {
            self.queue.enqueue_read_buffer(&buffer.memory, CL_NON_BLOCKING, offset, &mut into, &handles(after))
        };
        let event = event.map_err(Error::call("clEnqueueReadBuffer"))?;
        Ok(Transfer { data: into, done: Done(Arc::new(event)) })
    }

    /// Enqueues a kernel after the commands `after`. An empty offset is none; an empty local size leaves the choice to
    /// the platform.
    pub fn launch(
        &self,
        kernel: &Kernel,
        args: &[Arg],
        [offset, global, local]: [&[usize]; 3],
        after: &[&Done],
    ) -> Result<Done> {
        self.session.set_args(kernel, args)?;
        self.session.check_shape(kernel, global, local)?;
        if !offset.is_empty() && offset.len() != global.len() {
            return Err(Error::Params(format!("an offset {offset:?} of a range {global:?}")));
        }
        let done = Done(Arc::new(super::enqueue(&self.queue, kernel, [offset, global, local], &handles(after))?));
        // The session adds up the times of kernels on all of its queues.
        self.session.events.borrow_mut().push(done.clone());
        Ok(done)
    }

    /// Sends what was enqueued to the device.
    pub fn flush(&self) -> Result<()> {
        self.queue.flush().map_err(Error::call("clFlush"))
    }

    /// Waits for everything enqueued.
    pub fn finish(&self) -> Result<()> {
        self.queue.finish().map_err(Error::call("clFinish"))
    }
}

pub(super) fn check<T: Plain>(buffer: &Buffer<T>, first: usize, len: usize) -> Result<()> {
    if len == 0 || first.checked_add(len).is_none_or(|end| end > buffer.len()) {
        return Err(Error::Params(format!("{len} elements from {first} on of a buffer of {}", buffer.len())));
    }
    Ok(())
}
