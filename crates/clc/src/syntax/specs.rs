//! Declaration specifiers: storage class, qualifiers, attributes and the words of the type before a declarator, in any
//! order.

use super::ast::*;
use super::keywords::{Kw, NameClass, type_like_words};
use super::parser::Parser;
use super::types::{BuiltinType, Scalar};
use crate::pp::{Token, TokenKind};
use crate::source::{Diagnostic, Span};

/// The words of an arithmetic type: `unsigned long int`.
#[derive(Default)]
struct Words {
    base: Option<(Kw, Span)>,
    signed: Option<Span>,
    unsigned: Option<Span>,
    long: u8,
    short: Option<Span>,
    complex: Option<Span>,
}

impl Words {
    fn any(&self) -> bool {
        self.base.is_some()
            || self.signed.is_some()
            || self.unsigned.is_some()
            || self.long > 0
            || self.short.is_some()
            || self.complex.is_some()
    }

    /// The type that the words make; `None` if they make none.
    fn resolve(&self) -> Option<BuiltinType> {
        let unsigned = self.unsigned.is_some();
        let sign = unsigned || self.signed.is_some();
        if unsigned && self.signed.is_some() || self.complex.is_some() {
            return None;
        }
        let size = self.long > 0 || self.short.is_some();
        let pick = |u, s| BuiltinType::Scalar(if unsigned { u } else { s });
        match self.base.map(|b| b.0) {
            Some(Kw::Char) if !size => Some(pick(Scalar::UChar, Scalar::Char)),
            Some(Kw::Int) | None => match (self.short.is_some(), self.long) {
                (true, 0) => Some(pick(Scalar::UShort, Scalar::Short)),
                (false, 0) => Some(pick(Scalar::UInt, Scalar::Int)),
                (false, 1 | 2) => Some(pick(Scalar::ULong, Scalar::Long)),
                _ => None,
            },
            _ if sign || size => None,
            Some(Kw::Float) => Some(BuiltinType::Scalar(Scalar::Float)),
            Some(Kw::Double) => Some(BuiltinType::Scalar(Scalar::Double)),
            Some(Kw::Half) => Some(BuiltinType::Scalar(Scalar::Half)),
            Some(Kw::Bool) => Some(BuiltinType::Bool),
            Some(Kw::Void) => Some(BuiltinType::Void),
            _ => None,
        }
    }
}

fn empty_specs(span: Span) -> DeclSpecs {
    DeclSpecs {
        storage: None,
        ty: TypeSpec::Error,
        ty_span: span,
        quals: Qualifiers::default(),
        pipe: None,
        kernel: None,
        inline: None,
        noreturn: None,
        alignas: Vec::new(),
        attrs: Vec::new(),
        span,
    }
}

fn storage_class(kw: Kw) -> Option<Storage> {
    Some(match kw {
        Kw::Typedef => Storage::Typedef,
        Kw::Extern => Storage::Extern,
        Kw::Static => Storage::Static,
        Kw::Register => Storage::Register,
        Kw::Auto => Storage::Auto,
        _ => return None,
    })
}

/// Whether a keyword is a part of the name of a built-in type.
#[rustfmt::skip]
fn is_type_word(kw: Kw) -> bool {
    matches!(
        kw,
        Kw::Void | Kw::Char | Kw::Short | Kw::Int | Kw::Long | Kw::Float | Kw::Double | Kw::Half | Kw::Bool
            | Kw::Signed | Kw::Unsigned | Kw::Complex | Kw::Imaginary
    )
}

