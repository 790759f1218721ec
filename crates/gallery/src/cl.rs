//! OpenCL for the programs: a session on one device, typed buffers, kernels with checked arguments.
//!
//! opencl3 loads the library at run time (`OPENCL_DYLIB_PATH`, else `libOpenCL.so.1`) and marks as unsafe what takes
//! pointers. This is the one module of the gallery that calls those; it passes sizes that it knows and blocks until
//! transfers are complete, so that programs need no unsafe code. Accesses of a kernel are the kernel's responsibility,
//! as in any OpenCL program.
#![allow(unsafe_code, reason = "it makes opencl3's calls safe to use")]

pub mod background;
mod format;
mod found;
pub mod image;
pub mod parts;
pub mod queue;
pub mod relay;

pub use found::{Choice, Found, POCL, devices, of_platform};
pub use parts::Part;

use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::round_robin::RoundRobinSlot;
use crate::stopwatch::{self, Spent, Stopwatch};
use opencl3::command_queue::{CL_QUEUE_PROFILING_ENABLE, CommandQueue};
use opencl3::context::Context;
use opencl3::device::SubDevice;
use opencl3::event::Event;
use opencl3::memory::{self, CL_MEM_READ_WRITE, ClMem};
use opencl3::types::{CL_BLOCKING, cl_command_queue_properties, cl_device_id, cl_event, cl_mem, cl_sampler};

use queue::Done;
use std::cell::{Cell, RefCell};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Element types of buffers: plain numbers.
pub trait Plain: Copy + Default + Send + Sync + 'static {
    /// The guard elements after the end of the session's n-th buffer: large numbers, and floats that spoil results.
    /// They differ from buffer to buffer, so that a guard copied from another buffer is detected.
    fn guard(n: u32) -> Self;
    /// Whether two numbers have the same bits.
    fn same_bits(self, other: Self) -> bool;
}

macro_rules! plain {
    ($($t:ty),*) => {
        $(impl Plain for $t {
            fn guard(n: u32) -> $t {
                <$t>::MAX - (n % 64) as $t
            }
            fn same_bits(self, other: $t) -> bool {
                self == other
            }
        })*
    };
}
plain!(u8, u16, u32, i32);

impl Plain for f32 {
    fn guard(n: u32) -> f32 {
        f32::from_bits(f32::NAN.to_bits() | (n % 64))
    }
    fn same_bits(self, other: f32) -> bool {
        self.to_bits() == other.to_bits()
    }
}

/// The number of guard elements after each buffer's end: a kernel that writes out of bounds by one changes them. Small
/// elements have more of them, because the kernel may count in larger ones.
///
/// A checker that sees each access needs no guards, which would hide from it what is behind the end.
fn guards<T>() -> usize {
    let bytes = 256;
    if std::env::var_os("CLOOM_CHECK").is_some_and(|checks| !checks.is_empty() && checks != "0") {
        return 0;
    }
    if size_of::<T>() * 16 >= bytes { 16 } else { bytes / size_of::<T>() }
}

/// A buffer of `T`s on the device, with guards after its end.
pub struct Buffer<T: Plain> {
    memory: memory::Buffer<T>,
    len: usize,
    // Which one of the session's buffers this is: a platform may give a handle out again.
    number: u32,
}

impl<T: Plain> Buffer<T> {
    /// How many `T`s.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none; never so, an empty buffer cannot be made.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// An argument of a kernel.
#[derive(Clone, Copy)]
pub enum Arg {
    /// A buffer, and which one of its session's it is.
    Memory(cl_mem, u32),
    /// An `uint`.
    U32(u32),
    /// An `int`.
    I32(i32),
    /// A `float`.
    F32(f32),
    /// A sampler.
    Sampler(cl_sampler),
    /// That many bytes of local memory.
    Local(usize),
    /// The first `len` bytes: a value of any other type.
    Value {
        /// At least the value; what follows does not count.
        bytes: [u8; Arg::LARGEST],
        /// How many bytes it has, at most all of them.
        len: usize,
    },
}

impl Arg {
    /// Bytes of the largest type that is no structure: `double16`, `long16`.
    pub const LARGEST: usize = 128;

