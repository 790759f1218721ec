//! Values that are handles of the runtime, `queue_t` and `clk_event_t`: zero is the null handle, and two handles of one
//! type may be compared.

use crate::sema::Sema;
use crate::sema::tree::{Cc, Expr, ExprKind};
use crate::sema::types::{Ty, TyKind};
use crate::source::Span;
use crate::syntax::ast::BinaryOp;
use cloom_ir::IntCc;

impl Sema<'_> {
    fn is_handle(&self, ty: Ty) -> bool {
        matches!(self.types.kind(ty), TyKind::Queue | TyKind::ClkEvent)
    }

    /// `==` or `!=` of handles; `None` if it is another operator or if other types are compared.
    pub(in crate::sema) fn compared_handles(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Option<(IntCc, Ty)> {
        let cc = match op {
            BinaryOp::Eq => IntCc::Eq,
            BinaryOp::Ne => IntCc::Ne,
            _ => return None,
        };
        // One side decides the type; the other is a handle of it or a null handle.
        let ty = [a, b].map(|e| e.ty.ty).into_iter().find(|&ty| self.is_handle(ty))?;
        [a, b].into_iter().all(|e| e.ty.ty == ty || self.is_null_handle(e, ty)).then_some((cc, ty))
    }

    /// The comparison that [`Sema::compared_handles`] found.
    pub(in crate::sema) fn compare_handles(&mut self, cc: IntCc, ty: Ty, a: Expr, b: Expr, span: Span) -> Expr {
        let [a, b] = [a, b].map(|e| if e.ty.ty == ty { e } else { self.constant(0, ty, e.span) });
        Expr::value(ExprKind::Compare(Cc::Int(cc), Box::new(a), Box::new(b)), Ty::INT, span)
    }

    /// Whether a value is an integer zero where a handle is wanted.
    pub(in crate::sema) fn is_null_handle(&mut self, e: &Expr, to: Ty) -> bool {
        self.is_handle(to) && self.types.is_integer(e.ty.ty) && self.is_zero(e)
    }
}
