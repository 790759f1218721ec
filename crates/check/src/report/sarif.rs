//! The report as SARIF 2.1.0, for code scanning and editors. In come the report and the sources; out comes one run
//! with a rule for each kind and a result for each finding.
//!
//! Paths stay as they are given, relative to the working directory: GitHub recognises a finding of an earlier run by
//! its path and its fingerprint. Columns count characters, for which SARIF has the name `unicodeCodePoints`.

use super::columns::{column_in_chars, with_slashes};
use super::facts::{clean, facts, not_checked};
use super::frame::Frame;
use crate::finding::{Event, Finding, Place, Report};
use crate::kind::Kind;
use crate::source::Sources;
use serde_json::{Value, json};

/// Where the schema is found.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The document.
pub fn sarif(report: &Report, sources: &Sources) -> String {
    let rules: Vec<Value> = Kind::ALL.iter().map(|kind| rule(*kind)).collect();
    let results: Vec<Value> = report.findings.iter().map(|f| result(f, report, sources)).collect();
    let unchecked = report.not_checked.iter().map(not_checked);
    let notifications: Vec<Value> = unchecked.map(|text| json!({"level": "note", "message": {"text": text}})).collect();
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "cloom", "version": report.cloom, "rules": rules}},
            "columnKind": "unicodeCodePoints",
            "invocations": [{"executionSuccessful": true, "toolExecutionNotifications": notifications}],
            "results": results,
        }],
    });
    format!("{document:#}\n")
}

fn rule(kind: Kind) -> Value {
    json!({
        "id": kind.name(),
        "shortDescription": {"text": kind.summary()},
        "help": {"text": format!("`cloom check --explain {kind}` prints the page about it.")},
        "defaultConfiguration": {"level": kind.severity().to_string(), "enabled": !kind.is_opt_in()},
        "properties": {"tags": [kind.group().name()]},
    })
}

fn result(finding: &Finding, report: &Report, sources: &Sources) -> Value {
    let mut text = vec![clean(&finding.message)];
    text.extend(facts(finding, report).iter().map(|fact| format!("{}: {}", fact.name, fact.text)));
    let primary = finding.events.iter().position(|e| e.place.is_some());
    let mut location = json!({});
    if let Some(event) = primary.map(|i| &finding.events[i]) {
        location = at_event(event, sources);
    }
    if !finding.kernel.is_empty() {
        location["logicalLocations"] = json!([{"name": clean(&finding.kernel), "kind": "function"}]);
    }
    let is_somewhere = location.as_object().is_some_and(|fields| !fields.is_empty());
    let others = finding.events.iter().enumerate().filter(|(i, _)| Some(*i) != primary);
    let related: Vec<Value> = others
        .enumerate()
        .map(|(id, (_, event))| {
            let mut location = at_event(event, sources);
            location["id"] = json!(id);
            location
        })
        .collect();
    let mut result = json!({
        "ruleId": finding.kind.name(),
        "ruleIndex": Kind::ALL.iter().position(|k| *k == finding.kind),
        "level": finding.severity.to_string(),
        "message": {"text": text.join("\n")},
        "locations": if is_somewhere { vec![location] } else { Vec::new() },
        "relatedLocations": related,
        "partialFingerprints": {"cloom/v1": finding.id},
        // The format allows no result that never occurs.
        "occurrenceCount": finding.count.max(1),
    });
    if let Some(flow) = code_flow(finding, sources) {
        result["codeFlows"] = json!([flow]);
    }
    result
}

/// The way from the host program to the first event, in the order of execution; `None` without a stack of the host.
fn code_flow(finding: &Finding, sources: &Sources) -> Option<Value> {
    let stack = finding.enqueued.as_ref().map_or(&finding.stack, |e| &e.stack);
    if stack.is_empty() {
        return None;
    }
    let mut steps: Vec<Value> = stack.iter().rev().map(|frame| at_frame(frame)).collect();
    if let Some(event) = finding.events.first() {
        for call in &event.inlined {
            steps.push(located(&call.place, &format!("call of {}", call.function), sources));
        }
        steps.push(at_event(event, sources));
    }
    let steps: Vec<Value> = steps.into_iter().map(|location| json!({"location": location})).collect();
    Some(json!({"threadFlows": [{"locations": steps}]}))
}

fn at_frame(frame: &str) -> Value {
    let mut location = json!({"message": {"text": clean(frame)}});
    if let Some((file, line)) = Frame::parse(frame).place {
        location["physicalLocation"] =
            json!({"artifactLocation": {"uri": uri(file)}, "region": {"startLine": line.max(1)}});
    }
    location
}

fn at_event(event: &Event, sources: &Sources) -> Value {
    match &event.place {
        Some(place) => located(place, &event.label, sources),
        None => json!({"message": {"text": clean(&event.label)}}),
    }
}

fn located(place: &Place, message: &str, sources: &Sources) -> Value {
    let line = sources.line(&place.file, place.line);
    let start = column_in_chars(line, place.col);
    let mut region = json!({"startLine": place.line.max(1), "startColumn": start});
    // As here, the end is the column after the last one.
    let end = column_in_chars(line, place.end_col);
    if end > start {
        region["endColumn"] = json!(end);
    }
    json!({
        "physicalLocation": {"artifactLocation": {"uri": uri(&place.file)}, "region": region},
        "message": {"text": clean(message)},
    })
}

