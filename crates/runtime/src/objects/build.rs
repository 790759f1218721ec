//! Building, compiling and linking programs, at once or in the background with a callback.

use crate::objects::blocks::Blocks;
use crate::objects::context::ZeroedMemory;
use crate::objects::program::{Program, ProgramOrigin};
use crate::objects::variables::variables;
use crate::status::{bail, ensure};
use crate::{Context, Device, Error, KernelCode, Result, Status};
use cloom_artifact::ImageKind;
use cloom_compiler::{
    self as compiler, BuildTarget, Compilation, Compiler, Diagnostic, Executable, Failure, Header, Source,
};
use cloom_hal as hal;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// `CL_PROGRAM_BUILD_STATUS`; the numbers are the specification's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(i32)]
pub enum BuildKind {
    /// It succeeded.
    Success = 0,
    /// No build was made.
    #[default]
    None = -1,
    /// It failed.
    Error = -2,
    /// It is in progress.
    InProgress = -3,
}

/// How a program was last built for a device.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BuildState {
    /// Whether it worked.
    pub status: BuildKind,
    /// The options.
    pub options: String,
    /// The log.
    pub log: String,
    /// The diagnostics in it, as data.
    pub diagnostics: Vec<Diagnostic>,
    /// The result of the last build.
    pub binary: Option<ImageKind>,
}

/// A program on a device.
#[derive(Default)]
pub(crate) struct DeviceBuild {
    pub state: BuildState,
    pub unit: Option<Arc<compiler::Program>>,
    pub executable: Option<Arc<Executable>>,
    /// The memory of the executable's variables.
    pub variables: Option<Arc<dyn hal::Memory>>,
    pub codes: BTreeMap<String, Arc<KernelCode>>,
    /// The blocks that its kernels enqueue.
    pub blocks: Option<Arc<Blocks>>,
}

impl DeviceBuild {
    /// From a binary, which still has to be built.
    pub fn loaded(unit: Arc<compiler::Program>) -> DeviceBuild {
        let binary = Some(unit.kind());
        DeviceBuild {
            state: BuildState { binary, ..BuildState::default() },
            unit: Some(unit),
            ..DeviceBuild::default()
        }
    }
}

/// Called when a build in the background has ended.
pub type Notify = Box<dyn FnOnce() + Send>;

/// What messages call a source that came as text.
const SOURCE_NAME: &str = "program.cl";

enum Job {
    Build,
    Compile(Vec<Header>),
    /// The inputs, for each device of the program.
    Link(Vec<Vec<Arc<compiler::Program>>>),
}

/// Whether one compilation serves both devices.
fn is_alike(a: &Device, b: &Device) -> bool {
    a.info().target == b.info().target && a.caps() == b.caps()
}

impl Program {
    // OpenCL 3.0 API, 5.8.4: Building Program Executables.
    /// `clBuildProgram`: compiles and links for the devices given, or all.
    pub fn build_for(
        self: &Arc<Program>,
        devices: Option<&[Arc<Device>]>,
        options: Option<&str>,
        notify: Option<Notify>,
    ) -> Result<()> {
        let selected = self.select(devices)?;
        ensure!(
            !matches!(self.origin(), ProgramOrigin::Linked),
            InvalidOperation,
            "the program comes from clLinkProgram: it is built"
        );
        let mut text = options.unwrap_or("").to_owned();
        if self.is_binary() {
            for &i in &selected {
                let unit = self.unit(i);
                let good = unit.as_ref().is_some_and(|u| u.kind() == ImageKind::Executable);
                ensure!(good, InvalidBinary, "the program's binary is not an executable: link it with clLinkProgram");
                // Without options, a binary is built with those that it was made with (section 5.8.4).
                if let (None, Some(unit)) = (options, unit) {
                    text = unit.options_text().to_owned();
                }
            }
        }
        self.begin(&selected, &text)?;
        self.run(selected, text, Job::Build, Status::InvalidBuildOptions, Status::BuildProgramFailure, notify)
    }

