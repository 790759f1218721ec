//! Watches a run of the gallery: writes its film, shows how far it has come, and ends it at Ctrl-C.
//!
//! The first Ctrl-C lets the run finish the part in work, so that a film or a large picture is whole up to there; the
//! second one ends the process.

use crate::outcome::{Failure, tell};
use crate::progress::Progress;
use cloom_gallery::film::{self, Film};
use cloom_gallery::{Observe, Picture};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the run and its owner share.
pub struct Watch {
    film: Mutex<Option<Film>>,
    cancelled: Arc<AtomicBool>,
    shown: Mutex<Progress>,
}

impl Watch {
    /// Writes a film to that path, if its suffix is that of one.
    pub fn new(output: Option<&Path>, per_second: u32) -> Result<Watch, Failure> {
        let film = match output.filter(|path| film::is_film(path)) {
            Some(path) => Some(Film::new(path, per_second)?),
            None => None,
        };
        Ok(Watch { film: Mutex::new(film), cancelled: Arc::default(), shown: Mutex::new(Progress::new()) })
    }

    /// The flag that Ctrl-C sets.
    pub fn until_interrupted(&self) -> Arc<AtomicBool> {
        let flag = self.cancelled.clone();
        // Without a handler Ctrl-C ends the run at once: that is what is lost if the system refuses one.
        let _ = ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::Relaxed) {
                // 128 and the number of SIGINT, which the parent process takes for an interruption.
                std::process::exit(130);
            }
            tell("ending after the part in work; Ctrl-C again ends at once");
        });
        self.cancelled.clone()
    }

    /// Completes the film, which consists of the picture alone if the run made no frames. How many frames it has.
    pub fn finish(&self, picture: Option<&Picture>) -> Result<usize, Failure> {
        lock(&self.shown).clear();
        let mut film = lock(&self.film);
        let Some(film) = film.as_mut() else { return Ok(0) };
        if let (0, Some(picture)) = (film.frames(), picture) {
            film.frame(picture)?;
        }
        film.finish()?;
        Ok(film.frames())
    }
}

// What a thread that panicked leaves behind is still whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Observe for Watch {
    fn wants_frames(&self) -> bool {
        lock(&self.film).is_some()
    }

    fn frame(&self, picture: &Picture) -> cloom_gallery::Result<()> {
        match lock(&self.film).as_mut() {
            Some(film) => film.frame(picture),
            None => Ok(()),
        }
    }

    fn progress(&self, done: usize, of: usize) -> bool {
        let mut shown = lock(&self.shown);
        let elapsed = shown.elapsed().as_secs_f64();
        if of > 0 {
            shown.show(|| {
                let left = elapsed * of.saturating_sub(done) as f64 / done.max(1) as f64;
                format!("{done} of {of} done, {left:.0} s left")
            });
        }
        !self.cancelled.load(Ordering::Relaxed)
    }
}
