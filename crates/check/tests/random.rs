//! Random programs of the generator, whose result is defined and does not depend on the order of work-items: nothing is
//! found in any.

use cloom_check::interpreted::objects::Region;
use cloom_check::{Checker, Kinds, Sources, Subject};
use cloom_filetest::case::CaseArg;
use cloom_filetest::generate::{Profile, generate};
use cloom_filetest::ladder::Ladder;
use cloom_interp::{Arg, FaultKind, Machine, Options, Program};

/// Programs of the ordinary test.
const PROGRAMS: u64 = 60;

#[test]
fn nothing_is_found_in_random_programs() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let first: u64 = number("CLOOM_TEST_FIRST").unwrap_or(0);
    let count: u64 = number("CLOOM_TEST_KERNELS").unwrap_or(PROGRAMS);
    let ladder = Ladder::new();
    let (mut run, mut found) = (0, Vec::new());
    for seed in first..first + count {
        let generated = generate(seed, Profile::Portable);
        let options = format!("{} -cloom-check", generated.options);
        let module = ladder.module(&generated.source(), &options).unwrap_or_else(|e| panic!("{seed}: {e}"));
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
            let sources = Sources::default();
            let subject = Subject { module: &program.module, kernel, range: *range, sources: &sources };
            let mut checker = Checker::new(subject, Kinds::default());
            let params = &program.module.funcs[kernel].kernel.as_ref().unwrap().params;
            for (arg, param) in args.iter().zip(params) {
                if let Arg::Buffer(address) = arg {
                    checker.add_object(*address, Region::buffer(param, 0));
                }
            }
            let result = machine.run_kernel(kernel, range, &args, &mut checker);
            let (findings, unfinished) = checker.finish(result);
            match unfinished {
                None => run += 1,
                Some(fault) => assert_eq!(fault.kind, FaultKind::Fuel, "{seed}: {fault}"),
            }
            found.extend(findings.into_iter().take(1).map(|finding| (seed, finding)));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    assert!(run >= count, "{run} launches were checked");
}
