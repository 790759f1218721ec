//! Chapter 5.10 of the specification: kernels over ranges, tasks, native kernels; every size, offset and limit.

#![allow(unsafe_code, reason = "it calls the C interface")]

#[path = "../common/mod.rs"]
mod common;
use common::*;
use std::ffi::c_void;

const IDS: &str = "
    kernel void k(global ulong *out) {
        size_t gx = get_global_id(0), gy = get_global_id(1), gz = get_global_id(2);
        size_t i = get_global_linear_id();
        ulong h = gx | gy << 10 | gz << 20;
        h = h * 31 + get_local_id(0) + 2 * get_local_id(1) + 4 * get_local_id(2);
        h = h * 31 + get_group_id(0) + 2 * get_group_id(1) + 4 * get_group_id(2);
        h = h * 31 + get_local_size(0) + 2 * get_local_size(1) + 4 * get_local_size(2);
        h = h * 31 + get_num_groups(0) + 2 * get_num_groups(1) + 4 * get_num_groups(2);
        h = h * 31 + get_global_size(0) + 2 * get_global_size(1) + 4 * get_global_size(2);
        h = h * 31 + get_global_offset(0) + 2 * get_global_offset(1) + 4 * get_global_offset(2);
        h = h * 31 + get_work_dim();
        out[i] += h;
    }";

/// What `IDS` computes, by the rules of the specification.
fn ids(dim: usize, offset: [usize; 3], global: [usize; 3], local: [usize; 3]) -> Vec<u64> {
    let weigh = |v: [usize; 3]| (v[0] + 2 * v[1] + 4 * v[2]) as u64;
    let mut out = Vec::new();
    for z in 0..global[2] {
        for y in 0..global[1] {
            for x in 0..global[0] {
                let at = [x, y, z];
                let id: [usize; 3] = std::array::from_fn(|d| at[d] + offset[d]);
                let each = |f: &dyn Fn(usize) -> usize| weigh(std::array::from_fn(f));
                let mut h = (id[0] | id[1] << 10 | id[2] << 20) as u64;
                for part in [
                    each(&|d| at[d] % local[d]),
                    each(&|d| at[d] / local[d]),
                    weigh(local),
                    each(&|d| global[d] / local[d]),
                    weigh(global),
                    weigh(offset),
                    dim as u64,
                ] {
                    h = h.wrapping_mul(31).wrapping_add(part);
                }
                out.push(h);
            }
        }
    }
    out
}

#[test]
fn every_item_has_its_ids() {
    let t = Session::new();
    let program = t.source(IDS);
    assert_eq!(t.build(&program, "-cl-std=CL3.0"), 0, "{}", t.log(&program));
    let kernel = t.kernel_of(&program, "k");
    #[allow(clippy::type_complexity, reason = "one row of the table")]
    type Case = (usize, [usize; 3], [usize; 3], [usize; 3]);
    let cases: [Case; 9] = [
        (1, [0, 0, 0], [1, 1, 1], [1, 1, 1]),
        (1, [0, 0, 0], [64, 1, 1], [8, 1, 1]),
        (1, [17, 0, 0], [60, 1, 1], [5, 1, 1]),
        (2, [0, 0, 0], [6, 9, 1], [3, 3, 1]),
        (2, [5, 3, 0], [7, 5, 1], [7, 1, 1]),
        (2, [1, 2, 0], [4, 6, 1], [1, 6, 1]),
        (3, [0, 0, 0], [4, 3, 2], [2, 3, 1]),
        (3, [2, 1, 3], [3, 5, 7], [3, 5, 7]),
        (3, [9, 9, 9], [2, 2, 8], [1, 2, 4]),
    ];
    for (dim, offset, global, local) in cases {
        let n = global.iter().product();
        let buffer = t.buffer_of(&vec![0u64; n]);
        t.arg_mem(&kernel, 0, &buffer);
        let (o, g, l) = (offset.as_ptr(), global.as_ptr(), local.as_ptr());
        ok(t.clEnqueueNDRangeKernel(t.queue(), kernel.h, dim as u32, o, g, l, 0, null(), null_mut()));
        assert_eq!(t.read::<u64>(&buffer, n), ids(dim, offset, global, local), "{dim} {offset:?} {global:?} {local:?}");
    }
}

