//! The project of an editor: a text in TOML that names streams, layers with their places, effects and transitions, and
//! the film's size, rate and length.
//!
//! In comes the text; out comes a [`Project`] whose references and ranges hold. An error names the line.

use super::effects::{Contrast, Grade, METHODS, MODES, Place, WIPES};
use crate::error::{Error, Result};
use serde::de::{Deserialize, Deserializer, Error as _};
use std::path::Path;
use toml::Spanned;

/// The project that is rendered when none is named.
pub const SAMPLE: &str = include_str!("../../../../assets/sample.toml");
/// Streams and layers that a project may have: each stream takes some hundred megabytes at HD.
const MAX_STREAMS: usize = 16;
/// Frames of a film, at most: a day and more.
const LONGEST: usize = 10_000_000;

/// A project as it is written.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Project {
    /// Width and height.
    pub size: Option<[usize; 2]>,
    /// Frames a second.
    #[serde(deserialize_with = "within::<100, 24000, _>")]
    pub rate: f32,
    /// How many frames the film has.
    pub length: usize,
    /// The first one that is rendered.
    #[serde(default)]
    pub start: usize,
    /// What is shown.
    #[serde(rename = "stream")]
    pub streams: Vec<Stream>,
    /// Where, the lowest first.
    #[serde(rename = "layer")]
    pub layers: Vec<Layer>,
    /// Effects on all of it.
    #[serde(default)]
    pub adjustment: Effects,
}

/// A film and the effects on it.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Stream {
    pub name: Spanned<String>,
    pub source: String,
    /// The in point: the first frame that is used.
    #[serde(default, rename = "in")]
    pub first: usize,
    /// A scene is drawn in two fields.
    #[serde(default)]
    pub interlaced: bool,
    #[serde(default, deserialize_with = "method")]
    pub deinterlace: Option<usize>,
    #[serde(default)]
    pub effects: Effects,
}

/// The effects on a stream or on all.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Effects {
    pub colour: Option<Corrector>,
    pub contrast: Option<Levels>,
}

/// The three-way corrector.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Corrector {
    shadows: Way,
    midtones: Way,
    highlights: Way,
}

/// One way of it.
#[derive(Clone, Copy, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Way {
    #[serde(deserialize_with = "each::<-100, 100, 3, _>")]
    lift: [f32; 3],
    #[serde(deserialize_with = "each::<20, 500, 3, _>")]
    gamma: [f32; 3],
    #[serde(deserialize_with = "each::<0, 800, 3, _>")]
    gain: [f32; 3],
}

impl Default for Way {
    fn default() -> Way {
        Way { lift: [0.0; 3], gamma: [1.0; 3], gain: [1.0; 3] }
    }
}

impl Corrector {
    pub fn grade(&self) -> Grade {
        let ways = [self.shadows, self.midtones, self.highlights];
        let [lift, gamma, gain] = [ways.map(|w| w.lift), ways.map(|w| w.gamma), ways.map(|w| w.gain)];
        Grade([lift[0], lift[1], lift[2], gamma[0], gamma[1], gamma[2], gain[0], gain[1], gain[2]])
    }
}

/// Brightness and contrast.
#[derive(Clone, Copy, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Levels {
    #[serde(default = "one", deserialize_with = "within::<0, 800, _>")]
    contrast: f32,
    #[serde(default, deserialize_with = "within::<-100, 100, _>")]
    brightness: f32,
}

impl Levels {
    pub fn contrast(&self) -> Contrast {
        Contrast { contrast: self.contrast, brightness: self.brightness }
    }
}

/// A stream's place in the picture.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Layer {
    pub stream: Spanned<String>,
    #[serde(default = "middle", deserialize_with = "each::<-1000, 1000, 2, _>")]
    position: [f32; 2],
    #[serde(default = "one", deserialize_with = "within::<1, 10000, _>")]
    scale: f32,
    #[serde(default, deserialize_with = "within::<-36000, 36000, _>")]
    rotation: f32,
    #[serde(default = "one", deserialize_with = "within::<0, 100, _>")]
    pub opacity: f32,
    /// The number of the mode.
    #[serde(default, deserialize_with = "mode")]
    pub blend: usize,
    /// The first frame in which it is seen.
    #[serde(default)]
    pub start: usize,
    /// In how many; to the end of the film where it does not say.
    pub length: Option<usize>,
    #[serde(default, rename = "transition")]
    pub transitions: Vec<Transition>,
}

/// From the stream before to another one.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Transition {
    pub to: Spanned<String>,
    #[serde(deserialize_with = "transition")]
    kind: Word,
    pub start: Spanned<usize>,
    pub length: usize,
}

