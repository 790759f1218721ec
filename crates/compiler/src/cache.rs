//! Compiled kernels and the IR of sources on disk, by a hash of everything that went into them.
//!
//! An entry is a file that is written under another name and then renamed, so that many processes can share the folder.
//! An entry that is truncated, changed or renamed fails its checksum and counts as absent. The code found here is
//! executed, so the folder and its entries must belong to this user and be writable for nobody else ([`Folder`]). After
//! any failure there is no cache.
//!
//! Bugs that made kernels slow are written down in the same folder, for `cloom doctor`: a kernel from the cache does
//! not show them again.

use cloom_artifact::{DecodeError, Folder, FolderError};
use cloom_caps::env;
use serde::Serialize;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The largest size of the folder in bytes, and the size after eviction.
const MAX_BYTES: u64 = 256 << 20;
const KEEP_BYTES: u64 = 192 << 20;
/// The folder's size is checked once for this many new entries. Most processes make few, so each starts its count at a
/// random number. (Not at its process id, which is the same each time in a container.)
const SWEEP_EVERY: u32 = 32;
/// The suffixes of entries.
const SUFFIXES: [&str; 2] = ["kernel", "source"];
/// The suffix of an entry that is being written.
const UNFINISHED: &str = ".new";
/// The file in the folder that lists the bugs, one a line.
const BUGS: &str = "bugs.txt";
/// The size in bytes from which on this file does not grow.
const MAX_BUGS: u64 = 16 << 10;

/// The name of an entry.
pub struct Key(String);

impl Key {
    /// The key of a compiled kernel, by all inputs of code generation.
    pub fn of_kernel(inputs: &impl Serialize) -> Option<Key> {
        Some(Self::new(&postcard::to_stdvec(inputs).ok()?, SUFFIXES[0]))
    }

    /// The key of a source's IR, by the inputs of the front end except for the files that it asks for.
    pub fn of_source(inputs: &impl Serialize) -> Option<Key> {
        Some(Self::new(&postcard::to_stdvec(inputs).ok()?, SUFFIXES[1]))
    }

    /// A hash of the inputs and of the compiler's fingerprint.
    fn new(request: &[u8], suffix: &str) -> Key {
        let mut hasher = blake3::Hasher::new();
        // The length before each part keeps `ab` + `c` and `a` + `bc` apart.
        for part in [env!("CLOOM_FINGERPRINT").as_bytes(), env!("CARGO_PKG_VERSION").as_bytes(), request] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Key(format!("{}.{suffix}", hasher.finalize().to_hex()))
    }

    /// The entry's name, which its checksum has too.
    pub fn name(&self) -> &str {
        &self.0
    }
}

/// A folder of entries.
pub struct Cache {
    folder: Folder,
    written: AtomicU32,
}

/// The folder from the environment, unless that disables the cache.
pub fn folder_from_env() -> Option<PathBuf> {
    if env::CACHE.is_off() {
        return None;
    }
    // `CLOOM_CACHE_DIR` names the folder itself; the other two name where the caches of all programs are.
    let caches = || env::HOME.path().map(|home| home.join(".cache"));
    env::CACHE_DIR.path().or_else(|| env::XDG_CACHE_HOME.path().or_else(caches).map(|caches| caches.join("cloom")))
}

/// A cache's folder, for tools that look into it. It is opened under the same conditions as by a process that uses it,
/// but not made.
pub struct CacheFolder(Folder);

impl CacheFolder {
    /// The file that has the bugs which made kernels slow.
    pub const BUGS: &str = BUGS;

    /// Opens it; the error says why no process uses it.
    pub fn open(folder: &Path) -> Result<CacheFolder, FolderError> {
        Folder::open(folder, UNFINISHED).map(CacheFolder)
    }

    /// The bugs that processes have written down, oldest first.
    pub fn bugs(&self) -> Vec<String> {
        let text = self.0.read(BUGS).unwrap_or_default();
        String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
    }

    /// The number and the bytes of the kernels and of the sources.
    pub fn contents(&self) -> [(usize, u64); 2] {
        let sizes = self.0.sizes(is_entry).unwrap_or_default();
        SUFFIXES.map(|suffix| {
            let of_kind = sizes.iter().filter(|(name, _)| name.ends_with(suffix));
            of_kind.fold((0, 0), |(number, bytes), (_, size)| (number + 1, bytes + size))
        })
    }

    /// Whether entries can be put there now.
    pub fn try_put(&self) -> io::Result<()> {
        self.0.try_put()
    }
}

