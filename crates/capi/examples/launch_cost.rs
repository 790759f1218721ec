//! The time of a launch of an empty kernel, waited for each time or queued, and of the smallest transfers. Prints
//! microseconds per command.
//!
//! `CLOOM_TEST_LIBRARY` and `CLOOM_TEST_PLATFORM` name another driver, as for the tests; run both in turn to compare.

#![allow(clippy::print_stdout, reason = "it prints its measurements")]

#[path = "../tests/common/mod.rs"]
mod common;
use common::*;
use std::time::Instant;

const ROUNDS: usize = 15;

/// The median and the least of several runs, in microseconds per command.
fn measure(name: &str, commands: usize, mut round: impl FnMut(usize)) {
    round(commands);
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let begin = Instant::now();
            round(commands);
            begin.elapsed().as_secs_f64() * 1e6 / commands as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{name:<44} median {:>9.2} µs   least {:>9.2} µs", times[ROUNDS / 2], times[0]);
}

fn main() {
    let t = Session::new();
    let platform = text(|s, v, r| t.clGetPlatformInfo(t.platform, CL_PLATFORM_NAME, s, v, r));
    println!("{platform}");
    let program =
        t.program("kernel void k(global uint *p) { } kernel void f(global uint *p) { p[get_global_id(0)] = 1; }");
    let (empty, fill) = (t.kernel_of(&program, "k"), t.kernel_of(&program, "f"));
    let buffer = t.buffer(0, 4 << 20);
    t.arg_mem(&empty, 0, &buffer);
    t.arg_mem(&fill, 0, &buffer);
    let out_of_order = t.another_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    let launch = |queue: Handle, kernel: &Obj, global: usize, event: *mut Handle| {
        let local = global.min(64);
        ok(t.clEnqueueNDRangeKernel(queue, kernel.h, 1, null(), &global, &local, 0, null(), event));
    };
    let q = t.queue();
    measure("empty kernel, 1 item, finish each", 200, |n| {
        for _ in 0..n {
            launch(q, &empty, 1, null_mut());
            t.finish();
        }
    });
    measure("empty kernel, 1 item, wait for each event", 200, |n| {
        for _ in 0..n {
            let mut event = null_mut();
            launch(q, &empty, 1, &mut event);
            let event = Obj::event(event);
            t.wait(&[&event]);
        }
    });
    measure("empty kernel, 1 item, queued", 1000, |n| {
        for _ in 0..n {
            launch(q, &empty, 1, null_mut());
        }
        t.finish();
    });
    measure("empty kernel, 1 item, queued, out of order", 1000, |n| {
        for _ in 0..n {
            launch(out_of_order.h, &empty, 1, null_mut());
        }
        ok(t.clFinish(out_of_order.h));
    });
    measure("empty kernel, 1 item, chain of events", 1000, |n| {
        let mut last: Option<Obj> = None;
        for _ in 0..n {
            let wait: Vec<Handle> = last.iter().map(|e| e.h).collect();
            last = Some(t.launch_on(out_of_order.h, &empty, &[1], &[1], &wait));
        }
        ok(t.clFinish(out_of_order.h));
    });
    measure("enqueue only (then one finish)", 1000, |n| {
        let gate = t.user_event();
        drop(t.marker_on(q, &[gate.h]));
        for _ in 0..n {
            launch(q, &empty, 1, null_mut());
        }
        t.complete(&gate, CL_COMPLETE);
        t.finish();
    });
    measure("a million items, 64 a group, finish each", 5, |n| {
        for _ in 0..n {
            launch(q, &fill, 1 << 20, null_mut());
            t.finish();
        }
    });
    measure("64 items, queued", 1000, |n| {
        for _ in 0..n {
            launch(q, &fill, 64, null_mut());
        }
        t.finish();
    });
    // Other drivers may have no command buffers.
    let extensions = text(|s, v, r| t.clGetDeviceInfo(t.device, CL_DEVICE_EXTENSIONS, s, v, r));
    if extensions.split(' ').any(|e| e == "cl_khr_command_buffer") {
        let x = extension::CommandBuffers::new(&t);
        let recorded = |kernel: &Obj, count: usize| {
            let buffer = x.buffer(q, 0);
            for _ in 0..count {
                buffer.launch(kernel, 64, &[], None);
            }
            buffer.finalize();
            buffer
        };
        let run = |buffer: &extension::Buffer<'_>| {
            ok(x.clEnqueueCommandBufferKHR(0, null(), buffer.h, 0, null(), null_mut()));
            t.finish();
        };
        for (name, count) in [("a command buffer of one launch, finish each", 1), ("of ten, by launch", 10)] {
            let buffer = recorded(&fill, count);
            measure(name, 1000, |n| (0..n / count).for_each(|_| run(&buffer)));
        }
        let buffer = recorded(&fill, 1000);
        measure("a command buffer of 1000 launches, by launch", 1000, |_| run(&buffer));
    }
    let mut word = 0u32;
    measure("blocking read of 4 bytes", 500, |n| {
        for _ in 0..n {
            let at = (&raw mut word).cast();
            ok(t.clEnqueueReadBuffer(q, buffer.h, CL_TRUE, 0, 4, at, 0, null(), null_mut()));
        }
    });
    measure("set an argument", 1000, |n| {
        for _ in 0..n {
            t.arg_mem(&empty, 0, &buffer);
        }
    });
    measure("create and release a buffer of 64 bytes", 500, |n| {
        for _ in 0..n {
            drop(t.buffer(0, 64));
        }
    });
    measure("create and complete a user event", 500, |n| {
        for _ in 0..n {
            let gate = t.user_event();
            t.complete(&gate, CL_COMPLETE);
        }
    });
}
