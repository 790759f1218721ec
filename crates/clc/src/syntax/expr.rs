//! The grammar of expressions: precedence climbing for binary operators, recursive descent for the rest.

use super::ast::*;
use super::keywords::{Kw, NameClass};
use super::parser::{NEST, NEST_BLOCK, NEST_OPERATOR, NEST_TYPE, Parser};
use crate::pp::{Token, TokenKind, flags};
use crate::source::{Diagnostic, Span};

/// Precedence (the higher the tighter) and operator of a token between operands.
fn binary_operator(kind: TokenKind) -> Option<(u8, BinaryOp)> {
    use TokenKind as T;
    Some(match kind {
        T::PipePipe => (1, BinaryOp::Or),
        T::AmpAmp => (2, BinaryOp::And),
        T::Pipe => (3, BinaryOp::BitOr),
        T::Caret => (4, BinaryOp::BitXor),
        T::Amp => (5, BinaryOp::BitAnd),
        T::EqEq => (6, BinaryOp::Eq),
        T::Ne => (6, BinaryOp::Ne),
        T::Lt => (7, BinaryOp::Lt),
        T::Gt => (7, BinaryOp::Gt),
        T::Le => (7, BinaryOp::Le),
        T::Ge => (7, BinaryOp::Ge),
        T::Shl => (8, BinaryOp::Shl),
        T::Shr => (8, BinaryOp::Shr),
        T::Plus => (9, BinaryOp::Add),
        T::Minus => (9, BinaryOp::Sub),
        T::Star => (10, BinaryOp::Mul),
        T::Slash => (10, BinaryOp::Div),
        T::Percent => (10, BinaryOp::Rem),
        _ => return None,
    })
}

fn assignment_operator(kind: TokenKind) -> Option<Option<BinaryOp>> {
    use TokenKind as T;
    Some(match kind {
        T::Eq => None,
        T::StarEq => Some(BinaryOp::Mul),
        T::SlashEq => Some(BinaryOp::Div),
        T::PercentEq => Some(BinaryOp::Rem),
        T::PlusEq => Some(BinaryOp::Add),
        T::MinusEq => Some(BinaryOp::Sub),
        T::ShlEq => Some(BinaryOp::Shl),
        T::ShrEq => Some(BinaryOp::Shr),
        T::AmpEq => Some(BinaryOp::BitAnd),
        T::CaretEq => Some(BinaryOp::BitXor),
        T::PipeEq => Some(BinaryOp::BitOr),
        _ => return None,
    })
}

