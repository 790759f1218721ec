//! `__builtin_add_overflow` and its like: the result goes through a pointer, and the value of the call says whether it
//! is wrong.
//!
//! In come two integers and the pointer. The functions of one type compare the wrapped sum or difference with the
//! saturated one, and the high half of a product with the sign of the low half. The generic functions take integers of
//! any types; if those differ, none may have 64 bits, because the exact result is computed in a `long`.

use crate::sema::Sema;
use crate::sema::builtins::clang_builtins::after;
use crate::sema::tree::{Expr, ExprKind};
use crate::sema::types::Ty;
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::BinaryOp;
use cloom_builtins::Elem;

impl Sema<'_> {
    /// A call; `ty` is the type that the name of the function says.
    pub(in crate::sema) fn overflow(
        &mut self,
        op: BinaryOp,
        ty: Option<Ty>,
        values: Vec<Expr>,
        at: Span,
        span: Span,
    ) -> Option<Expr> {
        let [a, b, p] = <[Expr; 3]>::try_from(values).ok()?;
        let to = self.pointer_arg(&p, true)?;
        let ty = self.type_of_operation(ty, [&a, &b], to.ty, &p, at)?;
        let (elem, _) = self.types.numeric(ty)?;
        let [a, b] = <[Expr; 2]>::try_from(self.all_passed(vec![a, b], ty)?).ok()?;
        let ((first, a), (second, b)) = (self.kept(a, span)?, self.kept(b, span)?);

        // Unsigned numbers wrap.
        let unsigned = self.types.value(Elem::int(elem.bits(), false), 1);
        let operands = [a, b].map(|id| {
            let e = self.read(id, ty, span);
            self.convert(e, unsigned)
        });
        let [x, y] = operands;
        let wrapped = self.binary(op, x, y, at, span);
        let wrapped = self.convert(wrapped, ty);
        // Operands and result are read several times, so that each is kept in a variable.
        let (third, result) = self.kept(wrapped, span)?;

        let (x, y, r) = (self.read(a, ty, span), self.read(b, ty, span), self.read(result, ty, span));
        let expected = match op {
            // The result is narrower than the `long` that the operation was done in: it is right if narrowing and
            // widening give it back.
            _ if to.ty != ty => {
                let (r, narrow) = (self.read(result, ty, span), to.ty);
                let r = self.convert(r, narrow);
                self.convert(r, ty)
            }
            BinaryOp::Add => self.table_call("add_sat", vec![x, y], at, span),
            BinaryOp::Sub => self.table_call("sub_sat", vec![x, y], at, span),
            _ => self.table_call("mul_hi", vec![x, y], at, span),
        };
        let actual = match op {
            BinaryOp::Mul if to.ty == ty && crate::sema::types::elem_signed(elem) => {
                let bits = self.constant(u64::from(elem.bits() - 1), Ty::INT, span);
                let sign = self.binary(BinaryOp::Shr, r, bits, at, span);
                self.convert(sign, ty)
            }
            BinaryOp::Mul if to.ty == ty => self.constant(0, ty, span),
            _ => r,
        };
        let is_wrong = self.binary(BinaryOp::Ne, actual, expected, at, span);
        let is_wrong = self.convert(is_wrong, Ty::BOOL);

        let object = Expr { kind: ExprKind::Deref(Box::new(p)), ty: to, lvalue: true, span };
        if !self.modifiable(&object) {
            return None;
        }
        let value = self.read(result, ty, span);
        let value = self.convert(value, to.ty);
        let store = Expr::value(ExprKind::Assign(Box::new(object), Box::new(value)), to.ty, span);
        // The list is put in front one by one: the operands come first, then the result, the store, and the answer as
        // the value.
        Some([store, third, second, first].into_iter().fold(is_wrong, |e, before| after(before, e)))
    }

    /// The type in which the operation is done.
    fn type_of_operation(&mut self, named: Option<Ty>, operands: [&Expr; 2], to: Ty, p: &Expr, at: Span) -> Option<Ty> {
        if let Some(ty) = named {
            if to != ty {
                let wanted = format!("a pointer to `{}`", self.type_name(ty));
                self.bad_argument(p, &wanted);
                return None;
            }
            return Some(ty);
        }
        let mut widest = 0;
        for (ty, e) in [(operands[0].ty.ty, operands[0]), (operands[1].ty.ty, operands[1]), (to, p)] {
            let integer = self.types.numeric(ty).filter(|(e, n)| !e.is_float() && *n == 1 && ty != Ty::BOOL);
            let Some((elem, _)) = integer else {
                self.bad_argument(e, if std::ptr::eq(e, p) { "a pointer to an integer" } else { "an integer" });
                return None;
            };
            widest = widest.max(elem.bits());
        }
        if operands.iter().all(|e| e.ty.ty == to) {
            return Some(to);
        }
        if widest > 32 {
            let d = Diagnostic::error("E0308", at, "the integers have different types, one of them of 64 bits");
            self.push(d.help("convert them to the type of the result"));
            return None;
        }
        Some(Ty::LONG)
    }
}
