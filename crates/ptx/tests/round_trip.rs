//! The printer against the parser, on the texts of `tests/ptx`, which LLVM made: kernels, calls with line numbers, and
//! variables, attributes and debug information.

use std::path::Path;

/// The texts with their names, in order.
fn texts() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ptx");
    let mut texts: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            (path.display().to_string(), std::fs::read_to_string(path).unwrap())
        })
        .collect();
    texts.sort();
    texts
}

/// The words and marks of a text, without comments.
fn words(text: &str) -> String {
    let lines = text.lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().concat()
}

#[test]
fn a_printed_module_parses_to_the_same_tree() {
    let texts = texts();
    assert!(texts.len() >= 6);
    for (name, text) in &texts {
        let module = cloom_ptx::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let printed = module.to_string();
        let again = cloom_ptx::parse(&printed).unwrap_or_else(|error| panic!("{name}: {error}\n{printed}"));
        assert_eq!(module, again, "{name}");
        assert_eq!(printed, again.to_string(), "{name}");
    }
}

/// Equal trees do not show that both kept everything of the text, so that the words are compared too.
#[test]
fn a_printed_module_lacks_nothing() {
    for (name, text) in &texts() {
        let printed = cloom_ptx::parse(text).unwrap().to_string();
        // Offsets of zero are not kept.
        let plain = |text: &str| words(text).replace("+0]", "]");
        let (given, printed) = (plain(text), plain(&printed));
        let same = given.bytes().zip(printed.bytes()).take_while(|(a, b)| a == b).count();
        let around =
            |text: &str| text.get(same.saturating_sub(40)..).map(|rest| rest.chars().take(80).collect::<String>());
        assert_eq!(given, printed, "{name}: {:?}, printed {:?}", around(&given), around(&printed));
    }
}
