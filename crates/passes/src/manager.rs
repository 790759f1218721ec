//! The pass manager: runs lists of passes over a function, and keeps for each pass a name, a switch, its time and a
//! counter of its changes.
//!
//! A pass is identified by a [`PassId`], a constant of the crate that has the pass; lists of passes are lists of
//! constants, so that a misspelt name does not compile. Strings come in at one place only, [`Disabled::parse`], which
//! says what it does not know.
//!
//! ```text
//! for each pass of a list:
//!     switched off? skip : run, time, count
//!     debug builds: verify, or panic with the pass's name
//! ```
//!
//! The vectoriser uses the same manager for its transformations, whose inputs differ: [`PassManager::step`] takes any
//! of them.

use crate::checks::BoundsChecks;
use crate::inline::Budget;
use crate::pass::{ModulePass, Pass, PassId, RunPass};
use cloom_ir::{FuncRef, Function, Module};
use std::cell::RefCell;
use std::fmt;
use std::time::{Duration, Instant};

/// The passes that are switched off.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Disabled {
    /// Names, sorted, each once.
    names: Vec<&'static str>,
}

/// A name in a list of passes to switch off that switches nothing off.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum UnknownPass {
    /// No pass has it.
    #[error("no pass is named `{0}`")]
    Unknown(String),
    /// The pass is needed.
    #[error("the pass `{0}` cannot be switched off: later stages rely on it")]
    Required(&'static str),
}

impl Disabled {
    /// The passes that a list of names, separated by commas, switches off, and what is wrong with the others.
    pub fn parse(list: &str, known: &[PassId]) -> (Disabled, Vec<UnknownPass>) {
        let (mut disabled, mut wrong) = (Disabled::default(), Vec::new());
        for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            // A list with an unknown name still switches off the others: the caller decides what the errors mean.
            match known.iter().find(|id| id.name == name) {
                Some(id) if id.required => wrong.push(UnknownPass::Required(id.name)),
                Some(&id) => disabled.add(id),
                None => wrong.push(UnknownPass::Unknown(name.to_owned())),
            }
        }
        (disabled, wrong)
    }

    /// Switches a pass off too. One that is required stays on.
    pub fn add(&mut self, id: PassId) {
        // Sorted and without duplicates, so that equal sets are equal as options.
        if let Err(at) = self.names.binary_search(&id.name)
            && !id.required
        {
            self.names.insert(at, id.name);
        }
    }

    /// This one pass.
    pub fn only(id: PassId) -> Disabled {
        let mut disabled = Disabled::default();
        disabled.add(id);
        disabled
    }

    /// Whether a pass is switched off.
    pub fn has(&self, id: PassId) -> bool {
        self.names.binary_search(&id.name).is_ok()
    }
}

impl fmt::Display for Disabled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names.join(","))
    }
}

/// How passes run.
#[derive(Clone, Debug, Default)]
pub struct PassOptions {
    /// The passes that are switched off.
    pub disabled: Disabled,
    /// Tests plant a pass that miscompiles: it runs each time after the pass that is named first.
    pub planted: Option<(PassId, Pass)>,
    /// Tests plant a miscompilation in a pass over code that is not Cloom's IR any more: what it changed is wrong.
    pub spoiled: Option<PassId>,
    /// The target has generic pointers and tells where one points to: they need no tags.
    pub native_generic: bool,
    /// How much is inlined.
    pub budget: Budget,
    /// Whether accesses are checked.
    pub bounds_checks: BoundsChecks,
    /// Whether loops end when the launcher asks them to: [`polls`](crate::polls).
    pub polls: bool,
}

impl PassOptions {
    /// All passes but these.
    pub fn without(disabled: Disabled) -> PassOptions {
        PassOptions { disabled, ..PassOptions::default() }
    }

    /// The same passes, for code that nobody vouches for: its accesses are checked, and it ends when it must.
    pub fn checked(&self, bounds_checks: BoundsChecks) -> PassOptions {
        PassOptions { bounds_checks, polls: bounds_checks.are_on(), ..self.clone() }
    }

    /// The same passes, with the settings of GPUs.
    pub fn for_gpu(&self, native_generic: bool) -> PassOptions {
        PassOptions { native_generic, budget: Budget::GPU, polls: false, ..self.clone() }
    }
}

