//! The result of a build: the program or which part failed, the log, the times.

use crate::diagnostic::Diagnostic;
use crate::program::Program;
use crate::stage::Timing;
use std::sync::Arc;

/// Which part of a build went wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The options; the source was not read.
    Options,
    /// The source, or linking.
    Program,
}

/// The result of a build.
#[derive(Clone, Debug)]
pub struct Compilation {
    /// The program.
    pub result: Result<Arc<Program>, Failure>,
    /// The build log: diagnostics as text, empty if there are none.
    pub log: String,
    /// The diagnostics of the front end as data; those of linking are in the log only.
    pub diagnostics: Vec<Diagnostic>,
    /// What each stage of the front end took.
    pub times: Vec<Timing>,
}

impl Compilation {
    /// The result for a program that exists already, without diagnostics.
    pub fn of(program: Arc<Program>) -> Compilation {
        Compilation { result: Ok(program), log: String::new(), diagnostics: Vec::new(), times: Vec::new() }
    }

    /// The result of a failed build, with its diagnostics.
    pub fn failed(failure: Failure, log: String, diagnostics: Vec<Diagnostic>) -> Compilation {
        Compilation { result: Err(failure), log, diagnostics, times: Vec::new() }
    }
}
