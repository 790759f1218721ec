//! Rules for each Rust file: a head, a length, a width, `unsafe` only where it is allowed, and words that only some
//! crates may use.

use super::tokens::{Token, lines_of};
use super::workspace::SourceFile;
use super::{functions, panics};
use std::collections::BTreeMap;

/// Crates in which `unsafe` may stand: they call LLVM, run machine code, have the C interface, or are libraries in the
/// place of NVIDIA's.
pub const UNSAFE_CRATES: &[&str] = &["llvm", "capi", "hal-cpu", "hal-cuda", "cuda-sim-driver", "cuda-sim-compiler"];
/// Single modules of other crates: memory of the application, calls of the C interface, launches.
pub const UNSAFE_FILES: &[&str] = &[
    // Handles of the driver, which any thread may use; types of its functions.
    "cuda-abi/src/headers.rs",
    "cuda-abi/src/lib.rs",
    "cuda-abi/src/signature.rs",
    // The auxiliary vector.
    "caps/src/secure.rs",
    "runtime/src/host_mem.rs",
    // Memory that the host addresses, of any device.
    "hal/src/host_visible.rs",
    "gallery/src/cl.rs",
    "gallery/src/cl/image.rs",
    "gallery/src/cl/queue.rs",
    "gallery/src/cl/relay.rs",
    "fuzzing/src/targets/api/calls.rs",
    // A launch from Rust is declared unsafe; its examples and tests call it.
    "cloom/src/kernel.rs",
    "cloom/examples/devices.rs",
    "cloom/examples/embed.rs",
    "cloom/examples/image.rs",
    "cloom/examples/shared_list.rs",
    "cloom/examples/without_llvm.rs",
    "cloom/tests/embed.rs",
    "cloom/tests/objects.rs",
    "cloom/tests/svm.rs",
    // Shared virtual memory as slices.
    "cloom/src/svm.rs",
    "cli/src/doctor/own.rs",
    // Calls of NVIDIA's driver, which it measures.
    "gpu-tests/src/bin/driver_costs.rs",
];

const MAX_LINES: usize = 800;
/// An example shows one use of a crate. A program of more lines is a product, and has a crate of its own.
const MAX_EXAMPLE_LINES: usize = 150;
/// Columns of a comment: rustfmt's width, which rustfmt itself does not apply to comments.
const MAX_COMMENT_WIDTH: usize = 120;
/// Columns of code that rustfmt leaves alone: the insides of macros and of strings.
const MAX_WIDTH: usize = 140;

/// A word or a path that not every crate may write in code.
struct Fence {
    words: &'static [&'static str],
    /// `Only`: these crates may. `Never`: these crates may not.
    crates: Crates,
    why: &'static str,
}

enum Crates {
    Only(&'static [&'static str]),
    Never(&'static [&'static str]),
}

const FENCES: &[Fence] = &[
    Fence { words: &["llvm_sys"], crates: Crates::Only(&["llvm"]), why: "LLVM is behind one crate" },
    Fence {
        words: &[
            "cl_platform_id",
            "cl_device_id",
            "cl_context",
            "cl_command_queue",
            "cl_mem",
            "cl_sampler",
            "cl_program",
            "cl_kernel",
            "cl_event",
            "cl_mem_flags",
        ],
        crates: Crates::Only(&["capi", "gallery", "fuzzing"]),
        why: "the types of the C interface are those of capi and its callers",
    },
    Fence {
        words: &["no_mangle", "export_name"],
        crates: Crates::Only(&["capi", "cuda-sim-driver", "cuda-sim-compiler"]),
        why: "capi exports symbols, and so do the libraries of the simulated GPU",
    },
    Fence {
        words: &["std::fs", "std::io", "std::net", "std::process", "std::env"],
        crates: Crates::Never(&["target", "ir", "clc", "passes", "spmd"]),
        why: "sources, IR and passes are data; input and output belong to the caller",
    },
    Fence {
        words: &["std::env"],
        crates: Crates::Never(&[
            "builtins",
            "spirv",
            "interp",
            "check",
            "llvm",
            "artifact",
            "compiler",
            "hal",
            "hal-cpu",
            "hal-remote",
            "hal-gpu",
            "hal-cuda",
            "runtime",
            "capi",
            "cloom",
        ]),
        why: "a library reads the environment through cloom_caps::env, which obeys nothing in set-user-ID programs",
    },
];

