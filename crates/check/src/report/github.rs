//! The report as workflow commands of GitHub Actions. In come the report and the sources; out comes one line
//! `::error file=…,line=…::message` for each finding, which GitHub shows beside the line of a change.
//!
//! What is not a command, as the summary, GitHub prints into the log. It shows at most ten errors and ten warnings of a
//! step; the log has all of them.

use super::columns::{column_in_chars, with_slashes};
use super::facts::{clean, event, facts, kernel, tail};
use crate::finding::{Finding, Report};
use crate::kind::Severity;
use crate::source::Sources;

/// The commands, and the lines at the end of the report.
pub fn github(report: &Report, sources: &Sources) -> String {
    let mut out = String::new();
    for finding in &report.findings {
        out += &command(finding, report, sources);
        out.push('\n');
    }
    for line in tail(report) {
        out += &line;
        out.push('\n');
    }
    out
}

fn command(finding: &Finding, report: &Report, sources: &Sources) -> String {
    let command = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let mut properties: Vec<(&str, String)> = Vec::new();
    if let Some(place) = finding.place() {
        let line = sources.line(&place.file, place.line);
        let col = column_in_chars(line, place.col);
        // GitHub wants the last column, a place has the one after it.
        let last = column_in_chars(line, place.end_col).saturating_sub(1).max(col);
        properties.push(("file", with_slashes(&place.file)));
        properties.push(("line", place.line.to_string()));
        properties.push(("col", col.to_string()));
        properties.push(("endColumn", last.to_string()));
    }
    let title = kernel(finding).map_or(String::new(), |k| format!(" in {k}"));
    properties.push(("title", format!("{}{title}", finding.kind)));
    let properties: Vec<String> =
        properties.iter().map(|(name, value)| format!("{name}={}", escaped(value, true))).collect();
    let mut lines = vec![clean(&finding.message)];
    lines.extend(finding.events.iter().map(event));
    lines.extend(facts(finding, report).iter().map(|fact| format!("{}: {}", fact.name, fact.text)));
    format!("::{command} {}::{}", properties.join(","), escaped(&lines.join("\n"), false))
}

/// Escapes a message or the value of a property, as `@actions/core` does.
fn escaped(text: &str, is_property: bool) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '%' => out += "%25",
            '\r' => out += "%0D",
            '\n' => out += "%0A",
            ':' if is_property => out += "%3A",
            ',' if is_property => out += "%2C",
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::tests::{finding, report, sources};
    use super::*;

    #[test]
    fn a_finding_is_one_line() {
        let mut r = report();
        let text = github(&r, &sources());
        let first = text.lines().next().unwrap();
        let start = "::error file=matmul.cl,line=3,col=5,endColumn=14,title=race-local in kernel matmul%2C launch 1::\
                     two work-items of one group use ta[3][2] without a barrier between them, and one writes%0A\
                     matmul.cl:3:5: work-item (2, 3) writes 4 bytes%0A";
        assert!(first.starts_with(start), "{first}");
        assert!(first.contains("%0Afix: barrier(CLK_LOCAL_MEM_FENCE) after line 4%0A"), "{first}");
        assert!(text.lines().nth(1).unwrap().starts_with("::error title=api-error::"), "no place, no file: {text}");
        assert!(text.lines().nth(2).unwrap().starts_with("::notice file=lib/öl.cl,"), "{text}");
        assert_eq!(text.lines().count(), 4, "three findings and the summary");
        // Nothing of a kernel can make a command of its own.
        r.findings[0].message = "50%\n::error::forged".into();
        r.findings[0].events[0].place.as_mut().unwrap().file = "src\\a,b:c%.cl".into();
        let text = github(&r, &sources());
        assert!(text.starts_with("::error file=src/a%2Cb%3Ac%25.cl,line=3,"), "{text}");
        assert!(text.contains("::50%25 ::error::forged%0A"), "{text}");
        assert_eq!(text.lines().count(), 4);
    }

    #[test]
    fn columns_are_characters() {
        let mut r = report();
        r.findings = vec![finding()];
        let place = r.findings[0].events[0].place.as_mut().unwrap();
        (place.file, place.line, place.col, place.end_col) = ("lib/öl.cl".into(), 2, 14, 15);
        // Byte 14 is the 13th character of that line: an ö stands before it.
        assert!(github(&r, &sources()).contains("line=2,col=13,endColumn=13,"), "{}", github(&r, &sources()));
    }
}
