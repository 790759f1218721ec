//! Two users of one machine: code from a folder that another user has made, or has put in the place of one's own, does
//! not run, and programs with other rights than their caller obey nothing of the caller's.
//!
//! The users are played by root with the program `setpriv`; elsewhere the tests say that they are skipped. A copy of
//! this program is what they run.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "processes tell each other by their output")]

mod common;

use cloom_artifact::KernelArtifact;
use cloom_compiler::{Compiler, Config, Source, Variant};
use cloom_hal::Device;
use cloom_hal_cpu::CpuDevice;
use common::Arg;
use rustix::process::geteuid;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::Arc;

/// The variable that names the part of a child.
const PART: &str = "CLOOM_TEST_PART";
/// Two users who are nobody.
const VICTIM: u32 = 65533;
const OTHER: u32 = 65534;

/// What the victim runs, and what another user would have it run.
const GOOD: &str = "kernel void k(global int *p) { p[get_global_id(0)] += 1; }";
const EVIL: &str = "kernel void k(global int *p) { p[get_global_id(0)] = 666; }";

/// Runs a kernel on a zero: what it makes of it, and whether its code came from the cache.
fn result(compiler: &Arc<Compiler>, text: &str) -> (i32, bool) {
    let device = CpuDevice::new(1, None);
    let target = device.info().target.clone();
    let built = compiler.build(&Source { name: "test.cl", text: text.as_bytes() }, "", &target);
    let built = compiler.executable(&built.result.unwrap(), &target).kernel("k", Variant::Vector).unwrap();
    let memory = common::buffer(&device, &[0; 4]);
    common::run(&device, built.artifact.clone(), [1; 3], [1; 3], &[Arg::Buffer(&*memory)]);
    (common::ints(&*memory)[0], built.cached)
}

/// Whether a folder has an entry for the code of a kernel.
fn has_code(folder: &Path) -> bool {
    fs::read_dir(folder).into_iter().flatten().flatten().any(|e| e.path().extension().is_some_and(|x| x == "kernel"))
}

/// Fills a folder with the code of the evil kernel under the name that the good one's has: an entry of an evil user,
/// whose checksum is right.
fn poison(folder: &Path) {
    let code = |text: &str| {
        let dir = tempfile::tempdir().unwrap();
        let compiler = Compiler::new(Config { cache_dir: Some(dir.path().join("cache")), ..Config::default() });
        result(&compiler, text);
        let files = fs::read_dir(dir.path().join("cache")).unwrap().map(|entry| entry.unwrap().path());
        let path = files.into_iter().find(|path| path.extension().is_some_and(|x| x == "kernel")).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let artifact = KernelArtifact::decode(&name, &fs::read(path).unwrap()).unwrap();
        (name, artifact)
    };
    let ((name, _), (_, evil)) = (code(GOOD), code(EVIL));
    fs::create_dir_all(folder).unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(folder.join(&name), evil.encode(&name)).unwrap();
    fs::set_permissions(folder.join(&name), fs::Permissions::from_mode(0o644)).unwrap();
}