    // OpenCL 3.0 API, 5.8.5: Separate Compilation and Linking of Programs.
    /// `clCompileProgram`. A header is a program made from source, under the name that `#include` uses.
    pub fn compile_for(
        self: &Arc<Program>,
        devices: Option<&[Arc<Device>]>,
        options: &str,
        headers: &[(String, Arc<Program>)],
        notify: Option<Notify>,
    ) -> Result<()> {
        let selected = self.select(devices)?;
        let has_text = matches!(self.origin(), ProgramOrigin::Source(_) | ProgramOrigin::Il(_));
        ensure!(has_text, InvalidOperation, "the program has neither source nor SPIR-V");
        let mut texts = Vec::new();
        // A module of SPIR-V includes nothing.
        let headers = if self.il().is_some() { &[] } else { headers };
        for (name, header) in headers {
            let same = Arc::ptr_eq(header.context(), self.context());
            ensure!(same, InvalidContext, "header `{name}` is of another context than the program");
            let ProgramOrigin::Source(text) = header.origin() else {
                bail!(InvalidOperation, "header `{name}` has no source");
            };
            texts.push(Header { name: name.clone(), text: text.to_vec() });
        }
        self.begin(&selected, options)?;
        let job = Job::Compile(texts);
        self.run(
            selected,
            options.to_owned(),
            job,
            Status::InvalidCompilerOptions,
            Status::CompileProgramFailure,
            notify,
        )
    }

    // OpenCL 3.0 API, 5.8.5: Separate Compilation and Linking of Programs.
    /// `clLinkProgram`: a new program. When linking fails at once there is a program with the log, and an error.
    pub fn link(
        context: &Arc<Context>,
        devices: Option<&[Arc<Device>]>,
        options: &str,
        inputs: &[Arc<Program>],
        notify: impl FnOnce(&Arc<Program>) -> Option<Notify>,
    ) -> (Option<Arc<Program>>, Result<()>) {
        match Program::prepare_link(context, devices, inputs) {
            Err(error) => (None, Err(error)),
            Ok((devices, units)) => {
                let builds = devices.iter().map(|_| DeviceBuild::default()).collect();
                let program = Program::new(context, devices, ProgramOrigin::Linked, builds);
                let selected: Vec<usize> = (0..program.devices().len()).collect();
                // Made before the link begins: the callback gets the handle of the program.
                let call = notify(&program);
                let (bad_options, bad_program) = (Status::InvalidLinkerOptions, Status::LinkProgramFailure);
                let result = program.begin(&selected, options).and_then(|()| {
                    program.run(selected, options.to_owned(), Job::Link(units), bad_options, bad_program, call)
                });
                // With invalid options the link does not begin, and clLinkProgram returns no program. If the link
                // itself fails, the program has its log.
                let refused = matches!(&result, Err(e) if e.status == Status::InvalidLinkerOptions);
                ((!refused).then_some(program), result)
            }
        }
    }

    // OpenCL 3.0 API, 5.8.5: Separate Compilation and Linking of Programs.
    #[allow(clippy::type_complexity, reason = "the two lists of one call, nowhere else")]
    fn prepare_link(
        context: &Arc<Context>,
        devices: Option<&[Arc<Device>]>,
        inputs: &[Arc<Program>],
    ) -> Result<(Vec<Arc<Device>>, Vec<Vec<Arc<compiler::Program>>>)> {
        ensure!(!inputs.is_empty(), InvalidValue, "there are no programs to link");
        let devices = devices.unwrap_or(context.devices());
        ensure!(!devices.is_empty(), InvalidValue, "an empty list of devices");
        let known = devices.iter().all(|d| context.index_of(d).is_some());
        ensure!(known, InvalidDevice, "a device is not of the context");
        let mut units = vec![Vec::new(); devices.len()];
        for input in inputs {
            ensure!(Arc::ptr_eq(input.context(), context), InvalidContext, "an input program is of another context");
            for (device, units) in devices.iter().zip(&mut units) {
                let i = input.index_of(device).map_err(|e| Error::new(Status::InvalidOperation, e.why))?;
                // It may still be in progress if this thread builds it and links from a callback.
                let running = input.builds_when_done()[i].state.status == BuildKind::InProgress;
                ensure!(!running, InvalidOperation, "an input program is still being compiled");
                let unit = input.unit(i).filter(|u| u.kind() != ImageKind::Executable);
                let Some(unit) = unit else {
                    bail!(InvalidOperation, "an input program is neither compiled (clCompileProgram) nor a library");
                };
                units.push(unit);
            }
        }
        Ok((devices.to_vec(), units))
    }

