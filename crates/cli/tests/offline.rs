//! Offline compilation: `compile -c`, `link`, `library` and `offline-compile`, and what they refuse.

mod common;

use common::Bench;

const TWICE: &str = "int twice(int x) { return 2 * x; }";
const USE: &str =
    "int twice(int); kernel void use(global int *p) { p[get_global_id(0)] = twice(p[get_global_id(0)]); }";

/// With two sources that need each other.
fn bench() -> Bench {
    let b = Bench::new();
    b.file("twice.cl", TWICE);
    b.file("use.cl", USE);
    b
}

#[test]
fn sources_become_objects_a_library_and_a_program() {
    let b = bench();
    let ran = b.cloom("compile -c use.cl twice.cl").expect(0);
    assert!(ran.out.contains("kernel use; wrote use.clo") && ran.out.contains("no kernel; wrote twice.clo"), "{ran:?}");
    b.cloom("library twice.clo -o twice.clbin").expect(0);
    b.cloom("link use.clo twice.clbin -o program.clbin").expect(0);
    let json = b.cloom("link use.clo twice.clo -o again.clbin -cl-denorms-are-zero --json").expect(0).json();
    assert_eq!((&json["kind"], &json["output"]), (&"executable".into(), &"again.clbin".into()));
    assert_eq!(json["kernels"][0]["name"], "use");
    let asm = b.cloom("compile program.clbin --emit asm").expect(0);
    assert!(asm.out.contains("use"), "{asm:?}");
    let json =
        b.cloom("library twice.clo -o l.clbin -enable-link-options -cl-fast-relaxed-math --json").expect(0).json();
    assert_eq!((&json["kind"], &json["outputs"]), (&"library".into(), &serde_json::json!(["l.clbin"])));
    let out = b.cloom("link use.clo twice.clo -o -").expect(0).out;
    assert!(out.starts_with("CLOOM\0"), "the binary goes to the standard output");
}

#[test]
fn one_file_with_errors_does_not_keep_others_from_being_written() {
    let b = bench();
    b.file("bad.cl", "kernel void f() { nothing(; }");
    let ran = b.cloom("compile -c bad.cl twice.cl --json").expect(1).json();
    assert_eq!((&ran["ok"], &ran["outputs"]), (&false.into(), &serde_json::json!(["twice.clo"])));
    assert!(ran["log"].as_str().unwrap().contains("bad.cl:1:"), "{ran}");
    assert!(b.path("twice.clo").exists() && !b.path("bad.clo").exists());
}

#[test]
fn what_cannot_be_linked_is_refused_with_a_reason() {
    let b = bench();
    b.cloom("compile -c use.cl twice.cl").expect(0);
    let undefined = b.cloom("link use.clo -o x.clbin").expect(1);
    assert!(undefined.err.contains("`twice` is called but defined nowhere"), "{undefined:?}");
    let twice = b.cloom("link use.clo twice.clo twice.clo -o x.clbin").expect(1);
    assert!(twice.err.contains("twice"), "{twice:?}");
    let source = b.cloom("link use.clo twice.cl -o x.clbin").expect(2);
    assert!(source.err.contains("twice.cl: not compiled yet; compile it with `cloom compile -c`"), "{source:?}");
    b.cloom("link use.clo twice.clo -o x.clbin").expect(0);
    let linked = b.cloom("link x.clbin twice.clo -o y.clbin").expect(2);
    assert!(linked.err.contains("x.clbin: linked already"), "{linked:?}");
    let option = b.cloom("link use.clo twice.clo -o y.clbin -DX=1").expect(2);
    assert!(option.err.contains("build option `-D` is not for linking"), "{option:?}");
    b.cloom("link use.clo twice.clo").expect(2);
    assert!(!b.path("y.clbin").exists());
    b.cloom("compile -c use.cl twice.cl -o one.clo").expect(2);
}

#[test]
fn a_file_that_is_no_binary_of_this_version_is_named() {
    let b = bench();
    b.cloom("compile -c twice.cl").expect(0);
    let good = std::fs::read(b.path("twice.clo")).unwrap();
    let refused = |bytes: &[u8]| {
        std::fs::write(b.path("x.clo"), bytes).unwrap();
        b.cloom("link x.clo -o y.clbin").expect(2).err
    };
    let mut version = good.clone();
    version[7] ^= 1;
    assert!(refused(&version).contains("has format version"), "{}", refused(&version));
    let mut changed = good.clone();
    *changed.last_mut().unwrap() ^= 1;
    assert!(refused(&changed).contains("damaged or cut short"));
    assert!(refused(&good[..good.len() - 1]).contains("damaged or cut short"));
    assert!(refused(b"\x7fELF\x02\x01\x01\0\0\0").contains("it is an ELF object"));
    assert!(refused(b"BC\xc0\xde\0\0\0\0").contains("it is LLVM's bitcode"));
    assert!(!b.path("y.clbin").exists());
}

