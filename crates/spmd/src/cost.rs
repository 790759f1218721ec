//! The cost model: how many lanes a vector has, and in which order the vectors of a group run.

use crate::analysis::input::{Column, VectorInput};
use crate::analysis::latency;
use crate::analysis::pressure;
use crate::analysis::record_stores;
use crate::analysis::shape::Shape;
use crate::analysis::store_streams;
use crate::analysis::tree_updates;
use crate::options::Vectors;
use cloom_ir::{InstData, Op, Scalar, Type};
use cloom_target::{Features, Tuning};

pub mod code_size;
pub mod scattered;

use scattered::{backtracks, changes_scattered, gathers, scatters, stays_near, stores_scattered, updates_scattered};

/// The chosen width: the shape and order of vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Width {
    /// Lanes of a vector; 1 for scalar code.
    pub lanes: u16,
    /// The dimensions of the code in the order of the loops over a group's vectors, the innermost first.
    pub order: [usize; 3],
    /// The least number of work-items of a row that vectors are worth their while for.
    pub min_row: u16,
    /// Whether scalar code is made of the functions as they were before they were brought into canonical form.
    pub is_plain: bool,
    /// Why so many lanes, for the remark.
    pub why: &'static str,
}

impl Width {
    /// Vectors along dimension 0, row after row.
    pub fn new(lanes: u16) -> Width {
        Width { lanes, order: [0, 1, 2], min_row: lanes / 8 + 1, is_plain: false, why: "as requested" }
    }
}

/// The most registers per vector, for loops bound by the latency of a recurrence in long rows. On AVX2, eight are the
/// 64 lanes of a mask.
const MAX_REGISTERS_PER_VECTOR: u32 = 8;

/// The most lanes: a mask has 64 bits. Rows of 64 work-items fill any vector.
pub const MAX_LANES: u32 = 64;

/// The guessed length of the rows of groups, for kernels that query ids in more than one dimension: tiles are mostly
/// 16 wide.
pub const GUESSED_TILE: u32 = 16;

/// How many times the register file the live values of a kernel without loops may take, with 16 registers. (Matrices
/// of 36 variables on AVX2: at nine times the registers instead of four and a half, the kernel takes 1.3 times as
/// long.)
const MAX_OVERCOMMIT: u32 = 4;

/// The same with 32 registers. (The same matrices on AVX-512: at 2.2 times the registers instead of 1.1, the kernel
/// takes 1.25 times as long, and its code twice as long to make.)
const MAX_OVERCOMMIT_OF_MANY: u32 = 2;

