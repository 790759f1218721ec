//! The description of a GPU: the driver's attributes as a [`DeviceInfo`].

use crate::caps::caps;
use crate::library::{Absent, Code, Driver, RawDevice, error_name};
use cloom_cuda_abi::constants;
use cloom_hal::{DeviceInfo, GpuInfo, UUID_BYTES, uuid};
use cloom_target::{Target, nvidia};
use std::ffi::CStr;

/// The oldest compute capability that code is made for, times ten.
const MIN_CAPABILITY: u32 = 70;
/// The latest compute capability that code is made for, times ten. Later GPUs run that code, too.
const MAX_CAPABILITY: u32 = 90;
/// NVIDIA's number on the PCI bus.
const VENDOR_ID: u32 = 0x10de;

/// A GPU, described.
pub struct Described {
    /// For the runtime.
    pub info: DeviceInfo,
    /// Ten times its compute capability.
    pub capability: u32,
    /// Whether the host may use managed memory while the GPU does.
    pub has_managed: bool,
}

/// How many GPUs the driver has.
pub fn count(driver: &Driver) -> Result<i32, Absent> {
    let mut count = 0;
    // SAFETY: it writes a number.
    match unsafe { (driver.table.device_get_count)(&mut count) } {
        constants::SUCCESS if count > 0 => Ok(count),
        constants::SUCCESS | constants::ERROR_NO_DEVICE => Err(Absent::NoDevice),
        code => Err(Absent::NoDriver { code, text: error_name(&driver.table, code) }),
    }
}

/// The driver's number of the GPU with this ordinal.
pub fn device(driver: &Driver, ordinal: i32) -> Result<RawDevice, Absent> {
    let mut device = 0;
    // SAFETY: it writes a number.
    let code = unsafe { (driver.table.device_get)(&mut device, ordinal) };
    known(driver, ordinal, code).map(|()| device)
}

fn known(driver: &Driver, ordinal: i32, code: Code) -> Result<(), Absent> {
    match code {
        0 => Ok(()),
        code => Err(Absent::Unknown { ordinal, why: error_name(&driver.table, code) }),
    }
}

/// Describes a GPU, or says why code is not made for it.
pub fn describe(driver: &Driver, ordinal: i32, device: RawDevice) -> Result<Described, Absent> {
    let known = |code| known(driver, ordinal, code);
    let attribute = |which| {
        let mut value = 0;
        // SAFETY: it writes a number.
        known(unsafe { (driver.table.device_get_attribute)(&mut value, which, device) })?;
        Ok(u32::try_from(value).unwrap_or(0))
    };
    let mut text = [0u8; 256];
    // SAFETY: the array has so many bytes; the name ends in a zero.
    known(unsafe { (driver.table.device_get_name)(text.as_mut_ptr().cast(), text.len() as i32, device) })?;
    let name = CStr::from_bytes_until_nul(&text).unwrap_or_default().to_string_lossy().into_owned();
    let capability = 10 * attribute(constants::DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?
        + attribute(constants::DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    if capability < MIN_CAPABILITY {
        return Err(Absent::TooOld { name, capability });
    }
    if attribute(constants::DEVICE_ATTRIBUTE_COMPUTE_MODE)? == constants::COMPUTEMODE_PROHIBITED {
        return Err(Absent::Prohibited { name });
    }
    let target = target(capability).map_err(|why| Absent::Unknown { ordinal, why })?;
    let mut memory = 0;
    // SAFETY: it writes a size.
    known(unsafe { (driver.table.device_total_mem)(&mut memory, device) })?;
    let mut id = [0; UUID_BYTES];
    // SAFETY: it writes 16 bytes.
    if unsafe { (driver.table.device_get_uuid)(&mut id, device) } != 0 {
        // Without an id of the driver, name and ordinal distinguish the GPUs of this machine.
        id = uuid(&["GPU", &name, &ordinal.to_string()]);
    }
    // The most that a group can have by `cuFuncSetAttribute`, without the driver's own reserve.
    let local = attribute(constants::DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
        .or_else(|_: Absent| attribute(constants::DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK))?;
    let has_managed = attribute(constants::DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS).is_ok_and(|yes: u32| yes != 0);
    let or_zero = |which| attribute(which).unwrap_or(0);
    let gpu = GpuInfo {
        capability: (capability / 10, capability % 10),
        registers: or_zero(constants::DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
        copy_engines: or_zero(constants::DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT),
        has_time_limit: or_zero(constants::DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT) != 0,
        is_integrated: or_zero(constants::DEVICE_ATTRIBUTE_INTEGRATED) != 0,
        pci: [
            constants::DEVICE_ATTRIBUTE_PCI_DOMAIN_ID,
            constants::DEVICE_ATTRIBUTE_PCI_BUS_ID,
            constants::DEVICE_ATTRIBUTE_PCI_DEVICE_ID,
        ]
        .map(or_zero),
    };
    let info = DeviceInfo {
        name,
        vendor: "NVIDIA Corporation".into(),
        vendor_id: VENDOR_ID,
        uuid: id,
        caps: caps(target.machine(), local.into(), has_managed),
        target,
        compute_units: attribute(constants::DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        clock_mhz: attribute(constants::DEVICE_ATTRIBUTE_CLOCK_RATE).map_or(0, |khz| khz / 1000),
        memory_size: memory as u64,
        cache_size: u64::from(attribute(constants::DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?),
        cache_line: 128,
        vector_bits: 32,
        gpu: Some(gpu),
    };
    Ok(Described { info, capability, has_managed })
}

/// The target for a GPU: its own compute capability, or the latest one that code is made for.
fn target(capability: u32) -> Result<Target, String> {
    // The driver translates PTX for GPUs that are later than the PTX's target.
    Target::gpu(&format!("sm_{}", capability.min(MAX_CAPABILITY))).map_err(|e| e.to_string())
}

/// Whether a GPU runs code for a target.
pub fn runs(target: &Target, capability: u32) -> bool {
    let made_for = nvidia::capability(target.cpu()).filter(|_| target.triple() == nvidia::TRIPLE);
    made_for.is_some_and(|made_for| made_for <= capability)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_made_for_what_the_gpu_has_and_later_gpus_run_it() {
        assert_eq!(target(75).unwrap().cpu(), "sm_75");
        assert_eq!(target(103).unwrap().cpu(), "sm_90");
        assert!(runs(&target(90).unwrap(), 90) && runs(&target(80).unwrap(), 120));
        assert!(!runs(&target(90).unwrap(), 80));
        assert!(!runs(&Target::generic(), 90));
    }
}
