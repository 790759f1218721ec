//! `run` on Cloom's own driver, which is in the program's folder: programs of the gallery, kernels of files, exit
//! status, bad input.

mod common;

use common::Bench;

#[test]
fn a_program_of_the_gallery_runs_is_checked_and_leaves_a_picture() {
    let b = Bench::new();
    let ran = b.cloom("run -k mandel -s 64 -i 3 -tw 8 -th 4 --verify --platform cloom --output m.png").expect(0);
    assert!(ran.out.contains("passed") && ran.out.contains("Cloom") && ran.out.contains("8x4"), "{}", ran.out);
    assert!(std::fs::read(b.path("m.png")).unwrap().starts_with(b"\x89PNG"));
    b.cloom("run -k mandel -s 32 -i 1 -n").expect(0);
    assert!(!b.path("mandel-ocl.png").exists());
    b.cloom("run -k mandel -s 32 -i 1").expect(0);
    assert!(b.path("mandel-ocl.png").exists());
}

#[test]
fn json_has_the_times_of_a_right_result() {
    let b = Bench::new();
    let json = b.cloom("run -k histogram -v serial -s 64 -i 4 -n --json").expect(0).json();
    assert_eq!(json["schema"], "cloom-run/1");
    assert_eq!((&json["passed"], &json["variant"]), (&true.into(), &"serial".into()));
    assert_eq!(json["wall"]["runs"], 3);
    assert!(json["wall"]["median_ms"].as_f64().unwrap() > 0.0 && json["first_ms"].as_f64().unwrap() > 0.0);
}

#[test]
fn lists_name_programs_variants_and_knobs() {
    let b = Bench::new();
    let out = b.cloom("run -lk").expect(0).out;
    assert!(out.contains("mandel") && out.contains("histogram"));
    let out = b.cloom("run -lv histogram").expect(0).out;
    assert!(out.contains("-v serial") && out.contains("-c banks=") && !out.contains("mandel"));
    assert!(b.cloom("run -k lu -lv").expect(0).out.starts_with("lu"));
    let json = b.cloom("run -lk --json").expect(0).json();
    assert!(json["programs"].as_array().unwrap().len() >= 10);
}

#[test]
fn a_kernel_of_a_file_runs_on_described_arguments() {
    let b = Bench::new();
    let ran = b.cloom("run kernels.cl -k saxpy --arg y=8:index --arg x=8:1 --arg 2 --verify --print 8").expect(0);
    assert!(ran.out.contains("passed") && ran.out.contains("2 3 4 5 6 7 8 9"), "{}", ran.out);
    let json = b
        .cloom("run kernels.cl -k total --arg 64:index --arg 4 --arg 16 --global 64 --local 16 --verify --json")
        .expect(0)
        .json();
    let out = &json["buffers"][1];
    assert_eq!((&out["name"], &out["changed"]), (&"out".into(), &true.into()));
    assert_eq!(out["first"], serde_json::json!(["120", "376", "632", "888"]));
    assert_eq!(json["buffers"][0]["changed"], false);
    b.cloom("run kernels.cl -k saxpy --arg 4:3 --arg 4:1 --arg -1 --output y.bin").expect(0);
    assert_eq!(std::fs::read(b.path("y.bin")).unwrap(), 2.0f32.to_le_bytes().repeat(4));
}

#[test]
fn a_kernel_can_paint_and_its_build_options_count() {
    let b = Bench::new();
    b.file(
        "p.cl",
        "kernel void paint(global uint *p) {
            p[get_global_id(1) * get_global_size(0) + get_global_id(0)] = COLOUR;
        }",
    );
    b.cloom("run p.cl -s 8x4 --arg 32 -DCOLOUR=0xff0000ff --output p.png").expect(0);
    assert!(std::fs::read(b.path("p.png")).unwrap().starts_with(b"\x89PNG"));
    b.cloom("run p.cl -s 8x4 --arg 32").expect(1);
}

#[test]
fn an_access_out_of_bounds_is_found_before_the_device_runs_it() {
    let b = Bench::new();
    let ran = b.cloom("run kernels.cl -k saxpy --arg 8 --arg 7 --arg 1 --verify").expect(1);
    assert!(ran.err.contains("kernels.cl") && ran.err.contains("line 3"), "{ran:?}");
    assert!(ran.err.contains("not run on the device"), "{ran:?}");
}

/// Writes to an address that no process has, unless the argument is 0.
const FAULTY: &str = "kernel void far(global int *p, ulong n) {
    p[get_global_id(0) + n] = 1;
}
";

