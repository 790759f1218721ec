//! Bars and lines as pictures: enough to look at a result without another program.

use crate::picture::{Picture, rgb};

const MARGIN: usize = 16;

/// One bar a value, the highest one as tall as the picture.
pub fn bars(values: &[f64], width: usize, height: usize) -> Picture {
    let mut picture = Picture::new(width, height, rgb(250, 250, 247));
    let most = values.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let (inner_w, inner_h) = (width.saturating_sub(2 * MARGIN), height.saturating_sub(2 * MARGIN));
    if values.is_empty() {
        return picture;
    }
    for x in 0..inner_w {
        let value = values[x * values.len() / inner_w];
        let tall = (value / most * inner_h as f64).round() as usize;
        for y in 0..tall.min(inner_h) {
            let shade = (60 + 120 * y / inner_h.max(1)) as u8;
            picture.pixels[(height - MARGIN - 1 - y) * width + MARGIN + x] = rgb(30, shade, 160);
        }
    }
    frame(&mut picture);
    picture
}

/// Several lines of values over one axis, both axes from zero.
pub fn lines(series: &[Vec<f64>], width: usize, height: usize) -> Picture {
    const COLOURS: [[u8; 3]; 4] = [[30, 100, 170], [200, 80, 30], [40, 140, 60], [140, 60, 150]];
    let mut picture = Picture::new(width, height, rgb(250, 250, 247));
    let most = series.iter().flatten().copied().fold(f64::MIN_POSITIVE, f64::max);
    let (inner_w, inner_h) = (width.saturating_sub(2 * MARGIN) as f64, height.saturating_sub(2 * MARGIN) as f64);
    for (values, [r, g, b]) in series.iter().zip(COLOURS.into_iter().cycle()) {
        let place = |i: usize| {
            let x = MARGIN as f64 + inner_w * i as f64 / (values.len().max(2) - 1) as f64;
            (x, (height - MARGIN) as f64 - inner_h * values[i] / most)
        };
        for i in 1..values.len() {
            let ((x0, y0), (x1, y1)) = (place(i - 1), place(i));
            let steps = (x1 - x0).abs().max((y1 - y0).abs()).ceil().max(1.0) as usize;
            for s in 0..=steps {
                let t = s as f64 / steps as f64;
                let (x, y) = ((x0 + (x1 - x0) * t) as usize, (y0 + (y1 - y0) * t) as usize);
                for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                    if x + dx < width && y + dy < height {
                        picture.pixels[(y + dy) * width + x + dx] = rgb(r, g, b);
                    }
                }
            }
        }
    }
    frame(&mut picture);
    picture
}

fn frame(picture: &mut Picture) {
    let (w, h) = (picture.width, picture.height);
    if w <= 2 * MARGIN || h <= 2 * MARGIN {
        return;
    }
    for x in MARGIN - 1..w - MARGIN {
        picture.pixels[(h - MARGIN) * w + x] = rgb(60, 60, 60);
    }
    for y in MARGIN..h - MARGIN {
        picture.pixels[y * w + MARGIN - 1] = rgb(60, 60, 60);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taller_value_gets_a_taller_bar() {
        let p = bars(&[1.0, 2.0], 64, 64);
        let dark = |x: usize| (0..64).filter(|y| p.pixels[y * 64 + x] != rgb(250, 250, 247)).count();
        assert!(dark(40) > dark(20));
        assert_eq!(bars(&[], 8, 8).pixels.len(), 64);
        assert_eq!(lines(&[vec![1.0], vec![]], 8, 8).pixels.len(), 64);
    }
}
