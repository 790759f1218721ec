//! Links LLVM 19 statically: asks `llvm-config-19` for the libraries of the few components that are used.
//!
//! The bindings crate can link LLVM itself, but only all of it, which makes the driver a sixth larger.
//!
//! The C++ library is linked statically too.
//!
//! `LLVM_SYS_191_PREFIX` is the folder of LLVM. When this is compiled on another kind of machine, which cannot run the
//! `llvm-config` there, the names of the libraries come from its own one, and `lib` in that folder has them; the
//! libraries that LLVM needs are then looked for in the sibling folder `<machine>-linux-gnu`, where Debian has them.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const DEBIAN: &str = "/usr/lib/llvm-19";
/// If it is set, our C++ checks its accesses to memory and its arithmetic.
const SANITIZE: &str = "CLOOM_SANITIZE_CPP";

fn main() {
    // docs.rs has no LLVM, and documentation links nothing.
    println!("cargo::rerun-if-env-changed=DOCS_RS");
    if env::var_os("DOCS_RS").is_some() {
        println!("cargo::metadata=version=none");
        return;
    }
    println!("cargo::rerun-if-env-changed=LLVM_SYS_191_PREFIX");
    println!("cargo::rerun-if-changed=build.rs");
    let prefix = env::var_os("LLVM_SYS_191_PREFIX").map_or_else(|| PathBuf::from(DEBIAN), PathBuf::from);
    let machine = env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    let is_cross = env::var("HOST") != env::var("TARGET");
    let config = if is_cross { Path::new(DEBIAN) } else { &prefix }.join("bin/llvm-config");
    let ask = |args: &[&str]| {
        let output = Command::new(&config).args(args).output().unwrap_or_else(|e| {
            panic!("cannot run {}: {e}; install llvm-19-dev, or set LLVM_SYS_191_PREFIX", config.display())
        });
        assert!(output.status.success(), "{} {args:?} failed", config.display());
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    // The crates that use this one learn which LLVM makes their code, and of another version when it is installed.
    println!("cargo::rerun-if-changed={}", config.display());
    println!("cargo::metadata=version={}", ask(&["--version"]));
    let libraries = if is_cross { prefix.join("lib").display().to_string() } else { ask(&["--libdir"]) };
    println!("cargo::rustc-link-search=native={libraries}");
    // The libraries of these and of what they need; the linker takes the objects in use.
    let mut components = vec!["analysis", "instcombine", "scalaropts", "transformutils", "nvptx"];
    for (family, component) in [("x86_64", "x86"), ("aarch64", "aarch64")] {
        if machine == family || env::var_os("CARGO_FEATURE_FOREIGN").is_some() {
            components.push(component);
        }
    }
    // Before the libraries that it refers to.
    let includes = if is_cross { prefix.join("include") } else { PathBuf::from(ask(&["--includedir"])) };
    let has_rtti = ask(&["--has-rtti"]) == "YES";
    compile(&includes, has_rtti);
    let libs = ask(&[&["--link-static", "--libs"], &components[..]].concat());
    for lib in libs.split_whitespace().filter_map(|l| l.strip_prefix("-l")) {
        println!("cargo::rustc-link-lib=static={lib}");
    }
    for lib in ["z", "zstd", "stdc++"] {
        println!("cargo::rustc-link-lib=static={lib}");
    }
    println!("cargo::rustc-link-search=native={}", cpp_library().display());
    let beside = prefix.parent().filter(|_| is_cross).unwrap_or(Path::new("/usr/lib"));
    println!("cargo::rustc-link-search=native={}/{machine}-linux-gnu", beside.display());
}

/// The folder of the static C++ library. Linked so, LLVM depends neither on the version that the machine has nor on
/// what the application puts in the place of `operator new`.
fn cpp_library() -> PathBuf {
    const FILE: &str = "libstdc++.a";
    let compiler = cc::Build::new().cpp(true).get_compiler();
    let output = compiler.to_command().arg(format!("-print-file-name={FILE}")).output();
    let output = output.unwrap_or_else(|e| panic!("cannot run {}: {e}; install g++", compiler.path().display()));
    let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    // A compiler that has no such file prints the name alone.
    match path.parent() {
        Some(folder) if path.is_file() => folder.to_owned(),
        _ => panic!(
            "{} has no {FILE}; install it: Debian has it in libstdc++-*-dev, Fedora in libstdc++-static",
            compiler.path().display()
        ),
    }
}

/// Compiles what LLVM's C interface cannot do.
fn compile(includes: &Path, has_rtti: bool) {
    const FILES: [&str; 7] = [
        "cpp/pipeline.cpp",
        "cpp/demote_wide.cpp",
        "cpp/unroll.cpp",
        "cpp/flatten_guards.cpp",
        "cpp/branches.cpp",
        "cpp/preserve_increments.cpp",
        "cpp/codegen.cpp",
    ];
    const HEADER: &str = "cpp/own_passes.h";
    FILES.iter().chain([&HEADER]).for_each(|file| println!("cargo::rerun-if-changed={file}"));
    let mut build = cc::Build::new();
    // The unused parts of headers that are not ours are no concern; what links it says so below.
    build.cpp(true).cpp_link_stdlib(None).files(FILES).include(includes).warnings(false).std("c++17");
    build.flag("-fno-exceptions").define("_GNU_SOURCE", None);
    if !has_rtti {
        build.flag("-fno-rtti");
    }
    // For `cargo xtask sanitize`, whose programs have the functions of AddressSanitizer and UndefinedBehaviorSanitizer:
    // rustc's library is LLVM's, and has those that GCC's code calls. Those that need RTTI are not among them.
    println!("cargo::rerun-if-env-changed={SANITIZE}");
    if env::var_os(SANITIZE).is_some() {
        build
            .flag("-fsanitize=address,undefined")
            .flag("-fno-sanitize=vptr")
            .flag("-fno-sanitize-recover=undefined")
            .flag("-fno-omit-frame-pointer")
            // Reports name lines.
            .flag("-g1");
    }
    build.compile("cloom_llvm");
}
