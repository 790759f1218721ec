//! Loops whose unsigned indices are checked not to wrap, once, in front of a copy of the loop that may rely on it.
//!
//! ```text
//! for (uint j = 0; j < n; j++)           if (7·n + 6 < 2^32)     // in 64 bits
//!     sum += a[j * 7 + 6];        ▸          for (…) sum += a[j *nuw 7 +nuw 6];
//!                                        else
//!                                            for (…) sum += a[j * 7 + 6];
//! ```
//!
//! An unsigned sum may wrap, and then the address behind it does not go in steps. With the promise it does, and
//! [`crate::near_addresses`] and [`crate::address_recurrences`], which follow, know. It is for machines on which
//! addresses of 64 bits take time; LLVM has such checks (`PredicatedScalarEvolution`), for its vectoriser alone.
//!
//! A loop is innermost, counts up by one to a bound that is outside of it, as unsigned numbers, and has one way out of
//! it. An index is the counter and numbers from outside, added, and multiplied by constants: nothing decreases it, so
//! that its largest value is that for the bound, and no part of it is larger. It is not computed in the header, where
//! the counter may be larger: the loop may begin behind its bound.

use crate::pass::Pass;
use crate::util;
use cloom_ir::affine::HeaderTest;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::{Loop, Loops};
use cloom_ir::{
    BinOp, Block, Builder, CastOp, CloneMap, Edge, Entity, Flags, Function, Inst, InstData, IntCc, Op, Span, Term,
    Type, Value,
};

/// The pass.
pub const PASS: Pass = Pass::new("unwrapped-loops", "unsigned indices of loops are checked not to wrap", run);

/// Larger loops are not copied, in operations.
const SIZE: usize = 200;

/// At most so many indices are checked.
const CHECKS: usize = 8;

/// At most so many operations make an index.
const OPERATIONS: usize = 8;

/// A loop to copy.
struct Plan {
    blocks: Vec<Block>,
    header: Block,
    before: Block,
    exit: Block,
    test: HeaderTest,
    /// The indices, and the operations that they are made of.
    indices: Vec<(Value, Vec<Inst>)>,
    /// What the loop computes and others use.
    used: Vec<Value>,
}

/// Runs the pass. Returns how often it changed something.
pub fn run(func: &mut Function) -> usize {
    let cfg = Cfg::new(func);
    let dom = DomTree::new(func, &cfg);
    let loops = Loops::new(func, &cfg, &dom);
    let home = util::homes(func);
    let plans: Vec<Plan> = loops.without_inner().filter_map(|l| plan(func, &cfg, l, &home)).collect();
    plans.iter().for_each(|plan| carry_out(func, plan));
    plans.len()
}

fn plan(func: &Function, cfg: &Cfg, l: &Loop, home: &[Option<Block>]) -> Option<Plan> {
    let test = HeaderTest::of(func, l)?;
    let is_inside = |v: Value| home[v.index()].is_some_and(|b| l.blocks.contains(&b));
    // In the body, `counter < bound` holds: with a step of one, the next counter is at most the bound and does not
    // wrap.
    let counts_by_one = l.latches.iter().all(|&latch| {
        let next = func.blocks[latch].term.edges().iter().find(|e| e.block == l.header).map(|e| e.args[test.index]);
        next.and_then(|v| func.def_inst(v)).is_some_and(|i| {
            let data = &func.insts[i];
            let is_one = |v: Value| func.const_bits(v) == Some(1);
            data.op == Op::Binary(BinOp::Add) && data.args[0] == test.counter && is_one(data.args[1])
        })
    });
    let size: usize = l.blocks.iter().map(|&b| func.blocks[b].insts.len()).sum();
    if test.cc != IntCc::Ult || func.ty(test.counter) != Type::I32 || !counts_by_one || size > SIZE {
        return None;
    }
    let before = l.predecessor(cfg)?;
    let exit = test.exit;
    // The block behind the loop gets parameters for what is used after it, so no other block may lead there.
    let has_one_exit =
        l.exits.iter().all(|&(_, to)| to == exit) && cfg.preds(exit).iter().all(|p| l.blocks.contains(p));
    let indices = indices(func, l, &test, &is_inside);
    if !has_one_exit || indices.is_empty() || indices.len() > CHECKS {
        return None;
    }
    let used = used_outside(func, l, &is_inside);
    Some(Plan { blocks: l.blocks.clone(), header: l.header, before, exit, test, indices, used })
}

