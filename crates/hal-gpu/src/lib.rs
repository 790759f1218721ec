//! What any GPU back end needs and no driver has to be called for. A back end such as `hal-cuda` brings the calls.
//!
//! | module | in | out |
//! |---|---|---|
//! | [`timeline`] | launches of a stream, value and events | the order of launches, and the notification of each end |
//! | [`tuning`] | | the thresholds, each with its unit and its measurement |

#![forbid(unsafe_code)]

pub mod timeline;
pub mod tuning;
