//! Indices that work-items compute from their ids: strides for a vectoriser, and cases that only look like strides.
//! They wrap in few bits, descend, are divided, masked, or-ed and shifted; loads are along rows, in loops, and up to
//! the end of a buffer under a condition.

use super::expr::Place;
use super::families::Family;
use super::tree::Stmt;
use super::types::{Scalar, Ty};
use super::{Gen, IN};

/// The work-items for which an index stays inside `in` without a mask.
const MAX_ITEMS_UNMASKED: u64 = 300;

impl Gen {
    /// Elements adjacent to those of neighbouring work-items: whole vectors are stored there, under any mask.
    pub fn columns(&mut self) {
        let id = self.rng.pick(&["gid", "gid", "(int)gid", "(size_t)gid"]);
        for (text, ty) in [
            ("cols[ID]", Ty::UINT),
            ("((global int *)cols)[2 * (int)total - 1 - (int)gid]", Ty::INT),
            ("((global uchar *)(cols + 2u * total))[ID]", Ty::new(Scalar::UChar, 1)),
            ("((global short *)(cols + 3u * total))[ID]", Ty::new(Scalar::Short, 1)),
            ("((global long *)(cols + 4u * total))[ID]", Ty::new(Scalar::Long, 1)),
            ("((global ushort4 *)(cols + 6u * total))[ID]", Ty::new(Scalar::UShort, 4)),
            ("cols[11u * total + down]", Ty::UINT),
        ] {
            if self.rng.chance(50) {
                let text = text.replace("ID", id);
                self.places.push(Place { text, ty, writable: true, uniform: false, private: false });
            }
        }
        let (text, ty) = ("vload3(gid, cols + 8u * total)".to_owned(), Ty::new(Scalar::UInt, 3));
        self.places.push(Place { text, ty, writable: false, uniform: false, private: false });
    }

    /// An index of a word of `in`.
    fn neighbour(&mut self) -> String {
        let index = self.unbounded_neighbour();
        // Ranges of long loops, and three groups of a required size, may have more work-items than the bounds below are
        // made for.
        let is_wide = self.required.is_some_and(|local| 3 * local.iter().product::<u64>() > MAX_ITEMS_UNMASKED);
        if self.has(Family::Long) || is_wide { format!("({index}) & {}u", IN - 1) } else { index }
    }

    /// An index that stays inside in ranges of up to [`MAX_ITEMS_UNMASKED`] work-items.
    fn unbounded_neighbour(&mut self) -> String {
        let c = self.rng.below(100);
        let k = self.rng.pick(&[1u64, 2, 3, 7, 40, 64, 255]);
        let id = self.rng.pick(&["lid", "gid", "(uint)get_global_id(0)", "(uint)get_local_id(0)"]);
        let id = &self.in_order(id);
        match self.rng.below(42) {
            0 | 1 => format!("{id} + {c}u"),
            2 => format!("{}u - {id}", 300 + c),
            3 => format!("(uchar)({id} * {k}u + {c}u)"),
            4 => format!("(uchar)({id} - {c}u)"),
            5 => format!("(int)(char)({id} * {k}u + {c}u) + 128"),
            6 => format!("({id} * 4u) / 2u"),
            7 => format!("{id} * 2u | 1u"),
            8 => format!("{id} * 2u | 5u"),
            9 => format!("({id} * 5u) & 15u"),
            10 => format!("(uint)((int)({id} << 24) >> 24) + 128u"),
            11 => format!("(ushort)({id} * {}u) >> 6", k * 60),
            12 => format!("({id} + 0xfffffff8u) & {}u", IN - 1),
            13 => format!("(uint)((ulong){id} - {c}u) & {}u", IN - 1),
            14 => format!("min({id}, {c}u)"),
            15 => format!("max({id}, {c}u)"),
            16 => format!("{id} / {}u", self.rng.pick(&[2u8, 3, 8, 16])),
            17 => format!("{id} % {}u", self.rng.pick(&[2u8, 3, 8, 16])),
            18 => format!("{id} >> 3 << 1"),
            19 => format!("(uint)(short)({} - (int){id})", 300 + c),
            20 => format!("({id} - 5u < 3u ? {c}u : {id})"),
            21 => format!("(uint)(float){id}"),
            22 => format!("({id} ^ {}u)", self.rng.pick(&[1u8, 3, 8, 31])),
            23 => format!("~{id} & 127u"),
            24 => format!("({id} * (uint)n) & {}u", IN - 1),
            25 => format!("({id} + (uint)n * {c}u) & {}u", IN - 1),
            26 => format!("(short)({id} * {k}u) & {}", IN - 1),
            27 => format!("(ulong){id} * 4u - {id}"),
            28 => format!("(uint)(ushort)({id} + 65500u) & {}u", IN - 1),
            // Borders and tori.
            29 => format!("({id} + {c}u) % items + ({id} + 1u) % ({c}u + items)"),
            30 => format!("(uint)clamp((int){id} - {}, {}, (int)items + {})", c, c % 7, c % 5),
            31 => format!("(uint)min((int){id} * 2 + {c}, max((int)items, 90 - (int){id}))"),
            32 => format!("(uint)(((int){id} + (int)items - {}) % (int)items)", c % 3),
            33 => format!("max({id}, items / 2u) + min({id} + {c}u, 3u * items) % (uint)n"),
            // Rows and columns of a number.
            34..=39 => self.row_and_column(id),
            _ => id.to_owned(),
        }
    }

