//! NVIDIA's GPUs. In comes a compute capability (`sm_90`), out come the features of a thread and the machine.
//!
//! Source of the figures: the table of compute capabilities in the CUDA programming guide.

use crate::cpu::Features;
use crate::machine::{CodeUnit, Family, Machine};

/// LLVM's triple of their targets.
pub const TRIPLE: &str = "nvptx64-nvidia-cuda";

/// The oldest compute capability, times ten: older GPUs lack independent thread scheduling.
const MIN_CAPABILITY: u32 = 70;

pub(crate) const FAMILY: Family = Family {
    triple: TRIPLE,
    known: "sm_ and a compute capability from 70 on",
    find: |cpu| capability(cpu).map(|_| (FEATURES, MACHINE)),
};

/// What a thread has.
const FEATURES: Features = Features {
    // A thread has scalar registers of 32 bits. The vectors of a GPU are its warps, which are no affair of one thread.
    vector_bits: 32,
    vector_registers: 255,
    fma: true,
    half_conversion: true,
    saturating_conversion: true,
    ..Features::GENERIC
};

/// The same for all compute capabilities.
const MACHINE: Machine = Machine {
    code_unit: CodeUnit::WorkItem,
    simd_group: Some(32),
    sector: Some(32),
    generic_pointers: true,
    special_units: true,
    slow_division: true,
};

/// Ten times the compute capability that a processor's name stands for, if code can be made for it.
pub fn capability(cpu: &str) -> Option<u32> {
    cpu.strip_prefix("sm_")?.parse().ok().filter(|&capability| capability >= MIN_CAPABILITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_made_from_volta_on() {
        assert_eq!(["sm_70", "sm_90", "sm_120"].map(capability), [Some(70), Some(90), Some(120)]);
        assert_eq!(["sm_61", "sm_", "90", "generic"].map(capability), [None; 4]);
    }
}
