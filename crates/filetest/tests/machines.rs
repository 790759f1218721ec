//! Code of generated programs for every set of instructions, whether this machine has it or not, optimised and not: it
//! is made, and soon.

use cloom_compiler::{Compiler, Config, Variant};
use cloom_filetest::generate::families::Families;
use cloom_filetest::generate::{Profile, generate, generate_with};
use cloom_filetest::program;
use cloom_target::LEVELS;

#[test]
fn code_is_made_for_every_machine() {
    let compiler = Compiler::new(Config::default());
    // With more than the first few, code generation for one of the machines took minutes.
    for (seed, families) in [(5019, false), (5110, false), (5790, false), (0, true), (1, true), (2, true), (3, true)] {
        let program = match families {
            true => generate(seed, Profile::Total),
            false => generate_with(seed, Profile::Total, Families::NONE),
        };
        let source = program.source();
        for target in LEVELS.iter().map(cloom_target::Level::target) {
            for options in [program.options, "-cl-std=CL3.0 -cl-opt-disable"] {
                let built = program::build(&compiler, &source, options, &target);
                let built = built.unwrap_or_else(|log| panic!("seed {seed}: {log}"));
                let made = compiler.stages(&built, "k", &target, Variant::Vector);
                assert!(made.is_ok(), "seed {seed} for {target} with {options:?}: {:?}", made.err());
            }
        }
    }
}
