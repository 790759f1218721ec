//! The error codes that all functions which enqueue a command share, and those of each transfer: a table for every
//! function.

#![allow(unsafe_code, reason = "it calls the C interface")]

#[path = "../common/mod.rs"]
mod common;
use common::*;
use std::ffi::c_void;

/// The arguments of a call: all valid, except those that a case changes.
#[derive(Clone, Copy)]
struct Call {
    queue: Handle,
    a: Handle,
    b: Handle,
    count: u32,
    list: *const Handle,
    host: Handle,
    event: *mut Handle,
}

/// Every function that enqueues a command, with a buffer or two where it takes them.
type Enqueue<'a> = Box<dyn Fn(Call) -> i32 + 'a>;

struct Function<'a> {
    name: &'static str,
    /// Buffers that it takes: 0, 1 or 2.
    buffers: u32,
    /// It takes memory of the host.
    host: bool,
    call: Enqueue<'a>,
}

fn functions<'a>(t: &'a Session, kernel: &'a Obj) -> Vec<Function<'a>> {
    static ZERO: [usize; 3] = [0; 3];
    static ONE: [usize; 3] = [4, 1, 1];
    let (o, r) = (ZERO.as_ptr(), ONE.as_ptr());
    unsafe extern "C" fn nothing(_: *mut c_void) {}
    let function = |name, buffers, host, call| Function { name, buffers, host, call };
    vec![
        function(
            "clEnqueueReadBuffer",
            1,
            true,
            Box::new(move |c| t.clEnqueueReadBuffer(c.queue, c.a, CL_FALSE, 0, 4, c.host, c.count, c.list, c.event)),
        ),
        function(
            "clEnqueueWriteBuffer",
            1,
            true,
            Box::new(move |c| t.clEnqueueWriteBuffer(c.queue, c.a, CL_FALSE, 0, 4, c.host, c.count, c.list, c.event)),
        ),
        function(
            "clEnqueueReadBufferRect",
            1,
            true,
            Box::new(move |c| {
                t.clEnqueueReadBufferRect(c.queue, c.a, 0, o, o, r, 0, 0, 0, 0, c.host, c.count, c.list, c.event)
            }),
        ),
        function(
            "clEnqueueWriteBufferRect",
            1,
            true,
            Box::new(move |c| {
                t.clEnqueueWriteBufferRect(c.queue, c.a, 0, o, o, r, 0, 0, 0, 0, c.host, c.count, c.list, c.event)
            }),
        ),
        function(
            "clEnqueueCopyBuffer",
            2,
            false,
            Box::new(move |c| t.clEnqueueCopyBuffer(c.queue, c.a, c.b, 0, 0, 4, c.count, c.list, c.event)),
        ),
        function(
            "clEnqueueCopyBufferRect",
            2,
            false,
            Box::new(move |c| {
                t.clEnqueueCopyBufferRect(c.queue, c.a, c.b, o, o, r, 0, 0, 0, 0, c.count, c.list, c.event)
            }),
        ),
        function(
            "clEnqueueFillBuffer",
            1,
            true,
            Box::new(move |c| t.clEnqueueFillBuffer(c.queue, c.a, c.host, 4, 0, 4, c.count, c.list, c.event)),
        ),
        function(
            "clEnqueueMapBuffer",
            1,
            false,
            Box::new(move |c| {
                let mut code = 1;
                let read = CL_MAP_READ;
                let at = t.clEnqueueMapBuffer(c.queue, c.a, 0, read, 0, 4, c.count, c.list, c.event, &mut code);
                assert_eq!(at.is_null(), code != 0);
                if code == 0 {
                    ok(t.clEnqueueUnmapMemObject(c.queue, c.a, at, 0, null(), null_mut()));
                }
                code
            }),
        ),
        function(
            "clEnqueueMigrateMemObjects",
            1,
            false,
            Box::new(move |c| t.clEnqueueMigrateMemObjects(c.queue, 1, &c.a, 0, c.count, c.list, c.event)),
        ),
        function(
            "clEnqueueNDRangeKernel",
            0,
            false,
            Box::new(move |c| {
                t.clEnqueueNDRangeKernel(c.queue, kernel.h, 1, null(), r, null(), c.count, c.list, c.event)
            }),
        ),
        function(
            "clEnqueueTask",
            0,
            false,
            Box::new(move |c| t.clEnqueueTask(c.queue, kernel.h, c.count, c.list, c.event)),
        ),
        function(
            "clEnqueueNativeKernel",
            0,
            false,
            Box::new(move |c| {
                let (f, args) = (Some(nothing as unsafe extern "C" fn(*mut c_void)), null_mut());
                t.clEnqueueNativeKernel(c.queue, f, args, 0, 0, null(), null(), c.count, c.list, c.event)
            }),
        ),
        function(
            "clEnqueueMarkerWithWaitList",
            0,
            false,
            Box::new(move |c| t.clEnqueueMarkerWithWaitList(c.queue, c.count, c.list, c.event)),
        ),
        function(
            "clEnqueueBarrierWithWaitList",
            0,
            false,
            Box::new(move |c| t.clEnqueueBarrierWithWaitList(c.queue, c.count, c.list, c.event)),
        ),
    ]
}