#[test]
fn code_is_made_for_processors_that_this_one_is_not() {
    let b = Bench::new();
    let asm = |cpu: &str| b.cloom(&format!("compile kernels.cl -k saxpy --emit asm --cpu {cpu}")).expect(0).out;
    if cfg!(target_arch = "x86_64") {
        assert!(asm("sse4.2").contains("%xmm") && asm("avx2").contains("%ymm") && asm("avx512").contains("%zmm"));
        for cpu in ["sse4.2", "avx2", "avx512"] {
            b.cloom(&format!("compile kernels.cl -k saxpy --emit object --cpu {cpu} -o {cpu}.o")).expect(0);
            let bytes = std::fs::read(b.path(&format!("{cpu}.o"))).unwrap();
            assert_eq!(&bytes[..4], b"\x7fELF");
        }
    }
}

#[test]
fn the_conformance_tests_find_their_offline_compiler() {
    let b = bench();
    b.file("device.txt", "# OpenCL device info\nCL_DEVICE_ADDRESS_BITS=64\nCL_DEVICE_EXTENSIONS=\"cl_khr_fp64\"\n");
    b.file("old.txt", "CL_DEVICE_ADDRESS_BITS=32\n");
    let compile = |rest: &str| b.cloom(&format!("offline-compile --cl-device-info=device.txt {rest}"));
    let ran = compile("--mode=binary --source=kernels.cl --output=k -- -cl-std=CL3.0 -DN=4 -cl-fp64-enable").expect(0);
    assert!(ran.out.is_empty(), "{ran:?}");
    assert!(b.cloom("compile k --emit none").expect(0).out.contains("2 kernels: saxpy, total"));
    // A part of a program stays one.
    compile("--mode=binary --source=use.cl --output=use").expect(0);
    b.cloom("compile -c twice.cl").expect(0);
    b.cloom("link use twice.clo -o program.clbin").expect(0);
    b.file("bad.cl", "kernel void f() { nothing(; }");
    let bad = compile("--mode=binary --source=bad.cl --output=bad").expect(1);
    assert!(bad.err.contains("bad.cl:1:") && !b.path("bad").exists(), "{bad:?}");
    assert!(
        compile("--mode=binary --source=kernels.cl --output=k -- -cl-nothing").expect(2).err.contains("-cl-nothing")
    );
    assert!(compile("--mode=spir-v --source=kernels.cl --output=k").expect(2).err.contains("writes none"));
    let old =
        b.cloom("offline-compile --cl-device-info=old.txt --mode=binary --source=kernels.cl --output=k").expect(2);
    assert!(old.err.contains("32 bits"), "{old:?}");
}

#[test]
fn completions_and_manual_pages_know_the_commands() {
    let b = Bench::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = b.cloom(&format!("completions {shell}")).expect(0).out;
        assert!(script.contains("compile") && script.contains("doctor"), "{shell}: {script}");
    }
    b.cloom("completions ksh").expect(2);
    std::fs::create_dir(b.path("man")).unwrap();
    b.cloom("man man").expect(0);
    let page = |name: &str| std::fs::read_to_string(b.path("man").join(name));
    assert!(
        page("cloom.1").unwrap().contains("compile") && page("cloom-compile.1").unwrap().contains("instruction set")
    );
    assert!(page("cloom-probe.1").is_err(), "commands for the program's own use have no page");
    b.cloom("man nowhere").expect(2);
}

#[test]
fn a_rule_for_make_names_all_included_files() {
    let b = Bench::new();
    std::fs::create_dir(b.path("inc")).unwrap();
    b.file("inc/a.h", "#include \"b.h\"\n#include \"b.h\"\n");
    b.file("inc/b.h", "#define B 1\n");
    b.file("k.cl", "#include <a.h>\nkernel void k(global int *p) { p[0] = B; }");
    b.cloom("compile k.cl -I inc -MD").expect(0);
    let read = |name: &str| std::fs::read_to_string(b.path(name)).unwrap();
    assert_eq!(read("k.d"), "k.clbin: k.cl inc/a.h inc/b.h\n\ninc/a.h:\n\ninc/b.h:\n");
    b.cloom("compile -c k.cl kernels.cl -I inc -MD").expect(0);
    assert!(read("k.d").starts_with("k.clo: k.cl inc/a.h") && read("kernels.d") == "kernels.clo: kernels.cl\n");
    b.cloom("compile k.cl -I inc -MD -MF rule -o out.clbin").expect(0);
    assert!(read("rule").starts_with("out.clbin: k.cl "));
    b.cloom("compile k.cl -I inc -MD --emit none").expect(2);
    b.cloom("compile -c k.cl kernels.cl -I inc -MF rule").expect(2);
}
