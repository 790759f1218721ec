//! Statements of the whole group: barriers in straight code, in uniform branches, loops and functions, with local
//! memory and atomics between them. Reads of the local arrays may be anywhere: each write is alone between two
//! barriers, and its value and address are computed before the first.

use super::expr::Place;
use super::stmt::At;
use super::tree::Stmt;
use super::types::Ty;
use super::{Family, Gen, Profile, exchange};

/// Elements of each local array, and work-items of a group, at most. Programs whose groups are small have 32.
pub const LOCAL: u64 = 128;

impl Gen {
    fn barrier(&mut self) -> Stmt {
        let fence = self.rng.pick(&[
            "CLK_LOCAL_MEM_FENCE",
            "CLK_LOCAL_MEM_FENCE",
            "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE",
            "CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE",
        ]);
        Stmt::Line(format!("barrier({fence});"))
    }

    /// The declarations of the local arrays, and their first values.
    pub fn local_arrays(&mut self) -> Vec<Stmt> {
        let local = self.local;
        let mut out = vec![Stmt::line(format!("local uint tile[{local}];")), Stmt::line("local uint sums[8];")];
        out.push(Stmt::line(format!("local S0 records[{local}];")));
        if self.has(Family::Atomics) {
            out.extend(self.atomic_locals());
        }
        if self.has(Family::Subgroups) {
            out.extend(exchange::LOCALS.map(Stmt::line));
        }
        if self.has(Family::Records) {
            out.extend(self.record_arrays());
        }
        let mut list = vec![("tile".to_owned(), Ty::UINT), ("dyn".to_owned(), Ty::UINT)];
        for _ in 0..self.rng.below(3) {
            let (name, ty) = (self.name("l"), self.any_type());
            out.push(Stmt::Line(format!("local {} {name}[{local}];", ty.name())));
            list.push((name, ty));
        }
        let init =
            list.iter().map(|(name, ty)| Stmt::Line(format!("{name}[q] = ({})(q * 3u + 1u);", ty.name()))).collect();
        out.push(Stmt::block(format!("for (uint q = lid; q < {local}u; q += items) {{"), init));
        out.push(Stmt::line("barrier(CLK_LOCAL_MEM_FENCE);"));
        for (name, ty) in list {
            let text = format!("{name}[{{{}}}]", local - 1);
            self.places.push(Place { text, ty, writable: false, uniform: true, private: false });
            self.locals.push((name, ty));
        }
        self.record_places();
        out
    }

    /// One statement of the whole group.
    pub fn group_statement(&mut self, at: At, out: &mut Vec<Stmt>) {
        match self.rng.below(15) {
            14 if self.profile == Profile::Total => self.subgroups(out),
            0..=4 => self.exchange(out),
            5 | 6 => self.counters(at, out),
            7 | 8 => {
                let (v, k) = (self.expr(Ty::UINT, 2), self.expr(Ty::UINT, 1));
                let k = if self.rng.chance(50) { format!("{k} & 7u") } else { self.rng.below(8).to_string() };
                let array = self.rng.pick(&["tile", "dyn"]);
                out.push(Stmt::Line(format!("h += gather({array}, {v}, {k});")));
            }
            9 => {
                let e = self.as_same(true, |g| g.expr(Ty::UINT, 1));
                let array = self.rng.pick(&["tile", "dyn"]);
                let (name, x) = (self.name("e"), self.name("x"));
                let barrier = self.barrier();
                let copy = format!("event_t {name} = async_work_group_copy({array}, in + {x}, {}, 0);", self.local);
                let inner = vec![
                    Stmt::Line(format!("uint {x} = {e} & 31u;")),
                    barrier,
                    Stmt::Line(copy),
                    Stmt::Line(format!("wait_group_events(1, &{name});")),
                    self.barrier(),
                ];
                out.push(Stmt::block("{", inner));
            }
            10 | 11 => self.exchange_records(out),
            12 => {
                let barrier = self.barrier();
                out.push(barrier);
            }
            // One work-item writes what all read.
            _ => {
                let (array, ty) = self.rng.pick(&self.locals);
                let e = self.expr(ty, 2);
                let i = self.as_same(true, |g| g.expr(Ty::UINT, 1));
                let one = self.as_same(true, |g| g.expr(Ty::UINT, 1));
                // Index and writer are the same for the whole group: one work-item alone writes one element.
                let (t, x, w) = (self.name("t"), self.name("x"), self.name("w"));
                let inner = vec![
                    Stmt::Line(format!("{} {t} = {e};", ty.name())),
                    Stmt::Line(format!("uint {x} = {i} % {}u, {w} = {one} % items;", self.local)),
                    self.barrier(),
                    Stmt::Line(format!("if (lid == {w}) {array}[{x}] = {t};")),
                    self.barrier(),
                ];
                out.push(Stmt::block("{", inner));
            }
        }
    }