#[test]
fn every_function_that_enqueues_checks_what_all_share() {
    let t = Session::new();
    let mut cases = Cases::new();
    let kernel = t.kernel("kernel void k(void) {}");
    let other = t.another_context();
    let mut code = 1;
    let foreign = Obj::mem(t.clCreateBuffer(other.h, 0, 64, null_mut(), &mut code));
    ok(code);
    let foreign_event = Obj::event(t.clCreateUserEvent(other.h, &mut code));
    ok(code);
    let (a, b) = (t.buffer(0, 64), t.buffer(0, 64));
    let done = t.user_event();
    t.complete(&done, CL_COMPLETE);
    let mut words = [0u32; 16];
    let host: Handle = words.as_mut_ptr().cast();
    let good = Call { queue: t.queue(), a: a.h, b: b.h, count: 0, list: null(), host, event: null_mut() };
    for f in functions(&t, &kernel) {
        let mut case = |what: &str, wanted, call| cases.code(&format!("{}: {what}", f.name), wanted, (f.call)(call));
        case("all good", 0, good);
        case("a list of an event", 0, Call { count: 1, list: &done.h, ..good });
        let wait = CL_INVALID_EVENT_WAIT_LIST;
        case("a null list of 1", wait, Call { count: 1, ..good });
        case("a list of 0", wait, Call { list: &done.h, ..good });
        case("an event of another context", CL_INVALID_CONTEXT, Call { count: 1, list: &foreign_event.h, ..good });
        if f.buffers > 0 {
            case("a buffer of another context", CL_INVALID_CONTEXT, Call { a: foreign.h, ..good });
        }
        if f.buffers > 1 {
            case("a second buffer of another context", CL_INVALID_CONTEXT, Call { b: foreign.h, ..good });
        }
        if f.host {
            case("null memory of the host", CL_INVALID_VALUE, Call { host: null_mut(), ..good });
        }
        for (what, bad) in t.bad_handles(t.context()) {
            case(&format!("{what} as queue"), CL_INVALID_COMMAND_QUEUE, Call { queue: bad, ..good });
            if f.buffers > 0 {
                case(&format!("{what} as buffer"), CL_INVALID_MEM_OBJECT, Call { a: bad, ..good });
            }
            if f.buffers > 1 {
                case(&format!("{what} as second buffer"), CL_INVALID_MEM_OBJECT, Call { b: bad, ..good });
            }
            let list = [done.h, bad];
            case(&format!("{what} as event"), wait, Call { count: 2, list: list.as_ptr(), ..good });
        }
        // A failed call leaves no event; a successful one makes one.
        let mut event = null_mut();
        case("a null list, and an event", wait, Call { count: 1, event: &mut event, ..good });
        assert!(event.is_null(), "{}", f.name);
        case("an event", 0, Call { event: &mut event, ..good });
        drop(Obj::event(event));
    }
    t.complete(&foreign_event, CL_COMPLETE);
    cases.end();
    t.finish();
}

