//! Animated PNG. The chunk `acTL` at the front tells the number of frames, which is known only at the end: it is
//! written with a large number first, and again at the end, with its checksum.

use super::Encode;
use crate::picture::Picture;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};

/// Where `acTL` lies: behind the signature of 8 bytes and `IHDR` of 25; before its type comes its length.
const CONTROL: u64 = 8 + 25 + 4;

pub(super) struct Apng {
    writer: png::Writer<BufWriter<File>>,
    file: File,
    frames: u32,
}

impl Apng {
    pub(super) fn open(file: BufWriter<File>, (w, h): (usize, usize), per_second: u32) -> io::Result<Apng> {
        // The encoder keeps the file for itself, and the number of frames has to be put in afterwards.
        let again = file.get_ref().try_clone()?;
        let side = |n: usize| u32::try_from(n).map_err(io::Error::other);
        let mut encoder = png::Encoder::new(file, side(w)?, side(h)?);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Fast);
        encoder.set_animated(i32::MAX as u32, 0)?;
        encoder.set_frame_delay(1, per_second.min(1000) as u16)?;
        Ok(Apng { writer: encoder.write_header()?, file: again, frames: 0 })
    }
}

impl Encode for Apng {
    fn frame(&mut self, picture: &Picture) -> io::Result<()> {
        self.writer.write_image_data(&picture.bytes())?;
        self.frames += 1;
        Ok(())
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        let Apng { writer, mut file, frames } = *self;
        writer.finish()?;
        // Type, frames, and 0 for a film that starts again for ever.
        let mut chunk = *b"acTL\0\0\0\0\0\0\0\0";
        chunk[4..8].copy_from_slice(&frames.to_be_bytes());
        file.seek(SeekFrom::Start(CONTROL))?;
        file.write_all(&chunk)?;
        file.write_all(&crc32fast::hash(&chunk).to_be_bytes())
    }
}
