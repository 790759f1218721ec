//! Chapter 5.6 of the specification: shared virtual memory, as far as the device supports it.

#![allow(unsafe_code, reason = "it calls the C interface")]

#[path = "../common/mod.rs"]
mod common;
use common::*;
use std::ffi::c_void;

/// A session, if the device has coarse-grained shared memory.
fn session(properties: u64) -> Option<Session> {
    let t = Session::with(properties);
    let has = t.device_info::<u64>(CL_DEVICE_SVM_CAPABILITIES) & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER != 0;
    has.then_some(t)
}

#[track_caller]
fn alloc(t: &Session, size: usize) -> Handle {
    let memory = t.clSVMAlloc(t.context(), CL_MEM_READ_WRITE, size, 0);
    assert!(!memory.is_null());
    assert_eq!(memory as usize % 128, 0, "aligned for the largest type");
    memory
}

/// Maps an allocation, to look at it or to write.
fn map(t: &Session, memory: Handle, size: usize) -> &'static mut [u8] {
    ok(t.clEnqueueSVMMap(t.queue(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, memory, size, 0, null(), null_mut()));
    mapped(memory, size)
}

fn unmap(t: &Session, memory: Handle) {
    ok(t.clEnqueueSVMUnmap(t.queue(), memory, 0, null(), null_mut()));
}

#[test]
fn kernels_follow_pointers_of_the_host() {
    let Some(t) = session(0) else { return };
    let kernel = t.kernel("kernel void k(global uint *p, uint n) { p[get_global_id(0)] *= n; }");
    let memory = alloc(&t, 64);
    map(&t, memory, 64).copy_from_slice([7u32.to_ne_bytes(); 16].as_flattened());
    unmap(&t, memory);
    let second = memory.cast::<u8>().wrapping_add(32).cast();
    ok(t.clSetKernelArgSVMPointer(kernel.h, 0, second));
    t.arg(&kernel, 1, 3u32);
    drop(t.launch(&kernel, &[8], &[]));
    let got = map(&t, memory, 64);
    assert_eq!(got[..32], *[7u32.to_ne_bytes(); 8].as_flattened());
    assert_eq!(got[32..], *[21u32.to_ne_bytes(); 8].as_flattened());
    unmap(&t, memory);
    t.finish();
    t.clSVMFree(t.context(), memory);
    t.clSVMFree(t.context(), null_mut());
}

#[test]
fn a_structure_may_point_into_another_allocation() {
    let Some(t) = session(0) else { return };
    let kernel = t.kernel(
        "typedef struct { global int *next; int value; } node;
         kernel void k(global node *n) { n->value += *n->next; }",
    );
    let (node, target) = (alloc(&t, 16), alloc(&t, 4));
    map(&t, target, 4).copy_from_slice(&40i32.to_ne_bytes());
    unmap(&t, target);
    let bytes = map(&t, node, 16);
    bytes[..8].copy_from_slice(&(target as usize).to_ne_bytes());
    bytes[8..12].copy_from_slice(&2i32.to_ne_bytes());
    unmap(&t, node);
    ok(t.clSetKernelArgSVMPointer(kernel.h, 0, node));
    let pointers = [target.cast_const()];
    let name = CL_KERNEL_EXEC_INFO_SVM_PTRS;
    ok(t.clSetKernelExecInfo(kernel.h, name, 8, pointers.as_ptr().cast()));
    drop(t.launch(&kernel, &[1], &[]));
    assert_eq!(map(&t, node, 16)[8..12], 42i32.to_ne_bytes());
    unmap(&t, node);
    t.finish();
    t.clSVMFree(t.context(), node);
    t.clSVMFree(t.context(), target);
}

#[test]
fn a_kernel_works_on_any_memory_of_the_host() {
    let Some(t) = session(0) else { return };
    if t.device_info::<u64>(CL_DEVICE_SVM_CAPABILITIES) & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM == 0 {
        return;
    }
    let mut values: Vec<u32> = (0..100).collect();
    let kernel = t.kernel("kernel void k(global uint *p) { p[get_global_id(0)] *= 2; }");
    ok(t.clSetKernelArgSVMPointer(kernel.h, 0, values.as_mut_ptr().cast()));
    drop(t.launch(&kernel, &[100], &[10]));
    t.finish();
    assert!(values.iter().enumerate().all(|(i, &v)| v == 2 * i as u32));
}

