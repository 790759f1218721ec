//! Tests of single stages: a file of IR whose head has a command and the expected output.
//!
//! ```text
//! ; RUN: pass mem2reg fold
//! func …
//! ; ==== expected
//! ; func …
//! ```
//!
//! | command | what comes out |
//! |---|---|
//! | `text` | the module, printed |
//! | `verify`, `verify group N` | nothing: each line that breaks rules says which, as below |
//! | `parse` | the parser's error |
//! | `pass NAME…` | the module after these passes (`inline` and those of the pipeline), printed |
//! | `divergence` | each varying value and divergent branch with its cause |
//! | `uniformity` | nothing: comments behind lines say what the vectoriser finds there, as below |
//! | `loops` | each loop with header, depth and blocks |
//! | `spmd`, `spmd lanes N` | the work-group function for vectors of N work-items (1 unless said), printed |
//! | `spmd registers N` | the same for vectors that suit the kernel on a machine with registers of N bits |
//! | `spmd target TARGET` | the same for a target, as it is written in cache keys |
//! | `coarsen` | the kernel that does the work of several neighbours, printed, or why there is none |
//! | `warp-shape` | which work-items a warp should be |
//! | `llvm` | a work-group function as LLVM gets it, before LLVM's own passes |
//! | `run` | nothing: a case by [`crate::header`], on every rung |
//!
//! For `verify`, the rules that a line breaks follow it: `v2: i1 = add nsw v0, v1 ; error: V26, V49`. Numbers must be
//! those of the printed form in such lines. With `group N`, the first function is checked as a work-group function for
//! vectors of N work-items.
//!
//! For `uniformity`, a comment behind a line states the shape of its value, the kind of its branch, or that it is
//! masked: `v2: i64 = query global_id 0 ; strided 1`, `br v8, bb2, bb3 ; divergent, masked` ([`crate::uniformity`]).
//!
//! With `BLESS=1` in the environment the expected text is written instead of compared. Where the whole text would
//! change with every improvement, the head says what matters in it instead: `; CHECK: TEXT` lines must be found in this
//! order, one line of the output for each, and `; NOT: TEXT` in no line. Blanks count as one.
//!
//! `; FIRES: PASS N` says that a pass, of those that `pass` or `spmd` run, changes something N times; a pass that can
//! be switched off must change nothing when it is ([`crate::passes`]).

use crate::case::{Case, CaseArg};
use crate::{header, rungs};
use cloom_ir::abi::CpuLaunch;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{FuncRef, Module};
use cloom_passes::{PassManager, PassOptions, Statistics};
use cloom_spmd::{VectorOptions, work_group_function};
use cloom_target::{Target, TargetError};
use std::fmt::Write;
use std::path::Path;

pub(crate) const MARK: &str = "; ==== expected";
const CHECK: &str = "; CHECK:";
const NOT: &str = "; NOT:";

/// Runs a file. A case is run on the interpreted rungs and on each of `cpus`.
pub fn test(path: &Path, text: &str, cpus: &[&dyn rungs::Rung]) -> Result<(), String> {
    let (input, expected) = text.split_once(MARK).map_or((text, None), |(a, b)| (a, Some(b)));
    let command = input.lines().find_map(|l| l.strip_prefix("; RUN:")).ok_or("no `; RUN:` line")?;
    let words: Vec<&str> = command.split_whitespace().collect();
    match words[..] {
        ["run"] => {
            let module = cloom_ir::parse(input).map_err(|e| e.to_string())?;
            return run(&module, &header::parse(input, ";")?, cpus);
        }
        ["uniformity"] => return crate::uniformity::check(path, input),
        ["verify"] => return verify(input, None),
        ["verify", "group", lanes] => return verify(input, Some(lanes.parse().map_err(|_| "no number of lanes")?)),
        _ => {}
    }
    check(path, input, expected, &|options| output(input, &words, options))
}

/// What a command does with passes: its output, and what the passes did.
pub(crate) type Output<'a> = dyn Fn(&PassOptions) -> Result<(String, Statistics), String> + 'a;