    /// The bytes of a value of any type that is no structure.
    pub fn value(value: &[u8]) -> Option<Arg> {
        let mut bytes = [0; Arg::LARGEST];
        bytes.get_mut(..value.len())?.copy_from_slice(value);
        Some(Arg::Value { bytes, len: value.len() })
    }

    /// Whether both are the same to a kernel.
    fn is(&self, other: &Arg) -> bool {
        match (self, other) {
            // A handle alone is not enough: the platform may give that of a released buffer to a new one, and the
            // kernel must be told.
            (Arg::Memory(a, i), Arg::Memory(b, j)) => a == b && i == j,
            (Arg::U32(a), Arg::U32(b)) => a == b,
            (Arg::I32(a), Arg::I32(b)) => a == b,
            (Arg::F32(a), Arg::F32(b)) => a.to_bits() == b.to_bits(),
            (Arg::Sampler(a), Arg::Sampler(b)) => a == b,
            (Arg::Local(a), Arg::Local(b)) => a == b,
            (Arg::Value { bytes: a, len: m }, Arg::Value { bytes: b, len: n }) => m == n && a.get(..*m) == b.get(..*m),
            _ => false,
        }
    }
}

impl<T: Plain> From<&Buffer<T>> for Arg {
    fn from(b: &Buffer<T>) -> Arg {
        Arg::Memory(b.memory.get(), b.number)
    }
}

impl From<u32> for Arg {
    fn from(v: u32) -> Arg {
        Arg::U32(v)
    }
}

impl From<i32> for Arg {
    fn from(v: i32) -> Arg {
        Arg::I32(v)
    }
}

impl From<f32> for Arg {
    fn from(v: f32) -> Arg {
        Arg::F32(v)
    }
}

/// Arguments of several types: `args![&a, &b, 3u32]`.
#[macro_export]
macro_rules! args {
    ($($a:expr),* $(,)?) => { &[$($crate::Arg::from($a)),*] };
}

/// A built program.
pub struct Built {
    program: opencl3::program::Program,
    /// What the compiler said.
    pub log: String,
    /// How long building took.
    pub time: Duration,
}

impl Built {
    /// The names of its kernels.
    pub fn kernel_names(&self) -> Vec<String> {
        self.program.kernel_names().split(';').filter(|n| !n.is_empty()).map(str::to_owned).collect()
    }

    /// A kernel of it.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        if !self.kernel_names().iter().any(|n| n == name) {
            return Err(Error::NotFound { what: "kernel", wanted: name.to_owned(), have: self.kernel_names() });
        }
        let kernel = opencl3::kernel::Kernel::create(&self.program, name)
            .map_err(Error::call(format!("clCreateKernel(\"{name}\")")))?;
        let count = kernel.num_args().map_err(Error::call("clGetKernelInfo"))? as usize;
        Ok(Kernel { kernel, name: name.to_owned(), set: RefCell::new(vec![None; count]), most: Cell::new(None) })
    }

    /// The program's binary for the session's device.
    pub fn binary(&self) -> Result<Vec<u8>> {
        let binaries = self.program.get_binaries().map_err(Error::call("clGetProgramInfo(CL_PROGRAM_BINARIES)"))?;
        // Other devices of the context have an empty one.
        Ok(binaries.into_iter().find(|binary| !binary.is_empty()).unwrap_or_default())
    }
}

/// A kernel of a built program. It caches queries and arguments: programs of many short launches spend their time on
/// calls.
pub struct Kernel {
    kernel: opencl3::kernel::Kernel,
    name: String,
    // The arguments as they are set.
    set: RefCell<Vec<Option<Arg>>>,
    // Work-items that a group may have on the session's device.
    most: Cell<Option<usize>>,
}

