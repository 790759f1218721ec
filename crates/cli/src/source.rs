//! Reads OpenCL C sources: a file, or the standard input for `-`.

use crate::outcome::Failure;
use std::io::Read;
use std::path::Path;

/// Limit on the size of a source; the compiler would also refuse a larger one, but only after reading it.
const MAX_BYTES: u64 = 256 << 20;

/// A source and its name in messages.
#[derive(Debug)]
pub struct Text {
    /// The file's name.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
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
            .map_err(|e| fail(format!("{e}; give the path of a .cl file, or - for the standard input")))?;
        if meta.is_dir() {
            return Err(fail("a folder; give the path of a .cl file".into()));
        }
        let file = std::fs::File::open(path).map_err(|e| fail(e.to_string()))?;
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
