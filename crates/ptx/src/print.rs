//! Prints trees as PTX.
//!
//! In: a tree. Out: text that parses to an equal tree. Comments and layout are not in a tree and so are not printed.
//! The layout is that of LLVM: a statement a line, and a tab before what is not a label.

use crate::Literal;
use crate::tree::{Arg, Base, Directive, Function, Init, Inst, Item, Linkage, Module, Pointee, Statement, Variable};
use std::fmt::{Display, Formatter, Result};

/// Items with a separator between them.
struct Separated<'a, T>(&'a [T], &'static str);

impl<T: Display> Display for Separated<'_, T> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        for (index, item) in self.0.iter().enumerate() {
            let before = if index > 0 { self.1 } else { "" };
            write!(out, "{before}{item}")?;
        }
        Ok(())
    }
}

impl Display for Module<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        self.items.iter().try_for_each(|item| writeln!(out, "{item}"))
    }
}

impl Display for Item<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self {
            Item::Directive(directive) => directive.fmt(out),
            Item::Variable(variable) => write!(out, "{variable};"),
            Item::Function(function) => function.fmt(out),
        }
    }
}

impl Display for Directive<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        // The parser keeps the semicolon of `.pragma` out of the text; other directives end with their lines.
        let end = if self.name == ".pragma" { ";" } else { "" };
        write!(out, "{} {}{end}", self.name, self.text)
    }
}

impl Display for Linkage {
    /// The directive with a space after it.
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let space = if *self == Linkage::Internal { "" } else { " " };
        write!(out, "{}{space}", self.name())
    }
}

impl Display for Pointee {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        write!(out, ".ptr")?;
        if let Some(space) = self.space {
            write!(out, " {}", space.name())?;
        }
        self.align.map_or(Ok(()), |align| write!(out, " .align {align}"))
    }
}

impl Display for Variable<'_> {
    /// Without the semicolon, since parameters have none.
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        write!(out, "{}{} ", self.linkage, self.space.name())?;
        attributes(&self.attributes, out)?;
        if let Some(align) = self.explicit_align {
            write!(out, ".align {align} ")?;
        }
        if self.lanes > 1 {
            write!(out, ".v{} ", self.lanes)?;
        }
        write!(out, ".{} ", self.ty)?;
        if let Some(pointee) = self.pointee {
            write!(out, "{pointee} ")?;
        }
        write!(out, "{}", self.name)?;
        for length in &self.dimensions {
            match length {
                Some(length) => write!(out, "[{length}]")?,
                None => write!(out, "[]")?,
            }
        }
        self.init.as_ref().map_or(Ok(()), |init| write!(out, " = {init}"))
    }
}

fn attributes(texts: &[&str], out: &mut Formatter<'_>) -> Result {
    texts.iter().try_for_each(|text| write!(out, ".attribute({text}) "))
}

impl Display for Init<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self {
            Init::Number(number) => number.fmt(out),
            Init::List(list) => write!(out, "{{{}}}", Separated(list, ", ")),
            Init::Address { name, generic, offset, mask } => {
                if *mask != u64::MAX {
                    write!(out, "{mask:#X}(")?;
                }
                if *generic {
                    write!(out, "generic({name})")?;
                } else {
                    write!(out, "{name}")?;
                }
                plus(*offset, out)?;
                out.write_str(if *mask == u64::MAX { "" } else { ")" })
            }
        }
    }
}

/// An offset after a name; nothing if it is zero. ptxas does not accept `-4`, but it accepts `+-4`.
fn plus(offset: i64, out: &mut Formatter<'_>) -> Result {
    if offset == 0 { Ok(()) } else { write!(out, "+{offset}") }
}

