//! What a machine is like for code generation and launches, as questions.
//!
//! In comes a row of a family's table ([`Family`]), or the description in the name of a target; out comes a
//! [`Machine`]. A decision asks for the property that it depends on, and not for the vendor, so that it holds for the
//! next device, too. Each question is asked somewhere; a new one is added together with its first use.
//!
//! A device without a table describes its machine in the name of its target, by words after a plus sign:
//!
//! ```text
//! stub:any+work-item,simd64,sector64
//! ```
//!
//! | word | meaning |
//! |---|---|
//! | `work-item` | [`CodeUnit::WorkItem`] |
//! | `simdN` | [`Machine::simd_group`] is N |
//! | `sectorN` | [`Machine::sector`] is N |
//! | `generic-pointers` | [`Machine::has_generic_pointers`] |
//! | `special-units` | [`Machine::has_special_units`] |
//! | `slow-division` | [`Machine::divides_slowly`] |

use crate::cpu::Features;

/// What the entry of a kernel's machine code runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CodeUnit {
    /// One work-item. The machine forms groups of them and has barriers.
    WorkItem,
    /// A work-group: the compiler vectorises its work-items.
    WorkGroup,
}

/// The most work-items of a SIMD group: a ballot of one has 64 bits.
const MAX_SIMD_GROUP: u32 = 64;
/// The most bytes of a sector.
const MAX_SECTOR: u32 = 4096;

/// The words of a description, for messages.
pub(crate) const WORDS: &str = "work-item, simdN, sectorN, generic-pointers, special-units or slow-division, each once, \
                                where N is a power of two of at most 64 work-items or 4096 bytes";

/// A machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Machine {
    pub(crate) code_unit: CodeUnit,
    pub(crate) simd_group: Option<u32>,
    pub(crate) sector: Option<u32>,
    pub(crate) generic_pointers: bool,
    pub(crate) special_units: bool,
    pub(crate) slow_division: bool,
}

impl Machine {
    /// A CPU, or a machine of which nothing is known.
    pub(crate) const GENERIC: Machine = Machine {
        code_unit: CodeUnit::WorkGroup,
        simd_group: None,
        sector: None,
        generic_pointers: false,
        special_units: false,
        slow_division: false,
    };

    /// What the entry of a kernel's code runs.
    pub fn code_unit(&self) -> CodeUnit {
        self.code_unit
    }

    /// The number of work-items that run in lockstep, if the machine fixes it: neighbours by local linear id. They are
    /// a sub-group. `None` if the compiler chooses the number for each kernel.
    pub fn simd_group(&self) -> Option<u32> {
        self.simd_group
    }

    /// Bytes of one memory transaction. The access of a SIMD group takes one for each sector that it touches. `None` if
    /// accesses are not combined in this way.
    pub fn sector(&self) -> Option<u32> {
        self.sector
    }

    /// Whether loads and stores take a generic pointer and find its address space themselves. If not, the compiler
    /// gives such pointers a tag and tests it, or the device does not offer them.
    pub fn has_generic_pointers(&self) -> bool {
        self.generic_pointers
    }

    /// Whether it has units for texture samples and for the approximations of a GPU (reciprocals, roots, powers of two,
    /// logarithms), which some functions of the library have a version for.
    pub fn has_special_units(&self) -> bool {
        self.special_units
    }

    /// Whether correctly rounded quotients and square roots of `float` take much longer than those of the precision
    /// that OpenCL C requires.
    pub fn divides_slowly(&self) -> bool {
        self.slow_division
    }

    /// The machine of a description. The error is the word that is unknown, has a wrong number, or is there twice.
    pub(crate) fn described(description: &str) -> Result<Machine, &str> {
        let mut machine = Machine::GENERIC;
        for word in description.split(',') {
            // A word that changes nothing is unknown, has a wrong number, or is there twice: no word means a default.
            let before = machine;
            match word {
                "work-item" => machine.code_unit = CodeUnit::WorkItem,
                "generic-pointers" => machine.generic_pointers = true,
                "special-units" => machine.special_units = true,
                "slow-division" => machine.slow_division = true,
                _ => {
                    if let Some(n) = number(word, "simd", MAX_SIMD_GROUP).filter(|_| machine.simd_group.is_none()) {
                        machine.simd_group = Some(n);
                    } else if let Some(n) = number(word, "sector", MAX_SECTOR).filter(|_| machine.sector.is_none()) {
                        machine.sector = Some(n);
                    }
                }
            }
            if machine == before {
                return Err(word);
            }
        }
        Ok(machine)
    }
}

/// The number after the name of a property: a power of two without leading zeros.
fn number(word: &str, property: &str, most: u32) -> Option<u32> {
    let digits = word.strip_prefix(property)?;
    let number: u32 = digits.parse().ok()?;
    // Only the usual text of the number (not `simd08` or `simd+8`), because targets are compared by name.
    (number.is_power_of_two() && number <= most && number.to_string() == digits).then_some(number)
}

/// The devices of one kind, found by the triple of their targets.
pub(crate) struct Family {
    /// LLVM's triple.
    pub(crate) triple: &'static str,
    /// The processors that it has, in words.
    pub(crate) known: &'static str,
    /// The features of a processor, as one work-item sees them, and the machine.
    pub(crate) find: fn(&str) -> Option<(Features, Machine)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_answers_its_question() {
        let machine = |text| Machine::described(text).unwrap();
        let all = machine("simd64,work-item,sector128,generic-pointers,special-units,slow-division");
        assert_eq!((all.code_unit(), all.simd_group(), all.sector()), (CodeUnit::WorkItem, Some(64), Some(128)));
        assert!(all.has_generic_pointers() && all.has_special_units() && all.divides_slowly());
        let one = machine("work-item");
        assert_eq!((one.code_unit(), one.simd_group(), one.sector()), (CodeUnit::WorkItem, None, None));
        assert!(!one.has_generic_pointers() && !one.has_special_units() && !one.divides_slowly());
    }

    #[test]
    fn wrong_words_are_told() {
        for (text, wrong) in [
            ("thing", "thing"),
            ("", ""),
            ("work-item,", ""),
            ("work-item,work-item", "work-item"),
            ("simd32,simd64", "simd64"),
            ("simd48", "simd48"),
            ("simd128", "simd128"),
            ("simd", "simd"),
            ("simd+8", "simd+8"),
            ("simd08", "simd08"),
            ("work-item, simd64", " simd64"),
            ("sector8192", "sector8192"),
            ("sector99999999999", "sector99999999999"),
        ] {
            assert_eq!(Machine::described(text), Err(wrong));
        }
    }
}
