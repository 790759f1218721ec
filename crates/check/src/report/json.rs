//! The report as JSON, for scripts. In comes the report; out comes a document of the schema `cloom-check/1`.
//!
//! The fields are those of [`Report`], so nothing is lost. Columns count bytes.

use crate::finding::Report;
use serde_json::json;

/// The document, with a field in each line.
pub fn json(report: &Report) -> String {
    let text = serde_json::to_string_pretty(report);
    // A reader of JSON gets JSON in any case.
    let mut text = text.unwrap_or_else(|e| format!("{:#}", json!({"schema": Report::SCHEMA, "error": e.to_string()})));
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::super::tests::report;
    use super::*;
    use serde_json::Value;

    #[test]
    fn the_document_has_the_names_of_the_schema() {
        let text = json(&report());
        let value: Value = serde_json::from_str(&text).unwrap();
        assert!(text.starts_with("{\n  \"schema\": \"cloom-check/1\",\n"), "the schema comes first: {text}");
        assert_eq!(
            value["checked"],
            json!({"kernels": 3, "launches": 12, "accesses": 81264, "proved": 402, "slowdown": 4.2})
        );
        let race = &value["findings"][0];
        assert_eq!(race["kind"], "race-local");
        assert_eq!(race["severity"], "error");
        assert_eq!(race["follows"], Value::Null);
        // The place is a part of the event, and not an object in it.
        let second = &race["events"][1];
        assert_eq!(second["file"], "matmul.cl");
        assert_eq!((&second["line"], &second["col"], &second["end_col"]), (&json!(4), &json!(9), &json!(18)));
        assert_eq!(second["kind"], "read");
        assert_eq!(race["object"]["origin"]["line"], 2);
        // An event without a place has no line at all.
        let pending = &value["findings"][1]["events"][1];
        assert!(pending.get("line").is_none() && pending["label"].is_string());
        assert_eq!(value["findings"][2]["object"]["origin"][0], "main app.c:41");
    }
}
