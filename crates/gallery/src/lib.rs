//! The gallery: the programs that people use to show what OpenCL is for, each with several ways to write its kernel,
//! and an independent reference in Rust that every result is checked against.
//!
//! What comes in: an open [`Session`] on any OpenCL device and [`Params`]. What goes out: an [`Outcome`] with times,
//! the verdict of the reference and, where it makes sense, a picture. Only the standard OpenCL interface is used,
//! loaded at run time, so that the same kernels and hosts run on every platform and platforms can be compared.

mod agree;
pub mod builds;
mod cases;
pub mod chart;
pub mod cl;
mod common;
mod error;
pub mod film;
mod idioms;
pub mod inputs;
pub mod latency;
pub mod limits;
mod native;
pub mod observer;
mod params;
mod picture;
pub mod ports;
mod program;
pub mod programs;
mod random;
pub mod ranks;
mod round_robin;
mod splitting;
mod stopwatch;

pub use agree::{Agreement, Checked, Pair, Run, agree};
pub use cases::{Case, Place, cases};
pub use cl::image::{self, Image};
pub use cl::{Arg, Buffer, Choice, First, Found, Kernel, Session, Times};
pub use error::{Error, Result};
pub use film::Film;
pub use native::{Style, has_native, native};
pub use observer::{Observe, Observer};
pub use params::Params;
pub use picture::Picture;
pub use program::{Answer, Outcome, Program, Variant, Verdict, Work};
pub use round_robin::{Measuring, RoundRobinSlot, round_robin_slots};
pub use stopwatch::Spent;

/// Every program, in the order of the list.
pub fn programs() -> &'static [&'static dyn Program] {
    programs::ALL
}

/// The program of that name; the error names the closest ones there are.
pub fn program(name: &str) -> Result<&'static dyn Program> {
    programs().iter().copied().find(|p| p.name() == name).ok_or_else(|| Error::NotFound {
        what: "program",
        wanted: name.to_owned(),
        have: programs().iter().map(|p| p.name().to_owned()).collect(),
    })
}
