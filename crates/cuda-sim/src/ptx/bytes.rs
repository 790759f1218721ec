//! Values as bytes in memory.

/// A little-endian number of up to eight bytes.
pub(super) fn from_bytes(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}
