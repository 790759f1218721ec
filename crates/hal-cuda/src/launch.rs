//! Launches: checks what the driver does not check, and submits each grid with its descriptor.

use crate::batch::{Call, GridLaunch};
use crate::context::{Current, Event, EventKind, Gpu};
use crate::error::InFlight;
use crate::module::{CoarseFunction, CudaKernel, Function, Handle};
use crate::print::Printing;
use crate::stream::{Running, Stream, Times};
use cloom_artifact::{Coarsening, KernelArgKind};
use cloom_hal::{Completion, HalError, Launch, NdRange};
use cloom_hal_gpu::grids::{
    Descriptor, GRID_LIMITS, Grid, coarsened_groups, coarsened_items, grids, group_count, is_full, least_groups,
    shaped, single,
};
use cloom_hal_gpu::tuning::MIN_COARSE_THREADS;
use cloom_ir::abi::BLOCK_ALIGN;
use cloom_ir::abi::gpu as gpu_abi;
use smallvec::smallvec;
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Work-items of a group in each dimension.
const GROUP_LIMITS: [u64; 3] = [1024, 1024, 64];

/// A grid, and what runs it.
#[derive(Clone, Copy)]
struct SubGrid<'a> {
    function: &'a Handle,
    grid: Grid,
    /// Bytes of local memory of a group.
    local_size: u32,
}

impl<'a> SubGrid<'a> {
    fn new(function: &'a Function, grid: Grid, local_size: u64) -> SubGrid<'a> {
        // `allow_local` found that the GPU has this much local memory, so that the number fits.
        let local_size = u32::try_from(local_size).unwrap_or(u32::MAX);
        SubGrid { function: &function.handle, grid, local_size }
    }
}

/// The grids after the first one.
type Rest<'a> = Box<dyn Iterator<Item = SubGrid<'a>> + 'a>;

/// A launch that was checked, in its grids.
struct Checked<'a> {
    kernel: &'a CudaKernel,
    first: SubGrid<'a>,
    /// The other grids, if it has more than one.
    rest: Option<Rest<'a>>,
    /// Its work-items.
    items: u64,
    /// Whether it may be deferred: it is short, prints nothing, and its time is not asked for.
    may_wait: bool,
}

