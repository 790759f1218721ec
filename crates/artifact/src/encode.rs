//! The envelope: `CLOOM\0`, kind, version, checksum of the body, body. The checksum of an entry of a cache also has the
//! entry's name, so that one that got another's name is none.

use crate::{KernelArtifact, ProgramImage};
use serde::{Serialize, de::DeserializeOwned};

const MAGIC: [u8; 6] = *b"CLOOM\0";
/// Raised when the body's layout changes. The text of the IR in it has a version of its own.
const VERSION: u8 = 14;
const HEADER: usize = MAGIC.len() + 2 + blake3::OUT_LEN;

/// Why bytes cannot be decoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DecodeError {
    /// Not a file of Cloom, but what the text says.
    #[error("this is not a Cloom binary: {0}")]
    Foreign(&'static str),
    /// Another kind of file of Cloom.
    #[error("this Cloom binary is of another kind")]
    Kind,
    /// From another version.
    #[error("this binary has format version {0}, this Cloom reads version {VERSION}: build it again from source")]
    Version(u8),
    /// Changed or cut short.
    #[error("this binary is damaged or cut short: its checksum does not match")]
    Damaged,
}

/// The checksum of a body under a name; a file that may have any name has none.
pub fn checksum(name: &str, body: &[u8]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    if !name.is_empty() {
        // The length keeps name and body apart: a name `ab` before `c` is not a name `a` before `bc`.
        hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
    }
    hasher.update(body).finalize()
}

/// Puts a value into the envelope. Each kind of file has a letter of its own; `K` and `P` are taken here. With a name,
/// the value comes out under this name only.
pub fn encode<T: Serialize>(kind: u8, name: &str, value: &T) -> Vec<u8> {
    // Serialising plain data into memory has no failing path; an empty body would be refused on reading.
    let body = postcard::to_stdvec(value).unwrap_or_default();
    let mut out = Vec::with_capacity(HEADER + body.len());
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&[kind, VERSION]);
    out.extend_from_slice(checksum(name, &body).as_bytes());
    out.extend_from_slice(&body);
    out
}

/// Takes a value of this kind out of the envelope that has this name.
pub fn decode<T: DeserializeOwned>(kind: u8, name: &str, bytes: &[u8]) -> Result<T, DecodeError> {
    let rest = bytes.strip_prefix(&MAGIC).ok_or_else(|| DecodeError::Foreign(foreign(bytes)))?;
    let [k, version, rest @ ..] = rest else { return Err(DecodeError::Damaged) };
    // The version is checked before the kind: another version may give the kinds other letters.
    if *version != VERSION {
        return Err(DecodeError::Version(*version));
    }
    if *k != kind {
        return Err(DecodeError::Kind);
    }
    // The checksum finds damage, not malice: whoever may write the file can make one.
    let (sum, body) = rest.split_at_checked(blake3::OUT_LEN).ok_or(DecodeError::Damaged)?;
    if checksum(name, body).as_bytes().as_slice() != sum {
        return Err(DecodeError::Damaged);
    }
    postcard::from_bytes(body).map_err(|_| DecodeError::Damaged)
}

/// What bytes that are no file of Cloom look like, and what takes them.
fn foreign(bytes: &[u8]) -> &'static str {
    const KNOWN: &[(&[u8], &str)] = &[
        (b"\x7fELF", "it is an ELF object, perhaps of another platform"),
        (b"\x03\x02\x23\x07", "it is SPIR-V, which clCreateProgramWithIL takes"),
        (b"\x07\x23\x02\x03", "it is SPIR-V of the other byte order"),
        (b"BC\xc0\xde", "it is LLVM's bitcode"),
        (b"poclbin", "it is of the platform PoCL"),
    ];
    let known = KNOWN.iter().find(|(start, _)| bytes.starts_with(start));
    match known {
        Some((_, what)) => what,
        None if bytes.is_empty() => "it is empty",
        None if MAGIC.starts_with(bytes) => "it is cut short",
        // Texts have no zero bytes; most binary files have one soon.
        None if !bytes.iter().take(256).any(|&b| b == 0) => "it is a text; clCreateProgramWithSource takes sources",
        None => "it does not begin like one",
    }
}

impl ProgramImage {
    /// As a file.
    pub fn encode(&self) -> Vec<u8> {
        encode(b'P', "", self)
    }

    /// From a file. The IR inside is text that still has to be parsed and verified.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        decode(b'P', "", bytes)
    }
}

impl KernelArtifact {
    /// As a file; with a name, as an entry of a cache.
    pub fn encode(&self, name: &str) -> Vec<u8> {
        encode(b'K', name, self)
    }

    /// From a file, or from the entry of this name.
    pub fn decode(name: &str, bytes: &[u8]) -> Result<Self, DecodeError> {
        decode(b'K', name, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ImageKind;

    fn image() -> ProgramImage {
        ProgramImage { kind: ImageKind::Executable, options: "-DX=1".into(), arg_info: true, ir: "; empty".into() }
    }

    #[test]
    fn an_image_survives_the_round_trip() {
        assert_eq!(ProgramImage::decode(&image().encode()), Ok(image()));
    }

    #[test]
    fn any_changed_or_missing_byte_is_noticed() {
        let good = image().encode();
        for i in 0..good.len() {
            let mut bad = good.clone();
            bad[i] ^= 0x40;
            assert!(ProgramImage::decode(&bad).is_err(), "byte {i} changed unnoticed");
            assert!(ProgramImage::decode(&good[..i]).is_err(), "cut at {i} unnoticed");
        }
    }

    #[test]
    fn positions_survive_with_their_inlined_calls() {
        let text = "func internal @f() {\n  inlined @g !0:1:2\n  inlined @h !1:3:4@1\nbb0:\n    ret !300:5:6@2\n}\n";
        let module = cloom_ir::parse(text).unwrap();
        let bytes = encode(b'X', "", &module);
        assert_eq!(decode::<cloom_ir::Module>(b'X', "", &bytes), Ok(module));
        // Without a call, the bytes are those of file, line and column.
        let span = cloom_ir::Span { file: 300, line: 70_000, col: 9, inlined: 0 };
        assert_eq!(postcard::to_stdvec(&span), postcard::to_stdvec(&(300u16, 70_000u32, 9u16)));
    }

    #[test]
    fn an_entry_has_no_other_name() {
        let bytes = encode(b'X', "ab", &"value");
        let get = |name: &str| decode::<String>(b'X', name, &bytes);
        assert_eq!(get("ab"), Ok("value".to_owned()));
        for other in ["", "a", "ba", "abc", "AB"] {
            assert_eq!(get(other), Err(DecodeError::Damaged), "{other}");
        }
        assert_eq!(decode::<String>(b'X', "ab", &encode(b'X', "", &"value")), Err(DecodeError::Damaged));
    }

    #[test]
    fn a_foreign_or_other_file_is_told_apart() {
        let why = |bytes: &[u8]| ProgramImage::decode(bytes).unwrap_err().to_string();
        for (bytes, words) in [
            (b"\x7fELF....".as_slice(), "ELF object"),
            (b"\x03\x02\x23\x07\0\0\x01\0", "clCreateProgramWithIL"),
            (b"poclbin\0", "PoCL"),
            (b"kernel void k() {}", "clCreateProgramWithSource"),
            (b"CLO", "cut short"),
            (b"", "empty"),
            (b"\0\x01\x02", "does not begin like one"),
        ] {
            assert!(why(bytes).contains(words), "{}", why(bytes));
        }
        assert_eq!(KernelArtifact::decode("", &image().encode()), Err(DecodeError::Kind));
    }
}