#[test]
fn the_driver_chooses_a_local_size_that_divides() {
    let t = Session::new();
    let kernel = t.kernel(
        "kernel void k(global uint *out) {
            size_t i = get_global_id(0) + get_global_size(0) * (get_global_id(1) + get_global_size(1) * get_global_id(2));
            out[i] = 1 + (uint)((get_local_size(0) * get_num_groups(0) != get_global_size(0))
                             || (get_local_size(1) * get_num_groups(1) != get_global_size(1))
                             || (get_local_size(2) * get_num_groups(2) != get_global_size(2)));
        }",
    );
    for global in [vec![1], vec![1009], vec![4096], vec![13, 7], vec![64, 64], vec![3, 5, 7], vec![16, 1, 33]] {
        let n = global.iter().product();
        let buffer = t.buffer_of(&vec![0u32; n]);
        t.arg_mem(&kernel, 0, &buffer);
        drop(t.launch(&kernel, &global, &[]));
        assert_eq!(t.read::<u32>(&buffer, n), vec![1; n], "{global:?}");
    }
}

#[test]
fn barriers_hold_on_every_local_size() {
    let t = Session::new();
    let kernel = t.kernel(
        "kernel void k(global uint *p, local uint *l) {
            uint i = get_local_id(0), n = get_local_size(0);
            l[i] = p[get_global_id(0)];
            barrier(CLK_LOCAL_MEM_FENCE);
            uint x = l[n - 1 - i];
            for (uint r = 0; r < 3; r++) {
                barrier(CLK_LOCAL_MEM_FENCE);
                l[(i + 1) % n] = x;
                barrier(CLK_LOCAL_MEM_FENCE);
                x = l[i];
            }
            p[get_global_id(0)] = x;
        }",
    );
    let most = t.device_info::<usize>(CL_DEVICE_MAX_WORK_GROUP_SIZE);
    for n in [1, 2, 3, 7, 8, 16, 31, 64, 100, 257, 1000, most].into_iter().filter(|&n| n <= most) {
        let values: Vec<u32> = (0..3 * n as u32).collect();
        let buffer = t.buffer_of(&values);
        t.arg_mem(&kernel, 0, &buffer);
        ok(t.clSetKernelArg(kernel.h, 1, 4 * n, null()));
        drop(t.launch(&kernel, &[3 * n], &[n]));
        let wanted: Vec<u32> = (0..3 * n)
            .map(|i| {
                let (group, i) = (i / n, i % n);
                let from = (i + n - 3 % n) % n;
                values[group * n + n - 1 - from]
            })
            .collect();
        assert_eq!(t.read::<u32>(&buffer, 3 * n), wanted, "local size {n}");
    }
}

#[test]
fn rows_of_any_length_give_the_same_before_and_after_code_is_made_for_them() {
    let t = Session::new();
    let kernel = t.kernel(
        "kernel void k(global uint *p) {
            local uint l[256];
            uint x = get_local_id(0), y = get_local_id(1), w = get_local_size(0), h = get_local_size(1);
            uint at = get_global_id(1) * get_global_size(0) + get_global_id(0);
            l[y * w + x] = p[at];
            barrier(CLK_LOCAL_MEM_FENCE);
            p[at] = l[(h - 1 - y) * w + (w - 1 - x)] + 1;
        }",
    );
    for (w, h) in [(1, 64), (4, 8), (8, 8), (9, 5), (16, 16), (24, 2), (32, 4), (100, 2), (256, 1)] {
        let values: Vec<u32> = (0..6 * (w * h) as u32).map(|i| i * 1000).collect();
        let buffer = t.buffer_of(&values);
        t.arg_mem(&kernel, 0, &buffer);
        for round in 1..=30 {
            drop(t.launch(&kernel, &[3 * w, 2 * h], &[w, h]));
            let turned = |i: usize| {
                let (x, y) = (i % (3 * w), i / (3 * w));
                let (from_x, from_y) = (x / w * w + w - 1 - x % w, y / h * h + h - 1 - y % h);
                if round % 2 == 0 { i } else { from_y * 3 * w + from_x }
            };
            let wanted: Vec<u32> = (0..6 * w * h).map(|i| values[turned(i)] + round).collect();
            assert_eq!(t.read::<u32>(&buffer, 6 * w * h), wanted, "groups of {w} by {h}, launch {round}");
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }
}

