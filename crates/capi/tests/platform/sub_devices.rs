//! Chapter 4.3 of the specification: sub-devices. Where the process may use one core only, a device cannot be divided;
//! the tests then check that.

#![allow(unsafe_code, reason = "it calls the C interface")]

#[path = "../common/mod.rs"]
mod common;
use common::*;

const BY_COUNTS: isize = 0x1087;
const BY_AFFINITY: isize = 0x1088;
/// `CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE`
const NEXT: isize = 1 << 5;

/// A reference to a sub-device.
fn part(h: Handle) -> Obj {
    Obj::device(h)
}

/// The sub-devices, or the code.
fn divide(t: &Session, device: Handle, properties: &[isize]) -> Result<Vec<Obj>, i32> {
    let mut count = 0;
    match t.clCreateSubDevices(device, properties.as_ptr(), 0, null_mut(), &mut count) {
        0 => {}
        code => return Err(code),
    }
    let mut parts = vec![null_mut(); count as usize];
    let mut again = 0;
    ok(t.clCreateSubDevices(device, properties.as_ptr(), count, parts.as_mut_ptr(), &mut again));
    assert_eq!(again, count);
    Ok(parts.into_iter().map(part).collect())
}

fn ask<T: Plain>(t: &Session, device: &Obj, name: u32) -> T {
    info(|s, v, r| t.clGetDeviceInfo(device.h, name, s, v, r))
}

fn ask_list(t: &Session, device: Handle, name: u32) -> Vec<isize> {
    list(|s, v, r| t.clGetDeviceInfo(device, name, s, v, r))
}

/// A session, and the compute units of its device if there are at least two.
fn session() -> (Session, Option<u32>) {
    let t = Session::new();
    let units = t.device_info::<u32>(CL_DEVICE_MAX_COMPUTE_UNITS);
    if units > 1 {
        return (t, Some(units));
    }
    assert_eq!(t.device_info::<u32>(CL_DEVICE_PARTITION_MAX_SUB_DEVICES), 0);
    assert_eq!(ask_list(&t, t.device, CL_DEVICE_PARTITION_PROPERTIES), [0]);
    assert_eq!(divide(&t, t.device, &[CL_DEVICE_PARTITION_EQUALLY, 1, 0]).err(), Some(CL_DEVICE_PARTITION_FAILED));
    (t, None)
}

#[test]
fn parts_have_the_compute_units_that_were_asked_for() {
    let (t, Some(units)) = session() else { return };
    let schemes = ask_list(&t, t.device, CL_DEVICE_PARTITION_PROPERTIES);
    assert_eq!(schemes[..2], [CL_DEVICE_PARTITION_EQUALLY, BY_COUNTS]);
    assert_eq!(t.device_info::<u32>(CL_DEVICE_PARTITION_MAX_SUB_DEVICES), units);
    for each in 1..units {
        let properties = [CL_DEVICE_PARTITION_EQUALLY, each as isize, 0];
        let parts = divide(&t, t.device, &properties).unwrap();
        assert_eq!(parts.len() as u32, units / each);
        for part in &parts {
            assert_eq!(ask::<u32>(&t, part, CL_DEVICE_MAX_COMPUTE_UNITS), each);
            assert_eq!(ask_list(&t, part.h, CL_DEVICE_PARTITION_TYPE), properties);
            assert_eq!(ask::<usize>(&t, part, CL_DEVICE_PARENT_DEVICE), t.device as usize);
            assert_eq!(ask::<u32>(&t, part, CL_DEVICE_REFERENCE_COUNT), 1);
        }
    }
    let properties = [BY_COUNTS, 1, units as isize - 1, 0, 0];
    let parts = divide(&t, t.device, &properties).unwrap();
    let got: Vec<u32> = parts.iter().map(|p| ask(&t, p, CL_DEVICE_MAX_COMPUTE_UNITS)).collect();
    assert_eq!(got, [1, units - 1]);
    assert_eq!(ask_list(&t, parts[1].h, CL_DEVICE_PARTITION_TYPE), properties);
    assert_eq!(divide(&t, parts[0].h, &[CL_DEVICE_PARTITION_EQUALLY, 1, 0]).err(), Some(CL_DEVICE_PARTITION_FAILED));
    // The root device is no part.
    assert_eq!(ask_list(&t, t.device, CL_DEVICE_PARTITION_TYPE), [0; 0]);
    assert_eq!(t.device_info::<usize>(CL_DEVICE_PARENT_DEVICE), 0);
    assert_eq!(t.device_info::<u32>(CL_DEVICE_REFERENCE_COUNT), 1);
}

