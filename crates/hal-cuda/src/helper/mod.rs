//! GPUs in another process: the helper owns them, so that a fault ends the helper and not what the program can do.
//!
//! After a fault of a kernel, the driver fails every call of its process for good (`error`). With a helper, that
//! process is not the application's: what was on the GPUs is lost, the commands that need it fail and say why, and what
//! is made from then on lives in a new helper.
//!
//! ```text
//! application                                   cloom gpu-helper
//! HelpedDevice, HelpedMemory, …                 serve
//!      └─ Helper ── Request, bytes ──▶ socket ──▶ CudaDevice, CudaMemory, …
//!                ◀── Reply, bytes ────
//! ```
//!
//! The application finds the GPUs itself, which needs no context, and addresses them by their place in the list. Each
//! of its threads that is in a call has a connection of its own; a thread of the helper answers it. Bytes go through
//! the socket. The helper ends when its last connection does, thus with the application.
//!
//! | module | its room |
//! |---|---|
//! | `wire` | the messages and their frame |
//! | `process` | a helper as the application has it: its start, calls, and end |
//! | `device`, `memory`, `launch` | the device in the application |
//! | `serve` | the helper |

mod device;
mod launch;
mod memory;
mod process;
mod serve;
mod wire;

pub use device::{HelpedDevice, helped};
pub use process::Program;
pub use serve::serve;

/// The version of the messages: application and helper must be of one build.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
