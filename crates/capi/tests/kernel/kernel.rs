//! Chapter 5.9 of the specification: kernels, their arguments, and queries.

#[path = "../common/mod.rs"]
mod common;
use common::images::{D2, Desc, Format, UNORM_INT8};
use common::*;
use std::ffi::CString;

const ALL: &str = "
    typedef struct { int a; float4 b; char c; } record;
    kernel __attribute__((reqd_work_group_size(4, 2, 1))) void required(global int *p) { p[0] = 1; }
    kernel void k(global const volatile float *restrict in, constant int *c, local char *l, const uint n, float4 v,
                  record r, global uchar *out) {
        local int shared[16];
        shared[get_local_id(0) & 15] = c[0];
        out[0] = (uchar)(in[0] + l[0] + n + v.x + r.a + shared[0]);
    }
    kernel __attribute__((work_group_size_hint(8, 1, 1))) __attribute__((vec_type_hint(float4))) void hinted(void) {}
";

fn arg_text(t: &Session, kernel: &Obj, index: u32, name: u32) -> String {
    text(|s, v, r| t.clGetKernelArgInfo(kernel.h, index, name, s, v, r))
}

#[test]
fn a_kernel_describes_itself() {
    let t = Session::new();
    let program = t.program(ALL);
    let kernel = t.kernel_of(&program, "k");
    let handle = kernel.h;
    let ask = |name| move |s, v, r| api().clGetKernelInfo(handle, name, s, v, r);
    assert_eq!(text(ask(CL_KERNEL_FUNCTION_NAME)), "k");
    assert_eq!(info::<u32>(ask(CL_KERNEL_NUM_ARGS)), 7);
    assert_eq!(info::<u32>(ask(CL_KERNEL_REFERENCE_COUNT)), 1);
    assert_eq!(info::<usize>(ask(CL_KERNEL_CONTEXT)), t.context() as usize);
    assert_eq!(info::<usize>(ask(CL_KERNEL_PROGRAM)), program.h as usize);
    assert_eq!(text(ask(CL_KERNEL_ATTRIBUTES)), "");
    ok(t.clRetainKernel(handle));
    assert_eq!(info::<u32>(ask(CL_KERNEL_REFERENCE_COUNT)), 2);
    ok(t.clReleaseKernel(handle));
    let attributes = |name| {
        let kernel = t.kernel_of(&program, name);
        text(|s, v, r| t.clGetKernelInfo(kernel.h, CL_KERNEL_ATTRIBUTES, s, v, r)).replace(' ', "")
    };
    assert!(attributes("required").contains("reqd_work_group_size(4,2,1)"));
    assert!(attributes("hinted").contains("work_group_size_hint(8,1,1)"));
    assert!(attributes("hinted").contains("vec_type_hint(float4)"));
}

#[test]
fn halves_are_passed_by_value() {
    let t = Session::new();
    let program = t.source(
        "typedef struct { char c; half h; half3 v; } record;
         kernel void k(half a, half4 v, half3 w, record r, global half *out) {
             out[0] = a + v.w; out[1] = w.z * r.h; out[2] = r.v.y - r.c; vstore4(v * a, 1, out);
         }",
    );
    assert_eq!(t.build(&program, "-cl-kernel-arg-info"), 0);
    let kernel = t.kernel_of(&program, "k");
    let names = ["half", "half4", "half3", "record", "half*"];
    for (i, name) in (0..).zip(names) {
        assert_eq!(arg_text(&t, &kernel, i, CL_KERNEL_ARG_TYPE_NAME), name);
    }
    let out = t.buffer(0, 16);
    t.arg(&kernel, 0, 0x3e00u16);
    // Vectors of three and records of them have the sizes of the C types: 8 and 16 bytes.
    t.arg(&kernel, 1, 0x4400_4200_4000_3c00u64);
    t.arg(&kernel, 2, 0xffff_4500_0000_0000u64);
    let record = [2u16, 0x4000, 0, 0, 0, 0x4700, 0, 0];
    ok(t.clSetKernelArg(kernel.h, 3, 16, record.as_ptr().cast()));
    t.arg_mem(&kernel, 4, &out);
    t.launch(&kernel, &[1], &[]);
    assert_eq!(t.read::<u16>(&out, 3), [0x4580, 0x4900, 0x4500]);
    assert_eq!(t.read::<u16>(&out, 8)[4..], [0x3e00, 0x4200, 0x4480, 0x4600]);
    let wrong = [0u8; 4];
    assert_eq!(t.clSetKernelArg(kernel.h, 0, 4, wrong.as_ptr().cast()), CL_INVALID_ARG_SIZE);
}

