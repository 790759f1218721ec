//! The device that the environment asks for: `CLOOM_THREADS` threads, code for the level `CLOOM_CPU`.
//!
//! A level that the machine lacks is refused: with a lower one instead, a test or measurement would be of something
//! else. A value that is no level or no number is ignored with a warning.

use crate::CpuDevice;
use crate::counts::CountsFile;
use cloom_caps::cpu::{named, names};
use cloom_caps::env;
use cloom_hal::Device as _;

/// The result of reading the environment.
pub struct Choice {
    /// The device, or why the machine cannot provide the requested one.
    pub device: Result<CpuDevice, String>,
    /// Values that were ignored.
    pub warnings: Vec<String>,
}

impl Choice {
    /// Reads the environment. `threads`, unless 0, and `level` override the variables.
    pub fn new(threads: usize, level: Option<&str>) -> Choice {
        let mut warnings = Vec::new();
        let threads = match (threads, env::THREADS.get()) {
            (0, Some(text)) => text.trim().parse().unwrap_or_else(|_| {
                warnings.push(format!("{}={text} is not a number of threads; using all cores", env::THREADS.name));
                0
            }),
            (n, _) => n,
        };
        let variable = env::CPU.get().filter(|_| level.is_none());
        let known = variable.filter(|name| {
            let is_known = named(name).is_some();
            if !is_known {
                let known = names().join(", ");
                warnings.push(format!("{}={name} is unknown ({known}); using the machine's best", env::CPU.name));
            }
            is_known
        });
        let mut device = with_level(threads, level.or(known.as_deref()));
        if let Some(path) = env::COUNTS.get() {
            match CountsFile::open(&path) {
                Ok(file) => device = device.map(|d| d.with_counts(file)),
                Err(e) => warnings.push(format!("{}={path} cannot be written: {e}", env::COUNTS.name)),
            }
        }
        Choice { device, warnings }
    }
}

/// The device with code for this level and no other.
fn with_level(threads: usize, level: Option<&str>) -> Result<CpuDevice, String> {
    let device = CpuDevice::new(threads, level);
    let Some(name) = level else { return Ok(device) };
    let target = &device.info().target;
    match named(name) {
        Some(wanted) if target.level() == wanted.level() => Ok(device),
        Some(_) => Err(format!("{name}: this machine cannot run such code ({target} is its best)")),
        None => Err(format!("there is no set of instructions `{name}`; give one of {}", names().join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_taken_exactly_or_refused() {
        let least = cloom_caps::cpu::here().next().unwrap().name;
        let chosen = Choice::new(1, Some(least)).device;
        assert_eq!(chosen.is_ok(), cloom_caps::cpu::best().is_some());
        let refused = Choice::new(1, Some("mmx")).device.err().unwrap();
        assert!(refused.contains("mmx") && refused.contains(least), "{refused}");
    }
}
