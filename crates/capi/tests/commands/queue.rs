//! Chapter 5.1 of the specification: command queues, and flushing and finishing them.

#[path = "../common/mod.rs"]
mod common;
use common::*;

#[test]
fn a_queue_describes_itself() {
    let t = Session::with(CL_QUEUE_PROFILING_ENABLE);
    let queue = t.queue();
    let ask = |name| move |s, v, r| api().clGetCommandQueueInfo(queue, name, s, v, r);
    assert_eq!(info::<usize>(ask(CL_QUEUE_CONTEXT)), t.context() as usize);
    assert_eq!(info::<usize>(ask(CL_QUEUE_DEVICE)), t.device as usize);
    assert_eq!(info::<u64>(ask(CL_QUEUE_PROPERTIES)), CL_QUEUE_PROFILING_ENABLE);
    assert_eq!(info::<u32>(ask(CL_QUEUE_REFERENCE_COUNT)), 1);
    ok(t.clRetainCommandQueue(t.queue()));
    assert_eq!(info::<u32>(ask(CL_QUEUE_REFERENCE_COUNT)), 2);
    ok(t.clReleaseCommandQueue(t.queue()));
    assert!(list::<u64>(ask(CL_QUEUE_PROPERTIES_ARRAY)).len() <= 1, "made without a list");
    let mut size = 0;
    let code = t.clGetCommandQueueInfo(t.queue(), CL_QUEUE_SIZE, 0, null_mut(), &mut size);
    assert_eq!(code, CL_INVALID_COMMAND_QUEUE, "only queues on a device have a size");
    let on_device: usize = info(ask(CL_QUEUE_DEVICE_DEFAULT));
    assert_eq!(on_device, 0);
}

#[test]
fn properties_come_back_as_they_were_given() {
    let t = Session::new();
    for bits in [0, CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 3] {
        let properties = [CL_QUEUE_PROPERTIES as u64, bits, 0];
        let mut code = 1;
        let given = properties.as_ptr();
        let queue = t.clCreateCommandQueueWithProperties(t.context(), t.device, given, &mut code);
        ok(code);
        let queue = Obj::queue(queue);
        let got = list::<u64>(|s, v, r| t.clGetCommandQueueInfo(queue.h, CL_QUEUE_PROPERTIES_ARRAY, s, v, r));
        assert_eq!(got, properties);
        let got: u64 = info(|s, v, r| t.clGetCommandQueueInfo(queue.h, CL_QUEUE_PROPERTIES, s, v, r));
        assert_eq!(got, bits);
    }
    for empty in [null(), &0u64 as *const u64] {
        let mut code = 1;
        let queue = t.clCreateCommandQueueWithProperties(t.context(), t.device, empty, &mut code);
        ok(code);
        let queue = Obj::queue(queue);
        let got: u64 = info(|s, v, r| t.clGetCommandQueueInfo(queue.h, CL_QUEUE_PROPERTIES, s, v, r));
        assert_eq!(got, 0);
    }
}

#[test]
fn finish_waits_for_everything_and_flush_for_nothing() {
    for properties in [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let t = Session::with(properties);
        let gate = t.user_event();
        let buffer = t.buffer(0, 4);
        let (value, mut event) = (7u32, null_mut());
        let write = |wait: &Handle, event| {
            let data = (&raw const value).cast();
            t.clEnqueueWriteBuffer(t.queue(), buffer.h, CL_FALSE, 0, 4, data, 1, wait, event)
        };
        ok(write(&gate.h, &mut event));
        let event = Obj::event(event);
        ok(t.clFlush(t.queue()));
        assert!(t.status(&event) > CL_COMPLETE);
        std::thread::scope(|s| {
            s.spawn(|| {
                std::thread::sleep(std::time::Duration::from_millis(20));
                t.complete(&gate, CL_COMPLETE);
            });
            t.finish();
            assert_eq!(t.status(&event), CL_COMPLETE);
        });
        assert_eq!(t.read::<u32>(&buffer, 1), [7]);
    }
}