#[test]
fn the_types_of_arguments_are_named_as_they_are_declared() {
    let t = Session::new();
    let program = t.source(
        "typedef short sample; typedef global float *floats; typedef struct { int x; } record; typedef float4 color;
         kernel void k(global sample *a, constant record *b, floats c, local color d[], const sample e,
                       global const unsigned int *f, global sample *global *g) { }",
    );
    assert_eq!(t.build(&program, "-cl-kernel-arg-info -cl-std=CL2.0"), 0);
    let kernel = t.kernel_of(&program, "k");
    let names = ["sample*", "record*", "floats", "color*", "sample", "uint*", "sample**"];
    for (i, name) in (0..).zip(names) {
        assert_eq!(arg_text(&t, &kernel, i, CL_KERNEL_ARG_TYPE_NAME), name);
    }
}

#[test]
fn arguments_describe_themselves() {
    let t = Session::new();
    let program = t.source(ALL);
    assert_eq!(t.build(&program, "-cl-kernel-arg-info"), 0);
    let kernel = t.kernel_of(&program, "k");
    let number = |i, name| info::<u32>(|s, v, r| t.clGetKernelArgInfo(kernel.h, i, name, s, v, r));
    let (global, constant) = (CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_CONSTANT);
    let (local, private) = (CL_KERNEL_ARG_ADDRESS_LOCAL, CL_KERNEL_ARG_ADDRESS_PRIVATE);
    let first = CL_KERNEL_ARG_TYPE_CONST | CL_KERNEL_ARG_TYPE_VOLATILE | CL_KERNEL_ARG_TYPE_RESTRICT;
    let wanted = [
        ("in", "float*", global, first),
        ("c", "int*", constant, CL_KERNEL_ARG_TYPE_CONST),
        ("l", "char*", local, 0),
        ("n", "uint", private, 0),
        ("v", "float4", private, 0),
        ("r", "record", private, 0),
        ("out", "uchar*", global, 0),
    ];
    for (i, (name, kind, space, qualifiers)) in wanted.into_iter().enumerate() {
        let i = i as u32;
        assert_eq!(arg_text(&t, &kernel, i, CL_KERNEL_ARG_NAME), name);
        assert_eq!(arg_text(&t, &kernel, i, CL_KERNEL_ARG_TYPE_NAME), kind);
        assert_eq!(number(i, CL_KERNEL_ARG_ADDRESS_QUALIFIER), space);
        assert_eq!(number(i, CL_KERNEL_ARG_ACCESS_QUALIFIER), CL_KERNEL_ARG_ACCESS_NONE);
        let got: u64 = info(|s, v, r| t.clGetKernelArgInfo(kernel.h, i, CL_KERNEL_ARG_TYPE_QUALIFIER, s, v, r));
        assert_eq!(got, u64::from(qualifiers), "{name}");
    }
}

