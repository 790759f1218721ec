//! What `flow` has on the device: the kernels, a pyramid of buffers or images, and the launches of a flow field.

use super::Setup;
use crate::args;
use crate::cl::image::Image;
use crate::cl::{Buffer, Built, Kernel, Session, round_up};
use crate::common::grid::Grid;
use crate::error::Result;

/// Repeated pixels at either end of a row of the frames, as in the kernels.
const PAD: usize = 2;
/// Rows that a work-item of the running sums goes down.
const ROLL: usize = 32;

/// One level: both frames and the flow.
struct Level {
    w: usize,
    h: usize,
    frames: Option<Buffer<f32>>,
    images: Vec<Image>,
    flow: Buffer<f32>,
    // After the medians.
    smooth: Buffer<f32>,
}

/// What is summed over a window: three numbers of the tensor, two of the right side.
const PLANES: usize = 5;

/// Where the frames of bytes are.
struct Bytes {
    first: Buffer<u8>,
    second: Buffer<u8>,
}

/// A flow field in the making.
pub struct Device<'s> {
    session: &'s Session,
    setup: &'s Setup,
    variant: &'static str,
    kernels: Vec<(&'static str, Kernel)>,
    bytes: Option<Bytes>,
    levels: Vec<Level>,
    half: Buffer<f32>,
    gradient: Buffer<f32>,
    between: Buffer<f32>,
    // The border's width and the places within depend on the level: each has its own, all zero where nobody writes.
    products: Vec<Buffer<f32>>,
    sums: Vec<Buffer<f32>>,
}

const COMMON: &[&str] = &["flow_still", "flow_up", "flow_solve", "flow_median_x", "flow_median_y"];
const ON_BUFFERS: &[&str] = &["flow_load", "flow_down_y", "flow_down_x", "flow_gradient", "flow_warp"];
const ON_IMAGES: &[&str] = &["flow_down_image", "flow_gradient_image", "flow_warp_image"];

