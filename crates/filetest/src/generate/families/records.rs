//! Local arrays of structures, whose members are written and read one by one: adjacent structures belong to different
//! work-items, and members have different widths.
//!
//! As with other local memory, each write is alone between two barriers.

use super::Family::Records;
use crate::generate::Gen;
use crate::generate::expr::Place;
use crate::generate::tree::Stmt;
use crate::generate::types::Ty;

/// Structures whose members take more are too large for so many.
const MAX_BYTES: u32 = 96;

impl Gen {
    /// The declarations of such arrays and their first values, before a barrier.
    pub fn record_arrays(&mut self) -> Vec<Stmt> {
        let mut out = Vec::new();
        for index in 0..self.structs.len().min(2) {
            let bytes = |(_, ty): &(String, Ty)| ty.s.bits() / 8 * u32::from(ty.n);
            if self.structs[index].leaves.iter().map(bytes).sum::<u32>() > MAX_BYTES {
                continue;
            }
            let name = self.name("recs");
            let ty = self.structs[index].name.clone();
            let shape = if self.rng.chance(30) { "[2]" } else { "" };
            out.push(Stmt::Line(format!("local {ty} {name}[{}]{shape};", self.local)));
            let second = if shape.is_empty() { "" } else { "[{1}]" };
            let mut init = Vec::new();
            for part in if shape.is_empty() { &[""][..] } else { &["[0]", "[1]"] } {
                let value = self.struct_value(index);
                init.push(Stmt::Line(format!("{{ {ty} z = {value}; {name}[q]{part} = z; }}")));
            }
            out.push(Stmt::block(format!("for (uint q = lid; q < {}u; q += items) {{", self.local), init));
            self.records.push((index, name, second.into()));
        }
        out
    }

    /// Makes the members readable lvalues, after the first barrier, where all are written.
    pub fn record_places(&mut self) {
        for (index, name, second) in self.records.clone() {
            for (field, ty) in self.structs[index].leaves.clone() {
                let text = format!("{name}[{{{}}}]{second}{field}", self.local - 1);
                self.places.push(Place { text, ty, writable: false, uniform: true, private: false });
            }
        }
    }

    /// The group writes a member, or the whole, of each work-item's structure, and reads a neighbour's.
    pub fn record_group(&mut self, out: &mut Vec<Stmt>) {
        let (index, name, second) = self.rng.pick(&self.records);
        let barrier = || Stmt::line("barrier(CLK_LOCAL_MEM_FENCE);");
        // The address of a write must not depend on concurrent writes.
        let constant = |g: &mut Self, text: &str| {
            let before = std::mem::replace(&mut g.indexing, true);
            let place = Place { text: text.into(), ty: Ty::INT, writable: true, uniform: true, private: false };
            let text = g.text(&place);
            g.indexing = before;
            text
        };
        let second = constant(self, &second);
        let to = self.rng.pick(&["lid", "(items - 1u - lid)", "((lid + 3u) % items)"]);
        let (field, ty) = self.rng.pick(&self.structs[index].leaves.clone());
        let (e, t) = (self.expr(ty, 3), self.name("t"));
        match self.rng.below(4) {
            0 => {
                self.count(Records, "whole structure");
                let value = self.struct_value(index);
                let s = self.structs[index].name.clone();
                out.push(Stmt::Line(format!("{s} {t} = {value};")));
                out.push(barrier());
                out.push(Stmt::Line(format!("{name}[{to}]{second} = {t};")));
                out.push(barrier());
            }
            1 => {
                self.count(Records, "through a pointer");
                let (written, p) = (constant(self, &field), self.name("lp"));
                let (s, k) = (self.structs[index].name.clone(), 1 + self.rng.below(5));
                out.push(Stmt::Line(format!("{} {t} = {e};", ty.name())));
                out.push(Stmt::Line(format!("local {s} *{p} = &{name}[{to}]{second};")));
                out.push(barrier());
                out.push(Stmt::Line(format!("(*{p}){written} = {t};")));
                out.push(barrier());
                out.push(Stmt::Line(format!("{p} = &{name}[(lid + {k}u) % items]{second};")));
                let text = format!("(*{p}){field}");
                let place = Place { text, ty, writable: false, uniform: false, private: false };
                out.push(self.observe(&place));
            }
            _ => {
                self.count(Records, "member");
                let written = constant(self, &field);
                out.push(Stmt::Line(format!("{} {t} = {e};", ty.name())));
                out.push(barrier());
                out.push(Stmt::Line(format!("{name}[{to}]{second}{written} = {t};")));
                out.push(barrier());
                let k = self.rng.below(8);
                let text = format!("{name}[(lid + {k}u) % items]{second}{field}");
                let place = Place { text, ty, writable: false, uniform: false, private: false };
                out.push(self.observe(&place));
            }
        }
    }
}
