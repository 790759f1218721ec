//! Runs generated programs on every rung and compares.

use crate::case::{CaseArg, NdRange, Outcome};
use crate::generate::{Generated, IN, LOCAL, OUT};
use crate::rungs::{Cpu, Interpreter, Ready, Rung, Stage};
use crate::{program, reduce};
use cloom_compiler::{Compiler, Config};
use cloom_ir::Module;
use std::fmt;
use std::sync::Arc;

/// Instructions of one run, at most; programs that need more are passed over.
const FUEL: u64 = 30_000_000;

/// The rungs that only show whether a program is good: it must compute the same in any order and whatever fresh memory holds.
const JUDGES: [Interpreter; 3] = [
    Interpreter { fuel: FUEL, ..Interpreter::REFERENCE },
    Interpreter { fuel: FUEL, canary: 0x3c, order_seed: 11, ..Interpreter::REFERENCE },
    Interpreter { fuel: FUEL, canary: 0, order_seed: 987_654_321, ..Interpreter::REFERENCE },
];

/// The rungs that compile further, without code generation.
const STAGES: [Interpreter; 3] = [
    Interpreter::on(Stage::Passes),
    Interpreter { canary: 0x5a, ..Interpreter::on(Stage::PlainGroup) },
    Interpreter::on(Stage::Group),
];

/// The rungs with vectors: each width after all passes, and after inlining alone.
const VECTORS: [[Interpreter; 2]; 6] = {
    const fn both(lanes: u16) -> [Interpreter; 2] {
        [Interpreter::with_lanes(Stage::Group, lanes), Interpreter::with_lanes(Stage::PlainGroup, lanes)]
    }
    [both(2), both(4), both(8), both(16), both(32), both(64)]
};

/// The rungs with vectors that a seed is run on: one width after the other, and a small one, where most goes wrong.
fn vectors(seed: u64) -> [&'static Interpreter; 2] {
    let (wide, small) = (&VECTORS[(seed % 6) as usize], &VECTORS[(seed / 6 % 3) as usize]);
    [&wide[0], &small[(seed % 2) as usize]]
}

/// How failures of [`JUDGES`] among themselves begin.
const ORDER: &str = "the order matters";

/// All rungs.
pub struct Ladder {
    compiler: Arc<Compiler>,
    cpus: Vec<Cpu>,
}

/// What is wrong with a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The two rungs, or one that fails by itself.
    pub rungs: Vec<String>,
    /// What the rungs did.
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

/// How a program did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// All agree.
    Agree,
    /// It takes too long for the interpreter; nothing was compared.
    TooLong,
    /// The program itself is at fault: it does not compile, or depends on the order of work-items. The generator must not make such.
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
    /// With every level of instructions that the machine has, and one device whose code is not optimised.
    pub fn new() -> Self {
        let mut cpus = Cpu::levels(2);
        cpus.push(Cpu::new(2, false));
        Self { compiler: Compiler::new(Config::default()), cpus }
    }

    /// The rungs after the judges that a seed is run on: always the best instructions, and for each other seed one of the other devices
    /// in turn; making code is most of the time.
    fn rungs(&self, seed: u64) -> Vec<&dyn Rung> {
        let best = self.cpus.len() - 2;
        let mut others: Vec<&Cpu> = self.cpus.iter().enumerate().filter(|(i, _)| *i != best).map(|(_, c)| c).collect();
        let turn = (seed / 2 % others.len() as u64) as usize;
        let other = (seed % 2 == 1).then(|| others.swap_remove(turn) as &dyn Rung);
        let stages = STAGES.iter().chain(vectors(seed)).map(|s| s as &dyn Rung);
        stages.chain([&self.cpus[best] as &dyn Rung]).chain(other).collect()
    }

    /// Compiles a source to linked IR.
    pub fn module(&self, source: &str, options: &str) -> Result<Module, String> {
        Ok(program::compile(&self.compiler, source, options, Some("k"))?.0)
    }

    /// Runs a program on the rungs for its seed.
    pub fn check(&self, program: &Generated) -> Verdict {
        self.check_on(&program.source(), program, &self.rungs(program.seed))
    }

    fn check_on(&self, source: &str, program: &Generated, rungs: &[&dyn Rung]) -> Verdict {
        let (module, wanted) = match self.reference(source, program) {
            Ok(reference) => reference,
            Err(verdict) => return *verdict,
        };
        for rung in rungs {
            if let Some(failure) = compare(&module, program, *rung, &wanted) {
                return Verdict::Differ(failure);
            }
        }
        Verdict::Agree
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
        for (i, judge) in JUDGES.iter().enumerate() {
            let ready = match judge.prepare(&module, "k") {
                Ok(ready) => ready,
                Err(what) => return fail(judge.name(), what, None),
            };
            for (n, range) in program.ranges.iter().enumerate() {
                match ready.run(range, &arguments(&module, range), true) {
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
        let interpreted = STAGES.iter().chain(VECTORS.iter().flatten()).map(|s| s as &dyn Rung);
        let all: Vec<&dyn Rung> = interpreted.chain(self.cpus.iter().map(|c| c as &dyn Rung)).collect();
        let rungs: Vec<&dyn Rung> = all.into_iter().filter(|r| failure.rungs.contains(&r.name())).collect();
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

fn compare(module: &Module, program: &Generated, rung: &dyn Rung, wanted: &[Outcome]) -> Option<Failure> {
    let names = || vec![JUDGES[0].name(), rung.name()];
    let ready: Box<dyn Ready + '_> = match rung.prepare(module, "k") {
        Ok(ready) => ready,
        Err(what) => return Some(Failure { rungs: vec![rung.name()], what, range: None }),
    };
    for (range, want) in program.ranges.iter().zip(wanted) {
        let what = match ready.run(range, &arguments(module, range), true) {
            Ok(got) => want.difference(&got),
            Err(e) => Some(e),
        };
        if let Some(what) = what {
            return Some(Failure { rungs: names(), what, range: Some(*range) });
        }
    }
    None
}

/// The arguments of the kernel that [`crate::generate`] describes. The size of the structure is the module's to say.
pub fn arguments(module: &Module, range: &NdRange) -> Vec<CaseArg> {
    let items: u64 = range.global.iter().product();
    let words = |n: u64, f: &dyn Fn(u32) -> u32| (0..n as u32).flat_map(|i| f(i).to_le_bytes()).collect::<Vec<u8>>();
    let meta = module.find("k").and_then(|k| module.funcs[k].kernel.as_deref());
    let size = |i: usize| meta.and_then(|m| m.params.get(i)).map_or(0, |p| u64::from(p.size));
    let random = |i: u32| i.wrapping_mul(0x9e37_79b1).rotate_left(i % 32) ^ i >> 3;
    // Numbers for a structure of anything: small, so that they mean something as any type.
    let bytes: Vec<u8> = (0..size(5)).map(|i| if i % 4 < 2 { (i * 37 + 5) as u8 } else { 0 }).collect();
    let floats: Vec<u8> = [1.5f32, -0.25, 1e10, 3.0].into_iter().flat_map(f32::to_le_bytes).collect();
    vec![
        CaseArg::Buffer(words(items * OUT, &|i| i)),
        CaseArg::Buffer(words(IN, &random)),
        CaseArg::Buffer(words(16, &|i| if i < 12 { i } else { random(i) })),
        CaseArg::Buffer(words(16, &|i| random(i + 100) >> (i % 16))),
        CaseArg::Bytes(5i32.to_le_bytes().to_vec()),
        CaseArg::Bytes(bytes),
        CaseArg::Bytes(floats),
        CaseArg::Local(4 * LOCAL),
    ]
}
