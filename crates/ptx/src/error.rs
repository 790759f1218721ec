//! The error of parsing.
//!
//! In: a line and what is wrong there. Out: a value that prints both.

use std::fmt;

/// A text that is not PTX of the supported subset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line of the text, from 1.
    pub line: u32,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for ParseError {}
