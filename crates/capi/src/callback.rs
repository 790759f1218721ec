//! Callbacks to the application.

use crate::args::UserData;
use crate::handle::{Handle, Object};
use cloom_runtime::{Error, ErrorCallback, NativeFunction, Queue, Result, Status, SvmFree};
use std::ffi::{CString, c_char, c_void};
use std::ptr;

/// `pfn_notify` of a context.
pub type ContextNotify = unsafe extern "C" fn(*const c_char, *const c_void, usize, *mut c_void);
/// `pfn_notify` of an object: a build has ended, or the object is gone.
pub type ObjectNotify = unsafe extern "C" fn(*mut c_void, *mut c_void);
/// `pfn_notify` of an event.
pub type EventNotify = unsafe extern "C" fn(*mut c_void, i32, *mut c_void);
/// `pfn_free_func` of `clEnqueueSVMFree`.
pub type SvmNotify = unsafe extern "C" fn(*mut c_void, u32, *mut *mut c_void, *mut c_void);
/// A native kernel.
pub type NativeFn = unsafe extern "C" fn(*mut c_void);

/// Wraps a context's callback for errors.
pub fn context(notify: ContextNotify, user_data: UserData) -> ErrorCallback {
    Box::new(move |message| {
        let message: Vec<u8> = message.bytes().filter(|&b| b != 0).collect();
        let Ok(message) = CString::new(message) else { return };
        // SAFETY: the function and its data are the application's, which promised that they may be called like this.
        unsafe { notify(message.as_ptr(), ptr::null(), 0, user_data.pointer()) }
    })
}

/// Wraps a callback that gets an object's handle.
pub fn object<T: Object>(handle: Handle<T>, notify: ObjectNotify, user_data: UserData) -> Box<dyn FnOnce() + Send> {
    Box::new(move || {
        // SAFETY: the function and its data are the application's, which promised that they may be called like this.
        unsafe { notify(handle.pointer(), user_data.pointer()) }
    })
}

/// Wraps a callback that gets an event's status.
pub fn event<T: Object>(handle: Handle<T>, notify: EventNotify, user_data: UserData) -> Box<dyn FnOnce(i32) + Send> {
    Box::new(move |status| {
        // SAFETY: the function and its data are the application's, which promised that they may be called like this.
        unsafe { notify(handle.pointer(), status, user_data.pointer()) }
    })
}

/// Wraps a callback that frees shared memory.
pub fn svm_free(queue: Handle<Queue>, notify: SvmNotify, user_data: UserData) -> SvmFree {
    Box::new(move |addresses| {
        let mut pointers: Vec<*mut c_void> = addresses.into_iter().map(ptr::with_exposed_provenance_mut).collect();
        // SAFETY: the function and its data are the application's, which promised that they may be called like this.
        unsafe { notify(queue.pointer(), pointers.len() as u32, pointers.as_mut_ptr(), user_data.pointer()) }
    })
}

/// Wraps a native kernel with its argument block, in which the given offsets are set to the addresses of buffers.
pub fn native(function: NativeFn, mut block: Vec<u64>, places: Vec<usize>) -> NativeFunction {
    Box::new(move |addresses| {
        let base: *mut u8 = block.as_mut_ptr().cast();
        for (place, address) in places.iter().zip(addresses) {
            let pointer = ptr::with_exposed_provenance_mut::<c_void>(*address);
            // SAFETY: a pointer at each offset lies inside of the block, which the caller has checked.
            unsafe { ptr::write_unaligned(base.add(*place).cast(), pointer) };
        }
        // SAFETY: the function is the application's, which promised that it may be called with such a block.
        unsafe { function(base.cast()) }
    })
}

/// Checks a callback and its user data; without a function there must be no data.
pub fn pair<F>(notify: Option<F>, user_data: UserData) -> Result<Option<F>> {
    if notify.is_none() && !user_data.is_null() {
        return Err(Error::new(Status::InvalidValue, "user_data without a callback"));
    }
    Ok(notify)
}

/// Checks a callback that must not be null.
pub fn needed<F>(notify: Option<F>) -> Result<F> {
    notify.ok_or_else(|| Error::new(Status::InvalidValue, "the callback is NULL"))
}
