//! Whether the machine has a core for one more thread, from `/proc/loadavg`.
//!
//! ```text
//! 3.10 1.90 1.69 7/119 1163
//!                └ threads that run or could run now, the calling one among them
//! ```
//!
//! The count is that of the whole machine. For a process that may use only some of the cores, or a part of their time,
//! it includes threads that do not disturb it; then no core seems free although one is. So the answer may only be used
//! where both decisions are correct.

use std::fs;

/// Whether one of so many cores has nothing to run. Without a count there may be one.
pub fn has_free_core(cores: usize) -> bool {
    let count = fs::read_to_string("/proc/loadavg").ok().and_then(|text| runnable(&text));
    count.is_none_or(|count| count < cores)
}

/// The threads that run or could run.
fn runnable(loadavg: &str) -> Option<usize> {
    loadavg.split_whitespace().nth(3)?.split_once('/')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_before_the_slash() {
        assert_eq!(runnable("3.10 1.90 1.69 7/119 1163\n"), Some(7));
        for bad in ["", "3.10 1.90 1.69", "3.10 1.90 1.69 7 1163", "0 0 0 x/9 1"] {
            assert_eq!(runnable(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn a_thread_that_asks_has_a_core_itself() {
        assert!(!has_free_core(1) || !cfg!(target_os = "linux"));
        assert!(has_free_core(usize::MAX));
    }
}
