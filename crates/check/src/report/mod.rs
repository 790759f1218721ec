//! The report in its formats. In come a [`Report`], the sources and a format; out comes the text to print.
//!
//! * [`text`], [`json`], [`sarif`], [`github`], [`html`]: the formats.
//!
//! Those for readers share the sentences (`facts`) and the pieces of source (`excerpt`).

mod columns;
mod excerpt;
mod facts;
pub(crate) mod frame;
pub mod github;
pub mod html;
pub mod json;
pub mod sarif;
#[cfg(test)]
pub(crate) mod tests;
pub mod text;

use crate::finding::Report;
use crate::source::Sources;

/// How a report is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// For a terminal.
    Text,
    /// For scripts.
    Json,
    /// For code scanning and editors.
    Sarif,
    /// Workflow commands of GitHub Actions.
    Github,
    /// A page.
    Html,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 5] = [Format::Text, Format::Json, Format::Sarif, Format::Github, Format::Html];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Json => "json",
            Format::Sarif => "sarif",
            Format::Github => "github",
            Format::Html => "html",
        }
    }

    /// The format of this name.
    pub fn named(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|f| f.name() == name)
    }
}

/// The report in this format, with a newline at its end. Only text can have colours.
pub fn write(report: &Report, format: Format, sources: &Sources, colour: bool) -> String {
    match format {
        Format::Text => text::text(report, sources, colour),
        Format::Json => json::json(report),
        Format::Sarif => sarif::sarif(report, sources),
        Format::Github => github::github(report, sources),
        Format::Html => html::html(report, sources),
    }
}