/// How long each iteration took.
#[derive(Clone, Debug, Default)]
pub struct Times {
    /// From before the first command to after the last one, on the host's clock.
    pub wall: Vec<Duration>,
    /// The kernels alone, on the device's clock.
    pub device: Vec<Duration>,
    /// From the first launch to after the last command, on all processors of the host; empty where it was not measured.
    pub processor: Vec<Duration>,
}

impl Times {
    /// The middle one of the wall times.
    pub fn median(&self) -> Duration {
        let mut sorted = self.wall.clone();
        sorted.sort();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }
}

/// A context and a queue on one device.
pub struct Session {
    /// What the device is.
    pub found: Found,
    // Other sessions may share it.
    context: Arc<Context>,
    queue: CommandQueue,
    // The kernels of the iteration that is being measured.
    events: RefCell<Vec<Done>>,
    // How many buffers and images have been made.
    buffers: Cell<u32>,
    // Its device, where that is a part of one.
    part: Option<Arc<SubDevice>>,
    // When several measure in turns.
    slot: Option<RoundRobinSlot>,
    first: Cell<Way>,
    // Set when the run shall end.
    cancelled: Arc<AtomicBool>,
    // Told of each iteration that is measured.
    observer: Observer,
    // The processor time at the first launch of the iteration that is being measured.
    launched_at: Cell<Option<Duration>>,
}

/// How far the first build of a session is on its way to a result.
#[derive(Clone, Copy, Default)]
enum Way {
    #[default]
    Nothing,
    /// Built, after so long.
    Built(Stopwatch, Duration),
    /// A kernel has been enqueued.
    Launched(Stopwatch, Duration),
    Done(First),
}

/// What a session's first result took, from the source to the end of the first kernels that were waited for.
#[derive(Clone, Copy, Debug)]
pub struct First {
    /// Until the program was built.
    pub build: Duration,
    /// All of it.
    pub spent: Spent,
}

impl Session {
    /// Opens the chosen device.
    pub fn open(choice: &Choice) -> Result<Session> {
        Session::on(&choice.found()?)
    }

    /// Opens every device that there is.
    pub fn all() -> Result<Vec<Session>> {
        devices()?.iter().map(Session::on).collect()
    }

    /// Opens a device of the list.
    pub fn on(found: &Found) -> Result<Session> {
        Session::with(found, CL_QUEUE_PROFILING_ENABLE)
    }

    /// Opens a device of the list with a queue that keeps no times, for what profiling would slow down. Kernels go
    /// there by [`Session::launch_again`], whose times are those of the host.
    pub fn without_clock(found: &Found) -> Result<Session> {
        Session::with(found, 0)
    }

    fn with(found: &Found, properties: cl_command_queue_properties) -> Result<Session> {
        let context = Context::from_device(&found.id).map_err(Error::call("clCreateContext"))?;
        Session::within(Arc::new(context), found, properties)
    }

    fn within(context: Arc<Context>, found: &Found, properties: cl_command_queue_properties) -> Result<Session> {
        let queue = create_queue(&context, found, properties)?;
        Ok(Session {
            found: found.clone(),
            context,
            queue,
            events: RefCell::default(),
            buffers: Cell::new(0),
            part: None,
            slot: None,
            first: Cell::default(),
            cancelled: Arc::default(),
            observer: Observer::default(),
            launched_at: Cell::default(),
        })
    }

    /// What the first result took, if there is one.
    pub fn first(&self) -> Option<First> {
        match self.first.get() {
            Way::Done(first) => Some(first),
            _ => None,
        }
    }

    /// The same session, measuring only when its turn comes.
    pub fn in_turns(self, slot: RoundRobinSlot) -> Session {
        Session { slot: Some(slot), ..self }
    }

    /// The same session, whose measurements end with [`Error::Cancelled`] after the iteration in which the flag is set.
    pub fn cancelled_by(self, flag: Arc<AtomicBool>) -> Session {
        Session { cancelled: flag, ..self }
    }

