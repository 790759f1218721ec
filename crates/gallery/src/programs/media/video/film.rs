//! The variant `stack`: a film of a project, frame by frame, while threads decode what comes next.
//!
//! In comes a project, out come frames. An iteration is a frame: with two queues the next frame's bytes go up while
//! this one is worked on. Programs are compiled on another thread; the first frame is rendered once before the
//! measurement, to learn how long an editor would wait for it.

use super::device::Device;
use super::fused::Plan;
use super::project::{Project, SAMPLE};
use super::scopes;
use super::source::{MAX_SIDE, Next, Stream, open};
use super::stack::{Passes, Stack};
use super::{as_picture, real_time, roomy, same_or, tile};
use crate::cl::{Session, Times};
use crate::error::{Error, Result};
use crate::params::Params;
use crate::picture::Picture;
use crate::program::{Answer, Outcome, Verdict, Work, close, same_picture};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The project that the knob names, or the sample.
pub fn project(params: &Params) -> Result<(Project, PathBuf)> {
    let (mut project, folder) = match params.text("project") {
        Some(path) => {
            let path = Path::new(path);
            let text = std::fs::read_to_string(path)
                .map_err(|e| Error::File { path: path.to_owned(), why: format!("{e}; give a project in TOML") })?;
            (Project::parse(&text, path)?, path.parent().map(Path::to_owned).unwrap_or_default())
        }
        None => (Project::parse(SAMPLE, Path::new("sample.toml"))?, PathBuf::new()),
    };
    if let Some(input) = &params.input {
        params.observer.reads_input();
        // Resolved here, for it has nothing to do with the project's folder.
        let input = std::path::absolute(input).map_err(|e| Error::File { path: input.clone(), why: e.to_string() })?;
        project.streams[0].source = input.to_string_lossy().into_owned();
    }
    Ok((project, folder))
}

/// The picture's size.
pub fn size(params: &Params, default: (usize, usize)) -> Result<(usize, usize)> {
    let (w, h) = params.size_or(default.0, default.1)?;
    if w > MAX_SIDE || h > MAX_SIDE {
        return Err(Error::Params(format!("-s {w}x{h}: the sides of a film go up to {MAX_SIDE}")));
    }
    Ok((w, h))
}

/// The streams' frames, one after the other.
struct Feed {
    streams: Vec<Stream>,
    names: Vec<String>,
    /// What each showed last: it stays when the stream is over.
    last: Vec<Vec<u8>>,
    notes: Vec<String>,
    waited: Duration,
    /// Why there is no next frame.
    cut: Option<String>,
}

impl Feed {
    /// The next frame of every stream, in the memory of frames that are done with, unless one of them broke off.
    fn next(&mut self, mut memory: Vec<Vec<u8>>) -> Option<Vec<Vec<u8>>> {
        let start = Instant::now();
        for i in 0..self.streams.len() {
            let was_over = self.streams[i].over;
            match self.streams[i].next() {
                Next::Frame(bytes) => {
                    self.streams[i].done_with(std::mem::replace(&mut self.last[i], bytes));
                }
                Next::End if self.last[i].is_empty() => {
                    self.cut = Some(format!("{}: it has no frame", self.names[i]));
                }
                Next::End if !was_over => {
                    let n = self.streams[i].taken;
                    self.notes.push(format!("{} ends after {n} frames; its last one stays", self.names[i]));
                }
                Next::End => {}
                Next::Cut(why) => self.cut = Some(format!("{}: {why}", self.names[i])),
            }
        }
        self.waited += start.elapsed();
        // Into the vectors that are there: no allocation for a frame.
        memory.clone_from(&self.last);
        self.cut.is_none().then_some(memory)
    }
}

