//! Measures the way from a source to its first result: build, kernel creation and first launch, in a fresh process with
//! empty caches.
//!
//! `bench` starts this program again (`cloom first-launch`) for every platform and source, in turns. The child prints
//! what it took as one line of JSON: time on the wall, and processor time of all its threads. Where optimised code is
//! made (all groups but the first results), processor time is compared: a compiler may use as many threads as there
//! are, and other load of the machine is no fault of it.

use super::measure::{Fate, Participant, Sample, Who};
use super::statistics::Quartiles;
use crate::child;
use crate::outcome::{Answer, Exit, Failure};
use cloom_caps::env;
use cloom_gallery::builds::{self, Build, Group};
use cloom_gallery::{Error, Found, Verdict, cl};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Prefix of the line with the times; drivers may print other lines before it.
const MARK: &str = "cloom-first-launch/2 ";
/// Who takes longer than this has no time.
const LIMIT: Duration = Duration::from_secs(120);
/// Processes of a platform, where processor time is compared: it varies little.
const RUNS: u32 = 3;
/// What takes longer than this is run once.
const ENOUGH: Duration = Duration::from_secs(5);

/// Options of the child process.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Index of the platform in the loader's list
    platform: usize,
    /// Index of the device in the platform's list
    device: usize,
    /// Index of the source in the list
    source: usize,
}

/// What the child tells, in microseconds.
#[derive(Serialize, Deserialize, Debug)]
struct WorkerReply {
    build_us: f64,
    wall_us: f64,
    processor_us: f64,
    wrong: Option<String>,
    missing: Option<String>,
}

/// The child: builds, launches, checks the result, prints the times.
pub fn child(options: &Options) -> Result<Answer, Failure> {
    let found = cl::devices()?;
    // The parent has the same environment, in which the loader lists the same platforms in the same order.
    let is_it = |f: &&Found| f.platform_index == options.platform && f.device_index == options.device;
    let found = found.iter().find(is_it).ok_or_else(|| Failure::wrong("no such device"))?;
    let all = builds::all();
    let build = all.get(options.source).ok_or_else(|| Failure::wrong("no such source"))?;
    let us = |t: Duration| t.as_secs_f64() * 1e6;
    let told = match builds::run(found, build) {
        Ok((first, verdict)) => WorkerReply {
            build_us: us(first.build),
            wall_us: us(first.spent.wall),
            processor_us: us(first.spent.processor),
            wrong: match verdict {
                Verdict::Passed(_) => None,
                Verdict::Failed(why) => Some(why),
            },
            missing: None,
        },
        Err(Error::Unsupported(why)) => {
            WorkerReply { build_us: 0.0, wall_us: 0.0, processor_us: 0.0, wrong: None, missing: Some(why) }
        }
        Err(e) => return Err(e.into()),
    };
    let json = serde_json::to_string(&told).map_err(Failure::wrong)?;
    Ok(Answer::text(format!("\n{MARK}{json}\n"), Exit::Fine))
}

/// Keeps as many threads busy as there are processors, while `body` runs.
fn busily<T>(body: impl FnOnce() -> T) -> T {
    let stop = AtomicBool::new(false);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let value = body();
        stop.store(true, Ordering::Relaxed);
        value
    })
}

/// Starts the child. Its caches are in a temporary folder that is removed afterwards.
fn start(found: &Found, build: &Build, source: usize) -> Result<WorkerReply, String> {
    let folder = tempfile::tempdir().map_err(|e| format!("no folder for its caches: {e}"))?;
    let mut command = child::myself("first-launch").map_err(|e| e.message)?;
    command.args([found.platform_index, found.device_index, source].map(|n| n.to_string()));
    // The caches of the platforms that have a switch for it are off. A driver that knows none of these switches finds
    // an empty folder.
    for (name, value) in [(env::CACHE.name, "0"), ("POCL_KERNEL_CACHE", "0"), ("CUDA_CACHE_DISABLE", "1")] {
        command.env(name, value);
    }
    for name in [env::CACHE_DIR.name, "POCL_CACHE_DIR", "XDG_CACHE_HOME"] {
        command.env(name, folder.path());
    }
    // The default is to begin with code that is made quickly. A row about optimised code must wait for that instead.
    match build.quick_start {
        true => command.env_remove(env::QUICK_START.name),
        false => command.env(env::QUICK_START.name, "0"),
    };
    let mut run = || child::run(&mut command, LIMIT).map_err(|e| e.to_string());
    let ended = if build.busy { busily(&mut run) } else { run() }?;
    if ended.status.is_none() {
        return Err(format!("no result after {} s", LIMIT.as_secs()));
    }
    let line = ended.out.lines().find_map(|l| l.strip_prefix(MARK));
    let failed = || {
        let how = ended.trouble().unwrap_or_else(|| "it printed nothing".into());
        format!("{how}: {}", ended.err.lines().last().unwrap_or_default())
    };
    serde_json::from_str(line.ok_or_else(failed)?).map_err(|e| e.to_string())
}

