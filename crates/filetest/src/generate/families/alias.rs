//! Aliasing pointers: one buffer as two arguments (`cols` and `again`, `in` and `twin`), pointers of a function whose
//! ranges overlap, and pointers that the program promises to keep apart (`restrict`).
//!
//! A work-item accesses only its own elements, through either argument, so that results do not depend on the order of
//! work-items.

use super::Family::Alias;
use crate::generate::Gen;
use crate::generate::expr::Place;
use crate::generate::stmt::At;
use crate::generate::tree::Stmt;
use crate::generate::types::{Scalar, Ty};

/// Functions of such programs.
pub const PRELUDE: [&str; 4] = [
    "void blend(global uint *restrict a, const global uint *restrict b, uint n) { \
     for (uint q = 0; q < n; q++) a[q] = a[q] * 5u + b[n - 1u - q]; }",
    "void shift(global uint *a, const global uint *b, uint n) { for (uint q = 0; q < n; q++) a[q] = b[q] * 3u + q; }",
    "uint both(global uint *a, global uint *b, uint v) { *a = v; *b += 7u; return *a ^ *b * 3u; }",
    "void mixed(uint *restrict a, uint *restrict b) { for (int q = 0; q < 3; q++) { *a += *b; *b = *a * 5u + 1u; } }",
];

impl Gen {
    /// Lvalues of the second view of `cols` and `in`.
    pub fn alias_places(&mut self) {
        for (text, ty) in [
            ("again[gid]", Ty::UINT),
            ("((global ushort *)(again + 3u * total))[gid]", Ty::new(Scalar::UShort, 1)),
            ("((global ulong *)(again + 4u * total))[gid]", Ty::new(Scalar::ULong, 1)),
        ] {
            self.count(Alias, "cols through another argument");
            self.places.push(Place { text: text.into(), ty, writable: true, uniform: false, private: false });
        }
        self.count(Alias, "in through another argument");
        let text = "twin[{63}]".into();
        self.places.push(Place { text, ty: Ty::UINT, writable: false, uniform: true, private: false });
    }

    /// Stores through one pointer and loads through the other.
    pub fn alias_statement(&mut self, at: At, out: &mut Vec<Stmt>) {
        let (e, i) = (self.expr(Ty::UINT, 2), self.expr(Ty::UINT, 1));
        let k = self.rng.below(8);
        let line = match self.rng.below(if at.kernel { 6 } else { 1 }) {
            0 => {
                self.count(Alias, "restrict, private");
                let (a, b) = (self.name("v"), self.name("v"));
                out.push(Stmt::Line(format!("uint {a} = {e}, {b} = {i};")));
                out.push(Stmt::Line(format!("mixed(&{a}, &{b});")));
                for text in [a, b] {
                    self.places.push(Place { text, ty: Ty::UINT, writable: true, uniform: false, private: true });
                }
                return;
            }
            1 => {
                self.count(Alias, "restrict, global");
                // Seven words at most from either pointer: the ranges do not meet, as `restrict` promises.
                format!("blend(out + base, out + base + 8, {i} & 7u);")
            }
            2 => {
                self.count(Alias, "overlapping ranges");
                // The ranges may overlap, and end within the 16 words of the work-item.
                let (a, b) = if self.rng.chance(50) { (k, self.rng.below(8)) } else { (0, 1) };
                format!("shift(out + base + {a}, out + base + {b}, {i} & 7u);")
            }
            3 => {
                self.count(Alias, "maybe one word");
                format!("h += both(out + base + ({i} & 3u), out + base + {}, {e});", k % 4)
            }
            4 => {
                self.count(Alias, "one word through two arguments");
                format!("h += both(cols + gid, again + gid, {e}) + both(again + gid, cols + gid, {i});")
            }
            _ => {
                self.count(Alias, "one word through two arguments in a loop");
                let q = self.name("q");
                let body = vec![
                    Stmt::Line(format!("cols[gid] += {q} ^ {e};")),
                    Stmt::line("again[gid] = again[gid] * 3u + cols[gid];"),
                    Stmt::line("h += cols[gid];"),
                ];
                return out.push(Stmt::block(format!("for (uint {q} = 0; {q} < ({i} & 7u); {q}++) {{"), body));
            }
        };
        out.push(Stmt::Line(line));
    }
}
