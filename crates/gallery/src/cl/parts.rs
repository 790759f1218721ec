//! Parts of a device as devices of their own: a session for each.

use super::found::POCL;
use super::{Found, Session};
use crate::error::{Error, Result};
use opencl3::command_queue::CL_QUEUE_PROFILING_ENABLE;
use opencl3::device::{CL_DEVICE_PARTITION_EQUALLY, Device};
use std::sync::Arc;

impl Session {
    /// As many sessions on equal parts of a device. Where the device cannot be divided so, they share it.
    pub fn parts(found: &Found, count: usize) -> Result<Vec<Session>> {
        let units = found.units as usize / count.max(1);
        if count == 1 || units == 0 {
            return (0..count).map(|_| Session::on(found)).collect();
        }
        let properties = [CL_DEVICE_PARTITION_EQUALLY, units as isize, 0];
        let Ok(parts) = found.id.create_sub_devices(&properties) else {
            return (0..count).map(|_| Session::on(found)).collect();
        };
        let open = |(i, part): (usize, opencl3::device::SubDevice)| {
            let id = Device::new(part.id());
            let units = id.max_compute_units().map_err(Error::call("clGetDeviceInfo"))?;
            let device = format!("{}, part {} of {count}", found.device, i + 1);
            let found = Found { device, units, id, ..found.clone() };
            let part = Arc::new(part);
            // Before version 4.0, neither contexts nor queues of PoCL retain the part that they are on; a thread of it
            // that ends a queue's last command, which the host no longer waits for, would find the part freed.
            if found.platform == POCL {
                std::mem::forget(part.clone());
            }
            Ok(Session { part: Some(part), ..Session::with(&found, CL_QUEUE_PROFILING_ENABLE)? })
        };
        parts.into_iter().take(count).enumerate().map(open).collect()
    }

    /// Whether the device is a part of one.
    pub fn is_part(&self) -> bool {
        self.part.is_some()
    }
}
