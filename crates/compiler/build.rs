//! A fingerprint of everything that decides which code a kernel gets, so that the disk cache never gives code of another compiler.

use std::hash::{DefaultHasher, Hasher};
use std::path::Path;

/// Folders of the workspace whose sources decide.
const PARTS: &[&str] = &["ir", "builtins", "passes", "spmd", "llvm", "artifact", "compiler"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let root = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let mut hasher = DefaultHasher::new();
    for part in PARTS {
        for sub in ["src", "lib"] {
            let dir = Path::new(&root).join("..").join(part).join(sub);
            if dir.is_dir() {
                println!("cargo::rerun-if-changed={}", dir.display());
                add(&dir, &mut hasher);
            }
        }
    }
    println!("cargo::rustc-env=CLOOM_FINGERPRINT={:016x}", hasher.finish());
}

fn add(dir: &Path, hasher: &mut DefaultHasher) {
    let mut paths: Vec<_> = std::fs::read_dir(dir).into_iter().flatten().filter_map(|e| Some(e.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            add(&path, hasher);
        } else {
            hasher.write(path.file_name().unwrap_or_default().as_encoded_bytes());
            hasher.write(&std::fs::read(&path).unwrap_or_default());
        }
    }
}
