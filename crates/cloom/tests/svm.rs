//! Shared virtual memory: pointers in it that kernels follow, maps, and how long it lives.

#![allow(unsafe_code, reason = "a launch is unsafe; the kernels here are checked by eye")]

use bytemuck::{Pod, Zeroable};
use cloom::{Context, DeviceKind, Error, Kernel, Options, QueueOptions, Range, Status, SvmOptions};
use std::sync::atomic::{AtomicU32, Ordering};

/// A context on the CPU, whatever else the machine has.
fn on_cpu() -> Context {
    Context::with(Options { kinds: Some(vec![DeviceKind::Cpu]), ..Options::default() }).unwrap()
}

fn kernel(context: &Context, source: &str, name: &str) -> Kernel {
    context.build(source).unwrap().kernel(name).unwrap()
}

/// An element of a list, in memory that host and kernel share.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Node {
    next: u64,
    value: u64,
}

// SAFETY: two fields of eight bytes, without padding, that take any bits.
unsafe impl Zeroable for Node {}
// SAFETY: two fields of eight bytes, without padding, that take any bits.
unsafe impl Pod for Node {}

const LIST: &str = "
struct node { global struct node *next; ulong value; };
kernel void sum(global struct node *list, global ulong *result) {
    ulong n = 0;
    for (; list; list = list->next)
        n += list->value++;
    *result = n;
}
kernel void sum_at(global ulong *addresses, global ulong *result) {
    *result = ((global struct node *)addresses[0])->value + ((global struct node *)addresses[1])->value;
}";

#[test]
fn a_kernel_follows_pointers_from_allocation_to_allocation() {
    let context = Context::new().unwrap();
    let (mut odd, mut even) = (context.svm::<Node>(50).unwrap(), context.svm::<Node>(50).unwrap());
    let (at_odd, at_even) = (odd.address(), even.address());
    for (i, node) in odd.map_mut().unwrap().iter_mut().enumerate() {
        *node = Node { next: at_even + 16 * i as u64, value: 2 * i as u64 + 1 };
    }
    for (i, node) in even.map_mut().unwrap().iter_mut().enumerate() {
        let next = if i == 49 { 0 } else { at_odd + 16 * (i as u64 + 1) };
        *node = Node { next, value: 2 * i as u64 + 2 };
    }
    let result = context.buffer::<u64>(1).unwrap();
    // SAFETY: the list ends, its elements live longer than the launch, and nothing is mapped.
    unsafe { kernel(&context, LIST, "sum").launch(Range::new([1]), (&odd, &result)).unwrap() };
    assert_eq!(result.to_vec().unwrap(), [(1..=100).sum::<u64>()]);
    assert_eq!(even.map().unwrap()[49].value, 101, "the kernel has counted up what it only reached by a pointer");
    // The addresses may also be in other memory.
    let addresses = context.buffer_from(&[at_odd, at_even]).unwrap();
    // SAFETY: both addresses are those of elements, which live longer than the launch.
    unsafe { kernel(&context, LIST, "sum_at").launch(Range::new([1]), (&addresses, &result)).unwrap() };
    assert_eq!(result.to_vec().unwrap(), [2 + 3]);
}

#[test]
fn maps_wait_for_the_launches_of_all_queues() {
    let context = on_cpu();
    let device = context.devices().remove(0);
    let queues = [(); 3].map(|()| context.queue(&device, QueueOptions::default()).unwrap());
    let spin =
        "kernel void spin(global uint *p, uint n) { uint v = *p; for (uint i = 0; i < n; i++) v = v * 3 + i; *p = v; }";
    let spin = kernel(&context, spin, "spin");
    let mut expected = 0u32;
    let mut number = context.svm::<u32>(1).unwrap();
    assert_eq!((number.len(), number.is_empty(), number.to_vec().unwrap()), (1, false, vec![0]));
    for round in 0..30 {
        *number.map_mut().unwrap().first_mut().unwrap() = round;
        // SAFETY: one work-item changes one element; the map has ended.
        unsafe { spin.launch_on(&queues[round as usize % 3], Range::new([1]), (&number, 50_000u32), &[]).unwrap() };
        expected = (0..50_000).fold(round, |v: u32, i| v.wrapping_mul(3).wrapping_add(i));
        assert_eq!(number.map().unwrap()[..], [expected]);
    }
    assert_eq!(number.to_vec().unwrap(), [expected]);
}

