//! The part of a GPU back end that calls no driver. The back end of a driver adds the calls.
//!
//! | module | in | out |
//! |---|---|---|
//! | [`grids`] | the range of a launch | sub-grids with their descriptors, within the limits of the device |
//! | [`print`](mod@print) | the bytes of a print buffer | print records |
//! | [`rect`] | a box of bytes | chunks that fit, and rows in the order that a device copies fast |
//! | [`timeline`] | launches of a stream, value and events | the order of launches, and the notification of each end |
//! | [`tuning`] | | the thresholds, each with its unit and its measurement |

#![forbid(unsafe_code)]

pub mod grids;
pub mod print;
pub mod rect;
pub mod timeline;
pub mod tuning;
