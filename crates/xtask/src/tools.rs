//! Runs programs; paths of the workspace.

use anyhow::{Context, Result, bail, ensure};
use cargo_metadata::Message;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The root of the workspace.
pub fn root() -> PathBuf {
    let mut dir = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    dir.pop();
    dir.pop();
    dir
}

/// The folder of build results.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// `cargo` in the workspace.
pub fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(root());
    command
}

/// Runs a command and says whether it succeeded; an error if it could not start.
pub fn succeeds(command: &mut Command) -> Result<bool> {
    Ok(command.status().with_context(|| format!("cannot run {:?}", command.get_program()))?.success())
}

/// Runs a command that must succeed.
pub fn must(command: &mut Command) -> Result<()> {
    if !succeeds(command)? {
        bail!("{:?} failed", command.get_program());
    }
    Ok(())
}

/// What a command that must succeed writes.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {:?}", command.get_program()))?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{:?} failed: {}", command.get_program(), error.trim_end());
    String::from_utf8(output.stdout).with_context(|| format!("{:?} writes no text", command.get_program()))
}

/// Runs a command of `cargo` that must succeed, and returns what it says of each thing that it builds.
pub fn messages(command: &mut Command) -> Result<Vec<Message>> {
    command.arg("--message-format=json-render-diagnostics").stdout(Stdio::piped());
    let mut child = command.spawn().context("cannot run cargo")?;
    let output = child.stdout.take().context("cargo has an output")?;
    let messages: Result<Vec<_>, _> = Message::parse_stream(BufReader::new(output)).collect();
    let ended = child.wait()?;
    let messages = messages.context("cargo's messages cannot be read")?;
    ensure!(ended.success(), "the build failed");
    Ok(messages)
}

/// The triple of this machine.
pub fn triple() -> String {
    format!("{}-unknown-linux-gnu", std::env::consts::ARCH)
}