#[test]
fn a_kernel_tells_what_its_groups_need() {
    let t = Session::new();
    let program = t.program(ALL);
    let (kernel, required) = (t.kernel_of(&program, "k"), t.kernel_of(&program, "required"));
    let of = |k: &Obj, name| {
        let k = k.h;
        move |s, v, r| api().clGetKernelWorkGroupInfo(k, device_of(), name, s, v, r)
    };
    fn device_of() -> Handle {
        device(platform())
    }
    let most: usize = info(of(&kernel, CL_KERNEL_WORK_GROUP_SIZE));
    assert!(most >= 1 && most <= t.device_info::<usize>(CL_DEVICE_MAX_WORK_GROUP_SIZE));
    assert_eq!(list::<usize>(of(&kernel, CL_KERNEL_COMPILE_WORK_GROUP_SIZE)), [0, 0, 0]);
    assert_eq!(list::<usize>(of(&required, CL_KERNEL_COMPILE_WORK_GROUP_SIZE)), [4, 2, 1]);
    assert!(info::<usize>(of(&kernel, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE)) >= 1);
    let _private: u64 = info(of(&kernel, CL_KERNEL_PRIVATE_MEM_SIZE));
    let before: u64 = info(of(&kernel, CL_KERNEL_LOCAL_MEM_SIZE));
    assert!(before >= 64, "the array `shared`");
    ok(t.clSetKernelArg(kernel.h, 2, 1000, null()));
    let after: u64 = info(of(&kernel, CL_KERNEL_LOCAL_MEM_SIZE));
    assert!(after >= before + 1000 && after < before + 1200, "{before} {after}");
    ok(t.clSetKernelArg(kernel.h, 2, usize::MAX, null()));
    assert_eq!(info::<u64>(of(&kernel, CL_KERNEL_LOCAL_MEM_SIZE)), u64::MAX);
    // The reported size must be one that a launch may have.
    let huge = t.kernel("kernel __attribute__((reqd_work_group_size(4294967295, 4294967295, 4294967295))) void k() {}");
    assert_eq!(info::<usize>(of(&huge, CL_KERNEL_WORK_GROUP_SIZE)), most);
    // More work-items than there is memory for are refused at once: each keeps 8 MB across the barrier. (A machine with
    // very much memory and few cores has room for all.)
    let source = format!(
        "kernel void k(global int *o) {{
           int a[2000000];
           for (int i = 0; i < 2000000; i += o[0]) a[i] = i + {};
           barrier(CLK_LOCAL_MEM_FENCE);
           o[get_global_id(0) + 1] = a[o[1] + get_local_id(0)]; }}",
        // No cache has it.
        std::process::id()
    );
    let keeps = t.kernel(&source);
    let few: usize = info(of(&keeps, CL_KERNEL_WORK_GROUP_SIZE));
    // The answer is no other one when the code has been made.
    for _ in 0..10 {
        let again = t.kernel(&source);
        std::thread::sleep(std::time::Duration::from_millis(100));
        assert_eq!(info::<usize>(of(&again, CL_KERNEL_WORK_GROUP_SIZE)) < most, few < most);
    }
    let size = few + 1;
    let buffer = t.buffer_of(&vec![1_000_000u32; size + 1]);
    t.arg_mem(&keeps, 0, &buffer);
    let code = t.clEnqueueNDRangeKernel(t.queue(), keeps.h, 1, null(), &size, &size, 0, null(), null_mut());
    assert_eq!(code, if few < most { CL_OUT_OF_RESOURCES } else { CL_INVALID_WORK_ITEM_SIZE });
    // There is one device, so it need not be named.
    let ask = |s, v, r| t.clGetKernelWorkGroupInfo(kernel.h, null_mut(), CL_KERNEL_WORK_GROUP_SIZE, s, v, r);
    assert_eq!(info::<usize>(ask), most);
}

#[test]
fn a_kernel_with_images_tells_what_a_launch_needs_before_they_are_set() {
    let t = Session::new();
    let kernel = t.kernel(
        "kernel void k(read_only image2d_t from, sampler_t s, global float *to) {
            local float shared[100];
            float all[1000];
            for (int i = 0; i < 1000; i++) all[i * 7 % 1000] = read_imagef(from, s, (int2)(i, 0)).x;
            shared[get_local_id(0)] = all[(int)to[get_global_id(0)]];
            barrier(CLK_LOCAL_MEM_FENCE);
            to[get_global_id(0)] = shared[0];
        }",
    );
    let ask = |name| info::<u64>(|s, v, r| api().clGetKernelWorkGroupInfo(kernel.h, t.device, name, s, v, r));
    let needed = || (ask(CL_KERNEL_LOCAL_MEM_SIZE), ask(CL_KERNEL_PRIVATE_MEM_SIZE));
    let before = needed();
    assert!(before.0 >= 400 && before.1 >= 4000, "{before:?}");
    // The format that was expected.
    let image = t.image(Format { order: 0x10B5, channel_type: UNORM_INT8 }, &Desc::new(D2, [4, 4, 1]));
    t.arg_mem(&kernel, 0, &image);
    assert_eq!(needed(), before);
}

