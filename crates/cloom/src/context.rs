//! A context: the device, an in-order queue on it, and the objects made in it.
//!
//! Contexts of [`Context::new`] share one platform for the whole process, and so its threads. [`Context::with`] makes
//! one of its own.

use crate::{Buffer, BuildError, Error, Pod, Program};
use cloom_hal_cpu::{Choice, fpenv};
use cloom_runtime as rt;
use std::io::Write as _;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// Receives the output of kernels, as bytes.
pub type Printer = Box<dyn Fn(&[u8]) + Send + Sync>;

/// Options of a context. The default is read from the environment variables of Cloom.
#[derive(Default)]
pub struct Options {
    /// How many threads run kernels; 0: `CLOOM_THREADS`, or as many as there are cores.
    pub threads: usize,
    /// The set of instructions (`sse4.2`, `avx2`, `avx512`, `neon`); `None`: `CLOOM_CPU`, or the best that the machine
    /// has.
    pub cpu: Option<String>,
    /// Whether events have times. Launches then wait for the optimised code of their kernel.
    pub profiling: bool,
    /// Receives the output of kernels; `None`: standard output.
    pub printer: Option<Printer>,
}

/// The description of a device.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Its name: "AMD EPYC 9B45".
    pub name: String,
    /// The target of code: `x86_64-unknown-linux-gnu:x86-64-v4`.
    pub target: String,
    /// How many threads run kernels.
    pub compute_units: u32,
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes of local memory of a work-group, at most.
    pub local_memory: u64,
    /// Work-items of a work-group, at most.
    pub max_group_size: u64,
}

/// The last error of a command, which its event knows as a number only.
pub(crate) type LastError = Arc<Mutex<Option<String>>>;

/// A device with a queue on which commands run in order. Cheap to clone; all clones are one context. Usable from any
/// thread.
#[derive(Clone)]
pub struct Context {
    pub(crate) runtime: Arc<rt::Context>,
    pub(crate) queue: Arc<rt::Queue>,
    pub(crate) last_error: LastError,
}

static SHARED: LazyLock<Result<Arc<rt::Platform>, String>> = LazyLock::new(|| platform(&Options::default(), None));

/// The platform with the one device that this machine has.
fn platform(options: &Options, printer: Option<Printer>) -> Result<Arc<rt::Platform>, String> {
    // The first caller may have another rounding mode or traps.
    let _float_env = fpenv::enter(false);
    let device = Choice::new(options.threads, options.cpu.as_deref()).device?;
    let print = printer.unwrap_or_else(|| {
        Box::new(|text: &[u8]| {
            // If standard output is closed, the output is lost.
            let _ = std::io::stdout().write_all(text);
        })
    });
    let hooks = rt::Hooks { print, enter_float_env: || Box::new(fpenv::enter(false)) };
    let engine = rt::Engine::new(rt::Compiler::from_env(), hooks);
    Ok(rt::Platform::new(engine, vec![Arc::new(device)]))
}

impl Context {
    /// A context on this machine's CPU, with the options from the environment variables of Cloom.
    ///
    /// # Errors
    /// [`Error::NoDevice`] where the processor has less than the least set of instructions.
    pub fn new() -> Result<Context, Error> {
        let platform = SHARED.as_ref().map_err(|why| Error::NoDevice(why.clone()))?;
        Context::on(platform, false)
    }

    /// A context with a platform of its own.
    ///
    /// # Errors
    /// [`Error::NoDevice`] where the machine lacks the instructions asked for.
    pub fn with(mut options: Options) -> Result<Context, Error> {
        let printer = options.printer.take();
        Context::on(&platform(&options, printer).map_err(Error::NoDevice)?, options.profiling)
    }

    fn on(platform: &Arc<rt::Platform>, profiling: bool) -> Result<Context, Error> {
        let last_error = LastError::default();
        let sink = last_error.clone();
        let notify: rt::ErrorCallback = Box::new(move |text| {
            *sink.lock().unwrap_or_else(PoisonError::into_inner) = Some(text.to_owned());
        });
        let devices = platform.devices();
        let runtime = rt::Context::new(devices, None, Some(notify))?;
        let flags = if profiling { rt::QueueFlags::PROFILING } else { rt::QueueFlags::empty() };
        let queue = rt::Queue::new(&runtime, &devices[0], flags, None)?;
        Ok(Context { runtime, queue, last_error })
    }

    /// The description of the device.
    pub fn device(&self) -> DeviceInfo {
        let device = self.queue.device();
        let info = device.info();
        DeviceInfo {
            name: info.name.clone(),
            target: info.target.name().to_owned(),
            compute_units: info.compute_units,
            memory: info.memory_size,
            local_memory: device.local_memory(),
            max_group_size: device.max_group_size(),
        }
    }

    /// A buffer of `len` elements, all bytes zero.
    ///
    /// # Errors
    /// When there is not enough memory, or `len` is 0.
    pub fn buffer<T: Pod>(&self, len: usize) -> Result<Buffer<T>, Error> {
        Buffer::zeroed(self, len)
    }

    /// A buffer with a copy of a slice.
    ///
    /// # Errors
    /// When there is not enough memory, or the slice is empty.
    pub fn buffer_from<T: Pod>(&self, data: &[T]) -> Result<Buffer<T>, Error> {
        Buffer::copied(self, data)
    }

    /// Compiles and links OpenCL C source.
    ///
    /// # Errors
    /// A [`BuildError`] with the diagnostics, as text and as data.
    pub fn build(&self, source: &str) -> Result<Program, BuildError> {
        self.build_with(source, "")
    }

    /// [`build`](Self::build) with the options of `clBuildProgram`: `-D NAME=VALUE -cl-fast-relaxed-math`.
    ///
    /// # Errors
    /// A [`BuildError`]; also for options that do not exist.
    pub fn build_with(&self, source: &str, options: &str) -> Result<Program, BuildError> {
        Program::build(self, source, options)
    }

    /// Compiles and links a module of SPIR-V, with the options of `clBuildProgram`.
    ///
    /// # Errors
    /// A [`BuildError`] with the reason.
    pub fn build_il(&self, il: &[u8], options: &str) -> Result<Program, BuildError> {
        Program::build_il(self, il, options)
    }

    /// Waits until all commands have ended.
    pub fn finish(&self) {
        self.queue.finish();
    }
}
