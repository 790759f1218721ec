//! Calls: name lookup, overload resolution, conversion of arguments; of functions of the program and of the built-in
//! table.

use super::Sema;
use super::counts::{arguments, miscounted};
use super::overload::{Choice, best, signature};
use super::scope::Entry;
use super::tree::{Expr, ExprKind, FuncId};
use super::types::{Ty, TyKind};
use crate::source::{Diagnostic, Span, Symbol};
use crate::syntax::ast;
use cloom_builtins::Sig;

impl Sema<'_> {
    pub(super) fn call(&mut self, callee: &ast::Expr, args: &[ast::Expr], span: Span) -> Expr {
        let ast::ExprKind::Ident(name) = callee.unparenthesised().kind else {
            let e = self.expr(callee);
            if let ExprKind::Block(..) = e.kind {
                return self.block_call(e, args, span);
            }
            for a in args {
                self.expr(a);
            }
            if !e.is_error() {
                self.push(
                    Diagnostic::error("E0310", callee.span, "this is not a function")
                        .note("only functions can be called, by their names: OpenCL C has no function pointers"),
                );
            }
            return Expr::error(span);
        };
        let funcs = match self.scopes.get(name) {
            Some((Entry::Funcs(list), _)) => list.clone(),
            Some((Entry::Error, _)) => {
                for a in args {
                    self.expr(a);
                }
                return Expr::error(span);
            }
            Some((Entry::Template, _)) => {
                let args = args.iter().map(|a| self.rvalue_of(a)).collect();
                return self.template_call(name, args, callee.span, span);
            }
            Some((Entry::Block(..), _)) => {
                let e = self.expr(callee);
                return self.block_call(e, args, span);
            }
            Some((_, at)) => {
                // A variable or type of this name hides the function.
                let at = *at;
                let message = format!("`{}` is not a function", self.text(name));
                let mut d = Diagnostic::error("E0310", callee.span, message).also(at, "declared here");
                let e = self.expr(callee);
                if matches!(self.types.kind(e.ty.ty), TyKind::Pointer(_) | TyKind::Array(..)) {
                    d = d.help("an element is picked by brackets: `[…]`");
                }
                if super::builtins::builtin::is_builtin(self.text(name)) {
                    d = d.note("this declaration hides the built-in function of the same name");
                }
                self.push(d);
                return Expr::error(span);
            }
            None => Vec::new(),
        };
        let text = self.text(name).to_owned();
        let is_builtin = super::builtins::builtin::is_builtin(&text);
        // A function of the program hides the built-in one of its name, unless it is overloadable: then both are
        // candidates. In the library the definition is the built-in function, and the table has the signatures.
        let hidden = text.starts_with("__cl_") && !self.opts.library;
        let extends = self.opts.library || funcs.iter().any(|f| self.unit.funcs[f.0 as usize].overloadable);
        if is_builtin && !hidden && (funcs.is_empty() || extends) {
            if funcs.is_empty() || self.opts.library {
                return self.builtin_call(&text, callee.span, args, span);
            }
            let args: Vec<Expr> = args.iter().map(|a| self.rvalue_of(a)).collect();
            return self.mixed_call(&text, &funcs, args, callee.span, span);
        }
        let args: Vec<Expr> = args.iter().map(|a| self.rvalue_of(a)).collect();
        if funcs.is_empty() {
            let e = self.undeclared(name, callee.span, true);
            return Expr { span, ..e };
        }
        self.user_call(name, &funcs, args, callee.span, span)
    }

    fn user_call(&mut self, name: Symbol, funcs: &[FuncId], args: Vec<Expr>, at: Span, span: Span) -> Expr {
        // Without a choice, the conversion of each argument reports what is wrong with it, which says more than that
        // nothing matches.
        if let [only] = funcs {
            return self.finish_call(*only, args, at, span);
        }
        if args.iter().any(Expr::is_error) {
            return Expr::error(span);
        }
        let mut ranks = Vec::new();
        for f in funcs {
            let params: Vec<Ty> = self.unit.funcs[f.0 as usize].params.iter().map(|p| p.ty).collect();
            ranks.push(self.ranks(&args, &params));
        }
        match best(&ranks) {
            Choice::One(i) => self.finish_call(funcs[i], args, at, span),
            choice => {
                let candidates: Vec<(String, Vec<Ty>)> = funcs
                    .iter()
                    .map(|f| {
                        let f = &self.unit.funcs[f.0 as usize];
                        let params: Vec<Ty> = f.params.iter().map(|p| p.ty).collect();
                        let names: Vec<String> = params.iter().map(|p| self.type_name(*p)).collect();
                        (format!("{}({})", self.text(name), names.join(", ")), params)
                    })
                    .collect();
                let text = self.text(name).to_owned();
                self.no_match(&text, &candidates, &choice, &args, at);
                Expr::error(span)
            }
        }
    }

    fn ranks(&mut self, args: &[Expr], params: &[Ty]) -> Option<Vec<u8>> {
        if args.len() != params.len() {
            return None;
        }
        args.iter().zip(params).map(|(a, &p)| self.rank(a, p)).collect()
    }

    /// A program's overloads together with the built-in ones.
    fn mixed_call(&mut self, text: &str, funcs: &[FuncId], args: Vec<Expr>, at: Span, span: Span) -> Expr {
        if args.iter().any(Expr::is_error) {
            return Expr::error(span);
        }
        let mut ranks = Vec::new();
        for f in funcs {
            let params: Vec<Ty> = self.unit.funcs[f.0 as usize].params.iter().map(|p| p.ty).collect();
            ranks.push(self.ranks(&args, &params));
        }
        let sigs = self.builtin_signatures(text, &args);
        for sig in &sigs {
            ranks.push(self.builtin_ranks(&args, sig));
        }
        match best(&ranks) {
            // The candidates are numbered through: first the program's, then the table's.
            Choice::One(i) if i < funcs.len() => self.finish_call(funcs[i], args, at, span),
            Choice::One(i) => self.finish_builtin(text, sigs[i - funcs.len()].clone(), args, span),
            // The program's own function goes before the library's.
            Choice::Several(list) if list.iter().filter(|&&i| i < funcs.len()).count() == 1 => {
                let own = list.into_iter().find(|&i| i < funcs.len()).unwrap_or(0);
                self.finish_call(funcs[own], args, at, span)
            }
            choice => {
                let mut candidates: Vec<(String, Vec<Ty>)> = Vec::new();
                for f in funcs {
                    let f = &self.unit.funcs[f.0 as usize];
                    let params: Vec<Ty> = f.params.iter().map(|p| p.ty).collect();
                    let names: Vec<String> = params.iter().map(|p| self.type_name(*p)).collect();
                    candidates.push((format!("{text}({})", names.join(", ")), params));
                }
                for sig in &sigs {
                    let params = sig.params.iter().map(|p| self.builtin_ty(*p)).collect();
                    candidates.push((signature(text, sig), params));
                }
                self.no_match(text, &candidates, &choice, &args, at);
                Expr::error(span)
            }
        }
    }

    fn finish_call(&mut self, id: FuncId, args: Vec<Expr>, at: Span, span: Span) -> Expr {
        let f = &self.unit.funcs[id.0 as usize];
        let (name, params, ret, declared) = (f.name, f.params.clone(), f.ret, f.span);
        if args.len() != params.len() {
            let d = miscounted(&format!("`{}`", self.text(name)), params.len(), args.len(), at);
            self.push(d.also(declared, "declared here"));
            return Expr::error(span);
        }
        let mut wrong = false;
        let args: Vec<Expr> = args
            .into_iter()
            .zip(&params)
            .map(|(a, p)| {
                let at = a.span;
                let a = self.assigned(a, p.ty, "pass", at);
                wrong |= a.is_error();
                a
            })
            .collect();
        if let Some(cx) = &self.cx {
            let caller = cx.id.0 as usize;
            self.unit.funcs[caller].calls.push((id, span));
        }
        // Recorded even if an argument is wrong, so that recursion is found and no prototype seems unused.
        self.unit.funcs[id.0 as usize].used.get_or_insert(span);
        if wrong || ret.ty == Ty::ERROR {
            return Expr::error(span);
        }
        if self.cx.is_none() {
            self.not_constant(span, "a value of program scope");
            return Expr::error(span);
        }
        Expr::value(ExprKind::Call(id, args), ret.ty, span)
    }

    /// The signatures of a built-in name that a call with these arguments could mean.
    pub(super) fn builtin_signatures(&mut self, name: &str, args: &[Expr]) -> Vec<Sig> {
        // The lanes of the first vector among the arguments, pointees included.
        let lanes = args.iter().find_map(|a| {
            // Generic rows of the table are instantiated only for one number of lanes: candidates of other widths would
            // only lengthen the messages.
            let ty = self.types.pointee(a.ty.ty).map_or(a.ty.ty, |p| p.ty);
            self.types.numeric(ty).map(|(_, n)| n).filter(|&n| n > 1)
        });
        cloom_builtins::lookup(name)
            .iter()
            .filter(|row| row.arity() == args.len())
            .flat_map(|row| row.instances(lanes.unwrap_or(1)))
            // The table has the instances of `double` and `half` whether the device has those types or not.
            .filter(|sig| self.has_types(sig))
            .collect()
    }

    fn builtin_ranks(&mut self, args: &[Expr], sig: &Sig) -> Option<Vec<u8>> {
        args.iter().zip(&sig.params).map(|(a, &p)| self.rank_builtin(a, p)).collect()
    }

    /// Reports how many arguments a built-in function got; `takes` says what it takes.
    pub(super) fn wrong_count(&mut self, name: &str, takes: &str, found: usize, at: Span) {
        self.error("E0308", at, format!("`{name}` takes {takes}, not {found}"));
    }

    /// A call of a function of the table.
    pub(super) fn table_call(&mut self, name: &str, args: Vec<Expr>, at: Span, span: Span) -> Expr {
        if args.iter().any(Expr::is_error) {
            return Expr::error(span);
        }
        let sigs = self.builtin_signatures(name, &args);
        let ranks: Vec<Option<Vec<u8>>> = sigs.iter().map(|s| self.builtin_ranks(&args, s)).collect();
        match best(&ranks) {
            Choice::One(i) => self.finish_builtin(name, sigs[i].clone(), args, span),
            choice => {
                // A wrong number of arguments is the plainer mistake: it is reported before candidates are listed.
                let mut arities: Vec<usize> = cloom_builtins::lookup(name).iter().map(|r| r.arity()).collect();
                arities.sort_unstable();
                arities.dedup();
                if !arities.contains(&args.len()) {
                    self.wrong_count(name, &arguments(&arities), args.len(), at);
                    return Expr::error(span);
                }
                let candidates: Vec<(String, Vec<Ty>)> = sigs
                    .iter()
                    .map(|s| (signature(name, s), s.params.iter().map(|p| self.builtin_ty(*p)).collect()))
                    .collect();
                self.no_match(name, &candidates, &choice, &args, at);
                Expr::error(span)
            }
        }
    }

    fn finish_builtin(&mut self, name: &str, sig: Sig, args: Vec<Expr>, span: Span) -> Expr {
        let mut out = Vec::new();
        for (a, &p) in args.into_iter().zip(&sig.params) {
            let at = a.span;
            match p {
                // Which space and element it is has been checked; volatile does not matter.
                cloom_builtins::Ty::Ptr(..) => out.push(a),
                _ => {
                    let ty = self.builtin_ty(p);
                    out.push(self.assigned(a, ty, "pass", at));
                }
            }
        }
        if out.iter().any(Expr::is_error) {
            return Expr::error(span);
        }
        let ret = self.builtin_ty(sig.ret);
        let Some(name) = super::builtins::builtin::static_name(name) else { return Expr::error(span) };
        Expr::value(ExprKind::Builtin(name, Box::new(sig), out), ret, span)
    }

    /// Reports a call that means no function, or several.
    fn no_match(&mut self, name: &str, candidates: &[(String, Vec<Ty>)], choice: &Choice, args: &[Expr], at: Span) {
        const SHOWN: usize = 6;
        let given: Vec<String> = args.iter().map(|a| self.type_name(a.ty.ty)).collect();
        let given = given.join(", ");
        if let Choice::Several(list) = choice {
            let mut d = Diagnostic::error(
                "E0309",
                at,
                format!("call of `{name}` is ambiguous: ({given}) fits several functions"),
            );
            for &i in list.iter().take(SHOWN) {
                d = d.note(format!("candidate: {}", candidates[i].0));
            }
            self.push(
                d.help("convert the arguments to one type, for example `(float)x`, or write constants like `1.0f`"),
            );
            return;
        }
        let mut d = Diagnostic::error("E0308", at, format!("no function `{name}` takes ({given})"));
        for (text, params) in candidates.iter().take(SHOWN) {
            let why = if params.len() != args.len() {
                format!("takes {} argument{}", params.len(), if params.len() == 1 { "" } else { "s" })
            } else {
                // The first argument that does not fit is the reason; if all fit, another candidate was better.
                let wrong = args.iter().zip(params).position(|(a, &p)| self.rank(a, p).is_none());
                match wrong {
                    Some(i) => format!(
                        "argument {} is `{}`, not `{}`",
                        i + 1,
                        self.type_name(args[i].ty.ty),
                        self.type_name(params[i])
                    ),
                    None => "fits less well".to_owned(),
                }
            };
            d = d.note(format!("candidate: {text}: {why}"));
        }
        if candidates.is_empty() {
            let lanes: Vec<u8> = cloom_builtins::lookup(name).iter().flat_map(|r| r.lanes.iter().copied()).collect();
            if let Some(most) = lanes.into_iter().max() {
                d = d.note(match most {
                    1 => format!("`{name}` takes no vectors"),
                    n => format!("`{name}` takes vectors of at most {n} components"),
                });
            }
        }
        if candidates.len() > SHOWN {
            d = d.note(format!("and {} more", candidates.len() - SHOWN));
        }
        self.push(d);
    }
}
