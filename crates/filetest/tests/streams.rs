//! Generated kernels that stream on every rung: those whose work-items are joined for GPUs. `CLOOM_TEST_STREAMS` says
//! how many, `CLOOM_TEST_FIRST` the first seed.

#![allow(clippy::print_stdout, reason = "it says how many are joined")]

use cloom_filetest::generate::{Generated, generate_stream};
use cloom_filetest::ladder::{Code, Ladder, Verdict};
use std::collections::BTreeMap;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|s| s.parse().ok()).unwrap_or(default)
}

/// How many work-items of a program are one thread; 1 if they stay apart.
fn factor(ladder: &Ladder, program: &Generated) -> u32 {
    let source = program.source();
    let mut module = ladder.module(&source, program.options).unwrap_or_else(|e| panic!("{e}\n{source}"));
    let kernel = module.find("k").expect("the kernel");
    cloom_passes::run(&mut module, kernel, |_, _| {});
    let (coarse, _) = cloom_spmd::coarsen(&mut module, kernel);
    coarse.map_or(1, |coarse| coarse.factor)
}

#[test]
fn streams_agree_on_every_rung() {
    let (first, count) = (number("CLOOM_TEST_FIRST", 0), number("CLOOM_TEST_STREAMS", 150));
    let ladder = Ladder::with(Code::Some);
    let mut factors: BTreeMap<u32, u64> = BTreeMap::new();
    for seed in first..first + count {
        let program = generate_stream(seed, 40);
        *factors.entry(factor(&ladder, &program)).or_default() += 1;
        match ladder.check(&program) {
            Verdict::Agree => {}
            Verdict::TooLong => panic!("seed {seed} takes too long"),
            Verdict::Invalid(failure) => panic!("seed {seed}: a bad program: {failure}\n{}", program.source()),
            Verdict::Differ(failure) => {
                let (small, failure) = ladder.reduce(&program, &failure);
                panic!("seed {seed}: {failure}\n{small}");
            }
        }
    }
    println!("{count} kernels, by how many work-items are joined: {factors:?}");
    // Both factors that there are, and most kernels.
    let joined = |factor: u32| factors.get(&factor).copied().unwrap_or_default();
    assert!(joined(2) * 10 >= count && (joined(2) + joined(4)) * 10 >= count * 7, "{factors:?}");
}
