//! Kernels that stream: work-item `id` reads elements `id`, `id + 1`, … of columns and writes element `id` of others,
//! behind a guard or not. Their work-items can be joined into one thread, which those of the other programs cannot.
//!
//! ```c
//! size_t id = get_global_id(1) * m.y + get_global_id(0), items = m.x;
//! if (id >= items - 3) return;
//! { uint v = as_uint(((const global uchar4 *)cols + 2 * items)[id]); h = h * 31u + v; }
//! ((global ushort *)out + 4 * items)[id] = (ushort)(h);
//! ```
//!
//! The buffers are those of all programs. There is no local memory, by which work-items share something; in its place,
//! `m` has the range. A column has an element for each work-item; columns that are written lie apart in bytes, as they
//! have elements of different sizes.

use super::args::Param;
use super::families::{Families, Statistics};
use super::tree::Stmt;
use super::types::Rng;
use super::{COLUMNS, Generated, OUT, PRELUDE};
use cloom_interp::NdRange;

/// An element: its type and bytes, and its value as a `uint` and from one. `P` is the pointer, `I` the index, `V` the
/// value.
type Element = (&'static str, u64, &'static str, &'static str);

// The values of floating-point elements are whole numbers, or halves and quarters of these, that the type holds
// exactly.
const ELEMENTS: &[Element] = &[
    ("uchar", 1, "(uint)P[I]", "P[I] = (uchar)(V);"),
    ("char", 1, "(uint)P[I]", "P[I] = (char)((V) & 127u);"),
    ("ushort", 2, "(uint)P[I]", "P[I] = (ushort)(V);"),
    ("half", 2, "as_uint(num(vload_half(I, P)))", "vstore_half((float)((V) & 2047u), I, P);"),
    ("uint", 4, "P[I]", "P[I] = V;"),
    ("int", 4, "(uint)P[I]", "P[I] = (int)((V) >> 1) - 9;"),
    ("float", 4, "as_uint(P[I])", "P[I] = (float)((V) & 0xffffu) * 0.5f;"),
    ("uchar4", 4, "as_uint(P[I])", "P[I] = as_uchar4(V);"),
    ("short2", 4, "as_uint(P[I])", "P[I] = as_short2(V);"),
    ("ulong", 8, "fold(P[I])", "P[I] = (ulong)(V) * 0x100000003ul;"),
    ("double", 8, "fold(as_ulong(P[I]))", "P[I] = (double)(V) * 0.25;"),
    ("float2", 8, "(as_uint(P[I].x) ^ as_uint(P[I].y))", "P[I] = (float2)((float)((V) & 255u), 1.5f);"),
    ("uint4", 16, "(P[I].x ^ P[I].w)", "P[I] = (uint4)(V, 1u, V, 2u);"),
];

/// The program of a seed, on ranges of at least so many work-items, which are 16 or more.
pub fn generate_stream(seed: u64, least: u64) -> Generated {
    let mut stream = Stream { rng: Rng::new(seed.rotate_left(40)), written: 0 };
    let is_flat = stream.rng.chance(60);
    let ranges = stream.ranges(least, is_flat);
    let body = stream.body(is_flat, ranges[0].offset[0] == 0);
    of_kernel(seed, "", ranges, Vec::new(), body)
}

/// The program of a kernel with this body, which has the range, `m`, in the place of local memory.
pub(super) fn of_kernel(
    seed: u64,
    options: &'static str,
    ranges: Vec<NdRange>,
    params: Vec<Param>,
    body: Vec<Stmt>,
) -> Generated {
    let mut tree = vec![Stmt::line("#pragma OPENCL FP_CONTRACT OFF")];
    tree.extend(
        PRELUDE.iter().filter(|line| line.contains("fold(") || line.contains("num(")).map(|&line| Stmt::line(line)),
    );
    tree.push(Stmt::line("typedef struct { int a; } S0;"));
    let more: String = params.iter().map(|p| format!(", {}", p.declaration())).collect();
    let head = format!(
        "kernel void k(global uint *out, const global uint *in, volatile global uint *counters, constant int *table, \
         int n, S0 s, float4 f, uint4 m, global uint *cols{more}) {{"
    );
    tree.push(Stmt::block(head, body));
    let (families, statistics) = (Families::NONE, Statistics::default());
    Generated { seed, tree, options, ranges, params, families, statistics }
}

struct Stream {
    rng: Rng,
    /// Bytes of `out` for each work-item that have columns.
    written: u64,
}

impl Stream {
    /// Two ranges: whole multiples of 4 and others, of one dimension if they are flat, with an offset or not.
    fn ranges(&mut self, least: u64, is_flat: bool) -> Vec<NdRange> {
        let offset = self.rng.pick(&[0, 0, 8, 5]);
        let groups = |n: u64, local: u64| n.div_ceil(local) * local;
        let one = |n: u64, local: u64| NdRange {
            work_dim: 1,
            offset: [offset, 0, 0],
            global: [groups(n, local), 1, 1],
            local: [local, 1, 1],
        };
        let two = |n: u64, rows: u64, local: [u64; 2]| NdRange {
            work_dim: 2,
            offset: [offset, 0, 0],
            global: [groups(n.div_ceil(rows), local[0]), rows, 1],
            local: [local[0], local[1], 1],
        };
        let list = match is_flat {
            true => vec![one(least, 16), one(least + 1, 1), one(least + 3, 50), one(least + 2, 7)],
            false => vec![two(least, 2, [16, 2]), two(least + 9, 4, [10, 2]), two(least + 9, 3, [5, 1])],
        };
        let first = self.rng.below(list.len() as u64) as usize;
        vec![list[first], list[(first + 1) % list.len()]]
    }

    fn body(&mut self, is_flat: bool, starts_at_zero: bool) -> Vec<Stmt> {
        let index = self.rng.pick(&["uint", "size_t", "size_t", "int"]);
        let column =
            if starts_at_zero && self.rng.chance(80) { "get_global_id(0)" } else { "(get_global_id(0) - m.z)" };
        let id = if is_flat { column.to_owned() } else { format!("get_global_id(1) * m.y + {column}") };
        let mut body = vec![Stmt::line(format!("{index} id = {id}, items = m.x;")), Stmt::line("uint h = (uint)n;")];
        // Bounds that all work-items pass, all but a few at the end, half of them, and very few: the joined work-items
        // of a thread agree about some and not about others.
        let guard = self.rng.pick(&["items", "items - 3", "items - 5", "items / 2", "n * 9", "2"]);
        let inner = self.statements();
        match self.rng.below(4) {
            0 => {
                body.push(Stmt::line(format!("if (id >= ({index})({guard})) return;")));
                body.extend(inner);
            }
            1 => body.push(Stmt::block(format!("if (id < ({index})({guard})) {{"), inner)),
            _ => body.extend(inner),
        }
        body
    }

    fn statements(&mut self) -> Vec<Stmt> {
        let mut list = Vec::new();
        for i in 0..1 + self.rng.below(4) {
            let mix = self.rng.pick(&[
                "h ^= v >> 3;",
                "h = v > h ? v - h : h + 1u;",
                "h += v * (uint)(id & 3);",
                "h = mad24(h, 5u, v & 0xfffu);",
                "h = h * 31u + v;",
            ]);
            let value = Stmt::Line(format!("uint v = {};", self.load()));
            let body = vec![value, Stmt::line(mix)];
            list.push(match self.rng.below(8) {
                0 => Stmt::block("if (n > 4) {", body),
                1 => Stmt::block("for (int t = 0; t < n; t++) {", body),
                _ => Stmt::block("{", body),
            });
            // An index that wraps between two neighbours.
            let near = self.rng.below(40);
            match self.rng.below(6) {
                0 => list.push(Stmt::Line(format!("h += in[(uchar)(id + {})];", 255 - near))),
                1 => list.push(Stmt::Line(format!("h ^= in[128 + (char)(id + {})];", 127 - near))),
                // Work-items that read from anywhere stay apart.
                2 if i > 1 => list.push(Stmt::Line("h += in[h & 1023];".into())),
                _ => {}
            }
        }
        for _ in 0..1 + self.rng.below(3) {
            list.extend(self.store());
        }
        list
    }

    /// The value of an element of a column of `cols`, or a few further.
    fn load(&mut self) -> String {
        let (ty, bytes, load, _) = self.rng.pick(ELEMENTS);
        let columns = COLUMNS * 4 / bytes;
        let column = self.rng.below(columns);
        // The last column has nothing behind it.
        let shift = if column + 1 < columns { self.rng.pick(&[0, 0, 0, 1, 2, 3, 4]) } else { 0 };
        let pointer = format!("((const global {ty} *)cols + {column} * items)");
        let at = if shift == 0 { "id".to_owned() } else { format!("id + {shift}") };
        load.replace('P', &pointer).replace('I', &at)
    }

    /// Writes an element of the next column of `out`, perhaps from what was there. None if there is no room.
    fn store(&mut self) -> Option<Stmt> {
        let (ty, bytes, load, store) = self.rng.pick(ELEMENTS);
        // The next column that begins behind all bytes written so far, in units of its own elements: so that it is
        // aligned.
        let column = self.written.div_ceil(bytes);
        let end = (column + 1) * bytes;
        if end > OUT * 4 {
            return None;
        }
        self.written = end;
        let pointer = format!("((global {ty} *)out + {column} * items)");
        let place = |text: &str| text.replace('P', &pointer).replace('I', "id");
        let value = match self.rng.below(3) {
            0 => format!("(h ^ {})", place(load)),
            1 => format!("(h + (uint)id * {}u)", self.rng.below(9)),
            _ => "h".to_owned(),
        };
        Some(Stmt::Line(place(store).replace('V', &value)))
    }
}
