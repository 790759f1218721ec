//! What C11 and C99 let a program ask about itself: `_Generic`, which chooses by a type, and `__func__`.

use crate::sema::Sema;
use crate::sema::tree::{Expr, ExprKind};
use crate::sema::types::Ty;
use crate::source::{Diagnostic, Span, Symbol};
use crate::syntax::ast;
use rustc_hash::FxHashMap;

impl Sema<'_> {
    /// `_Generic`. The type of the controlling expression is that of its value: without qualifiers, an array as a
    /// pointer. Only the chosen expression is analysed.
    pub(in crate::sema) fn selection(
        &mut self,
        control: &ast::Expr,
        choices: &[(Option<ast::TypeName>, ast::Expr)],
        span: Span,
    ) -> Expr {
        let control = self.reached_unless(true, |this| this.rvalue_of(control));
        if control.is_error() {
            return Expr::error(span);
        }
        let wanted = control.ty.ty;
        let mut seen: FxHashMap<Option<Ty>, Span> = FxHashMap::default();
        let (mut chosen, mut default) = (None, None);
        for (ty, value) in choices {
            let (ty, at) = match ty {
                Some(name) => (Some(self.type_of_name(name).ty.ty), name.span),
                None => (None, value.span),
            };
            if ty == Some(Ty::ERROR) {
                return Expr::error(span);
            }
            if let Some(before) = seen.insert(ty, at) {
                let what = ty.map_or("default".to_owned(), |ty| self.type_name(ty));
                let d = Diagnostic::error("E0308", at, format!("`_Generic` names `{what}` twice"));
                self.push(d.also(before, "the first one"));
                return Expr::error(span);
            }
            match ty {
                Some(ty) if ty == wanted => chosen = Some(value),
                Some(_) => {}
                None => default = Some(value),
            }
        }
        match chosen.or(default) {
            Some(value) => {
                let e = self.expr(value);
                Expr { span, ..e }
            }
            None => {
                let message = format!("`_Generic` has no choice for `{}`", self.type_name(wanted));
                self.push(Diagnostic::error("E0303", control.span, message).help("add one, or `default:`"));
                Expr::error(span)
            }
        }
    }

    /// `__func__` and its spellings: the name of the function as a string.
    pub(in crate::sema) fn function_name(&mut self, name: Symbol, span: Span) -> Option<Expr> {
        if !matches!(self.text(name), "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__") {
            return None;
        }
        // A block has no name of its own.
        let of = self.outer.first().or(self.cx.as_ref())?.name;
        let text = self.text(of).to_owned();
        let id = self.string_global(text.as_bytes());
        let ty = self.unit.globals[id.0 as usize].ty;
        Some(Expr { kind: ExprKind::Global(id), ty, lvalue: true, span })
    }
}
