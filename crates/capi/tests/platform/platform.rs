//! Chapter 4 of the specification: platforms and devices.

#![allow(unsafe_code, reason = "it calls the C interface")]

#[path = "../common/mod.rs"]
mod common;
use common::*;
use std::ffi::CString;

#[test]
fn every_entry_point_is_exported() {
    assert_eq!(api().missing(), Vec::<&str>::new());
}

#[test]
fn platforms_are_counted_and_listed() {
    let t = Session::new();
    let mut n = 0;
    ok(t.clGetPlatformIDs(0, null_mut(), &mut n));
    assert!(n >= 1);
    let mut list = [null_mut(); 16];
    ok(t.clGetPlatformIDs(16, list.as_mut_ptr(), null_mut()));
    assert!(list[..n as usize].contains(&t.platform));
    assert!(list[n as usize..].iter().all(|p| p.is_null()));
    let mut one = [null_mut(); 2];
    ok(t.clGetPlatformIDs(1, one.as_mut_ptr(), &mut n));
    assert!(!one[0].is_null() && one[1].is_null());
}

#[test]
fn a_platform_describes_itself() {
    let t = Session::new();
    let get = |name| text(|s, v, r| t.clGetPlatformInfo(t.platform, name, s, v, r));
    assert_eq!(get(CL_PLATFORM_PROFILE), "FULL_PROFILE");
    let version = get(CL_PLATFORM_VERSION);
    assert!(version.starts_with("OpenCL 3.1 "), "{version}");
    assert!(!get(CL_PLATFORM_NAME).is_empty() && !get(CL_PLATFORM_VENDOR).is_empty());
    assert!(get(CL_PLATFORM_EXTENSIONS).split(' ').any(|e| e == "cl_khr_icd"));
    assert!(!get(CL_PLATFORM_ICD_SUFFIX_KHR).is_empty());
    let numeric: u32 = info(|s, v, r| t.clGetPlatformInfo(t.platform, CL_PLATFORM_NUMERIC_VERSION, s, v, r));
    assert_eq!((numeric >> 22, numeric >> 12 & 0x3FF), (3, 1));
    let resolution: u64 = info(|s, v, r| t.clGetPlatformInfo(t.platform, CL_PLATFORM_HOST_TIMER_RESOLUTION, s, v, r));
    assert!(resolution > 0, "timer queries are offered");
    let names = query(|s, v, r| t.clGetPlatformInfo(t.platform, CL_PLATFORM_EXTENSIONS_WITH_VERSION, s, v, r));
    assert_eq!(names.len() % 68, 0);
    assert_eq!(names.len() / 68, get(CL_PLATFORM_EXTENSIONS).split_whitespace().count());
}

