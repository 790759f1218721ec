//! The child processes of `agree`: each runs one task (a program of the gallery with its variants, or the kernel of a
//! file) on one device, and tells each result as soon as it is there. So a platform that crashes or hangs ends its own
//! process only.
//!
//! ```text
//! agree                        cloom agree --worker=PLATFORM:DEVICE --variants=a,b …
//!                         ◀─   Began("a"), Ended("a", result), Began("b"), …
//! ```

use super::{Options, Task};
use crate::child;
use crate::outcome::{Answer, Exit, Failure};
use crate::run::layout::Layout;
use cloom_gallery::{Answer as Result_, Checked, Error, Found, Params, Session, Verdict, cl};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Prefix of each line; drivers and kernels may print other ones.
const MARK: &str = "cloom-agree-worker/1 ";
/// How often a waiting thread looks whether it shall end.
const TICK: Duration = Duration::from_millis(50);

/// What a worker tells.
#[derive(Serialize, Deserialize, Debug)]
enum Message {
    Began(String),
    Ended(String, WorkerReply),
}

/// A result, or why there is none.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub enum WorkerReply {
    /// There is a result.
    Result { passed: bool, check: String, answer: Bits },
    /// The device does not support it.
    Missing(String),
    /// It failed.
    Failed(String),
}

/// An answer by its bits, so that no number is lost on the way.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub enum Bits {
    /// Every bit counts.
    Exact(Vec<u32>),
    /// Floats and their tolerances.
    Close(Vec<u32>, Vec<u32>),
    /// The memory of a kernel of a file, in the order of the parameters.
    Memory(Vec<Vec<u8>>),
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}

fn floats(bits: &[u32]) -> Vec<f32> {
    bits.iter().map(|&b| f32::from_bits(b)).collect()
}

impl From<Result<Checked, Error>> for WorkerReply {
    fn from(ran: Result<Checked, Error>) -> WorkerReply {
        match ran {
            Ok(Checked { verdict, answer }) => {
                let (passed, check) = match verdict {
                    Verdict::Passed(text) => (true, text),
                    Verdict::Failed(text) => (false, text),
                };
                let answer = match answer {
                    Result_::Exact(words) => Bits::Exact(words),
                    Result_::Close { values, tolerance } => Bits::Close(bits(&values), bits(&tolerance)),
                };
                WorkerReply::Result { passed, check, answer }
            }
            Err(Error::Unsupported(why)) => WorkerReply::Missing(why),
            Err(e) => WorkerReply::Failed(e.to_string()),
        }
    }
}

impl WorkerReply {
    /// As the gallery compares it.
    pub fn checked(self) -> Result<Checked, Error> {
        match self {
            WorkerReply::Result { passed, check, answer } => {
                let verdict = if passed { Verdict::Passed(check) } else { Verdict::Failed(check) };
                let answer = match answer {
                    Bits::Exact(words) => Result_::Exact(words),
                    Bits::Close(values, tolerance) => {
                        Result_::Close { values: floats(&values), tolerance: floats(&tolerance) }
                    }
                    // Memory is compared by `same_memory`; of this only the verdict is used.
                    Bits::Memory(_) => Result_::Exact(Vec::new()),
                };
                Ok(Checked { verdict, answer })
            }
            WorkerReply::Missing(why) => Err(Error::Unsupported(why)),
            WorkerReply::Failed(why) => Err(Error::Params(why)),
        }
    }
}

fn say(message: &Message) -> Result<(), Failure> {
    let json = serde_json::to_string(message).map_err(Failure::wrong)?;
    let mut out = std::io::stdout().lock();
    // The line feed in front ends a line that a kernel's `printf` has left open.
    writeln!(out, "\n{MARK}{json}").and_then(|()| out.flush()).map_err(|e| Failure::wrong(format!("no answer: {e}")))
}

/// The child: does its task on a device, and ends with its parent.
pub fn work(options: &Options, device: (usize, usize)) -> Result<Answer, Failure> {
    crate::run::end_with_the_parent();
    let found = cl::devices()?;
    let is_it = |f: &&Found| (f.platform_index, f.device_index) == device;
    let found = found.iter().find(is_it).ok_or_else(|| Failure::wrong("no such device"))?;
    match super::task_of_worker(options)? {
        Task::Gallery(program, variants) => {
            for variant in variants {
                say(&Message::Began(variant.to_owned()))?;
                let params = Params { variant: variant.to_owned(), ..options.params() };
                let ran = Session::on(found).and_then(|s| program.run(&s, &params)).map(Checked::from);
                say(&Message::Ended(variant.to_owned(), ran.into()))?;
            }
        }
        Task::File(job) => {
            say(&Message::Began(job.kernel.clone()))?;
            let launched = Session::on(found).map_err(Failure::from).and_then(|s| job.launch(&s, 0, |_| {}));
            let told = match launched {
                Ok(launched) => {
                    WorkerReply::Result { passed: true, check: String::new(), answer: Bits::Memory(launched.after) }
                }
                Err(failure) => WorkerReply::Failed(failure.message),
            };
            say(&Message::Ended(job.kernel.clone(), told))?;
        }
    }
    Ok(Answer::text("", Exit::Fine))
}

