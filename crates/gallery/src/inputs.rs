//! The inputs that the gallery ships: a picture with natural detail and a text. `examples/draw_assets.rs` made both.

use crate::error::Result;
use crate::params::Params;
use crate::picture::Picture;
use crate::random::Random;

/// The picture, a PNG of 512×512.
const LAKE: &[u8] = include_bytes!("../assets/lake.png");
/// The text, 100,000 bytes.
const PROSE: &str = include_str!("../assets/prose.txt");

/// The picture that the user named, at its own size, or the shipped one; at the size asked for, if any.
pub fn picture(params: &Params) -> Result<Picture> {
    let picture = match &params.input {
        Some(path) => {
            params.observer.reads_input();
            Picture::load(path)?
        }
        None => Picture::decode(LAKE).map_err(|why| crate::Error::File { path: "assets/lake.png".into(), why })?,
    };
    let (w, h) = params.size_or(picture.width, picture.height)?;
    Ok(if (w, h) == (picture.width, picture.height) { picture } else { picture.mirrored_to(w, h) })
}

/// The first `len` bytes of the text, which starts anew after its end.
pub fn text(len: usize) -> Vec<u8> {
    PROSE.bytes().cycle().take(len).collect()
}

/// An edited version of a text, as a second draft is: words dropped, doubled and replaced, here and there a letter.
pub fn edited(text: &[u8], len: usize) -> Vec<u8> {
    let mut random = Random::new(2010);
    let words: Vec<&[u8]> = text.split_inclusive(|&b| b == b' ' || b == b'\n').collect();
    let mut out = Vec::with_capacity(len + 64);
    let mut i = 0;
    while out.len() < len && !words.is_empty() {
        let word = words[i % words.len()];
        match random.below(24) {
            0 => {}
            1 => out.extend_from_slice(words[random.below(words.len())]),
            2 => {
                out.extend_from_slice(word);
                out.extend_from_slice(words[random.below(words.len())]);
            }
            3 => {
                let mut word = word.to_vec();
                let at = random.below(word.len());
                word[at] = b'a' + random.below(26) as u8;
                out.extend_from_slice(&word);
            }
            _ => out.extend_from_slice(word),
        }
        i += 1;
    }
    out.truncate(len);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_inputs_are_whole() {
        let p = picture(&Params::default()).unwrap();
        assert_eq!((p.width, p.height), (512, 512));
        let mut colours = p.pixels.clone();
        colours.sort_unstable();
        colours.dedup();
        assert!(colours.len() > 10_000, "{} colours are no natural picture", colours.len());
        assert_eq!(text(100_001)[100_000], text(1)[0]);
        let (a, b) = (text(5000), edited(&text(5000), 4800));
        assert_eq!(b.len(), 4800);
        assert_ne!(a[..4800], b);
    }
}
