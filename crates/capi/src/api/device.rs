//! Devices and their queries.

use super::{command_buffer, fail, give_all, partition, pipe, platform, usm};
use crate::args::{Out, OutArray, OutBytes};
use crate::handle::{self, Handle};
use crate::info::{Info, Written};
use crate::{cl, platform as process};
use cloom_caps::image::ImageLimits;
use cloom_caps::{self as caps, DeviceKind};
use cloom_hal::uuid;
use cloom_runtime::{Device, Platform, Result, Status, SvmKind};
use std::ffi::CStr;
use std::sync::Arc;

/// The devices of these types.
pub fn of_type(kind: u64) -> Result<Vec<Arc<Device>>> {
    const KNOWN: u64 = cl::DEVICE_TYPE_DEFAULT
        | cl::DEVICE_TYPE_CPU
        | cl::DEVICE_TYPE_GPU
        | cl::DEVICE_TYPE_ACCELERATOR
        | cl::DEVICE_TYPE_CUSTOM;
    let all = kind == cl::DEVICE_TYPE_ALL;
    if kind == 0 || (!all && kind & !KNOWN != 0) {
        return fail(Status::InvalidDeviceType, format!("{kind:#x} is not a set of device types"));
    }
    let devices = process::get().devices();
    // The first device is the default one.
    let matches = |(i, d): &(usize, &Arc<Device>)| {
        all || (kind & cl::DEVICE_TYPE_DEFAULT != 0 && *i == 0) || kind & type_of(d) != 0
    };
    let found: Vec<_> = devices.iter().enumerate().filter(matches).map(|(_, d)| d.clone()).collect();
    if found.is_empty() {
        return fail(Status::DeviceNotFound, format!("there is no device of the types {kind:#x}"));
    }
    Ok(found)
}

/// The type of a device.
fn type_of(device: &Device) -> u64 {
    match device.caps().kind {
        DeviceKind::Cpu => cl::DEVICE_TYPE_CPU,
        DeviceKind::Gpu => cl::DEVICE_TYPE_GPU,
        DeviceKind::Accelerator => cl::DEVICE_TYPE_ACCELERATOR,
    }
}

// OpenCL 3.0 API, 4.2: Querying Devices.
pub fn ids(
    platform: Handle<Platform>,
    kind: u64,
    room: u32,
    devices: OutArray<Handle<Device>>,
    count: Out<u32>,
) -> Result<()> {
    platform::find(platform)?;
    match of_type(kind) {
        Ok(found) => give_all(&found, room, devices, count),
        Err(error) => {
            count.set(0);
            Err(error)
        }
    }
}

// OpenCL 3.0 API, 4.2: Querying Devices.
pub fn info(handle: Handle<Device>, name: u32, size: usize, value: OutBytes, size_ret: Out<usize>) -> Result<()> {
    let device = handle.get()?;
    let info = Info::new(size, value, size_ret);
    // Each answers the names that it knows and says `None` to the others.
    let queries: [&dyn Fn() -> Result<Option<Written>>; 11] = [
        &|| limit(&device, name, info),
        &|| ability(&device, name, info),
        &|| images(&device, name, info),
        &|| partition::device_info(handle, &device, name, info),
        &|| command_buffer::device_info(&device, name, info),
        &|| usm::device_info(&device, name, info),
        &|| pipe::device_info(&device, name, info),
        &|| il(&device, name, info),
        &|| queues(&device, name, info),
        &|| gpu(&device, name, info),
        &|| absent(name, info),
    ];
    for query in queries {
        if query()?.is_some() {
            return Ok(());
        }
    }
    info.unknown(name).map(drop)
}

