//! Included files: headers from the application, then files in the folders of `-I`, then in the including file's
//! folder.
//!
//! Diagnostics quote source text. So a source from elsewhere could include any file that this process may read, and
//! have it quoted in the build log. Includes can be *confined* to the folders of `-I`, in which the file must lie after
//! links are resolved.

use cloom_clc::pp::{IncludeRequest, IncludeResolver, IncludedFile};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A header from the application (`clCompileProgram`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// Its name in `#include`.
    pub name: String,
    /// The text.
    pub text: Vec<u8>,
}

/// A file larger than this is no header.
const MAX_FILE: u64 = 64 << 20;

/// The result of an `#include`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Include {
    name: String,
    angled: bool,
    /// The including file.
    from: String,
    /// The file's name and the hash of its bytes; `None` if there was none.
    file: Option<(String, [u8; blake3::OUT_LEN])>,
}

impl Include {
    fn new(request: &IncludeRequest<'_>, file: Option<&IncludedFile>) -> Include {
        let file = file.map(|file| (file.name.clone(), *blake3::hash(&file.bytes).as_bytes()));
        Include { name: request.name.to_owned(), angled: request.angled, from: request.from.to_owned(), file }
    }
}

/// Finds included files.
pub struct Resolver<'a> {
    headers: &'a [Header],
    folders: Vec<PathBuf>,
    /// The folders without links, if includes are confined to them.
    confined_to: Option<Vec<PathBuf>>,
    found: Vec<Include>,
}

/// Where includes are searched, in addition to the folders of `-I`.
#[derive(Clone, Copy, Debug, Default)]
pub struct IncludeRules<'a> {
    /// Headers from the application.
    pub headers: &'a [Header],
    /// Whether no other file is found.
    pub confined: bool,
}

impl<'a> Resolver<'a> {
    /// By the given rules and folders.
    pub fn new(rules: IncludeRules<'a>, folders: &[String]) -> Self {
        let folders: Vec<PathBuf> = folders.iter().map(PathBuf::from).collect();
        let confined_to = rules.confined.then(|| folders.iter().flat_map(|folder| folder.canonicalize()).collect());
        Self { headers: rules.headers, folders, confined_to, found: Vec::new() }
    }

    /// What each `#include` has found so far.
    pub fn found(&self) -> &[Include] {
        &self.found
    }

    /// Whether an `#include` finds what it found before.
    pub fn finds_again(&self, before: &Include) -> bool {
        let request = IncludeRequest { name: &before.name, angled: before.angled, from: &before.from };
        Include::new(&request, self.find(&request).as_ref()) == *before
    }

    fn find(&self, request: &IncludeRequest<'_>) -> Option<IncludedFile> {
        if let Some(header) = self.headers.iter().find(|h| h.name == request.name) {
            return Some(IncludedFile { name: header.name.clone(), bytes: header.text.clone() });
        }
        // In the including file's folder; for a source given as text, the working folder.
        let beside = Path::new(request.from).parent().unwrap_or(Path::new(""));
        let first = (!request.angled).then(|| beside.to_path_buf());
        let last = request.angled.then(|| beside.to_path_buf());
        let within = self.confined_to.as_deref();
        first.iter().chain(&self.folders).chain(&last).find_map(|dir| read(&dir.join(request.name), within))
    }
}

impl IncludeResolver for Resolver<'_> {
    fn resolve(&mut self, request: IncludeRequest<'_>) -> Option<IncludedFile> {
        let file = self.find(&request);
        // Also where nothing was found: a file that is put there later must invalidate the kept IR.
        self.found.push(Include::new(&request, file.as_ref()));
        file
    }

    fn is_confined(&self) -> bool {
        self.confined_to.is_some()
    }
}

