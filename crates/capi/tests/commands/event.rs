//! Chapters 5.11 to 5.15 of the specification: events, user events, callbacks, markers, barriers, profiling, and order.

#[path = "../common/mod.rs"]
mod common;
use common::*;
use std::time::{Duration, Instant};

const OUT_OF_ORDER: u64 = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
const WAIT_FAILED: i32 = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;

fn on(t: &Session, event: &Obj, at: i32, call: impl FnOnce(usize, i32) + Send + 'static) {
    let (call, data) = on_event(call);
    ok(t.clSetEventCallback(event.h, at, call, data));
}

#[test]
fn an_event_describes_itself() {
    let t = Session::new();
    let event = t.marker_on(t.queue(), &[]);
    let handle = event.h;
    let ask = |name| move |s, v, r| api().clGetEventInfo(handle, name, s, v, r);
    t.wait(&[&event]);
    assert_eq!(info::<usize>(ask(CL_EVENT_COMMAND_QUEUE)), t.queue() as usize);
    assert_eq!(info::<usize>(ask(CL_EVENT_CONTEXT)), t.context() as usize);
    assert_eq!(info::<u32>(ask(CL_EVENT_COMMAND_TYPE)), CL_COMMAND_MARKER);
    assert_eq!(info::<i32>(ask(CL_EVENT_COMMAND_EXECUTION_STATUS)), CL_COMPLETE);
    assert_eq!(info::<u32>(ask(CL_EVENT_REFERENCE_COUNT)), 1);
    ok(t.clRetainEvent(event.h));
    assert_eq!(info::<u32>(ask(CL_EVENT_REFERENCE_COUNT)), 2);
    ok(t.clReleaseEvent(event.h));
    let user = t.user_event();
    let handle = user.h;
    let ask = |name| move |s, v, r| api().clGetEventInfo(handle, name, s, v, r);
    assert_eq!(info::<usize>(ask(CL_EVENT_COMMAND_QUEUE)), 0);
    assert_eq!(info::<u32>(ask(CL_EVENT_COMMAND_TYPE)), CL_COMMAND_USER);
    assert_eq!(info::<i32>(ask(CL_EVENT_COMMAND_EXECUTION_STATUS)), CL_SUBMITTED);
    assert_eq!(info::<usize>(ask(CL_EVENT_CONTEXT)), t.context() as usize);
}

#[test]
fn each_command_has_its_type() {
    let t = Session::new();
    let (a, b) = (t.buffer(0, 256), t.buffer(0, 256));
    let kernel = t.kernel("kernel void k(void) {}");
    let mut words = [0u8; 256];
    let at: Handle = words.as_mut_ptr().cast();
    let (zero, region) = ([0usize; 3], [1usize; 3]);
    let (o, r, q) = (zero.as_ptr(), region.as_ptr(), t.queue());
    let mut e = null_mut();
    let check = |code: i32, event: &mut Handle, wanted: u32| {
        ok(code);
        let event = Obj::event(std::mem::replace(event, null_mut()));
        let got: u32 = info(|s, v, r| t.clGetEventInfo(event.h, CL_EVENT_COMMAND_TYPE, s, v, r));
        assert_eq!(got, wanted);
        t.wait(&[&event]);
    };
    let n = null();
    let x = t.clEnqueueReadBuffer(q, a.h, 0, 0, 8, at, 0, n, &mut e);
    check(x, &mut e, CL_COMMAND_READ_BUFFER);
    let x = t.clEnqueueWriteBuffer(q, a.h, 0, 0, 8, at, 0, n, &mut e);
    check(x, &mut e, CL_COMMAND_WRITE_BUFFER);
    let x = t.clEnqueueReadBufferRect(q, a.h, 0, o, o, r, 0, 0, 0, 0, at, 0, n, &mut e);
    check(x, &mut e, CL_COMMAND_READ_BUFFER_RECT);
    let x = t.clEnqueueWriteBufferRect(q, a.h, 0, o, o, r, 0, 0, 0, 0, at, 0, n, &mut e);
    check(x, &mut e, CL_COMMAND_WRITE_BUFFER_RECT);
    let x = t.clEnqueueCopyBuffer(q, a.h, b.h, 0, 0, 8, 0, n, &mut e);
    check(x, &mut e, CL_COMMAND_COPY_BUFFER);
    let x = t.clEnqueueCopyBufferRect(q, a.h, b.h, o, o, r, 0, 0, 0, 0, 0, n, &mut e);
    check(x, &mut e, CL_COMMAND_COPY_BUFFER_RECT);
    let x = t.clEnqueueFillBuffer(q, a.h, at, 4, 0, 8, 0, n, &mut e);
    check(x, &mut e, CL_COMMAND_FILL_BUFFER);
    let mut code = 1;
    let mapped = t.clEnqueueMapBuffer(q, a.h, 1, CL_MAP_READ, 0, 8, 0, n, &mut e, &mut code);
    check(code, &mut e, CL_COMMAND_MAP_BUFFER);
    let x = t.clEnqueueUnmapMemObject(q, a.h, mapped, 0, n, &mut e);
    check(x, &mut e, CL_COMMAND_UNMAP_MEM_OBJECT);
    let x = t.clEnqueueNDRangeKernel(q, kernel.h, 1, null(), r, null(), 0, n, &mut e);
    check(x, &mut e, CL_COMMAND_NDRANGE_KERNEL);
    let x = t.clEnqueueTask(q, kernel.h, 0, n, &mut e);
    check(x, &mut e, CL_COMMAND_TASK);
    let x = t.clEnqueueMarker(q, &mut e);
    check(x, &mut e, CL_COMMAND_MARKER);
    let x = t.clEnqueueBarrierWithWaitList(q, 0, n, &mut e);
    check(x, &mut e, CL_COMMAND_BARRIER);
}

