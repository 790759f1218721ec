//! Chapter 5.8 of the specification: programs from source and binaries; building, compiling, linking; logs and queries.

#![allow(unsafe_code, reason = "it calls the C interface")]

#[path = "../common/mod.rs"]
mod common;
use common::*;
use std::ffi::{CString, c_char};

const ADD: &str = "kernel void k(global uint *p) { p[get_global_id(0)] += N; }";

/// Runs kernel `k` of a program on a word.
fn run(t: &Session, program: &Obj, word: u32) -> u32 {
    let kernel = t.kernel_of(program, "k");
    let buffer = t.buffer_of(&[word]);
    t.arg_mem(&kernel, 0, &buffer);
    drop(t.launch(&kernel, &[1], &[]));
    t.read::<u32>(&buffer, 1)[0]
}

fn status(t: &Session, program: &Obj) -> i32 {
    info(|s, v, r| t.clGetProgramBuildInfo(program.h, t.device, CL_PROGRAM_BUILD_STATUS, s, v, r))
}

fn binary_type(t: &Session, program: &Obj) -> u32 {
    info(|s, v, r| t.clGetProgramBuildInfo(program.h, t.device, CL_PROGRAM_BINARY_TYPE, s, v, r))
}

fn binary(t: &Session, program: &Obj) -> Vec<u8> {
    let sizes: Vec<usize> = list(|s, v, r| t.clGetProgramInfo(program.h, CL_PROGRAM_BINARY_SIZES, s, v, r));
    assert_eq!(sizes.len(), 1);
    let mut bytes = vec![0u8; sizes[0]];
    let mut places = [bytes.as_mut_ptr()];
    let (size, at) = (size_of_val(&places), places.as_mut_ptr().cast());
    ok(t.clGetProgramInfo(program.h, CL_PROGRAM_BINARIES, size, at, null_mut()));
    bytes
}

fn load(t: &Session, bytes: &[u8]) -> Result<Obj, (i32, i32)> {
    let (mut code, mut status) = (1, 1);
    let (at, size) = (bytes.as_ptr(), bytes.len());
    let program = t.clCreateProgramWithBinary(t.context(), 1, &t.device, &size, &at, &mut status, &mut code);
    if program.is_null() { Err((code, status)) } else { Ok(Obj::program(program)) }
}

fn compile(t: &Session, program: &Obj, options: &str, headers: &[(&str, &Obj)]) -> i32 {
    let options = CString::new(options).unwrap();
    let names: Vec<CString> = headers.iter().map(|h| CString::new(h.0).unwrap()).collect();
    let names: Vec<*const c_char> = names.iter().map(|n| n.as_ptr()).collect();
    let programs: Vec<Handle> = headers.iter().map(|h| h.1.h).collect();
    let empty = headers.is_empty();
    let (p, n) = if empty { (null(), null()) } else { (programs.as_ptr(), names.as_ptr()) };
    let count = headers.len() as u32;
    t.clCompileProgram(program.h, 0, null(), options.as_ptr(), count, p, n, None, null_mut())
}

fn link(t: &Session, options: &str, inputs: &[&Obj]) -> (Option<Obj>, i32) {
    let options = CString::new(options).unwrap();
    let inputs: Vec<Handle> = inputs.iter().map(|i| i.h).collect();
    let (n, list) = (inputs.len() as u32, inputs.as_ptr());
    let mut code = 1;
    let program = t.clLinkProgram(t.context(), 0, null(), options.as_ptr(), n, list, None, null_mut(), &mut code);
    ((!program.is_null()).then(|| Obj::program(program)), code)
}

#[test]
fn sources_come_in_pieces() {
    let t = Session::new();
    let pieces = ["kernel void k(global uint *p) ", "{ p[0] += 2", "; }junk"];
    let pointers = pieces.map(|p| p.as_ptr().cast::<c_char>());
    let lengths = [pieces[0].len(), pieces[1].len(), 3];
    let mut code = 1;
    let make = |lengths: *const usize, n, p: *const *const c_char, code| {
        t.clCreateProgramWithSource(t.context(), n, p, lengths, code)
    };
    let program = Obj::program(make(lengths.as_ptr(), 3, pointers.as_ptr(), &mut code));
    ok(code);
    assert_eq!(t.build(&program, ""), 0, "{}", t.log(&program));
    assert_eq!(run(&t, &program, 40), 42);
    let source = text(|s, v, r| t.clGetProgramInfo(program.h, CL_PROGRAM_SOURCE, s, v, r));
    assert_eq!(source, "kernel void k(global uint *p) { p[0] += 2; }");
    // A length of zero, and no lengths at all, mean that a zero ends the piece.
    let ended = [c"kernel void k(global uint *p) ".as_ptr(), c"{ p[0] += 3; }".as_ptr()];
    for lengths in [null(), [0usize, 0].as_ptr()] {
        let program = Obj::program(make(lengths, 2, ended.as_ptr(), &mut code));
        ok(code);
        assert_eq!(t.build(&program, ""), 0);
        assert_eq!(run(&t, &program, 40), 43);
    }
}

