//! Why vectors have the width that they have, as data: a code for programs and a sentence for people.

use crate::reasons::reasons;

reasons! {
    /// Why vectors have so many lanes.
    WidthReason {
        /// The caller asked for a number of lanes.
        Requested "requested" "as requested",
        /// [`super::veto`]: scalar code.
        ShortVectorsExceedRegisters "short-vectors-exceed-registers"
            "its loops have more live short vectors than there are registers for vectors of lanes",
        /// [`super::veto`]: scalar code.
        ShortVectorsFillRegisters "short-vectors-fill-registers"
            "nearly all work is on short vectors, which fill registers as they are",
        /// [`super::veto`]: scalar code.
        ReadsWholeRegisters "reads-whole-registers"
            "its loops read short vectors as long as registers, far apart between work-items",
        /// [`super::veto`]: one register of addresses.
        ScattersNear "scatters-near" "it does little but scatter to few cache lines: one register of addresses",
        /// [`super::veto`]: scalar code.
        Scatters "scatters" "it does little but access scattered memory",
        /// [`super::veto`]: scalar code.
        UpdatesScattered "updates-scattered" "a masked loop does little but update scattered memory",
        /// [`super::veto`]: scalar code.
        Gathers "gathers" "a masked loop does little but gather from buffers",
        /// [`super::veto`]: scalar code.
        Backtracks "backtracks" "a masked loop goes up and down a stack of its own in each lane",
        /// [`super::veto`]: one register per value.
        CountsInOrder "counts-in-order"
            "it mostly counts by atomic operations, and reads with unit stride: one register per value",
        /// [`super::veto`]: scalar code.
        Counts "counts" "it mostly counts by atomic operations, which run lane by lane",
        /// [`super::veto`]: few lanes.
        WritesColumns "writes-columns" "lanes write columns of a matrix: few cache lines at a time",
        /// [`super::veto`]: few lanes.
        ReadsColumns "reads-columns" "lanes read columns of a matrix: few cache lines at a time",
        /// [`super::veto`]: few lanes.
        WritesRows "writes-rows" "each lane writes its own row: few cache lines at a time",
        /// [`super::veto`]: few lanes.
        WritesRecords "writes-records" "each lane writes fields of its own record: few cache lines at a time",
        /// [`super::veto`]: one register of addresses.
        TreeSteps "tree-steps" "steps of a tree in local memory have few work-items: one register of addresses",
        /// [`super::veto`]: one register per value.
        StoresScattered "stores-scattered" "one register per value: it does little but store to scattered memory",
        /// [`super::veto`]: one register per value.
        ReadsRows "reads-rows" "one register per value: each lane reads its own row",
        /// [`super::veto`]: one register per value.
        LiveValuesExceedRegisters "live-values-exceed-registers" "one register per value: more live values would not fit",
        /// The cost function: the loops have software prefetch.
        ReadsGridStride "reads-grid-stride" "many registers per value: wide vectors read a grid-stride loop in order",
        /// The cost function: the machine's interleave.
        FitsInterleaved "fits-interleaved" "two registers per value hide much of the latency",
        /// The cost function: more than the machine's interleave.
        LatencyBound "latency-bound" "more than two registers per value: its loops are bound by latency",
        /// [`super::veto::LIMITS`]: scalar code.
        LargeCode "large-code" "its vector code would be large, and save little of the work",
        /// [`super::veto::LIMITS`]: no more lanes than a row has work-items.
        ShortRows "short-rows" "rows of groups have no more work-items, as far as is known",
    }
}
