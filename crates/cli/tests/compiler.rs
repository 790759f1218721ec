//! `compile` and `show`: their output, their exit status, and their errors for bad input.

mod common;

use common::{Bench, KERNELS};

#[test]
fn compiling_writes_a_binary_that_links_and_compiles_again() {
    let b = Bench::new();
    let ran = b.cloom("compile kernels.cl").expect(0);
    assert!(ran.out.contains("2 kernels: saxpy, total; wrote kernels.clbin"), "{ran:?}");
    let asm = b.cloom("compile kernels.clbin --emit asm -k saxpy --cpu sse4.2").expect(0);
    assert!(asm.out.contains("%xmm") && !asm.out.contains("vmov"), "{}", asm.out);
    b.file("other.cl", "int twice(int); kernel void use(global int *p) { p[0] = twice(p[0]); }");
    b.file("twice.cl", "int twice(int x) { return 2 * x; }");
    let alone = b.cloom("compile other.cl").expect(1);
    assert!(alone.err.contains("`twice` is called but defined nowhere"), "{alone:?}");
    b.cloom("compile other.cl twice.cl -o both.clbin").expect(0);
    b.cloom("compile --no-link other.cl -o other.clbin").expect(0);
    b.cloom("compile --library twice.cl -o twice.clbin").expect(0);
    b.cloom("compile other.clbin twice.clbin --emit none").expect(0);
    std::fs::write(b.path("bad.clbin"), [b"CLOOM\0".as_slice(), &[0; 100]].concat()).unwrap();
    assert!(b.cloom("compile bad.clbin").expect(2).err.contains("compile its source again"));
}

#[test]
fn spirv_is_taken_where_source_is() {
    let b = Bench::new();
    let modules = concat!(env!("CARGO_MANIFEST_DIR"), "/../spirv/tests/modules");
    std::fs::copy(format!("{modules}/arith.spv"), b.path("arith.spv")).unwrap();
    let ran = b.cloom("compile arith.spv").expect(0);
    assert!(ran.out.contains("5 kernels: integers, floats, vectors, control, records; wrote arith.clbin"), "{ran:?}");
    let shown = b.cloom("show arith.spv -k control --stage source --stage ir").expect(0);
    assert!(shown.out.contains("SPIR-V of ") && shown.out.contains("func external @control"), "{}", shown.out);
    let mut bytes = std::fs::read(b.path("arith.spv")).unwrap();
    bytes.truncate(bytes.len() / 8 * 4);
    std::fs::write(b.path("cut.spv"), bytes).unwrap();
    assert!(b.cloom("compile cut.spv --emit none").expect(1).err.contains("error: "));
}

#[test]
fn the_environment_that_changes_code_changes_what_is_written() {
    const ROWS: &str = "kernel void rows(global const float *a, global float *out, int n) {
        float sum = 0;
        for (int i = 0; i < n; i++) sum += a[get_global_id(0) * (size_t)n + i];
        out[get_global_id(0)] = sum;
    }";
    let asm = |b: Bench| {
        b.file("rows.cl", ROWS);
        b.cloom("compile rows.cl --emit asm --cpu avx2 -o -").expect(0).out
    };
    let default = asm(Bench::new());
    assert!(default.contains("%ymm"), "{default}");
    assert!(!asm(Bench::new().set("CLOOM_LANES", "1")).contains("%ymm"));
    assert_ne!(asm(Bench::new().set("CLOOM_DISABLE", "row-transpose")), default);
}

#[test]
fn build_options_reach_the_compiler() {
    let b = Bench::new();
    std::fs::create_dir(b.path("inc")).unwrap();
    b.file("inc/size.h", "#define SIZE 4\n");
    b.file("o.cl", "#include <size.h>\nkernel void k(global int *p) { int a[SIZE == N ? 1 : -1]; p[0] = sizeof a; }");
    b.cloom("compile o.cl -I inc -DN=4 -cl-std=CL1.2 --emit none").expect(0);
    b.cloom("compile o.cl -Iinc -D N=5 --emit none").expect(1);
    let unknown = b.cloom("compile o.cl -cl-foo").expect(2);
    assert!(unknown.err.contains("unknown build option `-cl-foo`"), "{unknown:?}");
    let vendor = b.cloom("compile o.cl -- -vendor-thing").expect(2);
    assert!(vendor.err.contains("`-vendor-thing`"), "{vendor:?}");
}

#[test]
fn errors_are_findings_with_a_place_and_json_has_them_too() {
    let b = Bench::new();
    b.file("bad.cl", "kernel void f(global int *p) { p[0] = nothing; }");
    let text = b.cloom("compile bad.cl").expect(1);
    assert!(text.err.contains("bad.cl:1:") && text.err.contains("nothing") && text.out.is_empty(), "{text:?}");
    assert!(!b.path("bad.clbin").exists());
    let json = b.cloom("compile bad.cl --json").expect(1).json();
    assert_eq!((&json["schema"], &json["ok"]), (&"cloom-compile/1".into(), &false.into()));
    assert!(json["log"].as_str().unwrap().contains("nothing"));
    let good = b.cloom("compile kernels.cl --json").expect(0).json();
    assert_eq!(good["kernels"][0]["params"][2]["type"], "float");
    assert_eq!(good["output"], "kernels.clbin");
}

