//! Devices in another process: the helper owns them, so that a fault ends the helper and not what the program can do.
//!
//! After a fault of a kernel, the driver of a GPU may fail every call of its process for good. With a helper, that
//! process is not the application's: what was on the devices is lost, the commands that need it fail and say why, and
//! what is made from then on lives in a new helper. Any device that is [`Served`] can be there.
//!
//! ```text
//! application                                   cloom gpu-helper
//! RemoteDevice, RemoteMemory, …                 serve
//!      └─ Helper ── Request, bytes ──▶ socket ──▶ a Device, its Memory, …
//!                ◀── Reply, bytes ────
//! ```
//!
//! The application finds the devices itself, without using them, and addresses them by their index in the list. Each
//! of its threads that is in a call has a connection of its own; a thread of the helper answers it. Bytes go through
//! the socket. The helper ends when its last connection does, thus with the application.
//!
//! | module | its room |
//! |---|---|
//! | `wire` | the messages and their frame |
//! | `process` | a helper as the application has it: its start, calls, and end |
//! | `device`, `memory`, `launch` | the device in the application |
//! | `served` | what a device must do beside `cloom_hal` to be in a helper |
//! | `serve` | the helper |

#![forbid(unsafe_code)]

mod device;
mod launch;
mod memory;
mod process;
mod serve;
mod served;
mod wire;

pub use device::{RemoteDevice, remote};
pub use process::Program;
pub use serve::serve;
pub use served::Served;
pub use wire::VERSION;
