//! The kernel of a whole frame, written for what the frame shows.
//!
//! In come a project and the number of a frame; out come the source of a kernel that takes every pixel through all
//! layers and effects without a picture in between, and the numbers that it reads. The source depends only on which
//! layers are shown and how, so that a film needs a few of them, which [`Plan::all`] names in the order of their first
//! frames. Apple's Core Image joins its filters' kernels like that.
//!
//! A clip comes in words of `video_unpack`, exact and a quarter of the size of float pixels. What is linear in a pixel
//! is done after four of them were mixed: conversion and contrast. The corrector is not, and is done on each of the
//! four; where a clip is larger than a quarter of what that would take, the clip is corrected before, pixel by pixel.

use super::effects::{Matrix, Place, WIPES, Wipe};
use super::project::{Effects, Layer, Project, Shown};
use super::source::Shape;
use crate::film::colour;
use std::fmt::Write;

/// What a kernel reads of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input {
    /// The words of a stream.
    Words(usize),
    /// Its pixels, after its effects.
    Pixels(usize),
}

/// The kernel of a frame.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// The kernel, without the functions that it calls.
    pub text: String,
    /// What it reads, in the order of its arguments.
    pub inputs: Vec<Input>,
    /// The numbers, at least one.
    pub numbers: Vec<f32>,
}

/// The functions of the steps.
const LIBRARY: &str = include_str!("../../../../kernels/video/frame.cl");
/// The functions of the blend modes, in the order of the kernels' numbers.
const BLEND: [&str; 8] = ["normal", "multiply", "screen", "overlay", "darken", "lighten", "add", "difference"];

impl Plan {
    /// The plan of a frame.
    pub fn of(project: &Project, shapes: &[Shape], size: (usize, usize), number: usize) -> Plan {
        // One number, for an empty project too: no buffer is empty.
        let mut w = Writer { project, shapes, size, body: String::new(), inputs: Vec::new(), numbers: vec![0.0] };
        for layer in &project.layers {
            if let Some(shown) = project.shown(layer, number) {
                w.layer(layer, &shown);
            }
        }
        w.body.push_str("    float4 whole = (float4)(below, 1.0f);\n");
        w.effects("whole", &project.adjustment);
        let mut text = String::from("\n__kernel void video_frame(");
        for input in &w.inputs {
            // Writing to a string does not fail.
            let _ = match input {
                Input::Words(i) => write!(text, "__global const uint *restrict words{i}, "),
                Input::Pixels(i) => write!(text, "__global const float4 *restrict pixels{i}, "),
            };
        }
        text.push_str(
            "__global uchar4 *restrict out, __constant float *p, int w, int h)\n{\n    \
             const int x = get_global_id(0), y = get_global_id(1);\n    \
             if (x >= w || y >= h)\n        return;\n\n    \
             const int i = y * w + x;\n    \
             float3 below = (float3)(0.0f);\n",
        );
        text.push_str(&w.body);
        text.push_str("    out[i] = convert_uchar4_sat_rte((float4)(whole.xyz, 1.0f) * 255.0f);\n}\n");
        Plan { text, inputs: w.inputs, numbers: w.numbers }
    }

    /// The different plans of so many frames from the project's first one on.
    pub fn all(project: &Project, shapes: &[Shape], size: (usize, usize), frames: usize) -> Vec<Plan> {
        let mut plans: Vec<Plan> = Vec::new();
        for number in project.changes(frames) {
            let plan = Plan::of(project, shapes, size, number);
            if !plans.iter().any(|known| known.text == plan.text) {
                plans.push(plan);
            }
        }
        plans
    }

    /// What is compiled.
    pub fn source(&self) -> String {
        format!("{LIBRARY}{}", self.text)
    }
}

/// A kernel that is being written.
struct Writer<'a> {
    project: &'a Project,
    shapes: &'a [Shape],
    size: (usize, usize),
    body: String,
    inputs: Vec<Input>,
    numbers: Vec<f32>,
}

