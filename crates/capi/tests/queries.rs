//! Every query function with every number that a query might have: each answers by the rules, or returns an error code.

mod common;
use common::*;

/// All numbers that the specification and its extensions use for queries, and those between.
fn numbers() -> impl Iterator<Item = u32> {
    (0..0x40).chain(0x0900..0x0910).chain(0x1000..0x1300).chain(0x2040..0x2060).chain(0x4000..0x4320).chain([u32::MAX])
}

/// Makes every query. Returns how many were answered.
fn sweep(what: &str, codes: &[i32], ask: impl Fn(u32, usize, Handle, *mut usize) -> i32) -> usize {
    let mut answered = 0;
    for name in numbers() {
        let mut size = 12345;
        let code = ask(name, 0, null_mut(), &mut size);
        if code == 0 {
            let bytes = query(|s, v, r| ask(name, s, v, r));
            assert_eq!(bytes.len(), size, "{what} {name:#x}");
            if size > 0 {
                let mut room = vec![0x5Au8; size];
                let place = room.as_mut_ptr().cast();
                let short = ask(name, size - 1, place, null_mut());
                assert_eq!(short, CL_INVALID_VALUE, "{what} {name:#x}: a byte less than {size}");
                assert!(room.iter().all(|&b| b == 0x5A), "{what} {name:#x}: wrote although there was no room");
            }
            answered += 1;
        } else {
            assert!(codes.contains(&code), "{what} {name:#x}: {}", code_name(code));
            assert_eq!(size, 12345, "{what} {name:#x}: a size in spite of an error");
        }
    }
    answered
}

#[test]
fn every_query_answers_or_refuses() {
    let t = Session::with(CL_QUEUE_PROFILING_ENABLE);
    if !t.ours() {
        return; // Other drivers have numbers of their own, with rules of their own.
    }
    let program = t.program("kernel void k(global int *p, local float *l, int x) { p[0] = x + (int)l[0]; }");
    let kernel = t.kernel_of(&program, "k");
    let buffer = t.buffer(0, 64);
    let event = t.marker_on(t.queue(), &[]);
    t.wait(&[&event]);
    let no = [CL_INVALID_VALUE];
    let counts = [
        sweep("platform", &no, |n, s, v, r| t.clGetPlatformInfo(t.platform, n, s, v, r)),
        sweep("device", &no, |n, s, v, r| t.clGetDeviceInfo(t.device, n, s, v, r)),
        sweep("context", &no, |n, s, v, r| t.clGetContextInfo(t.context(), n, s, v, r)),
        sweep("queue", &[CL_INVALID_VALUE, CL_INVALID_COMMAND_QUEUE], |n, s, v, r| {
            t.clGetCommandQueueInfo(t.queue(), n, s, v, r)
        }),
        sweep("buffer", &no, |n, s, v, r| t.clGetMemObjectInfo(buffer.h, n, s, v, r)),
        sweep("event", &no, |n, s, v, r| t.clGetEventInfo(event.h, n, s, v, r)),
        sweep("profiling", &no, |n, s, v, r| t.clGetEventProfilingInfo(event.h, n, s, v, r)),
        sweep("build", &no, |n, s, v, r| t.clGetProgramBuildInfo(program.h, t.device, n, s, v, r)),
        sweep("kernel", &no, |n, s, v, r| t.clGetKernelInfo(kernel.h, n, s, v, r)),
        sweep("argument", &no, |n, s, v, r| t.clGetKernelArgInfo(kernel.h, 1, n, s, v, r)),
        sweep("groups", &no, |n, s, v, r| t.clGetKernelWorkGroupInfo(kernel.h, t.device, n, s, v, r)),
    ];
    assert!(counts.iter().all(|&n| n >= 4), "{counts:?}");
    assert!(counts[1] > 100, "the queries of devices: {}", counts[1]);
}

#[test]
fn queries_of_a_program_answer_or_refuse() {
    let t = Session::new();
    let program = t.program("kernel void k(void) {}");
    // The binaries are tested separately, because the caller passes a list of pointers.
    for name in numbers().filter(|&n| n != CL_PROGRAM_BINARIES) {
        let mut size = 0;
        let code = t.clGetProgramInfo(program.h, name, 0, null_mut(), &mut size);
        if code == 0 {
            assert_eq!(query(|s, v, r| t.clGetProgramInfo(program.h, name, s, v, r)).len(), size);
        } else {
            assert!(code == CL_INVALID_VALUE || code == CL_INVALID_OPERATION, "{name:#x}: {}", code_name(code));
        }
    }
    // A null pointer in the list for the binaries is skipped.
    let mut places = [null_mut::<u8>()];
    let (size, at) = (size_of_val(&places), places.as_mut_ptr().cast());
    ok(t.clGetProgramInfo(program.h, CL_PROGRAM_BINARIES, size, at, null_mut()));
}
