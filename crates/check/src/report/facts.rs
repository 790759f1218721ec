//! The sentences below a finding and at the end of a report. In come the finding and the report; out come named lines,
//! which all formats for readers share.
//!
//! Texts may hold what a kernel or a host program wrote. No control character of theirs gets into a line.

use crate::finding::{Event, Finding, NotChecked, Object, Origin, Place, Report};
use crate::kind::Severity;
use annotate_snippets::normalize_untrusted_str;

/// Calls of a stack that a sentence names. JSON has all of them.
const MAX_FRAMES: usize = 4;

/// A line such as `fix: barrier(CLK_LOCAL_MEM_FENCE) after line 16`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fact {
    /// What the line is about.
    pub name: &'static str,
    /// What it says.
    pub text: String,
}

/// All that is said of a finding besides its message and its places.
pub(crate) fn facts(finding: &Finding, report: &Report) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut add = |name, text: String| facts.push(Fact { name, text: clean(&text) });
    if let Some(why) = &finding.why {
        add("why", why.clone());
    }
    if let Some(fix) = &finding.fix {
        add("fix", fix.clone());
    }
    if let Some(o) = &finding.object {
        add("object", object(o, &finding.events));
    }
    for text in called_from(&finding.events) {
        add("called from", text);
    }
    if let Some(e) = &finding.enqueued {
        let mut text = format!("{}, global size {}", e.call, sizes(&e.global));
        if !e.local.is_empty() {
            text += &format!(", local size {}", sizes(&e.local));
        }
        if e.offset.iter().any(|o| *o != 0) {
            text += &format!(", offset {}", sizes(&e.offset));
        }
        add("enqueued", text + &stack(", in ", &e.stack));
    }
    if let Some(call) = &finding.call {
        add("call", format!("{call}{}", stack(" in ", &finding.stack)));
    }
    if let Some(text) = seen(finding) {
        add("seen", text);
    }
    if let Some(id) = &finding.follows {
        let cause = report.findings.iter().find(|f| f.id == *id);
        let at = cause.and_then(Finding::place).map(|p| format!(", at {}", position(p)));
        add("may follow from", format!("{id}{}", at.unwrap_or_default()));
    }
    facts
}

/// The kernel and the launch in which a finding was seen first, or nothing for one of the interface.
pub(crate) fn kernel(finding: &Finding) -> Option<String> {
    let Finding { kernel, first_launch, .. } = finding;
    (!kernel.is_empty()).then(|| clean(&format!("kernel {kernel}, launch {first_launch}")))
}

/// The last line of a report.
pub(crate) fn summary(report: &Report) -> String {
    let checked = &report.checked;
    let counts: Vec<String> = [Severity::Error, Severity::Warning, Severity::Note]
        .into_iter()
        .map(|severity| (severity, report.count(severity) as u64))
        .filter(|(_, count)| *count > 0)
        .map(|(severity, count)| counted(count, &severity.to_string()))
        .collect();
    let counts = counts.join(", ");
    if checked.launches == 0 {
        let counts = if counts.is_empty() { "no findings" } else { &counts };
        let what = if report.not_checked.is_empty() { "no kernel was launched" } else { "no launch was checked" };
        return format!("{what}: {counts}");
    }
    let mut what =
        format!("{}, {}", counted(checked.kernels, "kernel"), plural(checked.launches, "launch", "launches"));
    // Compiled checks are not counted.
    if checked.accesses > 0 || report.mode == "full" {
        what += &format!(", {}", plural(checked.accesses, "checked access", "checked accesses"));
    }
    if checked.proved > 0 {
        what += &format!(" ({} proved)", number(checked.proved));
    }
    let slower = checked.slowdown.filter(|s| s.is_finite()).map(|s| format!(", {s:.1} times slower"));
    let slower = slower.unwrap_or_default();
    if counts.is_empty() {
        return format!("no findings in {what}{slower}");
    }
    format!("{what}: {counts}{slower}")
}

