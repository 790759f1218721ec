//! A short session of each target: it finds nothing, and a share of its inputs gets past the parser. Each share is
//! about half of what sessions of a thousand inputs have, so that chance fails no test, but a mutator without valid
//! inputs does.

#![allow(clippy::print_stdout, reason = "it shows what the sessions print")]

use std::process::Command;

/// `least`: inputs of 100 that must be accepted.
fn session(target: &str, inputs: &str, seconds: &str, least: u64) {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_cloom-fuzzing"))
        .args([target, "--inputs", inputs, "--seconds", seconds, "--seed", "1", "--findings"])
        .arg(folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains(" 0 findings"), "{text}");
    let percent = text.lines().last().and_then(|l| l.split_once('(')?.1.split_once("%)")?.0.parse::<u64>().ok());
    assert!(percent.is_some_and(|p| p >= least), "{least}% of the inputs should be accepted:\n{text}");
    print!("{text}");
}

#[test]
fn source() {
    session("source", "300", "60", 18);
}

#[test]
fn compile() {
    session("compile", "100", "60", 15);
}

#[test]
fn spirv() {
    session("spirv", "200", "60", 5);
}

#[test]
fn ir() {
    session("ir", "300", "60", 12);
}

#[test]
fn binary() {
    session("binary", "200", "60", 10);
}

#[test]
fn options() {
    session("options", "300", "60", 25);
}

#[test]
fn cache() {
    session("cache", "60", "60", 35);
}

#[test]
fn api() {
    session("api", "60", "60", 15);
}

#[test]
fn kernels() {
    session("kernels", "10", "60", 50);
}
