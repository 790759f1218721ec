//! Reads programs, OpenCL C or SPIR-V: a file, or the standard input for `-`.

use crate::outcome::Failure;
use cloom_compiler::{Compilation, Compiler, Il, Program, Source, is_spirv};
use cloom_target::Target;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Limit on the size of a source; the compiler would also refuse a larger one, but only after reading it.
const MAX_BYTES: u64 = 256 << 20;

/// A source and its name in messages.
#[derive(Clone, Debug)]
pub struct Text {
    /// The file's name.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl Text {
    /// Whether it is SPIR-V.
    pub fn is_spirv(&self) -> bool {
        is_spirv(&self.bytes)
    }

    /// Whether it is a binary of a compiled program: no source has a zero byte at its start.
    pub fn is_program(&self) -> bool {
        !self.is_spirv() && self.bytes.iter().take(64).any(|&b| b == 0)
    }

    /// The compiled program that it is.
    pub fn load(&self, compiler: &Compiler) -> Result<Arc<Program>, Failure> {
        compiler.load(&self.bytes).map_err(|e| Failure::wrong(format!("{}: {e}; compile its source again", self.name)))
    }

    /// Compiles and links it alone.
    pub fn build(&self, compiler: &Compiler, options: &str, target: &Target) -> Compilation {
        match self.is_spirv() {
            true => compiler.build_il(self.il(), options, target),
            false => compiler.build(&self.source(), options, target),
        }
    }

    /// Compiles it.
    pub fn compile(&self, compiler: &Compiler, options: &str, target: &Target) -> Compilation {
        match self.is_spirv() {
            true => compiler.compile_il(self.il(), options, target),
            false => compiler.compile(&self.source(), options, &[], target),
        }
    }

    /// The files that it includes.
    pub fn included(&self, compiler: &Compiler, options: &str, target: &Target) -> Vec<String> {
        if self.is_spirv() { Vec::new() } else { compiler.included(&self.source(), options, target) }
    }

    fn il(&self) -> Il<'_> {
        Il { binary: &self.bytes, constants: &[] }
    }

    fn source(&self) -> Source<'_> {
        Source { name: &self.name, text: &self.bytes }
    }
}

/// Reads a file that should exist.
pub fn read(path: &Path) -> Result<Text, Failure> {
    let name = path.display().to_string();
    let fail = |why: String| Failure::wrong(format!("{name}: {why}"));
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        let input = std::io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes);
        input.map_err(|e| Failure::wrong(format!("the standard input: {e}")))?;
    } else {
        let meta = std::fs::metadata(path)
            .map_err(|e| fail(format!("{e}; give the path of a .cl or .spv file, or - for the standard input")))?;
        if meta.is_dir() {
            return Err(fail("a folder; give the path of a .cl or .spv file".into()));
        }
        let file = std::fs::File::open(path).map_err(|e| fail(e.to_string()))?;
        // One byte more than the limit tells a file that is too large from one that is just as large as it may be. The
        // size in `meta` is no help for a pipe or a device.
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|e| fail(e.to_string()))?;
    }
    if bytes.len() as u64 > MAX_BYTES {
        return Err(fail(format!("larger than {}", crate::stats::bytes(MAX_BYTES))));
    }
    let name = if name == "-" { "<stdin>".to_owned() } else { name };
    Ok(Text { name, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_is_refused_with_advice() {
        assert!(read(Path::new("/nowhere/x.cl")).unwrap_err().message.contains("give the path"));
        assert!(read(Path::new("/tmp")).unwrap_err().message.contains("a folder"));
        // Endless, but not read to its end.
        assert!(read(Path::new("/dev/zero")).is_err());
    }
}