/// Kernels that work for a while, and that wait until the host writes a number. Shared memory for both, if the device
/// has any with atomics.
fn waiting(properties: u64) -> Option<(Session, Obj, Obj, Handle)> {
    let t = session(properties)?;
    if t.device_info::<u64>(CL_DEVICE_SVM_CAPABILITIES) & CL_DEVICE_SVM_ATOMICS == 0 {
        return None;
    }
    let work = t.kernel("kernel void k(global uint *p, uint n) { for (uint i = 0; i < n; i++) *p = *p * 3 + i; }");
    let wait = t.kernel(
        "typedef struct { global uint *flag; } at;
         kernel void k(global at *p) { while (atomic_add(p->flag, 0) == 0) ; }",
    );
    let flags = CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS;
    let memory = t.clSVMAlloc(t.context(), flags, 256, 0);
    assert!(!memory.is_null());
    ok(t.clSetKernelArgSVMPointer(work.h, 0, memory.cast::<u8>().wrapping_add(128).cast()));
    t.arg(&work, 1, 3_000_000u32);
    // SAFETY: in the allocation, and nothing else uses it yet.
    unsafe { memory.cast::<u8>().add(64).cast::<Handle>().write(memory) };
    Some((t, work, wait, memory))
}

fn buffer_at(t: &Session, flags: u64, size: usize, at: Handle) -> Obj {
    let mut code = 0;
    let buffer = t.clCreateBuffer(t.context(), flags, size, at, &mut code);
    ok(code);
    Obj::mem(buffer)
}

/// Writes the number that the kernel waits for.
fn let_go(memory: Handle, value: u32) {
    // SAFETY: in the allocation, of which kernels and host use this word by atomic operations alone.
    unsafe { std::sync::atomic::AtomicU32::from_ptr(memory.cast()) }.store(value, std::sync::atomic::Ordering::SeqCst);
}

#[test]
fn who_waits_for_one_command_runs_no_other_that_waits_for_the_host() {
    let Some((t, work, wait, memory)) = waiting(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) else { return };
    ok(t.clSetKernelArgSVMPointer(wait.h, 0, memory.cast::<u8>().wrapping_add(64).cast()));
    for _ in 0..5 {
        let_go(memory, 0);
        let first = t.launch(&work, &[1], &[1]);
        std::thread::sleep(std::time::Duration::from_millis(1));
        let second = t.launch(&wait, &[1], &[1]);
        ok(t.clWaitForEvents(1, &first.h));
        let_go(memory, 1);
        ok(t.clWaitForEvents(1, &second.h));
    }
    t.clSVMFree(t.context(), memory);
}

#[test]
fn what_may_wait_for_the_host_does_not_keep_it_however_it_got_the_memory() {
    for in_buffer in [false, true] {
        let Some((t, _, wait, memory)) = waiting(0) else { return };
        let pointers = memory.cast::<u8>().wrapping_add(64);
        let buffer = match in_buffer {
            true => {
                let wait = "kernel void k(global uint *p) { while (atomic_add(p, 0) == 0) ; }";
                Some((t.kernel(wait), buffer_at(&t, CL_MEM_USE_HOST_PTR, 64, memory)))
            }
            false => None,
        };
        let (wait, buffer) = match buffer {
            Some((wait, buffer)) => (wait, buffer),
            None => {
                let pointed = [memory.cast_const()];
                ok(t.clSetKernelExecInfo(wait.h, CL_KERNEL_EXEC_INFO_SVM_PTRS, 8, pointed.as_ptr().cast()));
                (wait, buffer_at(&t, CL_MEM_COPY_HOST_PTR, 8, pointers.cast()))
            }
        };
        t.arg_mem(&wait, 0, &buffer);
        let_go(memory, 1);
        // Often enough that it is known to be short.
        for _ in 0..200 {
            drop(t.launch(&wait, &[1], &[1]));
            t.finish();
        }
        let_go(memory, 0);
        drop(t.launch(&wait, &[1], &[1]));
        let_go(memory, 1);
        t.finish();
        drop(buffer);
        t.clSVMFree(t.context(), memory);
    }
}

