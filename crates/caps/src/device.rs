//! What one device offers to programs: its type, extensions, features and limits.
//!
//! A device builds its [`DeviceCaps`] from the tables of this crate. All users of capabilities read it: the device
//! queries of the interface, the runtime's checks, and the preprocessor's macros.

use crate::image::{IMAGE_LIMITS, ImageLimits};
use crate::{C_FEATURES, DEVICE_EXTENSIONS, Named, feature, limits};
use std::borrow::Cow;

/// `CL_DEVICE_TYPE` (OpenCL 3.0, section 4.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeviceKind {
    /// A host processor, which works in the host's memory.
    Cpu,
    /// A graphics processor.
    Gpu,
    /// Any other accelerator.
    Accelerator,
}

/// Sizes and counts that a program must stay within.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Work-items of the largest work-group,
    pub max_group_size: u64,
    /// and of one that is longest in a dimension.
    pub max_group_sizes: [u64; 3],
    /// Bytes of the arguments of a kernel.
    pub max_parameter_size: u64,
    /// Bytes of the buffer of printf.
    pub printf_buffer: u64,
    /// Bytes of local memory of a group.
    pub local_memory: u64,
    /// Bytes of one constant buffer.
    pub max_constant_buffer: u64,
    /// Arguments in constant memory.
    pub max_constant_args: u32,
    /// Bits that the origin of a sub-buffer is aligned to.
    pub mem_base_addr_align: u32,
}

/// Sizes and counts of pipes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PipeLimits {
    /// Arguments of a kernel that are pipes.
    pub args: u32,
    /// Reservations of a work-item that are not committed, in one pipe.
    pub active_reservations: u32,
    /// Bytes of a packet.
    pub packet_size: u32,
}

/// The bits of `cl_device_fp_config`.
pub mod fp {
    /// Denormals are kept.
    pub const DENORM: u64 = 1 << 0;
    /// There are infinities and NaN.
    pub const INF_NAN: u64 = 1 << 1;
    /// Rounding to the nearest even.
    pub const ROUND_TO_NEAREST: u64 = 1 << 2;
    /// Rounding to zero.
    pub const ROUND_TO_ZERO: u64 = 1 << 3;
    /// Rounding to infinities.
    pub const ROUND_TO_INF: u64 = 1 << 4;
    /// Fused multiply-add.
    pub const FMA: u64 = 1 << 5;
    /// Division and square root are rounded correctly.
    pub const CORRECTLY_ROUNDED_DIVIDE_SQRT: u64 = 1 << 7;
}

/// What a device offers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceCaps {
    /// Its type.
    pub kind: DeviceKind,
    /// Extensions; each is also a macro of OpenCL C.
    pub extensions: Cow<'static, [Named]>,
    /// Optional features of OpenCL C; each is also a macro.
    pub c_features: Cow<'static, [Named]>,
    /// Sizes and counts.
    pub limits: Limits,
    /// Images, if it has them.
    pub images: Option<ImageLimits>,
    /// Pipes, if it has them.
    pub pipes: Option<PipeLimits>,
    /// Arithmetic on `float`: bits of [`fp`].
    pub single_fp: u64,
    /// Arithmetic on `double`: bits of [`fp`]; 0 where there is none.
    pub double_fp: u64,
    /// Arithmetic on `half`: bits of [`fp`]; 0 where there is none.
    pub half_fp: u64,
    /// Whether local memory is a memory of its own, and not a part of global memory.
    pub dedicated_local_memory: bool,
    /// Whether functions of the host can be commands (`CL_EXEC_NATIVE_KERNEL`).
    pub native_kernels: bool,
}

/// What [`DeviceCaps::full`] returns, as a constant so that it can be borrowed for ever.
static FULL: DeviceCaps = DeviceCaps {
    kind: DeviceKind::Accelerator,
    extensions: Cow::Borrowed(DEVICE_EXTENSIONS),
    c_features: Cow::Borrowed(C_FEATURES),
    limits: Limits {
        max_group_size: limits::MAX_GROUP_SIZE,
        max_group_sizes: [limits::MAX_GROUP_SIZE; 3],
        max_parameter_size: limits::MAX_PARAMETER_SIZE,
        printf_buffer: limits::PRINTF_BUFFER,
        local_memory: limits::LOCAL_MEMORY,
        max_constant_buffer: limits::MAX_CONSTANT_BUFFER,
        max_constant_args: limits::MAX_CONSTANT_ARGS,
        mem_base_addr_align: limits::MEM_BASE_ADDR_ALIGN,
    },
    images: Some(IMAGE_LIMITS),
    pipes: Some(PipeLimits {
        args: limits::MAX_PIPE_ARGS,
        active_reservations: limits::PIPE_MAX_ACTIVE_RESERVATIONS,
        packet_size: limits::PIPE_MAX_PACKET_SIZE,
    }),
    single_fp: fp::DENORM | fp::INF_NAN | fp::ROUND_TO_NEAREST | fp::FMA | fp::CORRECTLY_ROUNDED_DIVIDE_SQRT,
    // Conversions have the other roundings.
    double_fp: fp::DENORM | fp::INF_NAN | fp::ROUND_TO_NEAREST | fp::ROUND_TO_ZERO | fp::ROUND_TO_INF | fp::FMA,
    half_fp: fp::DENORM | fp::INF_NAN | fp::ROUND_TO_NEAREST | fp::FMA,
    dedicated_local_memory: false,
    native_kernels: true,
};

impl DeviceCaps {
    /// Every row of the tables, with the largest limits: what a device can offer at most. A device begins with these
    /// and leaves out what it lacks.
    pub fn full() -> &'static DeviceCaps {
        &FULL
    }

    /// Whether it has a feature of OpenCL C.
    pub fn has_feature(&self, name: &str) -> bool {
        self.c_features.iter().any(|feature| feature.name == name)
    }

    /// Whether it has an extension.
    pub fn has_extension(&self, name: &str) -> bool {
        self.extensions.iter().any(|extension| extension.name == name)
    }

    /// `CL_DEVICE_SINGLE_FP_ATOMIC_CAPABILITIES_EXT` and its like, of floats of so many bits: in the low half for
    /// global memory, in the high half for local memory. `float` and `double` are loaded and stored by OpenCL C 2.0.
    pub fn float_atomics(&self, bits: u32) -> u64 {
        let has = |space, what| self.has_feature(&feature::float_atomic(bits, space, what));
        let in_space = |space| {
            let loads = match bits {
                32 => true,
                64 => self.double_fp != 0,
                _ => has(space, "load_store"),
            };
            // Bit 0 is for loads and stores, bit 1 for addition, bit 2 for minimum and maximum; both halves have this
            // order.
            u64::from(loads) | u64::from(has(space, "add")) << 1 | u64::from(has(space, "min_max")) << 2
        };
        in_space("global") | in_space("local") << 16
    }

    /// Whether programs may come as SPIR-V: of the versions [`crate::IL_VERSIONS`].
    pub fn takes_il(&self) -> bool {
        self.has_extension("cl_khr_il_program")
    }

    /// The names that are macros of OpenCL C: extensions, then features.
    pub fn macros(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.extensions.iter().chain(self.c_features.iter()).map(|named| named.name)
    }
}
