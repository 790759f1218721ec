//! The rows of the table for the other functions, by chapter of the specification.

use crate::table::{
    A, Common, Elem, F, FS, I, I32S, Integer, Lower, NARROW, NONE, Relational, Row, SIGNED, Special, V, V1, V4, V34,
    VX, WorkItem,
};
use cloom_ir::{BinOp, Query, UnOp};

const EACH: Lower = Lower::Each(None);

/// The types and lanes of integer dot products.
const I8S: &[Elem] = &[Elem::I8];
const U8S: &[Elem] = &[Elem::U8];
const FOUR: &[u8] = &[4];

const fn row(names: &'static str, set: &'static [Elem], lanes: &'static [u8], sig: &'static str, lower: Lower) -> Row {
    Row { names, set, lanes, sig, lower }
}

const fn work_item(
    names: &'static str,
    set: &'static [Elem],
    lanes: &'static [u8],
    sig: &'static str,
    f: WorkItem,
) -> Row {
    row(names, set, lanes, sig, Lower::Special(Special::WorkItem(f)))
}

const fn integer(
    names: &'static str,
    set: &'static [Elem],
    lanes: &'static [u8],
    sig: &'static str,
    f: Integer,
) -> Row {
    row(names, set, lanes, sig, Lower::Special(Special::Integer(f)))
}

const fn common(names: &'static str, set: &'static [Elem], lanes: &'static [u8], sig: &'static str, f: Common) -> Row {
    row(names, set, lanes, sig, Lower::Special(Special::Common(f)))
}

const fn relational(
    names: &'static str,
    set: &'static [Elem],
    lanes: &'static [u8],
    sig: &'static str,
    f: Relational,
) -> Row {
    row(names, set, lanes, sig, Lower::Special(Special::Relational(f)))
}

const fn query(names: &'static str, what: Query, beyond: u64) -> Row {
    row(names, NONE, V1, "z(u)", Lower::Special(Special::WorkItem(WorkItem::Query(what, beyond))))
}

/// Another name of a library function of `float`.
const fn same(names: &'static str, sig: &'static str, library: &'static str) -> Row {
    row(names, FS, V, sig, Lower::Each(Some(library)))
}

