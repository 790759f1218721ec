//! Regions of memory objects that are mapped into the host program.
//!
//! In come mappings and their ends, and what other commands use; out come commands that use what is mapped, writes of
//! the program to what is mapped for reading, and regions that are never unmapped.

use super::command::{Caller, Used};
use super::host::HostMemory;
use super::ranges::common;
use cloom_runtime::{MappedRegion, UsedMemory};

/// A mapped region.
#[derive(Clone, Debug)]
pub struct Mapped {
    /// What is mapped.
    pub region: MappedRegion,
    /// The command that maps it.
    command: u64,
    /// Who has enqueued that.
    pub caller: Caller,
    /// A hash of what the program may only read, as long as nothing else may write it.
    hash: Option<u64>,
}

impl Mapped {
    /// A hash of what the program sees.
    fn content(&self, memory: &HostMemory) -> Option<u64> {
        let (begin, range) = (self.region.address as u64, &self.region.range);
        let seen = begin..begin + range.end - range.start;
        memory.hash(std::slice::from_ref(&seen))
    }

    /// Whether a command must not use memory so while this is mapped.
    pub fn excludes(&self, used: &Used) -> bool {
        // The mapped box of an image has rows apart from those of others.
        let same = !self.region.is_image && used.memory == UsedMemory::Object(self.region.storage);
        let may = self.region.writes || used.mode.writes;
        same && may && common(std::slice::from_ref(&self.region.range), &used.ranges).is_some()
    }
}

/// All regions that are mapped.
#[derive(Default)]
pub struct Maps(Vec<Mapped>);

impl Maps {
    /// A command is enqueued that maps a region.
    pub fn begin(&mut self, command: u64, caller: &Caller, region: MappedRegion) {
        self.0.push(Mapped { region, command, caller: caller.clone(), hash: None });
    }

    /// It has run: the program may look at the region.
    pub fn ran(&mut self, memory: &HostMemory, command: u64) {
        let Some(at) = self.0.iter().position(|mapped| mapped.command == command) else { return };
        let region = self.0[at].region.clone();
        let others = self.0.iter().any(|other| other.region.storage == region.storage && other.region.writes);
        // What another mapping may write changes for a good reason.
        if !others && !region.is_image {
            self.0[at].hash = self.0[at].content(memory);
        }
        if region.writes {
            self.written(region.storage);
        }
    }

    /// Something may write memory: its content says nothing about the program.
    pub fn written(&mut self, storage: usize) {
        self.0.iter_mut().filter(|mapped| mapped.region.storage == storage).for_each(|mapped| mapped.hash = None);
    }

    /// A region is unmapped. Gives it if the program has written to it, and may not.
    pub fn end(&mut self, memory: &HostMemory, object: usize, address: usize) -> Option<Mapped> {
        let is_it = |mapped: &Mapped| mapped.region.object == object && mapped.region.address == address;
        // The runtime ends a mapping for writing first.
        let writes = self.0.iter().position(|mapped| is_it(mapped) && mapped.region.writes);
        let at = writes.or_else(|| self.0.iter().position(is_it))?;
        let mapped = self.0.remove(at);
        let hash = mapped.hash?;
        mapped.content(memory).is_some_and(|now| now != hash).then_some(mapped)
    }

    /// The regions that are mapped.
    pub fn all(&self) -> &[Mapped] {
        &self.0
    }

    /// The program has released an object: gives its regions that are still mapped.
    pub fn released(&mut self, object: usize) -> Vec<Mapped> {
        let (gone, left) = std::mem::take(&mut self.0).into_iter().partition(|m| m.region.object == object);
        self.0 = left;
        gone
    }
}