/// The extended numbers that addresses of a loop are made of, and that may wrap.
fn indices(func: &Function, l: &Loop, test: &HeaderTest, is_inside: &dyn Fn(Value) -> bool) -> Vec<(Value, Vec<Inst>)> {
    let mut found: Vec<(Value, Vec<Inst>)> = Vec::new();
    let additions = func.insts_in(&l.blocks).filter(|(_, data)| data.op == Op::PtrAdd);
    for (_, data) in additions {
        let mut stack = vec![data.args[1]];
        // No set of visited values, so that the limit also ends the walk where operands are shared.
        let mut left = 4 * OPERATIONS;
        while let Some(v) = stack.pop()
            && left > 0
        {
            left -= 1;
            let Some(data) = func.def_inst(v).filter(|_| is_inside(v)).map(|i| &func.insts[i]) else { continue };
            match data.op {
                Op::Cast(CastOp::Zext) if func.ty(data.args[0]) == Type::I32 => {
                    let index = data.args[0];
                    let is_new = found.iter().all(|(other, _)| *other != index);
                    if is_new && let Some(operations) = operations(func, index, test, is_inside) {
                        found.push((index, operations));
                    }
                }
                Op::Binary(BinOp::Add | BinOp::Mul | BinOp::Shl) => stack.extend(data.args.iter().copied()),
                _ => {}
            }
        }
    }
    found
}

/// The operations that make an index, if it only grows with the counter; some of them may wrap.
fn operations(
    func: &Function,
    index: Value,
    test: &HeaderTest,
    is_inside: &dyn Fn(Value) -> bool,
) -> Option<Vec<Inst>> {
    let mut found = Vec::new();
    let mut stack = vec![index];
    let mut grows = false;
    while let Some(v) = stack.pop() {
        if v == test.counter {
            grows = true;
        } else if is_inside(v) && func.const_bits(v).is_none() {
            let i = func.def_inst(v)?;
            let data = &func.insts[i];
            let factor = || func.const_bits(data.args[1]).filter(|&c| c > 0);
            match data.op {
                // The header also runs when the test fails, with a counter that may be larger than the bound.
                _ if func.blocks[test.header].insts.contains(&i) => return None,
                // Only operations that grow with each operand: then the value for the bound is the largest of all, and
                // also of each part.
                Op::Binary(BinOp::Add) => stack.extend(data.args.iter().copied()),
                Op::Binary(BinOp::Mul) if factor().is_some() => stack.push(data.args[0]),
                Op::Binary(BinOp::Shl) if factor().is_some_and(|c| c < 32) => stack.push(data.args[0]),
                _ => return None,
            }
            found.push(i);
            if found.len() > OPERATIONS {
                return None;
            }
        }
    }
    let may_wrap = found.iter().any(|&i| !func.insts[i].flags.contains(Flags::NUW));
    // The check is in 64 bits.
    let is_checkable = || most(func, index, &found) <= u64::MAX.into();
    // An index without the counter is invariant, and one that has all promises needs no check.
    (grows && may_wrap && is_checkable()).then_some(found)
}

/// The largest value that a part of an index could have if it had room for it. (As deep as there are operations, which
/// are few.)
fn most(func: &Function, part: Value, operations: &[Inst]) -> u128 {
    let operation = func.def_inst(part).filter(|i| operations.contains(i)).map(|i| &func.insts[i]);
    let of = |data: &InstData, k: usize| most(func, data.args[k], operations);
    match operation.map(|data| (data, &data.op)) {
        Some((data, Op::Binary(BinOp::Add))) => of(data, 0).saturating_add(of(data, 1)),
        Some((data, Op::Binary(BinOp::Mul))) => of(data, 0).saturating_mul(of(data, 1)),
        Some((data, _)) => of(data, 0).saturating_mul(1 << of(data, 1).min(32)),
        None => func.const_bits(part).unwrap_or(u32::MAX.into()).into(),
    }
}

/// What is defined in a loop and used outside, not by edges out of it.
fn used_outside(func: &Function, l: &Loop, is_inside: &dyn Fn(Value) -> bool) -> Vec<Value> {
    let mut used = Vec::new();
    let mut note = |v: Value| {
        if is_inside(v) && !used.contains(&v) {
            used.push(v);
        }
    };
    for &b in func.layout.iter().filter(|b| !l.blocks.contains(b)) {
        func.blocks[b].insts.iter().flat_map(|&i| func.insts[i].args.iter().copied()).for_each(&mut note);
        func.blocks[b].term.for_each_use(&mut note);
    }
    used
}

