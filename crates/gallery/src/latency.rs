//! Latencies of launches.
//!
//! In comes a session, out come times of the host's clock. An empty kernel has no result to check; so a kernel that
//! counts is launched the same way, and its count must be that of the launches.

use crate::args;
use crate::cl::Session;
use crate::error::Result;
use crate::program::{Answer, Outcome, same};

/// How launches are made.
#[derive(Clone, Copy, Debug)]
pub struct Launching {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// Launches of an iteration.
    count: u32,
    /// Whether each is waited for.
    blocking: bool,
    /// Work-items for each compute unit, in groups of 256; a single one in all if there are none.
    items: usize,
    /// Whether the kernel counts instead of doing nothing.
    counting: bool,
}

/// The ways to launch.
pub const LAUNCHING: &[Launching] = &[
    Launching {
        name: "empty blocking",
        about: "one work-item, each launch waited for",
        count: 200,
        blocking: true,
        items: 0,
        counting: false,
    },
    Launching {
        name: "empty queued",
        about: "one work-item, a thousand launches, then one wait",
        count: 1000,
        blocking: false,
        items: 0,
        counting: false,
    },
    Launching {
        name: "count queued",
        about: "the same, and each launch adds one to a number",
        count: 1000,
        blocking: false,
        items: 0,
        counting: true,
    },
    Launching {
        name: "empty wide blocking",
        about: "256 work-items for each compute unit, each launch waited for",
        count: 200,
        blocking: true,
        items: 256,
        counting: false,
    },
];

const KERNELS: &str = "kernel void empty(void) {}
kernel void count(global uint *n) { if (get_global_id(0) == 0) n[0]++; }
";

/// Measures one way to launch; an iteration's time is that of one launch. The session needs no clock.
pub fn launches(session: &Session, way: &Launching, iterations: u32) -> Result<Outcome> {
    let built = session.build("latency", KERNELS, "")?;
    let (empty, count) = (built.kernel("empty")?, built.kernel("count")?);
    let number = session.zeroed::<u32>(1)?;
    let (global, local) = match way.items {
        0 => (1, 1),
        n => (n * session.found.units as usize, n.min(session.found.max_group)),
    };
    // Both kernels once before the measurement: their arguments are set and their code is loaded then.
    session.launch(&count, args![&number], &[1], &[1])?;
    session.launch(&empty, args![], &[1], &[1])?;
    session.finish()?;
    session.forget();
    let repeat = |kernel| -> Result<()> {
        for _ in 0..way.count {
            session.launch_again(kernel, &[global], &[local])?;
            if way.blocking {
                session.finish()?;
            }
        }
        Ok(())
    };
    let mut times = session.measure(iterations, |_| {
        repeat(if way.counting { &count } else { &empty })?;
        Ok(true)
    })?;
    times.wall.iter_mut().for_each(|t| *t /= way.count);
    times.device.clear();
    // The same loop with the kernel that counts shows that no launch was left out.
    if !way.counting {
        repeat(&count)?;
    }
    let rounds = if way.counting { iterations } else { 1 };
    let counted = session.read(&number)?;
    Ok(Outcome {
        variant: way.name,
        size: format!("{global} work-items, {} launches", way.count),
        build: built.time,
        times,
        work: None,
        verdict: same(&counted, &[1 + way.count * rounds], "count of launches"),
        answer: Answer::Exact(counted),
        picture: None,
        chart: None,
        notes: Vec::new(),
    })
}
