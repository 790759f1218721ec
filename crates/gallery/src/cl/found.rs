//! The devices that the library offers, and which one a user means.

use crate::error::{Error, Result};
use opencl3::device::{CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU, Device};
use opencl3::platform::get_platforms;
use std::sync::{Mutex, PoisonError};

/// What PoCL calls its platform.
pub const POCL: &str = "Portable Computing Language";

/// Which device is wanted: a part of a name without regard to case, or an index.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The platform, as [`of_platform`] reads it; the first one when none is named.
    pub platform: Option<String>,
    /// The device of that platform; the first one when none is named.
    pub device: Option<String>,
}

impl Choice {
    /// The device that is meant.
    pub fn found(&self) -> Result<Found> {
        let all = devices()?;
        let platform = self.platform.as_deref();
        let of_platform: Vec<&Found> = match platform {
            Some(p) => of_platform(&all, p),
            // There is a first one: `devices` does not return an empty list but an error.
            None => all.iter().filter(|f| f.platform_index == all[0].platform_index).collect(),
        };
        if of_platform.is_empty() {
            let mut names: Vec<String> = all.iter().map(|f| f.platform.clone()).collect();
            names.dedup();
            return Err(Error::NotFound { what: "platform", wanted: platform.unwrap_or_default().into(), have: names });
        }
        let found = match self.device.as_deref() {
            Some(d) => of_platform.iter().find(|f| matches(d, f.device_index, &f.device)),
            None => of_platform.first(),
        };
        match found {
            Some(&found) => Ok(found.clone()),
            None => Err(Error::NotFound {
                what: "device",
                wanted: self.device.clone().unwrap_or_default(),
                have: of_platform.iter().map(|f| f.device.clone()).collect(),
            }),
        }
    }
}

/// One device that the library offers.
#[derive(Clone, Debug)]
pub struct Found {
    /// The platform's index in the library's list.
    pub platform_index: usize,
    /// Its name.
    pub platform: String,
    /// Its version.
    pub platform_version: String,
    /// Its vendor.
    pub platform_vendor: String,
    /// The device's index in the platform's list.
    pub device_index: usize,
    /// Its name.
    pub device: String,
    /// CPU, GPU or other.
    pub kind: &'static str,
    /// Its version of OpenCL.
    pub version: String,
    /// Its version of OpenCL C.
    pub c_version: String,
    /// The driver's version.
    pub driver: String,
    /// Compute units.
    pub units: u32,
    /// The largest work-group.
    pub max_group: usize,
    /// Bytes of global memory.
    pub global_memory: u64,
    /// Bytes of local memory.
    pub local_memory: u64,
    /// The largest buffer.
    pub max_buffer: u64,
    /// Extensions, separated by spaces.
    pub extensions: String,
    pub(super) id: Device,
}

/// Lists every device of every platform, one caller at a time: PoCL 3.1 fills in what it tells of its devices when it
/// is first asked, without a lock, and crashes if two threads ask.
pub fn devices() -> Result<Vec<Found>> {
    static ASKING: Mutex<()> = Mutex::new(());
    let _asking = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut found = Vec::new();
    for (platform_index, platform) in get_platforms().map_err(Error::call("clGetPlatformIDs"))?.iter().enumerate() {
        let name = platform.name().map_err(Error::call("clGetPlatformInfo"))?;
        // A platform without a device answers with an error: it has nothing to offer then.
        let ids = platform.get_devices(CL_DEVICE_TYPE_ALL).unwrap_or_default();
        for (device_index, &id) in ids.iter().enumerate() {
            let id = Device::new(id);
            let info = |e| Error::call("clGetDeviceInfo")(e);
            let kind = id.dev_type().map_err(info)?;
            found.push(Found {
                platform_index,
                platform: name.clone(),
                platform_version: platform.version().unwrap_or_default(),
                platform_vendor: platform.vendor().unwrap_or_default(),
                device_index,
                device: id.name().map_err(info)?,
                kind: match kind {
                    k if k & CL_DEVICE_TYPE_CPU != 0 => "CPU",
                    k if k & CL_DEVICE_TYPE_GPU != 0 => "GPU",
                    _ => "other",
                },
                version: id.version().unwrap_or_default(),
                c_version: id.opencl_c_version().unwrap_or_default(),
                driver: id.driver_version().unwrap_or_default(),
                units: id.max_compute_units().map_err(info)?,
                max_group: id.max_work_group_size().map_err(info)?,
                global_memory: id.global_mem_size().map_err(info)?,
                local_memory: id.local_mem_size().map_err(info)?,
                max_buffer: id.max_mem_alloc_size().map_err(info)?,
                extensions: id.extensions().unwrap_or_default(),
                id,
            });
        }
    }
    if found.is_empty() { Err(Error::NoPlatform) } else { Ok(found) }
}

