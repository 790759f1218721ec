//! `ci`: all checks before a change goes to the main branch.
//!
//! Formatting, clippy with warnings as errors, dependencies, the oldest supported compiler, `tidy` and every test.
//! The first step that fails ends the run.

use crate::outcome::Outcome;
use crate::tools::{cargo, root, succeeds, target};
use crate::{packages, tests::test};
use anyhow::{Result, bail};
use std::process::{Command, Stdio};

/// The components of the toolchain that are no part of its minimal profile: cargo's subcommand and its name for rustup.
const COMPONENTS: &[(&str, &str)] = &[("fmt", "rustfmt"), ("clippy", "clippy")];

/// The commands of cargo that come before the tests.
const STEPS: &[&[&str]] =
    &[&["fmt", "--all", "--check"], &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]];

/// The checks of `cargo deny` that need no network.
const DENY: &[&str] = &["deny", "--offline", "check", "licenses", "bans", "sources"];

/// Runs all steps.
pub fn run() -> Result<Outcome> {
    packages::ensure()?;
    for &(subcommand, component) in COMPONENTS {
        ensure_component(subcommand, component)?;
    }
    for args in STEPS {
        println!("xtask ci: cargo {}", args.join(" "));
        if !succeeds(&mut cargo(args))? {
            return Ok(Outcome::Findings);
        }
    }
    if !deny()? || !oldest_compiler()? {
        return Ok(Outcome::Findings);
    }
    // Begins with `tidy`, which has its own rules for dependencies.
    test(&[])
}

/// Runs `cargo deny` if it is installed. `tidy` has the checks that need no list from the network.
fn deny() -> Result<bool> {
    if !quiet(&mut cargo(&["deny", "--version"])) {
        println!("xtask ci: cargo deny is not installed; `cargo install cargo-deny` adds its checks to those of tidy");
        return Ok(true);
    }
    println!("xtask ci: cargo {}", DENY.join(" "));
    succeeds(&mut cargo(DENY))
}

/// Checks the workspace with the oldest compiler that it promises, where rustup has that one. Without it, two things
/// still hold: `tidy` compares what each dependency needs, and clippy's `incompatible_msrv` knows since when the
/// standard library has what.
fn oldest_compiler() -> Result<bool> {
    let version = env!("CARGO_PKG_RUST_VERSION");
    let older = |args: &[&str]| {
        let mut command = Command::new("rustup");
        command.args(["run", version, "cargo"]).args(args).current_dir(root());
        // Two compilers in one folder would rebuild everything in turns; variables of the running cargo do not apply to
        // the older one.
        command.env("CARGO_TARGET_DIR", target().join("oldest")).env_remove("CARGO");
        command
    };
    if !quiet(&mut older(&["--version"])) {
        println!(
            "xtask ci: Rust {version} is not installed; `rustup toolchain install {version}` adds a check with it"
        );
        return Ok(true);
    }
    println!("xtask ci: cargo check --workspace --all-targets, with Rust {version}");
    succeeds(&mut older(&["check", "--workspace", "--all-targets"]))
}

/// Sees to it that the toolchain has a component: installs it, or says how.
fn ensure_component(subcommand: &str, component: &str) -> Result<()> {
    if quiet(&mut cargo(&[subcommand, "--version"])) {
        return Ok(());
    }
    eprintln!("xtask: installing the component {component}");
    let installed = quiet(Command::new("rustup").args(["component", "add", component]));
    if !installed || !quiet(&mut cargo(&[subcommand, "--version"])) {
        bail!(
            "`cargo {subcommand}` is missing; install it with `rustup component add {component}` or the system's package"
        );
    }
    Ok(())
}

/// Whether a command can be run and succeeds; shows nothing of what it writes.
fn quiet(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clippy_comes_with_warnings_as_errors() {
        let clippy = STEPS.iter().find(|args| args[0] == "clippy").expect("a step");
        assert!(clippy.ends_with(&["--", "-D", "warnings"]));
        assert!(clippy.contains(&"--workspace") && clippy.contains(&"--all-targets"));
    }
}
