//! What any GPU offers: every row of the tables, less what needs the host's memory or a launcher that runs on the host,
//! and less what the machine lacks.
//!
//! A row stays if kernels need nothing but their code for it, or if the runtime does it on the host for every device.
//! The back end of a GPU begins with these, gives the limits, and leaves out or adds its own rows.

use crate::{DeviceCaps, DeviceKind, Limits, Named, feature};
use cloom_target::Machine;

/// A reason to leave rows out, with the names of the extensions and features.
pub type Without<'a> = (&'a str, &'a [&'a str]);

/// What no GPU has.
const NOT_ON_GPUS: &[Without<'_>] = &[
    ("kernels do not enqueue others", &["cl_khr_device_enqueue_local_arg_types", feature::DEVICE_ENQUEUE]),
    ("the runtime must know which buffers a kernel reaches", &["cl_ext_buffer_device_address"]),
    ("a launcher cannot clear the local memory of a group", &["cl_khr_initialize_memory"]),
];

/// What a GPU lacks if host and kernels cannot use the same memory at the same time.
const NOT_SHARED: &[Without<'_>] = &[("memory is not shared with the host", &["cl_intel_unified_shared_memory"])];

/// What a machine lacks that fixes the size of SIMD groups.
const FIXED_GROUPS: &[Without<'_>] = &[("sub-groups have one size", &["cl_intel_required_subgroup_size"])];

/// What a machine lacks whose loads and stores do not take generic pointers.
const NO_GENERIC: &[Without<'_>] = &[("pointers name their address space", &[feature::GENERIC_ADDRESS_SPACE])];

impl DeviceCaps {
    /// What a GPU with this machine offers, within these limits. `is_shared` says whether there is memory that host and
    /// kernels use at the same time.
    pub fn gpu(machine: &Machine, limits: Limits, is_shared: bool) -> DeviceCaps {
        let full = DeviceCaps::full().clone();
        let caps = DeviceCaps {
            kind: DeviceKind::Gpu,
            limits,
            dedicated_local_memory: true,
            native_kernels: false,
            ..full.without(NOT_ON_GPUS)
        };
        let lacks = [
            (!is_shared, NOT_SHARED),
            (machine.simd_group().is_some(), FIXED_GROUPS),
            (!machine.has_generic_pointers(), NO_GENERIC),
        ];
        lacks.into_iter().filter(|(lacks, _)| *lacks).fold(caps, |caps, (_, rows)| caps.without(rows))
    }

    /// The same without some extensions and features.
    pub fn without(mut self, rows: &[Without<'_>]) -> DeviceCaps {
        // One list for extensions and features: no name is in both.
        let stays = |named: &Named| rows.iter().all(|(_, names)| !names.contains(&named.name));
        self.extensions.to_mut().retain(stays);
        self.c_features.to_mut().retain(stays);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp;
    use cloom_target::Target;

    fn machine(target: &str) -> Machine {
        *target.parse::<Target>().unwrap().machine()
    }

    #[test]
    fn what_is_left_out_is_in_the_tables() {
        let full = DeviceCaps::full();
        let count = |caps: &DeviceCaps| caps.macros().count();
        for rows in [NOT_ON_GPUS, NOT_SHARED, FIXED_GROUPS, NO_GENERIC] {
            let names: Vec<_> = rows.iter().flat_map(|(_, names)| *names).collect();
            assert_eq!(count(&full.clone().without(rows)) + names.len(), count(full), "{names:?}");
        }
    }

    #[test]
    fn a_gpu_has_what_kernels_do_alone_and_images() {
        let limits = Limits { local_memory: 48 << 10, ..DeviceCaps::full().limits };
        let caps = DeviceCaps::gpu(&machine("stub:any+work-item,simd32,generic-pointers"), limits, true);
        assert!(caps.has_extension("cl_khr_fp64") && caps.has_feature(feature::SUBGROUPS));
        assert!(caps.images.is_some() && caps.has_feature(feature::IMAGES));
        assert!(!caps.has_feature(feature::DEVICE_ENQUEUE) && !caps.native_kernels);
        assert_eq!((caps.limits.local_memory, caps.single_fp & fp::FMA), (48 << 10, fp::FMA));
    }

    #[test]
    fn what_the_machine_lacks_is_left_out() {
        let caps = |target, is_shared| DeviceCaps::gpu(&machine(target), DeviceCaps::full().limits, is_shared);
        let shared = |is_shared| caps("stub:any+work-item", is_shared).has_extension("cl_intel_unified_shared_memory");
        assert_eq!([true, false].map(shared), [true, false]);
        let has_sizes = |target| caps(target, true).has_extension("cl_intel_required_subgroup_size");
        assert_eq!(["stub:any+work-item", "stub:any+work-item,simd64"].map(has_sizes), [true, false]);
        let has_generic = |target| caps(target, true).has_feature(feature::GENERIC_ADDRESS_SPACE);
        assert_eq!(["stub:any+work-item", "stub:any+work-item,generic-pointers"].map(has_generic), [false, true]);
    }
}
