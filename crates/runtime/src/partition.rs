//! Sub-devices: a part of a device's compute units as a device.
//!
//! A sub-device has a `hal` device of its own, with as many threads as it has compute units. A program that is built
//! for a device is built for its sub-devices, too (`Program::select`).

use crate::status::{bail, ensure};
use crate::{Device, Result};
use std::sync::Arc;

/// `CL_DEVICE_PARTITION_EQUALLY`
const EQUALLY: isize = 0x1086;
/// `CL_DEVICE_PARTITION_BY_COUNTS`
const BY_COUNTS: isize = 0x1087;

/// A way to divide a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Partition {
    /// The compute units of each sub-device.
    units: Vec<u32>,
    /// The properties as given, with the terminating zeros.
    properties: Vec<isize>,
}

impl Partition {
    /// The number of sub-devices.
    pub fn count(&self) -> usize {
        self.units.len()
    }
}

impl Device {
    /// The number of compute units, if there are at least two and the device can be divided.
    fn divisible(&self) -> Option<u32> {
        let units = self.info().compute_units;
        (units > 1 && self.hal().as_partition().is_some()).then_some(units)
    }

    /// `CL_DEVICE_PARTITION_PROPERTIES`: the ways in which it can be divided.
    pub fn partition_schemes(&self) -> &'static [isize] {
        if self.divisible().is_some() { &[EQUALLY, BY_COUNTS] } else { &[0] }
    }

    /// `CL_DEVICE_PARTITION_MAX_SUB_DEVICES`
    pub fn max_sub_devices(&self) -> u32 {
        self.divisible().unwrap_or(0)
    }

    // OpenCL 3.0 API, 4.3: Partitioning a Device.
    /// Checks a way to divide the device into equal parts of so many compute units.
    pub fn partition_equally(&self, units: isize) -> Result<Partition> {
        let all = self.units_to_divide()?;
        let Some(each) = u32::try_from(units).ok().filter(|&each| each <= all) else {
            bail!(InvalidDevicePartitionCount, "parts of {units} compute units of a device that has {all}");
        };
        ensure!(each > 0, InvalidValue, "parts of no compute units");
        ensure!(each < all, DevicePartitionFailed, "a part of all {all} compute units is no part");
        let parts = (all / each) as usize;
        Ok(Partition { units: vec![each; parts], properties: vec![EQUALLY, units, 0] })
    }

    // OpenCL 3.0 API, 4.3: Partitioning a Device.
    /// Checks a way to divide the device into parts of these numbers of compute units.
    pub fn partition_by_counts(&self, counts: &[isize]) -> Result<Partition> {
        let all = self.units_to_divide()?;
        ensure!(!counts.is_empty(), InvalidValue, "the list of counts is empty");
        let units: Vec<u32> = counts.iter().filter_map(|&count| u32::try_from(count).ok()).collect();
        let sum = units.iter().fold(0u64, |sum, &count| sum + u64::from(count));
        let fits = units.len() == counts.len() && sum <= u64::from(all);
        ensure!(fits, InvalidDevicePartitionCount, "parts of {counts:?} compute units of a device that has {all}");
        let properties = [&[BY_COUNTS], counts, &[0, 0]].concat();
        Ok(Partition { units, properties })
    }

    fn units_to_divide(&self) -> Result<u32> {
        match self.divisible() {
            Some(units) => Ok(units),
            None => bail!(DevicePartitionFailed, "the device cannot be divided any further"),
        }
    }

    /// Makes the sub-devices.
    pub fn sub_devices(self: &Arc<Device>, partition: &Partition) -> Result<Vec<Arc<Device>>> {
        let Some(hal) = self.hal().as_partition() else {
            bail!(DevicePartitionFailed, "the device cannot be divided");
        };
        let part = |&units: &u32| Device::part(hal.part(units), self, partition.properties.clone());
        Ok(partition.units.iter().map(part).collect())
    }
}
