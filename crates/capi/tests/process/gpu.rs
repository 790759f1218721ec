//! What a GPU says of itself, and what it refuses, where that is not what a CPU says.

#![allow(unsafe_code, reason = "a signal is handled as in programs of C, and memory is shared with kernels")]

#[path = "../common/mod.rs"]
mod common;
use common::gpu::{
    HELPER, is_one_that_unloads, on_a_gpu_for_groups_of, on_a_gpu_that_translates_for, on_a_gpu_that_unloads_for,
    on_a_helped_gpu, on_a_small_gpu, on_the_gpu, traced_on_the_gpu,
};
use common::*;
use std::sync::atomic::{AtomicU32, Ordering};

/// Without a GPU, in this process, the device is the CPU, of which this is true, too.
#[test]
fn vectors_have_at_least_one_element() {
    let t = Session::new();
    for name in [
        CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR,
        CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT,
        CL_DEVICE_NATIVE_VECTOR_WIDTH_INT,
        CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG,
        CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT,
        CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE,
        CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF,
    ] {
        let width: u32 = t.device_info(name);
        assert!(width > 0, "{name:#x}");
    }
}

/// That the device has none comes before what is wrong with the queue.
#[test]
fn a_default_queue_needs_queues_on_the_device() {
    let t = Session::new();
    let able: u64 = t.device_info(CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES);
    let wanted = if able == 0 { CL_INVALID_OPERATION } else { CL_INVALID_COMMAND_QUEUE };
    assert_eq!(t.clSetDefaultDeviceCommandQueue(t.context(), t.device, null_mut()), wanted);
}

/// A GPU runs 32 work-items together; a CPU of any kind at least 4.
#[test]
fn groups_are_best_made_of_whole_vectors() {
    let t = Session::new();
    let kernel = t.kernel("kernel void k(global int *p) { *p = 1; }");
    let of_device: usize = t.device_info(CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE);
    let name = CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE;
    let of_kernel: usize = info(|s, v, r| t.clGetKernelWorkGroupInfo(kernel.h, t.device, name, s, v, r));
    let kind: u64 = t.device_info(CL_DEVICE_TYPE);
    assert_eq!(of_kernel, of_device);
    match kind {
        CL_DEVICE_TYPE_GPU => assert_eq!(of_kernel, 32),
        _ => assert!(of_kernel >= 4, "{of_kernel}"),
    }
}

/// A GPU has as many registers for a group as it has: what programs are told to launch is what runs at full speed, and
/// larger groups run, too. (Of a kernel with less in it, that there are enough is known before there is code.)
#[test]
fn groups_are_as_large_as_registers_allow() {
    let t = Session::new();
    let source = "kernel void k(global uint *p) {
        uint in_registers[512];
        in_registers[0] = get_local_size(0) * 2;
        p[get_global_id(0)] = in_registers[0] + get_local_id(0);
    }";
    let kernel = t.kernel(source);
    let most: usize =
        info(|s, v, r| t.clGetKernelWorkGroupInfo(kernel.h, t.device, CL_KERNEL_WORK_GROUP_SIZE, s, v, r));
    let of_device: usize = t.device_info(CL_DEVICE_MAX_WORK_GROUP_SIZE);
    let told = std::env::var("CUDA_SIM_THREADS").map_or(of_device, |n| n.parse().unwrap());
    assert_eq!(most, told);
    let buffer = t.buffer_of(&vec![0u32; 4096]);
    t.arg_mem(&kernel, 0, &buffer);
    for local in [most, of_device.min(1024)] {
        t.wait(&[&t.launch(&kernel, &[4096], &[local])]);
        let found: Vec<u32> = t.read(&buffer, 4096);
        let right = |(i, &n): (usize, &u32)| n as usize == local * 2 + i % local;
        assert!(found.iter().enumerate().all(right), "groups of {local}");
    }
}

#[test]
fn a_gpu_with_few_registers_runs_large_groups() {
    on_a_gpu_for_groups_of(256, &["groups_are_as_large_as_registers_allow"]);
}

