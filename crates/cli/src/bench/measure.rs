//! One case on everybody: each participant on a thread of its own, measuring in turns, every result checked.

use super::statistics::Quartiles;
use cloom_gallery::{Case, Error, Found, Outcome, Params, Program, Session, Times, Verdict, Work, turns};

/// Iterations of a turn. All but the last one only bring caches and threads back to what the participant before has left.
const BURST: u32 = 2;

/// Who is measured.
#[derive(Clone, Debug)]
pub struct Participant {
    /// What the tables call it.
    pub name: String,
    /// Its device.
    pub found: Found,
}

/// How often.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Turns that count.
    pub runs: u32,
    /// Turns before them that do not.
    pub warmups: u32,
}

impl Plan {
    fn iterations(self) -> u32 {
        (self.runs + self.warmups) * BURST
    }

    /// The iterations that count: the last one of each turn after the first ones.
    fn counted<T: Copy>(self, times: &[T]) -> Vec<T> {
        times.chunks_exact(BURST as usize).skip(self.warmups as usize).map(|turn| turn[BURST as usize - 1]).collect()
    }
}

/// What a participant showed, confirmed by the reference.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The size in the program's words.
    pub about: String,
    /// On the host's clock, from the first command to the end of the last.
    pub wall: Quartiles,
    /// The kernels on the device's clock, where it has one.
    pub device: Option<Quartiles>,
    /// Building, in milliseconds.
    pub build_ms: f64,
    /// What an iteration did.
    pub work: Option<Work>,
}

/// What became of a case on a participant.
#[derive(Clone, Debug)]
pub enum Fate {
    /// Confirmed by the reference.
    Verified(Box<Sample>),
    /// The reference says otherwise.
    Wrong(String),
    /// The device lacks what it takes.
    Missing(String),
    /// It ended with an error.
    Failed(String),
}

impl Fate {
    /// The times, if the result is right.
    pub fn sample(&self) -> Option<&Sample> {
        match self {
            Fate::Verified(sample) => Some(sample),
            _ => None,
        }
    }
}

fn sample(plan: Plan, outcome: &Outcome) -> Result<Sample, String> {
    let Times { wall, device } = &outcome.times;
    let wall = Quartiles::of(&plan.counted(wall))
        .ok_or("it ended before a turn counted: take another start or fewer warm-ups")?;
    let device = plan.counted(device);
    let all_clocked = device.iter().all(|d| !d.is_zero());
    Ok(Sample {
        about: outcome.size.clone(),
        wall,
        device: Quartiles::of(&device).filter(|_| all_clocked),
        build_ms: outcome.build.as_secs_f64() * 1e3,
        work: outcome.work,
    })
}

fn fate(plan: Plan, outcome: Result<Outcome, Error>) -> Fate {
    match outcome {
        Ok(outcome) => match &outcome.verdict {
            Verdict::Failed(why) => Fate::Wrong(why.clone()),
            Verdict::Passed(_) => sample(plan, &outcome).map_or_else(Fate::Failed, |s| Fate::Verified(Box::new(s))),
        },
        Err(Error::Unsupported(why)) => Fate::Missing(why),
        Err(e @ Error::Overrun { .. }) => Fate::Wrong(e.to_string()),
        Err(e) => Fate::Failed(e.to_string()),
    }
}

/// Measures a case on all of them; the fates are in their order.
pub fn case(program: &'static dyn Program, case: &Case, participants: &[Participant], plan: Plan) -> Vec<Fate> {
    let params = &Params { iterations: plan.iterations(), ..case.params.clone() };
    std::thread::scope(|scope| {
        let running: Vec<_> = participants
            .iter()
            .zip(turns(participants.len(), BURST))
            .map(|(p, turn)| {
                scope.spawn(move || {
                    fate(plan, Session::on(&p.found).and_then(|s| program.run(&s.in_turns(turn), params)))
                })
            })
            .collect();
        let crashed = |_| Fate::Failed("the host program panicked".into());
        running.into_iter().map(|thread| thread.join().unwrap_or_else(crashed)).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_iteration_of_a_turn_counts() {
        let plan = Plan { runs: 3, warmups: 2 };
        assert_eq!(plan.iterations(), 10);
        assert_eq!(plan.counted(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]), [5, 7, 9]);
        assert_eq!(plan.counted(&[0, 1, 2, 3]), [0; 0]);
    }
}
