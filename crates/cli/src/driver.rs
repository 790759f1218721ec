//! Finds Cloom's own driver, and makes the ICD loader offer it if it is not registered.
//!
//! The gallery reaches every platform through the loader, which reads its environment only once. So if Cloom is wanted
//! and the loader does not list it, this program replaces itself (`exec`) by the same command line in an environment
//! that names the driver installed with it.

use crate::outcome::Failure;
use cloom_gallery::{Choice, Found, cl};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The driver's file.
pub const FILE: &str = "libcloom.so";
/// ocl-icd's variable for the folder of `.icd` files.
const VENDORS: &str = "OCL_ICD_VENDORS";
/// The Khronos loader's variable for drivers, separated by colons.
const FILENAMES: &str = "OCL_ICD_FILENAMES";
/// The variable for a library to load in the place of the loader.
const DYLIB: &str = "OPENCL_DYLIB_PATH";
/// The platform's name.
pub const PLATFORM: &str = "cloom";

/// The driver that was built or installed with this program.
pub fn beside() -> Option<PathBuf> {
    let exe = std::env::current_exe().ok()?;
    let dir = exe.parent()?;
    // The folders of a package, and those of cargo for a build and for a test. The newest file counts, and of equally
    // old ones the last.
    let folders = ["..", "../lib/cloom", "../lib", "deps", ""].map(|sub| dir.join(sub));
    of_python(dir)
        .into_iter()
        .chain(folders)
        .map(|folder| folder.join(FILE))
        .filter(|p| p.is_file())
        .max_by_key(|p| p.metadata().and_then(|m| m.modified()).ok())
        .and_then(|p| p.canonicalize().ok())
}

/// The folders in which the Python package `cloom` has the driver, if that is where the program in `dir` is from.
fn of_python(dir: &Path) -> Vec<PathBuf> {
    const IN_PACKAGES: &str = "pyopencl/.libs";
    let mut folders = Vec::new();
    // `<prefix>/lib/python3.11/site-packages`, also of Debian's Python.
    for entry in std::fs::read_dir(dir.join("../lib")).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with("python") {
            let packages = |name: &str| entry.path().join(name).join(IN_PACKAGES);
            folders.extend(["site-packages", "dist-packages"].map(packages));
        }
    }
    // Of `pip install --target`.
    folders.push(dir.join("..").join(IN_PACKAGES));
    folders
}

