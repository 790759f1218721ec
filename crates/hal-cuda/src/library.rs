//! The driver's library: loads `libcuda.so.1` and looks its functions up.
//!
//! Nothing is linked: where the library is missing, loading it fails at once and the reason is data. It is loaded and
//! initialised once in a process and stays until the process ends. CUDA does not survive a fork, so a child of a
//! process that has initialised it is refused.

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// What each function returns: `CUresult`.
pub type Code = c_uint;
/// A device's number in the driver.
pub type RawDevice = c_int;
/// An address in device memory.
pub type Address = u64;

/// Declares a type of handles of the driver.
macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(transparent)]
        pub struct $name(pub *mut c_void);

        // SAFETY: the driver's functions take its handles on any thread.
        unsafe impl Send for $name {}
        // SAFETY: as above.
        unsafe impl Sync for $name {}

        impl $name {
            /// No object.
            pub const NULL: $name = $name(std::ptr::null_mut());
        }
    )*};
}

handles! {
    /// A context.
    RawContext
    /// A stream.
    RawStream
    /// An event.
    RawEvent
    /// A loaded module.
    RawModule
    /// A function of a module.
    RawFunction
    /// A linker that makes device code.
    RawLink
    /// A pool of memory.
    RawPool
    /// A graph.
    RawGraph
    /// A graph that can be launched.
    RawGraphExec
    /// A node of a graph.
    RawGraphNode
}

/// A kernel of a graph: `CUDA_KERNEL_NODE_PARAMS`.
#[repr(C)]
pub struct KernelNode {
    /// What runs.
    pub function: RawFunction,
    /// Groups of the grid.
    pub groups: [c_uint; 3],
    /// Work-items of a group.
    pub local: [c_uint; 3],
    /// Bytes of local memory.
    pub local_size: c_uint,
    /// The addresses of the arguments.
    pub parameters: *const *const c_void,
    /// Null.
    pub extra: *mut *mut c_void,
    /// Null, as there is a function.
    pub kernel: *mut c_void,
    /// Null: the current one.
    pub context: *mut c_void,
}

/// A word that the GPU writes: `CUstreamBatchMemOpParams`.
#[repr(C)]
pub struct WriteValue {
    /// 5: a word of 64 bits is written.
    pub operation: c_uint,
    /// Where.
    pub address: u64,
    /// What.
    pub value: u64,
    /// 0: behind all that was written before.
    pub flags: c_uint,
    /// Zeros.
    pub reserved: [u64; 2],
}

/// Words of a graph: `CUDA_BATCH_MEM_OP_NODE_PARAMS`.
#[repr(C)]
pub struct WordsNode {
    /// Whose memory it is.
    pub context: RawContext,
    /// How many.
    pub count: c_uint,
    /// Their addresses and values.
    pub words: *const WriteValue,
    /// 0
    pub flags: c_uint,
}

/// Rows of pitched memory, of `CUDA_RESOURCE_DESC`.
#[repr(C)]
pub struct Rows {
    /// Where the first one begins.
    pub address: Address,
    /// `CUarray_format`
    pub format: c_uint,
    /// Channels of an element.
    pub channels: c_uint,
    /// Elements of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Bytes from row to row.
    pub pitch: usize,
}

/// What a texture is of: `CUDA_RESOURCE_DESC`.
#[repr(C)]
pub struct TextureResource {
    /// 3: pitched memory.
    kind: c_uint,
    rows: Rows,
    /// Zeros: the union has 128 bytes.
    reserved: [u64; 11],
    /// 0
    flags: c_uint,
}

impl TextureResource {
    /// That of rows.
    pub fn of_rows(rows: Rows) -> TextureResource {
        TextureResource { kind: 3, rows, reserved: [0; 11], flags: 0 }
    }
}

const _: () = assert!(size_of::<TextureResource>() == 8 + 128 + 8);

/// How a texture is read: `CUDA_TEXTURE_DESC`.
#[repr(C)]
pub struct TextureDesc {
    /// 1: coordinates are clamped to the edge.
    address_modes: [c_uint; 3],
    /// 1: a linear filter.
    filter: c_uint,
    /// 0: coordinates are not normalised, and integers are read as fractions of their greatest.
    flags: c_uint,
    /// Zeros: no levels, no borders.
    reserved: [u32; 21],
}

