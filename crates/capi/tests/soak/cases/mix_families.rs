//! The families of calls that the threads of [`super::mix`] make. Each checks what it computes on objects of the
//! thread.

use super::mix::{Own, Shared};
use crate::common::images::{D2, Desc, Format, RGBA};
use crate::common::*;
use std::ffi::c_char;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

type Family = (&'static str, fn(&Shared<'_>, &mut Own));

pub const FAMILIES: &[Family] = &[
    ("launches", launches),
    ("transfers", transfers),
    ("boxes", boxes),
    ("sub-buffers", sub_buffers),
    ("maps", maps),
    ("images", images),
    ("events", events),
    ("user events", user_events),
    ("callbacks", callbacks),
    ("builds", builds),
    ("shared virtual memory", shared_virtual_memory),
    ("unified memory", unified_memory),
    ("command buffers", command_buffers),
    ("semaphores", semaphores),
    ("native kernels", native_kernels),
    ("releases with work in flight", releases),
    ("shared objects", shared_objects),
    ("queries", queries),
];

const NUMBERS: Format = Format { order: RGBA, channel_type: 0x10DC };

fn read(x: &Shared<'_>, own: &Own, buffer: &Obj, offset: usize, count: usize) -> Vec<u32> {
    let mut values = vec![0u32; count];
    let (size, data) = (count * 4, values.as_mut_ptr().cast());
    ok(x.t.clEnqueueReadBuffer(own.queue.h, buffer.h, CL_TRUE, offset, size, data, 0, null(), null_mut()));
    values
}

fn fill(x: &Shared<'_>, queue: Handle, buffer: &Obj, value: u32, size: usize, wait: &[Handle]) -> Obj {
    let (bytes, mut event) = (value.to_ne_bytes(), null_mut());
    let (n, list) = (wait.len() as u32, if wait.is_empty() { null() } else { wait.as_ptr() });
    ok(x.t.clEnqueueFillBuffer(queue, buffer.h, bytes.as_ptr().cast(), 4, 0, size, n, list, &mut event));
    Obj::event(event)
}

fn launches(x: &Shared<'_>, own: &mut Own) {
    let (n, seed) = (1 + own.random.below(1024), own.random.below(1 << 20) as u32);
    x.t.arg_mem(&own.store, 0, &own.buffer);
    x.t.arg(&own.store, 1, seed);
    drop(x.t.launch_on(own.queue.h, &own.store, &[n], &[], &[]));
    let got = read(x, own, &own.buffer, 0, n);
    assert!((0..n as u32).zip(got).all(|(i, v)| v == i + seed));
    let queue = own.random.below(2);
    x.t.arg_mem(&own.count, 0, &x.counter);
    x.counted.fetch_add(n as u32, Relaxed);
    drop(x.t.launch_on(x.queues[queue].h, &own.count, &[n], &[], &[]));
}

fn transfers(x: &Shared<'_>, own: &mut Own) {
    let value = own.random.below(1 << 20) as u32;
    drop(fill(x, own.queue.h, &own.buffer, value, 2048, &[]));
    ok(x.t.clEnqueueCopyBuffer(own.queue.h, own.buffer.h, own.buffer.h, 0, 2048, 2048, 0, null(), null_mut()));
    let words = [value ^ 5; 16];
    let data = words.as_ptr().cast();
    ok(x.t.clEnqueueWriteBuffer(own.queue.h, own.buffer.h, CL_FALSE, 64, 64, data, 0, null(), null_mut()));
    let got = read(x, own, &own.buffer, 0, 1024);
    assert!(got.iter().enumerate().all(|(i, &v)| v == if (16..32).contains(&i) { value ^ 5 } else { value }));
    let objects = [own.buffer.h, x.common.h];
    let flags = [0, CL_MIGRATE_MEM_OBJECT_HOST][own.random.below(2)];
    ok(x.t.clEnqueueMigrateMemObjects(own.queue.h, 2, objects.as_ptr(), flags, 0, null(), null_mut()));
}

