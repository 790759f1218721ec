//! `dist --check`: the packages where users install them. In: what was made. Out: what happened, line by line.
//!
//! The wheel goes into fresh environments of this machine's Python (`dist/wheel/check.sh`), also as `docs/ci.md` says
//! (`page.rs`). Then all goes into fresh Debians of three versions, each a folder that `debootstrap` fills from the
//! mirror of this machine; `dist/check.sh` runs in it, in a namespace of its own, with root's rights. Systems for
//! another kind of machine run under an emulator. The packages that make up the systems are kept in
//! `target/dist-base`, those of Python in `target/dist-python`.

use super::licences::Texts;
use super::machine::Machine;
use super::page::{self, Place};
use super::tree::{Piece, template};
use super::venv::Venv;
use super::{Files, Form, Release, pack};
use crate::tools::{must, output, succeeds, target};
use crate::{aarch64, packages};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Mounts what programs expect, in a namespace that ends with the command. `$0` is the root; the rest are variables
/// and a command.
const ENTER: &str = "mount --make-rprivate / && mount -t proc proc \"$0/proc\" && mount --rbind /dev \"$0/dev\" && \
                     mount -t sysfs -o ro sys \"$0/sys\" && exec chroot \"$0\" env -i \
                     PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \"$@\"";

/// A command in a root that sees nothing else; its arguments are variables and a command.
pub fn enter(root: &Path) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER]).arg(root);
    command
}

/// A version of Debian.
struct Debian {
    name: &'static str,
    /// The version of its Python.
    python: &'static str,
    /// Whether PyPI has PyOpenCL for that Python on Arm.
    pyopencl_on_arm: bool,
}

/// The versions on which packages are tried: glibc 2.31, 2.36 and 2.41.
const DEBIANS: &[Debian] = &[
    Debian { name: "bullseye", python: "3.9", pyopencl_on_arm: false },
    Debian { name: "bookworm", python: "3.11", pyopencl_on_arm: true },
    Debian { name: "trixie", python: "3.13", pyopencl_on_arm: true },
];
/// The name of the check of the wheel on this machine.
const PYTHON: &str = "python";
/// The name of the check of the page about CI.
const CI: &str = "ci";
/// The name of the check of the image of a container.
const CONTAINER: &str = "container";
/// What wheels that are tried together may be made for. All of these Debians can use it.
const PLATFORMS: [&str; 3] = ["manylinux_2_28", "manylinux_2_27", "manylinux2014"];

/// The names of the checks that can be chosen. Python here is that of this machine.
pub fn places(machine: Machine) -> Vec<&'static str> {
    let mut names = if machine.is_host() { vec![PYTHON, CI, CONTAINER] } else { Vec::new() };
    names.extend(DEBIANS.iter().map(|d| d.name));
    names
}

/// Writes all that is in a wheel, in its order, but for how it is compressed.
const READ_WHEEL: &str = "import sys, zipfile\n\
                          for i in zipfile.ZipFile(sys.argv[1]).infolist():\n    \
                          print(i.filename, i.date_time, i.external_attr, i.CRC, i.file_size)";

/// Checks the files that were made in a folder where users have them; whether all is well.
pub fn places_of_users(release: &Release, files: &Files, folder: &Path, places: &[String]) -> Result<bool> {
    let known = self::places(release.machine);
    let chosen = |place: &str| known.contains(&place) && (places.is_empty() || places.iter().any(|p| p == place));
    let mut good = lintian(&files.package)?;
    if chosen(PYTHON) {
        good &= wheel(release, &files.wheel, folder)?;
    }
    let root = output(Command::new("id").arg("-u"))?.trim() == "0";
    if chosen(CI) {
        let place = if root { Place::Root(of_jobs(folder, &files.wheel)?) } else { Place::Here(folder.join("ci")) };
        good &= page::run(release, &files.wheel, &place)?;
    }
    if chosen(CONTAINER) {
        if root {
            good &= container(release, files, folder)?;
        } else {
            println!("skipped: the image of a container needs root (debootstrap)");
        }
    }
    for debian in DEBIANS.iter().filter(|d| chosen(d.name)) {
        if !root {
            println!("skipped: installing the packages in a fresh Debian {} needs root (chroot)", debian.name);
        } else if !release.machine.is_host() && !aarch64::programs_run()? {
            println!(
                "skipped: Debian {} for {} needs binfmt_misc of the kernel",
                debian.name,
                release.machine.debian()
            );
        } else {
            good &= debian.check(release, files, folder)?;
        }
    }
    Ok(good)
}

/// The Debian with that name.
fn debian(name: &str) -> Result<&'static Debian> {
    DEBIANS.iter().find(|d| d.name == name).with_context(|| format!("Debian {name} is not known"))
}