/// Checks a launch.
fn checked<'a>(gpu: &Arc<Gpu>, current: &Current<'_>, launch: &Launch<'a>) -> Result<Checked<'a>, HalError> {
    let kernel = kernel_of(gpu, launch)?;
    check(kernel, launch)?;
    // The groups may change their shape before anything depends on it: registers, grids and coarsening all follow the
    // new range. The descriptor keeps the program's range, since such a kernel does not query its groups.
    let shaped = shaped(&launch.range, kernel.warp, kernel.function.most, gpu.size);
    let range = shaped.as_ref().unwrap_or(&launch.range);
    let threads = group_of(range).iter().product();
    // Pointers into shared virtual memory may have less alignment than a coarsened kernel's wide accesses need.
    let coarse = kernel.coarse.as_ref().filter(|_| has_aligned_buffers(kernel, launch));
    let function = match coarse {
        // Factor 1: the same work-items with wider accesses, such as `vload16` of bytes by one instruction. The
        // function replaces the ordinary one for the whole range.
        Some(CoarseFunction { function, factor: 1, .. }) if threads <= function.most => function,
        _ => kernel.function_for(current, threads)?,
    };
    kernel.allow_local(current, function, launch.local_size)?;
    // A real factor splits the range: the ordinary function runs what does not fill a coarsened work-item or group.
    let coarse = coarse.filter(|coarse| coarse.factor > 1);
    let split = coarse.and_then(|coarse| split(kernel, coarse, (range, launch.local_size), threads));
    if let Some(Split { coarse, local_size, .. }) = &split {
        kernel.allow_local(current, &coarse.function, *local_size)?;
    }
    let (first, rest) = match single(range, GRID_LIMITS) {
        // Most launches are one grid. The iterators for the others take longer than the rest of this function.
        Some(grid) if split.is_none() => (SubGrid::new(function, grid, launch.local_size), None),
        _ => {
            let mut grids = sub_grids(split, function, range, launch.local_size)?;
            let none = || HalError::Device("a launch has no groups".into());
            let (first, second) = (grids.next().ok_or_else(none)?, grids.next());
            (first, second.map(|second| Box::new(std::iter::once(second).chain(grids)) as Rest<'a>))
        }
    };
    let items = range.global.iter().fold(1u64, |items, &n| items.saturating_mul(n));
    // `quick` is 0 until a launch of the kernel was quick, so that its first launch is never deferred.
    let may_wait = items <= kernel.quick.load(Ordering::Relaxed)
        // A kernel that shares memory with the host may wait for something that the host does at the end of the
        // previous launch.
        && gpu.shared.load(Ordering::Relaxed) == 0
        && !launch.timed
        && kernel.artifact.printf_formats.is_empty();
    Ok(Checked { kernel, first, rest, items, may_wait })
}

/// Starts a launch on a stream.
pub fn submit(
    gpu: &Arc<Gpu>,
    stream: &Arc<Stream>,
    printing: &Arc<Printing>,
    launch: &Launch<'_>,
) -> Result<Completion, HalError> {
    let current = gpu.enter()?;
    let Checked { kernel, first, rest, items, may_wait } = checked(gpu, &current, launch)?;
    // The buffer is emptied on the launch's own stream, so that this happens before the kernel writes to it.
    let print = match kernel.artifact.printf_formats.is_empty() {
        true => None,
        false => Some((printing.clone(), printing.buffer(&current, stream.raw())?)),
    };
    let buffer = print.as_ref().map_or(0, |(_, block)| block.address());
    let descriptor = descriptor(kernel, launch, buffer);
    // Before the first call of the driver that may report a fault of this kernel.
    let in_flight = InFlight::new(&kernel.name);
    let running = |number, times| {
        let quick = (Instant::now(), items, kernel.quick.clone());
        let (gpu, stream, queue) = (gpu.clone(), stream.clone(), launch.queue);
        let kernels = smallvec![in_flight];
        let running = Running { gpu, stream, queue, numbers: smallvec![number..=number], times, kernels, print, quick };
        Ok(Completion::Pending(Box::new(running)))
    };
    // Deferring calls no driver: the stream's thread submits the launch, mostly with others as one graph.
    if may_wait
        && rest.is_none()
        && let Some(number) = defer(stream, launch, descriptor, first)
    {
        return running(number, None);
    }
    // Such a graph is one kernel and the timeline value: more grids, or the events around a timed kernel, are not in
    // it.
    let is_alone = rest.is_none() && !launch.timed && buffer == 0 && !kernel.has_private;
    // The closures borrow the descriptor: a copy of it costs as much as a lock.
    let entered = stream.entered(&current);
    // The first closure submits the launch together with the timeline value, if a thread waited for the launch before.
    // If it does not, the second one submits the grids.
    let begun = stream.timeline().submit(
        &entered,
        |graphs, value| {
            let call = || deferred(launch, descriptor, first);
            is_alone && entered.put_with_value(graphs, value, first.function, call)
        },
        |graphs| {
            let grids = std::iter::once(first).chain(rest.into_iter().flatten());
            let times = put(kernel, &current, stream, launch, &descriptor, grids)?;
            if is_alone {
                // The function has now run by itself on this stream, which is required before a graph may have it.
                graphs.launched.add(first.function);
            }
            let end = times.as_ref().map(|(_, end)| end.clone());
            Ok((times, end))
        },
    );
    match begun {
        Ok(submitted) => running(submitted.number, submitted.result.flatten()),
        Err(error) => {
            // Grids that were submitted before the error use memory that the caller is about to free.
            let _ = current.synchronize(stream.raw());
            Err(error)
        }
    }
}

/// Submits the grids of a launch to a stream, between two events if the launch is timed.
fn put<'a>(
    kernel: &CudaKernel,
    current: &Current<'_>,
    stream: &Stream,
    launch: &Launch<'_>,
    descriptor: &Descriptor,
    grids: impl Iterator<Item = SubGrid<'a>>,
) -> Result<Times, HalError> {
    if !launch.timed {
        return begin(current, stream, launch, descriptor, grids).map(|()| None);
    }
    let record = |kind| Event::record(&kernel.gpu, current, stream.raw(), kind);
    // The stream waits, then come the event, the grids and the event, and then `_held` is dropped, which lets the
    // stream go on: the GPU finds all of them at once.
    let wait = if kernel.may_be_held() { stream.stream_wait() } else { None };
    let _held = wait.and_then(|wait| wait.hold(current, stream.raw()));
    let start = record(EventKind::Begin)?;
    begin(current, stream, launch, descriptor, grids)?;
    Ok(Some((start, Arc::new(record(EventKind::Timer)?))))
}

/// Appends a launch to the last one of its queue. Returns false if it cannot be appended, or if it has an error that
/// `submit` reports.
pub fn append(gpu: &Arc<Gpu>, stream: &Stream, launch: &Launch<'_>) -> bool {
    let Ok(current) = gpu.enter() else { return false };
    // Only launches that may be deferred, and that are one grid, are appended: `submit` takes all others.
    let Ok(Checked { kernel, first, rest: None, may_wait: true, .. }) = checked(gpu, &current, launch) else {
        return false;
    };
    // The launch is deferred under the lock of the list of completions, so that the launch to which it is appended is
    // not notified in between. It prints nothing, so that its descriptor has no buffer.
    stream.append(launch.queue, &kernel.name, || defer(stream, launch, descriptor(kernel, launch, 0), first))
}

/// The descriptor of a launch, with the address of a buffer for what it prints.
fn descriptor(kernel: &CudaKernel, launch: &Launch<'_>, print: u64) -> Descriptor {
    let variables = kernel.variables.as_ref().map_or(0, |memory| memory.device_address());
    Descriptor::new(&launch.range, variables, print)
}

/// Whether all buffers have the alignment that a coarsened kernel relies on.
fn has_aligned_buffers(kernel: &CudaKernel, launch: &Launch<'_>) -> bool {
    let buffers = kernel.artifact.args.iter().filter(|arg| arg.kind == KernelArgKind::Buffer);
    let mut addresses = buffers.filter_map(|arg| launch.args[arg.offset as usize..].first_chunk());
    addresses.all(|&address| u64::from_le_bytes(address).is_multiple_of(gpu_abi::COARSE_ALIGN))
}

/// A range of which a coarsened kernel runs most groups, and the ordinary kernel those that remain.
struct Split<'a> {
    coarse: &'a CoarseFunction,
    /// The range of the coarsened kernel.
    coarsened: NdRange,
    /// Bytes of local memory of its groups.
    local_size: u64,
    /// The range of the ordinary kernel, and the id of its first group.
    rest: Option<(NdRange, [u64; 3])>,
}

