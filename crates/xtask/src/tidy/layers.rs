//! The allowed dependencies between crates. In come the dependencies of a crate; out come those that the table forbids.
//!
//! Tests may use what they like, so development dependencies are not looked at.

use super::workspace::Member;
use cargo_metadata::DependencyKind;
use std::collections::BTreeSet;

/// The crates in the order of the pipeline, each with all that it may use. A row names crates of earlier rows only, so
/// that no two crates depend on each other.
pub const LAYERS: &[(&str, &[&str])] = &[
    ("target", &[]),
    ("caps", &["target"]),
    ("ir", &[]),
    ("builtins", &["caps", "ir"]),
    ("clc", &["caps", "ir", "builtins"]),
    ("spirv", &["caps", "ir", "builtins", "clc"]),
    ("passes", &["ir"]),
    ("spmd", &["target", "ir", "passes"]),
    ("interp", &["ir", "builtins"]),
    ("check", &["ir", "builtins", "interp"]),
    ("ptx", &[]),
    ("llvm", &["target", "caps", "ir", "passes", "ptx"]),
    ("artifact", &["target", "ir"]),
    ("compiler", &["target", "caps", "ir", "builtins", "clc", "spirv", "passes", "spmd", "interp", "llvm", "artifact"]),
    ("hal", &["target", "caps", "artifact"]),
    ("hal-cpu", &["target", "caps", "ir", "artifact", "hal"]),
    ("hal-remote", &["artifact", "hal"]),
    ("hal-gpu", &["ir", "artifact", "hal"]),
    ("cuda-abi", &[]),
    ("hal-cuda", &["target", "caps", "ir", "artifact", "hal", "hal-remote", "hal-gpu", "cuda-abi"]),
    // In the place of the driver that `hal-cuda` calls.
    ("cuda-sim", &["ptx"]),
    ("cuda-sim-driver", &["cuda-abi", "cuda-sim"]),
    ("cuda-sim-compiler", &[]),
    ("gpu-tests", &["ir", "artifact", "hal", "cuda-abi", "hal-cuda"]),
    ("runtime", &["target", "caps", "ir", "builtins", "artifact", "compiler", "hal"]),
    ("platform", &["ir", "builtins", "caps", "interp", "check", "hal", "hal-cpu", "hal-remote", "hal-cuda", "runtime"]),
    ("capi", &["target", "caps", "hal", "platform", "runtime"]),
    ("cloom", &["platform", "runtime"]),
    // On the standard interface only, so that its programs run on any platform.
    ("gallery", &[]),
    (
        "cli",
        &[
            "target",
            "caps",
            "ir",
            "passes",
            "interp",
            "check",
            "compiler",
            "hal",
            "hal-cpu",
            "hal-remote",
            "hal-cuda",
            "runtime",
            "cloom",
            "gallery",
        ],
    ),
    (
        "filetest",
        &[
            "target", "caps", "ir", "builtins", "clc", "spirv", "passes", "spmd", "interp", "llvm", "artifact",
            "compiler", "hal", "hal-cpu", "hal-gpu", "hal-cuda", "cuda-sim", "gallery",
        ],
    ),
    (
        "fuzzing",
        &[
            "target", "caps", "ir", "builtins", "clc", "spirv", "passes", "spmd", "interp", "artifact", "compiler",
            "hal", "hal-cpu", "hal-cuda", "runtime", "filetest",
        ],
    ),
    ("xtask", &[]),
];

/// Checks the dependencies of one crate.
pub fn check(member: &Member, findings: &mut Vec<String>) {
    let used = member.package.dependencies.iter().filter(|d| d.kind != DependencyKind::Development);
    let used = used.filter_map(|d| d.path.as_ref()?.file_name());
    check_uses(&member.name, used, findings);
}

/// Checks that the fingerprint of generated code covers the sources of every crate that `compiler` uses.
pub fn check_fingerprint(compiler: &Member, findings: &mut Vec<String>) {
    let used = compiler.package.dependencies.iter().filter(|d| d.kind != DependencyKind::Development);
    let used = used.filter_map(|d| d.path.as_ref()?.file_name());
    let script = compiler.files.iter().find(|f| f.shown == "compiler/build.rs").map_or("", |f| f.text.as_str());
    check_parts(script, used, findings);
}

