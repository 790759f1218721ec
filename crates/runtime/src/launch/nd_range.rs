//! Enqueuing kernels over a range: resolves the code and the range, packs the arguments, and places the launch.
//!
//! A short launch that waits for nothing runs at once on the calling thread, without a command and an event; any other
//! launch is a command of the queue.

use super::placement::{LaunchTraits, Placement, may_run_inline};
use super::range::{GroupRules, RangeInput, settle};
use super::submit::{Running, append, run_here, submit};
use crate::graph::event::Profiling;
use crate::graph::execute::{Progress, attempt, failure};
use crate::graph::packed::Packed;
use crate::graph::pending::PendingLaunch;
use crate::status::{bail, ensure};
use crate::thread_exit;
use crate::{CommandType, Event, Kernel, KernelCode, Queue, QueueFlags, Result};
use cloom_hal as hal;
use std::borrow::Cow;
use std::sync::Arc;

impl Queue {
    /// The kernel's code for this queue, and the range; `None` when there is nothing to run.
    pub(crate) fn settled<'k>(
        &self,
        kernel: &'k Kernel,
        input: &RangeInput,
    ) -> Result<(Cow<'k, Arc<KernelCode>>, Option<hal::NdRange>)> {
        let same = Arc::ptr_eq(kernel.program().context(), self.context());
        ensure!(same, InvalidContext, "the kernel is of another context than the queue");
        let code = kernel.code_for_launch(self.device())?.specialised(kernel.arg_states(self.space()));
        let meta = kernel.meta();
        let rules = GroupRules::of(meta, self.device());
        // Only a choice among several dimensions depends on the order, and asking for it may compile code.
        let chosen = input.local.is_none() && input.work_dim > 1;
        let dim_order = if chosen { code.dim_order()? } else { [0, 1, 2] };
        Ok((code, settle(input, &rules, dim_order)?))
    }

    // OpenCL 3.1 API, 5.9: Kernel Objects.
    /// The local size of a launch that leaves it open. Dimensions that are not used are 1.
    pub fn suggested_local_size(&self, kernel: &Kernel, input: &RangeInput) -> Result<[u64; 3]> {
        let open = RangeInput { local: None, ..*input };
        let (_, range) = self.settled(kernel, &open)?;
        kernel.check_args()?;
        let Some(range) = range else {
            bail!(InvalidGlobalWorkSize, "the global size is NULL, or 0 in a dimension");
        };
        Ok(range.local)
    }

    /// Packs the arguments of a launch of this code. Checks that the device has room for a group. Of the shortest
    /// launches, moving [`Packed`] took a twentieth.
    pub(crate) fn pack(
        &self,
        kernel: &Kernel,
        loaded: &dyn hal::Kernel,
        range: &hal::NdRange,
        packed: &mut Packed,
    ) -> Result<()> {
        kernel.pack(loaded.artifact(), self, packed)?;
        if loaded.artifact().enqueues {
            let blocks = kernel.code_for_launch(self.device())?.blocks().cloned();
            packed.blocks = blocks.map(|blocks| (self.context().clone(), blocks));
        }
        let limit = self.device().local_memory();
        ensure!(
            packed.local_size <= limit,
            OutOfResources,
            "kernel `{}` needs {} bytes of local memory, a group has {limit}",
            kernel.name(),
            packed.local_size
        );
        let (group, most) = (range.local.iter().product::<u64>(), loaded.max_group_size());
        ensure!(
            group <= most,
            OutOfResources,
            "a group of {group} work-items of kernel `{}` needs more registers or memory across barriers than there are; {most} fit",
            kernel.name()
        );
        Ok(())
    }

    // OpenCL 3.0 API, 5.10: Executing Kernels.
    /// Enqueues a kernel over a range. Returns the event if it is wanted.
    pub fn launch(
        self: &Arc<Queue>,
        kind: CommandType,
        kernel: &Arc<Kernel>,
        input: &RangeInput,
        wait: &[Arc<Event>],
        wanted: bool,
    ) -> Result<Option<Arc<Event>>> {
        if self.context().engine().checker().is_some()
            && let Some(event) = self.launch_checked(kind, kernel, input, wait)
        {
            return event.map(Some);
        }
        let (code, range) = self.settled(kernel, input)?;
        let code = &*code;
        let Some(range) = range else {
            kernel.check_args()?;
            // An empty range: nothing to run, but a command with an event.
            return self.enqueue(kind, wait, false, Box::new(|| Ok(Progress::Done))).map(Some);
        };
        // Profiling should measure the optimised code.
        let measures = self.flags().contains(QueueFlags::PROFILING);
        let baseline = if measures { None } else { code.baseline_for(&range) };
        let is_baseline = baseline.is_some();
        let loaded = match baseline {
            Some(baseline) => baseline,
            None if measures => code.loaded_for(&range)?,
            None => code.loaded_now(&range)?,
        };
        let mut packed = Packed::default();
        self.pack(kernel, &*loaded, &range, &mut packed)?;
        // The number of work-items does not overflow if the number of groups does not; else the launch is not short.
        let items = range.global.iter().try_fold(1u64, |a, &b| a.checked_mul(b)).unwrap_or(u64::MAX);
        let is_short = || code.cost().expect(items).is_some_and(|time| self.is_short(time));
        let placement = Placement::of(
            LaunchTraits {
                on_host: self.device().runs_on_host(),
                may_run_inline: may_run_inline(loaded.artifact(), &packed),
                is_baseline,
                thread_ends: thread_exit::is_exiting(),
                streams: self.streams(),
                wanted,
                measures,
                waits: !wait.is_empty(),
                shares: packed.shares,
            },
            is_short,
        );
        // If an earlier command is not short, the launch is enqueued after it, with the policy of its placement.
        if placement == Placement::Inline {
            let short = Short { queue: self, code, items, kind, wanted };
            if let Some(done) = short.run(wait, || run_here(self.device(), &*loaded, range, &packed, 0))? {
                return Ok(done);
            }
        }
        // If it cannot be appended, it begins a new open launch.
        if placement == Placement::Appended && append(self, &loaded, range, &packed) {
            return Ok(None);
        }
        let (device, kernel, queue) = (self.device().clone(), loaded.clone(), self.id());
        let tier_up = is_baseline.then(|| code.clone());
        // What baseline code takes says nothing of later launches, and only the host's cores run short ones at once.
        let measured = (!is_baseline && self.device().runs_on_host()).then(|| (code.clone(), items));
        let work = Box::new(move || {
            let (pending, printed) = submit(&device, &*kernel, range, &packed, tier_up.as_deref(), queue, measures)?;
            // Kernel and buffers are held until it is done.
            Ok(match pending {
                Running::Ended => Progress::Done,
                Running::Parent(end) => Progress::Parent(end),
                Running::Pending(pending) => {
                    Progress::Pending(Box::new(PendingLaunch { pending, device, kernel, packed, printed }))
                }
            })
        });
        let event = self.enqueue_as(kind, wait, placement.policy(), measured, None, work)?;
        if is_baseline {
            // A weak reference: the code must not keep the event, and its command, alive.
            code.note_begun(Arc::<Event>::downgrade(&event));
        }
        Ok(Some(event))
    }
}

