//! Code of generated programs for every set of instructions, whether this machine has it or not, optimised and not: it is made, and soon.

use cloom_caps::cpu::LEVELS;
use cloom_compiler::{Compiler, Config, Source, Variant};
use cloom_filetest::generate::{Profile, generate};

#[test]
fn code_is_made_for_every_machine() {
    let compiler = Compiler::new(Config::default());
    // Those beside the first few kept code generation for one of the machines busy for minutes.
    for seed in [0, 1, 2, 3, 5019, 5110, 5790] {
        let source = generate(seed, Profile::Total).source();
        for target in LEVELS.iter().map(cloom_caps::cpu::Level::target) {
            for options in ["", "-cl-opt-disable"] {
                let built = compiler.build(&Source { name: "k.cl", text: source.as_bytes() }, options, &target);
                let program = built.result.unwrap_or_else(|_| panic!("seed {seed}: {}", built.log));
                let made = compiler.stages(&program, "k", &target, Variant::Vector);
                assert!(made.is_ok(), "seed {seed} for {target} with {options:?}: {:?}", made.err());
            }
        }
    }
}