#[test]
fn a_user_event_holds_commands_back_until_it_is_set() {
    let t = Session::new();
    let gate = t.user_event();
    let first = t.marker_on(t.queue(), &[gate.h]);
    let second = t.marker_on(t.queue(), &[]);
    std::thread::sleep(Duration::from_millis(20));
    assert!(t.status(&first) > CL_COMPLETE && t.status(&second) > CL_COMPLETE, "the queue is in order");
    t.complete(&gate, CL_COMPLETE);
    assert_eq!(t.status(&gate), CL_COMPLETE);
    t.wait(&[&first, &second]);
    assert_eq!((t.status(&first), t.status(&second)), (CL_COMPLETE, CL_COMPLETE));
    let again = t.clSetUserEventStatus(gate.h, CL_COMPLETE);
    assert_eq!(again, CL_INVALID_OPERATION, "once only");
    assert_eq!(t.clSetUserEventStatus(gate.h, -1), CL_INVALID_OPERATION);
}

#[test]
fn a_failure_is_handed_on_along_wait_lists() {
    for properties in [0, OUT_OF_ORDER] {
        let t = Session::with(properties);
        let buffer = t.buffer_of(&[1u32]);
        let word = 2u32;
        let gate = t.user_event();
        let mut first = null_mut();
        let data = (&raw const word).cast();
        ok(t.clEnqueueWriteBuffer(t.queue(), buffer.h, CL_FALSE, 0, 4, data, 1, &gate.h, &mut first));
        let first = Obj::event(first);
        let second = t.marker_on(t.queue(), &[first.h]);
        let third = t.marker_on(t.queue(), &[second.h]);
        t.complete(&gate, -5);
        assert_eq!(t.clWaitForEvents(1, &third.h), WAIT_FAILED);
        assert_eq!(t.clWaitForEvents(1, &gate.h), WAIT_FAILED);
        assert_eq!(t.status(&gate), -5);
        for event in [&first, &second, &third] {
            assert_eq!(t.status(event), WAIT_FAILED);
        }
        // The queue goes on.
        t.finish();
        assert_eq!(t.read::<u32>(&buffer, 1), [1], "the command that failed did nothing");
    }
}

