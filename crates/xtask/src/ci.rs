//! `ci`: what must hold before a change goes to the main branch.
//!
//! Formatting, clippy with warnings as errors, `tidy`, the oldest supported compiler and every test, in the order of what they cost.
//! The first step that fails ends the run.

use crate::tools::{cargo, succeeds};
use crate::{Outcome, packages, tests::test};
use anyhow::{Result, bail};
use std::process::{Command, Stdio};

/// The components of the toolchain that are no part of its minimal profile: cargo's subcommand and its name for rustup.
const COMPONENTS: &[(&str, &str)] = &[("fmt", "rustfmt"), ("clippy", "clippy")];

/// The commands of cargo that come before the tests.
const STEPS: &[&[&str]] =
    &[&["fmt", "--all", "--check"], &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]];

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
    // Begins with `tidy`.
    test(&[])
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
