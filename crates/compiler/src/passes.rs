//! The passes of the whole compiler by name, and the switches that `CLOOM_DISABLE` names.

use cloom_caps::env;
pub use cloom_passes::{Disabled, PassId, PassOptions, PassStatistics, Statistics, UnknownPass};

/// Every pass, scalar ones first.
pub fn all() -> Vec<PassId> {
    cloom_passes::ids().chain(cloom_spmd::passes::PASSES.iter().copied()).collect()
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
