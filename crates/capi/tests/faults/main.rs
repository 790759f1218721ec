//! Fault injection: the n-th allocation of the driver fails, or all from the n-th on, or the creation of all threads.
//! The driver must give an error code or go on, and work when there is memory again.
//!
//! Each n is a fork of a process that has loaded the driver and not used it yet. Every test tries some dozens of
//! places, close to each other where a session begins; `CLOOM_TEST_FAULTS=all` tries every one, which takes long,
//! `every 50 from 7` every fiftieth from the seventh on, and a number only that one, in the child itself, for a
//! debugger.

#![allow(clippy::print_stdout, reason = "processes tell each other by their output")]
#![allow(unsafe_code, reason = "it calls the C interface")]

#[path = "../common/mod.rs"]
mod common;
mod session;

use common::child::{child, in_fork, lines, output, part};
use common::*;
use session::End;
use std::ffi::{CStr, c_char, c_int, c_long};
use std::path::Path;
use std::process::Command;

const MEMORY: c_int = 1;
const MAPPINGS: c_int = 2;
const THREADS: c_int = 4;

/// The functions of the preloaded library.
struct Faults {
    arm: unsafe extern "C" fn(*const c_char, c_int, c_long, c_long) -> c_int,
    disarm: unsafe extern "C" fn() -> c_long,
}

impl Faults {
    fn find() -> Faults {
        let find = |name: &CStr| {
            // SAFETY: looks a name up.
            let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
            assert!(!address.is_null(), "{name:?} is not preloaded");
            address
        };
        // SAFETY: the functions have these types.
        unsafe {
            Faults {
                arm: std::mem::transmute::<Handle, unsafe extern "C" fn(*const c_char, c_int, c_long, c_long) -> c_int>(
                    find(c"faults_arm"),
                ),
                disarm: std::mem::transmute::<Handle, unsafe extern "C" fn() -> c_long>(find(c"faults_disarm")),
            }
        }
    }

    fn arm(&self, kinds: c_int, first: i64, last: i64) {
        let name = std::env::var("CLOOM_TEST_LIBRARY").map_or_else(|_| own_driver().into_os_string(), Into::into);
        let name = Path::new(&name).file_name().expect("a name").to_str().expect("UTF-8").to_owned() + "\0";
        // SAFETY: a name that ends with a zero.
        assert_eq!(unsafe { (self.arm)(name.as_ptr().cast(), kinds, first, last) }, 0, "the driver is not loaded");
    }

    fn disarm(&self) -> i64 {
        // SAFETY: takes nothing.
        unsafe { (self.disarm)() }
    }
}

/// What a child found.
const FINE: i32 = 0;
const REFUSED: i32 = 1;
const WRONG: i32 = 2;
const BROKEN: i32 = 3;
/// Nothing can be compiled any more, and says so: memory ended while the code generator made its global data.
const TORN: i32 = 4;

/// A session with faults, and one after it without.
fn one(faults: &Faults, kinds: c_int, first: i64, last: i64) -> i32 {
    faults.arm(kinds, first, last);
    let outcome = session::run(7);
    faults.disarm();
    if let Err(End::Wrong(why)) = outcome {
        eprintln!("faults {first} to {last}: {why}");
        return WRONG;
    }
    match session::run(8) {
        Ok(()) if outcome.is_ok() => FINE,
        Ok(()) => REFUSED,
        Err(End::Wrong(why)) => {
            eprintln!("after faults {first} to {last}: {why}");
            BROKEN
        }
        Err(End::Short) if kinds == MEMORY && last == i64::MAX => TORN,
        Err(End::Short) => {
            eprintln!("after faults {first} to {last}: still no memory");
            BROKEN
        }
    }
}

/// What the environment asks for.
fn wanted() -> String {
    std::env::var("CLOOM_TEST_FAULTS").unwrap_or_default()
}

/// Numbers up to `count`: all, or every so many, or close to each other at first and then further apart.
fn places(count: i64) -> Vec<i64> {
    let wanted = wanted();
    let (step, first): (Option<i64>, i64) = match wanted.strip_prefix("every ") {
        Some(words) => {
            let (step, first) = words.split_once(" from ").unwrap_or((words, "1"));
            let number = |word: &str| word.parse().ok().filter(|&n| n > 0).expect("`every N` or `every N from M`");
            // Where there are few, all of them.
            if number(step) < count { (Some(number(step)), number(first)) } else { (Some(1), 1) }
        }
        None => ((wanted == "all").then_some(1), 1),
    };
    let next = |&n: &i64| Some(n + step.unwrap_or(1 + n / 6));
    std::iter::successors(Some(first), next).take_while(|&n| n <= count).collect()
}

