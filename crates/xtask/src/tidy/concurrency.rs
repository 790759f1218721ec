//! The tables of threads and locks in a document, against the code. In come the sources of the crates that run in the
//! process of an application; out come threads and locks that only one of the two has.
//!
//! A thread is a text `"cloom-…"` outside of tests: the names that threads get begin so. A lock is a field or a static
//! whose type has a `Mutex` or an `RwLock`. The document has it by the name of its crate and `Type::field`, in the
//! first column of the table of locks or in the list of locks under which no other is taken. Which locks are held
//! together cannot be read from tokens: the table says it, and whoever adds a lock meets the table.

use super::panics::LIBRARIES;
use super::tokens::{Token, after_tests, closing};
use super::workspace::{SourceFile, Workspace};
use std::collections::BTreeSet;

/// The document, and the section of its locks.
pub const DOCUMENT: &str = "docs/internals/runtime.md";
const THREADS: &str = "## Threads";
const LOCKS: &str = "## Lock order";

/// The crates whose locks the document has.
const CRATES: &[&str] = &["llvm", "compiler", "hal-cpu", "hal-remote", "hal-gpu", "hal-cuda", "runtime", "capi"];

/// Types that are locks. A cell that is filled once holds up others while it is filled, and may be in the table.
const MUTEXES: &[&str] = &["Mutex", "RwLock"];
const CELLS: &[&str] = &["OnceLock"];

/// Names of one kind, in the code and in the document.
type Names = BTreeSet<String>;

/// Checks the document.
pub fn check(workspace: &Workspace, text: &str, findings: &mut Vec<String>) {
    let (mut threads, mut mutexes, mut cells) = (Names::new(), Names::new(), Names::new());
    for member in &workspace.members {
        let files = member.files.iter().filter(|f| f.shown.contains("/src/") && !SourceFile::is_test(&f.shown));
        for file in files {
            let Ok(tokens) = &file.tokens else { continue };
            if LIBRARIES.contains(&member.name.as_str()) {
                threads.extend(thread_names(&file.text, tokens));
                for line in unnamed_threads(tokens) {
                    findings.push(format!("{}:{line}: a thread without a name: give it one of {DOCUMENT}", file.shown));
                }
            }
            if CRATES.contains(&member.name.as_str()) {
                let named = |lock| format!("{} {lock}", member.name);
                mutexes.extend(locks(tokens, MUTEXES).into_iter().map(named));
                cells.extend(locks(tokens, CELLS).into_iter().map(named));
            }
        }
    }
    compare(text, &threads, &mutexes, &cells, findings);
}

fn compare(text: &str, threads: &Names, mutexes: &Names, cells: &Names, findings: &mut Vec<String>) {
    let shown = threads_of(text);
    for missing in threads.difference(&shown) {
        findings.push(format!("{DOCUMENT}: the table of threads lacks `{missing}`"));
    }
    for gone in shown.difference(threads) {
        findings.push(format!("{DOCUMENT}: no thread is named `{gone}`"));
    }
    let shown = locks_of(text);
    for missing in mutexes.difference(&shown) {
        findings.push(format!("{DOCUMENT}: the locks lack `{missing}`: say what may be taken while it is held"));
    }
    for gone in shown.iter().filter(|lock| !mutexes.contains(*lock) && !cells.contains(*lock)) {
        findings.push(format!("{DOCUMENT}: there is no lock `{gone}`"));
    }
}

/// The tokens outside of modules of tests.
fn code(tokens: &[Token]) -> Vec<&Token> {
    let (mut out, mut i) = (Vec::new(), 0);
    while i < tokens.len() {
        if let Some(next) = after_tests(tokens, i) {
            i = next;
            continue;
        }
        out.push(&tokens[i]);
        i += 1;
    }
    out
}

