//! The Debian package, made with `dpkg-deb` of the same pieces as the tarball. Where Debian's policy wants a thing
//! elsewhere or compressed, this file says so.

use super::tree::{Content, Piece, template};
use super::{Form, Release, stubs};
use crate::tools::{must, output, root};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the pieces go.
const PREFIX: &str = "usr";
/// A file of settings: it stays when the package is removed, and goes when it is purged.
const ICD: &str = "etc/OpenCL/vendors/cloom.icd";

/// Makes it.
pub fn make(release: &Release, pieces: &[Piece], package: &Path, form: Form) -> Result<()> {
    let stage = &package.with_file_name("debian");
    let (architecture, triplet) = (release.machine.debian(), release.machine.multiarch());
    for piece in pieces.iter().filter_map(of_debian) {
        Piece::new(format!("{PREFIX}/{}", piece.path), piece.content).place(stage)?;
    }
    let maintainer = maintainer();
    let config = release.fill(template!("cloom.pc")).replace("@PREFIX@", "/usr");
    let icd = format!("/{PREFIX}/lib/cloom/libcloom.so.{}\n", release.major());
    let own = [
        Piece::new(ICD, Content::Text(icd)),
        Piece::new(format!("usr/lib/{triplet}/pkgconfig/cloom.pc"), Content::Text(config)),
        Piece::new("usr/share/doc/cloom/changelog.Debian", Content::Text(changelog(release, &maintainer)?)),
        Piece::new("usr/share/doc/cloom/copyright", Content::Text(copyright()?)),
        Piece::new("usr/share/lintian/overrides/cloom", Content::Text(template!("lintian-overrides").to_owned())),
        Piece::new("DEBIAN/conffiles", Content::Text(format!("/{ICD}\n"))),
    ];
    for piece in &own {
        piece.place(stage)?;
    }
    for name in ["changelog", "changelog.Debian", "third-party.txt"] {
        must(Command::new("gzip").args(["-9", "--no-name"]).arg(stage.join("usr/share/doc/cloom").join(name)))?;
    }
    let files = files(stage)?;
    write_sums(stage, &files)?;
    let mut size = 0;
    for file in &files {
        size += fs::symlink_metadata(stage.join(file))?.len().div_ceil(1024);
    }
    let control = release
        .fill(template!("control"))
        .replace("@ARCHITECTURE@", architecture)
        .replace("@MAINTAINER@", &maintainer)
        .replace("@SIZE@", &size.to_string())
        .replace("@DEPENDS@", &depends(&linked(stage)?)?);
    Piece::new("DEBIAN/control", Content::Text(control)).place(stage)?;
    must(
        Command::new("dpkg-deb")
            .args(["--root-owner-group", if form == Form::Compressed { "-Zxz" } else { "-Znone" }, "-z6"])
            .args(["--threads-max=1", "--build"])
            .arg(stage)
            .arg(package)
            .env("SOURCE_DATE_EPOCH", release.epoch.to_string())
            .stdout(std::process::Stdio::null()),
    )
}

/// The piece as Debian wants it: zsh's folder for packages, the name of the list of changes. The licences are in the
/// file `copyright`.
fn of_debian(piece: &Piece) -> Option<Piece> {
    let path = match piece.path.as_str() {
        "share/zsh/site-functions/_cloom" => "share/zsh/vendor-completions/_cloom",
        "share/doc/cloom/CHANGELOG.md" => "share/doc/cloom/changelog",
        "share/doc/cloom/LICENSE-APACHE" | "share/doc/cloom/LICENSE-MIT" => return None,
        path => path,
    };
    Some(Piece::new(path, piece.content.clone()))
}

/// Who answers for the package: as Debian's own tools are told, else the project.
fn maintainer() -> String {
    match (std::env::var("DEBFULLNAME"), std::env::var("DEBEMAIL")) {
        (Ok(name), Ok(address)) => format!("{name} <{address}>"),
        _ => "Cloom maintainers <maintainers@cloom.invalid>".to_owned(),
    }
}

/// The list of changes of the package itself.
fn changelog(release: &Release, maintainer: &str) -> Result<String> {
    let date = output(Command::new("date").args(["--utc", "--rfc-email", "--date", &format!("@{}", release.epoch)]))?;
    Ok(format!(
        "cloom ({}-1) unstable; urgency=medium\n\n  * The release {} of the project: see changelog.gz.\n\n -- {maintainer}  \
         {}\n",
        release.version,
        release.version,
        date.trim_end()
    ))
}

