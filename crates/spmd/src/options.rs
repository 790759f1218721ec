//! The options of the vectorisation and the target: everything that decides about vectors beside the kernel.

use cloom_target::{MaskedAccess, Target, Tuning};

/// What the caller fixes of the vectorisation; the cost model decides the rest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct VectorOptions {
    /// The number of lanes, 1 to 64; `None` leaves it to the cost model.
    pub lanes: Option<u16>,
    /// The work-items of a row of a group, if known and short.
    pub short_row: Option<u16>,
    /// Whether vectors lie along dimension 0 of a launch even where another dimension suits the kernel better: for
    /// launches that are short in that other dimension.
    pub keep_dim0: bool,
}

impl VectorOptions {
    /// Options for a given number of lanes.
    pub fn with_lanes(lanes: u16) -> VectorOptions {
        VectorOptions { lanes: Some(lanes), ..VectorOptions::default() }
    }

    /// Whether vectors are allowed at all.
    pub fn may_have_lanes(&self) -> bool {
        self.lanes != Some(1)
    }
}

/// Options and target: all that decides about vectors beside the kernel.
#[derive(Clone, Copy, Debug)]
pub struct Vectors<'a> {
    /// What the caller fixes.
    pub options: VectorOptions,
    /// What code is generated for.
    pub target: &'a Target,
}

impl Vectors<'_> {
    /// The same for scalar code.
    pub fn scalar(self) -> Self {
        Self { options: VectorOptions { lanes: Some(1), ..self.options }, ..self }
    }

    /// Bytes of a vector register: the target's, or 4 for each lane if a number of lanes was requested; 16 to 64.
    pub fn register(&self) -> u32 {
        let bytes = self.options.lanes.map_or(self.target.features().vector_bits / 8, |n| u32::from(n) * 4);
        // With more than 16 lanes, a row transpose does not load that much of a row at a time.
        if bytes > 64 { 16 } else { bytes.max(16).next_power_of_two() }
    }

    /// Whether there are masked stores of all elements; not if a number of lanes was requested, so that such code is
    /// the same for all targets.
    pub fn has_masked_stores(&self) -> bool {
        self.options.lanes.is_none() && self.target.features().masked_access == MaskedAccess::All
    }

    /// The target's tuning, or a generic one if a number of lanes was requested, so that such code is the same for
    /// all targets.
    pub fn tuning(&self) -> &Tuning {
        self.options.lanes.map_or(self.target.tuning(), |_| &Tuning::GENERIC)
    }
}
