//! Words of one vendor's GPUs. In come the Rust files and the table `vendors.toml`; out come the lines that name the
//! vendor where any GPU is meant.
//!
//! The words are CUDA, NVIDIA and PTX, in any case and also as a part of another word (`NVPTX`, `ptxas`, `cuda_sim`).
//! They belong to the crates and files in [`HOME`]. All other code asks the target's machine, the capabilities and the
//! traits of `hal`, so that the next GPU is files added.
//!
//! Code and comments count. The text of a string does not: it names libraries, triples, passes and products to users.
//! Tests do not count, since a test may name what it tests. C++ is not looked at: the passes in `llvm/cpp` are
//! directives to LLVM's back end.
//!
//! The table has the other files that name the vendor, with their numbers of such lines and the reason. It only
//! shrinks.

use super::tokens::{Token, after_tests};
use super::workspace::{SourceFile, Workspace};
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fs;
use toml::{Table, Value};

/// The words, in lower case.
const WORDS: &[&str] = &["cuda", "nvidia", "ptx"];

/// Where they belong: the beginnings of paths below `crates/`.
const HOME: &[&str] = &[
    "cuda-abi/",
    "cuda-sim/",
    "cuda-sim-compiler/",
    "cuda-sim-driver/",
    "gpu-tests/",
    "hal-cuda/",
    "llvm/src/gpu/",
    "llvm/src/gpu_target.rs",
    "ptx/",
    "target/src/nvidia.rs",
    // The names of crates, packages and tools.
    "xtask/",
];

/// The table.
const TABLE: &str = "crates/xtask/vendors.toml";

/// Checks all files.
pub fn check(workspace: &Workspace, findings: &mut Vec<String>) -> Result<()> {
    let text = fs::read_to_string(workspace.root.join(TABLE)).with_context(|| format!("cannot read {TABLE}"))?;
    let table: Table = text.parse().with_context(|| format!("{TABLE} is not valid TOML"))?;
    check_files(workspace.members.iter().flat_map(|member| &member.files), &table, findings);
    Ok(())
}

fn check_files<'a>(files: impl Iterator<Item = &'a SourceFile>, table: &Table, findings: &mut Vec<String>) {
    // Rows that no file needs any more are left here, and become findings.
    let mut unseen: BTreeSet<&str> = table.keys().map(String::as_str).collect();
    for file in files {
        let shown = file.shown.as_str();
        let is_home = SourceFile::is_test(shown) || HOME.iter().any(|home| shown.starts_with(home));
        let lines = if is_home { Vec::new() } else { lines(file) };
        let row = table.get(shown);
        if row.is_some() && !lines.is_empty() {
            unseen.remove(shown);
        }
        let value = |key: &str| row.and_then(|row| row.get(key));
        let allowed = value("lines").and_then(Value::as_integer).unwrap_or(0);
        if row.is_some() && value("why").and_then(Value::as_str).is_none_or(str::is_empty) {
            findings.push(format!("{TABLE}: {shown} has no reason"));
        }
        match lines.len() as i64 {
            count if count > allowed => findings.extend(lines.iter().map(|(line, word)| {
                format!(
                    "{shown}:{line}: names {word}, {count} lines of the file name the vendor and {allowed} may; ask the \
                     machine, the capabilities or the trait for what differs"
                )
            })),
            count if count < allowed && count > 0 => {
                findings.push(format!("{TABLE}: {shown} has {count} lines, not {allowed}; write the smaller number"));
            }
            _ => {}
        }
    }
    findings.extend(unseen.iter().map(|shown| format!("{TABLE}: {shown} names no vendor; delete its row")));
}

/// The lines of a file that have a word, each with the first one.
fn lines(file: &SourceFile) -> Vec<(usize, &'static str)> {
    let tests = file.tokens.as_ref().map_or(Vec::new(), |tokens| tests(tokens));
    let text = without_strings(&file.text).to_lowercase();
    let found = text.lines().enumerate().filter_map(|(i, line)| {
        let word = WORDS.iter().find(|word| line.contains(**word))?;
        Some((i + 1, *word))
    });
    found.filter(|(line, _)| tests.iter().all(|(first, last)| line < first || line > last)).collect()
}

/// The first and the last line of each module of tests.
fn tests(tokens: &[Token]) -> Vec<(usize, usize)> {
    let range = |at: usize| {
        let end = after_tests(tokens, at)?;
        Some((tokens[at].line, tokens[end - 1].line))
    };
    (0..tokens.len()).filter_map(range).collect()
}

/// The text without the insides of its strings and without characters in quotes; comments stay.
fn without_strings(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let is = |i: usize, what: char| chars.get(i) == Some(&what);
    let (mut out, mut i) = (String::with_capacity(text.len()), 0);
    while i < chars.len() {
        let end = match chars[i] {
            '/' if is(i + 1, '/') => {
                let end = line_end(&chars, i);
                out.extend(&chars[i..end]);
                end
            }
            '/' if is(i + 1, '*') => {
                let end = comment_end(&chars, i);
                out.extend(&chars[i..end]);
                end
            }
            '"' => {
                let end = string_end(&chars, i);
                // The lines after it keep their numbers.
                out.extend(chars[i..end].iter().filter(|c| **c == '\n'));
                end
            }
            // An escape may be long, as in `'\u{1f600}'`; its second character is never the closing quote.
            '\'' if is(i + 1, '\\') => (i + 3..chars.len()).find(|&i| is(i, '\'')).map_or(chars.len(), |end| end + 1),
            // A lifetime has a quote in front only, and falls to the last arm.
            '\'' if is(i + 2, '\'') => i + 3,
            c => {
                out.push(c);
                i + 1
            }
        };
        i = end;
    }
    out
}