pub fn run(session: &Session, params: &Params) -> Result<Outcome> {
    let begin = Instant::now();
    let overlap = params.number("queues", 2, 1..=2)? == 2;
    let compile = params.choice("compile", &["background", "before"])?;
    let passes = params.choice_of("passes", &[("one", Passes::One), ("each", Passes::Each)])?.1;
    let (project, folder) = project(params)?;
    let [pw, ph] = project.size.unwrap_or([1920, 1080]);
    let size = size(params, (pw, ph))?;
    session.fits::<f32>(4 * size.0 * size.1)?;
    let tile = tile(params)?;
    let open = |s: &super::project::Stream| open(&s.source, &folder, size, f64::from(project.rate), s.interlaced);
    let sources = project.streams.iter().map(open).collect::<Result<Vec<_>>>()?;
    let shapes: Vec<_> = sources.iter().map(|s| s.shape()).collect();
    roomy(session, 5 * size.0 * size.1 + 2 * shapes.iter().map(|s| s.w * s.h).sum::<usize>())?;
    let frames = (params.iterations as usize).min(project.length - project.start);
    let plans = if passes == Passes::One { Plan::all(&project, &shapes, size, frames) } else { Vec::new() };
    let jobs = Stack::jobs(&project, &plans, passes);
    let programs: Vec<String> = jobs.iter().map(|j| j.name.to_string()).collect();
    std::thread::scope(|scope| {
        let device = Device::new(session, session.build_in_background(scope, jobs), tile)?;
        if compile == "before" {
            programs.iter().try_for_each(|name| device.need(name))?;
        }
        let mut feed = Feed {
            streams: Vec::new(),
            names: project.streams.iter().map(|s| s.name.get_ref().clone()).collect(),
            last: vec![Vec::new(); project.streams.len()],
            notes: Vec::new(),
            waited: Duration::ZERO,
            cut: None,
        };
        for (i, (source, s)) in sources.into_iter().zip(&project.streams).enumerate() {
            // A film that the user puts in the place of a stream begins where the rendering does.
            let own = params.input.is_some() && i == 0;
            feed.streams.push(Stream::start(source, if own { 0 } else { s.first + project.start }));
        }
        let stack = Stack::new(session, project.clone(), &plans, &shapes, scopes::counting(params)?, size)?;
        film(&device, params, Setting { project, stack, size, overlap, passes }, feed, &programs, begin)
    })
}

/// What is rendered, and how.
struct Setting {
    project: Project,
    stack: Stack,
    size: (usize, usize),
    overlap: bool,
    passes: Passes,
}

