//! The arguments of `cts`.

use anyhow::{Context, Result, bail};
use std::path::PathBuf;

/// How to call it.
pub const USAGE: &str = "usage: cargo xtask cts DIR [--json] [--full] [--jobs N] [--driver FILE] [SUITE…]
       DIR           where the conformance tests were built
       SUITE         only suites whose names begin so
       --json        a line of JSON for each suite
       --full        suites in their full form, also those that take hours
       --jobs N      so many suites at a time; each of them uses all threads of the driver
       --driver FILE a libcloom.so that was built elsewhere, with the program cloom beside it; without it, both are built
       cargo xtask cts --table, to write what is expected to docs/conformance.md";

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
pub enum Options {
    /// Write the table.
    Table,
    /// Run the tests.
    Run(RunOptions),
}

/// How to run the tests.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RunOptions {
    /// Where they were built.
    pub folder: PathBuf,
    /// Print JSON.
    pub json: bool,
    /// Run no suite in its short form.
    pub full: bool,
    /// How many suites run at a time.
    pub jobs: usize,
    /// The driver, if it is not to be built.
    pub driver: Option<PathBuf>,
    /// How the names of suites begin; all if empty.
    pub names: Vec<String>,
}

/// Reads the arguments.
pub fn parse(args: &[String]) -> Result<Options> {
    let mut options = RunOptions { jobs: 1, ..RunOptions::default() };
    let mut folder = None;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().with_context(|| format!("{arg} needs a value\n{USAGE}"));
        match arg.as_str() {
            "--table" => return Ok(Options::Table),
            "--json" => options.json = true,
            "--full" => options.full = true,
            "--jobs" => {
                let jobs = value()?;
                options.jobs = match jobs.parse() {
                    Ok(jobs) if jobs > 0 => jobs,
                    _ => bail!("--jobs takes a number from 1, not `{jobs}`"),
                };
            }
            "--driver" => options.driver = Some(value()?.into()),
            option if option.starts_with('-') => bail!("there is no option {option}\n{USAGE}"),
            path if folder.is_none() => folder = Some(path.into()),
            name => options.names.push(name.to_owned()),
        }
    }
    options.folder = folder.context(USAGE)?;
    Ok(Options::Run(options))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Options> {
        parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_stand_anywhere() {
        let options = RunOptions {
            folder: "cts".into(),
            full: true,
            jobs: 4,
            driver: Some("lib.so".into()),
            names: vec!["api".into(), "images_".into()],
            ..RunOptions::default()
        };
        let line = "--jobs 4 cts api --driver lib.so --full images_";
        assert_eq!(parsed(line).unwrap(), Options::Run(options));
        assert_eq!(parsed("--table").unwrap(), Options::Table);
    }

    #[test]
    fn wrong_use_is_told() {
        for (line, word) in [
            ("", "usage"),
            ("cts --jobs", "needs a value"),
            ("cts --jobs 0", "a number from 1"),
            ("cts --quick", "no option --quick"),
        ] {
            let error = parsed(line).unwrap_err().to_string();
            assert!(error.contains(word), "{line}: {error}");
        }
    }
}
