//! Kernels: the arguments set so far, and packing them into the argument block of a launch.

use crate::args::{Arg, Args};
use crate::blocks::Blocks;
use crate::context::ZeroedMemory;
use crate::host_mem::HostPtr;
use crate::residency::{AccessMode, Space};
use crate::sampler::USUAL_SAMPLER;
use crate::status::{bail, ensure};
use crate::{
    Context, Device, Error, ExternalSlot, KernelCode, MemFlags, MemObject, Program, Queue, Result, Sampler, Status,
};
use cloom_artifact::{KernelArgKind, KernelArtifact};
use cloom_caps::image::{ImageFormat, channel, order};
use cloom_compiler::{ArgState, ArgStates};
use cloom_hal::SvmKind;
use cloom_ir::abi::BLOCK_ALIGN;
use cloom_ir::{KernelMeta, KernelParam, ParamKind};
use smallvec::SmallVec;
use std::fmt::{self, Display};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// The address space of a parameter, as the application sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArgSpace {
    /// A buffer, an image or a pipe.
    Global,
    /// Local memory.
    Local,
    /// A buffer that is only read.
    Constant,
    /// A value.
    Private,
}

impl ArgSpace {
    /// Of a parameter.
    pub fn of(param: &KernelParam) -> ArgSpace {
        match param.kind {
            ParamKind::Global | ParamKind::Image | ParamKind::Pipe => ArgSpace::Global,
            ParamKind::Local => ArgSpace::Local,
            ParamKind::Constant => ArgSpace::Constant,
            ParamKind::Value | ParamKind::Struct | ParamKind::Sampler | ParamKind::Queue => ArgSpace::Private,
        }
    }
}

/// The access qualifier of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// It is no image and no pipe.
    None,
    /// `read_only`
    ReadOnly,
    /// `write_only`
    WriteOnly,
    /// `read_write`
    ReadWrite,
}

impl Access {
    /// Of a parameter.
    pub fn of(param: &KernelParam) -> Access {
        match param.access {
            1 => Access::ReadOnly,
            2 => Access::WriteOnly,
            3 => Access::ReadWrite,
            _ => Access::None,
        }
    }
}

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

/// A kernel.
pub struct Kernel {
    /// What the interface keeps.
    pub external: ExternalSlot,
    program: Arc<Program>,
    name: String,
    meta: KernelMeta,
    /// One per device of the program.
    codes: Vec<Option<Arc<KernelCode>>>,
    args: Args,
    /// Whether it has images or samplers.
    is_special: bool,
    /// What it accesses through pointers in memory: bits of [`Indirect`].
    indirect: AtomicU8,
}

/// Memory that a kernel accesses through pointers in memory (`clSetKernelExecInfo`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Indirect {
    /// Allocations of shared virtual memory.
    Svm,
    /// Any memory of the host.
    System,
    /// Allocations of unified shared memory, from a list.
    Usm,
    /// Those of the host.
    UsmHost,
    /// Those of devices.
    UsmDevice,
    /// Those that are shared.
    UsmShared,
    /// Buffers, by their addresses.
    Buffers,
}

impl Kernel {
    pub(crate) fn new(
        program: Arc<Program>,
        name: &str,
        meta: KernelMeta,
        codes: Vec<Option<Arc<KernelCode>>>,
    ) -> Arc<Kernel> {
        program.count_kernel(true);
        let args = Args::new(meta.params.len());
        let is_special = meta.params.iter().any(|p| matches!(p.kind, ParamKind::Image | ParamKind::Sampler));
        let (external, indirect) = Default::default();
        Arc::new(Kernel { external, program, name: name.to_owned(), meta, codes, args, is_special, indirect })
    }

    /// `clCloneKernel`: another kernel with the same arguments.
    pub fn duplicate(&self) -> Arc<Kernel> {
        let copy = Kernel::new(self.program.clone(), &self.name, self.meta.clone(), self.codes.clone());
        copy.args.copy_from(&self.args);
        copy.indirect.store(self.indirect.load(Ordering::Relaxed), Ordering::Relaxed);
        copy
    }

    // OpenCL 3.0 API, 5.9.2: Setting Kernel Arguments.
    /// Sets whether it accesses such memory through pointers in memory.
    pub fn set_indirect(&self, what: Indirect, any: bool) -> Result<()> {
        let context = self.program.context();
        let some = |has: fn(&Device) -> bool| context.devices().iter().any(|d| has(d));
        let is_possible = match what {
            Indirect::Svm => some(|d| d.svm().is_some()),
            Indirect::System => !any || some(|d| matches!(d.svm(), Some((SvmKind::FineGrainSystem, _)))),
            Indirect::Buffers => return context.check_buffer_addresses().map(|()| self.note_indirect(what, any)),
            _ => some(|d| d.usm_capabilities() != 0),
        };
        ensure!(is_possible, InvalidOperation, "no device of the context has such memory");
        self.note_indirect(what, any);
        Ok(())
    }