    /// Each work-item writes its element; after the barrier all may be read.
    fn exchange(&mut self, out: &mut Vec<Stmt>) {
        let (array, ty) = self.rng.pick(&self.locals);
        let e = self.expr(ty, 3);
        let t = self.name("t");
        // Each of these is a permutation of the ids, so that no two work-items write to one element.
        let turned = match self.rng.below(5) {
            // Indices of few bits, which hold every number of a work-item all the same.
            3 => self.rng.pick(&["(uchar)lid", "(char)lid", "(lid << 25 >> 25)"]).to_owned(),
            0 => "(items - 1u - lid)".to_owned(),
            1 => format!("((lid + {}u) % items)", self.rng.below(7)),
            _ => "lid".to_owned(),
        };
        out.push(Stmt::Line(format!("{} {t} = {e};", ty.name())));
        let barrier = self.barrier();
        out.push(barrier);
        out.push(Stmt::Line(format!("{array}[{turned}] = {t};")));
        let barrier = self.barrier();
        out.push(barrier);
        self.places.push(Place { text: t, ty, writable: true, uniform: false, private: true });
    }

    /// Results of sub-groups, combined for the group so that they do not depend on the size of sub-groups.
    fn subgroups(&mut self, out: &mut Vec<Stmt>) {
        self.subgroups = true;
        let (e, u, i) = (self.expr(Ty::UINT, 2), self.as_same(true, |g| g.expr(Ty::UINT, 1)), self.expr(Ty::UINT, 1));
        let x = self.name("x");
        let inner = match self.rng.below(8) {
            0 => format!("h += sub_group_scan_inclusive_add({x}) - sub_group_scan_exclusive_add({x});"),
            1 => format!(
                "h += sub_group_broadcast({u}, 0) + (uint)(sub_group_any((int){x}) >= sub_group_all((int){x}));"
            ),
            2 => format!("h += max(sub_group_scan_inclusive_max({x}), {x}) == sub_group_scan_inclusive_max({x});"),
            3 => format!("h += sub_group_all((int)({u} & 1u)) != 0;"),
            n => {
                let (of, op, first) = [
                    (format!("sub_group_reduce_add({x})"), "atomic_add", "0u"),
                    (format!("sub_group_reduce_max({x})"), "atomic_max", "0u"),
                    (format!("sub_group_reduce_min({x})"), "atomic_min", "0xffffffffu"),
                    (format!("(uint)(sub_group_any((int)({x} & 4u)) != 0)"), "atomic_or", "0u"),
                ][n as usize - 4]
                    .clone();
                let s = self.name("s");
                let lines = vec![
                    Stmt::Line(format!("uint {x} = {e}, {s};")),
                    self.barrier(),
                    Stmt::Line(format!("if (lid == 0u) sums[0] = {first};")),
                    self.barrier(),
                    Stmt::Line(format!("{s} = {of};")),
                    Stmt::Line(format!("if (get_sub_group_local_id() == 0u) {op}(&sums[0], {s});")),
                    self.barrier(),
                    Stmt::Line(format!("h = h * 31u + sums[0] + tile[{i} & 31u];")),
                ];
                return out.push(Stmt::block("{", lines));
            }
        };
        out.push(Stmt::block("{", vec![Stmt::Line(format!("uint {x} = {e};")), Stmt::Line(inner)]));
    }

    /// Atomic operations of one kind on local counters, under any control flow, and then reads of them.
    fn counters(&mut self, at: At, out: &mut Vec<Stmt>) {
        let (op, first) = self.rng.pick(&[
            ("atomic_add", "0u"),
            ("atomic_xor", "5u"),
            ("atomic_max", "7u"),
            ("atomic_min", "0xffffu"),
            ("atomic_or", "0u"),
            ("atomic_sub", "q"),
        ]);
        let barrier = self.barrier();
        out.push(barrier);
        let set = vec![Stmt::Line(format!("sums[q] = {first};"))];
        out.push(Stmt::block("for (uint q = lid; q < 8u; q += items) {", set));
        let barrier = self.barrier();
        out.push(barrier);
        let mut body = Vec::new();
        for _ in 0..1 + self.rng.below(2) {
            let (i, e, c) = (self.expr(Ty::UINT, 1), self.expr(Ty::UINT, 2), self.condition(2));
            let line = match (op, self.rng.below(4)) {
                ("atomic_add", 0) => format!("atomic_inc(&sums[{i} & 7u]);"),
                ("atomic_sub", 0) => format!("atomic_dec(&sums[{i} & 7u]);"),
                _ => format!("{op}(&sums[{i} & 7u], {e});"),
            };
            body.push(Stmt::block(format!("if ({c}) {{"), vec![Stmt::Line(line)]));
        }
        // Not uniform: a statement of the whole group in here would have barriers, and could set the counters between
        // the operations on them.
        let inner = At { uniform: false, in_loop: false, in_switch: false, returns: None, ..at };
        body.extend(self.body(inner, 1));
        out.push(Stmt::block("{", body));
        let barrier = self.barrier();
        out.push(barrier);
        let i = self.expr(Ty::UINT, 1);
        out.push(Stmt::Line(format!("h += sums[{i} & 7u] + sums[{}];", self.rng.below(8))));
    }
}
