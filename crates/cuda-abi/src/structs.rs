//! Structures that functions of the driver take. Each names the one of NVIDIA's header whose layout it has.

use crate::constants::{ADDRESS_MODE_CLAMP, FILTER_MODE_LINEAR, RESOURCE_TYPE_PITCH2D};
use crate::{Address, RawContext, RawDevice, RawFunction};
use std::ffi::{c_int, c_uint, c_void};

/// A kernel of a graph: `CUDA_KERNEL_NODE_PARAMS`.
#[derive(Debug)]
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
#[derive(Debug)]
#[repr(C)]
pub struct WriteValue {
    /// [`STREAM_MEM_OP_WRITE_VALUE_64`](crate::constants::STREAM_MEM_OP_WRITE_VALUE_64)
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
#[derive(Debug)]
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
#[derive(Debug)]
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
#[derive(Debug)]
#[repr(C)]
pub struct TextureResource {
    /// [`RESOURCE_TYPE_PITCH2D`]
    pub kind: c_uint,
    /// The memory.
    pub rows: Rows,
    /// Zeros: the union has 128 bytes.
    pub reserved: [u64; 11],
    /// 0
    pub flags: c_uint,
}

impl TextureResource {
    /// That of rows.
    pub fn of_rows(rows: Rows) -> TextureResource {
        TextureResource { kind: RESOURCE_TYPE_PITCH2D, rows, reserved: [0; 11], flags: 0 }
    }
}

/// How a texture is read: `CUDA_TEXTURE_DESC`.
#[derive(Debug)]
#[repr(C)]
pub struct TextureDesc {
    /// [`ADDRESS_MODE_CLAMP`]: coordinates are clamped to the edge.
    pub address_modes: [c_uint; 3],
    /// [`FILTER_MODE_LINEAR`]
    pub filter: c_uint,
    /// 0: coordinates are not normalised, and integers are read as fractions of their greatest.
    pub flags: c_uint,
    /// Zeros: no levels, no borders.
    pub reserved: [u32; 21],
}

impl TextureDesc {
    /// Filtered linearly.
    pub fn linear() -> TextureDesc {
        TextureDesc { address_modes: [ADDRESS_MODE_CLAMP; 3], filter: FILTER_MODE_LINEAR, flags: 0, reserved: [0; 21] }
    }
}

/// Who may access a pool's memory: `CUmemAccessDesc`.
#[derive(Debug)]
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
#[derive(Debug)]
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
#[derive(Debug)]
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
#[derive(Debug)]
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
