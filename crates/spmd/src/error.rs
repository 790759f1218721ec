//! Why a kernel has no code, or no vectors: three things that never share a type.
//!
//! | type | is | then |
//! |---|---|---|
//! | [`Error`] | the kernel cannot be compiled at all | the caller reports it |
//! | [`NotVectorised`] | a limit of the vectoriser: a decision | work-items run one at a time, and a remark says why |
//! | [`InternalError`] | a bug of the vectoriser | debug builds panic; else as above, counted and reported as a bug |

use std::fmt;
use std::panic::Location;

/// Why a kernel cannot be compiled.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// Not a kernel with a body.
    #[error("{0} is not a kernel with a body")]
    NotAKernel(String),
    /// A callee that should have been inlined.
    #[error("{0} waits at a barrier or asks for an id, but was not inlined")]
    NotInlined(String),
    /// Too many continuations.
    #[error("the kernel has {0} barriers after inlining, {1} are the limit")]
    Barriers(usize, usize),
    /// Neither vector nor scalar code: a bug.
    #[error("{0}")]
    Internal(#[from] InternalError),
}

/// A limit of the vectoriser.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotVectorised {
    /// LLVM takes minutes for as much code in vectors.
    #[error("it is too large")]
    TooLarge,
    /// Restructuring loops takes time for each.
    #[error("it has too many loops")]
    TooManyLoops,
    /// Control flow is linearised up to where it meets again: the end.
    #[error("a loop has no end")]
    EndlessLoop,
    /// Only natural loops are linearised, and [`cloom_passes::reducible`] did not make it one.
    #[error("it has a cycle with two entries")]
    Irreducible,
    /// The private arrays of a vector's lanes would not fit on the stack.
    #[error("its private arrays are too large")]
    PrivateArrays,
}

/// A contradiction inside the vectoriser: a bug.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InternalError {
    /// What does not hold.
    pub what: &'static str,
    /// Where that was found.
    pub file: &'static str,
    /// And in which line.
    pub line: u32,
}

impl fmt::Display for InternalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, file, line } = self;
        write!(f, "a bug in the vectoriser of Cloom, please report it: {what} ({file}:{line})")
    }
}

impl std::error::Error for InternalError {}

/// Why no vector code was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// A decision.
    Limit(NotVectorised),
    /// A bug.
    Bug(InternalError),
}

impl From<NotVectorised> for Stop {
    fn from(limit: NotVectorised) -> Stop {
        Stop::Limit(limit)
    }
}

/// What cannot be, noticed by its caller.
#[track_caller]
pub(crate) fn internal(what: &'static str) -> InternalError {
    let at = Location::caller();
    InternalError { what, file: at.file(), line: at.line() }
}

/// The same, in place of vector code.
#[track_caller]
pub(crate) fn bug(what: &'static str) -> Stop {
    Stop::Bug(internal(what))
}
