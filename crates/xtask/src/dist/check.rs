//! `dist --check`: the packages where users install them. In: what was made. Out: what happened, line by line.
//!
//! The wheel goes into fresh environments of this machine's Python (`dist/wheel/check.sh`), also as `docs/ci.md` says
//! (`page.rs`). Then all goes into fresh
//! Debians of three versions, each a folder that `debootstrap` fills from the mirror of this machine; `dist/check.sh`
//! runs in it, in a namespace of its own, with root's rights. The packages that make up the systems are kept in
//! `target/dist-base`, those of Python in `target/dist-python`.

use super::licences::Texts;
use super::machine::Machine;
use super::tree::{Piece, template};
use super::venv::Venv;
use super::{Files, Form, Release, output, pack, page};
use crate::tools::{must, succeeds, target};
use crate::{Outcome, packages};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Mounts what programs expect, in a namespace that ends with the command. `$0` is the root.
const ENTER: &str = "mount --make-rprivate / && mount -t proc proc \"$0/proc\" && mount --rbind /dev \"$0/dev\" && \
                     mount -t sysfs -o ro sys \"$0/sys\" && \
                     exec chroot \"$0\" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
                     VERSION=\"$VERSION\" LIBRARY=\"$LIBRARY\" sh /check/check.sh";

/// A version of Debian.
struct Debian {
    name: &'static str,
    /// The version of its Python.
    python: &'static str,
}

/// The versions on which packages are tried: glibc 2.31, 2.36 and 2.41.
const DEBIANS: &[Debian] = &[
    Debian { name: "bullseye", python: "3.9" },
    Debian { name: "bookworm", python: "3.11" },
    Debian { name: "trixie", python: "3.13" },
];
/// The name of the check of the wheel on this machine.
const PYTHON: &str = "python";
/// The name of the check of the page about CI.
const CI: &str = "ci";
/// What wheels that are tried together may be made for. All of these Debians can use it.
const PLATFORMS: [&str; 3] = ["manylinux_2_28", "manylinux_2_27", "manylinux2014"];

/// The names of the checks that can be chosen.
pub fn places() -> Vec<&'static str> {
    let mut names = vec![PYTHON, CI];
    names.extend(DEBIANS.iter().map(|d| d.name));
    names
}

/// Writes all that is in a wheel, in its order, but for how it is compressed.
const READ_WHEEL: &str = "import sys, zipfile\n\
                          for i in zipfile.ZipFile(sys.argv[1]).infolist():\n    \
                          print(i.filename, i.date_time, i.external_attr, i.CRC, i.file_size)";

/// Checks the files that were made in a folder.
pub fn run(
    release: &Release,
    files: &Files,
    pieces: &[Piece],
    texts: &Texts,
    folder: &Path,
    places: &[String],
) -> Result<Outcome> {
    let chosen = |place: &str| places.is_empty() || places.iter().any(|p| p == place);
    let mut good = repeats(release, files, pieces, texts, folder)?;
    good &= lintian(&files.package)?;
    if chosen(PYTHON) {
        good &= wheel(release, &files.wheel, folder)?;
    }
    if chosen(CI) {
        good &= page::run(release, folder, &folder.join("ci"))?;
    }
    let root = output(Command::new("id").arg("-u"))?.trim() == "0";
    for debian in DEBIANS.iter().filter(|d| chosen(d.name)) {
        if root {
            good &= debian.check(release, files, folder)?;
        } else {
            println!("skipped: installing the packages in a fresh Debian {} needs root (chroot)", debian.name);
        }
    }
    Ok(Outcome::of(good))
}

/// The wheel in fresh environments of Python.
fn wheel(release: &Release, wheel: &Path, folder: &Path) -> Result<bool> {
    let work = folder.join("python");
    fs::create_dir_all(&work)?;
    fs::write(work.join("check.py"), template!("check.py"))?;
    fs::write(work.join("check.sh"), template!("wheel/check.sh"))?;
    let name = wheel.file_stem().unwrap_or_default().to_string_lossy();
    let good = succeeds(
        Command::new("sh")
            .arg(work.join("check.sh"))
            .env("WHEEL", wheel)
            .env("WORK", &work)
            .env("VERSION", &release.version)
            .env("TAG", name.rsplit('-').next().unwrap_or_default()),
    )?;
    if good {
        fs::remove_dir_all(&work).with_context(|| format!("cannot remove {}", work.display()))?;
        println!("xtask dist: the wheel installs, runs and goes away");
    } else {
        println!("xtask dist: FAILED; the environments of Python are in {}", work.display());
    }
    Ok(good)
}

