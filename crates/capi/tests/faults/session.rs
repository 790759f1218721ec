//! A session that calls most of the interface and survives that any call fails for want of memory. What succeeds must
//! be right.

use crate::common::images::{D2, Desc, Format, RGBA};
use crate::common::*;
use std::ffi::c_char;

/// Codes that say that memory or threads are missing.
pub const CODES: &[i32] = &[-4, -5, -6, -11, -12, -14, -15, -17];

/// Why the session ends early.
pub enum End {
    /// A call said that there is no memory.
    Short,
    /// Something is wrong.
    Wrong(String),
}

fn code(what: &str, code: i32) -> Result<(), End> {
    match code {
        0 => Ok(()),
        code if CODES.contains(&code) => Err(End::Short),
        code => Err(End::Wrong(format!("{what}: {}", code_name(code)))),
    }
}

fn equal<T: PartialEq>(what: &str, got: &[T], wanted: &[T]) -> Result<(), End> {
    if got == wanted { Ok(()) } else { Err(End::Wrong(format!("{what}: another result"))) }
}

/// Calls that return an object with a code.
macro_rules! made {
    ($kind:ident, $call:ident($($arg:expr),*)) => {{
        let mut status = 1;
        let object = api().$call($($arg,)* &mut status);
        code(stringify!($call), status)?;
        Obj::$kind(object)
    }};
}

macro_rules! call {
    ($call:ident($($arg:expr),*)) => { code(stringify!($call), api().$call($($arg),*))? };
}

const SOURCE: &str = "
    kernel void twice(global uint *p, uint add) {
        local uint part[64];
        uint i = get_global_id(0), l = get_local_id(0);
        part[l] = p[i];
        barrier(CLK_LOCAL_MEM_FENCE);
        p[i] = part[get_local_size(0) - 1 - l] * 2 + add;
    }
    kernel void looks(read_only image2d_t a, sampler_t s, global uint *p) {
        p[get_global_id(0)] = read_imageui(a, s, (int2)(get_global_id(0) % 16, 3)).x;
    }";

/// The whole session; `salt` makes its program another one.
pub fn run(salt: u32) -> Result<(), End> {
    let mut platform = null_mut();
    call!(clGetPlatformIDs(1, &mut platform, null_mut()));
    let mut device = null_mut();
    match api().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &mut device, null_mut()) {
        // Without memory at its begin, the driver may have no device.
        CL_DEVICE_NOT_FOUND => return Err(End::Short),
        other => code("clGetDeviceIDs", other)?,
    }
    let context = made!(context, clCreateContext(null(), 1, &device, None, null_mut()));
    let queue = made!(queue, clCreateCommandQueue(context.h, device, 0));
    let outcome = on(&context, &queue, device, salt);
    // Whatever happened, everything that was enqueued ends.
    match api().clFinish(queue.h) {
        0 => outcome,
        other => Err(End::Wrong(format!("clFinish: {}", code_name(other)))),
    }
}

fn on(context: &Obj, queue: &Obj, device: Handle, salt: u32) -> Result<(), End> {
    let q = queue.h;
    let n = 4096usize;
    let input: Vec<u32> = (0..n as u32).collect();
    let data = input.as_ptr().cast_mut().cast();
    let buffer = made!(mem, clCreateBuffer(context.h, CL_MEM_COPY_HOST_PTR, n * 4, data));
    let program = build(context, salt)?;
    let kernel = made!(kernel, clCreateKernel(program.h, c"twice".as_ptr()));
    call!(clSetKernelArg(kernel.h, 0, 8, (&raw const buffer.h).cast()));
    call!(clSetKernelArg(kernel.h, 1, 4, (&raw const salt).cast()));
    let mut event = null_mut();
    call!(clEnqueueNDRangeKernel(q, kernel.h, 1, null(), &n, &64, 0, null(), &mut event));
    let event = Obj::event(event);
    call!(clWaitForEvents(1, &event.h));
    let mut got = vec![0u32; n];
    call!(clEnqueueReadBuffer(q, buffer.h, CL_TRUE, 0, n * 4, got.as_mut_ptr().cast(), 0, null(), null_mut()));
    let wanted: Vec<u32> = (0..n as u32).map(|i| (i / 64 * 64 + 63 - i % 64) * 2 + salt).collect();
    equal("twice", &got, &wanted)?;
    image(context, q, &program)?;
    transfers(context, q, &buffer)?;
    again(context, q, &program, device)?;
    asynchronous(context, q, &buffer)
}