    // OpenCL 3.0 API, 5.8.4: Building Program Executables.
    /// Marks the devices as being built.
    fn begin(&self, selected: &[usize], options: &str) -> Result<()> {
        let mut builds = self.builds.lock();
        let running = selected.iter().any(|&i| builds[i].state.status == BuildKind::InProgress);
        ensure!(!running, InvalidOperation, "an earlier build of this program has not ended");
        let kernels = self.kernel_count();
        ensure!(
            kernels == 0,
            InvalidOperation,
            "the program has {kernels} kernel objects; release them before building again"
        );
        let binary = self.is_binary();
        for &i in selected {
            // Only a binary is kept: it cannot be made again, while the unit of a source comes from this build.
            let unit = builds[i].unit.take().filter(|_| binary);
            let kind = unit.as_ref().map(|u| u.kind());
            let state = BuildState {
                status: BuildKind::InProgress,
                options: options.to_owned(),
                binary: kind,
                ..BuildState::default()
            };
            builds[i] = DeviceBuild { state, unit, ..DeviceBuild::default() };
        }
        Ok(())
    }

    fn run(
        self: &Arc<Program>,
        selected: Vec<usize>,
        options: String,
        job: Job,
        bad_options: Status,
        bad_program: Status,
        notify: Option<Notify>,
    ) -> Result<()> {
        let engine = self.context().engine();
        let this = self.clone();
        let work = move || {
            // `builds_when_done` must not wait on this thread, whose callbacks may ask for the kernels of the program.
            this.builders.lock().push(std::thread::current().id());
            // Also after a panic of the compiler, no build stays in progress: threads wait for that.
            let unfinished = Unfinished { program: &this, selected: &selected };
            let outcomes = this.execute(&selected, &options, &job);
            // All of them are concluded before the first error is returned.
            let results = outcomes
                .into_iter()
                .map(|(devices, outcome)| this.conclude(&devices, outcome, bad_options, bad_program))
                .collect::<Vec<_>>();
            // Before the results go back: whoever waits for the build finds it ended.
            drop(unfinished);
            results.into_iter().collect()
        };
        // Without a callback the call itself builds, on the thread of the application.
        let Some(notify) = notify else { return work() };
        engine.activate();
        let context = self.context().clone();
        let engine_of_task = engine.clone();
        let program = self.clone();
        engine.builds.submit(Box::new(move || {
            // The application queries the status; the error has gone to the callback of the context.
            drop(std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)));
            drop(context);
            // The program is kept until the callback has run, even if the application releases it meanwhile.
            engine_of_task.callbacks.submit(Box::new(move || {
                notify();
                drop(program);
            }));
        }));
        Ok(())
    }

    /// Compiles once for each kind of device among those selected: what comes out is the same program for devices that
    /// are alike, and becomes machine code later.
    fn execute(&self, selected: &[usize], options: &str, job: &Job) -> Vec<(Vec<usize>, Compilation)> {
        // Devices that are alike, as the sub-devices of one device are, share one compilation.
        let mut kinds: Vec<Vec<usize>> = Vec::new();
        for &i in selected {
            let alike = |kind: &&mut Vec<usize>| is_alike(&self.devices()[kind[0]], &self.devices()[i]);
            // Each device has a binary of its own.
            let binary = self.is_binary();
            match kinds.iter_mut().find(alike).filter(|_| !binary) {
                Some(kind) => kind.push(i),
                None => kinds.push(vec![i]),
            }
        }
        let engine = self.context().engine();
        let run = |kind: Vec<usize>| {
            let outcome = engine.compile(|compiler| self.execute_for(kind[0], options, job, compiler));
            (kind, outcome)
        };
        kinds.into_iter().map(run).collect()
    }

    fn execute_for(&self, index: usize, options: &str, job: &Job, compiler: &Compiler) -> Compilation {
        let checker = self.context().engine().checker();
        let with_checks =
            checker.filter(|_| !matches!(job, Job::Link(_))).map(|c| format!("{options} {}", c.build_options()));
        let options = with_checks.as_deref().unwrap_or(options);
        let text = match self.origin() {
            ProgramOrigin::Source(text) => text.as_slice(),
            ProgramOrigin::Il(_) | ProgramOrigin::Binary | ProgramOrigin::Linked => &[],
        };
        let device = &self.devices()[index];
        let source = Source { name: SOURCE_NAME, text };
        let target = BuildTarget { target: &device.info().target, caps: device.caps() };
        if let (Some(il), Job::Build | Job::Compile(_)) = (self.il(), job) {
            if !device.takes_il() {
                let log = "error: the device takes no intermediate language\n".to_owned();
                return Compilation::failed(Failure::Program, log, Vec::new());
            }
            return il.compile(compiler, options, target, matches!(job, Job::Build));
        }
        match job {
            Job::Build => match self.unit(index) {
                Some(unit) if self.is_binary() => Compilation::of(unit),
                _ => compiler.build(&source, options, target),
            },
            Job::Compile(headers) => compiler.compile(&source, options, headers, target),
            Job::Link(units) => compiler.link(&units[index], options),
        }
    }

    fn conclude(
        &self,
        selected: &[usize],
        outcome: Compilation,
        bad_options: Status,
        bad_program: Status,
    ) -> Result<()> {
        let engine = self.context().engine();
        let Compilation { result, log, diagnostics, .. } = outcome;
        let mut without_memory = None;
        for &i in selected {
            let linked = result.as_ref().ok().filter(|unit| unit.kind() == ImageKind::Executable);
            let target = &self.devices()[i].info().target;
            // Zeroed private memory is other code, but the binary that queries give stays the one of `unit`.
            let zeroed = linked.filter(|_| self.context().zeroes(ZeroedMemory::PRIVATE));
            let zeroed = zeroed.map(|unit| Arc::new(unit.with_zeroed_private()));
            let code = zeroed.as_ref().or(linked);
            let executable = code.map(|unit| engine.compile(|compiler| compiler.executable(unit, target)));
            let variables = match linked {
                Some(unit) => variables(&self.devices()[i], unit),
                None => Ok(None),
            };
            // Before the lock, because the remarks may run the compiler.
            let remarks = executable.as_ref().map(|e| engine.compile(|_| e.remarks())).unwrap_or_default();
            let mut builds = self.builds.lock();
            let build = &mut builds[i];
            build.state.log = log.clone() + &remarks;
            build.state.diagnostics.clone_from(&diagnostics);
            match (&result, variables) {
                (Ok(_), Err(error)) => {
                    build.state.status = BuildKind::Error;
                    let _ = writeln!(build.state.log, "error: no memory for the program's variables: {}", error.why);
                    // The devices that follow are concluded all the same.
                    without_memory.get_or_insert(error);
                }
                (Ok(unit), Ok(variables)) => {
                    build.blocks = executable
                        .as_ref()
                        .map(|executable| Blocks::of(&self.devices()[i], executable, variables.as_ref()));
                    build.variables = variables;
                    build.state.status = BuildKind::Success;
                    build.state.binary = Some(unit.kind());
                    build.unit = Some(unit.clone());
                    build.executable = executable;
                }
                (Err(_), _) => build.state.status = BuildKind::Error,
            }
        }
        match (result, without_memory) {
            (Err(Failure::Options), _) => Err(Error::new(bad_options, log)),
            (Err(Failure::Program), _) => Err(Error::new(bad_program, log)),
            (Ok(_), Some(error)) => Err(error),
            (Ok(_), None) => Ok(()),
        }
    }
}

/// Ends a build that panicked before all devices were concluded, so that no waiting thread hangs.
struct Unfinished<'a> {
    program: &'a Program,
    selected: &'a [usize],
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        let mut builds = self.program.builds.lock();
        let in_progress = |&&i: &&usize| builds[i].state.status == BuildKind::InProgress;
        for i in self.selected.iter().filter(in_progress).copied().collect::<Vec<_>>() {
            builds[i].state.status = BuildKind::Error;
            builds[i].state.log = "error: the compiler failed; this is a bug of Cloom\n".into();
        }
        self.program.builders.lock().retain(|&id| id != std::thread::current().id());
        self.program.built.notify_all();
    }
}
