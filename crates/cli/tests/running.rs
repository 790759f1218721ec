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
fn without_a_loader_the_driver_takes_its_place_whatever_the_variables_say() {
    let driver = std::path::Path::new(env!("CARGO_BIN_EXE_cloom")).with_file_name("libcloom.so");
    let b = Bench::new().set("OPENCL_DYLIB_PATH", "/nowhere/libOpenCL.so").set("OCL_ICD_VENDORS", driver);
    b.cloom("run -k mandel -s 32 -i 1 -n").expect(0);
    let ran = b.cloom("agree -k lu -v team -s 20x1").expect(0);
    assert!(ran.out.contains("1 result verified"), "{ran:?}");
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
    // A float buffer is grey between its ends, or those given.
    b.file(
        "g.cl",
        "kernel void grey(global float *p) { p[get_global_id(1) * 2 + get_global_id(0)] = get_global_id(0); }",
    );
    let ran = b.cloom("run g.cl -s 2x1 --arg 2 --output g.png").expect(0);
    assert!(ran.out.contains("black is 0, white is 1"), "{ran:?}");
    b.cloom("run g.cl -s 2x1 --arg 2 --range 0..4 --output g.png").expect(0);
    b.cloom("run g.cl -s 2x1 --arg 2 --output g.txt").expect(0);
    assert_eq!(std::fs::read_to_string(b.path("g.txt")).unwrap(), "0\n1\n");
}

#[test]
fn structures_count_elements_and_have_members() {
    let b = Bench::new();
    b.file(
        "s.cl",
        "typedef struct { float3 pos; int n[2]; float mass; } body;
        kernel void move(global body *b, body by) { size_t i = get_global_id(0); b[i].pos += by.pos; b[i].n[1] = i; }",
    );
    let line = "run s.cl --arg b=3:pos=1,2,3,mass=0.5 --arg by=pos=1 --verify --json";
    let json = b.cloom(line).expect(0).json();
    assert_eq!(json["buffers"][0]["elements"], 3);
    assert_eq!(json["buffers"][0]["first"][2], "{pos: (2, 3, 4), n: [0, 2], mass: 0.5}");
    assert!(json["first_ms"].as_f64().unwrap() > 0.0 && json["total_ms"].as_f64().unwrap() > 0.0);
    assert!(b.cloom("run s.cl --arg b=3:speed=1 --arg by=0").expect(2).err.contains("pos, n, mass"));
    // What the tool suggests works.
    let usage = b.cloom("run s.cl").expect(2).err;
    assert!(usage.contains("--arg b=1024:random") && usage.contains("--arg by=pos=1,n=1,mass=1"), "{usage}");
    b.cloom("run s.cl --arg b=1024:random --arg by=pos=1,n=1,mass=1").expect(0);
}

#[test]
fn images_and_samplers_are_arguments() {
    let b = Bench::new();
    b.file(
        "i.cl",
        "kernel void invert(read_only image2d_t in, write_only image2d_t out, sampler_t s) {
            int2 p = (int2)(get_global_id(0), get_global_id(1));
            write_imagef(out, p, (float4)(1.0f - read_imagef(in, s, p).xyz, 1));
        }",
    );
    let line = "run i.cl --arg in=8x4:rgba,unorm_int8:0.25 --arg out=8x4:rgba,float --arg s=nearest,edge";
    let json = b.cloom(&format!("{line} --json")).expect(0).json();
    let first = json["buffers"][1]["first"][0].as_str().unwrap();
    assert!(first.starts_with("(0.749, 0.749, 0.749, 1"), "{json}");
    b.cloom(&format!("{line} --output i.png")).expect(0);
    b.cloom("run i.cl --arg in=@i.png --arg out=8x4 --arg s=linear,repeat,normalized").expect(0);
    let ran = b.cloom(&format!("{line} --verify")).expect(0);
    assert!(ran.out.contains("passed: all 64 elements equal"), "{ran:?}");
    b.file("p.cl", "kernel void p(read_only pipe int q) {}");
    assert!(b.cloom("run p.cl --arg 4 -cl-std=CL3.0").expect(2).err.contains("a pipe cannot be an argument"));
}

