//! A short session of each target, and one that must find something.

use std::process::Command;

fn session(target: &str, inputs: &str, seconds: &str) {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_cloom-fuzzing"))
        .args([target, "--inputs", inputs, "--seconds", seconds, "--seed", "1", "--findings"])
        .arg(folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains(" 0 findings"), "{text}");
}

#[test]
fn source() {
    session("source", "300", "20");
}

#[test]
fn compile() {
    session("compile", "100", "20");
}

#[test]
fn ir() {
    session("ir", "300", "20");
}

#[test]
fn binary() {
    session("binary", "200", "20");
}

#[test]
fn options() {
    session("options", "300", "20");
}

#[test]
fn api() {
    session("api", "60", "20");
}

#[test]
fn kernels() {
    session("kernels", "10", "20");
}