/// How many places ended how.
#[derive(Default, Debug)]
struct Tally {
    fine: u32,
    refused: u32,
    torn: u32,
    bad: Vec<i64>,
}

#[test]
fn the_part_of_a_child() {
    let Some(part) = part() else { return };
    let faults = Faults::find();
    // Loads the library.
    let _ = api();
    let kinds = match part.as_str() {
        "mappings" => MAPPINGS,
        "threads" => THREADS,
        _ => MEMORY,
    };
    let last = |first: i64| if part == "once" || part == "mappings" { first } else { i64::MAX };
    if let Ok(first) = wanted().parse() {
        println!("|1 {} 0 []", one(&faults, kinds, first, last(first)));
        return;
    }
    // How many there are; a file tells, because a fork cannot.
    let told = tempfile::NamedTempFile::new().expect("a file");
    let code = in_fork(|| {
        faults.arm(kinds, i64::MAX, i64::MAX);
        let good = session::run(7).is_ok();
        std::fs::write(told.path(), faults.disarm().to_string()).expect("a file can be written");
        i32::from(!good)
    });
    assert_eq!(code, 0, "a session without faults");
    let count: i64 = std::fs::read_to_string(told.path()).expect("the number").parse().expect("a number");
    let mut tally = Tally::default();
    for first in places(count) {
        let last = last(first);
        // A crash is a finding, too.
        match std::panic::catch_unwind(|| in_fork(|| one(&Faults::find(), kinds, first, last))) {
            Ok(FINE) => tally.fine += 1,
            Ok(REFUSED) => tally.refused += 1,
            Ok(TORN) => tally.torn += 1,
            _ => tally.bad.push(first),
        }
    }
    println!("|{count} {} {} {:?} {}", tally.fine, tally.refused + tally.torn, tally.bad, tally.torn);
}

/// Runs a part with the library that injects faults. Returns the number of places, and of those that went on, that gave
/// an error code, and that are bad.
fn inject(part: &str, cache: &str) -> (i64, u32, u32, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let library = folder.path().join("inject.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/inject.c");
    // What links Rust programs compiles C.
    let made =
        Command::new("cc").args(["-shared", "-fPIC", "-O2", "-o"]).arg(&library).arg(&source).arg("-ldl").status();
    assert!(made.expect("cc is there").success());
    let mut command = child(part);
    command.env("LD_PRELOAD", &library).env("CLOOM_CACHE", cache).env("CLOOM_CACHE_DIR", folder.path());
    let told = lines(&output(&mut command));
    let words: Vec<&str> = told[0].splitn(4, ' ').collect();
    println!("{part}, cache {cache}: {}", told[0]);
    let bad = words[3].split_inclusive(']').next().unwrap_or_default();
    (words[0].parse().unwrap(), words[1].parse().unwrap(), words[2].parse().unwrap(), bad.to_owned())
}

#[test]
fn one_allocation_that_fails_costs_at_most_an_error_code() {
    let (count, fine, _, bad) = inject("once", "1");
    assert!(count > 100 && fine > 10, "{count}, {fine}");
    assert_eq!(bad, "[]");
}

#[test]
fn memory_that_ends_for_good_is_an_error_code() {
    let (count, _, refused, bad) = inject("from", "1");
    assert!(count > 100 && refused > 10, "{count}, {refused}");
    assert_eq!(bad, "[]");
}

#[test]
fn mappings_that_fail_cost_at_most_an_error_code() {
    assert_eq!(inject("mappings", "1").3, "[]");
}

#[test]
fn without_memory_for_the_compiler_builds_fail() {
    assert_eq!(inject("once", "0").3, "[]");
    assert_eq!(inject("from", "0").3, "[]");
}

#[test]
fn without_threads_the_calling_thread_does_the_work() {
    let (_, fine, _, bad) = inject("threads", "1");
    assert!(fine > 0);
    assert_eq!(bad, "[]");
}