#[test]
fn parts_by_affinity_are_all_cores_in_sets() {
    let (t, units) = session();
    let domains: u64 = t.device_info(CL_DEVICE_PARTITION_AFFINITY_DOMAIN);
    let schemes = ask_list(&t, t.device, CL_DEVICE_PARTITION_PROPERTIES);
    assert_eq!(domains != 0, schemes.contains(&BY_AFFINITY));
    assert_eq!(domains != 0, domains & NEXT as u64 != 0);
    let mut first = None;
    for bit in 0..5 {
        let properties = [BY_AFFINITY, 1 << bit, 0];
        let parts = divide(&t, t.device, &properties);
        if domains >> bit & 1 == 0 {
            assert_eq!(parts.err(), Some(CL_DEVICE_PARTITION_FAILED), "domain {bit}");
            continue;
        }
        first.get_or_insert(1 << bit);
        let parts = parts.unwrap();
        let sizes: Vec<u32> = parts.iter().map(|p| ask(&t, p, CL_DEVICE_MAX_COMPUTE_UNITS)).collect();
        assert!(sizes.len() > 1 && sizes.iter().all(|&n| n > 0));
        assert_eq!(sizes.iter().sum::<u32>(), units.unwrap());
        assert_eq!(ask_list(&t, parts[0].h, CL_DEVICE_PARTITION_TYPE), properties);
        // What divided it does not divide its parts.
        assert_eq!(divide(&t, parts[0].h, &properties).err(), Some(CL_DEVICE_PARTITION_FAILED));
        assert_eq!(ask::<u64>(&t, &parts[0], CL_DEVICE_PARTITION_AFFINITY_DOMAIN) & 1 << bit, 0);
    }
    match (divide(&t, t.device, &[BY_AFFINITY, NEXT, 0]), first) {
        (Err(code), None) => assert_eq!(code, CL_DEVICE_PARTITION_FAILED),
        (parts, first) => {
            let part = parts.unwrap().swap_remove(0);
            assert_eq!(ask_list(&t, part.h, CL_DEVICE_PARTITION_TYPE), [BY_AFFINITY, first.unwrap(), 0]);
        }
    }
}

/// The cores that the calling thread may use, as the system writes them.
fn allowed() -> String {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().to_owned()
}

#[test]
fn a_queue_on_a_part_by_affinity_leaves_the_applications_thread_alone() {
    let (t, _) = session();
    let Ok(parts) = divide(&t, t.device, &[BY_AFFINITY, NEXT, 0]) else { return };
    let before = allowed();
    for part in &parts {
        let mut code = 1;
        let context = Obj::context(t.clCreateContext(null(), 1, &part.h, None, null_mut(), &mut code));
        ok(code);
        let queue = Obj::queue(t.clCreateCommandQueue(context.h, part.h, 0, &mut code));
        ok(code);
        let source = "kernel void k(global uint *p) { p[get_global_id(0)] = get_global_id(0) * 3; }";
        let (text, length) = (source.as_ptr().cast(), source.len());
        let program = Obj::program(t.clCreateProgramWithSource(context.h, 1, &text, &length, &mut code));
        ok(code);
        ok(t.build(&program, ""));
        let kernel = t.kernel_of(&program, "k");
        let memory = Obj::mem(t.clCreateBuffer(context.h, 0, 4 << 16, null_mut(), &mut code));
        ok(code);
        t.arg_mem(&kernel, 0, &memory);
        for _ in 0..5 {
            drop(t.launch_on(queue.h, &kernel, &[1 << 16], &[64], &[]));
            ok(t.clFinish(queue.h));
        }
        let mut values = vec![0u32; 1 << 16];
        let data = values.as_mut_ptr().cast();
        ok(t.clEnqueueReadBuffer(queue.h, memory.h, CL_TRUE, 0, 4 << 16, data, 0, null(), null_mut()));
        assert!(values.iter().enumerate().all(|(i, &v)| v == 3 * i as u32));
        assert_eq!(allowed(), before);
    }
}

