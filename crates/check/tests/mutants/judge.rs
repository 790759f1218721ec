//! Whether a mutant is wrong, and whether the checker says so.
//!
//! A mutant is wrong if its behaviour is not defined. That is decided without the checker:
//!
//! * It runs in several orders of the work-items and with several contents of unwritten memory, and is wrong if it
//!   leaves another result or faults.
//! * [`Witness`] compares all accesses with each other, and knows races that no order of the interpreter shows.
//! * A shifted index that leaves its array is a null pointer in a second module ([`Form::Trapped`]), whose access
//!   faults without any check of bounds.
//! * It runs with buffers that have room around them. It is wrong if it writes there, or leaves another result with
//!   other bytes there.
//!
//! A mutant that is none of these computes the same as the kernel (*equivalent*), or something else that is defined
//! (*another result*): an index that stays inside of its array, a guard that kept nothing out of bounds. No tool can
//! find these without knowing what the kernel should compute.

use crate::corpus::Kernel;
use crate::mutate::{Form, Mutation, mutated};
use crate::witness::{Conflict, Shared, Stores, Witness};
use cloom_check::interpreted::objects::Region;
use cloom_check::{Checker, Finding, Kinds, Severity, Sources, Subject};
use cloom_filetest::case::{CaseArg, Outcome};
use cloom_interp::{Arg, Fault, FaultKind, Machine, Observer, Options, Program};
use cloom_ir::{Module, ParamKind};
use std::collections::BTreeSet;

/// Instructions of a kernel at most; one that needs more is passed over.
const FUEL: u64 = 2_000_000;

/// The same for a mutant, which may need some more; one that needs all of it does not end.
const MUTANT_FUEL: u64 = 3 * FUEL;

/// The content of unwritten memory, and the order of the work-items. As floats, the bytes are a small negative number,
/// zero, no number, a great one and a small one.
const RUNS: [(u8, u64); 5] = [(0xa5, 0), (0, 11), (0xff, 5), (0x7f, 987_654_321), (0x01, 77)];

/// Why a mutant is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wrong {
    /// A run faults.
    Fault(String),
    /// An access leaves its array.
    Outside,
    /// Accesses conflict.
    Race(Conflict),
    /// Runs differ, where no access conflicts.
    Differs,
    /// No run ends.
    Endless,
}

/// What a mutant is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Judgement {
    Wrong(Wrong),
    /// It does what the kernel does.
    Equivalent,
    /// It does something else, which is defined.
    OtherResult,
    /// It is no valid module.
    Unknown,
}

/// A mutant, judged and checked.
pub struct Verdict {
    pub judgement: Judgement,
    /// What the checker reports, without notes.
    pub findings: Vec<Finding>,
    /// How many notes it reports.
    pub notes: usize,
}

/// What a kernel does before any mutation.
pub struct Baseline {
    outcome: Outcome,
    conflicts: BTreeSet<Conflict>,
}

/// A run of a module: the memory afterwards and what was observed, or the fault.
fn run<O: Observer>(
    program: &Program,
    kernel: &Kernel,
    options: Options,
    observer: impl FnOnce(Shared) -> O,
) -> Result<(Vec<Vec<u8>>, O), Fault> {
    let mut machine = Machine::new(program, options)?;
    let (func, args, buffers) = prepare(program, kernel, &mut machine, None)?;
    let mut observer = observer(Shared::new(buffers.iter().map(|b| b.0).chain(machine.globals.iter().copied())));
    machine.run_kernel(func, &kernel.range, &args, &mut observer)?;
    let read = |&(address, size): &(u64, u64)| machine.memory.read(address, size).map(|(bytes, _)| bytes.to_vec());
    Ok((buffers.iter().map(read).collect::<Result<_, FaultKind>>()?, observer))
}

type Prepared = (cloom_ir::FuncRef, Vec<Arg>, Vec<(u64, u64)>);

/// Bytes before a buffer, and behind it: enough for an index that is too large by the size of the buffer.
fn zone(bytes: &[u8]) -> usize {
    (bytes.len() + 1).next_multiple_of(128)
}

