//! The cost model: how many lanes a vector has, and in which order the vectors of a group run.

use crate::analysis::latency;
use crate::analysis::pressure;
use crate::analysis::shape::Shape;
use crate::analysis::store_streams;
use crate::emit::widen::{FAR, VectorInput};
use crate::transform::prefetch_loop;
use cloom_ir::{InstData, Op, Scalar, Space, Type, Value};
use cloom_target::{Features, Target, Tuning};

/// What lanes do in a matrix whose rows they go across. Writing needs more of the caches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Column {
    /// They read a column.
    Read,
    /// They write one.
    Written,
}

/// How vectors lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Width {
    /// Work-items in a vector; 1: no vectors.
    pub lanes: u16,
    /// The dimensions of the code by the loops over a group's vectors, the innermost first.
    pub order: [usize; 3],
    /// Why so many lanes, in words.
    pub why: &'static str,
}

impl Width {
    /// Vectors along dimension 0, row after row.
    pub fn new(lanes: u16) -> Width {
        Width { lanes, order: [0, 1, 2], why: "so many were asked for" }
    }
}

/// How a kernel is to be vectorised, where that is not left to the cost model.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct VectorOptions {
    /// So many work-items to a vector, 1 to 64, whatever the kernel and the target; `None`: as many as suit them.
    pub lanes: Option<u16>,
    /// How many work-items the rows of groups have, if that is known and they are short.
    pub short_row: Option<u16>,
    /// Whether lanes lie along dimension 0 of a launch, although another one would suit the kernel better: for launches
    /// that are short there.
    pub keep_dim0: bool,
}

impl VectorOptions {
    /// So many work-items to a vector.
    pub fn with_lanes(lanes: u16) -> VectorOptions {
        VectorOptions { lanes: Some(lanes), ..VectorOptions::default() }
    }

    /// Whether there may be vectors at all, before anything is known of the kernel.
    pub fn may_have_lanes(&self) -> bool {
        self.lanes != Some(1)
    }
}

/// What decides about vectors: options and target.
#[derive(Clone, Copy, Debug)]
pub struct Vectors<'a> {
    /// What the caller wants.
    pub options: VectorOptions,
    /// What code is made for.
    pub target: &'a Target,
}

impl Vectors<'_> {
    /// The same without vectors.
    pub fn scalar(self) -> Self {
        Self { options: VectorOptions { lanes: Some(1), ..self.options }, ..self }
    }

    /// Bytes of a vector register, or of a number for each lane where lanes were asked for; 16 to 64.
    pub fn register(&self) -> u32 {
        let bytes = self.options.lanes.map_or(self.target.features().vector_bits / 8, |n| u32::from(n) * 4);
        // In many lanes, long rows would be more than is loaded in pieces.
        if bytes > 64 { 16 } else { bytes.max(16).next_power_of_two() }
    }

    /// The target's tuning, unless lanes were asked for: what is made then is the same for all targets.
    pub fn tuning(&self) -> &Tuning {
        self.options.lanes.map_or(self.target.tuning(), |_| &Tuning::GENERIC)
    }
}

/// Loops that wait for themselves take up to so many, if work-items are grouped in long rows: on AVX2, eight are the 64
/// lanes of a mask.
const MOST: u32 = 8;

/// The most work-items to a vector: the bits of a mask. Rows of so many fill any vector.
pub const MAX_LANES: u32 = 64;

/// What rows of groups have where nobody knows and a kernel asks for its place in more than one dimension: tiles are 16
/// wide mostly.
pub const TILE: u32 = 16;

/// How often the registers may be filled by the values that live at once in a kernel without loops. (Matrices of 36
/// numbers, each a variable: with nine times the registers in place of four and a half, it takes 1.3 times as long.)
const SPILLED: u32 = 4;

