//! Documents must name existing things. In come Markdown files and the `//!` heads of Rust files; out come broken
//! links, paths of missing files, and unknown commands and environment variables.
//!
//! A path is text in backticks that has a `/` and ends in a known extension or begins with a folder of the workspace.
//! In a Markdown file it is relative to the root or to `crates/`: `ir/src/print.rs`. In a head it may also be relative
//! to the crate.

use super::workspace::{SourceFile, Workspace, collect};
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const EXTENSIONS: &[&str] = &["rs", "md", "cl", "ir", "ll", "toml", "json", "h", "sh", "png", "txt", "csv", "html"];

/// The names that documents may use.
pub struct Names<'a> {
    /// The root of the workspace.
    pub root: &'a Path,
    /// The environment variables that the sources know.
    pub variables: BTreeSet<String>,
    /// The commands of `cargo xtask`.
    pub tasks: Vec<&'a str>,
    /// The subcommands of `cloom`.
    pub commands: BTreeSet<String>,
}

impl<'a> Names<'a> {
    /// Gathers them: variables are in string literals of any crate but this one; a subcommand has a file or a folder of
    /// its own, or is a string of the program.
    pub fn of(workspace: &'a Workspace, usage: &'a str) -> Result<Names<'a>> {
        let sources = workspace.members.iter().filter(|m| m.name != "xtask").flat_map(|m| &m.files);
        let variables = sources.flat_map(|f| variables(&f.text)).map(str::to_owned).collect();
        let tasks = usage.lines().filter_map(|l| l.strip_prefix("  ")?.split(' ').next()).collect();
        let cli = workspace.root.join("crates/cli/src");
        // Commands for the program's own use have no file.
        let words = workspace.members.iter().filter(|m| m.name == "cli").flat_map(|m| &m.files);
        // A literal that is one word of lower-case letters and hyphens, and nothing else, may be the name of a command.
        let words = words.flat_map(|f| f.text.split('"')).filter(|w| words_after(w, "").next() == Some(w));
        let mut commands: BTreeSet<String> = words.map(|w| w.replace('-', "_")).collect();
        for entry in fs::read_dir(&cli).with_context(|| format!("cannot list {}", cli.display()))? {
            commands.extend(entry?.path().file_stem().and_then(|s| Some(s.to_str()?.to_owned())));
        }
        Ok(Names { root: &workspace.root, variables, tasks, commands })
    }
}

/// Checks all documents of the workspace.
pub fn check(workspace: &Workspace, names: &Names<'_>, findings: &mut Vec<String>) -> Result<()> {
    let mut paths = Vec::new();
    collect(&workspace.root, "md", &mut paths)?;
    paths.sort();
    for path in paths {
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let shown = path.strip_prefix(&workspace.root).unwrap_or(&path).display().to_string();
        check_markdown(names, &shown, &text, findings);
    }
    for member in &workspace.members {
        for file in &member.files {
            check_head(names, &member.dir, file, findings);
        }
    }
    Ok(())
}

fn check_markdown(names: &Names<'_>, shown: &str, text: &str, findings: &mut Vec<String>) {
    let folder = names.root.join(shown).parent().map_or_else(|| names.root.to_owned(), Path::to_owned);
    let places = [names.root.to_owned(), names.root.join("crates")];
    let mut fenced = false;
    for (i, line) in text.lines().enumerate() {
        let at = format!("{shown}:{}", i + 1);
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        for (name, what) in unknown(names, line, fenced) {
            findings.push(format!("{at}: there is no {what} `{name}`"));
        }
        // What stands between fences is an example: its paths are those of a reader's machine.
        if fenced || is_fence {
            continue;
        }
        for target in links(line) {
            if let Some(wrong) = broken(&folder, text, target) {
                findings.push(format!("{at}: the link {target} leads nowhere: {wrong}"));
            }
        }
        for path in paths(line).filter(|p| !exists(&places, p)) {
            findings.push(format!("{at}: `{path}` is not there; write paths from the root or from crates/"));
        }
    }
}

fn check_head(names: &Names<'_>, dir: &Path, file: &SourceFile, findings: &mut Vec<String>) {
    let crates = names.root.join("crates");
    let own = crates.join(&file.shown).parent().map_or_else(|| dir.to_owned(), Path::to_owned);
    let places = [names.root.to_owned(), crates, dir.to_owned(), dir.join("src"), own];
    for (i, line) in file.text.lines().enumerate().filter(|(_, line)| line.starts_with("//!")) {
        let at = format!("{}:{}", file.shown, i + 1);
        for path in paths(line).filter(|p| !exists(&places, p)) {
            findings.push(format!("{at}: `{path}` is not there"));
        }
        for (name, what) in unknown(names, line, false) {
            findings.push(format!("{at}: there is no {what} `{name}`"));
        }
    }
}

/// The unknown commands and variables of a line, each with its kind.
fn unknown<'l>(names: &Names<'_>, line: &'l str, console: bool) -> Vec<(&'l str, &'static str)> {
    let mut out: Vec<_> =
        variables(line).filter(|v| !names.variables.contains(*v)).map(|v| (v, "environment variable")).collect();
    let tasks = words_after(line, "cargo xtask ").filter(|t| !names.tasks.contains(t));
    out.extend(tasks.map(|t| (t, "command of cargo xtask")));
    let mark = if console { "$ cloom " } else { "`cloom " };
    let commands = words_after(line, mark).filter(|c| !names.commands.contains(&c.replace('-', "_")));
    out.extend(commands.map(|c| (c, "command of cloom")));
    out
}

