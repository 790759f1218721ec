//! Folders of caches in which anything has happened: entries that are renamed, exchanged, cut, changed, of another
//! kind, linked, of other permissions or another owner, folders that are swapped, and limits of the process. An input
//! is a seed.
//!
//! Whatever is in the folder, programs give their own results, nothing outside of the folder changes, and every call
//! ends. An entry is used if and only if it is as a cache has made it and nobody else could have changed it. The next
//! process finds the entries again: what was wrong has been replaced, unless a folder has an entry's name.

mod place;
mod programs;
mod tamper;

use super::{Reach, Target};
use cloom_artifact::Folder;
use cloom_compiler::CacheFolder;
use cloom_filetest::generate::types::Rng;
use place::Place;
use programs::{Entry, Kept, USUAL, User};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use tamper::Tamperer;

/// See the file's head.
pub const TARGET: Target =
    Target { name: "cache", corpus: Vec::new, words: &[], mutated: false, gate: "found an entry", run };

/// An input that takes longer on the clock waits for something that never comes.
const LONG: Duration = Duration::from_secs(100);

fn run(input: &[u8]) -> Result<Reach, String> {
    let seed: u64 = String::from_utf8_lossy(input).trim().parse().map_err(|_| "the input is no number")?;
    let (send, ended) = channel();
    // A thread that hangs cannot be ended, but the process can.
    let work = move || drop(send.send(session(seed)));
    std::thread::Builder::new().stack_size(8 << 20).spawn(work).map_err(|e| e.to_string())?;
    match ended.recv_timeout(LONG) {
        Ok(outcome) => outcome.map(Reach::of),
        Err(RecvTimeoutError::Timeout) => Err("it hangs".into()),
        Err(RecvTimeoutError::Disconnected) => Err("it panicked".into()),
    }
}

/// A limit that a process has set for itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Limit {
    None,
    FileSize(u64),
    Files(u64),
}

/// While this is there, the limit holds.
struct Limited(Option<(Resource, Rlimit)>);

impl Limited {
    fn new(limit: Limit) -> Limited {
        let (resource, number) = match limit {
            Limit::None => return Limited(None),
            Limit::FileSize(bytes) => (Resource::Fsize, bytes),
            Limit::Files(number) => (Resource::Nofile, number),
        };
        let before = getrlimit(resource);
        let is_set = setrlimit(resource, Rlimit { current: Some(number), maximum: before.maximum }).is_ok();
        Limited(is_set.then_some((resource, before)))
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        if let Some((resource, before)) = self.0.take() {
            let _ = setrlimit(resource, before);
        }
    }
}

/// Two processes, one after the other, on a folder with which something happens before and while the first one runs.
/// Says whether an entry was found.
fn session(seed: u64) -> Result<bool, String> {
    let mut rng = Rng::new(seed);
    let is_gpu = rng.chance(20);
    let all = programs::all(is_gpu)?;
    let first = rng.below(all.len() as u64) as usize;
    let chosen: Vec<&Kept> = all.iter().cycle().skip(first).take(1 + rng.below(3) as usize).collect();
    let number = if rng.chance(70) { USUAL } else { USUAL + 1 };
    let entries: Vec<&Entry> = all.iter().flat_map(|kept| &kept.entries).collect();
    let there: Vec<&Entry> = chosen.iter().flat_map(|kept| &kept.entries).filter(|_| rng.chance(90)).collect();
    let mut place = Place::new(there.into_iter()).map_err(|e| e.to_string())?;
    let act = |folder: &Path, outside: &Path, times: u64, rng: &mut Rng| {
        let tamperer = Tamperer { folder, outside, entries: &entries, is_racing: false };
        (0..times).for_each(|_| tamperer.act(rng));
    };
    act(&place.path, &place.outside, rng.below(5), &mut rng);
    if rng.chance(20) {
        let _ = tamper::folder(&place, &mut rng);
    }
    let user = User::new(&place.path, is_gpu);
    place.hold();
    if let Some(held) = &place.held {
        act(held, &place.outside, rng.below(3), &mut rng);
    }
    if rng.chance(20) {
        let _ = tamper::swap(&mut place, &entries, &mut rng);
    }
    let limit = match rng.below(10) {
        0 => Limit::FileSize(rng.pick(&[0, 1, 100, 1000, 4096])),
        1 => Limit::Files(rng.below(16)),
        _ => Limit::None,
    };
    let rival = (limit == Limit::None && rng.chance(20)).then(|| Rng::new(rng.next()));
    let scene = Scene { place: &place, entries: &entries, chosen: &chosen, number, is_first: true };
    let mut found = scene.process(&user, limit, rival).map_err(|why| format!("the first process: {why}"))?;
    drop(user);

    // The program `cloom` looks at the folder, too.
    if let Ok(folder) = CacheFolder::open(&place.path) {
        let _ = (folder.bugs(), folder.contents(), folder.try_put());
    }
    let user = User::new(&place.path, is_gpu);
    place.hold();
    let scene = Scene { place: &place, entries: &entries, chosen: &chosen, number, is_first: false };
    found |= scene.process(&user, Limit::None, None).map_err(|why| format!("the second process: {why}"))?;
    scene.is_healed()?;
    Ok(found)
}

