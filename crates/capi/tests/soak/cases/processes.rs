//! The driver as a library that comes and goes, and forks of a process that uses it.

use super::measure::Held;
use super::{Progress, Size};
use crate::common::child::in_fork;
use crate::common::*;
use std::ffi::CString;

/// Loads the library, uses it and unloads it, again and again; sometimes commands still run.
pub fn loads(size: Size) -> String {
    let n = size.pick(20, 1000);
    let path = std::env::var("CLOOM_TEST_LIBRARY").map_or_else(|_| own_driver().into_os_string(), Into::into);
    let path = CString::new(path.into_encoded_bytes()).expect("a path without a zero");
    let loader = std::env::var("CLOOM_TEST_LOADER").ok().map(|name| CString::new(name).expect("no zero"));
    let mut before = Held::now();
    let mut progress = Progress::new("loads", n);
    for i in 0..n {
        // Not the tests' own table of functions, which keeps the library loaded.
        let name = loader.as_ref().unwrap_or(&path);
        // SAFETY: loads a driver or the loader; no function of it is called after the end of the loop's body.
        unsafe {
            let library = libc_dlopen(name);
            let find = |name: &std::ffi::CStr| libc::dlsym(library, name.as_ptr());
            type Ids = unsafe extern "C" fn(u32, *mut Handle, *mut u32) -> i32;
            let ids = std::mem::transmute::<Handle, Ids>(find(c"clGetPlatformIDs"));
            let mut platform = null_mut();
            ok(ids(1, &mut platform, null_mut()));
            assert!(!platform.is_null());
            work(&find, platform, i % 3 == 0);
            assert_eq!(libc::dlclose(library), 0);
        }
        if i == n / 10 {
            before = Held::now();
        }
        progress.at(i);
    }
    let after = Held::now();
    after.same(before, 8 << 20);
    format!("{n} times, {} files, {} threads", after.files, after.threads)
}

unsafe fn libc_dlopen(name: &std::ffi::CStr) -> Handle {
    // SAFETY: the name ends in a zero. Callers open a library whose initialisers may run in this process.
    let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!library.is_null(), "{name:?} cannot be loaded");
    library
}

/// A context, a queue, a program and a launch; all released. `leave`: the launch is not waited for.
///
/// # Safety
/// `find` finds the functions of the specification.
unsafe fn work(find: &dyn Fn(&std::ffi::CStr) -> Handle, platform: Handle, leave: bool) {
    macro_rules! call {
        ($name:literal, fn($($ty:ty),*) -> $out:ty, $($arg:expr),*) => {
            // SAFETY: the signature is the specification's.
            unsafe { std::mem::transmute::<Handle, unsafe extern "C" fn($($ty),*) -> $out>(find($name))($($arg),*) }
        };
    }
    let (mut device, mut code) = (null_mut(), 1);
    ok(call!(
        c"clGetDeviceIDs",
        fn(Handle, u64, u32, *mut Handle, *mut u32) -> i32,
        platform,
        CL_DEVICE_TYPE_ALL,
        1,
        &mut device,
        null_mut()
    ));
    let context = call!(
        c"clCreateContext",
        fn(*const isize, u32, *const Handle, Handle, Handle, *mut i32) -> Handle,
        null(),
        1,
        &device,
        null_mut(),
        null_mut(),
        &mut code
    );
    ok(code);
    let queue = call!(
        c"clCreateCommandQueueWithProperties",
        fn(Handle, Handle, *const u64, *mut i32) -> Handle,
        context,
        device,
        null(),
        &mut code
    );
    ok(code);
    let text = c"kernel void k(global uint *p) { uint x = get_global_id(0); for (uint i = 0; i < 20000; i++) x = x * 3 + i; p[get_global_id(0)] = x; }";
    let program = call!(
        c"clCreateProgramWithSource",
        fn(Handle, u32, *const *const std::ffi::c_char, *const usize, *mut i32) -> Handle,
        context,
        1,
        &text.as_ptr(),
        null(),
        &mut code
    );
    ok(code);
    ok(call!(
        c"clBuildProgram",
        fn(Handle, u32, Handle, Handle, Handle, Handle) -> i32,
        program,
        0,
        null_mut(),
        null_mut(),
        null_mut(),
        null_mut()
    ));
    let kernel = call!(
        c"clCreateKernel",
        fn(Handle, *const std::ffi::c_char, *mut i32) -> Handle,
        program,
        c"k".as_ptr(),
        &mut code
    );
    ok(code);
    let buffer = call!(
        c"clCreateBuffer",
        fn(Handle, u64, usize, Handle, *mut i32) -> Handle,
        context,
        0,
        4 << 12,
        null_mut(),
        &mut code
    );
    ok(code);
    ok(call!(c"clSetKernelArg", fn(Handle, u32, usize, *const Handle) -> i32, kernel, 0, 8, &buffer));
    let global = 1usize << 12;
    ok(call!(
        c"clEnqueueNDRangeKernel",
        fn(Handle, Handle, u32, *const usize, *const usize, *const usize, u32, Handle, Handle) -> i32,
        queue,
        kernel,
        1,
        null(),
        &global,
        null(),
        0,
        null_mut(),
        null_mut()
    ));
    if !leave {
        ok(call!(c"clFinish", fn(Handle) -> i32, queue));
    }
    for (name, object) in [
        (c"clReleaseKernel", kernel),
        (c"clReleaseProgram", program),
        (c"clReleaseMemObject", buffer),
        (c"clReleaseCommandQueue", queue),
        (c"clReleaseContext", context),
    ] {
        let release = find(name);
        // SAFETY: the signature is the specification's.
        ok(unsafe { std::mem::transmute::<Handle, unsafe extern "C" fn(Handle) -> i32>(release)(object) });
    }
}

