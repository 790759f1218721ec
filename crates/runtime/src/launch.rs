//! Launching kernels: checks the range, chooses the local size where the application leaves it open, packs the
//! arguments, and submits.
//!
//! A short launch that waits for nothing runs at once on the calling thread, without a command and an event; any other
//! launch is a command of the queue.

use crate::children::Family;
use crate::event::Profiling;
use crate::execute::{CommandType, Progress, attempt, status};
use crate::kernel::Packed;
use crate::pending::{PendingLaunch, outcome};
use crate::print::{Printed, Printer};
use crate::queue::ExecPolicy;
use crate::status::{bail, ensure};
use crate::thread_exit;
use crate::{Device, Event, Kernel, KernelCode, Queue, QueueFlags, Result};
use cloom_hal::{self as hal, TUNING};
use cloom_ir::KernelMeta;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// Sizes as `clEnqueueNDRangeKernel` gets them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RangeInput {
    /// 1 to 3.
    pub work_dim: u32,
    /// Where global ids begin; zeros if absent.
    pub offset: Option<[u64; 3]>,
    /// Work-items; zero if absent.
    pub global: Option<[u64; 3]>,
    /// Work-items of a group; chosen if absent.
    pub local: Option<[u64; 3]>,
}

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
        let artifact = loaded.artifact();
        let mut packed = Packed::default();
        self.pack(kernel, &*loaded, &range, &mut packed)?;
        // The number of work-items does not overflow if the number of groups does not; else the launch is not short.
        let items = range.global.iter().try_fold(1u64, |a, &b| a.checked_mul(b)).unwrap_or(u64::MAX);
        let is_short = || code.cost().expect(items).is_some_and(|time| self.is_short(time));
        // A kernel that shares memory with the host may wait for the host, whose thread must not be blocked; and a
        // kernel that needs much stack runs on a thread of the device.
        let here = self.device().runs_on_host()
            && is_short()
            && !thread_exit::is_exiting()
            && !is_baseline
            && !packed.shares
            && !packed.migrates
            && !artifact.enqueues
            && artifact.private_size <= TUNING.inline_stack;
        if here {
            let short = Short { queue: self, code, items, kind, wanted };
            if let Some(done) = short.run(wait, || run_here(self.device(), &*loaded, range, &packed, 0))? {
                return Ok(done);
            }
        }
        let policy = match here {
            true => ExecPolicy::Inline,
            false if !self.streams() => ExecPolicy::Worker,
            false if wanted => ExecPolicy::Stream,
            false => ExecPolicy::OpenStream,
        };
        if policy == ExecPolicy::OpenStream
            && !is_baseline
            && !packed.shares
            && !measures
            && wait.is_empty()
            && append(self, &loaded, range, &packed)
        {
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
        let event = self.enqueue_as(kind, wait, policy, measured, work)?;
        if is_baseline {
            code.note_begun(&event);
        }
        Ok(Some(event))
    }
}

/// Appends a launch to the last one of its queue. False if that cannot be.
fn append(queue: &Queue, kernel: &Arc<dyn hal::Kernel>, range: hal::NdRange, packed: &Packed) -> bool {
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
        tier_up: None,
        queue: queue.id(),
        timed: false,
    };
    queue.append(kernel, packed, &launch)
}

/// What becomes of a launch that was submitted.
enum Running {
    /// It has ended.
    Ended,
    /// It ended at this time, and what it enqueued has ended too.
    Parent(u64),
    /// It is still running on a device.
    Pending(Box<dyn hal::Pending>),
}

/// Submits a launch. Returns it with its output so far, if it is still running. `code` is given for code of the
/// baseline tier: it provides the tier-up code.
fn submit(
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
    packed.make_resident()?;
    let zero_local = packed.zero_local;
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
    let result = device.hal().submit(&launch);
    match result {
        Ok(hal::Completion::Pending(pending)) => Ok((Running::Pending(pending), printer.printed)),
        Ok(hal::Completion::Done) => {
            printer.printed.flush(device, kernel);
            let Some(family) = &family else { return Ok((Running::Ended, printer.printed)) };
            let end = device.engine().now();
            family.run()?;
            Ok((Running::Parent(end), printer.printed))
        }
        Err(error) => {
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
        let status = status(queue.context(), outcome);
        let times = match profiles {
            true => Profiling { queued: begin, submit: begin, start: begin, end, complete: end },
            false => Profiling::default(),
        };
        Ok(Some(self.wanted.then(|| Event::ended(queue, self.kind, status, times))))
    }
}

/// What the groups of a kernel must be like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupRules {
    /// The local size that the kernel requires.
    pub required: Option<[u64; 3]>,
    /// Whether the last group of a dimension may be smaller.
    pub partial: bool,
    /// Work-items of the largest group,
    pub most: u64,
    /// and in each dimension.
    pub each: [u64; 3],
    /// The fewest groups that give every compute unit work, where the device does not divide the work itself.
    pub spread: u64,
}

