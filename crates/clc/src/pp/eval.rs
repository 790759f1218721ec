//! The expressions of `#if`: integers of 64 bits, signed or unsigned, evaluated by recursive descent with a bound on
//! nesting.

use super::Preprocessor;
use super::token::{Token, TokenKind, flags};
use crate::source::{Diagnostic, Interner, Span, Symbol};
use crate::syntax::literal::{self, Number};

/// A value and whether it is unsigned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Value {
    pub bits: u64,
    pub unsigned: bool,
}

impl Value {
    fn truth(b: bool) -> Self {
        Self { bits: b.into(), unsigned: false }
    }

    fn is_true(self) -> bool {
        self.bits != 0
    }
}

struct Problem {
    span: Span,
    message: String,
}

/// One expression being evaluated. Recursive, with a bound.
struct Evaluator<'a> {
    tokens: &'a [Token],
    at: usize,
    names: &'a Interner,
    true_: Symbol,
    /// Where a missing token would be.
    end: Span,
    depth: usize,
    max_depth: usize,
}

impl Preprocessor<'_> {
    /// Whether a condition holds; a wrong one is reported and does not.
    pub(super) fn evaluate(&mut self, at: Span, tokens: &[Token]) -> bool {
        self.evaluate_value(at, tokens).is_some_and(Value::is_true)
    }

    /// The value of all of the tokens; reports if there is none.
    pub(super) fn evaluate_value(&mut self, at: Span, tokens: &[Token]) -> Option<Value> {
        match self.try_evaluate(at, tokens) {
            Ok(value) => Some(value),
            Err((span, message)) => {
                if !self.stopped {
                    self.report(Diagnostic::error("E0107", span, message));
                }
                None
            }
        }
    }

    /// The value of all of the tokens, or what is wrong.
    pub(super) fn try_evaluate(&mut self, at: Span, tokens: &[Token]) -> Result<Value, (Span, String)> {
        let end = tokens.last().map_or(at, |t| t.span);
        let mut e = Evaluator {
            tokens,
            at: 0,
            names: &self.session.names,
            true_: self.known.true_,
            end,
            depth: 0,
            max_depth: self.max_nesting,
        };
        // What is left after a complete expression is an error: `#if 1 2`.
        let result = e.comma(true).and_then(|v| match e.peek() {
            None => Ok(v),
            Some(t) => Err(Problem { span: t.span, message: format!("unexpected `{}`", t.spelling(e.names)) }),
        });
        result.map_err(|p| (p.span, p.message))
    }
}

impl Evaluator<'_> {
    fn peek(&self) -> Option<Token> {
        self.tokens.get(self.at).copied()
    }

    fn eat(&mut self, kind: TokenKind) -> bool {
        let yes = self.peek().is_some_and(|t| t.kind == kind);
        self.at += usize::from(yes);
        yes
    }

    fn problem<T>(&self, message: impl Into<String>) -> Result<T, Problem> {
        let span = self.peek().map_or(self.end, |t| t.span);
        Err(Problem { span, message: message.into() })
    }

    fn deeper<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T, Problem>) -> Result<T, Problem> {
        if self.depth >= self.max_depth {
            return self.problem("the condition is nested too deeply");
        }
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        result
    }

    /// With commas, which C allows only where nothing is evaluated, and other compilers everywhere.
    fn comma(&mut self, live: bool) -> Result<Value, Problem> {
        let mut value = self.conditional(live)?;
        while self.eat(TokenKind::Comma) {
            value = self.conditional(live)?;
        }
        Ok(value)
    }

    /// `live` is false in operands that are not evaluated, where division by zero is no mistake.
    fn conditional(&mut self, live: bool) -> Result<Value, Problem> {
        let cond = self.binary(1, live)?;
        if !self.eat(TokenKind::Question) {
            return Ok(cond);
        }
        self.deeper(|this| {
            // Both sides are parsed, whichever is chosen: an error of syntax is one in either.
            let a = this.comma(live && cond.is_true())?;
            if !this.eat(TokenKind::Colon) {
                return this.problem("expected `:`");
            }
            let b = this.conditional(live && !cond.is_true())?;
            let bits = if cond.is_true() { a.bits } else { b.bits };
            // The type is common to both sides, whichever is chosen: it decides later comparisons.
            Ok(Value { bits, unsigned: a.unsigned || b.unsigned })
        })
    }

    fn binary(&mut self, least: u8, live: bool) -> Result<Value, Problem> {
        let mut lhs = self.unary(live)?;
        while let Some(op) = self.peek() {
            let precedence = precedence(op.kind);
            // 0 for tokens that are no operators.
            if precedence < least || precedence == 0 {
                break;
            }
            self.at += 1;
            // The right side of a decided `&&` or `||` is parsed, but a division by zero in it is no mistake.
            let live = match op.kind {
                TokenKind::AmpAmp => live && lhs.is_true(),
                TokenKind::PipePipe => live && !lhs.is_true(),
                _ => live,
            };
            let rhs = self.deeper(|this| this.binary(precedence + 1, live))?;
            lhs = match apply(op.kind, lhs, rhs) {
                Some(v) => v,
                None if live => return Err(Problem { span: op.span, message: "division by zero".into() }),
                None => Value::truth(false),
            };
        }
        Ok(lhs)
    }

    fn unary(&mut self, live: bool) -> Result<Value, Problem> {
        let Some(t) = self.peek() else { return self.problem("the condition is incomplete") };
        self.at += 1;
        match t.kind {
            TokenKind::Minus | TokenKind::Plus | TokenKind::Tilde | TokenKind::Bang => {
                let v = self.deeper(|this| this.unary(live))?;
                Ok(match t.kind {
                    TokenKind::Minus => Value { bits: v.bits.wrapping_neg(), ..v },
                    TokenKind::Tilde => Value { bits: !v.bits, ..v },
                    TokenKind::Bang => Value::truth(!v.is_true()),
                    _ => v,
                })
            }
            TokenKind::LParen => {
                let v = self.deeper(|this| this.comma(live))?;
                if !self.eat(TokenKind::RParen) {
                    return self.problem("expected `)`");
                }
                Ok(v)
            }
            // `#if HAS(x)` with an unknown macro: 0 for the name would leave `0 (x)`, whose message would be obscure.
            TokenKind::Ident if self.peek().is_some_and(|n| n.kind == TokenKind::LParen) => {
                let message = format!("there is no macro `{}` with arguments", t.spelling(self.names));
                Err(Problem { span: t.span, message })
            }
            // A name that is no macro is 0, but `true` is what it says.
            TokenKind::Ident => Ok(Value::truth(t.text == self.true_)),
            TokenKind::Number => match literal::number(t.spelling(self.names)) {
                // A literal that no signed type holds is unsigned; elsewhere `#if` computes in 64 signed bits.
                Ok(Number::Int(i)) => Ok(Value { bits: i.value, unsigned: i.unsigned || i.value > i64::MAX as u64 }),
                Ok(Number::Float(_)) => {
                    Err(Problem { span: t.span, message: "a condition must be made of integers".into() })
                }
                Err(e) => Err(Problem { span: t.span, message: e.message }),
            },
            TokenKind::Char if !t.has(flags::UNTERMINATED) => {
                let bytes = literal::unescape(t.spelling(self.names), &mut Vec::new());
                Ok(Value { bits: i64::from(literal::char_value(&bytes)) as u64, unsigned: false })
            }
            _ => {
                let message = format!("unexpected `{}` in a condition", t.spelling(self.names));
                Err(Problem { span: t.span, message })
            }
        }
    }
}

