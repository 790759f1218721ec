//! The launches that are not on the stream yet: in the order in which they came, in batches, so that whoever takes some
//! takes a batch and holds the lock for a moment.

use std::collections::VecDeque;

/// Launches that wait in the host's memory.
pub struct Deferred<L> {
    /// Each of as many launches as one call submits, but the last batch.
    batches: VecDeque<Vec<L>>,
    /// Launches in all batches.
    count: usize,
    /// Empty batches. (What one thread allocates and another frees goes through the allocator's lock.)
    free: Vec<Vec<L>>,
}

impl<L> Default for Deferred<L> {
    fn default() -> Self {
        Deferred { batches: VecDeque::new(), count: 0, free: Vec::new() }
    }
}

impl<L> Deferred<L> {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// One more, in batches of so many.
    pub fn push(&mut self, launch: L, batch_size: usize) {
        match self.batches.back_mut() {
            Some(last) if last.len() < batch_size => last.push(launch),
            _ => {
                let mut batch = self.free.pop().unwrap_or_else(|| Vec::with_capacity(batch_size));
                batch.push(launch);
                self.batches.push_back(batch);
            }
        }
        self.count += 1;
    }

    /// The first batch.
    pub fn pop(&mut self) -> Vec<L> {
        let first = self.batches.pop_front().unwrap_or_default();
        self.count -= first.len();
        first
    }

    /// Takes an empty batch back.
    pub fn recycle(&mut self, batch: Option<Vec<L>>) {
        self.free.extend(batch);
    }
}
