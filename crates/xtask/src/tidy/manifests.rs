//! Rules for manifests and the roots of crates: one table of lints, `unsafe` forbidden where it is not allowed, a
//! description, and no unused dependency.

use super::sources::{UNSAFE_CRATES, UNSAFE_FILES};
use super::tokens::Token;
use super::workspace::{Member, Workspace};
use cargo_metadata::{DependencyKind, Package};
use std::collections::BTreeSet;
use toml::{Table, Value};

/// Dependencies that no source names: crate, dependency, reason.
const UNNAMED: &[(&str, &str, &str)] =
    &[("filetest", "gmp-mpfr-sys", "its features choose the system's GMP and MPFR for rug")];

/// The metadata that every crate must have.
const KEYS: &[&str] =
    &["description", "version", "edition", "rust-version", "license", "readme", "keywords", "categories", "publish"];

/// Checks all crates and the table of dependencies of the workspace.
pub fn check(workspace: &Workspace, findings: &mut Vec<String>) {
    for member in &workspace.members {
        check_manifest(&member.name, &member.manifest, findings);
        check_roots(member, findings);
        check_dependencies(workspace, member, findings);
    }
    check_workspace_dependencies(&workspace.manifest, workspace.members.iter().map(|m| &m.manifest), findings);
}

fn check_manifest(name: &str, manifest: &Table, findings: &mut Vec<String>) {
    let inherits = manifest.get("lints").and_then(|l| l.get("workspace")).and_then(Value::as_bool);
    if inherits != Some(true) {
        findings.push(format!(
            "{name}/Cargo.toml: needs `[lints] workspace = true`; exceptions are attributes with a reason in the source"
        ));
    }
    for key in KEYS {
        if manifest.get("package").and_then(|p| p.get(key)).is_none() {
            findings.push(format!("{name}/Cargo.toml: no `{key}` in [package]"));
        }
    }
}

/// The workspace denies `unsafe`, and a module may allow it; the root of a crate without such a module forbids it,
/// which nothing below can take back.
fn check_roots(member: &Member, findings: &mut Vec<String>) {
    let fenced = UNSAFE_CRATES.contains(&member.name.as_str())
        || UNSAFE_FILES.iter().any(|f| f.starts_with(&format!("{}/", member.name)));
    if fenced {
        return;
    }
    let folder = member.dir.join("src");
    for target in member.package.targets.iter().filter(|t| t.src_path.starts_with(&folder)) {
        let shown = format!("{}/src/{}", member.name, target.src_path.file_name().unwrap_or_default());
        if let Some(file) = member.files.iter().find(|f| f.shown == shown) {
            check_root(&shown, &file.text, findings);
        }
    }
}

fn check_root(shown: &str, text: &str, findings: &mut Vec<String>) {
    if !text.lines().any(|line| line == "#![forbid(unsafe_code)]") {
        findings.push(format!("{shown}: the root of a crate without unsafe code needs `#![forbid(unsafe_code)]`"));
    }
}

fn check_dependencies(workspace: &Workspace, member: &Member, findings: &mut Vec<String>) {
    let named = |filter: &dyn Fn(&str) -> bool| {
        let files = member.files.iter().filter(|f| filter(f.shown.strip_prefix(&member.name).unwrap_or(&f.shown)));
        files.filter_map(|f| f.tokens.as_ref().ok()).flat_map(|t| path_roots(t)).collect::<BTreeSet<_>>()
    };
    let build = named(&|path| path == "/build.rs");
    let source = named(&|path| path.starts_with("/src/"));
    let all = named(&|path| path != "/build.rs");
    for dependency in &member.package.dependencies {
        let used = match dependency.kind {
            DependencyKind::Build => &build,
            // Tests stand in files of `src`, too.
            DependencyKind::Development => &all,
            _ => &source,
        };
        let name = dependency.rename.as_ref().unwrap_or(&dependency.name);
        let word = library(&workspace.metadata.packages, &dependency.name).unwrap_or_else(|| name.replace('-', "_"));
        let named = used.contains(word.as_str());
        let listed = UNNAMED.iter().any(|(c, d, _)| *c == member.name && *d == dependency.name);
        if let Some(wrong) = judge(&member.name, &dependency.name, named, listed) {
            findings.push(wrong);
        }
    }
}

/// The words that a path begins with, or that `use` names.
fn path_roots(tokens: &[Token]) -> BTreeSet<&str> {
    let is = |i: usize, text: &str| tokens.get(i).is_some_and(|t| t.text == text);
    // `name::…`, `use name` and `extern crate name`.
    let is_root = |i: usize| (is(i + 1, ":") && is(i + 2, ":")) || (i > 0 && (is(i - 1, "use") || is(i - 1, "crate")));
    (0..tokens.len()).filter(|&i| is_root(i)).map(|i| tokens[i].text.as_str()).collect()
}