const _: () = assert!(size_of::<TextureDesc>() == 104);

impl TextureDesc {
    /// Filtered linearly.
    pub fn linear() -> TextureDesc {
        TextureDesc { address_modes: [1; 3], filter: 1, flags: 0, reserved: [0; 21] }
    }
}

/// Who may access a pool's memory: `CUmemAccessDesc`.
#[repr(C)]
pub struct PoolAccess {
    /// 1: a device
    pub location: c_int,
    /// of this number.
    pub device: RawDevice,
    /// 0: no access; 3: to read and to write.
    pub flags: c_int,
}

/// What a pool's memory is: `CUmemPoolProps`.
#[repr(C)]
pub struct PoolProperties {
    /// 1: memory that stays where it is.
    pub kind: c_int,
    /// 0: other processes do not get it.
    pub handles: c_int,
    /// 1: on the device
    pub location: c_int,
    /// of this number.
    pub device: RawDevice,
    /// Null.
    pub security: *mut c_void,
    /// Zeros.
    pub reserved: [u64; 8],
}

/// A copy of rows: `CUDA_MEMCPY2D`.
#[repr(C)]
pub struct Copy2d {
    /// From where.
    pub from: Side2d,
    /// To where.
    pub to: Side2d,
    /// Bytes of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// One side of a [`Copy2d`].
#[repr(C)]
pub struct Side2d {
    /// Bytes before the first row's begin, and rows before it: zeros.
    pub origin: [usize; 2],
    /// 2: memory of the device
    pub kind: c_uint,
    /// and not at this address of the host,
    pub host: *mut c_void,
    /// but at this one,
    pub device: Address,
    /// and in no array.
    pub array: *mut c_void,
    /// Bytes from row to row.
    pub pitch: usize,
}

/// Why there are no devices, or one device less.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Absent {
    /// The driver is not installed.
    #[error("the library of NVIDIA's driver does not load ({0}); install the driver")]
    NoLibrary(String),
    /// The library is too old: it lacks a function.
    #[error("NVIDIA's driver lacks {0}; install version 525 or later")]
    NoSymbol(&'static str),
    /// The driver does not start.
    #[error("NVIDIA's driver does not start: {text} (error {code}); {}", advice(*code))]
    NoDriver {
        /// Its error.
        code: u32,
        /// The error's name.
        text: String,
    },
    /// There is a driver, and no GPU that this process may use.
    #[error("NVIDIA's driver finds no GPU; see that nvidia-smi lists one, and what CUDA_VISIBLE_DEVICES hides")]
    NoDevice,
    /// A GPU that is older than what code is made for.
    #[error("{name} has compute capability {}.{}, and 7.0 is needed; use a later GPU", capability / 10, capability % 10)]
    TooOld {
        /// The GPU's name.
        name: String,
        /// Ten times its compute capability.
        capability: u32,
    },
    /// A GPU that computes for nobody (compute mode "prohibited").
    #[error("{name} is closed to programs; open it by nvidia-smi --compute-mode=0")]
    Prohibited {
        /// The GPU's name.
        name: String,
    },
    /// A GPU of which the driver does not say what it is.
    #[error("GPU {ordinal} does not say what it is: {why}; see what nvidia-smi says about it")]
    Unknown {
        /// Its number.
        ordinal: i32,
        /// The error.
        why: String,
    },
    /// This process is a forked child of one that has used CUDA.
    #[error("this process was forked by one that uses a GPU; start it anew, or use the GPU after the fork only")]
    Forked,
}

/// What to do about an error of the driver at its start.
fn advice(code: u32) -> &'static str {
    match code {
        34 => "the library is a stub for linking: take its folder out of LD_LIBRARY_PATH",
        803 | 804 => "library and kernel module do not fit together: restart the machine, or install the driver again",
        802 => "the fabric manager of the machine is not ready yet: start nvidia-fabricmanager",
        _ => "see what nvidia-smi says",
    }
}

