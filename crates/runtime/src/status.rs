//! The statuses of the specification, and errors: a status with a reason in words.

use std::borrow::Cow;
use std::fmt;

/// A result of the runtime.
pub type Result<T> = std::result::Result<T, Error>;

macro_rules! statuses {
    ($($name:ident = $number:literal $text:literal,)*) => {
        /// What the specification calls an error code, without the prefix `CL_`.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(i32)]
        #[allow(missing_docs, reason = "the names are those of the specification")]
        pub enum Status { $($name = $number,)* }

        impl Status {
            /// The name in the specification.
            pub fn name(self) -> &'static str {
                match self { $(Status::$name => $text,)* }
            }

            /// The status of a failed command's code, or that of a code which the specification does not name.
            pub(crate) fn of_code(code: i32) -> Status {
                Self::ALL.iter().copied().find(|s| s.code() == code).unwrap_or(Status::OutOfResources)
            }

            /// Every status.
            pub const ALL: &[Status] = &[$(Status::$name,)*];
        }
    };
}

statuses! {
    DeviceNotFound = -1 "CL_DEVICE_NOT_FOUND",
    DeviceNotAvailable = -2 "CL_DEVICE_NOT_AVAILABLE",
    CompilerNotAvailable = -3 "CL_COMPILER_NOT_AVAILABLE",
    MemObjectAllocationFailure = -4 "CL_MEM_OBJECT_ALLOCATION_FAILURE",
    OutOfResources = -5 "CL_OUT_OF_RESOURCES",
    OutOfHostMemory = -6 "CL_OUT_OF_HOST_MEMORY",
    ProfilingInfoNotAvailable = -7 "CL_PROFILING_INFO_NOT_AVAILABLE",
    MemCopyOverlap = -8 "CL_MEM_COPY_OVERLAP",
    ImageFormatMismatch = -9 "CL_IMAGE_FORMAT_MISMATCH",
    ImageFormatNotSupported = -10 "CL_IMAGE_FORMAT_NOT_SUPPORTED",
    BuildProgramFailure = -11 "CL_BUILD_PROGRAM_FAILURE",
    MapFailure = -12 "CL_MAP_FAILURE",
    MisalignedSubBufferOffset = -13 "CL_MISALIGNED_SUB_BUFFER_OFFSET",
    ExecStatusErrorForEventsInWaitList = -14 "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
    CompileProgramFailure = -15 "CL_COMPILE_PROGRAM_FAILURE",
    LinkerNotAvailable = -16 "CL_LINKER_NOT_AVAILABLE",
    LinkProgramFailure = -17 "CL_LINK_PROGRAM_FAILURE",
    DevicePartitionFailed = -18 "CL_DEVICE_PARTITION_FAILED",
    KernelArgInfoNotAvailable = -19 "CL_KERNEL_ARG_INFO_NOT_AVAILABLE",
    InvalidValue = -30 "CL_INVALID_VALUE",
    InvalidDeviceType = -31 "CL_INVALID_DEVICE_TYPE",
    InvalidPlatform = -32 "CL_INVALID_PLATFORM",
    InvalidDevice = -33 "CL_INVALID_DEVICE",
    InvalidContext = -34 "CL_INVALID_CONTEXT",
    InvalidQueueProperties = -35 "CL_INVALID_QUEUE_PROPERTIES",
    InvalidCommandQueue = -36 "CL_INVALID_COMMAND_QUEUE",
    InvalidHostPtr = -37 "CL_INVALID_HOST_PTR",
    InvalidMemObject = -38 "CL_INVALID_MEM_OBJECT",
    InvalidImageFormatDescriptor = -39 "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR",
    InvalidImageSize = -40 "CL_INVALID_IMAGE_SIZE",
    InvalidSampler = -41 "CL_INVALID_SAMPLER",
    InvalidBinary = -42 "CL_INVALID_BINARY",
    InvalidBuildOptions = -43 "CL_INVALID_BUILD_OPTIONS",
    InvalidProgram = -44 "CL_INVALID_PROGRAM",
    InvalidProgramExecutable = -45 "CL_INVALID_PROGRAM_EXECUTABLE",
    InvalidKernelName = -46 "CL_INVALID_KERNEL_NAME",
    InvalidKernelDefinition = -47 "CL_INVALID_KERNEL_DEFINITION",
    InvalidKernel = -48 "CL_INVALID_KERNEL",
    InvalidArgIndex = -49 "CL_INVALID_ARG_INDEX",
    InvalidArgValue = -50 "CL_INVALID_ARG_VALUE",
    InvalidArgSize = -51 "CL_INVALID_ARG_SIZE",
    InvalidKernelArgs = -52 "CL_INVALID_KERNEL_ARGS",
    InvalidWorkDimension = -53 "CL_INVALID_WORK_DIMENSION",
    InvalidWorkGroupSize = -54 "CL_INVALID_WORK_GROUP_SIZE",
    InvalidWorkItemSize = -55 "CL_INVALID_WORK_ITEM_SIZE",
    InvalidGlobalOffset = -56 "CL_INVALID_GLOBAL_OFFSET",
    InvalidEventWaitList = -57 "CL_INVALID_EVENT_WAIT_LIST",
    InvalidEvent = -58 "CL_INVALID_EVENT",
    InvalidOperation = -59 "CL_INVALID_OPERATION",
    InvalidGlObject = -60 "CL_INVALID_GL_OBJECT",
    InvalidBufferSize = -61 "CL_INVALID_BUFFER_SIZE",
    InvalidGlobalWorkSize = -63 "CL_INVALID_GLOBAL_WORK_SIZE",
    InvalidProperty = -64 "CL_INVALID_PROPERTY",
    InvalidImageDescriptor = -65 "CL_INVALID_IMAGE_DESCRIPTOR",
    InvalidCompilerOptions = -66 "CL_INVALID_COMPILER_OPTIONS",
    InvalidLinkerOptions = -67 "CL_INVALID_LINKER_OPTIONS",
    InvalidDevicePartitionCount = -68 "CL_INVALID_DEVICE_PARTITION_COUNT",
    InvalidPipeSize = -69 "CL_INVALID_PIPE_SIZE",
    InvalidDeviceQueue = -70 "CL_INVALID_DEVICE_QUEUE",
    InvalidSpecId = -71 "CL_INVALID_SPEC_ID",
    InvalidGlSharegroupReference = -1000 "CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR",
    PlatformNotFound = -1001 "CL_PLATFORM_NOT_FOUND_KHR",
    InvalidEglObject = -1093 "CL_INVALID_EGL_OBJECT_KHR",
    InvalidCommandBuffer = -1138 "CL_INVALID_COMMAND_BUFFER_KHR",
    InvalidSyncPointWaitList = -1139 "CL_INVALID_SYNC_POINT_WAIT_LIST_KHR",
    IncompatibleCommandQueue = -1140 "CL_INCOMPATIBLE_COMMAND_QUEUE_KHR",
    InvalidMutableCommand = -1141 "CL_INVALID_MUTABLE_COMMAND_KHR",
    InvalidSemaphore = -1142 "CL_INVALID_SEMAPHORE_KHR",
}