fn check_parts<'a>(script: &str, used: impl Iterator<Item = &'a str>, findings: &mut Vec<String>) {
    // The list is read from the text of the build script, which this crate cannot link.
    let list = script.split_once("const PARTS").and_then(|(_, rest)| rest.split(';').next()).unwrap_or_default();
    let parts: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    for name in used.chain(["compiler"]).collect::<BTreeSet<_>>() {
        if !parts.contains(&name) {
            findings.push(format!("compiler/build.rs: PARTS lacks {name}, which decides which code a kernel gets"));
        }
    }
}

fn check_uses<'a>(name: &str, used: impl Iterator<Item = &'a str>, findings: &mut Vec<String>) {
    let Some((_, allowed)) = LAYERS.iter().find(|(n, _)| *n == name) else {
        findings.push(format!("{name}: the crate has no row in LAYERS (crates/xtask/src/tidy/layers.rs)"));
        return;
    };
    for used in used.filter(|u| !allowed.contains(u)) {
        findings.push(format!("{name}/Cargo.toml: may not use {used}; it may use {}", list(allowed)));
    }
}

/// Checks that the table of crates in a document names those there are, in the order of [`LAYERS`].
pub fn check_map(shown: &str, text: &str, there: &[&str], findings: &mut Vec<String>) {
    let cells = text.lines().filter(|l| l.starts_with("| `")).filter_map(|l| l.split('|').nth(1));
    let found: Vec<&str> = cells.flat_map(|c| c.split('`').skip(1).step_by(2)).collect();
    let wanted: Vec<&str> = LAYERS.iter().map(|(name, _)| *name).filter(|name| there.contains(name)).collect();
    if found != wanted {
        findings.push(format!("{shown}: the table of crates has {}; it should have {}", list(&found), list(&wanted)));
    }
}

fn list(names: &[&str]) -> String {
    if names.is_empty() { "no crate of the workspace".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(name: &str, used: &[&str]) -> Vec<String> {
        let mut out = Vec::new();
        check_uses(name, used.iter().copied(), &mut out);
        out
    }

    #[test]
    fn rows_name_earlier_rows_only() {
        for (i, (name, allowed)) in LAYERS.iter().enumerate() {
            for used in *allowed {
                assert!(LAYERS[..i].iter().any(|(n, _)| n == used), "{name} uses {used}, which is not above it");
            }
        }
    }

    #[test]
    fn a_crate_that_the_fingerprint_lacks_is_found() {
        let find = |used: &[&str]| {
            let mut out = Vec::new();
            check_parts(
                "const PARTS: &[&str] = &[\"ir\", \"compiler\"];\nf(\"llvm\");",
                used.iter().copied(),
                &mut out,
            );
            out.len()
        };
        assert_eq!(find(&["ir"]), 0);
        assert_eq!(find(&["ir", "ir", "llvm"]), 1);
    }

    #[test]
    fn a_map_that_is_not_the_order_is_found() {
        let findings = |text: &str| {
            let mut out = Vec::new();
            check_map("map.md", text, &["hal", "hal-cpu", "ir"], &mut out);
            out.len()
        };
        assert_eq!(findings("| crate | x |\n|--|--|\n| `ir` | `x` |\n| `hal`, `hal-cpu` | x |\n"), 0);
        assert_eq!(findings("| `hal`, `hal-cpu` | x |\n| `ir` | x |\n"), 1);
        assert_eq!(findings("| `ir` | x |\n| `hal` | x |\n"), 1);
    }

    #[test]
    fn a_forbidden_dependency_and_an_unknown_crate_are_found() {
        assert_eq!(findings("runtime", &["compiler", "llvm"]).len(), 1);
        assert_eq!(findings("ir", &["caps"]).len(), 1);
        assert_eq!(findings("newcomer", &[]).len(), 1);
        assert!(findings("llvm", &["caps", "ir"]).is_empty());
    }
}
