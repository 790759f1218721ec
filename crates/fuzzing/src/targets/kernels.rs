//! Generated programs on every rung, without end.

use super::{Reach, Target};
use cloom_filetest::generate::{Profile, generate};
use cloom_filetest::ladder::{Ladder, Verdict};
use std::sync::LazyLock;

/// See the file's head.
pub const TARGET: Target =
    Target { name: "kernels", corpus: Vec::new, words: &[], mutated: false, gate: "ran on every rung", run };

fn run(input: &[u8]) -> Result<Reach, String> {
    static LADDER: LazyLock<Ladder> = LazyLock::new(Ladder::new);
    let seed: u64 = String::from_utf8_lossy(input).trim().parse().map_err(|_| "the input is no number")?;
    let profile = Profile::of(seed);
    let program = generate(seed, profile);
    match LADDER.check(&program) {
        Verdict::Agree => Ok(Reach::Accepted),
        Verdict::TooLong => Ok(Reach::Rejected),
        Verdict::Invalid(failure) => Err(format!("a bad program: {failure}\n{}", program.source())),
        Verdict::Differ(failure) => {
            let (small, failure) = LADDER.reduce(&program, &failure);
            Err(format!("options `{}`: {failure}\n{small}", program.options))
        }
    }
}
