//! Atomic operations beyond those on 32 bits: of 64 bits, of C11 with orders and scopes, flags, and floats by compare
//! and exchange.
//!
//! Each counter has one kind of operation, which commutes, and no result of an operation is used, so that the order of
//! work-items does not matter. A work-item stores, loads and exchanges only in its own element.

use super::Family::Atomics;
use crate::generate::expr::Place;
use crate::generate::group::LOCAL;
use crate::generate::stmt::At;
use crate::generate::tree::Stmt;
use crate::generate::types::Ty;
use crate::generate::{Gen, Profile, Scalar};

/// Functions that programs with atomics have.
pub const PRELUDE: [&str; 4] = [
    "void cas_add_float(volatile global uint *p, float v) { uint o = atomic_or(p, 0u); \
     for (;;) { uint r = atomic_cmpxchg(p, o, as_uint(as_float(o) + v)); if (r == o) break; o = r; } }",
    "void cas_max_float(volatile local uint *p, float v) { uint o = atomic_or(p, 0u); \
     while (as_float(o) < v) { uint r = atomic_cmpxchg(p, o, as_uint(v)); if (r == o) break; o = r; } }",
    "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable",
    "void cas_add_double(volatile global ulong *p, double v) { ulong o = atom_or(p, 0ul); \
     for (;;) { ulong r = atom_cmpxchg(p, o, as_ulong(as_double(o) + v)); if (r == o) break; o = r; } }",
];

/// What programs with C11 atomics have.
pub const PRELUDE_C11: [&str; 2] = [
    "void weak_add(volatile global atomic_uint *p, uint v) { \
     uint o = atomic_load_explicit(p, memory_order_relaxed, memory_scope_device); \
     while (!atomic_compare_exchange_weak_explicit(p, &o, o + v, memory_order_acq_rel, memory_order_relaxed, \
     memory_scope_device)) { } }",
    "void strong_mul(volatile local atomic_uint *p, uint v) { \
     uint o = atomic_load_explicit(p, memory_order_acquire, memory_scope_work_group); \
     while (!atomic_compare_exchange_strong_explicit(p, &o, o * (v | 1u), memory_order_seq_cst, memory_order_acquire, \
     memory_scope_work_group)) { } }",
];

/// Orders of operations that read and write.
const ORDERS: [&str; 5] = [
    "memory_order_relaxed",
    "memory_order_acquire",
    "memory_order_release",
    "memory_order_acq_rel",
    "memory_order_seq_cst",
];

/// An operation on the counters in `wide`, and which counters those are: the first, and how many less one.
const WIDE: [(&str, u64, u64); 9] = [
    ("atom_add", 0, 3),
    ("atom_sub", 0, 3),
    ("atom_inc", 0, 3),
    ("atom_xor", 4, 1),
    ("atom_or", 6, 0),
    ("atom_and", 7, 0),
    ("atom_max", 8, 1),
    ("atom_min", 10, 1),
    ("atom_max signed", 12, 1),
];

impl Gen {
    /// The local variables of such programs.
    pub fn atomic_locals(&mut self) -> Vec<Stmt> {
        let mut out = vec![Stmt::line("local ulong wsums[4];"), Stmt::line("local uint peak;")];
        if self.c11 {
            out.push(Stmt::line("local atomic_uint product;"));
            out.push(Stmt::line("local atomic_flag flag;"));
            out.push(Stmt::Line(format!("local atomic_uint own[{LOCAL}];")));
            out.push(Stmt::line("atomic_init(&own[lid], lid);"));
        }
        out
    }

