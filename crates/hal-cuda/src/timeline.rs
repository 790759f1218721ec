//! The CUDA side of a stream's timeline: the calls of the driver that `cloom_hal_gpu::timeline` asks for.
//!
//! The timeline value is a word of pinned memory of the host, which the GPU writes by `cuStreamWriteValue64`, or at the
//! end of a graph together with the launch before it. Events are the driver's. Launches that were deferred go to the
//! stream one by one, or as a graph of [`BATCH`].

use crate::batch::{BATCH, Call, Graph, Launched};
use crate::context::{Current, Event, EventKind, Gpu, OwnedStream};
use crate::library::RawStream;
use crate::memory::HostBlock;
use crate::module::Handle;
use cloom_hal::HalError;
use cloom_hal_gpu::timeline::{self, GpuStream, Submission};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Blocking launches of a function before a graph is made for later ones: making a graph takes the driver as long as
/// several launches.
const AWAITED_LAUNCHES_BEFORE_GRAPH: u32 = 16;
/// Functions of a stream that have such a graph. Each graph keeps its function loaded.
const MAX_FUNCTIONS_WITH_GRAPH: usize = 4;

/// The timeline of a CUDA stream.
pub type Timeline = timeline::Timeline<CudaStream>;

/// A stream, and the value that the GPU writes.
pub struct CudaStream {
    gpu: Arc<Gpu>,
    stream: OwnedStream,
    /// The pinned memory of the value; `None` if there is none.
    value: Option<HostBlock>,
}

impl CudaStream {
    /// A timeline on a new stream. The value is allocated now, because a later allocation may wait for launches.
    pub fn new(gpu: &Arc<Gpu>) -> Result<CudaStream, HalError> {
        let stream = OwnedStream::new(gpu)?;
        // Without this memory, `value` stays 0 and `write` fails, so that the timeline works by events alone.
        let value = HostBlock::allocate(gpu, size_of::<u64>()).ok();
        Ok(CudaStream { gpu: gpu.clone(), stream, value })
    }

    /// Its GPU.
    pub fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    /// The driver's stream.
    pub fn raw(&self) -> RawStream {
        self.stream.raw
    }

    /// The stream, for a thread that has entered the context of its GPU.
    pub fn entered<'a>(&'a self, current: &'a Current<'a>) -> Entered<'a> {
        Entered { stream: self, current }
    }
}

impl GpuStream for CudaStream {
    type Event = Event;
    type Launch = Call;
    type State = Graphs;
    const BATCH: usize = BATCH;

    fn value(&self) -> u64 {
        let Some(value) = &self.value else { return 0 };
        // SAFETY: the block has eight bytes, aligned to pages, and lives as long as `self`; only the GPU writes them.
        unsafe { AtomicU64::from_ptr(value.pointer().cast()) }.load(Ordering::Acquire)
    }

    fn drain(&self) {
        if let Ok(current) = self.gpu.enter() {
            let _ = current.synchronize(self.raw());
        }
    }
}

/// The graphs of a stream.
#[derive(Default)]
pub struct Graphs {
    /// The functions that may be in a graph.
    pub launched: Launched,
    /// The graph for batches of deferred launches, made for the first batch. The inner option is `None` if the driver
    /// makes none.
    batch: Option<Option<Graph>>,
    /// The functions of launches that followed a blocking launch, the most recent first.
    awaited: Vec<Awaited>,
}

/// A function with blocking launches.
struct Awaited {
    /// Its number.
    function: u64,
    /// How many of its launches followed a blocking launch.
    count: u32,
    /// The graph of a launch and the value. The inner option is `None` if the driver makes none.
    graph: Option<Option<Graph>>,
}

impl Graphs {
    /// The record of the function that is launched now.
    fn awaited(&mut self, function: u64) -> &mut Awaited {
        match self.awaited.iter().position(|awaited| awaited.function == function) {
            // The most recent function comes first, so that the least recently used one loses its graph.
            Some(at) => self.awaited[..=at].rotate_right(1),
            None => {
                self.awaited.truncate(MAX_FUNCTIONS_WITH_GRAPH - 1);
                self.awaited.insert(0, Awaited { function, count: 0, graph: None });
            }
        }
        &mut self.awaited[0]
    }
}

/// A stream for a thread in the context of its GPU.
pub struct Entered<'a> {
    stream: &'a CudaStream,
    current: &'a Current<'a>,
}

impl Entered<'_> {
    /// Submits a launch and the write of its number as the timeline value, by one graph. Returns false if the caller
    /// has to submit it otherwise.
    pub fn put_with_value(
        &self,
        graphs: &mut Graphs,
        value: u64,
        function: &Handle,
        launch: impl FnOnce() -> Call,
    ) -> bool {
        let Some(block) = &self.stream.value else { return false };
        let awaited = graphs.awaited(function.number());
        awaited.count = awaited.count.saturating_add(1);
        // Launches before the graph run by themselves, which a function must do before a graph may have it.
        if awaited.count < AWAITED_LAUNCHES_BEFORE_GRAPH {
            return false;
        }
        let launch = launch();
        let (gpu, current) = (&self.stream.gpu, self.current);
        // The block outlives the graph's launches: dropping the timeline waits for the value that was written last.
        let make = || Graph::new(gpu, current, &launch.grid(), 1, Some(block.address()));
        let graph = awaited.graph.get_or_insert_with(make);
        graph.as_mut().is_some_and(|graph| graph.launch(current, self.stream.raw(), &[launch], value))
    }
}

impl Submission<CudaStream> for Entered<'_> {
    fn record(&self, sleeps: bool) -> Result<Event, HalError> {
        let kind = if sleeps { EventKind::Sleeper } else { EventKind::Plain };
        Ok(Event::record(&self.stream.gpu, self.current, self.stream.raw(), kind)?)
    }

    fn can_sleep_on(&self, event: &Event) -> bool {
        event.can_be_slept_on()
    }

    fn has_come(&self, event: &Event) -> Result<bool, HalError> {
        Ok(event.has_come(self.current)?)
    }

    fn sleep_on(&self, event: &Event) -> Result<(), HalError> {
        Ok(event.wait(self.current)?)
    }

    fn write(&self, value: u64) -> bool {
        let (current, Some(block)) = (self.current, &self.stream.value) else { return false };
        // SAFETY: the word lives until it was written, and the host's memory has the same address on the GPU.
        let code = unsafe { (current.table().stream_write_value)(self.stream.raw(), block.address(), value, 0) };
        current.check("cuStreamWriteValue64", code).is_ok()
    }

    fn put(&self, graphs: &mut Graphs, launch: &Call) -> Result<(), HalError> {
        launch.grid().launch(self.current, self.stream.raw())?;
        graphs.launched.add(&launch.function);
        Ok(())
    }

    fn can_batch(&self, graphs: &Graphs, launches: &[Call]) -> bool {
        // A batch with the first launch of a function goes to the stream launch by launch.
        launches.iter().all(|launch| graphs.launched.has(&launch.function))
    }

    fn put_batch(&self, graphs: &mut Graphs, launches: &[Call]) -> bool {
        let make = || Graph::new(&self.stream.gpu, self.current, &launches[0].grid(), BATCH, None);
        let graph = graphs.batch.get_or_insert_with(make);
        graph.as_mut().is_some_and(|graph| graph.launch(self.current, self.stream.raw(), launches, 0))
    }
}
