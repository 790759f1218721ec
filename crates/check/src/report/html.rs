//! The report as one HTML page. In come the report and the sources; out comes a page that needs no other file, no
//! script and no network.
//!
//! Each finding has its lines with marks and what is known besides; below stand the sources, with a link from each
//! marked line to its findings. The policy in the page's head forbids scripts, should a text get past the escapes.

use super::excerpt::{Excerpt, Line, Mark, excerpts, marked};
use super::facts::{clean, event, facts, kernel, position, summary, tail};
use crate::finding::{Finding, Place, Report};
use crate::source::Sources;
use std::collections::BTreeMap;

/// Lines around each mark of an excerpt.
const CONTEXT: u32 = 2;
/// Lines around each mark in a long source.
const FAR: u32 = 20;
/// The longest source that is shown whole, in lines.
const MAX_SOURCE: usize = 4000;

const STYLE: &str = "
:root{color-scheme:light dark;--back:#fff;--text:#1f2328;--faint:#59636e;--line:#d1d9e0;--code:#f6f8fa;
--error:#b3131b;--warning:#8a5a00;--note:#0b5cad;--first:#ffd8d3;--other:#cfe5ff}
@media(prefers-color-scheme:dark){:root{--back:#0d1117;--text:#e6edf3;--faint:#9198a1;--line:#3d444d;--code:#151b23;
--error:#ff8a80;--warning:#e3b341;--note:#79b8ff;--first:#6b2023;--other:#173b63}}
body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;background:var(--back);
color:var(--text)}
h1{font-size:1.5rem}h2{font-size:1.15rem}h2,h3{margin:2rem 0 .5rem}
a{color:var(--note)}
pre{background:var(--code);border:1px solid var(--line);border-radius:6px;padding:.6rem;overflow-x:auto;
font:13px/1.5 ui-monospace,monospace;tab-size:4}
mark{background:var(--other);color:inherit}mark.first{background:var(--first)}
.n{color:var(--faint);user-select:none}.label{color:var(--note)}.label.first,.error{color:var(--error)}
.warning{color:var(--warning)}.note{color:var(--note)}.faint{color:var(--faint)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem;margin:.6rem 0}
dt{color:var(--faint)}dd{margin:0;overflow-wrap:anywhere}
@media print{pre{white-space:pre-wrap}}
";

/// The page.
pub fn html(report: &Report, sources: &Sources) -> String {
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>cloom check: {summary}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>cloom check</h1>\n\
         <p>{summary}</p>\n<p class=\"faint\">Cloom {version}, {device}, mode {mode}</p>\n",
        summary = escaped(&summary(report)),
        version = escaped(report.cloom),
        device = escaped(&report.device),
        mode = escaped(report.mode),
    );
    // The summary stands at the top already.
    let lines = tail(report);
    let besides = &lines[..lines.len().saturating_sub(1)];
    if !besides.is_empty() {
        let items: Vec<String> = besides.iter().map(|line| format!("<li>{}</li>\n", escaped(line))).collect();
        out += &format!("<ul>\n{}</ul>\n", items.concat());
    }
    for (i, f) in report.findings.iter().enumerate() {
        out += &finding(i + 1, f, report, sources);
    }
    out += &listings(report, sources);
    out += "</body>\n</html>\n";
    out
}

fn finding(number: usize, finding: &Finding, report: &Report, sources: &Sources) -> String {
    let mut out = format!(
        "<section id=\"finding-{number}\">\n<h2><span class=\"{severity}\">{severity}[{kind}]</span> {message}</h2>\n",
        severity = finding.severity,
        kind = finding.kind,
        message = escaped(&finding.message),
    );
    let header: Vec<String> = finding.place().map(position).into_iter().chain(kernel(finding)).collect();
    if !header.is_empty() {
        out += &format!("<p class=\"faint\">{}</p>\n", escaped(&header.join(", ")));
    }
    let all = excerpts(finding, sources, CONTEXT);
    for (i, excerpt) in all.shown.iter().enumerate() {
        if i > 0 {
            out += &format!("<p class=\"faint\">{}</p>\n", escaped(&position(excerpt.place)));
        }
        out += &piece(excerpt, finding);
    }
    let mut rows: Vec<(&str, String)> = all.rest.iter().map(|i| ("event", event(&finding.events[*i]))).collect();
    rows.extend(facts(finding, report).into_iter().map(|fact| (fact.name, fact.text)));
    if !rows.is_empty() {
        let rows = rows.iter().map(|(name, text)| format!("<dt>{name}</dt><dd>{}</dd>\n", escaped(text)));
        out += &format!("<dl>\n{}</dl>\n", rows.collect::<String>());
    }
    out + "</section>\n"
}

/// The lines of an excerpt, below each marked line what its events do.
fn piece(excerpt: &Excerpt<'_>, finding: &Finding) -> String {
    let width = excerpt.lines.last().map_or(1, |l| l.number.to_string().len());
    let mut out = String::from("<pre>");
    let mut next = excerpt.lines.first().map_or(1, |l| l.number);
    for line in &excerpt.lines {
        if line.number != next {
            out += &format!("<span class=\"n\">{:>width$}</span>\n", "…");
        }
        next = line.number + 1;
        out += &format!("<span class=\"n\">{:>width$} │</span> {}\n", line.number, with_marks(line));
        for mark in &line.marks {
            let class = if mark.is_primary { "label first" } else { "label" };
            // The same tabs keep the carets below the code.
            let blank = |c: char| if c == '\t' { c } else { ' ' };
            let before: String = line.text[..mark.range.start].chars().map(blank).collect();
            let carets = "^".repeat(line.text[mark.range.clone()].chars().count().max(1));
            let label = escaped(&finding.events[mark.event].label);
            let gap = " ".repeat(width);
            out += &format!("<span class=\"n\">{gap} │</span> {before}");
            out += &format!("<span class=\"{class}\">{carets} {label}</span>\n");
        }
    }
    out + "</pre>\n"
}

/// The text of a line with its marks. Where marks overlap, the first one that begins is shown.
fn with_marks(line: &Line) -> String {
    let mut marks: Vec<&Mark> = line.marks.iter().collect();
    marks.sort_by_key(|m| (m.range.start, !m.is_primary));
    let mut out = String::new();
    let mut done = 0;
    for mark in marks {
        let start = mark.range.start.max(done);
        if start >= mark.range.end {
            continue;
        }
        let class = if mark.is_primary { " class=\"first\"" } else { "" };
        out += &code(&line.text[done..start]);
        out += &format!("<mark{class}>{}</mark>", code(&line.text[start..mark.range.end]));
        done = mark.range.end;
    }
    out + &code(&line.text[done..])
}

/// The places of a file, by the line, with the number of their finding.
type Places<'a> = BTreeMap<u32, Vec<(&'a Place, usize)>>;

