//! Programs: where they come from, and their state for each device.

use crate::objects::build::{BuildKind, BuildState, DeviceBuild};
use crate::objects::il::Il;
use crate::status::{bail, ensure};
use crate::{Context, Device, Error, ExternalSlot, Result, Status};
use cloom_compiler as compiler;
use cloom_hal::lock::{Condvar, Mutex, MutexGuard};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ThreadId;

/// Where a program comes from.
pub enum ProgramOrigin {
    /// `clCreateProgramWithSource`: the pieces, joined.
    Source(Arc<Vec<u8>>),
    /// `clCreateProgramWithIL`
    Il(Il),
    /// `clCreateProgramWithBinary`.
    Binary,
    /// `clLinkProgram`.
    Linked,
}

/// A program.
pub struct Program {
    /// What the interface keeps.
    pub external: ExternalSlot,
    context: Arc<Context>,
    devices: Vec<Arc<Device>>,
    origin: ProgramOrigin,
    /// One per device.
    pub(crate) builds: Mutex<Vec<DeviceBuild>>,
    /// A build has ended.
    pub(crate) built: Condvar,
    /// The threads that build. Callbacks for their errors run on them: these must not wait for themselves.
    pub(crate) builders: Mutex<Vec<ThreadId>>,
    /// Kernel objects that exist.
    kernels: AtomicUsize,
}

impl Program {
    pub(crate) fn new(
        context: &Arc<Context>,
        devices: Vec<Arc<Device>>,
        origin: ProgramOrigin,
        builds: Vec<DeviceBuild>,
    ) -> Arc<Program> {
        Arc::new(Program {
            external: ExternalSlot::default(),
            context: context.clone(),
            devices,
            origin,
            builds: Mutex::new(builds),
            built: Condvar::new(),
            builders: Mutex::default(),
            kernels: AtomicUsize::new(0),
        })
    }

    /// A program from source text.
    pub fn with_source(context: &Arc<Context>, source: Vec<u8>) -> Arc<Program> {
        let devices = context.devices().to_vec();
        let builds = devices.iter().map(|_| DeviceBuild::default()).collect();
        Program::new(context, devices, ProgramOrigin::Source(Arc::new(source)), builds)
    }

    // OpenCL 3.0 API, 5.8.1: Creating Program Objects.
    /// A program from a module of SPIR-V.
    pub fn with_il(context: &Arc<Context>, binary: Vec<u8>) -> Result<Arc<Program>> {
        let devices = context.devices().to_vec();
        // One device is enough: for the others, the build fails (`execute_for`).
        let any = devices.iter().any(|d| d.takes_il());
        ensure!(any, InvalidOperation, "no device of the context takes an intermediate language");
        let builds = devices.iter().map(|_| DeviceBuild::default()).collect();
        Ok(Program::new(context, devices, ProgramOrigin::Il(Il::new(binary)?), builds))
    }

    /// Its module, if it was made from one.
    pub fn il(&self) -> Option<&Il> {
        match &self.origin {
            ProgramOrigin::Il(il) => Some(il),
            _ => None,
        }
    }

    /// Whether it was made from binaries.
    pub(crate) fn is_binary(&self) -> bool {
        matches!(self.origin, ProgramOrigin::Binary)
    }

    // OpenCL 3.0 API, 5.8.1: Creating Program Objects.
    /// A program from a binary for each device. Also reports for each binary whether it is valid; the program exists
    /// only if all are.
    pub fn with_binaries(
        context: &Arc<Context>,
        devices: &[Arc<Device>],
        binaries: &[&[u8]],
    ) -> (Result<Arc<Program>>, Vec<bool>) {
        let mut valid = Vec::new();
        let mut builds = Vec::new();
        let mut failure = None;
        // All are loaded even after a failure: clCreateProgramWithBinary returns a status for each.
        for binary in binaries {
            match context.engine().compile(|compiler| compiler.load(binary)) {
                Ok(unit) => {
                    builds.push(DeviceBuild::loaded(unit));
                    valid.push(true);
                }
                Err(why) => {
                    failure = Some(Error::new(Status::InvalidBinary, why.to_string()));
                    valid.push(false);
                }
            }
        }
        let program = match failure {
            Some(error) => Err(error),
            None => Ok(Program::new(context, devices.to_vec(), ProgramOrigin::Binary, builds)),
        };
        (program, valid)
    }

