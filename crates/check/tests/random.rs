//! Random programs of the generator, whose result does not depend on the order of work-items: none has a race.

use cloom_check::RaceDetector;
use cloom_filetest::case::CaseArg;
use cloom_filetest::generate::{Profile, generate};
use cloom_filetest::ladder::Ladder;
use cloom_interp::{Arg, FaultKind, Machine, Options, Program};

/// Programs of the ordinary test.
const PROGRAMS: u64 = 60;

#[test]
fn random_programs_have_no_race() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let first: u64 = number("CLOOM_TEST_FIRST").unwrap_or(0);
    let count: u64 = number("CLOOM_TEST_KERNELS").unwrap_or(PROGRAMS);
    let ladder = Ladder::new();
    let (mut run, mut racy) = (0, Vec::new());
    for seed in first..first + count {
        let generated = generate(seed, Profile::Portable);
        let module = ladder.module(&generated.source(), generated.options).unwrap_or_else(|e| panic!("{seed}: {e}"));
        let kernel = module.find("k").unwrap();
        let program = Program::new(module).unwrap();
        for range in &generated.ranges {
            let options = Options { fuel: 20_000_000, ..Options::default() };
            let mut machine = Machine::new(&program, options).unwrap();
            let mut args: Vec<Arg> = Vec::new();
            for arg in generated.arguments(&program.module, range) {
                args.push(match arg {
                    CaseArg::Buffer(bytes) => Arg::Buffer(machine.buffer(&bytes).unwrap()),
                    CaseArg::Again(earlier) => args[earlier].clone(),
                    CaseArg::Bytes(bytes) => Arg::Bytes(bytes),
                    CaseArg::Local(size) => Arg::Local(size),
                });
            }
            let mut detector = RaceDetector::new(*range);
            match machine.run_kernel(kernel, range, &args, &mut detector) {
                Ok(()) => run += 1,
                Err(fault) => assert_eq!(fault.kind, FaultKind::Fuel, "{seed}: {fault}"),
            }
            racy.extend(detector.races().iter().take(1).map(|race| (seed, race.clone())));
        }
    }
    assert!(racy.is_empty(), "{racy:#?}");
    assert!(run >= count, "{run} launches were checked");
}
