//! GIF. Each frame has a palette of its own, by the neural network of Dekker (NeuQuant, 1994), and is dithered as Floyd
//! and Steinberg do (1976): the error of a pixel is spread over those that follow.

use super::Encode;
use crate::picture::Picture;
use color_quant::NeuQuant;
use gif::{Encoder, Frame, Repeat};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};

/// So many pixels train the palette, if there are as many.
const TRAINING: usize = 20_000;
/// Bits of a component that tell which colour of the palette is the nearest one: the search for it takes most of the
/// time, and is made once for what they tell apart.
const BITS: u32 = 6;

pub(super) struct Gif {
    encoder: Encoder<BufWriter<File>>,
    // Hundredths of a second a frame.
    delay: u16,
}

impl Gif {
    pub(super) fn open(file: BufWriter<File>, (w, h): (usize, usize), per_second: u32) -> io::Result<Gif> {
        let side = |n: usize| u16::try_from(n).map_err(|_| io::Error::other("a GIF takes sides up to 65535"));
        let mut encoder = Encoder::new(file, side(w)?, side(h)?, &[]).map_err(io::Error::other)?;
        encoder.set_repeat(Repeat::Infinite).map_err(io::Error::other)?;
        // Viewers take a delay of less than two hundredths for none given, and show such films slowly.
        Ok(Gif { encoder, delay: (100 / per_second).max(2) as u16 })
    }
}

impl Encode for Gif {
    fn frame(&mut self, picture: &Picture) -> io::Result<()> {
        // It takes each n-th pixel, up to each thirtieth.
        let each = (picture.pixels.len() / TRAINING).clamp(1, 30);
        let palette = NeuQuant::new(each as i32, 256, &picture.bytes());
        let frame = Frame {
            width: picture.width as u16,
            height: picture.height as u16,
            delay: self.delay,
            palette: Some(palette.color_map_rgb()),
            buffer: Cow::Owned(dithered(picture, &palette)),
            ..Frame::default()
        };
        self.encoder.write_frame(&frame).map_err(io::Error::other)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        // It writes the end of the film.
        let mut file = self.encoder.into_inner().map_err(io::Error::other)?;
        file.flush()
    }
}

/// Which colour of the palette each pixel gets.
fn dithered(picture: &Picture, palette: &NeuQuant) -> Vec<u8> {
    let colours = palette.color_map_rgb();
    let mut nearest = vec![u16::MAX; 1 << (3 * BITS)];
    let width = picture.width;
    // The errors that this row and the next one take over, in sixteenths, with a column at each side.
    let (mut here, mut below) = (vec![[0i32; 3]; width + 2], vec![[0i32; 3]; width + 2]);
    let mut indices = Vec::with_capacity(picture.pixels.len());
    for row in picture.pixels.chunks(width) {
        for (x, pixel) in row.iter().enumerate() {
            let [r, g, b, _] = pixel.to_le_bytes().map(i32::from);
            let wanted: [i32; 3] = std::array::from_fn(|c| ([r, g, b][c] + here[x + 1][c] / 16).clamp(0, 255));
            let key = wanted.iter().fold(0, |key, v| key << BITS | (*v as usize >> (8 - BITS)));
            if nearest[key] == u16::MAX {
                nearest[key] = palette.index_of(&[wanted[0] as u8, wanted[1] as u8, wanted[2] as u8, 255]) as u16;
            }
            let index = nearest[key] as u8;
            indices.push(index);
            for c in 0..3 {
                let error = wanted[c] - i32::from(colours[usize::from(index) * 3 + c]);
                here[x + 2][c] += error * 7;
                below[x][c] += error * 3;
                below[x + 1][c] += error * 5;
                below[x + 2][c] += error;
            }
        }
        std::mem::swap(&mut here, &mut below);
        below.fill([0; 3]);
    }
    indices
}