#[test]
fn first_launches_follow_the_making_of_kernels() {
    let t = Session::new();
    for i in 0..8 {
        // Of every other kernel it is known that its work-items execute few instructions.
        let add = match i % 2 {
            0 => format!("p[get_global_id(0)] += {i};"),
            _ => format!("for (size_t j = 0; j < get_global_size(0) / 4096 * {i}; j++) p[get_global_id(0)]++;"),
        };
        let kernel = t.kernel(&format!("kernel void k(global uint *p) {{ {add} }}"));
        // Programs ask for it, which needs no code of so small a kernel.
        let most: usize =
            info(|s, v, r| t.clGetKernelWorkGroupInfo(kernel.h, t.device, CL_KERNEL_WORK_GROUP_SIZE, s, v, r));
        assert!(most >= 64);
        let buffer = t.buffer_of(&vec![1u32; 4096]);
        t.arg_mem(&kernel, 0, &buffer);
        // The first launch of each may begin with other code than the second one.
        for round in 1..3 {
            drop(t.launch(&kernel, &[4096], &[64]));
            assert_eq!(t.read::<u32>(&buffer, 4096), vec![1 + round * i; 4096], "kernel {i}, launch {round}");
        }
    }
}

#[test]
fn a_small_launch_begins_with_baseline_code() {
    for quick in [true, false] {
        let Some(trace) = traced_on_the_gpu(quick, &["first_launches_follow_the_making_of_kernels"]) else { return };
        let count = |level| trace.matches(level).count();
        // One more is compiled to start the compiler. On a busy machine, the optimised code may be there sooner; or the
        // kernel is released before that is made.
        assert_eq!((count("at level 0") > 0, count("at level 1") > 1), (quick, quick), "{trace}");
        assert!(quick || count("at level 4") == 8, "{trace}");
    }
}

/// A queue starts the driver's compiler.
#[test]
fn a_queue_is_all_that_a_process_makes() {
    let t = Session::new();
    assert_eq!(t.read::<u32>(&t.buffer_of(&[7u32]), 1), [7]);
}

#[test]
fn the_end_of_a_process_waits_for_the_drivers_compiler() {
    for milliseconds in [1, 10, 100, 500] {
        on_a_gpu_that_translates_for(milliseconds, &["a_queue_is_all_that_a_process_makes"]);
    }
}

/// Its code is made in the background.
#[test]
fn a_kernel_is_all_that_a_process_makes() {
    // What it leaves behind is in the way of other tests.
    if !is_one_that_unloads() {
        return;
    }
    let t = Session::new();
    // It is still there at the end, and the driver compiles it.
    let both = (t.kernel("kernel void k(global uint *p) { p[0] = 7; }"), t);
    std::mem::forget(both);
    std::thread::sleep(std::time::Duration::from_millis(100));
}

/// A thread that finds, when its code is loaded, that the process ends has a module to unload.
#[test]
fn no_module_is_unloaded_while_the_process_ends() {
    for milliseconds in [100, 300] {
        on_a_gpu_that_unloads_for(milliseconds, &["a_kernel_is_all_that_a_process_makes"]);
    }
}

/// Runs more work-items than a GPU does at once.
fn launch_many(statement: &str) {
    const ITEMS: usize = 1 << 19;
    let t = Session::new();
    let kernel = t.kernel(&format!("kernel void k(global uint *p) {{ {statement} }}"));
    let buffer = t.buffer_of(&vec![3u32; ITEMS]);
    t.arg_mem(&kernel, 0, &buffer);
    drop(t.launch(&kernel, &[ITEMS], &[256]));
    assert!(t.read::<u32>(&buffer, ITEMS).iter().all(|&n| n == 5));
}

#[test]
fn many_work_items_that_execute_little() {
    launch_many("for (int j = 0; j < 2; j++) p[get_global_id(0)]++;");
}

#[test]
fn many_work_items_that_may_execute_much() {
    launch_many("for (size_t j = 0; j < get_global_size(0) >> 18; j++) p[get_global_id(0)]++;");
}

#[test]
fn a_large_launch_begins_with_baseline_code_if_it_executes_little() {
    // One at level 1 starts the compiler.
    let has_baseline = |trace: &str| trace.contains("at level 0") || trace.matches("at level 1").count() > 1;
    let begins_with_it = |test: &str| traced_on_the_gpu(true, &[test]).map(|trace| has_baseline(&trace));
    // On a busy machine, the optimised code may be there sooner.
    assert!((0..5).any(|_| begins_with_it("many_work_items_that_execute_little") != Some(false)));
    assert_ne!(begins_with_it("many_work_items_that_may_execute_much"), Some(true));
}