/// The sources that findings point into.
fn listings(report: &Report, sources: &Sources) -> String {
    let mut files: BTreeMap<&str, Places<'_>> = BTreeMap::new();
    for (i, finding) in report.findings.iter().enumerate() {
        for place in finding.events.iter().filter_map(|e| e.place.as_ref()) {
            files.entry(&place.file).or_default().entry(place.line).or_default().push((place, i + 1));
        }
    }
    let mut out = String::new();
    for (file, places) in &files {
        if let Some(text) = sources.text(file) {
            out += &format!("<h3>{}</h3>\n{}", escaped(file), listing(text, places));
        }
    }
    if out.is_empty() { out } else { format!("<h2>Sources</h2>\n{out}") }
}

/// A source with its marked lines; of a long one only what is near to them.
fn listing(text: &str, places: &Places<'_>) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let width = lines.len().to_string().len();
    let mut out = String::from("<pre>");
    let mut skipped = false;
    for (number, line) in (1u32..).zip(&lines) {
        let near = number.saturating_sub(FAR)..=number.saturating_add(FAR);
        if lines.len() > MAX_SOURCE && places.range(near).next().is_none() {
            skipped = true;
            continue;
        }
        if std::mem::take(&mut skipped) {
            out += &format!("<span class=\"n\">{:>width$}</span>\n", "…");
        }
        out += &format!("<span class=\"n\">{number:>width$} │</span> ");
        let Some(places) = places.get(&number) else {
            out += &code(line);
            out.push('\n');
            continue;
        };
        let marks = places.iter().enumerate();
        let marks = marks.map(|(event, (place, _))| Mark { range: marked(line, place), event, is_primary: false });
        out += &with_marks(&Line { number, text: (*line).to_owned(), marks: marks.collect() });
        let mut findings: Vec<usize> = places.iter().map(|(_, finding)| *finding).collect();
        findings.dedup();
        for finding in findings {
            out += &format!(" <a href=\"#finding-{finding}\">finding {finding}</a>");
        }
        out.push('\n');
    }
    out + "</pre>\n"
}