fn fate(group: Group, told: &[Result<WorkerReply, String>], warmups: usize) -> Fate {
    let mut walls = Vec::new();
    let mut processor = Vec::new();
    let mut builds = Vec::new();
    let time = |us: f64| Duration::from_secs_f64(us / 1e6);
    for (i, told) in told.iter().enumerate() {
        match told {
            Err(why) => return Fate::Failed(why.clone()),
            Ok(WorkerReply { wrong: Some(why), .. }) => return Fate::Wrong(why.clone()),
            Ok(WorkerReply { missing: Some(why), .. }) => return Fate::Missing(why.clone()),
            Ok(told) if i >= warmups => {
                walls.push(time(told.wall_us));
                processor.push(time(told.processor_us));
                builds.push(time(told.build_us));
            }
            Ok(_) => {}
        }
    }
    match Quartiles::of(&walls).zip(Quartiles::of(&builds)) {
        Some((wall, build)) => Fate::Verified(Box::new(Sample {
            about: "build and first launch".into(),
            wall,
            device: None,
            processor: Quartiles::of(&processor).filter(|_| group != Group::FirstResult),
            build_ms: build.median_ms,
            work: None,
        })),
        None => Fate::Failed("it was not run".into()),
    }
}

/// Measures a source of [`builds::all`] on all devices, interleaved.
pub fn launches(source: usize, build: &Build, participants: &[Participant], runs: u32) -> Vec<Fate> {
    // The first process brings the driver's files into memory; processor time suffers little from that.
    let (runs, warmups) = match build.group {
        Group::FirstResult => (runs, 1),
        _ => (runs.min(RUNS), 0),
    };
    let mut told: Vec<Vec<Result<WorkerReply, String>>> = participants.iter().map(|_| Vec::new()).collect();
    let enough = |told: &[Result<WorkerReply, String>]| {
        let long = |t: &WorkerReply| t.wall_us > ENOUGH.as_secs_f64() * 1e6;
        told.len() > warmups && told.iter().flatten().any(long)
    };
    // The participants alternate within a run, so that a change of the machine's speed meets all of them.
    for _ in 0..runs as usize + warmups {
        for (participant, told) in participants.iter().zip(&mut told) {
            if let Who::Device(found) = &participant.who
                && told.iter().all(Result::is_ok)
                && !enough(told)
            {
                told.push(start(found, build, source));
            }
        }
    }
    let fates = participants.iter().zip(&told).map(|(p, told)| match p.who {
        Who::Device(_) => fate(build.group, told, warmups),
        Who::Native(_) => Fate::Missing("there is none".into()),
    });
    fates.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_process_does_not_count_and_a_wrong_one_spoils_all() {
        let told = |us: f64, wrong: Option<&str>| {
            let wrong = wrong.map(str::to_owned);
            Ok(WorkerReply { build_us: us, wall_us: us * 1.5, processor_us: us * 2.0, wrong, missing: None })
        };
        let of = |told: &[_]| fate(Group::FirstResult, told, 1);
        let Fate::Verified(sample) = of(&[told(9e6, None), told(2000.0, None), told(4000.0, None)]) else {
            panic!("it is right")
        };
        assert!((sample.wall.median_ms - 4.5).abs() < 1e-9 && (sample.build_ms - 3.0).abs() < 1e-9, "{sample:?}");
        assert_eq!(sample.processor, None);
        assert!(matches!(of(&[told(1.0, None), told(1.0, Some("word 3"))]), Fate::Wrong(_)));
        assert!(matches!(of(&[told(1.0, None), Err("crashed".into())]), Fate::Failed(_)));
        assert!(matches!(of(&[]), Fate::Failed(_)));
        let Fate::Verified(sample) = fate(Group::Gallery, &[told(2000.0, None)], 0) else { panic!("it is right") };
        assert!((sample.processor.unwrap().median_ms - 4.0).abs() < 1e-9);
    }

    #[test]
    fn threads_are_busy_until_the_body_ends() {
        assert_eq!(busily(|| 3), 3);
    }
}
