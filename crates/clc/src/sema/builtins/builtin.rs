//! Built-in functions whose types the table cannot express: conversions, vector loads and stores, atomics, printf,
//! shuffles, asynchronous copies.
//!
//! In come a name such as `convert_uchar4_sat_rte`, taken apart into a family and its parameters, and the typed
//! arguments; out goes a typed node.

use super::atomics;
use super::images;
use super::pipes;
use super::{block_access, clang_builtins, enqueue};
use crate::sema::Sema;
use crate::sema::counts::arguments;
use crate::sema::operations::PipeOp;
use crate::sema::tree::{Expr, ExprKind, Rounding, Special};
use crate::sema::types::{QTy, Ty, TyKind, elem_signed};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast;
use cloom_builtins::Elem;
use cloom_ir::{Order, RmwOp, Space};

/// The meaning of a name that is not in the table.
#[derive(Clone, Copy, Debug)]
enum Family {
    As(Elem, u8),
    Convert(Elem, u8, bool, Option<Rounding>),
    Vload(u8),
    Vstore(u8),
    VloadHalf { lanes: u8, aligned: bool },
    VstoreHalf { lanes: u8, aligned: bool, rounding: Rounding },
    Atomic(&'static str),
    C11(atomics::Function),
    Printf,
    Shuffle(usize),
    AsyncCopy { strided: bool },
    AsyncCopyLines { planes: bool },
    WaitEvents,
    Prefetch,
    Clang(clang_builtins::How),
    Image(images::Function),
    Pipe(PipeOp),
    BlockAccess(block_access::Function),
    ToSpace(Space),
    GetFence,
    Enqueue(enqueue::Function),
    Unavailable(&'static str, &'static str),
}

const ATOMICS: [&str; 11] = ["add", "sub", "xchg", "inc", "dec", "cmpxchg", "min", "max", "and", "or", "xor"];

/// Names of this file that do not follow a scheme, for suggestions.
const OTHERS: [&str; 9] = [
    "printf",
    "shuffle",
    "shuffle2",
    "async_work_group_copy",
    "async_work_group_strided_copy",
    "async_work_group_copy_2D2D",
    "async_work_group_copy_3D3D",
    "wait_group_events",
    "prefetch",
];

/// The type at the start of a text, longest name first, and what follows it.
fn type_prefix(text: &str) -> Option<(Elem, u8, &str)> {
    let (elem, rest) = Elem::ALL.iter().find_map(|&e| {
        let rest = text.strip_prefix(crate::sema::types::elem_name(e))?;
        Some((e, rest))
    })?;
    // After the name of the scalar: the number of lanes, and then what the caller looks at (`_sat`, `_rte`).
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let lanes = match &rest[..digits] {
        "" => 1,
        "2" => 2,
        "3" => 3,
        "4" => 4,
        "8" => 8,
        "16" => 16,
        _ => return None,
    };
    Some((elem, lanes, &rest[digits..]))
}

fn lanes_of(text: &str) -> Option<u8> {
    Some(match text {
        "2" => 2,
        "3" => 3,
        "4" => 4,
        "8" => 8,
        "16" => 16,
        _ => return None,
    })
}

fn rounding_suffix(text: &str) -> Option<(&str, Rounding)> {
    [("_rte", Rounding::Rte), ("_rtz", Rounding::Rtz), ("_rtp", Rounding::Rtp), ("_rtn", Rounding::Rtn)]
        .into_iter()
        .find_map(|(suffix, mode)| Some((text.strip_suffix(suffix)?, mode)))
}

fn family(name: &str) -> Option<Family> {
    if name.starts_with("__builtin_") {
        return clang_builtins::function(name).map(Family::Clang);
    }
    if let Some(rest) = name.strip_prefix("as_") {
        let (elem, lanes, rest) = type_prefix(rest)?;
        return rest.is_empty().then_some(Family::As(elem, lanes));
    }
    if let Some(rest) = name.strip_prefix("convert_") {
        let (elem, lanes, rest) = type_prefix(rest)?;
        let (rest, rounding) = match rounding_suffix(rest) {
            Some((rest, mode)) => (rest, Some(mode)),
            None => (rest, None),
        };
        return match rest {
            "" => Some(Family::Convert(elem, lanes, false, rounding)),
            // Only conversions to integers may saturate.
            "_sat" if !elem.is_float() => Some(Family::Convert(elem, lanes, true, rounding)),
            _ => None,
        };
    }
    for (prefix, aligned) in [("vload_half", false), ("vloada_half", true)] {
        if let Some(rest) = name.strip_prefix(prefix) {
            let lanes = if rest.is_empty() { 1 } else { lanes_of(rest)? };
            return Some(Family::VloadHalf { lanes, aligned });
        }
    }
    for (prefix, aligned) in [("vstore_half", false), ("vstorea_half", true)] {
        if let Some(rest) = name.strip_prefix(prefix) {
            // The suffix comes off first: what is left is the number of lanes.
            let (rest, rounding) = rounding_suffix(rest).unwrap_or((rest, Rounding::Rte));
            let lanes = if rest.is_empty() { 1 } else { lanes_of(rest)? };
            return Some(Family::VstoreHalf { lanes, aligned, rounding });
        }
    }
    if let Some(rest) = name.strip_prefix("vload") {
        return lanes_of(rest).map(Family::Vload);
    }
    if let Some(rest) = name.strip_prefix("vstore") {
        return lanes_of(rest).map(Family::Vstore);
    }
    // The names of OpenCL 1.x; a name of C11, such as `atomic_load`, is not in the list and goes on below.
    if let Some(rest) = name.strip_prefix("atomic_").or_else(|| name.strip_prefix("atom_"))
        && let Some(op) = ATOMICS.iter().find(|op| **op == rest)
    {
        return Some(Family::Atomic(op));
    }
    Some(match name {
        "printf" => Family::Printf,
        "shuffle" => Family::Shuffle(1),
        "shuffle2" => Family::Shuffle(2),
        "async_work_group_copy" => Family::AsyncCopy { strided: false },
        "async_work_group_strided_copy" => Family::AsyncCopy { strided: true },
        "async_work_group_copy_2D2D" => Family::AsyncCopyLines { planes: false },
        "async_work_group_copy_3D3D" => Family::AsyncCopyLines { planes: true },
        "wait_group_events" => Family::WaitEvents,
        "prefetch" => Family::Prefetch,
        "to_global" => Family::ToSpace(Space::Global),
        "to_local" => Family::ToSpace(Space::Local),
        "to_private" => Family::ToSpace(Space::Private),
        "get_fence" => Family::GetFence,
        _ => {
            if let Some(f) = enqueue::function(name) {
                return Some(Family::Enqueue(f));
            }
            let image = || images::function(name).map(Family::Image);
            let pipe = || pipes::function(name).map(Family::Pipe);
            let block = || block_access::function(name).map(Family::BlockAccess);
            return atomics::function(name).map(Family::C11).or_else(image).or_else(pipe).or_else(block);
        }
    })
}

/// Whether a name is a built-in function.
pub(in crate::sema) fn is_builtin(name: &str) -> bool {
    !cloom_builtins::lookup(name).is_empty() || family(name).is_some()
}

/// Whether a name is a built-in function, those with types as arguments included.
pub fn is_known(name: &str) -> bool {
    is_builtin(name) || clang_builtins::is_known(name)
}

/// The name as the table has it.
pub(in crate::sema) fn static_name(name: &str) -> Option<&'static str> {
    cloom_builtins::table::static_name(name)
}

