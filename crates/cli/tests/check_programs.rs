//! `cloom check -- PROGRAM` on host programs with one bug each, on correct programs that look like them, and on the
//! examples of the pages about the interface.
//!
//! `//~ KIND` stands on each line of the host program that a finding of this kind must name; of a finding in a kernel,
//! that is the call that enqueued the launch. `//~ KIND(note)` and `//~ KIND(warning)` are findings that are no errors.
//! A program without such a mark must have no finding. `setup.h` has what the programs share.

#[path = "common/marks.rs"]
mod marks;

use marks::{Marks, marks};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A program to be checked.
struct Case {
    /// What it is called in failures.
    name: String,
    /// What is compiled.
    main: PathBuf,
    /// The file with the marks: the program, or an example that it includes.
    marked: PathBuf,
}

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../check/tests/programs").canonicalize().unwrap()
}

/// The line of a frame such as `main app.c:88`, if it is in this file.
fn line_in(frame: &serde_json::Value, file: &str) -> Option<u64> {
    let (path, line) = frame.as_str()?.rsplit_once(' ')?.1.rsplit_once(':')?;
    if path.rsplit('/').next() == Some(file) { line.parse().ok() } else { None }
}

/// The lines of the marked file that a finding names. A race has two parties.
fn lines(finding: &serde_json::Value, file: &str) -> Vec<u64> {
    let of_host =
        |event: &&serde_json::Value| event["file"].as_str().is_some_and(|f| f.rsplit('/').next() == Some(file));
    let events = finding["events"].as_array().into_iter().flatten().filter(of_host);
    let has_parties = finding["kind"] == "race-launches" || finding["kind"] == "api-pending";
    let count = if has_parties { 2 } else { 1 };
    let lines: Vec<u64> = events.take(count).filter_map(|event| event["line"].as_u64()).collect();
    if !lines.is_empty() {
        return lines;
    }
    let stack = finding["enqueued"]["stack"].as_array().into_iter().flatten();
    stack.filter_map(|frame| line_in(frame, file)).take(1).collect()
}

/// Compiles and checks a program; gives the report, the status, and what it wrote besides.
fn report(case: &Case, folder: &Path, number: usize) -> Result<(serde_json::Value, Option<i32>, String), String> {
    report_with(case, folder, number, &[])
}

/// The same with more options.
fn report_with(
    case: &Case,
    folder: &Path,
    number: usize,
    options: &[&str],
) -> Result<(serde_json::Value, Option<i32>, String), String> {
    let program = folder.join(format!("program{number}"));
    let mut cc = Command::new("cc");
    cc.args(["-g", "-Wall", "-Werror", "-Wno-unused", "-Wno-deprecated-declarations", "-I"]).arg(programs());
    cc.arg("-I").arg(case.marked.parent().unwrap()).arg("-o").arg(&program).arg(&case.main).arg("-lOpenCL");
    let built = cc.output().map_err(|e| e.to_string())?;
    if !built.status.success() {
        return Err(String::from_utf8_lossy(&built.stderr).into_owned());
    }
    let report = folder.join(format!("report{number}"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_cloom"));
    command.args(["check", "--json", "--output"]).arg(&report).args(options).arg("--").arg(&program);
    let output = command.current_dir(folder).output().map_err(|e| e.to_string())?;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let text = std::fs::read_to_string(&report).map_err(|e| format!("{e}: {errors}"))?;
    Ok((serde_json::from_str(&text).map_err(|e| format!("{e}: {errors}"))?, output.status.code(), errors))
}

/// The marks that a program should have.
fn found(case: &Case, folder: &Path, number: usize) -> Result<Marks, String> {
    let (report, status, errors) = report(case, folder, number)?;
    let findings = report["findings"].as_array().ok_or("the report has no findings")?;
    let file = case.marked.file_name().unwrap().to_string_lossy();
    let mut marks = Marks::new();
    for finding in findings {
        let kind = finding["kind"].as_str().unwrap_or_default();
        let kind = match finding["severity"].as_str() {
            Some("error") => kind.to_owned(),
            severity => format!("{kind}({})", severity.unwrap_or_default()),
        };
        let lines = lines(finding, &file);
        if lines.is_empty() {
            return Err(format!("a finding without a line of {file}: {finding:#}"));
        }
        marks.extend(lines.into_iter().map(|line| (line, kind.clone())));
    }
    let expected = i32::from(findings.iter().any(|f| f["severity"] != "note"));
    if status != Some(expected) || report["not_checked"].as_array().is_none_or(|list| !list.is_empty()) {
        return Err(format!("status {status:?}: {errors} {}", report["not_checked"]));
    }
    Ok(marks)
}

/// Checks all of these, on two threads, and fails with all that is not as the marks say.
fn check(cases: &[Case]) {
    let folder = tempfile::tempdir().unwrap();
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(number) else { break };
                    let expected = marks(&std::fs::read_to_string(&case.marked).unwrap());
                    let failure = match found(case, folder.path(), number) {
                        Ok(found) if found == expected => continue,
                        Ok(found) => format!(
                            "not found {:?}, found too {:?}",
                            expected.difference(&found).collect::<Vec<_>>(),
                            found.difference(&expected).collect::<Vec<_>>()
                        ),
                        Err(why) => why,
                    };
                    failures.lock().unwrap().push(format!("{}: {failure}", case.name));
                }
            });
        }
    });
    let mut failures = failures.into_inner().unwrap();
    failures.sort();
    assert!(failures.is_empty(), "{} of {} programs:\n{}", failures.len(), cases.len(), failures.join("\n"));
}

