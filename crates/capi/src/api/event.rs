//! Events, markers and barriers.

use super::{fail, give, wait_list};
use crate::args::{In, Out, OutBytes, UserData};
use crate::callback::{self, EventNotify};
use crate::cl;
use crate::handle::{self, Handle};
use crate::info::Info;
use cloom_runtime::{Context, Event, Queue, Result, Status};
use std::sync::Arc;

/// The events of a call whose only arguments they are.
fn events(count: u32, list: In<Handle<Event>>) -> Result<Vec<Arc<Event>>> {
    match super::list(count, list)? {
        Some(events) => Ok(events),
        None => fail(Status::InvalidValue, "there are no events"),
    }
}

// OpenCL 3.0 API, 5.11: Event Objects.
pub fn wait(count: u32, list: In<Handle<Event>>) -> Result<()> {
    Event::wait_all(&events(count, list)?)
}

// OpenCL 3.0 API, 5.11: Event Objects.
pub fn info(event: Handle<Event>, name: u32, size: usize, value: OutBytes, size_ret: Out<usize>) -> Result<()> {
    let object = event.get()?;
    let info = Info::new(size, value, size_ret);
    match name {
        cl::EVENT_COMMAND_QUEUE => info.value(object.queue().map(handle::borrow).transpose()?.unwrap_or(Handle::NULL)),
        cl::EVENT_COMMAND_TYPE => info.value(object.command() as u32),
        cl::EVENT_REFERENCE_COUNT => info.value(event.references()?),
        cl::EVENT_COMMAND_EXECUTION_STATUS => info.value(object.asked_status()),
        cl::EVENT_CONTEXT => info.value(handle::borrow(object.context())?),
        _ => info.unknown(name),
    }
    .map(drop)
}

// OpenCL 3.0 API, 5.14: Profiling Operations on Memory Objects and Kernels.
pub fn profiling(event: Handle<Event>, name: u32, size: usize, value: OutBytes, size_ret: Out<usize>) -> Result<()> {
    let object = event.get()?;
    let info = Info::new(size, value, size_ret);
    let time = match name {
        cl::PROFILING_COMMAND_QUEUED => |p: cloom_runtime::Profiling| p.queued,
        cl::PROFILING_COMMAND_SUBMIT => |p: cloom_runtime::Profiling| p.submit,
        cl::PROFILING_COMMAND_START => |p: cloom_runtime::Profiling| p.start,
        cl::PROFILING_COMMAND_END => |p: cloom_runtime::Profiling| p.end,
        cl::PROFILING_COMMAND_COMPLETE => |p: cloom_runtime::Profiling| p.complete,
        _ => return info.unknown(name).map(drop),
    };
    info.value(time(object.profiling()?)).map(drop)
}

// OpenCL 3.0 API, 5.11: Event Objects.
pub fn create_user(context: Handle<Context>) -> Result<Handle<Event>> {
    handle::create(Event::user(&context.get()?))
}

// OpenCL 3.0 API, 5.11: Event Objects.
pub fn set_user_status(event: Handle<Event>, status: i32) -> Result<()> {
    event.get()?.set_user_status(status)
}

// OpenCL 3.0 API, 5.11: Event Objects.
pub fn set_callback(event: Handle<Event>, status: i32, notify: Option<EventNotify>, user_data: UserData) -> Result<()> {
    let object = event.get()?;
    object.on_status(status, callback::event(event, callback::needed(notify)?, user_data))
}

// OpenCL 3.0 API, 5.12: Markers, Barriers and Waiting for Events.
pub fn marker(queue: Handle<Queue>, event: Out<Handle<Event>>) -> Result<()> {
    let queue = queue.get()?;
    if event.is_null() {
        return fail(Status::InvalidValue, "the place for the event is NULL");
    }
    give(queue.marker(&[])?, event)
}

// OpenCL 3.0 API, 5.12: Markers, Barriers and Waiting for Events.
pub fn marker_with_list(
    queue: Handle<Queue>,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    give(queue.get()?.marker(&wait_list(count, list)?)?, event)
}

// OpenCL 3.0 API, 5.12: Markers, Barriers and Waiting for Events.
pub fn barrier(queue: Handle<Queue>) -> Result<()> {
    queue.get()?.barrier(&[]).map(drop)
}

// OpenCL 3.0 API, 5.12: Markers, Barriers and Waiting for Events.
pub fn barrier_with_list(
    queue: Handle<Queue>,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    give(queue.get()?.barrier(&wait_list(count, list)?)?, event)
}

// OpenCL 3.0 API, 5.12: Markers, Barriers and Waiting for Events.
/// `clEnqueueWaitForEvents`: later commands wait for the events.
pub fn queue_waits(queue: Handle<Queue>, count: u32, list: In<Handle<Event>>) -> Result<()> {
    queue.get()?.barrier(&events(count, list)?).map(drop)
}
