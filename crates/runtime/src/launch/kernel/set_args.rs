//! Setting the arguments of a kernel: each value is checked against the parameter.

use super::{Access, Kernel};
use crate::host_mem::HostPtr;
use crate::status::{bail, ensure};
use crate::{Error, MemFlags, MemObject, Queue, Result, Sampler, Status};
use cloom_ir::{KernelParam, ParamKind};
use std::fmt::{self, Display};
use std::sync::Arc;

/// Calls a function with the memory object of a handle, or fails if there is none.
pub type WithMemObject<'a> = dyn Fn(usize, &dyn Fn(&Arc<MemObject>) -> Result<()>) -> Result<()> + 'a;

/// Calls a function with the sampler of a handle, or fails if there is none.
pub type WithSampler<'a> = dyn Fn(usize, &dyn Fn(&Arc<Sampler>) -> Result<()>) -> Result<()> + 'a;

/// Calls a function with the queue of a handle, or fails if there is none.
pub type WithQueue<'a> = dyn Fn(usize, &dyn Fn(&Arc<Queue>) -> Result<()>) -> Result<()> + 'a;

/// The arguments of `clSetKernelArg`.
pub struct ArgInput<'a> {
    /// `arg_size`
    pub size: u64,
    /// `arg_value`
    pub value: Option<HostPtr>,
    /// Calls a function with the memory object of a handle.
    pub with_mem_object: &'a WithMemObject<'a>,
    /// Calls a function with the sampler of a handle.
    pub with_sampler: &'a WithSampler<'a>,
    /// Calls a function with the queue of a handle.
    pub with_queue: &'a WithQueue<'a>,
}

impl ArgInput<'_> {
    /// The handle that the value is; 0 if there is none.
    fn handle(&self) -> usize {
        self.value.map_or(0, |v| v.read(0, 8, |b| usize::from_ne_bytes(b.try_into().unwrap_or_default())))
    }
}

impl Kernel {
    /// Sets an argument that is a sampler.
    pub fn set_sampler_arg(&self, index: u32, sampler: &Arc<Sampler>) -> Result<()> {
        let param = self.param(index)?;
        let is_sampler = param.kind == ParamKind::Sampler;
        ensure!(is_sampler, InvalidArgValue, "argument {index} (`{}`) is not a sampler", param.name);
        self.store_sampler(index, param, sampler)
    }

    // OpenCL 3.0 API, 5.9.2: Setting Kernel Arguments.
    /// `clSetKernelArgDevicePointerEXT`: the address of memory in a buffer that has one.
    pub fn set_device_address_arg(&self, index: u32, address: u64) -> Result<()> {
        self.program.context().check_buffer_addresses()?;
        let pointer = |param: &KernelParam| param.kind == ParamKind::Global;
        let param = self.param(index)?;
        ensure!(
            pointer(param),
            InvalidArgIndex,
            "argument {index} (`{}`) is not a pointer to global memory",
            param.name
        );
        self.args.set_address(index as usize, address);
        Ok(())
    }

    // OpenCL 3.0 API, 5.9.2: Setting Kernel Arguments.
    /// Sets an argument as `clSetKernelArg` does: what the bytes mean depends on the parameter.
    pub fn set_arg(&self, index: u32, input: &ArgInput<'_>) -> Result<()> {
        let param = self.param(index)?;
        let what = self.what(index, param);
        let size = input.size;
        match param.kind {
            ParamKind::Local => {
                ensure!(input.value.is_none(), InvalidArgValue, "{what} is local memory: its value must be NULL");
                self.args.set_local(index as usize, size);
                Ok(())
            }
            ParamKind::Global | ParamKind::Constant => {
                check_handle_size(&what, "a buffer", "cl_mem", size)?;
                match input.handle() {
                    0 => self.store_buffer(index, param, None),
                    handle => (input.with_mem_object)(handle, &|buffer| self.store_buffer(index, param, Some(buffer))),
                }
            }
            ParamKind::Value | ParamKind::Struct => {
                // Before the bytes are read: only a right size guarantees that they exist.
                self.check_size(param, &what, size)?;
                let Some(value) = input.value else {
                    bail!(InvalidArgValue, "{what} is a value and cannot be NULL");
                };
                value.read(0, size, |bytes| self.args.set_bytes(index as usize, bytes));
                Ok(())
            }
            ParamKind::Sampler => {
                check_handle_size(&what, "a sampler", "cl_sampler", size)?;
                (input.with_sampler)(input.handle(), &|sampler| self.store_sampler(index, param, sampler))
            }
            ParamKind::Queue => {
                check_handle_size(&what, "a queue", "cl_command_queue", size)?;
                let invalid = |e: Error| Error::new(Status::InvalidDeviceQueue, e.why);
                (input.with_queue)(input.handle(), &|queue| self.store_queue(index, param, queue)).map_err(invalid)
            }
            ParamKind::Image => {
                check_handle_size(&what, "an image", "cl_mem", size)?;
                (input.with_mem_object)(input.handle(), &|image| self.store_image(index, param, image))
            }
            ParamKind::Pipe => {
                check_handle_size(&what, "a pipe", "cl_mem", size)?;
                (input.with_mem_object)(input.handle(), &|pipe| self.store_pipe(index, param, pipe))
            }
        }
    }

