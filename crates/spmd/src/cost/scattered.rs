//! Kernels and loops that do little but access memory at addresses that vary without a stride.
//!
//! In come analysed functions; out go answers that the cost model asks for. A processor executes such accesses one
//! element after another, so that vectors save little, and assembling and taking them apart costs more than that,
//! unless it has fast instructions for it.

use super::query::for_each_varying;
use crate::analysis::input::VectorInput;
use crate::analysis::lane_range;
use crate::analysis::latency;
use crate::analysis::shape::Shape;
use cloom_ir::loops::Loop;
use cloom_ir::{Op, Scalar, Space, Type, Value};

/// The least number of vector operations per serialised access to memory. With fewer, vectors are not profitable.
const MIN_OPS_PER_ACCESS: u64 = 6;

/// Whether a kernel without loops does little but load and store at varying addresses, such as from an index table or
/// a hash. Vectorised, lanes would be assembled for a few operations and taken apart again, while scalar code has as
/// many accesses in flight. (Incrementing scattered floats: 22 ms vectorised, 13 ms scalar.)
pub fn scatters(items: &[&VectorInput]) -> bool {
    let (mut scattered, mut regular, mut rest, mut stores, mut loops) = (0u64, 0u64, 0u64, 0u64, false);
    for_each_varying(items, |item, data, _, frequency| {
        loops |= frequency > 1;
        match data.op {
            Op::Load { .. } | Op::Store { .. } if item.shapes.of(data.args[0]) == Shape::Varying => {
                scattered += 1;
                stores += u64::from(matches!(data.op, Op::Store { .. }));
            }
            Op::Load { .. } | Op::Store { .. } => regular += 1,
            _ => rest += 1,
        }
    });
    !loops && regular == 0 && stores > 0 && MIN_OPS_PER_ACCESS * scattered >= rest
}

/// The most cache lines that lanes at varying addresses may touch for accesses to count as near.
const MAX_NEAR_LINES: u32 = 4;

/// Whether so many lanes access only a few cache lines wherever their addresses vary.
pub fn stays_near(items: &[&VectorInput], lanes: u32, cache_line: u32) -> bool {
    let mut near = true;
    for_each_varying(items, |item, data, _, _| {
        let address = data.args.first().filter(|_| matches!(data.op, Op::Load { .. } | Op::Store { .. }));
        // An instruction that is no access touches no line.
        let range = address.map_or(Some(0), |&p| lane_range::of(item, p, lanes));
        near &= range.is_some_and(|bytes| bytes <= u64::from(MAX_NEAR_LINES * cache_line));
    });
    near
}

/// Whether a kernel without loops does little but store at varying addresses, where all lanes are on. More stores at a
/// time only fill the store queue. (A permutation of 2^18 words on AVX-512: 0.134 ms with 32 lanes, 0.122 with 16.)
pub fn stores_scattered(items: &[&VectorInput]) -> bool {
    // For each continuation, as all of them must be simple, and one of them must scatter.
    let is_simple = |item: &VectorInput| {
        let (mut scattered, mut rest) = (0u64, 0u64);
        for &b in item.cfg.rpo() {
            for data in item.func.blocks[b].insts.iter().map(|&i| &item.func.insts[i]) {
                match data.op {
                    Op::Store { .. } if item.shapes.of(data.args[0]) == Shape::Varying => {
                        // Under a mask, perhaps few lanes store at all.
                        scattered += u64::from(!item.masked.is_masked(b));
                    }
                    _ => rest += u64::from(data.result.is_some_and(|r| item.shapes.of(r) == Shape::Varying)),
                }
            }
        }
        (scattered, item.loops.loops.is_empty() && MIN_OPS_PER_ACCESS * scattered >= rest)
    };
    let (scattered, simple) = items.iter().fold((0, true), |(n, all), item| {
        let (scattered, simple) = is_simple(item);
        (n + scattered, all && simple)
    });
    scattered > 0 && simple
}

/// The least number of vector operations per serialised atomic operation. With fewer, moving addresses from vector
/// registers to scalar ones costs more than vectors save.
const MIN_OPS_PER_ATOMIC: u64 = 10;

/// Whether most of the work is atomic operations at varying addresses, as in a histogram.
pub fn is_histogram(items: &[&VectorInput]) -> bool {
    let (mut atomic, mut rest) = (0u64, 0u64);
    for_each_varying(items, |item, data, _, frequency| match data.op {
        Op::AtomicRmw { .. } | Op::AtomicCmpXchg { .. } if !item.shapes.is_uniform(data.args[0]) => atomic += frequency,
        _ => rest += frequency,
    });
    atomic > 0 && MIN_OPS_PER_ATOMIC * atomic >= rest
}

/// Whether one of the deepest masked loops updates memory at varying addresses.
pub fn changes_scattered(item: &VectorInput) -> bool {
    masked_loops(item, i64::MAX).any(|a| a.changes())
}

/// Whether one of the deepest masked loops updates memory at varying addresses and computes less than it loads and
/// stores: rows of small matrices in local memory, for instance. (6 by 6 matrices factorised by six work-items each,
/// on AVX-512: 0.52 ms with 8 lanes, 0.34 ms scalar.)
pub fn updates_scattered(item: &VectorInput) -> bool {
    masked_loops(item, i64::MAX).any(|a| a.changes() && a.regular == 0 && a.computes < a.read.len() + a.written.len())
}

