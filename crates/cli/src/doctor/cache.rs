//! Checks the disk cache of compiled kernels: its folder, whether it can be used, its size, and which bugs of the
//! compiler were written down there.

use super::Finding;
use crate::stats::bytes;
use cloom_compiler::Config;
use std::fs;
use std::os::unix::fs::MetadataExt;
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
        Some(folder) => std::iter::once(folder_state(&folder)).chain(bugs(&folder)).collect(),
    }
}

/// Kernels that are slow because of a bug.
fn bugs(folder: &Path) -> Option<Finding> {
    let (file, bugs) = cloom_compiler::bugs(folder);
    let what = format!(
        "bugs of Cloom have made {} kernels slow, their results are right; the last one: {}",
        bugs.len(),
        bugs.last()?
    );
    Some(Finding::warning(
        AREA,
        what,
        format!("report it with the source of the kernel, then remove {}", file.display()),
    ))
}

fn folder_state(folder: &Path) -> Finding {
    let shown = folder.display();
    let bad = |why: String, advice: String| {
        Finding::warning(AREA, format!("{shown} cannot be used: {why}"), format!("{advice}; {AFFECTS}"))
    };
    if !folder.is_absolute() {
        return bad("it is not an absolute path".into(), "set CLOOM_CACHE_DIR to one that starts with /".into());
    }
    let meta = match fs::metadata(folder) {
        Ok(meta) => meta,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return missing(folder),
        Err(e) => return bad(e.to_string(), "set CLOOM_CACHE_DIR to another folder".into()),
    };
    let me = fs::metadata("/proc/self").map(|m| m.uid());
    if !meta.is_dir() {
        return bad("it is no folder".into(), format!("remove {shown}"));
    }
    if me.is_ok_and(|me| me != meta.uid()) {
        return bad("it belongs to another user".into(), format!("sudo chown $(id -u) {shown}"));
    }
    if meta.mode() & 0o022 != 0 {
        return bad("others may write to it, and what is in it is run".into(), format!("chmod go-w {shown}"));
    }
    if let Err(e) = tempfile::tempfile_in(folder) {
        return bad(format!("nothing can be written there: {e}"), "free space, or set CLOOM_CACHE_DIR".into());
    }
    let [kernels, sources] = cloom_compiler::cache_contents(folder);
    let size = bytes(kernels.1 + sources.1);
    Finding::ok(AREA, format!("{shown} is writable; {} kernels, {} sources, {size}", kernels.0, sources.0))
}

/// A folder that does not exist yet is made when it is needed, if its parent is writable.
fn missing(folder: &Path) -> Finding {
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
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn bugs_that_were_written_down_are_told() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(bugs(dir.path()), None);
        fs::write(cloom_compiler::bugs(dir.path()).0, "kernel `a`: x\nkernel `b`: y\n").unwrap();
        let told = bugs(dir.path()).unwrap();
        assert_eq!(told.status, Status::Warning);
        assert!(told.what.contains("2 kernels") && told.what.ends_with("kernel `b`: y"), "{}", told.what);
    }

    #[test]
    fn a_good_folder_and_each_bad_one() {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(dir.path().join("x.kernel"), [0; 1024]).unwrap();
        fs::write(dir.path().join("x.source"), [0; 1024]).unwrap();
        fs::write(dir.path().join("x.txt"), [0; 1024]).unwrap();
        let good = folder_state(dir.path());
        assert_eq!((good.status, good.what.ends_with("1 kernels, 1 sources, 2.0 KiB")), (Status::Ok, true), "{good:?}");
        assert_eq!(folder_state(&dir.path().join("a/b")).status, Status::Ok);
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let open = folder_state(dir.path());
        assert!(open.status == Status::Warning && open.advice.is_some_and(|a| a.contains("chmod go-w")));
        assert_eq!(folder_state(Path::new("relative")).status, Status::Warning);
        assert_eq!(folder_state(Path::new("/proc/nothing/here")).status, Status::Warning);
        assert_eq!(folder_state(&dir.path().join("x.kernel")).status, Status::Warning);
    }
}
