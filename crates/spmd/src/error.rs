//! Why a kernel has no code, or no vector code. The three cases have three types:
//!
//! | type | is | consequence |
//! |---|---|---|
//! | [`Error`] | the kernel cannot be compiled at all | the caller reports it |
//! | [`NotVectorised`] | a limit of the vectoriser: a decision | scalar code, and a remark says why |
//! | [`InternalError`] | a bug of the vectoriser | a panic in debug builds; else counted, with scalar code |

use std::fmt;
use std::panic::Location;

/// Why a kernel cannot be compiled.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// Not a kernel with a body.
    #[error("{0} is not a kernel with a body")]
    NotAKernel(String),
    /// A callee that queries ids or waits at a barrier, and so should have been inlined.
    #[error("{0} waits at a barrier or asks for an id, but was not inlined")]
    NotInlined(String),
    /// Too many continuations.
    #[error("the kernel has {0} barriers after inlining, {1} are the limit")]
    Barriers(usize, usize),
    /// Neither vector nor scalar code could be emitted: a bug.
    #[error("{0}")]
    Internal(#[from] InternalError),
}

/// A limit of the vectoriser.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotVectorised {
    /// LLVM takes minutes to compile that much vector code.
    #[error("it is too large")]
    TooLarge,
    /// Canonicalisation analyses the function anew for each loop that it restructures.
    #[error("it has too many loops")]
    TooManyLoops,
    /// A loop without an exit: linearisation needs a post-dominator for each block.
    #[error("a loop has no end")]
    EndlessLoop,
    /// Only natural loops are linearised, and [`cloom_passes::loops::reducible`] did not make this one natural.
    #[error("it has a cycle with two entries")]
    Irreducible,
    /// The private arrays of all lanes of a vector would not fit on the stack.
    #[error("its private arrays are too large")]
    PrivateArrays,
}

/// A violated invariant of the vectoriser: a bug.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InternalError {
    /// The invariant that is violated.
    pub what: &'static str,
    /// The source file that noticed it.
    pub file: &'static str,
    /// The line in that file.
    pub line: u32,
}

impl NotVectorised {
    /// Its name, for programs. It stays when the text is reworded.
    pub fn code(self) -> &'static str {
        match self {
            NotVectorised::TooLarge => "too-large",
            NotVectorised::TooManyLoops => "too-many-loops",
            NotVectorised::EndlessLoop => "endless-loop",
            NotVectorised::Irreducible => "irreducible",
            NotVectorised::PrivateArrays => "private-arrays",
        }
    }
}

impl fmt::Display for InternalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, file, line } = self;
        write!(f, "a bug in the vectoriser of Cloom, please report it: {what} ({file}:{line})")
    }
}

impl std::error::Error for InternalError {}

/// Why no vector code was emitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// A limit: a decision.
    Limit(NotVectorised),
    /// A bug.
    Bug(InternalError),
}

impl From<NotVectorised> for Stop {
    fn from(limit: NotVectorised) -> Stop {
        Stop::Limit(limit)
    }
}

/// What becomes of a bug.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BugPolicy {
    /// It panics, so that tests find it; else the kernel gets scalar code, and the caller is told.
    pub panics: bool,
    /// Tests plant one in the place of vector code.
    pub planted: Option<InternalError>,
}

impl BugPolicy {
    /// That of this build.
    pub const BUILD: BugPolicy = BugPolicy { panics: cfg!(debug_assertions), planted: None };
}

/// What cannot be, noticed by its caller.
#[track_caller]
pub(crate) fn internal(what: &'static str) -> InternalError {
    let at = Location::caller();
    InternalError { what, file: at.file(), line: at.line() }
}

/// The same as the reason to stop.
#[track_caller]
pub(crate) fn bug(what: &'static str) -> Stop {
    Stop::Bug(internal(what))
}
