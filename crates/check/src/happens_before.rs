//! Happens-before between the work-items of a launch.
//!
//! A barrier orders all that a group did before it, and an acquire that reads from a release orders all that the
//! releasing work-item did or knew before. The usual representation, a vector clock with a component for each
//! work-item, would have a million components here. But most launches synchronise by barriers alone, which order whole
//! groups: what is known is kept as *intervals of groups*, the numbers of barriers that have been passed, and
//! as *releases of single work-items*, only for those that some other one has acquired from (compressed vector clocks:
//! Eizenberg et al., PLDI 2017).
//!
//! ```text
//! work-item 3 of group 0:   a   barrier   b   release   c
//!                           └ interval 0  └ interval 1, 0 releases
//!                                                       └ interval 1, 1 release
//! ```
//!
//! After an acquire from that release a work-item knows interval 0 of group 0, and of work-item 3 also `b`, not `c`.

use std::collections::BTreeMap;

/// When a work-item did something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamp {
    /// The linear number of the group.
    pub group: u32,
    /// The linear number of the work-item in the range.
    pub item: u32,
    /// Barriers that its group had passed.
    pub interval: u32,
    /// Releases that it had made.
    pub releases: u32,
}

/// What a work-item knows to have happened in other work-items.
#[derive(Clone, Default, Debug)]
pub struct Known {
    /// Intervals of groups that are known, from 0 on.
    groups: BTreeMap<u32, u32>,
    /// Releases of work-items that are known: all up to the last of them.
    items: BTreeMap<u32, u32>,
}

impl Known {
    /// Whether something is known to have happened.
    pub fn has(&self, stamp: &Stamp) -> bool {
        let more = |known: &BTreeMap<u32, u32>, key, than| known.get(&key).is_some_and(|&n| n > than);
        more(&self.groups, stamp.group, stamp.interval) || more(&self.items, stamp.item, stamp.releases)
    }

    /// Learns all that `other` knows.
    pub fn join(&mut self, other: &Known) {
        let join = |own: &mut BTreeMap<u32, u32>, other: &BTreeMap<u32, u32>| {
            for (&key, &n) in other {
                let known = own.entry(key).or_default();
                *known = n.max(*known);
            }
        };
        join(&mut self.groups, &other.groups);
        join(&mut self.items, &other.items);
    }

    /// Learns what a work-item has done up to now: its own actions, and those of its group in earlier intervals.
    pub fn learn(&mut self, now: &Stamp) {
        let item = self.items.entry(now.item).or_default();
        *item = (now.releases + 1).max(*item);
        let group = self.groups.entry(now.group).or_default();
        *group = now.interval.max(*group);
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.items.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(group: u32, item: u32, interval: u32, releases: u32) -> Stamp {
        Stamp { group, item, interval, releases }
    }

    #[test]
    fn a_release_tells_what_came_before_it() {
        let mut known = Known::default();
        assert!(known.is_empty());
        known.learn(&at(0, 3, 1, 0));
        // The releasing work-item up to here, and its whole group before the barrier.
        assert!(known.has(&at(0, 3, 1, 0)) && known.has(&at(0, 5, 0, 0)));
        assert!(!known.has(&at(0, 3, 1, 1)) && !known.has(&at(0, 5, 1, 0)) && !known.has(&at(1, 9, 0, 0)));
    }

    #[test]
    fn joining_keeps_the_later_of_both() {
        let (mut a, mut b) = (Known::default(), Known::default());
        a.learn(&at(0, 3, 4, 0));
        b.learn(&at(0, 3, 2, 6));
        b.learn(&at(2, 8, 1, 0));
        a.join(&b);
        assert!(a.has(&at(0, 1, 3, 9)) && a.has(&at(0, 3, 7, 6)) && a.has(&at(2, 9, 0, 3)));
        assert!(!a.has(&at(0, 1, 4, 0)) && !a.has(&at(0, 3, 7, 7)));
    }
}
