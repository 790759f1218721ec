//! Masks of equalities at the ends of long chains are cut loose from them.
//!
//! A `switch` or a row of `else if` over a value that differs between work-items becomes a chain of masks, each of
//! which
//! takes one constant away:
//!
//! ```text
//! v3 = and v1, (icmp ne v0, 1)      v4 = and v1, (icmp eq v0, 1)
//! v6 = and v3, (icmp ne v0, 2)      v5 = and v3, (icmp eq v0, 2)
//! …
//! ```
//!
//! Where `v0` is equal to a constant, it differs from all others: the mask of an equality is `and v1, (icmp eq …)` as
//! well. LLVM finds that too, but in time that grows with the square of the chain (500 links: 7.6 s, without the chain
//! 0.2 s). Chains below [`SHORT`] are left to it. This pass looks at each instruction once.

use crate::pass::Pass;
use cloom_ir::cfg::Cfg;
use cloom_ir::{BinOp, Function, Inst, IntCc, Op, Type, Value, ValueDef};
use rustc_hash::FxHashMap;

/// The pass.
pub const PASS: Pass = Pass::new("mask-chains", "masks of equalities leave long chains of inequalities", run);

/// Links that LLVM may walk along.
const SHORT: usize = 8;

/// Masks that each take one constant of a value away from the one before.
struct Chain {
    /// The mask that the first link begins with.
    from: Value,
    /// What is compared.
    compared: Value,
    /// The constants, with the number of the link that takes each away.
    taken: FxHashMap<u64, usize>,
    /// The last link.
    last: Value,
}

/// Runs the pass. Returns how many masks it cut loose.
pub fn run(func: &mut Function) -> usize {
    let cfg = Cfg::new(func);
    let mut chains: Vec<Chain> = Vec::new();
    // The chain of a mask, and how many of its links are at work there.
    let mut links: FxHashMap<Value, (usize, usize)> = FxHashMap::default();
    let mut cut = 0;
    // In reverse postorder, a link is seen before the masks that begin with it.
    for &b in cfg.rpo() {
        for k in 0..func.blocks[b].insts.len() {
            let i = func.blocks[b].insts[k];
            let Some((mask, comparison)) = parts(func, i) else { continue };
            let Some(result) = func.insts[i].result else { continue };
            let (cc, compared, constant) = comparison;
            let link = links.get(&mask).copied().filter(|&(c, _)| chains[c].compared == compared);
            match (cc, link) {
                // Only the end of a chain grows; a second link on one mask begins a chain of its own.
                (IntCc::Ne, Some((c, length))) if chains[c].last == mask => {
                    let chain = &mut chains[c];
                    // The first link that takes a constant away counts.
                    chain.taken.entry(constant).or_insert(length);
                    chain.last = result;
                    links.insert(result, (c, length + 1));
                }
                (IntCc::Ne, _) => {
                    let taken = FxHashMap::from_iter([(constant, 0)]);
                    links.insert(result, (chains.len(), 1));
                    // Any mask may begin a chain: nothing is known of it, and the chain starts from it.
                    chains.push(Chain { from: mask, compared, taken, last: result });
                }
                (IntCc::Eq, Some((c, length))) => {
                    let chain = &chains[c];
                    // An earlier link took the constant away: the mask is empty here, and would not be at the
                    // chain's start.
                    let is_taken = chain.taken.get(&constant).is_some_and(|&link| link < length);
                    // The result stays the same: where the equality holds, no inequality with another constant has
                    // taken a work-item away.
                    if length >= SHORT && !is_taken {
                        func.insts[i].args.iter_mut().filter(|a| **a == mask).for_each(|a| *a = chain.from);
                        cut += 1;
                    }
                }
                _ => {}
            }
        }
    }
    cut
}

/// A mask and the comparison with a constant that it is combined with.
fn parts(func: &Function, i: Inst) -> Option<(Value, (IntCc, Value, u64))> {
    let data = &func.insts[i];
    let (Op::Binary(BinOp::And), &[a, b]) = (&data.op, &data.args[..]) else { return None };
    if func.ty(a).scalar != Type::I1.scalar || a == b {
        return None;
    }
    match (comparison(func, a), comparison(func, b)) {
        (_, Some(found)) => Some((a, found)),
        (Some(found), None) => Some((b, found)),
        (None, None) => None,
    }
}

/// A comparison for equality or inequality with a constant.
fn comparison(func: &Function, v: Value) -> Option<(IntCc, Value, u64)> {
    let data = &func.insts[defined_by(func, v)?];
    let (&Op::Icmp(cc @ (IntCc::Eq | IntCc::Ne)), [a, b]) = (&data.op, &data.args[..]) else { return None };
    let constant = |v: Value| match func.insts[defined_by(func, v)?].op {
        Op::Const(bits) => Some(bits),
        _ => None,
    };
    match (constant(*a), constant(*b)) {
        (None, Some(bits)) => Some((cc, *a, bits)),
        (Some(bits), None) => Some((cc, *b, bits)),
        _ => None,
    }
}

fn defined_by(func: &Function, v: Value) -> Option<Inst> {
    match func.values[v].def {
        ValueDef::Inst(i) => Some(i),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    /// A chain of so many links, and after it masks of equalities with these constants.
    fn chain(links: u64, equal: &[u64]) -> (usize, String) {
        let mut text = "func internal @f(i32x4, i1x4) -> i1x4 {\nbb0(v0: i32x4, v1: i1x4):\n".to_owned();
        let (mut next, mut mask) = (2, 1);
        let mut link = |cc: &str, bits: u64, mask: usize| {
            let _ = writeln!(text, "    v{next}: i32x4 = const {bits:#x}");
            let _ = writeln!(text, "    v{}: i1x4 = icmp {cc} v0, v{next}", next + 1);
            let _ = writeln!(text, "    v{}: i1x4 = and v{mask}, v{}", next + 2, next + 1);
            next += 3;
            next - 1
        };
        for bits in 0..links {
            mask = link("ne", bits, mask);
        }
        let last = equal.iter().map(|&bits| link("eq", bits, mask)).last().unwrap_or(mask);
        let _ = write!(text, "    ret v{last}\n}}");
        let mut module = cloom_ir::parse(&text).unwrap();
        let cut = run(module.funcs.values_mut().next().unwrap());
        (cut, module.to_string())
    }

    #[test]
    fn equalities_with_other_constants_leave_long_chains() {
        let (cut, after) = chain(20, &[20, 21]);
        assert_eq!(cut, 2);
        assert_eq!(after.matches("= and v1, ").count(), 3, "{after}");
    }

    #[test]
    fn equalities_with_what_was_taken_and_short_chains_stay() {
        assert_eq!(chain(20, &[3]).0, 0);
        assert_eq!(chain(SHORT as u64 - 1, &[50]).0, 0);
        assert_eq!(chain(SHORT as u64, &[50]).0, 1);
    }

    #[test]
    fn a_constant_that_is_taken_later_does_not_matter() {
        let text = chain(20, &[30]).1;
        // The mask after ten links, compared with what the fifteenth takes away.
        let text = text.replace("const 0x1e", "const 0xf").replace("and v1, v63", "and v31, v63");
        let mut module = cloom_ir::parse(&text).unwrap();
        assert_eq!(run(module.funcs.values_mut().next().unwrap()), 1, "{text}");
    }
}
