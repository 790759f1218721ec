//! The vectoriser's remarks on a program as lines of its build log: `file:line:column: remark: what: why`.

use crate::{Compiler, Program, kernel};
use cloom_ir::Span;
use cloom_target::Target;
use std::fmt::Write;

/// A place in the source, in the form that editors understand; `None` if there is no such place.
pub fn place(files: &[String], span: Span) -> Option<String> {
    let file = files.get(usize::from(span.file)).map_or("", String::as_str);
    (span != Span::NONE).then(|| format!("{file}:{}:{}", span.line, span.col))
}

/// What is made of each kernel of a program, in their order.
pub fn text(compiler: &Compiler, program: &Program, target: &Target) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail, here and below.
    for (name, _) in program.kernels() {
        let (group, files) = match kernel::vectorised(compiler, program, name, target) {
            Ok(made) => made,
            Err(why) => {
                let _ = writeln!(out, "remark: kernel `{name}`: no code: {why}");
                continue;
            }
        };
        let _ = match group.launch.lanes {
            0 | 1 => writeln!(out, "remark: kernel `{name}`: one work-item at a time"),
            lanes => {
                writeln!(
                    out,
                    "remark: kernel `{name}`: {lanes} work-items at a time along dimension {}",
                    group.launch.dim_order[0]
                )
            }
        };
        for remark in group.remarks {
            let place = place(&files, remark.span).map_or_else(String::new, |p| p + ": ");
            let _ = writeln!(out, "{place}remark: {}: {}", remark.what, remark.why);
        }
    }
    out
}
