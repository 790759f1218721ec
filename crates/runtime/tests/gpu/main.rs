//! A GPU that is not of any family in the sources: SIMD groups of 64, no generic pointers (see `device`). Its files are
//! all that it takes: the target describes the machine, and compiler and runtime ask that.

mod device;

use cloom_caps::feature;
use cloom_runtime::{
    BuildKind, CommandType, Context, Device, Kernel, MemObject, Program, Queue, QueueFlags, RangeInput, Status,
    subgroup,
};
use device::{Bench, LOCAL_MEMORY};
use std::sync::Arc;

fn queue(context: &Arc<Context>, device: &Arc<Device>) -> Arc<Queue> {
    Queue::new(context, device, QueueFlags::empty(), None).unwrap()
}

fn program(context: &Arc<Context>, text: &str) -> Arc<Program> {
    let program = Program::with_source(context, text.into());
    program.build_for(None, Some("-cl-std=CL3.0"), None).unwrap_or_else(|e| panic!("{}: {}", e.why, log(&program)));
    program
}

/// The build logs of both devices.
fn log(program: &Program) -> String {
    (0..program.devices().len()).map(|i| program.build(i).log).collect()
}

fn words(count: u32) -> Vec<u8> {
    (0..count).flat_map(u32::to_le_bytes).collect()
}

