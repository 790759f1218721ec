//! Which library is tested: the one that `CLOOM_TEST_LIBRARY` names, or the `libcloom.so` that cargo has built beside
//! the test.

use libloading::Library;
use std::path::{Path, PathBuf};

/// The driver of this build.
pub fn own_driver() -> PathBuf {
    let exe = std::env::current_exe().expect("the path of the test");
    let folders = exe.ancestors().skip(1).take(2);
    let found = folders.map(|f| f.join("libcloom.so")).filter(|p| p.exists()).last();
    let Some(library) = found else { panic!("there is no libcloom.so beside {}: {BUILD} makes it", exe.display()) };
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of all crates");
    if let Some(newer) = newer_source(&library, sources) {
        panic!("{} is older than {}: {BUILD} brings it up to date", library.display(), newer.display());
    }
    library
}

/// Cargo does not build the driver for its tests, because no Rust program can link to it.
const BUILD: &str = "`cargo build -p cloom-capi`";

/// A source of a library that has changed since the library was built, by the list that cargo writes beside it.
pub fn newer_source(library: &Path, sources: &Path) -> Option<PathBuf> {
    let changed = |path: &Path| path.metadata().and_then(|m| m.modified()).ok();
    let (built, list) = (changed(library)?, std::fs::read_to_string(library.with_extension("d")).ok()?);
    // `LIBRARY: SOURCE SOURCE …`, where a blank in a path is `\ `. The crate `cloom` has a library of the same name,
    // whose list may be in this place; what else it is made of is in the driver, too.
    let list = list.split_once(": ")?.1.replace("\\ ", "\0");
    let paths = list.split_whitespace().map(|path| PathBuf::from(path.replace('\0', " ")));
    let mut own = paths.filter(|path| path.strip_prefix(sources).is_ok_and(|path| !path.starts_with("cloom")));
    own.find(|path| changed(path).is_none_or(|at| at > built))
}

pub fn library() -> Library {
    let path = std::env::var_os("CLOOM_TEST_LIBRARY").map_or_else(own_driver, PathBuf::from);
    // SAFETY: loading a driver runs no code with preconditions.
    unsafe { Library::new(&path) }.unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A function of the library.
pub fn symbol<T: Copy>(library: &Library, name: &str) -> Option<T> {
    // SAFETY: callers ask for the type that the specification gives this name.
    unsafe { library.get::<T>(name.as_bytes()) }.ok().map(|s| *s)
}
