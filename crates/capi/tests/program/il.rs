//! Programs made from SPIR-V.
//!
//! The modules were made by clang and spirv-as from the files beside them in `crates/spirv/tests/modules`. What was
//! made from OpenCL C must do the same as the source when that is compiled here.

#![allow(unsafe_code, reason = "it calls the C interface")]

#[path = "../common/mod.rs"]
mod common;
use common::*;
use std::ffi::CStr;

/// A module and its source.
macro_rules! module {
    ($name:literal) => {
        (
            include_bytes!(concat!("../../../spirv/tests/modules/", $name, ".spv")).as_slice(),
            include_str!(concat!("../../../spirv/tests/modules/", $name, ".cl")),
        )
    };
}

const EXACT: &[u8] = include_bytes!("../../../spirv/tests/modules/exact.spv");
const ITEMS: usize = 64;

/// Numbers of all sizes, the same each time.
fn numbers(count: usize) -> Vec<i32> {
    let mut state = 1u64;
    let next = |i: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 32) as i32) >> (i * 5 % 31)
    };
    (0..count).map(next).collect()
}

/// Runs a kernel of `(out, in, …)`, 16 words of `out` for each work-item.
fn run(t: &Session, program: &Obj, name: &str, more: &dyn Fn(&Obj)) -> Vec<i32> {
    let kernel = t.kernel_of(program, name);
    let (out, input) = (t.buffer_of(&vec![0i32; 16 * ITEMS]), t.buffer_of(&numbers(2 * ITEMS + 4)));
    t.arg_mem(&kernel, 0, &out);
    t.arg_mem(&kernel, 1, &input);
    more(&kernel);
    drop(t.launch(&kernel, &[ITEMS], &[16]));
    t.read(&out, 16 * ITEMS)
}

/// Compares kernels of a module with those of its source.
fn compare(t: &Session, (il, source): (&[u8], &str), kernels: &[&str], more: &dyn Fn(&Obj)) {
    let module = t.built_il(il, "");
    let program = t.source(source);
    let code = t.build(&program, "-cl-std=CL3.0");
    assert_eq!(code, 0, "{}", t.log(&program));
    for name in kernels {
        let (found, wanted) = (run(t, &module, name, more), run(t, &program, name, more));
        assert!(wanted.iter().any(|&n| n != 0));
        for item in 0..ITEMS {
            let range = 16 * item..16 * item + 16;
            assert_eq!(found[range.clone()], wanted[range], "{name}, work-item {item}");
        }
    }
}

#[test]
fn a_module_computes_what_its_source_does() {
    let t = Session::new();
    compare(&t, module!("arith"), &["integers", "floats", "vectors", "control"], &|_| {});
    compare(&t, module!("builtins"), &["math", "integers"], &|_| {});
}

#[test]
fn structures_pass_by_value() {
    let t = Session::new();
    let store = t.buffer(0, 64 * ITEMS);
    // A tag, three numbers at 16, three weights at 32.
    let given: [u32; 12] = [3, 0, 0, 0, 7, 8, 9, 0, 1.5f32.to_bits(), 2.5f32.to_bits(), 3.5f32.to_bits(), 0];
    compare(&t, module!("arith"), &["records"], &|kernel| {
        ok(t.clSetKernelArg(kernel.h, 2, size_of_val(&given), given.as_ptr().cast()));
        t.arg_mem(kernel, 3, &store);
    });
}

#[test]
fn halves_are_stored_and_loaded() {
    let t = Session::new();
    let halves = t.buffer(0, 32 * ITEMS);
    compare(&t, module!("builtins"), &["halves"], &|kernel| t.arg_mem(kernel, 2, &halves));
}

#[test]
fn work_items_work_together() {
    let t = Session::new();
    compare(&t, module!("groups"), &["exchange"], &|kernel| {
        ok(t.clSetKernelArg(kernel.h, 2, 64, null()));
    });
    compare(&t, module!("groups"), &["atomics", "collective", "pointers"], &|_| {});
}

