//! Runs generated programs on every rung and compares.
//!
//! The rungs of each kernel, on each of its ranges:
//!
//! 1. The interpreter on the original kernel, three times, in different orders and with different unwritten memory:
//!    these judge the program, and the first is the reference for all others.
//! 2. The interpreter on the kernel after the scalar passes, and on its work-group function for one work-item at a time
//!    without them.
//! 3. The interpreter on the work-group function for 1, 2, 4, 8, 16, 32 and 64 lanes, all after the scalar passes; and
//!    for one of 2, 4 and 8 lanes without them. A kernel that is not vectorised for another reason than the allowed
//!    limits is a failure.
//! 4. Machine code, which takes most of the time, as [`Code`] says. `Some`: for one of four seeds, code that is not
//!    optimised for one number of lanes, by the seed (of 16 such seeds, two or three for each up to 16 lanes, two for
//!    32 and one for 64); for each fourth of these also optimised code for one of up to 16 lanes, and for another
//!    fourth optimised code for the lanes that are chosen for one of the machine's sets of instructions. `All`:
//!    optimised code for every number of lanes, and every set of instructions. `None`: none.
//! 5. Code on the simulated GPU, for the seeds that have machine code: for every second one of these as the kernel is
//!    written, for the others coarsened where that may be. `All`: both.
//!
//! Programs with operations on sub-groups also run after the scalar passes with sub-groups of 4 and 16. Programs with
//! long loops run on few rungs: after the scalar passes, on the work-group function for one number of lanes, by the
//! seed, and on the one that is chosen for vectors of 256 bits, in the interpreter and as machine code; `All` runs them
//! on all.
//!
//! 10,000 kernels take about a processor's hour so; with all the code, each takes ten seconds and more.

use crate::case::{NdRange, Outcome};
use crate::generate::Generated;
use crate::generate::families::Family;
use crate::generate::types::Rng;
use crate::rungs::{Cpu, Interpreter, Ready, Rung, Stage};
use crate::simulated_gpu::SimulatedGpu;
use crate::{program, reduce};
use cloom_compiler::{Compiler, Config};
use cloom_ir::Module;
use cloom_llvm::OptLevel;
use cloom_passes::{PassId, PassManager, PassOptions};
use std::fmt;
use std::sync::Arc;

/// Instructions of one run, at most; programs that need more are passed over.
const FUEL: u64 = 30_000_000;
/// Instructions of each work-item of a program on very many of them, on average.
const FUEL_OF_ITEM: u64 = 500;

/// The rungs that only show whether a program is valid: it must compute the same in any order and with any content of
/// unwritten memory.
const JUDGES: [Interpreter; 3] = [
    Interpreter { fuel: FUEL, ..Interpreter::REFERENCE },
    Interpreter { fuel: FUEL, canary: 0x3c, order_seed: 11, ..Interpreter::REFERENCE },
    Interpreter { fuel: FUEL, canary: 0, order_seed: 987_654_321, ..Interpreter::REFERENCE },
];

/// The rungs that compile further, without vectors or code generation.
const STAGES: [Interpreter; 3] = [
    Interpreter::on(Stage::Passes),
    Interpreter { canary: 0x5a, ..Interpreter::on(Stage::PlainGroup) },
    Interpreter { canary: 0x69, ..Interpreter::on(Stage::Coarse) },
];

/// Work-items to a vector.
const LANES: [u16; 7] = [1, 2, 4, 8, 16, 32, 64];

/// The rungs with work-group functions: for all numbers of lanes after all passes,
const VECTORS: [Interpreter; 7] = {
    let mut list = [Interpreter::with_lanes(Stage::Passed, 1); 7];
    let mut i = 1;
    while i < list.len() {
        list[i] = Interpreter::with_lanes(Stage::Passed, LANES[i]);
        i += 1;
    }
    list
};

/// and, where most goes wrong, for few after inlining alone.
const PLAIN: [Interpreter; 3] = [
    Interpreter::with_lanes(Stage::PlainGroup, 2),
    Interpreter::with_lanes(Stage::PlainGroup, 4),
    Interpreter::with_lanes(Stage::PlainGroup, 8),
];

/// Sub-groups of several work-items before there are vectors, for what depends on them.
const SUBGROUPS: [Interpreter; 2] =
    [Interpreter::with_lanes(Stage::Passes, 4), Interpreter::with_lanes(Stage::Passes, 16)];

/// The work-group function as the device chooses it, where groups are batched only if a loop is long enough.
const CHOSEN: Interpreter = Interpreter::chosen(256);

