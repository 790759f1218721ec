//! Blocks: literals, variables, calls, and what a block captures.
//!
//! OpenCL C lets the compiler know of each use of a block which literal it is: block variables are `const`, blocks are
//! no members, elements, results or operands of `?:`, and a block captures no other one. (Where one is a parameter, see
//! [`super::block_params`].) So a block has no value at run time. A literal becomes a function whose parameters are
//! those of the block and then the captured variables; where the literal is evaluated, these are copied to variables
//! without names, and a call passes the copies. Where a literal is used at once, it passes the variables themselves.
//!
//! ```text
//! int n = 3;                               int n = 3;
//! int (^times)(int) = ^(int x) {           int times.n = n;         int k.block0(int x, const int n) {
//!     return x * n;                                                     return x * n;
//! };                                                                }
//! n = 4;                                   n = 4;
//! times(5)                                 k.block0(5, times.n)
//! ```
//!
//! The body is analysed while the function around it waits in [`Sema::outer`]. A name that is a variable of such a
//! function is captured by each block in between. Arrays are captured as pointers to their first elements, all else by
//! value. The type of the result is that of the first `return`, unless it is written.

use super::counts::miscounted;
use super::scope::Entry;
use super::specs::Declared;
use super::tree::{Expr, ExprKind, Func, FuncId, Init, InitPart, LocalId, LocalVar, Stmt, StmtKind};
use super::types::{QTy, Ty, TyKind};
use super::{FnCx, Sema};
use crate::source::{Diagnostic, Span, Symbol};
use crate::syntax::ast::{self, Ident};

/// A variable that a block captures.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capture {
    /// In the function around it.
    outer: LocalId,
    /// In the block.
    own: LocalId,
    /// Its first use.
    span: Span,
}

