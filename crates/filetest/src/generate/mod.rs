//! Random programs in OpenCL C.
//!
//! In comes a seed, out goes a kernel with its ranges and arguments: always the same for a seed. Each program ends,
//! touches only its own memory, and computes the same in whatever order its work-items run, so that all implementations
//! must agree on every bit. The text is kept as a [`tree`] so that a failure can be reduced by dropping statements.
//!
//! The kernel is `k(global uint *out, const global uint *in, volatile global uint *counters, constant int *table, int
//! n, S0 s, float4 f, local uint *dyn, global uint *cols)`: 16 words of `out` for each work-item, 1024 words of `in`,
//! 16 counters that only atomic operations touch, 16 numbers in `table`, 128 words of local memory, and 12 columns with
//! a word for each work-item. Some families of constructs add parameters of their own: [`args`].
//!
//! * `expr`, `stmt`, `types`: expressions, statements, types.
//! * `group`, `memory`, `neighbours`, `grid`, `rows`: barriers and local memory, pointers, indices, grid-stride loops,
//!   loops over rows.
//! * [`families`]: constructs that only some programs have, and their counts; one file for each family; `dispatch`
//!   chooses the family of a statement.
//! * `ranges`: the launch ranges.
//! * `streams`, `tiles`: programs of other kinds, whose work-items or groups can be joined.

pub mod args;
mod dispatch;
mod exchange;
mod expr;
pub mod families;
mod grid;
mod group;
mod memory;
mod neighbours;
mod ranges;
mod rows;
mod stmt;
mod streams;
mod tiles;
pub mod tree;
pub mod types;

pub use group::LOCAL;
pub use streams::generate_stream;
pub use tiles::generate_tiles;

use args::Param;
use cloom_interp::NdRange;
use expr::Place;
use families::{Families, Family, Statistics};
use grid::Buffer;
use stmt::At;
use tree::Stmt;
use types::{Rng, Scalar, Ty};

/// What a program may rely on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Profile {
    /// What Cloom defines: also integer overflow, division by zero, and conversions out of range.
    Total,
    /// What the standard defines, so that any implementation must agree.
    Portable,
}

impl Profile {
    /// The one of a seed: a quarter of the programs runs anywhere.
    pub fn of(seed: u64) -> Profile {
        if seed.is_multiple_of(4) { Profile::Portable } else { Profile::Total }
    }
}

/// Words of `out` of each work-item.
pub const OUT: u64 = 16;
/// Words of `in`.
pub const IN: u64 = 1024;
/// Words of `cols` of each work-item.
pub const COLUMNS: u64 = 12;
/// Floats of `reals` of each work-item.
pub const REALS: u64 = 4;
/// Words of `big`: more than the vectoriser takes for a loop that the caches serve.
pub const BIG: u64 = (1 << 18) + 1024;

/// A program, and how to run it.
#[derive(Clone, Debug)]
pub struct Generated {
    /// What it came from.
    pub seed: u64,
    /// The source.
    pub tree: Vec<Stmt>,
    /// Build options.
    pub options: &'static str,
    /// The ranges to run it on.
    pub ranges: Vec<NdRange>,
    /// Parameters after the nine that each kernel has.
    pub params: Vec<Param>,
    /// Its families of constructs, beyond those of all programs,
    pub families: Families,
    /// and how often.
    pub statistics: Statistics,
}

impl Generated {
    /// The source as text.
    pub fn source(&self) -> String {
        tree::print(&self.tree)
    }
}

/// A function that expressions call.
#[derive(Clone, Debug)]
struct Helper {
    name: String,
    params: Vec<Ty>,
    ret: Ty,
}

/// A structure or union.
#[derive(Clone, Debug)]
struct Struct {
    name: String,
    /// Each scalar or vector in it: what stands after the variable's name, and its type.
    leaves: Vec<(String, Ty)>,
    /// An initialiser with a `$` for each value,
    pattern: String,
    /// and the values' types.
    init: Vec<Ty>,
    /// Members may be less aligned than their types: no pointers to them.
    packed: bool,
    /// A function that takes one and an `int`, and gives one.
    helper: Option<String>,
}

