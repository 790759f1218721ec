//! YUV4MPEG2 (mjpegtools, yuv4mpeg(5)): the format in which programs pipe uncompressed films to each other.
//!
//! In come bytes, from a file or a pipe; out come frames of 8-bit planes. The header has a limit, and frames are read
//! into memory of the size that it names, which has one too: nothing that a file says makes the host run out of memory.

use super::source::{MAX_SIDE, Next, Shape, Source};
use crate::error::{Error, Result};
use std::io::{BufRead, Read};
use std::path::PathBuf;

/// The longest line of text that a header may be.
const MAX_LINE: u64 = 1024;

/// A film that is being read.
pub struct Y4m<R> {
    name: PathBuf,
    from: R,
    shape: Shape,
    mono: bool,
    done: usize,
}

impl<R: BufRead + Send> Y4m<R> {
    /// Reads the header.
    pub fn open(name: PathBuf, mut from: R) -> Result<Y4m<R>> {
        let fail = |why: String| Error::File { path: name.clone(), why };
        let line = line(&mut from).map_err(fail)?;
        let words: Vec<&str> = line.split(' ').collect();
        if words[0] != "YUV4MPEG2" {
            return Err(fail("no Y4M file: it does not begin with YUV4MPEG2".into()));
        }
        let mut shape = Shape { w: 0, h: 0, shift_x: 1, shift_y: 1, left: false, full: false, field: None };
        let mut mono = false;
        for word in &words[1..] {
            let Some(key) = word.get(..1) else { continue };
            let value = &word[1..];
            let side = || {
                let side = value.parse().ok().filter(|n| (1..=MAX_SIDE).contains(n));
                side.ok_or_else(|| fail(format!("the header's `{word}`: sides go from 1 to {MAX_SIDE}")))
            };
            match key {
                "W" => shape.w = side()?,
                "H" => shape.h = side()?,
                "I" => {
                    shape.field = match value {
                        "t" => Some(0),
                        "b" => Some(1),
                        _ => None,
                    }
                }
                "C" => match value {
                    "420" | "420jpeg" => {}
                    "420mpeg2" | "420paldv" => shape.left = true,
                    "422" => (shape.shift_y, shape.left) = (0, true),
                    "444" => (shape.shift_x, shape.shift_y) = (0, 0),
                    "mono" => mono = true,
                    _ => {
                        return Err(fail(format!(
                            "the header's `{word}`: there are C420, C420jpeg, C420mpeg2, C422, C444 and Cmono; \
                             convert it with ffmpeg -pix_fmt yuv420p"
                        )));
                    }
                },
                "X" if value == "COLORRANGE=FULL" => shape.full = true,
                _ => {}
            }
        }
        if shape.w == 0 || shape.h == 0 {
            return Err(fail("the header has no width (W) or no height (H)".into()));
        }
        Ok(Y4m { name, from, shape, mono, done: 0 })
    }

    /// How many frames were read.
    pub fn frames(&self) -> usize {
        self.done
    }

    /// A frame, or nothing at the end of the film.
    fn read(&mut self, mut planes: Vec<u8>) -> std::result::Result<Option<Vec<u8>>, String> {
        let n = self.done;
        // Only between two frames is an end no error.
        if self.from.fill_buf().map_err(|e| format!("film ends early after frame {n}: {e}"))?.is_empty() {
            return Ok(None);
        }
        let head = line(&mut self.from).map_err(|why| format!("film ends early after frame {n}: {why}"))?;
        if head != "FRAME" && !head.starts_with("FRAME ") {
            return Err(format!("film ends early after frame {n}: what follows does not begin with FRAME"));
        }
        let wanted = if self.mono { self.shape.w * self.shape.h } else { self.shape.bytes() };
        planes.clear();
        // For the chroma of a grey film too, which is added below.
        planes.reserve_exact(self.shape.bytes());
        let got = self.from.by_ref().take(wanted as u64).read_to_end(&mut planes);
        match got {
            Ok(got) if got == wanted => {}
            Ok(_) => return Err(format!("film ends early after frame {n}: the file is cut")),
            Err(e) => return Err(format!("film ends early after frame {n}: {e}")),
        }
        // Grey: chroma in the middle.
        planes.resize(self.shape.bytes(), 128);
        self.done += 1;
        Ok(Some(planes))
    }
}

