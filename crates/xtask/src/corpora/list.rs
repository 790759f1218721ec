//! The corpora: public repositories with kernels that were written for other compilers, and how each is read.
//!
//! Out come the folders and commits that the expectations hold for, and the commands of `git` that fetch no more than
//! these folders.

use super::cases::Case;
use super::{heads, lit};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A repository with kernels.
pub struct Corpus {
    /// What it is called here, also the folder that it is fetched into.
    pub name: &'static str,
    /// Where it comes from.
    pub repository: &'static str,
    /// What the expectations hold for.
    pub commit: &'static str,
    /// Where the kernels are.
    pub folders: &'static [&'static str],
    /// Who says how a file is compiled.
    pub style: Style,
    /// Whether its files are whole programs. Those of compilers' tests call functions that nobody defines.
    pub linked: bool,
}

/// Who says how a file is compiled.
#[derive(Clone, Copy)]
pub enum Style {
    /// Its lines for LLVM's test runner.
    Lit(lit::Dialect),
    /// Comments at its head, as the tests of oneAPI's Construction Kit have them.
    Heads,
    /// Nobody: it is compiled without options.
    Plain,
}

/// All of them.
pub const CORPORA: &[Corpus] = &[
    Corpus {
        name: "clang",
        repository: "https://github.com/llvm/llvm-project",
        // llvmorg-19.1.7
        commit: "cd708029e0b2869e80abe31ddb175f7c35361f90",
        folders: &["clang/test/CodeGenOpenCL", "clang/test/SemaOpenCL"],
        style: Style::Lit(lit::CLANG),
        linked: false,
    },
    Corpus {
        name: "spirv-llvm-translator",
        repository: "https://github.com/KhronosGroup/SPIRV-LLVM-Translator",
        commit: "cea7c0e5fa6114f2e3ae83a6652bda7a6bccbc2b",
        folders: &["test"],
        style: Style::Lit(lit::CLANG),
        linked: false,
    },
    Corpus {
        name: "clspv",
        repository: "https://github.com/google/clspv",
        commit: "88d8ff71000bf995493c8daaed865ec1ac216309",
        folders: &["test"],
        style: Style::Lit(lit::CLSPV),
        linked: false,
    },
    Corpus {
        name: "pocl",
        repository: "https://github.com/pocl/pocl",
        commit: "5066640dcbff6df32241da2416c964ea69659999",
        folders: &["tests", "examples"],
        style: Style::Plain,
        linked: true,
    },
    Corpus {
        name: "unitcl",
        repository: "https://github.com/uxlfoundation/oneapi-construction-kit",
        commit: "2353272ed7ea3b6ff907d02acca9ad9906422216",
        folders: &["source/cl/test/UnitCL/kernels"],
        style: Style::Heads,
        linked: true,
    },
    Corpus {
        name: "beignet",
        repository: "https://github.com/intel/beignet",
        commit: "f72309a523471cd07778a9d9ed5442bd634d2e82",
        folders: &["kernels"],
        style: Style::Plain,
        linked: true,
    },
    Corpus {
        name: "gegl",
        repository: "https://github.com/GNOME/gegl",
        commit: "3d6ed0be1a538da469b0ad86bc37f815f4b807eb",
        folders: &["operations/opencl"],
        style: Style::Plain,
        linked: true,
    },
];

impl Corpus {
    /// The commands that fetch it into a folder.
    pub fn commands(&self, folder: &Path) -> Vec<Vec<String>> {
        let folder = folder.display().to_string();
        let inside = |words: &[&str]| ["git", "-C", &folder].iter().chain(words).map(|&w| w.to_owned()).collect();
        let sparse: Vec<&str> = ["sparse-checkout", "set"].into_iter().chain(self.folders.iter().copied()).collect();
        vec![
            vec!["git".to_owned(), "init".to_owned(), "--quiet".to_owned(), folder.clone()],
            inside(&["remote", "add", "origin", self.repository]),
            inside(&sparse),
            // One commit, and of its files only those of the folders: LLVM's repository has gigabytes.
            inside(&["fetch", "--quiet", "--depth", "1", "--filter=blob:none", "origin", self.commit]),
            inside(&["checkout", "--quiet", "FETCH_HEAD"]),
        ]
    }

    /// Fetches it if it is not there. One that is there is left as it is.
    pub fn fetch(&self, folder: &Path) -> Result<()> {
        if self.folders.iter().any(|f| folder.join(f).is_dir()) {
            return Ok(());
        }
        let commands = self.commands(folder);
        let lines: Vec<String> = commands.iter().map(|words| format!("    {}", words.join(" "))).collect();
        let lines = lines.join("\n");
        eprintln!("{} is fetched:\n{lines}", self.name);
        for words in &commands {
            let status =
                Command::new(&words[0]).args(&words[1..]).status().context("cannot run git: is it installed?")?;
            // What was begun would look as if it were there.
            if !status.success() {
                let _ = fs::remove_dir_all(folder);
            }
            ensure!(status.success(), "{} cannot be fetched; where there is a network, run\n{lines}", self.name);
        }
        Ok(())
    }

    /// The commit that is there, if `git` can tell it.
    pub fn commit_of(folder: &Path) -> Option<String> {
        // A folder in a repository of other things is none of its own.
        if !folder.join(".git").exists() {
            return None;
        }
        let output = Command::new("git").arg("-C").arg(folder).args(["rev-parse", "HEAD"]).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// All that there is to compile, in the order of names, and how many files ask for nothing that could be.
    pub fn cases(&self, folder: &Path) -> Result<(Vec<Case>, usize)> {
        let mut files = Vec::new();
        for part in self.folders {
            let part = folder.join(part);
            if part.is_dir() {
                collect(&part, &mut files)?;
            }
        }
        files.sort();
        let (mut cases, mut skipped) = (Vec::new(), 0);
        for path in files {
            let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            // Comments in other encodings say nothing about the compilation.
            let text = String::from_utf8_lossy(&bytes);
            let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
            let of_file = match self.style {
                Style::Lit(dialect) => lit::cases(&dialect, &name, &path, &text),
                Style::Heads => vec![heads::case(&name, &path, &text)],
                Style::Plain => vec![Case::plain(&name, &path)],
            };
            skipped += usize::from(of_file.is_empty());
            cases.extend(of_file);
        }
        Ok((cases, skipped))
    }
}

/// Gathers the `.cl` files below a folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "cl") {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_fetched_is_one_commit_of_some_folders() {
        let lines: Vec<String> =
            CORPORA[0].commands(Path::new("dir/clang")).iter().map(|words| words.join(" ")).collect();
        let commit = CORPORA[0].commit;
        assert_eq!(
            lines,
            [
                "git init --quiet dir/clang",
                "git -C dir/clang remote add origin https://github.com/llvm/llvm-project",
                "git -C dir/clang sparse-checkout set clang/test/CodeGenOpenCL clang/test/SemaOpenCL",
                &format!("git -C dir/clang fetch --quiet --depth 1 --filter=blob:none origin {commit}"),
                "git -C dir/clang checkout --quiet FETCH_HEAD",
            ]
        );
    }

    #[test]
    fn names_are_unique_and_commits_whole() {
        for (i, corpus) in CORPORA.iter().enumerate() {
            assert!(CORPORA[..i].iter().all(|c| c.name != corpus.name), "{}", corpus.name);
            assert!(
                corpus.commit.len() == 40 && corpus.commit.bytes().all(|b| b.is_ascii_hexdigit()),
                "{}",
                corpus.name
            );
        }
    }
}
