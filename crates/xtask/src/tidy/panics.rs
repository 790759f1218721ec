//! No panic on purpose in libraries. In come the tokens of a file; out come calls of `unwrap` and `expect` and macros
//! that panic, outside of tests.
//!
//! A driver lives in the process of an application: a failure is an error code, a diagnostic or a reported limit.
//! Indexing and arithmetic can panic too and are not checked; the interface catches those panics in
//! `capi/src/guard.rs`.

use super::tokens::{Token, after_tests};
use super::workspace::SourceFile;

/// The crates that run in the process of an application.
pub const LIBRARIES: &[&str] = &[
    "target",
    "caps",
    "ir",
    "builtins",
    "clc",
    "spirv",
    "passes",
    "spmd",
    "interp",
    "check",
    "llvm",
    "artifact",
    "compiler",
    "hal",
    "hal-cpu",
    "hal-remote",
    "hal-gpu",
    "hal-cuda",
    "runtime",
    "capi",
    "cloom",
];

const METHODS: &[&str] = &["unwrap", "expect", "unwrap_err", "expect_err"];
const MACROS: &[&str] = &["panic", "unreachable", "todo", "unimplemented"];

/// Panics that stay: file, word, reason. An entry that is no longer needed is a finding.
const KNOWN: &[(&str, &str, &str)] = &[
    ("clc/src/stack.rs", "unreachable", "the work that a thread took was done, or its panic was passed on"),
    ("spmd/src/work_group.rs", "panic", "an internal error panics in debug builds only"),
];

/// Checks a file of a crate.
pub fn check(name: &str, shown: &str, tokens: &[Token], findings: &mut Vec<String>) {
    if !LIBRARIES.contains(&name) || !shown.contains("/src/") || SourceFile::is_test(shown) {
        return;
    }
    let found = panics(tokens);
    for (word, line) in &found {
        if !KNOWN.iter().any(|(file, w, _)| *file == shown && w == word) {
            findings
                .push(format!("{shown}:{line}: `{word}` panics; return an error, or make the case impossible by type"));
        }
    }
    for (_, word, _) in KNOWN.iter().filter(|(file, w, _)| *file == shown && !found.iter().any(|(f, _)| f == w)) {
        findings.push(format!("{shown}: has no `{word}`: take it off KNOWN in xtask/src/tidy/panics.rs"));
    }
}

/// The words that panic, with their lines.
fn panics(tokens: &[Token]) -> Vec<(&str, usize)> {
    let word = |i: usize| tokens.get(i).map_or("", |t| t.text.as_str());
    let mut out = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        if let Some(next) = after_tests(tokens, i) {
            i = next;
            continue;
        }
        let is_call = i > 0 && word(i - 1) == "." && word(i + 1) == "(";
        // Without arguments or with a literal, whose text is empty; methods of the workspace may have the same name.
        let is_method = is_call && METHODS.contains(&word(i)) && (word(i + 2) == ")" || word(i + 2).is_empty());
        let is_macro = MACROS.contains(&word(i)) && word(i + 1) == "!";
        if is_method || is_macro {
            out.push((word(i), tokens[i].line));
        }
        i += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    fn count(name: &str, shown: &str, text: &str) -> usize {
        let mut out = Vec::new();
        check(name, shown, &tokens(text).unwrap(), &mut out);
        out.len()
    }

    #[test]
    fn panics_are_found_in_libraries_only() {
        let text = "fn f() { a.unwrap(); b.expect(\"x\"); panic!(); c.unwrap_or(1); self.expect(e); expect(d); }\n";
        assert_eq!(count("ir", "ir/src/x.rs", text), 3);
        assert_eq!(count("cli", "cli/src/x.rs", text), 0);
        assert_eq!(count("ir", "ir/tests/x.rs", text), 0);
        assert_eq!(count("ir", "ir/src/x/tests.rs", text), 0);
        assert_eq!(count("ir", "ir/src/x.rs", &format!("#[cfg(test)]\nmod tests {{ {text} }}\n")), 0);
        assert_eq!(count("ir", "ir/src/x.rs", &format!("#[cfg(test)]\nmod tests {{ }}\n{text}\n")), 3);
    }

    #[test]
    fn a_known_panic_that_is_gone_is_found() {
        for (file, ..) in KNOWN {
            let name = file.split('/').next().unwrap();
            assert!(count(name, file, "") > 0, "{file}");
        }
    }
}