    /// The context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The devices.
    pub fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// Where it comes from.
    pub fn origin(&self) -> &ProgramOrigin {
        &self.origin
    }

    /// The number of a device in this program.
    pub fn index_of(&self, device: &Arc<Device>) -> Result<usize> {
        match self.devices.iter().position(|d| Arc::ptr_eq(d, device)) {
            Some(i) => Ok(i),
            None => bail!(InvalidDevice, "the device is not one of the program's"),
        }
    }

    /// The state, for a device by number.
    pub fn build(&self, device: usize) -> BuildState {
        self.builds.lock().get(device).map(|b| b.state.clone()).unwrap_or_default()
    }

    /// The compiled program, for a device by number.
    pub fn unit(&self, device: usize) -> Option<Arc<compiler::Program>> {
        self.builds.lock().get(device)?.unit.clone()
    }

    /// Bytes of the executable's variables, for a device by number.
    pub fn variables_size(&self, device: usize) -> u64 {
        self.builds.lock().get(device).and_then(|b| b.variables.as_ref()).map_or(0, |memory| memory.size())
    }

    /// The names of its kernels, in order of definition, by the first device that has an executable.
    pub fn kernels(&self) -> Result<Vec<String>> {
        let builds = self.builds_when_done();
        match builds.iter().find_map(|b| b.executable.as_ref()) {
            Some(executable) => Ok(executable.program().kernels().map(|(name, _)| name.to_owned()).collect()),
            None => bail!(InvalidProgramExecutable, "the program is not built for any device"),
        }
    }

    /// The state for each device, once no build is in progress: many applications give a callback to `clBuildProgram`
    /// or `clCompileProgram` and go on at once, because other implementations build before they return.
    pub(crate) fn builds_when_done(&self) -> MutexGuard<'_, Vec<DeviceBuild>> {
        let mut builds = self.builds.lock();
        while builds.iter().any(|b| b.state.status == BuildKind::InProgress)
            // This thread builds the program itself, and a callback that it runs asks: waiting would never end.
            && !self.builders.lock().contains(&std::thread::current().id())
        {
            builds = self.built.wait(builds);
        }
        builds
    }

    /// Kernel objects of this program that exist.
    pub(crate) fn kernel_count(&self) -> usize {
        self.kernels.load(Ordering::Acquire)
    }

    pub(crate) fn count_kernel(&self, up: bool) {
        if up {
            self.kernels.fetch_add(1, Ordering::AcqRel);
        } else {
            self.kernels.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Checks the devices of a call: none means all. What is built for a device is built for those of the program that
    /// are parts of it.
    pub(crate) fn select(&self, devices: Option<&[Arc<Device>]>) -> Result<Vec<usize>> {
        match devices {
            None => Ok((0..self.devices.len()).collect()),
            Some(list) => {
                ensure!(!list.is_empty(), InvalidValue, "an empty list of devices");
                let named = list.iter().map(|d| self.index_of(d)).collect::<Result<Vec<_>>>()?;
                // A device stands for its sub-devices too.
                let within = |i: &usize| {
                    let is_named = |d: &Arc<Device>| list.iter().any(|named| Arc::ptr_eq(named, d));
                    !named.contains(i) && self.devices[*i].ancestors().any(is_named)
                };
                // Devices of this program that are parts of a named one, directly or by several divisions.
                let parts: Vec<usize> = (0..self.devices.len()).filter(within).collect();
                Ok([named, parts].concat())
            }
        }
    }
}