#[test]
fn every_kernel_of_a_program_at_once() {
    let t = Session::new();
    let program = t.program(ALL);
    let mut n = 0;
    ok(t.clCreateKernelsInProgram(program.h, 0, null_mut(), &mut n));
    assert_eq!(n, 3);
    let mut kernels = [null_mut(); 4];
    ok(t.clCreateKernelsInProgram(program.h, 4, kernels.as_mut_ptr(), &mut n));
    assert!(kernels[3].is_null());
    let kernels: Vec<Obj> = kernels[..3].iter().map(|&k| Obj::kernel(k)).collect();
    let name = |k: &Obj| text(|s, v, r| t.clGetKernelInfo(k.h, CL_KERNEL_FUNCTION_NAME, s, v, r));
    let mut names: Vec<String> = kernels.iter().map(name).collect();
    names.sort();
    assert_eq!(names, ["hinted", "k", "required"]);
    let few = t.clCreateKernelsInProgram(program.h, 2, [null_mut(); 2].as_mut_ptr(), &mut n);
    assert_eq!(few, CL_INVALID_VALUE);
}

#[test]
fn arguments_of_every_kind_arrive() {
    let t = Session::new();
    let kernel = t.kernel(
        "typedef struct { char a; double b; short c[3]; } record;
         kernel void k(global double *out, char a, short b, int c, long d, float e, double f, uchar3 g, float8 h,
                       record r, constant int *p, global int *none, local int *l, size_t z) {
             l[0] = 5;
             out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e; out[5] = f;
             out[6] = g.x; out[7] = g.y; out[8] = g.z; out[9] = h.s0; out[10] = h.s7;
             out[11] = r.a; out[12] = r.b; out[13] = r.c[2]; out[14] = p[1]; out[15] = none == 0; out[16] = l[0];
         }"
        .replace("size_t z", "ulong z")
        .as_str(),
    );
    let out = t.buffer(0, 17 * 8);
    t.arg_mem(&kernel, 0, &out);
    t.arg(&kernel, 1, -1i8);
    t.arg(&kernel, 2, -2i16);
    t.arg(&kernel, 3, -3i32);
    t.arg(&kernel, 4, -4i64);
    t.arg(&kernel, 5, 5.5f32);
    t.arg(&kernel, 6, 6.5f64);
    let vector = [7u8, 8, 9, 0];
    ok(t.clSetKernelArg(kernel.h, 7, 4, vector.as_ptr().cast()));
    let vector = [10f32, 0., 0., 0., 0., 0., 0., 11.];
    ok(t.clSetKernelArg(kernel.h, 8, 32, vector.as_ptr().cast()));
    #[repr(C)]
    struct Record(i8, f64, [i16; 3]);
    let record = Record(12, 13.5, [0, 0, 14]);
    ok(t.clSetKernelArg(kernel.h, 9, size_of::<Record>(), (&raw const record).cast()));
    let constants = t.buffer_of(&[0i32, 15]);
    t.arg_mem(&kernel, 10, &constants);
    ok(t.clSetKernelArg(kernel.h, 11, 8, null()));
    ok(t.clSetKernelArg(kernel.h, 12, 64, null()));
    t.arg(&kernel, 13, 1u64);
    drop(t.launch(&kernel, &[1], &[]));
    let wanted = [-1., -2., -3., -4., 5.5, 6.5, 7., 8., 9., 10., 11., 12., 13.5, 14., 15., 1., 5.];
    assert_eq!(t.read::<f64>(&out, 17), wanted);
    // A pointer to a null handle is a null buffer as well.
    t.arg(&kernel, 11, 0usize);
    drop(t.launch(&kernel, &[1], &[]));
    assert_eq!(t.read::<f64>(&out, 17), wanted);
}

