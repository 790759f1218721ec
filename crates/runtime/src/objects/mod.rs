//! The objects that commands and memory belong to: platform, engine, devices, contexts, programs and the code of their
//! kernels. Nothing here knows a command or a memory object.

pub(crate) mod allocations;
pub(crate) mod blocks;
pub(crate) mod build;
pub(crate) mod code;
pub(crate) mod context;
pub(crate) mod cost;
pub(crate) mod device;
pub(crate) mod engine;
pub(crate) mod il;
pub(crate) mod partition;
pub(crate) mod platform;
pub(crate) mod program;
pub(crate) mod sampler;
pub(crate) mod space;
pub(crate) mod tasks;
pub(crate) mod urgent;
pub(crate) mod variables;
pub(crate) mod watchdog;
