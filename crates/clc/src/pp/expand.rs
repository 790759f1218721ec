//! Macro expansion: a stack of contexts, each a list of tokens that is read before the file continues.

use std::rc::Rc;

use smallvec::SmallVec;

use super::lexer::Lexer;
use super::macros::{Body, Element, Macro, MacroKind, Role};
use super::token::{Token, TokenKind, flags};
use super::{Preprocessor, eof, limits};
use crate::source::{Diagnostic, Expansion, ExpansionId, Span};

/// The arguments of one use of a macro.
#[derive(Default)]
struct Args {
    tokens: Vec<Token>,
    /// Where each argument ends in `tokens`.
    ends: SmallVec<[usize; 8]>,
}

impl Args {
    fn get(&self, i: usize) -> &[Token] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.tokens[start..self.ends[i]]
    }

    fn len(&self) -> usize {
        self.ends.len()
    }
}

/// Pushed-back tokens, which are read before further ones of the file.
pub(super) struct Context {
    tokens: Tokens,
    at: usize,
    /// The macro that these replace; it is off until they are read.
    of: Option<Rc<Macro>>,
    /// A barrier: entries below must not be read until it is removed.
    barrier: bool,
}

enum Tokens {
    Owned(Vec<Token>),
    /// The body of an object-like macro unchanged, with the span of its use.
    Body {
        of: Rc<Macro>,
        span: Span,
        flags: u8,
    },
}

impl Context {
    fn get(&self, i: usize) -> Option<Token> {
        match &self.tokens {
            Tokens::Owned(v) => v.get(i).copied(),
            Tokens::Body { of, span, flags: first } => {
                let MacroKind::Object(body) = &of.kind else { return None };
                let t = body.elements.get(i)?.token;
                let fl = if i == 0 { *first | (t.flags & flags::UNTERMINATED) } else { t.flags };
                Some(Token { span: *span, flags: fl, ..t })
            }
        }
    }
}