#[test]
fn a_kernel_that_ends_its_process_is_named() {
    let b = Bench::new();
    b.file("f.cl", FAULTY);
    let far = "run f.cl --arg 8 --arg 0x400000000000";
    let ran = b.cloom(far).expect(1);
    for word in ["kernel `far` of f.cl", "segmentation fault", "--verify"] {
        assert!(ran.err.contains(word), "{word}: {ran:?}");
    }
    let json = b.cloom(&format!("{far} --json")).expect(1).json();
    assert_eq!(json["schema"], "cloom-error/1");
    assert!(json["error"].as_str().unwrap().contains("kernel `far`"), "{json}");
    // What the message promises.
    let ran = b.cloom(&format!("{far} --verify")).expect(1);
    assert!(ran.err.contains("line 2") && ran.err.contains("work-item [0, 0, 0]"), "{ran:?}");
    b.cloom("run f.cl --arg 8 --arg 0 --verify").expect(0);
}

#[test]
fn what_depends_on_unwritten_memory_has_no_expected_value() {
    let b = Bench::new();
    b.file(
        "u.cl",
        "kernel void u(global int *out, local int *t) {
            int i = get_global_id(0), a[4];
            a[1] = 5;
            if (i == 2) t[2] = 7;
            out[i] = i == 3 ? 9 : i == 1 ? a[i & 3] : t[i] + a[i];
        }",
    );
    let ran = b.cloom("run u.cl --arg 4 --arg 4 --local 4 --verify").expect(1);
    let check = ran.out.lines().find(|l| l.contains("check")).unwrap();
    assert!(check.contains("out[0] and 1 more have no defined value"), "{check}");
    assert!(check.contains("u.cl, line 5 column") && check.contains("work-item [0, 0, 0]"), "{check}");
    // Neither the interpreter's fill byte nor its complement is shown as a value, as a number or in bytes.
    for fill in [0xa5a5_a5a5_u32, 0x5a5a_5a5a, 0x4b4b_4b4a, 0xb4b4_b4b4] {
        assert!(!check.contains(&(fill as i32).to_string()), "{check}");
    }
    // An unwritten value that does not affect the result causes no warning.
    b.file("v.cl", "kernel void v(global int *out) { int a[2]; a[0] = 3; int s = a[1]; out[0] = s & 0; }");
    let ran = b.cloom("run v.cl --arg 1 --verify").expect(0);
    assert!(ran.out.contains("passed"), "{ran:?}");
}

#[test]
fn a_source_may_come_from_the_standard_input() {
    let b = Bench::new();
    for line in ["run - --arg 4:index --arg 1 --verify", "run - --arg 4:index --arg 1 --platform cloom"] {
        let source = "kernel void plus(global int *p, int n) { p[get_global_id(0)] += n; }";
        let ran = b.piped(line, source).expect(0);
        assert!(ran.out.contains("plus") && ran.out.contains("1 2 3 4"), "{ran:?}");
    }
    let ran = b.piped("run - --arg 1", "kernel void k(global int *p) { p[0] = nothing; }").expect(1);
    assert!(ran.err.contains("<stdin>:1:") && ran.err.contains("nothing"), "{ran:?}");
}

#[test]
fn bad_input_is_wrong_use_and_says_what_there_is() {
    let b = Bench::new();
    for (line, word) in [
        ("run", "-lk"),
        ("run -k nothing", "mandel"),
        ("run -k mandel -v nothing", "hybrid_fixed"),
        ("run -k mandel -s 0", "from 1"),
        ("run -k mandel -i 0", "1.."),
        ("run -k mandel -tw 65537", "tile"),
        ("run -k mandel -c nothing=1", "max"),
        ("run -k mandel -s 8 --platform nowhere", "there are"),
        ("run -k mandel -s 8 --device nowhere", "there are"),
        ("run -k mandel -s 8 --output /nowhere/m.png", "--output"),
        ("run -k mandel --arg 1", ".cl"),
        ("run -k mandel --global 8", "-s"),
        ("run nowhere.cl", "nowhere.cl"),
        ("run kernels.cl", "saxpy, total"),
        ("run kernels.cl -k nothing", "saxpy, total"),
        ("run kernels.cl -k saxpy", "--arg y="),
        ("run kernels.cl -k saxpy --arg 4 --arg 4 --arg x", "float a"),
        ("run kernels.cl -k saxpy --arg 4 --arg 4 --arg 1 --local 3", "divide"),
        ("run kernels.cl -k saxpy --arg 4:1 --arg 4:1 --arg 1 --output x.png", "two dimensions"),
        ("run --nothing", "--nothing"),
    ] {
        let ran = b.cloom(line).expect(2);
        assert!(ran.err.contains(word) && ran.out.is_empty(), "{line}: {ran:?}");
    }
    for line in ["run --nothing --json", "run -k mandel -s 0 --json", "run -k nothing --json"] {
        assert_eq!(b.cloom(line).expect(2).json()["schema"], "cloom-error/1");
    }
}

#[test]
fn a_program_may_end_while_kernels_are_compiled() {
    // The other kernel of the file is compiled in the background when this one's run is over.
    let b = Bench::new().set("CLOOM_CACHE", "0");
    for _ in 0..8 {
        b.cloom("run kernels.cl -k saxpy --arg 4:1 --arg 4:1 --arg 1 -i 1").expect(0);
    }
}