fn boxes(x: &Shared<'_>, own: &mut Own) {
    let words: Vec<u32> = (0..64).map(|i| i + own.number as u32).collect();
    let (zero, region, to) = ([0usize; 3], [32usize, 8, 1], [32usize, 3, 0]);
    let (q, b, data) = (own.queue.h, own.buffer.h, words.as_ptr().cast());
    let (z, r, o) = (zero.as_ptr(), region.as_ptr(), to.as_ptr());
    ok(x.t.clEnqueueWriteBufferRect(q, b, CL_TRUE, z, z, r, 128, 0, 32, 0, data, 0, null(), null_mut()));
    ok(x.t.clEnqueueCopyBufferRect(q, b, b, z, o, r, 128, 0, 128, 0, 0, null(), null_mut()));
    let mut back = vec![0u32; 64];
    let at = back.as_mut_ptr().cast();
    ok(x.t.clEnqueueReadBufferRect(q, b, CL_TRUE, o, z, r, 128, 0, 32, 0, at, 0, null(), null_mut()));
    assert_eq!(back, words);
}

fn sub_buffers(x: &Shared<'_>, own: &mut Own) {
    let (region, mut code) = ([1024usize, 512], 1);
    let part = x.t.clCreateSubBuffer(own.buffer.h, 0, 0x1220, region.as_ptr().cast(), &mut code);
    ok(code);
    let part = Obj::mem(part);
    let value = own.random.below(1 << 20) as u32;
    drop(fill(x, own.queue.h, &part, value, 512, &[]));
    drop(part);
    assert_eq!(read(x, own, &own.buffer, 1024, 128), [value; 128]);
}

fn maps(x: &Shared<'_>, own: &mut Own) {
    let (value, mut code) = (own.random.below(256) as u8, 1);
    let (q, b, flags) = (own.queue.h, own.buffer.h, CL_MAP_READ | CL_MAP_WRITE);
    let at = x.t.clEnqueueMapBuffer(q, b, CL_TRUE, flags, 256, 512, 0, null(), null_mut(), &mut code);
    ok(code);
    mapped(at, 512).fill(value);
    ok(x.t.clEnqueueUnmapMemObject(q, b, at, 0, null(), null_mut()));
    assert_eq!(read(x, own, &own.buffer, 256, 128), [u32::from_ne_bytes([value; 4]); 128]);
}

fn images(x: &Shared<'_>, own: &mut Own) {
    let desc = Desc::new(D2, [16, 16, 0]);
    let (from, to) = (x.t.image(NUMBERS, &desc), x.t.image(NUMBERS, &desc));
    let value = own.random.below(1 << 20) as u32;
    let (colour, zero, region) = ([value; 4], [0usize; 3], [16usize, 16, 1]);
    let (q, z, r) = (own.queue.h, zero.as_ptr(), region.as_ptr());
    ok(x.t.clEnqueueFillImage(q, from.h, colour.as_ptr().cast(), z, r, 0, null(), null_mut()));
    let kernel = x.t.kernel_of(&x.program, "mean");
    x.t.arg_mem(&kernel, 0, &from);
    x.t.arg_mem(&kernel, 1, &to);
    drop(x.t.launch_on(q, &kernel, &[16, 16], &[], &[]));
    ok(x.t.clEnqueueCopyImage(q, to.h, from.h, z, z, r, 0, null(), null_mut()));
    ok(x.t.clEnqueueCopyImageToBuffer(q, from.h, own.buffer.h, z, r, 0, 0, null(), null_mut()));
    assert!(read(x, own, &own.buffer, 0, 1024).iter().all(|&v| v == value + 1));
    let (mut row, mut code) = (0, 1);
    let at = x.t.clEnqueueMapImage(
        q,
        to.h,
        CL_TRUE,
        CL_MAP_READ,
        z,
        r,
        &mut row,
        null_mut(),
        0,
        null(),
        null_mut(),
        &mut code,
    );
    ok(code);
    assert_eq!(mapped(at, 4), (value + 1).to_ne_bytes());
    ok(x.t.clEnqueueUnmapMemObject(q, to.h, at, 0, null(), null_mut()));
    // Both are released while the unmapping may still be to come.
}