#[test]
fn commands_copy_fill_and_migrate() {
    let Some(t) = session(0) else { return };
    let (a, b) = (alloc(&t, 256), alloc(&t, 256));
    for unit in [1usize, 2, 4, 16, 128] {
        let pattern: Vec<u8> = (0..unit as u8).map(|i| i.wrapping_mul(3).wrapping_add(unit as u8)).collect();
        let from = pattern.as_ptr().cast();
        ok(t.clEnqueueSVMMemFill(t.queue(), a, from, unit, 256, 0, null(), null_mut()));
        drop(pattern.clone());
        let mut event = null_mut();
        ok(t.clEnqueueSVMMemcpy(t.queue(), CL_FALSE, b, a, 256, 0, null(), &mut event));
        let event = Obj::event(event);
        let kind: u32 = info(|s, v, r| t.clGetEventInfo(event.h, CL_EVENT_COMMAND_TYPE, s, v, r));
        assert_eq!(kind, CL_COMMAND_SVM_MEMCPY);
        assert_eq!(*map(&t, b, 256), *pattern.repeat(256 / unit));
        unmap(&t, b);
    }
    // To and from memory of the host that is no allocation.
    let mut host = [9u8; 16];
    let at: Handle = host.as_mut_ptr().cast();
    ok(t.clEnqueueSVMMemcpy(t.queue(), CL_TRUE, a, at, 16, 0, null(), null_mut()));
    ok(t.clEnqueueSVMMemcpy(t.queue(), CL_TRUE, at, b, 16, 0, null(), null_mut()));
    assert_eq!(map(&t, a, 16), [9; 16]);
    unmap(&t, a);
    let list = [a.cast_const(), b.cast_const()];
    ok(t.clEnqueueSVMMigrateMem(t.queue(), 2, list.as_ptr(), null(), 0, 0, null(), null_mut()));
    ok(t.clEnqueueSVMMigrateMem(t.queue(), 2, list.as_ptr(), [0, 16].as_ptr(), 0, 0, null(), null_mut()));
    ok(t.clEnqueueSVMFree(t.queue(), 2, [a, b].as_ptr(), None, null_mut(), 0, null(), null_mut()));
    t.finish();
}

#[test]
fn the_application_may_free_by_itself() {
    let Some(t) = session(0) else { return };
    static FREED: std::sync::Mutex<Vec<usize>> = std::sync::Mutex::new(Vec::new());
    unsafe extern "C" fn free(queue: Handle, n: u32, list: *mut *mut c_void, data: *mut c_void) {
        assert!(!queue.is_null() && n == 2);
        // SAFETY: the list has two pointers.
        let list = unsafe { std::slice::from_raw_parts(list, 2) };
        FREED.lock().unwrap().extend(list.iter().map(|p| *p as usize));
        for &pointer in list {
            api().clSVMFree(data, pointer);
        }
    }
    let (a, b) = (alloc(&t, 16), alloc(&t, 16));
    let list = [a, b];
    let gate = t.user_event();
    let context = t.context();
    ok(t.clEnqueueSVMFree(t.queue(), 2, list.as_ptr(), Some(free), context, 1, &gate.h, null_mut()));
    assert!(FREED.lock().unwrap().is_empty());
    t.complete(&gate, CL_COMPLETE);
    t.finish();
    assert_eq!(*FREED.lock().unwrap(), [a as usize, b as usize]);
}

#[test]
fn a_buffer_may_use_an_allocation() {
    let Some(t) = session(0) else { return };
    let memory = alloc(&t, 64);
    let mut code = 1;
    let buffer = t.clCreateBuffer(t.context(), CL_MEM_USE_HOST_PTR, 64, memory, &mut code);
    ok(code);
    let buffer = Obj::mem(buffer);
    let uses = |b: &Obj| info::<u32>(|s, v, r| t.clGetMemObjectInfo(b.h, CL_MEM_USES_SVM_POINTER, s, v, r));
    assert_eq!(uses(&buffer), CL_TRUE);
    assert_eq!(uses(&t.buffer(0, 64)), CL_FALSE);
    t.write(&buffer, 0, &[5u32]);
    assert_eq!(map(&t, memory, 4), 5u32.to_ne_bytes());
    // One that would reach beyond the end of the allocation, from its begin or from its middle, is refused.
    let mut c = Cases::new();
    let middle: Handle = memory.cast::<u8>().wrapping_add(16).cast();
    for flags in [CL_MEM_USE_HOST_PTR, CL_MEM_COPY_HOST_PTR] {
        for (at, room) in [(memory, 64), (middle, 48)] {
            let wanted = CL_INVALID_BUFFER_SIZE;
            c.new_object("a byte too much", wanted, |code| t.clCreateBuffer(t.context(), flags, room + 1, at, code));
            drop(buffer_at(&t, flags, room, at));
        }
    }
    c.end();
    unmap(&t, memory);
    t.finish();
    drop(buffer);
    t.clSVMFree(t.context(), memory);
}