/// Native functions, and `powr`, which a GPU has instructions for or for parts of.
#[test]
fn native_functions_are_near() {
    let t = Session::new();
    let source = "kernel void k(global float *p) {
        const uint i = get_global_id(0);
        const float x = p[i];
        const float found[] = { native_exp2(x), native_exp(x), native_exp10(x), native_log2(x), native_log(x),
            native_log10(x), native_sin(x), native_cos(x), native_tan(x), native_powr(x, 1.75f), powr(x, 1.75f),
            powr(x * 1e-42f, 0.5f), powr(x, INFINITY) };
        for (uint j = 0; j < 13; j++)
            p[(j + 1) * 1000 + i] = found[j];
    }";
    let kernel = t.kernel(source);
    let xs: Vec<f32> = (0..1000).map(|i| 0.002f32.mul_add(i as f32, 0.003)).collect();
    let buffer = t.buffer_of(&[&xs[..], &[0.0; 13_000]].concat());
    t.arg_mem(&kernel, 0, &buffer);
    t.wait(&[&t.launch(&kernel, &[1000], &[100])]);
    let found: Vec<f32> = t.read(&buffer, 14_000);
    for (i, x) in xs.iter().map(|&x| f64::from(x)).enumerate() {
        let denormal = f64::from(xs[i] * 1e-42);
        let far = if x > 1.0 { f64::INFINITY } else { 0.0 };
        let logs = [x.log2(), x.ln(), x.log10()];
        let turns = [x.sin(), x.cos(), x.tan()];
        let powers = [x.powf(1.75), x.powf(1.75), denormal.sqrt(), far];
        let want = [&[x.exp2(), x.exp(), 10f64.powf(x)][..], &logs, &turns, &powers].concat();
        for (j, want) in want.into_iter().enumerate() {
            let found = f64::from(found[(j + 1) * 1000 + i]);
            // Relative to what is large, as near the zero of a logarithm or a cosine.
            let error = (found - want).abs() / want.abs().max(if j < 10 { 0.1 } else { 0.0 });
            // The tangent of nearly a right angle.
            let most = if j == 8 { 1e-5 * want.abs().max(1.0) } else { [4e-6, 5e-7][usize::from(j >= 10)] };
            assert!(found == want || error <= most, "function {j} of {x}: {found} instead of {want}");
        }
    }
}

/// Also of `double`, for which a GPU's own conversion gives the farthest integer.
#[test]
fn what_is_no_number_saturates_to_zero() {
    let t = Session::new();
    let source = "kernel void k(global const ulong *in, global long *out) {
        const double x = as_double(in[get_global_id(0)]);
        const float y = (float)x;
        const long found[] = { convert_int_sat(x), convert_uint_sat(x), convert_long_sat(x), (long)convert_ulong_sat(x),
            convert_short_sat(x), convert_int_sat(y), convert_uint_sat(y), convert_long_sat(y), (long)convert_ulong_sat(y) };
        for (int j = 0; j < 9; j++)
            out[get_global_id(0) * 9 + j] = found[j];
    }";
    let kernel = t.kernel(source);
    let xs = [f64::NAN, -f64::NAN, 1e300, -1e300, 2.5, -2.5, f64::INFINITY];
    let (input, output) = (t.buffer_of(&xs.map(f64::to_bits)), t.buffer_of(&[7i64; 63]));
    t.arg_mem(&kernel, 0, &input);
    t.arg_mem(&kernel, 1, &output);
    t.wait(&[&t.launch(&kernel, &[xs.len()], &[1])]);
    let found: Vec<i64> = t.read(&output, 63);
    for (x, found) in xs.into_iter().zip(found.as_chunks::<9>().0) {
        let y = x as f32;
        let of_double = [i64::from(x as i32), i64::from(x as u32), x as i64, x as u64 as i64, i64::from(x as i16)];
        let of_float = [i64::from(y as i32), i64::from(y as u32), y as i64, y as u64 as i64];
        assert_eq!(found[..], [&of_double[..], &of_float].concat(), "{x}");
    }
}

