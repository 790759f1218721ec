//! The programs, one file each, and what those that fill a picture have in common.


use crate::program::Program;

/// Every program.
pub(crate) const ALL: &[&dyn Program] = &[];