/// Builds the image of the `Containerfile` and uses it. What it begins with is made of the mirror's packages under the
/// name that the file gives it, so that no registry of images is asked.
fn container(release: &Release, files: &Files, folder: &Path) -> Result<bool> {
    const BASE: &str = "docker.io/library/debian:12-slim";
    // A tool that cannot be had is no fault of the packages.
    if let Err(e) = packages::install(&["buildah"]) {
        println!("skipped: the image of a container: {e:#}");
        return Ok(true);
    }
    let work = folder.join("container");
    let context = work.join("context");
    fs::create_dir_all(&context).with_context(|| format!("cannot make {}", context.display()))?;
    for file in [&files.package, &files.container] {
        fs::copy(file, context.join(file.file_name().unwrap_or_default()))?;
    }
    let root = work.join("root");
    debian("bookworm")?.make_root(release.machine, &root)?;
    let buildah = |words: &[&str]| {
        let mut command = Command::new("buildah");
        command.arg("--root").arg(work.join("store")).arg("--runroot").arg(work.join("run"));
        output(command.args(["--storage-driver", "vfs"]).args(words)).map(|text| text.trim().to_owned())
    };
    let (root, context) = (root.display().to_string(), context.display().to_string());
    let base = buildah(&["from", "scratch"])?;
    buildah(&["add", "--quiet", &base, &root, "/"])?;
    // Under the name that the Containerfile begins with: with `--pull=never` the build takes this one.
    buildah(&["commit", "--quiet", &base, BASE])?;
    let start = std::time::Instant::now();
    buildah(&["build", "--isolation", "chroot", "--pull=never", "--tag", "cloom", &context])?;
    let seconds = start.elapsed().as_secs();
    let made = buildah(&["from", "--pull=never", "localhost/cloom"])?;
    let run = ["run", "--isolation", "chroot", &made, "--"];
    print!(
        "{}",
        buildah(&[&run[..], &["cloom", "run", "-k", "mandel", "-s", "256", "-i", "1", "-n"]].concat())? + "\n"
    );
    let doctor = buildah(&[&run[..], &["cloom", "doctor"]].concat())?;
    println!("{}", doctor.lines().last().unwrap_or_default());
    let sizes = buildah(&["images", "--format", "{{.Name}} {{.Size}}"])?;
    println!(
        "ok: the image of the Containerfile, made in {seconds} s; {}",
        sizes.lines().collect::<Vec<_>>().join(", ")
    );
    fs::remove_dir_all(&work).with_context(|| format!("cannot remove {}", work.display()))?;
    Ok(true)
}

/// A fresh system for the jobs of the page about CI, with what the images of such services have.
fn of_jobs(folder: &Path, wheel: &Path) -> Result<PathBuf> {
    const PACKAGES: &str = "apt-get -qq update && apt-get -qq -y -o Dpkg::Use-Pty=0 install --no-install-recommends \
                            ca-certificates python3-venv python-is-python3 cargo-web >/dev/null 2>&1";
    let root = folder.join("ci-root");
    debian("bookworm")?.make_root(Machine::host()?, &root)?;
    must(enter(&root).args(["DEBIAN_FRONTEND=noninteractive", "sh", "-c", PACKAGES]))?;
    // What this machine trusts on its way to PyPI is no matter of the page.
    if let Some(file) = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from) {
        let place = root.join(file.strip_prefix("/").unwrap_or(&file));
        fs::create_dir_all(place.parent().unwrap_or(&root))?;
        fs::copy(&file, place).with_context(|| format!("cannot copy {}", file.display()))?;
    }
    let wheels = root.join("wheels");
    fs::create_dir(&wheels)?;
    fs::copy(wheel, wheels.join(wheel.file_name().unwrap_or_default()))?;
    Ok(root)
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
        self.make_root(release.machine, &root)?;
        let check = root.join("check");
        fs::create_dir(&check).context("cannot make the folder of the test")?;
        let packages = root.join("packages");
        fs::create_dir(&packages)?;
        fs::copy(&files.package, packages.join(files.package.file_name().unwrap_or_default()))?;
        fs::copy(&files.tarball, check.join("cloom.tar.xz"))?;
        fs::copy(&files.container, check.join("Containerfile"))?;
        fs::write(check.join("check.sh"), template!("check.sh"))?;
        fs::write(check.join("check.py"), template!("check.py"))?;
        self.wheels(release.machine, &files.wheel, &check.join("wheels"))?;
        let good = succeeds(
            enter(&root)
                .arg(format!("VERSION={}", release.version))
                .arg(format!("LIBRARY=libcloom.so.{}", release.major()))
                .args(["sh", "/check/check.sh"]),
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
        let kept = target().join("dist-python").join(format!("{}-{}", self.name, machine.debian()));
        let mut words = vec!["download", "--only-binary", ":all:", "--python-version", self.python];
        let platforms = PLATFORMS.map(|platform| format!("{platform}_{}", machine.arch()));
        for platform in &platforms {
            words.extend(["--platform", platform]);
        }
        fs::create_dir(folder)?;
        if machine != Machine::Arm || self.pyopencl_on_arm {
            let kept = kept.display().to_string();
            words.extend(["--dest", &kept, "pyopencl", "numpy"]);
            venv.pip(&words)?;
            for entry in fs::read_dir(kept)? {
                let path = entry?.path();
                fs::copy(&path, folder.join(path.file_name().unwrap_or_default()))?;
            }
        }
        fs::copy(wheel, folder.join(wheel.file_name().unwrap_or_default()))?;
        Ok(())
    }
}

/// Whether the same pieces make the same packages again, but for compression, which depends on nothing else.
pub fn repeats(release: &Release, files: &Files, pieces: &[Piece], texts: &Texts, folder: &Path) -> Result<bool> {
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
    fn make_root(&self, machine: Machine, root: &Path) -> Result<()> {
        packages::install(&["debootstrap"])?;
        let name = self.name;
        let mirror = mirror()?;
        println!("xtask: a fresh Debian {name} for {} from {mirror}", machine.debian());
        let kept = target().join("dist-base");
        fs::create_dir_all(&kept)?;
        let kept = kept.canonicalize()?.join(format!("{name}-{}.tar", machine.debian()));
        let debootstrap = |args: &[&str]| {
            let mut command = Command::new("debootstrap");
            command
                .arg("--variant=minbase")
                .arg(format!("--arch={}", machine.debian()))
                .args(args)
                .arg(name)
                .arg(root)
                .arg(&mirror)
                .stdout(std::process::Stdio::null());
            must(&mut command)
        };
        // The packages of a system are downloaded once and unpacked for every test.
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
