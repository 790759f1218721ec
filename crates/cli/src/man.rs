//! `man`: writes the manual pages to a folder, one for the program and one for each command, for the makers of
//! packages. They have no date, so that the same program makes the same pages.

use crate::outcome::{Answer, Exit, Failure};
use clap::Command;
use std::path::PathBuf;

/// Options of `man`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// An existing folder
    folder: PathBuf,
}

/// Runs `man` for the program that `command` describes.
pub fn run(options: &Options, command: Command) -> Result<Answer, Failure> {
    clap_mangen::generate_to(command, &options.folder).map_err(|e| {
        Failure::wrong(format!("cannot write to {}: {e}; name an existing folder", options.folder.display()))
    })?;
    Ok(Answer::text("", Exit::Fine))
}
