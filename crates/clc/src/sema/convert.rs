//! Conversions: lvalue to value, arithmetic conversions and promotions, assignment conversion, casts.
//!
//! In come a typed expression and the type that the context requires; out goes the expression inside the nodes that
//! convert it, or an error that names both types.

use super::Sema;
use super::constant::mask;
use super::tree::{Expr, ExprKind};
use super::types::{QTy, Ty, TyKind, becomes, overlap, space_name};
use crate::source::{Diagnostic, Severity, Span};
use cloom_builtins::Elem;
use cloom_ir::{BinOp, Space};
use smallvec::smallvec;

impl Sema<'_> {
    /// The value of an expression: lvalues are loaded, arrays become pointers to their first element.
    pub(super) fn rvalue(&mut self, e: Expr) -> Expr {
        let span = e.span;
        if let ExprKind::FuncName(name) = e.kind {
            let message = format!("`{}` is a function; it can only be called", self.text(name));
            self.error("E0211", span, message);
            return Expr::error(span);
        }
        if !e.lvalue {
            return e;
        }
        match *self.types.kind(e.ty.ty) {
            TyKind::Array(of, _) => {
                let to = QTy {
                    ty: of.ty,
                    is_const: e.ty.is_const,
                    is_volatile: e.ty.is_volatile,
                    is_restrict: of.is_restrict,
                    space: e.ty.space,
                    align: of.align,
                };
                let ty = self.types.pointer(to);
                Expr::value(ExprKind::Addr(Box::new(e)), ty, span)
            }
            // A record has no value in the IR: its lowering is an address, so that no load is needed.
            TyKind::Record(_) => Expr { lvalue: false, ..e },
            TyKind::Atomic(_) => {
                let message =
                    format!("an object of type `{}` is read by the atomic functions only", self.type_name(e.ty.ty));
                self.push(Diagnostic::error("E0329", span, message).help("use `atomic_load_explicit`"));
                Expr::error(span)
            }
            TyKind::Void => {
                self.error("E0329", span, "a value of type `void`");
                Expr::error(span)
            }
            TyKind::Scalar(Elem::F16) | TyKind::Vector(Elem::F16, _) if !self.opts.fp16 => {
                self.no_half(span);
                Expr::error(span)
            }
            _ => {
                let ty = e.ty.ty;
                Expr::value(ExprKind::Load(Box::new(e)), ty, span)
            }
        }
    }

    /// A constant with these bits in every lane.
    pub(super) fn constant(&self, bits: u64, ty: Ty, span: Span) -> Expr {
        let lanes = self.types.numeric(ty).map_or(1, |(_, n)| n);
        Expr::value(ExprKind::Const(smallvec![bits & mask(&self.types, ty); usize::from(lanes)]), ty, span)
    }

    /// The constant one (or any small number) of a type.
    pub(super) fn number(&self, n: u32, ty: Ty, span: Span) -> Expr {
        let bits = match self.types.numeric(ty) {
            Some((e, _)) if e.is_float() => cloom_ir::eval::from_f64(super::types::ir_scalar(e), f64::from(n)),
            _ => u64::from(n),
        };
        self.constant(bits, ty, span)
    }

    /// A number or vector as another type of number with as many lanes.
    pub(super) fn convert(&mut self, e: Expr, ty: Ty) -> Expr {
        // No node for the same type: later checks look for constants and loads directly below an operator.
        if e.ty.ty == ty || e.is_error() {
            return e;
        }
        let span = e.span;
        // A pointer is compared with null in its own type; a conversion of numbers does not take it.
        if self.types.is_pointer(e.ty.ty) && ty == Ty::BOOL {
            let null = self.constant(0, e.ty.ty, span);
            let differs = super::tree::Cc::Int(cloom_ir::IntCc::Ne);
            let cmp = Expr::value(ExprKind::Compare(differs, Box::new(e), Box::new(null)), Ty::INT, span);
            return Expr::value(ExprKind::Convert(Box::new(cmp)), ty, span);
        }
        Expr::value(ExprKind::Convert(Box::new(e)), ty, span)
    }

    /// A scalar in every lane of a vector type.
    pub(super) fn splat(&mut self, e: Expr, ty: Ty) -> Expr {
        let Some((elem, _)) = self.types.numeric(ty) else { return e };
        let scalar = self.types.value(elem, 1);
        let e = self.convert(e, scalar);
        let span = e.span;
        Expr::value(ExprKind::Splat(Box::new(e)), ty, span)
    }

    /// A `bool` as a vector: lanes of integers are all ones if it is true.
    fn truth_in_lanes(&mut self, e: Expr, ty: Ty, elem: Elem) -> Expr {
        let whole = self.splat(e, ty);
        if elem.is_float() {
            return whole;
        }
        let span = whole.span;
        let zero = self.constant(0, ty, span);
        Expr::value(ExprKind::Binary(BinOp::Sub, Box::new(zero), Box::new(whole)), ty, span)
    }

    /// Small integers as `int`.
    pub(super) fn promote(&mut self, e: Expr) -> Expr {
        match *self.types.kind(e.ty.ty) {
            TyKind::Bool | TyKind::Scalar(Elem::I8 | Elem::U8 | Elem::I16 | Elem::U16) => self.convert(e, Ty::INT),
            _ => e,
        }
    }

    /// The common type of two scalars.
    pub(super) fn common_scalar(&self, a: Ty, b: Ty) -> Ty {
        // Everything below `int` is promoted to `int`, so that it has the rank of `int`.
        let rank = |ty: Ty| match self.types.kind(ty) {
            TyKind::Scalar(e) => match e {
                Elem::F64 => 7,
                Elem::F32 => 6,
                Elem::F16 => 5,
                Elem::U64 => 4,
                Elem::I64 => 3,
                Elem::U32 => 2,
                _ => 1,
            },
            _ => 1,
        };
        match rank(a).max(rank(b)) {
            7 => Ty::DOUBLE,
            6 => Ty::FLOAT,
            5 => Ty::HALF,
            4 => Ty::ULONG,
            3 => Ty::LONG,
            2 => Ty::UINT,
            _ => Ty::INT,
        }
    }

    /// A condition: any scalar.
    pub(super) fn condition(&mut self, e: &crate::syntax::ast::Expr) -> Expr {
        // In parentheses the node is another one: that is how programs say that they mean it.
        if let crate::syntax::ast::ExprKind::Assign { op: None, op_span, .. } = e.kind {
            self.push(
                Diagnostic::warning("W0307", op_span, "the condition is an assignment")
                    .help("a comparison is written `==`; if the assignment is meant, put parentheses around it"),
            );
        }
        let c = self.rvalue_of(e);
        if c.is_error() || self.types.is_scalar(c.ty.ty) {
            return c;
        }
        let message = format!("a condition cannot be a `{}`", self.type_name(c.ty.ty));
        let mut d = Diagnostic::error("E0304", e.span, message);
        if self.types.is_vector(c.ty.ty) {
            d = d.help("reduce the vector to one truth value with `any(…)` or `all(…)`");
        }
        self.push(d);
        Expr::error(e.span)
    }

    /// A value converted implicitly, as by assignment, or an error that says why it cannot be. `verb`: "assign",
    /// "initialise", "pass", "return".
    pub(super) fn assigned(&mut self, e: Expr, to: Ty, verb: &str, span: Span) -> Expr {
        let e = self.rvalue(e);
        if e.is_error() || to == Ty::ERROR {
            return Expr::error(span);
        }
        let from = e.ty.ty;
        if from == to {
            return e;
        }
        match (self.types.kind(from).clone(), self.types.kind(to).clone()) {
            (TyKind::Bool | TyKind::Scalar(_), TyKind::Bool | TyKind::Scalar(_)) => {
                self.warn_of_changed_constant(&e, to);
                return self.convert(e, to);
            }
            // Before the case of scalars: a `bool` becomes all ones in integer lanes, a number becomes itself.
            (TyKind::Bool, TyKind::Vector(elem, _)) => return self.truth_in_lanes(e, to, elem),
            (TyKind::Scalar(_), TyKind::Vector(..)) => return self.splat(e, to),
            (TyKind::Pointer(_), TyKind::Bool) => return self.convert(e, to),
            (TyKind::Pointer(a), TyKind::Pointer(b)) => return self.assigned_pointer(e, a, b, to, verb, span),
            (TyKind::Bool | TyKind::Scalar(_), TyKind::Pointer(_)) if self.types.is_integer(from) => {
                if self.is_zero(&e) {
                    return self.constant(0, to, span);
                }
                let message = cannot(verb, &self.type_name(from), &self.type_name(to));
                self.push(
                    Diagnostic::error("E0303", span, message)
                        .note("an integer is not an address")
                        .help("a cast says that it is meant"),
                );
                return Expr::error(span);
            }
            (TyKind::Pointer(_), TyKind::Scalar(_)) if self.types.is_integer(to) => {
                let message = cannot(verb, &self.type_name(from), &self.type_name(to));
                self.push(
                    Diagnostic::error("E0303", span, message).help("to get what it points to, write `*` in front"),
                );
                return Expr::error(span);
            }
            // `event_t e = 0;` is how programs write that there is no event.
            (TyKind::Scalar(_), TyKind::Event | TyKind::ReserveId) if self.is_zero(&e) => {
                return self.constant(0, to, span);
            }
            (TyKind::Scalar(_), TyKind::Queue | TyKind::ClkEvent) if self.is_null_handle(&e, to) => {
                return self.constant(0, to, span);
            }
            (TyKind::Scalar(_), TyKind::Sampler) => {
                let Some(bits) = self.eval_int(&e) else {
                    self.not_constant(span, "a sampler");
                    return Expr::error(span);
                };
                return self.constant(bits as u64 & 0xffff_ffff, to, span);
            }
            _ => {}
        }
        let (from_name, to_name) = (self.type_name(from), self.type_name(to));
        let mut d = Diagnostic::error("E0303", span, cannot(verb, &from_name, &to_name))
            .label(format!("this is of type `{from_name}`"));
        match (self.types.numeric(from), self.types.numeric(to)) {
            (Some((_, a)), Some((_, b))) if a == b && a > 1 => {
                d = d.note("vectors are not converted implicitly").help(format!("write `convert_{to_name}(…)`"));
            }
            (Some((_, a)), Some((_, 1))) if a > 1 => d = d.help("pick one component, such as `.x`"),
            _ => {}
        }
        self.push(d);
        Expr::error(span)
    }

    fn assigned_pointer(&mut self, e: Expr, a: QTy, b: QTy, to: Ty, verb: &str, span: Span) -> Expr {
        let (from_name, to_name) = (self.type_name(e.ty.ty), self.type_name(to));
        // The address spaces come before the types: a pointer into another space is an error even where only the type
        // would be a warning.
        if a.space != b.space && !becomes(a.space, b.space) {
            if self.is_zero(&e) {
                return self.constant(0, to, span);
            }
            let message = format!("{}: the address spaces differ", cannot(verb, &from_name, &to_name));
            let mut d = Diagnostic::error("E0307", span, message).label(format!(
                "this points to {} memory, but {} is expected",
                space_name(a.space),
                space_name(b.space)
            ));
            if a.space == Space::Generic && becomes(b.space, a.space) {
                d = d.help(format!("a cast says that it is known to point there; `to_{}` asks", space_name(b.space)));
            } else if b.space == Space::Private && !self.opts.generic {
                d = d.help(format!("write `{}` in front of the type that the pointer points to", space_name(a.space)));
            }
            self.push(d);
            return Expr::error(span);
        }
        // `void` and types that differ in sign or inner qualifiers are mixed freely in programs; others get a message.
        let compatible = a.ty == b.ty
            || a.ty == Ty::VOID
            || b.ty == Ty::VOID
            || self.same_but_sign(a.ty, b.ty)
            || self.same_but_qualifiers(a.ty, b.ty);
        if !compatible {
            let label = format!("this points to `{}`", self.types.pointee_name(a, &self.session.names));
            // A pointer to a pointer into another space would be followed into the wrong memory: that stays an error.
            let d = if self.same_spaces_below(a.ty, b.ty) {
                // Programs do it, and other compilers let them.
                let message = format!("`{from_name}` is used as `{to_name}` without a cast");
                Diagnostic::warning("W0303", span, message)
            } else {
                Diagnostic::error("E0303", span, cannot(verb, &from_name, &to_name))
            };
            let failed = d.severity == Severity::Error;
            self.push(d.label(label).help("a cast says that the memory is to be seen as another type"));
            if failed {
                return Expr::error(span);
            }
        }
        // Constant memory is const, whether it is written or not.
        let lost = a.is_const && !b.is_const && b.space != Space::Constant;
        if lost || (a.is_volatile && !b.is_volatile) {
            let word = if lost { "const" } else { "volatile" };
            let message = format!("`{word}` is lost when `{from_name}` becomes `{to_name}`");
            self.push(Diagnostic::warning("W0306", span, message));
        }
        Expr::value(ExprKind::PtrCast(Box::new(e)), to, span)
    }

    /// Whether pointers of pointers agree on the memory that they lead to.
    fn same_spaces_below(&self, a: Ty, b: Ty) -> bool {
        match (self.types.pointee(a), self.types.pointee(b)) {
            (Some(a), Some(b)) => a.space == b.space && self.same_spaces_below(a.ty, b.ty),
            (None, None) => true,
            _ => false,
        }
    }

    /// `int` and `uint`, and the like: pointers to them are often mixed.
    fn same_but_sign(&self, a: Ty, b: Ty) -> bool {
        match (self.types.numeric(a), self.types.numeric(b)) {
            (Some((x, n)), Some((y, m))) => n == m && !x.is_float() && !y.is_float() && x.bits() == y.bits(),
            _ => false,
        }
    }

    fn same_but_qualifiers(&self, a: Ty, b: Ty) -> bool {
        match (self.types.kind(a), self.types.kind(b)) {
            _ if a == b => true,
            (TyKind::Pointer(x), TyKind::Pointer(y)) => x.space == y.space && self.same_but_qualifiers(x.ty, y.ty),
            (TyKind::Array(x, n), TyKind::Array(y, m)) => {
                (n == m || n.is_none() || m.is_none()) && self.same_but_qualifiers(x.ty, y.ty)
            }
            _ => false,
        }
    }

    /// A cast.
    pub(super) fn cast(&mut self, e: Expr, to: Ty, span: Span) -> Expr {
        if to == Ty::VOID {
            // The value is dropped, whatever it is.
            if e.is_error() {
                return Expr::error(span);
            }
            return Expr {
                span,
                ..Expr::value(
                    ExprKind::Comma(Box::new(e), Box::new(Expr::value(ExprKind::Const(smallvec![0]), Ty::VOID, span))),
                    Ty::VOID,
                    span,
                )
            };
        }
        let e = self.rvalue(e);
        let from = e.ty.ty;
        if e.is_error() || to == Ty::ERROR {
            return Expr::error(span);
        }
        if from == to {
            return Expr { span, ..e };
        }
        if !self.opts.fp16 && matches!(self.types.kind(to), TyKind::Scalar(Elem::F16) | TyKind::Vector(Elem::F16, _)) {
            self.no_half(span);
            return Expr::error(span);
        }
        let mut out = match (self.types.kind(from).clone(), self.types.kind(to).clone()) {
            (TyKind::Bool | TyKind::Scalar(_), TyKind::Bool | TyKind::Scalar(_))
            | (TyKind::Pointer(_), TyKind::Bool) => self.convert(e, to),
            (TyKind::Bool, TyKind::Vector(elem, _)) => self.truth_in_lanes(e, to, elem),
            (TyKind::Scalar(_), TyKind::Vector(..)) => self.splat(e, to),
            (TyKind::Pointer(a), TyKind::Pointer(b)) => {
                // A cast may go both ways between generic and a named space: the program vouches for where a generic
                // pointer points.
                if !overlap(a.space, b.space) {
                    let message = format!(
                        "cannot cast `{}` to `{}`: the address spaces differ",
                        self.type_name(from),
                        self.type_name(to)
                    );
                    let help = format!("cast to `{} {}*` instead", space_name(a.space), self.type_name(b.ty));
                    self.push(Diagnostic::error("E0307", span, message).help(help));
                    return Expr::error(span);
                }
                Expr::value(ExprKind::PtrCast(Box::new(e)), to, span)
            }
            (TyKind::Pointer(_), TyKind::Scalar(_)) if self.types.is_integer(to) => {
                Expr::value(ExprKind::PtrCast(Box::new(e)), to, span)
            }
            (TyKind::Bool | TyKind::Scalar(_), TyKind::Pointer(_)) if self.types.is_integer(from) => {
                Expr::value(ExprKind::PtrCast(Box::new(e)), to, span)
            }
            (TyKind::Scalar(_), TyKind::Event | TyKind::ReserveId | TyKind::Sampler) => {
                return self.assigned(e, to, "cast", span);
            }
            (a, b) => {
                let (from_name, to_name) = (self.type_name(from), self.type_name(to));
                let mut d = Diagnostic::error("E0330", span, format!("cannot cast `{from_name}` to `{to_name}`"));
                if let (TyKind::Vector(..), TyKind::Vector(..)) = (a, b) {
                    d = d.note("a cast between vector types is not allowed").help(format!(
                        "write `convert_{to_name}(…)` to convert the values, `as_{to_name}(…)` to keep the bits"
                    ));
                } else if self.types.is_vector(from) {
                    d = d.help("pick one component, such as `.x`");
                }
                self.push(d);
                return Expr::error(span);
            }
        };
        out.span = span;
        out
    }
}

/// The error, worded for the conversion that was tried.
fn cannot(verb: &str, from: &str, to: &str) -> String {
    match verb {
        "initialise" => format!("cannot initialise `{to}` with `{from}`"),
        "pass" => format!("cannot pass `{from}` for a parameter of type `{to}`"),
        "return" => format!("cannot return `{from}` from a function that returns `{to}`"),
        "give" => format!("`{from}` is not a `{to}`"),
        _ => format!("cannot assign `{from}` to `{to}`"),
    }
}