#[test]
fn a_part_lives_as_long_as_it_is_used() {
    let (t, Some(_)) = session() else { return };
    let mut parts = divide(&t, t.device, &[CL_DEVICE_PARTITION_EQUALLY, 1, 0]).unwrap();
    let first = parts.swap_remove(0);
    ok(t.clRetainDevice(first.h));
    assert_eq!(ask::<u32>(&t, &first, CL_DEVICE_REFERENCE_COUNT), 2);
    ok(t.clReleaseDevice(first.h));
    let mut code = 1;
    let context = Obj::context(t.clCreateContext(null(), 1, &first.h, None, null_mut(), &mut code));
    ok(code);
    // The context keeps it.
    let released = first.release();
    let queue = Obj::queue(t.clCreateCommandQueue(context.h, released, 0, &mut code));
    ok(code);
    ok(t.clFinish(queue.h));
    drop((queue, context));
    if t.ours() {
        let none = t.clGetDeviceInfo(released, CL_DEVICE_TYPE, 0, null_mut(), null_mut());
        assert_eq!(none, CL_INVALID_DEVICE);
    }
    // Retaining and releasing do nothing to the root device.
    ok(t.clReleaseDevice(t.device));
    ok(t.clReleaseDevice(t.device));
    ok(t.clRetainDevice(t.device));
}

#[test]
fn a_program_for_the_parent_runs_on_its_parts() {
    let (t, Some(_)) = session() else { return };
    let parts = divide(&t, t.device, &[CL_DEVICE_PARTITION_EQUALLY, 1, 0]).unwrap();
    let all: Vec<Handle> = parts.iter().map(|p| p.h).chain([t.device]).collect();
    let mut code = 1;
    let context = Obj::context(t.clCreateContext(null(), all.len() as u32, all.as_ptr(), None, null_mut(), &mut code));
    ok(code);
    let source = "kernel void k(global uint *p, uint n) { p[get_global_id(0)] += n; }";
    let (text, length) = (source.as_ptr().cast(), source.len());
    let program = Obj::program(t.clCreateProgramWithSource(context.h, 1, &text, &length, &mut code));
    ok(code);
    ok(t.clBuildProgram(program.h, 1, &t.device, null(), None, null_mut()));
    let kernel = t.kernel_of(&program, "k");
    let memory = Obj::mem(t.clCreateBuffer(context.h, 0, 4 << 16, null_mut(), &mut code));
    ok(code);
    t.arg_mem(&kernel, 0, &memory);
    let (mut wait, mut sum) = (None::<Obj>, 0);
    let zero = [0u8; 4];
    for (i, &device) in all.iter().enumerate() {
        let queue = Obj::queue(t.clCreateCommandQueue(context.h, device, 0, &mut code));
        ok(code);
        if i == 0 {
            let from = zero.as_ptr().cast();
            ok(t.clEnqueueFillBuffer(queue.h, memory.h, from, 4, 0, 4 << 16, 0, null(), null_mut()));
        }
        t.arg(&kernel, 1, 1u32 << i);
        sum += 1 << i;
        let events: Vec<Handle> = wait.iter().map(|e| e.h).collect();
        wait = Some(t.launch_on(queue.h, &kernel, &[1 << 16], &[64], &events));
        let mut values = vec![0u32; 1 << 16];
        let data = values.as_mut_ptr().cast();
        ok(t.clEnqueueReadBuffer(queue.h, memory.h, CL_TRUE, 0, 4 << 16, data, 0, null(), null_mut()));
        assert!(values.iter().all(|&v| v == sum), "device {i}");
    }
    // A device of another context is none of this one.
    let other = t.clCreateCommandQueue(t.context(), parts[0].h, 0, &mut code);
    assert_eq!((other, code), (null_mut(), CL_INVALID_DEVICE));
}

/// Threads of devices that share launches.
fn workers() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|name| name.trim().strip_prefix("cloom-").is_some_and(|n| n.parse::<u32>().is_ok())).count()
}

