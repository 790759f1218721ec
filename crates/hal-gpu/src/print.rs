//! Print records: what `printf` on a GPU writes into a buffer, as `cloom_ir::abi::gpu` describes it.
//!
//! The input is the buffer's bytes; the output is the records. A record that the kernel has not written, or has
//! destroyed, ends the list and is no error.

use cloom_ir::abi::gpu::{RECORD_ARGS, RECORD_FORMAT, RECORD_ITEM, RECORD_SIZE};

/// The value of bytes where no record has been written. Read as the number of a format, it is one that no program has.
pub const UNWRITTEN: u8 = 0xff;

/// A record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record<'a> {
    /// The number of the format.
    pub format: u32,
    /// The work-item's global linear id.
    pub item: u64,
    /// The arguments.
    pub args: &'a [u8],
}

/// The records in these bytes, up to the first that is not whole.
pub fn records(mut bytes: &[u8]) -> impl Iterator<Item = Record<'_>> {
    std::iter::from_fn(move || {
        let word = |at: u64| Some(u32::from_le_bytes(*bytes.get(at as usize..)?.first_chunk()?));
        let format = word(RECORD_FORMAT).filter(|&format| format != u32::from_le_bytes([UNWRITTEN; 4]))?;
        let size = word(RECORD_SIZE)? as usize;
        let item = u64::from_le_bytes(*bytes.get(RECORD_ITEM as usize..)?.first_chunk()?);
        // The size comes from memory that the kernel may have overwritten, so that it may be anything.
        let args = bytes.get(RECORD_ARGS as usize..)?.get(..size)?;
        let length = (RECORD_ARGS as usize + size).next_multiple_of(8);
        bytes = bytes.get(length..).unwrap_or_default();
        Some(Record { format, item, args })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(format: u32, item: u64, args: &[u8]) -> Vec<u8> {
        let mut bytes = [format.to_le_bytes(), (args.len() as u32).to_le_bytes()].concat();
        bytes.extend(item.to_le_bytes());
        bytes.extend(args);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }

    #[test]
    fn records_follow_each_other_at_multiples_of_eight() {
        let bytes = [record(3, 1 << 40, &[1, 2, 3]), record(0, 0, &[]), record(1, 5, &[9; 16])].concat();
        let found: Vec<_> = records(&bytes).map(|r| (r.format, r.item, r.args.to_vec())).collect();
        assert_eq!(found, [(3, 1 << 40, vec![1, 2, 3]), (0, 0, vec![]), (1, 5, vec![9; 16])]);
    }

    #[test]
    fn a_record_that_is_not_whole_ends_the_list() {
        let whole = record(2, 7, &[4; 8]);
        let two = [whole.clone(), whole.clone()].concat();
        for end in 0..two.len() {
            let expected = usize::from(end >= whole.len());
            assert_eq!(records(&two[..end]).count(), expected, "{end} bytes");
        }
        assert_eq!(records(&two).count(), 2);
    }

    #[test]
    fn what_was_not_written_or_claims_too_much_ends_the_list() {
        let whole = record(2, 7, &[4; 8]);
        assert_eq!(records(&[whole.clone(), vec![UNWRITTEN; 64], whole.clone()].concat()).count(), 1);
        let mut damaged = whole.clone();
        damaged[RECORD_SIZE as usize..][..4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(records(&[whole, damaged].concat()).count(), 1);
    }
}
