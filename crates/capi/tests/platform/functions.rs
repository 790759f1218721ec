//! Every function of the specification, from the list in `functions.txt`: a function of a version is exported; one of
//! an extension has an address if the extension is advertised, and else none. What graphics or Windows would have to
//! offer answers with the error that the specification names. Loaders find their own functions, and their place in
//! objects.

#![allow(unsafe_code, reason = "it calls the C interface")]
#![allow(non_snake_case, reason = "the specification's names")]

#[path = "../common/mod.rs"]
mod common;
use common::*;
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_void};

const LIST: &str = include_str!("functions.txt");

/// Version or extension, and name.
fn list() -> impl Iterator<Item = (&'static str, &'static str)> {
    LIST.lines().filter(|line| !line.starts_with('#')).map(|line| line.split_once(' ').expect("two words"))
}

fn advertised(t: &Session) -> Vec<String> {
    let platform = text(|s, v, r| t.clGetPlatformInfo(t.platform, CL_PLATFORM_EXTENSIONS, s, v, r));
    let device = text(|s, v, r| t.clGetDeviceInfo(t.device, CL_DEVICE_EXTENSIONS, s, v, r));
    format!("{platform} {device}").split(' ').map(str::to_owned).collect()
}

fn address(t: &Session, name: &str) -> *const c_void {
    let name = CString::new(name).unwrap();
    t.clGetExtensionFunctionAddressForPlatform(t.platform, name.as_ptr()).cast_const()
}