    /// The same session, which reports each measured iteration.
    pub fn observed_by(self, observer: &Observer) -> Session {
        Session { observer: observer.clone(), ..self }
    }

    /// Builds a program; the error holds the log.
    pub fn build(&self, name: &str, source: &str, options: &str) -> Result<Built> {
        let watch = Stopwatch::start();
        self.note_first(watch, build_program(&self.context, self.found.id.id(), name, Input::Source(source), options))
    }

    /// Builds a program from SPIR-V; the error holds the log.
    pub fn build_il(&self, name: &str, il: &[u8], options: &str) -> Result<Built> {
        let watch = Stopwatch::start();
        self.note_first(watch, build_program(&self.context, self.found.id.id(), name, Input::Il(il), options))
    }

    fn note_first(&self, watch: Stopwatch, built: Result<Built>) -> Result<Built> {
        if matches!(self.first.get(), Way::Nothing) {
            self.first.set(Way::Built(watch, built.as_ref().map_or_else(|_| watch.wall(), |b| b.time)));
        }
        built
    }

    /// A buffer whose contents are all zero.
    pub fn zeroed<T: Plain>(&self, len: usize) -> Result<Buffer<T>> {
        self.fits::<T>(len)?;
        self.upload(&vec![T::default(); len])
    }

    /// Whether the device takes a buffer of that many elements: to be asked before the host makes as many.
    pub fn fits<T: Plain>(&self, len: usize) -> Result<()> {
        let bytes = len.checked_add(guards::<T>()).and_then(|n| n.checked_mul(size_of::<T>())).unwrap_or(usize::MAX);
        if len == 0 || bytes as u64 > self.found.max_buffer {
            return Err(Error::Params(format!(
                "a buffer of {bytes} bytes: {} takes 1 to {}; choose another size",
                self.found.device, self.found.max_buffer
            )));
        }
        Ok(())
    }

    /// A buffer with a copy of the data.
    pub fn upload<T: Plain>(&self, data: &[T]) -> Result<Buffer<T>> {
        self.fits::<T>(data.len())?;
        let len = data.len() + guards::<T>();
        // SAFETY: no host pointer is given.
        let memory = unsafe { memory::Buffer::<T>::create(&self.context, CL_MEM_READ_WRITE, len, ptr::null_mut()) };
        let number = self.next_number();
        let buffer = Buffer {
            memory: memory.map_err(Error::call(format!("clCreateBuffer of {len} elements")))?,
            len: data.len(),
            number,
        };
        self.write(&buffer, data)?;
        self.write_at(&buffer, data.len(), &vec![T::guard(number); guards::<T>()])?;
        Ok(buffer)
    }

    /// Which one of the session's buffers and images the next one is.
    fn next_number(&self) -> u32 {
        self.buffers.replace(self.buffers.get().wrapping_add(1))
    }

    /// Overwrites the start of a buffer.
    pub fn write<T: Plain>(&self, buffer: &Buffer<T>, data: &[T]) -> Result<()> {
        if data.len() > buffer.len {
            return Err(Error::Params(format!("{} elements do not fit into {}", data.len(), buffer.len)));
        }
        if data.is_empty() {
            return Ok(());
        }
        self.write_at(buffer, 0, data)
    }

    // `first` and the data lie within the buffer and its guards.
    fn write_at<T: Plain>(&self, buffer: &Buffer<T>, first: usize, data: &[T]) -> Result<()> {
        // opencl3 asks for an exclusive buffer because the device writes to it; the handle itself does not change.
        let mut alias = std::mem::ManuallyDrop::new(memory::Buffer::<T>::new(buffer.memory.get()));
        let offset = first * size_of::<T>();
        // SAFETY: the device refuses a copy that its memory does not hold, and the call returns after the copy.
        unsafe { self.queue.enqueue_write_buffer(&mut alias, CL_BLOCKING, offset, data, &[]) }
            .map_err(Error::call("clEnqueueWriteBuffer"))?;
        Ok(())
    }