/// `cl_nv_device_attribute_query` and `cl_khr_pci_bus_info` are of GPUs alone.
#[test]
fn attributes_are_told_where_the_extension_is() {
    let t = Session::new();
    let extensions = text(|s, v, r| t.clGetDeviceInfo(t.device, CL_DEVICE_EXTENSIONS, s, v, r));
    let number = |name: u32| {
        let (mut value, mut size) = (u32::MAX, 0);
        let code = t.clGetDeviceInfo(t.device, name, 4, (&raw mut value).cast(), &mut size);
        (code == 0 && size == 4).then_some(value)
    };
    let all: Vec<_> = (0x4000..=0x400A).map(number).collect();
    if !extensions.contains("cl_nv_device_attribute_query") {
        assert!(all.iter().all(Option::is_none), "{all:?}");
        return;
    }
    // Capability, registers, warps; overlap, limit, integrated, engines; bus, slot, domain.
    let all: Vec<u32> = all.into_iter().flatten().collect();
    assert_eq!(all[..4], [9, 0, 64 << 10, 32]);
    assert_eq!(all[4..], [1, 0, 0, 2, 1, 0, 0]);
    assert!(extensions.contains("cl_khr_pci_bus_info"));
    let bus: Vec<u32> = list(|s, v, r| t.clGetDeviceInfo(t.device, 0x410F, s, v, r));
    assert_eq!(bus, [0, 1, 0, 0]);
}

/// The next launch of the queue waits for the host, and the first one is waited for: by a thread, a command of another
/// queue, a callback. A device that told of several ends at once would hang here.
#[test]
fn a_launch_has_an_end_of_its_own() {
    for properties in [0, CL_QUEUE_PROFILING_ENABLE] {
        let t = Session::with(properties);
        if t.device_info::<u64>(CL_DEVICE_SVM_CAPABILITIES) & CL_DEVICE_SVM_FINE_GRAIN_BUFFER == 0 {
            return;
        }
        let memory = t.clSVMAlloc(t.context(), CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, 256, 0);
        assert!(!memory.is_null());
        // SAFETY: in the allocation, of which the host uses only this word.
        let flag = unsafe { AtomicU32::from_ptr(memory.cast()) };
        let first = t.kernel("kernel void k(global uint *p) { p[1]++; }");
        let second = t.kernel("kernel void k(global volatile uint *p) { while (p[0] == 0) ; }");
        for kernel in [&first, &second] {
            ok(t.clSetKernelArgSVMPointer(kernel.h, 0, memory));
        }
        let other = t.another_queue(0);
        for round in 0..60 {
            flag.store(0, Ordering::SeqCst);
            let (first, second) = (t.launch(&first, &[1], &[1]), t.launch(&second, &[1], &[1]));
            match round % 3 {
                0 => ok(t.clWaitForEvents(1, &first.h)),
                1 => {
                    let mut marker = null_mut();
                    ok(t.clEnqueueMarkerWithWaitList(other.h, 1, &first.h, &mut marker));
                    let marker = Obj::event(marker);
                    ok(t.clWaitForEvents(1, &marker.h));
                }
                _ => {
                    let calls = Calls::new();
                    let sender = calls.sender();
                    let (call, data) = on_event(move |_, status| _ = sender.send(status));
                    ok(t.clSetEventCallback(first.h, CL_COMPLETE, call, data));
                    assert_eq!(calls.next(), 0);
                }
            }
            flag.store(1, Ordering::SeqCst);
            ok(t.clWaitForEvents(1, &second.h));
        }
        t.clSVMFree(t.context(), memory);
    }
}

/// Each is waited for before the next one, which has another kernel, argument, buffer or range, or is the same again.
/// Kernels are unloaded, and others come in their places.
#[test]
fn launches_that_are_waited_for_end_one_by_one() {
    let t = Session::new();
    let source = "kernel void a(global uint *p, uint i) { p[get_global_id(0)] = p[get_global_id(0)] * 3 + i; }
         kernel void b(global uint *p, uint i, local uint *q) {
             q[get_local_id(0)] = p[get_global_id(0)] * 5;
             barrier(CLK_LOCAL_MEM_FENCE);
             p[get_global_id(0)] = q[get_local_id(0)] - i;
         }";
    let kernels = || {
        let program = t.program(source);
        (t.kernel_of(&program, "a"), t.kernel_of(&program, "b"))
    };
    let (mut a, mut b) = kernels();
    let mut buffer = t.buffer_of(&[1u32; 8]);
    let mut expected = [1u32; 8];
    for i in 0..200u32 {
        let (is_b, value, items) = (i % 7 > 3, i / 20, if i % 11 > 8 { 4 } else { 8 });
        if i % 50 == 49 {
            (buffer, expected) = (t.buffer_of(&[i; 8]), [i; 8]);
            (a, b) = kernels();
        }
        let kernel = if is_b { &b } else { &a };
        t.arg_mem(kernel, 0, &buffer);
        t.arg(kernel, 1, value);
        if is_b {
            ok(t.clSetKernelArg(b.h, 2, 4 * items, null()));
        }
        let event = t.launch(kernel, &[items], &[items]);
        ok(t.clWaitForEvents(1, &event.h));
        for x in &mut expected[..items] {
            *x = if is_b { x.wrapping_mul(5).wrapping_sub(value) } else { x.wrapping_mul(3).wrapping_add(value) };
        }
        if i % 8 == 0 {
            assert_eq!(t.read::<u32>(&buffer, 8), expected, "launch {i}");
        }
    }
    assert_eq!(t.read::<u32>(&buffer, 8), expected);
}

