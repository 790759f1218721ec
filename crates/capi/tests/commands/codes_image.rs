//! The error codes of commands on images and of shared virtual memory that all commands share, and those of samplers
//! and of functions that newer ones replaced: a table for every function.

#![allow(unsafe_code, reason = "it calls the C interface")]
#![allow(non_snake_case, reason = "the specification's names")]

#[path = "../common/mod.rs"]
mod common;
use common::images::*;
use common::*;
use std::ffi::c_void;

/// The arguments of a call: all valid, except those that a case changes.
#[derive(Clone, Copy)]
struct Call {
    queue: Handle,
    /// An image, or shared memory.
    a: Handle,
    /// The other one of a copy: an image, a buffer or shared memory.
    b: Handle,
    blocking: u32,
    count: u32,
    list: *const Handle,
    origin: *const usize,
    region: *const usize,
    host: Handle,
}

type Enqueue<'a> = Box<dyn Fn(Call) -> i32 + 'a>;

/// What is the same for some functions.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Of one image.
    Image,
    /// Of an image and another one, or a buffer.
    Copy { buffer: bool },
    /// Of shared memory.
    Svm,
}

struct Function<'a> {
    name: &'static str,
    kind: Kind,
    /// It may block.
    blocks: bool,
    call: Enqueue<'a>,
}

/// The functions on images.
fn on_images() -> Vec<Function<'static>> {
    let no = null_mut::<Handle>();
    let function = |name, kind, blocks, call: Enqueue<'static>| Function { name, kind, blocks, call };
    let api = api();
    let (one, two) = (Kind::Image, Kind::Copy { buffer: false });
    let buffer = Kind::Copy { buffer: true };
    vec![
        function(
            "clEnqueueReadImage",
            one,
            true,
            Box::new(move |c| {
                api.clEnqueueReadImage(c.queue, c.a, c.blocking, c.origin, c.region, 0, 0, c.host, c.count, c.list, no)
            }),
        ),
        function(
            "clEnqueueWriteImage",
            one,
            true,
            Box::new(move |c| {
                let host = c.host.cast_const();
                api.clEnqueueWriteImage(c.queue, c.a, c.blocking, c.origin, c.region, 0, 0, host, c.count, c.list, no)
            }),
        ),
        function(
            "clEnqueueFillImage",
            one,
            false,
            Box::new(move |c| {
                api.clEnqueueFillImage(c.queue, c.a, c.host.cast_const(), c.origin, c.region, c.count, c.list, no)
            }),
        ),
        function(
            "clEnqueueMapImage",
            one,
            true,
            Box::new(move |c| {
                let (mut row, mut slice, mut code) = (0, 0, 1);
                let (q, read) = (c.queue, CL_MAP_READ);
                // Mapping takes no memory of the host: the row pitch takes its place in the table.
                let row: *mut usize = if c.host.is_null() { null_mut() } else { &mut row };
                let at = api.clEnqueueMapImage(
                    q, c.a, c.blocking, read, c.origin, c.region, row, &mut slice, c.count, c.list, no, &mut code,
                );
                assert_eq!(at.is_null(), code != 0);
                if code == 0 {
                    ok(api.clEnqueueUnmapMemObject(q, c.a, at, 0, null(), null_mut()));
                }
                code
            }),
        ),
        function(
            "clEnqueueCopyImage",
            two,
            false,
            Box::new(move |c| {
                api.clEnqueueCopyImage(c.queue, c.a, c.b, c.origin, c.origin, c.region, c.count, c.list, no)
            }),
        ),
        function(
            "clEnqueueCopyImageToBuffer",
            buffer,
            false,
            Box::new(move |c| {
                api.clEnqueueCopyImageToBuffer(c.queue, c.a, c.b, c.origin, c.region, 0, c.count, c.list, no)
            }),
        ),
        function(
            "clEnqueueCopyBufferToImage",
            buffer,
            false,
            Box::new(move |c| {
                api.clEnqueueCopyBufferToImage(c.queue, c.b, c.a, 0, c.origin, c.region, c.count, c.list, no)
            }),
        ),
    ]
}

