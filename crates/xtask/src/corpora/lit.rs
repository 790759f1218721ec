//! The lines `RUN:` of tests for LLVM's test runner: which of them compile the file for a target that Cloom could stand
//! for, with which options, and whether errors are asked for.
//!
//! A line for one GPU or CPU is passed over, as are those in C++, those that only run the preprocessor, and those that
//! take extensions away: Cloom's device has its extensions.

use super::cases::{Case, Verdict, name_apart};
use std::path::Path;

/// What the tests of a compiler have in common.
#[derive(Clone, Copy)]
pub struct Dialect {
    /// The words that call the compiler.
    programs: &'static [&'static str],
    /// Whether the errors that a file expects are the language's. Those of others are of what they translate to.
    verifies: bool,
    /// The options `-cl-…` that are no build options.
    foreign: &'static [&'static str],
}

/// Tests that call Clang.
pub const CLANG: Dialect =
    Dialect { programs: &["%clang_cc1", "%clang"], verifies: true, foreign: &["-cl-opt-disable"] };

/// Tests that call clspv, which makes Vulkan's SPIR-V of OpenCL C.
pub const CLSPV: Dialect =
    Dialect { programs: &["clspv"], verifies: false, foreign: &["-cl-arm", "-cl-native-math", "-cl-kernel-arg-info"] };

/// The compilations that a file asks for, each once.
pub fn cases(dialect: &Dialect, name: &str, path: &Path, text: &str) -> Vec<Case> {
    let mut found: Vec<Case> = Vec::new();
    for line in lines(text) {
        for command in line.split(['|', ';']).flat_map(|c| c.split("&&")) {
            let words = words(command);
            let Some(at) = words.iter().position(|w| dialect.programs.contains(&w.as_str())) else { continue };
            let Some((options, prefixes)) = options(dialect, &words[at + 1..], path) else { continue };
            let fails = words[..at].iter().any(|w| w == "not");
            let marked = dialect.verifies && prefixes.iter().any(|p| text.contains(&format!("{p}-error")));
            let expected = if fails || marked { Verdict::Refused } else { Verdict::Accepted };
            // Many files have several lines that differ only in what they check of the output.
            if !found.iter().any(|c| c.options == options) {
                found.push(Case { name: name.to_owned(), path: path.to_owned(), options, expected });
            }
        }
    }
    name_apart(&mut found);
    found
}

/// The commands of a file, with those that go on in the next line in one piece.
fn lines(text: &str) -> Vec<String> {
    let (mut all, mut line) = (Vec::new(), String::new());
    for part in text.lines().filter_map(|l| Some(l.split_once("RUN:")?.1.trim())) {
        line.push_str(part.strip_suffix('\\').unwrap_or(part));
        if part.ends_with('\\') {
            line.push(' ');
        } else {
            all.push(std::mem::take(&mut line));
        }
    }
    all
}

/// The words of a command, as a shell reads them.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (q, Some(open)) if q == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(letters.next()),
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The build options of a call, and the words before `-error` in the comments that it checks; nothing if Cloom cannot
/// stand for the compiler that is called.
fn options(dialect: &Dialect, words: &[String], path: &Path) -> Option<(Vec<String>, Vec<String>)> {
    let folder = path.parent().unwrap_or(path).display().to_string();
    let (mut options, mut prefixes, mut reads) = (Vec::new(), Vec::new(), false);
    let mut words = words.iter().map(|w| w.replace("%S", &folder));
    while let Some(word) = words.next() {
        reads |= word == "%s";
        // clspv takes both.
        let word = word.strip_prefix('-').filter(|w| w.starts_with('-') && w.len() > 1).unwrap_or(&word);
        let (key, value) = word.split_once('=').map_or((word, None), |(k, v)| (k, Some(v.to_owned())));
        let mut value = || value.clone().or_else(|| words.next()).unwrap_or_default();
        match key {
            "-triple" | "-target" => {
                generic(&value()).then_some(())?;
            }
            "-target-cpu" | "-target-feature" | "-mcpu" | "-include" | "-include-pch" | "-emit-pch" | "-E" | "-dM" => {
                return None;
            }
            "-x" => (value() == "cl").then_some(())?,
            "-o" => drop(value()),
            "-cl-ext" => value().split(',').all(|e| e.starts_with('+')).then_some(())?,
            "-cl-std" => options.push(standard(&value())?),
            // A macro without a name, which Clang passes over.
            "-D" if word.len() > 2 => return None,
            "-D" | "-U" | "-I" => options.push(format!("{key}{}", value())),
            _ if ["-D", "-U", "-I"].iter().any(|o| word.starts_with(o)) => options.push(word.to_owned()),
            _ if dialect.foreign.iter().any(|f| word.starts_with(f)) => {}
            _ if word.starts_with("-cl-") => options.push(word.to_owned()),
            "-verify" => match word.split_once('=') {
                Some((_, list)) => prefixes.extend(list.split(',').map(str::to_owned)),
                None => prefixes.push("expected".to_owned()),
            },
            _ if word.starts_with("-ast-") => return None,
            // Warnings, levels of optimisation, and what is of no interest to others.
            _ => {}
        }
    }
    // A call without `%s` compiles another file.
    reads.then_some((options, prefixes))
}

