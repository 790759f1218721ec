//! The command line that repeats a launch.

use super::Options;
use crate::run::kernel::KernelOptions;
use std::path::Path;

/// The command line that repeats a launch.
pub fn line(path: &Path, kernel: &str, arguments: &KernelOptions, options: &Options) -> String {
    let mut words = vec!["cloom check".to_owned(), quoted(&path.display().to_string()), format!("-k {kernel}")];
    words.extend(arguments.args.iter().map(|arg| format!("--arg {}", quoted(arg))));
    words.extend(arguments.global.iter().map(|g| format!("--global {g}")));
    words.extend(arguments.local.iter().map(|l| format!("--local {l}")));
    for (name, list) in [("only", &options.only), ("enable", &options.enable), ("disable", &options.disable)] {
        words.extend(list.iter().map(|list| format!("--{name} {}", quoted(list))));
    }
    if let Some(seconds) = options.time_limit {
        words.push(format!("--time-limit {seconds}"));
    }
    let build = arguments.build.text();
    if !build.is_empty() {
        words.push(format!("--options {}", quoted(&build)));
    }
    words.join(" ")
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=.,:/@+%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
