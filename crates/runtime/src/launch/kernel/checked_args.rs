//! The arguments of a launch that is checked.

use super::Kernel;
use super::args::Arg;
use crate::checker::{CheckedArg, CheckedMemory};
use crate::launch::checked::ArgMemory;
use crate::objects::space::Space;
use crate::{MemFlags, MemObject, Result};
use cloom_ir::ParamKind;
use std::sync::{Arc, Weak};

impl Kernel {
    /// The current arguments, for a device in this memory space.
    pub(crate) fn checked_args(&self, space: Space) -> Result<Vec<CheckedArg>> {
        let mut reader = self.args.read();
        let mut args = Vec::with_capacity(reader.len());
        for (i, param) in self.meta.params.iter().enumerate() {
            let object = |object: &Weak<MemObject>| object.upgrade().ok_or_else(|| self.released(i));
            args.push(match reader.get(i) {
                Some(Arg::Bytes(bytes)) => CheckedArg::Bytes(bytes.to_vec()),
                Some(Arg::Local(size)) => CheckedArg::Local(size),
                Some(Arg::Address(address)) => CheckedArg::Address(address),
                Some(Arg::Buffer(None)) => CheckedArg::Null,
                Some(Arg::Buffer(Some(buffer))) => memory(object(buffer)?, param.kind, space),
                None => return Err(self.unset(i)),
            });
        }
        Ok(args)
    }
}

/// A memory object as an argument of this kind.
fn memory(object: Arc<MemObject>, kind: ParamKind, space: Space) -> CheckedArg {
    // Its bytes are those of the shared memory, which kernels may reach by other pointers, too.
    if let Some(address) = object.host_ptr().filter(|_| object.is_shared() && kind != ParamKind::Image) {
        return CheckedArg::Address(address as u64);
    }
    let is_read_only = kind == ParamKind::Constant || object.flags().contains(MemFlags::READ_ONLY);
    let memory: Box<dyn CheckedMemory> = Box::new(ArgMemory { object, space, is_read_only });
    if kind == ParamKind::Image { CheckedArg::Image(memory) } else { CheckedArg::Buffer(memory) }
}
