//! Kernels whose groups work on tiles: in phases between barriers, each work-item writes its own elements of arrays in
//! local memory, and reads those of others. Their groups can be joined into one, which those of the other programs
//! cannot.
//!
//! ```c
//! if (id < items - 9 && y < 5) { tile[lid] = in[(group * 3 + lid) & 1023]; h += tile[lid]; } else { h = 7u; }
//! barrier(CLK_LOCAL_MEM_FENCE);
//! h ^= tile[(lid + 5) % all];
//! for (uint i = 0; i < 4u; i++) h += tile[(lid + i) % all] + i;
//! ```
//!
//! The arrays are variables of the kernel, or one is an argument. The buffers are those of all programs. Branches
//! depend on the local id, which joined groups agree about, on the group, which they do not, or on both.

use super::args::Param;
use super::streams::of_kernel;
use super::tree::Stmt;
use super::types::Rng;
use super::{Generated, OUT};
use cloom_interp::NdRange;

/// Elements of a local array, and work-items of a group at most.
pub(super) const TILE: u64 = 64;

/// The program of a seed, on ranges of at least so many groups of 64 work-items, or fewer work-items.
pub fn generate_tiles(seed: u64, least: u64) -> Generated {
    let mut rng = Rng::new(seed.rotate_left(24));
    let (arrays, params) = rng.pick(&[
        (&["tile", "tile", "small"][..], &[][..]),
        (&["tile", "small"], &[Param::Tile]),
        (&["tile"], &[Param::Tile]),
    ]);
    let loads = if rng.chance(10) { 100 } else { 2 };
    let mut tiles = Tiles { rng, names: 0, loads, arrays, has_argument: !params.is_empty() };
    let dims = 1 + tiles.rng.below(3) as u32;
    let ranges = tiles.ranges(least, dims);
    let body = tiles.body(dims);
    of_kernel(seed, "-cl-std=CL3.0", ranges, params.to_vec(), body)
}

/// The dimension along which groups are joined.
fn along(dims: u32) -> u32 {
    if dims == 3 { 0 } else { dims - 1 }
}

/// The number of a work-item, by what the parameter `m` says of the range. Of the functions for it, the reference
/// cannot have the results that joined groups have.
fn linear_id(dims: u32) -> String {
    let id = |d: u32| format!("(uint)(get_group_id({d}) * get_enqueued_local_size({d}) + get_local_id({d}))");
    match dims {
        1 => id(0),
        2 => format!("{} * m.y + {}", id(1), id(0)),
        _ => format!("({} * m.w + {}) * m.y + {}", id(2), id(1), id(0)),
    }
}

struct Tiles {
    rng: Rng,
    names: u32,
    /// How many loads from global memory may still come: groups whose work-items load much are not joined.
    loads: u32,
    /// The arrays in local memory.
    arrays: &'static [&'static str],
    /// Whether the first of them is an argument.
    has_argument: bool,
}

impl Tiles {
    /// Two ranges, of groups in multiples of four and others, with a partial group at an end or not.
    fn ranges(&mut self, least: u64, dims: u32) -> Vec<NdRange> {
        let mut range = || {
            let (local, rows): ([u64; 3], u64) = match dims {
                1 => (self.rng.pick(&[[64, 1, 1], [16, 1, 1], [5, 1, 1]]), 1),
                2 => (self.rng.pick(&[[8, 8, 1], [16, 2, 1], [3, 5, 1], [1, 8, 1]]), self.rng.pick(&[1, 2, 3])),
                _ => (self.rng.pick(&[[4, 4, 4], [2, 3, 4], [8, 1, 8]]), self.rng.pick(&[1, 2])),
            };
            let along = along(dims) as usize;
            let mut global = [1; 3];
            for d in 0..dims as usize {
                global[d] = local[d] * rows;
            }
            // So many groups along this dimension that the product with those of the others is at least `least`.
            global[along] = local[along] * (least.div_ceil(rows.pow(dims - 1)) + self.rng.pick(&[0, 0, 1, 3]));
            if self.rng.chance(40) {
                let at = self.rng.below(dims.into()) as usize;
                global[at] += self.rng.below(local[at]);
            }
            let offset = self.rng.pick(&[[0; 3], [0; 3], [8, 1, 5]]);
            let offset = std::array::from_fn(|d| if d < dims as usize { offset[d] } else { 0 });
            NdRange { work_dim: dims, offset, global, local }
        };
        let first = range();
        vec![first, range()]
    }