/// The words of lower-case letters that follow a text.
fn words_after<'l>(line: &'l str, before: &'l str) -> impl Iterator<Item = &'l str> {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let words = line.match_indices(before).map(move |(i, _)| {
        let rest = &line[i + before.len()..];
        &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())]
    });
    words.filter(|w| w.starts_with(|c: char| c.is_ascii_lowercase()))
}

/// The environment variables of ours that a text names in full.
fn variables(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|w| {
        w.starts_with("CLOOM_") && !w.ends_with('_') && w.chars().all(|c| c.is_ascii_uppercase() || c == '_')
    })
}

/// The targets of the links and pictures of a line of Markdown.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("](").filter_map(|(i, _)| {
        let rest = &line[i + 2..];
        Some(&rest[..rest.find(')')?])
    })
}

/// The problem of a link, if any; links to other sites are not followed.
fn broken(folder: &Path, own: &str, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let file = folder.join(path);
    if !path.is_empty() && !file.exists() {
        return Some("the file is not there".to_owned());
    }
    if anchor.is_empty() {
        return None;
    }
    let text = if path.is_empty() { own.to_owned() } else { fs::read_to_string(&file).unwrap_or_default() };
    let found = text.lines().filter(|l| l.starts_with('#')).any(|l| slug(l) == anchor);
    (!found).then(|| format!("no heading becomes #{anchor}"))
}

/// The anchor that a heading gets.
fn slug(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
    text.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
}

/// Text in backticks on a line that looks like a path of the workspace.
fn paths(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2).filter(|s| is_path(s))
}

fn is_path(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./*{},".contains(c);
    if !text.contains('/') || !text.chars().all(plain) || text.starts_with(['/', '.']) {
        return false;
    }
    let first = text.split('/').next().unwrap_or_default();
    // Build outputs do not exist in a clean clone.
    if first == "target" {
        return false;
    }
    let extension = text.rsplit_once('.').map_or("", |(_, e)| e);
    let is_crate = super::layers::LAYERS.iter().any(|(name, _)| *name == first);
    EXTENSIONS.contains(&extension) || is_crate || matches!(first, "crates" | "docs" | "src" | "tests")
}

/// Whether a path exists relative to one of the folders. Of a pattern, the folder before its first `*` or `{` must be.
fn exists(places: &[PathBuf], path: &str) -> bool {
    let plain = path.split('/').take_while(|part| !part.contains(['*', '{'])).collect::<Vec<_>>().join("/");
    places.iter().any(|place| place.join(&plain).exists())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::root;

    fn markdown(text: &str) -> Vec<String> {
        let root = root();
        let variables = BTreeSet::from(["CLOOM_LOG".to_owned()]);
        let commands = BTreeSet::from(["show".to_owned()]);
        let names = Names { root: &root, variables, tasks: vec!["tidy"], commands };
        let mut out = Vec::new();
        check_markdown(&names, "docs/x.md", text, &mut out);
        out
    }

    #[test]
    fn paths_that_are_gone_are_found() {
        assert_eq!(markdown("See `ir/src/no_such.rs`.").len(), 1);
        assert_eq!(markdown("See `crates/none`, `tests/x.rs` and `widen/x.rs`.").len(), 3);
        assert!(markdown("`ir/src/lib.rs`, `crates/ir`, `docs/ARCHITECTURE.md`, `builtins/lib/*.cl`").is_empty());
        // No paths of the workspace.
        assert!(markdown("`1/sqrt(x)`, `~/.cache/cloom`, `/etc/x.rs`, `target/release/x.rs`, `a / b.rs`").is_empty());
        assert!(markdown("```text\n`ir/src/no_such.rs`\n```").is_empty());
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        assert_eq!(markdown("[x](nowhere.md), ![y](no.png)").len(), 2);
        assert_eq!(markdown("# Some words, here\n[x](#some-word)").len(), 1);
        assert!(
            markdown("# Some words, here\n[x](#some-words-here) [y](https://x.org/y) [z](../README.md)").is_empty()
        );
    }

    #[test]
    fn names_that_there_are_not_are_found() {
        assert_eq!(markdown("Set `CLOOM_NONE`.").len(), 1);
        assert_eq!(markdown("Run `cargo xtask nothing`.").len(), 1);
        assert_eq!(markdown("```console\n$ cloom weave x.cl\n```").len(), 1);
        assert!(markdown("`CLOOM_LOG`, `CLOOM_*`, `cargo xtask tidy`, `cloom show x`").is_empty());
    }

    #[test]
    fn heads_may_begin_at_their_crate() {
        let root = root();
        let names = Names { root: &root, variables: BTreeSet::new(), tasks: Vec::new(), commands: BTreeSet::new() };
        let found = |text: &str| {
            let file = SourceFile::new("ir/src/lib.rs".to_owned(), text.to_owned());
            let mut out = Vec::new();
            check_head(&names, &root.join("crates/ir"), &file, &mut out);
            out.len()
        };
        assert_eq!(found("//! `src/print.rs`, `ir/src/print.rs`\n"), 0);
        assert_eq!(found("//! `src/no_such.rs`\n// `src/nothing.rs`\n"), 1);
    }
}
