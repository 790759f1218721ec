//! YUV4MPEG2: a head of one line, then for each frame a line `FRAME` and the planes of brightness and of two colour
//! differences, here at full resolution, by the matrix and the range of ITU-R BT.601.

use super::Encode;
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

/// Brightness and colour differences.
fn ycc(pixel: u32) -> [u8; 3] {
    let [r, g, b, _] = pixel.to_le_bytes().map(f32::from);
    let y = 0.299 * r + 0.587 * g + 0.114 * b;
    let (cb, cr) = ((b - y) / 1.772, (r - y) / 1.402);
    [16.0 + y * 219.0 / 255.0, 128.0 + cb * 224.0 / 255.0, 128.0 + cr * 224.0 / 255.0].map(|v| v.round() as u8)
}

impl Encode for Y4m {
    fn frame(&mut self, picture: &Picture) -> io::Result<()> {
        self.file.write_all(b"FRAME\n")?;
        let pixels: Vec<[u8; 3]> = picture.pixels.iter().map(|&p| ycc(p)).collect();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::rgb;

    #[test]
    fn white_black_and_red_have_the_values_of_the_standard() {
        assert_eq!(ycc(rgb(255, 255, 255)), [235, 128, 128]);
        assert_eq!(ycc(rgb(0, 0, 0)), [16, 128, 128]);
        assert_eq!(ycc(rgb(255, 0, 0)), [81, 90, 240]);
    }
}
