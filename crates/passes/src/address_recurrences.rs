//! Addresses in loops become recurrences: parameters of the loop's header to which each iteration adds a step.
//!
//! ```text
//! for (int j = 0; j < n; j++)            p = a + 4·sext(i·n)
//!     sum += a[i * n + j];        ▸      for (int j = 0; j < n; j++, p += 4)
//!                                            sum += *p;
//! ```
//!
//! Strength reduction of addresses is LLVM's work, but for those behind an extension: `sext(i·n + j)` goes in steps
//! only if the sum does not wrap, as the affine analysis knows by promises of the source that LLVM does not get. It is
//! for machines on which extensions, and sums of 64 bits, are instructions that take time, as on a GPU: unrolled,
//! accesses are then of one register and constants.
//!
//! Innermost loops, after [`crate::near_addresses`], which leaves one of the addresses that are a constant apart.

use crate::pass::Pass;
use crate::util::{self, Renames};
use cloom_ir::affine::{Affine, Facts, Form, Symbol};
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::{Loop, Loops};
use cloom_ir::{Block, Builder, Entity, Function, Op, Value};

/// The pass.
pub const PASS: Pass = Pass::new("address-recurrences", "addresses in loops go in steps", run);

/// At most so many addresses of a loop: each takes two registers.
const MAX_RECURRENCES: usize = 8;

/// Starts of more terms are not worth their computation.
const TERMS: usize = 6;

/// The most operations of an address that are looked at for an extension.
const VISITED: usize = 32;

/// A loop and what becomes of its addresses.
struct Plan {
    header: Block,
    before: Block,
    latches: Vec<Block>,
    addresses: Vec<(Value, Form, Form)>,
}

/// Runs the pass. Returns how often it changed something.
pub fn run(func: &mut Function) -> usize {
    let cfg = Cfg::new(func);
    let dom = DomTree::new(func, &cfg);
    let loops = Loops::new(func, &cfg, &dom);
    let home = util::homes(func);
    let innermost = |l: usize| !loops.loops.iter().any(|inner| inner.parent == Some(l));
    let found = (0..loops.loops.len()).filter(|&l| innermost(l));
    // All plans first: the analyses know only the function as it is before any change.
    let plans: Vec<Plan> = found.filter_map(|l| plan(func, &cfg, &loops, l, &home)).collect();
    let mut renames = Renames::default();
    let changed = plans.iter().map(|plan| carry_out(func, plan, &mut renames)).sum();
    renames.apply(func);
    changed
}

fn plan(func: &Function, cfg: &Cfg, loops: &Loops, number: usize, home: &[Option<Block>]) -> Option<Plan> {
    let l = &loops.loops[number];
    let is_inside = |v: Value| home[v.index()].is_some_and(|b| loops.innermost(b) == Some(number));
    let candidates = candidates(func, l, &is_inside);
    if candidates.is_empty() {
        return None;
    }
    // Without a single predecessor there is no block for the initial addresses.
    let before = l.predecessor(cfg)?;
    // What comes from outside stays whole: it has a value there.
    // Constants are no symbols: a start such as `a + 4·(i + 1)` has one term less if the analysis sees the 1.
    let facts = Facts { is_symbol: &|v| !is_inside(v) && func.const_bits(v).is_none(), ..Facts::default() };
    let affine = Affine::new(func, cfg, loops, facts);
    // Every symbol must be a value that exists in the block before the loop. Iteration numbers of loops around are
    // none.
    let is_computable = |form: &Form| form.symbols().all(|s| matches!(s, Symbol::Value(v, _) if !is_inside(v)));
    let recurrence = |&p: &Value| {
        let (first, step) = (affine.first(number, p)?, affine.slope(number, p)?);
        // A step of 0 is an invariant address, and a step of one term costs one addition an iteration.
        let is_worth_it = step.as_const() != Some(0) && first.terms().count() <= TERMS && step.terms().count() == 1;
        (is_worth_it && is_computable(&first) && is_computable(&step)).then_some((p, first, step))
    };
    let addresses: Vec<_> = candidates.iter().filter_map(recurrence).take(MAX_RECURRENCES).collect();
    let (header, latches) = (l.header, l.latches.clone());
    (!addresses.is_empty()).then_some(Plan { header, before, latches, addresses })
}

/// The addresses of a loop that have an extension of something that the loop computes.
fn candidates(func: &Function, l: &Loop, is_inside: &dyn Fn(Value) -> bool) -> Vec<Value> {
    let is_extended = |p: Value| {
        let (mut stack, mut left) = (vec![p], VISITED);
        while let Some(v) = stack.pop()
            && left > 0
        {
            // The walk has no set of visited values, so that the budget also ends it where operands are shared many
            // times.
            left -= 1;
            let Some(data) = func.def_inst(v).filter(|_| is_inside(v)).map(|i| &func.insts[i]) else { continue };
            match data.op {
                // An extension of a value from outside is computed once, before the loop, and costs nothing in it.
                Op::Cast(_) => return data.args.iter().any(|&x| is_inside(x) && func.ty(x).is_int()),
                Op::Binary(_) | Op::PtrAdd => stack.extend(data.args.iter().copied()),
                _ => {}
            }
        }
        false
    };
    let mut found: Vec<Value> = Vec::new();
    for (_, data) in func.insts_in(&l.blocks) {
        let address = match data.op {
            Op::Load { .. } | Op::Store { .. } => data.args[0],
            _ => continue,
        };
        // The one that others are a constant from.
        let mut base = address;
        while let Some(Op::PtrAdd) = func.def_op(base)
            && let Some(i) = func.def_inst(base)
            && func.const_bits(func.insts[i].args[1]).is_some()
        {
            base = func.insts[i].args[0];
        }
        if matches!(func.def_op(base), Some(Op::PtrAdd)) && !found.contains(&base) && is_extended(base) {
            found.push(base);
        }
    }
    found
}

fn carry_out(func: &mut Function, plan: &Plan, renames: &mut Renames) -> usize {
    let value = |s: Symbol| if let Symbol::Value(v, _) = s { Some(v) } else { None };
    let mut changed = 0;
    for (address, first, step) in &plan.addresses {
        let ty = func.ty(*address);
        let mut b = Builder::new(func, plan.before);
        let first = util::emit_address(&mut b, first, ty, &value);
        // What was emitted for nothing has no use, and `dce` removes it.
        let (Some(first), Some(step)) = (first, step.emit(&mut b, |_, s| value(s))) else { continue };
        let parameter = func.add_block_param(plan.header, ty);
        pass(func, plan.before, plan.header, first);
        // In the latch, so that the way out of the header does not execute the addition.
        for &latch in &plan.latches {
            let next = Builder::new(func, latch).ptr_add(parameter, step);
            pass(func, latch, plan.header, next);
        }
        // The old computation stays where it is; without uses it is for `dce`.
        renames.set(*address, parameter);
        changed += 1;
    }
    changed
}

/// Adds an argument to the edges from one block to another.
fn pass(func: &mut Function, from: Block, to: Block, argument: Value) {
    for edge in func.blocks[from].term.edges_mut() {
        if edge.block == to {
            edge.args.push(argument);
        }
    }
}
