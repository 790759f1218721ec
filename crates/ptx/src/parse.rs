//! Parses tokens to the syntax of a module.
//!
//! In: tokens. Out: items. This file has the directives of a module; the bodies of functions are in `parse_body.rs`.

use crate::ParseError;
use crate::Type;
use crate::lex::{self, Kind, Literal, Token};
use crate::tree::{Directive, Function, Init, Item, Line, Linkage, Module, Pointee, Span, StateSpace, Variable};

/// The most elements of an array: no memory has more.
const MAX_ELEMENTS: u64 = 1 << 32;
/// The largest alignment in bytes.
const MAX_ALIGN: u32 = 1 << 16;
/// The deepest nesting of braces, which the parser and the printer follow by recursion.
const DEEPEST_INITIALISER: u32 = 16;

pub(super) type Result<T> = std::result::Result<T, ParseError>;

/// A position in the tokens.
pub(super) struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token<'t>>,
    pub(super) at: usize,
}

/// Parses a whole module.
pub fn parse(text: &str) -> Result<Module<'_>> {
    let mut parser = Parser { text, tokens: lex::tokens(text)?, at: 0 };
    let mut items = Vec::new();
    while parser.peek() != Kind::End {
        if let Some(item) = parser.item()? {
            items.push(item);
        }
    }
    Ok(Module { items })
}

fn describe(kind: Kind<'_>) -> String {
    match kind {
        Kind::Word(word) => word.to_owned(),
        Kind::Number(_) => "a number".to_owned(),
        Kind::Text(text) => format!("{text:?}"),
        Kind::Mark(mark) => format!("'{mark}'"),
        Kind::End => "the end of the text".to_owned(),
    }
}

