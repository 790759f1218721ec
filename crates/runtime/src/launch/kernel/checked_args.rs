//! The arguments of a launch that is checked.

use super::Kernel;
use super::args::Arg;
use crate::checker::{CheckedArg, CheckedMemory};
use crate::launch::checked::ArgMemory;
use crate::objects::space::Space;
use crate::{MemFlags, MemObject, Result};
use cloom_ir::ParamKind;
use std::sync::Weak;

impl Kernel {
    /// The current arguments, for a device in this memory space.
    pub(crate) fn checked_args(&self, space: Space) -> Result<Vec<CheckedArg>> {
        let mut reader = self.args.read();
        let mut args = Vec::with_capacity(reader.len());
        for (i, param) in self.meta.params.iter().enumerate() {
            let memory = |object: &Weak<MemObject>| -> Result<Box<dyn CheckedMemory>> {
                let object = object.upgrade().ok_or_else(|| self.released(i))?;
                let constant = param.kind == ParamKind::Constant;
                let is_read_only = constant || object.flags().contains(MemFlags::READ_ONLY);
                Ok(Box::new(ArgMemory { object, space, is_read_only }))
            };
            args.push(match reader.get(i) {
                Some(Arg::Bytes(bytes)) => CheckedArg::Bytes(bytes.to_vec()),
                Some(Arg::Local(size)) => CheckedArg::Local(size),
                Some(Arg::Address(address)) => CheckedArg::Address(address),
                Some(Arg::Buffer(None)) => CheckedArg::Null,
                Some(Arg::Buffer(Some(object))) if param.kind == ParamKind::Image => CheckedArg::Image(memory(object)?),
                Some(Arg::Buffer(Some(object))) => CheckedArg::Buffer(memory(object)?),
                None => return Err(self.unset(i)),
            });
        }
        Ok(args)
    }
}
