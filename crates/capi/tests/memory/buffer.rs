//! Chapter 5.2.1 and 5.4 of the specification: buffers and sub-buffers, host pointers, destructors, queries.

#[path = "../common/mod.rs"]
mod common;
use common::*;

const USE: u64 = CL_MEM_USE_HOST_PTR;
const COPY: u64 = CL_MEM_COPY_HOST_PTR;
const ALLOC: u64 = CL_MEM_ALLOC_HOST_PTR;

/// Page-aligned words, as is best for memory of the device.
#[repr(C, align(4096))]
struct Page([u32; 1024]);

fn create(t: &Session, flags: u64, size: usize, data: Handle) -> Obj {
    let mut code = 1;
    let buffer = t.clCreateBuffer(t.context(), flags, size, data, &mut code);
    ok(code);
    Obj::mem(buffer)
}

fn sub(t: &Session, of: &Obj, flags: u64, origin: usize, size: usize) -> Result<Obj, i32> {
    let mut code = 1;
    let region = cl_buffer_region { origin, size };
    let kind = CL_BUFFER_CREATE_TYPE_REGION;
    let buffer = t.clCreateSubBuffer(of.h, flags, kind, (&raw const region).cast(), &mut code);
    if code == 0 { Ok(Obj::mem(buffer)) } else { Err(code) }
}

fn align(t: &Session) -> usize {
    t.device_info::<u32>(CL_DEVICE_MEM_BASE_ADDR_ALIGN) as usize / 8
}

#[test]
fn a_buffer_describes_itself() {
    let t = Session::new();
    let mut page = Page([0; 1024]);
    let data: Handle = page.0.as_mut_ptr().cast();
    let cases = [
        (0, CL_MEM_READ_WRITE, null_mut()),
        (CL_MEM_READ_ONLY, CL_MEM_READ_ONLY, null_mut()),
        (CL_MEM_WRITE_ONLY | ALLOC, CL_MEM_WRITE_ONLY | ALLOC, null_mut()),
        (COPY | CL_MEM_HOST_NO_ACCESS, COPY | CL_MEM_HOST_NO_ACCESS | CL_MEM_READ_WRITE, data),
        (COPY | ALLOC | CL_MEM_READ_WRITE, COPY | ALLOC | CL_MEM_READ_WRITE, data),
        (USE | CL_MEM_HOST_READ_ONLY, USE | CL_MEM_HOST_READ_ONLY | CL_MEM_READ_WRITE, data),
    ];
    for (flags, shown, data) in cases {
        let buffer = create(&t, flags, 100, data);
        let handle = buffer.h;
        let ask = |name| move |s, v, r| api().clGetMemObjectInfo(handle, name, s, v, r);
        assert_eq!(info::<u32>(ask(CL_MEM_TYPE)), CL_MEM_OBJECT_BUFFER);
        assert_eq!(info::<u64>(ask(CL_MEM_FLAGS)), shown, "{flags:#x}");
        assert_eq!(info::<usize>(ask(CL_MEM_SIZE)), 100);
        let pointer = if flags & USE != 0 { data as usize } else { 0 };
        assert_eq!(info::<usize>(ask(CL_MEM_HOST_PTR)), pointer);
        assert_eq!(info::<u32>(ask(CL_MEM_MAP_COUNT)), 0);
        assert_eq!(info::<u32>(ask(CL_MEM_REFERENCE_COUNT)), 1);
        assert_eq!(info::<usize>(ask(CL_MEM_CONTEXT)), t.context() as usize);
        assert_eq!(info::<usize>(ask(CL_MEM_ASSOCIATED_MEMOBJECT)), 0);
        assert_eq!(info::<usize>(ask(CL_MEM_OFFSET)), 0);
        assert_eq!(info::<u32>(ask(CL_MEM_USES_SVM_POINTER)), CL_FALSE);
        assert!(list::<u64>(ask(CL_MEM_PROPERTIES)).len() <= 1);
        ok(t.clRetainMemObject(handle));
        assert_eq!(info::<u32>(ask(CL_MEM_REFERENCE_COUNT)), 2);
        ok(t.clReleaseMemObject(handle));
    }
}

