//! The report as text for a terminal. In come the report and the sources; out comes one picture for each finding, and
//! the summary.
//!
//! The pictures have the form of the build log: what stands below the title is the first event with `^^^`, the others
//! with `---`, and then what is known besides.

use super::excerpt::{Excerpt, excerpts};
use super::facts::{clean, event, facts, kernel, position, tail};
use crate::finding::{Finding, Report};
use crate::kind::Severity;
use crate::source::Sources;
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Padding, Renderer, Snippet};

/// The whole report.
pub fn text(report: &Report, sources: &Sources, colour: bool) -> String {
    let mut out = String::new();
    for f in &report.findings {
        out += &finding(f, report, sources, colour);
        out.push('\n');
    }
    for line in tail(report) {
        out += &line;
        out.push('\n');
    }
    out
}

/// One finding, which may name others of the report.
pub fn finding(finding: &Finding, report: &Report, sources: &Sources, colour: bool) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level.primary_title(clean(&finding.message)).id(finding.kind.name());
    let mut group = Group::with_title(title);
    let header: Vec<String> = finding.place().map(position).into_iter().chain(kernel(finding)).collect();
    if !header.is_empty() {
        group = group.element(Origin::path(header.join(", ")));
    }
    // A single line between two marked ones is shown, so one line around each mark suffices.
    let all = excerpts(finding, sources, 1);
    for (i, excerpt) in all.shown.iter().enumerate() {
        // The first line names the place of the first excerpt, unless the text of that place is missing.
        if i > 0 || finding.place() != Some(excerpt.place) {
            group = group.element(Padding).element(Origin::path(position(excerpt.place)));
        }
        group = group.element(snippet(excerpt, finding));
    }
    let mut notes: Vec<(&str, String)> = all.rest.iter().map(|i| ("event", event(&finding.events[*i]))).collect();
    notes.extend(facts(finding, report).into_iter().map(|fact| (fact.name, fact.text)));
    // An excerpt and a title have an empty line below them of their own.
    if all.shown.is_empty() && !header.is_empty() && !notes.is_empty() {
        group = group.element(Padding);
    }
    group = group.elements(notes.into_iter().map(|(name, text)| Level::NOTE.with_name(name).message(text)));
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let picture = renderer.decor_style(DecorStyle::Ascii).render(&[group]);
    picture.lines().filter(|line| !is_bare_origin(line)).map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Whether a line is the `:::` that stands above an excerpt without a path. The excerpts have none, as the renderer
/// would count columns in what is shown; the places stand above them already.
fn is_bare_origin(line: &str) -> bool {
    let mut rest = line;
    let mut text = String::new();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        text += before;
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    text += rest;
    text.trim() == ":::"
}

/// The lines of an excerpt with their marks. Lines that are left out are empty; they are folded.
fn snippet<'a>(excerpt: &Excerpt<'_>, finding: &Finding) -> Snippet<'a, Annotation<'a>> {
    let first = excerpt.lines.first().map_or(1, |l| l.number);
    let mut text = String::new();
    let mut marks = Vec::new();
    let mut next = first;
    for line in &excerpt.lines {
        while next < line.number {
            text.push('\n');
            next += 1;
        }
        for mark in &line.marks {
            let kind = if mark.is_primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            let range = mark.range.start + text.len()..mark.range.end + text.len();
            marks.push(kind.span(range).label(clean(&finding.events[mark.event].label)));
        }
        text += &line.text;
        text.push('\n');
        next += 1;
    }
    Snippet::source(text).line_start(first as usize).fold(true).annotations(marks)
}
