//! A frame of a project on the device, and the same in double precision.
//!
//! In come the bytes of each stream's frame. Every stream is converted and gets its effects; the layers are put on one
//! another; the adjustment layer changes what lies below; scopes are drawn on the 8-bit picture that comes out.

use super::device::{Device, jobs};
use super::effects::{Contrast, DEINTERLACE, Grade, METHODS, MODES, WIPES, Wipe};
use super::fused::{Input, Plan};
use super::project::{Effects, Project};
use super::reference::{self, Image};
use super::scopes::{Counting, Scopes};
use super::source::Shape;
use crate::args;
use crate::cl::background::Job;
use crate::cl::queue::{Queue, Transfer};
use crate::cl::{Arg, Buffer, Session};
use crate::error::{Error, Result};

/// Effects that change each pixel by itself, ready for the device.
struct Chain {
    colour: Option<(Grade, Buffer<f32>)>,
    contrast: Option<Contrast>,
}

impl Chain {
    fn new(session: &Session, effects: &Effects) -> Result<Chain> {
        let grade = effects.colour.map(|c| c.grade());
        let colour = match grade {
            Some(grade) => Some((grade, grade.upload(session)?)),
            None => None,
        };
        Ok(Chain { colour, contrast: effects.contrast.map(|c| c.contrast()) })
    }

    fn len(&self) -> usize {
        usize::from(self.colour.is_some()) + usize::from(self.contrast.is_some())
    }

    /// Runs them from the first of two buffers on, to and fro.
    fn run(&self, device: &Device<'_>, buffers: [&Buffer<f32>; 2], (w, h): (usize, usize)) -> Result<()> {
        let [mut from, mut to] = buffers;
        let (wi, hi) = (w as i32, h as i32);
        if let Some((_, grade)) = &self.colour {
            device.cover("colour", "video_colour", args![from, to, grade, wi, hi], (w, h))?;
            (from, to) = (to, from);
        }
        if let Some(c) = &self.contrast {
            device.cover("contrast", "video_contrast", args![from, to, c.contrast, c.offset(), wi, hi], (w, h))?;
        }
        Ok(())
    }

    fn reference(&self, image: Image) -> Image {
        let image = match &self.colour {
            Some((grade, _)) => image.map(|p| reference::colour(p, grade)),
            None => image,
        };
        match &self.contrast {
            Some(c) => image.map(|p| reference::contrast(p, c)),
            None => image,
        }
    }
}

/// A stream on the device.
struct Clip {
    shape: Shape,
    /// Bytes of two frames: one is worked on while the other one is uploaded.
    frames: [Buffer<u8>; 2],
    /// Where it is interlaced: the method, and the frame that is made of a field.
    field: Option<(usize, Buffer<u8>)>,
    /// A word a pixel: what the kernel of a whole frame reads.
    words: Buffer<u32>,
    pixels: Buffer<f32>,
    chain: Chain,
}

impl Clip {
    fn keep(&self) -> u32 {
        self.shape.field.unwrap_or(0)
    }

    /// The sides, as the kernels take them.
    fn size(&self) -> (usize, usize) {
        (self.shape.w, self.shape.h)
    }
}

/// A project on the device.
pub struct Stack {
    project: Project,
    shapes: Vec<Shape>,
    /// The kernels of whole frames, and what each one's program is called.
    plans: Vec<(String, String)>,
    numbers: Buffer<f32>,
    size: (usize, usize),
    clips: Vec<Clip>,
    /// As large as the largest stream: what effects on it need.
    spare: Buffer<f32>,
    base: Buffer<f32>,
    layers: [Buffer<f32>; 3],
    adjustment: Chain,
    pub picture: Buffer<u32>,
    pub scopes: Scopes,
}

/// How a frame is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passes {
    /// One kernel takes a pixel through all layers and effects.
    One,
    /// Each effect is a kernel, with pictures of floats in between.
    Each,
}

/// The program of a plan.
fn program_of(plan: usize) -> String {
    format!("frame {plan}")
}