/// Names that platforms are known by, and what the platform calls itself.
const ALIASES: &[(&str, &str)] = &[
    ("pocl", "portable computing language"),
    ("rocm", "amd accelerated parallel processing"),
    ("oneapi", "intel(r) opencl"),
];

fn matches(wanted: &str, index: usize, name: &str) -> bool {
    match wanted.parse::<usize>() {
        Ok(i) => i == index,
        Err(_) => name.to_lowercase().contains(&wanted.to_lowercase()),
    }
}

/// The devices of the platforms that `wanted` means, without regard to case: a number in the library's list, or a part
/// of a name. Where no platform has it in its name, its vendor, what its version says after `OpenCL 3.0`, and names
/// such as `pocl` count.
pub fn of_platform<'a>(all: &'a [Found], wanted: &str) -> Vec<&'a Found> {
    let by = |text: &dyn Fn(&Found) -> String| -> Vec<&'a Found> {
        all.iter().filter(|f| matches(wanted, f.platform_index, &text(f))).collect()
    };
    let named = by(&|f| f.platform.clone());
    if !named.is_empty() {
        return named;
    }
    by(&|f| {
        let version = f.platform_version.splitn(3, ' ').nth(2).unwrap_or_default();
        let name = f.platform.to_lowercase();
        let aliases = ALIASES.iter().filter(|(_, own)| name.contains(own)).map(|(alias, _)| *alias);
        [&*f.platform_vendor, version].into_iter().chain(aliases).collect::<Vec<_>>().join("\n")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(index: usize, name: &str, vendor: &str, version: &str) -> Found {
        Found {
            platform_index: index,
            platform: name.into(),
            platform_version: version.into(),
            platform_vendor: vendor.into(),
            device_index: 0,
            device: "cpu".into(),
            kind: "CPU",
            version: String::new(),
            c_version: String::new(),
            driver: String::new(),
            units: 1,
            max_group: 1,
            global_memory: 0,
            local_memory: 0,
            max_buffer: 0,
            extensions: String::new(),
            id: Device::new(std::ptr::null_mut()),
        }
    }

    #[test]
    fn platforms_are_known_by_more_than_their_names() {
        let all = [
            found(0, "Cloom", "Cloom", "OpenCL 3.0 Cloom"),
            found(1, "Portable Computing Language", "The pocl project", "OpenCL 3.0 PoCL 5.0  Linux, Release, LLVM 16"),
            found(2, "rusticl", "Mesa/X.org", "OpenCL 3.0 "),
            found(
                3,
                "AMD Accelerated Parallel Processing",
                "Advanced Micro Devices, Inc.",
                "OpenCL 2.1 AMD-APP (3590.0)",
            ),
        ];
        let indices = |wanted: &str| of_platform(&all, wanted).iter().map(|f| f.platform_index).collect::<Vec<_>>();
        for (wanted, index) in
            [("pocl", 1), ("PoCL", 1), ("portable", 1), ("2", 2), ("mesa", 2), ("ROCm", 3), ("cloom", 0)]
        {
            assert_eq!(indices(wanted), [index], "{wanted}");
        }
        // What every version begins with says nothing.
        assert_eq!(indices("opencl"), [0usize; 0]);
        assert_eq!(indices("7"), [0usize; 0]);
    }
}
