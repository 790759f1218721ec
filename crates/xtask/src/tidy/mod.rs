//! The invariants of the workspace that a compiler does not check: who may use whom, where `unsafe` may stand, which crate may
//! name LLVM, CUDA or the C types, the head of each file and its length.

use crate::Outcome;
use crate::tools::root;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates in the order of the pipeline: each may use only those before it.
const ORDER: &[&str] = &[
    "caps", "ir", "builtins", "clc", "passes", "spmd", "interp", "llvm", "artifact", "compiler", "hal", "hal-cpu",
    "runtime", "capi", "gallery", "cli", "filetest", "fuzzing", "xtask",
];

/// What a crate may use, where "those before it" says too much.
const ONLY: &[(&str, &[&str])] = &[
    ("ir", &[]),
    ("passes", &["ir"]),
    ("spmd", &["ir", "passes"]),
    ("interp", &["ir", "builtins"]),
    ("llvm", &["caps", "ir"]),
    ("artifact", &["caps"]),
    ("hal", &["artifact"]),
    ("hal-cpu", &["artifact", "caps", "hal", "ir"]),
    ("gallery", &[]),
    ("xtask", &[]),
];

/// Crates in which `unsafe` may stand, and the one file beside them.
const UNSAFE_CRATES: &[&str] = &["llvm", "capi", "hal-cpu", "hal-cuda"];
// Single modules: memory of the application's, and calls of the C interface.
const UNSAFE_FILES: &[&str] = &["runtime/src/host_mem.rs", "gallery/src/cl.rs", "fuzzing/src/targets/api/calls.rs"];

const MAX_LINES: usize = 800;
const MAX_WIDTH: usize = 140;

/// Words that only one crate may write in code.
const WORDS: &[(&str, &[&str])] =
    &[("llvm_sys", &["llvm"]), ("inkwell", &["llvm"]), ("cuLaunchKernel", &["hal-cuda"]), ("cl_mem_flags", &["capi"])];

/// Checks all; prints what is wrong.
pub fn run() -> Result<Outcome> {
    let mut findings = Vec::new();
    let crates = root().join("crates");
    for entry in fs::read_dir(&crates).context("cannot list crates/")? {
        let dir = entry?.path();
        let name = dir.file_name().and_then(|n| n.to_str()).unwrap_or_default().to_owned();
        if !dir.join("Cargo.toml").exists() {
            continue;
        }
        check_dependencies(&name, &dir, &mut findings)?;
        let mut files = Vec::new();
        collect(&dir, &mut files)?;
        for file in files {
            let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
            let shown = file.strip_prefix(&crates).unwrap_or(&file).display().to_string();
            check_file(&name, &shown, &text, &mut findings);
        }
    }
    findings.sort();
    for finding in &findings {
        eprintln!("tidy: {finding}");
    }
    println!("xtask tidy: {} findings", findings.len());
    Ok(Outcome::of(findings.is_empty()))
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            if path.file_name().is_none_or(|n| n != "target") {
                collect(&path, files)?;
            }
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

fn check_dependencies(name: &str, dir: &Path, findings: &mut Vec<String>) -> Result<()> {
    let Some(place) = ORDER.iter().position(|&c| c == name) else {
        findings.push(format!("{name}: the crate has no place in the order"));
        return Ok(());
    };
    let manifest = fs::read_to_string(dir.join("Cargo.toml"))?;
    // Tests may use what they like; a dependency is a line `cloom-x…` of another table.
    let mut section = "";
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        }
        let Some(rest) = line.strip_prefix("cloom-") else { continue };
        if section == "[dev-dependencies]" {
            continue;
        }
        let used = rest.split(['.', ' ', '=']).next().unwrap_or_default();
        let before = ORDER[..place].contains(&used);
        let allowed = ONLY.iter().find(|(c, _)| *c == name).is_none_or(|(_, list)| list.contains(&used));
        if !before || !allowed {
            findings.push(format!("{name}: may not use {used}"));
        }
    }
    Ok(())
}

fn check_file(name: &str, shown: &str, text: &str, findings: &mut Vec<String>) {
    let lines = text.lines().count();
    if lines > MAX_LINES {
        findings.push(format!("{shown}: {lines} lines, {MAX_LINES} are the limit"));
    }
    if !text.starts_with("//!") {
        findings.push(format!("{shown}: no //! head that says what comes in, what goes out and why"));
    }
    let fenced = UNSAFE_CRATES.contains(&name) || UNSAFE_FILES.contains(&shown) || name == "xtask";
    for (i, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        let at = format!("{shown}:{}", i + 1);
        if !fenced
            && code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == "unsafe")
            && !code.contains('"')
        {
            findings.push(format!("{at}: unsafe outside of its fence"));
        }
        if line.chars().count() > MAX_WIDTH && !line.contains("r#\"") && !code.contains('"') {
            findings.push(format!("{at}: longer than {MAX_WIDTH} columns"));
        }
        if name != "xtask" {
            for (word, crates) in WORDS {
                if code.contains(word) && !crates.contains(&name) {
                    findings.push(format!("{at}: only {} may name {word}", crates.join(", ")));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(name: &str, shown: &str, text: &str) -> Vec<String> {
        let mut out = Vec::new();
        check_file(name, shown, text, &mut out);
        out
    }

    #[test]
    fn unsafe_is_found_outside_of_the_fence_only() {
        let text = "//! Head.\nfn f() { unsafe { g() } }\n";
        assert_eq!(findings("clc", "clc/src/x.rs", text).len(), 1);
        assert!(findings("llvm", "llvm/src/x.rs", text).is_empty());
        assert!(findings("runtime", UNSAFE_FILES[0], text).is_empty());
        assert_eq!(findings("gallery", "gallery/src/lib.rs", text).len(), 1);
        assert!(findings("clc", "clc/src/x.rs", "//! Head.\n// unsafe in words\n").is_empty());
    }

    #[test]
    fn heads_lengths_and_foreign_words_are_found() {
        assert_eq!(findings("ir", "ir/src/x.rs", "fn f() {}\n").len(), 1);
        assert_eq!(findings("ir", "ir/src/x.rs", &format!("//! Head.\n{}", "\n".repeat(MAX_LINES))).len(), 1);
        assert_eq!(findings("runtime", "runtime/src/x.rs", "//! Head.\nuse llvm_sys::core;\n").len(), 1);
    }
}
