//! The crate as a Rust program uses it: results against plain Rust, and every kind of error.

#![allow(unsafe_code, reason = "a launch is unsafe; the kernels here are checked by eye")]

use cloom::{Buffer, BuildError, Context, Error, Local, Options, Range, Status};
use std::sync::{Arc, Mutex};

fn kernel(context: &Context, source: &str, name: &str) -> cloom::Kernel {
    context.build(source).unwrap().kernel(name).unwrap()
}

#[test]
fn a_group_reverses_its_elements_through_local_memory() {
    let context = Context::new().unwrap();
    let reverse = kernel(
        &context,
        "kernel void reverse(global int *data, local int *tile) {
            size_t l = get_local_id(0), n = get_local_size(0);
            tile[l] = data[get_global_id(0)];
            barrier(CLK_LOCAL_MEM_FENCE);
            data[get_global_id(0)] = tile[n - 1 - l];
        }",
        "reverse",
    );
    let data: Vec<i32> = (0..96).collect();
    let buffer = context.buffer_from(&data).unwrap();
    // SAFETY: one element and one element of local memory for each work-item.
    unsafe { reverse.launch(Range::new([96]).local([32]), (&buffer, Local::<i32>::new(32))).unwrap() };
    let expected: Vec<i32> = data.chunks(32).flat_map(|c| c.iter().rev().copied()).collect();
    assert_eq!(buffer.to_vec().unwrap(), expected);
}

#[test]
fn a_module_of_spirv_is_a_program() {
    let context = Context::new().unwrap();
    let program = context.build_il(include_bytes!("../../spirv/tests/modules/exact.spv"), "").unwrap();
    let out = context.buffer::<i32>(5).unwrap();
    // SAFETY: each work-item writes the same five elements.
    unsafe { program.kernel("specialised").unwrap().launch(Range::new([4, 2]), (&out,)).unwrap() };
    assert_eq!(out.to_vec().unwrap(), [11, 14, 5_000_000_000u64 as i32, 14, 16]);
    assert!(context.build_il(b"no module", "").err().unwrap().log.contains("no SPIR-V"));
}

#[test]
fn ranges_have_offsets_and_three_dimensions() {
    let context = Context::new().unwrap();
    let mark = kernel(
        &context,
        "kernel void mark(global uint *p) {
            uint x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
            p[(z * 4 + y) * 4 + x] = 100 * z + 10 * y + x;
        }",
        "mark",
    );
    let p = context.buffer::<u32>(64).unwrap();
    // SAFETY: ids are below 4 in each dimension.
    unsafe { mark.launch(Range::new([2, 3, 1]).offset([1, 0, 3]), (&p,)).unwrap() };
    let written: Vec<u32> = p.to_vec().unwrap().into_iter().filter(|&v| v != 0).collect();
    assert_eq!(written, [301, 302, 311, 312, 321, 322]);
}

#[test]
fn vectors_and_structures_are_passed_by_value() {
    #[derive(Clone, Copy)]
    #[repr(C)]
    struct Pair {
        a: f32,
        b: i32,
    }
    // SAFETY: two fields of four bytes, without padding, that take any bits.
    unsafe impl bytemuck::Zeroable for Pair {}
    // SAFETY: two fields of four bytes, without padding, that take any bits.
    unsafe impl bytemuck::Pod for Pair {}

    let context = Context::new().unwrap();
    let sum = kernel(
        &context,
        "struct pair { float a; int b; };
        kernel void sum(global float *out, float3 v, struct pair p, char c) { *out = v.x + v.y + v.z + p.a + p.b + c; }",
        "sum",
    );
    let out = context.buffer::<f32>(1).unwrap();
    let pair = Pair { a: 0.5, b: 7 };
    // SAFETY: one work-item writes one element.
    unsafe { sum.launch(Range::new([1]), (&out, [1.0f32, 2.0, 3.0], pair, -4i8)).unwrap() };
    assert_eq!(out.to_vec().unwrap(), [1.0 + 2.0 + 3.0 + 0.5 + 7.0 - 4.0]);
}

#[test]
fn launches_run_in_order_and_tell_their_times() {
    let context = Context::with(Options { profiling: true, threads: 2, ..Options::default() }).unwrap();
    let step = kernel(&context, "kernel void f(global int *p, int k) { p[get_global_id(0)] = 3 * *p + k; }", "f");
    let p = context.buffer::<i32>(1).unwrap();
    let mut expected = 0i32;
    let mut last = None;
    for k in 0..50 {
        // SAFETY: one work-item, one element.
        last = Some(unsafe { step.launch(Range::new([1]), (&p, k)).unwrap() });
        expected = expected.wrapping_mul(3).wrapping_add(k);
    }
    let last = last.unwrap();
    last.wait().unwrap();
    assert!(last.is_done());
    assert!(last.times().unwrap().running.as_nanos() > 0);
    assert_eq!(p.to_vec().unwrap(), [expected]);
}