/// Chooses the width for the continuations of a kernel.
///
/// Two registers to a vector, if the values that live in loops then still find room in the registers, and those of a
/// kernel without loops come near it; else one. More than two if loops would else wait ([`crate::analysis::latency`])
/// or walk in the steps of a grid ([`crate::transform::prefetch_loop`]), and the `row` of a group has enough work-items
/// to fill them; never more than it has. One too if work-items walk along rows ([`crate::transform::row_transpose`]):
/// every lane is a stream of its own for the caches. And no lanes at all if a work-item has more values in loops than
/// one register for each can hold, and most of them in short vectors, which are vectors already; or if nearly all that
/// it does is done on short vectors that fill registers, without waiting, or on registers read far from each other; or
/// if it mostly counts, by atomic operations, unless lanes share cache lines meanwhile; or if it does little but change
/// what is scattered in memory.
///
/// If lanes touch memory at a distance and work-items one below the other are neighbours there (a matrix read by rows
/// and written by columns), the vectors of a group are run downwards first: what one vector left of its cache lines,
/// the next one uses, before the group's other lines, which often fall on the same sets of the cache, take their place;
/// and vectors are short enough that their own lines have room there.
pub fn choose(items: &[&VectorInput], vectors: Vectors<'_>, row: u32) -> Width {
    if let Some(lanes) = vectors.options.lanes {
        return Width::new(lanes.clamp(1, 64));
    }
    let &Features { vector_bits: bits, vector_registers: registers, .. } = vectors.target.features();
    let &Tuning { interleave, open_lines_written, open_lines_read, .. } = vectors.tuning();
    let element = element_bits(items);
    let one = (bits / element).clamp(2, MAX_LANES);
    let room = registers * bits / 16;
    let pressure = items.iter().map(|item| pressure::in_loops(item)).max().unwrap_or_default();
    // What code generation cannot order so that it fits, where there are no loops.
    let straight = items.iter().map(|item| pressure::without_loops(item).halves).max().unwrap_or_default();
    let busy = items.iter().any(|item| latency::is_busy(item));
    // In eighths: a little more than there are where a loop would else wait, and two of sixteen left for the numbers
    // that it computes with where it would not.
    let filled = if busy { 7 } else { 10 };
    let fits = |lanes: u32| pressure.halves * lanes * 8 <= room * filled && straight * lanes <= room * SPILLED;
    let columns = items.iter().filter_map(|item| item.pattern.column).max();
    let lines = items.iter().filter_map(|item| store_streams::written(item)).max().unwrap_or(0);
    let waits = pressure.halves * one <= room && items.iter().any(|item| latency::waits_alone(item, one));
    let (lanes, why) = match () {
        () if pressure.halves * one > 2 * room && 2 * pressure.in_vectors > pressure.halves => {
            (1, "its loops use more short vectors at a time than there are registers for a vector of work-items each")
        }
        () if fill_registers(items, bits) && !waits => {
            (1, "nearly all is done on short vectors, which fill the registers as they are")
        }
        () if items.iter().any(|item| reads_registers(item, bits)) => {
            (1, "its loops read short vectors as long as registers, far apart from work-item to work-item")
        }
        () if scatters(items) => (1, "it only changes what is scattered in memory"),
        () if items.iter().any(|item| moves_apart(item)) => {
            (1, "a loop for some of the work-items does little but change what is scattered in memory")
        }
        () if items.iter().any(|item| reads_apart(item)) => {
            (1, "a loop for some of the work-items does little but read what is scattered in buffers")
        }
        () if counts(items) => match items.iter().any(|item| item.counts_side_by_side()) {
            true => {
                (one, "it mostly counts by atomic operations, and neighbours read side by side: one register a value")
            }
            false => (1, "it mostly counts by atomic operations, which lanes do one by one"),
        },
        () if columns == Some(Column::Written) => {
            (one.min(open_lines_written), "lanes write down the columns of a matrix: few cache lines at a time")
        }
        () if columns == Some(Column::Read) => {
            (one.min(open_lines_read), "lanes read down the columns of a matrix: few cache lines at a time")
        }
        () if lines > 0 => {
            let lanes = (open_lines_read / lines).clamp(open_lines_written, open_lines_read);
            (one.min(lanes), "each lane writes along a row of its own: few cache lines at a time")
        }
        () if items.iter().any(|item| item.reads_rows()) => {
            (one, "one register a value: each lane reads along a row of its own")
        }
        () if !fits(interleave * one) => (one, "one register a value: more would not fit"),
        () => {
            let most = (row / one).clamp(interleave, MOST);
            let (gains, why) = match items.iter().any(|item| prefetch_loop::is_fetched(item)) {
                true => (most, "many registers a value: lanes read in order what they step through together"),
                false => {
                    let gains = |item: &&VectorInput| latency::registers(item, interleave, most, registers > 16);
                    match items.iter().map(gains).min().unwrap_or(interleave) {
                        least if least == interleave => (least, "two registers a value hide much of the latency"),
                        more => (more, "more than two registers a value: its loops wait for themselves"),
                    }
                }
            };
            let widths = (0..=gains.ilog2()).rev().map(|n| (one << n).min(MAX_LANES));
            (widths.into_iter().find(|&lanes| fits(lanes)).unwrap_or(one), why)
        }
    };
    // What is beyond the end of a row would be off in every vector.
    let (lanes, why) = match row.next_power_of_two() {
        row if row < lanes => (row, "rows of groups have no more, as far as is known"),
        _ => (lanes, why),
    };
    let order = if columns.is_some() && lanes > 1 { [1, 0, 2] } else { [0, 1, 2] };
    Width { order, why, ..Width::new(lanes as u16) }
}