/// Names for suggestions.
pub(in crate::sema) fn all_names() -> impl Iterator<Item = &'static str> {
    cloom_builtins::names()
        .filter(|n| !n.starts_with("__"))
        .chain(OTHERS)
        .chain(images::names())
        .chain(pipes::names())
        .chain(enqueue::names())
}

impl Sema<'_> {
    /// A call of a built-in function.
    pub(in crate::sema) fn builtin_call(&mut self, name: &str, at: Span, args: &[ast::Expr], span: Span) -> Expr {
        if !cloom_builtins::lookup(name).is_empty() {
            // Most functions are in the table; only the others have families.
            let args: Vec<Expr> = args.iter().map(|a| self.rvalue_of(a)).collect();
            return self.table_call(name, args, at, span);
        }
        let family = match family(name) {
            Some(Family::Image(_)) if !self.opts.images => Family::Unavailable("images are", images::IMAGES_HELP),
            Some(family) => family,
            None => return Expr::error(span),
        };
        let needs_generic = matches!(family, Family::ToSpace(_) | Family::GetFence) && !self.opts.generic;
        let needs_pipes = matches!(family, Family::Pipe(_)) && !self.opts.pipes;
        // The arguments are analysed for their own mistakes, although the call is refused.
        if needs_generic || needs_pipes || matches!(family, Family::Unavailable(..)) {
            for a in args {
                self.expr(a);
            }
        }
        if needs_generic {
            self.no_generic(at, &format!("`{name}`: the generic address space"));
            return Expr::error(span);
        }
        if needs_pipes {
            self.no_pipes(at, &format!("`{name}`: pipes"));
            return Expr::error(span);
        }
        if let Family::Unavailable(what, help) = family {
            self.unavailable(at, &format!("`{name}`: {what}"), help);
            return Expr::error(span);
        }
        if let Family::Enqueue(f) = family {
            return self.enqueue_call(f, name, at, args, span);
        }
        // These analyse their arguments themselves: `__builtin_choose_expr` only the chosen one.
        if let Family::Clang(how) = family {
            return self.clang_call(how, name, at, args, span);
        }
        let values: Vec<Expr> = args.iter().map(|a| self.rvalue_of(a)).collect();
        if values.iter().any(Expr::is_error) {
            return Expr::error(span);
        }
        let arity: &[usize] = match family {
            Family::As(..) | Family::Convert(..) | Family::ToSpace(_) | Family::GetFence => &[1],
            Family::Vload(_) | Family::VloadHalf { .. } | Family::WaitEvents | Family::Prefetch => &[2],
            Family::Vstore(_) | Family::VstoreHalf { .. } => &[3],
            Family::Atomic("inc" | "dec") => &[1],
            Family::Atomic("cmpxchg") => &[3],
            Family::Atomic(_) => &[2],
            Family::Shuffle(1) => &[2],
            Family::Shuffle(_) => &[3],
            Family::AsyncCopy { strided } => match strided {
                true => &[5],
                false => &[4],
            },
            Family::AsyncCopyLines { planes } => match planes {
                true => &[13],
                false => &[10],
            },
            // The scope may be left out, so that there are two right numbers; the greater one is named in the message.
            Family::C11(f) if f.arity().contains(&values.len()) => &[],
            Family::C11(f) => &[[0, 1, 2, 3, 4, 5, 6][*f.arity().end()]],
            Family::Printf | Family::Image(_) | Family::Pipe(_) | Family::Enqueue(_) => &[],
            Family::BlockAccess(_) | Family::Clang(_) | Family::Unavailable(..) => &[],
        };
        if !arity.is_empty() && !arity.contains(&values.len()) {
            self.wrong_count(name, &arguments(&arity[..1]), values.len(), at);
            return Expr::error(span);
        }
        let result = match family {
            Family::As(elem, lanes) => self.as_type(elem, lanes, values, span),
            Family::Convert(elem, lanes, sat, rounding) => self.convert_call(elem, lanes, sat, rounding, values, span),
            Family::Vload(lanes) => self.vload(lanes, values, span),
            Family::Vstore(lanes) => self.vstore(lanes, values, span),
            Family::VloadHalf { lanes, aligned } => self.vload_half(lanes, aligned, values, span),
            Family::VstoreHalf { lanes, aligned, rounding } => self.vstore_half(lanes, aligned, rounding, values, span),
            Family::Atomic(op) => self.atomic(name, op, values, span),
            Family::C11(f) => self.c11_atomic(f, name, values, span),
            Family::Printf => self.printf(values, at, span),
            Family::Shuffle(n) => self.shuffle(n, values, span),
            Family::AsyncCopy { strided } => self.async_copy(strided, values, span),
            Family::AsyncCopyLines { planes } => self.async_copy_lines(planes, values, span),
            Family::WaitEvents => Some(Expr::value(ExprKind::Special(Special::WaitEvents, values), Ty::VOID, span)),
            Family::Prefetch => Some(Expr::value(ExprKind::Special(Special::Prefetch, values), Ty::VOID, span)),
            Family::Image(f) => self.image_call(f, name, values, at, span),
            Family::Pipe(op) => self.pipe_call(op, name, values, at, span),
            Family::BlockAccess(f) => self.block_access(f, name, values, at, span),
            Family::ToSpace(space) => self.qualifier_call(space, values, span),
            Family::GetFence => self.as_generic(values).map(|p| {
                let kind = ExprKind::Special(Special::GetFence, vec![p]);
                Expr::value(kind, Ty::UINT, span)
            }),
            Family::Enqueue(_) | Family::Clang(_) | Family::Unavailable(..) => None,
        };
        if let Some(e) = result {
            return e;
        }
        Expr::error(span)
    }

    pub(in crate::sema) fn bad_argument(&mut self, e: &Expr, wanted: &str) -> Option<Expr> {
        let message = format!("argument is a `{}`, but {wanted} is needed", self.type_name(e.ty.ty));
        self.error("E0308", e.span, message);
        None
    }

    /// Reports `half` where the device does not compute with it.
    pub(in crate::sema) fn check_half(&mut self, elem: Elem, span: Span) -> Option<()> {
        if elem == Elem::F16 && !self.opts.fp16 {
            self.no_half(span);
            return None;
        }
        Some(())
    }

    pub(in crate::sema) fn as_type(&mut self, elem: Elem, lanes: u8, args: Vec<Expr>, span: Span) -> Option<Expr> {
        self.check_half(elem, span)?;
        let e = args.into_iter().next()?;
        let to = self.types.value(elem, lanes);
        // `numeric` counts a `bool` as a byte, but OpenCL C has no `as_…` of one.
        if self.types.numeric(e.ty.ty).is_none() || e.ty.ty == Ty::BOOL {
            return self.bad_argument(&e, "a number or a vector");
        }
        if self.types.size(e.ty.ty) != self.types.size(to) {
            let (from, to) = (self.type_name(e.ty.ty), self.type_name(to));
            let message = format!("`as_{to}` of a `{from}`: the sizes differ");
            self.push(Diagnostic::error("E0330", span, message).help(format!("`convert_{to}` converts the values")));
            return None;
        }
        if e.ty.ty == to {
            return Some(e);
        }
        Some(Expr::value(ExprKind::Bits(Box::new(e)), to, span))
    }

    fn convert_call(
        &mut self,
        elem: Elem,
        lanes: u8,
        sat: bool,
        rounding: Option<Rounding>,
        args: Vec<Expr>,
        span: Span,
    ) -> Option<Expr> {
        self.check_half(elem, span)?;
        let e = args.into_iter().next()?;
        let to = self.types.value(elem, lanes);
        match self.types.numeric(e.ty.ty) {
            Some((from, n)) if n == lanes => {
                if e.ty.ty == to {
                    return Some(e);
                }
                // Conversions that already round as `Convert` does need no exact one: the IR truncates floats to
                // integers and rounds to the nearest float.
                let plain_rounding = match (from.is_float(), elem.is_float()) {
                    (true, false) => matches!(rounding, None | Some(Rounding::Rtz)),
                    (_, true) => matches!(rounding, None | Some(Rounding::Rte)),
                    (false, false) => true,
                };
                // A conversion from float saturates anyway.
                if plain_rounding && (!sat || from.is_float()) {
                    return Some(Expr::value(ExprKind::Convert(Box::new(e)), to, span));
                }
                Some(Expr::value(ExprKind::ConvertExact(Box::new(e), sat, rounding), to, span))
            }
            Some(_) => {
                let message = format!(
                    "a `{}` cannot be converted to `{}`: the numbers of components differ",
                    self.type_name(e.ty.ty),
                    self.type_name(to)
                );
                self.error("E0330", span, message);
                None
            }
            None => self.bad_argument(&e, "a number or a vector"),
        }
    }

    /// What a pointer argument points to.
    pub(in crate::sema) fn pointer_arg(&mut self, p: &Expr, write: bool) -> Option<QTy> {
        let Some(to) = self.types.pointee(p.ty.ty) else {
            self.bad_argument(p, "a pointer");
            return None;
        };
        if write && (to.is_const || to.space == Space::Constant) {
            let message = format!("`{}` points to memory that cannot be written", self.type_name(p.ty.ty));
            self.error("E0306", p.span, message);
            return None;
        }
        Some(to)
    }

    /// The only argument, as a generic pointer.
    fn as_generic(&mut self, args: Vec<Expr>) -> Option<Expr> {
        let p = args.into_iter().next()?;
        let to = self.pointer_arg(&p, false)?;
        let ty = self.types.pointer(QTy { space: Space::Generic, ..to });
        let at = p.span;
        Some(self.assigned(p, ty, "pass", at)).filter(|p| !p.is_error())
    }

    /// `to_global` and its like.
    fn qualifier_call(&mut self, space: Space, args: Vec<Expr>, span: Span) -> Option<Expr> {
        let p = self.as_generic(args)?;
        let to = self.types.pointee(p.ty.ty)?;
        let ty = self.types.pointer(QTy { space, ..to });
        Some(Expr::value(ExprKind::Special(Special::ToSpace(space), vec![p]), ty, span))
    }

    fn offset_arg(&mut self, e: Expr) -> Option<Expr> {
        if !self.types.is_integer(e.ty.ty) {
            return self.bad_argument(&e, "an integer");
        }
        // The offset is a `size_t`: a negative `int` is sign-extended, and the address wraps to before the pointer.
        Some(self.convert(e, Ty::ULONG))
    }

    fn vload(&mut self, lanes: u8, args: Vec<Expr>, span: Span) -> Option<Expr> {
        let [offset, p] = <[Expr; 2]>::try_from(args).ok()?;
        let to = self.pointer_arg(&p, false)?;
        let TyKind::Scalar(elem) = *self.types.kind(to.ty) else {
            return self.bad_argument(&p, "a pointer to numbers");
        };
        self.check_half(elem, span)?;
        let offset = self.offset_arg(offset)?;
        // The pointer is to scalars: the vector in memory is aligned like one of them.
        let ty = self.types.value(elem, lanes);
        Some(Expr::value(ExprKind::Special(Special::Vload { aligned: false }, vec![offset, p]), ty, span))
    }

    fn vstore(&mut self, lanes: u8, args: Vec<Expr>, span: Span) -> Option<Expr> {
        let [value, offset, p] = <[Expr; 3]>::try_from(args).ok()?;
        let to = self.pointer_arg(&p, true)?;
        let TyKind::Scalar(elem) = *self.types.kind(to.ty) else {
            return self.bad_argument(&p, "a pointer to numbers");
        };
        self.check_half(elem, span)?;
        let ty = self.types.value(elem, lanes);
        let at = value.span;
        let value = self.assigned(value, ty, "pass", at);
        let offset = self.offset_arg(offset)?;
        if value.is_error() {
            return None;
        }
        let kind = ExprKind::Special(Special::Vstore { aligned: false }, vec![value, offset, p]);
        Some(Expr::value(kind, Ty::VOID, span))
    }

    fn half_pointer(&mut self, p: &Expr, write: bool) -> Option<()> {
        let to = self.pointer_arg(p, write)?;
        if to.ty != Ty::HALF {
            self.bad_argument(p, "a pointer to `half`");
            return None;
        }
        Some(())
    }

    pub(in crate::sema) fn vload_half(
        &mut self,
        lanes: u8,
        aligned: bool,
        args: Vec<Expr>,
        span: Span,
    ) -> Option<Expr> {
        let [offset, p] = <[Expr; 2]>::try_from(args).ok()?;
        self.half_pointer(&p, false)?;
        let offset = self.offset_arg(offset)?;
        let ty = self.types.value(Elem::F32, lanes);
        Some(Expr::value(ExprKind::Special(Special::VloadHalf { aligned }, vec![offset, p]), ty, span))
    }

    pub(in crate::sema) fn vstore_half(
        &mut self,
        lanes: u8,
        aligned: bool,
        rounding: Rounding,
        args: Vec<Expr>,
        span: Span,
    ) -> Option<Expr> {
        let [value, offset, p] = <[Expr; 3]>::try_from(args).ok()?;
        self.half_pointer(&p, true)?;
        // A `double` is rounded to `half` directly: by way of `float` it would be rounded twice.
        let from = match self.types.numeric(value.ty.ty) {
            Some((Elem::F64, _)) => Elem::F64,
            _ => Elem::F32,
        };
        let ty = self.types.value(from, lanes);
        let at = value.span;
        let value = self.assigned(value, ty, "pass", at);
        let offset = self.offset_arg(offset)?;
        if value.is_error() {
            return None;
        }
        let kind = ExprKind::Special(Special::VstoreHalf { aligned, rounding }, vec![value, offset, p]);
        Some(Expr::value(kind, Ty::VOID, span))
    }

    fn atomic(&mut self, name: &str, op: &str, args: Vec<Expr>, span: Span) -> Option<Expr> {
        let mut args = args.into_iter();
        let p = args.next()?;
        let to = self.pointer_arg(&p, true)?;
        if !matches!(to.space, Space::Global | Space::Local) {
            let kind = crate::sema::types::space_name(to.space);
            let message = format!("`{name}` works on global and local memory, not on {kind} memory");
            self.error("E0308", p.span, message);
            return None;
        }
        let elem = match *self.types.kind(to.ty) {
            TyKind::Scalar(e @ (Elem::I32 | Elem::U32 | Elem::I64 | Elem::U64)) => e,
            // Of the functions of OpenCL 1.x only `atomic_xchg` takes floats.
            TyKind::Scalar(e @ Elem::F32) if op == "xchg" => e,
            _ => return self.bad_argument(&p, "a pointer to `int`, `uint`, `long` or `ulong`"),
        };
        let signed = elem_signed(elem);
        let ty = to.ty;
        let operands: Vec<Expr> = args
            .map(|a| {
                let at = a.span;
                self.assigned(a, ty, "pass", at)
            })
            .collect();
        if operands.iter().any(Expr::is_error) {
            return None;
        }
        let rmw = match op {
            "add" | "inc" => RmwOp::Add,
            "sub" | "dec" => RmwOp::Sub,
            "xchg" => RmwOp::Xchg,
            "and" => RmwOp::And,
            "or" => RmwOp::Or,
            "xor" => RmwOp::Xor,
            "min" if signed => RmwOp::Smin,
            "min" => RmwOp::Umin,
            "max" if signed => RmwOp::Smax,
            "max" => RmwOp::Umax,
            _ => {
                let all = std::iter::once(p).chain(operands).collect();
                return Some(Expr::value(ExprKind::Special(Special::CmpXchg, all), ty, span));
            }
        };
        let mut all = vec![p];
        all.extend(operands);
        // `atomic_inc` and `atomic_dec` have no operand of their own.
        if all.len() == 1 {
            all.push(self.constant(1, ty, span));
        }
        Some(Expr::value(ExprKind::Special(Special::Atomic(rmw, Order::Relaxed, None), all), ty, span))
    }

    fn shuffle(&mut self, n: usize, args: Vec<Expr>, span: Span) -> Option<Expr> {
        let Some((elem, 2 | 4 | 8 | 16)) = self.types.numeric(args[0].ty.ty) else {
            return self.bad_argument(&args[0], "a vector of 2, 4, 8 or 16 components");
        };
        if n == 2 && args[1].ty.ty != args[0].ty.ty {
            let wanted = format!("a second `{}`", self.type_name(args[0].ty.ty));
            return self.bad_argument(&args[1], &wanted);
        }
        // The mask comes last; its number of components is that of the result.
        let mask = &args[n];
        let fits = |m: Elem| !m.is_float() && !elem_signed(m) && m.bits() == elem.bits();
        let Some((_, count @ (2 | 4 | 8 | 16))) = self.types.numeric(mask.ty.ty).filter(|m| fits(m.0)) else {
            let wanted = format!("a mask of unsigned integers of {} bits", elem.bits());
            return self.bad_argument(mask, &wanted);
        };
        let ty = self.types.value(elem, count);
        Some(Expr::value(ExprKind::Special(Special::Shuffle, args), ty, span))
    }

    fn async_copy(&mut self, strided: bool, args: Vec<Expr>, span: Span) -> Option<Expr> {
        let mut args = args.into_iter();
        let (dst, src) = (args.next()?, args.next()?);
        let to = self.pointer_arg(&dst, true)?;
        let from = self.pointer_arg(&src, false)?;
        // The work-items copy values of the pointed-to type, so that both sides must have the same one.
        if to.ty != from.ty || self.types.numeric(to.ty).is_none() {
            let wanted = format!("a pointer to `{}`", self.type_name(to.ty));
            return self.bad_argument(&src, &wanted);
        }
        let scatter = self.copies_to_global(to.space, from.space, span)?;
        let count = self.offset_arg(args.next()?)?;
        let mut rest: Vec<Expr> = args.collect();
        // The event is last; before it is the stride of the strided form.
        let event = rest.pop()?;
        let at = event.span;
        let event = self.assigned(event, Ty::EVENT, "pass", at);
        if event.is_error() {
            return None;
        }
        let mut all = vec![dst, src, count, event];
        if let Some(stride) = rest.pop() {
            all.push(self.offset_arg(stride)?);
        }
        Some(Expr::value(ExprKind::Special(Special::AsyncCopy { strided, scatter }, all), Ty::EVENT, span))
    }

    /// Whether a copy between these spaces is one to global memory; reports one that is not between global and local
    /// memory.
    fn copies_to_global(&mut self, to: Space, from: Space, span: Span) -> Option<bool> {
        match (to, from) {
            (Space::Local, Space::Global) => Some(false),
            (Space::Global, Space::Local) => Some(true),
            _ => {
                let [from, to] = [from, to].map(crate::sema::types::space_name);
                self.push(
                    Diagnostic::error("E0307", span, "asynchronous copies go between global and local memory")
                        .note(format!("this one goes from {from} to {to} memory")),
                );
                None
            }
        }
    }

    /// A copy of lines, or of planes of lines. The pointers may be to anything.
    fn async_copy_lines(&mut self, planes: bool, args: Vec<Expr>, span: Span) -> Option<Expr> {
        let [to, from] = [self.pointer_arg(&args[0], true)?, self.pointer_arg(&args[2], false)?];
        self.copies_to_global(to.space, from.space, span)?;
        let event = args.len() - 1;
        let mut all = Vec::new();
        for (i, arg) in args.into_iter().enumerate() {
            let at = arg.span;
            all.push(match i {
                0 | 2 => arg,
                _ if i == event => self.assigned(arg, Ty::EVENT, "pass", at),
                _ => self.offset_arg(arg)?,
            });
        }
        if all[event].is_error() {
            return None;
        }
        Some(Expr::value(ExprKind::Special(Special::AsyncCopyLines { planes }, all), Ty::EVENT, span))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_families() {
        assert!(matches!(
            family("convert_uchar4_sat_rte"),
            Some(Family::Convert(Elem::U8, 4, true, Some(Rounding::Rte)))
        ));
        assert!(matches!(family("convert_float"), Some(Family::Convert(Elem::F32, 1, false, None))));
        assert!(matches!(family("as_short8"), Some(Family::As(Elem::I16, 8))));
        assert!(matches!(
            family("vstorea_half4_rtz"),
            Some(Family::VstoreHalf { lanes: 4, aligned: true, rounding: Rounding::Rtz })
        ));
        assert!(matches!(family("atom_cmpxchg"), Some(Family::Atomic("cmpxchg"))));
        for wrong in
            ["convert_float_sat", "convert_int5", "as_void", "vload5", "atomic_mul", "convert_int_sat_x", "vload"]
        {
            assert!(family(wrong).is_none(), "{wrong}");
        }
    }
}
