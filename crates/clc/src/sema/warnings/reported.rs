//! The check that each wrong part of a program was reported.
//!
//! What is wrong becomes an error node, or is left out, and lowering would make a zero or nothing of it. An error is
//! then reported always; should a check forget that, the program is refused here instead of computing something else.

use crate::sema::Sema;
use crate::sema::tree::{Expr, ExprKind, Init, InitPart, Stmt, StmtKind, Unit};
use crate::sema::types::{Ty, Types};
use crate::source::{Diagnostic, Span};

impl Sema<'_> {
    /// Remembers that something is left out of the tree, because of an error that was reported.
    pub(in crate::sema) fn leave_out(&mut self, span: Span) {
        self.left_out.get_or_insert(span);
    }

    /// Whether an expression was wrong, so that what needs its value is left out.
    pub(in crate::sema) fn is_left_out(&mut self, e: &Expr) -> bool {
        if e.is_error() {
            self.leave_out(e.span);
        }
        e.is_error()
    }

    /// After the whole program.
    pub(in crate::sema) fn check_reported(&mut self) {
        if self.session.diags.has_errors() {
            return;
        }
        if let Some(span) = self.left_out.or_else(|| wrong_part(&self.unit, &self.types)) {
            let message = "internal error: something is wrong here, and the compiler does not say what";
            self.push(Diagnostic::error("E0399", span, message).help("write this in another way"));
        }
    }
}

/// A part of the tree.
#[derive(Clone, Copy)]
enum Part<'a> {
    Stmt(&'a Stmt),
    Expr(&'a Expr),
    Init(&'a Init),
}

/// A part that is wrong, if there is one.
fn wrong_part(unit: &Unit, types: &Types) -> Option<Span> {
    let wrong_member = types.records.iter().flat_map(|r| r.fields.iter().flatten()).find(|f| f.ty.ty == Ty::ERROR);
    if let Some(member) = wrong_member {
        return Some(member.span);
    }
    let is_wrong = |ty: Ty| ty == Ty::ERROR;
    for f in &unit.funcs {
        let mut types = f.params.iter().chain([&f.ret]);
        if types.any(|ty| is_wrong(ty.ty)) {
            return Some(f.span);
        }
        let Some(body) = &f.body else { continue };
        if body.locals.iter().any(|local| is_wrong(local.ty.ty)) {
            return Some(f.span);
        }
        if let Some(span) = wrong_in(&body.stmts) {
            return Some(span);
        }
    }
    unit.globals.iter().any(|g| is_wrong(g.ty.ty)).then(Span::default)
}

/// A wrong expression in statements. The parts wait in a list, because operators may be nested as deep as the stack
/// allows, and longer in chains.
fn wrong_in(stmts: &[Stmt]) -> Option<Span> {
    let mut work: Vec<Part<'_>> = stmts.iter().map(Part::Stmt).collect();
    while let Some(part) = work.pop() {
        match part {
            Part::Stmt(s) => of_stmt(s, &mut work),
            Part::Init(init) => work.extend(init.parts.iter().filter_map(|part| match part {
                InitPart::Value(_, e) => Some(Part::Expr(e)),
                InitPart::Zero(..) | InitPart::Repeat(_) => None,
            })),
            Part::Expr(e) if e.is_error() || matches!(e.kind, ExprKind::Error) => return Some(e.span),
            Part::Expr(e) => of_expr(e, &mut work),
        }
    }
    None
}

fn of_stmt<'a>(s: &'a Stmt, work: &mut Vec<Part<'a>>) {
    match &s.kind {
        StmtKind::Expr(e) => work.push(Part::Expr(e)),
        StmtKind::Init(_, init) => work.push(Part::Init(init)),
        StmtKind::Block(list) => work.extend(list.iter().map(Part::Stmt)),
        StmtKind::If(cond, then, els) => {
            work.extend([Part::Expr(cond), Part::Stmt(then)]);
            work.extend(els.iter().map(|s| Part::Stmt(s)));
        }
        StmtKind::Loop { init, cond, cond_last: _, step, body } => {
            work.extend(init.iter().map(Part::Stmt));
            work.extend(cond.iter().chain(step).map(Part::Expr));
            work.push(Part::Stmt(body));
        }
        StmtKind::Switch { value, cases: _, default: _, body } => work.extend([Part::Expr(value), Part::Stmt(body)]),
        StmtKind::Return(value) => work.extend(value.iter().map(Part::Expr)),
        StmtKind::Declare(_) | StmtKind::Label(_) | StmtKind::Goto(_) | StmtKind::Break | StmtKind::Continue => {}
    }
}

fn of_expr<'a>(e: &'a Expr, work: &mut Vec<Part<'a>>) {
    match &e.kind {
        ExprKind::Error
        | ExprKind::Const(_)
        | ExprKind::Local(_)
        | ExprKind::Global(_)
        | ExprKind::FuncName(_)
        | ExprKind::Old => {}
        ExprKind::Deref(a)
        | ExprKind::Field(a, _)
        | ExprKind::Swizzle(a, _)
        | ExprKind::Load(a)
        | ExprKind::Addr(a)
        | ExprKind::Unary(_, a)
        | ExprKind::Not(a)
        | ExprKind::Convert(a)
        | ExprKind::ConvertExact(a, ..)
        | ExprKind::PtrCast(a)
        | ExprKind::Bits(a)
        | ExprKind::Splat(a) => work.push(Part::Expr(a)),
        ExprKind::Lane(a, b)
        | ExprKind::Binary(_, a, b)
        | ExprKind::Compare(_, a, b)
        | ExprKind::Logic { and: _, lhs: a, rhs: b }
        | ExprKind::PtrAdd(a, b, _)
        | ExprKind::PtrDiff(a, b, _)
        | ExprKind::Comma(a, b)
        | ExprKind::Assign(a, b)
        | ExprKind::Update { target: a, value: b, post: _ } => work.extend([Part::Expr(a), Part::Expr(b)]),
        ExprKind::Fma(args) | ExprKind::Cond(args) | ExprKind::Select(args) => {
            work.extend(args.iter().map(Part::Expr));
        }
        ExprKind::Vector(args)
        | ExprKind::Call(_, args)
        | ExprKind::Builtin(_, _, args)
        | ExprKind::Special(_, args)
        | ExprKind::Block(_, args) => work.extend(args.iter().map(Part::Expr)),
        ExprKind::Statements(stmts, value) => {
            work.extend(stmts.iter().map(Part::Stmt));
            work.push(Part::Expr(value));
        }
        ExprKind::Compound(_, init) => work.push(Part::Init(init)),
    }
}

