//! Semaphores whose payload lies outside of the runtime (`cl_khr_external_semaphore`), where other contexts and other
//! processes signal it and wait for it too.
//!
//! Calls cannot pair signals and waits, as they do for semaphores of the runtime's own. A wait is therefore two
//! commands. The first one runs when all is done that the wait comes after, and asks each payload to be watched. The
//! second one, whose event the application gets, depends on the first one and on an event for each payload, which ends
//! when the watcher has taken the signal. No thread of the runtime is blocked.

use crate::graph::event::COMPLETE;
use crate::graph::execute::{Progress, finish, status};
use crate::graph::queue::ExecPolicy;
use crate::{CommandType, Event, Queue, Result, Semaphore, Status};
use std::sync::Arc;

/// Called when a signal has been taken, or never will be.
pub type Taken = Box<dyn FnOnce(Result<()>) + Send>;

/// The payload of a binary semaphore.
pub trait Payload: Send + Sync {
    /// Signals. A second signal before anyone took the first one changes nothing.
    fn signal(&self) -> Result<()>;

    /// Whether there is a signal.
    fn is_signalled(&self) -> bool;

    /// Takes a signal, now or as soon as there is one, and then calls, on any thread.
    fn take(self: Arc<Self>, taken: Taken);
}

/// The event of a signal that is to be taken. If it is dropped before, the event fails.
struct Taking(Option<Arc<Event>>);

impl Taking {
    fn end(mut self, result: Result<()>) {
        if let Some(event) = self.0.take() {
            let code = if result.is_ok() { COMPLETE } else { status(&event, result) };
            finish(&event, code);
        }
    }
}

impl Drop for Taking {
    fn drop(&mut self) {
        if let Some(event) = self.0.take() {
            finish(&event, Status::ExecStatusErrorForEventsInWaitList.code());
        }
    }
}

/// Signals the payloads among some semaphores.
pub(crate) fn signal(semaphores: &[Arc<Semaphore>]) -> Result<()> {
    semaphores.iter().filter_map(|semaphore| semaphore.payload()).try_for_each(|payload| payload.signal())
}

impl Queue {
    /// Enqueues the first command of a wait for the payloads among some semaphores. Returns what the second one waits
    /// for; nothing if there are no payloads.
    pub(crate) fn take_payloads(
        self: &Arc<Queue>,
        semaphores: &[Arc<Semaphore>],
        wait: &[Arc<Event>],
    ) -> Result<Vec<Arc<Event>>> {
        let payloads: Vec<&Arc<dyn Payload>> = semaphores.iter().filter_map(|semaphore| semaphore.payload()).collect();
        if payloads.is_empty() {
            return Ok(Vec::new());
        }
        let new_event = |_| Event::new(self.context(), None, CommandType::SemaphoreSignal);
        let mut events: Vec<Arc<Event>> = payloads.iter().map(new_event).collect();
        // Owned by the work: if it is dropped without running, each event fails, and with it the second command.
        let takings: Vec<(Arc<dyn Payload>, Taking)> =
            payloads.into_iter().cloned().zip(events.iter().map(|event| Taking(Some(event.clone())))).collect();
        let work = Box::new(move || {
            for (payload, taking) in takings {
                payload.take(Box::new(move |result| taking.end(result)));
            }
            Ok(Progress::Done)
        });
        events.push(self.enqueue_as(CommandType::SemaphoreWait, wait, ExecPolicy::Inline, None, None, work)?);
        Ok(events)
    }
}