/// The names of threads in a file; a number in a name is `N`.
fn thread_names(text: &str, tokens: &[Token]) -> Names {
    // Tokens have no text of literals. So literals are read from the lines, of which those count that have a token
    // outside of tests.
    let lines: BTreeSet<usize> = code(tokens).iter().map(|t| t.line).collect();
    let all = text.lines().enumerate().filter(|(i, line)| lines.contains(&(i + 1)) && !line.trim().starts_with("//"));
    let literals = all.flat_map(|(_, line)| line.split('"').skip(1).step_by(2));
    let names = literals.filter_map(|text| {
        let name = text.strip_prefix("cloom-")?;
        let is_word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase());
        match name {
            "{i}" => Some("cloom-N".to_owned()),
            name => name.split('-').all(is_word).then(|| text.to_owned()),
        }
    });
    names.collect()
}

/// The lines on which a thread is started that gets no name.
fn unnamed_threads(tokens: &[Token]) -> Vec<usize> {
    let code = code(tokens);
    let word = |i: usize| code.get(i).map_or("", |t| t.text.as_str());
    let follows = |i: usize, words: &[&str]| words.iter().enumerate().all(|(k, w)| word(i + k) == *w);
    let is_unnamed = |i: usize| {
        follows(i, &["thread", ":", ":", "spawn", "("])
            || follows(i, &["Builder", ":", ":", "new", "(", ")", ".", "spawn"])
    };
    (0..code.len()).filter(|&i| is_unnamed(i)).map(|i| code[i].line).collect()
}

/// The fields and statics whose type has one of these words, as `Type::field` or `STATIC`; of a type with unnamed
/// fields, the type.
fn locks(tokens: &[Token], types: &[&str]) -> Names {
    let code: Vec<Token> = code(tokens).into_iter().cloned().collect();
    let word = |i: usize| code.get(i).map_or("", |t| t.text.as_str());
    let is_lock = |range: std::ops::Range<usize>| range.into_iter().any(|i| types.contains(&word(i)));
    let mut out = Names::new();
    for i in 0..code.len() {
        if word(i) == "static" && word(i + 2) == ":" {
            let end = (i..code.len()).find(|&k| word(k) == "=" || word(k) == ";").unwrap_or(i);
            if is_lock(i..end) {
                out.insert(word(i + 1).to_owned());
            }
        }
        if word(i) != "struct" {
            continue;
        }
        let owner = word(i + 1);
        let Some(open) = (i..code.len()).find(|&k| ["{", "(", ";"].contains(&word(k))) else { continue };
        // A struct with unnamed fields is in the table by its own name.
        if word(open) == "(" && is_lock(open..closing(&code, open)) {
            out.insert(owner.to_owned());
        }
        if word(open) == "{" {
            let end = closing(&code, open);
            let of_owner = |field: &str| format!("{owner}::{field}");
            let fields = fields(&code, open + 1, end).into_iter();
            out.extend(fields.filter(|(_, range)| is_lock(range.clone())).map(|(at, _)| of_owner(word(at))));
        }
    }
    out
}

/// The fields of a struct between its braces: where the name is, and where the type.
fn fields(code: &[Token], begin: usize, end: usize) -> Vec<(usize, std::ops::Range<usize>)> {
    let (mut out, mut depth, mut name) = (Vec::new(), 0i32, None);
    for (i, token) in code.iter().enumerate().take(end).skip(begin) {
        match token.text.as_str() {
            "(" | "[" | "{" | "<" => depth += 1,
            ")" | "]" | "}" | ">" => depth -= 1,
            ":" if depth == 0 && name.is_none() => name = Some(i - 1),
            "," if depth == 0 => out.extend(name.take().map(|at| (at, at + 1..i))),
            _ => {}
        }
    }
    out.extend(name.map(|at| (at, at + 1..end)));
    out
}

/// A section of the document, up to the next of its level.
fn section<'t>(text: &'t str, heading: &str) -> &'t str {
    let rest = text.split_once(&format!("{heading}\n")).map_or("", |(_, rest)| rest);
    rest.split_once("\n## ").map_or(rest, |(section, _)| section)
}

/// What stands between backticks.
fn spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The names of threads in the first column.
fn threads_of(text: &str) -> Names {
    let rows = section(text, THREADS).lines().filter(|l| l.starts_with("| "));
    rows.flat_map(|row| spans(row.split('|').nth(1).unwrap_or(""))).map(str::to_owned).collect()
}

