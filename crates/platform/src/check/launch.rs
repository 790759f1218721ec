//! One launch in the interpreter, under the checker.

use super::command::Used;
use super::memory::Memory;
use super::progress::Progress;
use super::shared::Shared;
use super::unwritten::Unwritten;
use cloom_builtins::printf;
use cloom_check::interpreted::images::Image;
use cloom_check::interpreted::objects::Region;
use cloom_check::{Checker, Finding, Kind, Kinds, Sources, Subject};
use cloom_interp::{self as interp, FaultKind};
use cloom_ir::FuncRef;
use cloom_ir::abi::image;
use cloom_runtime::{CheckedArg, CheckedLaunch, Compiler, Error};
use std::sync::Arc;

/// The part of a launch's instructions after which a loop of one work-item counts as endless.
const TURN: u64 = 10;

/// A kernel that is ready for the interpreter.
pub struct Linked {
    code: interp::Program,
    func: FuncRef,
}

impl Linked {
    /// Links the kernel of a launch. `name` is that of its program in findings, unless it names its files itself.
    pub fn new(compiler: &Compiler, launch: &CheckedLaunch, name: &str) -> Result<Linked, String> {
        let mut module = compiler.linked(&launch.program, &launch.kernel).map_err(|e| e.to_string())?;
        // What the runtime calls each source.
        module.files.iter_mut().filter(|f| *f == "program.cl").for_each(|f| name.clone_into(f));
        let func = module.find(&launch.kernel).ok_or("the program has no such kernel")?;
        let code = interp::Program::new(module).map_err(|_| "the program's IR is not valid, a bug of Cloom")?;
        Ok(Linked { code, func })
    }
}

/// What a launch has shown.
#[derive(Default)]
pub struct Outcome {
    pub findings: Vec<Finding>,
    pub accesses: u64,
    /// What it has used.
    pub uses: Vec<Used>,
    /// Why it was not run to its end.
    pub unfinished: Option<String>,
}

/// What launches are checked with.
pub struct Setting {
    pub kinds: Kinds,
    pub sources: Arc<Sources>,
    /// Address and size of shared virtual memory that was freed.
    pub freed: Vec<(u64, u64)>,
    /// What nothing has written.
    pub unwritten: Unwritten,
    /// Instructions of a launch, at most.
    pub fuel: u64,
}

/// Runs a launch on its device, in code that reports its accesses outside of memory objects. `None` if it has others
/// than code can check: through pointers that come from memory.
pub fn run_compiled(launch: &CheckedLaunch, linked: &Linked, kinds: &Kinds, sources: &Sources) -> Option<Outcome> {
    match refused(launch, linked, kinds, sources, true) {
        Ok(findings) => Some(Outcome { findings: findings?, ..Outcome::default() }),
        Err(error) => Some(Outcome { unfinished: Some(not_ended(&error)), ..Outcome::default() }),
    }
}

/// The findings of a launch on its device.
fn refused(
    launch: &CheckedLaunch,
    linked: &Linked,
    kinds: &Kinds,
    sources: &Sources,
    complete: bool,
) -> Result<Option<Vec<Finding>>, Error> {
    let Some(refused) = launch.device.run(complete)? else { return Ok(None) };
    if refused.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let subject = Subject { module: &linked.code.module, kernel: linked.func, range: launch.range, sources };
    let mut checker = Checker::new(subject, kinds.clone());
    for access in &refused {
        checker.refused(&access.access, &access.record);
    }
    Ok(Some(checker.finish(Ok(())).0))
}

fn not_ended(error: &Error) -> String {
    format!("its device did not run a launch to its end: {}", error.why)
}

/// Runs a launch.
pub fn run(launch: &CheckedLaunch, linked: &Linked, setting: &Setting, print: &dyn Fn(&[u8])) -> Outcome {
    run_in(launch, linked, setting, print).unwrap_or_else(|why| Outcome { unfinished: Some(why), ..Outcome::default() })
}