/// What the parts of children are.
#[test]
fn the_part_of_a_child() {
    let folder = PathBuf::from(std::env::var_os("FOLDER").unwrap_or_default());
    match std::env::var(PART).as_deref() {
        Err(_) => (),
        Ok("run") => {
            let (value, cached) = result(&Compiler::new(Config { log: true, ..Config::from_env() }), GOOD);
            println!("|{value} {cached}");
        }
        // Opens the cache, waits until it is told to go on, and runs.
        Ok("run later") => {
            let compiler = Compiler::new(Config::from_env());
            println!("|ready");
            std::io::stdin().read_line(&mut String::new()).unwrap();
            let (value, cached) = result(&compiler, GOOD);
            println!("|{value} {cached}");
        }
        Ok("poison") => {
            poison(&folder);
            println!("|done");
        }
        // Puts a poisoned folder in the place of another.
        Ok("swap") => {
            let moved = fs::rename(&folder, folder.with_extension("moved"));
            poison(&folder);
            println!("|{}", moved.is_ok());
        }
        Ok("environment") => {
            let config = Config::from_env();
            let secret = std::env::var("SECRET").unwrap_or_default();
            let compiler = Compiler::new(config.clone());
            let log = |text: &str, options: &str| {
                compiler
                    .build(
                        &Source { name: "test.cl", text: text.as_bytes() },
                        options,
                        &CpuDevice::new(1, None).info().target.clone(),
                    )
                    .log
            };
            let seen = log(&format!("#include \"{secret}\"\n"), "").contains("the secret words");
            let beside = folder.join("header.h").exists();
            let found = log("#include <header.h>\n", &format!("-I{}", folder.display())).is_empty();
            println!(
                "|cache {} lanes {:?} helper {:?} threads {:?} log {} secret {} header {}",
                config.cache_dir.is_some(),
                config.lanes,
                cloom_caps::env::GPU_HELPER.path(),
                cloom_caps::env::THREADS.get(),
                config.log,
                if seen { "seen" } else { "hidden" },
                if beside && found { "found" } else { "missing" },
            );
        }
        Ok(other) => panic!("{other}"),
    }
}

/// A copy of this program that every user may run, in a folder that every user may enter.
struct Stage {
    dir: tempfile::TempDir,
    program: PathBuf,
}

