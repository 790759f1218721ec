//! The guard around every entry point: it catches panics, converts errors to codes, and reports them to the log and the
//! context.

use crate::args::Out;
use crate::dispatch::Slot;
use crate::handle::Handle;
use crate::{platform, wrapped};
use cloom_runtime::{Context, Error, Result, Status, log};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The function that is called.
#[derive(Clone, Copy)]
pub struct EntryPoint {
    pub name: &'static str,
    /// The dispatch table that it is in or beside.
    pub table: &'static [Slot],
}

/// Whether a call makes or enqueues something: such calls fail while there is no memory. All others help to get some
/// back, or need none.
fn begins_something(name: &str) -> bool {
    let gives_back = ["clEnqueueUnmapMemObject", "clEnqueueSVMUnmap", "clEnqueueSVMFree"].contains(&name);
    let begins = ["clCreate", "clEnqueue", "clBuild", "clCompile", "clLink", "clClone", "clCommand", "clSVMAlloc"];
    let allocates = ["clHostMemAlloc", "clDeviceMemAlloc", "clSharedMemAlloc"];
    !gives_back && begins.iter().chain(&allocates).any(|begin| name.starts_with(begin))
}

fn run<T>(
    EntryPoint { name, table }: EntryPoint,
    call: impl FnOnce() -> Result<T>,
    context: impl FnOnce() -> Option<Arc<Context>>,
) -> Result<T> {
    let result = catch_unwind(AssertUnwindSafe(|| {
        // Counted until the call returns, also by a panic: a fork meanwhile must not inherit what the call has locked.
        let _under_way = platform::begin_call(table);
        if wrapped::is_short() && begins_something(name) {
            return Err(Error::new(Status::OutOfHostMemory, "the system has no memory left"));
        }
        call()
    }));
    let result = result.unwrap_or_else(|panic| {
        // The destructor of a panic's payload may panic too, which must not unwind further.
        std::mem::forget(panic);
        Err(Error::new(Status::OutOfHostMemory, "Cloom failed; this is a bug of Cloom"))
    });
    if let Err(error) = &result {
        // Reporting runs Cloom's code and the application's callback: a panic there must not pass the C interface
        // either.
        let told = catch_unwind(AssertUnwindSafe(|| {
            log::error(name, error);
            platform::failed(name, error);
            if let Some(context) = context() {
                context.report(&Error::new(error.status, format!("{name}: {}", error.why)));
            }
        }));
        if let Err(panic) = told {
            std::mem::forget(panic);
        }
    }
    result
}

/// An entry point that returns a code.
pub fn int<T>(
    entry: EntryPoint,
    call: impl FnOnce() -> Result<T>,
    context: impl FnOnce() -> Option<Arc<Context>>,
) -> i32 {
    run(entry, call, context).map_or_else(|e| e.status.code(), |_| 0)
}

/// The return value of a failed entry point.
pub trait Null {
    const NULL: Self;
}

impl<T> Null for Handle<T> {
    const NULL: Self = Handle::NULL;
}

impl<T> Null for *mut T {
    const NULL: Self = std::ptr::null_mut();
}

impl Null for () {
    const NULL: Self = ();
}

impl Null for usize {
    const NULL: Self = 0;
}

/// An entry point that returns an object, with the code in its last argument.
pub fn new<T: Null>(
    entry: EntryPoint,
    code: Out<i32>,
    call: impl FnOnce() -> Result<T>,
    context: impl FnOnce() -> Option<Arc<Context>>,
) -> T {
    match run(entry, call, context) {
        Ok(value) => {
            // Written on success too: applications do not initialise the variable.
            code.set(0);
            value
        }
        Err(e) => {
            code.set(e.status.code());
            T::NULL
        }
    }
}

/// An entry point that may return an object even if it fails.
pub fn object_and_code<T: Null>(
    entry: EntryPoint,
    code: Out<i32>,
    call: impl FnOnce() -> (Option<T>, Result<()>),
    context: impl FnOnce() -> Option<Arc<Context>>,
) -> T {
    let mut object = None;
    let result = run(
        entry,
        || {
            let (made, result) = call();
            object = made;
            result
        },
        context,
    );
    code.set(result.map_or_else(|e| e.status.code(), |()| 0));
    object.unwrap_or(T::NULL)
}

/// An entry point that returns a pointer and has no code.
pub fn pointer_result<T: Null>(
    entry: EntryPoint,
    call: impl FnOnce() -> Result<T>,
    context: impl FnOnce() -> Option<Arc<Context>>,
) -> T {
    run(entry, call, context).unwrap_or(T::NULL)
}
