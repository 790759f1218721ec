//! The disk cache and the environment on a machine with several users: folders whose entries are renamed, exchanged,
//! damaged or of other kinds, another user's folder, set-user-ID programs, and a limit of the size of files.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "processes tell each other by their output")]

mod common;

use cloom_compiler::{Compilation, Compiler, Config, Program, Source, Variant};
use cloom_hal::Device;
use cloom_hal_cpu::CpuDevice;
use cloom_target::Target;
use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::process::{Resource, Rlimit, geteuid, setrlimit};
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The variable that names the part of a child.
const PART: &str = "CLOOM_TEST_PART";
/// Users who are nobody.
const OWNER: u32 = 65533;
const CALLER: u32 = 65534;
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

/// What the parts of children are.
#[test]
fn the_part_of_a_child() {
    match std::env::var(PART).as_deref() {
        Err(_) => (),
        Ok("environment") => {
            let config = Config::from_env();
            let secret = std::env::var("SECRET").unwrap_or_default();
            let log = build(&Compiler::new(config.clone()), &format!("#include \"{secret}\"\n")).log;
            let of_log = if log.contains("not found") { "hidden" } else { "seen" };
            let lanes = config.lanes.map_or(0, u16::from);
            println!(
                "|{} {lanes} {} {of_log}",
                config.cache_dir.is_some(),
                cloom_caps::env::GPU_HELPER.path().is_some()
            );
            assert!(!log.contains("the secret words") || of_log == "seen");
        }
        Ok("cache") => {
            let compiler = Compiler::new(Config { log: true, ..Config::from_env() });
            println!("|{}", kernel(&compiler, SOURCES[0]).2);
        }
        Ok("short files") => {
            let few = Rlimit { current: Some(512), maximum: Some(512) };
            setrlimit(Resource::Fsize, few).unwrap();
            println!("|{}", kernel(&Compiler::new(Config::from_env()), SOURCES[0]).2);
        }
        Ok(other) => panic!("{other}"),
    }
}

/// A command that plays a part in this program, or in a copy of it, as a user.
fn child(part: &str, program: &Path, user: Option<u32>) -> Command {
    let mut command = match user {
        None => Command::new(program),
        Some(user) => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid", &user.to_string(), "--regid", &user.to_string(), "--clear-groups"]).arg(program);
            command
        }
    };
    command.args(["--exact", "the_part_of_a_child", "--nocapture", "--test-threads=1"]);
    command.env(PART, part).current_dir("/").stdin(Stdio::null());
    command
}

/// What a child that ends well says, and its errors.
fn said(command: &mut Command) -> (String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let [out, err] = [stdout, stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(status.success(), "{status}\n{out}\n{err}");
    let line = out.lines().find_map(|line| Some(line[line.find('|')? + 1..].to_owned()));
    (line.unwrap_or_else(|| panic!("{out}\n{err}")), err)
}

/// A folder that every user may enter, with a copy of this program; `None` if other users cannot be played here.
fn for_other_users() -> Option<(tempfile::TempDir, PathBuf)> {
    let has_setpriv =
        Command::new("setpriv").arg("--version").stdout(Stdio::null()).status().is_ok_and(|s| s.success());
    if !geteuid().is_root() || !has_setpriv {
        eprintln!("skipped: other users can only be played by root, with the program setpriv");
        return None;
    }
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = dir.path().join("program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    Some((dir, program))
}

#[test]
fn nobody_runs_code_from_another_users_folder() {
    let Some((dir, program)) = for_other_users() else { return };
    let [own, open] = ["own", "open"].map(|name| dir.path().join(name));
    for (folder, mode) in [(&own, 0o755), (&open, 0o777)] {
        fs::create_dir(folder).unwrap();
        chown(folder, Some(CALLER), Some(CALLER)).unwrap();
        fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
    }
    let run = |user, folder: &Path| said(child("cache", &program, user).env("CLOOM_CACHE_DIR", folder));
    assert_eq!([run(Some(CALLER), &own).0, run(Some(CALLER), &own).0], ["false", "true"], "the owner");
    for user in [Some(OWNER), None] {
        let (cached, told) = run(user, &own);
        assert_eq!(cached, "false", "{user:?}");
        assert!(told.contains("it belongs to another user"), "{told}");
    }
    let (cached, told) = [(); 2].map(|()| run(Some(CALLER), &open))[1].clone();
    assert!(cached == "false" && told.contains("chmod go-w"), "{told}");
}

#[test]
fn a_set_user_id_program_obeys_nothing_of_its_caller() {
    let Some((dir, program)) = for_other_users() else { return };
    let secret = dir.path().join("secret");
    fs::write(&secret, "the secret words\n").unwrap();
    chown(&secret, Some(OWNER), Some(OWNER)).unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    chown(&program, Some(OWNER), Some(OWNER)).unwrap();
    let said = |user| {
        let mut command = child("environment", &program, Some(user));
        command.env("CLOOM_CACHE_DIR", dir.path().join("cache")).env("XDG_CACHE_HOME", "/tmp/x").env("HOME", "/tmp");
        said(command.env("CLOOM_LANES", "4").env("CLOOM_GPU_HELPER", "/tmp/helper").env("SECRET", &secret)).0
    };
    assert_eq!(said(OWNER), "true 4 true seen", "as an ordinary program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o4755)).unwrap();
    assert_eq!(said(CALLER), "false 0 false hidden");
    assert!(!dir.path().join("cache").exists());
}

#[test]
fn a_limit_of_the_size_of_files_does_not_end_the_process() {
    let dir = tempfile::tempdir().unwrap();
    let program = std::env::current_exe().unwrap();
    for _ in 0..2 {
        let mut command = child("short files", &program, None);
        assert_eq!(said(command.env("CLOOM_CACHE_DIR", dir.path().join("cache"))).0, "false");
    }
}