/// Chooses the width for the continuations of a kernel, whose groups have rows of `row` work-items.
///
/// * *Two registers per vector* is the default ([`Tuning::interleave`]), if the live values of loops then fit in the
///   registers (for a kernel without loops: nearly fit); else one.
/// * *More than two*, if loops are else bound by the latency of a recurrence ([`crate::analysis::latency`]) or have
///   software prefetch ([`crate::transform::prefetch_loop`]). Never more lanes than a row has work-items.
/// * *One*, if each lane reads its own row ([`crate::transform::row_transpose`]): every lane is a stream of its own
///   for the caches; and if a kernel without loops does little but scatter, which two registers do not make faster.
/// * *Half of one*, if steps of a tree ([`tree_updates`]) have ever fewer work-items.
/// * *Few cache lines' worth of lanes*, if lanes write columns, rows ([`store_streams`]) or records
///   ([`record_stores`]) of their own.
/// * *One register of addresses*, if a kernel without loops does little but scatter, and lanes stay near each other.
/// * *Scalar code*, if the live values of loops exceed one register each and are mostly short vectors, which are
///   vectors already; if nearly all work is on short vectors that fill registers, without waiting for latency, or on
///   whole registers read at a distance from each other; if a kernel mostly counts by atomic operations, unless lanes
///   share cache lines meanwhile; if it does little but access scattered memory; or if vector code would be large and
///   save little ([`code_size`]).
///
/// If lanes access memory at a distance while work-items adjacent in dimension 1 have unit stride (a matrix read by
/// rows and written by columns), the vectors of a group run down dimension 1 first: the next vector then uses the
/// rest of the cache lines before others, which often map to the same cache sets, evict them. Vectors are short
/// enough that the lines of their lanes fit.
pub fn choose(items: &[&VectorInput], vectors: Vectors<'_>, row: u32) -> Width {
    if let Some(lanes) = vectors.options.lanes {
        return Width::new(lanes.clamp(1, 64));
    }
    let &Features { vector_bits: bits, vector_registers: registers, gather_scatter, .. } = vectors.target.features();
    let &Tuning { interleave, open_lines_written, open_lines_read, cache_line, .. } = vectors.tuning();
    let element = element_bits(items);
    let native = (bits / element).clamp(2, MAX_LANES);
    let register_halves = registers * bits / 16;
    let pressure = items.iter().map(|item| pressure::in_loops(item)).max().unwrap_or_default();
    // Without loops: how many values are live even in the best order of instructions.
    let live_without_loops = items.iter().map(|item| pressure::without_loops(item).halves).max().unwrap_or_default();
    let busy = items.iter().any(|item| latency::is_busy(item));
    // In eighths of the register file: slightly more than all of it where a loop would else wait for latency; two
    // registers of sixteen left for temporaries where it would not.
    let usable_eighths = if busy { 7 } else { 10 };
    let overcommit = if registers > 16 { MAX_OVERCOMMIT_OF_MANY } else { MAX_OVERCOMMIT };
    let fits = |lanes: u32| {
        pressure.halves * lanes * 8 <= register_halves * usable_eighths
            && live_without_loops * lanes <= register_halves * overcommit
    };
    let columns = items.iter().filter_map(|item| item.pattern.column).max();
    let lines = items.iter().filter_map(|item| store_streams::written(item)).max().unwrap_or(0);
    let records = items.iter().filter_map(|item| record_stores::stride(item)).max().unwrap_or(0);
    let waits =
        pressure.halves * native <= register_halves && items.iter().any(|item| latency::waits_alone(item, native));
    let (lanes, why) = match () {
        () if pressure.halves * native > 2 * register_halves && 2 * pressure.in_vectors > pressure.halves => {
            (1, "its loops have more live short vectors than there are registers for vectors of lanes")
        }
        () if fill_registers(items, bits) && !waits => {
            (1, "nearly all work is on short vectors, which fill registers as they are")
        }
        () if items.iter().any(|item| reads_registers(item, bits)) => {
            (1, "its loops read short vectors as long as registers, far apart between work-items")
        }
        () if scatters(items) => match gather_scatter && stays_near(items, bits / 64, cache_line) {
            true => (bits / 64, "it does little but scatter to few cache lines: one register of addresses"),
            false => (1, "it does little but access scattered memory"),
        },
        () if items.iter().any(|item| updates_scattered(item)) => {
            (1, "a masked loop does little but update scattered memory")
        }
        () if items.iter().any(|item| gathers(item)) => (1, "a masked loop does little but gather from buffers"),
        () if items.iter().any(|item| backtracks(item)) => {
            (1, "a masked loop goes up and down a stack of its own in each lane")
        }
        () if is_histogram(items) => match items.iter().any(|item| item.counts_with_unit_stride()) {
            true => {
                (native, "it mostly counts by atomic operations, and reads with unit stride: one register per value")
            }
            false => (1, "it mostly counts by atomic operations, which run lane by lane"),
        },
        () if columns == Some(Column::Written) => {
            (native.min(open_lines_written), "lanes write columns of a matrix: few cache lines at a time")
        }
        () if columns == Some(Column::Read) => {
            (native.min(open_lines_read), "lanes read columns of a matrix: few cache lines at a time")
        }
        () if lines > 0 => {
            let lanes = (open_lines_read / lines).clamp(open_lines_written, open_lines_read);
            (native.min(lanes), "each lane writes its own row: few cache lines at a time")
        }
        () if records > 0 => {
            let lanes = (u64::from(open_lines_written * cache_line) / records).max(u64::from(open_lines_written));
            let lanes = 1 << lanes.ilog2();
            (native.min(lanes), "each lane writes fields of its own record: few cache lines at a time")
        }
        () if items.iter().any(|item| tree_updates::is_step(item)) => {
            (bits / 64, "steps of a tree in local memory have few work-items: one register of addresses")
        }
        () if stores_scattered(items) => {
            (native, "one register per value: it does little but store to scattered memory")
        }
        () if items.iter().any(|item| item.reads_rows()) => {
            (native, "one register per value: each lane reads its own row")
        }
        () if !fits(interleave * native) => (native, "one register per value: more live values would not fit"),
        () => {
            let max_registers = (row / native).clamp(interleave, MAX_REGISTERS_PER_VECTOR);
            // Written out lane by lane, other accesses would make much code.
            let is_fetched = || items.iter().any(|item| item.is_prefetched());
            let (registers_per_vector, why) = match varying_accesses(items) <= MAX_VARYING && is_fetched() {
                true => (max_registers, "many registers per value: wide vectors read a grid-stride loop in order"),
                false => {
                    let useful =
                        |item: &&VectorInput| latency::registers(item, interleave, max_registers, registers > 16);
                    match items.iter().map(useful).min().unwrap_or(interleave) {
                        least if least == interleave => (least, "two registers per value hide much of the latency"),
                        more => (more, "more than two registers per value: its loops are bound by latency"),
                    }
                }
            };
            let widths = (0..=registers_per_vector.ilog2()).rev().map(|n| (native << n).min(MAX_LANES));
            (widths.into_iter().find(|&lanes| fits(lanes)).unwrap_or(native), why)
        }
    };
    let is_large = lanes > 1 && !code_size::pays_off(items, lanes, vectors.target.features());
    let (lanes, why) = match is_large {
        true => (1, "its vector code would be large, and save little of the work"),
        false => (lanes, why),
    };
    // Lanes beyond the end of a row would be inactive in every vector.
    let (lanes, why) = match row.next_power_of_two() {
        row if row < lanes => (row, "rows of groups have no more work-items, as far as is known"),
        _ => (lanes, why),
    };
    // Loops in canonical form, with one exit and one way back, would test in each iteration how to go on. (A search
    // that backtracks, on AVX-512: 0.62 ms so, 0.46 with its loops as they were.)
    let is_plain = lanes == 1 && (is_large || items.iter().any(|item| backtracks(item)));
    let order = if columns.is_some() && lanes > 1 { [1, 0, 2] } else { [0, 1, 2] };
    let width = Width { order, is_plain, why, ..Width::new(lanes as u16) };
    // Of such loops, an inactive lane takes as long as an active one, unless there is much to compute. (Two work-items
    // that count bytes, on AVX-512: 3.3 ms with 8 lanes, 0.15 without.)
    let by_lane = items.iter().any(|item| changes_scattered(item));
    let few = if by_lane { (width.lanes / 2).min(FEW_BY_LANE) } else { 0 };
    Width { min_row: width.min_row.max(few + 1), ..width }
}