impl<'s> Device<'s> {
    /// Makes the buffers for the frames of the set-up.
    pub fn new(session: &'s Session, setup: &'s Setup, variant: &'static str, built: &Built) -> Result<Device<'s>> {
        let is_image = variant == "image";
        let pass: &[&str] = match variant {
            "buffer" => &[],
            "separable" => &["flow_rows"],
            _ => &["flow_run"],
        };
        let names = COMMON.iter().chain(if is_image { ON_IMAGES } else { ON_BUFFERS }).chain(pass);
        let kernels = names.map(|&name| Ok((name, built.kernel(name)?))).collect::<Result<_>>()?;
        let (w, h, r) = (setup.w, setup.h, setup.method.radius);
        // The largest buffer; asked before the host makes the zeros of any.
        session.fits::<f32>(PLANES * (w + 2 * r) * (h + 2 * r))?;
        let bytes = match is_image {
            true => None,
            false => Some(Bytes {
                first: session.upload(&setup.frames.first)?,
                second: session.upload(&setup.frames.second)?,
            }),
        };
        let (mut levels, mut products, mut sums) = (Vec::new(), Vec::new(), Vec::new());
        let (mut lw, mut lh) = (w, h);
        for l in 0..setup.method.levels {
            let (frames, images) = if is_image {
                let image = |bytes: &[u8]| {
                    let floats: Vec<f32> = match l {
                        0 => bytes.iter().map(|&b| f32::from(b)).collect(),
                        _ => vec![0.0; lw * lh],
                    };
                    session.upload_floats(1, lw, lh, &floats)
                };
                (None, vec![image(&setup.frames.first)?, image(&setup.frames.second)?])
            } else {
                (Some(session.zeroed(2 * (lw + 2 * PAD) * lh)?), Vec::new())
            };
            levels.push(Level {
                w: lw,
                h: lh,
                frames,
                images,
                flow: session.zeroed(2 * lw * lh)?,
                smooth: session.zeroed(2 * lw * lh)?,
            });
            // The border of `radius` zeros stands for pixels outside of the frame, which count nothing. Kernels never
            // write it.
            products.push(session.zeroed(PLANES * (lw + 2 * r) * (lh + 2 * r))?);
            if variant != "buffer" {
                sums.push(session.zeroed(PLANES * (lw + 2 * r) * (lh + 2 * r))?);
            }
            // Rounded up, as `flow_up` and `flow_down_y` do: the last pixel of an odd side has one in the coarser
            // level, too.
            (lw, lh) = (lw.div_ceil(2), lh.div_ceil(2));
        }
        let half = session.zeroed(2 * (w + 2 * PAD) * h.div_ceil(2))?;
        let (gradient, between) = (session.zeroed(2 * w * h)?, session.zeroed(2 * w * h)?);
        Ok(Device { session, setup, variant, kernels, bytes, levels, half, gradient, between, products, sums })
    }

    /// Replaces the second frame.
    pub fn show(&mut self, second: &[u8]) -> Result<()> {
        match (&self.bytes, self.levels.first_mut()) {
            (Some(bytes), _) => self.session.write(&bytes.second, second)?,
            (None, Some(level)) => {
                let floats: Vec<f32> = second.iter().map(|&b| f32::from(b)).collect();
                level.images[1] = self.session.upload_floats(1, level.w, level.h, &floats)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// The flow of the finest level.
    pub fn flow(&self) -> Result<Vec<f32>> {
        self.session.read(&self.levels[0].smooth)
    }

    fn launch(&self, name: &str, args: &[crate::Arg], w: usize, h: usize, planes: usize) -> Result<()> {
        let Grid { tw, th, .. } = self.setup.grid;
        let Some((_, kernel)) = self.kernels.iter().find(|k| k.0 == name) else {
            return Err(crate::Error::Params(format!("{name} is no kernel of {}", self.variant)));
        };
        self.session.launch(kernel, args, &[round_up(w, tw), round_up(h, th), planes], &[tw, th, 1])
    }

    /// The sums over the window that the variant does apart; gives what holds the rest.
    fn sums(&self, l: usize) -> Result<&Buffer<f32>> {
        let (Level { w, h, .. }, products) = (&self.levels[l], &self.products[l]);
        let (name, rows) = match self.variant {
            "buffer" => return Ok(products),
            "separable" => ("flow_rows", *h),
            _ => ("flow_run", h.div_ceil(ROLL)),
        };
        self.launch(name, args![products, &self.sums[l], *w as i32, *h as i32], *w, rows, PLANES)?;
        Ok(&self.sums[l])
    }

    /// Enqueues all of a flow field.
    pub fn run(&self) -> Result<()> {
        self.pyramid()?;
        // From coarse to fine: a level starts from the smoothed flow of the one above it.
        for (l, level) in self.levels.iter().enumerate().rev() {
            let Level { w, h, flow, smooth, .. } = level;
            let (wi, hi) = (*w as i32, *h as i32);
            let (gradient, products) = (&self.gradient, &self.products[l]);
            match self.levels.get(l + 1) {
                None => self.launch("flow_still", args![flow, wi, hi], *w, *h, 1)?,
                Some(coarse) => self.launch("flow_up", args![&coarse.smooth, flow, wi, hi], *w, *h, 1)?,
            }
            match (&level.frames, level.images.first()) {
                (Some(frames), _) => {
                    self.launch("flow_gradient", args![frames, gradient, wi, hi], *w, *h, 1)?;
                }
                (None, Some(first)) => {
                    self.launch("flow_gradient_image", args![first, gradient, wi, hi], *w, *h, 1)?;
                }
                _ => {}
            }
            for _ in 0..self.setup.method.steps {
                match (&level.frames, level.images.as_slice()) {
                    (Some(frames), _) => {
                        self.launch("flow_warp", args![frames, gradient, flow, products, wi, hi], *w, *h, 1)?;
                    }
                    (None, [first, second]) => {
                        let args = args![first, second, gradient, flow, products, wi, hi];
                        self.launch("flow_warp_image", args, *w, *h, 1)?;
                    }
                    _ => {}
                }
                self.launch("flow_solve", args![self.sums(l)?, flow, wi, hi], *w, *h, 1)?;
            }
            self.launch("flow_median_x", args![flow, &self.between, wi, hi], *w, *h, 2)?;
            self.launch("flow_median_y", args![&self.between, smooth, wi, hi], *w, *h, 2)?;
        }
        Ok(())
    }

    fn pyramid(&self) -> Result<()> {
        if let (Some(bytes), Some(Level { w, h, frames: Some(frames), .. })) = (&self.bytes, self.levels.first()) {
            let args = args![&bytes.first, &bytes.second, frames, *w as i32, *h as i32];
            self.launch("flow_load", args, w + 2 * PAD, *h, 1)?;
        }
        // Down the columns first: that pass reads side by side, and leaves half as many rows to the other one.
        for pair in self.levels.windows(2) {
            let [from, to] = pair else { continue };
            let (wi, hi) = (from.w as i32, from.h as i32);
            if let (Some(large), Some(small)) = (&from.frames, &to.frames) {
                let args = args![large, &self.half, wi, hi];
                self.launch("flow_down_y", args, from.w + 2 * PAD, to.h, 2)?;
                self.launch("flow_down_x", args![&self.half, small, wi, to.h as i32], to.w + 2 * PAD, to.h, 2)?;
            }
            for (large, small) in from.images.iter().zip(&to.images) {
                self.launch("flow_down_image", args![large, small, wi, hi], to.w, to.h, 1)?;
            }
        }
        Ok(())
    }
}