    /// Sets an argument that is passed by value, from its bytes.
    pub fn set_value_arg(&self, index: u32, bytes: &[u8]) -> Result<()> {
        let param = self.param(index)?;
        let what = self.what(index, param);
        let by_value = matches!(param.kind, ParamKind::Value | ParamKind::Struct);
        ensure!(by_value, InvalidArgValue, "{what} is a `{}`, not a value", param.type_name);
        self.check_size(param, &what, bytes.len() as u64)?;
        self.args.set_bytes(index as usize, bytes);
        Ok(())
    }

    /// Sets an argument that is a pointer to global or constant memory; `None` is the null pointer.
    pub fn set_buffer_arg(&self, index: u32, buffer: Option<&Arc<MemObject>>) -> Result<()> {
        let param = self.param(index)?;
        let what = self.what(index, param);
        let pointer = matches!(param.kind, ParamKind::Global | ParamKind::Constant);
        ensure!(pointer, InvalidArgValue, "{what} is a `{}`, not a pointer to global memory", param.type_name);
        self.store_buffer(index, param, buffer)
    }

    fn store_buffer(&self, index: u32, param: &KernelParam, buffer: Option<&Arc<MemObject>>) -> Result<()> {
        let same = buffer.is_none_or(|b| Arc::ptr_eq(b.context(), self.program.context()));
        ensure!(same, InvalidContext, "{}: the buffer is of another context", self.what(index, param));
        let other = buffer.filter(|b| b.check_is_buffer().is_err());
        ensure!(
            other.is_none(),
            InvalidMemObject,
            "{} is a buffer, not {}",
            self.what(index, param),
            other.map_or("", |b| b.noun())
        );
        let denied = param.kind == ParamKind::Global && !param.is_const && buffer.is_some_and(|b| b.is_immutable());
        ensure!(
            !denied,
            InvalidArgValue,
            "{}: the buffer is immutable (CL_MEM_IMMUTABLE_EXT), and the kernel's pointer is not to const",
            self.what(index, param)
        );
        self.args.set_buffer(index as usize, buffer);
        Ok(())
    }

    /// Sets an argument that is an image.
    pub fn set_image_arg(&self, index: u32, image: &Arc<MemObject>) -> Result<()> {
        let param = self.param(index)?;
        let what = self.what(index, param);
        ensure!(param.kind == ParamKind::Image, InvalidArgValue, "{what} is a `{}`, not an image", param.type_name);
        self.store_image(index, param, image)
    }

    // OpenCL 3.0 API, 5.9.2: Setting Kernel Arguments.
    fn store_image(&self, index: u32, param: &KernelParam, object: &Arc<MemObject>) -> Result<()> {
        let what = self.what(index, param);
        let same = Arc::ptr_eq(object.context(), self.program.context());
        ensure!(same, InvalidContext, "{what}: the image is of another context");
        let image = object.image()?;
        ensure!(image.fits(&param.type_name), InvalidMemObject, "{what} is a `{}`: the image is not", param.type_name);
        let excluded = match Access::of(param) {
            Access::ReadOnly | Access::None => MemFlags::WRITE_ONLY,
            Access::WriteOnly => MemFlags::READ_ONLY | MemFlags::IMMUTABLE,
            Access::ReadWrite => MemFlags::READ_ONLY | MemFlags::WRITE_ONLY | MemFlags::IMMUTABLE,
        };
        let denied = object.flags().intersects(excluded);
        ensure!(!denied, InvalidArgValue, "{what}: the image's flags forbid what the kernel does with it");
        self.args.set_buffer(index as usize, Some(object));
        Ok(())
    }

