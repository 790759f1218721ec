//! The disk cache on a machine with several programs: folders whose entries are renamed, exchanged, damaged or of other
//! kinds, and a limit of the size of files.

#![allow(clippy::print_stdout, reason = "a process tells by its output")]

mod common;

use cloom_compiler::{Compilation, Compiler, Config, Program, Source, Variant};
use cloom_hal::Device;
use cloom_hal_cpu::CpuDevice;
use cloom_target::Target;
use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The variable that a child has.
const PART: &str = "CLOOM_TEST_PART";
/// How long a child may take.
const LIMIT: Duration = Duration::from_secs(120);

const SOURCES: [&str; 3] = [
    "kernel void k(global int *p) { p[get_global_id(0)] += 1; }",
    "kernel void k(global int *p) { p[get_global_id(0)] += 2; }",
    "kernel void k(global int *p) { p[get_global_id(0)] = 3 * p[0]; }",
];

fn with_cache(folder: &Path) -> Arc<Compiler> {
    Compiler::new(Config { cache_dir: Some(folder.to_owned()), ..Config::default() })
}

fn target() -> Target {
    CpuDevice::new(1, None).info().target.clone()
}

fn build(compiler: &Compiler, text: &str) -> Compilation {
    compiler.build(&Source { name: "test.cl", text: text.as_bytes() }, "", &target())
}

/// The kernel's program and its machine code, and whether that came from the cache.
fn kernel(compiler: &Arc<Compiler>, text: &str) -> (Arc<Program>, Vec<u8>, bool) {
    let program = build(compiler, text).result.unwrap();
    let built = compiler.executable(&program, &target()).kernel("k", Variant::Vector).unwrap();
    (program, built.artifact.code.clone(), built.cached)
}

/// A sequence of numbers that looks random.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        (self.0 >> 33) as usize % end
    }
}

/// Does something to a folder that no process of Cloom does.
fn tamper(folder: &Path, random: &mut Random) {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    if files.is_empty() {
        return;
    }
    let [one, two] = [(); 2].map(|()| files[random.below(files.len())].clone());
    let contents = fs::symlink_metadata(&one).ok().filter(fs::Metadata::is_file).and_then(|_| fs::read(&one).ok());
    let change = |change: &dyn Fn(&mut Vec<u8>)| {
        if let Some(mut bytes) = contents.clone() {
            change(&mut bytes);
            fs::write(&one, bytes).unwrap();
        }
    };
    let replace = || if one.is_dir() { fs::remove_dir_all(&one) } else { fs::remove_file(&one) }.unwrap();
    let at = contents.as_ref().map_or(0, |bytes| random.below(bytes.len().max(1)));
    match random.below(9) {
        0 if !one.is_dir() && !two.is_dir() => fs::rename(&one, &two).unwrap(),
        1 if !one.is_dir() && !two.is_dir() => {
            let between = folder.join("between");
            fs::rename(&one, &between).unwrap();
            let _ = fs::rename(&two, &one);
            fs::rename(&between, &two).unwrap();
        }
        2 => change(&|bytes| bytes.truncate(at)),
        3 => change(&|bytes| bytes[at..].iter_mut().take(1).for_each(|byte| *byte ^= 1 << (at % 8))),
        4 => change(&|bytes| *bytes = b"another's".repeat(at)),
        5 => {
            replace();
            mkfifoat(CWD, &one, Mode::RUSR | Mode::WUSR).unwrap();
        }
        6 => {
            replace();
            symlink(if at % 2 == 0 { Path::new("/dev/zero") } else { &two }, &one).unwrap();
        }
        7 => {
            replace();
            fs::create_dir(&one).unwrap();
        }
        _ => change(&|bytes| bytes.extend(vec![0; at])),
    }
}

#[test]
fn whatever_is_in_the_folder_a_build_gives_the_right_code_and_ends() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("cache");
    let expected = SOURCES.map(|text| kernel(&common::compiler(), text));
    let begin = Instant::now();
    let mut found = 0;
    for seed in 0..200 {
        let mut random = Random(seed);
        let compiler = with_cache(&folder);
        for (text, (program, code, _)) in SOURCES.iter().zip(&expected) {
            let (got_program, got_code, cached) = kernel(&compiler, text);
            assert!(got_program == *program && got_code == *code, "seed {seed}: {text}");
            found += usize::from(cached);
        }
        for _ in 0..=random.below(4) {
            tamper(&folder, &mut random);
        }
        // A folder takes no entry's place, so it would soon be full of them.
        if seed % 20 == 19 {
            fs::remove_dir_all(&folder).unwrap();
        }
        assert!(begin.elapsed() < LIMIT, "seed {seed}");
    }
    assert!(found > 100, "the cache was of use {found} times");
}

/// What the child with few bytes of files does.
#[test]
fn the_part_of_a_child() {
    if std::env::var_os(PART).is_some() {
        let few = Rlimit { current: Some(512), maximum: Some(512) };
        setrlimit(Resource::Fsize, few).unwrap();
        println!("|{}", kernel(&Compiler::new(Config::from_env()), SOURCES[0]).2);
    }
}

#[test]
fn a_limit_of_the_size_of_files_does_not_end_the_process() {
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "the_part_of_a_child", "--nocapture"]).env(PART, "1").stdin(Stdio::null());
        let output = child.env("CLOOM_CACHE_DIR", dir.path().join("cache")).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("|false"), "{output:?}");
    }
}
