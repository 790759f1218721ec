//! The licences of everything that is linked in. In: the graph of crates, and the static libraries that the build
//! named. Out: one text with all of them, a bill of materials, and what has none.
//!
//! Crates have their licences in their own folders. Libraries belong to packages of Debian, each of which has a file
//! `copyright`. The standard library of Rust comes with a page of its own.

use super::bill::{self, Component};
use super::build::Built;
use crate::packages::Unpacked;
use crate::tidy::{Workspace, shipped};
use crate::tools::{output, root, target};
use anyhow::{Context, Result};
use cargo_metadata::Package;
use spdx::{Expression, Licensee, ParseMode};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The texts.
pub struct Texts {
    /// Crates and libraries.
    pub third_party: String,
    /// The licence of all together, as an SPDX expression.
    pub expression: String,
    /// All parts with their versions and licences, in the form of CycloneDX.
    pub bill: String,
    /// The page of Rust's standard library.
    pub rust_library: PathBuf,
}

/// The beginnings of the names of files that have a licence, in capitals.
const NAMES: &[&str] = &["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

/// Which parts have a text: the same text is there once.
#[derive(Default)]
struct Collection {
    /// A line for each part.
    parts: Vec<String>,
    texts: BTreeMap<String, BTreeSet<String>>,
    missing: Vec<String>,
    components: Vec<Component>,
}

/// The licences of the packages of Debian whose libraries are linked, by the beginnings of their names. The text is in
/// the package; an expression is not.
const OF_PACKAGES: &[(&str, &str)] = &[
    ("llvm-", "Apache-2.0 WITH LLVM-exception"),
    ("libstdc++-", "GPL-3.0-or-later WITH GCC-exception-3.1"),
    ("zlib1g-dev", "Zlib"),
    ("libzstd-dev", "BSD-3-Clause"),
];

/// Collects them; also returns a line for each part without a text.
pub fn collect(built: &Built) -> Result<(Texts, Vec<String>)> {
    let workspace = Workspace::load(&root())?;
    let linked = shipped(&workspace);
    let mut all = Collection::default();
    // Crates of the workspace have no source; their licence is our own, which is in the package anyway.
    for package in workspace.metadata.packages.iter().filter(|p| p.source.is_some() && linked.contains(&p.id)) {
        all.add_crate(package)?;
    }
    for (origin, libraries) in packages(built)? {
        all.add(format!("{} ({libraries})", origin.package), origin.licences().into_iter().collect());
        all.components.push(origin.component()?);
    }
    let sysroot = output(Command::new("rustc").args(["--print", "sysroot"]))?;
    let rust_library = Path::new(sysroot.trim()).join("share/doc/rust/COPYRIGHT-library.html");
    if !rust_library.is_file() {
        all.missing.push(format!("the standard library of Rust has no licence: {} is missing", rust_library.display()));
    }
    let version = output(Command::new("rustc").arg("--version"))?;
    let version = version.split(' ').nth(1).unwrap_or_default().to_owned();
    let expression = "MIT OR Apache-2.0".to_owned();
    let url = format!("pkg:generic/rust-std@{version}");
    all.components.push(Component { name: "rust-std".to_owned(), version, licence: expression, url });
    let own = env!("CARGO_PKG_LICENSE");
    let texts = Texts {
        third_party: all.text(),
        expression: bill::expression(own, &all.components),
        bill: bill::write(own, &all.components)?,
        rust_library,
    };
    Ok((texts, all.missing))
}

/// A package of Debian whose libraries are linked.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Origin {
    package: String,
    version: String,
    /// The root below which it has its documents.
    root: PathBuf,
}

impl Origin {
    /// Of an installed file, or of an unpacked one.
    fn of(archive: &Path, unpacked: Option<&Unpacked>) -> Result<Origin> {
        if let Some(unpacked) = unpacked
            && let Some((package, version)) = unpacked.owner(archive)
        {
            return Ok(Origin { package: package.into(), version: version.into(), root: unpacked.folder.clone() });
        }
        let owner = output(Command::new("dpkg").arg("--search").arg(archive))
            .with_context(|| format!("{} is linked, and of no package: its licence is not known", archive.display()))?;
        let package = owner.split([':', ',']).next().unwrap_or_default().to_owned();
        let version = output(Command::new("dpkg-query").args(["-W", "-f", "${Version}", &package]))?;
        Ok(Origin { package, version, root: PathBuf::from("/") })
    }

    /// The text of its licences. That of some packages is a link to another one, which is not unpacked.
    fn licences(&self) -> Option<String> {
        let file = Path::new("usr/share/doc").join(&self.package).join("copyright");
        let texts = [self.root.as_path(), Path::new("/")].map(|root| fs::read_to_string(root.join(&file)));
        texts.into_iter().find_map(Result::ok)
    }

    /// As a part.
    fn component(&self) -> Result<Component> {
        let Origin { package: name, version, .. } = self;
        let licence = OF_PACKAGES.iter().find(|(n, _)| name.starts_with(n)).map(|(_, licence)| (*licence).to_owned());
        let licence =
            licence.with_context(|| format!("{name} is linked: its licence has to be added to licences.rs"))?;
        let url = format!("pkg:deb/debian/{}@{}", name.replace('+', "%2B"), version.replace('+', "%2B"));
        Ok(Component { name: name.clone(), version: version.clone(), licence, url })
    }
}

