//! The stages of a compilation: what each took, and its output as text for people to read.

use std::time::{Duration, Instant};

/// The time of a stage of a compilation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Timing {
    /// Its name; a pass that runs twice is there twice.
    pub stage: String,
    /// Wall-clock time.
    pub time: Duration,
}

impl Timing {
    pub(crate) fn new(stage: &str, time: Duration) -> Self {
        Self { stage: stage.to_owned(), time }
    }
}

/// A stage of the compilation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stage {
    /// Its name: `ir`, `library`, a pass, `spmd`, `llvm`, `llvm-optimised`, `asm`.
    pub name: String,
    /// Its output, as text.
    pub text: String,
}

/// Records the times of stages, and their texts if they are wanted.
pub struct StageLog {
    texts: bool,
    since: Instant,
    pub(crate) stages: Vec<Stage>,
    pub(crate) times: Vec<Timing>,
}

impl StageLog {
    /// A log that begins now.
    pub(crate) fn new(texts: bool) -> StageLog {
        StageLog { texts, since: Instant::now(), stages: Vec::new(), times: Vec::new() }
    }

    /// Whether texts are wanted.
    pub fn wants_texts(&self) -> bool {
        self.texts
    }

    /// Records a stage that changed the IR.
    pub fn stage(&mut self, name: &str, text: impl FnOnce() -> String) {
        self.time(name);
        self.text(name, text);
    }

    /// Attributes the time since the last stage to this one.
    pub fn time(&mut self, name: &str) {
        self.times.push(Timing::new(name, self.since.elapsed()));
        self.since = Instant::now();
    }

    /// Records the text of a stage. The time to print it counts for no stage.
    pub fn text(&mut self, name: &str, text: impl FnOnce() -> String) {
        if self.texts {
            self.stages.push(Stage { name: name.to_owned(), text: text() });
            self.since = Instant::now();
        }
    }

    /// Records stages that were measured elsewhere: their names with their times, and with their texts.
    pub fn extend(&mut self, times: &[(&str, Duration)], stages: Vec<(&str, String)>) {
        self.times.extend(times.iter().map(|&(name, time)| Timing::new(name, time)));
        self.stages.extend(stages.into_iter().map(|(name, text)| Stage { name: name.to_owned(), text }));
        self.since = Instant::now();
    }
}