#[test]
fn a_launch_keeps_its_memory() {
    let context = on_cpu();
    let copy = "kernel void copy(global const uint *from, global uint *to, uint n) {
        uint sum = 0;
        for (uint i = 0; i < n; i++) sum += from[i % 1000];
        to[get_global_id(0)] = sum;
    }";
    let copy = kernel(&context, copy, "copy");
    let to = context.buffer::<u32>(64).unwrap();
    for round in 0..20u32 {
        let from = context.svm_from(&vec![round; 1000]).unwrap();
        // SAFETY: the kernel reads the first thousand elements and writes one element for each work-item.
        let event = unsafe { copy.launch(Range::new([64]), (&from, &to, 100_000u32)).unwrap() };
        drop(from);
        event.wait().unwrap();
        assert_eq!(to.to_vec().unwrap(), [100_000 * round; 64]);
    }
}

#[test]
fn host_and_kernel_use_fine_grain_memory_at_the_same_time() {
    let context = on_cpu();
    let wait = kernel(
        &context,
        "kernel void wait(global uint *flag, global uint *out) {
            global atomic_uint *first = (global atomic_uint *)flag;
            while (atomic_load_explicit(first, memory_order_acquire, memory_scope_all_svm_devices) == 0) {}
            *out = flag[1];
        }",
        "wait",
    );
    let flag = context.svm_with::<u32>(2, SvmOptions { fine_grain: true }).unwrap();
    let out = context.buffer::<u32>(1).unwrap();
    // SAFETY: one work-item; both sides use the flag with atomic operations.
    let event = unsafe { wait.launch(Range::new([1]), (&flag, &out)).unwrap() };
    // SAFETY: the kernel reads the second element after the flag is set.
    unsafe { flag.as_ptr().add(1).write(77) };
    // SAFETY: the element is aligned, lives as long as the reference, and the kernel's accesses are atomic, too.
    unsafe { AtomicU32::from_ptr(flag.as_ptr()) }.store(1, Ordering::Release);
    event.wait().unwrap();
    assert_eq!(out.to_vec().unwrap(), [77]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let context = on_cpu();
    let memory = context.svm::<f32>(4).unwrap();
    assert_eq!(format!("{memory:?} {:?}", memory.map().unwrap()), "SvmBuffer { len: 4, .. } [0.0, 0.0, 0.0, 0.0]");
    assert!(matches!(context.svm::<f32>(0), Err(Error::OpenCl { status: Status::InvalidBufferSize, .. })));
    assert!(matches!(context.svm::<u64>(usize::MAX / 2), Err(Error::OpenCl { status: Status::InvalidBufferSize, .. })));
    let program = "kernel void ints(global int *p) {} kernel void lanes(local float *p) {} kernel void floats(global float *p) {}";
    let launch = |context: &Context, name| {
        // SAFETY: the kernels do nothing.
        unsafe { kernel(context, program, name).launch(Range::new([4]), (&memory,)).map(|_| ()) }
    };
    assert!(matches!(launch(&context, "ints"), Err(Error::ArgumentType { index: 0, .. })));
    assert!(matches!(launch(&context, "lanes"), Err(Error::OpenCl { status: Status::InvalidArgValue, .. })));
    assert!(matches!(launch(&on_cpu(), "floats"), Err(Error::OpenCl { status: Status::InvalidContext, .. })));
    launch(&context, "floats").unwrap();
}
