//! Tests of a whole process: output of kernels, the ICD loader, another driver in the same process, exit while work
//! runs, fork, many processes at once. Each test runs this program again as a child with a role.

#![allow(clippy::print_stdout, reason = "processes tell each other by their output")]
#![allow(unsafe_code, reason = "it calls the C interface")]

#[path = "../common/mod.rs"]
mod common;
use common::child::{PART, child, in_fork, lines, output, wait};
use common::*;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::time::{Duration, Instant};

const LOADER: &str = "libOpenCL.so.1";

#[test]
fn the_part_of_a_child() {
    match std::env::var(PART).as_deref() {
        Err(_) => (),
        Ok("print") => print(),
        Ok("platforms") => platforms(),
        Ok("exit") => exit_with_work(),
        Ok("finish") => finish_at_exit(),
        Ok("fork") => fork(),
        Ok("fork before the first command") => fork_before_the_first_command(),
        Ok("fork while others build") => fork_while_others_build(),
        Ok("fork in the first call") => fork_in_the_first_call(),
        Ok("build") => build(),
        Ok("level") => level(),
        Ok("remarks") => remarks(),
        Ok("first") => first_launches(),
        Ok("overrun") => overrun(),
        Ok("error") => {
            let t = Session::new();
            assert!(t.clCreateBuffer(t.context(), 0, 0, null_mut(), null_mut()).is_null());
        }
        Ok(other) => panic!("{other}"),
    }
}

fn print() {
    let t = Session::new();
    let kernel = t.kernel(
        r#"kernel void k(int n) {
            size_t i = get_global_id(0);
            printf("|item %d of %d: ", (int)i, n);
            printf("%v4hlx %.2f %s%%\n", (int4)(1, 2, 3, (int)i), 1.5f, "end");
            if (i == 5)
                printf("|halves %a %.4f %v4hf %.3v2he\n", (half)n, 0.1h, (half4)(1, -0.5h, 65504, n) / 2, (half2)i);
        }"#,
    );
    t.arg(&kernel, 0, 64);
    let event = t.launch(&kernel, &[64], &[8]);
    t.wait(&[&event]);
    println!("|after");
    drop(t.launch(&kernel, &[1], &[]));
    t.finish();
    println!("|recorded");
    let x = extension::CommandBuffers::new(&t);
    let recorded = x.buffer(t.queue(), 0);
    recorded.launch(&kernel, 1, &[], None);
    recorded.finalize();
    (0..2).for_each(|_| drop(recorded.enqueue(&[])));
    t.finish();
    println!("|end");
}

/// Builds twice, the second time from a binary, and tells what the logs say.
fn remarks() {
    let t = Session::new();
    let source =
        "kernel void k(global int *p, global const int *q) {\n  size_t i = get_global_id(0);\n  p[i] = q[q[i]];\n}";
    let program = t.program(source);
    t.log(&program).lines().for_each(|line| println!("|1 {line}"));
    let mut size = 0usize;
    ok(t.clGetProgramInfo(program.h, CL_PROGRAM_BINARY_SIZES, 8, (&raw mut size).cast(), null_mut()));
    let mut binary = vec![0u8; size];
    let mut place = binary.as_mut_ptr();
    ok(t.clGetProgramInfo(program.h, CL_PROGRAM_BINARIES, 8, (&raw mut place).cast(), null_mut()));
    let (bytes, mut code) = (binary.as_ptr(), 1);
    let again = t.clCreateProgramWithBinary(t.context(), 1, &t.device, &size, &bytes, null_mut(), &mut code);
    ok(code);
    let again = Obj::program(again);
    ok(t.build(&again, ""));
    t.log(&again).lines().for_each(|line| println!("|2 {line}"));
}

#[test]
fn the_log_has_remarks_if_they_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let told = |on: &str| {
        // The first process fills the cache, and the second one finds the code there.
        lines(&output(child("remarks").env("CLOOM_REMARKS", on).env("CLOOM_CACHE_DIR", folder.path())))
    };
    assert_eq!(told("0"), [""; 0]);
    for _ in 0..2 {
        let lines = told("1");
        let (first, second): (Vec<&str>, Vec<&str>) =
            lines.iter().map(String::as_str).partition(|l| l.starts_with('1'));
        assert!(first[0].starts_with("1 remark: kernel `k`: "), "{lines:?}");
        assert!(first.iter().any(|l| l.starts_with("1 program.cl:3:") && l.contains(": remark: load: ")), "{lines:?}");
        assert!(first.iter().any(|l| l.starts_with("1 program.cl:3:") && l.contains(": remark: store: ")), "{lines:?}");
        let rest = |all: &[&str]| all.iter().map(|l| l[1..].to_owned()).collect::<Vec<_>>();
        assert_eq!(rest(&first), rest(&second), "a binary is remarked upon like its source");
    }
}

