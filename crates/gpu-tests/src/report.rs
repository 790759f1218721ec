//! The table that is printed: a row for each check, with its time.

use std::error::Error;
use std::time::Instant;

/// What a check says.
pub type Outcome = Result<String, Box<dyn Error>>;

/// The table.
#[derive(Default)]
pub struct Report {
    failed: usize,
}

impl Report {
    /// A row: runs a check.
    pub fn check(&mut self, name: &str, check: impl FnOnce() -> Outcome) {
        let begin = Instant::now();
        let outcome = check();
        let time = begin.elapsed();
        match outcome {
            Ok(text) => println!("ok    {name:<48} {time:>10.1?}  {text}"),
            Err(error) => {
                self.failed += 1;
                println!("FAIL  {name:<48} {time:>10.1?}  {error}");
            }
        }
    }

    /// How many checks failed.
    pub fn failed(&self) -> usize {
        self.failed
    }
}
