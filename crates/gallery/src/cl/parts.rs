//! Devices that work together: parts of a device as devices of their own, and sessions that share a context.

use super::found::POCL;
use super::{Found, Session};
use crate::error::{Error, Result};
use opencl3::command_queue::CL_QUEUE_PROFILING_ENABLE;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_PARTITION_EQUALLY, Device, SubDevice};
use opencl3::types::cl_device_id;
use std::collections::BTreeMap;
use std::ptr;
use std::sync::Arc;

/// A device, or a part of one.
pub struct Part {
    found: Found,
    /// What keeps a part.
    part: Option<Arc<SubDevice>>,
}

impl Part {
    /// As many equal parts of a device. Where it cannot be divided so, each is all of it.
    pub fn of(found: &Found, count: usize) -> Result<Vec<Part>> {
        let units = found.units as usize / count.max(1);
        let shared = || (0..count).map(|_| Part { found: found.clone(), part: None }).collect();
        if count == 1 || units == 0 {
            return Ok(shared());
        }
        let properties = [CL_DEVICE_PARTITION_EQUALLY, units as isize, 0];
        let Ok(parts) = found.id.create_sub_devices(&properties) else { return Ok(shared()) };
        let open = |(i, part): (usize, SubDevice)| {
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
            Ok(Part { found, part: Some(part) })
        };
        // Eight units in parts of two are four: where three were asked for, the last one is left out.
        parts.into_iter().take(count).enumerate().map(open).collect()
    }
}

impl Session {
    /// A session for each, of which those of one platform share a context: what one has computed another one can copy.
    pub fn together(parts: Vec<Part>) -> Result<Vec<Session>> {
        let mut ids: BTreeMap<usize, Vec<cl_device_id>> = BTreeMap::new();
        for Part { found, .. } in &parts {
            ids.entry(found.platform_index).or_default().push(found.id.id());
        }
        let mut contexts = BTreeMap::new();
        for (platform, ids) in ids {
            let context = Context::from_devices(&ids, &[], None, ptr::null_mut());
            contexts.insert(platform, Arc::new(context.map_err(Error::call("clCreateContext"))?));
        }
        let open = |Part { found, part }: Part| {
            let context = contexts[&found.platform_index].clone();
            Ok(Session { part, ..Session::within(context, &found, CL_QUEUE_PROFILING_ENABLE)? })
        };
        parts.into_iter().map(open).collect()
    }

    /// Whether the device is a part of one.
    pub fn is_part(&self) -> bool {
        self.part.is_some()
    }
}