/// Simulated GPUs.
const GPUS: [SimulatedGpu; 2] = [SimulatedGpu { is_coarsened: false }, SimulatedGpu { is_coarsened: true }];

/// For which of [`LANES`] there is machine code, of 16 kernels: that for many lanes takes seconds.
const TURN: [usize; 16] = [6, 3, 2, 1, 0, 4, 3, 2, 5, 1, 4, 3, 2, 0, 5, 4];

/// Which machine code there is; see the file's head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    /// None.
    None,
    /// A little for some kernels.
    Some,
    /// All there is.
    All,
}

/// How failures of [`JUDGES`] among themselves begin.
const ORDER: &str = "the order matters";

/// All rungs.
pub struct Ladder {
    compiler: Arc<Compiler>,
    code: Code,
    /// Code that is not optimised for each of [`LANES`],
    plain: Vec<Cpu>,
    /// code that is,
    optimised: Vec<Cpu>,
    /// and code for the chosen lanes and each set of instructions, then not optimised.
    levels: Vec<Cpu>,
    /// How all of them are compiled.
    passes: PassOptions,
}

/// A failure of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The two rungs, or one that fails by itself.
    pub rungs: Vec<String>,
    /// The difference between them.
    pub what: String,
    /// On which range, if it was run.
    pub range: Option<NdRange>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rungs.join(" and "), self.what)?;
        match &self.range {
            Some(r) => write!(f, " (global {:?}, local {:?}, offset {:?})", r.global, r.local, r.offset),
            None => Ok(()),
        }
    }
}

/// The verdict on a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// All agree.
    Agree,
    /// It takes too long for the interpreter; nothing was compared.
    TooLong,
    /// The program itself is at fault: it does not compile, or depends on the order of work-items. The generator must
    /// not make such programs.
    Invalid(Failure),
    /// Rungs differ.
    Differ(Failure),
}

impl Default for Ladder {
    fn default() -> Self {
        Self::new()
    }
}

impl Ladder {
    /// With the machine code that `CLOOM_TEST_CODE` names: `none`, `some` (which is the default) or `all`.
    pub fn new() -> Self {
        let code = match std::env::var("CLOOM_TEST_CODE").as_deref() {
            Ok("none") => Code::None,
            Ok("all") => Code::All,
            _ => Code::Some,
        };
        Self::with(code)
    }

    /// With so much machine code.
    pub fn with(code: Code) -> Self {
        let mut levels = Cpu::levels(2);
        levels.push(Cpu::new(2, OptLevel::None));
        let lanes = |threads| LANES.map(move |lanes| Cpu::with_lanes(threads, lanes).passed());
        Self {
            compiler: Compiler::new(Config::default()),
            code,
            plain: lanes(2).map(Cpu::plain).into(),
            optimised: lanes(1).into(),
            levels: levels.into_iter().map(Cpu::passed).collect(),
            passes: PassOptions::default(),
        }
    }

    /// The rungs after the judges that a program is run on.
    fn rungs(&self, program: &Generated) -> Vec<&dyn Rung> {
        let seed = program.seed;
        // Nothing that the generator does with the seed goes along with this.
        let number = Rng::new(!seed).next();
        let (coded, number) = (number.is_multiple_of(4), number / 4);
        // `number % 16` has chosen the lanes and the kind of code; the digits above it are independent of that choice.
        let turn = |n: usize| (number / 16 % n as u64) as usize;
        let plain = &PLAIN[(seed % 3) as usize];
        let has = |family| program.families.has(family);
        if has(Family::Long) && self.code != Code::All {
            // Each run takes as long as those of ten other programs.
            let few = [&STAGES[0], &VECTORS[(seed % 7) as usize], &CHOSEN].map(|s| s as &dyn Rung);
            let code = if self.code == Code::None { &[] } else { &self.levels[turn(self.levels.len())..][..1] };
            return few.into_iter().chain(code.iter().map(|c| c as &dyn Rung)).collect();
        }
        let subgroups = SUBGROUPS.iter().filter(|_| has(Family::Subgroups));
        let interpreted = STAGES.iter().chain(&VECTORS).chain([plain]).chain(subgroups).map(|s| s as &dyn Rung);
        let cpus: Vec<&Cpu> = match self.code {
            Code::None => Vec::new(),
            Code::All => self.optimised.iter().chain(&self.levels).collect(),
            Code::Some if !coded => Vec::new(),
            Code::Some => {
                let optimised = (number % 4 == 1).then(|| &self.optimised[turn(5)]);
                let level = (number % 4 == 3).then(|| &self.levels[turn(self.levels.len())]);
                let one = &self.plain[TURN[(number % 16) as usize]];
                [Some(one), optimised, level].into_iter().flatten().collect()
            }
        };
        let gpus: &[SimulatedGpu] = match self.code {
            Code::None => &[],
            Code::All => &GPUS,
            Code::Some => &GPUS[turn(GPUS.len())..][..usize::from(coded)],
        };
        let gpus = gpus.iter().map(|gpu| gpu as &dyn Rung);
        interpreted.chain(cpus.into_iter().map(|c| c as &dyn Rung)).chain(gpus).collect()
    }

