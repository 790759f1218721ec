//! Pointers stored in memory: in arrays and structures, reached through other pointers, in lists.

use super::Family::Pointers;
use crate::generate::Gen;
use crate::generate::expr::Place;
use crate::generate::stmt::At;
use crate::generate::tree::Stmt;
use crate::generate::types::{Scalar, Ty};

/// What programs with such pointers have.
pub const PRELUDE: [&str; 3] = [
    "typedef struct Node { uint v; struct Node *next; } Node;",
    "void aim(uint **p, uint *a, uint *b, int c) { uint *old = *p; *p = c ? a : b; *old += 1u; }",
    "uint follow(const Node *n) { uint sum = 0; for (; n; n = n->next) sum = sum * 31u + n->v; return sum; }",
];

impl Gen {
    /// Declares such pointers, and writes through them.
    pub fn pointer_statement(&mut self, at: At, out: &mut Vec<Stmt>) {
        match self.rng.below(if at.kernel { 9 } else { 5 }) {
            0 | 1 => self.pointer_array(out),
            2 => self.pointer_struct(out),
            3 => self.pointer_to_pointer(out),
            4 => self.list(out),
            5 => self.aim(out),
            6 => {
                self.count(Pointers, "array of global pointers");
                let (g, i) = (self.name("g"), self.expr(Ty::UINT, 1));
                // An offset and an index of at most 7 each stay within the 16 words of the work-item.
                let c = self.rng.below(8);
                out.push(Stmt::Line(format!("global uint *{g}[2] = {{ out + base, out + base + {c} }};")));
                if self.rng.chance(50) {
                    out.push(Stmt::Line(format!("{g}[{i} & 1u] += 1;")));
                }
                self.place(format!("{g}[{{1}}][{{7}}]"), Ty::UINT, true);
            }
            7 => {
                self.count(Pointers, "array of local pointers");
                let (l, i) = (self.name("l"), self.expr(Ty::UINT, 1));
                let c = self.rng.below(self.local / 4);
                out.push(Stmt::Line(format!("local uint *{l}[4] = {{ tile, dyn, tile + {c}, dyn + 1 }};")));
                out.push(Stmt::Line(format!("{l}[{i} & 3u] += {i} & 1u;")));
                // The pointers lead at most a quarter into an array, so that half an array is left behind each.
                let mask = self.local / 2 - 1;
                self.place(format!("{l}[{{3}}][{{{mask}}}]"), Ty::UINT, false);
            }
            _ => {
                self.count(Pointers, "structure of pointers into three spaces");
                let (w, i, c) = (self.name("w"), self.expr(Ty::UINT, 1), self.condition(1));
                out.push(Stmt::Line(format!(
                    "struct {{ const global uint *g; uint k; constant int *c; local uint *l; }} {w} = \
                     {{ in + ({i} & 63u), 3u, table + {}, {c} ? tile : dyn }};",
                    self.rng.below(8)
                )));
                out.push(Stmt::Line(format!("{w}.g += {w}.k; {w}.k ^= {i};")));
                self.place(format!("{w}.g[{{63}}]"), Ty::UINT, false);
                self.place(format!("{w}.c[{{7}}]"), Ty::INT, false);
                self.place(format!("{w}.l[{{7}}]"), Ty::UINT, false);
                self.place(format!("{w}.k"), Ty::UINT, true);
            }
        }
    }

    fn place(&mut self, text: String, ty: Ty, writable: bool) {
        self.places.push(Place { text, ty, writable, uniform: false, private: false });
    }

    /// Private variables of one type, at least one, and the type; declared first if there is none.
    fn variables(&mut self, out: &mut Vec<Stmt>) -> (Ty, [String; 3]) {
        let list: Vec<Place> = self.places.iter().filter(|p| p.private && p.writable).cloned().collect();
        let Some(first) = (!list.is_empty() && self.rng.chance(75)).then(|| self.rng.pick(&list)) else {
            let ty = self.any_type();
            let names = [self.name("v"), self.name("v"), self.name("v")];
            for name in &names {
                let e = self.expr(ty, 2);
                out.push(Stmt::Line(format!("{} {name} = {e};", ty.name())));
                let place = Place { text: name.clone(), ty, writable: true, uniform: false, private: true };
                self.places.push(place);
            }
            return (ty, names);
        };
        // Pointers of one list have one type. A place may be in it twice, so that pointers alias.
        let same: Vec<Place> = list.into_iter().filter(|p| p.ty == first.ty).collect();
        let (a, b, c) = (self.text(&first), self.rng.pick(&same), self.rng.pick(&same));
        (first.ty, [a, self.text(&b), self.text(&c)])
    }