impl Parser<'_> {
    /// Makes a node above parts of the given height.
    #[inline(never)]
    fn node(&mut self, kind: ExprKind, span: Span, below: u16) -> Expr {
        // The tree is cut here rather than refused later: each stage recurses over it, also to drop it.
        if below >= self.bounds.height {
            self.too_deep();
            return Expr { kind: ExprKind::Error, span, height: 1 };
        }
        let height = below + 1;
        self.tall = self.tall.max(height);
        Expr { kind, span, height }
    }

    fn leaf(&mut self, kind: ExprKind, span: Span) -> Expr {
        self.node(kind, span, 0)
    }

    pub fn error_expr(&mut self, span: Span) -> Expr {
        Expr { kind: ExprKind::Error, span, height: 1 }
    }

    /// Runs a part of the grammar and returns the greatest height of an expression in it.
    pub fn measured<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> (T, u16) {
        // The parts of a type, or of arguments, have no common root whose height could be asked.
        let before = std::mem::take(&mut self.tall);
        let result = f(self);
        let height = self.tall;
        // The part counts for what is around it, too.
        self.tall = before.max(height);
        (result, height)
    }

    /// With commas.
    pub fn expression(&mut self) -> Expr {
        let mut lhs = self.assignment();
        let mut length = 0;
        while self.eat(TokenKind::Comma).is_some() {
            length += 1;
            let rhs = self.assignment();
            let (span, below) = (lhs.span.to(rhs.span), self.below_chain(&lhs, &rhs, length));
            lhs = self.node(ExprKind::Comma { lhs: Box::new(lhs), rhs: Box::new(rhs) }, span, below);
        }
        lhs
    }

    /// The height below the next operator of a chain, the operators before it not counted: chains are walked along in
    /// loops.
    fn below_chain(&mut self, lhs: &Expr, rhs: &Expr, length: usize) -> u16 {
        if length > self.bounds.chain {
            return self.bounds.height;
        }
        // The left spine of a chain is no taller than its first operand, for those who walk along it in a loop.
        let is_chain = matches!(lhs.kind, ExprKind::Binary { .. } | ExprKind::Comma { .. });
        let left = if is_chain { lhs.height.saturating_sub(1) } else { lhs.height };
        left.max(rhs.height)
    }

    /// Without commas.
    pub fn assignment(&mut self) -> Expr {
        let lhs = self.conditional();
        let Some(op) = assignment_operator(self.kind()) else { return lhs };
        let op_span = self.bump().span;
        // Assignments group to the right: a chain of them is recursion, and counts as nesting.
        let rhs = if self.enter(NEST) { self.assignment() } else { self.error_expr(op_span) };
        self.leave(NEST);
        let (span, below) = (lhs.span.to(rhs.span), lhs.height.max(rhs.height));
        self.node(ExprKind::Assign { op, op_span, lhs: Box::new(lhs), rhs: Box::new(rhs) }, span, below)
    }

    /// Without assignments, as constants are.
    pub fn conditional(&mut self) -> Expr {
        let cond = self.binary(1);
        let Some(question) = self.eat(TokenKind::Question) else { return cond };
        // Without an expression it is GNU's `c ?: b`.
        let mut then = None;
        let els;
        if self.enter(NEST) {
            if !self.is(TokenKind::Colon) {
                then = Some(Box::new(self.expression()));
            }
            if self.eat(TokenKind::Colon).is_none() {
                self.no_colon(question);
            }
            els = self.conditional();
        } else {
            els = self.error_expr(question);
        }
        self.leave(NEST);
        let below = cond.height.max(els.height).max(then.as_ref().map_or(0, |t| t.height));
        let span = cond.span.to(els.span);
        self.node(ExprKind::Conditional { cond: Box::new(cond), then, els: Box::new(els) }, span, below)
    }

    #[inline(never)]
    fn no_colon(&mut self, question: Span) {
        let (t, found) = (self.token(), self.describe(self.token()));
        self.error(
            Diagnostic::error("E0200", t.span, format!("expected `:`, found {found}"))
                .also(question, "of this conditional"),
        );
    }

    fn binary(&mut self, least: u8) -> Expr {
        let mut lhs = self.cast();
        let mut length = 0;
        while let Some((precedence, op)) = binary_operator(self.kind()) {
            if precedence < least {
                break;
            }
            length += 1;
            let op_span = self.bump().span;
            // `+ 1`, because operators of one precedence group to the left.
            let rhs = if self.enter(NEST_OPERATOR) { self.binary(precedence + 1) } else { self.error_expr(op_span) };
            self.leave(NEST_OPERATOR);
            let (span, below) = (lhs.span.to(rhs.span), self.below_chain(&lhs, &rhs, length));
            let kind = ExprKind::Binary { op, op_span, lhs: Box::new(lhs), rhs: Box::new(rhs) };
            lhs = self.node(kind, span, below);
        }
        lhs
    }

    /// A cast, or what binds tighter.
    #[inline(never)]
    pub fn cast(&mut self) -> Expr {
        if self.is(TokenKind::LParen) && self.starts_type_name(self.ahead(1)) {
            let result = if self.enter(NEST) { self.cast_or_literal() } else { self.error_expr(self.span()) };
            self.leave(NEST);
            return result;
        }
        self.unary()
    }

    /// From a `(` with a type after it.
    #[inline(never)]
    fn cast_or_literal(&mut self) -> Expr {
        let open = self.bump().span;
        let (ty, height) = self.measured(Self::type_name);
        self.close(TokenKind::RParen, open);
        if self.is(TokenKind::LBrace) {
            let (init, inner) = self.measured(Self::init_list);
            let span = open.to(init.span);
            let kind = ExprKind::CompoundLit { ty: Box::new(ty), init };
            let base = self.node(kind, span, height.max(inner));
            return self.postfix(base);
        }
        // After a parenthesis, the name of a type begins a cast of the operand.
        if self.is(TokenKind::LParen) && self.is_vector(&ty) && !self.starts_type(self.ahead(1)) {
            let base = self.vector_literal(open, ty, height);
            return self.postfix(base);
        }
        let operand = self.cast();
        let (span, below) = (open.to(operand.span), operand.height.max(height));
        self.node(ExprKind::Cast { ty: Box::new(ty), operand: Box::new(operand) }, span, below)
    }

    /// The components, from the `(` on.
    #[inline(never)]
    fn vector_literal(&mut self, start: Span, ty: TypeName, height: u16) -> Expr {
        let open = self.bump().span;
        let (elems, inner) = self.measured(|this| this.arguments(open));
        let span = start.to(self.prev_span());
        if elems.is_empty() {
            self.error(Diagnostic::error("E0203", span, "a vector needs at least one component"));
            return self.error_expr(span);
        }
        self.node(ExprKind::VectorLit { ty: Box::new(ty), elems }, span, height.max(inner))
    }

    fn is_vector(&self, ty: &TypeName) -> bool {
        ty.declarator.derivations.is_empty() && self.specs_are_vector(&ty.specs)
    }

    /// Expressions up to a `)`, which is taken.
    #[inline(never)]
    fn arguments(&mut self, open: Span) -> Vec<Expr> {
        let mut args = Vec::new();
        if self.eat(TokenKind::RParen).is_some() {
            return args;
        }
        loop {
            args.push(self.assignment());
            if self.eat(TokenKind::Comma).is_none() {
                break;
            }
            if self.is(TokenKind::RParen) {
                self.unexpected("E0203", "an expression after `,`");
                break;
            }
        }
        self.close(TokenKind::RParen, open);
        args
    }

    #[inline(never)]
    fn unary(&mut self) -> Expr {
        let t = self.token();
        let op = match t.kind {
            TokenKind::Plus => UnaryOp::Plus,
            TokenKind::Minus => UnaryOp::Minus,
            TokenKind::Tilde => UnaryOp::BitNot,
            TokenKind::Bang => UnaryOp::Not,
            TokenKind::Star => UnaryOp::Deref,
            TokenKind::Amp => UnaryOp::AddrOf,
            TokenKind::PlusPlus => UnaryOp::PreInc,
            TokenKind::MinusMinus => UnaryOp::PreDec,
            TokenKind::Caret if self.has_blocks => {
                let base = self.block_literal();
                return self.postfix(base);
            }
            _ => match self.keyword() {
                Some(Kw::Sizeof) => return self.query(TypeQuery::Sizeof),
                Some(Kw::Alignof) => return self.query(TypeQuery::Alignof),
                Some(Kw::VecStep) => return self.query(TypeQuery::VecStep),
                Some(Kw::Extension) => {
                    // `__extension__` only silences warnings of GNU C.
                    let inner = if self.enter(NEST) {
                        self.bump();
                        self.cast()
                    } else {
                        self.error_expr(t.span)
                    };
                    self.leave(NEST);
                    return inner;
                }
                _ => {
                    let base = self.primary();
                    return self.postfix(base);
                }
            },
        };
        self.bump();
        let operand = if self.enter(NEST) { self.cast() } else { self.error_expr(t.span) };
        self.leave(NEST);
        let (span, below) = (t.span.to(operand.span), operand.height);
        self.node(ExprKind::Unary { op, operand: Box::new(operand) }, span, below)
    }

    /// `sizeof` and its like.
    #[inline(never)]
    fn query(&mut self, query: TypeQuery) -> Expr {
        let start = self.bump().span;
        if !self.enter(NEST) {
            self.leave(NEST);
            return self.error_expr(start);
        }
        let result = if self.is(TokenKind::LParen) && self.starts_type_name(self.ahead(1)) {
            let open = self.bump().span;
            let (ty, height) = self.measured(Self::type_name);
            self.close(TokenKind::RParen, open);
            if self.is(TokenKind::LBrace) {
                // The operand of `sizeof (type){…}` is a value.
                let (init, inner) = self.measured(Self::init_list);
                let span = open.to(init.span);
                let literal = self.node(ExprKind::CompoundLit { ty: Box::new(ty), init }, span, height.max(inner));
                let literal = self.postfix(literal);
                (TypeOrExpr::Expr(Box::new(literal)), height.max(inner) + 1)
            } else {
                (TypeOrExpr::Type(Box::new(ty)), height)
            }
        } else {
            let e = self.unary();
            // `sizeof x + 1` is `(sizeof x) + 1`: the operand has no binary operator.
            let height = e.height;
            (TypeOrExpr::Expr(Box::new(e)), height)
        };
        self.leave(NEST);
        let span = start.to(self.prev_span());
        self.node(ExprKind::Query { query, arg: result.0 }, span, result.1)
    }

    #[inline(never)]
    fn postfix(&mut self, base: Expr) -> Expr {
        let mut base = base;
        loop {
            let t = self.token();
            match t.kind {
                TokenKind::LBracket | TokenKind::LParen => {
                    if !self.enter(NEST) {
                        self.leave(NEST);
                        return base;
                    }
                    self.bump();
                    base = if t.kind == TokenKind::LBracket {
                        let index = self.expression();
                        let end = self.close(TokenKind::RBracket, t.span);
                        let (span, below) = (base.span.to(end), base.height.max(index.height));
                        self.node(ExprKind::Index { base: Box::new(base), index: Box::new(index) }, span, below)
                    } else {
                        let (args, inner) = self.measured(|this| this.arguments(t.span));
                        let (span, below) = (base.span.to(self.prev_span()), base.height.max(inner));
                        self.node(ExprKind::Call { callee: Box::new(base), args }, span, below)
                    };
                    self.leave(NEST);
                }
                TokenKind::Dot | TokenKind::Arrow => {
                    self.bump();
                    let name = self.token();
                    if name.kind != TokenKind::Ident {
                        self.unexpected("E0205", "the name of a member");
                        return base;
                    }
                    self.bump();
                    let (span, below) = (base.span.to(name.span), base.height);
                    let name = Ident { name: name.text, span: name.span };
                    let kind = ExprKind::Member { base: Box::new(base), name, arrow: t.kind == TokenKind::Arrow };
                    base = self.node(kind, span, below);
                }
                TokenKind::PlusPlus | TokenKind::MinusMinus => {
                    self.bump();
                    let op = if t.kind == TokenKind::PlusPlus { UnaryOp::PostInc } else { UnaryOp::PostDec };
                    let (span, below) = (base.span.to(t.span), base.height);
                    base = self.node(ExprKind::Unary { op, operand: Box::new(base) }, span, below);
                }
                _ => return base,
            }
        }
    }

    fn primary(&mut self) -> Expr {
        let t = self.token();
        match t.kind {
            TokenKind::Ident => self.primary_word(t),
            TokenKind::Number => {
                self.bump();
                let kind = self.number(t);
                self.leaf(kind, t.span)
            }
            // Unterminated constants fall through to the message about them.
            TokenKind::Char if !t.has(flags::UNTERMINATED) => {
                self.bump();
                let kind = self.character(t);
                self.leaf(kind, t.span)
            }
            TokenKind::Str if !t.has(flags::UNTERMINATED) => match self.strings() {
                Some(s) => {
                    let span = s.span;
                    self.leaf(ExprKind::Str(s), span)
                }
                None => self.error_expr(t.span),
            },
            TokenKind::LParen => {
                if !self.enter(NEST) {
                    self.leave(NEST);
                    return self.error_expr(t.span);
                }
                self.bump();
                // GNU's `({ … })`.
                let inner = if self.is(TokenKind::LBrace) {
                    let (block, below) = self.statements_in_expression();
                    let span = block.span;
                    self.node(ExprKind::Statements(Box::new(block)), span, below)
                } else {
                    self.expression()
                };
                let end = self.close(TokenKind::RParen, t.span);
                self.leave(NEST);
                let below = inner.height;
                self.node(ExprKind::Paren(Box::new(inner)), t.span.to(end), below)
            }
            _ => {
                self.unexpected("E0203", "an expression");
                self.error_expr(t.span)
            }
        }
    }

    /// From the `^` on.
    #[inline(never)]
    fn block_literal(&mut self) -> Expr {
        let start = self.bump().span;
        if !self.enter(NEST_BLOCK) {
            self.leave(NEST_BLOCK);
            return self.error_expr(start);
        }
        let (mut ret, mut params, mut variadic) = (None, Vec::new(), None);
        let open = self.span();
        if self.is(TokenKind::LParen) {
            if let DerivationKind::Function { params: list, variadic: dots } = self.parameters(open) {
                (params, variadic) = (list, dots);
            }
        } else if !self.is(TokenKind::LBrace) {
            // `^int (int x) { … }` is read as the name of a function type, whose parameters are then the block's.
            let mut ty = self.type_name();
            if matches!(ty.declarator.derivations.first().map(|d| &d.kind), Some(DerivationKind::Function { .. }))
                && let DerivationKind::Function { params: list, variadic: dots } =
                    ty.declarator.derivations.remove(0).kind
            {
                (params, variadic) = (list, dots);
            }
            ret = Some(ty);
        }
        if !self.is(TokenKind::LBrace) {
            self.unexpected("E0200", "`{` of a block");
            self.leave(NEST_BLOCK);
            return self.error_expr(start);
        }
        let (body, below) = self.body_of_block(&params);
        self.leave(NEST_BLOCK);
        let span = start.to(self.prev_span());
        self.node(ExprKind::Block(Box::new(BlockLit { ret, params, variadic, body })), span, below)
    }

    /// `new float`, `delete p`, `static_cast<int>`: what follows the word is wrong anyway; say why.
    #[inline(never)]
    fn cpp_expression(&mut self, t: Token) {
        let follows = match self.kind() {
            TokenKind::Ident => true,
            TokenKind::Lt => self.text(t).ends_with("_cast"),
            _ => false,
        };
        // As a name, `new` or `delete` is fine: only what follows tells that C++ was meant.
        if follows && let Some(note) = self.cpp_word(t) {
            let message = format!("`{}` is not part of OpenCL C", self.text(t));
            self.error(Diagnostic::error("E0210", t.span, message).note(note));
        }
    }

    /// A word where an expression starts.
    #[inline(never)]
    fn primary_word(&mut self, t: Token) -> Expr {
        match self.keyword() {
            // `float4(…)` is a mistake of programs that came from GLSL. It is parsed as the vector that was meant, so
            // that the arguments are checked too.
            None if self.starts_type(t) => self.type_as_function(t),
            None => {
                self.bump();
                if t.has(flags::POISON) {
                    return self.error_expr(t.span);
                }
                self.cpp_expression(t);
                self.leaf(ExprKind::Ident(t.text), t.span)
            }
            Some(Kw::True | Kw::False) => {
                let value = self.is_kw(Kw::True);
                self.bump();
                self.leaf(ExprKind::Bool(value), t.span)
            }
            // Keywords that are used like functions; without a parenthesis they are an error as any other keyword.
            Some(Kw::Offsetof) if self.ahead(1).kind == TokenKind::LParen => self.offsetof(),
            Some(Kw::TypedCall) if self.ahead(1).kind == TokenKind::LParen => self.typed_call(),
            Some(Kw::Selection) if self.ahead(1).kind == TokenKind::LParen => self.selection(),
            Some(_) if self.starts_type(t) => self.type_as_function(t),
            Some(_) => {
                self.unexpected("E0203", "an expression");
                self.error_expr(t.span)
            }
        }
    }

    /// `float4(…)`, as other languages write it.
    #[inline(never)]
    fn type_as_function(&mut self, t: Token) -> Expr {
        if self.ahead(1).kind != TokenKind::LParen || self.recovering {
            self.unexpected("E0203", "an expression");
            return self.error_expr(t.span);
        }
        if !self.enter(NEST) {
            self.leave(NEST);
            return self.error_expr(t.span);
        }
        self.not_a_function(t);
        // As if the parentheses were there.
        let (specs, height) = self.measured(Self::one_word_specs);
        let span = specs.span;
        let declarator = Declarator { name: None, derivations: Vec::new(), span: span.after() };
        let ty = TypeName { specs, declarator, span };
        let base = if self.is(TokenKind::LParen) && self.is_vector(&ty) {
            self.vector_literal(span, ty, height)
        } else {
            let operand = self.primary();
            let (span, below) = (span.to(operand.span), operand.height.max(height));
            self.node(ExprKind::Cast { ty: Box::new(ty), operand: Box::new(operand) }, span, below)
        };
        self.leave(NEST);
        self.postfix(base)
    }

    #[inline(never)]
    fn not_a_function(&mut self, t: Token) {
        let text = self.text(t).to_owned();
        let mut d = Diagnostic::error("E0210", t.span, format!("a value of type `{text}` is not made like this"));
        if self.keyword().is_none() || !matches!(self.keyword(), Some(Kw::Struct | Kw::Union | Kw::Enum)) {
            d = d.suggest(t.span, format!("({text})"), "put the type in parentheses:");
        }
        self.mistake(d);
    }

    /// `__builtin_offsetof(type, member)`
    #[inline(never)]
    fn offsetof(&mut self) -> Expr {
        let start = self.bump().span;
        let open = self.bump().span;
        let entered = self.enter(NEST);
        let (ty, height) = self.measured(Self::type_name);
        if entered && self.eat(TokenKind::Comma).is_none() {
            self.unexpected("E0200", "`,`");
        }
        let mut path = Vec::new();
        let (_, inner) = self.measured(|this| {
            while !this.recovering {
                // The first member has no dot before it.
                if path.is_empty() || this.eat(TokenKind::Dot).is_some() {
                    let Some(name) = this.name("the name of a member") else { break };
                    path.push(Designator::Field(name));
                } else if let Some(open) = this.eat(TokenKind::LBracket) {
                    path.push(Designator::Index(this.expression()));
                    this.close(TokenKind::RBracket, open);
                } else {
                    break;
                }
            }
        });
        let end = self.close(TokenKind::RParen, open);
        self.leave(NEST);
        self.node(ExprKind::Offsetof { ty: Box::new(ty), path }, start.to(end), height.max(inner))
    }

    /// A function with types among its arguments.
    #[inline(never)]
    fn typed_call(&mut self) -> Expr {
        let name = self.bump();
        let open = self.bump().span;
        let mut args = Vec::new();
        let entered = self.enter(NEST);
        let (_, below) = self.measured(|this| {
            while entered && !matches!(this.kind(), TokenKind::RParen | TokenKind::Eof) && !this.recovering {
                args.push(this.type_or_expr());
                if this.eat(TokenKind::Comma).is_none() {
                    break;
                }
            }
        });
        self.leave(NEST);
        let end = self.close(TokenKind::RParen, open);
        let name = Ident { name: name.text, span: name.span };
        self.node(ExprKind::TypedCall { name, args }, name.span.to(end), below)
    }

    /// `_Generic(control, type: value, default: value)`
    #[inline(never)]
    fn selection(&mut self) -> Expr {
        let start = self.bump().span;
        let open = self.bump().span;
        if !self.enter(NEST_TYPE) {
            self.leave(NEST_TYPE);
            return self.error_expr(start);
        }
        let control = self.assignment();
        let mut choices = Vec::new();
        let (_, below) = self.measured(|this| {
            while !this.recovering && this.eat(TokenKind::Comma).is_some() {
                let ty = match this.eat_kw(Kw::Default) {
                    Some(_) => None,
                    None => Some(this.type_name()),
                };
                if this.eat(TokenKind::Colon).is_none() {
                    this.unexpected("E0200", "`:`");
                    break;
                }
                choices.push((ty, this.assignment()));
            }
        });
        self.leave(NEST_TYPE);
        let end = self.close(TokenKind::RParen, open);
        if self.recovering {
            return self.error_expr(start.to(end));
        }
        let below = below.max(control.height);
        self.node(ExprKind::Selection { control: Box::new(control), choices }, start.to(end), below)
    }

    /// A name that is no keyword; `what` it should be.
    pub fn name(&mut self, what: &str) -> Option<Ident> {
        let t = self.token();
        if self.is_name(t) {
            self.bump();
            return Some(Ident { name: t.text, span: t.span });
        }
        self.unexpected("E0205", what);
        None
    }

    /// Whether a token starts the name of a type in parentheses, which attributes may come before.
    pub fn starts_type_name(&self, t: Token) -> bool {
        self.starts_type(t) || self.keyword_of(t) == Some(Kw::Attribute)
    }

    /// Whether a token starts the name of a type.
    pub fn starts_type(&self, t: Token) -> bool {
        if t.kind != TokenKind::Ident {
            return false;
        }
        match self.names.keyword(t.text) {
            Some(kw) => super::decl::is_type_keyword(kw),
            None => matches!(self.names.class(t.text), NameClass::Builtin(_) | NameClass::Typedef { .. }),
        }
    }
}