// cl_khr_pci_bus_info, cl_nv_device_attribute_query.
/// What only GPUs have.
fn gpu(device: &Device, name: u32, info: Info) -> Result<Option<Written>> {
    let extension = match name {
        cl::DEVICE_PCI_BUS_INFO => "cl_khr_pci_bus_info",
        _ => "cl_nv_device_attribute_query",
    };
    let has = device.caps().has_extension(extension);
    let Some(gpu) = device.info().gpu.as_ref().filter(|_| has) else { return Ok(None) };
    let [domain, bus, slot] = gpu.pci;
    Ok(Some(match name {
        // The function of a GPU that computes is 0.
        cl::DEVICE_PCI_BUS_INFO => info.array(&[domain, bus, slot, 0])?,
        cl::DEVICE_COMPUTE_CAPABILITY_MAJOR_NV => info.value(gpu.capability.0)?,
        cl::DEVICE_COMPUTE_CAPABILITY_MINOR_NV => info.value(gpu.capability.1)?,
        cl::DEVICE_REGISTERS_PER_BLOCK_NV => info.value(gpu.registers)?,
        cl::DEVICE_WARP_SIZE_NV => info.value(device.group_multiple())?,
        cl::DEVICE_GPU_OVERLAP_NV => info.bool(gpu.copy_engines > 0)?,
        cl::DEVICE_KERNEL_EXEC_TIMEOUT_NV => info.bool(gpu.has_time_limit)?,
        cl::DEVICE_INTEGRATED_MEMORY_NV => info.bool(gpu.is_integrated)?,
        cl::DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT_NV => info.value(gpu.copy_engines)?,
        cl::DEVICE_PCI_BUS_ID_NV => info.value(bus)?,
        // Device and function, as the bus has them.
        cl::DEVICE_PCI_SLOT_ID_NV => info.value(slot << 3)?,
        cl::DEVICE_PCI_DOMAIN_ID_NV => info.value(domain)?,
        _ => return Ok(None),
    }))
}

/// Sizes and numbers.
fn limit(device: &Device, name: u32, info: Info) -> Result<Option<Written>> {
    let hal = device.info();
    let (limits, has_half) = (&device.caps().limits, device.caps().half_fp != 0);
    let group = device.max_group_size() as usize;
    let lanes = |bytes: u32| info.value((hal.vector_bits / 8 / bytes).max(1));
    Ok(Some(match name {
        cl::DEVICE_VENDOR_ID => info.value(hal.vendor_id)?,
        cl::DEVICE_MAX_COMPUTE_UNITS => info.value(hal.compute_units)?,
        cl::DEVICE_MAX_WORK_ITEM_DIMENSIONS => info.value(3u32)?,
        cl::DEVICE_MAX_WORK_GROUP_SIZE => info.value(group)?,
        cl::DEVICE_MAX_WORK_GROUP_SIZES => info.array(&limits.max_group_sizes.map(|n| n as usize))?,
        // Preferred vector widths are 1: work-items are vectorised, so kernels are best written with scalars.
        cl::DEVICE_PREFERRED_VECTOR_WIDTH_CHAR
        | cl::DEVICE_PREFERRED_VECTOR_WIDTH_SHORT
        | cl::DEVICE_PREFERRED_VECTOR_WIDTH_INT
        | cl::DEVICE_PREFERRED_VECTOR_WIDTH_LONG
        | cl::DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT
        | cl::DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE => info.value(1u32)?,
        cl::DEVICE_NATIVE_VECTOR_WIDTH_CHAR => lanes(1)?,
        cl::DEVICE_PREFERRED_VECTOR_WIDTH_HALF => info.value(u32::from(has_half))?,
        // Halves are computed as floats.
        cl::DEVICE_NATIVE_VECTOR_WIDTH_HALF if !has_half => info.value(0u32)?,
        cl::DEVICE_NATIVE_VECTOR_WIDTH_HALF => lanes(4)?,
        cl::DEVICE_NATIVE_VECTOR_WIDTH_SHORT => lanes(2)?,
        cl::DEVICE_NATIVE_VECTOR_WIDTH_INT | cl::DEVICE_NATIVE_VECTOR_WIDTH_FLOAT => lanes(4)?,
        cl::DEVICE_NATIVE_VECTOR_WIDTH_LONG | cl::DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE => lanes(8)?,
        cl::DEVICE_MAX_CLOCK_FREQUENCY => info.value(hal.clock_mhz)?,
        cl::DEVICE_ADDRESS_BITS => info.value(64u32)?,
        cl::DEVICE_MAX_MEM_ALLOC_SIZE => info.value(device.max_allocation())?,
        cl::DEVICE_MAX_PARAMETER_SIZE => info.value(limits.max_parameter_size as usize)?,
        cl::DEVICE_MEM_BASE_ADDR_ALIGN => info.value(limits.mem_base_addr_align)?,
        cl::DEVICE_MIN_DATA_TYPE_ALIGN_SIZE => info.value(128u32)?,
        cl::DEVICE_GLOBAL_MEM_CACHELINE_SIZE => info.value(hal.cache_line)?,
        cl::DEVICE_GLOBAL_MEM_CACHE_SIZE => info.value(hal.cache_size)?,
        cl::DEVICE_GLOBAL_MEM_SIZE => info.value(hal.memory_size)?,
        cl::DEVICE_MAX_CONSTANT_BUFFER_SIZE => info.value(limits.max_constant_buffer)?,
        cl::DEVICE_MAX_CONSTANT_ARGS => info.value(limits.max_constant_args)?,
        cl::DEVICE_LOCAL_MEM_SIZE => info.value(device.local_memory())?,
        cl::DEVICE_PRINTF_BUFFER_SIZE => info.value(limits.printf_buffer as usize)?,
        cl::DEVICE_PROFILING_TIMER_RESOLUTION => info.value(1usize)?,
        cl::DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => info.value(device.group_multiple() as usize)?,
        _ => return Ok(None),
    }))
}