    // OpenCL 3.0 API, 5.9.2: Setting Kernel Arguments.
    fn store_pipe(&self, index: u32, param: &KernelParam, object: &Arc<MemObject>) -> Result<()> {
        let same = Arc::ptr_eq(object.context(), self.program.context());
        ensure!(same, InvalidMemObject, "{}: the pipe is of another context", self.what(index, param));
        object.pipe()?;
        self.args.set_buffer(index as usize, Some(object));
        Ok(())
    }

    fn store_sampler(&self, index: u32, param: &KernelParam, sampler: &Arc<Sampler>) -> Result<()> {
        let same = Arc::ptr_eq(sampler.context(), self.program.context());
        ensure!(same, InvalidContext, "{}: the sampler is of another context", self.what(index, param));
        // By value: the bits are all that a kernel needs of a sampler, so the object may be released before the launch.
        self.args.set_bytes(index as usize, &sampler.bits().to_le_bytes());
        Ok(())
    }

    fn store_queue(&self, index: u32, param: &KernelParam, queue: &Arc<Queue>) -> Result<()> {
        let what = self.what(index, param);
        let same = Arc::ptr_eq(queue.context(), self.program.context());
        ensure!(same, InvalidDeviceQueue, "{what}: the queue is of another context");
        ensure!(queue.on_device().is_some(), InvalidDeviceQueue, "{what}: the queue is one of the host");
        // By number, which kernels pass back: a queue that is gone by then is just not found.
        self.args.set_bytes(index as usize, &queue.id().to_le_bytes());
        Ok(())
    }

    /// Sets an argument that is a pointer to so many bytes of local memory; 0 if the kernel needs none of it.
    pub fn set_local_arg(&self, index: u32, size: u64) -> Result<()> {
        let param = self.param(index)?;
        let what = self.what(index, param);
        let local = param.kind == ParamKind::Local;
        ensure!(local, InvalidArgValue, "{what} is a `{}`, not a pointer to local memory", param.type_name);
        self.args.set_local(index as usize, size);
        Ok(())
    }

    // OpenCL 3.0 API, 5.9.2: Setting Kernel Arguments.
    /// Sets an argument that is a pointer to memory which the device shares with the host.
    pub fn set_svm_arg(&self, index: u32, address: usize) -> Result<()> {
        let param = self.param(index)?;
        let shared = self.program.context().devices().iter().any(|d| d.svm().is_some());
        ensure!(shared, InvalidOperation, "no device of the context has shared virtual memory");
        let pointer = matches!(param.kind, ParamKind::Global | ParamKind::Constant);
        ensure!(pointer, InvalidArgValue, "argument {index} (`{}`) is not a pointer to global memory", param.name);
        self.args.set_address(index as usize, address as u64);
        Ok(())
    }

    pub(super) fn param(&self, index: u32) -> Result<&KernelParam> {
        let count = self.meta.params.len();
        let Some(param) = self.meta.params.get(index as usize) else {
            bail!(InvalidArgIndex, "kernel `{}` has {count} arguments, there is no number {index}", self.name);
        };
        Ok(param)
    }

    /// An argument, as messages name it.
    fn what<'a>(&'a self, index: u32, param: &'a KernelParam) -> ArgName<'a> {
        ArgName { index, param: &param.name, kernel: &self.name }
    }

    fn check_size(&self, param: &KernelParam, what: &ArgName<'_>, size: u64) -> Result<()> {
        let expected = u64::from(param.size);
        ensure!(size == expected, InvalidArgSize, "{what} has {expected} bytes ({}), not {size}", param.type_name);
        Ok(())
    }

    /// Bytes of local memory that arguments ask for, so far.
    pub fn local_arg_bytes(&self) -> u64 {
        self.args.local_bytes()
    }
}

/// An argument's name in messages.
struct ArgName<'a> {
    index: u32,
    param: &'a str,
    kernel: &'a str,
}

impl Display for ArgName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "argument {} (`{}`) of kernel `{}`", self.index, self.param, self.kernel)
    }
}

/// Checks the size of an argument that is a handle.
fn check_handle_size(what: &ArgName<'_>, kind: &str, handle: &str, size: u64) -> Result<()> {
    ensure!(size == 8, InvalidArgSize, "{what} is {kind}: its size is that of a {handle}, 8, not {size}");
    Ok(())
}