#[test]
fn callbacks_come_once_with_their_status() {
    let t = Session::new();
    let calls = Calls::new();
    let gate = t.user_event();
    let event = t.marker_on(t.queue(), &[gate.h]);
    for at in [CL_COMPLETE, CL_RUNNING, CL_SUBMITTED] {
        let send = calls.sender();
        on(&t, &event, at, move |handle, status| send.send((handle, status)).unwrap());
    }
    t.complete(&gate, CL_COMPLETE);
    let handle = event.h as usize;
    let mut got = [calls.next(), calls.next(), calls.next()];
    got.sort();
    assert_eq!(got, [(handle, CL_COMPLETE), (handle, CL_RUNNING), (handle, CL_SUBMITTED)]);
    assert!(calls.none());
    // A callback that is registered late is called too.
    let send = calls.sender();
    on(&t, &event, CL_COMPLETE, move |handle, status| send.send((handle, status)).unwrap());
    assert_eq!(calls.next(), (handle, CL_COMPLETE));
}

#[test]
fn callbacks_of_a_failed_event_get_the_error() {
    let t = Session::new();
    let calls = Calls::new();
    let gate = t.user_event();
    let event = t.marker_on(t.queue(), &[gate.h]);
    for (event, name) in [(&gate, 'g'), (&event, 'e')] {
        let send = calls.sender();
        on(&t, event, CL_COMPLETE, move |_, status| send.send((name, status)).unwrap());
    }
    t.complete(&gate, -9);
    let mut got = [calls.next(), calls.next()];
    got.sort();
    assert_eq!(got, [('e', WAIT_FAILED), ('g', -9)]);
}

#[test]
fn a_callback_may_call_the_interface_and_block() {
    let t = Session::new();
    let calls = Calls::new();
    let buffer = std::sync::Arc::new(t.buffer_of(&[3u32]));
    let queue = t.queue() as usize;
    let gate = t.user_event();
    let held = buffer.clone();
    let send = calls.sender();
    on(&t, &gate, CL_COMPLETE, move |_, _| {
        // Blocking calls in callbacks are undefined in the specification; here they work.
        let mut word = 0u32;
        let queue: Handle = std::ptr::with_exposed_provenance_mut(queue);
        let at = (&raw mut word).cast();
        let code = api().clEnqueueReadBuffer(queue, held.h, CL_TRUE, 0, 4, at, 0, null(), null_mut());
        drop(held);
        send.send((code, word)).unwrap();
    });
    t.complete(&gate, CL_COMPLETE);
    assert_eq!(calls.next(), (0, 3));
}

#[test]
fn a_callback_may_set_the_user_event_that_another_command_waits_for() {
    let t = Session::with(OUT_OF_ORDER);
    let n = 50;
    let gates: Vec<std::sync::Arc<Obj>> = (0..n).map(|_| std::sync::Arc::new(t.user_event())).collect();
    let markers: Vec<Obj> = gates.iter().map(|g| t.marker_on(t.queue(), &[g.h])).collect();
    for (marker, gate) in markers.iter().zip(gates.iter().skip(1)) {
        let gate = gate.clone();
        on(&t, marker, CL_COMPLETE, move |_, _| ok(api().clSetUserEventStatus(gate.h, CL_COMPLETE)));
    }
    t.complete(&gates[0], CL_COMPLETE);
    t.wait(&[&markers[n - 1]]);
    t.finish();
    // The gates stay closed until the callbacks have returned.
    t.until("the callbacks are over", || gates.iter().all(|g| std::sync::Arc::strong_count(g) == 1));
}

#[test]
fn markers_and_barriers_order_a_queue_that_has_no_order() {
    let t = Session::with(OUT_OF_ORDER);
    let gate = t.user_event();
    let held = t.marker_on(t.queue(), &[gate.h]);
    // A marker without a list waits for all that came before, but holds nothing back.
    let marker = t.marker_on(t.queue(), &[]);
    let other = t.user_event();
    t.complete(&other, CL_COMPLETE);
    let free = t.marker_on(t.queue(), &[other.h]);
    t.wait(&[&free]);
    assert!(t.status(&held) > CL_COMPLETE && t.status(&marker) > CL_COMPLETE);
    // A barrier holds back what comes later, even what has a list that is complete.
    let mut barrier = null_mut();
    ok(t.clEnqueueBarrierWithWaitList(t.queue(), 0, null(), &mut barrier));
    let barrier = Obj::event(barrier);
    let behind = t.marker_on(t.queue(), &[other.h]);
    std::thread::sleep(Duration::from_millis(20));
    assert!(t.status(&barrier) > CL_COMPLETE && t.status(&behind) > CL_COMPLETE);
    t.complete(&gate, CL_COMPLETE);
    t.wait(&[&marker, &barrier, &behind]);
}