fn run_in(
    launch: &CheckedLaunch,
    linked: &Linked,
    setting: &Setting,
    print: &dyn Fn(&[u8]),
) -> Result<Outcome, String> {
    let memory = Memory::read(launch).map_err(|e| e.why.to_string())?;
    let shared = Shared::read(launch).map_err(|e| e.why.to_string())?;
    let options = interp::Options {
        memory: memory.bytes().saturating_add(shared.bytes()).saturating_add(1 << 30).saturating_mul(2),
        fuel: setting.fuel,
        turn: setting.fuel / TURN,
        denorms_are_zero: launch.program.options().denorms_are_zero,
        ..interp::Options::default()
    };
    let mut machine =
        interp::Machine::with_variables(&linked.code, options, shared.variables()).map_err(|e| e.to_string())?;
    let (module, sources) = (&linked.code.module, &*setting.sources);
    let subject = Subject { module, kernel: linked.func, range: launch.range, sources };
    let mut progress = Progress::new(&launch.kernel, launch.range.groups().iter().product());
    let mut on_group = |begun: u64| progress.group(begun);
    let mut checker = Checker::new(subject, setting.kinds.clone());
    checker.on_group(&mut on_group);
    // First, because it keeps its addresses.
    shared.place(&mut machine, &mut checker, launch, &setting.freed).map_err(|e| e.to_string())?;
    let placed = memory.place(&mut machine, &setting.unwritten).map_err(|e| e.to_string())?;
    let mut args = Vec::new();
    for ((arg, param), place) in launch.args.iter().zip(&launch.meta.params).zip(&placed) {
        args.push(match (arg, place) {
            (CheckedArg::Bytes(bytes), _) => interp::Arg::Bytes(bytes.clone()),
            (CheckedArg::Local(size), _) => interp::Arg::Local(*size),
            (CheckedArg::Buffer(_), Some(place)) => {
                let is_write_only = place.is_write_only;
                let region = Region { is_write_only, ..Region::buffer(param, place.segment_bytes) };
                checker.add_object(place.segment, region);
                interp::Arg::Buffer(place.address)
            }
            (CheckedArg::Image(image), Some(place)) => {
                let region = Region { is_image: true, ..Region::buffer(param, place.segment_bytes) };
                checker.add_object(place.segment, region);
                let descriptor = image.descriptor(place.address).map_err(|e| e.why.to_string())?;
                let address = machine.memory.allocate_with(&descriptor).map_err(|e| e.to_string())?;
                machine.memory.protect(address);
                checker.add_image(address, described(&param.name, &descriptor));
                interp::Arg::Buffer(address)
            }
            (CheckedArg::Address(address), _) => interp::Arg::Buffer(*address),
            _ => interp::Arg::Buffer(0),
        });
    }
    checker.add_globals(&machine);
    let result = machine.run_kernel(linked.func, &launch.range, &args, &mut checker);
    let accesses = checker.accesses();
    if let Err(fault) = &result
        && let FaultKind::Fuel | FaultKind::Endless { .. } | FaultKind::Memory = fault.kind
    {
        return Ok(given_up(launch, linked, setting, checker.finish(result).0, accesses));
    }
    for printed in std::mem::take(&mut checker.printed) {
        let text = |address: u64| machine.memory.text(address).map(<[u8]>::to_vec);
        print(&printf::format(&linked.code.module.strings[printed.format], &printed.args, &text));
    }
    memory.write(&machine, &placed).and_then(|()| shared.write(&machine, module)).map_err(|e| e.why.to_string())?;
    let mut uses = memory.used(&checker.footprint, &placed);
    uses.extend(shared.used(&checker.footprint));
    let (findings, fault) = checker.finish(result);
    Ok(Outcome { findings, accesses, uses, unfinished: fault.map(|fault| fault.kind.to_string()) })
}

/// What a launch has shown that was not interpreted to its end. Its device runs it from the start, so that the program
/// gets its results, and tells whether it ends at all, and what it accesses outside of its memory objects.
fn given_up(
    launch: &CheckedLaunch,
    linked: &Linked,
    setting: &Setting,
    mut findings: Vec<Finding>,
    accesses: u64,
) -> Outcome {
    let unfinished = match refused(launch, linked, &setting.kinds, &setting.sources, false) {
        Err(error) => not_ended(&error),
        Ok(others) => {
            findings.retain(|f| f.kind != Kind::Endless);
            let is_new = |f: &Finding| !findings.iter().any(|known| known.id == f.id);
            let others: Vec<Finding> = others.into_iter().flatten().filter(is_new).collect();
            findings.extend(others);
            "a launch takes too long to be checked to its end: its device ran it".into()
        }
    };
    Outcome { findings, accesses, uses: Vec::new(), unfinished: Some(unfinished) }
}

/// An image by its descriptor.
fn described(name: &str, descriptor: &[u8]) -> Image {
    let field = |at: usize| {
        let bytes = descriptor.get(at..at + 4).and_then(|b| b.try_into().ok()).unwrap_or_default();
        u32::from_le_bytes(bytes)
    };
    Image {
        name: name.to_owned(),
        size: [image::WIDTH, image::HEIGHT, image::DEPTH].map(|at| u64::from(field(at))),
        layers: u64::from(field(image::ARRAY_SIZE)),
        channel_type: field(image::CHANNEL_TYPE),
    }
}
