//! The system packages that building and testing need, installed when missing.

use crate::tools::{must, succeeds};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::{Command, Stdio};

/// Needed to build.
const BUILD: &[&str] = &["g++", "libgmp-dev", "libmpfr-dev", "llvm-19-dev", "libzstd-dev", "zlib1g-dev"];
/// Needed to run the demo and the tests: the ICD loader that applications use.
const RUN: &[&str] = &["ocl-icd-libopencl1"];

/// Other platforms, which the tests compare with where there are any.
const PEERS: &[&str] = &["pocl-opencl-icd"];

/// Installs other platforms if possible; the tests that need them report what they skipped.
pub fn offer_peers() {
    if let Err(e) = install(PEERS) {
        eprintln!("xtask: no kernels beside other platforms: {e:#}");
    }
}

/// Sees to it that all packages are there that building and testing need.
pub fn ensure() -> Result<()> {
    let all: Vec<&str> = BUILD.iter().chain(RUN).copied().collect();
    install(&all)
}

/// Which of these packages are not installed; none, as far as is known, if the system is not Debian.
pub fn missing<'a>(packages: &[&'a str]) -> Vec<&'a str> {
    let installed = |package: &&str| {
        let output = Command::new("dpkg-query").args(["-W", "-f", "${Status}", package]).stderr(Stdio::null()).output();
        output.is_ok_and(|o| o.stdout.starts_with(b"install ok installed"))
    };
    if !Path::new("/usr/bin/dpkg-query").exists() {
        return Vec::new();
    }
    packages.iter().copied().filter(|p| !installed(p)).collect()
}

/// Sees to it that packages are there. Does nothing if the system is not Debian: then their users report what is
/// missing.
pub fn install(packages: &[&str]) -> Result<()> {
    let missing = missing(packages);
    if missing.is_empty() {
        return Ok(());
    }
    let list = missing.join(" ");
    eprintln!("xtask: installing missing system packages: {list}");
    let advice = || format!("install them yourself: apt-get install {list}");
    // The lists of a fresh machine may be empty or old.
    let install: Vec<&str> = ["install", "-y", "--no-install-recommends"].into_iter().chain(missing.clone()).collect();
    apt(&["update"]).with_context(advice)?;
    if !apt(&install).with_context(advice)? {
        bail!("apt-get could not install the packages; {}", advice());
    }
    Ok(())
}

/// Runs `apt-get` with the rights that it needs; whether it succeeded.
fn apt(args: &[&str]) -> Result<bool> {
    let root = Command::new("id").arg("-u").output().is_ok_and(|o| o.stdout.trim_ascii() == b"0");
    let mut command = Command::new(if root { "apt-get" } else { "sudo" });
    if !root {
        command.arg("apt-get");
    }
    succeeds(command.env("DEBIAN_FRONTEND", "noninteractive").args(args).stdout(Stdio::null()))
}

/// Unpacks packages for another architecture into a folder, unless it has them; the system stays as it is.
pub fn unpack(architecture: &str, packages: &[&str], folder: &Path) -> Result<()> {
    let done = folder.join("unpacked");
    let list = packages.join(" ");
    if std::fs::read_to_string(&done).is_ok_and(|text| text == list) {
        return Ok(());
    }
    eprintln!("xtask: unpacking packages for {architecture}: {list}");
    std::fs::create_dir_all(folder)?;
    let folder = folder.canonicalize()?;
    // For these calls alone; installed packages keep the machine's own architecture.
    let also = format!("APT::Architectures::={architecture}");
    if !apt(&["-o", &also, "update"])? {
        bail!("apt-get could not read the lists of {architecture}");
    }
    let names: Vec<String> = packages.iter().map(|name| format!("{name}:{architecture}")).collect();
    must(
        Command::new("apt-get").args(["-o", &also, "download"]).args(&names).current_dir(&folder).stdout(Stdio::null()),
    )?;
    for entry in std::fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "deb") {
            must(Command::new("dpkg").arg("-x").arg(&path).arg(&folder))?;
            std::fs::remove_file(&path)?;
        }
    }
    Ok(std::fs::write(done, list)?)
}
