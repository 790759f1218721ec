//! The platform.

use super::give_all;
use crate::args::{Out, OutArray, OutBytes, UserData};
use crate::handle::{self, Handle};
use crate::info::Info;
use crate::{cl, platform};
use cloom_caps as caps;
use cloom_runtime::{Platform, Result};

/// The name after the number in the versions of platform and devices.
pub const NAME: &str = concat!("Cloom ", env!("CARGO_PKG_VERSION"));

// OpenCL 3.0 API, 4.1: Querying Platform Info.
pub fn ids(room: u32, platforms: OutArray<Handle<Platform>>, count: Out<u32>) -> Result<()> {
    give_all(&[platform::get().clone()], room, platforms, count)
}

/// Checks the platform of a call; null is the default, this one.
pub fn find(handle: Handle<Platform>) -> Result<()> {
    if !handle.is_null() {
        handle.get()?;
    }
    Ok(())
}

// OpenCL 3.0 API, 4.1: Querying Platform Info.
pub fn info(platform: Handle<Platform>, name: u32, size: usize, value: OutBytes, size_ret: Out<usize>) -> Result<()> {
    find(platform)?;
    let info = Info::new(size, value, size_ret);
    match name {
        cl::PLATFORM_PROFILE => info.text("FULL_PROFILE"),
        cl::PLATFORM_VERSION => info.text(&format!("{} {NAME}", caps::OPENCL_VERSION_TEXT)),
        cl::PLATFORM_NAME => info.text("Cloom"),
        cl::PLATFORM_VENDOR => info.text("The Cloom developers"),
        cl::PLATFORM_EXTENSIONS => info.text(&caps::joined(caps::PLATFORM_EXTENSIONS)),
        cl::PLATFORM_HOST_TIMER_RESOLUTION => info.value(1u64),
        cl::PLATFORM_NUMERIC_VERSION => info.value(caps::OPENCL_VERSION),
        cl::PLATFORM_EXTENSIONS_WITH_VERSION => info.names(caps::PLATFORM_EXTENSIONS),
        cl::PLATFORM_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR | cl::PLATFORM_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR => {
            info.value(cl::SEMAPHORE_HANDLE_OPAQUE_FD_KHR)
        }
        cl::PLATFORM_SEMAPHORE_TYPES_KHR => info.value(cl::SEMAPHORE_TYPE_BINARY_KHR as u32),
        cl::PLATFORM_ICD_SUFFIX_KHR => info.text("CLOOM"),
        _ => info.unknown(name),
    }
    .map(drop)
}

/// `clIcdSetPlatformDispatchDataKHR`
pub fn set_dispatch_data(platform: Handle<Platform>, data: UserData) -> Result<()> {
    platform.get()?;
    handle::set_dispatch_data(data.pointer());
    Ok(())
}

/// The objects that the application has not released, for tests of leaks.
pub fn live_objects() -> Result<usize> {
    Ok(handle::live())
}