    fn body(&mut self, dims: u32) -> Vec<Stmt> {
        let last = along(dims);
        let group = match self.rng.below(3) {
            0 => format!("(uint)get_group_id({last})"),
            1 => format!("(uint)(get_group_id({last}) * 5 + get_group_id(0))"),
            _ => format!("(uint)get_global_id({last}) / 3u"),
        };
        let arrays = [("uint", "tile"), ("ushort", "small")].into_iter().filter(|(_, name)| self.arrays.contains(name));
        let filled: String = arrays.clone().map(|(_, name)| format!("{name}[i] = i * 7; ")).collect();
        let variables = arrays.skip(self.has_argument.into());
        let declared = variables.map(|(ty, name)| format!("local {ty} {name}[{TILE}]; ")).collect();
        let mut body = vec![
            Stmt::Line(declared),
            Stmt::line("const uint lid = get_local_linear_id();"),
            Stmt::line("const uint all = get_local_size(0) * get_local_size(1) * get_local_size(2);"),
            Stmt::Line(format!("const uint id = {}, items = m.x;", linear_id(dims))),
            Stmt::Line(format!("const uint y = get_global_id({last}), ly = get_local_id({last});")),
            Stmt::Line(format!("const uint group = {group};")),
            Stmt::line("uint h = (uint)n, g = 3;"),
            Stmt::Line(format!("for (uint i = lid; i < {TILE}u; i += all) {{ {filled} }}")),
            Stmt::line("barrier(CLK_LOCAL_MEM_FENCE);"),
        ];
        for _ in 0..1 + self.rng.below(4) / 2 {
            body.extend(self.phase());
        }
        for _ in 0..1 + self.rng.below(2) {
            if self.rng.chance(20) {
                body.push(Stmt::Line(format!("if ({}) return;", self.condition())));
            }
            // Another one than `=` loads, too.
            let op = if self.may_load() { self.op() } else { "=" };
            let store = Stmt::Line(format!("out[id * {OUT}u + {}] {op} h + g;", self.rng.below(OUT)));
            body.push(if self.rng.chance(40) {
                Stmt::block(format!("if ({}) {{", self.condition()), vec![store])
            } else {
                store
            });
        }
        body
    }

    /// Writes, a barrier, reads, a barrier.
    fn phase(&mut self) -> Vec<Stmt> {
        let barrier = || Stmt::line("barrier(CLK_LOCAL_MEM_FENCE);");
        let mut list = Vec::new();
        list.extend(self.own(2));
        if self.rng.chance(25) {
            list.push(barrier());
            // The work-items below `s` write to elements below `s` and read those from `s` to `2s`, which nobody writes
            // before the next barrier.
            let loop_ = vec![Stmt::line("if (lid < s) tile[lid] += tile[lid + s];"), barrier()];
            list.push(Stmt::block("for (uint s = 16u; s > 0u; s >>= 1) {", loop_));
        }
        list.push(barrier());
        let (array, op) = (self.array(), self.op());
        let read = match self.rng.below(3) {
            0 => {
                let (i, taps) = (self.name(), 2 + self.rng.below(8));
                let choice = if self.rng.chance(30) { format!("if ({}) ", self.condition()) } else { String::new() };
                format!("for (uint {i} = 0; {i} < {taps}u; {i}++) {choice}h {op} {array}[(lid + {i}) % all] + {i};")
            }
            _ => format!("h {op} {array}[(lid + {}u) % all];", self.rng.below(9)),
        };
        let read = if self.rng.chance(30) { format!("if ({}) {read}", self.condition()) } else { read };
        list.push(Stmt::Line(read));
        list.push(barrier());
        list
    }

