//! Why a kernel is not coarsened, as data.

use crate::reasons::reasons;

reasons! {
    /// Why a kernel is not coarsened.
    CoarsenReason {
        /// The pass is switched off.
        SwitchedOff "switched-off" "the pass `coarsen` is switched off",
        /// It has too many instructions.
        Large "large" "the kernel is large: what it computes takes longer than its accesses",
        /// Its result depends on the grouping.
        DependsOnGroup "depends-on-group" "it asks for its group, or shares something with it",
        /// It executes what cannot be repeated for neighbours.
        OwnOperation "own-operation" "this operation is each work-item's own",
        /// The same in a kernel with barriers.
        OwnOperationOfGroup "own-operation-of-group" "this operation is each work-item's own, or its group's",
        /// It does not query its id.
        NoId "no-id" "it does not ask for the global id of dimension 0",
        /// No access would become wide.
        NoNarrowAccess "no-narrow-access" "no access is of consecutive numbers of up to 8 bytes",
        /// It does not query which group it is.
        SameGroups "same-groups" "its groups all do the same",
        /// There is nothing in local memory.
        NoLocalMemory "no-local-memory" "its groups share no local memory",
        /// Its loads overlap as it is.
        LoadsOverlap "loads-overlap" "each of its work-items has several loads, or wide ones, under way",
        /// Loads are a small part of its time.
        ComputesFromTiles "computes-from-tiles"
            "its loops compute long from local memory: loads are not what takes the time",
        /// It samples.
        Samples "samples" "texture units work on what the neighbours in a warp sample",
        /// A switch is divergent.
        Switch "switch" "neighbours may take this switch differently",
        /// A branch in a loop is divergent.
        BranchInLoop "branch-in-loop" "neighbours may take this branch of a loop differently",
        /// A branch is divergent in other ways than a guard.
        NoBound "no-bound" "neighbours may take this branch differently: it does not compare the id with a bound",
        /// Work-items could not begin again.
        AfterStore "after-store" "neighbours may take this branch differently, after a store",
        /// A branch is divergent.
        Branch "branch" "neighbours may take this branch differently",
        /// An access is in another address space.
        NotGlobal "not-global" "this access is not one of global memory",
        /// Neighbours access distant elements.
        Scattered "scattered" "the neighbours' numbers of this access do not lie together",
        /// Few accesses would gain.
        LittleGain "little-gain" "most of its accesses in loops would neither be wider nor shared by neighbours",
        /// A switch is divergent between groups.
        GroupSwitch "group-switch" "groups may take this switch differently",
        /// A branch in a loop is divergent between groups.
        GroupBranchInLoop "group-branch-in-loop" "groups may take this branch of a loop differently",
        /// There is a barrier in a branch that is divergent between groups.
        GroupBranchWaits "group-branch-waits" "groups may take this branch differently, and wait behind it",
        /// There is much code in such a branch.
        GroupBranchLong "group-branch-long" "groups may take this branch differently, and do much behind it",
        /// Values leave such a branch.
        GroupBranchEscapes "group-branch-escapes"
            "groups may take this branch differently, and use what is computed behind it",
    }
}