/// A kernel and the word that tells its end are one call of the driver.
#[test]
fn a_launch_that_is_waited_for_is_a_graph_with_its_word() {
    let Some(trace) = traced_on_the_gpu(false, &["launches_that_are_waited_for_end_one_by_one"]) else { return };
    let graphs = trace.matches("a graph of 2 nodes").count();
    // A machine that is busy may tell the end of a launch before somebody waits.
    assert!(graphs > 50, "{graphs} of 200");
}

/// Many launches that nobody waits for, beside some that somebody does.
#[test]
fn each_of_many_launches_ends() {
    let t = Session::new();
    let kernel = t.kernel("kernel void k(global uint *p, uint i) { p[0] = p[0] * 3 + i; }");
    let buffer = t.buffer_of(&[0u32]);
    t.arg_mem(&kernel, 0, &buffer);
    t.arg(&kernel, 1, 0u32);
    for _ in 0..3 {
        drop(t.launch(&kernel, &[1], &[1]));
        t.finish();
    }
    // Each differs from the one before, then some are as launches long before, then all are alike.
    let value = |i: u32| match i / 350 {
        0 => i,
        1 => i % 3,
        _ => 7,
    };
    let calls = Calls::new();
    let mut events = Vec::new();
    for i in 0..1000u32 {
        t.arg(&kernel, 1, value(i));
        let event = t.launch(&kernel, &[1], &[1]);
        if i % 100 == 7 {
            let sender = calls.sender();
            let (call, data) = on_event(move |_, status| _ = sender.send((i, status)));
            ok(t.clSetEventCallback(event.h, CL_COMPLETE, call, data));
        }
        if i % 250 == 30 {
            ok(t.clWaitForEvents(1, &event.h));
        }
        events.push(event);
    }
    // Nobody waits, and all end.
    t.until("every launch ends", || events.iter().all(|event| t.status(event) == 0));
    let mut told: Vec<_> = (0..10).map(|_| calls.next()).collect();
    told.sort_unstable();
    assert_eq!(told, Vec::from_iter((0..10).map(|i| (100 * i + 7, 0))));
    let expected = (0..1000u32).fold(0u32, |sum, i| sum.wrapping_mul(3).wrapping_add(value(i)));
    assert_eq!(t.read::<u32>(&buffer, 1), [expected]);
}

/// Launches whose events nobody asks for, of several queues, with kernels and buffers that are released at once, while
/// other threads wait for the queues.
#[test]
fn launches_without_events_run_in_order() {
    let t = Session::new();
    let program = t.program(
        "kernel void a(global uint *p, uint i) { p[0] = p[0] * 3 + i; }
         kernel void b(global uint *p, uint i) { p[0] = p[0] * 5 - i; }",
    );
    let queues: Vec<_> = (0..3).map(|_| t.another_queue(0)).collect();
    std::thread::scope(|scope| {
        for (q, queue) in queues.iter().enumerate() {
            let (t, program) = (&t, &program);
            scope.spawn(move || {
                let launch = |kernel: &Obj, value: u32| {
                    t.arg(kernel, 1, value);
                    let one = [1].as_ptr();
                    ok(t.clEnqueueNDRangeKernel(queue.h, kernel.h, 1, null(), one, one, 0, null(), null_mut()));
                };
                let kernels = [t.kernel_of(program, "a"), t.kernel_of(program, "b")];
                let mut buffer = t.buffer_of(&[0u32]);
                let mut expected = 0u32;
                for i in 0..1500u32 {
                    let which = (i / 3 % 2) as usize;
                    t.arg_mem(&kernels[which], 0, &buffer);
                    launch(&kernels[which], i % 200 + q as u32);
                    expected = match which {
                        0 => expected.wrapping_mul(3).wrapping_add(i % 200 + q as u32),
                        _ => expected.wrapping_mul(5).wrapping_sub(i % 200 + q as u32),
                    };
                    if i % 400 == 399 {
                        let mut found = 0u32;
                        let into = (&raw mut found).cast();
                        ok(t.clEnqueueReadBuffer(queue.h, buffer.h, 1, 0, 4, into, 0, null(), null_mut()));
                        assert_eq!(found, expected, "queue {q}, launch {i}");
                    }
                    if i % 500 == 250 {
                        // Launches that have not ended have the last reference.
                        buffer = t.buffer_of(&[0u32]);
                        expected = 0;
                    }
                }
            });
            scope.spawn(move || (0..50).for_each(|_| ok(t.clFinish(queue.h))));
        }
    });
}