#[test]
fn plain_transfers_check_their_ranges() {
    let t = Session::new();
    let mut c = Cases::new();
    let (a, b) = (t.buffer(0, 64), t.buffer(0, 32));
    let mut words = [0u8; 64];
    let host: Handle = words.as_mut_ptr().cast();
    let q = t.queue();
    let n = null();
    let no = null_mut();
    for (what, offset, size, wanted) in [
        ("everything", 0, 64, 0),
        ("the last byte", 63, 1, 0),
        ("one too many", 0, 65, CL_INVALID_VALUE),
        ("beyond the end", 60, 5, CL_INVALID_VALUE),
        ("far beyond", 1000, 1, CL_INVALID_VALUE),
        ("wrapping around", 8, usize::MAX - 4, CL_INVALID_VALUE),
    ] {
        let wait = CL_TRUE;
        c.code(&format!("read {what}"), wanted, t.clEnqueueReadBuffer(q, a.h, wait, offset, size, host, 0, n, no));
        c.code(&format!("write {what}"), wanted, t.clEnqueueWriteBuffer(q, a.h, wait, offset, size, host, 0, n, no));
        let fill = t.clEnqueueFillBuffer(q, a.h, host, 1, offset, size, 0, n, no);
        c.code(&format!("fill {what}"), wanted, fill);
        let mut code = 1;
        let at = t.clEnqueueMapBuffer(q, a.h, wait, CL_MAP_READ, offset, size, 0, n, no, &mut code);
        c.code(&format!("map {what}"), wanted, code);
        if code == 0 {
            ok(t.clEnqueueUnmapMemObject(q, a.h, at, 0, n, no));
        }
    }
    let copy = |from: &Obj, to: &Obj, x, y, size| t.clEnqueueCopyBuffer(q, from.h, to.h, x, y, size, 0, n, no);
    c.code("copy: source too short", CL_INVALID_VALUE, copy(&b, &a, 1, 0, 32));
    c.code("copy: destination too short", CL_INVALID_VALUE, copy(&a, &b, 0, 1, 32));
    c.code("copy: source wraps", CL_INVALID_VALUE, copy(&a, &b, usize::MAX, 0, 2));
    for (what, unit, offset, size) in [
        ("pattern of 0 bytes", 0, 0, 8),
        ("pattern of 3 bytes", 3, 0, 9),
        ("pattern of 256 bytes", 256, 0, 0),
        ("offset between patterns", 4, 2, 8),
        ("part of a pattern", 4, 0, 6),
    ] {
        let fill = t.clEnqueueFillBuffer(q, a.h, host, unit, offset, size, 0, n, no);
        c.code(&format!("fill: {what}"), CL_INVALID_VALUE, fill);
    }
    let mut code = 1;
    let mut map = |flags, size| {
        t.clEnqueueMapBuffer(q, a.h, CL_TRUE, flags, 0, size, 0, n, no, &mut code);
        code
    };
    c.code("map: 0 bytes", CL_INVALID_VALUE, map(CL_MAP_READ, 0));
    c.code("map: unknown flags", CL_INVALID_VALUE, map(1 << 20, 4));
    let both = CL_MAP_WRITE_INVALIDATE_REGION | CL_MAP_READ;
    c.code("map: invalidate and read", CL_INVALID_VALUE, map(both, 4));
    let unmap = |mem: &Obj, at| t.clEnqueueUnmapMemObject(q, mem.h, at, 0, n, no);
    c.code("unmap what is not mapped", CL_INVALID_VALUE, unmap(&a, host));
    c.code("unmap null", CL_INVALID_VALUE, unmap(&a, null_mut()));
    let at = t.clEnqueueMapBuffer(q, a.h, CL_TRUE, CL_MAP_READ, 0, 4, 0, n, no, &mut code);
    ok(code);
    c.code("unmap from another buffer", CL_INVALID_VALUE, unmap(&b, at));
    c.code("unmap", 0, unmap(&a, at));
    c.code("unmap again", CL_INVALID_VALUE, unmap(&a, at));
    let migrate = |count, list: *const Handle, flags| t.clEnqueueMigrateMemObjects(q, count, list, flags, 0, n, no);
    c.code("migrate nothing", CL_INVALID_VALUE, migrate(0, &a.h, 0));
    c.code("migrate a null list", CL_INVALID_VALUE, migrate(1, null(), 0));
    c.code("migrate: unknown flags", CL_INVALID_VALUE, migrate(1, &a.h, 1 << 20));
    c.end();
    t.finish();
}

