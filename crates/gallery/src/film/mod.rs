//! Films: frames written to a file as they come, in the form that the file's suffix names.
//!
//! No form needs the number of frames or the whole film in memory. A film that ends early, because the run failed or
//! was cancelled, is whole up to its last frame.
//!
//! | suffix | written by |
//! |---|---|
//! | `.apng` | `apng`: PNG with several frames, without loss |
//! | `.gif` | `gif`: 256 colours a frame, dithered |
//! | `.y4m` | `y4m`: planes of brightness and colour, uncompressed; what editors and encoders read |
//! | `.mp4`, `.webm` | `ffmpeg`: the program of that name, if it is installed |

mod apng;
pub(crate) mod colour;
mod ffmpeg;
mod gif;
mod y4m;

use crate::error::{Error, Result};
use crate::picture::Picture;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// Suffixes of films.
pub const SUFFIXES: &[&str] = &["apng", "gif", "y4m", "mp4", "webm"];

/// A writer of frames of one size.
trait Encode: Send {
    fn frame(&mut self, picture: &Picture) -> io::Result<()>;
    /// Completes the file.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// A film that is being written.
pub struct Film {
    path: PathBuf,
    per_second: u32,
    frames: usize,
    size: (usize, usize),
    // From the first frame on, whose size the file's head needs.
    encoder: Option<Box<dyn Encode>>,
}

/// The suffix of a path, in lower case.
pub fn suffix(path: &Path) -> String {
    path.extension().and_then(OsStr::to_str).unwrap_or_default().to_lowercase()
}

/// Whether a path's suffix is that of a film.
pub fn is_film(path: &Path) -> bool {
    SUFFIXES.contains(&suffix(path).as_str())
}

impl Film {
    /// A film with so many frames a second; the suffix names the form. An error if it names none, or if the program
    /// that it needs is not installed. The file is made when the first frame comes.
    pub fn new(path: &Path, per_second: u32) -> Result<Film> {
        let fail = |why: String| Error::File { path: path.to_owned(), why };
        match suffix(path).as_str() {
            s if !SUFFIXES.contains(&s) => Err(fail(format!("give a film one of the suffixes {}", SUFFIXES.join(", ")))),
            "mp4" | "webm" if !ffmpeg::is_installed() => Err(fail(
                "the program `ffmpeg` writes such films, and is not installed (Debian: ffmpeg); or choose .apng, .gif or \
                 .y4m"
                    .into(),
            )),
            _ => Ok(Film { path: path.to_owned(), per_second: per_second.max(1), frames: 0, size: (0, 0), encoder: None }),
        }
    }

    /// How many frames have been written.
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// Writes the next frame.
    pub fn frame(&mut self, picture: &Picture) -> Result<()> {
        let size = (picture.width, picture.height);
        if self.frames > 0 && size != self.size {
            let ((w, h), (fw, fh)) = (size, self.size);
            return Err(self.fail(format!("frame {} has {w}x{h} pixels, those before {fw}x{fh}", self.frames)));
        }
        self.size = size;
        let encoder = match &mut self.encoder {
            Some(encoder) => encoder,
            none => none.insert(open(&self.path, size, self.per_second).map_err(|e| failed(&self.path, &e))?),
        };
        encoder.frame(picture).map_err(|e| failed(&self.path, &e))?;
        self.frames += 1;
        Ok(())
    }

    /// Completes the file. A film without a frame leaves none.
    pub fn finish(&mut self) -> Result<()> {
        match self.encoder.take() {
            Some(encoder) => encoder.finish().map_err(|e| failed(&self.path, &e)),
            None => Ok(()),
        }
    }

