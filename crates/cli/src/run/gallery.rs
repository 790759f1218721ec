//! `run` with a program of the gallery: lists programs and variants, runs one, reports verdict and times.

use super::watch::Watch;
use super::{Options, supervise};
use crate::driver;
use crate::outcome::{Answer, Exit, Failure};
use crate::stats::{self, Summary};
use cloom_gallery::chart::Chart;
use cloom_gallery::{Observer, Outcome, Params, Picture, Program, Session, Verdict, film};
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Suffixes of single pictures; plots are written as both.
const STILLS: &[&str] = &["png", "svg"];

#[derive(Serialize)]
struct Listed {
    program: &'static str,
    about: &'static str,
    variants: Vec<Named>,
    knobs: &'static [&'static str],
}

#[derive(Serialize)]
struct Named {
    name: &'static str,
    about: &'static str,
}

fn listed(program: &dyn Program) -> Listed {
    let variants = program.variants().iter().map(|v| Named { name: v.name, about: v.about }).collect();
    Listed { program: program.name(), about: program.about(), variants, knobs: program.knobs() }
}

/// `-lk`
pub fn list_programs(json: bool) -> Result<Answer, Failure> {
    let all: Vec<Listed> = cloom_gallery::programs().iter().map(|p| listed(*p)).collect();
    if json {
        return Answer::json(&serde_json::json!({ "schema": "cloom-gallery/1", "programs": all }), Exit::Fine);
    }
    let mut text = String::new();
    let widest = all.iter().map(|p| p.about.len()).max().unwrap_or(0) + 2;
    for p in &all {
        let names: Vec<&str> = p.variants.iter().map(|v| v.name).collect();
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "{:<11}{:<widest$}{}", p.program, p.about, names.join(", "));
    }
    Ok(Answer::text(text, Exit::Fine))
}

/// `-lv`
pub fn list_variants(name: Option<&str>, json: bool) -> Result<Answer, Failure> {
    let chosen: Vec<Listed> = match name {
        Some(name) => vec![listed(cloom_gallery::program(name)?)],
        None => cloom_gallery::programs().iter().map(|p| listed(*p)).collect(),
    };
    if json {
        return Answer::json(&serde_json::json!({ "schema": "cloom-gallery/1", "programs": chosen }), Exit::Fine);
    }
    let mut text = String::new();
    for p in &chosen {
        let _ = writeln!(text, "{}: {}", p.program, p.about);
        for v in &p.variants {
            let _ = writeln!(text, "  -v {:<20}{}", v.name, v.about);
        }
        for knob in p.knobs {
            let _ = writeln!(text, "  -c {knob}");
        }
    }
    Ok(Answer::text(text, Exit::Fine))
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    program: &'a str,
    variant: &'a str,
    size: &'a str,
    platform: &'a str,
    device: &'a str,
    passed: bool,
    check: &'a str,
    build_ms: f64,
    first_ms: Option<f64>,
    /// All iterations.
    total_ms: Option<f64>,
    /// The other iterations, on the host's clock; `None` for a wrong result.
    wall: Option<Summary>,
    /// Their kernels alone, on the device's clock.
    kernels: Option<Summary>,
    rate: Option<f64>,
    unit: Option<&'a str>,
    picture: Option<String>,
    notes: &'a [String],
}

/// Runs a program.
pub fn run(options: &Options, name: &str) -> Result<Answer, Failure> {
    let program = cloom_gallery::program(name)
        .map_err(|e| Failure::wrong(format!("{e}; to run a kernel of a file, name the .cl file")))?;
    if options.range.is_some() || !options.file_kernel.build.is_empty() {
        return Err(Failure::wrong("--range and build options are for kernels of a file; -c has the program's knobs"));
    }
    if options.file_kernel.any() {
        return Err(Failure::wrong("--global and --local are for kernels of a file; use -s and -tw -th"));
    }
    let params = Params {
        variant: options.variant.clone(),
        size: options.size,
        tile_w: options.tile_w.or(options.tile_size),
        tile_h: options.tile_h.or(options.tile_size),
        iterations: options.iterations(),
        input: options.load_image.clone(),
        config: options.config.clone(),
        observer: Observer::default(),
    };
    // Wrong options are reported before a device is opened.
    program.variant(&params)?;
    let watch = watch(options)?;
    // The program tells the watch its frames and how far it is; the session asks the same one whether Ctrl-C was
    // pressed.
    let params = Params { observer: Observer::new(watch.clone()), ..params };
    let session = Session::open(&driver::choose(options.choice())?)?.cancelled_by(watch.until_interrupted());
    let session = session.observed_by(&params.observer);
    supervise::note(options, &format!("program {name}"), "");
    let ran = program.run(&session, &params);
    let shown = ran.as_ref().ok().and_then(|o| o.picture.clone().or_else(|| o.chart.as_ref().map(Chart::picture)));
    // Of several processes of a run, rank 0 alone reports; the others have done their part and say nothing.
    if matches!(ran, Err(cloom_gallery::Error::NotFirst { .. })) {
        return Ok(Answer::text("", Exit::Fine));
    }
    // Before the error of the run is looked at: a film that ends early is completed and can be played.
    let frames = watch.finish(shown.as_ref());
    let outcome = ran.map_err(|e| Failure::of_run(e, options.output.as_deref(), frames.as_ref().ok().copied()))?;
    if let Some(path) = options.load_image.as_ref().filter(|_| !params.observer.has_read_input()) {
        let way = outcome.variant;
        let why =
            format!("-l {}: {name} works on no picture with -v {way} and these knobs; leave it out", path.display());
        return Err(Failure::wrong(why));
    }
    let written = match frames? {
        0 => save(options, name, &outcome, shown.as_ref())?,
        _ => options.output.clone(),
    };
    report(options, name, &session, &outcome, written)
}

