//! Rules for dependencies. In come the resolved packages and `deny.toml`; out come licences that are not allowed,
//! packages in several versions, sources other than crates.io, and packages that need a newer compiler than the
//! workspace promises.
//!
//! The rules are those of `cargo deny check licenses bans sources`, as far as the workspace uses them, without that
//! program and offline. Beyond them, a licence that is allowed by exception must not be linked into what users get.

use super::workspace::Workspace;
use anyhow::{Context, Result};
use cargo_metadata::semver::{Version, VersionReq};
use cargo_metadata::{DepKindInfo, DependencyKind, PackageId};
use spdx::{Expression, Licensee, ParseMode};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use toml::{Table, Value};

/// The crates that users get; everything that these link is shipped.
const SHIPPED: &[&str] = &["capi", "cli", "cloom"];

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The allowances of `deny.toml`.
#[derive(Default)]
struct Rules {
    licences: Vec<Licensee>,
    /// A package and the licences allowed for it alone.
    exceptions: Vec<(String, Vec<Licensee>)>,
    /// A package and its additional versions that are allowed.
    duplicates: Vec<(String, VersionReq)>,
}

/// A package, as the rules see it.
struct Entry {
    name: String,
    version: Version,
    licence: Option<String>,
    /// The registry that it comes from; `None` for a crate of the workspace.
    source: Option<String>,
    rust_version: Option<Version>,
    shipped: bool,
}

/// Checks all packages.
pub fn check(workspace: &Workspace, findings: &mut Vec<String>) -> Result<()> {
    let text = fs::read_to_string(workspace.root.join("deny.toml")).context("cannot read deny.toml")?;
    let rules = rules(&text.parse().context("deny.toml is not valid TOML")?)?;
    let shipped = shipped(workspace);
    let entries: Vec<Entry> = workspace
        .metadata
        .packages
        .iter()
        .map(|p| Entry {
            name: p.name.to_string(),
            version: p.version.clone(),
            licence: p.license.clone(),
            source: p.source.as_ref().map(|s| s.repr.clone()),
            rust_version: p.rust_version.clone(),
            shipped: shipped.contains(&p.id),
        })
        .collect();
    check_licences(&rules, &entries, findings);
    check_duplicates(&rules, &entries, findings);
    check_sources(&entries, findings);
    let promised = promised(&workspace.manifest).context("no rust-version in [workspace.package]")?;
    check_compiler(&promised, &entries, findings);
    Ok(())
}

/// The oldest compiler that the workspace promises to be built by.
fn promised(manifest: &Table) -> Option<Version> {
    let text = manifest.get("workspace")?.get("package")?.get("rust-version")?.as_str()?;
    // `1.90` is short for `1.90.0`.
    Version::parse(text).or_else(|_| Version::parse(&format!("{text}.0"))).ok()
}

fn rules(deny: &Table) -> Result<Rules> {
    let list = |section: &str, key: &str| {
        deny.get(section).and_then(|s| s.get(key)).and_then(Value::as_array).map_or(&[][..], Vec::as_slice)
    };
    let name = |entry: &Value| {
        let name = entry.as_str().or_else(|| entry.get("crate")?.as_str());
        name.map(str::to_owned).with_context(|| format!("deny.toml: no `crate` in {entry:?}"))
    };
    let licences = |entries: &[Value]| {
        let texts = entries.iter().filter_map(Value::as_str);
        texts.map(|t| Licensee::parse(t).with_context(|| format!("deny.toml: {t}"))).collect::<Result<Vec<_>>>()
    };
    let mut rules = Rules { licences: licences(list("licenses", "allow"))?, ..Rules::default() };
    for entry in list("licenses", "exceptions") {
        let allow = entry.get("allow").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        rules.exceptions.push((name(entry)?, licences(allow)?));
    }
    for entry in list("bans", "skip") {
        let text = name(entry)?;
        let (name, version) = text.split_once('@').unwrap_or((&text, "*"));
        let version = VersionReq::parse(version).with_context(|| format!("deny.toml: {text}"))?;
        rules.duplicates.push((name.to_owned(), version));
    }
    Ok(rules)
}

