//! Statements: from syntax to the typed tree, with jumps resolved to labels and cases sorted and checked for overlap.

use super::tree::{Expr, ExprKind, LabelId, Special, Stmt, StmtKind};
use super::types::{Ty, elem_signed, ir_scalar};
use super::{Label, Sema, SwitchCx};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{self, Ident, StmtLabel};
use cloom_ir::eval;
use smallvec::smallvec;

impl Sema<'_> {
    pub(super) fn stmts(&mut self, list: &[ast::Stmt]) -> Vec<Stmt> {
        let mut out = Vec::new();
        for (i, s) in list.iter().enumerate() {
            self.stmt(s, &mut out);
            // After the statement, because the next one tells whether the `;` was meant.
            self.warn_of_empty_loop(s, list.get(i + 1));
        }
        out
    }

    fn block(&mut self, list: &[ast::Stmt]) -> Vec<Stmt> {
        self.scopes.open();
        let contract = self.contract;
        let out = self.stmts(list);
        self.contract = contract;
        self.scopes.close();
        out
    }

    /// `({ … })`. Nothing outside may jump into it: half an expression would have been skipped.
    pub(super) fn statements_expr(&mut self, block: &ast::Block, span: Span) -> Expr {
        let Some(cx) = &mut self.cx else {
            self.error("E0209", span, "statements in an expression are possible only inside of functions");
            return Expr::error(span);
        };
        // A `case` in the braces must not belong to a `switch` around them.
        let switches = std::mem::take(&mut cx.switches);
        cx.in_expression += 1;
        self.scopes.open();
        let contract = self.contract;
        // The last statement gives the value if it is an expression; otherwise there is none.
        let (list, last) = match block.stmts.split_last() {
            Some((ast::Stmt { kind: ast::StmtKind::Expr(e), .. }, before)) => (before, Some(e)),
            _ => (&block.stmts[..], None),
        };
        let stmts = self.stmts(list);
        let value = match last {
            Some(e) => self.rvalue_or_void(e),
            None => Expr::value(ExprKind::Const(smallvec![0]), Ty::VOID, span),
        };
        self.contract = contract;
        self.scopes.close();
        if let Some(cx) = &mut self.cx {
            cx.switches = switches;
            cx.in_expression -= 1;
        }
        if value.is_error() {
            return value;
        }
        let ty = value.ty.ty;
        Expr::value(ExprKind::Statements(stmts, Box::new(value)), ty, span)
    }

    fn rvalue_or_void(&mut self, e: &ast::Expr) -> Expr {
        let e = self.expr(e);
        if e.ty.ty == Ty::VOID { e } else { self.rvalue(e) }
    }

    /// A statement that is a scope of its own, as bodies of loops are.
    fn scoped(&mut self, s: &ast::Stmt) -> Box<Stmt> {
        self.scopes.open();
        let mut out = Vec::new();
        self.stmt(s, &mut out);
        self.scopes.close();
        // One statement needs no block around it: the scope is only one of names, and the names are resolved.
        let kind = match out.len() {
            1 => return out.pop().map_or_else(|| Box::new(nothing(s.span)), Box::new),
            _ => StmtKind::Block(out),
        };
        Box::new(Stmt { kind, span: s.span })
    }

    fn loop_body(&mut self, s: &ast::Stmt) -> Box<Stmt> {
        if let Some(cx) = &mut self.cx {
            // `continue` needs a loop, `break` a loop or a `switch`: two counts.
            cx.loops += 1;
            cx.breakable += 1;
        }
        let body = self.scoped(s);
        if let Some(cx) = &mut self.cx {
            cx.loops -= 1;
            cx.breakable -= 1;
        }
        body
    }

    fn stmt(&mut self, s: &ast::Stmt, out: &mut Vec<Stmt>) {
        let span = s.span;
        if self.session.diags.is_full() {
            return;
        }
        let kind = match &s.kind {
            ast::StmtKind::Block(b) => StmtKind::Block(self.block(&b.stmts)),
            ast::StmtKind::Declaration(d) => {
                out.extend(self.declaration(d));
                return;
            }
            ast::StmtKind::StaticAssert(a) => return self.static_assert(a),
            ast::StmtKind::Expr(e) => {
                let value = self.expr(e);
                if let ExprKind::FuncName(_) = value.kind {
                    // `f;` names a function without a call: `rvalue` reports it.
                    self.rvalue(value);
                    return;
                }
                if self.is_left_out(&value) {
                    return;
                }
                self.warn_unused(&value);
                StmtKind::Expr(value)
            }
            ast::StmtKind::Empty | ast::StmtKind::Error => return,
            ast::StmtKind::If { cond, then, els } => {
                let head = cond;
                let cond = self.condition(head);
                self.warn_of_empty_branch(head, then);
                let known = self.known_truth(&cond);
                // In a branch that a constant condition rules out, warnings about values that run would be wrong.
                let then = self.reached_unless(known == Some(false), |this| this.scoped(then));
                let els = els.as_ref().map(|e| self.reached_unless(known == Some(true), |this| this.scoped(e)));
                StmtKind::If(cond, then, els)
            }
            ast::StmtKind::Switch { value, body } => self.switch(value, body),
            ast::StmtKind::While { cond, body, .. } => {
                let cond = self.condition(cond);
                let body = self.loop_body(body);
                StmtKind::Loop { init: Vec::new(), cond: Some(cond), cond_last: false, step: None, body }
            }
            ast::StmtKind::DoWhile { body, cond, .. } => {
                let body = self.loop_body(body);
                let cond = self.condition(cond);
                StmtKind::Loop { init: Vec::new(), cond: Some(cond), cond_last: true, step: None, body }
            }
            ast::StmtKind::For { init, cond, step, body, .. } => {
                self.scopes.open();
                let mut first = Vec::new();
                self.stmt(init, &mut first);
                let cond = cond.as_ref().map(|c| self.condition(c));
                // Analysed before the body, as it is written, so that messages come in the order of the source.
                let step = step.as_ref().map(|s| self.expr(s));
                step.iter().for_each(|s| self.warn_unused(s));
                let body = self.loop_body(body);
                self.scopes.close();
                StmtKind::Loop { init: first, cond, cond_last: false, step, body }
            }
            ast::StmtKind::Goto(name) => {
                let Some(id) = self.label(*name, false) else { return };
                StmtKind::Goto(id)
            }
            ast::StmtKind::Break => {
                if self.cx.as_ref().is_none_or(|cx| cx.breakable == 0) {
                    return self.error("E0321", span, "`break` outside of a loop or `switch`");
                }
                StmtKind::Break
            }
            ast::StmtKind::Continue => {
                if self.cx.as_ref().is_none_or(|cx| cx.loops == 0) {
                    return self.error("E0321", span, "`continue` outside of a loop");
                }
                StmtKind::Continue
            }
            ast::StmtKind::Return(value) => self.return_stmt(value.as_ref(), span),
            ast::StmtKind::Labelled { labels, body } => {
                for l in labels {
                    if let Some(id) = self.stmt_label(l) {
                        out.push(Stmt { kind: StmtKind::Label(id), span });
                    }
                }
                return self.stmt(body, out);
            }
            ast::StmtKind::Pragma(p) => return self.pragma(p),
        };
        out.push(Stmt { kind, span });
    }

    fn new_label(&mut self) -> LabelId {
        let Some(cx) = &mut self.cx else { return LabelId(0) };
        cx.label_count += 1;
        LabelId(cx.label_count - 1)
    }

    fn label(&mut self, name: Ident, define: bool) -> Option<LabelId> {
        // A `goto` may come before its label: the first of the two makes the number.
        let known = self.cx.as_ref()?.labels.get(&name.name).map(|l| (l.id, l.defined));
        let id = match known {
            Some((id, _)) => id,
            None => self.new_label(),
        };
        if let (true, Some((_, Some(before)))) = (define, known) {
            let message = format!("label `{}` is there twice", self.text(name.name));
            self.push(Diagnostic::error("E0323", name.span, message).also(before, "the first one"));
            return None;
        }
        if define && self.cx.as_ref().is_some_and(|cx| cx.in_expression > 0) {
            self.error("E0323", name.span, "a label among statements in an expression");
            return None;
        }
        let cx = self.cx.as_mut()?;
        let entry = cx.labels.entry(name.name).or_insert(Label { id, defined: None, used: None });
        match define {
            true => entry.defined = Some(name.span),
            false => entry.used = entry.used.or(Some(name.span)),
        }
        Some(id)
    }

    fn switch(&mut self, value: &ast::Expr, body: &ast::Stmt) -> StmtKind {
        let value = self.rvalue_of(value);
        // As C has it: the cases are compared in the promoted type.
        let mut value = self.promote(value);
        if !value.is_error() && !self.types.is_integer(value.ty.ty) {
            let message = format!("`switch` needs an integer, not a `{}`", self.type_name(value.ty.ty));
            self.error("E0304", value.span, message);
            value = Expr::error(value.span);
        }
        let ty = value.ty.ty;
        if let Some(cx) = &mut self.cx {
            cx.switches.push(SwitchCx { ty, cases: Vec::new(), default: None });
            cx.breakable += 1;
        }
        let body = self.scoped(body);
        let done = self.cx.as_mut().and_then(|cx| {
            cx.breakable -= 1;
            cx.switches.pop()
        });
        let Some(done) = done else { return StmtKind::Block(Vec::new()) };
        let cases = self.check_cases(&done);
        StmtKind::Switch { value, cases, default: done.default.map(|d| d.0), body }
    }

    /// Cases in order of their values, each value once.
    fn check_cases(&mut self, s: &SwitchCx) -> Vec<(u64, u64, LabelId)> {
        let scalar = self.types.numeric(s.ty).map_or(cloom_ir::Scalar::I32, |(e, _)| ir_scalar(e));
        let signed = self.types.numeric(s.ty).is_none_or(|(e, _)| elem_signed(e));
        // 128 bits hold the values of `long` and of `ulong`.
        let key = |bits: u64| match signed {
            true => i128::from(eval::signed(scalar, bits)),
            false => i128::from(bits),
        };
        let mut sorted: Vec<&(u64, u64, LabelId, Span)> = s.cases.iter().collect();
        sorted.sort_by_key(|c| key(c.0));
        for pair in sorted.windows(2) {
            // The cases are sorted by their first values: if any two overlap, two neighbours do.
            if key(pair[0].1) >= key(pair[1].0) {
                let (first, second) = match pair[0].3.lo <= pair[1].3.lo {
                    true => (pair[0], pair[1]),
                    false => (pair[1], pair[0]),
                };
                let message = format!("case {} is there twice", key(second.0));
                self.push(Diagnostic::error("E0322", second.3, message).also(first.3, "the first one"));
            }
        }
        sorted.iter().map(|c| (c.0, c.1, c.2)).collect()
    }

    fn stmt_label(&mut self, label: &StmtLabel) -> Option<LabelId> {
        match label {
            StmtLabel::Name(name) => self.label(*name, true),
            StmtLabel::Default(span) => {
                let id = self.new_label();
                let Some(s) = self.cx.as_mut().and_then(|cx| cx.switches.last_mut()) else {
                    self.error("E0321", *span, "`default` outside of a `switch`");
                    return None;
                };
                if let Some((_, before)) = s.default {
                    self.push(
                        Diagnostic::error("E0322", *span, "a second `default` in one `switch`")
                            .also(before, "the first one"),
                    );
                    return None;
                }
                s.default = Some((id, *span));
                Some(id)
            }
            StmtLabel::Case { value, end, span } => {
                let Some(ty) = self.cx.as_ref().and_then(|cx| cx.switches.last()).map(|s| s.ty) else {
                    self.error("E0321", *span, "`case` outside of a `switch`");
                    return None;
                };
                let low = self.case_value(value, ty)?;
                // `case 1 ... 5` of GNU C.
                let high = match end {
                    Some(e) => self.case_value(e, ty)?,
                    None => low,
                };
                let signed = self.types.numeric(ty).is_none_or(|(e, _)| elem_signed(e));
                let scalar = self.types.numeric(ty).map_or(cloom_ir::Scalar::I32, |(e, _)| ir_scalar(e));
                let empty = match signed {
                    true => eval::signed(scalar, low) > eval::signed(scalar, high),
                    false => low > high,
                };
                if empty {
                    self.error("E0322", *span, "the range of the case is empty");
                    return None;
                }
                let id = self.new_label();
                let s = self.cx.as_mut().and_then(|cx| cx.switches.last_mut())?;
                s.cases.push((low, high, id, *span));
                Some(id)
            }
        }
    }

    fn case_value(&mut self, e: &ast::Expr, ty: Ty) -> Option<u64> {
        let value = self.rvalue_of(e);
        if self.is_left_out(&value) || ty == Ty::ERROR {
            return None;
        }
        if !self.types.is_integer(value.ty.ty) {
            let message = format!("a case must be an integer, not a `{}`", self.type_name(value.ty.ty));
            self.error("E0304", e.span, message);
            return None;
        }
        // The case gets the promoted type of the `switch`, whose bits are compared.
        let value = self.convert(value, ty);
        match self.eval_int(&value) {
            Some(n) => Some(n as u64 & super::constant::mask(&self.types, ty)),
            None => {
                self.not_constant(e.span, "a case");
                None
            }
        }
    }

    fn return_stmt(&mut self, value: Option<&ast::Expr>, span: Span) -> StmtKind {
        if self.cx.as_ref().is_some_and(|cx| cx.inferred.is_some()) {
            return self.inferred_return(value, span);
        }
        let (ret, at) = match &self.cx {
            Some(cx) => (cx.ret.ty, cx.ret_span),
            None => (Ty::ERROR, span),
        };
        let Some(value) = value else {
            if ret != Ty::VOID && ret != Ty::ERROR {
                let message = format!("`return` without a value in a function that returns `{}`", self.type_name(ret));
                self.push(Diagnostic::error("E0324", span, message).also(at, "promised here"));
            }
            return StmtKind::Return(None);
        };
        if ret == Ty::VOID {
            let e = self.expr(value);
            if e.ty.ty != Ty::VOID && !e.is_error() {
                self.push(
                    Diagnostic::error("E0324", value.span, "a function that returns `void` returns a value")
                        .also(at, "declared here"),
                );
            }
            // `return f();` with a function of no value.
            return StmtKind::Block(vec![
                Stmt { kind: StmtKind::Expr(e), span },
                Stmt { kind: StmtKind::Return(None), span },
            ]);
        }
        let e = self.expr(value);
        let e = self.assigned(e, ret, "return", value.span);
        StmtKind::Return(Some(e))
    }
}