/// The generator's state.
struct Gen {
    rng: Rng,
    /// A generator for grid-stride loops alone, so that the rest of a seed's kernel does not depend on them.
    grid: Rng,
    /// The same for loops over rows.
    rows: Rng,
    profile: Profile,
    /// The readable lvalues in scope.
    places: Vec<Place>,
    structs: Vec<Struct>,
    /// Variables of structures: which, and their texts.
    struct_vars: Vec<(usize, String)>,
    helpers: Vec<Helper>,
    /// Elements of local arrays, and work-items of a group at most.
    local: u64,
    /// Local arrays.
    locals: Vec<(String, Ty)>,
    /// Labels that may be jumped to, and whether the whole group must.
    labels: Vec<(String, bool)>,
    /// Only group-uniform values may be read.
    same: bool,
    /// Constants are without calls: others do not take `as_float` where a constant must stand.
    plain: bool,
    /// An index is being made.
    indexing: bool,
    /// Operations on sub-groups were made.
    subgroups: bool,
    names: u32,
    /// Statements left.
    budget: i32,
    /// The product of the trip counts of the loops around.
    trips: u64,
    /// The dimensions, beginning with that of unit stride.
    dim_order: [u8; 3],
    families: Families,
    statistics: Statistics,
    /// The size of groups that the kernel requires.
    required: Option<[u64; 3]>,
    /// Barriers are in straight code only.
    straight: bool,
    /// There are C11 atomics.
    c11: bool,
    /// Something needs OpenCL C 3.0.
    c3: bool,
    /// Components of calls of [`math`], and loops of [`long`], that may still be made.
    math_left: i32,
    long_left: u32,
    /// Local arrays of structures: which, their names, and what follows the first index.
    records: Vec<(usize, String, String)>,
    /// Functions of the second file, and its text.
    far: Vec<Helper>,
    second: Vec<Stmt>,
}

/// Functions that every program has, one a line.
const PRELUDE: [&str; 11] = [
    "uint __attribute__((overloadable)) fold(ulong x) { return (uint)x ^ (uint)(x >> 32); }",
    "uint __attribute__((overloadable)) fold(long x) { return fold((ulong)x); }",
    "uint __attribute__((overloadable)) fold(float x) { return isnan(x) ? 0x7fc00000u : as_uint(x); }",
    "uint __attribute__((overloadable)) fold(double x) { return isnan(x) ? 0x7ff80000u : fold(as_ulong(x)); }",
    "float __attribute__((overloadable)) num(float x) { return isnan(x) ? 0.0f : x; }",
    "double __attribute__((overloadable)) num(double x) { return isnan(x) ? 0.0 : x; }",
    "void cas_add(volatile global uint *p, uint v) { uint o = atomic_or(p, 0u); \
     for (;;) { uint r = atomic_cmpxchg(p, o, o + v); if (r == o) break; o = r; } }",
    "int swap_in(int *p, int x) { int old = *p; *p = x; return old ^ *p; }",
    "void add_to(global uint *o, uint v) { o[v & 15u] += v | 1u; }",
    "uint gather(local uint *l, uint v, uint k) { uint items = get_local_size(0) * get_local_size(1) * get_local_size(2); \
     uint i = get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2)); \
     barrier(CLK_LOCAL_MEM_FENCE); l[i] = v; barrier(CLK_LOCAL_MEM_FENCE); return l[(i + k) % items]; }",
    "kernel void other(global uint *o, uint base, uint v) { if (v & 1u) o[base + 3] += v; else o[base + (v & 7u)] ^= v; }",
];

/// Half of all programs have dimension 0 along memory.
const AXES: [[u8; 3]; 4] = [[0, 1, 2], [1, 0, 2], [0, 1, 2], [2, 1, 0]];

/// The program of a seed.
pub fn generate(seed: u64, profile: Profile) -> Generated {
    generate_with(seed, profile, Families::of(seed, profile))
}

/// The program of a seed, of other families than the seed's. One without families stays the same when families change.
pub fn generate_with(seed: u64, profile: Profile, families: Families) -> Generated {
    build(seed, profile, families, false)
}

/// A portable program for platforms that take long, or forever, over barriers in loops and branches: it is half as
/// long, and all of its barriers are in straight code.
pub fn generate_straight(seed: u64) -> Generated {
    build(seed, Profile::Portable, Families::of(seed, Profile::Portable), true)
}

