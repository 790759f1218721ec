//! Expressions: names, constants, members, casts, assignments, vector literals. Operators and calls have files of
//! their own.
//!
//! In comes a syntax node; out goes a typed node that is an lvalue (it designates an object) or a value;
//! [`Sema::rvalue`] loads.

use super::Sema;
use super::constant::CVal;
use super::scope::Entry;
use super::tree::{Expr, ExprKind};
use super::types::{QTy, Ty, TyKind};
use crate::source::{Diagnostic, Span, Symbol};
use crate::syntax::ast::{self, Ident, TypeOrExpr, TypeQuery, UnaryOp};
use cloom_ir::Space;
use smallvec::smallvec;

impl Sema<'_> {
    /// The value of an expression.
    pub(super) fn rvalue_of(&mut self, e: &ast::Expr) -> Expr {
        let e = self.expr(e);
        self.rvalue(e)
    }

    /// An expression, which may designate an object.
    pub(super) fn expr(&mut self, e: &ast::Expr) -> Expr {
        let span = e.span;
        match &e.kind {
            ast::ExprKind::Ident(name) => self.name(*name, span),
            ast::ExprKind::Int(lit) => {
                let ty = int_literal_type(lit);
                self.constant(lit.value, ty, span)
            }
            ast::ExprKind::Float(lit) => self.float_literal(lit, span),
            ast::ExprKind::Char(c) => self.constant(*c as u64, Ty::INT, span),
            ast::ExprKind::Bool(b) => self.constant(u64::from(*b), Ty::INT, span),
            ast::ExprKind::Str(s) => {
                let id = self.string_global(&s.bytes);
                let ty = self.unit.globals[id.0 as usize].ty;
                Expr { kind: ExprKind::Global(id), ty, lvalue: true, span }
            }
            ast::ExprKind::Paren(inner) => {
                let inner = self.expr(inner);
                Expr { span, ..inner }
            }
            // `-9223372036854775808`: the literal alone would be an `ulong`, and so would its negation.
            ast::ExprKind::Unary { op: UnaryOp::Minus, operand } if is_least_long_negated(operand) => {
                self.constant(i64::MIN as u64, Ty::LONG, span)
            }
            ast::ExprKind::Unary { op, operand } => self.unary_expr(*op, operand, span),
            ast::ExprKind::Binary { .. } | ast::ExprKind::Comma { .. } => self.chain(e),
            ast::ExprKind::Assign { op, op_span, lhs, rhs } => {
                let target = self.expr(lhs);
                match op {
                    Some(op) => self.compound_assign(*op, target, rhs, *op_span, span),
                    None => self.assign(target, rhs, span),
                }
            }
            ast::ExprKind::Conditional { cond, then, els } => self.conditional_expr(cond, then.as_deref(), els, span),
            ast::ExprKind::Call { callee, args } => self.call(callee, args, span),
            ast::ExprKind::Index { base, index } => self.index(base, index, span),
            ast::ExprKind::Member { base, name, arrow } => self.member_expr(base, *name, *arrow, span),
            ast::ExprKind::Cast { ty, operand } => {
                let to = self.type_of_name(ty).ty.ty;
                let operand = self.expr(operand);
                self.cast(operand, to, span)
            }
            ast::ExprKind::VectorLit { ty, elems } => {
                let ty = self.type_of_name(ty).ty.ty;
                self.vector_literal(ty, elems, span)
            }
            ast::ExprKind::CompoundLit { ty, init } => {
                let declared = self.type_of_name(ty);
                let e = self.compound_literal(declared.ty, init);
                Expr { span, ..e }
            }
            ast::ExprKind::Query { query, arg } => self.type_query(*query, arg, span),
            ast::ExprKind::Offsetof { ty, path } => self.offset_of(ty, path, span),
            ast::ExprKind::TypedCall { name, args } => self.typed_call(name.name, name.span, args, span),
            ast::ExprKind::Selection { control, choices } => self.selection(control, choices, span),
            ast::ExprKind::Statements(block) => self.statements_expr(block, span),
            ast::ExprKind::Block(literal) => self.block_literal(literal, span),
            ast::ExprKind::Error => Expr::error(span),
        }
    }

    fn name(&mut self, name: Symbol, span: Span) -> Expr {
        match self.scopes.get(name) {
            Some((Entry::Local(id), _)) => {
                // In a block, a variable of the function around it becomes a capture, and the name means the block's
                // own copy.
                let Some(id) = self.own_local(name, *id, span) else { return Expr::error(span) };
                let ty = match &self.cx {
                    Some(cx) => cx.locals[id.0 as usize].ty,
                    None => return Expr::error(span),
                };
                // A variable whose declaration was wrong: each use would be wrong for a reason that has been reported.
                let kind = if ty.ty == Ty::ERROR { ExprKind::Error } else { ExprKind::Local(id) };
                Expr { kind, ty, lvalue: true, span }
            }
            Some((Entry::Global(id), _)) => {
                let id = *id;
                let ty = self.unit.globals[id.0 as usize].ty;
                // `extern constant struct s x;` may stand before the members of `s` are known; a use of `x` may not.
                if self.types.record(ty.ty).is_some_and(|r| r.fields.is_none()) {
                    let message = format!("`{}` is of incomplete type `{}`", self.text(name), self.type_name(ty.ty));
                    self.error("E0316", span, message);
                    return Expr::error(span);
                }
                // A sampler is a value, so that code can be made for it.
                let data = self.unit.globals[id.0 as usize].data.as_ref().filter(|_| ty.ty == Ty::SAMPLER);
                if let Some(bits) = data.and_then(|d| d.bytes.first_chunk()) {
                    return self.constant(u64::from(u32::from_le_bytes(*bits)), Ty::SAMPLER, span);
                }
                Expr { kind: ExprKind::Global(id), ty, lvalue: true, span }
            }
            Some((Entry::Constant(bits, ty), _)) => {
                let (bits, ty) = (*bits, *ty);
                self.constant(bits, ty, span)
            }
            Some((Entry::Funcs(_) | Entry::Template, _)) => {
                // A call looks up its callee itself, so this name is used as a value. The type only has to be no error,
                // so that `rvalue` or `address_of` reports the function.
                let ty = Ty::INT;
                Expr::value(ExprKind::FuncName(name), ty, span)
            }
            Some((Entry::Typedef(..), _)) => {
                let message = format!("`{}` is a type, not a value", self.text(name));
                self.error("E0300", span, message);
                Expr::error(span)
            }
            Some((Entry::Error, _)) => Expr::error(span),
            Some((Entry::Block(func, ty, captured), _)) => {
                let (func, ty, captured) = (*func, *ty, captured.clone());
                self.block_name(name, func, ty, &captured, span)
            }
            None => {
                if super::builtins::builtin::is_builtin(self.text(name)) {
                    return Expr::value(ExprKind::FuncName(name), Ty::INT, span);
                }
                // `__func__` is declared by nobody; a name of the program's own goes before it.
                if let Some(e) = self.function_name(name, span) {
                    return e;
                }
                self.undeclared(name, span, false)
            }
        }
    }

    /// Reports a name that nothing declares.
    pub(super) fn undeclared(&mut self, name: Symbol, span: Span, function: bool) -> Expr {
        let text = self.text(name).to_owned();
        // These names are macros that exist only where the device has images, so that they come here as unknown names.
        if ["CLK_NORMALIZED_COORDS_", "CLK_ADDRESS_", "CLK_FILTER_"].iter().any(|p| text.starts_with(p)) {
            self.unavailable(span, &format!("`{text}`: samplers and images are"), super::builtins::images::IMAGES_HELP);
            return Expr::error(span);
        }
        let what = if function { "function" } else { "name" };
        let mut d = Diagnostic::error("E0300", span, format!("{what} `{text}` is not declared"));
        let c_name = text.strip_suffix('f').filter(|n| function && super::builtins::builtin::is_builtin(n));
        // One hint at most, the most certain first: a word of another language, C's `sqrtf` for `sqrt`, then a name of
        // similar spelling.
        if let Some(help) = crate::source::foreign(&text) {
            d = d.help(help);
        } else if let Some(name) = c_name {
            d = d.suggest(span, name, "the functions of OpenCL C take every type of number; write");
        } else if let Some(similar) = self.similar_name(name, function) {
            d = d.suggest(span, similar, "did you mean");
        } else if let Some(help) = super::builtins::clang_builtins::unknown(&text) {
            d = d.help(help);
        } else if function && text.starts_with("__cl_") {
            d = d.note("such functions are for the library of built-in functions only");
        }
        self.push(d);
        // Say it once: later uses of the name are not news.
        if !function {
            self.scopes.put(name, Entry::Error, span);
        }
        Expr::error(span)
    }

    fn float_literal(&mut self, lit: &ast::FloatLit, span: Span) -> Expr {
        use ast::FloatSuffix as S;
        match lit.suffix {
            S::Half if self.opts.fp16 => self.constant(lit.half.into(), Ty::HALF, span),
            S::Half => {
                self.no_half(span);
                Expr::error(span)
            }
            // Without `double`, a literal without a suffix is a `float`, as with `-cl-single-precision-constant`.
            S::None if self.opts.fp64 && !self.opts.single_precision_constant => {
                self.constant(lit.double.to_bits(), Ty::DOUBLE, span)
            }
            S::None | S::Float => self.constant(u64::from(lit.single.to_bits()), Ty::FLOAT, span),
        }
    }

    fn unary_expr(&mut self, op: UnaryOp, operand: &ast::Expr, span: Span) -> Expr {
        match op {
            UnaryOp::Deref => {
                let p = self.rvalue_of(operand);
                self.deref(p, span)
            }
            UnaryOp::AddrOf => self.address_of(operand, span),
            UnaryOp::PreInc | UnaryOp::PreDec | UnaryOp::PostInc | UnaryOp::PostDec => {
                let target = self.expr(operand);
                let down = matches!(op, UnaryOp::PreDec | UnaryOp::PostDec);
                let post = matches!(op, UnaryOp::PostInc | UnaryOp::PostDec);
                self.step(target, down, post, span)
            }
            _ => {
                let e = self.rvalue_of(operand);
                self.unary(op, e, span)
            }
        }
    }

    fn deref(&mut self, p: Expr, span: Span) -> Expr {
        if p.is_error() {
            return Expr::error(span);
        }
        let Some(to) = self.types.pointee(p.ty.ty) else {
            let message = format!("`*` needs a pointer, not a `{}`", self.type_name(p.ty.ty));
            self.error("E0304", span, message);
            return Expr::error(span);
        };
        // `*p` of a `void *` is left to its use: `&*p` is fine, and `rvalue` reports a value of type `void`.
        if to.ty != Ty::VOID && self.types.layout(to.ty).is_none() {
            let message = format!("`{}` is incomplete here", self.type_name(to.ty));
            self.error("E0316", span, message);
            return Expr::error(span);
        }
        if let ExprKind::Addr(object) = p.kind {
            // `*&x` is `x`, but of an array its first element.
            if object.ty.ty == to.ty {
                return Expr { span, ..*object };
            }
            let ty = p.ty;
            let p = Expr { kind: ExprKind::Addr(object), ty, lvalue: false, span: p.span };
            return Expr { kind: ExprKind::Deref(Box::new(p)), ty: to, lvalue: true, span };
        }
        Expr { kind: ExprKind::Deref(Box::new(p)), ty: to, lvalue: true, span }
    }

    fn address_of(&mut self, operand: &ast::Expr, span: Span) -> Expr {
        // `&a[n]` may name the element after the last one. The operand is analysed next, and `index` takes the flag, so
        // that it does not reach index expressions inside the operand.
        self.address_only = matches!(operand.unparenthesised().kind, ast::ExprKind::Index { .. });
        let object = self.expr(operand);
        if object.is_error() || self.is_operand_pipe(&object) {
            return Expr::error(span);
        }
        if matches!(object.kind, ExprKind::FuncName(_)) {
            self.error("E0211", span, "the address of a function cannot be taken in OpenCL C");
            return Expr::error(span);
        }
        if let ExprKind::Block(..) = object.kind {
            self.error("E0332", span, "the address of a block cannot be taken");
            return Expr::error(span);
        }
        if let ExprKind::Swizzle(..) | ExprKind::Lane(..) = object.kind {
            self.push(
                Diagnostic::error("E0305", span, "the address of a component of a vector cannot be taken")
                    .help("take the vector's address and cast it to a pointer to its elements"),
            );
            return Expr::error(span);
        }
        if !object.lvalue {
            self.push(
                Diagnostic::error("E0305", operand.span, "`&` needs an object in memory").label("this is only a value"),
            );
            return Expr::error(span);
        }
        let ty = self.types.pointer(QTy { is_restrict: false, ..object.ty });
        // `&*p` reads nothing: it is `p`, with the type that the address has.
        if let ExprKind::Deref(p) = object.kind {
            let kind = ExprKind::PtrCast(p);
            return Expr::value(kind, ty, span);
        }
        Expr::value(ExprKind::Addr(Box::new(object)), ty, span)
    }

    /// Whether something may be assigned; says why not.
    pub(super) fn modifiable(&mut self, target: &Expr) -> bool {
        if target.is_error() {
            return false;
        }
        let span = target.span;
        if self.is_operand_pipe(target) {
            return false;
        }
        if let ExprKind::Block(..) = target.kind {
            self.push(
                Diagnostic::error("E0332", span, "a block variable cannot be assigned")
                    .note("it is `const`: its block must be known when the program is built"),
            );
            return false;
        }
        if !target.lvalue {
            self.push(Diagnostic::error("E0305", span, "this cannot be assigned").label("only a value, not an object"));
            return false;
        }
        if target.ty.space == Space::Constant {
            self.push(
                Diagnostic::error("E0306", span, "constant memory cannot be written")
                    .help("declare the pointer as `global` to write through it"),
            );
            return false;
        }
        if target.ty.is_const {
            self.push(Diagnostic::error("E0306", span, "this is `const` and cannot be assigned"));
            return false;
        }
        if matches!(self.types.kind(target.ty.ty), TyKind::Array(..)) {
            self.push(
                Diagnostic::error("E0305", span, "an array cannot be assigned").help("copy its elements in a loop"),
            );
            return false;
        }
        // A `half` in memory may be pointed to, but not written by an assignment.
        if !self.opts.fp16 && target.ty.ty == Ty::HALF {
            self.no_half(span);
            return false;
        }
        if let ExprKind::Swizzle(_, lanes) = &target.kind
            // `v.xx = u` would store two values into one component.
            && (1..lanes.len()).any(|i| lanes[..i].contains(&lanes[i]))
        {
            self.error("E0312", span, "a component stands twice on the left of an assignment");
            return false;
        }
        true
    }

    fn assign(&mut self, target: Expr, rhs: &ast::Expr, span: Span) -> Expr {
        // The right side is analysed even if the target cannot be assigned, so that its own mistakes are reported too.
        let value = self.expr(rhs);
        if !self.modifiable(&target) {
            return Expr::error(span);
        }
        let ty = target.ty.ty;
        let value = self.assigned(value, ty, "assign", rhs.span);
        if value.is_error() {
            return Expr::error(span);
        }
        Expr::value(ExprKind::Assign(Box::new(target), Box::new(value)), ty, span)
    }

    fn conditional_expr(&mut self, cond: &ast::Expr, then: Option<&ast::Expr>, els: &ast::Expr, span: Span) -> Expr {
        let c = self.rvalue_of(cond);
        if let Some(then) = then {
            let known = self.known_truth(&c);
            let a = self.reached_unless(known == Some(false), |this| this.rvalue_of(then));
            let b = self.reached_unless(known == Some(true), |this| this.rvalue_of(els));
            return self.conditional(c, a, b, span);
        }
        // GNU's `c ?: b`: `c` is evaluated once, although it decides and is the result.
        if c.is_error() {
            return Expr::error(span);
        }
        let ty = c.ty.ty;
        if let Some((test, known)) = self.constant_test(&c) {
            let b = self.reached_unless(known == Some(true), |this| this.rvalue_of(els));
            return self.conditional(test, c, b, span);
        }
        // Stored first, then read twice: by the choice and as its result.
        let temp = self.new_local(None, QTy::plain(ty), 1);
        let temporary = |kind| Expr { kind, ty: QTy::plain(ty), lvalue: true, span };
        let store = Expr::value(ExprKind::Assign(Box::new(temporary(ExprKind::Local(temp))), Box::new(c)), ty, span);
        let again = self.rvalue(temporary(ExprKind::Local(temp)));
        let b = self.rvalue_of(els);
        let test = self.rvalue(temporary(ExprKind::Local(temp)));
        let choice = self.conditional(test, again, b, span);
        if choice.is_error() {
            return choice;
        }
        let ty = choice.ty.ty;
        Expr::value(ExprKind::Comma(Box::new(store), Box::new(choice)), ty, span)
    }

    /// What decides `c ?: b` if `c` is constant, and so has no effects: a constant beside `c`, and whether it is true
    /// if it is a scalar. In program scope, where there is no variable to keep `c`, always: what is not constant there
    /// is reported by whoever needs the value.
    fn constant_test(&mut self, c: &Expr) -> Option<(Expr, Option<bool>)> {
        let (ty, span) = (c.ty.ty, c.span);
        let in_program_scope = self.cx.is_none();
        if let TyKind::Vector(..) = self.types.kind(ty) {
            let lanes = match self.eval(c) {
                Ok(CVal::Lanes(lanes)) => lanes,
                _ if in_program_scope => return Some((self.constant(0, ty, span), None)),
                _ => return None,
            };
            return Some((Expr::value(ExprKind::Const(lanes), ty, span), None));
        }
        if !self.types.is_scalar(ty) {
            // No condition at all: `conditional` says so.
            return in_program_scope.then(|| (Expr::value(ExprKind::Const(smallvec![0]), ty, span), None));
        }
        let known = self.truth(c).ok();
        let truth = known.or(in_program_scope.then_some(true))?;
        Some((self.constant(truth.into(), Ty::INT, span), known))
    }

    fn index(&mut self, base: &ast::Expr, index: &ast::Expr, span: Span) -> Expr {
        let one_past = std::mem::take(&mut self.address_only);
        let a = self.expr(base);
        let is_vector = self.types.is_vector(a.ty.ty);
        // A vector stays an lvalue, because `v[i] = x` writes one component of it.
        let a = if is_vector { a } else { self.rvalue(a) };
        let b = self.rvalue_of(index);
        if a.is_error() || b.is_error() {
            return Expr::error(span);
        }
        if is_vector && !self.types.is_pointer(b.ty.ty) {
            return self.vector_index(a, b, span);
        }
        // C defines `a[i]` as `*(a + i)`, so that `i[a]` is valid too.
        let (p, i) = if self.types.is_pointer(a.ty.ty) { (a, b) } else { (b, a) };
        if !self.types.is_pointer(p.ty.ty) {
            let message = format!("`[ ]` needs a pointer, an array or a vector, not a `{}`", self.type_name(i.ty.ty));
            self.error("E0304", span, message);
            return Expr::error(span);
        }
        // Checked before the addition, so that the message speaks of an index and not of an operand of `+`.
        if !self.is_index(&i) {
            return Expr::error(span);
        }
        self.warn_of_bounds(&p, &i, one_past);
        let p = self.pointer_add(p, i, false, span);
        self.deref(p, span)
    }

    /// Whether a value can be an index; says why not.
    pub(super) fn is_index(&mut self, i: &Expr) -> bool {
        let is_integer = self.types.is_integer(i.ty.ty);
        if !is_integer {
            let message = format!("an index must be an integer, not a `{}`", self.type_name(i.ty.ty));
            self.push(Diagnostic::error("E0304", i.span, message).help("convert it, for example by `(int)`"));
        }
        is_integer
    }

    fn member_expr(&mut self, base: &ast::Expr, name: Ident, arrow: bool, span: Span) -> Expr {
        let mut b = self.expr(base);
        if b.is_error() {
            return Expr::error(span);
        }
        // `p->m` is `(*p).m`: from here on the two are the same.
        if arrow {
            let p = self.rvalue(b);
            if p.is_error() {
                return Expr::error(span);
            }
            if !self.types.is_pointer(p.ty.ty) {
                let message = format!("`->` needs a pointer, not a `{}`", self.type_name(p.ty.ty));
                self.push(Diagnostic::error("E0311", base.span, message).help("write `.` instead"));
                return Expr::error(span);
            }
            b = self.deref(p, base.span);
            if b.is_error() {
                return Expr::error(span);
            }
        }
        match self.types.kind(b.ty.ty) {
            TyKind::Vector(..) => {
                let e = self.swizzle(b, name);
                Expr { span, ..e }
            }
            TyKind::Record(_) => {
                let Some((field, offset)) = self.types.field(b.ty.ty, name.name) else {
                    self.no_member(b.ty.ty, name);
                    return Expr::error(span);
                };
                let ty = QTy {
                    ty: field.ty,
                    // The member of a `const` structure is `const`, and it lives where the structure lives.
                    is_const: field.is_const || b.ty.is_const,
                    is_volatile: field.is_volatile || b.ty.is_volatile,
                    is_restrict: field.is_restrict,
                    space: b.ty.space,
                    align: field.align,
                };
                // A member of a value (a call's result) is a temporary: readable, so it is loaded like an object.
                let lvalue = b.lvalue;
                let e = Expr { kind: ExprKind::Field(Box::new(b), offset), ty, lvalue: true, span };
                if lvalue { e } else { self.rvalue(e) }
            }
            TyKind::Pointer(_) if !arrow => {
                let message = format!("`.` cannot be used on a pointer (`{}`)", self.type_name(b.ty.ty));
                self.push(Diagnostic::error("E0311", name.span, message).help("write `->` instead"));
                Expr::error(span)
            }
            _ => {
                let message = format!("`{}` has no members", self.type_name(b.ty.ty));
                self.error("E0311", name.span, message);
                Expr::error(span)
            }
        }
    }

    /// Reports a member that a record does not have.
    pub(super) fn no_member(&mut self, ty: Ty, name: Ident) {
        let message = format!("`{}` has no member `{}`", self.type_name(ty), self.text(name.name));
        let mut d = Diagnostic::error("E0311", name.span, message);
        if let Some(record) = self.types.record(ty) {
            match &record.fields {
                Some(fields) => {
                    let names = fields.iter().filter_map(|f| f.name).map(|n| self.text(n));
                    // Those of the language's own structures are nobody's business.
                    let names: Vec<&str> = names.filter(|name| !name.starts_with('@')).collect();
                    let text = self.text(name.name);
                    if let Some(similar) =
                        crate::source::nearest(text, names.iter().copied()).filter(|_| text.len() > 1)
                    {
                        d = d.suggest(name.span, similar.to_owned(), "did you mean");
                    } else if (1..=12).contains(&names.len()) {
                        d = d.note(format!("its members are: {}", names.join(", ")));
                    }
                }
                None => d = d.also(record.span, "only declared here, without members"),
            }
        }
        self.push(d);
    }

    fn vector_literal(&mut self, ty: Ty, elems: &[ast::Expr], span: Span) -> Expr {
        if ty == Ty::ERROR {
            return Expr::error(span);
        }
        // `(float4)(x)`: one value is for all components, and a vector of the same type is taken as it is.
        if let [one] = elems {
            let mut e = self.expr(one);
            if e.ty.ty == Ty::BOOL {
                // A component is a number, not a truth value: a cast of a `bool` would give all ones for true.
                e = self.rvalue(e);
                e = self.promote(e);
            }
            return self.cast(e, ty, span);
        }
        let Some((elem, lanes)) = self.types.numeric(ty) else { return Expr::error(span) };
        if lanes == 1 {
            // A parenthesised comma expression after a scalar type.
            let Some((last, rest)) = elems.split_last() else { return Expr::error(span) };
            let mut value = self.expr(last);
            value = self.cast(value, ty, span);
            for e in rest.iter().rev() {
                let e = self.expr(e);
                value = Expr::value(ExprKind::Comma(Box::new(e), Box::new(value)), ty, span);
            }
            return value;
        }
        // The components may come from scalars, which are converted, and from shorter vectors, which must have the
        // element type.
        let mut parts = Vec::new();
        let mut have = 0u32;
        let mut wrong = false;
        for e in elems {
            let part = self.rvalue_of(e);
            let Some((_, n)) = self.types.numeric(part.ty.ty) else {
                if !part.is_error() {
                    let message = format!("`{}` cannot be a component of a vector", self.type_name(part.ty.ty));
                    self.error("E0313", e.span, message);
                }
                wrong = true;
                continue;
            };
            have += u32::from(n);
            let to = self.types.value(elem, n);
            if n > 1 && part.ty.ty != to {
                let (from, to) = (self.type_name(part.ty.ty), self.type_name(to));
                self.push(
                    Diagnostic::error("E0313", e.span, format!("`{from}` in a literal of `{}`", self.type_name(ty)))
                        .note("vectors are not converted implicitly")
                        .help(format!("write `convert_{to}(…)`")),
                );
                wrong = true;
                continue;
            }
            parts.push(self.convert(part, to));
        }
        if wrong {
            return Expr::error(span);
        }
        if have != u32::from(lanes) {
            let message = format!("literal of `{}` has {have} components instead of {lanes}", self.type_name(ty));
            self.push(
                Diagnostic::error("E0313", span, message)
                    .note("a literal has one value for all components, or exactly as many as the vector has"),
            );
            return Expr::error(span);
        }
        Expr::value(ExprKind::Vector(parts), ty, span)
    }

    fn type_query(&mut self, query: TypeQuery, arg: &TypeOrExpr, span: Span) -> Expr {
        // A variable may have more than the alignment of its type.
        let (qty, least) = match arg {
            TypeOrExpr::Type(t) => (self.type_of_name(t).ty, 1),
            TypeOrExpr::Expr(e) => {
                // `sizeof a[9]` reads nothing: warnings about code that runs, such as an index out of bounds, do not
                // apply.
                let e = self.reached_unless(true, |this| this.expr(e));
                let align = match (&e.kind, &self.cx) {
                    (ExprKind::Local(id), Some(cx)) => cx.locals[id.0 as usize].align,
                    (ExprKind::Global(id), _) => self.unit.globals[id.0 as usize].align,
                    _ => 1,
                };
                (e.ty, align)
            }
        };
        let ty = qty.ty;
        if ty == Ty::ERROR {
            return Expr::error(span);
        }
        if ty == Ty::VOID && query == TypeQuery::VecStep {
            return self.constant(1, Ty::INT, span);
        }
        let Some((size, align)) = self.types.layout_of(qty).map(|(size, align)| (size, align.max(least))) else {
            let message = format!("`{}` has no size", self.type_name(ty));
            self.error("E0316", span, message);
            return Expr::error(span);
        };
        match query {
            TypeQuery::Sizeof => self.constant(size, Ty::ULONG, span),
            TypeQuery::Alignof => self.constant(align, Ty::ULONG, span),
            TypeQuery::VecStep => {
                let n = match self.types.numeric(ty) {
                    // A vector of three components counts as four, as its size does.
                    Some((_, 3)) => 4,
                    Some((_, n)) => u64::from(n),
                    None => 1,
                };
                self.constant(n, Ty::INT, span)
            }
        }
    }

    fn offset_of(&mut self, ty: &ast::TypeName, path: &[ast::Designator], span: Span) -> Expr {
        let mut ty = self.type_of_name(ty).ty.ty;
        let mut offset = 0u64;
        for step in path {
            match step {
                ast::Designator::Field(name) => match self.types.field(ty, name.name) {
                    Some((field, at)) => (ty, offset) = (field.ty, offset + at),
                    None => {
                        if ty != Ty::ERROR {
                            self.no_member(ty, *name);
                        }
                        return Expr::error(span);
                    }
                },
                ast::Designator::Index(e) => {
                    let index = self.rvalue_of(e);
                    let TyKind::Array(of, _) = *self.types.kind(ty) else {
                        self.error("E0304", e.span, "this is not an array");
                        return Expr::error(span);
                    };
                    let Some(n) = self.eval_int(&index) else {
                        self.not_constant(e.span, "an index in `offsetof`");
                        return Expr::error(span);
                    };
                    // An index may be out of bounds here, also by a negative number: no memory is accessed.
                    offset = offset.wrapping_add((n as u64).wrapping_mul(self.types.size(of.ty)));
                    ty = of.ty;
                }
                ast::Designator::Range(first, _) => {
                    self.error("E0304", first.span, "`offsetof` takes one index, not a range");
                    return Expr::error(span);
                }
            }
        }
        Expr::value(ExprKind::Const(smallvec![offset]), Ty::ULONG, span)
    }
}

/// Whether an expression is the literal 9223372036854775808, for which the standard has no type. Programs write the
/// least `long` with it and a minus; other compilers take it so.
fn is_least_long_negated(e: &ast::Expr) -> bool {
    matches!(&e.kind, ast::ExprKind::Int(lit) if lit.decimal && !lit.unsigned && lit.value == i64::MIN as u64)
}

/// The first type of the standard's list that holds the value.
fn int_literal_type(lit: &ast::IntLit) -> Ty {
    let int = !lit.long && lit.value <= i32::MAX as u64 && !lit.unsigned;
    // Decimal literals become unsigned only by the suffix `u`; `0xffffffff` is a `uint` without one.
    let uint = !lit.long && lit.value <= u64::from(u32::MAX) && (lit.unsigned || !lit.decimal);
    let long = lit.value <= i64::MAX as u64 && !lit.unsigned;
    match (int, uint, long) {
        (true, _, _) => Ty::INT,
        (_, true, _) => Ty::UINT,
        (_, _, true) => Ty::LONG,
        _ => Ty::ULONG,
    }
}
