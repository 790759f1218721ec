//! Chapter 4.4 of the specification: contexts.

#[path = "../common/mod.rs"]
mod common;
use common::*;

/// Properties that name a platform.
fn of_platform(platform: Handle) -> [isize; 3] {
    [CL_CONTEXT_PLATFORM, platform as isize, 0]
}

#[test]
fn a_context_describes_itself() {
    let t = Session::new();
    let mut code = 1;
    let properties = of_platform(t.platform);
    let context = Obj::context(t.clCreateContext(properties.as_ptr(), 1, &t.device, None, null_mut(), &mut code));
    ok(code);
    let handle = context.h;
    let ask = |name| move |s, v, r| api().clGetContextInfo(handle, name, s, v, r);
    assert_eq!(info::<u32>(ask(CL_CONTEXT_NUM_DEVICES)), 1);
    assert_eq!(list::<usize>(ask(CL_CONTEXT_DEVICES)), [t.device as usize]);
    assert_eq!(list::<isize>(ask(CL_CONTEXT_PROPERTIES)), properties);
    assert_eq!(info::<u32>(ask(CL_CONTEXT_REFERENCE_COUNT)), 1);
    ok(t.clRetainContext(context.h));
    assert_eq!(info::<u32>(ask(CL_CONTEXT_REFERENCE_COUNT)), 2);
    ok(t.clReleaseContext(context.h));
    assert_eq!(info::<u32>(ask(CL_CONTEXT_REFERENCE_COUNT)), 1);
    let plain = |s, v, r| t.clGetContextInfo(t.context(), CL_CONTEXT_PROPERTIES, s, v, r);
    assert!(list::<isize>(plain).len() <= 1, "no properties were given");
}

#[test]
fn a_context_from_a_type_has_the_devices_of_that_type() {
    let t = Session::new();
    let properties = of_platform(t.platform);
    for kind in [CL_DEVICE_TYPE_DEFAULT, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_ALL] {
        let mut n = 0;
        ok(t.clGetDeviceIDs(t.platform, kind, 0, null_mut(), &mut n));
        let mut code = 1;
        let create = t.clCreateContextFromType(properties.as_ptr(), kind, None, null_mut(), &mut code);
        ok(code);
        let context = Obj::context(create);
        let devices = list::<usize>(|s, v, r| t.clGetContextInfo(context.h, CL_CONTEXT_DEVICES, s, v, r));
        assert_eq!(devices.len(), n as usize);
        assert!(devices.contains(&(t.device as usize)));
    }
}

#[test]
fn a_device_that_is_given_twice_counts_once() {
    let t = Session::new();
    let mut code = 1;
    let context = t.clCreateContext(null(), 2, [t.device; 2].as_ptr(), None, null_mut(), &mut code);
    ok(code);
    let context = Obj::context(context);
    let devices = list::<usize>(|s, v, r| t.clGetContextInfo(context.h, CL_CONTEXT_DEVICES, s, v, r));
    assert_eq!(devices, [t.device as usize]);
}

#[test]
fn destructors_of_a_context_are_called_in_reverse_when_all_is_gone() {
    let t = Session::new();
    let calls = Calls::new();
    let context = t.another_context();
    for i in 0..3 {
        let send = calls.sender();
        let (call, data) = on_object(move |_| send.send(i).unwrap());
        ok(t.clSetContextDestructorCallback(context.h, call, data));
    }
    let mut code = 1;
    let buffer = t.clCreateBuffer(context.h, 0, 64, null_mut(), &mut code);
    ok(code);
    let buffer = Obj::mem(buffer);
    drop(context);
    assert!(calls.none(), "the buffer holds its context");
    drop(buffer);
    assert_eq!([calls.next(), calls.next(), calls.next()], [2, 1, 0]);
}

#[test]
fn the_context_of_an_object_stays_usable_while_the_object_is_there() {
    let t = Session::new();
    let context = t.another_context();
    let mut code = 1;
    let queue = t.clCreateCommandQueue(context.h, t.device, 0, &mut code);
    ok(code);
    let queue = Obj::queue(queue);
    let handle = context.release();
    let found: usize = info(|s, v, r| t.clGetCommandQueueInfo(queue.h, CL_QUEUE_CONTEXT, s, v, r));
    assert_eq!(found, handle as usize);
    let devices: u32 = info(|s, v, r| t.clGetContextInfo(handle, CL_CONTEXT_NUM_DEVICES, s, v, r));
    assert_eq!(devices, 1);
}

#[test]
fn errors_are_reported_to_the_callback_of_the_context() {
    let t = Session::new();
    let calls = Calls::new();
    let send = calls.sender();
    let (call, data) = on_error(move |text| send.send(text).unwrap_or_default());
    let mut code = 1;
    let context = Obj::context(t.clCreateContext(null(), 1, &t.device, call, data, &mut code));
    ok(code);
    if t.live().is_some() {
        assert!(t.clCreateBuffer(context.h, 0, 0, null_mut(), &mut code).is_null());
        let text = calls.next();
        assert!(text.contains("CL_INVALID_BUFFER_SIZE") && text.contains("clCreateBuffer"), "{text}");
    }
}