/// Declares the table of functions. Those after `@optional` may be missing.
macro_rules! table {
    (
        $($name:ident = $symbol:literal ($($arg:ty),*);)*
        @optional
        $($maybe:ident = $maybe_symbol:literal ($($maybe_arg:ty),*);)*
    ) => {
        /// The functions of the driver that are used.
        #[allow(missing_docs, reason = "they are the driver's, under its names")]
        pub struct Table {
            $(pub $name: unsafe extern "C" fn($($arg),*) -> Code,)*
            $(pub $maybe: Option<unsafe extern "C" fn($($maybe_arg),*) -> Code>,)*
        }

        impl Table {
            fn look_up(library: &Library) -> Result<Table, Absent> {
                Ok(Table {
                    $(
                        // SAFETY: the signature is that of the driver's header; the library stays loaded.
                        $name: *unsafe { library.get(concat!($symbol, "\0").as_bytes()) }
                            .map_err(|_| Absent::NoSymbol($symbol))?,
                    )*
                    $(
                        // SAFETY: as above.
                        $maybe: unsafe { library.get(concat!($maybe_symbol, "\0").as_bytes()) }.ok().map(|f| *f),
                    )*
                })
            }
        }
    };
}

table! {
    init = "cuInit" (c_uint);
    driver_get_version = "cuDriverGetVersion" (*mut c_int);
    get_error_name = "cuGetErrorName" (Code, *mut *const c_char);
    device_get_count = "cuDeviceGetCount" (*mut c_int);
    device_get = "cuDeviceGet" (*mut RawDevice, c_int);
    device_get_name = "cuDeviceGetName" (*mut c_char, c_int, RawDevice);
    device_get_uuid = "cuDeviceGetUuid" (*mut [u8; 16], RawDevice);
    device_get_attribute = "cuDeviceGetAttribute" (*mut c_int, c_int, RawDevice);
    device_can_access_peer = "cuDeviceCanAccessPeer" (*mut c_int, RawDevice, RawDevice);
    device_total_mem = "cuDeviceTotalMem_v2" (*mut usize, RawDevice);
    primary_retain = "cuDevicePrimaryCtxRetain" (*mut RawContext, RawDevice);
    primary_release = "cuDevicePrimaryCtxRelease_v2" (RawDevice);
    ctx_get_current = "cuCtxGetCurrent" (*mut RawContext);
    ctx_set_current = "cuCtxSetCurrent" (RawContext);
    mem_alloc = "cuMemAlloc_v2" (*mut Address, usize);
    mem_alloc_managed = "cuMemAllocManaged" (*mut Address, usize, c_uint);
    mem_free = "cuMemFree_v2" (Address);
    pool_create = "cuMemPoolCreate" (*mut RawPool, *const PoolProperties);
    pool_destroy = "cuMemPoolDestroy" (RawPool);
    pool_set_attribute = "cuMemPoolSetAttribute" (RawPool, c_int, *mut c_void);
    pool_set_access = "cuMemPoolSetAccess" (RawPool, *const PoolAccess, usize);
    mem_alloc_from_pool = "cuMemAllocFromPoolAsync" (*mut Address, usize, RawPool, RawStream);
    mem_free_async = "cuMemFreeAsync" (Address, RawStream);
    mem_host_alloc = "cuMemHostAlloc" (*mut *mut c_void, usize, c_uint);
    mem_free_host = "cuMemFreeHost" (*mut c_void);
    mem_get_address_range = "cuMemGetAddressRange_v2" (*mut Address, *mut usize, Address);
    pointer_get_attribute = "cuPointerGetAttribute" (*mut c_void, c_int, Address);
    memcpy_to_device = "cuMemcpyHtoDAsync_v2" (Address, *const c_void, usize, RawStream);
    memcpy_to_host = "cuMemcpyDtoHAsync_v2" (*mut c_void, Address, usize, RawStream);
    memcpy_on_device = "cuMemcpyDtoDAsync_v2" (Address, Address, usize, RawStream);
    memcpy_peer = "cuMemcpyPeerAsync" (Address, RawContext, Address, RawContext, usize, RawStream);
    memcpy_2d = "cuMemcpy2DAsync_v2" (*const Copy2d, RawStream);
    memset_8 = "cuMemsetD8Async" (Address, u8, usize, RawStream);
    memset_16 = "cuMemsetD16Async" (Address, u16, usize, RawStream);
    memset_32 = "cuMemsetD32Async" (Address, c_uint, usize, RawStream);
    stream_create = "cuStreamCreate" (*mut RawStream, c_uint);
    stream_destroy = "cuStreamDestroy_v2" (RawStream);
    stream_synchronize = "cuStreamSynchronize" (RawStream);
    stream_write_value = "cuStreamWriteValue64_v2" (RawStream, u64, u64, c_uint);
    stream_wait_value = "cuStreamWaitValue32_v2" (RawStream, u64, u32, c_uint);
    event_create = "cuEventCreate" (*mut RawEvent, c_uint);
    event_destroy = "cuEventDestroy_v2" (RawEvent);
    event_record = "cuEventRecord" (RawEvent, RawStream);
    event_query = "cuEventQuery" (RawEvent);
    event_elapsed_time = "cuEventElapsedTime" (*mut f32, RawEvent, RawEvent);
    event_synchronize = "cuEventSynchronize" (RawEvent);
    module_load_data = "cuModuleLoadDataEx" (*mut RawModule, *const c_void, c_uint, *mut c_int, *mut *mut c_void);
    module_unload = "cuModuleUnload" (RawModule);
    module_get_function = "cuModuleGetFunction" (*mut RawFunction, RawModule, *const c_char);
    func_get_attribute = "cuFuncGetAttribute" (*mut c_int, c_int, RawFunction);
    func_set_attribute = "cuFuncSetAttribute" (RawFunction, c_int, c_int);
    link_create = "cuLinkCreate_v2" (c_uint, *mut c_int, *mut *mut c_void, *mut RawLink);
    link_add_data = "cuLinkAddData_v2"
        (RawLink, c_int, *const c_void, usize, *const c_char, c_uint, *mut c_int, *mut *mut c_void);
    link_complete = "cuLinkComplete" (RawLink, *mut *mut c_void, *mut usize);
    link_destroy = "cuLinkDestroy" (RawLink);
    launch_kernel = "cuLaunchKernel" (
        RawFunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, RawStream, *const *const c_void,
        *mut *mut c_void
    );
    @optional
    func_get_param_info = "cuFuncGetParamInfo" (RawFunction, usize, *mut usize, *mut usize);
    texture_create = "cuTexObjectCreate" (*mut u64, *const TextureResource, *const TextureDesc, *const c_void);
    texture_destroy = "cuTexObjectDestroy" (u64);
    graph_create = "cuGraphCreate" (*mut RawGraph, c_uint);
    graph_add_kernel = "cuGraphAddKernelNode_v2"
        (*mut RawGraphNode, RawGraph, *const RawGraphNode, usize, *const KernelNode);
    graph_add_words = "cuGraphAddBatchMemOpNode"
        (*mut RawGraphNode, RawGraph, *const RawGraphNode, usize, *const WordsNode);
    graph_set_words = "cuGraphExecBatchMemOpNodeSetParams" (RawGraphExec, RawGraphNode, *const WordsNode);
    graph_instantiate = "cuGraphInstantiateWithFlags" (*mut RawGraphExec, RawGraph, u64);
    graph_set_kernel = "cuGraphExecKernelNodeSetParams_v2" (RawGraphExec, RawGraphNode, *const KernelNode);
    graph_launch = "cuGraphLaunch" (RawGraphExec, RawStream);
    graph_destroy = "cuGraphDestroy" (RawGraph);
    graph_destroy_exec = "cuGraphExecDestroy" (RawGraphExec);
}

