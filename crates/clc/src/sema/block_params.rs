//! Functions with parameters that are blocks: a copy of the function for each choice of blocks that calls pass.
//!
//! A block has no value at run time (see [`super::blocks`]), so such a function is analysed when it is called: the
//! names of its block parameters then mean the blocks of the call. What these captured comes as further parameters.
//! Calls with the same literals share a copy. A function that nobody calls is not analysed.
//!
//! ```text
//! int twice(int x, int (^f)(int)) { return f(f(x)); }
//! twice(5, ^(int y) { return y + n; })            twice.with0(5, n)    int twice.with0(int x, const int n) { … }
//! ```

use super::counts::miscounted;
use super::scope::Entry;
use super::tree::{Expr, ExprKind, Func, FuncId, LocalId};
use super::types::{QTy, Ty};
use super::{FnCx, Sema};
use crate::source::{Diagnostic, Span, Symbol};
use crate::syntax::ast::{self, Ident};

/// Copies in one program.
const MAX_COPIES: usize = 1024;
/// Copies that are analysed while others are: a literal in a copy makes new ones in each.
const MAX_NESTING: u32 = 16;

/// A function with block parameters.
#[derive(Clone)]
pub(super) struct Template<'s> {
    def: &'s ast::FunctionDef,
    ret: QTy,
    params: Vec<QTy>,
    noinline: bool,
}

/// A block that a call passes.
struct Passed {
    func: FuncId,
    ty: Ty,
    captured: Vec<Expr>,
}

impl<'s> Sema<'s> {
    /// Whether one of the parameters is a block.
    pub(super) fn takes_blocks(&self, params: &[QTy]) -> bool {
        params.iter().any(|p| self.types.block(p.ty).is_some())
    }

    /// Declares such a function, and keeps its definition.
    pub(super) fn template(
        &mut self,
        name: Ident,
        (ret, params): (QTy, Vec<QTy>),
        noinline: bool,
        def: Option<&'s ast::FunctionDef>,
    ) {
        match self.scopes.get_file(name.name) {
            // A prototype may come first or be repeated; a second definition is an error.
            Some((Entry::Template, _)) if def.is_none() || !self.templates.contains_key(&name.name) => {}
            Some((_, before)) => {
                let before = *before;
                let message = format!("`{}` is declared twice", self.text(name.name));
                let d = Diagnostic::error("E0301", name.span, message).also(before, "first declaration");
                return self.push(d.note("a function with a block as a parameter cannot be overloaded"));
            }
            None => self.scopes.put_file(name.name, Entry::Template, name.span),
        }
        if let Some(def) = def {
            self.templates.insert(name.name, Template { def, ret, params, noinline });
        }
    }

    /// A call of such a function.
    pub(super) fn template_call(&mut self, name: Symbol, args: Vec<Expr>, at: Span, span: Span) -> Expr {
        self.try_template_call(name, args, at, span).unwrap_or_else(|| Expr::error(span))
    }

    fn try_template_call(&mut self, name: Symbol, args: Vec<Expr>, at: Span, span: Span) -> Option<Expr> {
        let Some(template) = self.templates.get(&name).cloned() else {
            let message = format!("`{}` takes a block and is not defined yet", self.text(name));
            let d = Diagnostic::error("E0332", at, message);
            self.push(d.help("define it before it is called, in this program"));
            return None;
        };
        if template.params.len() != args.len() {
            let callee = format!("`{}`", self.text(name));
            self.push(miscounted(&callee, template.params.len(), args.len(), at));
            return None;
        }
        let (mut values, mut blocks) = (Vec::new(), Vec::new());
        for (arg, p) in args.into_iter().zip(&template.params) {
            let (at, from) = (arg.span, arg.ty.ty);
            // Ordinary arguments are converted; blocks are taken apart into their functions and captured values.
            if self.types.block(p.ty).is_none() {
                values.push(self.assigned(arg, p.ty, "pass", at));
                continue;
            }
            match arg.kind {
                ExprKind::Block(func, captured) if self.same_block_type(from, p.ty) => {
                    blocks.push(Passed { func, ty: p.ty, captured });
                }
                ExprKind::Error => return None,
                _ => {
                    let (from, to) = (self.type_name(from), self.type_name(p.ty));
                    self.error("E0303", at, format!("cannot pass `{from}` for a parameter of type `{to}`"));
                    return None;
                }
            }
        }
        if values.iter().any(Expr::is_error) {
            return None;
        }
        let Some(caller) = self.cx.as_ref().map(|cx| cx.id) else {
            self.not_constant(span, "a value of program scope");
            return None;
        };
        // The functions of the blocks are the identity of the copy: what they captured comes as arguments.
        let key = (name, blocks.iter().map(|b| b.func).collect::<Vec<_>>());
        let id = match self.copies.get(&key) {
            Some(&id) => id,
            None => self.copy(name, key, &template, &blocks, span)?,
        };
        self.unit.funcs[caller.0 as usize].calls.push((id, span));
        // In the order of the parameters that `copied_params` declares: the values first, then what each block
        // captured.
        values.extend(blocks.into_iter().flat_map(|b| b.captured));
        Some(Expr::value(ExprKind::Call(id, values), template.ret.ty, span))
    }

