//! Tests of shapes, divergent branches and masks: expectations are comments behind lines of a kernel's text.
//!
//! ```text
//! ; RUN: uniformity
//! func …
//!     v2: i64 = query global_id 0 ; strided 1
//!     br v8, bb2, bb3 ; divergent
//!     store v4, v7 align 4 ; masked
//! ```
//!
//! [`cloom_spmd::annotate`] says what comments mean. A line without a comment states nothing. The text must
//! be in printed form, so that its numbers are those of the answer. `BLESS=1` replaces the comments that are there.

use crate::ir_file::first_defined;
use cloom_spmd::annotate::annotate;
use std::path::Path;

/// Compares the comments in a file with what the vectoriser finds.
pub fn check(path: &Path, input: &str) -> Result<(), String> {
    let module = cloom_ir::parse(input).map_err(|e| e.to_string())?;
    let found = annotate(&module, &module.funcs[first_defined(&module)?])?;
    let (stated, text) = compare(input, &found)?;
    if stated == 0 {
        return Err(format!("no line has a comment; found:\n{found}"));
    }
    if text == input {
        return Ok(());
    }
    if std::env::var_os("BLESS").is_some() {
        return std::fs::write(path, text).map_err(|e| e.to_string());
    }
    let differs = |(a, b): (&str, &str)| (a != b).then(|| format!("{a}\n    found{}\n", &b[code_of(b).len()..]));
    let wrong: String = input.lines().zip(text.lines()).filter_map(differs).collect();
    Err(format!("not as found (BLESS=1 accepts it):\n{wrong}in\n{found}"))
}

/// How many lines have comments, and the text with the comments that were found in their place.
fn compare(input: &str, found: &str) -> Result<(usize, String), String> {
    let mut found = found.lines();
    let mut stated = 0;
    let mut text = String::new();
    let mut in_function = false;
    for line in input.lines() {
        let code = code_of(line);
        in_function |= code.starts_with("func ");
        let mut new = line.to_owned();
        if in_function && !code.is_empty() {
            // Both texts are walked side by side; a line that is not the same without its comment has other numbers for
            // its values, so that no comment of it could be trusted.
            let answer = found.next().filter(|answer| code_of(answer) == code);
            let answer = answer.ok_or_else(|| format!("the text is not in printed form at `{line}`"))?;
            if line != code {
                stated += 1;
                new = answer.to_owned();
            }
        }
        // Comments of the head and between functions are no expectations.
        in_function &= code != "}";
        text += &new;
        text.push('\n');
    }
    Ok((stated, text))
}

/// A line without its comment.
fn code_of(line: &str) -> &str {
    line.split(';').next().unwrap_or_default().trim_end()
}

#[cfg(test)]
mod tests {
    use super::compare;

    const TEXT: &str = "; head\nfunc f {\n    v1 = a ; uniform\n    v2 = b\n}\n";

    #[test]
    fn only_lines_with_comments_state_something() {
        let found = "func f {\n    v1 = a ; uniform\n    v2 = b ; varying\n}\n";
        assert_eq!(compare(TEXT, found), Ok((1, TEXT.to_owned())));
    }

    #[test]
    fn another_answer_replaces_the_comment() {
        let found = "func f {\n    v1 = a ; varying, masked\n    v2 = b\n}\n";
        assert_eq!(compare(TEXT, found), Ok((1, TEXT.replace("uniform", "varying, masked"))));
    }

    #[test]
    fn other_numbers_are_an_error() {
        assert!(compare(TEXT, "func f {\n    v2 = a ; uniform\n    v3 = b\n}\n").is_err());
    }
}
