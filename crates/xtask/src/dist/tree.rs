//! The files that users get and where they go below the prefix. In: what was built and the licences. Out: a list of
//! pieces, from which each kind of package makes its own tree.

use super::build::Built;
use super::licences::Texts;
use super::machine::Machine;
use super::{Release, stubs};
use crate::tools::{must, output, root};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file or a link.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Its path below the prefix.
    pub path: String,
    /// What is there.
    pub content: Content,
}

/// What is in a piece.
#[derive(Clone, Debug)]
pub enum Content {
    /// The file at that path, as a program.
    Program(PathBuf),
    /// The file at that path.
    File(PathBuf),
    /// A text.
    Text(String),
    /// A link to another name in the same folder.
    Link(String),
}

impl Piece {
    pub fn new(path: impl Into<String>, content: Content) -> Piece {
        Piece { path: path.into(), content }
    }

    /// Its bytes.
    pub fn size(&self) -> u64 {
        match &self.content {
            Content::Program(path) | Content::File(path) => fs::metadata(path).map_or(0, |m| m.len()),
            Content::Text(text) => text.len() as u64,
            Content::Link(_) => 0,
        }
    }

    /// Writes it below a folder.
    pub fn place(&self, folder: &Path) -> Result<()> {
        let path = folder.join(&self.path);
        let wrong = || format!("cannot write {}", path.display());
        fs::create_dir_all(path.parent().unwrap_or(folder)).with_context(wrong)?;
        let mode = match &self.content {
            Content::Link(to) => return symlink(to, &path).with_context(wrong),
            Content::Program(from) => fs::copy(from, &path).map(|_| 0o755),
            Content::File(from) => fs::copy(from, &path).map(|_| 0o644),
            Content::Text(text) => fs::write(&path, text).map(|()| 0o644),
        };
        let mode = mode.with_context(wrong)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).with_context(wrong)
    }
}

/// A text of the folder `dist`.
macro_rules! template {
    ($name:literal) => {
        include_str!(concat!("../../dist/", $name))
    };
}
pub(super) use template;

/// All pieces; what has to be made for them goes to the folder `made`.
pub fn pieces(release: &Release, built: &Built, texts: &Texts, made: &Path) -> Result<Vec<Piece>> {
    fs::create_dir_all(made).with_context(|| format!("cannot make {}", made.display()))?;
    let Built { library, program, .. } = built;
    check_library(library, release)?;
    for file in [library, program] {
        check_versions(file)?;
    }
    let versioned = format!("libcloom.so.{}", release.version);
    let with_major = format!("libcloom.so.{}", release.major());
    let mut pieces = vec![
        Piece::new("bin/cloom", Content::Program(program.clone())),
        Piece::new(format!("lib/cloom/{versioned}"), Content::File(library.clone())),
        Piece::new(format!("lib/cloom/{with_major}"), Content::Link(versioned)),
        Piece::new("lib/cloom/libcloom.so", Content::Link(with_major)),
        Piece::new("share/doc/cloom/CHANGELOG.md", Content::File(root().join("CHANGELOG.md"))),
        Piece::new("share/doc/cloom/LICENSE-APACHE", Content::File(root().join("LICENSE-APACHE"))),
        Piece::new("share/doc/cloom/LICENSE-MIT", Content::File(root().join("LICENSE-MIT"))),
        Piece::new("share/doc/cloom/third-party.txt", Content::Text(texts.third_party.clone())),
        Piece::new("share/doc/cloom/cloom.cdx.json", Content::Text(texts.bill.clone())),
        Piece::new("share/doc/cloom/rust-library.html", Content::File(texts.rust_library.clone())),
    ];
    let completions = [
        ("bash", "share/bash-completion/completions/cloom"),
        ("zsh", "share/zsh/site-functions/_cloom"),
        ("fish", "share/fish/vendor_completions.d/cloom.fish"),
    ];
    for (shell, path) in completions {
        let script = output(release.machine.run(program).args(["completions", shell]))?;
        pieces.push(Piece::new(path, Content::Text(script)));
    }
    pieces.extend(manual(release.machine, program, made)?);
    Ok(pieces)
}

