//! A picture file that is written tile by tile and is whole at every moment: PPM (netpbm's `P6`), whose pixels lie at
//! places that are known before and whose header has room for any number of rows.
//!
//! The header tells how many rows are finished and is rewritten with each band of tiles. When a run ends early,
//! whatever the reason, the file is a picture of the rows that were finished; what lies after them is cut off, or, if
//! the process was killed, is left for readers to ignore. PNG cannot do that: its one stream of compressed data ends
//! with a checksum.

use crate::error::{Error, Result};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The file.
pub struct Ppm {
    file: File,
    path: PathBuf,
    width: usize,
    rows: usize,
}

/// With ten digits for each side, so that its length never changes.
fn header(width: usize, rows: usize) -> String {
    format!("P6\n{width:010} {rows:010}\n255\n")
}

impl Ppm {
    /// Creates a picture of no rows; a file of that name is overwritten.
    pub fn create(path: &Path, width: usize) -> Result<Ppm> {
        let file = File::create(path).map_err(|e| Error::File { path: path.to_owned(), why: e.to_string() })?;
        let mut ppm = Ppm { file, path: path.to_owned(), width, rows: 0 };
        ppm.finished(0)?;
        Ok(ppm)
    }

    fn put(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        let put = self.file.seek(SeekFrom::Start(at)).and_then(|_| self.file.write_all(bytes));
        put.map_err(|e| Error::File { path: self.path.clone(), why: e.to_string() })
    }

    fn place(&self, x: usize, y: usize) -> u64 {
        header(self.width, 0).len() as u64 + 3 * (y as u64 * self.width as u64 + x as u64)
    }

    /// Writes a tile of rows of `w` pixels at (x, y).
    pub fn tile(&mut self, x: usize, y: usize, w: usize, pixels: &[u32]) -> Result<()> {
        let mut bytes = Vec::with_capacity(3 * w);
        for (i, row) in pixels.chunks(w).enumerate() {
            bytes.clear();
            bytes.extend(row.iter().flat_map(|p| {
                let [r, g, b, _] = p.to_le_bytes();
                [r, g, b]
            }));
            self.put(self.place(x, y + i), &bytes)?;
        }
        Ok(())
    }

    /// The first `rows` rows are complete.
    pub fn finished(&mut self, rows: usize) -> Result<()> {
        self.rows = rows;
        self.put(0, header(self.width, rows).as_bytes())
    }
}

impl Drop for Ppm {
    fn drop(&mut self) {
        // Readers ignore what follows the picture where that cannot be cut off.
        let _ = self.file.set_len(self.place(0, self.rows));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_finished_is_a_picture_of_what_is() {
        let path = std::env::temp_dir().join(format!("cloom-ppm-{}.ppm", std::process::id()));
        let mut ppm = Ppm::create(&path, 3).unwrap();
        ppm.tile(2, 0, 1, &[0xff33_3231, 0xff36_3534]).unwrap();
        ppm.tile(0, 0, 2, &[0xff63_6261, 0xff66_6564, 0xff69_6867, 0xff6c_6b6a]).unwrap();
        ppm.finished(2).unwrap();
        ppm.tile(0, 2, 2, &[0, 0]).unwrap();
        drop(ppm);
        assert_eq!(std::fs::read(&path).unwrap(), b"P6\n0000000003 0000000002\n255\nabcdef123ghijkl456");
        std::fs::remove_file(&path).unwrap();
        assert!(Ppm::create(Path::new("/no/such/folder/x.ppm"), 3).is_err());
    }
}
