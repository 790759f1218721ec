//! The variants that are one effect each: its kernel alone on frames that lie on the device.
//!
//! In come two streams, out comes the effect's picture. What an effect works on is made by the reference and rounded to
//! floats, so that its own error is all that the check sees.

use super::device::{Device, jobs};
use super::effects::{Contrast, DEINTERLACE, Grade, METHODS, MODES, Matrix, Place, WIPES, Wipe};
use super::reference::{self, Image};
use super::scopes::{self, Counting, Scopes};
use super::source::{Next, Shape, Stream, open};
use super::stack::{convert, deinterlace, wipe};
use super::{as_picture, real_time, roomy, same_or, tile};
use crate::args;
use crate::cl::{Buffer, Session};
use crate::error::{Error, Result};
use crate::params::Params;
use crate::picture::{Picture, rgb};
use crate::program::{Answer, Outcome, Verdict, Work, close, same, same_picture};
use std::cell::RefCell;
use std::path::Path;

/// The rate that single effects are held against.
const RATE: f64 = 25.0;
const LEVELS: Contrast = Contrast { contrast: 1.3, brightness: 0.04 };

/// The parameters that change with time, and those of the knobs.
struct Setting {
    variant: &'static str,
    mode: usize,
    method: usize,
    wipe: &'static str,
    grade: Grade,
    counting: Counting,
    shape: Shape,
    size: (usize, usize),
}

impl Setting {
    fn new(variant: &'static str, params: &Params, shape: Shape, size: (usize, usize)) -> Result<Setting> {
        let number = |key: &str, words: &[&str], default: usize| -> Result<usize> {
            if params.text(key).is_none() {
                return Ok(default);
            }
            let word = params.choice(key, words)?;
            Ok(words.iter().position(|w| *w == word).unwrap_or(default))
        };
        Ok(Setting {
            variant,
            mode: number("mode", &MODES, 2)?,
            method: number("method", &METHODS, 0)?,
            wipe: WIPES[number("wipe", &WIPES, 2)?],
            grade: Grade::TEAL_ORANGE,
            counting: scopes::counting(params)?,
            shape,
            size,
        })
    }

    fn matrix(&self, i: u32) -> Matrix {
        let place = Place { position: [0.5, 0.5], scale: 0.78, rotation: 8.0 + 0.5 * (i % 720) as f32 };
        place.matrix((self.shape.w, self.shape.h), self.size)
    }

    /// How far a transition has come: four seconds to and, after a cut, again.
    fn done(&self, i: u32) -> f32 {
        ((i + 45) % 100) as f32 / 100.0
    }

    fn wipe(&self, i: u32) -> Wipe {
        Wipe::new(self.wipe, self.done(i), self.size)
    }
}

/// What a frame is made of, on the host.
struct Inputs {
    /// The first stream's bytes.
    bytes: Vec<u8>,
    /// Both streams in floats, at the picture's size.
    pictures: [Vec<f32>; 2],
    /// The first one in 8 bits.
    eight: Picture,
}

/// A stream's next frame in pixels, at the picture's size.
fn fitted(shape: &Shape, bytes: &[u8], size: (usize, usize)) -> Image {
    let pixels = reference::convert(shape, bytes);
    if (shape.w, shape.h) == size {
        return pixels;
    }
    reference::transform(&pixels, &Place::WHOLE.matrix((shape.w, shape.h), size), size).0
}

fn eight_bits(image: &Image) -> Picture {
    let level = |v: f64| (255.0 * v).round_ties_even().clamp(0.0, 255.0) as u8;
    let pixels = image.pixels.iter().map(|p| rgb(level(p[0]), level(p[1]), level(p[2]))).collect();
    Picture { width: image.w, height: image.h, pixels }
}

/// Frames that the effects work on.
struct Feed {
    streams: [Stream; 2],
    setting: Setting,
}

fn frame(stream: &mut Stream) -> std::result::Result<Vec<u8>, String> {
    match stream.next() {
        Next::Frame(bytes) => Ok(bytes),
        Next::End => Err(format!("the film has {} frames", stream.taken)),
        Next::Cut(why) => Err(why),
    }
}

