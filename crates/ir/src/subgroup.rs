//! The semantics of sub-group operations, for all stages: which operations combine values, from which identity, and in
//! which order.
//!
//! Input: the values of whole sub-groups, with the identity for inactive work-items. Output: the result of each
//! work-item. The order matters for floats only. It is that of vector code: reductions are a tree that adds halves;
//! scans go in steps of 1, 2, 4 … (Hillis and Steele). A sub-group of W lanes has W a power of two.

use crate::inst::{BinOp, Query};
use crate::types::{Scalar, Type};
use crate::{Function, Module, Op, eval};

impl Query {
    /// Whether it queries the work-item's id in its sub-group, or the sub-group's id in the group.
    pub fn is_subgroup(self) -> bool {
        matches!(
            self,
            Query::SubgroupLocalId
                | Query::SubgroupSize
                | Query::MaxSubgroupSize
                | Query::SubgroupId
                | Query::NumSubgroups
                | Query::EnqueuedNumSubgroups
        )
    }
}

/// Whether a function depends on how work-items form sub-groups.
pub fn uses(func: &Function) -> bool {
    func.insts_in_layout().any(|(_, data)| match &data.op {
        Op::Query { what, .. } => what.is_subgroup(),
        op => op.is_subgroup(),
    })
}

/// Whether any function of a module can.
pub fn module_uses(module: &Module) -> bool {
    module.funcs.values().any(uses)
}

/// Whether values of a type can be exchanged between work-items.
pub fn exchanges(ty: Type) -> bool {
    !ty.is_vector() && !ty.is_ptr()
}

/// Whether an operation can combine the values of work-items: it has an identity.
pub fn combines(op: BinOp, ty: Type) -> bool {
    let float = matches!(op, BinOp::Fadd | BinOp::Fmul | BinOp::Fmin | BinOp::Fmax);
    exchanges(ty) && ty.scalar != Scalar::I1 && ty.is_float() == float && identity(op, ty.scalar).is_some()
}

/// The bits of the identity. For the minimum of floats it is infinity, as the specification says, so the minimum of
/// NaNs alone is not NaN.
pub fn identity(op: BinOp, ty: Scalar) -> Option<u64> {
    let mask = ty.mask();
    let float = |x: f64| eval::cast(crate::CastOp::Ftrunc, Scalar::F64, ty, x.to_bits());
    let float = |x: f64| if ty == Scalar::F64 { x.to_bits() } else { float(x) };
    Some(match op {
        BinOp::Add | BinOp::Or | BinOp::Xor | BinOp::Umax => 0,
        BinOp::Mul => 1,
        BinOp::And | BinOp::Umin => mask,
        BinOp::Smin => mask >> 1,
        BinOp::Smax => (mask >> 1) + 1,
        BinOp::Fadd => float(0.0),
        BinOp::Fmul => float(1.0),
        BinOp::Fmin => float(f64::INFINITY),
        BinOp::Fmax => float(f64::NEG_INFINITY),
        _ => return None,
    })
}

/// A reduction within each cluster; each element gets its cluster's result.
pub fn reduce(op: BinOp, ty: Scalar, values: &mut [u64], cluster: u16) {
    for part in values.chunks_mut(usize::from(cluster)) {
        let mut n = part.len();
        // Halves are added, as vector code does it: lane i takes lane i + n.
        while n > 1 {
            n /= 2;
            for i in 0..n {
                part[i] = eval::binary(op, ty, part[i], part[i + n]);
            }
        }
        let all = part[0];
        part.fill(all);
    }
}

/// A scan: each element gets the combination of those up to it, without its own if `exclusive`.
pub fn scan(op: BinOp, ty: Scalar, values: &mut [u64], exclusive: bool) {
    if exclusive {
        // Each takes the value before it, and the first the identity; the inclusive scan of that is the exclusive one.
        values.rotate_right(1);
        values[0] = identity(op, ty).unwrap_or(0);
    }
    let mut step = 1;
    while step < values.len() {
        // From the end, so that `values[i - step]` is still that of the step before.
        for i in (step..values.len()).rev() {
            values[i] = eval::binary(op, ty, values[i - step], values[i]);
        }
        step *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_changes_nothing() {
        use Scalar::{F32, F64, I8, I64};
        for (ty, ops) in [
            (I8, &[BinOp::Add, BinOp::Mul, BinOp::And, BinOp::Or, BinOp::Xor, BinOp::Smin, BinOp::Smax][..]),
            (I64, &[BinOp::Umin, BinOp::Umax, BinOp::Smin, BinOp::Smax]),
            (F32, &[BinOp::Fadd, BinOp::Fmul, BinOp::Fmin, BinOp::Fmax]),
            (F64, &[BinOp::Fadd, BinOp::Fmul, BinOp::Fmin, BinOp::Fmax]),
        ] {
            for &op in ops {
                for x in [0, 1, 0x80, 0x3fc0_0000, 0x7ff0_0000_0000_0000u64] {
                    let x = x & ty.mask();
                    let e = identity(op, ty).unwrap();
                    assert_eq!(eval::binary(op, ty, e, x), x, "{op:?} of {ty:?}");
                }
            }
        }
        assert_eq!(identity(BinOp::Sub, I8), None);
    }

    #[test]
    fn reductions_and_scans_combine_what_they_say() {
        let mut x = [1, 2, 3, 4, 5, 6, 7, 8];
        reduce(BinOp::Add, Scalar::I32, &mut x, 64);
        assert_eq!(x, [36; 8]);
        let mut x = [1, 2, 3, 4, 5, 6, 7, 8];
        reduce(BinOp::Umax, Scalar::I32, &mut x, 2);
        assert_eq!(x, [2, 2, 4, 4, 6, 6, 8, 8]);
        let mut x = [1, 2, 3, 4];
        scan(BinOp::Add, Scalar::I32, &mut x, false);
        assert_eq!(x, [1, 3, 6, 10]);
        let mut x = [3, 2, 3, 4];
        scan(BinOp::Mul, Scalar::I32, &mut x, true);
        assert_eq!(x, [1, 3, 6, 18]);
    }
}
