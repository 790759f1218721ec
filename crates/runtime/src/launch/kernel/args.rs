//! The arguments of a kernel that are set so far.
//!
//! Programs set most arguments before each launch, so setting one should cost no more than the call: values of up to 16
//! bytes, sizes and addresses are stored in atomic words, and the two last buffers of an argument are remembered, so
//! that one of these is set by its index. None of it takes a lock or counts a reference, each of which is an atomic
//! read-modify-write operation, as long as all the rest. Two buffers because iterations mostly write what the next one
//! reads:
//!
//! ```text
//! slot    state     what the argument is now
//!         words     a value, or the addresses of the buffers that `kept` remembers
//! kept    under a lock: references to these buffers, and values of more than 16 bytes
//! ```
//!
//! Two threads that set one argument, or one that launches the kernel meanwhile, may mix their values, as the
//! specification allows (section 5.9.2: `clSetKernelArg` is not safe for one kernel); every outcome is memory-safe.

use crate::MemObject;
use cloom_hal::lock::{Mutex, MutexGuard};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// Bytes of a value that fits into a slot.
const INLINE: usize = 16;

/// What an argument is.
mod state {
    pub const UNSET: u8 = 0;
    /// A value in `words`.
    pub const BYTES: u8 = 1;
    /// A value in `kept`.
    pub const LARGE: u8 = 2;
    /// So many bytes of local memory: `number`.
    pub const LOCAL: u8 = 3;
    /// Shared memory at `number`.
    pub const ADDRESS: u8 = 4;
    /// The null pointer.
    pub const NULL: u8 = 5;
    /// The first remembered buffer; the next state is the second one.
    pub const BUFFER: u8 = 6;
}

#[derive(Default)]
struct Slot {
    state: AtomicU8,
    /// Length of the value in `words`.
    len: AtomicU8,
    words: [AtomicU64; 2],
    number: AtomicU64,
}

/// What a slot has no room for. A kernel does not retain its buffers, as the specification says; a command does.
#[derive(Clone, Default)]
enum Kept {
    #[default]
    Nothing,
    Bytes(SmallVec<[u8; 64]>),
    /// Buffers whose addresses are in the slot. While there is a reference, even a weak one, no other object has the
    /// address.
    Buffers([Weak<MemObject>; 2]),
}

/// The arguments of one kernel.
pub(crate) struct Args {
    slots: Box<[Slot]>,
    kept: Mutex<Vec<Kept>>,
}

/// An argument.
pub(crate) enum Arg<'a> {
    Bytes(&'a [u8]),
    /// `None` is the null pointer.
    Buffer(Option<&'a Weak<MemObject>>),
    /// Shared memory, which the application keeps alive.
    Address(u64),
    Local(u64),
}

impl Args {
    /// So many, none of which is set.
    pub fn new(count: usize) -> Args {
        Args { slots: (0..count).map(|_| Slot::default()).collect(), kept: Mutex::new(vec![Kept::Nothing; count]) }
    }

    /// Takes over the values of a kernel with the same parameters.
    pub fn copy_from(&self, other: &Args) {
        // Two statements, so that no thread holds both locks: two kernels may be copied from each other at once.
        let kept = other.kept.lock().clone();
        *self.kept.lock() = kept;
        for (to, from) in self.slots.iter().zip(&other.slots) {
            for (to, from) in to.words.iter().chain([&to.number]).zip(from.words.iter().chain([&from.number])) {
                to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
            }
            to.len.store(from.len.load(Ordering::Relaxed), Ordering::Relaxed);
            // The state last, as in `set_bytes`.
            to.state.store(from.state.load(Ordering::Acquire), Ordering::Release);
        }
    }

    /// Sets a value.
    pub fn set_bytes(&self, index: usize, bytes: &[u8]) {
        let slot = &self.slots[index];
        if bytes.len() > INLINE {
            self.kept.lock()[index] = Kept::Bytes(SmallVec::from_slice(bytes));
            slot.state.store(state::LARGE, Ordering::Release);
            return;
        }
        // The common lengths without a copy: a load of more bytes than the last store wrote has to wait for it.
        match *bytes {
            [a, b, c, d] => slot.words[0].store(u32::from_le_bytes([a, b, c, d]).into(), Ordering::Relaxed),
            [a, b, c, d, e, f, g, h] => {
                slot.words[0].store(u64::from_le_bytes([a, b, c, d, e, f, g, h]), Ordering::Relaxed);
            }
            _ => {
                let mut padded = [0; INLINE];
                padded[..bytes.len()].copy_from_slice(bytes);
                for (word, bytes) in slot.words.iter().zip(padded.as_chunks().0) {
                    word.store(u64::from_le_bytes(*bytes), Ordering::Relaxed);
                }
            }
        }
        slot.len.store(bytes.len() as u8, Ordering::Relaxed);
        // Release: a thread that sees the state, with Acquire in `get`, sees the words and the length too.
        slot.state.store(state::BYTES, Ordering::Release);
    }

    /// Sets a pointer to a buffer, or the null pointer.
    pub fn set_buffer(&self, index: usize, buffer: Option<&Arc<MemObject>>) {
        let slot = &self.slots[index];
        let Some(buffer) = buffer else { return slot.state.store(state::NULL, Ordering::Release) };
        // The address identifies the buffer: `kept` has a weak reference, so its allocation cannot become another
        // object's.
        let address = Arc::as_ptr(buffer).addr() as u64;
        let known = slot.words.each_ref().map(|word| word.load(Ordering::Relaxed) == address);
        // Without a branch that depends on which of the two it is: they may take turns.
        let at = if known[0] | known[1] { usize::from(known[1]) } else { self.remember(index, address, buffer) };
        slot.state.store(state::BUFFER + at as u8, Ordering::Release);
    }

    /// Remembers a buffer, in place of the one that was not set last. Returns its place.
    #[cold]
    fn remember(&self, index: usize, address: u64, buffer: &Arc<MemObject>) -> usize {
        let slot = &self.slots[index];
        // The slot of the buffer that is not set now: the one that is set may return with the next launch.
        let at = usize::from(slot.state.load(Ordering::Relaxed) == state::BUFFER);
        let mut kept = self.kept.lock();
        if !matches!(kept[index], Kept::Buffers(_)) {
            kept[index] = Kept::Buffers([Weak::new(), Weak::new()]);
        }
        if let Kept::Buffers(buffers) = &mut kept[index] {
            buffers[at] = Arc::downgrade(buffer);
        }
        slot.words[at].store(address, Ordering::Relaxed);
        at
    }

    /// Sets a pointer to memory that is shared with the host.
    pub fn set_address(&self, index: usize, address: u64) {
        self.set_number(index, address, state::ADDRESS);
    }

    /// Sets a pointer to so many bytes of local memory.
    pub fn set_local(&self, index: usize, bytes: u64) {
        self.set_number(index, bytes, state::LOCAL);
    }

    fn set_number(&self, index: usize, number: u64, state: u8) {
        // Not in `words`: these still have the addresses of the remembered buffers, which the next `set_buffer`
        // compares.
        self.slots[index].number.store(number, Ordering::Relaxed);
        self.slots[index].state.store(state, Ordering::Release);
    }

    /// Bytes of local memory that arguments ask for.
    pub fn local_bytes(&self) -> u64 {
        let is_local = |slot: &&Slot| slot.state.load(Ordering::Acquire) == state::LOCAL;
        let sizes = self.slots.iter().filter(is_local).map(|slot| slot.number.load(Ordering::Relaxed));
        sizes.fold(0, u64::saturating_add)
    }

    /// The first argument that is not set.
    pub fn unset(&self) -> Option<usize> {
        self.slots.iter().position(|slot| slot.state.load(Ordering::Relaxed) == state::UNSET)
    }

    /// Reads them.
    pub fn read(&self) -> Reader<'_> {
        Reader { slots: &self.slots, kept: self.kept.lock(), bytes: [0; INLINE] }
    }
}

