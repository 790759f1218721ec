//! Which library is tested: the one that `CLOOM_TEST_LIBRARY` names, or the `libcloom.so` that cargo has built beside
//! the test.

use libloading::Library;
use std::path::PathBuf;

/// The driver of this build.
pub fn own_driver() -> PathBuf {
    let exe = std::env::current_exe().expect("the path of the test");
    let folders = exe.ancestors().skip(1).take(2);
    let found = folders.map(|f| f.join("libcloom.so")).find(|p| p.exists());
    found.unwrap_or_else(|| panic!("libcloom.so is not beside {}", exe.display()))
}

pub fn library() -> Library {
    let path = std::env::var_os("CLOOM_TEST_LIBRARY").map_or_else(own_driver, PathBuf::from);
    // SAFETY: loading a driver runs no code with preconditions.
    unsafe { Library::new(&path) }.unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A function of the library.
pub fn symbol<T: Copy>(library: &Library, name: &str) -> Option<T> {
    // SAFETY: the callers ask for the types that the specification gives these names.
    unsafe { library.get::<T>(name.as_bytes()) }.ok().map(|s| *s)
}
