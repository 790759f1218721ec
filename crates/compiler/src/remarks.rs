//! A backend's decisions about a kernel as lines of the build log: `file:line:column: remark: what: why`.

use crate::backend::Explanation;
use crate::error::CompileError;
use cloom_ir::Span;
use cloom_spmd::Decision;
use std::collections::HashSet;
use std::fmt::Write;

/// A position in the source, in the form that editors understand; `None` if there is no such position.
pub fn place(files: &[String], span: Span) -> Option<String> {
    let file = files.get(usize::from(span.file)).map_or("", String::as_str);
    (span != Span::NONE).then(|| format!("{file}:{}:{}", span.line, span.col))
}

/// The backend's decisions about a kernel.
pub fn text(name: &str, explanation: Result<Explanation, CompileError>) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail, here and below.
    let Explanation { summary, decisions, files } = match explanation {
        Ok(explanation) => explanation,
        Err(why) => {
            let _ = writeln!(out, "remark: kernel `{name}`: no code: {why}");
            return out;
        }
    };
    if !summary.is_empty() {
        let _ = writeln!(out, "remark: kernel `{name}`: {summary}");
    }
    for (decision, remark) in with_remarks(&decisions, &files) {
        let place = place(&files, decision.span).map_or_else(String::new, |p| p + ": ");
        let _ = writeln!(out, "{place}remark: {remark}");
    }
    out
}

/// Each decision with its remark; `files` are the names of the source files.
/// Decisions that read alike, as those about copies of an unrolled loop, have one.
pub fn with_remarks<'d>(decisions: &'d [Decision], files: &[String]) -> Vec<(&'d Decision, String)> {
    let mut said = HashSet::new();
    let text = |d: &Decision| format!("{}: {}{}", d.what(), d.why(), d.inlined_into(files));
    let all = decisions.iter().map(|decision| (decision, text(decision)));
    all.filter(|(decision, text)| said.insert((decision.span, text.clone()))).collect()
}
