//! Programs built on another thread while the session already works: an editor shows its first frame before the last
//! of its effects is compiled.
//!
//! In come jobs in the order in which they are needed; out comes a [`Background`] that hands each program over, waiting
//! for it if it must. A session cannot be shared between threads, its context can, and building needs nothing else.

use super::{Built, Input, Session, build_program};
use crate::error::{Error, Result};
use opencl3::context::Context;
use opencl3::device::Device;
use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::mpsc::{Receiver, channel};
use std::thread::Scope;
use std::time::{Duration, Instant};

/// A program to build.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Its source.
    pub source: Cow<'static, str>,
    /// The build options.
    pub options: String,
}

/// Builds for a session on any thread.
#[derive(Clone, Copy)]
pub struct Builder<'s> {
    context: &'s Context,
    device: Device,
}

impl Builder<'_> {
    /// Builds a program; the error holds the log.
    pub fn build(&self, job: &Job) -> Result<Built> {
        build_program(self.context, self.device.id(), &job.name, Input::Source(&job.source), &job.options)
    }
}

/// The programs that a thread builds.
pub struct Background {
    from: Receiver<(Cow<'static, str>, Result<Built>)>,
    ready: RefCell<Vec<(Cow<'static, str>, Built)>>,
    waited: RefCell<Duration>,
}

impl Background {
    /// Takes the program of that name, after waiting for it. Each can be taken once.
    pub fn take(&self, name: &str) -> Result<Built> {
        let start = Instant::now();
        let mut ready = self.ready.borrow_mut();
        let found = loop {
            if let Some(i) = ready.iter().position(|(known, _)| *known == name) {
                break Ok(ready.swap_remove(i).1);
            }
            match self.from.recv() {
                // A program that does not build ends the run at once, even if another one was asked for: the thread
                // stops there.
                Ok((name, built)) => ready.push((name, built?)),
                Err(_) => {
                    let have = ready.iter().map(|(name, _)| name.to_string()).collect();
                    break Err(Error::NotFound { what: "program", wanted: name.to_owned(), have });
                }
            }
        };
        *self.waited.borrow_mut() += start.elapsed();
        found
    }

    /// How long takers have waited.
    pub fn waited(&self) -> Duration {
        *self.waited.borrow()
    }
}

impl Session {
    /// What builds for this session on any thread.
    pub fn builder(&self) -> Builder<'_> {
        Builder { context: &self.context, device: self.found.id }
    }

    /// Builds the programs one after the other on a thread of the scope. Who takes no more of them drops the
    /// [`Background`]: the thread then ends after the program that it is at.
    pub fn build_in_background<'scope, 'env>(
        &'env self,
        scope: &'scope Scope<'scope, 'env>,
        jobs: Vec<Job>,
    ) -> Background {
        let (to, from) = channel();
        let builder = self.builder();
        scope.spawn(move || {
            for job in jobs {
                let built = builder.build(&job);
                let failed = built.is_err();
                // Sending fails when the `Background` is gone and nobody wants the rest.
                if to.send((job.name, built)).is_err() || failed {
                    break;
                }
            }
        });
        Background { from, ready: RefCell::default(), waited: RefCell::default() }
    }
}
