//! Builds many sources as an application does: `build_all < LIST`, where a line has a file, a tab, and its build
//! options. Each source is built in a process of its own, its kernels are created and their code is made. Prints a
//! table, the slowest last, and the logs of those that failed; the exit status is 1 if one did.
//!
//! `CLOOM_TEST_LIBRARY` and `CLOOM_TEST_PLATFORM` name another driver, as for the tests. `BUILD_ALL_JOBS` says how many
//! run at a time.

#![allow(clippy::print_stdout, reason = "it prints what it finds")]

#[path = "../tests/common/mod.rs"]
mod common;
use common::*;
use std::io::{Read, Seek};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Set in the processes that build.
const CHILD: &str = "CLOOM_BUILD_ALL_CHILD";
/// A source that takes longer has failed.
const PATIENCE: Duration = Duration::from_secs(600);

/// The outcome of a source.
struct Row {
    file: String,
    /// Seconds of the build and of making the code, and how many kernels; or why not.
    result: Result<(f64, f64, usize), String>,
}

/// Builds one source and prints its times.
fn build(file: &str, options: &str) {
    let text = std::fs::read(file).expect("a readable file");
    let t = Session::new();
    let mut code = 1;
    let (at, length) = (text.as_ptr().cast(), text.len());
    let program = t.clCreateProgramWithSource(t.context(), 1, &at, &length, &mut code);
    ok(code);
    let program = Obj::program(program);
    let options = std::ffi::CString::new(options).expect("no zero inside");
    let begin = Instant::now();
    let code = t.clBuildProgram(program.h, 1, &t.device, options.as_ptr(), None, null_mut());
    let front = begin.elapsed().as_secs_f64();
    if code != 0 {
        eprintln!("{}", code_name(code));
        let log = |s, v, r| t.clGetProgramBuildInfo(program.h, t.device, CL_PROGRAM_BUILD_LOG, s, v, r);
        eprintln!("{}", common::text(log));
        std::process::exit(1);
    }
    let begin = Instant::now();
    let mut count = 0u32;
    ok(t.clCreateKernelsInProgram(program.h, 0, null_mut(), &mut count));
    let mut kernels = vec![null_mut(); count as usize];
    ok(t.clCreateKernelsInProgram(program.h, count, kernels.as_mut_ptr(), null_mut()));
    for kernel in kernels.into_iter().map(Obj::kernel) {
        // The query waits for the code.
        let mut size = 0u64;
        let to = (&raw mut size).cast();
        let code = t.clGetKernelWorkGroupInfo(kernel.h, t.device, CL_KERNEL_PRIVATE_MEM_SIZE, 8, to, null_mut());
        if code != 0 {
            let name = common::text(|s, v, r| t.clGetKernelInfo(kernel.h, CL_KERNEL_FUNCTION_NAME, s, v, r));
            eprintln!("{name}: {}", code_name(code));
            std::process::exit(1);
        }
    }
    println!("{front} {} {count}", begin.elapsed().as_secs_f64());
}

/// Builds one source in another process.
fn apart(file: &str, options: &str) -> Row {
    let fail = |why: String| Row { file: file.to_owned(), result: Err(why) };
    let mut errors = tempfile::tempfile().expect("a temporary file");
    let mut child = Command::new(std::env::current_exe().expect("this program"));
    child.args([file, options]).env(CHILD, "1").env("CLOOM_CACHE", "0").env("CLOOM_LOG", "1");
    child.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(errors.try_clone().expect("a temporary file"));
    let mut child = child.spawn().expect("this program runs");
    let begin = Instant::now();
    let status = loop {
        match child.try_wait().expect("the state of a process of ours") {
            Some(status) => break status,
            None if begin.elapsed() > PATIENCE => {
                drop(child.kill());
                drop(child.wait());
                return fail(format!("not done after {} s", PATIENCE.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let (mut out, mut log) = (String::new(), Vec::new());
    child.stdout.take().map(|mut o| o.read_to_string(&mut out));
    errors.rewind().and_then(|()| errors.read_to_end(&mut log)).expect("a temporary file");
    let numbers: Vec<f64> = out.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    match (status.success(), numbers.as_slice()) {
        (true, &[front, code, kernels]) => Row { file: file.to_owned(), result: Ok((front, code, kernels as usize)) },
        _ => fail(format!("{status}\n{}", String::from_utf8_lossy(&log))),
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let (true, [file, options]) = (std::env::var_os(CHILD).is_some(), args.as_slice()) {
        return build(file, options);
    }
    let list = std::io::read_to_string(std::io::stdin()).expect("a list");
    let list: Vec<(&str, &str)> = list.lines().filter_map(|l| l.split_once('\t')).collect();
    let jobs = std::env::var("BUILD_ALL_JOBS").ok().and_then(|n| n.parse().ok());
    let jobs = jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let (next, rows) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some((file, options)) = list.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let row = apart(file, options);
                    let mut rows = rows.lock().expect("no thread panics");
                    if let Err(why) = &row.result {
                        eprintln!("{file}: {why}");
                    }
                    rows.push(row);
                    if rows.len() % 50 == 0 {
                        eprintln!("{} of {}", rows.len(), list.len());
                    }
                }
            });
        }
    });
    let rows = rows.into_inner().expect("no thread panicked");
    let mut good: Vec<(&str, f64, f64, usize)> =
        rows.iter().filter_map(|r| r.result.as_ref().ok().map(|&(a, b, n)| (r.file.as_str(), a, b, n))).collect();
    good.sort_by(|a, b| (a.1 + a.2).total_cmp(&(b.1 + b.2)));
    println!("{:>9} {:>9} {:>8}  file", "build s", "code s", "kernels");
    for (file, front, code, kernels) in &good {
        println!("{front:>9.3} {code:>9.3} {kernels:>8}  {file}");
    }
    let sum = |f: fn(&(&str, f64, f64, usize)) -> f64| good.iter().map(f).sum::<f64>();
    let (front, code, kernels) = (sum(|r| r.1), sum(|r| r.2), sum(|r| r.3 as f64));
    println!("{front:>9.1} {code:>9.1} {kernels:>8}  {} of {} sources", good.len(), rows.len());
    for row in &rows {
        if let Err(why) = &row.result {
            println!("FAILED {}: {}", row.file, why.lines().next().unwrap_or_default());
        }
    }
    std::process::exit(i32::from(good.len() < rows.len()));
}