/// One of the known words; a plain `&str` would borrow from the text.
#[derive(Clone, Copy, Debug)]
struct Word(&'static str);

/// What a layer shows in a frame: streams by their number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shown {
    pub from: usize,
    /// The stream that comes, how, and how much of it from 0 to 1.
    pub to: Option<(usize, &'static str, f32)>,
}

impl Layer {
    pub fn place(&self) -> Place {
        Place { position: self.position, scale: self.scale, rotation: self.rotation }
    }
}

fn one() -> f32 {
    1.0
}

fn middle() -> [f32; 2] {
    [0.5; 2]
}

fn checked<E: serde::de::Error>(v: f32, low: i32, high: i32) -> std::result::Result<f32, E> {
    let (low, high) = (low as f32 / 100.0, high as f32 / 100.0);
    if (low..=high).contains(&v) { Ok(v) } else { Err(E::custom(format!("{v}: give a number from {low} to {high}"))) }
}

/// A number within a range, which is given in hundredths.
fn within<'de, const LOW: i32, const HIGH: i32, D: Deserializer<'de>>(d: D) -> std::result::Result<f32, D::Error> {
    checked(f32::deserialize(d)?, LOW, HIGH)
}

fn each<'de, const LOW: i32, const HIGH: i32, const N: usize, D: Deserializer<'de>>(
    d: D,
) -> std::result::Result<[f32; N], D::Error> {
    let list = Vec::<f32>::deserialize(d)?;
    let count = list.len();
    let list: [f32; N] = list.try_into().map_err(|_| D::Error::custom(format!("{count} numbers, expected {N}")))?;
    list.iter().try_for_each(|&v| checked(v, LOW, HIGH).map(drop))?;
    Ok(list)
}

fn word<'de, D: Deserializer<'de>>(d: D, words: &[&'static str]) -> std::result::Result<usize, D::Error> {
    let word = String::deserialize(d)?;
    let found = words.iter().position(|w| *w == word);
    found.ok_or_else(|| D::Error::custom(format!("`{word}`: give one of {}", words.join(", "))))
}

fn mode<'de, D: Deserializer<'de>>(d: D) -> std::result::Result<usize, D::Error> {
    word(d, &MODES)
}

fn method<'de, D: Deserializer<'de>>(d: D) -> std::result::Result<Option<usize>, D::Error> {
    word(d, &METHODS).map(Some)
}

fn transition<'de, D: Deserializer<'de>>(d: D) -> std::result::Result<Word, D::Error> {
    let words: Vec<&'static str> = ["dissolve"].into_iter().chain(WIPES).collect();
    word(d, &words).map(|i| Word(words[i]))
}

impl Project {
    /// Reads a project; `name` is for errors.
    pub fn parse(text: &str, name: &Path) -> Result<Project> {
        let fail = |at: usize, why: String| {
            let line = text.as_bytes().iter().take(at).filter(|&&b| b == b'\n').count() + 1;
            Error::File { path: name.to_owned(), why: format!("line {line}: {why}") }
        };
        let parsed = toml::from_str::<Project>(text);
        let project = parsed.map_err(|e| fail(e.span().map_or(0, |s| s.start), e.message().replace('\n', "; ")))?;
        if project.streams.is_empty() || project.layers.is_empty() {
            return Err(fail(0, "a project has a [[stream]] and a [[layer]] at least".into()));
        }
        if project.streams.len() > MAX_STREAMS || project.layers.len() > MAX_STREAMS {
            return Err(fail(0, format!("at most {MAX_STREAMS} streams and {MAX_STREAMS} layers")));
        }
        if project.start >= project.length || project.length > LONGEST {
            return Err(fail(0, format!("a start of {} in a film of {} frames", project.start, project.length)));
        }
        for (i, stream) in project.streams.iter().enumerate() {
            let again = project.streams[..i].iter().any(|s| s.name.get_ref() == stream.name.get_ref());
            if again || stream.first > LONGEST {
                let why = if again { "there is a stream of this name" } else { "the in point is too far" };
                return Err(fail(stream.name.span().start, format!("`{}`: {why}", stream.name.get_ref())));
            }
        }
        for layer in &project.layers {
            let names = std::iter::once(&layer.stream).chain(layer.transitions.iter().map(|t| &t.to));
            for name in names {
                if project.stream(name.get_ref()).is_none() {
                    let known: Vec<&str> = project.streams.iter().map(|s| s.name.get_ref().as_str()).collect();
                    let why = format!("no stream `{}`; there are: {}", name.get_ref(), known.join(", "));
                    return Err(fail(name.span().start, why));
                }
            }
            let mut free = 0;
            for t in &layer.transitions {
                if *t.start.get_ref() < free || *t.start.get_ref() > LONGEST || t.length > LONGEST {
                    let why = "transitions of a layer follow each other, and none starts before the last one ends";
                    return Err(fail(t.start.span().start, why.into()));
                }
                free = t.start.get_ref() + t.length;
            }
        }
        Ok(project)
    }

    fn stream(&self, name: &str) -> Option<usize> {
        self.streams.iter().position(|s| s.name.get_ref() == name)
    }

    /// The frames from the start on, so many, in which something else is shown than before: layers or transitions. The
    /// start is the first of them.
    pub fn changes(&self, frames: usize) -> Vec<usize> {
        let of_layer = |l: &Layer| {
            let ends = [l.start, l.length.map_or(usize::MAX, |n| l.start.saturating_add(n))];
            let of_transitions = l.transitions.iter().flat_map(|t| [*t.start.get_ref(), t.start.get_ref() + t.length]);
            ends.into_iter().chain(of_transitions).collect::<Vec<_>>()
        };
        let range = self.start..self.start.saturating_add(frames);
        let mut list: Vec<usize> = self.layers.iter().flat_map(of_layer).filter(|n| range.contains(n)).collect();
        list.push(self.start);
        list.sort_unstable();
        list.dedup();
        list
    }

    /// What a layer shows in a frame.
    pub fn shown(&self, layer: &Layer, frame: usize) -> Option<Shown> {
        let end = layer.length.map_or(usize::MAX, |n| layer.start.saturating_add(n));
        if !(layer.start..end).contains(&frame) {
            return None;
        }
        let mut shown = Shown { from: self.stream(layer.stream.get_ref())?, to: None };
        for t in &layer.transitions {
            // In the order of the file, which `parse` has checked: a transition that is over has replaced the stream.
            let (start, to) = (*t.start.get_ref(), self.stream(t.to.get_ref())?);
            if frame >= start + t.length {
                shown.from = to;
            } else if frame >= start {
                // In the middle of the frame's time, so that the first and the last one show something of both.
                shown.to = Some((to, t.kind.0, ((frame - start) as f32 + 0.5) / t.length as f32));
            }
        }
        Some(shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Project> {
        Project::parse(text, Path::new("p.toml"))
    }

    const HEAD: &str = "rate = 25\nlength = 100\n[[stream]]\nname = 'a'\nsource = 'scene:city'\n[[stream]]\nname = 'b'\nsource = 'x.y4m'\n";

    #[test]
    fn the_sample_shows_four_streams_at_once() {
        let p = parse(SAMPLE).unwrap();
        let mut seen: Vec<usize> = p.layers.iter().filter_map(|l| p.shown(l, p.start)).map(|s| s.from).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 4);
        assert!(p.adjustment.colour.is_some());
    }

    #[test]
    fn transitions_lead_from_one_stream_to_the_next() {
        let text = format!(
            "{HEAD}[[layer]]\nstream = 'a'\nlength = 60\n[[layer.transition]]\nto = 'b'\nkind = 'iris'\nstart = 10\nlength = 4\n"
        );
        let p = parse(&text).unwrap();
        let at = |n| p.shown(&p.layers[0], n);
        assert_eq!(at(9), Some(Shown { from: 0, to: None }));
        assert_eq!(at(11), Some(Shown { from: 0, to: Some((1, "iris", 0.375)) }));
        assert_eq!(at(14), Some(Shown { from: 1, to: None }));
        assert_eq!(at(60), None);
    }

    #[test]
    fn errors_name_the_line() {
        let why = |text: &str| parse(text).err().map(|e| e.to_string()).unwrap_or_default();
        for (more, line, what) in [
            ("[[layer]]\nstream = 'c'", 10, "no stream `c`; there are: a, b"),
            ("[[layer]]\nstream = 'a'\nscale = -1", 11, "from 0.01 to 100"),
            ("[[layer]]\nstream = 'a'\nblend = 'burn'", 11, "normal, multiply"),
            ("[[layer]]\nstream = 'a'\nposition = [1]", 11, "expected 2"),
            ("[[layer]]\nstream = 'a'\nscael = 1", 11, "scael"),
            ("[[layer]]\nstream = 'a'\nscale = nan", 11, "NaN"),
            ("[[layer]\n", 9, ""),
            ("[[stream]]\nname = 'a'\nsource = 'x'\n[[layer]]\nstream = 'a'", 10, "of this name"),
        ] {
            let why = why(&format!("{HEAD}{more}\n"));
            assert!(why.contains(&format!("line {line}: ")) && why.contains(what), "{more}: {why}");
        }
        assert!(why("").contains("line 1"));
        assert!(why(HEAD).contains("layer"));
        assert!(why(&HEAD.replace("100", "0")).contains("layer"));
    }
}
