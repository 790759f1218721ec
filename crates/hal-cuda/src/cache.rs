//! A cache of machine code: the driver takes a hundred times as long for PTX as for the code that it makes of it.
//!
//! In comes what the code depends on, as a [`CubinKey`]; out goes the code, if it has been made before. Whoever makes
//! the devices says where it is kept; [`DirectoryCache`] keeps it in a folder that many processes may share.

use cloom_artifact::folder;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// What machine code depends on: a hash of the PTX, the level of optimisation, the driver's version and the GPU's
/// compute capability.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CubinKey(blake3::Hash);

impl CubinKey {
    /// The key of PTX for a GPU with this compute capability, translated at this level by this version of the driver.
    pub fn new(ptx: &[u8], level: usize, driver: u32, capability: u32) -> CubinKey {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"cubin 2").update(&(level as u64).to_le_bytes());
        hasher.update(&driver.to_le_bytes()).update(&capability.to_le_bytes()).update(ptx);
        CubinKey(hasher.finalize())
    }

    /// The key as text: 64 hexadecimal digits.
    pub fn text(&self) -> String {
        self.0.to_hex().to_string()
    }
}

/// Keeps machine code. Called from many threads.
pub trait CubinCache: Send + Sync {
    /// The code of a key, if it is there and whole.
    fn get(&self, key: &CubinKey) -> Option<Vec<u8>>;
    /// Whether there is something under a key.
    fn has(&self, key: &CubinKey) -> bool;
    /// Keeps code, if that is possible.
    fn put(&self, key: &CubinKey, code: &[u8]);
    /// Whether there is no code.
    fn is_empty(&self) -> bool;
}

/// The first bytes of an entry; then the hash of the code, then the code.
const MAGIC: &[u8; 8] = b"cloomcb1";
const HASH: usize = 32;
const SUFFIX: &str = "cubin";
const TEMPORARY: &str = "part";
/// After so long a file that is being written is a remnant.
const ABANDONED: Duration = Duration::from_secs(600);

/// A cache in a folder: a file for each entry, put there by one renaming, so that nobody sees a part of one. What does
/// not fit its hash is taken for missing. The entries that were used the longest ago make room for new ones.
pub struct DirectoryCache {
    folder: PathBuf,
    bound: u64,
}

impl DirectoryCache {
    /// Bytes of the entries together, if nothing else is said.
    pub const BOUND: u64 = 256 << 20;

    /// A cache of at most so many bytes. The folder is made when there is something to keep.
    pub fn new(folder: impl Into<PathBuf>, bound: u64) -> DirectoryCache {
        DirectoryCache { folder: folder.into(), bound }
    }

    /// A cache of the usual bound, as devices take it.
    pub fn shared(folder: PathBuf) -> Arc<dyn CubinCache> {
        Arc::new(DirectoryCache::new(folder, DirectoryCache::BOUND))
    }

    fn path(&self, key: &CubinKey) -> PathBuf {
        self.folder.join(key.text()).with_extension(SUFFIX)
    }

    fn write(&self, key: &CubinKey, code: &[u8]) -> std::io::Result<()> {
        folder::make(&self.folder)?;
        if !folder::is_private(&self.folder) {
            return Err(std::io::ErrorKind::PermissionDenied.into());
        }
        let entry = [MAGIC.as_slice(), blake3::hash(code).as_bytes(), code].concat();
        folder::put(&self.path(key), &format!(".{TEMPORARY}"), &entry)
    }

    /// Removes the oldest entries until the rest is within the bound, and remnants.
    fn make_room(&self) -> std::io::Result<()> {
        let mut entries: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.folder)?.flatten() {
            let (path, Ok(about)) = (entry.path(), entry.metadata()) else { continue };
            let Ok(time) = about.modified() else { continue };
            if has_suffix(&path, TEMPORARY) && time.elapsed().is_ok_and(|age| age > ABANDONED) {
                let _ = fs::remove_file(path);
            } else if has_suffix(&path, SUFFIX) {
                entries.push((time, about.len(), path));
            }
        }
        let mut total: u64 = entries.iter().map(|(_, size, _)| size).sum();
        entries.sort();
        for (_, size, path) in entries {
            if total <= self.bound {
                break;
            }
            // Another process may have removed it.
            let _ = fs::remove_file(path);
            total -= size;
        }
        Ok(())
    }
}

fn has_suffix(path: &Path, suffix: &str) -> bool {
    path.extension().is_some_and(|extension| extension == suffix)
}