/// The functions for graphs, which drivers have from 12.0 on.
#[derive(Clone, Copy)]
#[allow(missing_docs, reason = "they are the driver's, under its names")]
pub struct GraphCalls {
    pub create: unsafe extern "C" fn(*mut RawGraph, c_uint) -> Code,
    pub add_kernel:
        unsafe extern "C" fn(*mut RawGraphNode, RawGraph, *const RawGraphNode, usize, *const KernelNode) -> Code,
    pub add_words:
        unsafe extern "C" fn(*mut RawGraphNode, RawGraph, *const RawGraphNode, usize, *const WordsNode) -> Code,
    pub set_words: unsafe extern "C" fn(RawGraphExec, RawGraphNode, *const WordsNode) -> Code,
    pub instantiate: unsafe extern "C" fn(*mut RawGraphExec, RawGraph, u64) -> Code,
    pub set_kernel: unsafe extern "C" fn(RawGraphExec, RawGraphNode, *const KernelNode) -> Code,
    pub launch: unsafe extern "C" fn(RawGraphExec, RawStream) -> Code,
    pub destroy: unsafe extern "C" fn(RawGraph) -> Code,
    pub destroy_exec: unsafe extern "C" fn(RawGraphExec) -> Code,
}

impl Table {
    /// All of those for graphs, if the driver has them.
    pub fn graphs(&self) -> Option<GraphCalls> {
        Some(GraphCalls {
            create: self.graph_create?,
            add_kernel: self.graph_add_kernel?,
            add_words: self.graph_add_words?,
            set_words: self.graph_set_words?,
            instantiate: self.graph_instantiate?,
            set_kernel: self.graph_set_kernel?,
            launch: self.graph_launch?,
            destroy: self.graph_destroy?,
            destroy_exec: self.graph_destroy_exec?,
        })
    }
}

