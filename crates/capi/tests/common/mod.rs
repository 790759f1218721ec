//! What all tests of the interface share: a session (device, context, queue) that looks for leaks when it ends, objects
//! that release themselves, and short forms of the calls that tests make most.
//!
//! Two environment variables put another driver under test, to check the tests against an independent implementation:
//! `CLOOM_TEST_LIBRARY` names the library, `CLOOM_TEST_PLATFORM` a part of the platform's name.

#![allow(unsafe_code, reason = "it calls the C interface")]
#![allow(
    dead_code,
    unused_imports,
    missing_docs,
    reason = "each test file uses a part of this, and there is no documentation of it"
)]

mod api;
mod callbacks;
mod cases;
pub mod child;
pub mod extension;
pub mod gpu;
pub mod images;
pub mod load;

pub use api::{Api, Handle, SvmFreeFn};
pub use callbacks::{Calls, on_error, on_event, on_native, on_object};
pub use cases::{Cases, code_name};
pub use load::{newer_source, own_driver};
pub use opencl_sys::*;
pub use std::ptr::{null, null_mut};

use std::ffi::CString;
use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The library under test, loaded once a process.
pub fn api() -> &'static Api {
    static API: OnceLock<Api> = OnceLock::new();
    API.get_or_init(Api::open)
}

/// Succeeds or ends the test.
#[track_caller]
pub fn ok(code: i32) {
    assert_eq!(code, 0, "{}", code_name(code));
}

/// A reference of the test to an object.
pub struct Obj {
    pub h: Handle,
    release: fn(&Api, Handle) -> i32,
}

// SAFETY: objects of OpenCL may be used from any thread.
unsafe impl Send for Obj {}
// SAFETY: objects of OpenCL may be used from several threads at once.
unsafe impl Sync for Obj {}

impl Obj {
    fn new(h: Handle, release: fn(&Api, Handle) -> i32) -> Obj {
        assert!(!h.is_null());
        Obj { h, release }
    }

    pub fn context(h: Handle) -> Obj {
        Obj::new(h, Api::clReleaseContext)
    }

    /// A sub-device.
    pub fn device(h: Handle) -> Obj {
        Obj::new(h, Api::clReleaseDevice)
    }

    pub fn queue(h: Handle) -> Obj {
        Obj::new(h, Api::clReleaseCommandQueue)
    }

    pub fn mem(h: Handle) -> Obj {
        Obj::new(h, Api::clReleaseMemObject)
    }

    pub fn sampler(h: Handle) -> Obj {
        Obj::new(h, Api::clReleaseSampler)
    }

    pub fn program(h: Handle) -> Obj {
        Obj::new(h, Api::clReleaseProgram)
    }

    pub fn kernel(h: Handle) -> Obj {
        Obj::new(h, Api::clReleaseKernel)
    }

    pub fn event(h: Handle) -> Obj {
        Obj::new(h, Api::clReleaseEvent)
    }

    /// Releases it now. The handle is then invalid.
    pub fn release(self) -> Handle {
        let h = self.h;
        drop(self);
        h
    }
}

impl Drop for Obj {
    fn drop(&mut self) {
        let code = (self.release)(api(), self.h);
        if !std::thread::panicking() {
            ok(code);
        }
    }
}

