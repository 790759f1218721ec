//! Rules of functions (V1, V9 to V24): indices, signatures, blocks, edges, dominance. [`super::inst`] has those of
//! operations.

use super::module::is_align;
use super::{AnyEntity, Report, Rule, VerifyError, inst};
use crate::cfg::Cfg;
use crate::dom::DomTree;
use crate::entity::{Block, Entity, Value};
use crate::function::{Function, Hidden, KernelParam, ParamKind, ValueDef};
use crate::inst::{Edge, Op, Term};
use crate::module::{CallSite, Module};
use crate::types::{Scalar, Space, Type};

/// The largest argument block, in bytes.
const MAX_ARG_BLOCK: u64 = 1 << 20;

/// Checks one function of a module, or one that is to become a function of it, and adds its violations.
pub fn verify_function(module: &Module, func: &Function, errors: &mut Vec<VerifyError>) {
    let mut report = Report::new(module, func, errors);
    signature(&mut report);
    ranges(&mut report);
    if func.is_declaration() || report.errors[report.before..].iter().any(|e| e.rule == Rule::Range) {
        return;
    }
    // The rules from here on follow indices, which are in range now.
    structure(&mut report);
    inlined(&mut report);
    // Dominance means nothing in a function whose blocks are wrong.
    if report.is_clean() {
        dominance(&mut report);
    }
}

fn has_lanes(ty: Type) -> bool {
    (1..=Type::MAX_LANES).contains(&ty.lanes)
}

fn signature(r: &mut Report<'_>) {
    let (f, at) = (r.func, AnyEntity::Function);
    r.require(f.params.iter().chain(&f.ret).all(|&t| has_lanes(t)), Rule::Lanes, at);
    let Some(meta) = &f.kernel else { return };
    r.require(meta.params.len() == f.params.len() && f.ret.is_none(), Rule::Kernel, at);
    for (n, (p, &ty)) in meta.params.iter().zip(&f.params).enumerate() {
        if !param_fits(p, ty) {
            let kind = crate::print::param_kind_name(p.kind);
            r.fail(Rule::KernelParam, at, format!("parameter {n}, {kind} of size {}, has type {ty}", p.size));
        }
    }
    // Hidden parameters are the last ones, and say something of those before them.
    let shown = meta.params.len().checked_sub(meta.hidden.len());
    let is_said = |hidden: &Hidden| match *hidden {
        Hidden::Size(n) => shown.is_some_and(|shown| (n as usize) < shown),
        Hidden::Stop | Hidden::Reports => shown.is_some(),
    };
    let last = meta.params.iter().zip(&f.params).skip(shown.unwrap_or(0));
    let fit = last.map(|(p, &ty)| p.kind == ParamKind::Value && p.size == 8 && ty == Type::I64);
    r.require(meta.hidden.iter().all(is_said) && fit.into_iter().all(|fits| fits), Rule::KernelParam, at);
    // More than what alignment adds.
    let total: u64 = meta.params.iter().map(|p| u64::from(p.size) + u64::from(p.align)).sum();
    r.require(meta.params.iter().all(|p| is_align(p.align)) && total <= MAX_ARG_BLOCK, Rule::ArgBlock, at);
}

/// Whether the function can load its parameter from the bytes that the host gives for it.
fn param_fits(p: &KernelParam, ty: Type) -> bool {
    let pointer = |space: Space| ty == Type::ptr(space);
    match p.kind {
        // A vector of three elements has the size of four for the host, so that more bytes may be given than are
        // loaded.
        ParamKind::Value => !ty.is_ptr() && ty.scalar != Scalar::I1 && u64::from(p.size) >= bytes(ty),
        ParamKind::Struct => pointer(Space::Constant),
        ParamKind::Global | ParamKind::Pipe => pointer(Space::Global) && p.size == 8,
        ParamKind::Constant | ParamKind::Image => pointer(Space::Constant) && p.size == 8,
        ParamKind::Local => pointer(Space::Local) && p.size == 8,
        ParamKind::Sampler => ty == Type::I32 && p.size >= 4,
        ParamKind::Queue => ty == Type::I64 && p.size == 8,
    }
}

fn bytes(ty: Type) -> u64 {
    u64::from(ty.scalar.bytes()) * u64::from(ty.lanes)
}

/// Every index in an arena, dead entries included: whoever goes through an arena may follow them.
fn ranges(r: &mut Report<'_>) {
    let f = r.func;
    let block = |b: Block| b.index() < f.blocks.len();
    let value = |v: Value| v.index() < f.values.len();
    r.require(f.layout.iter().all(|&b| block(b)), Rule::Range, AnyEntity::Function);
    for (v, data) in f.values.iter() {
        let good = match data.def {
            ValueDef::Inst(i) => i.index() < f.insts.len(),
            ValueDef::Param(b, _) => block(b),
        };
        r.require(good, Rule::Range, AnyEntity::Value(v));
    }
    for (b, data) in f.blocks.iter() {
        let good = data.params.iter().all(|&p| value(p)) && data.insts.iter().all(|&i| i.index() < f.insts.len());
        r.require(good, Rule::Range, AnyEntity::Block(b));
        let mut good = data.term.edges().iter().all(|e| block(e.block));
        data.term.for_each_use(|v| good &= value(v));
        r.require(good, Rule::Range, AnyEntity::Term(b));
    }
    for (i, data) in f.insts.iter() {
        let good = data.args.iter().chain(&data.result).all(|&v| value(v))
            && match data.op {
                Op::Call(callee) | Op::PureCall(callee) => callee.index() < r.module.funcs.len(),
                Op::GlobalAddr(g) => g.index() < r.module.globals.len(),
                Op::Printf(s) => s.index() < r.module.strings.len(),
                _ => true,
            };
        r.require(good, Rule::Range, AnyEntity::Inst(i));
    }
}