#[test]
fn an_empty_range_runs_nothing_and_completes() {
    let t = Session::new();
    let kernel = t.kernel("kernel void k(global uint *p) { p[0] = 1; }");
    let buffer = t.buffer_of(&[0u32]);
    t.arg_mem(&kernel, 0, &buffer);
    let gate = t.user_event();
    let event = t.launch_on(t.queue(), &kernel, &[0], &[], &[gate.h]);
    assert!(t.status(&event) > CL_COMPLETE, "it has its place in the order");
    t.complete(&gate, CL_COMPLETE);
    t.wait(&[&event]);
    drop(t.launch(&kernel, &[4, 0, 4], &[]));
    assert_eq!(t.read::<u32>(&buffer, 1), [0]);
}

#[test]
fn a_task_is_one_item() {
    let t = Session::new();
    let kernel =
        t.kernel("kernel void k(global uint *p) { p[get_global_id(0)] += get_global_size(0) + get_local_size(0); }");
    let buffer = t.buffer_of(&[5u32, 0]);
    t.arg_mem(&kernel, 0, &buffer);
    ok(t.clEnqueueTask(t.queue(), kernel.h, 0, null(), null_mut()));
    assert_eq!(t.read::<u32>(&buffer, 2), [7, 0]);
}

#[test]
fn native_kernels_get_a_copy_of_their_arguments_and_the_buffers() {
    let t = Session::new();
    if t.device_info::<u64>(CL_DEVICE_EXECUTION_CAPABILITIES) & CL_EXEC_NATIVE_KERNEL == 0 {
        return;
    }
    let calls = Calls::new();
    let send = calls.sender();
    let (call, closure) = on_native(move |args: *mut c_void| {
        // SAFETY: the arguments are the four words below, with the addresses of the buffers put in.
        let args = unsafe { args.cast::<[usize; 4]>().read_unaligned() };
        let at = |i: usize| std::ptr::with_exposed_provenance_mut::<u32>(args[i]);
        // SAFETY: the buffers have a word each.
        let got = unsafe {
            at(3).write(at(2).read() + 1);
            at(2).read()
        };
        send.send((args[1], got)).unwrap();
    });
    let (a, b) = (t.buffer_of(&[41u32]), t.buffer_of(&[0u32]));
    let mut args = [closure, 77, 0, 0];
    let buffers = [a.h, b.h];
    let at = |i: usize| (&raw const args[i]).cast::<c_void>();
    let places = [at(2), at(3)];
    let gate = t.user_event();
    let mut event = null_mut();
    let (block, list, places) = (args.as_mut_ptr().cast(), buffers.as_ptr(), places.as_ptr());
    ok(t.clEnqueueNativeKernel(t.queue(), call, block, 32, 2, list, places, 1, &gate.h, &mut event));
    let event = Obj::event(event);
    args = [0; 4];
    drop((a, args));
    t.complete(&gate, CL_COMPLETE);
    t.wait(&[&event]);
    assert_eq!(calls.next(), (77, 41));
    assert_eq!(t.read::<u32>(&b, 1), [42]);
    let kind: u32 = info(|s, v, r| t.clGetEventInfo(event.h, CL_EVENT_COMMAND_TYPE, s, v, r));
    assert_eq!(kind, CL_COMMAND_NATIVE_KERNEL);
    // One of the list may be NULL.
    let send = calls.sender();
    let (call, closure) = on_native(move |args: *mut c_void| {
        // SAFETY: the arguments are the two words below.
        let args = unsafe { args.cast::<[usize; 2]>().read_unaligned() };
        send.send((args[1], 0)).unwrap();
    });
    let args = [closure, 5];
    let (block, place) = (args.as_ptr().cast_mut().cast(), (&raw const args[1]).cast::<c_void>());
    ok(t.clEnqueueNativeKernel(t.queue(), call, block, 16, 1, &null_mut(), &place, 0, null(), null_mut()));
    t.finish();
    assert_eq!(calls.next(), (0, 0));
}

