//! `cl_khr_command_buffer` and `cl_khr_command_buffer_mutable_dispatch`.

#![allow(unsafe_code, reason = "it calls the C interface")]

#[path = "../common/mod.rs"]
mod common;
use common::extension::*;
use common::*;

const ADD: &str = "kernel void k(global int *p, int n) { p[get_global_id(0)] += n; }";

const STATE: u32 = 0x1297;
const RECORDING: u32 = 0;
const EXECUTABLE: u32 = 1;
const FINALIZED: u32 = 2;
const ARGUMENTS: u64 = 8;

#[test]
fn every_kind_of_command_runs_each_time_in_the_recorded_order() {
    let t = Session::new();
    let x = CommandBuffers::new(&t);
    for properties in [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let queue = t.another_queue(properties);
        let b = x.buffer(queue.h, 0);
        let (first, second, last) = (t.buffer(0, 64), t.buffer(0, 64), t.buffer(0, 64));
        let desc = images::Desc::new(images::D2, [2, 2, 1]);
        let (image, other) = (t.image(images::BYTES, &desc), t.image(images::BYTES, &desc));
        let svm = t.clSVMAlloc(t.context(), CL_MEM_READ_WRITE, 64, 0);
        let kernel = t.kernel(ADD);
        t.arg_mem(&kernel, 0, &first);
        t.arg(&kernel, 1, 5i32);
        let (none, no_list, no_place) = (null_mut::<std::ffi::c_void>(), null::<u64>(), null_mut::<Handle>());
        let mut point = 0;
        let mut seven = 7u32;
        let pattern: Handle = (&raw mut seven).cast();
        // The buffer: all 7, then all 12; its parts go on to the second one, through images, through shared memory.
        ok(x.clCommandFillBufferKHR(b.h, none, no_list, first.h, pattern, 4, 0, 64, 0, null(), &mut point, no_place));
        let (point, _) = b.launch(&kernel, 16, &[point], None);
        let mut next = 0;
        ok(x.clCommandCopyBufferKHR(b.h, none, no_list, first.h, second.h, 0, 16, 4, 1, &point, &mut next, no_place));
        let (zero, row, one) = ([0usize; 3], [4usize, 2, 1], [1usize, 1, 1]);
        ok(x.clCommandCopyBufferRectKHR(
            b.h,
            none,
            no_list,
            first.h,
            second.h,
            zero.as_ptr(),
            [4, 2, 0].as_ptr(),
            row.as_ptr(),
            8,
            0,
            16,
            0,
            1,
            &next,
            &mut next,
            no_place,
        ));
        let mut color = [1f32, 0., 0., 1.];
        let square = [2usize, 2, 1];
        ok(x.clCommandFillImageKHR(
            b.h,
            none,
            no_list,
            image.h,
            color.as_mut_ptr().cast(),
            zero.as_ptr(),
            square.as_ptr(),
            1,
            &next,
            &mut next,
            no_place,
        ));
        ok(x.clCommandCopyBufferToImageKHR(
            b.h,
            none,
            no_list,
            first.h,
            image.h,
            0,
            zero.as_ptr(),
            one.as_ptr(),
            1,
            &next,
            &mut next,
            no_place,
        ));
        ok(x.clCommandCopyImageKHR(
            b.h,
            none,
            no_list,
            image.h,
            other.h,
            zero.as_ptr(),
            zero.as_ptr(),
            square.as_ptr(),
            1,
            &next,
            &mut next,
            no_place,
        ));
        ok(x.clCommandCopyImageToBufferKHR(
            b.h,
            none,
            no_list,
            other.h,
            last.h,
            zero.as_ptr(),
            square.as_ptr(),
            32,
            1,
            &next,
            &mut next,
            no_place,
        ));
        ok(x.clCommandBarrierWithWaitListKHR(b.h, none, no_list, 0, null(), &mut next, no_place));
        ok(x.clCommandSVMMemFillKHR(b.h, none, no_list, svm, pattern, 4, 32, 1, &next, &mut next, no_place));
        let half = svm.cast::<u8>().wrapping_add(32).cast();
        ok(x.clCommandSVMMemcpyKHR(b.h, none, no_list, half, svm, 16, 1, &next, &mut next, no_place));
        assert_eq!(next, 11, "a sync-point each");
        b.finalize();
        for _ in 0..3 {
            let wait = [&first, &second, &last].map(|m| {
                let mut event = null_mut();
                ok(t.clEnqueueFillBuffer(queue.h, m.h, [0u8].as_ptr().cast(), 1, 0, 64, 0, null(), &mut event));
                Obj::event(event)
            });
            t.wait(&[&b.enqueue(&wait.each_ref().map(|e| e.h))]);
            assert_eq!(t.read::<u32>(&first, 16), [12; 16]);
            let mut wanted = [0u32; 16];
            (wanted[4], wanted[9], wanted[13]) = (12, 12, 12);
            assert_eq!(t.read::<u32>(&second, 16), wanted);
            let red = u32::from_le_bytes([255, 0, 0, 255]);
            assert_eq!(t.read::<u32>(&last, 16)[8..12], [12, red, red, red]);
            assert_eq!(mapped(svm, 48)[28..48], *[7u32, 7, 7, 7, 7].map(u32::to_ne_bytes).as_flattened());
            mapped(svm, 64).fill(0);
        }
        drop(b);
        t.clSVMFree(t.context(), svm);
    }
}

