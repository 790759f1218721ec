//! Directives: lines that start with `#`. Conditionals, definitions, includes, `#line`, `#error`, pragmas.

use rustc_hash::FxHashMap;

use super::lexer::Lexer;
use super::token::{Token, TokenKind, flags};
use super::{Conditional, IncludeRequest, Preprocessor, limits};
use crate::source::{Diagnostic, FileId, Interner, SourceMap, Span, Symbol};
use crate::syntax::literal::{self, Number};

/// The directives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Directive {
    Define,
    Undef,
    If,
    Ifdef,
    Ifndef,
    Elif,
    Elifdef,
    Elifndef,
    Else,
    Endif,
    Include,
    /// `#include_next`
    IncludeNext,
    /// `#import`: `#include`, at most once.
    Import,
    /// `#ident` and `#sccs`: a text for object files.
    Ident,
    Line,
    Error,
    Warning,
    Pragma,
}

impl Directive {
    /// As written, for messages.
    fn text(self) -> &'static str {
        match self {
            Directive::Ifdef => "#ifdef",
            Directive::Ifndef => "#ifndef",
            Directive::Elif => "#elif",
            Directive::Elifdef => "#elifdef",
            Directive::Elifndef => "#elifndef",
            Directive::Else => "#else",
            _ => "this directive",
        }
    }
}

pub(super) fn table(names: &mut Interner) -> FxHashMap<Symbol, Directive> {
    use Directive::*;
    let all = [
        ("define", Define),
        ("undef", Undef),
        ("if", If),
        ("ifdef", Ifdef),
        ("ifndef", Ifndef),
        ("elif", Elif),
        ("elifdef", Elifdef),
        ("elifndef", Elifndef),
        ("else", Else),
        ("endif", Endif),
        ("include", Include),
        ("include_next", IncludeNext),
        ("import", Import),
        ("ident", Ident),
        ("sccs", Ident),
        ("line", Line),
        ("error", Error),
        ("warning", Warning),
        ("pragma", Pragma),
    ];
    all.map(|(name, d)| (names.intern(name), d)).into_iter().collect()
}