#[test]
fn rectangular_transfers_check_their_boxes() {
    let t = Session::new();
    let mut c = Cases::new();
    let (a, b) = (t.buffer(0, 1024), t.buffer(0, 1024));
    let mut bytes = vec![0u8; 4096];
    let host: Handle = bytes.as_mut_ptr().cast();
    let q = t.queue();
    let zero = [0usize; 3];
    for (what, origin, region, row, slice, wanted) in [
        ("a box", [1, 2, 3], [4, 4, 2], 16, 128, 0),
        ("the whole buffer", [0, 0, 0], [16, 8, 8], 16, 128, 0),
        ("no width", [0, 0, 0], [0, 1, 1], 0, 0, CL_INVALID_VALUE),
        ("no height", [0, 0, 0], [1, 0, 1], 0, 0, CL_INVALID_VALUE),
        ("no depth", [0, 0, 0], [1, 1, 0], 0, 0, CL_INVALID_VALUE),
        ("a row too far", [0, 1, 0], [16, 8, 8], 16, 128, CL_INVALID_VALUE),
        ("a slice too far", [0, 0, 1], [16, 8, 8], 16, 128, CL_INVALID_VALUE),
        ("a byte too far", [1, 0, 0], [16, 8, 8], 16, 128, CL_INVALID_VALUE),
        ("a row pitch less than a row", [0, 0, 0], [16, 2, 1], 15, 0, CL_INVALID_VALUE),
        ("a slice pitch less than a slice", [0, 0, 0], [16, 4, 2], 16, 63, CL_INVALID_VALUE),
        ("a slice pitch that is no multiple", [0, 0, 0], [16, 4, 2], 16, 72, CL_INVALID_VALUE),
        ("an origin that wraps", [usize::MAX, usize::MAX, 0], [4, 1, 1], 0, 0, CL_INVALID_VALUE),
    ] {
        let (o, z, r) = (origin.as_ptr(), zero.as_ptr(), region.as_ptr());
        let (n, no) = (null(), null_mut());
        let read = t.clEnqueueReadBufferRect(q, a.h, 1, o, z, r, row, slice, 0, 0, host, 0, n, no);
        c.code(&format!("read {what}"), wanted, read);
        let write = t.clEnqueueWriteBufferRect(q, a.h, 1, o, z, r, row, slice, 0, 0, host, 0, n, no);
        c.code(&format!("write {what}"), wanted, write);
        let from = t.clEnqueueCopyBufferRect(q, a.h, b.h, o, z, r, row, slice, 0, 0, 0, n, no);
        c.code(&format!("copy from {what}"), wanted, from);
        let to = t.clEnqueueCopyBufferRect(q, a.h, b.h, z, o, r, 0, 0, row, slice, 0, n, no);
        c.code(&format!("copy to {what}"), wanted, to);
    }
    let (z, r) = (zero.as_ptr(), [4usize, 1, 1]);
    let r = r.as_ptr();
    let read = |o, h, r| t.clEnqueueReadBufferRect(q, a.h, 1, o, h, r, 0, 0, 0, 0, host, 0, null(), null_mut());
    c.code("a null origin", CL_INVALID_VALUE, read(null(), z, r));
    c.code("a null host origin", CL_INVALID_VALUE, read(z, null(), r));
    c.code("a null region", CL_INVALID_VALUE, read(z, z, null()));
    let pitch =
        |row, slice| t.clEnqueueReadBufferRect(q, a.h, 1, z, z, r, 0, 0, row, slice, host, 0, null(), null_mut());
    c.code("a host row pitch less than a row", CL_INVALID_VALUE, pitch(3, 0));
    c.code("a host slice pitch that is no multiple", CL_INVALID_VALUE, pitch(4, 5));
    // Within one buffer the pitches of both sides are the same.
    let within = |row, slice| {
        t.clEnqueueCopyBufferRect(q, a.h, a.h, z, [8usize, 0, 0].as_ptr(), r, 16, 64, row, slice, 0, null(), null_mut())
    };
    c.code("one buffer, equal pitches", 0, within(16, 64));
    c.code("one buffer, other row pitch", CL_INVALID_VALUE, within(32, 64));
    c.code("one buffer, other slice pitch", CL_INVALID_VALUE, within(16, 128));
    c.end();
    t.finish();
}