/// A path as a URI: relative, or of the scheme `file` if the path is absolute.
fn uri(file: &str) -> String {
    let file = with_slashes(file);
    let has_drive = file.as_bytes().get(1) == Some(&b':') && file.as_bytes().get(2) == Some(&b'/');
    let mut out = String::from(match () {
        () if file.starts_with("//") => "file:",
        () if file.starts_with('/') => "file://",
        () if has_drive => "file:///",
        () => "",
    });
    for (i, byte) in file.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => out.push(byte as char),
            b':' if has_drive && i == 1 => out.push(':'),
            byte => out += &format!("%{byte:02X}"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::tests::{report, sources};
    use super::*;
    use crate::finding::{Call, NotChecked};

    fn parsed(report: &Report) -> Value {
        serde_json::from_str(&sarif(report, &sources())).unwrap()
    }

    #[test]
    fn a_race_has_both_places_and_a_fingerprint() {
        let document = parsed(&report());
        assert_eq!(document["version"], "2.1.0");
        let run = &document["runs"][0];
        assert_eq!(run["tool"]["driver"]["name"], "cloom");
        let result = &run["results"][0];
        assert_eq!((&result["ruleId"], &result["level"]), (&json!("race-local"), &json!("error")));
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "matmul.cl");
        assert_eq!(place["region"], json!({"startLine": 3, "startColumn": 5, "endColumn": 15}));
        let others = result["relatedLocations"].as_array().unwrap();
        assert_eq!(others.len(), 1, "the first event is not related to itself");
        assert_eq!(others[0]["physicalLocation"]["region"]["startLine"], 4);
        assert_eq!(result["partialFingerprints"]["cloom/v1"], report().findings[0].id.as_str());
        assert!(result["message"]["text"].as_str().unwrap().contains("\nfix: barrier("));
        assert_eq!(result["occurrenceCount"], 1792);
    }

    #[test]
    fn each_kind_is_a_rule_and_each_result_names_its_rule() {
        let document = parsed(&report());
        let run = &document["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        assert_eq!(rules.len(), Kind::ALL.len());
        for result in run["results"].as_array().unwrap() {
            let index = result["ruleIndex"].as_u64().unwrap() as usize;
            assert_eq!(rules[index]["id"], result["ruleId"]);
        }
        let rule = rules.iter().find(|r| r["id"] == "shift-range").unwrap();
        assert_eq!(rule["defaultConfiguration"], json!({"level": "warning", "enabled": false}));
        assert!(rules.iter().all(|r| r["shortDescription"]["text"].is_string() && r.get("helpUri").is_none()));
    }

    #[test]
    fn the_stack_is_a_flow_from_the_outside_in() {
        let mut r = report();
        let place = r.findings[0].events[0].place.clone().unwrap();
        r.findings[0].events[0].inlined = vec![Call { function: "store".into(), place }];
        r.findings[0].enqueued.as_mut().unwrap().stack = vec!["launch src/app.c:88".into(), "main src/app.c:9".into()];
        let document = parsed(&r);
        let flow = &document["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"][0]["locations"];
        let texts: Vec<&str> =
            flow.as_array().unwrap().iter().map(|s| s["location"]["message"]["text"].as_str().unwrap()).collect();
        assert_eq!(
            texts,
            ["main src/app.c:9", "launch src/app.c:88", "call of store", "work-item (2, 3) writes 4 bytes"]
        );
        let outermost = &flow[0]["location"]["physicalLocation"];
        assert_eq!(outermost["artifactLocation"]["uri"], "src/app.c");
        assert_eq!(outermost["region"], json!({"startLine": 9}));
        // A finding of the interface has its own stack, and no place.
        let pending = &document["runs"][0]["results"][1];
        assert_eq!(pending["locations"], json!([]));
        assert_eq!(
            pending["codeFlows"][0]["threadFlows"][0]["locations"][0]["location"]["message"]["text"],
            "main app.c:60"
        );
        r.findings[0].enqueued = None;
        assert!(parsed(&r)["runs"][0]["results"][0].get("codeFlows").is_none(), "no stack, no flow");
    }

    #[test]
    fn what_was_not_checked_is_told() {
        let mut r = report();
        r.not_checked = vec![NotChecked { kernel: "k".into(), why: "program binary without IR".into() }];
        let document = parsed(&r);
        let notes = &document["runs"][0]["invocations"][0]["toolExecutionNotifications"];
        assert_eq!(notes[0]["message"]["text"], "not checked: kernel k: program binary without IR");
    }

    #[test]
    fn paths_are_uris() {
        assert_eq!(uri("./src\\a b.cl"), "src/a%20b.cl");
        assert_eq!(uri("c:x.cl"), "c%3Ax.cl", "no scheme");
        assert_eq!(uri("öl%.cl"), "%C3%B6l%25.cl");
        assert_eq!(uri("/tmp/a.cl"), "file:///tmp/a.cl");
        assert_eq!(uri("C:\\a.cl"), "file:///C:/a.cl");
        assert_eq!(uri("\\\\host\\a.cl"), "file://host/a.cl");
    }
}