#[test]
fn bad_arguments_have_their_codes() {
    let t = Session::new();
    let mut c = Cases::new();
    let good = of_platform(t.platform);
    let (d, none) = (&raw const t.device, null::<isize>());
    let create = |p: *const isize, n, d: *const Handle, code| t.clCreateContext(p, n, d, None, null_mut(), code);
    c.new_object("null devices", CL_INVALID_VALUE, |e| create(none, 1, null(), e));
    c.new_object("no devices", CL_INVALID_VALUE, |e| create(none, 0, d, e));
    for (what, bad) in t.bad_handles(t.context()) {
        let devices = [t.device, bad];
        c.new_object(&format!("{what} as device"), CL_INVALID_DEVICE, |e| create(good.as_ptr(), 1, &bad, e));
        c.new_object(&format!("{what} as second"), CL_INVALID_DEVICE, |e| {
            create(good.as_ptr(), 2, devices.as_ptr(), e)
        });
        if t.ours() {
            let p = [CL_CONTEXT_PLATFORM, bad as isize, 0];
            c.new_object(&format!("{what} as platform"), CL_INVALID_PLATFORM, |e| create(p.as_ptr(), 1, d, e));
        }
    }
    c.new_object("unknown property", CL_INVALID_PROPERTY, |e| create([0x7777, 1, 0].as_ptr(), 1, d, e));
    let twice = [CL_CONTEXT_PLATFORM, t.platform as isize, CL_CONTEXT_PLATFORM, t.platform as isize, 0];
    c.new_object("platform twice", CL_INVALID_PROPERTY, |e| create(twice.as_ptr(), 1, d, e));
    let sync = [CL_CONTEXT_INTEROP_USER_SYNC, 7, 0];
    c.new_object("interop sync 7", CL_INVALID_PROPERTY, |e| create(sync.as_ptr(), 1, d, e));
    let data = c"x".as_ptr().cast_mut().cast();
    c.new_object("data without callback", CL_INVALID_VALUE, |e| t.clCreateContext(none, 1, d, None, data, e));

    let from = |p: *const isize, kind, data, code| t.clCreateContextFromType(p, kind, None, data, code);
    c.new_object("type 0", CL_INVALID_DEVICE_TYPE, |e| from(good.as_ptr(), 0, null_mut(), e));
    c.new_object("type 1<<40", CL_INVALID_DEVICE_TYPE, |e| from(good.as_ptr(), 1 << 40, null_mut(), e));
    let kind = CL_DEVICE_TYPE_ACCELERATOR;
    c.new_object("no accelerator", CL_DEVICE_NOT_FOUND, |e| from(good.as_ptr(), kind, null_mut(), e));
    c.new_object("type: data without callback", CL_INVALID_VALUE, |e| from(good.as_ptr(), CL_DEVICE_TYPE_ALL, data, e));
    let unknown = [CL_CONTEXT_PLATFORM, t.platform as isize, 0x7777, 1, 0];
    let all = CL_DEVICE_TYPE_ALL;
    c.new_object("type: unknown property", CL_INVALID_PROPERTY, |e| from(unknown.as_ptr(), all, null_mut(), e));

    for (what, bad) in t.bad_handles(t.queue()) {
        c.code(&format!("retain {what}"), CL_INVALID_CONTEXT, t.clRetainContext(bad));
        c.code(&format!("release {what}"), CL_INVALID_CONTEXT, t.clReleaseContext(bad));
        let ask = t.clGetContextInfo(bad, CL_CONTEXT_DEVICES, 0, null_mut(), null_mut());
        c.code(&format!("query {what}"), CL_INVALID_CONTEXT, ask);
    }
    c.query("context", CL_CONTEXT_DEVICES, |name, s, v, r| t.clGetContextInfo(t.context(), name, s, v, r));
    let set = |context, call| t.clSetContextDestructorCallback(context, call, null_mut());
    c.code("no destructor", CL_INVALID_VALUE, set(t.context(), None));
    let (call, _) = on_object(|_| ());
    c.code("destructor of null", CL_INVALID_CONTEXT, set(null_mut(), call));
    c.end();
}

#[test]
fn a_released_context_is_no_context_any_more() {
    let t = Session::new();
    if t.live().is_none() {
        return; // Other drivers read what is gone.
    }
    let gone = t.another_context().release();
    assert_eq!(t.clReleaseContext(gone), CL_INVALID_CONTEXT);
    assert_eq!(t.clRetainContext(gone), CL_INVALID_CONTEXT);
    let mut code = 0;
    assert!(t.clCreateBuffer(gone, 0, 8, null_mut(), &mut code).is_null());
    assert_eq!(code, CL_INVALID_CONTEXT);
}
