//! Macros: their representation, and how a definition is parsed and compared with an earlier one.

use std::cell::Cell;
use std::rc::Rc;

use super::Preprocessor;
use super::token::{Token, TokenKind, flags};
use crate::source::{Diagnostic, Span, Symbol};

/// A macro.
#[derive(Debug)]
pub(super) struct Macro {
    pub name: Symbol,
    pub kind: MacroKind,
    /// Of the name in its definition; `None` for the predefined.
    pub definition: Option<Span>,
    /// It is being expanded, and must not be again.
    pub off: Cell<bool>,
}

/// The kinds of macros.
#[derive(Debug)]
pub(super) enum MacroKind {
    Object(Body),
    Function {
        params: usize,
        /// The last parameter takes all further arguments.
        variadic: bool,
        body: Body,
    },
    Line,
    File,
    Counter,
    /// `__has_builtin(name)` and its like: 1 or 0.
    Has(Has),
}

/// The questions of Clang about the compiler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Has {
    /// A built-in function.
    Builtin,
    /// An attribute that is obeyed.
    Attribute,
    /// A feature or extension by one of Clang's names.
    Feature,
}

/// A replacement list.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub elements: Vec<Element>,
    /// Contains `##`, so that it cannot be copied even without parameters.
    pub pastes: bool,
}

/// One token of a replacement list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element {
    pub token: Token,
    pub role: Role,
    /// `##` follows.
    pub paste: bool,
}

/// What becomes of a token of a replacement list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// It stays.
    Plain,
    /// It is replaced by this argument.
    Param(usize),
    /// It (after `#`) is replaced by the text of this argument.
    Stringify(usize),
}

impl Body {
    /// The same but for the kind of white space, as the standard allows redefinitions.
    fn same(&self, other: &Body) -> bool {
        let space = |e: &Element| e.token.flags & flags::SPACE;
        self.elements.len() == other.elements.len()
            && self.elements.iter().zip(&other.elements).enumerate().all(|(i, (a, b))| {
                a.token.kind == b.token.kind
                    && a.token.text == b.token.text
                    && a.role == b.role
                    && a.paste == b.paste
                    // White space before the first token separates it from the name and is no part of the replacement.
                    && (i == 0 || space(a) == space(b))
            })
    }
}

impl MacroKind {
    fn same(&self, other: &MacroKind) -> bool {
        match (self, other) {
            (Self::Object(a), Self::Object(b)) => a.same(b),
            (
                Self::Function { params: p, variadic: v, body: a },
                Self::Function { params: q, variadic: w, body: b },
            ) => p == q && v == w && a.same(b),
            _ => false,
        }
    }
}

