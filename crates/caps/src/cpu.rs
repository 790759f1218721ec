//! The instruction sets that code is made for.
//!
//! A target is `triple:cpu` (`x86_64-unknown-linux-gnu:x86-64-v3`), where `cpu` is LLVM's name of a level; perhaps
//! followed by what its processors are good at (`+intel`).

/// LLVM's name of the machines with x86-64 processors.
pub const X86_64: &str = "x86_64-unknown-linux-gnu";
/// LLVM's name of the machines with 64-bit Arm processors.
pub const AARCH64: &str = "aarch64-unknown-linux-gnu";
/// That of the machines that run this very code.
pub const HOST: &str = if cfg!(target_arch = "aarch64") { AARCH64 } else { X86_64 };

/// What follows the CPU's name in that of a target if, of the same instructions, its processors are good at others than
/// most: they gather from addresses in a vector faster than they load lane by lane.
pub const INTEL: &str = "+intel";

/// A set of instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level {
    /// Its name for people.
    pub name: &'static str,
    /// The machines that may have it.
    pub triple: &'static str,
    /// Its name in targets.
    pub cpu: &'static str,
    /// The bits of a vector register.
    pub vector_bits: u32,
    /// What it has.
    pub brings: &'static str,
}

/// Every level, each family's least first. Those of x86-64 are those of its psABI but the first, because without SSE
/// 4.1 rounding would need a library; AArch64 always has its vector unit.
pub const LEVELS: &[Level] = &[
    Level { name: "sse4.2", triple: X86_64, cpu: "x86-64-v2", vector_bits: 128, brings: "vectors of 128 bits" },
    Level {
        name: "avx2",
        triple: X86_64,
        cpu: "x86-64-v3",
        vector_bits: 256,
        brings: "vectors of 256 bits, fused multiply-add, half conversion",
    },
    Level { name: "avx512", triple: X86_64, cpu: "x86-64-v4", vector_bits: 512, brings: "vectors of 512 bits, masks" },
    Level {
        name: "neon",
        triple: AARCH64,
        cpu: "generic",
        vector_bits: 128,
        brings: "vectors of 128 bits, fused multiply-add, half conversion",
    },
];

impl Level {
    /// `triple:cpu`.
    pub fn target(&self) -> String {
        format!("{}:{}", self.triple, self.cpu)
    }

    /// Whether its code differs by what processors are good at.
    pub fn may_be_tuned(&self) -> bool {
        self.cpu == "x86-64-v4"
    }

    /// The names for people, with what its processors are good at where that matters.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let tuned = self.may_be_tuned().then(|| format!("{}{INTEL}", self.name));
        std::iter::once(self.name.to_owned()).chain(tuned)
    }

    /// The level of a target.
    pub fn of(target: &str) -> Option<&'static Level> {
        let (triple, cpu) = instructions(target).split_once(':')?;
        LEVELS.iter().find(|l| l.triple == triple && l.cpu == cpu)
    }

    /// The level of this family of machines with a name, whichever of its two.
    pub fn named(name: &str) -> Option<&'static Level> {
        here().find(|l| l.is_called(name))
    }

    /// Whether one of its two names is this.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.cpu == name
    }

    /// Whether this machine has it.
    pub fn is_here(&self) -> bool {
        self.triple == HOST && has(self.cpu)
    }
}

/// The levels of this family of machines, the least first.
pub fn here() -> impl DoubleEndedIterator<Item = &'static Level> {
    LEVELS.iter().filter(|l| l.triple == HOST)
}

/// The best level that this machine has; `None` if it has none.
pub fn best() -> Option<&'static Level> {
    here().rev().find(|level| level.is_here())
}

/// The bits of a vector register of a target; of one that is not known, the least there is.
pub fn vector_bits(target: &str) -> u32 {
    Level::of(target).map_or(128, |level| level.vector_bits)
}

/// Whether a target's processors are like Intel's: they gather from addresses in a vector faster than they load lane by
/// lane, and hints bring what is far apart in memory as fast as it comes in order.
pub fn is_like_intel(target: &str) -> bool {
    target.ends_with(INTEL)
}

/// Whether this machine has a level of its family.
#[cfg(target_arch = "x86_64")]
fn has(cpu: &str) -> bool {
    macro_rules! have {
        ($($feature:tt)*) => { $(std::arch::is_x86_feature_detected!($feature))&&* };
    }
    let least = have!("sse3" "ssse3" "sse4.1" "sse4.2" "popcnt" "cmpxchg16b");
    let avx2 = || least && have!("avx" "avx2" "bmi1" "bmi2" "f16c" "fma" "lzcnt" "movbe");
    match cpu {
        "x86-64-v2" => least,
        "x86-64-v3" => avx2(),
        _ => avx2() && have!("avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl"),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn has(_: &str) -> bool {
    true
}

/// The names that a user may give here.
pub fn names() -> Vec<String> {
    here().flat_map(Level::names).collect()
}

/// A target's name, or a CPU's, without what its processors are good at: what they must have to run its code.
pub fn instructions(target: &str) -> &str {
    target.strip_suffix(INTEL).unwrap_or(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_found_by_what_it_is_called() {
        for level in LEVELS {
            assert_eq!(Level::of(&level.target()), Some(level));
            assert_eq!(Level::of(&(level.target() + INTEL)), Some(level));
        }
        for level in here() {
            assert_eq!(Level::named(level.name), Some(level));
            assert_eq!(Level::named(level.cpu), Some(level));
        }
        assert_eq!(Level::of("x86_64-unknown-linux-gnu:x86-64"), None);
        assert_eq!(Level::named("mmx"), None);
        assert!(here().count() > 0);
    }
}
