//! The decisions of the vectoriser, as data.
//!
//! Each is recorded where it is made: by the emitter where it writes an access, a call, a branch or a loop, by the
//! cost model where it chooses the width, by a transformation where it rewrites something. Nothing is predicted from
//! shapes: the form also depends on masks, on other accesses, on the processor. [`words`] says decisions in words; the
//! sentence is called a remark.

pub mod coarsening;
pub mod reason;
pub mod words;

pub use crate::analysis::shape::Shape;
use crate::analysis::weights::{INDEXED_ACCESS, SERIAL, STRIDED_ACCESS};
use cloom_ir::{CallSite, Function, Span};
pub use reason::{Reason, Varies};
use std::sync::Arc;

/// What a decision is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// A load.
    Load,
    /// A store.
    Store,
    /// A load or a store, before it is known how it is written.
    Access,
    /// An atomic operation.
    Atomic,
    /// A copy or an assignment of many bytes.
    Copy,
    /// A read by a texture unit.
    Sample,
    /// A call of a function that was not inlined.
    Call,
    /// A call of the launcher, for device-side enqueue.
    LauncherCall,
    /// `printf`.
    Printf,
    /// A branch.
    Branch,
    /// A loop, at the branch by which lanes leave it.
    Loop,
    /// A barrier.
    Barrier,
    /// How the work-items of a group go on after a barrier.
    Dispatch,
    /// An index of 32 bits.
    Index,
    /// Integer arithmetic.
    Integers,
    /// Along which dimension vectors lie.
    Dimension,
    /// How many work-items a vector has.
    Width,
    /// How many work-items a thread of a GPU is.
    Coarsening,
    /// Which work-items a warp of a GPU is.
    Warp,
}

/// How an access of all lanes is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessForm {
    /// One access for all lanes.
    Scalar,
    /// One vector, contiguous in memory.
    Vector,
    /// Contiguous and descending: one vector, reversed.
    Reversed,
    /// Loads of all that is between the lanes' elements, and a shuffle.
    Covering,
    /// Masked stores that leave out what is between the lanes' elements.
    Gapped,
    /// One store with the other fields of the record.
    Record,
    /// A scalar access for each lane.
    LaneByLane,
    /// A gather or a scatter.
    Indexed,
}

/// The form that was chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// A load or store.
    Access(AccessForm),
    /// Lanes are reduced first; then there is one operation.
    Combined,
    /// Lanes at the same few addresses are combined first.
    CombinedWhereEqual,
    /// One operation for each lane.
    LaneByLane,
    /// The same without a locked instruction.
    LaneByLaneUnlocked,
    /// Calls of the function's vector variant.
    VectorVariant,
    /// All lanes go the same way.
    Uniform,
    /// Lanes leave a loop in different iterations.
    Divergent,
    /// Both sides of a branch run under masks.
    Linearised,
    /// The continuation of this number begins.
    Continuation(u32),
    /// The same at a barrier that the compiler has added, for a batch of groups.
    SyntheticBarrier(u32),
    /// Each work-item saves its next continuation.
    PerItem,
    /// The value stays in a register.
    Forwarded,
    /// Checked once per group.
    CheckedPerGroup,
    /// Strip-mined, with rows transposed in registers.
    RowTranspose,
    /// With software prefetch.
    Prefetched,
    /// Split by the components of short vectors.
    ComponentSplit,
    /// Computed in so many bits.
    Bits(u32),
    /// Vectors lie along this dimension.
    Along(u8),
    /// One work-item at a time.
    Scalar,
    /// Vectors of so many work-items.
    Vectors(u16),
    /// So many work-items are one thread.
    Threads(u32),
    /// The shape of a warp.
    Warp {
        /// Work-items of a row, of dimension 0.
        row: u32,
        /// Work-items of a warp.
        size: u32,
    },
}

impl Form {
    /// The cost for all lanes of a vector, in instructions, roughly, if the form alone says it
    /// ([`crate::analysis::weights`]).
    pub fn cost(self) -> Option<u32> {
        match self {
            Form::Access(AccessForm::LaneByLane | AccessForm::Indexed) | Form::Combined => Some(INDEXED_ACCESS),
            Form::Access(_) => Some(STRIDED_ACCESS),
            Form::LaneByLane | Form::LaneByLaneUnlocked | Form::VectorVariant => Some(SERIAL),
            _ => None,
        }
    }