/// The locks of the table, whose second column is the crate, and of the list, whose lines begin with the crate.
fn locks_of(text: &str) -> Names {
    let mut out = Names::new();
    let mut list = String::new();
    for line in section(text, LOCKS).lines() {
        if let Some(row) = line.strip_prefix("| ") {
            let mut cells = row.split('|').map(|cell| spans(cell).collect::<Vec<_>>());
            let (locks, crates) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
            let name = crates.first().copied().unwrap_or("");
            let locks = locks.iter().filter(|lock| !MUTEXES.contains(lock) && !CELLS.contains(lock));
            out.extend(locks.map(|lock| format!("{name} {lock}")));
        } else if let Some(item) = line.strip_prefix("* `").and_then(|item| item.split_once("`:")) {
            list = item.0.to_owned();
            out.extend(spans(item.1).map(|lock| format!("{list} {lock}")));
        } else if line.starts_with("  ") && !list.is_empty() {
            out.extend(spans(line).map(|lock| format!("{list} {lock}")));
        } else {
            list.clear();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    const CODE: &str = r#"
        pub struct Queue<'a> { pub(crate) work: Mutex<VecDeque<(u32, u8)>>, count: usize, made: (Mutex<()>, Condvar) }
        struct Printed(RwLock<u8>);
        struct Code { vector: OnceLock<u8> }
        static RUNNING: Mutex<u8> = Mutex::new(0);
        fn start() { Builder::new().name("cloom-work".into()); Builder::new().name(format!("cloom-{i}")); }
        #[cfg(test)]
        mod tests { struct Of { tests: Mutex<u8> } fn f() { thread::spawn("cloom-test"); } }
    "#;
    const TEXT: &str = "## Threads\n| threads | x |\n|--|--|\n| `cloom-work` | x |\n| `cloom-N` | `cloom-no` |\n\n\
        ## Lock order\n| lock | crate | x |\n|--|--|--|\n| `Queue::work` | `ir` | `Code::vector` |\n\n\
        Leaves:\n* `ir`: `Queue::made`, `Printed`,\n  `RUNNING`\n\nNot `Queue::count`.\n## Next\n";

    fn findings(text: &str) -> Vec<String> {
        let tokens = tokens(CODE).unwrap();
        let of = |types| locks(&tokens, types).into_iter().map(|lock| format!("ir {lock}")).collect();
        let mut out = Vec::new();
        compare(text, &thread_names(CODE, &tokens), &of(MUTEXES), &of(CELLS), &mut out);
        out
    }

    #[test]
    fn tables_that_are_those_of_the_code_are_right() {
        assert_eq!(findings(TEXT), [""; 0]);
        assert_eq!(findings(&TEXT.replace("`RUNNING`", "`RUNNING`, `Code::vector`")), [""; 0], "a cell may be there");
    }

    #[test]
    fn a_thread_or_a_lock_that_only_one_of_the_two_has_is_found() {
        for (from, to, wrong) in [
            ("`cloom-work`", "", "lacks `cloom-work`"),
            ("`cloom-N`", "`cloom-N`, `cloom-gone`", "no thread is named `cloom-gone`"),
            ("`RUNNING`", "", "lack `ir RUNNING`"),
            ("`Printed`", "`Printed`, `Queue::gone`", "no lock `ir Queue::gone`"),
            ("| `ir` |", "| `hal` |", "no lock `hal Queue::work`"),
        ] {
            let found = findings(&TEXT.replace(from, to));
            assert!(found.iter().any(|f| f.contains(wrong)), "{wrong}: {found:?}");
        }
    }

    #[test]
    fn a_thread_without_a_name_is_found() {
        let count = |text: &str| unnamed_threads(&tokens(text).unwrap()).len();
        assert_eq!(count("fn f() { std::thread::spawn(g); Builder::new().spawn(g); }"), 2);
        assert_eq!(
            count("fn f() { Builder::new().name(n).spawn(g); } #[cfg(test)] mod tests { thread::spawn(g); }"),
            0
        );
    }
}
