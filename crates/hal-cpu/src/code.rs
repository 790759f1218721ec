//! Calling code: the descriptors that it gets, as `cloom_ir::abi` says, and the function with what it needs.

use crate::grouping::{batch, product};
use crate::kernel::CpuKernel;
use cloom_hal::{HalError, NdRange};
use cloom_ir::abi;
use std::ffi::c_void;

/// The launch descriptor.
#[repr(C)]
pub struct LaunchDescriptor {
    pub work_dim: u32,
    pub nontemporal: u32,
    pub global_offset: [u64; 3],
    pub global_size: [u64; 3],
    pub local_size: [u64; 3],
    pub num_groups: [u64; 3],
    pub print: unsafe extern "C" fn(*const c_void, u32, u64, *const u8, u32),
    pub print_state: *const c_void,
    pub device: unsafe extern "C" fn(*const c_void, u32, *const u64, u32) -> u64,
    pub device_state: *const c_void,
}

/// The group descriptor.
#[repr(C)]
pub struct GroupDescriptor {
    pub id: [u64; 3],
    pub local_size: [u64; 3],
    pub count: u64,
    pub local_stride: u64,
    pub scratch_stride: u64,
}

const _: () = {
    use std::mem::offset_of;
    assert!(offset_of!(LaunchDescriptor, work_dim) as u64 == abi::LAUNCH_WORK_DIM);
    assert!(offset_of!(LaunchDescriptor, nontemporal) as u64 == abi::LAUNCH_NONTEMPORAL);
    assert!(offset_of!(LaunchDescriptor, global_offset) as u64 == abi::LAUNCH_GLOBAL_OFFSET);
    assert!(offset_of!(LaunchDescriptor, global_size) as u64 == abi::LAUNCH_GLOBAL_SIZE);
    assert!(offset_of!(LaunchDescriptor, local_size) as u64 == abi::LAUNCH_LOCAL_SIZE);
    assert!(offset_of!(LaunchDescriptor, num_groups) as u64 == abi::LAUNCH_NUM_GROUPS);
    assert!(offset_of!(LaunchDescriptor, print) as u64 == abi::LAUNCH_PRINTF);
    assert!(offset_of!(LaunchDescriptor, print_state) as u64 == abi::LAUNCH_PRINTF_STATE);
    assert!(offset_of!(LaunchDescriptor, device) as u64 == abi::LAUNCH_DEVICE);
    assert!(offset_of!(LaunchDescriptor, device_state) as u64 == abi::LAUNCH_DEVICE_STATE);
    assert!(size_of::<LaunchDescriptor>() as u64 == abi::LAUNCH_SIZE);
    assert!(offset_of!(GroupDescriptor, id) as u64 == abi::GROUP_ID);
    assert!(offset_of!(GroupDescriptor, local_size) as u64 == abi::GROUP_LOCAL_SIZE);
    assert!(offset_of!(GroupDescriptor, count) as u64 == abi::GROUP_COUNT);
    assert!(offset_of!(GroupDescriptor, local_stride) as u64 == abi::GROUP_LOCAL_STRIDE);
    assert!(offset_of!(GroupDescriptor, scratch_stride) as u64 == abi::GROUP_SCRATCH_STRIDE);
    assert!(size_of::<GroupDescriptor>() as u64 == abi::GROUP_SIZE);
};

/// A work-group function: launch, arguments, group, local memory, scratch.
pub type GroupFn = unsafe extern "C" fn(*const LaunchDescriptor, *const u8, *const GroupDescriptor, *mut u8, *mut u8);

/// A work-group function, and the memory that it needs for each group.
#[derive(Clone, Copy)]
pub struct Code {
    pub function: GroupFn,
    /// Bytes of scratch.
    pub scratch: u64,
    /// Groups that it runs in one call, at most (work-group batching).
    pub batch: u64,
}

impl Code {
    /// The function of a kernel for these groups.
    pub fn of(kernel: &CpuKernel, range: &NdRange, local: u64) -> Result<Code, HalError> {
        let cpu = &kernel.cpu;
        // A row that is no multiple of the vector's lanes runs with a vector that is not full, whose lanes have
        // scratch, too.
        let mut rounded = range.local;
        rounded[0] = rounded[0].checked_next_multiple_of(u64::from(cpu.lanes.max(1))).unwrap_or(rounded[0]);
        let items = product(rounded);
        let scratch = items.and_then(|n| cpu.scratch_per_item.checked_mul(n));
        let scratch = scratch.and_then(|s| s.checked_add(cpu.scratch_fixed));
        let scratch = scratch.ok_or(HalError::OutOfMemory(0))?;
        Ok(Code {
            batch: batch(cpu.grid_stride_bytes, items.unwrap_or(u64::MAX), local.saturating_add(scratch)),
            // SAFETY: the loader found the entry in the code of an object whose target and interface the artifact
            // declares.
            function: unsafe { std::mem::transmute::<usize, GroupFn>(kernel.image.entry()) },
            scratch,
        })
    }
}
