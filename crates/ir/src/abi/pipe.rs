//! What a kernel receives for a pipe: the address of its header, `ptr<global>`, which its packets lie behind.
//!
//! The header is words of eight bytes. First come constants: bytes of a packet, packets at most, slots minus one, and
//! the offset of the slots in bytes. Then come the counters of the two sides, each in a cache line of its own, and the
//! marks of reservations, two words for each slot and side. `builtins/lib/pipe.cl` says what they mean. There are no
//! addresses in a pipe, so that its bytes mean the same in every memory.

/// Bytes of the header before the marks.
const FIXED: u64 = 384;
/// Bytes of the marks of a slot.
const MARKS: u64 = 32;
/// The first slot is aligned so, and with it every packet: sizes are multiples of alignments.
pub const ALIGN: u64 = 128;

/// The memory of a pipe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// The constants, which are followed by zeros as long as the pipe is new.
    pub words: [u64; 4],
    /// All bytes: header and slots.
    pub size: u64,
}

/// The memory of a pipe for packets of so many bytes, at most so many. There is a power of two of slots.
pub fn layout(packet_size: u32, max_packets: u32) -> Layout {
    // A power of two, so that the low bits of a packet's number are its slot, also when the numbers wrap.
    let slots = u64::from(max_packets).next_power_of_two();
    let data = (FIXED + slots * MARKS).next_multiple_of(ALIGN);
    let words = [u64::from(packet_size), u64::from(max_packets), slots - 1, data];
    // The largest arguments do not fit; no device has so much memory.
    Layout { words, size: data.saturating_add(slots.saturating_mul(u64::from(packet_size))) }
}

impl Layout {
    /// Where the slots begin; before them are the header and the marks, zeros but for the constants.
    pub fn slots_offset(&self) -> u64 {
        self.words[3]
    }

    /// The constants as bytes.
    pub fn header(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (to, word) in bytes.chunks_exact_mut(8).zip(self.words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_a_power_of_two_behind_the_marks() {
        let l = layout(12, 5);
        assert_eq!(l.words, [12, 5, 7, 640]);
        assert_eq!(l.size, 640 + 8 * 12);
        assert_eq!(&l.header()[8..16], &[5, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(layout(1, 1), Layout { words: [1, 1, 0, 512], size: 513 });
        // The largest sizes do not overflow.
        assert_eq!(layout(u32::MAX, u32::MAX).size, u64::MAX);
    }
}