/// Whether a target is SPIR or the test's own machine.
fn generic(triple: &str) -> bool {
    let machine = triple.split('-').next().unwrap_or_default();
    let machines = ["spir", "spir64", "spirv", "spirv32", "spirv64", "x86_64", "%itanium_abi_triple"];
    machines.contains(&machine) && !triple.contains("-amd-")
}

/// The option for a version of the language, in the letters that OpenCL has for it; nothing for C++.
fn standard(version: &str) -> Option<String> {
    let version = version.to_uppercase();
    let number = version.strip_prefix("CL").filter(|n| !n.starts_with("C++"))?;
    // Clang's short name for the first.
    Some(format!("-cl-std=CL{}", if number.is_empty() { "1.0" } else { number }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(dialect: &Dialect, text: &str) -> Vec<(String, Vec<String>, Verdict)> {
        let cases = cases(dialect, "test/a.cl", Path::new("/x/test/a.cl"), text);
        cases.into_iter().map(|c| (c.name, c.options, c.expected)).collect()
    }

    fn options_of(line: &str) -> Option<Vec<String>> {
        found(&CLANG, &format!("// RUN: {line}")).pop().map(|(_, options, _)| options)
    }

    #[test]
    fn options_of_the_language_are_kept() {
        let line = "%clang_cc1 %s -triple \"spir-unknown-unknown\" -cl-std=cl2.0 -DA=1 -D B -I %S/Inputs -O0 -emit-llvm \
                    -cl-fast-relaxed-math -cl-ext=+cl_khr_fp64 -o - | FileCheck %s";
        let options = options_of(line).unwrap();
        assert_eq!(options, ["-cl-std=CL2.0", "-DA=1", "-DB", "-I/x/test/Inputs", "-cl-fast-relaxed-math"]);
        assert_eq!(options_of("%clang_cc1 -x cl -cl-std=CL %s").unwrap(), ["-cl-std=CL1.0"]);
        assert_eq!(options_of("%clang_cc1 '-DM(x)=#x y' %s").unwrap(), ["-DM(x)=#x y"]);
    }

    #[test]
    fn other_languages_targets_and_tools_are_passed_over() {
        for line in [
            "%clang_cc1 -triple amdgcn-amd-amdhsa %s",
            "%clang_cc1 -triple spirv64-amd-amdhsa %s",
            "%clang_cc1 -triple=r600 %s",
            "%clang_cc1 -triple spir -target-cpu gfx900 %s",
            "%clang_cc1 -cl-std=clc++2021 %s",
            "%clang_cc1 -x c++ %s",
            "%clang_cc1 -cl-ext=-all,+cl_khr_fp64 %s",
            "%clang_cc1 -E -dM %s",
            "%clang_cc1 -D=A %s",
            "%clang_cc1 %t.cl",
            "llvm-spirv %t.bc -o %s",
        ] {
            assert_eq!(options_of(line), None, "{line}");
        }
    }

    #[test]
    fn a_line_may_go_on_and_a_compilation_counts_once() {
        let text = "// RUN: %clang_cc1 %s -cl-std=CL3.0 \\\n// RUN:   -DX -o %t\n// RUN: %clang_cc1 %s -O2\n\
                    // RUN: %clang_cc1 -O1 %s\n";
        let accepted = Verdict::Accepted;
        let all = [
            ("test/a.cl -cl-std=CL3.0 -DX".to_owned(), vec!["-cl-std=CL3.0".to_owned(), "-DX".to_owned()], accepted),
            ("test/a.cl".to_owned(), vec![], accepted),
        ];
        assert_eq!(found(&CLANG, text), all);
    }

    #[test]
    fn errors_are_expected_where_the_file_says_so() {
        let expected = |line: &str, rest: &str| found(&CLANG, &format!("// RUN: {line}\n{rest}"))[0].2;
        let error = "int x = y; // expected-error {{undeclared}}";
        assert_eq!(expected("%clang_cc1 -verify %s", error), Verdict::Refused);
        assert_eq!(expected("%clang_cc1 -verify %s", "// expected-no-diagnostics"), Verdict::Accepted);
        assert_eq!(expected("%clang_cc1 -verify=a,b %s", "int x = y; // b-error {{undeclared}}"), Verdict::Refused);
        assert_eq!(expected("%clang_cc1 -verify=a,b %s", error), Verdict::Accepted);
        assert_eq!(expected("%clang_cc1 %s", error), Verdict::Accepted);
        assert_eq!(expected("not %clang_cc1 %s", ""), Verdict::Refused);
    }

    #[test]
    fn clspv_has_options_of_its_own() {
        let text = "// RUN: clspv --cl-std=CL3.0 -int8 -cl-native-math %target %s -o %t.spv -verify\n// expected-error";
        assert_eq!(
            found(&CLSPV, text),
            [("test/a.cl".to_owned(), vec!["-cl-std=CL3.0".to_owned()], Verdict::Accepted)]
        );
        assert!(found(&CLSPV, "// RUN: clspv -x ir %s -o %t").is_empty());
        assert!(found(&CLSPV, "// RUN: clspv-opt %s").is_empty());
    }
}
