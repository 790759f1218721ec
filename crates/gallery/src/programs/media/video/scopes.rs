//! The scopes on the device, and the reference's counts and drawing of them.
//!
//! In comes the finished picture in 8 bits, out come the counts of histogram, waveform and vectorscope, which are
//! exact, and the picture with the three drawn on it, exact too: both sides compute with integers.

use super::device::Device;
use crate::args;
use crate::cl::{Buffer, Session, round_up};
use crate::error::Result;
use crate::params::Params;
use crate::picture::Picture;

const LEVELS: usize = 256;
/// A side of the vectorscope.
const SIDE: usize = 128;
/// Columns of the waveform, at most.
const STRIPS: usize = 256;
/// Work-items of a group that counts with atomics.
const ITEMS: usize = 16;
/// Groups that count without, each in its own counters and a few strips: more than a processor has cores.
const GROUPS: usize = 32;
/// Counters of such a group in global memory.
const OWN: usize = 3 * LEVELS + SIDE * SIDE;

/// How pixels are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counting {
    /// In counters of each group, which are added up.
    Own,
    /// By atomics.
    Atomics,
}

/// The knob that says so.
pub fn counting(params: &Params) -> Result<Counting> {
    Ok(params.choice_of("counters", &[("own", Counting::Own), ("atomics", Counting::Atomics)])?.1)
}

/// What is counted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counts {
    /// Rows are lumas, columns strips of the picture.
    pub waveform: Vec<u32>,
    /// Red, green, blue.
    pub histogram: Vec<u32>,
    /// Rows are Cr, columns Cb, both halved.
    pub colours: Vec<u32>,
}

/// Where the scopes are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Panel {
    bw: usize,
    bh: usize,
    gap: usize,
}

impl Panel {
    /// Three boxes over the lower part of a picture; none where nobody could read them.
    pub fn of(w: usize, h: usize) -> Option<Panel> {
        let gap = (h / 90).max(1);
        let bw = (w * 3 / 4).checked_sub(4 * gap)? / 3;
        let bh = (h * 22 / 100).min(bw);
        (bw >= 8 && bh >= 8).then_some(Panel { bw, bh, gap })
    }

    fn size(&self) -> (usize, usize) {
        (3 * self.bw + 4 * self.gap, self.bh + 2 * self.gap)
    }
}

/// The counters on the device.
pub struct Scopes {
    waveform: Buffer<u32>,
    histogram: Buffer<u32>,
    colours: Buffer<u32>,
    /// The codes of the pixels and the counters of each group, where it has its own.
    own: Option<[Buffer<u32>; 2]>,
    strips: usize,
    size: (usize, usize),
}

impl Scopes {
    pub fn new(session: &Session, counting: Counting, (w, h): (usize, usize)) -> Result<Scopes> {
        let strips = w.min(STRIPS);
        let own = match counting {
            Counting::Own => Some([session.zeroed(w * h)?, session.zeroed(OWN * strips.min(GROUPS))?]),
            Counting::Atomics => None,
        };
        Ok(Scopes {
            waveform: session.zeroed(LEVELS * strips)?,
            histogram: session.zeroed(3 * LEVELS)?,
            colours: session.zeroed(SIDE * SIDE)?,
            own,
            strips,
            size: (w, h),
        })
    }

    /// Counts a picture and draws the scopes on it.
    pub fn show(&self, device: &Device<'_>, picture: &Buffer<u32>) -> Result<()> {
        let (w, h, strips) = (self.size.0 as i32, self.size.1 as i32, self.strips as i32);
        if let Some([codes, own]) = &self.own {
            // A group is one work-item: it counts in memory of its own, so that no counter needs an atomic operation.
            let groups = self.strips.min(GROUPS);
            device.cover("scopes", "video_scopes_codes", args![picture, codes, w, h], self.size)?;
            let args = args![picture, codes, &self.waveform, own, w, h, strips];
            device.range("scopes", "video_scopes_own", args, [&[groups], &[1]])?;
            let args = args![own, &self.histogram, &self.colours, groups as i32];
            device.range("scopes", "video_scopes_sum", args, [&[round_up(OWN, 256)], &[256]])?;
        } else {
            let counters = SIDE * SIDE;
            device.range("scopes", "video_scopes_clear", args![&self.histogram, &self.colours], [&[counters], &[]])?;
            let args = args![picture, &self.waveform, &self.histogram, &self.colours, w, h, strips];
            device.range("scopes", "video_scopes_count", args, [&[self.strips * ITEMS], &[ITEMS]])?;
        }
        let Some(panel) = Panel::of(self.size.0, self.size.1) else { return Ok(()) };
        let [bw, bh, gap] = [panel.bw, panel.bh, panel.gap].map(|n| n as i32);
        let args = args![picture, &self.waveform, &self.histogram, &self.colours, w, h, strips, bw, bh, gap];
        device.cover("scopes", "video_scopes_draw", args, panel.size())
    }