#[test]
fn a_barrier_with_a_list_waits_for_that_list_only() {
    let t = Session::with(OUT_OF_ORDER);
    let (gate, other) = (t.user_event(), t.user_event());
    let held = t.marker_on(t.queue(), &[gate.h]);
    let mut barrier = null_mut();
    ok(t.clEnqueueBarrierWithWaitList(t.queue(), 1, &other.h, &mut barrier));
    let barrier = Obj::event(barrier);
    let mut behind = null_mut();
    let buffer = t.buffer(0, 4);
    let word = 1u32;
    let data = (&raw const word).cast();
    ok(t.clEnqueueWriteBuffer(t.queue(), buffer.h, CL_FALSE, 0, 4, data, 0, null(), &mut behind));
    let behind = Obj::event(behind);
    assert!(t.status(&behind) > CL_COMPLETE);
    t.complete(&other, CL_COMPLETE);
    t.wait(&[&barrier, &behind]);
    assert!(t.status(&held) > CL_COMPLETE);
    t.complete(&gate, CL_COMPLETE);
    t.wait(&[&held]);
}

#[test]
fn the_old_names_of_markers_and_barriers_work() {
    let t = Session::with(OUT_OF_ORDER);
    let gate = t.user_event();
    let mut list = [gate.h];
    ok(t.clEnqueueWaitForEvents(t.queue(), 1, list.as_mut_ptr()));
    let mut marker = null_mut();
    ok(t.clEnqueueMarker(t.queue(), &mut marker));
    let marker = Obj::event(marker);
    ok(t.clEnqueueBarrier(t.queue()));
    let behind = t.marker_on(t.queue(), &[]);
    std::thread::sleep(Duration::from_millis(10));
    assert!(t.status(&marker) > CL_COMPLETE && t.status(&behind) > CL_COMPLETE);
    t.complete(&gate, CL_COMPLETE);
    t.wait(&[&marker, &behind]);
}

#[test]
fn events_order_commands_of_several_queues() {
    let t = Session::new();
    let kernel = t.kernel("kernel void k(global uint *p, uint from, uint to) { if (p[0] == from) p[0] = to; }");
    let queues: Vec<Obj> = (0..4).map(|i| t.another_queue(if i % 2 == 0 { 0 } else { OUT_OF_ORDER })).collect();
    let buffer = t.buffer_of(&[0u32]);
    t.arg_mem(&kernel, 0, &buffer);
    let mut last: Option<Obj> = None;
    for i in 0..200u32 {
        t.arg(&kernel, 1, i);
        t.arg(&kernel, 2, i + 1);
        let wait: Vec<Handle> = last.iter().map(|e| e.h).collect();
        last = Some(t.launch_on(queues[i as usize % 4].h, &kernel, &[1], &[], &wait));
    }
    t.wait(&[last.as_ref().unwrap()]);
    assert_eq!(t.read::<u32>(&buffer, 1), [200]);
}

#[test]
fn an_in_order_queue_keeps_its_order() {
    let t = Session::new();
    let kernel = t.kernel("kernel void k(global uint *p, uint from, uint to) { if (p[0] == from) p[0] = to; }");
    let buffer = t.buffer_of(&[0u32]);
    t.arg_mem(&kernel, 0, &buffer);
    for i in 0..1000u32 {
        t.arg(&kernel, 1, i);
        t.arg(&kernel, 2, i + 1);
        drop(t.launch(&kernel, &[1], &[]));
    }
    assert_eq!(t.read::<u32>(&buffer, 1), [1000]);
}

#[test]
fn a_long_chain_of_failures_needs_no_deep_stack() {
    let t = Session::with(OUT_OF_ORDER);
    let gate = t.user_event();
    let mut events = vec![t.marker_on(t.queue(), &[gate.h])];
    for _ in 0..20_000 {
        let next = t.marker_on(t.queue(), &[events[events.len() - 1].h]);
        events.push(next);
    }
    t.complete(&gate, -3);
    let last = &events[events.len() - 1];
    assert_eq!(t.clWaitForEvents(1, &last.h), WAIT_FAILED);
    t.finish();
}

