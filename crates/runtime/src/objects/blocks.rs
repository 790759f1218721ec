//! The blocks of a program on a device, which its kernels enqueue: hidden kernels, found by the numbers that code has
//! for them ([`cloom_ir::abi::device::block_number`]).
//!
//! A block's code is asked for when it is first enqueued or asked about, and then compiled in the background while the
//! kernel that enqueues it goes on.

use crate::{Device, KernelCode};
use cloom_compiler::Executable;
use cloom_hal as hal;
use cloom_ir::KernelMeta;
use cloom_ir::abi::device::block_number;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// A block.
pub(crate) struct Block {
    name: String,
    /// The metadata of its kernel.
    pub meta: KernelMeta,
    code: OnceLock<Arc<KernelCode>>,
}

/// The blocks of a program.
pub(crate) struct Blocks {
    device: Arc<Device>,
    executable: Arc<Executable>,
    variables: Option<Arc<dyn hal::Memory>>,
    all: HashMap<u64, Block>,
}

impl Blocks {
    /// Those of an executable. It may have none: its kernels may still have events and markers.
    pub fn of(
        device: &Arc<Device>,
        executable: &Arc<Executable>,
        variables: Option<&Arc<dyn hal::Memory>>,
    ) -> Arc<Blocks> {
        let hidden = executable.program().all_kernels().filter(|(_, meta)| meta.is_block);
        let block = |(name, meta): (&str, &KernelMeta)| {
            let block = Block { name: name.to_owned(), meta: meta.clone(), code: OnceLock::new() };
            (block_number(name), block)
        };
        let all: HashMap<u64, Block> = hidden.map(block).collect();
        let (device, executable, variables) = (device.clone(), executable.clone(), variables.cloned());
        Arc::new(Blocks { device, executable, variables, all })
    }

    /// A block and its code, by its number.
    pub fn find(&self, number: u64) -> Option<(&Block, &Arc<KernelCode>)> {
        let block = self.all.get(&number)?;
        let make = || {
            let (device, executable) = (self.device.clone(), self.executable.clone());
            // No blocks of its own: the code would own this table, which owns the code.
            KernelCode::new(&block.name, device, executable, self.variables.clone(), None)
        };
        Some((block, block.code.get_or_init(make)))
    }
}
