//! The order of dimensions: along which dimension of a launch vectors lie.
//!
//! In come the continuations of a kernel as functions of one work-item; out goes the order in which the kernel's code
//! has the dimensions of a launch, innermost first. If accesses have unit stride along a dimension other than 0, as
//! in
//!
//! ```c
//! int row = get_global_id(0), column = get_global_id(1);
//! to[row * width + column] = from[row * width + column];
//! ```
//!
//! that dimension becomes the first one of the code. All later stages, up to the launcher, call it dimension 0: the
//! parameters of the functions are renamed here, and the launcher permutes the sizes of a launch alike. So lanes,
//! rows of groups, regrouping and the order of groups have one rule.
//!
//! The choice minimises the cost of the memory accesses of a vector, like loop interchange for vectorisation. The
//! extents of a launch are not known here; for launches that are too short in the chosen dimension, there is a
//! variant with the dimensions as written ([`crate::VectorOptions::keep_dim0`]).

use crate::analysis::bounds::Bounds;
use crate::analysis::input::{FAR, IN_LOOP};
use crate::analysis::shape::{self, Shape, Shapes};
use crate::params::Param;
use crate::transform::canonicalize;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{Function, Op, Space, Value};

/// A permutation: element `d` is the launch dimension that is dimension `d` of the code.
pub type DimOrder = [u8; 3];

/// The identity permutation.
pub const AS_WRITTEN: DimOrder = [0, 1, 2];

/// The cost of an access to memory with unit stride, or at one address for all lanes.
const UNIT_COST: u64 = 1;
/// The same with a small stride: lanes share cache lines.
const NEAR_COST: u64 = 3;
/// The same with a large or unknown stride: a cache line for each lane.
const FAR_COST: u64 = 8;

/// How many times cheaper another dimension must be than dimension 0, along which launches are usually longest.
const MIN_GAIN: u64 = 2;

/// Chooses the order of dimensions for functions with these parameters. `group` is the group size, if it is known.
pub fn choose<'a>(
    parts: impl Iterator<Item = (&'a Function, &'a [Param])> + Clone,
    bounds: &dyn Fn(Param) -> u64,
    shapes: &dyn Fn(Param, usize) -> Shape,
    group: Option<[u32; 3]>,
) -> DimOrder {
    let queries_id = |d: u8| {
        parts.clone().any(|(_, params)| params.iter().any(|&p| p == Param::LocalId(d) || p == Param::GlobalId(d)))
    };
    // Nothing differs along the other dimensions.
    if !queries_id(1) && !queries_id(2) {
        return AS_WRITTEN;
    }
    // Of all continuations together, as they share one order.
    let mut costs = [0u64; 3];
    for (func, params) in parts.clone() {
        let varying: Vec<Value> = {
            let values = func.param_values().iter().zip(params);
            values.filter(|&(_, &p)| (0..3).any(|d| shapes(p, d) != Shape::Uniform)).map(|(&v, _)| v).collect()
        };
        // A limit of canonical form: most likely there will be no vectors at all.
        let Ok((func, canonical)) = canonicalize::form_of_copy(func, &varying) else {
            return AS_WRITTEN;
        };
        let bounds = Bounds::new(&func, &params.iter().map(|&p| bounds(p)).collect::<Vec<_>>());
        // Blocks are the same for all dimensions, shapes are not.
        let frequency = frequency(&func);
        for (d, total) in costs.iter_mut().enumerate() {
            let param_shapes: Vec<Shape> = params.iter().map(|&p| shapes(p, d)).collect();
            *total = total.saturating_add(cost(
                &func,
                &shape::analyse(&func, &param_shapes, &bounds, &canonical.unspecified),
                &frequency,
            ));
        }
    }
    // Lanes beyond the end of a row are inactive: the cost is per active lane.
    let filled_lanes =
        |d: u8| group.map_or(u64::from(FULL_ROW), |size| u64::from(size[usize::from(d)].clamp(1, FULL_ROW)));
    let weighted_cost = |d: u8| costs[usize::from(d)].saturating_mul(u64::from(FULL_ROW)) / filled_lanes(d);
    let best = (1..3).filter(|&d| queries_id(d)).min_by_key(|&d| weighted_cost(d));
    // A kernel that does not query its id in dimension 0 does the same work all along that.
    match best.filter(|&d| !queries_id(0) || weighted_cost(d).saturating_mul(MIN_GAIN) < weighted_cost(0)) {
        Some(1) => [1, 0, 2],
        // A kernel that numbers its dimensions in reverse does so throughout: reverse all three.
        Some(2) => [2, 1, 0],
        _ => AS_WRITTEN,
    }
}

/// The length of rows that counts as filling vectors.
const FULL_ROW: u32 = 16;

/// The estimated frequency of each block.
fn frequency(func: &Function) -> Vec<u64> {
    let cfg = Cfg::new(func);
    let loops = Loops::new(func, &cfg, &DomTree::new(func, &cfg));
    func.blocks.keys().map(|b| if loops.innermost(b).is_some() { IN_LOOP } else { 1 }).collect()
}

/// The cost of all memory accesses of a function whose values have these shapes.
fn cost(func: &Function, shapes: &Shapes, frequency: &[u64]) -> u64 {
    let mut sum = 0u64;
    for &b in &func.layout {
        for data in func.blocks[b].insts.iter().map(|&i| &func.insts[i]) {
            let (value, writes) = match data.op {
                Op::Load { .. } => (data.result, false),
                Op::Store { .. } => (data.args.get(1).copied(), true),
                _ => continue,
            };
            let Some(value) = value else { continue };
            let space = func.ty(data.args[0]).space();
            // The layout of private arrays follows the lanes, whatever their dimension.
            if matches!(space, Some(Space::Private | Space::Context)) {
                continue;
            }
            let size = i64::from(func.ty(value).bytes());
            let access_cost = match shapes.of(data.args[0]) {
                // Only the store of one lane is visible: the others are wasted.
                Shape::Uniform if writes => FAR_COST,
                Shape::Uniform => UNIT_COST,
                Shape::Strided { by, .. } if by.unsigned_abs() == size.unsigned_abs() => UNIT_COST,
                Shape::Strided { by, .. } if by.unsigned_abs() <= FAR.unsigned_abs() => NEAR_COST,
                // Local memory stays in the L1 cache.
                _ if space == Some(Space::Local) => NEAR_COST,
                _ => FAR_COST,
            };
            sum = sum.saturating_add(access_cost * frequency[cloom_ir::Entity::index(b)]);
        }
    }
    sum
}

/// Renames the dimensions in a function's parameters to their positions in the order.
pub fn rename(params: &mut [Param], dim_order: DimOrder) {
    let position = |d: u8| dim_order.iter().position(|&a| a == d).map_or(d, |at| at as u8);
    for p in params {
        match p {
            Param::LocalId(d) | Param::GlobalId(d) | Param::Query(_, d) => *d = position(*d),
            _ => {}
        }
    }
}
