//! Commands on unified shared memory, and freeing it when commands may still use it. `memory::usm` allocates it.

use crate::graph::execute::Progress;
use crate::host_mem::HostPtr;
use crate::status::ensure;
use crate::transfer::svm::{svm_copy_job, svm_fill_job};
use crate::{CommandType, Context, Event, MigrationFlags, Queue, Result};
use std::sync::Arc;

impl Context {
    /// `clMemFreeINTEL` and, with `wait`, `clMemBlockingFreeINTEL`.
    pub fn usm_free(&self, address: usize, wait: bool) -> Result<()> {
        if address == 0 {
            return Ok(());
        }
        let is_one = self.svm().usm_at(address).is_some_and(|(begin, _)| begin == address);
        ensure!(is_one, InvalidValue, "{address:#x} is no allocation of unified shared memory");
        if wait {
            // All queues of the context: which commands use an address is not known.
            self.queues().iter().for_each(|queue| queue.finish());
        }
        self.svm_free(address);
        Ok(())
    }
}

impl Queue {
    /// `clEnqueueMemFillINTEL`
    pub fn usm_fill(
        self: &Arc<Queue>,
        at: Option<HostPtr>,
        pattern: &[u8],
        size: u64,
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.enqueue_job(CommandType::MemFill, wait, false, self.fill_uses(at, size)?, svm_fill_job(at, pattern, size)?)
    }

    /// `clEnqueueMemcpyINTEL`
    pub fn usm_copy(
        self: &Arc<Queue>,
        blocking: bool,
        to: Option<HostPtr>,
        from: Option<HostPtr>,
        size: u64,
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.enqueue_job(
            CommandType::Memcpy,
            wait,
            blocking,
            self.copy_uses(to, from, size)?,
            svm_copy_job(to, from, size)?,
        )
    }

    /// `clEnqueueMigrateMemINTEL`: nothing moves.
    pub fn usm_migrate(self: &Arc<Queue>, bits: u64, wait: &[Arc<Event>]) -> Result<Arc<Event>> {
        ensure!(MigrationFlags::from_bits(bits).is_some(), InvalidValue, "the flags {bits:#x} have unknown bits");
        self.enqueue(CommandType::MigrateMem, wait, false, Box::new(|| Ok(Progress::Done)))
    }

    /// `clEnqueueMemAdviseINTEL`: no advice is defined but none.
    pub fn usm_advise(self: &Arc<Queue>, advice: u32, wait: &[Arc<Event>]) -> Result<Arc<Event>> {
        ensure!(advice == 0, InvalidValue, "the advice {advice:#x} is unknown");
        self.enqueue(CommandType::MemAdvise, wait, false, Box::new(|| Ok(Progress::Done)))
    }
}