impl GroupRules {
    /// Those of a kernel or a block on a device.
    pub fn of(meta: &KernelMeta, device: &Device) -> GroupRules {
        GroupRules {
            required: meta.reqd_group_size.map(|sizes| sizes.map(u64::from)),
            partial: meta.partial_groups,
            most: device.max_group_size(),
            each: device.caps().limits.max_group_sizes,
            spread: if device.runs_on_host() { 1 } else { device.info().compute_units.into() },
        }
    }
}

// OpenCL 3.0 API, 5.10: Executing Kernels.
/// Checks a range; `None` when there is nothing to run. If the local size is chosen, it is for code with the dimensions
/// in this order.
pub(crate) fn settle(input: &RangeInput, rules: &GroupRules, dim_order: [u8; 3]) -> Result<Option<hal::NdRange>> {
    let GroupRules { required, partial, most: max_group, each, .. } = *rules;
    let dim = input.work_dim as usize;
    ensure!((1..=3).contains(&dim), InvalidWorkDimension, "work_dim is {dim}, not 1, 2 or 3");
    let padded =
        |values: [u64; 3], rest: u64| std::array::from_fn::<u64, 3, _>(|d| if d < dim { values[d] } else { rest });
    let global = padded(input.global.unwrap_or_default(), 1);
    let offset = padded(input.offset.unwrap_or_default(), 0);
    for d in 0..dim {
        let (o, g) = (offset[d], global[d]);
        ensure!(o.checked_add(g).is_some(), InvalidGlobalOffset, "offset {o} plus size {g} in dimension {d} overflows");
    }
    let given = input.local.map(|local| padded(local, 1));
    if let (Some(local), Some(required)) = (given, required) {
        ensure!(
            local == required || local.contains(&0),
            InvalidWorkGroupSize,
            "the local size is {local:?}, the kernel requires {required:?}"
        );
    }
    let local = given.or(required).unwrap_or_else(|| choose(global, rules, dim_order));
    let items = local.iter().try_fold(1u64, |a, &b| a.checked_mul(b));
    ensure!(items != Some(0), InvalidWorkGroupSize, "the local size {local:?} is empty");
    for (d, (l, most)) in local.into_iter().zip(each).enumerate() {
        ensure!(l <= most, InvalidWorkItemSize, "the local size in dimension {d} is {l}, more than {most}");
    }
    let fits = items.is_some_and(|n| n <= max_group);
    ensure!(fits, InvalidWorkGroupSize, "the local size {local:?} has more than {max_group} work-items");
    for d in 0..3 {
        let (g, l) = (global[d], local[d]);
        ensure!(
            partial || l == 1 || g % l == 0,
            InvalidWorkGroupSize,
            "the global size in dimension {d}, {g}, is not a multiple of the local size {l}: groups may only be partial in \
             programs built with -cl-std=CL2.0 or later and without -cl-uniform-work-group-size"
        );
    }
    if global.contains(&0) {
        return Ok(None);
    }
    Ok(Some(hal::NdRange { work_dim: input.work_dim, offset, global, local }))
}