fn is_entry(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, suffix)| SUFFIXES.contains(&suffix))
}

impl Cache {
    /// The cache in a folder, which is made if it does not exist.
    pub fn open(folder: &Path) -> Result<Self, FolderError> {
        let first = RandomState::new().hash_one(0) as u32 % SWEEP_EVERY;
        Ok(Self { folder: Folder::make(folder, UNFINISHED)?, written: AtomicU32::new(first) })
    }

    /// The entry, if there is a sound one.
    pub fn get<T>(&self, key: &Key, decode: impl FnOnce(&str, &[u8]) -> Result<T, DecodeError>) -> Option<T> {
        let bytes = self.folder.read(key.name()).ok()?;
        match decode(key.name(), &bytes) {
            Ok(value) => {
                // Eviction removes the least recently used entries, by the time of the last change of a file.
                self.folder.touch(key.name());
                Some(value)
            }
            Err(_) => {
                self.folder.remove(key.name());
                None
            }
        }
    }

    /// Writes a bug down, if that can be done.
    pub fn note_bug(&self, text: &str) {
        let _ = self.folder.add_line(BUGS, &format!("{}\n", text.replace('\n', " ")), MAX_BUGS);
    }

    /// Adds an entry, or replaces it, if it can be written.
    pub fn put(&self, key: &Key, entry: &[u8]) {
        let _ = self.folder.put(key.name(), entry);
        let number = self.written.fetch_add(1, Ordering::Relaxed);
        if number.is_multiple_of(SWEEP_EVERY) {
            let _ = self.folder.evict(is_entry, MAX_BYTES, KEEP_BYTES);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cloom_artifact::{GpuLaunch, KernelArtifact, LaunchForm};
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::time::SystemTime;

    fn artifact(name: &str, size: usize) -> KernelArtifact {
        KernelArtifact {
            name: name.into(),
            target: Default::default(),
            code: vec![7; size],
            entry: "e".into(),
            args: vec![],
            hidden: Vec::new(),
            checked: Vec::new(),
            arg_block: 0,
            local_size: 0,
            launch: LaunchForm::WorkItem(GpuLaunch::default()),
            private_size: 0,
            reqd_group_size: None,
            subgroup_size: None,
            denorms_are_zero: false,
            printf_formats: vec![],
            enqueues: false,
        }
    }

    #[test]
    fn entries_come_back_and_damaged_ones_do_not() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(&dir.path().join("a/b")).unwrap();
        let key = Key::of_kernel(&"x").unwrap();
        let get = |key: &Key| cache.get(key, KernelArtifact::decode);
        assert_eq!(get(&key), None);
        cache.put(&key, &artifact("k", 100).encode(key.name()));
        assert_eq!(get(&key), Some(artifact("k", 100)));
        assert_eq!(get(&Key::of_kernel(&"y").unwrap()), None);
        assert_eq!(get(&Key::of_kernel(&"").unwrap()), None);
        assert_eq!(get(&Key::of_source(&"x").unwrap()), None);
        let path = dir.path().join("a/b").join(key.name());
        let mut bytes = fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, bytes).unwrap();
        assert_eq!(get(&key), None);
        assert!(!path.exists());
    }

    #[test]
    fn an_entry_with_anothers_name_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(&dir.path().join("a")).unwrap();
        let [first, second] = ["x", "y"].map(|inputs| Key::of_kernel(&inputs).unwrap());
        cache.put(&first, &artifact("k", 1).encode(first.name()));
        let at = |key: &Key| dir.path().join("a").join(key.name());
        fs::rename(at(&first), at(&second)).unwrap();
        assert_eq!(cache.get(&second, KernelArtifact::decode), None);
        assert!(!at(&second).exists(), "it makes room");
    }

    /// Each of many processes with one number, as in containers, makes one entry.
    #[test]
    fn processes_that_make_few_entries_keep_the_folder_small() {
        let dir = tempfile::tempdir().unwrap();
        let old = dir.path().join("old.kernel");
        fs::File::create(&old).unwrap().set_len(MAX_BYTES + 1).unwrap();
        fs::File::open(&old).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        for n in 0..1000u32 {
            let cache = Cache::open(dir.path()).unwrap();
            cache.put(&Key::of_kernel(&n).unwrap(), b"entry");
            if !old.exists() {
                return;
            }
        }
        panic!("nobody swept");
    }

    #[test]
    fn a_folder_that_others_may_write_is_not_used() {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(Cache::open(dir.path()).is_err());
    }
}
