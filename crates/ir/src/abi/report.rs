//! The records of accesses that did not happen: one for each checked access, in memory that the launcher gives the
//! kernel ([`Hidden::Reports`](crate::Hidden::Reports)) and that is zero when the launch begins.
//!
//! A record has an `i32` that is not 0 once it is taken, and then words of eight bytes: the global ids of the
//! work-item, the offset of the access in its object, and the size of the object. The first work-item that takes a
//! record writes it, so that what it holds is of one access.

/// Offset of the first word.
pub const FIRST_WORD: u64 = 8;
/// Words: the global ids, the offset and the size.
pub const WORDS: usize = 5;
/// Bytes of a record.
pub const SIZE: u64 = FIRST_WORD + 8 * WORDS as u64;

/// What a record holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    /// The global id of the work-item.
    pub item: [u64; 3],
    /// The first byte that was to be accessed, counted from the object's beginning.
    pub offset: i64,
    /// Bytes of the object.
    pub size: u64,
}

impl Record {
    /// The record in its bytes, if it is taken.
    pub fn read(bytes: &[u8]) -> Option<Record> {
        let (taken, words) = bytes.split_at_checked(FIRST_WORD as usize)?;
        let mut words = words.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default()));
        let mut word = || words.next();
        let record = Record { item: [word()?, word()?, word()?], offset: word()? as i64, size: word()? };
        taken[..4].iter().any(|&b| b != 0).then_some(record)
    }
}
