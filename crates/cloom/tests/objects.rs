//! Devices, queues, images, samplers and binaries, and whose an error is.

#![allow(unsafe_code, reason = "a launch is unsafe; the kernels here are checked by eye")]

use cloom::{
    Addressing, Context, Device, DeviceKind, Error, ImageFormat, Options, QueueOptions, Range, SamplerOptions, Status,
    channel, order,
};

/// A context on the CPU, whatever else the machine has.
fn on_cpu() -> Context {
    Context::with(Options { kinds: Some(vec![DeviceKind::Cpu]), ..Options::default() }).unwrap()
}

#[test]
fn all_devices_of_the_machine_can_share_a_buffer() {
    let devices = Device::all().unwrap();
    let context = Context::on(&devices).unwrap();
    assert_eq!(context.devices(), devices);
    let add = context.build("kernel void add(global int *x, int n) { x[get_global_id(0)] += n; }").unwrap();
    let (add, x) = (add.kernel("add").unwrap(), context.buffer::<i32>(100).unwrap());
    for device in &devices {
        let queue = context.queue(device, QueueOptions::default()).unwrap();
        assert_eq!(queue.device(), *device);
        // SAFETY: a work-item for each element.
        unsafe { add.launch_on(&queue, Range::new([100]), (&x, 5), &[]).unwrap().wait().unwrap() };
    }
    assert_eq!(x.to_vec().unwrap(), vec![5 * devices.len() as i32; 100]);
    assert!(matches!(Context::on(&[]), Err(Error::OpenCl { status: Status::InvalidValue, .. })));
}

#[test]
fn launches_without_an_order_wait_for_events() {
    let context = on_cpu();
    let device = context.devices().remove(0);
    let queue = context.queue(&device, QueueOptions { profiling: true, out_of_order: true }).unwrap();
    let step = context.build("kernel void step(global int *p, int k) { *p = *p * 3 + k; }").unwrap();
    let (step, p) = (step.kernel("step").unwrap(), context.buffer::<i32>(1).unwrap());
    let mut after = Vec::new();
    for k in 0..10 {
        // SAFETY: one work-item, one element, one launch at a time.
        after = vec![unsafe { step.launch_on(&queue, Range::new([1]), (&p, k), &after).unwrap() }];
    }
    after[0].wait().unwrap();
    assert!(after[0].times().is_some());
    assert_eq!(p.to_vec().unwrap(), [(0..10).fold(0, |p, k| p * 3 + k)]);
}

#[test]
fn a_sampler_reads_an_image_and_a_kernel_writes_one() {
    let context = on_cpu();
    let format = ImageFormat { order: order::RGBA, channel_type: channel::UNORM_INT8 };
    let (from, to) = (context.image(format, [5, 3]).unwrap(), context.image(format, [5, 3]).unwrap());
    let pixels: Vec<[u8; 4]> = (0..15).map(|i| [i, 2 * i, 255 - i, 7]).collect();
    from.write(&pixels).unwrap();
    assert_eq!(from.to_vec::<[u8; 4]>().unwrap(), pixels);
    let options = SamplerOptions { addressing: Addressing::ClampToEdge, ..SamplerOptions::default() };
    let sampler = context.sampler(options).unwrap();
    let shift = context.build(
        "kernel void shift(read_only image2d_t from, sampler_t s, write_only image2d_t to) {
             int2 at = (int2)(get_global_id(0), get_global_id(1));
             write_imagef(to, at, read_imagef(from, s, at + (int2)(1, 0)));
         }",
    );
    let shift = shift.unwrap().kernel("shift").unwrap();
    // SAFETY: writes to images stay inside.
    unsafe { shift.launch(Range::new([5, 3]), (&from, &sampler, &to)).unwrap() };
    let shifted: Vec<[u8; 4]> = pixels.chunks(5).flat_map(|row| (1..=5).map(|x| row[x.min(4)])).collect();
    assert_eq!(to.to_vec::<[u8; 4]>().unwrap(), shifted);
    assert_eq!((to.size(), to.format()), ([5, 3, 1], format));
    assert!(matches!(to.to_vec::<u8>(), Err(Error::OpenCl { status: Status::InvalidValue, .. })));
    let repeat = SamplerOptions { addressing: Addressing::Repeat, ..SamplerOptions::default() };
    assert!(matches!(context.sampler(repeat), Err(Error::OpenCl { status: Status::InvalidValue, .. })));
    // SAFETY: nothing runs.
    let swapped = unsafe { shift.launch(Range::new([5, 3]), (&from, &to, &to)) };
    assert!(swapped.is_err(), "an image is no sampler");
}

#[test]
fn a_binary_is_the_program_without_its_source() {
    let context = on_cpu();
    let built = context.build("kernel void seven(global int *p) { p[get_global_id(0)] = 7; }").unwrap();
    let binary = built.binary();
    let loaded = on_cpu().load(&binary).unwrap();
    assert_eq!(loaded.kernels(), ["seven"]);
    let loaded = context.load(&binary).unwrap();
    let p = context.buffer::<i32>(9).unwrap();
    // SAFETY: a work-item for each element.
    unsafe { loaded.kernel("seven").unwrap().launch(Range::new([9]), (&p,)).unwrap() };
    assert_eq!(p.to_vec().unwrap(), [7; 9]);
    assert!(matches!(context.load(b"none"), Err(Error::OpenCl { status: Status::InvalidBinary, .. })));
}

#[test]
fn every_object_can_be_printed() {
    let context = on_cpu();
    let program = context.build("kernel void k(global int *p) { *p = 1; }").unwrap();
    let (kernel, p) = (program.kernel("k").unwrap(), context.buffer::<i32>(1).unwrap());
    // SAFETY: one element.
    let event = unsafe { kernel.launch(Range::new([1]), (&p,)).unwrap() };
    event.wait().unwrap();
    let all = format!("{context:?} {program:?} {kernel:?} {p:?} {event:?} {:?}", context.devices());
    for part in ["Context", "kernels: [\"k\"]", "name: \"k\"", "len: 1", "is_done: true", "Device("] {
        assert!(all.contains(part), "{part} is not in {all}");
    }
}