    fn fail(&self, why: String) -> Error {
        Error::File { path: self.path.clone(), why }
    }
}

fn failed(path: &Path, e: &io::Error) -> Error {
    Error::File { path: path.to_owned(), why: e.to_string() }
}

fn open(path: &Path, (w, h): (usize, usize), per_second: u32) -> io::Result<Box<dyn Encode>> {
    if suffix(path) == "mp4" || suffix(path) == "webm" {
        return Ok(Box::new(ffmpeg::Ffmpeg::open(path, (w, h), per_second)?));
    }
    let file = File::options().read(true).write(true).create(true).truncate(true).open(path)?;
    let file = BufWriter::new(file);
    Ok(match suffix(path).as_str() {
        "apng" => Box::new(apng::Apng::open(file, (w, h), per_second)?),
        "gif" => Box::new(gif::Gif::open(file, (w, h), per_second)?),
        _ => Box::new(y4m::Y4m::open(file, (w, h), per_second)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::rgb;

    fn picture(k: usize) -> Picture {
        Picture::from_fn(33, 21, |x, y| rgb((x * 7) as u8, (y * 11) as u8, (k * 60) as u8))
    }

    fn written(suffix: &str, frames: usize) -> (PathBuf, Vec<u8>) {
        let path = std::env::temp_dir().join(format!("cloom-film-{}-{frames}.{suffix}", std::process::id()));
        let mut film = Film::new(&path, 25).unwrap();
        for k in 0..frames {
            film.frame(&picture(k)).unwrap();
        }
        assert_eq!(film.frames(), frames);
        film.finish().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        (path, bytes)
    }

    #[test]
    fn an_apng_has_every_frame_without_loss_and_is_a_png() {
        for frames in [1, 3] {
            let (path, bytes) = written("apng", frames);
            assert_eq!(Picture::decode(&bytes).unwrap(), picture(0));
            let mut reader = png::Decoder::new(io::Cursor::new(bytes)).read_info().unwrap();
            assert_eq!(reader.info().animation_control().unwrap().num_frames, frames as u32);
            let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
            for k in 0..frames {
                reader.next_frame(&mut pixels).unwrap();
                let want: Vec<u8> = picture(k).pixels.iter().flat_map(|p| p.to_le_bytes()).collect();
                assert_eq!(pixels, want);
            }
            std::fs::remove_file(path).unwrap();
        }
    }

    #[test]
    fn a_gif_has_every_frame_nearly() {
        let (path, bytes) = written("gif", 3);
        let mut options = ::gif::DecodeOptions::new();
        options.set_color_output(::gif::ColorOutput::RGBA);
        let mut decoder = options.read_info(&bytes[..]).unwrap();
        for k in 0..3 {
            let frame = decoder.read_next_frame().unwrap().unwrap();
            assert_eq!((frame.width, frame.height, frame.delay), (33, 21, 4));
            let want: Vec<u8> = picture(k).pixels.iter().flat_map(|p| p.to_le_bytes()).collect();
            let error: u32 = frame.buffer.iter().zip(&want).map(|(a, b)| u32::from(a.abs_diff(*b))).sum();
            assert!(error / (want.len() as u32) < 8, "{error} in {} bytes", want.len());
        }
        assert!(decoder.read_next_frame().unwrap().is_none());
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_y4m_has_a_head_and_three_planes_a_frame() {
        let (path, bytes) = written("y4m", 2);
        let head = b"YUV4MPEG2 W33 H21 F25:1 Ip A1:1 C444 XCOLORRANGE=LIMITED\n";
        assert!(bytes.starts_with(head));
        assert_eq!(bytes.len(), head.len() + 2 * (6 + 3 * 33 * 21));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn an_encoder_of_another_program_gets_every_frame() {
        if !ffmpeg::is_installed() {
            return;
        }
        for suffix in ["mp4", "webm"] {
            let (path, bytes) = written(suffix, 3);
            assert!(bytes.len() > 300, "{suffix}: {} bytes", bytes.len());
            std::fs::remove_file(path).unwrap();
        }
    }

    #[test]
    fn wrong_suffixes_sizes_and_places_are_told() {
        assert!(Film::new(Path::new("a.avi"), 25).is_err_and(|e| e.to_string().contains("apng, gif")));
        assert!(Film::new(Path::new("film"), 25).is_err());
        let mut nowhere = Film::new(Path::new("/no/such/folder/a.gif"), 25).unwrap();
        assert!(nowhere.frame(&picture(0)).is_err());
        let path = std::env::temp_dir().join(format!("cloom-film-{}-sizes.gif", std::process::id()));
        let mut film = Film::new(&path, 25).unwrap();
        film.frame(&picture(0)).unwrap();
        assert!(film.frame(&Picture::new(5, 5, 0)).is_err_and(|e| e.to_string().contains("33x21")));
        film.finish().unwrap();
        std::fs::remove_file(path).unwrap();
    }
}