/// Launches each kernel as soon as it is built, and again until well after tier-up, so that some launches run code of
/// both tiers.
fn first_launches() {
    let t = Session::new();
    let source = r#"
        kernel void collatz(global uint *p) {
            uint i = get_global_id(0), n = i + 1, k = 0;
            while (n != 1) { n = n % 2 ? 3 * n + 1 : n / 2; k++; }
            p[i] = k;
        }
        kernel void turned(global uint *p) {
            local uint part[32];
            uint i = get_global_id(0), l = get_local_id(0), n = get_local_size(0);
            part[l] = i * i;
            barrier(CLK_LOCAL_MEM_FENCE);
            p[i] = part[n - 1 - l];
        }
        kernel void told(global uint *p) {
            uint i = get_global_id(0);
            if (i % 1000 == 7) printf("|%s %u\n", i < 4000 ? "low" : "high", i);
            p[i] = i;
        }"#;
    let n = 8000u32;
    let collatz = |i: u32| {
        let next = |&n: &u32| (n != 1).then_some(if n % 2 == 1 { 3 * n + 1 } else { n / 2 });
        std::iter::successors(Some(i + 1), next).count() as u32 - 1
    };
    let turned = |i: u32| (i / 32 * 32 + 31 - i % 32).pow(2);
    let program = t.program(source);
    let buffer = t.buffer_of(&vec![0u32; n as usize]);
    for (name, wanted) in [("collatz", &collatz as &dyn Fn(u32) -> u32), ("turned", &turned), ("told", &|i| i)] {
        let kernel = t.kernel_of(&program, name);
        t.arg_mem(&kernel, 0, &buffer);
        let wanted: Vec<u32> = (0..n).map(wanted).collect();
        let begin = Instant::now();
        for round in 0.. {
            t.write(&buffer, 0, &vec![0u32; n as usize]);
            drop(t.launch(&kernel, &[n as usize], &[32]));
            t.finish();
            assert_eq!(t.read::<u32>(&buffer, n as usize), wanted, "{name}, round {round}");
            if begin.elapsed() > Duration::from_millis(400) || name == "told" {
                break;
            }
        }
    }
}

#[test]
fn launches_are_right_while_their_code_is_replaced() {
    for quick in ["1", "0"] {
        let output = output(child("first").env("CLOOM_QUICK_START", quick).env("CLOOM_CACHE", "0"));
        let mut lines = lines(&output);
        lines.sort();
        let text = |i: u32| format!("{} {}", if i < 4000 { "low" } else { "high" }, i);
        let mut wanted: Vec<String> = (0..8).map(|k| text(k * 1000 + 7)).collect();
        wanted.sort();
        assert_eq!(lines, wanted);
    }
}

#[test]
fn what_kernels_print_is_there_when_the_command_is_complete() {
    let output = output(&mut child("print"));
    let mut lines = lines(&output);
    assert_eq!(lines.len(), 71, "{lines:?}");
    assert_eq!(lines.pop().unwrap(), "end");
    for _ in 0..2 {
        assert_eq!(lines.pop().unwrap(), "item 0 of 64: 1,2,3,0 1.50 end%");
    }
    assert_eq!(lines.pop().unwrap(), "recorded");
    assert_eq!(lines.pop().unwrap(), "item 0 of 64: 1,2,3,0 1.50 end%");
    assert_eq!(lines.pop().unwrap(), "after");
    lines.sort();
    let mut wanted: Vec<String> = (0..64).map(|i| format!("item {i} of 64: 1,2,3,{i:x} 1.50 end%")).collect();
    let halves = "0x1p+6 0.1000 0.500000,-0.250000,32752.000000,32.000000 5.000e+00,5.000e+00";
    wanted.push(format!("halves {halves}"));
    wanted.sort();
    assert_eq!(lines, wanted, "each line is whole");
}

