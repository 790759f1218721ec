//! Warnings about code that is valid and seldom meant: empty bodies, `i & 1 == 0`, constant indices outside of an
//! array, constant expressions that overflow, constants that change when they are converted.
//!
//! In come syntax nodes or typed nodes, as the analysis has them at that point. The rules are those of Clang's
//! warnings `-Wempty-body`, `-Wparentheses`, `-Warray-bounds`, `-Winteger-overflow` and `-Wconstant-conversion`, which
//! are on by default there. A check looks at a node and its direct operands, so that long chains stay linear.

use crate::sema::Sema;
use crate::sema::constant::CVal;
use crate::sema::tree::{Expr, ExprKind};
use crate::sema::types::{Ty, TyKind, elem_signed, ir_scalar};
use crate::source::{Diagnostic, ExpansionId, Span};
use crate::syntax::ast::{self, BinaryOp};
use cloom_ir::{BinOp, eval};
use smallvec::smallvec;

impl Sema<'_> {
    /// Warns about `if (x);`.
    pub(in crate::sema) fn warn_of_empty_branch(&mut self, cond: &ast::Expr, then: &ast::Stmt) {
        if self.is_empty_body(cond.span, then) {
            self.empty_body("if", then.span);
        }
    }

    /// Warns about a loop with a `;` as its body, if `next` looks like the body that was meant: it is in braces or
    /// indented deeper than the loop.
    pub(in crate::sema) fn warn_of_empty_loop(&mut self, s: &ast::Stmt, next: Option<&ast::Stmt>) {
        let (word, head, body) = match &s.kind {
            ast::StmtKind::While { cond, body, .. } => ("while", cond.span, body),
            ast::StmtKind::For { init, cond, step, body, .. } => {
                let parts = [step.as_ref().map(|e| e.span), cond.as_ref().map(|e| e.span), Some(init.span)];
                ("for", parts.into_iter().flatten().next().unwrap_or(s.span), body)
            }
            _ => return,
        };
        let Some(next) = next.filter(|_| self.is_empty_body(head, body)) else { return };
        let map = &self.session.sources;
        let (line, column) = map.line_col(next.span);
        let (own_line, own_column) = map.line_col(s.span);
        // In a macro or another file, columns say nothing about what was meant.
        let same_text = next.span.file == s.span.file && next.span.expansion == ExpansionId::NONE;
        // Braces, or deeper indentation on a later line: a body that the `;` has cut off from its loop.
        let is_block = matches!(next.kind, ast::StmtKind::Block(_));
        if same_text && (is_block || (line > own_line && column > own_column)) {
            self.empty_body(word, body.span);
        }
    }

    /// Whether a body is a `;` on the line on which the head of its statement ends, and no macro wrote it.
    fn is_empty_body(&self, head: Span, body: &ast::Stmt) -> bool {
        if !matches!(body.kind, ast::StmtKind::Empty) || body.span.expansion != ExpansionId::NONE {
            return false;
        }
        let map = &self.session.sources;
        head.file == body.span.file && map.line_start(head.file, head.hi) == map.line_start(head.file, body.span.lo)
    }

    fn empty_body(&mut self, word: &str, span: Span) {
        self.push(
            Diagnostic::warning("W0311", span, format!("the `{word}` statement has an empty body"))
                .label("the body is this `;`")
                .help("remove the `;`, or put it on a line of its own if that is meant"),
        );
    }

    /// Warns about `i & 1 == 0`, which is `i & (1 == 0)`.
    pub(in crate::sema) fn warn_of_precedence(
        &mut self,
        op: BinaryOp,
        op_span: Span,
        lhs: &ast::Expr,
        rhs: &ast::Expr,
    ) {
        if !is_bitwise(op) {
            return;
        }
        let inner = |e: &ast::Expr| match e.kind {
            ast::ExprKind::Binary { op, .. } => Some(op),
            _ => None,
        };
        let (left, right) = (inner(lhs), inner(rhs));
        let compares = |op: Option<BinaryOp>| op.is_some_and(is_comparison);
        let combines = |op: Option<BinaryOp>| op.is_some_and(is_bitwise);
        // `a == b & c == d` is of truth values, and so may be the other side of a chain.
        let (inner, comparison) = match (compares(left), compares(right)) {
            (true, false) if !combines(right) => (left, lhs),
            (false, true) if !combines(left) => (right, rhs),
            _ => return,
        };
        let (op, inner) = (op.text(), inner.map_or("", BinaryOp::text));
        self.push(
            Diagnostic::warning("W0312", op_span, format!("`{op}` binds less tightly than `{inner}`"))
                .also(comparison.span, "this is compared first")
                .help(format!(
                    "put parentheses around the operands of `{op}`, or around the comparison if it is meant"
                )),
        );
    }

    /// Warns about a constant index outside of the array that is indexed. `one_past`: the address of the element after
    /// the last one is allowed.
    pub(in crate::sema) fn warn_of_bounds(&mut self, array: &Expr, index: &Expr, one_past: bool) {
        let ExprKind::Addr(object) = &array.kind else { return };
        let TyKind::Array(_, Some(n)) = *self.types.kind(object.ty.ty) else { return };
        let Some(i) = self.literal(index).filter(|_| self.dead == 0) else { return };
        let within = u64::try_from(i).is_ok_and(|i| i < n || (one_past && i == n));
        if within || self.is_trailing_member(object) {
            return;
        }
        let message = format!("index {i} is outside of an array of {n}");
        let last = n.checked_sub(1).map_or("the array has no elements".into(), |n| format!("the last index is {n}"));
        self.push(Diagnostic::warning("W0313", index.span, message).label(last));
    }

    /// Whether an object is the last member of a structure: programs allocate more elements than such an array has.
    fn is_trailing_member(&self, object: &Expr) -> bool {
        let ExprKind::Field(base, offset) = &object.kind else { return false };
        let fields = self.types.record(base.ty.ty).and_then(|r| r.fields.as_ref());
        fields.and_then(|f| f.last()).is_some_and(|last| last.offset == *offset)
    }

    /// The value of an integer constant, or of a variable that is one, without looking deeper.
    fn literal(&self, e: &Expr) -> Option<i64> {
        let (elem, lanes) = self.types.numeric(e.ty.ty)?;
        if elem.is_float() || lanes != 1 {
            return None;
        }
        let bits = match &e.kind {
            ExprKind::Const(lanes) => *lanes.first()?,
            ExprKind::Load(object) => match object.kind {
                ExprKind::Local(id) => self.cx.as_ref()?.locals.get(id.0 as usize)?.constant?,
                _ => return None,
            },
            _ => return None,
        };
        Some(if elem_signed(elem) { eval::signed(ir_scalar(elem), bits) } else { bits as i64 })
    }

    /// The sum, difference or product of two integer constants as a constant; `None` if they are none, or if it
    /// overflows, with a warning.
    pub(in crate::sema) fn folded(&mut self, op: BinOp, a: &Expr, b: &Expr, ty: Ty, span: Span) -> Option<Expr> {
        let (elem, _) = self.types.numeric(ty).filter(|(e, n)| !e.is_float() && *n == 1)?;
        let (x, y) = (self.folded_operand(a)?, self.folded_operand(b)?);
        let scalar = ir_scalar(elem);
        let value = |bits| match elem_signed(elem) {
            true => i128::from(eval::signed(scalar, bits)),
            false => i128::from(bits),
        };
        // 128 bits hold the exact value. Only a product of two large `ulong` values saturates, and unsigned overflow is
        // not reported.
        let exact = match op {
            BinOp::Add => value(x) + value(y),
            BinOp::Sub => value(x) - value(y),
            BinOp::Mul => value(x).saturating_mul(value(y)),
            _ => return None,
        };
        let bits = eval::binary(op, scalar, x, y);
        if elem_signed(elem) && value(bits) != exact {
            let name = self.type_name(ty);
            let message = format!("the constant expression overflows: its value would be {exact}");
            self.push(
                Diagnostic::warning("W0314", span, message)
                    .label(format!("as `{name}` it is {}", value(bits)))
                    .help("give a constant in it the suffix `L` or `u` if a larger type is meant"),
            );
            return None;
        }
        Some(Expr::value(ExprKind::Const(smallvec![bits]), ty, span))
    }

    /// The bits of a constant, or of one that was converted to the type of the other operand.
    fn folded_operand(&mut self, e: &Expr) -> Option<u64> {
        let is_constant = match &e.kind {
            ExprKind::Const(_) => true,
            ExprKind::Convert(inner) => matches!(inner.kind, ExprKind::Const(_)),
            _ => false,
        };
        if !is_constant {
            return None;
        }
        match self.eval(e) {
            Ok(CVal::Lanes(lanes)) => lanes.first().copied(),
            _ => None,
        }
    }

    /// Warns about an integer constant that an implicit conversion to a smaller integer changes. A negative number may
    /// become one without a sign, as in `uchar c = -1`, if it has no more bits.
    pub(in crate::sema) fn warn_of_changed_constant(&mut self, e: &Expr, to: Ty) {
        let (Some(value), Some((target, _))) = (self.literal(e), self.types.numeric(to)) else { return };
        let signed_source = self.types.numeric(e.ty.ty).is_some_and(|(from, _)| elem_signed(from));
        if target.is_float() || to == Ty::BOOL || self.dead > 0 || !matches!(e.kind, ExprKind::Const(_)) {
            return;
        }
        let scalar = ir_scalar(target);
        let bits = value as u64 & scalar.mask();
        let becomes = if elem_signed(target) { eval::signed(scalar, bits) } else { bits as i64 };
        let width = target.bits();
        // The bits that the value takes: of a negative one, those of its complement and the sign.
        let needed = match value {
            0.. => 64 - value.leading_zeros(),
            _ if signed_source => 65 - (!value).leading_zeros(),
            // An `ulong` beyond the range of `long`.
            _ => 64,
        };
        let sign_is_set = elem_signed(target) && signed_source && value >= 0 && needed == width;
        // A mask, as `char c = 0xff`, is meant.
        let is_mask = || self.session.sources.text(e.span).strip_prefix('0').is_some_and(|rest| !rest.is_empty());
        if becomes == value || !(needed > width || (sign_is_set && !is_mask())) {
            return;
        }
        let message = format!("{value} does not fit into `{}`", self.type_name(to));
        let help = "a cast says that this is meant";
        self.push(Diagnostic::warning("W0315", e.span, message).label(format!("it becomes {becomes}")).help(help));
    }

    /// The truth of a condition, as far as it is constant.
    pub(in crate::sema) fn known_truth(&mut self, cond: &Expr) -> Option<bool> {
        match &cond.kind {
            // The operands before the last were looked at when the chain had come to them.
            ExprKind::Logic { and, rhs, .. } => self.truth(rhs).ok().filter(|truth| truth != and),
            // A chain of vectors would be evaluated once for each operator.
            _ if cond.ty.ty != Ty::INT && cond.ty.ty != Ty::BOOL => None,
            _ => self.truth(cond).ok(),
        }
    }

    /// Analyses code that is never reached if `is_dead`.
    pub(in crate::sema) fn reached_unless<T>(&mut self, is_dead: bool, analyse: impl FnOnce(&mut Self) -> T) -> T {
        self.dead += u32::from(is_dead);
        let result = analyse(self);
        self.dead -= u32::from(is_dead);
        result
    }
}

fn is_bitwise(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor)
}

fn is_comparison(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Gt | BinaryOp::Le | BinaryOp::Ge)
}
