//! Memory through pointers: traversals of arrays, accesses as other types, pointers into every address space, records
//! exchanged through local memory.

use super::Gen;
use super::expr::Place;
use super::stmt::At;
use super::tree::Stmt;
use super::types::{Scalar, Ty};

impl Gen {
    /// A statement that touches memory in an unusual way.
    pub fn memory(&mut self, at: At, out: &mut Vec<Stmt>) {
        match self.rng.below(if at.kernel { 10 } else { 3 }) {
            0 => self.walk(out),
            1 => self.bytes(at, out),
            2 => self.through_helper(at, out),
            3 => self.global_pointer(out),
            4 => {
                let (c, i) = (self.condition(1), self.expr(Ty::UINT, 1));
                let name = self.name("lp");
                out.push(Stmt::Line(format!("local uint *{name} = {c} ? tile : dyn;")));
                out.push(Stmt::Line(format!("h = h * 31u + {name}[{i} & 31u];")));
            }
            5 | 6 => {
                // Words of `out` are written as something else.
                let s = self.rng.pick(&[Scalar::Char, Scalar::UShort, Scalar::Short, Scalar::Int, Scalar::Long]);
                let n = self.rng.pick(&[2u8, 3, 4, 8]);
                let (v, i) = (self.expr(Ty::new(s, n), 2), self.expr(Ty::UINT, 1));
                // At most 64 bytes belong to the work-item.
                let most = 64 / (u32::from(n) * s.bits() / 8) - 1;
                out.push(Stmt::Line(format!(
                    "vstore{n}({v}, {i} % {}u, (global {} *)(out + base));",
                    most.max(1),
                    s.name()
                )));
            }
            7 => {
                let ty = Ty::new(Scalar::Float, 1);
                let (e, i) = (self.expr(ty, 2), self.expr(Ty::UINT, 1));
                let mode = self.rng.pick(&["", "_rte", "_rtz", "_rtp", "_rtn"]);
                out.push(Stmt::Line(format!("vstore_half{mode}(num({e}), {i} & 31u, (global half *)(out + base));")));
            }
            8 => {
                let i = self.expr(Ty::UINT, 1);
                let text = format!("vload_half({i} & 127u, (const global half *)in)");
                let place =
                    Place { text, ty: Ty::new(Scalar::Float, 1), writable: false, uniform: false, private: false };
                out.push(self.observe(&place));
            }
            _ => {
                let i = self.expr(Ty::UINT, 1);
                let name = self.name("w");
                // A structure of the constant address space, read as a whole.
                out.push(Stmt::Line(format!("S0 {name} = k0[{i} & 1u];")));
                self.add_struct(0, &name, true);
            }
        }
    }

    /// A pointer that moves over an array.
    fn walk(&mut self, out: &mut Vec<Stmt>) {
        let ty = self.any_type();
        let (a, p) = (self.name("a"), self.name("p"));
        let t = ty.name();
        let list: Vec<String> = (0..8).map(|_| self.expr(ty, 1)).collect();
        let (i, j) = (self.expr(Ty::INT, 1), self.expr(Ty::INT, 1));
        let (x, y) = (self.expr(ty, 2), self.expr(ty, 2));
        let e = self.expr(ty, 1);
        // The pointer moves by 3 at most, by 1 and by 3 at most: it ends between `a + 1`, for `p[-1]`, and `a + 7`, for
        // `q[1]` of the element before it.
        out.push(Stmt::Line(format!("{t} {a}[8] = {{ {} }};", list.join(", "))));
        out.push(Stmt::Line(format!("{t} *{p} = {a} + ({i} & 3);")));
        out.push(Stmt::Line(format!("*{p}++ = {x};")));
        out.push(Stmt::Line(format!("{p} += {j} & 3; {p}[-1] = {y};")));
        out.push(Stmt::Line(format!("if ({p} - {a} > 3) *--{p} = {e};")));
        out.push(Stmt::Line(format!("for ({t} *q = {a}; q < {p}; ++q) {{ *q = q[1]; }}")));
        self.places.push(Place { text: a + "[{7}]", ty, writable: true, uniform: false, private: true });
    }