    /// An operation whose result is not read before the kernel ends.
    pub fn atomic_statement(&mut self, out: &mut Vec<Stmt>) {
        if self.c11 && self.rng.chance(60) {
            return self.c11_statement(out);
        }
        match self.rng.below(6) {
            0 => {
                self.count(Atomics, "float add by cmpxchg");
                let e = self.expr(Ty::UINT, 2);
                // Sums of small whole numbers are exact in any order.
                out.push(Stmt::Line(format!("cas_add_float((volatile global uint *)&wide[15], (float)({e} & 255u));")));
            }
            1 => {
                self.count(Atomics, "double add by cmpxchg");
                let e = self.expr(Ty::new(Scalar::ULong, 1), 2);
                out.push(Stmt::Line(format!("cas_add_double(&wide[14], (double)({e} & 0xffffful));")));
            }
            _ => {
                let (op, first, mask) = self.rng.pick(&WIDE);
                self.count(Atomics, op);
                let e = self.expr(Ty::new(Scalar::ULong, 1), 2);
                let i = self.expr(Ty::UINT, 1);
                let at = format!("&wide[{first}u + ({i} & {mask}u)]");
                out.push(Stmt::Line(match op {
                    "atom_inc" => format!("atom_inc({at});"),
                    "atom_max signed" => format!("atom_max((volatile global long *){at}, (long){e});"),
                    _ => format!("{op}({at}, {e});"),
                }));
            }
        }
    }

    fn c11_statement(&mut self, out: &mut Vec<Stmt>) {
        // clang 15, and so PoCL 3.1, knows no scope of all devices without the optional feature.
        let all = match self.profile {
            Profile::Total => "memory_scope_all_devices",
            Profile::Portable => "memory_scope_device",
        };
        let scope = self.rng.pick(&["memory_scope_device", "memory_scope_device", all]);
        let order = self.rng.pick(&ORDERS);
        let e = self.expr(Ty::UINT, 2);
        let i = self.expr(Ty::UINT, 1);
        // No other work-item touches this element, so that what an exchange gives is known and may be used.
        let own = "(volatile local atomic_uint *)&own[lid]";
        let line = match self.rng.below(7) {
            0 => {
                self.count(Atomics, "compare_exchange_weak");
                format!("weak_add((volatile global atomic_uint *)&counters[{i} & 3u], {e});")
            }
            1 => {
                self.count(Atomics, "store, exchange, load");
                let ty = Ty::UINT;
                let name = self.name("v");
                let (store, load) = self.rng.pick(&[
                    ("memory_order_relaxed", "memory_order_acquire"),
                    ("memory_order_release", "memory_order_relaxed"),
                    ("memory_order_seq_cst", "memory_order_seq_cst"),
                ]);
                let scope = "memory_scope_work_group";
                out.push(Stmt::Line(format!("atomic_store_explicit({own}, {e}, {store}, {scope});")));
                out.push(Stmt::Line(format!("uint {name} = atomic_exchange_explicit({own}, {i}, {order}, {scope});")));
                out.push(Stmt::Line(format!("{name} ^= atomic_load_explicit({own}, {load}, {scope}) * 3u;")));
                self.places.push(Place { text: name, ty, writable: true, uniform: false, private: true });
                return;
            }
            2 => {
                self.count(Atomics, "atomic_work_item_fence");
                let flags = self.rng.pick(&["CLK_GLOBAL_MEM_FENCE", "CLK_LOCAL_MEM_FENCE"]);
                format!("atomic_work_item_fence({flags}, {order}, memory_scope_work_group);")
            }
            3 => {
                self.count(Atomics, "atomic_fetch of 64 bits");
                let (op, first) = self.rng.pick(&[("add", 0u32), ("sub", 1), ("xor", 4), ("or", 6), ("max", 8)]);
                let at = format!("(volatile global atomic_ulong *)&wide[{first}]");
                format!("atomic_fetch_{op}_explicit({at}, (ulong){e} << 20, {order}, {scope});")
            }
            n => {
                let (op, base, mask) = self.rng.pick(&[
                    ("add", 0u32, 3u32),
                    ("sub", 0, 3),
                    ("xor", 4, 3),
                    ("or", 8, 3),
                    ("max", 12, 1),
                    ("min", 14, 1),
                ]);
                let at = format!("(volatile global atomic_uint *)&counters[{base}u + ({i} & {mask}u)]");
                if n == 4 {
                    self.count(Atomics, "atomic_fetch");
                    format!("atomic_fetch_{op}({at}, {e});")
                } else {
                    self.count(Atomics, "atomic_fetch_explicit");
                    let scope = if self.rng.chance(70) { format!(", {scope}") } else { String::new() };
                    format!("atomic_fetch_{op}_explicit({at}, {e}, {order}{scope});")
                }
            }
        };
        out.push(Stmt::Line(line));
    }