impl Preprocessor<'_> {
    pub(super) fn macro_named(&self, name: Symbol) -> Option<&Rc<Macro>> {
        self.macros.get(name.index())?.as_ref()
    }

    pub(super) fn set_macro(&mut self, name: Symbol, value: Option<Rc<Macro>>) {
        // Indexed by symbol, which are numbered from zero on: a lookup for each name of a program costs no hash.
        if name.index() >= self.macros.len() {
            self.macros.resize(name.index() + 1, None);
        }
        self.macros[name.index()] = value;
    }

    /// The name that `#define`, `#undef`, `#ifdef` and `#ifndef` want, if it is there.
    pub(super) fn macro_name(&mut self, directive: Span, token: Option<&Token>) -> Option<Token> {
        match token {
            Some(t) if t.kind == TokenKind::Ident => Some(*t),
            Some(t) => {
                let text = t.spelling(&self.session.names).to_owned();
                let message = format!("expected the name of a macro, found `{text}`");
                self.report(Diagnostic::error("E0104", t.span, message));
                None
            }
            None => {
                self.report(Diagnostic::error("E0104", directive, "the name of a macro is missing"));
                None
            }
        }
    }

    /// Whether a name may be defined and undefined; reports if not.
    fn may_change(&mut self, name: &Token) -> bool {
        let known = &self.known;
        // Their meaning is the compiler's, and C does not allow a program to change it.
        let fixed = [known.defined, known.va_args, known.line, known.file, known.counter, known.pragma];
        if !fixed.contains(&name.text) {
            return true;
        }
        let message = format!("`{}` cannot be defined or undefined", self.session.names.text(name.text));
        self.report(Diagnostic::error("E0119", name.span, message));
        false
    }

    /// `#undef`
    pub(super) fn undefine(&mut self, directive: Span, line: &[Token]) {
        let Some(name) = self.macro_name(directive, line.first()) else { return };
        self.extra_tokens("#undef", &line[1..]);
        if self.may_change(&name) && self.macro_named(name.text).is_some() {
            self.set_macro(name.text, None);
        }
    }

    /// `#define`, from the tokens after it.
    pub(super) fn define(&mut self, directive: Span, line: &[Token], predefined: bool) {
        let Some(name) = self.macro_name(directive, line.first()) else { return };
        if !predefined && !self.may_change(&name) {
            return;
        }
        let rest = &line[1..];
        let kind = match rest.first() {
            // Without white space before it, the `(` begins parameters; `#define A (1)` has none.
            Some(t) if t.kind == TokenKind::LParen && !t.has(flags::SPACE) => {
                let Some((params, variadic, used)) = self.parameters(rest) else { return };
                let Some(body) = self.body(&rest[used..], &params, true) else { return };
                MacroKind::Function { params: params.len(), variadic, body }
            }
            first => {
                if let Some(t) = first.filter(|t| !t.has(flags::SPACE) && !predefined) {
                    let span = t.span;
                    self.report(
                        Diagnostic::warning("W0106", span, "white space is missing after the name of the macro")
                            .label("taken as the start of the replacement"),
                    );
                }
                let Some(body) = self.body(rest, &[], false) else { return };
                MacroKind::Object(body)
            }
        };
        let definition = (!predefined).then_some(name.span);
        if let Some(old) = self.macro_named(name.text)
            // The new definition counts; only one that differs is reported.
            && !old.kind.same(&kind)
        {
            let before = old.definition;
            let message = format!("macro `{}` redefined", self.session.names.text(name.text));
            let mut d = Diagnostic::warning("W0102", name.span, message);
            match before {
                Some(span) => d = d.also(span, "first defined here"),
                None => d = d.note("the macro is predefined or given by a build option"),
            }
            self.report(d.help("use `#undef` first if this is meant"));
        }
        self.set_macro(name.text, Some(Rc::new(Macro { name: name.text, kind, definition, off: Cell::new(false) })));
    }

    /// Parameters from the `(` on: their names, whether the last is variadic, how many tokens they took.
    fn parameters(&mut self, line: &[Token]) -> Option<(Vec<Symbol>, bool, usize)> {
        let open = line[0].span;
        let mut params = Vec::new();
        let mut i = 1;
        if line.get(1).is_some_and(|t| t.kind == TokenKind::RParen) {
            return Some((params, false, 2));
        }
        loop {
            let token = line.get(i).copied();
            let mut variadic = false;
            match token.map(|t| t.kind) {
                Some(TokenKind::Ident) => {
                    let name = token.map_or(Symbol::EMPTY, |t| t.text);
                    let span = token.map_or(open, |t| t.span);
                    if params.contains(&name) || name == self.known.va_args {
                        let text = self.session.names.text(name).to_owned();
                        let message = format!("`{text}` cannot be a parameter here");
                        self.report(Diagnostic::error("E0108", span, message).note("it is reserved or used twice"));
                        return None;
                    }
                    params.push(name);
                    // GNU's `args...` gives the variadic parameter a name.
                    if line.get(i + 1).is_some_and(|t| t.kind == TokenKind::Ellipsis) {
                        variadic = true;
                        i += 1;
                    }
                }
                Some(TokenKind::Ellipsis) => {
                    params.push(self.known.va_args);
                    // `...` is a parameter called `__VA_ARGS__`, the last one.
                    variadic = true;
                }
                _ => {
                    let span = token.map_or(open, |t| t.span);
                    self.report(Diagnostic::error("E0108", span, "expected the name of a macro parameter"));
                    return None;
                }
            }
            i += 1;
            match line.get(i).map(|t| t.kind) {
                Some(TokenKind::RParen) => return Some((params, variadic, i + 1)),
                Some(TokenKind::Comma) if !variadic => i += 1,
                _ => {
                    let span = line.get(i).map_or(open, |t| t.span);
                    let message = "expected `)` at the end of the macro's parameters";
                    self.report(Diagnostic::error("E0108", span, message).also(open, "opened here"));
                    return None;
                }
            }
        }
    }

    fn body(&mut self, tokens: &[Token], params: &[Symbol], function: bool) -> Option<Body> {
        let mut body = Body::default();
        let mut stringify: Option<Token> = None;
        // Looking parameters up one by one is quadratic only in the number of parameters, which is small but for abuse.
        let index_of = |name: Symbol| params.iter().take(1024).position(|&p| p == name);
        for t in tokens {
            if t.kind == TokenKind::HashHash {
                let Some(last) = body.elements.last_mut().filter(|_| stringify.is_none()) else {
                    self.report(Diagnostic::error("E0108", t.span, "`##` at the start of a macro's replacement"));
                    return None;
                };
                last.paste = true;
                body.pastes = true;
                continue;
            }
            let param = if t.kind == TokenKind::Ident { index_of(t.text) } else { None };
            if let Some(hash) = stringify.take() {
                let Some(p) = param else {
                    let message = "`#` must stand before a parameter of the macro";
                    self.report(Diagnostic::error("E0108", hash.span, message));
                    return None;
                };
                // The string stands where the `#` stood.
                let token = Token { flags: hash.flags, ..*t };
                body.elements.push(Element { token, role: Role::Stringify(p), paste: false });
                continue;
            }
            // In a macro without parameters `#` is an ordinary token.
            if t.kind == TokenKind::Hash && function {
                stringify = Some(*t);
                continue;
            }
            if t.kind == TokenKind::Ident && t.text == self.known.va_args && param.is_none() {
                let message = "`__VA_ARGS__` has a meaning only in a macro with `...`";
                self.report(Diagnostic::error("E0108", t.span, message));
                return None;
            }
            body.elements.push(Element { token: *t, role: param.map_or(Role::Plain, Role::Param), paste: false });
        }
        if let Some(hash) = stringify {
            self.report(Diagnostic::error("E0108", hash.span, "`#` must stand before a parameter of the macro"));
            return None;
        }
        if body.elements.last().is_some_and(|e| e.paste) {
            let span = tokens.last().map_or(Span::default(), |t| t.span);
            self.report(Diagnostic::error("E0108", span, "`##` at the end of a macro's replacement"));
            return None;
        }
        Some(body)
    }
}
