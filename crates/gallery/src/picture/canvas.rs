//! Lines, rectangles and letters on a picture, for plots and for what programs draw over their results.

use super::Picture;
use embedded_graphics::mono_font::{MonoTextStyle, iso_8859_1::FONT_10X20};
use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::prelude::{DrawTarget, Drawable, OriginDimensions, Pixel, Point, RgbColor, Size};
use embedded_graphics::text::Text;
use std::convert::Infallible;

/// Pixels from a letter to the next one.
const ADVANCE: usize = 10;

/// A picture to draw on. What lies outside of it is not drawn.
pub struct Canvas<'p> {
    picture: &'p mut Picture,
}

impl<'p> Canvas<'p> {
    /// Draws on this picture.
    pub fn new(picture: &'p mut Picture) -> Canvas<'p> {
        Canvas { picture }
    }

    /// Covers a share of a pixel, from 0 to 1, with a colour.
    pub fn blend(&mut self, x: usize, y: usize, colour: [u8; 3], share: f64) {
        if x >= self.picture.width || y >= self.picture.height {
            return;
        }
        let pixel = &mut self.picture.pixels[y * self.picture.width + x];
        let [r, g, b, a] = pixel.to_le_bytes();
        let mix = |old: u8, new: u8| (f64::from(old) + (f64::from(new) - f64::from(old)) * share).round() as u8;
        *pixel = u32::from_le_bytes([mix(r, colour[0]), mix(g, colour[1]), mix(b, colour[2]), a]);
    }

    /// A line with round ends, or a dot where both ends are one.
    pub fn line(&mut self, (x0, y0): (f64, f64), (x1, y1): (f64, f64), width: f64, colour: [u8; 3]) {
        let (dx, dy) = (x1 - x0, y1 - y0);
        let squared = dx * dx + dy * dy;
        let reach = width / 2.0 + 1.0;
        let columns = (x0.min(x1) - reach).max(0.0) as usize..=(x0.max(x1) + reach).max(0.0) as usize;
        let last = self.picture.width.saturating_sub(1);
        for y in (y0.min(y1) - reach).max(0.0) as usize..=(y0.max(y1) + reach).max(0.0) as usize {
            if y >= self.picture.height {
                break;
            }
            for x in *columns.start()..=(*columns.end()).min(last) {
                // The distance from the centre of the pixel to the nearest point of the line.
                let (px, py) = (x as f64 + 0.5 - x0, y as f64 + 0.5 - y0);
                let t = if squared > 0.0 { ((px * dx + py * dy) / squared).clamp(0.0, 1.0) } else { 0.0 };
                let share = (width / 2.0 + 0.5 - (px - t * dx).hypot(py - t * dy)).clamp(0.0, 1.0);
                if share > 0.0 {
                    self.blend(x, y, colour, share);
                }
            }
        }
    }

    /// A filled rectangle between two corners.
    pub fn rectangle(&mut self, (x0, y0): (f64, f64), (x1, y1): (f64, f64), colour: [u8; 3]) {
        // The share of a pixel that lies between the two sides: edges between pixels are smooth.
        let cover = |i: usize, from: f64, to: f64| (to.min(i as f64 + 1.0) - from.max(i as f64)).clamp(0.0, 1.0);
        for y in y0.max(0.0) as usize..(y1.ceil().max(0.0) as usize).min(self.picture.height) {
            for x in x0.max(0.0) as usize..(x1.ceil().max(0.0) as usize).min(self.picture.width) {
                self.blend(x, y, colour, cover(x, x0, x1) * cover(y, y0, y1));
            }
        }
    }

    /// How wide a text is.
    pub fn text_width(text: &str) -> usize {
        text.chars().count() * ADVANCE
    }

    /// A line of text, whose letters stand on `y`. Letters outside of Latin-1 become question marks.
    pub fn text(&mut self, x: f64, y: f64, text: &str, [r, g, b]: [u8; 3]) {
        let style = MonoTextStyle::new(&FONT_10X20, Rgb888::new(r, g, b));
        // A picture takes every pixel.
        let _ = Text::new(text, Point::new(x.round() as i32, y.round() as i32), style).draw(self);
    }
}

impl OriginDimensions for Canvas<'_> {
    fn size(&self) -> Size {
        Size::new(self.picture.width as u32, self.picture.height as u32)
    }
}

impl DrawTarget for Canvas<'_> {
    type Color = Rgb888;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<Rgb888>>>(&mut self, pixels: I) -> Result<(), Infallible> {
        for Pixel(at, colour) in pixels {
            if let (Ok(x), Ok(y)) = (usize::try_from(at.x), usize::try_from(at.y)) {
                self.blend(x, y, [colour.r(), colour.g(), colour.b()], 1.0);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::rgb;

    fn drawn(draw: impl Fn(&mut Canvas<'_>)) -> Vec<u8> {
        let mut p = Picture::new(16, 16, rgb(0, 0, 0));
        draw(&mut Canvas::new(&mut p));
        p.pixels.iter().map(|p| p.to_le_bytes()[0]).collect()
    }

    #[test]
    fn a_line_covers_its_width_and_nothing_else() {
        let line = drawn(|c| c.line((2.0, 8.0), (14.0, 8.0), 2.0, [255; 3]));
        let column: Vec<u8> = (0..16).map(|y| line[y * 16 + 8]).collect();
        assert_eq!(column[6..10], [0, 255, 255, 0]);
        assert_eq!(drawn(|c| c.line((-9.0, -9.0), (-5.0, -5.0), 2.0, [255; 3])), vec![0; 256]);
        drawn(|c| c.line((-1e9, 8.0), (5.0, 9.0), 3.0, [255; 3]));
    }

    #[test]
    fn half_a_pixel_is_half_the_colour() {
        let p = drawn(|c| c.rectangle((3.5, 3.0), (5.0, 5.0), [200; 3]));
        assert_eq!((p[3 * 16 + 3], p[3 * 16 + 4], p[3 * 16 + 5], p[5 * 16 + 4]), (100, 200, 0, 0));
    }

    #[test]
    fn letters_are_drawn_and_cut_at_the_edge() {
        assert!(drawn(|c| c.text(3.0, 14.0, "M", [255; 3])).contains(&255));
        drawn(|c| c.text(-30.0, 200.0, "far away \u{20ac}", [255; 3]));
    }
}
