//! Declarators: a name with the pointers, arrays and parameter lists around it, as a list of derivations from the name
//! outwards.

use super::ast::*;
use super::keywords::{Kw, NameClass};
use super::parser::{NEST, NEST_TYPE, Parser};
use crate::pp::TokenKind;
use crate::source::{Diagnostic, Span};

/// Whether there is a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    /// There must be.
    Named,
    /// There must not be.
    Abstract,
    /// As in a parameter.
    Either,
}

/// How many derivations one declarator may have.
const MAX_DERIVATIONS: usize = 128;

impl Parser<'_> {
    pub fn declarator(&mut self, mode: Mode) -> Declarator {
        let start = self.span();
        let before = self.at;
        let mut declarator = self.declarator_inner(mode);
        declarator.span = if self.at == before { start } else { start.to(self.prev_span()) };
        self.check_derivations(&mut declarator);
        declarator
    }

    fn declarator_inner(&mut self, mode: Mode) -> Declarator {
        let start = self.span();
        let mut pointers = Vec::new();
        loop {
            let is_block = self.has_blocks && self.is(TokenKind::Caret);
            let star = match self.eat(TokenKind::Star) {
                Some(star) => star,
                None if is_block => self.bump().span,
                None => break,
            };
            let mut quals = Qualifiers::default();
            let mut attrs = Vec::new();
            loop {
                self.attributes(&mut attrs);
                self.space_attributes(&mut attrs, &mut quals);
                match self.keyword() {
                    Some(kw) if self.qualifier(kw, &mut quals) => {}
                    _ => break,
                }
            }
            // One more than allowed is kept, so that `check_derivations` sees that there are too many.
            if pointers.len() <= MAX_DERIVATIONS {
                let kind = match is_block {
                    true => DerivationKind::Block { quals },
                    false => DerivationKind::Pointer { quals, attrs },
                };
                pointers.push(Derivation { kind, span: star });
            }
        }
        let mut name = None;
        let mut derivations = Vec::new();
        let t = self.token();
        if mode != Mode::Abstract && self.is_name(t) {
            self.bump();
            name = Some(Ident { name: t.text, span: t.span });
        } else if t.kind == TokenKind::LParen && self.is_nested(mode) {
            // A declarator in parentheses, as in `int (*p)[4]`.
            if self.enter(NEST) {
                self.bump();
                let mut attrs = Vec::new();
                self.attributes(&mut attrs);
                let inner = self.declarator_inner(mode);
                name = inner.name;
                // The inner declarator is nearer to the name: its derivations come first.
                derivations = inner.derivations;
                self.close(TokenKind::RParen, t.span);
            }
            self.leave(NEST);
        } else if t.kind == TokenKind::Caret {
            self.error(
                Diagnostic::error("E0209", t.span, "blocks are not supported")
                    .note("they need device-side enqueue and `-cl-std=CL2.0` or later"),
            );
        } else if mode == Mode::Named {
            self.missing_name();
        }
        self.suffixes(&mut derivations);
        // The pointers are further from the name than the brackets behind it, and the last `*` is nearest.
        derivations.extend(pointers.into_iter().rev());
        Declarator { name, derivations, span: start }
    }

    /// Whether a `(` starts a declarator in parentheses rather than parameters.
    fn is_nested(&self, mode: Mode) -> bool {
        if mode == Mode::Named {
            return true;
        }
        let next = self.ahead(1);
        match next.kind {
            TokenKind::Star | TokenKind::LParen | TokenKind::LBracket | TokenKind::Caret => true,
            TokenKind::Ident if self.keyword_of(next) == Some(Kw::Attribute) => true,
            TokenKind::Ident => mode == Mode::Either && self.is_name(next) && !self.starts_type(next),
            _ => false,
        }
    }

    fn missing_name(&mut self) {
        let t = self.token();
        let found = self.describe(t);
        if let Some(kw) = self.keyword() {
            let _ = kw;
            let d = Diagnostic::error("E0205", t.span, format!("expected a name, found the keyword {found}"));
            self.error(d.help("choose another name"));
        } else {
            self.unexpected("E0205", "a name");
        }
    }

    /// Brackets and parameter lists after the name.
    fn suffixes(&mut self, derivations: &mut Vec<Derivation>) {
        while !self.recovering {
            let open = self.span();
            let kind = match self.kind() {
                TokenKind::LBracket => {
                    self.bump();
                    let mut quals = Qualifiers::default();
                    while let Some(kw) = self.keyword() {
                        // C99's `float a[static 4]` in parameters: it means nothing here.
                        if self.eat_kw(Kw::Static).is_none() && !self.qualifier(kw, &mut quals) {
                            break;
                        }
                    }
                    let mut size = None;
                    if self.enter(NEST) && !self.is(TokenKind::RBracket) {
                        size = Some(Box::new(self.assignment()));
                    }
                    self.leave(NEST);
                    self.close(TokenKind::RBracket, open);
                    DerivationKind::Array { size, quals }
                }
                TokenKind::LParen => {
                    let kind = if self.enter(NEST_TYPE) {
                        self.parameters(open)
                    } else {
                        DerivationKind::Function { params: Vec::new(), variadic: None }
                    };
                    self.leave(NEST_TYPE);
                    kind
                }
                _ => return,
            };
            if derivations.len() <= MAX_DERIVATIONS {
                derivations.push(Derivation { kind, span: open.to(self.prev_span()) });
            }
        }
    }

    /// From the `(` to the `)`.
    pub fn parameters(&mut self, open: Span) -> DerivationKind {
        self.bump();
        let mut params: Vec<Param> = Vec::new();
        let mut variadic = None;
        // A parameter hides a type of the same name from the next parameters.
        self.names.open_scope();
        while !matches!(self.kind(), TokenKind::RParen | TokenKind::Eof) && !self.recovering {
            if let Some(span) = self.eat(TokenKind::Ellipsis) {
                variadic = Some(span);
                break;
            }
            params.push(self.parameter());
            if self.eat(TokenKind::Comma).is_none() {
                break;
            }
            if self.is(TokenKind::RParen) {
                self.unexpected("E0204", "a parameter after `,`");
            }
        }
        self.names.close_scope();
        self.close(TokenKind::RParen, open);
        // `f(void)` has no parameters.
        if let [only] = &params[..]
            && is_plain_void(only)
        {
            params.clear();
        }
        DerivationKind::Function { params, variadic }
    }

    fn parameter(&mut self) -> Param {
        let start = self.span();
        let specs = self.specs(Vec::new());
        let declarator = self.declarator(Mode::Either);
        let mut attrs = Vec::new();
        self.attributes(&mut attrs);
        if let Some(name) = declarator.name {
            self.names.declare(name.name, NameClass::Ordinary);
        }
        if self.is(TokenKind::Eq) && !self.recovering {
            let d = Diagnostic::error("E0210", self.span(), "parameters have no default values in OpenCL C");
            self.mistake(d);
            self.bump();
            self.assignment();
        }
        if self.is(TokenKind::Amp) && !self.recovering {
            let d = Diagnostic::error("E0210", self.span(), "there are no references in OpenCL C");
            self.error(d.help("use a pointer"));
        }
        Param { specs, declarator, attrs, span: start.to(self.prev_span()) }
    }

    /// Refuses pointers to functions, and declarators beyond the bound.
    fn check_derivations(&mut self, declarator: &mut Declarator) {
        let list = &mut declarator.derivations;
        if list.len() > MAX_DERIVATIONS {
            list.truncate(MAX_DERIVATIONS);
            self.too_deep();
            return;
        }
        let pointer_to_function = list.windows(2).position(|w| {
            matches!(w[0].kind, DerivationKind::Pointer { .. }) && matches!(w[1].kind, DerivationKind::Function { .. })
        });
        if let Some(i) = pointer_to_function {
            let span = declarator.span;
            // The pointer stays, to what the function would return, so that the rest of the program is still analysed.
            declarator.derivations.remove(i + 1);
            self.mistake(
                Diagnostic::error("E0211", span, "pointers to functions are not allowed in OpenCL C")
                    .help("choose between functions by `switch` or by a macro"),
            );
        }
    }
}

/// `(void)`
fn is_plain_void(p: &Param) -> bool {
    use super::types::BuiltinType;
    matches!(p.specs.ty, TypeSpec::Builtin(BuiltinType::Void))
        && p.declarator.name.is_none()
        && p.declarator.derivations.is_empty()
        && p.specs.quals == Qualifiers::default()
}
