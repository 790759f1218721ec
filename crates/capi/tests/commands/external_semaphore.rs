//! `cl_khr_external_semaphore` with descriptors (`cl_khr_external_semaphore_opaque_fd`): between contexts, queues and
//! processes.

#![allow(clippy::print_stdout, reason = "processes tell each other by their output")]
#![allow(unsafe_code, reason = "it calls the C interface")]

#[path = "../common/mod.rs"]
mod common;
use common::extension::Semaphores;
use common::*;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::{Command, Stdio};
use std::time::Duration;

const PART: &str = "CLOOM_TEST_PART";
const TYPE: u64 = 0x203D;
const BINARY: u64 = 1;
const DEVICES: u64 = 0x2053;
const EXPORTS: u64 = 0x203F;
const OPAQUE_FD: u64 = 0x2055;
const SYNC_FD: u64 = 0x2058;
const PAYLOAD: u32 = 0x203C;
const INVALID_SEMAPHORE: i32 = -1142;

type GetHandle = unsafe extern "C" fn(Handle, Handle, u32, usize, Handle, *mut usize) -> i32;

/// Semaphores, and the function that exports them.
struct External {
    x: Semaphores,
    get: GetHandle,
}

impl External {
    fn new(t: &Session) -> External {
        let name = c"clGetSemaphoreHandleForTypeKHR";
        let address = t.clGetExtensionFunctionAddressForPlatform(t.platform, name.as_ptr());
        assert!(!address.is_null());
        // SAFETY: that is its signature in the specification.
        External { x: Semaphores::new(t), get: unsafe { std::mem::transmute::<Handle, GetHandle>(address) } }
    }

    #[track_caller]
    fn create(&self, context: Handle, properties: &[u64]) -> Semaphore<'_> {
        let mut code = 1;
        let h = self.x.clCreateSemaphoreWithPropertiesKHR(context, properties.as_ptr(), &mut code);
        ok(code);
        Semaphore { h, x: &self.x }
    }

    fn exportable(&self, t: &Session) -> Semaphore<'_> {
        self.create(t.context(), &[TYPE, BINARY, EXPORTS, OPAQUE_FD, 0, 0])
    }

    #[track_caller]
    fn export(&self, t: &Session, semaphore: &Semaphore<'_>) -> OwnedFd {
        let (mut fd, mut size) = (-1i32, 0);
        let at = (&raw mut fd).cast();
        // SAFETY: room for a descriptor and a size.
        ok(unsafe { (self.get)(semaphore.h, t.device, OPAQUE_FD as u32, 4, at, &mut size) });
        assert!(fd >= 0 && size == 4);
        // SAFETY: the descriptor is the caller's now.
        unsafe { OwnedFd::from_raw_fd(fd) }
    }

    /// Another semaphore of the same payload. The descriptor goes over to it.
    #[track_caller]
    fn import(&self, context: Handle, fd: OwnedFd) -> Semaphore<'_> {
        let semaphore = self.create(context, &[TYPE, BINARY, OPAQUE_FD, fd.as_raw_fd() as u64, 0]);
        std::mem::forget(fd);
        semaphore
    }
}

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

impl Semaphore<'_> {
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

    fn info(&self, name: u32) -> Vec<u32> {
        list::<u32>(|s, v, r| self.x.clGetSemaphoreInfoKHR(self.h, name, s, v, r))
    }
}

fn status(t: &Session, event: &Obj) -> i32 {
    info(|s, v, r| t.clGetEventInfo(event.h, CL_EVENT_COMMAND_EXECUTION_STATUS, s, v, r))
}