fn nothing(span: Span) -> Stmt {
    Stmt { kind: StmtKind::Block(Vec::new()), span }
}

/// Whether the end of a list of statements may be reached, as far as is plain to see.
pub(super) fn falls_through(list: &[Stmt]) -> bool {
    let mut reachable = true;
    for s in list {
        if let StmtKind::Label(_) = s.kind {
            reachable = true;
        }
        // Control may enter the statement by a label inside of it, although its begin is not reached.
        if has_label(s) {
            reachable = true;
        }
        if reachable {
            reachable = completes(s);
        }
    }
    reachable
}

pub(crate) fn has_label(s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Label(_) => true,
        StmtKind::Block(list) => list.iter().any(has_label),
        StmtKind::If(_, a, b) => has_label(a) || b.as_ref().is_some_and(|b| has_label(b)),
        StmtKind::Loop { body, .. } | StmtKind::Switch { body, .. } => has_label(body),
        _ => false,
    }
}

fn completes(s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Return(_) | StmtKind::Goto(_) | StmtKind::Break | StmtKind::Continue => false,
        StmtKind::Block(list) => falls_through(list),
        StmtKind::If(_, a, b) => completes(a) || b.as_ref().is_none_or(|b| completes(b)),
        // Only a loop whose condition is a constant, or missing, never ends; it completes by a `break`.
        StmtKind::Loop { cond, body, .. } => {
            let forever =
                cond.as_ref().is_none_or(|c| matches!(&c.kind, ExprKind::Const(l) if l.iter().any(|&b| b != 0)));
            !forever || breaks(body)
        }
        // Without a `default` a value may match no case and go past the body.
        StmtKind::Switch { default, body, .. } => default.is_none() || breaks(body) || completes(body),
        StmtKind::Expr(e) => !matches!(e.kind, ExprKind::Special(Special::Trap, _)),
        StmtKind::Init(..) | StmtKind::Declare(_) | StmtKind::Label(_) => true,
    }
}

/// Whether a `break` leaves the loop or `switch` of which this is the body.
fn breaks(s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Break => true,
        StmtKind::Block(list) => list.iter().any(breaks),
        StmtKind::If(_, a, b) => breaks(a) || b.as_ref().is_some_and(|b| breaks(b)),
        _ => false,
    }
}
