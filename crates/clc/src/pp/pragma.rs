//! Pragmas: extensions, `FP_CONTRACT` and `unroll` become data for the parser; those of other compilers are ignored
//! silently, others with a warning.

use super::Preprocessor;
use super::lexer::Lexer;
use super::token::{Token, TokenKind, flags};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{Ident, Pack, Pragma, PragmaKind, Unroll};

impl Preprocessor<'_> {
    /// `_Pragma("…")`, from the tokens after the name.
    pub(super) fn pragma_operator(&mut self, name: Token) {
        let open = self.next();
        let text = self.next();
        let close = self.next();
        let right = open.kind == TokenKind::LParen
            && text.kind == TokenKind::Str
            && !text.has(flags::UNTERMINATED)
            && close.kind == TokenKind::RParen;
        if !right {
            self.report(Diagnostic::error("E0104", name.span, "`_Pragma` needs a string in parentheses"));
            return;
        }
        // The quotation marks go, and the backslashes that protect quotation marks and backslashes.
        let spelling = text.spelling(&self.session.names);
        let text = spelling[1..spelling.len() - 1].replace("\\\"", "\"").replace("\\\\", "\\");
        let span = name.span.to(close.span);
        let mut lexer = Lexer::text(&text, span);
        let mut line = Vec::new();
        loop {
            let t = lexer.next(&mut self.session.names);
            if t.kind == TokenKind::Eof {
                break;
            }
            line.push(t);
        }
        self.pragma(span, line);
    }

    /// Records a pragma; `line` is the text after `#pragma`.
    pub(super) fn pragma(&mut self, span: Span, line: Vec<Token>) {
        let words: Vec<String> = line.iter().map(|t| t.spelling(&self.session.names).to_owned()).collect();
        // As text, so that a pragma is a pattern of words below.
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let kind = match words[..] {
            [] => None,
            ["once", ..] => {
                self.pragma_once();
                None
            }
            ["OPENCL", "EXTENSION", name, ":", behaviour] => {
                let enable = match behaviour {
                    "enable" => true,
                    "disable" => false,
                    // Around the declarations of an extension, in headers of compilers.
                    "begin" | "end" => return,
                    _ => {
                        let message = format!("`{behaviour}` is neither `enable` nor `disable`");
                        self.report(Diagnostic::warning("W0103", line[4].span, message));
                        return;
                    }
                };
                let name = Ident { name: self.session.names.intern(name), span: line[2].span };
                Some(PragmaKind::Extension { name, enable })
            }
            ["OPENCL", "EXTENSION", ..] => {
                let d = Diagnostic::warning("W0103", span, "malformed extension pragma is ignored")
                    .help("write `#pragma OPENCL EXTENSION name : enable`");
                self.report(d);
                None
            }
            ["OPENCL" | "STDC", "FP_CONTRACT", state] => match state {
                "ON" => Some(PragmaKind::FpContract(Some(true))),
                "OFF" => Some(PragmaKind::FpContract(Some(false))),
                "DEFAULT" => Some(PragmaKind::FpContract(None)),
                _ => {
                    let d = Diagnostic::warning("W0103", span, format!("`{state}` is not a state of FP_CONTRACT"));
                    self.report(d.help("write ON, OFF or DEFAULT"));
                    None
                }
            },
            ["unroll", ..] => Some(PragmaKind::Unroll(self.unroll_factor(span, &line[1..]))),
            ["GCC", "unroll", ..] => Some(PragmaKind::Unroll(self.unroll_factor(span, &line[2..]))),
            ["nounroll", ..] => Some(PragmaKind::Unroll(Unroll::Factor(1))),
            ["clang", "loop", "unroll_count", ..] => Some(PragmaKind::Unroll(self.unroll_factor(span, &line[3..]))),
            ["clang", "loop", "unroll", "(", how, ")", ..] => {
                Some(PragmaKind::Unroll(if how == "disable" { Unroll::Factor(1) } else { Unroll::Enable }))
            }
            ["pack", ..] => self.pack(span, &line[1..]).map(PragmaKind::Pack),
            // Meant for other compilers, or without meaning for the result.
            ["GCC" | "clang" | "ivdep" | "message" | "region" | "endregion" | "mark", ..] => None,
            _ => {
                let message = format!("unknown pragma `{}` is ignored", words[..words.len().min(3)].join(" "));
                self.report(Diagnostic::warning("W0103", span, message));
                None
            }
        };
        if let Some(kind) = kind {
            // The token that comes next will have this index.
            let index = self.out.tokens.len();
            self.out.pragmas.push((index, Pragma { kind, span }));
        }
    }

    /// What follows `pack`: `(4)`, `()`, `(push)`, `(push, name, 4)`, `(pop)`, `(pop, name)`. A malformed one changes
    /// nothing, as in other compilers, but is told.
    fn pack(&mut self, span: Span, rest: &[Token]) -> Option<Pack> {
        let tokens = self.expand_list(rest.to_vec());
        let words: Vec<&str> = tokens.iter().map(|t| t.spelling(&self.session.names)).collect();
        let mut pack = Pack::default();
        let list = match words[..] {
            ["(", ref list @ .., ")"] => list,
            _ => return self.malformed_pack(span),
        };
        if list.is_empty() {
            pack.align = Some(0);
        }
        for (i, word) in list.split(|w| *w == ",").enumerate() {
            let token = 1 + 2 * i;
            match *word {
                [] if list.is_empty() => {}
                ["push"] if i == 0 => pack.push = Some(None),
                ["pop"] if i == 0 => pack.pop = Some(None),
                [n] if n.starts_with(|c: char| c.is_ascii_digit()) => match n.parse() {
                    Ok(n @ (0 | 1 | 2 | 4 | 8 | 16)) => pack.align = Some(n),
                    _ => return self.malformed_pack(span),
                },
                [_] if i == 1 && tokens[token].kind == TokenKind::Ident => {
                    let name = Some(tokens[token].text);
                    pack.push = pack.push.map(|_| name);
                    pack.pop = pack.pop.map(|_| name);
                }
                _ => return self.malformed_pack(span),
            }
        }
        Some(pack)
    }

    fn malformed_pack(&mut self, span: Span) -> Option<Pack> {
        let d = Diagnostic::warning("W0103", span, "this `#pragma pack` is not understood and ignored").help(
            "write `pack(push, 1)` before and `pack(pop)` after the structures; alignments are 1, 2, 4, 8 and 16",
        );
        self.report(d);
        None
    }

    /// What follows `unroll`: nothing or a number, often by way of a macro.
    fn unroll_factor(&mut self, span: Span, rest: &[Token]) -> Unroll {
        if rest.is_empty() {
            return Unroll::Enable;
        }
        let tokens = self.expand_list(rest.to_vec());
        // A factor that only the compiler proper could know (a constant, say) asks for unrolling all the same.
        if tokens.is_empty() || tokens.iter().any(|t| t.kind == TokenKind::Ident) {
            return Unroll::Enable;
        }
        match self.try_evaluate(span, &tokens) {
            // 0 asks for no unrolling, as 1 does.
            Ok(v) if v.bits == 0 => Unroll::Factor(1),
            Ok(v) if v.unsigned || (v.bits as i64) > 0 => Unroll::Factor(v.bits.min(u64::from(u32::MAX)) as u32),
            _ => {
                self.report(Diagnostic::warning("W0103", span, "the factor of `unroll` must be a positive integer"));
                Unroll::Enable
            }
        }
    }
}