    /// An index by quotients and remainders of a number, which are uniform in a vector or not.
    fn row_and_column(&mut self, id: &str) -> String {
        let (c, last) = (self.rng.below(60), IN - 1);
        let width = self.rng.pick(&["16", "20", "32", "64", "items", "(items + 5)", "n", "(n + 30)"]);
        let signed = format!("((int){id} - {})", self.rng.pick(&[0u64, 0, c]));
        let one = self.rng.pick(&["min", "max"]);
        match self.rng.below(8) {
            6 => format!("{one}({id} / (uint){width}, {id} % (uint){width}) & {last}u"),
            7 => format!("(uint){one}({signed} % (int){width}, {signed} / (int){width}) & {last}u"),
            0 => format!("({id} / (uint){width} * {c}u + {id} % (uint){width}) & {last}u"),
            1 => format!("(uint)({signed} / (int){width} * {c} + {signed} % (int){width}) & {last}u"),
            2 => format!("(({id} + {c}u) >> 4) * 9u + ({id} + {c}u & 15u) & {last}u"),
            3 => format!("(uint)(({signed} >> 5) + {signed} / 16 * n) & {last}u"),
            4 => format!("(uint)min({signed} / (int){width}, 3) & {last}u"),
            _ => format!("({id} + 0xfffffff0u) / (uint){width} & {last}u"),
        }
    }

    /// A load at such an index.
    pub fn neighbours(&mut self, out: &mut Vec<Stmt>) {
        let i = self.neighbour();
        let c = 1 + self.rng.below(40);
        let q = self.name("q");
        let mix = |e: String| Stmt::Line(format!("h = h * 31u + {e};"));
        match self.rng.below(21) {
            0..=3 => out.push(mix(format!("in[{i}]"))),
            4 => {
                let ty = self.rng.pick(&["uchar", "char", "ushort", "short", "uint"]);
                out.push(mix(format!("(uint)((const global {ty} *)in)[{i}]")));
            }
            5 => {
                let n = self.rng.pick(&[2u8, 3, 4]);
                let part = self.rng.pick(&["x", "y"]);
                out.push(mix(format!("vload{n}(({i}) & 255, in).{part}")));
                out.push(mix(format!("vload{n}(lid + {c}u, in).y")));
            }
            6 => {
                let body = vec![mix(format!("in[{q}]"))];
                out.push(Stmt::block(format!("for (uint {q} = lid; {q} < 300u; {q} += items) {{"), body));
            }
            7 => {
                let body = vec![mix(format!("in[lid + {q} * items]"))];
                out.push(Stmt::block(format!("for (uint {q} = 0; {q} < 5u; {q}++) {{"), body));
            }
            8 => {
                let body = vec![mix(format!("in[{q}]"))];
                let head = format!("for (int {q} = (int)lid; {q} >= 0 && {q} > (int)lid - 6; {q}--) {{");
                out.push(Stmt::block(head, body));
            }
            9 => {
                // The counter wraps.
                let body = vec![mix(format!("in[(uchar)({q} + lid)]"))];
                out.push(Stmt::block(format!("for (uchar {q} = 250; {q} != 3; {q}++) {{"), body));
            }
            10 => {
                // Inactive lanes would read beyond the end.
                let body = vec![mix(format!("in[{}u + lid]", IN - c))];
                out.push(Stmt::block(format!("if (lid < {c}u) {{"), body));
            }
            11 => {
                let v = self.expr(Ty::new(Scalar::UInt, 3), 2);
                out.push(Stmt::Line(format!("vstore3({v}, gid, cols + 8u * total);")));
            }
            12 | 13 => {
                let (a, b) = (self.condition(2), self.neighbour());
                out.push(Stmt::Line(format!("size_t {q} = {i};")));
                out.push(Stmt::block(format!("if ({a}) {{"), vec![Stmt::Line(format!("{q} = {b};"))]));
                out.push(mix(format!("in[{q}]")));
            }
            14 | 15 => self.guarded(out),
            16 => {
                // The bound of a loop is what the one before it leaves.
                let p = self.name("p");
                out.push(Stmt::Line(format!("uint {q} = 0, {p} = 0;")));
                let leave = Stmt::Line(format!("if ((in[{q}] & 31u) == {}u) break;", c % 32));
                let head = format!("for (; {q} < lid + {c}u; {q}++) {{");
                out.push(Stmt::block(head, vec![mix(format!("in[{q} * 3u + 2u]")), leave]));
                let body = vec![mix(format!("in[{p} * 4u + 3u]"))];
                out.push(Stmt::block(format!("for (; {p} < {q}; {p}++) {{"), body));
                out.push(mix(format!("{q} + {p}")));
            }
            17 => {
                // The header reads, also behind the bound, where its index wraps.
                let load = format!("h = h * 31u + in[{q} * 2u + {c}u]");
                out.push(Stmt::block(
                    format!("for (uint {q} = 0x80000001u + lid; {load}, {q} < (uint)n; {q}++) {{"),
                    vec![],
                ));
            }
            _ => self.row(out),
        }
    }

