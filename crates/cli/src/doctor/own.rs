//! Whether Cloom itself works here, without loader and driver file: compiles a kernel with the compiler that this
//! program has, runs it on the CPU, and checks the result. When this is fine and `drivers` is not, the fault is between
//! the loader and the driver.

#![allow(unsafe_code, reason = "a launch from Rust is unsafe; this one is of a kernel that is written here")]

use super::Finding;
use crate::child;
use crate::outcome::{Answer, Exit};
use cloom::{Context, Error, Range};
use serde::{Deserialize, Serialize};
use std::time::Instant;

const AREA: &str = "compiler";

/// More than one vector and not a multiple of one.
const ITEMS: usize = 1001;

const SOURCE: &str = "kernel void square(global uint *p) { uint i = get_global_id(0); p[i] = p[i] * p[i] + i; }";

/// Prefix of the child's line.
const MARK: &str = "cloom-own-probe/1 ";

/// Checks it, in a process of its own: that leaves no cache behind, and a crash is a finding.
pub fn look() -> Vec<Finding> {
    let ended = child::myself("own-probe").map_err(|e| e.message).and_then(|mut command| {
        child::run_unless_it_hangs(super::quietly(&mut command)).map_err(|e| format!("cannot start a process: {e}"))
    });
    let ended = match ended {
        Ok(ended) => ended,
        Err(why) => return vec![Finding::problem(AREA, why, "free memory or processes, and try again")],
    };
    let line = ended.out.lines().find_map(|l| l.strip_prefix(MARK));
    let told = line.and_then(|json| serde_json::from_str(json).ok());
    vec![match (told, ended.trouble()) {
        (Some(WorkerReply { error: None, ms }), None) => {
            Finding::ok(AREA, format!("compiled a kernel and ran it on this CPU, right, in {ms:.1} ms"))
        }
        (Some(WorkerReply { error: Some(error), .. }), None) => Finding::problem(
            AREA,
            error,
            "see the section `cpu` for what this machine lacks; if it lacks nothing, report it with what `cloom info` says",
        ),
        (_, trouble) => Finding::problem(
            AREA,
            format!("Cloom's compiler {}", trouble.unwrap_or_else(|| "says nothing".into())),
            "this is a bug of Cloom: report it, with what `cloom info` says of the CPU; CLOOM_LANES=1 may help meanwhile",
        ),
    }]
}

/// What the child tells.
#[derive(Serialize, Deserialize)]
struct WorkerReply {
    error: Option<String>,
    ms: f64,
}

/// The child.
pub fn probe() -> Answer {
    let wrong = |results: &[u32]| (0..ITEMS).find(|&i| results[i] != expected(i));
    let told = match compute() {
        Ok((results, ms)) => {
            let error = wrong(&results)
                .map(|i| format!("a kernel computed {} for element {i}, not {}", results[i], expected(i)));
            WorkerReply { error, ms }
        }
        Err(error) => WorkerReply { error: Some(error.to_string()), ms: 0.0 },
    };
    Answer::text(format!("\n{MARK}{}\n", serde_json::to_string(&told).unwrap_or_default()), Exit::Fine)
}

fn compute() -> Result<(Vec<u32>, f64), Error> {
    let begin = Instant::now();
    let context = Context::new()?;
    let square = context.build(SOURCE)?.kernel("square")?;
    let p = context.buffer_from(&(0..ITEMS as u32).collect::<Vec<u32>>())?;
    // SAFETY: the buffer has an element for each work-item.
    unsafe { square.launch(Range::new([ITEMS]), (&p,))? };
    let results = p.to_vec()?;
    Ok((results, begin.elapsed().as_secs_f64() * 1e3))
}

fn expected(i: usize) -> u32 {
    let i = i as u32;
    i * i + i
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_works_here() {
        let (results, _) = super::compute().unwrap();
        assert!((0..super::ITEMS).all(|i| results[i] == super::expected(i)));
    }
}