#[test]
fn what_waits_for_a_user_event_that_is_gone_fails() {
    for properties in [0, OUT_OF_ORDER] {
        let t = Session::with(properties);
        if !t.ours() {
            return; // The specification allows to wait for ever.
        }
        let gate = t.user_event();
        let mut events = vec![t.marker_on(t.queue(), &[gate.h])];
        for _ in 0..20_000 {
            let next = t.marker_on(t.queue(), &[events[events.len() - 1].h]);
            events.push(next);
        }
        let last = events.pop().unwrap();
        drop(events);
        drop(gate);
        assert_eq!(t.clWaitForEvents(1, &last.h), WAIT_FAILED);
        t.finish();
    }
}

#[test]
fn a_wait_list_of_many_events_waits_for_the_last() {
    let t = Session::with(OUT_OF_ORDER);
    let gates: Vec<Obj> = (0..500).map(|_| t.user_event()).collect();
    let list: Vec<Handle> = gates.iter().map(|g| g.h).collect();
    let event = t.marker_on(t.queue(), &list);
    for gate in gates.iter().rev().take(499) {
        t.complete(gate, CL_COMPLETE);
    }
    std::thread::sleep(Duration::from_millis(5));
    assert!(t.status(&event) > CL_COMPLETE);
    t.complete(&gates[0], CL_COMPLETE);
    t.wait(&[&event]);
    // The same event twice in a list is one event.
    let twice = t.marker_on(t.queue(), &[event.h, event.h]);
    t.wait(&[&twice, &twice]);
}

#[test]
fn times_of_a_command_ascend() {
    let t = Session::with(CL_QUEUE_PROFILING_ENABLE);
    let kernel = t.kernel(
        "kernel void k(global uint *p) { uint x = get_global_id(0); for (uint i = 0; i < 5000; i++) x = x * 3 + i;
         p[get_global_id(0)] = x; }",
    );
    let buffer = t.buffer(0, 4 * 4096);
    t.arg_mem(&kernel, 0, &buffer);
    let begin = Instant::now();
    let (first, second) = (t.launch(&kernel, &[4096], &[]), t.launch(&kernel, &[4096], &[]));
    t.wait(&[&second]);
    let wall = begin.elapsed().as_nanos() as u64;
    let times = |e: &Obj| {
        let at = |name| info::<u64>(|s, v, r| t.clGetEventProfilingInfo(e.h, name, s, v, r));
        let names = [
            CL_PROFILING_COMMAND_QUEUED,
            CL_PROFILING_COMMAND_SUBMIT,
            CL_PROFILING_COMMAND_START,
            CL_PROFILING_COMMAND_END,
            CL_PROFILING_COMMAND_COMPLETE,
        ];
        names.map(at)
    };
    for event in [&first, &second] {
        let times = times(event);
        assert!(times.is_sorted(), "{times:?}");
        assert!(times[3] > times[2] && times[3] - times[0] <= wall, "{times:?} {wall}");
    }
    assert!(times(&second)[2] >= times(&first)[3], "one after the other");
}

#[test]
fn profiling_is_to_be_had_only_where_it_was_asked_for() {
    let t = Session::new();
    let profiled = t.another_queue(CL_QUEUE_PROFILING_ENABLE);
    let gate = t.user_event();
    let plain = t.marker_on(t.queue(), &[]);
    t.wait(&[&plain]);
    let waiting = t.marker_on(profiled.h, &[gate.h]);
    let mut time = 0u64;
    let ask = |e: &Obj| {
        let place: Handle = (&raw const time).cast_mut().cast();
        t.clGetEventProfilingInfo(e.h, CL_PROFILING_COMMAND_END, 8, place, null_mut())
    };
    let mut c = Cases::new();
    c.code("not profiled", CL_PROFILING_INFO_NOT_AVAILABLE, ask(&plain));
    c.code("not complete", CL_PROFILING_INFO_NOT_AVAILABLE, ask(&waiting));
    c.code("a user event", CL_PROFILING_INFO_NOT_AVAILABLE, ask(&gate));
    t.complete(&gate, CL_COMPLETE);
    t.wait(&[&waiting]);
    let name = CL_PROFILING_COMMAND_START;
    c.query("profiling", name, |n, s, v, r| {
        t.clGetEventProfilingInfo(waiting.h, if n == 0x7777 { n } else { name }, s, v, r)
    });
    for (what, bad) in t.bad_handles(t.queue()) {
        let ask = t.clGetEventProfilingInfo(bad, name, 0, null_mut(), null_mut());
        c.code(what, CL_INVALID_EVENT, ask);
    }
    c.end();
    time = 0;
    assert_eq!(time, 0);
}

