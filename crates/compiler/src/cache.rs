//! Compiled kernels and the IR of sources on disk, by a hash of everything that went into them.
//!
//! An entry is a file that is written apart and renamed, so that many processes can share the folder; one that is cut,
//! changed or from elsewhere fails its checksum and counts as absent. What is found here is run, so the folder must
//! belong to this user and be writable for nobody else. Any failure means: no cache.
//!
//! Bugs that made kernels slow are written down in the same folder, for `cloom doctor`: a kernel from the cache does
//! not show them again.

use cloom_artifact::{DecodeError, folder};
use cloom_caps::env;
use serde::Serialize;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

/// The largest size of the folder in bytes, and the size after eviction.
const MAX_BYTES: u64 = 256 << 20;
const KEEP_BYTES: u64 = 192 << 20;
/// The size is checked once for so many new entries, most of which are of processes that make few: each begins to count
/// anywhere. (Not at its number: that of a container's process is the same each time.)
const SWEEP_EVERY: u32 = 32;
/// What the names of entries end in.
const SUFFIXES: [&str; 2] = ["kernel", "source"];
/// The file in the folder that has the bugs, one a line.
const BUGS: &str = "bugs.txt";
/// Bytes at which it grows no more.
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
        for part in [env!("CLOOM_FINGERPRINT").as_bytes(), env!("CARGO_PKG_VERSION").as_bytes(), request] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Key(format!("{}.{suffix}", hasher.finalize().to_hex()))
    }
}

/// A folder of entries.
pub struct Cache {
    folder: PathBuf,
    written: AtomicU32,
}

/// The folder from the environment, unless that disables the cache.
pub fn folder_from_env() -> Option<PathBuf> {
    if env::CACHE.is_off() {
        return None;
    }
    let home = |var: &str| std::env::var_os(var).filter(|v| !v.is_empty()).map(PathBuf::from);
    env::CACHE_DIR
        .get()
        .map(PathBuf::from)
        .or_else(|| home("XDG_CACHE_HOME").map(|p| p.join("cloom")))
        .or_else(|| home("HOME").map(|p| p.join(".cache").join("cloom")))
}

/// The bugs that processes have written down in a cache's folder, oldest first, and the file that has them.
pub fn bugs(folder: &Path) -> (PathBuf, Vec<String>) {
    let path = folder.join(BUGS);
    let text = fs::read(&path).unwrap_or_default();
    let lines = String::from_utf8_lossy(&text).lines().map(str::to_owned).collect();
    (path, lines)
}

/// The number and the bytes of the kernels and of the sources in a cache's folder.
pub fn contents(folder: &Path) -> [(usize, u64); 2] {
    SUFFIXES.map(|suffix| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let of_kind = entries.filter(|entry| entry.path().extension().is_some_and(|x| x == suffix));
        let sizes = of_kind.filter_map(|entry| Some(entry.metadata().ok()?.len()));
        sizes.fold((0, 0), |(number, bytes), size| (number + 1, bytes + size))
    })
}

impl Cache {
    /// The cache in a folder, which is made if it does not exist; `None` if it cannot be used.
    pub fn open(folder: PathBuf) -> Option<Self> {
        if !folder.is_absolute() {
            return None;
        }
        folder::make(&folder).ok()?;
        let first = RandomState::new().hash_one(0) as u32 % SWEEP_EVERY;
        folder::is_private(&folder).then_some(Self { folder, written: AtomicU32::new(first) })
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.folder.join(&key.0)
    }

    /// The entry, if there is a sound one.
    pub fn get<T>(&self, key: &Key, decode: impl FnOnce(&[u8]) -> Result<T, DecodeError>) -> Option<T> {
        let path = self.path(key);
        let bytes = fs::read(&path).ok()?;
        match decode(&bytes) {
            Ok(value) => {
                // A used entry gets a new time; if that fails, it is evicted earlier.
                let _ = fs::File::open(&path).and_then(|f| f.set_modified(SystemTime::now()));
                Some(value)
            }
            Err(_) => {
                let _ = fs::remove_file(&path);
                None
            }
        }
    }

    /// Writes a bug down, if that can be done.
    pub fn note_bug(&self, text: &str) {
        let path = self.folder.join(BUGS);
        if fs::metadata(&path).map_or(0, |m| m.len()) < MAX_BUGS {
            let line = format!("{}\n", text.replace('\n', " "));
            // One call, so that lines of several processes do not mix.
            let _ = fs::OpenOptions::new()
                .append(true)
                .create(true)
                .open(path)
                .and_then(|mut f| f.write_all(line.as_bytes()));
        }
    }

