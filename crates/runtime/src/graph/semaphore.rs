//! Binary semaphores (`cl_khr_semaphore`): a wait in one queue for a signal in another.
//!
//! The calls that enqueue signals and waits pair them: the n-th wait is for the n-th signal, whichever of the two is
//! enqueued first, and whenever they run. A pair has an event of its own ([`Gate`]), which ends like that of the signal
//! and for which the wait is enqueued to wait. So waits are edges of the graph of events: no thread is blocked, other
//! queues go on, and calls never wait for the semaphore to become free. If a signal fails, so does its wait.
//!
//! A second signal without a wait in between leaves a binary semaphore as it is: it belongs to the same pair.
//!
//! A semaphore with a payload outside has no pairs: `external_semaphore.rs`.

use crate::graph::event::Edge;
use crate::graph::execute::{Command, Progress, start};
use crate::graph::external_semaphore::{self, Payload};
use crate::graph::queue::ExecPolicy;
use crate::status::{bail, ensure};
use crate::{CommandType, Context, Device, Event, ExternalSlot, Queue, Result};
use cloom_hal::lock::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A pair of a signal and a wait.
struct Gate {
    /// Ends after the event of the signal, in the same way.
    event: Arc<Event>,
    /// Whether the signal has run and the wait has not.
    is_signalled: AtomicBool,
}

impl Gate {
    /// The signal has this event.
    fn follow(&self, signal: &Event) {
        // It does nothing, but it fails if the signal fails, and then so does the wait.
        let command = Command::new(self.event.clone(), None, Box::new(|| Ok(Progress::Done)), None);
        command.wait_for(Edge::Wait, signal);
        if command.release() {
            start(command);
        }
    }
}

#[derive(Default)]
struct State {
    /// The pair of a signal that no wait has been enqueued for.
    signal: Option<Arc<Gate>>,
    /// The pairs of waits that no signal has been enqueued for, the first one first.
    waits: VecDeque<Arc<Gate>>,
    /// The pairs whose wait has not run.
    pairs: Vec<Arc<Gate>>,
}

impl State {
    fn add(&mut self, context: &Arc<Context>) -> Arc<Gate> {
        let gate = Arc::new(Gate {
            event: Event::new(context, None, CommandType::SemaphoreSignal),
            is_signalled: AtomicBool::new(false),
        });
        self.pairs.push(gate.clone());
        gate
    }
}

/// A binary semaphore.
pub struct Semaphore {
    /// What the interface keeps.
    pub external: ExternalSlot,
    /// What the interface keeps of a semaphore that can be exported.
    pub handle: ExternalSlot,
    context: Arc<Context>,
    devices: Vec<Arc<Device>>,
    properties: Vec<u64>,
    /// The payload, if other processes share it.
    payload: Option<Arc<dyn Payload>>,
    state: Mutex<State>,
}

impl Semaphore {
    // OpenCL 3.0 API, Creating Semaphores.
    /// A semaphore that is not signalled, for a device or, if none is named, for the only one of the context.
    /// `properties` is the list as given, for the query; `payload` is one outside of the runtime.
    pub fn new(
        context: &Arc<Context>,
        device: Option<Arc<Device>>,
        properties: Vec<u64>,
        payload: Option<Arc<dyn Payload>>,
    ) -> Result<Arc<Semaphore>> {
        let devices = match device {
            Some(device) => {
                ensure!(context.index_of(&device).is_some(), InvalidDevice, "the device is not of this context");
                vec![device]
            }
            None => {
                let count = context.devices().len();
                ensure!(count == 1, InvalidProperty, "the context has {count} devices: one of them must be named");
                context.devices().to_vec()
            }
        };
        Ok(Arc::new(Semaphore {
            external: ExternalSlot::default(),
            handle: ExternalSlot::default(),
            context: context.clone(),
            devices,
            properties,
            payload,
            state: Mutex::default(),
        }))
    }

    /// The context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The devices whose queues may use it.
    pub fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// The properties as the application gave them.
    pub fn properties(&self) -> &[u64] {
        &self.properties
    }

    /// Its payload, if that is outside of the runtime.
    pub(crate) fn payload(&self) -> Option<&Arc<dyn Payload>> {
        self.payload.as_ref()
    }

    /// Whether it is signalled.
    pub fn is_signalled(&self) -> bool {
        if let Some(payload) = &self.payload {
            return payload.is_signalled();
        }
        self.state.lock().pairs.iter().any(|gate| gate.is_signalled.load(Ordering::Acquire))
    }

    /// The pair of a new signal.
    fn next_signal(&self) -> Arc<Gate> {
        let mut state = self.state.lock();
        // The oldest wait that has no signal yet: pairs are made in the order of the calls.
        if let Some(gate) = state.waits.pop_front() {
            return gate;
        }
        match &state.signal {
            Some(gate) => gate.clone(),
            None => {
                let gate = state.add(&self.context);
                state.signal.insert(gate).clone()
            }
        }
    }

