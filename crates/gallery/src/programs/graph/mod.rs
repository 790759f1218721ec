//! Searches and alignments: combinatorial problems.

pub(crate) mod lcs;
pub(crate) mod tsp;
