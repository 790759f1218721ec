//! The expected time of a launch: from the times of earlier launches of the same kernel, by their numbers of
//! work-items.

use cloom_hal::TUNING;
use std::sync::atomic::{AtomicU64, Ordering};

/// The times of a kernel's last launches, to predict which launches are short.
///
/// There is a time for each size class, 2^k to 2^(k+1) work-items, because time is not proportional to their number: a
/// program that reduces a million numbers to one launches the same kernel with a million work-items and with one.
pub(crate) struct Cost {
    /// By class: for 1024 work-items, in nanoseconds, plus one; 0 before the first launch.
    known: [AtomicU64; CLASSES],
    /// Counts short launches.
    short: AtomicU64,
    /// A bit for each class whose last launch took far longer than was expected.
    doubted: AtomicU64,
}

const CLASSES: usize = u64::BITS as usize;

impl Default for Cost {
    fn default() -> Cost {
        let (short, doubted) = Default::default();
        Cost { known: [const { AtomicU64::new(0) }; CLASSES], short, doubted }
    }
}

/// The class of so many work-items.
fn class_of(items: u64) -> usize {
    items.max(1).ilog2() as usize
}

impl Cost {
    /// The expected time of so many work-items in nanoseconds, by the last measurement of their class. If there is
    /// none, it is a bound: the time of the next larger class that is known, or so much longer than that of the next
    /// smaller one as there are more work-items.
    pub fn expect(&self, items: u64) -> Option<u64> {
        let known = |class: usize| self.known[class].load(Ordering::Relaxed).checked_sub(1);
        let time = |each: u64, items: u64| each.saturating_mul(items) / 1024;
        let class = class_of(items);
        if let Some(each) = known(class) {
            return Some(time(each, items));
        }
        let smaller = (0..class).rev().find_map(known).map(|each| time(each, items));
        let larger = (class + 1..CLASSES).find_map(|class| Some(time(known(class)?, 1 << class)));
        // Both are upper bounds, so the smaller one is nearer to the time.
        smaller.into_iter().chain(larger).min()
    }

    /// Whether to measure this short launch. Launches that are made at the same time may count as one.
    pub fn is_due(&self, items: u64) -> bool {
        let n = self.short.load(Ordering::Relaxed);
        // A load and a store instead of an atomic increment, which takes longer: a lost count only moves a measurement.
        self.short.store(n.wrapping_add(1), Ordering::Relaxed);
        n.is_multiple_of(TUNING.inline_per_measured) || self.doubted.load(Ordering::Relaxed) >> class_of(items) & 1 != 0
    }

    /// Records a measurement. A time far longer than expected counts only if it is repeated: another program may have
    /// had the core, and the launches that follow would needlessly go to another thread.
    pub fn learn(&self, items: u64, time: u64) {
        let (class, bit) = (class_of(items), 1 << class_of(items));
        let slow = self.expect(items).is_some_and(|expected| time / TUNING.outlier_factor > expected);
        // The first time of that sort only leaves a doubt, by which `is_due` measures the next launch of the class.
        if slow && self.doubted.fetch_or(bit, Ordering::Relaxed) & bit == 0 {
            return;
        }
        if self.doubted.load(Ordering::Relaxed) & bit != 0 {
            self.doubted.fetch_and(!bit, Ordering::Relaxed);
        }
        self.known[class].store((time.saturating_mul(1024) / items.max(1)).saturating_add(1), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_launch_takes_is_known_after_the_first() {
        let cost = Cost::default();
        assert_eq!(cost.expect(1), None);
        cost.learn(64, 640);
        assert_eq!((cost.expect(64), cost.expect(96), cost.expect(6400)), (Some(640), Some(960), Some(64_000)));
        assert_eq!(cost.expect(1), Some(640), "not longer than more work-items");
        // One far longer launch is ignored, two are not; meanwhile each launch of that size is measured.
        cost.learn(64, 1_000_000_000);
        assert_eq!((cost.expect(64), cost.is_due(64), cost.is_due(64)), (Some(640), true, true));
        assert!(!cost.is_due(1), "another size is not doubted");
        cost.learn(64, 1_000_000_000);
        assert_eq!((cost.is_due(64), cost.is_due(64)), (false, false));
        assert!(cost.expect(64).is_some_and(|t| t >= 1_000_000_000));
        assert!(cost.expect(u64::MAX).is_some_and(|t| t > 1_000_000_000));
        cost.learn(u64::MAX, 0);
        assert_eq!(cost.expect(128), Some(0));
    }

    #[test]
    fn the_time_of_one_work_item_does_not_predict_that_of_many() {
        let cost = Cost::default();
        cost.learn(1, 300);
        assert_eq!(cost.expect(65_536), Some(300 * 65_536), "nothing better is known");
        cost.learn(65_536, 2_048);
        cost.learn(1, 300);
        assert_eq!((cost.expect(1), cost.expect(65_536)), (Some(300), Some(2_048)));
        assert_eq!(cost.expect(1024), Some(2_048));
    }
}
