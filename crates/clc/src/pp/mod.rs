//! The preprocessor: a source and its includes become one list of tokens, with a separate list of pragmas.
//!
//! Macro expansion follows the standard by a stack of contexts: a macro is off while its replacement is being read, and
//! a name met in that state is painted, never to be expanded again. This gives the results of Prosser's hide sets
//! wherever the standard defines a result, and costs one bit a macro instead of a set a token.
//!
//! Everything is bounded ([`limits`]): a source that exceeds a bound gets an error and its tokens up to there. Included
//! files come through [`IncludeResolver`]; nothing here does input or output.

mod clang_macros;
mod directive;
mod eval;
mod expand;
mod lexer;
mod macros;
mod pragma;
mod predefined;
mod token;

use std::rc::Rc;

use rustc_hash::FxHashMap;

pub use predefined::{MacroOption, PpOptions};
pub use token::{Token, TokenKind, flags};

use crate::source::{Diagnostic, FileId, Session, Span, Symbol};
use crate::syntax::ast::Pragma;
use expand::Context;
use lexer::Lexer;
use macros::Macro;

/// Bounds on what one program may need. They are far above what programs have and far below what hurts.
pub mod limits {
    /// How deep includes may nest.
    pub const INCLUDE_DEPTH: usize = 200;
    /// How many files may be included, each inclusion counted.
    pub const INCLUDES: usize = 20_000;
    /// How many bytes of source may be read, each inclusion counted.
    pub const SOURCE_BYTES: usize = 256 << 20;
    /// How many tokens macros may yield on the way, those that are expanded further counted each time.
    pub const EXPANDED_TOKENS: usize = 8 << 20;
    /// How many tokens the program may have.
    pub const TOKENS: usize = 8 << 20;
    /// How deep uses of macros may nest in arguments of macros, and parentheses in `#if`: on an ordinary stack, and on
    /// that of [`with_deep_stack`](crate::with_deep_stack).
    pub const NESTING: usize = 200;
    /// See [`NESTING`].
    pub const DEEP_NESTING: usize = 1500;
}

/// The request of an `#include`.
#[derive(Clone, Copy, Debug)]
pub struct IncludeRequest<'a> {
    /// The name between the quotation marks or angle brackets.
    pub name: &'a str,
    /// `<name>`: the folder of the including file is not looked at.
    pub angled: bool,
    /// The name of the including file, as the resolver gave it (or as the source was added).
    pub from: &'a str,
}

/// The result of an `#include`.
#[derive(Clone, Debug)]
pub struct IncludedFile {
    /// A unique name of the file; shown in messages and by `__FILE__`.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Where included files come from.
pub trait IncludeResolver {
    /// The file, or `None` when there is none of this name.
    fn resolve(&mut self, request: IncludeRequest<'_>) -> Option<IncludedFile>;

    /// Whether files outside of the folders of `-I` are never found.
    fn is_confined(&self) -> bool {
        false
    }
}

/// A resolver that knows no file.
#[derive(Debug)]
pub struct NoIncludes;

impl IncludeResolver for NoIncludes {
    fn resolve(&mut self, _: IncludeRequest<'_>) -> Option<IncludedFile> {
        None
    }
}

/// The result.
#[derive(Debug, Default)]
pub struct Preprocessed {
    /// The tokens; the last one is `Eof`.
    pub tokens: Vec<Token>,
    /// The pragmas, each with the index of the following token, in order.
    pub pragmas: Vec<(usize, Pragma)>,
    /// The tokens end early, for a reason that was reported.
    pub truncated: bool,
}

/// Preprocesses a file of the session.
pub fn preprocess(
    session: &mut Session,
    file: FileId,
    options: &PpOptions,
    resolver: &mut dyn IncludeResolver,
) -> Preprocessed {
    let mut pp = Preprocessor::new(session, resolver);
    pp.max_nesting = options.nesting;
    pp.define_predefined(options);
    pp.run(file)
}

/// An open `#if`.
struct Conditional {
    /// The `#if`.
    span: Span,
    /// Whether one of its groups has been read.
    taken: bool,
    /// The `#else`.
    else_span: Option<Span>,
}

/// A file being read.
struct OpenFile {
    lexer: Lexer,
    file: FileId,
    conditionals: Vec<Conditional>,
}

/// The names with a meaning of their own.
struct Known {
    defined: Symbol,
    va_args: Symbol,
    pragma: Symbol,
    line: Symbol,
    file: Symbol,
    counter: Symbol,
    true_: Symbol,
}

struct Preprocessor<'a> {
    session: &'a mut Session,
    resolver: &'a mut dyn IncludeResolver,
    /// By symbol.
    macros: Vec<Option<Rc<Macro>>>,
    known: Known,
    /// Names of directives, by symbol.
    directives: FxHashMap<Symbol, directive::Directive>,
    files: Vec<OpenFile>,
    contexts: Vec<Context>,
    /// A token of the file that was looked at and not used.
    lookahead: Option<Token>,
    out: Preprocessed,
    counter: u32,
    /// `defined` has its meaning.
    in_condition: bool,
    /// How deep arguments of macros are being expanded,
    nesting: usize,
    /// and how deep they may be.
    max_nesting: usize,
    expanded: usize,
    includes: usize,
    source_bytes: usize,
    /// A bound was hit: nothing more is read.
    stopped: bool,
    /// Files with `#pragma once`.
    once: Vec<FileId>,
    /// Resolved files by name, to read each only once into memory.
    resolved: FxHashMap<String, FileId>,
}

impl<'a> Preprocessor<'a> {
    fn new(session: &'a mut Session, resolver: &'a mut dyn IncludeResolver) -> Self {
        let names = &mut session.names;
        let known = Known {
            defined: names.intern("defined"),
            va_args: names.intern("__VA_ARGS__"),
            pragma: names.intern("_Pragma"),
            line: names.intern("__LINE__"),
            file: names.intern("__FILE__"),
            counter: names.intern("__COUNTER__"),
            true_: names.intern("true"),
        };
        // By symbol, so that a directive is found without comparing text.
        let directives = directive::table(names);
        Self {
            session,
            resolver,
            macros: Vec::new(),
            known,
            directives,
            files: Vec::new(),
            contexts: Vec::new(),
            lookahead: None,
            out: Preprocessed::default(),
            counter: 0,
            in_condition: false,
            nesting: 0,
            max_nesting: limits::NESTING,
            expanded: 0,
            includes: 0,
            source_bytes: 0,
            stopped: false,
            once: Vec::new(),
            resolved: FxHashMap::default(),
        }
    }