#[cfg(test)]
mod tests {
    use crate::pp::{NoIncludes, PpOptions, preprocess};
    use crate::sema::{SemaOptions, analyse};
    use crate::source::{Diagnostics, Session};
    use crate::syntax::{ParseOptions, parse};

    /// The codes of sema, to which the mistakes of the syntax were not reported.
    fn codes(source: &str) -> Vec<&'static str> {
        let mut session = Session::default();
        let file = session.sources.add("main.cl", source.as_bytes(), None).unwrap();
        let tokens = preprocess(&mut session, file, &PpOptions::default(), &mut NoIncludes);
        let unit = parse(&mut session, &tokens, ParseOptions::default());
        session.diags = Diagnostics::default();
        let options = SemaOptions {
            library: false,
            fp16: true,
            fp64: true,
            images: true,
            pipes: false,
            generic: false,
            blocks: false,
            debug_info: false,
            variables: false,
            features: Vec::new(),
            single_precision_constant: false,
            contract: false,
            partial_groups: false,
            c_version: 120,
        };
        analyse(&mut session, &unit, options);
        session.diags.iter().map(|d| d.code).collect()
    }

    #[test]
    fn what_nobody_reported_is_an_internal_error() {
        for source in [
            "constant int x = 08;",
            "_Static_assert(08, \"\");",
            "constant int x[08] = {1};",
            "constant int x[1] = {[08] = 1};",
            "enum { A = 08 };",
            "struct s { int x[08]; };",
            "struct __attribute__((aligned(08))) s { int x; };",
            "void f(int x[08]);",
            "constant int x = __builtin_constant_p(08);",
            "kernel void k(global int *o) { 08; }",
            "kernel void k(global int *o) { int x = 08; }",
            "kernel void k(global int *o) { if (o[0]) o[1] = 1; else while (08) {} }",
            "kernel void k(global int *o) { for (int i = 0; i < 4; i = 08) {} }",
            "kernel void k(global int *o) { switch (08) { case 1: o[0] = 1; } }",
            "kernel void k(global int *o) { switch (o[0]) { case 08: o[0] = 1; } }",
            "kernel void k(global int *o) { int x[2] = {1, 2, 08}; }",
            "kernel void k(global int *o) { float2 x = {08, 1}; }",
            "int f(void) { return 08; }",
        ] {
            assert_eq!(codes(source).last(), Some(&"E0399"), "{source}");
        }
        assert_eq!(codes("kernel void k(global int *o) { o[0] = x + 08; }"), ["E0300"]);
        assert_eq!(codes("kernel void k(global int *o) { o[0] = 8; }"), [""; 0]);
    }
}
