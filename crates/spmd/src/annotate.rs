//! A printer of divergence and masks, for tests (like LLVM's `print<uniformity>`).
//!
//! In comes a kernel; out goes its text, with what the vectoriser finds for vectors along dimension 0 as a comment
//! behind each line:
//!
//! ```text
//! bb1(v5: i32): ; masked, v5 varying
//!     v6: i64 = query global_id 0 ; strided 1
//!     v7: i32 = load v3 align 4 ; uniform, masked
//!     v8: i1 = icmp slt v7, v5 ; varying, masked
//!     br v8, bb2, bb3 ; divergent, masked
//! ```
//!
//! | comment | means |
//! |---|---|
//! | `uniform`, `strided N`, `strided N checked`, `varying` | the [`Shape`] of the value |
//! | `divergent`, `uniform` | the branch |
//! | `masked` | the block is linearised and runs under a mask |
//!
//! The kernel is analysed as its continuations are: queries become parameters, and a copy is brought into canonical
//! form. The text is that of the source, whose values and blocks the copy still has. Barriers are ignored.

use crate::analysis::bounds::Bounds;
use crate::analysis::masked;
use crate::analysis::shape::{self, Shape};
use crate::emit::group;
use crate::error::Stop;
use crate::params::Param;
use crate::split::frame::Frame;
use crate::transform::canonicalize;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::{Function, Module, Op, Term, Value};
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// The text of a kernel with its shapes, divergent branches and masked blocks.
///
/// # Errors
/// Why the kernel cannot be vectorised, in words.
pub fn annotate(module: &Module, source: &Function) -> Result<String, String> {
    let mut func = source.clone();
    let (params, param_of_query) = queries_to_params(&mut func);
    // Barriers are ignored, so that nothing has a slot.
    let frame = Frame { fixed: 0, per_item: 0, slots: Vec::new(), next: None };
    let param_shapes: Vec<Shape> = params.iter().map(|&p| group::shape_of(p, source, &frame, 0)).collect();
    let varying: Vec<Value> = {
        let values = func.param_values().iter().zip(&param_shapes);
        values.filter(|(_, s)| **s != Shape::Uniform).map(|(&p, _)| p).collect()
    };
    // Canonical form only adds blocks and values, so that those of the source keep their numbers.
    let (func, canonical) = canonicalize::form_of_copy(&func, &varying).map_err(|stop| match stop {
        Stop::Limit(limit) => limit.to_string(),
        Stop::Bug(bug) => bug.to_string(),
    })?;
    let bounds = Bounds::new(&func, &params.iter().map(|&p| group::bound_of(p)).collect::<Vec<_>>());
    let shapes = shape::analyse(&func, &param_shapes, &bounds, &canonical.unspecified);
    let cfg = Cfg::new(&func);
    let (dom, post) = (DomTree::new(&func, &cfg), DomTree::post(&func, &cfg));
    let masked = masked::find(&func, &cfg, &dom, &post, &|b| shapes.diverges(b));

    let shape_text = |v: Value| match shapes.of(*param_of_query.get(&v).unwrap_or(&v)) {
        Shape::Uniform | Shape::Unknown => "uniform".to_owned(),
        Shape::Strided { by, checked: false } => format!("strided {by}"),
        Shape::Strided { by, checked: true } => format!("strided {by} checked"),
        Shape::Varying => "varying".to_owned(),
    };
    let mut comments = Vec::new();
    for &b in &source.layout {
        let block = &source.blocks[b];
        let masked = masked.is_masked(b).then(|| "masked".to_owned());
        let facts = |first: Option<String>| first.into_iter().chain(masked.clone()).collect();
        comments.push(Comment { facts: facts(None), params: block.params.iter().map(|&p| shape_text(p)).collect() });
        for &i in &block.insts {
            comments.push(Comment { facts: facts(source.insts[i].result.map(shape_text)), params: Vec::new() });
        }
        let is_branch = matches!(block.term, Term::Branch { .. } | Term::Switch { .. });
        let branch = is_branch.then(|| if shapes.diverges(b) { "divergent" } else { "uniform" }.to_owned());
        comments.push(Comment { facts: facts(branch), params: Vec::new() });
    }
    Ok(with_comments(&module.function_text(source), &comments))
}

/// Replaces queries by parameters, as continuation functions have them. Returns what each parameter is, and the
/// parameter of each query.
fn queries_to_params(func: &mut Function) -> (Vec<Param>, FxHashMap<Value, Value>) {
    let entry = func.entry();
    let mut params: Vec<Param> = (0..func.param_values().len() as u32).map(Param::Kernel).collect();
    let mut param_of_query = FxHashMap::default();
    let insts: Vec<_> = func.insts_in_layout().map(|(i, _)| i).collect();
    for i in insts {
        let (&Op::Query { what, dim }, Some(result)) = (&func.insts[i].op, func.insts[i].result) else { continue };
        params.push(Param::of_query(what, dim));
        let ty = func.ty(result);
        param_of_query.insert(result, func.add_block_param(entry, ty));
    }
    func.map_uses(|v| param_of_query.get(&v).copied().unwrap_or(v));
    (params, param_of_query)
}

/// What is found for one line of the text.
struct Comment {
    /// The shape of the result, the kind of branch, the mask.
    facts: Vec<String>,
    /// The shapes of a block's parameters.
    params: Vec<String>,
}

/// Adds comments to a function's text, whose last lines before the closing brace are one for each head of a block,
/// instruction and terminator.
fn with_comments(text: &str, comments: &[Comment]) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let first = (lines.len() - 1).saturating_sub(comments.len());
    let mut out = String::new();
    for (k, line) in lines.iter().enumerate() {
        let mut list = Vec::new();
        if let Some(comment) = k.checked_sub(first).and_then(|k| comments.get(k)) {
            list.extend(comment.facts.iter().cloned());
            // The printer numbers values anew: take their names from the head of the block.
            let names = line.split(['(', ',', ' ']).filter_map(|word| word.strip_suffix(':'));
            list.extend(names.zip(&comment.params).map(|(name, shape)| format!("{name} {shape}")));
        }
        // Writing to a string cannot fail.
        let _ = if list.is_empty() { writeln!(out, "{line}") } else { writeln!(out, "{line} ; {}", list.join(", ")) };
    }
    out
}
