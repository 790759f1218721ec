//! Everything here beside the declarations that `bindgen` made of NVIDIA's header.

use crate::signature::{Kind, Passed, agree, kinds};
use crate::*;
use cudarc::driver::sys;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::mem::{align_of, offset_of, size_of};

/// Enumerations of C are passed as integers.
macro_rules! enumerations {
    ($($name:ident)*) => {$(
        impl Passed for sys::$name {
            const KIND: Kind = Kind::Int(size_of::<sys::$name>());
        }
    )*};
}

enumerations! {
    CUresult CUdevice_attribute CUjit_option CUjitInputType CUfunction_attribute CUpointer_attribute CUmemPool_attribute
}

#[test]
fn functions_take_what_the_header_says() {
    let mut compared = 0;
    macro_rules! compare {
        (
            $($name:ident = $symbol:ident ($($arg:ty),*);)*
            $(@optional $($maybe:ident = $maybe_symbol:ident ($($maybe_arg:ty),*);)*)?
        ) => {
            $(compare!($symbol $($arg)*);)*
            $($(compare!($maybe_symbol $($maybe_arg)*);)*)?
        };
        ($symbol:ident $($arg:ty)*) => {{
            type Ours = unsafe extern "C" fn($($arg),*) -> Code;
            let header = kinds(sys::$symbol as unsafe fn($(compare!(@any $arg)),*) -> _);
            let ours = <Ours as signature::Signature>::KINDS;
            assert!(agree(ours, header), "{}: {ours:?}, {header:?}", stringify!($symbol));
            compared += 1;
        }};
        (@any $arg:ty) => { _ };
    }
    functions!(compare);
    graph_functions!(compare);
    measured_functions!(compare);
    assert!(compared > 60, "{compared}");
}

/// Sizes, alignments and the offset of each field.
#[test]
fn structures_have_the_layout_of_the_header() {
    macro_rules! same {
        ($($ours:ident = $header:ident { $($field:tt = $($theirs:tt).+;)* })*) => {$(
            assert_eq!(size_of::<$ours>(), size_of::<sys::$header>(), stringify!($ours));
            assert_eq!(align_of::<$ours>(), align_of::<sys::$header>(), stringify!($ours));
            $(assert_eq!(
                offset_of!($ours, $field),
                offset_of!(sys::$header, $($theirs).+),
                concat!(stringify!($ours), ".", stringify!($field))
            );)*
        )*};
    }
    same! {
        KernelNode = CUDA_KERNEL_NODE_PARAMS_v2 {
            function = func;
            groups = gridDimX;
            local = blockDimX;
            local_size = sharedMemBytes;
            parameters = kernelParams;
            extra = extra;
            kernel = kern;
            context = ctx;
        }
        WordsNode = CUDA_BATCH_MEM_OP_NODE_PARAMS {
            context = ctx;
            count = count;
            words = paramArray;
            flags = flags;
        }
        TextureResource = CUDA_RESOURCE_DESC {
            kind = resType;
            rows = res;
            flags = flags;
        }
        TextureDesc = CUDA_TEXTURE_DESC {
            address_modes = addressMode;
            filter = filterMode;
            flags = flags;
            reserved = maxAnisotropy;
        }
        PoolAccess = CUmemAccessDesc {
            location = location;
            flags = flags;
        }
        PoolProperties = CUmemPoolProps {
            kind = allocType;
            handles = handleTypes;
            location = location;
            security = win32SecurityAttributes;
            reserved = maxSize;
        }
        Copy2d = CUDA_MEMCPY2D {
            from = srcXInBytes;
            to = dstXInBytes;
            width = WidthInBytes;
            height = Height;
        }
    }
    // A word is one of a union.
    type Word = sys::CUstreamBatchMemOpParams_union_CUstreamMemOpWriteValueParams_st;
    assert_eq!(size_of::<WriteValue>(), size_of::<sys::CUstreamBatchMemOpParams>());
    assert_eq!(offset_of!(WriteValue, operation), offset_of!(Word, operation));
    assert_eq!(offset_of!(WriteValue, address), offset_of!(Word, address));
    assert_eq!(offset_of!(WriteValue, value), offset_of!(Word, __bindgen_anon_1));
    assert_eq!(offset_of!(WriteValue, flags), offset_of!(Word, flags));
    // Both sides of a copy.
    let side = |field: usize| [offset_of!(Copy2d, from) + field, offset_of!(Copy2d, to) + field];
    type Header = sys::CUDA_MEMCPY2D;
    assert_eq!(side(offset_of!(Side2d, kind)), [offset_of!(Header, srcMemoryType), offset_of!(Header, dstMemoryType)]);
    assert_eq!(side(offset_of!(Side2d, host)), [offset_of!(Header, srcHost), offset_of!(Header, dstHost)]);
    assert_eq!(side(offset_of!(Side2d, device)), [offset_of!(Header, srcDevice), offset_of!(Header, dstDevice)]);
    assert_eq!(side(offset_of!(Side2d, array)), [offset_of!(Header, srcArray), offset_of!(Header, dstArray)]);
    assert_eq!(side(offset_of!(Side2d, pitch)), [offset_of!(Header, srcPitch), offset_of!(Header, dstPitch)]);
    // Where memory is: its kind, then the device.
    assert_eq!(offset_of!(PoolAccess, device), offset_of!(sys::CUmemLocation, id));
    assert_eq!(
        offset_of!(PoolProperties, device),
        offset_of!(sys::CUmemPoolProps, location) + offset_of!(sys::CUmemLocation, id)
    );
}

