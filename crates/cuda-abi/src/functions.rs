//! The functions of the driver, in lists: those of every driver, those for graphs, and those that are only measured.
//!
//! Each list is a macro that gives `name = symbol (types of arguments);` for each function to another macro:
//! `functions!(declare)` expands to `declare! { … }`, and `functions!(declare struct Table;)` to
//! `declare! { struct Table; … }`. So a table of pointers, a comparison with other declarations and the checks of a
//! library that defines them are made of one list. The types of this crate, `c_char`, `c_int`, `c_uint` and `c_void`
//! have to be in scope there.

/// Gives the list of functions to a macro. Those after `@optional` came with later drivers than Cloom needs.
#[macro_export]
macro_rules! functions {
    ($callback:ident $($head:tt)*) => {
        $callback! {
            $($head)*
            init = cuInit (c_uint);
            driver_get_version = cuDriverGetVersion (*mut c_int);
            get_error_name = cuGetErrorName (Code, *mut *const c_char);
            device_get_count = cuDeviceGetCount (*mut c_int);
            device_get = cuDeviceGet (*mut RawDevice, c_int);
            device_get_name = cuDeviceGetName (*mut c_char, c_int, RawDevice);
            device_get_uuid = cuDeviceGetUuid (*mut [u8; 16], RawDevice);
            device_get_attribute = cuDeviceGetAttribute (*mut c_int, c_int, RawDevice);
            device_can_access_peer = cuDeviceCanAccessPeer (*mut c_int, RawDevice, RawDevice);
            device_total_mem = cuDeviceTotalMem_v2 (*mut usize, RawDevice);
            primary_retain = cuDevicePrimaryCtxRetain (*mut RawContext, RawDevice);
            primary_release = cuDevicePrimaryCtxRelease_v2 (RawDevice);
            ctx_get_current = cuCtxGetCurrent (*mut RawContext);
            ctx_set_current = cuCtxSetCurrent (RawContext);
            mem_alloc = cuMemAlloc_v2 (*mut Address, usize);
            mem_alloc_managed = cuMemAllocManaged (*mut Address, usize, c_uint);
            mem_free = cuMemFree_v2 (Address);
            pool_create = cuMemPoolCreate (*mut RawPool, *const PoolProperties);
            pool_destroy = cuMemPoolDestroy (RawPool);
            pool_set_attribute = cuMemPoolSetAttribute (RawPool, c_int, *mut c_void);
            pool_set_access = cuMemPoolSetAccess (RawPool, *const PoolAccess, usize);
            mem_alloc_from_pool = cuMemAllocFromPoolAsync (*mut Address, usize, RawPool, RawStream);
            mem_free_async = cuMemFreeAsync (Address, RawStream);
            mem_host_alloc = cuMemHostAlloc (*mut *mut c_void, usize, c_uint);
            mem_free_host = cuMemFreeHost (*mut c_void);
            mem_get_address_range = cuMemGetAddressRange_v2 (*mut Address, *mut usize, Address);
            pointer_get_attribute = cuPointerGetAttribute (*mut c_void, c_int, Address);
            memcpy_to_device = cuMemcpyHtoDAsync_v2 (Address, *const c_void, usize, RawStream);
            memcpy_to_host = cuMemcpyDtoHAsync_v2 (*mut c_void, Address, usize, RawStream);
            memcpy_on_device = cuMemcpyDtoDAsync_v2 (Address, Address, usize, RawStream);
            memcpy_peer = cuMemcpyPeerAsync (Address, RawContext, Address, RawContext, usize, RawStream);
            memcpy_2d = cuMemcpy2DAsync_v2 (*const Copy2d, RawStream);
            memset_8 = cuMemsetD8Async (Address, u8, usize, RawStream);
            memset_16 = cuMemsetD16Async (Address, u16, usize, RawStream);
            memset_32 = cuMemsetD32Async (Address, c_uint, usize, RawStream);
            stream_create = cuStreamCreate (*mut RawStream, c_uint);
            stream_destroy = cuStreamDestroy_v2 (RawStream);
            stream_synchronize = cuStreamSynchronize (RawStream);
            stream_write_value = cuStreamWriteValue64_v2 (RawStream, u64, u64, c_uint);
            stream_wait_value = cuStreamWaitValue32_v2 (RawStream, u64, u32, c_uint);
            event_create = cuEventCreate (*mut RawEvent, c_uint);
            event_destroy = cuEventDestroy_v2 (RawEvent);
            event_record = cuEventRecord (RawEvent, RawStream);
            event_query = cuEventQuery (RawEvent);
            event_elapsed_time = cuEventElapsedTime (*mut f32, RawEvent, RawEvent);
            event_synchronize = cuEventSynchronize (RawEvent);
            module_load_data = cuModuleLoadDataEx (*mut RawModule, *const c_void, c_uint, *mut c_int, *mut *mut c_void);
            module_unload = cuModuleUnload (RawModule);
            module_get_function = cuModuleGetFunction (*mut RawFunction, RawModule, *const c_char);
            func_get_attribute = cuFuncGetAttribute (*mut c_int, c_int, RawFunction);
            func_set_attribute = cuFuncSetAttribute (RawFunction, c_int, c_int);
            link_create = cuLinkCreate_v2 (c_uint, *mut c_int, *mut *mut c_void, *mut RawLink);
            link_add_data = cuLinkAddData_v2
                (RawLink, c_int, *const c_void, usize, *const c_char, c_uint, *mut c_int, *mut *mut c_void);
            link_complete = cuLinkComplete (RawLink, *mut *mut c_void, *mut usize);
            link_destroy = cuLinkDestroy (RawLink);
            launch_kernel = cuLaunchKernel (
                RawFunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, RawStream, *const *const c_void,
                *mut *mut c_void
            );
            @optional
            func_get_param_info = cuFuncGetParamInfo (RawFunction, usize, *mut usize, *mut usize);
            texture_create = cuTexObjectCreate (*mut u64, *const TextureResource, *const TextureDesc, *const c_void);
            texture_destroy = cuTexObjectDestroy (u64);
        }
    };
}