    pub fn read(&self, session: &Session) -> Result<Counts> {
        Ok(Counts {
            waveform: session.read(&self.waveform)?,
            histogram: session.read(&self.histogram)?,
            colours: session.read(&self.colours)?,
        })
    }
}

/// The reference's counts.
pub fn count(picture: &Picture) -> Counts {
    let (w, strips) = (picture.width, picture.width.min(STRIPS));
    let mut counts =
        Counts { waveform: vec![0; LEVELS * strips], histogram: vec![0; 3 * LEVELS], colours: vec![0; SIDE * SIDE] };
    // The strip of a column: the last one that begins at it or before.
    let strip_of: Vec<usize> =
        (0..strips).flat_map(|s| std::iter::repeat_n(s, (s + 1) * w / strips - s * w / strips)).collect();
    for (i, pixel) in picture.pixels.iter().enumerate() {
        let [r, g, b, _] = pixel.to_le_bytes();
        let [ri, gi, bi] = [r, g, b].map(i32::from);
        // BT.709 in 256ths.
        let luma = (54 * ri + 183 * gi + 19 * bi + 128).div_euclid(256) as usize;
        let cb = (128 + (-29 * ri - 99 * gi + 128 * bi + 128).div_euclid(256)).clamp(0, 255) as usize;
        let cr = (128 + (128 * ri - 116 * gi - 12 * bi + 128).div_euclid(256)).clamp(0, 255) as usize;
        for (k, v) in [r, g, b].into_iter().enumerate() {
            counts.histogram[k * LEVELS + usize::from(v)] += 1;
        }
        counts.waveform[luma * strips + strip_of[i % w]] += 1;
        counts.colours[cr / 2 * SIDE + cb / 2] += 1;
    }
    counts
}

/// The bins that a pixel of a box shows.
fn bins(at: usize, of: usize, count: usize) -> std::ops::Range<usize> {
    let first = at * count / of;
    first..((at + 1) * count / of).max(first + 1)
}

fn shine(count: u32, usual: u32) -> i64 {
    // Nears 255 and never reaches it, however many meet: a fixed scale would show dense places as one flat spot.
    i64::from(count) * 255 / (i64::from(count) + i64::from(usual) + 1)
}

/// Whether a line of the grid, which divides the box by four, begins here.
fn on_line(at: usize, of: usize) -> bool {
    at > 0 && at * 4 / of != (at - 1) * 4 / of
}

const GRID: [i64; 3] = [48, 44, 24];
const BACK: [i64; 3] = [4, 5, 7];

/// The reference's drawing.
pub fn draw(picture: &mut Picture, counts: &Counts) {
    let (w, h) = (picture.width, picture.height);
    let Some(panel) = Panel::of(w, h) else { return };
    let (pw, ph) = panel.size();
    for py in 0..ph {
        for px in 0..pw {
            let colour = drawn(&panel, counts, (w * h) as u32, px, py).unwrap_or([12, 14, 18]);
            let pixel = &mut picture.pixels[(h - ph + py) * w + (w - pw) / 2 + px];
            let old = pixel.to_le_bytes();
            let new = |k: usize| (colour[k] + i64::from(old[k]) * 3 / 16).clamp(0, 255) as u8;
            *pixel = crate::picture::rgb(new(0), new(1), new(2));
        }
    }
}

