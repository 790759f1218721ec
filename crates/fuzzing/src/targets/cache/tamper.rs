//! What happens to a cache's folder that no process of Cloom does.

use super::place::{self, Place};
use super::programs::Entry;
use cloom_compiler::CacheFolder;
use cloom_filetest::generate::types::Rng;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::geteuid;
use std::ffi::OsString;
use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A user who is nobody.
const NOBODY: u32 = 65533;

/// Does things to entries.
pub struct Tamperer<'a> {
    pub folder: &'a Path,
    pub outside: &'a Path,
    /// Entries that caches make, those of the folder and others.
    pub entries: &'a [&'a Entry],
    /// Whether nothing outside of the folder may change, because the cache is looked at meanwhile.
    pub is_racing: bool,
}

impl Tamperer<'_> {
    /// One thing to one or two entries. What cannot be done is left.
    pub fn act(&self, rng: &mut Rng) {
        let _ = self.try_to_act(rng);
    }

    fn try_to_act(&self, rng: &mut Rng) -> io::Result<()> {
        let (one, two) = (self.any(rng), self.any(rng));
        match rng.below(24) {
            0 => fs::rename(one, two),
            1 => {
                let between = self.folder.join("between");
                fs::rename(&one, &between)?;
                let _ = fs::rename(&two, &one);
                fs::rename(between, two)
            }
            2 => {
                let bytes = self.read(&one)?;
                fs::write(self.emptied(&two)?, bytes)
            }
            3 => fs::hard_link(&one, self.emptied(&two)?),
            4..=8 => self.change(&one, rng),
            9 => mknodat(CWD, self.emptied(&one)?, FileType::Fifo, Mode::from(0o600), 0).map_err(Into::into),
            10 => mknodat(CWD, self.emptied(&one)?, FileType::Socket, Mode::from(0o600), 0).map_err(Into::into),
            11 => {
                fs::create_dir(self.emptied(&one)?)?;
                if rng.chance(50) { fs::write(one.join("inner.kernel"), "x") } else { Ok(()) }
            }
            12..=14 => symlink(self.target(&one, &two, rng)?, self.emptied(&one)?),
            15 | 16 => {
                let mode = rng.pick(&[0, 0o400, 0o600, 0o622, 0o644, 0o666, 0o777, 0o4755]);
                fs::set_permissions(self.file(&one)?, Permissions::from_mode(mode))
            }
            17 if geteuid().is_root() => chown(self.file(&one)?, Some(NOBODY), None),
            18 => fs::hard_link(self.outside_copy(&one, rng)?, self.emptied(&one)?),
            19 if !self.is_racing => fs::hard_link(self.file(&one)?, self.outside.join("link")),
            20 => self.foreign(rng),
            21 => File::create(self.emptied(&one)?)?.set_len(rng.pick(&[1 << 20, 64 << 20, (64 << 20) + 1, 300 << 20])),
            22 => File::options().write(true).open(self.file(&one)?)?.set_modified(any_time(rng)),
            _ => self.emptied(&one).map(drop),
        }
    }

    /// An entry that is there, or one that could be.
    fn any(&self, rng: &mut Rng) -> PathBuf {
        let mut there: Vec<PathBuf> =
            fs::read_dir(self.folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
        there.sort();
        if there.is_empty() || rng.chance(25) {
            return self.folder.join(&rng.pick(self.entries).name);
        }
        rng.pick(&there)
    }

    /// The same path, with nothing there.
    fn emptied<'p>(&self, path: &'p Path) -> io::Result<&'p Path> {
        match fs::symlink_metadata(path) {
            Ok(about) if about.is_dir() => fs::remove_dir_all(path)?,
            Ok(_) => fs::remove_file(path)?,
            Err(_) => {}
        }
        Ok(path)
    }

    /// The same path, if a regular file is there that may be changed.
    fn file<'p>(&self, path: &'p Path) -> io::Result<&'p Path> {
        let may_change = |about: &Metadata| about.is_file() && (about.nlink() == 1 || !self.is_racing);
        if may_change(&fs::symlink_metadata(path)?) { Ok(path) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    /// The contents of such a file, if it is not large.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if fs::metadata(self.file(path)?)?.len() > 1 << 20 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        fs::read(path)
    }

    /// Other contents, in the file itself or in a new one of its name.
    fn change(&self, one: &Path, rng: &mut Rng) -> io::Result<()> {
        let mut bytes = self.read(one)?;
        let at = rng.below(bytes.len().max(1) as u64) as usize;
        match rng.below(8) {
            0 => bytes.truncate(at),
            1 => bytes.clear(),
            // In the envelope, or anywhere.
            2 => bytes.iter_mut().skip(at % 48).take(1).for_each(|byte| *byte ^= 1 << rng.below(8)),
            3 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << rng.below(8)),
            4 => bytes.iter_mut().skip(at).take(64).for_each(|byte| *byte = rng.next() as u8),
            5 => bytes.extend(vec![0; at]),
            6 => bytes = rng.pick(&[b"\x7fELF".to_vec(), b"kernel void k() { }".to_vec(), b"CLOOM\0".to_vec()]),
            _ => bytes = rng.pick(self.entries).bytes.clone(),
        }
        fs::write(if rng.chance(50) { one } else { self.emptied(one)? }, bytes)
    }

    /// Where a link leads.
    fn target(&self, one: &Path, two: &Path, rng: &mut Rng) -> io::Result<PathBuf> {
        Ok(match rng.below(9) {
            0 => PathBuf::from(two.file_name().unwrap_or_default()),
            1 => two.to_owned(),
            2 => one.to_owned(),
            3 => self.outside.join("secret"),
            4 => self.outside.join("nothing"),
            5 => self.outside.join("folder"),
            6 => PathBuf::from("/dev/zero"),
            7 => PathBuf::from(".."),
            _ => self.outside_copy(one, rng)?,
        })
    }

    /// A file outside: mostly a copy of what a cache would make under this name.
    fn outside_copy(&self, one: &Path, rng: &mut Rng) -> io::Result<PathBuf> {
        let entry = self.entries.iter().find(|entry| one.ends_with(&entry.name)).filter(|_| rng.chance(80));
        let Some(entry) = entry else { return Ok(self.outside.join("secret")) };
        let copy = self.outside.join(&entry.name);
        if !self.is_racing {
            place::fill(self.outside, entry)?;
        }
        Ok(copy)
    }

    /// A file that no cache makes, or what one that was killed has left.
    fn foreign(&self, rng: &mut Rng) -> io::Result<()> {
        let long = OsString::from("n".repeat(248) + ".kernel");
        let names = [
            "diary.txt".into(),
            ".kernel".into(),
            "old.kernel".into(),
            "a\nb.source".into(),
            OsString::from_vec(b"\xff\xfe.kernel".to_vec()),
            long,
            "0123456789abcdef.new".into(),
            "0123456789abcdef.part".into(),
            CacheFolder::BUGS.into(),
        ];
        let path = self.folder.join(rng.pick(&names));
        let text = "a line\n".repeat(rng.pick(&[0, 1, 1000, 10_000]));
        fs::write(self.emptied(&path)?, text)?;
        match rng.below(4) {
            0 => File::options().write(true).open(path)?.set_modified(any_time(rng)),
            1 => symlink(self.target(&path, &path, rng)?, self.emptied(&path)?),
            2 => mknodat(CWD, self.emptied(&path)?, FileType::Fifo, Mode::from(0o600), 0).map_err(Into::into),
            _ => fs::hard_link(self.outside.join("secret"), self.emptied(&path)?),
        }
    }
}