/// Builds and runs on every platform, all of them at the same time.
fn platforms() {
    let mut n = 0;
    ok(api().clGetPlatformIDs(0, null_mut(), &mut n));
    let mut all = vec![null_mut(); n as usize];
    ok(api().clGetPlatformIDs(n, all.as_mut_ptr(), null_mut()));
    let all: Vec<usize> = all.into_iter().map(|p| p as usize).collect();
    let run = |round: u32, p: usize| {
        let p: Handle = std::ptr::with_exposed_provenance_mut(p);
        let name = text(|s, v, r| api().clGetPlatformInfo(p, CL_PLATFORM_NAME, s, v, r));
        let device = device(p);
        let mut code = 1;
        let context = Obj::context(api().clCreateContext(null(), 1, &device, None, null_mut(), &mut code));
        ok(code);
        let queue = Obj::queue(api().clCreateCommandQueue(context.h, device, 0, &mut code));
        ok(code);
        let source = format!(
            "kernel void k(global float *p) {{ size_t i = get_global_id(0); p[i] = sqrt((float)(i * i)) + {round}; }}\0"
        );
        let text = source.as_ptr().cast();
        let program = api().clCreateProgramWithSource(context.h, 1, &text, null(), &mut code);
        let program = Obj::program(program);
        ok(api().clBuildProgram(program.h, 0, null(), null(), None, null_mut()));
        let kernel = Obj::kernel(api().clCreateKernel(program.h, c"k".as_ptr(), &mut code));
        ok(code);
        let buffer = Obj::mem(api().clCreateBuffer(context.h, 0, 4096, null_mut(), &mut code));
        ok(code);
        ok(api().clSetKernelArg(kernel.h, 0, 8, (&raw const buffer.h).cast()));
        let global = 1024usize;
        ok(api().clEnqueueNDRangeKernel(queue.h, kernel.h, 1, null(), &global, null(), 0, null(), null_mut()));
        let mut got = vec![0f32; 1024];
        let at = got.as_mut_ptr().cast();
        ok(api().clEnqueueReadBuffer(queue.h, buffer.h, CL_TRUE, 0, 4096, at, 0, null(), null_mut()));
        let wanted: Vec<f32> = (0..1024).map(|i| i as f32 + round as f32).collect();
        assert_eq!(got, wanted, "{name}");
        name
    };
    std::thread::scope(|s| {
        let running: Vec<_> = all.iter().map(|&p| s.spawn(move || (0..4).map(|r| run(r, p)).next_back())).collect();
        for name in running {
            println!("|{}", name.join().unwrap().unwrap());
        }
    });
}

/// A folder of ICD files, for the loader.
fn vendors(name: &str, drivers: &[&Path]) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("cloom-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (i, driver) in drivers.iter().enumerate() {
        std::fs::write(folder.join(format!("{i}.icd")), driver.to_str().unwrap()).unwrap();
    }
    folder
}

/// The platforms that ran, through the loader.
fn through_loader(name: &str, drivers: &[&Path]) -> Vec<String> {
    let folder = vendors(name, drivers);
    let mut command = child("platforms");
    command.env("OCL_ICD_VENDORS", &folder).env("CLOOM_TEST_LIBRARY", LOADER);
    let output = output(&mut command);
    std::fs::remove_dir_all(&folder).unwrap();
    lines(&output)
}

#[test]
fn the_loader_finds_the_driver() {
    assert_eq!(through_loader("loader", &[&own_driver()]), ["Cloom"]);
}

#[test]
fn another_driver_in_the_same_process_is_no_harm() {
    let folders = [std::env::var_os("OCL_ICD_VENDORS").unwrap_or_default(), "/etc/OpenCL/vendors".into()];
    let found = folders.iter().find_map(|f| std::fs::read_to_string(Path::new(f).join("pocl.icd")).ok());
    let Some(pocl) = found else {
        println!("PoCL is not installed: not tested");
        return;
    };
    let pocl = PathBuf::from(pocl.trim());
    // In both orders, because the first one loaded might give its symbols to the second.
    for drivers in [[own_driver(), pocl.clone()], [pocl.clone(), own_driver()]] {
        let mut names = through_loader("both", &drivers.each_ref().map(PathBuf::as_path));
        names.sort();
        assert_eq!(names, ["Cloom", "Portable Computing Language"]);
    }
}