/// Queries of its description and abilities.
fn ability(device: &Device, name: u32, info: Info) -> Result<Option<Written>> {
    let (hal, offers) = (device.info(), device.caps());
    Ok(Some(match name {
        cl::DEVICE_TYPE => info.value(type_of(device))?,
        cl::DEVICE_NAME => info.text(&hal.name)?,
        cl::DEVICE_VENDOR => info.text(&hal.vendor)?,
        cl::DRIVER_VERSION => info.text(env!("CARGO_PKG_VERSION"))?,
        cl::DEVICE_UUID => info.array(&hal.uuid)?,
        cl::DRIVER_UUID => info.array(&uuid(&[platform::NAME, env!("CARGO_PKG_VERSION")]))?,
        // Locally unique identifiers are Windows'.
        cl::DEVICE_LUID_VALID => info.bool(false)?,
        cl::DEVICE_LUID => info.array(&[0u8; 8])?,
        cl::DEVICE_NODE_MASK => info.value(1u32)?,
        cl::DEVICE_PROFILE => info.text("FULL_PROFILE")?,
        cl::DEVICE_VERSION => info.text(&format!("{} {}", caps::OPENCL_VERSION_TEXT, platform::NAME))?,
        cl::DEVICE_NUMERIC_VERSION => info.value(caps::OPENCL_VERSION)?,
        cl::DEVICE_OPENCL_C_VERSION => info.text(&format!("OpenCL C 1.2 {}", platform::NAME))?,
        cl::DEVICE_OPENCL_C_NUMERIC_VERSION_KHR => info.value(caps::version(1, 2, 0))?,
        cl::DEVICE_OPENCL_C_ALL_VERSIONS => info.names(caps::C_VERSIONS)?,
        cl::DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT => {
            info.bool(offers.has_feature(caps::feature::GENERIC_ADDRESS_SPACE))?
        }
        cl::DEVICE_MAX_GLOBAL_VARIABLE_SIZE | cl::DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE => {
            let has = offers.has_feature(caps::feature::PROGRAM_SCOPE_VARIABLES);
            info.value(if has { caps::limits::MAX_VARIABLES as usize } else { 0 })?
        }
        cl::DEVICE_OPENCL_C_FEATURES => info.names(&offers.c_features)?,
        cl::DEVICE_EXTENSIONS => info.text(&caps::joined(&offers.extensions))?,
        cl::DEVICE_EXTENSIONS_WITH_VERSION => info.names(&offers.extensions)?,
        cl::DEVICE_LATEST_CONFORMANCE_VERSION_PASSED => info.text("v0000-01-01-00")?,
        cl::DEVICE_PLATFORM => info.value(handle::borrow(process::get())?)?,
        cl::DEVICE_SINGLE_FP_CONFIG => info.value(offers.single_fp)?,
        cl::DEVICE_DOUBLE_FP_CONFIG => info.value(offers.double_fp)?,
        cl::DEVICE_HALF_FP_CONFIG => info.value(offers.half_fp)?,
        cl::DEVICE_GLOBAL_MEM_CACHE_TYPE => info.value(2u32)?,
        // CL_LOCAL or CL_GLOBAL.
        cl::DEVICE_LOCAL_MEM_TYPE => info.value(if offers.dedicated_local_memory { 1u32 } else { 2 })?,
        cl::DEVICE_MAX_NUM_SUB_GROUPS => info.value(device.max_subgroups() as u32)?,
        cl::DEVICE_SUB_GROUP_SIZES_INTEL => {
            info.array(&device.subgroup_sizes().into_iter().map(|n| n as usize).collect::<Vec<_>>())?
        }
        // Kernels, perhaps native kernels.
        cl::DEVICE_EXECUTION_CAPABILITIES => info.value(1u64 | if offers.native_kernels { 2 } else { 0 })?,
        // Out of order, profiling.
        cl::DEVICE_QUEUE_PROPERTIES => info.value(1u64 | 2)?,
        cl::DEVICE_ATOMIC_MEMORY_CAPABILITIES => info.value(ATOMICS)?,
        cl::DEVICE_ATOMIC_FENCE_CAPABILITIES => info.value(ATOMICS | SCOPE_WORK_ITEM)?,
        cl::DEVICE_SVM_CAPABILITIES => info.value(svm_capabilities(device))?,
        cl::DEVICE_HALF_FP_ATOMIC_CAPABILITIES_EXT => info.value(offers.float_atomics(16))?,
        cl::DEVICE_SINGLE_FP_ATOMIC_CAPABILITIES_EXT => info.value(offers.float_atomics(32))?,
        cl::DEVICE_DOUBLE_FP_ATOMIC_CAPABILITIES_EXT => info.value(offers.float_atomics(64))?,
        // Packed vectors, vectors.
        cl::DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES => info.value(1u64 | 2)?,
        // Of device, work-group and sub-group.
        cl::DEVICE_KERNEL_CLOCK_CAPABILITIES_KHR if offers.has_extension("cl_khr_kernel_clock") => {
            info.value(1u64 | 2 | 4)?
        }
        // A program's own sums of products become the same code: none of the six combinations is accelerated.
        cl::DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT
        | cl::DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4X8BIT_PACKED => info.array(&[0u32; 6])?,
        cl::DEVICE_HOST_UNIFIED_MEMORY => info.bool(device.shares_host())?,
        cl::DEVICE_ENDIAN_LITTLE
        | cl::DEVICE_AVAILABLE
        | cl::DEVICE_COMPILER_AVAILABLE
        | cl::DEVICE_LINKER_AVAILABLE
        | cl::DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT
        | cl::DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT
        | cl::DEVICE_PREFERRED_INTEROP_USER_SYNC => info.bool(true)?,
        _ => return Ok(None),
    }))
}