/// Calls `f` with each value that an instruction gives or stores and that differs between lanes in any way, and how
/// often.
fn for_each_varying(items: &[&VectorInput], mut f: impl FnMut(&VectorInput, &InstData, Type, u64)) {
    for item in items {
        let func = &item.func;
        for &b in item.cfg.rpo() {
            let times = item.times(b);
            for data in func.blocks[b].insts.iter().map(|&i| &func.insts[i]) {
                let what = match data.op {
                    Op::Store { .. } => data.args.get(1).copied(),
                    _ => data.result,
                };
                if let Some(v) = what.filter(|&v| item.shapes.of(v) == Shape::Varying) {
                    f(item, data, func.ty(v), times);
                }
            }
        }
    }
}

/// Whether work-items work on short vectors as long as a register (of AVX2; with AVX-512 too half a register is better
/// than shuffles), but for a small part. In lanes, such vectors would be taken apart and put together for nothing, and
/// need as many registers as they have components. Vectors of bytes are long enough at 128 bits: lanes of bytes do not
/// fill more.
fn fill_registers(items: &[&VectorInput], bits: u32) -> bool {
    let (mut full, mut rest) = (0u64, 0u64);
    let is_full = |ty: Type| {
        let enough = if ty.scalar == Scalar::I8 { 128 } else { bits.min(256) };
        ty.lanes > 1 && ty.scalar.bits() * u32::from(ty.lanes) >= enough
    };
    for_each_varying(items, |item, data, ty, times| {
        let words = u64::from((ty.scalar.bits() * u32::from(ty.lanes)).div_ceil(32)) * times;
        match is_full(ty) {
            true => full += words,
            // How a shuffle is written.
            false if data.op == Op::Extract && is_full(item.func.ty(data.args[0])) => {}
            false => rest += words,
        }
    });
    full > 2 * rest
}

/// Whether work-items read whole registers far from each other in one of the deepest loops, and do little else there:
/// in lanes, as many vectors as a register has numbers would be turned round for each that is read. (A matrix by a
/// vector, 16 numbers at once, on AVX-512: twice as fast without lanes.)
fn reads_registers(item: &VectorInput, bits: u32) -> bool {
    let func = &item.func;
    let is_full = |ty: Type| ty.lanes > 1 && ty.scalar.bits() * u32::from(ty.lanes) >= bits.max(256);
    latency::deepest(item).into_iter().any(|l| {
        let (mut full, mut rest, mut reads) = (0, 0, false);
        for data in l.blocks.iter().flat_map(|&b| &func.blocks[b].insts).map(|&i| &func.insts[i]) {
            let Some(r) = data.result.filter(|&r| item.shapes.of(r) == Shape::Varying) else { continue };
            let ty = func.ty(r);
            *(if is_full(ty) { &mut full } else { &mut rest }) += 1;
            reads |= matches!(data.op, Op::Load { .. }) && is_full(ty) && item.is_far(data.args[0]);
        }
        reads && full > rest
    })
}

/// Operations that lanes do together for each atomic one that they do one by one: with fewer of them, the way from
/// vector registers to addresses takes longer than all that vectors save.
const PER_ATOMIC: u64 = 10;

/// Whether most of what work-items do are atomic operations at places of their own: counting, as in a histogram.
fn counts(items: &[&VectorInput]) -> bool {
    let (mut atomic, mut rest) = (0u64, 0u64);
    for_each_varying(items, |item, data, _, times| match data.op {
        Op::AtomicRmw { .. } | Op::AtomicCmpXchg { .. } if !item.shapes.is_uniform(data.args[0]) => atomic += times,
        _ => rest += times,
    });
    atomic > 0 && PER_ATOMIC * atomic >= rest
}

/// Operations that lanes do together for each access to memory that they do one by one: with fewer of them, vectors do
/// not pay.
const PER_ACCESS: u64 = 6;

