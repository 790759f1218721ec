//! Elements that go from a buffer of one session to a buffer of another one, of whatever platforms these are, without
//! the host waiting in between.
//!
//! Within a context, that is a copy. Events of one context mean nothing to another one: there, the read of one device
//! is followed by a callback, which sets a user event of the other context, for which the write waits:
//!
//! ```text
//! read on a queue of `from` ──▶ callback ──▶ user event ──▶ write on a queue of `to`
//! ```

use super::queue::{Done, Queue, check, handles};
use super::{Buffer, Plain};
use crate::error::{Error, Result};
use opencl3::error_codes::ClError;
use opencl3::event::{CL_COMPLETE, Event, create_user_event, set_user_event_status};
use opencl3::memory::{self, ClMem};
use opencl3::types::{CL_NON_BLOCKING, cl_event, cl_int};
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::sync::Arc;

/// A transfer between two buffers.
pub struct Relay<T> {
    // Both commands use it, one after the other; a copy does not.
    _data: Vec<T>,
    read: Done,
    written: Done,
}

impl<T> Relay<T> {
    /// The event of the write, for commands of the session that it goes to.
    pub fn written(&self) -> &Done {
        &self.written
    }

    /// Waits until the elements have arrived.
    pub fn wait(&self) -> Result<()> {
        self.written.wait()
    }
}

impl<T> Drop for Relay<T> {
    fn drop(&mut self) {
        // The memory must outlive both commands; those that failed do not touch it any more.
        let _ = (self.read.wait(), self.written.wait());
    }
}

/// Tells the other context how the read ended, and lets go of the event.
extern "C" fn pass_on(_: cl_event, status: cl_int, gate: *mut c_void) {
    // SAFETY: it is what `relay` passed on, once.
    let gate = unsafe { Arc::from_raw(gate.cast_const().cast::<Event>()) };
    // A callback can tell nobody; the write then fails or waits, which its event shows.
    let _ = set_user_event_status(gate.get(), if status < 0 { status } else { CL_COMPLETE });
}

/// Brings `len` elements from one buffer to another one, after the commands `after` of the first one's session and
/// `into_after` of the second one's. Both queues are flushed, since neither platform knows of the other one's events.
pub fn relay<T: Plain>(
    (from, source, first): (&Queue<'_>, &Buffer<T>, usize),
    (to, target, at): (&Queue<'_>, &Buffer<T>, usize),
    len: usize,
    after: &[&Done],
    into_after: &[&Done],
) -> Result<Relay<T>> {
    check(source, first, len)?;
    check(target, at, len)?;
    if Arc::ptr_eq(&from.session.context, &to.session.context) {
        return copy((from, source, first), (to, target, at), len, [after, into_after].concat());
    }
    let size = size_of::<T>();
    let mut data = vec![T::default(); len];
    let gate = create_user_event(to.session.context.get()).map_err(|e| Error::call("clCreateUserEvent")(ClError(e)))?;
    let gate = Arc::new(Event::new(gate));
    // SAFETY: the relay owns the data and waits for both commands before it lets go of them; any bits are a value of a
    // plain type.
    let read = unsafe {
        from.queue.enqueue_read_buffer(&source.memory, CL_NON_BLOCKING, first * size, &mut data, &handles(after))
    };
    let read = Done(Arc::new(read.map_err(Error::call("clEnqueueReadBuffer"))?));
    let mut waits = handles(into_after);
    waits.push(gate.get());
    let mut alias = ManuallyDrop::new(memory::Buffer::<T>::new(target.memory.get()));
    // SAFETY: the relay owns the data and waits for both commands before it lets go of them. The read has written the
    // data when the gate opens.
    let written = unsafe { to.queue.enqueue_write_buffer(&mut alias, CL_NON_BLOCKING, at * size, &data, &waits) };
    let written = match written {
        Ok(event) => Done(Arc::new(event)),
        Err(e) => {
            // The data must not go before the read is done.
            let _ = read.wait();
            return Err(Error::call("clEnqueueWriteBuffer")(e));
        }
    };
    let passed = Arc::into_raw(gate.clone()).cast_mut().cast::<c_void>();
    if let Err(e) = read.0.set_callback(CL_COMPLETE, pass_on, passed) {
        // SAFETY: no callback has been registered that would take it.
        drop(unsafe { Arc::from_raw(passed.cast_const().cast::<Event>()) });
        let _ = read.wait();
        let _ = set_user_event_status(gate.get(), e.0.min(-1));
        return Err(Error::call("clSetEventCallback")(e));
    }
    let relay = Relay { _data: data, read, written };
    from.flush()?;
    to.flush()?;
    Ok(relay)
}

/// The same within a context.
fn copy<T: Plain>(
    (from, source, first): (&Queue<'_>, &Buffer<T>, usize),
    (to, target, at): (&Queue<'_>, &Buffer<T>, usize),
    len: usize,
    after: Vec<&Done>,
) -> Result<Relay<T>> {
    let [first, at, len] = [first, at, len].map(|elements| elements * size_of::<T>());
    let mut alias = ManuallyDrop::new(memory::Buffer::<T>::new(target.memory.get()));
    // SAFETY: both ranges have been checked, and OpenCL keeps the buffers until the command has ended.
    let copied = unsafe { to.queue.enqueue_copy_buffer(&source.memory, &mut alias, first, at, len, &handles(&after)) };
    let copied = Done(Arc::new(copied.map_err(Error::call("clEnqueueCopyBuffer"))?));
    from.flush()?;
    to.flush()?;
    Ok(Relay { _data: Vec::new(), read: copied.clone(), written: copied })
}
