//! Submitting a launch to a device: with its output, the code of the next tier and the kernels that it enqueues.

use super::children::Family;
use crate::graph::packed::Packed;
use crate::graph::pending::outcome;
use crate::graph::print::{Printed, Printer};
use crate::status::bail;
use crate::{Device, KernelCode, Queue, Result};
use cloom_hal as hal;
use std::sync::Arc;
use std::time::Duration;

/// Appends a launch to the last one of its queue. False if that cannot be.
pub(super) fn append(queue: &Queue, kernel: &Arc<dyn hal::Kernel>, range: hal::NdRange, packed: &Packed) -> bool {
    let device = queue.device();
    let printer = Printer { device, kernel: &**kernel, printed: Printed::default() };
    let launch = hal::Launch {
        kernel: &**kernel,
        range,
        args: &packed.block,
        local_size: packed.local_size,
        zero_local: packed.zero_local,
        print: &printer,
        device: None,
        // `Placement::of` appends no launch of baseline code, so that no better code is on its way.
        tier_up: None,
        queue: queue.id(),
        timed: false,
    };
    queue.append(kernel, packed, &launch)
}

/// What becomes of a launch that was submitted.
pub(super) enum Running {
    /// It has ended.
    Ended,
    /// It ended at this time, and what it enqueued has ended too.
    Parent(u64),
    /// It is still running on a device.
    Pending(Box<dyn hal::Pending>),
}

/// Submits a launch. Returns it with its output so far, if it is still running. `code` is given for code of the
/// baseline tier: it provides the tier-up code.
pub(super) fn submit(
    device: &Device,
    kernel: &dyn hal::Kernel,
    range: hal::NdRange,
    packed: &Packed,
    code: Option<&KernelCode>,
    queue: u64,
    timed: bool,
) -> Result<(Running, Printed)> {
    let printer = Printer { device, kernel, printed: Printed::default() };
    let optimised = code.map(|code| Optimised { code, range });
    let tier_up = optimised.as_ref().map(|o| o as &dyn hal::TierUp);
    let (args, local_size) = (&packed.block, packed.local_size);
    // Not when the arguments are packed: a migration is a part of the command, after the commands before it.
    packed.make_resident()?;
    let zero_local = packed.zero_local;
    // A family only for kernels that may enqueue: `pack` has left `blocks` empty for all others.
    let family = packed.blocks.as_ref().map(|(context, blocks)| Family::new(context, device, blocks, queue));
    let parent = family.as_ref().map(Family::root);
    let launch = hal::Launch {
        kernel,
        range,
        args,
        local_size,
        zero_local,
        print: &printer,
        device: parent.as_ref().map(|p| p as &dyn hal::DeviceCalls),
        tier_up,
        queue,
        timed,
    };
    let engine = device.engine();
    let watch = packed.stop.as_ref().map(|word| engine.watchdog.watch(word, engine.hooks.time_limit));
    let result = device.hal().submit(&launch);
    drop(watch);
    if packed.stop.as_ref().is_some_and(|word| word.is_set()) {
        printer.printed.flush(device, kernel);
        let limit = engine.hooks.time_limit;
        bail!(OutOfResources, "kernel `{}` did not end within {limit:?}, and was ended", kernel.artifact().name);
    }
    match result {
        Ok(hal::Completion::Pending(pending)) => Ok((Running::Pending(pending), printer.printed)),
        Ok(hal::Completion::Done) => {
            printer.printed.flush(device, kernel);
            let Some(family) = &family else { return Ok((Running::Ended, printer.printed)) };
            // The kernel has ended here; its children count for CL_PROFILING_COMMAND_COMPLETE only.
            let end = device.engine().now();
            family.run()?;
            Ok((Running::Parent(end), printer.printed))
        }
        Err(error) => {
            // Also after a failure: what the kernel printed before it often tells the reason.
            printer.printed.flush(device, kernel);
            outcome(Err(error)).map(|()| (Running::Ended, printer.printed))
        }
    }
}

/// The optimised code of a launch that begins with baseline code.
struct Optimised<'a> {
    code: &'a KernelCode,
    range: hal::NdRange,
}

impl hal::TierUp for Optimised<'_> {
    fn code(&self) -> Option<Arc<dyn hal::Kernel>> {
        self.code.made_for(&self.range)
    }

    fn remaining(&self) -> Duration {
        self.code.tier_up_remaining()
    }

    fn is_crowded(&self) -> bool {
        self.code.is_crowded()
    }

    fn take_over(&self) {
        self.code.take_over_tier_up();
    }

    fn wait(&self, limit: Duration) {
        self.code.wait_for_tier_up(limit);
    }
}

/// Runs a launch to its end on this thread. Threads that wait for the queue of this number may assist.
pub(crate) fn run_here(
    device: &Device,
    kernel: &dyn hal::Kernel,
    range: hal::NdRange,
    packed: &Packed,
    queue: u64,
) -> Result<()> {
    let (running, printed) = submit(device, kernel, range, packed, None, queue, false)?;
    let Running::Pending(pending) = running else { return Ok(()) };
    let printer = Printer { device, kernel, printed };
    let result = pending.wait(&printer);
    printer.printed.flush(device, kernel);
    outcome(result)
}
