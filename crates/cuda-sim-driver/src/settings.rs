//! The settings of the simulation: variables of the environment whose names begin with `CUDA_SIM_`.

use std::str::FromStr;

/// The number that a variable of the environment has.
pub fn number<T: FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}
