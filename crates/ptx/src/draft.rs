//! A module that passes change.
//!
//! In: the text of a module, and from each pass the statements that replace instructions. Out: the text of the changed
//! module. Unchanged instructions are printed as they stand in the text, with their comments. The text is parsed once
//! and printed once, however many passes there are.

use crate::tree::{Arg, Function, Inst, Item, Line, Span, Statement};
use crate::{Literal, ParseError, Type, parse};
use std::borrow::Cow;
use std::fmt::Write;

/// Names of new registers if the preferred ones are taken: more than an instruction and its replacement use.
const NAMES: [&str; 24] = [
    "%new0", "%new1", "%new2", "%new3", "%new4", "%new5", "%new6", "%new7", "%new8", "%new9", "%new10", "%new11",
    "%new12", "%new13", "%new14", "%new15", "%new16", "%new17", "%new18", "%new19", "%new20", "%new21", "%new22",
    "%new23",
];

/// A module that passes change.
#[derive(Clone, Debug)]
pub struct Draft<'t> {
    text: &'t str,
    /// The functions with bodies.
    functions: Vec<Body<'t>>,
}

/// A function, and which of its statements are new.
#[derive(Clone, Debug)]
struct Body<'t> {
    function: Function<'t>,
    /// For each statement, the instruction that it replaces; `None` for a statement of the text itself.
    replaced: Vec<Option<Origin>>,
}

/// The instruction that a new statement replaces.
#[derive(Clone, Copy, Debug)]
struct Origin {
    /// The position of the instruction in the text.
    span: Span,
    /// How many replacements led to the statement.
    depth: u32,
}

/// The statements that replace the instruction at a position of the body.
#[derive(Clone, Debug)]
pub struct Replacement<'t> {
    /// The position of the instruction among the statements.
    pub at: usize,
    /// At least one.
    pub statements: Vec<Statement<'t>>,
}