#[test]
fn properties_of_a_buffer_come_back() {
    let t = Session::new();
    let mut code = 1;
    let create = |list: *const u64, code| t.clCreateBufferWithProperties(t.context(), list, 0, 64, null_mut(), code);
    let buffer = Obj::mem(create(&0, &mut code));
    ok(code);
    let list = |s, v, r| t.clGetMemObjectInfo(buffer.h, CL_MEM_PROPERTIES, s, v, r);
    assert_eq!(self::list::<u64>(list), [0]);
    let plain = Obj::mem(create(null(), &mut code));
    ok(code);
    assert!(self::list::<u64>(|s, v, r| t.clGetMemObjectInfo(plain.h, CL_MEM_PROPERTIES, s, v, r)).is_empty());
    let mut c = Cases::new();
    c.new_object("unknown property", CL_INVALID_PROPERTY, |e| create([0x7777, 1, 0].as_ptr(), e));
    c.end();
}

#[test]
fn a_copied_host_pointer_is_free_to_change() {
    let t = Session::new();
    let mut words = [1u32, 2, 3, 4];
    let buffer = create(&t, COPY, 16, words.as_mut_ptr().cast());
    words = [0; 4];
    assert_eq!(t.read::<u32>(&buffer, 4), [1, 2, 3, 4]);
    assert_eq!(words, [0; 4]);
}

#[test]
fn a_used_host_pointer_is_the_memory_itself_once_it_is_mapped() {
    let t = Session::new();
    let kernel = t.kernel("kernel void k(global uint *p) { p[get_global_id(0)] *= 3; }");
    let mut page = Box::new(Page([0; 1024]));
    page.0[..4].copy_from_slice(&[1, 2, 3, 4]);
    let data: Handle = page.0.as_mut_ptr().cast();
    let buffer = create(&t, USE, 4096, data);
    t.arg_mem(&kernel, 0, &buffer);
    drop(t.launch(&kernel, &[1024], &[]));
    let mut code = 1;
    let map = |code| t.clEnqueueMapBuffer(t.queue(), buffer.h, CL_TRUE, CL_MAP_READ, 4, 8, 0, null(), null_mut(), code);
    let at = map(&mut code);
    ok(code);
    assert_eq!(at as usize, data as usize + 4, "a map gives host_ptr plus the offset");
    assert_eq!(mapped(at, 8), [[6u8, 0, 0, 0], [9, 0, 0, 0]].as_flattened());
    ok(t.clEnqueueUnmapMemObject(t.queue(), buffer.h, at, 0, null(), null_mut()));
    t.finish();
    drop(buffer);
}

#[test]
fn an_odd_used_host_pointer_works_too() {
    let t = Session::new();
    let kernel = t.kernel("kernel void k(global uchar *p) { p[get_global_id(0)] += 1; }");
    let mut bytes = [7u8; 101];
    let buffer = create(&t, USE, 99, bytes[1..].as_mut_ptr().cast());
    t.arg_mem(&kernel, 0, &buffer);
    drop(t.launch(&kernel, &[99], &[]));
    assert_eq!(t.read::<u8>(&buffer, 99), [8; 99]);
    drop(buffer);
    assert_eq!((bytes[0], bytes[100]), (7, 7));
}