impl Sema<'_> {
    /// `^` in front of a function type.
    pub(super) fn block_type(&mut self, d: Declared, span: Span) -> Declared {
        match self.types.kind(d.ty.ty).clone() {
            TyKind::Error => d,
            TyKind::Function(ret, params) => Declared::plain(self.types.intern(TyKind::Block(ret, params))),
            _ => {
                let message = format!("`^` makes a block of a function type, not of `{}`", self.type_name(d.ty.ty));
                let d = Diagnostic::error("E0332", span, message);
                self.push(d.help("a block that takes an `int` and returns one is written `int (^name)(int)`"));
                Declared::plain(Ty::ERROR)
            }
        }
    }

    /// Whether a type is that of blocks, which nothing points to or holds; says so.
    pub(super) fn is_part_block(&mut self, ty: Ty, what: &str, span: Span) -> bool {
        let is_block = self.types.block(ty).is_some();
        if is_block {
            let d = Diagnostic::error("E0332", span, format!("{what} are not allowed"));
            self.push(d.note("which block a call means must be known when the program is built"));
        }
        is_block
    }

    /// A literal.
    pub(super) fn block_literal(&mut self, literal: &ast::BlockLit, span: Span) -> Expr {
        if let Some(span) = literal.variadic {
            self.error("E0217", span, "blocks with a variable number of arguments are not allowed in OpenCL C");
        }
        let written = literal.ret.as_ref().map(|ty| (self.type_of_name(ty).qty(), ty.span));
        if let Some((ret, at)) = written
            && matches!(
                self.types.kind(ret.ty),
                TyKind::Array(..) | TyKind::Function(..) | TyKind::Block(..) | TyKind::Image(..)
            )
        {
            let message = format!("a block cannot return `{}`", self.type_name(ret.ty));
            self.error("E0332", at, message);
            return Expr::error(span);
        }
        // Types before the function begins: they belong to the scope around the literal.
        let params: Vec<QTy> = literal.params.iter().map(|p| self.param_type(p, false)).collect();
        let id = self.begin_block(&params, written, span);
        for (p, &ty) in literal.params.iter().zip(&params) {
            let local = self.new_local(p.declarator.name.map(|n| n.name), ty, 1);
            match p.declarator.name {
                Some(name) => self.declare(name, Entry::Local(local)),
                None => {
                    let d = Diagnostic::error("E0205", p.span, "parameter of a block has no name");
                    self.push(d.help("write a name after the type"));
                }
            }
        }
        let stmts = self.body(&literal.body);
        // From here on the function around the block is the current one again, and the captured values are read from
        // its variables.
        let Some(cx) = std::mem::replace(&mut self.cx, self.outer.pop()) else { return Expr::error(span) };
        // Without a `return` that has a value, the block returns nothing.
        let ret = match cx.inferred {
            Some(found) => QTy::plain(found.map_or(Ty::VOID, |f| f.0)),
            None => cx.ret,
        };
        let ty = self.types.intern(TyKind::Block(ret, params.clone()));
        let captured: Vec<QTy> = cx.captures.iter().map(|c| cx.locals[c.own.0 as usize].ty).collect();
        let (captures, promise) = (cx.captures.clone(), cx.ret_span);
        let body = self.finish_body(cx, stmts, literal.body.span);
        self.warn_of_end("this block", span, ret, promise, &body.stmts);
        let func = &mut self.unit.funcs[id.0 as usize];
        func.ret = ret;
        // Only now the captures are known: names are captured as the body uses them.
        func.params = params.into_iter().chain(captured).collect();
        func.captures = captures.iter().map(|c| c.own).collect();
        func.body = Some(body);
        let values: Vec<Expr> = captures.iter().map(|c| self.captured_value(c)).collect();
        match values.iter().any(Expr::is_error) {
            true => Expr::error(span),
            false => Expr::value(ExprKind::Block(id, values), ty, span),
        }
    }

    /// Makes the function of a literal, and turns to its body.
    fn begin_block(&mut self, params: &[QTy], written: Option<(QTy, Span)>, span: Span) -> FuncId {
        // The name in the IR and in messages is that of the function around the literal.
        let name = match &self.cx {
            Some(cx) => cx.name,
            None => self.session.names.intern("program"),
        };
        let ir_name = format!("{}.block{}", self.text(name), self.blocks.len());
        let (ret, ret_span) = written.unwrap_or((QTy::plain(Ty::ERROR), span));
        let id = self.add_func(Func { params: params.to_vec(), ..Func::internal(name, ir_name, ret, span) });
        self.blocks.insert(id);
        let base = self.scopes.depth();
        let cx = FnCx { inferred: written.is_none().then_some(None), ..FnCx::new(id, name, ret, ret_span, base) };
        if let Some(around) = self.cx.replace(cx) {
            self.outer.push(around);
        }
        self.scopes.open();
        id
    }

    /// `return` in a block whose result has no written type.
    pub(super) fn inferred_return(&mut self, value: Option<&ast::Expr>, span: Span) -> StmtKind {
        let e = value.map(|value| self.expr(value)).map(|e| if e.ty.ty == Ty::VOID { e } else { self.rvalue(e) });
        let ty = e.as_ref().map_or(Ty::VOID, |e| e.ty.ty);
        if self.types.block(ty).is_some() {
            self.error("E0332", span, "a block cannot be the result of a block");
            return StmtKind::Return(None);
        }
        let Some(known) = self.cx.as_mut().and_then(|cx| cx.inferred.as_mut()) else { return StmtKind::Return(None) };
        // The first `return` decides, as in Clang: no common type is looked for.
        let (before, at) = *known.get_or_insert((ty, span));
        if before == Ty::ERROR || ty == Ty::ERROR {
            self.leave_out(span);
            return StmtKind::Return(None);
        }
        if before != ty {
            let message = format!("this block returns `{}` here", self.type_name(ty));
            let before = format!("and `{}` here", self.type_name(before));
            let d = Diagnostic::error("E0324", span, message).also(at, before);
            self.push(d.help("write the type of the result after `^`"));
            return StmtKind::Return(None);
        }
        match e {
            Some(e) if ty == Ty::VOID => StmtKind::Block(vec![
                Stmt { kind: StmtKind::Expr(e), span },
                Stmt { kind: StmtKind::Return(None), span },
            ]),
            e => StmtKind::Return(e),
        }
    }

    /// The variable of this function that a name means, if the innermost declaration is this variable: one of a
    /// function around is captured.
    pub(super) fn own_local(&mut self, name: Symbol, id: LocalId, span: Span) -> Option<LocalId> {
        let level = self.scopes.level(name)?;
        if level >= self.cx.as_ref()?.scope_base {
            return Some(id);
        }
        // The scope tells whose variable it is; each function between that one and this captures it from the one around
        // it.
        let owner = self.outer.iter().rposition(|f| level >= f.scope_base)?;
        let mut from = (id, self.outer[owner].locals[id.0 as usize].ty);
        for inner in owner + 1..=self.outer.len() {
            from = self.capture(inner, from, name, span)?;
        }
        Some(from.0)
    }

    /// Has a function capture a variable of the one around it.
    fn capture(
        &mut self,
        inner: usize,
        (outer, ty): (LocalId, QTy),
        name: Symbol,
        span: Span,
    ) -> Option<(LocalId, QTy)> {
        let ty = match *self.types.kind(ty.ty) {
            TyKind::Array(of, _) => {
                let to = QTy { ty: of.ty, is_const: ty.is_const, is_volatile: ty.is_volatile, align: of.align, ..ty };
                QTy { is_const: true, ..QTy::plain(self.types.pointer(QTy { is_restrict: false, ..to })) }
            }
            _ => QTy { is_const: true, ..ty },
        };
        let align = self.types.align_of(ty);
        // The functions are numbered from the outermost; the current one is behind those that wait.
        let cx = match self.outer.get_mut(inner) {
            Some(cx) => cx,
            None => self.cx.as_mut()?,
        };
        // One parameter for each variable, however often the block uses it.
        if let Some(known) = cx.captures.iter().find(|c| c.outer == outer) {
            return Some((known.own, ty));
        }
        let own = LocalId(cx.locals.len() as u32);
        cx.locals.push(LocalVar { name: Some(name), ty, align, constant: None, declared: None, named: None });
        cx.captures.push(Capture { outer, own, span });
        Some((own, ty))
    }

    /// The value of a captured variable, in the function around the block.
    fn captured_value(&mut self, c: &Capture) -> Expr {
        let Some(cx) = &self.cx else { return Expr::error(c.span) };
        let ty = cx.locals[c.outer.0 as usize].ty;
        self.value_of_local(c.outer, ty, c.span)
    }

    /// The value of a variable of this function.
    pub(super) fn value_of_local(&mut self, local: LocalId, ty: QTy, span: Span) -> Expr {
        self.rvalue(Expr { kind: ExprKind::Local(local), ty, lvalue: true, span })
    }

    /// `int (^name)(int) = …;`
    pub(super) fn block_variable(
        &mut self,
        item: &ast::InitDeclarator,
        name: Ident,
        ty: Ty,
        is_extern: bool,
        stmts: &mut Vec<Stmt>,
    ) {
        if is_extern {
            self.error("E0332", item.span, "a block variable cannot be `extern`");
            return self.put_error(name);
        }
        let value = match &item.init {
            Some(ast::Initializer::Expr(e)) => self.expr(e),
            Some(ast::Initializer::List(list)) => {
                self.error("E0332", list.span, "a block variable is initialised by a block, not by a list");
                return self.put_error(name);
            }
            None => {
                let message = format!("block variable `{}` is not initialised", self.text(name.name));
                self.push(
                    Diagnostic::error("E0332", item.span, message)
                        .note("it is `const`: its block must be known when the program is built"),
                );
                return self.put_error(name);
            }
        };
        if value.is_error() {
            return self.put_error(name);
        }
        let span = value.span;
        let from = value.ty.ty;
        let ExprKind::Block(func, values) = value.kind else {
            let message = format!("a `{}` is no block", self.type_name(from));
            self.error("E0303", span, message);
            return self.put_error(name);
        };
        if !self.same_block_type(from, ty) {
            let message =
                format!("a block of type `{}` initialises one of type `{}`", self.type_name(from), self.type_name(ty));
            self.error("E0303", span, message);
            return self.put_error(name);
        }
        let mut captured = Vec::new();
        for value in values {
            // What the literal captures is copied here: a call of the block variable later sees the values of now.
            let ty = value.ty.ty;
            let local = self.new_local(None, QTy::plain(ty), 1);
            let init = Init { end: u64::MAX, parts: vec![InitPart::Value(0, value)], ..Init::default() };
            let (size, align) = self.types.layout(ty).unwrap_or((1, 1));
            self.count_private(local, size, align, span);
            stmts.push(Stmt { kind: StmtKind::Init(local, init), span });
            captured.push(local);
        }
        self.declare(name, Entry::Block(func, ty, captured));
    }

    /// Whether two blocks have one type; qualifiers of parameters are of no matter, and what was wrong has been said.
    pub(super) fn same_block_type(&self, a: Ty, b: Ty) -> bool {
        let same = |(a, b): (Ty, Ty)| a == b || a == Ty::ERROR || b == Ty::ERROR;
        match (self.types.block(a), self.types.block(b)) {
            (Some((ret_a, a)), Some((ret_b, b))) => {
                let params = a.iter().zip(b).map(|(a, b)| (a.ty, b.ty));
                a.len() == b.len() && params.chain([(ret_a.ty, ret_b.ty)]).all(same)
            }
            _ => false,
        }
    }

    /// A block variable by its name.
    pub(super) fn block_name(&mut self, name: Symbol, func: FuncId, ty: Ty, captured: &[LocalId], span: Span) -> Expr {
        let level = self.scopes.level(name).unwrap_or(0);
        let base = self.cx.as_ref().map_or(0, |cx| cx.scope_base);
        // A block variable of the function around has its captured values in that function's variables, out of reach
        // from here. One of program scope captures nothing.
        if level > 0 && level < base {
            let message = format!("a block cannot capture the block `{}`", self.text(name));
            self.push(Diagnostic::error("E0332", span, message).help("declare it in this block, or in program scope"));
            return Expr::error(span);
        }
        let mut values = Vec::new();
        for &local in captured {
            let Some(cx) = &self.cx else { return Expr::error(span) };
            let ty = cx.locals[local.0 as usize].ty;
            values.push(self.value_of_local(local, ty, span));
        }
        Expr::value(ExprKind::Block(func, values), ty, span)
    }

    /// A call of a block.
    pub(super) fn block_call(&mut self, block: Expr, args: &[ast::Expr], span: Span) -> Expr {
        let args: Vec<Expr> = args.iter().map(|a| self.rvalue_of(a)).collect();
        let ExprKind::Block(func, captured) = block.kind else { return Expr::error(span) };
        let Some((ret, params)) = self.types.block(block.ty.ty).map(|(ret, params)| (ret, params.to_vec())) else {
            return Expr::error(span);
        };
        if args.len() != params.len() {
            self.push(miscounted("a block", params.len(), args.len(), block.span));
            return Expr::error(span);
        }
        let pass = |this: &mut Self, (a, p): (Expr, &QTy)| {
            let at = a.span;
            this.assigned(a, p.ty, "pass", at)
        };
        let mut all: Vec<Expr> = args.into_iter().zip(&params).map(|pair| pass(self, pair)).collect();
        let Some(cx) = &self.cx else {
            self.not_constant(span, "a value of program scope");
            return Expr::error(span);
        };
        // Before the check of the arguments: recursion is found even if an argument is wrong.
        self.unit.funcs[cx.id.0 as usize].calls.push((func, span));
        self.unit.funcs[func.0 as usize].used.get_or_insert(span);
        if all.iter().any(Expr::is_error) || ret.ty == Ty::ERROR {
            return Expr::error(span);
        }
        all.extend(captured);
        Expr::value(ExprKind::Call(func, all), ret.ty, span)
    }
}
