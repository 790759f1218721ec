//! Tells the program which commit it is built from, for the head of `bench`.

#![allow(clippy::print_stdout, reason = "this is how a build script answers")]

use std::process::Command;

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=SOURCE_COMMIT");
    // The log of the head gets a line with each commit.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| std::path::Path::new(log).exists()) {
        println!("cargo::rerun-if-changed={log}");
    }
    // A package that is built outside of a repository may name its commit.
    let given = std::env::var("SOURCE_COMMIT").ok().filter(|c| !c.is_empty());
    let commit = given.or_else(|| git(&["rev-parse", "--short=12", "HEAD"]));
    println!("cargo::rustc-env=SOURCE_COMMIT={}", commit.as_deref().unwrap_or("unknown commit"));
}
