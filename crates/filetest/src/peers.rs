//! Generated programs on other OpenCL platforms. All rungs of the [`crate::ladder`] share the front end, the library
//! and the reference; only other implementations can show that these are wrong.
//!
//! In comes a portable program, which any implementation must run alike; out goes whether a platform leaves in each
//! buffer what the reference interpreter leaves. A program of two files goes as one text. Results of math functions may
//! differ by [`MAX_ULPS`].
//!
//! Known bugs of a platform are excused by [`EXCUSES`], one construct each, with the reason. A program without that
//! construct is never excused.

use crate::case::{CaseArg, NdRange, Outcome};
use crate::generate::Generated;
use crate::ladder::{Ladder, Verdict};
use cloom_gallery::cl::Built;
use cloom_gallery::{Arg, Buffer, Session};
use cloom_ir::{Module, Space};

pub use cloom_gallery::cl::POCL;

/// How a platform did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// It has the same results on each range.
    Same,
    /// It cannot run the program, for this reason.
    NotAsked(&'static str),
    /// It rejects the program.
    Refused(String),
    /// It differs, and is known to with one of the program's constructs: the reason.
    Excused(&'static str),
    /// It differs.
    Differs(String),
}

/// A construct that a platform gets wrong.
#[derive(Debug)]
pub struct Excuse {
    /// The platform's name.
    pub platform: &'static str,
    /// A pattern of texts with the construct.
    pub construct: &'static str,
    /// What goes wrong, and how that was found.
    pub reason: &'static str,
}

/// What is excused.
pub const EXCUSES: &[Excuse] = &[
    Excuse { platform: POCL, construct: "get_local_size(3)", reason: NO_DIMENSION },
    Excuse { platform: POCL, construct: "get_num_groups(3)", reason: NO_DIMENSION },
    Excuse { platform: POCL, construct: "get_global_size(3)", reason: NO_DIMENSION },
    // `int *p[2] = {&a, &b}; *p[n & 1] = gid; int h = b; barrier(…); out[gid] = h;` stores the last id everywhere.
    Excuse { platform: POCL, construct: "*pp", reason: POINTER_IN_MEMORY },
    Excuse { platform: POCL, construct: "**w", reason: POINTER_IN_MEMORY },
    // `atomic_sub(&c[g & 3u], 5u); switch (h & 3) { case 1: … case 0: … case 2: case 3: … }` behind a barrier.
    Excuse { platform: POCL, construct: "case 2: case 3: {", reason: "atomics before a switch count twice" },
    // `switch (x & 3) { case 3: case 0: … case 1: for (…) … case 2: }` before a barrier; right without that.
    Excuse { platform: POCL, construct: "case 3: case 0: {", reason: "a loop in a case is left out before a barrier" },
    // `vstorea_half3_rtp((double3)(1, 2, 3), 0, p)` alone shows it.
    Excuse { platform: POCL, construct: "vstorea_half3", reason: "a fourth element is overwritten by 0" },
];

/// As the kernel library of PoCL 3.1 has it; the specification asks for 1.
const NO_DIMENSION: &str = "sizes of dimensions that there are not are 0";

/// Its kernels of several work-items: each alone, or without the barrier, is right.
const POINTER_IN_MEMORY: &str = "a variable behind a pointer in private memory is one for the group, beside a barrier";

/// Units in the last place between two results of a math function. The standard allows up to 16 on each side.
const MAX_ULPS: u64 = 64;
/// Below this a result may be flushed to zero, and differences are absolute.
const TINY: f32 = 1e-30;

/// Whether two results of a math function are as near as the standard requires.
fn is_near(a: f32, b: f32) -> bool {
    // The floats in their order, as integers.
    let rank = |x: f32| {
        let bits = i64::from(x.to_bits() & 0x7fff_ffff);
        if x.is_sign_negative() { -bits } else { bits }
    };
    a.is_nan() && b.is_nan() || rank(a).abs_diff(rank(b)) <= MAX_ULPS || (a - b).abs() <= TINY
}

/// Replaces what a peer left in the inexact buffer by what was wanted, where both are near each other.
fn forgive(want: &Outcome, got: &mut Outcome, buffer: usize) {
    let (Some(want), Some(got)) = (want.buffers.get(buffer), got.buffers.get_mut(buffer)) else { return };
    for (w, g) in want.as_chunks::<4>().0.iter().zip(got.as_chunks_mut::<4>().0) {
        if is_near(f32::from_le_bytes(*w), f32::from_le_bytes(*g)) {
            *g = *w;
        }
    }
}

/// Bytes of local memory that a group of kernel `k` has: its variables and its arguments. Alignment is not counted.
fn local_memory(module: &Module, args: &[CaseArg]) -> u64 {
    let variables = module.globals.values().filter(|g| g.space == Space::Local).map(|g| g.size);
    let arguments = args.iter().map(|arg| if let CaseArg::Local(size) = arg { *size } else { 0 });
    variables.chain(arguments).fold(0, u64::saturating_add)
}

/// What a platform leaves after a range; `None` if it cannot be asked.
fn run(session: &Session, built: &Built, args: &[CaseArg], range: &NdRange) -> Result<Option<Outcome>, String> {
    let kernel = built.kernel("k").map_err(|e| e.to_string())?;
    let (mut buffers, mut list): (Vec<Buffer<u32>>, Vec<Arg>) = Default::default();
    for arg in args {
        list.push(match arg {
            CaseArg::Buffer(bytes) => {
                let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)).collect();
                buffers.push(session.upload(&words).map_err(|e| e.to_string())?);
                Arg::from(&buffers[buffers.len() - 1])
            }
            CaseArg::Again(earlier) => list[*earlier],
            CaseArg::Local(size) => Arg::Local(*size as usize),
            CaseArg::Bytes(bytes) => match Arg::value(bytes) {
                Some(arg) => arg,
                None => return Ok(None),
            },
        });
    }
    let dim = range.work_dim as usize;
    let sizes = |s: [u64; 3]| s[..dim].iter().map(|&x| x as usize).collect::<Vec<usize>>();
    session.launch(&kernel, &list, &sizes(range.global), &sizes(range.local)).map_err(|e| e.to_string())?;
    let mut read = Vec::new();
    for buffer in &buffers {
        let words = session.read(buffer).map_err(|e| e.to_string())?;
        read.push(words.into_iter().flat_map(u32::to_le_bytes).collect());
    }
    Ok(Some(Outcome { buffers: read, printed: Vec::new() }))
}

