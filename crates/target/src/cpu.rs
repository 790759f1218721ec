//! The CPU levels that code is made for: the features of each instruction set, and the tuning for its machines.
//!
//! A level is a row of [`LEVELS`]. Those of x86-64 are the levels of its psABI except the first, because rounding
//! without SSE 4.1 would need a library; AArch64 always has its vector unit. Which of them this machine has is decided
//! in `cloom_caps::cpu`.

use crate::{Architecture, Target};

/// Instructions for masked consecutive access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MaskedAccess {
    /// None.
    None,
    /// Loads of elements of at least 32 bits. AVX2 has such stores too, but on AMD's processors they take about twice
    /// as long as storing eight lanes one by one.
    WordLoads,
    /// Loads and stores of all elements.
    All,
}

/// What an instruction set has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Features {
    /// Bits of a vector register.
    pub vector_bits: u32,
    /// How many vector registers there are.
    pub vector_registers: u32,
    /// How many mask registers there are; 0 if masks are vectors of integers.
    pub mask_registers: u32,
    /// Masked consecutive access.
    pub masked_access: MaskedAccess,
    /// Masked gathers and scatters.
    pub gather_scatter: bool,
    /// Whether there is a fused multiply-add.
    pub fma: bool,
    /// Whether halves are converted by an instruction.
    pub half_conversion: bool,
    /// Whether the conversion of float vectors to integers saturates and takes NaN to zero.
    pub saturating_conversion: bool,
}

impl Features {
    /// The least that any machine has.
    pub const GENERIC: Features = Features {
        vector_bits: 128,
        vector_registers: 16,
        mask_registers: 0,
        masked_access: MaskedAccess::None,
        gather_scatter: false,
        fma: false,
        half_conversion: false,
        saturating_conversion: false,
    };
    const AVX2: Features = Features {
        vector_bits: 256,
        // AVX2 has gathers, too, but no scatters: `gather_scatter` stands for both.
        masked_access: MaskedAccess::WordLoads,
        fma: true,
        half_conversion: true,
        ..Features::GENERIC
    };
    const AVX512: Features = Features {
        vector_bits: 512,
        vector_registers: 32,
        mask_registers: 8,
        masked_access: MaskedAccess::All,
        gather_scatter: true,
        ..Features::AVX2
    };
    const NEON: Features = Features {
        vector_registers: 32,
        fma: true,
        half_conversion: true,
        saturating_conversion: true,
        ..Features::GENERIC
    };
}

/// A cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cache {
    /// Bytes.
    pub size: u32,
    /// Lines of a set.
    pub ways: u32,
}

/// What is fast on the machines of a level: the inputs of cost decisions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tuning {
    /// Whether gathering from addresses in a vector is faster than loading lane by lane. (A Xeon of 2023 took a quarter
    /// to two fifths of the time where kernels read scattered numbers, Zen 5 1.1 to 1.3 times as long.)
    pub fast_gather: bool,
    /// Whether software prefetches make strided access as fast as sequential access, so that grid-stride loops need no
    /// batching.
    pub prefers_prefetch: bool,
    /// Bytes of a cache line.
    pub cache_line: u32,
    /// The first-level data cache, at least.
    pub l1: Cache,
    /// How many vector registers a value has, at best: several independent operations hide the latency of arithmetic.
    /// (Mandelbrot on AVX2, two against one: 1.45 times as fast; with four, values are spilled, and it is no faster
    /// than with one.)
    pub interleave: u32,
    /// The most cache lines in use at once when columns are written (store streams). If the rows of a matrix are a
    /// power of two long, these lines share one set of the first-level cache. (1024 by 1024 numbers transposed, on
    /// AVX-512: 0.3 ms with 4 lanes, 0.58 with 8, 1.8 with 16.)
    pub open_lines_written: u32,
    /// The same for columns that are read, where reuse hits the second-level cache; or for rows that are written, where
    /// each line is completed within so many iterations.
    pub open_lines_read: u32,
}

impl Tuning {
    /// What is right for most machines.
    pub const GENERIC: Tuning = Tuning {
        fast_gather: false,
        prefers_prefetch: false,
        cache_line: 64,
        l1: Cache { size: 32 << 10, ways: 8 },
        interleave: 2,
        open_lines_written: 4,
        open_lines_read: 8,
    };
    /// Intel's processors with AVX-512.
    const INTEL: Tuning =
        Tuning { fast_gather: true, prefers_prefetch: true, l1: Cache { size: 48 << 10, ways: 12 }, ..Tuning::GENERIC };
}