/// Ends the process while kernels run and wait.
/// Every second buffer is written some bytes past its end, as by a launch whose global size was rounded up.
fn overrun() {
    const PAST: usize = 200;
    let t = Session::new();
    let kernel = t.kernel("kernel void k(global uchar *p) { p[get_global_id(0)] = 0xFF; }");
    for _ in 0..4 {
        let sizes = (0..60).map(|i| 4 + i * 37);
        let buffers: Vec<(usize, Obj)> = sizes.map(|n| (n, t.buffer_of(&vec![7u8; n]))).collect();
        for (n, buffer) in buffers.iter().step_by(2) {
            t.arg_mem(&kernel, 0, buffer);
            drop(t.launch(&kernel, &[n + PAST], &[]));
        }
        t.finish();
        for (n, buffer) in buffers.iter().skip(1).step_by(2) {
            assert_eq!(t.read::<u8>(buffer, *n), vec![7; *n], "a neighbour of {n} bytes was written");
        }
    }
    println!("|survived");
}

#[test]
fn a_process_survives_kernels_that_write_a_little_past_their_buffers() {
    assert_eq!(lines(&output(&mut child("overrun"))), ["survived"]);
}

fn exit_with_work() {
    let t = Session::new();
    let kernel = t.kernel(
        "kernel void k(global uint *p) { uint x = p[0]; for (uint i = 0; i < 400000000u; i++) x = x * 3 + i;
         p[get_global_id(0)] = x; }",
    );
    let buffer = t.buffer(0, 4 * 64);
    t.arg_mem(&kernel, 0, &buffer);
    for _ in 0..10 {
        drop(t.launch(&kernel, &[64], &[1]));
    }
    let gate = t.user_event();
    drop(t.marker_on(t.queue(), &[gate.h]));
    std::thread::sleep(Duration::from_millis(20));
    std::process::exit(0);
}

#[test]
fn a_process_may_exit_while_kernels_run() {
    for _ in 0..3 {
        let begin = Instant::now();
        let status = wait(child("exit").stdout(Stdio::null()).spawn().unwrap());
        assert_eq!(status.code(), Some(0), "{status}");
        assert!(begin.elapsed() < Duration::from_secs(20));
    }
}

/// Ends the process while launches wait, and enqueues and finishes more where destructors of static objects would.
fn finish_at_exit() {
    static LATE: AtomicPtr<(Session, Obj, Obj)> = AtomicPtr::new(null_mut());
    extern "C" fn late() {
        // SAFETY: this thread left it there, and nothing takes it away.
        let Some((t, kernel, buffer)) = (unsafe { LATE.load(Ordering::Relaxed).as_ref() }) else { return };
        for _ in 0..5 {
            drop(t.launch(kernel, &[1 << 16], &[64]));
        }
        ok(api().clFinish(t.queue()));
        let right = t.read::<u32>(buffer, 1 << 16) == vec![45; 1 << 16];
        // SAFETY: ends the process at once.
        unsafe { libc::_exit(if right { 7 } else { 8 }) };
    }
    let t = Session::new();
    let kernel = t.kernel("kernel void k(global uint *p) { p[get_global_id(0)]++; }");
    let buffer = t.buffer(0, 4 << 16);
    t.arg_mem(&kernel, 0, &buffer);
    for n in 0..40 {
        drop(t.launch(&kernel, &[1 << 16], &[64]));
        if n < 20 {
            ok(api().clFinish(t.queue()));
        }
    }
    LATE.store(Box::into_raw(Box::new((t, kernel, buffer))), Ordering::Relaxed);
    // SAFETY: the function takes nothing.
    assert_eq!(unsafe { libc::atexit(late) }, 0);
    std::process::exit(0);
}

#[test]
fn a_process_may_finish_its_work_while_it_exits() {
    for _ in 0..5 {
        let status = wait(child("finish").stdout(Stdio::null()).spawn().unwrap());
        assert_eq!(status.code(), Some(7), "{status}");
    }
}

/// 0 if a kernel can be built and run.
fn runs_a_kernel(t: &Session) -> i32 {
    let kernel = t.kernel("kernel void k(global uint *p) { p[0] = 5; }");
    let buffer = t.buffer(0, 4);
    t.arg_mem(&kernel, 0, &buffer);
    drop(t.launch(&kernel, &[1], &[]));
    if t.read::<u32>(&buffer, 1) == [5] { 0 } else { 2 }
}

