//! The parameters of a run, named as in EasyPAP: size, tile, iterations, picture, configuration.

use crate::cl::round_up;
use crate::error::{Error, Result};
use crate::observer::Observer;
use std::path::PathBuf;

/// Elements of a picture, matrix or vector: one of floats takes a gigabyte then.
const MAX_ELEMENTS: usize = 1 << 28;

/// The parameters of a run.
#[derive(Clone, Debug)]
pub struct Params {
    /// Which way to write the kernel; the program's first one when empty.
    pub variant: String,
    /// Width and height; the program's own default when none is given.
    pub size: Option<(usize, usize)>,
    /// Width of a tile: of a work-group.
    pub tile_w: Option<usize>,
    /// Height of a tile.
    pub tile_h: Option<usize>,
    /// How many iterations.
    pub iterations: u32,
    /// The picture to work on, where the program takes one.
    pub input: Option<PathBuf>,
    /// The program's own knobs: `key=value,key=value`; a bare number stands for `param=number`.
    pub config: String,
    /// Who takes the frames of the film, and hears how far the run has come.
    pub observer: Observer,
}

impl Default for Params {
    fn default() -> Params {
        Params {
            variant: String::new(),
            size: None,
            tile_w: None,
            tile_h: None,
            iterations: 1,
            input: None,
            config: String::new(),
            observer: Observer::default(),
        }
    }
}

impl Params {
    /// A knob's text.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.config.split(',').map(str::trim).find_map(|part| match part.split_once('=') {
            Some((k, v)) => (k == key).then_some(v),
            None => (key == "param" && !part.is_empty()).then_some(part),
        })
    }

    /// A knob that is a number within a range.
    pub fn number(&self, key: &str, default: u32, range: std::ops::RangeInclusive<u32>) -> Result<u32> {
        let Some(text) = self.text(key) else { return Ok(default) };
        text.parse().ok().filter(|n| range.contains(n)).ok_or_else(|| {
            Error::Params(format!("-c {key}={text}: give a number from {} to {}", range.start(), range.end()))
        })
    }

    /// A knob that is one of a few words; the first one is the default.
    pub fn choice<'a>(&self, key: &str, words: &[&'a str]) -> Result<&'a str> {
        let Some(text) = self.text(key) else { return Ok(words[0]) };
        words
            .iter()
            .copied()
            .find(|w| *w == text)
            .ok_or_else(|| Error::Params(format!("-c {key}={text}: give one of {}", words.join(", "))))
    }

    /// One of these by its name, the first if none is given.
    pub fn choice_of<T: Copy>(&self, key: &str, list: &[(&'static str, T)]) -> Result<(&'static str, T)> {
        let names: Vec<&str> = list.iter().map(|(name, _)| *name).collect();
        let name = self.choice(key, &names)?;
        Ok(*list.iter().find(|(known, _)| *known == name).unwrap_or(&list[0]))
    }

    /// Refuses knobs that the program does not have.
    pub fn only(&self, keys: &[&str]) -> Result<()> {
        for part in self.config.split(',').map(str::trim).filter(|p| !p.is_empty()) {
            let key = part.split_once('=').map_or("param", |(k, _)| k);
            if !keys.contains(&key) {
                let known = if keys.is_empty() { "none".to_owned() } else { keys.join(", ") };
                return Err(Error::Params(format!("-c {part}: the program has no knob `{key}`; it has: {known}")));
            }
        }
        Ok(())
    }

    /// The size, each side at least one, and not more than what a host can hold several times.
    pub fn size_or(&self, w: usize, h: usize) -> Result<(usize, usize)> {
        let (w, h) = self.size.unwrap_or((w, h));
        if w == 0 || h == 0 || w.checked_mul(h).is_none_or(|n| n > MAX_ELEMENTS) {
            return Err(Error::Params(format!("-s {w}x{h}: take sides from 1 on and at most {MAX_ELEMENTS} elements")));
        }
        Ok((w, h))
    }

    /// The tile.
    pub fn tile_or(&self, w: usize, h: usize) -> Result<(usize, usize)> {
        let tile = match (self.tile_w, self.tile_h) {
            (None, None) => (w, h),
            (Some(w), None) => (w, w),
            (None, Some(h)) => (h, h),
            (Some(w), Some(h)) => (w, h),
        };
        self.checked_tile(tile)
    }

    /// The size of a work-group of one dimension.
    pub fn group_or(&self, n: usize) -> Result<usize> {
        let tile = (self.tile_w.unwrap_or(n), self.tile_h.unwrap_or(1));
        self.checked_tile(tile).map(|(w, h)| w * h)
    }

    fn checked_tile(&self, (w, h): (usize, usize)) -> Result<(usize, usize)> {
        if w == 0 || h == 0 || w > 65536 || h > 65536 {
            return Err(Error::Params(format!("a tile of {w}x{h}: take sides from 1 on")));
        }
        Ok((w, h))
    }

    /// The macros that EasyPAP gives to every kernel, and `WIDTH` and `HEIGHT` for pictures that are not square.
    pub fn easypap_options(&self, kernel: &str, (w, h): (usize, usize), (tw, th): (usize, usize)) -> String {
        let mut options = format!(
            "-DDIM={w} -DWIDTH={w} -DHEIGHT={h} -DGPU_SIZE_X={} -DGPU_SIZE_Y={} -DTILE_W={tw} -DTILE_H={th} \
             -DKERNEL_{kernel} -DIS_LITTLE_ENDIAN",
            round_up(w, tw),
            round_up(h, th)
        );
        if let Some(param) = self.text("param") {
            options += &format!(" -DPARAM={param}");
        }
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(config: &str) -> Params {
        Params { config: config.into(), ..Params::default() }
    }

    #[test]
    fn knobs_are_read_by_name_and_a_bare_number_is_the_parameter() {
        assert_eq!(with("banks=4,stage=2").number("stage", 4, 1..=4).unwrap(), 2);
        assert_eq!(with("7").number("param", 0, 0..=8).unwrap(), 7);
        assert_eq!(with("").number("param", 3, 0..=8).unwrap(), 3);
        assert!(with("9").number("param", 0, 0..=8).is_err());
        assert!(with("input=x").choice("input", &["image", "random"]).is_err());
        assert!(with("stange=2").only(&["stage"]).is_err());
        assert!(with("stage=2").only(&["stage"]).is_ok());
    }

    #[test]
    fn sizes_and_tiles_of_nothing_are_refused() {
        assert!(Params { size: Some((0, 4)), ..Params::default() }.size_or(1, 1).is_err());
        assert!(Params { size: Some((1 << 20, 1 << 20)), ..Params::default() }.size_or(1, 1).is_err());
        assert!(Params { size: Some((usize::MAX, 2)), ..Params::default() }.size_or(1, 1).is_err());
        assert!(Params { tile_w: Some(0), ..Params::default() }.tile_or(1, 1).is_err());
        assert_eq!(Params { tile_w: Some(8), ..Params::default() }.tile_or(1, 1).unwrap(), (8, 8));
    }
}
