//! A cache of machine code: loading PTX takes the driver a hundred times as long as loading the machine code made from
//! it.
//!
//! The input is what the code depends on, as a [`CubinKey`]; the output is the code, if it is in the cache. The maker
//! of the devices chooses the cache. [`DirectoryCache`] is a folder that several processes may share.

use cloom_artifact::{Folder, checksum};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// The inputs that machine code depends on: a hash of the PTX, the level of optimisation, the driver's version and the
/// GPU's compute capability.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CubinKey(blake3::Hash);

impl CubinKey {
    /// The key of PTX for a GPU with this compute capability, translated at this level by this version of the driver.
    pub fn new(ptx: &[u8], level: usize, driver: u32, capability: u32) -> CubinKey {
        let mut hasher = blake3::Hasher::new();
        // The first words name the recipe: a change of how PTX becomes machine code changes them, so that old entries
        // are missed.
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

/// The first bytes of an entry. A checksum of the code and its name follows, then the code.
const MAGIC: &[u8; 8] = b"cloomcb2";
const HASH: usize = 32;
const SUFFIX: &str = ".cubin";
const UNFINISHED: &str = ".part";

/// A cache in a folder. Each entry is a file, which is renamed into place, so that no reader sees a part of it. An
/// entry whose checksum or name does not match counts as missing. The least recently used entries make room for new
/// ones.
pub struct DirectoryCache {
    path: PathBuf,
    bound: u64,
    folder: OnceLock<Folder>,
}

impl DirectoryCache {
    /// Bytes of the entries together, if nothing else is said.
    pub const BOUND: u64 = 256 << 20;

    /// A cache of at most so many bytes. The folder is made when there is something to keep.
    pub fn new(path: impl Into<PathBuf>, bound: u64) -> DirectoryCache {
        DirectoryCache { path: path.into(), bound, folder: OnceLock::new() }
    }

    /// A cache of the usual bound, as devices take it.
    pub fn shared(path: PathBuf) -> Arc<dyn CubinCache> {
        Arc::new(DirectoryCache::new(path, DirectoryCache::BOUND))
    }

    /// The folder, if it can be used: opened once, when it is there.
    fn folder(&self) -> Option<&Folder> {
        self.opened(|| Folder::open(&self.path, UNFINISHED).ok())
    }

    fn opened(&self, open: impl FnOnce() -> Option<Folder>) -> Option<&Folder> {
        match self.folder.get() {
            Some(folder) => Some(folder),
            None => open().map(|folder| self.folder.get_or_init(|| folder)),
        }
    }
}

fn name(key: &CubinKey) -> String {
    key.text() + SUFFIX
}

fn is_entry(name: &str) -> bool {
    name.ends_with(SUFFIX)
}

impl CubinCache for DirectoryCache {
    fn get(&self, key: &CubinKey) -> Option<Vec<u8>> {
        let (folder, name) = (self.folder()?, name(key));
        let mut entry = folder.read(&name).ok()?;
        let rest = entry.strip_prefix(MAGIC)?;
        let (sum, code) = rest.split_at_checked(HASH)?;
        // The checksum includes the name, so that an entry under another kernel's name is not loaded.
        if checksum(&name, code).as_bytes() != sum {
            return None;
        }
        // Entries are evicted by their time, so that using one makes it the youngest.
        folder.touch(&name);
        entry.drain(..MAGIC.len() + HASH);
        Some(entry)
    }

    fn has(&self, key: &CubinKey) -> bool {
        self.folder().is_some_and(|folder| folder.has(&name(key)))
    }

    fn put(&self, key: &CubinKey, code: &[u8]) {
        let Some(folder) = self.opened(|| Folder::make(&self.path, UNFINISHED).ok()) else { return };
        let name = name(key);
        let entry = [MAGIC.as_slice(), checksum(&name, code).as_bytes(), code].concat();
        if folder.put(&name, &entry).is_ok() {
            // After the entry is in place: the new entry is the youngest, and goes last.
            let _ = folder.evict(is_entry, self.bound, self.bound);
        }
    }

    fn is_empty(&self) -> bool {
        !self.folder().is_some_and(|folder| folder.any(is_entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::time::{Duration, SystemTime};

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

    /// Where an entry is.
    fn path(cache: &DirectoryCache, key: &CubinKey) -> PathBuf {
        cache.path.join(name(key))
    }

    #[test]
    fn an_entry_with_anothers_name_is_missing() {
        let (_folder, cache) = cache(1 << 20);
        cache.put(&key(1), b"code");
        fs::rename(path(&cache, &key(1)), path(&cache, &key(2))).unwrap();
        assert!(cache.has(&key(2)) && cache.get(&key(2)).is_none());
    }

    #[test]
    fn a_folder_that_others_may_write_is_not_used() {
        let (_folder, cache) = cache(1 << 20);
        cache.put(&key(1), b"code");
        let mode = |mode| fs::set_permissions(&cache.path, fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(fs::metadata(path(&cache, &key(1))).unwrap().mode() & 0o777, 0o600);
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
        let whole = fs::read(path(&cache, &key(1))).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            fs::write(path(&cache, &key(1)), &damaged).unwrap();
            assert_eq!(cache.get(&key(1)), None, "byte {at}");
            fs::write(path(&cache, &key(1)), &whole[..at]).unwrap();
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
        let parts =
            fs::read_dir(&cache.path).unwrap().flatten().filter(|e| !is_entry(&e.file_name().to_string_lossy()));
        assert_eq!(parts.count(), 0);
    }

    #[test]
    fn the_oldest_entries_make_room() {
        let (_folder, cache) = cache(3 * 1100);
        for n in 0..3 {
            cache.put(&key(n), &[n; 1000]);
            let file = fs::File::options().append(true).open(path(&cache, &key(n))).unwrap();
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