#[test]
fn a_queue_on_a_part_uses_no_more_threads_than_it_has_units() {
    let (t, Some(units)) = session() else { return };
    if !t.ours() {
        return;
    }
    let run = |device: Handle| {
        let mut code = 1;
        let context = Obj::context(t.clCreateContext(null(), 1, &device, None, null_mut(), &mut code));
        ok(code);
        let queue = Obj::queue(t.clCreateCommandQueue(context.h, device, 0, &mut code));
        ok(code);
        let source = "kernel void k(global float *p) {
            float x = get_global_id(0);
            for (int i = 0; i < 2000; i++) x = x * 0.99f + 1;
            p[get_global_id(0)] = x;
        }";
        let (text, length) = (source.as_ptr().cast(), source.len());
        let program = Obj::program(t.clCreateProgramWithSource(context.h, 1, &text, &length, &mut code));
        ok(code);
        ok(t.build(&program, ""));
        let kernel = t.kernel_of(&program, "k");
        let memory = Obj::mem(t.clCreateBuffer(context.h, 0, 4 << 20, null_mut(), &mut code));
        ok(code);
        t.arg_mem(&kernel, 0, &memory);
        for _ in 0..3 {
            drop(t.launch_on(queue.h, &kernel, &[1 << 20], &[64], &[]));
        }
        ok(t.clFinish(queue.h));
        workers()
    };
    let properties = [BY_COUNTS, 1, units as isize - 1, 0, 0];
    let parts = divide(&t, t.device, &properties).unwrap();
    let before = workers();
    assert_eq!(run(parts[0].h), before, "one unit is the thread of the command");
    assert_eq!(run(parts[1].h) - before, if units == 2 { 0 } else { units as usize - 2 });
    drop(parts);
    // A thread of the runtime may hold the device for a moment after its last command.
    t.until("the threads have ended with their device", || workers() == before);
    assert!(run(t.device) >= units as usize - 1);
}

#[test]
fn impossible_divisions_have_their_codes() {
    let (t, units) = session();
    let mut c = Cases::new();
    let mut n = 0;
    let create = |d, p: &[isize], n: *mut u32| t.clCreateSubDevices(d, p.as_ptr(), 0, null_mut(), n);
    let equally = CL_DEVICE_PARTITION_EQUALLY;
    c.code("null device", CL_INVALID_DEVICE, create(null_mut(), &[equally, 1, 0], &mut n));
    c.code("null properties", CL_INVALID_VALUE, t.clCreateSubDevices(t.device, null(), 0, null_mut(), &mut n));
    c.code("empty properties", CL_INVALID_VALUE, create(t.device, &[0], &mut n));
    c.code("unknown partition", CL_INVALID_VALUE, create(t.device, &[0x7777, 1, 0], &mut n));
    for domain in [0, 3, 1 << 6, -1] {
        c.code("affinity domain", CL_INVALID_VALUE, create(t.device, &[BY_AFFINITY, domain, 0], &mut n));
    }
    if let Some(units) = units.map(|units| units as isize) {
        let mut case = |what: &str, wanted, properties: &[isize]| {
            c.code(what, wanted, create(t.device, properties, &mut n));
        };
        case("two ways", CL_INVALID_VALUE, &[equally, 1, BY_COUNTS, 1, 0, 0]);
        case("parts of nothing", CL_INVALID_VALUE, &[equally, 0, 0]);
        case("no counts", CL_INVALID_VALUE, &[BY_COUNTS, 0, 0]);
        case("the whole", CL_DEVICE_PARTITION_FAILED, &[equally, units, 0]);
        case("more than the whole", CL_INVALID_DEVICE_PARTITION_COUNT, &[equally, units + 1, 0]);
        case("negative parts", CL_INVALID_DEVICE_PARTITION_COUNT, &[equally, -1, 0]);
        case("too many in all", CL_INVALID_DEVICE_PARTITION_COUNT, &[BY_COUNTS, units, 1, 0, 0]);
        case("a negative count", CL_INVALID_DEVICE_PARTITION_COUNT, &[BY_COUNTS, 1, -1, 0, 0]);
        case("one part by counts", 0, &[BY_COUNTS, units, 0, 0]);
        let mut room = [null_mut(); 1];
        let properties = [equally, 1, 0];
        let code = t.clCreateSubDevices(t.device, properties.as_ptr(), 1, room.as_mut_ptr(), null_mut());
        c.code("too little room", CL_INVALID_VALUE, code);
        assert_eq!(room, [null_mut(); 1], "nothing is made");
        c.code("no place for the count", 0, create(t.device, &properties, null_mut()));
    }
    c.end();
}
