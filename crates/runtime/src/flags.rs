//! The bit sets of the interface, with the specification's numbers.

#![allow(missing_docs, reason = "the names are those of the specification")]

use bitflags::bitflags;

bitflags! {
    /// `cl_mem_flags`
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct MemFlags: u64 {
        const READ_WRITE = 1 << 0;
        const WRITE_ONLY = 1 << 1;
        const READ_ONLY = 1 << 2;
        const USE_HOST_PTR = 1 << 3;
        const ALLOC_HOST_PTR = 1 << 4;
        const COPY_HOST_PTR = 1 << 5;
        const IMMUTABLE = 1 << 6;
        const HOST_WRITE_ONLY = 1 << 7;
        const HOST_READ_ONLY = 1 << 8;
        const HOST_NO_ACCESS = 1 << 9;
        const SVM_FINE_GRAIN_BUFFER = 1 << 10;
        const SVM_ATOMICS = 1 << 11;
        const KERNEL_READ_AND_WRITE = 1 << 12;
    }

    /// `cl_map_flags`
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct MapFlags: u64 {
        const READ = 1 << 0;
        const WRITE = 1 << 1;
        const WRITE_INVALIDATE_REGION = 1 << 2;
    }

    /// `cl_mem_migration_flags`
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct MigrationFlags: u64 {
        const HOST = 1 << 0;
        const CONTENT_UNDEFINED = 1 << 1;
    }

    /// `cl_command_queue_properties`
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct QueueFlags: u64 {
        const OUT_OF_ORDER = 1 << 0;
        const PROFILING = 1 << 1;
        const ON_DEVICE = 1 << 2;
        const ON_DEVICE_DEFAULT = 1 << 3;
    }

    /// `cl_command_buffer_flags_khr`
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct CommandBufferFlags: u64 {
        const SIMULTANEOUS_USE = 1 << 0;
        const MUTABLE = 1 << 1;
    }

    /// `cl_mutable_dispatch_fields_khr`
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct MutableFields: u64 {
        const GLOBAL_OFFSET = 1 << 0;
        const GLOBAL_SIZE = 1 << 1;
        const LOCAL_SIZE = 1 << 2;
        const ARGUMENTS = 1 << 3;
        const EXEC_INFO = 1 << 4;
    }
}