impl CubinCache for DirectoryCache {
    fn get(&self, key: &CubinKey) -> Option<Vec<u8>> {
        let path = self.path(key);
        let mut entry = fs::read(&path).ok().filter(|_| folder::is_private(&self.folder))?;
        let rest = entry.strip_prefix(MAGIC)?;
        let (hash, code) = rest.split_at_checked(HASH)?;
        if blake3::hash(code).as_bytes() != hash {
            return None;
        }
        // It is used now. Without the right to say so, it only leaves earlier.
        if let Ok(file) = fs::File::options().append(true).open(&path) {
            let _ = file.set_modified(SystemTime::now());
        }
        entry.drain(..MAGIC.len() + HASH);
        Some(entry)
    }

    fn has(&self, key: &CubinKey) -> bool {
        self.path(key).exists() && folder::is_private(&self.folder)
    }

    fn put(&self, key: &CubinKey, code: &[u8]) {
        if self.write(key, code).is_ok() {
            let _ = self.make_room();
        }
    }

    fn is_empty(&self) -> bool {
        fs::read_dir(&self.folder).map_or(true, |entries| !entries.flatten().any(|e| has_suffix(&e.path(), SUFFIX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    fn key(n: u8) -> CubinKey {
        CubinKey::new(&[n], 4, 13000, 90)
    }

    fn cache(bound: u64) -> (tempfile::TempDir, DirectoryCache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = DirectoryCache::new(folder.path().join("new"), bound);
        (folder, cache)
    }

    #[test]
    fn what_was_put_is_found_under_its_key_only() {
        let (_folder, cache) = cache(1 << 20);
        assert!(cache.get(&key(1)).is_none() && !cache.has(&key(1)) && cache.is_empty());
        cache.put(&key(1), b"code");
        assert_eq!(cache.get(&key(1)).as_deref(), Some(b"code".as_slice()));
        assert!(cache.get(&key(2)).is_none() && !cache.is_empty());
        let all = [(4, 1, 2), (4, 1, 3), (4, 2, 2), (1, 1, 2)].map(|(level, d, c)| CubinKey::new(b"a", level, d, c));
        assert!((0..all.len()).all(|i| !all[..i].contains(&all[i])));
    }

    #[test]
    fn a_folder_that_others_may_write_is_not_used() {
        let (_folder, cache) = cache(1 << 20);
        cache.put(&key(1), b"code");
        let mode = |mode| fs::set_permissions(&cache.folder, fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(fs::metadata(cache.path(&key(1))).unwrap().mode() & 0o777, 0o600);
        mode(0o777);
        assert!(cache.get(&key(1)).is_none() && !cache.has(&key(1)));
        cache.put(&key(2), b"code");
        mode(0o700);
        assert!(cache.get(&key(1)).is_some() && !cache.has(&key(2)));
    }

    #[test]
    fn a_damaged_entry_is_missing_and_can_be_replaced() {
        let (_folder, cache) = cache(1 << 20);
        cache.put(&key(1), b"some code");
        let whole = fs::read(cache.path(&key(1))).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            fs::write(cache.path(&key(1)), &damaged).unwrap();
            assert_eq!(cache.get(&key(1)), None, "byte {at}");
            fs::write(cache.path(&key(1)), &whole[..at]).unwrap();
            assert_eq!(cache.get(&key(1)), None, "{at} bytes");
        }
        cache.put(&key(1), b"new");
        assert_eq!(cache.get(&key(1)).as_deref(), Some(b"new".as_slice()));
    }

    #[test]
    fn many_writers_leave_whole_entries() {
        let (_folder, cache) = cache(1 << 20);
        std::thread::scope(|scope| {
            for writer in 0..4u8 {
                let cache = &cache;
                scope.spawn(move || {
                    for round in 0..20u8 {
                        cache.put(&key(round % 3), &vec![writer; 1000 + usize::from(round)]);
                        if let Some(code) = cache.get(&key(round % 3)) {
                            assert!(code.len() >= 1000 && code.iter().all(|&b| b == code[0]));
                        }
                    }
                });
            }
        });
        assert!((0..3).all(|n| cache.get(&key(n)).is_some()));
        let parts = fs::read_dir(&cache.folder).unwrap().flatten().filter(|e| has_suffix(&e.path(), TEMPORARY));
        assert_eq!(parts.count(), 0);
    }

    #[test]
    fn the_oldest_entries_make_room() {
        let (_folder, cache) = cache(3 * 1100);
        for n in 0..3 {
            cache.put(&key(n), &[n; 1000]);
            let file = fs::File::options().append(true).open(cache.path(&key(n))).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(u64::from(n) + 1)).unwrap();
        }
        assert!(cache.get(&key(0)).is_some(), "which makes it the youngest");
        cache.put(&key(3), &[3; 1000]);
        let there: Vec<bool> = (0..4).map(|n| cache.get(&key(n)).is_some()).collect();
        assert_eq!(there, [true, false, true, true]);
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_no_error() {
        let cache = DirectoryCache::new("/dev/null/cache", 1);
        cache.put(&key(1), b"code");
        assert_eq!(cache.get(&key(1)), None);
    }
}
