//! How long until a kernel has run for the first time: `first_launch FILE.cl KERNEL [RUNS [OPTIONS]]`. Each run is a
//! fresh process with nothing cached; prints medians in milliseconds of loading the library, making a context and a
//! queue, building, and the first launch.
//!
//! `CLOOM_TEST_LIBRARY` and `CLOOM_TEST_PLATFORM` name another driver, as for the tests.

#![allow(clippy::print_stdout, reason = "it prints its measurements")]

#[path = "../tests/common/mod.rs"]
mod common;
use common::*;
use std::process::Command;
use std::time::Instant;

/// Set in the processes that measure.
const CHILD: &str = "CLOOM_FIRST_LAUNCH_CHILD";
const STEPS: [&str; 4] = ["load", "context", "build", "launch"];

/// Sets an argument to something of the right size: a buffer, local memory, or zeros.
fn set_any(t: &Session, kernel: &Obj, index: u32, buffer: &Obj) {
    let mut space = 0u32;
    let what = (&raw mut space).cast();
    ok(t.clGetKernelArgInfo(kernel.h, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, 4, what, null_mut()));
    match space {
        CL_KERNEL_ARG_ADDRESS_LOCAL => ok(t.clSetKernelArg(kernel.h, index, 4096, null())),
        CL_KERNEL_ARG_ADDRESS_PRIVATE => {
            let zeros = [0u64; 16];
            let fits = |size: usize| t.clSetKernelArg(kernel.h, index, size, zeros.as_ptr().cast()) == 0;
            assert!([4, 8, 1, 2, 16, 32, 64, 128, 12].into_iter().any(fits), "argument {index} takes no zeros");
        }
        _ => t.arg_mem(kernel, index, buffer),
    }
}

fn measure(source: &str, name: &str, options: &str) {
    let mut times = Vec::new();
    let mut since = Instant::now();
    let mut step = || {
        times.push(since.elapsed().as_secs_f64() * 1e3);
        since = Instant::now();
    };
    api();
    step();
    let t = Session::new();
    let buffer = t.buffer(0, 1 << 20);
    step();
    let program = t.source(source);
    let options = std::ffi::CString::new(format!("{options} -cl-kernel-arg-info")).expect("no zero inside");
    ok(t.clBuildProgram(program.h, 1, &t.device, options.as_ptr(), None, null_mut()));
    step();
    let kernel = t.kernel_of(&program, name);
    let mut args = 0u32;
    ok(t.clGetKernelInfo(kernel.h, CL_KERNEL_NUM_ARGS, 4, (&raw mut args).cast(), null_mut()));
    (0..args).for_each(|i| set_any(&t, &kernel, i, &buffer));
    ok(t.clEnqueueNDRangeKernel(t.queue(), kernel.h, 1, null(), &1, null(), 0, null(), null_mut()));
    t.finish();
    step();
    println!("{}", times.iter().map(f64::to_string).collect::<Vec<_>>().join(" "));
    // The rest of the program is still being compiled; that is not measured.
    std::process::exit(0);
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (Some(file), Some(kernel)) = (args.first(), args.get(1)) else {
        eprintln!("usage: first_launch FILE.cl KERNEL [RUNS [OPTIONS]]");
        std::process::exit(2);
    };
    let options = args.get(3).map_or("", String::as_str);
    if std::env::var_os(CHILD).is_some() {
        return measure(&std::fs::read_to_string(file).expect("a readable file"), kernel, options);
    }
    let runs: usize = args.get(2).map_or(15, |n| n.parse().expect("a number of runs"));
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for _ in 0..runs {
        let mut child = Command::new(std::env::current_exe().expect("this program"));
        child.args(&args).env(CHILD, "1").env("CLOOM_CACHE", "0").env("POCL_KERNEL_CACHE", "0");
        let output = child.output().expect("this program runs");
        let text = String::from_utf8_lossy(&output.stdout);
        let row: Vec<f64> = text.split_whitespace().filter_map(|n| n.parse().ok()).collect();
        assert_eq!(row.len(), STEPS.len(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        rows.push(row);
    }
    let show = |name: &str, time: &dyn Fn(&Vec<f64>) -> f64| {
        let mut times: Vec<f64> = rows.iter().map(time).collect();
        times.sort_by(f64::total_cmp);
        let (least, most) = (times[0], times[runs - 1]);
        println!("{name:<16} median {:>8.2} ms   least {least:>8.2}   most {most:>8.2}", times[runs / 2]);
    };
    for (i, name) in STEPS.iter().enumerate() {
        show(name, &|row| row[i]);
    }
    show("build + launch", &|row| row[2] + row[3]);
}