#[test]
fn kernels_see_sub_buffers_at_their_place() {
    let t = Session::new();
    let kernel = t.kernel("kernel void k(global uint *p) { p[get_global_id(0)] = 5; }");
    let step = align(&t);
    let parent = t.buffer_of(&vec![1u32; step]);
    let part = sub(&t, &parent, 0, step, 12).unwrap();
    t.arg_mem(&kernel, 0, &part);
    drop(t.launch(&kernel, &[2], &[]));
    let words = t.read::<u32>(&parent, step);
    let wanted: Vec<u32> = (0..step).map(|i| if (step / 4..step / 4 + 2).contains(&i) { 5 } else { 1 }).collect();
    assert_eq!(words, wanted);
    assert_eq!(t.read::<u32>(&part, 3), [5, 5, 1]);
}

#[test]
fn a_sub_buffer_describes_itself_and_holds_its_parent() {
    let t = Session::new();
    let mut page = Box::new(Page([3; 1024]));
    let data: Handle = page.0.as_mut_ptr().cast();
    let parent = create(&t, USE | CL_MEM_READ_ONLY | CL_MEM_HOST_READ_ONLY, 4096, data);
    let part = sub(&t, &parent, 0, align(&t), 64).unwrap();
    let handle = part.h;
    let ask = |name| move |s, v, r| api().clGetMemObjectInfo(handle, name, s, v, r);
    assert_eq!(info::<u32>(ask(CL_MEM_TYPE)), CL_MEM_OBJECT_BUFFER);
    assert_eq!(info::<u64>(ask(CL_MEM_FLAGS)), USE | CL_MEM_READ_ONLY | CL_MEM_HOST_READ_ONLY, "inherited");
    assert_eq!(info::<usize>(ask(CL_MEM_SIZE)), 64);
    assert_eq!(info::<usize>(ask(CL_MEM_OFFSET)), align(&t));
    assert_eq!(info::<usize>(ask(CL_MEM_ASSOCIATED_MEMOBJECT)), parent.h as usize);
    assert_eq!(info::<usize>(ask(CL_MEM_HOST_PTR)), data as usize + align(&t));
    drop(parent);
    assert_eq!(t.read::<u32>(&part, 2), [3, 3]);
}

#[test]
fn flags_of_a_sub_buffer_may_not_widen_those_of_its_parent() {
    let t = Session::new();
    let (ro, wo, rw) = (CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE);
    let (hr, hw, hn) = (CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_NO_ACCESS);
    let mut c = Cases::new();
    for (parent, flags, good) in [
        (wo, rw, false),
        (wo, ro, false),
        (wo, wo, true),
        (ro, rw, false),
        (ro, wo, false),
        (ro, ro, true),
        (rw, ro, true),
        (rw, wo, true),
        (hw, hr, false),
        (hr, hw, false),
        (hn, hr, false),
        (hn, hw, false),
        (hn, hn, true),
        (hr, hn, true),
        (0, hr, true),
        (0, ro | wo, false),
        (0, hr | hw, false),
        (0, USE, false),
        (0, COPY, false),
        (0, ALLOC, false),
        (0, 1 << 40, false),
    ] {
        let parent_buffer = t.buffer(parent, 256);
        let code = sub(&t, &parent_buffer, flags, 0, 64).err().unwrap_or(0);
        let wanted = if good { 0 } else { CL_INVALID_VALUE };
        c.code(&format!("{flags:#x} of {parent:#x}"), wanted, code);
    }
    c.end();
}