impl Feed {
    fn inputs(&mut self) -> std::result::Result<Inputs, String> {
        let size = self.setting.size;
        let bytes = frame(&mut self.streams[0])?;
        let variant = self.setting.variant;
        let none = || Image { w: 0, h: 0, pixels: Vec::new() };
        let first = match variant {
            "convert" | "deinterlace" => none(),
            "transform" => reference::convert(&self.setting.shape, &bytes),
            _ => fitted(&self.setting.shape, &bytes, size),
        };
        let second = match variant {
            "blend" | "dissolve" | "wipe" => {
                let bytes = frame(&mut self.streams[1])?;
                let whole = fitted(&self.streams[1].shape, &bytes, size);
                // A layer with edges and with nothing around it, for a blend.
                let place = Place { position: [0.55, 0.5], scale: 0.85, rotation: 5.0 };
                if variant == "blend" { reference::transform(&whole, &place.matrix(size, size), size).0 } else { whole }
            }
            _ => none(),
        };
        let eight = if variant == "scopes" { eight_bits(&first) } else { Picture::new(0, 0, 0) };
        Ok(Inputs { bytes, pictures: [first.floats(), second.floats()], eight })
    }
}

/// Buffers on the device; those that the effect does not use have one element.
struct Buffers {
    bytes: Buffer<u8>,
    inputs: [Buffer<f32>; 2],
    out: Buffer<f32>,
    out_bytes: Buffer<u8>,
    picture: Buffer<u32>,
    grade: Buffer<f32>,
    scopes: Option<Scopes>,
}

impl Buffers {
    fn new(session: &Session, inputs: &Inputs, s: &Setting) -> Result<Buffers> {
        let (w, h) = if s.variant == "convert" { (s.shape.w, s.shape.h) } else { s.size };
        let floats = |list: &[f32]| session.zeroed::<f32>(list.len().max(1));
        Ok(Buffers {
            bytes: session.zeroed(inputs.bytes.len())?,
            inputs: [floats(&inputs.pictures[0])?, floats(&inputs.pictures[1])?],
            out: session.zeroed(4 * w * h)?,
            out_bytes: session.zeroed(inputs.bytes.len())?,
            picture: session.zeroed(inputs.eight.pixels.len().max(1))?,
            grade: s.grade.upload(session)?,
            scopes: if s.variant == "scopes" { Some(Scopes::new(session, s.counting, s.size)?) } else { None },
        })
    }

    fn write(&self, session: &Session, inputs: &Inputs) -> Result<()> {
        session.write(&self.bytes, &inputs.bytes)?;
        session.write(&self.inputs[0], &inputs.pictures[0])?;
        session.write(&self.inputs[1], &inputs.pictures[1])?;
        session.write(&self.picture, &inputs.eight.pixels)
    }

    fn launch(&self, device: &Device<'_>, s: &Setting, i: u32) -> Result<()> {
        let (w, h) = (s.size.0 as i32, s.size.1 as i32);
        let [a, b] = &self.inputs;
        match s.variant {
            "convert" => convert(device, &s.shape, &self.bytes, &self.out),
            "deinterlace" => deinterlace(device, &s.shape, s.method, &self.bytes, &self.out_bytes),
            "transform" => {
                let (sw, sh, m) = (s.shape.w as i32, s.shape.h as i32, s.matrix(i).0);
                let args = args![a, &self.out, sw, sh, w, h, m[0], m[1], m[2], m[3], m[4], m[5]];
                device.cover("transform", "video_transform", args, s.size)
            }
            "colour" => device.cover("colour", "video_colour", args![a, &self.out, &self.grade, w, h], s.size),
            "contrast" => {
                let args = args![a, &self.out, LEVELS.contrast, LEVELS.offset(), w, h];
                device.cover("contrast", "video_contrast", args, s.size)
            }
            // In place: `after` writes the picture below anew.
            "blend" => device.cover("blend", "video_blend", args![a, b, s.mode as i32, 0.85f32, w, h], s.size),
            "dissolve" => device.cover("transition", "video_dissolve", args![a, b, &self.out, s.done(i), w, h], s.size),
            "wipe" => wipe(device, [a, b, &self.out], &s.wipe(i), s.size),
            _ => self.scopes.as_ref().map_or(Ok(()), |scopes| scopes.show(device, &self.picture)),
        }
    }

