//! The arguments of a launch as a device gets them, and the memory objects that must live until it ends.

use crate::memory::residency::AccessMode;
use crate::objects::blocks::Blocks;
use crate::objects::space::Space;
use crate::objects::watchdog::StopWord;
use crate::{Context, MemObject, Result};
use cloom_hal::Memory;
use smallvec::SmallVec;
use std::sync::Arc;

/// The memory objects among the arguments of a launch.
pub(crate) type Buffers = SmallVec<[(Arc<MemObject>, AccessMode); 4]>;

/// The arguments of a launch.
#[derive(Default)]
pub(crate) struct Packed {
    /// The argument block.
    pub block: SmallVec<[u8; 128]>,
    /// Local memory of a group.
    pub local_size: u64,
    /// Whether local memory begins as zeros.
    pub zero_local: bool,
    /// The buffers among the arguments, which must live until the kernel is done, and how it accesses them.
    pub buffers: Buffers,
    /// Where the kernel runs.
    pub space: Space,
    /// Whether they may have to be copied there.
    pub migrates: bool,
    /// Whether there is memory among them that the host may use at the same time.
    pub shares: bool,
    /// The word that asks the kernel to end, if it has polls.
    pub stop: Option<Arc<StopWord>>,
    /// The records of the accesses that it reports, if it reports any.
    pub reports: Option<Arc<dyn Memory>>,
    /// What the kernel may enqueue, if it enqueues.
    pub blocks: Option<(Arc<Context>, Arc<Blocks>)>,
}

impl Packed {
    /// Adds an image that is an argument.
    pub fn add_image(&mut self, image: Arc<MemObject>, access: AccessMode) {
        self.shares |= image.is_shared();
        self.buffers.push((image, access));
    }

    /// Makes the buffers usable where the kernel runs.
    pub fn make_resident(&self) -> Result<()> {
        if self.migrates {
            for (buffer, access) in &self.buffers {
                buffer.acquire(self.space, 0, buffer.size(), *access)?;
            }
        }
        Ok(())
    }
}
