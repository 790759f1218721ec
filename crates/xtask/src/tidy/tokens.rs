//! A Rust file as a flat list of tokens with their lines. Comments and the insides of strings are gone, and the insides
//! of macros are not: a word that is found here is code.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The word, the punctuation character, or the bracket; a literal has none.
    pub text: String,
    /// Its line, from 1.
    pub line: usize,
    /// Whether it is punctuation that belongs together with the next character, as the first of `::`.
    pub joint: bool,
}

/// The tokens of a file; the reason if it is not Rust.
pub fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let stream: TokenStream = text.parse().map_err(|e| format!("{e}"))?;
    let mut out = Vec::new();
    flatten(stream, &mut out);
    Ok(out)
}

fn flatten(stream: TokenStream, out: &mut Vec<Token>) {
    for tree in stream {
        let line = tree.span().start().line;
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                out.push(Token { text: open.to_owned(), line, joint: false });
                flatten(group.stream(), out);
                out.push(Token { text: close.to_owned(), line: group.span_close().start().line, joint: false });
            }
            TokenTree::Ident(ident) => out.push(Token { text: ident.to_string(), line, joint: false }),
            TokenTree::Punct(punct) => {
                let joint = punct.spacing() == Spacing::Joint;
                out.push(Token { text: punct.as_char().to_string(), line, joint });
            }
            TokenTree::Literal(_) => out.push(Token { text: String::new(), line, joint: false }),
        }
    }
}

/// The index of the bracket that closes the one at `open`.
pub fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0usize;
    for (i, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "(" | "{" | "[" => depth += 1,
            ")" | "}" | "]" => {
                depth -= 1;
                if depth == 0 {
                    return i;
                }
            }
            _ => {}
        }
    }
    tokens.len().saturating_sub(1)
}

/// The index after a module of tests that begins at `at`: `#[cfg(test)] mod tests { … }`, also with `all(test, …)`.
pub fn after_tests(tokens: &[Token], at: usize) -> Option<usize> {
    let word = |i: usize| tokens.get(i).map_or("", |t| t.text.as_str());
    if [word(at), word(at + 1), word(at + 2)] != ["#", "[", "cfg"] {
        return None;
    }
    let end = closing(tokens, at + 1);
    let condition: Vec<&str> = (at..end).map(word).collect();
    let is_test = condition.contains(&"test") && !condition.contains(&"not") && !condition.contains(&"any");
    let open = end + 3;
    (is_test && word(end + 1) == "mod" && word(open) == "{").then(|| closing(tokens, open) + 1)
}

/// The lines on which a path such as `std::fs` or a single word is named, also inside a group of `use`.
pub fn lines_of(tokens: &[Token], path: &str) -> Vec<usize> {
    let (before, last) = path.rsplit_once("::").map_or((None, path), |(before, last)| (Some(before), last));
    let words =
        |w: &str| w.split("::").flat_map(|w| [w.to_owned(), ":".to_owned(), ":".to_owned()]).collect::<Vec<_>>();
    let Some(before) = before.map(words) else {
        return tokens.iter().filter(|t| t.text == last).map(|t| t.line).collect();
    };
    let mut lines = Vec::new();
    for (i, window) in tokens.windows(before.len()).enumerate() {
        if !window.iter().zip(&before).all(|(t, w)| t.text == *w) {
            continue;
        }
        let next = i + before.len();
        match tokens.get(next) {
            Some(t) if t.text == last => lines.push(t.line),
            Some(t) if t.text == "{" => {
                let group = &tokens[next..=closing(tokens, next)];
                lines.extend(group.iter().filter(|t| t.text == last).map(|t| t.line));
            }
            _ => {}
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_strings_are_no_words() {
        let tokens = tokens("//! fs\nfn f() { let a = \"fs\"; // fs\n m!(fs); }\n").unwrap();
        assert_eq!(lines_of(&tokens, "fs"), [3]);
        assert!(super::tokens("fn f( {").is_err());
    }

    #[test]
    fn modules_of_tests_are_passed_over() {
        let next = |text: &str| {
            let all = tokens(text).unwrap();
            after_tests(&all, 0).map(|i| all[i].text.clone())
        };
        assert_eq!(next("#[cfg(test)] mod tests { fn f() {} } fn").as_deref(), Some("fn"));
        assert_eq!(next("#[cfg(all(test, unix))] mod tests { } fn").as_deref(), Some("fn"));
        assert_eq!(next("#[cfg(not(test))] mod real { } fn"), None);
        assert_eq!(next("#[cfg(unix)] mod unix { } fn"), None);
    }

    #[test]
    fn paths_are_found_in_groups_too() {
        let all = tokens("use std::fs;\nuse std::{env, fs::File};\nlet fs = other::fs;\n").unwrap();
        assert_eq!(lines_of(&all, "std::fs"), [1, 2]);
        assert!(lines_of(&all, "std::net").is_empty());
    }
}
