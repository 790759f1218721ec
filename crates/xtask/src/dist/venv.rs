//! Python programs that are used here, each in a virtual environment of its own below the folder of build results.

use crate::tools::{must, succeeds, target};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A virtual environment.
pub struct Venv {
    folder: PathBuf,
}

impl Venv {
    /// The one with that name, made if it is not there.
    pub fn new(name: &str) -> Result<Venv> {
        Venv::at(&target().join("dist-python").join(name))
    }

    /// The one in that folder, made if it is not there.
    pub fn at(folder: &Path) -> Result<Venv> {
        if !folder.join("bin/pip").exists() {
            let made = succeeds(Command::new("python3").args(["-m", "venv"]).arg(folder));
            anyhow::ensure!(
                made.is_ok_and(|good| good),
                "python3 cannot make a virtual environment; install python3-venv"
            );
        }
        Ok(Venv { folder: folder.canonicalize()? })
    }

    /// The folder of its programs.
    pub fn bin(&self) -> PathBuf {
        self.folder.join("bin")
    }

    /// Its Python.
    pub fn python(&self) -> Command {
        Command::new(self.bin().join("python"))
    }

    /// Its pip, with these words.
    pub fn pip(&self, words: &[&str]) -> Result<()> {
        must(self.python().args(["-m", "pip", "--quiet", "--disable-pip-version-check"]).args(words))
    }

    /// Installs what a list names, each with its checksum, unless that was done.
    pub fn install_hashed(&self, list: &str) -> Result<()> {
        let file = self.folder.join("requirements.txt");
        let done = self.folder.join("installed.txt");
        if fs::read_to_string(&done).is_ok_and(|text| text == list) {
            return Ok(());
        }
        fs::write(&file, list).context("cannot write the list of packages")?;
        let file = file.display().to_string();
        self.pip(&["install", "--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", &file])?;
        Ok(fs::write(done, list)?)
    }
}
