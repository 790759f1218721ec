//! The host's memory, read in a way that cannot fail badly: the program may have freed it.

use rustc_hash::FxHasher;
use std::fs::File;
use std::hash::Hasher;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Bytes that are read at a time.
const PIECE: u64 = 64 << 10;

/// This process's own memory, where the system lets it be read.
pub struct HostMemory(Option<File>);

impl HostMemory {
    /// That of this process.
    pub fn new() -> HostMemory {
        HostMemory(File::open("/proc/self/mem").ok())
    }

    /// A hash of the bytes at these addresses; `None` if the memory cannot be read, as it is no longer there.
    pub fn hash(&self, ranges: &[Range<u64>]) -> Option<u64> {
        let file = self.0.as_ref()?;
        let mut hasher = FxHasher::default();
        let mut piece = vec![0; PIECE as usize];
        for range in ranges {
            let mut at = range.start;
            while at < range.end {
                let size = (range.end - at).min(PIECE) as usize;
                file.read_exact_at(&mut piece[..size], at).ok()?;
                hasher.write(&piece[..size]);
                at += size as u64;
            }
        }
        Some(hasher.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_where_there_are_some() {
        let mut bytes = vec![7u8; 100_000];
        let begin = bytes.as_ptr().addr() as u64;
        let range = begin..begin + bytes.len() as u64;
        let memory = HostMemory::new();
        let before = memory.hash(std::slice::from_ref(&range));
        assert!(before.is_some());
        bytes[99_999] = 8;
        assert_ne!(memory.hash(std::slice::from_ref(&range)), before);
        let nowhere = 8..16;
        assert_eq!(memory.hash(std::slice::from_ref(&nowhere)), None, "nothing is there");
    }
}
