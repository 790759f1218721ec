//! Build options as text, parsed, with what is wrong with them.

use crate::diagnostic::{self, Diagnostic};
use cloom_clc::options::{BuildOptions, OptionSet};
use cloom_clc::source::{Diagnostics, SourceMap};

/// A log as text and as data.
pub type Log = (String, Vec<Diagnostic>);

/// Parses options; returns them with the warnings, or the errors.
pub fn parse(text: &str, set: OptionSet) -> Result<(BuildOptions, String, Vec<Diagnostic>), Log> {
    let mut diagnostics = Diagnostics::default();
    let options = BuildOptions::parse(text, set, &mut diagnostics);
    let sources = SourceMap::default();
    let log = cloom_clc::render(&sources, &diagnostics);
    let list = diagnostic::collect(&sources, &diagnostics);
    if diagnostics.has_errors() { Err((log, list)) } else { Ok((options, log, list)) }
}