/// So many work-items update scattered memory faster one after another than in the lanes of a vector.
const FEW_BY_LANE: u16 = 4;

/// The most loads and stores at varying addresses of a kernel whose vectors are long for the sake of the order in which
/// it reads. (A table in local memory, filled by a loop along the grid and looked up four times, on AVX2: 4200
/// instructions and 0.47 ms with 64 lanes, 1100 and 0.28 ms with 16.)
const MAX_VARYING: usize = 2;

/// How many loads and stores have varying addresses.
fn varying_accesses(items: &[&VectorInput]) -> usize {
    let of = |item: &VectorInput| {
        let insts = item.cfg.rpo().iter().flat_map(|&b| &item.func.blocks[b].insts).map(|&i| &item.func.insts[i]);
        let accesses = insts.filter(|data| matches!(data.op, Op::Load { .. } | Op::Store { .. }));
        accesses.filter(|data| item.shapes.of(data.args[0]) == Shape::Varying).count()
    };
    items.iter().map(|item| of(item)).sum()
}

/// Calls `f` for each instruction that computes or stores a varying value, with the value's type and the
/// instruction's estimated frequency.
fn for_each_varying(items: &[&VectorInput], mut f: impl FnMut(&VectorInput, &InstData, Type, u64)) {
    for item in items {
        let func = &item.func;
        for &b in item.cfg.rpo() {
            let frequency = item.times(b);
            for data in func.blocks[b].insts.iter().map(|&i| &func.insts[i]) {
                let value = match data.op {
                    Op::Store { .. } => data.args.get(1).copied(),
                    _ => data.result,
                };
                if let Some(v) = value.filter(|&v| item.shapes.of(v) == Shape::Varying) {
                    f(item, data, func.ty(v), frequency);
                }
            }
        }
    }
}

