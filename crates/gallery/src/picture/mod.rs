//! Pictures: 32-bit pixels, red in the lowest byte, as OpenCL's `uchar4` on a little-endian machine.

mod canvas;
pub mod glow;

pub use canvas::Canvas;

use crate::error::{Error, Result};
use std::path::Path;

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Row by row from the top.
    pub pixels: Vec<u32>,
}

/// A pixel of its components.
pub fn rgb(r: u8, g: u8, b: u8) -> u32 {
    u32::from_le_bytes([r, g, b, 255])
}

impl Picture {
    /// A picture of one colour.
    pub fn new(width: usize, height: usize, pixel: u32) -> Picture {
        Picture { width, height, pixels: vec![pixel; width * height] }
    }

    /// A picture of a function of the position.
    pub fn from_fn(width: usize, height: usize, mut f: impl FnMut(usize, usize) -> u32) -> Picture {
        let pixels = (0..width * height).map(|i| f(i % width, i / width)).collect();
        Picture { width, height, pixels }
    }

    /// A grey picture of values from `black` to `white`.
    pub fn grey(
        width: usize,
        height: usize,
        (black, white): (f32, f32),
        mut value: impl FnMut(usize, usize) -> f32,
    ) -> Picture {
        Picture::from_fn(width, height, |x, y| {
            let v = (((value(x, y) - black) / (white - black)).clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
            rgb(v, v, v)
        })
    }

    /// Reads a PNG file.
    pub fn load(path: &Path) -> Result<Picture> {
        let fail = |why: String| Error::File { path: path.to_owned(), why };
        let bytes = std::fs::read(path).map_err(|e| fail(e.to_string()))?;
        Picture::decode(&bytes).map_err(|why| fail(format!("{why}; give a PNG file")))
    }

    /// Decodes a PNG.
    pub fn decode(bytes: &[u8]) -> std::result::Result<Picture, String> {
        let image = image::load_from_memory(bytes).map_err(|e| e.to_string())?.into_rgba8();
        let (width, height) = (image.width() as usize, image.height() as usize);
        if width == 0 || height == 0 {
            return Err("an empty picture".into());
        }
        Ok(Picture { width, height, pixels: image.pixels().map(|p| u32::from_le_bytes(p.0)).collect() })
    }

    /// The pixels as bytes: red, green, blue and opacity.
    pub fn bytes(&self) -> Vec<u8> {
        self.pixels.iter().flat_map(|p| p.to_le_bytes()).collect()
    }

    /// Writes a PNG file.
    pub fn save(&self, path: &Path) -> Result<()> {
        let fail = |why: String| Error::File { path: path.to_owned(), why };
        let image = image::RgbaImage::from_raw(self.width as u32, self.height as u32, self.bytes())
            .ok_or_else(|| fail("sides and pixels do not agree".into()))?;
        image.save_with_format(path, image::ImageFormat::Png).map_err(|e| fail(e.to_string()))
    }

    /// This picture at another size: beyond its edges it is mirrored, so that detail is preserved.
    pub fn mirrored_to(&self, width: usize, height: usize) -> Picture {
        let fold = |i: usize, n: usize| {
            let i = i % (2 * n);
            if i < n { i } else { 2 * n - 1 - i }
        };
        Picture::from_fn(width, height, |x, y| self.pixels[fold(y, self.height) * self.width + fold(x, self.width)])
    }

    /// The brightness of each pixel.
    pub fn luma(&self) -> Vec<u8> {
        // In whole numbers, whose weights add up to 256: the same on every machine, and white stays white.
        let weigh = |[r, g, b, _]: [u8; 4]| ((u32::from(r) * 77 + u32::from(g) * 150 + u32::from(b) * 29) >> 8) as u8;
        self.pixels.iter().map(|p| weigh(p.to_le_bytes())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirroring_goes_there_and_back() {
        let p = Picture { width: 3, height: 1, pixels: vec![1, 2, 3] };
        assert_eq!(p.mirrored_to(8, 1).pixels, [1, 2, 3, 3, 2, 1, 1, 2]);
    }

    #[test]
    fn a_picture_survives_a_file() {
        let p = Picture::from_fn(5, 3, |x, y| rgb(x as u8 * 50, y as u8 * 80, 7));
        let path = std::env::temp_dir().join(format!("cloom-picture-{}.png", std::process::id()));
        p.save(&path).unwrap();
        assert_eq!(Picture::load(&path).unwrap(), p);
        std::fs::remove_file(&path).unwrap();
        assert!(Picture::load(&path).is_err());
        assert!(Picture::decode(b"not a picture").is_err());
    }
}