#[test]
fn a_program_describes_itself() {
    let t = Session::new();
    let program = t.source(ADD);
    let handle = program.h;
    let ask = |name| move |s, v, r| api().clGetProgramInfo(handle, name, s, v, r);
    assert_eq!(info::<usize>(ask(CL_PROGRAM_CONTEXT)), t.context() as usize);
    assert_eq!(info::<u32>(ask(CL_PROGRAM_NUM_DEVICES)), 1);
    assert_eq!(list::<usize>(ask(CL_PROGRAM_DEVICES)), [t.device as usize]);
    assert_eq!(text(ask(CL_PROGRAM_SOURCE)), ADD);
    assert_eq!(info::<u32>(ask(CL_PROGRAM_REFERENCE_COUNT)), 1);
    assert_eq!(list::<usize>(ask(CL_PROGRAM_BINARY_SIZES)), [0], "not built yet");
    assert!(query(ask(CL_PROGRAM_IL)).is_empty());
    let count = t.clGetProgramInfo(handle, CL_PROGRAM_NUM_KERNELS, 0, null_mut(), null_mut());
    assert_eq!(count, CL_INVALID_PROGRAM_EXECUTABLE);
    let names = t.clGetProgramInfo(handle, CL_PROGRAM_KERNEL_NAMES, 0, null_mut(), null_mut());
    assert_eq!(names, CL_INVALID_PROGRAM_EXECUTABLE);
    assert_eq!(status(&t, &program), CL_BUILD_NONE);
    assert_eq!(binary_type(&t, &program), CL_PROGRAM_BINARY_TYPE_NONE);
    assert_eq!(t.build(&program, "-DN=1"), 0);
    assert_eq!(status(&t, &program), CL_BUILD_SUCCESS);
    assert_eq!(binary_type(&t, &program), CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    assert_eq!(info::<usize>(ask(CL_PROGRAM_NUM_KERNELS)), 1);
    assert_eq!(text(ask(CL_PROGRAM_KERNEL_NAMES)), "k");
    assert!(list::<usize>(ask(CL_PROGRAM_BINARY_SIZES))[0] > 0);
    let options = text(|s, v, r| t.clGetProgramBuildInfo(handle, t.device, CL_PROGRAM_BUILD_OPTIONS, s, v, r));
    assert_eq!(options, "-DN=1");
    let globals =
        |s, v, r| t.clGetProgramBuildInfo(handle, t.device, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, s, v, r);
    assert_eq!(info::<usize>(globals), 0);
    for name in [CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT, CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT] {
        assert_eq!(info::<u32>(ask(name)), CL_FALSE);
    }
    ok(t.clRetainProgram(handle));
    assert_eq!(info::<u32>(ask(CL_PROGRAM_REFERENCE_COUNT)), 2);
    ok(t.clReleaseProgram(handle));
    let several = t.program("kernel void b(void) {} kernel void a(void) {} void c(void) {}");
    let mut names: Vec<String> = text(|s, v, r| t.clGetProgramInfo(several.h, CL_PROGRAM_KERNEL_NAMES, s, v, r))
        .split(';')
        .map(str::to_owned)
        .collect();
    names.sort();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn a_program_is_built_again_with_other_options() {
    let t = Session::new();
    let program = t.source(ADD);
    for n in [1u32, 7, 3] {
        assert_eq!(t.build(&program, &format!("-D N={n}")), 0);
        assert_eq!(run(&t, &program, 10), 10 + n);
    }
    let kernel = t.kernel_of(&program, "k");
    assert_eq!(t.build(&program, "-DN=1"), CL_INVALID_OPERATION, "a kernel is attached");
    drop(kernel);
    assert_eq!(t.build(&program, "-DN=9"), 0);
    assert_eq!(run(&t, &program, 0), 9);
}

#[test]
fn a_failed_build_has_a_log_with_the_place() {
    let t = Session::new();
    let program = t.source("kernel void k(global uint *p) {\n    p[0] = missing;\n}\n");
    assert_eq!(t.build(&program, ""), CL_BUILD_PROGRAM_FAILURE);
    assert_eq!(status(&t, &program), CL_BUILD_ERROR);
    let log = t.log(&program);
    assert!(log.contains("missing") && log.contains("2:"), "{log}");
    let mut code = 0;
    assert!(t.clCreateKernel(program.h, c"k".as_ptr(), &mut code).is_null());
    assert_eq!(code, CL_INVALID_PROGRAM_EXECUTABLE);
    // It may be built again, and the log is then the new one.
    assert_eq!(t.build(&program, "-Dmissing=5"), 0);
    assert!(!t.log(&program).contains("error"));
    assert_eq!(run(&t, &program, 1), 5);
}

#[test]
fn options_that_nobody_knows_are_refused() {
    let t = Session::new();
    let program = t.source(ADD);
    let mut c = Cases::new();
    // The last two are for clLinkProgram alone.
    let last = ["-create-library", "-create-library -enable-link-options"];
    for bad in ["-no-such-option", "-D", "-cl-std=CL9.9", "-DN=1 -x", "-I"].into_iter().chain(last) {
        c.code(bad, CL_INVALID_BUILD_OPTIONS, t.build(&program, bad));
        c.code(&format!("compile {bad}"), CL_INVALID_COMPILER_OPTIONS, compile(&t, &program, bad, &[]));
    }
    c.end();
    assert_eq!(compile(&t, &program, "-DN=1", &[]), 0);
    let (linked, code) = link(&t, "-no-such-option", &[&program]);
    assert_eq!(code, CL_INVALID_LINKER_OPTIONS);
    drop(linked);
}

#[test]
fn a_build_in_the_background_calls_back() {
    let t = Session::new();
    let calls = Calls::new();
    for (source, wanted) in [(ADD, CL_BUILD_SUCCESS), ("kernel void k( {", CL_BUILD_ERROR)] {
        let program = t.source(source);
        let send = calls.sender();
        let (call, data) = on_object(move |handle| send.send(handle).unwrap());
        let code = t.clBuildProgram(program.h, 1, &t.device, c"-DN=4".as_ptr(), call, data);
        // A build that ends before the call returns may report its failure.
        assert!(code == 0 || wanted == CL_BUILD_ERROR, "{}", code_name(code));
        if code == 0 {
            assert_eq!(calls.next(), program.h as usize);
        }
        assert_eq!(status(&t, &program), wanted);
        if wanted == CL_BUILD_SUCCESS {
            assert_eq!(run(&t, &program, 1), 5);
        }
    }
}

/// A program that takes long to build: many functions of many statements. No cache has it.
fn long_source(functions: u32) -> String {
    let statements: String = (0..60).map(|i| format!("x = x * {}u + (x >> {}); ", 2 * i + 3, i % 31)).collect();
    let defined: String = (0..functions).map(|i| format!("uint f{i}(uint x) {{ {statements} return x; }}\n")).collect();
    let calls: String = (0..functions).map(|i| format!("x ^= f{i}(x); ")).collect();
    let now = std::time::SystemTime::now();
    format!("// {now:?}\n{defined} kernel void k(global uint *p) {{ uint x = p[0]; {calls} p[0] = x; }}")
}

#[test]
fn a_build_with_a_callback_returns_before_it_has_ended_and_holds_nobody_up() {
    // If the machine is busy, a short program may take as long as one that is not long enough.
    assert!([200, 800, 3200].into_iter().any(goes_before_a_build_of), "the short one goes first");
}

/// Whether a short program is built and run while one of so many functions is being built in the background.
fn goes_before_a_build_of(functions: u32) -> bool {
    let t = Session::new();
    let calls = Calls::new();
    let long = t.source(&long_source(functions));
    let send = calls.sender();
    let (call, data) = on_object(move |_| send.send(()).unwrap());
    ok(t.clBuildProgram(long.h, 0, null(), c"".as_ptr(), call, data));
    assert_eq!(status(&t, &long), CL_BUILD_IN_PROGRESS);
    // Meanwhile the program is not built again.
    let again = t.clBuildProgram(long.h, 0, null(), c"".as_ptr(), None, null_mut());
    assert_eq!(again, CL_INVALID_OPERATION);
    // Another program is built and run by this thread, while the first one is still in the background.
    let program = t.source(ADD);
    assert_eq!(t.build(&program, "-DN=4"), 0);
    assert_eq!(run(&t, &program, 1), 5);
    let is_first = status(&t, &long) == CL_BUILD_IN_PROGRESS;
    calls.next();
    assert_eq!(status(&t, &long), CL_BUILD_SUCCESS);
    is_first
}

/// Many applications give a callback and do not wait for it: other implementations build before they return.
#[test]
fn a_call_that_needs_a_build_in_the_background_waits_for_it() {
    let t = Session::new();
    let calls = Calls::new();
    let (mut code, none) = (1, null_mut());
    let program = t.source(&long_source(100));
    let send = calls.sender();
    let (call, data) = on_object(move |_| send.send(()).unwrap());
    ok(t.clBuildProgram(program.h, 0, null(), c"".as_ptr(), call, data));
    let kernel = t.clCreateKernel(program.h, c"k".as_ptr(), &mut code);
    assert_eq!(code, 0);
    ok(t.clReleaseKernel(kernel));
    calls.next();

    let part = t.source(&long_source(100));
    let send = calls.sender();
    let (call, data) = on_object(move |_| send.send(()).unwrap());
    ok(t.clCompileProgram(part.h, 0, null(), c"".as_ptr(), 0, null(), null(), call, data));
    let linked = t.clLinkProgram(t.context(), 0, null(), null(), 1, &part.h, None, none, &mut code);
    assert_eq!(code, 0);
    ok(t.clReleaseProgram(linked));
    calls.next();
}

#[test]
fn the_callback_of_a_build_may_use_the_program() {
    let t = Session::new();
    let calls = Calls::new();
    let program = t.source(ADD);
    let send = calls.sender();
    let (call, data) = on_object(move |handle| {
        let program: Handle = std::ptr::with_exposed_provenance_mut(handle);
        let mut code = 1;
        let kernel = api().clCreateKernel(program, c"k".as_ptr(), &mut code);
        ok(api().clReleaseKernel(kernel));
        send.send(code).unwrap();
    });
    ok(t.clBuildProgram(program.h, 0, null(), c"-DN=4".as_ptr(), call, data));
    assert_eq!(calls.next(), 0);
}

#[test]
fn a_program_released_during_its_build_is_no_harm() {
    let t = Session::new();
    let calls = Calls::new();
    for _ in 0..20 {
        let program = t.source(ADD);
        let send = calls.sender();
        let (call, data) = on_object(move |_| send.send(()).unwrap());
        ok(t.clBuildProgram(program.h, 0, null(), c"-DN=4".as_ptr(), call, data));
        drop(program);
    }
    for _ in 0..20 {
        calls.next();
    }
}

#[test]
fn binaries_load_again() {
    let t = Session::new();
    let program = t.source(ADD);
    assert_eq!(t.build(&program, "-DN=6"), 0);
    let bytes = binary(&t, &program);
    drop(program);
    let program = load(&t, &bytes).unwrap();
    assert_eq!(binary_type(&t, &program), CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    assert_eq!(t.build(&program, ""), 0, "{}", t.log(&program));
    assert_eq!(run(&t, &program, 1), 7);
    assert_eq!(binary(&t, &program), bytes);
    let source = text_or_nothing(|s, v, r| t.clGetProgramInfo(program.h, CL_PROGRAM_SOURCE, s, v, r));
    assert_eq!(source, "");
    assert_eq!(compile(&t, &program, "", &[]), CL_INVALID_OPERATION, "there is no source");
    let program =
        t.source("__attribute__((reqd_work_group_size(4, 2, 1))) kernel void sized(global int *p) { p[0] = 1; }");
    assert_eq!(t.build(&program, ""), 0);
    let program = load_and_build(&t, &binary(&t, &program));
    let kernel = t.kernel_of(&program, "sized");
    let attributes = text_or_nothing(|s, v, r| t.clGetKernelInfo(kernel.h, CL_KERNEL_ATTRIBUTES, s, v, r));
    assert_eq!(attributes, "", "the attributes are those of sources");
}

/// A string that may also have no byte at all.
fn text_or_nothing(ask: impl Fn(usize, Handle, *mut usize) -> i32) -> String {
    let bytes = query(ask);
    String::from_utf8(bytes.into_iter().take_while(|&b| b != 0).collect()).unwrap()
}

#[test]
fn damaged_binaries_are_refused() {
    let t = Session::new();
    let program = t.source(ADD);
    assert_eq!(t.build(&program, "-DN=6"), 0);
    let good = binary(&t, &program);
    if !t.ours() {
        return; // Other drivers have their own way with binaries.
    }
    let refused = |bytes: &[u8]| {
        assert_eq!(load(&t, bytes).err(), Some((CL_INVALID_BINARY, CL_INVALID_BINARY)));
    };
    refused(b"x");
    refused(&[0; 64]);
    refused(&good[..good.len() - 1]);
    refused(&good[..good.len() / 2]);
    for i in (0..good.len()).step_by((good.len() / 100).max(1)) {
        let mut bad = good.clone();
        bad[i] ^= 0x10;
        refused(&bad);
    }
    let mut longer = good.clone();
    longer.push(0);
    refused(&longer);
}

#[test]
fn a_binary_that_is_refused_has_a_reason_in_words() {
    let t = Session::new();
    let program = t.source(ADD);
    assert_eq!(t.build(&program, "-DN=6"), 0);
    let good = binary(&t, &program);
    if !t.ours() {
        return; // Other drivers have their own words.
    }
    let calls = Calls::new();
    let send = calls.sender();
    let (call, data) = on_error(move |text| send.send(text).unwrap_or_default());
    let mut code = 1;
    let context = Obj::context(t.clCreateContext(null(), 1, &t.device, call, data, &mut code));
    ok(code);
    let mut other_version = good.clone();
    other_version[7] ^= 1;
    for (bytes, words) in [
        (&other_version[..], "has format version"),
        (&good[..good.len() - 1], "damaged or cut short"),
        (b"\x7fELF\x02\x01\x01".as_slice(), "it is an ELF object"),
        (b"\x03\x02\x23\x07\0\x05\x01\0".as_slice(), "clCreateProgramWithIL"),
        (b"kernel void k() {}".as_slice(), "clCreateProgramWithSource"),
    ] {
        let (at, size) = (bytes.as_ptr(), bytes.len());
        let refused = t.clCreateProgramWithBinary(context.h, 1, &t.device, &size, &at, null_mut(), &mut code);
        assert!(refused.is_null());
        assert_eq!(code, CL_INVALID_BINARY);
        let text = calls.next();
        assert!(text.contains("CL_INVALID_BINARY") && text.contains(words), "{text}");
    }
}

#[test]
fn compiling_and_linking_apart() {
    let t = Session::new();
    let one = t.source("uint twice(uint x); kernel void k(global uint *p) { p[0] = twice(p[0]); }");
    let two = t.source("uint twice(uint x) { return 2 * x; }");
    for program in [&one, &two] {
        assert_eq!(compile(&t, program, "", &[]), 0, "{}", t.log(program));
        assert_eq!(binary_type(&t, program), CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    }
    let mut code = 0;
    assert!(t.clCreateKernel(one.h, c"k".as_ptr(), &mut code).is_null());
    assert_eq!(code, CL_INVALID_PROGRAM_EXECUTABLE, "compiled, not linked");
    let (linked, code) = link(&t, "", &[&one, &two]);
    ok(code);
    let linked = linked.unwrap();
    assert_eq!(binary_type(&t, &linked), CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    assert_eq!(run(&t, &linked, 21), 42);
    assert_eq!(t.build(&linked, ""), CL_INVALID_OPERATION, "a linked program is not built");
    // A library first, then the rest.
    let (library, code) = link(&t, "-create-library", &[&two]);
    ok(code);
    let library = library.unwrap();
    assert_eq!(binary_type(&t, &library), CL_PROGRAM_BINARY_TYPE_LIBRARY);
    let (linked, code) = link(&t, "", &[&one, &library]);
    ok(code);
    assert_eq!(run(&t, &linked.unwrap(), 4), 8);
    // A device that is named twice is one.
    let (device, inputs, mut code) = ([t.device, t.device], [one.h, two.h], 1);
    let (devices, list) = (device.as_ptr(), inputs.as_ptr());
    let linked = t.clLinkProgram(t.context(), 2, devices, c"".as_ptr(), 2, list, None, null_mut(), &mut code);
    ok(code);
    assert_eq!(run(&t, &Obj::program(linked), 5), 10);
}

/// The default of the x86 floating-point control register: all exceptions masked, round to nearest.
#[cfg(target_arch = "x86_64")]
const DEFAULT: u32 = 0x1f80;

/// Sets it for this thread, as `fesetround`, `feenableexcept` and `-ffast-math` do.
#[cfg(target_arch = "x86_64")]
fn set_float_mode(csr: u32) {
    // SAFETY: the values of this test have no reserved bit; Rust code in between computes with no floats.
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &csr, options(nostack)) };
}

#[cfg(target_arch = "x86_64")]
#[test]
fn code_does_not_depend_on_how_the_application_rounds_or_what_it_traps() {
    let t = Session::new();
    // The value of `n` makes the program another one, so that none comes from the cache.
    let source = |n: u32| {
        format!(
            "kernel void k(global uint *p) {{
               p[0] = as_uint(0.1f); p[1] = as_uint(1.1e-38f * 0.1f); p[2] = as_uint(0.0f / 0.0f) & 0x7f800000;
               p[3] = as_uint(exp(1.5f)); p[4] = as_uint2(0.1 * 3.0).x; p[5] = as_uint(1.0f / 0.0f); p[6] = {n}; }}"
        )
    };
    let want = [0x3dcccccd, 0x000bfa5a, 0x7f800000, 0x408f69ff, 0x33333334, 0x7f800000];
    // The default; upwards; to zero; flushing denormals; trapping invalid operations and divisions by zero.
    for (n, mode) in [DEFAULT, 0x5f80, 0x7f80, 0x9fc0, 0x1d00].into_iter().enumerate() {
        let n = std::process::id() * 8 + n as u32;
        let text = source(n);
        let buffer = t.buffer(0, 28);
        set_float_mode(mode);
        let kernel = t.kernel(&text);
        t.arg_mem(&kernel, 0, &buffer);
        let event = t.launch(&kernel, &[1], &[]);
        set_float_mode(DEFAULT);
        drop(event);
        let got = t.read::<u32>(&buffer, 7);
        assert_eq!((&got[..6], got[6]), (&want[..], n), "mode {mode:#x}");
    }
}

#[test]
fn binaries_of_compiled_programs_and_libraries_link() {
    let t = Session::new();
    let one = t.source("uint twice(uint x); kernel void k(global uint *p) { p[0] = twice(p[0]); }");
    let two = t.source("uint twice(uint x) { return 2 * x; }");
    assert_eq!((compile(&t, &one, "", &[]), compile(&t, &two, "", &[])), (0, 0));
    let (library, code) = link(&t, "-create-library", &[&two]);
    ok(code);
    let one = load(&t, &binary(&t, &one)).unwrap();
    let library = load(&t, &binary(&t, &library.unwrap())).unwrap();
    assert_eq!(binary_type(&t, &one), CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    assert_eq!(binary_type(&t, &library), CL_PROGRAM_BINARY_TYPE_LIBRARY);
    let (linked, code) = link(&t, "", &[&one, &library]);
    ok(code);
    assert_eq!(run(&t, &linked.unwrap(), 5), 10);
}

#[test]
fn links_that_cannot_work_fail_with_a_log() {
    let t = Session::new();
    let one = t.source("uint twice(uint x); kernel void k(global uint *p) { p[0] = twice(p[0]); }");
    let two = t.source("uint twice(uint x) { return 2 * x; }");
    assert_eq!((compile(&t, &one, "", &[]), compile(&t, &two, "", &[])), (0, 0));
    let (missing, code) = link(&t, "", &[&one]);
    assert_eq!(code, CL_LINK_PROGRAM_FAILURE);
    if let Some(missing) = missing {
        assert!(t.log(&missing).contains("twice"), "{}", t.log(&missing));
        assert_eq!(status(&t, &missing), CL_BUILD_ERROR);
    }
    let again = t.source("uint twice(uint x) { return 3 * x; }");
    assert_eq!(compile(&t, &again, "", &[]), 0);
    let (_twice, code) = link(&t, "", &[&one, &two, &again]);
    assert_eq!(code, CL_LINK_PROGRAM_FAILURE);
    let never = t.source("uint thrice(uint x) { return 3 * x; }");
    let (_never, code) = link(&t, "", &[&one, &never]);
    assert_eq!(code, CL_INVALID_OPERATION, "a program that was never compiled");
}

#[test]
fn constants_are_declared_in_one_program_and_defined_in_another() {
    let t = Session::new();
    let one = t.source(
        "extern constant uint factor;
         extern constant uint table[];
         constant uint *constant at = table + 1;
         kernel void k(global uint *p) {
             extern constant uint offset;
             p[0] = p[0] * factor + table[3] + *at + offset;
         }",
    );
    let two = t.source(
        "extern constant uint factor;
         constant uint factor = 7;
         constant uint table[] = { 0, 100, 0, 3000 };
         constant uint offset = 5;",
    );
    assert_eq!((compile(&t, &one, "", &[]), compile(&t, &two, "", &[])), (0, 0), "{}{}", t.log(&one), t.log(&two));
    for order in [[&one, &two], [&two, &one]] {
        let (linked, code) = link(&t, "", &order);
        ok(code);
        let linked = linked.unwrap();
        assert_eq!(run(&t, &linked, 6), 42 + 3000 + 100 + 5);
        assert_eq!(run(&t, &load_and_build(&t, &binary(&t, &linked)), 6), 42 + 3000 + 100 + 5);
    }
    // As an object, as a library, and from their binaries.
    let (library, code) = link(&t, "-create-library", &[&two]);
    ok(code);
    let again = load(&t, &binary(&t, &one)).unwrap();
    let (linked, code) = link(&t, "", &[&again, &library.unwrap()]);
    ok(code);
    assert_eq!(run(&t, &linked.unwrap(), 1), 7 + 3000 + 100 + 5);
    // Undefined; defined twice; different types.
    let log_of = |inputs: &[&Obj]| {
        let (failed, code) = link(&t, "", inputs);
        assert_eq!(code, CL_LINK_PROGRAM_FAILURE);
        t.log(&failed.unwrap())
    };
    let log = log_of(&[&one]);
    for name in ["`factor`", "`table`", "`offset`"] {
        assert!(log.contains(name), "{log}");
    }
    let third = t.source("constant uint factor = 8;");
    let other = t.source("constant ulong factor = 8;");
    assert_eq!((compile(&t, &third, "", &[]), compile(&t, &other, "", &[])), (0, 0));
    let log = log_of(&[&one, &two, &third]);
    assert!(log.contains("`factor` is defined twice"), "{log}");
    let log = log_of(&[&one, &other]);
    assert!(log.contains("`factor` is declared with another type"), "{log}");
    // `static` keeps a name to its program.
    let own = t.source("static constant uint factor = 1; uint one(void) { return factor; }");
    assert_eq!(compile(&t, &own, "", &[]), 0);
    let (linked, code) = link(&t, "", &[&own, &one, &two]);
    ok(code);
    assert_eq!(run(&t, &linked.unwrap(), 6), 42 + 3000 + 100 + 5);
    // A program that is built alone must define it itself.
    let alone = t.source("extern constant uint factor; kernel void k(global uint *p) { p[0] = factor; }");
    assert_eq!(t.build(&alone, ""), CL_BUILD_PROGRAM_FAILURE);
    assert!(t.log(&alone).contains("`factor`"), "{}", t.log(&alone));
}

fn load_and_build(t: &Session, bytes: &[u8]) -> Obj {
    let program = load(t, bytes).unwrap();
    assert_eq!(t.build(&program, ""), 0, "{}", t.log(&program));
    program
}

#[test]
fn a_link_in_the_background_calls_back() {
    let t = Session::new();
    let calls = Calls::new();
    let one = t.source("kernel void k(global uint *p) { p[0] += 1; }");
    assert_eq!(compile(&t, &one, "", &[]), 0);
    let send = calls.sender();
    let (call, data) = on_object(move |handle| send.send(handle).unwrap());
    let mut code = 1;
    let linked = t.clLinkProgram(t.context(), 0, null(), null(), 1, &one.h, call, data, &mut code);
    ok(code);
    let linked = Obj::program(linked);
    assert_eq!(calls.next(), linked.h as usize);
    assert_eq!(status(&t, &linked), CL_BUILD_SUCCESS);
    assert_eq!(run(&t, &linked, 1), 2);
}

#[test]
fn headers_come_from_programs() {
    let t = Session::new();
    let program = t.source("#include \"dir/a.h\"\n#include <b.h>\nkernel void k(global uint *p) { p[0] = A + B; }");
    let a = t.source("#define A 40\n");
    let b = t.source("#define B 2\n");
    assert_eq!(compile(&t, &program, "", &[("dir/a.h", &a), ("b.h", &b)]), 0, "{}", t.log(&program));
    let (linked, code) = link(&t, "", &[&program]);
    ok(code);
    assert_eq!(run(&t, &linked.unwrap(), 0), 42);
    assert_eq!(compile(&t, &program, "", &[("b.h", &b)]), CL_COMPILE_PROGRAM_FAILURE);
    assert!(t.log(&program).contains("dir/a.h"), "{}", t.log(&program));
}

#[test]
fn release_callbacks_of_programs_are_refused_where_there_are_no_destructors() {
    let t = Session::new();
    let program = t.source(ADD);
    let (call, data) = on_object(|_| ());
    let set = |p, call| t.clSetProgramReleaseCallback(p, call, data);
    assert_eq!(set(program.h, call), CL_INVALID_OPERATION);
    assert_eq!(set(null_mut(), call), CL_INVALID_PROGRAM);
}

#[test]
fn bad_arguments_have_their_codes() {
    let t = Session::new();
    let mut c = Cases::new();
    let source = c"kernel void k(void) {}".as_ptr();
    let program = t.source("kernel void k(void) {}");
    let make = |context, n, s: *const *const c_char, e| t.clCreateProgramWithSource(context, n, s, null(), e);
    c.new_object("no pieces", CL_INVALID_VALUE, |e| make(t.context(), 0, &source, e));
    c.new_object("null pieces", CL_INVALID_VALUE, |e| make(t.context(), 1, null(), e));
    c.new_object("a null piece", CL_INVALID_VALUE, |e| make(t.context(), 2, [source, null()].as_ptr(), e));
    let byte = b"x".as_ptr();
    let one = 1usize;
    let from = |context, n, d: *const Handle, l: *const usize, b: *const *const u8, e| {
        t.clCreateProgramWithBinary(context, n, d, l, b, null_mut(), e)
    };
    let context = t.context();
    let d = &raw const t.device;
    c.new_object("binary: no devices", CL_INVALID_VALUE, |e| from(context, 0, d, &one, &byte, e));
    c.new_object("binary: null devices", CL_INVALID_VALUE, |e| from(context, 1, null(), &one, &byte, e));
    c.new_object("binary: null lengths", CL_INVALID_VALUE, |e| from(context, 1, d, null(), &byte, e));
    c.new_object("binary: null binaries", CL_INVALID_VALUE, |e| from(context, 1, d, &one, null(), e));
    c.new_object("binary: length 0", CL_INVALID_VALUE, |e| from(context, 1, d, &0, &byte, e));
    c.new_object("binary: null binary", CL_INVALID_VALUE, |e| from(context, 1, d, &one, &null(), e));
    let built_in = |n, d: *const Handle, names, e| t.clCreateProgramWithBuiltInKernels(context, n, d, names, e);
    c.new_object("built-in: no devices", CL_INVALID_VALUE, |e| built_in(0, d, source, e));
    c.new_object("built-in: null devices", CL_INVALID_VALUE, |e| built_in(1, null(), source, e));
    c.new_object("built-in: null names", CL_INVALID_VALUE, |e| built_in(1, d, null(), e));
    c.new_object("built-in: unknown", CL_INVALID_VALUE, |e| built_in(1, d, c"nobody".as_ptr(), e));
    if t.ours() {
        let il = [0u32; 8];
        let (il, size) = (il.as_ptr().cast(), 32);
        c.new_object("il", CL_INVALID_VALUE, |e| t.clCreateProgramWithIL(context, il, size, e));
    }

    let data = c"x".as_ptr().cast_mut().cast();
    let build = |p, n, d, data| t.clBuildProgram(p, n, d, null(), None, data);
    c.code("build: null list of 1", CL_INVALID_VALUE, build(program.h, 1, null(), null_mut()));
    c.code("build: a list of 0", CL_INVALID_VALUE, build(program.h, 0, d, null_mut()));
    c.code("build: data without callback", CL_INVALID_VALUE, build(program.h, 0, null(), data));
    let (p, h, name) = (program.h, &raw const program.h, c"h.h".as_ptr());
    let compile = |n, list, data, nh, hs, names| t.clCompileProgram(p, n, list, null(), nh, hs, names, None, data);
    c.code("compile: null list of 1", CL_INVALID_VALUE, compile(1, null(), null_mut(), 0, null(), null()));
    c.code("compile: a list of 0", CL_INVALID_VALUE, compile(0, d, null_mut(), 0, null(), null()));
    c.code("compile: data without callback", CL_INVALID_VALUE, compile(0, null(), data, 0, null(), null()));
    c.code("compile: 0 headers, a list", CL_INVALID_VALUE, compile(0, null(), null_mut(), 0, h, null()));
    c.code("compile: 0 headers, names", CL_INVALID_VALUE, compile(0, null(), null_mut(), 0, null(), &name));
    c.code("compile: 1 header, no list", CL_INVALID_VALUE, compile(0, null(), null_mut(), 1, null(), &name));
    c.code("compile: 1 header, no names", CL_INVALID_VALUE, compile(0, null(), null_mut(), 1, h, null()));
    let link =
        |context, n, list, data, ni, inputs, e| t.clLinkProgram(context, n, list, null(), ni, inputs, None, data, e);
    let no = null_mut();
    c.new_object("link: null list of 1", CL_INVALID_VALUE, |e| link(context, 1, null(), no, 1, h, e));
    c.new_object("link: a list of 0", CL_INVALID_VALUE, |e| link(context, 0, d, no, 1, h, e));
    c.new_object("link: no inputs", CL_INVALID_VALUE, |e| link(context, 0, null(), no, 0, null(), e));
    c.new_object("link: 0 inputs", CL_INVALID_VALUE, |e| link(context, 0, null(), no, 0, h, e));
    c.new_object("link: null inputs", CL_INVALID_VALUE, |e| link(context, 0, null(), no, 1, null(), e));
    c.new_object("link: data without callback", CL_INVALID_VALUE, |e| link(context, 0, null(), data, 1, h, e));
    c.new_object("link: never compiled", CL_INVALID_OPERATION, |e| link(context, 0, null(), no, 1, h, e));
    let other = t.another_context();
    if t.ours() {
        c.new_object("link: another context", CL_INVALID_CONTEXT, |e| link(other.h, 0, null(), no, 1, h, e));
    }
    for (what, bad) in t.bad_handles(t.queue()) {
        let wanted = CL_INVALID_PROGRAM;
        c.new_object(&format!("source of {what}"), CL_INVALID_CONTEXT, |e| make(bad, 1, &source, e));
        c.new_object(&format!("binary of {what}"), CL_INVALID_CONTEXT, |e| from(bad, 1, d, &one, &byte, e));
        c.code(&format!("retain {what}"), wanted, t.clRetainProgram(bad));
        c.code(&format!("release {what}"), wanted, t.clReleaseProgram(bad));
        c.code(&format!("build {what}"), wanted, build(bad, 0, null(), null_mut()));
        let ask = t.clGetProgramInfo(bad, CL_PROGRAM_CONTEXT, 0, null_mut(), null_mut());
        c.code(&format!("query {what}"), wanted, ask);
        let ask = t.clGetProgramBuildInfo(bad, t.device, CL_PROGRAM_BUILD_LOG, 0, null_mut(), null_mut());
        c.code(&format!("query the build of {what}"), wanted, ask);
        let ask = t.clGetProgramBuildInfo(p, bad, CL_PROGRAM_BUILD_LOG, 0, null_mut(), null_mut());
        c.code(&format!("query the build for {what}"), CL_INVALID_DEVICE, ask);
        c.code(&format!("build for {what}"), CL_INVALID_DEVICE, build(p, 1, &bad, null_mut()));
        c.new_object(&format!("link in {what}"), CL_INVALID_CONTEXT, |e| link(bad, 0, null(), no, 1, h, e));
        if t.ours() {
            c.new_object(&format!("link {what}"), wanted, |e| link(context, 0, null(), no, 1, &bad, e));
            c.code(&format!("header {what}"), wanted, compile(0, null(), no, 1, &bad, &name));
        }
    }
    c.query("program", CL_PROGRAM_CONTEXT, |name, s, v, r| t.clGetProgramInfo(p, name, s, v, r));
    c.query("build", CL_PROGRAM_BUILD_STATUS, |name, s, v, r| t.clGetProgramBuildInfo(p, t.device, name, s, v, r));
    c.end();
}