/// Whether one of the deepest masked loops gathers from buffers and computes less than it loads: rows of a sparse
/// matrix. Inactive lanes take as long as active ones. (Rows of up to 15 floats, on AVX-512: 2.2 ms with 8 lanes, 1.2
/// ms with 16, 0.6 ms scalar.) Not measured on machines with fast gathers.
pub fn gathers(item: &VectorInput) -> bool {
    let reads = |a: &MaskedLoop| a.read.len() > 1 && a.written.is_empty() && a.regular == 0 && a.only_global;
    !item.fast_gather && masked_loops(item, MIN_GATHERED).any(|a| reads(&a) && a.computes < a.read.len())
}

/// The least number of accesses by which a loop that goes up and down a stack is known.
const MIN_ON_STACK: usize = 4;

/// Whether a masked loop is a search that backtracks: it mostly goes up and down arrays of its own, at a depth that
/// differs from lane to lane. Lanes have nothing in common then, and each access is made lane by lane. (The travelling
/// salesman by branch and bound over 11 cities, on AVX-512: 4.9 ms with 32 lanes, 0.7 ms scalar.)
pub fn backtracks(item: &VectorInput) -> bool {
    let on_stack = |a: &MaskedLoop| a.private >= MIN_ON_STACK && !a.written.is_empty();
    of_loops(item, item.loops.loops.iter(), i64::MAX)
        .any(|a| on_stack(&a) && a.private > a.computes && 2 * a.private > a.read.len() + a.written.len())
}

/// The least stride in bytes at which loads under a mask are gathers: longer than that of any scalar.
const MIN_GATHERED: i64 = 9;

/// The accesses and computations of a masked loop.
struct MaskedLoop {
    /// The varying addresses it loads from.
    read: Vec<Value>,
    /// The varying addresses it stores to.
    written: Vec<Value>,
    /// How many of both are in private arrays.
    private: usize,
    /// How many accesses have other addresses.
    regular: usize,
    /// Whether all accesses are to buffers.
    only_global: bool,
    /// How many varying operations it has, address computations left out.
    computes: usize,
}

impl MaskedLoop {
    /// Whether it stores where it has loaded.
    fn changes(&self) -> bool {
        self.written.iter().any(|p| self.read.contains(p))
    }
}

/// The deepest masked loops. Addresses with a stride of `far` bytes or more count as varying, unless accesses are side
/// by side: short vectors are loaded as one vector and deinterleaved.
fn masked_loops(item: &VectorInput, far: i64) -> impl Iterator<Item = MaskedLoop> {
    of_loops(item, latency::deepest(item).into_iter(), far)
}

/// The same of those of these loops that are masked.
fn of_loops<'a>(
    item: &'a VectorInput,
    loops: impl Iterator<Item = &'a Loop>,
    far: i64,
) -> impl Iterator<Item = MaskedLoop> {
    let func = &item.func;
    let varying = |v: Value| item.shapes.of(v) == Shape::Varying;
    let is_scattered = move |p: Value, ty: Type| match item.shapes.of(p) {
        Shape::Strided { by, .. } => by.unsigned_abs() >= far.unsigned_abs() && by != i64::from(ty.bytes()),
        shape => shape == Shape::Varying,
    };
    loops.filter(|l| item.masked.is_masked(l.header)).map(move |l| {
        let mut found = MaskedLoop {
            read: Vec::new(),
            written: Vec::new(),
            private: 0,
            regular: 0,
            only_global: true,
            computes: 0,
        };
        for data in l.blocks.iter().flat_map(|&b| &func.blocks[b].insts).map(|&i| &func.insts[i]) {
            match data.op {
                Op::Load { .. } | Op::Store { .. } => {
                    let p = data.args[0];
                    // Local and private memory is near: only buffers are far away.
                    found.only_global &= func.ty(p).space() == Some(Space::Global);
                    let is_private = func.ty(p).space() == Some(Space::Private);
                    found.private += usize::from(is_private && item.shapes.of(p) == Shape::Varying);
                    let accessed = func.ty(data.result.unwrap_or_else(|| data.args[1]));
                    match (is_scattered(p, accessed), data.result.is_some()) {
                        // A load has a result, a store has none.
                        (true, true) => found.read.push(p),
                        (true, false) => found.written.push(p),
                        (false, _) => found.regular += 1,
                    }
                }
                // Integer operations mostly compute addresses, which is as fast in scalar code.
                Op::Unary(_) | Op::Binary(_) | Op::Fma | Op::Fcmp(_) | Op::Select => {
                    let r = data.result.filter(|&r| varying(r));
                    let float = |r: Value| matches!(func.ty(r).scalar, Scalar::F16 | Scalar::F32 | Scalar::F64);
                    let counted = r.is_some_and(float) || r.is_some() && !matches!(data.op, Op::Binary(_));
                    found.computes += usize::from(counted);
                }
                _ => {}
            }
        }
        found
    })
}