#[test]
fn native_kernels_may_be_without_arguments_and_may_call_the_interface() {
    let t = Session::new();
    if t.device_info::<u64>(CL_DEVICE_EXECUTION_CAPABILITIES) & CL_EXEC_NATIVE_KERNEL == 0 {
        return;
    }
    unsafe extern "C" fn nothing(_: *mut c_void) {}
    let run =
        t.clEnqueueNativeKernel(t.queue(), Some(nothing), null_mut(), 0, 0, null(), null(), 0, null(), null_mut());
    ok(run);
    let gate = t.user_event();
    let inner = gate.h as usize;
    let (call, closure) = on_native(move |_| {
        let gate = std::ptr::with_exposed_provenance_mut(inner);
        ok(api().clSetUserEventStatus(gate, CL_COMPLETE));
    });
    let args = [closure];
    let block = args.as_ptr().cast_mut().cast();
    ok(t.clEnqueueNativeKernel(t.queue(), call, block, 8, 0, null(), null(), 0, null(), null_mut()));
    t.wait(&[&gate]);
    t.finish();
}

#[test]
fn bad_ranges_have_their_codes() {
    let t = Session::new();
    let mut c = Cases::new();
    let program = t.program(
        "kernel void k(global uint *p) { p[0] = 1; }
         kernel __attribute__((reqd_work_group_size(4, 2, 1))) void r(global uint *p) { p[0] = 1; }
         kernel void unset(global uint *p, uint x) { p[0] = x; }
         kernel void big(local uint *l) { l[0] = 1; }",
    );
    let [kernel, required, unset, big] = ["k", "r", "unset", "big"].map(|n| t.kernel_of(&program, n));
    let buffer = t.buffer(0, 64);
    for kernel in [&kernel, &required, &unset] {
        t.arg_mem(kernel, 0, &buffer);
    }
    let run = |kernel: &Obj, dim, offset: &[usize], global: &[usize], local: &[usize]| {
        let p = |v: &[usize]| if v.is_empty() { null() } else { v.as_ptr() };
        let (o, g, l) = (p(offset), p(global), p(local));
        t.clEnqueueNDRangeKernel(t.queue(), kernel.h, dim, o, g, l, 0, null(), null_mut())
    };
    let most = t.device_info::<usize>(CL_DEVICE_MAX_WORK_GROUP_SIZE);
    let sizes: Vec<usize> = list(|s, v, r| t.clGetDeviceInfo(t.device, CL_DEVICE_MAX_WORK_ITEM_SIZES, s, v, r));
    c.code("dimension 0", CL_INVALID_WORK_DIMENSION, run(&kernel, 0, &[], &[8, 8, 8], &[]));
    c.code("dimension 4", CL_INVALID_WORK_DIMENSION, run(&kernel, 4, &[], &[8; 4], &[]));
    c.code("offset that overflows", CL_INVALID_GLOBAL_OFFSET, run(&kernel, 1, &[usize::MAX - 3], &[8], &[]));
    c.code("local size 0", CL_INVALID_WORK_GROUP_SIZE, run(&kernel, 1, &[], &[8], &[0]));
    c.code("local size 0 in y", CL_INVALID_WORK_GROUP_SIZE, run(&kernel, 2, &[], &[8, 8], &[8, 0]));
    if sizes[0] >= most {
        c.code("local size too large", CL_INVALID_WORK_GROUP_SIZE, run(&kernel, 2, &[], &[most, 2], &[most, 2]));
    }
    let over = [sizes[0] + 1, 1, 1];
    let code = run(&kernel, 1, &[], &over, &over);
    c.code("local size beyond the dimension's", CL_INVALID_WORK_ITEM_SIZE, code);
    c.code("does not divide", CL_INVALID_WORK_GROUP_SIZE, run(&kernel, 1, &[], &[10], &[4]));
    c.code("does not divide in z", CL_INVALID_WORK_GROUP_SIZE, run(&kernel, 3, &[], &[4, 4, 5], &[2, 2, 2]));
    c.code("required and right", 0, run(&required, 2, &[], &[8, 4], &[4, 2]));
    c.code("required and other", CL_INVALID_WORK_GROUP_SIZE, run(&required, 2, &[], &[8, 4], &[2, 2]));
    c.code("required and does not divide", CL_INVALID_WORK_GROUP_SIZE, run(&required, 2, &[], &[6, 4], &[]));
    let task = t.clEnqueueTask(t.queue(), required.h, 0, null(), null_mut());
    c.code("required and a task", CL_INVALID_WORK_GROUP_SIZE, task);
    c.code("an argument not set", CL_INVALID_KERNEL_ARGS, run(&unset, 1, &[], &[1], &[]));
    let task = t.clEnqueueTask(t.queue(), unset.h, 0, null(), null_mut());
    c.code("a task with an argument not set", CL_INVALID_KERNEL_ARGS, task);
    let local = t.device_info::<u64>(CL_DEVICE_LOCAL_MEM_SIZE) as usize;
    ok(t.clSetKernelArg(big.h, 0, local, null()));
    c.code("all local memory", 0, run(&big, 1, &[], &[1], &[]));
    if t.clSetKernelArg(big.h, 0, local * 2, null()) == 0 {
        c.code("more than all local memory", CL_OUT_OF_RESOURCES, run(&big, 1, &[], &[1], &[]));
    }
    c.end();
    t.finish();
}