/// The files of a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn bugs_of_host_programs_are_found_at_their_lines_and_look_alikes_are_not() {
    let wanted = std::env::var("CLOOM_TEST_PROGRAMS_OF").unwrap_or_default();
    let kinds = files(&programs()).into_iter().filter(|path| path.is_dir() && !path.ends_with("pages"));
    let paths = kinds.flat_map(|kind| files(&kind)).filter(|path| path.to_string_lossy().contains(&wanted));
    let case = |path: PathBuf| Case { name: path.display().to_string(), main: path.clone(), marked: path };
    check(&paths.map(case).collect::<Vec<_>>());
}

#[test]
fn a_finding_in_a_kernel_says_where_its_buffer_was_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = programs().join("api-error/kernel-at-its-call.c");
    let line = std::fs::read_to_string(&path).unwrap().lines().position(|l| l.contains("clCreateBuffer")).unwrap() + 1;
    let (report, ..) =
        report(&Case { name: String::new(), main: path.clone(), marked: path }, folder.path(), 0).unwrap();
    let origin = report["findings"][0]["object"]["origin"][0].as_str().unwrap();
    assert!(origin.starts_with("test ") && origin.ends_with(&format!("/kernel-at-its-call.c:{line}")), "{origin}");
}

/// The examples of a page are functions: the program of the kind in `pages` calls them.
#[test]
fn the_examples_of_the_pages_show_their_kind_and_the_fixes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut cases = Vec::new();
    for page in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../check/pages")) {
        let kind = page.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&page).unwrap();
        let blocks = text.split("```c\n").skip(1).map(|block| block.split("```").next().unwrap());
        for (n, code) in blocks.filter(|code| code.starts_with("// host")).enumerate() {
            let marked = folder.path().join(format!("{kind}-{n}/example.h"));
            std::fs::create_dir(marked.parent().unwrap()).unwrap();
            std::fs::write(&marked, code).unwrap();
            assert_eq!(marks(code).is_empty(), n > 0, "{kind}: the first example is wrong, the others are right");
            cases.push(Case {
                name: format!("{kind}, example {n}"),
                main: programs().join(format!("pages/{kind}.c")),
                marked,
            });
        }
    }
    assert!(!cases.is_empty());
    check(&cases);
}

/// Checks a program that is given as text, with more arguments of `cloom check`; the report, the status, what it wrote.
fn report_of(source: &str, options: &[&str]) -> (serde_json::Value, Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("main.c");
    std::fs::write(&path, source).unwrap();
    let case = Case { name: String::new(), main: path.clone(), marked: path };
    report_with(&case, folder.path(), 0, options).unwrap()
}

#[test]
fn a_program_without_a_launch_has_a_report() {
    let source = r#"
#include <CL/cl.h>
int main(void) {
    cl_platform_id platform;
    clGetPlatformIDs(1, &platform, NULL);
    MORE
    return 0;
}
"#;
    let (report, status, errors) = report_of(&source.replace("MORE", ""), &[]);
    assert_eq!((status, &report["checked"]["launches"]), (Some(0), &serde_json::json!(0)), "{errors}");
    let question = "clGetPlatformInfo(platform, 0xffff, 0, NULL, NULL);";
    let (report, status, errors) = report_of(&source.replace("MORE", question), &[]);
    assert_eq!((status, kinds(&report)), (Some(0), vec!["api-error"]), "{errors}");
}