/// Images: zeros where there are none.
fn images(device: &Device, name: u32, info: Info) -> Result<Option<Written>> {
    let images = device.caps().images;
    let count = |of: fn(&ImageLimits) -> u32| info.value(images.as_ref().map_or(0, of));
    let size = |of: fn(&ImageLimits) -> u64| info.value(images.as_ref().map_or(0, of) as usize);
    Ok(Some(match name {
        cl::DEVICE_IMAGE_SUPPORT => info.bool(images.is_some())?,
        cl::DEVICE_MAX_READ_IMAGE_ARGS => count(|i| i.read_args)?,
        cl::DEVICE_MAX_WRITE_IMAGE_ARGS => count(|i| i.write_args)?,
        cl::DEVICE_MAX_READ_WRITE_IMAGE_ARGS => count(|i| i.read_write_args)?,
        cl::DEVICE_MAX_SAMPLERS => count(|i| i.samplers)?,
        cl::DEVICE_IMAGE_PITCH_ALIGNMENT => count(|i| i.pitch_alignment)?,
        cl::DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT => count(|i| i.base_alignment)?,
        cl::DEVICE_IMAGE2D_MAX_WIDTH | cl::DEVICE_IMAGE2D_MAX_HEIGHT => size(|i| i.max_2d)?,
        cl::DEVICE_IMAGE3D_MAX_WIDTH | cl::DEVICE_IMAGE3D_MAX_HEIGHT | cl::DEVICE_IMAGE3D_MAX_DEPTH => {
            size(|i| i.max_3d)?
        }
        cl::DEVICE_IMAGE_MAX_BUFFER_SIZE => size(|i| i.max_buffer)?,
        cl::DEVICE_IMAGE_MAX_ARRAY_SIZE => size(|i| i.max_array)?,
        _ => return Ok(None),
    }))
}

/// Coarse- and fine-grained buffers, the whole of the host's memory, atomics: bits 0 to 3.
fn svm_capabilities(device: &Device) -> u64 {
    let Some((kind, atomics)) = device.svm() else { return 0 };
    let buffers = match kind {
        SvmKind::CoarseGrainBuffer => 1,
        SvmKind::FineGrainBuffer => 1 | 2,
        SvmKind::FineGrainSystem => 1 | 2 | 4,
    };
    buffers | if atomics { 8 } else { 0 }
}