#[test]
fn bad_arguments_have_their_codes() {
    let t = Session::new();
    let mut c = Cases::new();
    let kernel = t.kernel("kernel void k(void) {}");
    let size = 1usize;
    let run = |q, k, n, w| t.clEnqueueNDRangeKernel(q, k, 1, null(), &size, null(), n, w, null_mut());
    let other = t.another_context();
    let mut code = 1;
    let queue = Obj::queue(t.clCreateCommandQueue(other.h, t.device, 0, &mut code));
    ok(code);
    c.code("kernel of another context", CL_INVALID_CONTEXT, run(queue.h, kernel.h, 0, null()));
    let task = t.clEnqueueTask(queue.h, kernel.h, 0, null(), null_mut());
    c.code("task of another context", CL_INVALID_CONTEXT, task);
    for (what, bad) in t.bad_handles(t.context()) {
        c.code(&format!("{what} as queue"), CL_INVALID_COMMAND_QUEUE, run(bad, kernel.h, 0, null()));
        c.code(&format!("{what} as kernel"), CL_INVALID_KERNEL, run(t.queue(), bad, 0, null()));
        let task = t.clEnqueueTask(bad, kernel.h, 0, null(), null_mut());
        c.code(&format!("task: {what} as queue"), CL_INVALID_COMMAND_QUEUE, task);
        let task = t.clEnqueueTask(t.queue(), bad, 0, null(), null_mut());
        c.code(&format!("task: {what} as kernel"), CL_INVALID_KERNEL, task);
    }
    if t.device_info::<u64>(CL_DEVICE_EXECUTION_CAPABILITIES) & CL_EXEC_NATIVE_KERNEL != 0 {
        unsafe extern "C" fn nothing(_: *mut c_void) {}
        let f: Option<unsafe extern "C" fn(*mut c_void)> = Some(nothing);
        let buffer = t.buffer(0, 8);
        let mut word = 0usize;
        let args: Handle = (&raw mut word).cast();
        let place = args.cast_const();
        let none = null_mut();
        let queue = t.queue();
        let run = |f, args, cb, n, list: *const Handle, places: *const *const c_void| {
            t.clEnqueueNativeKernel(queue, f, args, cb, n, list, places, 0, null(), null_mut())
        };
        c.code("native: no function", CL_INVALID_VALUE, run(None, args, 8, 0, null(), null()));
        c.code("native: size without arguments", CL_INVALID_VALUE, run(f, none, 8, 0, null(), null()));
        c.code("native: buffers without arguments", CL_INVALID_VALUE, run(f, none, 0, 1, &buffer.h, &place));
        c.code("native: arguments of size 0", CL_INVALID_VALUE, run(f, args, 0, 0, null(), null()));
        c.code("native: null buffers", CL_INVALID_VALUE, run(f, args, 8, 1, null(), &place));
        c.code("native: null places", CL_INVALID_VALUE, run(f, args, 8, 1, &buffer.h, null()));
        c.code("native: 0 buffers, a list", CL_INVALID_VALUE, run(f, args, 8, 0, &buffer.h, null()));
        c.code("native: 0 buffers, places", CL_INVALID_VALUE, run(f, args, 8, 0, null(), &place));
        // NULL is none.
        for (what, bad) in t.bad_handles(t.queue()).into_iter().filter(|(_, bad)| !bad.is_null()) {
            let code = run(f, args, 8, 1, &bad, &place);
            c.code(&format!("native: {what} as buffer"), CL_INVALID_MEM_OBJECT, code);
        }
    }
    c.end();
}