/// All packages that the shipped crates link, without build and test dependencies.
pub fn shipped(workspace: &Workspace) -> BTreeSet<&PackageId> {
    let is_linked = |kinds: &[DepKindInfo]| kinds.iter().any(|k| k.kind == DependencyKind::Normal);
    let nodes = workspace.metadata.resolve.iter().flat_map(|r| &r.nodes);
    let links: BTreeMap<&PackageId, Vec<&PackageId>> =
        nodes.map(|n| (&n.id, n.deps.iter().filter(|d| is_linked(&d.dep_kinds)).map(|d| &d.pkg).collect())).collect();
    let roots = workspace.members.iter().filter(|m| SHIPPED.contains(&m.name.as_str()));
    let mut waiting: Vec<&PackageId> = roots.map(|m| &m.package.id).collect();
    let mut found = BTreeSet::new();
    while let Some(id) = waiting.pop() {
        if found.insert(id) {
            waiting.extend(links.get(id).into_iter().flatten());
        }
    }
    found
}

fn check_licences(rules: &Rules, entries: &[Entry], findings: &mut Vec<String>) {
    for entry in entries {
        let Entry { name, version, licence, .. } = entry;
        let Some(licence) = licence else {
            findings.push(format!("{name} {version}: names no licence"));
            continue;
        };
        let expression = match Expression::parse_mode(licence, ParseMode::LAX) {
            Ok(expression) => expression,
            Err(e) => {
                findings.push(format!("{name} {version}: the licence {licence} cannot be read: {}", e.reason));
                continue;
            }
        };
        let allows = |list: &[Licensee]| expression.evaluate(|req| list.iter().any(|l| l.satisfies(req)));
        if allows(&rules.licences) {
            continue;
        }
        let excepted = rules.exceptions.iter().any(|(n, list)| n == name && allows(list));
        if !excepted {
            findings.push(format!("{name} {version}: deny.toml does not allow its licence {licence}"));
        } else if entry.shipped {
            findings.push(format!("{name} {version}: is linked into what users get, and {licence} is for tests only"));
        }
    }
    for (name, _) in rules.exceptions.iter().filter(|(n, _)| !entries.iter().any(|e| e.name == *n)) {
        findings.push(format!("deny.toml: no package {name}: remove its exception"));
    }
}

fn check_duplicates(rules: &Rules, entries: &[Entry], findings: &mut Vec<String>) {
    let mut versions: BTreeMap<&str, Vec<&Version>> = BTreeMap::new();
    for entry in entries {
        versions.entry(&entry.name).or_default().push(&entry.version);
    }
    let listed = |name: &str, version: &Version| rules.duplicates.iter().any(|(n, v)| n == name && v.matches(version));
    for (name, versions) in &versions {
        // `skip` lists the additional versions of a package; beside them there may be one.
        let others: Vec<String> = versions.iter().filter(|v| !listed(name, v)).map(ToString::to_string).collect();
        if others.len() > 1 {
            findings.push(format!("{name}: is there in the versions {}; agree on one, or list it", others.join(", ")));
        }
    }
    for (name, version) in &rules.duplicates {
        let all = versions.get(name.as_str()).map_or(&[][..], Vec::as_slice);
        if all.len() < 2 || !all.iter().any(|v| version.matches(v)) {
            findings.push(format!("deny.toml: {name} {version} stands beside no other version: remove it from `skip`"));
        }
    }
}

fn check_sources(entries: &[Entry], findings: &mut Vec<String>) {
    for Entry { name, version, source, .. } in entries {
        if let Some(source) = source.as_ref().filter(|s| *s != CRATES_IO) {
            findings.push(format!("{name} {version}: comes from {source}, not from crates.io"));
        }
    }
}

