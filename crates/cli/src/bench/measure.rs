//! Measures one case on all participants: one thread for each, which take turns, so that drift of the
//! machine affects all alike. Every result is checked.

use super::statistics::Quartiles;
use cloom_gallery::latency::{Launching, launches};
use cloom_gallery::{
    Case, Error, Found, Outcome, Params, Program, RoundRobinSlot, Session, Style, Times, Verdict, Work, has_native,
    native, round_robin_slots,
};
use serde::{Deserialize, Serialize};

/// Iterations of a turn. All but the last one only refill the caches, which hold the data of the previous participant.
const BURST: u32 = 2;

/// What is measured.
#[derive(Clone, Debug)]
pub enum Who {
    /// A device of an OpenCL platform.
    Device(Box<Found>),
    /// Native Rust on the host.
    Native(Style),
}

/// One participant.
#[derive(Clone, Debug)]
pub struct Participant {
    /// Its name in tables.
    pub name: String,
    /// What it is.
    pub who: Who,
}

/// Numbers of runs.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// Turns that count.
    pub runs: u32,
    /// Turns before them that do not.
    pub warmups: u32,
    /// Iterations of a turn, of which the last one counts.
    burst: u32,
}

impl Plan {
    /// `runs` measured runs after `warmups` discarded ones.
    pub fn new(runs: u32, warmups: u32) -> Plan {
        Plan { runs, warmups, burst: BURST }
    }

    /// For counts: one iteration that counts after one that brings the program into its usual state.
    pub fn counting() -> Plan {
        Plan { runs: 1, warmups: 1, burst: 1 }
    }

    /// The plan for a case: where that takes long, each iteration counts.
    pub fn of(self, case: &Case) -> Plan {
        if case.long { Plan { burst: 1, ..self } } else { self }
    }

    /// Iterations in all.
    pub fn iterations(self) -> u32 {
        (self.runs + self.warmups) * self.burst
    }

    /// Iterations of a turn.
    pub fn burst(self) -> u32 {
        self.burst
    }

    /// The iterations that count: the last one of each turn after the first ones.
    pub fn counted<T: Copy>(self, times: &[T]) -> Vec<T> {
        let burst = self.burst.max(1) as usize;
        // A program that ends early leaves its last turn incomplete. That turn is not counted, as its last iteration
        // may be one that only refills the caches.
        times.chunks_exact(burst).skip(self.warmups as usize).map(|turn| turn[burst - 1]).collect()
    }
}

/// The result of a participant, confirmed by the reference.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The size in the program's words.
    pub about: String,
    /// On the host's clock, from the first command to the end of the last.
    pub wall: Quartiles,
    /// The kernels on the device's clock, where it has one.
    pub device: Option<Quartiles>,
    /// On all processors, where that is what is compared.
    pub processor: Option<Quartiles>,
    /// Building, in milliseconds.
    pub build_ms: f64,
    /// The work of an iteration.
    pub work: Option<Work>,
}

/// The outcome of a case on a participant.
#[derive(Clone, Debug)]
pub enum Fate {
    /// The reference confirms the result.
    Verified(Box<Sample>),
    /// The reference has another result.
    Wrong(String),
    /// The participant does not support the case.
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
    let Times { wall, device, .. } = &outcome.times;
    let wall = Quartiles::of(&plan.counted(wall)).ok_or("it ended before a run counted: take fewer warm-ups")?;
    let device = plan.counted(device);
    // Zero stands for a launch that the device has not clocked; a median over such times would mean nothing.
    let all_clocked = device.iter().all(|d| !d.is_zero());
    Ok(Sample {
        about: outcome.size.clone(),
        wall,
        device: Quartiles::of(&device).filter(|_| all_clocked),
        processor: None,
        build_ms: outcome.build.as_secs_f64() * 1e3,
        work: outcome.work,
    })
}

