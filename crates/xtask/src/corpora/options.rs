//! The arguments of `corpora`.

use anyhow::{Context, Result, bail};
use std::path::PathBuf;

/// How to call it.
pub const USAGE: &str = "usage: cargo xtask corpora DIR [--json] [--bless] [--jobs N] [--cloom FILE] [CORPUS…]
       DIR           where the corpora are, each in a folder of its name; those that are not there are fetched
       CORPUS        only corpora whose names begin so
       --json        a line of JSON for each corpus
       --bless       take what is found as expected; reasons are kept, new ones are to be written
       --jobs N      so many files at a time, 2 without it
       --cloom FILE  a program cloom that was built elsewhere; without it, it is built";

/// What was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Where the corpora are.
    pub folder: PathBuf,
    /// Print JSON.
    pub json: bool,
    /// Rewrite the expectations.
    pub bless: bool,
    /// How many files are compiled at a time.
    pub jobs: usize,
    /// The program, if it is not to be built.
    pub cloom: Option<PathBuf>,
    /// How the names of corpora begin; all if empty.
    pub names: Vec<String>,
}

/// Reads the arguments.
pub fn parse(args: &[String]) -> Result<Options> {
    let mut options = Options { jobs: 2, ..Options::default() };
    let mut folder = None;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().with_context(|| format!("{arg} needs a value\n{USAGE}"));
        match arg.as_str() {
            "--json" => options.json = true,
            "--bless" => options.bless = true,
            "--jobs" => {
                let jobs = value()?;
                options.jobs = match jobs.parse() {
                    Ok(jobs) if jobs > 0 => jobs,
                    _ => bail!("--jobs takes a number from 1, not `{jobs}`"),
                };
            }
            "--cloom" => options.cloom = Some(value()?.into()),
            option if option.starts_with('-') => bail!("there is no option {option}\n{USAGE}"),
            path if folder.is_none() => folder = Some(path.into()),
            name => options.names.push(name.to_owned()),
        }
    }
    options.folder = folder.context(USAGE)?;
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Options> {
        parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_stand_anywhere() {
        let options = Options {
            folder: "dir".into(),
            bless: true,
            jobs: 4,
            cloom: Some("cloom".into()),
            names: vec!["clang".into(), "po".into()],
            ..Options::default()
        };
        assert_eq!(parsed("--jobs 4 dir clang --cloom cloom --bless po").unwrap(), options);
        assert_eq!(parsed("dir").unwrap().jobs, 2);
    }

    #[test]
    fn wrong_use_is_told() {
        for (line, word) in [
            ("", "usage"),
            ("dir --jobs", "needs a value"),
            ("dir --jobs 0", "a number from 1"),
            ("dir --quick", "no option --quick"),
        ] {
            let error = parsed(line).unwrap_err().to_string();
            assert!(error.contains(word), "{line}: {error}");
        }
    }
}