/// Reads arguments, and holds the lock of what is kept.
pub(crate) struct Reader<'a> {
    slots: &'a [Slot],
    kept: MutexGuard<'a, Vec<Kept>>,
    bytes: [u8; INLINE],
}

impl Reader<'_> {
    /// The number of arguments.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// An argument, if it is set.
    pub fn get(&mut self, index: usize) -> Option<Arg<'_>> {
        let slot = &self.slots[index];
        let number = || slot.number.load(Ordering::Relaxed);
        match (slot.state.load(Ordering::Acquire), &self.kept[index]) {
            (state::BYTES, _) => {
                for (bytes, word) in self.bytes.as_chunks_mut().0.iter_mut().zip(&slot.words) {
                    *bytes = word.load(Ordering::Relaxed).to_le_bytes();
                }
                Some(Arg::Bytes(&self.bytes[..INLINE.min(slot.len.load(Ordering::Relaxed).into())]))
            }
            (state::LARGE, Kept::Bytes(bytes)) => Some(Arg::Bytes(bytes)),
            (state::LOCAL, _) => Some(Arg::Local(number())),
            (state::ADDRESS, _) => Some(Arg::Address(number())),
            (state::NULL, _) => Some(Arg::Buffer(None)),
            // 7 is the state of the second remembered buffer.
            (at @ (state::BUFFER | 7), Kept::Buffers(buffers)) => {
                Some(Arg::Buffer(Some(&buffers[usize::from(at - state::BUFFER)])))
            }
            // Not set; or another thread is setting it to a value of another kind now.
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(args: &Args, index: usize) -> Option<Vec<u8>> {
        match args.read().get(index)? {
            Arg::Bytes(bytes) => Some(bytes.to_vec()),
            _ => None,
        }
    }

    #[test]
    fn values_of_every_length_come_back() {
        let args = Args::new(2);
        assert_eq!((args.unset(), bytes(&args, 1)), (Some(0), None));
        for len in [1, 3, 8, 9, 15, 16, 17, 64, 200, 4] {
            let value: Vec<u8> = (1..=len).collect();
            args.set_bytes(1, &value);
            assert_eq!(bytes(&args, 1), Some(value), "{len} bytes");
        }
        assert_eq!(args.unset(), Some(0), "the other one is not set");
        let copy = Args::new(2);
        args.set_bytes(0, &[9; 20]);
        copy.copy_from(&args);
        args.set_bytes(0, &[8; 20]);
        args.set_bytes(1, &[8]);
        assert_eq!((bytes(&copy, 0), bytes(&copy, 1)), (Some(vec![9; 20]), Some(vec![1, 2, 3, 4])));
    }

    #[test]
    fn sizes_of_local_memory_add_up_while_they_are_set() {
        let args = Args::new(3);
        args.set_local(0, 100);
        args.set_local(2, u64::MAX);
        assert_eq!(args.local_bytes(), u64::MAX);
        args.set_local(2, 28);
        args.set_address(1, 1 << 40);
        assert_eq!(args.local_bytes(), 128);
        assert!(matches!(args.read().get(1), Some(Arg::Address(address)) if address == 1 << 40));
        args.set_buffer(1, None);
        assert!(matches!(args.read().get(1), Some(Arg::Buffer(None))));
        assert_eq!(args.unset(), None);
    }
}