/// Launches of which the first waits for an event of the application's, some with events and some without; then the
/// last is waited for. Buffers are released at once.
#[test]
fn launches_behind_one_that_waits_end_in_order() {
    let t = Session::new();
    let kernel = t.kernel("kernel void k(global uint *p) { p[get_global_id(0)]++; }");
    for round in 0..400 {
        let (user, buffer) = (t.user_event(), t.buffer_of(&[0u32; 64]));
        t.arg_mem(&kernel, 0, &buffer);
        let mut events = vec![t.launch_on(t.queue(), &kernel, &[64], &[64], &[user.h])];
        for i in 1..6 {
            if round % 2 == 0 && i != 3 {
                let size = [64].as_ptr();
                ok(t.clEnqueueNDRangeKernel(t.queue(), kernel.h, 1, null(), size, size, 0, null(), null_mut()));
            } else {
                events.push(t.launch(&kernel, &[64], &[64]));
            }
        }
        t.complete(&user, 0);
        match round % 3 {
            0 => assert_eq!(t.read::<u32>(&buffer, 64), [6; 64], "round {round}"),
            1 => t.finish(),
            _ => t.wait(&[&t.marker_on(t.queue(), &[])]),
        }
        let states: Vec<_> = events.iter().map(|event| t.status(event)).collect();
        assert_eq!(states, vec![0; events.len()], "round {round}");
    }
}

/// A launch that comes to nothing, as what it waits for failed, does not hide those before it from the commands behind.
#[test]
fn what_follows_a_launch_that_failed_waits_for_those_before_it() {
    let t = Session::new();
    let kernel = t.kernel(
        "kernel void k(global uint *p, uint n) {
             uint x = p[0];
             for (uint i = 0; i < n; i++) x = x * 1664525 + 1013904223;
             p[get_global_id(0)] += x == 5 ? 5 : 1;
         }",
    );
    let buffer = t.buffer_of(&[0u32; 16]);
    t.arg_mem(&kernel, 0, &buffer);
    t.arg(&kernel, 1, 1u32);
    t.wait(&[&t.launch(&kernel, &[16], &[16])]);
    for round in 0..6 {
        t.arg(&kernel, 1, 3000u32);
        let user = t.user_event();
        let before: Vec<_> = (0..20).map(|_| t.launch(&kernel, &[16], &[16])).collect();
        if round % 2 == 0 {
            t.complete(&user, -3);
        }
        let failed = t.launch_on(t.queue(), &kernel, &[16], &[16], &[user.h]);
        if round % 2 == 1 {
            t.complete(&user, -3);
        }
        if round % 3 == 0 {
            t.finish();
            assert!(before.iter().all(|event| t.status(event) == 0), "round {round}");
            assert_eq!(t.status(&failed), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        }
        assert_eq!(t.read::<u32>(&buffer, 16), [1 + 20 * (round + 1); 16], "round {round}");
    }
}

#[test]
fn a_gpu_has_them_too() {
    on_the_gpu(&[
        "launches_behind_one_that_waits_end_in_order",
        "what_follows_a_launch_that_failed_waits_for_those_before_it",
        "launches_without_events_run_in_order",
        "a_launch_has_an_end_of_its_own",
        "each_of_many_launches_ends",
        "native_functions_are_near",
        "what_is_no_number_saturates_to_zero",
        "attributes_are_told_where_the_extension_is",
        "vectors_have_at_least_one_element",
        "a_default_queue_needs_queues_on_the_device",
        "groups_are_best_made_of_whole_vectors",
    ]);
}

const FAR: &str = "kernel void k(global uint *p, ulong at) { p[at] = p[0] + 1; }";

