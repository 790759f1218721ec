//! What compilers on Clang take beyond the specification, and what few kernels use: subscripts of vectors, halves of
//! vectors of three components, alignments and packing of types and variables, checked arithmetic.

use super::Family::Dialect;
use crate::generate::Gen;
use crate::generate::expr::Place;
use crate::generate::tree::Stmt;
use crate::generate::types::{Scalar, Ty};

impl Gen {
    /// A block of statements with variables of its own.
    pub fn dialect_statement(&mut self, out: &mut Vec<Stmt>) {
        match self.rng.below(5) {
            0 | 1 => self.subscripts(out),
            2 => self.halves_of_three(out),
            3 => self.aligned(out),
            _ => self.checked(out),
        }
    }

    fn vector_type(&mut self) -> Ty {
        let n = self.rng.pick(&[2, 3, 4, 4, 8, 16]);
        Ty::new(self.any_scalar(), n)
    }

    /// An index into a vector.
    fn component(&mut self, n: u8) -> String {
        if self.rng.chance(30) {
            return self.rng.below(n.into()).to_string();
        }
        let e = self.expr(Ty::UINT, 1);
        format!("({e} % {n}u)")
    }

    fn observed(&mut self, text: String, ty: Ty, out: &mut Vec<Stmt>) {
        let place = Place { text, ty, writable: false, uniform: false, private: false };
        out.push(self.observe(&place));
    }

    /// `v[i] = x`, `v[i] ^= x`, `v[i]`, of variables, values, and components in another order.
    fn subscripts(&mut self, out: &mut Vec<Stmt>) {
        let (ty, v) = (self.vector_type(), self.name("v"));
        let value = self.expr(ty, 2);
        out.push(Stmt::Line(format!("{} {v} = {value};", ty.name())));
        for _ in 0..1 + self.rng.below(3) {
            let i = self.component(ty.n);
            let e = self.expr(ty.scalar(), 1);
            let op = if ty.s.is_float() || self.rng.chance(60) { "=" } else { "^=" };
            self.count(Dialect, if op == "=" { "subscript written" } else { "subscript updated" });
            out.push(Stmt::Line(format!("{v}[{i}] {op} {e};")));
        }
        let i = self.component(ty.n);
        if self.rng.chance(30) {
            self.count(Dialect, "subscript of a swizzle");
            let order: String = (0..2).map(|_| char::from(b"xy"[self.rng.below(2) as usize])).collect();
            let i = self.component(2);
            self.observed(format!("{v}.{order}[{i}]"), ty.scalar(), out);
        } else if self.rng.chance(30) {
            self.count(Dialect, "subscript of a value");
            let e = self.expr(ty, 1);
            self.observed(format!("({e})[{i}]"), ty.scalar(), out);
        } else {
            self.count(Dialect, "subscript read");
            self.observed(format!("{v}[{i}]"), ty.scalar(), out);
        }
        self.observed(v, ty, out);
    }

    /// `.hi` and `.odd` of three components: the second component does not exist.
    fn halves_of_three(&mut self, out: &mut Vec<Stmt>) {
        let (ty, v) = (Ty::new(self.any_scalar(), 3), self.name("v"));
        let value = self.expr(ty, 2);
        let part = self.rng.pick(&["hi", "odd", "lo", "even"]);
        let half = self.expr(Ty::new(ty.s, 2), 1);
        self.count(Dialect, part);
        out.push(Stmt::Line(format!("{} {v} = {value};", ty.name())));
        out.push(Stmt::Line(format!("{v}.{part} = {half};")));
        let first = self.rng.pick(&["hi", "odd"]);
        self.observed(format!("{v}.{first}.x"), ty.scalar(), out);
        self.observed(v, ty, out);
    }

    /// Alignments and packing: of a type, of a variable, of members; the addresses and sizes are observed too.
    fn aligned(&mut self, out: &mut Vec<Stmt>) {
        let (ty, name) = (self.vector_type(), self.name("a"));
        let value = self.expr(ty, 1);
        let to = 16u32 << self.rng.below(4);
        match self.rng.below(3) {
            0 => {
                self.count(Dialect, "aligned variable");
                let ty_name = ty.name();
                out.push(Stmt::Line(format!("{ty_name} {name} __attribute__((aligned({to}))) = {value};")));
                let i = self.component(2);
                let array = format!("{name}s");
                let init = self.expr(ty, 1);
                out.push(Stmt::Line(format!("{ty_name} {array}[2] __attribute__((aligned({to})));")));
                out.push(Stmt::Line(format!("{array}[0] = {init}; {array}[1] = {name};")));
                self.observed(
                    // Only the bits that the alignment makes zero: the addresses themselves differ from rung to rung.
                    format!("(((ulong)&{name} | (ulong){array}) & {}u)", to - 1),
                    Ty::new(Scalar::ULong, 1),
                    out,
                );
                self.observed(format!("{array}[{i}]"), ty, out);
            }
            1 => {
                self.count(Dialect, "packed structure");
                let packing = self.rng.pick(&["packed", "packed, aligned(2)", "packed, aligned(4)"]);
                let t = format!("t{name}");
                let member = ty.name();
                out.push(Stmt::Line(format!(
                    "typedef struct __attribute__(({packing})) {{ char c; {member} v; short s; }} {t};"
                )));
                out.push(Stmt::Line(format!("{t} {name}[2]; {name}[1].c = 1; {name}[1].s = 2;")));
                out.push(Stmt::Line(format!("{name}[1].v = {value}; {name}[0] = {name}[1];")));
                let i = self.component(2);
                self.observed(format!("{name}[{i}].v"), ty, out);
                self.observed(format!("sizeof({t})"), Ty::new(Scalar::ULong, 1), out);
            }
            _ => {
                self.count(Dialect, "aligned type");
                let t = format!("t{name}");
                // More or less than the alignment of its own.
                let to = self.rng.pick(&[1u32, 2, 4, to]);
                out.push(Stmt::Line(format!("typedef {} {t} __attribute__((aligned({to})));", ty.name())));
                out.push(Stmt::Line(format!("struct {{ char c; {t} v; }} {name}; {name}.v = {value}; {name}.c = 3;")));
                self.observed(format!("{name}.v"), ty, out);
                self.observed(format!("(sizeof({name}) + {name}.c)"), Ty::new(Scalar::ULong, 1), out);
            }
        }
    }

    /// `__builtin_add_overflow` and its like.
    fn checked(&mut self, out: &mut Vec<Stmt>) {
        let scalar = self.rng.pick(&[Scalar::Int, Scalar::UInt, Scalar::Long, Scalar::ULong, Scalar::Short]);
        let (ty, r) = (Ty::new(scalar, 1), self.name("r"));
        let (a, b) = (self.expr(ty, 1), self.expr(ty, 1));
        let f = self.rng.pick(&["add", "sub", "mul"]);
        self.count(Dialect, f);
        let flag = format!("f{r}");
        out.push(Stmt::Line(format!("{} {r} = 0;", ty.name())));
        out.push(Stmt::Line(format!("uint {flag} = __builtin_{f}_overflow({a}, {b}, &{r});")));
        self.observed(flag, Ty::UINT, out);
        self.observed(r, ty, out);
    }
}