impl Parser<'_> {
    /// The specifiers from here on, `attrs` having been read before. Always yields a type, if only an error.
    pub fn specs(&mut self, attrs: Vec<Attribute>) -> DeclSpecs {
        let start = attrs.first().map_or(self.span(), |a| a.span);
        let mut specs = empty_specs(start);
        specs.attrs = attrs;
        self.space_attributes(&mut specs.attrs, &mut specs.quals);
        let mut words = Words::default();
        let mut ty: Option<TypeSpec> = None;
        let mut any = false;
        // While recovering some parts take no token, so that the loop would not end.
        while !self.recovering {
            let t = self.token();
            let Some(kw) = self.keyword() else {
                // After the type, a name is the declarator's, even if it names a type: `float t;` hides a `typedef` of
                // an outer scope.
                if ty.is_some() || words.any() || t.kind != TokenKind::Ident {
                    break;
                }
                let Some(named) = self.named_type(t, any) else { break };
                ty = named;
                specs.ty_span = t.span;
                any = true;
                self.bump();
                continue;
            };
            // Qualifiers, storage classes and the words of the type may come in any order: `int const static x`.
            if self.qualifier(kw, &mut specs.quals) {
                any = true;
                continue;
            }
            if let Some(storage) = storage_class(kw) {
                let next = self.ahead(1);
                if kw == Kw::Auto && !self.starts_type(next) && !words.any() && ty.is_none() {
                    self.mistake(
                        Diagnostic::error("E0210", t.span, "the type of a variable is not deduced in OpenCL C")
                            .help("replace `auto` by the type"),
                    );
                    ty = Some(TypeSpec::Error);
                }
                match specs.storage {
                    // The same class twice is harmless.
                    Some((before, span)) if before != storage => self.mistake(
                        Diagnostic::error("E0207", t.span, "more than one storage class").also(span, "the first one"),
                    ),
                    _ => specs.storage = Some((storage, t.span)),
                }
                self.bump();
                any = true;
                continue;
            }
            let is_type_word = is_type_word(kw);
            if is_type_word || matches!(kw, Kw::Struct | Kw::Union | Kw::Enum | Kw::Typeof) {
                // The first word of the type is where messages about the type point.
                if !any || (ty.is_none() && !words.any()) {
                    specs.ty_span = t.span;
                }
                // A word after a complete type: `float4 int`. After an error it is perhaps the type that was meant.
                if ty.is_some() && !matches!(ty, Some(TypeSpec::Error)) {
                    self.second_type(t, specs.ty_span);
                }
            }
            match kw {
                Kw::Kernel => specs.kernel = Some(t.span),
                Kw::Inline => specs.inline = Some(t.span),
                Kw::Noreturn => specs.noreturn = Some(t.span),
                Kw::Extension => {}
                // Parts of several tokens take these themselves and go on; the `bump` at the end of the loop is for
                // single words.
                Kw::Attribute => {
                    self.attributes(&mut specs.attrs);
                    self.space_attributes(&mut specs.attrs, &mut specs.quals);
                    any = true;
                    continue;
                }
                Kw::Alignas => {
                    self.bump();
                    if let Some(arg) = self.type_or_expr_in_parens() {
                        specs.alignas.push(arg);
                    }
                    any = true;
                    continue;
                }
                Kw::Signed => words.signed = Some(t.span),
                Kw::Unsigned => words.unsigned = Some(t.span),
                Kw::Short => words.short = Some(t.span),
                // `long long` is `long`; with a third one the words make no type.
                Kw::Long => words.long = words.long.saturating_add(1),
                Kw::Complex | Kw::Imaginary => words.complex = Some(t.span),
                _ if is_type_word => match words.base {
                    Some((_, before)) => self.second_type(t, before),
                    None => words.base = Some((kw, t.span)),
                },
                // Only a mark: the type of the packets comes with the other words, before or after it.
                Kw::Pipe => self.pipe(&mut specs.pipe),
                Kw::Struct | Kw::Union => {
                    ty = Some(TypeSpec::Record(Box::new(self.record())));
                    any = true;
                    continue;
                }
                Kw::Enum => {
                    ty = Some(TypeSpec::Enum(Box::new(self.enumeration())));
                    any = true;
                    continue;
                }
                Kw::Typeof => {
                    self.bump();
                    ty = Some(match self.type_or_expr_in_parens() {
                        Some(arg) => TypeSpec::Typeof(Box::new(arg)),
                        None => TypeSpec::Error,
                    });
                    any = true;
                    continue;
                }
                _ => break,
            }
            any = true;
            self.bump();
        }
        if any || !specs.attrs.is_empty() {
            specs.span = start.to(self.prev_span());
        }
        specs.ty = match ty {
            Some(ty) => ty,
            None if words.any() => self.type_of_words(&words, specs.span),
            None => self.missing_type(&specs, any),
        };
        specs
    }

    /// The type that a name stands for. An unknown one is reported where a type is required: it becomes an error type,
    /// or nothing where a keyword was meant. `None` if the name belongs to what follows the specifiers.
    fn named_type(&mut self, t: Token, any: bool) -> Option<Option<TypeSpec>> {
        Some(match self.names.class(t.text) {
            NameClass::Builtin(b) => Some(TypeSpec::Builtin(b)),
            NameClass::Typedef { .. } => Some(TypeSpec::Typedef(Ident { name: t.text, span: t.span })),
            _ => self.unknown_type(t, any)?.then_some(TypeSpec::Error),
        })
    }

    /// The built-in type that words such as `unsigned long` name together.
    fn type_of_words(&mut self, words: &Words, span: Span) -> TypeSpec {
        if let Some(b) = words.resolve() {
            return TypeSpec::Builtin(b);
        }
        let text = self.session.sources.text(span).to_owned();
        // The words may be far apart, with comments or macros between them.
        let text = if text.len() < 80 { format!("`{text}` is not a type") } else { "not a type".into() };
        self.mistake(Diagnostic::error("E0207", span, text));
        TypeSpec::Error
    }

    fn second_type(&mut self, t: Token, before: Span) {
        let message = format!("{} cannot be combined with the type before it", self.describe(t));
        self.mistake(Diagnostic::error("E0207", t.span, message).also(before, "the type"));
    }

    /// The current word alone, for `float4(…)`.
    pub fn one_word_specs(&mut self) -> DeclSpecs {
        let t = self.token();
        let mut specs = empty_specs(t.span);
        let mut words = Words::default();
        match self.keyword() {
            Some(kw @ (Kw::Void | Kw::Char | Kw::Int | Kw::Float | Kw::Double | Kw::Half | Kw::Bool)) => {
                words.base = Some((kw, t.span));
            }
            Some(Kw::Unsigned) => words.unsigned = Some(t.span),
            Some(Kw::Signed) => words.signed = Some(t.span),
            Some(Kw::Short) => words.short = Some(t.span),
            Some(Kw::Long) => words.long = 1,
            Some(_) => {}
            None => match self.names.class(t.text) {
                NameClass::Builtin(b) => specs.ty = TypeSpec::Builtin(b),
                NameClass::Typedef { .. } => specs.ty = TypeSpec::Typedef(Ident { name: t.text, span: t.span }),
                _ => {}
            },
        }
        if let Some(b) = words.resolve().filter(|_| words.any()) {
            specs.ty = TypeSpec::Builtin(b);
        }
        self.bump();
        specs
    }

    /// Takes a qualifier; false if the word is none.
    pub fn qualifier(&mut self, kw: Kw, quals: &mut Qualifiers) -> bool {
        let span = self.span();
        match kw {
            Kw::Const => quals.is_const = Some(span),
            Kw::Volatile => quals.is_volatile = Some(span),
            Kw::Restrict => quals.is_restrict = Some(span),
            Kw::Atomic if self.ahead(1).kind != TokenKind::LParen => quals.is_atomic = Some(span),
            Kw::Global => self.space(quals, SpaceQual::Global, span),
            Kw::Local => self.space(quals, SpaceQual::Local, span),
            Kw::Constant => self.space(quals, SpaceQual::Constant, span),
            Kw::Private => self.space(quals, SpaceQual::Private, span),
            Kw::Generic => self.space(quals, SpaceQual::Generic, span),
            Kw::ReadOnly => self.access(quals, AccessQual::ReadOnly),
            Kw::WriteOnly => self.access(quals, AccessQual::WriteOnly),
            Kw::ReadWrite => self.access(quals, AccessQual::ReadWrite),
            _ => return false,
        }
        self.bump();
        true
    }

    fn pipe(&mut self, pipe: &mut Option<Span>) {
        let span = self.span();
        match *pipe {
            Some(first) => {
                let message = "`pipe` is written twice: a pipe has no packets that are pipes";
                self.mistake(Diagnostic::error("E0207", span, message).also(first, "the first one"));
            }
            None => *pipe = Some(span),
        }
    }

    /// Takes the attributes that name an address space out of a list, as qualifiers.
    pub fn space_attributes(&mut self, attrs: &mut Vec<Attribute>, quals: &mut Qualifiers) {
        let space_of = |this: &Self, a: &Attribute| {
            super::attributes::address_space(this.session.names.text(a.name.name)).map(|space| (space, a.span))
        };
        let spaces: Vec<_> = attrs.iter().filter_map(|a| space_of(self, a)).collect();
        for (space, span) in spaces {
            self.space(quals, space, span);
        }
        attrs.retain(|a| space_of(self, a).is_none());
    }

    fn space(&mut self, quals: &mut Qualifiers, space: SpaceQual, span: Span) {
        match quals.space {
            Some((before, first)) if before != space => {
                let message = "more than one address space";
                self.mistake(Diagnostic::error("E0207", span, message).also(first, "the first one"));
            }
            _ => quals.space = Some((space, span)),
        }
    }

    fn access(&mut self, quals: &mut Qualifiers, access: AccessQual) {
        let span = self.span();
        match quals.access {
            Some((before, first)) if before != access => {
                let message = "more than one access qualifier";
                self.mistake(Diagnostic::error("E0207", span, message).also(first, "the first one"));
            }
            _ => quals.access = Some((access, span)),
        }
    }

    /// A name that is no type is where a type could be. `None`: it is not meant to be one. `Some(true)`: it is meant as
    /// a type. `Some(false)`: it is a misspelt qualifier, and the type follows.
    fn unknown_type(&mut self, t: Token, any: bool) -> Option<bool> {
        let next = self.ahead(1);
        // `kernal void f`, `flaot4 x`: two words in a row. `foo_t *x`: only where an expression cannot be meant.
        let word_follows = next.kind == TokenKind::Ident && !matches!(self.keyword_of(next), Some(Kw::Attribute));
        let pointer_follows = next.kind == TokenKind::Star && self.names.class(t.text) == NameClass::Unknown;
        let name_follows = pointer_follows && matches!(self.ahead(2).kind, TokenKind::Ident | TokenKind::Star);
        if !(word_follows || name_follows) {
            return None;
        }
        let text = self.text(t).to_owned();
        // If a type follows, the unknown word is a misspelt qualifier or a macro, and the type is read next.
        let type_follows = self.starts_type(next)
            || matches!(self.keyword_of(next), Some(Kw::Kernel | Kw::Static | Kw::Inline | Kw::Attribute));
        if let Some(why) = self.cpp_word(t) {
            self.error(Diagnostic::error("E0210", t.span, format!("`{text}` is not part of OpenCL C")).note(why));
            return Some(!type_follows);
        }
        let builtins = super::types::builtin_type_texts();
        let near = {
            let all = type_like_words().chain(builtins.iter().map(String::as_str));
            crate::source::nearest(&text, all).map(str::to_owned)
        };
        let mut d = Diagnostic::error("E0206", t.span, format!("unknown type name `{text}`"));
        let foreign = crate::source::foreign(&text);
        let is_image = text.starts_with("image") || text.starts_with("sampler");
        match near {
            _ if text == "pipe" => d = d.help("pipes are part of OpenCL C 2.0: build with `-cl-std=CL3.0`"),
            _ if text == "generic" => {
                d = d.help(
                    "the generic address space is part of OpenCL C 3.0 (`-cl-std=CL3.0`): name the address space",
                );
            }
            // The most certain hint first: a word of another language, the tag of a structure without `struct`, a
            // similar name.
            _ if foreign.is_some() => d = d.help(foreign.unwrap_or_default()),
            _ if self.names.is_tag(t.text) => d = d.suggest(t.span, format!("struct {text}"), "write"),
            Some(near) => d = d.suggest(t.span, near, "did you mean"),
            None if type_follows && !any => d = d.help("if it is meant to be a macro, it is not defined"),
            None if is_image => d = d.help("the types of images end in `_t`, as `image2d_t`"),
            None => {}
        }
        if self.ahead(1).kind == TokenKind::Colon {
            d = d.note("OpenCL C is a dialect of C: there are no namespaces");
        }
        self.mistake(d);
        Some(!type_follows)
    }

    /// There was no type among the specifiers.
    fn missing_type(&mut self, specs: &DeclSpecs, any: bool) -> TypeSpec {
        let t = self.token();
        // `static x;` and `const n = 4;` are of type `int` in old C.
        if any && self.is_name(t) {
            self.mistake(
                Diagnostic::warning("W0205", specs.span, "the type is missing; `int` is assumed")
                    .help("write the type, `int` or another"),
            );
            return TypeSpec::Builtin(BuiltinType::Scalar(Scalar::Int));
        }
        // `MACRO(x)` at file level looks like a function without a type.
        if self.is_name(t) && self.ahead(1).kind == TokenKind::LParen {
            let text = self.text(t).to_owned();
            self.mistake(Diagnostic::error("E0204", t.span, format!("the type of function `{text}` is missing")).help(
                format!("write the type before the name; if `{text}` is meant to be a macro, it is not defined"),
            ));
            return TypeSpec::Error;
        }
        if let Some(why) = self.cpp_word(t) {
            let text = self.text(t).to_owned();
            self.error(Diagnostic::error("E0210", t.span, format!("`{text}` is not part of OpenCL C")).note(why));
        } else {
            self.unexpected("E0204", "a type");
        }
        TypeSpec::Error
    }

    /// Whether a value of this type is a vector, as far as can be told here.
    pub fn specs_are_vector(&self, specs: &DeclSpecs) -> bool {
        match &specs.ty {
            TypeSpec::Builtin(b) => b.is_vector(),
            TypeSpec::Typedef(name) => self.names.class(name.name) == NameClass::Typedef { vector: true },
            _ => false,
        }
    }
}
