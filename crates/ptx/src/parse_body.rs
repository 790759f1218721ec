//! Parses the statements and operands of a function's body.
//!
//! In: tokens. Out: statements. It knows the shape of operands, but no opcode: operands have the same shapes for all
//! opcodes, so opcodes are left to the decoder.

use crate::Type;
use crate::lex::{Kind, Literal};
use crate::parse::{Parser, Result};
use crate::tree::{Arg, Base, Inst, Line, Linkage, Statement};
use std::borrow::Cow;

/// The deepest nesting of blocks: a name is looked up in the scope of each. LLVM's output has two.
const DEEPEST_BLOCK: u32 = 64;
/// The deepest nesting of lists, which the parser and the printer follow by recursion.
const DEEPEST_OPERAND: u32 = 4;

impl<'t> Parser<'t> {
    /// The statements of a body up to its closing brace; the opening one was read.
    pub(super) fn body(&mut self) -> Result<Vec<Statement<'t>>> {
        let mut out = Vec::new();
        let mut depth = 0;
        loop {
            // An empty statement.
            if self.take(';') {
                continue;
            }
            if let Some(directive) = self.directive()? {
                out.push(Statement::Directive(directive));
                continue;
            }
            match self.peek() {
                Kind::Mark('{') => {
                    self.at += 1;
                    depth += 1;
                    if depth > DEEPEST_BLOCK {
                        return self.error("a block is nested too deeply");
                    }
                    out.push(Statement::Open);
                }
                Kind::Mark('}') => {
                    self.at += 1;
                    if depth == 0 {
                        return Ok(out);
                    }
                    depth -= 1;
                    out.push(Statement::Close);
                }
                Kind::Word(".reg") => out.push(self.registers()?),
                Kind::Word(".local" | ".shared" | ".param" | ".global" | ".const") => {
                    out.push(Statement::Variable(Box::new(self.variable(Linkage::Internal)?)));
                    self.expect(';')?;
                }
                Kind::Mark('@') | Kind::Word(_) => self.statement(&mut out)?,
                _ => return self.expected("a statement"),
            }
        }
    }

    fn registers(&mut self) -> Result<Statement<'t>> {
        let line = self.line();
        self.at += 1;
        let name = self.word()?;
        let Some(ty) = name.strip_prefix('.').and_then(Type::parse) else {
            return self.error(format!("unknown type of registers {name}"));
        };
        let mut names = Vec::new();
        loop {
            let name = self.word()?;
            let mut count = None;
            if self.take('<') {
                count = Some(self.int()?);
                self.expect('>')?;
                if count > Some(1 << 24) {
                    return self.error("too many registers");
                }
            }
            names.push((name, count));
            if !self.take(',') {
                break;
            }
        }
        self.expect(';')?;
        Ok(Statement::Registers(line, ty, names))
    }

    /// A label, or an instruction with its guard.
    fn statement(&mut self, out: &mut Vec<Statement<'t>>) -> Result<()> {
        let (line, first) = (self.line(), self.at);
        let mut guard = None;
        if self.take('@') {
            let negated = self.take('!');
            guard = Some((self.word()?, negated));
        }
        let word = self.word()?;
        // A label has no predicate.
        if guard.is_none() && self.take(':') {
            return self.labelled(line, word, out);
        }
        if word.starts_with('.') {
            return self.error(format!("unknown directive {word}"));
        }
        let mut args = Vec::new();
        while !self.take(';') {
            args.push(self.arg(0)?);
            // A call may have a list without a comma before it.
            if !self.take(',') && !matches!(self.peek(), Kind::Mark(';')) {
                return self.expected("',' or ';'");
            }
        }
        let span = self.span(first);
        out.push(Statement::Inst(Inst { line, span, guard, opcode: Cow::Borrowed(word), args }));
        Ok(())
    }

    /// What follows `label:`.
    fn labelled(&mut self, line: Line, label: &'t str, out: &mut Vec<Statement<'t>>) -> Result<()> {
        if self.take_word(".branchtargets") {
            let mut names = vec![self.word()?];
            while self.take(',') {
                names.push(self.word()?);
            }
            self.expect(';')?;
            out.push(Statement::Targets(label, names));
        } else if self.take_word(".callprototype") {
            out.push(Statement::Prototype(label, self.text_until(';')?));
        } else {
            out.push(Statement::Label(line, label));
        }
        Ok(())
    }

    fn args_until(&mut self, close: char, depth: u32) -> Result<Vec<Arg<'t>>> {
        let mut args = Vec::new();
        while !self.take(close) {
            args.push(self.arg(depth + 1)?);
            if !self.take(',') && self.peek() != Kind::Mark(close) {
                return self.expected(&format!("',' or '{close}'"));
            }
        }
        Ok(args)
    }

    fn arg(&mut self, depth: u32) -> Result<Arg<'t>> {
        if depth > DEEPEST_OPERAND {
            return self.error("an operand is nested too deeply");
        }
        match self.next() {
            Kind::Mark('{') => Ok(Arg::Vector(self.args_until('}', depth)?)),
            Kind::Mark('(') => Ok(Arg::List(self.args_until(')', depth)?)),
            Kind::Mark('!') => Ok(Arg::Not(self.word()?)),
            Kind::Mark('[') => {
                let base = match self.next() {
                    Kind::Word(word) => Base::Name(word),
                    Kind::Number(Literal::Int(value)) => Base::Number(value),
                    _ => {
                        // Back to the token, which the message names.
                        self.at -= 1;
                        return self.expected("an address");
                    }
                };
                // `[texture, {x, y}]`
                if let Base::Name(texture) = base
                    && self.take(',')
                {
                    self.expect('{')?;
                    let at = self.args_until('}', depth)?;
                    self.expect(']')?;
                    return Ok(Arg::Texture(texture, at));
                }
                let offset = self.offset()?;
                self.expect(']')?;
                Ok(Arg::Address(base, offset))
            }
            Kind::Mark('-') => match self.next() {
                Kind::Number(number) => Ok(Arg::Literal(number.negate())),
                _ => {
                    self.at -= 1;
                    self.expected("a number")
                }
            },
            Kind::Number(number) => Ok(Arg::Literal(number)),
            Kind::Word(word) => {
                // `a|b` is the pair of results of `setp` and `shfl`.
                if self.take('|') {
                    return Ok(Arg::Pair(word, self.word()?));
                }
                // `x+8` is one operand, the address of a variable and a constant.
                match self.offset()? {
                    0 => Ok(Arg::Name(word)),
                    offset => Ok(Arg::Offset(word, offset)),
                }
            }
            _ => {
                self.at -= 1;
                self.expected("an operand")
            }
        }
    }
}
