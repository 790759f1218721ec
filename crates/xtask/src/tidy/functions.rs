//! How long functions may be. In come the tokens of a file; out come the functions of more than [`MAX_LINES`] lines of
//! code. Comments and empty lines do not count: a function must not lose its reasons to stay under the limit.
//!
//! Tests are left out, and so are tables: functions that are one `match` of short arms, which reads as well at any
//! length.

use super::tokens::{Token, after_tests, closing};
use super::workspace::SourceFile;

/// From the line with `fn` to the closing brace.
const MAX_LINES: usize = 120;
/// An arm of a table.
const MAX_ARM: usize = 3;

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
struct Function {
    name: String,
    line: usize,
    lines: usize,
    table: bool,
}

/// Checks the functions of a file.
pub fn check(shown: &str, tokens: &[Token], findings: &mut Vec<String>) {
    if SourceFile::is_test(shown) {
        return;
    }
    for Function { name, line, lines, .. } in functions(tokens).iter().filter(|f| f.lines > MAX_LINES && !f.table) {
        findings.push(format!("{shown}:{line}: `{name}` has {lines} lines, {MAX_LINES} are the limit; split it"));
    }
}

/// All functions outside of modules of tests.
fn functions(tokens: &[Token]) -> Vec<Function> {
    let word = |i: usize| tokens.get(i).map_or("", |t| t.text.as_str());
    let mut out = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        if let Some(next) = after_tests(tokens, i) {
            i = next;
            continue;
        }
        if word(i) == "fn"
            && word(i + 1).starts_with(|c: char| c.is_alphabetic() || c == '_')
            && let Some(open) = body(tokens, i + 2)
        {
            let close = closing(tokens, open);
            out.push(Function {
                name: word(i + 1).to_owned(),
                line: tokens[i].line,
                lines: 1 + tokens[i..=close].windows(2).filter(|pair| pair[0].line != pair[1].line).count(),
                table: is_table(&tokens[open + 1..close]),
            });
        }
        i += 1;
    }
    out
}

/// The brace that opens the body of a function whose signature begins at `from`; `None` for a declaration.
fn body(tokens: &[Token], from: usize) -> Option<usize> {
    let mut i = from;
    while let Some(token) = tokens.get(i) {
        match token.text.as_str() {
            "{" => return Some(i),
            ";" => return None,
            // Braces in a signature stand in brackets, as in `[u8; { N }]`: they open no body.
            "(" | "[" => i = closing(tokens, i),
            _ => {}
        }
        i += 1;
    }
    None
}

/// Whether the tokens of a body are one `match` with short arms.
fn is_table(body: &[Token]) -> bool {
    let Some(open) = body.iter().position(|t| t.text == "{") else { return false };
    if body[0].text != "match" || closing(body, open) + 1 != body.len() {
        return false;
    }
    // An arm begins after the comma or the block that ends the one before it.
    let (mut i, mut begin) = (open + 1, open + 1);
    while i + 1 < body.len() {
        let mut end = i;
        if matches!(body[i].text.as_str(), "(" | "[" | "{") {
            end = closing(body, i);
        }
        let is_block = body[i].text == "{" && i >= 2 && body[i - 1].text == ">" && body[i - 2].text == "=";
        if body[i].text == "," || is_block {
            if body[end].line - body[begin].line + 1 > MAX_ARM {
                return false;
            }
            begin = end + 1;
        }
        i = end + 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    fn findings(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        check("ir/src/x.rs", &tokens(text).unwrap(), &mut out);
        out
    }

    #[test]
    fn a_long_function_is_found() {
        let long = |n: usize| {
            format!("trait T {{ fn d(&self); }}\nfn f(a: [u8; 4]) -> [u8; 4] {{\n{}}}\n", "g();\n".repeat(n))
        };
        assert!(findings(&long(MAX_LINES - 2)).is_empty());
        assert_eq!(findings(&long(MAX_LINES - 1)).len(), 1);
        assert!(findings(&long(MAX_LINES - 1))[0].starts_with("ir/src/x.rs:2: `f` has 121 lines"));
        assert!(findings(&long(MAX_LINES - 2).replace("g();\n", "// Why.\n\ng();\n")).is_empty());
    }

    #[test]
    fn tests_and_tables_may_be_long() {
        let long = "g();\n".repeat(MAX_LINES);
        assert!(findings(&format!("#[cfg(test)]\nmod tests {{ fn f() {{\n{long}}} }}\n")).is_empty());
        let arms = "A => 1,\nB if x => { h() }\nC | D => {\n h()\n}\n".repeat(MAX_LINES / 5 + 1);
        assert!(findings(&format!("fn f() {{\nmatch x {{\n{arms}}}\n}}\n")).is_empty());
        // A long arm, and a statement besides the match.
        assert_eq!(findings(&format!("fn f() {{\nmatch x {{ A => {{\n{long}}}\n}}\n}}\n")).len(), 1);
        assert_eq!(findings(&format!("fn f() {{\nlet x = 1;\nmatch x {{\n{arms}}}\n}}\n")).len(), 1);
    }
}
