//! A process that measures cases turn by turn, as another process tells it.
//!
//! Cloom reads its switches (`CLOOM_LANES`, …) once, when it is loaded. To compare settings in turns, each needs a
//! process of its own. `bench` starts this program again (`cloom bench-worker`), writes to its standard input and reads
//! from its standard output, a line each:
//!
//! ```text
//! bench                         worker
//!   {program, variant, size…} ─▶  builds, uploads, waits for its turn
//!                             ◀─ "Turn"       ready
//!   go                        ─▶  a turn: some iterations
//!                             ◀─ "Turn"       and so on for each turn; after the last one it checks the result
//!                             ◀─ {"Ended": …} its time, or what is wrong
//! ```
//!
//! Inside the worker, the conductor that waits for `go` is a participant like the program: [`round_robin_slots`]
//! lets them alternate.

use super::measure::{Fate, Plan, fate};
use super::statistics::Quartiles;
use crate::child;
use crate::driver;
use crate::outcome::{Answer, Exit, Failure};
use cloom_gallery::ports::{self, Port};
use cloom_gallery::{Case, Error, Outcome, Params, RoundRobinSlot, Session, cl, round_robin_slots};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// Prefix of each answer; drivers and kernels may print other lines.
const MARK: &str = "cloom-bench-worker/1 ";

/// What to measure.
#[derive(Serialize, Deserialize, Debug)]
pub struct Request {
    program: String,
    variant: String,
    size: Option<(usize, usize)>,
    tile_w: Option<usize>,
    tile_h: Option<usize>,
    config: String,
    plan: Plan,
}

impl Request {
    fn of(case: &Case, plan: Plan) -> Request {
        let Params { variant, size, tile_w, tile_h, config, .. } = case.params.clone();
        Request { program: case.program.into(), variant, size, tile_w, tile_h, config, plan: plan.of(case) }
    }

    /// Counts what an iteration of a case executes.
    pub fn counting(case: &Case) -> Request {
        Request { plan: Plan::counting(), ..Request::of(case, Plan::counting()) }
    }

    /// Counts what a loop of one class of operations executes in so many groups, with so many repetitions.
    pub fn port(port: &Port, groups: usize, repeat: usize) -> Request {
        let (program, variant) = (ports::NAME.into(), port.name.clone());
        let (size, config) = (Some((groups, repeat)), String::new());
        Request { program, variant, size, tile_w: None, tile_h: None, config, plan: Plan::counting() }
    }
}

/// How a case ended.
#[derive(Clone, Serialize, Deserialize, Debug)]
pub enum Ended {
    /// The result is right.
    Verified {
        /// On the device's clock.
        time: Quartiles,
        /// Processor time of its launches.
        processor: Option<Quartiles>,
    },
    /// The result is wrong.
    Wrong(String),
    /// The device does not support it.
    Missing(String),
    /// It failed.
    Failed(String),
}

impl Ended {
    fn of(plan: Plan, ran: Result<Outcome, Error>) -> Ended {
        let processor = ran.as_ref().ok().map(|o| plan.counted(&o.times.processor));
        match fate(plan, ran) {
            Fate::Verified(sample) => Ended::Verified {
                time: sample.device.unwrap_or(sample.wall),
                processor: processor.and_then(|p| Quartiles::of(&p)),
            },
            Fate::Wrong(why) => Ended::Wrong(why),
            Fate::Missing(why) => Ended::Missing(why),
            Fate::Failed(why) => Ended::Failed(why),
        }
    }
}

#[derive(Serialize, Deserialize, Debug)]
enum Reply {
    Turn,
    Ended(Ended),
}

fn say(reply: &Reply) -> Result<(), Failure> {
    let failed = |e: &dyn std::fmt::Display| Failure::wrong(format!("cannot answer: {e}"));
    let json = serde_json::to_string(reply).map_err(|e| failed(&e))?;
    let mut out = std::io::stdout().lock();
    // The line feed in front ends a line that a kernel's `printf` has left open, so that the mark stands at the start
    // of a line.
    writeln!(out, "\n{MARK}{json}").and_then(|()| out.flush()).map_err(|e| failed(&e))
}

fn line(input: &mut impl BufRead) -> Result<Option<String>, Failure> {
    let mut line = String::new();
    let read = input.read_line(&mut line).map_err(|e| Failure::wrong(format!("cannot read what to do: {e}")))?;
    Ok((read > 0).then_some(line))
}

/// Gives the program its turns as they are asked for.
fn conduct(slot: &RoundRobinSlot, plan: Plan, input: &mut impl BufRead) -> Result<(), Failure> {
    let measuring = slot.enter();
    for first in (0..plan.iterations()).step_by(plan.burst() as usize) {
        // This returns when the program has done its turn, or, for the first one, when it is built and waits. So "Turn"
        // tells that nothing runs, and `after` lets the program run.
        measuring.before(first);
        say(&Reply::Turn)?;
        line(input)?.ok_or_else(|| Failure::wrong("nobody asks any more"))?;
        measuring.after(first + plan.burst() - 1);
    }
    // The turn after the last one: it waits until the program's last iterations have ended.
    measuring.before(plan.iterations());
    say(&Reply::Turn)
}

