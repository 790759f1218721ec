//! The platform that the contexts of a process share, and that of a context with options of its own.

use crate::Error;
use crate::options::{Options, Printer};
use cloom_runtime as rt;
use std::io::Write as _;
use std::sync::{Arc, LazyLock};

type Made = Result<Arc<rt::Platform>, String>;

static SHARED: LazyLock<Made> = LazyLock::new(|| make(&cloom_platform::Options::default(), None));

/// The platform of the process, made by the first call.
pub fn shared() -> Result<&'static Arc<rt::Platform>, Error> {
    // The reason is kept as text, since all callers get it and an error cannot be cloned.
    SHARED.as_ref().map_err(|why| Error::NoDevice(why.clone()))
}

/// A platform with options of its own.
pub fn own(options: &Options, printer: Option<Printer>) -> Result<Arc<rt::Platform>, Error> {
    let Options { threads, cpu, kinds, .. } = options;
    let options = cloom_platform::Options { kinds: kinds.clone(), threads: *threads, cpu: cpu.clone() };
    make(&options, printer).map_err(Error::NoDevice)
}

fn make(options: &cloom_platform::Options, printer: Option<Printer>) -> Made {
    let print = printer.unwrap_or_else(|| {
        Box::new(|text: &[u8]| {
            // If standard output is closed, the output is lost.
            let _ = std::io::stdout().write_all(text);
        })
    });
    let (platform, warnings) = cloom_platform::platform(options, print);
    match platform.devices() {
        // Without a device, the warnings are the reason why.
        [] if warnings.is_empty() => Err("neither a CPU that Cloom knows nor a GPU".into()),
        [] => Err(warnings.join("; ")),
        _ => Ok(platform),
    }
}
