//! Decisions in words: remarks for the build log and `cloom show`.
//!
//! A remark reads `PLACE: WHAT: WHY`, for example `k.cl:3: load: one vector: unit stride`.

use super::{AccessForm, Caller, Decision, Form, Operation, Reason, Varies};
use cloom_ir::Span;
use std::borrow::Cow;

impl Operation {
    /// Its name, for programs.
    pub fn code(self) -> &'static str {
        match self {
            Operation::Load => "load",
            Operation::Store => "store",
            Operation::Access => "access",
            Operation::Atomic => "atomic",
            Operation::Copy => "copy",
            Operation::Sample => "sample",
            Operation::Call => "call",
            Operation::LauncherCall => "launcher-call",
            Operation::Printf => "printf",
            Operation::Branch => "branch",
            Operation::Loop => "loop",
            Operation::Barrier => "barrier",
            Operation::Dispatch => "dispatch",
            Operation::Index => "index",
            Operation::Integers => "integers",
            Operation::Dimension => "dimension",
            Operation::Width => "width",
            Operation::Coarsening => "coarsening",
            Operation::Warp => "warp",
        }
    }

    /// What it is called in a remark; empty for decisions about the whole kernel, whose forms are sentences.
    fn text(self) -> &'static str {
        match self {
            Operation::Load => "load: ",
            Operation::Store => "store: ",
            Operation::Access => "access: ",
            Operation::Atomic => "atomic operation: ",
            Operation::Copy => "copy: ",
            Operation::Sample => "texture: ",
            Operation::Call => "call: ",
            Operation::LauncherCall => "call of the launcher: ",
            Operation::Printf => "printf: ",
            Operation::Branch => "branch: ",
            Operation::Loop => "loop: ",
            Operation::Barrier => "barrier: ",
            Operation::Dispatch => "divergent dispatch: ",
            Operation::Index => "index: ",
            Operation::Integers => "integers: ",
            Operation::Dimension | Operation::Width | Operation::Coarsening | Operation::Warp => "",
        }
    }
}

impl Form {
    /// Its name, for programs, without the numbers in it.
    pub fn code(self) -> &'static str {
        match self {
            Form::Access(AccessForm::Scalar) => "scalar-access",
            Form::Access(AccessForm::Vector) => "vector",
            Form::Access(AccessForm::Reversed) => "reversed",
            Form::Access(AccessForm::Covering) => "covering",
            Form::Access(AccessForm::Gapped) => "gapped",
            Form::Access(AccessForm::Record) => "record",
            Form::Access(AccessForm::LaneByLane) | Form::LaneByLane => "lane-by-lane",
            Form::Access(AccessForm::Indexed) => "indexed",
            Form::Combined => "combined",
            Form::CombinedWhereEqual => "combined-where-equal",
            Form::LaneByLaneUnlocked => "lane-by-lane-unlocked",
            Form::VectorVariant => "vector-variant",
            Form::Uniform => "uniform",
            Form::Divergent => "divergent",
            Form::Linearised => "linearised",
            Form::Continuation(_) => "continuation",
            Form::SyntheticBarrier(_) => "synthetic-barrier",
            Form::PerItem => "per-item",
            Form::Forwarded => "forwarded",
            Form::CheckedPerGroup => "checked-per-group",
            Form::RowTranspose => "row-transpose",
            Form::Prefetched => "prefetched",
            Form::ComponentSplit => "component-split",
            Form::Bits(_) => "narrow",
            Form::Along(_) => "along",
            Form::Scalar => "scalar",
            Form::Vectors(_) => "vectors",
            Form::Threads(_) => "threads",
            Form::Warp { .. } => "warp",
        }
    }

    /// The number in it: of a continuation, of bits, lanes, work-items, or of a dimension.
    pub fn number(self) -> Option<u32> {
        match self {
            Form::Continuation(n) | Form::SyntheticBarrier(n) | Form::Bits(n) | Form::Threads(n) => Some(n),
            Form::Along(dim) => Some(dim.into()),
            Form::Vectors(lanes) => Some(lanes.into()),
            _ => None,
        }
    }

    /// The form of an operation in words.
    fn text(self, operation: Operation) -> Cow<'static, str> {
        let text = match self {
            Form::Access(AccessForm::Scalar) => "one scalar access",
            Form::Access(AccessForm::Vector) => "one vector",
            Form::Access(AccessForm::Reversed) => "one vector, reversed",
            Form::Access(AccessForm::Covering) => "vectors that cover the range, and a shuffle",
            Form::Access(AccessForm::Gapped) => "masked vectors that leave gaps",
            Form::Access(AccessForm::Record) => "one with the other fields of the record",
            Form::Access(AccessForm::LaneByLane) | Form::LaneByLane => "lane by lane",
            Form::Access(AccessForm::Indexed) if operation == Operation::Load => "gather",
            Form::Access(AccessForm::Indexed) => "scatter",
            Form::Combined => "lanes combined first",
            Form::CombinedWhereEqual => "lane by lane, not locked, or lanes of the same address combined first",
            Form::LaneByLaneUnlocked => "lane by lane, not locked",
            Form::VectorVariant => "vector code",
            Form::Uniform => "uniform",
            Form::Divergent => "divergent, runs until the last lane has left",
            Form::Linearised => "divergent, linearised under masks",
            Form::Continuation(n) => return format!("continuation {n}").into(),
            Form::SyntheticBarrier(n) => {
                let what = "grid-stride, with a synthetic barrier for a batch of groups";
                return format!("{what}: continuation {n}").into();
            }
            Form::PerItem => "each work-item saves its next continuation",
            Form::Forwarded => "forwarded",
            Form::CheckedPerGroup => "checked once per group",
            Form::RowTranspose => "strip-mined, rows transposed in registers",
            Form::Prefetched if operation == Operation::Loop => "prefetches for later iterations",
            Form::Prefetched => "prefetched for later work-items",
            Form::ComponentSplit => "split by components of its short vectors",
            Form::Bits(bits) => return format!("computed in {bits} bits").into(),
            Form::Along(dim) => return format!("vectors lie along dimension {dim}").into(),
            Form::Scalar => "work-items run one at a time",
            Form::Vectors(lanes) => return format!("{lanes} work-items per vector").into(),
            Form::Threads(1) => "a work-item is a thread",
            Form::Threads(factor) => return format!("{factor} work-items are one thread").into(),
            Form::Warp { row: 1, size } => return format!("a warp is {size} work-items of dimension 1").into(),
            Form::Warp { row, size } => return format!("a warp is {row} by {} work-items", size / row.max(1)).into(),
        };
        text.into()
    }
}

