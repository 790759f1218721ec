//! Commands of the host program: who has enqueued them, and what they use.

use super::stack::Stack;
use cloom_check::interpreted::footprint::Mode;
use cloom_runtime::{CommandType, MemoryUse, UsedMemory};
use std::ops::Range;

/// Who has enqueued a command, or made an object.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The function of the interface.
    pub call: &'static str,
    /// Where.
    pub stack: Stack,
    /// The kernel that it launches.
    pub kernel: Option<String>,
}

impl Caller {
    /// What the command is called in sentences.
    pub fn name(&self) -> String {
        match &self.kernel {
            Some(kernel) => format!("kernel `{kernel}`"),
            None => self.call.to_owned(),
        }
    }
}

/// Bytes that a command uses.
#[derive(Clone, Debug)]
pub struct Used {
    /// Which memory.
    pub memory: UsedMemory,
    /// The bytes in it.
    pub ranges: Vec<Range<u64>>,
    /// How.
    pub mode: Mode,
}

impl From<MemoryUse> for Used {
    fn from(used: MemoryUse) -> Used {
        let MemoryUse { memory, ranges, writes } = used;
        Used { memory, ranges, mode: Mode { writes, is_atomic: false } }
    }
}

/// The call that enqueues such a command.
pub fn name(kind: CommandType) -> &'static str {
    match kind {
        CommandType::NdRangeKernel => "clEnqueueNDRangeKernel",
        CommandType::Task => "clEnqueueTask",
        CommandType::NativeKernel => "clEnqueueNativeKernel",
        CommandType::ReadBuffer => "clEnqueueReadBuffer",
        CommandType::WriteBuffer => "clEnqueueWriteBuffer",
        CommandType::CopyBuffer => "clEnqueueCopyBuffer",
        CommandType::ReadImage => "clEnqueueReadImage",
        CommandType::WriteImage => "clEnqueueWriteImage",
        CommandType::CopyImage => "clEnqueueCopyImage",
        CommandType::CopyImageToBuffer => "clEnqueueCopyImageToBuffer",
        CommandType::CopyBufferToImage => "clEnqueueCopyBufferToImage",
        CommandType::MapBuffer => "clEnqueueMapBuffer",
        CommandType::MapImage => "clEnqueueMapImage",
        CommandType::UnmapMemObject => "clEnqueueUnmapMemObject",
        CommandType::Marker => "clEnqueueMarkerWithWaitList",
        CommandType::ReadBufferRect => "clEnqueueReadBufferRect",
        CommandType::WriteBufferRect => "clEnqueueWriteBufferRect",
        CommandType::CopyBufferRect => "clEnqueueCopyBufferRect",
        CommandType::User => "clCreateUserEvent",
        CommandType::Barrier => "clEnqueueBarrierWithWaitList",
        CommandType::MigrateMemObjects => "clEnqueueMigrateMemObjects",
        CommandType::FillBuffer => "clEnqueueFillBuffer",
        CommandType::FillImage => "clEnqueueFillImage",
        CommandType::SvmFree => "clEnqueueSVMFree",
        CommandType::SvmMemcpy => "clEnqueueSVMMemcpy",
        CommandType::SvmMemFill => "clEnqueueSVMMemFill",
        CommandType::SvmMap => "clEnqueueSVMMap",
        CommandType::SvmUnmap => "clEnqueueSVMUnmap",
        CommandType::SvmMigrateMem => "clEnqueueSVMMigrateMem",
        CommandType::MemFill => "clEnqueueMemFillINTEL",
        CommandType::Memcpy => "clEnqueueMemcpyINTEL",
        CommandType::MigrateMem => "clEnqueueMigrateMemINTEL",
        CommandType::MemAdvise => "clEnqueueMemAdviseINTEL",
        CommandType::CommandBuffer => "clEnqueueCommandBufferKHR",
        CommandType::SemaphoreWait => "clEnqueueWaitSemaphoresKHR",
        CommandType::SemaphoreSignal => "clEnqueueSignalSemaphoresKHR",
    }
}
