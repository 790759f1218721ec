//! The order of the modules in a crate, and the size of its folders. In come its files and `modules.toml`; out come the
//! imports and the folders that the table does not allow.
//!
//! Each module directly below the root of a crate counts with all files below it; the root file counts as a module too.
//! A module depends on another when it names an item of it outside of tests (`imports` says how items are found). These
//! dependencies form no cycle, except for the *upward dependencies* that the table lists. A tool cannot know which
//! dependency of a cycle points the wrong way, so the table says it.
//!
//! The table also has the size of the biggest *cycle of files* of a crate: files of which each can be understood only
//! together with all others. Imports from a module into the files below it do not count there: a module is read with
//! its folder.
//!
//! The table only shrinks. A dependency that closes a cycle and is not listed is a finding, and so are a larger cycle
//! of files, and a row that is no longer needed. The same holds for folders with more than [`MAX_FILES`] files.

use super::imports::{Import, imports};
use super::workspace::{SourceFile, Workspace};
use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use toml::{Table, Value};

/// Rust files directly in a folder of sources, tests or examples.
const MAX_FILES: usize = 25;
/// The table.
const TABLE: &str = "crates/xtask/modules.toml";

/// What the table allows to a crate.
#[derive(Default)]
struct Allowed {
    /// Its upward dependencies.
    up: BTreeSet<(String, String)>,
    /// The files of its biggest cycle.
    cycle: usize,
}

/// What a crate has, for print.
struct Figures {
    modules: usize,
    dependencies: usize,
    up: usize,
    cycle: usize,
}

/// Checks all crates; prints how they stand.
pub fn check(workspace: &Workspace, findings: &mut Vec<String>) -> Result<()> {
    let text = fs::read_to_string(workspace.root.join(TABLE)).with_context(|| format!("cannot read {TABLE}"))?;
    let table: Table = text.parse().with_context(|| format!("{TABLE} is not valid TOML"))?;
    let crates = table.get("crate").and_then(Value::as_table).cloned().unwrap_or_default();
    for name in crates.keys().filter(|name| workspace.members.iter().all(|m| m.name != **name)) {
        findings.push(format!("{TABLE}: there is no crate {name}; delete its rows"));
    }
    println!("xtask tidy: modules, dependencies between them, upward ones, files in the biggest cycle:");
    for member in &workspace.members {
        let allowed = allowed(&member.name, crates.get(&member.name), findings);
        let Figures { modules, dependencies, up, cycle } = check_crate(&member.name, &member.files, &allowed, findings);
        println!("  {}: {modules}, {dependencies}, {up}, {cycle}", member.name);
    }
    let folders = table.get("folders").and_then(Value::as_table).cloned().unwrap_or_default();
    let files = workspace.members.iter().flat_map(|m| &m.files).map(|f| f.shown.as_str());
    check_folders(files, &folders, findings);
    Ok(())
}

/// The rows of a crate.
fn allowed(name: &str, rows: Option<&Value>, findings: &mut Vec<String>) -> Allowed {
    let mut out = Allowed { cycle: 1, ..Allowed::default() };
    let Some(rows) = rows else { return out };
    if let Some(cycle) = rows.get("cycle").and_then(Value::as_integer) {
        out.cycle = usize::try_from(cycle).unwrap_or(0);
    }
    for row in rows.get("up").and_then(Value::as_array).into_iter().flatten() {
        match row.as_str().and_then(|r| r.split_once(" -> ")) {
            Some((from, to)) => {
                out.up.insert((from.to_owned(), to.to_owned()));
            }
            None => findings.push(format!("{TABLE}: {name}: `{row:?}` is not of the form \"from -> to\"")),
        }
    }
    out
}

/// The module of a file below `src`.
fn module(below: &str) -> &str {
    below.split_once('/').map_or_else(|| below.trim_end_matches(".rs"), |(folder, _)| folder)
}

