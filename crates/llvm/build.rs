//! Links LLVM 19 statically: asks `llvm-config-19` for the libraries of the few components that are used.
//!
//! The bindings crate can link LLVM itself, but only all of it, which makes the driver a sixth larger.

use std::path::PathBuf;
use std::process::Command;

const COMPONENTS: &[&str] = &["x86", "passes", "bitwriter"];

fn main() {
    println!("cargo::rerun-if-env-changed=LLVM_SYS_191_PREFIX");
    println!("cargo::rerun-if-changed=build.rs");
    let prefix =
        std::env::var_os("LLVM_SYS_191_PREFIX").map_or_else(|| PathBuf::from("/usr/lib/llvm-19"), PathBuf::from);
    let config = prefix.join("bin/llvm-config");
    let ask = |args: &[&str]| {
        let output = Command::new(&config).args(args).output().unwrap_or_else(|e| {
            panic!("cannot run {}: {e}; install llvm-19-dev, or set LLVM_SYS_191_PREFIX", config.display())
        });
        assert!(output.status.success(), "{} {args:?} failed", config.display());
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    println!("cargo::rustc-link-search=native={}", ask(&["--libdir"]));
    let mut components = COMPONENTS.to_vec();
    if std::env::var_os("CARGO_FEATURE_AARCH64").is_some() {
        components.push("aarch64");
    }
    let libs = ask(&[&["--link-static", "--libs"], &components[..]].concat());
    for lib in libs.split_whitespace().filter_map(|l| l.strip_prefix("-l")) {
        println!("cargo::rustc-link-lib=static={lib}");
    }
    for lib in ["z", "zstd"] {
        println!("cargo::rustc-link-lib=static={lib}");
    }
    println!("cargo::rustc-link-search=native=/usr/lib/x86_64-linux-gnu");
    println!("cargo::rustc-link-lib=dylib=stdc++");
}