/// Gives a machine the arguments of a launch; with a byte, buffers have zones of it around them.
fn prepare(
    program: &Program,
    kernel: &Kernel,
    machine: &mut Machine<'_>,
    around: Option<u8>,
) -> Result<Prepared, FaultKind> {
    let missing = FaultKind::BadLaunch("there is no such kernel");
    let func = program.module.find(&kernel.name).ok_or(missing.clone())?;
    let meta = program.module.funcs[func].kernel.as_ref().ok_or(missing)?;
    let (mut args, mut buffers) = (Vec::<Arg>::new(), Vec::new());
    for (arg, param) in kernel.args.iter().zip(&meta.params) {
        args.push(match arg {
            CaseArg::Buffer(bytes) => {
                let zone = around.map_or(Vec::new(), |byte| vec![byte; zone(bytes)]);
                let all = [&zone[..], bytes, &zone].concat();
                let address = machine.buffer(&all)?;
                buffers.push((address, all.len() as u64));
                if param.kind == ParamKind::Constant {
                    machine.memory.protect(address);
                }
                Arg::Buffer(address + zone.len() as u64)
            }
            CaseArg::Again(earlier) => args[*earlier].clone(),
            CaseArg::Bytes(bytes) => Arg::Bytes(bytes.clone()),
            CaseArg::Local(size) => Arg::Local(*size),
        });
    }
    Ok((func, args, buffers))
}

fn options(fuel: u64, (canary, order_seed): (u8, u64)) -> Options {
    Options { fuel, turn: fuel / 2, canary, order_seed, strict_barriers: true, ..Options::default() }
}

/// One run without the checker: its outcome, and the bytes that it stores to.
fn plain(program: &Program, kernel: &Kernel, fuel: u64, seeds: (u8, u64)) -> Result<(Outcome, Stores), Fault> {
    let observer = |shared| Stores { shared, ..Stores::default() };
    let (buffers, mut stores) = run(program, kernel, options(fuel, seeds), observer)?;
    let printed = stores.printed.drain(..).map(|p| (p.item, p.format, p.args));
    let outcome = Outcome::new(&program.module, buffers, printed.collect::<Vec<_>>().into_iter());
    Ok((outcome, stores))
}

/// The findings of the checker, and whether the launch came to its end or to a finding.
fn check(program: &Program, kernel: &Kernel, fuel: u64) -> Option<Vec<Finding>> {
    let options = Options { fuel, turn: fuel / 2, ..Options::default() };
    let mut machine = Machine::new(program, options).ok()?;
    let (func, args, _) = prepare(program, kernel, &mut machine, None).ok()?;
    let sources = Sources::default();
    let subject = Subject { module: &program.module, kernel: func, range: kernel.range, sources: &sources };
    let mut checker = Checker::new(subject, Kinds::default());
    let params = &program.module.funcs[func].kernel.as_ref()?.params;
    for ((arg, param), given) in args.iter().zip(params).zip(&kernel.args) {
        if let (Arg::Buffer(address), CaseArg::Buffer(bytes)) = (arg, given) {
            checker.add_object(*address, Region::buffer(param, bytes.len() as u64));
        }
    }
    checker.add_globals(&machine);
    let result = machine.run_kernel(func, &kernel.range, &args, &mut checker);
    let (findings, unfinished) = checker.finish(result);
    (unfinished.is_none() || !findings.is_empty()).then_some(findings)
}

/// What a kernel does; `None` if it takes too long. The error is what is wrong with it.
pub fn baseline(kernel: &Kernel) -> Result<Option<Baseline>, String> {
    let program = Program::new(kernel.module.clone()).map_err(|e| format!("{e:?}"))?;
    let mut outcomes = Vec::new();
    for seeds in RUNS {
        match plain(&program, kernel, FUEL, seeds) {
            Ok(done) => outcomes.push(done),
            Err(Fault { kind: FaultKind::Fuel | FaultKind::Endless { .. }, .. }) => return Ok(None),
            Err(fault) => return Err(fault.to_string()),
        }
    }
    let (outcome, stores) = outcomes.swap_remove(0);
    if let Some(difference) = outcomes.iter().find_map(|(other, _)| outcome.difference(other)) {
        return Err(difference);
    }
    let conflicts = conflicts(&program, kernel, stores).map_err(|e| e.to_string())?;
    let findings = check(&program, kernel, MUTANT_FUEL).ok_or("it is not checked to its end")?;
    if leaves_buffers(&program, kernel).map_err(|e| e.to_string())? {
        return Err("it accesses memory beside its buffers".into());
    }
    match findings.iter().find(|f| f.severity > Severity::Note) {
        Some(finding) => Err(format!("{}: {}", finding.kind.name(), finding.message)),
        None => Ok(Some(Baseline { outcome, conflicts })),
    }
}