/// The functions on shared memory.
fn on_shared_memory() -> Vec<Function<'static>> {
    let no = null_mut::<Handle>();
    let api = api();
    let function = |name, blocks, call: Enqueue<'static>| Function { name, kind: Kind::Svm, blocks, call };
    vec![
        function(
            "clEnqueueSVMMemcpy",
            true,
            Box::new(move |c| {
                let from = c.b.cast_const();
                api.clEnqueueSVMMemcpy(c.queue, c.blocking, c.a, from, 8, c.count, c.list, no)
            }),
        ),
        function(
            "clEnqueueSVMMemFill",
            false,
            Box::new(move |c| api.clEnqueueSVMMemFill(c.queue, c.a, c.host.cast_const(), 4, 8, c.count, c.list, no)),
        ),
        function(
            "clEnqueueSVMMap",
            true,
            Box::new(move |c| api.clEnqueueSVMMap(c.queue, c.blocking, CL_MAP_READ, c.a, 8, c.count, c.list, no)),
        ),
        function(
            "clEnqueueSVMUnmap",
            false,
            Box::new(move |c| api.clEnqueueSVMUnmap(c.queue, c.a, c.count, c.list, no)),
        ),
        function(
            "clEnqueueSVMMigrateMem",
            false,
            Box::new(move |c| {
                let list = [c.a.cast_const()];
                api.clEnqueueSVMMigrateMem(c.queue, 1, list.as_ptr(), null(), 0, c.count, c.list, no)
            }),
        ),
        function(
            "clEnqueueSVMFree",
            false,
            Box::new(move |c| {
                unsafe extern "C" fn keep(_: Handle, _: u32, _: *mut *mut c_void, _: *mut c_void) {}
                let (list, call) = ([c.a], Some(keep as common::SvmFreeFn));
                api.clEnqueueSVMFree(c.queue, 1, list.as_ptr(), call, null_mut(), c.count, c.list, no)
            }),
        ),
    ]
}

#[test]
fn commands_on_images_and_shared_memory_check_what_all_share() {
    let t = Session::new();
    let mut cases = Cases::new();
    let other = t.another_context();
    let (mut code, byte_format, desc) = (1, BYTES, Desc::new(D2, [4, 4, 1]));
    let (format, desc_at) = ((&raw const byte_format).cast(), (&raw const desc).cast());
    let foreign = Obj::mem(t.clCreateImage(other.h, 0, format, desc_at, null_mut(), &mut code));
    ok(code);
    let foreign_buffer = Obj::mem(t.clCreateBuffer(other.h, 0, 64, null_mut(), &mut code));
    ok(code);
    let foreign_event = Obj::event(t.clCreateUserEvent(other.h, &mut code));
    ok(code);
    let (a, b, buffer) = (t.image(BYTES, &desc), t.image(BYTES, &desc), t.buffer(0, 64));
    let shared = [(); 2].map(|()| t.clSVMAlloc(t.context(), CL_MEM_READ_WRITE, 64, 0));
    let (done, failed) = (t.user_event(), t.user_event());
    t.complete(&done, CL_COMPLETE);
    t.complete(&failed, -7);
    let mut words = [0u32; 16];
    let host: Handle = words.as_mut_ptr().cast();
    let (zero, region, outside) = ([0usize; 3], [4usize, 4, 1], [5usize, 4, 1]);
    let plain = Call {
        queue: t.queue(),
        a: a.h,
        b: b.h,
        blocking: 0,
        count: 0,
        list: null(),
        origin: zero.as_ptr(),
        region: region.as_ptr(),
        host,
    };
    for f in on_images().into_iter().chain(on_shared_memory()) {
        let good = match f.kind {
            Kind::Copy { buffer: true } => Call { b: buffer.h, ..plain },
            Kind::Svm => Call { a: shared[0], b: shared[1], ..plain },
            _ => plain,
        };
        let mut case = |what: &str, wanted, call| cases.code(&format!("{}: {what}", f.name), wanted, (f.call)(call));
        case("all good", 0, good);
        case("a list of an event", 0, Call { count: 1, list: &done.h, ..good });
        let wait = CL_INVALID_EVENT_WAIT_LIST;
        case("a null list of 1", wait, Call { count: 1, ..good });
        case("a list of 0", wait, Call { list: &done.h, ..good });
        case("an event of another context", CL_INVALID_CONTEXT, Call { count: 1, list: &foreign_event.h, ..good });
        if f.blocks {
            let after = Call { blocking: 1, count: 1, list: &failed.h, ..good };
            case("blocking after a failure", CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, after);
        }
        for (what, bad) in t.bad_handles(t.context()) {
            case(&format!("{what} as queue"), CL_INVALID_COMMAND_QUEUE, Call { queue: bad, ..good });
            let list = [done.h, bad];
            case(&format!("{what} as event"), wait, Call { count: 2, list: list.as_ptr(), ..good });
            if f.kind != Kind::Svm {
                case(&format!("{what} as image"), CL_INVALID_MEM_OBJECT, Call { a: bad, ..good });
            }
            if matches!(f.kind, Kind::Copy { .. }) {
                case(&format!("{what} as second object"), CL_INVALID_MEM_OBJECT, Call { b: bad, ..good });
            }
        }
        if f.kind == Kind::Svm {
            continue;
        }
        case("an image of another context", CL_INVALID_CONTEXT, Call { a: foreign.h, ..good });
        case("a buffer as image", CL_INVALID_MEM_OBJECT, Call { a: buffer.h, ..good });
        case("no origin", CL_INVALID_VALUE, Call { origin: null(), ..good });
        case("no region", CL_INVALID_VALUE, Call { region: null(), ..good });
        case("an empty region", CL_INVALID_VALUE, Call { region: zero.as_ptr(), ..good });
        case("a region outside", CL_INVALID_VALUE, Call { region: outside.as_ptr(), ..good });
        match f.kind {
            Kind::Image => case("no memory of the host", CL_INVALID_VALUE, Call { host: null_mut(), ..good }),
            Kind::Copy { buffer: false } => {
                case("a second image of another context", CL_INVALID_CONTEXT, Call { b: foreign.h, ..good });
            }
            _ => case("a buffer of another context", CL_INVALID_CONTEXT, Call { b: foreign_buffer.h, ..good }),
        }
    }
    t.complete(&foreign_event, CL_COMPLETE);
    t.finish();
    shared.into_iter().for_each(|memory| t.clSVMFree(t.context(), memory));
    // Formats that differ, regions that overlap, and what the flags forbid.
    let floats = t.image(FLOATS, &desc);
    let q = t.queue();
    let (o, n, no) = (zero.as_ptr(), null::<Handle>(), null_mut::<Handle>());
    let copy = |to: &Obj, r: &[usize; 3]| t.clEnqueueCopyImage(q, a.h, to.h, o, o, r.as_ptr(), 0, n, no);
    cases.code("copy to another format", CL_IMAGE_FORMAT_MISMATCH, copy(&floats, &region));
    cases.code("copy onto itself", CL_MEM_COPY_OVERLAP, copy(&a, &region));
    let flags = CL_MEM_HOST_NO_ACCESS;
    let hidden = t.try_image(flags, BYTES, &desc, null_mut()).expect("an image");
    let read = t.clEnqueueReadImage(q, hidden.h, 1, o, region.as_ptr(), 0, 0, host, 0, n, no);
    cases.code("read what the host may not", CL_INVALID_OPERATION, read);
    let write = t.clEnqueueWriteImage(q, hidden.h, 1, o, region.as_ptr(), 0, 0, host, 0, n, no);
    cases.code("write what the host may not", CL_INVALID_OPERATION, write);
    cases.code("fill what the host may not", 0, t.clEnqueueFillImage(q, hidden.h, host, o, region.as_ptr(), 0, n, no));
    cases.end();
    t.finish();
}

