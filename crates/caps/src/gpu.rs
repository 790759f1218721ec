//! What GPUs offer: the tables of the CPU, less what needs the host's memory or a launcher that runs on the host.
//!
//! A row stays if kernels need nothing but their code for it, or if the runtime does it on the host for every device.

use crate::{C_FEATURES, DEVICE_EXTENSIONS, DeviceCaps, DeviceKind, Limits, Named, feature, limits, named, version};
use std::borrow::Cow;

/// A reason to leave rows out, with their names.
type Without = (&'static str, &'static [&'static str]);

/// The extensions that a CUDA device does not have.
const NO_EXTENSIONS: &[Without] = &[
    ("kernels do not enqueue others", &["cl_khr_device_enqueue_local_arg_types"]),
    ("the runtime must know which buffers a kernel reaches", &["cl_ext_buffer_device_address"]),
    ("a launcher cannot clear the local memory of a group", &["cl_khr_initialize_memory"]),
    ("sub-groups are warps, of one size", &["cl_intel_required_subgroup_size"]),
    ("the counter of a multiprocessor is not the device's clock", &["cl_khr_kernel_clock"]),
];

/// Those that a CUDA device lacks, too, if host and kernels cannot use the same memory at the same time.
const NOT_SHARED: &[Without] = &[("memory is not shared with the host", &["cl_intel_unified_shared_memory"])];

/// The extensions that a CUDA device alone has: libraries and tools ask devices of NVIDIA for more than OpenCL says.
const OWN_EXTENSIONS: &[Named] =
    &[named("cl_khr_pci_bus_info", version(1, 0, 0)), named("cl_nv_device_attribute_query", version(1, 0, 0))];

/// The features of OpenCL C that a CUDA device does not have.
const NO_FEATURES: &[Without] = &[
    ("kernels do not enqueue others", &[feature::DEVICE_ENQUEUE]),
    (
        "the counter of a multiprocessor is not the device's clock",
        &[
            "__opencl_c_kernel_clock_scope_device",
            "__opencl_c_kernel_clock_scope_work_group",
            "__opencl_c_kernel_clock_scope_sub_group",
        ],
    ),
];

/// Bytes of the arguments of a kernel: PTX has 4352 for parameters, of which the launch descriptor takes a part.
const MAX_PARAMETER_SIZE: u64 = 3840;
/// Work-items of a group,
const MAX_GROUP_SIZE: u64 = 1024;
/// and in each dimension.
const MAX_GROUP_SIZES: [u64; 3] = [1024, 1024, 64];
/// Bytes of the buffer of printf, which the launcher allocates for each kernel that prints and runs.
const PRINTF_BUFFER: u64 = 1 << 20;
/// Bits that a sub-buffer's origin is aligned to: those of an allocation.
const MEM_BASE_ADDR_ALIGN: u32 = 4096;

/// A table without some rows.
fn without(table: &[Named], rows: &[Without]) -> Vec<Named> {
    let is_left_out = |named: &&Named| rows.iter().any(|(_, names)| names.contains(&named.name));
    table.iter().filter(|named| !is_left_out(named)).copied().collect()
}

impl DeviceCaps {
    /// What a GPU of NVIDIA offers, of compute capability 7.0 or later. `local_memory` is how many bytes of shared
    /// memory a group can have there; `is_shared`, whether there is memory that the host uses, too.
    pub fn cuda(local_memory: u64, is_shared: bool) -> DeviceCaps {
        let cpu = DeviceCaps::cpu();
        let mut extensions = without(DEVICE_EXTENSIONS, NO_EXTENSIONS);
        if !is_shared {
            extensions = without(&extensions, NOT_SHARED);
        }
        extensions.extend(OWN_EXTENSIONS);
        DeviceCaps {
            kind: DeviceKind::Gpu,
            extensions: Cow::Owned(extensions),
            c_features: Cow::Owned(without(C_FEATURES, NO_FEATURES)),
            limits: Limits {
                max_group_size: MAX_GROUP_SIZE,
                max_group_sizes: MAX_GROUP_SIZES,
                max_parameter_size: MAX_PARAMETER_SIZE,
                printf_buffer: PRINTF_BUFFER,
                local_memory,
                max_constant_buffer: limits::MAX_CONSTANT_BUFFER,
                max_constant_args: limits::MAX_CONSTANT_ARGS,
                mem_base_addr_align: MEM_BASE_ADDR_ALIGN,
            },
            images: cpu.images,
            pipes: cpu.pipes,
            single_fp: cpu.single_fp,
            double_fp: cpu.double_fp,
            half_fp: cpu.half_fp,
            dedicated_local_memory: true,
            native_kernels: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp;

    #[test]
    fn what_is_left_out_is_in_the_tables() {
        for (table, rows) in
            [(DEVICE_EXTENSIONS, NO_EXTENSIONS), (DEVICE_EXTENSIONS, NOT_SHARED), (C_FEATURES, NO_FEATURES)]
        {
            let names: Vec<_> = rows.iter().flat_map(|(_, names)| *names).collect();
            assert!(names.iter().all(|name| table.iter().any(|named| named.name == **name)), "{names:?}");
            assert_eq!(without(table, rows).len() + names.len(), table.len());
        }
    }

    #[test]
    fn a_gpu_has_what_kernels_do_alone_and_images() {
        let caps = DeviceCaps::cuda(48 << 10, true);
        assert!(caps.has_extension("cl_khr_fp64") && caps.has_feature(feature::SUBGROUPS));
        assert!(caps.images.is_some() && caps.has_feature(feature::IMAGES));
        let shared = "cl_intel_unified_shared_memory";
        assert!(caps.has_extension(shared) && !DeviceCaps::cuda(48 << 10, false).has_extension(shared));
        assert!(!caps.has_feature(feature::DEVICE_ENQUEUE) && !caps.native_kernels);
        assert_eq!((caps.limits.local_memory, caps.single_fp & fp::FMA), (48 << 10, fp::FMA));
    }
}
