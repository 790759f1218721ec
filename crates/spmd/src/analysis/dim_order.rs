//! The order of dimensions: along which dimension of a launch vectors lie.
//!
//! In come the continuations of a kernel as functions of one work-item; out goes the order in which the kernel's code
//! has the dimensions of a launch, innermost first. Where neighbours in memory are neighbours in a dimension other
//! than 0, as in
//!
//! ```c
//! int row = get_global_id(0), column = get_global_id(1);
//! to[row * width + column] = from[row * width + column];
//! ```
//!
//! that dimension is the first one of the code. All stages after this one, up to the launcher, call it 0: the
//! parameters of the functions are renamed here, and the launcher permutes the sizes of a launch alike. So there is
//! one rule for lanes, rows of groups, regrouping and the order of groups.
//!
//! The choice is by the cost of the accesses to memory for vectors along each dimension (as loop interchange for
//! vectorisation). How long a launch will be in a dimension is not known; for one that is too short, there is code
//! with the dimensions as written ([`crate::VectorOptions::keep_dim0`]).

use crate::analysis::bounds::Bounds;
use crate::analysis::divergence;
use crate::analysis::shape::{self, Shape, Shapes};
use crate::emit::widen::{FAR, IN_LOOP};
use crate::split::continuation_fn::Param;
use crate::transform::canonicalize;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{Function, Op, Space, Value};

/// The dimensions of a launch in the order of the code's.
pub type DimOrder = [u8; 3];

/// As the kernel has them.
pub const AS_WRITTEN: DimOrder = [0, 1, 2];

/// What an access to memory costs in lanes that lie side by side, or are all at one place,
const TOGETHER: u64 = 1;
/// some bytes apart, so that they share cache lines,
const NEAR: u64 = 3;
/// or each on a line of its own, or nobody knows where.
const APART: u64 = 8;

/// A dimension other than 0 must be so many times as good: what a launch is like speaks for 0, where programs usually have the most
/// work-items.
const BETTER: u64 = 2;

/// The order of dimensions that suits functions with these parameters, in groups of a size, if that is known.
pub fn choose<'a>(
    parts: impl Iterator<Item = (&'a Function, &'a [Param])> + Clone,
    bounds: &dyn Fn(Param) -> u64,
    shapes: &dyn Fn(Param, usize) -> Shape,
    group: Option<[u32; 3]>,
) -> DimOrder {
    let asks = |d: u8| {
        parts.clone().any(|(_, params)| params.iter().any(|&p| p == Param::LocalId(d) || p == Param::GlobalId(d)))
    };
    if !asks(1) && !asks(2) {
        return AS_WRITTEN;
    }
    let mut costs = [0u64; 3];
    for (func, params) in parts.clone() {
        let mut func = func.clone();
        let differs: Vec<Value> = {
            let values = func.param_values().iter().zip(params);
            values.filter(|&(_, &p)| (0..3).any(|d| shapes(p, d) != Shape::Uniform)).map(|(&v, _)| v).collect()
        };
        let Ok(canonical) = canonicalize::run(&mut func, &|f| divergence::between_lanes(f, &differs)) else {
            return AS_WRITTEN;
        };
        let bounds = Bounds::new(&func, &params.iter().map(|&p| bounds(p)).collect::<Vec<_>>());
        let times = times(&func);
        for (d, total) in costs.iter_mut().enumerate() {
            let along: Vec<Shape> = params.iter().map(|&p| shapes(p, d)).collect();
            *total = total.saturating_add(cost(
                &func,
                &shape::analyse(&func, &along, &bounds, &canonical.unspecified),
                &times,
            ));
        }
    }
    // Lanes beyond the end of a row do nothing.
    let filled = |d: u8| group.map_or(u64::from(ROW), |size| u64::from(size[usize::from(d)].clamp(1, ROW)));
    let dear = |d: u8| costs[usize::from(d)].saturating_mul(u64::from(ROW)) / filled(d);
    let best = (1..3).filter(|&d| asks(d)).min_by_key(|&d| dear(d));
    // Who does not ask for dimension 0 does the same all along it.
    match best.filter(|&d| !asks(0) || dear(d).saturating_mul(BETTER) < dear(0)) {
        Some(1) => [1, 0, 2],
        // Who counts from the other end does so throughout.
        Some(2) => [2, 1, 0],
        _ => AS_WRITTEN,
    }
}

/// Rows of groups that fill vectors.
const ROW: u32 = 16;

/// How often each block is run, roughly.
fn times(func: &Function) -> Vec<u64> {
    let cfg = Cfg::new(func);
    let loops = Loops::new(func, &cfg, &DomTree::new(func, &cfg));
    func.blocks.keys().map(|b| if loops.innermost(b).is_some() { IN_LOOP } else { 1 }).collect()
}

/// What the accesses to memory cost, of a function whose values have these shapes.
fn cost(func: &Function, shapes: &Shapes, times: &[u64]) -> u64 {
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
            // Private arrays are laid out for lanes, whichever way these lie.
            if matches!(space, Some(Space::Private | Space::Context)) {
                continue;
            }
            let size = i64::from(func.ty(value).bytes());
            let each = match shapes.of(data.args[0]) {
                // All that write there but one do so in vain.
                Shape::Uniform if writes => APART,
                Shape::Uniform => TOGETHER,
                Shape::Strided { by, .. } if by.unsigned_abs() == size.unsigned_abs() => TOGETHER,
                Shape::Strided { by, .. } if by.unsigned_abs() <= FAR.unsigned_abs() => NEAR,
                // Local memory stays in the first cache.
                _ if space == Some(Space::Local) => NEAR,
                _ => APART,
            };
            sum = sum.saturating_add(each * times[cloom_ir::Entity::index(b)]);
        }
    }
    sum
}

/// Calls the dimensions of a function's parameters by their place in the order.
pub fn rename(params: &mut [Param], dim_order: DimOrder) {
    let place = |d: u8| dim_order.iter().position(|&a| a == d).map_or(d, |at| at as u8);
    for p in params {
        match p {
            Param::LocalId(d) | Param::GlobalId(d) | Param::Query(_, d) => *d = place(*d),
            _ => {}
        }
    }
}
