//! The C functions of libcloom, as a program in C sees them. The signatures are the specification's.

#![allow(unsafe_code, reason = "it calls the C interface")]
#![allow(non_snake_case, missing_docs, clippy::too_many_arguments, reason = "the specification's names and signatures")]

use libloading::Library;
use std::ffi::{c_char, c_void as Void};
use std::path::PathBuf;
use std::sync::LazyLock;

/// Any object.
pub type Handle = *mut Void;
/// The last arguments of most commands: a count of events, a list of them, and a pointer to room for a new one.
pub type EventFn = unsafe extern "C" fn(Handle, i32, *mut Void);
pub type ObjectFn = unsafe extern "C" fn(Handle, *mut Void);
pub type NativeFn = unsafe extern "C" fn(*mut Void);

/// `cl_image_format`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ImageFormat {
    pub order: u32,
    pub kind: u32,
}

/// `cl_image_desc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ImageDesc {
    pub kind: u32,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub array: usize,
    pub row: usize,
    pub slice: usize,
    pub levels: u32,
    pub samples: u32,
    pub parent: Handle,
}

/// The driver under test: the one that `CLOOM_TEST_LIBRARY` names, or the `libcloom.so` of this build.
static DRIVER: LazyLock<Result<Driver, String>> = LazyLock::new(|| {
    let path = std::env::var_os("CLOOM_TEST_LIBRARY").map(PathBuf::from).or_else(beside);
    let path = path.ok_or("there is no libcloom.so beside this program: `cargo build -p cloom-capi` makes it")?;
    Driver::open(&path).map_err(|e| format!("{}: {e}", path.display()))
});

/// The driver that cargo built: beside this program, or in the folder where it keeps libraries. The newer one counts.
fn beside() -> Option<PathBuf> {
    let exe = std::env::current_exe().ok()?;
    let found = ["", "deps", ".."].iter().map(|sub| exe.parent().map(|dir| dir.join(sub).join("libcloom.so")));
    found.flatten().filter(|p| p.is_file()).max_by_key(|p| p.metadata().and_then(|m| m.modified()).ok())
}

/// Loads the driver. Call it first: without a driver, the functions below end the process.
pub fn load() -> Result<(), String> {
    DRIVER.as_ref().map(|_| ()).map_err(String::clone)
}

fn driver() -> &'static Driver {
    DRIVER.as_ref().unwrap_or_else(|why| panic!("{why}"))
}

macro_rules! functions {
    ($(fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)?;)*) => {
        struct Driver {
            $($name: unsafe extern "C" fn($($ty),*) $(-> $ret)?,)*
            /// The loaded library, to which the functions belong.
            _library: Library,
        }

        impl Driver {
            fn open(path: &std::path::Path) -> Result<Driver, libloading::Error> {
                // SAFETY: loading a driver runs no code with preconditions.
                let library = unsafe { Library::new(path)? };
                Ok(Driver {
                    // SAFETY: the signatures are the specification's.
                    $($name: *unsafe { library.get(concat!(stringify!($name), "\0").as_bytes())? },)*
                    _library: library,
                })
            }
        }

        $(pub fn $name($($arg: $ty),*) $(-> $ret)? {
            // SAFETY: the signature is the specification's. Handles may be anything, which the driver must detect;
            // other pointers are null or point to memory of the caller that is as large as the other arguments say.
            unsafe { (driver().$name)($($arg),*) }
        })*
    };
}

