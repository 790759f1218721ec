//! Memory that commands and kernels use by address: `cl_intel_unified_shared_memory` and
//! `cl_ext_buffer_device_address`.

#![allow(unsafe_code, reason = "it calls the C interface")]

#[path = "../common/mod.rs"]
mod common;
use common::extension::*;
use common::*;

const ALLOC_FLAGS: u64 = 0x4195;
const TYPE: u32 = 0x419A;
const BASE: u32 = 0x419B;
const SIZE: u32 = 0x419C;
const DEVICE: u32 = 0x419D;
const FLAGS: u32 = 0x4195;
const UNKNOWN: u32 = 0x4196;
const HOST: u32 = 0x4197;
const OF_DEVICE: u32 = 0x4198;
const SHARED: u32 = 0x4199;

/// A session, and the functions if the device has them.
fn session() -> Option<(Session, UnifiedMemory)> {
    let t = Session::new();
    let extensions = text(|s, v, r| t.clGetDeviceInfo(t.device, CL_DEVICE_EXTENSIONS, s, v, r));
    let has = extensions.split(' ').any(|e| e == "cl_intel_unified_shared_memory");
    assert!(has || !t.ours());
    has.then(|| UnifiedMemory::new(&t)).map(|f| (t, f))
}

fn ask<T: Plain>(t: &Session, f: &UnifiedMemory, at: Handle, name: u32) -> T {
    info(|s, v, r| f.clGetMemAllocInfoINTEL(t.context(), at, name, s, v, r))
}

fn after(memory: Handle, bytes: usize) -> Handle {
    memory.cast::<u8>().wrapping_add(bytes).cast()
}

/// An allocation of each kind.
fn each(t: &Session, f: &UnifiedMemory, size: usize) -> [Handle; 3] {
    let mut code = 1;
    let host = f.clHostMemAllocINTEL(t.context(), null(), size, 0, &mut code);
    ok(code);
    let device = f.clDeviceMemAllocINTEL(t.context(), t.device, null(), size, 0, &mut code);
    ok(code);
    let shared = f.clSharedMemAllocINTEL(t.context(), t.device, null(), size, 0, &mut code);
    ok(code);
    assert!([host, device, shared].iter().all(|p| !p.is_null() && (*p as usize).is_multiple_of(128)));
    [host, device, shared]
}

