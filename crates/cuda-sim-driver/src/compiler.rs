//! The JIT compiler's library, which is opened when PTX is first translated, as NVIDIA's driver does it.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::LazyLock;

const LIBRARY: &CStr = c"libnvidia-ptxjitcompiler.so.1";
const TRANSLATE: &CStr = c"cuda_sim_translate";
/// `RTLD_NOW`
const NOW: c_int = 2;

unsafe extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// Lets the library translate something, if it is there. It is that of the crate `cuda-sim-compiler`.
pub fn translate() {
    static FUNCTION: LazyLock<Option<extern "C" fn()>> = LazyLock::new(|| {
        // SAFETY: what the library does when it is opened, any process may do; the function has this type.
        unsafe {
            let library = dlopen(LIBRARY.as_ptr(), NOW);
            let function = if library.is_null() { library } else { dlsym(library, TRANSLATE.as_ptr()) };
            std::mem::transmute::<*mut c_void, Option<extern "C" fn()>>(function)
        }
    });
    if let Some(function) = *FUNCTION {
        function();
    }
}
