//! Recorded launches: a kernel with the arguments of the moment when it was recorded, over a range, ready to run any
//! number of times.
//!
//! Everything that a launch looks up is looked up here once: the code for the range, the groups, and the argument
//! block. What is left for each run is to hand them to the device. A recorded launch does not change; an update makes
//! another one, so that a run that is under way keeps what it began with.

use crate::graph::packed::Packed;
use crate::launch::placement::may_run_inline;
use crate::launch::submit::run_here;
use crate::{Device, Kernel, Queue, RangeInput, Result};
use cloom_hal as hal;
use std::sync::Arc;

/// A recorded launch.
pub(crate) struct Dispatch {
    /// The kernel with the arguments; nobody else has this one, and nobody sets its arguments any more.
    pub kernel: Arc<Kernel>,
    /// The sizes, as they were given.
    pub input: RangeInput,
    form: Form,
}

/// What there is to run.
#[allow(clippy::large_enum_variant, reason = "almost all are ready, and a run looks at each of them")]
enum Form {
    /// Nothing yet: an argument is missing.
    Incomplete,
    /// Nothing: the range is empty.
    Empty,
    Ready(Ready),
}

struct Ready {
    loaded: Arc<dyn hal::Kernel>,
    range: hal::NdRange,
    packed: Packed,
}

impl Dispatch {
    /// Records a launch of a kernel, whose arguments must not change any more. Compiles its code if nobody has. If
    /// arguments are missing, that is an error, unless they `may_follow` later.
    pub fn new(queue: &Queue, kernel: Arc<Kernel>, input: RangeInput, may_follow: bool) -> Result<Dispatch> {
        let (code, range) = queue.settled(&kernel, &input)?;
        let complete = kernel.check_args();
        let form = match range {
            _ if complete.is_err() => {
                if !may_follow {
                    complete?;
                }
                Form::Incomplete
            }
            None => Form::Empty,
            Some(range) => {
                let loaded = code.loaded_for(&range)?;
                let mut packed = Packed::default();
                queue.pack(&kernel, &*loaded, &range, &mut packed)?;
                Form::Ready(Ready { loaded, range, packed })
            }
        };
        // It may borrow the kernel, which moves into the result.
        drop(code);
        Ok(Dispatch { kernel, input, form })
    }

    /// Whether all arguments are set.
    pub fn is_complete(&self) -> bool {
        !matches!(self.form, Form::Incomplete)
    }

    /// Whether it may run on a thread of the application, if it is short. The conditions are those of a launch of its
    /// own.
    pub fn may_run_inline(&self) -> bool {
        let Form::Ready(ready) = &self.form else { return true };
        may_run_inline(ready.loaded.artifact(), &ready.packed)
    }

    /// Whether all groups have the same size.
    pub fn is_uniform(&self) -> bool {
        let Form::Ready(ready) = &self.form else { return true };
        ready.range.global.iter().zip(ready.range.local).all(|(global, local)| global.is_multiple_of(local))
    }

    /// Runs it to its end on this thread. Threads that wait for the queue of this number may assist.
    pub fn run(&self, device: &Device, queue: u64) -> Result<()> {
        match &self.form {
            Form::Ready(ready) => run_here(device, &*ready.loaded, ready.range, &ready.packed, queue),
            Form::Empty | Form::Incomplete => Ok(()),
        }
    }
}