    /// Compiles a source to linked IR.
    pub fn module(&self, source: &str, options: &str) -> Result<Module, String> {
        Ok(program::compile(&self.compiler, source, options, self.plain[0].target(), Some("k"))?.0)
    }

    /// Runs a program on the rungs for its seed.
    pub fn check(&self, program: &Generated) -> Verdict {
        self.check_on(&program.source(), program, &self.rungs(program))
    }

    fn check_on(&self, source: &str, program: &Generated, rungs: &[&dyn Rung]) -> Verdict {
        let (module, wanted) = match self.reference(source, program) {
            Ok(reference) => reference,
            Err(verdict) => return *verdict,
        };
        // The scalar passes run once, for all rungs that begin after them.
        let passed = passed(&module, &self.passes);
        for rung in rungs {
            let module = if rung.after_passes() { &passed } else { &module };
            if let Some(failure) = compare(module, program, *rung, &wanted, &self.passes) {
                return Verdict::Differ(failure);
            }
        }
        Verdict::Agree
    }

    /// The passes that a failure depends on: without any one of them, the failed rung agrees. The bug is in one of
    /// them, or in a later stage that it reaches only after them.
    pub fn bisect(&self, program: &Generated, failure: &Failure) -> Vec<&'static str> {
        let Ok((module, wanted)) = self.reference(&program.source(), program) else { return Vec::new() };
        // A failure keeps only names; the last one is that of the rung that differs from the reference.
        let Some(rung) = self.all_rungs().into_iter().find(|r| failure.rungs.last() == Some(&r.name())) else {
            return Vec::new();
        };
        // Tests plant a wrong pass on purpose; the search must find it like any other.
        let planted = self.passes.planted.iter().map(|(_, pass)| pass.id);
        let ids = cloom_compiler::passes::all().into_iter().chain(planted).filter(|id| !id.required);
        let agrees_without = |id: &PassId| {
            let mut options = self.passes.clone();
            options.disabled.add(*id);
            let module = if rung.after_passes() { &passed(&module, &options) } else { &module };
            compare(module, program, rung, &wanted, &options).is_none()
        };
        ids.filter(agrees_without).map(|id| id.name).collect()
    }

    fn all_rungs(&self) -> Vec<&dyn Rung> {
        let interpreted =
            STAGES.iter().chain(&VECTORS).chain(&PLAIN).chain(&SUBGROUPS).chain([&CHOSEN]).map(|s| s as &dyn Rung);
        let cpus = self.plain.iter().chain(&self.optimised).chain(&self.levels).map(|c| c as &dyn Rung);
        interpreted.chain(cpus).chain(GPUS.iter().map(|gpu| gpu as &dyn Rung)).collect()
    }

    /// The linked IR of a source, and what it must compute on each range of the program.
    pub fn reference(&self, source: &str, program: &Generated) -> Result<(Module, Vec<Outcome>), Box<Verdict>> {
        let fail =
            |rung: String, what, range| Err(Box::new(Verdict::Invalid(Failure { rungs: vec![rung], what, range })));
        let module = match self.module(source, program.options) {
            Ok(module) => module,
            Err(what) => return fail("compiler".into(), what, None),
        };
        let mut wanted: Vec<Outcome> = Vec::new();
        let items = program.ranges.iter().map(|range| range.global.iter().product::<u64>()).max().unwrap_or(0);
        for (i, judge) in JUDGES.iter().enumerate() {
            // Ranges of very many work-items need more than the fixed limit, although each of their work-items does
            // little.
            let judge = Interpreter { fuel: FUEL.max(FUEL_OF_ITEM * items), ..*judge };
            let ready = match judge.prepare(&module, "k") {
                Ok(ready) => ready,
                Err(what) => return fail(judge.name(), what, None),
            };
            for (n, range) in program.ranges.iter().enumerate() {
                match ready.run(range, &program.arguments(&module, range), true) {
                    Err(e) if e.starts_with("the limit of instructions") => return Err(Box::new(Verdict::TooLong)),
                    Err(e) => return fail(judge.name(), e, Some(*range)),
                    Ok(outcome) if i == 0 => wanted.push(outcome),
                    Ok(outcome) => {
                        if let Some(d) = wanted[n].difference(&outcome) {
                            return fail(judge.name(), format!("{ORDER}: {d}"), Some(*range));
                        }
                    }
                }
            }
        }
        Ok((module, wanted))
    }

    /// Makes a failing program small: the text of the smallest that fails on the same rung.
    pub fn reduce(&self, program: &Generated, failure: &Failure) -> (String, Failure) {
        // Thousands of candidates are tried, so that only the rungs of the failure run on each, besides the judges.
        let rungs: Vec<&dyn Rung> =
            self.all_rungs().into_iter().filter(|r| failure.rungs.contains(&r.name())).collect();
        let mut last = failure.clone();
        // A program that depends on the order is the generator's fault; it is reduced by that.
        let racy = |f: &Failure| f.what.starts_with(ORDER);
        let tree = reduce::smallest(&program.tree, |source| match self.check_on(source, program, &rungs) {
            Verdict::Differ(f) => {
                last = f;
                true
            }
            Verdict::Invalid(f) if racy(failure) && racy(&f) => {
                last = f;
                true
            }
            _ => false,
        });
        (crate::generate::tree::print(&tree), last)
    }
}

