//! Sub-devices: a part of a device's compute units as a device.
//!
//! A sub-device has a `hal` device of its own, with as many threads as it has compute units. A program that is built
//! for a device is built for its sub-devices, too (`Program::select`).

use crate::status::{bail, ensure};
use crate::{Device, Result};
use cloom_hal::Domain;
use std::sync::Arc;

/// `CL_DEVICE_PARTITION_EQUALLY`
const EQUALLY: isize = 0x1086;
/// `CL_DEVICE_PARTITION_BY_COUNTS`
const BY_COUNTS: isize = 0x1087;

/// `CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN`
const BY_AFFINITY_DOMAIN: isize = 0x1088;

/// `CL_DEVICE_AFFINITY_DOMAIN_…`
fn bit(domain: Domain) -> u64 {
    match domain {
        Domain::Numa => 1 << 0,
        Domain::L4 => 1 << 1,
        Domain::L3 => 1 << 2,
        Domain::L2 => 1 << 3,
        Domain::L1 => 1 << 4,
    }
}

/// `CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE`
const NEXT_PARTITIONABLE: u64 = 1 << 5;

/// The compute units of a sub-device.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Part {
    /// So many, wherever they are.
    Units(u32),
    /// These cores.
    Cores(Vec<u32>),
}

/// A way to divide a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Partition {
    parts: Vec<Part>,
    /// The properties as given, with the terminating zeros.
    properties: Vec<isize>,
}

impl Partition {
    /// The number of sub-devices.
    pub fn count(&self) -> usize {
        self.parts.len()
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
        match self.divisible() {
            None => &[0],
            Some(_) if self.affinity_domains() == 0 => &[EQUALLY, BY_COUNTS],
            Some(_) => &[EQUALLY, BY_COUNTS, BY_AFFINITY_DOMAIN],
        }
    }

    /// `CL_DEVICE_PARTITION_AFFINITY_DOMAIN`: what divides it.
    pub fn affinity_domains(&self) -> u64 {
        let domains = Domain::ALL.iter().filter(|&&domain| !self.split(domain).is_empty());
        let all = domains.fold(0, |all, &domain| all | bit(domain));
        if all == 0 { 0 } else { all | NEXT_PARTITIONABLE }
    }

    /// Its cores in sets of those that share something, if there are several.
    fn split(&self, domain: Domain) -> Vec<Vec<u32>> {
        self.hal().as_partition().map_or_else(Vec::new, |hal| hal.split(domain))
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
        Ok(Partition { parts: vec![Part::Units(each); parts], properties: vec![EQUALLY, units, 0] })
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
        // One zero ends the list of counts, the other one the list of properties.
        let properties = [&[BY_COUNTS], counts, &[0, 0]].concat();
        Ok(Partition { parts: units.into_iter().map(Part::Units).collect(), properties })
    }

    // OpenCL 3.0 API, 4.3: Partitioning a Device.
    /// Checks a way to divide the device into parts whose compute units share something: a bit of
    /// `cl_device_affinity_domain`.
    pub fn partition_by_affinity(&self, domain: isize) -> Result<Partition> {
        let wanted = |d: &Domain| bit(*d) == domain as u64 || NEXT_PARTITIONABLE == domain as u64;
        ensure!(Domain::ALL.iter().any(wanted), InvalidValue, "{domain:#x} is no affinity domain");
        self.units_to_divide()?;
        let split = |&domain: &Domain| Some((domain, self.split(domain))).filter(|(_, sets)| !sets.is_empty());
        let Some((domain, sets)) = Domain::ALL.iter().filter(|d| wanted(d)).find_map(split) else {
            bail!(DevicePartitionFailed, "the compute units of the device share one such domain, or it is not known");
        };
        // Which one it is, if it was the next.
        let properties = vec![BY_AFFINITY_DOMAIN, bit(domain) as isize, 0];
        Ok(Partition { parts: sets.into_iter().map(Part::Cores).collect(), properties })
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
        let part = |part: &Part| match part {
            Part::Units(units) => hal.part(*units),
            Part::Cores(cores) => hal.part_on(cores),
        };
        let device = |p: &Part| Device::part(part(p), self, partition.properties.clone());
        Ok(partition.parts.iter().map(device).collect())
    }
}
