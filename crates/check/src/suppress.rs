//! Hides findings that somebody has looked at and wants no more. In come a report, rules and the sources; the hidden
//! findings leave the report, which keeps the rules and how many findings each hid.
//!
//! A rule stands in a file, one in each line,
//!
//! ```text
//! KIND:FILE-GLOB[:FUNCTION]  # reason
//! ```
//!
//! or in the source, on the line of an event or on a line of its own above it:
//!
//! ```text
//! // cloom: allow KIND[,KIND] [reason]
//! ```
//!
//! KIND is a kind, a group of kinds or `*`. The glob has `*` for any characters and `?` for one; it matches the path or
//! its end from a folder on, so that `hash.cl` is that file in any folder. FUNCTION, a glob too, is the kernel or a
//! function that it calls. For findings of the interface, file and function are those of the host's stack. Any event of
//! a finding is enough: a race is hidden by a rule for either side.

use crate::finding::{Finding, Report, Suppressed};
use crate::kind::{Group, Kind, Kinds};
use crate::report::frame::Frame;
use crate::source::Sources;
use std::collections::BTreeSet;

/// A rule of a file.
#[derive(Clone, Debug)]
struct Rule {
    kinds: Kinds,
    file: String,
    function: Option<String>,
    /// As it is written, without its reason.
    text: String,
    /// `FILE:LINE` of the rule itself.
    written: String,
}

/// The rules of some files.
#[derive(Clone, Default, Debug)]
pub struct Rules(Vec<Rule>);