#[test]
fn constants_have_the_values_of_the_header() {
    macro_rules! same {
        ($($header:ident { $($name:ident = $theirs:ident;)* })*) => {$($(
            assert_eq!(i64::from(constants::$name), sys::$header::$theirs as i64, stringify!($name));
        )*)*};
    }
    same! {
        CUresult {
            SUCCESS = CUDA_SUCCESS;
            ERROR_INVALID_VALUE = CUDA_ERROR_INVALID_VALUE;
            ERROR_OUT_OF_MEMORY = CUDA_ERROR_OUT_OF_MEMORY;
            ERROR_STUB_LIBRARY = CUDA_ERROR_STUB_LIBRARY;
            ERROR_NO_DEVICE = CUDA_ERROR_NO_DEVICE;
            ERROR_INVALID_DEVICE = CUDA_ERROR_INVALID_DEVICE;
            ERROR_INVALID_PTX = CUDA_ERROR_INVALID_PTX;
            ERROR_INVALID_HANDLE = CUDA_ERROR_INVALID_HANDLE;
            ERROR_NOT_FOUND = CUDA_ERROR_NOT_FOUND;
            ERROR_NOT_READY = CUDA_ERROR_NOT_READY;
            ERROR_ILLEGAL_ADDRESS = CUDA_ERROR_ILLEGAL_ADDRESS;
            ERROR_LAUNCH_OUT_OF_RESOURCES = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
            ERROR_LAUNCH_TIMEOUT = CUDA_ERROR_LAUNCH_TIMEOUT;
            ERROR_MISALIGNED_ADDRESS = CUDA_ERROR_MISALIGNED_ADDRESS;
            ERROR_LAUNCH_FAILED = CUDA_ERROR_LAUNCH_FAILED;
            ERROR_SYSTEM_NOT_READY = CUDA_ERROR_SYSTEM_NOT_READY;
            ERROR_SYSTEM_DRIVER_MISMATCH = CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
            ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE = CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE;
        }
        CUdevice_attribute {
            DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK;
            DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK;
            DEVICE_ATTRIBUTE_CLOCK_RATE = CU_DEVICE_ATTRIBUTE_CLOCK_RATE;
            DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
            DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT = CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT;
            DEVICE_ATTRIBUTE_INTEGRATED = CU_DEVICE_ATTRIBUTE_INTEGRATED;
            DEVICE_ATTRIBUTE_COMPUTE_MODE = CU_DEVICE_ATTRIBUTE_COMPUTE_MODE;
            DEVICE_ATTRIBUTE_PCI_BUS_ID = CU_DEVICE_ATTRIBUTE_PCI_BUS_ID;
            DEVICE_ATTRIBUTE_PCI_DEVICE_ID = CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID;
            DEVICE_ATTRIBUTE_L2_CACHE_SIZE = CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE;
            DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT = CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT;
            DEVICE_ATTRIBUTE_PCI_DOMAIN_ID = CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID;
            DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR;
            DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR;
            DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS = CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS;
            DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
        }
        CUcomputemode { COMPUTEMODE_PROHIBITED = CU_COMPUTEMODE_PROHIBITED; }
        CUjit_option {
            JIT_MAX_REGISTERS = CU_JIT_MAX_REGISTERS;
            JIT_ERROR_LOG_BUFFER = CU_JIT_ERROR_LOG_BUFFER;
            JIT_ERROR_LOG_BUFFER_SIZE_BYTES = CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES;
            JIT_OPTIMIZATION_LEVEL = CU_JIT_OPTIMIZATION_LEVEL;
            JIT_GENERATE_LINE_INFO = CU_JIT_GENERATE_LINE_INFO;
        }
        CUjitInputType { JIT_INPUT_PTX = CU_JIT_INPUT_PTX; }
        CUfunction_attribute {
            FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
            FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
            FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES;
            FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        }
        CUmemorytype { MEMORYTYPE_HOST = CU_MEMORYTYPE_HOST; MEMORYTYPE_DEVICE = CU_MEMORYTYPE_DEVICE; }
        CUpointer_attribute { POINTER_ATTRIBUTE_MEMORY_TYPE = CU_POINTER_ATTRIBUTE_MEMORY_TYPE; }
        CUmemAttach_flags_enum { MEM_ATTACH_GLOBAL = CU_MEM_ATTACH_GLOBAL; }
        CUmemPool_attribute { MEMPOOL_ATTR_RELEASE_THRESHOLD = CU_MEMPOOL_ATTR_RELEASE_THRESHOLD; }
        CUmemAccess_flags {
            MEM_ACCESS_FLAGS_PROT_NONE = CU_MEM_ACCESS_FLAGS_PROT_NONE;
            MEM_ACCESS_FLAGS_PROT_READWRITE = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        }
        CUmemLocationType { MEM_LOCATION_TYPE_DEVICE = CU_MEM_LOCATION_TYPE_DEVICE; }
        CUmemAllocationType { MEM_ALLOCATION_TYPE_PINNED = CU_MEM_ALLOCATION_TYPE_PINNED; }
        CUstream_flags_enum { STREAM_NON_BLOCKING = CU_STREAM_NON_BLOCKING; }
        CUstreamWaitValue_flags_enum { STREAM_WAIT_VALUE_GEQ = CU_STREAM_WAIT_VALUE_GEQ; }
        CUstreamBatchMemOpType_enum {
            STREAM_MEM_OP_WRITE_VALUE_32 = CU_STREAM_MEM_OP_WRITE_VALUE_32;
            STREAM_MEM_OP_WRITE_VALUE_64 = CU_STREAM_MEM_OP_WRITE_VALUE_64;
        }
        CUevent_flags_enum {
            EVENT_BLOCKING_SYNC = CU_EVENT_BLOCKING_SYNC;
            EVENT_DISABLE_TIMING = CU_EVENT_DISABLE_TIMING;
        }
        CUresourcetype { RESOURCE_TYPE_PITCH2D = CU_RESOURCE_TYPE_PITCH2D; }
        CUaddress_mode { ADDRESS_MODE_CLAMP = CU_TR_ADDRESS_MODE_CLAMP; }
        CUfilter_mode { FILTER_MODE_LINEAR = CU_TR_FILTER_MODE_LINEAR; }
    }
    assert_eq!(constants::MEMHOSTALLOC_PORTABLE, sys::CU_MEMHOSTALLOC_PORTABLE);
}