/// Adds one to 41, far away, and says what became of that.
fn one_more(t: &Session, kernel: &Obj, at: u64) -> Result<u32, i32> {
    let buffer = t.buffer_of(&[41u32, 0]);
    t.arg_mem(kernel, 0, &buffer);
    t.arg(kernel, 1, at);
    let code = t.clEnqueueNDRangeKernel(t.queue(), kernel.h, 1, null(), [1].as_ptr(), null(), 0, null(), null_mut());
    let code = if code == 0 { t.clFinish(t.queue()) } else { code };
    let mut values = [0u32; 2];
    let into = values.as_mut_ptr().cast();
    let read = t.clEnqueueReadBuffer(t.queue(), buffer.h, 1, 0, 8, into, 0, null(), null_mut());
    if code == 0 && read == 0 { Ok(values[1]) } else { Err(if code == 0 { read } else { code }) }
}

/// The processes that this one has started.
fn children() -> Vec<i32> {
    let own = std::process::id().to_string();
    let is_child = |pid: &i32| {
        // `PID (NAME) STATE PARENT …`
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)) == Some(own.as_str())
    };
    let processes = std::fs::read_dir("/proc").expect("/proc");
    processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).filter(is_child).collect()
}

/// Only with a helper, whose end is not that of this process.
#[test]
fn what_is_made_after_a_fault_works() {
    if std::env::var_os(HELPER).is_none() {
        return;
    }
    for round in 0..3 {
        let t = Session::new();
        let kernel = t.kernel(FAR);
        let (kept, kept_kernel) = (t.buffer_of(&[7u32; 4]), t.kernel(FAR));
        assert_eq!(one_more(&t, &kernel, 1), Ok(42), "round {round}");
        if round == 2 {
            // The process is killed instead.
            let children = children();
            assert!(!children.is_empty());
            // SAFETY: they are helpers, of this process alone.
            children.into_iter().for_each(|child| assert_eq!(unsafe { libc::kill(child, libc::SIGKILL) }, 0));
            // SAFETY: what a program in C starts with; one in Rust ignores this signal.
            unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
        }
        assert!(one_more(&t, &kernel, 1 << 40).is_err(), "round {round}");
        // What was there before is lost, and is told so rather than taken for something else.
        let mut value = 0u32;
        let into = (&raw mut value).cast();
        assert_ne!(t.clEnqueueReadBuffer(t.queue(), kept.h, 1, 0, 4, into, 0, null(), null_mut()), 0);
        // New memory in the same context is in another process, as is the code by now.
        assert_eq!(one_more(&t, &kernel, 1), Ok(42), "round {round}");
        t.arg_mem(&kept_kernel, 0, &kept);
        t.arg(&kept_kernel, 1, 1u64);
        // The queue learns of it now, or when it comes to the launch.
        let (one, mut event) = ([1].as_ptr(), null_mut());
        if t.clEnqueueNDRangeKernel(t.queue(), kept_kernel.h, 1, null(), one, null(), 0, null(), &mut event) == 0 {
            let event = Obj::event(event);
            assert_ne!(t.clWaitForEvents(1, &event.h), 0, "round {round}: it ran on what was lost");
        }
    }
}

/// More than goes into one message to a helper, and boxes whose rows are longer than that.
#[test]
fn large_transfers_arrive() {
    const ROW: usize = 9 << 20;
    let t = Session::new();
    let values: Vec<u32> = (0..3 * ROW as u32 / 4).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let buffer = t.buffer_of(&values);
    assert!(t.read::<u32>(&buffer, values.len()) == values);
    let mut rows = vec![0u32; 2 * (ROW - 4) / 4];
    let (from, region) = ([4, 1, 0], [ROW - 4, 2, 1]);
    ok(t.clEnqueueReadBufferRect(
        t.queue(),
        buffer.h,
        1,
        from.as_ptr(),
        [0; 3].as_ptr(),
        region.as_ptr(),
        ROW,
        0,
        0,
        0,
        rows.as_mut_ptr().cast(),
        0,
        null(),
        null_mut(),
    ));
    assert!(rows.chunks(ROW / 4 - 1).zip(values.chunks(ROW / 4).skip(1)).all(|(got, row)| got == &row[1..]));
}