fn build(context: &Obj, salt: u32) -> Result<Obj, End> {
    let source = format!("{SOURCE}\n// {salt}\nkernel void other(global uint *p) {{ p[0] = {salt}; }}");
    let (text, length): (*const c_char, usize) = (source.as_ptr().cast(), source.len());
    let program = made!(program, clCreateProgramWithSource(context.h, 1, &text, &length));
    call!(clBuildProgram(program.h, 0, null(), null(), None, null_mut()));
    Ok(program)
}

fn image(context: &Obj, q: Handle, program: &Obj) -> Result<(), End> {
    let (format, desc) = (Format { order: RGBA, channel_type: 0x10DC }, Desc::new(D2, [16, 16, 0]));
    let (f, d) = ((&raw const format).cast(), (&raw const desc).cast());
    let image = made!(mem, clCreateImage(context.h, CL_MEM_READ_WRITE, f, d, null_mut()));
    let (colour, origin, region) = ([5u32; 4], [0usize; 3], [16usize, 16, 1]);
    call!(clEnqueueFillImage(
        q,
        image.h,
        colour.as_ptr().cast(),
        origin.as_ptr(),
        region.as_ptr(),
        0,
        null(),
        null_mut()
    ));
    let sampler = made!(sampler, clCreateSampler(context.h, 0, 0x1130, 0x1140));
    let buffer = made!(mem, clCreateBuffer(context.h, 0, 256, null_mut()));
    let kernel = made!(kernel, clCreateKernel(program.h, c"looks".as_ptr()));
    call!(clSetKernelArg(kernel.h, 0, 8, (&raw const image.h).cast()));
    call!(clSetKernelArg(kernel.h, 1, 8, (&raw const sampler.h).cast()));
    call!(clSetKernelArg(kernel.h, 2, 8, (&raw const buffer.h).cast()));
    call!(clEnqueueNDRangeKernel(q, kernel.h, 1, null(), &64, null(), 0, null(), null_mut()));
    let mut got = vec![0u32; 64];
    call!(clEnqueueReadBuffer(q, buffer.h, CL_TRUE, 0, 256, got.as_mut_ptr().cast(), 0, null(), null_mut()));
    equal("looks", &got, &[5; 64])?;
    let (mut row, mut status) = (0, 1);
    let (o, r) = (origin.as_ptr(), region.as_ptr());
    let at = api().clEnqueueMapImage(
        q,
        image.h,
        CL_TRUE,
        CL_MAP_READ,
        o,
        r,
        &mut row,
        null_mut(),
        0,
        null(),
        null_mut(),
        &mut status,
    );
    code("clEnqueueMapImage", status)?;
    equal("the map of an image", &mapped(at, 4)[..], &[5, 0, 0, 0])?;
    call!(clEnqueueUnmapMemObject(q, image.h, at, 0, null(), null_mut()));
    Ok(())
}