#[test]
fn allocations_say_what_they_are() {
    let Some((t, f)) = session() else { return };
    for name in 0x4190..=0x4194 {
        let capabilities: u64 = t.device_info(name);
        assert!(capabilities < 16 && (name == 0x4194 || capabilities & 1 != 0), "{name:#x}");
    }
    let all = each(&t, &f, 1000);
    for (memory, kind) in all.iter().zip([HOST, OF_DEVICE, SHARED]) {
        for at in [*memory, after(*memory, 999)] {
            assert_eq!(ask::<u32>(&t, &f, at, TYPE), kind);
            assert_eq!(ask::<usize>(&t, &f, at, BASE), *memory as usize);
            assert_eq!(ask::<usize>(&t, &f, at, SIZE), 1000);
            let device = if kind == HOST { null_mut() } else { t.device };
            assert_eq!(ask::<usize>(&t, &f, at, DEVICE), device as usize);
            assert_eq!(ask::<u64>(&t, &f, at, FLAGS), 0);
        }
    }
    let mut code = 1;
    let properties = [ALLOC_FLAGS, 1 | 2, 0];
    let shared = f.clSharedMemAllocINTEL(t.context(), null_mut(), properties.as_ptr(), 64, 16, &mut code);
    ok(code);
    assert_eq!(ask::<u64>(&t, &f, shared, FLAGS), 3);
    assert_eq!(ask::<usize>(&t, &f, shared, DEVICE), 0);
    // What is none of them: past the end, of the program, freed, and of shared virtual memory.
    let local = 5;
    let svm = t.clSVMAlloc(t.context(), CL_MEM_READ_WRITE, 64, 0);
    ok(f.clMemFreeINTEL(t.context(), all[0]));
    for at in [after(all[1], 1000), (&raw const local).cast_mut().cast(), null_mut(), all[0], svm] {
        assert_eq!(ask::<u32>(&t, &f, at, TYPE), UNKNOWN);
        assert_eq!([BASE, SIZE, DEVICE].map(|name| ask::<usize>(&t, &f, at, name)), [0; 3]);
        assert_eq!(ask::<u64>(&t, &f, at, FLAGS), 0);
    }
    let mut c = Cases::new();
    c.query("info", TYPE, |n, s, v, r| f.clGetMemAllocInfoINTEL(t.context(), all[1], n, s, v, r));
    c.code(
        "null context",
        CL_INVALID_CONTEXT,
        f.clGetMemAllocInfoINTEL(null_mut(), all[1], TYPE, 0, null_mut(), null_mut()),
    );
    c.code("freed", CL_INVALID_VALUE, f.clMemFreeINTEL(t.context(), all[0]));
    c.code("inside", CL_INVALID_VALUE, f.clMemFreeINTEL(t.context(), after(all[1], 8)));
    c.code("of another kind", CL_INVALID_VALUE, f.clMemBlockingFreeINTEL(t.context(), svm));
    c.code("null", 0, f.clMemFreeINTEL(t.context(), null_mut()));
    c.code("null", 0, f.clMemBlockingFreeINTEL(t.context(), null_mut()));
    c.code("null context", CL_INVALID_CONTEXT, f.clMemFreeINTEL(null_mut(), all[1]));
    c.code("null context", CL_INVALID_CONTEXT, f.clMemBlockingFreeINTEL(null_mut(), all[1]));
    c.end();
    t.clSVMFree(t.context(), svm);
    [all[1], all[2], shared].iter().for_each(|&p| ok(f.clMemFreeINTEL(t.context(), p)));
}

