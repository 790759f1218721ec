//! Several devices in one context, between which bytes move as commands need them.

#[path = "../common/mod.rs"]
mod common;
use common::gpu::on_several_gpus;
use common::*;

/// Kernels of each device add to a buffer of their own, which the next device copies a part of into its own one: as
/// parts of a domain send each other what is at their edges. With one device, that is the next one, too.
#[test]
fn devices_copy_what_others_have_computed() {
    const N: usize = 5000;
    const STEPS: usize = 6;
    let platform = platform();
    let devices: Vec<Handle> = {
        let mut devices = vec![null_mut(); 8];
        let mut count = 0;
        ok(api().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 8, devices.as_mut_ptr(), &mut count));
        devices.truncate(count as usize);
        devices
    };
    let t = Session::in_context_of(&devices, platform, 0);
    let program = t.program(
        "kernel void step(global uint *own, uint k) { size_t i = get_global_id(0); own[i] = own[i] * 3 + k + i; }",
    );
    let queue = |device: &Handle| {
        let mut code = 1;
        let queue = t.clCreateCommandQueue(t.context(), *device, 0, &mut code);
        ok(code);
        Obj::queue(queue)
    };
    let (queues, kernels): (Vec<Obj>, Vec<Obj>) =
        devices.iter().map(|device| (queue(device), t.kernel_of(&program, "step"))).unzip();
    let mut wanted: Vec<Vec<u32>> = (0..devices.len() as u32).map(|d| vec![d + 1; N]).collect();
    let buffers: Vec<Obj> = wanted.iter().map(|values| t.buffer_of(values)).collect();
    for step in 0..STEPS {
        let mut ended = Vec::new();
        for (d, (kernel, buffer)) in kernels.iter().zip(&buffers).enumerate() {
            t.arg_mem(kernel, 0, buffer);
            t.arg(kernel, 1, step as u32);
            ended.push(t.launch_on(queues[d].h, kernel, &[N], &[], &[]));
            ok(t.clFlush(queues[d].h));
            for (i, value) in wanted[d].iter_mut().enumerate() {
                *value = value.wrapping_mul(3).wrapping_add((step + i) as u32);
            }
        }
        // The end of what one has goes to the beginning of the next one's.
        let computed = wanted.clone();
        let (from, len) = (N - 40 * (step + 1), 30 * (step + 1));
        for d in 0..devices.len() {
            let source = (d + devices.len() - 1) % devices.len();
            let (other, wait) = (buffers[source].h, [ended[source].h, ended[d].h]);
            let (queue, own) = (queues[d].h, buffers[d].h);
            let [first, at, size] = [from, d, len].map(|n| 4 * n);
            ok(t.clEnqueueCopyBuffer(queue, other, own, first, at, size, 2, wait.as_ptr(), null_mut()));
            wanted[d][d..d + len].copy_from_slice(&computed[source][from..from + len]);
        }
        for queue in &queues {
            ok(t.clFinish(queue.h));
        }
    }
    for (d, (buffer, wanted)) in buffers.iter().zip(&wanted).enumerate() {
        assert_eq!(t.read::<u32>(buffer, N), *wanted, "device {d} of {}", devices.len());
    }
}

#[test]
fn gpus_do_so_too() {
    on_several_gpus("gpu", true, &["devices_copy_what_others_have_computed"]);
}

#[test]
fn a_cpu_and_gpus_do_so_too() {
    on_several_gpus("cpu,gpu", true, &["devices_copy_what_others_have_computed"]);
}

#[test]
fn a_link_that_loses_bytes_is_not_used() {
    on_several_gpus("gpu", false, &["devices_copy_what_others_have_computed"]);
}