/// The colour of a pixel of the panel, if it lies in a box.
fn drawn(panel: &Panel, counts: &Counts, total: u32, px: usize, py: usize) -> Option<[i64; 3]> {
    let Panel { bw, bh, gap } = *panel;
    let (px, y) = (px.checked_sub(gap)?, py.checked_sub(gap)?);
    let (scope, x) = (px / (bw + gap), px % (bw + gap));
    if x >= bw || y >= bh || scope > 2 {
        return None;
    }
    let upper = bh - 1 - y;
    let strips = counts.waveform.len() / LEVELS;
    let sum = |rows: std::ops::Range<usize>, columns: std::ops::Range<usize>, from: &[u32], pitch: usize| -> u32 {
        rows.map(|r| from[r * pitch..][columns.clone()].iter().sum::<u32>()).sum()
    };
    let add = |a: [i64; 3], b: [i64; 3]| [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
    Some(match scope {
        0 => {
            let n = sum(bins(upper, bh, LEVELS), bins(x, bw, strips), &counts.waveform, strips);
            let v = shine(n, total / strips as u32 / 40);
            add(if on_line(y, bh) { GRID } else { BACK }, [v * 5 / 8, v, v * 3 / 4])
        }
        1 => {
            let levels = bins(x, bw, LEVELS);
            let usual = total / LEVELS as u32 * levels.len() as u32;
            let height = (upper * 255 / bh) as i64;
            let mut shown = if on_line(x, bw) { [40, 40, 44] } else { BACK };
            for (k, ink) in [[150, 35, 30], [30, 130, 45], [35, 60, 170]].into_iter().enumerate() {
                if height < shine(sum(0..1, levels.clone(), &counts.histogram[k * LEVELS..], LEVELS), usual) {
                    shown = add(shown, ink);
                }
            }
            shown
        }
        _ => {
            // A square in the middle of the box.
            let x = x.checked_sub((bw - bh) / 2).filter(|x| *x < bh);
            let Some(x) = x else { return Some(BACK) };
            let (blues, reds) = (bins(x, bh, SIDE), bins(upper, bh, SIDE));
            let n = sum(reds.clone(), blues.clone(), &counts.colours, SIDE);
            let away = |at: usize| (2 * at as i64 + 1 - bh as i64).pow(2);
            let distance = (away(x) + away(y)) * 10_000 / (bh * bh) as i64;
            let grid = x == bh / 2 || y == bh / 2 || (5600..5900).contains(&distance);
            let v = shine(n, total / (SIDE * SIDE) as u32 / 2);
            let (cb, cr) = (2 * blues.start as i64 - 128, 2 * reds.start as i64 - 128);
            let hue = [170 + 3 * cr / 2, 170 - cb / 5 - cr / 2, 170 + 15 * cb / 8];
            add(if grid { GRID } else { BACK }, hue.map(|c| c.clamp(60, 255) * v / 255))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::rgb;

    #[test]
    fn every_pixel_is_counted_once_in_each_scope() {
        for (w, h) in [(1, 1), (131, 67), (600, 3)] {
            let picture = Picture::from_fn(w, h, |x, y| rgb(x as u8, y as u8 * 3, (x + y) as u8));
            let counts = count(&picture);
            let n = (w * h) as u32;
            assert_eq!(counts.waveform.iter().sum::<u32>(), n);
            assert_eq!(counts.colours.iter().sum::<u32>(), n);
            assert_eq!(counts.histogram.iter().sum::<u32>(), 3 * n);
        }
        let grey = count(&Picture::new(4, 4, rgb(90, 90, 90)));
        assert_eq!(grey.colours[64 * SIDE + 64], 16, "grey lies in the middle of the vectorscope");
        assert_eq!(grey.waveform[90 * 4], 4);
    }

    #[test]
    fn the_panel_lies_within_every_picture() {
        for (w, h) in [(1, 1), (40, 900), (900, 40), (131, 67), (1920, 1080), (64, 64)] {
            if let Some(panel) = Panel::of(w, h) {
                assert!(panel.size().0 <= w && panel.size().1 <= h && panel.bh <= panel.bw, "{w}x{h}");
            }
        }
        assert_eq!(Panel::of(1, 1), None);
        assert!(Panel::of(1920, 1080).is_some());
    }
}
