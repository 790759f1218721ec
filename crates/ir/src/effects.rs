//! The effects of operations: what an execution does besides computing its result.
//!
//! In comes an [`Op`], out goes a set of [`Effects`]. Passes ask the questions below (may it be removed, computed
//! twice, moved?), all of which are answered from that one set. The set comes from the operation's [`OpClass`], and
//! that from a `match` that names every operation, so that a new one does not compile until its effects are decided: an
//! operation that is pure by omission would be removed and merged by mistake.

use crate::FuncRef;
use crate::inst::Op;
use crate::mark::Mark;
use bitflags::bitflags;

bitflags! {
    /// Effects and dependences of an execution besides operands and result. Without any, the result is a function of
    /// the operands.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Effects: u16 {
        /// Its result depends on memory.
        const READS = 1;
        /// It changes memory.
        const WRITES = 2;
        /// It accesses memory atomically.
        const ATOMIC = 4;
        /// It orders accesses to memory of this work-item, or of several.
        const ORDERS = 8;
        /// Convergent: the active work-items of a sub-group execute it together, so it depends on which are active.
        const SUBGROUP = 16;
        /// Each execution returns new memory.
        const FRESH = 32;
        /// Visible outside of the program: printing.
        const OUTPUT = 64;
        /// It changes no result but must stay: a prefetch, or a report to the launcher.
        const HINT = 128;
        /// A call of an unknown function: any effect except on sub-groups.
        const CALL = 256;
    }
}

impl Effects {
    /// Effects of instructions that must stay even if the result is not used.
    const MUST_STAY: Effects = Effects::WRITES
        .union(Effects::ATOMIC)
        .union(Effects::ORDERS)
        .union(Effects::SUBGROUP)
        .union(Effects::OUTPUT)
        .union(Effects::HINT)
        .union(Effects::CALL);
}

/// Operations of one kind: with the same effects, flags of one kind, and all of them with a result or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpClass {
    /// Its result is a function of its operands.
    Value,
    /// An allocation of private memory.
    Alloca,
    /// A load, of one address or of one in each lane.
    Load,
    /// A store, to one address or to one in each lane.
    Store,
    /// A copy of memory.
    MemCopy,
    /// Memory that is filled.
    MemSet,
    /// A prefetch, or a report to the launcher.
    Hint,
    /// An atomic load.
    AtomicLoad,
    /// An atomic store.
    AtomicStore,
    /// An atomic read, change and write.
    AtomicUpdate,
    /// A fence or a barrier.
    Fence,
    /// A clock, which is read in the order of accesses to memory.
    Clock,
    /// A mark for the checker.
    Mark,
    /// An exchange between the work-items of a sub-group.
    Subgroup,
    /// A call of a function with effects, or of the launcher.
    Call,
    /// Printing.
    Printf,
}

impl Op {
    /// The kind of an operation. It names every operation, so that a new one does not compile until it has a class.
    pub fn class(&self) -> OpClass {
        match self {
            Op::Const(_)
            | Op::Unary(_)
            | Op::Binary(_)
            | Op::Fma
            | Op::Icmp(_)
            | Op::Fcmp(_)
            | Op::Cast(_)
            | Op::Select
            | Op::Extract
            | Op::Insert
            | Op::Shuffle(_)
            | Op::Splat
            | Op::Build
            | Op::PtrAdd
            | Op::Iota
            | Op::Any
            | Op::All
            | Op::Ballot
            | Op::GlobalAddr(_)
            | Op::Sample
            // Constant memory, which its callee may read, does not change while a kernel runs.
            | Op::PureCall(_)
            // Ids and sizes do not change during a work-item's execution.
            | Op::Query { .. } => OpClass::Value,
            Op::Alloca { .. } => OpClass::Alloca,
            Op::Load { .. } | Op::MaskedLoad { .. } | Op::Gather { .. } => OpClass::Load,
            Op::Store { .. } | Op::MaskedStore { .. } | Op::Scatter { .. } => OpClass::Store,
            Op::MemCopy { .. } => OpClass::MemCopy,
            Op::MemSet { .. } => OpClass::MemSet,
            Op::Prefetch | Op::Report => OpClass::Hint,
            Op::AtomicLoad { .. } => OpClass::AtomicLoad,
            Op::AtomicStore { .. } => OpClass::AtomicStore,
            Op::AtomicRmw { .. } | Op::AtomicCmpXchg { .. } => OpClass::AtomicUpdate,
            Op::Fence { .. } | Op::Barrier(_) => OpClass::Fence,
            Op::Clock | Op::Poll => OpClass::Clock,
            Op::Mark(_) => OpClass::Mark,
            Op::SubgroupBallot | Op::SubgroupShuffle | Op::SubgroupReduce { .. } | Op::SubgroupScan { .. } => {
                OpClass::Subgroup
            }
            Op::Call(_) | Op::DeviceCall(_) => OpClass::Call,
            Op::Printf(_) => OpClass::Printf,
        }
    }

