//! Processes that lack something: address space, files, a home, a cache, standard streams, stack. And what the driver
//! must leave alone: signals, the floating-point environment, other libraries' exits.

#![allow(clippy::print_stdout, reason = "processes tell each other by their output")]
#![allow(unsafe_code, reason = "it calls the C interface")]

#[path = "../common/mod.rs"]
mod common;
#[path = "../faults/session.rs"]
mod session;

use common::child::{child, lines, output, part, wait};
use common::*;
use session::End;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

#[test]
fn the_part_of_a_child() {
    match part().as_deref() {
        None => (),
        Some("session") => match session::run(3) {
            Ok(()) => println!("|done"),
            Err(End::Short) => println!("|refused"),
            Err(End::Wrong(why)) => panic!("{why}"),
        },
        Some("closed streams") => closed_streams(),
        Some("address space") => address_space(),
        Some("small stack") => small_stack(),
        Some("signals") => signals(),
        Some("fault of the application") => fault_of_the_application(),
        Some("float environment") => float_environment(),
        Some("exit in a callback") => exit_in_a_callback(),
        Some("exit in a native kernel") => exit_in_a_native_kernel(),
        Some("a thread that ends") => a_thread_that_ends(),
        Some("exec") => exec(),
        Some("system") => system(),
        Some("executed") => println!("|executed"),
        Some(other) => panic!("{other}"),
    }
}

/// The session in a process that something was done to.
#[track_caller]
fn session_with(prepare: impl FnOnce(&mut Command)) -> String {
    let mut command = child("session");
    prepare(&mut command);
    lines(&output(&mut command)).concat()
}

/// Limits the child: `setrlimit`.
fn limit(command: &mut Command, resource: libc::__rlimit_resource_t, value: u64) {
    let limits = libc::rlimit { rlim_cur: value, rlim_max: value };
    // SAFETY: only calls `setrlimit` in the child.
    unsafe {
        command.pre_exec(move || {
            if libc::setrlimit(resource, &limits) == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
        })
    };
}

#[test]
fn a_cache_that_cannot_be_written_is_no_cache() {
    for place in ["/dev/full", "/proc", "/nonexistent/\u{e9}", ""] {
        let told = session_with(|c| {
            c.env("CLOOM_CACHE_DIR", place);
        });
        assert_eq!(told, "done", "{place}");
    }
    let none = |c: &mut Command| {
        c.env_clear().env(common::child::PART, "session");
        if let Some(library) = std::env::var_os("CLOOM_TEST_LIBRARY") {
            c.env("CLOOM_TEST_LIBRARY", library);
        }
    };
    assert_eq!(session_with(none), "done", "an empty environment");
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().join("home");
    std::fs::write(&home, "a file").expect("a file");
    let told = session_with(|c| {
        c.env("HOME", &home).env_remove("XDG_CACHE_HOME").env_remove("CLOOM_CACHE_DIR");
    });
    assert_eq!(told, "done", "a home that is a file");
}

#[test]
fn a_disk_that_is_full_is_no_error() {
    // No file can grow beyond a block: a process that tries is ended by a signal.
    let folder = tempfile::tempdir().expect("a folder");
    let told = session_with(|c| {
        c.env("CLOOM_CACHE_DIR", folder.path());
        limit(c, libc::RLIMIT_FSIZE, 512);
    });
    assert_eq!(told, "done");
}

#[test]
fn eight_files_are_enough() {
    assert_eq!(session_with(|c| limit(c, libc::RLIMIT_NOFILE, 8)), "done");
}

/// Ends all standard streams before the driver is loaded; what it then opens must not become one of them.
fn closed_streams() {
    // SAFETY: closes files that nobody uses but the test's own output, which is not needed any more.
    unsafe {
        for file in 0..3 {
            libc::close(file);
        }
    }
    let good = session::run(3).is_ok();
    let kernel = "kernel void k(global int *p) { printf(\"nobody reads this %d\\n\", p[0]); }";
    let t = Session::new();
    let (kernel, buffer) = (t.kernel(kernel), t.buffer_of(&[1i32]));
    t.arg_mem(&kernel, 0, &buffer);
    drop(t.launch(&kernel, &[8], &[]));
    t.finish();
    // SAFETY: ends the process.
    unsafe { libc::_exit(if good { 7 } else { 8 }) };
}