#[test]
fn every_function_of_a_version_is_exported() {
    let t = Session::new();
    if !t.ours() {
        return; // The loader exports what it knows.
    }
    let library = load::library();
    let core: Vec<&str> = list().filter(|(of, _)| !of.starts_with("cl_")).map(|(_, name)| name).collect();
    assert_eq!(core.len(), 115);
    let exported = |name: &str| load::symbol::<*const c_void>(&library, &format!("{name}\0")).is_some();
    let missing: Vec<&str> = core.into_iter().filter(|name| !exported(name) || address(&t, name).is_null()).collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn functions_of_extensions_have_addresses_if_these_are_advertised() {
    let t = Session::new();
    if !t.ours() {
        return;
    }
    let advertised = advertised(&t);
    let mut wrong = Vec::new();
    for (extension, name) in list().filter(|(of, _)| of.starts_with("cl_")) {
        let is_there = advertised.iter().any(|e| e == extension);
        if is_there == address(&t, name).is_null() {
            wrong.push((extension, name, is_there));
        }
    }
    assert_eq!(wrong, []);
}

#[test]
fn sharing_with_graphics_is_refused_with_its_codes() {
    let t = Session::new();
    if !t.ours() {
        return;
    }
    let library: Library = load::library();
    macro_rules! graphics {
        ($($name:ident: fn($($ty:ty),*) -> $ret:ty;)*) => {
            $(let $name = load::symbol::<unsafe extern "C" fn($($ty),*) -> $ret>(&library, concat!(stringify!($name), "\0"))
                .expect(stringify!($name));)*
        };
    }
    graphics! {
        clCreateFromGLBuffer: fn(Handle, u64, u32, *mut i32) -> Handle;
        clCreateFromGLTexture: fn(Handle, u64, u32, i32, u32, *mut i32) -> Handle;
        clCreateFromGLTexture2D: fn(Handle, u64, u32, i32, u32, *mut i32) -> Handle;
        clCreateFromGLTexture3D: fn(Handle, u64, u32, i32, u32, *mut i32) -> Handle;
        clCreateFromGLRenderbuffer: fn(Handle, u64, u32, *mut i32) -> Handle;
        clGetGLObjectInfo: fn(Handle, *mut u32, *mut u32) -> i32;
        clGetGLTextureInfo: fn(Handle, u32, usize, Handle, *mut usize) -> i32;
        clEnqueueAcquireGLObjects: fn(Handle, u32, *const Handle, u32, *const Handle, *mut Handle) -> i32;
        clEnqueueReleaseGLObjects: fn(Handle, u32, *const Handle, u32, *const Handle, *mut Handle) -> i32;
        clEnqueueAcquireEGLObjectsKHR: fn(Handle, u32, *const Handle, u32, *const Handle, *mut Handle) -> i32;
        clEnqueueReleaseEGLObjectsKHR: fn(Handle, u32, *const Handle, u32, *const Handle, *mut Handle) -> i32;
        clGetGLContextInfoKHR: fn(*const isize, u32, usize, Handle, *mut usize) -> i32;
        clCreateFromEGLImageKHR: fn(Handle, Handle, Handle, u64, *const isize, *mut i32) -> Handle;
        clCreateEventFromEGLSyncKHR: fn(Handle, Handle, Handle, *mut i32) -> Handle;
        clCreateEventFromGLsyncKHR: fn(Handle, Handle, *mut i32) -> Handle;
    }
    let (gl_object, egl_object, sharegroup) = (CL_INVALID_GL_OBJECT, -1093, -1000);
    let mut c = Cases::new();
    let (context, queue, buffer) = (t.context(), t.queue(), t.buffer(0, 64));
    let (n, no) = (null::<Handle>(), null_mut::<Handle>());
    let none: Handle = null_mut();
    // SAFETY: here and below, the signatures are the specification's, and each pointer is null or to what it says.
    unsafe {
        c.new_object("a buffer", CL_INVALID_CONTEXT, |e| clCreateFromGLBuffer(context, 0, 1, e));
        c.new_object("its flags", CL_INVALID_VALUE, |e| clCreateFromGLBuffer(context, CL_MEM_USE_HOST_PTR, 1, e));
        c.new_object("its context", CL_INVALID_CONTEXT, |e| clCreateFromGLBuffer(queue, 0, 1, e));
        c.new_object("a renderbuffer", CL_INVALID_CONTEXT, |e| clCreateFromGLRenderbuffer(context, 0, 1, e));
        for texture in [clCreateFromGLTexture, clCreateFromGLTexture2D, clCreateFromGLTexture3D] {
            c.new_object("a texture", CL_INVALID_CONTEXT, |e| texture(context, 0, 0xDE1, 0, 1, e));
        }
        c.new_object("a sync object", CL_INVALID_CONTEXT, |e| clCreateEventFromGLsyncKHR(context, none, e));
        c.new_object("a sync of EGL", CL_INVALID_CONTEXT, |e| clCreateEventFromEGLSyncKHR(context, none, none, e));
        c.new_object("an image of EGL", egl_object, |e| clCreateFromEGLImageKHR(context, none, none, 0, null(), e));
        c.code("an object", gl_object, clGetGLObjectInfo(buffer.h, null_mut(), null_mut()));
        c.code("no object", CL_INVALID_MEM_OBJECT, clGetGLObjectInfo(queue, null_mut(), null_mut()));
        c.code("a texture's info", gl_object, clGetGLTextureInfo(buffer.h, 0x2004, 4, none, null_mut()));
        for (graphics, wanted) in [
            (clEnqueueAcquireGLObjects, CL_INVALID_CONTEXT),
            (clEnqueueReleaseGLObjects, CL_INVALID_CONTEXT),
            (clEnqueueAcquireEGLObjectsKHR, egl_object),
            (clEnqueueReleaseEGLObjectsKHR, egl_object),
        ] {
            c.code("objects", wanted, graphics(queue, 1, &buffer.h, 0, n, no));
            c.code("on no queue", CL_INVALID_COMMAND_QUEUE, graphics(context, 1, &buffer.h, 0, n, no));
            c.code("1 of none", CL_INVALID_VALUE, graphics(queue, 1, n, 0, n, no));
            c.code("0 of one", CL_INVALID_VALUE, graphics(queue, 0, &buffer.h, 0, n, no));
            c.code("a queue as object", CL_INVALID_MEM_OBJECT, graphics(queue, 1, &queue, 0, n, no));
            c.code("a null wait list", CL_INVALID_EVENT_WAIT_LIST, graphics(queue, 1, &buffer.h, 1, n, no));
        }
        let about = |list: &[isize], name| clGetGLContextInfoKHR(list.as_ptr(), name, 8, none, null_mut());
        c.code("a context", sharegroup, about(&[0x2008, 1, 0x200A, 1, 0], 0x2006));
        c.code("its devices", sharegroup, about(&[0x2008, 1, 0], 0x2007));
        c.code("its name", CL_INVALID_VALUE, about(&[0x2008, 1, 0], 0x2005));
        c.code("a wrong property", CL_INVALID_VALUE, about(&[0x1234, 1, 0], 0x2006));
        // A context of graphics is not made to begin with.
        let list = [0x2008isize, 1, 0];
        c.new_object("a context from OpenGL's", CL_INVALID_PROPERTY, |e| {
            t.clCreateContext(list.as_ptr(), 1, &t.device, None, null_mut(), e)
        });
    }
    c.end();
    t.finish();
}

#[test]
fn a_loader_may_keep_a_word_with_each_object() {
    let t = Session::new();
    if !t.ours() {
        return;
    }
    let library = load::library();
    type Find = unsafe extern "C" fn(Handle, *const c_char) -> *const c_void;
    type SetData = unsafe extern "C" fn(Handle, Handle) -> i32;
    let find = load::symbol::<Find>(&library, "clIcdGetFunctionAddressForPlatformKHR\0").unwrap();
    let set = load::symbol::<SetData>(&library, "clIcdSetPlatformDispatchDataKHR\0").unwrap();
    // SAFETY: the signatures are the specification's.
    let (find, set) = unsafe {
        let find = |platform, name: &CStr| find(platform, name.as_ptr());
        (move |platform, name: &CStr| find(platform, name), move |platform, data| set(platform, data))
    };
    for name in
        [c"clGetPlatformIDs", c"clUnloadCompiler", c"clCreateFromGLBuffer", c"clGetKernelSuggestedLocalWorkSize"]
    {
        assert!(!find(t.platform, name).is_null(), "{name:?}");
    }
    assert!(find(t.platform, c"clNoSuchFunction").is_null() && find(t.context(), c"clFinish").is_null());
    let before = t.buffer(0, 64);
    let mut words = [0u64; 2];
    let data: Handle = words.as_mut_ptr().cast();
    assert_eq!(set(t.context(), data), CL_INVALID_PLATFORM);
    // Two words, which loaders read and write.
    // SAFETY: handles are alive, and begin with a dispatch table and the loader's word.
    let head = |h: Handle| unsafe { *h.cast::<[usize; 2]>() };
    assert_eq!(head(t.platform)[1], 0);
    ok(set(t.platform, data));
    let after = t.buffer(0, 64);
    for h in [t.platform, t.device, t.context(), t.queue(), before.h, after.h] {
        assert_eq!(head(h), [head(t.platform)[0], data.addr()]);
    }
    // The tag stands where loaders of version 2 look for it.
    // SAFETY: the table has 150 words.
    let table = unsafe { *(head(t.platform)[0] as *const [usize; 150]) };
    assert_eq!((table[0], table[31]), (0x4F50_454E_434C_3331, 0x4F50_454E_434C_3331));
    assert!(table[46] != table[0] && table[149] != 0);
    ok(set(t.platform, null_mut()));
    t.finish();
}