    /// The other form that matters most for the cost: the one that a better address would allow, or that a worse one
    /// would need.
    pub fn alternative(self) -> Option<Form> {
        match self {
            Form::Access(AccessForm::LaneByLane | AccessForm::Indexed) => Some(Form::Access(AccessForm::Vector)),
            Form::Access(_) => Some(Form::Access(AccessForm::Indexed)),
            Form::Combined => Some(Form::LaneByLane),
            _ => None,
        }
    }
}

/// The most callers that a decision has, the nearest. Without a limit, the texts of a program whose functions call each
/// other in a long chain would be as long as the square of the program.
const MAX_CALLERS: usize = 16;

/// A function that code was inlined into.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Caller {
    /// Its name.
    pub function: Arc<str>,
    /// The position of the call in it.
    pub span: Span,
}

/// One decision.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decision {
    /// What it is about.
    pub operation: Operation,
    /// The position in the source; [`Span::NONE`] for the whole kernel.
    pub span: Span,
    /// What the function at this position was inlined into, the nearest caller first and the kernel last.
    pub inlined: Vec<Caller>,
    /// The accessed array: the name of an argument or of a variable, if the address begins there.
    pub array: Option<String>,
    /// How the lanes of the address, the condition or the operands are related.
    pub shape: Option<Shape>,
    /// The form that was chosen.
    pub form: Form,
    /// Whether lanes may be off where it has that form.
    pub masked: bool,
    /// The form under a mask, if there is code for both cases and the forms differ.
    pub where_off: Option<Form>,
    /// Whether the form is used only where a run-time check holds.
    pub checked: bool,
    /// The cost of the form that was chosen, if it has one. Of an operation in instructions for all lanes of a vector,
    /// roughly; of a width in time per work-item ([`crate::cost`]).
    pub cost: Option<u32>,
    /// The best other form, and its cost.
    pub alternative: Option<(Form, u32)>,
    /// Why.
    pub reason: Reason,
}

impl Decision {
    /// A decision about the whole kernel.
    pub fn new(operation: Operation, form: Form, reason: Reason) -> Decision {
        let alternative = form.alternative().and_then(|other| Some((other, other.cost()?)));
        Decision {
            operation,
            span: Span::NONE,
            inlined: Vec::new(),
            array: None,
            shape: None,
            form,
            masked: false,
            where_off: None,
            checked: false,
            cost: form.cost(),
            alternative,
            reason,
        }
    }

    /// The same about what is at a position of the kernel's code.
    pub fn at(self, span: Span, kernel: &Function) -> Decision {
        let calls: Vec<&CallSite> = kernel.inlined_calls(span).take(MAX_CALLERS + 1).collect();
        let caller = |(n, call): (usize, &&CallSite)| {
            // The call is in what the next call calls.
            let function = calls.get(n + 1).map_or_else(|| kernel.name.as_str().into(), |next| next.function.clone());
            Caller { function, span: call.span.place() }
        };
        let inlined = calls.iter().enumerate().take(MAX_CALLERS).map(caller).collect();
        Decision { span: span.place(), inlined, ..self }
    }
}

/// Brings decisions into the order of the source; last are those about the whole kernel. Continuations overlap and
/// loops are unrolled, so that the same decision may be made several times.
pub fn sorted(decisions: impl IntoIterator<Item = Decision>) -> Vec<Decision> {
    let mut all: Vec<Decision> = decisions.into_iter().collect();
    let place = |d: &Decision| (d.span == Span::NONE, d.span);
    fn calls(d: &Decision) -> impl Iterator<Item = Span> {
        d.inlined.iter().rev().map(|caller| caller.span)
    }
    // A stable sort: decisions of one place stay in the order in which they were made.
    all.sort_by(|a, b| place(a).cmp(&place(b)).then_with(|| calls(a).cmp(calls(b))));
    let mut sorted: Vec<Decision> = Vec::with_capacity(all.len());
    for decision in all {
        let is_there = |d: &&Decision| d.span == decision.span && d.inlined == decision.inlined;
        // Equal ones are of one place, so that only the end of the list is searched.
        let mut of_span = sorted.iter().rev().take_while(is_there);
        if !of_span.any(|d| *d == decision) {
            sorted.push(decision);
        }
    }
    sorted
}