/// How often `unsafe` stands in each file that has it.
pub type UnsafeFiles = BTreeMap<String, usize>;

/// Checks a file of a crate.
pub fn check(name: &str, file: &SourceFile, unsafe_files: &mut UnsafeFiles, findings: &mut Vec<String>) {
    let SourceFile { shown, text, tokens } = file;
    let lines = text.lines().count();
    if lines > MAX_LINES {
        findings.push(format!("{shown}: {lines} lines, {MAX_LINES} are the limit; split it"));
    }
    if shown.contains("/examples/") && lines > MAX_EXAMPLE_LINES {
        findings.push(format!(
            "{shown}: {lines} lines, {MAX_EXAMPLE_LINES} are the limit of an example; make a crate of it"
        ));
    }
    if !text.starts_with("//!") {
        findings.push(format!("{shown}: no //! head that says what comes in, what goes out and why"));
    }
    for (i, line) in text.lines().enumerate() {
        let is_comment = line.trim_start().starts_with("//");
        let most = if is_comment { MAX_COMMENT_WIDTH } else { MAX_WIDTH };
        // Neither rustfmt nor an author can break a long literal in every case, so lines of code with one are free.
        if line.chars().count() > most && (is_comment || !line.contains('"')) {
            findings.push(format!("{shown}:{}: longer than {most} columns", i + 1));
        }
    }
    match tokens {
        Ok(tokens) => {
            check_unsafe(name, shown, tokens, unsafe_files, findings);
            check_fences(name, shown, tokens, findings);
            functions::check(shown, tokens, findings);
            panics::check(name, shown, tokens, findings);
        }
        Err(e) => findings.push(format!("{shown}: not Rust: {e}")),
    }
}

fn check_unsafe(name: &str, shown: &str, tokens: &[Token], unsafe_files: &mut UnsafeFiles, findings: &mut Vec<String>) {
    let lines = lines_of(tokens, "unsafe");
    if lines.is_empty() {
        return;
    }
    unsafe_files.insert(shown.to_owned(), lines.len());
    if !UNSAFE_CRATES.contains(&name) && !UNSAFE_FILES.contains(&shown) {
        findings.extend(lines.iter().map(|line| format!("{shown}:{line}: unsafe outside of its fence")));
    }
}

fn check_fences(name: &str, shown: &str, tokens: &[Token], findings: &mut Vec<String>) {
    for fence in FENCES {
        let free = match fence.crates {
            Crates::Only(crates) => crates.contains(&name),
            Crates::Never(crates) => !crates.contains(&name) || !shown.contains("/src/"),
        };
        if free {
            continue;
        }
        for word in fence.words {
            let lines = lines_of(tokens, word);
            findings.extend(lines.iter().map(|line| format!("{shown}:{line}: may not name {word}: {}", fence.why)));
        }
    }
}

