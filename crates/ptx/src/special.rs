//! The special registers.
//!
//! In: a name such as `%tid.x`. Out: the register, and whether its value differs between the threads of a warp.

/// A special register. The number of `Tid`, `Ntid`, `Ctaid` and `Nctaid` is the axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// `%tid`
    Tid(u8),
    /// `%ntid`
    Ntid(u8),
    /// `%ctaid`
    Ctaid(u8),
    /// `%nctaid`
    Nctaid(u8),
    /// `%laneid`
    LaneId,
    /// `%warpid`
    WarpId,
    /// `%nwarpid`
    NwarpId,
    /// `%lanemask_eq`
    LaneMaskEq,
    /// `%lanemask_lt`
    LaneMaskLt,
    /// `%lanemask_le`
    LaneMaskLe,
    /// `%lanemask_gt`
    LaneMaskGt,
    /// `%lanemask_ge`
    LaneMaskGe,
    /// The lower half of `%clock64`, or all of it.
    Clock,
    /// The upper half of it.
    ClockHi,
    /// The lower half of `%globaltimer`, or all of it.
    Time,
    /// The upper half of it.
    TimeHi,
    /// `%dynamic_smem_size`
    DynamicSharedSize,
    /// `%total_smem_size`
    TotalSharedSize,
    /// `WARP_SZ`
    WarpSize,
    /// `%smid`, `%gridid` and ranks in a cluster, on a device that has one of each.
    Zero,
    /// `%nsmid` and sizes of a cluster, on such a device.
    One,
}

impl Special {
    /// The special register of a name.
    pub fn parse(name: &str) -> Option<Special> {
        if let Some((base, axis)) = name.rsplit_once('.') {
            let axis = match axis {
                "x" => 0,
                "y" => 1,
                "z" => 2,
                _ => return None,
            };
            return match base {
                "%tid" => Some(Special::Tid(axis)),
                "%ntid" => Some(Special::Ntid(axis)),
                "%ctaid" => Some(Special::Ctaid(axis)),
                "%nctaid" => Some(Special::Nctaid(axis)),
                // Every block is a cluster of its own.
                "%clusterid" => Some(Special::Ctaid(axis)),
                "%nclusterid" => Some(Special::Nctaid(axis)),
                "%cluster_ctaid" => Some(Special::Zero),
                "%cluster_nctaid" => Some(Special::One),
                _ => None,
            };
        }
        Some(match name {
            "%laneid" => Special::LaneId,
            "%warpid" => Special::WarpId,
            "%nwarpid" => Special::NwarpId,
            "%lanemask_eq" => Special::LaneMaskEq,
            "%lanemask_lt" => Special::LaneMaskLt,
            "%lanemask_le" => Special::LaneMaskLe,
            "%lanemask_gt" => Special::LaneMaskGt,
            "%lanemask_ge" => Special::LaneMaskGe,
            // The width of the instruction says which: a read of 32 bits takes the lower half.
            "%clock" | "%clock64" => Special::Clock,
            "%clock_hi" => Special::ClockHi,
            "%globaltimer" | "%globaltimer_lo" => Special::Time,
            "%globaltimer_hi" => Special::TimeHi,
            "%dynamic_smem_size" => Special::DynamicSharedSize,
            "%total_smem_size" => Special::TotalSharedSize,
            "%smid" | "%gridid" | "%cluster_ctarank" => Special::Zero,
            "%nsmid" | "%cluster_nctarank" => Special::One,
            "WARP_SZ" => Special::WarpSize,
            _ => return None,
        })
    }

    /// Whether it may differ between the threads of a warp at the same time.
    pub fn is_of_thread(self) -> bool {
        use Special::{Clock, ClockHi, LaneId, LaneMaskEq, LaneMaskGe, LaneMaskGt, LaneMaskLe, LaneMaskLt, Tid};
        matches!(
            self,
            Tid(_) | LaneId | LaneMaskEq | LaneMaskLt | LaneMaskLe | LaneMaskGt | LaneMaskGe | Clock | ClockHi
        )
    }
}
