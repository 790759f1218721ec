//! `CLOOM_CHECK`: the launches of a program are checked, and the program ends with a report.
//!
//! In come launches of the runtime ([`LaunchChecker`]); each runs in the reference interpreter, with copies of its
//! buffers, under the checker. The findings of all launches are one report, which is written when the program ends.
//!
//! * `state`: all that is known of the program.
//! * `calls`, `misuse`: findings about calls of the host program, and their sentences.
//! * `command`: a command of it; `stack`: where it has called from; `host`: its memory; `ranges`: bytes.
//! * `leaks`: objects that it has made, and those that it never releases.
//! * `order`, `conflicts`: which commands may run at the same time, and which of them race.
//! * `pending`: memory of the host that belongs to commands.
//! * `maps`: regions that are mapped.
//! * `unwritten`: bytes of buffers that nothing has written.
//! * `launch`: one launch in the interpreter.
//! * `progress`: how far it has come.
//! * `memory`: the buffers and images of a launch.
//! * `shared`: its shared virtual memory, and the variables of its program.

mod calls;
mod command;
mod conflicts;
mod host;
mod launch;
mod leaks;
mod maps;
mod memory;
mod misuse;
mod order;
mod pending;
mod progress;
mod ranges;
mod shared;
mod stack;
mod state;
mod unwritten;

use cloom_caps::env;
use cloom_check::interpreted::SPEED;
use cloom_check::report::{self, Format};
use cloom_check::suppress::{self, Rules};
use cloom_check::{Finding, Kind, Kinds, Severity, finding};
use cloom_ir::ParamKind;
use cloom_runtime::{Awaited, CheckedArg, CheckedLaunch, Compiler, EnqueuedCommand, Error, LaunchChecker, NewObject};
use command::Caller;
use launch::{Linked, Setting};
use stack::Stack;
use state::{Command, Known, State};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Seconds of a launch, where no other number is given.
const SECONDS: u64 = 60;

/// The checker that the environment asks for.
pub fn from_env(compiler: &Arc<Compiler>) -> Option<Arc<dyn LaunchChecker>> {
    if !env::CHECK.is_on() {
        return None;
    }
    let list = env::CHECK.get().unwrap_or_default();
    let kinds = match list.as_str() {
        "1" | "yes" | "on" | "true" => Kinds::default(),
        list => Kinds::parse(list).unwrap_or_else(|word| {
            eprintln!("cloom: {}: there is no kind of finding `{word}`; all are looked for", env::CHECK.name);
            Kinds::default()
        }),
    };
    let seconds = env::CHECK_SECONDS.get().and_then(|text| text.parse().ok()).filter(|&seconds: &u64| seconds > 0);
    let seconds = seconds.unwrap_or(SECONDS);
    let format = env::CHECK_FORMAT.get().and_then(|name| Format::named(&name)).unwrap_or(Format::Text);
    Some(Arc::new(Programs {
        format,
        output: env::CHECK_OUTPUT.path().map(|path| of_this_process(&path)),
        status: env::CHECK_STATUS.path(),
        compiler: compiler.clone(),
        fuel: seconds.saturating_mul(SPEED),
        writing: Mutex::new(()),
        state: Mutex::new(State::new(kinds)),
    }))
}

/// Checks the launches of this process.
struct Programs {
    format: Format,
    output: Option<PathBuf>,
    status: Option<PathBuf>,
    compiler: Arc<Compiler>,
    /// Instructions of a launch, at most.
    fuel: u64,
    /// Held while the report is written: the process does not end meanwhile.
    writing: Mutex<()>,
    state: Mutex<State>,
}