    /// The contents of a buffer, after all commands before. An error if a guard after its end was changed.
    pub fn read<T: Plain>(&self, buffer: &Buffer<T>) -> Result<Vec<T>> {
        // With the guards: a kernel that wrote beyond the end is found wherever a result is read.
        let mut data = vec![T::default(); buffer.len + guards::<T>()];
        // SAFETY: the vector holds as many elements as the buffer, any bits are a value of a plain type, and the call
        // blocks.
        unsafe { self.queue.enqueue_read_buffer(&buffer.memory, CL_BLOCKING, 0, &mut data, &[]) }
            .map_err(Error::call("clEnqueueReadBuffer"))?;
        let guard = T::guard(buffer.number);
        match data[buffer.len..].iter().position(|g| !g.same_bits(guard)) {
            None => {
                data.truncate(buffer.len);
                Ok(data)
            }
            Some(i) => Err(Error::Overrun { len: buffer.len, at: buffer.len + i }),
        }
    }

    /// Enqueues a kernel. An empty local size leaves the choice to the platform.
    pub fn launch(&self, kernel: &Kernel, args: &[Arg], global: &[usize], local: &[usize]) -> Result<()> {
        self.check_shape(kernel, global, local)?;
        self.set_args(kernel, args)?;
        // Only the first launch: what the host prepares before it is not counted as the platform's work.
        if self.launched_at.get().is_none() {
            self.launched_at.set(Some(stopwatch::own_processor()));
        }
        let event = self.enqueue(kernel, global, local)?;
        self.events.borrow_mut().push(Done(Arc::new(event)));
        Ok(())
    }

    /// Passes those arguments that differ from what the kernel has.
    fn set_args(&self, kernel: &Kernel, args: &[Arg]) -> Result<()> {
        let mut set = kernel.set.borrow_mut();
        if set.len() != args.len() {
            return Err(Error::Params(format!("{} takes {} arguments, not {}", kernel.name, set.len(), args.len())));
        }
        for (i, (arg, known)) in args.iter().zip(set.iter_mut()).enumerate() {
            if known.as_ref().is_some_and(|known| known.is(arg)) {
                continue;
            }
            let k = &kernel.kernel;
            let i = i as u32;
            // SAFETY: each argument is passed with the size of its own type, which clSetKernelArg compares with the
            // kernel's; memory handles come from buffers.
            let called = unsafe {
                match arg {
                    Arg::Memory(m, _) => k.set_arg(i, m),
                    Arg::Sampler(s) => k.set_arg(i, s),
                    Arg::U32(v) => k.set_arg(i, v),
                    Arg::I32(v) => k.set_arg(i, v),
                    Arg::F32(v) => k.set_arg(i, v),
                    Arg::Local(bytes) => k.set_arg_local_buffer(i, *bytes),
                    Arg::Value { bytes, len } => {
                        let value = &bytes[..(*len).min(Arg::LARGEST)];
                        opencl3::kernel::set_kernel_arg(k.get(), i, value.len(), value.as_ptr().cast())
                            .map_err(opencl3::error_codes::ClError)
                    }
                }
            };
            // The text is made only if needed: that takes longer than the call.
            called.map_err(|e| Error::call(format!("clSetKernelArg({}, {i})", kernel.name))(e))?;
            *known = Some(*arg);
        }
        Ok(())
    }

    /// Enqueues a kernel that has been launched once more: with the same arguments, and not measured by the device's
    /// clock.
    pub fn launch_again(&self, kernel: &Kernel, global: &[usize], local: &[usize]) -> Result<()> {
        self.enqueue(kernel, global, local).map(drop)
    }

