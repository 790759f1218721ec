//! The tables of what Cloom offers, each written once: extensions, optional features, limits.
//!
//! A device makes its [`DeviceCaps`] of them; from these come the macros of the front end, and the strings, version
//! arrays and limits of the queries. A row is here only if a test passed with it.

pub mod cpu;
mod device;
pub mod env;
mod gpu;
pub mod image;
pub mod secure;

pub use device::{DeviceCaps, DeviceKind, Limits, PipeLimits, fp};
pub use gpu::Without;

/// A version as OpenCL packs it: major in the top 10 bits, minor in the next 10, patch in the low 12.
pub const fn version(major: u32, minor: u32, patch: u32) -> u32 {
    (major << 22) | (minor << 12) | patch
}

/// Something with a name and a version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Named {
    /// Its name, which is also a macro in OpenCL C.
    pub name: &'static str,
    /// Packed by [`version`].
    pub version: u32,
}

const fn named(name: &'static str, version: u32) -> Named {
    Named { name, version }
}

/// The version of OpenCL that platform and devices report.
pub const OPENCL_VERSION: u32 = version(3, 1, 0);

/// The same as the strings of the queries begin, before the vendor's part.
pub const OPENCL_VERSION_TEXT: &str = "OpenCL 3.1";

/// Extensions of devices; each is also a macro.
///
/// Sub-groups are advertised by the feature `__opencl_c_subgroups` and not by `cl_khr_subgroups`: a device with that
/// extension must report `CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS` (OpenCL 3.0, table of device queries), and
/// the sub-groups of a group run one after the other here, from barrier to barrier.
pub const DEVICE_EXTENSIONS: &[Named] = &[
    named("cl_khr_byte_addressable_store", version(1, 0, 0)),
    named("cl_khr_global_int32_base_atomics", version(1, 0, 0)),
    named("cl_khr_global_int32_extended_atomics", version(1, 0, 0)),
    named("cl_khr_local_int32_base_atomics", version(1, 0, 0)),
    named("cl_khr_local_int32_extended_atomics", version(1, 0, 0)),
    named("cl_khr_int64_base_atomics", version(1, 0, 0)),
    named("cl_khr_int64_extended_atomics", version(1, 0, 0)),
    named("cl_khr_fp16", version(1, 0, 0)),
    named("cl_khr_fp64", version(1, 0, 0)),
    named("cl_khr_extended_versioning", version(1, 0, 0)),
    named("cl_khr_3d_image_writes", version(1, 0, 0)),
    named("cl_khr_depth_images", version(1, 0, 0)),
    named("cl_khr_image2d_from_buffer", version(1, 0, 0)),
    named("cl_khr_command_buffer", version(0, 9, 8)),
    named("cl_khr_command_buffer_mutable_dispatch", version(0, 9, 5)),
    named("cl_khr_create_command_queue", version(1, 0, 0)),
    named("cl_khr_device_enqueue_local_arg_types", version(1, 0, 0)),
    named("cl_khr_device_uuid", version(1, 0, 0)),
    named("cl_khr_expect_assume", version(1, 0, 0)),
    named("cl_khr_extended_async_copies", version(1, 0, 0)),
    named("cl_khr_external_semaphore", version(1, 0, 1)),
    named("cl_khr_external_semaphore_opaque_fd", version(1, 0, 0)),
    named("cl_khr_initialize_memory", version(1, 0, 0)),
    named("cl_khr_il_program", version(1, 0, 0)),
    named("cl_khr_kernel_clock", version(1, 0, 0)),
    named("cl_khr_priority_hints", version(1, 0, 0)),
    named("cl_khr_semaphore", version(1, 0, 1)),
    named("cl_khr_spirv_linkonce_odr", version(1, 0, 0)),
    named("cl_khr_spirv_no_integer_wrap_decoration", version(1, 0, 0)),
    named("cl_khr_spirv_queries", version(1, 0, 0)),
    named("cl_khr_suggested_local_work_size", version(1, 0, 0)),
    named("cl_khr_throttle_hints", version(1, 0, 0)),
    named("cl_ext_buffer_device_address", version(1, 0, 2)),
    named("cl_ext_float_atomics", version(1, 0, 0)),
    named("cl_khr_srgb_image_writes", version(1, 0, 0)),
    named("cl_ext_image_from_buffer", version(1, 0, 0)),
    named("cl_ext_image_requirements_info", version(0, 5, 0)),
    named("cl_ext_image_unorm_int_2_101010", version(1, 0, 0)),
    named("cl_ext_image_unsigned_10x6_12x4_14x2", version(1, 0, 0)),
    named("cl_ext_immutable_memory_objects", version(1, 0, 0)),
    named("cl_khr_extended_bit_ops", version(1, 0, 0)),
    named("cl_khr_integer_dot_product", version(2, 0, 0)),
    named("cl_intel_required_subgroup_size", version(1, 0, 0)),
    named("cl_intel_spirv_subgroups", version(1, 0, 0)),
    named("cl_intel_subgroups", version(1, 0, 0)),
    named("cl_intel_subgroups_char", version(1, 0, 0)),
    named("cl_intel_subgroups_long", version(1, 0, 0)),
    named("cl_intel_subgroups_short", version(1, 0, 0)),
    named("cl_intel_unified_shared_memory", version(1, 1, 0)),
    named("cl_khr_subgroup_ballot", version(1, 0, 0)),
    named("cl_khr_subgroup_clustered_reduce", version(1, 0, 0)),
    named("cl_khr_subgroup_extended_types", version(1, 0, 0)),
    named("cl_khr_subgroup_non_uniform_arithmetic", version(1, 0, 0)),
    named("cl_khr_subgroup_non_uniform_vote", version(1, 0, 0)),
    named("cl_khr_subgroup_rotate", version(1, 0, 0)),
    named("cl_khr_subgroup_shuffle", version(1, 0, 0)),
    named("cl_khr_subgroup_shuffle_relative", version(1, 0, 0)),
];

