//! `agree`: compares results across platforms. The gallery, or the kernel of a file, runs on every device of every
//! installed platform; each result is compared with the reference and with that of every other device.
//!
//! Each program runs on each device in a process of its own ([`worker`]): a platform that crashes or hangs is a finding
//! about that platform. The devices work at the same time, and each line is written as soon as it is known.

mod table;
mod worker;

use crate::outcome::{Answer, Failure, live, tell};
use crate::progress::Progress;
use crate::run::kernel::{Job, KernelOptions, Tiles};
use crate::run::layout::Layout;
use crate::run::{argument::Value, shape};
use crate::{child, driver};
use cloom_gallery::{Agreement, Checked, Found, Pair, Params, Program, Run, Verdict, cl};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use worker::{Bits, Request, WorkerReply};

/// The size where none is given: neither side is a multiple of a tile.
const SIZE: (usize, usize) = (509, 251);

/// Options of `agree`.
#[derive(clap::Args, Debug)]
#[command(after_help = "  cloom agree                                  # the whole gallery on all platforms
  cloom agree -k transpose -s 1021x509
  cloom agree saxpy.cl --arg y=1024:index --arg x=1024:random --arg a=2.5

Each program runs on each device in a process of its own. A platform that crashes or hangs there is named, with its signal.
Kernels of a file have no reference: their results are compared with each other, integers by their bits.

Exit status: 0 all results agree; 1 one is wrong, a platform crashed, or Ctrl-C ended the comparison; 2 wrong use.")]
pub struct Options {
    /// A .cl file; without one, the gallery
    #[arg(value_name = "FILE.cl", conflicts_with_all = ["variant", "config"])]
    file: Option<PathBuf>,
    /// The program of the gallery, or the kernel of the file; all programs if none is named
    #[arg(short, long, value_name = "NAME")]
    kernel: Option<String>,
    /// The variant; all of them if none is named
    #[arg(short, long, value_name = "NAME", requires = "kernel")]
    variant: Option<String>,
    /// Width and height, or both as WxH
    #[arg(short, long, value_name = "N|WxH", value_parser = shape::side_or_sides)]
    size: Option<(usize, usize)>,
    /// Number of iterations of a program of the gallery
    #[arg(short, long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    iterations: u32,
    /// The program's knobs: key=value,key=value
    #[arg(short, long, value_name = "KNOBS", default_value = "", requires = "kernel")]
    config: String,
    /// How long one variant may take on one device
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
    /// Units in the last place by which floats may differ, for a kernel of a file
    #[arg(long, value_name = "N", default_value_t = 16, requires = "file")]
    ulp: u32,
    /// JSON output
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    file_kernel: KernelOptions,
    /// Set in a child process: the device
    #[arg(long, hide = true, value_name = "PLATFORM:DEVICE", value_parser = device)]
    worker: Option<(usize, usize)>,
    /// Set in a child process: the program
    #[arg(long, hide = true, value_name = "NAME")]
    program: Option<String>,
    /// Set in a child process: the variants
    #[arg(long, hide = true, value_name = "NAME,…", value_delimiter = ',')]
    variants: Vec<String>,
}

fn device(text: &str) -> Result<(usize, usize), String> {
    let numbers = text.split_once(':').and_then(|(p, d)| Some((p.parse().ok()?, d.parse().ok()?)));
    numbers.ok_or_else(|| "give PLATFORM:DEVICE".into())
}

impl Options {
    fn params(&self) -> Params {
        Params {
            size: Some(self.size.unwrap_or(SIZE)),
            iterations: self.iterations,
            config: self.config.clone(),
            ..Params::default()
        }
    }

    fn job(&self, path: &std::path::Path) -> Result<Job, Failure> {
        let tiles = Tiles { size: self.size, ..Tiles::default() };
        Job::read(path, self.kernel.as_deref(), &self.file_kernel, tiles)
    }
}

/// What runs on all devices.
enum Task {
    /// A program with its variants.
    Gallery(&'static dyn Program, Vec<&'static str>),
    /// The kernel of a file.
    File(Box<Job>),
}

/// The task of a child process.
fn task_of_worker(options: &Options) -> Result<Task, Failure> {
    if let Some(path) = &options.file {
        return options.job(path).map(|job| Task::File(Box::new(job)));
    }
    let program = cloom_gallery::program(options.program.as_deref().unwrap_or_default())?;
    let wanted = |name: &&str| options.variants.iter().any(|v| v == name);
    let variants = program.variants().iter().map(|v| v.name).filter(wanted).collect();
    Ok(Task::Gallery(program, variants))
}

