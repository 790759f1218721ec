//! Entry points that find others by name.

use super::address;
use crate::api::platform::find;
use crate::args::Text;
use crate::handle::Handle;
use crate::platform;
use cloom_runtime::{Platform, Result};
use std::ffi::{CStr, CString, c_void};

/// Functions that only devices with an extension have. The dispatch table has slots for some of them, which answer with
/// an error.
const OF_EXTENSIONS: &[(&str, &[&str])] = &[
    (
        "cl_khr_gl_sharing",
        &[
            "clCreateFromGLBuffer",
            "clCreateFromGLTexture",
            "clCreateFromGLTexture2D",
            "clCreateFromGLTexture3D",
            "clCreateFromGLRenderbuffer",
            "clGetGLObjectInfo",
            "clGetGLTextureInfo",
            "clEnqueueAcquireGLObjects",
            "clEnqueueReleaseGLObjects",
            "clGetGLContextInfoKHR",
        ],
    ),
    ("cl_khr_gl_event", &["clCreateEventFromGLsyncKHR"]),
    (
        "cl_khr_egl_image",
        &["clCreateFromEGLImageKHR", "clEnqueueAcquireEGLObjectsKHR", "clEnqueueReleaseEGLObjectsKHR"],
    ),
    ("cl_khr_egl_event", &["clCreateEventFromEGLSyncKHR"]),
    ("cl_ext_device_fission", &["clCreateSubDevicesEXT", "clRetainDeviceEXT", "clReleaseDeviceEXT"]),
    ("cl_khr_subgroups", &["clGetKernelSubGroupInfoKHR"]),
];

/// Whether a function is of an extension that the device lacks.
fn is_absent(name: &str) -> bool {
    let of = OF_EXTENSIONS.iter().find(|(_, names)| names.contains(&name));
    of.is_some_and(|(extension, _)| !cloom_caps::DeviceCaps::full().has_extension(extension))
}

/// The function of a name, null if there is none, or if it is of an extension that the device lacks.
fn present(name: &CStr) -> *const c_void {
    let name = name.to_str().ok().filter(|name| !is_absent(name));
    name.map_or(std::ptr::null(), address)
}

// OpenCL 3.0 Extensions: Getting OpenCL API Extension Function Pointers.
pub fn function(name: Text) -> Result<*mut c_void> {
    platform::get();
    let name = name.bytes().and_then(|b| CString::new(b).ok()).unwrap_or_default();
    Ok(present(&name).cast_mut())
}

// OpenCL 3.0 Extensions: Getting OpenCL API Extension Function Pointers.
pub fn function_of(platform: Handle<Platform>, name: Text) -> Result<*mut c_void> {
    find(platform)?;
    function(name)
}

/// `clIcdGetFunctionAddressForPlatformKHR`: for a loader that makes a dispatch table of its own: also of an
/// extension that the device lacks, whose functions answer with their error.
pub fn icd_function(platform: Handle<Platform>, name: Text) -> Result<*mut c_void> {
    platform.get()?;
    Ok(name.string().map_or(std::ptr::null(), |name| address(&name)).cast_mut())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_by_name() {
        assert!(!present(c"clGetPlatformIDs").is_null());
        assert!(!present(c"clIcdGetPlatformIDsKHR").is_null());
        assert!(!present(c"clCreateBuffer").is_null());
        assert!(present(c"clCreateFromD3D10BufferKHR").is_null());
        assert!(present(c"clCreateFromGLBuffer").is_null() && !address("clCreateFromGLBuffer").is_null());
        assert!(present(c"clMakeCoffee").is_null());
    }
}
