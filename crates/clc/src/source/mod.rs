//! Source files, spans, names, and diagnostics.
//!
//! In come the bytes of sources; out go [`Span`]s, which every later stage attaches to what it makes, and
//! [`Diagnostics`], which every later stage adds to. Diagnostics are data until [`render`] turns them into text, so
//! that a build log, a tool with colours and a test can each show them in their own form.

mod codes;
mod diag;
mod foreign;
mod intern;
mod map;
mod nearest;
mod render;
mod span;

pub use codes::{CODES, describe};
pub use diag::{Diagnostic, Diagnostics, Label, Severity, Suggestion};
pub use foreign::foreign;
pub use intern::{Interner, Symbol};
pub use map::{Expansion, Location, SourceFile, SourceMap};
pub use nearest::nearest;
pub use render::render;
pub use span::{ExpansionId, FileId, Span};

/// State shared by all stages of the front end: sources, names and diagnostics.
#[derive(Debug, Default)]
pub struct Session {
    /// The files and macro expansions that spans refer to.
    pub sources: SourceMap,
    /// The names seen so far.
    pub names: Interner,
    /// The diagnostics so far.
    pub diags: Diagnostics,
    /// The macros that are defined at the end of the program, for suggestions.
    pub macros: Vec<Symbol>,
}
