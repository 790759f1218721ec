//! A context: devices, an in-order queue on the first of them, and the objects made in it.
//!
//! Contexts of [`Context::new`] and [`Context::on`] share one platform for the whole process, and so its threads.
//! [`Context::with`] makes one of its own.

use crate::shared::Shared;
use crate::{
    Buffer, BuildError, Device, DeviceInfo, Error, Image, ImageFormat, Options, Pod, Program, Queue, QueueOptions,
};
use crate::{Sampler, SamplerOptions, SvmBuffer, SvmOptions, platform};
use cloom_runtime as rt;
use std::fmt;
use std::sync::Arc;

/// Devices that share objects, with a queue on the first one. Cheap to clone; all clones are one context. Usable from
/// any thread.
#[derive(Clone)]
pub struct Context {
    shared: Arc<Shared>,
}

impl Context {
    /// A context on the default device, which is the CPU if the environment says nothing else.
    ///
    /// # Errors
    /// [`Error::NoDevice`] where the machine has none.
    pub fn new() -> Result<Context, Error> {
        // The default device is the first one; `shared` fails where there is none.
        Context::of(&platform::shared()?.devices()[..1], false)
    }

    /// A context on these devices of [`Device::all`], with a queue on the first one.
    ///
    /// # Errors
    /// When there is no device in the list.
    pub fn on(devices: &[Device]) -> Result<Context, Error> {
        let devices: Vec<_> = devices.iter().map(|device| device.runtime.clone()).collect();
        Context::of(&devices, false)
    }

    /// A context with a platform of its own, on all its devices.
    ///
    /// # Errors
    /// [`Error::NoDevice`] where the machine lacks what is asked for.
    pub fn with(mut options: Options) -> Result<Context, Error> {
        // Taken out of the options, because the platform keeps it for as long as it lives.
        let printer = options.printer.take();
        Context::of(platform::own(&options, printer)?.devices(), options.profiling)
    }

    pub(crate) fn of(devices: &[Arc<rt::Device>], profiling: bool) -> Result<Context, Error> {
        let runtime = rt::Context::new(devices, None, None)?;
        let options = QueueOptions { profiling, ..QueueOptions::default() };
        // The runtime has refused an empty list above.
        let queue = Queue::new(&runtime, &devices[0], options)?;
        Ok(Context { shared: Arc::new(Shared::new(runtime, queue)) })
    }

    /// Its devices.
    pub fn devices(&self) -> Vec<Device> {
        self.shared.runtime.devices().iter().map(|runtime| Device { runtime: runtime.clone() }).collect()
    }

    /// The description of the device of its own queue.
    pub fn device(&self) -> DeviceInfo {
        self.shared.queue.device().info()
    }

    /// A further queue, on a device of the context.
    ///
    /// # Errors
    /// When the device is not of this context.
    pub fn queue(&self, device: &Device, options: QueueOptions) -> Result<Queue, Error> {
        Queue::new(&self.shared.runtime, &device.runtime, options)
    }

    /// A buffer of `len` elements, all bytes zero.
    ///
    /// # Errors
    /// When there is not enough memory, or `len` is 0.
    pub fn buffer<T: Pod>(&self, len: usize) -> Result<Buffer<T>, Error> {
        Buffer::zeroed(&self.shared, len)
    }

    /// A buffer with a copy of a slice.
    ///
    /// # Errors
    /// When there is not enough memory, or the slice is empty.
    pub fn buffer_from<T: Pod>(&self, data: &[T]) -> Result<Buffer<T>, Error> {
        Buffer::copied(&self.shared, data)
    }

    /// Shared virtual memory of `len` elements, all bytes zero.
    ///
    /// # Errors
    /// When no device has such memory ([`DeviceInfo::svm`]), there is not enough, or `len` is 0.
    pub fn svm<T: Pod>(&self, len: usize) -> Result<SvmBuffer<T>, Error> {
        self.svm_with(len, SvmOptions::default())
    }

    /// [`svm`](Self::svm) with options.
    ///
    /// # Errors
    /// As for [`svm`](Self::svm); or when a device has no memory with these options.
    pub fn svm_with<T: Pod>(&self, len: usize, options: SvmOptions) -> Result<SvmBuffer<T>, Error> {
        let buffer = SvmBuffer::zeroed(&self.shared.runtime, &self.shared.queue, len, options)?;
        // From now on, every launch of the context reckons with pointers to shared memory in its buffers.
        self.shared.note_svm();
        Ok(buffer)
    }

    /// Shared virtual memory with a copy of a slice.
    ///
    /// # Errors
    /// As for [`svm`](Self::svm).
    pub fn svm_from<T: Pod>(&self, data: &[T]) -> Result<SvmBuffer<T>, Error> {
        let mut buffer = self.svm(data.len())?;
        buffer.map_mut()?.copy_from_slice(data);
        Ok(buffer)
    }

    /// An image with as many dimensions as sizes are given: `context.image(format, [width, height])`. Its elements are
    /// unspecified.
    ///
    /// # Errors
    /// When no device has images, or none of this format and size.
    pub fn image<const N: usize>(&self, format: ImageFormat, size: [usize; N]) -> Result<Image, Error> {
        Image::new(&self.shared.runtime, &self.shared.queue, format, size)
    }

    /// A sampler, for `sampler_t` parameters.
    ///
    /// # Errors
    /// When no device has images, or coordinates that are not normalised are to be repeated.
    pub fn sampler(&self, options: SamplerOptions) -> Result<Sampler, Error> {
        Sampler::new(&self.shared.runtime, options)
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
        Program::build(&self.shared, source, options)
    }

    /// Compiles and links a module of SPIR-V, with the options of `clBuildProgram`.
    ///
    /// # Errors
    /// A [`BuildError`] with the reason.
    pub fn build_il(&self, il: &[u8], options: &str) -> Result<Program, BuildError> {
        Program::build_il(&self.shared, il, options)
    }

    /// A program from what [`Program::binary`] gave, in this or another process.
    ///
    /// # Errors
    /// When it is no binary of this version of Cloom.
    pub fn load(&self, binary: &[u8]) -> Result<Program, Error> {
        Program::load(&self.shared, binary)
    }

    /// Waits until all commands of the context's own queue have ended.
    pub fn finish(&self) {
        self.shared.queue.finish();
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("devices", &self.devices()).finish_non_exhaustive()
    }
}