#[test]
fn semaphores_of_two_contexts_are_one() {
    let t = Session::new();
    let x = External::new(&t);
    for name in [0x204D, 0x204E] {
        assert_eq!(list::<u32>(|s, v, r| t.clGetDeviceInfo(t.device, name, s, v, r)), [OPAQUE_FD as u32]);
    }
    for name in [0x2037, 0x2038] {
        assert_eq!(list::<u32>(|s, v, r| t.clGetPlatformInfo(t.platform, name, s, v, r)), [OPAQUE_FD as u32]);
    }
    let other = t.another_context();
    let mut code = 1;
    let queue = Obj::queue(t.clCreateCommandQueue(other.h, t.device, 0, &mut code));
    ok(code);
    let first = x.exportable(&t);
    assert_eq!((first.info(0x2054), first.info(0x203F)), (vec![1], vec![OPAQUE_FD as u32]));
    let second = x.import(other.h, x.export(&t, &first));
    assert_eq!((second.info(0x2054), second.info(0x203F)), (vec![0], vec![]));
    assert_eq!((first.payload(), second.payload()), (0, 0));
    // A signal before the wait.
    t.wait(&[&first.signal(t.queue(), &[])]);
    assert_eq!((first.payload(), second.payload()), (1, 1));
    t.wait(&[&second.wait(queue.h, &[])]);
    assert_eq!((first.payload(), second.payload()), (0, 0));
    // Waits before the signal: each takes one signal, and two signals without a wait between are one.
    let waits = [second.wait(queue.h, &[]), second.wait(queue.h, &[])];
    ok(t.clFlush(queue.h));
    std::thread::sleep(Duration::from_millis(20));
    assert!(waits.iter().all(|wait| status(&t, wait) > CL_COMPLETE));
    t.wait(&[&first.signal(t.queue(), &[])]);
    t.wait(&[&waits[0]]);
    std::thread::sleep(Duration::from_millis(20));
    assert!(status(&t, &waits[1]) > CL_COMPLETE);
    t.wait(&[&first.signal(t.queue(), &[])]);
    t.wait(&[&waits[1]]);
    // What comes after a wait in a queue waits; commands of other queues do not.
    let gate = t.user_event();
    drop(first.signal(t.queue(), &[gate.h]));
    let wait = second.wait(queue.h, &[]);
    let mut after = null_mut();
    ok(t.clEnqueueMarkerWithWaitList(queue.h, 0, null(), &mut after));
    let after = Obj::event(after);
    let elsewhere = t.another_queue(0);
    ok(t.clFinish(elsewhere.h));
    assert!(status(&t, &after) > CL_COMPLETE);
    t.complete(&gate, CL_COMPLETE);
    t.wait(&[&after]);
    assert_eq!(status(&t, &wait), CL_COMPLETE);
    // A semaphore that is shared and one that is not, in one call.
    let own = x.create(t.context(), &[TYPE, BINARY, 0]);
    let both = [first.h, own.h];
    ok(x.x.clEnqueueSignalSemaphoresKHR(t.queue(), 2, both.as_ptr(), null(), 0, null(), null_mut()));
    ok(x.x.clEnqueueWaitSemaphoresKHR(t.queue(), 2, both.as_ptr(), null(), 0, null(), null_mut()));
    t.finish();
    assert_eq!((first.payload(), own.payload()), (0, 0));
}