/// The file `copyright`, with our own second licence in its form: a blank before each line, a dot for an empty one.
fn copyright() -> Result<String> {
    let text = fs::read_to_string(root().join("LICENSE-MIT")).context("cannot read LICENSE-MIT")?;
    let terms = text.split_once("Permission is").map_or(text.as_str(), |(before, _)| &text[before.len()..]);
    let mut indented = String::new();
    for line in terms.trim_end().lines() {
        // Writing to a string cannot fail.
        let _ = writeln!(indented, " {}", if line.is_empty() { "." } else { line });
    }
    let holder = text.lines().find_map(|l| l.strip_prefix("Copyright (c) ")).context("LICENSE-MIT names nobody")?;
    Ok(template!("copyright").replace("@HOLDER@", holder).replace("@MIT@\n", &indented))
}

/// All files and links of the tree but those about the package, sorted.
fn files(stage: &Path) -> Result<Vec<String>> {
    let list = output(
        Command::new("find")
            .args([".", "-path", "./DEBIAN", "-prune", "-o", "(", "-type", "f", "-o", "-type", "l", ")", "-print"])
            .current_dir(stage),
    )?;
    let mut files: Vec<String> = list.lines().filter_map(|l| l.strip_prefix("./")).map(str::to_owned).collect();
    files.sort();
    Ok(files)
}

/// Writes the checksums of all files.
fn write_sums(stage: &Path, files: &[String]) -> Result<()> {
    let plain = files.iter().filter(|f| fs::symlink_metadata(stage.join(f)).is_ok_and(|m| m.is_file()));
    let sums = output(Command::new("md5sum").args(plain).current_dir(stage))?;
    Piece::new("DEBIAN/md5sums", Content::Text(sums)).place(stage)
}

/// Driver and program in the tree.
fn linked(stage: &Path) -> Result<Vec<PathBuf>> {
    // The file `libcloom.so.1.2.3` has more dots than the links to it, `libcloom.so` and `libcloom.so.1`.
    let library = files(stage)?.into_iter().find(|f| f.contains("/libcloom.so.") && f.matches('.').count() > 2);
    let library = library.context("the library is in the package")?;
    Ok(vec![stage.join("usr/bin/cloom"), stage.join(library)])
}

/// The packages whose libraries are linked. `dpkg-shlibdeps` would ask for the C library of this machine, in which
/// functions have moved from one of its libraries to another; that the older one has them is what `tree` has checked.
fn depends(files: &[PathBuf]) -> Result<String> {
    let mut packages = BTreeSet::new();
    for file in files {
        let dynamic = output(Command::new("readelf").args(["-dW"]).arg(file))?;
        for library in needed(&dynamic) {
            packages.insert(package_of(library).with_context(|| format!("no package is known that has {library}"))?);
        }
    }
    ensure!(!packages.is_empty(), "readelf lists no library that is needed");
    Ok(packages.into_iter().collect::<Vec<_>>().join(", "))
}

/// The libraries that `readelf` lists as needed.
fn needed(dynamic: &str) -> impl Iterator<Item = &str> {
    dynamic.lines().filter_map(|l| l.split_once("Shared library: [")?.1.strip_suffix(']'))
}

/// The package of Debian that has a library, and from which version on.
fn package_of(library: &str) -> Option<String> {
    const OF_LIBC: &[&str] = &["libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1"];
    if OF_LIBC.contains(&library) || library.starts_with("ld-linux-") {
        return Some(format!("libc6 (>= {})", stubs::GLIBC));
    }
    (library == "libgcc_s.so.1").then(|| "libgcc-s1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copyright_has_the_form_of_debian() {
        let text = copyright().unwrap();
        assert!(!text.contains('@') && text.contains("\n Permission is hereby granted"));
        let licence = text.split("License: Expat\n").last().unwrap();
        assert!(licence.lines().all(|l| l.starts_with(' ') && l.len() > 1), "{licence}");
    }

    #[test]
    fn needed_libraries_have_packages() {
        let list = " 0x01 (NEEDED)  Shared library: [libc.so.6]\n 0x01 (NEEDED)  Shared library: [libgcc_s.so.1]\n\
                    0x0e (SONAME)  Library soname: [libcloom.so.0]\n";
        let packages: Vec<_> = needed(list).map(package_of).collect();
        assert_eq!(packages, [Some("libc6 (>= 2.28)".to_owned()), Some("libgcc-s1".to_owned())]);
        assert_eq!(package_of("libstdc++.so.6"), None);
    }

    #[test]
    fn pieces_go_where_debian_has_them() {
        let path = |path: &str| of_debian(&Piece::new(path, Content::Text(String::new()))).map(|p| p.path);
        assert_eq!(path("bin/cloom").as_deref(), Some("bin/cloom"));
        assert_eq!(path("share/zsh/site-functions/_cloom").as_deref(), Some("share/zsh/vendor-completions/_cloom"));
        assert_eq!(path("share/doc/cloom/LICENSE-MIT"), None);
    }
}
