//! Chapter 5.6 of the specification: shared virtual memory.

mod common;
use common::*;

const DOUBLE: &str = "kernel void k(global uint *p) { p[get_global_id(0)] *= 2; }";

/// A session, unless the device under test does not share its memory.
fn session() -> Option<Session> {
    let t = Session::new();
    (t.device_info::<u64>(CL_DEVICE_SVM_CAPABILITIES) & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM != 0).then_some(t)
}

#[test]
fn a_kernel_works_on_an_allocation() {
    let Some(t) = session() else { return };
    let memory = t.clSVMAlloc(t.context(), CL_MEM_READ_WRITE, 4096, 64);
    assert!(memory as usize % 64 == 0 && !memory.is_null());
    let seven = 7u32;
    ok(t.clEnqueueSVMMemFill(t.queue(), memory, (&raw const seven).cast(), 4, 4096, 0, null(), null_mut()));
    let kernel = t.kernel(DOUBLE);
    ok(t.clSetKernelArgSVMPointer(kernel.h, 0, memory));
    let ptrs = CL_KERNEL_EXEC_INFO_SVM_PTRS;
    ok(t.clSetKernelExecInfo(kernel.h, ptrs, 8, (&raw const memory).cast()));
    t.launch(&kernel, &[1024], &[64]);
    ok(t.clEnqueueSVMMap(t.queue(), CL_TRUE, CL_MAP_READ, memory, 4096, 0, null(), null_mut()));
    assert!(mapped(memory, 4096).chunks(4).all(|c| c == 14u32.to_le_bytes()));
    ok(t.clEnqueueSVMUnmap(t.queue(), memory, 0, null(), null_mut()));
    let mut copy = [0u32; 4];
    ok(t.clEnqueueSVMMemcpy(t.queue(), CL_TRUE, copy.as_mut_ptr().cast(), memory, 16, 0, null(), null_mut()));
    assert_eq!(copy, [14; 4]);
    ok(t.clEnqueueSVMMigrateMem(t.queue(), 1, (&raw const memory).cast(), null(), 0, 0, null(), null_mut()));
    ok(t.clEnqueueSVMFree(t.queue(), 1, (&raw const memory).cast(), None, null_mut(), 0, null(), null_mut()));
    t.finish();
}

#[test]
fn a_kernel_works_on_any_memory_of_the_host() {
    let Some(t) = session() else { return };
    let mut values: Vec<u32> = (0..100).collect();
    let kernel = t.kernel(DOUBLE);
    ok(t.clSetKernelArgSVMPointer(kernel.h, 0, values.as_mut_ptr().cast()));
    t.launch(&kernel, &[100], &[10]);
    t.finish();
    assert!(values.iter().enumerate().all(|(i, &v)| v == 2 * i as u32));
}

#[test]
fn a_buffer_on_an_allocation_says_so() {
    let Some(t) = session() else { return };
    let memory = t.clSVMAlloc(t.context(), CL_MEM_READ_WRITE, 256, 0);
    let mut code = 0;
    let buffer = t.clCreateBuffer(t.context(), CL_MEM_USE_HOST_PTR, 256, memory, &mut code);
    ok(code);
    let buffer = Obj::mem(buffer);
    let ask = |s, v, r| t.clGetMemObjectInfo(buffer.h, CL_MEM_USES_SVM_POINTER, s, v, r);
    assert_eq!(info::<u32>(ask), CL_TRUE);
    drop(buffer);
    t.clSVMFree(t.context(), memory);
}

#[test]
fn each_mistake_has_its_code() {
    let Some(t) = session() else { return };
    for (flags, size, alignment) in
        [(0, 0, 0), (1 << 3, 64, 0), (0, 64, 3), (0, 64, 1 << 20), (1 << 11, 64, 0), (3, 64, 0)]
    {
        let memory = t.clSVMAlloc(t.context(), flags, size, alignment);
        assert!(memory.is_null(), "flags {flags:#x}, {size} bytes, alignment {alignment}");
    }
    assert!(t.clSVMAlloc(null_mut(), 0, 64, 0).is_null());
    let memory = t.clSVMAlloc(t.context(), 0, 256, 0);
    let (q, word) = (t.queue(), 1u32);
    let pattern = (&raw const word).cast();
    let mut c = Cases::new();
    let fill = |p, size, n| t.clEnqueueSVMMemFill(q, p, pattern, size, n, 0, null(), null_mut());
    c.code("fill nothing", CL_INVALID_VALUE, fill(null_mut(), 4, 64));
    c.code("fill by threes", CL_INVALID_VALUE, fill(memory, 3, 63));
    c.code("fill a part of a pattern", CL_INVALID_VALUE, fill(memory, 4, 63));
    let copy = |to, from, n| t.clEnqueueSVMMemcpy(q, CL_TRUE, to, from, n, 0, null(), null_mut());
    c.code("copy to nowhere", CL_INVALID_VALUE, copy(null_mut(), memory, 4));
    c.code("copy from nowhere", CL_INVALID_VALUE, copy(memory, null_mut(), 4));
    c.code("copy onto itself", CL_MEM_COPY_OVERLAP, copy(memory, memory, 4));
    let map = |p, n, flags| t.clEnqueueSVMMap(q, CL_TRUE, flags, p, n, 0, null(), null_mut());
    c.code("map nothing", CL_INVALID_VALUE, map(null_mut(), 4, CL_MAP_READ));
    c.code("map no bytes", CL_INVALID_VALUE, map(memory, 0, CL_MAP_READ));
    c.code("map with unknown flags", CL_INVALID_VALUE, map(memory, 4, 1 << 9));
    c.code("unmap nothing", CL_INVALID_VALUE, t.clEnqueueSVMUnmap(q, null_mut(), 0, null(), null_mut()));
    c.code("free nothing", CL_INVALID_VALUE, t.clEnqueueSVMFree(q, 0, null(), None, null_mut(), 0, null(), null_mut()));
    let far: *const std::ffi::c_void = (&raw const word).cast();
    let migrate = |p: *const *const _| t.clEnqueueSVMMigrateMem(q, 1, p, null(), 0, 0, null(), null_mut());
    c.code("migrate what was not allocated", CL_INVALID_VALUE, migrate(&far));
    let kernel = t.kernel("kernel void k(int x, global int *p) { p[0] = x; }");
    c.code("a value by pointer", CL_INVALID_ARG_VALUE, t.clSetKernelArgSVMPointer(kernel.h, 0, memory));
    c.code("no such argument", CL_INVALID_ARG_INDEX, t.clSetKernelArgSVMPointer(kernel.h, 2, memory));
    c.code("unknown kernel info", CL_INVALID_VALUE, t.clSetKernelExecInfo(kernel.h, 1, 8, pattern));
    c.end();
    t.clSVMFree(t.context(), memory);
}