fn carry_out(func: &mut Function, plan: &Plan) {
    // Before the copy, so that uses after the loop get the values of whichever loop ran.
    leave_by_parameters(func, plan);
    let mut map = CloneMap::default();
    let copies = map.clone_blocks(func, &plan.blocks);
    for (_, operations) in &plan.indices {
        for &i in operations {
            // The promise goes into the copy alone. The original loop runs where the check fails, and there an index
            // may wrap.
            let copy = func.insts[i].result.map(|r| map.value(r)).and_then(|v| func.def_inst(v));
            if let Some(copy) = copy {
                func.insts[copy].flags |= Flags::NUW;
            }
        }
    }
    // The check is on the edge into the loop.
    let check = func.add_loose_block();
    let mut args = None;
    for edge in func.blocks[plan.before].term.edges_mut() {
        if edge.block == plan.header {
            args = Some(std::mem::take(&mut edge.args));
            edge.block = check;
        }
    }
    let condition = condition(func, check, plan);
    // Both loops begin with the same values.
    let args = args.unwrap_or_default();
    let copy = map.block(plan.header);
    let (then, els) = (Edge { block: copy, args: args.clone() }, Edge { block: plan.header, args });
    func.set_term(check, Term::Branch { cond: condition, then, els }, Span::default());
    let at = func.layout.iter().position(|&b| b == plan.header).unwrap_or(func.layout.len());
    func.layout.splice(at..at, std::iter::once(check).chain(copies));
}

/// What others use of a loop becomes parameters of the block behind it.
fn leave_by_parameters(func: &mut Function, plan: &Plan) {
    for &v in &plan.used {
        let parameter = func.add_block_param(plan.exit, func.ty(v));
        for b in func.layout.clone() {
            if plan.blocks.contains(&b) {
                func.blocks[b]
                    .term
                    .edges_mut()
                    .into_iter()
                    .filter(|e| e.block == plan.exit)
                    .for_each(|e| e.args.push(v));
            // Blocks of the loop go on with the value itself.
            } else {
                let rename = |x: Value| if x == v { parameter } else { x };
                for k in 0..func.blocks[b].insts.len() {
                    let i = func.blocks[b].insts[k];
                    func.insts[i].args.iter_mut().for_each(|x| *x = rename(*x));
                }
                func.blocks[b].term.map_uses(rename);
            }
        }
    }
}

/// Whether the largest value of each index is less than 2^32.
fn condition(func: &mut Function, check: Block, plan: &Plan) -> Value {
    // All checks in one condition, which is computed once for the whole loop.
    let mut all = None;
    // The bound may have another name by now, if a loop before this one makes it.
    let compare = match func.blocks[plan.header].term {
        Term::Branch { cond, .. } => func.def_inst(cond).map(|i| &func.insts[i].args[..]),
        _ => None,
    };
    let bound = compare.and_then(|args| args.iter().copied().find(|&v| v != plan.test.counter));
    let test = HeaderTest { bound: bound.unwrap_or(plan.test.bound), ..plan.test };
    for (index, operations) in &plan.indices {
        // The bound stands for the counter. It is one more than the counter ever is in the body, so the check is a bit
        // stricter than it must be.
        let largest = largest(func, check, *index, operations, &test);
        let mut b = Builder::new(func, check);
        let limit = b.iconst(Type::I64, 1 << 32);
        let fits = b.icmp(IntCc::Ult, largest, limit);
        all = Some(all.map_or(fits, |all| b.binary(BinOp::And, all, fits)));
    }
    all.unwrap_or_else(|| Builder::new(func, check).iconst(Type::I1, 1))
}

/// The value of a part of an index for the bound, in 64 bits. (As deep as there are operations, which are few.)
fn largest(func: &mut Function, check: Block, part: Value, operations: &[Inst], test: &HeaderTest) -> Value {
    let operation = func.def_inst(part).filter(|i| operations.contains(i)).map(|i| func.insts[i].clone());
    if let Some(data) = operation
        && let Op::Binary(op) = data.op
    {
        let a = largest(func, check, data.args[0], operations, test);
        let b = largest(func, check, data.args[1], operations, test);
        return Builder::new(func, check).binary(op, a, b);
    }
    let constant = func.const_bits(part);
    let mut b = Builder::new(func, check);
    match constant {
        Some(c) => b.iconst(Type::I64, c),
        None => b.cast(CastOp::Zext, if part == test.counter { test.bound } else { part }, Type::I64),
    }
}
