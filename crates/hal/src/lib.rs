//! The interface of devices. It has no objects of OpenCL and validates nothing: `runtime` has checked every argument.
//! What a device says of itself ([`DeviceInfo`]) has OpenCL's terms: its extensions, limits and affinity domains.
//!
//! Every device implements the core, [`Device`]: say what it is, allocate memory, load code, submit launches. What only
//! some can do is an ability, a separate trait, which `Device::as_…` returns if the device has it:
//!
//! | ability | what it is |
//! |---|---|
//! | [`HostShared`] | kernels address the host's memory, so that nothing has to be copied |
//! | [`Svm`] | allocations that host and device use under one address |
//! | [`Streams`] | launches of a queue are submitted ahead and run in order |
//! | [`Textures`] | texture units filter images |
//! | [`Pinned`] | memory of the host that it copies from and to at full speed |
//! | [`Timestamps`] | a clock of the device's own |
//! | [`Partition`] | a part of its compute units can be a device of its own |
//! | [`Assist`] | waiting threads of the host can run a part of a launch |
//!
//! Images are memory, too: the runtime lays their elements out, and kernels find them through a descriptor.
//!
//! A device executes what is submitted, and the runtime schedules: order, events and queues are the runtime's, and
//! everything that a submitted launch depends on has ended, unless the device has streams. A device is used from any
//! thread.

mod device;
mod error;
mod host_visible;
mod info;
mod launch;
pub mod lock;
mod memory;
mod rect;
mod tuning;
mod uuid;
mod variables;

pub use cloom_artifact::{DeviceCall, NdRange};
pub use device::{
    Assist, Device, Domain, HostShared, Partition, Pinned, PinnedBlock, Streams, Svm, SvmKind, Texture, TextureChannel,
    TextureRows, Textures, Timestamps,
};
pub use error::HalError;
pub use host_visible::HostVisible;
pub use info::{DeviceInfo, Expected, GpuInfo};
pub use launch::{Completion, DeviceCalls, Finish, Kernel, KernelMemory, Launch, Pending, PrintSink, TierUp, conclude};
pub use memory::{Memory, assert_in_range, copy_through_host};
pub use rect::Rect;
pub use tuning::{TUNING, Tuning};
pub use uuid::{UUID_BYTES, uuid};
pub use variables::{initialise, initialised};