#[test]
fn built_in_variables_may_be_imported_constants() {
    let t = Session::new();
    let program = t.built_il(include_bytes!("../../../spirv/tests/modules/imported.spv"), "");
    let (kernel, out) = (t.kernel_of(&program, "where"), t.buffer_of(&[0u32; ITEMS]));
    t.arg_mem(&kernel, 0, &out);
    drop(t.launch(&kernel, &[ITEMS], &[16]));
    let wanted: Vec<u32> = (0..ITEMS as u32).map(|i| i % 16 + 100 * i + 10_000).collect();
    assert_eq!(t.read::<u32>(&out, ITEMS), wanted);
}

#[test]
fn packets_pass_through_pipes() {
    let t = Session::new();
    if t.device_info::<u32>(CL_DEVICE_PIPE_SUPPORT) == CL_FALSE {
        return;
    }
    let program = t.built_il(include_bytes!("../../../spirv/tests/modules/pipes.spv"), "");
    let pipe = |size: u32, count: usize| {
        let mut code = 1;
        let pipe = t.clCreatePipe(t.context(), 0, size, count as u32, null(), &mut code);
        ok(code);
        Obj::mem(pipe)
    };
    // Runs a kernel of (memory, pipe, results); gives the results.
    let run = |name: &str, memory: &Obj, pipe: &Obj| {
        let (kernel, out) = (t.kernel_of(&program, name), t.buffer_of(&[77i32; ITEMS]));
        t.arg_mem(&kernel, 0, memory);
        t.arg_mem(&kernel, 1, pipe);
        t.arg_mem(&kernel, 2, &out);
        drop(t.launch(&kernel, &[ITEMS], &[16]));
        t.read::<i32>(&out, ITEMS)
    };
    let sorted = |mut list: Vec<i32>| {
        list.sort_unstable();
        list
    };
    let (small, large) = (pipe(4, 2 * ITEMS), pipe(12, ITEMS));
    let ask = || {
        let (kernel, out) = (t.kernel_of(&program, "ask"), t.buffer_of(&[0i32; 4]));
        t.arg_mem(&kernel, 0, &out);
        t.arg_mem(&kernel, 1, &small);
        t.arg_mem(&kernel, 2, &large);
        drop(t.launch(&kernel, &[1], &[]));
        t.read::<i32>(&out, 4)
    };
    let (from, into) = (t.buffer_of(&numbers(ITEMS)), t.buffer_of(&[0i32; 2 * ITEMS]));
    // The reservation is one, the null one is none, and both packets are written.
    assert_eq!(run("write", &from, &small), [1; ITEMS]);
    assert_eq!(ask(), [2 * ITEMS as i32, 2 * ITEMS as i32, 0, ITEMS as i32]);
    // Both packets are read, and none from behind the reservation.
    assert_eq!(run("read", &into, &small), [-1; ITEMS]);
    assert_eq!(sorted(t.read(&into, 2 * ITEMS)), sorted([numbers(ITEMS), numbers(ITEMS)].concat()));
    for (write, read) in [("group_write", "sub_group_read"), ("sub_group_write", "group_read")] {
        let (from, into) = (t.buffer_of(&numbers(3 * ITEMS)), t.buffer_of(&[0i32; 3 * ITEMS]));
        assert_eq!(run(write, &from, &large), [0; ITEMS]);
        assert_eq!(ask()[2..], [ITEMS as i32; 2]);
        assert_eq!(run(read, &into, &large), [0; ITEMS]);
        assert_eq!(ask()[2], 0);
        let records = |list: Vec<i32>| {
            let mut records: Vec<[i32; 3]> = list.as_chunks().0.to_vec();
            records.sort_unstable();
            records
        };
        assert_eq!(records(t.read(&into, 3 * ITEMS)), records(numbers(3 * ITEMS)), "{write}, {read}");
    }
}