/// The suffix of [`Tuning::INTEL`] in the name of a target.
const INTEL: &str = "intel";

/// A set of instructions.
#[derive(PartialEq, Debug)]
pub struct Level {
    /// Its name for people.
    pub name: &'static str,
    /// The machines that may have it.
    pub architecture: Architecture,
    /// Its name in targets, which is LLVM's.
    pub cpu: &'static str,
    /// What it has, in words.
    pub brings: &'static str,
    /// What it has.
    pub features: Features,
    /// Suffixes that its targets may have, and the tuning for each.
    tunings: &'static [(&'static str, Tuning)],
}

/// Every level, each architecture's least first.
pub const LEVELS: &[Level] = &[
    Level {
        name: "sse4.2",
        architecture: Architecture::X86_64,
        cpu: "x86-64-v2",
        brings: "vectors of 128 bits",
        features: Features::GENERIC,
        tunings: &[],
    },
    Level {
        name: "avx2",
        architecture: Architecture::X86_64,
        cpu: "x86-64-v3",
        brings: "vectors of 256 bits, fused multiply-add, half conversion",
        features: Features::AVX2,
        tunings: &[],
    },
    Level {
        name: "avx512",
        architecture: Architecture::X86_64,
        cpu: "x86-64-v4",
        brings: "vectors of 512 bits, masks",
        features: Features::AVX512,
        tunings: &[(INTEL, Tuning::INTEL)],
    },
    Level {
        name: "neon",
        architecture: Architecture::AArch64,
        cpu: "generic",
        brings: "vectors of 128 bits, fused multiply-add, half conversion",
        features: Features::NEON,
        tunings: &[],
    },
];

/// The levels of an architecture, the least first.
pub fn of(architecture: Architecture) -> impl DoubleEndedIterator<Item = &'static Level> {
    LEVELS.iter().filter(move |l| l.architecture == architecture)
}

impl Level {
    /// The target with this level and no special tuning.
    pub fn target(&'static self) -> Target {
        Target::of_level(format!("{}:{}", self.architecture.triple(), self.cpu), self, Tuning::GENERIC)
    }

    /// The target with the tuning of a suffix (`intel`); none if the level has no such tuning.
    pub fn tuned(&'static self, suffix: &str) -> Option<Target> {
        let (suffix, tuning) = self.tunings.iter().find(|(name, _)| *name == suffix)?;
        Some(Target::of_level(format!("{}:{}+{suffix}", self.architecture.triple(), self.cpu), self, *tuning))
    }

    /// The target for machines that are like Intel's: tuned for them if that makes a difference at this level.
    pub fn tuned_for_intel(&'static self) -> Target {
        self.tuned(INTEL).unwrap_or_else(|| self.target())
    }

    /// The names that people give: the level's, and the same with each suffix.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let tuned = self.tunings.iter().map(|(suffix, _)| format!("{}+{suffix}", self.name));
        std::iter::once(self.name.to_owned()).chain(tuned)
    }
}

/// The target that a person names by its level, in either of two ways, and perhaps a tuning: `avx512`, `x86-64-v4`,
/// `avx512+intel`.
pub fn named(architecture: Architecture, name: &str) -> Option<Target> {
    let (plain, suffix) = name.split_once('+').map_or((name, None), |(plain, suffix)| (plain, Some(suffix)));
    let level = of(architecture).find(|l| l.name == plain || l.cpu == plain)?;
    suffix.map_or_else(|| Some(level.target()), |suffix| level.tuned(suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_found_by_both_of_its_names() {
        for level in LEVELS {
            assert_eq!(named(level.architecture, level.cpu), Some(level.target()));
            for name in level.names() {
                assert_eq!(named(level.architecture, &name).and_then(|t| t.level()), Some(level), "{name}");
            }
        }
        let tuned = named(Architecture::X86_64, "avx512+intel").unwrap();
        assert_eq!(tuned.name(), "x86_64-unknown-linux-gnu:x86-64-v4+intel");
        assert_eq!(named(Architecture::X86_64, "avx2+intel"), None);
        assert_eq!(named(Architecture::X86_64, "mmx"), None);
        assert_eq!(named(Architecture::AArch64, "avx2"), None);
    }

    #[test]
    fn open_lines_fit_a_set_of_the_first_level_cache() {
        for tuning in [Tuning::GENERIC, Tuning::INTEL] {
            assert!(tuning.open_lines_written <= tuning.open_lines_read && tuning.open_lines_read <= tuning.l1.ways);
        }
    }
}
