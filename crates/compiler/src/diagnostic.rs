//! Diagnostics of the front end as data, for programs that show them their own way (an editor, a test, a Rust program
//! that embeds Cloom). In come the front end's findings, whose spans refer to its own source map; out come the same
//! with file, line and column.

use cloom_clc::source::{Diagnostics, Severity, SourceMap};

/// One finding of the front end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Whether the program cannot be built because of it; a warning otherwise.
    pub is_error: bool,
    /// Its code, such as `E0312`; it stays the same when the words change.
    pub code: &'static str,
    /// The finding in one sentence.
    pub message: String,
    /// Where it is; `None` for a finding about a build option.
    pub location: Option<Location>,
    /// Background and advice, each a sentence.
    pub notes: Vec<String>,
}

/// A position in a source file, `#line` respected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// The name of the file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// The findings in the order in which they were made.
pub(crate) fn collect(sources: &SourceMap, diagnostics: &Diagnostics) -> Vec<Diagnostic> {
    let of = |d: &cloom_clc::source::Diagnostic| Diagnostic {
        is_error: d.severity == Severity::Error,
        code: d.code,
        message: d.message.clone(),
        location: d.primary.as_ref().map(|label| {
            let at = sources.location(label.span);
            Location { file: at.file.to_owned(), line: at.line, column: at.column }
        }),
        notes: d.notes.iter().chain(&d.help).cloned().collect(),
    };
    diagnostics.iter().map(of).collect()
}