#[test]
fn specialisation_constants_have_values() {
    let t = Session::new();
    let program = t.program_of_il(EXACT);
    let run = |program: &Obj| {
        assert_eq!(t.build(program, ""), 0, "{}", t.log(program));
        let (kernel, out) = (t.kernel_of(program, "specialised"), t.buffer(0, 20));
        t.arg_mem(&kernel, 0, &out);
        drop(t.launch(&kernel, &[4, 2], &[4, 2]));
        t.read::<i32>(&out, 5)
    };
    assert_eq!(run(&program), [11, 14, 5_000_000_000u64 as i32, 14, 16]);
    let set = |number: u32, bytes: &[u8]| {
        t.clSetProgramSpecializationConstant(program.h, number, bytes.len(), bytes.as_ptr().cast())
    };
    ok(set(7, &20i32.to_le_bytes()));
    ok(set(7, &21i32.to_le_bytes()));
    ok(set(9, &(3u64 << 32 | 99).to_le_bytes()));
    ok(set(10, &100i16.to_le_bytes()));
    assert_eq!(run(&program), [21, 121, 99, 121, 16]);
    ok(set(8, &[0]));
    assert_eq!(run(&program), [21, 7, 99, 7, 16]);
    // Errors.
    assert_eq!(set(6, &[0; 4]), -71, "no such constant");
    assert_eq!(set(7, &[0; 8]), CL_INVALID_VALUE);
    assert_eq!(set(9, &[0; 4]), CL_INVALID_VALUE);
    assert_eq!(set(9, &[0; 64]), CL_INVALID_VALUE);
    assert_eq!(t.clSetProgramSpecializationConstant(program.h, 7, 4, null()), CL_INVALID_VALUE);
    let source = t.source("kernel void k() {}");
    let value = 1i32;
    let at = (&raw const value).cast();
    assert_eq!(t.clSetProgramSpecializationConstant(source.h, 7, 4, at), CL_INVALID_PROGRAM);
    assert_eq!(t.clSetProgramSpecializationConstant(null_mut(), 7, 4, at), CL_INVALID_PROGRAM);
}

/// What no compiler of OpenCL C writes.
#[test]
fn instructions_have_their_meaning() {
    let t = Session::new();
    let program = t.built_il(EXACT, "");
    let run = |name: &str, pairs: &[[i32; 2]]| {
        let mut words = vec![0i32; 16 * pairs.len()];
        for (room, pair) in words.chunks_exact_mut(16).zip(pairs) {
            room[..2].copy_from_slice(pair);
        }
        let (kernel, out) = (t.kernel_of(&program, name), t.buffer_of(&words));
        t.arg_mem(&kernel, 0, &out);
        drop(t.launch(&kernel, &[pairs.len()], &[]));
        t.read::<i32>(&out, words.len())
    };
    let bytes = |n: i32| n.to_le_bytes();
    let pairs = [[7, -3], [-7, 3], [i32::MAX, 2], [0x1234_5678, -0x7654_3211], [-6, 3], [1 << 30, 12]];
    for (found, [a, b]) in run("integers", &pairs).chunks(16).zip(pairs) {
        let (wide, uwide) = (i64::from(a) * i64::from(b), u64::from(a as u32) * u64::from(b as u32));
        let dot: i32 = bytes(a).iter().zip(bytes(b)).map(|(&x, y)| i32::from(x as i8) * i32::from(y as i8)).sum();
        let mixed: i32 = bytes(a).iter().zip(bytes(b)).map(|(&x, y)| i32::from(x as i8) * i32::from(y)).sum();
        let field = |n: i32, from: u32, count: u32| n << (32 - from - count) >> (32 - count);
        let wanted = [
            a.wrapping_rem(b) + if a % b != 0 && (a % b < 0) != (b < 0) { b } else { 0 },
            a.wrapping_add(b),
            i32::from((a as u32).overflowing_add(b as u32).1),
            i32::from((a as u32) < b as u32),
            (wide >> 32) as i32,
            (uwide >> 32) as i32,
            a.reverse_bits(),
            a & !(0x7f << 4) | (b & 0x7f) << 4,
            field(a, 3, 5),
            a << 3,
            dot,
            mixed + 16,
            a.wrapping_add(1),
            4,
            2,
        ];
        assert_eq!(found[..15], wanted, "{a} {b}");
    }
    let found = run("composites", &[[3, 0], [9, 0]]);
    assert_eq!(found[..9], [3, 2, 0, 7, 7, 3, 7, 5, 5], "not taken");
    assert_eq!(found[16..25], [3, 9, 7, 7, 7, 9, 16, 7, 5], "taken");
    assert_eq!(run("the same, again", &[[3, 0], [9, 0]]), found);
    let loops = |n: i32| {
        // As in the module: two blocks that both begin the loop.
        let (mut a, mut s) = (n, if n > 4 { n } else { 16 });
        loop {
            s += 1;
            let next = a - 1;
            if next <= 0 {
                return s;
            }
            (a, s) = (next, s + next);
        }
    };
    let starts = [[1, 0], [3, 0], [4, 0], [5, 0], [9, 0], [65534, 0]];
    for (found, [n, _]) in run("loops", &starts[..5]).chunks(16).zip(starts) {
        let second = if n == 3 { 2 } else { 0 };
        assert_eq!(found[..2], [loops(n), second], "{n}");
    }
    assert_eq!(run("loops", &starts[5..])[1], 2, "a case of 16 bits");
    let (x, y) = (1.000_000_1f32, 1.000_000_2f32);
    let sums = run("sum.of it", &[[x.to_bits() as i32, y.to_bits() as i32]]);
    // Rounded once or twice, as the processor does it faster.
    let once = x.mul_add(x, -y);
    assert!([once, x * x - y].map(f32::to_bits).contains(&(sums[0] as u32)), "{}", sums[0]);
    assert_eq!([sums[1], sums[2]], [sums[0], (-f32::from_bits(sums[0] as u32)).to_bits() as i32]);
}