/// Launches the conversion of a frame.
pub fn convert(device: &Device<'_>, shape: &Shape, from: &Buffer<u8>, to: &Buffer<f32>) -> Result<()> {
    let (w, h) = (shape.w as i32, shape.h as i32);
    let (left, full) = (i32::from(shape.left), i32::from(shape.full));
    let args = args![from, to, w, h, shape.shift_x as i32, shape.shift_y as i32, left, full];
    device.cover("convert", "video_convert", args, (shape.w, shape.h))
}

/// Launches the unpacking of a frame to words; a work-item makes two.
fn unpack(device: &Device<'_>, shape: &Shape, from: &Buffer<u8>, to: &Buffer<u32>) -> Result<()> {
    let (w, h, left) = (shape.w as i32, shape.h as i32, i32::from(shape.left));
    let args = args![from, to, w, h, shape.shift_x as i32, shape.shift_y as i32, left];
    device.cover("unpack", "video_unpack", args, (shape.w.div_ceil(2), shape.h))
}

/// Launches the deinterlacing of a frame, plane by plane.
pub fn deinterlace(
    device: &Device<'_>,
    shape: &Shape,
    method: usize,
    from: &Buffer<u8>,
    to: &Buffer<u8>,
) -> Result<()> {
    for (first, w, h) in shape.planes() {
        let args = args![from, to, w as i32, h as i32, first as i32, shape.field.unwrap_or(0) as i32];
        device.cover("deinterlace", DEINTERLACE[method], args, (w, h))?;
    }
    Ok(())
}

/// Launches a wipe.
pub fn wipe(device: &Device<'_>, [from, to, out]: [&Buffer<f32>; 3], p: &Wipe, (w, h): (usize, usize)) -> Result<()> {
    let round = i32::from(p.round);
    let args = args![from, to, out, round, p.nx, p.ny, p.edge, p.sharpness, w as i32, h as i32];
    device.cover("transition", "video_wipe", args, (w, h))
}

