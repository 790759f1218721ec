//! What a GPU says of itself, and what it refuses, where that is not what a CPU says.

mod common;
use common::gpu::on_the_gpu;
use common::*;

/// Without a GPU, in this process, the device is the CPU, of which this is true, too.
#[test]
fn vectors_have_at_least_one_element() {
    let t = Session::new();
    for name in [
        CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR,
        CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT,
        CL_DEVICE_NATIVE_VECTOR_WIDTH_INT,
        CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG,
        CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT,
        CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE,
        CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF,
    ] {
        let width: u32 = info(|s, v, r| t.clGetDeviceInfo(t.device, name, s, v, r));
        assert!(width > 0, "{name:#x}");
    }
}

/// That the device has none comes before what is wrong with the queue.
#[test]
fn a_default_queue_needs_queues_on_the_device() {
    let t = Session::new();
    let able: u64 = info(|s, v, r| t.clGetDeviceInfo(t.device, CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, s, v, r));
    let wanted = if able == 0 { CL_INVALID_OPERATION } else { CL_INVALID_COMMAND_QUEUE };
    assert_eq!(t.clSetDefaultDeviceCommandQueue(t.context(), t.device, null_mut()), wanted);
}

#[test]
fn a_gpu_has_them_too() {
    on_the_gpu(&["vectors_have_at_least_one_element", "a_default_queue_needs_queues_on_the_device"]);
}
