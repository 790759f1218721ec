//! `cloom gpu-helper`: the process that owns the GPUs for a program whose driver runs with `CLOOM_GPU_HELPER`. Its
//! standard input is the socket on which the program asks.

use crate::outcome::{Answer, Failure};
use cloom_hal_cuda::{DirectoryCache, devices};
use std::os::fd::AsFd;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

/// The options of the command.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// The version of the driver
    #[arg(long, value_name = "VERSION")]
    driver: String,
    /// The folder of machine code
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
}

/// Serves until the program ends, which ends this process.
pub fn run(options: &Options) -> Result<Answer, Failure> {
    // The two ends exchange messages whose form may change with each version.
    if options.driver != cloom_hal_remote::VERSION {
        let (driver, own) = (&options.driver, cloom_hal_remote::VERSION);
        return Err(Failure::wrong(format!("the driver is Cloom {driver}, and this is the program of Cloom {own}")));
    }
    let socket = std::io::stdin().as_fd().try_clone_to_owned();
    let socket = socket.map_err(|e| Failure::wrong(format!("the standard input cannot be used: {e}")))?;
    let found = devices(options.cache.clone().map(DirectoryCache::shared));
    let error = cloom_hal_remote::serve(&UnixListener::from(socket), found.devices);
    Err(Failure::wrong(format!("this is started by the driver, with a socket as the standard input: {error}")))
}