fn conflicts(program: &Program, kernel: &Kernel, stores: Stores) -> Result<BTreeSet<Conflict>, Fault> {
    // The same run: addresses are the same in it.
    let (_, witness) = run(program, kernel, options(MUTANT_FUEL, RUNS[0]), |_| Witness::new(kernel.range, stores))?;
    Ok(witness.conflicts)
}

/// Whether a launch reads or writes beside its buffers, as far as that shows: by the bytes that it leaves.
fn leaves_buffers(program: &Program, kernel: &Kernel) -> Result<bool, Fault> {
    let sizes: Vec<&Vec<u8>> = kernel
        .args
        .iter()
        .filter_map(|arg| if let CaseArg::Buffer(bytes) = arg { Some(bytes) } else { None })
        .collect();
    let mut inner = Vec::new();
    for byte in [0x96, 0x35] {
        let mut machine = Machine::new(program, options(MUTANT_FUEL, RUNS[0]))?;
        let (func, args, buffers) = prepare(program, kernel, &mut machine, Some(byte))?;
        machine.run_kernel(func, &kernel.range, &args, &mut ())?;
        let mut contents = Vec::new();
        for (&(address, size), bytes) in buffers.iter().zip(&sizes) {
            let all = machine.memory.read(address, size)?.0;
            let (before, rest) = all.split_at(zone(bytes));
            let (own, behind) = rest.split_at(bytes.len());
            if before.iter().chain(behind).any(|&b| b != byte) {
                return Ok(true);
            }
            contents.push(own.to_vec());
        }
        inner.push(contents);
    }
    Ok(inner[0] != inner[1])
}

/// Judges a mutant without the checker.
fn judge(kernel: &Kernel, baseline: &Baseline, mutation: &Mutation, mutant: &Program) -> Judgement {
    let of_form = |form| mutated(&kernel.module, mutation, form).and_then(|module: Module| Program::new(module).ok());
    if let Some(trapped) = of_form(Form::Trapped)
        && let Err(fault) = plain(&trapped, kernel, MUTANT_FUEL, RUNS[0])
        && matches!(fault.kind, FaultKind::NoObject { .. } | FaultKind::Null { .. })
    {
        return Judgement::Wrong(Wrong::Outside);
    }
    let (mut outcomes, mut endless) = (Vec::new(), 0);
    for seeds in RUNS {
        let filled = of_form(Form::Filled(seeds.0));
        match plain(filled.as_ref().unwrap_or(mutant), kernel, MUTANT_FUEL, seeds) {
            Ok(done) => outcomes.push(done),
            Err(Fault { kind: FaultKind::Fuel | FaultKind::Endless { .. }, .. }) => endless += 1,
            Err(fault) => return Judgement::Wrong(Wrong::Fault(fault.kind.to_string())),
        }
    }
    match (outcomes.len(), endless) {
        (_, 0) => {}
        (0, _) => return Judgement::Wrong(Wrong::Endless),
        _ => return Judgement::Wrong(Wrong::Differs),
    }
    let (outcome, stores) = outcomes.swap_remove(0);
    match conflicts(mutant, kernel, stores) {
        Ok(found) => {
            if let Some(conflict) = found.difference(&baseline.conflicts).next() {
                return Judgement::Wrong(Wrong::Race(*conflict));
            }
        }
        Err(fault) => return Judgement::Wrong(Wrong::Fault(fault.kind.to_string())),
    }
    if outcomes.iter().any(|(other, _)| outcome.difference(other).is_some()) {
        return Judgement::Wrong(Wrong::Differs);
    }
    if leaves_buffers(mutant, kernel).unwrap_or(true) {
        return Judgement::Wrong(Wrong::Outside);
    }
    if outcome == baseline.outcome { Judgement::Equivalent } else { Judgement::OtherResult }
}

/// Judges and checks a mutant.
pub fn verdict(kernel: &Kernel, baseline: &Baseline, mutation: &Mutation) -> Verdict {
    let module = mutated(&kernel.module, mutation, Form::Plain);
    let Some(mutant) = module.and_then(|module| Program::new(module).ok()) else {
        return Verdict { judgement: Judgement::Unknown, findings: Vec::new(), notes: 0 };
    };
    let judgement = judge(kernel, baseline, mutation, &mutant);
    let (notes, findings): (Vec<Finding>, Vec<Finding>) = check(&mutant, kernel, 3 * MUTANT_FUEL)
        .unwrap_or_default()
        .into_iter()
        .partition(|f| f.severity == Severity::Note);
    Verdict { judgement, findings, notes: notes.len() }
}