    /// The bytes of an integer, one by one.
    fn bytes(&mut self, at: At, out: &mut Vec<Stmt>) {
        let good = |p: &&Place| p.private && p.writable && !p.uniform && !p.ty.s.is_float() && p.ty.n != 3;
        let list: Vec<Place> = self.places.iter().filter(good).cloned().collect();
        if list.is_empty() {
            return;
        }
        let place = self.rng.pick(&list);
        let text = self.text(&place);
        let size = place.ty.s.bits() / 8 * u32::from(place.ty.n);
        let (i, e, p) = (self.expr(Ty::UINT, 1), self.expr(Ty::new(Scalar::UChar, 1), 1), self.name("b"));
        out.push(Stmt::Line(format!("private uchar *{p} = (private uchar *)&{text};")));
        out.push(Stmt::Line(format!("{p}[{i} % {size}u] = {e};")));
        if at.kernel {
            out.push(Stmt::Line(format!("h = h * 31u + {p}[{i} % {size}u];")));
        }
    }

    /// A function that changes what a pointer points to.
    fn through_helper(&mut self, at: At, out: &mut Vec<Stmt>) {
        let good = |p: &&Place| p.private && p.writable && !p.uniform && p.ty == Ty::INT;
        let list: Vec<Place> = self.places.iter().filter(good).cloned().collect();
        if list.is_empty() {
            return;
        }
        let place = self.rng.pick(&list);
        let text = self.text(&place);
        let e = self.expr(Ty::INT, 2);
        out.push(Stmt::Line(match at.kernel {
            true => format!("h += (uint)swap_in(&{text}, {e});"),
            false => format!("swap_in(&{text}, {e});"),
        }));
    }

    /// A pointer into global or constant memory.
    fn global_pointer(&mut self, out: &mut Vec<Stmt>) {
        let (c, i, p) = (self.condition(1), self.expr(Ty::UINT, 1), self.name("gp"));
        let (a, b) = (self.rng.below(48), self.rng.below(48));
        match self.rng.below(3) {
            0 => out.push(Stmt::Line(format!("const global uint *{p} = {c} ? in + {a} : &in[{b}];"))),
            1 => out
                .push(Stmt::Line(format!("constant uint *{p} = (constant uint *)({c} ? table : table + {});", a % 2))),
            _ => out.push(Stmt::Line(format!("global uint *{p} = {c} ? out + base : &out[base + {}];", b % 2))),
        }
        // `in` has hundreds of words behind the pointer; `table` and the work-item's part of `out` have 16 words in
        // all.
        let mask =
            if out.last().is_some_and(|l| matches!(l, Stmt::Line(t) if t.starts_with("const "))) { 15 } else { 7 };
        out.push(Stmt::Line(format!("h = h * 31u + {p}[{i} & {mask}u] + *({p} + 1);")));
    }

    /// Records exchanged through local memory by the whole group.
    pub fn exchange_records(&mut self, out: &mut Vec<Stmt>) {
        let list: Vec<(usize, String)> = self.struct_vars.iter().filter(|v| v.0 == 0).cloned().collect();
        if list.is_empty() {
            return;
        }
        let (_, var) = self.rng.pick(&list);
        let text = Place { text: var, ty: Ty::INT, writable: true, uniform: false, private: false };
        let text = self.text(&text);
        let name = self.name("r");
        let by = self.rng.below(5);
        for line in [
            format!("S0 {name} = {text};"),
            "barrier(CLK_LOCAL_MEM_FENCE);".into(),
            format!("records[lid] = {name};"),
            "barrier(CLK_LOCAL_MEM_FENCE);".into(),
            format!("{name} = records[(lid + {by}u) % items];"),
        ] {
            out.push(Stmt::Line(line));
        }
        self.add_struct(0, &name, true);
    }
}