#[test]
fn events_of_a_released_queue_stay_valid() {
    let t = Session::new();
    let queue = t.another_queue(0);
    let event = t.marker_on(queue.h, &[]);
    let handle = queue.release();
    t.wait(&[&event]);
    let found: usize = info(|s, v, r| t.clGetEventInfo(event.h, CL_EVENT_COMMAND_QUEUE, s, v, r));
    assert_eq!(found, handle as usize);
}

#[test]
fn bad_arguments_have_their_codes() {
    let t = Session::new();
    let mut c = Cases::new();
    let good = t.marker_on(t.queue(), &[]);
    t.wait(&[&good]);
    for (what, bad) in t.bad_handles(t.queue()) {
        let wanted = CL_INVALID_EVENT;
        c.code(&format!("retain {what}"), wanted, t.clRetainEvent(bad));
        c.code(&format!("release {what}"), wanted, t.clReleaseEvent(bad));
        c.code(&format!("set {what}"), wanted, t.clSetUserEventStatus(bad, 0));
        let ask = t.clGetEventInfo(bad, CL_EVENT_CONTEXT, 0, null_mut(), null_mut());
        c.code(&format!("query {what}"), wanted, ask);
        c.code(&format!("wait for {what}"), wanted, t.clWaitForEvents(1, &bad));
        if t.ours() {
            c.code(&format!("wait for {what}, second"), wanted, t.clWaitForEvents(2, [good.h, bad].as_ptr()));
        }
        let (call, data) = on_event(|_, _| ());
        c.code(&format!("callback of {what}"), wanted, t.clSetEventCallback(bad, 0, call, data));
        c.new_object(&format!("user event of {what}"), CL_INVALID_CONTEXT, |e| t.clCreateUserEvent(bad, e));
    }
    c.code("wait for nothing", CL_INVALID_VALUE, t.clWaitForEvents(0, &good.h));
    c.code("wait for a null list", CL_INVALID_VALUE, t.clWaitForEvents(1, null()));
    c.code("set what is no user event", CL_INVALID_EVENT, t.clSetUserEventStatus(good.h, 0));
    let user = t.user_event();
    for status in [1, 2, 3, 1000] {
        c.code(&format!("set to {status}"), CL_INVALID_VALUE, t.clSetUserEventStatus(user.h, status));
    }
    c.code("set no callback", CL_INVALID_VALUE, t.clSetEventCallback(user.h, 0, None, null_mut()));
    for at in [CL_QUEUED, -1, 4] {
        let (call, data) = on_event(|_, _| ());
        c.code(&format!("callback at {at}"), CL_INVALID_VALUE, t.clSetEventCallback(user.h, at, call, data));
    }
    c.query("event", CL_EVENT_CONTEXT, |name, s, v, r| t.clGetEventInfo(good.h, name, s, v, r));
    let other = t.another_context();
    let mut code = 1;
    let foreign = Obj::event(t.clCreateUserEvent(other.h, &mut code));
    ok(code);
    t.complete(&foreign, CL_COMPLETE);
    let mixed = [good.h, foreign.h];
    c.code("wait for two contexts", CL_INVALID_CONTEXT, t.clWaitForEvents(2, mixed.as_ptr()));
    c.code("clEnqueueMarker: no event", CL_INVALID_VALUE, t.clEnqueueMarker(t.queue(), null_mut()));
    t.complete(&user, CL_COMPLETE);
    c.end();
}
