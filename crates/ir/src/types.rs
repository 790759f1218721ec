//! Types: a scalar and a number of lanes. Every type is four bytes and `Copy`.

use serde::{Deserialize, Serialize};
use std::fmt;

/// An address space. On a CPU all of them are one flat memory; the distinction serves alias analysis, the interpreter's
/// checks and the GPU.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Space {
    /// One work-item's own memory: its automatic variables.
    Private,
    /// Buffers.
    Global,
    /// Read-only buffers, program-scope data and the block of kernel arguments.
    Constant,
    /// One work-group's memory.
    Local,
    /// Memory of the launcher: launch and group descriptors, frames. Introduced by `spmd`, never visible to source.
    Context,
    /// Private, local or global memory, as the program decides: OpenCL C's generic address space. A pointer into it is
    /// an address and, in its two highest bits, the [tag](Space::tag) of the address space that it came from. Accesses,
    /// comparisons and `ptrtoint` do not look at the tag, `spaceof` looks at nothing else.
    Generic,
}

impl Space {
    /// Every address space.
    pub const ALL: [Space; 6] =
        [Space::Private, Space::Global, Space::Constant, Space::Local, Space::Context, Space::Generic];

    /// Where the tag of a generic pointer begins: no address has these bits.
    pub const TAG_SHIFT: u32 = 62;

    /// The bits of a generic pointer that are its address.
    pub const ADDRESS_MASK: u64 = (1 << Space::TAG_SHIFT) - 1;

    /// The tag of generic pointers that came from here. Global memory has none, so that an address that the host wrote
    /// or an integer became is a generic pointer too.
    pub fn tag(self) -> u64 {
        match self {
            Space::Global | Space::Constant | Space::Context | Space::Generic => 0,
            Space::Local => 1,
            Space::Private => 2,
        }
    }

    /// Whether an access here and one there may touch the same bytes.
    pub fn may_alias(self, other: Space) -> bool {
        // The generic address space does not contain constant memory, nor the launcher's.
        let named = |space: Space| matches!(space, Space::Private | Space::Global | Space::Local);
        self == other || self == Space::Generic && named(other) || other == Space::Generic && named(self)
    }

    /// The name in the text form: `ptr<global>`.
    pub fn name(self) -> &'static str {
        match self {
            Space::Private => "private",
            Space::Global => "global",
            Space::Constant => "constant",
            Space::Local => "local",
            Space::Context => "context",
            Space::Generic => "generic",
        }
    }
}

/// What one lane of a value is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Scalar {
    /// A truth value. It has no memory form: it is not loaded or stored.
    I1,
    /// 8 bits, no sign.
    I8,
    /// 16 bits, no sign.
    I16,
    /// 32 bits, no sign.
    I32,
    /// 64 bits, no sign.
    I64,
    /// IEEE binary16.
    F16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// A 64-bit address.
    Ptr(Space),
}

impl Scalar {
    /// Width in bits: 1 for `I1`, 64 for pointers.
    pub fn bits(self) -> u32 {
        match self {
            Scalar::I1 => 1,
            Scalar::I8 => 8,
            Scalar::I16 | Scalar::F16 => 16,
            Scalar::I32 | Scalar::F32 => 32,
            Scalar::I64 | Scalar::F64 | Scalar::Ptr(_) => 64,
        }
    }

    /// Bytes in memory; 1 for `I1`, which is not loaded or stored by programs but kept in frames.
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// Whether it is an integer, `I1` included.
    pub fn is_int(self) -> bool {
        matches!(self, Scalar::I1 | Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64)
    }

    /// Whether it is a floating-point number.
    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F16 | Scalar::F32 | Scalar::F64)
    }

    /// Whether it is an address.
    pub fn is_ptr(self) -> bool {
        matches!(self, Scalar::Ptr(_))
    }

    /// The integer of this many bits (1, 8, 16, 32, 64).
    pub fn int(bits: u32) -> Option<Scalar> {
        Some(match bits {
            1 => Scalar::I1,
            8 => Scalar::I8,
            16 => Scalar::I16,
            32 => Scalar::I32,
            64 => Scalar::I64,
            _ => return None,
        })
    }

    /// All bits of this width set.
    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// The least and the greatest number of this width with a sign.
    pub fn signed_range(self) -> (i64, i64) {
        let high = (self.mask() >> 1) as i64;
        (!high, high)
    }
}

/// The type of a value: a scalar, or a vector of 2 to [`Type::MAX_LANES`] lanes of one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Type {
    /// What each lane is.
    pub scalar: Scalar,
    /// 1 for a scalar.
    pub lanes: u16,
}

impl Type {
    /// The most lanes that a vector has: 16 of OpenCL times 64 work-items.
    pub const MAX_LANES: u16 = 1024;
    /// A truth value.
    pub const I1: Type = Type::scalar(Scalar::I1);
    /// An 8-bit integer.
    pub const I8: Type = Type::scalar(Scalar::I8);
    /// A 16-bit integer.
    pub const I16: Type = Type::scalar(Scalar::I16);
    /// A 32-bit integer.
    pub const I32: Type = Type::scalar(Scalar::I32);
    /// A 64-bit integer.
    pub const I64: Type = Type::scalar(Scalar::I64);
    /// A half.
    pub const F16: Type = Type::scalar(Scalar::F16);
    /// A float.
    pub const F32: Type = Type::scalar(Scalar::F32);
    /// A double.
    pub const F64: Type = Type::scalar(Scalar::F64);

    /// A type of one lane.
    pub const fn scalar(scalar: Scalar) -> Type {
        Type { scalar, lanes: 1 }
    }

    /// A vector; one lane gives the scalar.
    pub const fn vector(scalar: Scalar, lanes: u16) -> Type {
        Type { scalar, lanes }
    }

    /// A pointer into an address space.
    pub const fn ptr(space: Space) -> Type {
        Type::scalar(Scalar::Ptr(space))
    }

    /// The same number of lanes of another scalar.
    pub fn with_scalar(self, scalar: Scalar) -> Type {
        Type { scalar, ..self }
    }

    /// The type of one lane.
    pub fn lane(self) -> Type {
        Type::scalar(self.scalar)
    }

    /// Whether there is more than one lane.
    pub fn is_vector(self) -> bool {
        self.lanes > 1
    }

    /// Whether it is an integer or a vector of integers.
    pub fn is_int(self) -> bool {
        self.scalar.is_int()
    }

    /// Whether it is a float or a vector of floats.
    pub fn is_float(self) -> bool {
        self.scalar.is_float()
    }

    /// Whether it is an address or a vector of addresses.
    pub fn is_ptr(self) -> bool {
        self.scalar.is_ptr()
    }

    /// The address space of a pointer.
    pub fn space(self) -> Option<Space> {
        match self.scalar {
            Scalar::Ptr(space) => Some(space),
            _ => None,
        }
    }

    /// Bytes that a load or a store touches: lanes × element, packed. A three-lane vector touches three elements; its
    /// size of four elements is known to the front end only.
    pub fn bytes(self) -> u32 {
        self.scalar.bytes() * u32::from(self.lanes)
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Ptr(space) => write!(f, "ptr<{}>", space.name()),
            Scalar::F16 | Scalar::F32 | Scalar::F64 => write!(f, "f{}", self.bits()),
            _ => write!(f, "i{}", self.bits()),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.scalar)?;
        if self.lanes == 1 { Ok(()) } else { write!(f, "x{}", self.lanes) }
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
