//! Identifiers of devices and drivers.
//!
//! In come texts that describe something; out goes a UUID that is the same wherever the texts are: version 8 of RFC
//! 9562, whose bits are free, here of a BLAKE3 hash. So a device keeps its identifier across processes and restarts
//! without anything being stored.

/// Bytes of an identifier.
pub const UUID_BYTES: usize = 16;

/// The UUID of what these texts describe.
pub fn uuid(parts: &[&str]) -> [u8; UUID_BYTES] {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        // With its length, so that parts do not run together.
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    let mut id = [0; UUID_BYTES];
    id.copy_from_slice(&hasher.finalize().as_bytes()[..UUID_BYTES]);
    // Version and variant.
    id[6] = id[6] & 0x0f | 0x80;
    id[8] = id[8] & 0x3f | 0x80;
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_is_that_of_its_parts() {
        let id = uuid(&["a", "bc"]);
        assert_eq!(id, uuid(&["a", "bc"]));
        assert_ne!(id, uuid(&["ab", "c"]), "parts do not run together");
        assert_eq!((id[6] >> 4, id[8] >> 6), (8, 2), "version and variant");
    }
}
