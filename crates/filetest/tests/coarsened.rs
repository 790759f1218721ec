//! Generated kernels whose work-items, or groups, are coarsened for GPUs, on every rung. `CLOOM_TEST_COARSENED` says
//! how many of each kind, `CLOOM_TEST_FIRST` the first seed.

#![allow(clippy::print_stdout, reason = "it says how many are coarsened")]

use cloom_artifact::Coarsening;
use cloom_filetest::generate::{Generated, generate_stream, generate_tiles};
use cloom_filetest::ladder::{Code, Ladder, Verdict};
use cloom_passes::{PassManager, PassOptions};

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|s| s.parse().ok()).unwrap_or(default)
}

/// How many work-items of a program are one thread, and which.
fn coarsened(ladder: &Ladder, program: &Generated) -> Option<(u32, Coarsening)> {
    let source = program.source();
    let mut module = ladder.module(&source, program.options).unwrap_or_else(|e| panic!("{e}\n{source}"));
    let kernel = module.find("k").expect("the kernel");
    cloom_passes::run(&mut module, kernel, |_, _| {});
    let options = PassOptions::default();
    let (coarse, _) = cloom_spmd::coarsen(&mut module, kernel, &PassManager::new(&options));
    coarse.map(|coarse| (coarse.factor, coarse.coarsening))
}

/// Checks the programs of a kind. What of each is coarsened.
fn check(generated: impl Fn(u64) -> Generated) -> Vec<Option<(u32, Coarsening)>> {
    let (first, count) = (number("CLOOM_TEST_FIRST", 0), number("CLOOM_TEST_COARSENED", 150));
    let ladder = Ladder::with(Code::Some);
    let check = |seed| {
        let program = generated(seed);
        match ladder.check(&program) {
            Verdict::Agree => coarsened(&ladder, &program),
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
    let coarsened =
        |factor| all.iter().filter(|&&coarsened| coarsened == Some((factor, Coarsening::WorkItems))).count();
    println!("{} kernels, {} coarsened by 2 and {} by 4", all.len(), coarsened(2), coarsened(4));
    // Both factors that there are, and most kernels.
    assert!(coarsened(2) * 10 >= all.len() && (coarsened(2) + coarsened(4)) * 10 >= all.len() * 7);
}

#[test]
fn tiles_agree_on_every_rung() {
    let all = check(|seed| generate_tiles(seed, 4));
    let coarsened = all.iter().filter(|coarsened| matches!(coarsened, Some((_, Coarsening::Groups { .. })))).count();
    println!("{} kernels, {coarsened} coarsened", all.len());
    assert!(coarsened * 10 >= all.len() * 5);
}
