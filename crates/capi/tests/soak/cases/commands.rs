//! Many commands at a time: in one queue, in chains, with callbacks. Memory is bounded by the number of commands, comes
//! back when they have ended, and no thread's stack overflows.

use super::measure::resident;
use super::{Progress, Size};
use crate::common::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that an outstanding command may take.
const PER_COMMAND: u64 = 2048;

fn count(size: Size) -> usize {
    size.pick(30_000, 1_000_000)
}

/// Runs something, and says how much more memory is used when it has enqueued everything.
#[track_caller]
fn bounded(what: &'static str, n: usize, enqueue: impl FnOnce(&mut Progress)) -> u64 {
    let before = resident();
    enqueue(&mut Progress::new(what, n as u64));
    let per = resident().saturating_sub(before) / n as u64;
    assert!(per <= PER_COMMAND, "{what}: {per} bytes for each of {n} commands");
    per
}

fn fill(t: &Session, queue: Handle, buffer: &Obj, i: usize, wait: &[Handle], event: *mut Handle) {
    let (n, list) = (wait.len() as u32, if wait.is_empty() { null() } else { wait.as_ptr() });
    let value = (i as u32).to_ne_bytes();
    ok(t.clEnqueueFillBuffer(queue, buffer.h, value.as_ptr().cast(), 4, i % 64 * 4, 4, n, list, event));
}

pub fn queued(size: Size) -> String {
    let n = count(size);
    let t = Session::new();
    let buffer = t.buffer_of(&[0u32; 64]);
    let wanted: Vec<u32> = (0..64).map(|k| (n - 64 + (k + 64 - n % 64) % 64) as u32).collect();
    let mut told = format!("{n} commands:");
    for gated in [true, false] {
        let gate = t.user_event();
        let per = bounded("queued", n, |progress| {
            if gated {
                drop(t.marker_on(t.queue(), &[gate.h]));
            }
            for i in 0..n {
                fill(&t, t.queue(), &buffer, i, &[], null_mut());
                progress.at(i as u64);
            }
        });
        t.complete(&gate, CL_COMPLETE);
        t.finish();
        assert_eq!(t.read::<u32>(&buffer, 64), wanted);
        told += &format!(" {per} bytes each {};", if gated { "behind a user event" } else { "without" });
    }
    // The same with launches.
    let kernel = t.kernel("kernel void k(global uint *p) { p[get_global_id(0)]++; }");
    t.write(&buffer, 0, &[0u32; 64]);
    t.arg_mem(&kernel, 0, &buffer);
    let gate = t.user_event();
    let per = bounded("launches", n, |progress| {
        drop(t.marker_on(t.queue(), &[gate.h]));
        let global = 64usize;
        for i in 0..n {
            ok(t.clEnqueueNDRangeKernel(t.queue(), kernel.h, 1, null(), &global, null(), 0, null(), null_mut()));
            progress.at(i as u64);
        }
    });
    t.complete(&gate, CL_COMPLETE);
    t.finish();
    assert_eq!(t.read::<u32>(&buffer, 64), [n as u32; 64]);
    told + &format!(" launches {per} bytes each")
}

pub fn chains(size: Size) -> String {
    let n = count(size);
    let t = Session::with(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    let mut told = format!("{n} events:");
    for (name, ending) in [("completed", Some(CL_COMPLETE)), ("failed", Some(-7)), ("released", None)] {
        let buffer = t.buffer_of(&[0u32; 64]);
        let gate = t.user_event();
        let mut last = gate.h;
        ok(t.clRetainEvent(last));
        let per = bounded("chains", n, |progress| {
            for i in 0..n {
                let mut event = null_mut();
                fill(&t, t.queue(), &buffer, i, &[last], &mut event);
                // Only the next command knows the event any more.
                ok(t.clReleaseEvent(last));
                last = event;
                progress.at(i as u64);
            }
        });
        match ending {
            Some(status) => t.complete(&gate, status),
            None => drop(gate.release()),
        }
        let last = Obj::event(last);
        let code = t.clWaitForEvents(1, &last.h);
        assert_eq!(code == 0, ending == Some(CL_COMPLETE), "{}", code_name(code));
        t.finish();
        let first = t.read::<u32>(&buffer, 1)[0];
        assert_eq!(first == 0, ending != Some(CL_COMPLETE));
        told += &format!(" {name}, {per} bytes each;");
    }
    // Handles of all, released in the end, from the first and from the last.
    for backward in [false, true] {
        let buffer = t.buffer_of(&[0u32; 64]);
        let gate = t.user_event();
        let mut events = vec![gate.h];
        ok(t.clRetainEvent(gate.h));
        for i in 0..n {
            let mut event = null_mut();
            fill(&t, t.queue(), &buffer, i, &events[i..], &mut event);
            events.push(event);
        }
        t.complete(&gate, CL_COMPLETE);
        t.finish();
        if backward {
            events.reverse();
        }
        events.iter().for_each(|&event| ok(t.clReleaseEvent(event)));
    }
    told
}

/// Markers and barriers without a wait list depend on everything before.
pub fn unordered(size: Size) -> String {
    let n = count(size);
    let t = Session::with(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    let buffer = t.buffer_of(&[0u32; 64]);
    let mut told = format!("{n} commands:");
    for (name, every) in [("all markers", 1), ("all barriers", 1), ("mixed", 7)] {
        let gate = t.user_event();
        let per = bounded("unordered", n, |progress| {
            fill(&t, t.queue(), &buffer, 0, &[gate.h], null_mut());
            for i in 0..n {
                match (i % every, name) {
                    (0, "all markers") => ok(t.clEnqueueMarkerWithWaitList(t.queue(), 0, null(), null_mut())),
                    (0, _) => ok(t.clEnqueueBarrierWithWaitList(t.queue(), 0, null(), null_mut())),
                    (3, _) => ok(t.clEnqueueMarkerWithWaitList(t.queue(), 0, null(), null_mut())),
                    _ => fill(&t, t.queue(), &buffer, i, &[], null_mut()),
                }
                progress.at(i as u64);
            }
        });
        let last = t.marker_on(t.queue(), &[]);
        assert!(t.status(&last) > CL_COMPLETE, "it waits for what waits for the user event");
        t.complete(&gate, CL_COMPLETE);
        t.wait(&[&last]);
        t.finish();
        told += &format!(" {name}, {per} bytes each;");
    }
    told
}

pub fn callbacks(size: Size) -> String {
    let n = size.pick(5_000, 200_000);
    let t = Session::new();
    let called = Arc::new(AtomicU64::new(0));
    let on = |event: Handle| {
        let called = called.clone();
        let (call, data) = on_event(move |_, _| {
            called.fetch_add(1, Ordering::Relaxed);
        });
        ok(t.clSetEventCallback(event, CL_COMPLETE, call, data));
    };
    let gate = t.user_event();
    (0..n).for_each(|_| on(gate.h));
    for _ in 0..n {
        let event = t.marker_on(t.queue(), &[gate.h]);
        on(event.h);
    }
    t.complete(&gate, CL_COMPLETE);
    t.finish();
    t.until("all callbacks came", || called.load(Ordering::Relaxed) == 2 * n as u64);
    format!("{} callbacks", 2 * n)
}
