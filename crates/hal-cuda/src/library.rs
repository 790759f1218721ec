//! The driver's library: loads `libcuda.so.1` and looks its functions up.
//!
//! Nothing is linked: where the library is missing, loading it fails at once and the reason is data. It is loaded and
//! initialised once in a process and stays until the process ends. CUDA does not survive a fork, so a child of a
//! process that has initialised it is refused.

use cloom_cuda_abi::constants::{
    ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, ERROR_NO_DEVICE, ERROR_STUB_LIBRARY, ERROR_SYSTEM_DRIVER_MISMATCH,
    ERROR_SYSTEM_NOT_READY, SUCCESS,
};
pub use cloom_cuda_abi::*;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why there are no devices, or one device less.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Absent {
    /// The driver is not installed.
    #[error("the library of NVIDIA's driver does not load ({0}); install the driver")]
    NoLibrary(String),
    /// The library is too old: it lacks a function.
    #[error("NVIDIA's driver lacks {0}; install version 525 or later")]
    NoSymbol(&'static str),
    /// The driver does not start.
    #[error("NVIDIA's driver does not start: {text} (error {code}); {}", advice(*code))]
    NoDriver {
        /// Its error.
        code: u32,
        /// The error's name.
        text: String,
    },
    /// There is a driver, and no GPU that this process may use.
    #[error("NVIDIA's driver finds no GPU; see that nvidia-smi lists one, and what CUDA_VISIBLE_DEVICES hides")]
    NoDevice,
    /// A GPU that is older than what code is made for.
    #[error("{name} has compute capability {}.{}, and 7.0 is needed; use a later GPU", capability / 10, capability % 10)]
    TooOld {
        /// The GPU's name.
        name: String,
        /// Ten times its compute capability.
        capability: u32,
    },
    /// A GPU that no program may use (compute mode "prohibited").
    #[error("{name} is closed to programs; open it by nvidia-smi --compute-mode=0")]
    Prohibited {
        /// The GPU's name.
        name: String,
    },
    /// A GPU that the driver cannot describe.
    #[error("GPU {ordinal} does not say what it is: {why}; see what nvidia-smi says about it")]
    Unknown {
        /// Its number.
        ordinal: i32,
        /// The error.
        why: String,
    },
    /// This process is a forked child of one that has used CUDA.
    #[error("this process was forked by one that uses a GPU; start it anew, or use the GPU after the fork only")]
    Forked,
}

/// What to do about an error of the driver at its start.
fn advice(code: u32) -> &'static str {
    match code {
        ERROR_STUB_LIBRARY => "the library is a stub for linking: take its folder out of LD_LIBRARY_PATH",
        ERROR_SYSTEM_DRIVER_MISMATCH | ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE => {
            "library and kernel module do not fit together: restart the machine, or install the driver again"
        }
        ERROR_SYSTEM_NOT_READY => "the fabric manager of the machine is not ready yet: start nvidia-fabricmanager",
        _ => "see what nvidia-smi says",
    }
}

/// Declares the table of functions. Those after `@optional` may be missing.
macro_rules! table {
    (
        $($name:ident = $symbol:ident ($($arg:ty),*);)*
        @optional
        $($maybe:ident = $maybe_symbol:ident ($($maybe_arg:ty),*);)*
    ) => {
        /// The functions of the driver that are used.
        #[allow(missing_docs, reason = "they are the driver's, under its names")]
        pub struct Table {
            $(pub $name: unsafe extern "C" fn($($arg),*) -> Code,)*
            $(pub $maybe: Option<unsafe extern "C" fn($($maybe_arg),*) -> Code>,)*
            pub graphs: Option<GraphCalls>,
        }

        impl Table {
            fn look_up(library: &Library) -> Result<Table, Absent> {
                Ok(Table {
                    $(
                        // SAFETY: the signature is that of the driver's header; the library stays loaded.
                        $name: *unsafe { library.get(concat!(stringify!($symbol), "\0").as_bytes()) }
                            .map_err(|_| Absent::NoSymbol(stringify!($symbol)))?,
                    )*
                    $(
                        // SAFETY: the signature is that of the driver's header; the library stays loaded.
                        $maybe: unsafe { library.get(concat!(stringify!($maybe_symbol), "\0").as_bytes()) }.ok().map(|f| *f),
                    )*
                    graphs: GraphCalls::look_up(library),
                })
            }
        }
    };
}