/// A launch that takes less time than making a command for it.
struct Short<'a> {
    queue: &'a Arc<Queue>,
    code: &'a KernelCode,
    items: u64,
    kind: CommandType,
    wanted: bool,
}

impl Short<'_> {
    /// Runs it, if the queue has nothing before it: `None` if it has.
    fn run(&self, wait: &[Arc<Event>], run: impl FnOnce() -> Result<()>) -> Result<Option<Option<Arc<Event>>>> {
        let queue = self.queue;
        let profiles = self.wanted && queue.flags().contains(QueueFlags::PROFILING);
        // Reading the clock twice takes a good part of the shortest launches, so that only some of them are measured.
        let clock = profiles || self.code.cost().is_due(self.items);
        let now = || if clock { queue.context().engine().now() } else { 0 };
        let ran = queue.run_inline(wait, || {
            let begin = now();
            let outcome = attempt(run);
            (outcome, begin, now())
        })?;
        let Some((outcome, begin, end)) = ran else { return Ok(None) };
        if clock {
            self.code.cost().learn(self.items, end.saturating_sub(begin));
        }
        let failure = failure(queue.context(), outcome);
        let times = match profiles {
            true => Profiling { queued: begin, submit: begin, start: begin, end, complete: end },
            false => Profiling::default(),
        };
        Ok(Some(self.wanted.then(|| Event::ended(queue, self.kind, failure, times))))
    }
}
