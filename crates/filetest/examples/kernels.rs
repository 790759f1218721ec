//! Runs generated programs on every rung: `kernels FIRST COUNT [print|straight|count] [portable]`. Says each seed
//! before it runs it, so that a crash is known by its last line; `print` only prints the sources, `straight` those of
//! the test beside peers, `count` only how often each construct of each family occurs; `portable`: programs that mean
//! the same on every platform, as the comparison with peers has them.

#![allow(clippy::print_stdout, reason = "it prints what it finds")]

use cloom_filetest::generate::families::Statistics;
use cloom_filetest::generate::{Profile, generate, generate_straight};
use cloom_filetest::ladder::{Ladder, Verdict};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize| args.get(i).and_then(|a| a.parse().ok()).unwrap_or(1u64);
    let word = args.get(2).map(String::as_str);
    let is_portable = args.iter().skip(2).any(|word| word == "portable");
    let ladder = Ladder::new();
    let mut statistics = Statistics::default();
    for seed in number(0)..number(0) + number(1) {
        let profile = if is_portable { Profile::Portable } else { Profile::of(seed) };
        let program = generate(seed, profile);
        if word == Some("straight") {
            println!("{}", generate_straight(seed).source());
            continue;
        }
        if word == Some("print") {
            println!("{}", program.source());
            continue;
        }
        statistics.add(&program.statistics);
        if word == Some("count") {
            continue;
        }
        eprintln!("seed {seed}");
        match ladder.check(&program) {
            Verdict::Agree => {}
            Verdict::TooLong => println!("seed {seed} takes too long"),
            Verdict::Invalid(failure) if failure.range.is_none() => {
                println!("seed {seed} is a bad program: {failure}");
            }
            Verdict::Differ(failure) | Verdict::Invalid(failure) => {
                println!("seed {seed}, options `{}`: {failure}", program.options);
                println!("right without any of: {:?}", ladder.bisect(&program, &failure));
                let (small, failure) = ladder.reduce(&program, &failure);
                println!("{failure}\n{small}");
            }
        }
    }
    eprint!("{statistics}");
}