/// The name by which sources know a crate of the workspace whose library is called otherwise than the package.
fn library(packages: &[Package], name: &str) -> Option<String> {
    let package = packages.iter().find(|p| p.name.as_str() == name && p.source.is_none())?;
    let library = package.targets.iter().find(|t| t.is_lib() || t.is_cdylib())?;
    Some(library.name.replace('-', "_"))
}

fn judge(name: &str, dependency: &str, named: bool, listed: bool) -> Option<String> {
    match (named, listed) {
        (false, false) => Some(format!("{name}/Cargo.toml: nothing names the dependency {dependency}; remove it")),
        (true, true) => Some(format!("{name}: names {dependency}: take it off UNNAMED in xtask/src/tidy/manifests.rs")),
        _ => None,
    }
}

/// Dependencies of the workspace that no crate takes.
fn check_workspace_dependencies<'a>(
    workspace: &Table,
    members: impl Iterator<Item = &'a Table>,
    findings: &mut Vec<String>,
) {
    let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
    let taken: BTreeSet<&str> = members
        .flat_map(|m| kinds.iter().filter_map(|k| m.get(*k)?.as_table()))
        .flat_map(|t| t.keys().map(String::as_str))
        .collect();
    let offered = workspace.get("workspace").and_then(|w| w.get("dependencies")).and_then(Value::as_table);
    for name in offered.into_iter().flat_map(Table::keys).filter(|n| !taken.contains(n.as_str())) {
        findings.push(format!("Cargo.toml: no crate takes the dependency {name}; remove it"));
    }
}

/// The crates of [`UNNAMED`] that do not exist.
pub fn check_known(workspace: &Workspace, findings: &mut Vec<String>) {
    for (name, dependency, _) in UNNAMED {
        let member = workspace.members.iter().find(|m| m.name == *name);
        if !member.is_some_and(|m| m.package.dependencies.iter().any(|d| d.name == *dependency)) {
            findings
                .push(format!("{name}: does not use {dependency}: take it off UNNAMED in xtask/src/tidy/manifests.rs"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    #[test]
    fn a_table_of_lints_of_its_own_and_missing_keys_are_found() {
        let package = KEYS.iter().fold("[package]\n".to_owned(), |text, key| text + key + " = \"\"\n");
        let find = |text: &str| {
            let mut out = Vec::new();
            check_manifest("x", &text.parse().unwrap(), &mut out);
            out
        };
        assert!(find(&format!("{package}[lints]\nworkspace = true\n")).is_empty());
        assert_eq!(find(&format!("{package}[lints.rust]\nunsafe_code = \"deny\"\n")).len(), 1);
        assert_eq!(find("[package]\n[lints]\nworkspace = true\n").len(), KEYS.len());
    }

    #[test]
    fn a_root_that_does_not_forbid_unsafe_is_found() {
        let mut out = Vec::new();
        check_root("ir/src/lib.rs", "//! Head.\n#![forbid(unsafe_code)]\n", &mut out);
        assert!(out.is_empty());
        check_root("ir/src/lib.rs", "//! Head: #![forbid(unsafe_code)]\n", &mut out);
        assert_eq!(out.len(), 1);
    }

    #[test]
    fn a_dependency_is_named_by_a_path_or_by_use() {
        let tokens =
            tokens("use a::{x, b::y};\nuse c as _;\nextern crate d;\nfn f() { ::e::g(h, \"i::j\") }\n").unwrap();
        let roots: Vec<_> =
            path_roots(&tokens).into_iter().filter(|w| w.len() == 1 && w.chars().all(char::is_alphanumeric)).collect();
        assert_eq!(roots, ["a", "b", "c", "d", "e"]);
    }

    #[test]
    fn unused_dependencies_are_found() {
        assert!(judge("x", "y", true, false).is_none());
        assert!(judge("x", "y", false, true).is_none());
        assert!(judge("x", "y", false, false).is_some());
        assert!(judge("x", "y", true, true).is_some());
        let workspace: Table = "[workspace.dependencies]\na = \"1\"\nb = \"1\"\nc = \"1\"\n".parse().unwrap();
        let members: [Table; 2] = [
            "[dependencies]\na.workspace = true\n".parse().unwrap(),
            "[dev-dependencies]\nc = \"1\"\n".parse().unwrap(),
        ];
        let mut out = Vec::new();
        check_workspace_dependencies(&workspace, members.iter(), &mut out);
        assert_eq!(out, ["Cargo.toml: no crate takes the dependency b; remove it"]);
    }
}