    /// Analyses the function for these blocks.
    fn copy(
        &mut self,
        name: Symbol,
        key: (Symbol, Vec<FuncId>),
        template: &Template<'s>,
        blocks: &[Passed],
        span: Span,
    ) -> Option<FuncId> {
        if self.copies.len() >= MAX_COPIES || self.copying >= MAX_NESTING {
            let message = format!("too many blocks are passed to `{}`", self.text(name));
            let d = Diagnostic::error("E0325", span, message);
            let limits =
                format!("the limits are {MAX_COPIES} combinations in a program, {MAX_NESTING} within each other");
            self.push(d.note(limits).note("a function is compiled for each combination of blocks"));
            return None;
        }
        let ir_name = format!("{}.with{}", self.text(name), self.copies.len());
        let def = template.def;
        let at = def.declarator.name.map_or(span, |n| n.span);
        let func = Func::internal(name, ir_name, template.ret, at);
        let id = self.add_func(Func { noinline: template.noinline, used: Some(span), ..func });
        // Known before the body is analysed: a recursive call finds this copy, and the check against recursion reports
        // it.
        self.copies.insert(key, id);
        // The body sees the file's names and its own, not those around the call.
        let inner = self.scopes.leave_functions();
        // Restored below; nothing in between may return early.
        let around = (self.cx.take(), std::mem::take(&mut self.outer));
        let base = self.scopes.depth();
        self.cx = Some(FnCx::new(id, name, template.ret, def.specs.span, base));
        self.copying += 1;
        self.scopes.open();
        let (params, captures) = self.copied_params(template, blocks);
        let func = &mut self.unit.funcs[id.0 as usize];
        (func.params, func.captures) = (params, captures);
        let stmts = self.body(&def.body);
        self.copying -= 1;
        let cx = std::mem::replace(&mut self.cx, around.0)?;
        self.outer = around.1;
        self.scopes.enter_functions(inner);
        self.unit.funcs[id.0 as usize].body = Some(self.finish_body(cx, stmts, def.body.span));
        Some(id)
    }

    /// Declares the parameters of a copy. Returns the types of all of them, and the variables of what blocks captured.
    fn copied_params(&mut self, template: &Template<'s>, blocks: &[Passed]) -> (Vec<QTy>, Vec<LocalId>) {
        let all = || template.def.params().iter().zip(&template.params);
        let (mut types, mut captures) = (Vec::new(), Vec::new());
        // The ordinary parameters keep their order; blocks are no parameters of the copy.
        for (p, &ty) in all().filter(|(_, ty)| self.types.block(ty.ty).is_none()).collect::<Vec<_>>() {
            let local = self.new_local(p.declarator.name.map(|n| n.name), ty, 1);
            types.push(ty);
            if let Some(name) = p.declarator.name {
                self.declare(name, Entry::Local(local));
            }
        }
        let names = all().filter(|(_, ty)| self.types.block(ty.ty).is_some()).map(|(p, _)| p.declarator.name);
        for (name, block) in names.collect::<Vec<_>>().into_iter().zip(blocks) {
            let mut locals = Vec::new();
            for value in &block.captured {
                let ty = QTy { is_const: true, ..QTy::plain(value.ty.ty) };
                types.push(ty);
                locals.push(self.new_local(None, ty, 1));
            }
            captures.extend(&locals);
            if let Some(name) = name {
                self.declare(name, Entry::Block(block.func, block.ty, locals));
            }
        }
        (types, captures)
    }
}