impl Writer<'_> {
    /// Adds numbers; where they lie.
    fn put(&mut self, numbers: &[f32]) -> usize {
        self.numbers.extend(numbers);
        self.numbers.len() - numbers.len()
    }

    fn line(&mut self, text: &str) {
        self.body.push_str("    ");
        self.body.push_str(text);
        self.body.push('\n');
    }

    fn layer(&mut self, layer: &Layer, shown: &Shown) {
        let streams = [Some(shown.from), shown.to.map(|to| to.0)];
        let place = layer.place();
        // A box for both of a transition.
        let of = streams.iter().flatten().filter_map(|&s| touched(&place, self.clip(s), self.size));
        let Some(bounds) = of.reduce(|a, b| [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])]) else {
            return;
        };
        let (w, h) = (self.size.0 as f32, self.size.1 as f32);
        // A number and no literal: a layer that moves keeps its kernel.
        let at = self.put(&bounds);
        self.line(&if bounds == [0.0, 0.0, w, h] { "{".into() } else { format!("if (video_touches(p + {at})) {{") });
        self.sample("top", shown.from, &place);
        if let Some((to, kind, done)) = shown.to {
            self.sample("next", to, &place);
            if WIPES.contains(&kind) {
                let wipe = Wipe::new(kind, done, self.size);
                let at = self.put(&[f32::from(u8::from(wipe.round)), wipe.nx, wipe.ny, wipe.edge, wipe.sharpness]);
                self.line(&format!("top += video_wiped(x, y, w, h, p + {at}) * (next - top);"));
            } else {
                let at = self.put(&[done]);
                self.line(&format!("top += p[{at}] * (next - top);"));
            }
        }
        let at = self.put(&[layer.opacity]);
        self.line(&format!("below = video_{}(below, top, p[{at}]);", BLEND[layer.blend]));
        self.line("}");
    }

    fn clip(&self, stream: usize) -> (usize, usize) {
        (self.shapes[stream].w, self.shapes[stream].h)
    }

    /// A variable with the layer's pixel of a stream, after the stream's effects.
    fn sample(&mut self, name: &str, stream: usize, place: &Place) {
        let effects = self.project.streams[stream].effects.clone();
        let clip = self.clip(stream);
        let matrix = place.matrix(clip, self.size);
        let whole = clip == self.size && matrix == Place::WHOLE.matrix(clip, self.size);
        // The pixels of the layer, each with four corrections, against those of the clip.
        let scale = (matrix.0[0] * matrix.0[4] - matrix.0[1] * matrix.0[3]).abs();
        let before = effects.colour.is_some() && !whole && scale < 4.0;
        let input = if before { Input::Pixels(stream) } else { Input::Words(stream) };
        if !self.inputs.contains(&input) {
            self.inputs.push(input);
        }
        if !whole {
            let numbers = [&matrix.0[..], &[clip.0 as f32, clip.1 as f32]].concat();
            let at = self.put(&numbers);
            self.line(&format!("const Taps {name}_taps = video_taps(x, y, p + {at});"));
        }
        let four = |pixel: &dyn Fn(&str) -> String| {
            let each = ["x", "y", "z", "w"].map(|k| pixel(&format!("{name}_taps.at.{k}")));
            format!("video_sum({name}_taps.share, {})", each.join(",\n        "))
        };
        if before {
            self.line(&format!("float4 {name} = {};", four(&|at| format!("pixels{stream}[{at}]"))));
            return;
        }
        let m = colour::matrix(self.shapes[stream].full);
        let to_rgb = self.put(&[m.black, m.luma, m.parts[0], m.parts[1], m.parts[2], m.parts[3]]);
        let rgb = |word: String| format!("video_rgb({word}, p + {to_rgb})");
        let word = |at: &str| format!("video_word(words{stream}[{at}])");
        match (whole, &effects.colour) {
            (true, _) => {
                self.line(&format!("float4 {name} = {};", rgb(word("i"))));
                self.effects(name, &effects);
            }
            (false, None) => {
                self.line(&format!("float4 {name} = {};", rgb(four(&word))));
                self.effects(name, &effects);
            }
            (false, Some(corrector)) => {
                let grade = self.put(corrector.grade().0.as_flattened());
                let graded = |at: &str| format!("video_graded({}, p + {grade})", rgb(word(at)));
                self.line(&format!("float4 {name} = {};", four(&graded)));
                self.effects(name, &Effects { colour: None, ..effects });
            }
        }
    }

    /// Effects on a variable.
    fn effects(&mut self, name: &str, effects: &Effects) {
        if let Some(corrector) = &effects.colour {
            let at = self.put(corrector.grade().0.as_flattened());
            self.line(&format!("{name} = video_graded({name}, p + {at});"));
        }
        if let Some(levels) = &effects.contrast {
            let contrast = levels.contrast();
            let at = self.put(&[contrast.contrast, contrast.offset()]);
            self.line(&format!("{name} = video_contrasted({name}, p + {at});"));
        }
    }
}

