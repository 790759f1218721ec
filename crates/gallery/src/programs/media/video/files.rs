//! Films in files: PNG sequences, read here, and everything else, read by the program `ffmpeg`.

use super::source::{MAX_SIDE, Next, Shape, Source};
use super::y4m::Y4m;
use crate::error::{Error, Result};
use crate::film::colour;
use crate::picture::Picture;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

/// What the program writes to its error output is kept up to here.
const MAX_COMPLAINT: u64 = 4096;

/// A numbered sequence, such as `name%04d.png`, or one file, which is a film that never changes.
pub struct Pngs {
    pattern: Option<(String, usize, String)>,
    number: usize,
    done: usize,
    first: Option<Vec<u8>>,
    shape: Shape,
}

/// Takes a name apart: what lies before the number, its digits, what lies after it.
fn pattern(name: &str) -> Option<(String, usize, String)> {
    let (before, rest) = name.split_once('%')?;
    let (digits, after) = rest.split_once('d')?;
    let digits = if digits.is_empty() { 1 } else { digits.parse().ok().filter(|n| (1..=9).contains(n))? };
    Some((before.to_owned(), digits, after.to_owned()))
}

fn file_of((before, digits, after): &(String, usize, String), number: usize) -> PathBuf {
    format!("{before}{number:0digits$}{after}").into()
}

/// Y'CbCr of the full range, without halved chroma.
fn planes_of(picture: &Picture) -> Vec<u8> {
    let pixels: Vec<[u8; 3]> = picture.pixels.iter().map(|&p| colour::ycc(p, true)).collect();
    (0..3).flat_map(|plane| pixels.iter().map(move |p| p[plane])).collect()
}

impl Pngs {
    pub fn open(path: &Path) -> Result<Pngs> {
        let pattern = pattern(&path.to_string_lossy());
        let number = match &pattern {
            // Sequences are numbered from 0 or from 1.
            Some(p) => usize::from(!file_of(p, 0).exists()),
            None => 0,
        };
        let name = pattern.as_ref().map_or_else(|| path.to_owned(), |p| file_of(p, number));
        let picture = Picture::load(&name)?;
        if picture.width > MAX_SIDE || picture.height > MAX_SIDE {
            return Err(Error::File { path: name, why: format!("sides go up to {MAX_SIDE}") });
        }
        let (w, h) = (picture.width, picture.height);
        let shape = Shape { w, h, shift_x: 0, shift_y: 0, left: false, full: true, field: None };
        Ok(Pngs { pattern, number, done: 0, first: Some(planes_of(&picture)), shape })
    }
}

impl Source for Pngs {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn next_in(&mut self, _: Vec<u8>) -> Next {
        let Some(pattern) = &self.pattern else {
            return Next::Frame(self.first.clone().unwrap_or_default());
        };
        let name = file_of(pattern, self.number);
        let n = self.done;
        let cut = |why: String| Next::Cut(format!("film ends early after frame {n}: {why}"));
        let planes = match self.first.take() {
            Some(first) => first,
            None if !name.exists() => return Next::End,
            None => match Picture::load(&name) {
                Ok(p) if (p.width, p.height) == (self.shape.w, self.shape.h) => planes_of(&p),
                Ok(p) => return cut(format!("{} has another size, {}x{}", name.display(), p.width, p.height)),
                Err(e) => return cut(e.to_string()),
            },
        };
        self.number += 1;
        self.done += 1;
        Next::Frame(planes)
    }
}

/// A film that the program `ffmpeg` decodes and hands over as Y4M.
pub struct Ffmpeg {
    path: PathBuf,
    child: Child,
    film: Y4m<BufReader<ChildStdout>>,
    complaint: Receiver<String>,
}

impl Ffmpeg {
    pub fn open(path: PathBuf) -> Result<Ffmpeg> {
        let fail = |why: String| Error::File { path: path.clone(), why };
        let mut command = Command::new("ffmpeg");
        command.args(["-nostdin", "-v", "error", "-i"]);
        // With the protocol in front, no name is an option or an address.
        command.arg(format!("file:{}", path.display()));
        command.args(["-f", "yuv4mpegpipe", "-pix_fmt", "yuv420p", "-"]);
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => {
                fail("neither Y4M nor PNG: for other films install the program ffmpeg (Debian: ffmpeg)".into())
            }
            _ => fail(format!("ffmpeg does not start: {e}")),
        })?;
        let (to, complaint) = channel();
        if let Some(mut errors) = child.stderr.take() {
            // All of it is read, or the program would wait for a reader.
            std::thread::spawn(move || {
                let mut text = Vec::new();
                let _ = errors.by_ref().take(MAX_COMPLAINT).read_to_end(&mut text);
                let _ = to.send(String::from_utf8_lossy(&text).trim().to_owned());
                let _ = std::io::copy(&mut errors, &mut std::io::sink());
            });
        }
        let out = child.stdout.take().ok_or_else(|| fail("ffmpeg has no output".into()))?;
        match Y4m::open(path.clone(), BufReader::with_capacity(1 << 16, out)) {
            Ok(film) => Ok(Ffmpeg { path, child, film, complaint }),
            Err(e) => {
                let _ = child.kill();
                let _ = child.wait();
                let said = complaint.recv().unwrap_or_default();
                Err(if said.is_empty() { e } else { fail(format!("ffmpeg cannot read it: {said}")) })
            }
        }
    }
}

