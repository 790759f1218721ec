//! Warnings about values that are computed and not used: `a == b;`, `x + 1;`, `get_global_id(0);`.
//!
//! In comes the typed expression of a statement, of the step of a `for`, or on the left of a comma. The rules are those
//! of `-Wunused-value`: a warning unless the expression assigns, calls a function with effects, reads something
//! `volatile`, or is cast to `void`; of the two sides of `&&`, `||` and `?:`, one with an effect is enough, because
//! they are used like an `if`. Casts and conversions are looked through, as macros often end in one.

use crate::sema::Sema;
use crate::sema::tree::{Cc, Expr, ExprKind, Special};
use crate::sema::types::Ty;
use crate::source::Diagnostic;
use cloom_builtins::{Lower, Sig};
use cloom_ir::{FloatCc, IntCc};

impl Sema<'_> {
    /// Warns if the value is not used and nothing else happens.
    pub(in crate::sema) fn warn_unused(&mut self, e: &Expr) {
        if e.is_error() || e.ty.ty == Ty::VOID || has_effect(e) {
            return;
        }
        let mut last = e;
        // The left side was looked at when the comma was.
        while let ExprKind::Comma(_, right) = &last.kind {
            last = right;
        }
        let d = |what: &str| Diagnostic::warning("W0304", last.span, format!("the result of {what} is not used"));
        let d = match &last.kind {
            ExprKind::Compare(cc, ..) => match cc {
                Cc::Int(IntCc::Eq) | Cc::Float(FloatCc::Oeq) => {
                    d("this comparison").help("an assignment is written with one `=`")
                }
                _ => d("this comparison"),
            },
            ExprKind::Builtin(name, ..) => d(&format!("`{name}`")),
            ExprKind::Block(..) => {
                let d = Diagnostic::warning("W0304", last.span, "this block is neither called nor enqueued");
                return self.push(d.help("parentheses after it call it"));
            }
            _ => d("this expression"),
        };
        self.push(d.help("write `(void)` in front of it if that is meant"));
    }
}

/// Whether evaluating an expression does something besides giving its value.
fn has_effect(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Const(_)
        | ExprKind::Block(..)
        | ExprKind::Addr(_)
        | ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::Fma(_)
        | ExprKind::Compare(..)
        | ExprKind::Not(_)
        | ExprKind::PtrAdd(..)
        | ExprKind::PtrDiff(..) => false,
        ExprKind::Local(_)
        | ExprKind::Global(_)
        | ExprKind::Deref(_)
        | ExprKind::Field(..)
        | ExprKind::Swizzle(..)
        | ExprKind::Lane(..) => e.ty.is_volatile,
        ExprKind::Load(a)
        | ExprKind::Convert(a)
        | ExprKind::ConvertExact(a, ..)
        | ExprKind::PtrCast(a)
        | ExprKind::Bits(a)
        | ExprKind::Splat(a) => has_effect(a),
        ExprKind::Comma(_, last) => has_effect(last),
        ExprKind::Logic { lhs, rhs, .. } => has_effect(lhs) || has_effect(rhs),
        ExprKind::Cond(args) | ExprKind::Select(args) => args[1..].iter().any(has_effect),
        ExprKind::Vector(parts) => parts.iter().any(has_effect),
        ExprKind::Builtin(name, sig, _) => !is_pure(name, sig),
        ExprKind::Special(which, _) => !matches!(
            which,
            Special::Vload { .. }
                | Special::VloadHalf { .. }
                | Special::Shuffle
                | Special::Query(_)
                | Special::ToSpace(_)
                | Special::GetFence
        ),
        ExprKind::Error
        | ExprKind::FuncName(_)
        | ExprKind::Statements(..)
        | ExprKind::Assign(..)
        | ExprKind::Update { .. }
        | ExprKind::Old
        | ExprKind::Compound(..)
        | ExprKind::Call(..) => true,
    }
}

/// Whether a built-in function only computes: it has no pointer to write through and other work-items take no part in
/// it.
fn is_pure(name: &str, sig: &Sig) -> bool {
    use cloom_builtins::{Special, Ty, WorkItem};
    let of_group = ["sub_group_", "work_group_"].iter().any(|p| name.starts_with(p));
    let waits = of_group || matches!(sig.lower, Lower::Special(Special::WorkItem(WorkItem::Barrier | WorkItem::Fence)));
    !waits && !sig.params.iter().any(|p| matches!(p, Ty::Ptr(..)))
}
