//! Passes are run by the pass manager, which switches, counts, times and verifies them. In come the tokens of a file;
//! out come other calls of a pass.
//!
//! A call `NAME::run(…)` is one of a pass if `NAME` is a module of a folder of passes. It is the manager's if it stands
//! in the arguments of one of the manager's methods, as in `manager.step(NARROW, || narrow::run(func))`.

use super::tokens::{Token, after_tests};
use super::workspace::{SourceFile, Workspace};
use std::collections::BTreeSet;

/// The folders whose files are passes.
const FOLDERS: &[&str] = &["passes/src/loops/", "passes/src/", "spmd/src/transform/"];

/// The crates whose files may have the names in scope.
const CRATES: &[&str] = &["passes", "spmd", "compiler", "llvm"];

/// The methods of the manager that run what they are given.
const MANAGED: &[&str] = &["step", "required", "function", "with_module", "in_module"];

/// The names of the modules that are passes.
pub fn modules(workspace: &Workspace) -> BTreeSet<String> {
    let files = workspace.members.iter().flat_map(|member| &member.files);
    files.filter_map(|file| module(&file.shown).map(str::to_owned)).collect()
}

/// The module of a file directly below a folder of passes.
fn module(shown: &str) -> Option<&str> {
    let rest = FOLDERS.iter().find_map(|folder| shown.strip_prefix(folder))?;
    let name = rest.strip_suffix("/mod.rs").or_else(|| rest.strip_suffix(".rs"))?;
    (!name.contains('/') && !["mod", "lib", "manager", "util"].contains(&name)).then_some(name)
}

/// Checks a file of a crate.
pub fn check(name: &str, shown: &str, tokens: &[Token], modules: &BTreeSet<String>, findings: &mut Vec<String>) {
    if !CRATES.contains(&name) || !shown.contains("/src/") || SourceFile::is_test(shown) {
        return;
    }
    for (module, line) in calls(tokens, modules) {
        findings.push(format!(
            "{shown}:{line}: `{module}::run` is called around the pass manager; let the manager run it, so that it is \
             switched, counted and verified"
        ));
    }
}

/// The calls of passes that are not the manager's, with their lines.
fn calls<'t>(tokens: &'t [Token], modules: &BTreeSet<String>) -> Vec<(&'t str, usize)> {
    let word = |i: usize| tokens.get(i).map_or("", |t| t.text.as_str());
    let mut out = Vec::new();
    // For each open bracket, whether it holds the arguments of a method of the manager.
    let mut open: Vec<bool> = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        if let Some(next) = after_tests(tokens, i) {
            i = next;
            continue;
        }
        match word(i) {
            "(" => open.push(i >= 2 && MANAGED.contains(&word(i - 1)) && word(i - 2) == "."),
            "{" | "[" => open.push(false),
            ")" | "}" | "]" => drop(open.pop()),
            name if modules.contains(name) && word(i + 1) == ":" && word(i + 2) == ":" => {
                let is_run = word(i + 3) == "run" || word(i + 3).starts_with("run_");
                if is_run && word(i + 4) == "(" && !open.contains(&true) {
                    out.push((name, tokens[i].line));
                }
            }
            _ => {}
        }
        i += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    fn findings(name: &str, shown: &str, text: &str) -> Vec<String> {
        let modules = ["dce", "narrow"].map(str::to_owned).into();
        let mut out = Vec::new();
        check(name, shown, &tokens(text).unwrap(), &modules, &mut out);
        out
    }

    #[test]
    fn a_pass_that_is_called_around_the_manager_is_found() {
        let by_hand = "fn f() { dce::run(func); cloom_passes::narrow::run_in_loop(func); other::run(func); }\n";
        let found = findings("spmd", "spmd/src/transform/x.rs", by_hand);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("spmd/src/transform/x.rs:1: `dce::run` is called around"), "{found:?}");
        assert!(findings("spmd", "spmd/tests/x.rs", by_hand).is_empty());
        assert!(findings("spmd", "spmd/src/x.rs", &format!("#[cfg(test)]\nmod tests {{ {by_hand} }}\n")).is_empty());
        let managed =
            "fn f() { manager.step(DCE, || { let n = dce::run(func); (n, n) }); manager.run(m, f, &[DCE]); }\n";
        assert!(findings("spmd", "spmd/src/x.rs", managed).is_empty());
        let behind = "fn f() { manager.step(DCE, || 1); dce::run(func); }\n";
        assert_eq!(findings("spmd", "spmd/src/x.rs", behind).len(), 1);
    }

    #[test]
    fn modules_are_the_files_of_the_folders() {
        assert_eq!(module("passes/src/fold/mod.rs"), Some("fold"));
        assert_eq!(module("spmd/src/transform/narrow.rs"), Some("narrow"));
        assert_eq!(module("passes/src/fold/rules.rs"), None);
        assert_eq!(module("passes/src/manager.rs"), None);
    }
}