/// The pixels of a picture that a clip at its place may touch: left, top, right and lower end.
fn touched(place: &Place, clip: (usize, usize), (w, h): (usize, usize)) -> Option<[f32; 4]> {
    let Matrix(m) = place.matrix(clip, (w, h));
    let [xx, xy, x0, yx, yy, y0] = m.map(f64::from);
    let det = xx * yy - xy * yx;
    // A pixel beyond the clip's ends is mixed with nothing.
    let corners = [-1.0, clip.0 as f64].map(|u| {
        [-1.0, clip.1 as f64].map(|v| (((u - x0) * yy - (v - y0) * xy) / det, ((v - y0) * xx - (u - x0) * yx) / det))
    });
    let corners = corners.as_flattened();
    let bounds = |of: &dyn Fn(&(f64, f64)) -> f64, side: usize| {
        let low = corners.iter().map(of).fold(f64::INFINITY, f64::min);
        let high = corners.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        // A pixel more on each side, for roundings.
        ((low.floor() - 1.0).clamp(0.0, side as f64) as f32, (high.ceil() + 2.0).clamp(0.0, side as f64) as f32)
    };
    let ((left, right), (top, bottom)) = (bounds(&|c| c.0, w), bounds(&|c| c.1, h));
    (left < right && top < bottom).then_some([left, top, right, bottom])
}

#[cfg(test)]
mod tests {
    use super::super::project::SAMPLE;
    use super::*;
    use std::path::Path;

    const SHAPE: Shape = Shape { w: 64, h: 36, shift_x: 1, shift_y: 1, left: false, full: false, field: None };

    #[test]
    fn a_film_needs_a_kernel_for_each_set_of_layers() {
        let project = Project::parse(SAMPLE, Path::new("sample.toml")).unwrap();
        let plans = |frames| Plan::all(&project, &[SHAPE; 4], (64, 36), frames);
        // The sample starts in a transition, which has an end.
        assert_eq!(plans(1).len(), 1);
        assert_eq!(plans(1)[0].inputs.len(), 4);
        assert_eq!(plans(400).len(), 2);
        let (first, later) =
            (Plan::of(&project, &[SHAPE; 4], (64, 36), 100), Plan::of(&project, &[SHAPE; 4], (64, 36), 110));
        assert_eq!(first.text, later.text);
        assert_ne!(first.numbers, later.numbers, "the dissolve has gone on");
    }

    #[test]
    fn a_box_holds_all_that_a_clip_touches() {
        let (clip, size) = ((40, 30), (64, 36));
        for rotation in [0.0, 4.0, 123.0] {
            for position in [[0.5, 0.5], [0.1, 0.9], [1.2, 0.5]] {
                let place = Place { position, scale: 0.4, rotation };
                let m = place.matrix(clip, size).0.map(f64::from);
                let bounds = touched(&place, clip, size);
                for (x, y) in (0..36).flat_map(|y| (0..64).map(move |x| (x, y))) {
                    let (px, py) = (f64::from(x), f64::from(y));
                    let (u, v) = (m[0] * px + m[1] * py + m[2], m[3] * px + m[4] * py + m[5]);
                    if u > -1.0 && u < 40.0 && v > -1.0 && v < 30.0 {
                        let [l, t, r, b] = bounds.unwrap();
                        let (x, y) = (x as f32, y as f32);
                        assert!(x >= l && x < r && y >= t && y < b, "{place:?}: {x} {y} of {bounds:?}");
                    }
                }
            }
        }
        let far = Place { position: [9.0, 0.5], ..Place::WHOLE };
        assert_eq!(touched(&far, clip, size), None);
    }
}