#[test]
fn an_argument_is_taken_when_the_launch_is_enqueued() {
    let t = Session::new();
    let kernel = t.kernel("kernel void k(global uint *p, uint i, uint x) { p[i] = x; }");
    let buffer = t.buffer(0, 40);
    t.arg_mem(&kernel, 0, &buffer);
    let gate = t.user_event();
    for i in 0..10u32 {
        t.arg(&kernel, 1, i);
        t.arg(&kernel, 2, i * i);
        drop(t.launch_on(t.queue(), &kernel, &[1], &[], &[gate.h]));
    }
    t.arg(&kernel, 2, 1000u32);
    t.complete(&gate, CL_COMPLETE);
    let wanted: Vec<u32> = (0..10).map(|i| i * i).collect();
    assert_eq!(t.read::<u32>(&buffer, 10), wanted);
}

#[test]
fn a_kernel_does_not_hold_its_arguments() {
    let t = Session::new();
    let calls = Calls::new();
    let kernel = t.kernel("kernel void k(global uint *p) { p[0] = 1; }");
    let buffer = t.buffer(0, 4);
    let send = calls.sender();
    let (call, data) = on_object(move |_| send.send(()).unwrap());
    ok(t.clSetMemObjectDestructorCallback(buffer.h, call, data));
    t.arg_mem(&kernel, 0, &buffer);
    drop(buffer);
    calls.next();
    if t.ours() {
        let size = 1usize;
        let run = t.clEnqueueNDRangeKernel(t.queue(), kernel.h, 1, null(), &size, null(), 0, null(), null_mut());
        assert_eq!(run, CL_INVALID_KERNEL_ARGS, "an argument that is gone is not set");
    }
    let other = t.buffer(0, 4);
    t.arg_mem(&kernel, 0, &other);
    drop(t.launch(&kernel, &[1], &[]));
    assert_eq!(t.read::<u32>(&other, 1), [1]);
}

#[test]
fn a_launch_writes_the_buffer_that_was_set_last() {
    let t = Session::new();
    let kernel = t.kernel("kernel void k(global uint *p, uint x) { if (p) p[0] = x; }");
    let buffers: Vec<Obj> = (0..4).map(|_| t.buffer_of(&[0u32])).collect();
    let mut wanted = [0; 4];
    let run = |kernel: &Obj, x: u32| {
        t.arg(kernel, 1, x);
        drop(t.launch(kernel, &[1], &[]));
    };
    // The same again, two in turns, one after the other.
    for (x, i) in (1..).zip([0, 0, 1, 0, 1, 0, 2, 1, 2, 3, 0, 3, 3, 1, 2, 0]) {
        t.arg_mem(&kernel, 0, &buffers[i]);
        run(&kernel, x);
        wanted[i] = x;
        if x % 3 == 0 {
            ok(t.clSetKernelArg(kernel.h, 0, 8, null()));
            run(&kernel, 1000);
        }
    }
    // A clone knows the buffers of its original, and from then on each has its own.
    t.arg_mem(&kernel, 0, &buffers[2]);
    let mut code = 1;
    let copy = Obj::kernel(t.clCloneKernel(kernel.h, &mut code));
    ok(code);
    t.arg_mem(&kernel, 0, &buffers[3]);
    t.arg_mem(&copy, 0, &buffers[0]);
    t.arg_mem(&copy, 0, &buffers[2]);
    run(&kernel, 51);
    run(&copy, 52);
    (wanted[3], wanted[2]) = (51, 52);
    // Buffers that come and go, perhaps at one address.
    for x in 60..70 {
        let fresh = t.buffer_of(&[0u32]);
        t.arg_mem(&kernel, 0, &fresh);
        run(&kernel, x);
        t.arg_mem(&kernel, 0, &buffers[1]);
        run(&kernel, x + 100);
        wanted[1] = x + 100;
        assert_eq!(t.read::<u32>(&fresh, 1), [x]);
    }
    let found: Vec<u32> = buffers.iter().flat_map(|buffer| t.read::<u32>(buffer, 1)).collect();
    assert_eq!(found, wanted);
}