/// The outcome of a run as a fate.
pub fn fate(plan: Plan, outcome: Result<Outcome, Error>) -> Fate {
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

type Ran = Option<Result<Outcome, Error>>;

/// Runs the participants that take part on threads of their own; the others give `None`.
pub fn on_threads_with<T: Send, E: Send + From<Error>>(
    (participants, plan): (&[Participant], Plan),
    takes_part: impl Fn(&Participant) -> bool,
    run: impl Fn(&Participant, RoundRobinSlot) -> Option<Result<T, E>> + Sync,
) -> Vec<Option<Result<T, E>>> {
    let active: Vec<bool> = participants.iter().map(takes_part).collect();
    // Only who takes part gets a slot: nobody's turn comes before every slot has entered or is dropped.
    let mut slots = round_robin_slots(active.iter().filter(|a| **a).count(), plan.burst).into_iter();
    let run = &run;
    std::thread::scope(|scope| {
        let running: Vec<_> = participants
            .iter()
            .zip(&active)
            .map(|(p, active)| {
                let slot = if *active { slots.next() } else { None };
                slot.map(|slot| scope.spawn(move || run(p, slot)))
            })
            .collect();
        // The thread's slot was dropped as the thread unwound, so the others have gone on without it.
        let crashed = |_| Some(Err(Error::Params("the host program panicked".into()).into()));
        running.into_iter().map(|thread| thread.and_then(|t| t.join().unwrap_or_else(crashed))).collect()
    })
}

fn on_threads(
    who: (&[Participant], Plan),
    takes_part: impl Fn(&Participant) -> bool,
    run: impl Fn(&Participant, RoundRobinSlot) -> Ran + Sync,
) -> Vec<Ran> {
    on_threads_with(who, takes_part, run)
}

fn is_native(participant: &Participant) -> bool {
    matches!(participant.who, Who::Native(_))
}

/// A native result is correct if it equals a device's result that the reference confirmed.
fn confirm(natives: &[bool], ran: &mut [Ran]) {
    let confirmed = ran.iter().zip(natives).find_map(|(r, native)| match r {
        Some(Ok(o)) if !native && matches!(o.verdict, Verdict::Passed(_)) => Some(o.answer.clone()),
        _ => None,
    });
    for outcome in ran.iter_mut().zip(natives).filter(|(_, native)| **native).filter_map(|(r, _)| r.as_mut()) {
        match (&confirmed, &mut *outcome) {
            (Some(right), Ok(outcome)) => outcome.verdict = right.compare(&outcome.answer),
            (None, _) => *outcome = Err(Error::Unsupported("no device has a right result to compare with".into())),
            (Some(_), Err(_)) => {}
        }
    }
}

fn fates(participants: &[Participant], mut ran: Vec<Ran>, plan: Plan) -> Vec<Fate> {
    confirm(&participants.iter().map(is_native).collect::<Vec<_>>(), &mut ran);
    let none = || Fate::Missing("there is none".into());
    ran.into_iter().map(|ran| ran.map_or_else(none, |outcome| fate(plan, outcome))).collect()
}

/// Measures a case on all participants; outcomes are in the same order.
pub fn case(program: &'static dyn Program, case: &Case, participants: &[Participant], plan: Plan) -> Vec<Fate> {
    let plan = plan.of(case);
    // The program runs all turns in one go; its slot makes it wait between them.
    let params = &Params { iterations: plan.iterations(), ..case.params.clone() };
    let takes_part = |p: &Participant| match p.who {
        Who::Device(_) => true,
        Who::Native(_) => has_native(program.name(), params),
    };
    let ran = on_threads((participants, plan), takes_part, |p, slot| match &p.who {
        Who::Device(found) => Some(Session::on(found).and_then(|s| program.run(&s.in_turns(slot), params))),
        Who::Native(style) => native(program.name(), params, *style, Some(slot)),
    });
    fates(participants, ran, plan)
}

/// Measures a way to launch on all devices.
pub fn launching(way: &Launching, participants: &[Participant], plan: Plan) -> Vec<Fate> {
    let ran = on_threads(
        (participants, plan),
        |p| !is_native(p),
        |p, slot| match &p.who {
            Who::Device(found) => {
                let session = Session::without_clock(found).map(|s| s.in_turns(slot));
                Some(session.and_then(|s| launches(&s, way, plan.iterations())))
            }
            Who::Native(_) => None,
        },
    );
    fates(participants, ran, plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cloom_gallery::Answer;

    #[test]
    fn only_the_last_iteration_of_a_turn_counts() {
        let plan = Plan::new(3, 2);
        assert_eq!(plan.iterations(), 10);
        assert_eq!(plan.counted(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]), [5, 7, 9]);
        assert_eq!(plan.counted(&[0, 1, 2, 3]), [0; 0]);
        let long = Case { long: true, ..cloom_gallery::cases(cloom_gallery::program("copy").unwrap())[0].clone() };
        let plan = plan.of(&long);
        assert_eq!((plan.iterations(), plan.counted(&[0, 1, 2, 3, 4])), (5, vec![2, 3, 4]));
    }

    #[test]
    fn a_native_result_needs_a_confirmed_one_to_agree_with() {
        let run = |change: u32, verdict: Verdict| {
            let params = Params { size: Some((8, 8)), iterations: 1, ..Params::default() };
            let mut outcome = native("reduce", &params, Style::Vector, None).unwrap().unwrap();
            if let Answer::Exact(sums) = &mut outcome.answer {
                sums[0] = sums[0].wrapping_add(change);
            }
            Some(Ok(Outcome { verdict, ..outcome }))
        };
        let passed = || Verdict::Passed(String::new());
        let after = |mut ran: Vec<Ran>| {
            confirm(&[false, true], &mut ran);
            ran.pop().unwrap().unwrap().map(|o| matches!(o.verdict, Verdict::Passed(_)))
        };
        assert!(after(vec![run(0, passed()), run(0, passed())]).unwrap());
        assert!(!after(vec![run(0, passed()), run(1, passed())]).unwrap(), "another sum");
        assert!(
            after(vec![run(0, Verdict::Failed(String::new())), run(0, passed())]).is_err(),
            "nothing to agree with"
        );
        assert!(after(vec![None, run(0, passed())]).is_err());
    }
}
