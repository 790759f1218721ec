//! What a GPU of NVIDIA offers, of compute capability 7.0 or later. In come the machine, and what the driver says of
//! its memory; out come the capabilities: those of any GPU, with CUDA's limits and rows.

use cloom_caps::{DeviceCaps, Limits, Named, Without, version};
use cloom_target::Machine;

/// The extensions that only these GPUs have: libraries and tools ask devices of NVIDIA for more than OpenCL says.
const OWN_EXTENSIONS: &[Named] = &[
    Named { name: "cl_khr_pci_bus_info", version: version(1, 0, 0) },
    Named { name: "cl_nv_device_attribute_query", version: version(1, 0, 0) },
];

/// The rows that they lack.
const WITHOUT: &[Without<'_>] = &[(
    "the counter of a multiprocessor is not the device's clock",
    &[
        "cl_khr_kernel_clock",
        "__opencl_c_kernel_clock_scope_device",
        "__opencl_c_kernel_clock_scope_work_group",
        "__opencl_c_kernel_clock_scope_sub_group",
    ],
)];

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

/// The capabilities. `local_memory` is how many bytes of shared memory a group can have; `is_shared` says whether there
/// is memory that the host uses, too.
pub fn caps(machine: &Machine, local_memory: u64, is_shared: bool) -> DeviceCaps {
    let limits = Limits {
        max_group_size: MAX_GROUP_SIZE,
        max_group_sizes: MAX_GROUP_SIZES,
        max_parameter_size: MAX_PARAMETER_SIZE,
        printf_buffer: PRINTF_BUFFER,
        local_memory,
        mem_base_addr_align: MEM_BASE_ADDR_ALIGN,
        ..DeviceCaps::full().limits
    };
    let mut caps = DeviceCaps::gpu(machine, limits, is_shared).without(WITHOUT);
    caps.extensions.to_mut().extend(OWN_EXTENSIONS);
    caps
}

#[cfg(test)]
mod tests {
    use super::*;
    use cloom_caps::feature;
    use cloom_target::Target;

    #[test]
    fn a_gpu_has_its_own_rows_and_no_clock() {
        let target = Target::gpu("sm_90").unwrap();
        let of = |is_shared| caps(target.machine(), 48 << 10, is_shared);
        let caps = of(true);
        assert_eq!(caps.limits.local_memory, 48 << 10);
        assert!(caps.has_feature(feature::GENERIC_ADDRESS_SPACE) && !caps.has_extension("cl_khr_kernel_clock"));
        assert!(!caps.has_extension("cl_intel_required_subgroup_size"));
        let names: Vec<_> = caps.extensions.iter().map(|named| named.name).collect();
        assert!(names.ends_with(&["cl_khr_pci_bus_info", "cl_nv_device_attribute_query"]), "{names:?}");
        let full = DeviceCaps::full();
        assert_eq!((full.extensions.len() + 2 - names.len(), full.c_features.len() - caps.c_features.len()), (5, 4));
        assert_eq!(of(false).extensions.len() + 1, names.len());
        // Each row that is left out is in the tables.
        let all: Vec<_> = WITHOUT.iter().flat_map(|(_, names)| *names).collect();
        assert!(all.iter().all(|name| full.has_extension(name) || full.has_feature(name)));
    }
}
