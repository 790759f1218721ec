//! Sub-devices.

use super::fail;
use crate::args::{In, Out, OutArray};
use crate::cl;
use crate::handle::{self, Handle};
use crate::info::{Info, Written};
use cloom_runtime::{Device, Result, Status};
use std::sync::Arc;

/// Longer than any list of counts can be.
const MAX_PROPERTIES: usize = 4096;

// OpenCL 3.0 API, 4.3: Partitioning a Device.
pub fn create(
    device: Handle<Device>,
    properties: In<isize>,
    room: u32,
    devices: OutArray<Handle<Device>>,
    count: Out<u32>,
) -> Result<()> {
    let device = device.get()?;
    let mut list = Vec::new();
    // Of counts, up to the end of the list of counts: what follows is the end of the properties. A list by counts may
    // be empty: its name is followed by the two ends.
    properties.walk(|entry| {
        list.push(entry);
        if list.len() > MAX_PROPERTIES {
            return fail(Status::InvalidValue, "the list of properties has no end");
        }
        let value_follows = list.len() == 1 || list.len() == 2 && list[0] != cl::DEVICE_PARTITION_BY_COUNTS;
        Ok(list[0] != 0 && (entry != 0 || value_follows))
    })?;
    let partition = match list[..] {
        [cl::DEVICE_PARTITION_EQUALLY, units, 0] => device.partition_equally(units)?,
        [cl::DEVICE_PARTITION_BY_COUNTS, ref counts @ .., 0] => device.partition_by_counts(counts)?,
        [cl::DEVICE_PARTITION_BY_AFFINITY_DOMAIN, domain, 0] => device.partition_by_affinity(domain)?,
        [] | [0] => return fail(Status::InvalidValue, "there are no properties"),
        [scheme, ..] => {
            return fail(Status::InvalidValue, format!("the device cannot be partitioned in the way {scheme:#x}"));
        }
    };
    if !devices.is_null() {
        if (room as usize) < partition.count() {
            let why = format!("there are {} sub-devices, the array has {room} places", partition.count());
            return fail(Status::InvalidValue, why);
        }
        for (i, part) in device.sub_devices(&partition)?.into_iter().enumerate() {
            devices.set(i, handle::create(part)?);
        }
    }
    count.set(partition.count() as u32);
    Ok(())
}

// OpenCL 3.0 API, 4.3: Partitioning a Device.
/// Root devices live as long as the process: nothing is counted.
pub fn retain(device: Handle<Device>) -> Result<()> {
    if device.get()?.parent().is_some() { device.retain() } else { Ok(()) }
}

// OpenCL 3.0 API, 4.3: Partitioning a Device.
pub fn release(device: Handle<Device>) -> Result<()> {
    if device.get()?.parent().is_some() { device.release() } else { Ok(()) }
}

/// Queries of a device about its parts, its parent and its references.
pub(super) fn device_info(
    handle: Handle<Device>,
    device: &Arc<Device>,
    name: u32,
    info: Info,
) -> Result<Option<Written>> {
    Ok(Some(match name {
        cl::DEVICE_REFERENCE_COUNT => info.value(if device.parent().is_some() { handle.references()? } else { 1 })?,
        cl::DEVICE_PARENT_DEVICE => {
            info.value(device.parent().map(handle::borrow).transpose()?.unwrap_or(Handle::NULL))?
        }
        cl::DEVICE_PARTITION_PROPERTIES => info.array(device.partition_schemes())?,
        cl::DEVICE_PARTITION_AFFINITY_DOMAIN => info.value(device.affinity_domains())?,
        cl::DEVICE_PARTITION_MAX_SUB_DEVICES => info.value(device.max_sub_devices())?,
        cl::DEVICE_PARTITION_TYPE => info.array(device.partition())?,
        _ => return Ok(None),
    }))
}
