//! From bytes to instructions: header, byte order, word counts, literal strings.
//!
//! What comes out is only cut into pieces; no operand is looked at.

use crate::error::{Result, bail, ensure};
use crate::limits;
use spirv::Op;

/// An id of the module.
pub(crate) type Id = u32;

/// The words of a module, in the byte order of this machine.
pub(crate) struct Words {
    /// Everything, header included.
    words: Vec<u32>,
}

/// One instruction.
#[derive(Clone, Copy)]
pub(crate) struct Inst<'w> {
    /// What it does.
    pub op: Op,
    /// The word at which it begins.
    pub at: usize,
    /// Its operands; type and id of the result come first, if it has them.
    pub words: &'w [u32],
}

/// Whether bytes begin as SPIR-V does.
pub fn is_spirv(bytes: &[u8]) -> bool {
    bytes.len() >= 20
        && bytes.len().is_multiple_of(4)
        && [spirv::MAGIC_NUMBER.to_le_bytes(), spirv::MAGIC_NUMBER.to_be_bytes()].iter().any(|m| bytes.starts_with(m))
}

impl Words {
    /// Checks the header.
    pub fn read(bytes: &[u8]) -> Result<Words> {
        ensure!(is_spirv(bytes), "this is no SPIR-V module");
        ensure!(bytes.len() <= limits::MODULE_BYTES, "the module has more than {} bytes", limits::MODULE_BYTES);
        let swapped = bytes.starts_with(&spirv::MAGIC_NUMBER.to_be_bytes());
        let word = |b: &[u8]| {
            let b = [b[0], b[1], b[2], b[3]];
            if swapped { u32::from_be_bytes(b) } else { u32::from_le_bytes(b) }
        };
        let words: Vec<u32> = bytes.chunks_exact(4).map(word).collect();
        let (major, minor) = (words[1] >> 16 & 0xff, words[1] >> 8 & 0xff);
        ensure!(major == 1 && minor <= 6, "SPIR-V {major}.{minor} is not known; 1.0 to 1.6 are");
        ensure!(words[4] == 0, "the schema {} of instructions is not known", words[4]);
        Ok(Words { words })
    }

    /// The instructions, in order; after an error there is no other.
    pub fn insts(&self) -> impl Iterator<Item = Result<Inst<'_>>> {
        let mut at = 5;
        std::iter::from_fn(move || {
            (at < self.words.len()).then(|| {
                // At the end until the instruction has turned out to be sound: after an error there is no next one.
                let begin = std::mem::replace(&mut at, self.words.len());
                let (code, count) = (self.words[begin] & 0xffff, (self.words[begin] >> 16) as usize);
                // A count of 0 would make the next instruction this one again.
                let Some(words) = self.words.get(begin + 1..begin + count.max(1)).filter(|_| count > 0) else {
                    bail!("the instruction at word {begin} is longer than the module");
                };
                at = begin + count;
                match Op::from_u32(code) {
                    Some(op) => Ok(Inst { op, at: begin, words }),
                    None => bail!("the instruction {code} at word {begin} is not known"),
                }
            })
        })
    }
}

impl<'w> Inst<'w> {
    /// Operand number `i`.
    pub fn word(&self, i: usize) -> Result<u32> {
        match self.words.get(i) {
            Some(&word) => Ok(word),
            None => bail!("it has too few operands"),
        }
    }

    /// The operands from number `i` on.
    pub fn rest(&self, i: usize) -> &'w [u32] {
        self.words.get(i..).unwrap_or_default()
    }

    /// Type and id of the result.
    pub fn result(&self) -> Result<(Id, Id)> {
        Ok((self.word(0)?, self.word(1)?))
    }

    /// The operands after the result, so many.
    pub fn operands<const N: usize>(&self) -> Result<[u32; N]> {
        match self.rest(2).first_chunk() {
            Some(words) => Ok(*words),
            None => bail!("it has too few operands"),
        }
    }

    /// The string that begins at operand `i`, and the number of the operand after it.
    pub fn string(&self, i: usize) -> Result<(String, usize)> {
        let mut bytes = Vec::new();
        for (k, word) in self.rest(i).iter().enumerate() {
            // The bytes of a string are little-endian in a word, whatever the order of the words' own bytes is.
            for b in word.to_le_bytes() {
                if b == 0 {
                    return Ok((String::from_utf8_lossy(&bytes).into_owned(), i + k + 1));
                }
                bytes.push(b);
            }
        }
        bail!("a string has no end")
    }
}