/// A task of one device.
pub struct Request<'a> {
    pub device: &'a Found,
    /// The program of the gallery, if it is one.
    pub program: Option<&'static str>,
    /// The variants, or the kernel.
    pub parts: &'a [String],
    /// How long each part may take.
    pub limit: Duration,
    /// Set when the run shall end.
    pub cancelled: &'a AtomicBool,
}

/// How a child ended.
enum End {
    /// Well, or by the user.
    Done,
    /// With a part under way, or none: what happened.
    Trouble(String),
}

/// Lets children do the task, a new one after each crash. `tell` hears each result once.
pub fn run(request: &Request<'_>, mut tell: impl FnMut(usize, WorkerReply)) {
    let mut left: Vec<usize> = (0..request.parts.len()).collect();
    while !left.is_empty() && !request.cancelled.load(Ordering::Relaxed) {
        // The child learns what is left by its command line; what an earlier child has told is not done again.
        let names: Vec<&str> = left.iter().map(|&i| request.parts[i].as_str()).collect();
        let mut current = None;
        let mut done = Vec::new();
        let end = one_child(request, &names, |message| match message {
            Message::Began(name) => current = names.iter().position(|n| *n == name),
            Message::Ended(name, told) => {
                if let Some(at) = names.iter().position(|n| *n == name) {
                    tell(left[at], told);
                    done.push(left[at]);
                }
                current = None;
            }
        });
        if request.cancelled.load(Ordering::Relaxed) {
            return;
        }
        let failed = match (end, current) {
            (End::Done, _) => None,
            // The part under way is to blame. Those after it are left for the next child.
            (End::Trouble(why), Some(at)) => Some((vec![left[at]], why)),
            // It cannot even begin: no other part will.
            (End::Trouble(why), None) => Some((left.iter().copied().filter(|i| !done.contains(i)).collect(), why)),
        };
        let ended_well = failed.is_none();
        if let Some((parts, why)) = failed {
            for part in parts {
                tell(part, WorkerReply::Failed(why.clone()));
                done.push(part);
            }
        }
        left.retain(|i| !done.contains(i));
        if ended_well {
            // A child that ends well and has not told all parts would be started again and again.
            left.drain(..).for_each(|i| tell(i, WorkerReply::Failed("the process ended without a result".into())));
        }
    }
}

fn start(request: &Request<'_>, parts: &[&str], errors: std::fs::File) -> Result<Child, String> {
    let mut command = child::myself("agree").map_err(|e| e.message)?;
    let Found { platform_index, device_index, .. } = request.device;
    command.arg(format!("--worker={platform_index}:{device_index}"));
    if let Some(program) = request.program {
        command.arg(format!("--program={program}")).arg(format!("--variants={}", parts.join(",")));
    }
    // The options of this process, all but its name and `agree`, so that the child parses the same sizes, arguments and
    // build options.
    command.args(std::env::args_os().skip(2));
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(errors);
    command.spawn().map_err(|e| format!("cannot start this program again: {e}"))
}

