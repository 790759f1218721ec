//! The kernel of a file as a row of `bench`: measured on all devices in turns, like a program of the gallery. There is
//! no reference; a device whose memory differs from that of the first one is reported.

use super::measure::{Fate, Participant, Plan, Sample, Who, on_threads_with};
use super::statistics::Quartiles;
use crate::agree::same_memory;
use crate::outcome::Failure;
use crate::run::kernel::{Job, Launched};
use cloom_gallery::{Session, Verdict};

/// Units in the last place by which floats may differ.
const ULPS: u32 = 16;

/// Measures it; fates are in the order of the participants.
pub fn job(job: &Job, participants: &[Participant], plan: Plan) -> Vec<Fate> {
    let is_device = |p: &Participant| matches!(p.who, Who::Device(_));
    let ran = on_threads_with((participants, plan), is_device, |p, slot| match &p.who {
        Who::Device(found) => {
            let session = Session::on(found).map_err(Failure::from);
            Some(session.and_then(|s| job.launch(&s.in_turns(slot), plan.iterations(), |_| {})))
        }
        Who::Native(_) => None,
    });
    let first: Option<Vec<Vec<u8>>> = ran.iter().flatten().find_map(|r| r.as_ref().ok().map(|l| l.after.clone()));
    let fate = |ran: Option<Result<Launched, Failure>>| match (ran, &first) {
        (None, _) => Fate::Missing("there is none".into()),
        (Some(Err(failure)), _) => Fate::Failed(failure.message),
        (Some(Ok(launched)), Some(first)) => match same_memory(job, first, &launched.after, ULPS) {
            Verdict::Failed(why) => Fate::Wrong(format!("other than the first device's result: {why}")),
            Verdict::Passed(_) => sample(plan, &launched),
        },
        (Some(Ok(launched)), None) => sample(plan, &launched),
    };
    ran.into_iter().map(fate).collect()
}

fn sample(plan: Plan, launched: &Launched) -> Fate {
    // The launch for the result has its own turn; those that count come after it.
    let Some(wall) = Quartiles::of(&plan.counted(&launched.times.wall)) else {
        return Fate::Failed("it ended before a run counted: take fewer warm-ups".into());
    };
    let device = plan.counted(&launched.times.device);
    let all_clocked = device.iter().all(|d| !d.is_zero());
    Fate::Verified(Box::new(Sample {
        about: "kernel of a file".into(),
        wall,
        device: Quartiles::of(&device).filter(|_| all_clocked),
        processor: None,
        build_ms: launched.build.as_secs_f64() * 1e3,
        work: None,
    }))
}