/// The source as one file, which is what other platforms get.
pub fn one_file(source: &str) -> String {
    source.replace(crate::generate::families::link::SECOND, "")
}

/// Compares a platform with the reference on a source of a program. An error is a program at fault: it does not compile
/// here, or depends on the order of work-items.
pub fn compare(ladder: &Ladder, session: &Session, program: &Generated, source: &str) -> Result<Comparison, String> {
    // Sessions know no offsets, and no partial groups.
    let mut program = program.clone();
    for range in &mut program.ranges {
        range.offset = [0; 3];
        range.global = std::array::from_fn(|d| range.global[d] - range.global[d] % range.local[d]);
    }
    if session.found.platform != POCL {
        // A group of a GPU is not larger in the third dimension.
        program.ranges.retain(|r| r.local[2] <= 64);
    }
    let source = one_file(source);
    let (module, wanted) = match ladder.reference(&source, &program) {
        Ok(reference) => reference,
        Err(verdict) if *verdict == Verdict::TooLong => {
            return Ok(Comparison::NotAsked("it takes too long for the interpreter"));
        }
        Err(verdict) => return Err(format!("a bad program: {verdict:?}")),
    };
    // Without the option a quotient may be off by some units; the reference's is not.
    let options = match session.found.platform.as_str() {
        POCL => program.options.to_owned(),
        _ => format!("{} -cl-fp32-correctly-rounded-divide-sqrt", program.options),
    };
    let built = match session.build("k.cl", &source, &options) {
        Ok(built) => built,
        // Clang parses `[0 ... 9] = x` and has no code for it in OpenCL C.
        Err(e) if e.to_string().contains("cannot compile this GNU array range designator extension yet") => {
            return Ok(Comparison::NotAsked("its compiler has no ranges of designators"));
        }
        Err(e) => return Ok(Comparison::Refused(e.to_string())),
    };
    let what = differs(session, &built, &module, &program, &wanted);
    Ok(match what {
        Ok(None) => Comparison::Same,
        Ok(Some(why)) => Comparison::NotAsked(why),
        Err(what) => {
            let known = |e: &&Excuse| session.found.platform == e.platform && source.contains(e.construct);
            match EXCUSES.iter().find(known) {
                Some(excuse) => Comparison::Excused(excuse.reason),
                None => Comparison::Differs(what),
            }
        }
    })
}

/// `None` if the platform agrees, or why it cannot be asked; the error says how it differs.
fn differs(
    session: &Session,
    built: &Built,
    module: &Module,
    program: &Generated,
    wanted: &[Outcome],
) -> Result<Option<&'static str>, String> {
    for (range, want) in program.ranges.iter().zip(wanted) {
        let args = program.arguments(module, range);
        if local_memory(module, &args) > session.found.local_memory {
            return Ok(Some("it needs more local memory than the device has"));
        }
        let Some(mut got) = run(session, built, &args, range)? else {
            return Ok(Some("its structure is larger than arguments can be here"));
        };
        if let Some(buffer) = program.inexact_buffer() {
            forgive(want, &mut got, buffer);
        }
        if let Some(d) = want.difference(&got) {
            return Err(format!("{d} (the reference first; global {:?}, local {:?})", range.global, range.local));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_is_a_few_units_in_the_last_place() {
        let next = |x: f32, n: u32| f32::from_bits(x.to_bits() + n);
        assert!(is_near(1.5, next(1.5, 64)) && !is_near(1.5, next(1.5, 65)));
        assert!(is_near(0.0, -0.0) && is_near(1e-40, 0.0) && !is_near(1e-20, 0.0));
        assert!(is_near(f32::NAN, -f32::NAN) && !is_near(f32::NAN, 1.0));
        assert!(is_near(f32::MAX, f32::INFINITY) && !is_near(1.0, -1.0));
        let outcome = |x: f32| Outcome { buffers: vec![x.to_le_bytes().into()], printed: Vec::new() };
        let (want, mut got) = (outcome(2.0), outcome(next(2.0, 3)));
        forgive(&want, &mut got, 0);
        assert_eq!(want, got);
        let mut got = outcome(2.1);
        forgive(&want, &mut got, 0);
        assert!(want.difference(&got).is_some());
    }
}
