//! Memory of the host that belongs to a command until the program knows that the command has ended.
//!
//! The source of a write command is hashed when it is enqueued, and the destination of a read command when it has run.
//! Both are hashed again when the program begins to wait for the command: another result means that the program has
//! changed the memory too soon. What a later command writes is not looked at any more.

use super::command::{Caller, Used};
use super::host::HostMemory;
use super::ranges::common;
use std::collections::BTreeSet;
use std::ops::Range;

struct Owned {
    command: u64,
    caller: Caller,
    ranges: Vec<Range<u64>>,
    hash: u64,
    /// Whether the command reads it.
    is_source: bool,
}

/// Memory that the program has used too soon.
pub struct Misuse {
    /// The command that it belongs to.
    pub caller: Caller,
    /// Whether the command reads it.
    pub is_source: bool,
    /// Whether it is no longer there.
    pub is_freed: bool,
}

/// All memory that belongs to commands.
#[derive(Default)]
pub struct Pending(Vec<Owned>);

impl Pending {
    /// Memory belongs to a command from now on.
    pub fn add(&mut self, memory: &HostMemory, command: u64, caller: &Caller, used: &Used) {
        // What cannot be read now says nothing later.
        if let Some(hash) = memory.hash(&used.ranges) {
            let (caller, ranges, is_source) = (caller.clone(), used.ranges.clone(), !used.mode.writes);
            self.0.push(Owned { command, caller, ranges, hash, is_source });
        }
    }

    /// Gives up what belongs to commands of which nothing more is heard.
    pub fn keep(&mut self, is_known: impl Fn(u64) -> bool) {
        self.0.retain(|owned| is_known(owned.command));
    }

    /// The program learns that commands have ended: gives the memory that it has used before.
    pub fn ended(&mut self, memory: &HostMemory, commands: &BTreeSet<u64>) -> Vec<Misuse> {
        self.take(memory, |owned| commands.contains(&owned.command))
    }

    /// A command begins that writes memory of the host.
    pub fn overwritten(&mut self, memory: &HostMemory, ranges: &[Range<u64>]) -> Vec<Misuse> {
        self.take(memory, |owned| common(&owned.ranges, ranges).is_some())
    }

    /// A command begins that reads its source.
    pub fn begins(&mut self, memory: &HostMemory, command: u64) -> Vec<Misuse> {
        let is_changed = |o: &&Owned| o.command == command && o.is_source && memory.hash(&o.ranges) != Some(o.hash);
        if self.0.iter().any(|owned| is_changed(&owned)) {
            self.take(memory, |o| o.command == command)
        } else {
            Vec::new()
        }
    }

    fn take(&mut self, memory: &HostMemory, is_over: impl Fn(&Owned) -> bool) -> Vec<Misuse> {
        let (over, left) = std::mem::take(&mut self.0).into_iter().partition(is_over);
        self.0 = left;
        let misused = |owned: Owned| {
            let now = memory.hash(&owned.ranges);
            let Owned { caller, is_source, hash, .. } = owned;
            (now != Some(hash)).then_some(Misuse { caller, is_source, is_freed: now.is_none() })
        };
        let over: Vec<Owned> = over;
        over.into_iter().filter_map(misused).collect()
    }
}
