//! The two processes of a session. The child writes each input to a file before it runs it, and counts on its standard
//! output; when it dies, or does nothing for long, the parent keeps the file and starts another child with the next
//! input.
//!
//! After each input the child writes the input's number, and how many inputs were accepted since it started, to a
//! second file, so that the counts survive its death. The report has the share of accepted inputs.

use crate::mutate::mutate;
use crate::{Reach, Target};
use anyhow::{Context, Result};
use cloom_filetest::generate::types::Rng;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// When a session ends.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// After this time,
    pub time: Duration,
    /// or after so many inputs.
    pub inputs: u64,
}

/// An input that takes more of a processor's time is a finding; the time on the clock says little on a busy machine,
const HANG: Duration = Duration::from_secs(30);
/// but one that is idle for so long is deadlocked.
const ASLEEP: Duration = Duration::from_secs(400);
/// Kilobytes of address space of a child.
const MEMORY: u64 = 6 << 20;
/// A session that found so many ends.
const ENOUGH: u64 = 20;

/// The input with this number.
fn input(target: &Target, corpus: &[Vec<u8>], seed: u64, number: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed.wrapping_mul(0x1_0000_0001).wrapping_add(number));
    if !target.mutated {
        return rng.next().to_string().into_bytes();
    }
    let mut input = if corpus.is_empty() { Vec::new() } else { rng.pick(corpus) };
    mutate(&mut input, corpus, target.words, &mut rng);
    input
}

/// Runs inputs until the limits; any panic ends the process.
pub fn child(target: &Target, seed: u64, first: u64, limits: Limits, folder: &Path) -> Result<()> {
    let current = folder.join(format!("{}-{seed}.current", target.name));
    let corpus = (target.corpus)();
    let start = Instant::now();
    let mut out = std::io::stdout();
    let mut said = Instant::now();
    let mut accepted = 0u64;
    for number in first..first.saturating_add(limits.inputs) {
        if start.elapsed() >= limits.time {
            break;
        }
        let input = input(target, &corpus, seed, number);
        fs::write(&current, &input).context("cannot keep the input")?;
        // The parent counts on this line when the process dies.
        if said.elapsed() > Duration::from_millis(200) || number == first {
            writeln!(out, "{number}")?;
            said = Instant::now();
        }
        match (target.run)(&input) {
            Ok(reach) => accepted += u64::from(reach == Reach::Accepted),
            Err(e) => {
                writeln!(out, "{number}")?;
                eprintln!("{e}");
                std::process::exit(2);
            }
        }
        fs::write(current.with_extension("number"), format!("{number} {accepted}"))?;
    }
    Ok(())
}

/// What a process has used of the processors, as far as the system tells.
fn processor_time(id: u32) -> Option<Duration> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // After the name, which may hold anything, come the state and the numbers; the 12th and 13th are ticks of 10 ms.
    let (_, rest) = text.rsplit_once(')')?;
    let ticks: u64 = rest.split_whitespace().skip(11).take(2).filter_map(|t| t.parse::<u64>().ok()).sum();
    Some(Duration::from_millis(ticks * 10))
}

enum Event {
    Line(String),
    Closed,
}

/// Runs a session; gives the number of findings.
pub fn parent(target: &Target, seed: u64, limits: Limits, folder: &Path) -> Result<u64> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let current = folder.join(format!("{}-{seed}.current", target.name));
    let number_file = current.with_extension("number");
    let start = Instant::now();
    let (mut next, mut accepted, mut findings, mut told) = (0u64, 0u64, 0u64, Instant::now());
    while next < limits.inputs && findings < ENOUGH {
        let left = limits.time.saturating_sub(start.elapsed());
        if left.is_zero() {
            break;
        }
        let _ = fs::remove_file(&number_file);
        let mut child = spawn(target, seed, next, left, limits.inputs - next, folder)?;
        let (stdout, stderr) = (child.stdout.take().context("no pipe")?, child.stderr.take().context("no pipe")?);
        let (send, events) = channel();
        let lines = std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if send.send(Event::Line(line)).is_err() {
                    return;
                }
            }
            let _ = send.send(Event::Closed);
        });
        // Only the end of what the child says matters.
        let words = std::thread::spawn(move || {
            let mut text = Vec::new();
            let mut buffer = [0; 4096];
            let mut pipe = stderr;
            while let Ok(n @ 1..) = pipe.read(&mut buffer) {
                text.extend_from_slice(&buffer[..n]);
                let extra = text.len().saturating_sub(32 << 10);
                text.drain(..extra);
            }
            String::from_utf8_lossy(&text).into_owned()
        });
        let mut hung = false;
        let (mut heard, mut used) = (Instant::now(), Duration::ZERO);
        loop {
            match events.recv_timeout(Duration::from_secs(5)) {
                Ok(Event::Line(line)) => {
                    (heard, used) = (Instant::now(), processor_time(child.id()).unwrap_or(used));
                    let number = line.trim().parse().unwrap_or(next);
                    if told.elapsed() > Duration::from_secs(5) {
                        told = Instant::now();
                        println!(
                            "{}: {} s, input {number}, {findings} findings",
                            target.name,
                            start.elapsed().as_secs()
                        );
                    }
                }
                Ok(Event::Closed) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    let busy = processor_time(child.id()).unwrap_or_default().saturating_sub(used);
                    if busy > HANG || heard.elapsed() > ASLEEP {
                        hung = true;
                        child.kill().context("cannot stop the child")?;
                        break;
                    }
                }
            }
        }
        let status = child.wait()?;
        drop(events);
        let _ = lines.join();
        let words = words.join().unwrap_or_default();
        let done = fs::read_to_string(&number_file).ok().and_then(|text| {
            let (number, accepted) = text.split_once(' ')?;
            Some((number.parse::<u64>().ok()?, accepted.parse::<u64>().ok()?))
        });
        if let Some((number, of_child)) = done {
            next = number + 1;
            accepted += of_child;
        }
        if status.success() && !hung {
            if start.elapsed() >= limits.time {
                break;
            }
            continue;
        }
        findings += 1;
        let kept = folder.join(format!("{}-{seed}-{next}.input", target.name));
        fs::copy(&current, &kept).context("cannot keep the finding")?;
        let why = if hung { "it hangs".to_owned() } else { status.to_string() };
        println!("{}: FOUND at input {next}: {why}\n{}", target.name, words.trim());
        println!("  cargo run --release -p cloom-fuzzing -- {} --file {}", target.name, kept.display());
        next += 1;
    }
    let _ = fs::remove_file(&current);
    let _ = fs::remove_file(&number_file);
    let percent = accepted * 100 / next.max(1);
    println!(
        "{}: {} s, {next} inputs, {accepted} of them ({percent}%) {}, {} rejected, {findings} findings",
        target.name,
        start.elapsed().as_secs(),
        target.gate,
        next - accepted - findings,
    );
    Ok(findings)
}

fn spawn(target: &Target, seed: u64, first: u64, time: Duration, inputs: u64, folder: &Path) -> Result<Child> {
    let me = std::env::current_exe()?;
    // The shell sets the limit of memory; setting it in this process would need unsafe code.
    Command::new("sh")
        .args(["-c", &format!("ulimit -v {MEMORY}; ulimit -c 0; exec \"$0\" \"$@\"")])
        .arg(me)
        .args([target.name, "--seed", &seed.to_string(), "--child", &first.to_string()])
        .args(["--seconds", &time.as_secs().max(1).to_string(), "--inputs", &inputs.to_string()])
        .arg("--findings")
        .arg(folder)
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start the child")
}