#[test]
fn a_device_describes_itself() {
    let t = Session::new();
    let get = |name| text(|s, v, r| t.clGetDeviceInfo(t.device, name, s, v, r));
    assert!(get(CL_DEVICE_VERSION).starts_with("OpenCL 3.1 "));
    assert!(get(CL_DEVICE_OPENCL_C_VERSION).starts_with("OpenCL C "));
    assert_eq!(get(CL_DEVICE_PROFILE), "FULL_PROFILE");
    for name in [CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DRIVER_VERSION] {
        assert!(!get(name).is_empty());
    }
    assert_ne!(t.device_info::<u64>(CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU, 0);
    assert!(t.device_info::<u32>(CL_DEVICE_MAX_COMPUTE_UNITS) >= 1);
    let dims = t.device_info::<u32>(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS);
    assert!(dims >= 3);
    let sizes: Vec<usize> = list(|s, v, r| t.clGetDeviceInfo(t.device, CL_DEVICE_MAX_WORK_ITEM_SIZES, s, v, r));
    assert_eq!(sizes.len(), dims as usize);
    let group = t.device_info::<usize>(CL_DEVICE_MAX_WORK_GROUP_SIZE);
    assert!(group >= 1 && sizes.iter().all(|&s| s >= 1));
    // The least values of the full profile.
    let memory = t.device_info::<u64>(CL_DEVICE_GLOBAL_MEM_SIZE);
    let largest = t.device_info::<u64>(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    assert!(largest <= memory && largest >= (memory / 4).clamp(32 << 20, 1 << 30));
    assert!(t.device_info::<usize>(CL_DEVICE_MAX_PARAMETER_SIZE) >= 1024);
    assert!(t.device_info::<u64>(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE) >= 64 << 10);
    assert!(t.device_info::<u32>(CL_DEVICE_MAX_CONSTANT_ARGS) >= 8);
    assert!(t.device_info::<u64>(CL_DEVICE_LOCAL_MEM_SIZE) >= 32 << 10);
    assert!(t.device_info::<usize>(CL_DEVICE_PRINTF_BUFFER_SIZE) >= 1 << 20);
    let align = t.device_info::<u32>(CL_DEVICE_MEM_BASE_ADDR_ALIGN);
    assert!(align >= 1024 && align.is_power_of_two(), "as wide as long16");
    let bits = t.device_info::<u32>(CL_DEVICE_ADDRESS_BITS);
    assert_eq!(bits as usize, usize::BITS as usize);
    for name in [CL_DEVICE_AVAILABLE, CL_DEVICE_COMPILER_AVAILABLE, CL_DEVICE_LINKER_AVAILABLE, CL_DEVICE_ENDIAN_LITTLE]
    {
        assert_eq!(t.device_info::<u32>(name), CL_TRUE);
    }
    let single = t.device_info::<u64>(CL_DEVICE_SINGLE_FP_CONFIG);
    assert_eq!(single & (CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN), CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN);
    assert_ne!(t.device_info::<u64>(CL_DEVICE_EXECUTION_CAPABILITIES) & CL_EXEC_KERNEL, 0);
    assert_eq!(t.device_info::<Handle2>(CL_DEVICE_PLATFORM).0, t.platform as usize);
    assert_eq!(t.device_info::<Handle2>(CL_DEVICE_PARENT_DEVICE).0, 0);
    assert_eq!(t.device_info::<u32>(CL_DEVICE_REFERENCE_COUNT), 1);
    assert_ne!(t.device_info::<u64>(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES) & CL_QUEUE_PROFILING_ENABLE, 0);
    assert!(t.device_info::<usize>(CL_DEVICE_PROFILING_TIMER_RESOLUTION) >= 1);
}

/// A handle as the answer of a query.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
struct Handle2(usize);
// SAFETY: a number.
unsafe impl Plain for Handle2 {}

#[test]
fn what_opencl_3_asks_of_a_device_is_there() {
    let t = Session::new();
    let get = |name| text(|s, v, r| t.clGetDeviceInfo(t.device, name, s, v, r));
    let names = |name| {
        let bytes = query(|s, v, r| t.clGetDeviceInfo(t.device, name, s, v, r));
        let entry = |e: &[u8]| {
            let version = u32::from_ne_bytes(e[..4].try_into().unwrap());
            (e[4..].iter().take_while(|&&b| b != 0).map(|&b| char::from(b)).collect::<String>(), version)
        };
        assert_eq!(bytes.len() % 68, 0);
        bytes.chunks(68).map(entry).collect::<Vec<_>>()
    };
    let mut extensions: Vec<String> = get(CL_DEVICE_EXTENSIONS).split_whitespace().map(str::to_owned).collect();
    let mut versioned: Vec<String> = names(CL_DEVICE_EXTENSIONS_WITH_VERSION).into_iter().map(|e| e.0).collect();
    extensions.sort();
    versioned.sort();
    assert_eq!(extensions, versioned);
    let wanted =
        ["cl_khr_byte_addressable_store", "cl_khr_global_int32_base_atomics", "cl_khr_local_int32_base_atomics"];
    for name in wanted {
        assert!(extensions.iter().any(|e| e == name), "{name}");
    }
    // The extension requires independent forward progress, which the query denies.
    let progress: u32 = t.device_info(CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS);
    assert!(progress == CL_TRUE || extensions.iter().all(|e| e != "cl_khr_subgroups"));
    assert!(progress == CL_FALSE || t.device_info::<u32>(CL_DEVICE_MAX_NUM_SUB_GROUPS) > 0);
    let languages = names(CL_DEVICE_OPENCL_C_ALL_VERSIONS);
    for version in [(1, 0), (1, 1), (1, 2), (3, 0), (3, 1)] {
        let found = languages.iter().any(|(n, v)| n == "OpenCL C" && (v >> 22, v >> 12 & 0x3FF) == version);
        assert!(found, "{version:?} of {languages:?}");
    }
    let features = names(CL_DEVICE_OPENCL_C_FEATURES);
    assert!(features.iter().all(|(n, _)| n.starts_with("__opencl_c_")), "{features:?}");
    if features.iter().any(|(n, _)| n == "__opencl_c_fp64") {
        assert_ne!(t.device_info::<u64>(CL_DEVICE_DOUBLE_FP_CONFIG), 0);
    }
    // CL_DEVICE_HALF_FP_CONFIG
    let halves = extensions.iter().any(|e| e == "cl_khr_fp16");
    let least = CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN;
    assert_eq!(t.device_info::<u64>(0x1033) & least, if halves { least } else { 0 });
    for width in [CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF] {
        assert_eq!(t.device_info::<u32>(width) > 0, halves);
    }
    let generic = features.iter().any(|(n, _)| n == "__opencl_c_generic_address_space");
    assert_eq!(t.device_info::<u32>(CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT) == CL_TRUE, generic);
    assert!(names(CL_DEVICE_ILS_WITH_VERSION).is_empty() == get(CL_DEVICE_IL_VERSION).is_empty());
    let memory = t.device_info::<u64>(CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES);
    let least = CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP;
    assert_eq!(memory & least, least);
    let fence = t.device_info::<u64>(CL_DEVICE_ATOMIC_FENCE_CAPABILITIES);
    let least = CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_ORDER_ACQ_REL | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP;
    assert_eq!(fence & least, least);
    for name in
        [CL_DEVICE_SVM_CAPABILITIES, CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES]
    {
        let _: u64 = t.device_info(name);
    }
    for name in [
        CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT,
        CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT,
        CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT,
        CL_DEVICE_PIPE_SUPPORT,
        CL_DEVICE_MAX_NUM_SUB_GROUPS,
        CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS,
        CL_DEVICE_MAX_PIPE_ARGS,
        CL_DEVICE_MAX_ON_DEVICE_QUEUES,
        CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT,
        CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT,
        CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT,
    ] {
        let _: u32 = t.device_info(name);
    }
    for name in [
        CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE,
        CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE,
        CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
    ] {
        let _: usize = t.device_info(name);
    }
    get(CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED);
    let version: u32 = t.device_info(CL_DEVICE_NUMERIC_VERSION);
    assert_eq!(version >> 22, 3);
}

#[test]
fn devices_are_found_by_type() {
    let t = Session::new();
    let count = |kind| {
        let mut n = 77;
        let code = t.clGetDeviceIDs(t.platform, kind, 0, null_mut(), &mut n);
        (code, n)
    };
    let (code, all) = count(CL_DEVICE_TYPE_ALL);
    assert!(code == 0 && all >= 1);
    assert_eq!(count(CL_DEVICE_TYPE_DEFAULT), (0, 1));
    let (code, cpus) = count(CL_DEVICE_TYPE_CPU);
    assert!(code == 0 && cpus >= 1 && cpus <= all);
    assert_eq!(count(CL_DEVICE_TYPE_ACCELERATOR).0, CL_DEVICE_NOT_FOUND);
    assert_eq!(count(CL_DEVICE_TYPE_CUSTOM).0, CL_DEVICE_NOT_FOUND, "custom devices are not among all");
    assert_eq!(count(CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_ACCELERATOR), (0, cpus));
}

#[test]
fn device_references_of_a_root_device_do_not_count() {
    let t = Session::new();
    ok(t.clRetainDevice(t.device));
    assert_eq!(t.device_info::<u32>(CL_DEVICE_REFERENCE_COUNT), 1);
    ok(t.clReleaseDevice(t.device));
    ok(t.clReleaseDevice(t.device));
    assert_eq!(t.device_info::<u32>(CL_DEVICE_REFERENCE_COUNT), 1);
}

#[test]
fn timers_agree_with_profiling_and_go_on() {
    let t = Session::with(CL_QUEUE_PROFILING_ENABLE);
    let (mut device, mut host, mut later) = (0, 0, 0);
    ok(t.clGetDeviceAndHostTimer(t.device, &mut device, &mut host));
    let marker = t.marker_on(t.queue(), &[]);
    t.wait(&[&marker]);
    let queued: u64 = info(|s, v, r| t.clGetEventProfilingInfo(marker.h, CL_PROFILING_COMMAND_QUEUED, s, v, r));
    assert!(queued >= device, "the command came after the time was taken");
    ok(t.clGetHostTimer(t.device, &mut later));
    assert!(later >= host && host > 0);
}

#[test]
fn extension_functions_are_found_by_name() {
    let t = Session::new();
    let find = |name: &str| {
        let name = CString::new(name).unwrap();
        t.clGetExtensionFunctionAddressForPlatform(t.platform, name.as_ptr())
    };
    assert!(!find("clIcdGetPlatformIDsKHR").is_null());
    assert!(find("clNoSuchFunctionEXT").is_null());
    assert!(t.clGetExtensionFunctionAddressForPlatform(t.platform, null()).is_null());
}

#[test]
fn bad_arguments_have_their_codes() {
    let t = Session::new();
    let mut c = Cases::new();
    let (mut n, mut list, mut size) = (0, [null_mut(); 4], 0usize);
    let context = t.context();
    c.code("clGetPlatformIDs(0, list)", CL_INVALID_VALUE, t.clGetPlatformIDs(0, list.as_mut_ptr(), &mut n));
    c.code("clGetPlatformIDs(null, null)", CL_INVALID_VALUE, t.clGetPlatformIDs(1, null_mut(), null_mut()));

    let info = |p, name, size, value| t.clGetPlatformInfo(p, name, size, value, null_mut());
    let mut bytes = [0u8; 4096];
    let place: Handle = bytes.as_mut_ptr().cast();
    c.code("clGetPlatformInfo: a query of devices", CL_INVALID_VALUE, info(t.platform, CL_DEVICE_NAME, 4096, place));
    c.code("clGetPlatformInfo: too small", CL_INVALID_VALUE, info(t.platform, CL_PLATFORM_NAME, 1, place));

    let ids = |kind, n, list| t.clGetDeviceIDs(t.platform, kind, n, list, null_mut());
    c.code("clGetDeviceIDs: type 0", CL_INVALID_DEVICE_TYPE, ids(0, 4, list.as_mut_ptr()));
    c.code("clGetDeviceIDs: type 1<<40", CL_INVALID_DEVICE_TYPE, ids(1 << 40, 4, list.as_mut_ptr()));
    c.code("clGetDeviceIDs(0, list)", CL_INVALID_VALUE, ids(CL_DEVICE_TYPE_ALL, 0, list.as_mut_ptr()));
    c.code("clGetDeviceIDs(null, null)", CL_INVALID_VALUE, ids(CL_DEVICE_TYPE_ALL, 1, null_mut()));

    let info = |d, name, size, value, ret: *mut usize| t.clGetDeviceInfo(d, name, size, value, ret);
    for (what, bad) in t.bad_handles(context) {
        let ask = info(bad, CL_DEVICE_NAME, 4096, place, null_mut());
        c.code(&format!("clGetDeviceInfo: {what}"), CL_INVALID_DEVICE, ask);
        c.code(&format!("clRetainDevice: {what}"), CL_INVALID_DEVICE, t.clRetainDevice(bad));
        c.code(&format!("clReleaseDevice: {what}"), CL_INVALID_DEVICE, t.clReleaseDevice(bad));
    }
    c.code("clGetDeviceInfo: unknown", CL_INVALID_VALUE, info(t.device, 0xFFFF, 4096, place, null_mut()));
    c.code("clGetDeviceInfo: too small", CL_INVALID_VALUE, info(t.device, CL_DEVICE_TYPE, 7, place, &mut size));
    c.code("clGetDeviceInfo: nothing asked", 0, info(t.device, CL_DEVICE_TYPE, 0, null_mut(), null_mut()));
    c.code("clGetDeviceInfo: more room than needed", 0, info(t.device, CL_DEVICE_TYPE, 4096, place, &mut size));
    c.code("the size of a device type", 8, size as i32);

    let mut time = 0;
    c.code("clGetHostTimer: null device", CL_INVALID_DEVICE, t.clGetHostTimer(null_mut(), &mut time));
    c.code("clGetHostTimer: null place", CL_INVALID_VALUE, t.clGetHostTimer(t.device, null_mut()));
    let both = |d, a, b| t.clGetDeviceAndHostTimer(d, a, b);
    c.code("clGetDeviceAndHostTimer: null place", CL_INVALID_VALUE, both(t.device, &mut time, null_mut()));
    c.code("clGetDeviceAndHostTimer: null device", CL_INVALID_DEVICE, both(null_mut(), &mut time, null_mut()));
    c.code("clUnloadPlatformCompiler", 0, t.clUnloadPlatformCompiler(t.platform));
    c.code("clUnloadCompiler", 0, t.clUnloadCompiler());
    c.end();
}

#[test]
fn a_compiler_that_was_unloaded_comes_back() {
    let t = Session::new();
    let built = t.program("kernel void k(global uint *p) { p[0] = 1; }");
    for _ in 0..2 {
        ok(t.clUnloadPlatformCompiler(t.platform));
        let kernel = t.kernel_of(&built, "k");
        let buffer = t.buffer_of(&[0u32]);
        t.arg_mem(&kernel, 0, &buffer);
        drop(t.launch(&kernel, &[1], &[]));
        assert_eq!(t.read::<u32>(&buffer, 1), [1], "what was built stays");
        drop(t.kernel("kernel void k(global uint *p) { p[0] = 2; }"));
        ok(t.clUnloadCompiler());
    }
    assert_eq!(t.clUnloadPlatformCompiler(t.device), CL_INVALID_PLATFORM);
}
