//! Lists the drivers that are registered with the ICD loader: the variables and folders that it reads, and the `.icd`
//! files in them, read as that loader reads them.
//!
//! The loaders are strict. ocl-icd takes the first line of an `.icd` file up to the line feed, the Khronos loader the
//! whole file without one line feed at its end. Neither trims: a carriage return, a blank or a second line becomes a
//! part of the path, and no such file exists. They skip the driver without a message, so `doctor` has to say it.

use super::Finding;
use super::loader::{FOLDER, Kind, Loader};
use std::path::{Path, PathBuf};

/// A driver that the loader will try.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Where it is named: a file or a variable.
    pub origin: String,
    /// The library as the loader reads it, or why it reads none.
    pub library: Result<String, Unreadable>,
}

/// Why an `.icd` file names no driver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unreadable {
    /// What is wrong with it.
    pub why: String,
    /// What to do.
    pub advice: String,
}

/// Where the loader looks, as the environment says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// A folder of `.icd` files.
    Folder(PathBuf),
    /// One `.icd` file.
    File(PathBuf),
    /// A driver.
    Library(String),
}

/// Where this loader looks in this environment.
pub fn sources(loader: &Loader, get: impl Fn(&str) -> Option<String>) -> Vec<Source> {
    let read = |name: &str| if loader.reads(name) { get(name) } else { None };
    let mut sources: Vec<Source> = Vec::new();
    if let Some(list) = read("OCL_ICD_FILENAMES") {
        sources.extend(list.split(':').filter(|l| !l.is_empty()).map(|l| Source::Library(l.into())));
    }
    let folder = read("OPENCL_VENDOR_PATH").unwrap_or_else(|| FOLDER.into());
    match read("OCL_ICD_VENDORS") {
        // ocl-icd alone takes a file or a library in this variable; other loaders take whatever it says for a folder.
        Some(v) if loader.kind != Kind::OclIcd || Path::new(&v).is_dir() => sources.push(Source::Folder(v.into())),
        Some(v) if v.ends_with(".icd") => {
            // A bare name is looked for in the folder first.
            let there = Path::new(&folder).join(&v);
            sources.push(Source::File(if !v.contains('/') && there.exists() { there } else { v.into() }));
        }
        Some(v) => sources.push(Source::Library(v)),
        None => sources.push(Source::Folder(folder.into())),
    }
    sources
}

/// Every driver that these sources name. Folders that cannot be read or are empty become findings of `area`.
pub fn entries(sources: &[Source], kind: Kind, area: &'static str, findings: &mut Vec<Finding>) -> Vec<Entry> {
    let mut entries = Vec::new();
    for source in sources {
        match source {
            Source::File(path) => entries.push(read_icd(path, kind)),
            Source::Library(library) => {
                entries.push(Entry { origin: "the environment".into(), library: Ok(library.clone()) });
            }
            Source::Folder(folder) => match std::fs::read_dir(folder) {
                Err(e) => findings.push(Finding::problem(
                    area,
                    format!("the folder of .icd files, {}, cannot be read: {e}", folder.display()),
                    "create it, or name another one as described under `environment` below",
                )),
                Ok(dir) => {
                    let mut files: Vec<PathBuf> = dir.flatten().map(|f| f.path()).collect();
                    files.retain(|p| p.extension().is_some_and(|e| e == "icd"));
                    files.sort();
                    if files.is_empty() {
                        findings.push(Finding::problem(
                            area,
                            format!("there is no .icd file in {}", folder.display()),
                            "install a driver, or register Cloom's as described below",
                        ));
                    }
                    entries.extend(files.iter().map(|f| read_icd(f, kind)));
                }
            },
        }
    }
    entries
}

fn read_icd(path: &Path, kind: Kind) -> Entry {
    let library = match std::fs::read_to_string(path) {
        Err(e) => {
            let advice = "make it a readable text file with the path of a driver, or delete it".into();
            Err(Unreadable { why: format!("cannot be read: {e}"), advice })
        }
        Ok(text) => library_of(&text, kind, path),
    };
    Entry { origin: path.display().to_string(), library }
}