#[test]
fn allocations_that_cannot_be_are_null() {
    let Some(t) = session(0) else { return };
    let most = t.device_info::<u64>(CL_DEVICE_MAX_MEM_ALLOC_SIZE) as usize;
    let both = CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
    for (flags, size, alignment) in [
        (CL_MEM_READ_WRITE, 0, 0),
        (CL_MEM_READ_WRITE, most + 1, 0),
        (CL_MEM_READ_WRITE, 16, 3),
        (CL_MEM_READ_WRITE, 16, 1 << 20),
        (both, 16, 0),
        (CL_MEM_USE_HOST_PTR, 16, 0),
        (1 << 40, 16, 0),
    ] {
        assert!(t.clSVMAlloc(t.context(), flags, size, alignment).is_null(), "{flags:#x} {size} {alignment}");
    }
    for (what, bad) in t.bad_handles(t.queue()) {
        assert!(t.clSVMAlloc(bad, CL_MEM_READ_WRITE, 16, 0).is_null(), "{what}");
        t.clSVMFree(bad, null_mut());
    }
    for alignment in [0, 1, 16, 128] {
        let memory = t.clSVMAlloc(t.context(), CL_MEM_READ_WRITE, 16, alignment);
        assert!(!memory.is_null(), "{alignment}");
        t.clSVMFree(t.context(), memory);
    }
}