impl<'t> Parser<'t> {
    fn token(&self) -> Token<'t> {
        // `next` steps past the last token, too. The parser then still sees `End`, so loops that wait for it stop.
        let last = self.tokens.len().saturating_sub(1);
        self.tokens.get(self.at.min(last)).copied().unwrap_or(Token { line: 0, start: 0, end: 0, kind: Kind::End })
    }

    pub(super) fn peek(&self) -> Kind<'t> {
        self.token().kind
    }

    pub(super) fn line(&self) -> Line {
        Line(self.token().line)
    }

    /// The text from one token up to another one, which is not included.
    fn between(&self, first: usize, end: usize) -> &'t str {
        // An empty range has no last token: its text is empty.
        let last = end.checked_sub(1).filter(|last| *last >= first);
        let tokens = self.tokens.get(first).zip(last.and_then(|last| self.tokens.get(last)));
        tokens.and_then(|(first, last)| self.text.get(first.start..last.end)).unwrap_or("")
    }

    /// The position of the text from one token to the last one that was read.
    pub(super) fn span(&self, first: usize) -> Span {
        let last = self.at.checked_sub(1).and_then(|last| self.tokens.get(last));
        let tokens = self.tokens.get(first).zip(last);
        tokens.map_or(Span::default(), |(first, last)| Span { start: first.start, end: last.end })
    }

    pub(super) fn next(&mut self) -> Kind<'t> {
        let kind = self.peek();
        self.at += 1;
        kind
    }

    pub(super) fn error<T>(&self, what: impl Into<String>) -> Result<T> {
        Err(ParseError { line: self.line().0, what: what.into() })
    }

    pub(super) fn expected<T>(&self, what: &str) -> Result<T> {
        self.error(format!("expected {what}, found {}", describe(self.peek())))
    }

    pub(super) fn take(&mut self, mark: char) -> bool {
        let found = self.peek() == Kind::Mark(mark);
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, mark: char) -> Result<()> {
        if self.take(mark) { Ok(()) } else { self.expected(&format!("'{mark}'")) }
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = self.peek() == Kind::Word(word);
        self.at += usize::from(found);
        found
    }

    pub(super) fn word(&mut self) -> Result<&'t str> {
        match self.peek() {
            Kind::Word(word) => {
                self.at += 1;
                Ok(word)
            }
            _ => self.expected("a name"),
        }
    }

    pub(super) fn int(&mut self) -> Result<u64> {
        match self.peek() {
            Kind::Number(Literal::Int(value)) => {
                self.at += 1;
                Ok(value)
            }
            _ => self.expected("an integer"),
        }
    }

    fn skip_line(&mut self) {
        // Tokens know their lines, so that the end of a line needs no token.
        let line = self.token().line;
        while self.token().line == line && self.peek() != Kind::End {
            self.at += 1;
        }
    }

    /// Skips to a closing mark and gives the text before it.
    pub(super) fn text_until(&mut self, close: char) -> Result<&'t str> {
        let first = self.at;
        while !self.take(close) {
            if self.next() == Kind::End {
                return self.expected(&format!("'{close}'"));
            }
        }
        Ok(self.between(first, self.at - 1))
    }

    /// A directive without structure, if there is one here.
    pub(super) fn directive(&mut self) -> Result<Option<Directive<'t>>> {
        // The text begins behind the name of the directive.
        let (line, first) = (self.line(), self.at + 1);
        let Kind::Word(name) = self.peek() else { return Ok(None) };
        let text = match name {
            // PTX ends these directives with their line and not with a `;`: `.target sm_90, debug`.
            ".version" | ".target" | ".address_size" | ".file" | ".loc" => {
                self.skip_line();
                self.between(first, self.at)
            }
            ".pragma" => {
                self.at += 1;
                self.text_until(';')?
            }
            ".section" => {
                self.at += 1;
                self.text_until('}')?;
                self.between(first, self.at)
            }
            _ => return Ok(None),
        };
        Ok(Some(Directive { line, name, text }))
    }

    fn item(&mut self) -> Result<Option<Item<'t>>> {
        // A semicolon by itself is an empty statement.
        if self.take(';') {
            return Ok(None);
        }
        if let Some(directive) = self.directive()? {
            return Ok(Some(Item::Directive(directive)));
        }
        let mut linkage = Linkage::Internal;
        if let Kind::Word(word) = self.peek()
            && let Some(found) = Linkage::parse(word)
        {
            self.at += 1;
            linkage = found;
        }
        match self.peek() {
            Kind::Word(".entry" | ".func") => self.function(linkage).map(|item| Some(Item::Function(item))),
            Kind::Word(".global" | ".const" | ".shared") => {
                let variable = self.variable(linkage)?;
                self.expect(';')?;
                Ok(Some(Item::Variable(variable)))
            }
            _ => self.expected("a directive of a module"),
        }
    }

    fn function(&mut self, linkage: Linkage) -> Result<Function<'t>> {
        let line = self.line();
        let entry = self.word()? == ".entry";
        let attributes = self.attributes()?;
        // PTX writes the results before the name: `.func (.param .b32 r) f(.param .b32 a)`.
        let returns = if self.peek() == Kind::Mark('(') { self.params()? } else { Vec::new() };
        let name = self.word()?;
        let params = if self.peek() == Kind::Mark('(') { self.params()? } else { Vec::new() };
        let (mut bounds, mut pragmas) = (Vec::new(), Vec::new());
        loop {
            match self.peek() {
                Kind::Word(".pragma") => pragmas.extend(self.directive()?),
                // The performance directives, whose numbers have commas between them: `.maxntid 256, 1, 1`.
                Kind::Word(word) if word.starts_with('.') => {
                    self.at += 1;
                    let mut numbers = Vec::new();
                    while matches!(self.peek(), Kind::Number(_)) {
                        numbers.push(self.int()?);
                        self.take(',');
                    }
                    bounds.push((word, numbers));
                }
                _ => break,
            }
        }
        let body = if self.take(';') {
            None
        } else {
            self.expect('{')?;
            Some(self.body()?)
        };
        Ok(Function { line, linkage, entry, attributes, returns, name, params, bounds, pragmas, body })
    }

    fn attributes(&mut self) -> Result<Vec<&'t str>> {
        let mut out = Vec::new();
        while self.take_word(".attribute") {
            self.expect('(')?;
            // Attributes can have parentheses of their own: `.attribute(.unified(19, 95))`.
            let (first, mut depth) = (self.at, 1);
            while depth > 0 {
                match self.next() {
                    Kind::Mark('(') => depth += 1,
                    Kind::Mark(')') => depth -= 1,
                    Kind::End => return self.expected("')'"),
                    _ => {}
                }
            }
            out.push(self.between(first, self.at - 1));
        }
        Ok(out)
    }

    fn params(&mut self) -> Result<Vec<Variable<'t>>> {
        self.expect('(')?;
        let mut params = Vec::new();
        while !self.take(')') {
            if self.peek() != Kind::Word(".param") {
                return self.expected("a .param");
            }
            params.push(self.variable(Linkage::Internal)?);
            if !self.take(',') && self.peek() != Kind::Mark(')') {
                return self.expected("',' or ')'");
            }
        }
        Ok(params)
    }

    /// A declaration that begins with its state space, up to the `;` or `,`.
    pub(super) fn variable(&mut self, linkage: Linkage) -> Result<Variable<'t>> {
        let line = self.line();
        let word = self.word()?;
        let Some(space) = StateSpace::parse(word) else { return self.error(format!("unknown state space {word}")) };
        let (mut explicit_align, mut pointee, mut ty, mut lanes) = (None, None, None, 1);
        let mut attributes = Vec::new();
        // All that stands before the name begins with a dot.
        let name = loop {
            attributes.extend(self.attributes()?);
            match self.word()? {
                ".align" => explicit_align = Some(self.align()?),
                ".ptr" => pointee = Some(self.pointee()?),
                ".v2" => lanes = 2,
                ".v4" => lanes = 4,
                word => match word.strip_prefix('.') {
                    Some(name) => match Type::parse(name) {
                        Some(found) => ty = Some(found),
                        None => return self.error(format!("unknown type .{name}")),
                    },
                    None => break word,
                },
            }
        };
        let Some(ty) = ty else { return self.error(format!("{name} has no type")) };
        let mut dimensions = Vec::new();
        while self.take('[') {
            // `None` is an omitted size: `.extern .shared .b8 s[];` gets its size at the launch.
            dimensions.push(if self.peek() == Kind::Mark(']') { None } else { Some(self.int()?) });
            self.expect(']')?;
        }
        let init = if self.take('=') { Some(self.initialiser(0)?) } else { None };
        let variable =
            Variable { line, linkage, space, attributes, explicit_align, lanes, ty, pointee, name, dimensions, init };
        // A few digits of text may ask for any size. It is refused here, not where memory for the variable is
        // allocated.
        if variable.count().is_some_and(|count| count > MAX_ELEMENTS) {
            return self.error(format!("{name} has an impossible size"));
        }
        Ok(variable)
    }

    fn align(&mut self) -> Result<u32> {
        match u32::try_from(self.int()?) {
            Ok(align) if align.is_power_of_two() && align <= MAX_ALIGN => Ok(align),
            _ => self.error("an impossible alignment"),
        }
    }

    /// What follows `.ptr`.
    fn pointee(&mut self) -> Result<Pointee> {
        let mut pointee = Pointee { space: None, align: None };
        if let Kind::Word(word) = self.peek()
            && let Some(space) = StateSpace::parse(word)
        {
            self.at += 1;
            pointee.space = Some(space);
        }
        if self.take_word(".align") {
            pointee.align = Some(self.align()?);
        }
        Ok(pointee)
    }

    fn initialiser(&mut self, depth: u32) -> Result<Init<'t>> {
        if depth > DEEPEST_INITIALISER {
            return self.error("an initialiser is nested too deeply");
        }
        if self.take('{') {
            let mut list = Vec::new();
            while !self.take('}') {
                list.push(self.initialiser(depth + 1)?);
                if !self.take(',') && self.peek() != Kind::Mark('}') {
                    return self.expected("',' or '}'");
                }
            }
            return Ok(Init::List(list));
        }
        if let Kind::Number(number) = self.peek() {
            self.at += 1;
            // `0xFF00(x)` is a byte of the address of `x`: LLVM writes packed structures with addresses byte by byte.
            if let (Literal::Int(mask), true) = (number, self.take('(')) {
                let (name, generic, offset) = self.address_value()?;
                self.expect(')')?;
                return Ok(Init::Address { name, generic, offset, mask });
            }
            return Ok(Init::Number(number));
        }
        if self.take('-') {
            return match self.next() {
                Kind::Number(number) => Ok(Init::Number(number.negate())),
                _ => self.expected("a number"),
            };
        }
        let (name, generic, offset) = self.address_value()?;
        Ok(Init::Address { name, generic, offset, mask: u64::MAX })
    }

    /// `name`, `generic(name)`, either with `+8` or `-8`.
    fn address_value(&mut self) -> Result<(&'t str, bool, i64)> {
        let generic = self.take_word("generic");
        if generic {
            self.expect('(')?;
        }
        let name = self.word()?;
        let mut offset = self.offset()?;
        if generic {
            self.expect(')')?;
            // An offset may stand inside of the parentheses and behind them: `generic(x+4)+4`.
            offset = offset.wrapping_add(self.offset()?);
        }
        Ok((name, generic, offset))
    }

    /// An optional `+8`, `-8` or `+-8`.
    pub(super) fn offset(&mut self) -> Result<i64> {
        if self.take('+') {
            let negative = self.take('-');
            let value = self.int()? as i64;
            return Ok(if negative { value.wrapping_neg() } else { value });
        }
        if self.take('-') {
            return Ok((self.int()? as i64).wrapping_neg());
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{Arg, Base, Statement};

    fn body(text: &str) -> Vec<Statement<'_>> {
        match parse(text).unwrap().items.pop() {
            Some(Item::Function(function)) => function.body.unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn operands() {
        let all = body(
            ".entry k() { @!%p1 op.x %r1, -3, [%rd1+-4], {%a, _}, !%p2,\n a|b, x+8, [5];
             call.uni (r), f, (p, q); }",
        );
        let Statement::Inst(inst) = &all[0] else { panic!() };
        assert_eq!(inst.guard, Some(("%p1", true)));
        assert_eq!(inst.opcode, "op.x");
        assert_eq!(
            inst.args,
            [
                Arg::Name("%r1"),
                Arg::Literal(Literal::Int(-3_i64 as u64)),
                Arg::Address(Base::Name("%rd1"), -4),
                Arg::Vector(vec![Arg::Name("%a"), Arg::Name("_")]),
                Arg::Not("%p2"),
                Arg::Pair("a", "b"),
                Arg::Offset("x", 8),
                Arg::Address(Base::Number(5), 0),
            ]
        );
        let Statement::Inst(call) = &all[1] else { panic!() };
        let names = vec![Arg::Name("p"), Arg::Name("q")];
        assert_eq!(call.args, [Arg::List(vec![Arg::Name("r")]), Arg::Name("f"), Arg::List(names)]);
    }

    #[test]
    fn declarations() {
        let module = parse(
            ".version 7.8\n.target sm_90, debug\n.address_size 64\n
             .visible .global .align 16 .b8 t[6] = {1, -1, 0xFF(generic(x)+4), 0xFF00(y), generic(x)};
             .extern .shared .align 128 .b8 m[];
             .visible .entry k(.param .u64 .ptr .global .align 4 a, .param .align 8 .b8 b[12]) .reqntid 32, 1, 1 {}",
        )
        .unwrap();
        let items = &module.items;
        let Item::Directive(version) = &items[0] else { panic!() };
        assert_eq!((version.name, version.text), (".version", "7.8"));
        let Item::Variable(table) = &items[3] else { panic!() };
        assert_eq!((table.name, table.align(), table.size(), table.linkage), ("t", 16, 6, Linkage::Visible));
        let elements = table.init.as_ref().unwrap().elements();
        assert_eq!(elements[1], &Init::Number(Literal::Int(u64::MAX)));
        assert_eq!(elements[2], &Init::Address { name: "x", generic: true, offset: 4, mask: 0xFF });
        assert_eq!(elements[3], &Init::Address { name: "y", generic: false, offset: 0, mask: 0xFF00 });
        let Item::Variable(memory) = &items[4] else { panic!() };
        assert_eq!((memory.count(), memory.align()), (None, 128));
        let Item::Function(entry) = &items[5] else { panic!() };
        assert_eq!(entry.params.iter().map(Variable::size).collect::<Vec<_>>(), [8, 12]);
        // The alignment after `.ptr` is that of the memory that the parameter points to.
        assert_eq!(entry.params.iter().map(Variable::align).collect::<Vec<_>>(), [8, 8]);
        assert_eq!(entry.params[0].pointee, Some(Pointee { space: Some(StateSpace::Global), align: Some(4) }));
        assert_eq!(entry.bounds, [(".reqntid", vec![32, 1, 1])]);
    }

    #[test]
    fn errors_name_the_line() {
        for (text, line) in [
            ("\n.entry k() {\n op %r1 %r2;\n}", 3),
            (".entry k() {\n", 2),
            (".entry k() {\n .reg .b99 %r1; }", 2),
            ("\n\nfoo", 3),
            (".entry k() { op [; }", 1),
        ] {
            assert_eq!(parse(text).unwrap_err().line, line, "{text}");
        }
    }
}