/// Runs a kernel over a buffer, its first argument, and returns the buffer's words.
fn run(queue: &Arc<Queue>, kernel: &Arc<Kernel>, buffer: &Arc<MemObject>, items: u64, local: u64) -> Vec<u32> {
    kernel.set_buffer_arg(0, Some(buffer)).unwrap();
    let range = RangeInput { work_dim: 1, offset: None, global: Some([items, 1, 1]), local: Some([local, 1, 1]) };
    let event = queue.launch(CommandType::NdRangeKernel, kernel, &range, &[], true).unwrap().unwrap();
    event.wait();
    assert_eq!(event.status(), 0);
    let mut bytes = vec![0; buffer.size() as usize];
    queue.read_slice(buffer, 0, &mut bytes, &[]).unwrap();
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

fn buffer(context: &Arc<Context>, words: u64) -> Arc<MemObject> {
    MemObject::buffer(context, 0, 4 * words, None, None).unwrap()
}

const WHO: &str = "
    kernel void who(global uint4 *out)
    {
        uint id = get_sub_group_id() << 16 | get_sub_group_local_id();
        out[get_global_id(0)] = (uint4)(get_sub_group_size(), get_max_sub_group_size(), get_num_sub_groups(), id);
    }
    kernel void sum(global uint *p)
    {
        size_t i = get_global_id(0);
        p[i] = sub_group_reduce_add(p[i]);
    }";

#[test]
fn sub_groups_are_the_simd_groups_and_the_last_one_is_partial() {
    let bench = Bench::new();
    let context = bench.context();
    let queue = queue(&context, &bench.gpu);
    let program = program(&context, WHO);
    let out = buffer(&context, 4 * 250);
    let got = run(&queue, &program.kernel("who").unwrap(), &out, 250, 100);
    for (i, found) in got.as_chunks::<4>().0.iter().enumerate() {
        // Groups of 100, 100 and 50 work-items.
        let (group, l) = (i / 100, i % 100);
        let (count, size) = if group < 2 { (2, if l < 64 { 64 } else { 36 }) } else { (1, 50) };
        assert_eq!(*found, [size, 64, count, (l as u32 / 64) << 16 | (l as u32 % 64)], "work-item {i}");
    }
    let p = buffer(&context, 100);
    queue.write_slice(&p, 0, &words(100), &[]).unwrap();
    let sums = run(&queue, &program.kernel("sum").unwrap(), &p, 100, 100);
    let (first, second) = ((0..64).sum::<u32>(), (64..100).sum::<u32>());
    assert_eq!(sums, [vec![first; 64], vec![second; 36]].concat());
}

#[test]
fn queries_tell_the_size_of_simd_groups() {
    let bench = Bench::new();
    let context = Context::new(std::slice::from_ref(&bench.gpu), None, None).unwrap();
    assert_eq!((bench.gpu.group_multiple(), bench.gpu.subgroup_sizes()), (64, vec![64]));
    assert_eq!(bench.gpu.max_subgroups(), 4, "groups have at most 256 work-items");
    let kernel = program(&context, WHO).kernel("who").unwrap();
    let code = kernel.code_on(None).unwrap();
    let of = |sizes: &[u64]| {
        let found = subgroup::of_local_size(code, sizes).unwrap();
        (found.max_size, found.count)
    };
    assert_eq!([of(&[100]), of(&[16, 16]), of(&[7])], [(64, 2), (64, 4), (64, 1)]);
    let for_count = |count| subgroup::for_count(kernel.meta(), code, count, 1).unwrap();
    assert_eq!([for_count(3), for_count(5)], [[192, 1, 1], [0; 3]]);
    let out = buffer(&context, 4 * 128);
    kernel.set_buffer_arg(0, Some(&out)).unwrap();
    // The groups of a launch that leaves the size open are not smaller than a SIMD group.
    let range = RangeInput { work_dim: 1, offset: None, global: Some([128, 1, 1]), local: None };
    assert_eq!(queue(&context, &bench.gpu).suggested_local_size(&kernel, &range).unwrap(), [64, 1, 1]);
}

#[test]
fn groups_share_local_memory_between_barriers() {
    let text = "
        kernel void turn(global uint *p, local uint *row)
        {
            local uint first;
            uint l = get_local_id(0), n = get_local_size(0);
            if (l == 0) first = p[get_global_id(0)];
            row[l] = p[get_global_id(0)];
            barrier(CLK_LOCAL_MEM_FENCE);
            p[get_global_id(0)] = row[n - 1 - l] + first;
        }";
    let bench = Bench::new();
    let context = bench.context();
    let program = program(&context, text);
    let want: Vec<u32> = (0..200u32)
        .map(|i| (i / 80 * 80, i % 80, if i < 160 { 80 } else { 40 }))
        .map(|(g, l, n)| g + n - 1 - l + g)
        .collect();
    for device in [&bench.gpu, &bench.cpu] {
        let queue = queue(&context, device);
        let kernel = program.kernel("turn").unwrap();
        kernel.set_local_arg(1, 4 * 80).unwrap();
        let p = buffer(&context, 200);
        queue.write_slice(&p, 0, &words(200), &[]).unwrap();
        assert_eq!(run(&queue, &kernel, &p, 200, 80), want);
    }
    // More than a group has there.
    let kernel = program.kernel("turn").unwrap();
    kernel.set_local_arg(1, LOCAL_MEMORY).unwrap();
    let p = buffer(&context, 200);
    kernel.set_buffer_arg(0, Some(&p)).unwrap();
    let range = RangeInput { work_dim: 1, offset: None, global: Some([80, 1, 1]), local: Some([80, 1, 1]) };
    let refused = queue(&context, &bench.gpu).launch(CommandType::NdRangeKernel, &kernel, &range, &[], true);
    assert_eq!(refused.err().map(|e| e.status), Some(Status::OutOfResources));
}

#[test]
fn kernels_with_generic_pointers_are_refused_and_others_run() {
    let bench = Bench::new();
    assert!(!bench.gpu.caps().has_feature(feature::GENERIC_ADDRESS_SPACE));
    let context = bench.context();
    let named = "kernel void k(global uint *p) { generic uint *q = p; *q = 1; }";
    let unnamed = "
        uint get(uint *q) { return *q; }
        kernel void k(global uint *p) { uint x = 1; p[0] = get(p) + get(&x); }";
    for (text, message) in [
        (named, "the generic address space is not supported by this device"),
        (unnamed, "write `global` in front of the type"),
    ] {
        let program = Program::with_source(&context, text.into());
        let error = program.build_for(None, Some("-cl-std=CL3.0"), None).unwrap_err();
        assert_eq!(error.status, Status::BuildProgramFailure, "{}", error.why);
        let [cpu, gpu] = [0, 1].map(|i| program.build(i));
        assert_eq!((cpu.status, gpu.status), (BuildKind::Success, BuildKind::Error), "{} {}", cpu.log, gpu.log);
        assert!(gpu.log.contains(message), "{}", gpu.log);
    }
    let plain = "
        uint get(global uint *q) { return *q; }
        kernel void k(global uint *p) { p[get_global_id(0)] = get(p + get_global_id(0)) * 3; }";
    let p = buffer(&context, 10);
    let queue = queue(&context, &bench.gpu);
    queue.write_slice(&p, 0, &words(10), &[]).unwrap();
    let kernel = program(&context, plain).kernel("k").unwrap();
    assert_eq!(run(&queue, &kernel, &p, 10, 5), (0..10).map(|i| 3 * i).collect::<Vec<_>>());
}

#[test]
fn a_fault_ends_the_launch_and_not_the_device() {
    let text = "
        kernel void far(global uint *p) { p[1 << 20] = 1; }
        kernel void near(global uint *p) { p[get_global_id(0)] = 7; printf(\"item %d\\n\", (int)get_global_id(0)); }";
    let bench = Bench::new();
    let context = bench.context();
    let (queue, program) = (queue(&context, &bench.gpu), program(&context, text));
    let p = buffer(&context, 2);
    let far = program.kernel("far").unwrap();
    far.set_buffer_arg(0, Some(&p)).unwrap();
    let range = RangeInput { work_dim: 1, offset: None, global: Some([1, 1, 1]), local: None };
    let event = queue.launch(CommandType::NdRangeKernel, &far, &range, &[], true).unwrap().unwrap();
    event.wait();
    assert!(event.status() < 0);
    assert_eq!(run(&queue, &program.kernel("near").unwrap(), &p, 2, 1), [7, 7]);
    queue.finish();
    assert_eq!(String::from_utf8_lossy(&bench.printed.lock().unwrap()), "item 0\nitem 1\n");
}
