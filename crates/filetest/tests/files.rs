//! Runs every file of `tests/ir` and every program of `run`.

use cloom_compiler::{Compiler, Config};
use cloom_filetest::rungs::Cpu;
use cloom_filetest::{files, for_each_file, ir_file, program};

#[test]
fn files_of_ir_give_what_they_expect() {
    for cpu in Cpu::levels(2) {
        for_each_file(&files("tests/ir", "ir"), |path, text| ir_file::test(path, text, Some(&cpu)));
    }
}

#[test]
fn programs_agree_on_every_rung() {
    let compiler = Compiler::new(Config::default());
    for cpu in Cpu::levels(2) {
        for_each_file(&files("run", "cl"), |_, text| program::test(&compiler, text, &cpu));
    }
}
