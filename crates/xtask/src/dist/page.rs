//! The lines of `docs/ci.md`, run as a job would run them. In: the page and the wheel. Out: what happened, line by
//! line.
//!
//! Each block of the page gets a virtual environment and a folder of its own, no variable of this process, and pip that
//! finds the wheel of this release: in a fresh Debian where there are the rights for one, else on this machine. A block
//! in YAML is run by its `run:` lines and the list of its `script:`, one of a container by its `RUN` lines, one of a
//! terminal by its lines with `$`; the others are files of the program that reads them.

use super::Release;
use super::check::enter;
use super::tree::template;
use super::venv::Venv;
use crate::tools::{root, succeeds};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a test of CTest needs around the lines of the page.
const CMAKE: (&str, &str) = (
    "cmake_minimum_required(VERSION 3.19)\nproject(page NONE)\nenable_testing()\n\
     add_test(NAME kernels COMMAND cloom run -k mandel -s 64 -i 1 -n)\n",
    "pip --quiet install cloom cmake ninja\ncmake -G Ninja -S . -B build\nctest --test-dir build --output-on-failure\n",
);
/// Programs that are in no registry that can be reached, so that their lines are skipped.
const OTHERS: &[&str] = &["julia"];
/// Programs that only the fresh Debian has for certain, or that change the machine.
const OF_DEBIAN: &[&str] = &["cargo", "sudo"];

/// Where jobs run.
pub enum Place {
    /// In a folder of this machine, which is made.
    Here(PathBuf),
    /// In a fresh system, which has the wheel in `/wheels`.
    Root(PathBuf),
}

impl Place {
    /// The folder of all jobs.
    fn folder(&self) -> PathBuf {
        match self {
            Place::Here(folder) => folder.clone(),
            Place::Root(root) => root.join("page"),
        }
    }

    /// Runs lines of a shell in a fresh virtual environment in a folder, with no variable of this process; the first
    /// that fails ends it.
    fn run(&self, script: &str, wheel: &Path, folder: &Path) -> Result<bool> {
        // How this machine reaches PyPI is no matter of the page.
        let kept = std::env::vars().filter(|(name, _)| {
            let name = name.to_lowercase();
            name != "pip_find_links"
                && (name.starts_with("pip_") || name.ends_with("_proxy") || name.starts_with("ssl_cert"))
        });
        match self {
            Place::Here(_) => {
                let venv = Venv::at(&folder.join("venv"))?;
                let path = format!("{}:/usr/local/bin:/usr/bin:/bin", venv.bin().display());
                let wheels = wheel.parent().unwrap_or(folder);
                let mut command = Command::new("sh");
                command.args(["-euxc", script]).current_dir(folder).env_clear().envs(kept);
                succeeds(command.env("PATH", path).env("HOME", folder).env("PIP_FIND_LINKS", wheels))
            }
            Place::Root(root) => {
                let inside = Path::new("/").join(folder.strip_prefix(root)?);
                let mut command = enter(root);
                command.args(kept.map(|(name, value)| format!("{name}={value}")));
                command.arg(format!("HOME={}", inside.display())).args(["PIP_FIND_LINKS=/wheels", "sh", "-c"]);
                let begin = "cd && python3 -m venv venv && PATH=$HOME/venv/bin:$PATH exec sh -euxc \"$0\"";
                succeeds(command.arg(begin).arg(script))
            }
        }
    }
}

/// A block between fences.
struct Block<'a> {
    heading: &'a str,
    language: &'a str,
    text: String,
}

/// Runs all blocks; whether all is well.
pub fn run(release: &Release, wheel: &Path, place: &Place) -> Result<bool> {
    let page = root().join("docs/ci.md");
    let text = fs::read_to_string(&page).with_context(|| format!("cannot read {}", page.display()))?;
    let blocks = blocks(&text);
    ensure!(!blocks.is_empty(), "{} has no blocks", page.display());
    let work = place.folder();
    let mut good = true;
    for (i, block) in blocks.iter().enumerate() {
        let folder = work.join(format!("block-{i}"));
        fs::create_dir_all(&folder)?;
        let (script, skipped) = script(block, &folder, matches!(place, Place::Root(_)))?;
        let start = std::time::Instant::now();
        let well = place.run(&script, wheel, &folder)?;
        let seconds = start.elapsed().as_secs();
        println!("{}: docs/ci.md, {}, the block in {}: {seconds} s", word(well), block.heading, block.language);
        for command in skipped {
            println!("skipped: docs/ci.md, {}: {command}", block.heading);
        }
        good &= well;
    }
    good &= action(release, wheel, place, &work.join("action"))?;
    let all = match place {
        Place::Here(folder) | Place::Root(folder) => folder,
    };
    if good {
        fs::remove_dir_all(all).with_context(|| format!("cannot remove {}", all.display()))?;
    } else {
        println!("xtask dist: FAILED; the jobs are in {}", work.display());
    }
    Ok(good)
}

