//! Inlining: calls become the callee's blocks; some calls of library functions stay.
//!
//! From the leaves up, so that a callee is complete, and cleaned up, before it is copied. All calls are inlined while
//! the caller stays within the budget; beyond it only small callees, and those that must: a function that waits at a
//! barrier, queries ids, prints or names local memory depends on the work-item, which only the kernel knows. OpenCL C
//! has no recursion; where a module has it nevertheless, the call that closes the cycle stays.
//!
//! What is copied keeps its position in the source, and gets the call and those that were inlined into the callee
//! before ([`cloom_ir::inlined`]).
//!
//! A kernel has several copies of what is inlined: for full and partial vectors, for masks that are all on and mixed,
//! for each version of a loop. A library function that stays a call ([`Op::PureCall`]) is compiled once, for all lanes
//! of a vector register (a *vector variant*, as of `libmvec` or SVML). These stay, if they are pure:
//!
//! * *slow paths*, which the library marks with `__attribute__((noinline))`: the reduction of large angles, for
//!   instance, which no ordinary argument takes;
//! * functions with loops and those of [`Budget::large`] instructions or more, beside which a call costs little;
//! * the longest of what exceeds [`Budget::library`] in one caller: a kernel may use the whole library and still
//!   compile fast.

use crate::checks::BoundsChecks;
use crate::infer_spaces::has_generic;
use cloom_ir::cfg::Cfg;
use cloom_ir::{
    Block, CastOp, CloneMap, Edge, Entity, FuncRef, Function, InlinedSpans, Inst, InstData, Linkage, Module, Op, Space,
    Term, ValueDef,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// How much a function may grow.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Instructions of the caller beyond which only small callees are inlined.
    pub caller: usize,
    /// Instructions of a small callee.
    pub small: usize,
    /// Instructions of a library function that stays a call.
    pub large: usize,
    /// Instructions of a library function with a loop, or of a slow path, that is inlined nevertheless.
    pub slow: usize,
    /// Instructions of library functions inlined into one caller; of what exceeds it, the longest stay calls.
    pub library: usize,
    /// Whether the caller and its internal callees are of the library.
    pub in_library: bool,
}

impl Budget {
    /// Inlines only what must be.
    pub const NONE: Budget =
        Budget { caller: 0, small: 0, large: usize::MAX, slow: 0, library: usize::MAX, in_library: false };
}

impl Budget {
    /// What a caller has by default.
    const DEFAULT: Budget = Budget { caller: 20_000, small: 24, large: 125, slow: 0, library: 500, in_library: false };

    /// For functions of the library itself.
    pub const LIBRARY: Budget = Budget { in_library: true, ..Budget::DEFAULT };

    /// On a GPU, which has one copy of a kernel. A call takes its arguments and its caller's values through registers
    /// and memory that a convention names, also if it is hardly ever executed: beside it, a power of 150 instructions
    /// is short.
    pub const GPU: Budget = Budget { large: 400, slow: 200, library: 4000, ..Budget::DEFAULT };
}

