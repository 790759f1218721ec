//! Builds the driver and the program for users. In: the workspace. Out: the two files, and the libraries of others that
//! are linked into them statically.
//!
//! The profile is `delivery` of `Cargo.toml`. The flags below go to every crate, which the profile's own folder of
//! results keeps apart from other builds.

use super::machine::Machine;
use super::stubs;
use crate::aarch64::Cross;
use crate::packages::Unpacked;
use crate::tools::{cargo, messages, output, root, succeeds, target, triple};
use anyhow::{Context, Result};
use cargo_metadata::{BuildScript, Message};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PROFILE: &str = "delivery";

/// What was built.
pub struct Built {
    /// `libcloom.so`.
    pub library: PathBuf,
    /// `cloom`.
    pub program: PathBuf,
    /// The static libraries of others.
    pub archives: Vec<PathBuf>,
    /// The packages of those that are not installed.
    pub packages: Option<Unpacked>,
}

/// Builds both.
pub fn build(machine: Machine) -> Result<Built> {
    println!("xtask: building libcloom.so and cloom for users (the first time takes some minutes)");
    let cross = if machine.is_host() { None } else { Some(Cross::new()?) };
    let stubs = stubs::folder(machine)?;
    let triple = machine.triple();
    let mut flags = flags(machine, &stubs)?;
    flags.extend(cross.as_ref().map(|cross| format!("-Lnative={}", cross.libraries().display())));
    // With a triple the flags are not for build scripts, which run here.
    let mut command = cargo(&["build", "--locked", "--profile", PROFILE, "--target", &triple]);
    command
        .args(["-p", "cloom-capi", "-p", "cloom-cli"])
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"))
        // Nothing that is built has a time in it, and build scripts would run again with each commit.
        .env_remove("SOURCE_DATE_EPOCH");
    if let Some(cross) = &cross {
        cross.configure(&mut command);
    }
    let mut archives = Vec::new();
    for message in messages(&mut command)? {
        if let Message::BuildScriptExecuted(script) = message {
            archives.extend(linked(&script)?);
        }
    }
    archives.sort();
    archives.dedup();
    let folder = target().join(triple).join(PROFILE);
    let file = |name: &str| folder.join(name).canonicalize().with_context(|| format!("{name} was not built"));
    let packages = cross.map(|cross| cross.packages);
    Ok(Built { library: file("libcloom.so")?, program: file("cloom")?, archives, packages })
}

/// The static libraries that a build script names, other than those that it made itself.
fn linked(script: &BuildScript) -> Result<Vec<PathBuf>> {
    let folders: Vec<&Path> = script
        .linked_paths
        .iter()
        .map(|p| Path::new(p.as_str().split_once('=').map_or(p.as_str(), |(_, path)| path)))
        .collect();
    let mut found = Vec::new();
    for library in &script.linked_libs {
        let Some(name) = library.as_str().strip_prefix("static=") else { continue };
        let file = format!("lib{name}.a");
        let path = folders.iter().map(|f| f.join(&file)).find(|p| p.is_file());
        let path = path.with_context(|| format!("{file} is linked and in no folder that its build script names"))?;
        if !path.starts_with(script.out_dir.as_std_path()) {
            found.push(path);
        }
    }
    Ok(found)
}

/// Flags for rustc: no path of this machine in the results; the C library that users have; equal functions once, where
/// the linker can do that.
fn flags(machine: Machine, stubs: &Path) -> Result<Vec<String>> {
    let mut flags = vec![format!("--remap-path-prefix={}=cloom", root().display())];
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    flags.extend(home.map(|home| format!("--remap-path-prefix={}=cargo", home.display())));
    // For libraries, and for what a program begins with.
    flags.push(format!("-Lnative={}", stubs.display()));
    flags.push(format!("-Clink-arg=-B{}", stubs.display()));
    // The stubs have not what this machine's libgcc_s asks for; that of the user's machine has its own C library.
    flags.push("-Clink-arg=-Wl,--allow-shlib-undefined".to_owned());
    if !machine.is_host() {
        // Rust's own linker, as it is used for this machine: the compiler for the other one would take that of GNU.
        let sysroot = output(Command::new("rustc").args(["--print", "sysroot"]))?;
        let linker = Path::new(sysroot.trim()).join("lib/rustlib").join(triple()).join("bin/gcc-ld");
        flags.extend([format!("-Clink-arg=-B{}", linker.display()), "-Clink-arg=-fuse-ld=lld".to_owned()]);
    }
    let fold = "-Clink-arg=-Wl,--icf=all";
    if links_with(fold) {
        flags.push(fold.to_owned());
    } else {
        println!("xtask: the linker does not fold identical code: the files are a twentieth larger than with lld");
    }
    Ok(flags)
}

/// Whether an empty program can be linked with a flag.
fn links_with(flag: &str) -> bool {
    let folder = target().join("dist-linker");
    let source = folder.join("empty.rs");
    let made = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&source, "fn main() {}\n"));
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.arg(flag).arg("-o").arg(folder.join("empty")).arg(&source).stderr(Stdio::null());
    made.is_ok() && succeeds(&mut rustc).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linker_is_asked_whether_it_knows_a_flag() {
        assert!(!links_with("-Clink-arg=-Wl,--no-such-flag"));
    }
}
