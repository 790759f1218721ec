//! `gpu`: everything that needs a GPU, for a machine that has one and perhaps no Rust. `gpu pack` builds the programs
//! and puts them into an archive with a script, `run.sh`, that runs all checks and measurements there and leaves the
//! results in one folder. `gpu simulate COMMAND…` runs a command of this machine on a simulated GPU.

use crate::outcome::Outcome;
use crate::tools::{cargo, must, root, succeeds, target};
use crate::{driver, packages};
use anyhow::{Context, Result, bail};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

const USAGE: &str = "usage: cargo xtask gpu pack | simulate COMMAND [ARGS]

  pack      target/gpu.tar.xz: unpack it on a machine with an NVIDIA GPU, and run ./run.sh RESULTS there
  simulate  runs the command with a simulated GPU as the only device; CUDA_SIM_DEVICES says how many there are";

/// The script.
const RUN: &str = include_str!("run.sh");
/// The loader that the programs are linked with; CUDA's own ignores `OCL_ICD_VENDORS`.
const LOADER: &str = "libOpenCL.so.1";
/// Where Debian puts it.
const LOADER_FOLDER: &str = "/usr/lib/x86_64-linux-gnu";
/// The self-checking programs.
const PROGRAMS: &[&str] = &["crates/filetest/run/lang", "crates/filetest/groups"];

/// The programs that check and measure, below the folder of what is built.
const CHECKS: &[&str] = &["examples/peers", "gpu_smoke", "driver_costs"];

/// Runs one of the two.
pub fn run(args: &[String]) -> Result<Outcome> {
    match args.split_first() {
        Some((what, [])) if what == "pack" => pack(),
        Some((what, command)) if what == "simulate" && !command.is_empty() => simulate(command),
        _ => bail!("{USAGE}"),
    }
}

/// Builds the driver, the program, and the programs that check it.
fn build() -> Result<()> {
    packages::ensure()?;
    must(&mut cargo(&["build", "--release", "-p", "cloom-capi", "-p", "cloom-cli"]))?;
    must(&mut cargo(&["build", "--release", "-p", "cloom-filetest", "--example", "peers"]))?;
    must(&mut cargo(&["build", "--release", "-p", "cloom-gpu-tests"]))
}

fn pack() -> Result<Outcome> {
    build()?;
    let (release, folder) = (target().join("release"), target().join("gpu"));
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    for name in ["cloom", "libcloom.so"].iter().chain(CHECKS) {
        let to = folder.join(Path::new(name).file_name().unwrap_or_default());
        must(Command::new("strip").arg("-o").arg(&to).arg(release.join(name)))?;
    }
    let loader = Path::new(LOADER_FOLDER).join(LOADER);
    fs::copy(&loader, folder.join(LOADER)).with_context(|| format!("{} is missing", loader.display()))?;
    for programs in PROGRAMS {
        let to = folder.join("programs").join(Path::new(programs).file_name().unwrap_or_default());
        fs::create_dir_all(&to)?;
        for entry in fs::read_dir(root().join(programs))? {
            let path = entry?.path();
            if path.extension().is_some_and(|e| e == "cl") {
                fs::copy(&path, to.join(path.file_name().unwrap_or_default()))?;
            }
        }
    }
    let script = folder.join("run.sh");
    fs::write(&script, RUN)?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    let archive = target().join("gpu.tar.xz");
    must(Command::new("tar").env("XZ_OPT", "-T0 -1").arg("-C").arg(target()).arg("-cJf").arg(&archive).arg("gpu"))?;
    println!("{}: {} MiB; unpack it on a machine with a GPU, and run ./run.sh RESULTS", archive.display(), {
        fs::metadata(&archive)?.len() >> 20
    });
    Ok(Outcome::Fine)
}

/// A folder with the library in the place of NVIDIA's driver.
fn simulation() -> Result<PathBuf> {
    must(&mut cargo(&["build", "--release", "-p", "cloom-cuda-sim-driver"]))?;
    let folder = target().join("simulation");
    fs::create_dir_all(&folder)?;
    let link = folder.join("libcuda.so.1");
    if link.symlink_metadata().is_ok() {
        fs::remove_file(&link)?;
    }
    symlink(target().join("release/libcuda_sim_driver.so").canonicalize()?, link)?;
    Ok(folder.canonicalize()?)
}

fn simulate(command: &[String]) -> Result<Outcome> {
    packages::ensure()?;
    must(&mut cargo(&["build", "--release", "-p", "cloom-capi", "-p", "cloom-cli"]))?;
    let (folder, vendors) = (simulation()?, target().join("simulation/vendors"));
    driver::register_alone(&target().join("release/libcloom.so").canonicalize()?, &vendors)?;
    // Our own program by its name.
    let own = target().join("release/cloom");
    let program = if command[0] == "cloom" { own.as_os_str() } else { command[0].as_ref() };
    let libraries = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let paths = std::iter::once(folder).chain(std::env::split_paths(&libraries));
    let good = succeeds(
        Command::new(program)
            .args(&command[1..])
            .env("LD_LIBRARY_PATH", std::env::join_paths(paths.filter(|p| !p.as_os_str().is_empty()))?)
            .env(driver::VENDORS, vendors.canonicalize()?)
            .env("CLOOM_DEVICES", std::env::var_os("CLOOM_DEVICES").unwrap_or_else(|| "gpu".into())),
    )?;
    Ok(Outcome::of(good))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_names_what_is_packed() {
        let checks = CHECKS.iter().map(|path| path.rsplit('/').next().unwrap_or(path));
        for name in ["cloom", "libcloom.so", "programs"].into_iter().chain(checks) {
            assert!(RUN.contains(&format!("$here/{name}")), "{name}");
        }
        let syntax = Command::new("bash").args(["-n", "-c", RUN]).status().expect("bash");
        assert!(syntax.success());
    }
}