/// All tasks that the options select; wrong ones are refused before anything runs.
fn tasks(options: &Options) -> Result<Vec<Task>, Failure> {
    if let Some(path) = &options.file {
        if path.as_os_str() == "-" {
            return Err(Failure::wrong("the standard input can be read once only: name a file"));
        }
        return Ok(vec![Task::File(Box::new(options.job(path)?))]);
    }
    if options.file_kernel.any() || !options.file_kernel.build.is_empty() {
        return Err(Failure::wrong(
            "--arg, --global, --local and build options are for kernels of a file; name the .cl file",
        ));
    }
    let chosen: Vec<&'static dyn Program> = match &options.kernel {
        Some(name) => vec![cloom_gallery::program(name)?],
        None => cloom_gallery::programs().to_vec(),
    };
    let mut tasks = Vec::new();
    for program in chosen {
        let mut variants = Vec::new();
        for variant in program.variants() {
            if options.variant.as_deref().is_none_or(|v| v == variant.name) {
                // Only its error is of interest: a wrong knob is refused here once, and not by each child process.
                program.build_options(&Params { variant: variant.name.into(), ..options.params() })?;
                variants.push(variant.name);
            }
        }
        if variants.is_empty() {
            // The error that lists the variants.
            program.variant(&Params { variant: options.variant.clone().unwrap_or_default(), ..Params::default() })?;
        }
        tasks.push(Task::Gallery(program, variants));
    }
    Ok(tasks)
}

/// Ends if listing the platforms ends a process: then this one would end, too.
fn platforms_can_be_listed() -> Result<(), Failure> {
    let mut command = child::myself("info")?;
    command.arg("--json");
    let ended = child::run(&mut command, child::LIMIT).map_err(|e| Failure::wrong(format!("no process: {e}")))?;
    match ended.status.map(|s| std::os::unix::process::ExitStatusExt::signal(&s)) {
        Some(None) => Ok(()),
        _ => Err(Failure::wrong(format!(
            "a program that lists the platforms {}; `cloom doctor` says which driver that is",
            ended.trouble().unwrap_or_default()
        ))),
    }
}

fn shown(found: &Found) -> String {
    format!("{}, {}", found.platform, found.device)
}

