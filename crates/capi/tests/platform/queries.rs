//! Every query function with every number that a query might have: each answers by the rules, or returns an error code.
//! And every query of the specification, from the list in `queries.txt`: those of versions and of advertised extensions
//! are answered, the others are unknown.

#[path = "../common/mod.rs"]
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

/// Queries that are answered with a code, and why.
const CODES: &[(&str, i32)] = &[
    // Of queues on the device.
    ("CL_QUEUE_SIZE", CL_INVALID_COMMAND_QUEUE),
    // Of built-in kernels.
    ("CL_KERNEL_GLOBAL_WORK_SIZE", CL_INVALID_VALUE),
    // Of buffers that were made for it.
    ("CL_MEM_DEVICE_ADDRESS_EXT", CL_INVALID_OPERATION),
    // They need an input.
    ("CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE", CL_INVALID_VALUE),
    ("CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE", CL_INVALID_VALUE),
    ("CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT", CL_INVALID_VALUE),
    // Of samplers of cl_khr_mipmap_image.
    ("CL_SAMPLER_MIP_FILTER_MODE", CL_INVALID_VALUE),
    ("CL_SAMPLER_LOD_MIN", CL_INVALID_VALUE),
    ("CL_SAMPLER_LOD_MAX", CL_INVALID_VALUE),
];

#[test]
fn every_query_of_the_specification_is_known() {
    let t = Session::with(CL_QUEUE_PROFILING_ENABLE);
    if !t.ours() {
        return;
    }
    let lists = [
        text(|s, v, r| t.clGetPlatformInfo(t.platform, CL_PLATFORM_EXTENSIONS, s, v, r)),
        text(|s, v, r| t.clGetDeviceInfo(t.device, CL_DEVICE_EXTENSIONS, s, v, r)),
    ];
    let advertised = lists.join(" ");
    let is_there = |of: &str| !of.starts_with("cl_") || advertised.split(' ').any(|extension| extension == of);
    let program = t.source("kernel void k(global int *p) { p[0] = 1; }");
    assert_eq!(t.build(&program, ""), 0);
    let kernel = t.kernel_of(&program, "k");
    let (buffer, image) = (t.buffer(0, 64), t.image(images::BYTES, &images::Desc::new(images::D2, [4, 4, 1])));
    let mut code = 1;
    let sampler = Obj::sampler(t.clCreateSampler(t.context(), 0, 0x1131, 0x1140, &mut code));
    ok(code);
    let event = t.marker_on(t.queue(), &[]);
    t.wait(&[&event]);
    let ask = |what: &str, n: u32, r: *mut usize| {
        let none: Handle = null_mut();
        match what {
            "platform" => t.clGetPlatformInfo(t.platform, n, 0, none, r),
            "device" => t.clGetDeviceInfo(t.device, n, 0, none, r),
            "context" => t.clGetContextInfo(t.context(), n, 0, none, r),
            "command_queue" => t.clGetCommandQueueInfo(t.queue(), n, 0, none, r),
            "mem" => t.clGetMemObjectInfo(buffer.h, n, 0, none, r),
            "image" => t.clGetImageInfo(image.h, n, 0, none, r),
            "sampler" => t.clGetSamplerInfo(sampler.h, n, 0, none, r),
            "program" => t.clGetProgramInfo(program.h, n, 0, none, r),
            "program_build" => t.clGetProgramBuildInfo(program.h, t.device, n, 0, none, r),
            "kernel" => t.clGetKernelInfo(kernel.h, n, 0, none, r),
            "kernel_arg" => t.clGetKernelArgInfo(kernel.h, 0, n, 0, none, r),
            "kernel_work_group" => t.clGetKernelWorkGroupInfo(kernel.h, t.device, n, 0, none, r),
            "kernel_sub_group" => t.clGetKernelSubGroupInfo(kernel.h, t.device, n, 0, null(), 0, none, r),
            "event" => t.clGetEventInfo(event.h, n, 0, none, r),
            "profiling" => t.clGetEventProfilingInfo(event.h, n, 0, none, r),
            other => panic!("{other}"),
        }
    };
    let list: Vec<[&str; 4]> = include_str!("queries.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split(' ').collect::<Vec<_>>().try_into().expect("four words"))
        .collect();
    // Extensions share numbers with the core.
    let known: Vec<[&str; 2]> = list.iter().filter(|q| is_there(q[1])).map(|q| [q[0], q[2]]).collect();
    let mut wrong = Vec::new();
    for [what, of, number, name] in &list {
        let n = u32::from_str_radix(&number[2..], 16).unwrap();
        let mut size = usize::MAX;
        let got = ask(what, n, &mut size);
        let special =
            CODES.iter().find(|(special, _)| *special == name.trim_end_matches("_KHR")).map(|(_, code)| *code);
        let wanted = special.unwrap_or(if known.contains(&[*what, *number]) { 0 } else { CL_INVALID_VALUE });
        if got != wanted || (got == 0) == (size == usize::MAX) {
            wrong.push(format!("{what} {of} {name} {number}: {}", code_name(got)));
        }
    }
    assert!(list.len() > 280 && wrong.is_empty(), "{} of {}:\n{}", wrong.len(), list.len(), wrong.join("\n"));
}
