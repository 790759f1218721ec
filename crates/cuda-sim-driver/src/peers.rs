//! Copies between devices. All memory is the host's, so that each device could access all of it. What is checked:
//! either both devices may access the other one's pool, or none. If only one could, GPUs that copied from each other at
//! the same time failed (driver 580). With `CUDA_SIM_LINK=0`, copies between devices with access are lost without an
//! error.

use crate::transfer::cuMemcpyDtoDAsync_v2;
use crate::{device_of, devices, driver, number, put};
use cloom_cuda_abi::PoolAccess;
use cloom_cuda_abi::constants::{
    ERROR_INVALID_VALUE, MEM_ACCESS_FLAGS_PROT_NONE, MEM_ACCESS_FLAGS_PROT_READWRITE, MEM_LOCATION_TYPE_DEVICE, SUCCESS,
};
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, PoisonError};

/// The owner of a pool, and a device that may access it.
type Access = (u32, u32);

static GRANTED: Mutex<Vec<Access>> = Mutex::new(Vec::new());

driver! {
    /// A device can access every other one.
    fn cuDeviceCanAccessPeer(can: *mut c_int, device: c_int, peer: c_int) {
        // SAFETY: `can` is null or valid for writing, as CUDA asks of the caller.
        unsafe { put(can, c_int::from(device != peer)) }
    }

    /// Grants or revokes read and write access, for one device.
    fn cuMemPoolSetAccess(pool: *mut c_void, access: *const PoolAccess, count: usize) {
        // SAFETY: `access` is null or points to a live value, as CUDA asks of the caller.
        let (Some(owner), Some(access), 1) = (device_of(pool), (unsafe { access.as_ref() }), count) else {
            return ERROR_INVALID_VALUE;
        };
        let (MEM_LOCATION_TYPE_DEVICE, MEM_ACCESS_FLAGS_PROT_NONE | MEM_ACCESS_FLAGS_PROT_READWRITE) =
            (access.location, access.flags)
        else {
            return ERROR_INVALID_VALUE;
        };
        let guest = access.device as u32;
        if guest >= devices() || guest == owner {
            return ERROR_INVALID_VALUE;
        }
        let mut granted = GRANTED.lock().unwrap_or_else(PoisonError::into_inner);
        granted.retain(|access| *access != (owner, guest));
        if access.flags != MEM_ACCESS_FLAGS_PROT_NONE {
            granted.push((owner, guest));
        }
        SUCCESS
    }

    /// Copies from another device.
    fn cuMemcpyPeerAsync(
        to: u64,
        to_context: *mut c_void,
        from: u64,
        from_context: *mut c_void,
        size: usize,
        stream: *mut c_void,
    ) {
        let (Some(here), Some(there)) = (device_of(to_context), device_of(from_context)) else { return ERROR_INVALID_VALUE };
        let granted = GRANTED.lock().unwrap_or_else(PoisonError::into_inner);
        let [ours, theirs] = [(here, there), (there, here)].map(|access| granted.contains(&access));
        drop(granted);
        // Hardware fails only when two GPUs copy from each other at the same time; here every such copy is refused.
        if ours != theirs {
            return ERROR_INVALID_VALUE;
        }
        if ours && number("CUDA_SIM_LINK") == Some(0) {
            return SUCCESS;
        }
        // SAFETY: `stream` is null or a stream's handle, and the call checks both ranges.
        unsafe { cuMemcpyDtoDAsync_v2(to, from, size, stream) }
    }
}
