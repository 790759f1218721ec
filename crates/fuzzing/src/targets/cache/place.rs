//! Where a cache is, in a folder of its own with other things beside it, and what all that looks like.

use super::programs::Entry;
use rustix::process::geteuid;
use std::collections::BTreeMap;
use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The largest entry that a cache reads.
const MAX_ENTRY: u64 = 64 << 20;

/// A cache's folder, and what is outside of it.
pub struct Place {
    _root: TempDir,
    /// The path of that folder, without links.
    root: PathBuf,
    /// The folder that the cache is told of.
    pub path: PathBuf,
    /// The folder that the cache has opened, wherever it is now.
    pub held: Option<PathBuf>,
    /// A folder that is none of the cache's business.
    pub outside: PathBuf,
}

/// What a file looks like: its kind and permissions, its owner, when it was changed, and its contents.
type Look = (u32, u32, (i64, i64), Vec<u8>);

impl Place {
    /// A cache with these entries.
    pub fn new<'a>(entries: impl Iterator<Item = &'a Entry>) -> io::Result<Place> {
        let made = tempfile::Builder::new().prefix("cloom-fuzz-").tempdir()?;
        let root = made.path().canonicalize()?;
        let [path, outside] = ["cache", "outside"].map(|name| root.join(name));
        for folder in [&path, &outside, &outside.join("folder")] {
            fs::create_dir(folder)?;
            fs::set_permissions(folder, Permissions::from_mode(0o700))?;
        }
        fs::write(outside.join("secret"), "none of its business\n")?;
        for entry in entries {
            fill(&path, entry)?;
        }
        Ok(Place { _root: made, root, path, held: None, outside })
    }

    /// Where else something can be put.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Notes what the cache, which was made just now, has opened.
    pub fn hold(&mut self) {
        self.held = is_usable(&self.path).then(|| fs::canonicalize(&self.path).ok()).flatten();
    }

    /// All but the folder that the cache has opened.
    pub fn looks(&self) -> BTreeMap<PathBuf, Look> {
        let mut looks = BTreeMap::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
                if self.held.as_ref().is_some_and(|held| *held == path) {
                    continue;
                }
                let Ok(about) = fs::symlink_metadata(&path) else { continue };
                let contents = if about.is_file() && about.len() < MAX_ENTRY {
                    fs::read(&path).unwrap_or_default()
                } else if about.is_symlink() {
                    fs::read_link(&path).map(|to| to.into_os_string().into_encoded_bytes()).unwrap_or_default()
                } else {
                    about.len().to_le_bytes().to_vec()
                };
                let modified = if about.is_dir() { (0, 0) } else { (about.mtime(), about.mtime_nsec()) };
                let contents = if about.is_dir() { Vec::new() } else { contents };
                if about.is_dir() {
                    folders.push(path.clone());
                }
                looks.insert(path, (about.mode(), about.uid(), modified, contents));
            }
        }
        looks
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What cannot be entered cannot be removed.
        for folder in self.held.iter().chain([&self.path]) {
            if fs::symlink_metadata(folder).is_ok_and(|about| about.is_dir()) {
                let _ = fs::set_permissions(folder, Permissions::from_mode(0o700));
            }
        }
    }
}

/// Puts an entry into a folder as a cache does.
pub fn fill(folder: &Path, entry: &Entry) -> io::Result<()> {
    let path = folder.join(&entry.name);
    fs::write(&path, &entry.bytes)?;
    fs::set_permissions(path, Permissions::from_mode(0o600))
}

fn is_private(about: &Metadata) -> bool {
    about.uid() == geteuid().as_raw() && about.mode() & 0o022 == 0
}

/// Whether a cache may use a folder.
pub fn is_usable(folder: &Path) -> bool {
    let is_open = |about: &Metadata| geteuid().is_root() || about.mode() & 0o500 == 0o500;
    fs::metadata(folder).is_ok_and(|about| about.is_dir() && is_private(&about) && is_open(&about))
}

/// Whether a cache may take an entry from a folder.
pub fn has(folder: &Path, entry: &Entry) -> bool {
    let path = folder.join(&entry.name);
    fs::symlink_metadata(&path).is_ok_and(|about| about.is_file() && is_private(&about) && about.len() <= MAX_ENTRY)
        && fs::read(&path).is_ok_and(|bytes| bytes == entry.bytes)
}

/// Names of files in a folder that are still being written, and the bytes of all files.
pub fn unfinished(folder: &Path) -> (Vec<PathBuf>, u64) {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let (mut names, mut total) = (Vec::new(), 0);
    for path in files.map(|entry| entry.path()) {
        total += fs::symlink_metadata(&path).map_or(0, |about| about.len());
        if path.extension().is_some_and(|end| end == "new" || end == "part") {
            names.push(path);
        }
    }
    names.sort();
    (names, total)
}

/// Whether a cache can put entries into a folder.
pub fn is_writable(folder: &Path) -> bool {
    is_usable(folder) && fs::metadata(folder).is_ok_and(|about| geteuid().is_root() || about.mode() & 0o200 != 0)
}
