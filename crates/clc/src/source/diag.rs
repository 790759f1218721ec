//! Diagnostics as data, and the collection that all stages add to.
//!
//! A stage reports what it finds and continues. The collection applies the build options (`-w`, `-Werror`), drops
//! repetitions of a message at the same span, and keeps a bounded number of errors.

use super::span::Span;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// The program may do something else than was meant.
    Warning,
    /// The program cannot be built.
    Error,
}

/// A span and the text shown at it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What; may be empty.
    pub text: String,
}

/// A change of the source that would repair it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Suggestion {
    /// The replaced span; empty for an insertion.
    pub span: Span,
    /// By what.
    pub replacement: String,
    /// The words that propose it; the replacement is shown after them: "did you mean", "put the type in parentheses:".
    pub message: String,
}

/// One finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Its code in the table [`CODES`](super::CODES).
    pub code: &'static str,
    /// The finding in one sentence that makes sense without the source; lower case, no full stop.
    pub message: String,
    /// Where it is; `None` when it has no span, as with a build option.
    pub primary: Option<Label>,
    /// Other spans that matter.
    pub secondary: Vec<Label>,
    /// Background, each a sentence.
    pub notes: Vec<String>,
    /// Advice, each a sentence.
    pub help: Vec<String>,
    /// A concrete repair.
    pub suggestion: Option<Suggestion>,
}

impl Diagnostic {
    fn new(severity: Severity, code: &'static str, span: Option<Span>, message: String) -> Self {
        debug_assert!(super::describe(code).is_some(), "{code} is missing in the table of codes");
        Self {
            severity,
            code,
            message,
            primary: span.map(|span| Label { span, text: String::new() }),
            secondary: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
            suggestion: None,
        }
    }

    /// An error at a span.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, Some(span), message.into())
    }

    /// A warning at a span.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, Some(span), message.into())
    }

    /// An error without a span.
    pub fn error_nowhere(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, None, message.into())
    }

    /// With a text at the primary span.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        if let Some(primary) = &mut self.primary {
            primary.text = text.into();
        }
        self
    }

    /// With another span.
    #[must_use]
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    /// With background.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// With advice.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    /// With a concrete repair.
    #[must_use]
    pub fn suggest(mut self, span: Span, replacement: impl Into<String>, message: impl Into<String>) -> Self {
        self.suggestion = Some(Suggestion { span, replacement: replacement.into(), message: message.into() });
        self
    }
}

/// Cuts what is longer than anybody reads.
fn clip(text: &mut String) {
    const MAX: usize = 1000;
    if text.len() > MAX {
        let end = (0..=MAX).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
}

/// The findings so far.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
    dropped: usize,
    silence_warnings: bool,
    warnings_are_errors: bool,
}

impl Diagnostics {
    /// How many errors are kept; a broken source can hold as many as it has tokens, and nobody reads beyond the first.
    pub const MAX_ERRORS: usize = 64;
    /// How many warnings are kept.
    pub const MAX_WARNINGS: usize = 256;

    /// Drop warnings (`-w`).
    pub fn silence_warnings(&mut self, yes: bool) {
        self.silence_warnings = yes;
    }

    /// Count warnings as errors (`-Werror`).
    pub fn warnings_are_errors(&mut self, yes: bool) {
        self.warnings_are_errors = yes;
    }

    /// Adds a finding.
    pub fn push(&mut self, mut d: Diagnostic) {
        if d.severity == Severity::Warning {
            if self.silence_warnings {
                return;
            }
            if self.warnings_are_errors {
                d.severity = Severity::Error;
                d.notes.push("warnings count as errors because of `-Werror`".into());
            }
        }
        // Names and constants go into messages as they are, and may be as long as the source.
        let texts = d.secondary.iter_mut().chain(&mut d.primary).map(|l| &mut l.text);
        texts.chain(&mut d.notes).chain(&mut d.help).chain([&mut d.message]).for_each(clip);
        let (count, max) = match d.severity {
            Severity::Error => (&mut self.errors, Self::MAX_ERRORS),
            Severity::Warning => (&mut self.warnings, Self::MAX_WARNINGS),
        };
        // Counted before repetitions and excess are dropped: one error makes the build fail, whether it is kept or not.
        *count += 1;
        if *count > max {
            self.dropped += 1;
            return;
        }
        // The same message at the same span comes from analysing the same text twice.
        let span = |d: &Diagnostic| d.primary.as_ref().map(|l| l.span);
        // Repetitions come close together: a few findings back is enough, and stays cheap.
        if self.list.iter().rev().take(8).any(|o| o.code == d.code && span(o) == span(&d) && o.message == d.message) {
            return;
        }
        self.list.push(d);
    }

    /// Whether the program cannot be built.
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// How many errors were reported, those not kept included.
    pub fn error_count(&self) -> usize {
        self.errors
    }

    /// Whether so much is wrong that looking further is a waste of time.
    pub fn is_full(&self) -> bool {
        self.errors >= Self::MAX_ERRORS
    }

    /// How many findings were not kept.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// The findings, in the order in which they were made.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