impl Varies {
    fn text(self) -> Cow<'static, str> {
        match self {
            Varies::Loaded => "it depends on a loaded value".into(),
            Varies::AtomicOrCall => "it depends on an atomic operation or a call".into(),
            Varies::LocalId(dim) => format!("it depends on get_local_id({dim})").into(),
            Varies::GlobalId(dim) => format!("it depends on get_global_id({dim})").into(),
            Varies::AcrossBarrier => "it depends on a value that lives across a barrier".into(),
            Varies::Wrap => "an index may wrap before it is extended".into(),
            Varies::Comparison => "it compares values that differ between lanes".into(),
            Varies::NoStride(name) => format!("`{name}` does not preserve strides").into(),
            Varies::Branch => "it depends on an earlier divergent branch".into(),
            Varies::Unknown => "it differs between lanes".into(),
        }
    }
}

impl Reason {
    /// The reason in words.
    pub fn text(self) -> Cow<'static, str> {
        let text = match self {
            Reason::SameAddress => "the address is the same in all lanes",
            Reason::SameQuotient => "the same address unless a quotient differs between lanes",
            Reason::UnitStride => "unit stride",
            Reason::UnitStrideUnlessWrapped => "unit stride unless an index wraps or is clamped",
            Reason::Stride(by) => return format!("a stride of {by} bytes").into(),
            Reason::Volatile => "it is volatile: each work-item's access is made",
            Reason::Varies(varies) => return varies.text(),
            Reason::SameCondition => "its exit condition is the same in all lanes",
            Reason::OneThread => "one thread runs a group",
            Reason::MayCollide => "addresses differ between lanes, and may collide",
            Reason::Ordered => "the address is the same, and each lane's result depends on the lanes before",
            Reason::FewAddresses => {
                "one thread runs a group, and a run-time check finds lanes that add to the same address"
            }
            Reason::NotInlined => "the function was too large to be inlined",
            Reason::NoVectorVariant => "the function was not inlined, and has no vector variant",
            Reason::HasVectorVariant => "the function computes all lanes at once",
            Reason::EachPrints => "each work-item prints",
            Reason::EachEnqueues => "each work-item enqueues",
            Reason::NoVectorForm => "it has no vector form",
            Reason::Saved { per_item, per_group } => {
                return format!("values saved across it: {per_item} per work-item, {per_group} per group").into();
            }
            Reason::ReadsInOrder { per_item } => {
                let why = "the groups read memory in order; values saved across it";
                return format!("{why}: {per_item} per work-item").into();
            }
            Reason::BarrierInBranch => "a divergent branch decides whether a barrier is reached",
            Reason::StoredBefore => {
                "the previous iteration stored this element of the private array: its value stays in a register"
            }
            Reason::MayWrap => {
                "32 bits may wrap; where they cannot, it has a stride, and else work-items run one at a time"
            }
            Reason::OwnRows => "each work-item reads contiguous elements of its own row",
            Reason::RunTimeStride => "its stride is known at run time only, and may cross pages",
            Reason::ScatteredByIds => "its addresses are scattered, and computed from ids alone",
            Reason::ComponentsExceedRegisters => {
                "all components, each a vector of lanes, exceed the registers, and they are independent"
            }
            Reason::SameInFewerBits => "16 bits give the same results, and a register holds twice as many lanes",
            Reason::UnitStrideAlong => "accesses to memory have unit stride along it",
            Reason::Width(reason) => reason.text(),
            Reason::Limit(limit) => return limit.to_string().into(),
            Reason::Bug(bug) => return bug.to_string().into(),
            Reason::WideAccess(bytes) => {
                return format!("their numbers follow each other: an access moves up to {bytes} bytes").into();
            }
            Reason::GroupsOverlap { dim } => {
                let why = "their loads do not wait for each other";
                return format!("those of as many groups, along dimension {dim}: {why}").into();
            }
            Reason::NotCoarsened(reason) => reason.text(),
            Reason::AlignedBuffers => "its accesses are wide where its buffers are aligned",
            Reason::NotOptimised => "the build options ask for no optimisation",
            Reason::NeighboursOfDimension1 => {
                "neighbours of dimension 1 access neighbouring elements, and groups are the launcher's to choose"
            }
        };
        text.into()
    }
}