impl Rules {
    /// Adds the rules of a file. The error has a line for each line of the file that is no rule, and says what to
    /// write. The other lines are added nevertheless.
    pub fn add(&mut self, name: &str, text: &str) -> Result<(), String> {
        let mut errors = Vec::new();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (i, line) in text.lines().enumerate() {
            let line = without_reason(line).trim();
            if line.is_empty() {
                continue;
            }
            let written = format!("{name}:{}", i + 1);
            match rule(line, &written) {
                Ok(rule) => self.0.push(rule),
                Err(why) => errors.push(format!("{written}: {why}")),
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
    }
}

/// Takes the findings that a rule or a comment allows out of the report. The notes name rules that hid nothing, and
/// comments that name no kind.
pub fn apply(report: &mut Report, rules: &Rules, sources: &Sources) -> Vec<String> {
    let mut used = vec![false; rules.0.len()];
    let mut notes = BTreeSet::new();
    for finding in std::mem::take(&mut report.findings) {
        let mut hidden_by = None;
        // A rule that another one forestalls is not unused.
        for (rule, used) in rules.0.iter().zip(&mut used).filter(|(rule, _)| matches(rule, &finding)) {
            *used = true;
            hidden_by.get_or_insert_with(|| rule.text.clone());
        }
        match hidden_by.or_else(|| allowed(&finding, sources, &mut notes)) {
            Some(rule) => count(&mut report.suppressed, rule),
            None => report.findings.push(finding),
        }
    }
    let unused = rules.0.iter().zip(&used).filter(|(_, used)| !**used).map(|(rule, _)| {
        format!("{}: the rule `{}` hid nothing; delete it if its finding is gone", rule.written, rule.text)
    });
    notes.into_iter().chain(unused).collect()
}

fn count(suppressed: &mut Vec<Suppressed>, rule: String) {
    match suppressed.iter_mut().find(|s| s.rule == rule) {
        Some(s) => s.count += 1,
        None => suppressed.push(Suppressed { rule, count: 1 }),
    }
}

/// What stands before the `#` of a reason. A `#` inside of a word belongs to the word.
fn without_reason(line: &str) -> &str {
    let starts = line.match_indices('#').map(|(at, _)| at);
    let mut reasons = starts.filter(|at| line[..*at].chars().next_back().is_none_or(char::is_whitespace));
    reasons.next().map_or(line, |at| &line[..at])
}

fn rule(line: &str, written: &str) -> Result<Rule, String> {
    let parts: Vec<&str> = line.split(':').map(str::trim).collect();
    let (kinds, file, function) = match parts[..] {
        [kinds, file] => (kinds, file, None),
        [kinds, file, function] => (kinds, file, Some(function)),
        [kinds] => return Err(format!("`{line}` names no file; write `{kinds}:*` for all files")),
        _ => {
            return Err(format!(
                "`{line}` has more than the three parts KIND:FILE-GLOB:FUNCTION; write ? for a colon in a path"
            ));
        }
    };
    if file.is_empty() {
        return Err(format!("`{line}` names no file; write `{kinds}:*` for all files"));
    }
    if function.is_some_and(str::is_empty) {
        return Err(format!("`{line}` names no function after its last colon; write one, or leave the colon out"));
    }
    Ok(Rule {
        kinds: parse_kinds(kinds)?,
        file: file.replace('\\', "/"),
        function: function.map(str::to_owned),
        text: line.to_owned(),
        written: written.to_owned(),
    })
}

/// The kinds of a list of kinds, groups and `*`.
fn parse_kinds(list: &str) -> Result<Kinds, String> {
    let words: Vec<&str> = list.split(',').map(|word| if word.trim() == "*" { "all" } else { word }).collect();
    let groups = || Group::ALL.map(Group::name).join(", ");
    let kinds = Kinds::parse(&words.join(",")).map_err(|word| {
        format!("`{word}` is no kind of finding; write the kind that the report names, a group ({}) or *", groups())
    })?;
    if !Kind::ALL.iter().any(|kind| kinds.has(*kind)) {
        return Err(format!("no kind is named; write the kind that the report names, a group ({}) or *", groups()));
    }
    Ok(kinds)
}

fn matches(rule: &Rule, finding: &Finding) -> bool {
    rule.kinds.has(finding.kind)
        && sites(finding).iter().any(|(file, functions)| {
            let function = rule.function.as_ref();
            is_file(&rule.file, file) && function.is_none_or(|glob| functions.iter().any(|f| is_match(glob, f)))
        })
}

/// The files to which a finding belongs, each with the functions that it stands for there.
fn sites(finding: &Finding) -> Vec<(&str, Vec<&str>)> {
    let mut sites: Vec<(&str, Vec<&str>)> = Vec::new();
    for event in &finding.events {
        let mut functions = vec![finding.kernel.as_str()];
        functions.extend(event.inlined.iter().map(|call| call.function.as_str()));
        let places = event.place.iter().chain(event.inlined.iter().map(|call| &call.place));
        sites.extend(places.map(|place| (place.file.as_str(), functions.clone())));
    }
    sites.extend(finding.stack.iter().map(|line| {
        let frame = Frame::parse(line);
        (frame.place.map_or("", |(file, _)| file), vec![frame.function])
    }));
    // A finding without any place belongs to no file; `*` matches that, too.
    if sites.is_empty() {
        sites.push(("", vec![finding.kernel.as_str()]));
    }
    sites
}

/// Whether a glob matches a path, or its end from a folder on.
fn is_file(glob: &str, path: &str) -> bool {
    let path = path.replace('\\', "/");
    let ends = path.match_indices('/').map(|(at, _)| &path[at + 1..]);
    std::iter::once(path.as_str()).chain(ends).any(|end| is_match(glob, end))
}

/// Whether a glob matches all of a text. The time is at most the product of both lengths: after a mismatch only the
/// last `*` takes one character more, as what an earlier one takes makes no difference.
fn is_match(glob: &str, text: &str) -> bool {
    let (glob, text): (Vec<char>, Vec<char>) = (glob.chars().collect(), text.chars().collect());
    let (mut g, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match glob.get(g) {
            Some('*') => {
                star = Some((g, t));
                g += 1;
            }
            Some(c) if *c == '?' || *c == text[t] => {
                g += 1;
                t += 1;
            }
            _ => {
                let Some((at, taken)) = star else { return false };
                star = Some((at, taken + 1));
                g = at + 1;
                t = taken + 1;
            }
        }
    }
    glob[g..].iter().all(|c| *c == '*')
}

/// The comment that allows a finding, if there is one at any of its places, or at a call on the way there.
fn allowed(finding: &Finding, sources: &Sources, notes: &mut BTreeSet<String>) -> Option<String> {
    let places = finding.events.iter().flat_map(|e| e.place.iter().chain(e.inlined.iter().map(|call| &call.place)));
    let lines: BTreeSet<(&str, u32)> = places.map(|p| (p.file.as_str(), p.line)).collect();
    let mut found = None;
    for (file, line) in lines {
        found = found.or(allowed_at(file, line, finding.kind, sources, notes));
    }
    found
}

/// The comment on this line, or on the lines above it that have nothing but comments.
fn allowed_at(file: &str, line: u32, kind: Kind, sources: &Sources, notes: &mut BTreeSet<String>) -> Option<String> {
    let text = sources.text(file)?;
    let lines: Vec<&str> = text.lines().take(line as usize).collect();
    if lines.len() < line as usize {
        return None;
    }
    for (i, line) in lines.iter().enumerate().rev() {
        let number = i + 1;
        if number < lines.len() && !is_comment(line) {
            break;
        }
        let Some(list) = allow_list(line) else { continue };
        match parse_kinds(&list) {
            Ok(kinds) if kinds.has(kind) => return Some(format!("{file}:{number}: cloom: allow {list}")),
            Ok(_) => {}
            Err(why) => {
                notes.insert(format!("{file}:{number}: {why}"));
            }
        }
    }
    None
}

/// Whether a line has nothing but a comment.
fn is_comment(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("//") || (line.starts_with("/*") && line.find("*/").is_some_and(|end| end + 2 == line.len()))
}

/// The list of kinds of `// cloom: allow KIND,KIND reason`.
fn allow_list(line: &str) -> Option<String> {
    let found = line.match_indices("cloom:").find_map(|(at, word)| {
        let before = line[..at].trim_end();
        let is_comment = before.ends_with("//") || before.ends_with("/*");
        let list = line[at + word.len()..].trim_start().strip_prefix("allow")?;
        (is_comment && (list.is_empty() || list.starts_with(char::is_whitespace))).then_some(list)
    })?;
    let found = found.split_once("*/").map_or(found, |(list, _)| list);
    let mut list = String::new();
    for word in found.split_whitespace() {
        // A comma at the end of a word or at the start of the next goes on with the list.
        if !list.is_empty() && !list.ends_with(',') && !word.starts_with(',') {
            break;
        }
        list += word;
    }
    Some(list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Call;
    use crate::report::tests::{bare, event, place, report};

    /// A report with findings of these kinds in the kernel `k`, each at a line of a file.
    fn found(findings: &[(Kind, &str, u32)]) -> Report {
        let mut r = report();
        let make = |&(kind, file, line): &(Kind, &str, u32)| {
            let mut f = bare(kind, "wrong");
            f.kernel = "k".into();
            f.events = vec![event(Some(place(file, line, 1, 2)), "here")];
            f
        };
        r.findings = findings.iter().map(make).collect();
        r
    }

    fn rules(text: &str) -> Rules {
        let mut rules = Rules::default();
        rules.add("my.suppress", text).unwrap();
        rules
    }

    /// How many findings a file of rules leaves.
    fn left(report: &Report, text: &str) -> usize {
        let mut report = report.clone();
        apply(&mut report, &rules(text), &Sources::default());
        report.findings.len()
    }

    #[test]
    fn rules_hide_what_they_name() {
        let r = found(&[
            (Kind::RaceGlobal, "src/hash.cl", 3),
            (Kind::RaceLocal, "src/hash.cl", 4),
            (Kind::OutOfBounds, "src\\sum.cl", 5),
        ]);
        for (text, count) in [
            ("race-global:hash.cl", 2),
            ("races:hash.cl", 1),
            ("*:hash.cl", 1),
            ("*:*", 0),
            ("race-local, out-of-bounds:*", 1),
            ("race-global:src/hash.cl # intended", 2),
            ("race-global:ash.cl", 3),
            ("race-global:lib/hash.cl", 3),
            ("*:src/*", 0),
            ("*:src\\s?m.cl", 2),
            ("race-global:hash.cl:k", 2),
            ("race-global:hash.cl:?", 2),
            ("race-global:hash.cl:kk", 3),
            ("# race-global:hash.cl\n\n  ", 3),
            ("race-global:hash#.cl", 3),
        ] {
            assert_eq!(left(&r, text), count, "{text}");
        }
    }

    #[test]
    fn either_side_and_each_function_on_the_way_is_enough() {
        let mut r = found(&[(Kind::RaceGlobal, "a.cl", 3)]);
        let mut other = event(Some(place("b.cl", 4, 1, 2)), "there");
        other.inlined = vec![Call { function: "helper".into(), place: place("c.cl", 5, 1, 2) }];
        r.findings[0].events.push(other);
        for (text, count) in [("*:b.cl", 0), ("*:c.cl", 0), ("*:b.cl:helper", 0), ("*:a.cl:helper", 1)] {
            assert_eq!(left(&r, text), count, "{text}");
        }
    }

    #[test]
    fn findings_of_the_interface_have_the_places_of_the_host() {
        let mut r = found(&[]);
        let mut called = bare(Kind::ApiError, "a kernel has no such argument");
        called.stack = vec!["create src/app.c:41".into(), "main src/app.c:9".into()];
        r.findings = vec![called, bare(Kind::ApiError, "refused")];
        for (text, count) in
            [("api:app.c", 1), ("api-error:app.c:main", 1), ("api-error:app.c:k", 2), ("api-error:*", 0), ("api:*", 0)]
        {
            assert_eq!(left(&r, text), count, "{text}");
        }
    }

    #[test]
    fn counts_are_kept_and_unused_rules_are_told() {
        let mut r = found(&[
            (Kind::RaceGlobal, "hash.cl", 3),
            (Kind::RaceGlobal, "hash.cl", 9),
            (Kind::OutOfBounds, "hash.cl", 4),
        ]);
        r.findings[0].count = 1000;
        let file = "race-global:hash.cl  # fine\nraces:hash.cl\n\nendless:*\n";
        let notes = apply(&mut r, &rules(file), &Sources::default());
        assert_eq!(r.findings.len(), 1);
        assert_eq!(r.findings[0].kind, Kind::OutOfBounds);
        assert_eq!(r.suppressed, [Suppressed { rule: "race-global:hash.cl".into(), count: 2 }]);
        assert_eq!(notes, ["my.suppress:4: the rule `endless:*` hid nothing; delete it if its finding is gone"]);
    }

    #[test]
    fn mistakes_say_where_they_are_and_what_to_write() {
        let mut rules = Rules::default();
        let error = rules
            .add("f", "rase-local:*\n\nrace-local\nrace-local:\n:a.cl\n*:c:\\a.cl:k\n*:a.cl:\n*:b.cl")
            .unwrap_err();
        let lines: Vec<&str> = error.lines().collect();
        let starts = [
            "f:1: `rase-local` is no kind of finding; write the kind that the report names, a group (bounds, uninit,",
            "f:3: `race-local` names no file; write `race-local:*`",
            "f:4: `race-local:` names no file; write `race-local:*`",
            "f:5: no kind is named; write",
            "f:6: `*:c:\\a.cl:k` has more than the three parts",
            "f:7: `*:a.cl:` names no function",
        ];
        assert_eq!(lines.len(), starts.len(), "{error}");
        for (line, start) in lines.iter().zip(starts) {
            assert!(line.starts_with(start), "{line}");
        }
        assert_eq!(rules.0.len(), 1, "the last line is right");
    }

    #[test]
    fn globs_match_whole_texts() {
        for (glob, text, expected) in [
            ("", "", true),
            ("*", "", true),
            ("?", "", false),
            ("a*b", "ab", true),
            ("a*b", "axxb", true),
            ("a*b", "axxbc", false),
            ("*ab*ab", "abxabab", true),
            ("a?c", "aöc", true),
            ("a.c", "abc", false),
        ] {
            assert_eq!(is_match(glob, text), expected, "{glob} {text}");
        }
        assert!(!is_match(&"*a".repeat(500), &"a".repeat(499)), "it ends");
    }

    /// What is left of a finding of this kind at the last line of a source.
    fn allowed_in(source: &str, kind: Kind) -> (bool, Report, Vec<String>) {
        let mut r = found(&[(kind, "a.cl", source.lines().count() as u32)]);
        let notes = apply(&mut r, &Rules::default(), &Sources::from([("a.cl".to_owned(), source.to_owned())]));
        (r.findings.is_empty(), r, notes)
    }

    #[test]
    fn comments_allow_their_line_and_the_one_below() {
        for (source, expected) in [
            ("a[i] = 1; // cloom: allow race-global", true),
            ("a[i] = 1; // cloom: allow race-local, race-global they write the same", true),
            ("a[i] = 1; // cloom: allow race-local , race-global", true),
            ("a[i] = 1; // cloom: allow race-local race-global is the reason here", false),
            ("a[i] = 1; /* cloom: allow races*/", true),
            ("/* cloom: allow races*/ a[i] = 1;", true),
            ("a[i] = 1; //cloom:allow *", true),
            ("a[i] = 1; // cloom: allowed race-global", false),
            ("a[i] = 1; // see cloom: allow race-global", false),
            ("cloom: allow race-global", false),
            ("    // cloom: allow race-global\n    a[i] = 1;", true),
            ("// cloom: allow race-global\n// cloom: allow race-local\na[i] = 1;", true),
            ("// cloom: allow race-global\n\na[i] = 1;", false),
            ("b[i] = 1; // cloom: allow race-global\na[i] = 1;", false),
            ("/* cloom: allow race-global */ b[i] = 1; /* */\na[i] = 1;", false),
        ] {
            assert_eq!(allowed_in(source, Kind::RaceGlobal).0, expected, "{source}");
        }
        let (_, report, notes) = allowed_in("x;\n// cloom: allow races why\na[i] = 1;", Kind::RaceGlobal);
        assert_eq!(report.suppressed, [Suppressed { rule: "a.cl:2: cloom: allow races".into(), count: 1 }]);
        assert!(notes.is_empty());
    }

    #[test]
    fn a_comment_with_a_mistake_is_told() {
        let (hidden, _, notes) = allowed_in("x; // cloom: allow rase-global", Kind::RaceGlobal);
        assert!(!hidden && notes[0].starts_with("a.cl:1: `rase-global` is no kind"), "{notes:?}");
        let (hidden, _, notes) = allowed_in("x; // cloom: allow", Kind::RaceGlobal);
        assert!(!hidden && notes[0].starts_with("a.cl:1: no kind is named"), "{notes:?}");
    }

    #[test]
    fn a_comment_at_a_call_allows_what_is_called() {
        let mut r = found(&[(Kind::RaceGlobal, "lib.cl", 80)]);
        r.findings[0].events[0].inlined = vec![Call { function: "f".into(), place: place("a.cl", 1, 1, 2) }];
        let sources = Sources::from([("a.cl".to_owned(), "f(); // cloom: allow race-global".to_owned())]);
        assert!(apply(&mut r, &Rules::default(), &sources).is_empty());
        assert!(r.findings.is_empty());
    }
}