#[test]
fn standard_streams_may_be_closed() {
    let status = wait(child("closed streams").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    assert_eq!(status.code(), Some(7), "{status}");
}

/// Less and less address space, from none beyond what is there; each is a fork that has not used the driver yet.
fn address_space() {
    let _ = api();
    let text = std::fs::read_to_string("/proc/self/statm").expect("the size of this process");
    let now = text.split_whitespace().next().and_then(|pages| pages.parse::<u64>().ok()).expect("a number") * 4096;
    let mut told = Vec::new();
    for more in [0u64, 1, 4, 16, 40, 64, 80, 128, 200, 300, 340, 400, 480, 600, 800, 1200, 3000] {
        let code = common::child::in_fork(|| {
            let limits = libc::rlimit { rlim_cur: now + (more << 20), rlim_max: libc::RLIM_INFINITY };
            // SAFETY: limits this process.
            unsafe { libc::setrlimit(libc::RLIMIT_AS, &limits) };
            let outcome = session::run(5);
            let all = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
            // SAFETY: lifts the limit of this process, from a structure that lives through the call.
            unsafe { libc::setrlimit(libc::RLIMIT_AS, &all) };
            if let Err(End::Wrong(why)) = &outcome {
                eprintln!("{more} MiB: {why}");
                return 3;
            }
            i32::from(outcome.is_err())
        });
        assert!(code < 3, "{more} MiB: {code}");
        told.push(format!("{more}:{}", if code == 0 { "done" } else { "refused" }));
    }
    println!("|{}", told.join(" "));
}

#[test]
fn a_process_without_address_space_gets_error_codes() {
    let told = lines(&output(child("address space").env("CLOOM_CACHE", "0"))).concat();
    println!("{told}");
    assert!(told.starts_with("0:refused") && told.ends_with("3000:done"), "{told}");
}

/// Everything on a thread with the smallest stack that the system gives.
fn small_stack() {
    let _ = api();
    let thread = std::thread::Builder::new().stack_size(64 << 10).spawn(|| session::run(4).is_ok());
    println!("|{}", thread.expect("a thread").join().expect("it ends"));
}

#[test]
fn a_small_stack_is_enough() {
    assert_eq!(lines(&output(child("small stack").env("CLOOM_CACHE", "0"))).concat(), "true");
}

/// The handlers of all signals, and the mask of this thread.
fn signal_state() -> (Vec<(usize, i32)>, Vec<bool>) {
    let (mut handlers, mut masked) = (Vec::new(), Vec::new());
    // SAFETY: the calls write the signal mask and handlers to local variables and change nothing.
    unsafe {
        let mut mask: libc::sigset_t = std::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_SETMASK, null(), &mut mask);
        for signal in 1..65 {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, null(), &mut action);
            handlers.push((action.sa_sigaction, action.sa_flags));
            masked.push(libc::sigismember(&mask, signal) == 1);
        }
    }
    (handlers, masked)
}

fn signals() {
    // SAFETY: masks a signal of this thread.
    unsafe {
        let mut mask: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut mask);
        libc::sigaddset(&mut mask, libc::SIGUSR2);
        libc::pthread_sigmask(libc::SIG_BLOCK, &mask, null_mut());
    }
    let before = signal_state();
    assert!(session::run(6).is_ok());
    assert_eq!(before, signal_state());
    println!("|the same");
}

#[test]
fn signals_are_left_alone() {
    assert_eq!(lines(&output(child("signals").env("CLOOM_CACHE", "0"))).concat(), "the same");
}

/// A handler of the application gets the fault of a thread of the application, and one in a kernel.
fn fault_of_the_application() {
    static CAUGHT: AtomicU32 = AtomicU32::new(0);
    extern "C" fn handler(_: i32) {
        CAUGHT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: writes a few bytes and ends the process, which a handler may do.
        unsafe {
            libc::write(1, c"|caught\n".as_ptr().cast(), 8);
            libc::_exit(0);
        }
    }
    // SAFETY: the handler does only what one may do.
    unsafe { libc::signal(libc::SIGSEGV, handler as extern "C" fn(i32) as usize) };
    let t = Session::new();
    let kernel = t.kernel("kernel void k(global int *p) { p[(1ul << 44) + get_global_id(0)] = 1; }");
    let buffer = t.buffer(0, 64);
    t.arg_mem(&kernel, 0, &buffer);
    drop(t.launch(&kernel, &[64], &[]));
    t.finish();
    panic!("the kernel wrote where there is no memory");
}

#[test]
fn the_handler_of_the_application_gets_its_signals() {
    assert_eq!(lines(&output(&mut child("fault of the application"))).concat(), "caught");
    // Without a handler the process ends by the signal.
    let quiet = |c: &mut Command| wait(c.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let mut part = child("fault of the application");
    // SAFETY: nothing but a limit: no file with the memory of the process.
    limit(&mut part, libc::RLIMIT_CORE, 0);
    assert!(quiet(&mut part).signal().is_none(), "the handler has ended the process");
}

#[cfg(target_arch = "x86_64")]
fn control_word() -> u32 {
    let mut word = 0u32;
    // SAFETY: stores the register.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut word) };
    // Exceptions that have happened are results, not settings.
    word & !0x3f
}

#[cfg(target_arch = "x86_64")]
fn set_control_word(word: u32) {
    // SAFETY: rounding, traps and denormals as the test wants them, with nothing computed meanwhile.
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const word) };
}

