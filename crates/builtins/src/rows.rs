//! The rows of the table of built-in functions, by chapter of the specification.

use crate::table::{A, Elem, F, FS, I, I32S, Lower, NARROW, NONE, Row, SIGNED, Special, V, V1, V4, V34, VX};
use cloom_ir::{BinOp, Query, UnOp};

const EACH: Lower = Lower::Each(None);

const fn row(names: &'static str, set: &'static [Elem], lanes: &'static [u8], sig: &'static str, lower: Lower) -> Row {
    Row { names, set, lanes, sig, lower }
}

const fn special(
    names: &'static str,
    set: &'static [Elem],
    lanes: &'static [u8],
    sig: &'static str,
    s: Special,
) -> Row {
    row(names, set, lanes, sig, Lower::Special(s))
}

const fn query(names: &'static str, what: Query, beyond: u64) -> Row {
    row(names, NONE, V1, "z(u)", Lower::Special(Special::WorkItem(what, beyond)))
}

/// Another name of a library function of `float`.
const fn same(names: &'static str, sig: &'static str, library: &'static str) -> Row {
    row(names, FS, V, sig, Lower::Each(Some(library)))
}

/// All rows.
#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    // Work-item functions.
    special("get_work_dim", NONE, V1, "u()", Special::WorkDim),
    query("get_global_id", Query::GlobalId, 0),
    query("get_local_id", Query::LocalId, 0),
    query("get_group_id", Query::GroupId, 0),
    query("get_global_size", Query::GlobalSize, 1),
    query("get_local_size", Query::LocalSize, 1),
    query("get_enqueued_local_size", Query::EnqueuedLocalSize, 1),
    query("get_num_groups", Query::NumGroups, 1),
    query("get_global_offset", Query::GlobalOffset, 0),
    special("get_global_linear_id", NONE, V1, "z()", Special::GlobalLinearId),
    special("get_local_linear_id", NONE, V1, "z()", Special::LocalLinearId),

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
    same("half_cos native_cos", "T(T)", "cos"),
    same("half_exp native_exp", "T(T)", "exp"),
    same("half_exp2 native_exp2", "T(T)", "exp2"),
    same("half_exp10 native_exp10", "T(T)", "exp10"),
    same("half_log native_log", "T(T)", "log"),
    same("half_log2 native_log2", "T(T)", "log2"),
    same("half_log10 native_log10", "T(T)", "log10"),
    row("half_rsqrt native_rsqrt", FS, V, "T(T)", Lower::Unary(UnOp::RsqrtNear)),
    same("half_sin native_sin", "T(T)", "sin"),
    same("half_tan native_tan", "T(T)", "tan"),
    same("half_powr native_powr", "T(T,T)", "powr"),
    row("half_sqrt native_sqrt", FS, V, "T(T)", Lower::Unary(UnOp::Sqrt)),
    row("half_recip native_recip", FS, V, "T(T)", Lower::Unary(UnOp::RecipNear)),
    row("half_divide native_divide", FS, V, "T(T,T)", Lower::Binary(BinOp::Fdiv)),

    // Integer functions.
    special("abs", I, V, "U(T)", Special::Abs),
    special("abs_diff", I, V, "U(T,T)", Special::AbsDiff),
    row("add_sat", I, V, "T(T,T)", Lower::BinarySign(BinOp::SaddSat, BinOp::UaddSat)),
    row("sub_sat", I, V, "T(T,T)", Lower::BinarySign(BinOp::SsubSat, BinOp::UsubSat)),
    special("hadd", I, V, "T(T,T)", Special::Hadd),
    special("rhadd", I, V, "T(T,T)", Special::Rhadd),
    row("mul_hi", I, V, "T(T,T)", Lower::BinarySign(BinOp::SmulHi, BinOp::UmulHi)),
    row("rotate", I, V, "T(T,T)", Lower::Binary(BinOp::Rotl)),
    row("clz", I, V, "T(T)", Lower::Unary(UnOp::Clz)),
    row("ctz", I, V, "T(T)", Lower::Unary(UnOp::Ctz)),
    row("popcount", I, V, "T(T)", Lower::Unary(UnOp::Popcount)),
    special("mad_hi", I, V, "T(T,T,T)", Special::MadHi),
    special("mad_sat", I, V, "T(T,T,T)", Special::MadSat),
    special("mul24", I32S, V, "T(T,T)", Special::Mul24),
    special("mad24", I32S, V, "T(T,T,T)", Special::Mad24),
    special("upsample", NARROW, V, "W(T,U)", Special::Upsample),

    // Integer and common functions of the same name.
    special("clamp", A, V, "T(T,T,T)", Special::Clamp),
    special("clamp", A, VX, "T(T,S,S)", Special::Clamp),
    special("max", A, V, "T(T,T)", Special::Max),
    special("max", A, VX, "T(T,S)", Special::Max),
    special("min", A, V, "T(T,T)", Special::Min),
    special("min", A, VX, "T(T,S)", Special::Min),

    // Common functions.
    special("degrees", F, V, "T(T)", Special::Degrees),
    special("radians", F, V, "T(T)", Special::Radians),
    special("sign", F, V, "T(T)", Special::Sign),
    special("mix", F, V, "T(T,T,T)", Special::Mix),
    special("mix", F, VX, "T(T,T,S)", Special::Mix),
    special("step", F, V, "T(T,T)", Special::Step),
    special("step", F, VX, "T(S,T)", Special::Step),
    special("smoothstep", F, V, "T(T,T,T)", Special::Smoothstep),
    special("smoothstep", F, VX, "T(S,S,T)", Special::Smoothstep),

    // Geometric functions.
    row("cross", F, V34, "T(T,T)", Lower::Exact),
    row("dot distance", F, V4, "S(T,T)", Lower::Exact),
    row("length", F, V4, "S(T)", Lower::Exact),
    row("normalize", F, V4, "T(T)", Lower::Exact),
    row("fast_distance", FS, V4, "S(T,T)", Lower::Exact),
    row("fast_length", FS, V4, "S(T)", Lower::Exact),
    row("fast_normalize", FS, V4, "T(T)", Lower::Exact),

    // Relational functions.
    special("isequal", F, V, "B(T,T)", Special::IsEqual),
    special("isnotequal", F, V, "B(T,T)", Special::IsNotEqual),
    special("isgreater", F, V, "B(T,T)", Special::IsGreater),
    special("isgreaterequal", F, V, "B(T,T)", Special::IsGreaterEqual),
    special("isless", F, V, "B(T,T)", Special::IsLess),
    special("islessequal", F, V, "B(T,T)", Special::IsLessEqual),
    special("islessgreater", F, V, "B(T,T)", Special::IsLessGreater),
    special("isordered", F, V, "B(T,T)", Special::IsOrdered),
    special("isunordered", F, V, "B(T,T)", Special::IsUnordered),
    special("isfinite", F, V, "B(T)", Special::IsFinite),
    special("isinf", F, V, "B(T)", Special::IsInf),
    special("isnan", F, V, "B(T)", Special::IsNan),
    special("isnormal", F, V, "B(T)", Special::IsNormal),
    special("signbit", F, V, "B(T)", Special::Signbit),
    special("any", SIGNED, V, "n(T)", Special::Any),
    special("all", SIGNED, V, "n(T)", Special::All),
    special("bitselect", A, V, "T(T,T,T)", Special::Bitselect),
    special("select", A, V, "T(T,T,I)", Special::Select),
    special("select", A, V, "T(T,T,U)", Special::Select),

    // Synchronization functions.
    special("barrier work_group_barrier", NONE, V1, "v(u)", Special::Barrier),
    special("work_group_barrier", NONE, V1, "v(u,n)", Special::Barrier),
    special("mem_fence read_mem_fence write_mem_fence", NONE, V1, "v(u)", Special::Fence),

    // What the library is written with; visible in it only.
    row("__cl_fma", F, V, "T(T,T,T)", Lower::Fma),
    row("__cl_sqrt", F, V, "T(T)", Lower::Unary(UnOp::Sqrt)),
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
    special("__cl_abs", I, V, "U(T)", Special::Abs),
    special("__cl_select", A, V, "T(n,T,T)", Special::ClSelect),
];
