//! The hook of device-side enqueue: compiled code calls it, and it asks who answers for the launch.
//!
//! In come the words that `cloom_ir::abi::device` lists, in private memory of the work-item; the answer goes back.
//! Reading and writing what they point to is the one thing that the runtime, which is safe code, cannot do itself.

use crate::fpenv;
use cloom_hal::{DeviceCall, DeviceCalls, KernelMemory};
use cloom_ir::abi;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Who answers the calls of a launch, if anyone does.
pub struct DeviceState<'a>(pub Option<&'a dyn DeviceCalls>);

/// The host's memory, which is the kernel's.
struct HostMemory;

impl KernelMemory for HostMemory {
    fn read(&self, address: u64, size: usize) -> Vec<u8> {
        let mut bytes = vec![0u8; size];
        // SAFETY: compiled code passes addresses of its own objects, or those that the program computed, for which the
        // program is responsible as for any access of its own.
        unsafe { std::ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), size) };
        bytes
    }

    fn write(&self, address: u64, bytes: &[u8]) {
        // SAFETY: compiled code passes addresses of its own objects, or those that the program computed, for which the
        // program is responsible as for any access of its own.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), address as *mut u8, bytes.len()) };
    }
}

/// The hook for device-side enqueue that kernels call. Never unwinds into compiled code.
///
/// # Safety
/// `state` is the launch's [`DeviceState`]; there are `count` words.
pub unsafe extern "C" fn device_hook(state: *const c_void, call: u32, words: *const u64, count: u32) -> u64 {
    let answer = || {
        // SAFETY: compiled code passes what the launch descriptor holds, which outlives the launch.
        let DeviceState(calls) = unsafe { &*state.cast::<DeviceState<'_>>() };
        let words = match count {
            0 => &[][..],
            // SAFETY: `words` points to `count` words, as this function's caller promises.
            _ => unsafe { std::slice::from_raw_parts(words, count as usize) },
        };
        let call = DeviceCall::ALL.get(call as usize).copied()?;
        // What the kernel runs with is not what the runtime expects.
        let _fpenv = fpenv::enter(false);
        Some((*calls)?.call(call, words, &HostMemory))
    };
    let answer = catch_unwind(AssertUnwindSafe(answer)).ok().flatten();
    // Nobody is there, or who answers has panicked: enqueuing fails, and no question has an answer.
    answer.unwrap_or(match DeviceCall::ALL.get(call as usize) {
        Some(DeviceCall::EnqueueKernel | DeviceCall::EnqueueMarker) => i64::from(abi::device::ENQUEUE_FAILURE) as u64,
        _ => 0,
    })
}