/// A child of `fork` has no threads: objects of its parent are errors there, but for platform and device, and it can
/// use everything afresh. Before threads exist it can use the objects, too.
fn fork() {
    let use_it = || {
        let mut n = 0;
        if api().clGetPlatformIDs(0, null_mut(), &mut n) != 0 {
            return 1;
        }
        runs_a_kernel(&Session::new())
    };
    assert_eq!(in_fork(use_it), 0, "the parent has done nothing yet");
    assert_eq!(use_it(), 0);
    assert_eq!(in_fork(use_it), 0, "the parent has threads");
    assert_eq!(in_fork(|| in_fork(use_it)), 0, "a fork of a fork that has done nothing");
    assert_eq!(in_fork(|| use_it() + in_fork(use_it)), 0, "a fork of a fork that has threads");
    assert_eq!(use_it(), 0, "the parent goes on");
    inherited();
    assert_eq!(use_it(), 0, "the parent goes on");
}

/// What a fork can do with the handles of its parent.
fn inherited() {
    let t = Session::new();
    let (buffer, kernel) = (t.buffer_of(&[4u32]), t.kernel("kernel void k(global uint *p) { p[0] = 5; }"));
    let name = |device| text(|s, v, r| api().clGetDeviceInfo(device, CL_DEVICE_NAME, s, v, r));
    let before = name(t.device);
    let code = in_fork(|| {
        // Platform and devices are what they were, by the same handles, also in the first call.
        let mut code = 1;
        let context = api().clCreateContext(null(), 1, &t.device, None, null_mut(), &mut code);
        assert!(!context.is_null() && code == 0, "{code}");
        assert_eq!((platform(), device(t.platform)), (t.platform, t.device));
        assert_eq!(name(t.device), before);
        let owner = query(|s, v, r| api().clGetDeviceInfo(t.device, CL_DEVICE_PLATFORM, s, v, r));
        assert_eq!(owner, (t.platform as usize).to_ne_bytes());
        // All other objects are the parent's.
        let event = null_mut();
        let (mut word, at) = (0u32, null());
        let to = (&raw mut word).cast();
        let read = api().clEnqueueReadBuffer(t.queue(), buffer.h, CL_TRUE, 0, 4, to, 0, at, event);
        assert_eq!(read, CL_INVALID_COMMAND_QUEUE);
        assert_eq!(api().clRetainMemObject(buffer.h), CL_INVALID_MEM_OBJECT);
        assert_eq!(api().clSetKernelArg(kernel.h, 0, 8, (&raw const buffer.h).cast()), CL_INVALID_KERNEL);
        assert!(api().clCreateBuffer(t.context(), 0, 4, null_mut(), &mut code).is_null() && code == CL_INVALID_CONTEXT);
        // Releasing them, as destructors do, is no error, and does nothing.
        ok(api().clReleaseMemObject(buffer.h));
        ok(api().clReleaseContext(t.context()));
        0
    });
    assert_eq!(code, 0);
    assert_eq!(t.read::<u32>(&buffer, 1), [4]);
}

/// Forks while a kernel is compiled in the background, which is before the first command.
fn fork_before_the_first_command() {
    let t = Session::new();
    // The first kernel of a process may be compiled with the program; the other one takes some tenths of a second.
    let steps = "x = x * 5u + p[x % 64u]; if (x % 3u == 0u) x ^= p[i];\n".repeat(100);
    let program = t.program(&format!(
        "kernel void first(global uint *p) {{ }}
         kernel void k(global uint *p) {{ uint i = get_global_id(0), x = i;\n{steps} p[i] = i + (x == 7u); }}"
    ));
    let buffer = t.buffer_of(&[0u32; 64]);
    let kernel = t.kernel_of(&program, "k");
    let use_it = || {
        t.arg_mem(&kernel, 0, &buffer);
        drop(t.launch(&kernel, &[64], &[64]));
        let right = (0..64).zip(t.read::<u32>(&buffer, 64)).all(|(i, got)| got == i || got == i + 1);
        if right { 0 } else { 2 }
    };
    std::thread::sleep(delay());
    let starts_afresh = || api().clGetKernelInfo(kernel.h, CL_KERNEL_NUM_ARGS, 0, null_mut(), null_mut()) != 0;
    let code = in_fork(|| if starts_afresh() { AFRESH } else { use_it() });
    assert_eq!(use_it(), 0, "the parent goes on");
    if code == AFRESH {
        std::process::exit(AFRESH);
    }
    assert_eq!(code, 0);
}

