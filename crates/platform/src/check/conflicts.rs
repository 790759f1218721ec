//! Data races between commands: two that no event, queue or wait orders, and that use common bytes.
//!
//! In come commands with those that they may run at the same time with ([`Order`](super::order::Order)), and what they
//! use: at once for transfers, when they have run for kernels. Out come pairs, once both are known.

use super::command::{Caller, Used};
use super::ranges::common;
use cloom_runtime::UsedMemory;
use std::collections::BTreeMap;
use std::ops::Range;

/// Commands whose use of memory is remembered.
const WINDOW: usize = 1024;

struct Party {
    caller: Caller,
    /// What it uses, when that is known.
    uses: Option<Vec<Used>>,
}

/// Two commands that race.
pub struct Conflict {
    /// The one that was enqueued first, and whether it writes,
    pub first: (Caller, bool),
    /// and the other one.
    pub second: (Caller, bool),
    /// The memory.
    pub memory: UsedMemory,
    /// The first bytes that both use.
    pub range: Range<u64>,
}

/// Commands that may race.
#[derive(Default)]
pub struct Conflicts {
    parties: BTreeMap<u64, Party>,
    /// Pairs that nothing orders, of which one has yet to run.
    open: Vec<(u64, u64)>,
}

impl Conflicts {
    /// A command is enqueued, which may run at the same time with some earlier ones.
    pub fn enqueued(&mut self, id: u64, caller: Caller, uses: Option<Vec<Used>>, apart: Vec<u64>) -> Vec<Conflict> {
        self.parties.insert(id, Party { caller, uses });
        if self.parties.len() > WINDOW
            && let Some((oldest, _)) = self.parties.pop_first()
        {
            self.open.retain(|(a, _)| *a != oldest);
        }
        self.open.extend(apart.into_iter().filter(|other| self.parties.contains_key(other)).map(|other| (other, id)));
        self.take_known()
    }

    /// A kernel has run.
    pub fn ran(&mut self, id: u64, uses: Vec<Used>) -> Vec<Conflict> {
        if let Some(party) = self.parties.get_mut(&id) {
            party.uses = Some(uses);
        }
        self.take_known()
    }

    /// The pairs that race among those of which both are known now.
    fn take_known(&mut self) -> Vec<Conflict> {
        let mut found = Vec::new();
        let parties = &self.parties;
        self.open.retain(|(a, b)| {
            let (Some(a), Some(b)) = (parties.get(a), parties.get(b)) else { return false };
            let (Some(x), Some(y)) = (&a.uses, &b.uses) else { return true };
            found.extend(conflict(&a.caller, x, &b.caller, y));
            false
        });
        found
    }
}

fn conflict(a: &Caller, x: &[Used], b: &Caller, y: &[Used]) -> Option<Conflict> {
    for x in x {
        for y in y {
            let may = x.memory == y.memory && (x.mode.writes || y.mode.writes);
            if !may || x.mode.is_atomic && y.mode.is_atomic {
                continue;
            }
            if let Some(range) = common(&x.ranges, &y.ranges) {
                let (first, second) = ((a.clone(), x.mode.writes), (b.clone(), y.mode.writes));
                return Some(Conflict { first, second, memory: x.memory, range });
            }
        }
    }
    None
}