/// Kernels whose accesses a GPU makes wider where buffers are aligned, with pointers to any element.
#[test]
fn streams_run_from_any_element_on() {
    const N: usize = 8192;
    let t = Session::new();
    let program = t.program(
        "kernel void scalar(global uint *b, global const uint *a) { size_t i = get_global_id(0); b[i] = a[i] + 1; }
         kernel void wide(global uint *b, global const uint *a) {
             size_t i = get_global_id(0);
             vstore4(vload4(i, a) + 1, i, b);
         }",
    );
    let memory = t.clSVMAlloc(t.context(), CL_MEM_READ_WRITE, 8 * (N + 8), 0);
    assert!(!memory.is_null());
    let element = |i: usize| -> Handle { memory.cast::<u32>().wrapping_add(i).cast() };
    let copy = |to: Handle, from: Handle| {
        ok(t.clEnqueueSVMMemcpy(t.queue(), 1, to, from, 4 * N, 0, null(), null_mut()));
    };
    let values: Vec<u32> = (0..N as u32).map(|i| i * 3).collect();
    for (name, items) in [("scalar", N), ("wide", N / 4)] {
        let kernel = t.kernel_of(&program, name);
        for (to, from) in [(0, N + 4), (1, N + 4), (4, N + 5), (3, N + 7)] {
            copy(element(from), values.as_ptr().cast_mut().cast());
            ok(t.clSetKernelArgSVMPointer(kernel.h, 0, element(to)));
            ok(t.clSetKernelArgSVMPointer(kernel.h, 1, element(from)));
            t.wait(&[&t.launch(&kernel, &[items], &[64])]);
            let mut found = vec![0u32; N];
            copy(found.as_mut_ptr().cast(), element(to));
            assert!(found.iter().zip(&values).all(|(found, value)| *found == value + 1), "{name} {to} {from}");
        }
    }
    t.clSVMFree(t.context(), memory);
}

/// Groups that a GPU joins, with local memory whose size is an argument: each has its own.
#[test]
fn groups_share_local_memory_among_themselves_only() {
    const LOCAL: usize = 32;
    let t = Session::new();
    let program = t.source(
        "kernel void reversed(global uint *out, local uint *tile, global const uint *in, local ushort *small, uint n) {
             local uint first;
             const uint l = get_local_id(0), i = get_global_id(0), last = get_local_size(0) - 1;
             if (i < n) tile[l] = in[i]; else tile[l] = 7;
             small[l] = (ushort)i;
             if (l == 0) first = i;
             barrier(CLK_LOCAL_MEM_FENCE);
             if (i < n)
                 for (uint k = 0; k < 2; k++)
                     out[i] = out[i] * 3 + tile[last - l] + small[last - l] * 5 + first * 11;
         }",
    );
    assert_eq!(t.build(&program, "-cl-std=CL3.0"), 0, "{}", t.log(&program));
    // Groups that are joined by four, and some more, of which the last one may be partial.
    for (items, n) in [(LOCAL * 512, usize::MAX), (LOCAL * 515, LOCAL * 511 + 3), (LOCAL * 514 + 9, LOCAL * 514 + 2)] {
        let values: Vec<u32> = (0..items as u32).map(|i| i.wrapping_mul(0x9e37_79b1)).collect();
        let (out, input) = (t.buffer_of(&vec![1u32; items]), t.buffer_of(&values));
        let expected: Vec<u32> = (0..items)
            .map(|i| {
                let first = i / LOCAL * LOCAL;
                let other = first + LOCAL.min(items - first) - 1 - (i - first);
                let value = if other < n { values[other] } else { 7 };
                let term = value.wrapping_add((other & 0xffff) as u32 * 5).wrapping_add(first as u32 * 11);
                let twice = |out: u32| (0..2).fold(out, |out, _| out.wrapping_mul(3).wrapping_add(term));
                // The first launch may run other code than the second one.
                if i < n { twice(twice(1)) } else { 1 }
            })
            .collect();
        let kernel = t.kernel_of(&program, "reversed");
        t.arg_mem(&kernel, 0, &out);
        ok(t.clSetKernelArg(kernel.h, 1, 4 * LOCAL, null()));
        t.arg_mem(&kernel, 2, &input);
        ok(t.clSetKernelArg(kernel.h, 3, 2 * LOCAL, null()));
        t.arg(&kernel, 4, n.min(u32::MAX as usize) as u32);
        for _ in 0..2 {
            t.wait(&[&t.launch(&kernel, &[items], &[LOCAL])]);
        }
        assert_eq!(t.read::<u32>(&out, items), expected, "{items} {n}");
    }
}

#[test]
fn a_small_gpu_runs_them_too() {
    on_a_small_gpu(&["streams_run_from_any_element_on", "groups_share_local_memory_among_themselves_only"]);
}

#[test]
fn a_program_outlives_the_process_of_its_gpu() {
    on_a_helped_gpu(&["what_is_made_after_a_fault_works", "large_transfers_arrive", "each_of_many_launches_ends"]);
}