/// All rows.
#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    // Work-item functions.
    work_item("get_work_dim", NONE, V1, "u()", WorkItem::WorkDim),
    query("get_global_id", Query::GlobalId, 0),
    query("get_local_id", Query::LocalId, 0),
    query("get_group_id", Query::GroupId, 0),
    query("get_global_size", Query::GlobalSize, 1),
    query("get_local_size", Query::LocalSize, 1),
    query("get_enqueued_local_size", Query::EnqueuedLocalSize, 1),
    query("get_num_groups", Query::NumGroups, 1),
    query("get_global_offset", Query::GlobalOffset, 0),
    work_item("get_global_linear_id", NONE, V1, "z()", WorkItem::GlobalLinearId),
    work_item("get_local_linear_id", NONE, V1, "z()", WorkItem::LocalLinearId),

    // Math functions.
    row("acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt cos cosh cospi erf erfc exp exp2 exp10 expm1 \
         lgamma log log2 log10 log1p logb round rsqrt sin sinh sinpi tan tanh tanpi tgamma", F, V, "T(T)", EACH),
    row("sqrt", F, V, "T(T)", Lower::Unary(UnOp::Sqrt)),
    row("fabs", F, V, "T(T)", Lower::Unary(UnOp::Fabs)),
    row("floor", F, V, "T(T)", Lower::Unary(UnOp::Floor)),
    row("ceil", F, V, "T(T)", Lower::Unary(UnOp::Ceil)),
    row("trunc", F, V, "T(T)", Lower::Unary(UnOp::Trunc)),
    row("rint", F, V, "T(T)", Lower::Unary(UnOp::Rint)),
    row("atan2 atan2pi fdim fmod hypot maxmag minmag nextafter pow powr remainder", F, V, "T(T,T)", EACH),
    row("copysign", F, V, "T(T,T)", Lower::Binary(BinOp::Copysign)),
    row("fmin", F, V, "T(T,T)", Lower::Binary(BinOp::Fmin)),
    row("fmin", F, VX, "T(T,S)", Lower::Binary(BinOp::Fmin)),
    row("fmax", F, V, "T(T,T)", Lower::Binary(BinOp::Fmax)),
    row("fmax", F, VX, "T(T,S)", Lower::Binary(BinOp::Fmax)),
    row("fma", F, V, "T(T,T,T)", Lower::Fma),
    row("mad", F, V, "T(T,T,T)", Lower::Mad),
    row("fract modf sincos", F, V, "T(T,pT)", EACH),
    row("frexp lgamma_r", F, V, "T(T,pN)", EACH),
    row("remquo", F, V, "T(T,T,pN)", EACH),
    row("ilogb", F, V, "N(T)", EACH),
    row("ldexp pown rootn", F, V, "T(T,N)", EACH),
    row("ldexp", F, VX, "T(T,n)", EACH),
    row("nan", F, V, "T(U)", EACH),
    row("native_cos native_exp native_exp2 native_exp10 native_log native_log2 native_log10 native_sin native_tan",
        FS, V, "T(T)", EACH),
    row("native_powr", FS, V, "T(T,T)", EACH),
    // The `half_` functions may be less accurate than these; the full ones do.
    same("half_cos", "T(T)", "cos"),
    same("half_exp", "T(T)", "exp"),
    same("half_exp2", "T(T)", "exp2"),
    same("half_exp10", "T(T)", "exp10"),
    same("half_log", "T(T)", "log"),
    same("half_log2", "T(T)", "log2"),
    same("half_log10", "T(T)", "log10"),
    // The processor's estimates have an error of up to 6144 ULP, where `half_rsqrt` may have 8192. An n-body kernel is
    // 1.6 to 2 times as fast as with root and division.
    row("half_rsqrt native_rsqrt", FS, V, "T(T)", Lower::Unary(UnOp::RsqrtNear)),
    same("half_sin", "T(T)", "sin"),
    same("half_tan", "T(T)", "tan"),
    same("half_powr", "T(T,T)", "powr"),
    row("half_sqrt native_sqrt", FS, V, "T(T)", Lower::Unary(UnOp::Sqrt)),
    row("half_recip native_recip", FS, V, "T(T)", Lower::Unary(UnOp::RecipNear)),
    row("half_divide native_divide", FS, V, "T(T,T)", Lower::Binary(BinOp::Fdiv)),

    // Integer functions.
    integer("abs", I, V, "U(T)", Integer::Abs),
    integer("abs_diff", I, V, "U(T,T)", Integer::AbsDiff),
    row("add_sat", I, V, "T(T,T)", Lower::BinarySign(BinOp::SaddSat, BinOp::UaddSat)),
    row("sub_sat", I, V, "T(T,T)", Lower::BinarySign(BinOp::SsubSat, BinOp::UsubSat)),
    integer("hadd", I, V, "T(T,T)", Integer::Hadd),
    integer("rhadd", I, V, "T(T,T)", Integer::Rhadd),
    row("mul_hi", I, V, "T(T,T)", Lower::BinarySign(BinOp::SmulHi, BinOp::UmulHi)),
    row("rotate", I, V, "T(T,T)", Lower::Binary(BinOp::Rotl)),
    row("clz", I, V, "T(T)", Lower::Unary(UnOp::Clz)),
    row("ctz", I, V, "T(T)", Lower::Unary(UnOp::Ctz)),
    row("popcount", I, V, "T(T)", Lower::Unary(UnOp::Popcount)),
    integer("mad_hi", I, V, "T(T,T,T)", Integer::MadHi),
    integer("mad_sat", I, V, "T(T,T,T)", Integer::MadSat),
    integer("mul24", I32S, V, "T(T,T)", Integer::Mul24),
    integer("mad24", I32S, V, "T(T,T,T)", Integer::Mad24),
    integer("upsample", NARROW, V, "W(T,U)", Integer::Upsample),

    // Extended bit operations (cl_khr_extended_bit_ops).
    integer("bitfield_insert", I, V, "T(T,T,u,u)", Integer::BitfieldInsert),
    integer("bitfield_extract_signed", I, V, "I(T,u,u)", Integer::BitfieldExtractSigned),
    integer("bitfield_extract_unsigned", I, V, "U(T,u,u)", Integer::BitfieldExtractUnsigned),
    row("bit_reverse", I, V, "T(T)", Lower::Unary(UnOp::BitReverse)),

    // Integer and common functions of the same name.
    common("clamp", A, V, "T(T,T,T)", Common::Clamp),
    common("clamp", A, VX, "T(T,S,S)", Common::Clamp),
    common("max", A, V, "T(T,T)", Common::Max),
    common("max", A, VX, "T(T,S)", Common::Max),
    common("min", A, V, "T(T,T)", Common::Min),
    common("min", A, VX, "T(T,S)", Common::Min),

    // Common functions.
    common("degrees", F, V, "T(T)", Common::Degrees),
    common("radians", F, V, "T(T)", Common::Radians),
    common("sign", F, V, "T(T)", Common::Sign),
    common("mix", F, V, "T(T,T,T)", Common::Mix),
    common("mix", F, VX, "T(T,T,S)", Common::Mix),
    common("step", F, V, "T(T,T)", Common::Step),
    common("step", F, VX, "T(S,T)", Common::Step),
    common("smoothstep", F, V, "T(T,T,T)", Common::Smoothstep),
    common("smoothstep", F, VX, "T(S,S,T)", Common::Smoothstep),

    // Geometric functions.
    row("cross", F, V34, "T(T,T)", Lower::Exact),
    row("dot distance", F, V4, "S(T,T)", Lower::Exact),
    row("length", F, V4, "S(T)", Lower::Exact),
    row("normalize", F, V4, "T(T)", Lower::Exact),
    row("fast_distance", FS, V4, "S(T,T)", Lower::Exact),
    row("fast_length", FS, V4, "S(T)", Lower::Exact),
    row("fast_normalize", FS, V4, "T(T)", Lower::Exact),

    // Integer dot products (cl_khr_integer_dot_product).
    row("dot", U8S, FOUR, "u(T,T)", Lower::Exact),
    row("dot", I8S, FOUR, "n(T,T)", Lower::Exact),
    row("dot", I8S, FOUR, "n(U,T)", Lower::Exact),
    row("dot", I8S, FOUR, "n(T,U)", Lower::Exact),
    row("dot_acc_sat", U8S, FOUR, "u(T,T,u)", Lower::Exact),
    row("dot_acc_sat", I8S, FOUR, "n(T,T,n)", Lower::Exact),
    row("dot_acc_sat", I8S, FOUR, "n(U,T,n)", Lower::Exact),
    row("dot_acc_sat", I8S, FOUR, "n(T,U,n)", Lower::Exact),
    row("dot_4x8packed_uu_uint", NONE, V1, "u(u,u)", Lower::Exact),
    row("dot_4x8packed_ss_int dot_4x8packed_us_int dot_4x8packed_su_int", NONE, V1, "n(u,u)", Lower::Exact),
    row("dot_acc_sat_4x8packed_uu_uint", NONE, V1, "u(u,u,u)", Lower::Exact),
    row("dot_acc_sat_4x8packed_ss_int dot_acc_sat_4x8packed_us_int dot_acc_sat_4x8packed_su_int",
        NONE, V1, "n(u,u,n)", Lower::Exact),

    // Relational functions.
    relational("isequal", F, V, "B(T,T)", Relational::IsEqual),
    relational("isnotequal", F, V, "B(T,T)", Relational::IsNotEqual),
    relational("isgreater", F, V, "B(T,T)", Relational::IsGreater),
    relational("isgreaterequal", F, V, "B(T,T)", Relational::IsGreaterEqual),
    relational("isless", F, V, "B(T,T)", Relational::IsLess),
    relational("islessequal", F, V, "B(T,T)", Relational::IsLessEqual),
    relational("islessgreater", F, V, "B(T,T)", Relational::IsLessGreater),
    relational("isordered", F, V, "B(T,T)", Relational::IsOrdered),
    relational("isunordered", F, V, "B(T,T)", Relational::IsUnordered),
    relational("isfinite", F, V, "B(T)", Relational::IsFinite),
    relational("isinf", F, V, "B(T)", Relational::IsInf),
    relational("isnan", F, V, "B(T)", Relational::IsNan),
    relational("isnormal", F, V, "B(T)", Relational::IsNormal),
    relational("signbit", F, V, "B(T)", Relational::Signbit),
    relational("any", SIGNED, V, "n(T)", Relational::Any),
    relational("all", SIGNED, V, "n(T)", Relational::All),
    relational("bitselect", A, V, "T(T,T,T)", Relational::Bitselect),
    relational("select", A, V, "T(T,T,I)", Relational::Select),
    relational("select", A, V, "T(T,T,U)", Relational::Select),

    // Synchronization functions.
    work_item("barrier work_group_barrier", NONE, V1, "v(u)", WorkItem::Barrier),
    work_item("work_group_barrier", NONE, V1, "v(u,n)", WorkItem::Barrier),
    // Copies have ended when all work-items have made theirs.
    work_item("async_work_group_copy_fence", NONE, V1, "v(u)", WorkItem::Barrier),
    work_item("mem_fence read_mem_fence write_mem_fence", NONE, V1, "v(u)", WorkItem::Fence),

    // Clocks (cl_khr_kernel_clock): one for all scopes.
    work_item("clock_read_device clock_read_work_group clock_read_sub_group", NONE, V1, "z()", WorkItem::Clock),
    work_item("clock_read_hilo_device clock_read_hilo_work_group clock_read_hilo_sub_group", NONE, V1, "w()",
        WorkItem::Clock),

    // Internal functions of the library, visible in it only.
    row("__cl_fma", F, V, "T(T,T,T)", Lower::Fma),
    row("__cl_sqrt", F, V, "T(T)", Lower::Unary(UnOp::Sqrt)),
    row("__cl_exp2_near", FS, V, "T(T)", Lower::Unary(UnOp::Exp2Near)),
    row("__cl_log2_near", FS, V, "T(T)", Lower::Unary(UnOp::Log2Near)),
    row("__cl_sin_near", FS, V, "T(T)", Lower::Unary(UnOp::SinNear)),
    row("__cl_cos_near", FS, V, "T(T)", Lower::Unary(UnOp::CosNear)),
    row("__cl_fabs", F, V, "T(T)", Lower::Unary(UnOp::Fabs)),
    row("__cl_floor", F, V, "T(T)", Lower::Unary(UnOp::Floor)),
    row("__cl_ceil", F, V, "T(T)", Lower::Unary(UnOp::Ceil)),
    row("__cl_trunc", F, V, "T(T)", Lower::Unary(UnOp::Trunc)),
    row("__cl_rint", F, V, "T(T)", Lower::Unary(UnOp::Rint)),
    row("__cl_copysign", F, V, "T(T,T)", Lower::Binary(BinOp::Copysign)),
    row("__cl_fmin", F, V, "T(T,T)", Lower::Binary(BinOp::Fmin)),
    row("__cl_fmax", F, V, "T(T,T)", Lower::Binary(BinOp::Fmax)),
    row("__cl_clz", I, V, "T(T)", Lower::Unary(UnOp::Clz)),
    row("__cl_ctz", I, V, "T(T)", Lower::Unary(UnOp::Ctz)),
    row("__cl_popcount", I, V, "T(T)", Lower::Unary(UnOp::Popcount)),
    row("__cl_bitreverse", I, V, "T(T)", Lower::Unary(UnOp::BitReverse)),
    row("__cl_mul_hi", I, V, "T(T,T)", Lower::BinarySign(BinOp::SmulHi, BinOp::UmulHi)),
    row("__cl_add_sat", I, V, "T(T,T)", Lower::BinarySign(BinOp::SaddSat, BinOp::UaddSat)),
    row("__cl_sub_sat", I, V, "T(T,T)", Lower::BinarySign(BinOp::SsubSat, BinOp::UsubSat)),
    row("__cl_min", I, V, "T(T,T)", Lower::BinarySign(BinOp::Smin, BinOp::Umin)),
    row("__cl_max", I, V, "T(T,T)", Lower::BinarySign(BinOp::Smax, BinOp::Umax)),
    row("__cl_rotate", I, V, "T(T,T)", Lower::Binary(BinOp::Rotl)),
    integer("__cl_abs", I, V, "U(T)", Integer::Abs),
    relational("__cl_select", A, V, "T(n,T,T)", Relational::ClSelect),
];