/// Whether a file has the driver's name, with or without a version.
pub fn is_own(library: &Path) -> bool {
    let name = library.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    name.strip_prefix(FILE).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn is_cloom(found: &Found) -> bool {
    found.platform.to_lowercase().contains(PLATFORM)
}

/// Sets the environment in which a loader offers only the driver at that path. ocl-icd takes a library in
/// `OCL_ICD_VENDORS`, the Khronos loader in `OCL_ICD_FILENAMES`; where there is no loader, the driver itself can be
/// loaded instead.
pub fn only(command: &mut Command, library: &Path, loader: bool) {
    command.env(VENDORS, library).env(FILENAMES, library).env_remove("OPENCL_VENDOR_PATH");
    if !loader {
        command.env(DYLIB, library);
    }
}

/// Replaces this process by the same command line where only the driver at that path is offered, unless it is that.
/// Returns if it is, or why it could not.
fn with_only(library: &Path, loader: bool) -> Result<(), Failure> {
    let names = |variable: &str| std::env::var_os(variable).is_some_and(|v| Path::new(&v) == library);
    // This process is the one that was started again; starting it once more would never end.
    if names(VENDORS) && (loader || names(DYLIB)) {
        return Ok(());
    }
    let exe = std::env::current_exe().map_err(|e| Failure::wrong(format!("cannot find this program: {e}")))?;
    let mut command = Command::new(exe);
    command.args(std::env::args_os().skip(1));
    only(&mut command, library, loader);
    Err(Failure::wrong(format!("cannot start this program again: {}", command.exec())))
}

/// The folder of `.icd` files that this process made before it replaced itself; the process id stays the same.
fn own_folder() -> PathBuf {
    std::env::temp_dir().join(format!("cloom-vendors-{}", std::process::id()))
}

/// The folder that names Cloom and the other drivers to the loader and to child processes. Removed on drop.
pub struct Vendors(Option<PathBuf>);

impl Drop for Vendors {
    fn drop(&mut self) {
        if let Some(own) = &self.0 {
            // If it cannot be removed, a small file stays in the temporary folder.
            let _ = std::fs::remove_dir_all(own);
        }
    }
}

/// Makes the loader list Cloom together with the other platforms. If that needs another environment, this does not
/// return.
pub fn beside_the_others() -> Result<Vendors, Failure> {
    let own = own_folder();
    // The name of the folder holds the process id, which `exec` keeps: so the variable names it in this process only,
    // and not in one that inherits the environment.
    let restarted = std::env::var_os(VENDORS).is_some_and(|v| Path::new(&v) == own);
    let found = cl::devices();
    let vendors = Vendors(restarted.then(|| own.clone()));
    if let (Err(cloom_gallery::Error::NoLoader), Some(library)) = (&found, beside()) {
        with_only(&library, false)?;
    }
    let missing = match &found {
        Ok(found) => !found.iter().any(is_cloom),
        Err(cloom_gallery::Error::NoPlatform) => true,
        Err(_) => false,
    };
    // After a restart there is nothing more to try: what is found then is the answer, with or without Cloom.
    if restarted || !missing {
        return found.map(|_| vendors).map_err(Failure::from);
    }
    let Some(library) = beside() else { return found.map(|_| vendors).map_err(Failure::from) };
    let wrong = |e: std::io::Error| Failure::wrong(format!("cannot list Cloom in {}: {e}", own.display()));
    let before = std::env::var_os(VENDORS).map_or_else(|| PathBuf::from("/etc/OpenCL/vendors"), PathBuf::from);
    // It must be new: a folder of another user must not be loaded from.
    std::fs::create_dir(&own).map_err(wrong)?;
    for entry in std::fs::read_dir(before).into_iter().flatten().flatten() {
        if entry.path().extension().is_some_and(|e| e == "icd") {
            // The variable replaces the folder of the system, so its entries are copied to keep the other platforms.
            std::fs::copy(entry.path(), own.join(entry.file_name())).map_err(wrong)?;
        }
    }
    std::fs::write(own.join("cloom-beside.icd"), format!("{}\n", library.display())).map_err(wrong)?;
    let exe = std::env::current_exe().map_err(wrong)?;
    let mut command = Command::new(exe);
    command.args(std::env::args_os().skip(1)).env(VENDORS, &own);
    // For a loader that does not read the folder's variable. One that reads both loads the driver once.
    let mut names = std::env::var_os(FILENAMES).filter(|n| !n.is_empty()).map_or_else(OsString::new, |mut n| {
        n.push(":");
        n
    });
    names.push(&library);
    let error = command.env(FILENAMES, names).exec();
    Err(wrong(error))
}

/// Completes the choice: Cloom's platform if none is named. If that needs another environment, this does not return. If
/// there is no platform at all, Cloom's is made visible for any choice, so that the error for a wrong name can list it.
pub fn choose(choice: Choice) -> Result<Choice, Failure> {
    let (found, loader) = match cl::devices() {
        Ok(found) => (found, true),
        Err(cloom_gallery::Error::NoLoader) => (Vec::new(), false),
        Err(cloom_gallery::Error::NoPlatform) => (Vec::new(), true),
        Err(e) => return Err(e.into()),
    };
    let wants_cloom = match &choice.platform {
        None => true,
        Some(p) => p.eq_ignore_ascii_case(PLATFORM),
    };
    if !wants_cloom && !found.is_empty() {
        return Ok(choice);
    }
    if found.iter().any(is_cloom) {
        return Ok(Choice { platform: Some(PLATFORM.into()), ..choice });
    }
    if let Some(library) = beside() {
        with_only(&library, loader)?;
    }
    // The first platform there is, or the error that says what is missing.
    Ok(choice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_python_knows_where_its_driver_is() {
        let prefix = tempfile::tempdir().unwrap();
        let bin = prefix.path().join("bin");
        let libs = prefix.path().join("lib/python3.12/site-packages/pyopencl/.libs");
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::create_dir_all(&libs).unwrap();
        let folders = of_python(&bin);
        assert!(folders.iter().any(|f| f.canonicalize().is_ok_and(|f| f == libs.canonicalize().unwrap())));
        assert!(folders.contains(&bin.join("../pyopencl/.libs")), "of `pip install --target`");
    }

    #[test]
    fn the_driver_is_known_with_its_version() {
        for own in ["libcloom.so", "/usr/lib/cloom/libcloom.so.0", "x/libcloom.so.0.1.0"] {
            assert!(is_own(Path::new(own)), "{own}");
        }
        assert!(!is_own(Path::new("libcloom.sox")) && !is_own(Path::new("/usr/lib/libcloom")));
    }
}