#[test]
fn images_of_all_kinds_are_verified() {
    let b = Bench::new();
    for (ty, size, coordinates) in [
        ("image1d_t", "7", "(float)i"),
        ("image1d_array_t", "7x3", "(float2)(i, i % 3)"),
        ("image2d_t", "7x5", "(float2)(i, i * 0.4f)"),
        ("image2d_array_t", "7x5x3", "(float4)(i, i * 0.4f, i % 3, 0)"),
        ("image3d_t", "7x5x3", "(float4)(i, i * 0.4f, i * 0.3f, 0)"),
    ] {
        for (channel, read, element) in
            [("unorm_int8", "f", "float4"), ("half_float", "f", "float4"), ("signed_int16", "i", "int4")]
        {
            for sampler in ["nearest,border", "linear,edge", "linear,repeat,normalized"] {
                // Integers have no filter.
                let sampler = if read == "i" { sampler.replace("linear", "nearest") } else { sampler.to_owned() };
                b.file(
                    "v.cl",
                    &format!(
                        "kernel void v(read_only {ty} in, sampler_t s, global {element} *out) {{
                            int i = get_global_id(0);
                            out[i] = read_image{read}(in, s, {coordinates} * 1.3f - 1.0f);
                        }}"
                    ),
                );
                let ran = b.cloom(&format!(
                    "run v.cl --arg in={size}:rgba,{channel}:random --arg s={sampler} --arg out=16 --verify"
                ));
                assert!(ran.expect(0).out.contains("passed: all"), "{ty} {channel} {sampler}");
            }
        }
    }
    // What a kernel writes to an image, and what it asks of one.
    b.file(
        "w.cl",
        "kernel void w(write_only image2d_t out, read_only image2d_t in) {
            int2 p = (int2)(get_global_id(0), get_global_id(1));
            write_imageui(out, p, (uint4)(get_image_width(in), get_image_height(in), p.x, p.y));
        }",
    );
    let line = "run w.cl --arg out=6x4:rgba,unsigned_int8 --arg in=3x2 --global 6x4 --verify";
    assert!(b.cloom(line).expect(0).out.contains("(3, 2, 0, 0) (3, 2, 1, 0)"));
    // A pixel that depends on unwritten memory is named by its coordinates.
    b.file(
        "n.cl",
        "kernel void n(write_only image2d_t out) {
            int a[2], x = get_global_id(0), y = get_global_id(1);
            a[0] = 1;
            write_imageui(out, (int2)(x, y), (uint4)(a[x == 2 && y == 1] & 255));
        }",
    );
    let ran = b.cloom("run n.cl --arg out=4x4:r,unsigned_int8 --global 4x4 --verify").expect(1);
    assert!(ran.err.contains("error[uninitialised]") && ran.err.contains("work-item (2, 1)"), "{ran:?}");
}

#[test]
fn a_kernel_that_prints_is_launched_once() {
    let b = Bench::new();
    b.file("h.cl", "kernel void hello(int n) { printf(\"number %d\\n\", n); }");
    let ran = b.cloom("run h.cl --arg 7 --global 1").expect(0);
    assert_eq!(ran.out.matches("number 7").count(), 1, "{ran:?}");
    assert_eq!(b.cloom("run h.cl --arg 7 --global 1 -i 2").expect(0).out.matches("number 7").count(), 3);
}

#[test]
fn an_endless_kernel_is_ended_and_its_loop_named() {
    let b = Bench::new();
    b.file("e.cl", "kernel void endless(volatile global int *p) {\n    while (p[0] == 0)\n        p[1] += 1;\n}\n");
    let ran = b.cloom("run e.cl --arg 2 --global 1 --timeout 1").expect(1);
    for word in ["kernel `endless` of e.cl", "--timeout", "the loop of line 2 runs"] {
        assert!(ran.err.contains(word), "{word}: {ran:?}");
    }
}

