//! Constants in expressions: from the spelling of a token to a node; malformed ones are reported at their span.

use super::ast::*;
use super::literal::{self, Number};
use super::parser::Parser;
use crate::pp::{Token, TokenKind, flags};
use crate::source::{Diagnostic, Span};

impl Parser<'_> {
    /// A number; wrong ones become errors.
    #[inline(never)]
    pub fn number(&mut self, t: Token) -> ExprKind {
        match literal::number(self.text(t)) {
            Ok(Number::Int(i)) => ExprKind::Int(i),
            Ok(Number::Float(f)) => ExprKind::Float(f),
            Err(e) => {
                let mut d = Diagnostic::error(e.code, t.span, e.message);
                if let Some(help) = e.help {
                    d = d.help(help);
                }
                self.mistake(d);
                ExprKind::Error
            }
        }
    }

    #[inline(never)]
    fn escape_problems(&mut self, t: Token, problems: Vec<literal::EscapeProblem>) {
        for p in problems {
            // In a spelling without continued lines offsets are those of the source.
            let plain = self.text(t).len() == (t.span.hi - t.span.lo) as usize;
            let lo = t.span.lo + p.offset as u32;
            let span = if plain { Span { lo, hi: lo + 2, ..t.span } } else { t.span };
            self.mistake(if p.error {
                Diagnostic::error("E0117", span, p.message)
            } else {
                Diagnostic::warning("W0108", span, p.message)
            });
        }
    }

    /// A character constant.
    #[inline(never)]
    pub fn character(&mut self, t: Token) -> ExprKind {
        let mut problems = Vec::new();
        let bytes = literal::unescape(self.text(t), &mut problems);
        self.escape_problems(t, problems);
        match bytes.len() {
            0 => {
                self.mistake(Diagnostic::error("E0117", t.span, "empty character constant"));
                return ExprKind::Error;
            }
            1 => {}
            // Up to four bytes fit into the `int` that a character constant is.
            2..=4 => {
                self.mistake(Diagnostic::warning("W0110", t.span, "several characters in a character constant"));
            }
            _ => {
                let d = Diagnostic::error("E0117", t.span, "character constant is too long");
                self.mistake(d.help("a string has double quotation marks"));
            }
        }
        ExprKind::Char(literal::char_value(&bytes))
    }

    /// String literals up to the first other token.
    #[inline(never)]
    pub fn strings(&mut self) -> Option<StringLit> {
        let start = self.span();
        let mut bytes = Vec::new();
        let mut any = false;
        while self.is(TokenKind::Str) && !self.token().has(flags::UNTERMINATED) {
            let t = self.bump();
            let mut problems = Vec::new();
            bytes.extend(literal::unescape(self.text(t), &mut problems));
            self.escape_problems(t, problems);
            any = true;
        }
        if !any {
            self.unexpected("E0203", "a string");
            return None;
        }
        Some(StringLit { bytes: bytes.into(), span: start.to(self.prev_span()) })
    }
}