impl Stage {
    /// `None` if other users cannot be played here.
    fn new() -> Option<Stage> {
        let is_there = |program: &str| {
            Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok_and(|s| s.success())
        };
        if !geteuid().is_root() || !is_there("setpriv") {
            eprintln!("skipped: other users can only be played by root, with the program setpriv");
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let program = dir.path().join("program");
        fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Some(Stage { dir, program })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A folder of a user.
    fn folder(&self, name: &str, user: u32, mode: u32) -> PathBuf {
        let path = self.at(name);
        fs::create_dir(&path).unwrap();
        chown(&path, Some(user), Some(user)).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    /// A user's command that plays a part. Nothing of the environment of this test is in its own.
    fn command(&self, part: &str, user: u32) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", &user.to_string(), "--regid", &user.to_string(), "--clear-groups", "--inh-caps=-all"]);
        command.arg(&self.program).args(["--exact", "the_part_of_a_child", "--nocapture", "--test-threads=1"]);
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env(PART, part);
        command.current_dir("/").stdin(Stdio::null());
        command
    }

    /// What a part says, and what it says of errors.
    fn said(&self, part: &str, user: u32, variables: &[(&str, &Path)]) -> (String, String) {
        let Output { status, stdout, stderr } =
            self.command(part, user).envs(variables.iter().copied()).output().unwrap();
        let [out, err] = [stdout, stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        assert!(status.success(), "{part}: {status}\n{out}\n{err}");
        let line = out.lines().find_map(of_part).unwrap_or_else(|| panic!("{part}: {out}\n{err}"));
        let variables: Vec<String> =
            variables.iter().map(|(name, value)| format!("{name}={}", value.display())).collect();
        eprintln!("user {user}, {part}, {}: {line}", variables.join(" "));
        err.lines().filter(|line| line.starts_with("cloom:")).for_each(|line| eprintln!("    {line}"));
        (line, err)
    }

    /// Runs the good kernel with a cache.
    fn run(&self, user: u32, folder: &Path) -> (String, String) {
        self.said("run", user, &[("CLOOM_CACHE_DIR", folder)])
    }
}

/// What a part says in a line of output, which may begin with words of the test harness.
fn of_part(line: &str) -> Option<String> {
    Some(line[line.find('|')? + 1..].to_owned())
}

/// What a part that runs says next.
fn next(lines: &mut std::io::Lines<BufReader<ChildStdout>>) -> String {
    lines.find_map(|line| of_part(&line.unwrap())).unwrap()
}

/// A victim's process that has its cache open and waits.
fn waiting(stage: &Stage, folder: &Path) -> (Child, std::io::Lines<BufReader<ChildStdout>>) {
    let mut command = stage.command("run later", VICTIM);
    command.env("CLOOM_CACHE_DIR", folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(next(&mut lines), "ready");
    (child, lines)
}

#[test]
fn nobody_runs_code_from_another_users_folder() {
    let Some(stage) = Stage::new() else { return };
    let theirs = stage.folder("theirs", OTHER, 0o755);
    assert_eq!(stage.said("poison", OTHER, &[("FOLDER", &theirs)]).0, "done");
    assert_eq!(stage.run(OTHER, &theirs).0, "666 true", "its owner gets what is in it: the entry is sound");
    for user in [VICTIM, 0] {
        let (got, told) = stage.run(user, &theirs);
        assert_eq!(got, "1 false");
        assert!(told.contains("it belongs to another user"), "{told}");
    }
    // By a link in a folder of the victim's, and as the folder in the home that the variable names.
    let own = stage.folder("own", VICTIM, 0o700);
    symlink(&theirs, own.join("cloom")).unwrap();
    assert_eq!(stage.run(VICTIM, &own.join("cloom")).0, "1 false");
    assert_eq!(stage.said("run", VICTIM, &[("XDG_CACHE_HOME", &own)]).0, "1 false");
    // One's own, which others may write to.
    for mode in [0o777, 0o1777, 0o770] {
        let open = stage.folder(&format!("open {mode:o}"), VICTIM, mode);
        let (got, told) = [(); 2].map(|()| stage.run(VICTIM, &open))[1].clone();
        assert!(got == "1 false" && told.contains("chmod go-w"), "{got}: {told}");
        assert!(!has_code(&open));
    }
}

#[test]
fn a_folder_that_another_user_puts_in_its_place_is_not_used() {
    let Some(stage) = Stage::new() else { return };
    let parent = stage.folder("parent", OTHER, 0o777);
    let folder = parent.join("cache");
    // The victim makes it there, and it is good as long as nobody touches it.
    assert_eq!([stage.run(VICTIM, &folder).0, stage.run(VICTIM, &folder).0], ["1 false", "1 true"]);
    let (mut before, mut lines) = waiting(&stage, &folder);
    assert_eq!(stage.said("swap", OTHER, &[("FOLDER", &folder)]).0, "true", "the parent's writer may rename it");
    assert_eq!(fs::metadata(&folder).unwrap().uid(), OTHER);
    before.stdin.take().unwrap().write_all(b"\n").unwrap();
    let got = next(&mut lines);
    eprintln!("user {VICTIM}, a process that had the folder open before it was swapped: {got}");
    assert_eq!(got, "1 true", "it goes on with the folder that it has open");
    assert!(before.wait().unwrap().success());
    let (got, told) = stage.run(VICTIM, &folder);
    assert!(got == "1 false" && told.contains("it belongs to another user"), "{got}: {told}");
    // A link to the folder of the other user is no better, nor one to a folder that is open to both.
    let theirs = parent.join("theirs");
    fs::rename(&folder, &theirs).unwrap();
    symlink(&theirs, &folder).unwrap();
    assert_eq!(stage.run(VICTIM, &folder).0, "1 false");
}

#[test]
fn entries_of_another_user_in_ones_own_folder_are_not_used() {
    let Some(stage) = Stage::new() else { return };
    let theirs = stage.folder("theirs", OTHER, 0o755);
    stage.said("poison", OTHER, &[("FOLDER", &theirs)]);
    let entry = fs::read_dir(&theirs).unwrap().next().unwrap().unwrap().path();
    let own = stage.folder("own", VICTIM, 0o700);
    let name = own.join(entry.file_name().unwrap());
    // As a file of the other's, as a hard link to it, as a symbolic link, and as one's own that others may write.
    let placed: [(&str, &dyn Fn()); 4] = [
        ("a file", &|| {
            fs::copy(&entry, &name).unwrap();
            chown(&name, Some(OTHER), Some(OTHER)).unwrap();
        }),
        ("a hard link", &|| fs::hard_link(&entry, &name).unwrap()),
        ("a symbolic link", &|| symlink(&entry, &name).unwrap()),
        ("a file that others may write", &|| {
            fs::copy(&entry, &name).unwrap();
            chown(&name, Some(VICTIM), Some(VICTIM)).unwrap();
            fs::set_permissions(&name, fs::Permissions::from_mode(0o666)).unwrap();
        }),
    ];
    for (kind, place) in placed {
        let _ = fs::remove_file(&name);
        place();
        eprintln!("{kind}:");
        assert_eq!([stage.run(VICTIM, &own).0, stage.run(VICTIM, &own).0], ["1 false", "1 true"], "{kind}");
        let about = fs::symlink_metadata(&name).unwrap();
        assert!(about.is_file() && about.uid() == VICTIM && about.mode() & 0o777 == 0o600, "{kind}: replaced");
    }
    assert_eq!(stage.run(OTHER, &theirs).0, "666 true", "the other's own is as it was");
}

#[test]
fn a_program_with_other_rights_obeys_nothing_of_its_caller() {
    let Some(stage) = Stage::new() else { return };
    let secret = stage.at("secret");
    fs::write(&secret, "the secret words\n").unwrap();
    chown(&secret, Some(VICTIM), Some(VICTIM)).unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o640)).unwrap();
    let headers = stage.folder("headers", VICTIM, 0o755);
    fs::write(headers.join("header.h"), "kernel void k() {}\n").unwrap();
    let open = stage.folder("open", OTHER, 0o777);
    let [cache, caches, home] = ["cache", "caches", "home"].map(|name| open.join(name));
    let said = |user| {
        let variables = [
            ("CLOOM_CACHE_DIR", cache.as_path()),
            ("XDG_CACHE_HOME", &caches),
            ("HOME", &home),
            ("CLOOM_LANES", Path::new("4")),
            ("CLOOM_THREADS", Path::new("3")),
            ("CLOOM_LOG", Path::new("1")),
            ("CLOOM_CONFINE_INCLUDES", Path::new("0")),
            ("CLOOM_GPU_HELPER", Path::new("/tmp/helper")),
            ("SECRET", &secret),
            ("FOLDER", &headers),
        ];
        stage.said("environment", user, &variables).0
    };
    let ordinary =
        "cache true lanes Some(4) helper Some(\"/tmp/helper\") threads Some(\"3\") log true secret seen header found";
    let privileged = "cache false lanes None helper None threads None log false secret hidden header found";
    assert_eq!(said(VICTIM), ordinary, "an ordinary program");
    let run =
        |user| stage.said("run", user, &[("CLOOM_CACHE_DIR", &cache), ("XDG_CACHE_HOME", &caches), ("HOME", &home)]).0;
    for (kind, mode) in [("set-user-ID", 0o4755), ("set-group-ID", 0o2755), ("with capabilities", 0o755)] {
        let _ = fs::remove_dir_all(&cache);
        chown(&stage.program, Some(VICTIM), Some(VICTIM)).unwrap();
        fs::set_permissions(&stage.program, fs::Permissions::from_mode(mode)).unwrap();
        if kind == "with capabilities" {
            let set = Command::new("setcap").arg("cap_dac_read_search+ep").arg(&stage.program).status();
            if !set.is_ok_and(|status| status.success()) {
                eprintln!("skipped: capabilities of files cannot be set here");
                continue;
            }
        }
        eprintln!("a program {kind}:");
        assert_eq!(said(OTHER), privileged, "{kind}");
        assert_eq!(run(OTHER), "1 false", "{kind}");
        let made: Vec<&PathBuf> = [&cache, &caches, &home].into_iter().filter(|path| path.exists()).collect();
        assert!(made.is_empty(), "{kind}: {made:?}");
    }
}
