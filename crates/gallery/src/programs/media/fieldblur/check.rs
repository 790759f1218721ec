//! Holds results against the reference: every pixel of a small picture, of a large one samples of each tile, half of
//! them along the tile's borders, where seams would be.

use super::Setup;
use super::lens;
use super::reference::{Expected, expected, weighed};
use crate::common::threads;
use crate::error::Result;
use crate::program::{Answer, Verdict};
use crate::random::Random;

/// Pictures up to so many pixels are verified as a whole.
pub const MAX_WHOLE_PIXELS: usize = 1 << 20;
/// Samples of a tile, and of all tiles together: they are kept until the end.
const SAMPLES: usize = 2000;
const MAX_SAMPLES: usize = 1 << 22;

/// A part of the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tile {
    pub x: usize,
    pub y: usize,
    pub w: usize,
    pub h: usize,
}

/// Results at some places of a tile.
pub struct Samples {
    pub tile: Tile,
    /// The places: numbers of pixels in the tile.
    pub places: Vec<u32>,
    /// Four floats for each.
    pub got: Vec<f32>,
    /// The bytes of each, where the device made them.
    pub packed: Option<Vec<u32>>,
}

/// Which pixels of a tile are verified.
pub fn places(setup: &Setup, tile: Tile) -> Vec<u32> {
    let area = tile.w * tile.h;
    let count = SAMPLES.min(MAX_SAMPLES / setup.tiles()).max(1);
    if setup.w * setup.h <= MAX_WHOLE_PIXELS || area <= count {
        return (0..area as u32).collect();
    }
    // The places of a tile follow from where it is: every run and every device verifies the same pixels.
    let mut random = Random::new((tile.y as u64) << 32 | tile.x as u64);
    let mut place = |i: usize| {
        let (mut x, mut y) = (random.below(tile.w), random.below(tile.h));
        match i % 8 {
            0 => x = 0,
            1 => x = tile.w - 1,
            2 => y = 0,
            3 => y = tile.h - 1,
            _ => {}
        }
        (y * tile.w + x) as u32
    };
    (0..count).map(&mut place).collect()
}

/// The results at those places of a picture of four floats a pixel.
pub fn samples_of(setup: &Setup, floats: &[f32]) -> Vec<Samples> {
    let of = |tile: Tile| {
        let places = places(setup, tile);
        let at = |&p: &u32| (tile.y + p as usize / tile.w) * setup.w + tile.x + p as usize % tile.w;
        let got = places.iter().flat_map(|p| floats[4 * at(p)..][..4].iter().copied()).collect();
        Samples { tile, places, got, packed: None }
    };
    (0..setup.tiles()).map(|i| of(setup.tile(i))).collect()
}

/// The verdict on all of them, and the answer that they are.
pub fn check(setup: &Setup, samples: &[Samples]) -> Result<(Verdict, Answer)> {
    let linear = lens::linear();
    let halo = setup.lens.halo();
    let (mut values, mut tolerances) = (Vec::new(), Vec::new());
    let (mut wrong, mut worst) = (None, 0.0f64);
    for part in samples {
        let tile = part.tile;
        let width = tile.w + 2 * halo;
        let mut pixels = vec![0; width * (tile.h + 2 * halo)];
        setup.source.fill((tile.x as i64 - halo as i64, tile.y as i64 - halo as i64), width, &mut pixels);
        let pixels: Vec<[f32; 4]> = pixels.iter().map(|&p| weighed(&setup.lens, &linear, p)).collect();
        let mut want = vec![Expected { colour: [0.0; 3], tolerance: 0.0 }; part.places.len()];
        threads::rows(&mut want, 1, threads::count(), |i, want| {
            let place = part.places[i] as usize;
            let (x, y) = (tile.x + place % tile.w, tile.y + place / tile.w);
            let (left, top) = (tile.x as i64 - halo as i64, tile.y as i64 - halo as i64);
            want[0] = expected(&setup.lens, x, y, |px, py| pixels[(py - top) as usize * width + (px - left) as usize]);
        });
        for (i, want) in want.iter().enumerate() {
            let mut complain = |what: String| {
                let place = part.places[i] as usize;
                let (x, y) = (tile.x + place % tile.w, tile.y + place / tile.w);
                wrong.get_or_insert(format!("pixel ({x}, {y}): {what}"));
            };
            for c in 0..3 {
                let got = part.got[4 * i + c];
                let error = (f64::from(got) - want.colour[c]).abs();
                if error.is_nan() || error > want.tolerance {
                    complain(format!(
                        "channel {c}: {got:e}, expected {:e} within {:e}",
                        want.colour[c], want.tolerance
                    ));
                }
                worst = worst.max(if want.tolerance > 0.0 { error / want.tolerance } else { 0.0 });
                values.push(got);
                // Two results may differ from the exact one in opposite directions.
                tolerances.push(2.0 * want.tolerance);
                // The byte is that of the float, rounded; powr has 16 ulps: less than a thousandth.
                let packed = part.packed.as_ref().map(|packed| packed[i].to_le_bytes()[c]);
                let encoded = lens::encoded(f64::from(got));
                if packed.is_some_and(|p| (f64::from(p) - encoded).abs() > 0.501) {
                    complain(format!("channel {c}: the byte {packed:?}, expected {encoded:.4}, rounded"));
                }
            }
        }
    }
    let count = values.len() / 3;
    let verdict = match wrong {
        Some(wrong) => Verdict::Failed(wrong),
        None => {
            let which = if setup.w * setup.h <= MAX_WHOLE_PIXELS {
                format!("all {count} pixels are")
            } else {
                format!("{count} pixels, up to {SAMPLES} of each tile, half of them along its borders, are")
            };
            Verdict::Passed(format!("{which} within the tolerance; the largest error is {worst:.3} of it"))
        }
    };
    Ok((verdict, Answer::close(values, |i| tolerances[i])))
}
