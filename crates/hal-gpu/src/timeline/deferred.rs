//! The launches that are not on the stream yet, in the order of their numbers. They are kept in batches, so that a
//! thread that submits some takes a whole batch and holds the lock only for a moment.

use std::collections::VecDeque;

/// Launches that are deferred.
pub struct Deferred<L> {
    /// Each batch but the last one has as many launches as one call submits.
    batches: VecDeque<Vec<L>>,
    /// Launches in all batches.
    count: usize,
    /// Empty batches, for reuse. (Memory that one thread allocates and another frees goes through the allocator's
    /// lock.)
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

    /// Adds a launch, in batches of this size.
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