#[test]
fn a_program_tells_where_it_comes_from() {
    let t = Session::new();
    let program = t.built_il(EXACT, "-cl-fast-relaxed-math -Dignored=1 -cl-kernel-arg-info");
    assert_eq!(query(|s, v, r| t.clGetProgramInfo(program.h, CL_PROGRAM_IL, s, v, r)), EXACT);
    assert_eq!(text(|s, v, r| t.clGetProgramInfo(program.h, CL_PROGRAM_SOURCE, s, v, r)), "");
    let names = text(|s, v, r| t.clGetProgramInfo(program.h, CL_PROGRAM_KERNEL_NAMES, s, v, r));
    assert_eq!(names, "specialised;integers;composites;the same, again;loops;sum.of it");
    let kernel = t.kernel_of(&program, "specialised");
    let arg = |name| text(|s, v, r| t.clGetKernelArgInfo(kernel.h, 0, name, s, v, r));
    assert_eq!([arg(CL_KERNEL_ARG_NAME), arg(CL_KERNEL_ARG_TYPE_NAME)], ["first argument", "int*"]);
    let space: u32 = info(|s, v, r| t.clGetKernelArgInfo(kernel.h, 0, CL_KERNEL_ARG_ADDRESS_QUALIFIER, s, v, r));
    assert_eq!(space, CL_KERNEL_ARG_ADDRESS_GLOBAL);
    let name = CL_KERNEL_COMPILE_WORK_GROUP_SIZE;
    let size: Vec<usize> = list(|s, v, r| t.clGetKernelWorkGroupInfo(kernel.h, t.device, name, s, v, r));
    assert_eq!(size, [4, 2, 1]);
    let attributes = text(|s, v, r| t.clGetKernelInfo(kernel.h, CL_KERNEL_ATTRIBUTES, s, v, r));
    assert_eq!(attributes, "", "they are those of sources");
    let (arith, _) = module!("arith");
    let kernel = t.kernel_of(&t.built_il(arith, ""), "records");
    let names: Vec<String> =
        (0..4).map(|i| text(|s, v, r| t.clGetKernelArgInfo(kernel.h, i, CL_KERNEL_ARG_NAME, s, v, r))).collect();
    assert_eq!(names, ["out", "in", "given", "store"]);
    // A binary of it is a program as any other.
    let sizes: Vec<usize> = list(|s, v, r| t.clGetProgramInfo(program.h, CL_PROGRAM_BINARY_SIZES, s, v, r));
    let mut bytes = vec![0u8; sizes[0]];
    let mut place = bytes.as_mut_ptr();
    ok(t.clGetProgramInfo(program.h, CL_PROGRAM_BINARIES, size_of::<usize>(), (&raw mut place).cast(), null_mut()));
    let (mut code, mut status, at) = (1, 1, bytes.as_ptr());
    let again = t.clCreateProgramWithBinary(t.context(), 1, &t.device, &sizes[0], &at, &mut status, &mut code);
    ok(code);
    let again = Obj::program(again);
    assert_eq!(t.build(&again, ""), 0);
    assert!(query(|s, v, r| t.clGetProgramInfo(again.h, CL_PROGRAM_IL, s, v, r)).is_empty());
    drop(t.kernel_of(&again, "the same, again"));
}