fn check_compiler(promised: &Version, entries: &[Entry], findings: &mut Vec<String>) {
    for Entry { name, version, rust_version, .. } in entries {
        if let Some(needed) = rust_version.as_ref().filter(|v| *v > promised) {
            findings.push(format!("{name} {version}: needs Rust {needed}; the workspace promises {promised}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DENY: &str = r#"
        [licenses]
        allow = ["MIT", "Apache-2.0"]
        exceptions = [{ crate = "rug", allow = ["LGPL-3.0-or-later"] }]
        [bans]
        skip = [{ crate = "syn@2", reason = "x" }]
    "#;

    fn entry(name: &str, version: &str, licence: &str) -> Entry {
        Entry {
            name: name.to_owned(),
            version: Version::parse(version).unwrap(),
            licence: Some(licence.to_owned()),
            source: Some(CRATES_IO.to_owned()),
            rust_version: None,
            shipped: true,
        }
    }

    fn rules() -> Rules {
        super::rules(&DENY.parse().unwrap()).unwrap()
    }

    #[test]
    fn licences_that_are_not_allowed_are_found() {
        let find = |entries: &[Entry]| {
            let mut out = Vec::new();
            check_licences(&rules(), entries, &mut out);
            out
        };
        let rug = || Entry { shipped: false, ..entry("rug", "1.0.0", "LGPL-3.0+") };
        let good =
            [entry("a", "1.0.0", "MIT"), entry("b", "1.0.0", "GPL-2.0 OR MIT"), entry("c", "1.0.0", "MIT/Zlib"), rug()];
        assert_eq!(find(&good), Vec::<String>::new());
        assert_eq!(find(&[rug(), entry("a", "1.0.0", "MIT AND Zlib")]).len(), 1);
        assert_eq!(find(&[rug(), entry("a", "1.0.0", "no licence")]).len(), 1);
        assert_eq!(find(&[rug(), Entry { licence: None, ..entry("a", "1.0.0", "") }]).len(), 1);
        // An exception is for its package alone, and not for what is shipped.
        assert_eq!(find(&[rug(), entry("gmp", "1.0.0", "LGPL-3.0+")]).len(), 1);
        assert_eq!(find(&[Entry { shipped: true, ..rug() }]).len(), 1);
        assert_eq!(find(&[]), ["deny.toml: no package rug: remove its exception"]);
    }

    #[test]
    fn duplicates_that_are_not_listed_are_found() {
        let find = |versions: &[(&str, &str)]| {
            let entries: Vec<Entry> = versions.iter().map(|(n, v)| entry(n, v, "MIT")).collect();
            let mut out = Vec::new();
            check_duplicates(&rules(), &entries, &mut out);
            out.len()
        };
        assert_eq!(find(&[("syn", "2.1.0"), ("syn", "3.0.0"), ("a", "1.0.0")]), 0);
        assert_eq!(find(&[("syn", "2.1.0"), ("syn", "3.0.0"), ("syn", "1.0.0")]), 1);
        assert_eq!(find(&[("syn", "2.1.0"), ("syn", "3.0.0"), ("a", "1.0.0"), ("a", "2.0.0")]), 1);
        // An entry that is no longer needed.
        assert_eq!(find(&[("syn", "3.0.0")]), 1);
    }

    #[test]
    fn other_sources_and_newer_compilers_are_found() {
        let mut out = Vec::new();
        let git = Entry { source: Some("git+https://x.org/y".to_owned()), ..entry("a", "1.0.0", "MIT") };
        check_sources(
            &[git, entry("b", "1.0.0", "MIT"), Entry { source: None, ..entry("c", "1.0.0", "MIT") }],
            &mut out,
        );
        assert_eq!(out.len(), 1);
        let manifest: Table = "[workspace.package]\nrust-version = \"1.90\"\n".parse().unwrap();
        let promised = promised(&manifest).unwrap();
        let needs = |v: &str| Entry { rust_version: Some(Version::parse(v).unwrap()), ..entry("a", "1.0.0", "MIT") };
        check_compiler(&promised, &[needs("1.90.0"), needs("1.91.0"), entry("b", "1.0.0", "MIT")], &mut out);
        assert_eq!(out.len(), 2);
    }
}