/// Whether a kernel, without loops, only reads and writes at places that follow no rule, and does little else: an index
/// out of a table, a hash. Lanes would be put together for a few operations and taken apart again, while a processor
/// has as many accesses under way without vectors. (One added to floats far apart: 22 ms in lanes, 13 without.)
pub fn scatters(items: &[&VectorInput]) -> bool {
    let (mut apart, mut together, mut rest, mut stores, mut loops) = (0u64, 0u64, 0u64, 0u64, false);
    for_each_varying(items, |item, data, _, times| {
        loops |= times > 1;
        match data.op {
            Op::Load { .. } | Op::Store { .. } if item.shapes.of(data.args[0]) == Shape::Varying => {
                apart += 1;
                stores += u64::from(matches!(data.op, Op::Store { .. }));
            }
            Op::Load { .. } | Op::Store { .. } => together += 1,
            _ => rest += 1,
        }
    });
    !loops && together == 0 && stores > 0 && PER_ACCESS * apart >= rest
}

/// Whether work-items change numbers that lie where no rule tells, in one of the deepest loops and only some of them at
/// a time, and compute less than they read and write there: rows of small matrices in local memory, say. (Matrices of 6
/// by 6 factorised by six work-items each, on AVX-512: 0.52 ms with 8 lanes, 0.34 without.)
fn moves_apart(item: &VectorInput) -> bool {
    let changed = |a: &Apart| a.written.iter().any(|p| a.read.contains(p));
    apart(item, i64::MAX).any(|a| changed(&a) && a.together == 0 && a.computes < a.read.len() + a.written.len())
}

/// Whether work-items read buffers at places of which each lies elsewhere, in one of the deepest loops and only some of
/// them at a time, and compute less than they read there: rows of a sparse matrix. Lanes that are off take as long as
/// those that are on. (Rows of up to 15 numbers, on AVX-512: 2.2 ms with 8 lanes, 1.2 with 16, 0.6 without.) Where the
/// machine gathers, nobody has measured it.
fn reads_apart(item: &VectorInput) -> bool {
    let reads = |a: &Apart| a.read.len() > 1 && a.written.is_empty() && a.together == 0 && a.outside;
    !item.fast_gather && apart(item, FAR).any(|a| reads(&a) && a.computes < a.read.len())
}

/// What is done in a loop for some of the work-items only.
struct Apart {
    /// Addresses that follow no rule.
    read: Vec<Value>,
    written: Vec<Value>,
    /// Accesses at other ones,
    together: usize,
    /// whether all of them are to buffers,
    outside: bool,
    /// and what is computed for each work-item, but addresses.
    computes: usize,
}

/// The deepest loops under masks. Lanes that are evenly so many bytes apart count as if no rule told where they are.
fn apart(item: &VectorInput, far: i64) -> impl Iterator<Item = Apart> {
    let func = &item.func;
    let varying = |v: Value| item.shapes.of(v) == Shape::Varying;
    let apart = move |p: Value| match item.shapes.of(p) {
        Shape::Strided { by, .. } => by.unsigned_abs() >= far.unsigned_abs(),
        shape => shape == Shape::Varying,
    };
    latency::deepest(item).into_iter().filter(|l| item.masked.is_masked(l.header)).map(move |l| {
        let mut found = Apart { read: Vec::new(), written: Vec::new(), together: 0, outside: true, computes: 0 };
        for data in l.blocks.iter().flat_map(|&b| &func.blocks[b].insts).map(|&i| &func.insts[i]) {
            match data.op {
                Op::Load { .. } | Op::Store { .. } => {
                    let p = data.args[0];
                    found.outside &= func.ty(p).space() == Some(Space::Global);
                    match (apart(p), data.result.is_some()) {
                        (true, true) => found.read.push(p),
                        (true, false) => found.written.push(p),
                        (false, _) => found.together += 1,
                    }
                }
                // What computes addresses is as quick alone.
                Op::Unary(_) | Op::Binary(_) | Op::Fma | Op::Fcmp(_) | Op::Select => {
                    let r = data.result.filter(|&r| varying(r));
                    let float = |r: Value| matches!(func.ty(r).scalar, Scalar::F16 | Scalar::F32 | Scalar::F64);
                    let counts = r.is_some_and(float) || r.is_some() && !matches!(data.op, Op::Binary(_));
                    found.computes += usize::from(counts);
                }
                _ => {}
            }
        }
        found
    })
}