/// The lines at the end of a report: what was hidden, what was not checked, and last the summary.
pub(crate) fn tail(report: &Report) -> Vec<String> {
    let hidden = report.suppressed.iter().map(|s| format!("suppressed: {} by {}", counted(s.count, "finding"), s.rule));
    let unchecked = report.not_checked.iter().map(not_checked);
    hidden.chain(unchecked).map(|line| clean(&line)).chain([summary(report)]).collect()
}

/// What was not checked, and why.
pub(crate) fn not_checked(what: &NotChecked) -> String {
    match what.kernel.is_empty() {
        true => clean(&format!("not checked: {}", what.why)),
        false => clean(&format!("not checked: kernel {}: {}", what.kernel, what.why)),
    }
}

/// What an event does, with its place.
pub(crate) fn event(event: &Event) -> String {
    match &event.place {
        Some(place) => clean(&format!("{}: {}", position(place), event.label)),
        None => clean(&event.label),
    }
}

/// `FILE:LINE:COLUMN`.
pub(crate) fn position(place: &Place) -> String {
    clean(&format!("{}:{}:{}", place.file, place.line, place.col))
}

/// A text without characters that move the cursor, end the line or turn the direction of writing.
pub(crate) fn clean(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    normalize_untrusted_str(&text)
}

/// A number with separators: `81,264`.
pub(crate) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn signed(value: i64) -> String {
    format!("{}{}", if value < 0 { "-" } else { "" }, number(value.unsigned_abs()))
}

fn counted(count: u64, what: &str) -> String {
    plural(count, what, &format!("{what}s"))
}

fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(count), if count == 1 { one } else { many })
}

fn sizes(sizes: &[u64]) -> String {
    sizes.iter().map(u64::to_string).collect::<Vec<_>>().join("x")
}

/// A stack as the end of a sentence, or nothing.
fn stack(before: &str, stack: &[String]) -> String {
    if stack.is_empty() {
        return String::new();
    }
    let shown = &stack[..stack.len().min(MAX_FRAMES)];
    let more = if stack.len() > MAX_FRAMES { ", called from …" } else { "" };
    format!("{before}{}{more}", shown.join(", called from "))
}

fn object(object: &Object, events: &[Event]) -> String {
    let size = counted(object.bytes, "byte");
    let mut text = match object.name.is_empty() {
        true => format!("{size} of {} memory", object.space),
        false => format!("`{}`, {size} of {} memory", object.name, object.space),
    };
    match &object.origin {
        Some(Origin::Declared(place)) => text += &format!(", declared at {}", position(place)),
        Some(Origin::Created(calls)) => text += &stack(", created in ", calls),
        None => {}
    }
    // An object that is leaked or mapped is not accessed at a byte.
    if events.iter().any(|e| e.bytes > 0) {
        text += &format!("; accessed at byte {}", signed(object.offset));
        if let Some(index) = object.index {
            text += &format!(", element {}", signed(index));
            if let Some(elements) = object.elements {
                text += &format!(" of {}", number(elements));
            }
        }
    }
    text
}