/// Platform extensions.
pub const PLATFORM_EXTENSIONS: &[Named] =
    &[named("cl_khr_icd", version(2, 0, 1)), named("cl_khr_extended_versioning", version(1, 0, 0))];

/// Names of features that more than their macros depend on.
pub mod feature {
    /// Pointers without a named address space.
    pub const GENERIC_ADDRESS_SPACE: &str = "__opencl_c_generic_address_space";
    /// Variables of program scope in global memory.
    pub const PROGRAM_SCOPE_VARIABLES: &str = "__opencl_c_program_scope_global_variables";
    /// `memory_scope_all_devices`, which is another name of one scope.
    pub const SCOPE_ALL_DEVICES: &str = "__opencl_c_atomic_scope_all_devices";
    /// Blocks and queues on the device.
    pub const DEVICE_ENQUEUE: &str = "__opencl_c_device_enqueue";
    /// Images.
    pub const IMAGES: &str = "__opencl_c_images";
    /// Pipes.
    pub const PIPES: &str = "__opencl_c_pipes";
    /// Sub-groups.
    pub const SUBGROUPS: &str = "__opencl_c_subgroups";

    /// A feature of `cl_ext_float_atomics`: the bits of the float, `global` or `local`, and `add`, `min_max` or
    /// `load_store`.
    pub fn float_atomic(bits: u32, space: &str, what: &str) -> String {
        format!("__opencl_c_ext_fp{bits}_{space}_atomic_{what}")
    }
}

/// Optional features of OpenCL C 3.0 and later (`__opencl_c_…`).
pub const C_FEATURES: &[Named] = &[
    named("__opencl_c_fp64", version(3, 0, 0)),
    named("__opencl_c_int64", version(3, 0, 0)),
    named(feature::IMAGES, version(3, 0, 0)),
    named("__opencl_c_read_write_images", version(3, 0, 0)),
    named("__opencl_c_3d_image_writes", version(3, 0, 0)),
    named("__opencl_c_kernel_clock_scope_device", version(3, 0, 0)),
    named("__opencl_c_kernel_clock_scope_work_group", version(3, 0, 0)),
    named("__opencl_c_kernel_clock_scope_sub_group", version(3, 0, 0)),
    named("__opencl_c_integer_dot_product_input_4x8bit", version(3, 0, 0)),
    named("__opencl_c_integer_dot_product_input_4x8bit_packed", version(3, 0, 0)),
    named("__opencl_c_atomic_order_acq_rel", version(3, 0, 0)),
    named("__opencl_c_atomic_order_seq_cst", version(3, 0, 0)),
    named("__opencl_c_atomic_scope_device", version(3, 0, 0)),
    named(feature::SCOPE_ALL_DEVICES, version(3, 0, 0)),
    named(feature::DEVICE_ENQUEUE, version(3, 0, 0)),
    named(feature::GENERIC_ADDRESS_SPACE, version(3, 0, 0)),
    named(feature::PROGRAM_SCOPE_VARIABLES, version(3, 0, 0)),
    named("__opencl_c_ext_fp32_global_atomic_add", version(3, 0, 0)),
    named("__opencl_c_ext_fp32_global_atomic_min_max", version(3, 0, 0)),
    named("__opencl_c_ext_fp32_local_atomic_add", version(3, 0, 0)),
    named("__opencl_c_ext_fp32_local_atomic_min_max", version(3, 0, 0)),
    named("__opencl_c_ext_fp64_global_atomic_add", version(3, 0, 0)),
    named("__opencl_c_ext_fp64_global_atomic_min_max", version(3, 0, 0)),
    named("__opencl_c_ext_fp64_local_atomic_add", version(3, 0, 0)),
    named("__opencl_c_ext_fp64_local_atomic_min_max", version(3, 0, 0)),
    named("__opencl_c_ext_image_unorm_int_2_101010", version(3, 0, 0)),
    named("__opencl_c_ext_image_unsigned_10x6_12x4_14x2", version(3, 0, 0)),
    named(feature::PIPES, version(3, 0, 0)),
    named(feature::SUBGROUPS, version(3, 0, 0)),
    named("__opencl_c_work_group_collective_functions", version(3, 0, 0)),
];

