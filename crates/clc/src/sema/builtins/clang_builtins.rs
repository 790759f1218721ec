//! The `__builtin_…` functions that Clang has for every target, as far as kernels use them: each is composed of the
//! built-in functions and operators of OpenCL C.
//!
//! In come the name and the arguments, some of them types; out goes a typed node. Those of one target
//! (`__builtin_ia32_…`) and those that need what work-items lack (a stack that grows, argument lists) are refused.

use crate::sema::Sema;
use crate::sema::tree::{Expr, ExprKind, LocalId, MemoryOp, Rounding, Special};
use crate::sema::types::{QTy, Ty, TyKind, ir_scalar};
use crate::source::{Diagnostic, Span, Symbol};
use crate::syntax::ast::{self, BinaryOp, TypeOrExpr, UnaryOp};
use cloom_builtins::Elem;
use cloom_ir::eval;
use smallvec::smallvec;

/// What a function is composed of.
#[derive(Clone, Copy, Debug)]
pub(in crate::sema) enum How {
    /// A built-in function of OpenCL C with all operands of one type; the result is converted to another.
    Fixed(&'static str, Ty, Ty),
    /// A function of the mathematical library, for the type that the name ends in.
    Math(&'static str, Ty),
    /// A built-in function of the operands' own types.
    Own(&'static str),
    /// The same, one for integers and one for floating-point numbers. The result has the first operand's type.
    Elementwise(&'static str, &'static str),
    /// The components of a vector joined by an operator,
    Reduce(BinaryOp),
    /// or by a built-in function, for integers and floating-point numbers.
    ReduceBy(&'static str, &'static str),
    /// The bytes in the other order.
    Swap(Ty),
    /// The number of the lowest bit set, counted from one.
    FirstSet(Ty),
    Parity(Ty),
    Rotate(Ty, bool),
    /// A floating-point constant.
    Value(f64, Ty),
    /// The first argument, as `long`.
    Expect,
    /// The first argument as it is.
    First,
    /// Nothing happens; the arguments are looked at only.
    Nothing,
    /// The first argument is evaluated, and no more happens.
    Prefetch,
    Trap,
    Memory(MemoryOp),
    ConstantP,
    Choose,
    ShuffleVector,
    Load,
    Store,
    Line,
    /// A value of a floating-point type as it is.
    Same(Ty),
    /// One `half` from memory, as another type,
    LoadHalf(Ty),
    /// and back.
    StoreHalf(Ty),
    Printf,
    /// Two integers of the type if there is one, and a pointer to the result.
    Overflow(BinaryOp, Option<Ty>),
}

/// Name and meaning, in the order of the kinds.
#[rustfmt::skip]
const ROWS: &[(&str, How)] = &[
    ("popcount", How::Fixed("popcount", Ty::UINT, Ty::INT)),
    ("popcountl", How::Fixed("popcount", Ty::ULONG, Ty::INT)),
    ("popcountll", How::Fixed("popcount", Ty::ULONG, Ty::INT)),
    ("clz", How::Fixed("clz", Ty::UINT, Ty::INT)),
    ("clzs", How::Fixed("clz", Ty::USHORT, Ty::INT)),
    ("clzl", How::Fixed("clz", Ty::ULONG, Ty::INT)),
    ("clzll", How::Fixed("clz", Ty::ULONG, Ty::INT)),
    ("ctz", How::Fixed("ctz", Ty::UINT, Ty::INT)),
    ("ctzs", How::Fixed("ctz", Ty::USHORT, Ty::INT)),
    ("ctzl", How::Fixed("ctz", Ty::ULONG, Ty::INT)),
    ("ctzll", How::Fixed("ctz", Ty::ULONG, Ty::INT)),
    ("abs", How::Fixed("abs", Ty::INT, Ty::INT)),
    ("labs", How::Fixed("abs", Ty::LONG, Ty::LONG)),
    ("llabs", How::Fixed("abs", Ty::LONG, Ty::LONG)),
    ("bitreverse8", How::Fixed("bit_reverse", Ty::UCHAR, Ty::UCHAR)),
    ("bitreverse16", How::Fixed("bit_reverse", Ty::USHORT, Ty::USHORT)),
    ("bitreverse32", How::Fixed("bit_reverse", Ty::UINT, Ty::UINT)),
    ("bitreverse64", How::Fixed("bit_reverse", Ty::ULONG, Ty::ULONG)),
    ("bswap16", How::Swap(Ty::USHORT)),
    ("bswap32", How::Swap(Ty::UINT)),
    ("bswap64", How::Swap(Ty::ULONG)),
    ("ffs", How::FirstSet(Ty::INT)),
    ("ffsl", How::FirstSet(Ty::LONG)),
    ("ffsll", How::FirstSet(Ty::LONG)),
    ("parity", How::Parity(Ty::UINT)),
    ("parityl", How::Parity(Ty::ULONG)),
    ("parityll", How::Parity(Ty::ULONG)),
    ("rotateleft8", How::Rotate(Ty::UCHAR, false)),
    ("rotateleft16", How::Rotate(Ty::USHORT, false)),
    ("rotateleft32", How::Rotate(Ty::UINT, false)),
    ("rotateleft64", How::Rotate(Ty::ULONG, false)),
    ("rotateright8", How::Rotate(Ty::UCHAR, true)),
    ("rotateright16", How::Rotate(Ty::USHORT, true)),
    ("rotateright32", How::Rotate(Ty::UINT, true)),
    ("rotateright64", How::Rotate(Ty::ULONG, true)),
    ("isnan", How::Own("isnan")),
    ("isinf", How::Own("isinf")),
    ("isfinite", How::Own("isfinite")),
    ("isnormal", How::Own("isnormal")),
    ("signbit", How::Own("signbit")),
    ("signbitf", How::Fixed("signbit", Ty::FLOAT, Ty::INT)),
    ("isgreater", How::Own("isgreater")),
    ("isgreaterequal", How::Own("isgreaterequal")),
    ("isless", How::Own("isless")),
    ("islessequal", How::Own("islessequal")),
    ("islessgreater", How::Own("islessgreater")),
    ("isunordered", How::Own("isunordered")),
    ("inf", How::Value(f64::INFINITY, Ty::DOUBLE)),
    ("inff", How::Value(f64::INFINITY, Ty::FLOAT)),
    ("inff16", How::Value(f64::INFINITY, Ty::HALF)),
    ("huge_val", How::Value(f64::INFINITY, Ty::DOUBLE)),
    ("huge_valf", How::Value(f64::INFINITY, Ty::FLOAT)),
    ("huge_valf16", How::Value(f64::INFINITY, Ty::HALF)),
    ("nan", How::Value(f64::NAN, Ty::DOUBLE)),
    ("nanf", How::Value(f64::NAN, Ty::FLOAT)),
    ("nanf16", How::Value(f64::NAN, Ty::HALF)),
    ("elementwise_abs", How::Elementwise("abs", "fabs")),
    ("elementwise_add_sat", How::Own("add_sat")),
    ("elementwise_sub_sat", How::Own("sub_sat")),
    ("elementwise_bitreverse", How::Elementwise("bit_reverse", "")),
    ("elementwise_popcount", How::Elementwise("popcount", "")),
    ("elementwise_max", How::Elementwise("max", "fmax")),
    ("elementwise_min", How::Elementwise("min", "fmin")),
    ("elementwise_maxnum", How::Elementwise("", "fmax")),
    ("elementwise_minnum", How::Elementwise("", "fmin")),
    ("elementwise_ceil", How::Own("ceil")),
    ("elementwise_copysign", How::Own("copysign")),
    ("elementwise_cos", How::Own("cos")),
    ("elementwise_exp", How::Own("exp")),
    ("elementwise_exp2", How::Own("exp2")),
    ("elementwise_exp10", How::Own("exp10")),
    ("elementwise_floor", How::Own("floor")),
    ("elementwise_fma", How::Own("fma")),
    ("elementwise_fmod", How::Own("fmod")),
    ("elementwise_log", How::Own("log")),
    ("elementwise_log2", How::Own("log2")),
    ("elementwise_log10", How::Own("log10")),
    ("elementwise_nearbyint", How::Own("rint")),
    ("elementwise_pow", How::Own("pow")),
    ("elementwise_rint", How::Own("rint")),
    ("elementwise_round", How::Own("round")),
    ("elementwise_roundeven", How::Own("rint")),
    ("elementwise_sin", How::Own("sin")),
    ("elementwise_sqrt", How::Own("sqrt")),
    ("elementwise_tan", How::Own("tan")),
    ("elementwise_trunc", How::Own("trunc")),
    ("reduce_add", How::Reduce(BinaryOp::Add)),
    ("reduce_mul", How::Reduce(BinaryOp::Mul)),
    ("reduce_and", How::Reduce(BinaryOp::BitAnd)),
    ("reduce_or", How::Reduce(BinaryOp::BitOr)),
    ("reduce_xor", How::Reduce(BinaryOp::BitXor)),
    ("reduce_max", How::ReduceBy("max", "fmax")),
    ("reduce_min", How::ReduceBy("min", "fmin")),
    ("expect", How::Expect),
    ("expect_with_probability", How::Expect),
    ("unpredictable", How::Expect),
    ("assume_aligned", How::First),
    ("assume", How::Nothing),
    ("prefetch", How::Prefetch),
    ("trap", How::Trap),
    ("debugtrap", How::Trap),
    ("unreachable", How::Trap),
    ("memcpy", How::Memory(MemoryOp::Copy)),
    ("memcpy_inline", How::Memory(MemoryOp::Copy)),
    ("memmove", How::Memory(MemoryOp::Move)),
    ("memset", How::Memory(MemoryOp::Set)),
    ("memset_inline", How::Memory(MemoryOp::Set)),
    ("constant_p", How::ConstantP),
    ("choose_expr", How::Choose),
    ("shufflevector", How::ShuffleVector),
    ("nontemporal_load", How::Load),
    ("nontemporal_store", How::Store),
    ("LINE", How::Line),
    ("canonicalize", How::Same(Ty::DOUBLE)),
    ("canonicalizef", How::Same(Ty::FLOAT)),
    ("canonicalizef16", How::Same(Ty::HALF)),
    ("load_half", How::LoadHalf(Ty::DOUBLE)),
    ("load_halff", How::LoadHalf(Ty::FLOAT)),
    ("store_half", How::StoreHalf(Ty::DOUBLE)),
    ("store_halff", How::StoreHalf(Ty::FLOAT)),
    ("printf", How::Printf),
    ("add_overflow", How::Overflow(BinaryOp::Add, None)),
    ("sub_overflow", How::Overflow(BinaryOp::Sub, None)),
    ("mul_overflow", How::Overflow(BinaryOp::Mul, None)),
    ("sadd_overflow", How::Overflow(BinaryOp::Add, Some(Ty::INT))),
    ("saddl_overflow", How::Overflow(BinaryOp::Add, Some(Ty::LONG))),
    ("saddll_overflow", How::Overflow(BinaryOp::Add, Some(Ty::LONG))),
    ("uadd_overflow", How::Overflow(BinaryOp::Add, Some(Ty::UINT))),
    ("uaddl_overflow", How::Overflow(BinaryOp::Add, Some(Ty::ULONG))),
    ("uaddll_overflow", How::Overflow(BinaryOp::Add, Some(Ty::ULONG))),
    ("ssub_overflow", How::Overflow(BinaryOp::Sub, Some(Ty::INT))),
    ("ssubl_overflow", How::Overflow(BinaryOp::Sub, Some(Ty::LONG))),
    ("ssubll_overflow", How::Overflow(BinaryOp::Sub, Some(Ty::LONG))),
    ("usub_overflow", How::Overflow(BinaryOp::Sub, Some(Ty::UINT))),
    ("usubl_overflow", How::Overflow(BinaryOp::Sub, Some(Ty::ULONG))),
    ("usubll_overflow", How::Overflow(BinaryOp::Sub, Some(Ty::ULONG))),
    ("smul_overflow", How::Overflow(BinaryOp::Mul, Some(Ty::INT))),
    ("smull_overflow", How::Overflow(BinaryOp::Mul, Some(Ty::LONG))),
    ("smulll_overflow", How::Overflow(BinaryOp::Mul, Some(Ty::LONG))),
    ("umul_overflow", How::Overflow(BinaryOp::Mul, Some(Ty::UINT))),
    ("umull_overflow", How::Overflow(BinaryOp::Mul, Some(Ty::ULONG))),
    ("umulll_overflow", How::Overflow(BinaryOp::Mul, Some(Ty::ULONG))),
];

/// The functions of C's library that OpenCL C has under the same name, or under another. C's name without a suffix is
/// for `double`, with `f` for `float`, with `f16` for `half`.
const MATH: &[(&str, &str)] =
    &[("nearbyint", "rint"), ("roundeven", "rint"), ("scalbn", "ldexp"), ("lgamma", "lgamma"), ("tgamma", "tgamma")];

/// Of the same name in both.
const SAME_MATH: &str = " acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10 exp2 \
    expm1 fabs fdim floor fma fmax fmin fmod frexp hypot ilogb ldexp log log10 log1p log2 logb modf nextafter pow \
    remainder remquo rint round sin sinh sqrt tan tanh trunc ";

/// Functions with types among their arguments, which the parser knows.
const TYPED: [&str; 5] = ["astype", "convertvector", "types_compatible_p", "bit_cast", "offsetof"];

/// The function of a name.
pub(in crate::sema) fn function(name: &str) -> Option<How> {
    let name = name.strip_prefix("__builtin_")?;
    if let Some(row) = ROWS.iter().find(|r| r.0 == name) {
        return Some(row.1);
    }
    let math = |c_name: &str| {
        let same = SAME_MATH.split(' ').find(|n| *n == c_name && !n.is_empty());
        same.or_else(|| MATH.iter().find(|m| m.0 == c_name).map(|m| m.1))
    };
    // The name without a suffix is tried first: `erf` is not `er` for `float`.
    let suffixes = [("", Ty::DOUBLE), ("f", Ty::FLOAT), ("f16", Ty::HALF)];
    suffixes.into_iter().find_map(|(suffix, ty)| Some(How::Math(math(name.strip_suffix(suffix)?)?, ty)))
}

/// Whether the compiler knows a name, those with arguments that are types included.
pub(in crate::sema) fn is_known(name: &str) -> bool {
    let typed = name.strip_prefix("__builtin_").is_some_and(|n| TYPED.contains(&n));
    typed || function(name).is_some()
}

/// What to say of a name that is none of these functions.
pub(in crate::sema) fn unknown(name: &str) -> Option<&'static str> {
    let rest = name.strip_prefix("__builtin_")?;
    let of_target = ["ia32_", "amdgcn_", "arm_", "aarch64_", "neon_", "altivec_", "r600_"].iter();
    Some(match rest {
        "alloca" | "alloca_with_align" => "work-items have no stack that grows: declare an array of a constant size",
        _ if rest.starts_with("va_") => "functions with a variable number of arguments cannot be defined in OpenCL C",
        _ if of_target.into_iter().any(|t| rest.starts_with(t)) => {
            "this is a function of one other target: use the built-in functions of OpenCL C"
        }
        _ => "`__has_builtin` says in `#if` which of the compiler's own functions there are",
    })
}

impl Sema<'_> {
    /// A call of one of the functions whose arguments are values.
    pub(in crate::sema) fn clang_call(
        &mut self,
        how: How,
        name: &str,
        at: Span,
        args: &[ast::Expr],
        span: Span,
    ) -> Expr {
        match self.clang_function(how, name, at, args, span) {
            Some(e) => Expr { span, ..e },
            None => Expr::error(span),
        }
    }

    fn clang_function(&mut self, how: How, name: &str, at: Span, args: &[ast::Expr], span: Span) -> Option<Expr> {
        self.check_count(how, name, at, args.len())?;
        // These are apart because they must not evaluate, or not all of, their arguments.
        if matches!(how, How::ConstantP | How::Choose | How::Nothing | How::Line) {
            return self.unevaluated(how, at, args, span);
        }
        let values: Vec<Expr> = args.iter().map(|a| self.rvalue_of(a)).collect();
        if values.iter().any(Expr::is_error) {
            return None;
        }
        let first = values.first().map(|v| v.ty.ty);
        match how {
            How::Fixed(library, from, to) => {
                let values = self.all_passed(values, from)?;
                let e = self.table_call(library, values, at, span);
                Some(self.convert(e, to))
            }
            How::Math(library, ty) => self.math_call(library, ty, values, at, span),
            How::Own(library) => Some(self.table_call(library, values, at, span)),
            How::Elementwise(int, float) => self.elementwise(int, float, values, at, span),
            How::Reduce(op) => self.reduce(values, span, |this, a, b| this.binary(op, a, b, at, span)),
            How::ReduceBy(int, float) => {
                let is_float = self.types.numeric(first?).is_some_and(|(elem, _)| elem.is_float());
                let library = if is_float { float } else { int };
                self.reduce(values, span, |this, a, b| this.table_call(library, vec![a, b], at, span))
            }
            How::Swap(ty) => self.all_passed(values, ty)?.pop().map(|e| self.bytes_swapped(e, ty, span)),
            How::FirstSet(ty) => {
                let e = self.all_passed(values, ty)?.pop()?;
                self.first_set(e, ty, at, span)
            }
            How::Parity(ty) => {
                let values = self.all_passed(values, ty)?;
                let e = self.table_call("popcount", values, at, span);
                let e = self.convert(e, Ty::INT);
                let one = self.constant(1, Ty::INT, span);
                Some(self.binary(BinaryOp::BitAnd, e, one, at, span))
            }
            How::Rotate(ty, right) => {
                let mut values = self.all_passed(values, ty)?;
                if right {
                    let by = values.pop()?;
                    // To the left by the negated amount: `rotate` takes the amount modulo the width.
                    let by = self.unary(UnaryOp::Minus, by, span);
                    values.push(self.convert(by, ty));
                }
                Some(self.table_call("rotate", values, at, span))
            }
            How::Value(value, ty) => {
                self.check_float(ty, at)?;
                let (elem, _) = self.types.numeric(ty)?;
                // The bits of a quiet NaN, whatever text says which.
                Some(self.constant(eval::from_f64(ir_scalar(elem), value), ty, span))
            }
            // The hint is dropped: the result is the value, as the type that Clang gives it.
            How::Expect => {
                let e = values.into_iter().next()?;
                let at = e.span;
                Some(self.assigned(e, Ty::LONG, "pass", at)).filter(|e| !e.is_error())
            }
            How::First => values.into_iter().next(),
            How::Prefetch => {
                let e = values.into_iter().next()?;
                self.pointer_arg(&e, false)?;
                let rest = self.nothing(span);
                Some(Expr::value(ExprKind::Comma(Box::new(e), Box::new(rest)), Ty::VOID, span))
            }
            How::Trap => Some(Expr::value(ExprKind::Special(Special::Trap, values), Ty::VOID, span)),
            How::Memory(op) => self.memory(op, values, span),
            How::ShuffleVector => self.shuffle_vector(values, at, span),
            How::Load => {
                let to = self.pointer_arg(&values[0], false)?;
                // A non-temporal access is an ordinary one here: the hint is dropped.
                let object = ExprKind::Deref(Box::new(values.into_iter().next()?));
                Some(self.rvalue(Expr { kind: object, ty: to, lvalue: true, span }))
            }
            How::Store => {
                let [value, p] = <[Expr; 2]>::try_from(values).ok()?;
                let to = self.pointer_arg(&p, true)?;
                let object = Expr { kind: ExprKind::Deref(Box::new(p)), ty: to, lvalue: true, span };
                let value_span = value.span;
                let value = self.assigned(value, to.ty, "assign", value_span);
                if value.is_error() || !self.modifiable(&object) {
                    return None;
                }
                Some(Expr::value(ExprKind::Assign(Box::new(object), Box::new(value)), to.ty, span))
            }
            How::Same(ty) => {
                self.check_float(ty, at)?;
                self.all_passed(values, ty)?.pop()
            }
            How::LoadHalf(ty) => {
                self.check_float(ty, at)?;
                let offset = self.constant(0, Ty::LONG, span);
                let p = values.into_iter().next()?;
                let e = self.vload_half(1, false, vec![offset, p], span)?;
                Some(self.convert(e, ty))
            }
            How::StoreHalf(ty) => {
                self.check_float(ty, at)?;
                let [value, p] = <[Expr; 2]>::try_from(values).ok()?;
                let value = self.all_passed(vec![value], ty)?.pop()?;
                let offset = self.constant(0, Ty::LONG, span);
                self.vstore_half(1, false, Rounding::Rte, vec![value, offset, p], span)
            }
            How::Printf => self.printf(values, at, span),
            How::Overflow(op, ty) => self.overflow(op, ty, values, at, span),
            How::ConstantP | How::Choose | How::Nothing | How::Line => None,
        }
    }

    /// The function for integers or that for floating-point numbers, by the type of the first argument.
    fn elementwise(
        &mut self,
        int: &'static str,
        float: &'static str,
        values: Vec<Expr>,
        at: Span,
        span: Span,
    ) -> Option<Expr> {
        let Some(first) = values.first() else {
            // Either function reports how many arguments are missing.
            let library = if int.is_empty() { float } else { int };
            return Some(self.table_call(library, values, at, span));
        };
        let ty = first.ty.ty;
        let Some((elem, _)) = self.types.numeric(ty) else { return self.bad_argument(first, "a number or a vector") };
        let library = if elem.is_float() { float } else { int };
        if library.is_empty() {
            let wanted = if elem.is_float() { "integers" } else { "floating-point numbers" };
            return self.bad_argument(first, wanted);
        }
        let e = self.table_call(library, values, at, span);
        // `abs` gives the unsigned type.
        let same = e.is_error() || e.ty.ty == ty;
        Some(if same { e } else { Expr::value(ExprKind::Convert(Box::new(e)), ty, span) })
    }

    fn bytes_swapped(&mut self, e: Expr, ty: Ty, span: Span) -> Expr {
        let n = self.types.size(ty) as u8;
        // The value as a vector of bytes, the vector reversed, and back.
        let bytes = self.types.value(Elem::U8, n);
        let e = Expr::value(ExprKind::Bits(Box::new(e)), bytes, span);
        let swapped = ExprKind::Swizzle(Box::new(e), (0..n).rev().collect());
        let e = Expr::value(swapped, bytes, span);
        Expr::value(ExprKind::Bits(Box::new(e)), ty, span)
    }

    fn first_set(&mut self, e: Expr, ty: Ty, at: Span, span: Span) -> Option<Expr> {
        let (store, id) = self.kept(e, span)?;
        // The value is read twice, so that it is kept in a variable: the argument may have effects.
        let (x, y) = (self.read(id, ty, span), self.read(id, ty, span));
        let lowest = self.table_call("ctz", vec![x], at, span);
        let lowest = self.convert(lowest, Ty::INT);
        let (one, zero) = (self.constant(1, Ty::INT, span), self.constant(0, Ty::INT, span));
        let counted = self.binary(BinaryOp::Add, lowest, one, at, span);
        let e = self.conditional(y, counted, zero, span);
        Some(after(store, e))
    }

    fn check_count(&mut self, how: How, name: &str, at: Span, args: usize) -> Option<()> {
        let count = match how {
            How::Swap(_) | How::FirstSet(_) | How::Parity(_) | How::Reduce(_) | How::ReduceBy(..) => 1..=1,
            How::ConstantP | How::Nothing | How::Load => 1..=1,
            How::Rotate(..) | How::Store | How::StoreHalf(_) => 2..=2,
            How::Same(_) | How::LoadHalf(_) => 1..=1,
            How::Overflow(..) => 3..=3,
            How::Expect | How::First | How::Prefetch => 1..=3,
            How::Memory(_) | How::Choose => 3..=3,
            How::Value(value, _) => match value.is_nan() {
                true => 1..=1,
                false => 0..=0,
            },
            How::Trap | How::Line => 0..=0,
            How::ShuffleVector => 2..=18,
            How::Fixed(..) => 1..=1,
            How::Math(..) | How::Own(_) | How::Elementwise(..) | How::Printf => 0..=usize::MAX,
        };
        if !count.contains(&args) {
            // The message names the valid number that is nearest to the given one.
            let takes = crate::sema::counts::arguments(&[(*count.start()).max(args.min(*count.end()))]);
            self.wrong_count(name, &takes, args, at);
            return None;
        }
        Some(())
    }

    /// Those that do not evaluate all of their arguments.
    fn unevaluated(&mut self, how: How, at: Span, args: &[ast::Expr], span: Span) -> Option<Expr> {
        match how {
            How::ConstantP => {
                let e = self.rvalue_of(&args[0]);
                let known = !self.is_left_out(&e) && self.eval(&e).is_ok();
                Some(self.constant(known.into(), Ty::INT, span))
            }
            How::Choose => {
                let chosen = self.rvalue_of(&args[0]);
                let Some(n) = self.eval_int(&chosen) else {
                    self.not_constant(args[0].span, "the first argument of `__builtin_choose_expr`");
                    return None;
                };
                Some(self.expr(&args[if n != 0 { 1 } else { 2 }]))
            }
            How::Nothing => {
                let e = self.rvalue_of(&args[0]);
                (!e.is_error()).then(|| self.nothing(span))
            }
            How::Line => {
                let line = self.session.sources.location(at).line;
                Some(self.constant(line.into(), Ty::INT, span))
            }
            _ => None,
        }
    }

    /// A function of C's library for one type.
    fn math_call(&mut self, library: &str, ty: Ty, values: Vec<Expr>, at: Span, span: Span) -> Option<Expr> {
        self.check_float(ty, at)?;
        let mut out = Vec::new();
        for (i, v) in values.into_iter().enumerate() {
            // The exponent of `scalbn` and `ldexp` is an `int` in any case; pointers stay as they are.
            let to = if library == "ldexp" && i == 1 { Ty::INT } else { ty };
            let number = self.types.numeric(v.ty.ty).is_some();
            let at = v.span;
            out.push(if number { self.assigned(v, to, "pass", at) } else { v });
        }
        Some(self.table_call(library, out, at, span))
    }

    /// A function with types among its arguments.
    pub(in crate::sema) fn typed_call(&mut self, name: Symbol, at: Span, args: &[TypeOrExpr], span: Span) -> Expr {
        let e = match (self.text(name), args) {
            ("__builtin_types_compatible_p", [TypeOrExpr::Type(a), TypeOrExpr::Type(b)]) => {
                let (a, b) = (self.type_of_name(a).ty.ty, self.type_of_name(b).ty.ty);
                Some(self.constant(u64::from(a == b), Ty::INT, span))
            }
            ("__builtin_astype", [TypeOrExpr::Expr(e), TypeOrExpr::Type(ty)])
            | ("__builtin_bit_cast", [TypeOrExpr::Type(ty), TypeOrExpr::Expr(e)]) => {
                let e = self.rvalue_of(e);
                self.bits_as(e, ty, span)
            }
            ("__builtin_convertvector", [TypeOrExpr::Expr(e), TypeOrExpr::Type(ty)]) => {
                let e = self.rvalue_of(e);
                let to = self.type_of_name(ty).ty.ty;
                self.vector_as(e, to, span)
            }
            (text, _) => {
                let takes = match text {
                    "__builtin_types_compatible_p" => "two types",
                    "__builtin_bit_cast" => "a type and a value",
                    _ => "a value and a type",
                };
                let message = format!("`{text}` takes {takes}");
                self.error("E0308", at, message);
                None
            }
        };
        e.map_or(Expr::error(span), |e| Expr { span, ..e })
    }

    fn bits_as(&mut self, e: Expr, ty: &ast::TypeName, span: Span) -> Option<Expr> {
        let to = self.type_of_name(ty).ty.ty;
        if e.is_error() || to == Ty::ERROR {
            return None;
        }
        // A cast checks the address spaces; pointers of any space have the same size.
        if self.types.is_pointer(to) && self.types.is_pointer(e.ty.ty) {
            return Some(self.cast(e, to, span));
        }
        // The bits of an address are those of an `ulong`.
        let e = if self.types.is_pointer(e.ty.ty) { self.cast(e, Ty::ULONG, span) } else { e };
        if self.types.is_pointer(to) {
            let address = self.as_type(Elem::U64, 1, vec![e], span)?;
            return Some(self.cast(address, to, span));
        }
        match self.types.numeric(to) {
            Some((elem, lanes)) if to != Ty::BOOL => self.as_type(elem, lanes, vec![e], span),
            _ => {
                let message = format!("bits cannot be taken as a `{}`", self.type_name(to));
                self.error("E0330", ty.span, message);
                None
            }
        }
    }

    fn vector_as(&mut self, e: Expr, to: Ty, span: Span) -> Option<Expr> {
        if e.is_error() || to == Ty::ERROR {
            return None;
        }
        let (from, into) = (self.types.numeric(e.ty.ty), self.types.numeric(to));
        match (from, into) {
            (Some((_, n)), Some((elem, m))) if n == m && n > 1 => {
                self.check_half(elem, span)?;
                Some(self.convert(e, to))
            }
            _ => {
                let (from, to) = (self.type_name(e.ty.ty), self.type_name(to));
                let message = format!("a `{from}` cannot be converted to `{to}`, component by component");
                self.push(Diagnostic::error("E0330", span, message).help("both must be vectors of as many components"));
                None
            }
        }
    }

    /// A value of type `void`.
    fn nothing(&self, span: Span) -> Expr {
        Expr::value(ExprKind::Const(smallvec![0]), Ty::VOID, span)
    }

    /// All arguments as values of one type.
    pub(in crate::sema) fn all_passed(&mut self, values: Vec<Expr>, ty: Ty) -> Option<Vec<Expr>> {
        let mut out = Vec::new();
        for v in values {
            let at = v.span;
            let v = self.assigned(v, ty, "pass", at);
            if v.is_error() {
                return None;
            }
            out.push(v);
        }
        Some(out)
    }

    /// Reports a floating-point type that the device lacks.
    fn check_float(&mut self, ty: Ty, at: Span) -> Option<()> {
        match ty {
            Ty::HALF => self.check_half(Elem::F16, at),
            Ty::DOUBLE if !self.opts.fp64 => {
                self.unavailable(at, "this function of `double` is", "use that of `float`, whose name ends in `f`");
                None
            }
            _ => Some(()),
        }
    }

    /// Keeps a value in a variable, so that it can be read several times.
    pub(in crate::sema) fn kept(&mut self, e: Expr, span: Span) -> Option<(Expr, LocalId)> {
        if self.cx.is_none() {
            // A variable needs a function around it, which an initialiser of program scope has not.
            self.not_constant(span, "a value of program scope");
            return None;
        }
        let ty = e.ty.ty;
        let id = self.new_local(None, QTy::plain(ty), 1);
        let target = Expr { kind: ExprKind::Local(id), ty: QTy::plain(ty), lvalue: true, span };
        Some((Expr::value(ExprKind::Assign(Box::new(target), Box::new(e)), ty, span), id))
    }

    pub(in crate::sema) fn read(&mut self, id: LocalId, ty: Ty, span: Span) -> Expr {
        self.rvalue(Expr { kind: ExprKind::Local(id), ty: QTy::plain(ty), lvalue: true, span })
    }

    /// The components joined one after the other.
    fn reduce(&mut self, values: Vec<Expr>, span: Span, join: impl Fn(&mut Self, Expr, Expr) -> Expr) -> Option<Expr> {
        let e = values.into_iter().next()?;
        let ty = e.ty.ty;
        let Some((elem, lanes @ 2..)) = self.types.numeric(ty) else { return self.bad_argument(&e, "a vector") };
        let scalar = self.types.value(elem, 1);
        let (store, id) = self.kept(e, span)?;
        let mut all: Option<Expr> = None;
        for lane in 0..lanes {
            let vector = self.read(id, ty, span);
            let part = Expr::value(ExprKind::Swizzle(Box::new(vector), smallvec![lane]), scalar, span);
            let joined = match all {
                Some(before) => join(self, before, part),
                None => part,
            };
            // Small integers were promoted.
            all = Some(self.convert(joined, scalar));
        }
        Some(after(store, all?))
    }

    /// `memcpy` and its like: the result is the first argument.
    fn memory(&mut self, op: MemoryOp, values: Vec<Expr>, span: Span) -> Option<Expr> {
        let [to, from, count] = <[Expr; 3]>::try_from(values).ok()?;
        self.pointer_arg(&to, true)?;
        let from = match op {
            MemoryOp::Set => self.all_passed(vec![from], Ty::UCHAR)?.pop()?,
            MemoryOp::Copy | MemoryOp::Move => {
                self.pointer_arg(&from, false)?;
                from
            }
        };
        let count = self.all_passed(vec![count], Ty::ULONG)?.pop()?;
        let ty = to.ty.ty;
        Some(Expr::value(ExprKind::Special(Special::Memory(op), vec![to, from, count]), ty, span))
    }

    /// `__builtin_shufflevector`: two vectors and constant indices, or a vector and a mask.
    fn shuffle_vector(&mut self, mut values: Vec<Expr>, at: Span, span: Span) -> Option<Expr> {
        let ty = values[0].ty.ty;
        let TyKind::Vector(elem, lanes) = *self.types.kind(ty) else {
            return self.bad_argument(&values[0], "a vector");
        };
        if let [_, mask] = &values[..] {
            let of = self.types.numeric(mask.ty.ty).filter(|(m, n)| !m.is_float() && *n == lanes && *n != 3);
            if of.is_none() {
                return self.bad_argument(mask, "a mask of integers with as many components");
            }
            let mask = values.pop()?;
            let (mask_ty, mask_span) = (mask.ty.ty, mask.span);
            // The number of components is a power of two, as 3 was refused: the low bits of an index are its remainder.
            let low = self.constant(u64::from(lanes - 1), mask_ty, mask_span);
            let mask = self.binary(BinaryOp::BitAnd, mask, low, mask_span, mask_span);
            values.push(mask);
            return Some(Expr::value(ExprKind::Special(Special::Shuffle, values), ty, span));
        }
        if values[1].ty.ty != ty {
            let wanted = format!("a second `{}`", self.type_name(ty));
            return self.bad_argument(&values[1], &wanted);
        }
        let indices = values.split_off(2);
        let count = indices.len();
        if !matches!(count, 2 | 3 | 4 | 8 | 16) {
            self.error("E0312", at, format!("{count} components do not make a vector"));
            return None;
        }
        let mut lanes_of_mask = crate::sema::tree::Lanes::new();
        for i in indices {
            match self.eval_int(&i) {
                // Any component will do.
                Some(-1) => lanes_of_mask.push(0),
                Some(n) if (0..2 * i64::from(lanes)).contains(&n) => lanes_of_mask.push(n as u64),
                Some(n) => {
                    let message = format!("the two vectors have no component {n}: they have {}", 2 * lanes);
                    self.error("E0312", i.span, message);
                    return None;
                }
                None => {
                    self.not_constant(i.span, "an index of `__builtin_shufflevector`");
                    return None;
                }
            }
        }
        // Constant indices become a constant mask, which the lowering makes a shuffle of.
        let mask_ty = self.types.value(Elem::U32, count as u8);
        values.push(Expr::value(ExprKind::Const(lanes_of_mask), mask_ty, span));
        let ty = self.types.value(elem, count as u8);
        Some(Expr::value(ExprKind::Special(Special::Shuffle, values), ty, span))
    }
}

/// A value after what must happen before it.
pub(in crate::sema) fn after(store: Expr, e: Expr) -> Expr {
    if e.is_error() {
        return e;
    }
    let (ty, span) = (e.ty.ty, e.span);
    Expr::value(ExprKind::Comma(Box::new(store), Box::new(e)), ty, span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_library_function_is_there() {
        for (name, how) in ROWS {
            let library: &[&str] = match how {
                How::Fixed(library, ..) | How::Own(library) => &[library],
                How::Elementwise(int, float) | How::ReduceBy(int, float) => &[int, float],
                _ => &[],
            };
            for f in library.iter().filter(|f| !f.is_empty()) {
                assert!(!cloom_builtins::lookup(f).is_empty(), "{name}: {f}");
            }
        }
        for name in SAME_MATH.split_whitespace().chain(MATH.iter().map(|m| m.1)) {
            assert!(!cloom_builtins::lookup(name).is_empty(), "{name}");
        }
        assert!(matches!(function("__builtin_sqrtf"), Some(How::Math("sqrt", Ty::FLOAT))));
        assert!(matches!(function("__builtin_erf"), Some(How::Math("erf", Ty::DOUBLE))));
        assert!(matches!(function("__builtin_nearbyintf16"), Some(How::Math("rint", Ty::HALF))));
        assert!(
            function("__builtin_").is_none() && function("__builtin_f").is_none() && function("popcount").is_none()
        );
    }
}
