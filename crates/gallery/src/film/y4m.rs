//! YUV4MPEG2: a head of one line, then for each frame a line `FRAME` and the planes of brightness and of two colour
//! differences, here at full resolution, by the matrix that [`colour`] names.

use super::{Encode, colour};
use crate::picture::Picture;
use std::fs::File;
use std::io::{self, BufWriter, Write};

pub(super) struct Y4m {
    file: BufWriter<File>,
}

impl Y4m {
    pub(super) fn open(mut file: BufWriter<File>, (w, h): (usize, usize), per_second: u32) -> io::Result<Y4m> {
        writeln!(file, "YUV4MPEG2 W{w} H{h} F{per_second}:1 Ip A1:1 C444 XCOLORRANGE=LIMITED")?;
        Ok(Y4m { file })
    }
}

impl Encode for Y4m {
    fn frame(&mut self, picture: &Picture) -> io::Result<()> {
        self.file.write_all(b"FRAME\n")?;
        let pixels: Vec<[u8; 3]> = picture.pixels.iter().map(|&p| colour::ycc(p, false)).collect();
        for plane in 0..3 {
            let plane: Vec<u8> = pixels.iter().map(|p| p[plane]).collect();
            self.file.write_all(&plane)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.file.flush()
    }
}