fn events(x: &Shared<'_>, own: &mut Own) {
    let mut last = fill(x, own.queue.h, &own.buffer, 1, 64, &[]);
    for i in 0..8u32 {
        // From queue to queue, each waiting for the other.
        let queue = if i % 2 == 0 { x.queues[1].h } else { own.queue.h };
        last = fill(x, queue, &own.buffer, i, 64, &[last.h]);
    }
    x.t.wait(&[&last]);
    assert_eq!(read(x, own, &own.buffer, 0, 16), [7; 16]);
}

fn user_events(x: &Shared<'_>, own: &mut Own) {
    let gate = x.t.user_event();
    let waits = fill(x, own.queue.h, &own.buffer, 11, 64, &[gate.h]);
    let fails = own.random.below(3) == 0;
    x.t.complete(&gate, if fails { -9 } else { CL_COMPLETE });
    let code = x.t.clWaitForEvents(1, &waits.h);
    assert_eq!(code, if fails { CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST } else { 0 });
}

fn callbacks(x: &Shared<'_>, own: &mut Own) {
    let event = fill(x, own.queue.h, &own.buffer, 3, 64, &[]);
    let calls = &raw const x.calls as usize;
    let count = move || {
        // SAFETY: the counter outlives all callbacks, which are waited for.
        let calls = unsafe { &*std::ptr::with_exposed_provenance::<std::sync::atomic::AtomicU64>(calls) };
        calls.fetch_add(1, Relaxed);
    };
    x.expected.fetch_add(3, Relaxed);
    let buffer = x.t.buffer(0, 64);
    let (call, data) = on_object(move |_| count());
    ok(x.t.clSetMemObjectDestructorCallback(buffer.h, call, data));
    // The callback releases a buffer, and the event that calls it.
    ok(x.t.clRetainEvent(event.h));
    let (call, data) = on_event(move |event, _| {
        drop(buffer);
        ok(api().clReleaseEvent(std::ptr::with_exposed_provenance_mut(event)));
        count();
    });
    ok(x.t.clSetEventCallback(event.h, CL_COMPLETE, call, data));
    let (call, data) = on_event(move |_, _| count());
    ok(x.t.clSetEventCallback(event.h, CL_SUBMITTED, call, data));
}

fn builds(x: &Shared<'_>, own: &mut Own) {
    let n = own.random.below(40) as u32;
    let source = format!("kernel void k(global uint *p) {{ p[get_global_id(0)] = {n} * get_global_id(0); }}");
    let program = x.t.source(&source);
    match own.random.below(3) {
        0 => ok(x.t.build(&program, "-cl-mad-enable")),
        1 => {
            let calls = Calls::new();
            let send = calls.sender();
            let (call, data) = on_object(move |_| send.send(()).unwrap());
            ok(x.t.clBuildProgram(program.h, 0, null(), null(), call, data));
            calls.next();
        }
        _ => {
            ok(x.t.clCompileProgram(program.h, 0, null(), null(), 0, null(), null(), None, null_mut()));
            let mut code = 1;
            let none: *const c_char = null();
            let linked = x.t.clLinkProgram(x.t.context(), 0, null(), none, 1, &program.h, None, null_mut(), &mut code);
            ok(code);
            return run_built(x, own, &Obj::program(linked), n);
        }
    }
    run_built(x, own, &program, n);
}

fn run_built(x: &Shared<'_>, own: &Own, program: &Obj, n: u32) {
    let kernel = x.t.kernel_of(program, "k");
    x.t.arg_mem(&kernel, 0, &own.buffer);
    drop(x.t.launch_on(own.queue.h, &kernel, &[64], &[], &[]));
    assert_eq!(read(x, own, &own.buffer, 0, 64), (0..64).map(|i| i * n).collect::<Vec<_>>());
}