#[test]
fn a_recorded_launch_keeps_its_arguments_and_its_objects() {
    let t = Session::new();
    let x = CommandBuffers::new(&t);
    let b = x.buffer(t.queue(), 0);
    let (memory, other) = (t.buffer_of(&[0i32; 8]), t.buffer_of(&[0i32; 8]));
    {
        let kernel = t.kernel(ADD);
        t.arg_mem(&kernel, 0, &memory);
        for n in [1, 10] {
            t.arg(&kernel, 1, n);
            b.launch(&kernel, 8, &[], None);
        }
        t.arg(&kernel, 1, 100);
        t.arg_mem(&kernel, 0, &other);
    }
    b.finalize();
    for _ in 0..5 {
        drop(b.enqueue(&[]));
    }
    assert_eq!(t.read::<i32>(&memory, 8), [55; 8]);
    assert_eq!(t.read::<i32>(&other, 8), [0; 8]);
    // The last reference may go before the last run.
    let gate = t.user_event();
    let event = b.enqueue(&[gate.h]);
    drop(b);
    t.complete(&gate, CL_COMPLETE);
    t.wait(&[&event]);
    assert_eq!(t.read::<i32>(&memory, 8), [66; 8]);
}

#[test]
fn a_run_is_one_command_with_one_event() {
    let t = Session::with(CL_QUEUE_PROFILING_ENABLE);
    let x = CommandBuffers::new(&t);
    let b = x.buffer(t.queue(), 0);
    let memory = t.buffer_of(&[0i32; 64]);
    let kernel = t.kernel(ADD);
    t.arg_mem(&kernel, 0, &memory);
    t.arg(&kernel, 1, 1);
    for _ in 0..100 {
        b.launch(&kernel, 64, &[], None);
    }
    b.finalize();
    let first = b.enqueue(&[]);
    let second = b.enqueue(&[]);
    t.finish();
    let ask = |e: &Obj, name| info::<u32>(|s, v, r| t.clGetEventInfo(e.h, name, s, v, r));
    assert_eq!(ask(&first, CL_EVENT_COMMAND_TYPE), 0x12A8);
    let time = |e: &Obj, name| info::<u64>(|s, v, r| t.clGetEventProfilingInfo(e.h, name, s, v, r));
    assert!(time(&first, CL_PROFILING_COMMAND_START) < time(&first, CL_PROFILING_COMMAND_END));
    assert!(time(&first, CL_PROFILING_COMMAND_END) <= time(&second, CL_PROFILING_COMMAND_START));
    assert_eq!(t.read::<i32>(&memory, 64), [200; 64]);
    // An event that fails is no command's.
    let failed = t.user_event();
    let never = b.enqueue(&[failed.h]);
    t.complete(&failed, -5);
    t.finish();
    assert_eq!(t.status(&never), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_eq!(t.read::<i32>(&memory, 64), [200; 64]);
}

#[test]
fn a_run_goes_to_another_queue_of_the_device() {
    let t = Session::new();
    let x = CommandBuffers::new(&t);
    let b = x.buffer(t.queue(), 0);
    let memory = t.buffer_of(&[0i32; 8]);
    let kernel = t.kernel(ADD);
    t.arg_mem(&kernel, 0, &memory);
    t.arg(&kernel, 1, 3);
    b.launch(&kernel, 8, &[], None);
    b.finalize();
    let other = t.another_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    // The command buffer's own queue does not come to an end meanwhile.
    let gate = t.user_event();
    let held = t.marker_on(t.queue(), &[gate.h]);
    let mut event = null_mut();
    ok(x.clEnqueueCommandBufferKHR(1, &other.h, b.h, 0, null(), &mut event));
    let event = Obj::event(event);
    t.wait(&[&event]);
    let queue: usize = info(|s, v, r| t.clGetEventInfo(event.h, CL_EVENT_COMMAND_QUEUE, s, v, r));
    assert_eq!(queue, other.h as usize);
    t.complete(&gate, CL_COMPLETE);
    t.wait(&[&held]);
    assert_eq!(t.read::<i32>(&memory, 8), [3; 8]);
}

#[test]
fn an_update_changes_later_runs_and_not_earlier_ones() {
    let t = Session::with(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    let x = CommandBuffers::new(&t);
    let b = x.buffer(t.queue(), MUTABLE | SIMULTANEOUS_USE);
    let (one, two) = (t.buffer_of(&[0i32; 8]), t.buffer_of(&[0i32; 8]));
    let kernel = t.kernel(ADD);
    t.arg_mem(&kernel, 0, &one);
    t.arg(&kernel, 1, 1);
    let (point, command) = b.launch(&kernel, 8, &[], Some(ARGUMENTS | 1 | 2 | 4));
    b.launch(&kernel, 8, &[point], None);
    b.finalize();
    let gate = t.user_event();
    let before = b.enqueue(&[gate.h]);
    let (ten, offset, global, local) = (10, 2usize, 4usize, 2usize);
    let args = [arg(0, &two.h), arg(1, &ten)];
    let change = Config { offset: &offset, global: &global, local: &local, ..Config::of(command).args(&args) };
    ok(b.update(&[change]));
    t.wait(&[&b.enqueue(&[])]);
    assert_eq!(t.read::<i32>(&one, 8), [1; 8]);
    assert_eq!(t.read::<i32>(&two, 8), [0, 0, 10, 10, 10, 10, 0, 0]);
    // The kernel itself has its arguments still.
    t.wait(&[&t.launch(&kernel, &[8], &[])]);
    t.complete(&gate, CL_COMPLETE);
    t.wait(&[&before]);
    assert_eq!(t.read::<i32>(&one, 8), [4; 8]);
    assert_eq!(t.read::<i32>(&two, 8), [0, 0, 10, 10, 10, 10, 0, 0]);
    // What one update sets, the next one keeps; of two at once the second goes on from the first.
    let (three, hundred) = (3usize, 100);
    let (first, second) = ([arg(1, &ten)], [arg(1, &hundred)]);
    let wide = Config { global: &three, local: [1usize].as_ptr(), ..Config::of(command).args(&first) };
    ok(b.update(&[wide, Config::of(command).args(&second)]));
    t.wait(&[&b.enqueue(&[])]);
    assert_eq!(t.read::<i32>(&two, 8), [0, 0, 110, 110, 110, 10, 0, 0]);
    let sizes = |name| list::<usize>(|s, v, r| x.clGetMutableCommandInfoKHR(command, name, s, v, r));
    assert_eq!([sizes(0x12A5), sizes(0x12A6), sizes(0x12A7)], [vec![2], vec![3], vec![1]]);
    assert_eq!(sizes(0x12A3), [kernel.h as usize]);
    assert_eq!(sizes(0x12A1), [b.h as usize]);
}

#[test]
fn an_update_with_an_error_changes_nothing() {
    let t = Session::new();
    let x = CommandBuffers::new(&t);
    let b = x.buffer(t.queue(), MUTABLE);
    let memory = t.buffer_of(&[0i32; 8]);
    let kernel = t.kernel(ADD);
    t.arg_mem(&kernel, 0, &memory);
    t.arg(&kernel, 1, 1);
    let (_, open) = b.launch(&kernel, 8, &[], Some(ARGUMENTS));
    let (_, closed) = b.launch(&kernel, 8, &[], Some(1));
    let other = x.buffer(t.queue(), MUTABLE);
    let (_, of_other) = other.launch(&kernel, 8, &[], Some(ARGUMENTS));
    let mut c = Cases::new();
    c.code("not finalized", CL_INVALID_OPERATION, b.update(&[Config::of(open)]));
    b.finalize();
    other.finalize();
    let (value, wide) = (50, 50i64);
    let (good, large, far) = ([arg(1, &value)], [arg(1, &wide)], [arg(2, &value)]);
    let start = Config::of(open).args(&good);
    let size = 4usize;
    let bad = [
        ("an argument of another size", CL_INVALID_ARG_SIZE, Config::of(open).args(&large)),
        ("no such argument", CL_INVALID_ARG_INDEX, Config::of(open).args(&far)),
        ("arguments are closed", CL_INVALID_OPERATION, Config::of(closed).args(&good)),
        ("sizes are closed", CL_INVALID_OPERATION, Config { global: &size, ..Config::of(open) }),
        ("local size is closed", CL_INVALID_OPERATION, Config { local: &size, ..Config::of(open) }),
        ("offset is closed", CL_INVALID_OPERATION, Config { offset: &size, ..Config::of(open) }),
        ("another dimension", CL_INVALID_OPERATION, Config { work_dim: 2, ..Config::of(open) }),
        ("arguments without a list", CL_INVALID_VALUE, Config { num_args: 1, ..Config::of(open) }),
        ("a list without arguments", CL_INVALID_VALUE, Config { num_args: 0, ..start }),
        ("another command buffer's", INVALID_MUTABLE_COMMAND, Config::of(of_other)),
        ("no command", INVALID_MUTABLE_COMMAND, Config::of(null_mut())),
        ("another object", INVALID_MUTABLE_COMMAND, Config::of(kernel.h)),
    ];
    for (what, code, config) in bad {
        c.code(what, code, b.update(&[start, config]));
    }
    let one: *const Config = &raw const start;
    c.code("no kinds", CL_INVALID_VALUE, x.clUpdateMutableCommandsKHR(b.h, 1, null(), &one));
    c.code("no list", CL_INVALID_VALUE, x.clUpdateMutableCommandsKHR(b.h, 1, &0, null()));
    c.code("an unknown kind", CL_INVALID_VALUE, x.clUpdateMutableCommandsKHR(b.h, 1, &7, &one));
    c.code("a null entry", CL_INVALID_VALUE, x.clUpdateMutableCommandsKHR(b.h, 1, &0, &null()));
    c.code("no command buffer", INVALID_COMMAND_BUFFER, x.clUpdateMutableCommandsKHR(null_mut(), 1, &0, &one));
    t.wait(&[&b.enqueue(&[])]);
    assert_eq!(t.read::<i32>(&memory, 8), [2; 8]);
    c.code("good", 0, b.update(&[start]));
    t.wait(&[&b.enqueue(&[])]);
    assert_eq!(t.read::<i32>(&memory, 8), [53; 8]);
    let fixed = x.buffer(t.queue(), 0);
    let (_, command) = fixed.launch(&kernel, 8, &[], Some(ARGUMENTS));
    fixed.finalize();
    c.code("not mutable", CL_INVALID_OPERATION, fixed.update(&[Config::of(command)]));
    c.end();
}

#[test]
fn groups_stay_uniform_or_partial() {
    let t = Session::new();
    let x = CommandBuffers::new(&t);
    let b = x.buffer(t.queue(), MUTABLE);
    let program = t.source(ADD);
    assert_eq!(t.build(&program, "-cl-std=CL3.0"), 0);
    let kernel = t.kernel_of(&program, "k");
    let memory = t.buffer(0, 400);
    t.arg_mem(&kernel, 0, &memory);
    t.arg(&kernel, 1, 1);
    let list = [UPDATABLE, 2 | 4, 0];
    let (mut command, global, local) = (null_mut(), 64usize, 16usize);
    ok(x.clCommandNDRangeKernelKHR(
        b.h,
        null_mut(),
        list.as_ptr(),
        kernel.h,
        1,
        null(),
        &global,
        &local,
        0,
        null(),
        null_mut(),
        &mut command,
    ));
    b.finalize();
    let with = |global: &usize, local: &usize| b.update(&[Config { global, local, ..Config::of(command) }]);
    let mut c = Cases::new();
    c.code("uniform", 0, with(&48, &8));
    c.code("partial", CL_INVALID_OPERATION, with(&50, &8));
    c.end();
    drop(b.enqueue(&[]));
    t.finish();
}

#[test]
fn arguments_may_follow_after_the_recording() {
    let t = Session::new();
    let x = CommandBuffers::new(&t);
    let b = x.buffer(t.queue(), MUTABLE);
    let memory = t.buffer_of(&[0i32; 8]);
    let kernel = t.kernel(ADD);
    t.arg_mem(&kernel, 0, &memory);
    let global = 8usize;
    let record = |b: &Buffer<'_>, list: *const u64| {
        let mut command = null_mut();
        let code = x.clCommandNDRangeKernelKHR(
            b.h,
            null_mut(),
            list,
            kernel.h,
            1,
            null(),
            &global,
            null(),
            0,
            null(),
            null_mut(),
            &mut command,
        );
        (code, command)
    };
    let with_arguments = [UPDATABLE, ARGUMENTS, 0];
    let mut c = Cases::new();
    c.code("not said to be updatable", CL_INVALID_KERNEL_ARGS, record(&b, null()).0);
    c.code("others updatable", CL_INVALID_KERNEL_ARGS, record(&b, [UPDATABLE, 7, 0].as_ptr()).0);
    let fixed = x.buffer(t.queue(), 0);
    c.code("not mutable", CL_INVALID_KERNEL_ARGS, record(&fixed, with_arguments.as_ptr()).0);
    let (code, command) = record(&b, with_arguments.as_ptr());
    c.code("updatable", 0, code);
    assert_eq!(b.info::<u32>(STATE), RECORDING);
    b.finalize();
    assert_eq!(b.info::<u32>(STATE), FINALIZED);
    let none = null_mut();
    c.code("not complete", CL_INVALID_OPERATION, x.clEnqueueCommandBufferKHR(0, null(), b.h, 0, null(), none));
    let value = 9;
    c.code("the rest", 0, b.update(&[Config::of(command).args(&[arg(1, &value)])]));
    assert_eq!(b.info::<u32>(STATE), EXECUTABLE);
    t.wait(&[&b.enqueue(&[])]);
    assert_eq!(t.read::<i32>(&memory, 8), [9; 8]);
    c.end();
}

#[test]
fn recording_and_enqueuing_have_their_codes() {
    let t = Session::new();
    let x = CommandBuffers::new(&t);
    let mut c = Cases::new();
    let (q, none) = (t.queue(), null_mut::<std::ffi::c_void>());
    let create = |list: &[u64], e: *mut i32| x.clCreateCommandBufferKHR(1, &q, list.as_ptr(), e);
    c.new_object("no queue", CL_INVALID_VALUE, |e| x.clCreateCommandBufferKHR(0, &q, null(), e));
    c.new_object("two queues", CL_INVALID_VALUE, |e| x.clCreateCommandBufferKHR(2, [q, q].as_ptr(), null(), e));
    c.new_object("no list", CL_INVALID_VALUE, |e| x.clCreateCommandBufferKHR(1, null(), null(), e));
    c.new_object("null queue", CL_INVALID_COMMAND_QUEUE, |e| x.clCreateCommandBufferKHR(1, &none, null(), e));
    c.new_object("unknown flag", CL_INVALID_VALUE, |e| create(&[FLAGS, 1 << 5, 0], e));
    c.new_object("unknown property", CL_INVALID_VALUE, |e| create(&[0x7777, 0, 0], e));
    c.new_object("twice", CL_INVALID_VALUE, |e| create(&[FLAGS, 0, FLAGS, 0, 0], e));
    let b = x.buffer(q, 0);
    let (memory, other_context) = (t.buffer(0, 64), t.another_context());
    let kernel = t.kernel(ADD);
    let fill = |b: Handle, queue: Handle, list: *const u64, n: u32, wait: *const u32, handle: *mut Handle| {
        let mut value = 1u32;
        let pattern = (&raw mut value).cast();
        x.clCommandFillBufferKHR(b, queue, list, memory.h, pattern, 4, 0, 64, n, wait, null_mut(), handle)
    };
    let (no, no_points, no_handle) = (null(), null(), null_mut());
    c.code("good", 0, fill(b.h, none, [0].as_ptr(), 0, no_points, no_handle));
    for (what, bad) in t.bad_handles(q) {
        c.code(what, INVALID_COMMAND_BUFFER, fill(bad, none, no, 0, no_points, no_handle));
    }
    c.code("its queue", CL_INVALID_COMMAND_QUEUE, fill(b.h, q, no, 0, no_points, no_handle));
    c.code("a property", CL_INVALID_VALUE, fill(b.h, none, [UPDATABLE, 1, 0].as_ptr(), 0, no_points, no_handle));
    c.code("a handle", CL_INVALID_VALUE, fill(b.h, none, no, 0, no_points, &mut null_mut()));
    c.code("points without list", INVALID_SYNC_POINTS, fill(b.h, none, no, 1, no_points, no_handle));
    c.code("list without points", INVALID_SYNC_POINTS, fill(b.h, none, no, 0, [1].as_ptr(), no_handle));
    c.code("a good point", 0, fill(b.h, none, no, 1, [1].as_ptr(), no_handle));
    for wrong in [0, 3, u32::MAX] {
        c.code("no such point", INVALID_SYNC_POINTS, fill(b.h, none, no, 1, &wrong, no_handle));
    }
    let copy = |from: usize, to: usize, size: usize| {
        let m = memory.h;
        x.clCommandCopyBufferKHR(b.h, none, no, m, m, from, to, size, 0, no_points, null_mut(), no_handle)
    };
    c.code("overlap", CL_MEM_COPY_OVERLAP, copy(0, 8, 16));
    c.code("out of bounds", CL_INVALID_VALUE, copy(60, 0, 8));
    let size = 8usize;
    let launch = |kernel: Handle, dim, list: *const u64, local: *const usize| {
        let point = null_mut();
        x.clCommandNDRangeKernelKHR(b.h, none, list, kernel, dim, null(), &size, local, 0, no_points, point, no_handle)
    };
    c.code("no arguments", CL_INVALID_KERNEL_ARGS, launch(kernel.h, 1, no, null()));
    t.arg_mem(&kernel, 0, &memory);
    t.arg(&kernel, 1, 1);
    c.code("no kernel", CL_INVALID_KERNEL, launch(none, 1, no, null()));
    c.code("four dimensions", CL_INVALID_WORK_DIMENSION, launch(kernel.h, 4, no, null()));
    c.code("no divisor", CL_INVALID_WORK_GROUP_SIZE, launch(kernel.h, 1, no, &3));
    c.code("unknown field", CL_INVALID_OPERATION, launch(kernel.h, 1, [UPDATABLE, 1 << 9, 0].as_ptr(), null()));
    c.code("open groups", CL_INVALID_VALUE, launch(kernel.h, 1, [0x12B8, 1, 0].as_ptr(), null()));
    let enqueue = |n: u32, queues: *const Handle, b: Handle, count: u32, wait: *const Handle| {
        x.clEnqueueCommandBufferKHR(n, queues, b, count, wait, null_mut())
    };
    c.code("not finalized", CL_INVALID_OPERATION, enqueue(0, null(), b.h, 0, null()));
    b.finalize();
    c.code("again", CL_INVALID_OPERATION, x.clFinalizeCommandBufferKHR(b.h));
    c.code("finalized", CL_INVALID_OPERATION, fill(b.h, none, no, 0, no_points, no_handle));
    c.code("finalized", CL_INVALID_OPERATION, launch(kernel.h, 1, no, null()));
    let mut code = 1;
    let foreign = Obj::queue(t.clCreateCommandQueue(other_context.h, t.device, 0, &mut code));
    ok(code);
    let event = Obj::event(t.clCreateUserEvent(other_context.h, &mut code));
    c.code("no such buffer", INVALID_COMMAND_BUFFER, enqueue(0, null(), none, 0, null()));
    c.code("a queue of none", CL_INVALID_VALUE, enqueue(0, &q, b.h, 0, null()));
    c.code("none of a queue", CL_INVALID_VALUE, enqueue(1, null(), b.h, 0, null()));
    c.code("two queues", CL_INVALID_VALUE, enqueue(2, [q, q].as_ptr(), b.h, 0, null()));
    c.code("null queue", CL_INVALID_COMMAND_QUEUE, enqueue(1, &none, b.h, 0, null()));
    c.code("another context", CL_INVALID_CONTEXT, enqueue(1, &foreign.h, b.h, 0, null()));
    c.code("another context's event", CL_INVALID_CONTEXT, enqueue(0, null(), b.h, 1, &event.h));
    c.code("events without list", CL_INVALID_EVENT_WAIT_LIST, enqueue(0, null(), b.h, 1, null()));
    c.code("retain", 0, x.clRetainCommandBufferKHR(b.h));
    assert_eq!(b.info::<u32>(0x1296), 2);
    c.code("release", 0, x.clReleaseCommandBufferKHR(b.h));
    assert_eq!((b.info::<usize>(0x1294), b.info::<u32>(0x1295)), (q as usize, 1));
    assert_eq!(b.info::<usize>(0x1299), t.context() as usize);
    c.query("command buffer", STATE, |name, s, v, r| x.clGetCommandBufferInfoKHR(b.h, name, s, v, r));
    c.end();
    assert_eq!(t.device_info::<u64>(0x12A9), 1 | 2 | 4, "printf, device-side enqueue, simultaneous use");
    assert_eq!((t.device_info::<u64>(0x129A), t.device_info::<u64>(0x12AA)), (3, 0), "queues of all kinds");
    assert_eq!(t.device_info::<u64>(0x12B0), 31, "everything may be updated");
    t.finish();
}

#[test]
fn threads_run_and_update_one_command_buffer_at_the_same_time() {
    const THREADS: usize = 4;
    const RUNS: usize = 200;
    let t = Session::new();
    let x = CommandBuffers::new(&t);
    let b = x.buffer(t.queue(), MUTABLE | SIMULTANEOUS_USE);
    let counts = t.buffer_of(&[0i32; 2]);
    let kernel = t.kernel("kernel void k(global int *p, int n) { atomic_add(p, n); atomic_inc(p + 1); }");
    t.arg_mem(&kernel, 0, &counts);
    t.arg(&kernel, 1, 3);
    let (mut point, mut commands) = (Vec::new(), Vec::new());
    for _ in 0..10 {
        let (next, command) = b.launch(&kernel, 16, &point, Some(ARGUMENTS));
        point = vec![next];
        commands.push(command as usize);
    }
    b.finalize();
    std::thread::scope(|scope| {
        for i in 0..THREADS {
            let (t, x, b) = (&t, &x, b.h as usize);
            scope.spawn(move || {
                let queue = t.another_queue(if i % 2 == 0 { 0 } else { CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE });
                for _ in 0..RUNS {
                    let b = std::ptr::with_exposed_provenance_mut(b);
                    ok(x.clEnqueueCommandBufferKHR(1, &queue.h, b, 0, null(), null_mut()));
                }
                ok(t.clFinish(queue.h));
            });
        }
        // Each update leaves the sum of the values as it is.
        for round in 0..RUNS {
            let (more, less) = (3 + round as i32, 3 - round as i32);
            let args = [[arg(1, &more)], [arg(1, &less)]];
            let command = |i: usize| std::ptr::with_exposed_provenance_mut(commands[(round + i) % 10]);
            let three = 3;
            let reset: Vec<[ArgConfig; 1]> = commands.iter().map(|_| [arg(1, &three)]).collect();
            let of = |(i, args): (usize, &[ArgConfig; 1])| Config::of(command(i)).args(args);
            let all: Vec<Config> = reset.iter().chain(&args).enumerate().map(of).collect();
            assert_eq!(b.update(&all), 0);
        }
    });
    let runs = (THREADS * RUNS * 10 * 16) as i32;
    assert_eq!(t.read::<i32>(&counts, 2), [3 * runs, runs]);
}