#[test]
fn either_order_of_bytes_is_read() {
    let t = Session::new();
    let swapped: Vec<u8> = EXACT.chunks_exact(4).flat_map(|w| [w[3], w[2], w[1], w[0]]).collect();
    let program = t.built_il(&swapped, "");
    assert_eq!(query(|s, v, r| t.clGetProgramInfo(program.h, CL_PROGRAM_IL, s, v, r)), swapped);
    let kernel = t.kernel_of(&program, "specialised");
    let arg = |name| text(|s, v, r| t.clGetKernelArgInfo(kernel.h, 0, name, s, v, r));
    assert_eq!(arg(CL_KERNEL_ARG_NAME), "first argument");
}

#[test]
fn what_is_no_spirv_is_refused() {
    let t = Session::new();
    let create = |bytes: &[u8]| {
        let mut code = 1;
        let program = t.clCreateProgramWithIL(t.context(), bytes.as_ptr().cast(), bytes.len(), &mut code);
        assert!(program.is_null());
        code
    };
    assert_eq!(create(b"kernel void k() {} // text"), CL_INVALID_VALUE);
    assert_eq!(create(&[]), CL_INVALID_VALUE);
    assert_eq!(create(&EXACT[..21]), CL_INVALID_VALUE);
    assert_eq!(create(&EXACT[..EXACT.len() - 12]), CL_INVALID_VALUE, "cut");
    let mut other = EXACT.to_vec();
    other[6] = 2;
    assert_eq!(create(&other), CL_INVALID_VALUE, "another version");
    let mut code = 1;
    assert!(t.clCreateProgramWithIL(t.context(), null(), 8, &mut code).is_null() && code == CL_INVALID_VALUE);
    let il = EXACT.as_ptr().cast();
    assert!(t.clCreateProgramWithIL(null_mut(), il, EXACT.len(), &mut code).is_null() && code == CL_INVALID_CONTEXT);
}

