//! `cloom check` on kernels with one bug each, on correct kernels that look like them, and on the examples of the
//! pages.
//!
//! The kernels say in comments what is expected: the first line has the arguments of the launch, `//~ KIND` stands on
//! each line that a finding of this kind must name. A kernel without such a mark must have no finding. `//~? KIND` is
//! for a bug that is known to be missed: who finds it removes the question mark.

mod common;
#[path = "common/compiled.rs"]
mod compiled;
#[path = "common/marks.rs"]
mod marks;

use common::Bench;
use compiled::options;
use marks::{Marks, marks};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The lines that the findings of a launch name.
fn found(path: &Path, text: &str) -> Result<Marks, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cloom"));
    command.arg("check").arg(path).arg("--json").args(options(text));
    let output = command.output().map_err(|e| e.to_string())?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).map_err(|e| format!("{e}: {errors}"))?;
    let findings = report["findings"].as_array().ok_or_else(|| format!("no report: {report} {errors}"))?;
    let mut marks = Marks::new();
    for finding in findings {
        let kind = finding["kind"].as_str().unwrap_or_default();
        // The events of a race and of a divergence are parties; other findings have one place, and where a value
        // comes from.
        let parties = kind.starts_with("race-") || matches!(kind, "async-copy" | "barrier-divergence");
        let events = finding["events"].as_array().map_or(&[][..], Vec::as_slice);
        for event in events.iter().take(if parties { 2 } else { 1 }) {
            marks.insert((event["line"].as_u64().unwrap_or(0), kind.to_owned()));
        }
    }
    let status = output.status.code();
    let notes_only = findings.iter().all(|f| f["severity"] == "note");
    let expected = if notes_only { Some(0) } else { Some(1) };
    if status != expected {
        return Err(format!("status {status:?}: {errors} {}", report["not_checked"]));
    }
    Ok(marks)
}

/// Checks all of these, on two threads; gives the failures.
fn failures(files: &[(PathBuf, String)]) -> Vec<String> {
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((path, text)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let expected = marks(text);
                    let failure = match found(path, text) {
                        Ok(found) if found == expected => continue,
                        Ok(found) => format!(
                            "not found {:?}, found too {:?}",
                            expected.difference(&found).collect::<Vec<_>>(),
                            found.difference(&expected).collect::<Vec<_>>()
                        ),
                        Err(why) => why,
                    };
                    failures.lock().unwrap().push(format!("{}: {failure}", path.display()));
                }
            });
        }
    });
    let mut failures = failures.into_inner().unwrap();
    failures.sort();
    failures
}

#[test]
fn seeded_bugs_are_found_at_their_lines_and_look_alikes_are_not() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../check/tests/kernels");
    let wanted = std::env::var("CLOOM_TEST_KERNELS_OF").unwrap_or_default();
    let mut files = Vec::new();
    for kind in std::fs::read_dir(&folder).unwrap() {
        for file in std::fs::read_dir(kind.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.to_string_lossy().contains(&wanted) {
                files.push((path.clone(), std::fs::read_to_string(path).unwrap()));
            }
        }
    }
    files.sort();
    let failures = failures(&files);
    assert!(failures.is_empty(), "{} of {} kernels:\n{}", failures.len(), files.len(), failures.join("\n"));
}

#[test]
fn the_examples_of_the_pages_show_their_kind_and_the_fixes_nothing() {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../check/pages");
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for page in std::fs::read_dir(&pages).unwrap() {
        let page = page.unwrap().path();
        let text = std::fs::read_to_string(&page).unwrap();
        for (n, block) in text.split("```c\n").skip(1).enumerate() {
            let code = block.split("```").next().unwrap();
            if code.starts_with("// check:") {
                let stem = page.file_stem().unwrap().to_string_lossy();
                let path = folder.path().join(format!("{stem}-{n}.cl"));
                std::fs::write(&path, code).unwrap();
                files.push((path, code.to_owned()));
            }
        }
    }
    let failures = failures(&files);
    assert!(failures.is_empty(), "{} of {} examples:\n{}", failures.len(), files.len(), failures.join("\n"));
}

const PROGRAM: &str = "kernel void shifted(global int *out, global const int *in, local int *t) {
    int l = get_local_id(0), g = get_global_id(0);
    t[l] = in[g] + t[l + 4];
    printf(\"%d\\n\", t[l]);
    out[g] = t[l ^ 1];
}
";

