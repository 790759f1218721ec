//! Folders that keep code on disk: what is found there is run, so nobody else may have put it there.
//!
//! A [`Folder`] is opened once and held as a descriptor: whoever may write to its parent can put another folder under
//! its name, but not under the descriptor. Its files are reached from there, and only regular files of this user's that
//! nobody else may write are read; a link is not followed, and a pipe or a device does not block. A file is made apart
//! and renamed, so that many processes can share the folder.

use rustix::fs::{self, AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use rustix::process::{Resource, geteuid, getrlimit};
use std::ffi::CStr;
use std::fs::{DirBuilder, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Bytes of the largest file that is read or written.
const MAX_FILE: u64 = 64 << 20;
/// After so long, a file that is still being written is a remnant of a process that was killed.
const ABANDONED: Duration = Duration::from_secs(600);
/// Files of one folder that are looked at when the oldest are removed.
const MAX_LISTED: usize = 1 << 16;

/// Why a folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It depends on the working folder.
    #[error("it is not an absolute path: give one that starts with /")]
    Relative,
    /// It cannot be made or opened.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Somebody else can change what is in it.
    #[error("it belongs to another user: give a folder of your own")]
    Owner,
    /// Others may write.
    #[error("others may write to it, and what is in it is run: chmod go-w makes it private")]
    Writable,
}

/// A folder of this user's that nobody else may write to.
pub struct Folder {
    descriptor: OwnedFd,
    /// Device and number of the folder. An application may close descriptors that it does not know, and another file
    /// may get the number.
    identity: (u64, u64),
    /// What the names of files end in until they are whole.
    unfinished: &'static str,
}

/// A file in a folder.
struct Listed {
    modified: SystemTime,
    size: u64,
    name: String,
}

impl Folder {
    /// Opens a folder, and makes it for this user alone, with those that it is in, if it does not exist. A file that is
    /// being written has a name that ends in `unfinished`.
    pub fn make(path: &Path, unfinished: &'static str) -> Result<Folder, FolderError> {
        // A relative path would be another folder after each change of the working folder.
        if !path.is_absolute() {
            return Err(FolderError::Relative);
        }
        // Folders that exist already keep their modes; `open` checks the last one.
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        Self::open(path, unfinished)
    }

    /// Opens a folder that exists.
    pub fn open(path: &Path, unfinished: &'static str) -> Result<Folder, FolderError> {
        if !path.is_absolute() {
            return Err(FolderError::Relative);
        }
        // A link to a folder is followed here: what counts is who owns the folder that it leads to.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let descriptor = fs::open(path, flags, Mode::empty()).map_err(io::Error::from)?;
        let about = fs::fstat(&descriptor).map_err(io::Error::from)?;
        check_owner(&about)?;
        Ok(Folder { descriptor, identity: identity(&about), unfinished })
    }

    /// The descriptor, if it still is that of a private folder.
    fn descriptor(&self) -> io::Result<&OwnedFd> {
        let about = fs::fstat(&self.descriptor)?;
        // Before each use: the mode may have been changed since, and the descriptor may be another file's by now.
        if identity(&about) != self.identity || check_owner(&about).is_err() {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(&self.descriptor)
    }

    /// Opens a file, if it is a regular one of this user's that nobody else may write, with at most [`MAX_FILE`] bytes.
    fn open_file(&self, name: &str) -> io::Result<(File, Stat)> {
        // Opening a pipe or a device does not wait, and no terminal becomes that of the process.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = File::from(fs::openat(self.descriptor()?, name, flags, Mode::empty())?);
        let about = fs::fstat(&file)?;
        // Asked of the open file and not of the name, which may lead to another file a moment later.
        if !is_file(&about) || check_owner(&about).is_err() || size(&about) > MAX_FILE {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok((file, about))
    }

    /// The contents of a file.
    pub fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let (file, about) = self.open_file(name)?;
        let mut bytes = Vec::with_capacity(size(&about) as usize);
        // It may grow meanwhile.
        file.take(MAX_FILE).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Whether there is a file that [`Folder::read`] would read.
    pub fn has(&self, name: &str) -> bool {
        self.open_file(name).is_ok()
    }

    /// Notes that a file is used now. If that fails, it is removed earlier. A file that has another name, too, stays as
    /// it is: that name may be in another folder.
    pub fn touch(&self, name: &str) {
        if let Ok((file, about)) = self.open_file(name)
            && about.st_nlink == 1
        {
            let _ = file.set_modified(SystemTime::now());
        }
    }

    /// Removes a file.
    pub fn remove(&self, name: &str) {
        let _ = self.descriptor().map(|folder| fs::unlinkat(folder, name, AtFlags::empty()));
    }

    /// Puts a file there by one renaming, so that nobody sees a part of it: a file that only this user may write. It
    /// takes the place of whatever has its name, unless that is a folder.
    pub fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        check_size(bytes.len() as u64)?;
        let folder = self.descriptor()?;
        let (mut file, unfinished) = self.new_file(folder)?;
        // Nothing is flushed to the disk: a file that a loss of power cuts short fails its checksum.
        let written = file.write_all(bytes).and_then(|()| Ok(fs::renameat(folder, &unfinished, folder, name)?));
        if written.is_err() {
            let _ = fs::unlinkat(folder, &unfinished, AtFlags::empty());
        }
        written
    }

    /// Whether files can be put there now.
    pub fn try_put(&self) -> io::Result<()> {
        check_size(1)?;
        let folder = self.descriptor()?;
        let (mut file, unfinished) = self.new_file(folder)?;
        let written = file.write_all(&[0]);
        let _ = fs::unlinkat(folder, &unfinished, AtFlags::empty());
        written
    }

    /// A new file, and its name.
    fn new_file(&self, folder: &OwnedFd) -> io::Result<(File, String)> {
        // `EXCL`: a file that somebody put under this name is never written to.
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut tries = 0;
        loop {
            let name = format!("{:016x}{}", RandomState::new().hash_one(tries), self.unfinished);
            match fs::openat(folder, &name, flags, Mode::RUSR | Mode::WUSR) {
                Ok(file) => return Ok((file.into(), name)),
                // The names are random, so that a second attempt nearly always succeeds; the limit makes sure that the
                // loop ends.
                Err(Errno::EXIST) if tries < 8 => tries += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Adds a line to a text, if that has less than so many bytes and no other name. It is one call, so that lines of
    /// several processes do not mix.
    pub fn add_line(&self, name: &str, line: &str, max: u64) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW;
        let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let mut file = File::from(fs::openat(self.descriptor()?, name, flags, Mode::RUSR | Mode::WUSR)?);
        let about = fs::fstat(&file)?;
        // A second name may be in a folder of another application, whose file would grow.
        if !is_file(&about) || check_owner(&about).is_err() || about.st_nlink != 1 || size(&about) >= max {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        check_size(size(&about) + line.len() as u64)?;
        file.write_all(line.as_bytes())
    }

    /// The names and sizes of the files of interest.
    pub fn sizes(&self, is_entry: impl Fn(&str) -> bool) -> io::Result<Vec<(String, u64)>> {
        Ok(self.list(is_entry)?.into_iter().map(|file| (file.name, file.size)).collect())
    }

    /// Whether one of its files is of interest.
    pub fn any(&self, is_entry: impl Fn(&str) -> bool) -> bool {
        self.list(is_entry).is_ok_and(|files| !files.is_empty())
    }

    /// Removes remnants of processes that were killed; and, if the files of interest together have more than `max`
    /// bytes, the least recently used ones until `keep` are left.
    pub fn evict(&self, is_entry: impl Fn(&str) -> bool, max: u64, keep: u64) -> io::Result<()> {
        let mut files = self.list(|name| is_entry(name) || name.ends_with(self.unfinished))?;
        files.retain(|file| {
            let is_remnant = !is_entry(&file.name) && file.modified.elapsed().is_ok_and(|age| age > ABANDONED);
            if is_remnant {
                self.remove(&file.name);
            }
            !is_remnant
        });
        let mut total: u64 = files.iter().map(|file| file.size).sum();
        if total <= max {
            return Ok(());
        }
        // The name decides between files of one time, and not the order in which the folder lists them.
        files.sort_by(|a, b| (a.modified, &a.name).cmp(&(b.modified, &b.name)));
        for file in &files {
            if total <= keep {
                break;
            }
            // Another process may have removed it.
            self.remove(&file.name);
            total -= file.size;
        }
        Ok(())
    }

    /// The regular files of interest.
    fn list(&self, is_wanted: impl Fn(&str) -> bool) -> io::Result<Vec<Listed>> {
        let folder = self.descriptor()?;
        let mut files = Vec::new();
        for entry in Dir::read_from(folder)?.flatten() {
            let Some(name) = wanted(entry.file_name(), &is_wanted) else { continue };
            // Another process may have removed it since it was listed.
            let Ok(about) = fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            if is_file(&about) {
                files.push(Listed { modified: modified(&about), size: size(&about), name: name.to_owned() });
            }
            if files.len() == MAX_LISTED {
                break;
            }
        }
        Ok(files)
    }
}

/// A name, if it is of interest.
fn wanted<'a>(name: &'a CStr, is_wanted: &impl Fn(&str) -> bool) -> Option<&'a str> {
    name.to_str().ok().filter(|name| is_wanted(name))
}

fn identity(about: &Stat) -> (u64, u64) {
    (about.st_dev, about.st_ino)
}

fn size(about: &Stat) -> u64 {
    u64::try_from(about.st_size).unwrap_or(u64::MAX)
}

fn is_file(about: &Stat) -> bool {
    FileType::from_raw_mode(about.st_mode) == FileType::RegularFile
}

fn check_owner(about: &Stat) -> Result<(), FolderError> {
    if about.st_uid != geteuid().as_raw() {
        return Err(FolderError::Owner);
    }
    // Reading is allowed to others: code is no secret.
    if about.st_mode & 0o022 != 0 {
        return Err(FolderError::Writable);
    }
    Ok(())
}

fn modified(about: &Stat) -> SystemTime {
    let seconds = Duration::from_secs(u64::try_from(about.st_mtime).unwrap_or(0));
    SystemTime::UNIX_EPOCH + seconds + Duration::from_nanos(about.st_mtime_nsec)
}

/// Whether a file of so many bytes may be written. A process that writes beyond its limit (`RLIMIT_FSIZE`) is ended by
/// a signal, which a library can neither catch nor block without an effect on the application.
fn check_size(bytes: u64) -> io::Result<()> {
    let limit = getrlimit(Resource::Fsize).current.unwrap_or(u64::MAX).min(MAX_FILE);
    if bytes > limit { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::path::PathBuf;

    fn folder() -> (tempfile::TempDir, PathBuf, Folder) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b");
        let folder = Folder::make(&path, ".new").unwrap();
        (dir, path, folder)
    }

    fn names(path: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            std::fs::read_dir(path).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn files_come_back_and_are_private() {
        let (_dir, path, folder) = folder();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        (0..3).for_each(|n| folder.put("x", &[n; 10]).unwrap());
        assert_eq!(folder.read("x").unwrap(), [2; 10]);
        assert_eq!(names(&path), ["x"]);
        assert_eq!(std::fs::metadata(path.join("x")).unwrap().mode() & 0o777, 0o600);
        assert!(folder.has("x") && !folder.has("y") && folder.any(|name| name == "x"));
    }

    #[test]
    fn what_is_no_private_file_is_not_read_and_makes_room() {
        let (_dir, path, folder) = folder();
        std::fs::write(path.join("outside"), "secret").unwrap();
        fs::mkfifoat(fs::CWD, path.join("fifo"), Mode::RUSR | Mode::WUSR).unwrap();
        symlink(path.join("outside"), path.join("link")).unwrap();
        symlink("/dev/zero", path.join("device")).unwrap();
        std::fs::create_dir(path.join("folder")).unwrap();
        std::fs::write(path.join("open"), "x").unwrap();
        std::fs::set_permissions(path.join("open"), std::fs::Permissions::from_mode(0o622)).unwrap();
        File::create(path.join("large")).unwrap().set_len(MAX_FILE + 1).unwrap();
        for name in ["fifo", "link", "device", "folder", "open", "large", "../b/outside/x", "none"] {
            assert!(folder.read(name).is_err() && !folder.has(name), "{name}");
            folder.touch(name);
        }
        for name in ["fifo", "link", "device", "folder", "large"] {
            assert!(folder.add_line(name, "x", 10).is_err(), "{name}");
        }
        for name in ["fifo", "link", "device", "open", "large"] {
            folder.put(name, b"new").unwrap();
            assert_eq!(folder.read(name).unwrap(), b"new", "{name}");
        }
        assert!(folder.put("folder", b"new").is_err());
        assert_eq!(std::fs::read(path.join("outside")).unwrap(), b"secret");
        assert!(names(&path).iter().all(|name| !name.ends_with(".new")), "{:?}", names(&path));
    }

    #[test]
    fn a_file_that_has_a_name_elsewhere_is_read_and_not_changed() {
        let (dir, path, folder) = folder();
        let outside = dir.path().join("outside");
        std::fs::write(&outside, "outside").unwrap();
        let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1000);
        File::options().append(true).open(&outside).unwrap().set_modified(old).unwrap();
        std::fs::hard_link(&outside, path.join("x")).unwrap();
        assert_eq!(folder.read("x").unwrap(), b"outside");
        folder.touch("x");
        assert!(folder.add_line("x", "line\n", 100).is_err());
        let is_as_before = || {
            let about = std::fs::metadata(&outside).unwrap();
            about.modified().unwrap() == old && std::fs::read(&outside).unwrap() == b"outside"
        };
        assert!(is_as_before());
        folder.put("x", b"new").unwrap();
        assert!(is_as_before() && folder.read("x").unwrap() == b"new");
        folder.touch("x");
        folder.add_line("x", "line\n", 100).unwrap();
        assert_eq!(folder.read("x").unwrap(), b"newline\n");
    }

    #[test]
    fn trying_leaves_nothing() {
        let (_dir, path, folder) = folder();
        folder.try_put().unwrap();
        assert!(names(&path).is_empty());
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(folder.try_put().is_err());
    }

    #[test]
    fn folders_that_others_can_change_are_refused() {
        let (_dir, path, folder) = folder();
        folder.put("x", b"x").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(Folder::open(&path, ".new"), Err(FolderError::Writable)));
        assert!(folder.read("x").is_err() && folder.put("y", b"y").is_err(), "nor one that is held");
        assert!(matches!(Folder::make("relative".as_ref(), ".new"), Err(FolderError::Relative)));
        assert!(matches!(Folder::make("/dev/null/x".as_ref(), ".new"), Err(FolderError::Io(_))));
        if geteuid().is_root() {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
            std::os::unix::fs::chown(&path, Some(65534), None).unwrap();
            assert!(matches!(Folder::open(&path, ".new"), Err(FolderError::Owner)));
        } else {
            eprintln!("not root: a folder of another user's cannot be made");
        }
    }

    #[test]
    fn a_file_of_another_user_is_not_read() {
        if !geteuid().is_root() {
            eprintln!("not root: a file of another user's cannot be made");
            return;
        }
        let (_dir, path, folder) = folder();
        folder.put("x", b"x").unwrap();
        std::os::unix::fs::chown(path.join("x"), Some(65534), None).unwrap();
        assert!(folder.read("x").is_err());
    }

    #[test]
    fn a_folder_that_takes_the_name_is_not_looked_at() {
        let (dir, path, folder) = folder();
        folder.put("x", b"mine").unwrap();
        std::fs::rename(&path, dir.path().join("away")).unwrap();
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("x"), "theirs").unwrap();
        assert_eq!(folder.read("x").unwrap(), b"mine");
        folder.put("y", b"mine").unwrap();
        assert_eq!(names(&path), ["x"]);
    }

    #[test]
    fn a_descriptor_that_became_another_folders_is_not_used() {
        let (dir, _path, folder) = folder();
        let other = dir.path().join("other");
        std::fs::create_dir(&other).unwrap();
        let taken = Folder { identity: folder.identity, ..Folder::make(&other, ".new").unwrap() };
        assert!(taken.put("x", b"x").is_err() && names(&other).is_empty());
    }

    #[test]
    fn the_oldest_files_go_first_and_strangers_stay() {
        let (_dir, path, folder) = folder();
        let at = |name: &str, seconds| {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            File::options().append(true).open(path.join(name)).unwrap().set_modified(time).unwrap();
        };
        for i in 0..10 {
            folder.put(&format!("{i}.x"), &[0; 1000]).unwrap();
            at(&format!("{i}.x"), 1000 + i);
        }
        std::fs::write(path.join("remnant.new"), [0; 100]).unwrap();
        at("remnant.new", 5);
        std::fs::write(path.join("young.new"), [0; 100]).unwrap();
        std::fs::write(path.join("diary.txt"), [0; 5000]).unwrap();
        folder.evict(|name| name.ends_with(".x"), 8000, 5200).unwrap();
        assert_eq!(names(&path), ["5.x", "6.x", "7.x", "8.x", "9.x", "diary.txt", "young.new"]);
    }

    #[test]
    fn lines_are_added_up_to_a_size() {
        let (_dir, _path, folder) = folder();
        (0..10).for_each(|_| drop(folder.add_line("bugs", "12345\n", 15)));
        assert_eq!(folder.read("bugs").unwrap(), b"12345\n".repeat(3));
    }
}