#[test]
fn bad_arguments_have_their_codes() {
    let Some(t) = session(0) else { return };
    let mut c = Cases::new();
    let (a, b) = (alloc(&t, 64), alloc(&t, 64));
    let q = t.queue();
    let (n, no) = (null::<Handle>(), null_mut::<Handle>());
    let gone: Handle = null_mut();
    let copy = |q, to, from, size| t.clEnqueueSVMMemcpy(q, CL_TRUE, to, from, size, 0, n, no);
    c.code("copy to null", CL_INVALID_VALUE, copy(q, gone, b, 8));
    c.code("copy from null", CL_INVALID_VALUE, copy(q, a, gone, 8));
    c.code("copy that overlaps", CL_MEM_COPY_OVERLAP, copy(q, a, a.cast::<u8>().wrapping_add(4).cast(), 8));
    let word = 1u64;
    let pattern: Handle = (&raw const word).cast_mut().cast();
    let fill = |q, at, p: Handle, unit, size| t.clEnqueueSVMMemFill(q, at, p, unit, size, 0, n, no);
    c.code("fill null", CL_INVALID_VALUE, fill(q, gone, pattern, 4, 8));
    c.code("fill at an odd place", CL_INVALID_VALUE, fill(q, a.cast::<u8>().wrapping_add(2).cast(), pattern, 4, 8));
    c.code("fill with null", CL_INVALID_VALUE, fill(q, a, gone, 4, 8));
    for (unit, size) in [(0, 8), (3, 9), (256, 256), (4, 6)] {
        c.code(&format!("fill {size} by {unit}"), CL_INVALID_VALUE, fill(q, a, pattern, unit, size));
    }
    let map = |q, flags, at, size| t.clEnqueueSVMMap(q, CL_TRUE, flags, at, size, 0, n, no);
    c.code("map null", CL_INVALID_VALUE, map(q, CL_MAP_READ, gone, 8));
    c.code("map 0 bytes", CL_INVALID_VALUE, map(q, CL_MAP_READ, a, 0));
    c.code("map with unknown flags", CL_INVALID_VALUE, map(q, 1 << 20, a, 8));
    c.code("unmap null", CL_INVALID_VALUE, t.clEnqueueSVMUnmap(q, gone, 0, n, no));
    let list = [a.cast_const()];
    let free = |q, count, list: *const Handle| t.clEnqueueSVMFree(q, count, list, None, null_mut(), 0, n, no);
    c.code("free nothing", CL_INVALID_VALUE, free(q, 0, &a));
    c.code("free a null list", CL_INVALID_VALUE, free(q, 1, null()));
    c.code("free none of no list", CL_SUCCESS, free(q, 0, null()));
    c.code("free null", CL_SUCCESS, free(q, 1, &gone));
    let migrate = |q, count, list: *const *const c_void, sizes: *const usize, flags| {
        t.clEnqueueSVMMigrateMem(q, count, list, sizes, flags, 0, n, no)
    };
    c.code("migrate nothing", CL_INVALID_VALUE, migrate(q, 0, list.as_ptr(), null(), 0));
    c.code("migrate a null list", CL_INVALID_VALUE, migrate(q, 1, null(), null(), 0));
    c.code("migrate with unknown flags", CL_INVALID_VALUE, migrate(q, 1, list.as_ptr(), null(), 1 << 20));
    let far = [(&raw const word).cast::<c_void>()];
    c.code("migrate what is no allocation", CL_INVALID_VALUE, migrate(q, 1, far.as_ptr(), null(), 0));
    c.code("migrate too much", CL_INVALID_VALUE, migrate(q, 1, list.as_ptr(), [1 << 20].as_ptr(), 0));
    let wait = CL_INVALID_EVENT_WAIT_LIST;
    c.code("copy: wait list", wait, t.clEnqueueSVMMemcpy(q, CL_TRUE, a, b, 8, 1, n, no));
    c.code("fill: wait list", wait, t.clEnqueueSVMMemFill(q, a, pattern, 4, 8, 1, n, no));
    c.code("map: wait list", wait, t.clEnqueueSVMMap(q, CL_TRUE, CL_MAP_READ, a, 8, 1, n, no));
    c.code("unmap: wait list", wait, t.clEnqueueSVMUnmap(q, a, 1, n, no));
    c.code("free: wait list", wait, t.clEnqueueSVMFree(q, 1, &a, None, null_mut(), 1, n, no));
    for (what, bad) in t.bad_handles(t.context()) {
        let wanted = CL_INVALID_COMMAND_QUEUE;
        c.code(&format!("copy on {what}"), wanted, copy(bad, a, b, 8));
        c.code(&format!("fill on {what}"), wanted, fill(bad, a, pattern, 4, 8));
        c.code(&format!("map on {what}"), wanted, map(bad, CL_MAP_READ, a, 8));
        c.code(&format!("unmap on {what}"), wanted, t.clEnqueueSVMUnmap(bad, a, 0, n, no));
        c.code(&format!("free on {what}"), wanted, free(bad, 1, &a));
        c.code(&format!("migrate on {what}"), wanted, migrate(bad, 1, list.as_ptr(), null(), 0));
    }
    let kernel = t.kernel("kernel void k(global uint *p, uint x, local uint *l) { p[0] = x + l[0]; }");
    let set = |k, i| t.clSetKernelArgSVMPointer(k, i, a);
    c.code("argument of null", CL_INVALID_KERNEL, set(null_mut(), 0));
    c.code("argument 3 of 3", CL_INVALID_ARG_INDEX, set(kernel.h, 3));
    c.code("a value as pointer", CL_INVALID_ARG_VALUE, set(kernel.h, 1));
    let note = |k, name, size, value| t.clSetKernelExecInfo(k, name, size, value);
    c.code("info of null", CL_INVALID_KERNEL, note(null_mut(), CL_KERNEL_EXEC_INFO_SVM_PTRS, 8, pattern));
    c.code("unknown info", CL_INVALID_VALUE, note(kernel.h, 0x7777, 8, pattern));
    c.code("info without value", CL_INVALID_VALUE, note(kernel.h, CL_KERNEL_EXEC_INFO_SVM_PTRS, 8, null()));
    c.code("half a pointer", CL_INVALID_VALUE, note(kernel.h, CL_KERNEL_EXEC_INFO_SVM_PTRS, 4, pattern));
    c.code("an empty set of pointers", CL_SUCCESS, note(kernel.h, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, null()));
    c.code(
        "a flag of no bytes",
        CL_INVALID_VALUE,
        note(kernel.h, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, 0, null()),
    );
    c.end();
    t.clSVMFree(t.context(), a);
    t.clSVMFree(t.context(), b);
}