    /// Adds an entry, or replaces it, if it can be written.
    pub fn put(&self, key: &Key, entry: &[u8]) {
        let _ = folder::put(&self.path(key), ".new", entry);
        let number = self.written.fetch_add(1, Ordering::Relaxed);
        if number.is_multiple_of(SWEEP_EVERY) {
            sweep(&self.folder, MAX_BYTES, KEEP_BYTES);
        }
    }
}

/// Evicts the least recently used entries, if the folder is too large.
fn sweep(folder: &Path, max: u64, keep: u64) {
    let Ok(dir) = fs::read_dir(folder) else { return };
    let mut entries: Vec<(SystemTime, u64, PathBuf)> = dir
        .filter_map(|e| {
            let path = e.ok()?.path();
            // Only files of the cache: the folder may have other files.
            let ours = path.extension().is_some_and(|x| x == "new" || SUFFIXES.iter().any(|&suffix| x == suffix));
            let meta = fs::symlink_metadata(&path).ok().filter(|m| ours && m.is_file())?;
            Some((meta.modified().ok()?, meta.len(), path))
        })
        .collect();
    let mut total: u64 = entries.iter().map(|e| e.1).sum();
    if total <= max {
        return;
    }
    entries.sort();
    for (_, size, path) in entries {
        if total <= keep {
            break;
        }
        if fs::remove_file(path).is_ok() {
            total -= size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cloom_artifact::{GpuLaunch, KernelArtifact, LaunchForm};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    fn artifact(name: &str, size: usize) -> KernelArtifact {
        KernelArtifact {
            name: name.into(),
            target: Default::default(),
            code: vec![7; size],
            entry: "e".into(),
            args: vec![],
            arg_block: 0,
            local_size: 0,
            launch: LaunchForm::WorkItem(GpuLaunch::default()),
            private_size: 0,
            reqd_group_size: None,
            reqd_subgroup_size: None,
            denorms_are_zero: false,
            printf_formats: vec![],
            enqueues: false,
        }
    }

    #[test]
    fn entries_come_back_and_damaged_ones_do_not() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(dir.path().join("a/b")).unwrap();
        let key = Key::of_kernel(&"x").unwrap();
        let get = |key: &Key| cache.get(key, KernelArtifact::decode);
        assert_eq!(get(&key), None);
        cache.put(&key, &artifact("k", 100).encode());
        assert_eq!(get(&key), Some(artifact("k", 100)));
        assert_eq!(get(&Key::of_kernel(&"y").unwrap()), None);
        assert_eq!(get(&Key::of_kernel(&"").unwrap()), None);
        assert_eq!(get(&Key::of_source(&"x").unwrap()), None);
        let path = cache.path(&key);
        let mut bytes = fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, bytes).unwrap();
        assert_eq!(get(&key), None);
        assert!(!path.exists());
    }

    #[test]
    fn entries_are_for_nobody_else_to_write_and_remnants_of_none() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(dir.path().to_owned()).unwrap();
        let key = Key::of_kernel(&"x").unwrap();
        (0..3).for_each(|n| cache.put(&key, &artifact("k", n).encode()));
        let found: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().path()).collect();
        assert_eq!(found, [cache.path(&key)]);
        assert_eq!(fs::metadata(&found[0]).unwrap().mode() & 0o777, 0o600);
    }

    /// Each of many processes with one number, as in containers, makes one entry.
    #[test]
    fn processes_that_make_few_entries_keep_the_folder_small() {
        let dir = tempfile::tempdir().unwrap();
        let old = dir.path().join("old.kernel");
        fs::File::create(&old).unwrap().set_len(MAX_BYTES + 1).unwrap();
        fs::File::open(&old).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        for n in 0..1000u32 {
            let cache = Cache::open(dir.path().to_owned()).unwrap();
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
        assert!(Cache::open(dir.path().to_owned()).is_none());
        assert!(Cache::open("relative".into()).is_none());
        assert!(Cache::open("/dev/null/x".into()).is_none());
    }

    #[test]
    fn the_oldest_entries_go_first_and_strangers_stay() {
        let dir = tempfile::tempdir().unwrap();
        for i in 0..10u64 {
            let path = dir.path().join(format!("{i}.{}", SUFFIXES[i as usize % 2]));
            fs::write(&path, [0; 1000]).unwrap();
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1000 + i);
            fs::File::open(&path).unwrap().set_modified(time).unwrap();
        }
        fs::write(dir.path().join("diary.txt"), [0; 5000]).unwrap();
        sweep(dir.path(), 8000, 5000);
        let mut left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["5.source", "6.kernel", "7.source", "8.kernel", "9.source", "diary.txt"]);
    }
}