#[test]
fn a_queue_may_be_released_while_its_commands_wait() {
    let t = Session::new();
    let queue = t.another_queue(0);
    let gate = t.user_event();
    let buffer = t.buffer_of(&[0u32]);
    let value = 9u32;
    let mut done = null_mut();
    let data = (&raw const value).cast();
    ok(t.clEnqueueWriteBuffer(queue.h, buffer.h, CL_FALSE, 0, 4, data, 1, &gate.h, &mut done));
    let done = Obj::event(done);
    // A release flushes; it does not wait, because then this would never end.
    drop(queue);
    assert!(t.status(&done) > CL_COMPLETE);
    t.complete(&gate, CL_COMPLETE);
    t.wait(&[&done]);
    assert_eq!(t.read::<u32>(&buffer, 1), [9]);
}

/// A kernel that is known to be short runs on the enqueuing thread, without a command, if nothing precedes it. This
/// makes one, with a buffer that holds 0.
fn short_kernel(t: &Session) -> (Obj, Obj) {
    let kernel = t.kernel("kernel void k(global uint *p, uint a) { p[0] = p[0] * 2 + a; }");
    let buffer = t.buffer_of(&[0u32]);
    t.arg_mem(&kernel, 0, &buffer);
    t.arg(&kernel, 1, 0u32);
    for _ in 0..50 {
        drop(t.launch(&kernel, &[1], &[1]));
        t.finish();
    }
    (kernel, buffer)
}

#[test]
fn a_short_launch_keeps_its_place() {
    for properties in [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let t = Session::with(properties);
        let (kernel, buffer) = short_kernel(&t);
        let gate = t.user_event();
        let barrier = {
            let mut event = null_mut();
            ok(t.clEnqueueBarrierWithWaitList(t.queue(), 1, &gate.h, &mut event));
            Obj::event(event)
        };
        let set = |a: u32| t.arg(&kernel, 1, a);
        set(1);
        let held = t.launch(&kernel, &[1], &[1]);
        std::thread::sleep(std::time::Duration::from_millis(5));
        assert!(t.status(&held) > CL_COMPLETE && t.status(&barrier) > CL_COMPLETE);
        t.complete(&gate, CL_COMPLETE);
        t.wait(&[&held]);
        set(0);
        // Ordered by the wait list alone.
        let next = t.launch_on(t.queue(), &kernel, &[1], &[1], &[held.h]);
        t.wait(&[&next]);
        t.finish();
        assert_eq!(t.read::<u32>(&buffer, 1), [2]);
    }
}

#[test]
fn a_short_launch_does_not_wait_behind_one_that_is_held_back() {
    let t = Session::new();
    let (kernel, buffer) = short_kernel(&t);
    let gate = t.user_event();
    t.arg(&kernel, 1, 1u32);
    let held = t.launch_on(t.queue(), &kernel, &[1], &[1], &[gate.h]);
    // Only this thread opens the gate: waiting here would be a deadlock.
    let behind: Vec<Obj> = (0..20).map(|_| t.launch(&kernel, &[1], &[1])).collect();
    assert!(t.status(&held) > CL_COMPLETE && behind.iter().all(|e| t.status(e) > CL_COMPLETE));
    t.complete(&gate, CL_COMPLETE);
    t.finish();
    assert_eq!(t.read::<u32>(&buffer, 1), [(1 << 21) - 1]);
    // After short commands alone it may wait for them, and runs in its turn.
    t.write(&buffer, 0, &[0u32]);
    (0..20).for_each(|_| drop(t.launch(&kernel, &[1], &[1])));
    t.finish();
    assert_eq!(t.read::<u32>(&buffer, 1), [(1 << 20) - 1]);
}

#[test]
fn a_short_launch_fails_with_its_wait_list() {
    let t = Session::new();
    let (kernel, buffer) = short_kernel(&t);
    let gate = t.user_event();
    t.complete(&gate, -7);
    t.arg(&kernel, 1, 1u32);
    let failed = t.launch_on(t.queue(), &kernel, &[1], &[1], &[gate.h]);
    t.until("the launch ends", || t.status(&failed) <= CL_COMPLETE);
    assert_eq!(t.status(&failed), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    t.finish();
    assert_eq!(t.read::<u32>(&buffer, 1), [0]);
}

#[test]
fn short_launches_of_many_threads_do_not_overlap_in_an_ordered_queue() {
    const LAUNCHES: u32 = 2000;
    let t = Session::new();
    let source =
        "kernel void k(global uint *p) { uint n = p[0]; for (uint i = 0; i < n % 64; i++) p[1] += n; p[0] = n + 1; }";
    let program = t.program(source);
    let buffer = t.buffer_of(&[0u32, 0]);
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                let kernel = t.kernel_of(&program, "k");
                t.arg_mem(&kernel, 0, &buffer);
                for i in 0..LAUNCHES {
                    drop(t.launch(&kernel, &[1], &[1]));
                    if i % 3 == 0 {
                        t.finish();
                    }
                }
            });
        }
    });
    t.finish();
    assert_eq!(t.read::<u32>(&buffer, 1), [4 * LAUNCHES]);
}