#[test]
fn bad_input_is_wrong_use() {
    let b = Bench::new();
    for line in [
        "compile",
        "compile nowhere.cl",
        "compile .",
        "compile kernels.cl --emit asm --cpu mmx",
        "compile kernels.cl --emit asm -k nothing",
        "compile kernels.cl --emit object",
        "compile kernels.cl -o /nowhere/x",
        "compile kernels.cl kernels.cl --no-link",
        "show",
        "show nothing",
        "show kernels.cl",
        "show kernels.cl -k nothing",
        "show kernels.cl -k saxpy --stage nothing",
        "nothing",
    ] {
        let ran = b.cloom(line).expect(2);
        assert!(!ran.err.is_empty() && ran.out.is_empty(), "{line}: {ran:?}");
    }
    b.file("garbage.cl", "\u{1}\u{2} }{ ((((");
    b.cloom("compile garbage.cl").expect(1);
    b.file("empty.cl", "");
    assert!(b.cloom("compile empty.cl --emit none").expect(0).out.contains("no kernel"));
    let json = b.cloom("compile nowhere.cl --json").expect(2).json();
    assert_eq!(json["schema"], "cloom-error/1");
}

#[test]
fn show_has_every_stage_of_one_kernel() {
    let b = Bench::new();
    let json = b.cloom("show kernels.cl -k total --json").expect(0).json();
    let names: Vec<&str> = json["stages"].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect();
    for stage in ["source", "ir", "library", "mem2reg", "spmd", "llvm", "llvm-optimised", "asm"] {
        assert!(names.contains(&stage), "{stage} is not among {names:?}");
    }
    assert_eq!(json["stages"][0]["text"], KERNELS);
    let times = json["times"].as_array().unwrap();
    let ms = |t: &serde_json::Value| t["ms"].as_f64().unwrap();
    let total = json["total_ms"].as_f64().unwrap();
    assert!(times.iter().map(ms).sum::<f64>() <= total, "{times:?} in {total} ms");
    let measured: Vec<&str> = times.iter().filter(|t| ms(t) > 0.0).map(|t| t["stage"].as_str().unwrap()).collect();
    for stage in
        ["preprocess", "parse", "sema", "lower", "library", "mem2reg", "spmd", "llvm ir", "llvm passes", "llvm codegen"]
    {
        assert!(measured.contains(&stage), "{stage} is not among {measured:?}");
    }
    // It sums up in local memory: vectors are as long as the rows of its groups.
    let lanes =
        |row: &str| b.cloom(&format!("show kernels.cl -k total --json {row}")).expect(0).json()["lanes"].as_u64();
    assert!(lanes("") >= Some(8));
    assert_eq!(lanes("--row 7"), Some(8));
    b.cloom("show kernels.cl -k total --row 0").expect(2);
    // The remarks are about the barrier and the branch after it.
    let remarks = json["remarks"].as_array().unwrap();
    assert!(remarks.iter().any(|r| r["what"].as_str().unwrap().starts_with("barrier")), "{remarks:?}");
    assert!(remarks.iter().any(|r| r["place"].as_str().unwrap().starts_with("kernels.cl:")), "{remarks:?}");
    // Each has its fields.
    let barrier = remarks.iter().find(|r| r["operation"] == "barrier").unwrap();
    assert_eq!((&barrier["form"]["code"], &barrier["form"]["number"]), (&"continuation".into(), &1.into()));
    assert_eq!(barrier["reason"], "saved-values");
    let width = remarks.iter().find(|r| r["operation"] == "width").unwrap();
    assert_eq!((&width["form"]["code"], &width["form"]["number"]), (&"vectors".into(), &json["lanes"]));
    assert!(width["cost"].is_u64() && width["alternative"]["cost"].is_u64(), "{width:?}");
    let load = remarks.iter().find(|r| r["operation"] == "load" && r["array"].is_string()).unwrap();
    assert!(load["shape"].is_string() && load["cost"].is_u64(), "{load:?}");
}

#[test]
fn remarks_name_private_arrays_also_those_of_inlined_functions() {
    let b = Bench::new();
    let source = "float pick(constant float *from, int n, int i) {
    float taps[8];
    for (int j = 0; j < n; j++) taps[j & 7] = from[j];
    return taps[i & 7];
}
kernel void k(constant float *from, global float *p, int n) {
    float own[16];
    for (int j = 0; j < n; j++) own[p[j] > 0 ? j & 15 : 0] = p[j];
    p[get_global_id(0)] = own[n & 15] + pick(from, n, (int)get_global_id(0));
}";
    b.file("arrays.cl", source);
    let json = b.cloom("show arrays.cl --json --stage remarks").expect(0).json();
    let remarks = json["remarks"].as_array().unwrap();
    let named = |name: &str| remarks.iter().any(|r| r["array"] == name);
    assert!(["own", "taps", "from", "p"].into_iter().all(named), "{remarks:?}");
}

#[test]
fn show_can_be_limited_to_stages_and_to_times() {
    let b = Bench::new();
    let spmd = b.cloom("show kernels.cl -k saxpy --stage spmd").expect(0).out;
    assert!(spmd.contains("func external @saxpy.wg") && !spmd.contains("──── ir"), "{spmd}");
    let times = b.cloom("show kernels.cl -k saxpy --time").expect(0).out;
    assert!(times.contains("\npreprocess ") && times.contains("\nllvm codegen ") && !times.contains("────"), "{times}");
    let gallery = b.cloom("show mandel --stage source").expect(0).out;
    assert!(gallery.contains("mandel_ocl"), "{gallery}");
}
