//! NVIDIA GPUs as devices, by the driver's interface (CUDA's driver API). No toolkit is needed: where the driver is not
//! installed, there are no devices and a reason.
//!
//! In comes a [`KernelArtifact`](cloom_artifact::KernelArtifact) with PTX, which the driver translates. A launch
//! becomes one grid or several, each with a descriptor; what a kernel gets is fixed in `cloom_ir::abi::gpu`. Out goes
//! the end of the launch, and what it printed.
//!
//! | module | its room |
//! |---|---|
//! | `library` | loading the driver, the table of its functions; whatever else calls them says `unsafe` |
//! | `error` | what errors mean, and which end all |
//! | `context` | a GPU, its context, streams and events |
//! | `memory`, `transfer`, `rect` | blocks of memory, moving bytes, moving boxes of bytes |
//! | `peers` | copies between GPUs |
//! | `texture` | views of memory for texture units |
//! | `managed` | memory that is shared with the host |
//! | `module`, `cache` | loading kernels, keeping their machine code |
//! | `launch` | checking and submitting a launch |
//! | `batch` | submitting many launches by one call |
//! | `stream_wait` | what is submitted together begins together, so that times are right |
//! | `timeline` | the calls of the driver for the timeline of `cloom_hal_gpu` |
//! | `exit` | what the end of the process waits for |
//! | `stream`, `print` | a stream, the ends of its launches, and their output |
//! | `info`, `caps`, `device` | what a GPU is and offers, and the device |

#[allow(unsafe_code, reason = "it calls the driver")]
mod batch;
mod cache;
mod caps;
#[allow(unsafe_code, reason = "it calls the driver")]
mod context;
mod device;
mod error;
#[allow(unsafe_code, reason = "it registers a handler of the C library")]
mod exit;
#[allow(unsafe_code, reason = "it calls the driver")]
mod info;
mod launch;
#[allow(unsafe_code, reason = "it loads the driver")]
mod library;
#[allow(unsafe_code, reason = "it calls the driver, and the host uses the memory too")]
mod managed;
#[allow(unsafe_code, reason = "it calls the driver")]
mod memory;
#[allow(unsafe_code, reason = "it calls the driver")]
mod module;
#[allow(unsafe_code, reason = "it calls the driver")]
mod peers;
mod print;
#[allow(unsafe_code, reason = "it calls the driver")]
mod rect;
mod stream;
#[allow(unsafe_code, reason = "it calls the driver, and shares a word with the GPU")]
mod stream_wait;
#[allow(unsafe_code, reason = "it calls the driver")]
mod texture;
#[allow(unsafe_code, reason = "it calls the driver, and shares a word with the GPU")]
mod timeline;
#[allow(unsafe_code, reason = "it calls the driver, and its threads share a block of the host")]
mod transfer;

pub use cache::{CubinCache, CubinKey, DirectoryCache};
pub use device::{CudaDevice, Found, devices};
pub use library::Absent;
pub use memory::{CudaMemory, HostBlock};