/// How a coarsened kernel runs a range with groups of this size and this much local memory. `None` if it should not run
/// it.
fn split<'a>(
    kernel: &CudaKernel,
    coarse: &'a CoarseFunction,
    (range, local_size): (&NdRange, u64),
    threads: u64,
) -> Option<Split<'a>> {
    let (most, factor, size) = (coarse.function.most, coarse.factor.into(), kernel.gpu.size);
    match coarse.coarsening {
        Coarsening::WorkItems => {
            let (coarsened, rest) = coarsened_items(range, factor, size.units * MIN_COARSE_THREADS)?;
            let coarsened = shaped(&coarsened, kernel.warp, most, size).unwrap_or(coarsened);
            // A coarsened thread may need more registers than an ordinary one, so that its largest group may be
            // smaller.
            let fits = group_of(&coarsened).iter().product::<u64>() <= most;
            fits.then_some(Split { coarse, coarsened, local_size, rest: rest.map(|rest| (rest, [0; 3])) })
        }
        Coarsening::Groups { dim, local_size: of_variables } => {
            // If an argument gives the size of local memory, each fused group gets as much, in whole blocks, one behind
            // the other.
            let of_all = || local_size.checked_next_multiple_of(BLOCK_ALIGN.into())?.checked_mul(factor);
            let local_size = of_variables.or_else(of_all)?;
            let (coarsened, rest) = coarsened_groups(range, dim.into(), factor)?;
            // With few groups, fusing leaves multiprocessors idle; with much local memory, fewer fused groups are
            // resident.
            let has_enough = group_count(&coarsened) >= least_groups(threads, size);
            let fits = threads <= most && is_full(threads, local_size, kernel.local_memory);
            let rest =
                rest.map(|(rest, first)| (rest, std::array::from_fn(|d| if d == dim.into() { first } else { 0 })));
            (has_enough && fits).then_some(Split { coarse, coarsened, local_size, rest })
        }
    }
}