/// What a pass did in a compilation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PassStatistics {
    /// The pass.
    pub id: PassId,
    /// How often it ran.
    pub runs: u32,
    /// How often it changed something, as it counts.
    pub changes: usize,
    /// What that took; zero for what is counted within another pass.
    pub time: Duration,
}

/// What all passes did, in the order in which they first ran.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    list: Vec<PassStatistics>,
}

impl Statistics {
    /// Every pass that ran.
    pub fn iter(&self) -> impl Iterator<Item = &PassStatistics> {
        self.list.iter()
    }

    /// How often a pass changed something; 0 if it did not run.
    pub fn changes(&self, name: &str) -> usize {
        self.list.iter().find(|s| s.id.name == name).map_or(0, |s| s.changes)
    }

    /// Adds what others did.
    pub fn merge(&mut self, other: &Statistics) {
        for s in &other.list {
            self.record(s.id, s.runs, s.changes, s.time);
        }
    }

    /// Adds what a pass did that no manager ran.
    pub fn record(&mut self, id: PassId, runs: u32, changes: usize, time: Duration) {
        match self.list.iter_mut().find(|s| s.id == id) {
            Some(s) => {
                s.runs += runs;
                s.changes += changes;
                s.time += time;
            }
            None => self.list.push(PassStatistics { id, runs, changes, time }),
        }
    }
}

/// Runs passes.
#[derive(Debug)]
pub struct PassManager<'a> {
    options: &'a PassOptions,
    statistics: RefCell<Statistics>,
}

impl<'a> PassManager<'a> {
    /// A manager without counts.
    pub fn new(options: &'a PassOptions) -> PassManager<'a> {
        PassManager { options, statistics: RefCell::default() }
    }

    /// Whether a pass is to run.
    pub fn is_on(&self, id: PassId) -> bool {
        !self.options.disabled.has(id)
    }

    /// Runs a list of passes over a function that stands in no module. `module` has what it calls.
    pub fn run(&self, module: &Module, func: &mut Function, passes: &[Pass]) {
        for &pass in passes {
            self.function(module, func, pass.id, |func| self.call(func, pass));
        }
    }

    /// Runs one transformation of a function. Returns how often it changed something; 0 if it is switched off.
    pub fn function(
        &self,
        module: &Module,
        func: &mut Function,
        id: PassId,
        change: impl FnOnce(&mut Function) -> usize,
    ) -> usize {
        let changes = self.change(func, id, change);
        verify(module, func, id);
        changes
    }

    /// Runs a pass that needs the module on a function of it.
    pub fn with_module(&self, module: &mut Module, f: FuncRef, id: PassId, run: ModulePass) {
        self.step(id, || (run(module, f), ()));
        verify(module, &module.funcs[f], id);
    }

    /// Looks after a function that a pass made, such as a second version of a kernel: in debug builds it must verify,
    /// and a pass that a test plants behind the pass runs on it.
    pub fn made(&self, module: &mut Module, f: FuncRef, id: PassId) {
        if let Some((after, pass)) = self.options.planted
            && after == id
        {
            self.step(pass.id, || (self.call(&mut module.funcs[f], pass), ()));
        }
        verify(module, &module.funcs[f], id);
    }

    /// Runs one pass over a function of a module.
    pub fn in_module(&self, module: &mut Module, f: FuncRef, pass: Pass) {
        self.change(&mut module.funcs[f], pass.id, |func| self.call(func, pass));
        verify(module, &module.funcs[f], pass.id);
    }

    /// Calls a pass, which is counted by the caller. Those that it runs are switched and counted like any.
    fn call(&self, func: &mut Function, pass: Pass) -> usize {
        match pass.run {
            RunPass::Alone(run) => run(func),
            // What comes out of the inner passes is not verified here: the function may be half done until the outer
            // pass ends.
            RunPass::With(run) => run(func, &|func, others| {
                for &other in others {
                    self.change(func, other.id, |func| self.call(func, other));
                }
            }),
        }
    }

    fn change(&self, func: &mut Function, id: PassId, change: impl FnOnce(&mut Function) -> usize) -> usize {
        // A planted pass stands for an error of this pass, so it runs only if this pass ran: switching the pass off
        // takes the error away.
        let changes = self.step(id, || {
            let changes = change(func);
            (changes, changes)
        });
        if let Some((after, pass)) = self.options.planted
            && after == id
            && changes.is_some()
        {
            self.step(pass.id, || (self.call(func, pass), ()));
        }
        changes.unwrap_or(0)
    }

    /// Runs a transformation of anything, which returns how often it changed something and its result; none if it is
    /// switched off. Its caller verifies what comes out.
    pub fn step<T>(&self, id: PassId, step: impl FnOnce() -> (usize, T)) -> Option<T> {
        self.is_on(id).then(|| self.required(id, step))
    }

    /// Runs a transformation that cannot be switched off, or of which the caller knows that it is on. It is timed and
    /// counted as by [`PassManager::step`].
    pub fn required<T>(&self, id: PassId, step: impl FnOnce() -> (usize, T)) -> T {
        let since = Instant::now();
        let (changes, result) = step();
        self.statistics.borrow_mut().record(id, 1, changes, since.elapsed());
        result
    }

    /// Counts a change that is made in the course of something else, such as the writing of code.
    pub fn count(&self, id: PassId) {
        self.record(id, 1, Duration::ZERO);
    }

    /// Counts what a pass did that is run elsewhere.
    pub fn record(&self, id: PassId, changes: usize, time: Duration) {
        self.statistics.borrow_mut().record(id, 1, changes, time);
    }

    /// Which passes are on.
    pub fn options(&self) -> &'a PassOptions {
        self.options
    }

