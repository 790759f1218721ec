//! `CLOOM_CHECK`: the launches of a program are checked, and the program ends with a report.
//!
//! In come launches of the runtime ([`LaunchChecker`]); each runs in the reference interpreter, with copies of its
//! buffers, under the checker. The findings of all launches are one report, which is written when the program ends.
//!
//! * `launch`: one launch in the interpreter.
//! * `memory`: the buffers and images of a launch.

mod launch;
mod memory;

use cloom_caps::env;
use cloom_check::report::{self, Format};
use cloom_check::suppress::{self, Rules};
use cloom_check::{Finding, Kind, Kinds, Report, Severity, Sources, finding};
use cloom_ir::{ParamKind, Space};
use cloom_runtime::{CheckedArg, CheckedLaunch, CompiledProgram, Compiler, Error, LaunchChecker};
use launch::Linked;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

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
    let format = env::CHECK_FORMAT.get().and_then(|name| Format::named(&name)).unwrap_or(Format::Text);
    Some(Arc::new(Programs {
        kinds,
        format,
        output: env::CHECK_OUTPUT.path(),
        status: env::CHECK_STATUS.path(),
        compiler: compiler.clone(),
        state: Mutex::new(State::default()),
    }))
}

/// Checks the launches of this process.
struct Programs {
    kinds: Kinds,
    format: Format,
    output: Option<PathBuf>,
    status: Option<PathBuf>,
    compiler: Arc<Compiler>,
    state: Mutex<State>,
}

/// A kernel that was launched.
struct Known {
    /// Its program is kept, so that no other one gets its address.
    _program: Arc<CompiledProgram>,
    /// The kernel, or why there is none for the interpreter.
    linked: Result<Arc<Linked>, String>,
}

#[derive(Default)]
struct State {
    report: Option<Report>,
    /// Shared with the launches that run.
    sources: Arc<Sources>,
    /// The names of the sources, in the order in which they came.
    names: BTreeMap<Vec<u8>, String>,
    /// Kernels that were launched, by the program's address.
    kernels: BTreeMap<(usize, String), Known>,
    launches: u64,
    has_ended: bool,
}

impl State {
    fn report(&mut self, device: &str) -> &mut Report {
        self.report.get_or_insert_with(|| Report::new(env!("CARGO_PKG_VERSION"), device))
    }

    /// The name of a source in findings. The first one is called as in the build log.
    fn name(&mut self, source: &[u8]) -> String {
        let next = self.names.len() + 1;
        let name = self.names.entry(source.to_vec()).or_insert_with(|| match next {
            1 => "program.cl".to_owned(),
            n => format!("program-{n}.cl"),
        });
        Arc::make_mut(&mut self.sources).add(name.clone(), String::from_utf8_lossy(source));
        name.clone()
    }
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
            let name = launch.source.as_ref().map(|source| state.name(source));
            let linked = Linked::new(&self.compiler, launch, name.as_deref()).map(Arc::new);
            state.kernels.insert(key, Known { _program: launch.program.clone(), linked: linked.clone() });
            linked
        })
    }
}

/// Why a launch cannot be checked.
fn obstacle(launch: &CheckedLaunch, linked: &Linked) -> Option<&'static str> {
    if launch.args.iter().any(|arg| matches!(arg, CheckedArg::Address(_))) {
        return Some("shared virtual memory is not checked yet");
    }
    let of_kind = |kind: ParamKind| launch.meta.params.iter().any(|p| p.kind == kind);
    if of_kind(ParamKind::Pipe) || of_kind(ParamKind::Queue) {
        return Some("pipes and queues of devices are not checked yet");
    }
    let is_variable = |g: &cloom_ir::Global| g.space == Space::Global;
    linked.module().globals.values().any(is_variable).then_some("variables of program scope are not checked yet")
}

impl LaunchChecker for Programs {
    fn accepts(&self, launch: &CheckedLaunch) -> bool {
        let why = match self.linked(launch) {
            Ok(linked) => obstacle(launch, &linked).map(str::to_owned),
            Err(why) => Some(why),
        };
        let Some(why) = why else { return true };
        self.with(|state| state.report(&launch.device).not_checked(&launch.kernel, why));
        false
    }

    fn run(&self, launch: &CheckedLaunch, print: &dyn Fn(&[u8])) {
        let Ok(linked) = self.linked(launch) else { return };
        // Not under the lock: launches of several queues run at a time.
        let sources = self.with(|state| state.sources.clone());
        let outcome = launch::run(launch, &linked, &self.kinds, &sources, print);
        self.with(|state| {
            state.launches += 1;
            let number = state.launches;
            let report = state.report(&launch.device);
            report.checked.launches += 1;
            report.checked.accesses += outcome.accesses;
            let enqueued = finding::Enqueued {
                call: "clEnqueueNDRangeKernel".into(),
                global: used(launch, launch.range.global),
                local: used(launch, launch.range.local),
                offset: used(launch, launch.range.offset),
                stack: Vec::new(),
            };
            let place = |f: Finding| Finding { first_launch: number, enqueued: Some(enqueued.clone()), ..f };
            report.add(outcome.findings.into_iter().map(place).collect());
            if let Some(why) = outcome.unfinished {
                report.not_checked(&launch.kernel, why);
            }
        });
    }

    fn failed(&self, call: &str, error: &Error) {
        if !self.kinds.has(Kind::ApiError) {
            return;
        }
        let message = format!("{call} failed with {:?}: {}", error.status, error.why);
        // Programs ask for what may not be there, and go on.
        let is_question = call.starts_with("clGet") || call.starts_with("clCreateContext");
        let severity = if is_question { Severity::Note } else { Severity::Error };
        let id = finding::fingerprint(Kind::ApiError, call, "", &message, 0);
        let finding = Finding { severity, ..Finding::of_call(id, Kind::ApiError, call, message) };
        self.with(|state| state.report("").add(vec![finding]));
    }

    fn build_options(&self) -> &str {
        "-cloom-check"
    }

    fn end(&self) {
        let (report, sources) = self.with(|state| {
            let kernels: std::collections::BTreeSet<&String> = state.kernels.keys().map(|k| &k.1).collect();
            let count = kernels.len() as u64;
            let report = if state.has_ended { None } else { state.report.clone() };
            state.has_ended = true;
            (report.map(|mut r| (r.checked.kernels = count, r).1), state.sources.clone())
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
        let stated = self.status.as_ref().map_or(Ok(()), |path| std::fs::write(path, status));
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