#[test]
fn samplers_have_their_codes() {
    let t = Session::new();
    let mut c = Cases::new();
    let (nearest, edge) = (0x1140, 0x1131);
    let make = |context, normalized, addressing, filter, code| {
        t.clCreateSampler(context, normalized, addressing, filter, code)
    };
    c.new_object("normalized_coords 2", CL_INVALID_VALUE, |e| make(t.context(), 2, edge, nearest, e));
    c.new_object("an unknown addressing mode", CL_INVALID_VALUE, |e| make(t.context(), 1, 0x1135, nearest, e));
    c.new_object("an unknown filter", CL_INVALID_VALUE, |e| make(t.context(), 1, edge, 0x1142, e));
    for wrong in [&[0x1152u64, 0x1140, 0x1152, 0x1140, 0][..], &[0x7777, 1, 0], &[0x1151, 0x1135, 0]] {
        let list = wrong.as_ptr();
        c.new_object(&format!("{wrong:x?}"), CL_INVALID_VALUE, |e| {
            t.clCreateSamplerWithProperties(t.context(), list, e)
        });
    }
    let mut code = 1;
    let sampler = Obj::sampler(make(t.context(), 1, edge, nearest, &mut code));
    ok(code);
    c.query("sampler", CL_SAMPLER_CONTEXT, |n, s, v, r| t.clGetSamplerInfo(sampler.h, n, s, v, r));
    for (what, bad) in t.bad_handles(t.queue()) {
        c.new_object(&format!("a sampler of {what}"), CL_INVALID_CONTEXT, |e| make(bad, 1, edge, nearest, e));
        let list = [0u64];
        c.new_object(&format!("one with properties of {what}"), CL_INVALID_CONTEXT, |e| {
            t.clCreateSamplerWithProperties(bad, list.as_ptr(), e)
        });
        c.code(&format!("release {what}"), CL_INVALID_SAMPLER, t.clReleaseSampler(bad));
        let ask = t.clGetSamplerInfo(bad, CL_SAMPLER_CONTEXT, 0, null_mut(), null_mut());
        c.code(&format!("query {what}"), CL_INVALID_SAMPLER, ask);
    }
    c.end();
}

