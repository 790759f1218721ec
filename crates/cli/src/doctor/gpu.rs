//! Reports the GPUs: those that Cloom can use, and why it cannot use one, or finds none.

use super::{Finding, Status};
use crate::stats::bytes;
use cloom_caps::env::{DEVICES, GPU_HELPER};
use cloom_hal::{Device, DeviceInfo};
use cloom_hal_cuda::Absent;
use std::process::Command;

const AREA: &str = "gpu";

/// Checks them.
pub fn look() -> Vec<Finding> {
    let found = cloom_hal_cuda::devices(None);
    let mut findings: Vec<Finding> = found.devices.iter().map(|gpu| described(gpu.info())).collect();
    findings.extend(found.absent.iter().map(absent));
    let kinds = DEVICES.get().unwrap_or_else(|| DEVICES.default.to_owned());
    if !found.devices.is_empty() && !kinds.split(',').any(|kind| kind.trim() == "gpu") {
        findings.push(Finding::warning(
            AREA,
            format!("it is not offered: {} is {kinds}", DEVICES.name),
            format!("unset {} to have GPUs, too", DEVICES.name),
        ));
    }
    findings.extend(GPU_HELPER.get().map(|program| helper(&program)));
    findings
}

/// Whether the program that shall own the GPUs can.
fn helper(program: &str) -> Finding {
    let (own, version) = (GPU_HELPER.name, cloom_hal_remote::VERSION);
    // By running it: the driver and the helper must be of one version, and only the program knows its own.
    let why = match Command::new(program).arg("--version").output() {
        Ok(said) if String::from_utf8_lossy(&said.stdout).trim() == format!("cloom {version}") => {
            return Finding::ok(AREA, format!("a process of {program} owns the GPUs ({own})"));
        }
        Ok(_) => format!("it is not cloom {version}"),
        Err(e) => e.to_string(),
    };
    let advice = format!("set {own} to the program cloom that came with the driver, or unset it");
    Finding::warning(AREA, format!("{own}={program} cannot own the GPUs: {why}"), advice)
}

fn described(info: &DeviceInfo) -> Finding {
    let DeviceInfo { name, target, compute_units, memory_size, .. } = info;
    let memory = bytes(*memory_size);
    Finding::ok(AREA, format!("{name}: code is made for {}; {compute_units} multiprocessors, {memory}", target.cpu()))
}

/// No driver is the ordinary state of most machines; all else is worth a look.
fn absent(why: &Absent) -> Finding {
    let status = if matches!(why, Absent::NoLibrary(_)) { Status::Info } else { Status::Warning };
    Finding { area: AREA, status, what: why.to_string(), advice: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_a_driver_has_nothing_wrong() {
        let finding = absent(&Absent::NoLibrary("libcuda.so.1: not found".into()));
        assert_eq!((finding.status, finding.what.contains("libcuda.so.1")), (Status::Info, true), "{finding:?}");
        assert_eq!(absent(&Absent::NoDevice).status, Status::Warning);
    }

    #[test]
    fn a_helper_must_be_the_program() {
        for (program, why) in [("/no/such/cloom", "No such file"), ("true", "it is not cloom")] {
            let finding = helper(program);
            assert!(finding.status == Status::Warning && finding.what.contains(why), "{finding:?}");
        }
    }

    #[test]
    fn something_is_said_on_every_machine() {
        assert!(!look().is_empty());
    }
}
