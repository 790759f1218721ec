//! The argument block of a launch, from the arguments that are set.

use super::args::Arg;
use super::{Access, Kernel};
use crate::graph::packed::Packed;
use crate::memory::residency::AccessMode;
use crate::objects::context::ZeroedMemory;
use crate::status::{bail, ensure};
use crate::{MemFlags, Queue, Result};
use cloom_artifact::{KernelArg, KernelArgKind, KernelArtifact};
use cloom_ir::abi::{BLOCK_ALIGN, report};
use cloom_ir::{Hidden, KernelParam, ParamKind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Kernel {
    /// The current arguments as an argument block. `packed` is empty; it belongs to the caller, so that its buffers are
    /// not dropped under the lock, where dropping the last reference would call the application.
    pub(crate) fn pack(&self, artifact: &KernelArtifact, queue: &Queue, packed: &mut Packed) -> Result<()> {
        packed.space = queue.space();
        packed.migrates = self.program.context().has_device_memory();
        packed.local_size = artifact.local_size;
        packed.zero_local = self.program.context().zeroes(ZeroedMemory::LOCAL);
        packed.shares = self.indirect.load(Ordering::Relaxed) != 0;
        packed.block.resize(artifact.arg_block as usize, 0);
        let mut args = self.args.read();
        ensure!(
            artifact.args.len() == args.len() + artifact.hidden.len(),
            OutOfResources,
            "the code of the kernel has other arguments than its source"
        );
        let (shown, hidden) = artifact.args.split_at(args.len());
        for (i, at) in shown.iter().enumerate() {
            let Some(value) = args.get(i) else { return Err(self.unset(i)) };
            // Declared here, so that `bytes` may borrow them until they are copied.
            let (word, descriptor);
            let bytes: &[u8] = match (at.kind, value) {
                (KernelArgKind::Bytes, Arg::Bytes(bytes)) => bytes,
                (KernelArgKind::Buffer, Arg::Buffer(None)) => &[0; 8],
                (KernelArgKind::Buffer, Arg::Buffer(Some(buffer))) => {
                    // A kernel does not retain its buffers (`Kept`): the application may have released this one.
                    let Some(buffer) = buffer.upgrade() else { return Err(self.released(i)) };
                    word = buffer.device_address(packed.space)?.to_le_bytes();
                    packed.shares |= buffer.is_shared();
                    let param = &self.meta.params[i];
                    // If the kernel cannot write the buffer, its copies in other memories stay valid.
                    let only_reads = param.kind == ParamKind::Constant
                        || param.is_const
                        || buffer.flags().contains(MemFlags::READ_ONLY);
                    packed.buffers.push((buffer, if only_reads { AccessMode::Read } else { AccessMode::Update }));
                    &word
                }
                (KernelArgKind::Image, Arg::Buffer(Some(image))) => {
                    let Some(image) = image.upgrade() else { return Err(self.released(i)) };
                    word = image.descriptor_address(packed.space)?.to_le_bytes();
                    packed.add_image(image, image_access(&self.meta.params[i]));
                    &word
                }
                // Code for some machines takes the descriptor of an image by value, in the argument block.
                (KernelArgKind::Bytes, Arg::Buffer(Some(image))) => {
                    let Some(image) = image.upgrade() else { return Err(self.released(i)) };
                    descriptor = image.descriptor_bytes(packed.space)?;
                    packed.add_image(image, image_access(&self.meta.params[i]));
                    &descriptor
                }
                (KernelArgKind::Sampler, Arg::Bytes(bytes)) => bytes,
                (KernelArgKind::Buffer, Arg::Address(address)) => {
                    ensure!(
                        queue.device().svm().is_some(),
                        InvalidOperation,
                        "the device has no shared virtual memory"
                    );
                    packed.shares = true;
                    word = address.to_le_bytes();
                    &word
                }
                (KernelArgKind::Local, Arg::Local(size)) => {
                    // Local arguments follow the kernel's own variables, each aligned for the largest type.
                    let begin = packed.local_size.checked_next_multiple_of(u64::from(BLOCK_ALIGN));
                    let end = begin.and_then(|b| b.checked_add(size));
                    let (Some(begin), Some(end)) = (begin, end) else {
                        bail!(OutOfResources, "the local memory of the arguments is larger than 2^64 bytes");
                    };
                    packed.local_size = end;
                    word = begin.to_le_bytes();
                    &word
                }
                _ => bail!(OutOfResources, "the code of the kernel has other arguments than its source"),
            };
            let place = packed.block.get_mut(at.offset as usize..).and_then(|b| b.get_mut(..bytes.len()));
            match place {
                Some(place) => place.copy_from_slice(bytes),
                None => bail!(OutOfResources, "an argument lies outside of the argument block"),
            }
        }
        if hidden.is_empty() {
            return Ok(());
        }
        drop(args);
        self.pack_hidden(artifact, hidden, queue, packed)
    }

    /// The parameters that the source does not have.
    #[cold]
    fn pack_hidden(
        &self,
        artifact: &KernelArtifact,
        places: &[KernelArg],
        queue: &Queue,
        packed: &mut Packed,
    ) -> Result<()> {
        for (hidden, at) in artifact.hidden.iter().zip(places) {
            let value = match *hidden {
                Hidden::Size(n) => self.checked_size(n as usize, queue, packed)?,
                Hidden::Stop => packed.stop.insert(Arc::default()).address(),
                Hidden::Reports => {
                    let size = (artifact.checked.len() as u64 * report::SIZE).max(report::SIZE);
                    // Records of an earlier launch that nothing was written to are zero.
                    let records = match packed.reports.take().filter(|records| records.size() == size) {
                        Some(records) => records,
                        None => {
                            let fresh = queue.context().allocate(packed.space, size)?;
                            fresh.fill(0, size, &[0; 8])?;
                            fresh
                        }
                    };
                    packed.reports.insert(records).device_address()
                }
            };
            match packed.block.get_mut(at.offset as usize..).and_then(|b| b.first_chunk_mut()) {
                Some(place) => *place = value.to_le_bytes(),
                None => bail!(OutOfResources, "an argument lies outside of the argument block"),
            }
        }
        Ok(())
    }

    /// The bytes that an argument points to. Code that checks its accesses relies on the address's alignment.
    fn checked_size(&self, i: usize, queue: &Queue, packed: &Packed) -> Result<u64> {
        let mut args = self.args.read();
        let (size, address) = match args.get(i) {
            Some(Arg::Buffer(Some(buffer))) => {
                let Some(buffer) = buffer.upgrade() else { return Err(self.released(i)) };
                (buffer.size(), buffer.device_address(packed.space)?)
            }
            Some(Arg::Local(size)) => (size, 0),
            Some(Arg::Address(address)) => (queue.context().svm_room(address as usize).unwrap_or(0), address),
            Some(Arg::Bytes(_) | Arg::Buffer(None)) => (0, 0),
            None => return Err(self.unset(i)),
        };
        ensure!(
            address.is_multiple_of(BLOCK_ALIGN.into()),
            InvalidOperation,
            "the memory of argument `{}` of kernel `{}` does not begin at a multiple of {BLOCK_ALIGN} bytes, which code \
             with checked accesses relies on",
            self.meta.params[i].name,
            self.name
        );
        Ok(size)
    }
}

/// How a kernel accesses an image that is an argument.
fn image_access(param: &KernelParam) -> AccessMode {
    match Access::of(param) {
        Access::ReadOnly | Access::None => AccessMode::Read,
        Access::WriteOnly | Access::ReadWrite => AccessMode::Update,
    }
}
