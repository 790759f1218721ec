//! What a run reports while it goes on: the frames of its film, and how far it has come.
//!
//! A film is handed over frame by frame, so that a long one never lies in memory as a whole. A program asks first
//! whether anybody wants frames: drawing them takes time that a measurement does not want.

use crate::error::{Error, Result};
use crate::picture::Picture;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whoever watches a run.
pub trait Observe: Send + Sync {
    /// Whether it takes frames.
    fn wants_frames(&self) -> bool {
        false
    }

    /// Takes the next frame. All frames of a run have the same size.
    fn frame(&self, _: &Picture) -> Result<()> {
        Ok(())
    }

    /// So many parts of the work are done, of so many. Whether to go on: a run that is told not to leaves what it has
    /// finished and ends with [`Error::Cancelled`].
    fn progress(&self, _done: usize, _of: usize) -> bool {
        true
    }
}

/// The observer of a run; nobody by default.
#[derive(Clone, Default)]
pub struct Observer {
    observe: Option<Arc<dyn Observe>>,
    shared: Arc<Shared>,
}

/// What a run has done so far.
#[derive(Default)]
struct Shared {
    /// The program itself says how far it has come.
    reports: AtomicBool,
    /// The program has worked on the input that the user named.
    read_input: AtomicBool,
}

impl Observer {
    /// This one watches.
    pub fn new(observe: Arc<dyn Observe>) -> Observer {
        Observer { observe: Some(observe), shared: Arc::default() }
    }

    /// Whether anybody takes frames.
    pub fn wants_frames(&self) -> bool {
        self.observe.as_ref().is_some_and(|o| o.wants_frames())
    }

    /// Hands a frame over, if anybody takes frames; it is made only then.
    pub fn frame(&self, make: impl FnOnce() -> Result<Picture>) -> Result<()> {
        match &self.observe {
            Some(o) if o.wants_frames() => o.frame(&make()?),
            _ => Ok(()),
        }
    }

    /// Reports how far the work has come; [`Error::Cancelled`] if it shall end here.
    pub fn progress(&self, done: usize, of: usize) -> Result<()> {
        self.shared.reports.store(true, Ordering::Relaxed);
        self.report(done, of)
    }

    /// The same for an iteration of a measurement, unless the program itself counts in smaller parts.
    pub(crate) fn iteration(&self, done: usize, of: usize) -> Result<()> {
        // Two counts of one run would make an observer's bar jump to and fro.
        if self.shared.reports.load(Ordering::Relaxed) { Ok(()) } else { self.report(done, of) }
    }

    fn report(&self, done: usize, of: usize) -> Result<()> {
        match &self.observe {
            Some(o) if !o.progress(done, of) => Err(Error::Cancelled { done, of }),
            _ => Ok(()),
        }
    }

    /// The program works on the input that the user named.
    pub(crate) fn reads_input(&self) {
        self.shared.read_input.store(true, Ordering::Relaxed);
    }

    /// Whether the program has worked on the input that the user named. One that has not takes none.
    pub fn has_read_input(&self) -> bool {
        self.shared.read_input.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.observe.is_some() { "Observer" } else { "Nobody" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    struct Until(usize, Arc<Mutex<Vec<usize>>>);

    impl Observe for Until {
        fn wants_frames(&self) -> bool {
            true
        }
        fn frame(&self, picture: &Picture) -> Result<()> {
            self.1.lock().unwrap().push(picture.width);
            Ok(())
        }
        fn progress(&self, done: usize, _: usize) -> bool {
            done < self.0
        }
    }

    #[test]
    fn frames_are_made_only_for_somebody_and_a_run_can_be_cancelled() {
        let nobody = Observer::default();
        nobody.frame(|| panic!("nobody wants it")).unwrap();
        nobody.progress(3, 4).unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let observer = Observer::new(Arc::new(Until(2, seen.clone())));
        observer.frame(|| Ok(Picture::new(5, 1, 0))).unwrap();
        assert_eq!(*seen.lock().unwrap(), [5]);
        observer.iteration(1, 4).unwrap();
        assert!(observer.iteration(2, 4).is_err());
        observer.progress(1, 4).unwrap();
        observer.iteration(3, 4).expect("the program counts itself");
        assert!(!observer.has_read_input());
        observer.reads_input();
        assert!(observer.clone().has_read_input());
        assert!(matches!(observer.progress(2, 4), Err(Error::Cancelled { done: 2, of: 4 })));
    }
}