cloom_cuda_abi::functions!(table);

/// Declares the table of the functions for graphs.
macro_rules! graph_table {
    ($($name:ident = $symbol:ident ($($arg:ty),*);)*) => {
        /// The functions for graphs, which drivers have from 12.0 on.
        #[derive(Clone, Copy)]
        #[allow(missing_docs, reason = "they are the driver's, under its names")]
        pub struct GraphCalls {
            $(pub $name: unsafe extern "C" fn($($arg),*) -> Code,)*
        }

        impl GraphCalls {
            /// All of them, if the driver has all.
            fn look_up(library: &Library) -> Option<GraphCalls> {
                Some(GraphCalls {
                    $(
                        // SAFETY: the signature is that of the driver's header; the library stays loaded.
                        $name: *unsafe { library.get(concat!(stringify!($symbol), "\0").as_bytes()) }.ok()?,
                    )*
                })
            }
        }
    };
}

cloom_cuda_abi::graph_functions!(graph_table);

/// The initialised driver.
pub struct Driver {
    /// Its functions.
    pub table: Table,
    /// Its version of the interface: 12040 is 12.4.
    pub version: u32,
}

/// Whether this process has begun to initialise the driver.
static BEGUN: AtomicBool = AtomicBool::new(false);
/// Whether it is a child of one that had.
static FORKED: AtomicBool = AtomicBool::new(false);

extern "C" fn after_fork() {
    FORKED.store(BEGUN.load(Ordering::Relaxed), Ordering::Relaxed);
}

/// Whether this process may not use the driver, because it was forked.
pub fn is_forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// The driver, loaded and initialised by the first call.
pub fn driver() -> Result<&'static Driver, Absent> {
    static DRIVER: OnceLock<Result<Driver, Absent>> = OnceLock::new();
    // Before the cell is touched: a thread of the parent may be filling it, and in the child nobody would end that.
    if is_forked() {
        return Err(Absent::Forked);
    }
    DRIVER.get_or_init(start).as_ref().map_err(Clone::clone)
}

fn start() -> Result<Driver, Absent> {
    // Before the library is loaded: a fork in the middle of the initialisation counts as one after it.
    BEGUN.store(true, Ordering::Relaxed);
    // SAFETY: the function only stores a flag. If it cannot be registered, a forked child gets the driver's errors. It
    // is registered first, so that a child of a fork during the initialisation does not wait for the thread that
    // initialises.
    unsafe { libc::pthread_atfork(None, None, Some(after_fork)) };
    // SAFETY: the library's initialisers are the driver's own, which any process may run.
    let library = unsafe { Library::open(Some("libcuda.so.1"), RTLD_NOW | RTLD_LOCAL) }.map_err(|e| {
        // Nothing was initialised: a child of this process gets this reason too, and not that it was forked.
        BEGUN.store(false, Ordering::Relaxed);
        Absent::NoLibrary(e.to_string())
    })?;
    let table = Table::look_up(&library)?;
    // The library must stay loaded: the driver has threads of its own.
    std::mem::forget(library);
    let check = |code| match code {
        SUCCESS => Ok(()),
        ERROR_NO_DEVICE => Err(Absent::NoDevice),
        code => Err(Absent::NoDriver { code, text: error_name(&table, code) }),
    };
    // SAFETY: 0 is the only value of the flags.
    check(unsafe { (table.init)(0) })?;
    let mut version = 0;
    // SAFETY: it writes the number.
    check(unsafe { (table.driver_get_version)(&mut version) })?;
    Ok(Driver { table, version: version.unsigned_abs() })
}

/// The name of an error: `CUDA_ERROR_…`.
pub fn error_name(table: &Table, code: Code) -> String {
    let mut name = std::ptr::null();
    // SAFETY: it writes a pointer to a constant string, or null.
    let known = unsafe { (table.get_error_name)(code, &mut name) } == 0 && !name.is_null();
    match known {
        // SAFETY: a zero-terminated constant.
        true => unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned(),
        false => format!("CUDA error {code}"),
    }
}
