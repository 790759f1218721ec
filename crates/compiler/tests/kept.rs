//! What the disk cache has of a source that was compiled before, and when it does not count.

mod common;

use cloom_compiler::{Compilation, Compiler, Config, Header, Il, Source};
use cloom_target::Target;
use std::path::Path;
use std::sync::Arc;

/// A compiler of a process that begins.
fn compiler(dir: &Path) -> Arc<Compiler> {
    Compiler::new(Config { cache_dir: Some(dir.join("cache")), ..Config::default() })
}

/// Whether the front end had nothing to do.
fn is_kept(compilation: &Compilation) -> bool {
    compilation.times.iter().any(|time| time.stage == "cache")
}

/// Compiles in a new process: whether it was kept. The IR is that of a compiler without a cache.
fn build(dir: &Path, text: &str, options: &str) -> bool {
    let source = Source { name: "test.cl", text: text.as_bytes() };
    let [built, expected] = [compiler(dir), common::compiler()].map(|c| c.build(&source, options, &Target::generic()));
    assert_eq!((built.result.clone().ok(), &built.log), (expected.result.ok(), &expected.log));
    is_kept(&built)
}

const PLAIN: &str = "kernel void k(global int *p) { p[get_global_id(0)] += N; }";

#[test]
fn a_source_is_compiled_once_for_the_same_options() {
    let dir = tempfile::tempdir().unwrap();
    let kept = |text: &str, options| build(dir.path(), text, options);
    assert_eq!([kept(PLAIN, "-DN=1"), kept(PLAIN, "-DN=1"), kept(PLAIN, "-DN=2")], [false, true, false]);
    assert!(!kept(&PLAIN.replace('+', "-"), "-DN=1"));
    assert!(!kept(PLAIN, "-DN=1 -cl-fast-relaxed-math"));
    // What the front end says is said again.
    let warns = "kernel void k(global int *p) { int unused; if (p = p) p[0] = 1; }";
    assert_eq!(
        [kept(warns, ""), kept(warns, ""), kept("kernel void k( {", ""), kept("kernel void k( {", "")],
        [false; 4]
    );
    assert_eq!([kept(warns, "-w"), kept(warns, "-w")], [false, true]);
}

#[test]
fn a_changed_header_counts_and_so_does_one_that_is_found_before() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::create_dir(at("first")).unwrap();
    std::fs::create_dir(at("second")).unwrap();
    let write = |name: &str, n: u32| std::fs::write(at(name), format!("#define N {n}\n")).unwrap();
    let text = format!("#include \"n.h\"\n{PLAIN}");
    let options = format!("-I {} -I {}", at("first").display(), at("second").display());
    let kept = || build(dir.path(), &text, &options);
    // None: an error.
    assert_eq!([kept(), kept()], [false, false]);
    write("second/n.h", 1);
    assert_eq!([kept(), kept()], [false, true]);
    write("second/n.h", 2);
    assert_eq!([kept(), kept()], [false, true]);
    write("first/n.h", 2);
    assert_eq!([kept(), kept()], [false, true]);
    std::fs::remove_file(at("first/n.h")).unwrap();
    std::fs::remove_file(at("second/n.h")).unwrap();
    assert_eq!([kept(), kept()], [false, false]);
}

#[test]
fn headers_of_the_application_count() {
    let dir = tempfile::tempdir().unwrap();
    let text = format!("#include <n.h>\n{PLAIN}");
    let kept = |n: u32| {
        let headers = [Header { name: "n.h".into(), text: format!("#define N {n}\n").into_bytes() }];
        let source = Source { name: "test.cl", text: text.as_bytes() };
        let built = compiler(dir.path()).compile(&source, "", &headers, &Target::generic());
        let ir = built.result.as_ref().unwrap().module().to_string();
        assert!(ir.contains(&format!("const 0x{n} !")), "{ir}");
        is_kept(&built)
    };
    assert_eq!([kept(1), kept(1), kept(2), kept(2)], [false, true, false, true]);
}

#[test]
fn spirv_is_kept_with_its_constants() {
    let dir = tempfile::tempdir().unwrap();
    let binary = include_bytes!("../../spirv/tests/modules/groups.spv");
    let kept = |constants: &[(u32, Vec<u8>)]| {
        let il = Il { binary, constants };
        let [built, expected] =
            [compiler(dir.path()), common::compiler()].map(|c| c.build_il(il, "", &Target::generic()));
        assert!(built.result.is_ok(), "{}", built.log);
        assert_eq!(built.result.clone().ok(), expected.result.ok());
        is_kept(&built)
    };
    assert_eq!([kept(&[]), kept(&[]), kept(&[(99, vec![1])]), kept(&[(99, vec![1])])], [false, true, false, true]);
}

#[test]
fn a_damaged_entry_is_as_none() {
    let dir = tempfile::tempdir().unwrap();
    assert!(!build(dir.path(), PLAIN, "-DN=1"));
    for file in std::fs::read_dir(dir.path().join("cache")).unwrap().map(|file| file.unwrap().path()) {
        let mut bytes = std::fs::read(&file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(file, bytes).unwrap();
    }
    assert_eq!([build(dir.path(), PLAIN, "-DN=1"), build(dir.path(), PLAIN, "-DN=1")], [false, true]);
}
