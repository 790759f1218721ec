//! Which bytes of buffers nothing has written: neither the host, nor a command, nor a kernel.
//!
//! Only buffers that were made without content are known here. All bytes of others count as written.

use super::command::Used;
use super::ranges::{Bytes, common};
use cloom_runtime::UsedMemory;
use std::collections::BTreeMap;
use std::ops::Range;

/// The unwritten bytes of buffers, by their storage.
#[derive(Clone, Default)]
pub struct Unwritten(BTreeMap<usize, Bytes>);

impl Unwritten {
    /// Memory of so many bytes is made.
    pub fn created(&mut self, storage: usize, bytes: u64, has_data: bool) {
        // The number may be that of earlier memory.
        self.0.remove(&storage);
        if !has_data {
            self.0.insert(storage, Bytes::all(0..bytes));
        }
    }

    /// Bytes are written.
    pub fn written(&mut self, storage: usize, ranges: &[Range<u64>]) {
        if let Some(bytes) = self.0.get_mut(&storage) {
            ranges.iter().for_each(|range| bytes.remove(range));
        }
    }

    /// Something unknown may have written anything.
    pub fn forget_all(&mut self) {
        self.0.clear();
    }

    /// The unwritten bytes of some memory.
    pub fn of(&self, storage: usize) -> &[Range<u64>] {
        self.0.get(&storage).map_or(&[], Bytes::ranges)
    }

    /// The first unwritten bytes that a command reads.
    pub fn read_by(&self, used: &Used) -> Option<Range<u64>> {
        match used.memory {
            UsedMemory::Object(storage) if !used.mode.writes => common(self.of(storage), &used.ranges),
            _ => None,
        }
    }
}