impl Preprocessor<'_> {
    /// The next token with all macros expanded.
    pub(super) fn next(&mut self) -> Token {
        loop {
            let mut token = self.raw();
            if token.kind != TokenKind::Ident || token.has(flags::NO_EXPAND) {
                return token;
            }
            // Before macros are looked up: the operand of `defined` must not be expanded.
            if self.in_condition && token.text == self.known.defined {
                return self.defined_operator(token);
            }
            let Some(m) = self.macro_named(token.text) else { return token };
            if m.off.get() {
                // Painted for good: the token may be read again, as an argument, when the macro is on.
                token.flags |= flags::NO_EXPAND;
                return token;
            }
            let m = m.clone();
            if !self.expand(&m, token) {
                return token;
            }
        }
    }

    /// The next token, unexpanded.
    pub(super) fn raw(&mut self) -> Token {
        if self.stopped {
            return eof();
        }
        // A context is left only when the token after its last one is asked for, so that a macro's name at the end of
        // its own replacement is still off.
        while let Some(c) = self.contexts.last_mut() {
            if let Some(t) = c.get(c.at) {
                c.at += 1;
                return t;
            }
            if c.barrier {
                return eof();
            }
            if let Some(m) = &c.of {
                m.off.set(false);
            }
            self.contexts.pop();
        }
        self.file_token()
    }

    /// Whether the next token is `(`, wherever it comes from.
    fn paren_follows(&mut self) -> bool {
        // Contexts that are read to their end stay: to leave them would turn their macros on, although this may not be
        // a use.
        for c in self.contexts.iter().rev() {
            if let Some(t) = c.get(c.at) {
                return t.kind == TokenKind::LParen;
            }
            if c.barrier {
                return false;
            }
        }
        if self.lookahead.is_none() {
            let Some(f) = self.files.last_mut().filter(|_| !self.stopped) else { return false };
            self.lookahead = Some(f.lexer.next(&mut self.session.names));
        }
        self.lookahead.is_some_and(|t| t.kind == TokenKind::LParen)
    }

    /// Counts tokens that come out of macros; false when there were too many.
    fn spend(&mut self, tokens: usize, at: Span) -> bool {
        self.expanded += tokens;
        if self.expanded <= limits::EXPANDED_TOKENS {
            return true;
        }
        let message = format!("the macros of this program expand to more than {} tokens", limits::EXPANDED_TOKENS);
        self.stop(Diagnostic::error("E0115", at, message).label("while expanding this"));
        false
    }

    /// The same for text made by `#` and `##`, which can double with each level of nesting.
    fn spend_text(&mut self, bytes: usize, at: Span) -> bool {
        self.spend(bytes / 8, at)
    }

    /// Expands the list on its own, as arguments and the lines of directives are.
    pub(super) fn expand_list(&mut self, tokens: Vec<Token>) -> Vec<Token> {
        let at = tokens.first().map_or(Span::default(), |t| t.span);
        if self.nesting >= self.max_nesting {
            self.stop(Diagnostic::error("E0115", at, "uses of macros are nested too deeply in arguments of macros"));
            return Vec::new();
        }
        self.nesting += 1;
        // The barrier makes the list look like a file of its own: nothing behind it is read by a macro at its end.
        self.contexts.push(Context { tokens: Tokens::Owned(tokens), at: 0, of: None, barrier: true });
        let mut out = Vec::new();
        loop {
            let t = self.next();
            if t.kind == TokenKind::Eof {
                break;
            }
            out.push(t);
        }
        // Only a stop in the middle leaves more than the barrier.
        while let Some(c) = self.contexts.pop() {
            if let Some(m) = &c.of {
                m.off.set(false);
            }
            if c.barrier {
                break;
            }
        }
        self.nesting -= 1;
        out
    }

    /// Replaces a macro's name; false if it stays as it is.
    fn expand(&mut self, m: &Rc<Macro>, name: Token) -> bool {
        if self.stopped {
            return false;
        }
        match &m.kind {
            MacroKind::Object(body) => {
                // Even an empty macro costs one, so that chains of them are bounded.
                if !self.spend(body.elements.len() + 1, name.span) {
                    return false;
                }
                let span = self.note_expansion(m, name.span, name.span);
                // Most macros are constants: their bodies are read in place, not copied.
                let tokens = if body.pastes {
                    Tokens::Owned(self.substitute(body, &Args::default(), false, span, name.flags))
                } else {
                    Tokens::Body { of: m.clone(), span, flags: name.flags }
                };
                self.push(m, tokens);
            }
            MacroKind::Function { params, variadic, body } => {
                if !self.paren_follows() {
                    return false;
                }
                let Some((args, end)) = self.arguments(m, name, *params, *variadic) else {
                    // The name stays, poisoned, so that the parser does not report what follows from the missing
                    // replacement.
                    let token = Token { flags: name.flags | flags::POISON | flags::NO_EXPAND, ..name };
                    let tokens = Tokens::Owned(vec![token]);
                    self.contexts.push(Context { tokens, at: 0, of: None, barrier: false });
                    return true;
                };
                // A use in the file covers its arguments; a use inside of another macro has the span of that macro's
                // use already.
                let whole = if name.span.expansion == ExpansionId::NONE { name.span.to(end) } else { name.span };
                let span = self.note_expansion(m, name.span, whole);
                let tokens = self.substitute(body, &args, *variadic, span, name.flags);
                self.push(m, Tokens::Owned(tokens));
            }
            MacroKind::Line => {
                // The line that the reader sees: `#line` counts, and in a macro the line of its use.
                let line = self.session.sources.location(name.span).line;
                self.push_one(name, TokenKind::Number, &line.to_string());
            }
            MacroKind::File => {
                let file = self.session.sources.location(name.span).file;
                let text = quote(file);
                self.push_one(name, TokenKind::Str, &text);
            }
            MacroKind::Counter => {
                let text = self.counter.to_string();
                self.counter += 1;
                self.push_one(name, TokenKind::Number, &text);
            }
            MacroKind::Has(has) => {
                if !self.paren_follows() {
                    return false;
                }
                // The argument is looked at as written, not expanded, so that a macro of the same name does not change
                // the question.
                let asked = match self.arguments(m, name, 1, false) {
                    Some((args, _)) => args.tokens.first().map(|t| t.spelling(&self.session.names)),
                    None => None,
                };
                let text = if asked.is_some_and(|asked| has.holds(asked)) { "1" } else { "0" };
                self.push_one(name, TokenKind::Number, text);
            }
        }
        true
    }

    fn push(&mut self, m: &Rc<Macro>, tokens: Tokens) {
        m.off.set(true);
        self.contexts.push(Context { tokens, at: 0, of: Some(m.clone()), barrier: false });
    }

    fn push_one(&mut self, name: Token, kind: TokenKind, text: &str) {
        if self.spend(1, name.span) {
            let token = Token { kind, text: self.session.names.intern(text), ..name };
            self.contexts.push(Context { tokens: Tokens::Owned(vec![token]), at: 0, of: None, barrier: false });
        }
    }

    /// The span of the tokens that a use of a macro expands to.
    fn note_expansion(&mut self, m: &Macro, name: Span, whole: Span) -> Span {
        let e = Expansion { name: m.name, definition: m.definition, parent: name.expansion };
        Span { expansion: self.session.sources.add_expansion(e), ..whole }
    }

    /// Reads the arguments, from the `(` to the `)`; `None` when they are wrong (and reported).
    fn arguments(&mut self, m: &Macro, name: Token, params: usize, variadic: bool) -> Option<(Args, Span)> {
        let open = self.raw();
        let mut args = Args { tokens: Vec::new(), ends: SmallVec::new() };
        let mut depth = 0usize;
        let mut read = 0usize;
        let end = loop {
            let mut t = self.raw();
            // Unexpanded: an argument is expanded when it is put in, unless `#` or `##` takes it as written.
            read += 1;
            match t.kind {
                TokenKind::Eof => {
                    if !self.stopped {
                        let message =
                            format!("the arguments of macro `{}` have no end", self.session.names.text(m.name));
                        // The following tokens were consumed as arguments.
                        self.out.truncated |= self.nesting == 0;
                        self.report(
                            Diagnostic::error("E0110", name.span, message).also(open.span, "this is never closed"),
                        );
                    }
                    return None;
                }
                TokenKind::LParen => depth += 1,
                TokenKind::RParen if depth == 0 => break t.span,
                TokenKind::RParen => depth -= 1,
                // The last parameter of a variadic macro takes all further commas.
                TokenKind::Comma if depth == 0 && !(variadic && args.len() + 1 == params) => {
                    args.ends.push(args.tokens.len());
                    continue;
                }
                // Names that are off now stay off, also when they are looked at again outside of the macro.
                TokenKind::Ident if self.macro_named(t.text).is_some_and(|m| m.off.get()) => {
                    t.flags |= flags::NO_EXPAND;
                }
                _ => {}
            }
            // A new line is just white space here.
            if t.has(flags::LINE_START) {
                t.flags = (t.flags | flags::SPACE) & !flags::LINE_START;
            }
            args.tokens.push(t);
        };
        args.ends.push(args.tokens.len());
        if !self.spend(read, name.span) {
            return None;
        }
        // `f()` has one empty argument, unless `f` has no parameters.
        if params == 0 && args.len() == 1 && args.tokens.is_empty() {
            args.ends.clear();
        }
        // `f(a)` of `f(x, ...)`: the variadic argument may be missing.
        if variadic && args.len() + 1 == params {
            args.ends.push(args.tokens.len());
        }
        if args.len() == params {
            return Some((args, end));
        }
        let text = self.session.names.text(m.name);
        let plural = if params == 1 { "" } else { "s" };
        let least = if variadic { "at least " } else { "" };
        let wanted = if variadic { params - 1 } else { params };
        let message = format!("macro `{text}` takes {least}{wanted} argument{plural}, {} given", args.len());
        let mut d = Diagnostic::error("E0109", name.span.to(end), message);
        if let Some(span) = m.definition {
            d = d.also(span, "defined here");
        }
        self.report(d);
        None
    }

    /// Whether expansion may change a token.
    fn may_expand(&self, t: &Token) -> bool {
        t.kind == TokenKind::Ident
            && !t.has(flags::NO_EXPAND)
            && (self.macro_named(t.text).is_some() || (self.in_condition && t.text == self.known.defined))
    }

    /// The replacement list with the arguments in it.
    fn substitute(&mut self, body: &Body, args: &Args, variadic: bool, span: Span, first: u8) -> Vec<Token> {
        let mut out: Vec<Token> = Vec::with_capacity(body.elements.len() + args.tokens.len());
        let mut expanded: SmallVec<[Option<Vec<Token>>; 8]> = SmallVec::from_elem(None, args.len());
        // The left operand of `##`: none yet, an empty argument, or the last token of `out`.
        let mut paste_left: Option<bool> = None;
        let elements = &body.elements;
        for (i, e) in elements.iter().enumerate() {
            if self.stopped {
                break;
            }
            let before = out.len();
            let pasted = paste_left.take();
            let single;
            let piece: &[Token] = match e.role {
                Role::Plain => {
                    single = [Token { span, ..e.token }];
                    &single
                }
                Role::Stringify(p) => {
                    single = [self.stringify(args.get(p), e, span)];
                    &single
                }
                // Next to `##` an argument is taken as written.
                Role::Param(p) if pasted.is_some() || e.paste => {
                    let comma_before = i > 0 && elements[i - 1].token.kind == TokenKind::Comma;
                    if pasted.is_some() && comma_before && variadic && p + 1 == args.len() {
                        // `, ## __VA_ARGS__`: the comma goes if there are no arguments, else nothing is pasted.
                        if args.get(p).is_empty() {
                            out.pop();
                        } else {
                            let list = args.get(p).to_vec();
                            let list = self.expand_list(list);
                            if !self.spend(list.len(), span) {
                                break;
                            }
                            append(&mut out, &list, e);
                        }
                        paste_left = e.paste.then_some(!args.get(p).is_empty());
                        continue;
                    }
                    args.get(p)
                }
                // Most arguments have no macro in them.
                Role::Param(p) if !args.get(p).iter().any(|t| self.may_expand(t)) => args.get(p),
                Role::Param(p) => {
                    // Expanded once, however often the parameter occurs: `__COUNTER__` in an argument counts once.
                    if expanded[p].is_none() {
                        let list = self.expand_list(args.get(p).to_vec());
                        expanded[p] = Some(list);
                    }
                    expanded[p].as_deref().unwrap_or(&[])
                }
            };
            if !self.spend(piece.len(), span) {
                break;
            }
            match (pasted, piece.split_first()) {
                (Some(true), Some((right, rest))) => {
                    let left = out.pop();
                    if let Some(left) = left {
                        self.paste(left, *right, span, &mut out);
                    }
                    out.extend_from_slice(rest);
                }
                _ => append(&mut out, piece, e),
            }
            let present = out.len() > before || (pasted == Some(true));
            if e.paste {
                paste_left = Some(present);
            }
        }
        // The first token stands where the name stood, so that it has the name's white space and line start; what
        // concerns the token itself is its own.
        if let Some(t) = out.first_mut() {
            let own = flags::NO_EXPAND | flags::UNTERMINATED | flags::POISON;
            t.flags = (t.flags & own) | (first & !own);
        }
        out
    }

    /// Joins two tokens to one.
    fn paste(&mut self, left: Token, right: Token, span: Span, out: &mut Vec<Token>) {
        let names = &mut self.session.names;
        let text = format!("{}{}", left.spelling(names), right.spelling(names));
        if !self.spend_text(text.len(), span) {
            return;
        }
        let names = &mut self.session.names;
        let name_char = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        // Most pastes make names, which need no lexer.
        let token = if left.kind == TokenKind::Ident && text.bytes().all(name_char) {
            Some(Token { kind: TokenKind::Ident, flags: 0, text: names.intern(&text), span })
        } else {
            let mut lexer = Lexer::text(&text, span);
            let token = lexer.next(names);
            let whole = token.kind != TokenKind::Eof && lexer.next(names).kind == TokenKind::Eof;
            // A comment is no token, nor is a character that is none itself.
            let whole = whole && token.spelling(names).len() == text.len() && token.kind != TokenKind::Other;
            whole.then_some(token)
        };
        match token {
            Some(t) => out.push(Token { flags: left.flags & flags::SPACE, ..t }),
            None => {
                let names = &self.session.names;
                let (l, r) = (left.spelling(names), right.spelling(names));
                let message = format!("`{l}` and `{r}` pasted by `##` do not give a token");
                self.report(Diagnostic::error("E0111", span, message));
                out.extend([left, right].map(|t| Token { flags: t.flags | flags::POISON, ..t }));
            }
        }
    }

    /// The text of an argument as a string literal.
    fn stringify(&mut self, arg: &[Token], e: &Element, span: Span) -> Token {
        let names = &self.session.names;
        let mut text = String::from("\"");
        for (i, t) in arg.iter().enumerate() {
            // White space between tokens becomes one blank; that at the ends is dropped.
            if i > 0 && t.has(flags::SPACE) {
                text.push(' ');
            }
            let spelling = t.spelling(names);
            if matches!(t.kind, TokenKind::Str | TokenKind::Char) {
                for c in spelling.chars() {
                    if c == '"' || c == '\\' {
                        text.push('\\');
                    }
                    text.push(c);
                }
            } else {
                text.push_str(spelling);
            }
        }
        text.push('"');
        self.spend_text(text.len(), span);
        let at = Token { span, ..e.token };
        Token { kind: TokenKind::Str, text: self.session.names.intern(&text), flags: at.flags & flags::SPACE, span }
    }
}

/// Appends an element's expansion; its first token gets the element's position.
fn append(out: &mut Vec<Token>, piece: &[Token], e: &Element) {
    let at = out.len();
    out.extend_from_slice(piece);
    if let Some(t) = out.get_mut(at) {
        t.flags = (t.flags & !flags::SPACE) | (e.token.flags & flags::SPACE);
    }
}

/// A string literal with this content.
pub(super) fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        if c == '"' || c == '\\' {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}