fn film(
    device: &Device<'_>,
    params: &Params,
    Setting { project, stack, size, overlap, passes }: Setting,
    mut feed: Feed,
    programs: &[String],
    begin: Instant,
) -> Result<Outcome> {
    let session = device.session;
    let (start, rate) = (project.start, f64::from(project.rate));
    let of = (params.iterations as usize).min(project.length - start);
    let (layers, streams) = (project.layers.len(), feed.streams.len());

    let Some(first) = feed.next(Vec::new()) else {
        return Err(Error::Params(format!("no frame at all: {}", feed.cut.unwrap_or_default())));
    };
    let mut now = first;
    for transfer in stack.upload(&device.queue, 0, now.clone())? {
        transfer.wait()?;
    }
    stack.launch(device, 0, start, passes)?;
    device.queue.finish()?;
    let first_frame = begin.elapsed();
    let waited = device.waited();
    // What frame `start` does not need may still be on its way.
    programs.iter().try_for_each(|name| device.need(name))?;
    session.forget();
    device.times()?;

    let uploads = session.queue()?;
    let mut next = feed.next(Vec::new());
    let (mut effects, mut uploading): (Vec<(String, Duration)>, Duration) = Default::default();
    let done = RefCell::new(0);
    let state = RefCell::new((&mut now, &mut next, &mut feed));
    let times = session.measure_and(
        params.iterations,
        |i| {
            let i = i as usize;
            let (now, next, _) = &mut *state.borrow_mut();
            let place = i % 2;
            // Whose bytes go up comes back when they are there. With two queues that is the next frame, while this one
            // is worked on: it went up with the one before.
            let last = next.is_none();
            let frames = match (overlap, next.take()) {
                (true, Some(frames)) => frames,
                (true, None) => now.clone(),
                (false, later) => {
                    **next = later;
                    std::mem::take(*now)
                }
            };
            let (queue, to) = if overlap { (&uploads, place + 1) } else { (&device.queue, place) };
            let transfers = stack.upload(queue, to, frames)?;
            queue.flush()?;
            stack.launch(device, place, start + i, passes)?;
            device.queue.finish()?;
            let mut back = Vec::new();
            for transfer in transfers {
                // `wait` takes the transfer and gives back its memory.
                let event = transfer.done().clone();
                back.push(transfer.wait()?);
                let (from, to) = event.span()?;
                uploading += to.saturating_sub(from);
            }
            match (overlap, last) {
                (true, false) => **next = Some(back),
                (true, true) => {}
                (false, _) => **now = back,
            }
            *done.borrow_mut() = i + 1;
            Ok(next.is_some() && i + 1 < of)
        },
        |i| {
            add_times(&mut effects, device.times()?);
            params.observer.frame(|| Ok(as_picture(session.read(&stack.picture)?, size)))?;
            params.observer.progress(i as usize + 1, of)?;
            if (i as usize + 1) < of {
                let (now, next, feed) = &mut *state.borrow_mut();
                if let Some(frames) = next.take() {
                    let memory = std::mem::replace(*now, frames);
                    **next = feed.next(memory);
                }
            }
            Ok(())
        },
    )?;
    let done = done.into_inner();
    let number = start + done - 1;
    let picture = as_picture(session.read(&stack.picture)?, size);
    let counts = stack.scopes.read(session)?;
    stack.clean(device, number, passes)?;
    device.queue.finish()?;
    let clean = as_picture(session.read(&stack.picture)?, size);
    // What the effects' own kernels make of the same frame.
    let unfused = if passes == Passes::One {
        stack.unfused(device, done - 1, number)?;
        device.queue.finish()?;
        Some(as_picture(session.read(&stack.picture)?, size))
    } else {
        None
    };
    session.forget();
    let (want, errors) = stack.reference(&now, number);
    let (verdict, answer) = judge(&clean, unfused.as_ref(), &picture, &counts, &want.pixels, &errors);

    let measured = Measured { first_frame, waited, uploading, effects, done, of };
    let notes = measured.tell(params, &times, feed, (layers, rate, programs.len()));
    Ok(Outcome {
        variant: "stack",
        size: format!("{}x{}, {streams} streams", size.0, size.1),
        build: device.build.get(),
        times,
        work: Some(Work::new((size.0 * size.1) as f64, "pixel").moving(stack.moved(number, passes))),
        verdict,
        answer,
        picture: Some(picture),
        chart: None,
        notes,
    })
}

/// Adds the times of effects to their sums.
fn add_times(sums: &mut Vec<(String, Duration)>, times: Vec<(String, Duration)>) {
    for (name, time) in times {
        match sums.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += time,
            None => sums.push((name, time)),
        }
    }
}

/// What was measured of a film, beside the times of its frames.
struct Measured {
    first_frame: Duration,
    /// For programs that were still being compiled.
    waited: Duration,
    uploading: Duration,
    effects: Vec<(String, Duration)>,
    /// Frames that were made, of how many.
    done: usize,
    of: usize,
}

