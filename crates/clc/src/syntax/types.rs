//! The names of OpenCL C's own types.
//!
//! Those made of letters and digits (`float4`, `size_t`, `image2d_t`) are names declared before the first line, not
//! keywords: programs hide them by their own declarations, and portable headers declare `uint` once more.

use rustc_hash::FxHashMap;

use crate::source::{Interner, Symbol};

/// The arithmetic types by their width and kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are those of the language")]
pub enum Scalar {
    Char,
    UChar,
    Short,
    UShort,
    Int,
    UInt,
    Long,
    ULong,
    Half,
    Float,
    Double,
}

/// The kinds of images.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are those of the language")]
pub enum ImageKind {
    D1,
    D1Array,
    D1Buffer,
    D2,
    D2Array,
    D2Depth,
    D2ArrayDepth,
    D2Msaa,
    D2ArrayMsaa,
    D2MsaaDepth,
    D2ArrayMsaaDepth,
    D3,
}

/// A type that the language itself provides.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BuiltinType {
    /// `void`
    Void,
    /// `bool`
    Bool,
    /// An arithmetic type.
    Scalar(Scalar),
    /// A vector of 2, 3, 4, 8 or 16 components.
    Vector(Scalar, u8),
    /// `size_t`
    SizeT,
    /// `ptrdiff_t`
    PtrdiffT,
    /// `intptr_t`
    IntptrT,
    /// `uintptr_t`
    UintptrT,
    /// `event_t`
    Event,
    /// `sampler_t`
    Sampler,
    /// An image.
    Image(ImageKind),
    /// `queue_t`
    Queue,
    /// `clk_event_t`
    ClkEvent,
    /// `reserve_id_t`
    ReserveId,
    /// `ndrange_t`
    NdRange,
    /// `kernel_enqueue_flags_t`
    EnqueueFlags,
    /// `clk_profiling_info`
    ProfilingInfo,
    /// `cl_mem_fence_flags`
    MemFenceFlags,
    /// `memory_order`
    MemoryOrder,
    /// `memory_scope`
    MemoryScope,
    /// `atomic_int` and its like, with the type of the value.
    Atomic(AtomicType),
    /// `atomic_flag`
    AtomicFlag,
}

/// The value type of an atomic type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are those of the language")]
pub enum AtomicType {
    Int,
    UInt,
    Long,
    ULong,
    Half,
    Float,
    Double,
    SizeT,
    PtrdiffT,
    IntptrT,
    UintptrT,
}

impl BuiltinType {
    /// Whether `(type)(a, b)` makes a vector.
    pub fn is_vector(self) -> bool {
        matches!(self, Self::Vector(..))
    }
}

const SCALARS: [(&str, Scalar); 11] = [
    ("char", Scalar::Char),
    ("uchar", Scalar::UChar),
    ("short", Scalar::Short),
    ("ushort", Scalar::UShort),
    ("int", Scalar::Int),
    ("uint", Scalar::UInt),
    ("long", Scalar::Long),
    ("ulong", Scalar::ULong),
    ("half", Scalar::Half),
    ("float", Scalar::Float),
    ("double", Scalar::Double),
];

const OTHERS: [(&str, BuiltinType); 43] = [
    ("uchar", BuiltinType::Scalar(Scalar::UChar)),
    ("ushort", BuiltinType::Scalar(Scalar::UShort)),
    ("uint", BuiltinType::Scalar(Scalar::UInt)),
    ("ulong", BuiltinType::Scalar(Scalar::ULong)),
    ("size_t", BuiltinType::SizeT),
    ("ptrdiff_t", BuiltinType::PtrdiffT),
    ("intptr_t", BuiltinType::IntptrT),
    ("uintptr_t", BuiltinType::UintptrT),
    ("event_t", BuiltinType::Event),
    ("sampler_t", BuiltinType::Sampler),
    ("queue_t", BuiltinType::Queue),
    ("clk_event_t", BuiltinType::ClkEvent),
    ("reserve_id_t", BuiltinType::ReserveId),
    ("ndrange_t", BuiltinType::NdRange),
    ("kernel_enqueue_flags_t", BuiltinType::EnqueueFlags),
    ("clk_profiling_info", BuiltinType::ProfilingInfo),
    ("cl_mem_fence_flags", BuiltinType::MemFenceFlags),
    ("memory_order", BuiltinType::MemoryOrder),
    ("memory_scope", BuiltinType::MemoryScope),
    ("image1d_t", BuiltinType::Image(ImageKind::D1)),
    ("image1d_array_t", BuiltinType::Image(ImageKind::D1Array)),
    ("image1d_buffer_t", BuiltinType::Image(ImageKind::D1Buffer)),
    ("image2d_t", BuiltinType::Image(ImageKind::D2)),
    ("image2d_array_t", BuiltinType::Image(ImageKind::D2Array)),
    ("image2d_depth_t", BuiltinType::Image(ImageKind::D2Depth)),
    ("image2d_array_depth_t", BuiltinType::Image(ImageKind::D2ArrayDepth)),
    ("image2d_msaa_t", BuiltinType::Image(ImageKind::D2Msaa)),
    ("image2d_array_msaa_t", BuiltinType::Image(ImageKind::D2ArrayMsaa)),
    ("image2d_msaa_depth_t", BuiltinType::Image(ImageKind::D2MsaaDepth)),
    ("image2d_array_msaa_depth_t", BuiltinType::Image(ImageKind::D2ArrayMsaaDepth)),
    ("image3d_t", BuiltinType::Image(ImageKind::D3)),
    ("atomic_flag", BuiltinType::AtomicFlag),
    ("atomic_int", BuiltinType::Atomic(AtomicType::Int)),
    ("atomic_uint", BuiltinType::Atomic(AtomicType::UInt)),
    ("atomic_long", BuiltinType::Atomic(AtomicType::Long)),
    ("atomic_ulong", BuiltinType::Atomic(AtomicType::ULong)),
    ("atomic_half", BuiltinType::Atomic(AtomicType::Half)),
    ("atomic_float", BuiltinType::Atomic(AtomicType::Float)),
    ("atomic_double", BuiltinType::Atomic(AtomicType::Double)),
    ("atomic_size_t", BuiltinType::Atomic(AtomicType::SizeT)),
    ("atomic_ptrdiff_t", BuiltinType::Atomic(AtomicType::PtrdiffT)),
    ("atomic_intptr_t", BuiltinType::Atomic(AtomicType::IntptrT)),
    ("atomic_uintptr_t", BuiltinType::Atomic(AtomicType::UintptrT)),
];

/// The type names that are not keywords, by symbol.
pub fn builtin_type_names(names: &mut Interner) -> FxHashMap<Symbol, BuiltinType> {
    let mut table = FxHashMap::default();
    for (name, scalar) in SCALARS {
        for lanes in [2u8, 3, 4, 8, 16] {
            table.insert(names.intern(&format!("{name}{lanes}")), BuiltinType::Vector(scalar, lanes));
        }
    }
    table.extend(OTHERS.map(|(name, ty)| (names.intern(name), ty)));
    table
}

/// The same names as text, for suggestions.
pub(super) fn builtin_type_texts() -> Vec<String> {
    let vectors = SCALARS.iter().flat_map(|(name, _)| [2, 3, 4, 8, 16].map(|lanes| format!("{name}{lanes}")));
    vectors.chain(OTHERS.iter().map(|(name, _)| (*name).to_owned())).collect()
}