    /// Statements that touch what is the work-item's own.
    fn own(&mut self, depth: u32) -> Vec<Stmt> {
        let below = |this: &mut Self| if depth > 0 { this.own(depth - 1) } else { this.simple() };
        match self.rng.below(if depth > 0 { 9 } else { 3 }) {
            0..=2 => self.simple(),
            3 | 4 => vec![Stmt::block(format!("if ({}) {{", self.condition()), below(self))],
            5 | 6 => {
                let head = format!("if ({}) {{", self.condition());
                let (then, els) = (below(self), below(self));
                vec![Stmt::block(head, then), Stmt::block("else {", els)]
            }
            7 => {
                let i = self.name();
                let array = self.array();
                let from = self.input(&format!("(group * 3u + {i}) & 1023u"));
                let value = format!("{array}[{i}] {} {from};", self.op());
                vec![Stmt::block(
                    format!("for (uint {i} = lid; {i} < {TILE}u; {i} += all) {{"),
                    vec![Stmt::Line(value)],
                )]
            }
            _ => {
                let i = self.name();
                let times = self.rng.pick(&["3u", "ly", "(uint)n", "lid & 3u"]);
                vec![Stmt::block(format!("for (uint {i} = 0; {i} < {times}; {i}++) {{"), self.simple())]
            }
        }
    }

    fn simple(&mut self) -> Vec<Stmt> {
        let (op, array) = (self.op(), self.array());
        let near = self.rng.below(40);
        let line = match self.rng.below(7) {
            0 => format!("{array}[lid] {op} {};", self.input(&format!("(id + {near}u) & 1023u"))),
            1 if self.may_load() => format!("{array}[lid] = h; h {op} cols[id * 12u + {}u];", near % 12),
            1 | 2 => format!("h {op} {};", self.input(&format!("(group * {near}u + lid) & 1023u"))),
            3 => format!("g {op} (uint)table[(group + lid) & 15u];"),
            4 => format!("h = g > h ? group + {near}u : h * 5u;"),
            5 => format!("out[id * {OUT}u + {}] = h;", near % OUT),
            _ => format!("{{ uint t = g; g = h; h {op} t + y; }}"),
        };
        vec![Stmt::Line(line)]
    }

    /// Of the work-item, of its group, or of neither.
    fn condition(&mut self) -> String {
        let one = |this: &mut Self| {
            let near = this.rng.below(12);
            match this.rng.below(9) {
                0 => format!("id < items - {near}u"),
                1 => format!("y >= {near}u"),
                2 => format!("group == {}u", near / 3),
                3 => "(group & 1u)".to_owned(),
                4 => format!("lid < {near}u"),
                5 => format!("ly > {}u", near / 4),
                6 => format!("n > {near}"),
                7 => "(h & 1u)".to_owned(),
                _ => format!("{} % 5u < {}u", this.input("group & 1023u"), near / 3),
            }
        };
        let first = one(self);
        match self.rng.below(4) {
            0 => format!("{first} && {}", one(self)),
            1 => format!("{first} || {}", one(self)),
            _ => first,
        }
    }

    /// An element of the input, or its index if nothing more may be loaded.
    fn input(&mut self, index: &str) -> String {
        if self.may_load() { format!("in[{index}]") } else { format!("({index})") }
    }

    fn may_load(&mut self) -> bool {
        let may = self.loads > 0;
        self.loads = self.loads.saturating_sub(1);
        may
    }

    fn array(&mut self) -> &'static str {
        self.rng.pick(self.arrays)
    }

    fn op(&mut self) -> &'static str {
        self.rng.pick(&["+=", "^=", "-=", "|=", "="])
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("i{}", self.names)
    }
}
