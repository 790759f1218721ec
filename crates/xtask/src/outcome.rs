//! How a command ends.

/// How a command ends.
#[derive(Debug)]
pub enum Outcome {
    /// All is well.
    Fine,
    /// It ran, and found something.
    Findings,
}

impl Outcome {
    /// What it is if all is well or not.
    pub fn of(good: bool) -> Outcome {
        if good { Outcome::Fine } else { Outcome::Findings }
    }
}
