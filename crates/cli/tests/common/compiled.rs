//! Marked kernels, and what the compiled checks of a device find in them.
//!
//! `crates/check/tests/kernels` has a folder for each kind. The first line of a kernel has the arguments of its launch;
//! `//~ KIND` stands on each line that a finding of this kind must name.

use crate::common::Bench;
use crate::marks::{Marks, marks};
use std::path::Path;

/// What compiled code finds. An index that leaves its array and not the object needs the types.
const COMPILED: [&str; 4] = ["out-of-bounds", "null-pointer", "misaligned", "write-to-constant"];

/// The optimiser keeps one's array in registers, where it needs no alignment; one has a group that is smaller than the
/// others, which `cloom run` refuses; and one waits for events that compiled code does not read.
const OTHERWISE: [&str; 3] =
    ["private-line-of-utf16.cl", "partial-group-reversed.cl", "event-list-shorter-than-count.cl"];

/// The options that the first line gives.
pub fn options(text: &str) -> Vec<String> {
    let first = text.lines().next().and_then(|l| l.strip_prefix("// check:")).expect("the first line has the launch");
    first.split_whitespace().map(str::to_owned).collect()
}

/// The findings of the launches of a kernel on the device, in code that checks its accesses.
fn found(bench: &Bench, path: &Path, text: &str) -> Result<Marks, String> {
    let line = format!("check --only bounds --json --output report.json -- {} run", env!("CARGO_BIN_EXE_cloom"));
    let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    words.push(path.display().to_string());
    words.extend(options(text));
    let ran = bench.words(&words);
    let report = std::fs::read_to_string(bench.path("report.json")).map_err(|e| format!("{e}: {ran:?}"))?;
    let report: serde_json::Value = serde_json::from_str(&report).map_err(|e| format!("{e}: {ran:?}"))?;
    let findings = report["findings"].as_array().ok_or_else(|| format!("no report: {report} {ran:?}"))?;
    let mark = |finding: &serde_json::Value| {
        let kind = finding["kind"].as_str().unwrap_or_default().to_owned();
        (finding["events"][0]["line"].as_u64().unwrap_or(0), kind)
    };
    Ok(findings.iter().map(mark).filter(|(_, kind)| COMPILED.contains(&kind.as_str())).collect())
}

/// The kernels in which the device does not find what is marked, or more.
pub fn failures(bench: &Bench) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../check/tests/kernels");
    let mut failures = Vec::new();
    for kind in COMPILED {
        for file in std::fs::read_dir(folder.join(kind)).unwrap() {
            let path = file.unwrap().path();
            if OTHERWISE.iter().any(|name| path.ends_with(name)) {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let mut expected = marks(&text);
            expected.retain(|(_, kind)| COMPILED.contains(&kind.as_str()));
            match found(bench, &path, &text) {
                Ok(found) if found == expected => {}
                found => failures.push(format!("{}: expected {expected:?}, found {found:?}", path.display())),
            }
        }
    }
    failures
}
