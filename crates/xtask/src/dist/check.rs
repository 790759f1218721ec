//! `dist --check`: the packages on a fresh Debian. In: what was made. Out: what happened, line by line.
//!
//! The Debian is a folder that `debootstrap` fills from the mirror of this machine; `dist/check.sh` runs in it, in a
//! namespace of its own, with root's rights. The packages that make up the system are kept in `target/dist-base`.

use super::tree::{Piece, template};
use super::{Form, Release, output, pack};
use crate::tools::{must, succeeds, target};
use crate::{Outcome, packages};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Mounts what programs expect, in a namespace that ends with the command. `$0` is the root.
const ENTER: &str = "mount --make-rprivate / && mount -t proc proc \"$0/proc\" && mount --rbind /dev \"$0/dev\" && \
                     mount -t sysfs -o ro sys \"$0/sys\" && \
                     exec chroot \"$0\" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
                     VERSION=\"$VERSION\" LIBRARY=\"$LIBRARY\" sh /check/check.sh";

/// Checks the files that were made in a folder.
pub fn run(release: &Release, files: &[PathBuf; 2], pieces: &[Piece], folder: &Path) -> Result<Outcome> {
    let [archive, package] = files;
    let repeated = repeats(release, files, pieces, folder)?;
    let clean = lintian(package)?;
    if output(Command::new("id").arg("-u"))?.trim() != "0" {
        println!("skipped: installing the packages in a fresh Debian needs root (chroot); run it with sudo");
        return Ok(Outcome::of(repeated && clean));
    }
    let root = folder.join("debian-root");
    make_root(&root)?;
    let check = root.join("check");
    fs::create_dir(&check).context("cannot make the folder of the test")?;
    fs::copy(package, check.join("cloom.deb"))?;
    fs::copy(archive, check.join("cloom.tar.xz"))?;
    fs::write(check.join("check.sh"), template!("check.sh"))?;
    fs::write(check.join("check.py"), template!("check.py"))?;
    let good = succeeds(
        Command::new("unshare")
            .args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER])
            .arg(&root)
            .env("VERSION", &release.version)
            .env("LIBRARY", format!("libcloom.so.{}", release.major())),
    )?;
    if good {
        fs::remove_dir_all(&root).with_context(|| format!("cannot remove {}", root.display()))?;
        println!("xtask dist: the packages install, run and go away");
    } else {
        println!("xtask dist: FAILED; the Debian that was used is {}", root.display());
    }
    Ok(Outcome::of(good && repeated && clean))
}

/// Whether the same pieces make the same packages again, but for compression, which depends on nothing else.
fn repeats(release: &Release, files: &[PathBuf; 2], pieces: &[Piece], folder: &Path) -> Result<bool> {
    let again = folder.join("again");
    fs::create_dir_all(&again)?;
    let made = pack(release, pieces, &again, Form::Plain)?;
    let mut good = true;
    // The tar files in both: of the tarball, and of the package's files and its control files.
    let readers: [(usize, &[&str]); 3] = [
        (0, &["xz", "--decompress", "--stdout", "--force"]),
        (1, &["dpkg-deb", "--fsys-tarfile"]),
        (1, &["dpkg-deb", "--ctrl-tarfile"]),
    ];
    for (i, reader) in readers {
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
        let name = files[i].file_name().unwrap_or_default().display();
        if read(&files[i])? == read(&made[i])? {
            println!("ok: {name} is the same when it is made again ({})", reader.last().unwrap_or(&""));
        } else {
            println!("WRONG: {name} differs when it is made again ({})", reader.last().unwrap_or(&""));
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

/// A fresh Debian of this machine's version, in a folder that does not exist.
fn make_root(root: &Path) -> Result<()> {
    packages::install(&["debootstrap"])?;
    let release = fs::read_to_string("/etc/os-release").context("cannot read /etc/os-release")?;
    let name = release.lines().find_map(|l| l.strip_prefix("VERSION_CODENAME="));
    let name = name.context("/etc/os-release names no version of Debian")?;
    let mirror = mirror(name)?;
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

/// The mirror from which this machine takes packages of its version.
fn mirror(name: &str) -> Result<String> {
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