fn word(well: bool) -> &'static str {
    if well { "ok" } else { "WRONG" }
}

/// The action: its script with files in the place of GitHub's, and then the program as a step that follows sees it.
fn action(release: &Release, wheel: &Path, place: &Place, work: &Path) -> Result<bool> {
    fs::create_dir_all(work)?;
    fs::copy(root().join("action/setup.sh"), work.join("setup.sh")).context("cannot copy action/setup.sh")?;
    let script = format!(
        "touch env path output\n\
         export GITHUB_ENV=env GITHUB_PATH=path GITHUB_OUTPUT=output RUNNER_TEMP=$PWD\n\
         SETUP_THREADS=2 bash setup.sh\n\
         grep -qx version={} output\n\
         set -a && . ./env && set +a && PATH=$(cat path):$PATH\n\
         test \"$CLOOM_THREADS\" = 2\n\
         cloom run -k mandel -s 64 -i 1 -n\n\
         # The loader of the machine, or the driver in its place.\n\
         python -c 'import ctypes; n = ctypes.c_uint(); cl = ctypes.CDLL(\"libOpenCL.so.1\")\n\
         assert cl.clGetPlatformIDs(0, None, ctypes.byref(n)) == 0 and n.value == 1, n.value'\n\
         ! SETUP_ONLY=maybe bash setup.sh\n",
        release.version,
    );
    let well = place.run(&script, wheel, work)?;
    println!("{}: the action, with files in the place of GitHub's", word(well));
    Ok(well)
}

/// The lines of a shell that do what the block says, and those that are left out; files that they need are written to
/// the folder.
fn script(block: &Block<'_>, folder: &Path, is_fresh: bool) -> Result<(String, Vec<String>)> {
    let write =
        |name: &str, text: &str| fs::write(folder.join(name), text).with_context(|| format!("cannot write {name}"));
    let lines =
        |mark: &str| block.text.lines().filter_map(move |l| l.trim_start().strip_prefix(mark)).collect::<Vec<_>>();
    let commands = match block.language {
        "yaml" if block.text.contains("script:") => lines("- "),
        // GitHub's actions cannot run here. pip stands for ours, which `action` tries by itself.
        "yaml" if block.text.contains("uses:") => vec!["pip install cloom", lines("- run: ")[0]],
        "yaml" => lines("- run: "),
        "dockerfile" => lines("RUN "),
        "console" => {
            write("Cargo.toml", template!("ci/Cargo.toml"))?;
            write("kernel.rs", template!("ci/kernel.rs.txt"))?;
            lines("$ ")
        }
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
    let is_skipped = |command: &&str| {
        let program = command.split(' ').next().unwrap_or_default();
        OTHERS.contains(&program) || (OF_DEBIAN.contains(&program) && !is_fresh)
    };
    let (skipped, run): (Vec<&str>, Vec<&str>) = commands.into_iter().partition(is_skipped);
    // In a fresh system the job is root.
    let run: Vec<&str> = run.into_iter().map(|c| c.strip_prefix("sudo ").unwrap_or(c)).collect();
    Ok((run.join("\n"), skipped.into_iter().map(str::to_owned).collect()))
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
            let (here, skipped) = script(block, &folder, false).unwrap();
            assert!(here.contains("pip") || here.contains("tox"), "{}: {here}", block.heading);
            assert!(!here.contains("cargo ") && !here.contains("sudo "), "{here}");
            let (fresh, left) = script(block, &folder, true).unwrap();
            assert_eq!(fresh.contains("cargo test"), skipped.iter().any(|c| c.contains("cargo test")), "{fresh}");
            assert!(left.iter().all(|c| c.starts_with("julia")) && !fresh.contains("sudo"), "{fresh}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