fn build(seed: u64, profile: Profile, families: Families, straight: bool) -> Generated {
    let mut g = Gen {
        rng: Rng::new(seed),
        grid: Rng::new(seed.rotate_left(16)),
        rows: Rng::new(seed.rotate_left(24)),
        profile,
        places: Vec::new(),
        structs: Vec::new(),
        struct_vars: Vec::new(),
        helpers: Vec::new(),
        local: 32,
        locals: Vec::new(),
        labels: Vec::new(),
        same: false,
        plain: false,
        indexing: false,
        subgroups: false,
        names: 0,
        budget: 0,
        trips: 1,
        dim_order: AXES[seed as usize / 4 % AXES.len()],
        families,
        statistics: Statistics::default(),
        required: None,
        straight,
        c11: false,
        c3: false,
        math_left: families::math::MAX_CALLS,
        long_left: 2,
        records: Vec::new(),
        far: Vec::new(),
        second: Vec::new(),
    };
    // Some have groups that fill the widest vectors.
    if g.rng.chance(if families.is_empty() { 20 } else { 30 }) || g.has(Family::Long) {
        g.local = LOCAL;
    }
    // A kernel may require a size, so that ranges are drawn before its text. In a program without families they are
    // drawn last, see below: so the numbers that such a program draws stay the same, and its text with them.
    let ranges = (!families.is_empty()).then(|| g.ranges());
    if let (Some(ranges), true) = (&ranges, g.has(Family::Attributes)) {
        g.required = g.rng.chance(60).then_some(ranges[0].local);
    }
    g.c11 = g.has(Family::Atomics) && g.rng.chance(50);
    let mut tree = Vec::new();
    if profile == Profile::Portable {
        tree.push(Stmt::line("#pragma OPENCL FP_CONTRACT OFF"));
    }
    tree.extend(PRELUDE.map(Stmt::line));
    g.preludes(&mut tree);
    g.tables(&mut tree);
    for _ in 0..1 + g.rng.below(3) {
        g.structure(&mut tree);
    }
    g.constant_records(&mut tree);
    for i in 0..g.rng.below(3) {
        g.helper(i, &mut tree);
    }
    for i in 0..g.structs.len() {
        if g.rng.chance(50) {
            g.struct_helper(i, &mut tree);
        }
    }
    g.kernel(&mut tree);
    tree.append(&mut g.second);
    let c3 = g.c11 || g.c3;
    let options = match profile {
        _ if c3 => "-cl-std=CL3.0",
        Profile::Portable => "",
        Profile::Total if g.subgroups => g.rng.pick(&["", "-cl-std=CL3.0", "-cl-mad-enable"]),
        Profile::Total => g.rng.pick(&["", "", "-cl-std=CL1.2", "-cl-std=CL3.0", "-cl-mad-enable", "-cl-opt-disable"]),
    };
    let ranges = match (ranges, g.required) {
        (None, _) => g.ranges(),
        (Some(ranges), None) => ranges,
        // Global sizes are whole multiples of what is required.
        (Some(ranges), Some(local)) => {
            // The kernel's own order of dimensions says which one is the first.
            let first = usize::from(g.dim_order[0]);
            let groups = |n: u64| {
                let mut range = ranges[0];
                range.global = local;
                range.global[first] *= n;
                range
            };
            vec![groups(2), groups(3)]
        }
    };
    let params = g.params();
    Generated { seed, tree, options, ranges, params, families, statistics: g.statistics }
}

impl Gen {
    /// Program-scope constants.
    fn tables(&mut self, tree: &mut Vec<Stmt>) {
        for i in 0..1 + self.rng.below(2) {
            let ty = self.any_type();
            self.plain = self.profile == Profile::Portable;
            let values: Vec<String> = (0..8).map(|_| self.literal(ty)).collect();
            self.plain = false;
            tree.push(Stmt::Line(format!("constant {} c{i}[8] = {{ {} }};", ty.name(), values.join(", "))));
            self.places.push(Place {
                text: format!("c{i}[{{7}}]"),
                ty,
                writable: false,
                uniform: true,
                private: false,
            });
        }
    }

