//! The grammar of statements, with the recovery from common mistakes (a missing parenthesis, `;` after `for (…)`).

use super::ast::*;
use super::keywords::{Kw, NameClass};
use super::parser::{NEST, Parser};
use crate::pp::TokenKind;
use crate::source::{Diagnostic, Span};

/// The height of a statement list.
fn height_of(stmts: &[Stmt]) -> u16 {
    stmts.iter().map(|s| s.height).max().unwrap_or(0)
}

impl Parser<'_> {
    #[inline(never)]
    fn stmt(&mut self, kind: StmtKind, start: Span, below: u16) -> Stmt {
        let span = start.to(self.prev_span());
        if below >= self.bounds.height {
            self.too_deep();
            return Stmt { kind: StmtKind::Error, span, height: 1 };
        }
        Stmt { kind, span, height: below + 1 }
    }

    /// `{ … }`, names in it being local to it.
    fn block(&mut self) -> Block {
        self.names.open_scope();
        let block = self.block_unscoped();
        self.names.close_scope();
        block
    }

    /// The braces of `({ … })`, with their height.
    pub fn statements_in_expression(&mut self) -> (Block, u16) {
        let (block, below) = self.measured(Self::block);
        let height = height_of(&block.stmts).saturating_add(below);
        (block, height)
    }

    /// The braces of a block literal with these parameters, with their height.
    pub fn body_of_block(&mut self, params: &[Param]) -> (Block, u16) {
        self.names.open_scope();
        for name in params.iter().filter_map(|p| p.declarator.name) {
            self.names.declare(name.name, NameClass::Ordinary);
        }
        // A pragma before the statement with this literal is for a loop after it, not for one inside.
        let unroll = self.unroll.take();
        let (block, below) = self.measured(Self::block_unscoped);
        self.unroll = unroll;
        self.names.close_scope();
        let height = height_of(&block.stmts).saturating_add(below);
        (block, height)
    }

    /// `{ … }` in the current scope, as the body of a function is in that of its parameters.
    pub fn block_unscoped(&mut self) -> Block {
        let open = self.bump().span;
        self.blocks.push(open);
        let mut stmts = Vec::new();
        loop {
            for pragma in self.take_pragmas() {
                let span = pragma.span;
                stmts.push(Stmt { kind: StmtKind::Pragma(pragma), span, height: 1 });
            }
            if matches!(self.kind(), TokenKind::RBrace | TokenKind::Eof) || self.session.diags.is_full() {
                break;
            }
            // A kernel cannot start in a function: a `}` was forgotten before it, and the kernel must not be lost.
            if self.is_kw(Kw::Kernel) {
                break;
            }
            let before = self.at;
            stmts.push(self.statement(false));
            if self.recovering {
                self.synchronise();
            }
            if self.at == before {
                // A statement that could not be parsed must not be tried again for ever.
                self.bump();
            }
        }
        self.unroll_without_loop();
        if self.is(TokenKind::RBrace) {
            let close = self.bump().span;
            self.closed.push((open, close));
        } else {
            self.unclosed_block(open);
        }
        self.blocks.pop();
        Block { stmts, span: open.to(self.prev_span()) }
    }

    #[inline(never)]
    fn unclosed_block(&mut self, open: Span) {
        let t = self.token();
        let message = if self.is_kw(Kw::Kernel) {
            "a kernel starts inside of a function: a `}` is missing before it"
        } else {
            "a `{` is not closed"
        };
        let mut d = Diagnostic::error("E0202", open, message).label("not closed");
        if self.is_kw(Kw::Kernel) {
            d = d.also(t.span, "the kernel starts here");
        }
        // The brace that is missing is mostly not at the end of the function, where it is noticed.
        if let Some((wrong, close)) = self.badly_indented() {
            d = d.also(wrong, "this one").also(close, "and its end are indented differently");
        }
        if let Some(&function) = self.blocks.first().filter(|&&f| f != open) {
            d = d.also(function, "the function's body starts here");
        }
        self.error(d);
        // The braces around this one are open for the same reason: they say nothing more.
        if self.blocks.len() == 1 && !self.is(TokenKind::Eof) {
            self.recovering = false;
        }
    }

    /// The first pair of braces whose end is indented less than the line of its start: it was meant to close an outer
    /// one.
    fn badly_indented(&self) -> Option<(Span, Span)> {
        let sources = &self.session.sources;
        let indentation = |span: Span| {
            let (_, start) = sources.line_start(span.file, span.lo);
            let line = &sources.file(span.file).text.as_bytes()[start as usize..];
            line.iter().take_while(|b| matches!(b, b' ' | b'\t')).count()
        };
        self.closed.iter().copied().find(|&(open, close)| {
            let (_, line) = sources.line_start(close.file, close.lo);
            let first_of_line = indentation(close) == (close.lo - line) as usize;
            open.file == close.file && first_of_line && indentation(close) < indentation(open)
        })
    }

    /// A statement; `only` when it is the body of another, where a declaration is not allowed.
    fn statement(&mut self, only: bool) -> Stmt {
        let start = self.span();
        if !self.enter(NEST) {
            self.leave(NEST);
            return self.stmt(StmtKind::Error, start, 0);
        }
        let stmt = self.statement_inner(only, start);
        self.leave(NEST);
        stmt
    }

    /// The body of a loop or branch, in a scope of its own.
    fn body(&mut self) -> Box<Stmt> {
        // A pragma is no statement here; one for a loop is kept by `take_pragmas`.
        for pragma in self.take_pragmas() {
            self.session.diags.push(Diagnostic::warning("W0202", pragma.span, "this pragma has no effect here"));
        }
        self.names.open_scope();
        let body = self.statement(true);
        self.names.close_scope();
        Box::new(body)
    }

    fn statement_inner(&mut self, only: bool, start: Span) -> Stmt {
        let mut attrs = Vec::new();
        self.attributes(&mut attrs);
        let mut labels = Vec::new();
        while let Some(label) = self.label() {
            labels.push(label);
            self.attributes(&mut attrs);
            // A pragma may be between a label and its loop.
            self.take_pragmas();
        }
        if !labels.is_empty() {
            let inner = self.span();
            // `label: }` is an error in C that everybody forgives.
            let body = if self.is(TokenKind::RBrace) {
                self.stmt(StmtKind::Empty, inner, 0)
            } else {
                self.unlabelled(only, inner, attrs)
            };
            let below = body.height;
            return self.stmt(StmtKind::Labelled { labels, body: Box::new(body) }, start, below);
        }
        self.unlabelled(only, start, attrs)
    }

    #[inline(never)]
    fn label(&mut self) -> Option<StmtLabel> {
        let t = self.token();
        match self.keyword() {
            Some(Kw::Case) => {
                self.bump();
                let value = self.conditional();
                let end = self.eat(TokenKind::Ellipsis).map(|_| self.conditional());
                let span = t.span.to(self.prev_span());
                self.label_colon("`case`");
                Some(StmtLabel::Case { value, end, span })
            }
            Some(Kw::Default) => {
                self.bump();
                self.label_colon("`default`");
                Some(StmtLabel::Default(t.span))
            }
            None if self.is_name(t) && self.ahead(1).kind == TokenKind::Colon => {
                // `std::max` begins like a label.
                if self.ahead(2).kind == TokenKind::Colon {
                    self.namespace();
                    return None;
                }
                self.bump();
                self.bump();
                Some(StmtLabel::Name(Ident { name: t.text, span: t.span }))
            }
            _ => None,
        }
    }

    /// `std::max`
    #[inline(never)]
    fn namespace(&mut self) {
        let (name, first, second) = (self.bump(), self.bump(), self.span());
        let text = self.text(name).to_owned();
        let d = Diagnostic::error("E0210", first.span.to(second), "there are no namespaces in OpenCL C");
        self.error(d.help(format!("leave out `{text}::`")));
    }

    #[inline(never)]
    fn label_colon(&mut self, what: &str) {
        if self.eat(TokenKind::Colon).is_none() {
            let (t, found) = (self.token(), self.describe(self.token()));
            let d = Diagnostic::error("E0200", t.span, format!("expected `:` after {what}, found {found}"));
            self.mistake(d);
            // `case 1;` is a slip of the finger for `case 1:`.
            self.eat(TokenKind::Semi);
        }
    }

    fn unlabelled(&mut self, only: bool, start: Span, attrs: Vec<Attribute>) -> Stmt {
        let is_loop = matches!(self.keyword(), Some(Kw::For | Kw::While | Kw::Do));
        if !is_loop {
            self.unroll_without_loop();
        }
        let t = self.token();
        match t.kind {
            TokenKind::LBrace => {
                let block = self.block();
                let below = height_of(&block.stmts);
                return self.stmt(StmtKind::Block(block), start, below);
            }
            TokenKind::Semi => {
                self.bump();
                self.recovering = false;
                return self.stmt(StmtKind::Empty, start, 0);
            }
            TokenKind::RBrace | TokenKind::Eof => {
                self.unexpected("E0213", "a statement");
                return self.stmt(StmtKind::Error, start, 0);
            }
            _ => {}
        }
        match self.keyword() {
            Some(Kw::If) => self.if_chain(start),
            Some(Kw::Switch) => self.switch(start),
            Some(Kw::While) => self.while_loop(start, &attrs),
            Some(Kw::Do) => self.do_while(start, &attrs),
            Some(Kw::For) => self.for_loop(start, &attrs),
            Some(Kw::Goto) => self.goto(start),
            Some(Kw::Break) => self.simple(start, StmtKind::Break, "`break`"),
            Some(Kw::Continue) => self.simple(start, StmtKind::Continue, "`continue`"),
            Some(Kw::Return) => self.return_stmt(start),
            Some(Kw::Else) => {
                // The branch is parsed as a statement, so that its own mistakes are found.
                self.lonely_else(t.span);
                self.bump();
                self.statement(true)
            }
            Some(Kw::Asm) => {
                self.assembly();
                self.stmt(StmtKind::Error, start, 0)
            }
            Some(Kw::StaticAssert) => {
                let assertion = Box::new(self.static_assert());
                self.stmt(StmtKind::StaticAssert(assertion), start, 0)
            }
            Some(Kw::Extension) => {
                self.bump();
                self.statement(only)
            }
            _ if self.starts_declaration() => self.declaration_stmt(only, start, attrs),
            _ => self.expression_stmt(start),
        }
    }

    #[inline(never)]
    fn switch(&mut self, start: Span) -> Stmt {
        self.bump();
        let value = self.condition("switch");
        let body = self.body();
        let below = body.height;
        self.stmt(StmtKind::Switch { value, body }, start, below)
    }

    #[inline(never)]
    fn while_loop(&mut self, start: Span, attrs: &[Attribute]) -> Stmt {
        let hints = self.hints(attrs);
        self.bump();
        let cond = self.condition("while");
        let body = self.body();
        let below = body.height;
        self.stmt(StmtKind::While { cond, body, hints }, start, below)
    }

    #[inline(never)]
    fn goto(&mut self, start: Span) -> Stmt {
        self.bump();
        let kind = match self.name("a label") {
            Some(name) => StmtKind::Goto(name),
            None => StmtKind::Error,
        };
        self.semicolon("`goto`");
        self.stmt(kind, start, 0)
    }

    #[inline(never)]
    fn return_stmt(&mut self, start: Span) -> Stmt {
        self.bump();
        // At a `}` only the semicolon is missing.
        let none = self.is(TokenKind::Semi) || self.is(TokenKind::RBrace);
        let value = if none { None } else { Some(self.expression()) };
        self.semicolon("`return`");
        self.stmt(StmtKind::Return(value), start, 0)
    }

    #[inline(never)]
    fn lonely_else(&mut self, span: Span) {
        let mut d = Diagnostic::error("E0214", span, "`else` without `if`");
        if self.tokens[self.at.saturating_sub(1)].kind == TokenKind::Semi {
            d = d.help("an `if` has one statement only; put several between `{` and `}`");
        }
        self.mistake(d);
    }

    #[inline(never)]
    fn declaration_stmt(&mut self, only: bool, start: Span, attrs: Vec<Attribute>) -> Stmt {
        if only {
            let d = Diagnostic::error("E0215", self.span(), "a declaration cannot be the body of a statement");
            self.mistake(d.help("put it between `{` and `}`"));
        }
        let declaration = Box::new(self.declaration(attrs));
        self.nested_function();
        self.stmt(StmtKind::Declaration(declaration), start, 0)
    }

    #[inline(never)]
    fn expression_stmt(&mut self, start: Span) -> Stmt {
        let e = self.expression();
        self.semicolon("the expression");
        self.stmt(StmtKind::Expr(e), start, 0)
    }

    /// A body after what looked like a prototype inside of a function.
    fn nested_function(&mut self) {
        // `semicolon` has reported already; this case is recognised by a brace right after a parameter list.
        if self.is(TokenKind::LBrace) && self.tokens[self.at.saturating_sub(1)].kind == TokenKind::RParen {
            self.recovering = true;
        }
    }

    #[inline(never)]
    fn simple(&mut self, start: Span, kind: StmtKind, what: &str) -> Stmt {
        self.bump();
        self.semicolon(what);
        self.stmt(kind, start, 0)
    }

    /// `(expression)` after a keyword.
    fn condition(&mut self, word: &str) -> Expr {
        let open = self.span();
        if self.eat(TokenKind::LParen).is_none() {
            self.unexpected("E0200", &format!("`(` after `{word}`"));
            return self.error_expr(open);
        }
        let e = self.expression();
        self.close(TokenKind::RParen, open);
        if self.recovering && !matches!(self.kind(), TokenKind::Semi | TokenKind::RBrace | TokenKind::Eof) {
            // The condition is lost, the body is not.
            self.recovering = false;
        }
        e
    }

    /// `if` with all of its `else if`s, without recursion along the chain.
    #[inline(never)]
    fn if_chain(&mut self, start: Span) -> Stmt {
        let mut arms: Vec<(Span, Expr, Box<Stmt>)> = Vec::new();
        let mut els: Option<Box<Stmt>> = None;
        let mut at = start;
        loop {
            self.bump();
            let cond = self.condition("if");
            let then = self.body();
            arms.push((at, cond, then));
            // Each arm adds to the height of the tree: beyond the bound the chain is cut, and `stmt` reports it.
            if self.recovering || arms.len() > usize::from(self.bounds.height) || self.eat_kw(Kw::Else).is_none() {
                break;
            }
            if self.is_kw(Kw::If) {
                at = self.span();
                continue;
            }
            els = Some(self.body());
            break;
        }
        // Built from the last arm on, as each arm holds the next one.
        for (at, cond, then) in arms.into_iter().rev() {
            let below = els.as_ref().map_or(0, |e| e.height).max(then.height);
            els = Some(Box::new(self.stmt(StmtKind::If { cond, then, els }, at, below)));
        }
        match els {
            Some(chain) => *chain,
            None => self.stmt(StmtKind::Error, start, 0),
        }
    }

    #[inline(never)]
    fn do_while(&mut self, start: Span, attrs: &[Attribute]) -> Stmt {
        let hints = self.hints(attrs);
        self.bump();
        let body = self.body();
        if self.recovering {
            self.synchronise();
        }
        let cond = if self.eat_kw(Kw::While).is_some() {
            self.condition("while")
        } else {
            self.unexpected("E0200", "`while` after the body of `do`");
            self.error_expr(start)
        };
        self.semicolon("`do … while`");
        let below = body.height;
        self.stmt(StmtKind::DoWhile { body, cond, hints }, start, below)
    }

    #[inline(never)]
    fn for_loop(&mut self, start: Span, attrs: &[Attribute]) -> Stmt {
        let hints = self.hints(attrs);
        self.bump();
        let open = self.span();
        if self.eat(TokenKind::LParen).is_none() {
            self.unexpected("E0200", "`(` after `for`");
            return self.stmt(StmtKind::Error, start, 0);
        }
        self.names.open_scope();
        let first = self.span();
        let init = if self.eat(TokenKind::Semi).is_some() {
            StmtKind::Empty
        } else if self.starts_declaration() {
            StmtKind::Declaration(Box::new(self.for_declaration()))
        } else {
            let e = self.expression();
            self.for_semicolon("the first part of `for`");
            StmtKind::Expr(e)
        };
        let init = Box::new(self.stmt(init, first, 0));
        // After an error in one part the others are not tried: the rest of the parentheses is skipped, and the body is
        // still read.
        let (mut cond, mut step) = (None, None);
        if !self.recovering {
            if !self.is(TokenKind::Semi) {
                cond = Some(self.expression());
            }
            self.for_semicolon("the condition of `for`");
        }
        if !self.recovering && !self.is(TokenKind::RParen) {
            step = Some(self.expression());
        }
        if self.recovering {
            self.rest_of_for();
        } else {
            self.close(TokenKind::RParen, open);
        }
        if self.recovering && self.is(TokenKind::LBrace) {
            // The head is lost, but the body stands out by its brace.
            self.recovering = false;
        }
        let body = if self.recovering { Box::new(self.stmt(StmtKind::Error, start, 0)) } else { self.body() };
        self.names.close_scope();
        let below = body.height;
        self.stmt(StmtKind::For { init, cond, step, body, hints }, start, below)
    }

    /// A semicolon in the parentheses of `for`, where skipping past the next one would lose the body.
    pub fn for_semicolon(&mut self, what: &str) {
        if self.eat(TokenKind::Semi).is_some() || self.recovering {
            return;
        }
        let (t, after, found) = (self.token(), self.prev_span().after(), self.describe(self.token()));
        let d = Diagnostic::error("E0201", after, format!("expected `;` after {what}, found {found}"));
        self.error(match t.kind {
            TokenKind::Colon => {
                let d = Diagnostic::error("E0210", t.span, "a loop over a range is not part of OpenCL C");
                d.help("count with an index")
            }
            _ => d.label("add `;` here"),
        });
    }

    /// Skips past the parenthesis of a malformed `for`, across semicolons.
    fn rest_of_for(&mut self) {
        let mut depth = 0usize;
        loop {
            match self.kind() {
                TokenKind::LParen => depth += 1,
                TokenKind::RParen if depth == 0 => {
                    self.bump();
                    self.recovering = false;
                    return;
                }
                TokenKind::RParen => depth -= 1,
                TokenKind::LBrace | TokenKind::RBrace | TokenKind::Eof => return,
                _ => {}
            }
            self.bump();
        }
    }

    /// The pragma or attribute before a loop.
    #[inline(never)]
    fn hints(&mut self, attrs: &[Attribute]) -> LoopHints {
        let mut unroll = self.unroll.take().map_or(Unroll::Unspecified, |u| u.0);
        for a in attrs {
            if self.session.names.text(a.name.name) != "opencl_unroll_hint" {
                continue;
            }
            unroll = match &a.args[..] {
                [] => Unroll::Enable,
                // Only literals are understood: the parser knows no values. Anything else still asks for unrolling.
                [TypeOrExpr::Expr(e)] => match &e.unparenthesised().kind {
                    ExprKind::Int(i) if i.value > 0 => Unroll::Factor(i.value.min(u64::from(u32::MAX)) as u32),
                    ExprKind::Int(_) => Unroll::Factor(1),
                    _ => Unroll::Enable,
                },
                _ => {
                    let d = Diagnostic::error("E0216", a.span, "`opencl_unroll_hint` takes one integer or nothing");
                    self.mistake(d);
                    Unroll::Enable
                }
            };
        }
        LoopHints { unroll }
    }
}