/// The worker: measures what it is asked to until its input ends.
pub fn work() -> Result<Answer, Failure> {
    // `Worker::start` has left Cloom's driver alone in the environment, so that its device is the first one.
    let found = cl::devices()?.into_iter().next().ok_or_else(|| Failure::wrong("no device"))?;
    let mut input = std::io::stdin().lock();
    while let Some(text) = line(&mut input)? {
        let request: Request = serde_json::from_str(&text).map_err(Failure::wrong)?;
        let Request { program, variant, size, tile_w, tile_h, config, plan } = request;
        let iterations = plan.iterations();
        let params = Params { variant, size, tile_w, tile_h, iterations, config, ..Params::default() };
        let run = |session: &Session| match (program.as_str(), params.size) {
            (ports::NAME, Some((groups, repeat))) => {
                ports::run(session, &ports::named(&params.variant)?, groups, repeat as u32, iterations)
            }
            (name, _) => cloom_gallery::program(name)?.run(session, &params),
        };
        let mut slots = round_robin_slots(2, plan.burst()).into_iter();
        let (conductor, slot) = slots.next().zip(slots.next()).ok_or_else(|| Failure::wrong("no slots"))?;
        let ran = std::thread::scope(|scope| {
            let running = scope.spawn(|| Session::on(&found).and_then(|s| run(&s.in_turns(slot))));
            let conducted = conduct(&conductor, plan, &mut input);
            // Without this, a program whose conductor failed would wait for its turn forever, and the scope for the
            // program.
            drop(conductor);
            let crashed = |_| Err(Error::Params("the host program panicked".into()));
            conducted.map(|()| running.join().unwrap_or_else(crashed))
        })?;
        say(&Reply::Ended(Ended::of(plan, ran)))?;
    }
    Ok(Answer::text("", Exit::Fine))
}

/// A worker, seen from the process that started it. Ends when it is dropped.
pub struct Worker {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Worker {
    /// Starts one that has Cloom's driver alone, with these variables; `None` removes one.
    pub fn start(library: &Path, variables: &[(&str, Option<&str>)]) -> Result<Worker, Failure> {
        let mut command = child::myself("bench-worker")?;
        driver::only(&mut command, library, true);
        for (name, value) in variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let failed = |e: std::io::Error| Failure::wrong(format!("cannot start this program again: {e}"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failed)?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let output = output.ok_or_else(|| Failure::wrong("a child process without output"))?;
        Ok(Worker { child, input, output: BufReader::new(output) })
    }

    /// Asks for a measurement; its turns follow.
    pub fn ask(&mut self, request: &Request) -> Result<(), String> {
        self.write(&serde_json::to_string(request).map_err(|e| e.to_string())?)?;
        self.turn()
    }

    /// Lets it take a turn.
    pub fn go(&mut self) -> Result<(), String> {
        self.write("go")?;
        self.turn()
    }

    fn write(&mut self, text: &str) -> Result<(), String> {
        let input = self.input.as_mut().ok_or("it has no input")?;
        writeln!(input, "{text}").and_then(|()| input.flush()).map_err(|e| self.ended(&e))
    }

    fn ended(&mut self, why: &dyn std::fmt::Display) -> String {
        // A worker that still reads takes the end of its input as its own, so that the wait returns.
        self.input = None;
        self.child.wait().map_or_else(|e| e.to_string(), |status| format!("the process ended: {status} ({why})"))
    }

    fn reply(&mut self) -> Result<Reply, String> {
        loop {
            let mut line = String::new();
            match self.output.read_line(&mut line) {
                Ok(0) => return Err(self.ended(&"no answer")),
                Err(e) => return Err(self.ended(&e)),
                Ok(_) => {}
            }
            if let Some(json) = line.strip_prefix(MARK) {
                return serde_json::from_str(json).map_err(|e| e.to_string());
            }
        }
    }

    fn turn(&mut self) -> Result<(), String> {
        match self.reply()? {
            Reply::Turn => Ok(()),
            Reply::Ended(ended) => Err(format!("it ended too early: {ended:?}")),
        }
    }

    /// How the measurement ended.
    pub fn end(&mut self) -> Result<Ended, String> {
        match self.reply()? {
            Reply::Ended(ended) => Ok(ended),
            Reply::Turn => Err("it does not end".into()),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It ends with its input; if it is beyond reading, it is stopped.
        self.input = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Measures a case on all workers in turns. A worker that failed must not be used again.
pub fn in_turns(workers: &mut [Worker], case: &Case, plan: Plan) -> Vec<Result<Ended, String>> {
    let request = Request::of(case, plan);
    let mut state: Vec<Result<(), String>> = vec![Ok(()); workers.len()];
    let mut each = |state: &mut [Result<(), String>], step: &dyn Fn(&mut Worker) -> Result<(), String>| {
        for (worker, state) in workers.iter_mut().zip(state).filter(|(_, s)| s.is_ok()) {
            *state = step(worker);
        }
    };
    // All get the request before anyone is waited for: they build and upload at the same time, and the turns begin when
    // the last one is ready.
    let text = serde_json::to_string(&request).unwrap_or_default();
    each(&mut state, &|w| w.write(&text));
    each(&mut state, &Worker::turn);
    for _ in 0..request.plan.iterations() / request.plan.burst() {
        each(&mut state, &|w| w.write("go").and_then(|()| w.turn()));
    }
    workers.iter_mut().zip(state).map(|(worker, state)| state.and_then(|()| worker.end())).collect()
}