#[test]
fn impossible_allocations_have_their_codes() {
    let Some((t, f)) = session() else { return };
    let largest: u64 = t.device_info(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    let mut c = Cases::new();
    let context = t.context();
    let host = |context, list: &[u64], size, align, e| f.clHostMemAllocINTEL(context, list.as_ptr(), size, align, e);
    let device = |d, list: &[u64], size, align, e| f.clDeviceMemAllocINTEL(context, d, list.as_ptr(), size, align, e);
    let shared = |d, list: &[u64], size, align, e| f.clSharedMemAllocINTEL(context, d, list.as_ptr(), size, align, e);
    let none = [0u64];
    c.new_object("null context", CL_INVALID_CONTEXT, |e| host(null_mut(), &none, 8, 0, e));
    c.new_object("no device", CL_INVALID_DEVICE, |e| device(null_mut(), &none, 8, 0, e));
    c.new_object("another object", CL_INVALID_DEVICE, |e| shared(context, &none, 8, 0, e));
    for alignment in [3, 256, 1 << 31] {
        c.new_object("alignment", CL_INVALID_VALUE, |e| host(context, &none, 8, alignment, e));
        c.new_object("alignment", CL_INVALID_VALUE, |e| device(t.device, &none, 8, alignment, e));
        c.new_object("alignment", CL_INVALID_VALUE, |e| shared(null_mut(), &none, 8, alignment, e));
    }
    for size in [0, largest as usize + 1] {
        c.new_object("size", CL_INVALID_BUFFER_SIZE, |e| host(context, &none, size, 0, e));
        c.new_object("size", CL_INVALID_BUFFER_SIZE, |e| device(t.device, &none, size, 0, e));
        c.new_object("size", CL_INVALID_BUFFER_SIZE, |e| shared(t.device, &none, size, 0, e));
    }
    let wrong: [&[u64]; 4] =
        [&[0x7777, 1, 0], &[ALLOC_FLAGS, 8, 0], &[ALLOC_FLAGS, 1, ALLOC_FLAGS, 1, 0], &[ALLOC_FLAGS, 6, 0]];
    for list in wrong {
        c.new_object("property", CL_INVALID_PROPERTY, |e| host(context, list, 8, 0, e));
        c.new_object("property", CL_INVALID_PROPERTY, |e| device(t.device, list, 8, 0, e));
        c.new_object("property", CL_INVALID_PROPERTY, |e| shared(t.device, list, 8, 0, e));
    }
    for placed in [2, 4] {
        let list = [ALLOC_FLAGS, placed, 0];
        c.new_object("placement", CL_INVALID_PROPERTY, |e| host(context, &list, 8, 0, e));
        c.new_object("placement", CL_INVALID_PROPERTY, |e| device(t.device, &list, 8, 0, e));
    }
    c.end();
}

#[test]
fn kernels_and_commands_use_them_by_address() {
    let Some((t, f)) = session() else { return };
    let [host, device, shared] = each(&t, &f, 400);
    let kernel = t.kernel(
        "typedef struct { global int *next; } link;
         kernel void k(global int *out, global const link *l, global const int *in)
         { size_t i = get_global_id(0); out[i] = l->next[i] + in[i]; }",
    );
    let mut code = 1;
    let link = f.clSharedMemAllocINTEL(t.context(), t.device, null(), 8, 8, &mut code);
    ok(code);
    let (q, mut events) = (t.queue(), [null_mut(); 5]);
    let seven = 7i32;
    let filled =
        f.clEnqueueMemFillINTEL(q, device, (&raw const seven).cast_mut().cast(), 4, 400, 0, null(), &mut events[0]);
    ok(filled);
    let values: Vec<i32> = (0..100).collect();
    let from = values.as_ptr().cast_mut().cast();
    ok(f.clEnqueueMemcpyINTEL(q, CL_FALSE, host, from, 400, 1, &events[0], &mut events[1]));
    ok(f.clEnqueueMigrateMemINTEL(q, shared, 400, 0, 1, &events[1], &mut events[2]));
    ok(f.clEnqueueMigrateMemINTEL(q, shared, 400, 1, 1, &events[1], null_mut()));
    ok(f.clEnqueueMemAdviseINTEL(q, shared, 400, 0, 1, &events[2], &mut events[3]));
    // SAFETY: an allocation of that size, which nothing else uses yet.
    unsafe { link.cast::<Handle>().write(device) };
    ok(f.clSetKernelArgMemPointerINTEL(kernel.h, 0, shared));
    ok(f.clSetKernelArgMemPointerINTEL(kernel.h, 1, link));
    ok(f.clSetKernelArgMemPointerINTEL(kernel.h, 2, after(host, 4)));
    let yes = CL_TRUE;
    for name in [0x4200, 0x4201, 0x4202] {
        ok(t.clSetKernelExecInfo(kernel.h, name, 4, (&raw const yes).cast()));
    }
    ok(t.clSetKernelExecInfo(kernel.h, 0x4203, 8, (&raw const device).cast()));
    events[4] = t.launch_on(q, &kernel, &[99], &[], &[events[3]]).release();
    let mut got = [0i32; 99];
    ok(f.clEnqueueMemcpyINTEL(q, CL_TRUE, got.as_mut_ptr().cast(), shared, 396, 0, null(), null_mut()));
    assert_eq!(got, std::array::from_fn(|i| i as i32 + 1 + 7));
    let types = [0x4204, 0x4205, 0x4206, 0x4207];
    for (event, wanted) in events.iter().zip(types) {
        let event = Obj::event(*event);
        let kind: u32 = info(|s, v, r| t.clGetEventInfo(event.h, CL_EVENT_COMMAND_TYPE, s, v, r));
        assert_eq!(kind, wanted);
    }
    drop(kernel);
    [host, device, shared, link].iter().for_each(|&p| ok(f.clMemBlockingFreeINTEL(t.context(), p)));
}

#[test]
fn a_blocking_free_waits_for_the_commands_of_every_queue() {
    let Some((t, f)) = session() else { return };
    let kernel = t.kernel("kernel void k(global uint *p) { for (uint i = 0; i < 30000000; i++) *p = *p * 3 + i; }");
    let mut code = 1;
    let memory = f.clSharedMemAllocINTEL(t.context(), t.device, null(), 64, 0, &mut code);
    ok(code);
    ok(f.clSetKernelArgMemPointerINTEL(kernel.h, 0, memory));
    let other = t.another_queue(0);
    let event = t.launch_on(other.h, &kernel, &[1], &[], &[]);
    ok(f.clMemBlockingFreeINTEL(t.context(), memory));
    assert_eq!(t.status(&event), CL_COMPLETE);
}

#[test]
fn wrong_commands_have_their_codes() {
    let Some((t, f)) = session() else { return };
    let [host, device, shared] = each(&t, &f, 400);
    let mut c = Cases::new();
    let q = t.queue();
    let seven = 7u64;
    let pattern: Handle = (&raw const seven).cast_mut().cast();
    let fill = |q, at, pattern, n, size| f.clEnqueueMemFillINTEL(q, at, pattern, n, size, 0, null(), null_mut());
    c.code("null queue", CL_INVALID_COMMAND_QUEUE, fill(null_mut(), host, pattern, 4, 8));
    c.code("null pointer", CL_INVALID_VALUE, fill(q, null_mut(), pattern, 4, 8));
    c.code("unaligned", CL_INVALID_VALUE, fill(q, after(host, 2), pattern, 4, 8));
    c.code("null pattern", CL_INVALID_VALUE, fill(q, host, null_mut(), 4, 8));
    for size in [0, 3, 256] {
        c.code("size of the pattern", CL_INVALID_VALUE, fill(q, host, pattern, size, 0));
    }
    c.code("no multiple", CL_INVALID_VALUE, fill(q, host, pattern, 8, 12));
    let copy = |q, to, from, size| f.clEnqueueMemcpyINTEL(q, CL_TRUE, to, from, size, 0, null(), null_mut());
    c.code("null queue", CL_INVALID_COMMAND_QUEUE, copy(null_mut(), host, device, 4));
    c.code("null target", CL_INVALID_VALUE, copy(q, null_mut(), device, 4));
    c.code("null source", CL_INVALID_VALUE, copy(q, host, null_mut(), 4));
    c.code("overlap", CL_MEM_COPY_OVERLAP, copy(q, host, after(host, 4), 8));
    let failed = t.user_event();
    t.complete(&failed, -5);
    let code = f.clEnqueueMemcpyINTEL(q, CL_TRUE, host, device, 4, 1, &failed.h, null_mut());
    c.code("failed event", CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, code);
    let migrate = |flags, count, list| f.clEnqueueMigrateMemINTEL(q, shared, 4, flags, count, list, null_mut());
    c.code("flags", CL_INVALID_VALUE, migrate(8, 0, null()));
    c.code("wait list", CL_INVALID_EVENT_WAIT_LIST, migrate(0, 1, null()));
    let advise = |advice, count| f.clEnqueueMemAdviseINTEL(q, shared, 4, advice, count, null(), null_mut());
    c.code("advice", CL_INVALID_VALUE, advise(0x4208, 0));
    c.code("wait list", CL_INVALID_EVENT_WAIT_LIST, advise(0, 1));
    let kernel = t.kernel("kernel void k(global int *p, int n) { *p = n; }");
    let set = |k, index| f.clSetKernelArgMemPointerINTEL(k, index, host);
    c.code("null kernel", CL_INVALID_KERNEL, set(null_mut(), 0));
    c.code("index", CL_INVALID_ARG_INDEX, set(kernel.h, 2));
    c.code("no pointer", CL_INVALID_ARG_VALUE, set(kernel.h, 1));
    c.code("null value", 0, f.clSetKernelArgMemPointerINTEL(kernel.h, 0, null_mut()));
    for (name, size) in [(0x4200, 8), (0x4203, 12), (0x5002, 3)] {
        c.code("size", CL_INVALID_VALUE, t.clSetKernelExecInfo(kernel.h, name, size, pattern));
        c.code("null", CL_INVALID_VALUE, t.clSetKernelExecInfo(kernel.h, name, if size == 8 { 4 } else { 8 }, null()));
    }
    c.end();
    drop(kernel);
    t.finish();
    [host, device, shared].iter().for_each(|&p| ok(f.clMemFreeINTEL(t.context(), p)));
}

#[test]
fn buffers_have_addresses_that_kernels_use() {
    let Some((t, f)) = session() else { return };
    let (private, address) = (0x5000u64, 0x5001);
    let mut code = 1;
    let create = |list: &[u64], e| t.clCreateBufferWithProperties(t.context(), list.as_ptr(), 0, 256, null_mut(), e);
    let buffer = Obj::mem(create(&[private, 1, 0], &mut code));
    ok(code);
    let given: Vec<u64> = list(|s, v, r| t.clGetMemObjectInfo(buffer.h, CL_MEM_PROPERTIES, s, v, r));
    assert_eq!(given, [private, 1, 0]);
    let addresses: Vec<u64> = list(|s, v, r| t.clGetMemObjectInfo(buffer.h, address, s, v, r));
    assert!(addresses.len() == 1 && addresses[0] != 0);
    let kernel = t.kernel(
        "kernel void k(global int *p, constant ulong *table, int n)
        { p[get_global_id(0)] += n; ((global int *)table[0])[63] = 5; }",
    );
    t.write(&buffer, 0, &(0..64).collect::<Vec<i32>>());
    ok(f.clSetKernelArgDevicePointerEXT(kernel.h, 0, addresses[0] + 16));
    let table = t.buffer_of(&addresses);
    t.arg_mem(&kernel, 1, &table);
    t.arg(&kernel, 2, 100);
    ok(t.clSetKernelExecInfo(kernel.h, 0x5002, 8, addresses.as_ptr().cast()));
    drop(t.launch(&kernel, &[8], &[]));
    let wanted: Vec<i32> = (0..64)
        .map(|i| {
            if (4..12).contains(&i) {
                i + 100
            } else if i == 63 {
                5
            } else {
                i
            }
        })
        .collect();
    assert_eq!(t.read::<i32>(&buffer, 64), wanted);
    assert_eq!(list::<u64>(|s, v, r| t.clGetMemObjectInfo(buffer.h, address, s, v, r)), addresses, "it stays");
    let mut c = Cases::new();
    for wrong in [&[private, 2, 0][..], &[private, 1, private, 1, 0], &[0x7777, 1, 0]] {
        c.new_object("properties", CL_INVALID_PROPERTY, |e| create(wrong, e));
    }
    let without = [t.buffer(0, 64), Obj::mem(create(&[private, 0, 0], &mut code))];
    ok(code);
    for buffer in &without {
        let mut value = 0u64;
        let at = (&raw mut value).cast();
        c.code("no address", CL_INVALID_OPERATION, t.clGetMemObjectInfo(buffer.h, address, 8, at, null_mut()));
    }
    c.code("null kernel", CL_INVALID_KERNEL, f.clSetKernelArgDevicePointerEXT(null_mut(), 0, addresses[0]));
    c.code("index", CL_INVALID_ARG_INDEX, f.clSetKernelArgDevicePointerEXT(kernel.h, 3, addresses[0]));
    c.code("constant", CL_INVALID_ARG_INDEX, f.clSetKernelArgDevicePointerEXT(kernel.h, 1, addresses[0]));
    c.code("no pointer", CL_INVALID_ARG_INDEX, f.clSetKernelArgDevicePointerEXT(kernel.h, 2, addresses[0]));
    c.code("any address", 0, f.clSetKernelArgDevicePointerEXT(kernel.h, 0, 1));
    c.end();
}
