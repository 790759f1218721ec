//! Runs every file of `tests/ir`.

use cloom_filetest::rungs::Cpu;
use cloom_filetest::{files, for_each_file, ir_file};

#[test]
fn files_of_ir_give_what_they_expect() {
    let cpu = Cpu::new(2, true);
    for_each_file(&files("tests/ir", "ir"), |path, text| ir_file::test(path, text, Some(&cpu)));
}