impl<'t> Draft<'t> {
    /// Parses a module.
    pub fn parse(text: &'t str) -> Result<Draft<'t>, ParseError> {
        let functions = parse(text)?.items.into_iter().filter_map(|item| match item {
            Item::Function(function) => {
                let replaced = vec![None; function.body.as_ref()?.len()];
                Some(Body { function, replaced })
            }
            // No pass changes these: `print` takes them from the text.
            Item::Directive(_) | Item::Variable(_) => None,
        });
        Ok(Draft { text, functions: functions.collect() })
    }

    /// Replaces the instructions that `find` returns for each function, until it returns none. A replacement may be
    /// replaced again, but not more than `depth` times: more often means that the replacement has what `find` looks
    /// for, which is an error. Returns how many were replaced.
    pub fn replace(
        &mut self,
        depth: u32,
        find: impl Fn(&Function<'t>) -> Result<Vec<Replacement<'t>>, ParseError>,
    ) -> Result<usize, ParseError> {
        let mut count = 0;
        for body in &mut self.functions {
            loop {
                let replacements = find(&body.function)?;
                if replacements.is_empty() {
                    break;
                }
                // Rewrites whose output has the other's fault would go on for ever.
                if let Some(replacement) = replacements.iter().find(|replacement| body.depth(replacement.at) > depth) {
                    let what = format!("the replacement of an instruction is replaced more than {depth} times");
                    return Err(ParseError { line: body.line(replacement.at).0, what });
                }
                count += replacements.len();
                body.apply(replacements);
            }
        }
        Ok(count)
    }

    /// Replaces once the instructions that `find` returns for each function. Returns how many were replaced.
    pub fn replace_once(
        &mut self,
        find: impl Fn(&Function<'t>) -> Result<Vec<Replacement<'t>>, ParseError>,
    ) -> Result<usize, ParseError> {
        let mut count = 0;
        for body in &mut self.functions {
            let replacements = find(&body.function)?;
            if !replacements.is_empty() {
                count += replacements.len();
                body.apply(replacements);
            }
        }
        Ok(count)
    }

    /// The text of the module.
    pub fn print(&self) -> String {
        let mut out = String::with_capacity(self.text.len() + self.text.len() / 16);
        let mut end = 0;
        for body in &self.functions {
            let statements = body.function.body.iter().flatten().zip(&body.replaced);
            let mut last = None;
            for (statement, origin) in statements {
                if let Some(Origin { span, .. }) = origin {
                    // Statements of one replacement follow each other. The first one takes the place of the
                    // instruction.
                    if last == Some(span.start) {
                        out.push('\n');
                    } else {
                        // The printer writes a tab before each statement.
                        out.push_str(self.text.get(end..span.start).unwrap_or_default().trim_end_matches(['\t', ' ']));
                        end = span.end;
                    }
                    // Writing to a string cannot fail.
                    let _ = write!(out, "{statement}");
                }
                last = origin.map(|origin| origin.span.start);
            }
        }
        // What follows the last replacement, and between functions all that no pass can change, comes from the text as
        // it is.
        out.push_str(self.text.get(end..).unwrap_or_default());
        out
    }
}

impl<'t> Body<'t> {
    fn line(&self, at: usize) -> Line {
        match self.function.body.as_ref().and_then(|body| body.get(at)) {
            Some(Statement::Inst(inst)) => inst.line,
            _ => self.function.line,
        }
    }

    /// How many replacements led to a statement.
    fn depth(&self, at: usize) -> u32 {
        self.replaced.get(at).copied().flatten().map_or(0, |origin| origin.depth)
    }

    /// Applies the replacements, which are in the order of the body.
    fn apply(&mut self, replacements: Vec<Replacement<'t>>) {
        let Some(body) = &mut self.function.body else { return };
        let more: usize = replacements.iter().map(|replacement| replacement.statements.len()).sum();
        let (mut statements, mut replaced) = (Vec::with_capacity(body.len() + more), Vec::new());
        let mut replacements = replacements.into_iter().peekable();
        for (at, (statement, origin)) in body.drain(..).zip(self.replaced.drain(..)).enumerate() {
            match (replacements.next_if(|replacement| replacement.at == at), &statement) {
                (Some(replacement), Statement::Inst(inst)) => {
                    // A replacement of a replacement keeps the position of the instruction in the text: made
                    // instructions have none.
                    let Origin { span, depth } = origin.unwrap_or(Origin { span: inst.span, depth: 0 });
                    let origin = Origin { span, depth: depth + 1 };
                    replaced.extend(std::iter::repeat_n(Some(origin), replacement.statements.len()));
                    statements.extend(replacement.statements);
                }
                _ => {
                    replaced.push(origin);
                    statements.push(statement);
                }
            }
        }
        *body = statements;
        self.replaced = replaced;
    }
}

/// Statements that replace an instruction. If they need registers, these are declared in a block of their own.
#[derive(Clone, Debug)]
pub struct Builder<'a, 't> {
    inst: &'a Inst<'t>,
    registers: Vec<(Type, &'t str)>,
    code: Vec<Inst<'t>>,
    /// Whether no free name was left for a register.
    lacks_name: bool,
}

impl<'a, 't> Builder<'a, 't> {
    /// Statements that replace this instruction.
    pub fn new(inst: &'a Inst<'t>) -> Builder<'a, 't> {
        Builder { inst, registers: Vec::new(), code: Vec::new(), lacks_name: false }
    }

    /// A new register. It has this name, unless the instruction or another new register has it.
    pub fn register(&mut self, ty: Type, name: &'static str) -> Arg<'t> {
        // A register of the new block hides a register with its name, which the instruction may need.
        let guard = self.inst.guard.map(|(name, _)| name);
        let is_free = |name: &&str| {
            guard != Some(*name)
                && !self.inst.args.iter().any(|arg| arg.mentions(name))
                && !self.registers.iter().any(|(_, other)| other == name)
        };
        // Inner blocks may reuse names of outer ones, so only the names in this instruction and its replacement count.
        let free = std::iter::once(name).chain(NAMES).find(is_free);
        self.lacks_name |= free.is_none();
        let name = free.unwrap_or(name);
        self.registers.push((ty, name));
        Arg::Name(name)
    }

    /// Adds an instruction, with the predicate of the replaced one.
    pub fn inst(&mut self, opcode: impl Into<Cow<'t, str>>, args: impl Into<Vec<Arg<'t>>>) {
        let Inst { line, guard, .. } = *self.inst;
        self.code.push(Inst { line, span: Span::default(), guard, opcode: opcode.into(), args: args.into() });
    }

    /// The statements; `None` if no free name was left for a register.
    pub fn finish(mut self) -> Option<Vec<Statement<'t>>> {
        // `@%p1 setp.eq.s32 %p1, …` in several instructions: the first ones must not change what the last one reads.
        if let Some((guard, _)) = self.inst.guard
            // One instruction reads its predicate before it sets its result.
            && self.code.len() > 1
            && self.inst.args.first().is_some_and(|result| result.mentions(guard))
        {
            self.keep_guard(guard);
        }
        let line = self.inst.line;
        let is_block = !self.registers.is_empty();
        let mut out = Vec::with_capacity(self.code.len() + self.registers.len() + 2);
        // A block of its own, so that the new names hide outer ones here only, and two replacements may use the same.
        if is_block {
            out.push(Statement::Open);
        }
        // Neighbours of one type share a declaration, which keeps the text short.
        for (ty, name) in self.registers {
            match out.last_mut() {
                Some(Statement::Registers(_, last, names)) if *last == ty => names.push((name, None)),
                _ => out.push(Statement::Registers(line, ty, vec![(name, None)])),
            }
        }
        out.extend(self.code.into_iter().map(Statement::Inst));
        if is_block {
            out.push(Statement::Close);
        }
        (!self.lacks_name).then_some(out)
    }

    /// Copies the predicate to a new register, because an instruction may set it before the last one reads it.
    fn keep_guard(&mut self, guard: &'t str) {
        let Arg::Name(kept) = self.register(Type::PRED, "%guard") else { return };
        for inst in &mut self.code {
            inst.guard = inst.guard.map(|(_, is_negated)| (kept, is_negated));
        }
        let args = vec![Arg::Name(kept), Arg::Name(guard)];
        let line = self.inst.line;
        let opcode = Cow::Borrowed("mov.pred");
        self.code.insert(0, Inst { line, span: Span::default(), guard: None, opcode, args });
    }
}

impl<'t> Arg<'t> {
    /// An integer.
    pub fn int(value: u64) -> Arg<'t> {
        Arg::Literal(Literal::Int(value))
    }

    /// Whether the operand contains a name.
    pub fn mentions(&self, wanted: &str) -> bool {
        use crate::tree::Base;
        match self {
            Arg::Name(name) | Arg::Offset(name, _) | Arg::Not(name) | Arg::Address(Base::Name(name), _) => {
                *name == wanted
            }
            Arg::Literal(_) | Arg::Address(Base::Number(_), _) => false,
            Arg::Texture(name, list) => *name == wanted || list.iter().any(|arg| arg.mentions(wanted)),
            Arg::Vector(list) | Arg::List(list) => list.iter().any(|arg| arg.mentions(wanted)),
            Arg::Pair(first, second) => *first == wanted || *second == wanted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each instruction of this name twice.
    fn twice<'t>(function: &Function<'t>, name: &str) -> Vec<Replacement<'t>> {
        let is_one = |statement: &Statement<'_>| matches!(statement, Statement::Inst(inst) if inst.name() == name);
        let body = function.body.iter().flatten().enumerate();
        body.filter(|(_, statement)| is_one(statement))
            .map(|(at, statement)| Replacement { at, statements: vec![statement.clone(), statement.clone()] })
            .collect()
    }

    /// A text with each `neg` twice.
    fn doubled(text: &str) -> String {
        let mut draft = Draft::parse(text).unwrap();
        draft.replace_once(|function| Ok(twice(function, "neg"))).unwrap();
        draft.print()
    }

    #[test]
    fn what_is_not_replaced_is_printed_as_it_stands() {
        let text = "// A module.\n.version 7.8\n\n.func f()\n{ // %entry\n\t.reg .b32   %r<3>;\n\tneg.s32 \t%r1, %r2;\n\
                    \t// behind\n\t{ .reg .b32 x; neg.s32 x,%r1; neg.s32 %r2, x ; } // end\n}\n.func g() { ret; }\n";
        let wanted = text
            .replace("\tneg.s32 \t%r1, %r2;", "\tneg.s32 %r1, %r2;\n\tneg.s32 %r1, %r2;")
            .replace(" neg.s32 x,%r1;", "\tneg.s32 x, %r1;\n\tneg.s32 x, %r1;")
            .replace(" neg.s32 %r2, x ;", "\tneg.s32 %r2, x;\n\tneg.s32 %r2, x;");
        assert_eq!(doubled(text), wanted);
        let other = text.replace("neg", "not");
        assert_eq!(doubled(&other), other);
    }

    #[test]
    fn replacements_without_an_end_are_an_error() {
        let mut draft = Draft::parse(".func f() {\n.reg .b32 %r<3>;\n\nneg.s32 %r1, %r2;\n}").unwrap();
        assert_eq!(draft.replace(3, |function| Ok(twice(function, "neg"))).unwrap_err().line, 4);
    }
}
