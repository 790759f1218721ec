//! `docs/gallery.md` documents every program, variant and knob, and its commands name existing ones.

use cloom_gallery::{program, programs};
use std::path::Path;

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/gallery.md");
    std::fs::read_to_string(path).expect("the page is part of the repository")
}

#[test]
fn every_program_has_a_section_with_its_variants_knobs_and_a_command() {
    let page = page();
    let titles: Vec<&str> = page.lines().filter_map(|l| l.strip_prefix("## ")).collect();
    // Those in small letters; others are about several programs.
    let titles: Vec<&str> = titles.into_iter().filter(|t| t.starts_with(char::is_lowercase)).collect();
    let names: Vec<&str> = programs().iter().map(|p| p.name()).collect();
    assert_eq!(titles, names, "the sections are the programs, in their order");
    for program in programs() {
        let name = program.name();
        let section = page.split("\n## ").find(|s| s.lines().next() == Some(name)).expect("checked above");
        for variant in program.variants() {
            assert!(section.contains(&format!("`{}`", variant.name)), "{name}: no word of variant {}", variant.name);
        }
        for knob in program.knobs() {
            let key = knob.split('=').next().unwrap_or_default();
            assert!(section.contains(&format!("`{key}=")), "{name}: no word of knob {key}");
        }
        assert!(section.contains(&format!("$ cloom run -k {name} ")), "{name}: no command");
    }
}

#[test]
fn commands_name_variants_that_exist() {
    for line in page().lines().filter(|l| l.starts_with("$ cloom run -k ")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let after = |word: &str| words.iter().position(|w| *w == word).and_then(|i| words.get(i + 1)).copied();
        let program = program(after("-k").expect("filtered by it")).unwrap_or_else(|e| panic!("{line}: {e}"));
        if let Some(wanted) = after("-v") {
            assert!(program.variants().iter().any(|v| v.name == wanted), "{line}: no such variant");
        }
    }
}