fn line_end(chars: &[char], from: usize) -> usize {
    chars[from..].iter().position(|c| *c == '\n').map_or(chars.len(), |length| from + length)
}

/// The end of a comment in `/*` and `*/`, which may have others in it.
fn comment_end(chars: &[char], from: usize) -> usize {
    let (mut depth, mut i) = (0, from);
    while i + 1 < chars.len() {
        match (chars[i], chars[i + 1]) {
            ('/', '*') => depth += 1,
            ('*', '/') if depth == 1 => return i + 2,
            ('*', '/') => depth -= 1,
            _ => {
                i += 1;
                continue;
            }
        }
        i += 2;
    }
    chars.len()
}

/// The end of the string whose first quote is at `from`. A raw string ends at a quote with as many `#` as before it.
fn string_end(chars: &[char], from: usize) -> usize {
    let hashes = chars[..from].iter().rev().take_while(|c| **c == '#').count();
    let is_raw = from > hashes && chars[from - hashes - 1] == 'r' && {
        let before = chars[..from - hashes - 1].iter().rev().take_while(|c| c.is_alphanumeric() || **c == '_');
        matches!(before.copied().collect::<Vec<_>>()[..], [] | ['b' | 'c'])
    };
    let mut i = from + 1;
    while i < chars.len() {
        match chars[i] {
            '\\' if !is_raw => i += 1,
            '"' if !is_raw => return i + 1,
            '"' if chars[i + 1..].iter().take_while(|c| **c == '#').take(hashes).count() == hashes => {
                return i + 1 + hashes;
            }
            _ => {}
        }
        i += 1;
    }
    chars.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(shown: &str, text: &str, table: &str) -> Vec<String> {
        let file = SourceFile::new(shown.to_owned(), text.to_owned());
        let mut out = Vec::new();
        check_files(std::iter::once(&file), &table.parse().unwrap(), &mut out);
        out
    }

    const PLANTED: &str = "//! Head.\n// On Nvidia's GPUs.\nfn f() { target_is_nvptx64() }\n";

    #[test]
    fn a_vendor_is_found_in_comments_and_in_names() {
        let found = findings("runtime/src/x.rs", PLANTED, "");
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("runtime/src/x.rs:2: names nvidia"), "{found:?}");
        assert!(found[1].starts_with("runtime/src/x.rs:3: names ptx"), "{found:?}");
        for home in ["hal-cuda/src/x.rs", "llvm/src/gpu/x.rs", "target/src/nvidia.rs", "runtime/tests/x.rs"] {
            assert!(findings(home, PLANTED, "").is_empty());
        }
        assert_eq!(findings("target/src/lib.rs", PLANTED, "").len(), 2);
        assert!(findings("ir/src/x.rs", &format!("//! H.\n#[cfg(test)]\nmod tests {{\n{PLANTED}}}\n"), "").is_empty());
    }

    #[test]
    fn strings_are_for_users() {
        let text = r###"//! Head.
            const A: &[&str] = &["libcuda.so.1", "a \" ptx", r"ptx\", r#"a "ptx" b"#, concat!(br##"ptx"# "##, c"cuda")];
            fn f<'a>(x: &'a str) { g('"', '\'', '\u{1F600}', "cuda
                nvidia"); }
            /* "ptx" /* nested */ */
        "###;
        let found = findings("ir/src/x.rs", text, "");
        assert!(found.len() == 1 && found[0].starts_with("ir/src/x.rs:5:"), "{found:?}");
    }

    #[test]
    fn the_table_only_shrinks() {
        let row = |lines: u32| format!("\"ir/src/x.rs\" = {{ lines = {lines}, why = \"a reason\" }}");
        assert!(findings("ir/src/x.rs", PLANTED, &row(2)).is_empty());
        assert_eq!(findings("ir/src/x.rs", PLANTED, &row(1)).len(), 2);
        let smaller = findings("ir/src/x.rs", PLANTED, &row(3));
        assert!(smaller.len() == 1 && smaller[0].contains("write the smaller number"), "{smaller:?}");
        let gone = findings("ir/src/x.rs", "//! Head.\n", &row(3));
        assert!(gone.len() == 1 && gone[0].contains("delete its row"), "{gone:?}");
        let other = findings("ir/src/y.rs", "//! Head.\n", &row(3));
        assert!(other.len() == 1 && other[0].contains("delete its row"), "{other:?}");
        let bare = findings("ir/src/x.rs", PLANTED, "\"ir/src/x.rs\" = { lines = 2 }");
        assert!(bare.len() == 1 && bare[0].contains("no reason"), "{bare:?}");
    }
}
