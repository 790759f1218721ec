//! Rules for C++: a head, a length, a width, and the format of clang-format where that is installed.
//!
//! In comes the text of a file; out come what it breaks. Formats differ from version to version of clang-format, so
//! that only the one that `.clang-format` names is asked.

use super::workspace::{Workspace, collect};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const MAX_LINES: usize = 400;
const MAX_WIDTH: usize = 120;
/// The names of clang-format, of which one may be of another version.
const CLANG_FORMAT: [&str; 2] = ["clang-format-19", "clang-format"];
/// Which version the files are formatted with.
const VERSION: &str = "version 19.";

/// Checks all C++ of the workspace, which is in the folders `cpp` of its crates.
pub fn check(workspace: &Workspace, findings: &mut Vec<String>) -> Result<()> {
    let formatter = formatter();
    for folder in workspace.members.iter().map(|member| member.dir.join("cpp")).filter(|folder| folder.is_dir()) {
        for file in files(&folder)? {
            let shown = file.strip_prefix(workspace.root.join("crates")).unwrap_or(&file).display().to_string();
            let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
            check_text(&shown, &text, findings);
            if let Some(formatter) = formatter
                && !is_formatted(formatter, &file)?
            {
                findings.push(format!("{shown}: not formatted; run {formatter} -i crates/{shown}"));
            }
        }
    }
    Ok(())
}

/// The name of clang-format, if it is installed in the right version.
fn formatter() -> Option<&'static str> {
    CLANG_FORMAT.into_iter().find(|name| {
        let output = Command::new(name).arg("--version").stderr(Stdio::null()).output();
        output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(VERSION))
    })
}

/// The C++ files of a folder, in the order of their names.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for extension in ["cpp", "h"] {
        collect(folder, extension, &mut found)?;
    }
    found.sort();
    Ok(found)
}

fn is_formatted(formatter: &str, file: &Path) -> Result<bool> {
    let mut command = Command::new(formatter);
    command.args(["--dry-run", "--Werror"]).arg(file).stderr(Stdio::null());
    Ok(command.status().with_context(|| formatter.to_owned())?.success())
}

fn check_text(shown: &str, text: &str, findings: &mut Vec<String>) {
    let lines = text.lines().count();
    if lines > MAX_LINES {
        findings.push(format!("{shown}: {lines} lines, {MAX_LINES} are the limit of C++; split it"));
    }
    if !text.starts_with("// ") {
        findings.push(format!("{shown}: no // head that says what comes in, what goes out and why"));
    }
    let long = text.lines().zip(1..).filter(|(line, _)| line.chars().count() > MAX_WIDTH);
    findings.extend(long.map(|(_, line)| format!("{shown}:{line}: longer than {MAX_WIDTH} columns")));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        check_text("llvm/cpp/x.cpp", text, &mut out);
        out
    }

    #[test]
    fn heads_lengths_and_widths_are_found() {
        assert!(findings("// Head.\nint x;\n").is_empty());
        assert_eq!(findings("int x;\n"), ["llvm/cpp/x.cpp: no // head that says what comes in, what goes out and why"]);
        assert!(findings(&format!("// Head.\n{}", "\n".repeat(MAX_LINES - 1))).is_empty());
        assert_eq!(findings(&format!("// Head.\n{}", "\n".repeat(MAX_LINES))).len(), 1);
        assert!(findings(&format!("// Head.\n{}\n", "x".repeat(MAX_WIDTH))).is_empty());
        let wide = findings(&format!("// Head.\n{}\n", "x".repeat(MAX_WIDTH + 1)));
        assert_eq!(wide, [format!("llvm/cpp/x.cpp:2: longer than {MAX_WIDTH} columns")]);
    }

    #[test]
    fn files_in_another_form_are_found() {
        // Where clang-format is not installed, only lengths are checked.
        let Some(formatter) = formatter() else { return };
        let folder = std::env::temp_dir().join(format!("cloom-tidy-cpp-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let (good, bad) = (write("a.cpp", "// Head.\nint x;\n"), write("b.h", "// Head.\nint   x ;\n"));
        let found = files(&folder).unwrap();
        let formatted = [&good, &bad].map(|file| is_formatted(formatter, file).unwrap());
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!((found, formatted), (vec![good, bad], [true, false]));
    }
}