/// What a child says that has none of its parent's objects.
const AFRESH: i32 = 3;

/// How long to wait before a fork, from the environment.
fn delay() -> Duration {
    Duration::from_micros(std::env::var("DELAY").unwrap().parse().unwrap())
}

#[test]
fn a_fork_may_use_a_kernel_that_its_parent_was_compiling() {
    for quick in ["0", "1"] {
        let ends = [30, 60, 120, 240].map(|milliseconds| {
            let mut part = child("fork before the first command");
            let part = part.env("CLOOM_CACHE", "0").env("CLOOM_QUICK_START", quick).stdout(Stdio::null());
            wait(part.env("DELAY", (milliseconds * 1000).to_string()).spawn().unwrap())
        });
        // While LLVM is used for the first time, a fork starts afresh.
        assert!(ends.iter().all(|end| end.success() || end.code() == Some(AFRESH)), "quick start {quick}: {ends:?}");
        assert!(ends.iter().any(std::process::ExitStatus::success), "quick start {quick}: {ends:?}");
    }
}

/// Forks while other threads are in calls, from the first code generation of the process on; no command has run.
fn fork_while_others_build() {
    let t = Session::new();
    let delay = delay();
    let is_over = AtomicBool::new(false);
    let use_it = || runs_a_kernel(&Session::unchecked(0));
    let codes = std::thread::scope(|scope| {
        // One alone ends its first code generation just when the fork has waited for that.
        for thread in 0..delay.as_millis().clamp(1, 2) {
            let (t, is_over) = (&t, &is_over);
            scope.spawn(move || {
                for i in 0.. {
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    drop(t.kernel(&format!("kernel void k(global uint *p) {{ p[0] = {i} + {thread}; }}")));
                }
            });
        }
        std::thread::sleep(delay);
        let codes = std::panic::catch_unwind(|| (0..10).map(|_| in_fork(use_it)).collect::<Vec<_>>());
        is_over.store(true, Ordering::Relaxed);
        codes
    });
    assert_eq!(codes.unwrap_or_default(), [0; 10]);
    assert_eq!(use_it(), 0, "the parent goes on");
}

/// Forks while another thread makes the platform.
fn fork_in_the_first_call() {
    let delay = delay();
    let count = || {
        let mut n = 0;
        api().clGetPlatformIDs(0, null_mut(), &mut n)
    };
    // Loads the driver, and calls nothing.
    let _ = api();
    std::thread::scope(|scope| {
        scope.spawn(count);
        std::thread::sleep(delay);
        assert_eq!(in_fork(count), 0);
    });
}

#[test]
fn a_fork_does_not_wait_for_threads_of_its_parent() {
    for (part, delays) in [
        ("fork while others build", [0, 100, 300, 1000, 2000, 4000, 8000, 16000]),
        ("fork in the first call", [0, 20, 50, 100, 200, 400, 800, 1400]),
    ] {
        for delay in delays {
            let mut command = child(part);
            let command = command.env("DELAY", delay.to_string()).env("CLOOM_CACHE", "0").stdout(Stdio::null());
            let status = wait(command.spawn().unwrap());
            assert!(status.success(), "{part}, after {delay} us: {status}");
        }
    }
}

#[test]
fn a_fork_starts_afresh() {
    let status = wait(child("fork").stdout(Stdio::null()).spawn().unwrap());
    assert!(status.success(), "{status}");
}

fn build() {
    let t = Session::new();
    for i in 0..10 {
        let kernel = t.kernel(&format!("kernel void k(global float *p) {{ p[0] = sin({i}.5f); }}"));
        let buffer = t.buffer(0, 4);
        t.arg_mem(&kernel, 0, &buffer);
        drop(t.launch(&kernel, &[1], &[]));
        let got = t.read::<f32>(&buffer, 1)[0];
        assert!((got - (i as f32 + 0.5).sin()).abs() < 1e-5);
    }
}

