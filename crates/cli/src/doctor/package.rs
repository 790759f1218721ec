//! How a driver of Cloom came to this machine: the Debian package, the tarball's `install.sh`, or neither. So the
//! reader of a report knows how to update or remove it; and a driver of another version than this program is told of.

use super::Finding;
use std::path::Path;
use std::process::Command;

/// Says it of a registered driver.
pub fn look(area: &'static str, library: &Path) -> Option<Finding> {
    let library = library.canonicalize().ok()?;
    let folder = library.parent()?;
    let shown = library.display();
    // The tarball's `install.sh` writes a manifest beside the driver; packages of Debian do not.
    let (source, version) = if folder.join("manifest").is_file() {
        let remove = folder.join("uninstall.sh");
        (format!("the tarball; sh {} removes it", remove.display()), of_file(&library)?)
    } else {
        let owner = ask(&["--search", library.to_str()?])?;
        let package = owner.split([':', ',']).next()?.trim().to_owned();
        let version = ask(&["--show", "--showformat=${Version}", &package])?;
        let upstream = version.rsplit_once('-').map_or(version.as_str(), |(upstream, _)| upstream).to_owned();
        (format!("the Debian package {package} {version}; apt purge {package} removes it"), upstream)
    };
    Some(judge(area, &format!("{shown} is of {source}"), &version))
}

/// Compares with the version of this program.
fn judge(area: &'static str, what: &str, version: &str) -> Finding {
    let own = env!("CARGO_PKG_VERSION");
    match version == own {
        true => Finding::info(area, what),
        false => Finding::warning(
            area,
            format!("{what}; this program is of version {own}"),
            "install program and driver from one package, so that what `cloom show` shows is what runs",
        ),
    }
}

/// The version in the name of a driver's file.
fn of_file(library: &Path) -> Option<String> {
    Some(library.file_name()?.to_str()?.strip_prefix("libcloom.so.")?.to_owned())
}

/// What `dpkg-query` says; nothing if there is no such program, or it knows nothing.
fn ask(words: &[&str]) -> Option<String> {
    let output = Command::new("dpkg-query").args(words).env("LC_ALL", "C").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::*;

    #[test]
    fn a_tarball_is_told_by_its_manifest_and_an_unknown_file_is_not_told_of() {
        let dir = tempfile::tempdir().unwrap();
        let library = dir.path().join(concat!("libcloom.so.", env!("CARGO_PKG_VERSION")));
        std::fs::write(&library, "").unwrap();
        assert_eq!(look("drivers", &library), None);
        std::fs::write(dir.path().join("manifest"), "").unwrap();
        let finding = look("drivers", &library).unwrap();
        assert!(finding.status == Status::Info && finding.what.contains("uninstall.sh"), "{finding:?}");
        assert_eq!(judge("drivers", "x", "0.0.1").status, Status::Warning);
    }
}
