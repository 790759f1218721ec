//! `docs/internals/ir.md` is true: its paths exist, its tables are those of the code, its examples are canonical IR.

use cloom_ir::{Flags, Rule, parse, verify};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page() -> String {
    std::fs::read_to_string(root().join("docs/internals/ir.md")).unwrap()
}

#[test]
fn every_path_exists() {
    let page = page();
    let paths: Vec<&str> = page.split('`').skip(1).step_by(2).filter(|w| w.starts_with("crates/")).collect();
    assert!(paths.len() > 30, "{paths:?}");
    for path in paths {
        assert!(root().join(path).exists(), "{path}");
    }
}

#[test]
fn the_rules_are_those_of_the_verifier() {
    let page = page();
    let rows: Vec<&str> = page.lines().filter(|l| l.starts_with("| V")).collect();
    let rules: Vec<String> = Rule::ALL.iter().map(|rule| format!("| {rule} | {} |", rule.message())).collect();
    assert_eq!(rows, rules);
}

#[test]
fn every_flag_is_explained() {
    let page = page();
    let rows = page.lines().skip_while(|l| !l.starts_with("| flag |")).take_while(|l| !l.is_empty());
    let table: Vec<&str> = rows.collect();
    for (_, name) in Flags::NAMES {
        assert!(table.iter().any(|row| row.contains(&format!("`{name}`"))), "{name}");
    }
}

#[test]
fn examples_are_canonical() {
    let page = page();
    let examples: Vec<&str> = page.split("```ir\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!examples.is_empty());
    for text in examples {
        let module = parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(verify(&module), [], "{text}");
        assert_eq!(module.to_string(), text);
    }
}
