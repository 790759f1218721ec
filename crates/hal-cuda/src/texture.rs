//! Textures: rows of a GPU's memory, which its texture units filter.
//!
//! The input is a description of an image; the output is a handle. A texture here is a view of *pitched memory*, so
//! that kernels, copies and maps go on using the image's rows as they are. Filtering a CUDA array, whose elements lie
//! in blocks, is no faster (H100, 2,048 by 2,048 elements of 4 bytes turned by 17 degrees: 19.0 us from rows, 18.0 from
//! an array; four samples for each: 24.9 and 25.6), and copying that image into an array takes 42 us. An array is
//! faster only where the samples are far apart: every fourth element of each dimension, turned, takes 56 us from rows
//! and 36 from an array.
//!
//! Pitched memory has two dimensions. The slices and layers of an image lie one below the other in it; the kernel's
//! code finds them, and blends two slices. Nothing is lost by that: a texture unit takes twice as long for three
//! dimensions as for two, too.
//!
//! For texels of 16 bytes, a texture unit takes four times as long, so that loads are faster (three dimensions: 1.4 ms
//! against 3.3).

use crate::context::Gpu;
use crate::library::{Rows, TextureDesc, TextureResource};
use cloom_hal::{Memory, Texture, TextureChannel, TextureRows};
use std::sync::Arc;

/// Bytes of the largest texel.
const MAX_TEXEL_BYTES: u32 = 8;
/// The alignment of a texture's first byte (`CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT`) and of each row
/// (`CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT`), on all GPUs.
const BASE_ALIGN_BYTES: u64 = 512;
const ROW_ALIGN_BYTES: u64 = 32;
/// The largest texture of pitched memory, on all GPUs.
const MAX_WIDTH: u64 = 1 << 16;
const MAX_ROWS: u64 = 65_000;

/// A texture of a GPU.
pub struct CudaTexture {
    gpu: Arc<Gpu>,
    handle: u64,
}

/// `CUarray_format`
fn format(channel: TextureChannel) -> u32 {
    match channel {
        TextureChannel::UnormInt8 => 1,
        TextureChannel::UnormInt16 => 2,
        TextureChannel::SnormInt8 => 8,
        TextureChannel::SnormInt16 => 9,
        TextureChannel::HalfFloat => 0x10,
        TextureChannel::Float => 0x20,
    }
}

impl CudaTexture {
    /// A texture of rows in memory of this GPU. `None` if its texture units cannot read them, or would be slower than
    /// loads.
    pub fn new(gpu: &Arc<Gpu>, memory: &dyn Memory, rows: &TextureRows) -> Option<CudaTexture> {
        let address = memory.device_address() + rows.start;
        // The driver refuses rows outside of these limits; larger texels are slower than loads.
        let can_be = address.is_multiple_of(BASE_ALIGN_BYTES)
            && rows.row_pitch.is_multiple_of(ROW_ALIGN_BYTES)
            && rows.width <= MAX_WIDTH
            && rows.rows <= MAX_ROWS
            && matches!(rows.channels, 1 | 2 | 4)
            && rows.channels * rows.channel.size() <= MAX_TEXEL_BYTES;
        if !can_be {
            return None;
        }
        let view = Rows {
            address,
            format: format(rows.channel),
            channels: rows.channels,
            width: rows.width as usize,
            height: rows.rows as usize,
            pitch: rows.row_pitch as usize,
        };
        let (resource, desc) = (TextureResource::of_rows(view), TextureDesc::linear());
        let (current, mut handle) = (gpu.enter().ok()?, 0);
        let create = current.table().texture_create?;
        // SAFETY: it writes a handle and reads the two descriptions. The memory outlives the kernels that sample it.
        let code = unsafe { create(&mut handle, &resource, &desc, std::ptr::null()) };
        current.check("cuTexObjectCreate", code).ok()?;
        Some(CudaTexture { gpu: gpu.clone(), handle })
    }
}

impl Texture for CudaTexture {
    fn handle(&self) -> u64 {
        self.handle
    }
}

impl Drop for CudaTexture {
    fn drop(&mut self) {
        self.gpu.release("cuTexObjectDestroy", |table| match table.texture_destroy {
            // SAFETY: made by `new`, and no kernel uses it any more.
            Some(destroy) => unsafe { destroy(self.handle) },
            None => 0,
        });
    }
}