/// A program whose kernel writes out of bounds.
const OUT_OF_BOUNDS: &str = r#"
#include "setup.h"
#include <signal.h>
#include <unistd.h>
BEFORE
void test(void) {
    cl_kernel kernel = build("kernel void k(global int *p) { p[get_global_id(0) + 1] = 1; }", "k");
    cl_mem buffer = clCreateBuffer(context, 0, 64 * sizeof(int), NULL, NULL);
    size_t size = 64;
    clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL);
    clFinish(queue);
    AFTER
    clReleaseMemObject(buffer);
}
"#;

/// The kinds of the findings.
fn kinds(report: &serde_json::Value) -> Vec<&str> {
    report["findings"].as_array().unwrap().iter().map(|f| f["kind"].as_str().unwrap()).collect()
}

#[test]
fn a_program_that_a_signal_ends_has_its_report() {
    for signal in ["SIGINT", "SIGTERM"] {
        let after = format!("kill(getpid(), {signal}); sleep(60);");
        let (report, status, errors) = report_of(&OUT_OF_BOUNDS.replace("BEFORE", "").replace("AFTER", &after), &[]);
        assert_eq!(kinds(&report), ["out-of-bounds"], "nothing about what it had no time to release: {errors}");
        assert!(report["not_checked"][0]["why"].as_str().unwrap().contains("interrupted"), "{report}");
        assert_eq!(status, Some(1), "{errors}");
    }
}

#[test]
fn a_handler_of_the_program_stays_whenever_it_was_installed() {
    let handler = "static volatile int n; static void count(int s) { n++; }";
    let install = "signal(SIGINT, count);";
    let raise = "raise(SIGINT); raise(SIGINT); printf(\"%d signals\\n\", n);";
    let later = OUT_OF_BOUNDS.replace("BEFORE", handler).replace("AFTER", &format!("{install} {raise}"));
    let before = OUT_OF_BOUNDS
        .replace("BEFORE", &format!("{handler} __attribute__((constructor)) static void install(void) {{ {install} }}"))
        .replace("AFTER", raise);
    for source in [later, before] {
        let (report, ..) = report_of(&source, &[]);
        assert_eq!((kinds(&report), &report["not_checked"]), (vec!["out-of-bounds"], &serde_json::json!([])));
    }
}

#[test]
fn programs_from_binaries_have_names_of_their_own() {
    let source = r##"
#include "setup.h"
static void run(const char *source) {
    cl_program first = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
    need(clBuildProgram(first, 1, &device, "", NULL, NULL), "clBuildProgram");
    size_t size, global = 16;
    clGetProgramInfo(first, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL);
    unsigned char *binary = malloc(size);
    clGetProgramInfo(first, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL);
    const unsigned char *code = binary;
    for (int i = 0; i < 2; i++) {
        cl_program program = clCreateProgramWithBinary(context, 1, &device, &size, &code, NULL, NULL);
        need(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
        cl_kernel kernel = clCreateKernel(program, "k", NULL);
        cl_mem buffer = clCreateBuffer(context, 0, 16 * sizeof(int), NULL, NULL);
        clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
        clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL);
        clFinish(queue);
        clReleaseMemObject(buffer);
        clReleaseKernel(kernel);
        clReleaseProgram(program);
    }
    clReleaseProgram(first);
    free(binary);
}
void test(void) {
    run("kernel void k(global int *p) { p[get_global_id(0) + 1] = 1; }");
    run("kernel void k(global int *p) { p[get_global_id(0) + 2] = 2; }");
}
"##;
    let (report, _, errors) = report_of(source, &[]);
    let findings = report["findings"].as_array().unwrap();
    let files: Vec<&str> = findings.iter().map(|f| f["events"][0]["file"].as_str().unwrap()).collect();
    assert_eq!(files, ["binary 1", "binary 2"], "a binary that is loaded again is the same one: {errors}");
}

#[test]
fn the_time_for_a_launch_can_be_limited() {
    let source = OUT_OF_BOUNDS.replace("BEFORE", "").replace("AFTER", "").replace(
        "p[get_global_id(0) + 1] = 1;",
        "int x = 0; for (int i = 0; i < 200000; i++) x = x * 3 + i; p[get_global_id(0)] = x;",
    );
    let (report, status, errors) = report_of(&source, &["--time-limit", "1"]);
    assert!(report["not_checked"][0]["why"].as_str().is_some_and(|why| why.contains("too long")), "{report}");
    assert_eq!(status, Some(0), "{errors}");
    let (report, ..) = report_of(&source, &[]);
    assert_eq!((kinds(&report), &report["not_checked"]), (vec![], &serde_json::json!([])));
}