functions! {
    fn clGetPlatformIDs(n: u32, list: *mut Handle, count: *mut u32) -> i32;
    fn clGetPlatformInfo(h: Handle, name: u32, size: usize, value: *mut Void, size_ret: *mut usize) -> i32;
    fn clGetDeviceIDs(h: Handle, kind: u64, n: u32, list: *mut Handle, count: *mut u32) -> i32;
    fn clGetDeviceInfo(h: Handle, name: u32, size: usize, value: *mut Void, size_ret: *mut usize) -> i32;
    fn clCreateContext(props: *const isize, n: u32, devices: *const Handle, notify: *const Void, data: *mut Void, code: *mut i32) -> Handle;
    fn clRetainContext(h: Handle) -> i32;
    fn clReleaseContext(h: Handle) -> i32;
    fn clGetContextInfo(h: Handle, name: u32, size: usize, value: *mut Void, size_ret: *mut usize) -> i32;
    fn clCreateCommandQueue(h: Handle, device: Handle, props: u64, code: *mut i32) -> Handle;
    fn clCreateCommandQueueWithProperties(h: Handle, device: Handle, props: *const u64, code: *mut i32) -> Handle;
    fn clRetainCommandQueue(h: Handle) -> i32;
    fn clReleaseCommandQueue(h: Handle) -> i32;
    fn clGetCommandQueueInfo(h: Handle, name: u32, size: usize, value: *mut Void, size_ret: *mut usize) -> i32;
    fn clCreateBuffer(h: Handle, flags: u64, size: usize, host: *mut Void, code: *mut i32) -> Handle;
    fn clCreateSubBuffer(h: Handle, flags: u64, kind: u32, region: *const [usize; 2], code: *mut i32) -> Handle;
    fn clCreatePipe(h: Handle, flags: u64, packet: u32, count: u32, props: *const isize, code: *mut i32) -> Handle;
    fn clGetPipeInfo(h: Handle, name: u32, size: usize, value: *mut Void, size_ret: *mut usize) -> i32;
    fn clCreateImage(h: Handle, flags: u64, format: *const ImageFormat, desc: *const ImageDesc, host: *mut Void, code: *mut i32) -> Handle;
    fn clGetImageInfo(h: Handle, name: u32, size: usize, value: *mut Void, size_ret: *mut usize) -> i32;
    fn clGetSupportedImageFormats(h: Handle, flags: u64, kind: u32, n: u32, list: *mut ImageFormat, count: *mut u32) -> i32;
    fn clCreateSampler(h: Handle, normalized: u32, addressing: u32, filter: u32, code: *mut i32) -> Handle;
    fn clRetainSampler(h: Handle) -> i32;
    fn clReleaseSampler(h: Handle) -> i32;
    fn clGetSamplerInfo(h: Handle, name: u32, size: usize, value: *mut Void, size_ret: *mut usize) -> i32;
    fn clRetainMemObject(h: Handle) -> i32;
    fn clReleaseMemObject(h: Handle) -> i32;
    fn clGetMemObjectInfo(h: Handle, name: u32, size: usize, value: *mut Void, size_ret: *mut usize) -> i32;
    fn clSetMemObjectDestructorCallback(h: Handle, notify: Option<ObjectFn>, data: *mut Void) -> i32;
    fn clCreateProgramWithSource(h: Handle, n: u32, list: *const *const c_char, sizes: *const usize, code: *mut i32) -> Handle;
    fn clCreateProgramWithBinary(
        h: Handle, n: u32, devices: *const Handle, sizes: *const usize, list: *const *const u8, status: *mut i32, code: *mut i32,
    ) -> Handle;
    fn clRetainProgram(h: Handle) -> i32;
    fn clReleaseProgram(h: Handle) -> i32;
    fn clBuildProgram(h: Handle, n: u32, list: *const Handle, options: *const c_char, notify: Option<ObjectFn>, data: *mut Void) -> i32;
    fn clCompileProgram(
        h: Handle, n: u32, list: *const Handle, options: *const c_char, headers: u32, programs: *const Handle,
        names: *const *const c_char, notify: Option<ObjectFn>, data: *mut Void,
    ) -> i32;
    fn clLinkProgram(
        h: Handle, n: u32, list: *const Handle, options: *const c_char, count: u32, programs: *const Handle, notify: Option<ObjectFn>,
        data: *mut Void, code: *mut i32,
    ) -> Handle;
    fn clGetProgramInfo(h: Handle, name: u32, size: usize, value: *mut Void, size_ret: *mut usize) -> i32;
    fn clGetProgramBuildInfo(h: Handle, device: Handle, name: u32, size: usize, value: *mut Void, size_ret: *mut usize) -> i32;
    fn clCreateKernel(h: Handle, name: *const c_char, code: *mut i32) -> Handle;
    fn clCreateKernelsInProgram(h: Handle, n: u32, list: *mut Handle, count: *mut u32) -> i32;
    fn clCloneKernel(h: Handle, code: *mut i32) -> Handle;
    fn clRetainKernel(h: Handle) -> i32;
    fn clReleaseKernel(h: Handle) -> i32;
    fn clSetKernelArg(h: Handle, index: u32, size: usize, value: *const Void) -> i32;
    fn clGetKernelInfo(h: Handle, name: u32, size: usize, value: *mut Void, size_ret: *mut usize) -> i32;
    fn clGetKernelArgInfo(h: Handle, index: u32, name: u32, size: usize, value: *mut Void, size_ret: *mut usize) -> i32;
    fn clGetKernelWorkGroupInfo(h: Handle, device: Handle, name: u32, size: usize, value: *mut Void, size_ret: *mut usize) -> i32;
    fn clWaitForEvents(n: u32, list: *const Handle) -> i32;
    fn clGetEventInfo(h: Handle, name: u32, size: usize, value: *mut Void, size_ret: *mut usize) -> i32;
    fn clCreateUserEvent(h: Handle, code: *mut i32) -> Handle;
    fn clSetUserEventStatus(h: Handle, status: i32) -> i32;
    fn clSetEventCallback(h: Handle, kind: i32, notify: Option<EventFn>, data: *mut Void) -> i32;
    fn clRetainEvent(h: Handle) -> i32;
    fn clReleaseEvent(h: Handle) -> i32;
    fn clGetEventProfilingInfo(h: Handle, name: u32, size: usize, value: *mut Void, size_ret: *mut usize) -> i32;
    fn clFlush(h: Handle) -> i32;
    fn clFinish(h: Handle) -> i32;
    fn clEnqueueReadBuffer(
        h: Handle, buffer: Handle, blocking: u32, at: usize, size: usize, to: *mut Void, n: u32, list: *const Handle, event: *mut Handle,
    ) -> i32;
    fn clEnqueueWriteBuffer(
        h: Handle, buffer: Handle, blocking: u32, at: usize, size: usize, from: *const Void, n: u32, list: *const Handle,
        event: *mut Handle,
    ) -> i32;
    fn clEnqueueCopyBuffer(
        h: Handle, from: Handle, to: Handle, a: usize, b: usize, size: usize, n: u32, list: *const Handle, event: *mut Handle,
    ) -> i32;
    fn clEnqueueFillBuffer(
        h: Handle, buffer: Handle, pattern: *const Void, length: usize, at: usize, size: usize, n: u32, list: *const Handle,
        event: *mut Handle,
    ) -> i32;
    fn clEnqueueReadBufferRect(
        h: Handle, buffer: Handle, blocking: u32, origin: *const usize, host_origin: *const usize, region: *const usize, row: usize,
        slice: usize, host_row: usize, host_slice: usize, to: *mut Void, n: u32, list: *const Handle, event: *mut Handle,
    ) -> i32;
    fn clEnqueueCopyBufferRect(
        h: Handle, from: Handle, to: Handle, a: *const usize, b: *const usize, region: *const usize, row: usize, slice: usize,
        to_row: usize, to_slice: usize, n: u32, list: *const Handle, event: *mut Handle,
    ) -> i32;
    fn clEnqueueMapBuffer(
        h: Handle, buffer: Handle, blocking: u32, flags: u64, at: usize, size: usize, n: u32, list: *const Handle, event: *mut Handle,
        code: *mut i32,
    ) -> *mut Void;
    fn clEnqueueReadImage(
        h: Handle, image: Handle, blocking: u32, origin: *const usize, region: *const usize, row: usize, slice: usize, to: *mut Void,
        n: u32, list: *const Handle, event: *mut Handle,
    ) -> i32;
    fn clEnqueueWriteImage(
        h: Handle, image: Handle, blocking: u32, origin: *const usize, region: *const usize, row: usize, slice: usize,
        from: *const Void, n: u32, list: *const Handle, event: *mut Handle,
    ) -> i32;
    fn clEnqueueCopyImage(
        h: Handle, from: Handle, to: Handle, a: *const usize, b: *const usize, region: *const usize, n: u32, list: *const Handle,
        event: *mut Handle,
    ) -> i32;
    fn clEnqueueCopyImageToBuffer(
        h: Handle, image: Handle, buffer: Handle, origin: *const usize, region: *const usize, at: usize, n: u32, list: *const Handle,
        event: *mut Handle,
    ) -> i32;
    fn clEnqueueCopyBufferToImage(
        h: Handle, buffer: Handle, image: Handle, at: usize, origin: *const usize, region: *const usize, n: u32, list: *const Handle,
        event: *mut Handle,
    ) -> i32;
    fn clEnqueueFillImage(
        h: Handle, image: Handle, colour: *const Void, origin: *const usize, region: *const usize, n: u32, list: *const Handle,
        event: *mut Handle,
    ) -> i32;
    fn clEnqueueMapImage(
        h: Handle, image: Handle, blocking: u32, flags: u64, origin: *const usize, region: *const usize, row: *mut usize,
        slice: *mut usize, n: u32, list: *const Handle, event: *mut Handle, code: *mut i32,
    ) -> *mut Void;
    fn clEnqueueUnmapMemObject(h: Handle, buffer: Handle, at: *mut Void, n: u32, list: *const Handle, event: *mut Handle) -> i32;
    fn clEnqueueMigrateMemObjects(
        h: Handle, count: u32, buffers: *const Handle, flags: u64, n: u32, list: *const Handle, event: *mut Handle,
    ) -> i32;
    fn clEnqueueNDRangeKernel(
        h: Handle, kernel: Handle, dim: u32, offset: *const usize, global: *const usize, local: *const usize, n: u32,
        list: *const Handle, event: *mut Handle,
    ) -> i32;
    fn clEnqueueTask(h: Handle, kernel: Handle, n: u32, list: *const Handle, event: *mut Handle) -> i32;
    fn clEnqueueNativeKernel(
        h: Handle, f: Option<NativeFn>, args: *mut Void, size: usize, count: u32, buffers: *const Handle, places: *const *const Void,
        n: u32, list: *const Handle, event: *mut Handle,
    ) -> i32;
    fn clEnqueueMarkerWithWaitList(h: Handle, n: u32, list: *const Handle, event: *mut Handle) -> i32;
    fn clEnqueueBarrierWithWaitList(h: Handle, n: u32, list: *const Handle, event: *mut Handle) -> i32;
    fn cloomLiveObjects() -> usize;
}

/// What callbacks do: nothing.
pub unsafe extern "C" fn on_event(_: Handle, _: i32, _: *mut Void) {}
/// As above.
pub unsafe extern "C" fn on_object(_: Handle, _: *mut Void) {}
/// As above.
pub unsafe extern "C" fn on_native(_: *mut Void) {}
