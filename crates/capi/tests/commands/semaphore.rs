//! `cl_khr_semaphore`.

#![allow(unsafe_code, reason = "it calls the C interface")]

#[path = "../common/mod.rs"]
mod common;
use common::extension::Semaphores;
use common::*;

const TYPE: u64 = 0x203D;
const BINARY: u64 = 1;
const DEVICES: u64 = 0x2053;
const PAYLOAD: u32 = 0x203C;
const INVALID_SEMAPHORE: i32 = -1142;

/// A semaphore that is released in the end.
struct Semaphore<'a> {
    h: Handle,
    x: &'a Semaphores,
}

impl Drop for Semaphore<'_> {
    fn drop(&mut self) {
        let code = self.x.clReleaseSemaphoreKHR(self.h);
        if !std::thread::panicking() {
            ok(code);
        }
    }
}

impl<'a> Semaphore<'a> {
    #[track_caller]
    fn new(t: &Session, x: &'a Semaphores) -> Semaphore<'a> {
        let mut code = 1;
        let h = x.clCreateSemaphoreWithPropertiesKHR(t.context(), [TYPE, BINARY, 0].as_ptr(), &mut code);
        ok(code);
        Semaphore { h, x }
    }

    #[track_caller]
    fn signal(&self, queue: Handle, wait: &[Handle]) -> Obj {
        let mut event = null_mut();
        let (n, list) = (wait.len() as u32, if wait.is_empty() { null() } else { wait.as_ptr() });
        ok(self.x.clEnqueueSignalSemaphoresKHR(queue, 1, &self.h, null(), n, list, &mut event));
        Obj::event(event)
    }

    #[track_caller]
    fn wait(&self, queue: Handle, wait: &[Handle]) -> Obj {
        let mut event = null_mut();
        let (n, list) = (wait.len() as u32, if wait.is_empty() { null() } else { wait.as_ptr() });
        ok(self.x.clEnqueueWaitSemaphoresKHR(queue, 1, &self.h, null(), n, list, &mut event));
        Obj::event(event)
    }

    #[track_caller]
    fn payload(&self) -> u64 {
        info(|s, v, r| self.x.clGetSemaphoreInfoKHR(self.h, PAYLOAD, s, v, r))
    }
}

#[test]
fn a_wait_may_come_long_before_its_signal() {
    let t = Session::new();
    let x = Semaphores::new(&t);
    for properties in [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let semaphore = Semaphore::new(&t, &x);
        let (producer, consumer, other) = (t.another_queue(properties), t.another_queue(properties), t.queue());
        let memory = t.buffer_of(&[1u32; 16]);
        let kernel = t.kernel("kernel void k(global uint *p) { p[get_global_id(0)] *= 3; }");
        t.arg_mem(&kernel, 0, &memory);
        let waits = semaphore.wait(consumer.h, &[]);
        let after = t.launch_on(consumer.h, &kernel, &[16], &[], &[waits.h]);
        // Other queues go on meanwhile.
        for _ in 0..50 {
            t.wait(&[&t.marker_on(other, &[])]);
        }
        assert!(t.status(&waits) > 0 && t.status(&after) > 0);
        let mut event = null_mut();
        let two = 2u32;
        let from = (&raw const two).cast();
        ok(t.clEnqueueFillBuffer(producer.h, memory.h, from, 4, 0, 64, 0, null(), &mut event));
        let filled = Obj::event(event);
        let signal = semaphore.signal(producer.h, &[filled.h]);
        t.wait(&[&after]);
        assert_eq!((t.status(&signal), t.status(&waits), semaphore.payload()), (0, 0, 0));
        assert_eq!(t.read::<u32>(&memory, 16), [6; 16]);
        let kind = |e: &Obj| info::<u32>(|s, v, r| t.clGetEventInfo(e.h, CL_EVENT_COMMAND_TYPE, s, v, r));
        assert_eq!((kind(&waits), kind(&signal)), (0x2042, 0x2043));
    }
}

#[test]
fn each_wait_is_for_the_signal_of_its_number() {
    let t = Session::new();
    let x = Semaphores::new(&t);
    let semaphore = Semaphore::new(&t, &x);
    let queues: Vec<Obj> = (0..4).map(|_| t.another_queue(0)).collect();
    let gate = t.user_event();
    let first = semaphore.signal(queues[0].h, &[gate.h]);
    let wait_first = semaphore.wait(queues[1].h, &[]);
    let second = semaphore.signal(queues[2].h, &[]);
    assert_eq!((semaphore.payload(), t.status(&second)), (1, 0));
    t.wait(&[&semaphore.wait(queues[3].h, &[])]);
    assert_eq!(semaphore.payload(), 0);
    assert!(t.status(&wait_first) > 0, "it is for the first signal");
    t.complete(&gate, CL_COMPLETE);
    t.wait(&[&first, &wait_first]);
    assert_eq!(semaphore.payload(), 0);
}

#[test]
fn a_semaphore_is_binary_and_may_be_used_again() {
    let t = Session::with(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    let x = Semaphores::new(&t);
    let (a, b) = (Semaphore::new(&t, &x), Semaphore::new(&t, &x));
    for _ in 0..100 {
        t.wait(&[&a.signal(t.queue(), &[])]);
        assert_eq!(a.payload(), 1);
        t.wait(&[&a.wait(t.queue(), &[])]);
        assert_eq!(a.payload(), 0);
    }
    // Two signals are as good as one.
    drop(a.signal(t.queue(), &[]));
    drop(a.signal(t.queue(), &[]));
    t.wait(&[&a.wait(t.queue(), &[])]);
    let second = a.wait(t.queue(), &[]);
    t.wait(&[&b.signal(t.queue(), &[])]);
    t.wait(&[&b.wait(t.queue(), &[])]);
    assert!(t.status(&second) > 0);
    t.wait(&[&a.signal(t.queue(), &[])]);
    t.wait(&[&second]);
    // Several at once: one that is missing holds up the wait.
    let both = [a.h, b.h];
    let mut event = null_mut();
    ok(x.clEnqueueWaitSemaphoresKHR(t.queue(), 2, both.as_ptr(), null(), 0, null(), &mut event));
    let both_waits = Obj::event(event);
    t.wait(&[&a.signal(t.queue(), &[])]);
    assert!(t.status(&both_waits) > 0);
    ok(x.clEnqueueSignalSemaphoresKHR(t.queue(), 1, &b.h, null(), 0, null(), null_mut()));
    t.wait(&[&both_waits]);
    assert_eq!((a.payload(), b.payload()), (0, 0));
}

#[test]
fn what_never_runs_neither_signals_nor_waits() {
    let t = Session::with(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    let x = Semaphores::new(&t);
    let a = Semaphore::new(&t, &x);
    // A wait that fails leaves the signal to the next one.
    t.wait(&[&a.signal(t.queue(), &[])]);
    let gate = t.user_event();
    let never = a.wait(t.queue(), &[gate.h]);
    t.complete(&gate, -7);
    assert_eq!((t.status(&never), a.payload()), (CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, 1));
    t.wait(&[&a.wait(t.queue(), &[])]);
    assert_eq!(a.payload(), 0);
    // A signal that fails takes its wait along, also in a long chain.
    let gate = t.user_event();
    let all: Vec<Semaphore<'_>> = (0..20_000).map(|_| Semaphore::new(&t, &x)).collect();
    let mut last = all[0].signal(t.queue(), &[gate.h]);
    for pair in all.windows(2) {
        let wait = pair[0].wait(t.queue(), &[]);
        last = pair[1].signal(t.queue(), &[wait.h]);
    }
    t.complete(&gate, -7);
    t.finish();
    assert_eq!(t.status(&last), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    let end = all.last().unwrap().wait(t.queue(), &[]);
    t.finish();
    assert_eq!(t.status(&end), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_eq!(all[5].payload(), 0);
}

#[test]
fn semaphores_have_their_codes_and_queries() {
    let t = Session::new();
    let x = Semaphores::new(&t);
    let device = t.device as u64;
    let create = |list: &[u64], e: *mut i32| x.clCreateSemaphoreWithPropertiesKHR(t.context(), list.as_ptr(), e);
    let mut c = Cases::new();
    c.new_object("no context", CL_INVALID_CONTEXT, |e| {
        x.clCreateSemaphoreWithPropertiesKHR(null_mut(), [TYPE, BINARY, 0].as_ptr(), e)
    });
    c.new_object("no list", CL_INVALID_VALUE, |e| x.clCreateSemaphoreWithPropertiesKHR(t.context(), null(), e));
    c.new_object("no type", CL_INVALID_VALUE, |e| create(&[0], e));
    c.new_object("only a device", CL_INVALID_VALUE, |e| create(&[DEVICES, device, 0, 0], e));
    c.new_object("another type", CL_INVALID_PROPERTY, |e| create(&[TYPE, 2, 0], e));
    c.new_object("another property", CL_INVALID_PROPERTY, |e| create(&[TYPE, BINARY, 0x7777, 1, 0], e));
    c.new_object("twice", CL_INVALID_PROPERTY, |e| create(&[TYPE, BINARY, TYPE], e));
    c.new_object("two devices", CL_INVALID_DEVICE, |e| create(&[TYPE, BINARY, DEVICES, device, device, 0, 0], e));
    c.new_object("no device", CL_INVALID_DEVICE, |e| create(&[TYPE, BINARY, DEVICES, 0, 0], e));
    c.new_object("a bad device", CL_INVALID_DEVICE, |e| create(&[TYPE, BINARY, DEVICES, 77, 0, 0], e));
    let list_given = [DEVICES, device, 0, TYPE, BINARY, 0];
    let mut code = 1;
    let semaphore = Semaphore { h: create(&list_given, &mut code), x: &x };
    ok(code);
    let ask = |name, s, v, r: *mut usize| x.clGetSemaphoreInfoKHR(semaphore.h, name, s, v, r);
    assert_eq!(list::<u64>(|s, v, r| ask(0x203B, s, v, r)), list_given);
    assert_eq!(info::<usize>(|s, v, r| ask(0x2039, s, v, r)), t.context() as usize);
    assert_eq!(info::<u32>(|s, v, r| ask(TYPE as u32, s, v, r)), BINARY as u32);
    assert_eq!(info::<usize>(|s, v, r| ask(DEVICES as u32, s, v, r)), t.device as usize);
    c.code("retain", 0, x.clRetainSemaphoreKHR(semaphore.h));
    assert_eq!(info::<u32>(|s, v, r| ask(0x203A, s, v, r)), 2);
    c.code("release", 0, x.clReleaseSemaphoreKHR(semaphore.h));
    c.query("semaphore", PAYLOAD, ask);
    let (q, s, none) = (t.queue(), semaphore.h, null_mut());
    let other = t.another_context();
    let foreign = Obj::queue(t.clCreateCommandQueue(other.h, t.device, 0, &mut code));
    ok(code);
    let event = Obj::event(t.clCreateUserEvent(other.h, &mut code));
    let failed = t.user_event();
    t.complete(&failed, -3);
    type Enqueue<'a> = &'a dyn Fn(Handle, u32, *const Handle, u32, *const Handle) -> i32;
    let wait: Enqueue<'_> = &|q, n, list, m, events| x.clEnqueueWaitSemaphoresKHR(q, n, list, null(), m, events, none);
    let signal: Enqueue<'_> =
        &|q, n, list, m, events| x.clEnqueueSignalSemaphoresKHR(q, n, list, null(), m, events, none);
    for (name, call) in [("wait", wait), ("signal", signal)] {
        let mut case = |what: &str, wanted, got| c.code(&format!("{name}: {what}"), wanted, got);
        case("no queue", CL_INVALID_COMMAND_QUEUE, call(null_mut(), 1, &s, 0, null()));
        case("another context", CL_INVALID_CONTEXT, call(foreign.h, 1, &s, 0, null()));
        case("no semaphores", CL_INVALID_VALUE, call(q, 0, &s, 0, null()));
        case("no list", CL_INVALID_VALUE, call(q, 1, null(), 0, null()));
        case("an event of another context", CL_INVALID_CONTEXT, call(q, 1, &s, 1, &event.h));
        case("events without list", CL_INVALID_EVENT_WAIT_LIST, call(q, 1, &s, 1, null()));
        let error = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        case("a failed event", error, call(q, 1, &s, 1, &failed.h));
        for (what, bad) in t.bad_handles(q) {
            case(what, INVALID_SEMAPHORE, call(q, 1, &bad, 0, null()));
        }
    }
    c.end();
    assert_eq!(semaphore.payload(), 0, "calls with errors change nothing");
    assert_eq!(t.device_info::<u32>(0x204C), BINARY as u32);
    assert_eq!(info::<u32>(|s, v, r| t.clGetPlatformInfo(t.platform, 0x2036, s, v, r)), BINARY as u32);
}