    /// The effects of an operation. Flags may add to them: a volatile load must stay.
    pub fn effects(&self) -> Effects {
        match self.class() {
            OpClass::Value => Effects::empty(),
            // Not pure, so that two allocations of one size are not merged; without other effects, so that an unused
            // one goes.
            OpClass::Alloca => Effects::FRESH,
            OpClass::Load => Effects::READS,
            OpClass::Store | OpClass::MemSet => Effects::WRITES,
            OpClass::MemCopy => Effects::READS | Effects::WRITES,
            OpClass::Hint => Effects::HINT,
            OpClass::AtomicLoad => Effects::READS | Effects::ATOMIC | Effects::ORDERS,
            OpClass::AtomicStore => Effects::WRITES | Effects::ATOMIC | Effects::ORDERS,
            OpClass::AtomicUpdate => Effects::READS | Effects::WRITES | Effects::ATOMIC | Effects::ORDERS,
            // A clock measures what stands between two of them, so that accesses stay on their side.
            // A mark stands between the accesses that it is about.
            OpClass::Fence | OpClass::Clock | OpClass::Mark => Effects::ORDERS,
            OpClass::Subgroup => Effects::SUBGROUP,
            // The launcher may do anything with what the operands point to.
            OpClass::Call => Effects::READS | Effects::WRITES | Effects::CALL,
            // A `%s` is read from memory.
            OpClass::Printf => Effects::READS | Effects::OUTPUT,
        }
    }

    /// Whether it has a result. A call's depends on its callee.
    pub fn has_result(&self) -> bool {
        match self.class() {
            OpClass::Mark => *self == Op::Mark(Mark::Copy),
            OpClass::Value
            | OpClass::Alloca
            | OpClass::Load
            | OpClass::AtomicLoad
            | OpClass::AtomicUpdate
            | OpClass::Clock
            | OpClass::Subgroup
            | OpClass::Call => true,
            OpClass::Store
            | OpClass::MemCopy
            | OpClass::MemSet
            | OpClass::Hint
            | OpClass::AtomicStore
            | OpClass::Fence
            | OpClass::Printf => false,
        }
    }

    /// Whether the instruction must stay even if nobody uses its result.
    pub fn has_effect(&self) -> bool {
        self.effects().intersects(Effects::MUST_STAY)
    }

    /// Whether two executions with equal operands in one work-item give equal results: no memory, no effect.
    pub fn is_pure(&self) -> bool {
        self.effects().is_empty()
    }

    /// Whether each lane of the result comes from that lane of the operands alone.
    pub fn is_lane_wise(&self) -> bool {
        matches!(self, Op::Unary(_) | Op::Binary(_) | Op::Cast(_) | Op::Fma | Op::Icmp(_) | Op::Fcmp(_) | Op::Select)
    }

    /// Whether it reads or writes memory atomically.
    pub fn is_atomic(&self) -> bool {
        self.effects().contains(Effects::ATOMIC)
    }

    /// Whether the work-items of a sub-group execute it together. It must not move into or out of a branch, which would
    /// change the active work-items. (LLVM's `convergent`.)
    pub fn is_subgroup(&self) -> bool {
        self.effects().contains(Effects::SUBGROUP)
    }

    /// The function that it calls.
    pub fn callee(&self) -> Option<FuncRef> {
        match *self {
            Op::Call(callee) | Op::PureCall(callee) => Some(callee),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::parse;

    #[test]
    fn what_stays_and_what_is_pure() {
        let module = parse(include_str!("../tests/all.ir")).unwrap();
        let func = module.funcs.values().next().unwrap();
        let words = |keep: &dyn Fn(&crate::Op) -> bool| {
            let text = module.function_text(func);
            let lines = text.lines().filter(|l| l.starts_with("    ") && !l.contains("bb"));
            let ops = func.insts_in_layout().map(|(_, data)| &data.op);
            let mut words: Vec<String> = lines
                .zip(ops)
                .filter(|(_, op)| keep(op))
                .map(|(l, _)| l.rsplit(" = ").next().unwrap_or(l).split_whitespace().next().unwrap_or("").into())
                .collect();
            words.dedup();
            words.join(" ")
        };
        assert_eq!(
            words(&|op| op.has_effect()),
            "store memcopy memset barrier subgroup_ballot subgroup_shuffle subgroup_reduce subgroup_scan atomic_add cmpxchg \
             atomic_load atomic_store fence prefetch printf call maskedstore scatter clock device_call"
        );
        assert_eq!(words(&|op| !op.has_effect() && !op.is_pure()), "load alloca maskedload gather");
        assert_eq!(words(&|op| op.is_subgroup()), "subgroup_ballot subgroup_shuffle subgroup_reduce subgroup_scan");
        assert_eq!(words(&|op| op.is_atomic()), "atomic_add cmpxchg atomic_load atomic_store");
    }
}
