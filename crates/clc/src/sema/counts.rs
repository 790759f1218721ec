//! What is said of calls with a wrong number of arguments.

use crate::source::{Diagnostic, Span};

/// So many arguments, one of these numbers.
pub(in crate::sema) fn arguments(counts: &[usize]) -> String {
    let numbers: Vec<String> = counts.iter().map(usize::to_string).collect();
    format!("{} argument{}", numbers.join(" or "), if counts == [1] { "" } else { "s" })
}

/// What is said of a call with the wrong number of arguments.
pub(super) fn miscounted(callee: &str, takes: usize, found: usize, at: Span) -> Diagnostic {
    let few = if found < takes { "few" } else { "many" };
    Diagnostic::error("E0308", at, format!("too {few} arguments to {callee}: it takes {takes}, not {found}"))
}