impl Source for Ffmpeg {
    fn shape(&self) -> Shape {
        self.film.shape()
    }

    fn next_in(&mut self, memory: Vec<u8>) -> Next {
        match self.film.next_in(memory) {
            // Of a file that is cut the program shows what there is, and is content with having said so.
            Next::End => {
                let ended = self.child.wait().is_ok_and(|status| status.success());
                let said = self.complaint.recv().unwrap_or_default();
                if ended && said.is_empty() {
                    return Next::End;
                }
                let (path, n) = (self.path.display(), self.film.frames());
                let said = said.lines().next().unwrap_or("it gave up and said nothing");
                Next::Cut(format!("{path}: film ends early after frame {n}: ffmpeg: {said}"))
            }
            other => other,
        }
    }
}

impl Drop for Ffmpeg {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
#[allow(clippy::print_stdout, reason = "it says what was not run")]
mod tests {
    use super::*;
    use crate::film::Film;
    use crate::picture::rgb;

    #[test]
    fn a_sequence_is_read_in_order_and_a_picture_of_another_size_cuts_it() {
        let folder = std::env::temp_dir().join(format!("cloom-video-png-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (n, grey) in [(1, 10), (2, 20)] {
            Picture::new(3, 1, rgb(grey, grey, grey)).save(&folder.join(format!("f{n:03}.png"))).unwrap();
        }
        let mut pngs = Pngs::open(&folder.join("f%03d.png")).unwrap();
        assert!(matches!(pngs.next(), Next::Frame(p) if p == [10, 10, 10, 128, 128, 128, 128, 128, 128]));
        assert!(matches!(pngs.next(), Next::Frame(p) if p[0] == 20));
        assert!(matches!(pngs.next(), Next::End));
        Picture::new(2, 1, 0).save(&folder.join("f003.png")).unwrap();
        assert!(matches!(pngs.next(), Next::Cut(why) if why.contains("after frame 2") && why.contains("another size")));
        let mut still = Pngs::open(&folder.join("f002.png")).unwrap();
        assert!((0..3).all(|_| matches!(still.next(), Next::Frame(_))));
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(Pngs::open(&folder.join("f%03d.png")).is_err());
    }

    /// Colours that no two matrices agree on.
    const COLOURS: [(u8, u8, u8); 4] = [(200, 40, 30), (30, 180, 60), (40, 60, 210), (90, 90, 90)];

    #[test]
    fn what_is_written_as_a_film_is_read_with_its_colours() {
        for (suffix, off) in [("y4m", 2.5), ("mp4", 5.0)] {
            let path = std::env::temp_dir().join(format!("cloom-video-colour-{}.{suffix}", std::process::id()));
            let mut film = match Film::new(&path, 25) {
                Ok(film) => film,
                Err(e) => {
                    println!("not run: {e}");
                    continue;
                }
            };
            // Wide bars, for chroma is halved in an encoded film.
            let bars = Picture::from_fn(128, 32, |x, _| {
                let (r, g, b) = COLOURS[x / 32];
                rgb(r, g, b)
            });
            (0..3).for_each(|_| film.frame(&bars).unwrap());
            film.finish().unwrap();
            let mut source =
                super::super::source::open(path.to_str().unwrap(), Path::new(""), (1, 1), 25.0, false).unwrap();
            let shape = source.shape();
            for n in 0..3 {
                let Next::Frame(planes) = source.next() else { panic!("{suffix}: no frame {n}") };
                let pixels = super::super::reference::convert(&shape, &planes);
                for (i, (r, g, b)) in COLOURS.into_iter().enumerate() {
                    let p = pixels.pixels[16 * 128 + 32 * i + 16];
                    for (v, want) in p.into_iter().zip([r, g, b]) {
                        // Three roundings of limited range in the one, an encoder's quantisation in the other; the
                        // matrix of standard definition would be off by ten and more.
                        assert!((255.0 * v - f64::from(want)).abs() < off, "{suffix}: {p:?}, expected {r} {g} {b}");
                    }
                }
            }
            assert!(matches!(source.next(), Next::End), "{suffix}");
            std::fs::remove_file(path).unwrap();
        }
    }

    #[test]
    fn names_are_taken_apart() {
        assert_eq!(pattern("a/b%04d.png"), Some(("a/b".into(), 4, ".png".into())));
        assert_eq!(pattern("b%d.png"), Some(("b".into(), 1, ".png".into())));
        assert_eq!(pattern("b.png"), None);
        assert_eq!(pattern("100%.png"), None);
        assert_eq!(pattern("b%4000d.png"), None);
    }
}
