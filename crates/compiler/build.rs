//! In come the sources of the built-in library; out goes the library as IR, a module for each function, and a
//! fingerprint of all inputs of code generation, so that the disk cache never returns code of another compiler: the
//! sources of the crates that kernels pass through, the versions of others, LLVM, and rustc. The fingerprint is a
//! BLAKE3 hash, the same wherever the same sources are built with the same tools.
//!
//! The library does not depend on programs or their options, so it is compiled here and not for each program.

use cloom_builtins::library::{FILES, GPU_FILES};
use cloom_clc::options::{BuildOptions, ClStd};
use cloom_clc::pp::NoIncludes;
use cloom_clc::{Input, Mode, Target};
use cloom_ir::{FuncRef, Function, Linkage, Module};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// The crates whose sources are hashed: this one and those that it uses. `cargo xtask tidy` checks the list.
const PARTS: &[&str] =
    &["target", "caps", "ir", "builtins", "clc", "spirv", "passes", "spmd", "llvm", "artifact", "compiler"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let root = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let mut hasher = blake3::Hasher::new();
    add(b"rustc", &rustc(), &mut hasher);
    // Set by the build script of `llvm`, which runs again when another LLVM is installed; this one then does too.
    let llvm = std::env::var("DEP_CLOOM_LLVM_VERSION").expect("the build script of cloom-llvm says it");
    add(b"llvm", llvm.as_bytes(), &mut hasher);
    for part in PARTS {
        let dir = Path::new(&root).join("..").join(part);
        for dir in [dir.join("src"), dir.join("lib")] {
            if dir.is_dir() {
                println!("cargo::rerun-if-changed={}", dir.display());
                add_folder(&dir, &mut hasher);
            }
        }
    }
    // What they are built with decides how entries are written.
    let lock = Path::new(&root).join("../../Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    add(b"lock", &std::fs::read(lock).unwrap_or_default(), &mut hasher);
    println!("cargo::rustc-env=CLOOM_FINGERPRINT={}", hasher.finalize().to_hex());
    let out = std::env::var("OUT_DIR").expect("cargo sets it");
    let (index, pieces) = library();
    std::fs::write(Path::new(&out).join("library.rs"), index).expect("the output folder is writable");
    std::fs::write(Path::new(&out).join("library.ir"), pieces).expect("the output folder is writable");
}

/// `rustc -vV`: version, commit and host.
fn rustc() -> Vec<u8> {
    let rustc = std::env::var_os("RUSTC").expect("cargo sets it");
    Command::new(rustc).arg("-vV").output().expect("cargo just ran it").stdout
}

/// Hashes a named text with its length, so that different sequences of texts differ.
fn add(name: &[u8], text: &[u8], hasher: &mut blake3::Hasher) {
    for bytes in [name, text] {
        hasher.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    }
}

/// Adds the files of a folder, in the order of their names.
fn add_folder(dir: &Path, hasher: &mut blake3::Hasher) {
    let entries = std::fs::read_dir(dir).unwrap_or_else(|e| panic!("cannot list {}: {e}", dir.display()));
    let mut paths: Vec<_> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            add_folder(&path, hasher);
        } else {
            let text = std::fs::read(&path).unwrap_or_else(|e| panic!("cannot read {}: {e}", path.display()));
            add(path.file_name().unwrap_or_default().as_encoded_bytes(), &text, hasher);
        }
    }
}

/// An array of names with the offsets of their modules, as Rust code, and the modules. What replaces a function on GPUs
/// has the same name after a prefix.
fn library() -> (String, Vec<u8>) {
    let mut all = BTreeMap::new();
    let files = FILES.iter().map(|file| ("", file)).chain(GPU_FILES.iter().map(|file| ("gpu/", file)));
    for (prefix, (name, text)) in files {
        let mut module = compile(name, text);
        cloom_passes::prepare(&mut module);
        for (function, piece) in split(name.trim_end_matches(".cl"), module) {
            let bytes = postcard::to_stdvec(&piece).expect("plain data");
            let before = all.insert(format!("{prefix}{function}"), bytes);
            assert!(before.is_none(), "{function} is defined twice");
        }
    }
    let (mut index, mut pieces) = (String::from("&["), Vec::new());
    for (function, bytes) in all {
        let begin = pieces.len();
        pieces.extend(bytes);
        index.push_str(&format!("({function:?}, {begin}, {}),\n", pieces.len()));
    }
    index.push(']');
    (index, pieces)
}

fn compile(name: &str, text: &str) -> Module {
    let options = BuildOptions { std: Some(ClStd::Cl3_0), ..BuildOptions::default() };
    let target = Target { fp16: true, ..Target::default() };
    let input = Input { name, source: text.as_bytes(), headers: &mut NoIncludes, options: &options, target: &target };
    let output = cloom_clc::compile(input, Mode::Library);
    let log = output.log();
    let module = output.module.unwrap_or_else(|| panic!("the built-in library does not compile:\n{log}"));
    if let Some(e) = cloom_ir::verify(&module).first() {
        panic!("{name}: the front end made invalid code: {e}");
    }
    module
}

/// A module for each function that is visible outside of its file. Internal functions get the file's name as a prefix,
/// as they are looked up by name from now on.
fn split(file: &str, mut module: Module) -> Vec<(String, Module)> {
    let roots = module.funcs.iter().filter(|(_, f)| !f.is_declaration() && f.linkage != Linkage::Internal);
    let mut wanted: Vec<FuncRef> = roots.map(|(r, _)| r).collect();
    let mut next = 0;
    while let Some(&f) = wanted.get(next) {
        for callee in module.funcs[f].callees() {
            if !module.funcs[callee].is_declaration() && !wanted.contains(&callee) {
                // An internal function of the file may be called by several pieces: each gets it from a piece of its
                // own.
                wanted.push(callee);
            }
        }
        next += 1;
    }
    for f in module.funcs.values_mut().filter(|f| f.linkage == Linkage::Internal) {
        f.name = format!("{file}.{}", f.name);
        f.linkage = Linkage::Builtin;
    }
    // The bodies are taken out after the renaming, so that they have the new names and linkage.
    let bodies: Vec<(FuncRef, Function)> = wanted.iter().map(|&r| (r, module.funcs[r].clone())).collect();
    // One body at a time is put into a module of declarations, from which it imports what it uses.
    for f in module.funcs.values_mut() {
        let mut declaration = Function::new(f.name.clone(), f.params.clone(), f.ret);
        (declaration.linkage, declaration.noinline) = (f.linkage, f.noinline);
        *f = declaration;
    }
    let piece = |(r, body): (FuncRef, Function)| {
        let name = body.name.clone();
        let declaration = std::mem::replace(&mut module.funcs[r], body);
        let mut piece = Module::new();
        piece.import(&module, [r]).expect("one module agrees with itself");
        module.funcs[r] = declaration;
        (name, piece)
    };
    bodies.into_iter().map(piece).collect()
}