/// A small program on objects of its own; returns 0 if it computes what it should.
pub fn fresh(n: u32) -> i32 {
    let mut code = 1;
    let platform = platform();
    let device = device(platform);
    let context = api().clCreateContext(null(), 1, &device, None, null_mut(), &mut code);
    if code != 0 {
        return 10;
    }
    let context = Obj::context(context);
    let queue = Obj::queue(api().clCreateCommandQueue(context.h, device, 0, &mut code));
    let source = format!("kernel void k(global uint *p) {{ p[get_global_id(0)] = get_global_id(0) * {}; }}\0", n % 5);
    let text = source.as_ptr().cast();
    let program = Obj::program(api().clCreateProgramWithSource(context.h, 1, &text, null(), &mut code));
    ok(api().clBuildProgram(program.h, 0, null(), null(), None, null_mut()));
    let kernel = Obj::kernel(api().clCreateKernel(program.h, c"k".as_ptr(), &mut code));
    let buffer = Obj::mem(api().clCreateBuffer(context.h, 0, 4 << 16, null_mut(), &mut code));
    ok(api().clSetKernelArg(kernel.h, 0, 8, (&raw const buffer.h).cast()));
    let global = 1usize << 16;
    ok(api().clEnqueueNDRangeKernel(queue.h, kernel.h, 1, null(), &global, null(), 0, null(), null_mut()));
    let mut got = vec![0u32; global];
    let at = got.as_mut_ptr().cast();
    ok(api().clEnqueueReadBuffer(queue.h, buffer.h, CL_TRUE, 0, 4 << 16, at, 0, null(), null_mut()));
    i32::from(!(0..global as u32).all(|i| got[i as usize] == i * (n % 5)))
}

/// Forks with work in flight: the child starts afresh, and forks itself; the parent goes on.
pub fn forks(size: Size) -> String {
    let n = size.pick(6, 400);
    assert_eq!(fresh(1), 0);
    let t = Session::new();
    let kernel = t.kernel(
        "kernel void k(global uint *p) { uint x = p[get_global_id(0)];
         for (uint i = 0; i < 3000; i++) x = x * 3 + i; p[get_global_id(0)] = x; }",
    );
    let (buffer, alone) = (t.buffer_of(&vec![1u32; 1 << 14]), t.buffer_of(&vec![1u32; 1 << 14]));
    let mut progress = Progress::new("forks", n.into());
    for i in 0..n {
        for target in [&buffer, &alone] {
            t.arg_mem(&kernel, 0, target);
            for _ in 0..5 {
                drop(t.launch(&kernel, &[1 << 14], &[]));
            }
            if std::ptr::eq(target, &raw const buffer) {
                let twice = i % 3 == 0;
                let code = in_fork(|| {
                    let code = fresh(i);
                    if code == 0 && twice { in_fork(|| fresh(i + 1)) } else { code }
                });
                assert_eq!(code, 0, "the child of fork {i}");
            }
        }
        assert_eq!(t.read::<u32>(&buffer, 1 << 14), t.read::<u32>(&alone, 1 << 14), "the parent goes on");
        progress.at(i.into());
    }
    format!("{n} forks, {} with a fork of the child", n.div_ceil(3))
}
