//! Measures time to first launch: build, kernel creation and first launch of a source, in a fresh process with empty
//! caches.
//!
//! `bench` starts this program again (`cloom first-launch`) for every platform and source. The child prints its times
//! as one line of JSON.

use super::measure::{Fate, Participant, Sample, Who};
use super::statistics::Quartiles;
use crate::outcome::{Answer, Exit, Failure};
use cloom_gallery::latency::{Source, first_launch};
use cloom_gallery::{Found, Session, Verdict, cl};
use serde::{Deserialize, Serialize};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Prefix of the line with the times; drivers may print other lines before it.
const MARK: &str = "cloom-first-launch/1 ";

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

#[derive(Serialize, Deserialize, Debug)]
struct Told {
    build_us: f64,
    launch_us: f64,
    wrong: Option<String>,
}

/// The child: builds, launches, checks the result, prints the times.
pub fn child(options: &Options) -> Result<Answer, Failure> {
    let found = cl::devices()?;
    let is_it = |f: &&Found| f.platform_index == options.platform && f.device_index == options.device;
    let found = found.iter().find(is_it).ok_or_else(|| Failure::wrong("no such device"))?;
    let (_, source) = Source::ALL.get(options.source).ok_or_else(|| Failure::wrong("no such source"))?;
    let first = first_launch(&Session::without_clock(found)?, *source)?;
    let us = |t: Duration| t.as_secs_f64() * 1e6;
    let wrong = match first.verdict {
        Verdict::Passed(_) => None,
        Verdict::Failed(why) => Some(why),
    };
    let told = Told { build_us: us(first.build), launch_us: us(first.launch), wrong };
    let json = serde_json::to_string(&told).map_err(Failure::wrong)?;
    Ok(Answer::text(format!("\n{MARK}{json}\n"), Exit::Fine))
}

/// Starts the child. Its caches are in a temporary folder that is removed afterwards.
fn start(found: &Found, source: usize) -> Result<Told, String> {
    let folder = tempfile::tempdir().map_err(|e| format!("no folder for its caches: {e}"))?;
    let exe = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut command = Command::new(exe);
    command.arg("first-launch").args([found.platform_index, found.device_index, source].map(|n| n.to_string()));
    for (name, value) in [("CLOOM_CACHE", "0"), ("POCL_KERNEL_CACHE", "0"), ("CUDA_CACHE_DISABLE", "1")] {
        command.env(name, value);
    }
    for name in ["CLOOM_CACHE_DIR", "POCL_CACHE_DIR", "XDG_CACHE_HOME"] {
        command.env(name, folder.path());
    }
    let output = command.stdin(Stdio::null()).stderr(Stdio::piped()).output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find_map(|l| l.strip_prefix(MARK));
    let failed = || {
        let error = String::from_utf8_lossy(&output.stderr);
        format!("{}: {}", output.status, error.lines().last().unwrap_or("it printed nothing"))
    };
    serde_json::from_str(line.ok_or_else(failed)?).map_err(|e| e.to_string())
}

fn fate(told: &[Result<Told, String>], warmups: usize) -> Fate {
    let mut totals = Vec::new();
    let mut builds = Vec::new();
    for (i, told) in told.iter().enumerate() {
        match told {
            Err(why) => return Fate::Failed(why.clone()),
            Ok(Told { wrong: Some(why), .. }) => return Fate::Wrong(why.clone()),
            Ok(told) if i >= warmups => {
                totals.push(Duration::from_secs_f64((told.build_us + told.launch_us) / 1e6));
                builds.push(Duration::from_secs_f64(told.build_us / 1e6));
            }
            Ok(_) => {}
        }
    }
    match Quartiles::of(&totals).zip(Quartiles::of(&builds)) {
        Some((wall, build)) => Fate::Verified(Box::new(Sample {
            about: "build and first launch".into(),
            wall,
            device: None,
            build_ms: build.median_ms,
            work: None,
        })),
        None => Fate::Failed("it was not run".into()),
    }
}

/// Measures a source of [`Source::ALL`] on all devices, interleaved.
pub fn launches(source: usize, participants: &[Participant], runs: u32) -> Vec<Fate> {
    // The first process brings the driver's files into memory.
    const WARMUPS: usize = 1;
    let mut told: Vec<Vec<Result<Told, String>>> = participants.iter().map(|_| Vec::new()).collect();
    for _ in 0..runs as usize + WARMUPS {
        for (participant, told) in participants.iter().zip(&mut told) {
            if let Who::Device(found) = &participant.who
                && told.iter().all(Result::is_ok)
            {
                told.push(start(found, source));
            }
        }
    }
    let fates = participants.iter().zip(&told).map(|(p, told)| match p.who {
        Who::Device(_) => fate(told, WARMUPS),
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
            Ok(Told { build_us: us, launch_us: us / 2.0, wrong: wrong.map(str::to_owned) })
        };
        let Fate::Verified(sample) = fate(&[told(9e6, None), told(2000.0, None), told(4000.0, None)], 1) else {
            panic!("it is right")
        };
        assert!((sample.wall.median_ms - 4.5).abs() < 1e-9 && (sample.build_ms - 3.0).abs() < 1e-9, "{sample:?}");
        assert!(matches!(fate(&[told(1.0, None), told(1.0, Some("word 3"))], 1), Fate::Wrong(_)));
        assert!(matches!(fate(&[told(1.0, None), Err("crashed".into())], 1), Fate::Failed(_)));
        assert!(matches!(fate(&[], 1), Fate::Failed(_)));
    }
}
