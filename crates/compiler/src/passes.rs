//! The passes of the whole compiler by name, and the switches that `CLOOM_DISABLE` names.

use cloom_caps::env;
pub use cloom_passes::{Disabled, PassId, PassOptions, PassStatistics, Statistics, UnknownPass};

/// Specialisation on formats and samplers. Counts instructions.
pub const SPECIALISE_IMAGES: PassId =
    PassId::optional("specialise-images", "accesses to images of known formats are loads and arithmetic");
/// Descriptors of images as parameters of a kernel, for GPUs. Counts parameters.
pub const DESCRIPTORS_BY_VALUE: PassId =
    PassId::optional("descriptors-by-value", "descriptors of images are parameters in the bank of constants");

/// Every pass: this crate's, the scalar ones, the vectoriser's, and those on LLVM IR.
pub fn all() -> Vec<PassId> {
    let own = [SPECIALISE_IMAGES, DESCRIPTORS_BY_VALUE].into_iter();
    let others = cloom_spmd::passes::PASSES.iter().chain(cloom_llvm::own_passes::PASSES);
    own.chain(cloom_passes::ids()).chain(others.copied()).collect()
}

/// The passes that the environment switches off, and what is wrong with the names that switch off nothing.
pub fn from_env() -> (Disabled, Vec<UnknownPass>) {
    Disabled::parse(&env::DISABLE.get().unwrap_or_default(), &all())
}

/// What is wrong with `CLOOM_DISABLE`, a line each, with what to do about it.
pub fn warnings() -> Vec<String> {
    let names = || all().iter().filter(|id| !id.required).map(|id| id.name).collect::<Vec<_>>().join(", ");
    let one = |wrong: UnknownPass| format!("{}: {wrong}; the names are {}", env::DISABLE.name, names());
    from_env().1.into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_two_passes_have_one_name() {
        let mut names: Vec<&str> = super::all().iter().map(|id| id.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