/// The width of the elements that most of the arithmetic is done on.
fn element_bits(items: &[&VectorInput]) -> u32 {
    let (mut single, mut double) = (0u32, 0u32);
    for item in items {
        let func = &item.func;
        for data in func.layout.iter().flat_map(|&b| &func.blocks[b].insts).map(|&i| &func.insts[i]) {
            let Some(r) = data.result else { continue };
            let arithmetic = matches!(data.op, Op::Unary(_) | Op::Binary(_) | Op::Fma);
            match func.ty(r).scalar {
                Scalar::F64 if arithmetic => double += 1,
                Scalar::F32 | Scalar::I32 | Scalar::F16 if arithmetic => single += 1,
                _ => {}
            }
        }
    }
    match double > single {
        true => 64,
        false if mostly_narrow(items) => 16,
        false => 32,
    }
}

/// Whether lanes compute in 16 bits, but for a small part.
fn mostly_narrow(items: &[&VectorInput]) -> bool {
    let (mut narrow, mut rest) = (0, 0);
    for_each_varying(items, |_, data, ty, times| {
        let work = u64::from(ty.lanes) * times;
        match (&data.op, ty.scalar) {
            (Op::Unary(_) | Op::Binary(_) | Op::Fma, Scalar::I16) => narrow += work,
            (Op::Unary(_) | Op::Binary(_) | Op::Fma, _) => rest += work,
            _ => {}
        }
    });
    narrow > 3 * rest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lanes for a kernel, on a machine with registers as AVX2 has them.
    fn chosen(text: &str) -> u16 {
        let mut module = cloom_ir::parse(text).unwrap();
        let kernel = module.kernels().next().unwrap();
        let target: Target = "x86_64-unknown-linux-gnu:x86-64-v3".parse().unwrap();
        let options = VectorOptions::default();
        crate::work_group_function(&mut module, kernel, options, &target, &Default::default()).unwrap().launch.lanes
    }

    /// The lanes for a kernel that adds a short vector to itself.
    fn lanes(ty: &str) -> u16 {
        let (add, size) = if ty.starts_with('f') { ("fadd", 4) } else { ("add", 1) };
        let text = format!(
            "func external @k(ptr<global>) kernel {{
  param \"p\" \"float*\" global size 8 align 8
}} {{
bb0(v0: ptr<global>):
    v1: i64 = query global_id 0
    v2: i64 = const 0x40
    v3: i64 = mul v1, v2
    v4: ptr<global> = ptradd v0, v3
    v5: {ty} = load v4 align {size}
    v6: {ty} = {add} v5, v5
    store v4, v6 align {size}
    ret
}}"
        );
        chosen(&text)
    }

    #[test]
    fn short_vectors_that_fill_registers_need_no_lanes() {
        assert_eq!((lanes("f32x4"), lanes("f32x8"), lanes("f32x16")), (16, 1, 1));
        // Of bytes, in lanes too no more than 128 bits are filled.
        assert_eq!((lanes("i8x8"), lanes("i8x16"), lanes("i16x8")), (16, 1, 32));
    }

    /// The lanes for a kernel that loads so many numbers and then adds them up from the last one.
    fn lanes_of_many(numbers: usize) -> u16 {
        let mut body = String::new();
        for k in 0..numbers {
            body += &format!("    v{}: f32 = load v4 align 4\n", 10 + k);
        }
        let mut sum = 10 + numbers - 1;
        for k in (0..numbers - 1).rev() {
            body += &format!("    v{}: f32 = fmul v{sum}, v{}\n", 200 + k, 10 + k);
            sum = 200 + k;
        }
        let text = format!(
            "func external @k(ptr<global>) kernel {{
  param \"p\" \"float*\" global size 8 align 8
}} {{
bb0(v0: ptr<global>):
    v1: i64 = query global_id 0
    v2: i64 = const 0x4
    v3: i64 = mul v1, v2
    v4: ptr<global> = ptradd v0, v3
{body}    store v4, v{sum} align 4
    ret
}}"
        );
        chosen(&text)
    }

    #[test]
    fn many_values_at_once_get_a_register_each_without_loops_too() {
        assert_eq!((lanes_of_many(30), lanes_of_many(40)), (16, 8));
    }

    /// The lanes for a kernel with so many sums of products in a loop.
    fn lanes_of_chains(chains: usize) -> u16 {
        let list = |first: usize| (first..first + chains).map(|v| format!("v{v}")).collect::<Vec<_>>().join(", ");
        let params: Vec<String> = (100..100 + chains).map(|v| format!("v{v}: f32")).collect();
        let fmas: String = (0..chains).map(|c| format!("    v{}: f32 = fma v{}, v6, v7\n", 200 + c, 100 + c)).collect();
        let sums: String = (1..chains)
            .map(|c| format!("    v{}: f32 = fadd v{}, v{}\n", 300 + c, if c == 1 { 100 } else { 299 + c }, 100 + c))
            .collect();
        let text = format!(
            "func external @k(ptr<global>, f32, f32, i32) kernel {{
  param \"p\" \"float*\" global size 8 align 8
  param \"a\" \"float\" value size 4 align 4
  param \"b\" \"float\" value size 4 align 4
  param \"n\" \"int\" value size 4 align 4
}} {{
bb0(v0: ptr<global>, v6: f32, v7: f32, v8: i32):
    v1: i64 = query global_id 0
    v2: i64 = const 0x4
    v3: i64 = mul v1, v2
    v4: ptr<global> = ptradd v0, v3
    v5: f32 = load v4 align 4
    v9: i32 = const 0x0
    v10: i32 = const 0x1
    jump bb1(v9, {loads})
bb1(v11: i32, {params}):
    v12: i1 = icmp ult v11, v8
    br v12, bb2, bb3
bb2:
{fmas}    v13: i32 = add v11, v10
    jump bb1(v13, {next})
bb3:
{sums}    store v4, v{last} align 4
    ret
}}",
            loads = vec!["v5"; chains].join(", "),
            params = params.join(", "),
            next = list(200),
            last = 299 + chains,
        );
        chosen(&text)
    }

    #[test]
    fn loops_that_do_not_wait_keep_what_goes_round_in_registers() {
        // With two registers to a vector, sixteen would be full, and no room for the factor and the summand.
        assert_eq!((lanes_of_chains(6), lanes_of_chains(8)), (16, 8));
        // What waits takes all there is.
        assert!(lanes_of_chains(2) >= 32);
    }

    /// The lanes for a kernel that doubles what a table of places names, `sums` times over.
    fn lanes_of_scatter(sums: u32) -> u16 {
        let more: String = (0..sums).map(|n| format!("    v{}: i32 = add v{}, v7\n", 9 + n, 8 + n)).collect();
        let text = format!(
            "func external @k(ptr<global>) kernel {{
  param \"p\" \"int*\" global size 8 align 8
}} {{
bb0(v0: ptr<global>):
    v1: i64 = query global_id 0
    v2: i64 = const 0x3779b1
    v3: i64 = mul v1, v2
    v4: i64 = const 0xffffc
    v5: i64 = and v3, v4
    v6: ptr<global> = ptradd v0, v5
    v7: i32 = load v6 align 4
    v8: i32 = add v7, v7
{more}    store v6, v{} align 4
    ret
}}",
            8 + sums
        );
        chosen(&text)
    }

    #[test]
    fn what_is_scattered_and_little_else_needs_no_lanes() {
        assert_eq!((lanes_of_scatter(0), lanes_of_scatter(20)), (1, 16));
    }

    /// The lanes for a kernel that counts in local memory what it reads in a loop, at a distance of so many bytes.
    fn lanes_of_histogram(distance: u64) -> u16 {
        let text = format!(
            "global @bins local size 1024 align 4

func external @k(ptr<global>, i64) kernel {{
  param \"p\" \"uint*\" global size 8 align 8
  param \"n\" \"long\" value size 8 align 8
}} {{
bb0(v0: ptr<global>, v1: i64):
    v2: ptr<local> = globaladdr @bins
    v3: i64 = query global_id 0
    v4: i64 = const {distance:#x}
    v5: i64 = mul v3, v4
    v6: ptr<global> = ptradd v0, v5
    v7: i64 = const 0x0
    v8: i32 = const 0x1
    v9: i64 = const 0x3fc
    v10: i64 = const 0x400
    jump bb1(v7)
bb1(v11: i64):
    v12: i1 = icmp ult v11, v1
    br v12, bb2, bb3
bb2:
    v13: ptr<global> = ptradd v6, v11
    v14: i32 = load v13 align 4
    v15: i64 = zext v14
    v16: i64 = and v15, v9
    v17: ptr<local> = ptradd v2, v16
    v18: i32 = atomic_add relaxed group v17, v8
    v19: i64 = add v11, v10
    jump bb1(v19)
bb3:
    ret
}}"
        );
        chosen(&text)
    }

    #[test]
    fn counting_needs_lanes_only_to_share_cache_lines() {
        assert_eq!((lanes_of_histogram(4), lanes_of_histogram(4096)), (8, 1));
    }
}