/// One child. `hear` gets its messages.
fn one_child(request: &Request<'_>, parts: &[&str], mut hear: impl FnMut(Message)) -> End {
    let trouble = |why: String| End::Trouble(why);
    // A file and not a pipe for errors: nobody reads them before the end, and a driver that writes much would wait.
    let Ok(mut errors) = tempfile::tempfile() else { return trouble("no temporary file: set TMPDIR".into()) };
    let Ok(for_child) = errors.try_clone() else { return trouble("no temporary file: set TMPDIR".into()) };
    let mut running = match start(request, parts, for_child) {
        Ok(running) => running,
        Err(why) => return trouble(why),
    };
    let Some(output) = running.stdout.take() else { return trouble("a child process without output".into()) };
    let (send, receive) = channel();
    // Reading from a pipe has no time limit; so a thread reads, and this one waits for the channel with a limit.
    let reader = std::thread::spawn(move || {
        let mut lines = BufReader::new(output);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
            let text = String::from_utf8_lossy(&line);
            if let Some(message) = text.strip_prefix(MARK).and_then(|json| serde_json::from_str(json).ok())
                && send.send(message).is_err()
            {
                return;
            }
            line.clear();
        }
    });
    let mut since = Instant::now();
    let mut hangs = false;
    loop {
        match receive.recv_timeout(TICK) {
            Ok(message) => {
                // Each message begins a new limit: it is that of one part, and not of the whole child.
                since = Instant::now();
                hear(message);
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                hangs = since.elapsed() > request.limit;
                if hangs || request.cancelled.load(Ordering::Relaxed) {
                    // It may have ended by itself meanwhile.
                    let _ = running.kill();
                    break;
                }
            }
        }
    }
    let status = running.wait();
    let _ = reader.join();
    if hangs {
        return trouble(format!("no result after {} s", request.limit.as_secs()));
    }
    match status {
        Err(e) => trouble(e.to_string()),
        Ok(status) if status.success() => End::Done,
        Ok(status) => trouble(format!("{}{}", child::how_ended(status), last_words(&mut errors))),
    }
}

/// What the child wrote to its standard error stream first.
fn last_words(errors: &mut std::fs::File) -> String {
    let mut bytes = Vec::new();
    let read = errors.rewind().and_then(|()| errors.take(1 << 16).read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes).into_owned();
    match text.lines().map(str::trim).find(|l| !l.is_empty()) {
        Some(line) if read.is_ok() => format!(": {}", line.chars().take(160).collect::<String>()),
        _ => String::new(),
    }
}

/// How the memory of a kernel compares on two devices. Floats may differ by so many units in the last place.
pub fn compare(memory: &[(String, Layout)], a: &[Vec<u8>], b: &[Vec<u8>], ulps: u32) -> Verdict {
    let mut worst = 0u64;
    for ((name, layout), (a, b)) in memory.iter().zip(a.iter().zip(b)) {
        let size = layout.bytes();
        for (i, (x, y)) in a.chunks_exact(size).zip(b.chunks_exact(size)).enumerate() {
            if x == y {
                continue;
            }
            let mut difference = 0u64;
            layout.numbers(0, &mut |at, element| {
                let part = at..at + element.base.bytes() * element.lanes;
                difference = difference.max(element.ulps(&x[part.clone()], &y[part]));
            });
            if difference > u64::from(ulps) {
                return Verdict::Failed(format!("{name}[{i}] is {} and {}", layout.show(x), layout.show(y)));
            }
            worst = worst.max(difference);
        }
    }
    Verdict::Passed(match worst {
        0 => "bit for bit".into(),
        n => format!("within {n} ulp"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_compared_by_their_last_places_and_integers_by_bits() {
        let memory = |ty: &str| vec![("p".to_owned(), Layout::named(ty))];
        let floats = |v: f32| vec![v.to_le_bytes().to_vec()];
        let next = f32::from_bits(1.0f32.to_bits() + 2);
        let of = |a: f32, b: f32| compare(&memory("float"), &floats(a), &floats(b), 4);
        assert_eq!(of(1.0, 1.0), Verdict::Passed("bit for bit".into()));
        assert_eq!(of(1.0, next), Verdict::Passed("within 2 ulp".into()));
        assert_eq!(of(0.0, -0.0), Verdict::Passed("bit for bit".into()));
        assert_eq!(of(1.0, 1.1), Verdict::Failed("p[0] is 1 and 1.1".into()));
        assert!(matches!(of(f32::NAN, 1.0), Verdict::Failed(_)));
        let ints = compare(&memory("int"), &[1i32.to_le_bytes().to_vec()], &[2i32.to_le_bytes().to_vec()], 4);
        assert_eq!(ints, Verdict::Failed("p[0] is 1 and 2".into()));
    }

    #[test]
    fn an_answer_keeps_its_bits_on_the_way() {
        let values = vec![f32::NAN, f32::INFINITY, -0.0, 1.5];
        let checked = Checked {
            verdict: Verdict::Passed("fine".into()),
            answer: Result_::Close { values: values.clone(), tolerance: vec![0.5; 4] },
        };
        let json = serde_json::to_string(&WorkerReply::from(Ok(checked))).unwrap();
        let back = serde_json::from_str::<WorkerReply>(&json).unwrap().checked().unwrap();
        let Result_::Close { values: got, .. } = back.answer else { panic!("another kind") };
        assert_eq!(bits(&got), bits(&values));
    }
}