/// A sentence for HTML: no tags, no characters that control a terminal.
fn escaped(text: &str) -> String {
    code(&clean(text))
}

/// A piece of a source for HTML. Tabs stay.
fn code(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            '\t' => out.push('\t'),
            // HTML forbids most of them, and a parser stops at none.
            c if c.is_control() => out.push(' '),
            // What turns the direction of writing could show another program than the compiler reads.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::tests::{event as event_of, place, report, sources};
    use super::*;

    #[test]
    fn the_page_shows_each_finding_and_its_lines() {
        let page = html(&report(), &sources());
        assert!(page.starts_with("<!DOCTYPE html>"));
        for part in [
            "<span class=\"error\">error[race-local]</span> two work-items of one group",
            "<span class=\"n\">3 │</span>     <mark class=\"first\">ta[ly][lx]</mark> = a[gid];\n",
            "<span class=\"n\">  │</span>     <span class=\"label first\">^^^^^^^^^^ work-item (2, 3) writes",
            "<dt>fix</dt><dd>barrier(CLK_LOCAL_MEM_FENCE) after line 4</dd>",
            "<mark>ta[ly][k]</mark>",
            "<a href=\"#finding-1\">finding 1</a>",
            "<section id=\"finding-1\">",
        ] {
            assert!(page.contains(part), "lacks {part}:\n{page}");
        }
        let opened = |tag: &str| page.matches(&format!("<{tag}")).count();
        let closed = |tag: &str| page.matches(&format!("</{tag}>")).count();
        for tag in ["section", "pre", "span", "mark", "dl", "h2", "h3", "a"] {
            // `<pre>` is not `<p`, but `<a` begins no other tag here.
            assert_eq!(opened(tag), closed(tag), "{tag}");
        }
    }

    #[test]
    fn the_page_needs_nothing_else_and_runs_nothing() {
        let mut r = report();
        r.device = "<script>alert(1)</script>".into();
        r.findings[0].message = "a < b && \"c\" '\u{1b}".into();
        r.findings[0].events[0].label = "<img src=x>".into();
        r.findings[0].kernel = "</style><script>".into();
        let text = "<script>\n\"&'\u{0}\u{202e}\nta\n".to_owned();
        let page = html(&r, &Sources::from([("matmul.cl".to_owned(), text)]));
        for part in ["<script", "<img", "http:", "https:", "src=\"", "@import", "url(", "\u{0}", "\u{1b}", "\u{202e}"] {
            assert!(!page.contains(part), "has {part}:\n{page}");
        }
        assert!(page.contains("a &lt; b &amp;&amp; &quot;c&quot; &#39; "), "{page}");
    }

    #[test]
    fn marks_that_overlap_show_the_text_once() {
        let mark = |range, is_primary| Mark { range, event: 0, is_primary };
        let marks = vec![mark(4..9, false), mark(0..6, true), mark(4..5, false), mark(9..9, false)];
        let line = Line { number: 1, text: "a[i] = b<c".into(), marks };
        assert_eq!(with_marks(&line), "<mark class=\"first\">a[i] =</mark><mark> b&lt;</mark>c");
    }

    #[test]
    fn of_a_long_source_only_the_marked_parts_are_shown() {
        let mut r = report();
        r.findings[0].events = vec![event_of(Some(place("a.cl", 3000, 1, 5)), "here")];
        let text: String = (1..6001).map(|i| format!("line {i};\n")).collect();
        let page = html(&r, &Sources::from([("a.cl".to_owned(), text)]));
        assert!(page.contains("line 2980;") && page.contains("line 3020;"));
        assert!(!page.contains("line 2979;") && !page.contains("line 3021;"));
    }
}
