//! Diagnostics as text: the form of the build log, without colour.
//!
//! The first line is `file:line:column: error[code]: message`, which editors and scripts parse; an excerpt of the
//! source with marks follows.

use std::fmt::Write;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::diag::{Diagnostic, Diagnostics, Label, Severity};
use super::map::SourceMap;
use super::span::{ExpansionId, FileId, Span};

/// How much text around a span is shown at most: a line may be as long as the source.
const WINDOW: usize = 160;
/// How many expansions of nested macros are mentioned.
const MAX_EXPANSIONS: usize = 3;

/// All findings, each with its piece of source.
pub fn render(sources: &SourceMap, diags: &Diagnostics) -> String {
    let mut out = String::new();
    for d in diags {
        render_one(sources, d, &mut out);
    }
    if diags.dropped() > 0 {
        let _ = writeln!(out, "{} more findings are not shown", diags.dropped());
    }
    out
}

fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

fn render_one(sources: &SourceMap, d: &Diagnostic, out: &mut String) {
    let word = severity_word(d.severity);
    // Build options have no place in a source: the message stands alone.
    let Some(primary) = &d.primary else {
        let _ = writeln!(out, "{word}[{}]: {}", d.code, d.message);
        for note in &d.notes {
            let _ = writeln!(out, "  = note: {note}");
        }
        for help in &d.help {
            let _ = writeln!(out, "  = help: {help}");
        }
        out.push('\n');
        return;
    };
    let place = sources.location(primary.span);
    let _ = writeln!(out, "{}:{}:{}: {word}[{}]: {}", place.file, place.line, place.column, d.code, d.message);

    // The picture has no title of its own (the line above is it): the first group is given by its snippets alone.
    let mut labels: Vec<(bool, &Label)> = vec![(true, primary)];
    labels.extend(d.secondary.iter().map(|l| (false, l)));
    // The primary span is the use of a macro; its definition is shown as well.
    let macros = expansion_labels(sources, labels.iter().map(|l| l.1.span));
    labels.extend(macros.iter().map(|l| (false, l)));
    let windows = windows(sources, &labels);
    let notes: Vec<String> = d.notes.iter().cloned().chain(include_note(sources, primary.span.file)).collect();
    let mut group = Group::with_level(Level::ERROR);
    for w in &windows {
        let mut snippet = Snippet::source(&*w.text).line_start(w.line).fold(true);
        // The file of the primary span is in the first line already.
        if w.path != place.file {
            snippet = snippet.path(&*w.path);
        }
        for (is_primary, range, text) in &w.marks {
            let kind = if *is_primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            let mark = kind.span(range.clone());
            snippet = snippet.annotation(if text.is_empty() { mark } else { mark.label(*text) });
        }
        group = group.element(snippet);
    }
    for note in &notes {
        group = group.element(Level::NOTE.message(&**note));
    }
    for help in &d.help {
        group = group.element(Level::HELP.message(&**help));
    }
    let suggestion = d.suggestion.as_ref().map(|s| suggestion_text(sources, s));
    if let Some(text) = &suggestion {
        group = group.element(Level::HELP.message(&**text));
    }
    let picture = Renderer::plain().decor_style(DecorStyle::Ascii).render(&[group]);
    for line in picture.lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out.push('\n');
}

/// A suggestion as a sentence with the replacement in it.
fn suggestion_text(sources: &SourceMap, s: &super::diag::Suggestion) -> String {
    match s.replacement.is_empty() {
        false => format!("{} `{}`", s.message, s.replacement.trim()),
        true => format!("{} `{}`", s.message, sources.text(s.span)),
    }
}

/// The definitions of the macros that a span was expanded from, innermost first.
fn expansion_labels(sources: &SourceMap, spans: impl Iterator<Item = Span>) -> Vec<Label> {
    let mut labels: Vec<Label> = Vec::new();
    for span in spans {
        let mut id: ExpansionId = span.expansion;
        while let Some(e) = sources.expansion(id) {
            if let Some(span) = e.definition
                && labels.len() < MAX_EXPANSIONS
                && labels.iter().all(|l| l.span != span)
            {
                labels.push(Label { span, text: "in the expansion of this macro".into() });
            }
            id = e.parent;
        }
    }
    labels
}

fn include_note(sources: &SourceMap, file: FileId) -> Option<String> {
    let from = sources.file(file).included_from?;
    let place = sources.location(from);
    Some(format!("`{}` is included from {}:{}", sources.file(file).name, place.file, place.line))
}

/// A file, a range of it, and the labels in the range.
type Near<'a> = (FileId, u32, u32, Vec<(bool, &'a Label)>);

/// A piece of one file that holds some labels.
struct Window<'a> {
    text: String,
    line: usize,
    path: String,
    marks: Vec<(bool, std::ops::Range<usize>, &'a str)>,
}

/// Cuts the pieces to be shown: one per file when its labels are near each other, else one per label.
fn windows<'a>(sources: &SourceMap, labels: &[(bool, &'a Label)]) -> Vec<Window<'a>> {
    let mut groups: Vec<Near<'a>> = Vec::new();
    for &(primary, label) in labels {
        let Span { lo, hi, file, .. } = label.span;
        let len = sources.file(file).text.len() as u32;
        let (lo, hi) = (lo.min(len), hi.min(len).max(lo.min(len)));
        let near = groups.iter_mut().find(|g| g.0 == file && g.2.max(hi) - g.1.min(lo) < WINDOW as u32 * 8);
        match near {
            Some(g) => {
                g.1 = g.1.min(lo);
                g.2 = g.2.max(hi);
                g.3.push((primary, label));
            }
            None => groups.push((file, lo, hi, vec![(primary, label)])),
        }
    }
    groups.into_iter().map(|(file, lo, hi, labels)| window(sources, file, lo, hi, &labels)).collect()
}

fn window<'a>(sources: &SourceMap, file: FileId, lo: u32, hi: u32, labels: &[(bool, &'a Label)]) -> Window<'a> {
    let text = &*sources.file(file).text;
    let boundary = |mut i: usize| {
        i = i.min(text.len());
        while !text.is_char_boundary(i) {
            i -= 1;
        }
        i
    };
    // Whole lines where they are of a sane length, else as much of the line as fits.
    let (_, line_start) = sources.line_start(file, lo);
    // With whole lines, a program on one line gives logs of 10 KB, more than the buffers of some clients.
    let start = boundary((line_start as usize).max((lo as usize).saturating_sub(WINDOW)));
    let shown_hi = (hi as usize).min(lo as usize + WINDOW * 8);
    let limit = boundary(shown_hi + WINDOW);
    let end = text[boundary(shown_hi)..limit].find('\n').map_or(limit, |i| boundary(shown_hi) + i);
    let mut marks = Vec::new();
    for &(primary, label) in labels {
        let lo = boundary(label.span.lo as usize).clamp(start, end);
        // Of a span of many lines only the first is shown, so that the message stays visible.
        let mut hi = boundary(label.span.hi as usize).clamp(lo, end);
        if let Some(i) = text[lo..hi].find('\n') {
            hi = lo + text[lo..lo + i].trim_end().len();
        }
        marks.push((primary, lo - start..hi - start, &*label.text));
    }
    // Control characters but newline and tab would disturb a terminal; each is replaced by a byte of the same length.
    let shown: String = text[start..end]
        .chars()
        .map(|c| if c.is_ascii_control() && c != '\n' && c != '\t' { ' ' } else { c })
        .collect();
    let place = sources.location(Span::new(file, start as u32, start as u32));
    Window { text: shown, line: place.line as usize, path: place.file.to_owned(), marks }
}