fn precedence(kind: TokenKind) -> u8 {
    use TokenKind::*;
    match kind {
        PipePipe => 1,
        AmpAmp => 2,
        Pipe => 3,
        Caret => 4,
        Amp => 5,
        EqEq | Ne => 6,
        Lt | Gt | Le | Ge => 7,
        Shl | Shr => 8,
        Plus | Minus => 9,
        Star | Slash | Percent => 10,
        _ => 0,
    }
}

/// `None` for division by zero.
fn apply(op: TokenKind, l: Value, r: Value) -> Option<Value> {
    use TokenKind::*;
    let unsigned = l.unsigned || r.unsigned;
    let (a, b) = (l.bits, r.bits);
    let (sa, sb) = (a as i64, b as i64);
    let less = |x: u64, y: u64| if unsigned { x < y } else { (x as i64) < y as i64 };
    let bits = match op {
        PipePipe => return Some(Value::truth(a != 0 || b != 0)),
        AmpAmp => return Some(Value::truth(a != 0 && b != 0)),
        EqEq => return Some(Value::truth(a == b)),
        Ne => return Some(Value::truth(a != b)),
        Lt => return Some(Value::truth(less(a, b))),
        Gt => return Some(Value::truth(less(b, a))),
        Le => return Some(Value::truth(!less(b, a))),
        Ge => return Some(Value::truth(!less(a, b))),
        Shl | Shr => {
            // A negative amount shifts the other way, too large a one shifts everything out: no value is undefined.
            let left = (op == Shl) != (!r.unsigned && sb < 0);
            let amount = if !r.unsigned && sb < 0 { sb.unsigned_abs() } else { b };
            let bits = match (left, amount < 64) {
                (true, true) => a << amount,
                (true, false) => 0,
                (false, true) if l.unsigned => a >> amount,
                (false, true) => (sa >> amount) as u64,
                (false, false) if l.unsigned || sa >= 0 => 0,
                (false, false) => u64::MAX,
            };
            return Some(Value { bits, unsigned: l.unsigned });
        }
        Pipe => a | b,
        Caret => a ^ b,
        Amp => a & b,
        Plus => a.wrapping_add(b),
        Minus => a.wrapping_sub(b),
        Star => a.wrapping_mul(b),
        Slash if b == 0 => return None,
        Percent if b == 0 => return None,
        Slash if unsigned => a / b,
        Percent if unsigned => a % b,
        // The least number divided by -1 wraps; the program must not make the compiler panic.
        Slash => sa.wrapping_div(sb) as u64,
        Percent => sa.wrapping_rem(sb) as u64,
        _ => return Some(Value::truth(false)),
    };
    Some(Value { bits, unsigned })
}