/// Programs cast pointers to numbers to pointers to vectors, and align them as numbers only. GPUs read that, and the
/// process must not die of it.
#[test]
fn vectors_are_accessed_where_only_their_elements_are_aligned() {
    let t = Session::new();
    let source = |ty: &str, n: usize| {
        format!(
            "kernel void k(global const {ty} *in, constant {ty} *fixed, global {ty} *out, local {ty} *near) {{
                size_t i = get_global_id(0), l = get_local_id(0);
                *(local {ty}{n} *)(near + 1 + {n} * l) = *(global const {ty}{n} *)(in + 1 + {n} * i);
                {ty}{n} sum = *(local {ty}{n} *)(near + 1 + {n} * l);
                for (int j = 0; j < 3; j++)
                    sum += *(constant {ty}{n} *)(fixed + 1 + j);
                *(global {ty}{n} *)(out + 1 + {n} * i) = sum;
            }}"
        )
    };
    for (ty, bytes) in [("uchar", 1), ("ushort", 2), ("uint", 4), ("ulong", 8)] {
        for n in [2, 4, 8, 16] {
            for options in ["", "-cl-opt-disable"] {
                let program = t.source(&source(ty, n));
                assert_eq!(t.build(&program, options), 0, "{}", t.log(&program));
                let kernel = t.kernel_of(&program, "k");
                let fields = |f: &dyn Fn(usize) -> u64, count: usize| -> Vec<u8> {
                    (0..count).flat_map(|i| f(i).to_le_bytes()[..bytes].to_vec()).collect()
                };
                let of_in = |i: usize| (i % 61) as u64;
                let of_fixed = |i: usize| (i % 7) as u64;
                for (items, local) in [(3, 1), (64, 64)] {
                    let count = n * items + 1;
                    let input = t.buffer_of(&fields(&of_in, count));
                    let fixed = t.buffer_of(&fields(&of_fixed, n + 3));
                    let out = t.buffer_of(&vec![0u8; bytes * count]);
                    [&input, &fixed, &out].iter().enumerate().for_each(|(i, b)| t.arg_mem(&kernel, i as u32, b));
                    ok(t.clSetKernelArg(kernel.h, 3, bytes * (n * local + 1), null()));
                    drop(t.launch(&kernel, &[items], &[local]));
                    let wanted = |i: usize| match i.checked_sub(1) {
                        None => 0,
                        Some(e) => of_in(i) + (0..3).map(|j| of_fixed(1 + j + e % n)).sum::<u64>(),
                    };
                    let got = t.read::<u8>(&out, bytes * count);
                    assert_eq!(got, fields(&wanted, count), "{ty}{n}, {items} work-items {options}");
                }
            }
        }
    }
}
