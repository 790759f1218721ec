//! Included files: headers from the application, then files in the folders of `-I`, then in the including file's
//! folder.

use cloom_clc::pp::{IncludeRequest, IncludeResolver, IncludedFile};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Read;
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

/// What an `#include` found.
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
    found: Vec<Include>,
}

impl<'a> Resolver<'a> {
    /// Over the given headers and folders.
    pub fn new(headers: &'a [Header], folders: &[String]) -> Self {
        Self { headers, folders: folders.iter().map(PathBuf::from).collect(), found: Vec::new() }
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
        first.iter().chain(&self.folders).chain(&last).find_map(|dir| read(&dir.join(request.name)))
    }
}

impl IncludeResolver for Resolver<'_> {
    fn resolve(&mut self, request: IncludeRequest<'_>) -> Option<IncludedFile> {
        let file = self.find(&request);
        self.found.push(Include::new(&request, file.as_ref()));
        file
    }
}

/// A regular file of a reasonable size; nothing else is opened, because reading a device or a pipe may never end.
fn read(path: &Path) -> Option<IncludedFile> {
    let meta = std::fs::metadata(path).ok()?;
    if !meta.is_file() || meta.len() > MAX_FILE {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MAX_FILE).read_to_end(&mut bytes).ok()?;
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
        let mut r = Resolver::new(&headers, &[at("inc")]);
        let from = at("main.cl");
        let mut text = |name: &str, angled| r.resolve(request(name, &from, angled)).map(|f| f.bytes);
        assert_eq!(text("given.h", false), Some(b"given".to_vec()));
        assert_eq!(text("a.h", false), Some(b"beside".to_vec()));
        assert_eq!(text("a.h", true), Some(b"folder".to_vec()));
        assert_eq!(text("inc", false), None);
        assert_eq!(text("/dev/zero", false), None);
        assert_eq!(text("nothing.h", false), None);
    }
}