    /// The picture that the device has made.
    fn picture(&self, session: &Session, s: &Setting) -> Result<Picture> {
        let (w, h) = s.size;
        Ok(match s.variant {
            "convert" => eight_bits(&Image::of_floats(s.shape.w, s.shape.h, &session.read(&self.out)?)),
            "deinterlace" => eight_bits(&reference::convert(&s.shape, &session.read(&self.out_bytes)?)),
            "scopes" => as_picture(session.read(&self.picture)?, s.size),
            "blend" => eight_bits(&Image::of_floats(w, h, &session.read(&self.inputs[0])?)),
            _ => eight_bits(&Image::of_floats(w, h, &session.read(&self.out)?)),
        })
    }

    fn judge(&self, session: &Session, s: &Setting, inputs: &Inputs, i: u32) -> Result<(Verdict, Answer)> {
        let (w, h) = s.size;
        let read = |b: &Buffer<f32>| session.read(b);
        if s.variant == "scopes" {
            let Some(scopes) = &self.scopes else { return Err(Error::Params("no scopes".into())) };
            let (got, want) = (scopes.read(session)?, scopes::count(&inputs.eight));
            let mut drawn = inputs.eight.clone();
            scopes::draw(&mut drawn, &want);
            let shown = as_picture(session.read(&self.picture)?, s.size);
            let n = want.waveform.len() + want.histogram.len() + want.colours.len();
            let verdict =
                same_or(got == want, "the counts differ from the reference").map_or_else(Verdict::Failed, |()| {
                    match same_picture(&shown, &drawn) {
                        Verdict::Passed(how) => Verdict::Passed(format!("all {n} counts and {how}")),
                        failed => failed,
                    }
                });
            let words = [got.waveform, got.histogram, got.colours, shown.pixels].concat();
            return Ok((verdict, Answer::Exact(words)));
        }
        if s.variant == "deinterlace" {
            let got = session.read(&self.out_bytes)?;
            let keep = s.shape.field.unwrap_or(0);
            let want = reference::deinterlace(&s.shape, &inputs.bytes, keep, METHODS[s.method]);
            let words = got.iter().map(|&b| u32::from(b)).collect();
            return Ok((same(&got, &want, "bytes"), Answer::Exact(words)));
        }
        let (sw, sh) = (s.shape.w, s.shape.h);
        let first = || Image::of_floats(w, h, &inputs.pictures[0]);
        let second = || Image::of_floats(w, h, &inputs.pictures[1]);
        // A few roundings of numbers up to two.
        let mut errors = vec![2e-6; w * h];
        let want = match s.variant {
            "convert" => {
                errors = vec![2e-6; sw * sh];
                reference::convert(&s.shape, &inputs.bytes)
            }
            "transform" => {
                let (image, of) =
                    reference::transform(&Image::of_floats(sw, sh, &inputs.pictures[0]), &s.matrix(i), s.size);
                errors = of;
                image
            }
            "colour" => {
                // powr may err by 16 units in the last place, its argument by three roundings.
                let image = first();
                errors = image.pixels.iter().map(|&p| reference::colour_error(p, &s.grade, 5e-7) + 4e-6).collect();
                image.map(|p| reference::colour(p, &s.grade))
            }
            "contrast" => first().map(|p| reference::contrast(p, &LEVELS)),
            "blend" => {
                errors.fill(5e-6);
                first().with(&second(), |b, t| reference::blend(b, t, MODES[s.mode], f64::from(0.85f32)))
            }
            "dissolve" => {
                let share = f64::from(s.done(i));
                first().with(&second(), |a, b| reference::dissolve(a, b, share))
            }
            _ => {
                // The distance errs by a few units of one, the sharpness makes them more.
                errors.fill(1e-6 * f64::from(s.wipe(i).sharpness));
                reference::wipe(&first(), &second(), &s.wipe(i))
            }
        };
        let got = read(if s.variant == "blend" { &self.inputs[0] } else { &self.out })?;
        let want: Vec<f64> = want.pixels.into_iter().flatten().collect();
        let verdict = close(&got, &want, |i| errors[i / 4], "values");
        Ok((verdict, Answer::close(got, |i| 2.0 * errors[i / 4])))
    }
}

/// The program that an effect's kernel comes in.
pub fn program_of(variant: &str) -> (&'static str, &'static str) {
    match variant {
        "convert" => ("convert", "video_convert"),
        "transform" => ("transform", "video_transform"),
        "colour" => ("colour", "video_colour"),
        "contrast" => ("contrast", "video_contrast"),
        "blend" => ("blend", "video_blend"),
        "dissolve" => ("transition", "video_dissolve"),
        "wipe" => ("transition", "video_wipe"),
        "deinterlace" => ("deinterlace", DEINTERLACE[0]),
        _ => ("scopes", "video_scopes_own"),
    }
}