#[test]
fn a_clone_has_arguments_of_its_own() {
    let t = Session::new();
    let kernel = t.kernel("kernel void k(global uint *p, uint i, uint x) { p[i] = x; }");
    let buffer = t.buffer_of(&[0u32; 2]);
    t.arg_mem(&kernel, 0, &buffer);
    t.arg(&kernel, 1, 0u32);
    t.arg(&kernel, 2, 5u32);
    let mut code = 1;
    let copy = Obj::kernel(t.clCloneKernel(kernel.h, &mut code));
    ok(code);
    t.arg(&copy, 1, 1u32);
    t.arg(&copy, 2, 6u32);
    drop(t.launch(&kernel, &[1], &[]));
    drop(t.launch(&copy, &[1], &[]));
    assert_eq!(t.read::<u32>(&buffer, 2), [5, 6]);
    drop(kernel);
    drop(t.launch(&copy, &[1], &[]));
    t.finish();
}

#[test]
fn a_kernel_holds_its_program() {
    let t = Session::new();
    let program = t.program("kernel void k(global uint *p) { p[0] = 3; }");
    let kernel = t.kernel_of(&program, "k");
    let handle = program.release();
    let found: usize = info(|s, v, r| t.clGetKernelInfo(kernel.h, CL_KERNEL_PROGRAM, s, v, r));
    assert_eq!(found, handle as usize);
    let name = text(|s, v, r| t.clGetProgramInfo(handle, CL_PROGRAM_KERNEL_NAMES, s, v, r));
    assert_eq!(name, "k");
    let buffer = t.buffer(0, 4);
    t.arg_mem(&kernel, 0, &buffer);
    drop(t.launch(&kernel, &[1], &[]));
    assert_eq!(t.read::<u32>(&buffer, 1), [3]);
}

