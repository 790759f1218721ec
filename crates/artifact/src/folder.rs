//! Folders that keep code on disk: what is found there is run, so nobody else may write there.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

/// Makes a folder for this user alone, with those that it is in, if it does not exist.
pub fn make(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Whether it is a folder of this user's that nobody else may write to.
pub fn is_private(folder: &Path) -> bool {
    let Ok(about) = fs::metadata(folder) else { return false };
    // The owner of `/proc/self` is this process's user.
    let is_mine = fs::metadata("/proc/self").is_ok_and(|me| me.uid() == about.uid());
    about.is_dir() && is_mine && about.mode() & 0o022 == 0
}

/// Puts a file into its folder by one renaming, so that nobody sees a part of it: a file that only this user may write,
/// whose name ends in the suffix until it is whole.
pub fn put(path: &Path, suffix: &str, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let mut file = tempfile::Builder::new().suffix(suffix).tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}
