//! The tarball: everything below one folder, with scripts that install it and remove it again.

use super::tree::{Content, Piece, template};
use super::{Form, Release, tar};
use anyhow::{Context, Result};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The folder in the tarball, which is also its name.
pub fn name(release: &Release) -> String {
    format!("cloom-{}-{}-linux", release.version, release.machine.arch())
}

/// Makes it.
pub fn make(release: &Release, pieces: &[Piece], archive: &Path, form: Form) -> Result<()> {
    let name = name(release);
    let stage = archive.with_file_name("made").join("tarball");
    let top = stage.join(&name);
    // Where it will be is not known: pkg-config says where the file is.
    let config = release.fill(template!("cloom.pc")).replace("@PREFIX@", "${pcfiledir}/../..");
    let own = [
        Piece::new("README.txt", Content::Text(release.fill(template!("README.txt")))),
        Piece::new("install.sh", Content::Text(release.fill(template!("install.sh")))),
        Piece::new("uninstall.sh", Content::Text(template!("uninstall.sh").to_owned())),
        Piece::new("lib/pkgconfig/cloom.pc", Content::Text(config)),
    ];
    for piece in pieces.iter().chain(&own) {
        piece.place(&top)?;
    }
    for script in ["install.sh", "uninstall.sh"] {
        fs::set_permissions(top.join(script), fs::Permissions::from_mode(0o755)).context("cannot make it a program")?;
    }
    tar(&stage, &[&name], archive, release, form)
}
