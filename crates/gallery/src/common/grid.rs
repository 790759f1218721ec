//! What the programs have in common that compute a picture with a two-dimensional range: EasyPAP's convention, a kernel
//! `<program>_<variant>(in, out)` built with the macros of its sizes.

use crate::cl::{Built, Kernel, Session, round_up};
use crate::error::Result;
use crate::params::Params;

/// A picture's size and how work-groups cover it.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    pub w: usize,
    pub h: usize,
    pub tw: usize,
    pub th: usize,
}

impl Grid {
    pub fn new(params: &Params, (w, h): (usize, usize), tile: (usize, usize)) -> Result<Grid> {
        let (tw, th) = params.tile_or(tile.0, tile.1)?;
        Ok(Grid { w, h, tw, th })
    }

    /// The range: the size, rounded up to whole groups.
    pub fn global(&self) -> [usize; 2] {
        [round_up(self.w, self.tw), round_up(self.h, self.th)]
    }

    pub fn local(&self) -> [usize; 2] {
        [self.tw, self.th]
    }

    pub fn groups(&self) -> [usize; 2] {
        [self.w.div_ceil(self.tw), self.h.div_ceil(self.th)]
    }

    /// EasyPAP's macros for this grid.
    pub fn options(&self, params: &Params, program: &str) -> String {
        params.easypap_options(program, (self.w, self.h), (self.tw, self.th))
    }

    pub fn size_text(&self) -> String {
        format!("{}x{} in groups of {}x{}", self.w, self.h, self.tw, self.th)
    }
}

/// Builds a program and takes one kernel of it.
pub fn build(session: &Session, program: &str, source: &str, options: &str, kernel: &str) -> Result<(Built, Kernel)> {
    let built = session.build(program, source, options)?;
    let kernel = built.kernel(kernel)?;
    Ok((built, kernel))
}