    /// Counters of the group: all set them, some change them, all read them.
    pub fn atomic_group(&mut self, at: At, out: &mut Vec<Stmt>) {
        let barrier = || Stmt::line("barrier(CLK_LOCAL_MEM_FENCE);");
        let (e, c) = (self.expr(Ty::UINT, 2), self.condition(2));
        let i = self.expr(Ty::UINT, 1);
        let (first, change, read): (String, String, String) = match self.rng.below(if self.c11 { 5 } else { 3 }) {
            0 => {
                self.count(Atomics, "local atom_add");
                let op = self.rng.pick(&["atom_add", "atom_xor", "atom_max", "atom_or"]);
                (
                    "for (uint q = lid; q < 4u; q += items) wsums[q] = q << 30;".into(),
                    format!("{op}(&wsums[{i} & 3u], (ulong){e} << 3);"),
                    "fold(wsums[0]) + fold(wsums[1]) * 3u + fold(wsums[2]) * 5u + fold(wsums[3]) * 7u".into(),
                )
            }
            1 => {
                self.count(Atomics, "local float max by cmpxchg");
                (
                    "if (lid == 0u) peak = as_uint(-1.0f);".into(),
                    format!("cas_max_float(&peak, (float)({e} & 0xffffu));"),
                    "peak".into(),
                )
            }
            2 => {
                self.count(Atomics, "local atom_min signed");
                (
                    "for (uint q = lid; q < 4u; q += items) wsums[q] = 5ul;".into(),
                    format!("atom_min((volatile local long *)&wsums[{i} & 3u], (long)(int){e});"),
                    "fold(wsums[0]) + fold(wsums[1]) * 3u + fold(wsums[2]) * 5u + fold(wsums[3]) * 7u".into(),
                )
            }
            3 => {
                self.count(Atomics, "compare_exchange_strong");
                (
                    "if (lid == 0u) atomic_init(&product, 3u);".into(),
                    format!("strong_mul(&product, {e});"),
                    "atomic_load_explicit(&product, memory_order_relaxed, memory_scope_work_group)".into(),
                )
            }
            _ => {
                self.count(Atomics, "atomic_flag");
                let (order, clear) =
                    (self.rng.pick(&ORDERS), self.rng.pick(&["memory_order_relaxed", "memory_order_release"]));
                // Which work-item is first is unspecified; that exactly one is, if any tries, is checked.
                (
                    format!(
                        "if (lid == 0u) {{ sums[1] = 0u; atomic_flag_clear_explicit(&flag, {clear}, memory_scope_work_group); }}"
                    ),
                    format!(
                        "if (!atomic_flag_test_and_set_explicit(&flag, {order}, memory_scope_work_group)) atomic_inc(&sums[1]);"
                    ),
                    "sums[1]".into(),
                )
            }
        };
        let mut body = vec![Stmt::block(format!("if ({c}) {{"), vec![Stmt::Line(change)])];
        let inner = At { uniform: false, in_loop: false, in_switch: false, returns: None, ..at };
        body.extend(self.body(inner, 1));
        out.extend([barrier(), Stmt::Line(first), barrier(), Stmt::block("{", body), barrier()]);
        out.push(Stmt::Line(format!("h = h * 31u + {read};")));
    }
}