#[test]
fn bad_arguments_have_their_codes() {
    let t = Session::new();
    let mut c = Cases::new();
    let program = t.source(ALL);
    assert_eq!(t.build(&program, "-cl-kernel-arg-info"), 0);
    let kernel = t.kernel_of(&program, "k");
    let make = |p, name, e| t.clCreateKernel(p, name, e);
    let k = c"k".as_ptr();
    c.new_object("null name", CL_INVALID_VALUE, |e| make(program.h, null(), e));
    for name in ["", "K", "k ", "kk", "main"] {
        let name = CString::new(name).unwrap();
        c.new_object(&format!("{name:?}"), CL_INVALID_KERNEL_NAME, |e| make(program.h, name.as_ptr(), e));
    }
    let unbuilt = t.source(ALL);
    c.new_object("not built", CL_INVALID_PROGRAM_EXECUTABLE, |e| make(unbuilt.h, k, e));
    let all = t.clCreateKernelsInProgram(unbuilt.h, 0, null_mut(), null_mut());
    c.code("all kernels, not built", CL_INVALID_PROGRAM_EXECUTABLE, all);

    let word = 0u64;
    let at = (&raw const word).cast();
    let set = |i, size, value| t.clSetKernelArg(kernel.h, i, size, value);
    c.code("index 7 of 7", CL_INVALID_ARG_INDEX, set(7, 4, at));
    c.code("the highest index", CL_INVALID_ARG_INDEX, set(u32::MAX, 4, at));
    c.code("a buffer of 4 bytes", CL_INVALID_ARG_SIZE, set(0, 4, at));
    c.code("a buffer of 16 bytes", CL_INVALID_ARG_SIZE, set(0, 16, at));
    c.code("a uint of 8 bytes", CL_INVALID_ARG_SIZE, set(3, 8, at));
    c.code("a uint of 0 bytes", CL_INVALID_ARG_SIZE, set(3, 0, at));
    c.code("a null uint", CL_INVALID_ARG_VALUE, set(3, 4, null()));
    c.code("a float4 of 12 bytes", CL_INVALID_ARG_SIZE, set(4, 12, at));
    c.code("a local of 0 bytes", CL_SUCCESS, set(2, 0, null()));
    c.code("a local with a value", CL_INVALID_ARG_VALUE, set(2, 8, at));
    if t.ours() {
        // The loader's own objects are no buffers.
        let queue = t.queue();
        c.code("a queue as buffer", CL_INVALID_MEM_OBJECT, set(0, 8, (&raw const queue).cast()));
        let text = *b"not a handle at all";
        c.code("text as buffer", CL_INVALID_MEM_OBJECT, set(0, 8, text.as_ptr().cast()));
        let other = t.another_context();
        let mut code = 1;
        let foreign = Obj::mem(t.clCreateBuffer(other.h, 0, 8, null_mut(), &mut code));
        ok(code);
        let foreign_code = set(0, 8, (&raw const foreign.h).cast());
        c.code("a buffer of another context", CL_INVALID_CONTEXT, foreign_code);
    }
    let arg = |i, name| t.clGetKernelArgInfo(kernel.h, i, name, 0, null_mut(), null_mut());
    c.code("info of argument 7", CL_INVALID_ARG_INDEX, arg(7, CL_KERNEL_ARG_NAME));
    let group = |d, name| t.clGetKernelWorkGroupInfo(kernel.h, d, name, 0, null_mut(), null_mut());
    c.code("global work size", CL_INVALID_VALUE, group(t.device, CL_KERNEL_GLOBAL_WORK_SIZE));
    for (what, bad) in t.bad_handles(t.queue()) {
        let wanted = CL_INVALID_KERNEL;
        c.new_object(&format!("kernel of {what}"), CL_INVALID_PROGRAM, |e| make(bad, k, e));
        c.new_object(&format!("clone of {what}"), wanted, |e| t.clCloneKernel(bad, e));
        c.code(&format!("retain {what}"), wanted, t.clRetainKernel(bad));
        c.code(&format!("release {what}"), wanted, t.clReleaseKernel(bad));
        c.code(&format!("argument of {what}"), wanted, t.clSetKernelArg(bad, 0, 8, at));
        let ask = t.clGetKernelInfo(bad, CL_KERNEL_NUM_ARGS, 0, null_mut(), null_mut());
        c.code(&format!("query {what}"), wanted, ask);
        let ask = t.clGetKernelArgInfo(bad, 0, CL_KERNEL_ARG_NAME, 0, null_mut(), null_mut());
        c.code(&format!("query an argument of {what}"), wanted, ask);
        let ask = t.clGetKernelWorkGroupInfo(bad, t.device, CL_KERNEL_WORK_GROUP_SIZE, 0, null_mut(), null_mut());
        c.code(&format!("query the groups of {what}"), wanted, ask);
        let all = t.clCreateKernelsInProgram(bad, 0, null_mut(), null_mut());
        c.code(&format!("all kernels of {what}"), CL_INVALID_PROGRAM, all);
        if !bad.is_null() {
            let ask = group(bad, CL_KERNEL_WORK_GROUP_SIZE);
            c.code(&format!("groups for {what}"), CL_INVALID_DEVICE, ask);
        }
    }
    c.query("kernel", CL_KERNEL_CONTEXT, |n, s, v, r| t.clGetKernelInfo(kernel.h, n, s, v, r));
    c.query("argument", CL_KERNEL_ARG_NAME, |n, s, v, r| t.clGetKernelArgInfo(kernel.h, 0, n, s, v, r));
    let groups = |n, s, v, r| t.clGetKernelWorkGroupInfo(kernel.h, t.device, n, s, v, r);
    c.query("groups", CL_KERNEL_WORK_GROUP_SIZE, groups);
    c.end();
}

const SUB_GROUPS: &str = "
    kernel void k(global uint *out) {
        global uint *p = out + 4 * get_global_linear_id();
        p[0] = get_max_sub_group_size();
        p[1] = get_num_sub_groups();
        p[2] = sub_group_reduce_max(get_sub_group_id());
        p[3] = sub_group_reduce_add(1u);
    }
    kernel __attribute__((reqd_work_group_size(6, 2, 1))) void required(global uint *out) { out[0] = get_sub_group_size(); }";