impl Debian {
    /// All files in a fresh system.
    fn check(&self, release: &Release, files: &Files, folder: &Path) -> Result<bool> {
        let root = folder.join(format!("{}-root", self.name));
        self.make_root(&root)?;
        let check = root.join("check");
        fs::create_dir(&check).context("cannot make the folder of the test")?;
        fs::copy(&files.package, check.join("cloom.deb"))?;
        fs::copy(&files.tarball, check.join("cloom.tar.xz"))?;
        fs::copy(&files.container, check.join("Containerfile"))?;
        fs::write(check.join("check.sh"), template!("check.sh"))?;
        fs::write(check.join("check.py"), template!("check.py"))?;
        self.wheels(release.machine, &files.wheel, &check.join("wheels"))?;
        let good = succeeds(
            Command::new("unshare")
                .args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER])
                .arg(&root)
                .env("VERSION", &release.version)
                .env("LIBRARY", format!("libcloom.so.{}", release.major()))
                .env("HOST_NAME", self.name),
        )?;
        if good {
            fs::remove_dir_all(&root).with_context(|| format!("cannot remove {}", root.display()))?;
            println!("xtask dist: the packages install, run and go away on Debian {}", self.name);
        } else {
            println!("xtask dist: FAILED; the Debian that was used is {}", root.display());
        }
        Ok(good)
    }

    /// The wheel, and those that it is tried with for the system's Python. The system itself needs no way to PyPI.
    fn wheels(&self, machine: Machine, wheel: &Path, folder: &Path) -> Result<()> {
        let venv = Venv::new("pip")?;
        let kept = target().join("dist-python").join(self.name);
        let mut words = vec!["download", "--only-binary", ":all:", "--python-version", self.python];
        let platforms = PLATFORMS.map(|platform| format!("{platform}_{}", machine.arch()));
        for platform in &platforms {
            words.extend(["--platform", platform]);
        }
        let kept = kept.display().to_string();
        words.extend(["--dest", &kept, "pyopencl", "numpy"]);
        venv.pip(&words)?;
        fs::create_dir(folder)?;
        for entry in fs::read_dir(kept)? {
            let path = entry?.path();
            fs::copy(&path, folder.join(path.file_name().unwrap_or_default()))?;
        }
        fs::copy(wheel, folder.join(wheel.file_name().unwrap_or_default()))?;
        Ok(())
    }
}

/// Whether the same pieces make the same packages again, but for compression, which depends on nothing else.
fn repeats(release: &Release, files: &Files, pieces: &[Piece], texts: &Texts, folder: &Path) -> Result<bool> {
    let again = folder.join("again");
    fs::create_dir_all(&again)?;
    let made = pack(release, pieces, texts, &again, Form::Plain)?;
    let mut good = true;
    // The tar files in both: of the tarball, and of the package's files and its control files.
    let readers: [(&Path, &Path, &[&str]); 4] = [
        (&files.tarball, &made.tarball, &["xz", "--decompress", "--stdout", "--force"]),
        (&files.package, &made.package, &["dpkg-deb", "--fsys-tarfile"]),
        (&files.package, &made.package, &["dpkg-deb", "--ctrl-tarfile"]),
        (&files.wheel, &made.wheel, &["python3", "-c", READ_WHEEL]),
    ];
    for (first, second, reader) in readers {
        let read = |path: &Path| {
            let output = Command::new(reader[0]).args(&reader[1..]).arg(path).output();
            let output = output.with_context(|| format!("cannot run {}", reader[0]))?;
            ensure!(
                output.status.success() && !output.stdout.is_empty(),
                "{} cannot read {}",
                reader[0],
                path.display()
            );
            Ok(output.stdout)
        };
        let name = first.file_name().unwrap_or_default().display();
        if read(first)? == read(second)? {
            println!("ok: {name} is the same when it is made again ({})", reader[0]);
        } else {
            println!("WRONG: {name} differs when it is made again ({})", reader[0]);
            good = false;
        }
    }
    fs::remove_dir_all(&again)?;
    Ok(good)
}

/// Debian's checks of packages, where they can be installed.
fn lintian(package: &Path) -> Result<bool> {
    if let Err(e) = packages::install(&["lintian"]) {
        println!("skipped: lintian: {e:#}");
        return Ok(true);
    }
    let good = succeeds(
        Command::new("lintian")
            .args(["--allow-root", "--fail-on=error,warning", "--tag-display-limit=0"])
            .args(["--suppress-tags", "bad-distribution-in-changes-file"])
            .arg(package),
    )?;
    println!("{}: lintian", if good { "ok" } else { "WRONG" });
    Ok(good)
}

impl Debian {
    /// A fresh system, in a folder that does not exist.
    fn make_root(&self, root: &Path) -> Result<()> {
        packages::install(&["debootstrap"])?;
        let name = self.name;
        let mirror = mirror()?;
        println!("xtask: a fresh Debian {name} from {mirror}");
        let kept = target().join("dist-base");
        fs::create_dir_all(&kept)?;
        let kept = kept.canonicalize()?.join(format!("{name}.tar"));
        let debootstrap = |args: &[&str]| {
            let mut command = Command::new("debootstrap");
            command
                .arg("--variant=minbase")
                .args(args)
                .arg(name)
                .arg(root)
                .arg(&mirror)
                .stdout(std::process::Stdio::null());
            must(&mut command)
        };
        if !kept.is_file() {
            debootstrap(&[&format!("--make-tarball={}", kept.display())])?;
        }
        if let Err(e) = debootstrap(&[&format!("--unpack-tarball={}", kept.display())]) {
            // The packages that were kept may have been replaced on the mirror since.
            fs::remove_file(&kept)?;
            return Err(e.context("the kept packages are removed; try again"));
        }
        Ok(())
    }
}

/// The mirror from which this machine takes packages; it has the other versions as well.
fn mirror() -> Result<String> {
    let release = fs::read_to_string("/etc/os-release").context("cannot read /etc/os-release")?;
    let name = release.lines().find_map(|l| l.strip_prefix("VERSION_CODENAME="));
    let name = name.context("/etc/os-release names no version of Debian")?;
    let list = output(Command::new("apt-get").args([
        "indextargets",
        "--format",
        "$(CODENAME) $(REPO_URI)",
        "Created-By: Packages",
    ]))?;
    let found = list.lines().find_map(|l| l.strip_prefix(&format!("{name} ")));
    let found = found.with_context(|| format!("apt has no mirror of Debian {name}"))?;
    ensure!(found.starts_with("http"), "the mirror {found} is not on the network");
    Ok(found.to_owned())
}
