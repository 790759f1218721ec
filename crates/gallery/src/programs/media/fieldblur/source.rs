//! Where the pixels come from: a picture, mirrored to any size, or the scene; each gives any rectangle without the
//! rest, so that pictures need not fit into memory.

use super::scene::Scene;
use crate::error::Result;
use crate::inputs;
use crate::params::Params;
use crate::picture::Picture;

/// Pixels of a picture of `w` by `h`.
pub struct Source {
    pub w: usize,
    pub h: usize,
    of: Of,
}

enum Of {
    Picture(Picture),
    Scene(Scene),
}

impl Source {
    /// A file that is named is the source, else `source=` says.
    pub fn new(params: &Params, (w, h): (usize, usize)) -> Result<Source> {
        let chosen = params.choice("source", &["scene", "picture"])?;
        let of = if chosen == "picture" || params.input.is_some() {
            Of::Picture(inputs::picture(&Params { size: None, ..params.clone() })?)
        } else {
            Of::Scene(Scene::new(w, h))
        };
        Ok(Source { w, h, of })
    }

    /// The rectangle from (left, top) on, row by row; beyond the edges their pixels repeat.
    pub fn fill(&self, (left, top): (i64, i64), width: usize, out: &mut [u32]) {
        let (w, h) = (self.w as i64, self.h as i64);
        let inside = left.clamp(0, w - 1)..(left + width as i64).clamp(1, w);
        // A rectangle of nothing but what is beyond an edge repeats one column.
        let inside = inside.start..inside.end.max(inside.start + 1);
        let before = (inside.start - left).clamp(0, width as i64) as usize;
        for (i, row) in out.chunks_mut(width).enumerate() {
            let y = (top + i as i64).clamp(0, h - 1) as usize;
            let end = (before + (inside.end - inside.start) as usize).min(width);
            self.row(y, inside.start as usize, &mut row[before..end]);
            let (first, last) = match (row.get(before..end), end > before) {
                (Some(part), true) => (part[0], part[part.len() - 1]),
                _ => {
                    let mut one = [0];
                    self.row(y, inside.start as usize, &mut one);
                    (one[0], one[0])
                }
            };
            row[..before].fill(first);
            row[end..].fill(last);
        }
    }

    fn row(&self, y: usize, left: usize, out: &mut [u32]) {
        match &self.of {
            Of::Scene(scene) => scene.row(y, left, out),
            Of::Picture(picture) => {
                let fold = |i: usize, n: usize| {
                    let i = i % (2 * n);
                    if i < n { i } else { 2 * n - 1 - i }
                };
                let row = &picture.pixels[fold(y, picture.height) * picture.width..][..picture.width];
                for (x, pixel) in (left..).zip(out) {
                    *pixel = row[fold(x, picture.width)];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_what_the_whole_has_there_and_edges_repeat() {
        for config in ["source=scene", "source=picture"] {
            let params = Params { config: config.into(), ..Params::default() };
            let (w, h) = (211, 173);
            let source = Source::new(&params, (w, h)).unwrap();
            let mut whole = vec![0; w * h];
            source.fill((0, 0), w, &mut whole);
            for (left, top, width, height) in [(-9, -5, 60, 30), (100, 90, 150, 120), (37, 41, 7, 80), (-3, 0, 300, 2)]
            {
                let mut part = vec![0; width * height];
                source.fill((left, top), width, &mut part);
                for (i, pixel) in part.iter().enumerate() {
                    let x = (left + (i % width) as i64).clamp(0, w as i64 - 1) as usize;
                    let y = (top + (i / width) as i64).clamp(0, h as i64 - 1) as usize;
                    assert_eq!(*pixel, whole[y * w + x], "{config} ({x}, {y})");
                }
            }
        }
    }
}
