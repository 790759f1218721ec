//! Constants, by the names that NVIDIA's header gives them without `CU_` and `CUDA_`.

/// Declares constants of a type, each with the line that says what they are.
macro_rules! constants {
    ($(#[doc = $doc:literal] $ty:ty { $($name:ident = $value:literal;)* })*) => {
        $($(#[doc = $doc] pub const $name: $ty = $value;)*)*
    };
}

constants! {
    /// What a function returns: `CUresult`.
    crate::Code {
        SUCCESS = 0;
        ERROR_INVALID_VALUE = 1;
        ERROR_OUT_OF_MEMORY = 2;
        ERROR_STUB_LIBRARY = 34;
        ERROR_NO_DEVICE = 100;
        ERROR_INVALID_DEVICE = 101;
        ERROR_INVALID_PTX = 218;
        ERROR_INVALID_HANDLE = 400;
        ERROR_NOT_FOUND = 500;
        ERROR_NOT_READY = 600;
        ERROR_ILLEGAL_ADDRESS = 700;
        ERROR_LAUNCH_OUT_OF_RESOURCES = 701;
        ERROR_LAUNCH_TIMEOUT = 702;
        ERROR_MISALIGNED_ADDRESS = 716;
        ERROR_LAUNCH_FAILED = 719;
        ERROR_SYSTEM_NOT_READY = 802;
        ERROR_SYSTEM_DRIVER_MISMATCH = 803;
        ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804;
    }
    /// An attribute of a device: `CUdevice_attribute`.
    i32 {
        DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8;
        DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = 12;
        DEVICE_ATTRIBUTE_CLOCK_RATE = 13;
        DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16;
        DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT = 17;
        DEVICE_ATTRIBUTE_INTEGRATED = 18;
        DEVICE_ATTRIBUTE_COMPUTE_MODE = 20;
        DEVICE_ATTRIBUTE_PCI_BUS_ID = 33;
        DEVICE_ATTRIBUTE_PCI_DEVICE_ID = 34;
        DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38;
        DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT = 40;
        DEVICE_ATTRIBUTE_PCI_DOMAIN_ID = 50;
        DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75;
        DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76;
        DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS = 89;
        DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97;
    }
    /// `CUcomputemode`
    u32 {
        COMPUTEMODE_PROHIBITED = 2;
    }
    /// An option of the compiler of PTX: `CUjit_option`.
    i32 {
        JIT_MAX_REGISTERS = 0;
        JIT_ERROR_LOG_BUFFER = 5;
        JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6;
        JIT_OPTIMIZATION_LEVEL = 7;
        JIT_GENERATE_LINE_INFO = 13;
    }
    /// `CUjitInputType`
    i32 {
        JIT_INPUT_PTX = 1;
    }
    /// An attribute of a function: `CUfunction_attribute`.
    i32 {
        FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0;
        FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1;
        FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3;
        FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8;
    }
    /// A kind of memory: `CUmemorytype`.
    u32 {
        MEMORYTYPE_HOST = 1;
        MEMORYTYPE_DEVICE = 2;
    }
    /// `CUpointer_attribute`
    i32 {
        POINTER_ATTRIBUTE_MEMORY_TYPE = 2;
    }
    /// How managed memory is attached: `CUmemAttach_flags`.
    u32 {
        MEM_ATTACH_GLOBAL = 1;
    }
    /// An attribute of a pool: `CUmemPool_attribute`.
    i32 {
        MEMPOOL_ATTR_RELEASE_THRESHOLD = 4;
    }
    /// Who may access a pool: `CUmemAccess_flags`.
    i32 {
        MEM_ACCESS_FLAGS_PROT_NONE = 0;
        MEM_ACCESS_FLAGS_PROT_READWRITE = 3;
    }
    /// Where memory is: `CUmemLocationType`.
    i32 {
        MEM_LOCATION_TYPE_DEVICE = 1;
    }
    /// `CUmemAllocationType`
    i32 {
        MEM_ALLOCATION_TYPE_PINNED = 1;
    }
    /// `CUstream_flags`
    u32 {
        STREAM_NON_BLOCKING = 1;
    }
    /// What a stream waits for: `CUstreamWaitValue_flags`.
    u32 {
        STREAM_WAIT_VALUE_GEQ = 0;
    }
    /// `CUstreamBatchMemOpType`
    u32 {
        STREAM_MEM_OP_WRITE_VALUE_32 = 2;
        STREAM_MEM_OP_WRITE_VALUE_64 = 5;
    }
    /// `CUevent_flags`
    u32 {
        EVENT_BLOCKING_SYNC = 1;
        EVENT_DISABLE_TIMING = 2;
    }
    /// What a texture is of: `CUresourcetype`.
    u32 {
        RESOURCE_TYPE_PITCH2D = 3;
    }
    /// Coordinates outside of a texture: `CUaddress_mode`.
    u32 {
        ADDRESS_MODE_CLAMP = 1;
    }
    /// `CUfilter_mode`
    u32 {
        FILTER_MODE_LINEAR = 1;
    }
    /// Pinned memory for all contexts, of `cuMemHostAlloc`.
    u32 {
        MEMHOSTALLOC_PORTABLE = 1;
    }
}
