//! Two kinds of device in one context: the CPU, which works in the host's memory, and a stub with memory of its own
//! (see `stub`). Memory objects migrate, events order commands across queues, and a failure on one device leaves the
//! other alone.

mod ahead;
mod images;
mod stub;

use cloom_hal::Memory;
use cloom_runtime::host_mem::HostPtr;
use cloom_runtime::{
    CommandBuffer, CommandBufferFlags, CommandType, Context, Device, DispatchInput, Event, Kernel, MapFlags, MemFlags,
    MemObject, MigrationFlags, Program, Queue, QueueFlags, RangeInput, Recorded, RectPair, RectSide, Status, SyncPoint,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use stub::{Bench, CLOCK_SHIFT, PROGRAM, STUB_EXTENSION};

fn queue(context: &Arc<Context>, device: &Arc<Device>) -> Arc<Queue> {
    Queue::new(context, device, QueueFlags::empty(), None).unwrap()
}

fn buffer(context: &Arc<Context>, words: usize) -> Arc<MemObject> {
    MemObject::buffer(context, 0, 4 * words as u64, None, None).unwrap()
}

fn program(context: &Arc<Context>, text: &str) -> Arc<Program> {
    let program = Program::with_source(context, text.into());
    program.build_for(None, None, None).unwrap();
    program
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

fn read(queue: &Arc<Queue>, buffer: &Arc<MemObject>) -> Vec<u32> {
    let mut bytes = vec![0; buffer.size() as usize];
    queue.read_slice(buffer, 0, &mut bytes, &[]).unwrap();
    bytes.chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect()
}

/// Runs a kernel over so many work-items; the buffers are the first arguments, the value the last one.
fn run(
    queue: &Arc<Queue>,
    kernel: &Arc<Kernel>,
    buffers: &[&Arc<MemObject>],
    value: Option<u32>,
    (offset, items): (usize, usize),
    wait: &[Arc<Event>],
) -> Arc<Event> {
    // A kernel object of its own: arguments are set from several threads elsewhere.
    let kernel = kernel.duplicate();
    for (i, buffer) in buffers.iter().enumerate() {
        kernel.set_buffer_arg(i as u32, Some(*buffer)).unwrap();
    }
    if let Some(value) = value {
        kernel.set_value_arg(buffers.len() as u32, &value.to_le_bytes()).unwrap();
    }
    let (offset, global) = (Some([offset as u64, 0, 0]), Some([items as u64, 1, 1]));
    let range = RangeInput { work_dim: 1, offset, global, local: Some([1; 3]) };
    queue.launch(CommandType::NdRangeKernel, &kernel, &range, wait, true).unwrap().unwrap()
}

/// Records a launch after some sync-points. Returns its own.
fn record(to: &Arc<CommandBuffer>, kernel: &Arc<Kernel>, range: RangeInput, wait: &[SyncPoint]) -> SyncPoint {
    let (fields, no_more_groups, properties) = (None, false, None);
    let input = DispatchInput { kernel, range, fields, no_more_groups, properties };
    to.record_launch(input, wait, false).unwrap().0
}

/// The bytes of memory of the host, such as a mapped range.
fn at_host(bench: &Bench, address: usize, size: u64) -> Arc<dyn Memory> {
    bench.cpu.hal().as_host_shared().unwrap().wrap(address, size)
}

#[test]
fn a_buffer_goes_where_it_is_used_and_only_then() {
    let bench = Bench::new();
    let context = bench.context();
    let (cpu, stub) = (queue(&context, &bench.cpu), queue(&context, &bench.stub));
    let program = program(&context, PROGRAM);
    let (mix, bump) = (program.kernel("mix").unwrap(), program.kernel("bump").unwrap());
    let (a, b) = (buffer(&context, 100), buffer(&context, 100));
    let allocated = || bench.stub_hal.allocations.load(std::sync::atomic::Ordering::Relaxed);
    cpu.write_slice(&a, 0, &bytes(&(0..100).collect::<Vec<_>>()), &[]).unwrap();
    cpu.fill(&b, &7u32.to_le_bytes(), 0, 400, &[]).unwrap();
    run(&cpu, &bump, &[&a], Some(1), (0, 100), &[]).wait();
    assert_eq!((allocated(), bench.transferred()), (0, 0), "all was on the CPU");
    run(&stub, &mix, &[&a, &b], Some(5), (0, 100), &[]).wait();
    assert_eq!((allocated(), bench.transferred()), (2, 800));
    run(&stub, &mix, &[&a, &b], Some(6), (0, 100), &[]).wait();
    assert_eq!(bench.transferred(), 0, "both were valid there");
    let want: Vec<u32> = (0..100u32).map(|i| (((i + 1) * 31 + 7 + 5) * 31) + 7 + 6).collect();
    assert_eq!(read(&cpu, &a), want);
    assert_eq!(bench.transferred(), 400, "read from the stub without a copy on the host");
    assert_eq!(read(&stub, &b), vec![7; 100]);
    assert_eq!(bench.transferred(), 0, "the copy on the host was never invalid: the stub only read it");
    run(&cpu, &bump, &[&a], Some(1), (0, 100), &[]).wait();
    run(&cpu, &bump, &[&a], Some(1), (0, 100), &[]).wait();
    assert_eq!(bench.transferred(), 400);
    assert_eq!(read(&stub, &a), want.iter().map(|w| w + 2).collect::<Vec<_>>());
    assert_eq!(bench.transferred(), 0);
}

#[test]
fn what_is_overwritten_is_not_copied_before() {
    let bench = Bench::new();
    let context = bench.context();
    let (cpu, stub) = (queue(&context, &bench.cpu), queue(&context, &bench.stub));
    let a = buffer(&context, 64);
    cpu.fill(&a, &[1], 0, 256, &[]).unwrap();
    cpu.finish();
    // The middle of it is written on the stub, then all is read: half comes from there.
    stub.fill(&a, &[2], 64, 128, &[]).unwrap();
    stub.finish();
    assert_eq!(bench.transferred(), 0);
    let mut got = [0; 256];
    cpu.read_slice(&a, 0, &mut got, &[]).unwrap();
    assert_eq!(got, std::array::from_fn(|i| if (64..192).contains(&i) { 2 } else { 1 }));
    assert_eq!(bench.transferred(), 128);
    let b = buffer(&context, 64);
    stub.copy(&a, &b, 0, 0, 256, &[]).unwrap();
    stub.finish();
    assert_eq!(bench.transferred(), 128, "the outer quarters went there");
    assert_eq!(bytes(&read(&cpu, &b)), got);
    // The content of a new buffer is undefined, but reading it is no error and copies nothing.
    let fresh = buffer(&context, 4);
    let mut untouched = [9; 16];
    bench.transferred();
    stub.read_slice(&fresh, 0, &mut untouched, &[]).unwrap();
    assert_eq!((untouched, bench.transferred()), ([9; 16], 0));
}

#[test]
fn a_device_without_memory_for_variables_does_not_keep_the_others_from_being_built() {
    use cloom_runtime::BuildKind::{Error, Success};
    let bench = Bench::new();
    let text = "global uint total = 5; kernel void bump(global uint *p, uint v) { p[get_global_id(0)] += v + total; }";
    bench.stub_hal.is_full.store(true, std::sync::atomic::Ordering::Relaxed);
    // The two stubs share one compilation, so that the second comes after the failure of the first.
    for (order, in_order) in [([&bench.stub, &bench.twin, &bench.cpu], 0), ([&bench.cpu, &bench.twin, &bench.stub], 2)]
    {
        let context = Context::new(&order.map(Arc::clone), None, None).unwrap();
        let program = Program::with_source(&context, text.into());
        let error = program.build_for(None, Some("-cl-std=CL3.0"), None).unwrap_err();
        assert_eq!(error.status, Status::MemObjectAllocationFailure, "{}", error.why);
        let states = [0, 1, 2].map(|i| program.build(i));
        for (i, state) in states.iter().enumerate() {
            assert_eq!(state.status, if i == in_order { Error } else { Success }, "device {i}");
        }
        let log = &states[in_order].log;
        assert!(log.contains("no memory for the program's variables"), "{log}");
        // It can be built again, and there are kernels where it is built.
        assert_eq!(program.kernel("bump").map(drop).map_err(|e| e.status), Ok(()));
        assert!(program.build_for(Some(std::slice::from_ref(&bench.twin)), Some("-cl-std=CL3.0"), None).is_ok());
    }
}

#[test]
fn content_of_the_host_is_there_on_each_device() {
    let bench = Bench::new();
    for devices in [vec![&bench.cpu, &bench.stub], vec![&bench.stub, &bench.cpu], vec![&bench.stub]] {
        let devices: Vec<_> = devices.into_iter().cloned().collect();
        let context = Context::new(&devices, None, None).unwrap();
        let program = program(&context, PROGRAM);
        let bump = program.kernel("bump").unwrap();
        let words: Vec<u32> = (0..50).collect();
        let memory: &'static mut [u8] = Vec::leak(bytes(&words));
        let address = memory.as_ptr() as usize;
        let pointer = HostPtr::of_static(memory);
        for flags in [MemFlags::COPY_HOST_PTR, MemFlags::USE_HOST_PTR] {
            let used = flags == MemFlags::USE_HOST_PTR;
            let a = MemObject::buffer(&context, flags.bits(), 200, Some(pointer), None).unwrap();
            for device in &devices {
                run(&queue(&context, device), &bump, &[&a], Some(1), (0, 50), &[]).wait();
            }
            let queue = queue(&context, &bench.stub);
            let want: Vec<u32> = words.iter().map(|w| w + devices.len() as u32).collect();
            assert_eq!(read(&queue, &a), want);
            // Mapped, the application's memory has it; then what the host writes there is seen by the device.
            let (mapped, event) = queue.map(&a, true, (MapFlags::READ | MapFlags::WRITE).bits(), 20, 40, &[]).unwrap();
            assert_eq!((event.status(), mapped == address + 20), (0, used));
            let range = at_host(&bench, mapped, 40);
            let mut seen = [0; 40];
            range.read(0, &mut seen).unwrap();
            assert_eq!(seen[..], bytes(&want)[20..60]);
            range.fill(0, 40, &1000u32.to_le_bytes()).unwrap();
            queue.unmap(&a, mapped, &[]).unwrap();
            run(&queue, &bump, &[&a], Some(1), (0, 50), &[]).wait();
            let want = |i: u32| if (5..15).contains(&i) { 1001 } else { i + devices.len() as u32 + 1 };
            assert_eq!(read(&queue, &a), (0..50).map(want).collect::<Vec<_>>());
            // Given up, it does not come to the host.
            bench.transferred();
            let bits = MapFlags::WRITE_INVALIDATE_REGION.bits();
            let (mapped, _) = queue.map(&a, true, bits, 0, 200, &[]).unwrap();
            assert_eq!(bench.transferred(), 0);
            at_host(&bench, mapped, 200).write(0, &bytes(&words)).unwrap();
            queue.unmap(&a, mapped, &[]).unwrap();
            assert_eq!(read(&queue, &a), words);
            assert_eq!(bench.transferred(), 0, "it is on the host");
        }
    }
}

/// What the application stores in the buffer's own memory and has written from there is not overwritten before by what
/// a device has: of a box with gaps, and of a whole.
#[test]
fn a_buffer_is_written_from_its_own_memory() {
    let bench = Bench::new();
    let context = bench.context();
    let (cpu, stub) = (queue(&context, &bench.cpu), queue(&context, &bench.stub));
    let memory: &'static mut [u8] = Vec::leak(vec![0; 64]);
    let (address, pointer) = (memory.as_ptr() as usize, HostPtr::of_static(memory));
    let a = MemObject::buffer(&context, MemFlags::USE_HOST_PTR.bits(), 64, Some(pointer), None).unwrap();
    for width in [8, 16] {
        stub.fill(&a, &[7], 0, 64, &[]).unwrap();
        stub.finish();
        let side = RectSide { origin: [0; 3], row_pitch: 16, slice_pitch: 64 };
        let host = at_host(&bench, address, 64);
        (0..4).for_each(|row| host.write(16 * row, &vec![9; width]).unwrap());
        let rects = RectPair { source: side, target: side, region: [width as u64, 4, 1] };
        cpu.write_rect(&a, true, &rects, Some(pointer), &[]).unwrap();
        let word = |i: usize| if i % 4 < width / 4 { 0x0909_0909 } else { 0x0707_0707 };
        assert_eq!(read(&stub, &a), (0..16).map(word).collect::<Vec<_>>(), "rows of {width} bytes");
    }
}

/// Maps for writing whose commands do not run, because an event of their wait list fails, have no effect: nor has what
/// ends them, in whichever order that becomes known.
#[test]
fn a_map_that_did_not_run_leaves_the_content_on_the_device() {
    let bench = Bench::new();
    let context = bench.context();
    let stub = queue(&context, &bench.stub);
    let a = buffer(&context, 16);
    stub.fill(&a, &[7], 0, 64, &[]).unwrap();
    stub.finish();
    for bits in [MapFlags::WRITE.bits(), MapFlags::WRITE_INVALIDATE_REGION.bits()] {
        for unmap_first in [true, false] {
            let gate = Event::user(&context);
            let wait = std::slice::from_ref(&gate);
            let (address, map) = stub.map(&a, false, bits, 0, 64, wait).unwrap();
            let unmap = || stub.unmap(&a, address, &[]).unwrap();
            let early = unmap_first.then(unmap);
            gate.set_user_status(-5).unwrap();
            let ended = early.unwrap_or_else(unmap).wait();
            let failed = Status::ExecStatusErrorForEventsInWaitList.code();
            assert_eq!((map.wait(), ended, a.map_count()), (failed, 0, 0));
            assert_eq!(read(&stub, &a), vec![0x07070707; 16], "unmapped first: {unmap_first}");
        }
    }
}

#[test]
fn an_unmap_that_did_not_run_leaves_the_mapping() {
    let bench = Bench::new();
    let context = bench.context();
    let stub = queue(&context, &bench.stub);
    let a = buffer(&context, 16);
    stub.fill(&a, &[7], 0, 64, &[]).unwrap();
    let (address, _) = stub.map(&a, true, MapFlags::WRITE.bits(), 0, 64, &[]).unwrap();
    at_host(&bench, address, 64).write(0, &bytes(&[9; 16])).unwrap();
    let gate = Event::user(&context);
    let unmap = stub.unmap(&a, address, std::slice::from_ref(&gate)).unwrap();
    assert!(stub.unmap(&a, address, &[]).is_err(), "it is about to be unmapped");
    gate.set_user_status(-5).unwrap();
    assert_eq!(unmap.wait(), Status::ExecStatusErrorForEventsInWaitList.code());
    assert_eq!(a.map_count(), 1);
    // One that cannot even be enqueued leaves it, too.
    let foreign = Event::user(&bench.context());
    assert_eq!(stub.unmap(&a, address, &[foreign]).err().unwrap().status, Status::InvalidContext);
    assert_eq!(stub.unmap(&a, address, &[]).unwrap().wait(), 0);
    assert_eq!((a.map_count(), read(&stub, &a)), (0, vec![9; 16]));
}

#[test]
fn a_buffer_in_memory_of_the_host_is_pinned_by_the_device_that_copies() {
    let bench = Bench::new();
    let pinned = || bench.stub_hal.pinned.load(Ordering::Relaxed);
    let alone = Context::new(std::slice::from_ref(&bench.stub), None, None).unwrap();
    let round = |context: &Arc<Context>, flags: MemFlags, while_mapped: u64| {
        let stub = queue(context, &bench.stub);
        let a = MemObject::buffer(context, flags.bits(), 64, None, None).unwrap();
        stub.fill(&a, &[7], 0, 64, &[]).unwrap();
        let (address, _) = stub.map(&a, true, (MapFlags::READ | MapFlags::WRITE).bits(), 0, 64, &[]).unwrap();
        assert_eq!(pinned(), while_mapped, "{flags:?}");
        let mut before = [0; 64];
        at_host(&bench, address, 64).read(0, &mut before).unwrap();
        at_host(&bench, address, 64).write(0, &bytes(&[9; 16])).unwrap();
        stub.unmap(&a, address, &[]).unwrap();
        assert_eq!((before, read(&stub, &a)), ([7; 64], vec![9; 16]));
        stub.finish();
        drop(a);
        assert_eq!(pinned(), 0, "it is freed with the buffer");
    };
    round(&alone, MemFlags::ALLOC_HOST_PTR, 64);
    round(&alone, MemFlags::empty(), 0);
    round(&bench.context(), MemFlags::ALLOC_HOST_PTR, 0);
    // What cannot be pinned is ordinary memory. The device's own copy is there before.
    let stub = queue(&alone, &bench.stub);
    let a = MemObject::buffer(&alone, MemFlags::ALLOC_HOST_PTR.bits(), 64, None, None).unwrap();
    stub.fill(&a, &[7], 0, 64, &[]).unwrap();
    stub.finish();
    bench.stub_hal.is_full.store(true, Ordering::Relaxed);
    let (address, _) = stub.map(&a, true, MapFlags::READ.bits(), 0, 64, &[]).unwrap();
    assert_ne!(address, 0);
    assert_eq!(pinned(), 0);
}

#[test]
fn devices_write_parts_of_one_buffer_at_the_same_time() {
    let bench = Bench::new();
    let context = bench.context();
    let program = program(&context, PROGRAM);
    let bump = program.kernel("bump").unwrap();
    let whole = buffer(&context, 1024);
    let queues = [queue(&context, &bench.cpu), queue(&context, &bench.stub)];
    queues[0].fill(&whole, &[0], 0, 4096, &[]).unwrap();
    queues[0].finish();
    let parts: Vec<_> = (0..8).map(|i| whole.sub_buffer(0, 512 * i, 512).unwrap()).collect();
    for _ in 0..40 {
        for (i, part) in parts.iter().enumerate() {
            run(&queues[i % 2], &bump, &[part], Some(i as u32 + 1), (0, 128), &[]);
        }
    }
    queues.iter().for_each(|q| q.finish());
    let want: Vec<u32> = (0..1024).map(|i| 40 * (i / 128 + 1)).collect();
    assert_eq!(read(&queues[0], &whole), want);
    assert_eq!(bench.transferred(), 4 * 512 * 2, "each of the stub's parts went there and back once");
    // All of it on the device that has half.
    run(&queues[1], &bump, &[&whole], Some(1), (0, 1024), &[]).wait();
    assert_eq!(bench.transferred(), 4 * 512, "the other half");
    assert_eq!(read(&queues[0], &parts[3]), vec![161; 128]);
}

#[test]
fn migration_does_what_it_says() {
    let bench = Bench::new();
    let context = bench.context();
    let (cpu, stub) = (queue(&context, &bench.cpu), queue(&context, &bench.stub));
    let program = program(&context, PROGRAM);
    let bump = program.kernel("bump").unwrap();
    let a = buffer(&context, 64);
    cpu.fill(&a, &[3], 0, 256, &[]).unwrap();
    cpu.finish();
    stub.migrate(std::slice::from_ref(&a), 0, &[]).unwrap().wait();
    assert_eq!(bench.transferred(), 256);
    run(&stub, &bump, &[&a], Some(1), (0, 64), &[]).wait();
    assert_eq!(bench.transferred(), 0, "it was there");
    stub.migrate(std::slice::from_ref(&a), MigrationFlags::HOST.bits(), &[]).unwrap().wait();
    assert_eq!(bench.transferred(), 256);
    assert_eq!(read(&stub, &a), vec![0x03030304; 64]);
    assert_eq!(bench.transferred(), 0);
    let given_up = MigrationFlags::HOST | MigrationFlags::CONTENT_UNDEFINED;
    run(&stub, &bump, &[&a], Some(1), (0, 64), &[]).wait();
    cpu.migrate(std::slice::from_ref(&a), given_up.bits(), &[]).unwrap().wait();
    assert_eq!(bench.transferred(), 0);
}

#[test]
fn events_order_commands_of_both_devices() {
    let bench = Bench::new();
    let context = bench.context();
    let program = program(&context, PROGRAM);
    let (mix, bump) = (program.kernel("mix").unwrap(), program.kernel("bump").unwrap());
    let flags = QueueFlags::OUT_OF_ORDER | QueueFlags::PROFILING;
    let queues = [&bench.cpu, &bench.stub].map(|d| Queue::new(&context, d, flags, None).unwrap());
    let (a, b) = (buffer(&context, 32), buffer(&context, 32));
    for q in [&a, &b] {
        queues[0].fill(q, &[0], 0, 128, &[]).unwrap();
    }
    queues[0].finish();
    let gate = Event::user(&context);
    let (mut events, mut model) = (vec![gate.clone()], (0u32, 0u32));
    for i in 0..100 {
        let last = std::slice::from_ref(events.last().unwrap());
        let event = match i % 3 {
            0 => run(&queues[i / 3 % 2], &bump, &[&b], Some(i as u32), (0, 32), last),
            _ => run(&queues[i % 2], &mix, &[&a, &b], Some(1), (0, 32), last),
        };
        match i % 3 {
            0 => model.1 += i as u32,
            _ => model.0 = model.0.wrapping_mul(31).wrapping_add(model.1 + 1),
        }
        events.push(event);
    }
    assert!(events[1..].iter().all(|e| e.status() > 0), "nothing runs before the gate opens");
    gate.set_user_status(0).unwrap();
    assert_eq!(events.last().unwrap().wait(), 0);
    assert_eq!(read(&queues[0], &a), vec![model.0; 32]);
    assert_eq!(read(&queues[1], &b), vec![model.1; 32]);
    let times: Vec<_> = events[1..].iter().map(|e| e.profiling().unwrap()).collect();
    assert!(times.windows(2).all(|pair| pair[0].end <= pair[1].start), "one after the other");
    assert!(times.iter().all(|t| t.queued <= t.submit && t.submit <= t.start && t.start <= t.end));
}

#[test]
fn a_failure_on_one_device_is_the_commands_alone() {
    let bench = Bench::new();
    let context = bench.context();
    let program = program(&context, PROGRAM);
    let kernel = |name| program.kernel(name).unwrap();
    let (cpu, stub) = (queue(&context, &bench.cpu), queue(&context, &bench.stub));
    let a = buffer(&context, 8);
    cpu.fill(&a, &[0], 0, 32, &[]).unwrap();
    cpu.finish();
    // One tells of its failure, the other is lost by the device.
    for name in ["fails", "breaks"] {
        let failed = run(&stub, &kernel(name), &[&a], None, (0, 8), &[]);
        let held = run(&cpu, &kernel("bump"), &[&a], Some(1), (0, 8), std::slice::from_ref(&failed));
        let behind = run(&stub, &kernel("bump"), &[&a], Some(1), (0, 8), &[]);
        assert_eq!(failed.wait(), Status::OutOfResources.code(), "{name}");
        assert_eq!(held.wait(), Status::ExecStatusErrorForEventsInWaitList.code(), "{name}");
        assert_eq!(behind.wait(), 0, "order does not hand on failure");
        stub.finish();
    }
    assert_eq!(read(&cpu, &a), vec![2; 8]);
    // The same kernels do nothing on the CPU.
    assert_eq!(run(&cpu, &kernel("fails"), &[&a], None, (0, 8), &[]).wait(), 0);
    // A group that the device has no room for.
    let (bump, range) = (kernel("bump"), RangeInput { work_dim: 1, global: Some([128, 1, 1]), ..Default::default() });
    bump.set_buffer_arg(0, Some(&a)).unwrap();
    bump.set_value_arg(1, &[0; 4]).unwrap();
    let too_large = RangeInput { local: Some([128, 1, 1]), ..range };
    let error = stub.launch(CommandType::NdRangeKernel, &bump, &too_large, &[], false).err().unwrap();
    assert_eq!(error.status, Status::OutOfResources);
    assert!(stub.native(cloom_runtime::NativeKernel { buffers: vec![], run: Box::new(|_| ()) }, &[]).is_err());
}

#[test]
fn each_run_of_a_command_buffer_migrates_what_it_needs() {
    let bench = Bench::new();
    let context = bench.context();
    let program = program(&context, PROGRAM);
    let bump = program.kernel("bump").unwrap();
    let (cpu, stub) = (queue(&context, &bench.cpu), queue(&context, &bench.stub));
    let range = RangeInput { work_dim: 1, global: Some([100, 1, 1]), ..Default::default() };
    for own in [&stub, &cpu] {
        let (a, b) = (buffer(&context, 100), buffer(&context, 100));
        let recorded = CommandBuffer::new(own, CommandBufferFlags::empty(), false, None);
        let copy = Recorded::Copy { source: &a, target: &b, from: 0, to: 0, size: 400 };
        let mut point = recorded.record(&copy, &[]).unwrap();
        bump.set_buffer_arg(0, Some(&b)).unwrap();
        for value in [3u32, 4] {
            bump.set_value_arg(1, &value.to_le_bytes()).unwrap();
            point = record(&recorded, &bump, range, &[point]);
        }
        recorded.finalize().unwrap();
        for round in 0..4u32 {
            cpu.fill(&a, &(round * 10).to_le_bytes(), 0, 400, &[]).unwrap();
            cpu.finish();
            let event = recorded.enqueue(None, &[], true).unwrap().unwrap();
            assert_eq!(event.wait(), 0);
            // Both devices see the result, whichever wrote it.
            assert_eq!(read(&cpu, &b), vec![round * 10 + 7; 100]);
            run(&cpu, &bump, &[&b], Some(1), (0, 100), &[]).wait();
            assert_eq!(read(&stub, &b), vec![round * 10 + 8; 100]);
        }
        // On the other device it cannot run.
        let other = if Arc::ptr_eq(own, &cpu) { &stub } else { &cpu };
        assert_eq!(recorded.enqueue(Some(other), &[], true).err().unwrap().status, Status::InvalidDevice);
    }
    // A command that fails ends the run: what comes after it does not run.
    let a = buffer(&context, 100);
    cpu.fill(&a, &[0], 0, 400, &[]).unwrap();
    cpu.finish();
    let recorded = CommandBuffer::new(&stub, CommandBufferFlags::empty(), false, None);
    for name in ["bump", "fails", "bump"] {
        let kernel = program.kernel(name).unwrap();
        kernel.set_buffer_arg(0, Some(&a)).unwrap();
        if name == "bump" {
            kernel.set_value_arg(1, &1u32.to_le_bytes()).unwrap();
        }
        record(&recorded, &kernel, range, &[]);
    }
    recorded.finalize().unwrap();
    let event = recorded.enqueue(None, &[], true).unwrap().unwrap();
    assert_eq!(event.wait(), Status::OutOfResources.code());
    assert_eq!(read(&cpu, &a), vec![1; 100]);
}

#[test]
fn what_a_kernel_prints_is_there_when_it_has_ended() {
    let bench = Bench::new();
    let context = bench.context();
    let program = program(&context, PROGRAM);
    for device in [&bench.stub, &bench.cpu] {
        let event = run(&queue(&context, device), &program.kernel("hello").unwrap(), &[], Some(1), (0, 1), &[]);
        assert_eq!(event.wait(), 0);
        assert_eq!(std::mem::take(&mut *bench.printed.lock().unwrap()), b"hello\n");
    }
}

#[test]
fn each_device_compiles_with_its_own_macros_and_limits() {
    let bench = Bench::new();
    let context = bench.context();
    let text =
        format!("#ifdef {STUB_EXTENSION}\nkernel void bump(global uint *p, uint v) {{ }}\n#else\nnonsense\n#endif");
    let program = Program::with_source(&context, text.clone().into());
    assert_eq!(program.build_for(None, None, None).unwrap_err().status, Status::BuildProgramFailure);
    let states = [0, 1].map(|i| program.build(i).log.contains("nonsense"));
    assert_eq!(states, [true, false], "the CPU alone saw it");
    assert!(program.kernel("bump").is_ok_and(|k| k.code_on(Some(&bench.cpu)).is_err()));
    assert_eq!((bench.cpu.max_group_size(), bench.stub.max_group_size()), (4096, 128));
    let (device, host) = bench.stub.timers();
    assert!(device == CLOCK_SHIFT && host < CLOCK_SHIFT);
    let (device, host) = bench.cpu.timers();
    assert_eq!(device, host);
    // Shared virtual memory is the CPU's.
    assert!(context.svm_allocate(1, 64, 0).is_ok());
    let alone = Context::new(std::slice::from_ref(&bench.stub), None, None).unwrap();
    assert_eq!(alone.svm_allocate(1, 64, 0).unwrap_err().status, Status::InvalidOperation);
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// Words of a buffer of the random graphs; a half of it can be a sub-buffer.
const WORDS: usize = 128;
const HALF: usize = WORDS / 2;

/// A buffer of the model, with what has used each half last: these a new command waits for.
struct Modelled {
    whole: Arc<MemObject>,
    halves: [Arc<MemObject>; 2],
    words: Vec<u32>,
    writer: [Option<Arc<Event>>; 2],
    readers: [Vec<Arc<Event>>; 2],
}

impl Modelled {
    /// What a command on these halves waits for.
    fn wait_list(&self, halves: &[usize], writes: bool) -> Vec<Arc<Event>> {
        let mut events = Vec::new();
        for &h in halves {
            events.extend(self.writer[h].clone());
            if writes {
                events.extend(self.readers[h].iter().cloned());
            }
        }
        events
    }

    fn note(&mut self, halves: &[usize], writes: bool, event: &Arc<Event>) {
        for &h in halves {
            if writes {
                self.readers[h].clear();
                self.writer[h] = Some(event.clone());
            } else {
                self.readers[h].push(event.clone());
            }
        }
    }
}

/// Which memory object a command uses, which halves that are, and which words.
fn choose(random: &mut Random, buffer: &Modelled) -> (Arc<MemObject>, Vec<usize>, std::ops::Range<usize>) {
    match random.below(3) {
        2 => (buffer.whole.clone(), vec![0, 1], 0..WORDS),
        h => (buffer.halves[h].clone(), vec![h], h * HALF..(h + 1) * HALF),
    }
}

fn check(bench: &Bench, seed: u64, commands: usize) {
    let mut random = Random(seed);
    let context = bench.context();
    let program = program(&context, PROGRAM);
    let (mix, bump) = (program.kernel("mix").unwrap(), program.kernel("bump").unwrap());
    let mut queues = Vec::new();
    for device in [&bench.cpu, &bench.stub] {
        for flags in [QueueFlags::empty(), QueueFlags::OUT_OF_ORDER] {
            queues.push(Queue::new(&context, device, flags, None).unwrap());
        }
    }
    let mut buffers: Vec<Modelled> = (0..3)
        .map(|i| {
            let whole = buffer(&context, WORDS);
            let words: Vec<u32> = (0..WORDS as u32).map(|w| w * 1000 + i).collect();
            queues[i as usize % 4].write_slice(&whole, 0, &bytes(&words), &[]).unwrap();
            let halves = [0, 1].map(|h| whole.sub_buffer(0, (4 * HALF * h) as u64, 4 * HALF as u64).unwrap());
            Modelled { whole, halves, words, writer: Default::default(), readers: Default::default() }
        })
        .collect();
    for step in 0..commands {
        let queue = queues[random.below(4)].clone();
        let (x, y) = (random.below(3), random.below(3));
        let (target, halves, range) = choose(&mut random, &buffers[x]);
        let value = random.below(1 << 20) as u32;
        let what = format!("seed {seed}, command {step}");
        let writes = buffers[x].wait_list(&halves, true);
        match random.below(12) {
            0..3 => {
                let event = run(&queue, &bump, &[&target], Some(value), (0, range.len()), &writes);
                buffers[x].words[range].iter_mut().for_each(|w| *w = w.wrapping_add(value));
                buffers[x].note(&halves, true, &event);
            }
            3..6 if x != y => {
                // The source is as long as the target.
                let (source, from, words) = loop {
                    let chosen = choose(&mut random, &buffers[y]);
                    if chosen.2.len() >= range.len() {
                        break chosen;
                    }
                };
                let wait = [writes, buffers[y].wait_list(&from, false)].concat();
                let event = run(&queue, &mix, &[&target, &source], Some(value), (0, range.len()), &wait);
                for (i, at) in range.enumerate() {
                    let read = buffers[y].words[words.start + i];
                    let word = &mut buffers[x].words[at];
                    *word = word.wrapping_mul(31).wrapping_add(read).wrapping_add(value);
                }
                buffers[x].note(&halves, true, &event);
                buffers[y].note(&from, false, &event);
            }
            6 => {
                let (at, count) = (random.below(range.len()), random.below(8));
                let count = count.min(range.len() - at);
                let event =
                    queue.fill(&target, &value.to_le_bytes(), 4 * at as u64, 4 * count as u64, &writes).unwrap();
                buffers[x].words[range][at..at + count].fill(value);
                buffers[x].note(&halves, true, &event);
            }
            7 if x != y => {
                let (at, from) = (random.below(range.len()), random.below(WORDS));
                let count = (1 + random.below(40)).min(range.len() - at).min(WORDS - from);
                let wait = [writes, buffers[y].wait_list(&[0, 1], false)].concat();
                let [from_at, to_at, size] = [from, at, count].map(|n| 4 * n as u64);
                let event = queue.copy(&buffers[y].whole, &target, from_at, to_at, size, &wait).unwrap();
                let copied = buffers[y].words[from..from + count].to_vec();
                buffers[x].words[range][at..at + count].copy_from_slice(&copied);
                buffers[x].note(&halves, true, &event);
                buffers[y].note(&[0, 1], false, &event);
            }
            8 => {
                let bits = if random.below(2) == 0 { 0 } else { MigrationFlags::HOST.bits() };
                let wait = buffers[x].wait_list(&halves, false);
                let event = queue.migrate(&[target], bits, &wait).unwrap();
                buffers[x].note(&halves, false, &event);
            }
            9 => {
                let wait = buffers[x].wait_list(&halves, false);
                let mut got = vec![0; 4 * range.len()];
                queue.read_slice(&target, 0, &mut got, &wait).unwrap();
                assert_eq!(got, bytes(&buffers[x].words[range]), "{what}: read");
            }
            10 => {
                let at = random.below(range.len());
                let event = queue.write_slice(&target, 4 * at as u64, &value.to_le_bytes(), &writes).unwrap();
                buffers[x].words[range.start + at] = value;
                buffers[x].note(&halves, true, &event);
            }
            11 => {
                let flags = (MapFlags::READ | MapFlags::WRITE).bits();
                let size = 4 * range.len() as u64;
                let (address, _) = queue.map(&target, true, flags, 0, size, &writes).unwrap();
                let mapped = at_host(bench, address, size);
                let mut got = vec![0; size as usize];
                mapped.read(0, &mut got).unwrap();
                assert_eq!(got, bytes(&buffers[x].words[range.clone()]), "{what}: map");
                mapped.write(4, &value.to_le_bytes()).unwrap();
                buffers[x].words[range.start + 1] = value;
                let event = queue.unmap(&target, address, &[]).unwrap();
                buffers[x].note(&halves, true, &event);
            }
            _ => {}
        }
    }
    queues.iter().for_each(|q| q.finish());
    for (i, modelled) in buffers.iter().enumerate() {
        assert_eq!(read(&queues[seed as usize % 4], &modelled.whole), modelled.words, "seed {seed}, buffer {i}");
        let events = modelled.writer.iter().flatten().chain(modelled.readers.iter().flatten());
        assert!(events.map(|e| e.status()).all(|status| status == 0), "seed {seed}: all succeed");
    }
}

#[test]
fn random_graphs_over_both_devices_compute_what_the_model_does() {
    let bench = Bench::new();
    for seed in 0..60 {
        check(&bench, seed, 60);
    }
    check(&bench, 1000, 1500);
    assert!(bench.transferred() > 100_000, "much went there and back");
}

#[test]
fn random_graphs_compute_the_same_where_launches_are_submitted_ahead() {
    let bench = Bench::new();
    bench.stub_hal.has_streams.store(true, Ordering::Relaxed);
    for seed in 0..60 {
        check(&bench, seed, 60);
    }
    check(&bench, 1000, 1500);
}
