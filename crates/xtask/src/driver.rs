//! The driver under test: built first, and registered with the ICD loader together with the machine's platforms, in a
//! temporary folder, so that nothing on the machine changes.

use crate::tools::{cargo, must, target};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The loader's variable for the folder of `.icd` files.
pub const VENDORS: &str = "OCL_ICD_VENDORS";

/// Builds `libcloom.so`, and the libraries of the simulated GPU, as the tests are built. Returns the folder to give to
/// the loader.
pub fn registered() -> Result<PathBuf> {
    // The tests' own profile: what is built here is not built again for them.
    let packages = ["-p", "cloom-capi", "-p", "cloom-cuda-sim-driver", "-p", "cloom-cuda-sim-compiler"];
    must(cargo(&["build", "--profile", "test"]).args(packages))?;
    let library = target().join("debug/libcloom.so");
    let library = library.canonicalize().with_context(|| format!("{} was not built", library.display()))?;
    let before = std::env::var_os(VENDORS).map_or_else(|| PathBuf::from("/etc/OpenCL/vendors"), PathBuf::from);
    let folder = target().join("vendors");
    register(&library, &before, &folder)?;
    folder.canonicalize().context("the folder that was just made")
}

/// Fills `folder` with the `.icd` file of the library and no other.
pub fn register_alone(library: &Path, folder: &Path) -> Result<()> {
    register(library, Path::new(""), folder)
}

/// Fills `folder` with the `.icd` files of `before` and one for the library. Another registration of Cloom is left out:
/// two copies of it would hide which one a test ran on.
fn register(library: &Path, before: &Path, folder: &Path) -> Result<()> {
    let wrong = || format!("cannot register the driver in {}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(wrong)?;
    }
    fs::create_dir_all(folder).with_context(wrong)?;
    // No such folder: no other platform.
    for entry in fs::read_dir(before).into_iter().flatten() {
        let path = entry.with_context(wrong)?.path();
        if path.extension().is_some_and(|e| e == "icd") {
            let text = fs::read_to_string(&path).unwrap_or_default();
            if !text.contains("libcloom.so") {
                fs::write(folder.join(path.file_name().unwrap_or_default()), text).with_context(wrong)?;
            }
        }
    }
    fs::write(folder.join("cloom.icd"), format!("{}\n", library.display())).with_context(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_platforms_stay_and_an_older_copy_goes() {
        let dir = std::env::temp_dir().join(format!("cloom-xtask-{}", std::process::id()));
        let (before, after) = (dir.join("before"), dir.join("after"));
        fs::create_dir_all(&before).unwrap();
        fs::create_dir_all(&after).unwrap();
        fs::write(before.join("other.icd"), "libother.so\n").unwrap();
        fs::write(before.join("old.icd"), "/usr/lib/libcloom.so\n").unwrap();
        fs::write(before.join("readme.txt"), "no icd\n").unwrap();
        fs::write(after.join("stale.icd"), "gone.so\n").unwrap();
        register(Path::new("/new/libcloom.so"), &before, &after).unwrap();
        let mut names: Vec<_> = fs::read_dir(&after).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["cloom.icd", "other.icd"]);
        assert_eq!(fs::read_to_string(after.join("cloom.icd")).unwrap(), "/new/libcloom.so\n");
        register(Path::new("/new/libcloom.so"), &dir.join("nowhere"), &after).unwrap();
        assert_eq!(fs::read_dir(&after).unwrap().count(), 1);
        fs::remove_dir_all(&dir).unwrap();
    }
}
