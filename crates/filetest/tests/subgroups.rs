//! Programs whose work-items work together in groups and sub-groups (`groups/*.cl`), with sub-groups of every size.

use cloom_compiler::{Compiler, Config};
use cloom_filetest::rungs::{Cpu, IN_SUBGROUPS, Rung};
use cloom_filetest::{files, for_each_file, program};

#[test]
fn groups_work_together_in_the_interpreter() {
    let compiler = Compiler::new(Config::default());
    for_each_file(&files("groups", "cl"), |_, text| program::check_itself(&compiler, text, "", &IN_SUBGROUPS));
}

#[test]
fn groups_work_together_on_the_cpu() {
    let compiler = Compiler::new(Config::default());
    let mut cpus: Vec<Cpu> = [1, 4, 16].map(|lanes| Cpu::with_lanes(1, lanes)).into();
    // Optimised code for so many lanes takes minutes.
    cpus.push(Cpu::with_lanes(1, 64).plain());
    cpus.extend(Cpu::levels(1));
    let rungs: Vec<&dyn Rung> = cpus.iter().map(|cpu| cpu as &dyn Rung).collect();
    for_each_file(&files("groups", "cl"), |_, text| program::check_itself(&compiler, text, cpus[0].target(), &rungs));
}
