//! The passes on LLVM IR and on machine code that are Cloom's own: their names, switches and counters.
//!
//! In come the passes that a compilation runs with ([`PassOptions`]); out goes what each did ([`Statistics`]). Those in
//! C++ (`cpp/own_passes.h`) learn whether they are on, and say what they did, through one [`PassRecord`] each; those in
//! Rust are run by [`OwnPasses::step`].
//!
//! A transformation that could be done on Cloom's IR is done there, in `cloom_passes`. One is here if LLVM's passes
//! would undo it, if it mends what LLVM makes, or if it directs a pass of LLVM; the head of its file says which.

use cloom_passes::{PassId, PassOptions, Statistics};
use std::time::{Duration, Instant};

/// `cpp/demote_wide.cpp`. Counts values.
pub const DEMOTE_WIDE: PassId = PassId::optional("demote-wide", "values that many blocks use live in memory");
/// `cpp/unroll.cpp`. Counts loops.
pub const UNROLL_INNERMOST: PassId =
    PassId::optional("unroll-innermost", "innermost loops of searches and of loads are unrolled");
/// `cpp/unroll.cpp`. Counts loops.
pub const LIMIT_UNROLLING: PassId =
    PassId::optional("limit-unrolling", "ptxas does not unroll what unrolling has left over");
/// `cpp/flatten_guards.cpp`. Counts blocks.
pub const FLATTEN_GUARDS: PassId =
    PassId::optional("flatten-guards", "only loads are control-dependent on guards, not what uses them");
/// `cpp/branches.cpp`. Counts loops.
pub const TRUE_BACK_EDGES: PassId =
    PassId::optional("true-back-edges", "loops lead back on a true condition, so that ptxas unrolls them");
/// `cpp/preserve_increments.cpp`. Counts pointers.
pub const PRESERVE_INCREMENTS: PassId =
    PassId::optional("preserve-increments", "loop strength reduction keeps the increments of some pointers");
/// `cpp/branches.cpp`. Counts blocks.
pub const SINGLE_ENTRY_CYCLES: PassId =
    PassId::required("single-entry-cycles", "cycles that passes gave several entries have one");
/// [`crate::masks`]. Counts functions.
pub const LEGALISE_MASKS: PassId =
    PassId::optional("legalise-masks", "masks are vectors of integers where there are no mask registers");
/// [`crate::gpu::legalise`]. Counts instructions.
pub const LEGALISE_GPU: PassId =
    PassId::required("legalise-gpu", "instructions that LLVM cannot select for a GPU become others");

/// Of [`crate::gpu::finish`], on the text of the code. Counts instructions.
pub const TEXT_PEEPHOLE: PassId =
    PassId::optional("ptx-peephole", "a few instructions of PTX become others that ptxas optimises better");
/// Of [`crate::gpu::finish`], on the text of the code. Counts instructions.
pub const TEXT_ERRATA: PassId = PassId::required("ptx-errata", "instructions that ptxas miscompiles become others");

/// Every pass of this crate. Those in C++ are first, in the order of `OwnPass` in `cpp/own_passes.h`.
pub const PASSES: &[PassId] = &[
    DEMOTE_WIDE,
    UNROLL_INNERMOST,
    LIMIT_UNROLLING,
    FLATTEN_GUARDS,
    TRUE_BACK_EDGES,
    PRESERVE_INCREMENTS,
    SINGLE_ENTRY_CYCLES,
    LEGALISE_MASKS,
    LEGALISE_GPU,
    TEXT_PEEPHOLE,
    TEXT_ERRATA,
];

/// How many of [`PASSES`] are in C++.
pub(crate) const IN_CPP: usize = 7;

/// What a compilation says of a pass in C++, and what the pass did. The layout is that of `cpp/own_passes.h`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct PassRecord {
    is_on: bool,
    is_spoiled: bool,
    runs: u32,
    changes: u32,
    nanoseconds: u64,
}

/// The passes of one compilation.
#[derive(Debug)]
pub(crate) struct OwnPasses<'a> {
    options: &'a PassOptions,
    /// The only ones that run, if that is asked for.
    wanted: Option<&'a [PassId]>,
    statistics: Statistics,
}

impl<'a> OwnPasses<'a> {
    /// None has run.
    pub fn new(options: &'a PassOptions) -> OwnPasses<'a> {
        OwnPasses { options, wanted: None, statistics: Statistics::default() }
    }

    /// None has run, and only those that are `wanted` will.
    pub fn only(options: &'a PassOptions, wanted: &'a [PassId]) -> OwnPasses<'a> {
        OwnPasses { wanted: Some(wanted), ..OwnPasses::new(options) }
    }

    fn is_on(&self, id: PassId) -> bool {
        !self.options.disabled.has(id) && self.wanted.is_none_or(|wanted| wanted.contains(&id))
    }

    /// Runs passes in C++: `run` gets a record for each.
    pub fn in_cpp(&mut self, run: impl FnOnce(&mut [PassRecord; IN_CPP])) {
        let mut records = std::array::from_fn(|i| PassRecord {
            is_on: self.is_on(PASSES[i]),
            is_spoiled: self.is_spoiled(PASSES[i]),
            runs: 0,
            changes: 0,
            nanoseconds: 0,
        });
        run(&mut records);
        // A pass that is off, or that this effort does not include, has not run: it is not in the statistics.
        for (&id, record) in PASSES.iter().zip(&records).filter(|(_, record)| record.runs > 0) {
            let time = Duration::from_nanos(record.nanoseconds);
            self.statistics.record(id, record.runs, record.changes as usize, time);
        }
    }

    /// Runs a pass, which says how often it changed something, unless it is switched off. Returns that number.
    pub fn step(&mut self, id: PassId, run: impl FnOnce() -> usize) -> usize {
        let done: Result<usize, std::convert::Infallible> = self.try_step(id, || Ok(run()));
        done.unwrap_or_else(|never| match never {})
    }

    /// The same for a pass that can fail.
    pub fn try_step<E>(&mut self, id: PassId, run: impl FnOnce() -> Result<usize, E>) -> Result<usize, E> {
        if !self.is_on(id) {
            return Ok(0);
        }
        let since = Instant::now();
        let changes = run()?;
        self.statistics.record(id, 1, changes, since.elapsed());
        Ok(changes)
    }

    /// Whether a test wants what a pass changed to be wrong.
    pub fn is_spoiled(&self, id: PassId) -> bool {
        self.options.spoiled == Some(id)
    }

    /// What all did.
    pub fn into_statistics(self) -> Statistics {
        self.statistics
    }
}