/// Checks what passes do to the input of a file: how often they fire, and the text that `output` gives.
pub(crate) fn check(path: &Path, input: &str, expected: Option<&str>, output: &Output<'_>) -> Result<(), String> {
    let (got, _) = output(&PassOptions::default())?;
    crate::passes::check(input, &|options| Ok(output(options)?.1))?;
    if input.lines().any(|l| l.starts_with(CHECK) || l.starts_with(NOT)) {
        return find(input, &got);
    }
    let commented: String = got.lines().map(|l| if l.is_empty() { ";\n".into() } else { format!("; {l}\n") }).collect();
    if expected.map(|e| e.trim_start_matches('\n')) == Some(&commented) {
        return Ok(());
    }
    if std::env::var_os("BLESS").is_some() {
        let text = format!("{}\n{MARK}\n{commented}", input.trim_end());
        return std::fs::write(path, text).map_err(|e| e.to_string());
    }
    Err(format!("another output than expected (BLESS=1 accepts it):\n{got}"))
}

/// Whether a text has what the head of a file asks for.
fn find(head: &str, text: &str) -> Result<(), String> {
    let plain = |l: &str| l.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = text.lines().map(plain).collect();
    // One iterator for all lines: each search goes on behind what the one before has found, which makes the order
    // count.
    let mut rest = lines.iter();
    for line in head.lines() {
        if let Some(wanted) = line.strip_prefix(CHECK).map(plain) {
            if !rest.any(|l| l.contains(&wanted)) {
                return Err(format!("`{wanted}` is not where it should be in:\n{text}"));
            }
        } else if let Some(unwanted) = line.strip_prefix(NOT).map(plain)
            && lines.iter().any(|l| l.contains(&unwanted))
        {
            return Err(format!("`{unwanted}` is in:\n{text}"));
        }
    }
    Ok(())
}

/// The marker before the rules that a line breaks.
const ERROR: &str = "; error:";

