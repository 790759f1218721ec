//! Programs about arrays and matrices, and about what memory and arithmetic of a device do.

pub(crate) mod bank;
pub(crate) mod coalesce;
pub(crate) mod copy;
pub(crate) mod histogram;
pub(crate) mod lu;
pub(crate) mod mad;
pub(crate) mod matvec;
pub(crate) mod occupancy;
pub(crate) mod reduce;
pub(crate) mod scalvec;
