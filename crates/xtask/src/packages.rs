//! The system packages that building and testing need, installed when missing.

use crate::tools::{must, output, succeeds};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Needed to build.
const BUILD: &[&str] = &["g++", "libgmp-dev", "libmpfr-dev", "llvm-19-dev", "libzstd-dev", "zlib1g-dev"];
/// Needed to run the demo and the tests: the ICD loader that applications use.
const RUN: &[&str] = &["ocl-icd-libopencl1"];

/// Other platforms, which the tests compare with where there are any.
const PEERS: &[&str] = &["pocl-opencl-icd"];

/// Installs other platforms if possible; the tests that need them report what they skipped.
pub fn offer_peers() {
    if let Err(e) = install(PEERS) {
        eprintln!("xtask: no kernels beside other platforms: {e:#}");
    }
}

/// Sees to it that all packages are there that building and testing need.
pub fn ensure() -> Result<()> {
    let all: Vec<&str> = BUILD.iter().chain(RUN).copied().collect();
    install(&all)
}

/// Which of these packages are not installed; none, as far as is known, if the system is not Debian.
pub fn missing<'a>(packages: &[&'a str]) -> Vec<&'a str> {
    let installed = |package: &&str| {
        let output = Command::new("dpkg-query").args(["-W", "-f", "${Status}", package]).stderr(Stdio::null()).output();
        output.is_ok_and(|o| o.stdout.starts_with(b"install ok installed"))
    };
    if !Path::new("/usr/bin/dpkg-query").exists() {
        return Vec::new();
    }
    packages.iter().copied().filter(|p| !installed(p)).collect()
}

/// Sees to it that packages are there. Does nothing if the system is not Debian: then their users report what is
/// missing.
pub fn install(packages: &[&str]) -> Result<()> {
    let missing = missing(packages);
    if missing.is_empty() {
        return Ok(());
    }
    let list = missing.join(" ");
    eprintln!("xtask: installing missing system packages: {list}");
    let advice = || format!("install them yourself: apt-get install {list}");
    // The lists of a fresh machine may be empty or old.
    let install: Vec<&str> = ["install", "-y", "--no-install-recommends"].into_iter().chain(missing.clone()).collect();
    apt(&["update"]).with_context(advice)?;
    if !apt(&install).with_context(advice)? {
        bail!("apt-get could not install the packages; {}", advice());
    }
    Ok(())
}

/// Runs `apt-get` with the rights that it needs; whether it succeeded.
fn apt(args: &[&str]) -> Result<bool> {
    let root = Command::new("id").arg("-u").output().is_ok_and(|o| o.stdout.trim_ascii() == b"0");
    let mut command = Command::new(if root { "apt-get" } else { "sudo" });
    if !root {
        command.arg("apt-get");
    }
    succeeds(command.env("DEBIAN_FRONTEND", "noninteractive").args(args).stdout(Stdio::null()))
}

/// Packages for another architecture, unpacked and not installed.
pub struct Unpacked {
    /// The root of what they have.
    pub folder: PathBuf,
    /// Each with its version and its files, which begin with `./`.
    packages: Vec<(String, String, Vec<String>)>,
}

impl Unpacked {
    /// Name and version of the package that has a file below the folder.
    pub fn owner(&self, file: &Path) -> Option<(&str, &str)> {
        let path = format!("./{}", file.strip_prefix(&self.folder).ok()?.display());
        let found = self.packages.iter().find(|(.., files)| files.contains(&path));
        found.map(|(name, version, _)| (name.as_str(), version.as_str()))
    }

    /// What `unpack` has written down.
    fn read(folder: &Path, list: &str) -> Option<Unpacked> {
        let text = std::fs::read_to_string(folder.join(UNPACKED)).ok()?;
        let mut parts = text.strip_prefix(list)?.strip_prefix("\n\n")?.split("\n\n").peekable();
        parts.peek()?;
        let packages = parts.map(|part| {
            let mut lines = part.lines();
            let (name, version) = lines.next()?.split_once(' ')?;
            Some((name.to_owned(), version.to_owned(), lines.map(str::to_owned).collect()))
        });
        Some(Unpacked { folder: folder.to_owned(), packages: packages.collect::<Option<_>>()? })
    }
}

/// The file that says what is in such a folder: the names that were asked for, and for each package a paragraph.
const UNPACKED: &str = "unpacked";

/// Unpacks packages for another architecture into a folder, unless it has them; the system stays as it is.
pub fn unpack(architecture: &str, packages: &[&str], folder: &Path) -> Result<Unpacked> {
    let list = packages.join(" ");
    std::fs::create_dir_all(folder)?;
    let folder = folder.canonicalize()?;
    if let Some(unpacked) = Unpacked::read(&folder, &list) {
        return Ok(unpacked);
    }
    eprintln!("xtask: unpacking packages for {architecture}: {list}");
    // For these calls alone; installed packages keep the machine's own architecture.
    let also = format!("APT::Architectures::={architecture}");
    if !apt(&["-o", &also, "update"])? {
        bail!("apt-get could not read the lists of {architecture}");
    }
    let names: Vec<String> = packages.iter().map(|name| format!("{name}:{architecture}")).collect();
    must(
        Command::new("apt-get").args(["-o", &also, "download"]).args(&names).current_dir(&folder).stdout(Stdio::null()),
    )?;
    let mut text = list.clone();
    for entry in std::fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "deb") {
            let ask = |args: &[&str]| output(Command::new("dpkg-deb").args(args).arg(&path));
            let names = ask(&["--show", "--showformat", "${Package} ${Version}"])?;
            let contents = ask(&["--contents"])?;
            // The sixth word; behind it, where a link leads.
            let files = contents.lines().filter_map(|line| line.split_whitespace().nth(5));
            text += &format!("\n\n{names}\n{}", files.collect::<Vec<_>>().join("\n"));
            must(Command::new("dpkg").arg("-x").arg(&path).arg(&folder))?;
            std::fs::remove_file(&path)?;
        }
    }
    std::fs::write(folder.join(UNPACKED), &text)?;
    Unpacked::read(&folder, &list).with_context(|| format!("no package was downloaded to {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_unpacked_packages_have_owners() {
        let dir = std::env::temp_dir().join(format!("cloom-xtask-unpacked-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let text = "a b\n\na 1.0-2\n./usr/\n./usr/a.so\n\nb 3\n./usr/b.a";
        std::fs::write(dir.join(UNPACKED), text).unwrap();
        let unpacked = Unpacked::read(&dir, "a b").unwrap();
        assert_eq!(unpacked.owner(&dir.join("usr/a.so")), Some(("a", "1.0-2")));
        assert_eq!(unpacked.owner(&dir.join("usr/b.a")), Some(("b", "3")));
        assert_eq!(unpacked.owner(&dir.join("usr/c.a")), None);
        assert_eq!(unpacked.owner(Path::new("/usr/a.so")), None);
        assert!(Unpacked::read(&dir, "a").is_none() && Unpacked::read(&dir, "a b c").is_none());
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
