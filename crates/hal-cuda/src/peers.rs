//! Copies from GPU to GPU: over the link between the two (NVLink, PCIe) where there is one that works, else through the
//! host, which the driver does by itself.
//!
//! The input is a range of memory on each of two GPUs; the bytes have been copied when `copy` returns. Before the first
//! copy between two GPUs, each one's memory pool grants access to the other GPU. Drivers have bugs there:
//!
//! * If one pool grants access and the other does not, copies into the first one fail: with a fault of the copy engine,
//!   after which the GPU is lost (580, two GPUs that copied from each other), or silently, without the bytes (590, as
//!   reported). So both pools grant access, or neither.
//! * Because such a copy may fail silently, a copy in each direction is tried first. If its bytes do not arrive, access
//!   is revoked.

use crate::context::Gpu;
use crate::library::{Address, PoolAccess, RawDevice};
use crate::memory::DeviceBlock;
use crate::transfer::Staging;
use cloom_cuda_abi::constants::{
    MEM_ACCESS_FLAGS_PROT_NONE, MEM_ACCESS_FLAGS_PROT_READWRITE, MEM_LOCATION_TYPE_DEVICE,
};
use cloom_hal::HalError;
use std::sync::Arc;

/// Bytes of the copy that is tried first.
const PROBE_BYTES: usize = 64 << 10;
/// The byte that this copy has everywhere, and the byte that it overwrites.
const PATTERNS: [u8; 2] = [0x5b, 0xa4];

/// Copies from another GPU, and waits for it. Callers have checked the ranges.
pub fn copy(
    (gpu, to): (&Arc<Gpu>, Address),
    (other, from): (&Arc<Gpu>, Address),
    size: u64,
    staging: &Staging,
) -> Result<(), HalError> {
    link(gpu, other, staging);
    transfer((gpu, to), (other, from), size)
}

/// Opens the link between two GPUs, unless that was tried before. Other copies between the two wait meanwhile.
fn link(a: &Arc<Gpu>, b: &Arc<Gpu>, staging: &Staging) {
    // The GPU with the smaller number has the list.
    let [first, second] = if a.device < b.device { [a, b] } else { [b, a] };
    let mut linked = first.linked.lock();
    if linked.contains(&second.device) {
        return;
    }
    // Before the attempt: a link that does not work is not tried again. The lock keeps other copies from using it until
    // it is known to work.
    linked.push(second.device);
    let pairs = [(first, second), (second, first)];
    if !pairs.iter().all(|(gpu, peer)| can_access(gpu, peer)) {
        return;
    }
    let admitted =
        pairs.iter().all(|(owner, guest)| set_access(owner, guest.device, MEM_ACCESS_FLAGS_PROT_READWRITE).is_ok());
    // The pair is undone as a whole, since one pool that grants access alone is what drivers fail with.
    if !admitted || !pairs.iter().all(|(to, from)| arrives(to, from, staging).unwrap_or(false)) {
        for (owner, guest) in pairs {
            // If this fails, there is no link, and so no access to revoke.
            let _ = set_access(owner, guest.device, MEM_ACCESS_FLAGS_PROT_NONE);
        }
    }
}

/// Whether there is a link by which a GPU can access the memory of another one.
fn can_access(gpu: &Gpu, peer: &Gpu) -> bool {
    let mut can = 0;
    // SAFETY: it writes a number; the devices are some that the driver named.
    let code = unsafe { (gpu.driver.table.device_can_access_peer)(&mut can, gpu.device, peer.device) };
    gpu.enter().is_ok_and(|current| current.check("cuDeviceCanAccessPeer", code).is_ok()) && can != 0
}

/// Sets the access that another GPU has to the owner's memory pool.
fn set_access(owner: &Gpu, guest: RawDevice, flags: i32) -> Result<(), HalError> {
    let current = owner.enter()?;
    let pool = current.pool().ok_or_else(|| HalError::Device("it has no pool of memory".into()))?;
    let access = PoolAccess { location: MEM_LOCATION_TYPE_DEVICE, device: guest, flags };
    // SAFETY: it reads the access; the pool lives as long as the GPU.
    let code = unsafe { (current.table().pool_set_access)(pool, &access, 1) };
    Ok(current.check("cuMemPoolSetAccess", code)?)
}

/// Whether the bytes of a copy arrive.
fn arrives(to: &Arc<Gpu>, from: &Arc<Gpu>, staging: &Staging) -> Result<bool, HalError> {
    let [copied, overwritten] = PATTERNS;
    // The target has another byte first, or old bytes could pass for the copied ones.
    let (source, target) = (filled(from, copied)?, filled(to, overwritten)?);
    transfer((to, target.address()), (from, source.address()), PROBE_BYTES as u64)?;
    let mut found = vec![overwritten; PROBE_BYTES];
    staging.read(to, target.address(), &mut found)?;
    Ok(found.iter().all(|&byte| byte == copied))
}

/// A block of a GPU's memory that has this byte everywhere.
fn filled(gpu: &Arc<Gpu>, byte: u8) -> Result<DeviceBlock, HalError> {
    let block = DeviceBlock::allocate(gpu, PROBE_BYTES as u64)?;
    let current = gpu.enter()?;
    let stream = current.stream()?;
    block.fill(&current, stream.raw, 0, PROBE_BYTES, &[byte])?;
    current.synchronize(stream.raw)?;
    Ok(block)
}

/// Copies over the route that the driver chooses.
fn transfer((gpu, to): (&Gpu, Address), (other, from): (&Gpu, Address), size: u64) -> Result<(), HalError> {
    let (here, there) = (gpu.context()?, other.context()?);
    let current = gpu.enter()?;
    let stream = current.stream()?;
    // SAFETY: both ranges lie in live memory, which callers check, and the memory lives until the stream has been
    // waited for.
    let code = unsafe { (current.table().memcpy_peer)(to, here, from, there, size as usize, stream.raw) };
    let begun = current.check("cuMemcpyPeerAsync", code);
    let ended = current.synchronize(stream.raw);
    Ok(begun.and(ended)?)
}