    fn structure(&mut self, tree: &mut Vec<Stmt>) {
        let index = self.structs.len();
        let name = format!("S{index}");
        let (mut leaves, mut init) = (Vec::new(), Vec::new());
        if index > 0 && self.rng.chance(25) {
            tree.push(Stmt::Line(format!("typedef union {{ uint u; uchar4 b; ushort h[2]; int i; }} {name};")));
            // All members have four bytes, and none is a float: whichever is read, it is defined by the one that was
            // written, and there are no NaNs whose bits are free.
            leaves.push((".u".into(), Ty::UINT));
            leaves.push((".b".into(), Ty::new(Scalar::UChar, 4)));
            leaves.push((".h[{1}]".into(), Ty::new(Scalar::UShort, 1)));
            leaves.push((".i".into(), Ty::INT));
            self.structs.push(Struct {
                name,
                leaves,
                pattern: "{ $ }".into(),
                init: vec![Ty::UINT],
                packed: false,
                helper: None,
            });
            return;
        }
        let (mut fields, mut patterns, mut packed) = (String::new(), Vec::new(), false);
        for f in 0..1 + self.rng.below(4) {
            let mut ty = self.any_type();
            if index == 0 && self.local == LOCAL {
                // Each work-item has one in local memory.
                ty = Ty::new(ty.s, ty.n.min(2));
            }
            match self.rng.below(5) {
                0 => {
                    fields += &format!("{} f{f}[4]; ", ty.name());
                    leaves.push((format!(".f{f}[{{3}}]"), ty));
                    // Two values for four elements: the others must become zero.
                    patterns.push("{ $, $ }".to_owned());
                    init.extend([ty, ty]);
                }
                1 if index > 0 => {
                    let inner = self.rng.pick(&self.structs);
                    packed |= inner.packed;
                    fields += &format!("{} f{f}; ", inner.name);
                    leaves.extend(inner.leaves.iter().map(|(text, ty)| (format!(".f{f}{text}"), *ty)));
                    patterns.push(inner.pattern);
                    init.extend(inner.init);
                }
                _ => {
                    fields += &format!("{} f{f}; ", ty.name());
                    leaves.push((format!(".f{f}"), ty));
                    patterns.push("$".into());
                    init.push(ty);
                }
            }
        }
        let attribute = if self.rng.chance(10) { " __attribute__((packed))" } else { "" };
        packed |= !attribute.is_empty();
        tree.push(Stmt::Line(format!("typedef struct{attribute} {{ {fields}}} {name};")));
        let pattern = format!("{{ {} }}", patterns.join(", "));
        self.structs.push(Struct { name, leaves, pattern, init, packed, helper: None });
    }

    /// A table of structures, in the constant address space.
    fn constant_records(&mut self, tree: &mut Vec<Stmt>) {
        self.plain = self.profile == Profile::Portable;
        let mut records = Vec::new();
        for _ in 0..2 {
            let types = self.structs[0].init.clone();
            let mut text = self.structs[0].pattern.clone();
            for ty in types {
                let value = self.literal(ty);
                text = text.replacen('$', &value, 1);
            }
            records.push(text);
        }
        self.plain = false;
        tree.push(Stmt::Line(format!("constant S0 k0[2] = {{ {} }};", records.join(", "))));
        self.add_struct(0, "k0[{1}]", false);
    }

    /// A function with any statements except those of the whole group.
    fn helper(&mut self, index: u64, tree: &mut Vec<Stmt>) {
        let ret = self.any_type();
        let params: Vec<Ty> = (0..1 + self.rng.below(3)).map(|_| self.any_type()).collect();
        let name = format!("helper{index}");
        let places = self.places.len();
        let mut list = Vec::new();
        for (i, &ty) in params.iter().enumerate() {
            list.push(format!("{} x{i}", ty.name()));
            self.places.push(Place { text: format!("x{i}"), ty, writable: true, uniform: false, private: true });
        }
        let at = At { uniform: false, in_loop: false, in_switch: false, returns: Some(Some(ret)), kernel: false };
        self.budget = 5;
        // It is called from loops, too.
        self.trips = 8;
        let mut body = self.body(at, 4);
        self.trips = 1;
        // The function ends in a `return`: without one at the end, the value of a call could be undefined.
        let e = self.expr(ret, 2);
        body.push(Stmt::Line(format!("return {e};")));
        self.places.truncate(places);
        let head = self.rng.pick(&["", "static ", "inline static "]);
        tree.push(Stmt::block(format!("{head}{} {name}({}) {{", ret.name(), list.join(", ")), body));
        self.helpers.push(Helper { name, params, ret });
    }

    fn struct_helper(&mut self, index: usize, tree: &mut Vec<Stmt>) {
        let ty = self.structs[index].name.clone();
        let name = format!("change{index}");
        let (places, vars) = (self.places.len(), self.struct_vars.len());
        self.add_struct(index, "s", true);
        self.places.push(Place { text: "x".into(), ty: Ty::INT, writable: true, uniform: false, private: true });
        let at = At { uniform: false, in_loop: false, in_switch: false, returns: None, kernel: false };
        self.budget = 3;
        self.trips = 8;
        let mut body = self.body(at, 3);
        self.trips = 1;
        body.push(Stmt::line("return s;"));
        self.places.truncate(places);
        self.struct_vars.truncate(vars);
        tree.push(Stmt::block(format!("{ty} {name}({ty} s, int x) {{"), body));
        self.structs[index].helper = Some(name);
    }

