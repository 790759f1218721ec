//! A stack for recursion over trees, on threads of any kind.

use crate::syntax::Depth;

/// Runs a part of the front end with a stack that no accepted program can exhaust, on any thread: threads of
/// applications may have small stacks, and the stages recurse over trees. The function is told how deep these may be:
/// where there is no memory for a large stack, less.
pub fn with_deep_stack<T: Send>(f: impl FnOnce(Depth) -> T + Send) -> T {
    // Kept outside of the thread, so that the work is not lost if there can be no thread.
    let mut work = Some(f);
    let mut result = None;
    // A thread of its own: nobody knows how much stack the calling thread has left.
    for (bytes, depth) in [(Depth::DEEP_STACK, Depth::DEEP), (64 << 20, Depth::SHALLOW)] {
        std::thread::scope(|scope| {
            let run = || result = work.take().map(|f| f(depth));
            let name = "cloom-clc".to_owned();
            if let Ok(thread) = std::thread::Builder::new().name(name).stack_size(bytes).spawn_scoped(scope, run)
                && let Err(panic) = thread.join()
            {
                std::panic::resume_unwind(panic);
            }
        });
        if work.is_none() {
            break;
        }
    }
    match (result, work) {
        (Some(result), _) => result,
        (None, Some(f)) => f(Depth::SHALLOW),
        // The work was taken, so it ran to its end or its panic was passed on.
        (None, None) => unreachable!("the work was neither done nor left"),
    }
}
