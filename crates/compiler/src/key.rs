//! The specialisation key: the key under which a kernel's code is kept in memory and on disk.
//!
//! A kernel has several pieces of code: for most launches, for groups with short rows, for ids of any size; optimised,
//! or compiled in a tenth of the time; for formats of images and states of samplers. A key selects one. Whatever code
//! depends on and differs between launches of a program is a field here. What holds for the whole program is in
//! [`CodeOptions`].

use crate::arg_states::ArgStates;
use cloom_ir::KernelMeta;
use cloom_passes::BoundsChecks;
use serde::Serialize;

/// Selects one piece of a kernel's code.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize)]
#[non_exhaustive]
pub struct SpecializationKey {
    /// The launches that it is for.
    pub variant: Variant,
    /// How much time was spent on it.
    pub tier: Tier,
    /// The formats of images and the states of samplers that it is for.
    pub states: ArgStates,
    /// Whether its accesses are checked ([`cloom_passes::bounds`]).
    pub bounds_checks: BoundsChecks,
}

impl SpecializationKey {
    /// The baseline code of a kernel.
    pub fn baseline() -> Self {
        Self {
            variant: Variant::Scalar,
            tier: Tier::Baseline,
            states: ArgStates::new(),
            bounds_checks: BoundsChecks::Off,
        }
    }

    /// The canonical key, where several keys have the same code: all launches share one without optimisation, or if a
    /// backend has no variants; all vectorised variants share one if the number of lanes is fixed.
    pub(crate) fn canonical(self, has_variants: bool, options: &CodeOptions) -> Self {
        let required = options.subgroup_size.and_then(SubgroupSize::required);
        let variant = match self.variant {
            _ if !has_variants => Variant::Vector,
            // Without optimisation too, a kernel gets the sub-groups that it requires or expects.
            _ if !options.optimise && options.subgroup_size.is_none() => Variant::Scalar,
            // The number of lanes is fixed; vectors of another size would also be other sub-groups.
            Variant::ShortRow(_) | Variant::Dim0 if options.lanes.or(required).is_some() => Variant::Vector,
            variant => variant,
        };
        Self { variant, ..self }
    }
}

impl From<Variant> for SpecializationKey {
    /// The optimised code for some launches.
    fn from(variant: Variant) -> Self {
        Self { variant, tier: Tier::Optimised, states: ArgStates::new(), bounds_checks: BoundsChecks::Off }
    }
}

/// The tier: how much time is spent on code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
pub enum Tier {
    /// Compiled in a tenth of the time: hardly optimised, and on CPUs one work-item at a time. A launch may begin with
    /// it, and switch to optimised code when that exists (tier-up). The disk cache keeps it only for devices whose
    /// launches cannot switch.
    Baseline,
    /// Fully optimised.
    Optimised,
}

/// The launches that code is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
pub enum Variant {
    /// Ordinary launches.
    Vector,
    /// Launches with ids of any size.
    Scalar,
    /// Launches with groups whose rows have at most two to this power work-items, and more than half as many; 6 at
    /// most. Only for kernels for which it matters:
    /// [`CpuLaunch::long_row_width`](cloom_artifact::CpuLaunch::long_row_width).
    ShortRow(u8),
    /// Launches that are short in the preferred vectorisation dimension: their code is vectorised along dimension 0
    /// instead.
    Dim0,
}

/// Rows longer than two to this power need no code of their own.
pub(crate) const MAX_ROW: u8 = 6;

impl Variant {
    /// For groups whose rows have so many work-items.
    pub fn of_row(length: u64) -> Variant {
        let power = length.clamp(1, 1 << MAX_ROW).next_power_of_two().ilog2();
        Variant::ShortRow(power as u8)
    }
}

/// The size of a kernel's sub-groups, where the source says something about it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
pub enum SubgroupSize {
    /// The kernel requires this size: there is no code with another.
    Required(u16),
    /// The kernel expects this size: its code has it where that is possible, and if it depends on sub-groups.
    Expected(u16),
}

impl SubgroupSize {
    /// The size that a kernel's source gives.
    pub fn of(meta: &KernelMeta) -> Option<Self> {
        let expected = || meta.expected_subgroup_size.map(Self::Expected);
        meta.reqd_subgroup_size.map(Self::Required).or_else(expected)
    }

    /// The size, if it is required.
    pub fn required(self) -> Option<u16> {
        match self {
            Self::Required(size) => Some(size),
            Self::Expected(_) => None,
        }
    }
}

/// The inputs of code generation that all kernels of a program share.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize)]
pub struct CodeOptions {
    /// A fixed number of work-items of a vector; `None`: the cost model chooses for each kernel.
    pub lanes: Option<u16>,
    /// The size of the kernel's sub-groups; `None`: the compiler chooses.
    pub subgroup_size: Option<SubgroupSize>,
    /// Whether to optimise (`-cl-opt-disable` says no).
    pub optimise: bool,
    /// Whether the code runs where denormal operands and results count as zeros (`-cl-denorms-are-zero`).
    pub denorms_are_zero: bool,
    /// Whether filters of images may be as rough as a texture unit's (`-cl-unsafe-math-optimizations`).
    pub rough_filters: bool,
    /// Whether the code says which source lines it comes from (`-g`), if the backend can.
    pub lines: bool,
    /// Whether the code counts its operations ([`Config::count`](crate::Config::count)).
    pub count: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const ALL: [Variant; 4] = [Variant::Vector, Variant::Scalar, Variant::ShortRow(3), Variant::Dim0];

    fn distinct(has_variants: bool, lanes: Option<u16>, optimise: bool) -> usize {
        let options = CodeOptions { lanes, optimise, ..CodeOptions::default() };
        let keys = ALL.map(|v| SpecializationKey::from(v).canonical(has_variants, &options));
        keys.into_iter().collect::<HashSet<_>>().len()
    }

    #[test]
    fn keys_for_the_same_code_are_equal() {
        assert_eq!(distinct(true, None, true), 4);
        assert_eq!(distinct(true, Some(8), true), 2, "with lanes and without");
        assert_eq!(distinct(true, None, false), 1);
        assert_eq!(distinct(false, None, true), 1);
    }

    #[test]
    fn sub_groups_of_a_required_size_have_one_vectorised_variant() {
        let of = |subgroup_size: SubgroupSize, optimise| {
            let options = CodeOptions { subgroup_size: Some(subgroup_size), optimise, ..CodeOptions::default() };
            ALL.map(|v| SpecializationKey::from(v).canonical(true, &options).variant)
        };
        let one = [Variant::Vector, Variant::Scalar, Variant::Vector, Variant::Vector];
        assert_eq!((of(SubgroupSize::Required(16), true), of(SubgroupSize::Required(16), false)), (one, one));
        // A kernel without sub-groups may have other variants, and says which.
        assert_eq!(of(SubgroupSize::Expected(32), true), ALL);
        assert_eq!(of(SubgroupSize::Expected(32), false), ALL, "the code has its sub-groups");
    }

    #[test]
    fn the_baseline_is_never_taken_for_optimised_code() {
        let options = CodeOptions { optimise: true, ..CodeOptions::default() };
        let scalar = SpecializationKey::from(Variant::Scalar).canonical(true, &options);
        assert_ne!(SpecializationKey::baseline().canonical(true, &options), scalar);
    }

    #[test]
    fn rows_are_rounded_up_to_powers_of_two() {
        assert_eq!([0, 1, 3, 64, 1000].map(Variant::of_row), [0, 0, 2, 6, 6].map(Variant::ShortRow));
    }
}