/// Rounding upwards, denormals flushed, and division by zero trapped: before, in every call, and in callbacks.
#[cfg(target_arch = "x86_64")]
fn float_environment() {
    let usual = control_word();
    for word in [usual, 0x1f80 | 0x4000, 0x9fc0, 0x1f80 & !0x200] {
        set_control_word(word);
        let outcome = session::run(word).is_ok();
        let after = control_word();
        set_control_word(usual);
        assert!(outcome);
        assert_eq!(after, word & !0x3f, "{word:#x}");
    }
    println!("|the same");
}

#[cfg(not(target_arch = "x86_64"))]
fn float_environment() {
    println!("|the same");
}

#[test]
fn the_floating_point_environment_of_the_caller_stays() {
    assert_eq!(lines(&output(child("float environment").env("CLOOM_CACHE", "0"))).concat(), "the same");
}

/// Commands that take long, and one that waits for ever.
fn busy() -> (Session, Obj, Obj) {
    let t = Session::new();
    let kernel = t.kernel(
        "kernel void k(global uint *p) { uint x = p[0]; for (uint i = 0; i < 400000000u; i++) x = x * 3 + i; p[get_global_id(0)] = x; }",
    );
    let buffer = t.buffer(0, 256);
    t.arg_mem(&kernel, 0, &buffer);
    drop(t.launch(&kernel, &[64], &[1]));
    (t, kernel, buffer)
}

fn exit_in_a_callback() {
    let held = busy();
    let queue = held.0.another_queue(0);
    let marker = held.0.marker_on(queue.h, &[]);
    let (call, data) = on_event(|_, _| std::process::exit(5));
    ok(api().clSetEventCallback(marker.h, CL_COMPLETE, call, data));
    std::thread::sleep(std::time::Duration::from_secs(30));
}

fn exit_in_a_native_kernel() {
    let held = busy();
    let queue = held.0.another_queue(0);
    let (call, closure) = on_native(|_| std::process::exit(5));
    let block = [closure];
    let args = block.as_ptr().cast_mut().cast();
    ok(api().clEnqueueNativeKernel(queue.h, call, args, 8, 0, null(), null(), 0, null(), null_mut()));
    std::thread::sleep(std::time::Duration::from_secs(30));
}

#[test]
fn a_process_may_exit_on_a_thread_of_the_driver() {
    for part in ["exit in a callback", "exit in a native kernel"] {
        for _ in 0..3 {
            let status = wait(child(part).stdout(Stdio::null()).spawn().unwrap());
            assert_eq!(status.code(), Some(5), "{part}: {status}");
        }
    }
}

/// Threads enqueue and end at once; others find their commands done.
fn a_thread_that_ends() {
    let t = Session::new();
    let kernel = t.kernel("kernel void k(global uint *p) { for (int i = 0; i < 1000; i++) p[get_global_id(0)]++; }");
    let buffer = t.buffer_of(&[0u32; 256]);
    t.arg_mem(&kernel, 0, &buffer);
    for _ in 0..50 {
        std::thread::scope(|s| drop(s.spawn(|| drop(t.launch(&kernel, &[256], &[])))));
    }
    t.finish();
    assert_eq!(t.read::<u32>(&buffer, 256), [50_000; 256]);
    println!("|done");
}

#[test]
fn a_thread_may_end_before_its_commands() {
    assert_eq!(lines(&output(&mut child("a thread that ends"))).concat(), "done");
}

/// Becomes another program while kernels run.
fn exec() {
    let _held = busy();
    panic!("{}", child("executed").exec());
}

#[test]
fn a_process_may_become_another_program() {
    assert_eq!(lines(&output(&mut child("exec"))).concat(), "executed");
}

/// Children of other kinds than `fork`'s, while kernels run.
fn system() {
    let _held = busy();
    assert_eq!(lines(&output(&mut child("executed"))).concat(), "executed");
    // SAFETY: a command of the shell.
    assert_eq!(unsafe { libc::system(c"exit 3".as_ptr()) }, 3 << 8);
    println!("|done");
    std::process::exit(0);
}

#[test]
fn children_run_while_kernels_do() {
    let told = lines(&output(&mut child("system")));
    assert_eq!(told.last().map(String::as_str), Some("done"), "{told:?}");
}