impl Measured {
    fn tell(
        self,
        params: &Params,
        times: &Times,
        mut feed: Feed,
        (layers, rate, programs): (usize, f64, usize),
    ) -> Vec<String> {
        let median = times.median();
        let mut notes = vec![
            real_time(median, rate),
            format!(
                "{} streams in {layers} layers, with adjustment and scopes: {:.1} streams of this size in real time",
                feed.streams.len(),
                feed.streams.len() as f64 / (median.as_secs_f64() * rate)
            ),
        ];
        let each = |time: Duration| time.as_secs_f64() * 1e3 / self.done as f64;
        let kernels: Duration = self.effects.iter().map(|(_, time)| *time).sum();
        let list: Vec<String> = self.effects.iter().map(|(name, time)| format!("{name} {:.2}", each(*time))).collect();
        notes.push(format!("ms a frame on the device's clock: {}", list.join(", ")));
        let wall: Duration = times.wall.iter().sum();
        notes.push(format!(
            "{}: uploads {:.2} ms and kernels {:.2} ms a frame took {:.2} ms together",
            if params.text("queues") != Some("1") { "two queues" } else { "one queue" },
            each(self.uploading),
            each(kernels),
            each(wall)
        ));
        notes.push(format!(
            "first frame after {:.0} ms, of which {:.0} ms waiting for {} programs ({})",
            self.first_frame.as_secs_f64() * 1e3,
            self.waited.as_secs_f64() * 1e3,
            programs,
            if params.text("compile") == Some("before") { "compiled before" } else { "compiled in the background" }
        ));
        let decoding: Duration = feed.streams.iter().map(|s| s.decoding).sum();
        notes.push(format!(
            "decoding {:.1} ms a frame on {} threads; the film waited {:.1} ms a frame for it",
            decoding.as_secs_f64() * 1e3 / feed.streams.first().map_or(1, |s| s.taken.max(1)) as f64,
            feed.streams.len(),
            feed.waited.as_secs_f64() * 1e3 / self.done as f64
        ));
        notes.append(&mut feed.notes);
        if let Some(why) = feed.cut.filter(|_| self.done < self.of) {
            notes.push(format!("the film ends after {} frames: {why}", self.done));
        } else if self.of < params.iterations as usize {
            notes.push(format!("the project ends after {} frames", self.of));
        }
        notes
    }
}

/// The 8-bit picture against the reference's, the scopes against counts of that very picture.
fn judge(
    clean: &Picture,
    unfused: Option<&Picture>,
    shown: &Picture,
    counts: &scopes::Counts,
    want: &[[f64; 4]],
    errors: &[f64],
) -> (Verdict, Answer) {
    let levels = |p: &Picture| -> Vec<f32> { p.pixels.iter().flat_map(|p| p.to_le_bytes().map(f32::from)).collect() };
    let got = levels(clean);
    let want: Vec<f64> = want.iter().flat_map(|p| p.map(|v| (255.0 * v).clamp(0.0, 255.0))).collect();
    // Half a level for the rounding.
    let limit = |i: usize| 0.5 + 255.0 * errors[i / 4];
    let picture = close(&got, &want, limit, "levels");
    let same_frame =
        unfused.map_or_else(|| Ok(String::new()), |other| fused_equals(&got, &levels(other), &want, limit));
    let mine = scopes::count(clean);
    let mut drawn = clean.clone();
    scopes::draw(&mut drawn, &mine);
    let verdict = same_or(counts == &mine, "the scopes' counts differ from those of the picture")
        .and_then(|()| match same_picture(shown, &drawn) {
            Verdict::Failed(why) => Err(format!("the scopes' drawing: {why}")),
            Verdict::Passed(_) => Ok(()),
        })
        .and(same_frame)
        .map_or_else(Verdict::Failed, |same| match picture {
            Verdict::Passed(how) => Verdict::Passed(format!("{how}; all counts of the scopes equal{same}")),
            failed => failed,
        });
    (verdict, Answer::close(got, |i| 2.0 * limit(i)))
}

/// Whether one kernel makes the same picture as the effects' own do. Both round the same value within the errors of
/// single precision, so that they differ by one level where that value lies between two, and nowhere else.
fn fused_equals(
    one: &[f32],
    each: &[f32],
    want: &[f64],
    limit: impl Fn(usize) -> f64,
) -> std::result::Result<String, String> {
    if let Verdict::Failed(why) = close(each, want, &limit, "levels") {
        return Err(format!("the effects' own kernels: {why}"));
    }
    let mut differ = 0;
    for (i, (&a, &b)) in one.iter().zip(each).enumerate() {
        // The exact value is so near to a half that single precision may round it either way.
        let between = (want[i].fract() - 0.5).abs() <= limit(i) - 0.5;
        if a != b && (!between || (a - b).abs() > 1.0) {
            return Err(format!("value {i}: one kernel gives {a}, the effects' own {b}, the reference {}", want[i]));
        }
        differ += usize::from(a != b);
    }
    Ok(format!("; as the effects' own kernels, but {differ} of {} values, one level beside", one.len()))
}
