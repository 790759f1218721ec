//! Which of the CPU levels of [`cloom_target`] this machine has.

use cloom_target::cpu::of;
use cloom_target::{Architecture, Level, Target};

/// The levels of this machine's architecture, the least first, whether it has them or not.
pub fn here() -> impl DoubleEndedIterator<Item = &'static Level> {
    of(Architecture::HOST)
}

/// The best level that this machine has; `None` if it has none.
pub fn best() -> Option<&'static Level> {
    // Levels are sorted by what they have, the least first: from the end, the first that is here is the best.
    here().rev().find(|level| is_here(level))
}

/// The names that a user may give on this architecture.
pub fn names() -> Vec<String> {
    here().flat_map(Level::names).collect()
}

/// The target of this machine's architecture that a user names, such as `avx2`; whether the machine has it or not.
pub fn named(name: &str) -> Option<Target> {
    cloom_target::cpu::named(Architecture::HOST, name)
}

/// Whether this machine has a level.
pub fn is_here(level: &Level) -> bool {
    level.architecture == Architecture::HOST && has(level.cpu)
}

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
        "x86-64-v4" => avx2() && have!("avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl"),
        _ => false,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn has(_: &str) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_has_every_level_below_its_best() {
        let has: Vec<bool> = here().map(is_here).collect();
        assert!(!has.is_empty() && has.is_sorted_by(|low, high| low >= high), "{has:?}");
        assert_eq!(best().is_some(), has[0]);
    }

    #[test]
    fn what_another_architecture_has_is_not_here() {
        assert!(cloom_target::LEVELS.iter().filter(|l| l.architecture != Architecture::HOST).all(|l| !is_here(l)));
    }
}
