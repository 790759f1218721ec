//! Programs of two files, which are compiled apart and linked: functions that the other file calls, in both directions,
//! a table that the other file reads (constants of other programs cannot be referred to), a barrier in the other file,
//! and functions of one name that each file keeps to itself.
//!
//! The second file begins after the line [`SECOND`]. A text without that line, or one whose parts are put together, is
//! a program of one file; functions of one name, which cannot be in one file, are in no portable program.

use super::Family::{self, Link};
use crate::generate::expr::Place;
use crate::generate::stmt::At;
use crate::generate::tree::Stmt;
use crate::generate::types::Ty;
use crate::generate::{Gen, Helper, Profile};

/// The line between two files.
pub const SECOND: &str = "// ---- second file ----";

/// The files of a program.
pub fn files(text: &str) -> Vec<&str> {
    text.split(SECOND).collect()
}

/// The declarations of each file for the other's functions.
const OF_SECOND: [&str; 3] = [
    "uint far_gather(local uint *l, uint v, uint k);",
    "void far_store(global uint *p, uint v);",
    "uint far_entry(uint i);",
];
const OF_FIRST: [&str; 4] = [
    "float __attribute__((overloadable)) num(float x);",
    "double __attribute__((overloadable)) num(double x);",
    "int swap_in(int *p, int x);",
    "void add_to(global uint *o, uint v);",
];
const BODIES: [&str; 4] = [
    "constant uint far_table[4] = { 7u, 0x80000001u, 3u, 0xffffffffu };",
    "uint far_entry(uint i) { return far_table[i & 3u]; }",
    "uint far_gather(local uint *l, uint v, uint k) { uint items = get_local_size(0) * get_local_size(1) * get_local_size(2); \
     uint i = get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2)); \
     barrier(CLK_LOCAL_MEM_FENCE); l[i] = v ^ far_table[k & 3u]; barrier(CLK_LOCAL_MEM_FENCE); return l[(i + k) % items]; }",
    "void far_store(global uint *p, uint v) { int x = (int)v; add_to(p, (uint)swap_in(&x, 5) ^ far_table[v & 3u]); }",
];

impl Gen {
    /// What the first file declares. The second one's text is kept for the end of the program.
    pub fn far_functions(&mut self, tree: &mut Vec<Stmt>) {
        tree.extend(OF_SECOND.map(Stmt::line));
        // The second file does not see the constants that the first one has declared.
        let places = std::mem::take(&mut self.places);
        // Other families have functions that the second file does not know.
        let families = self.families;
        self.families = families.iter().filter(|&f| f == Family::Math).collect();
        let mut far = vec![Stmt::line(SECOND)];
        if self.profile == Profile::Portable {
            far.push(Stmt::line("#pragma OPENCL FP_CONTRACT OFF"));
        }
        far.extend(OF_FIRST.map(Stmt::line));
        if self.profile == Profile::Total {
            self.count(Link, "functions of one name");
            tree.push(Stmt::line("static uint hidden(uint x) { return x * 3u; }"));
            far.push(Stmt::line("static uint hidden(uint x) { return x ^ 0x55u; }"));
        }
        far.extend(BODIES.map(Stmt::line));
        for i in 0..1 + self.rng.below(2) {
            let (ret, params) = (self.any_type(), [self.any_type(), self.any_type()]);
            let list = format!("{} x0, {} x1", params[0].name(), params[1].name());
            for (p, &ty) in params.iter().enumerate() {
                self.places.push(Place { text: format!("x{p}"), ty, writable: true, uniform: false, private: true });
            }
            let table = "far_table[{3}]".into();
            self.places.push(Place { text: table, ty: Ty::UINT, writable: false, uniform: true, private: false });
            if self.profile == Profile::Total {
                let text = "hidden(far_table[{3}])".into();
                self.places.push(Place { text, ty: Ty::UINT, writable: false, uniform: true, private: false });
            }
            self.budget = 4;
            self.trips = 8;
            let at = At { uniform: false, in_loop: false, in_switch: false, returns: Some(Some(ret)), kernel: false };
            let mut body = self.body(at, 3);
            self.trips = 1;
            let e = self.expr(ret, 2);
            body.push(Stmt::Line(format!("return {e};")));
            // The parameters of one function are unknown in the next.
            self.places.clear();
            let head = format!("{} far{i}({list})", ret.name());
            tree.push(Stmt::Line(format!("{head};")));
            far.push(Stmt::block(format!("{head} {{"), body));
            self.far.push(Helper { name: format!("far{i}"), params: params.into(), ret });
        }
        self.places = places;
        self.families = families;
        self.helpers.extend(self.far.clone());
        self.second = far;
    }

    /// Uses of the other file's functions and table.
    pub fn far_statement(&mut self, at: At, out: &mut Vec<Stmt>) {
        let (e, i) = (self.expr(Ty::UINT, 2), self.expr(Ty::UINT, 1));
        if at.uniform && self.rng.chance(40) {
            self.count(Link, "barrier in the other file");
            let array = self.rng.pick(&["tile", "dyn"]);
            return out.push(Stmt::Line(format!("h += far_gather({array}, {e}, {i} & 7u);")));
        }
        out.push(Stmt::Line(match self.rng.below(3) {
            0 => {
                self.count(Link, "call of the other file");
                format!("far_store(out + base, {e});")
            }
            1 => {
                self.count(Link, "table of the other file");
                format!("h = h * 31u + far_entry({i});")
            }
            _ => {
                self.count(Link, "value from the other file");
                let ty = Ty::UINT;
                let far = self.rng.pick(&self.far);
                let args: Vec<String> = far.params.iter().map(|&p| self.expr(p, 2)).collect();
                let part = if far.ret.n > 1 { ".x" } else { "" };
                let call = format!("{}({}){part}", far.name, args.join(", "));
                format!("h = h * 31u + {};", self.convert(&call, far.ret.scalar(), ty))
            }
        }));
    }
}