fn check_crate(name: &str, files: &[SourceFile], allowed: &Allowed, findings: &mut Vec<String>) -> Figures {
    let src = format!("{name}/src/");
    let files: Vec<(&str, &SourceFile)> = files
        .iter()
        .filter(|f| !SourceFile::is_test(&f.shown))
        .filter_map(|f| Some((f.shown.strip_prefix(&src)?, f)))
        .collect();
    let found = imports(&files);
    let cycle = biggest_cycle(files.len(), &found, &files, name, allowed.cycle, findings);
    // The first of each pair of modules stands for all.
    let mut between: BTreeMap<(&str, &str), &Import> = BTreeMap::new();
    for import in &found {
        let pair = (module(files[import.from].0), module(files[import.to].0));
        if pair.0 != pair.1 {
            between.entry(pair).or_insert(import);
        }
    }
    let is_allowed = |from: &str, to: &str| allowed.up.contains(&(from.to_owned(), to.to_owned()));
    let down: BTreeSet<(&str, &str)> = between.keys().filter(|(from, to)| !is_allowed(from, to)).copied().collect();
    for (from, to) in &allowed.up {
        if !between.contains_key(&(from.as_str(), to.as_str())) {
            findings.push(format!("{TABLE}: {name} has no dependency {from} -> {to} any more; delete it"));
        } else if path(&down, to, from).is_none() {
            // A row is needed only as long as a way down leads back: without one, the dependency is an ordinary one.
            findings.push(format!("{TABLE}: {name}: {from} -> {to} closes no cycle; delete it"));
        }
    }
    if let Some(path) = shortest_cycle(&down) {
        let step = |pair: &[&str]| {
            let import = between[&(pair[0], pair[1])];
            let file = &files[import.from].1.shown;
            format!("{} -> {} ({file}:{} names {})", pair[0], pair[1], import.line, import.item)
        };
        let steps: Vec<String> = path.windows(2).map(step).collect();
        findings.push(format!(
            "{name}: a cycle of modules: {}; move what is named to where both may name it",
            steps.join(", ")
        ));
    }
    let modules: BTreeSet<&str> = files.iter().map(|(below, _)| module(below)).collect();
    Figures { modules: modules.len(), dependencies: between.len(), up: allowed.up.len(), cycle }
}

/// The shortest path from one module to another, with both; `None` if there is none.
fn path<'a>(dependencies: &BTreeSet<(&'a str, &'a str)>, from: &'a str, to: &'a str) -> Option<Vec<&'a str>> {
    let mut before: BTreeMap<&str, &str> = BTreeMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        for (_, next) in dependencies.range((at, "")..).take_while(|(f, _)| *f == at) {
            if before.contains_key(next) {
                continue;
            }
            before.insert(next, at);
            if *next == to {
                let mut out = vec![to];
                let mut at = to;
                // A cycle begins and ends with `from`: the way back leaves it once, as the end, and stops when it comes
                // there again.
                while let Some(previous) = before.get(at)
                    && (at != from || out.len() == 1)
                {
                    out.push(previous);
                    at = previous;
                }
                out.reverse();
                return Some(out);
            }
            queue.push_back(next);
        }
    }
    None
}

/// The shortest cycle; the first and the last module are the same.
fn shortest_cycle<'a>(dependencies: &BTreeSet<(&'a str, &'a str)>) -> Option<Vec<&'a str>> {
    let modules: BTreeSet<&str> = dependencies.iter().map(|(from, _)| *from).collect();
    modules.into_iter().filter_map(|module| path(dependencies, module, module)).min_by_key(Vec::len)
}

/// Whether a file is the module that another one is below.
fn is_parent(parent: &str, file: &str) -> bool {
    let stem = parent.trim_end_matches(".rs");
    let folder = stem.strip_suffix("mod").unwrap_or(stem);
    matches!(parent, "lib.rs" | "main.rs")
        || file.strip_prefix(folder).is_some_and(|rest| folder.ends_with('/') || rest.starts_with('/'))
}

/// The size of the biggest cycle of files, compared with the table.
fn biggest_cycle(
    count: usize,
    dependencies: &[Import],
    files: &[(&str, &SourceFile)],
    name: &str,
    allowed: usize,
    findings: &mut Vec<String>,
) -> usize {
    let mut next = vec![Vec::new(); count];
    for import in dependencies.iter().filter(|import| !is_parent(files[import.from].0, files[import.to].0)) {
        next[import.from].push(import.to);
    }
    // The files that can be reached from each file: two files are in one cycle if each reaches the other.
    let reached: Vec<BTreeSet<usize>> = (0..count)
        .map(|from| {
            let mut seen = BTreeSet::new();
            let mut stack = vec![from];
            while let Some(at) = stack.pop() {
                stack.extend(next[at].iter().copied().filter(|to| seen.insert(*to)));
            }
            seen
        })
        .collect();
    let cycle = |file: usize| -> Vec<usize> {
        (0..count)
            .filter(|other| *other == file || reached[file].contains(other) && reached[*other].contains(&file))
            .collect()
    };
    let biggest =
        (0..count).map(cycle).max_by_key(|c| (c.len(), std::cmp::Reverse(c.first().copied()))).unwrap_or_default();
    if biggest.len() > allowed {
        let shown: Vec<&str> = biggest.iter().map(|file| files[*file].0).collect();
        findings.push(format!(
            "{name}: a cycle of {} files, {TABLE} allows {allowed}: {}",
            biggest.len(),
            shown.join(", ")
        ));
    } else if biggest.len() < allowed {
        findings.push(format!("{TABLE}: {name}: the biggest cycle has {} files; lower it", biggest.len()));
    }
    biggest.len()
}