/// Tests of one file run one after the other, and each leaves nothing behind.
pub struct LeakCheck(#[allow(dead_code, reason = "held")] MutexGuard<'static, ()>);

impl LeakCheck {
    pub fn begin() -> LeakCheck {
        static ONE: Mutex<()> = Mutex::new(());
        LeakCheck(ONE.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for LeakCheck {
    fn drop(&mut self) {
        // A command may still hold its objects for a moment after its event is complete.
        let until = Instant::now() + Duration::from_secs(10);
        while !std::thread::panicking()
            && let Some(live @ 1..) = api().live()
        {
            assert!(Instant::now() < until, "{live} objects are left");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// A device with a context and an in-order queue.
pub struct Session {
    pub platform: Handle,
    pub device: Handle,
    queue: Obj,
    context: Obj,
    _leaks: Option<LeakCheck>,
}

// SAFETY: handles may be used from any thread; the guard inside stays on the thread that made the session, which
// outlives the scoped threads that share it.
unsafe impl Sync for Session {}

impl Deref for Session {
    type Target = Api;

    fn deref(&self) -> &Api {
        api()
    }
}

/// The platform under test.
pub fn platform() -> Handle {
    let mut n = 0;
    ok(api().clGetPlatformIDs(0, null_mut(), &mut n));
    let mut all = vec![null_mut(); n as usize];
    ok(api().clGetPlatformIDs(n, all.as_mut_ptr(), null_mut()));
    let wanted = std::env::var("CLOOM_TEST_PLATFORM").unwrap_or_default();
    let name = |p: Handle| text(|s, v, r| api().clGetPlatformInfo(p, CL_PLATFORM_NAME, s, v, r));
    all.into_iter().find(|&p| name(p).contains(&wanted)).expect("the platform that CLOOM_TEST_PLATFORM names")
}

/// The default device of a platform.
pub fn device(platform: Handle) -> Handle {
    let mut device = null_mut();
    ok(api().clGetDeviceIDs(platform, CL_DEVICE_TYPE_DEFAULT, 1, &mut device, null_mut()));
    device
}

/// The answer of a query: asks for its size, then for its bytes.
#[track_caller]
pub fn query(ask: impl Fn(usize, Handle, *mut usize) -> i32) -> Vec<u8> {
    let mut size = usize::MAX;
    ok(ask(0, null_mut(), &mut size));
    let mut bytes = vec![0xA5u8; size + 1];
    let mut again = 0;
    ok(ask(size, bytes.as_mut_ptr().cast(), &mut again));
    assert_eq!(again, size);
    assert_eq!(bytes.pop(), Some(0xA5), "the query wrote beyond its size");
    bytes
}

/// The answer of a query for a string.
#[track_caller]
pub fn text(ask: impl Fn(usize, Handle, *mut usize) -> i32) -> String {
    let mut bytes = query(ask);
    assert_eq!(bytes.pop(), Some(0), "a string ends with a zero");
    assert!(!bytes.contains(&0));
    String::from_utf8(bytes).expect("UTF-8")
}

/// The answer of a query for a number.
#[track_caller]
pub fn info<T: Plain>(ask: impl Fn(usize, Handle, *mut usize) -> i32) -> T {
    let all = list::<T>(ask);
    assert_eq!(all.len(), 1);
    all[0]
}

/// The answer of a query for several numbers.
#[track_caller]
pub fn list<T: Plain>(ask: impl Fn(usize, Handle, *mut usize) -> i32) -> Vec<T> {
    let bytes = query(ask);
    assert_eq!(bytes.len() % size_of::<T>(), 0);
    // SAFETY: a chunk has the size of a value, and every bit pattern is a value.
    bytes.chunks(size_of::<T>()).map(|c| unsafe { c.as_ptr().cast::<T>().read_unaligned() }).collect()
}

/// Numbers and handles: every bit pattern is a value.
///
/// # Safety
/// That must be so, and there is no padding.
pub unsafe trait Plain: Copy + Default {}
macro_rules! plain {
    ($($ty:ty)*) => { $(
        // SAFETY: a number.
        unsafe impl Plain for $ty {}
    )* };
}
plain! { u8 i8 u16 i16 u32 i32 u64 i64 usize isize f32 f64 }

/// An array of three for a call.
pub fn three(values: &[usize]) -> [usize; 3] {
    std::array::from_fn(|i| values.get(i).copied().unwrap_or(0))
}

/// Memory that a map returned.
pub fn mapped<'a>(address: Handle, size: usize) -> &'a mut [u8] {
    assert!(!address.is_null());
    // SAFETY: callers pass what clEnqueueMapBuffer returned, and the size of the map, while it exists.
    unsafe { std::slice::from_raw_parts_mut(address.cast(), size) }
}

impl Session {
    pub fn new() -> Session {
        Session::with(0)
    }

    /// With properties of the queue.
    pub fn with(properties: u64) -> Session {
        let leaks = LeakCheck::begin();
        Session { _leaks: Some(leaks), ..Session::unchecked(properties) }
    }

    /// One that may leave objects behind, beside others.
    pub fn unchecked(properties: u64) -> Session {
        let platform = platform();
        Session::in_context_of(&[device(platform)], platform, properties)
    }

    /// In a context of several devices, with a queue on the first one.
    pub fn in_context_of(devices: &[Handle], platform: Handle, properties: u64) -> Session {
        let (device, count) = (devices[0], devices.len() as u32);
        let mut code = 1;
        let context = api().clCreateContext(null(), count, devices.as_ptr(), None, null_mut(), &mut code);
        ok(code);
        let queue = api().clCreateCommandQueue(context, device, properties, &mut code);
        ok(code);
        Session { platform, device, queue: Obj::queue(queue), context: Obj::context(context), _leaks: None }
    }

    pub fn context(&self) -> Handle {
        self.context.h
    }

    pub fn queue(&self) -> Handle {
        self.queue.h
    }

    /// Whether the driver under test is Cloom, which detects any invalid handle. The loader and other drivers
    /// dereference it.
    pub fn ours(&self) -> bool {
        self.live().is_some()
    }

    /// Handles that are not of an object of some kind; `other` is an object of another kind.
    pub fn bad_handles(&self, other: Handle) -> Vec<(&'static str, Handle)> {
        static WORDS: [usize; 8] = [0; 8];
        let mut bad = vec![("null", null_mut())];
        if self.ours() {
            bad.push(("an object of another kind", other));
            bad.push(("an odd address", other.cast::<u8>().wrapping_add(1).cast()));
            bad.push(("memory of the application", WORDS.as_ptr().cast_mut().cast()));
            bad.push(("address 1", std::ptr::without_provenance_mut(1)));
            bad.push(("the highest address", std::ptr::without_provenance_mut(usize::MAX)));
        }
        bad
    }

    /// Another queue.
    #[track_caller]
    pub fn another_queue(&self, properties: u64) -> Obj {
        let mut code = 1;
        let queue = self.clCreateCommandQueue(self.context(), self.device, properties, &mut code);
        ok(code);
        Obj::queue(queue)
    }

    /// Another context of the device.
    #[track_caller]
    pub fn another_context(&self) -> Obj {
        let mut code = 1;
        let context = self.clCreateContext(null(), 1, &self.device, None, null_mut(), &mut code);
        ok(code);
        Obj::context(context)
    }

    #[track_caller]
    pub fn buffer(&self, flags: u64, size: usize) -> Obj {
        let mut code = 1;
        let mem = self.clCreateBuffer(self.context(), flags, size, null_mut(), &mut code);
        ok(code);
        Obj::mem(mem)
    }

    /// A buffer with a copy of these values.
    #[track_caller]
    pub fn buffer_of<T: Plain>(&self, values: &[T]) -> Obj {
        let mut code = 1;
        let data = values.as_ptr().cast_mut().cast();
        let mem = self.clCreateBuffer(self.context(), CL_MEM_COPY_HOST_PTR, size_of_val(values), data, &mut code);
        ok(code);
        Obj::mem(mem)
    }

    #[track_caller]
    pub fn write<T: Plain>(&self, buffer: &Obj, offset: usize, values: &[T]) {
        let (size, data) = (size_of_val(values), values.as_ptr().cast());
        ok(self.clEnqueueWriteBuffer(self.queue(), buffer.h, CL_TRUE, offset, size, data, 0, null(), null_mut()));
    }

    /// Values of a buffer from its begin, after everything that was enqueued before.
    #[track_caller]
    pub fn read<T: Plain>(&self, buffer: &Obj, count: usize) -> Vec<T> {
        let mut values = vec![T::default(); count];
        let (size, data) = (size_of_val(&values[..]), values.as_mut_ptr().cast());
        ok(self.clEnqueueReadBuffer(self.queue(), buffer.h, CL_TRUE, 0, size, data, 0, null(), null_mut()));
        values
    }

    #[track_caller]
    pub fn source(&self, source: &str) -> Obj {
        let mut code = 1;
        let (text, length) = (source.as_ptr().cast(), source.len());
        let program = self.clCreateProgramWithSource(self.context(), 1, &text, &length, &mut code);
        ok(code);
        Obj::program(program)
    }

    /// Builds for all devices. Returns the code.
    pub fn build(&self, program: &Obj, options: &str) -> i32 {
        let options = CString::new(options).expect("options without a zero");
        self.clBuildProgram(program.h, 0, null(), options.as_ptr(), None, null_mut())
    }

    pub fn log(&self, program: &Obj) -> String {
        text(|s, v, r| self.clGetProgramBuildInfo(program.h, self.device, CL_PROGRAM_BUILD_LOG, s, v, r))
    }

    /// A program that builds.
    #[track_caller]
    pub fn program(&self, source: &str) -> Obj {
        let program = self.source(source);
        let code = self.build(&program, "");
        assert_eq!(code, 0, "{}", self.log(&program));
        program
    }

    /// A program of a module in SPIR-V.
    #[track_caller]
    pub fn program_of_il(&self, il: &[u8]) -> Obj {
        let mut code = 1;
        let program = self.clCreateProgramWithIL(self.context(), il.as_ptr().cast(), il.len(), &mut code);
        ok(code);
        Obj::program(program)
    }

    /// A program of a module in SPIR-V that builds.
    #[track_caller]
    pub fn built_il(&self, il: &[u8], options: &str) -> Obj {
        let program = self.program_of_il(il);
        let code = self.build(&program, options);
        assert_eq!(code, 0, "{}", self.log(&program));
        program
    }

    #[track_caller]
    pub fn kernel_of(&self, program: &Obj, name: &str) -> Obj {
        let name = CString::new(name).expect("a name without a zero");
        let mut code = 1;
        let kernel = self.clCreateKernel(program.h, name.as_ptr(), &mut code);
        ok(code);
        Obj::kernel(kernel)
    }

    /// The kernel `k` of a source.
    #[track_caller]
    pub fn kernel(&self, source: &str) -> Obj {
        let program = self.program(source);
        self.kernel_of(&program, "k")
    }

    /// The kernel `k`, built with options.
    #[track_caller]
    pub fn kernel_with(&self, source: &str, options: &str) -> Obj {
        let program = self.source(source);
        let code = self.build(&program, options);
        assert_eq!(code, 0, "{}", self.log(&program));
        self.kernel_of(&program, "k")
    }

    #[track_caller]
    pub fn arg<T: Plain>(&self, kernel: &Obj, index: u32, value: T) {
        ok(self.clSetKernelArg(kernel.h, index, size_of::<T>(), (&raw const value).cast()));
    }

    #[track_caller]
    pub fn arg_mem(&self, kernel: &Obj, index: u32, buffer: &Obj) {
        ok(self.clSetKernelArg(kernel.h, index, size_of::<Handle>(), (&raw const buffer.h).cast()));
    }

    /// Launches on a queue, with a wait list.
    #[track_caller]
    pub fn launch_on(&self, queue: Handle, kernel: &Obj, global: &[usize], local: &[usize], wait: &[Handle]) -> Obj {
        let mut event = null_mut();
        let local = if local.is_empty() { null() } else { local.as_ptr() };
        let (n, list) = (wait.len() as u32, if wait.is_empty() { null() } else { wait.as_ptr() });
        let dim = global.len() as u32;
        ok(self.clEnqueueNDRangeKernel(queue, kernel.h, dim, null(), global.as_ptr(), local, n, list, &mut event));
        Obj::event(event)
    }

    #[track_caller]
    pub fn launch(&self, kernel: &Obj, global: &[usize], local: &[usize]) -> Obj {
        self.launch_on(self.queue(), kernel, global, local, &[])
    }

    #[track_caller]
    pub fn user_event(&self) -> Obj {
        let mut code = 1;
        let event = self.clCreateUserEvent(self.context(), &mut code);
        ok(code);
        Obj::event(event)
    }

    /// Sets the status of a user event.
    #[track_caller]
    pub fn complete(&self, event: &Obj, status: i32) {
        ok(self.clSetUserEventStatus(event.h, status));
    }

    #[track_caller]
    pub fn marker_on(&self, queue: Handle, wait: &[Handle]) -> Obj {
        let mut event = null_mut();
        let (n, list) = (wait.len() as u32, if wait.is_empty() { null() } else { wait.as_ptr() });
        ok(self.clEnqueueMarkerWithWaitList(queue, n, list, &mut event));
        Obj::event(event)
    }

    #[track_caller]
    pub fn finish(&self) {
        ok(self.clFinish(self.queue()));
    }

    #[track_caller]
    pub fn wait(&self, events: &[&Obj]) {
        let events: Vec<Handle> = events.iter().map(|e| e.h).collect();
        ok(self.clWaitForEvents(events.len() as u32, events.as_ptr()));
    }

    #[track_caller]
    pub fn status(&self, event: &Obj) -> i32 {
        info(|s, v, r| self.clGetEventInfo(event.h, CL_EVENT_COMMAND_EXECUTION_STATUS, s, v, r))
    }

    #[track_caller]
    pub fn device_info<T: Plain>(&self, name: u32) -> T {
        info(|s, v, r| self.clGetDeviceInfo(self.device, name, s, v, r))
    }

    /// Waits until a condition holds; fails after a while.
    #[track_caller]
    pub fn until(&self, what: &str, holds: impl Fn() -> bool) {
        let end = Instant::now() + Duration::from_secs(20);
        while !holds() {
            assert!(Instant::now() < end, "waited in vain until {what}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
