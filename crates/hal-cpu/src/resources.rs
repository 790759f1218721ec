//! What launches of a device use: threads, memory, and the file that counts are reported to.

use crate::cores::Cores;
use crate::counts::CountsFile;
use crate::pool::{Clock, Pool};
use cloom_artifact::CpuLaunch;
use cloom_hal::{DeviceInfo, TUNING};
use std::sync::{Arc, OnceLock};

/// The resources of a device.
pub struct Resources {
    pub info: DeviceInfo,
    pub threads: usize,
    /// Made by the first launch.
    pub pool: OnceLock<Pool>,
    /// How many cores the process may use.
    pub cores: usize,
    /// The cores whose compute units it has, of a part that is made by affinity.
    pub bound: Option<Cores>,
    pub clock: Clock,
    /// Where launches of code that counts report.
    pub counts: Option<Arc<CountsFile>>,
}

impl Resources {
    /// The threads; they are started by the first launch.
    pub fn pool(&self) -> &Pool {
        self.pool.get_or_init(|| Pool::new(self.threads, self.cores, self.bound.clone(), self.clock))
    }

    /// Bytes of scratch that one thread may have.
    pub fn scratch_of_thread(&self) -> u64 {
        self.info.memory_size / TUNING.scratch_divisor / self.threads as u64
    }

    /// The work-items of the largest group, in whole vectors, that a thread has scratch for.
    pub fn max_group(&self, cpu: &CpuLaunch) -> u64 {
        let room = self.scratch_of_thread().saturating_sub(cpu.scratch_fixed);
        let items = room.checked_div(cpu.scratch_per_item).unwrap_or(u64::MAX);
        let lanes = u64::from(cpu.lanes.max(1));
        // Fewer work-items than lanes would be rounded to none.
        if items < lanes { items } else { items / lanes * lanes }
    }
}
