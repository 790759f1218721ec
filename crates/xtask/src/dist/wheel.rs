//! The wheel: driver and program for Python's users. In: the pieces of the tarball. Out: a file for `pip install`.
//!
//! The loader inside PyOpenCL's wheel reads each `.icd` file of `pyopencl/.libs`. An `.icd` file there with a bare
//! name, and the driver beside it, need no setting. The rest of the format is that of Python's packaging guide ("Binary
//! distribution format"); a file below `*.data/scripts` goes where Python's programs are.

use super::licences::Texts;
use super::tree::{Content, Piece, template};
use super::{Form, Release, stubs};
use crate::tools::{output, root};
use anyhow::{Context, Result};
use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use flate2::Compression;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::process::Command;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// The last part of its name: Pythons, their interface, and machines.
pub fn tag(release: &Release) -> String {
    format!("py3-none-manylinux_{}_{}", stubs::GLIBC.replace('.', "_"), release.machine.arch())
}

/// Makes it.
pub fn make(release: &Release, pieces: &[Piece], texts: &Texts, wheel: &Path, form: Form) -> Result<()> {
    let mut files = content(release, pieces, texts, &tag(release))?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let stage = wheel.with_file_name("made").join("wheel");
    let mut record = String::new();
    for file in &files {
        file.place(&stage)?;
        // Writing to a string cannot fail.
        let _ = writeln!(record, "{},sha256={},{}", file.path, sum(&stage.join(&file.path))?, file.size());
    }
    let path = format!("{}/RECORD", info(release));
    // The list has a line of its own without a checksum, which it could not contain.
    let _ = writeln!(record, "{path},,");
    let record = Piece::new(path, Content::Text(record));
    record.place(&stage)?;
    files.push(record);
    write(&files, &stage, wheel, form).with_context(|| format!("cannot write {}", wheel.display()))?;
    Ok(fs::remove_dir_all(&stage)?)
}

/// The folder of what the package says of itself.
fn info(release: &Release) -> String {
    format!("cloom-{}.dist-info", release.version)
}

/// All files but the list of them.
fn content(release: &Release, pieces: &[Piece], texts: &Texts, tag: &str) -> Result<Vec<Piece>> {
    let find = |part: &str| {
        let found = pieces.iter().find(|p| p.path.starts_with(part) && !matches!(p.content, Content::Link(_)));
        found.map(|p| p.content.clone()).with_context(|| format!("no file {part}"))
    };
    let Content::File(library) = find("lib/cloom/libcloom.so")? else { anyhow::bail!("the library is a file") };
    let info = info(release);
    let licences = [
        ("LICENSE-APACHE", Content::File(root().join("LICENSE-APACHE"))),
        ("LICENSE-MIT", Content::File(root().join("LICENSE-MIT"))),
        ("rust-library.html", Content::File(texts.rust_library.clone())),
        ("third-party.txt", Content::Text(texts.third_party.clone())),
    ];
    let names: Vec<String> = licences.iter().map(|(name, _)| format!("License-File: {name}")).collect();
    let metadata = release
        .fill(template!("wheel/METADATA"))
        .replace("@LICENCE@", &texts.expression)
        .replace("@LICENCE_FILES@", &names.join("\n"));
    let text = |text: &str| Content::Text(release.fill(text).replace("@GLIBC@", stubs::GLIBC));
    let wheel = format!("Wheel-Version: 1.0\nGenerator: cargo xtask dist\nRoot-Is-Purelib: false\nTag: {tag}\n");
    let mut files = vec![
        Piece::new("pyopencl/.libs/cloom.icd", Content::Text("libcloom.so\n".to_owned())),
        Piece::new("pyopencl/.libs/libcloom.so", Content::Program(library)),
        Piece::new("cloom/__init__.py", text(template!("wheel/__init__.py"))),
        Piece::new("cloom/__main__.py", text(template!("wheel/__main__.py"))),
        Piece::new(format!("cloom-{}.data/scripts/cloom", release.version), find("bin/cloom")?),
        Piece::new(format!("{info}/METADATA"), text(&(metadata + template!("wheel/README.md")))),
        Piece::new(format!("{info}/WHEEL"), Content::Text(wheel)),
        Piece::new(format!("{info}/sboms/cloom.cdx.json"), Content::Text(texts.bill.clone())),
    ];
    files.extend(licences.map(|(name, content)| Piece::new(format!("{info}/licenses/{name}"), content)));
    Ok(files)
}

/// The checksum of a file as a wheel has it.
fn sum(path: &Path) -> Result<String> {
    let line = output(Command::new("sha256sum").arg("--").arg(path))?;
    let hex = line.split(' ').next().unwrap_or_default();
    let bytes = HEXLOWER.decode(hex.as_bytes()).with_context(|| format!("sha256sum writes {line}"))?;
    Ok(BASE64URL_NOPAD.encode(&bytes))
}

/// Writes the archive: the same files make the same bytes. The time of each is 1980, the first that the format has.
fn write(files: &[Piece], stage: &Path, wheel: &Path, form: Form) -> Result<()> {
    let mut zip = ZipWriter::new(BufWriter::new(File::create(wheel)?));
    for file in files {
        let mode = if matches!(file.content, Content::Program(_)) { 0o755 } else { 0o644 };
        let (method, level) = match form {
            Form::Compressed => (CompressionMethod::Deflated, Some(i64::from(Compression::best().level()))),
            Form::Plain => (CompressionMethod::Stored, None),
        };
        let options = SimpleFileOptions::default()
            .compression_method(method)
            .compression_level(level)
            .last_modified_time(DateTime::default())
            .unix_permissions(mode);
        zip.start_file(file.path.clone(), options)?;
        io::copy(&mut File::open(stage.join(&file.path))?, &mut zip)?;
    }
    zip.finish()?.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_files_make_the_same_wheel_with_their_modes() {
        let dir = std::env::temp_dir().join(format!("cloom-xtask-wheel-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let program = dir.join("program");
        fs::write(&program, "#!/bin/sh\n").unwrap();
        let files = [
            Piece::new("a/text.txt", Content::Text("text ".repeat(1000))),
            Piece::new("b/program", Content::Program(program)),
        ];
        files.iter().for_each(|f| f.place(&dir).unwrap());
        let make = |name: &str| {
            write(&files, &dir, &dir.join(name), Form::Compressed).unwrap();
            fs::read(dir.join(name)).unwrap()
        };
        let bytes = make("one.whl");
        assert_eq!(bytes, make("two.whl"));
        assert!(bytes.len() < 1000, "it is compressed");
        let mut read = zip::ZipArchive::new(io::Cursor::new(bytes)).unwrap();
        assert_eq!(read.by_name("a/text.txt").unwrap().unix_mode().unwrap() & 0o777, 0o644);
        assert_eq!(read.by_name("b/program").unwrap().unix_mode().unwrap() & 0o777, 0o755);
        // The checksum of the empty text, which is known.
        fs::write(dir.join("empty"), "").unwrap();
        assert_eq!(sum(&dir.join("empty")).unwrap(), "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU");
        fs::remove_dir_all(&dir).unwrap();
    }
}