/// The versions of OpenCL C that the compiler takes.
pub const C_VERSIONS: &[Named] = &[
    named("OpenCL C", version(1, 0, 0)),
    named("OpenCL C", version(1, 1, 0)),
    named("OpenCL C", version(1, 2, 0)),
    named("OpenCL C", version(3, 0, 0)),
    named("OpenCL C", version(3, 1, 0)),
];

/// The versions of SPIR-V that the compiler takes.
pub const IL_VERSIONS: &[Named] = &[
    named("SPIR-V", version(1, 0, 0)),
    named("SPIR-V", version(1, 1, 0)),
    named("SPIR-V", version(1, 2, 0)),
    named("SPIR-V", version(1, 3, 0)),
    named("SPIR-V", version(1, 4, 0)),
    named("SPIR-V", version(1, 5, 0)),
    named("SPIR-V", version(1, 6, 0)),
];

/// Limits that no device exceeds. The front end holds every program to those of constant and local memory.
pub mod limits {
    /// Work-items of a group.
    pub const MAX_GROUP_SIZE: u64 = 4096;
    /// Work-items of a sub-group, as kernels may require them.
    pub const SUB_GROUP_SIZES: &[u16] = &[4, 8, 16, 32, 64];
    /// Work-items of a sub-group in programs that enable Intel's extensions of sub-groups, where a kernel requires no
    /// other size.
    pub const INTEL_SUB_GROUP_SIZE: u16 = 32;
    /// Bytes of arguments of one kernel.
    pub const MAX_PARAMETER_SIZE: u64 = 4352;
    /// Bytes of the buffer that printf fills before it flushes, at least.
    pub const PRINTF_BUFFER: u64 = 16 << 20;
    /// Bytes of local memory of a group.
    pub const LOCAL_MEMORY: u64 = 512 << 10;
    /// Bytes of one constant buffer.
    pub const MAX_CONSTANT_BUFFER: u64 = 64 << 20;
    /// Bytes of the variables of one program in global memory.
    pub const MAX_VARIABLES: u64 = 64 << 20;
    /// Bytes of a queue on the device if the application leaves it open,
    pub const DEVICE_QUEUE_SIZE: u32 = 4 << 20;
    /// and at most.
    pub const MAX_DEVICE_QUEUE_SIZE: u32 = 64 << 20;
    /// Queues on a device in one context, besides the default one. A kernel can take them all as arguments.
    pub const MAX_DEVICE_QUEUES: u32 = 512;
    /// Events that the kernels of one command of the host have in use.
    pub const MAX_DEVICE_EVENTS: u32 = 1 << 20;
    /// Arguments in constant memory.
    pub const MAX_CONSTANT_ARGS: u32 = 64;
    /// Arguments of one kernel that are pipes.
    pub const MAX_PIPE_ARGS: u32 = 64;
    /// Reservations of a work-item in one pipe that are not committed. Only the packets of the pipe bound them in fact.
    pub const PIPE_MAX_ACTIVE_RESERVATIONS: u32 = 1 << 16;
    /// Bytes of a packet of a pipe.
    pub const PIPE_MAX_PACKET_SIZE: u32 = 64 << 10;
    /// Bits that a sub-buffer's origin is aligned to.
    pub const MEM_BASE_ADDR_ALIGN: u32 = 1024;
}

/// The names separated by spaces, as `CL_DEVICE_EXTENSIONS` wants them.
pub fn joined(table: &[Named]) -> String {
    table.iter().map(|n| n.name).collect::<Vec<_>>().join(" ")
}