    fn enqueue(&self, kernel: &Kernel, global: &[usize], local: &[usize]) -> Result<Event> {
        let event = enqueue(&self.queue, kernel, [&[], global, local], &[])?;
        if let Way::Built(watch, build) = self.first.get() {
            self.first.set(Way::Launched(watch, build));
        }
        Ok(event)
    }

    fn check_shape(&self, kernel: &Kernel, global: &[usize], local: &[usize]) -> Result<()> {
        let bad = |why: String| Err(Error::Params(why));
        if global.is_empty() || global.len() > 3 || global.contains(&0) || local.contains(&0) {
            return bad(format!("{}: global {global:?}, local {local:?}; take sizes from 1 on", kernel.name));
        }
        if local.is_empty() {
            return Ok(());
        }
        let group = local.iter().fold(1usize, |n, &side| n.saturating_mul(side));
        let most = match kernel.most.get() {
            Some(most) => most,
            None => {
                let asked = kernel.kernel.get_work_group_size(self.found.id.id());
                let most = asked.map_err(Error::call("clGetKernelWorkGroupInfo"))?;
                kernel.most.set(Some(most));
                most
            }
        };
        if group > most {
            return bad(format!(
                "{}: {group} work-items a group, this device takes {most}; choose smaller -tw and -th, or --local",
                kernel.name
            ));
        }
        if local.len() != global.len() {
            return bad(format!(
                "{}: the local size {local:?} has other dimensions than the global size {global:?}",
                kernel.name
            ));
        }
        if global.iter().zip(local).any(|(g, l)| g % l != 0) {
            return bad(format!("{}: the local size {local:?} does not divide {global:?}", kernel.name));
        }
        Ok(())
    }

    /// Forgets the launches whose times nobody wants.
    pub fn forget(&self) {
        self.events.borrow_mut().clear();
    }

    /// Waits for everything enqueued.
    pub fn finish(&self) -> Result<()> {
        self.queue.finish().map_err(Error::call("clFinish"))?;
        if let Way::Launched(watch, build) = self.first.get() {
            self.first.set(Way::Done(First { build, spent: watch.spent() }));
        }
        Ok(())
    }

    /// Runs `body` for each iteration and measures it. `body` says whether to go on.
    pub fn measure(&self, iterations: u32, body: impl FnMut(u32) -> Result<bool>) -> Result<Times> {
        self.measure_and(iterations, body, |_| Ok(()))
    }

    /// The same, with `after` at the end of each iteration, when its time has been taken: to hand over a frame.
    pub fn measure_and(
        &self,
        iterations: u32,
        mut body: impl FnMut(u32) -> Result<bool>,
        mut after: impl FnMut(u32) -> Result<()>,
    ) -> Result<Times> {
        if iterations == 0 {
            return Err(Error::Params("no iteration leaves no result: choose -i 1 or more".into()));
        }
        self.finish()?;
        self.events.borrow_mut().clear();
        let mut times = Times::default();
        // Entered when everything before has finished: from here on others may measure.
        let measuring = self.slot.as_ref().map(RoundRobinSlot::enter);
        for i in 0..iterations {
            if let Some(m) = &measuring {
                m.before(i);
            }
            self.launched_at.set(None);
            let start = Instant::now();
            let go_on = body(i)?;
            self.finish()?;
            times.wall.push(start.elapsed());
            let launched = self.launched_at.get().map(|at| stopwatch::own_processor().saturating_sub(at));
            times.processor.push(launched.unwrap_or_default());
            let mut device = Duration::ZERO;
            for done in self.events.borrow_mut().drain(..) {
                let (start, end) = done.span()?;
                device += end.saturating_sub(start);
            }
            times.device.push(device);
            after(i)?;
            self.observer.iteration(i as usize + 1, iterations as usize)?;
            if self.cancelled.load(Ordering::Relaxed) {
                return Err(Error::Cancelled { done: i as usize + 1, of: iterations as usize });
            }
            if let Some(m) = &measuring {
                m.after(i);
            }
            if !go_on {
                break;
            }
        }
        Ok(times)
    }

