//! Checks the disk cache of compiled kernels: its folder, whether it can be used, its size, and which bugs of the
//! compiler were written down there.

use super::Finding;
use crate::stats::bytes;
use cloom_compiler::{CacheFolder, Config, FolderError};
use std::io::ErrorKind;
use std::path::Path;

const AREA: &str = "cache";
const AFFECTS: &str = "until then every program compiles its kernels anew";

/// Checks it.
pub fn look() -> Vec<Finding> {
    match Config::from_env().cache_dir {
        None if cloom_caps::env::CACHE.is_off() => vec![Finding::info(AREA, "switched off by CLOOM_CACHE")],
        None => vec![Finding::warning(
            AREA,
            "there is no folder for it: neither HOME nor XDG_CACHE_HOME nor CLOOM_CACHE_DIR is set",
            format!("set CLOOM_CACHE_DIR to a folder of yours; {AFFECTS}"),
        )],
        Some(path) => match CacheFolder::open(&path) {
            Ok(folder) => std::iter::once(state(&path, &folder)).chain(bugs(&path, &folder)).collect(),
            Err(why) => vec![refusal(&path, &why)],
        },
    }
}

/// Kernels that are slow because of a bug.
fn bugs(path: &Path, folder: &CacheFolder) -> Option<Finding> {
    let bugs = folder.bugs();
    let what = format!(
        "bugs of Cloom have made {} kernels slow, their results are right; the last one: {}",
        bugs.len(),
        bugs.last()?
    );
    let file = path.join(CacheFolder::BUGS);
    Some(Finding::warning(
        AREA,
        what,
        format!("report it with the source of the kernel, then remove {}", file.display()),
    ))
}

fn bad(path: &Path, why: &str, advice: &str) -> Finding {
    Finding::warning(AREA, format!("{} cannot be used: {why}", path.display()), format!("{advice}; {AFFECTS}"))
}

/// A folder that the driver uses.
fn state(path: &Path, folder: &CacheFolder) -> Finding {
    if let Err(e) = folder.try_put() {
        return bad(path, &format!("nothing can be written there: {e}"), "free space, or set CLOOM_CACHE_DIR");
    }
    let [kernels, sources] = folder.contents();
    let (shown, size) = (path.display(), bytes(kernels.1 + sources.1));
    Finding::ok(AREA, format!("{shown} is writable; {} kernels, {} sources, {size}", kernels.0, sources.0))
}

/// A folder that the driver does not use, or that it has to make.
fn refusal(path: &Path, why: &FolderError) -> Finding {
    let shown = path.display();
    match why {
        FolderError::Relative => {
            bad(path, "it is not an absolute path", "set CLOOM_CACHE_DIR to one that starts with /")
        }
        FolderError::Owner => bad(path, "it belongs to another user", &format!("sudo chown $(id -u) {shown}")),
        FolderError::Writable => {
            bad(path, "others may write to it, and what is in it is run", &format!("chmod go-w {shown}"))
        }
        FolderError::Io(e) if e.kind() == ErrorKind::NotFound => missing(path),
        FolderError::Io(e) if e.kind() == ErrorKind::NotADirectory => {
            bad(path, "it is no folder", &format!("remove {shown}"))
        }
        FolderError::Io(e) => bad(path, &e.to_string(), "set CLOOM_CACHE_DIR to another folder"),
    }
}

/// A folder that does not exist yet is made when it is needed, if its parent is writable.
fn missing(folder: &Path) -> Finding {
    // Folders that are missing are all made; so the nearest one that exists decides.
    let above = folder.ancestors().skip(1).find(|a| a.exists()).unwrap_or(Path::new("/"));
    match tempfile::tempfile_in(above) {
        Ok(_) => Finding::ok(AREA, format!("{} does not exist yet and can be made", folder.display())),
        Err(e) => Finding::warning(
            AREA,
            format!("{} does not exist and cannot be made: {}: {e}", folder.display(), above.display()),
            format!("set CLOOM_CACHE_DIR to a folder of yours; {AFFECTS}"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::*;
    use rustix::fs::{CWD, Mode, mkfifoat};
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// What is said of a folder.
    fn folder_state(path: &Path) -> Finding {
        match CacheFolder::open(path) {
            Ok(folder) => state(path, &folder),
            Err(why) => refusal(path, &why),
        }
    }

    fn folder() -> (tempfile::TempDir, CacheFolder) {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let folder = CacheFolder::open(dir.path()).unwrap();
        (dir, folder)
    }

    #[test]
    fn bugs_that_were_written_down_are_told() {
        let (dir, folder) = folder();
        assert_eq!(bugs(dir.path(), &folder), None);
        fs::write(dir.path().join(CacheFolder::BUGS), "kernel `a`: x\nkernel `b`: y\n").unwrap();
        let told = bugs(dir.path(), &folder).unwrap();
        assert_eq!(told.status, Status::Warning);
        assert!(told.what.contains("2 kernels") && told.what.ends_with("kernel `b`: y"), "{}", told.what);
    }

    /// As in the driver, nothing is waited for and no link is followed.
    #[test]
    fn a_file_of_bugs_that_is_none_says_nothing() {
        let (dir, folder) = folder();
        let file = dir.path().join(CacheFolder::BUGS);
        mkfifoat(CWD, &file, Mode::RUSR | Mode::WUSR).unwrap();
        assert_eq!(bugs(dir.path(), &folder), None);
        fs::remove_file(&file).unwrap();
        symlink("/dev/zero", &file).unwrap();
        assert_eq!(bugs(dir.path(), &folder), None);
    }

    #[test]
    fn a_good_folder_and_each_bad_one() {
        let (dir, _) = folder();
        fs::write(dir.path().join("x.kernel"), [0; 1024]).unwrap();
        fs::write(dir.path().join("x.source"), [0; 1024]).unwrap();
        fs::write(dir.path().join("x.txt"), [0; 1024]).unwrap();
        // The driver takes no link for an entry.
        symlink("x.kernel", dir.path().join("y.kernel")).unwrap();
        let good = folder_state(dir.path());
        assert_eq!((good.status, good.what.ends_with("1 kernels, 1 sources, 2.0 KiB")), (Status::Ok, true), "{good:?}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 4, "it leaves nothing");
        assert_eq!(folder_state(&dir.path().join("a/b")).status, Status::Ok);
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let open = folder_state(dir.path());
        assert!(open.status == Status::Warning && open.advice.is_some_and(|a| a.contains("chmod go-w")));
        assert_eq!(folder_state(Path::new("relative")).status, Status::Warning);
        assert_eq!(folder_state(Path::new("/proc/nothing/here")).status, Status::Warning);
        let file = folder_state(&dir.path().join("x.kernel"));
        assert!(file.status == Status::Warning && file.what.contains("it is no folder"), "{file:?}");
    }
}