#[test]
fn of_several_loops_the_one_that_runs_is_named() {
    let b = Bench::new();
    // Loops before it, inside of it and in a function that it calls end.
    b.file(
        "n.cl",
        "int twice(int n) {
            int s = 0;
            for (int i = 0; i < n; ++i) s += 2;
            return s;
        }
        kernel void nested(volatile global int *p) {
            for (int i = 0; i < 100; ++i) p[1] += i;
            while (p[0] == 0)
                for (int i = 0; i < 10; ++i)
                    p[2] += twice(i);
            for (int i = 0; i < 100; ++i) p[3] += i;
        }",
    );
    let ran = b.cloom("run n.cl --arg 4 --global 8 --timeout 1").expect(1);
    assert!(ran.err.contains("kernel `nested` of n.cl; the loop of line 8 runs"), "{ran:?}");
    // With barriers all work-items go round.
    b.file(
        "b.cl",
        "kernel void waits(volatile global int *p) {
            for (int i = 0; i < 4; ++i) p[1] += i;
            while (p[0] == 0)
                barrier(CLK_GLOBAL_MEM_FENCE);
        }",
    );
    let ran = b.cloom("run b.cl --arg 4 --global 8 --local 8 --timeout 1").expect(1);
    assert!(ran.err.contains("the loop of line 3 runs"), "{ran:?}");
    // Many work-items that end: the interpreter knows no loop that does not.
    b.file(
        "l.cl",
        "kernel void slow(volatile global int *p) {
            for (int i = 0; i < 1000; ++i) p[1] += i;
            for (int i = 0; i < 1000; ++i) p[2] += i;
        }",
    );
    let ran = b.cloom("run l.cl --arg 4 --global 100000000 --timeout 1").expect(1);
    assert!(ran.err.contains("one of its loops may not end (lines 2, 3)"), "{ran:?}");
}

#[test]
fn a_write_past_the_end_names_kernel_buffer_and_element() {
    let b = Bench::new();
    b.file("o.cl", "kernel void over(global float4 *a) { a[get_global_id(0) + 1] = 1; }");
    let ran = b.cloom("run o.cl --arg 16").expect(1);
    assert!(ran.err.contains("kernel `over` wrote past the end of `a` (16 elements): element 16"), "{ran:?}");
    let ran = b.cloom("run o.cl --arg 16 --verify").expect(1);
    assert!(ran.err.contains("element 16 of `a`, which has 16 elements"), "{ran:?}");
}

#[test]
fn an_access_out_of_bounds_is_found_before_the_device_runs_it() {
    let b = Bench::new();
    let ran = b.cloom("run kernels.cl -k saxpy --arg 8 --arg 7 --arg 1 --verify").expect(1);
    assert!(ran.err.contains("kernels.cl:3:"), "{ran:?}");
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
    for word in ["kernel `far` of f.cl", "segmentation fault", "cloom check"] {
        assert!(ran.err.contains(word), "{word}: {ran:?}");
    }
    let json = b.cloom(&format!("{far} --json")).expect(1).json();
    assert_eq!(json["schema"], "cloom-error/1");
    assert!(json["error"].as_str().unwrap().contains("kernel `far`"), "{json}");
    // What the message promises.
    let ran = b.cloom(&far.replace("run", "check")).expect(1);
    assert!(ran.out.contains("f.cl:2:") && ran.out.contains("work-item 0"), "{ran:?}");
    b.cloom(&format!("{far} --verify")).expect(1);
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
    assert!(ran.err.contains("error[uninitialised]") && ran.err.contains("u.cl:5:"), "{ran:?}");
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
        ("run kernels.cl -k saxpy --arg b=4", "no parameter `b`"),
        ("run kernels.cl -k saxpy --arg 64 --arg 64 --arg 1 --local 16x16", "2 dimensions"),
        ("run kernels.cl -k saxpy --arg 64 --arg 64 --arg 1 -tw 100000", "larger than the 64 work-items"),
        ("run kernels.cl -k saxpy --arg 64 --arg 64 --arg 1 -i -1", "-1 is not in 1.."),
        ("run kernels.cl -k saxpy --arg 64 --arg 64 --arg 1 --output y.jpg", ".png"),
        ("run -lk nothing", "takes no file"),
        ("run -k mandel -s 8 -i 1 -n -m", "-m of EasyPAP"),
        ("run -k copy -l nowhere.png -i 1 -n -tw 16", "works on no picture"),
        ("run -k invert -l nowhere.png -i 1 -n", "nowhere.png"),
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