impl Default for Budget {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Inlines into a kernel and into its callees, without other passes. Returns how many calls are gone.
pub fn run(module: &mut Module, kernel: FuncRef) -> usize {
    let order = bottom_up(module, kernel);
    let must = must_inline(module, &order, false, BoundsChecks::Off);
    let mut changed = 0;
    for f in order {
        if !module.funcs[f].is_declaration() {
            changed += inline_calls(module, f, &must, Budget::default());
        }
    }
    changed
}

/// Functions that can be reached by calls, callees first, the root last.
pub fn bottom_up(module: &Module, root: FuncRef) -> Vec<FuncRef> {
    let mut seen = vec![false; module.funcs.len()];
    let mut order = Vec::new();
    // An explicit stack, since a chain of calls may be as long as the module. A callee that was seen before is skipped,
    // also where it closes a cycle.
    let mut stack = vec![(root, module.funcs[root].callees(), 0usize)];
    seen[root.index()] = true;
    while let Some((f, callees, next)) = stack.last_mut() {
        if let Some(&callee) = callees.get(*next) {
            *next += 1;
            if !std::mem::replace(&mut seen[callee.index()], true) {
                stack.push((callee, module.funcs[callee].callees(), 0));
            }
        } else {
            order.push(*f);
            stack.pop();
        }
    }
    order
}

/// The sum of what `own` says of a function and of each call in it, as if all were inlined.
pub fn with_calls(module: &Module, root: FuncRef, own: impl Fn(&Function) -> u64) -> u64 {
    let mut sums = vec![0; module.funcs.len()];
    for f in bottom_up(module, root) {
        let func = &module.funcs[f];
        let calls = func.insts_in_layout().filter_map(|(_, data)| data.op.callee());
        sums[f.index()] = calls.map(|callee| sums[callee.index()]).fold(own(func), u64::saturating_add);
    }
    sums[root.index()]
}

/// Whether a function cannot stay a call, by function index: by itself or by what it calls. `native_generic` and
/// `checks` as in [`PassOptions`](crate::PassOptions).
pub fn must_inline(module: &Module, order: &[FuncRef], native_generic: bool, checks: BoundsChecks) -> Vec<bool> {
    let mut must = vec![false; module.funcs.len()];
    // Where a generic pointer's address space is asked for, its tag must not get lost in a call.
    let asks = |data: &InstData| data.op == Op::Cast(CastOp::SpaceOf);
    let is_asked =
        !native_generic && order.iter().any(|&f| module.funcs[f].insts_in_layout().any(|(_, data)| asks(data)));
    // Callees come first in the order, so that `must` is known for what a function calls.
    for &f in order {
        let func = &module.funcs[f];
        must[f.index()] = is_asked && has_generic(func);
        // Nor must the object of a pointer.
        must[f.index()] |= checks.are_on() && func.params.iter().chain(&func.ret).any(|ty| ty.is_ptr());
        // Loops of the library end; those of a program are polled in the kernel.
        must[f.index()] |= checks.are_on() && func.linkage != Linkage::Builtin && has_loop(func);
        // Reports go through a parameter of the kernel. The library's own variables are accessed as they should be.
        must[f.index()] |= checks == BoundsChecks::Reported
            && func.linkage != Linkage::Builtin
            && func.insts_in_layout().any(|(_, data)| matches!(data.op, Op::Alloca { .. } | Op::GlobalAddr(_)));
        must[f.index()] |= func.insts_in_layout().any(|(_, data)| match &data.op {
            // A call gets its arguments and nothing else: no ids, no group to wait for, no buffer to print into.
            Op::Query { .. } | Op::Barrier(_) | Op::Printf(_) | Op::DeviceCall(_) => true,
            Op::GlobalAddr(g) => module.globals[*g].space == Space::Local,
            Op::Call(callee) | Op::PureCall(callee) => must[callee.index()],
            op => op.is_subgroup(),
        });
    }
    must
}

/// Turns the calls of library functions that stay into pure calls, in one function whose callees are complete.
pub fn keep_library_calls(module: &mut Module, root: FuncRef, budget: Budget) {
    let mut calls: Vec<(Inst, FuncRef)> = Vec::new();
    for (i, data) in module.funcs[root].insts_in_layout() {
        // The result of a pure call is that of its callee, also where nobody uses it.
        if let Op::Call(f) = data.op
            && data.result.is_some()
            && may_stay(&module.funcs[f], budget)
        {
            calls.push((i, f));
        }
    }
    // `Budget::NONE` has `usize::MAX` there: then loops and lengths are not looked at.
    let is_slow = |f: &Function| f.noinline || budget.large < usize::MAX && has_loop(f);
    let is_long =
        |f: &Function| budget.large < usize::MAX && f.size() >= budget.large || is_slow(f) && f.size() > budget.slow;
    let mut stay: FxHashSet<FuncRef> = calls.iter().map(|c| c.1).filter(|&f| is_long(&module.funcs[f])).collect();
    // By callee, so that equal calls have equal code; the longest stay, as a call costs them the least.
    let size = |f: FuncRef| module.funcs[f].size();
    let mut inlined: Vec<FuncRef> = calls.iter().map(|c| c.1).filter(|f| !stay.contains(f)).collect();
    inlined.sort_by_key(|&f| (size(f), f));
    while inlined.iter().map(|&f| size(f)).sum::<usize>() > budget.library
        && let Some(&f) = inlined.last()
        && size(f) > budget.small
    {
        inlined.retain(|&other| other != f);
        stay.insert(f);
    }
    for (i, f) in calls {
        if stay.contains(&f) {
            module.funcs[root].insts[i].op = Op::PureCall(f);
        }
    }
}

/// Whether a call of a function may be a pure call with a vector variant.
fn may_stay(callee: &Function, budget: Budget) -> bool {
    let is_library = callee.linkage == Linkage::Builtin || budget.in_library;
    // Variants take scalars, and return one or a pair.
    let is_simple = || !callee.params.iter().any(|ty| ty.is_vector()) && callee.ret.is_some_and(|ty| ty.lanes <= 2);
    is_library && !callee.is_declaration() && is_simple() && callee.is_pure()
}

/// Inlines into one function whose callees are complete. Returns how many calls are gone.
pub fn inline_calls(module: &mut Module, root: FuncRef, must: &[bool], budget: Budget) -> usize {
    keep_library_calls(module, root, budget);
    let mut size = module.funcs[root].size();
    // Out of the module, so that a callee can be borrowed while its body is copied. `f != root` below leaves a
    // recursive call alone, whose callee is the empty function in its place.
    let mut caller = std::mem::replace(&mut module.funcs[root], Function::new("", Vec::new(), None));
    let mut layout = Vec::with_capacity(caller.layout.len());
    let mut changed = 0;
    let mut names: FxHashMap<FuncRef, Arc<str>> = FxHashMap::default();
    // Worklist of blocks, the next one last. The rest of a block after a call is visited again; copied bodies are not.
    let mut work: Vec<Block> = caller.layout.iter().rev().copied().collect();
    while let Some(b) = work.pop() {
        layout.push(b);
        let found = caller.blocks[b].insts.iter().enumerate().find_map(|(at, &i)| match caller.insts[i].op {
            Op::Call(f) if f != root && !(budget.in_library && waits_for_others(module, f)) => {
                wanted(&module.funcs[f], must[f.index()], size, budget).then_some((at, i, f))
            }
            // Those that the library kept.
            Op::PureCall(f) if module.funcs[f].size() <= budget.slow && may_stay(&module.funcs[f], budget) => {
                Some((at, i, f))
            }
            _ => None,
        });
        let Some((at, call, f)) = found else { continue };
        // The budget is for the grown function, so calls late in a long function may stay.
        size += module.funcs[f].size();
        changed += 1;
        let rest = split_behind(&mut caller, b, at);
        let callee = &module.funcs[f];
        // Every copied position names its callee: one string for all of them.
        let name = names.entry(f).or_insert_with(|| callee.name.as_str().into()).clone();
        let copied = copy_body(&mut caller, (callee, name), call, rest);
        let args = caller.insts[call].args.clone();
        caller.blocks[b].term = Term::Jump(Edge::new(copied[0], args));
        // Behind the block with the call and in front of `rest`, which is visited next, so that the order is that of
        // the text.
        layout.extend(copied);
        work.push(rest);
    }
    caller.layout = layout;
    module.funcs[root] = caller;
    changed
}

/// Whether a function of the library calls functions of other files. Only with these is it known how long it is.
fn waits_for_others(module: &Module, f: FuncRef) -> bool {
    let is_undefined = |callee: FuncRef| module.funcs[callee].is_declaration();
    !module.funcs[f].is_declaration() && module.funcs[f].callees().into_iter().any(is_undefined)
}

/// Whether a function has a loop.
fn has_loop(func: &Function) -> bool {
    let cfg = Cfg::new(func);
    let is_back_edge = |b: Block, e: &Edge| cfg.rpo_index(e.block) <= cfg.rpo_index(b);
    cfg.rpo().iter().any(|&b| func.blocks[b].term.edges().iter().any(|e| is_back_edge(b, e)))
}

fn wanted(callee: &Function, must: bool, size: usize, budget: Budget) -> bool {
    if callee.is_declaration() {
        return false;
    }
    let own = callee.size();
    let is_kept = callee.noinline && !(own <= budget.slow && may_stay(callee, budget));
    // `must` comes before `noinline`: a function with a barrier cannot be a call whatever its attributes say.
    must || !is_kept && (own <= budget.small || size + own <= budget.caller)
}

/// Splits a block at a call: the instructions after it go to a new block, whose parameter is the call's result. The
/// call is removed.
fn split_behind(func: &mut Function, b: Block, at: usize) -> Block {
    let rest = func.add_loose_block();
    let behind = func.blocks[b].insts.split_off(at + 1);
    func.blocks[rest].insts = behind;
    let term = std::mem::replace(&mut func.blocks[b].term, Term::Unreachable);
    let span = func.blocks[b].term_span;
    func.set_term(rest, term, span);
    if let Some(call) = func.blocks[b].insts.pop()
        && let Some(r) = func.insts[call].result
    {
        // The result itself becomes the parameter, so that its uses need no renaming.
        func.values[r].def = ValueDef::Param(rest, 0);
        func.blocks[rest].params.push(r);
    }
    rest
}

/// Copies a body into the caller, returns going to `rest`. Gives the blocks, the entry first.
fn copy_body(caller: &mut Function, (callee, name): (&Function, Arc<str>), call: Inst, rest: Block) -> Vec<Block> {
    let result = caller.insts[call].result.is_some();
    let mut spans = InlinedSpans::new(callee, name, caller.insts[call].span);
    let copied = CloneMap::default().clone_blocks_from(callee, caller, &callee.layout);
    let mut arrays = Vec::new();
    for &b in &copied {
        for k in 0..caller.blocks[b].insts.len() {
            let i = caller.blocks[b].insts[k];
            caller.insts[i].span = spans.map(caller, caller.insts[i].span);
        }
        caller.blocks[b].term_span = spans.map(caller, caller.blocks[b].term_span);
        // Allocas go to the caller's entry block; as their size is constant, one allocation serves all executions.
        let is_array = |&i: &Inst| matches!(caller.insts[i].op, Op::Alloca { .. });
        let (own, rest_of_block) = caller.blocks[b].insts.iter().copied().partition(is_array);
        caller.blocks[b].insts = rest_of_block;
        arrays.extend::<Vec<Inst>>(own);
        if let Term::Return(v) = caller.blocks[b].term {
            // A call of a function that returns a value may ignore it, and then `rest` has no parameter.
            caller.blocks[b].term = Term::Jump(Edge::new(rest, v.filter(|_| result)));
        }
    }
    let entry = caller.entry();
    caller.blocks[entry].insts.splice(0..0, arrays);
    copied
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "
        func external @k(ptr<global>) kernel { param \"p\" \"int*\" global size 8 align 8 } {
        bb0(v0: ptr<global>):
            call @b v0 !0:10:3
            call @c v0 !0:11:3
            call @b v0 !0:12:3
            ret !0:13:1
        }
        func internal @b(ptr<global>) {
        bb0(v0: ptr<global>):
            call @c v0 !0:5:7
            v1: i32 = const 0x1
            store v0, v1 align 4 !0:6:3
            ret
        }
        func internal @c(ptr<global>) {
        bb0(v0: ptr<global>):
            v1: i32 = load v0 align 4 !0:1:9
            store v0, v1 align 4 !0:2:9
            ret !0:3:1
        }";

    #[test]
    fn positions_of_copied_code_name_their_calls() {
        let mut module = cloom_ir::parse(SOURCE).unwrap();
        let kernel = module.find("k").unwrap();
        assert_eq!(run(&mut module, kernel), 4);
        assert_eq!(cloom_ir::verify(&module), []);
        let func = &module.funcs[kernel];
        let found: Vec<String> = func
            .insts_in_layout()
            .filter(|(_, data)| data.span.line > 0)
            .map(|(_, data)| {
                let calls = func.inlined_calls(data.span);
                let calls: Vec<String> = calls.map(|call| format!("{} {}", call.function, call.span.line)).collect();
                format!("{}: {}", data.span.line, calls.join(", "))
            })
            .collect();
        let expected = [
            "1: c 5, b 10",
            "2: c 5, b 10",
            "6: b 10",
            "1: c 11",
            "2: c 11",
            "1: c 5, b 12",
            "2: c 5, b 12",
            "6: b 12",
        ];
        assert_eq!(found, expected);
        // The kernel's own code is not inlined.
        let last = *func.layout.last().unwrap();
        assert_eq!(func.blocks[last].term_span.inlined, 0);
        let text = module.to_string();
        assert!(text.contains("  inlined @b !0:10:3\n  inlined @c !0:5:7@1\n  inlined @c !0:11:3\n"), "{text}");
        assert_eq!(cloom_ir::parse(&text).unwrap().to_string(), text);
    }
}