/// A module after the scalar passes over its kernel.
fn passed(module: &Module, options: &PassOptions) -> Module {
    let mut passed = module.clone();
    if let Some(kernel) = passed.find("k") {
        cloom_passes::run_with(&mut passed, kernel, &PassManager::new(options), |_, _| {});
    }
    passed
}

fn compare(
    module: &Module,
    program: &Generated,
    rung: &dyn Rung,
    wanted: &[Outcome],
    passes: &PassOptions,
) -> Option<Failure> {
    let names = || vec![JUDGES[0].name(), rung.name()];
    let ready: Box<dyn Ready + '_> = match rung.prepare_with(module, "k", passes) {
        Ok(ready) => ready,
        // A rung that cannot compile the program fails by itself, whatever the reference has.
        Err(what) => return Some(Failure { rungs: vec![rung.name()], what, range: None }),
    };
    for (range, want) in program.ranges.iter().zip(wanted) {
        let what = match ready.run(range, &program.arguments(module, range), true) {
            Ok(got) => want.difference(&got),
            Err(e) => Some(e),
        };
        if let Some(what) = what {
            return Some(Failure { rungs: names(), what, range: Some(*range) });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Profile, generate};
    use cloom_ir::{BinOp, Function, Op};
    use cloom_passes::{Pass, RunPass};

    /// Miscompiles: the first sum of 32-bit integers becomes a difference.
    fn spoil(func: &mut Function) -> usize {
        let sum = func.insts_in_layout().find(|(_, data)| {
            let constant = || data.args.iter().any(|&a| func.const_bits(a) == Some(0));
            data.op == Op::Binary(BinOp::Add)
                && data.result.is_some_and(|r| func.ty(r).scalar.bits() == 32)
                && !constant()
        });
        sum.map(|(i, _)| i).map_or(0, |i| {
            func.insts[i].op = Op::Binary(BinOp::Sub);
            1
        })
    }

    #[test]
    fn a_pass_that_miscompiles_is_found() {
        let spoils = Pass { id: PassId::optional("spoil", "a planted bug"), run: RunPass::Alone(spoil) };
        let planted = Some((cloom_passes::LICM.id, spoils));
        let ladder = Ladder { passes: PassOptions { planted, ..PassOptions::default() }, ..Ladder::with(Code::None) };
        let mut found = 0;
        for seed in 0..40 {
            let program = generate(seed, Profile::of(seed));
            let Verdict::Differ(failure) = ladder.check(&program) else { continue };
            let guilty = ladder.bisect(&program, &failure);
            assert!(guilty.contains(&"spoil"), "seed {seed}: {failure}: {guilty:?}");
            // It is planted after this one.
            assert!(guilty.contains(&cloom_passes::LICM.id.name), "seed {seed}: {guilty:?}");
            assert!(!guilty.contains(&cloom_spmd::passes::ROW_TRANSPOSE.name), "seed {seed}: {guilty:?}");
            found += 1;
            if found == 2 {
                return;
            }
        }
        panic!("the planted bug shows in {found} of 40 programs");
    }
}