#[test]
fn flags_of_a_buffer_say_what_the_host_may_do() {
    let t = Session::new();
    let mut c = Cases::new();
    let mut words = [0u8; 64];
    let host: Handle = words.as_mut_ptr().cast();
    let q = t.queue();
    let (zero, region) = ([0usize; 3], [4usize, 1, 1]);
    let (o, r, n, no) = (zero.as_ptr(), region.as_ptr(), null(), null_mut());
    for (flags, reads, writes) in [
        (0, true, true),
        (CL_MEM_HOST_READ_ONLY, true, false),
        (CL_MEM_HOST_WRITE_ONLY, false, true),
        (CL_MEM_HOST_NO_ACCESS, false, false),
    ] {
        let a = t.buffer(flags, 64);
        let code = |may: bool| if may { 0 } else { CL_INVALID_OPERATION };
        let mut case = |what: &str, may, got| c.code(&format!("{flags:#x}: {what}"), code(may), got);
        case("read", reads, t.clEnqueueReadBuffer(q, a.h, 1, 0, 4, host, 0, n, no));
        case("write", writes, t.clEnqueueWriteBuffer(q, a.h, 1, 0, 4, host, 0, n, no));
        let read = t.clEnqueueReadBufferRect(q, a.h, 1, o, o, r, 0, 0, 0, 0, host, 0, n, no);
        case("read a box", reads, read);
        let write = t.clEnqueueWriteBufferRect(q, a.h, 1, o, o, r, 0, 0, 0, 0, host, 0, n, no);
        case("write a box", writes, write);
        let both = reads && writes;
        let maps = [
            ("map to read", CL_MAP_READ, reads),
            ("map to write", CL_MAP_WRITE, writes),
            ("map to invalidate", CL_MAP_WRITE_INVALIDATE_REGION, writes),
            ("map to read and write", CL_MAP_READ | CL_MAP_WRITE, both),
        ];
        for (what, map, may) in maps {
            let mut got = 1;
            let at = t.clEnqueueMapBuffer(q, a.h, 1, map, 0, 4, 0, n, no, &mut got);
            case(what, may, got);
            if got == 0 {
                ok(t.clEnqueueUnmapMemObject(q, a.h, at, 0, n, no));
            }
        }
        // These are the device's.
        case("fill", true, t.clEnqueueFillBuffer(q, a.h, host, 4, 0, 64, 0, n, no));
        case("copy", true, t.clEnqueueCopyBuffer(q, a.h, a.h, 0, 32, 32, 0, n, no));
    }
    c.end();
    t.finish();
}

#[test]
fn released_handles_are_refused_everywhere() {
    let t = Session::new();
    if !t.ours() {
        return; // Other drivers read what is gone.
    }
    let mut c = Cases::new();
    let kernel = t.kernel("kernel void k(void) {}");
    let program = t.source("kernel void k(void) {}");
    let (mem, gone_kernel, event) = (t.buffer(0, 8), t.kernel("kernel void k(void) {}"), t.user_event());
    t.complete(&event, CL_COMPLETE);
    let queue = t.another_queue(0);
    let (mem, gone_kernel, event) = (mem.release(), gone_kernel.release(), event.release());
    let (program, queue) = (program.release(), queue.release());
    let mut word = 0u64;
    let at: Handle = (&raw mut word).cast();
    let read = |q, m, n, w| t.clEnqueueReadBuffer(q, m, 1, 0, 8, at, n, w, null_mut());
    let live = t.buffer(0, 8);
    c.code("buffer", CL_INVALID_MEM_OBJECT, read(t.queue(), mem, 0, null()));
    c.code("queue", CL_INVALID_COMMAND_QUEUE, read(queue, live.h, 0, null()));
    c.code("event", CL_INVALID_EVENT_WAIT_LIST, read(t.queue(), live.h, 1, &event));
    c.code("kernel", CL_INVALID_KERNEL, t.clSetKernelArg(gone_kernel, 0, 8, at.cast_const()));
    c.code("program", CL_INVALID_PROGRAM, t.clBuildProgram(program, 0, null(), null(), None, null_mut()));
    c.code("a buffer twice", CL_INVALID_MEM_OBJECT, t.clReleaseMemObject(mem));
    c.code("a queue twice", CL_INVALID_COMMAND_QUEUE, t.clReleaseCommandQueue(queue));
    c.code("an event twice", CL_INVALID_EVENT, t.clReleaseEvent(event));
    c.code("a kernel twice", CL_INVALID_KERNEL, t.clReleaseKernel(gone_kernel));
    c.code("a program twice", CL_INVALID_PROGRAM, t.clReleaseProgram(program));
    c.code("a retained one", CL_INVALID_MEM_OBJECT, t.clRetainMemObject(mem));
    drop(kernel);
    c.end();
}