impl Programs {
    fn with<T>(&self, use_state: impl FnOnce(&mut State) -> T) -> T {
        // A launch that panicked has left a report that is still true.
        use_state(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The kernel for the interpreter.
    fn linked(&self, launch: &CheckedLaunch) -> Result<Arc<Linked>, String> {
        let key = (Arc::as_ptr(&launch.program).addr(), launch.kernel.clone());
        self.with(|state| {
            if let Some(known) = state.kernels.get(&key) {
                return known.linked.clone();
            }
            let name = match &launch.source {
                Some(source) => state.name(source),
                None => state.name_without_source(launch.origin, &launch.program.encode()),
            };
            let linked = Linked::new(&self.compiler, launch, &name).map(Arc::new);
            state.kernels.insert(key, Known { _program: launch.program.clone(), linked: linked.clone() });
            linked
        })
    }
}

impl Programs {
    /// Runs a launch.
    fn run(&self, id: u64, command: &Command, launch: &CheckedLaunch, print: &dyn Fn(&[u8])) {
        let Ok(linked) = self.linked(launch) else { return };
        // Not under the lock: launches of several queues run at a time.
        let (kinds, sources) = self.with(|state| {
            state.runs(id, &launch.kernel);
            (state.kinds.clone(), state.sources.clone())
        });
        let compiled =
            if kinds.are_compiled() { launch::run_compiled(launch, &linked, &kinds, &sources) } else { None };
        let outcome = compiled.unwrap_or_else(|| {
            let (freed, unwritten) = self.with(|state| (state.freed.clone(), state.unwritten.clone()));
            let setting = Setting { kinds, sources, freed, unwritten, fuel: self.fuel };
            launch::run(launch, &linked, &setting, print)
        });
        self.with(|state| {
            state.launches += 1;
            let number = state.launches;
            let Caller { call, ref stack, .. } = command.caller;
            let enqueued = finding::Enqueued {
                call: call.into(),
                global: used(launch, launch.range.global),
                local: used(launch, launch.range.local),
                offset: used(launch, launch.range.offset),
                stack: if outcome.findings.is_empty() { Vec::new() } else { stack::lines(stack) },
            };
            let place = |f: Finding| Finding { first_launch: number, enqueued: Some(enqueued.clone()), ..f };
            let mut findings: Vec<Finding> = outcome.findings.into_iter().map(place).collect();
            findings.iter_mut().for_each(|f| state.objects.add_origin(f, launch));
            let report = state.report(&launch.device_name);
            report.checked.launches += 1;
            report.checked.accesses += outcome.accesses;
            report.add(findings);
            if let Some(why) = outcome.unfinished {
                report.not_checked(&launch.kernel, why);
                // What it would have written is not known.
                state.unchecked();
            }
            state.ran(id, command, outcome.uses);
        });
    }
}

/// Why a launch cannot be checked, where memory has been freed.
fn obstacle(launch: &CheckedLaunch, freed: &[(u64, u64)]) -> Option<&'static str> {
    let is_known = |address: u64| {
        let was = freed.iter().any(|&(begin, size)| (begin..begin + size).contains(&address));
        address == 0 || was || launch.shared.holds(address)
    };
    if launch.args.iter().any(|arg| matches!(arg, CheckedArg::Address(address) if !is_known(*address))) {
        return Some("an argument points to memory that is no shared virtual memory of the context");
    }
    let of_kind = |kind: ParamKind| launch.meta.params.iter().any(|p| p.kind == kind);
    (of_kind(ParamKind::Pipe) || of_kind(ParamKind::Queue)).then_some("pipes and queues of devices are not checked yet")
}

impl LaunchChecker for Programs {
    fn accepts(&self, launch: &CheckedLaunch) -> bool {
        let why = match self.linked(launch) {
            Ok(_) => obstacle(launch, &self.with(|state| state.freed.clone())).map(str::to_owned),
            Err(why) => Some(why),
        };
        let Some(why) = why else { return true };
        self.with(|state| {
            state.report(&launch.device_name).not_checked(&launch.kernel, why);
            state.unchecked();
        });
        false
    }

    fn enqueued(&self, command: EnqueuedCommand) {
        let stack = Stack::capture();
        self.with(|state| state.enqueued(command, stack));
    }

