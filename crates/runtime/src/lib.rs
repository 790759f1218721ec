//! OpenCL's objects and rules: platform, device, context, queue, event, memory, program, kernel; all validation.
//!
//! No C types and no pointers but [`host_mem::HostPtr`]: `capi` converts the application's arguments to the types here,
//! and results to handles and codes. Commands and events form a graph (`event`, `queue`, `execute`): a command runs
//! when everything it waits for is done, on a thread of the engine or on a thread that waits for it. A failure is an
//! [`Error`], a status with a reason in words, and when it happens in a command, the status of its event and of those
//! that wait for it.

mod args;
mod blocks;
mod build;
mod children;
mod code;
mod command_buffer;
mod context;
mod device;
mod device_queue;
mod dispatch;
mod engine;
mod event;
mod execute;
mod external;
mod external_semaphore;
mod flags;
pub mod host_mem;
mod il;
mod image;
mod image_color;
mod image_requirements;
mod image_transfer;
mod kernel;
mod launch;
pub mod log;
mod map;
mod memory;
mod native;
mod partition;
mod pending;
mod pipe;
mod platform;
mod print;
mod program;
mod queue;
mod rect_transfer;
mod region;
mod residency;
mod sampler;
mod semaphore;
mod status;
pub mod subgroup;
mod svm;
mod tasks;
mod thread_exit;
mod transfer;
mod urgent;
mod usm;
mod variables;

pub use build::{BuildKind, BuildState, Notify};
pub use cloom_artifact::ImageKind;
pub use cloom_compiler::{Compiler, Config, Diagnostic, Location, give_up_compiling};
pub use cloom_hal::SvmKind;
pub use code::KernelCode;
pub use command_buffer::{
    CommandBuffer, CommandBufferState, DispatchInput, DispatchUpdate, MutableCommand, Recorded, SetKernel, SyncPoint,
};
pub use context::{Context, ContextProperty, ErrorCallback};
pub use device::Device;
pub use device_queue::DeviceQueue;
pub use engine::{Engine, EnterFloatEnv, Hooks, Printer};
pub use event::{Event, Profiling};
pub use execute::CommandType;
pub use external::ExternalSlot;
pub use external_semaphore::{Payload, Taken};
pub use flags::{CommandBufferFlags, MapFlags, MemFlags, MigrationFlags, MutableFields, QueueFlags};
pub use il::Il;
pub use image::{Image, ImageDesc, ImageType, supported_formats};
pub use image_requirements::{ImageRequirement, image_requirement};
pub use image_transfer::{ImageBox, Pitches};
pub use kernel::{Access, ArgInput, ArgSpace, Indirect, Kernel, WithMemObject, WithQueue, WithSampler};
pub use launch::RangeInput;
pub use memory::MemObject;
pub use native::{NativeFunction, NativeKernel};
pub use partition::Partition;
pub use pipe::Pipe;
pub use platform::Platform;
pub use program::{Program, ProgramOrigin};
pub use queue::Queue;
pub use region::RectSide;
pub use sampler::Sampler;
pub use semaphore::Semaphore;
pub use status::{Error, Result, Status};
pub use svm::SvmFree;
pub use usm::{Usm, UsmKind};