fn transfers(context: &Obj, q: Handle, buffer: &Obj) -> Result<(), End> {
    let large = made!(mem, clCreateBuffer(context.h, 0, 8 << 20, null_mut()));
    let three = [3u8; 4];
    call!(clEnqueueFillBuffer(q, large.h, three.as_ptr().cast(), 4, 0, 8 << 20, 0, null(), null_mut()));
    call!(clEnqueueCopyBuffer(q, large.h, buffer.h, 4096, 0, 4096, 0, null(), null_mut()));
    let region = [4096usize, 4096];
    let part = made!(mem, clCreateSubBuffer(buffer.h, 0, 0x1220, region.as_ptr().cast()));
    let (zero, rows) = ([0usize; 3], [64usize, 8, 1]);
    let (z, r) = (zero.as_ptr(), rows.as_ptr());
    call!(clEnqueueCopyBufferRect(q, large.h, part.h, z, z, r, 1 << 19, 0, 64, 0, 0, null(), null_mut()));
    let mut got = [0u8; 512];
    call!(clEnqueueReadBuffer(q, part.h, CL_TRUE, 0, 512, got.as_mut_ptr().cast(), 0, null(), null_mut()));
    equal("a copy of boxes", &got, &[3; 512])?;
    let (flags, mut status) = (CL_MAP_READ | CL_MAP_WRITE, 1);
    let at = api().clEnqueueMapBuffer(q, buffer.h, CL_TRUE, flags, 0, 4096, 0, null(), null_mut(), &mut status);
    code("clEnqueueMapBuffer", status)?;
    equal("a map", &mapped(at, 4096)[..], &[3; 4096])?;
    call!(clEnqueueUnmapMemObject(q, buffer.h, at, 0, null(), null_mut()));
    let objects = [large.h, buffer.h];
    call!(clEnqueueMigrateMemObjects(q, 2, objects.as_ptr(), 0, 0, null(), null_mut()));
    let memory = api().clSVMAlloc(context.h, CL_MEM_READ_WRITE, 1 << 16, 0);
    if memory.is_null() {
        return Err(End::Short);
    }
    let filled = api().clEnqueueSVMMemFill(q, memory, three.as_ptr().cast(), 4, 1 << 16, 0, null(), null_mut());
    let mut got = [0u8; 64];
    let copied = api().clEnqueueSVMMemcpy(q, CL_TRUE, got.as_mut_ptr().cast(), memory, 64, 0, null(), null_mut());
    ok(api().clFinish(q));
    api().clSVMFree(context.h, memory);
    code("clEnqueueSVMMemFill", filled)?;
    code("clEnqueueSVMMemcpy", copied)?;
    equal("shared virtual memory", &got, &[3; 64])
}

/// The binary of a program, as a program.
fn again(context: &Obj, q: Handle, program: &Obj, device: Handle) -> Result<(), End> {
    let mut size = 0usize;
    call!(clGetProgramInfo(program.h, CL_PROGRAM_BINARY_SIZES, 8, (&raw mut size).cast(), null_mut()));
    let mut binary = vec![0u8; size];
    let mut place = binary.as_mut_ptr();
    call!(clGetProgramInfo(program.h, CL_PROGRAM_BINARIES, 8, (&raw mut place).cast(), null_mut()));
    let bytes = binary.as_ptr();
    let loaded = made!(program, clCreateProgramWithBinary(context.h, 1, &device, &size, &bytes, null_mut()));
    call!(clBuildProgram(loaded.h, 0, null(), null(), None, null_mut()));
    let buffer = made!(mem, clCreateBuffer(context.h, 0, 4, null_mut()));
    let kernel = made!(kernel, clCreateKernel(loaded.h, c"other".as_ptr()));
    call!(clSetKernelArg(kernel.h, 0, 8, (&raw const buffer.h).cast()));
    call!(clEnqueueNDRangeKernel(q, kernel.h, 1, null(), &1, null(), 0, null(), null_mut()));
    call!(clEnqueueReadBuffer(q, buffer.h, CL_TRUE, 0, 4, (&raw mut size).cast(), 0, null(), null_mut()));
    Ok(())
}

fn asynchronous(context: &Obj, q: Handle, buffer: &Obj) -> Result<(), End> {
    let gate = made!(event, clCreateUserEvent(context.h));
    let (bytes, mut event) = ([9u8; 4], null_mut());
    let enqueued = api().clEnqueueFillBuffer(q, buffer.h, bytes.as_ptr().cast(), 4, 0, 256, 1, &gate.h, &mut event);
    let event = if event.is_null() { None } else { Some(Obj::event(event)) };
    let mut called = Ok(());
    let calls = Calls::new();
    if let Some(event) = &event {
        let send = calls.sender();
        let (call, data) = on_event(move |_, _| send.send(()).expect("the test waits"));
        called = code("clSetEventCallback", api().clSetEventCallback(event.h, CL_COMPLETE, call, data));
    }
    ok(api().clSetUserEventStatus(gate.h, CL_COMPLETE));
    code("clEnqueueFillBuffer", enqueued)?;
    called?;
    if event.is_some() {
        calls.next();
    }
    let mut got = [0u8; 256];
    call!(clEnqueueReadBuffer(q, buffer.h, CL_TRUE, 0, 256, got.as_mut_ptr().cast(), 0, null(), null_mut()));
    equal("a fill behind a user event", &got, &[9; 256])
}