impl Display for Function<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        write!(out, "{}{} ", self.linkage, if self.entry { ".entry" } else { ".func" })?;
        attributes(&self.attributes, out)?;
        if !self.returns.is_empty() {
            write!(out, "({}) ", Separated(&self.returns, ", "))?;
        }
        let (open, close) = if self.params.is_empty() { ("(", ")") } else { ("(\n\t", "\n)") };
        write!(out, "{}{open}{}{close}", self.name, Separated(&self.params, ",\n\t"))?;
        for (name, numbers) in &self.bounds {
            write!(out, "\n{name} {}", Separated(numbers, ", "))?;
        }
        for pragma in &self.pragmas {
            write!(out, "\n{pragma}")?;
        }
        let Some(body) = &self.body else { return out.write_str(";") };
        writeln!(out, "\n{{")?;
        body.iter().try_for_each(|statement| writeln!(out, "{statement}"))?;
        out.write_str("}")
    }
}

impl Display for Statement<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self {
            Statement::Open => out.write_str("\t{"),
            Statement::Close => out.write_str("\t}"),
            Statement::Directive(directive) => write!(out, "\t{directive}"),
            Statement::Label(_, name) => write!(out, "{name}:"),
            Statement::Registers(_, ty, names) => {
                write!(out, "\t.reg .{ty} ")?;
                for (index, (name, count)) in names.iter().enumerate() {
                    write!(out, "{}{name}", if index > 0 { ", " } else { "" })?;
                    count.map_or(Ok(()), |count| write!(out, "<{count}>"))?;
                }
                out.write_str(";")
            }
            Statement::Variable(variable) => write!(out, "\t{variable};"),
            Statement::Targets(label, targets) => {
                write!(out, "{label}: .branchtargets {};", Separated(targets, ", "))
            }
            Statement::Prototype(label, text) => write!(out, "{label}: .callprototype {text};"),
            Statement::Inst(inst) => write!(out, "\t{inst}"),
        }
    }
}

impl Display for Inst<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        if let Some((predicate, negated)) = self.guard {
            write!(out, "@{}{predicate} ", if negated { "!" } else { "" })?;
        }
        write!(out, "{}{}{};", self.opcode, if self.args.is_empty() { "" } else { " " }, Separated(&self.args, ", "))
    }
}

impl Display for Arg<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self {
            Arg::Name(name) => out.write_str(name),
            Arg::Offset(name, offset) => {
                out.write_str(name)?;
                plus(*offset, out)
            }
            Arg::Not(name) => write!(out, "!{name}"),
            Arg::Literal(literal) => literal.fmt(out),
            Arg::Address(base, offset) => {
                match base {
                    Base::Name(name) => write!(out, "[{name}")?,
                    Base::Number(number) => write!(out, "[{number}")?,
                }
                plus(*offset, out)?;
                out.write_str("]")
            }
            Arg::Texture(texture, at) => write!(out, "[{texture}, {{{}}}]", Separated(at, ", ")),
            Arg::Vector(list) => write!(out, "{{{}}}", Separated(list, ", ")),
            Arg::List(list) => write!(out, "({})", Separated(list, ", ")),
            Arg::Pair(first, second) => write!(out, "{first}|{second}"),
        }
    }
}

