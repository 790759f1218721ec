//! The machine-dependent part of linking: relocations, stubs, and how code becomes visible to instruction fetch.
//!
//! In comes a relocation's type with the addresses that it relates; out comes the relocated field. Sources: the System
//! V ABI's supplements for x86-64 and for the Arm 64-bit architecture ("ELF for the Arm 64-bit Architecture", table of
//! static relocations). Only the types that the code generator uses in the small, position-independent model are known.

use cloom_hal::HalError;
use object::elf;

/// A family of machines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Machine {
    X86_64,
    Aarch64,
}

/// The value of a relocated field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Patch {
    Word(u32),
    Long(u64),
}

/// Bytes of a stub.
pub const STUB: usize = 16;

impl Machine {
    /// This one.
    pub const HOST: Machine = if cfg!(target_arch = "aarch64") { Machine::Aarch64 } else { Machine::X86_64 };

    /// Its number in the header of an object.
    pub fn elf(self) -> u16 {
        match self {
            Machine::X86_64 => elf::EM_X86_64,
            Machine::Aarch64 => elf::EM_AARCH64,
        }
    }

    /// The granularity of memory permissions: the largest page size of its systems.
    pub const fn page(self) -> usize {
        match self {
            Machine::X86_64 => 4 << 10,
            Machine::Aarch64 => 64 << 10,
        }
    }

    /// A jump to a function that may be too far away for a call.
    pub fn stub(self, to: u64) -> [u8; STUB] {
        let (code, at): (&[u8], _) = match self {
            // jmp [rip+0], and the address.
            Machine::X86_64 => (&[0xff, 0x25, 0, 0, 0, 0], 6),
            // ldr x16, 8; br x16, and the address.
            Machine::Aarch64 => (&[0x50, 0, 0, 0x58, 0, 0x02, 0x1f, 0xd6], 8),
        };
        let mut stub = [0; STUB];
        stub[..code.len()].copy_from_slice(code);
        stub[at..at + 8].copy_from_slice(&to.to_le_bytes());
        stub
    }

    /// Whether a relocation refers to the slot with a symbol's address (GOT) instead of the symbol.
    pub fn reads_slot(self, kind: u32) -> bool {
        match self {
            Machine::X86_64 => {
                matches!(kind, elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX)
            }
            Machine::Aarch64 => matches!(kind, elf::R_AARCH64_ADR_GOT_PAGE | elf::R_AARCH64_LD64_GOT_LO12_NC),
        }
    }

    /// The field at address `place`, which was `old`, relocated to refer to `value`.
    pub fn patch(self, kind: u32, old: u32, place: u64, value: u64) -> Result<Patch, HalError> {
        let relative = value.wrapping_sub(place);
        let unknown = || Err(bad(format!("relocation type {kind}")));
        Ok(match self {
            Machine::X86_64 => match kind {
                elf::R_X86_64_64 => Patch::Long(value),
                elf::R_X86_64_PC64 => Patch::Long(relative),
                elf::R_X86_64_PC32 | elf::R_X86_64_PLT32 => Patch::Word(signed(relative, 32)?),
                _ if self.reads_slot(kind) => Patch::Word(signed(relative, 32)?),
                _ => return unknown(),
            },
            Machine::Aarch64 => match kind {
                elf::R_AARCH64_ABS64 => Patch::Long(value),
                elf::R_AARCH64_PREL64 => Patch::Long(relative),
                elf::R_AARCH64_PREL32 => Patch::Word(signed(relative, 32)?),
                // The distance is counted in instructions of four bytes, in the lowest 26 bits.
                elf::R_AARCH64_CALL26 | elf::R_AARCH64_JUMP26 => {
                    Patch::Word(old & !0x3ff_ffff | signed(aligned(relative, 2)?, 26)?)
                }
                elf::R_AARCH64_ADR_PREL_LO21 => Patch::Word(with_address(old, signed(relative, 21)?)),
                elf::R_AARCH64_ADR_PREL_PG_HI21 | elf::R_AARCH64_ADR_GOT_PAGE => {
                    // The instruction adds pages of 4 KiB to its own page, whatever the system's pages are.
                    let pages = (value & !0xfff).wrapping_sub(place & !0xfff) as i64 >> 12;
                    Patch::Word(with_address(old, signed(pages as u64, 21)?))
                }
                _ => {
                    let scale = match kind {
                        elf::R_AARCH64_ADD_ABS_LO12_NC | elf::R_AARCH64_LDST8_ABS_LO12_NC => 0,
                        elf::R_AARCH64_LDST16_ABS_LO12_NC => 1,
                        elf::R_AARCH64_LDST32_ABS_LO12_NC => 2,
                        elf::R_AARCH64_LDST64_ABS_LO12_NC | elf::R_AARCH64_LD64_GOT_LO12_NC => 3,
                        elf::R_AARCH64_LDST128_ABS_LO12_NC => 4,
                        _ => return unknown(),
                    };
                    Patch::Word(old & !(0xfff << 10) | (aligned(value & 0xfff, scale)? as u32) << 10)
                }
            },
        })
    }
}

/// Why an object is refused.
pub fn bad(what: impl Into<String>) -> HalError {
    HalError::BadCode(what.into())
}