    /// Adds what another manager counted.
    pub fn add(&self, statistics: &Statistics) {
        self.statistics.borrow_mut().merge(statistics);
    }

    /// What was done so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics.borrow().clone()
    }

    /// Forgets the counts since `before` was taken: what they are about was not used.
    pub fn roll_back(&self, before: Statistics) {
        *self.statistics.borrow_mut() = before;
    }
}

/// In debug builds, panics unless what came out of a pass is verified IR.
pub fn verify(module: &Module, func: &Function, pass: PassId) {
    if cfg!(debug_assertions) {
        let mut errors = Vec::new();
        cloom_ir::verify::verify_function(module, func, &mut errors);
        assert!(
            errors.is_empty(),
            "after {}: {}\n{}",
            pass.name,
            errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
            module.function_text(func)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: PassId = PassId::optional("a", "");
    const B: PassId = PassId::required("b", "");

    #[test]
    fn a_list_of_names_switches_off_what_it_may_and_says_what_it_may_not() {
        let (disabled, wrong) = Disabled::parse(" a,, nothing ,b,a", &[A, B]);
        assert_eq!(disabled.to_string(), "a");
        assert_eq!(wrong, [UnknownPass::Unknown("nothing".into()), UnknownPass::Required("b")]);
        assert!(disabled.has(A) && !disabled.has(B));
    }

    #[test]
    fn a_pass_that_is_off_neither_runs_nor_counts() {
        let options = PassOptions::without(Disabled::only(A));
        let manager = PassManager::new(&options);
        assert_eq!(manager.step(A, || (1, ())), None);
        assert_eq!(manager.step(B, || (2, "done")), Some("done"));
        assert_eq!(manager.step(B, || (3, "again")), Some("again"));
        let statistics = manager.statistics();
        assert_eq!((statistics.changes("a"), statistics.changes("b")), (0, 5));
        assert_eq!(statistics.iter().map(|s| s.runs).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn a_planted_pass_runs_after_the_one_that_it_is_planted_behind() {
        fn spoil(func: &mut Function) -> usize {
            func.name.push('!');
            1
        }
        let options =
            PassOptions { planted: Some((crate::DCE.id, Pass::new("spoil", "", spoil))), ..Default::default() };
        let mut module = cloom_ir::parse("func internal @f() {\nbb0:\n    ret\n}").unwrap();
        let f = module.find("f").unwrap();
        let manager = PassManager::new(&options);
        manager.in_module(&mut module, f, crate::FOLD);
        assert_eq!(module.funcs[f].name, "f");
        manager.in_module(&mut module, f, crate::DCE);
        assert_eq!(module.funcs[f].name, "f!");
    }
}
