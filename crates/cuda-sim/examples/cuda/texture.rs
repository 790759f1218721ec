//! Textures of pitched memory with a linear filter.

use crate::code::traces;
use crate::{Code, INVALID_VALUE, SUCCESS, driver, fallible, put, unless_lost, with_memory};
use cloom_cuda_sim::ptx::{Channel, Texture};
use std::ffi::{c_uint, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

/// `CUDA_RESOURCE_DESC` of pitched memory.
#[repr(C)]
pub struct Resource {
    kind: c_uint,
    address: u64,
    format: c_uint,
    channels: c_uint,
    width: usize,
    height: usize,
    pitch: usize,
    reserved: [u64; 11],
    flags: c_uint,
}

/// `CUDA_TEXTURE_DESC`
#[repr(C)]
pub struct Desc {
    address_modes: [c_uint; 3],
    filter: c_uint,
    flags: c_uint,
    reserved: [u32; 21],
}

/// `CU_RESOURCE_TYPE_PITCH2D`
const PITCHED: c_uint = 3;
/// `CU_TR_ADDRESS_MODE_CLAMP`, `CU_TR_FILTER_MODE_LINEAR`
const CLAMP: c_uint = 1;
const LINEAR: c_uint = 1;
/// What the first row is aligned to, and each.
const ALIGN: u64 = 512;
const ROW_ALIGN: usize = 32;
/// Limits of width, height and pitch.
const MOST: [usize; 3] = [131_072, 65_000, 2_097_120];

/// The texture that is described, if it can be.
fn described(resource: &Resource, desc: &Desc) -> Option<Texture> {
    let channel = match resource.format {
        1 => Channel::Unorm(1),
        2 => Channel::Unorm(2),
        8 => Channel::Snorm(1),
        9 => Channel::Snorm(2),
        0x10 => Channel::Float(2),
        0x20 => Channel::Float(4),
        _ => return None,
    };
    let &Resource { address, channels, width, height, pitch, .. } = resource;
    let good = (resource.kind, resource.flags, resource.reserved) == (PITCHED, 0, [0; 11])
        && desc.address_modes[..2] == [CLAMP; 2]
        && (desc.filter, desc.flags, desc.reserved) == (LINEAR, 0, [0; 21])
        && address.is_multiple_of(ALIGN)
        && pitch.is_multiple_of(ROW_ALIGN)
        && matches!(channels, 1 | 2 | 4)
        && [width, height, pitch].iter().zip(MOST).all(|(&size, most)| (1..=most).contains(&size));
    let (pitch, width, height) = (pitch as u64, width as u64, height as u64);
    good.then_some(Texture { address, pitch, width, height, channels, channel })
}

driver! {
    /// A texture.
    fn cuTexObjectCreate(texture: *mut u64, resource: *const Resource, desc: *const Desc, view: *const c_void) {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        // SAFETY: the caller's.
        let (Some(resource), Some(desc)) = (unsafe { (resource.as_ref(), desc.as_ref()) }) else {
            return INVALID_VALUE;
        };
        let Some(new) = described(resource, desc).filter(|_| view.is_null()) else { return INVALID_VALUE };
        if traces() {
            eprintln!("simulated GPU: a texture of {} by {}", new.width, new.height);
        }
        fallible(|| {
            let handle = COUNT.fetch_add(1, Ordering::Relaxed) + 1;
            with_memory(|memory| memory.textures.insert(handle, new));
            // SAFETY: the caller's.
            unsafe { put(texture, handle) }
        })
    }

    /// A kernel that samples it from now on faults.
    fn cuTexObjectDestroy(texture: u64) {
        unless_lost(|| match with_memory(|memory| memory.textures.remove(&texture)) {
            Some(_) => SUCCESS,
            None => INVALID_VALUE,
        })
    }
}