    fn begins(&self, id: u64, print: &dyn Fn(&[u8])) {
        let Some(command) = self.with(|state| state.begins(id)) else { return };
        if let Some(launch) = &command.launch {
            self.run(id, &command, launch, print);
        }
    }

    fn ended(&self, command: u64, has_run: bool) {
        // What it held is dropped without the lock: the runtime may tell of that, too.
        let command = self.with(|state| state.ended(command, has_run));
        drop(command);
    }

    fn waits(&self, commands: Awaited<'_>) {
        self.with(|state| state.waits(commands));
    }

    fn failed(&self, call: &str, error: &Error) {
        let message = format!("{call} failed with {:?}: {}", error.status, error.why);
        // Programs ask for what may not be there, and go on.
        let is_question = call.starts_with("clGet") || call.starts_with("clCreateContext");
        let severity = if is_question { Severity::Note } else { Severity::Error };
        // A command that fails does so on a thread of the driver.
        let stack = call.starts_with("cl").then(Stack::capture);
        self.with(|state| {
            let mut finding = state.finding(Kind::ApiError, call, stack.as_ref(), message);
            if is_question {
                // One note, from wherever it is asked.
                finding.id = finding::fingerprint(Kind::ApiError, "", call, &finding.message, 0);
            }
            state.found(Finding { severity, ..finding });
        });
    }

    fn created(&self, object: NewObject) {
        let stack = Stack::capture();
        self.with(|state| state.created(object, stack));
    }

    fn released(&self, object: usize) {
        self.with(|state| state.released(object));
    }

    fn freed(&self, address: u64, size: u64) {
        self.with(|state| state.freed(address, size));
    }

    fn build_options(&self) -> &str {
        "-cloom-check"
    }

    fn interrupted(&self) {
        self.with(State::interrupted);
        self.end();
    }

    fn end(&self) {
        // Whoever comes second waits until the report is there.
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let (report, sources) = self.with(|state| {
            if state.has_ended {
                return (None, state.sources.clone());
            }
            state.has_ended = true;
            state.ends();
            let count = state.kernels.len() as u64;
            let mut report = state.report("").clone();
            report.checked.kernels = count;
            (Some(report), state.sources.clone())
        });
        let Some(mut report) = report else { return };
        for note in suppress::apply(&mut report, &rules(), &sources) {
            eprintln!("cloom: {note}");
        }
        let text = report::write(&report, self.format, &sources, false);
        // A report that cannot be written is told; the program goes on to its end.
        let written = match &self.output {
            Some(path) => std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display())),
            None => {
                eprint!("{text}");
                Ok(())
            }
        };
        let status = if report.has_findings() { "1\n" } else { "0\n" };
        let state =
            |path: &PathBuf| OpenOptions::new().create(true).append(true).open(path)?.write_all(status.as_bytes());
        let stated = self.status.as_ref().map_or(Ok(()), state);
        if let Err(why) = written.and(stated.map_err(|e| e.to_string())) {
            eprintln!("cloom: the report of {} cannot be written: {why}", env::CHECK.name);
        }
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        self.end();
    }
}

/// The path of a report, with the number of the process in place of `%p`: a program may be several processes.
fn of_this_process(path: &Path) -> PathBuf {
    match path.to_str() {
        Some(text) => PathBuf::from(text.replace("%p", &std::process::id().to_string())),
        None => path.to_owned(),
    }
}

/// The rules of the file that the environment names, or of the one in the working directory.
fn rules() -> Rules {
    let path = env::CHECK_SUPPRESS.path().unwrap_or_else(|| Path::new("cloom-check.suppress").to_owned());
    let mut rules = Rules::default();
    if let Ok(text) = std::fs::read_to_string(&path)
        && let Err(why) = rules.add(&path.display().to_string(), &text)
    {
        eprintln!("cloom: {why}");
    }
    rules
}

/// The sizes of the dimensions that a launch has.
fn used(launch: &CheckedLaunch, sizes: [u64; 3]) -> Vec<u64> {
    sizes[..launch.range.work_dim.clamp(1, 3) as usize].to_vec()
}
