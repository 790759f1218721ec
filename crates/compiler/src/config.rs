//! How a compiler behaves, from the environment or from the program that uses it.

use crate::passes::Disabled;
use crate::{cache, passes};
use std::path::PathBuf;

/// How a compiler behaves.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Config {
    /// The folder of the disk cache; `None`: there is no cache.
    pub cache_dir: Option<PathBuf>,
    /// How many threads compile in the background.
    pub background_threads: usize,
    /// The cores that the process may use. While none of them is free, work waits for a moment, so that the thread that
    /// needs it can take it before a background thread begins with it. 0: work never waits.
    pub cores: usize,
    /// The number of work-items of a vector; `None`: the cost model chooses.
    pub lanes: Option<u16>,
    /// Whether [`Executable::remarks`](crate::Executable::remarks) returns remarks.
    pub remarks: bool,
    /// Whether kernels may begin with code of the baseline tier
    /// ([`Executable::baseline_kernel`](crate::Executable::baseline_kernel)).
    pub baseline_tier: bool,
    /// Passes that do not run.
    pub disabled: Disabled,
    /// Whether code counts the operations that it executes, for the device to report. The code is optimised, and
    /// several times slower than without counts.
    pub count: bool,
    /// Whether bugs of the compiler that cost only speed are reported on standard error.
    pub log: bool,
    /// Whether `#include` finds files in the folders of `-I` only, as it always does in a set-user-ID program.
    pub confine_includes: bool,
}

impl Config {
    /// The configuration from the environment.
    pub fn from_env() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        // No vector has more lanes than a ballot has bits.
        let lanes = cloom_caps::env::LANES.get().and_then(|l| l.parse().ok()).map(|l: u16| l.clamp(1, 64));
        let remarks = cloom_caps::env::REMARKS.is_on();
        let background_threads = (cores / 2).clamp(1, 8);
        let baseline_tier = !cloom_caps::env::QUICK_START.is_off();
        let (disabled, _) = passes::from_env();
        let log = cloom_caps::env::LOG.is_on();
        let count = cloom_caps::env::COUNTS.get().is_some();
        let cache_dir = cache::folder_from_env();
        let confine_includes = cloom_caps::env::CONFINE_INCLUDES.is_on();
        Self {
            cache_dir,
            background_threads,
            cores,
            lanes,
            remarks,
            baseline_tier,
            disabled,
            count,
            log,
            confine_includes,
        }
    }
}
