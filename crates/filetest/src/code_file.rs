//! Tests of passes that need more than Cloom's IR: their input is LLVM's IR (`tests/ll`) or a program (`tests/cl`).
//!
//! ```text
//! ; RUN: own-pass demote-wide for x86_64-unknown-linux-gnu:x86-64-v3
//! ; FIRES: demote-wide 1
//! define void @k() …
//! ; ==== expected
//! ; define void @k() …
//! ```
//!
//! | command | what comes out |
//! |---|---|
//! | `own-pass NAME… for TARGET` | the module after these passes of `cloom_llvm::own_passes`, and no pass of LLVM |
//! | `stages NAME… for TARGET` | these stages of the program's only kernel, as `cloom show` prints them |
//!
//! All images of a program are RGBA and UNORM_INT8.
//!
//! The expected output, `CHECK`, `NOT` and `FIRES` are those of [`crate::ir_file`]; in a program the head's lines begin
//! with `//`.

use crate::ir_file::{MARK, check};
use cloom_caps::image::{channel, order};
use cloom_compiler::{ArgState, Compiler, Config, SpecializationKey, Variant};
use cloom_ir::ParamKind;
use cloom_llvm::own_passes::PASSES;
use cloom_passes::{PassOptions, Statistics};
use cloom_target::Target;
use std::path::Path;

/// Runs a file of LLVM's IR.
pub fn llvm(path: &Path, text: &str) -> Result<(), String> {
    let (input, expected) = text.split_once(MARK).map_or((text, None), |(a, b)| (a, Some(b)));
    let (names, target) = command(input, "; RUN: own-pass ")?;
    let known = |name: &str| PASSES.iter().find(|id| id.name == name).copied();
    let wanted: Vec<_> = names
        .iter()
        .map(|name| known(name).ok_or_else(|| format!("no pass is named {name}")))
        .collect::<Result<_, _>>()?;
    check(path, input, expected, &|options| {
        let result = cloom_llvm::testing::run_own_passes(input, &target, &wanted, options);
        let (text, statistics) = result.map_err(|e| e.to_string())?;
        // Without the lines about files and machines, which are no part of the function.
        let is_about_module =
            |line: &str| ["; ModuleID", "source_filename", "target "].iter().any(|head| line.starts_with(head));
        let kept = text.lines().filter(|line| !is_about_module(line)).skip_while(|line| line.is_empty());
        Ok((kept.map(|line| line.to_owned() + "\n").collect(), statistics))
    })
}

/// Runs a program.
pub fn kernel(path: &Path, text: &str) -> Result<(), String> {
    // The checks of files of IR take comments of IR.
    let head: String =
        text.lines().filter_map(|line| line.strip_prefix("// ")).map(|line| format!("; {line}\n")).collect();
    let (stages, target) = command(&head, "; RUN: stages ")?;
    if !["; CHECK:", "; NOT:"].iter().any(|line| head.contains(line)) {
        return Err("a program needs `CHECK:` or `NOT:` lines: its output changes with every improvement".into());
    }
    check(path, &head, None, &|options| code(text, &target, &stages, options))
}

/// The words of a command, and its target.
fn command<'a>(head: &'a str, command: &str) -> Result<(Vec<&'a str>, Target), String> {
    let rest = head.lines().find_map(|line| line.strip_prefix(command));
    let (words, target) = rest.and_then(|rest| rest.split_once(" for ")).ok_or("`RUN:` needs words and a target")?;
    Ok((words.split_whitespace().collect(), target.trim().parse().map_err(|e| format!("{e}"))?))
}

/// Stages of a program's only kernel, and what the passes did.
fn code(source: &str, target: &Target, stages: &[&str], options: &PassOptions) -> Result<(String, Statistics), String> {
    // With a disk cache, code that an earlier run has kept would go through no pass, and nothing would fire.
    let compiler = Compiler::new(Config { cache_dir: None, disabled: options.disabled.clone(), ..Config::default() });
    let program = crate::program::build(&compiler, source, "-cl-std=CL3.0", target)?;
    let (name, meta) = program.kernels().next().ok_or("the program has no kernel")?;
    let image = ArgState::Image {
        order: order::RGBA,
        channel_type: channel::UNORM_INT8,
        is_large: false,
        is_column: false,
        has_texture: false,
    };
    let images = meta.params.iter().zip(0..).filter(|(param, _)| param.kind == ParamKind::Image);
    let states = images.map(|(_, i)| (i, image)).collect();
    let mut key = SpecializationKey::from(Variant::Vector);
    key.states = states;
    let built = compiler.stages(&program, name, target, key).map_err(|e| e.to_string())?;
    let shown = built.stages.iter().filter(|stage| stages.contains(&stage.name.as_str()));
    Ok((shown.map(|stage| stage.text.as_str()).collect(), built.statistics))
}
