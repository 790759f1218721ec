//! Finds what is wrong with kernels.
//!
//! In come the events of a launch in the interpreter ([`cloom_interp::Observer`]); out come findings with both parties.
//! What is found here by executing the IR is the reference for checks in compiled code: they must find the same, at
//! the same lines.
//!
//! * [`kind`]: the table of the kinds of findings.
//! * [`finding`]: a finding, and the report that all outputs are made from.
//! * [`source`]: the text of source files.
//! * [`interpreted`]: checks a launch in the interpreter.
//! * [`happens_before`]: what a work-item knows to have happened, as sparse vector clocks.
//! * [`history`]: the accesses of each word that later ones may race with.
//! * [`races`]: data races by OpenCL's memory model, whatever order the interpreter ran in.
//! * [`report`]: the formats in which a report is written.
//! * [`pages`]: what users read about each kind.
//! * [`suppress`]: rules that hide findings.

#![forbid(unsafe_code)]

pub mod finding;
pub mod happens_before;
pub mod history;
pub mod interpreted;
pub mod kind;
pub mod pages;
pub mod races;
pub mod report;
pub mod source;
pub mod suppress;

pub use finding::{Finding, Report};
pub use interpreted::{Checker, Subject};
pub use kind::{Kind, Kinds, Severity};
pub use races::{OpenCopy, Party, Race, RaceDetector, WeakBarrier};
pub use source::Sources;
