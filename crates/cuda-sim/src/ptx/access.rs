//! Memory accesses of a thread: which bytes an address means, loads, stores and atomic operations.
//!
//! In: a thread, the state that threads share, and the operands of an access. Out: loaded registers or stored bytes, or
//! a fault with the place and the address. Every access is checked: it must be aligned to its whole size, also as a
//! vector, and must lie in one block of memory.

use super::atomic;
use super::bytes::from_bytes;
use super::fault::Fault;
use super::memory::{self, CONST_START, LOCAL_START, SHARED_START};
use super::op::{Address, Atomic, Dst, Space, Src, Type};
use super::thread::{Common, Context, Thread};

/// The space that an address of a space, which may be the generic one, lies in, and the address there.
fn real_place(space: Space, address: u64) -> (Space, u64) {
    if space == Space::Generic { memory::resolve(address) } else { (space, address) }
}

impl Thread {
    /// The numeric address of an operand.
    fn address(&self, cx: &Context<'_>, common: &Common, space: Space, address: Address) -> u64 {
        let value = self.read(cx, common, address.base).wrapping_add_signed(address.offset);
        // A 32-bit register only reaches addresses of 32 bits.
        if address.narrow && !matches!(space, Space::Generic | Space::Global) { value & 0xFFFF_FFFF } else { value }
    }

    /// The bytes of an access that only reads.
    fn bytes<'b>(
        &'b self,
        cx: &'b Context<'_>,
        common: &'b Common,
        line: u32,
        space: Space,
        address: u64,
        size: u32,
    ) -> Result<&'b [u8], Fault> {
        let (real, offset) = real_place(space, address);
        let all: Option<&[u8]> = match real {
            Space::Global | Space::Generic => Some(cx.memory.bytes(offset)),
            Space::Shared => tail(&common.shared, offset, SHARED_START),
            Space::Local => tail(&self.local, offset, LOCAL_START),
            Space::Const => tail(cx.constants, offset, CONST_START),
            // The entry's frame is the first one, so that a generic address of its parameters is right in called
            // functions, too.
            Space::Param if space == Space::Generic => tail(&self.params, offset, 0),
            Space::Param => self.params.get(self.param_base..).and_then(|params| tail(params, offset, 0)),
        };
        match all.and_then(|all| all.get(..size as usize)) {
            // Before the bounds: an access that is misaligned and out of bounds is reported as misaligned.
            _ if offset % u64::from(size.max(1)) != 0 => {
                let place = self.place(line, common);
                Err(Fault::Misaligned { place, space: space.name(), address, size })
            }
            Some(bytes) => Ok(bytes),
            None => {
                let place = self.place(line, common);
                Err(Fault::Access { place, space: space.name(), address, size, write: false })
            }
        }
    }

    /// The bytes of an access that writes.
    fn bytes_mut<'b>(
        &'b mut self,
        cx: &'b mut Context<'_>,
        common: &'b mut Common,
        line: u32,
        space: Space,
        address: u64,
        size: u32,
    ) -> Result<&'b mut [u8], Fault> {
        let place = self.place(line, common);
        let (real, offset) = real_place(space, address);
        if offset % u64::from(size.max(1)) != 0 {
            return Err(Fault::Misaligned { place, space: space.name(), address, size });
        }
        let all: Option<&mut [u8]> = match real {
            Space::Global | Space::Generic => Some(cx.memory.bytes_mut(offset)),
            Space::Shared => tail_mut(&mut common.shared, offset, SHARED_START),
            Space::Local => tail_mut(&mut self.local, offset, LOCAL_START),
            Space::Param if space == Space::Param => {
                self.params.get_mut(self.param_base..).and_then(|params| tail_mut(params, offset, 0))
            }
            // Constants, and parameters by a generic address, are read only.
            Space::Param | Space::Const => None,
        };
        match all.and_then(|all| all.get_mut(..size as usize)) {
            Some(bytes) => Ok(bytes),
            None => Err(Fault::Access { place, space: space.name(), address, size, write: true }),
        }
    }

    /// Loads a scalar or a vector.
    pub(super) fn load(
        &mut self,
        cx: &Context<'_>,
        common: &Common,
        line: u32,
        (space, ty): (Space, Type),
        dst: &[Dst],
        address: Address,
    ) -> Result<(), Fault> {
        let address = self.address(cx, common, space, address);
        let size = ty.size();
        let bytes = self.bytes(cx, common, line, space, address, size * dst.len() as u32)?;
        let mut values = [0; 8];
        for (value, bytes) in values.iter_mut().zip(bytes.chunks_exact(size as usize)) {
            *value = ty.extend(from_bytes(bytes));
        }
        for (dst, value) in dst.iter().zip(values) {
            self.write(*dst, value);
        }
        Ok(())
    }

    /// Stores a scalar or a vector.
    pub(super) fn store(
        &mut self,
        cx: &mut Context<'_>,
        common: &mut Common,
        line: u32,
        (space, ty): (Space, Type),
        src: &[Src],
        address: Address,
    ) -> Result<(), Fault> {
        let address = self.address(cx, common, space, address);
        let size = ty.size() as usize;
        let mut values = [0; 8];
        for (value, src) in values.iter_mut().zip(src) {
            *value = self.read(cx, common, *src);
        }
        let bytes = self.bytes_mut(cx, common, line, space, address, (size * src.len()) as u32)?;
        for (bytes, value) in bytes.chunks_exact_mut(size).zip(values) {
            bytes.copy_from_slice(&value.to_le_bytes()[..size]);
        }
        Ok(())
    }

    /// Performs an atomic operation.
    pub(super) fn atomic(
        &mut self,
        cx: &mut Context<'_>,
        common: &mut Common,
        line: u32,
        op: &Atomic,
    ) -> Result<(), Fault> {
        let address = self.address(cx, common, op.space, op.address);
        // Read before the bytes are borrowed: local memory is a part of this thread.
        let (b, c) = (self.read(cx, common, op.b), self.read(cx, common, op.c));
        let size = op.ty.size();
        let bytes = self.bytes_mut(cx, common, line, op.space, address, size)?;
        let old = from_bytes(bytes);
        // The flushing of sums depends on where a generic address leads.
        let new = match real_place(op.space, address).0 {
            Space::Global => atomic::apply_global(op.op, op.ty, old, b, c),
            _ => atomic::apply(op.op, op.ty, old, b, c),
        };
        bytes.copy_from_slice(&new.to_le_bytes()[..size as usize]);
        if let Some(dst) = op.dst {
            self.write(dst, old);
        }
        Ok(())
    }
}

fn tail(all: &[u8], offset: u64, start: u64) -> Option<&[u8]> {
    all.get(usize::try_from(offset.checked_sub(start)?).ok()?..)
}

fn tail_mut(all: &mut [u8], offset: u64, start: u64) -> Option<&mut [u8]> {
    all.get_mut(usize::try_from(offset.checked_sub(start)?).ok()?..)
}
