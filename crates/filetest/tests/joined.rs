//! Generated kernels whose work-items, or groups, are joined for GPUs, on every rung. `CLOOM_TEST_JOINED` says how many
//! of each kind, `CLOOM_TEST_FIRST` the first seed.

#![allow(clippy::print_stdout, reason = "it says how many are joined")]

use cloom_artifact::Joined;
use cloom_filetest::generate::{Generated, generate_stream, generate_tiles};
use cloom_filetest::ladder::{Code, Ladder, Verdict};
use cloom_passes::{PassManager, PassOptions};

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|s| s.parse().ok()).unwrap_or(default)
}

/// How many work-items of a program are one thread, and which.
fn joined(ladder: &Ladder, program: &Generated) -> Option<(u32, Joined)> {
    let source = program.source();
    let mut module = ladder.module(&source, program.options).unwrap_or_else(|e| panic!("{e}\n{source}"));
    let kernel = module.find("k").expect("the kernel");
    cloom_passes::run(&mut module, kernel, |_, _| {});
    let options = PassOptions::default();
    let (coarse, _) = cloom_spmd::coarsen(&mut module, kernel, &PassManager::new(&options));
    coarse.map(|coarse| (coarse.factor, coarse.joined))
}

/// Checks the programs of a kind. What of each is joined.
fn check(generated: impl Fn(u64) -> Generated) -> Vec<Option<(u32, Joined)>> {
    let (first, count) = (number("CLOOM_TEST_FIRST", 0), number("CLOOM_TEST_JOINED", 150));
    let ladder = Ladder::with(Code::Some);
    let check = |seed| {
        let program = generated(seed);
        match ladder.check(&program) {
            Verdict::Agree => joined(&ladder, &program),
            Verdict::TooLong => panic!("seed {seed} takes too long"),
            Verdict::Invalid(failure) => panic!("seed {seed}: a bad program: {failure}\n{}", program.source()),
            Verdict::Differ(failure) => {
                let (small, failure) = ladder.reduce(&program, &failure);
                panic!("seed {seed}: {failure}\n{small}");
            }
        }
    };
    (first..first + count).map(check).collect()
}

#[test]
fn streams_agree_on_every_rung() {
    let all = check(|seed| generate_stream(seed, 40));
    let joined = |factor| all.iter().filter(|&&joined| joined == Some((factor, Joined::WorkItems))).count();
    println!("{} kernels, {} joined by 2 and {} by 4", all.len(), joined(2), joined(4));
    // Both factors that there are, and most kernels.
    assert!(joined(2) * 10 >= all.len() && (joined(2) + joined(4)) * 10 >= all.len() * 7);
}

#[test]
fn tiles_agree_on_every_rung() {
    let all = check(|seed| generate_tiles(seed, 4));
    let joined = all.iter().filter(|joined| matches!(joined, Some((_, Joined::Groups { .. })))).count();
    println!("{} kernels, {joined} joined", all.len());
    assert!(joined * 10 >= all.len() * 5);
}
