//! The workspace as `cargo metadata` and the manifests describe it. In comes the root folder; out go the members with
//! their folders, manifests and source files, and the graph of every package that is built.

use super::tokens::{Token, tokens};
use crate::tools::triple;
use anyhow::{Context, Result};
use cargo_metadata::{Metadata, MetadataCommand, Package};
use std::fs;
use std::path::{Path, PathBuf};
use toml::Table;

/// A crate of the workspace.
pub struct Member {
    /// The name of its folder, which is its name without `cloom-`.
    pub name: String,
    /// Its folder.
    pub dir: PathBuf,
    /// Cargo's metadata of it.
    pub package: Package,
    /// Its manifest.
    pub manifest: Table,
    /// Its Rust files, sorted.
    pub files: Vec<SourceFile>,
}

/// A Rust file.
pub struct SourceFile {
    /// Its path below `crates/`, such as `ir/src/lib.rs`.
    pub shown: String,
    /// What is in it.
    pub text: String,
    /// Its tokens; the reason if it is not Rust.
    pub tokens: std::result::Result<Vec<Token>, String>,
}

impl SourceFile {
    /// Whether a path below `crates/` is one of tests: of a folder `tests`, or the file of a module `tests`.
    pub fn is_test(shown: &str) -> bool {
        shown.contains("/tests/") || shown.ends_with("/tests.rs")
    }

    /// A file with its text.
    pub fn new(shown: String, text: String) -> SourceFile {
        let tokens = tokens(&text);
        SourceFile { shown, text, tokens }
    }
}

/// All crates and all packages that they depend on.
pub struct Workspace {
    /// The folder of the workspace.
    pub root: PathBuf,
    /// The crates, sorted by name.
    pub members: Vec<Member>,
    /// The manifest of the workspace.
    pub manifest: Table,
    /// The packages of this platform, with the resolved graph.
    pub metadata: Metadata,
}

impl Workspace {
    /// Reads the workspace below `root`.
    pub fn load(root: &Path) -> Result<Workspace> {
        // Dependencies for other platforms are not downloaded, and not used.
        let metadata = MetadataCommand::new()
            .manifest_path(root.join("Cargo.toml"))
            .other_options(["--filter-platform".to_owned(), triple()])
            .exec()
            .context("cargo metadata failed; does `cargo fetch` work?")?;
        let mut members = Vec::new();
        for package in metadata.workspace_packages() {
            members.push(member(root, package)?);
        }
        members.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Workspace { root: root.to_owned(), members, manifest: manifest(&root.join("Cargo.toml"))?, metadata })
    }
}

fn member(root: &Path, package: &Package) -> Result<Member> {
    let path = package.manifest_path.as_std_path();
    let dir = path.parent().context("a manifest is in a folder")?.to_owned();
    let name = dir.file_name().and_then(|n| n.to_str()).unwrap_or_default().to_owned();
    let mut paths = Vec::new();
    collect(&dir, "rs", &mut paths)?;
    paths.sort();
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let shown = path.strip_prefix(root.join("crates")).unwrap_or(path).display().to_string();
        Ok(SourceFile::new(shown, text))
    };
    let files = paths.iter().map(read).collect::<Result<_>>()?;
    Ok(Member { name, manifest: manifest(path)?, dir, package: package.clone(), files })
}

fn manifest(path: &Path) -> Result<Table> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    text.parse().with_context(|| format!("{} is not valid TOML", path.display()))
}

/// Adds the files with an extension, below a folder, that are sources.
pub fn collect(dir: &Path, extension: &str, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(dir).with_context(|| format!("cannot list {}", dir.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
            if name != "target" && !name.starts_with('.') {
                collect(&path, extension, files)?;
            }
        } else if path.extension().is_some_and(|e| e == extension) {
            files.push(path);
        }
    }
    Ok(())
}