/// All orders (relaxed, acquire-release, sequentially consistent), and the scopes group, device and all devices.
const ATOMICS: u64 = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5 | 1 << 6;
const SCOPE_WORK_ITEM: u64 = 1 << 3;

/// Queues on the device: zeros where there are none.
fn queues(device: &Device, name: u32, info: Info) -> Result<Option<Written>> {
    let has = device.has_device_queues();
    let number = |n: u32| info.value(if has { n } else { 0 });
    let bits = |n: u64| info.value(if has { n } else { 0 });
    Ok(Some(match name {
        cl::DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE => number(caps::limits::DEVICE_QUEUE_SIZE)?,
        cl::DEVICE_QUEUE_ON_DEVICE_MAX_SIZE => number(caps::limits::MAX_DEVICE_QUEUE_SIZE)?,
        cl::DEVICE_MAX_ON_DEVICE_QUEUES => number(caps::limits::MAX_DEVICE_QUEUES)?,
        cl::DEVICE_MAX_ON_DEVICE_EVENTS => number(caps::limits::MAX_DEVICE_EVENTS)?,
        // Out of order, profiling.
        cl::DEVICE_QUEUE_ON_DEVICE_PROPERTIES => bits(1 | 2)?,
        // There are some, and the default one can be replaced.
        cl::DEVICE_DEVICE_ENQUEUE_CAPABILITIES => bits(1 | 2)?,
        _ => return Ok(None),
    }))
}

/// Queries of features that no device has so far.
fn absent(name: u32, info: Info) -> Result<Option<Written>> {
    Ok(Some(match name {
        cl::DEVICE_ERROR_CORRECTION_SUPPORT | cl::DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS => info.bool(false)?,
        cl::DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT
        | cl::DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT
        | cl::DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT => info.value(0u32)?,
        cl::DEVICE_SEMAPHORE_TYPES_KHR => info.value(cl::SEMAPHORE_TYPE_BINARY_KHR as u32)?,
        cl::DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR | cl::DEVICE_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR => {
            info.value(cl::SEMAPHORE_HANDLE_OPAQUE_FD_KHR)?
        }
        cl::DEVICE_BUILT_IN_KERNELS => info.text("")?,
        cl::DEVICE_BUILT_IN_KERNELS_WITH_VERSION => info.names(&[])?,
        _ => return Ok(None),
    }))
}

/// Intermediate languages.
fn il(device: &Device, name: u32, info: Info) -> Result<Option<Written>> {
    let versions = if device.takes_il() { caps::IL_VERSIONS } else { &[] };
    // Strings that live for ever, as an array of their addresses.
    let pointers = |list: &[&'static CStr]| list.iter().map(|s| s.as_ptr().expose_provenance()).collect::<Vec<_>>();
    Ok(Some(match name {
        cl::DEVICE_IL_VERSION => {
            let number = |v: u32| format!("{}.{}", v >> 22, v >> 12 & 0x3ff);
            let names: Vec<String> = versions.iter().map(|n| format!("{}_{}", n.name, number(n.version))).collect();
            info.text(&names.join(" "))?
        }
        cl::DEVICE_ILS_WITH_VERSION => info.names(versions)?,
        cl::DEVICE_SPIRV_EXTENDED_INSTRUCTION_SETS_KHR => info.array(&pointers(&device.spirv().instruction_sets))?,
        cl::DEVICE_SPIRV_EXTENSIONS_KHR => info.array(&pointers(&device.spirv().extensions))?,
        cl::DEVICE_SPIRV_CAPABILITIES_KHR => info.array(&device.spirv().capabilities)?,
        _ => return Ok(None),
    }))
}

// OpenCL 3.0 API, 4.2: Querying Devices.
pub fn timers(device: Handle<Device>, device_time: Out<u64>, host_time: Out<u64>) -> Result<()> {
    let device = device.get()?;
    if device_time.is_null() || host_time.is_null() {
        return fail(Status::InvalidValue, "a place for a time is NULL");
    }
    let (on_device, on_host) = device.timers();
    device_time.set(on_device);
    host_time.set(on_host);
    Ok(())
}

// OpenCL 3.0 API, 4.2: Querying Devices.
pub fn host_timer(device: Handle<Device>, host_time: Out<u64>) -> Result<()> {
    let device = device.get()?;
    if host_time.is_null() {
        return fail(Status::InvalidValue, "the place for the time is NULL");
    }
    host_time.set(device.engine().now());
    Ok(())
}