    /// The pair of a new wait.
    fn next_wait(&self) -> Arc<Gate> {
        let mut state = self.state.lock();
        state.signal.take().unwrap_or_else(|| {
            let gate = state.add(&self.context);
            state.waits.push_back(gate.clone());
            gate
        })
    }

    /// A wait has run. If it never will (`!ran`), its signal is left to the next wait.
    fn end_wait(&self, gate: &Arc<Gate>, ran: bool) {
        let mut state = self.state.lock();
        let is_this = |known: &Arc<Gate>| Arc::ptr_eq(known, gate);
        // A wait that could not be enqueued must not take the next signal.
        let unmatched = state.waits.iter().position(is_this).and_then(|at| state.waits.remove(at));
        // The wait failed, but its signal has been enqueued: the next wait is paired with it.
        if !ran && unmatched.is_none() && state.signal.is_none() && state.waits.is_empty() {
            state.signal = Some(gate.clone());
            return;
        }
        let at = state.pairs.iter().position(is_this);
        let gone = at.map(|at| state.pairs.swap_remove(at));
        drop(state);
        // Without the lock, as a gate may hold the last reference to an event.
        drop((unmatched, gone));
    }
}

/// The waits of a command that has not run.
struct Waits(Vec<(Arc<Semaphore>, Arc<Gate>)>);

impl Waits {
    fn end(&mut self, ran: bool) {
        for (semaphore, gate) in self.0.drain(..) {
            semaphore.end_wait(&gate, ran);
        }
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        self.end(false);
    }
}

impl Queue {
    // OpenCL 3.0 API, Waiting On and Signaling Semaphores.
    fn check_semaphores(&self, semaphores: &[Arc<Semaphore>], wait: &[Arc<Event>]) -> Result<()> {
        ensure!(!semaphores.is_empty(), InvalidValue, "there are no semaphores");
        for semaphore in semaphores {
            let same = Arc::ptr_eq(semaphore.context(), self.context());
            ensure!(same, InvalidContext, "a semaphore is of another context than the queue");
            let known = semaphore.devices().iter().any(|device| Arc::ptr_eq(device, self.device()));
            ensure!(known, InvalidCommandQueue, "a semaphore is not for the queue's device");
        }
        self.check_wait_list(wait)?;
        // The specification gives this error for both calls when the event has failed before the call.
        if wait.iter().any(|event| event.status() < 0) {
            bail!(ExecStatusErrorForEventsInWaitList, "an event of the wait list has failed");
        }
        Ok(())
    }

    /// Signals semaphores when the wait list has ended.
    pub fn signal_semaphores(
        self: &Arc<Queue>,
        semaphores: &[Arc<Semaphore>],
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_semaphores(semaphores, wait)?;
        let inside = semaphores.iter().filter(|semaphore| semaphore.payload.is_none());
        // The wait list has been checked, so that enqueuing cannot fail below and leave these pairs without a signal.
        let gates: Vec<Arc<Gate>> = inside.map(|semaphore| semaphore.next_signal()).collect();
        let (signalled, semaphores) = (gates.clone(), semaphores.to_vec());
        let work = Box::new(move || {
            external_semaphore::signal(&semaphores)?;
            signalled.iter().for_each(|gate| gate.is_signalled.store(true, Ordering::Release));
            Ok(Progress::Done)
        });
        let event = self.enqueue_as(CommandType::SemaphoreSignal, wait, ExecPolicy::Inline, None, None, work)?;
        // Only now, because the signal's event does not exist before it is enqueued.
        gates.iter().for_each(|gate| gate.follow(&event));
        Ok(event)
    }

    /// Ends when the wait list has ended and all semaphores have been signalled; then they are not any more.
    pub fn wait_semaphores(
        self: &Arc<Queue>,
        semaphores: &[Arc<Semaphore>],
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_semaphores(semaphores, wait)?;
        let outside = self.take_payloads(semaphores, wait)?;
        let inside = semaphores.iter().filter(|semaphore| semaphore.payload.is_none());
        let mut waits = Waits(inside.map(|semaphore| (semaphore.clone(), semaphore.next_wait())).collect());
        let mut all = wait.to_vec();
        all.extend(outside);
        all.extend(waits.0.iter().map(|(_, gate)| gate.event.clone()));
        // If the work is dropped without running, because the wait list failed, `Waits` gives the signals back.
        let work = Box::new(move || {
            waits.end(true);
            Ok(Progress::Done)
        });
        self.enqueue_as(CommandType::SemaphoreWait, &all, ExecPolicy::Inline, None, None, work)
    }
}