/// The grids of a range, each with its function: the ordinary kernel alone, or the coarsened one and the ordinary one
/// for the groups that remain.
fn sub_grids<'a>(
    split: Option<Split<'a>>,
    function: &'a Function,
    range: &NdRange,
    local_size: u64,
) -> Result<impl Iterator<Item = SubGrid<'a>> + use<'a>, HalError> {
    let sub_grids_of = |function: &'a Function, local_size: u64, range: &NdRange, first_group: [u64; 3]| {
        let too_many = || {
            HalError::Device(format!("a GPU takes {:?} groups in too many grids, so use larger groups", range.groups()))
        };
        let grids = grids(range, GRID_LIMITS).ok_or_else(too_many)?;
        Ok::<_, HalError>(grids.map(move |mut grid| {
            // The remaining groups have the ids that follow those of the coarsened part.
            grid.first_group = std::array::from_fn(|d| grid.first_group[d] + first_group[d]);
            SubGrid::new(function, grid, local_size)
        }))
    };
    let both = match split {
        None => [Some(sub_grids_of(function, local_size, range, [0; 3])?), None],
        Some(Split { coarse, coarsened, local_size: of_coarsened, rest }) => {
            let rest = rest.map(|(rest, first_group)| sub_grids_of(function, local_size, &rest, first_group));
            [Some(sub_grids_of(&coarse.function, of_coarsened, &coarsened, [0; 3])?), rest.transpose()?]
        }
    };
    Ok(both.into_iter().flatten().flatten())
}

/// The largest group of a range; it is not larger than the range.
fn group_of(range: &NdRange) -> [u64; 3] {
    std::array::from_fn(|d| range.local[d].min(range.global[d]))
}

/// The kernel, if it is one of this GPU.
fn kernel_of<'a>(gpu: &Arc<Gpu>, launch: &Launch<'a>) -> Result<&'a CudaKernel, HalError> {
    let kernel: &'a dyn Any = launch.kernel;
    let kernel = kernel.downcast_ref::<CudaKernel>().filter(|kernel| Arc::ptr_eq(&kernel.gpu, gpu));
    kernel.ok_or_else(|| HalError::BadCode("another device's kernel".into()))
}

fn check(kernel: &CudaKernel, launch: &Launch<'_>) -> Result<(), HalError> {
    let artifact = &kernel.artifact;
    let fails = |why: String| Err(HalError::Device(why));
    let fits = |at: u32, size: u32| at as usize + size as usize <= launch.args.len();
    let has_args = artifact.args.iter().all(|arg| {
        // An offset in local memory is eight bytes, whatever the argument says.
        let size = if arg.kind == KernelArgKind::Local { arg.size.max(8) } else { arg.size };
        fits(arg.offset, size)
    });
    if !has_args || !fits(0, artifact.arg_block) || launch.local_size < artifact.local_size {
        return fails("the argument block or local memory is too small".into());
    }
    if launch.zero_local && launch.local_size > 0 {
        return fails("a GPU does not clear local memory before a group".into());
    }
    let local = group_of(&launch.range);
    if let Some(d) = (0..3).find(|&d| local[d] > GROUP_LIMITS[d]) {
        let most = GROUP_LIMITS[d];
        return fails(format!("a group has {} work-items in dimension {d}, and a GPU takes {most}", local[d]));
    }
    Ok(())
}

/// Submits the grids.
fn begin<'a>(
    current: &Current<'_>,
    stream: &Stream,
    launch: &Launch<'_>,
    descriptor: &Descriptor,
    grids: impl Iterator<Item = SubGrid<'a>>,
) -> Result<(), HalError> {
    // One descriptor serves all grids: the driver copies the parameters of a launch before it returns.
    let mut descriptor = *descriptor;
    for sub_grid in grids {
        descriptor.set_grid(&sub_grid.grid);
        let (function, grid, local_size, descriptor) =
            (sub_grid.function, &sub_grid.grid, sub_grid.local_size, &descriptor);
        GridLaunch { function, grid, local_size, descriptor, args: launch.args }.launch(current, stream.raw())?;
    }
    Ok(())
}

/// Defers a launch to the thread of its stream, if others are in progress and it is quick. Returns its number.
fn defer(stream: &Stream, launch: &Launch<'_>, descriptor: Descriptor, only: SubGrid<'_>) -> Option<u64> {
    stream.timeline().defer(|| deferred(launch, descriptor, only))
}

/// A deferred launch, which is one grid.
fn deferred(launch: &Launch<'_>, mut descriptor: Descriptor, only: SubGrid<'_>) -> Call {
    descriptor.set_grid(&only.grid);
    let (function, grid, local_size) = (only.function.clone(), only.grid, only.local_size);
    Call { function, grid, local_size, descriptor, args: launch.args.into() }
}
