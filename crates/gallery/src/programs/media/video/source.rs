//! Where frames come from, and the threads that fetch them ahead of the device.
//!
//! In comes the name of a source: `scene:NAME`, a Y4M file, a PNG file or a numbered sequence of them, or whatever
//! else the program `ffmpeg` reads. Out comes a [`Stream`]: a thread decodes into a queue of a few frames and waits
//! when that is full, so that a long film never lies in memory.

use super::files::{Ffmpeg, Pngs};
use super::scenes::{self, Scene};
use super::y4m::Y4m;
use crate::error::{Error, Result};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::time::{Duration, Instant};

/// The longest side of a picture.
pub const MAX_SIDE: usize = 16384;
/// Frames that are decoded ahead.
const AHEAD: usize = 3;

/// How the frames of a film are stored: three planes of bytes, one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    pub w: usize,
    pub h: usize,
    /// Chroma has half the columns.
    pub shift_x: u32,
    /// Chroma has half the rows.
    pub shift_y: u32,
    /// Its samples lie on the even columns and not between two.
    pub left: bool,
    /// Values go from 0 to 255 and not from 16 to 235.
    pub full: bool,
    /// Interlaced: which rows are the first field.
    pub field: Option<u32>,
}

impl Shape {
    /// The sides of a chroma plane.
    pub fn chroma(&self) -> (usize, usize) {
        (self.w.div_ceil(1 << self.shift_x), self.h.div_ceil(1 << self.shift_y))
    }

    pub fn bytes(&self) -> usize {
        let (w, h) = self.chroma();
        self.w * self.h + 2 * w * h
    }

    /// First byte, width and height of each plane.
    pub fn planes(&self) -> [(usize, usize, usize); 3] {
        let (cw, ch) = self.chroma();
        let luma = self.w * self.h;
        [(0, self.w, self.h), (luma, cw, ch), (luma + cw * ch, cw, ch)]
    }
}

/// What a source says when asked for a frame.
pub enum Next {
    Frame(Vec<u8>),
    /// The film is over.
    End,
    /// It broke off; the text says after which frame.
    Cut(String),
}

/// A film.
pub trait Source: Send {
    fn shape(&self) -> Shape;
    /// The next frame, in memory that it may use again, whatever that holds: fresh memory for every frame of a film
    /// costs more than many a decoder.
    fn next_in(&mut self, memory: Vec<u8>) -> Next;
    /// The next frame.
    fn next(&mut self) -> Next {
        self.next_in(Vec::new())
    }
    /// Leaves frames out.
    fn skip(&mut self, frames: usize) -> std::result::Result<(), String> {
        for n in 0..frames {
            match self.next() {
                Next::Frame(_) => {}
                Next::End => return Err(format!("it has only {n} frames")),
                Next::Cut(why) => return Err(why),
            }
        }
        Ok(())
    }
}

/// Opens a source; scenes are drawn at the size given, at so many frames a second.
pub fn open(name: &str, folder: &Path, size: (usize, usize), rate: f64, interlaced: bool) -> Result<Box<dyn Source>> {
    if let Some(scene) = name.strip_prefix("scene:") {
        let known = scenes::ALL.iter().find(|(known, _)| *known == scene);
        let &(_, kind) = known.ok_or_else(|| Error::NotFound {
            what: "scene",
            wanted: scene.into(),
            have: scenes::ALL.iter().map(|(name, _)| (*name).to_owned()).collect(),
        })?;
        return Ok(Box::new(Scene::new(kind, size, rate, interlaced)));
    }
    let path: PathBuf = folder.join(name);
    let ends = |end: &str| name.to_lowercase().ends_with(end);
    if ends(".png") {
        return Ok(Box::new(Pngs::open(&path)?));
    }
    let file = File::open(&path).map_err(|e| Error::File { path: path.clone(), why: e.to_string() })?;
    if ends(".y4m") {
        return Ok(Box::new(Y4m::open(path, BufReader::with_capacity(1 << 16, file))?));
    }
    Ok(Box::new(Ffmpeg::open(path)?))
}

/// A film that a thread decodes.
pub struct Stream {
    pub shape: Shape,
    from: Receiver<(Next, Duration)>,
    /// Memory of frames that are done with.
    back: Sender<Vec<u8>>,
    /// How long the decoder has worked on the frames taken so far.
    pub decoding: Duration,
    /// How many frames were taken.
    pub taken: usize,
    /// It is over: no frame comes any more.
    pub over: bool,
}

impl Stream {
    /// Starts the thread; the first `skip` frames are left out.
    pub fn start(mut source: Box<dyn Source>, skip: usize) -> Stream {
        let shape = source.shape();
        let (to, from) = sync_channel(AHEAD);
        let (back, used) = channel();
        // It ends when nobody takes frames any more: sending fails then.
        std::thread::spawn(move || {
            if let Err(why) = source.skip(skip) {
                let _ =
                    to.send((Next::Cut(format!("frame {skip}, the in point, is not there: {why}")), Duration::ZERO));
                return;
            }
            loop {
                let start = Instant::now();
                // Memory that came back, else fresh memory: the decoder does not wait for it.
                let next = source.next_in(used.try_recv().unwrap_or_default());
                let last = !matches!(next, Next::Frame(_));
                if to.send((next, start.elapsed())).is_err() || last {
                    return;
                }
            }
        });
        Stream { shape, from, back, decoding: Duration::ZERO, taken: 0, over: false }
    }

    /// Gives a frame's memory back to the decoder.
    pub fn done_with(&self, memory: Vec<u8>) {
        // Where the film is over nobody needs it.
        let _ = self.back.send(memory);
    }

    /// The next frame.
    pub fn next(&mut self) -> Next {
        if self.over {
            return Next::End;
        }
        let (next, time) = self.from.recv().unwrap_or((Next::Cut("its decoder has ended".into()), Duration::ZERO));
        self.decoding += time;
        match &next {
            Next::Frame(_) => self.taken += 1,
            _ => self.over = true,
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_decoded_ahead_from_its_in_point_until_it_ends() {
        let path = std::env::temp_dir().join(format!("cloom-video-{}.y4m", std::process::id()));
        let mut film = b"YUV4MPEG2 W2 H2\n".to_vec();
        for n in 0..6u8 {
            film.extend(b"FRAME\n");
            film.extend([n; 6]);
        }
        std::fs::write(&path, &film).unwrap();
        let name = path.to_str().unwrap();
        let start = |skip| Stream::start(open(name, Path::new(""), (1, 1), 25.0, false).unwrap(), skip);
        let mut stream = start(4);
        assert!(matches!(stream.next(), Next::Frame(p) if p == [4; 6]));
        assert!(matches!(stream.next(), Next::Frame(p) if p == [5; 6]));
        assert!(matches!(stream.next(), Next::End));
        assert!(stream.over && stream.taken == 2);
        assert!(matches!(start(7).next(), Next::Cut(why) if why.contains("only 6 frames")));
        std::fs::remove_file(&path).unwrap();
        assert!(open(name, Path::new(""), (1, 1), 25.0, false).is_err());
        assert!(open("scene:nowhere", Path::new(""), (1, 1), 25.0, false).is_err());
    }

    #[test]
    fn planes_of_odd_sizes_lie_one_after_the_other() {
        let shape = Shape { w: 5, h: 3, shift_x: 1, shift_y: 1, left: false, full: false, field: None };
        assert_eq!(shape.planes(), [(0, 5, 3), (15, 3, 2), (21, 3, 2)]);
        assert_eq!(shape.bytes(), 27);
    }
}