fn shared_virtual_memory(x: &Shared<'_>, own: &mut Own) {
    let memory = x.t.clSVMAlloc(x.t.context(), CL_MEM_READ_WRITE, 1024, 0);
    assert!(!memory.is_null());
    let (q, value) = (own.queue.h, own.random.below(1 << 20) as u32);
    let bytes = value.to_ne_bytes();
    ok(x.t.clEnqueueSVMMemFill(q, memory, bytes.as_ptr().cast(), 4, 1024, 0, null(), null_mut()));
    let kernel = x.t.kernel_of(&x.program, "store");
    ok(x.t.clSetKernelArgSVMPointer(kernel.h, 0, memory));
    x.t.arg(&kernel, 1, value);
    drop(x.t.launch_on(q, &kernel, &[64], &[], &[]));
    let mut back = vec![0u32; 128];
    ok(x.t.clEnqueueSVMMemcpy(q, CL_TRUE, back.as_mut_ptr().cast(), memory, 512, 0, null(), null_mut()));
    assert!((0..128).all(|i| back[i as usize] == if i < 64 { value + i } else { value }));
    if value.is_multiple_of(2) {
        ok(x.t.clEnqueueSVMFree(q, 1, &memory, None, null_mut(), 0, null(), null_mut()));
    } else {
        ok(x.t.clFinish(q));
        x.t.clSVMFree(x.t.context(), memory);
    }
}

fn unified_memory(x: &Shared<'_>, own: &mut Own) {
    let (mut code, u) = (1, &x.unified);
    let memory = u.clSharedMemAllocINTEL(x.t.context(), x.t.device, null(), 512, 0, &mut code);
    ok(code);
    let value = (own.random.below(1 << 20) as u32).to_ne_bytes();
    ok(u.clEnqueueMemFillINTEL(own.queue.h, memory, value.as_ptr().cast_mut().cast(), 4, 512, 0, null(), null_mut()));
    let mut back = [0u8; 512];
    ok(u.clEnqueueMemcpyINTEL(own.queue.h, 1, back.as_mut_ptr().cast(), memory, 512, 0, null(), null_mut()));
    assert_eq!(back[..], value.repeat(128));
    ok(u.clMemBlockingFreeINTEL(x.t.context(), memory));
}

fn command_buffers(x: &Shared<'_>, own: &mut Own) {
    let recorded = x.command_buffers.buffer(own.queue.h, 0);
    let counter = x.t.buffer_of(&[0u32]);
    let kernel = x.t.kernel_of(&x.program, "count");
    x.t.arg_mem(&kernel, 0, &counter);
    let (first, _) = recorded.launch(&kernel, 10, &[], None);
    recorded.launch(&kernel, 7, &[first], None);
    recorded.finalize();
    let runs = 1 + own.random.below(5) as u32;
    (0..runs).for_each(|_| drop(recorded.enqueue(&[])));
    // It is released while it runs.
    drop(recorded);
    assert_eq!(read(x, own, &counter, 0, 1), [runs * 17]);
}

fn semaphores(x: &Shared<'_>, own: &mut Own) {
    let (mut code, s) = (1, &x.semaphores);
    let semaphore = s.clCreateSemaphoreWithPropertiesKHR(x.t.context(), [0x203D, 1, 0].as_ptr(), &mut code);
    ok(code);
    let other = x.t.another_queue(0);
    let mut event = null_mut();
    ok(s.clEnqueueSignalSemaphoresKHR(own.queue.h, 1, &semaphore, null(), 0, null(), null_mut()));
    ok(s.clEnqueueWaitSemaphoresKHR(other.h, 1, &semaphore, null(), 0, null(), &mut event));
    x.t.wait(&[&Obj::event(event)]);
    ok(s.clReleaseSemaphoreKHR(semaphore));
}

fn native_kernels(x: &Shared<'_>, own: &mut Own) {
    let calls = &raw const x.calls as usize;
    extern "C" fn count(args: *mut std::ffi::c_void) {
        // SAFETY: the argument is the address of the counter, which outlives the command.
        let calls = unsafe { &**args.cast::<*const std::sync::atomic::AtomicU64>() };
        calls.fetch_add(1, Relaxed);
    }
    x.expected.fetch_add(1, Relaxed);
    let (block, mut event) = ([calls], null_mut());
    let args = block.as_ptr().cast_mut().cast();
    ok(x.t.clEnqueueNativeKernel(own.queue.h, Some(count), args, 8, 0, null(), null(), 0, null(), &mut event));
    drop(Obj::event(event));
}

