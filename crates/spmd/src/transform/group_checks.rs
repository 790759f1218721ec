//! Checks of bounds that hold for a whole group: one condition in front of a copy of the function without them.
//!
//! In comes a function whose accesses are checked ([`cloom_passes::bounds`]), each by a branch on `offset <u limit`.
//! Out go those of the branches for whose offset the group can compute that it is below the limit: by its interval, or
//! else, where numbers have no sign, by an upper bound. The copy in [`crate::transform::no_wrap`] goes without them:
//!
//! ```c
//! int i = get_global_id(0);
//! if (i < n) out[i] = in[i];            // i is at most n - 1: if 4 * (n - 1) < limit, neither access is checked
//! ```
//!
//! Groups for which the condition does not hold run the function with its checks. Those that hold in every group, as
//! for an array of the kernel whose index is clamped, are in neither.

use crate::analysis::group_bounds::{Bound, GroupBounds};
use crate::analysis::group_intervals::{Claim, GroupIntervals};
use cloom_ir::cfg::Cfg;
use cloom_ir::{BinOp, Block, Builder, Function, IntCc, Op, Term, Type, Value};

/// A branch of a check that need not be made.
pub struct Proof {
    /// The block that ends with it.
    pub block: Block,
    /// What is left of its condition, such as the alignment of the address.
    pub rest: Vec<Value>,
    /// What says so.
    pub reason: Reason,
}

/// Why a check holds for all work-items of a group.
pub enum Reason {
    /// The interval of the offset,
    Interval(Claim),
    /// or, where numbers have no sign, its upper bound.
    Bound(Bound),
}

/// The checks that need not be made in each work-item.
#[derive(Default)]
pub struct Proofs {
    /// Those that hold in every group, of each branch all in one.
    pub known: Vec<(Block, Vec<Value>)>,
    /// Those that a group can make for all its work-items.
    pub of_group: Vec<Proof>,
}

/// Finds checks that need not be made in each work-item.
pub fn find(
    func: &Function,
    cfg: &Cfg,
    constants: &mut GroupIntervals<'_>,
    intervals: &mut GroupIntervals<'_>,
    bounds: &mut GroupBounds<'_>,
) -> Proofs {
    let mut proofs = Proofs::default();
    for &block in cfg.rpo() {
        let Term::Branch { cond, .. } = func.blocks[block].term else { continue };
        let mut rest = Vec::new();
        let mut stack = vec![cond];
        while let Some(v) = stack.pop() {
            match func.def_inst(v).map(|i| &func.insts[i]) {
                Some(data) if data.op == Op::Binary(BinOp::And) => stack.extend(data.args.iter().rev()),
                _ => rest.push(v),
            }
        }
        let mut is_known =
            |v: Value| comparison(func, v).is_some_and(|(offset, limit)| constants.holds(offset, limit, block));
        let all = rest.len();
        rest.retain(|&v| !is_known(v));
        if rest.len() < all {
            proofs.known.push((block, rest.clone()));
        }
        // Each on its own: the group may be able to make one of a copy's two checks.
        for v in rest.clone() {
            if let Some(reason) = holds(func, v, block, intervals, bounds) {
                rest.retain(|&other| other != v);
                proofs.of_group.push(Proof { block, rest: rest.clone(), reason });
            }
        }
    }
    proofs
}

/// Why a comparison holds.
fn holds(
    func: &Function,
    v: Value,
    at: Block,
    intervals: &mut GroupIntervals<'_>,
    bounds: &mut GroupBounds<'_>,
) -> Option<Reason> {
    let (offset, limit) = comparison(func, v)?;
    // What the group knows is tested once for the group as it is.
    if bounds.is_shared(offset) || !bounds.is_shared(limit) {
        return None;
    }
    let claim = intervals.claim(offset, limit, at).map(Reason::Interval);
    claim.or_else(|| bounds.below(offset, limit, at).map(Reason::Bound))
}

/// The offset and the limit of a check.
fn comparison(func: &Function, v: Value) -> Option<(Value, Value)> {
    let data = &func.insts[func.def_inst(v)?];
    let (offset, limit) = match data.op {
        Op::Icmp(IntCc::Ult) => (data.args[0], data.args[1]),
        Op::Icmp(IntCc::Ugt) => (data.args[1], data.args[0]),
        _ => return None,
    };
    (func.ty(offset) == Type::I64).then_some((offset, limit))
}

/// Drops checks in a function for whose work-items they hold: the branches of these blocks keep what is left of their
/// conditions.
pub fn drop_proved<'a>(func: &mut Function, proofs: impl IntoIterator<Item = (Block, &'a [Value])>) {
    for (block, rest) in proofs {
        let mut b = Builder::new(func, block);
        let rest = rest.iter().copied().reduce(|a, v| b.binary(BinOp::And, a, v));
        let cond = rest.unwrap_or_else(|| b.iconst(Type::I1, 1));
        if let Term::Branch { cond: old, .. } = &mut func.blocks[block].term {
            *old = cond;
        }
    }
}
