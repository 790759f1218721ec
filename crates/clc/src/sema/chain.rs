//! Chains of operators that group to the left, `a + b * c + d` or `a, b, c`: walked along in a loop, because generated
//! programs have thousands of operators in one.

use super::Sema;
use super::tree::{Expr, ExprKind};
use super::types::Ty;
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{self, BinaryOp};

impl Sema<'_> {
    /// An expression with a binary operator or comma at its top.
    pub(super) fn chain(&mut self, e: &ast::Expr) -> Expr {
        let mut operators = Vec::new();
        let mut first = e;
        // The left spine, collected from the outermost operator; then it is analysed from the innermost on.
        while let ast::ExprKind::Binary { lhs, .. } | ast::ExprKind::Comma { lhs, .. } = &first.kind {
            operators.push(first);
            first = lhs;
        }
        let mut value = self.expr(first);
        for node in operators.into_iter().rev() {
            value = match &node.kind {
                ast::ExprKind::Binary { op, op_span, lhs, rhs } => {
                    self.warn_of_precedence(*op, *op_span, lhs, rhs);
                    let a = self.rvalue(value);
                    // `0 && x`: the right side never runs, so that warnings about what it does would be wrong.
                    let is_dead = match op {
                        BinaryOp::And => self.known_truth(&a) == Some(false),
                        BinaryOp::Or => self.known_truth(&a) == Some(true),
                        _ => false,
                    };
                    let b = self.reached_unless(is_dead, |this| this.rvalue_of(rhs));
                    self.binary(*op, a, b, *op_span, node.span)
                }
                ast::ExprKind::Comma { lhs, rhs } => self.comma(value, lhs.span, rhs, node.span),
                _ => value,
            };
        }
        value
    }

    fn comma(&mut self, a: Expr, at: Span, rhs: &ast::Expr, span: Span) -> Expr {
        if let ExprKind::Const(_) = a.kind
            && a.ty.ty != Ty::VOID
        {
            self.push(
                Diagnostic::warning("W0304", at, "the value left of this comma is not used")
                    .help("a vector is written `(float4)(1, 2, 3, 4)`, with its type in front"),
            );
        } else if !matches!(&a.kind, ExprKind::Comma(_, last) if matches!(last.kind, ExprKind::Const(_))) {
            // Of a list of constants the first one was reported.
            self.warn_unused(&a);
        }
        let b = self.rvalue_of(rhs);
        if self.is_operand_pipe(&b) {
            return Expr::error(span);
        }
        let ty = b.ty.ty;
        Expr::value(ExprKind::Comma(Box::new(a), Box::new(b)), ty, span)
    }
}