    fn note_indirect(&self, what: Indirect, any: bool) {
        let bit = 1 << what as u8;
        match any {
            true => self.indirect.fetch_or(bit, Ordering::Relaxed),
            false => self.indirect.fetch_and(!bit, Ordering::Relaxed),
        };
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

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its metadata.
    pub fn meta(&self) -> &KernelMeta {
        &self.meta
    }

    // OpenCL 3.0 API, 5.9.4: Kernel Object Queries.
    /// The devices that have code, one of which is meant when a query names none and there is only one.
    pub fn code_on(&self, device: Option<&Arc<Device>>) -> Result<&Arc<KernelCode>> {
        let code = match device {
            Some(device) => self.codes.get(self.program.index_of(device)?).and_then(Option::as_ref),
            None => {
                let mut built = self.codes.iter().flatten();
                let first = built.next();
                ensure!(built.next().is_none(), InvalidDevice, "the kernel is built for several devices: name one");
                first
            }
        };
        match code {
            Some(code) => Ok(code),
            None => bail!(InvalidDevice, "the kernel is not built for the device"),
        }
    }

    // OpenCL 3.0 API, 5.9.4: Kernel Object Queries.
    /// The code that a launch with the present arguments would run, for questions about it. Images and samplers that
    /// are not set count as the most usual ones: code for all of them is many times as large, takes forty times as long
    /// to compile, and no launch runs it.
    pub fn expected_code(&self, device: Option<&Arc<Device>>) -> Result<Arc<KernelCode>> {
        let code = self.code_on(device)?;
        let known = self.arg_states(self.program.context().space_of(code.device()));
        Ok(code.specialised(expected_states(&self.meta, &known)).into_owned())
    }

    /// The code for the device of a queue.
    pub(crate) fn code_for_launch(&self, device: &Arc<Device>) -> Result<&Arc<KernelCode>> {
        self.code_on(Some(device)).map_err(|e| Error::new(Status::InvalidProgramExecutable, e.why))
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
        self.args.set_bytes(index as usize, &sampler.bits().to_le_bytes());
        Ok(())
    }

    fn store_queue(&self, index: u32, param: &KernelParam, queue: &Arc<Queue>) -> Result<()> {
        let what = self.what(index, param);
        let same = Arc::ptr_eq(queue.context(), self.program.context());
        ensure!(same, InvalidDeviceQueue, "{what}: the queue is of another context");
        ensure!(queue.on_device().is_some(), InvalidDeviceQueue, "{what}: the queue is one of the host");
        self.args.set_bytes(index as usize, &queue.id().to_le_bytes());
        Ok(())
    }

    /// The images and samplers that are set now, for which code is specialised that runs in a space.
    pub(crate) fn arg_states(&self, space: Space) -> ArgStates {
        let mut states = ArgStates::new();
        if !self.is_special {
            return states;
        }
        let mut args = self.args.read();
        for (i, param) in self.meta.params.iter().enumerate() {
            let state = match (param.kind, args.get(i)) {
                (ParamKind::Image, Some(Arg::Buffer(Some(object)))) => object.upgrade().and_then(|object| {
                    let image = object.as_image()?;
                    let ImageFormat { order, channel_type } = image.format;
                    let (is_large, is_column) = (image.is_large(), image.is_column());
                    // A texture unit may not see what the kernel writes.
                    let has_texture = Access::of(param) == Access::ReadOnly && object.has_texture(space);
                    Some(ArgState::Image { order, channel_type, is_large, is_column, has_texture })
                }),
                (ParamKind::Sampler, Some(Arg::Bytes(bytes))) => {
                    bytes.first_chunk().map(|bits| ArgState::Sampler(u32::from_le_bytes(*bits)))
                }
                _ => None,
            };
            states.extend(state.map(|state| (i as u32, state)));
        }
        states
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

    fn param(&self, index: u32) -> Result<&KernelParam> {
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

    /// Bytes of local memory that arguments ask for, so far.
    pub fn local_arg_bytes(&self) -> u64 {
        self.args.local_bytes()
    }

    // OpenCL 3.0 API, 5.10: Executing Kernels.
    /// Checks that every argument is set.
    pub(crate) fn check_args(&self) -> Result<()> {
        match self.args.unset() {
            Some(i) => Err(self.unset(i)),
            None => Ok(()),
        }
    }

    fn unset(&self, i: usize) -> Error {
        let name = &self.meta.params[i].name;
        Error::new(Status::InvalidKernelArgs, format!("argument `{name}` of kernel `{}` has not been set", self.name))
    }

    /// The memory object of an argument is no more.
    fn released(&self, i: usize) -> Error {
        let param = &self.meta.params[i];
        let what = if param.kind == ParamKind::Image { "image" } else { "buffer" };
        let (name, kernel) = (&param.name, &self.name);
        let why = format!("the {what} that argument `{name}` of kernel `{kernel}` was set to has been released");
        Error::new(Status::InvalidKernelArgs, why)
    }

    /// The current arguments as an argument block. `packed` is empty; it belongs to the caller, so that its buffers are
    /// not dropped under the lock, where dropping the last reference would call the application.
    pub(crate) fn pack(&self, artifact: &KernelArtifact, queue: &Queue, packed: &mut Packed) -> Result<()> {
        packed.space = queue.space();
        packed.migrates = self.program.context().has_device_memory();
        packed.local_size = artifact.local_size;
        packed.zero_local = self.program.context().zeroes(ZeroedMemory::LOCAL);
        packed.shares = self.indirect.load(Ordering::Relaxed) != 0;
        packed.block.resize(artifact.arg_block as usize, 0);
        let mut args = self.args.read();
        ensure!(
            artifact.args.len() == args.len(),
            OutOfResources,
            "the code of the kernel has other arguments than its source"
        );
        for (i, at) in artifact.args.iter().enumerate() {
            let Some(value) = args.get(i) else { return Err(self.unset(i)) };
            let (word, descriptor);
            let bytes: &[u8] = match (at.kind, value) {
                (KernelArgKind::Bytes, Arg::Bytes(bytes)) => bytes,
                (KernelArgKind::Buffer, Arg::Buffer(None)) => &[0; 8],
                (KernelArgKind::Buffer, Arg::Buffer(Some(buffer))) => {
                    let Some(buffer) = buffer.upgrade() else { return Err(self.released(i)) };
                    word = buffer.device_address(packed.space)?.to_le_bytes();
                    packed.shares |= buffer.is_shared();
                    let param = &self.meta.params[i];
                    let only_reads = param.kind == ParamKind::Constant
                        || param.is_const
                        || buffer.flags().contains(MemFlags::READ_ONLY);
                    packed.buffers.push((buffer, if only_reads { AccessMode::Read } else { AccessMode::Update }));
                    &word
                }
                (KernelArgKind::Image, Arg::Buffer(Some(image))) => {
                    let Some(image) = image.upgrade() else { return Err(self.released(i)) };
                    word = image.descriptor_address(packed.space)?.to_le_bytes();
                    packed.add_image(image, &self.meta.params[i]);
                    &word
                }
                (KernelArgKind::Bytes, Arg::Buffer(Some(image))) => {
                    let Some(image) = image.upgrade() else { return Err(self.released(i)) };
                    descriptor = image.descriptor_bytes(packed.space)?;
                    packed.add_image(image, &self.meta.params[i]);
                    &descriptor
                }
                (KernelArgKind::Sampler, Arg::Bytes(bytes)) => bytes,
                (KernelArgKind::Buffer, Arg::Address(address)) => {
                    ensure!(
                        queue.device().svm().is_some(),
                        InvalidOperation,
                        "the device has no shared virtual memory"
                    );
                    packed.shares = true;
                    word = address.to_le_bytes();
                    &word
                }
                (KernelArgKind::Local, Arg::Local(size)) => {
                    let begin = packed.local_size.checked_next_multiple_of(u64::from(BLOCK_ALIGN));
                    let end = begin.and_then(|b| b.checked_add(size));
                    let (Some(begin), Some(end)) = (begin, end) else {
                        bail!(OutOfResources, "the local memory of the arguments is larger than 2^64 bytes");
                    };
                    packed.local_size = end;
                    word = begin.to_le_bytes();
                    &word
                }
                _ => bail!(OutOfResources, "the code of the kernel has other arguments than its source"),
            };
            let place = packed.block.get_mut(at.offset as usize..).and_then(|b| b.get_mut(..bytes.len()));
            match place {
                Some(place) => place.copy_from_slice(bytes),
                None => bail!(OutOfResources, "an argument lies outside of the argument block"),
            }
        }
        Ok(())
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

/// The memory objects among the arguments of a launch.
pub(crate) type Buffers = SmallVec<[(Arc<MemObject>, AccessMode); 4]>;

/// The arguments of a launch.
#[derive(Default)]
pub(crate) struct Packed {
    /// The argument block.
    pub block: SmallVec<[u8; 128]>,
    /// Local memory of a group.
    pub local_size: u64,
    /// Whether local memory begins as zeros.
    pub zero_local: bool,
    /// The buffers among the arguments, which must live until the kernel is done, and how it accesses them.
    pub buffers: Buffers,
    /// Where the kernel runs.
    pub space: Space,
    /// Whether they may have to be copied there.
    pub migrates: bool,
    /// Whether there is memory among them that the host may use at the same time.
    pub shares: bool,
    /// What the kernel may enqueue, if it enqueues.
    pub blocks: Option<(Arc<Context>, Arc<Blocks>)>,
}

impl Packed {
    /// Adds an image that is an argument.
    fn add_image(&mut self, image: Arc<MemObject>, param: &KernelParam) {
        self.shares |= image.is_shared();
        let only_reads = matches!(Access::of(param), Access::ReadOnly | Access::None);
        self.buffers.push((image, if only_reads { AccessMode::Read } else { AccessMode::Update }));
    }

    /// Makes the buffers usable where the kernel runs.
    pub fn make_resident(&self) -> Result<()> {
        if self.migrates {
            for (buffer, access) in &self.buffers {
                buffer.acquire(self.space, 0, buffer.size(), *access)?;
            }
        }
        Ok(())
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        self.program.count_kernel(false);
    }
}

/// The states of all images and samplers: those that are known, and for the others the most usual ones.
fn expected_states(meta: &KernelMeta, known: &ArgStates) -> ArgStates {
    let state = |(i, param): (u32, &KernelParam)| {
        let known = known.iter().find(|(k, _)| *k == i).map(|(_, state)| *state);
        Some((i, known.or_else(|| usual_state(param))?))
    };
    (0..).zip(&meta.params).filter_map(state).collect()
}

/// What launches pass most often for an image or a sampler: bytes of four channels that count from 0 to 1, and elements
/// by their numbers, the nearest ones, at the edge those of the edge.
fn usual_state(param: &KernelParam) -> Option<ArgState> {
    match param.kind {
        ParamKind::Image => {
            let (order, channel_type) = match param.type_name.contains("depth") {
                true => (order::DEPTH, channel::FLOAT),
                false => (order::RGBA, channel::UNORM_INT8),
            };
            Some(ArgState::Image { order, channel_type, is_large: false, is_column: false, has_texture: false })
        }
        ParamKind::Sampler => Some(ArgState::Sampler(USUAL_SAMPLER)),
        _ => None,
    }
}

/// Checks the size of an argument that is a handle.
fn check_handle_size(what: &ArgName<'_>, kind: &str, handle: &str, size: u64) -> Result<()> {
    ensure!(size == 8, InvalidArgSize, "{what} is {kind}: its size is that of a {handle}, 8, not {size}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn param(kind: ParamKind, type_name: &str) -> KernelParam {
        KernelParam {
            name: "p".into(),
            type_name: type_name.into(),
            kind,
            size: 8,
            align: 8,
            is_const: false,
            is_restrict: false,
            is_volatile: false,
            access: 1,
            pointee_align: 1,
        }
    }

    #[test]
    fn what_is_not_set_yet_is_expected_to_be_usual() {
        let params = vec![
            param(ParamKind::Global, "float*"),
            param(ParamKind::Image, "image2d_t"),
            param(ParamKind::Sampler, "sampler_t"),
            param(ParamKind::Image, "image2d_depth_t"),
            param(ParamKind::Image, "image3d_t"),
        ];
        let meta = KernelMeta { params, ..KernelMeta::default() };
        let image = |order, channel_type| ArgState::Image {
            order,
            channel_type,
            is_large: false,
            is_column: false,
            has_texture: false,
        };
        let known = vec![(4, image(order::R, channel::FLOAT))];
        let usual = [
            (1, image(order::RGBA, channel::UNORM_INT8)),
            (2, ArgState::Sampler(0x12)),
            (3, image(order::DEPTH, channel::FLOAT)),
            (4, image(order::R, channel::FLOAT)),
        ];
        assert_eq!(expected_states(&meta, &known), usual);
        assert!(expected_states(&KernelMeta::default(), &ArgStates::new()).is_empty());
    }
}
