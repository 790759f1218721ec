//! Faults: the errors that a running kernel can cause.

use cloom_ir::Span;

/// Why a run ended early, and where.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{kind} (in `{func}`{}, work-item {item:?})", location(.span))]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// The function that ran; empty before the first.
    pub func: String,
    /// Where in the source.
    pub span: Span,
    /// The global id of the work-item.
    pub item: [u64; 3],
}

fn location(span: &Span) -> String {
    if *span == Span::NONE { String::new() } else { format!(", line {} column {}", span.line, span.col) }
}

impl From<FaultKind> for Fault {
    fn from(kind: FaultKind) -> Self {
        Fault { kind, func: String::new(), span: Span::NONE, item: [0; 3] }
    }
}

/// What happened.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FaultKind {
    /// An access to no object: null, or an invented address.
    #[error("an access of {size} bytes at {address:#x}, where nothing is")]
    NoObject {
        /// Where.
        address: u64,
        /// How much.
        size: u64,
    },
    /// An access through a null pointer with an offset.
    #[error("an access of {size} bytes through a null pointer, at offset {offset}")]
    Null {
        /// What was added to the pointer.
        offset: i64,
        /// How much.
        size: u64,
    },
    /// An access to memory whose lifetime has ended.
    #[error("an access of {size} bytes at {address:#x}, where an object has been")]
    Ended {
        /// Where.
        address: u64,
        /// How much.
        size: u64,
    },
    /// An access that leaves its object.
    #[error("an access of {size} bytes at offset {offset} of an object of {object} bytes")]
    OutOfBounds {
        /// Offset from the start of the object; negative for an access before it.
        offset: i64,
        /// How much.
        size: u64,
        /// Bytes of the object.
        object: u64,
        /// Where the object begins.
        base: u64,
    },
    /// A write to what is constant.
    #[error("a write to constant memory at {0:#x}")]
    ReadOnly(u64),
    /// An address without the alignment that the access promises.
    #[error("an access at {address:#x} that should be aligned to {align}")]
    Misaligned {
        /// Where.
        address: u64,
        /// What was promised.
        align: u32,
    },
    /// Work-items of a group wait at different barriers.
    #[error("work-items of one group wait at different barriers")]
    BarrierDivergence,
    /// Some work-items of a group ended while others wait at a barrier, where options forbid it.
    #[error("work-items of one group ended while others wait at a barrier")]
    BarrierAfterReturn,
    /// More instructions of one work-item between two barriers than allowed.
    #[error("a loop went round {rounds} times and has not ended")]
    Endless {
        /// The start of the loop, unless there is none.
        head: Span,
        /// How many times it went round.
        rounds: u64,
    },
    /// More instructions than allowed.
    #[error("the limit of instructions is reached")]
    Fuel,
    /// More memory than allowed.
    #[error("the limit of memory is reached")]
    Memory,
    /// Control reached what is marked as never reached.
    #[error("control reached what cannot be reached")]
    Unreachable,
    /// A call of a declaration.
    #[error("`{0}` is called and has no body")]
    NoBody(String),
    /// A barrier or a query of work-item ids in a work-group function.
    #[error("a barrier or a query in a function that runs outside of a work-item")]
    NotInItem,
    /// Device-side enqueue, which needs queues.
    #[error("the interpreter has no queues: device-side enqueue needs a device")]
    NoLauncher,
    /// A sample of a texture.
    #[error("the kernel samples a texture, and here is no texture unit")]
    NoTextures,
    /// The kernel does not exist.
    #[error("no kernel is named `{0}`")]
    NoKernel(String),
    /// Arguments or ranges that do not fit the kernel.
    #[error("bad launch: {0}")]
    BadLaunch(&'static str),
}