/// Runs a task on all devices at once. `done` gets the results of each part, in the order of the devices, as soon as
/// all are there.
fn run_task(
    options: &Options,
    (devices, program, parts): (&[Found], Option<&'static str>, &[String]),
    cancelled: &AtomicBool,
    mut progress: impl FnMut(Option<String>),
    mut done: impl FnMut(usize, Vec<WorkerReply>),
) {
    let limit = Duration::from_secs(options.timeout);
    let mut told: Vec<Vec<Option<WorkerReply>>> =
        parts.iter().map(|_| devices.iter().map(|_| None).collect()).collect();
    std::thread::scope(|scope| {
        let (send, receive) = channel();
        for (d, device) in devices.iter().enumerate() {
            let send = send.clone();
            scope.spawn(move || {
                // Nobody listens any more if the run was cancelled.
                worker::run(&Request { device, program, parts, limit, cancelled }, |part, told| {
                    let _ = send.send((d, part, told));
                });
            });
        }
        // The loop below ends when the last sender is gone: with this one left, it would wait forever.
        drop(send);
        loop {
            match receive.recv_timeout(Duration::from_millis(100)) {
                Ok((d, part, one)) => {
                    told[part][d] = Some(one);
                    if told[part].iter().all(Option::is_some) {
                        progress(None);
                        done(part, told[part].iter_mut().filter_map(Option::take).collect());
                        // Each part is complete once only. Its results may be as large as all buffers, so they are not
                        // kept until the task ends.
                        told[part].clear();
                    }
                }
                // Nothing has come for a moment: the progress line names the first part that is not complete, and who
                // has not told it.
                Err(RecvTimeoutError::Timeout) => {
                    let part = told.iter().position(|t| t.iter().any(Option::is_none));
                    let waiting = part.map_or_else(String::new, |part| {
                        let missing = told[part].iter().zip(devices).filter(|(t, _)| t.is_none());
                        let names: Vec<&str> = missing.map(|(_, d)| d.platform.as_str()).collect();
                        format!("{} {}: waiting for {}", program.unwrap_or_default(), parts[part], names.join(", "))
                    });
                    progress(Some(waiting));
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    });
}

/// Whether the memory of a kernel of a file is the same on two devices; floats may differ by so many units in the last
/// place.
pub fn same_memory(job: &Job, a: &[Vec<u8>], b: &[Vec<u8>], ulps: u32) -> Verdict {
    let layout = |value: &Value| match value {
        Value::Buffer { layout, .. } => layout.clone(),
        Value::Image(image) => Layout::Opaque(image.format.bytes),
        _ => Layout::Opaque(1),
    };
    let memory: Vec<(String, Layout)> = job.memory().map(|(n, v, _)| (n.to_owned(), layout(v))).collect();
    worker::compare(&memory, a, b, ulps)
}

/// The results of a kernel of a file, compared.
fn of_file(job: &Job, devices: &[Found], told: Vec<WorkerReply>, ulps: u32) -> Agreement {
    let mut pairs = Vec::new();
    let results: Vec<(&Found, &Vec<Vec<u8>>)> = devices
        .iter()
        .zip(&told)
        .filter_map(|(d, t)| match t {
            WorkerReply::Result { answer: Bits::Memory(memory), .. } => Some((d, memory)),
            _ => None,
        })
        .collect();
    for (i, (a, first)) in results.iter().enumerate() {
        // Each pair once; a result is not compared with itself.
        for (b, second) in &results[i + 1..] {
            let verdict = same_memory(job, first, second, ulps);
            pairs.push(Pair { a: shown(a), b: shown(b), verdict });
        }
    }
    let runs = devices.iter().zip(told).map(|(d, told)| Run { on: shown(d), outcome: told.checked() }).collect();
    Agreement { program: "kernel", variant: "", runs, pairs }
}

/// Runs `agree`.
pub fn run(options: &Options) -> Result<Answer, Failure> {
    if let Some(device) = options.worker {
        return worker::work(options, device);
    }
    let tasks = tasks(options)?;
    platforms_can_be_listed()?;
    // Kept to the end: when it is dropped, the folder goes from which the loaders of the child processes read.
    let _vendors = driver::beside_the_others()?;
    let devices = cl::devices()?;
    let cancelled = Arc::new(AtomicBool::new(false));
    let flag = cancelled.clone();
    // Without a handler Ctrl-C ends the comparison at once: that is what is lost if the system refuses one.
    let _ = ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed));
    if !options.json {
        devices.iter().for_each(|d| live(&format!("on {}", shown(d))));
        if devices.len() < 2 {
            live("one device alone: its results are compared with the reference only");
        }
    }
    let count = |t: &Task| if let Task::Gallery(_, variants) = t { variants.len() } else { 1 };
    let of: usize = tasks.iter().map(count).sum();
    let mut progress = Progress::new();
    let mut compared: Vec<(Agreement, String)> = Vec::new();
    for task in &tasks {
        if cancelled.load(Ordering::Relaxed) {
            break;
        }
        let (program, parts): (Option<&'static str>, Vec<String>) = match task {
            Task::Gallery(program, variants) => {
                (Some(program.name()), variants.iter().map(|v| (*v).to_owned()).collect())
            }
            Task::File(job) => (None, vec![job.kernel.clone()]),
        };
        // A cell, because both closures below need it: one shows the number and the other raises it.
        let number = std::cell::Cell::new(compared.len());
        run_task(
            options,
            (&devices, program, &parts),
            &cancelled,
            |waiting| match waiting {
                Some(waiting) => progress.show(|| format!("[{}/{of}] {waiting}", number.get() + 1)),
                None => progress.clear(),
            },
            |part, told| {
                number.set(number.get() + 1);
                let agreement = match task {
                    Task::Gallery(program, variants) => {
                        let runs = devices.iter().zip(told);
                        let runs = runs.map(|(d, told)| Run { on: shown(d), outcome: told.checked() }).collect();
                        Agreement::of(program.name(), variants[part], runs)
                    }
                    Task::File(job) => of_file(job, &devices, told, options.ulp),
                };
                let name = match task {
                    Task::Gallery(..) => format!("{} {}", agreement.program, agreement.variant),
                    Task::File(job) => job.kernel.clone(),
                };
                if options.json {
                    tell(format_args!("[{}/{of}] {}", number.get(), table::line(&name, &agreement)));
                } else {
                    live(&table::line(&name, &agreement));
                    table::complaints(&name, &agreement).iter().for_each(|c| live(&format!("WRONG: {c}")));
                }
                compared.push((lighter(agreement), name));
            },
        );
    }
    progress.clear();
    table::conclude(options.json, devices.iter().map(shown).collect(), &compared, of)
}

/// Without the results themselves: they are large, and have been compared.
fn lighter(agreement: Agreement) -> Agreement {
    let light = |checked: Checked| {
        let Checked { verdict, .. } = checked;
        Checked { verdict, answer: cloom_gallery::Answer::Exact(Vec::new()) }
    };
    let runs = agreement.runs.into_iter().map(|r| Run { outcome: r.outcome.map(light), ..r }).collect();
    Agreement { runs, ..agreement }
}

/// A verdict as a truth and a text.
fn judged(verdict: &Verdict) -> (bool, &str) {
    match verdict {
        Verdict::Passed(text) => (true, text),
        Verdict::Failed(text) => (false, text),
    }
}
