//! Variables of program scope: one memory for all kernels of a program, from its build to its end.

#![allow(unsafe_code, reason = "it calls the C interface")]

#[path = "../common/mod.rs"]
mod common;
use common::*;
use std::ffi::CStr;

const SOURCE: &str = "
    global int counter = 5;
    int table[4] = {1, 2, 3};
    constant char *global text = \"first\";
    kernel void k(global int *out) {
        static int calls = 100;
        int before = atomic_add(&counter, 1);
        if (get_global_id(0) == 0) { out[0] = ++calls; table[3] += table[1]; text++; }
    }
    kernel void r(global int *out) { out[0] = counter; out[1] = table[3]; out[2] = text[0]; }
";

/// A program of OpenCL C 3.0.
fn built(t: &Session, source: &str) -> Obj {
    let program = t.source(source);
    assert_eq!(t.build(&program, "-cl-std=CL3.0"), 0, "{}", t.log(&program));
    program
}

/// Runs a kernel with one argument. Returns three numbers that it may have written.
fn run(t: &Session, program: &Obj, name: &str, items: usize) -> Vec<i32> {
    let (kernel, out) = (t.kernel_of(program, name), t.buffer(0, 12));
    t.arg_mem(&kernel, 0, &out);
    drop(t.launch(&kernel, &[items], &[]));
    t.read(&out, 3)
}

#[test]
fn kernels_share_variables_from_launch_to_launch() {
    let t = Session::new();
    let max: usize = info(|s, v, r| t.clGetDeviceInfo(t.device, CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, s, v, r));
    assert!(max >= 64 << 10, "{max}");
    let (program, other) = (built(&t, SOURCE), built(&t, SOURCE));
    let name = CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE;
    let size: usize = info(|s, v, r| t.clGetProgramBuildInfo(program.h, t.device, name, s, v, r));
    assert!((32..=256).contains(&size), "{size}");
    // Launches of other code of the same kernel: one work-item, whole vectors, a remainder.
    let mut expected = 5;
    for (turn, items) in [1usize, 1024, 1000, 1, 77].into_iter().enumerate() {
        assert_eq!(run(&t, &program, "k", items)[0], 101 + turn as i32);
        expected += items as i32;
        let letter = i32::from(b"first\0"[turn + 1]);
        assert_eq!(run(&t, &program, "r", 1), [expected, 2 * (turn as i32 + 1), letter], "after {items}");
    }
    assert_eq!(run(&t, &other, "r", 1), [5, 0, i32::from(b'f')], "another program has its own");
    assert_eq!(t.build(&program, "-cl-std=CL3.0"), 0);
    assert_eq!(run(&t, &program, "r", 1), [5, 0, i32::from(b'f')], "a build begins anew");
}

#[test]
fn a_binary_begins_with_the_initial_values() {
    let t = Session::new();
    let program = built(&t, SOURCE);
    run(&t, &program, "k", 10);
    let sizes: Vec<usize> = list(|s, v, r| t.clGetProgramInfo(program.h, CL_PROGRAM_BINARY_SIZES, s, v, r));
    let mut bytes = vec![0u8; sizes[0]];
    let mut place = bytes.as_mut_ptr();
    ok(t.clGetProgramInfo(program.h, CL_PROGRAM_BINARIES, size_of::<usize>(), (&raw mut place).cast(), null_mut()));
    let (mut code, mut status, at) = (1, 1, bytes.as_ptr());
    let again = t.clCreateProgramWithBinary(t.context(), 1, &t.device, &sizes[0], &at, &mut status, &mut code);
    ok(code);
    let again = Obj::program(again);
    assert_eq!(t.build(&again, ""), 0);
    assert_eq!(run(&t, &again, "r", 1), [5, 0, i32::from(b'f')]);
    run(&t, &again, "k", 1);
    assert_eq!(run(&t, &program, "r", 1)[0], 15);
    assert_eq!(run(&t, &again, "r", 1)[0], 6);
}

#[test]
fn linked_programs_share_what_is_external() {
    let t = Session::new();
    let compiled = |source: &str, options: &CStr| {
        let program = t.source(source);
        let code = t.clCompileProgram(program.h, 0, null(), options.as_ptr(), 0, null(), null(), None, null_mut());
        assert_eq!(code, 0, "{}", t.log(&program));
        program
    };
    let first = compiled(
        "global int shared = 3; static global int own = 1; constant int *global number = (constant int[]){1, 2};
        kernel void k(global int *out) { shared += 4; own += 10; out[0] = own; out[1] = number[1]; }",
        c"-cl-std=CL3.0",
    );
    let second = compiled(
        "extern global int shared; static global int own = 2;
        kernel void r(global int *out) { out[0] = shared; out[1] = own++; }",
        c"-cl-std=CL3.0",
    );
    let (inputs, mut code) = ([first.h, second.h], 1);
    let program = t.clLinkProgram(t.context(), 0, null(), null(), 2, inputs.as_ptr(), None, null_mut(), &mut code);
    ok(code);
    let program = Obj::program(program);
    assert_eq!(run(&t, &program, "k", 1)[..2], [11, 2]);
    assert_eq!(run(&t, &program, "r", 1)[..2], [7, 2]);
    assert_eq!(run(&t, &program, "k", 1)[..2], [21, 2]);
    assert_eq!(run(&t, &program, "r", 1)[..2], [11, 3]);
    let alone = t.clLinkProgram(t.context(), 0, null(), null(), 1, &inputs[1], None, null_mut(), &mut code);
    assert_eq!(code, CL_LINK_PROGRAM_FAILURE, "`shared` is defined nowhere");
    drop((!alone.is_null()).then(|| Obj::program(alone)));
}