#[test]
fn older_functions_have_their_codes() {
    let t = Session::new();
    if !t.ours() {
        return;
    }
    type Make2d = unsafe extern "C" fn(Handle, u64, *const Format, usize, usize, usize, Handle, *mut i32) -> Handle;
    type Make3d =
        unsafe extern "C" fn(Handle, u64, *const Format, usize, usize, usize, usize, usize, Handle, *mut i32) -> Handle;
    type SetProperty = unsafe extern "C" fn(Handle, u64, u32, *mut u64) -> i32;
    type Retain = unsafe extern "C" fn(Handle) -> i32;
    let library = load::library();
    let make_2d = load::symbol::<Make2d>(&library, "clCreateImage2D\0").unwrap();
    let make_3d = load::symbol::<Make3d>(&library, "clCreateImage3D\0").unwrap();
    let set = load::symbol::<SetProperty>(&library, "clSetCommandQueueProperty\0").unwrap();
    let retain = load::symbol::<Retain>(&library, "clRetainSampler\0").unwrap();
    let (context, none, mut c) = (t.context(), null_mut(), Cases::new());
    let odd = Format { order: RGBA, channel_type: 7 };
    let most = t.device_info::<usize>(CL_DEVICE_IMAGE2D_MAX_WIDTH);
    let deepest = t.device_info::<usize>(CL_DEVICE_IMAGE3D_MAX_DEPTH);
    let mut bytes = [0u8; 256];
    let host: Handle = bytes.as_mut_ptr().cast();
    // SAFETY: here and below, the signatures are the specification's, and each pointer is null or to what it says.
    unsafe {
        let flat = |flags, format: &Format, w, h, pitch, host, e: *mut i32| {
            make_2d(context, flags, format, w, h, pitch, host, e)
        };
        c.new_object("2D of no context", CL_INVALID_CONTEXT, |e| make_2d(none, 0, &BYTES, 4, 4, 0, none, e));
        c.new_object("2D flags", CL_INVALID_VALUE, |e| flat(1 << 40, &BYTES, 4, 4, 0, none, e));
        c.new_object("2D format", CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, |e| flat(0, &odd, 4, 4, 0, none, e));
        c.new_object("2D no format", CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, |e| {
            make_2d(context, 0, null(), 4, 4, 0, none, e)
        });
        for (w, h, pitch, host, flags) in [
            (0, 4, 0, none, 0),
            (4, 0, 0, none, 0),
            (most + 1, 4, 0, none, 0),
            (4, 4, 8, host, CL_MEM_COPY_HOST_PTR),
            (4, 4, 64, none, 0),
        ] {
            let what = format!("2D of {w} by {h}, pitch {pitch}");
            c.new_object(&what, CL_INVALID_IMAGE_SIZE, |e| flat(flags, &BYTES, w, h, pitch, host, e));
        }
        c.new_object("2D without memory", CL_INVALID_HOST_PTR, |e| flat(CL_MEM_USE_HOST_PTR, &BYTES, 4, 4, 0, none, e));
        c.new_object("2D with memory", CL_INVALID_HOST_PTR, |e| flat(0, &BYTES, 4, 4, 0, host, e));
        let solid = |flags, format: &Format, [w, h, d]: [usize; 3], host, e: *mut i32| {
            make_3d(context, flags, format, w, h, d, 0, 0, host, e)
        };
        c.new_object("3D flags", CL_INVALID_VALUE, |e| solid(1 << 40, &BYTES, [4; 3], none, e));
        c.new_object("3D format", CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, |e| solid(0, &odd, [4; 3], none, e));
        for size in [[0, 4, 4], [4, 0, 4], [4, 4, 0], [4, 4, deepest + 1]] {
            c.new_object(&format!("3D of {size:?}"), CL_INVALID_IMAGE_SIZE, |e| solid(0, &BYTES, size, none, e));
        }
        c.new_object("3D with memory", CL_INVALID_HOST_PTR, |e| solid(0, &BYTES, [4; 3], host, e));
        let mut old = 77;
        c.code("set a queue's property", 0, set(t.queue(), CL_QUEUE_PROFILING_ENABLE, CL_TRUE, &mut old));
        c.code("which was off", 0, (old & CL_QUEUE_PROFILING_ENABLE) as i32);
        c.code("an unknown property", CL_INVALID_VALUE, set(t.queue(), 1 << 40, CL_TRUE, null_mut()));
        c.code("of no queue", CL_INVALID_COMMAND_QUEUE, set(context, 1, CL_TRUE, null_mut()));
        c.code("retain no sampler", CL_INVALID_SAMPLER, retain(context));
    }
    c.code("unload no platform's compiler", CL_INVALID_PLATFORM, t.clUnloadPlatformCompiler(context));
    c.end();
    t.finish();
}
