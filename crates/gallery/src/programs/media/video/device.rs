//! The kernels of the effects, compiled in the background as they are needed, and the queue that they go to.

use super::effects;
use crate::cl::background::{Background, Job};
use crate::cl::queue::{Done, Queue};
use crate::cl::{Arg, Built, Kernel, Session, round_up};
use crate::error::{Error, Result};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

/// Kernels of the effects on a queue.
pub struct Device<'s> {
    pub session: &'s Session,
    pub queue: Queue<'s>,
    background: Background,
    programs: RefCell<Vec<(String, Built)>>,
    /// By program and name.
    kernels: RefCell<Vec<([String; 2], Rc<Kernel>)>>,
    /// What all builds together took.
    pub build: Cell<Duration>,
    tile: (usize, usize),
    /// What has been launched, for which effect.
    launched: RefCell<Vec<(String, Done)>>,
}

/// The programs in the order in which they are needed.
pub fn jobs(programs: &[&'static str]) -> Vec<Job> {
    let job =
        |&name: &&'static str| Job { name: name.into(), source: effects::source(name).into(), options: String::new() };
    programs.iter().map(job).collect()
}

impl<'s> Device<'s> {
    pub fn new(session: &'s Session, background: Background, tile: (usize, usize)) -> Result<Device<'s>> {
        Ok(Device {
            session,
            queue: session.queue()?,
            background,
            programs: RefCell::default(),
            kernels: RefCell::default(),
            build: Cell::default(),
            tile,
            launched: RefCell::default(),
        })
    }

    /// Waits for a program.
    pub fn need(&self, program: &str) -> Result<()> {
        if !self.programs.borrow().iter().any(|(known, _)| known == program) {
            let built = self.background.take(program)?;
            self.build.set(self.build.get() + built.time);
            self.programs.borrow_mut().push((program.to_owned(), built));
        }
        Ok(())
    }

    /// How long the device has waited for its programs.
    pub fn waited(&self) -> Duration {
        self.background.waited()
    }

    fn kernel(&self, program: &str, name: &str) -> Result<Rc<Kernel>> {
        if let Some((_, kernel)) = self.kernels.borrow().iter().find(|([p, n], _)| p == program && n == name) {
            return Ok(kernel.clone());
        }
        self.need(program)?;
        let programs = self.programs.borrow();
        let built = programs.iter().find(|(known, _)| known == program).map(|(_, built)| built);
        let built = built.ok_or_else(|| Error::Params(format!("the program {program} is not built")))?;
        let kernel = Rc::new(built.kernel(name)?);
        self.kernels.borrow_mut().push(([program.to_owned(), name.to_owned()], kernel.clone()));
        Ok(kernel)
    }

    /// Launches a kernel over a range.
    pub fn range(&self, program: &str, kernel: &str, args: &[Arg], [global, local]: [&[usize]; 2]) -> Result<()> {
        let kernel = self.kernel(program, kernel)?;
        let done = self.queue.launch(&kernel, args, [&[], global, local], &[])?;
        self.launched.borrow_mut().push((program.to_owned(), done));
        Ok(())
    }

    /// Launches a kernel that has a work-item for each pixel.
    pub fn cover(&self, program: &str, kernel: &str, args: &[Arg], (w, h): (usize, usize)) -> Result<()> {
        let (tw, th) = self.tile;
        self.range(program, kernel, args, [&[round_up(w, tw), round_up(h, th)], &[tw, th]])
    }

    /// The times of what was launched since the last call, by effect, on the device's clock. All of it must be done.
    /// What follows a space in a program's name does not count.
    pub fn times(&self) -> Result<Vec<(String, Duration)>> {
        let mut times: Vec<(String, Duration)> = Vec::new();
        for (program, done) in self.launched.borrow_mut().drain(..) {
            let (start, end) = done.span()?;
            let time = end.saturating_sub(start);
            let effect = program.split(' ').next().unwrap_or_default();
            match times.iter_mut().find(|(known, _)| known == effect) {
                Some((_, sum)) => *sum += time,
                None => times.push((effect.to_owned(), time)),
            }
        }
        Ok(times)
    }
}