impl Status {
    /// Its number.
    pub const fn code(self) -> i32 {
        self as i32
    }
}

/// A status with a reason that helps the person who wrote the call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// What the call returns.
    pub status: Status,
    /// Why, in words.
    pub why: Cow<'static, str>,
}

impl Error {
    /// The status with a reason.
    pub fn new(status: Status, why: impl Into<Cow<'static, str>>) -> Error {
        Error { status, why: why.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.status.name(), self.why)
    }
}

impl std::error::Error for Error {}

impl From<cloom_hal::HalError> for Error {
    fn from(e: cloom_hal::HalError) -> Error {
        let status = match e {
            cloom_hal::HalError::OutOfMemory(_) => Status::MemObjectAllocationFailure,
            cloom_hal::HalError::BadCode(_) | cloom_hal::HalError::Device(_) => Status::OutOfResources,
        };
        Error::new(status, e.to_string())
    }
}

/// Returns an error unless a condition holds: `ensure!(size > 0, InvalidBufferSize, "the size is {size}")`.
macro_rules! ensure {
    ($condition:expr, $status:ident, $($why:tt)+) => {
        if !$condition {
            $crate::status::bail!($status, $($why)+);
        }
    };
}

/// Returns an error.
macro_rules! bail {
    ($status:ident, $($why:tt)+) => {
        return Err($crate::status::Error::new($crate::status::Status::$status, format!($($why)+)))
    };
}

pub(crate) use {bail, ensure};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_unique() {
        for (i, a) in Status::ALL.iter().enumerate() {
            for b in &Status::ALL[i + 1..] {
                assert!(a.code() != b.code() && a.name() != b.name());
            }
        }
    }
}