#[test]
fn one_kernel_launched_by_many_threads_keeps_their_arguments_apart() {
    let context = Context::new().unwrap();
    let fill = kernel(&context, "kernel void fill(global int *p, int v) { p[get_global_id(0)] = v; }", "fill");
    std::thread::scope(|scope| {
        for v in 0..8 {
            let (context, fill) = (&context, &fill);
            scope.spawn(move || {
                for round in 0..50 {
                    let p: Buffer<i32> = context.buffer(64).unwrap();
                    let value = 100 * v + round;
                    // SAFETY: an element for each work-item.
                    unsafe { fill.launch(Range::new([64]), (&p, value)).unwrap() };
                    assert_eq!(p.to_vec().unwrap(), [value; 64]);
                }
            });
        }
    });
}

#[test]
fn what_kernels_print_goes_to_the_printer() {
    let text = Arc::new(Mutex::new(Vec::new()));
    let sink = text.clone();
    let printer: cloom::Printer = Box::new(move |bytes| sink.lock().unwrap().extend_from_slice(bytes));
    let context = Context::with(Options { printer: Some(printer), ..Options::default() }).unwrap();
    let hello = kernel(&context, "kernel void hello() { printf(\"hello %d\\n\", (int)get_global_id(0)); }", "hello");
    // SAFETY: it touches no memory.
    unsafe { hello.launch(Range::new([1]).offset([41]), ()).unwrap() };
    context.finish();
    assert_eq!(text.lock().unwrap().as_slice(), b"hello 41\n");
}

#[test]
fn diagnostics_are_data() {
    let context = Context::new().unwrap();
    let BuildError { diagnostics, log } =
        context.build("kernel void k(global int *p) {\n    *p = lenght(*p);\n}").err().unwrap();
    let error = diagnostics.iter().find(|d| d.is_error).unwrap();
    let at = error.location.as_ref().unwrap();
    assert_eq!((at.line, at.column), (2, 10), "{error:?}");
    assert!(error.message.contains("lenght") && error.code.starts_with('E'), "{error:?}");
    assert!(log.contains(&error.message));
    // A wrong option has no source location.
    let error = context.build_with("kernel void k() {}", "-cl-no-such-option").err().unwrap();
    assert!(error.diagnostics.iter().any(|d| d.is_error && d.location.is_none()), "{error:?}");
    // Warnings of a build that succeeds.
    let program = context.build("#warning look here\nkernel void k() {}").unwrap();
    assert!(program.warnings().iter().any(|d| !d.is_error && d.message.contains("look here")));
    assert_eq!(program.kernels(), ["k"]);
}

#[test]
fn arguments_that_do_not_fit_are_refused() {
    let context = Context::new().unwrap();
    let program = context.build("kernel void k(global float *p, int n, local float *t) {}").unwrap();
    assert!(matches!(program.kernel("none"), Err(Error::OpenCl { status: Status::InvalidKernelName, .. })));
    let k = program.kernel("k").unwrap();
    let (floats, ints) = (context.buffer::<f32>(4).unwrap(), context.buffer::<i32>(4).unwrap());
    let tile = Local::<f32>::new(4);
    let range = Range::new([4]);
    // SAFETY: the kernel does nothing.
    unsafe {
        let e = k.launch(range, (&floats, 1i32)).err().unwrap();
        assert!(matches!(e, Error::ArgumentCount { expected: 3, given: 2, .. }), "{e}");
        let e = k.launch(range, (&ints, 1i32, tile)).err().unwrap();
        assert!(matches!(e, Error::ArgumentType { index: 0, .. }), "{e}");
        let e = k.launch(range, (&floats, 1.0f32, tile)).err().unwrap();
        assert!(matches!(e, Error::ArgumentType { index: 1, .. }), "{e}");
        let e = k.launch(range, (1u64, 1i32, tile)).err().unwrap();
        assert!(matches!(e, Error::ArgumentType { index: 0, .. }), "{e}");
        let e = k.launch(range, ([1u32; 2], 1i32, tile)).err().unwrap();
        assert!(matches!(e, Error::OpenCl { status: Status::InvalidArgValue, .. }), "{e}");
        let e = k.launch(range.local([1 << 20]), (&floats, 1u32, tile)).err().unwrap();
        assert!(matches!(e, Error::OpenCl { status: Status::InvalidWorkItemSize, .. }), "{e}");
        k.launch(range, (&floats, 1u32, tile)).unwrap().wait().unwrap();
    }
}

#[test]
fn slices_of_another_length_and_empty_buffers_are_refused() {
    let context = Context::new().unwrap();
    let buffer = context.buffer_from(&[1u16, 2, 3]).unwrap();
    assert!(matches!(buffer.write(&[1]), Err(Error::Length { buffer: 3, slice: 1 })));
    assert!(matches!(buffer.read(&mut [0; 4]), Err(Error::Length { buffer: 3, slice: 4 })));
    buffer.write(&[7, 8, 9]).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [7, 8, 9]);
    assert!(context.buffer::<f32>(0).is_err());
    assert!(context.buffer::<u64>(usize::MAX / 2).is_err());
}

#[test]
fn instructions_that_do_not_exist_are_refused() {
    let options = Options { cpu: Some("mmx".into()), ..Options::default() };
    assert!(matches!(Context::with(options).err().unwrap(), Error::NoDevice(why) if why.contains("mmx")));
}
