//! Lane ranges: how far apart the lanes of a varying value are at most.
//!
//! In comes an analysed function and a value; out goes an upper bound of the difference between two lanes:
//!
//! ```c
//! size_t i = get_global_id(0);
//! a[(i & ~15) | (i * 5 + 3 & 15)] += 1.0f;    // 8 lanes: at most 22 + 15 elements apart
//! ```
//!
//! Such accesses stay in a few cache lines, though no stride describes them. The bound is an estimate for the cost
//! model: wrapping is left out.

use crate::analysis::input::VectorInput;
use crate::analysis::shape::{Shape, signed_const};
use cloom_ir::{BinOp, CastOp, Op, Value};

/// How many operations are looked through, from a value to those that it is computed from.
const MAX_DEPTH: u32 = 12;

/// The largest difference between two of so many lanes of a value, in its own units (of addresses, bytes); `None` if
/// nothing is known.
pub fn of(item: &VectorInput, v: Value, lanes: u32) -> Option<u64> {
    range(item, v, u64::from(lanes) - 1, MAX_DEPTH)
}

fn range(item: &VectorInput, v: Value, last_lane: u64, depth: u32) -> Option<u64> {
    match item.shapes.of(v) {
        Shape::Unknown | Shape::Uniform => return Some(0),
        Shape::Strided { by, .. } => return by.unsigned_abs().checked_mul(last_lane),
        Shape::Varying if depth == 0 => return None,
        Shape::Varying => {}
    }
    let func = &item.func;
    let data = &func.insts[func.def_inst(v)?];
    let of = |n: usize| range(item, *data.args.get(n)?, last_lane, depth - 1);
    // Canonical form has constants on the right.
    let constant = || signed_const(func, *data.args.get(1)?);
    match data.op {
        Op::PtrAdd | Op::Binary(BinOp::Add | BinOp::Sub | BinOp::Or | BinOp::Xor) => of(0)?.checked_add(of(1)?),
        Op::Binary(BinOp::Mul) => of(0)?.checked_mul(constant()?.unsigned_abs()),
        Op::Binary(BinOp::Shl) => of(0)?.checked_mul(1u64.checked_shl(constant()?.try_into().ok()?)?),
        Op::Binary(BinOp::Urem | BinOp::Srem) => Some(constant()?.unsigned_abs()),
        // Low bits kept, or low bits cleared.
        Op::Binary(BinOp::And) => match constant()? {
            mask if mask >= 0 => Some(of(0).unwrap_or(u64::MAX).min(mask.unsigned_abs())),
            mask => of(0)?.checked_add((!mask).unsigned_abs()),
        },
        Op::Cast(CastOp::Zext | CastOp::Sext | CastOp::Trunc) => of(0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::VectorOptions;

    /// The number of lanes on a processor whose scatters are slow but for near addresses, if all that a kernel does is
    /// to double a number at an address of `index` (from `v1`, the id, to `v9`) times 4.
    fn lanes(index: &str) -> u16 {
        let text = format!(
            "func external @k(ptr<global>) kernel {{
  param \"p\" \"int*\" global size 8 align 8
}} {{
bb0(v0: ptr<global>):
    v1: i64 = query global_id 0
{index}    v20: i64 = const 0x2
    v21: i64 = shl v9, v20
    v22: ptr<global> = ptradd v0, v21
    v23: i32 = load v22 align 4
    v24: i32 = add v23, v23
    store v22, v24 align 4
    ret
}}"
        );
        let mut module = cloom_ir::parse(&text).unwrap();
        let kernel = module.kernels().next().unwrap();
        let target = "x86_64-unknown-linux-gnu:x86-64-v4+intel".parse().unwrap();
        let options = VectorOptions::default();
        crate::work_group_function(&mut module, kernel, options, &target, &Default::default()).unwrap().launch.lanes
    }

    /// A permutation of blocks of `block` numbers, a power of two.
    fn permuted(block: i64) -> String {
        format!(
            "    v2: i64 = const {:#x}
    v3: i64 = and v1, v2
    v4: i64 = const 0x5
    v5: i64 = mul v1, v4
    v6: i64 = const {:#x}
    v7: i64 = and v5, v6
    v9: i64 = or v3, v7\n",
            -block,
            block - 1
        )
    }

    #[test]
    fn permutations_within_a_few_cache_lines_are_near() {
        assert_eq!((lanes(&permuted(16)), lanes(&permuted(1024))), (8, 1));
    }

    #[test]
    fn a_product_of_ids_may_be_anywhere() {
        assert_eq!(lanes("    v9: i64 = mul v1, v1\n"), 1);
    }
}
