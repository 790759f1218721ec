//! Whether Cloom itself works here, without loader and driver file: compiles a kernel with the compiler that this
//! program has, runs it on the CPU, and checks the result. When this is fine and `drivers` is not, the fault is between
//! the loader and the driver.

#![allow(unsafe_code, reason = "a launch from Rust is unsafe; this one is of a kernel that is written here")]

use super::Finding;
use cloom::{Context, Error, Range};
use std::time::Instant;

const AREA: &str = "compiler";

/// More than one vector and not a multiple of one.
const ITEMS: usize = 1001;

const SOURCE: &str = "kernel void square(global uint *p) { uint i = get_global_id(0); p[i] = p[i] * p[i] + i; }";

/// Checks it.
pub fn look() -> Vec<Finding> {
    vec![match compute() {
        Ok((results, ms)) => match (0..ITEMS).find(|&i| results[i] != expected(i)) {
            None => Finding::ok(AREA, format!("compiled a kernel and ran it on this CPU, right, in {ms:.1} ms")),
            Some(i) => Finding::problem(
                AREA,
                format!("a kernel computed {} for element {i}, not {}", results[i], expected(i)),
                "this is a bug of Cloom: report it, with what `cloom info` says of the CPU; CLOOM_LANES=1 may help meanwhile",
            ),
        },
        Err(error) => Finding::problem(AREA, error.to_string(), "see the section `cpu` for what this machine lacks"),
    }]
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
        let findings = super::look();
        assert_eq!((findings.len(), findings[0].status), (1, super::super::Status::Ok), "{findings:?}");
    }
}