impl Display for Literal {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self {
            // Large integers are negative ones, which LLVM prints like this too.
            Literal::Int(value) => write!(out, "{}", *value as i64),
            Literal::Single(bits) => write!(out, "0f{bits:08X}"),
            Literal::Double(bits) => write!(out, "0d{bits:016X}"),
            // Without an exponent, and with a dot, which distinguishes it from an integer.
            Literal::Decimal(value) if value.fract() == 0.0 => write!(out, "{value:.1}"),
            Literal::Decimal(value) => write!(out, "{value}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::parse;

    /// What the printer makes of a module.
    fn printed(text: &str) -> String {
        let module = parse(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let printed = module.to_string();
        assert_eq!(parse(&printed), Ok(module), "{printed}");
        printed
    }

    /// Checks that items are printed as they stand.
    fn same(items: &[&str]) {
        for item in items {
            assert_eq!(printed(item), format!("{item}\n"));
        }
    }

    /// What the printer makes of a statement.
    fn statement(text: &str) -> String {
        let all = printed(&format!(".entry k() {{\n{text}\n}}"));
        all.trim_start_matches(".entry k()\n{\n").trim_end_matches("\n}\n").to_owned()
    }

    #[test]
    fn directives() {
        same(&[
            ".version 7.8",
            ".target sm_90, debug",
            ".address_size 64",
            ".file 1 \"a b.cl\"",
            ".pragma \"nounroll\";",
            ".section .debug_loc { .b8 1 }",
        ]);
    }

    #[test]
    fn variables() {
        same(&[
            ".visible .global .attribute(.managed) .align 16 .v4 .f32 a[2][3];",
            ".extern .shared .align 128 .b8 b[];",
            ".const .u64 c[2] = {0xFF(generic(x)+4), y+-8};",
            ".weak .global .b32 d[2][2] = {{1, -2}, {3}};",
            ".common .global .f64 e = 0dBFF0000000000000;",
            ".global .u64 f = 0xFF00(y+16);",
        ]);
    }

    #[test]
    fn functions() {
        same(&[
            ".extern .func (.param .b32 r) vprintf(\n\t.param .b64 a,\n\t.param .b64 b\n);",
            ".func f()\n.noreturn \n{\n}",
            ".visible .entry k(\n\t.param .u64 .ptr .global .align 4 a,\n\t.param .align 8 .b8 b[12]\n)\n\
             .reqntid 32, 1, 1\n.pragma \"nounroll\";\n{\n}",
            ".entry k(\n\t.param .u64 .ptr a,\n\t.param .u64 .ptr .align 4 b,\n\t.param .u64 .ptr .const c\n);",
            ".weak .func .attribute(.unified(1, 2)) f();",
        ]);
    }

    #[test]
    fn statements() {
        for text in [
            "\t{\n\t}",
            "\t.loc 1 2 3, function_name $L, inlined_at 1 2 3",
            "\t.pragma \"nounroll\";",
            "$L_1:",
            "\t.reg .pred %p<5>;",
            "\t.reg .f16x2 a, b<0>, c;",
            "\t.local .align 16 .b8 depot[48];",
            "\t.param .b32 retval0;",
            "table: .branchtargets a, b, c;",
            "proto: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b8 _[4]);",
            "\tret;",
        ] {
            assert_eq!(statement(text), text);
        }
    }

    #[test]
    fn instructions() {
        for text in [
            "\t@%p1 bra $L;",
            "\t@!%p1 mov.b32 %r1, -3;",
            "\tmov.u64 %rd1, name+8;",
            "\tld.global.v4.u32 {%r1, _, %r2, %r3}, [%rd1+-16];",
            "\tst.param.b32 [param0], 0f3F800000;",
            "\tld.shared.u8 %rs1, [4096+8];",
            "\tsetp.lt.and.f32 %p1|%p2, %f1, 1.5, !%p3;",
            "\tcall.uni (r), f, (p, q);",
            "\tcall %rd1, (p), proto;",
            "\ttex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];",
            "\tmov.f64 %fd1, 0d7FF8000000000001;",
            "\tld.acquire.sys.shared::cta.b32 %r1, [%r2];",
        ] {
            assert_eq!(statement(text), text);
        }
        // Syntax with several forms is printed in one of them.
        for (text, other) in [
            ("add.u32 %r1, 0xFFFFFFFF, 017;", "\tadd.u32 %r1, 4294967295, 15;"),
            ("add.u64 %r1, 0xFFFFFFFFFFFFFFFF, 0x8000000000000000;", "\tadd.u64 %r1, -1, -9223372036854775808;"),
            ("ld.b32 %r1, [%rd1+-4]; ld.b32 %r1, [%rd1+0];", "\tld.b32 %r1, [%rd1+-4];\n\tld.b32 %r1, [%rd1];"),
            ("mov.f32 %f1, -0f3F800000; mov.f32 %f1, 2.0e+1;", "\tmov.f32 %f1, 0fBF800000;\n\tmov.f32 %f1, 20.0;"),
            ("mov.f64 %f1, 1.0e-9;", "\tmov.f64 %f1, 0.000000001;"),
        ] {
            assert_eq!(statement(text), other);
        }
    }
}