/// The path in an `.icd` file, if the loader reads the one that is meant.
fn library_of(text: &str, kind: Kind, path: &Path) -> Result<String, Unreadable> {
    let first_line = text.split('\n').next().unwrap_or_default();
    // What the loader makes of the text, and what its author meant: where the two differ, the loader looks for a file
    // that is not there.
    let taken = match kind {
        Kind::OclIcd => first_line,
        _ => text.strip_suffix('\n').unwrap_or(text),
    };
    let meant = first_line.trim_start_matches('\u{feff}').trim();
    if meant.is_empty() {
        let why = "is empty; its first line should be the path of a driver".into();
        return Err(Unreadable { why, advice: "write the path of the driver into it, or delete it".into() });
    }
    let why = match taken {
        _ if taken == meant => return Ok(meant.to_owned()),
        t if t.contains('\r') => "has line ends of Windows (CR LF): the carriage return becomes a part of the path",
        t if t.contains('\n') => "has more than one line: this loader takes the whole file as one path",
        t if t.starts_with('\u{feff}') => "begins with a byte order mark, which becomes a part of the path",
        _ => "has blanks before or after the path, which become a part of it",
    };
    let advice = format!("write it again: printf '%s\\n' '{meant}' | sudo tee {}", path.display());
    Err(Unreadable { why: format!("{why}, so the loader does not find the driver"), advice })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ocl_icd() -> Loader {
        Loader { kind: Kind::OclIcd, reads: vec!["OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"], ..Loader::default() }
    }

    fn found(loader: &Loader, vars: &[(&str, &str)]) -> Vec<Source> {
        sources(loader, |name| vars.iter().find(|v| v.0 == name).map(|v| v.1.to_owned()))
    }

    #[test]
    fn variables_mean_what_the_loaders_make_of_them() {
        let l = ocl_icd();
        assert_eq!(found(&l, &[]), [Source::Folder(FOLDER.into())]);
        assert_eq!(found(&l, &[("OPENCL_VENDOR_PATH", "/v")]), [Source::Folder("/v".into())]);
        assert_eq!(
            found(&l, &[("OPENCL_VENDOR_PATH", "/v"), ("OCL_ICD_VENDORS", "/tmp")]),
            [Source::Folder("/tmp".into())]
        );
        assert_eq!(found(&l, &[("OCL_ICD_VENDORS", "/a/b.icd")]), [Source::File("/a/b.icd".into())]);
        assert_eq!(found(&l, &[("OCL_ICD_VENDORS", "libx.so")]), [Source::Library("libx.so".into())]);
        // Not read by this loader.
        assert_eq!(found(&l, &[("OCL_ICD_FILENAMES", "/x.so")]), [Source::Folder(FOLDER.into())]);
        let both = vec!["OCL_ICD_VENDORS", "OCL_ICD_FILENAMES"];
        let khronos = Loader { kind: Kind::Khronos, reads: both, ..Loader::default() };
        assert_eq!(
            found(&khronos, &[("OCL_ICD_FILENAMES", "/x.so:/y.so"), ("OCL_ICD_VENDORS", "/v")]),
            [Source::Library("/x.so".into()), Source::Library("/y.so".into()), Source::Folder("/v".into())]
        );
        let names_only = Loader { kind: Kind::Khronos, reads: vec!["OCL_ICD_FILENAMES"], ..Loader::default() };
        assert_eq!(
            found(&names_only, &[("OCL_ICD_FILENAMES", "/x.so"), ("OCL_ICD_VENDORS", "/v")]),
            [Source::Library("/x.so".into()), Source::Folder(FOLDER.into())]
        );
    }

    #[test]
    fn an_icd_file_is_read_as_the_loader_reads_it() {
        let path = Path::new("/v/a.icd");
        let read = |text: &str, kind| library_of(text, kind, path).map_err(|e| e.why);
        for kind in [Kind::OclIcd, Kind::Khronos] {
            assert_eq!(read("/x.so\n", kind).unwrap(), "/x.so");
            assert_eq!(read("/x y.so", kind).unwrap(), "/x y.so", "no line feed is needed, a blank inside is a name");
            for (text, word) in [
                ("\n/x.so\n", "first line"),
                ("", "first line"),
                ("/x.so\r\n", "CR LF"),
                ("/x.so \n", "blanks"),
                ("\t/x.so\n", "blanks"),
                ("\u{feff}/x.so\n", "byte order mark"),
            ] {
                assert!(read(text, kind).unwrap_err().contains(word), "{text:?}");
            }
        }
        assert_eq!(read("/x.so\nmore\n", Kind::OclIcd).unwrap(), "/x.so");
        assert!(read("/x.so\nmore\n", Kind::Khronos).unwrap_err().contains("more than one line"));
        let advice = library_of("/x.so\r\n", Kind::OclIcd, path).unwrap_err().advice;
        assert_eq!(advice, "write it again: printf '%s\\n' '/x.so' | sudo tee /v/a.icd");
        assert!(read_icd(Path::new("/nowhere/b.icd"), Kind::OclIcd).library.is_err());
    }
}