/// Checks how many files are directly in each folder of sources, tests and examples.
fn check_folders<'a>(files: impl Iterator<Item = &'a str>, allowed: &Table, findings: &mut Vec<String>) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files {
        let Some((folder, _)) = file.rsplit_once('/') else { continue };
        if folder.split('/').any(|part| matches!(part, "src" | "tests" | "examples")) {
            *counts.entry(folder).or_default() += 1;
        }
    }
    for (folder, count) in &counts {
        let most = allowed.get(*folder).and_then(Value::as_integer).and_then(|n| usize::try_from(n).ok());
        match most {
            None if *count > MAX_FILES => {
                findings.push(format!("{folder}: {count} files, {MAX_FILES} are the limit; make folders of them"));
            }
            Some(most) if *count > most => findings.push(format!("{folder}: {count} files, {TABLE} allows {most}")),
            Some(most) if *count < most => {
                findings.push(format!("{TABLE}: {folder} has {count} files; lower the number, or delete it"));
            }
            Some(_) if *count <= MAX_FILES => {
                findings.push(format!("{TABLE}: {folder} has {count} files, which all folders may have; delete it"));
            }
            _ => {}
        }
    }
    for folder in allowed.keys().filter(|folder| !counts.contains_key(folder.as_str())) {
        findings.push(format!("{TABLE}: there is no folder {folder}; delete it"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two modules, of which `low` names nothing, and what is planted in it.
    fn findings(planted: &str, rows: &str) -> Vec<String> {
        let files = [
            ("x/src/lib.rs", "mod low; mod high;".to_owned()),
            ("x/src/low/mod.rs", format!("pub mod item; {planted}")),
            ("x/src/low/item.rs", "pub struct Item;".to_owned()),
            ("x/src/high.rs", "use crate::low::item::Item; pub fn high(item: Item) {}".to_owned()),
        ];
        let files: Vec<SourceFile> =
            files.into_iter().map(|(shown, text)| SourceFile::new(shown.to_owned(), text)).collect();
        let mut out = Vec::new();
        let rows: Table = rows.parse().unwrap();
        let allowed = allowed("x", rows.get("x"), &mut out);
        check_crate("x", &files, &allowed, &mut out);
        out
    }

    #[test]
    fn a_planted_upward_dependency_is_found() {
        assert!(findings("", "").is_empty());
        let planted = "use crate::high::high; fn f() { high(item::Item) }";
        let found = findings(planted, "");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("low -> high (x/src/low/mod.rs:1 names high)"), "{found:?}");
        assert!(findings(planted, "[x]\nup = [\"low -> high\"]").is_empty());
    }

    #[test]
    fn a_row_that_is_not_needed_is_found() {
        // No such dependency; one that closes no cycle; not a row.
        assert_eq!(findings("", "[x]\nup = [\"low -> high\"]").len(), 1);
        assert_eq!(findings("", "[x]\nup = [\"high -> low\"]").len(), 1);
        assert_eq!(findings("", "[x]\nup = [\"high\"]").len(), 1);
    }

    #[test]
    fn files_that_name_each_other_are_a_cycle() {
        let files = [
            ("x/src/lib.rs", "mod a; mod b; mod c;"),
            ("x/src/a.rs", "use crate::b::b; pub fn a() { b() }"),
            ("x/src/b.rs", "pub fn b() { crate::c::c() }"),
            ("x/src/c.rs", "pub fn c() { crate::a::a() }"),
        ];
        let files: Vec<SourceFile> =
            files.iter().map(|(shown, text)| SourceFile::new((*shown).to_owned(), (*text).to_owned())).collect();
        let check = |cycle: usize| {
            let mut out = Vec::new();
            let rows: Table = format!("[x]\nup = [\"c -> a\"]\ncycle = {cycle}").parse().unwrap();
            check_crate("x", &files, &allowed("x", rows.get("x"), &mut out), &mut out);
            out
        };
        assert!(check(3).is_empty());
        assert_eq!(check(2), ["x: a cycle of 3 files, crates/xtask/modules.toml allows 2: a.rs, b.rs, c.rs"]);
        assert_eq!(check(4), ["crates/xtask/modules.toml: x: the biggest cycle has 3 files; lower it"]);
    }

    #[test]
    fn a_folder_with_too_many_files_is_found() {
        let check = |files: usize, rows: &str| {
            let names: Vec<String> = (0..files).map(|i| format!("x/src/room/f{i}.rs")).collect();
            let mut out = Vec::new();
            check_folders(names.iter().map(String::as_str), &rows.parse().unwrap(), &mut out);
            out.len()
        };
        assert_eq!(check(25, ""), 0);
        assert_eq!(check(26, ""), 1);
        // The table allows as many as there are.
        assert_eq!(check(26, "\"x/src/room\" = 26"), 0);
        assert_eq!(check(27, "\"x/src/room\" = 26"), 1);
        assert_eq!(check(26, "\"x/src/room\" = 27"), 1);
        assert_eq!(check(25, "\"x/src/room\" = 25"), 1);
        assert_eq!(check(0, "\"x/src/room\" = 26"), 1);
    }
}
