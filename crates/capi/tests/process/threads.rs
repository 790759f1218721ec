//! Any number of threads at once: on one context, on one queue, on one kernel, with events between them; and random
//! calls.

#[path = "../common/mod.rs"]
mod common;
use common::*;
use std::sync::Barrier;
use std::time::{Duration, Instant};

const THREADS: usize = 8;

/// Runs a function on several threads that begin together.
fn together(t: &Session, work: impl Fn(&Session, usize) + Sync) {
    let start = Barrier::new(THREADS);
    std::thread::scope(|s| {
        for i in 0..THREADS {
            let (start, work) = (&start, &work);
            s.spawn(move || {
                start.wait();
                work(t, i);
            });
        }
    });
}

#[test]
fn threads_with_queues_of_their_own() {
    let t = Session::new();
    let program = t.program("kernel void k(global uint *p, uint x) { p[get_global_id(0)] += x; }");
    together(&t, |t, i| {
        let queue = t.another_queue(if i % 2 == 0 { 0 } else { CL_QUEUE_PROFILING_ENABLE });
        let kernel = t.kernel_of(&program, "k");
        let buffer = t.buffer_of(&[i as u32; 256]);
        t.arg_mem(&kernel, 0, &buffer);
        for x in 0..100u32 {
            t.arg(&kernel, 1, x);
            drop(t.launch_on(queue.h, &kernel, &[256], &[], &[]));
        }
        let mut words = [0u32; 256];
        let at: Handle = words.as_mut_ptr().cast();
        ok(t.clEnqueueReadBuffer(queue.h, buffer.h, CL_TRUE, 0, 1024, at, 0, null(), null_mut()));
        assert_eq!(words, [i as u32 + 4950; 256]);
    });
}

#[test]
fn threads_on_one_queue() {
    for properties in [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let t = Session::with(properties);
        let program = t.program("kernel void k(global uint *p) { atomic_inc(p); }");
        let buffer = t.buffer_of(&[0u32]);
        together(&t, |t, _| {
            let kernel = t.kernel_of(&program, "k");
            t.arg_mem(&kernel, 0, &buffer);
            for i in 0..100 {
                let event = t.launch(&kernel, &[10], &[]);
                if i % 10 == 0 {
                    t.wait(&[&event]);
                }
            }
            t.finish();
        });
        assert_eq!(t.read::<u32>(&buffer, 1), [(THREADS * 1000) as u32]);
    }
}

#[test]
fn threads_build_and_make_objects_in_one_context() {
    let t = Session::new();
    together(&t, |t, i| {
        for round in 0..5 {
            let n = i * 10 + round;
            let kernel = t.kernel(&format!("kernel void k(global uint *p) {{ p[0] = {n}; }}"));
            let buffer = t.buffer(0, 4);
            t.arg_mem(&kernel, 0, &buffer);
            let event = t.launch(&kernel, &[1], &[]);
            t.wait(&[&event]);
            assert_eq!(t.read::<u32>(&buffer, 1), [n as u32]);
        }
    });
}

#[test]
fn one_program_built_by_many_threads_is_built_by_one_at_a_time() {
    let t = Session::new();
    let program = t.source("kernel void k(global uint *p) { p[0] = 1; }");
    together(&t, |t, _| {
        for _ in 0..20 {
            let code = t.build(&program, "");
            assert!(code == 0 || code == CL_INVALID_OPERATION, "{}", code_name(code));
        }
    });
    assert_eq!(t.build(&program, ""), 0);
    drop(t.kernel_of(&program, "k"));
}

#[test]
fn threads_wait_for_one_event_and_for_each_other() {
    let t = Session::new();
    let gates: Vec<Obj> = (0..=THREADS).map(|_| t.user_event()).collect();
    together(&t, |t, i| {
        let queue = t.another_queue(0);
        let marker = t.marker_on(queue.h, &[gates[i].h]);
        if i == 0 {
            std::thread::sleep(Duration::from_millis(10));
            t.complete(&gates[0], CL_COMPLETE);
        }
        t.wait(&[&marker]);
        t.complete(&gates[i + 1], CL_COMPLETE);
        t.wait(&[&gates[THREADS], &gates[i]]);
    });
}

