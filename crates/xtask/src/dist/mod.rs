//! `dist`: what users get. In: the workspace. Out, in `target/dist`: a tarball with an install script, a Debian
//! package, a wheel for Python, a file for containers, and the checksums of all. `--check` installs each in fresh
//! systems, uses it and removes it again.
//!
//! The same sources make the same files: times are `SOURCE_DATE_EPOCH`, which is the time of the last commit if it is
//! not set, owners are root, entries are sorted, and no path of this machine is in the programs.

mod bill;
mod build;
mod check;
mod deb;
mod licences;
mod machine;
mod page;
mod stubs;
mod tarball;
mod tree;
mod venv;
mod wheel;

use crate::tools::{must, root, target};
use crate::{Outcome, packages};
use anyhow::{Context, Result, bail, ensure};
use licences::Texts;
use machine::Machine;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tree::{Piece, template};

/// Packages whose programs are used here, beside those for building.
const TOOLS: &[&str] = &["dpkg-dev", "xz-utils"];

/// What all files say of themselves.
pub struct Release {
    /// The version of the workspace.
    pub version: String,
    /// Seconds since 1970: the time that everything has.
    pub epoch: u64,
    /// For which machines.
    pub machine: Machine,
}

impl Release {
    fn of_this(machine: Machine) -> Result<Release> {
        let epoch = match std::env::var("SOURCE_DATE_EPOCH") {
            Ok(text) => text,
            Err(_) => output(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(root()))
                .context("no time of the last commit: set SOURCE_DATE_EPOCH to seconds since 1970")?,
        };
        let epoch = epoch.trim().parse().with_context(|| format!("SOURCE_DATE_EPOCH is no number: {epoch}"))?;
        Ok(Release { version: env!("CARGO_PKG_VERSION").to_owned(), epoch, machine })
    }

    /// The first number of the version, which is that of the library's interface.
    fn major(&self) -> &str {
        self.version.split('.').next().unwrap_or_default()
    }

    /// The template with the values of this release in place of their names.
    fn fill(&self, template: &str) -> String {
        template.replace("@VERSION@", &self.version).replace("@MAJOR@", self.major())
    }
}

/// Makes everything, and checks it if that is asked for.
pub fn run(args: &[String]) -> Result<Outcome> {
    let places = match args {
        [] => None,
        [word, places @ ..] if word == "--check" => Some(places),
        _ => {
            bail!("usage: cargo xtask dist [--check [PLACE…]], where a place is one of {}", check::places().join(", "))
        }
    };
    for place in places.unwrap_or_default() {
        ensure!(check::places().contains(&place.as_str()), "{place} is none of {}", check::places().join(", "));
    }
    ensure!(Path::new("/usr/bin/dpkg-deb").exists(), "dist needs Debian's tools: dpkg-deb is missing");
    packages::ensure()?;
    packages::install(TOOLS)?;
    let release = Release::of_this(Machine::host()?)?;
    let built = build::build(release.machine)?;
    let (texts, missing) = licences::collect(&built)?;
    for line in &missing {
        println!("{line}");
    }
    let folder = target().join("dist");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let folder = folder.canonicalize()?;
    let pieces = tree::pieces(&release, &built, &texts, &folder.join("made"))?;
    let files = pack(&release, &pieces, &texts, &folder, Form::Compressed)?;
    write_sums(&folder, &files)?;
    println!("made in {}:", folder.display());
    for path in files.all() {
        println!("  {:>6.1} MB  {}", megabytes(path)?, path.file_name().unwrap_or_default().display());
    }
    println!("with");
    for piece in pieces.iter().filter(|p| p.size() > 1 << 20) {
        println!("  {:>6.1} MB  {}", piece.size() as f64 / 1e6, piece.path);
    }
    if !missing.is_empty() {
        return Ok(Outcome::Findings);
    }
    match places {
        Some(places) => check::run(&release, &files, &pieces, &texts, &folder, places),
        None => Ok(Outcome::Fine),
    }
}

/// How packages are stored. Compressing takes minutes; what was packed can be compared without.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As users get them.
    Compressed,
    /// The same without compression.
    Plain,
}

/// The files that are made of the same pieces.
pub struct Files {
    /// For any Linux.
    pub tarball: PathBuf,
    /// For Debian and its like.
    pub package: PathBuf,
    /// For Python.
    pub wheel: PathBuf,
    /// What an image of a container with the package is built from.
    pub container: PathBuf,
}

impl Files {
    fn all(&self) -> [&Path; 4] {
        [&self.tarball, &self.package, &self.wheel, &self.container]
    }
}

/// Makes them in a folder.
fn pack(release: &Release, pieces: &[Piece], texts: &Texts, folder: &Path, form: Form) -> Result<Files> {
    let container = folder.join("Containerfile");
    let text = release.fill(template!("Containerfile")).replace("@DEBIAN@", release.machine.debian());
    fs::write(&container, text).context("cannot write Containerfile")?;
    Ok(Files {
        container,
        tarball: tarball::make(release, pieces, folder, form)?,
        package: deb::make(release, pieces, folder, form)?,
        wheel: wheel::make(release, pieces, texts, folder, form)?,
    })
}

/// Writes `SHA256SUMS`, in the form that `sha256sum --check` reads.
fn write_sums(folder: &Path, files: &Files) -> Result<()> {
    let names = files.all().into_iter().filter_map(|f| f.file_name());
    let sums = output(Command::new("sha256sum").args(names).current_dir(folder))?;
    fs::write(folder.join("SHA256SUMS"), sums).context("cannot write SHA256SUMS")
}

fn megabytes(path: &Path) -> Result<f64> {
    let meta = fs::metadata(path).with_context(|| format!("{} was not made", path.display()))?;
    Ok(meta.len() as f64 / 1e6)
}

/// What a command that must succeed writes.
fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {:?}", command.get_program()))?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{:?} failed: {}", command.get_program(), error.trim_end());
    String::from_utf8(output.stdout).with_context(|| format!("{:?} writes no text", command.get_program()))
}

/// Runs `tar` over a folder, so that the result depends on names, modes and contents alone.
fn tar(folder: &Path, entries: &[&str], archive: &Path, release: &Release, form: Form) -> Result<()> {
    must(
        Command::new("tar")
            .args((form == Form::Compressed).then_some("--xz"))
            .args(["--create", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--format=gnu"])
            .arg(format!("--mtime=@{}", release.epoch))
            .arg("--file")
            .arg(archive)
            .arg("--directory")
            .arg(folder)
            .args(entries)
            // One thread: with several, the result depends on their number. The dictionary holds both programs, which
            // have LLVM in common.
            .env("XZ_OPT", "--threads=1 --lzma2=preset=6,dict=64MiB"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled() {
        let release = Release { version: "3.1.4".to_owned(), epoch: 0, machine: Machine::X86 };
        assert_eq!(release.fill("lib.so.@MAJOR@ is @VERSION@"), "lib.so.3 is 3.1.4");
    }

    #[test]
    fn unknown_words_are_refused() {
        assert!(run(&["--fast".to_owned()]).is_err());
    }
}
