//! Every rule of the verifier has a file that breaks it.

use cloom_filetest::files;
use cloom_ir::Rule;

/// The rules that lines of a file of `tests/ir/verify` say they break.
fn broken(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|l| l.split_once("; error:")).flat_map(|(_, rules)| rules.split(',')).map(str::trim)
}

#[test]
fn every_rule_has_a_file_of_its_own() {
    let files = files("tests/ir/verify", "ir");
    for rule in Rule::ALL.iter().filter(|rule| !Rule::ONLY_DATA.contains(rule)) {
        let prefix = format!("v{:02}-", *rule as u8);
        let own: Vec<_> =
            files.iter().filter(|f| f.file_name().is_some_and(|n| n.to_string_lossy().starts_with(&prefix))).collect();
        let &[file] = own.as_slice() else { panic!("{rule} has {} files, {prefix}….ir", own.len()) };
        let text = std::fs::read_to_string(file).unwrap();
        assert!(broken(&text).any(|r| r == rule.to_string()), "{} does not break {rule}", file.display());
    }
}