/// A local size that divides the global size: as near to the preferred number of items as its divisors allow, the
/// code's innermost dimension first, because neighbours in it touch neighbouring memory. Fewer if else compute units
/// had no group. (A matrix times a vector, 4096 rows of 2048 on 132 units: 64 groups of 64 or 128 of 32.)
fn choose(global: [u64; 3], rules: &GroupRules, dim_order: [u8; 3]) -> [u64; 3] {
    let items = global.iter().fold(1u64, |a, &b| a.saturating_mul(b));
    let mut left = TUNING.preferred_group.min(rules.most);
    while left > TUNING.smallest_group && items / left < rules.spread {
        left /= 2;
    }
    let mut local = [1; 3];
    for d in dim_order.map(usize::from) {
        let most = left.min(global[d]).min(rules.each[d]).max(1);
        local[d] = (1..=most).rev().find(|n| global[d].is_multiple_of(*n)).unwrap_or(1);
        left /= local[d];
    }
    local
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Status;

    const AS_WRITTEN: [u8; 3] = [0, 1, 2];

    fn range(global: [u64; 3], local: Option<[u64; 3]>) -> RangeInput {
        RangeInput { work_dim: 3, offset: None, global: Some(global), local }
    }

    fn status(input: RangeInput, required: Option<[u64; 3]>) -> Option<Status> {
        settle(&input, &rules(required, false), AS_WRITTEN).err().map(|e| e.status)
    }

    fn rules(required: Option<[u64; 3]>, partial: bool) -> GroupRules {
        GroupRules { required, partial, most: 64, each: [64, 64, 16], spread: 1 }
    }

    #[test]
    fn partial_groups_lift_one_rule_only() {
        let settled = |input, required| settle(&input, &rules(required, true), AS_WRITTEN);
        let partial = settled(range([10, 7, 1], Some([4, 9, 1])), None).unwrap().unwrap();
        assert_eq!((partial.global, partial.local, partial.groups()), ([10, 7, 1], [4, 9, 1], [3, 1, 1]));
        let required = settled(range([10, 7, 1], None), Some([4, 3, 1])).unwrap().unwrap();
        assert_eq!((required.local, required.groups()), ([4, 3, 1], [3, 3, 1]));
        let status = |local, required| settled(range([10, 7, 1], Some(local)), required).err().map(|e| e.status);
        assert_eq!(status([4, 9, 1], Some([4, 3, 1])), Some(Status::InvalidWorkGroupSize), "another than is required");
        assert_eq!(status([8, 9, 1], None), Some(Status::InvalidWorkGroupSize), "too many work-items");
        assert_eq!(status([4, 0, 1], None), Some(Status::InvalidWorkGroupSize), "none");
        assert_eq!(status([65, 1, 1], None), Some(Status::InvalidWorkItemSize));
    }

    #[test]
    fn each_bad_range_has_its_status() {
        let good = range([8, 8, 8], Some([4, 4, 4]));
        assert_eq!(status(good, None), None);
        assert_eq!(status(RangeInput { work_dim: 0, ..good }, None), Some(Status::InvalidWorkDimension));
        assert_eq!(status(RangeInput { work_dim: 4, ..good }, None), Some(Status::InvalidWorkDimension));
        let far = RangeInput { offset: Some([0, u64::MAX, 0]), ..good };
        assert_eq!(status(far, None), Some(Status::InvalidGlobalOffset));
        assert_eq!(status(range([8, 8, 8], Some([3, 1, 1])), None), Some(Status::InvalidWorkGroupSize));
        assert_eq!(status(range([8, 8, 8], Some([8, 8, 8])), None), Some(Status::InvalidWorkGroupSize));
        assert_eq!(status(range([8, 8, 8], Some([0, 1, 1])), None), Some(Status::InvalidWorkGroupSize));
        assert_eq!(status(range([128, 1, 1], Some([128, 1, 1])), None), Some(Status::InvalidWorkItemSize));
        assert_eq!(status(range([1, 1, 32], Some([1, 1, 32])), None), Some(Status::InvalidWorkItemSize));
        assert_eq!(status(good, Some([4, 4, 2])), Some(Status::InvalidWorkGroupSize));
        assert_eq!(status(range([8, 8, 8], None), Some([3, 1, 1])), Some(Status::InvalidWorkGroupSize));
        // A required local size has the same limits as that of a launch.
        assert_eq!(status(range([8, 128, 8], None), Some([1, 128, 1])), Some(Status::InvalidWorkItemSize));
        assert_eq!(status(range([8, 16, 8], None), Some([8, 16, 1])), Some(Status::InvalidWorkGroupSize));
    }

    #[test]
    fn an_empty_range_runs_nothing_and_is_no_error() {
        assert_eq!(settle(&range([8, 0, 8], None), &rules(None, false), AS_WRITTEN), Ok(None));
        assert_eq!(
            settle(&RangeInput { work_dim: 1, ..RangeInput::default() }, &rules(None, false), AS_WRITTEN),
            Ok(None)
        );
    }

    #[test]
    fn dimensions_beyond_work_dim_are_not_looked_at() {
        let input =
            RangeInput { work_dim: 1, global: Some([5, 0, 0]), local: Some([5, 0, 0]), offset: Some([1, 9, 9]) };
        let range = settle(&input, &rules(None, false), AS_WRITTEN).unwrap().unwrap();
        assert_eq!((range.global, range.local, range.offset), ([5, 1, 1], [5, 1, 1], [1, 0, 0]));
    }

    #[test]
    fn a_chosen_local_size_divides_and_fits() {
        for global in [[1, 1, 1], [7, 1, 1], [1024, 1024, 1], [100, 30, 7], [64, 64, 64], [1 << 40, 3, 5]] {
            for dim_order in [AS_WRITTEN, [1, 0, 2], [2, 1, 0]] {
                let local = choose(global, &rules(None, false), dim_order);
                assert!((0..3).all(|d| global[d] % local[d] == 0), "{global:?}: {local:?}");
                assert!(local.iter().product::<u64>() <= 64 && local[2] <= 16);
            }
        }
        let choose = |global, dim_order| choose(global, &rules(None, false), dim_order);
        assert_eq!(choose([1024, 1, 1], AS_WRITTEN), [64, 1, 1]);
        assert_eq!(choose([4, 1024, 1], AS_WRITTEN), [4, 16, 1]);
        assert_eq!(choose([1024, 1024, 1], [1, 0, 2]), [1, 64, 1], "lanes lie along dimension 1");
        assert_eq!(choose([30, 4, 8], [2, 1, 0]), [2, 4, 8]);
        let spread =
            |items| super::choose([items, 1, 1], &GroupRules { spread: 132, ..rules(None, false) }, AS_WRITTEN)[0];
        assert_eq!([16384, 4096, 256].map(spread), [64, 32, 32], "every unit has a group, and a group fills a warp");
    }
}