impl Preprocessor<'_> {
    fn lexer(&mut self) -> Option<&mut Lexer> {
        self.files.last_mut().map(|f| &mut f.lexer)
    }

    fn lex(&mut self) -> Token {
        match self.files.last_mut() {
            Some(f) => f.lexer.next(&mut self.session.names),
            None => super::eof(),
        }
    }

    /// The tokens up to the end of the line.
    fn line(&mut self) -> Vec<Token> {
        let mut tokens = Vec::new();
        loop {
            let t = self.lex();
            if matches!(t.kind, TokenKind::Newline | TokenKind::Eof) {
                return tokens;
            }
            tokens.push(t);
        }
    }

    /// Obeys a directive, from its `#`.
    pub(super) fn directive(&mut self, hash: Token) {
        if let Some(l) = self.lexer() {
            l.directive = true;
        }
        let name = self.lex();
        let at = hash.span.to(name.span);
        match name.kind {
            TokenKind::Newline => {}
            // `# 12 "file"`, as preprocessors write it.
            TokenKind::Number => {
                let mut line = vec![name];
                line.extend(self.line());
                self.line_directive(at, line);
            }
            TokenKind::Ident if self.directives.contains_key(&name.text) => {
                self.known_directive(self.directives[&name.text], at);
            }
            _ => {
                let text = name.spelling(&self.session.names).to_owned();
                let near = nearest(&text, &self.directives, &self.session.names).map(str::to_owned);
                let mut d = Diagnostic::error("E0105", at, format!("unknown directive `#{text}`"));
                if let Some(near) = near {
                    d = d.suggest(name.span, near, "did you mean");
                }
                self.report(d);
                self.line();
            }
        }
        if let Some(l) = self.lexer() {
            l.directive = false;
        }
    }

    fn known_directive(&mut self, directive: Directive, at: Span) {
        match directive {
            Directive::Define => {
                let line = self.line();
                self.define(at, &line, false);
            }
            Directive::Undef => {
                let line = self.line();
                self.undefine(at, &line);
            }
            Directive::If => {
                let value = self.condition(at);
                self.open_conditional(at, value);
            }
            Directive::Ifdef | Directive::Ifndef => {
                let value = self.is_defined_condition(directive, at) == (directive == Directive::Ifdef);
                self.open_conditional(at, value);
            }
            Directive::Elif | Directive::Elifdef | Directive::Elifndef | Directive::Else => {
                // The group before this one was read, so this one is not, whatever its condition says.
                self.line();
                if self.check_branch(directive, at) {
                    self.skip_group();
                }
            }
            Directive::Endif => self.close_conditional(at),
            Directive::Include | Directive::IncludeNext | Directive::Import => self.include(directive, at),
            Directive::Ident => drop(self.line()),
            Directive::Line => {
                let line = self.line();
                let line = self.expand_list(line);
                self.line_directive(at, line);
            }
            Directive::Error | Directive::Warning => {
                // The text as written: it need not be made of tokens, as in `#error don't`.
                let text = self.lexer().map(Lexer::rest_of_line).unwrap_or_default();
                let span = at;
                self.report(match directive {
                    Directive::Error => Diagnostic::error("E0114", span, format!("#error {text}")),
                    _ => Diagnostic::warning("W0101", span, format!("#warning {text}")),
                });
            }
            Directive::Pragma => {
                let line = self.line();
                let span = line.last().map_or(at, |t| at.to(t.span));
                self.pragma(span, line);
            }
        }
    }

    /// Warns about tokens after a complete directive.
    pub(super) fn extra_tokens(&mut self, directive: &str, rest: &[Token]) {
        if let (Some(first), Some(last)) = (rest.first(), rest.last()) {
            let message = format!("extra tokens after `{directive}`");
            self.report(Diagnostic::warning("W0104", first.span.to(last.span), message).help("make them a comment"));
        }
    }

    // Conditional groups.

    fn condition(&mut self, at: Span) -> bool {
        let line = self.line();
        if line.is_empty() {
            self.report(Diagnostic::error("E0107", at, "a condition is missing"));
            return false;
        }
        // `defined` is an operator here: its operand is not expanded.
        self.in_condition = true;
        let tokens = self.expand_list(line);
        self.in_condition = false;
        self.evaluate(at, &tokens)
    }

    fn is_defined_condition(&mut self, directive: Directive, at: Span) -> bool {
        let line = self.line();
        let Some(name) = self.macro_name(at, line.first()) else { return false };
        self.extra_tokens(directive.text(), &line[1..]);
        self.macro_named(name.text).is_some()
    }

    /// `defined NAME` and `defined(NAME)`, as 1 or 0.
    pub(super) fn defined_operator(&mut self, operator: Token) -> Token {
        let mut t = self.raw();
        let paren = t.kind == TokenKind::LParen;
        if paren {
            t = self.raw();
        }
        let mut value = false;
        if t.kind == TokenKind::Ident {
            value = self.macro_named(t.text).is_some();
            if paren {
                let close = self.raw();
                if close.kind != TokenKind::RParen {
                    self.report(Diagnostic::error("E0107", operator.span, "`)` is missing after `defined(`"));
                }
            }
        } else {
            self.report(Diagnostic::error("E0107", operator.span, "`defined` needs the name of a macro"));
        }
        let text = self.session.names.intern(if value { "1" } else { "0" });
        Token { kind: TokenKind::Number, text, ..operator }
    }

    fn open_conditional(&mut self, span: Span, value: bool) {
        if let Some(f) = self.files.last_mut() {
            // Kept even if the group is skipped: `#else` and `#endif` belong to it.
            f.conditionals.push(Conditional { span, taken: value, else_span: None });
        }
        if !value {
            self.skip_group();
        }
    }

    /// Whether `#else` or `#elif` is allowed here; reports if not.
    fn check_branch(&mut self, directive: Directive, at: Span) -> bool {
        let word = directive.text();
        let Some(c) = self.files.last_mut().and_then(|f| f.conditionals.last_mut()) else {
            self.report(Diagnostic::error("E0106", at, format!("`{word}` without `#if`")));
            return false;
        };
        if let Some(before) = c.else_span {
            let open = c.span;
            self.report(
                Diagnostic::error("E0106", at, format!("`{word}` after `#else`"))
                    .also(before, "the `#else`")
                    .also(open, "of this conditional"),
            );
        } else if directive == Directive::Else {
            c.else_span = Some(at);
        }
        true
    }

    fn close_conditional(&mut self, at: Span) {
        let line = self.line();
        self.extra_tokens("#endif", &line);
        if self.files.last_mut().and_then(|f| f.conditionals.pop()).is_none() {
            self.report(Diagnostic::error("E0106", at, "`#endif` without `#if`"));
        }
    }

    /// Skips until a group is to be read, or until the conditional ends.
    fn skip_group(&mut self) {
        let mut nested = 0usize;
        loop {
            let Some(lexer) = self.lexer() else { return };
            lexer.directive = false;
            if !lexer.skip_to_directive() {
                return;
            }
            lexer.directive = true;
            let hash = self.lex();
            let name = self.lex();
            // Unknown directives are not reported in groups that are skipped: they may be of another compiler.
            let Some(&directive) = self.directives.get(&name.text).filter(|_| name.kind == TokenKind::Ident) else {
                continue;
            };
            let at = hash.span.to(name.span);
            match directive {
                Directive::If | Directive::Ifdef | Directive::Ifndef => nested += 1,
                Directive::Endif if nested > 0 => nested -= 1,
                Directive::Endif => {
                    self.close_conditional(at);
                    return;
                }
                Directive::Else | Directive::Elif | Directive::Elifdef | Directive::Elifndef if nested == 0 => {
                    // The condition of an `#elif` after a group that was read is not even evaluated: it may not be
                    // valid.
                    let taken = self.files.last().and_then(|f| f.conditionals.last()).is_some_and(|c| c.taken);
                    self.check_branch(directive, at);
                    if taken {
                        continue;
                    }
                    let value = match directive {
                        Directive::Else => {
                            let line = self.line();
                            self.extra_tokens("#else", &line);
                            true
                        }
                        Directive::Elif => self.condition(at),
                        _ => self.is_defined_condition(directive, at) == (directive == Directive::Elifdef),
                    };
                    if value {
                        if let Some(c) = self.files.last_mut().and_then(|f| f.conditionals.last_mut()) {
                            c.taken = true;
                        }
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    // Files.

    fn include(&mut self, directive: Directive, at: Span) {
        // `<a/b.h>` is read as text before any tokens are made: its characters need not form tokens.
        let written = self.lexer().and_then(Lexer::header_name);
        let (name, angled, span) = match written {
            Some((name, span)) => {
                let rest = self.line();
                self.extra_tokens("#include", &rest);
                (name, true, span)
            }
            None => {
                let line = self.line();
                let line = self.expand_list(line);
                match self.include_name(&line) {
                    Some(found) => found,
                    None => {
                        let span = line.first().map_or(at, |t| t.span);
                        self.report(Diagnostic::error("E0104", span, "expected `\"file\"` or `<file>`"));
                        return;
                    }
                }
            }
        };
        self.includes += 1;
        // The depth stops a file that includes itself, the number a tree of includes that doubles at each level.
        if self.files.len() > limits::INCLUDE_DEPTH || self.includes > limits::INCLUDES {
            let message = format!("`{name}` is included too deeply or too often");
            self.stop(
                Diagnostic::error("E0113", span, message)
                    .note(format!("the limit is {} levels, {} files", limits::INCLUDE_DEPTH, limits::INCLUDES))
                    .help("guard the file with `#pragma once` if it includes itself"),
            );
            return;
        }
        let Some(file) = self.find_file(&name, angled, span) else { return };
        // There is no order of folders here to go on in: the file that is not this one is meant.
        if directive == Directive::IncludeNext && self.files.last().is_some_and(|f| f.file == file) {
            let message = format!("there is no other file `{name}` after this one");
            self.report(
                Diagnostic::error("E0112", span, message)
                    .note("`#include_next` looks where `#include` does")
                    .help("include the other file by its path"),
            );
            return;
        }
        if !self.once.contains(&file) {
            if directive == Directive::Import {
                self.once.push(file);
            }
            // The rest of this line is white space; the included file comes next, then the line after it.
            if let Some(l) = self.lexer() {
                l.directive = false;
            }
            self.open(file);
        }
    }

    /// The name in the tokens of an `#include` after expansion.
    fn include_name(&mut self, line: &[Token]) -> Option<(String, bool, Span)> {
        let first = line.first()?;
        let names = &self.session.names;
        if first.kind == TokenKind::Str && !first.has(flags::UNTERMINATED) {
            let text = first.spelling(names);
            let name = text[1..text.len() - 1].to_owned();
            self.extra_tokens("#include", &line[1..]);
            return Some((name, false, first.span));
        }
        if first.kind != TokenKind::Lt {
            return None;
        }
        let end = line.iter().position(|t| t.kind == TokenKind::Gt)?;
        let mut name = String::new();
        for (i, t) in line[1..end].iter().enumerate() {
            if i > 0 && t.has(flags::SPACE) {
                name.push(' ');
            }
            name.push_str(t.spelling(names));
        }
        Some((name, true, first.span.to(line[end].span)))
    }

    fn find_file(&mut self, name: &str, angled: bool, span: Span) -> Option<FileId> {
        let from = self.files.last().map(|f| f.file).unwrap_or_default();
        // The resolver looks beside the including file first, which it knows by the name that it gave.
        let from = self.session.sources.file(from).name.clone();
        let Some(found) = self.resolver.resolve(IncludeRequest { name, angled, from: &from }) else {
            let mut d = Diagnostic::error("E0112", span, format!("file `{name}` not found"));
            const STANDARD: [&str; 9] = [
                "assert.h",
                "float.h",
                "limits.h",
                "math.h",
                "stdbool.h",
                "stdint.h",
                "stdio.h",
                "stdlib.h",
                "string.h",
            ];
            d = d.help(match (STANDARD.contains(&name), self.resolver.is_confined()) {
                (true, _) => {
                    "OpenCL C has no headers: its functions and types are there without any; leave the line out"
                }
                (false, false) => "give its folder by the build option `-I`",
                // The same whether there is such a file elsewhere or not.
                (false, true) => {
                    "only files in folders of the build option `-I` are found here: CLOOM_CONFINE_INCLUDES is set, or \
                     the program is set-user-ID"
                }
            });
            self.report(d);
            return None;
        };
        // Included again: the text is shared, and read once more, as macros may have changed.
        if let Some(&file) = self.resolved.get(&found.name) {
            return Some(file);
        }
        let file = self.session.sources.add(&found.name, &found.bytes, Some(span));
        match file {
            Some(file) => {
                self.resolved.insert(found.name, file);
            }
            None => {
                let message = format!("file `{name}` is larger than {} bytes", SourceMap::MAX_FILE);
                self.stop(Diagnostic::error("E0100", span, message));
            }
        }
        file
    }

    /// `#line number "file"`, from the number on.
    fn line_directive(&mut self, at: Span, line: Vec<Token>) {
        let names = &self.session.names;
        let number = line.first().filter(|t| t.kind == TokenKind::Number).map(|t| literal::number(t.spelling(names)));
        let Some(Ok(Number::Int(n))) = number else {
            self.report(Diagnostic::error("E0104", at, "`#line` needs a number").help("as in `#line 12 \"file.cl\"`"));
            return;
        };
        let file = match line.get(1) {
            None => None,
            Some(t) if t.kind == TokenKind::Str && !t.has(flags::UNTERMINATED) => {
                let bytes = literal::unescape(t.spelling(names), &mut Vec::new());
                Some(String::from_utf8_lossy(&bytes).into_owned())
            }
            Some(t) => {
                let span = t.span;
                self.report(Diagnostic::error("E0104", span, "the file in `#line` must be a string"));
                return;
            }
        };
        // The number is that of the next line, which starts one after the end of this one.
        let Some(f) = self.files.last_mut() else { return };
        let next = f.lexer.here().lo + 1;
        let (file_id, number) = (f.file, n.value.min(u64::from(u32::MAX)) as u32);
        self.session.sources.add_presumed(file_id, next, number, file);
    }

    /// `#pragma once`
    pub(super) fn pragma_once(&mut self) {
        if let Some(f) = self.files.last()
            && !self.once.contains(&f.file)
        {
            self.once.push(f.file);
        }
    }
}

/// The directive whose name is most like the text, if one is.
fn nearest<'n>(text: &str, table: &FxHashMap<Symbol, Directive>, names: &'n Interner) -> Option<&'n str> {
    let mut all: Vec<&str> = table.keys().map(|&s| names.text(s)).collect();
    all.sort_unstable();
    crate::source::nearest(text, all)
}