/// Compares the rules that lines say they break with those that the verifier says.
fn verify(input: &str, group: Option<u16>) -> Result<(), String> {
    let module = cloom_ir::parse(input).map_err(|e| e.to_string())?;
    let errors = match group {
        None => cloom_ir::verify(&module),
        Some(lanes) => cloom_ir::verify_work_group(&module, first_defined(&module)?, lanes),
    };
    let mut expected = Vec::new();
    for (line, rules) in input.lines().filter_map(|l| l.split_once(ERROR)) {
        expected.extend(rules.split(',').map(|rule| (rule.trim(), line.trim())));
    }
    let mut wrong = String::new();
    for e in &errors {
        let is = |&(rule, line): &(&str, &str)| rule == e.rule.to_string() && line.starts_with(&e.context);
        match expected.iter().position(is) {
            // Each expectation stands for one error: two errors of one line need the rule twice.
            Some(at) => drop(expected.remove(at)),
            None => wrong += &format!("not expected: {e}\n"),
        }
    }
    wrong.extend(expected.iter().map(|(rule, line)| format!("not found: {rule} in `{line}`\n")));
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// The output of a command, and the statistics of its passes.
fn output(input: &str, command: &[&str], options: &PassOptions) -> Result<(String, Statistics), String> {
    let manager = PassManager::new(options);
    let text = text(input, command, &manager)?;
    Ok((text, manager.statistics()))
}

fn text(input: &str, command: &[&str], manager: &PassManager<'_>) -> Result<String, String> {
    let parsed = cloom_ir::parse(input);
    if command == ["parse"] {
        return Ok(parsed.err().map_or("no error".into(), |e| e.to_string()));
    }
    let mut module = parsed.map_err(|e| e.to_string())?;
    if let Some(e) = cloom_ir::verify(&module).first() {
        return Err(format!("does not verify: {e}"));
    }
    let first = first_defined(&module)?;
    match command {
        ["text"] => Ok(printed(&module)),
        ["pass", names @ ..] => {
            for name in names {
                if let Some(&(id, pass)) = cloom_passes::MODULE_PASSES.iter().find(|(id, _)| id.name == *name) {
                    manager.step(id, || (pass(&mut module, first), ()));
                } else {
                    let pass = cloom_passes::pass(name).ok_or_else(|| format!("no pass is named {name}"))?;
                    for f in module.funcs.keys().filter(|&f| !module.funcs[f].is_declaration()).collect::<Vec<_>>() {
                        manager.in_module(&mut module, f, *pass);
                    }
                }
                if let Some(e) = cloom_ir::verify(&module).first() {
                    return Err(format!("does not verify after {name}: {e}\n{module}"));
                }
            }
            Ok(printed(&module))
        }
        ["divergence"] => Ok(divergence(&module, first)),
        ["loops"] => Ok(loops(&module, first)),
        ["spmd"] => spmd(module, first, VectorOptions::with_lanes(1), &Target::generic(), manager),
        ["spmd", "lanes", lanes] => {
            let options = VectorOptions::with_lanes(lanes.parse().map_err(|_| "no number of lanes")?);
            spmd(module, first, options, &Target::generic(), manager)
        }
        ["spmd", "registers", bits] => {
            let target = rungs::target_of(bits.parse().map_err(|_| "no number of bits")?)?;
            spmd(module, first, VectorOptions::default(), &target, manager)
        }
        ["spmd", "target", target] => {
            let target: Target = target.parse().map_err(|e: TargetError| e.to_string())?;
            spmd(module, first, VectorOptions::default(), &target, manager)
        }
        ["coarsen"] => {
            let (coarse, decision) = cloom_spmd::coarsen(&mut module, first, manager);
            if let Some(e) = cloom_ir::verify(&module).first() {
                return Err(format!("does not verify: {e}\n{module}"));
            }
            let made = coarse.map(|coarse| module.function_text(&module.funcs[coarse.func]));
            Ok(format!("{}: {}\n{}", decision.what(), decision.why(), made.unwrap_or_default()))
        }
        ["warp-shape"] => {
            let target = Target::gpu("sm_90").map_err(|e| e.to_string())?;
            Ok(format!("{:?}\n", cloom_spmd::warp_shape(&module, first, target.machine(), manager).0))
        }
        ["llvm"] => llvm(&module, first),
        _ => Err(format!("no command is named {command:?}")),
    }
}

/// The text of a module without its version, which is the same for all.
fn printed(module: &Module) -> String {
    let text = module.to_string();
    text.split_once('\n').map_or_else(String::new, |(_, rest)| rest.to_owned())
}

pub(crate) fn first_defined(module: &Module) -> Result<FuncRef, String> {
    let kernel = module.kernels().next();
    let any = || module.funcs.iter().find(|(_, f)| !f.is_declaration()).map(|(r, _)| r);
    kernel.or_else(any).ok_or_else(|| "no function has a body".into())
}

/// The launch properties of a work-group function, and its text. A kernel that cannot be vectorised with so many lanes
/// is an error.
fn spmd(
    mut module: Module,
    kernel: FuncRef,
    options: VectorOptions,
    target: &Target,
    manager: &PassManager<'_>,
) -> Result<String, String> {
    cloom_passes::inline::run(&mut module, kernel);
    let group = work_group_function(&mut module, kernel, options, target, manager.options());
    let group = group.map_err(|e| e.to_string())?;
    manager.add(&group.statistics);
    let errors = cloom_ir::verify_work_group(&module, group.func, group.launch.lanes);
    if let Some(e) = cloom_ir::verify(&module).iter().chain(&errors).next() {
        return Err(format!("does not verify after spmd: {e}\n{module}"));
    }
    if let Some(lanes) = options.lanes
        && group.launch.lanes != lanes
    {
        return Err(format!("{} lanes instead of {lanes}: {:?}", group.launch.lanes, group.decisions.last()));
    }
    let CpuLaunch { scratch_fixed, scratch_per_item, .. } = group.launch;
    let sizes = format!("scratch {scratch_fixed} + {scratch_per_item} an item, local {}\n", group.local_size);
    Ok(sizes + &module.function_text(&module.funcs[group.func]))
}

/// The definition of a function in LLVM's IR, without what only says for which machine it is.
fn llvm(module: &Module, func: FuncRef) -> Result<String, String> {
    let target = "x86_64-unknown-linux-gnu:x86-64-v3".parse().map_err(|e| format!("{e}"))?;
    let options = cloom_llvm::Options {
        target,
        level: cloom_llvm::OptLevel::None,
        denorms_are_zero: false,
        texts: true,
        lines: false,
        count: false,
    };
    let compiled = cloom_llvm::compile(module, func, &options, &PassOptions::default()).map_err(|e| e.to_string())?;
    let text = compiled.stages.iter().find(|s| s.0 == "llvm").map(|s| s.1.as_str()).ok_or("no text")?;
    let mut inside = false;
    let keep = |line: &&str| {
        let keep = inside || line.starts_with("define");
        inside = keep && *line != "}";
        keep
    };
    Ok(text.lines().filter(keep).map(|l| l.trim_end().to_owned() + "\n").collect())
}

/// Names values by their number in the arena; texts of tests are canonical, so that it is the number in the text.
fn divergence(module: &Module, f: FuncRef) -> String {
    let func = &module.funcs[f];
    let d = cloom_spmd::analysis::divergence::analyse(func);
    let mut out = String::new();
    // Writing to a string cannot fail.
    for v in func.values.keys() {
        if let Some(cause) = d.cause(v) {
            let cause = match cause {
                cloom_spmd::analysis::divergence::Cause::Source(i) => {
                    func.insts[i].result.map_or("a source".into(), |r| format!("from {r}"))
                }
                cloom_spmd::analysis::divergence::Cause::Param => "by a parameter".to_owned(),
                cloom_spmd::analysis::divergence::Cause::Branch(b) => format!("by the branch of {b}"),
            };
            let _ = writeln!(out, "{v} varies {cause}");
        }
    }
    for &b in &func.layout {
        if d.is_divergent_branch(b) {
            let _ = writeln!(out, "{b} ends in a divergent branch");
        }
    }
    out
}

fn loops(module: &Module, f: FuncRef) -> String {
    let func = &module.funcs[f];
    let cfg = Cfg::new(func);
    let found = Loops::new(func, &cfg, &DomTree::new(func, &cfg));
    let mut out = String::new();
    for l in &found.loops {
        let _ = writeln!(out, "loop of {} at depth {}: {:?}, exits {:?}", l.header, l.depth, l.blocks, l.exits);
    }
    for (from, to) in &found.irreducible {
        let _ = writeln!(out, "irreducible: {from} to {to}");
    }
    out
}

/// Runs what a header asks for on the interpreted rungs and on `cpus`, and compares with what it expects.
pub fn run(module: &Module, header: &header::Header, cpus: &[&dyn rungs::Rung]) -> Result<(), String> {
    let kernel = module.kernels().next().ok_or("no kernel")?;
    let first = module.funcs[kernel].name.clone();
    if header.runs.is_empty() {
        return Err("no `run:` line".into());
    }
    let list: Vec<&dyn rungs::Rung> = rungs::INTERPRETED.into_iter().chain(cpus.iter().copied()).collect();
    for (range, kernel) in &header.runs {
        let case = Case {
            module: module.clone(),
            kernel: kernel.clone().unwrap_or_else(|| first.clone()),
            range: *range,
            args: header.args.clone(),
            initialised: true,
        };
        let outcome = rungs::climb(&case, &list).map_err(|e| format!("{range:?}: {e}"))?;
        for (number, want) in &header.expect {
            let is_buffer = |a: &&CaseArg| matches!(a, CaseArg::Buffer(_));
            // An outcome has buffers only, so that its index counts those among the arguments before.
            let index = header.args.iter().take(*number).filter(is_buffer).count();
            let got = outcome.buffers.get(index).and_then(|b| b.get(..want.len())).ok_or("expects too much")?;
            if got != want {
                return Err(format!("{range:?}: argument {number} holds {got:02x?} instead of {want:02x?}"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn lines_are_found_in_their_order() {
        let text = "a b\nc\n  d   e\n";
        assert_eq!(find("; CHECK: a\n; CHECK: d e", text), Ok(()));
        assert!(find("; CHECK: c\n; CHECK: a", text).is_err());
        assert!(find("; CHECK: a\n; CHECK: b", text).is_err());
        assert!(find("; NOT: d e", text).is_err());
        assert_eq!(find("; NOT: e d", text), Ok(()));
    }
}
