//! `dist`: what users get. In: the workspace. Out, in `target/dist`: a tarball with an install script, a Debian
//! package, a wheel for Python, a file for containers, and the checksums of all. `--check` installs each in fresh
//! systems, uses it and removes it again; `--try` does so with what was made before. `--machine aarch64` makes them for
//! Arm on any machine; what is there for the other kind of machine stays, so that the checksums are of both.
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

use crate::outcome::Outcome;
use crate::packages;
use crate::tools::{must, output, root, target};
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

/// What to do.
#[derive(Debug, PartialEq, Eq)]
enum Work<'a> {
    /// Make everything.
    Make,
    /// And check it in these places, or in all.
    Check(&'a [String]),
    /// Check what was made before.
    Try(&'a [String]),
}

/// The arguments: for which machine, and what to do.
fn parse(args: &[String]) -> Result<(Machine, Work<'_>)> {
    let (machine, rest) = match args {
        [word, name, rest @ ..] if word == "--machine" => (Machine::named(name)?, rest),
        _ => (Machine::host()?, args),
    };
    let known = check::places(machine);
    let (work, places) = match rest {
        [] => (Work::Make, rest),
        [word, places @ ..] if word == "--check" => (Work::Check(places), places),
        [word, places @ ..] if word == "--try" => (Work::Try(places), places),
        _ => bail!(
            "usage: cargo xtask dist [--machine NAME] [--check [PLACE…] | --try [PLACE…]], where a place is one of {}",
            known.join(", ")
        ),
    };
    for place in places {
        ensure!(known.contains(&place.as_str()), "{place} is none of {}", known.join(", "));
    }
    Ok((machine, work))
}

/// Makes everything, and checks it if that is asked for.
pub fn run(args: &[String]) -> Result<Outcome> {
    let (machine, work) = parse(args)?;
    ensure!(Path::new("/usr/bin/dpkg-deb").exists(), "dist needs Debian's tools: dpkg-deb is missing");
    packages::ensure()?;
    packages::install(TOOLS)?;
    let release = Release::of_this(machine)?;
    if let Work::Try(places) = work {
        let folder = target().join("dist").canonicalize().context("nothing was made: run `cargo xtask dist` first")?;
        return check::places_of_users(&release, &Files::of(&release, &folder), &folder, places).map(Outcome::of);
    }
    let built = build::build(release.machine)?;
    let (texts, missing) = licences::collect(&built)?;
    for line in &missing {
        println!("{line}");
    }
    let folder = target().join("dist");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let folder = folder.canonicalize()?;
    let others = empty(&release, &folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    let pieces = tree::pieces(&release, &built, &texts, &folder.join("made"))?;
    let files = pack(&release, &pieces, &texts, &folder, Form::Compressed)?;
    write_sums(&folder, files.all().into_iter().chain(others.iter().map(PathBuf::as_path)))?;
    println!("made in {}:", folder.display());
    for path in files.all() {
        println!("  {:>6.1} MB  {}", megabytes(path)?, path.file_name().unwrap_or_default().display());
    }
    println!("with");
    for piece in pieces.iter().filter(|p| p.size() > 1 << 20) {
        println!("  {:>6.1} MB  {}", piece.size() as f64 / 1e6, piece.path);
    }
    // Without all licences the files may not be given to anyone: no check makes them fit for that.
    if !missing.is_empty() {
        return Ok(Outcome::Findings);
    }
    match work {
        Work::Check(places) => {
            let mut good = check::repeats(&release, &files, &pieces, &texts, &folder)?;
            good &= check::places_of_users(&release, &files, &folder, places)?;
            Ok(Outcome::of(good))
        }
        _ => Ok(Outcome::Fine),
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
    /// Their names in a folder.
    fn of(release: &Release, folder: &Path) -> Files {
        Files {
            tarball: folder.join(format!("{}.tar.xz", tarball::name(release))),
            package: folder.join(format!("cloom_{}-1_{}.deb", release.version, release.machine.debian())),
            wheel: folder.join(format!("cloom-{}-{}.whl", release.version, wheel::tag(release))),
            container: folder.join("Containerfile"),
        }
    }

    fn all(&self) -> [&Path; 4] {
        [&self.tarball, &self.package, &self.wheel, &self.container]
    }
}

/// Makes them in a folder.
fn pack(release: &Release, pieces: &[Piece], texts: &Texts, folder: &Path, form: Form) -> Result<Files> {
    let files = Files::of(release, folder);
    fs::write(&files.container, release.fill(template!("Containerfile"))).context("cannot write Containerfile")?;
    tarball::make(release, pieces, &files.tarball, form)?;
    deb::make(release, pieces, &files.package, form)?;
    wheel::make(release, pieces, texts, &files.wheel, form)?;
    Ok(files)
}

/// Removes what is in the folder, but for the files of this release for other machines, and returns those.
fn empty(release: &Release, folder: &Path) -> Result<Vec<PathBuf>> {
    let mut kept = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is = |machine: &Machine| name.contains(machine.arch()) || name.contains(machine.debian());
        let is_other = Machine::ALL.iter().any(|m| *m != release.machine && is(m));
        let is_release = ["cloom-", "cloom_"].iter().any(|p| name.starts_with(&format!("{p}{}-", release.version)));
        if is_release && is_other && path.is_file() {
            kept.push(path);
        } else if path.is_dir() {
            fs::remove_dir_all(path)?;
        } else {
            fs::remove_file(path)?;
        }
    }
    kept.sort();
    Ok(kept)
}

/// Writes `SHA256SUMS`, in the form that `sha256sum --check` reads.
fn write_sums<'a>(folder: &Path, files: impl Iterator<Item = &'a Path>) -> Result<()> {
    let names = files.filter_map(|f| f.file_name());
    let sums = output(Command::new("sha256sum").args(names).current_dir(folder))?;
    fs::write(folder.join("SHA256SUMS"), sums).context("cannot write SHA256SUMS")
}

fn megabytes(path: &Path) -> Result<f64> {
    let meta = fs::metadata(path).with_context(|| format!("{} was not made", path.display()))?;
    Ok(meta.len() as f64 / 1e6)
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
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for line in ["--fast", "--machine", "--machine riscv64", "--check sid", "--machine aarch64 --check python"] {
            assert!(parse(&words(line)).is_err(), "{line}");
        }
        let args = words("--machine aarch64 --check bookworm");
        assert_eq!(parse(&args).unwrap(), (Machine::Arm, Work::Check(&args[3..])));
        assert_eq!(parse(&words("--try")).unwrap(), (Machine::host().unwrap(), Work::Try(&[])));
        assert_eq!(parse(&[]).unwrap(), (Machine::host().unwrap(), Work::Make));
    }

    #[test]
    fn files_of_another_machine_stay() {
        let dir = std::env::temp_dir().join(format!("cloom-xtask-dist-{}", std::process::id()));
        fs::create_dir_all(dir.join("made")).unwrap();
        let names = [
            "SHA256SUMS",
            "cloom-1.0.0-aarch64-linux.tar.xz",
            "cloom-1.0.0-x86_64-linux.tar.xz",
            "cloom_0.9.0-1_arm64.deb",
            "cloom_1.0.0-1_arm64.deb",
        ];
        names.iter().for_each(|name| fs::write(dir.join(name), "").unwrap());
        let release = Release { version: "1.0.0".to_owned(), epoch: 0, machine: Machine::X86 };
        assert_eq!(empty(&release, &dir).unwrap(), [dir.join(names[1]), dir.join(names[4])]);
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 2);
        fs::remove_dir_all(&dir).unwrap();
    }
}
