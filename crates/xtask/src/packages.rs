//! The system packages that building and testing need, installed when missing.

use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::{Command, Stdio};

/// Needed to build.
const BUILD: &[&str] = &["g++", "libgmp-dev", "libmpfr-dev", "llvm-19-dev", "libzstd-dev", "zlib1g-dev"];
/// Needed to run the demo and the tests: the ICD loader that applications use.
const RUN: &[&str] = &["ocl-icd-libopencl1"];

/// Sees to it that all packages are there that building and testing need.
pub fn ensure() -> Result<()> {
    let all: Vec<&str> = BUILD.iter().chain(RUN).copied().collect();
    install(&all)
}

/// Sees to it that packages are there. Does nothing where there is no Debian: then whoever uses them will say what is missing.
pub fn install(packages: &[&str]) -> Result<()> {
    let installed = |package: &&str| {
        let output = Command::new("dpkg-query").args(["-W", "-f", "${Status}", package]).stderr(Stdio::null()).output();
        output.is_ok_and(|o| o.stdout.starts_with(b"install ok installed"))
    };
    if !Path::new("/usr/bin/dpkg-query").exists() {
        return Ok(());
    }
    let missing: Vec<&str> = packages.iter().copied().filter(|p| !installed(p)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let list = missing.join(" ");
    eprintln!("xtask: installing missing system packages: {list}");
    let advice = || format!("install them yourself: apt-get install {list}");
    let root = Command::new("id").arg("-u").output().is_ok_and(|o| o.stdout.trim_ascii() == b"0");
    let apt = |args: &[&str]| -> Result<bool> {
        let mut command = if root { Command::new("apt-get") } else { Command::new("sudo") };
        if !root {
            command.arg("apt-get");
        }
        let status = command.env("DEBIAN_FRONTEND", "noninteractive").args(args).stdout(Stdio::null()).status();
        Ok(status.with_context(advice)?.success())
    };
    // The lists of a fresh machine may be empty or old.
    let install: Vec<&str> = ["install", "-y", "--no-install-recommends"].into_iter().chain(missing.clone()).collect();
    apt(&["update"])?;
    if !apt(&install)? {
        bail!("apt-get could not install the packages; {}", advice());
    }
    Ok(())
}
