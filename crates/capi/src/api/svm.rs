//! Shared virtual memory (OpenCL 3.0, section 5.6).

use super::{enqueue, fail, fill_pattern, give, wait_list};
use crate::args::{HostMemory, In, Out, UserData};
use crate::callback::{self, SvmNotify};
use crate::cl;
use crate::handle::Handle;
use cloom_runtime::{Context, Event, Indirect, Kernel, Queue, Result, Status};
use std::ffi::c_void;

// OpenCL 3.0 API, 5.6: Shared Virtual Memory.
pub fn alloc(context: Handle<Context>, flags: u64, size: usize, alignment: u32) -> Result<*mut c_void> {
    let address = context.get()?.svm_allocate(flags, size as u64, alignment)?;
    Ok(std::ptr::with_exposed_provenance_mut(address))
}

// OpenCL 3.0 API, 5.6: Shared Virtual Memory.
pub fn free(context: Handle<Context>, memory: HostMemory) -> Result<()> {
    context.get()?.svm_free(memory.address());
    Ok(())
}

// OpenCL 3.0 API, 5.6: Shared Virtual Memory.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn enqueue_free(
    handle: Handle<Queue>,
    num: u32,
    memory: In<usize>,
    notify: Option<SvmNotify>,
    user_data: UserData,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    let queue = handle.get()?;
    let wait = wait_list(count, list)?;
    if (num == 0) != memory.is_null() {
        return fail(Status::InvalidValue, format!("there are {num} pointers, and the list says something else"));
    }
    let free = notify.map(|f| callback::svm_free(handle, f, user_data));
    give(queue.svm_free(memory.take(num as usize)?, free, &wait)?, event)
}

// OpenCL 3.0 API, 5.6: Shared Virtual Memory.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn memcpy(
    queue: Handle<Queue>,
    blocking: u32,
    to: HostMemory,
    from: HostMemory,
    size: usize,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    enqueue(queue, count, list, event, |queue, wait| {
        queue.svm_copy(blocking != 0, to.get(), from.get(), size as u64, wait)
    })
}

// OpenCL 3.0 API, 5.6: Shared Virtual Memory.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn fill(
    queue: Handle<Queue>,
    memory: HostMemory,
    pattern: HostMemory,
    pattern_size: usize,
    size: usize,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    enqueue(queue, count, list, event, |queue, wait| {
        queue.svm_fill(memory.get(), &fill_pattern(pattern, pattern_size)?, size as u64, wait)
    })
}

// OpenCL 3.0 API, 5.6: Shared Virtual Memory.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn map(
    queue: Handle<Queue>,
    blocking: u32,
    flags: u64,
    memory: HostMemory,
    size: usize,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    enqueue(queue, count, list, event, |queue, wait| {
        queue.svm_map(blocking != 0, flags, memory.get(), size as u64, wait)
    })
}

// OpenCL 3.0 API, 5.6: Shared Virtual Memory.
pub fn unmap(
    queue: Handle<Queue>,
    memory: HostMemory,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    enqueue(queue, count, list, event, |queue, wait| queue.svm_unmap(memory.get(), wait))
}

// OpenCL 3.0 API, 5.6: Shared Virtual Memory.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn migrate(
    queue: Handle<Queue>,
    num: u32,
    memory: In<usize>,
    sizes: In<usize>,
    flags: u64,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    let (queue, wait) = (queue.get()?, wait_list(count, list)?);
    if num == 0 || memory.is_null() {
        return fail(Status::InvalidValue, "there is nothing to migrate");
    }
    // No size, or 0, means the whole allocation.
    let sizes = sizes.take(num as usize)?;
    let size = |i: usize| sizes.get(i).map_or(0, |&s| s as u64);
    let ranges: Vec<(usize, u64)> =
        memory.take(num as usize)?.into_iter().enumerate().map(|(i, address)| (address, size(i))).collect();
    give(queue.svm_migrate(&ranges, flags, &wait)?, event)
}

// OpenCL 3.0 API, 5.9.2: Setting Kernel Arguments.
pub fn set_arg(kernel: Handle<Kernel>, index: u32, value: HostMemory) -> Result<()> {
    kernel.with(|kernel| kernel.set_svm_arg(index, value.address()))
}

// OpenCL 3.0 API, 5.9.2: Setting Kernel Arguments.
pub fn set_device_address(kernel: Handle<Kernel>, index: u32, address: u64) -> Result<()> {
    kernel.with(|kernel| kernel.set_device_address_arg(index, address))
}

// OpenCL 3.0 API, 5.9.2: Setting Kernel Arguments.
/// The host memory that a kernel accesses through pointers in memory. All of it is accessible, so the runtime keeps
/// only whether there is any. An empty set, 0 bytes at NULL, clears an earlier one.
pub fn exec_info(kernel: Handle<Kernel>, name: u32, size: usize, value: HostMemory) -> Result<()> {
    set_exec_info(&*kernel.get()?, name, size, value)
}

/// `clSetKernelExecInfo` on a kernel that has no handle.
pub(super) fn set_exec_info(kernel: &Kernel, name: u32, size: usize, value: HostMemory) -> Result<()> {
    let (what, is_list) = match name {
        cl::KERNEL_EXEC_INFO_SVM_PTRS => (Indirect::Svm, true),
        cl::KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM => (Indirect::System, false),
        cl::KERNEL_EXEC_INFO_USM_PTRS_INTEL => (Indirect::Usm, true),
        cl::KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL => (Indirect::UsmHost, false),
        cl::KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL => (Indirect::UsmDevice, false),
        cl::KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL => (Indirect::UsmShared, false),
        cl::KERNEL_EXEC_INFO_DEVICE_PTRS_EXT => (Indirect::Buffers, true),
        _ => return fail(Status::InvalidValue, format!("there is no parameter {name:#x}")),
    };
    let good = if is_list { size.is_multiple_of(size_of::<usize>()) } else { size == size_of::<u32>() };
    if !good || value.is_null() && size > 0 {
        return fail(Status::InvalidValue, format!("a value that is NULL or of {size} bytes"));
    }
    // Of the pointers only their number matters.
    let any = size > 0 && (is_list || value.bytes(size)?.iter().any(|&b| b != 0));
    kernel.set_indirect(what, any)
}
