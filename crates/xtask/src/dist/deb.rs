//! The Debian package, made with `dpkg-deb` of the same pieces as the tarball. Where Debian's policy wants a thing
//! elsewhere or compressed, this file says so.

use super::tree::{Content, Piece, template};
use super::{Form, Release, output};
use crate::tools::{must, root};
use anyhow::{Context, Result};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the pieces go.
const PREFIX: &str = "usr";
/// A file of settings: it stays when the package is removed, and goes when it is purged.
const ICD: &str = "etc/OpenCL/vendors/cloom.icd";

/// Makes it in a folder.
pub fn make(release: &Release, pieces: &[Piece], folder: &Path, form: Form) -> Result<PathBuf> {
    let stage = &folder.join("debian");
    let architecture = output(Command::new("dpkg").arg("--print-architecture"))?.trim().to_owned();
    let triplet = output(Command::new("dpkg-architecture").args(["-q", "DEB_HOST_MULTIARCH"]))?.trim().to_owned();
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
        .replace("@ARCHITECTURE@", &architecture)
        .replace("@MAINTAINER@", &maintainer)
        .replace("@SIZE@", &size.to_string())
        .replace("@DEPENDS@", &depends(stage, &folder.join("made"))?);
    Piece::new("DEBIAN/control", Content::Text(control)).place(stage)?;
    let package = folder.join(format!("cloom_{}-1_{architecture}.deb", release.version));
    must(
        Command::new("dpkg-deb")
            .args(["--root-owner-group", if form == Form::Compressed { "-Zxz" } else { "-Znone" }, "-z6"])
            .args(["--threads-max=1", "--build"])
            .arg(stage)
            .arg(&package)
            .env("SOURCE_DATE_EPOCH", release.epoch.to_string())
            .stdout(std::process::Stdio::null()),
    )?;
    Ok(package)
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

/// The packages whose libraries are linked, with the versions that have what is used of them.
fn depends(stage: &Path, made: &Path) -> Result<String> {
    let folder = made.join("shlibs");
    // The program works in a source package, of which it reads these two lines.
    Piece::new("debian/control", Content::Text("Source: cloom\n\nPackage: cloom\nArchitecture: any\n".to_owned()))
        .place(&folder)?;
    let library = files(stage)?.into_iter().find(|f| f.contains("/libcloom.so.") && f.matches('.').count() > 2);
    let library = library.context("the library is in the package")?;
    let list = output(
        Command::new("dpkg-shlibdeps")
            .args(["-O", "-e"])
            .arg(stage.join("usr/bin/cloom"))
            .arg("-e")
            .arg(stage.join(library))
            .current_dir(&folder),
    )?;
    let list = list.lines().find_map(|l| l.strip_prefix("shlibs:Depends="));
    list.map(str::to_owned).context("dpkg-shlibdeps names no packages")
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
    fn pieces_go_where_debian_has_them() {
        let path = |path: &str| of_debian(&Piece::new(path, Content::Text(String::new()))).map(|p| p.path);
        assert_eq!(path("bin/cloom").as_deref(), Some("bin/cloom"));
        assert_eq!(path("share/zsh/site-functions/_cloom").as_deref(), Some("share/zsh/vendor-completions/_cloom"));
        assert_eq!(path("share/doc/cloom/LICENSE-MIT"), None);
    }
}