/// What a process works on.
#[derive(Clone, Copy)]
struct Scene<'a> {
    place: &'a Place,
    entries: &'a [&'a Entry],
    chosen: &'a [&'a Kept],
    number: i32,
    /// Whether no process has been there before.
    is_first: bool,
}

impl Scene<'_> {
    /// Whether each entry of a thing can be found. With another number in the header it has other entries, which only
    /// an earlier process may have made: `None`.
    fn expected(&self, kept: &Kept) -> Vec<Option<bool>> {
        let held = self.place.held.as_deref().filter(|held| place::is_usable(held));
        let is_there = |entry: &Entry| match kept.has_entries_for(self.number) {
            true => Some(held.is_some_and(|held| place::has(held, entry))),
            false => self.is_first.then_some(false),
        };
        kept.entries.iter().map(is_there).collect()
    }

    /// A process that uses what was chosen. `rival`: somebody tampers meanwhile. Says whether an entry was found.
    fn process(&self, user: &User, limit: Limit, rival: Option<Rng>) -> Result<bool, String> {
        let expected: Vec<Vec<Option<bool>>> = self.chosen.iter().map(|kept| self.expected(kept)).collect();
        let (looks, unfinished) = (self.place.looks(), self.unfinished());
        let stop = AtomicBool::new(false);
        let is_alone = rival.is_none();
        let found = std::thread::scope(|scope| {
            if let (Some(mut rng), Some(folder)) = (rival, &self.place.held) {
                let rival = Tamperer { folder, outside: &self.place.outside, entries: self.entries, is_racing: true };
                let stop = &stop;
                scope.spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        rival.act(&mut rng);
                    }
                });
            }
            let limited = Limited::new(limit);
            let play = |kept: &&Kept| user.play(kept.thing, self.number, &mut || ());
            let found = self.chosen.iter().map(play).collect::<Result<Vec<Vec<bool>>, String>>();
            drop(limited);
            stop.store(true, Ordering::Relaxed);
            found
        })?;
        note_bug(self.place.held.as_deref());
        if self.place.looks() != looks {
            let after = self.place.looks();
            let differs = |path: &&std::path::PathBuf| looks.get(*path) != after.get(*path);
            let what: Vec<_> = looks.keys().chain(after.keys()).filter(differs).collect();
            return Err(format!("something outside changed: {what:?}"));
        }
        let is_swept = unfinished.1 > 100 << 20;
        if is_alone {
            let may_miss = is_swept || matches!(limit, Limit::Files(_));
            for (&found, &expected) in found.iter().flatten().zip(expected.iter().flatten()) {
                if expected.is_some_and(|expected| found != expected && !(may_miss && expected)) {
                    return Err(format!("an entry is found: {found}; it should be: {expected:?}"));
                }
            }
            let left = self.unfinished().0;
            if left.iter().any(|path| !unfinished.0.contains(path)) {
                return Err(format!("it leaves unfinished files: {left:?}"));
            }
        }
        Ok(found.iter().flatten().any(|&found| found))
    }

    fn unfinished(&self) -> (Vec<std::path::PathBuf>, u64) {
        self.place.held.as_deref().map(place::unfinished).unwrap_or_default()
    }

    /// After a process without limits, its entries are there.
    fn is_healed(&self) -> Result<(), String> {
        let held = self.place.held.as_deref().filter(|held| place::is_writable(held));
        let Some(held) = held.filter(|held| place::unfinished(held).1 < 100 << 20) else { return Ok(()) };
        let kept = self.chosen.iter().filter(|kept| kept.has_entries_for(self.number));
        for entry in kept.flat_map(|kept| &kept.entries) {
            if !held.join(&entry.name).is_dir() && !place::has(held, entry) {
                return Err(format!("{} was not made again", entry.name));
            }
        }
        Ok(())
    }
}

/// Writes a line as the compiler does when it meets a bug of its own.
fn note_bug(folder: Option<&Path>) {
    if let Some(folder) = folder.and_then(|folder| Folder::open(folder, ".new").ok()) {
        let _ = folder.add_line(CacheFolder::BUGS, "a bug\n", 16 << 10);
    }
}