    fn run(mut self, file: FileId) -> Preprocessed {
        self.open(file);
        let mut end;
        loop {
            let token = self.next();
            end = token;
            if token.kind == TokenKind::Eof {
                break;
            }
            // After expansion, because `_Pragma` mostly comes out of a macro.
            if token.kind == TokenKind::Ident && token.text == self.known.pragma {
                self.pragma_operator(token);
                continue;
            }
            if self.out.tokens.len() >= limits::TOKENS {
                let message = format!("the program has more than {} tokens", limits::TOKENS);
                self.stop(Diagnostic::error("E0100", token.span, message));
                break;
            }
            self.out.tokens.push(token);
        }
        // The end belongs to the main file, whatever was being read when a bound was hit.
        let len = self.session.sources.file(file).text.len() as u32;
        end.span = Span::new(file, len, len);
        end.kind = TokenKind::Eof;
        end.text = Symbol::EMPTY;
        self.out.tokens.push(end);
        self.out.truncated |= self.stopped;
        // Kept for the hints about misspelt names.
        self.session.macros = self.macros.iter().flatten().map(|m| m.name).collect();
        self.out
    }

    /// Starts to read a file.
    fn open(&mut self, file: FileId) {
        let text = self.session.sources.file(file).text.clone();
        self.source_bytes += text.len();
        if self.source_bytes > limits::SOURCE_BYTES {
            let message = format!("the sources have more than {} bytes", limits::SOURCE_BYTES);
            self.stop(Diagnostic::error("E0100", Span::new(file, 0, 0), message));
            return;
        }
        self.warn_about_trigraphs(file, &text);
        let lexer = Lexer::file(text, file);
        if let Some(span) = lexer.spaced_splice {
            self.report(
                Diagnostic::warning("W0109", span, "white space between a backslash and the end of the line")
                    .help("the next line is taken as a continuation of this one; remove the backslash or the space"),
            );
        }
        self.files.push(OpenFile { lexer, file, conditionals: Vec::new() });
    }

    fn warn_about_trigraphs(&mut self, file: FileId, text: &str) {
        let mut from = 0;
        while let Some(i) = memchr::memmem::find(&text.as_bytes()[from..], b"??") {
            let at = from + i;
            if text.as_bytes().get(at + 2).is_some_and(|b| b"=/'()!<>-".contains(b)) {
                let span = Span::new(file, at as u32, at as u32 + 3);
                self.report(Diagnostic::warning("W0105", span, "trigraphs are not replaced"));
                return;
            }
            from = at + 1;
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.session.diags.push(diagnostic);
    }

    /// Reports and reads no more.
    fn stop(&mut self, diagnostic: Diagnostic) {
        if !self.stopped {
            self.report(diagnostic);
        }
        self.stopped = true;
    }

    /// The next token of the files: executes directives, and returns to the includer at the end of a file.
    fn file_token(&mut self) -> Token {
        // A token that `paren_follows` looked at comes first; it may be the `#` of a directive.
        let mut ahead = self.lookahead.take();
        loop {
            let token = match ahead.take() {
                Some(t) => t,
                None => match self.files.last_mut() {
                    Some(f) if !self.stopped => f.lexer.next(&mut self.session.names),
                    _ => return eof(),
                },
            };
            if token.kind == TokenKind::Hash && token.has(flags::LINE_START) {
                self.directive(token);
                continue;
            }
            if token.kind != TokenKind::Eof {
                return token;
            }
            if self.close() {
                continue;
            }
            return token;
        }
    }

    /// Ends the current file; false when it was the last.
    fn close(&mut self) -> bool {
        let Some(open) = self.files.pop() else { return false };
        // A conditional must end in its own file; the innermost is reported first.
        for c in open.conditionals.iter().rev() {
            self.session
                .diags
                .push(Diagnostic::error("E0106", c.span, "conditional directive without `#endif`").label("not closed"));
        }
        if let Some(span) = open.lexer.unterminated_comment {
            self.report(Diagnostic::error("E0101", span, "unterminated comment").label("starts here").help("add `*/`"));
        }
        if let Some(span) = open.lexer.null_character {
            self.report(Diagnostic::warning("W0107", span, "null character in the source is ignored"));
        }
        !self.files.is_empty()
    }
}

fn eof() -> Token {
    Token { kind: TokenKind::Eof, flags: 0, text: Symbol::EMPTY, span: Span::default() }
}
