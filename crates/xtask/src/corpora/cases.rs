//! What is compiled: a file with its options, and whether it has to be accepted.

use serde::Deserialize;
use std::path::{Path, PathBuf};

/// What a compiler does with a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It compiles it.
    Accepted,
    /// It has errors.
    Refused,
}

impl Verdict {
    /// As the expectations have it.
    pub const fn word(self) -> &'static str {
        match self {
            Verdict::Accepted => "accepted",
            Verdict::Refused => "refused",
        }
    }
}

/// A compilation of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// The path in the repository; behind it the options, where the file asks for several compilations.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// The build options.
    pub options: Vec<String>,
    /// What the file itself asks for.
    pub expected: Verdict,
}

impl Case {
    /// A file that asks for nothing.
    pub fn plain(name: &str, path: &Path) -> Case {
        Case { name: name.to_owned(), path: path.to_owned(), options: Vec::new(), expected: Verdict::Accepted }
    }
}

/// Puts the options behind the names of a file's compilations, if there are several. The file's folder is a dot there.
pub fn name_apart(cases: &mut [Case]) {
    if cases.len() < 2 {
        return;
    }
    for case in cases {
        let folder = case.path.parent().unwrap_or(&case.path).display().to_string();
        for option in &case.options {
            case.name.push(' ');
            case.name.push_str(&option.replace(&folder, "."));
        }
    }
}