#[test]
fn a_short_launch_has_its_times() {
    let t = Session::with(CL_QUEUE_PROFILING_ENABLE);
    let (kernel, _buffer) = short_kernel(&t);
    let mut before = 0;
    for _ in 0..20 {
        let event = t.launch(&kernel, &[1], &[1]);
        t.wait(&[&event]);
        let names = [
            CL_PROFILING_COMMAND_QUEUED,
            CL_PROFILING_COMMAND_SUBMIT,
            CL_PROFILING_COMMAND_START,
            CL_PROFILING_COMMAND_END,
        ];
        let times = names.map(|name| info::<u64>(|s, v, r| t.clGetEventProfilingInfo(event.h, name, s, v, r)));
        assert!(times.is_sorted() && before <= times[0] && times[0] > 0, "{before} {times:?}");
        before = times[3];
    }
}

#[test]
fn bad_arguments_have_their_codes() {
    let t = Session::new();
    let mut c = Cases::new();
    let create = t.clCreateCommandQueue(null_mut(), t.device, 0, null_mut());
    assert!(create.is_null());
    let create = |context, device, bits, code| t.clCreateCommandQueue(context, device, bits, code);
    for (what, bad) in t.bad_handles(t.queue()) {
        c.new_object(&format!("{what} as context"), CL_INVALID_CONTEXT, |e| create(bad, t.device, 0, e));
        c.new_object(&format!("{what} as device"), CL_INVALID_DEVICE, |e| create(t.context(), bad, 0, e));
    }
    c.new_object("unknown bits", CL_INVALID_VALUE, |e| create(t.context(), t.device, 1 << 40, e));
    let device_bits = CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    c.new_object("on the device", CL_INVALID_VALUE, |e| create(t.context(), t.device, device_bits, e));
    let with =
        |context, device, p: &[u64], code| t.clCreateCommandQueueWithProperties(context, device, p.as_ptr(), code);
    c.new_object("with: null context", CL_INVALID_CONTEXT, |e| with(null_mut(), t.device, &[0], e));
    c.new_object("with: null device", CL_INVALID_DEVICE, |e| with(t.context(), null_mut(), &[0], e));
    c.new_object("with: unknown property", CL_INVALID_VALUE, |e| with(t.context(), t.device, &[0x7777, 1, 0], e));
    let properties = u64::from(CL_QUEUE_PROPERTIES);
    c.new_object("with: unknown bits", CL_INVALID_VALUE, |e| with(t.context(), t.device, &[properties, 1 << 40, 0], e));
    let on_device = CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    if t.device_info::<u64>(CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES) == 0 {
        let p = [properties, on_device, 0];
        c.new_object("with: on device", CL_INVALID_QUEUE_PROPERTIES, |e| with(t.context(), t.device, &p, e));
    }
    for (what, bad) in t.bad_handles(t.context()) {
        let wanted = CL_INVALID_COMMAND_QUEUE;
        c.code(&format!("retain {what}"), wanted, t.clRetainCommandQueue(bad));
        c.code(&format!("release {what}"), wanted, t.clReleaseCommandQueue(bad));
        c.code(&format!("flush {what}"), wanted, t.clFlush(bad));
        c.code(&format!("finish {what}"), wanted, t.clFinish(bad));
        let ask = t.clGetCommandQueueInfo(bad, CL_QUEUE_CONTEXT, 0, null_mut(), null_mut());
        c.code(&format!("query {what}"), wanted, ask);
    }
    c.query("queue", CL_QUEUE_CONTEXT, |name, s, v, r| t.clGetCommandQueueInfo(t.queue(), name, s, v, r));
    c.end();
}