/// Prints where `unsafe` is: a line for each crate.
pub fn print_unsafe(files: &UnsafeFiles) {
    let mut crates: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (file, count) in files {
        let (name, rest) = file.split_once('/').unwrap_or((file, ""));
        crates.entry(name).or_default().push(format!("{} {count}", rest.trim_start_matches("src/")));
    }
    let total: usize = files.values().sum();
    println!("xtask tidy: `unsafe` stands in {} files, {total} times:", files.len());
    for (name, files) in crates {
        println!("  {name}: {}", files.join(", "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(name: &str, shown: &str, text: &str) -> Vec<String> {
        let file = SourceFile::new(shown.to_owned(), text.to_owned());
        let mut out = Vec::new();
        check(name, &file, &mut UnsafeFiles::new(), &mut out);
        out
    }

    #[test]
    fn unsafe_is_found_outside_of_the_fence_only() {
        let text = "//! Head.\nfn f() { unsafe { g() } }\n";
        assert_eq!(findings("clc", "clc/src/x.rs", text).len(), 1);
        assert!(findings("llvm", "llvm/src/x.rs", text).is_empty());
        assert!(findings("runtime", UNSAFE_FILES[0], text).is_empty());
        assert_eq!(findings("gallery", "gallery/src/lib.rs", text).len(), 1);
        assert!(findings("clc", "clc/src/x.rs", "//! Head.\n// unsafe in words\n").is_empty());
        // Next to a string, and in a macro.
        assert_eq!(findings("clc", "clc/src/x.rs", "//! Head.\nm! { \"s\" unsafe }\n").len(), 1);
    }

    #[test]
    fn unsafe_is_counted() {
        let text = "//! H.\nunsafe fn f() { unsafe { g() } }\n";
        let file = SourceFile::new("llvm/src/x.rs".to_owned(), text.to_owned());
        let mut files = UnsafeFiles::new();
        check("llvm", &file, &mut files, &mut Vec::new());
        assert_eq!(files["llvm/src/x.rs"], 2);
    }

    #[test]
    fn heads_lengths_and_widths_are_found() {
        assert_eq!(findings("ir", "ir/src/x.rs", "fn f() {}\n").len(), 1);
        assert_eq!(findings("ir", "ir/src/x.rs", &format!("//! Head.\n{}", "\n".repeat(MAX_LINES))).len(), 1);
        let comment = |width: usize| format!("//! Head \"of\"\n    // {}\n", "x".repeat(width - 7));
        assert_eq!(findings("ir", "ir/src/x.rs", &comment(MAX_COMMENT_WIDTH + 1)).len(), 1);
        assert!(findings("ir", "ir/src/x.rs", &comment(MAX_COMMENT_WIDTH)).is_empty());
        let code = |width: usize| format!("//! Head.\nm! {{ {} }}\n", "x".repeat(width - 7));
        assert!(findings("ir", "ir/src/x.rs", &code(MAX_WIDTH)).is_empty());
        assert_eq!(findings("ir", "ir/src/x.rs", &code(MAX_WIDTH + 1)).len(), 1);
        assert_eq!(findings("ir", "ir/src/x.rs", "//! Head.\nfn f( {}\n").len(), 1);
    }

    #[test]
    fn examples_are_short() {
        let text = |lines: usize| format!("//! Head.\n{}", "\n".repeat(lines - 1));
        assert!(findings("ir", "ir/examples/x.rs", &text(MAX_EXAMPLE_LINES)).is_empty());
        assert_eq!(findings("ir", "ir/examples/x.rs", &text(MAX_EXAMPLE_LINES + 1)).len(), 1);
        assert_eq!(findings("ir", "ir/examples/x/y.rs", &text(MAX_EXAMPLE_LINES + 1)).len(), 1);
        assert!(findings("ir", "ir/src/x.rs", &text(MAX_EXAMPLE_LINES + 1)).is_empty());
        // Beside the launch of the crate for Rust programs, which is declared unsafe, no example needs it.
        let mut examples = UNSAFE_FILES.iter().filter(|file| file.contains("/examples/"));
        assert!(examples.all(|file| file.starts_with("cloom/examples/")));
    }

    #[test]
    fn foreign_words_are_found() {
        assert_eq!(findings("runtime", "runtime/src/x.rs", "//! Head.\nuse llvm_sys::core;\n").len(), 1);
        assert_eq!(findings("runtime", "runtime/src/x.rs", "//! Head.\nfn f(m: cl_mem) {}\n").len(), 1);
        assert_eq!(findings("hal", "hal/src/x.rs", "//! Head.\n#[no_mangle]\nfn f() {}\n").len(), 1);
        assert_eq!(findings("clc", "clc/src/x.rs", "//! Head.\nuse std::{fmt, fs};\n").len(), 1);
        assert!(findings("clc", "clc/tests/x.rs", "//! Head.\nuse std::fs;\n").is_empty());
        assert_eq!(findings("runtime", "runtime/src/x.rs", "//! H.\nfn f() { std::env::var(\"HOME\"); }\n").len(), 1);
        assert!(findings("caps", "caps/src/x.rs", "//! H.\nfn f() { std::env::var(\"HOME\"); }\n").is_empty());
        assert!(findings("cli", "cli/src/x.rs", "//! Head.\nuse std::fs;\n").is_empty());
    }
}