#[test]
fn bad_sub_buffers_have_their_codes() {
    let t = Session::new();
    let mut c = Cases::new();
    let parent = t.buffer(0, 4096);
    let part = sub(&t, &parent, 0, 0, 2048).unwrap();
    let step = align(&t);
    let mut code = |what: &str, wanted, of: &Obj, origin, size| {
        c.code(what, wanted, sub(&t, of, 0, origin, size).err().unwrap_or(0));
    };
    code("a whole one", 0, &parent, 0, 4096);
    code("beyond the end", CL_INVALID_VALUE, &parent, step, 4096);
    code("origin beyond the end", CL_INVALID_VALUE, &parent, 8192, 1);
    code("wrapping around", CL_INVALID_VALUE, &parent, step, usize::MAX - step + 2);
    code("size 0", CL_INVALID_BUFFER_SIZE, &parent, 0, 0);
    code("an odd origin", CL_MISALIGNED_SUB_BUFFER_OFFSET, &parent, 1, 8);
    code("of a sub-buffer", CL_INVALID_MEM_OBJECT, &part, 0, 8);
    let region = cl_buffer_region { origin: 0, size: 8 };
    let at = (&raw const region).cast();
    let kind = CL_BUFFER_CREATE_TYPE_REGION;
    c.new_object("unknown type", CL_INVALID_VALUE, |e| t.clCreateSubBuffer(parent.h, 0, 0x7777, at, e));
    c.new_object("null region", CL_INVALID_VALUE, |e| t.clCreateSubBuffer(parent.h, 0, kind, null(), e));
    for (what, bad) in t.bad_handles(t.queue()) {
        c.new_object(what, CL_INVALID_MEM_OBJECT, |e| t.clCreateSubBuffer(bad, 0, kind, at, e));
    }
    c.end();
}

#[test]
fn destructors_are_called_in_reverse_and_find_the_host_memory() {
    let t = Session::new();
    let calls = Calls::new();
    let mut page = Box::new(Page([0; 1024]));
    let buffer = create(&t, USE, 4096, page.0.as_mut_ptr().cast());
    for i in 0..3 {
        let send = calls.sender();
        let (call, data) = on_object(move |handle| send.send((i, handle)).unwrap());
        ok(t.clSetMemObjectDestructorCallback(buffer.h, call, data));
    }
    // A command that waits holds the buffer.
    let gate = t.user_event();
    let word = 1u32;
    let data = (&raw const word).cast();
    ok(t.clEnqueueWriteBuffer(t.queue(), buffer.h, CL_FALSE, 0, 4, data, 1, &gate.h, null_mut()));
    let handle = buffer.release() as usize;
    assert!(calls.none(), "a command uses the buffer");
    t.complete(&gate, CL_COMPLETE);
    t.finish();
    assert_eq!([calls.next(), calls.next(), calls.next()], [(2, handle), (1, handle), (0, handle)]);
    assert_eq!(page.0[0], 1);
}

#[test]
fn a_destructor_may_call_the_interface() {
    let t = Session::new();
    let calls = Calls::new();
    let (outer, inner) = (t.buffer(0, 64), t.buffer(0, 64));
    let send = calls.sender();
    let inner = inner;
    let (call, data) = on_object(move |_| {
        drop(inner);
        send.send(()).unwrap();
    });
    ok(t.clSetMemObjectDestructorCallback(outer.h, call, data));
    drop(outer);
    calls.next();
}

#[test]
fn a_buffer_in_a_kernel_argument_lives_until_the_launch_is_over() {
    let t = Session::new();
    let kernel = t.kernel("kernel void k(global uint *p, global uint *q) { q[0] = p[0] + 1; }");
    let (p, q) = (t.buffer_of(&[41u32]), t.buffer(0, 4));
    t.arg_mem(&kernel, 0, &p);
    t.arg_mem(&kernel, 1, &q);
    let gate = t.user_event();
    let event = t.launch_on(t.queue(), &kernel, &[1], &[], &[gate.h]);
    drop(p);
    drop(kernel);
    t.complete(&gate, CL_COMPLETE);
    t.wait(&[&event]);
    assert_eq!(t.read::<u32>(&q, 1), [42]);
}

