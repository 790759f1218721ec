//! The C library that driver and program are linked with: one older than that of this machine, so that they run where
//! users are. In: a kind of machine. Out: a folder for the linker.
//!
//! A function of the C library has a version; a linker asks for the newest that the library has, and the result does
//! not load where there is none. So the linker is given *stubs* of [`GLIBC`]: libraries with its names and versions and
//! without code. The Python package `ziglang` can make them for any version; its checksum is in `dist/libc`. Of what
//! the older one has not, and LLVM and the static C++ library use, `compat.c` has the few functions.

use super::machine::Machine;
use super::tree::template;
use super::venv::Venv;
use crate::tools::{must, target};
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The version of the C library: that of Debian 10 and RHEL 8. Their tag is `manylinux_2_28`.
pub const GLIBC: &str = "2.28";

/// The libraries, and the names under which a linker looks for them.
const LIBRARIES: &[(&str, &str)] = &[
    ("libm.so.6", "libm.so"),
    ("libpthread.so.0", "libpthread.so"),
    ("libdl.so.2", "libdl.so"),
    ("librt.so.1", "librt.so"),
    ("libutil.so.1", "libutil.so"),
];
/// What `libc.so` stands for.
const LIBC: &[&str] = &["libc.so.6", "libc_nonshared.a", "libld.so.2"];
/// What a program begins with. That of newer versions leaves the constructors to the newer C library.
const START: &str = "Scrt1.o";

/// Makes the folder, unless it is there.
pub fn folder(machine: Machine) -> Result<PathBuf> {
    let compiler = machine.tool("gcc");
    let folder = target().join(format!("dist-libc-{}", machine.arch()));
    let inputs = format!("{GLIBC}\n{compiler}\n{}{}", template!("libc/ziglang.txt"), template!("libc/compat.c"));
    let done = folder.join("made-of");
    if fs::read_to_string(&done).is_ok_and(|text| text == inputs) {
        return Ok(folder.canonicalize()?);
    }
    println!("xtask: making stubs of the C library {GLIBC} for {}", machine.arch());
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let folder = folder.canonicalize()?;
    let zig = Venv::new("zig")?;
    zig.install_hashed(template!("libc/ziglang.txt"))?;
    let cache = folder.join("cache");
    // Linking an empty program makes all stubs.
    fs::write(folder.join("empty.c"), "int main(void) { return 0; }\n")?;
    must(
        zig.python()
            .args(["-m", "ziglang", "cc", "-pie", "-fPIE", "-target"])
            .arg(format!("{}.{GLIBC}", machine.multiarch()))
            .args(["-o", "empty", "empty.c"])
            .current_dir(&folder)
            .env("ZIG_GLOBAL_CACHE_DIR", &cache)
            .env("ZIG_LOCAL_CACHE_DIR", &cache),
    )?;
    let mut made = BTreeMap::new();
    find(&cache, &mut made)?;
    let copy = |from: &str, to: &str| {
        let path = made.get(from).with_context(|| format!("ziglang made no {from}"))?;
        fs::copy(path, folder.join(to)).with_context(|| format!("cannot copy {from}"))
    };
    for (from, to) in LIBRARIES {
        copy(from, to)?;
    }
    for name in LIBC.iter().chain(&[START]) {
        copy(name, name)?;
    }
    fs::write(folder.join("compat.c"), template!("libc/compat.c"))?;
    must(
        Command::new(&compiler)
            .args(["-O2", "-fPIC", "-Wall", "-Wextra", "-Werror", "-c", "compat.c", "-o", "compat.o"])
            .current_dir(&folder),
    )?;
    // An archive: what is not used is not linked.
    must(Command::new(machine.tool("ar")).args(["rcsD", "libcompat.a", "compat.o"]).current_dir(&folder))?;
    let path = |name: &str| folder.join(name).display().to_string();
    let [shared, nonshared, loader] = LIBC else { unreachable!("three parts") };
    fs::write(
        folder.join("libc.so"),
        format!(
            "GROUP ( {} {} {} AS_NEEDED ( {} ) )\n",
            path(shared),
            path(nonshared),
            path("libcompat.a"),
            path(loader)
        ),
    )?;
    fs::remove_dir_all(&cache)?;
    // Last: a run that was interrupted leaves no such file, and the next one begins anew.
    fs::write(done, inputs)?;
    Ok(folder)
}

/// All files below a folder by their names.
fn find(folder: &Path, found: &mut BTreeMap<String, PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, found)?;
        } else if let Some(name) = path.file_name() {
            found.insert(name.to_string_lossy().into_owned(), path);
        }
    }
    Ok(())
}
