//! OpenCL's objects and rules: platform, device, context, queue, event, memory, program, kernel; all validation.
//!
//! No C types and no pointers but [`host_mem::HostPtr`]: `capi` converts the application's arguments to the types here,
//! and results to handles and codes. Commands and events form a graph: a command runs when everything it waits for is
//! done, on a thread of the engine or on a thread that waits for it. A failure is an [`Error`], a status with a reason
//! in words, and when it happens in a command, the status of its event and of those that wait for it.
//!
//! From bottom to top; no module uses one below it in this list:
//!
//! | module | what is in it |
//! |---|---|
//! | `objects` | platform, engine, devices, contexts, samplers, programs and their code |
//! | `memory` | buffers, images, pipes, where their bytes are valid; shared virtual memory |
//! | `graph` | queues, commands, events, semaphores |
//! | `transfer` | commands that move or map bytes |
//! | `launch` | kernels, their arguments, and launches |
//! | `command_buffer` | recorded commands |

mod checker;
mod command_buffer;
mod command_type;
mod external;
mod flags;
mod graph;
pub mod host_mem;
mod launch;
pub mod log;
mod memory;
mod objects;
mod status;
mod thread_exit;
mod transfer;

pub use checker::{
    AddressedMemory, Awaited, AwaitedEvent, CheckedArg, CheckedLaunch, CheckedMemory, DeviceRun, EnqueuedCommand,
    LaunchChecker, MappedRegion, MemoryUse, NewObject, RefusedAccess, SharedMemory, UsedMemory, Uses,
};
pub use cloom_artifact::ImageKind;
pub use cloom_caps::DeviceKind;
pub use cloom_caps::image::{ImageFormat, channel, order};
pub use cloom_compiler::{Compiler, Config, Diagnostic, Location, Program as CompiledProgram, give_up_compiling};
pub use cloom_hal::SvmKind;
pub use command_buffer::{
    CommandBuffer, CommandBufferState, DispatchInput, DispatchUpdate, MutableCommand, Recorded, SetKernel, SyncPoint,
};
pub use command_type::CommandType;
pub use external::ExternalSlot;
pub use flags::{CommandBufferFlags, MapFlags, MemFlags, MigrationFlags, MutableFields, QueueFlags};
pub use graph::device_queue::DeviceQueue;
pub use graph::event::{Event, Profiling};
pub use graph::external_semaphore::{Payload, Taken};
pub use graph::queue::Queue;
pub use graph::semaphore::Semaphore;
pub use launch::kernel::{Access, ArgInput, ArgSpace, Indirect, Kernel, WithMemObject, WithQueue, WithSampler};
pub use launch::native::{NativeFunction, NativeKernel};
pub use launch::range::RangeInput;
pub use launch::subgroup;
pub use memory::image::{Image, ImageDesc, ImageType, supported_formats};
pub use memory::image_requirements::{ImageRequirement, image_requirement};
pub use memory::object::MemObject;
pub use memory::pipe::Pipe;
pub use memory::region::{RectPair, RectSide};
pub use objects::allocations::{Usm, UsmKind};
pub use objects::build::{BuildKind, BuildState, Notify};
pub use objects::code::KernelCode;
pub use objects::context::{Context, ContextProperty, ErrorCallback};
pub use objects::device::Device;
pub use objects::engine::{Engine, EnterFloatEnv, Hooks, Printer};
pub use objects::il::Il;
pub use objects::partition::Partition;
pub use objects::platform::Platform;
pub use objects::program::{Program, ProgramOrigin};
pub use objects::sampler::Sampler;
pub use status::{Error, Result, Status};
pub use transfer::image::{ImageBox, Pitches};
pub use transfer::svm::SvmFree;