/// Whether nearly all work is on short vectors as long as a register (of AVX2: with AVX-512, half a register is still
/// better than shuffles). Vectorised, such vectors would be deinterleaved and interleaved for nothing, and need as
/// many registers as they have components. For vectors of bytes 128 bits are enough: lanes of bytes fill no more.
fn fill_registers(items: &[&VectorInput], bits: u32) -> bool {
    let (mut full, mut rest) = (0u64, 0u64);
    let is_full = |ty: Type| {
        let enough = if ty.scalar == Scalar::I8 { 128 } else { bits.min(256) };
        ty.lanes > 1 && ty.scalar.bits() * u32::from(ty.lanes) >= enough
    };
    for_each_varying(items, |item, data, ty, frequency| {
        let words = u64::from((ty.scalar.bits() * u32::from(ty.lanes)).div_ceil(32)) * frequency;
        match is_full(ty) {
            true => full += words,
            // A shuffle is expressed by extracts.
            false if data.op == Op::Extract && is_full(item.func.ty(data.args[0])) => {}
            false => rest += words,
        }
    });
    full > 2 * rest
}

/// Whether work-items read whole registers at a distance from each other in one of the deepest loops, and do little
/// else there. Vectorised, each such load needs a transpose of as many vectors as a register has elements. (A
/// matrix-vector product, 16 floats at once, on AVX-512: twice as fast in scalar code.)
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

/// The least number of vector operations per serialised atomic operation. With fewer, moving addresses from vector
/// registers to scalar ones costs more than vectors save.
const MIN_OPS_PER_ATOMIC: u64 = 10;

/// Whether most of the work is atomic operations at varying addresses, as in a histogram.
fn is_histogram(items: &[&VectorInput]) -> bool {
    let (mut atomic, mut rest) = (0u64, 0u64);
    for_each_varying(items, |item, data, _, frequency| match data.op {
        Op::AtomicRmw { .. } | Op::AtomicCmpXchg { .. } if !item.shapes.is_uniform(data.args[0]) => atomic += frequency,
        _ => rest += frequency,
    });
    atomic > 0 && MIN_OPS_PER_ATOMIC * atomic >= rest
}

/// The width in bits of the elements that most arithmetic is done on.
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