impl<R: BufRead + Send> Source for Y4m<R> {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn next_in(&mut self, memory: Vec<u8>) -> Next {
        match self.read(memory) {
            Ok(Some(planes)) => Next::Frame(planes),
            Ok(None) => Next::End,
            Err(why) => Next::Cut(format!("{}: {why}", self.name.display())),
        }
    }
}

/// A line of text without its end.
fn line(from: &mut impl BufRead) -> std::result::Result<String, String> {
    let mut bytes = Vec::new();
    from.take(MAX_LINE).read_until(b'\n', &mut bytes).map_err(|e| e.to_string())?;
    if bytes.pop() != Some(b'\n') {
        return Err("a header without an end".into());
    }
    String::from_utf8(bytes).map_err(|_| "a header that is no text".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(bytes: &[u8]) -> Result<Y4m<&[u8]>> {
        Y4m::open("film.y4m".into(), bytes)
    }

    #[test]
    fn every_layout_is_read_at_odd_sizes() {
        for (tag, shape, bytes) in [
            ("C420jpeg", (1, 1, false), 15 + 2 * 6),
            ("C420", (1, 1, false), 15 + 2 * 6),
            ("C420mpeg2", (1, 1, true), 15 + 2 * 6),
            ("C422", (1, 0, true), 15 + 2 * 9),
            ("C444", (0, 0, false), 45),
            ("Cmono", (1, 1, false), 15),
        ] {
            let mut film = format!("YUV4MPEG2 W5 H3 F25:1 Ip A1:1 {tag} XCOLORRANGE=FULL\n").into_bytes();
            for n in 0..2u8 {
                film.extend(b"FRAME Ip\n");
                film.extend(vec![n + 1; bytes]);
            }
            let mut y4m = open(&film).unwrap();
            let s = y4m.shape();
            assert_eq!((s.w, s.h, s.full), (5, 3, true));
            assert_eq!((s.shift_x, s.shift_y, s.left), shape, "{tag}");
            for n in 0..2u8 {
                let Next::Frame(planes) = y4m.next() else { panic!("{tag}: no frame {n}") };
                assert_eq!(planes.len(), s.bytes(), "{tag}");
                assert!(planes[..15].iter().all(|&b| b == n + 1));
                assert_eq!(planes[15], if tag == "Cmono" { 128 } else { n + 1 });
            }
            assert!(matches!(y4m.next(), Next::End));
        }
    }

    #[test]
    fn what_is_no_film_or_is_cut_is_told() {
        let message = |bytes: &[u8]| open(bytes).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(message(b"RIFF....\n").contains("does not begin with YUV4MPEG2"));
        assert!(message(b"YUV4MPEG2 W5 H3").contains("without an end"));
        assert!(message(&[b'Y'; 5000]).contains("without an end"));
        assert!(message(b"YUV4MPEG2 W5\n").contains("no height"));
        assert!(message(b"YUV4MPEG2 W5 H0\n").contains("`H0`"));
        assert!(message(b"YUV4MPEG2 W99999999999 H3\n").contains("sides"));
        assert!(message(b"YUV4MPEG2 W5 H3 C420p10\n").contains("C420p10"));

        let mut film = b"YUV4MPEG2 W2 H2\nFRAME\n123456FRAME\n12345".to_vec();
        let mut y4m = open(&film).unwrap();
        assert!(matches!(y4m.next(), Next::Frame(_)));
        let Next::Cut(why) = y4m.next() else { panic!("it is cut") };
        assert!(why.contains("film ends early after frame 1"), "{why}");
        // What follows the first frame is none.
        film.truncate(28);
        film.extend(b"xFRAM\n");
        let mut y4m = open(&film).unwrap();
        assert!(matches!(y4m.next(), Next::Frame(_)));
        assert!(matches!(y4m.next(), Next::Cut(why) if why.contains("begin with FRAME")));
    }
}