/// Whether positions name inlined calls that the function has, in dead entries too: a copy of such an entry looks the
/// call up.
fn inlined(r: &mut Report<'_>) {
    let f = r.func;
    let comes_before = |(at, call): (usize, &CallSite)| usize::from(call.span.inlined) <= at;
    r.require(f.inlined.iter().enumerate().all(comes_before), Rule::Inlined, AnyEntity::Function);
    for (b, data) in f.blocks.iter() {
        r.require(f.has_inlined(data.term_span), Rule::Inlined, AnyEntity::Term(b));
    }
    for (i, data) in f.insts.iter() {
        r.require(f.has_inlined(data.span), Rule::Inlined, AnyEntity::Inst(i));
    }
}

fn structure(r: &mut Report<'_>) {
    let f = r.func;
    let entry = f.entry();
    let types = f.blocks[entry].params.iter().map(|&p| f.ty(p));
    r.require(types.eq(f.params.iter().copied()), Rule::EntryParams, AnyEntity::Block(entry));
    let mut placed = vec![false; f.blocks.len()];
    for &b in &f.layout {
        r.require(!std::mem::replace(&mut placed[b.index()], true), Rule::Placed, AnyEntity::Block(b));
    }
    let mut seen = vec![false; f.insts.len()];
    for &b in &f.layout {
        for (i, &p) in f.blocks[b].params.iter().enumerate() {
            r.require(f.values[p].def == ValueDef::Param(b, i as u32), Rule::Definition, AnyEntity::Block(b));
            r.require(has_lanes(f.ty(p)), Rule::Lanes, AnyEntity::Block(b));
        }
        for &i in &f.blocks[b].insts {
            let (data, at) = (&f.insts[i], AnyEntity::Inst(i));
            r.require(!std::mem::replace(&mut seen[i.index()], true), Rule::Placed, at);
            if let Some(result) = data.result {
                r.require(f.values[result].def == ValueDef::Inst(i), Rule::Definition, at);
                r.require(has_lanes(f.ty(result)), Rule::Lanes, at);
            }
            r.require(b == entry || !matches!(data.op, Op::Alloca { .. }), Rule::AllocaPlace, at);
            inst::check(r, i);
        }
        terminator(r, b, &placed);
    }
}

fn terminator(r: &mut Report<'_>, b: Block, placed: &[bool]) {
    let (f, at) = (r.func, AnyEntity::Term(b));
    let term = &f.blocks[b].term;
    match term {
        Term::Branch { cond, .. } => {
            let ty = f.ty(*cond);
            if ty != Type::I1 {
                r.fail(Rule::Cond, at, format!("found {ty}"));
            }
        }
        Term::Switch { value, cases, .. } => {
            let ty = f.ty(*value);
            if !ty.is_int() || ty.is_vector() {
                r.fail(Rule::SwitchValue, at, format!("found {ty}"));
            }
            let mut bits: Vec<u64> = cases.iter().map(|c| c.0).collect();
            bits.sort_unstable();
            // Sorted, so that the last one is the largest and equal ones are neighbours.
            let fit = bits.last().is_none_or(|&most| most <= ty.scalar.mask());
            r.require(fit && bits.windows(2).all(|w| w[0] != w[1]), Rule::SwitchCases, at);
        }
        Term::Return(v) => r.require(v.map(|v| f.ty(v)) == f.ret, Rule::Return, at),
        Term::Jump(_) | Term::Unreachable => {}
    }
    for e in term.edges() {
        r.require(placed[e.block.index()] && e.block != f.entry(), Rule::EdgeTarget, at);
        r.require(args_fit(f, e), Rule::EdgeArgs, at);
    }
}

fn args_fit(f: &Function, e: &Edge) -> bool {
    let params = &f.blocks[e.block].params;
    params.len() == e.args.len() && params.iter().zip(&e.args).all(|(&p, &a)| f.ty(p) == f.ty(a))
}

/// Whether each use in a reachable block comes after its definition on every path.
fn dominance(r: &mut Report<'_>) {
    let f = r.func;
    let cfg = Cfg::new(f);
    let dom = DomTree::new(f, &cfg);
    // The definition of each value: its block and its index there, 0 for parameters. `None` for values in no block.
    let mut defs: Vec<Option<(Block, usize)>> = vec![None; f.values.len()];
    for &b in &f.layout {
        for &p in &f.blocks[b].params {
            defs[p.index()] = Some((b, 0));
        }
        for (i, &inst) in f.blocks[b].insts.iter().enumerate() {
            if let Some(v) = f.insts[inst].result {
                // After the parameters, which have 0. An operand of instruction i must have a number below i + 1.
                defs[v.index()] = Some((b, i + 1));
            }
        }
    }
    // Unreachable blocks are left out: nothing dominates them, and passes leave such blocks behind.
    for &b in cfg.rpo() {
        let reaches = |v: Value, at: usize| match defs[v.index()] {
            Some((def, i)) if def == b => i < at,
            Some((def, _)) => dom.dominates(def, b),
            None => false,
        };
        for (i, &inst) in f.blocks[b].insts.iter().enumerate() {
            let good = f.insts[inst].args.iter().all(|&v| reaches(v, i + 1));
            r.require(good, Rule::Dominance, AnyEntity::Inst(inst));
        }
        let mut good = true;
        f.blocks[b].term.for_each_use(|v| good &= reaches(v, usize::MAX));
        r.require(good, Rule::Dominance, AnyEntity::Term(b));
    }
}