#[test]
fn many_processes_share_one_cache() {
    let folder = std::env::temp_dir().join(format!("cloom-cache-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let start = || child("build").env("CLOOM_CACHE_DIR", &folder).stdout(Stdio::null()).spawn().unwrap();
    for _ in 0..2 {
        let children: Vec<Child> = (0..6).map(|_| start()).collect();
        for child in children {
            assert!(wait(child).success());
        }
        // What is in the cache is only a hint: damage it all.
        for file in files(&folder) {
            let mut bytes = std::fs::read(&file).unwrap();
            let middle = bytes.len() / 2;
            if let Some(byte) = bytes.get_mut(middle) {
                *byte ^= 0xFF;
            }
            std::fs::write(&file, bytes).unwrap();
        }
    }
    assert!(!files(&folder).is_empty(), "the cache was used");
    assert!(wait(start()).success());
    std::fs::remove_dir_all(&folder).unwrap();
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

#[test]
fn a_driver_that_is_older_than_its_sources_is_not_tested() {
    let folder = tempfile::tempdir().unwrap();
    let [library, list] = ["libcloom.so", "libcloom.d"].map(|name| folder.path().join(name));
    let sources = folder.path().join("crates");
    let [own, outside, other] = ["crates/a b/x.rs", "y.rs", "crates/cloom/z.rs"].map(|name| folder.path().join(name));
    let touch = |path: &Path, seconds: u64| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = std::fs::File::create(path).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    };
    touch(&library, 100);
    assert_eq!(newer_source(&library, &sources), None, "there is no list");
    let names = [&library, &outside, &other, &own].map(|path| path.to_str().unwrap().replace(' ', "\\ "));
    std::fs::write(&list, format!("{}: {}\n", names[0], names[1..].join(" "))).unwrap();
    for newer in [&outside, &other] {
        touch(newer, 200);
    }
    touch(&own, 100);
    assert_eq!(newer_source(&library, &sources), None);
    touch(&own, 101);
    assert_eq!(newer_source(&library, &sources), Some(own.clone()));
    std::fs::remove_file(&own).unwrap();
    assert_eq!(newer_source(&library, &sources), Some(own));
}

#[test]
fn the_log_says_why_a_call_failed() {
    let silent = output(child("error").env_remove("CLOOM_LOG"));
    assert!(!String::from_utf8_lossy(&silent.stderr).contains("clCreateBuffer"));
    let output = output(child("error").env("CLOOM_LOG", "1"));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("clCreateBuffer") && text.contains("CL_INVALID_BUFFER_SIZE"), "{text}");
}

/// Says how many devices there are, and what a kernel computes on the first.
fn level() {
    let mut n = 0;
    ok(api().clGetPlatformIDs(0, null_mut(), &mut n));
    let mut all = vec![null_mut(); n as usize];
    ok(api().clGetPlatformIDs(n, all.as_mut_ptr(), null_mut()));
    let mut devices = 7;
    let code = api().clGetDeviceIDs(all[0], CL_DEVICE_TYPE_ALL, 0, null_mut(), &mut devices);
    if code == CL_DEVICE_NOT_FOUND {
        println!("|none");
        return;
    }
    ok(code);
    let t = Session::new();
    let kernel = t.kernel(
        "kernel void k(global float *p, global const float *q) {
            size_t i = get_global_id(0);
            float x = q[i];
            if (i % 3) for (int k = 0; k < (int)i % 7; ++k) x = fma(x, 1.5f, q[(i * 5 + k) % 1024]);
            p[i] = sin(x) + x / 3;
        }",
    );
    let input: Vec<f32> = (0..1024).map(|i| (i * 37 % 1024) as f32 / 64.0).collect();
    let (p, q) = (t.buffer(0, 4096), t.buffer_of(&input));
    t.arg_mem(&kernel, 0, &p);
    t.arg_mem(&kernel, 1, &q);
    drop(t.launch(&kernel, &[1024], &[32]));
    t.finish();
    println!("|{:?}", t.read::<u32>(&p, 1024));
}

#[test]
fn the_level_of_instructions_is_chosen_and_one_that_is_missing_is_refused() {
    let run = |level: &str| output(child("level").env("CLOOM_CPU", level).env("CLOOM_CACHE", "0"));
    let plain = lines(&run(""));
    assert!(plain[0].starts_with('['), "{plain:?}");
    for level in cloom_caps::cpu::here() {
        let (here, level) = (cloom_caps::cpu::is_here(level), level.name);
        let ran = run(level);
        if here {
            assert_eq!(lines(&ran), plain, "{level}");
        } else {
            assert_eq!(lines(&ran), ["none"], "{level}");
            assert!(String::from_utf8_lossy(&ran.stderr).contains("cannot run such code"), "{level}");
        }
    }
}