/// Who watches the run; refuses an output whose suffix is not known before anything runs.
fn watch(options: &Options) -> Result<Arc<Watch>, Failure> {
    if let Some(path) = &options.output {
        let suffix = film::suffix(path);
        if !film::is_film(path) && !STILLS.contains(&suffix.as_str()) {
            let known = [STILLS, film::SUFFIXES].concat().join(", ");
            return Err(Failure::wrong(format!("--output {}: give one of the suffixes {known}", path.display())));
        }
    }
    Ok(Arc::new(Watch::new(options.output.as_deref(), options.frame_rate)?))
}

fn save(options: &Options, name: &str, outcome: &Outcome, shown: Option<&Picture>) -> Result<Option<PathBuf>, Failure> {
    let path = match (&options.output, shown) {
        (Some(_), None) => return Err(Failure::wrong(format!("{name} makes no picture; leave --output out"))),
        (Some(path), _) => path.clone(),
        (None, None) => return Ok(None),
        (None, _) if options.no_display => return Ok(None),
        (None, _) => PathBuf::from(format!("{name}-{}.png", outcome.variant)),
    };
    // A plot is written as vectors if that is asked for; pixels cannot be.
    let written = match (&outcome.chart, shown) {
        (Some(chart), _) if film::suffix(&path) == "svg" => std::fs::write(&path, chart.svg(name, true))
            .map_err(|e| cloom_gallery::Error::File { path: path.clone(), why: e.to_string() }),
        (None, _) if film::suffix(&path) == "svg" => {
            return Err(Failure::wrong(format!("{name} makes a picture of pixels here, not a plot: choose .png")));
        }
        (_, Some(picture)) => picture.save(&path),
        (_, None) => Ok(()),
    };
    written.map_err(|e| Failure::wrong(format!("{e}; name another file with --output, or none with -n")))?;
    Ok(Some(path))
}

/// The first iteration, which also pays for what is compiled at the first launch, and the others.
fn split<T: Copy>(times: &[T]) -> (Option<T>, &[T]) {
    match times {
        [first, rest @ ..] if !rest.is_empty() => (Some(*first), rest),
        all => (None, all),
    }
}

fn report(
    options: &Options,
    name: &str,
    session: &Session,
    outcome: &Outcome,
    picture: Option<PathBuf>,
) -> Result<Answer, Failure> {
    let (passed, check) = match &outcome.verdict {
        Verdict::Passed(text) => (true, text),
        Verdict::Failed(text) => (false, text),
    };
    let exit = if passed { Exit::Fine } else { Exit::Findings };
    let (first, wall) = split(&outcome.times.wall);
    // A wrong result has no time.
    let wall = Summary::of(wall).filter(|_| passed);
    let first_ms = first.filter(|_| passed).map(|t| t.as_secs_f64() * 1e3);
    let total_ms = Some(outcome.times.wall.iter().sum::<Duration>().as_secs_f64() * 1e3).filter(|_| passed);
    let kernels = Summary::of(split(&outcome.times.device).1).filter(|k| passed && k.median_ms > 0.0);
    let rate = wall.zip(outcome.work).map(|(w, work)| work.amount / (w.median_ms / 1e3)).filter(|r| r.is_finite());
    let unit = outcome.work.map(|w| w.unit);
    let build_ms = outcome.build.as_secs_f64() * 1e3;
    let found = &session.found;
    if options.json {
        let document = Document {
            schema: "cloom-run/1",
            program: name,
            variant: outcome.variant,
            size: &outcome.size,
            platform: &found.platform,
            device: &found.device,
            passed,
            check,
            build_ms,
            first_ms,
            total_ms,
            wall,
            kernels,
            rate,
            unit,
            picture: picture.map(|p| p.display().to_string()),
            notes: &outcome.notes,
        };
        return Answer::json(&document, exit);
    }
    let mut text = String::new();
    let _ = writeln!(text, "{name} ({}), {}", outcome.variant, outcome.size);
    let mut row = |title: &str, value: String| {
        let _ = writeln!(text, "  {title:<10}{value}");
    };
    row("device", format!("{}, {}", found.platform, found.device));
    row("check", format!("{}: {check}", if passed { "passed" } else { "FAILED" }));
    row("build", stats::time(build_ms));
    if let Some(first) = first_ms {
        row("first", stats::time(first));
    }
    if let Some(wall) = wall {
        row("iteration", wall.to_string());
    }
    if let Some(kernels) = kernels {
        row("kernels", kernels.to_string());
    }
    if let Some(total) = total_ms {
        row("total", stats::time(total));
    }
    if let Some((rate, unit)) = rate.zip(unit) {
        row("rate", stats::rate(rate, unit));
    }
    for note in &outcome.notes {
        row("", note.clone());
    }
    if let Some(path) = picture {
        row("picture", path.display().to_string());
    }
    Ok(Answer::text(text, exit))
}