/// A distance as a field of `bits` bits.
fn signed(distance: u64, bits: u32) -> Result<u32, HalError> {
    let spare = 64 - bits;
    if ((distance << spare) as i64 >> spare) as u64 != distance {
        return Err(bad("a reference does not reach"));
    }
    Ok((distance & ((1 << bits) - 1)) as u32)
}

/// An address or a distance as a number of units, whose size is a power of two.
fn aligned(value: u64, unit: u32) -> Result<u64, HalError> {
    match value & ((1 << unit) - 1) {
        0 => Ok((value as i64 >> unit) as u64),
        _ => Err(bad("a reference to what is not aligned")),
    }
}

/// The instruction `adr` or `adrp` with another distance, whose two lowest bits stand apart.
fn with_address(old: u32, distance: u32) -> u32 {
    old & !(3 << 29 | 0x7_ffff << 5) | (distance & 3) << 29 | (distance >> 2) << 5
}

/// Makes code that was written visible to the processors that will fetch it.
#[cfg(target_arch = "aarch64")]
pub fn publish(start: usize, len: usize) {
    use std::arch::asm;
    let ctr: usize;
    // SAFETY: reads a register that every program may read.
    unsafe { asm!("mrs {}, ctr_el0", out(reg) ctr, options(nomem, nostack, preserves_flags)) };
    // The smallest lines of caches for instructions and for data, as logarithms of words.
    let line = |shift: u32| 4usize << (ctr >> shift & 15);
    let lines = |size: usize| (start & !(size - 1)..start + len).step_by(size);
    // SAFETY: cleans lines of the data cache, for memory that the caller has mapped, and changes no byte of it.
    lines(line(16)).for_each(|at| unsafe { asm!("dc cvau, {}", in(reg) at, options(nostack, preserves_flags)) });
    // SAFETY: a barrier.
    unsafe { asm!("dsb ish", options(nostack, preserves_flags)) };
    // SAFETY: drops lines of the instruction cache, for memory that the caller has mapped, and changes no byte of it.
    lines(line(0)).for_each(|at| unsafe { asm!("ic ivau, {}", in(reg) at, options(nostack, preserves_flags)) });
    // SAFETY: barriers.
    unsafe { asm!("dsb ish", "isb", options(nostack, preserves_flags)) };
}

/// x86-64 keeps the caches for instructions and for data alike.
#[cfg(target_arch = "x86_64")]
pub fn publish(_: usize, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output of an assembler and a linker for the same references.
    #[test]
    fn instructions_of_aarch64_get_their_references() {
        let patch = |kind, old, place, value| Machine::Aarch64.patch(kind, old, place, value);
        // bl .+0x1000, b .-4
        assert_eq!(patch(elf::R_AARCH64_CALL26, 0x9400_0000, 0x4000, 0x5000).unwrap(), Patch::Word(0x9400_0400));
        assert_eq!(patch(elf::R_AARCH64_JUMP26, 0x1400_0000, 0x4000, 0x3ffc).unwrap(), Patch::Word(0x17ff_ffff));
        // adrp x0, .+0x3000 and .-0x1000 from the end of a page
        let page = elf::R_AARCH64_ADR_PREL_PG_HI21;
        assert_eq!(patch(page, 0x9000_0000, 0x1ffc, 0x4abc).unwrap(), Patch::Word(0xf000_0000));
        assert_eq!(patch(page, 0x9000_0000, 0x1ffc, 0x0abc).unwrap(), Patch::Word(0xf0ff_ffe0));
        // add x0, x0, 0xabc; ldr q1, [x2, 0xab0]; ldr x3, [x3, 0xab8]
        assert_eq!(patch(elf::R_AARCH64_ADD_ABS_LO12_NC, 0x9100_0000, 0, 0x4abc).unwrap(), Patch::Word(0x912a_f000));
        assert_eq!(patch(elf::R_AARCH64_LDST128_ABS_LO12_NC, 0x3dc0_0041, 0, 0xab0).unwrap(), Patch::Word(0x3dc2_ac41));
        assert_eq!(patch(elf::R_AARCH64_LD64_GOT_LO12_NC, 0xf940_0063, 0, 0xab8).unwrap(), Patch::Word(0xf945_5c63));
        assert_eq!(patch(elf::R_AARCH64_PREL32, 0, 8, 4).unwrap(), Patch::Word(u32::MAX - 3));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let aarch64 = |kind, value| Machine::Aarch64.patch(kind, 0, 0, value);
        assert!(aarch64(elf::R_AARCH64_CALL26, 1 << 27).is_err() && aarch64(elf::R_AARCH64_CALL26, 2).is_err());
        assert!(aarch64(elf::R_AARCH64_CALL26, (1 << 27) - 4).is_ok());
        assert!(aarch64(elf::R_AARCH64_ADR_PREL_PG_HI21, 1 << 32).is_err());
        assert!(aarch64(elf::R_AARCH64_LDST64_ABS_LO12_NC, 4).is_err());
        assert!(aarch64(elf::R_X86_64_64, 0).is_err());
        let x86 = |kind, value| Machine::X86_64.patch(kind, 0, 0, value);
        assert!(x86(elf::R_X86_64_PC32, 1 << 31).is_err() && x86(elf::R_X86_64_PC32, (1 << 31) - 1).is_ok());
        assert!(x86(elf::R_AARCH64_ABS64, 0).is_err());
    }
}