/// The packages of Debian that have the libraries, each with the libraries in words.
fn packages(built: &Built) -> Result<BTreeMap<Origin, String>> {
    let mut packages: BTreeMap<Origin, Vec<String>> = BTreeMap::new();
    let own = target().canonicalize()?;
    let unpacked = built.packages.as_ref();
    let is_ours = |a: &&PathBuf| a.starts_with(&own) && !unpacked.is_some_and(|u| a.starts_with(&u.folder));
    for archive in built.archives.iter().filter(|a| !is_ours(a)) {
        let name = archive.file_stem().unwrap_or_default().display().to_string();
        packages.entry(Origin::of(archive, unpacked)?).or_default().push(name);
    }
    let in_words = |names: Vec<String>| match names.as_slice() {
        [one] => one.clone(),
        [first, .., last] => format!("{} libraries, {first} to {last}", names.len()),
        [] => String::new(),
    };
    Ok(packages.into_iter().map(|(package, names)| (package, in_words(names))).collect())
}

impl Collection {
    /// Adds a crate with the texts in its folder. If it has none, our copy of a text that its manifest names stands for
    /// it: of Apache 2.0, which needs no line about whose it is, or of MIT with the authors that the manifest names.
    fn add_crate(&mut self, package: &Package) -> Result<()> {
        let folder = package.manifest_path.parent().context("a manifest is in a folder")?;
        let mut files: Vec<PathBuf> = fs::read_dir(folder)?.flatten().map(|e| e.path()).collect();
        files.retain(|p| is_licence(p) && p.is_file());
        files.sort();
        let mut texts: Vec<String> = files.iter().flat_map(fs::read_to_string).collect();
        let licence = package.license.as_deref().unwrap_or("no licence");
        if texts.is_empty() && allows(licence, "Apache-2.0") {
            texts.push(fs::read_to_string(root().join("LICENSE-APACHE")).context("cannot read LICENSE-APACHE")?);
        } else if texts.is_empty() && allows(licence, "MIT") && !package.authors.is_empty() {
            let own = fs::read_to_string(root().join("LICENSE-MIT")).context("cannot read LICENSE-MIT")?;
            texts.extend(mit_of(&own, &package.authors.join(", ")));
        }
        self.add(format!("{} {} ({licence})", package.name, package.version), texts);
        let (name, version) = (package.name.to_string(), package.version.to_string());
        let url = format!("pkg:cargo/{name}@{}", version.replace('+', "%2B"));
        self.components.push(Component { name, version, licence: licence.to_owned(), url });
        Ok(())
    }

    fn add(&mut self, part: String, texts: Vec<String>) {
        if texts.is_empty() {
            self.missing.push(format!("{part} is linked in, and there is no text of its licence"));
        }
        for text in texts {
            // Texts that differ by line ends and by blanks there are one text.
            let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
            self.texts.entry(lines.join("\n").trim().to_owned()).or_default().insert(part.clone());
        }
        self.parts.push(part);
    }

    fn text(&self) -> String {
        let mut out = "What is linked into libcloom.so and cloom, beside Cloom itself:\n\n".to_owned();
        // Writing to a string cannot fail.
        for part in &self.parts {
            let _ = writeln!(out, "  {part}");
        }
        let _ = writeln!(out, "  the standard library of Rust (see rust-library.html)\n\nTheir licences:");
        for (text, parts) in &self.texts {
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            let _ = writeln!(out, "\n{}\n{}\n\n{text}", "-".repeat(80), parts.join("\n"));
        }
        out
    }
}

fn is_licence(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
    NAMES.iter().any(|n| name.starts_with(n))
}

/// Whether a licence is one of those that may be chosen.
fn allows(licence: &str, one: &str) -> bool {
    let one = Licensee::parse(one);
    let expression = Expression::parse_mode(licence, ParseMode::LAX);
    matches!((one, expression), (Ok(one), Ok(e)) if e.evaluate(|req| one.satisfies(req)))
}

/// The text of MIT for other authors.
fn mit_of(own: &str, authors: &str) -> Option<String> {
    let (_, terms) = own.split_once("Permission is hereby granted")?;
    Some(format!("MIT License\n\nCopyright (c) {authors}\n\nPermission is hereby granted{terms}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_there_once_and_missing_ones_are_named() {
        let mut all = Collection::default();
        all.add("a 1 (MIT)".into(), vec!["Text  \nof two\r\nlines\n".into()]);
        all.add("b 2 (MIT)".into(), vec!["Text\nof two\nlines".into()]);
        all.add("c 3 (MIT)".into(), Vec::new());
        let text = all.text();
        assert_eq!(text.matches("of two").count(), 1);
        assert!(text.contains("\na 1 (MIT)\nb 2 (MIT)\n\nText\n"), "{text}");
        assert_eq!(all.missing, ["c 3 (MIT) is linked in, and there is no text of its licence"]);
    }

    #[test]
    fn licences_are_told_by_names_and_choices() {
        assert!(is_licence(Path::new("x/LICENSE-MIT")) && is_licence(Path::new("x/license.txt")));
        assert!(!is_licence(Path::new("x/README.md")));
        let apache = |licence| allows(licence, "Apache-2.0");
        assert!(apache("MIT OR Apache-2.0") && apache("MIT/Apache-2.0"));
        assert!(!apache("MIT") && !apache("MIT AND Apache-2.0") && !apache("no licence"));
        let own = fs::read_to_string(root().join("LICENSE-MIT")).unwrap();
        let text = mit_of(&own, "A. N. Other").unwrap();
        assert!(
            text.contains("(c) A. N. Other\n") && !text.contains("Cloom") && text.contains("WITHOUT WARRANTY"),
            "{text}"
        );
    }
}
