//! `CLOOM_LOG=1`: each error goes to the standard error stream, with its reason.

use crate::Error;
use cloom_caps::env;
use std::sync::OnceLock;

/// Whether the log is on.
pub fn enabled() -> bool {
    static ON: OnceLock<bool> = OnceLock::new();
    *ON.get_or_init(|| env::LOG.is_on())
}

/// Logs an error of a call or a command, if the log is on.
pub fn error(place: &str, error: &Error) {
    if enabled() {
        eprintln!("cloom: {place}: {error}");
    }
}
