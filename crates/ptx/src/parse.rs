//! Parses tokens to the syntax of a module.
//!
//! In: tokens. Out: items. This file has the directives of a module; the bodies of functions are in `parse_body.rs`.

use crate::ParseError;
use crate::Type;
use crate::lex::{self, Kind, Literal, Token};
use crate::tree::{Function, Init, Item, Place, Variable};

pub(super) type Result<T> = std::result::Result<T, ParseError>;

/// A position in the tokens.
pub(super) struct Parser<'t> {
    tokens: Vec<Token<'t>>,
    pub(super) at: usize,
}

/// Parses a whole module.
pub fn parse(text: &str) -> Result<Vec<Item<'_>>> {
    let mut parser = Parser { tokens: lex::tokens(text)?, at: 0 };
    let mut items = Vec::new();
    while parser.peek() != Kind::End {
        if let Some(item) = parser.item()? {
            items.push(item);
        }
    }
    Ok(items)
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
        let last = self.tokens.len().saturating_sub(1);
        self.tokens.get(self.at.min(last)).copied().unwrap_or(Token { line: 0, kind: Kind::End })
    }

    pub(super) fn peek(&self) -> Kind<'t> {
        self.token().kind
    }

    pub(super) fn line(&self) -> u32 {
        self.token().line
    }

    pub(super) fn next(&mut self) -> Kind<'t> {
        let kind = self.peek();
        self.at += 1;
        kind
    }

    pub(super) fn error<T>(&self, what: impl Into<String>) -> Result<T> {
        Err(ParseError { line: self.line(), what: what.into() })
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
        let line = self.line();
        while self.line() == line && self.peek() != Kind::End {
            self.at += 1;
        }
    }

    /// Skips to behind a closing mark; the opening one was read.
    pub(super) fn skip_past(&mut self, close: char) -> Result<()> {
        while !self.take(close) {
            if self.next() == Kind::End {
                return self.expected(&format!("'{close}'"));
            }
        }
        Ok(())
    }

    /// Skips a directive that has no effect here. Tells whether there was one.
    pub(super) fn skip_directive(&mut self) -> Result<bool> {
        match self.peek() {
            Kind::Word(".version" | ".target" | ".address_size" | ".file" | ".loc") => self.skip_line(),
            Kind::Word(".pragma") => self.skip_past(';')?,
            Kind::Word(".section") => self.skip_past('}')?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn item(&mut self) -> Result<Option<Item<'t>>> {
        if self.take(';') || self.skip_directive()? {
            return Ok(None);
        }
        loop {
            match self.peek() {
                Kind::Word(".visible" | ".extern" | ".weak" | ".common") => self.at += 1,
                Kind::Word(".entry" | ".func") => return self.function().map(|item| Some(Item::Function(item))),
                Kind::Word(".global" | ".const" | ".shared") => {
                    let variable = self.variable()?;
                    self.expect(';')?;
                    return Ok(Some(Item::Variable(variable)));
                }
                _ => return self.expected("a directive of a module"),
            }
        }
    }

    fn function(&mut self) -> Result<Function<'t>> {
        let line = self.line();
        let entry = self.word()? == ".entry";
        self.skip_attributes()?;
        let returns = if self.peek() == Kind::Mark('(') { self.params()? } else { Vec::new() };
        let name = self.word()?;
        let params = if self.peek() == Kind::Mark('(') { self.params()? } else { Vec::new() };
        let mut bounds = Vec::new();
        loop {
            match self.peek() {
                Kind::Word(".pragma") => self.skip_past(';')?,
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
        Ok(Function { line, name, entry, returns, params, bounds, body })
    }

    fn skip_attributes(&mut self) -> Result<()> {
        while self.take_word(".attribute") {
            let mut depth = 0;
            loop {
                match self.next() {
                    Kind::Mark('(') => depth += 1,
                    Kind::Mark(')') => depth -= 1,
                    Kind::End => return self.expected("')'"),
                    _ => {}
                }
                if depth == 0 {
                    break;
                }
            }
        }
        Ok(())
    }

    fn params(&mut self) -> Result<Vec<Variable<'t>>> {
        self.expect('(')?;
        let mut params = Vec::new();
        while !self.take(')') {
            if self.peek() != Kind::Word(".param") {
                return self.expected("a .param");
            }
            params.push(self.variable()?);
            if !self.take(',') && self.peek() != Kind::Mark(')') {
                return self.expected("',' or ')'");
            }
        }
        Ok(params)
    }

    /// A declaration that begins with its state space, up to the `;` or `,`.
    pub(super) fn variable(&mut self) -> Result<Variable<'t>> {
        let line = self.line();
        let place = match self.word()? {
            ".global" => Place::Global,
            ".const" => Place::Const,
            ".shared" => Place::Shared,
            ".local" => Place::Local,
            ".param" => Place::Param,
            other => return self.error(format!("unknown state space {other}")),
        };
        let mut align = None;
        let mut ty = None;
        let mut lanes = 1_u64;
        let name = loop {
            self.skip_attributes()?;
            match self.word()? {
                ".align" => align = Some(self.int()?),
                // The space that a pointer parameter points to.
                ".ptr" | ".global" | ".const" | ".shared" | ".local" | ".param" | ".generic" => {}
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
        let mut count = Some(lanes);
        while self.take('[') {
            let length = if self.peek() == Kind::Mark(']') { None } else { Some(self.int()?) };
            self.expect(']')?;
            count = count.zip(length).and_then(|(count, length)| count.checked_mul(length));
        }
        let natural = u64::from(ty.size()) * lanes;
        let align = align.unwrap_or(natural);
        if !align.is_power_of_two() || align > 1 << 16 || count.is_some_and(|count| count > 1 << 32) {
            return self.error(format!("{name} has an impossible size or alignment"));
        }
        let mut init = Vec::new();
        if self.take('=') {
            self.initialiser(&mut init, 0)?;
        }
        if count.is_none() && !init.is_empty() {
            count = Some(init.len() as u64);
        }
        Ok(Variable { line, place, name, ty, align: align as u32, count, init })
    }

    fn initialiser(&mut self, out: &mut Vec<Init<'t>>, depth: u32) -> Result<()> {
        if depth > 16 {
            return self.error("an initialiser is nested too deeply");
        }
        if self.take('{') {
            while !self.take('}') {
                self.initialiser(out, depth + 1)?;
                if !self.take(',') && self.peek() != Kind::Mark('}') {
                    return self.expected("',' or '}'");
                }
            }
            return Ok(());
        }
        if let Kind::Number(number) = self.peek() {
            self.at += 1;
            if let (Literal::Int(mask), true) = (number, self.take('(')) {
                let (name, generic, offset) = self.address_value()?;
                self.expect(')')?;
                out.push(Init::Address { name, generic, offset, mask });
            } else {
                out.push(Init::Number(number));
            }
            return Ok(());
        }
        if self.take('-') {
            return match self.next() {
                Kind::Number(number) => {
                    out.push(Init::Number(number.negate()));
                    Ok(())
                }
                _ => self.expected("a number"),
            };
        }
        let (name, generic, offset) = self.address_value()?;
        out.push(Init::Address { name, generic, offset, mask: u64::MAX });
        Ok(())
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
        match parse(text).unwrap().pop() {
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
        let items = parse(
            ".version 7.8\n.target sm_90, debug\n.address_size 64\n
             .visible .global .align 16 .b8 t[6] = {1, -1, 0xFF(generic(x)+4), 0xFF00(y), generic(x)};
             .extern .shared .align 128 .b8 m[];
             .visible .entry k(.param .u64 .ptr .global .align 4 a, .param .align 8 .b8 b[12]) .reqntid 32, 1, 1 {}",
        )
        .unwrap();
        let Item::Variable(table) = &items[0] else { panic!() };
        assert_eq!((table.name, table.align, table.size()), ("t", 16, 6));
        assert_eq!(table.init[1], Init::Number(Literal::Int(u64::MAX)));
        assert_eq!(table.init[2], Init::Address { name: "x", generic: true, offset: 4, mask: 0xFF });
        assert_eq!(table.init[3], Init::Address { name: "y", generic: false, offset: 0, mask: 0xFF00 });
        let Item::Variable(memory) = &items[1] else { panic!() };
        assert_eq!((memory.count, memory.align), (None, 128));
        let Item::Function(entry) = &items[2] else { panic!() };
        assert_eq!(entry.params.iter().map(Variable::size).collect::<Vec<_>>(), [8, 12]);
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