#[test]
fn a_wait_whose_list_fails_takes_no_signal() {
    let t = Session::new();
    let x = External::new(&t);
    let semaphore = x.exportable(&t);
    t.wait(&[&semaphore.signal(t.queue(), &[])]);
    let gate = t.user_event();
    let out_of_order = t.another_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    let wait = semaphore.wait(out_of_order.h, &[gate.h]);
    t.complete(&gate, -7);
    assert_eq!(t.clWaitForEvents(1, &wait.h), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_eq!(semaphore.payload(), 1);
    t.wait(&[&semaphore.wait(out_of_order.h, &[])]);
    assert_eq!(semaphore.payload(), 0);
    // A signal that fails is none.
    let gate = t.user_event();
    let signal = semaphore.signal(out_of_order.h, &[gate.h]);
    t.complete(&gate, -7);
    assert_eq!(t.clWaitForEvents(1, &signal.h), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_eq!(semaphore.payload(), 0);
}

/// Imports the semaphore that standard input is, and waits for it.
#[test]
fn the_part_of_a_child() {
    if std::env::var(PART).as_deref() != Ok("wait") {
        return;
    }
    let t = Session::new();
    let x = External::new(&t);
    let semaphore = x.create(t.context(), &[TYPE, BINARY, OPAQUE_FD, 0, 0]);
    let kernel = t.kernel("kernel void k(global int *p) { p[0] = 42; }");
    let buffer = t.buffer_of(&[0i32]);
    t.arg_mem(&kernel, 0, &buffer);
    let wait = semaphore.wait(t.queue(), &[]);
    let event = t.launch_on(t.queue(), &kernel, &[1], &[1], &[]);
    println!("|waits {}", status(&t, &wait) > CL_COMPLETE && status(&t, &event) > CL_COMPLETE);
    println!("|has {}", t.read::<i32>(&buffer, 1)[0]);
}

#[test]
fn another_process_waits_for_a_signal() {
    let t = Session::new();
    let x = External::new(&t);
    let semaphore = x.exportable(&t);
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_part_of_a_child", "--nocapture", "--test-threads=1"])
        .env(PART, "wait")
        .stdin(Stdio::from(x.export(&t, &semaphore)))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || {
        let line = told.find_map(|line| line.unwrap().split_once('|').map(|(_, text)| text.to_owned()));
        line.expect("a line")
    };
    assert_eq!(next(), "waits true");
    drop(semaphore.signal(t.queue(), &[]));
    t.finish();
    assert_eq!(next(), "has 42");
    assert!(child.wait().unwrap().success());
    assert_eq!(semaphore.payload(), 0);
}

/// What any program can signal and wait for: the descriptor is one of `eventfd`.
#[test]
fn a_program_without_opencl_signals_and_waits() {
    let t = Session::new();
    let x = External::new(&t);
    let semaphore = x.exportable(&t);
    let mut file = File::from(x.export(&t, &semaphore));
    let wait = semaphore.wait(t.queue(), &[]);
    file.write_all(&1u64.to_ne_bytes()).unwrap();
    t.wait(&[&wait]);
    t.wait(&[&semaphore.signal(t.queue(), &[])]);
    let mut count = [0; 8];
    file.read_exact(&mut count).unwrap();
    assert_eq!((u64::from_ne_bytes(count), semaphore.payload()), (1, 0));
}

#[test]
fn bad_arguments_have_their_codes() {
    let t = Session::new();
    let x = External::new(&t);
    let mut c = Cases::new();
    let semaphore = x.exportable(&t);
    let own = x.create(t.context(), &[TYPE, BINARY, 0]);
    let file = File::open("/dev/null").unwrap();
    let fd = x.export(&t, &semaphore);
    let number = fd.as_raw_fd() as u64;
    for (what, list, wanted) in [
        ("two types", &[TYPE, BINARY, EXPORTS, OPAQUE_FD, OPAQUE_FD, 0, 0][..], CL_INVALID_VALUE),
        ("an unknown type", &[TYPE, BINARY, EXPORTS, SYNC_FD, 0, 0], CL_INVALID_PROPERTY),
        ("both ways", &[TYPE, BINARY, OPAQUE_FD, number, EXPORTS, OPAQUE_FD, 0, 0], CL_INVALID_OPERATION),
        ("two handles", &[TYPE, BINARY, OPAQUE_FD, number, OPAQUE_FD, number, 0], CL_INVALID_PROPERTY),
        ("a handle of another type", &[TYPE, BINARY, SYNC_FD, number, 0], CL_INVALID_PROPERTY),
        ("a file", &[TYPE, BINARY, OPAQUE_FD, file.as_raw_fd() as u64, 0], CL_INVALID_PROPERTY),
        ("no descriptor", &[TYPE, BINARY, OPAQUE_FD, 99_999, 0], CL_INVALID_PROPERTY),
        ("descriptor -1", &[TYPE, BINARY, OPAQUE_FD, u64::MAX, 0], CL_INVALID_PROPERTY),
        ("no device", &[TYPE, BINARY, DEVICES, 0, OPAQUE_FD, number, 0], CL_INVALID_DEVICE),
    ] {
        c.new_object(what, wanted, |e| x.x.clCreateSemaphoreWithPropertiesKHR(t.context(), list.as_ptr(), e));
    }
    // The failures have left the descriptor to the application.
    assert_eq!(x.import(t.context(), fd).payload(), 0);
    let mut fd = 77i32;
    let at: Handle = (&raw mut fd).cast();
    let mut size = 0;
    // SAFETY: room for a descriptor, or a size that says that there is none.
    let mut get = |s, d, kind: u64, room, to| unsafe { (x.get)(s, d, kind as u32, room, to, &mut size) };
    c.code("no semaphore", INVALID_SEMAPHORE, get(t.context(), t.device, OPAQUE_FD, 4, at));
    c.code("no device", CL_INVALID_DEVICE, get(semaphore.h, t.context(), OPAQUE_FD, 4, at));
    c.code("another type", CL_INVALID_VALUE, get(semaphore.h, t.device, SYNC_FD, 4, at));
    c.code("not to be exported", CL_INVALID_VALUE, get(own.h, t.device, OPAQUE_FD, 4, at));
    c.code("too small", CL_INVALID_VALUE, get(semaphore.h, t.device, OPAQUE_FD, 3, at));
    c.code("the size alone", 0, get(semaphore.h, t.device, OPAQUE_FD, 0, null_mut()));
    assert!(size == 4 && fd == 77);
    c.end();
}
