//! Splitting a program: over several devices, over a device and host threads, and over several processes.
//!
//! | module | does |
//! |---|---|
//! | [`domain`], [`band`] | what is split: units with a halo; bands of rows of a picture |
//! | [`split`] | how many units each one gets |
//! | [`plan`] | the kernels and steps of a program that runs in parts |
//! | [`worker_group`], [`parts`], [`devices`] | several devices: their queues, their common steps, their iterations |
//! | `communicator`, `ranks` | several processes, through MPI |
//! | [`hybrid`] | the device and the host's threads |

pub(crate) mod band;
pub(crate) mod communicator;
pub(crate) mod devices;
pub(crate) mod domain;
pub(crate) mod hybrid;
pub(crate) mod parts;
pub(crate) mod plan;
#[cfg(feature = "mpi")]
pub(crate) mod ranks;
pub(crate) mod split;
pub(crate) mod worker_group;
