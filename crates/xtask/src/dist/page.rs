//! The lines of `docs/ci.md`, run as a job would run them. In: the page and the folder with the wheel. Out: what
//! happened, line by line.
//!
//! Each block of the page gets a virtual environment and a folder of its own, no variable of this process, and pip that
//! finds the wheel of this release. A block in YAML is run by its `run:` lines and the list of its `script:`, one of a
//! container by its `RUN` lines, one of a terminal by its lines with `$`; the others are files of the program that
//! reads them.

use super::Release;
use super::venv::Venv;
use crate::tools::{root, succeeds};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;
use std::process::Command;

/// What a test of CTest needs around the lines of the page.
const CMAKE: (&str, &str) = (
    "cmake_minimum_required(VERSION 3.19)\nproject(page NONE)\nenable_testing()\n\
     add_test(NAME kernels COMMAND cloom run -k mandel -s 64 -i 1 -n)\n",
    "pip --quiet install cloom cmake\ncmake -S . -B build\nctest --test-dir build --output-on-failure\n",
);
/// Programs that not every machine has, or that need a project of their own.
const OTHERS: &[&str] = &["cargo", "julia"];

/// A block between fences.
struct Block<'a> {
    heading: &'a str,
    language: &'a str,
    text: String,
}

/// Runs all blocks; whether all is well.
pub fn run(release: &Release, wheels: &Path, work: &Path) -> Result<bool> {
    let page = root().join("docs/ci.md");
    let text = fs::read_to_string(&page).with_context(|| format!("cannot read {}", page.display()))?;
    let blocks = blocks(&text);
    ensure!(!blocks.is_empty(), "{} has no blocks", page.display());
    let mut good = true;
    for (i, block) in blocks.iter().enumerate() {
        let folder = work.join(format!("block-{i}"));
        fs::create_dir_all(&folder)?;
        let script = script(block, &folder)?;
        let well = in_bare(&script, wheels, &folder)?;
        println!("{}: docs/ci.md, {}, the block in {}", word(well), block.heading, block.language);
        good &= well;
    }
    good &= action(release, wheels, &work.join("action"))?;
    if good {
        fs::remove_dir_all(work).with_context(|| format!("cannot remove {}", work.display()))?;
    }
    Ok(good)
}

fn word(well: bool) -> &'static str {
    if well { "ok" } else { "WRONG" }
}

/// The action: its script with files in the place of GitHub's, and then the program as a step that follows sees it.
fn action(release: &Release, wheels: &Path, work: &Path) -> Result<bool> {
    fs::create_dir_all(work)?;
    let script = format!(
        "touch env path output\n\
         export GITHUB_ENV=env GITHUB_PATH=path GITHUB_OUTPUT=output RUNNER_TEMP=$PWD\n\
         SETUP_THREADS=2 bash {0}/action/setup.sh\n\
         grep -qx version={1} output\n\
         set -a && . ./env && set +a && PATH=$(cat path):$PATH\n\
         test \"$CLOOM_THREADS\" = 2\n\
         cloom run -k mandel -s 64 -i 1 -n\n\
         # The loader of the machine, or the driver in its place.\n\
         python -c 'import ctypes; n = ctypes.c_uint(); cl = ctypes.CDLL(\"libOpenCL.so.1\")\n\
         assert cl.clGetPlatformIDs(0, None, ctypes.byref(n)) == 0 and n.value == 1, n.value'\n\
         ! SETUP_ONLY=maybe bash {0}/action/setup.sh\n",
        root().display(),
        release.version,
    );
    let well = in_bare(&script, wheels, work)?;
    println!("{}: the action, with files in the place of GitHub's", word(well));
    Ok(well)
}

/// Runs lines of a shell in a fresh virtual environment with no variable of this process; the first that fails ends it.
fn in_bare(script: &str, wheels: &Path, folder: &Path) -> Result<bool> {
    let venv = Venv::at(&folder.join("venv"))?;
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", venv.bin().display());
    let mut command = Command::new("sh");
    command.args(["-euxc", script]).current_dir(folder).env_clear();
    // How this machine reaches PyPI is no matter of the page.
    let kept = std::env::vars_os().filter(|(name, _)| {
        let name = name.to_string_lossy().to_lowercase();
        name.starts_with("pip_") || name.ends_with("_proxy") || name.starts_with("ssl_cert")
    });
    command.envs(kept).env("PATH", path).env("HOME", folder).env("PIP_FIND_LINKS", wheels);
    succeeds(&mut command)
}

/// The lines of a shell that do what the block says; files that they need are written to the folder.
fn script(block: &Block<'_>, folder: &Path) -> Result<String> {
    let write =
        |name: &str, text: &str| fs::write(folder.join(name), text).with_context(|| format!("cannot write {name}"));
    let lines =
        |mark: &str| block.text.lines().filter_map(move |l| l.trim_start().strip_prefix(mark)).collect::<Vec<_>>();
    let commands = match block.language {
        "yaml" if block.text.contains("script:") => lines("- "),
        "yaml" if block.text.contains("uses:") => vec!["pip install cloom", lines("- run: ")[0]],
        "yaml" => lines("- run: "),
        "dockerfile" => lines("RUN "),
        "console" => lines("$ "),
        "ini" => {
            write("tox.ini", &block.text)?;
            vec!["pip --quiet install tox", "tox run"]
        }
        "python" => {
            write("noxfile.py", &block.text)?;
            vec!["pip --quiet install nox", "nox"]
        }
        "cmake" => {
            write("CMakeLists.txt", &format!("{}{}", CMAKE.0, block.text))?;
            CMAKE.1.lines().collect()
        }
        other => anyhow::bail!("docs/ci.md has a block in {other}, which nothing here can run"),
    };
    ensure!(!commands.is_empty(), "docs/ci.md, {}: no command in a block in {}", block.heading, block.language);
    let (skipped, run): (Vec<&str>, Vec<&str>) =
        commands.into_iter().partition(|c| OTHERS.contains(&c.split(' ').next().unwrap_or_default()));
    for command in skipped {
        println!("skipped: docs/ci.md, {}: {command}", block.heading);
    }
    Ok(run.join("\n"))
}

/// The blocks of a page with their headings.
fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    let mut heading = "";
    let mut open: Option<Block<'_>> = None;
    for line in page.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some(block), None) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, Some(language)) => open = Some(Block { heading, language, text: String::new() }),
            (None, None) => heading = line.strip_prefix("## ").unwrap_or(heading),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_blocks_of_the_page_have_commands() {
        let text = fs::read_to_string(root().join("docs/ci.md")).unwrap();
        let folder = std::env::temp_dir().join(format!("cloom-xtask-page-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let blocks = blocks(&text);
        assert!(blocks.len() >= 9, "{} blocks", blocks.len());
        for block in &blocks {
            let script = script(block, &folder).unwrap();
            assert!(script.contains("pip") || script.contains("tox"), "{}: {script}", block.heading);
            assert!(!script.contains("cargo "), "{script}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