#[test]
fn the_launches_of_a_program_are_checked_and_it_prints_as_usual() {
    let bench = Bench::new();
    bench.file("shifted.cl", PROGRAM);
    // The host program is this one: it reaches its platform through the loader, as any other.
    let cloom = env!("CARGO_BIN_EXE_cloom");
    let run = "run shifted.cl --arg out=4 --arg in=4:index --arg t=4 --global 4 --local 4";
    let ran = bench.cloom(&format!("check --json -- {cloom} {run}")).expect(1);
    assert!(ran.out.contains("0\n1\n2\n3\n"), "what is loaded from outside is 0: {ran:?}");
    let report: serde_json::Value = serde_json::from_str(&ran.err[ran.err.find('{').unwrap()..]).unwrap();
    let kinds: Vec<&str> = report["findings"].as_array().unwrap().iter().filter_map(|f| f["kind"].as_str()).collect();
    assert_eq!(kinds, ["out-of-bounds", "race-local"]);
    assert_eq!(report["findings"][0]["enqueued"]["global"], serde_json::json!([4]));
    // What is not looked for is not found, and the status is the program's.
    let ran = bench.cloom(&format!("check --only barriers -- {cloom} {run}")).expect(0);
    assert!(ran.err.contains("no findings"), "{ran:?}");
    // Each process has its report: the last one, which is right, hides nothing.
    bench.file("right.cl", "kernel void k(global int *p) { p[get_global_id(0)] = 1; }");
    bench.file("two.sh", &format!("{cloom} {run}\n{cloom} run right.cl --arg p=4 --global 4\n"));
    let ran = bench.cloom("check -- sh two.sh").expect(1);
    assert!(ran.err.contains("error[out-of-bounds]") && ran.err.contains("no findings"), "{ran:?}");
    let ran = bench.cloom("check -- /nowhere/program").expect(2);
    assert!(ran.err.contains("name a program"), "{ran:?}");
}

#[test]
fn arguments_are_made_where_none_are_given() {
    let bench = Bench::new();
    bench.file(
        "k.cl",
        "kernel void copy(global float *out, global const float *in, int n) {
    int i = get_global_id(0);
    out[i] = in[i + 1 < n ? i + 1 : 0];
}
kernel void shift(global float *a, int n) {
    int i = get_global_id(0);
    if (i <= n) a[i + 1] = 0;
}
",
    );
    let ran = bench.cloom("check k.cl --json").expect(1);
    let report = ran.json();
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().all(|f| f["kernel"] == "shift"), "{ran:?}");
    assert!(report["checked"]["launches"].as_u64() > Some(10) && report["checked"]["kernels"] == 2, "{ran:?}");
    // The line that repeats a finding finds it again, alone.
    let repeat = findings[0]["repeat"].as_str().unwrap();
    let again = bench.cloom(&format!("{} --json", repeat.strip_prefix("cloom ").unwrap())).expect(1).json();
    assert_eq!(again["findings"][0]["id"], findings[0]["id"]);
}

#[test]
fn wrong_use_says_what_to_do() {
    let bench = Bench::new();
    let message = |line: &str| bench.cloom(line).expect(2).err;
    assert!(message("check kernels.cl --only rases").contains("--explain all"));
    assert!(message("check --explain rases").contains("--explain all"));
    assert!(message("check nothing.cl").contains("nothing.cl"));
    assert!(bench.cloom("check --explain race-local").expect(0).out.starts_with("# race-local: "));
    assert!(bench.cloom("check --explain all").expect(0).out.contains("signed-overflow"));
    // A suppression hides a finding, and the status is 0 then.
    bench.file("bad.cl", "kernel void bad(global int *p) { p[get_global_id(0) + 1] = 0; }");
    bench.file("rules", "out-of-bounds:bad.cl  # known");
    let line = "check bad.cl --arg p=4 --global 4 --local 2";
    assert!(bench.cloom(line).expect(1).out.contains("out-of-bounds"));
    assert!(bench.cloom(&format!("{line} --suppress rules")).expect(0).out.contains("suppressed"));
}

#[test]
fn compiled_checks_find_what_the_interpreter_finds() {
    let failures = compiled::failures(&Bench::new());
    assert!(failures.is_empty(), "{} kernels:\n{}", failures.len(), failures.join("\n"));
}