fn any_time(rng: &mut Rng) -> SystemTime {
    let (begin, far) = (SystemTime::UNIX_EPOCH, Duration::from_secs(1 << rng.below(34)));
    if rng.chance(30) { begin - far } else { begin + far }
}

/// Does something to the folder itself, before a process opens it.
pub fn folder(place: &Place, rng: &mut Rng) -> io::Result<()> {
    let path = &place.path;
    let elsewhere = || fs::rename(path, place.outside.join("elsewhere"));
    match rng.below(9) {
        0 | 1 => {
            let mode = rng.pick(&[0o500, 0o700, 0o722, 0o755, 0o777, 0o1777]);
            fs::set_permissions(path, Permissions::from_mode(mode))
        }
        2 if geteuid().is_root() => chown(path, Some(NOBODY), None),
        3 => elsewhere().and_then(|()| symlink(place.outside.join("elsewhere"), path)),
        4 => elsewhere().and_then(|()| symlink(place.outside.join("nothing"), path)),
        5 => elsewhere().and_then(|()| symlink(path, path)),
        6 => elsewhere().and_then(|()| fs::write(path, "no folder")),
        7 => elsewhere().and_then(|()| mknodat(CWD, path, FileType::Fifo, Mode::from(0o600), 0).map_err(Into::into)),
        _ => elsewhere(),
    }
}

/// Does something to the folder itself while a process has it open: puts something else in its place, mostly.
pub fn swap(place: &mut Place, entries: &[&Entry], rng: &mut Rng) -> io::Result<()> {
    let Some(held) = place.held.clone() else { return Ok(()) };
    match rng.below(10) {
        0 => return fs::set_permissions(held, Permissions::from_mode(rng.pick(&[0o777, 0o720, 0o702]))),
        1 if geteuid().is_root() => return chown(held, Some(NOBODY), None),
        2 => return fs::remove_dir_all(held),
        _ => {}
    }
    let moved = place.beside("moved");
    if fs::symlink_metadata(&place.path)?.is_symlink() {
        fs::remove_file(&place.path)?;
    } else {
        fs::rename(&place.path, &moved)?;
        place.held = Some(moved.clone());
    }
    match rng.below(7) {
        0 => Ok(()),
        1 => fs::write(&place.path, "no folder"),
        2 => symlink(place.outside.join("folder"), &place.path),
        3 => symlink(moved, &place.path),
        4 => mknodat(CWD, &place.path, FileType::Fifo, Mode::from(0o600), 0).map_err(Into::into),
        // A folder with every entry under another's name, or under its own.
        way => {
            fs::create_dir(&place.path)?;
            fs::set_permissions(&place.path, Permissions::from_mode(0o700))?;
            let shift = if way == 5 { 1 } else { 0 };
            let others = entries.iter().cycle().skip(shift);
            entries.iter().zip(others).try_for_each(|(entry, other)| {
                place::fill(&place.path, &Entry { name: entry.name.clone(), bytes: other.bytes.clone() })
            })
        }
    }
}
