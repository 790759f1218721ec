//! Closures as the callbacks of the interface.

use super::Handle;
use super::api::{ErrorFn, EventFn, NativeFn, ObjectFn};
use std::ffi::{CStr, c_char, c_void};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// The arguments of callbacks, in the order of the calls.
pub struct Calls<T> {
    send: Sender<T>,
    receive: Receiver<T>,
}

impl<T> Calls<T> {
    pub fn new() -> Calls<T> {
        let (send, receive) = channel();
        Calls { send, receive }
    }

    pub fn sender(&self) -> Sender<T> {
        self.send.clone()
    }

    /// The next one, with a generous timeout.
    #[track_caller]
    pub fn next(&self) -> T {
        match self.receive.recv_timeout(Duration::from_secs(20)) {
            Ok(value) => value,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => panic!("no callback came"),
        }
    }

    /// Checks, after a moment, that none came.
    pub fn none(&self) -> bool {
        self.receive.recv_timeout(Duration::from_millis(30)).is_err()
    }
}

type OnEvent = Box<dyn FnOnce(usize, i32) + Send>;
type OnObject = Box<dyn FnOnce(usize) + Send>;
type OnError = Box<dyn Fn(String) + Send + Sync>;
type OnNative = Box<dyn Fn(*mut c_void) + Send + Sync>;

unsafe extern "C" fn event(handle: Handle, status: i32, data: *mut c_void) {
    // SAFETY: `on_event` made it; an event calls back once.
    let call = unsafe { Box::from_raw(data.cast::<OnEvent>()) };
    call(handle as usize, status);
}

/// A callback of an event: once.
pub fn on_event(call: impl FnOnce(usize, i32) + Send + 'static) -> (Option<EventFn>, *mut c_void) {
    (Some(event), Box::into_raw(Box::new(Box::new(call) as OnEvent)).cast())
}

unsafe extern "C" fn object(handle: Handle, data: *mut c_void) {
    // SAFETY: `on_object` made it; builds and destructors call back once.
    let call = unsafe { Box::from_raw(data.cast::<OnObject>()) };
    call(handle as usize);
}

/// A callback of a build or of an object's end: once.
pub fn on_object(call: impl FnOnce(usize) + Send + 'static) -> (Option<ObjectFn>, *mut c_void) {
    (Some(object), Box::into_raw(Box::new(Box::new(call) as OnObject)).cast())
}

unsafe extern "C" fn error(text: *const c_char, _: *const c_void, _: usize, data: *mut c_void) {
    // SAFETY: `on_error` made it and never frees it; the driver passes a string.
    unsafe { (*data.cast::<OnError>())(CStr::from_ptr(text).to_string_lossy().into_owned()) };
}

/// The callback of a context: any number of times.
pub fn on_error(call: impl Fn(String) + Send + Sync + 'static) -> (Option<ErrorFn>, *mut c_void) {
    (Some(error), Box::into_raw(Box::new(Box::new(call) as OnError)).cast())
}

unsafe extern "C" fn native(args: *mut c_void) {
    // SAFETY: the first argument is the pointer to a closure that `on_native` made and that is never freed.
    unsafe { (**args.cast::<*const OnNative>())(args) };
}

/// A native kernel: the function and the first word of its arguments.
pub fn on_native(call: impl Fn(*mut c_void) + Send + Sync + 'static) -> (Option<NativeFn>, usize) {
    (Some(native), Box::into_raw(Box::new(Box::new(call) as OnNative)) as usize)
}