/// The initialised driver.
pub struct Driver {
    /// Its functions.
    pub table: Table,
    /// Its version of the interface: 12040 is 12.4.
    pub version: u32,
}

/// Whether this process has begun to initialise the driver.
static BEGUN: AtomicBool = AtomicBool::new(false);
/// Whether it is a child of one that had.
static FORKED: AtomicBool = AtomicBool::new(false);

extern "C" fn after_fork() {
    FORKED.store(BEGUN.load(Ordering::Relaxed), Ordering::Relaxed);
}

/// Whether this process may not use the driver, because it was forked.
pub fn is_forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// The driver, loaded and initialised by the first call.
pub fn driver() -> Result<&'static Driver, Absent> {
    static DRIVER: OnceLock<Result<Driver, Absent>> = OnceLock::new();
    if is_forked() {
        return Err(Absent::Forked);
    }
    DRIVER.get_or_init(start).as_ref().map_err(Clone::clone)
}

fn start() -> Result<Driver, Absent> {
    BEGUN.store(true, Ordering::Relaxed);
    // Before all else, of which a child must not wait for the rest.
    // SAFETY: the function only stores a flag. If it cannot be registered, a forked child gets the driver's errors.
    unsafe { libc::pthread_atfork(None, None, Some(after_fork)) };
    // SAFETY: the library's initialisers are the driver's own, which any process may run.
    let library = unsafe { Library::open(Some("libcuda.so.1"), RTLD_NOW | RTLD_LOCAL) }.map_err(|e| {
        BEGUN.store(false, Ordering::Relaxed);
        Absent::NoLibrary(e.to_string())
    })?;
    let table = Table::look_up(&library)?;
    // It must stay: the driver has threads of its own.
    std::mem::forget(library);
    let check = |code| match code {
        0 => Ok(()),
        100 => Err(Absent::NoDevice),
        code => Err(Absent::NoDriver { code, text: error_name(&table, code) }),
    };
    // SAFETY: 0 is the only value of the flags.
    check(unsafe { (table.init)(0) })?;
    let mut version = 0;
    // SAFETY: it writes the number.
    check(unsafe { (table.driver_get_version)(&mut version) })?;
    Ok(Driver { table, version: version.unsigned_abs() })
}

/// The name of an error: `CUDA_ERROR_…`.
pub fn error_name(table: &Table, code: Code) -> String {
    let mut name = std::ptr::null();
    // SAFETY: it writes a pointer to a constant string, or null.
    let known = unsafe { (table.get_error_name)(code, &mut name) } == 0 && !name.is_null();
    match known {
        // SAFETY: a zero-terminated constant.
        true => unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned(),
        false => format!("CUDA error {code}"),
    }
}
