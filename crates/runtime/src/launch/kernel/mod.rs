//! Kernels: what a program's kernel is on each device, and the arguments set so far.

mod arg_states;
mod args;
mod checked_args;
mod pack;
mod set_args;

pub use set_args::{ArgInput, WithMemObject, WithQueue, WithSampler};

use crate::status::{bail, ensure};
use crate::{Device, Error, ExternalSlot, KernelCode, Program, Result, Status};
use arg_states::expected_states;
use args::Args;
use cloom_compiler::BoundsChecks;
use cloom_hal::SvmKind;
use cloom_ir::{KernelMeta, KernelParam, ParamKind};
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

    /// A kernel whose accesses outside of its memory objects do not happen, with the same arguments: loads give 0
    /// instead, and stores are dropped. Its accesses through pointers that lie in memory do not happen either.
    ///
    /// # Errors
    /// It has pipes, or device queues.
    pub fn bounds_checked(&self) -> Result<Arc<Kernel>> {
        self.with_checks(BoundsChecks::Silent)
    }

    /// The kernel with code that does this about accesses outside of its memory objects, with the same arguments.
    pub(crate) fn with_checks(&self, checks: BoundsChecks) -> Result<Arc<Kernel>> {
        let unchecked = |p: &&KernelParam| matches!(p.kind, ParamKind::Pipe | ParamKind::Queue);
        if let Some(param) = self.meta.params.iter().find(unchecked) {
            bail!(
                InvalidOperation,
                "`{}` of kernel `{}` is a `{}`, whose accesses cannot be checked",
                param.name,
                self.name,
                param.type_name
            );
        }
        let codes = self.codes.iter().map(|code| code.as_ref().map(|code| code.with_checks(checks).clone())).collect();
        let copy = Kernel::new(self.program.clone(), &self.name, self.meta.clone(), codes);
        copy.args.copy_from(&self.args);
        Ok(copy)
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

    // OpenCL 3.0 API, 5.10: Executing Kernels.
    /// Checks that every argument is set.
    pub(crate) fn check_args(&self) -> Result<()> {
        match self.args.unset() {
            Some(i) => Err(self.unset(i)),
            None => Ok(()),
        }
    }

    /// Checks that no argument is shared memory by its address, which the host may use while the kernel runs.
    pub fn check_no_addresses(&self) -> Result<()> {
        let mut given = self.args.read();
        let found = (0..given.len()).find(|&i| matches!(given.get(i), Some(args::Arg::Address(_))));
        match found.map(|i| &self.meta.params[i].name) {
            None => Ok(()),
            Some(name) => bail!(
                InvalidArgValue,
                "argument `{name}` of kernel `{}` is shared memory, which the host may use while a kernel with checked \
                 accesses runs: give it a buffer",
                self.name
            ),
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
}

impl Drop for Kernel {
    fn drop(&mut self) {
        self.program.count_kernel(false);
    }
}

impl Program {
    // OpenCL 3.0 API, 5.9.1: Creating Kernel Objects.
    /// A kernel by name.
    pub fn kernel(self: &Arc<Program>, name: &str) -> Result<Arc<Kernel>> {
        let mut builds = self.builds_when_done();
        ensure!(
            builds.iter().any(|b| b.executable.is_some()),
            InvalidProgramExecutable,
            "the program is not built for any device"
        );
        let mut codes = Vec::new();
        let mut meta = None;
        for (build, device) in builds.iter_mut().zip(self.devices()) {
            let Some(executable) = build.executable.clone() else {
                // The numbers of `codes` are those of the program's devices, so a device without an executable has a
                // place too.
                codes.push(None);
                continue;
            };
            let Some((_, found)) = executable.program().kernels().find(|(known, _)| *known == name) else {
                bail!(InvalidKernelName, "the program has no kernel `{name}`");
            };
            // OpenCL 3.0, section 5.9.1: CL_INVALID_KERNEL_DEFINITION if the kernel's signature differs between
            // devices.
            let same = meta.get_or_insert_with(|| found.clone()) == found;
            ensure!(same, InvalidKernelDefinition, "kernel `{name}` differs between the devices");
            // All kernel objects of one name share the code, so it is compiled once.
            let code = build.codes.entry(name.to_owned());
            let (variables, blocks) = (build.variables.clone(), build.blocks.clone());
            let code = code.or_insert_with(|| KernelCode::new(name, device.clone(), executable, variables, blocks));
            codes.push(Some(code.clone()));
        }
        let Some(meta) = meta else {
            bail!(InvalidKernelName, "the program has no kernel `{name}`");
        };
        // Under the lock, so that no build begins meanwhile.
        let kernel = Kernel::new(self.clone(), name, meta, codes);
        if self.context().engine().hooks.bounds_checks { kernel.bounds_checked() } else { Ok(kernel) }
    }
}