    /// The build option of the newest OpenCL C in which this device has work_group_reduce and its like: always in 2.0,
    /// an optional feature in 3.0.
    pub fn collective_functions(&self) -> Option<&'static str> {
        let device = self.found.id;
        // Asked first: what a platform of 3.0 says in the version of the device is 1.2 where it lacks a part of 2.0.
        if let Ok(versions) = device.opencl_c_all_versions() {
            let has = |major: u32| versions.iter().any(|v| v.version >> 22 == major);
            let supported = device.work_group_collective_functions_support().unwrap_or(false);
            return match (has(3), has(2)) {
                (true, _) if supported => Some("-cl-std=CL3.0"),
                (_, true) => Some("-cl-std=CL2.0"),
                _ => None,
            };
        }
        let version = self.found.c_version.strip_prefix("OpenCL C ").unwrap_or_default();
        version.starts_with("2.").then_some("-cl-std=CL2.0")
    }
}

/// What a program is made of.
enum Input<'a> {
    Source(&'a str),
    Il(&'a [u8]),
}

/// An in-order queue on one of the context's devices.
fn create_queue(context: &Context, found: &Found, properties: cl_command_queue_properties) -> Result<CommandQueue> {
    #[allow(deprecated, reason = "a platform of OpenCL 1.2 has no other call")]
    // SAFETY: the context lives.
    let queue = unsafe { CommandQueue::create(context, found.id.id(), properties) };
    queue.map_err(Error::call("clCreateCommandQueue"))
}

/// Builds a program for one of the context's devices, on any thread.
fn build_program(
    context: &Context,
    device: cl_device_id,
    name: &str,
    input: Input<'_>,
    options: &str,
) -> Result<Built> {
    // Both are handed over as strings that end at a zero byte.
    if options.contains('\0') || matches!(input, Input::Source(text) if text.contains('\0')) {
        return Err(Error::Params(format!("{name}: a zero byte in the source or in the options; remove it")));
    }
    let start = Instant::now();
    let mut program = match input {
        Input::Source(text) => opencl3::program::Program::create_from_source(context, text)
            .map_err(Error::call("clCreateProgramWithSource"))?,
        Input::Il(il) => {
            opencl3::program::Program::create_from_il(context, il).map_err(Error::call("clCreateProgramWithIL"))?
        }
    };
    let built = program.build(&[device], options);
    let time = start.elapsed();
    // Also of a build that went well: it may have warnings.
    let log = program.get_build_log(device).unwrap_or_default();
    match built {
        Ok(()) => Ok(Built { program, log, time }),
        Err(code) => Err(Error::Build {
            program: name.to_owned(),
            options: options.to_owned(),
            log: if log.trim().is_empty() { format!("clBuildProgram: {code}, and no log") } else { log },
        }),
    }
}

/// Enqueues a kernel whose arguments are set. Where no offset or no local size is wanted, they are empty.
fn enqueue(
    queue: &CommandQueue,
    kernel: &Kernel,
    [offset, global, local]: [&[usize]; 3],
    after: &[cl_event],
) -> Result<Event> {
    let or_null = |sizes: &[usize]| if sizes.is_empty() { ptr::null() } else { sizes.as_ptr() };
    // SAFETY: the arrays have as many elements as the launch has dimensions; the callers keep the buffers until they
    // read the results, and OpenCL itself keeps what its commands use.
    let event = unsafe {
        queue.enqueue_nd_range_kernel(
            kernel.kernel.get(),
            global.len() as u32,
            or_null(offset),
            global.as_ptr(),
            or_null(local),
            after,
        )
    };
    let shape = || format!("clEnqueueNDRangeKernel({}, global {global:?}, local {local:?})", kernel.name);
    event.map_err(|e| Error::call(shape())(e))
}

/// The smallest multiple of `step` that is at least `n`.
pub fn round_up(n: usize, step: usize) -> usize {
    n.div_ceil(step) * step
}
