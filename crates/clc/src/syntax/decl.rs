//! Declarations: functions, variables, records, enumerations, attributes, initial values.

use super::ast::*;
use super::keywords::{Kw, NameClass};
use super::parser::{NEST, NEST_BLOCK, NEST_TYPE, Parser};
use crate::pp::{Token, TokenKind, flags};
use crate::source::{Diagnostic, Span};

/// Whether a keyword may start the name of a type.
pub(super) fn is_type_keyword(kw: Kw) -> bool {
    use Kw::*;
    matches!(
        kw,
        Void | Char
            | Short
            | Int
            | Long
            | Float
            | Double
            | Half
            | Bool
            | Signed
            | Unsigned
            | Struct
            | Union
            | Enum
            | Typeof
            | Const
            | Volatile
            | Restrict
            | Atomic
            | Global
            | Local
            | Constant
            | Private
            | Generic
            | ReadOnly
            | WriteOnly
            | ReadWrite
            | Complex
            | Imaginary
            | Pipe
    )
}

impl Parser<'_> {
    /// Whether a declaration starts with a token (in a function, where it may also be an expression).
    pub fn starts_declaration(&self) -> bool {
        let t = self.token();
        if let Some(kw) = self.keyword() {
            use Kw::*;
            return is_type_keyword(kw)
                || matches!(kw, Typedef | Extern | Static | Register | Auto | Inline | Noreturn | Alignas | Kernel);
        }
        if self.starts_type(t) {
            // A type's name may still be hidden by a label of the same name.
            return self.ahead(1).kind != TokenKind::Colon;
        }
        // Two names in a row, or `name *name =`, are no expression: the first is meant to be a type.
        let (next, after) = (self.ahead(1), self.ahead(2));
        let operator_like = |t: Token| matches!(self.keyword_of(t), Some(Kw::Sizeof | Kw::Alignof | Kw::VecStep));
        t.kind == TokenKind::Ident
            && self.names.class(t.text) == NameClass::Unknown
            && ((next.kind == TokenKind::Ident && !operator_like(next))
                || (next.kind == TokenKind::Star
                    && self.is_name(after)
                    && matches!(self.ahead(3).kind, TokenKind::Eq | TokenKind::Semi)
                    && self.names.class(after.text) == NameClass::Unknown))
    }

    /// Makes a declared name known.
    fn declare(&mut self, declarator: &Declarator, specs: &DeclSpecs, attrs: &[Attribute]) {
        let Some(name) = declarator.name else { return };
        let class = match specs.storage {
            Some((Storage::Typedef, _)) => {
                let attributed =
                    |list: &[Attribute]| list.iter().any(|a| self.session.names.text(a.name.name) == "ext_vector_type");
                // `(type)(a, b)` is a literal for a vector and a cast of a comma expression for others: the parser must
                // know which.
                let vector = declarator.derivations.is_empty()
                    && (self.specs_are_vector(specs) || attributed(attrs) || attributed(&specs.attrs));
                NameClass::Typedef { vector }
            }
            _ => NameClass::Ordinary,
        };
        self.names.declare(name.name, class);
    }

    /// A function or a declaration at file level.
    pub fn external_declaration(&mut self) -> Option<ItemKind> {
        let start = self.span();
        let mut attrs = Vec::new();
        if self.is_kw(Kw::Asm) {
            self.assembly();
            return None;
        }
        self.attributes(&mut attrs);
        if self.is_kw(Kw::Extern) && self.ahead(1).kind == TokenKind::Str {
            self.linkage();
            return None;
        }
        let specs = self.specs(attrs);
        if self.recovering {
            return None;
        }
        if self.is(TokenKind::Semi) {
            return Some(ItemKind::Declaration(Box::new(self.finish_declaration(start, specs, Vec::new(), false))));
        }
        let declarator = self.declarator(super::declarator::Mode::Named);
        let mut after = Vec::new();
        self.attributes(&mut after);
        let is_function =
            matches!(declarator.derivations.first().map(|d| &d.kind), Some(DerivationKind::Function { .. }));
        // A brace after a parameter list begins a definition; everything else is a declaration.
        if is_function && self.is(TokenKind::LBrace) && !self.recovering {
            self.declare(&declarator, &specs, &after);
            // Before the body, which may name the function.
            return Some(ItemKind::Function(Box::new(self.function_body(specs, declarator, after))));
        }
        let wrong = is_function && matches!(specs.ty, TypeSpec::Error);
        if wrong && self.token().has(flags::LINE_START) && self.starts_afresh(self.token()) {
            // A macro that is not defined, and the next declaration after it.
            return None;
        }
        let first = self.init_declarator(&specs, declarator, after);
        Some(ItemKind::Declaration(Box::new(self.finish_declaration(start, specs, vec![first], false))))
    }

    /// `extern "C" {`, of which the braces are skipped and the declarations kept.
    fn linkage(&mut self) {
        let span = self.bump().span.to(self.span());
        self.bump();
        self.mistake(
            Diagnostic::error("E0210", span, "OpenCL C has no other language's linkage").help("leave this out"),
        );
        if self.eat(TokenKind::LBrace).is_some() {
            self.linkage_braces += 1;
        }
    }

    fn function_body(&mut self, specs: DeclSpecs, declarator: Declarator, attrs: Vec<Attribute>) -> FunctionDef {
        self.names.open_scope();
        let mut params = Vec::new();
        if let Some(DerivationKind::Function { params: list, .. }) = declarator.derivations.first().map(|d| &d.kind) {
            // The scope of the parameter list has been closed: the names are declared again for the body.
            params.extend(list.iter().filter_map(|p| p.declarator.name));
        }
        for name in params {
            self.names.declare(name.name, NameClass::Ordinary);
        }
        // What is kept of the braces, for messages about missing ones, is that of one function.
        self.blocks.clear();
        self.closed.clear();
        let body = self.block_unscoped();
        self.names.close_scope();
        FunctionDef { specs, declarator, attrs, body }
    }

    /// A declaration in a function or a `for`.
    pub fn declaration(&mut self, attrs: Vec<Attribute>) -> Declaration {
        self.declaration_in(attrs, false)
    }

    /// The first part of a `for`.
    pub fn for_declaration(&mut self) -> Declaration {
        self.declaration_in(Vec::new(), true)
    }

    fn declaration_in(&mut self, attrs: Vec<Attribute>, in_for: bool) -> Declaration {
        let start = attrs.first().map_or(self.span(), |a| a.span);
        let specs = self.specs(attrs);
        if self.recovering || self.is(TokenKind::Semi) {
            return self.finish_declaration(start, specs, Vec::new(), in_for);
        }
        let declarator = self.declarator(super::declarator::Mode::Named);
        let mut after = Vec::new();
        self.attributes(&mut after);
        let first = self.init_declarator(&specs, declarator, after);
        self.finish_declaration(start, specs, vec![first], in_for)
    }

    /// After the first declarator, or where it is missing: the others and the semicolon.
    #[inline(never)]
    fn finish_declaration(
        &mut self,
        start: Span,
        specs: DeclSpecs,
        mut list: Vec<InitDeclarator>,
        in_for: bool,
    ) -> Declaration {
        while !list.is_empty() && !self.recovering && self.eat(TokenKind::Comma).is_some() {
            let declarator = self.declarator(super::declarator::Mode::Named);
            let mut attrs = Vec::new();
            self.attributes(&mut attrs);
            let next = self.init_declarator(&specs, declarator, attrs);
            list.push(next);
        }
        // The word in the message about a missing semicolon, which is mostly that after a `struct`.
        let what = match (&list[..], &specs.ty) {
            ([], TypeSpec::Record(r)) if r.is_union => "union",
            ([], TypeSpec::Record(_)) => "struct",
            ([], TypeSpec::Enum(_)) => "enum",
            _ => "declaration",
        };
        if list.is_empty() && !self.recovering {
            let declares = match &specs.ty {
                TypeSpec::Record(r) => r.tag.is_some(),
                TypeSpec::Enum(e) => e.tag.is_some() || e.enumerators.is_some(),
                TypeSpec::Error => true,
                _ => false,
            };
            if !declares {
                self.mistake(Diagnostic::warning("W0204", specs.span, "this declares nothing"));
            }
        }
        let span = start.to(self.prev_span());
        if in_for {
            // In `for`, a missing semicolon must not make the parser skip the body.
            self.for_semicolon("the declaration");
        } else {
            self.semicolon(&format!("the {what}"));
        }
        Declaration { specs, declarators: list, span }
    }

    /// What may follow a declarator.
    #[inline(never)]
    fn init_declarator(&mut self, specs: &DeclSpecs, declarator: Declarator, attrs: Vec<Attribute>) -> InitDeclarator {
        // Before the initial value: the name is in scope there, and hides a type of the same name.
        self.declare(&declarator, specs, &attrs);
        if self.is_kw(Kw::Asm) {
            self.assembly();
        }
        let mut init = None;
        if self.eat(TokenKind::Eq).is_some() {
            init = Some(self.initializer());
        } else if self.is(TokenKind::LBrace) && !self.recovering && declarator.derivations.is_empty() {
            let d = Diagnostic::error("E0210", self.span(), "an initial value needs `=` before it in OpenCL C");
            self.mistake(d.suggest(self.prev_span().after(), " =", "add"));
            init = Some(Initializer::List(self.init_list()));
        }
        let span = declarator.span.to(self.prev_span());
        InitDeclarator { declarator, attrs, init, span }
    }

    fn initializer(&mut self) -> Initializer {
        if self.is(TokenKind::LBrace) {
            Initializer::List(self.init_list())
        } else {
            Initializer::Expr(self.assignment())
        }
    }

    /// From the `{` on.
    pub fn init_list(&mut self) -> InitList {
        let open = self.span();
        let mut entries = Vec::new();
        if self.enter(NEST) {
            self.bump();
            while !matches!(self.kind(), TokenKind::RBrace | TokenKind::Eof) && !self.recovering {
                let designators = self.designators();
                let value = self.initializer();
                entries.push(InitEntry { designators, value });
                if self.eat(TokenKind::Comma).is_none() {
                    break;
                }
            }
            self.close(TokenKind::RBrace, open);
        }
        self.leave(NEST);
        InitList { entries, span: open.to(self.prev_span()) }
    }

    fn designators(&mut self) -> Vec<Designator> {
        let mut list = Vec::new();
        // `y: 4`, as GNU C had it before `.y = 4`.
        if self.is_name(self.token()) && self.ahead(1).kind == TokenKind::Colon {
            let name = self.bump();
            self.bump();
            return vec![Designator::Field(Ident { name: name.text, span: name.span })];
        }
        loop {
            if self.is(TokenKind::Dot) {
                self.bump();
                match self.name("the name of a member") {
                    Some(name) => list.push(Designator::Field(name)),
                    None => return list,
                }
            } else if let Some(open) = self.eat(TokenKind::LBracket) {
                let first = self.conditional();
                list.push(match self.eat(TokenKind::Ellipsis) {
                    Some(_) => Designator::Range(first, self.conditional()),
                    None => Designator::Index(first),
                });
                self.close(TokenKind::RBracket, open);
            } else {
                break;
            }
        }
        if !list.is_empty() && self.eat(TokenKind::Eq).is_none() {
            self.unexpected("E0200", "`=` after the designator");
        }
        list
    }

    /// `asm`: without instructions it does nothing, so that it may stand as a barrier for the compiler; with some it is
    /// refused. Both are skipped.
    pub fn assembly(&mut self) {
        let span = self.bump().span;
        while matches!(self.keyword(), Some(Kw::Volatile | Kw::Goto | Kw::Inline)) {
            self.bump();
        }
        let text = self.ahead(1);
        let is_empty = text.kind == TokenKind::Str && self.text(text) == "\"\"" && self.ahead(2).kind != TokenKind::Str;
        if !is_empty {
            self.mistake(
                Diagnostic::error("E0209", span, "assembly is not supported in OpenCL C")
                    .note("instructions are of one target, and the program is built for several")
                    .help("use the built-in functions; `asm(\"\")` without instructions is allowed"),
            );
        }
        if let Some(open) = self.eat(TokenKind::LParen) {
            self.skip_balanced(open);
        }
        self.eat(TokenKind::Semi);
    }

    /// Skips past the `)` that closes an open `(`.
    fn skip_balanced(&mut self, _open: Span) {
        let mut depth = 1usize;
        while depth > 0 && !self.is(TokenKind::Eof) {
            match self.bump().kind {
                TokenKind::LParen => depth += 1,
                TokenKind::RParen => depth -= 1,
                _ => {}
            }
        }
    }

    // Types.

    /// A type as in a cast.
    pub fn type_name(&mut self) -> TypeName {
        let start = self.span();
        let specs = self.specs(Vec::new());
        let declarator = self.declarator(super::declarator::Mode::Abstract);
        TypeName { specs, declarator, span: start.to(self.prev_span()) }
    }

    /// `(type)` or `(expression)`.
    pub fn type_or_expr_in_parens(&mut self) -> Option<TypeOrExpr> {
        let open = self.span();
        if self.eat(TokenKind::LParen).is_none() {
            self.unexpected("E0200", "`(`");
            return None;
        }
        let entered = self.enter(NEST_TYPE);
        let arg = entered.then(|| self.type_or_expr());
        self.leave(NEST_TYPE);
        self.close(TokenKind::RParen, open);
        arg
    }

    pub fn type_or_expr(&mut self) -> TypeOrExpr {
        if self.starts_type_name(self.token()) {
            TypeOrExpr::Type(Box::new(self.type_name()))
        } else {
            TypeOrExpr::Expr(Box::new(self.assignment()))
        }
    }

    /// `struct` or `union`, from the keyword on.
    #[inline(never)]
    pub fn record(&mut self) -> RecordSpec {
        let start = self.span();
        let is_union = self.is_kw(Kw::Union);
        self.bump();
        let mut attrs = Vec::new();
        self.attributes(&mut attrs);
        let tag = self.tag();
        let mut fields = None;
        if let Some(open) = self.eat(TokenKind::LBrace) {
            fields = Some(if self.enter(NEST_TYPE) { self.fields(open) } else { Vec::new() });
            self.leave(NEST_TYPE);
            self.attributes(&mut attrs);
        } else if tag.is_none() {
            self.unexpected("E0205", "a name or `{`");
        }
        RecordSpec { is_union, tag, fields, attrs, span: start.to(self.prev_span()) }
    }

    /// The name after `struct`, `union`, `enum`; the name of a type will do.
    fn tag(&mut self) -> Option<Ident> {
        let t = self.token();
        self.is_name(t).then(|| {
            self.bump();
            self.names.declare_tag(t.text);
            Ident { name: t.text, span: t.span }
        })
    }

    fn fields(&mut self, open: Span) -> Vec<FieldDecl> {
        let mut fields = Vec::new();
        while !matches!(self.kind(), TokenKind::RBrace | TokenKind::Eof) {
            // Each iteration takes a token, whatever is wrong with the member.
            let before = self.at;
            if self.eat(TokenKind::Semi).is_some() {
                continue;
            }
            if let Some(field) = self.field() {
                fields.push(field);
            }
            if self.recovering {
                self.synchronise();
                if self.is_kw(Kw::Kernel) {
                    // A kernel cannot be in a structure: a brace was forgotten, and the kernel is not lost with it.
                    break;
                }
            }
            if self.at == before {
                self.bump();
            }
        }
        self.close(TokenKind::RBrace, open);
        fields
    }

    #[inline(never)]
    fn field(&mut self) -> Option<FieldDecl> {
        let start = self.span();
        // `public:`; a bit-field has a type before its name.
        if self.keyword().is_none() && self.ahead(1).kind == TokenKind::Colon {
            self.cpp_member_label();
            return None;
        }
        let specs = self.specs(Vec::new());
        let mut declarators = Vec::new();
        while !self.is(TokenKind::Semi) && !self.recovering {
            // A bit-field may have no name; it is refused below all the same.
            let declarator = if self.is(TokenKind::Colon) {
                Declarator { name: None, derivations: Vec::new(), span: self.span() }
            } else {
                self.declarator(super::declarator::Mode::Named)
            };
            if let Some(colon) = self.eat(TokenKind::Colon) {
                let d = Diagnostic::error("E0212", colon, "bit-fields are not allowed in OpenCL C")
                    .help("use a whole integer, and shifts and masks");
                self.mistake(d);
                self.conditional();
            }
            let mut attrs = Vec::new();
            self.attributes(&mut attrs);
            declarators.push(FieldDeclarator { declarator, attrs });
            if self.eat(TokenKind::Comma).is_none() {
                break;
            }
        }
        let span = start.to(self.prev_span());
        self.semicolon("the member");
        Some(FieldDecl { specs, declarators, span })
    }

    /// `public:` and its like.
    fn cpp_member_label(&mut self) {
        let t = self.token();
        let text = self.text(t).to_owned();
        let mut d = Diagnostic::error("E0210", t.span, format!("`{text}:` has no place in a struct"));
        if let Some(why) = self.cpp_word(t) {
            d = d.note(why);
        }
        self.mistake(d);
        self.bump();
        self.bump();
    }

    /// `enum`, from the keyword on.
    #[inline(never)]
    pub fn enumeration(&mut self) -> EnumSpec {
        let start = self.bump().span;
        let mut attrs = Vec::new();
        self.attributes(&mut attrs);
        let tag = self.tag();
        let mut enumerators = None;
        if let Some(open) = self.eat(TokenKind::LBrace) {
            let mut list = Vec::new();
            while !matches!(self.kind(), TokenKind::RBrace | TokenKind::Eof) && !self.recovering {
                let Some(name) = self.name("the name of an enumerator") else { break };
                // Attributes of enumerators say nothing about values.
                let mut ignored = Vec::new();
                self.attributes(&mut ignored);
                let value = self.eat(TokenKind::Eq).map(|_| self.conditional());
                self.names.declare(name.name, NameClass::Ordinary);
                list.push(Enumerator { name, value });
                if self.eat(TokenKind::Comma).is_none() {
                    break;
                }
            }
            self.close(TokenKind::RBrace, open);
            self.attributes(&mut attrs);
            enumerators = Some(list);
        } else if tag.is_none() {
            self.unexpected("E0205", "a name or `{`");
        }
        EnumSpec { tag, enumerators, attrs, span: start.to(self.prev_span()) }
    }

    // Attributes.

    /// Any number of `__attribute__((…))`.
    #[inline(never)]
    pub fn attributes(&mut self, list: &mut Vec<Attribute>) {
        while self.is_kw(Kw::Attribute) && !self.recovering {
            self.bump();
            let outer = self.span();
            if self.eat(TokenKind::LParen).is_none() {
                self.unexpected("E0216", "`((` after `__attribute__`");
                return;
            }
            let inner = self.span();
            if self.eat(TokenKind::LParen).is_none() {
                self.unexpected("E0216", "a second `(` after `__attribute__(`");
                return;
            }
            while !matches!(self.kind(), TokenKind::RParen | TokenKind::Eof) && !self.recovering {
                if self.eat(TokenKind::Comma).is_some() {
                    continue;
                }
                match self.attribute() {
                    Some(a) => list.push(a),
                    None => break,
                }
            }
            self.close(TokenKind::RParen, inner);
            self.close(TokenKind::RParen, outer);
        }
    }

    #[inline(never)]
    fn attribute(&mut self) -> Option<Attribute> {
        let t = self.token();
        if t.kind != TokenKind::Ident {
            self.unexpected("E0216", "the name of an attribute");
            return None;
        }
        self.bump();
        let text = self.text(t);
        // `__packed__` is `packed`, in every later stage.
        let bare = text.strip_prefix("__").and_then(|s| s.strip_suffix("__")).filter(|s| !s.is_empty());
        let name = match bare.map(str::to_owned) {
            Some(bare) => self.session.names.intern(&bare),
            None => t.text,
        };
        // A warning and not an error: attributes are mostly advice to other compilers.
        if !super::attributes::is_known(self.session.names.text(name)) {
            let message = format!("attribute `{}` means nothing here and is ignored", self.session.names.text(name));
            self.session.diags.push(Diagnostic::warning("W0201", t.span, message));
        }
        let mut args = Vec::new();
        if let Some(open) = self.eat(TokenKind::LParen) {
            // A type among the arguments may have attributes in its turn.
            let entered = self.enter(NEST_BLOCK);
            while entered && !matches!(self.kind(), TokenKind::RParen | TokenKind::Eof) && !self.recovering {
                args.push(self.type_or_expr());
                if self.eat(TokenKind::Comma).is_none() {
                    break;
                }
            }
            self.leave(NEST_BLOCK);
            self.close(TokenKind::RParen, open);
        }
        Some(Attribute { name: Ident { name, span: t.span }, args, span: t.span.to(self.prev_span()) })
    }
}