/// Releases every kind of object while commands that use it wait, and lets them run then.
fn releases(x: &Shared<'_>, own: &mut Own) {
    let gate = x.t.user_event();
    {
        let queue = x.t.another_queue(own.random.below(4) as u64);
        let source = "kernel void k(global uint *p, read_only image2d_t i, sampler_t s) { p[0] = read_imageui(i, s, (int2)(0)).x; }";
        let kernel = x.t.kernel(source);
        let (buffer, image) = (x.t.buffer(0, 64), x.t.image(NUMBERS, &Desc::new(D2, [4, 4, 0])));
        let mut code = 1;
        let sampler = Obj::sampler(x.t.clCreateSampler(x.t.context(), 0, 0x1130, 0x1140, &mut code));
        ok(code);
        let (region, kind) = ([0usize, 64], 0x1220);
        let part = Obj::mem(x.t.clCreateSubBuffer(buffer.h, 0, kind, region.as_ptr().cast(), &mut code));
        ok(code);
        x.t.arg_mem(&kernel, 0, &part);
        x.t.arg_mem(&kernel, 1, &image);
        x.t.arg_mem(&kernel, 2, &sampler);
        drop(x.t.launch_on(queue.h, &kernel, &[4], &[], &[gate.h]));
        drop(fill(x, queue.h, &part, 6, 64, &[gate.h]));
        let recorded = x.command_buffers.buffer(queue.h, 0);
        recorded.launch(&kernel, 4, &[], None);
        recorded.finalize();
        drop(recorded.enqueue(&[gate.h]));
    }
    if own.random.below(4) > 0 {
        x.t.complete(&gate, CL_COMPLETE);
    }
}

/// What several threads may use at any time.
fn shared_objects(x: &Shared<'_>, own: &mut Own) {
    let at = own.random.below(4);
    let buffer: Arc<Obj> = x.list.lock().unwrap()[at].clone();
    let queue = &x.queues[own.random.below(2)];
    drop(fill(x, queue.h, &buffer, 1, 256, &[]));
    ok(x.t.clRetainMemObject(buffer.h));
    ok(x.t.clReleaseMemObject(buffer.h));
    if own.random.below(8) == 0 {
        let new = Arc::new(x.t.buffer(0, 256));
        x.list.lock().unwrap()[at] = new;
    }
    drop(x.t.marker_on(queue.h, &[]));
    ok(x.t.clFlush(queue.h));
    if own.random.below(16) == 0 {
        ok(x.t.clFinish(queue.h));
    }
    drop(fill(x, queue.h, &x.common, own.number as u32, 4096, &[]));
}

fn queries(x: &Shared<'_>, own: &mut Own) {
    let count: u32 = info(|s, v, r| x.t.clGetMemObjectInfo(own.buffer.h, CL_MEM_REFERENCE_COUNT, s, v, r));
    assert_eq!(count, 1);
    let names = text(|s, v, r| x.t.clGetProgramInfo(x.program.h, CL_PROGRAM_KERNEL_NAMES, s, v, r));
    assert_eq!(names, "store;count;mean");
    let size = query(|s, v, r| x.t.clGetProgramInfo(x.program.h, CL_PROGRAM_BINARY_SIZES, s, v, r));
    assert_eq!(size.len(), 8);
    let kernel = x.t.kernel_of(&x.program, "count");
    let largest: usize =
        info(|s, v, r| x.t.clGetKernelWorkGroupInfo(kernel.h, x.t.device, CL_KERNEL_WORK_GROUP_SIZE, s, v, r));
    assert!(largest > 0);
    assert!(!text(|s, v, r| x.t.clGetDeviceInfo(x.t.device, CL_DEVICE_EXTENSIONS, s, v, r)).is_empty());
}