    /// Loads around a place, each behind a bound of its own; what they leave outside is zero, a sum, or something else.
    fn guarded(&mut self, out: &mut Vec<Stmt>) {
        let (x, r, sum) = (self.name("q"), self.name("q"), self.name("sum"));
        let ty = self.rng.pick(&["uint", "uint", "int", "uchar", "short"]);
        let (width, pitch) = (self.rng.pick(&["8", "(n + 3)", "(int)items"]), 1 + self.rng.below(3));
        out.push(Stmt::Line(format!("const int {x} = (int)lid - {}, {r} = {width};", self.rng.below(4))));
        out.push(Stmt::Line(format!("uint {sum} = 0;")));
        for _ in 0..2 + self.rng.below(4) {
            let at = format!("({x} + {})", self.rng.below(4) as i64 - 1);
            let load = format!("(({ty} const global *)in)[{at} * {pitch}]");
            let load = match self.rng.below(4) {
                0 => format!("({load} >> 3)"),
                1 => format!("(uint)({load} & 3)"),
                2 => format!("((uint){load} * {sum})"),
                _ => load,
            };
            let inside = format!("{at} >= 0 && {at} < {r}");
            out.push(Stmt::Line(match self.rng.below(4) {
                0 => format!("{sum} += {inside} ? {load} : 0;"),
                1 => format!("if ({inside}) {sum} += {load};"),
                2 => format!("if ({inside}) {sum} = {sum} * 5u - {load}; else {sum} ^= 9u;"),
                _ => format!("if ({inside}) {{ const uint v = {load}; {sum} = v > 99u ? {sum} - v : {sum} * 3u; }}"),
            }));
        }
        out.push(Stmt::Line(format!("h = h * 31u + {sum};")));
    }

    /// A loop in which each work-item reads its own row; the last row may end with the buffer.
    fn row(&mut self, out: &mut Vec<Stmt>) {
        let (q, sum) = (self.name("q"), self.name("sum"));
        // A long one continues in the following rows.
        let long = self.rng.chance(40);
        let wide = if long { self.rng.pick(&[1u8, 1, 1, 4]) } else { 1 };
        let pitch = 1 + self.rng.below(7);
        let types = ["uint", "int", "float", "ushort", "uchar"];
        let ty = self.rng.pick(if long { &types[..3] } else { &types });
        // `IN - 128 * pitch` lets row 127, the last one of the largest group, end with the buffer.
        let first = if long { self.rng.below(2) } else { self.rng.pick(&[0, 1, IN - 128 * pitch]) };
        let last = if long || first == 1 { 128 } else { 0 };
        let id = self.rng.pick(&["lid", "(int)lid", "(size_t)lid"]);
        let pitch =
            if self.rng.chance(if long { 20 } else { 50 }) { format!("{pitch}") } else { format!("(n - 5 + {pitch})") };
        let n = match self.rng.below(4) {
            _ if long => format!("({} / {wide})", self.rng.pick(&["(58 + n)", "95", "(42 + n)"])),
            0 => pitch.clone(),
            1 => self.rng.below(8).to_string(),
            2 => format!("(int)({} & 7u)", self.as_same(true, |g| g.expr(Ty::UINT, 1))),
            _ => "(int)(lid & 7u)".to_owned(),
        };
        let end = format!("min({n}, {pitch} + {last})");
        let step = self.rng.pick(&["++", "++", " += 2"]);
        let load = match wide {
            1 => format!("((const global {ty} *)(in + {first}))[{id} * {pitch} + {q}]"),
            _ => {
                let part = self.rng.pick(&["x", "y"]);
                format!("vload{wide}({q}, (const global {ty} *)(in + {first}) + {id} * {pitch}).{part}")
            }
        };
        // As a float, a word of `in` may be a NaN, whose bits are free; ten bits of it are a small whole number.
        let load = if ty == "float" { format!("(float)(as_uint({load}) & 1023u)") } else { load };
        let add = match self.rng.below(3) {
            0 => format!("{sum} += {load};"),
            1 => format!("{sum} = {sum} * 3 + {load};"),
            _ => format!("{sum} += {load} * ({ty})(table[{q} & 15]);"),
        };
        let kind = if ty == "float" { "float" } else { "uint" };
        out.push(Stmt::Line(format!("{kind} {sum} = 0;")));
        let head = format!("for (int {q} = 0; {q} < {end}; {q}{step}) {{");
        out.push(Stmt::block(head, vec![Stmt::Line(add)]));
        out.push(Stmt::Line(format!("h = h * 31u + fold(({}){sum});", if ty == "float" { "float" } else { "ulong" })));
    }
}
