//! Textures of pitched memory with a linear filter.

use crate::code::traces;
use crate::{driver, fallible, put, unless_lost, with_memory};
use cloom_cuda_abi::constants::{
    ADDRESS_MODE_CLAMP, ERROR_INVALID_VALUE, FILTER_MODE_LINEAR, RESOURCE_TYPE_PITCH2D, SUCCESS,
};
use cloom_cuda_abi::{Rows, TextureDesc, TextureResource};
use cloom_cuda_sim::ptx::{Channel, Texture};
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};

/// The alignment of the first row, and of the distance between rows.
const ALIGN: u64 = 512;
const ROW_ALIGN: usize = 32;
/// Limits of width, height and pitch.
const MAX_TEXTURE_SIZE: [usize; 3] = [131_072, 65_000, 2_097_120];

/// The texture of a description, if it is valid.
fn described(resource: &TextureResource, desc: &TextureDesc) -> Option<Texture> {
    let channel = match resource.rows.format {
        1 => Channel::Unorm(1),
        2 => Channel::Unorm(2),
        8 => Channel::Snorm(1),
        9 => Channel::Snorm(2),
        0x10 => Channel::Float(2),
        0x20 => Channel::Float(4),
        _ => return None,
    };
    let Rows { address, channels, width, height, pitch, .. } = resource.rows;
    let good = (resource.kind, resource.flags, resource.reserved) == (RESOURCE_TYPE_PITCH2D, 0, [0; 11])
        && desc.address_modes[..2] == [ADDRESS_MODE_CLAMP; 2]
        && (desc.filter, desc.flags, desc.reserved) == (FILTER_MODE_LINEAR, 0, [0; 21])
        && address.is_multiple_of(ALIGN)
        && pitch.is_multiple_of(ROW_ALIGN)
        && matches!(channels, 1 | 2 | 4)
        && [width, height, pitch].iter().zip(MAX_TEXTURE_SIZE).all(|(&size, most)| (1..=most).contains(&size));
    let (pitch, width, height) = (pitch as u64, width as u64, height as u64);
    good.then_some(Texture { address, pitch, width, height, channels, channel })
}

driver! {
    /// A texture.
    fn cuTexObjectCreate(texture: *mut u64, resource: *const TextureResource, desc: *const TextureDesc, view: *const c_void) {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        // SAFETY: `resource` and `desc` are null or point to live values, as CUDA asks of the caller.
        let (Some(resource), Some(desc)) = (unsafe { (resource.as_ref(), desc.as_ref()) }) else {
            return ERROR_INVALID_VALUE;
        };
        let Some(new) = described(resource, desc).filter(|_| view.is_null()) else { return ERROR_INVALID_VALUE };
        if traces() {
            eprintln!("simulated GPU: a texture of {} by {}", new.width, new.height);
        }
        fallible(|| {
            // Handles are not used again: a kernel with the handle of a texture that is gone finds none, and faults.
            let handle = COUNT.fetch_add(1, Ordering::Relaxed) + 1;
            with_memory(|memory| memory.textures.insert(handle, new));
            // SAFETY: `texture` is null or valid for writing, as CUDA asks of the caller.
            unsafe { put(texture, handle) }
        })
    }

    /// A kernel that samples the texture after this faults.
    fn cuTexObjectDestroy(texture: u64) {
        unless_lost(|| match with_memory(|memory| memory.textures.remove(&texture)) {
            Some(_) => SUCCESS,
            None => ERROR_INVALID_VALUE,
        })
    }
}