#[test]
fn sub_groups_are_what_the_queries_say() {
    let t = Session::new();
    let most = t.device_info::<u32>(CL_DEVICE_MAX_NUM_SUB_GROUPS) as usize;
    if most == 0 {
        return;
    }
    let program = t.source(SUB_GROUPS);
    assert_eq!(t.build(&program, "-cl-std=CL3.0"), 0, "{}", t.log(&program));
    let kernel = t.kernel_of(&program, "k");
    let ask = |k: &Obj, name, input: &[usize], s, v, r| {
        t.clGetKernelSubGroupInfo(k.h, t.device, name, size_of_val(input), input.as_ptr().cast(), s, v, r)
    };
    let number = |k: &Obj, name, input: &[usize]| info::<usize>(|s, v, r| ask(k, name, input, s, v, r));
    for local in [&[1usize][..], &[7], &[64], &[100], &[3, 5], &[40, 2], &[1, 64], &[5, 2, 3]] {
        let (items, mut global) = (local.iter().product::<usize>(), local.to_vec());
        global[0] *= 2;
        let max = number(&kernel, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, local);
        let count = number(&kernel, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, local);
        let out = t.buffer_of(&vec![0u32; 8 * items]);
        t.arg_mem(&kernel, 0, &out);
        drop(t.launch_on(t.queue(), &kernel, &global, local, &[]));
        ok(t.clFinish(t.queue()));
        let got: Vec<u32> = t.read(&out, 8 * items);
        for item in got.chunks(4) {
            assert_eq!((item[0] as usize, item[1] as usize), (max, count), "{local:?}");
            assert!(item[2] < item[1] && item[3] >= 1 && item[3] <= item[0], "{local:?}: {item:?}");
        }
        assert_eq!(got.chunks(4).map(|i| i[2]).max().map(|m| m as usize + 1), Some(count), "{local:?}");
    }
    // A local size for a count has that count.
    for count in [1usize, 2, 3, 5, 16] {
        let sizes: Vec<usize> = (1..4)
            .map(|dims| sizes_for(&t, &kernel, count, dims))
            .inspect(|s| assert!(!s.contains(&0)))
            .next_back()
            .unwrap();
        assert_eq!(number(&kernel, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, &sizes), count);
    }
    assert_eq!(sizes_for(&t, &kernel, most + 1, 3), [0, 0, 0]);
    assert_eq!(number(&kernel, CL_KERNEL_MAX_NUM_SUB_GROUPS, &[]), most);
    assert_eq!(number(&kernel, CL_KERNEL_COMPILE_NUM_SUB_GROUPS, &[]), 0);
    let required = t.kernel_of(&program, "required");
    let count = number(&required, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, &[6, 2, 1]);
    assert_eq!(number(&required, CL_KERNEL_MAX_NUM_SUB_GROUPS, &[]), count);
    assert_eq!(sizes_for(&t, &required, count, 3), [6, 2, 1]);
    assert_eq!(sizes_for(&t, &required, count + 1, 3), [0, 0, 0]);

    let mut c = Cases::new();
    let name = CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE;
    let raw = |k, name, size, input: *const usize| {
        t.clGetKernelSubGroupInfo(k, t.device, name, size, input.cast(), 0, null_mut(), null_mut())
    };
    let local = [4usize, 1, 1, 1];
    c.code("no kernel", CL_INVALID_KERNEL, raw(null_mut(), name, 8, local.as_ptr()));
    c.code("no input", CL_INVALID_VALUE, raw(kernel.h, name, 8, null()));
    c.code("an input of no size", CL_INVALID_VALUE, raw(kernel.h, name, 0, local.as_ptr()));
    c.code("half a size", CL_INVALID_VALUE, raw(kernel.h, name, 4, local.as_ptr()));
    c.code("four dimensions", CL_INVALID_VALUE, raw(kernel.h, name, 32, local.as_ptr()));
    c.code("two counts", CL_INVALID_VALUE, raw(kernel.h, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, 16, local.as_ptr()));
    c.code("a wrong name", CL_INVALID_VALUE, raw(kernel.h, CL_KERNEL_NUM_ARGS, 8, local.as_ptr()));
    c.query("sub-groups", name, |n, s, v, r| ask(&kernel, n, &local[..1], s, v, r));
    c.end();
}

fn sizes_for(t: &Session, kernel: &Obj, count: usize, dims: usize) -> Vec<usize> {
    let mut sizes = vec![7usize; dims];
    let (name, bytes) = (CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, size_of::<usize>() * dims);
    let input = (&raw const count).cast();
    let mut size = 0;
    let code =
        t.clGetKernelSubGroupInfo(kernel.h, t.device, name, 8, input, bytes, sizes.as_mut_ptr().cast(), &mut size);
    assert_eq!((code, size), (0, bytes));
    sizes
}
