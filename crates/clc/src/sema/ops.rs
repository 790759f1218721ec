//! Operators: type checking of unary, binary, compound-assignment and increment operators.
//!
//! In come typed operands; out goes a typed node whose operands have their common type (OpenCL C 6.3, 6.4): the usual
//! conversions for scalars, a scalar widened to a vector, pointer arithmetic in elements. The node names the IR
//! operation.

use super::Sema;
use super::tree::{Cc, Expr, ExprKind};
use super::types::{Ty, TyKind, becomes, elem_signed, overlap};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{self, BinaryOp, UnaryOp};
use cloom_builtins::Elem;
use cloom_ir::{BinOp, FloatCc, IntCc, Space, UnOp};

impl Sema<'_> {
    /// A unary operator on a value (not on an lvalue: no `&`, `*`, `++`).
    pub(super) fn unary(&mut self, op: UnaryOp, e: Expr, span: Span) -> Expr {
        if e.is_error() {
            return Expr::error(span);
        }
        let ty = e.ty.ty;
        if op == UnaryOp::Not {
            return self.not(e, span);
        }
        let Some((elem, _)) = self.types.numeric(ty) else { return self.bad_unary(op, ty, span) };
        if op == UnaryOp::BitNot && elem.is_float() {
            return self.bad_unary(op, ty, span);
        }
        let e = self.promote(e);
        // After the checks: messages name the type that is written, not `int`.
        let ty = e.ty.ty;
        match op {
            // `0 - x` would be wrong for floats: it gives +0 for `x` = +0, where the negation is -0.
            UnaryOp::Minus if elem.is_float() => Expr::value(ExprKind::Unary(UnOp::Fneg, Box::new(e)), ty, span),
            UnaryOp::Minus => {
                let zero = self.constant(0, ty, span);
                self.arithmetic(BinOp::Sub, zero, e, ty, span)
            }
            UnaryOp::BitNot => Expr::value(ExprKind::Unary(UnOp::Not, Box::new(e)), ty, span),
            _ => Expr { span, ..e },
        }
    }

    fn bad_unary(&mut self, op: UnaryOp, ty: Ty, span: Span) -> Expr {
        let message = format!("operator `{}` cannot be used on `{}`", op.text(), self.type_name(ty));
        self.error("E0304", span, message);
        Expr::error(span)
    }

    fn not(&mut self, e: Expr, span: Span) -> Expr {
        match *self.types.kind(e.ty.ty) {
            // `!v` is true, which is -1, in the components that are zero.
            TyKind::Vector(..) => self.vector_truth(e, false, span),
            TyKind::Bool | TyKind::Scalar(_) | TyKind::Pointer(_) => {
                Expr::value(ExprKind::Not(Box::new(e)), Ty::INT, span)
            }
            _ => self.bad_unary(UnaryOp::Not, e.ty.ty, span),
        }
    }

    /// Lanes −1 where a vector is not zero (or is, if `wanted` is false), else 0.
    fn vector_truth(&mut self, e: Expr, wanted: bool, span: Span) -> Expr {
        let ty = e.ty.ty;
        let zero = self.constant(0, ty, span);
        let is_float = self.types.numeric(ty).is_some_and(|(e, _)| e.is_float());
        let cc = match (is_float, wanted) {
            (true, true) => Cc::Float(FloatCc::Une),
            (true, false) => Cc::Float(FloatCc::Oeq),
            (false, true) => Cc::Int(IntCc::Ne),
            (false, false) => Cc::Int(IntCc::Eq),
        };
        let result = self.comparison_type(ty);
        Expr::value(ExprKind::Compare(cc, Box::new(e), Box::new(zero)), result, span)
    }

    /// The result type of a comparison: `int`, or a vector of signed integers of the same width.
    fn comparison_type(&mut self, ty: Ty) -> Ty {
        match *self.types.kind(ty) {
            TyKind::Vector(e, n) => self.types.value(Elem::int(e.bits(), true), n),
            _ => Ty::INT,
        }
    }

    fn bad_operands(&mut self, op: BinaryOp, a: &Expr, b: &Expr, op_span: Span) -> Diagnostic {
        let (an, bn) = (self.type_name(a.ty.ty), self.type_name(b.ty.ty));
        Diagnostic::error("E0304", op_span, format!("operator `{}` cannot be used on `{an}` and `{bn}`", op.text()))
            .also(a.span, format!("this is of type `{an}`"))
            .also(b.span, format!("this is of type `{bn}`"))
    }

    /// A binary operator on values.
    pub(super) fn binary(&mut self, op: BinaryOp, a: Expr, b: Expr, op_span: Span, span: Span) -> Expr {
        if a.is_error() || b.is_error() {
            return Expr::error(span);
        }
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            // `&&` and `||` take pointers and numbers together, so they come before the checks of either kind.
            return self.logic(op, a, b, op_span, span);
        }
        if self.types.is_pointer(a.ty.ty) || self.types.is_pointer(b.ty.ty) {
            return self.pointer_binary(op, a, b, op_span, span);
        }
        if let Some((cc, ty)) = self.compared_handles(op, &a, &b) {
            return self.compare_handles(cc, ty, a, b, span);
        }
        // The operands of a shift are promoted separately and have no common type.
        if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
            return self.shift(op, a, b, op_span, span);
        }
        let Some((a, b)) = self.common(op, a, b, op_span) else { return Expr::error(span) };
        let ty = a.ty.ty;
        let Some((elem, _)) = self.types.numeric(ty) else { return Expr::error(span) };
        if elem.is_float() && matches!(op, BinaryOp::Rem | BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor) {
            let mut d = self.bad_operands(op, &a, &b, op_span);
            if op == BinaryOp::Rem {
                d = d.help("the remainder of floating-point numbers is `fmod(x, y)`");
            }
            self.push(d);
            return Expr::error(span);
        }
        let (signed, float) = (elem_signed(elem), elem.is_float());
        let pick = |f: BinOp, s: BinOp, u: BinOp| match (float, signed) {
            (true, _) => f,
            (_, true) => s,
            _ => u,
        };
        let op = match op {
            BinaryOp::Mul => pick(BinOp::Fmul, BinOp::Mul, BinOp::Mul),
            BinaryOp::Div => pick(BinOp::Fdiv, BinOp::Sdiv, BinOp::Udiv),
            BinaryOp::Rem => pick(BinOp::Srem, BinOp::Srem, BinOp::Urem),
            BinaryOp::Add => pick(BinOp::Fadd, BinOp::Add, BinOp::Add),
            BinaryOp::Sub => pick(BinOp::Fsub, BinOp::Sub, BinOp::Sub),
            BinaryOp::BitAnd => BinOp::And,
            BinaryOp::BitOr => BinOp::Or,
            BinaryOp::BitXor => BinOp::Xor,
            // Only the comparisons are left; they have a result of another type.
            _ => return self.compare(op, a, b, elem, span),
        };
        // Only a literal, perhaps converted: to evaluate each divisor would take quadratic time in nested divisions.
        if matches!(op, BinOp::Sdiv | BinOp::Udiv | BinOp::Srem | BinOp::Urem)
            && matches!(b.kind, ExprKind::Const(_) | ExprKind::Convert(_))
            && self.is_zero(&b)
        {
            self.push(Diagnostic::warning("W0305", b.span, "division by zero").note("the result is undefined"));
        }
        self.arithmetic(op, a, b, ty, span)
    }

    /// An arithmetic node; a product in a sum is contracted where that is allowed.
    fn arithmetic(&mut self, op: BinOp, a: Expr, b: Expr, ty: Ty, span: Span) -> Expr {
        // A folded constant keeps later checks local: each looks at a node and its direct operands only.
        if let Some(constant) = self.folded(op, &a, &b, ty, span) {
            return constant;
        }
        let is_product = |e: &Expr| matches!(e.kind, ExprKind::Binary(BinOp::Fmul, ..));
        let negated = |e: Expr| {
            let span = e.span;
            Expr::value(ExprKind::Unary(UnOp::Fneg, Box::new(e)), ty, span)
        };
        // One fused operation on halves takes longer than two.
        let is_half = self.types.numeric(ty).is_some_and(|(elem, _)| elem == Elem::F16);
        // `x * y - c` becomes fma(x, y, -c) and `c - x * y` becomes fma(-x, y, c). Negation is exact, so that each is
        // still rounded once. If both operands are products, the left one is fused.
        if self.contract && !is_half && matches!(op, BinOp::Fadd | BinOp::Fsub) {
            if is_product(&a) {
                let ExprKind::Binary(_, x, y) = a.kind else { return Expr::error(span) };
                let c = if op == BinOp::Fsub { negated(b) } else { b };
                return Expr::value(ExprKind::Fma(Box::new([*x, *y, c])), ty, span);
            }
            if is_product(&b) {
                let ExprKind::Binary(_, x, y) = b.kind else { return Expr::error(span) };
                let x = if op == BinOp::Fsub { negated(*x) } else { *x };
                return Expr::value(ExprKind::Fma(Box::new([x, *y, a])), ty, span);
            }
        }
        Expr::value(ExprKind::Binary(op, Box::new(a), Box::new(b)), ty, span)
    }

    fn compare(&mut self, op: BinaryOp, a: Expr, b: Expr, elem: Elem, span: Span) -> Expr {
        let cc = if elem.is_float() {
            Cc::Float(match op {
                BinaryOp::Lt => FloatCc::Olt,
                BinaryOp::Gt => FloatCc::Ogt,
                BinaryOp::Le => FloatCc::Ole,
                BinaryOp::Ge => FloatCc::Oge,
                BinaryOp::Eq => FloatCc::Oeq,
                _ => FloatCc::Une,
            })
        } else {
            Cc::Int(int_cc(op, elem_signed(elem)))
        };
        let ty = self.comparison_type(a.ty.ty);
        Expr::value(ExprKind::Compare(cc, Box::new(a), Box::new(b)), ty, span)
    }

    /// Both operands in their common type.
    pub(super) fn common(&mut self, op: BinaryOp, a: Expr, b: Expr, op_span: Span) -> Option<(Expr, Expr)> {
        match (self.types.kind(a.ty.ty).clone(), self.types.kind(b.ty.ty).clone()) {
            (TyKind::Bool | TyKind::Scalar(_), TyKind::Bool | TyKind::Scalar(_)) => {
                let ty = self.common_scalar(a.ty.ty, b.ty.ty);
                Some((self.convert(a, ty), self.convert(b, ty)))
            }
            // Vectors of small integers are not promoted: `char4 + char4` is a `char4`.
            (TyKind::Vector(..), TyKind::Vector(..)) if a.ty.ty == b.ty.ty => Some((a, b)),
            (TyKind::Vector(e, _), TyKind::Bool | TyKind::Scalar(_)) => {
                // The vector decides the type: a scalar of greater rank is an error, save constants.
                let ty = a.ty.ty;
                self.check_rank(e, &b, &a, op, op_span)?;
                let b = self.splat(b, ty);
                Some((a, b))
            }
            (TyKind::Bool | TyKind::Scalar(_), TyKind::Vector(e, _)) => {
                let ty = b.ty.ty;
                self.check_rank(e, &a, &b, op, op_span)?;
                let a = self.splat(a, ty);
                Some((a, b))
            }
            (x, y) => {
                let mut d = self.bad_operands(op, &a, &b, op_span);
                if let (TyKind::Vector(_, n), TyKind::Vector(_, m)) = (x, y) {
                    d = match n == m {
                        true => d
                            .note("vectors are not converted implicitly")
                            .help(format!("write `convert_{}(…)` around the right operand", self.type_name(a.ty.ty))),
                        false => d.note("the vectors have different numbers of components"),
                    };
                }
                self.push(d);
                None
            }
        }
    }

    /// A scalar next to a vector becomes its element type; it must not be of greater rank, save constants.
    fn check_rank(&mut self, elem: Elem, scalar: &Expr, vector: &Expr, op: BinaryOp, op_span: Span) -> Option<()> {
        let (s, _) = self.types.numeric(scalar.ty.ty)?;
        let greater = match (elem.is_float(), s.is_float()) {
            (true, false) => false,
            (false, true) => true,
            _ => s.bits() > elem.bits(),
        };
        // Constants are exempt: otherwise `c + 1` would be an error for a `char4`, as the literal is an `int`.
        if !greater || (elem.is_float() == s.is_float() && self.eval(scalar).is_ok()) {
            return Some(());
        }
        let to = super::types::elem_name(elem);
        let d = self
            .bad_operands(op, vector, scalar, op_span)
            .note("a scalar is converted to the element type of the vector only if that type is not smaller")
            .help(format!("write `({to})` in front of the scalar"));
        self.push(d);
        None
    }

    fn shift(&mut self, op: BinaryOp, a: Expr, b: Expr, op_span: Span, span: Span) -> Expr {
        let (Some((ea, na)), Some((eb, nb))) = (self.types.numeric(a.ty.ty), self.types.numeric(b.ty.ty)) else {
            let d = self.bad_operands(op, &a, &b, op_span);
            self.push(d);
            return Expr::error(span);
        };
        // A vector may be shifted by a scalar, but a scalar not by a vector.
        if ea.is_float() || eb.is_float() || (na != nb && nb != 1) {
            let d = self.bad_operands(op, &a, &b, op_span);
            self.push(d);
            return Expr::error(span);
        }
        let a = self.promote(a);
        let ty = a.ty.ty;
        let elem = self.types.numeric(ty).map_or(ea, |(e, _)| e);
        // Only the low bits of the amount count, and a conversion keeps them.
        let b = if nb == 1 && na > 1 { self.splat(b, ty) } else { self.convert(b, ty) };
        let op = match (op, elem_signed(elem)) {
            (BinaryOp::Shl, _) => BinOp::Shl,
            (_, true) => BinOp::Ashr,
            (_, false) => BinOp::Lshr,
        };
        Expr::value(ExprKind::Binary(op, Box::new(a), Box::new(b)), ty, span)
    }

    fn logic(&mut self, op: BinaryOp, a: Expr, b: Expr, op_span: Span, span: Span) -> Expr {
        if self.types.is_vector(a.ty.ty) || self.types.is_vector(b.ty.ty) {
            let Some((a, b)) = self.common(op, a, b, op_span) else { return Expr::error(span) };
            // Both sides are evaluated: a vector has no single truth by which the right one could be skipped.
            let a = self.vector_truth(a, true, span);
            let b = self.vector_truth(b, true, span);
            let ty = a.ty.ty;
            let op = if op == BinaryOp::And { BinOp::And } else { BinOp::Or };
            return Expr::value(ExprKind::Binary(op, Box::new(a), Box::new(b)), ty, span);
        }
        if !self.types.is_scalar(a.ty.ty) || !self.types.is_scalar(b.ty.ty) {
            let d = self.bad_operands(op, &a, &b, op_span);
            self.push(d);
            return Expr::error(span);
        }
        let and = op == BinaryOp::And;
        Expr::value(ExprKind::Logic { and, lhs: Box::new(a), rhs: Box::new(b) }, Ty::INT, span)
    }

    /// The size of what a pointer points to, for arithmetic.
    fn stride(&mut self, ty: Ty, span: Span) -> Option<u64> {
        let to = self.types.pointee(ty)?;
        if to.ty == Ty::VOID {
            // As GNU C has it, and programs rely on.
            return Some(1);
        }
        match self.types.layout(to.ty) {
            Some((size, _)) => Some(size),
            None => {
                let message = format!("arithmetic on a pointer to incomplete type `{}`", self.type_name(to.ty));
                self.error("E0316", span, message);
                None
            }
        }
    }

    /// Pointer plus index.
    pub(super) fn pointer_add(&mut self, p: Expr, index: Expr, minus: bool, span: Span) -> Expr {
        let Some(size) = self.stride(p.ty.ty, span) else { return Expr::error(span) };
        // Widened before it is negated: `p - 1u` goes back by one element, and does not go forward by 2^32 - 1.
        let mut index = self.convert(index, Ty::LONG);
        if minus {
            let zero = self.constant(0, Ty::LONG, span);
            index = Expr::value(ExprKind::Binary(BinOp::Sub, Box::new(zero), Box::new(index)), Ty::LONG, span);
        }
        let ty = p.ty.ty;
        Expr::value(ExprKind::PtrAdd(Box::new(p), Box::new(index), size), ty, span)
    }

    fn pointer_binary(&mut self, op: BinaryOp, a: Expr, b: Expr, op_span: Span, span: Span) -> Expr {
        // First what has a value other than a truth: pointer and integer, or the difference of two pointers.
        let (pa, pb) = (self.types.pointee(a.ty.ty), self.types.pointee(b.ty.ty));
        let (ia, ib) = (self.types.is_integer(a.ty.ty), self.types.is_integer(b.ty.ty));
        match (op, pa, pb) {
            (BinaryOp::Add, Some(_), None) if ib => return self.pointer_add(a, b, false, span),
            (BinaryOp::Add, None, Some(_)) if ia => return self.pointer_add(b, a, false, span),
            (BinaryOp::Sub, Some(_), None) if ib => return self.pointer_add(a, b, true, span),
            (BinaryOp::Sub, Some(x), Some(y)) if x.ty == y.ty && overlap(x.space, y.space) => {
                let (a, b) = self.in_one_space(a, b);
                let Some(size) = self.stride(a.ty.ty, span) else { return Expr::error(span) };
                return Expr::value(ExprKind::PtrDiff(Box::new(a), Box::new(b), size), Ty::LONG, span);
            }
            _ => {}
        }
        let is_comparison =
            matches!(op, BinaryOp::Lt | BinaryOp::Gt | BinaryOp::Le | BinaryOp::Ge | BinaryOp::Eq | BinaryOp::Ne);
        // Both operands get one pointer type, because the IR compares values of one type.
        if is_comparison {
            // Each arm gives two values of one pointer type, or reports why there are none.
            let pair = match (pa, pb) {
                (Some(x), Some(y)) if overlap(x.space, y.space) => {
                    let (a, b) = self.in_one_space(a, b);
                    let ty = a.ty.ty;
                    // Pointers to different types may be compared: only the addresses count.
                    let same = b.ty.ty == ty;
                    let b = if same { b } else { Expr::value(ExprKind::PtrCast(Box::new(b)), ty, span) };
                    Some((a, b))
                }
                // A null pointer constant takes the type of the other side, whatever memory that points into.
                (Some(_), _) if ib && self.is_zero(&b) || pb.is_some() && self.is_zero(&b) => {
                    let null = self.constant(0, a.ty.ty, span);
                    Some((a, null))
                }
                (_, Some(_)) if ia && self.is_zero(&a) || pa.is_some() && self.is_zero(&a) => {
                    let null = self.constant(0, b.ty.ty, span);
                    Some((null, b))
                }
                (Some(_), None) if ib => {
                    let b = self.integer_as_pointer(b, a.ty.ty, op_span);
                    Some((a, b))
                }
                (None, Some(_)) if ia => {
                    let a = self.integer_as_pointer(a, b.ty.ty, op_span);
                    Some((a, b))
                }
                _ => {
                    let mut d = self.bad_operands(op, &a, &b, op_span);
                    if pa.is_some() && pb.is_some() {
                        d = d.note("pointers into different address spaces cannot be compared");
                    }
                    self.push(d);
                    None
                }
            };
            let Some((a, b)) = pair else { return Expr::error(span) };
            // Addresses are compared as unsigned numbers.
            return Expr::value(ExprKind::Compare(Cc::Int(int_cc(op, false)), Box::new(a), Box::new(b)), Ty::INT, span);
        }
        let d = self.bad_operands(op, &a, &b, op_span);
        self.push(d);
        Expr::error(span)
    }

    /// An integer that a pointer is compared with.
    fn integer_as_pointer(&mut self, e: Expr, ty: Ty, op_span: Span) -> Expr {
        self.push(
            Diagnostic::warning("W0303", op_span, "a pointer is compared with an integer")
                .help("a cast says that it is meant"),
        );
        let span = e.span;
        Expr::value(ExprKind::PtrCast(Box::new(e)), ty, span)
    }

    /// Two pointers; if one is generic, both are.
    fn in_one_space(&mut self, a: Expr, b: Expr) -> (Expr, Expr) {
        let (Some(x), Some(y)) = (self.types.pointee(a.ty.ty), self.types.pointee(b.ty.ty)) else { return (a, b) };
        let mut as_generic = |e: Expr, to: super::types::QTy| {
            let ty = self.types.pointer(super::types::QTy { space: Space::Generic, ..to });
            let span = e.span;
            Expr::value(ExprKind::PtrCast(Box::new(e)), ty, span)
        };
        // The bits of a generic pointer may include a tag for its space, so that a pointer of another space is
        // converted before it is compared with it.
        match (becomes(x.space, y.space), becomes(y.space, x.space)) {
            (true, _) => (as_generic(a, x), b),
            (_, true) => (a, as_generic(b, y)),
            _ => (a, b),
        }
    }

    /// `c ? a : b`.
    pub(super) fn conditional(&mut self, c: Expr, a: Expr, b: Expr, span: Span) -> Expr {
        if c.is_error() || a.is_error() || b.is_error() || self.is_operand_pipe(&a) {
            return Expr::error(span);
        }
        if let TyKind::Vector(e, n) = *self.types.kind(c.ty.ty) {
            return self.vector_conditional(c, a, b, e, n, span);
        }
        if !self.types.is_scalar(c.ty.ty) {
            let message = format!("a condition cannot be a `{}`", self.type_name(c.ty.ty));
            self.error("E0304", c.span, message);
            return Expr::error(span);
        }
        let (ta, tb) = (a.ty.ty, b.ty.ty);
        if self.types.block(ta).or(self.types.block(tb)).is_some() {
            self.push(
                Diagnostic::error("E0332", span, "`?:` cannot choose between blocks")
                    .note("which block a call means must be known when the program is built")
                    .help("write an `if` with a call in each branch"),
            );
            return Expr::error(span);
        }
        // Scalars of one type are not kept as they are: of two `char` values, the result is an `int`.
        let (a, b) = if ta == tb && !self.types.is_arithmetic(ta) {
            (a, b)
        } else if self.types.numeric(ta).is_some() && self.types.numeric(tb).is_some() {
            // The common type is that of a sum. The operator appears in messages only.
            let fake = BinaryOp::Add;
            if self.types.is_vector(ta) && self.types.is_vector(tb) {
                return self.different_branches(&a, &b, span);
            }
            match self.common(fake, a, b, span) {
                Some(pair) => pair,
                None => return Expr::error(span),
            }
        } else if self.types.is_pointer(ta) && (self.types.is_pointer(tb) || self.is_zero(&b)) {
            // Both become a pointer that drops no qualifier of either, generic if one of them is.
            let to = self.merged_pointer(ta, tb);
            let a = self.assigned(a, to, "give", span);
            let b = self.assigned(b, to, "give", span);
            (a, b)
        } else if self.types.is_pointer(tb) && self.is_zero(&a) {
            let a = self.assigned(a, tb, "give", span);
            (a, b)
        } else {
            return self.different_branches(&a, &b, span);
        };
        if a.is_error() || b.is_error() {
            return Expr::error(span);
        }
        let ty = a.ty.ty;
        Expr::value(ExprKind::Cond(Box::new([c, a, b])), ty, span)
    }

    fn merged_pointer(&mut self, a: Ty, b: Ty) -> Ty {
        match (self.types.pointee(a), self.types.pointee(b)) {
            (Some(x), Some(y)) => {
                let ty = if x.ty == Ty::VOID || y.ty == Ty::VOID { Ty::VOID } else { x.ty };
                let space = if becomes(x.space, y.space) { y.space } else { x.space };
                let merged = super::types::QTy {
                    ty,
                    is_const: x.is_const || y.is_const,
                    is_volatile: x.is_volatile || y.is_volatile,
                    space,
                    ..x
                };
                self.types.pointer(merged)
            }
            _ => a,
        }
    }

    fn different_branches(&mut self, a: &Expr, b: &Expr, span: Span) -> Expr {
        let (an, bn) = (self.type_name(a.ty.ty), self.type_name(b.ty.ty));
        self.push(
            Diagnostic::error("E0304", span, format!("the two values of `? :` have no common type: `{an}` and `{bn}`"))
                .also(a.span, format!("this is of type `{an}`"))
                .also(b.span, format!("this is of type `{bn}`")),
        );
        Expr::error(span)
    }

    fn vector_conditional(&mut self, c: Expr, a: Expr, b: Expr, elem: Elem, lanes: u8, span: Span) -> Expr {
        if elem.is_float() {
            self.push(
                Diagnostic::error("E0304", c.span, "the condition is a vector of floating-point numbers")
                    .help("compare it: `x != 0` gives a vector of integers"),
            );
            return Expr::error(span);
        }
        // The type of the result follows from the two values alone; then it is checked against the condition.
        let both = self.types.numeric(a.ty.ty).zip(self.types.numeric(b.ty.ty));
        let Some(((ea, na), (eb, nb))) = both else { return self.different_branches(&a, &b, span) };
        let ty = match (na, nb) {
            // Two scalars give a vector with as many components as the condition has.
            (1, 1) => {
                let common = if ea == eb { a.ty.ty } else { self.common_scalar(a.ty.ty, b.ty.ty) };
                let e = self.types.numeric(common).map_or(ea, |(e, _)| e);
                self.types.value(e, lanes)
            }
            (1, _) => b.ty.ty,
            _ => a.ty.ty,
        };
        let width = self.types.numeric(ty).map_or(elem.bits(), |(e, _)| e.bits());
        if width != elem.bits() {
            let message = format!(
                "`? :` chooses between components of {width} bits by a `{}`, whose components have {}",
                self.type_name(c.ty.ty),
                elem.bits()
            );
            let help = format!("write `convert_{}(…)` around the condition", self.condition_name(width, lanes));
            self.push(Diagnostic::error("E0304", c.span, message).help(help));
            return Expr::error(span);
        }
        let fits = |n: u8| n == lanes || n == 1;
        if !fits(na) || !fits(nb) || (na > 1 && nb > 1 && a.ty.ty != b.ty.ty) {
            let d = self.bad_conditional_lanes(&c, &a, &b, span);
            self.push(d);
            return Expr::error(span);
        }
        let a = if na == 1 { self.splat(a, ty) } else { a };
        let b = if nb == 1 { self.splat(b, ty) } else { b };
        Expr::value(ExprKind::Select(Box::new([c, a, b])), ty, span)
    }

    /// The type of a condition for components of so many bits.
    fn condition_name(&mut self, bits: u32, lanes: u8) -> String {
        let ty = self.types.value(Elem::int(bits, true), lanes);
        self.type_name(ty)
    }

    fn bad_conditional_lanes(&mut self, c: &Expr, a: &Expr, b: &Expr, span: Span) -> Diagnostic {
        let names = [c, a, b].map(|e| format!("`{}`", self.type_name(e.ty.ty)));
        Diagnostic::error(
            "E0304",
            span,
            format!("`? :` cannot choose between {} and {} by {}", names[1], names[2], names[0]),
        )
        .note("with a vector as the condition all three must have as many components")
    }

    /// An assignment operator.
    pub(super) fn compound_assign(
        &mut self,
        op: BinaryOp,
        target: Expr,
        rhs: &ast::Expr,
        op_span: Span,
        span: Span,
    ) -> Expr {
        let rhs = self.rvalue_of(rhs);
        if !self.modifiable(&target) || rhs.is_error() {
            return Expr::error(span);
        }
        let ty = target.ty.ty;
        // The target is evaluated once, as the operand of `Update`; `Old` stands for its value, so that `a[f()] += 1`
        // calls `f` once.
        let old = Expr::value(ExprKind::Old, ty, target.span);
        let value = self.binary(op, old, rhs, op_span, span);
        let value = self.assigned(value, ty, "assign", span);
        if value.is_error() {
            return Expr::error(span);
        }
        Expr::value(ExprKind::Update { target: Box::new(target), value: Box::new(value), post: false }, ty, span)
    }

    /// `++` and `--`.
    pub(super) fn step(&mut self, target: Expr, down: bool, post: bool, span: Span) -> Expr {
        if !self.modifiable(&target) {
            return Expr::error(span);
        }
        let ty = target.ty.ty;
        let old = Expr::value(ExprKind::Old, ty, span);
        // Pointers step by elements; numbers and vectors by one of their own type.
        let value = if self.types.is_pointer(ty) {
            let one = self.constant(1, Ty::LONG, span);
            self.pointer_add(old, one, down, span)
        } else {
            let one = match self.types.numeric(ty) {
                // One as a scalar of the element type, which becomes a vector like any other scalar operand.
                Some((e, _)) if self.types.is_vector(ty) => {
                    let scalar = self.types.value(e, 1);
                    self.number(1, scalar, span)
                }
                Some(_) => self.number(1, ty, span),
                None => {
                    let message = format!("`{}` cannot be counted up or down", self.type_name(ty));
                    self.error("E0304", span, message);
                    return Expr::error(span);
                }
            };
            // As the sum with one that C defines it to be: a `char` is promoted and converted back.
            let op = if down { BinaryOp::Sub } else { BinaryOp::Add };
            let sum = self.binary(op, old, one, span, span);
            self.assigned(sum, ty, "assign", span)
        };
        if value.is_error() {
            return Expr::error(span);
        }
        Expr::value(ExprKind::Update { target: Box::new(target), value: Box::new(value), post }, ty, span)
    }
}

fn int_cc(op: BinaryOp, signed: bool) -> IntCc {
    match (op, signed) {
        (BinaryOp::Lt, true) => IntCc::Slt,
        (BinaryOp::Lt, false) => IntCc::Ult,
        (BinaryOp::Gt, true) => IntCc::Sgt,
        (BinaryOp::Gt, false) => IntCc::Ugt,
        (BinaryOp::Le, true) => IntCc::Sle,
        (BinaryOp::Le, false) => IntCc::Ule,
        (BinaryOp::Ge, true) => IntCc::Sge,
        (BinaryOp::Ge, false) => IntCc::Uge,
        (BinaryOp::Eq, _) => IntCc::Eq,
        _ => IntCc::Ne,
    }
}