/// Whether nearly all arithmetic is in 16 bits.
fn mostly_narrow(items: &[&VectorInput]) -> bool {
    let (mut narrow, mut rest) = (0, 0);
    for_each_varying(items, |_, data, ty, frequency| {
        let work = u64::from(ty.lanes) * frequency;
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
    use crate::options::VectorOptions;
    use cloom_target::Target;

    /// The number of lanes chosen for a kernel on AVX2.
    fn chosen_lanes(text: &str) -> u16 {
        chosen_lanes_for("x86-64-v3", text)
    }

    /// The number of lanes chosen for a kernel on a processor.
    fn chosen_lanes_for(cpu: &str, text: &str) -> u16 {
        let mut module = cloom_ir::parse(text).unwrap();
        let kernel = module.kernels().next().unwrap();
        let target: Target = format!("x86_64-unknown-linux-gnu:{cpu}").parse().unwrap();
        let options = VectorOptions::default();
        crate::work_group_function(&mut module, kernel, options, &target, &Default::default()).unwrap().launch.lanes
    }

    /// The number of lanes for a kernel that adds a short vector to itself.
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
        chosen_lanes(&text)
    }

    #[test]
    fn short_vectors_that_fill_registers_are_scalar() {
        assert_eq!((lanes("f32x4"), lanes("f32x8"), lanes("f32x16")), (16, 1, 1));
        // Vectorised too, bytes fill no more than 128 bits.
        assert_eq!((lanes("i8x8"), lanes("i8x16"), lanes("i16x8")), (16, 1, 32));
    }

    /// The number of lanes for a kernel that loads `numbers` values and then multiplies them, the last one first.
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
        chosen_lanes(&text)
    }

    #[test]
    fn many_live_values_get_one_register_each_also_without_loops() {
        assert_eq!((lanes_of_many(30), lanes_of_many(40)), (16, 8));
    }

    /// The number of lanes for a kernel with `chains` independent recurrences in a loop.
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
        chosen_lanes(&text)
    }

    #[test]
    fn loops_not_bound_by_latency_keep_recurrences_in_registers() {
        // With two registers per vector, all sixteen would be full, with none left for the factor and the summand.
        assert_eq!((lanes_of_chains(6), lanes_of_chains(8)), (16, 8));
        // A loop bound by latency uses all registers.
        assert!(lanes_of_chains(2) >= 32);
    }

    /// A kernel that doubles elements at a hash of the id, whose bits in `mask` are kept, and then adds `sums` times.
    fn scatter(mask: u32, sums: u32) -> String {
        let more: String = (0..sums).map(|n| format!("    v{}: i32 = add v{}, v7\n", 9 + n, 8 + n)).collect();
        format!(
            "func external @k(ptr<global>) kernel {{
  param \"p\" \"int*\" global size 8 align 8
}} {{
bb0(v0: ptr<global>):
    v1: i64 = query global_id 0
    v2: i64 = const 0x3779b1
    v3: i64 = mul v1, v2
    v4: i64 = const {mask:#x}
    v5: i64 = and v3, v4
    v6: ptr<global> = ptradd v0, v5
    v7: i32 = load v6 align 4
    v8: i32 = add v7, v7
{more}    store v6, v{} align 4
    ret
}}",
            8 + sums
        )
    }

    #[test]
    fn kernels_that_only_access_scattered_memory_are_scalar_but_where_lanes_stay_near() {
        let (far, near) = (scatter(0xffffc, 0), scatter(0x3c, 0));
        assert_eq!((chosen_lanes(&far), chosen_lanes(&scatter(0xffffc, 20))), (1, 16));
        assert_eq!(chosen_lanes(&near), 1, "there are no scatters");
        for cpu in ["x86-64-v4+intel", "x86-64-v4"] {
            assert_eq!((chosen_lanes_for(cpu, &far), chosen_lanes_for(cpu, &near)), (1, 8), "{cpu}");
        }
    }

    /// The number of lanes for a kernel that counts in local memory what it reads in a loop, with a stride of
    /// `distance` bytes between lanes.
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
        chosen_lanes(&text)
    }

    #[test]
    fn histograms_are_vectorised_only_to_share_cache_lines() {
        assert_eq!((lanes_of_histogram(4), lanes_of_histogram(4096)), (8, 1));
    }

    /// The number of lanes for a kernel that scatters what it loads in order, after so many more additions.
    fn lanes_of_permutation(more: u32) -> u16 {
        let sums: String = (0..more).map(|n| format!("    v{}: i32 = add v{}, v8\n", 20 + n, 19 + n)).collect();
        let text = format!(
            "func external @k(ptr<global>, ptr<global>) kernel {{
  param \"p\" \"int*\" global size 8 align 8
  param \"q\" \"int*\" global size 8 align 8
}} {{
bb0(v0: ptr<global>, v1: ptr<global>):
    v2: i64 = query global_id 0
    v3: i64 = const 0x4
    v4: i64 = mul nsw v2, v3
    v5: ptr<global> = ptradd v0, v4
    v8: i32 = load v5 align 4
    v19: i32 = add v8, v8
{sums}    v9: i64 = sext v8
    v10: i64 = mul nsw v9, v3
    v11: ptr<global> = ptradd v1, v10
    store v11, v{} align 4
    ret
}}",
            19 + more
        );
        chosen_lanes(&text)
    }

    #[test]
    fn kernels_that_mostly_scatter_have_one_register_per_value() {
        assert_eq!((lanes_of_permutation(0), lanes_of_permutation(20)), (8, 16));
    }

    /// The number of lanes for a kernel that sums `q[p[k]]` over a row for each work-item, whose length it loads; rows
    /// are `distance` bytes apart.
    fn lanes_of_rows(distance: u64) -> u16 {
        let text = format!(
            "func external @k(ptr<global>, ptr<global>) kernel {{
  param \"p\" \"int*\" global size 8 align 8
  param \"q\" \"float*\" global size 8 align 8
}} {{
bb0(v0: ptr<global>, v1: ptr<global>):
    v2: i64 = query global_id 0
    v3: i64 = const {distance:#x}
    v4: i64 = mul nsw v2, v3
    v5: ptr<global> = ptradd v0, v4
    v6: i32 = load v5 align 4
    v7: i64 = const 0x4
    v8: i32 = const 0x0
    v9: i32 = const 0x1
    v10: f32 = const 0x0
    jump bb1(v8, v5, v10)
bb1(v11: i32, v12: ptr<global>, v13: f32):
    v14: i1 = icmp ult v11, v6
    br v14, bb2, bb3
bb2:
    v15: i32 = load v12 align 4
    v16: i64 = zext v15
    v17: i64 = mul nuw v16, v7
    v18: ptr<global> = ptradd v1, v17
    v19: f32 = load v18 align 4
    v20: f32 = fadd v13, v19
    v21: i32 = add nuw v11, v9
    v22: ptr<global> = ptradd v12, v7
    jump bb1(v21, v22, v20)
bb3:
    store v5, v13 align 4
    ret
}}"
        );
        chosen_lanes(&text)
    }

    #[test]
    fn short_sparse_rows_are_scalar_however_near_to_each_other() {
        assert_eq!((lanes_of_rows(256), lanes_of_rows(36)), (1, 1));
        assert!(lanes_of_rows(4) > 1);
    }

    #[test]
    fn short_vectors_side_by_side_are_not_gathered() {
        let text = "func external @k(ptr<global>, ptr<global>, i64) kernel {
  param \"p\" \"float*\" global size 8 align 8
  param \"q\" \"float*\" global size 8 align 8
  param \"n\" \"ulong\" value size 8 align 8
} {
bb0(v0: ptr<global>, v1: ptr<global>, v2: i64):
    v3: i64 = query local_id 0
    v4: i64 = const 0x10
    v5: i64 = const 0x40
    v6: f32x4 = const 0x0
    jump bb1(v3, v6)
bb1(v7: i64, v8: f32x4):
    v9: i1 = icmp ult v7, v2
    br v9, bb2, bb3
bb2:
    v10: i64 = mul nsw v7, v4
    v11: ptr<global> = ptradd v0, v10
    v12: f32x4 = load v11 align 4
    v13: ptr<global> = ptradd v1, v10
    v14: f32x4 = load v13 align 4
    v15: f32x4 = fma v12, v14, v8
    v16: i64 = add nsw v7, v5
    jump bb1(v16, v15)
bb3:
    v17: i64 = mul nsw v3, v4
    v18: ptr<global> = ptradd v1, v17
    store v18, v8 align 4
    ret
}";
        assert!(chosen_lanes(text) > 1);
    }
}