    fn kernel(&mut self, tree: &mut Vec<Stmt>) {
        let attributes = if self.has(Family::Attributes) { self.attributes() } else { String::new() };
        let restrict = if self.has(Family::Alias) { "restrict " } else { "" };
        let more: String = self.params().iter().map(|p| format!(", {}", p.declaration())).collect();
        let mut head = format!(
            "kernel {attributes}void k(global uint *out, const global uint *{restrict}in, \
             volatile global uint *counters, constant int *{restrict}table, int n, S0 s, float4 f, local uint *dyn, \
             global uint *cols{more}) {{"
        );
        let mut body: Vec<Stmt> = [
            "const uint lid = get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2));",
            "const uint items = get_local_size(0) * get_local_size(1) * get_local_size(2);",
            "const uint gid = get_global_id(0) - get_global_offset(0) + get_global_size(0) * (get_global_id(1) - get_global_offset(1) \
             + get_global_size(1) * (get_global_id(2) - get_global_offset(2)));",
            "const uint base = gid * 16u;",
            "const uint total = get_global_size(0) * get_global_size(1) * get_global_size(2);",
            "const uint down = get_global_id(1) - get_global_offset(1) + get_global_size(1) * (get_global_id(0) - get_global_offset(0) \
             + get_global_size(0) * (get_global_id(2) - get_global_offset(2)));",
            "uint h = gid;",
        ]
        .map(|line| Stmt::Line(self.in_order(line)))
        .into();
        let read = |text: &str, ty, uniform| Place { text: text.into(), ty, writable: false, uniform, private: false };
        self.places.extend([
            read("lid", Ty::UINT, false),
            read("items", Ty::UINT, true),
            read("gid", Ty::UINT, false),
            read("h", Ty::UINT, false),
            read("in[{63}]", Ty::UINT, true),
            read("table[{15}]", Ty::INT, true),
            read("n", Ty::INT, true),
            read("f", Ty::new(Scalar::Float, 4), true),
            Place { writable: true, ..read("out[base + {15}]", Ty::UINT, false) },
        ]);
        self.columns();
        if self.has(Family::Alias) {
            self.alias_places();
        }
        // A parameter that is written to is no longer group-uniform.
        let written = self.rng.chance(40);
        self.add_struct(0, "s", written);
        // In PoCL 3.1 the work-items of a group share a structure that is a parameter, and see each other's stores.
        if written && self.straight {
            head = head.replace("int n, S0 s,", "int n, S0 given,");
            body.push(Stmt::line("S0 s = given;"));
        }
        let mut grid = None;
        if self.has(Family::Long) {
            body.extend(self.long_grid_loop());
        } else if self.families.is_empty() {
            grid = self.grid.chance(25).then(|| self.grid.below(3));
        } else if self.grid.chance(25) {
            // Groups are batched up to the first barrier, which follows the local arrays.
            match self.grid.chance(60) {
                true => body.extend(self.grid_loop(Buffer::In)),
                false => grid = Some(self.grid.below(3)),
            }
        }
        if self.rows.chance(30) {
            body.extend(self.row_loop());
        }
        body.extend(self.local_arrays());
        let returns = if self.straight { None } else { Some(None) };
        let at = At { uniform: true, in_loop: false, in_switch: false, returns, kernel: true };
        self.budget = 14 + self.rng.below(14) as i32;
        if self.straight {
            self.budget /= 2;
        }
        // Groups are not batched in a kernel whose private arrays live across barriers: half of the kernels with long
        // loops have nothing else.
        let alone = self.has(Family::Long) && self.rng.chance(50);
        if alone {
            self.budget = 0;
        }
        let places = self.places.len();
        for part in 0..10 {
            if grid == Some(part) {
                body.extend(self.grid_loop(Buffer::In));
            }
            // The scope stays open for what follows.
            let before = self.places.len();
            let mut part = self.open_body(at);
            for i in before..self.places.len() {
                if self.rng.chance(40) {
                    let place = self.places[i].clone();
                    part.push(self.observe(&place));
                }
            }
            body.extend(part);
        }
        // After the last barrier work-items may diverge and return at any point.
        let tail = At { uniform: false, in_loop: false, in_switch: false, returns: Some(None), kernel: true };
        self.budget = if alone { 0 } else { self.rng.below(6) as i32 };
        body.extend(self.body(tail, 3));
        for i in places..self.places.len() {
            let place = self.places[i].clone();
            body.push(self.observe(&place));
        }
        // Whatever was observed is mixed into `h`, so that one wrong bit anywhere reaches this word.
        body.push(Stmt::line("out[base] ^= h;"));
        tree.push(Stmt::block(head, body));
    }

    /// A text in which dimensions 0, 1 and 2 are replaced by those of the program's order.
    fn in_order(&self, text: &str) -> String {
        let [x, y, z] = self.dim_order.map(|d| format!("({d})"));
        text.replace("(0)", "(x)").replace("(1)", "(y)").replace("(2)", &z).replace("(x)", &x).replace("(y)", &y)
    }
}
