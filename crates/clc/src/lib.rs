//! The OpenCL C front end: preprocessor, parser, semantic analysis, lowering to IR.
//!
//! No stage fails or panics: each gives its result, as complete as possible, and adds its diagnostics to the
//! [`source::Session`]. There is no input or output here; included files come through a trait.

#![forbid(unsafe_code)]

mod compile;
mod lower;
pub mod options;
pub mod pp;
pub mod sema;
pub mod source;
pub mod syntax;

pub use compile::{Input, Mode, Output, Target, compile, fast_math};
pub use source::render;

/// Runs a part of the front end with a stack that no accepted program can exhaust, on any thread: threads of
/// applications may have small stacks, and the stages recurse over trees (whose depth the parser bounds).
pub fn with_deep_stack<T: Send>(f: impl FnOnce() -> T + Send) -> T {
    const BYTES: usize = 64 << 20;
    // Kept outside of the thread, so that the work is not lost if there can be no thread.
    let mut work = Some(f);
    let mut result = None;
    std::thread::scope(|scope| {
        let run = || result = work.take().map(|f| f());
        let name = "cloom-clc".to_owned();
        if let Ok(thread) = std::thread::Builder::new().name(name).stack_size(BYTES).spawn_scoped(scope, run)
            && let Err(panic) = thread.join()
        {
            std::panic::resume_unwind(panic);
        }
    });
    match (result, work) {
        (Some(result), _) => result,
        (None, Some(f)) => f(),
        // The work was taken, so it ran to its end or its panic was passed on.
        (None, None) => unreachable!("the work was neither done nor left"),
    }
}