/// Gives the list of the functions for graphs to a macro. Drivers have all of them from 12.0 on.
#[macro_export]
macro_rules! graph_functions {
    ($callback:ident $($head:tt)*) => {
        $callback! {
            $($head)*
            create = cuGraphCreate (*mut RawGraph, c_uint);
            add_kernel = cuGraphAddKernelNode_v2
                (*mut RawGraphNode, RawGraph, *const RawGraphNode, usize, *const KernelNode);
            add_words = cuGraphAddBatchMemOpNode
                (*mut RawGraphNode, RawGraph, *const RawGraphNode, usize, *const WordsNode);
            set_words = cuGraphExecBatchMemOpNodeSetParams (RawGraphExec, RawGraphNode, *const WordsNode);
            instantiate = cuGraphInstantiateWithFlags (*mut RawGraphExec, RawGraph, u64);
            set_kernel = cuGraphExecKernelNodeSetParams_v2 (RawGraphExec, RawGraphNode, *const KernelNode);
            launch = cuGraphLaunch (RawGraphExec, RawStream);
            destroy = cuGraphDestroy (RawGraph);
            destroy_exec = cuGraphExecDestroy (RawGraphExec);
        }
    };
}

/// Gives the list of functions to a macro that Cloom does not call, only measures beside those that it calls.
#[macro_export]
macro_rules! measured_functions {
    ($callback:ident $($head:tt)*) => {
        $callback! {
            $($head)*
            stream_query = cuStreamQuery (RawStream);
            stream_write_value_32 = cuStreamWriteValue32_v2 (RawStream, u64, u32, c_uint);
            graph_node_set_enabled = cuGraphNodeSetEnabled (RawGraphExec, RawGraphNode, c_uint);
        }
    };
}