#[test]
fn bad_arguments_have_their_codes() {
    let t = Session::new();
    let mut c = Cases::new();
    let mut words = [0u32; 16];
    let data: Handle = words.as_mut_ptr().cast();
    let make = |flags, size, data, code| t.clCreateBuffer(t.context(), flags, size, data, code);
    for (what, bad) in t.bad_handles(t.queue()) {
        c.new_object(&format!("{what} as context"), CL_INVALID_CONTEXT, |e| t.clCreateBuffer(bad, 0, 8, null_mut(), e));
        c.code(&format!("retain {what}"), CL_INVALID_MEM_OBJECT, t.clRetainMemObject(bad));
        c.code(&format!("release {what}"), CL_INVALID_MEM_OBJECT, t.clReleaseMemObject(bad));
        let ask = t.clGetMemObjectInfo(bad, CL_MEM_SIZE, 0, null_mut(), null_mut());
        c.code(&format!("query {what}"), CL_INVALID_MEM_OBJECT, ask);
        let (call, data) = on_object(|_| ());
        let set = t.clSetMemObjectDestructorCallback(bad, call, data);
        c.code(&format!("destructor of {what}"), CL_INVALID_MEM_OBJECT, set);
    }
    c.new_object("size 0", CL_INVALID_BUFFER_SIZE, |e| make(0, 0, null_mut(), e));
    let most = t.device_info::<u64>(CL_DEVICE_MAX_MEM_ALLOC_SIZE) as usize;
    c.new_object("one byte too many", CL_INVALID_BUFFER_SIZE, |e| make(0, most + 1, null_mut(), e));
    c.new_object("all bytes there are", CL_INVALID_BUFFER_SIZE, |e| make(0, usize::MAX, null_mut(), e));
    let (r, w, rw) = (CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE);
    let (hr, hw, hn) = (CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_NO_ACCESS);
    for flags in [1 << 6, 1 << 40, r | w, r | rw, w | rw, hr | hw, hr | hn, hw | hn] {
        c.new_object(&format!("flags {flags:#x}"), CL_INVALID_VALUE, |e| make(flags, 8, null_mut(), e));
    }
    for flags in [USE | COPY, USE | ALLOC] {
        c.new_object(&format!("flags {flags:#x}"), CL_INVALID_VALUE, |e| make(flags, 8, data, e));
    }
    for flags in [USE, COPY, COPY | ALLOC] {
        let what = format!("flags {flags:#x} without host_ptr");
        c.new_object(&what, CL_INVALID_HOST_PTR, |e| make(flags, 8, null_mut(), e));
    }
    for flags in [0, r, ALLOC] {
        let what = format!("flags {flags:#x} with host_ptr");
        c.new_object(&what, CL_INVALID_HOST_PTR, |e| make(flags, 8, data, e));
    }
    let buffer = t.buffer(0, 64);
    let set = t.clSetMemObjectDestructorCallback(buffer.h, None, null_mut());
    c.code("no destructor", CL_INVALID_VALUE, set);
    c.query("buffer", CL_MEM_SIZE, |name, s, v, r| t.clGetMemObjectInfo(buffer.h, name, s, v, r));
    c.end();
}

#[test]
fn images_and_samplers_are_refused_while_the_device_has_none() {
    let t = Session::new();
    if t.device_info::<u32>(CL_DEVICE_IMAGE_SUPPORT) == CL_TRUE {
        return;
    }
    let mut c = Cases::new();
    let format = [CL_RGBA, CL_FLOAT];
    let desc = [0u64; 9];
    let (format, desc) = (format.as_ptr().cast(), desc.as_ptr().cast());
    let image = |e| t.clCreateImage(t.context(), 0, format, desc, null_mut(), e);
    c.new_object("an image", CL_INVALID_OPERATION, image);
    let image = |e| t.clCreateImage(null_mut(), 0, format, desc, null_mut(), e);
    c.new_object("an image of no context", CL_INVALID_CONTEXT, image);
    c.new_object("a sampler", CL_INVALID_OPERATION, |e| t.clCreateSamplerWithProperties(t.context(), null(), e));
    c.end();
    let mut n = 77;
    ok(t.clGetSupportedImageFormats(t.context(), CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D, 0, null_mut(), &mut n));
    assert_eq!(n, 0);
}