impl Stack {
    /// The programs that a project needs where each effect is one, in the order of the pipeline.
    pub fn programs(project: &Project) -> Vec<&'static str> {
        let effects = || project.streams.iter().map(|s| &s.effects).chain([&project.adjustment]);
        let wanted = |name: &str| match name {
            "deinterlace" => project.streams.iter().any(|s| s.deinterlace.is_some()),
            "colour" => effects().any(|e| e.colour.is_some()),
            "contrast" => effects().any(|e| e.contrast.is_some()),
            "transition" => project.layers.iter().any(|l| !l.transitions.is_empty()),
            "unpack" => false,
            _ => true,
        };
        super::effects::PROGRAMS.iter().map(|(name, _)| *name).filter(|name| wanted(name)).collect()
    }

    /// What is compiled, in the order in which it is needed. The effects' own kernels are also needed where one kernel
    /// makes a frame, which is compared with theirs at the end.
    pub fn jobs(project: &Project, plans: &[Plan], passes: Passes) -> Vec<Job> {
        let each = Stack::programs(project);
        if passes == Passes::Each {
            return jobs(&each);
        }
        let frame = |(i, plan): (usize, &Plan)| Job {
            name: program_of(i).into(),
            source: plan.source().into(),
            options: String::new(),
        };
        let mut frames = plans.iter().enumerate().map(frame);
        // What the first frame needs, the other frames, and what is only compared with.
        let (fields, mut rest): (Vec<_>, Vec<_>) = each.into_iter().partition(|name| *name == "deinterlace");
        rest.retain(|name| *name != "scopes");
        let mut list = jobs(&fields);
        list.extend(jobs(&["unpack"]));
        list.extend(frames.next());
        list.extend(jobs(&["scopes"]));
        list.extend(frames);
        list.extend(jobs(&rest));
        list
    }

    pub fn new(
        session: &Session,
        project: Project,
        plans: &[Plan],
        shapes: &[Shape],
        counting: Counting,
        (w, h): (usize, usize),
    ) -> Result<Stack> {
        let mut clips = Vec::new();
        let mut largest = 1;
        for (shape, stream) in shapes.iter().zip(&project.streams) {
            let pixels = shape.w * shape.h;
            largest = largest.max(pixels);
            let field = match stream.deinterlace {
                Some(method) => Some((method, session.zeroed(shape.bytes())?)),
                None => None,
            };
            clips.push(Clip {
                shape: *shape,
                frames: [session.zeroed(shape.bytes())?, session.zeroed(shape.bytes())?],
                field,
                words: session.zeroed(pixels)?,
                pixels: session.zeroed(4 * pixels)?,
                chain: Chain::new(session, &stream.effects)?,
            });
        }
        let picture = || session.zeroed(4 * w * h);
        Ok(Stack {
            adjustment: Chain::new(session, &project.adjustment)?,
            project,
            shapes: shapes.to_vec(),
            plans: plans.iter().enumerate().map(|(i, p)| (p.text.clone(), program_of(i))).collect(),
            numbers: session.zeroed(plans.iter().map(|p| p.numbers.len()).max().unwrap_or(1))?,
            size: (w, h),
            clips,
            spare: session.zeroed(4 * largest)?,
            base: picture()?,
            layers: [picture()?, picture()?, picture()?],
            picture: session.zeroed(w * h)?,
            scopes: Scopes::new(session, counting, (w, h))?,
        })
    }

    /// Uploads a frame of each stream to one of the two places.
    pub fn upload(&self, queue: &Queue<'_>, place: usize, frames: Vec<Vec<u8>>) -> Result<Vec<Transfer<u8>>> {
        self.clips.iter().zip(frames).map(|(c, f)| queue.write(&c.frames[place % 2], 0, f, &[])).collect()
    }

    /// Launches everything that makes frame `number` of the streams' frames at a place.
    pub fn launch(&self, device: &Device<'_>, place: usize, number: usize, passes: Passes) -> Result<()> {
        match passes {
            Passes::One => {
                let plan = self.plan(number);
                for (i, clip) in self.clips.iter().enumerate() {
                    if plan.inputs.contains(&Input::Words(i)) {
                        unpack(device, &clip.shape, self.whole(device, i, place)?, &clip.words)?;
                    }
                    if plan.inputs.contains(&Input::Pixels(i)) {
                        self.pixels(device, i, self.whole(device, i, place)?)?;
                    }
                }
                self.fused(device, &plan)?;
            }
            Passes::Each => {
                self.each(device, place, number)?;
                self.output(device)?;
            }
        }
        self.scopes.show(device, &self.picture)
    }

    fn plan(&self, number: usize) -> Plan {
        Plan::of(&self.project, &self.shapes, self.size, number)
    }

    /// Launches the kernel of a whole frame, after what it reads has been made.
    fn fused(&self, device: &Device<'_>, plan: &Plan) -> Result<()> {
        let known = self.plans.iter().find(|(text, _)| *text == plan.text);
        let (_, program) = known.ok_or_else(|| Error::Params("a frame whose kernel was not foreseen".into()))?;
        // The queue is in order: the kernel before has read its numbers when these are written.
        device.queue.write(&self.numbers, 0, plan.numbers.clone(), &[])?.wait()?;
        let inputs = plan.inputs.iter().map(|input| match input {
            Input::Words(i) => Arg::from(&self.clips[*i].words),
            Input::Pixels(i) => Arg::from(&self.clips[*i].pixels),
        });
        let (w, h) = (self.size.0 as i32, self.size.1 as i32);
        let args: Vec<Arg> = inputs.chain(args![&self.picture, &self.numbers, w, h].iter().copied()).collect();
        device.cover(program, "video_frame", &args, self.size)
    }

    /// A stream's frame at a place, after its fields were made one frame.
    fn whole<'b>(&'b self, device: &Device<'_>, stream: usize, place: usize) -> Result<&'b Buffer<u8>> {
        let clip = &self.clips[stream];
        let bytes = &clip.frames[place % 2];
        let Some((method, whole)) = &clip.field else { return Ok(bytes) };
        deinterlace(device, &clip.shape, *method, bytes, whole)?;
        Ok(whole)
    }

    /// Launches the conversion of a stream and its effects.
    fn pixels(&self, device: &Device<'_>, stream: usize, bytes: &Buffer<u8>) -> Result<()> {
        let clip = &self.clips[stream];
        // The last effect writes to the clip's own pixels.
        let buffers = if clip.chain.len() == 1 { [&self.spare, &clip.pixels] } else { [&clip.pixels, &self.spare] };
        convert(device, &clip.shape, bytes, buffers[0])?;
        clip.chain.run(device, buffers, clip.size())
    }

    /// Launches the kernels of all effects, up to the picture in floats.
    fn each(&self, device: &Device<'_>, place: usize, number: usize) -> Result<()> {
        let (w, h) = (self.size.0 as i32, self.size.1 as i32);
        let shown: Vec<_> = self.project.layers.iter().map(|l| (l, self.project.shown(l, number))).collect();
        for i in 0..self.clips.len() {
            // What nobody sees needs no work.
            let seen = |s: &super::project::Shown| s.from == i || s.to.is_some_and(|t| t.0 == i);
            if shown.iter().any(|(_, s)| s.as_ref().is_some_and(seen)) {
                self.pixels(device, i, self.whole(device, i, place)?)?;
            }
        }
        device.cover("blend", "video_clear", args![&self.base, w, h], self.size)?;
        for (layer, shown) in shown {
            let Some(shown) = shown else { continue };
            let [first, second, both] = &self.layers;
            let place = |stream: usize, to: &Buffer<f32>| {
                let clip = &self.clips[stream];
                let (sw, sh) = clip.size();
                let m = layer.place().matrix((sw, sh), self.size).0;
                let args = args![&clip.pixels, to, sw as i32, sh as i32, w, h, m[0], m[1], m[2], m[3], m[4], m[5]];
                device.cover("transform", "video_transform", args, self.size)
            };
            place(shown.from, first)?;
            let mut top = first;
            if let Some((to, kind, done)) = shown.to {
                place(to, second)?;
                if WIPES.contains(&kind) {
                    wipe(device, [first, second, both], &Wipe::new(kind, done, self.size), self.size)?;
                } else {
                    let args = args![first, second, both, done, w, h];
                    device.cover("transition", "video_dissolve", args, self.size)?;
                }
                top = both;
            }
            let args = args![&self.base, top, layer.blend as i32, layer.opacity, w, h];
            device.cover("blend", "video_blend", args, self.size)?;
        }
        self.adjustment.run(device, [&self.base, &self.layers[0]], self.size)
    }

    /// The finished picture of the frame that was launched last, without scopes, once more.
    pub fn clean(&self, device: &Device<'_>, number: usize, passes: Passes) -> Result<()> {
        match passes {
            Passes::One => self.fused(device, &self.plan(number)),
            Passes::Each => self.output(device),
        }
    }

    /// The picture that the effects' own kernels make of a frame, without scopes.
    pub fn unfused(&self, device: &Device<'_>, place: usize, number: usize) -> Result<()> {
        self.each(device, place, number)?;
        self.output(device)
    }

    fn output(&self, device: &Device<'_>) -> Result<()> {
        let from = if self.adjustment.len() == 1 { &self.layers[0] } else { &self.base };
        let args = args![from, &self.picture, self.size.0 as i32, self.size.1 as i32];
        device.cover("output", "video_output", args, self.size)
    }

    /// Bytes of global memory that a frame cannot do without: pixels have sixteen where each effect is a kernel, and
    /// four where one kernel does all.
    pub fn moved(&self, number: usize, passes: Passes) -> usize {
        let (pixels, mut bytes) = (self.size.0 * self.size.1, 0);
        if passes == Passes::One {
            let of = |input: &Input| match *input {
                // Written once and read once.
                Input::Words(i) => self.shapes[i].bytes() + 8 * self.shapes[i].w * self.shapes[i].h,
                Input::Pixels(i) => {
                    self.shapes[i].bytes()
                        + 16 * self.shapes[i].w * self.shapes[i].h * (2 + 2 * self.clips[i].chain.len())
                }
            };
            return self.plan(number).inputs.iter().map(of).sum::<usize>() + pixels * (4 + 4);
        }
        for clip in &self.clips {
            let own = clip.shape.w * clip.shape.h;
            bytes += clip.shape.bytes() + 16 * own * (1 + 2 * clip.chain.len());
        }
        for layer in &self.project.layers {
            // Transform and blend; with a transition one more of the former, and itself.
            match self.project.shown(layer, number) {
                Some(s) if s.to.is_some() => bytes += 16 * pixels * (4 + 3 + 3),
                Some(_) => bytes += 16 * pixels * (2 + 3),
                None => {}
            }
        }
        bytes + 16 * pixels * (1 + 2 * self.adjustment.len()) + pixels * (16 + 4 + 4)
    }

    /// The reference's picture of the frame, and by how much each pixel of the device's may differ, from 0 to 1.
    pub fn reference(&self, frames: &[Vec<u8>], number: usize) -> (Image, Vec<f64>) {
        let clips: Vec<Image> = self
            .clips
            .iter()
            .zip(frames)
            .map(|(clip, bytes)| {
                let pixels = match &clip.field {
                    Some((method, _)) => {
                        let whole = reference::deinterlace(&clip.shape, bytes, clip.keep(), METHODS[*method]);
                        reference::convert(&clip.shape, &whole)
                    }
                    None => reference::convert(&clip.shape, bytes),
                };
                clip.chain.reference(pixels)
            })
            .collect();
        let (w, h) = self.size;
        let mut base = Image::from_fn(w, h, |_, _| [0.0, 0.0, 0.0, 1.0]);
        // Conversion and effects of a stream err by less than this, also where a power of gamma is steep.
        const CLIP: f64 = 1e-5;
        let mut errors = vec![0.0; w * h];
        for layer in &self.project.layers {
            let Some(shown) = self.project.shown(layer, number) else { continue };
            let place = |stream: usize| {
                let matrix = layer.place().matrix(self.clips[stream].size(), self.size);
                reference::transform(&clips[stream], &matrix, self.size)
            };
            let (mut top, mut of_top) = place(shown.from);
            if let Some((to, kind, done)) = shown.to {
                let (second, of_second) = place(to);
                // The edge of a wipe is steep: its share errs by more than a rounding.
                of_top.iter_mut().zip(of_second).for_each(|(a, b)| *a = a.max(b) + 3e-5);
                top = if WIPES.contains(&kind) {
                    reference::wipe(&top, &second, &Wipe::new(kind, done, self.size))
                } else {
                    top.with(&second, |a, b| reference::dissolve(a, b, f64::from(done)))
                };
            }
            let (mode, opacity) = (MODES[layer.blend], f64::from(layer.opacity));
            // The overlay doubles differences; a colour and its coverage may both be wrong.
            let slope = if mode == "overlay" { 2.0 } else { 1.0 };
            errors.iter_mut().zip(of_top).for_each(|(e, t)| *e = slope * (*e + 2.0 * opacity * (t + CLIP)));
            base = base.with(&top, |b, s| reference::blend(b, s, mode, opacity));
        }
        if let Some((grade, _)) = &self.adjustment.colour {
            let of = |(e, &p): (&mut f64, &reference::Pixel)| *e = reference::colour_error(p, grade, *e + 1e-6);
            errors.iter_mut().zip(&base.pixels).for_each(of);
        }
        let slope = self.adjustment.contrast.map_or(1.0, |c| f64::from(c.contrast).max(1.0));
        (self.adjustment.reference(base), errors.into_iter().map(|e| slope * e).collect())
    }
}