/// A regular file of a reasonable size, in one of these folders if any are given; nothing else is read, because reading
/// a device or a pipe may never end.
fn read(path: &Path, within: Option<&[PathBuf]>) -> Option<IncludedFile> {
    let is_within = |real: &Path| within.is_none_or(|folders| folders.iter().any(|folder| real.starts_with(folder)));
    if within.is_some() && !is_within(&path.canonicalize().ok()?) {
        return None;
    }
    let meta = std::fs::metadata(path).ok()?;
    if !meta.is_file() || meta.len() > MAX_FILE {
        return None;
    }
    // Another file may have this name by now: a pipe, so it is opened without waiting, or a file outside of the
    // folders.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::options().read(true).custom_flags(flags.bits() as i32).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    if within.is_some() && !is_within(&std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()?) {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE).read_to_end(&mut bytes).ok()?;
    Some(IncludedFile { name: path.to_str()?.to_owned(), bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request<'a>(name: &'a str, from: &'a str, angled: bool) -> IncludeRequest<'a> {
        IncludeRequest { name, angled, from }
    }

    #[test]
    fn given_headers_come_first_then_the_folder_of_the_file_then_the_others() {
        let dir = tempfile::tempdir().unwrap();
        let at = |p: &str| dir.path().join(p).to_str().unwrap().to_owned();
        std::fs::create_dir(at("inc")).unwrap();
        std::fs::write(at("a.h"), "beside").unwrap();
        std::fs::write(at("inc/a.h"), "folder").unwrap();
        let headers = [Header { name: "given.h".into(), text: b"given".to_vec() }];
        let mut r = Resolver::new(IncludeRules { headers: &headers, confined: false }, &[at("inc")]);
        let from = at("main.cl");
        let mut text = |name: &str, angled| r.resolve(request(name, &from, angled)).map(|f| f.bytes);
        assert_eq!(text("given.h", false), Some(b"given".to_vec()));
        assert_eq!(text("a.h", false), Some(b"beside".to_vec()));
        assert_eq!(text("a.h", true), Some(b"folder".to_vec()));
        assert_eq!(text("inc", false), None);
        assert_eq!(text("/dev/zero", false), None);
        assert_eq!(text("nothing.h", false), None);
    }

    #[test]
    fn confined_includes_find_nothing_outside_of_the_folders() {
        let dir = tempfile::tempdir().unwrap();
        let at = |p: &str| dir.path().join(p).to_str().unwrap().to_owned();
        for folder in ["inc", "inc/sub", "inc2", "real"] {
            std::fs::create_dir(at(folder)).unwrap();
        }
        for file in ["secret", "inc/a.h", "inc/sub/b.h", "inc2/c.h", "real/d.h", "inc.h"] {
            std::fs::write(at(file), "text").unwrap();
        }
        let link = |to: &str, from: &str| std::os::unix::fs::symlink(at(to), at(from)).unwrap();
        link("secret", "inc/link.h");
        link("inc/a.h", "inc/good.h");
        link("real", "linked");
        rustix::fs::mkfifoat(rustix::fs::CWD, at("inc/fifo.h"), rustix::fs::Mode::RUSR).unwrap();
        let headers = [Header { name: "given.h".into(), text: b"given".to_vec() }];
        let rules = IncludeRules { headers: &headers, confined: true };
        let mut r = Resolver::new(rules, &[at("inc"), at("inc2"), at("linked"), at("none")]);
        assert!(r.is_confined());
        let mut finds = |name: &str, from: &str| r.resolve(request(name, &at(from), false)).is_some();
        for name in ["given.h", "a.h", "sub/b.h", "c.h", "d.h", "good.h", "../inc2/c.h"] {
            assert!(finds(name, "main.cl"), "{name}");
        }
        for name in
            ["secret", "link.h", "../secret", "fifo.h", "../inc.h", "/etc/passwd", "/proc/self/environ", "inc.h"]
        {
            assert!(!finds(name, "main.cl"), "{name}");
        }
        assert!(!finds(&at("secret"), "main.cl") && finds(&at("inc/a.h"), "main.cl"));
        assert!(finds("b.h", "inc/sub/x.h") && !finds("../secret", "inc/x.h"), "beside a header");
        let rules = IncludeRules { confined: true, ..IncludeRules::default() };
        assert!(Resolver::new(rules, &[]).resolve(request(&at("inc/a.h"), "", false)).is_none());
    }
}
