//! Prototypes of built-in functions that a program repeats with `overloadable`, as libraries for several compilers do.
//!
//! A call may mean the program's function, which may be defined later, so it is resolved to that. Those that are never
//! defined get a body here that calls the built-in function.

use crate::sema::tree::{Body, Expr, ExprKind, FuncId, LocalId, Stmt, StmtKind};
use crate::sema::types::{QTy, Ty};
use crate::sema::{FnCx, Sema};
use cloom_ir::Linkage;

impl Sema<'_> {
    /// After the whole program.
    pub(in crate::sema) fn define_repeated_prototypes(&mut self) {
        for i in 0..self.unit.funcs.len() {
            let f = &self.unit.funcs[i];
            if self.opts.library || f.body.is_some() || !f.overloadable || f.used.is_none() {
                continue;
            }
            let (name, ret, params, span) = (f.name, f.ret, f.params.clone(), f.span);
            let text = self.text(name).to_owned();
            if cloom_builtins::lookup(&text).is_empty() {
                continue;
            }
            let id = FuncId(i as u32);
            self.cx = Some(FnCx::new(id, name, ret, span, self.scopes.depth()));
            let args: Vec<Expr> = params
                .iter()
                .map(|&ty| {
                    let local: LocalId = self.new_local(None, ty, 1);
                    self.rvalue(Expr { kind: ExprKind::Local(local), ty, lvalue: true, span })
                })
                .collect();
            // Only a function of exactly these types is the one that is meant.
            let same = self.builtin_signatures(&text, &args).into_iter().any(|sig| {
                let types: Vec<Ty> = sig.params.iter().map(|p| self.builtin_ty(*p)).collect();
                self.builtin_ty(sig.ret) == ret.ty && types.iter().eq(params.iter().map(|p: &QTy| &p.ty))
            });
            let e = same.then(|| self.table_call(&text, args, span, span));
            let Some((cx, e)) = self.cx.take().zip(e) else { continue };
            let kind = if ret.ty == Ty::VOID { StmtKind::Expr(e) } else { StmtKind::Return(Some(e)) };
            let stmts = vec![Stmt { kind, span }];
            let f = &mut self.unit.funcs[i];
            // Each program that is linked has such a body: an external one would be defined twice.
            f.linkage = Linkage::Internal;
            f.body = Some(Body { locals: cx.locals, stmts, labels: 0, end: span });
        }
    }
}