/// Bytes that an effect reads and writes.
fn moved(s: &Setting) -> usize {
    let (own, pixels) = (s.shape.w * s.shape.h, s.size.0 * s.size.1);
    match s.variant {
        "convert" => s.shape.bytes() + 16 * own,
        "deinterlace" => 2 * s.shape.bytes(),
        "transform" => 16 * (own + pixels),
        "colour" | "contrast" => 32 * pixels,
        "scopes" => 4 * pixels,
        _ => 48 * pixels,
    }
}

pub fn run(session: &Session, params: &Params, variant: &'static str) -> Result<Outcome> {
    let size = super::film::size(params, (1920, 1080))?;
    session.fits::<f32>(4 * size.0 * size.1)?;
    roomy(session, 6 * size.0 * size.1)?;
    let tile = tile(params)?;
    let start = |name: &str, interlaced: bool, skip: usize| -> Result<Stream> {
        Ok(Stream::start(open(name, Path::new(""), size, RATE, interlaced)?, skip))
    };
    let interlaced = variant == "deinterlace";
    let first = match &params.input {
        Some(path) => {
            params.observer.reads_input();
            start(&path.to_string_lossy(), interlaced, 0)?
        }
        None => start(if interlaced { "scene:city" } else { "scene:coast" }, interlaced, 100)?,
    };
    let second = start(if variant == "blend" { "scene:lanterns" } else { "scene:city" }, false, 100)?;
    let setting = Setting::new(variant, params, first.shape, size)?;
    session.fits::<f32>(4 * first.shape.w * first.shape.h)?;
    roomy(session, 6 * first.shape.w * first.shape.h)?;
    std::thread::scope(|scope| {
        let program = program_of(variant).0;
        let device = Device::new(session, session.build_in_background(scope, jobs(&[program])), tile)?;
        let mut feed = Feed { streams: [first, second], setting };
        let inputs = feed.inputs().map_err(|why| Error::Params(format!("no frame at all: {why}")))?;
        let buffers = Buffers::new(session, &inputs, &feed.setting)?;
        buffers.write(session, &inputs)?;
        device.need(program)?;
        let state = RefCell::new((feed, inputs, None::<String>));
        let times = session.measure_and(
            params.iterations,
            |i| {
                buffers.launch(&device, &state.borrow().0.setting, i)?;
                device.queue.finish()?;
                Ok(state.borrow().2.is_none())
            },
            |i| {
                let (feed, inputs, cut) = &mut *state.borrow_mut();
                // What ran once more on the last frame is no frame of the film.
                if cut.is_none() {
                    params.observer.frame(|| buffers.picture(session, &feed.setting))?;
                }
                params.observer.progress(i as usize + 1, params.iterations as usize)?;
                if i + 1 == params.iterations || cut.is_some() {
                    return Ok(());
                }
                match feed.inputs() {
                    Ok(next) => {
                        *inputs = next;
                        buffers.write(session, inputs)?;
                    }
                    Err(why) => {
                        // One more iteration runs, on what there is.
                        buffers.write(session, inputs)?;
                        *cut = Some(why);
                    }
                }
                Ok(())
            },
        )?;
        let (feed, inputs, cut) = state.into_inner();
        let last = times.wall.len() as u32 - 1;
        let (verdict, answer) = buffers.judge(session, &feed.setting, &inputs, last)?;
        let median = times.median();
        let mut notes = vec![
            real_time(median, RATE),
            format!("{:.0} streams of this size in real time", (1.0 / (median.as_secs_f64() * RATE)).floor()),
        ];
        notes.extend(cut.map(|why| format!("the run ends here: {why}")));
        let setting = &feed.setting;
        let (w, h) = setting.size;
        Ok(Outcome {
            variant,
            size: match variant {
                "transform" => format!("{}x{} to {w}x{h}", setting.shape.w, setting.shape.h),
                "convert" | "deinterlace" => format!("{}x{}", setting.shape.w, setting.shape.h),
                _ => format!("{w}x{h}"),
            },
            build: device.build.get(),
            times,
            work: Some(Work::new((w * h) as f64, "pixel").moving(moved(setting))),
            verdict,
            answer,
            picture: Some(buffers.picture(session, setting)?),
            chart: None,
            notes,
        })
    })
}
