//! The parser's frame: tokens, errors, recovery, and the file level. The grammar itself is in `decl`, `declarator`,
//! `stmt` and `expr`.
//!
//! Recursive descent, bounded: each construct that nests counts ([`Parser::enter`]), chains that make deep trees
//! without recursion are counted by the height of the tree. When a bound is hit the parser reports it and goes to the
//! end.
//!
//! Stack frames of recursive functions are kept small: reports are made in separate functions that are never inlined,
//! because a diagnostic under construction would take a kilobyte of each level's stack.
//!
//! After an error (panic mode) nothing more is reported until the parser has found the start of a statement or
//! declaration ([`Parser::synchronise`]): one mistake, one message.

use super::ast::*;
use super::depth::Depth;
use super::keywords::{Kw, Names};
use crate::pp::{Preprocessed, Token, TokenKind, flags};
use crate::source::{Diagnostic, ExpansionId, Session, Span, Symbol};

/// Options of the parser.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParseOptions {
    /// The version of the language: 100, 110, 120, 200, 300.
    pub c_version: u32,
    /// Blocks are a part of the language.
    pub blocks: bool,
    /// Bounds on nesting.
    pub depth: Depth,
}

impl Default for ParseOptions {
    fn default() -> Self {
        Self { c_version: 120, blocks: false, depth: Depth::SHALLOW }
    }
}

/// Parses a preprocessed program.
pub fn parse(session: &mut Session, program: &Preprocessed, options: ParseOptions) -> TranslationUnit {
    let names = Names::new(&mut session.names, options.c_version);
    // The parser relies on a last token that stays, however often it is taken.
    let end = Token { kind: TokenKind::Eof, flags: 0, text: Symbol::EMPTY, span: Span::default() };
    let tokens: &[Token] = if program.tokens.is_empty() { &[end] } else { &program.tokens };
    let mut parser = Parser {
        session,
        tokens,
        at: 0,
        pragmas: &program.pragmas,
        names,
        has_blocks: options.blocks,
        // A program that was cut off has been reported as such: whatever else is wrong follows from that.
        recovering: program.truncated && tokens.len() < 2,
        truncated: program.truncated,
        depth: 0,
        bounds: options.depth,
        tall: 0,
        blocks: Vec::new(),
        closed: Vec::new(),
        linkage_braces: 0,
        unroll: None,
    };
    parser.translation_unit()
}

/// Units of one pair of brackets, or of one statement in another.
pub(super) const NEST: u32 = 4;
/// Of a type within a type: these need the most stack.
pub(super) const NEST_TYPE: u32 = 8;
/// Of a block literal, which is a function in an expression.
pub(super) const NEST_BLOCK: u32 = 16;
/// Of one level of precedence.
pub(super) const NEST_OPERATOR: u32 = 1;

pub(super) struct Parser<'a> {
    pub session: &'a mut Session,
    pub tokens: &'a [Token],
    pub at: usize,
    pragmas: &'a [(usize, Pragma)],
    pub names: Names,
    /// Blocks are a part of the language.
    pub has_blocks: bool,
    /// An error was reported and no fresh start has been found yet.
    pub recovering: bool,
    truncated: bool,
    depth: u32,
    pub bounds: Depth,
    /// The greatest height of an expression finished since this was last reset.
    pub tall: u16,
    /// The open braces of the current function.
    pub blocks: Vec<Span>,
    /// The pairs of braces that were closed in the current function.
    pub closed: Vec<(Span, Span)>,
    /// Open braces after `extern "C"`.
    pub linkage_braces: usize,
    /// `#pragma unroll`, waiting for its loop.
    pub unroll: Option<(Unroll, Span)>,
}