    fn pointer_array(&mut self, out: &mut Vec<Stmt>) {
        self.count(Pointers, "array of pointers");
        let (ty, [a, b, c]) = self.variables(out);
        let (p, i, j) = (self.name("pp"), self.expr(Ty::UINT, 1), self.expr(Ty::UINT, 1));
        let e = self.expr(ty, 2);
        out.push(Stmt::Line(format!("{} *{p}[4] = {{ &{a}, &{b}, &{c}, &{a} }};", ty.name())));
        out.push(Stmt::Line(format!("*{p}[{i} & 3u] = {e};")));
        if self.rng.chance(50) {
            out.push(Stmt::Line(format!("{p}[{j} & 3u] = {p}[{i} & 1u];")));
        }
        self.place(format!("(*{p}[{{3}}])"), ty, true);
    }

    fn pointer_struct(&mut self, out: &mut Vec<Stmt>) {
        self.count(Pointers, "structure of pointers");
        let (ty, [a, b, c]) = self.variables(out);
        let (w, x) = (self.name("w"), self.name("w"));
        let (e, condition) = (self.expr(ty, 2), self.condition(2));
        let t = ty.name();
        out.push(Stmt::Line(format!(
            "struct {{ {t} *a; uchar k; {t} *b[2]; }} {w} = {{ &{a}, 1, {{ &{b}, &{c} }} }};"
        )));
        out.push(Stmt::Line(format!("if ({condition}) {w}.a = {w}.b[{w}.k];")));
        out.push(Stmt::Line(format!("*{w}.a = {e};")));
        if self.rng.chance(50) {
            out.push(Stmt::Line(format!("{t} **{x} = {w}.b; {x}[1] = {w}.a;")));
        }
        self.place(format!("(*{w}.a)"), ty, true);
        self.place(format!("(*{w}.b[{{1}}])"), ty, true);
    }

    fn pointer_to_pointer(&mut self, out: &mut Vec<Stmt>) {
        self.count(Pointers, "pointer to pointer");
        let (ty, [a, b, c]) = self.variables(out);
        let (p, q, pp) = (self.name("p"), self.name("p"), self.name("pp"));
        let (e, first, second) = (self.expr(ty, 2), self.condition(2), self.condition(1));
        let t = ty.name();
        out.push(Stmt::Line(format!("{t} *{p} = &{a}, *{q} = &{b}; {t} **{pp} = {first} ? &{p} : &{q};")));
        out.push(Stmt::Line(format!("**{pp} = {e};")));
        out.push(Stmt::block(format!("if ({second}) {{"), vec![Stmt::Line(format!("*{pp} = &{c};"))]));
        self.place(format!("(**{pp})"), ty, true);
        self.place(format!("(*{p})"), ty, true);
    }

    /// A linked list of nodes in an array; links go forward, so that each traversal ends.
    fn list(&mut self, out: &mut Vec<Stmt>) {
        self.count(Pointers, "list");
        let (n, q, first) = (self.name("n"), self.name("q"), self.expr(Ty::UINT, 1));
        let (e, i) = (self.expr(Ty::UINT, 2), self.expr(Ty::UINT, 1));
        out.push(Stmt::Line(format!("Node {n}[5];")));
        let link = format!("{n}[{q}].v = {e} + {q}; {n}[{q}].next = {q} < 3u ? &{n}[{q} + 1u + ({i} & 1u)] : 0;");
        out.push(Stmt::block(format!("for (uint {q} = 0; {q} < 5u; {q}++) {{"), vec![Stmt::Line(link)]));
        let ty = Ty::UINT;
        let sum = self.name("v");
        out.push(Stmt::Line(format!("uint {sum} = follow(&{n}[{first} & 3u]);")));
        self.places.push(Place { text: sum, ty, writable: true, uniform: false, private: true });
        self.place(format!("{n}[{{1}}].next->v"), ty, true);
    }

    fn aim(&mut self, out: &mut Vec<Stmt>) {
        self.count(Pointers, "pointer set by a function");
        let (a, b, p) = (self.name("v"), self.name("v"), self.name("p"));
        let (x, y, c) = (self.expr(Ty::UINT, 2), self.expr(Ty::UINT, 2), self.condition(2));
        out.push(Stmt::Line(format!("uint {a} = {x}, {b} = {y}; uint *{p} = &{a};")));
        out.push(Stmt::Line(format!("aim(&{p}, &{a}, &{b}, {c});")));
        for name in [a, b] {
            self.places.push(Place { text: name, ty: Ty::UINT, writable: true, uniform: false, private: true });
        }
        self.place(format!("(*{p})"), Ty::new(Scalar::UInt, 1), true);
    }
}