impl Decision {
    /// Its kind, for programs: texts may be reworded, codes stay.
    pub fn code(&self) -> &'static str {
        match self.form {
            Form::Access(_) => "access",
            Form::Combined | Form::CombinedWhereEqual | Form::LaneByLane | Form::LaneByLaneUnlocked => "lane-by-lane",
            Form::VectorVariant => "vector-variant",
            Form::Uniform => "uniform-loop",
            Form::Divergent => "divergent-loop",
            Form::Linearised => "linearised-branch",
            Form::Continuation(_) => "barrier",
            Form::SyntheticBarrier(_) => "grid-stride",
            Form::PerItem => "divergent-dispatch",
            Form::Forwarded => "store-to-load",
            Form::CheckedPerGroup => "no-wrap",
            Form::RowTranspose => "row-transpose",
            Form::Prefetched if self.operation == Operation::Loop => "prefetch-loop",
            Form::Prefetched => "prefetch-scatter",
            Form::ComponentSplit => "component-split",
            Form::Bits(_) => "narrow",
            Form::Along(_) => "dim-order",
            Form::Scalar if matches!(self.reason, Reason::Limit(_) | Reason::Bug(_)) => "not-vectorised",
            Form::Scalar | Form::Vectors(_) => "width",
            Form::Threads(_) => "coarse",
            Form::Warp { .. } => "warp-shape",
        }
    }

    /// The decision in words, for example `load: one vector`.
    pub fn what(&self) -> String {
        let mut what = self.operation.text().to_owned() + &self.form.text(self.operation);
        // (The reason of an atomic operation's form names its check.)
        if self.checked && matches!(self.form, Form::Access(_)) {
            what += ", after a run-time check";
        }
        if let Some(form) = self.where_off {
            what += "; where lanes are off: ";
            what += &form.text(self.operation);
        }
        what
    }

    /// The reason in words.
    pub fn why(&self) -> Cow<'static, str> {
        self.reason.text()
    }

    /// The calls that were inlined, in words that follow the reason; empty if the code is the kernel's own. A position
    /// in another file than the one before it has the file's name.
    pub fn inlined_into(&self, files: &[String]) -> String {
        let mut text = String::new();
        let mut file = self.span.file;
        for Caller { function, span } in &self.inlined {
            text += &format!(", inlined into `{function}`");
            if *span == Span::NONE {
                continue;
            }
            text += " at ";
            if let Some(name) = files.get(usize::from(span.file)).filter(|_| span.file != file) {
                text += name;
                text += ":";
            }
            file = span.file;
            text += &format!("{}:{}", span.line, span.col);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_on_inlined_code_names_the_calls() {
        let at = |file: u16, line: u32| Span { file, line, col: 5, inlined: 0 };
        let caller = |function: &str, span: Span| Caller { function: function.into(), span };
        let inlined = vec![caller("f", at(1, 3)), caller("g", at(0, 12)), caller("k", Span::NONE)];
        let decision = Decision::new(Operation::Load, Form::Access(AccessForm::Vector), Reason::UnitStride);
        assert_eq!(decision.inlined_into(&[]), "");
        let files = ["k.cl".to_owned(), "f.h".to_owned()];
        let decision = Decision { span: at(1, 2), inlined, ..decision };
        let text = ", inlined into `f` at 3:5, inlined into `g` at k.cl:12:5, inlined into `k`";
        assert_eq!(decision.inlined_into(&files), text);
    }

    #[test]
    fn a_decision_reads_as_a_remark() {
        let form = Form::Access(AccessForm::Covering);
        let decision = Decision::new(Operation::Load, form, Reason::Stride(12));
        let decision = Decision { checked: true, where_off: Some(Form::Access(AccessForm::Indexed)), ..decision };
        let what =
            "load: vectors that cover the range, and a shuffle, after a run-time check; where lanes are off: gather";
        assert_eq!((decision.what().as_str(), &*decision.why()), (what, "a stride of 12 bytes"));
        assert_eq!((decision.code(), form.code(), decision.reason.code()), ("access", "covering", "stride"));
        assert_eq!(decision.cost, Some(3));
        assert_eq!(decision.alternative, Some((Form::Access(AccessForm::Indexed), 12)));
    }
}