/// The manual pages.
fn manual(machine: Machine, program: &Path, made: &Path) -> Result<Vec<Piece>> {
    let folder = made.join("man");
    fs::create_dir_all(&folder)?;
    must(machine.run(program).arg("man").arg(&folder))?;
    let mut names = fs::read_dir(&folder)?.map(|e| Ok(e?.file_name())).collect::<Result<Vec<_>>>()?;
    names.sort();
    ensure!(names.iter().any(|n| n == "cloom.1"), "`cloom man` wrote no page of the program");
    let piece = |name: std::ffi::OsString| {
        let path = folder.join(&name);
        must(Command::new("gzip").args(["-9", "--no-name"]).arg(&path))?;
        let name = format!("{}.gz", name.display());
        Ok(Piece::new(format!("share/man/man1/{name}"), Content::File(folder.join(&name))))
    };
    names.into_iter().map(piece).collect()
}

/// Looks at what only the finished library shows: its name, and that no path of this machine is in it.
fn check_library(library: &Path, release: &Release) -> Result<()> {
    let dynamic = output(Command::new("readelf").args(["-dW"]).arg(library))?;
    let name = format!("Library soname: [libcloom.so.{}]", release.major());
    ensure!(dynamic.contains(&name), "the library has another name than {name}");
    let bytes = fs::read(library)?;
    let own = root().display().to_string();
    let found = bytes.windows(own.len()).any(|w| w == own.as_bytes());
    ensure!(!found, "{own} stands in the library: it would not be the same where the sources are elsewhere");
    Ok(())
}

/// Sees to it that a file asks for no newer C library than users have, and for no C++ library.
fn check_versions(file: &Path) -> Result<()> {
    let needs = output(Command::new("readelf").args(["--version-info", "--wide"]).arg(file))?;
    let newer: Vec<&str> = too_new(&needs, stubs::GLIBC);
    ensure!(newer.is_empty(), "{} needs {}, which not all users have", file.display(), newer.join(", "));
    Ok(())
}

/// The versions that `readelf` lists and machines with that C library have not.
fn too_new<'a>(needs: &'a str, glibc: &str) -> Vec<&'a str> {
    // What is no number, as in `GLIBC_PRIVATE`, counts as newer than all.
    let numbers = |version: &str| version.split('.').map(|n| n.parse().unwrap_or(u32::MAX)).collect::<Vec<_>>();
    let names = needs.lines().filter_map(|line| line.split("Name: ").nth(1)?.split_whitespace().next());
    let is_new = |name: &&str| match name.strip_prefix("GLIBC_") {
        Some(version) => numbers(version) > numbers(glibc),
        None => name.starts_with("GLIBCXX_") || name.starts_with("CXXABI_"),
    };
    let mut newer: Vec<&str> = names.filter(is_new).collect();
    newer.sort_unstable();
    newer.dedup();
    newer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_that_users_may_not_have_are_found() {
        let line = |name: &str| format!("  0x0010:   Name: {name}  Flags: none  Version: 5\n");
        let list = |names: &[&str]| names.iter().map(|n| line(n)).collect::<String>();
        assert!(too_new(&list(&["GLIBC_2.2.5", "GLIBC_2.28", "GCC_4.2.0"]), "2.28").is_empty());
        let needs = list(&["GLIBC_2.29", "GLIBC_ABI_DT_RELR", "GLIBCXX_3.4.29", "GLIBC_2.3", "GLIBC_2.29"]);
        assert_eq!(too_new(&needs, "2.28"), ["GLIBCXX_3.4.29", "GLIBC_2.29", "GLIBC_ABI_DT_RELR"]);
    }

    #[test]
    fn pieces_are_placed_with_their_modes() {
        let dir = std::env::temp_dir().join(format!("cloom-xtask-tree-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        Piece::new("a/b.txt", Content::Text("text".into())).place(&dir).unwrap();
        Piece::new("a/c", Content::Program(dir.join("a/b.txt"))).place(&dir).unwrap();
        Piece::new("a/d", Content::Link("c".into())).place(&dir).unwrap();
        let mode = |name: &str| fs::metadata(dir.join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("a/b.txt"), mode("a/c")), (0o644, 0o755));
        assert_eq!(fs::read_to_string(dir.join("a/d")).unwrap(), "text");
        assert_eq!(Piece::new("x", Content::Text("four".into())).size(), 4);
        fs::remove_dir_all(&dir).unwrap();
    }
}
