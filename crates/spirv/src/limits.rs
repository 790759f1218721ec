//! Bounds on what one module may ask for: memory and time are bounded whatever it says.

/// Bytes of a module.
pub const MODULE_BYTES: usize = 64 << 20;
/// Instructions that the IR of a module may have.
pub const IR_INSTS: usize = 4 << 20;
/// Parts of one value: scalars and vectors.
pub const PARTS: u32 = 4096;
/// Types nested in one type.
pub const TYPE_DEPTH: u32 = 255;
/// Bytes of one type.
pub const OBJECT: u64 = 1 << 30;
/// Bytes of all initial values.
pub const INIT_BYTES: u64 = 256 << 20;
/// Addresses in one initial value.
pub const RELOCS: usize = 4 << 20;
/// Kernels of a module.
pub const KERNELS: usize = 1 << 16;
/// Bytes that a function which is enqueued takes.
pub const CAPTURED: u64 = 64 << 10;
/// Bytes of the private variables of one function.
pub const PRIVATE: u64 = 8 << 20;
/// Bytes of the OpenCL C that is written for built-in functions.
pub const WRAPPERS: usize = 1 << 20;
/// Bytes of one format of printf.
pub const FORMAT: usize = 64 << 10;
/// Steps of work that are not instructions of the IR: parts of values that are passed on, components of constants.
pub const WORK: u64 = 64 << 20;