/// The calls on the way to the events, innermost first. One line suffices for events that the same calls lead to.
fn called_from(events: &[Event]) -> Vec<String> {
    let chain = |event: &Event| {
        let calls = event.inlined.iter().rev();
        calls.map(|c| format!("{} (call of {})", position(&c.place), c.function)).collect::<Vec<_>>().join(", ")
    };
    let Some(first) = events.first().map(chain) else { return Vec::new() };
    if events.iter().all(|e| chain(e) == first) {
        return if first.is_empty() { Vec::new() } else { vec![first] };
    }
    let mut lines: Vec<String> = Vec::new();
    for event in events.iter().filter(|e| !e.inlined.is_empty()) {
        let place = event.place.as_ref().map_or_else(|| event.label.clone(), position);
        let line = format!("{}, to {place}", chain(event));
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

fn seen(finding: &Finding) -> Option<String> {
    if finding.count <= 1 && finding.repeat.is_none() {
        return None;
    }
    let mut text = match finding.count {
        0 | 1 => "once".to_owned(),
        count => format!("{} times", number(count)),
    };
    if finding.count > 1 && finding.groups > 0 {
        text += &format!(" in {}", counted(finding.groups, "group"));
    }
    if let Some(repeat) = &finding.repeat {
        text += &format!("; repeat: {repeat}");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{finding, place, report};
    use super::*;
    use crate::finding::{Checked, Suppressed};

    #[test]
    fn numbers_have_separators_between_thousands() {
        for (value, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (81_264, "81,264"), (100_000, "100,000")] {
            assert_eq!(number(value), text);
        }
        assert_eq!(number(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(signed(i64::MIN), "-9,223,372,036,854,775,808");
    }

    #[test]
    fn the_summary_has_what_was_measured() {
        let mut r = report();
        assert_eq!(
            summary(&r),
            "3 kernels, 12 launches, 81,264 checked accesses (402 proved): 2 errors, 1 note, 4.2 times slower"
        );
        r.findings.clear();
        assert_eq!(
            summary(&r),
            "no findings in 3 kernels, 12 launches, 81,264 checked accesses (402 proved), 4.2 times slower"
        );
        r.checked = Checked { kernels: 1, launches: 1, accesses: 1, proved: 0, slowdown: None };
        assert_eq!(summary(&r), "no findings in 1 kernel, 1 launch, 1 checked access");
        r.checked = Checked::default();
        assert_eq!(summary(&r), "no kernel was launched: no findings");
        r.not_checked = vec![NotChecked { kernel: "k".into(), why: "pipes".into() }];
        assert_eq!(summary(&r), "no launch was checked: no findings");
    }

    #[test]
    fn the_summary_comes_last() {
        let mut r = report();
        r.suppressed = vec![Suppressed { rule: "race-global:hash.cl".into(), count: 3 }];
        r.not_checked = vec![
            NotChecked { kernel: "k\u{1b}[2J".into(), why: "program binary without IR".into() },
            NotChecked { kernel: String::new(), why: "images".into() },
        ];
        let lines = tail(&r);
        assert_eq!(lines[0], "suppressed: 3 findings by race-global:hash.cl");
        assert_eq!(lines[1], "not checked: kernel k [2J: program binary without IR");
        assert_eq!(lines[2], "not checked: images");
        assert_eq!(lines[3], summary(&r));
        assert_eq!(lines.len(), 4);
    }

    #[test]
    fn calls_are_told_once_for_events_of_the_same_way() {
        let call = |line, function: &str| crate::finding::Call {
            function: function.to_owned(),
            place: place("k.cl", line, 3, 6),
        };
        let mut f = finding();
        f.events[0].inlined = vec![call(30, "outer"), call(12, "inner")];
        f.events[1].inlined = f.events[0].inlined.clone();
        let innermost_first = "k.cl:12:3 (call of inner), k.cl:30:3 (call of outer)";
        assert_eq!(called_from(&f.events), [innermost_first]);
        f.events[1].inlined.clear();
        assert_eq!(called_from(&f.events), [format!("{innermost_first}, to matmul.cl:3:5")]);
    }

    #[test]
    fn an_object_that_is_not_accessed_has_no_offset() {
        let mut f = finding();
        let text = |f: &Finding| object(f.object.as_ref().unwrap(), &f.events);
        assert!(text(&f).ends_with("; accessed at byte 104, element 26 of 64"), "{}", text(&f));
        f.events.clear();
        f.object.as_mut().unwrap().origin = Some(Origin::Created((1..7).map(|i| format!("f{i} a.c:{i}")).collect()));
        assert_eq!(
            text(&f),
            "`ta`, 256 bytes of local memory, created in f1 a.c:1, called from f2 a.c:2, called from f3 a.c:3, \
             called from f4 a.c:4, called from …"
        );
    }
}