#[test]
fn native_kernels_may_wait_for_each_other() {
    let t = Session::with(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    let n = 12;
    let meeting = std::sync::Arc::new(Barrier::new(n));
    let mut events = Vec::new();
    for _ in 0..n {
        let meeting = meeting.clone();
        let (call, closure) = on_native(move |_| {
            meeting.wait();
        });
        let args = [closure];
        let (block, mut event) = (args.as_ptr().cast_mut().cast(), null_mut());
        ok(t.clEnqueueNativeKernel(t.queue(), call, block, 8, 0, null(), null(), 0, null(), &mut event));
        events.push(Obj::event(event));
    }
    t.wait(&events.iter().collect::<Vec<_>>());
}

#[test]
fn callbacks_that_block_do_not_hold_up_others() {
    let t = Session::new();
    let gate = std::sync::Arc::new(t.user_event());
    let calls = Calls::new();
    let events: Vec<Obj> = (0..20).map(|_| t.marker_on(t.queue(), &[])).collect();
    for event in &events {
        let (gate, send) = (gate.clone(), calls.sender());
        let (call, data) = on_event(move |_, _| {
            // Until a later callback has opened the gate.
            let code = api().clWaitForEvents(1, &gate.h);
            drop(gate);
            send.send(code).unwrap();
        });
        ok(t.clSetEventCallback(event.h, CL_COMPLETE, call, data));
    }
    let last = t.marker_on(t.queue(), &[]);
    let opener = gate.clone();
    let (call, data) = on_event(move |_, _| ok(api().clSetUserEventStatus(opener.h, CL_COMPLETE)));
    ok(t.clSetEventCallback(last.h, CL_COMPLETE, call, data));
    assert!((0..20).all(|_| calls.next() == 0));
    t.until("the callbacks have returned", || std::sync::Arc::strong_count(&gate) == 1);
}

#[test]
fn references_counted_by_many_threads_come_out_even() {
    let t = Session::new();
    let buffer = t.buffer(0, 16);
    let user = t.user_event();
    let both = (&buffer, &user);
    together(&t, |t, _| {
        for _ in 0..1000 {
            let (buffer, user) = both;
            ok(t.clRetainMemObject(buffer.h));
            ok(t.clRetainContext(t.context()));
            ok(t.clRetainEvent(user.h));
            ok(t.clReleaseMemObject(buffer.h));
            ok(t.clReleaseContext(t.context()));
            ok(t.clReleaseEvent(user.h));
        }
    });
    let count: u32 = info(|s, v, r| t.clGetMemObjectInfo(buffer.h, CL_MEM_REFERENCE_COUNT, s, v, r));
    assert_eq!(count, 1);
}

/// A small generator of numbers, the same on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// What random calls work on.
struct Things {
    buffers: Vec<Obj>,
    queues: Vec<Obj>,
    kernels: Vec<Obj>,
    events: Vec<Obj>,
    gates: Vec<Obj>,
    /// Memory of the host. It is never freed, because commands of a queue that is released may still use it.
    memory: &'static mut [u8; 256],
}

fn random_call(t: &Session, things: &mut Things, random: &mut Random, program: &Obj) {
    let pick = |list: &[Obj], random: &mut Random| list[random.below(list.len())].h;
    let host: Handle = things.memory.as_mut_ptr().cast();
    let n = random.below(3).min(things.events.len());
    let wait: Vec<Handle> = (0..n).map(|_| pick(&things.events, random)).collect();
    let (count, list) = (n as u32, if n == 0 { null() } else { wait.as_ptr() });
    let (queue, a, b) = (pick(&things.queues, random), pick(&things.buffers, random), pick(&things.buffers, random));
    let (from, size) = (random.below(200), random.below(100));
    let blocking = u32::from(random.below(4) == 0 && things.gates.is_empty());
    let mut event = null_mut();
    let mut codes = vec![0, CL_INVALID_VALUE, CL_MEM_COPY_OVERLAP, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST];
    let code = match random.below(16) {
        0 => t.clEnqueueReadBuffer(queue, a, blocking, from, size, host, count, list, &mut event),
        1 => t.clEnqueueFillBuffer(queue, a, host, 1, from, size, count, list, &mut event),
        2 => t.clEnqueueCopyBuffer(queue, a, b, from, random.below(200), size, count, list, &mut event),
        3 => t.clEnqueueMarkerWithWaitList(queue, count, list, &mut event),
        4 => t.clEnqueueBarrierWithWaitList(queue, count, list, &mut event),
        5 => t.clEnqueueMigrateMemObjects(queue, 1, &a, 0, count, list, &mut event),
        6..=8 => {
            let kernel = pick(&things.kernels, random);
            ok(t.clSetKernelArg(kernel, 0, 8, (&raw const a).cast()));
            let global = [random.below(65)];
            codes.push(CL_INVALID_GLOBAL_WORK_SIZE);
            t.clEnqueueNDRangeKernel(queue, kernel, 1, null(), global.as_ptr(), null(), count, list, &mut event)
        }
        9 => {
            let mut code = 1;
            let read = CL_MAP_READ;
            let at = t.clEnqueueMapBuffer(queue, a, blocking, read, from, size, count, list, &mut event, &mut code);
            if !at.is_null() {
                ok(t.clEnqueueUnmapMemObject(queue, a, at, 0, null(), null_mut()));
            }
            code
        }
        10 => {
            let i = random.below(things.buffers.len());
            things.buffers[i] = t.buffer(0, 256);
            0
        }
        11 => {
            let i = random.below(things.queues.len());
            things.queues[i] = t.another_queue(random.below(4) as u64);
            0
        }
        12 => {
            let i = random.below(things.kernels.len());
            things.kernels[i] = t.kernel_of(program, "k");
            0
        }
        13 if things.gates.len() < 3 => {
            let gate = t.user_event();
            ok(t.clRetainEvent(gate.h));
            things.events.push(Obj::event(gate.h));
            things.gates.push(gate);
            0
        }
        13 | 14 => {
            if let Some(gate) = things.gates.pop() {
                t.complete(&gate, -(random.below(3) as i32));
            }
            0
        }
        _ if things.gates.is_empty() => t.clFinish(queue),
        _ => t.clFlush(queue),
    };
    assert!(codes.contains(&code), "{}", code_name(code));
    if !event.is_null() {
        let (call, data) = on_event(|_, status| assert!(status <= CL_SUBMITTED));
        ok(t.clSetEventCallback(event, random.below(3) as i32, call, data));
        things.events.push(Obj::event(event));
    }
    if things.events.len() > 30 {
        let i = random.below(things.events.len());
        things.events.swap_remove(i);
    }
}

#[test]
fn random_calls_from_many_threads() {
    let t = Session::new();
    let program = t.program("kernel void k(global uint *p) { p[get_global_id(0) & 63] += get_global_id(0); }");
    let seconds = std::env::var("CLOOM_TEST_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(3);
    let end = Instant::now() + Duration::from_secs(seconds);
    together(&t, |t, i| {
        let mut random = Random(i as u64 + 1);
        let mut things = Things {
            buffers: (0..4).map(|_| t.buffer(0, 256)).collect(),
            queues: (0..3).map(|p| t.another_queue(p)).collect(),
            kernels: (0..2).map(|_| t.kernel_of(&program, "k")).collect(),
            events: Vec::new(),
            gates: Vec::new(),
            memory: Box::leak(Box::new([0; 256])),
        };
        while Instant::now() < end {
            random_call(t, &mut things, &mut random, &program);
        }
        for gate in things.gates.drain(..) {
            t.complete(&gate, CL_COMPLETE);
        }
        for queue in &things.queues {
            ok(t.clFinish(queue.h));
        }
    });
}
