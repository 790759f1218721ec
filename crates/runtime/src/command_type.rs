//! The types of commands.

/// The types of commands, with the specification's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u32)]
#[allow(missing_docs, reason = "the names are those of the specification")]
pub enum CommandType {
    NdRangeKernel = 0x11F0,
    Task = 0x11F1,
    NativeKernel = 0x11F2,
    ReadBuffer = 0x11F3,
    WriteBuffer = 0x11F4,
    CopyBuffer = 0x11F5,
    ReadImage = 0x11F6,
    WriteImage = 0x11F7,
    CopyImage = 0x11F8,
    CopyImageToBuffer = 0x11F9,
    CopyBufferToImage = 0x11FA,
    MapBuffer = 0x11FB,
    MapImage = 0x11FC,
    UnmapMemObject = 0x11FD,
    Marker = 0x11FE,
    ReadBufferRect = 0x1201,
    WriteBufferRect = 0x1202,
    CopyBufferRect = 0x1203,
    User = 0x1204,
    Barrier = 0x1205,
    MigrateMemObjects = 0x1206,
    FillBuffer = 0x1207,
    FillImage = 0x1208,
    SvmFree = 0x1209,
    SvmMemcpy = 0x120A,
    SvmMemFill = 0x120B,
    SvmMap = 0x120C,
    SvmUnmap = 0x120D,
    SvmMigrateMem = 0x120E,
    MemFill = 0x4204,
    Memcpy = 0x4205,
    MigrateMem = 0x4206,
    MemAdvise = 0x4207,
    CommandBuffer = 0x12A8,
    SemaphoreWait = 0x2042,
    SemaphoreSignal = 0x2043,
}

impl CommandType {
    /// Whether it runs functions of the application, which may wait for other commands.
    pub(crate) fn may_block(self) -> bool {
        matches!(self, CommandType::NativeKernel | CommandType::SvmFree)
    }
}