/// The module with the first instruction of a kind replaced.
fn patched(op: u32, change: impl Fn(&mut [u32])) -> Vec<u8> {
    let mut words: Vec<u32> = EXACT.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect();
    let mut at = 5;
    while words[at] & 0xffff != op {
        at += (words[at] >> 16) as usize;
    }
    let count = (words[at] >> 16) as usize;
    change(&mut words[at..at + count]);
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

#[test]
fn a_bad_module_fails_with_a_reason() {
    let t = Session::new();
    let cases: [(Vec<u8>, &str); 6] = [
        (patched(17, |w| w[1] = 60), "OpCapability at word 5: pipes of a program are not supported"),
        (patched(14, |w| w[1] = 1), "addresses of 32 bits"),
        (patched(21, |w| w[2] = 24), "OpTypeInt"),
        (patched(57, |w| w[3] = w[2]), "OpFunctionCall"),
        (patched(128, |w| w[3] = w[2]), "is not defined here"),
        (patched(245, |w| w[4] += 1), "phi"),
    ];
    for (il, reason) in cases {
        let program = t.program_of_il(&il);
        assert_eq!(t.build(&program, ""), CL_BUILD_PROGRAM_FAILURE, "{reason}");
        let log = t.log(&program);
        assert!(log.starts_with("error: ") && log.contains(reason), "{log}");
    }
    let program = t.program_of_il(EXACT);
    assert_eq!(t.build(&program, "-no-such-option"), CL_INVALID_BUILD_OPTIONS);
}

#[test]
fn modules_link_with_source() {
    let t = Session::new();
    let compile = |program: &Obj| {
        let options = c"-cl-std=CL3.0".as_ptr();
        let code = t.clCompileProgram(program.h, 0, null(), options, 0, null(), null(), None, null_mut());
        assert_eq!(code, 0, "{}", t.log(program));
    };
    let link = |inputs: &[&Obj]| {
        let inputs: Vec<Handle> = inputs.iter().map(|p| p.h).collect();
        let mut code = 1;
        let (n, list) = (inputs.len() as u32, inputs.as_ptr());
        let program = t.clLinkProgram(t.context(), 0, null(), null(), n, list, None, null_mut(), &mut code);
        (code, Obj::program(program))
    };
    let (il, _) = module!("linked");
    let module = t.program_of_il(il);
    compile(&module);
    let source = t.source(
        "int triple(int x) { return 3 * x; }
         constant int offsets[2] = {10, 20};
         typedef struct { int a; int b[3]; } record;
         record changed(record r, int by);
         int added(int a, int b);
         kernel void outer(global int *out) {
             record r = {out[0], {1, 2, 3}};
             record s = changed(r, 5);
             out[1] = s.a + s.b[1] * 100 + r.b[1] * 10000 + added(3, 4);
         }",
    );
    compile(&source);
    let (code, alone) = link(&[&module]);
    assert_eq!(code, CL_LINK_PROGRAM_FAILURE);
    assert!(t.log(&alone).contains("`triple` is called"), "{}", t.log(&alone));
    for inputs in [[&module, &source], [&source, &module]] {
        let (code, program) = link(&inputs);
        assert_eq!(code, 0, "{}", t.log(&program));
        let out = t.buffer_of(&[5, 0, 0, 0]);
        for name in ["inner", "outer"] {
            let kernel = t.kernel_of(&program, name);
            t.arg_mem(&kernel, 0, &out);
            drop(t.launch(&kernel, &[1], &[]));
        }
        // inner: out[2] = triple(out[0]) + offsets[1], out[3] = added(1, 2).
        assert_eq!(t.read::<i32>(&out, 4), [5, 5 + 5 + 7 * 100 + 2 * 10000 + 7, 35, 3]);
    }
}

/// The names at the addresses that a query gives.
fn names(t: &Session, name: u32) -> Vec<String> {
    let addresses: Vec<usize> = list(|s, v, r| t.clGetDeviceInfo(t.device, name, s, v, r));
    let text = |&at: &usize| {
        // SAFETY: the query gives addresses of strings, which the driver keeps.
        unsafe { CStr::from_ptr(std::ptr::with_exposed_provenance(at)) }.to_str().expect("UTF-8").to_owned()
    };
    addresses.iter().map(text).collect()
}

#[test]
fn the_device_tells_what_it_takes() {
    let t = Session::new();
    let versions = text(|s, v, r| t.clGetDeviceInfo(t.device, CL_DEVICE_IL_VERSION, s, v, r));
    assert_eq!(versions, "SPIR-V_1.0 SPIR-V_1.1 SPIR-V_1.2 SPIR-V_1.3 SPIR-V_1.4 SPIR-V_1.5 SPIR-V_1.6");
    assert_eq!(names(&t, 0x12B9), ["OpenCL.std"]);
    let extensions = names(&t, 0x12BA);
    assert!(extensions.iter().any(|e| e == "SPV_KHR_expect_assume"), "{extensions:?}");
    let capabilities: Vec<u32> = list(|s, v, r| t.clGetDeviceInfo(t.device, 0x12BB, s, v, r));
    // Kernel and Float64, but not Shader.
    assert!(capabilities.contains(&6) && capabilities.contains(&10) && !capabilities.contains(&1));
    let function = c"clCreateProgramWithILKHR";
    assert!(!t.clGetExtensionFunctionAddressForPlatform(t.platform, function.as_ptr()).is_null());
}

const INTEL: &[u8] = include_bytes!("../../../spirv/tests/modules/intel.spv");
const ONCE: &[u8] = include_bytes!("../../../spirv/tests/modules/once.spv");

/// What SYCL compilers write.
#[test]
fn sub_groups_exchange_as_sycl_programs_do() {
    const SIZE: usize = 16;
    let t = Session::new();
    let program = t.built_il(INTEL, "");
    let more = t.buffer_of(&[0u32; ITEMS]);
    let kernel = t.kernel_of(&program, "exchange");
    // Blocks of two reach beyond the last sub-group's.
    let given = numbers(ITEMS + SIZE);
    let (out, input) = (t.buffer_of(&[0i32; 16 * ITEMS]), t.buffer_of(&given));
    for (i, buffer) in [&out, &input, &more].into_iter().enumerate() {
        t.arg_mem(&kernel, i as u32, buffer);
    }
    drop(t.launch(&kernel, &[ITEMS], &[32]));
    let (got, written) = (t.read::<i32>(&out, 16 * ITEMS), t.read::<i32>(&more, ITEMS));
    let b = |n: i32| n.wrapping_mul(7);
    for item in 0..ITEMS {
        let (own, first, group) = (item % SIZE, item - item % SIZE, item - item % 32);
        let here = &given[first..first + SIZE];
        let whole = &given[group..group + 32];
        let product = here.iter().fold(1i32, |p, n| p.wrapping_mul(n | 1));
        let even = i32::from(whole.iter().all(|n| n & 1 == 0));
        let wanted = [
            here[own ^ 3],
            here[own ^ 1],
            if own + 2 < SIZE { here[own + 2] } else { b(here[own + 2 - SIZE]) },
            if own >= 3 { here[own - 3] } else { b(here[own + SIZE - 3]) },
            given[item],
            given[item + SIZE],
            product,
            whole.iter().fold(0, |x, n| x ^ n),
            even + 7,
            SIZE as i32,
        ];
        assert_eq!(got[16 * item..16 * item + 10], wanted, "work-item {item}");
        assert_eq!(written[item], b(given[item]));
    }
}

#[test]
fn floats_in_memory_are_added() {
    let t = Session::new();
    let program = t.built_il(INTEL, "");
    let given: Vec<f32> = (0..ITEMS).map(|i| (i * 37 % 64) as f32 - 20.0).collect();
    let (out, input) = (t.buffer_of(&[0.5f32, 100.0, -100.0]), t.buffer_of(&given));
    let kernel = t.kernel_of(&program, "numbers");
    t.arg_mem(&kernel, 0, &out);
    t.arg_mem(&kernel, 1, &input);
    drop(t.launch(&kernel, &[ITEMS], &[16]));
    assert_eq!(t.read::<f32>(&out, 3), [given.iter().sum::<f32>() + 0.5, -20.0, 43.0]);
}

#[test]
fn of_two_definitions_that_are_alike_one_is_linked() {
    let t = Session::new();
    let parts = [t.program_of_il(INTEL), t.program_of_il(ONCE)];
    for part in &parts {
        ok(t.clCompileProgram(part.h, 0, null(), c"".as_ptr(), 0, null(), null(), None, null_mut()));
    }
    let handles = [parts[1].h, parts[0].h];
    let mut code = 1;
    let linked =
        t.clLinkProgram(t.context(), 0, null(), c"".as_ptr(), 2, handles.as_ptr(), None, null_mut(), &mut code);
    ok(code);
    let linked = Obj::program(linked);
    drop(t.kernel_of(&linked, "exchange"));
}