impl Parser<'_> {
    // Tokens.

    pub fn token(&self) -> Token {
        self.tokens[self.at]
    }

    pub fn kind(&self) -> TokenKind {
        self.tokens[self.at].kind
    }

    /// The token `n` further on.
    pub fn ahead(&self, n: usize) -> Token {
        self.tokens[(self.at + n).min(self.tokens.len() - 1)]
    }

    pub fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// The span of the token before; of this one at the start.
    pub fn prev_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    /// Takes the current token; the end stays.
    pub fn bump(&mut self) -> Token {
        let t = self.tokens[self.at];
        // The last token is the end: it is looked at any number of times and never passed.
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        t
    }

    pub fn at_end(&self) -> bool {
        self.at + 1 >= self.tokens.len()
    }

    pub fn is(&self, kind: TokenKind) -> bool {
        self.kind() == kind
    }

    pub fn eat(&mut self, kind: TokenKind) -> Option<Span> {
        self.is(kind).then(|| self.bump().span)
    }

    /// The keyword that a token is.
    pub fn keyword_of(&self, t: Token) -> Option<Kw> {
        if t.kind == TokenKind::Ident { self.names.keyword(t.text) } else { None }
    }

    pub fn keyword(&self) -> Option<Kw> {
        self.keyword_of(self.token())
    }

    pub fn is_kw(&self, kw: Kw) -> bool {
        self.keyword() == Some(kw)
    }

    pub fn eat_kw(&mut self, kw: Kw) -> Option<Span> {
        self.is_kw(kw).then(|| self.bump().span)
    }

    /// A name that is no keyword.
    pub fn is_name(&self, t: Token) -> bool {
        t.kind == TokenKind::Ident && self.names.keyword(t.text).is_none()
    }

    pub fn text(&self, t: Token) -> &str {
        t.spelling(&self.session.names)
    }

    /// A token in words, for messages.
    pub fn describe(&self, t: Token) -> String {
        match t.kind {
            TokenKind::Eof => "the end of the source".into(),
            TokenKind::Str => "a string".into(),
            _ => format!("`{}`", self.text(t).chars().take(60).collect::<String>()),
        }
    }

    // Errors.

    /// Reports, unless what is wrong may follow from something reported already.
    #[inline(never)]
    pub fn error(&mut self, d: Diagnostic) {
        if !self.is_consequence() {
            self.session.diags.push(d);
        }
        self.recovering = true;
    }

    /// Reports without losing the thread: the parser knows what was meant.
    #[inline(never)]
    pub fn mistake(&mut self, d: Diagnostic) {
        if !self.is_consequence() {
            self.session.diags.push(d);
        }
    }

    /// Whether what is wrong here may follow from something reported already.
    fn is_consequence(&self) -> bool {
        let before = self.tokens[self.at.saturating_sub(1)];
        // A poisoned token replaces a macro whose use was wrong; what is wrong next to it follows from that.
        self.recovering
            || (self.truncated && self.at_end())
            || self.token().has(flags::POISON)
            || before.has(flags::POISON)
    }

    /// Reports another token where `wanted` is expected.
    #[inline(never)]
    pub fn unexpected(&mut self, code: &'static str, wanted: &str) {
        let t = self.token();
        let found = self.describe(t);
        let mut d = Diagnostic::error(code, t.span, format!("expected {wanted}, found {found}"));
        // Some kinds of token have a better message than that something else was expected.
        if t.kind == TokenKind::Other {
            d = Diagnostic::error("E0103", t.span, format!("stray {found} in the program"));
            if t.text != Symbol::EMPTY && matches!(self.text(t), "“" | "”" | "‘" | "’") {
                d = d.help("replace the typographic quotation mark by a plain one");
            }
        }
        // Without device-side enqueue `^` is only the operator, so that a block literal fails here.
        if t.kind == TokenKind::Caret && code == "E0203" {
            d = d.note("blocks need device-side enqueue and `-cl-std=CL2.0` or later");
        }
        if t.has(flags::UNTERMINATED) {
            d = Diagnostic::error("E0102", t.span, "unterminated string or character constant");
        }
        if let Some(why) = self.cpp_word(t) {
            d = d.note(why);
        }
        let before = self.prev_span();
        // The mistake may be at the end of a macro: it is shown beside the token that follows it.
        if before.expansion != ExpansionId::NONE && t.span.expansion == ExpansionId::NONE {
            d = d.also(before, "after this");
        }
        self.error(d);
    }

    /// The message for a word of C++.
    pub fn cpp_word(&self, t: Token) -> Option<String> {
        let text = (t.kind == TokenKind::Ident).then(|| self.text(t))?;
        super::keywords::CPP_WORDS
            .contains(&text)
            .then(|| format!("`{text}` is a keyword of C++; the language of this program is OpenCL C"))
    }

    /// Reports that something is nested too deeply, and ends parsing.
    #[inline(never)]
    pub fn too_deep(&mut self) {
        let span = self.span();
        let Depth { nesting, height, chain } = self.bounds;
        self.error(
            Diagnostic::error("E0208", span, "the program is nested too deeply here")
                .note(format!(
                    "brackets and statements may be nested {} levels deep, expressions {height}; a chain may have \
                     {chain} operators",
                    nesting / NEST
                ))
                .help("split it into several statements or functions"),
        );
        // At the end of the tokens every loop of the parser stops, so that the recursion unwinds.
        self.at = self.tokens.len() - 1;
        self.truncated = true;
    }

    /// Counts nesting; false when there is too much. To be paired with [`leave`](Self::leave) in both cases.
    pub fn enter(&mut self, units: u32) -> bool {
        self.depth += units;
        // The count goes up even when it is too much, so that `leave` always matches.
        if self.depth <= self.bounds.nesting {
            return true;
        }
        self.too_deep();
        false
    }

    pub fn leave(&mut self, units: u32) {
        self.depth -= units;
    }

    /// Closes a bracket opened at `open`.
    pub fn close(&mut self, kind: TokenKind, open: Span) -> Span {
        if let Some(span) = self.eat(kind) { span } else { self.not_closed(kind, open) }
    }

    /// The bracket is missing.
    #[inline(never)]
    fn not_closed(&mut self, kind: TokenKind, open: Span) -> Span {
        let t = self.token();
        let found = self.describe(t);
        let text = kind.text();
        let opened = match kind {
            TokenKind::RParen => "(",
            TokenKind::RBracket => "[",
            _ => "{",
        };
        if t.kind == TokenKind::Other || t.has(flags::UNTERMINATED) {
            self.unexpected("E0202", &format!("`{text}`"));
        }
        self.error(
            Diagnostic::error("E0202", t.span, format!("expected `{text}`, found {found}"))
                .label(format!("`{text}` expected"))
                .also(open, format!("to close this `{opened}`")),
        );
        self.skip_to_close(kind)
    }

    /// Skips past the bracket that closes the current pair, if it comes before the end of the statement.
    pub fn skip_to_close(&mut self, kind: TokenKind) -> Span {
        let mut depth = 0usize;
        loop {
            let k = self.kind();
            match k {
                // The bracket is not in this statement: nothing of what follows may be lost.
                TokenKind::Eof | TokenKind::Semi | TokenKind::LBrace | TokenKind::RBrace if k != kind => {
                    return self.prev_span();
                }
                TokenKind::LParen | TokenKind::LBracket => depth += 1,
                _ if k == kind && depth == 0 => return self.bump().span,
                TokenKind::RParen | TokenKind::RBracket => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.bump();
        }
    }

    /// The semicolon after `what`.
    pub fn semicolon(&mut self, what: &str) {
        if self.eat(TokenKind::Semi).is_some() {
            if self.recovering {
                self.recovering = false;
            }
            return;
        }
        let t = self.token();
        self.no_semicolon(what, t);
    }

    /// The semicolon is missing.
    #[inline(never)]
    fn no_semicolon(&mut self, what: &str, t: Token) {
        if !self.recovering {
            if t.kind == TokenKind::Other || t.has(flags::UNTERMINATED) {
                self.unexpected("E0201", "`;`");
            } else {
                // Behind the last token, not at the next one, which may be lines further on.
                let after = self.prev_span().after();
                let found = self.describe(t);
                let d = Diagnostic::error("E0201", after, format!("expected `;` after {what}, found {found}"));
                self.error(d.label("add `;` here"));
                if t.has(flags::LINE_START) || t.kind == TokenKind::RBrace {
                    // Only the semicolon is missing.
                    self.recovering = false;
                    return;
                }
            }
        }
        self.synchronise();
    }

    /// Skips to a synchronisation point: after a semicolon, or before a closing brace or a word that starts a statement
    /// or declaration on a new line. Braces are skipped as a whole.
    pub fn synchronise(&mut self) {
        let mut depth = 0usize;
        loop {
            let t = self.token();
            match t.kind {
                TokenKind::Eof => return,
                TokenKind::Semi if depth == 0 => {
                    self.bump();
                    break;
                }
                TokenKind::LBrace => depth += 1,
                TokenKind::RBrace if depth == 0 => break,
                TokenKind::RBrace => {
                    // A block that was skipped as a whole ends the statement it belonged to, perhaps with a semicolon.
                    depth -= 1;
                    if depth == 0 {
                        self.bump();
                        self.eat(TokenKind::Semi);
                        break;
                    }
                }
                // A new line alone is no start: a statement may go on there. A word such as `return` on a new line is
                // one.
                TokenKind::Ident if depth == 0 && t.has(flags::LINE_START) && self.starts_afresh(t) => break,
                // An unterminated token took the rest of its line with the semicolon.
                _ if t.has(flags::LINE_START) && self.tokens[self.at.saturating_sub(1)].has(flags::UNTERMINATED) => {
                    break;
                }
                _ => {}
            }
            self.bump();
        }
        self.recovering = false;
    }

    /// Whether a word is one that can only be at the start of a statement or declaration.
    pub fn starts_afresh(&self, t: Token) -> bool {
        use Kw::*;
        let at_file_level = self.blocks.is_empty();
        // In a function a type may stand in the middle of a broken statement, as in a cast; at file level it begins a
        // declaration.
        at_file_level && (self.starts_type(t) || self.keyword_of(t) == Some(Attribute))
            || matches!(
                self.keyword_of(t),
                Some(
                    Kernel
                        | If
                        | For
                        | While
                        | Do
                        | Return
                        | Switch
                        | Break
                        | Continue
                        | Goto
                        | Typedef
                        | Struct
                        | Static
                        | Case
                        | Default
                )
            )
    }

    // Pragmas.

    /// The pragmas before the current token.
    pub fn take_pragmas(&mut self) -> Vec<Pragma> {
        let mut taken = Vec::new();
        while let Some((index, pragma)) = self.pragmas.first()
            // A pragma has the number of the token that it stands before.
            && *index <= self.at
        {
            self.pragmas = &self.pragmas[1..];
            match pragma.kind {
                // Kept for the loop that comes next: labels and attributes may stand in between.
                PragmaKind::Unroll(unroll) => self.unroll = Some((unroll, pragma.span)),
                _ => taken.push(pragma.clone()),
            }
        }
        taken
    }

    /// A pragma that waited for a loop did not get one.
    pub fn unroll_without_loop(&mut self) {
        if let Some((_, span)) = self.unroll.take() {
            self.session.diags.push(
                Diagnostic::warning("W0202", span, "this pragma has no effect here")
                    .help("put it right before the loop that is to be unrolled"),
            );
        }
    }

    // The file level.

    fn translation_unit(&mut self) -> TranslationUnit {
        let mut items = Vec::new();
        loop {
            for pragma in self.take_pragmas() {
                let span = pragma.span;
                items.push(Item { kind: ItemKind::Pragma(pragma), span });
            }
            self.unroll_without_loop();
            if self.is(TokenKind::Eof) {
                break;
            }
            if self.session.diags.is_full() {
                break;
            }
            let before = self.at;
            if let Some(item) = self.item() {
                items.push(item);
            }
            if self.recovering {
                self.synchronise();
            }
            // Each iteration takes a token.
            if self.at == before && !self.is(TokenKind::Eof) {
                self.bump();
            }
        }
        TranslationUnit { items }
    }

    fn item(&mut self) -> Option<Item> {
        let start = self.span();
        if self.eat(TokenKind::Semi).is_some() {
            return None;
        }
        // The end of `extern "C" {`, whose begin was skipped.
        if self.is(TokenKind::RBrace) && self.linkage_braces > 0 {
            self.linkage_braces -= 1;
            self.bump();
            return None;
        }
        if self.is(TokenKind::RBrace) {
            self.mistake(
                Diagnostic::error("E0202", start, "unmatched `}`")
                    .help("an earlier `}` may have ended the function already"),
            );
            self.bump();
            return None;
        }
        if self.is_kw(Kw::StaticAssert) {
            let assertion = self.static_assert();
            return Some(Item { kind: ItemKind::StaticAssert(Box::new(assertion)), span: start.to(self.prev_span()) });
        }
        let kind = self.external_declaration()?;
        Some(Item { kind, span: start.to(self.prev_span()) })
    }

    /// `_Static_assert(condition, "text");`
    pub fn static_assert(&mut self) -> StaticAssert {
        self.bump();
        let open = self.span();
        if self.eat(TokenKind::LParen).is_none() {
            self.unexpected("E0200", "`(`");
        }
        let condition = self.assignment();
        let message = if self.eat(TokenKind::Comma).is_some() { self.strings() } else { None };
        self.close(TokenKind::RParen, open);
        self.semicolon("`_Static_assert`");
        StaticAssert { condition, message }
    }
}
